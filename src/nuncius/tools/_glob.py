"""Glob patterns: `*`, `?`, `[...]`, `{a,b}` within a name, `**` across folders."""

import regex

from nuncius.core.errors import ToolError

_MATCH_S = 0.2  # a pattern of many stars can take for ever on one long name


class Glob:
    """One compiled pattern.

    A pattern without a slash is compared with the name alone where `anywhere` is set (as a
    filter does), else with the whole relative path.

    Raises:
        ToolError: The pattern makes no sense.
    """

    def __init__(self, pattern: str, *, anywhere: bool = False) -> None:
        self.pattern = pattern
        self._name_only = anywhere and "/" not in pattern
        try:
            self._regex = regex.compile(_translated(pattern), regex.DOTALL)
        except regex.error as error:
            raise ToolError(
                f"{pattern!r} is no glob pattern ({error}).",
                kind="invalid_arguments",
                code="bad_pattern",
                hint="Write such as '*.md', 'notes/**/*.tex' or '*.{fits,csv}'.",
            ) from error

    @property
    def wants_hidden(self) -> bool:
        """Tell whether the pattern names folders that begin with a dot."""
        return any(part.startswith(".") for part in self.pattern.split("/")[:-1])

    def matches(self, path: str) -> bool:
        """Tell whether a relative path with slashes fits.

        Raises:
            TimeoutError: The pattern takes too long to compare.
        """
        subject = path.rsplit("/", 1)[-1] if self._name_only else path
        return self._regex.fullmatch(subject, timeout=_MATCH_S, concurrent=True) is not None


def literal_head(pattern: str) -> tuple[str, str]:
    """Split off the leading folders that hold no wildcard: where a search must begin.

    ``notes/2024/**/*.md`` gives ``notes/2024`` and ``**/*.md``.
    """
    parts = pattern.split("/")
    plain = 0
    while plain < len(parts) - 1 and not set(parts[plain]) & set("*?[{"):
        plain += 1
    head = "/".join(parts[:plain])
    return head or ("/" if pattern.startswith("/") else ""), "/".join(parts[plain:])


def _translated(pattern: str) -> str:
    out: list[str] = []
    at = depth = 0
    while at < len(pattern):
        char = pattern[at]
        if pattern.startswith("**/", at) and (at == 0 or pattern[at - 1] == "/"):
            out.append("(?:[^/]+/)*+" if pattern.startswith("**/", at + 3) else "(?:[^/]+/)*")
            at += 3
            continue
        if pattern.startswith("**", at):
            out.append(".*")
            at += 2
            continue
        if char == "[":
            end = pattern.find("]", at + 2)
            if end > 0:
                inside = pattern[at + 1 : end].replace("\\", "\\\\").replace("[", "\\[")
                negated = inside.startswith(("!", "^"))
                out.append(f"[^/{inside[1:]}]" if negated else f"[{inside}]")
                at = end + 1
                continue
        if char == "{" and "}" in pattern[at:]:
            depth += 1
            out.append("(?:")
        elif char == "}" and depth:
            depth -= 1
            out.append(")")
        elif char == "," and depth:
            out.append("|")
        else:
            out.append({"*": "[^/]*", "?": "[^/]"}.get(char) or regex.escape(char))
        at += 1
    return "".join(out) + ")" * depth
