"""The unpacked source of a paper: which file is the paper, and all of it as one LaTeX text. Pure."""

import json
import posixpath
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, Literal

from nuncius.core.errors import DocumentError
from nuncius.parsing.sniff import decode

MAX_CHARS: Final = 20_000_000
MAX_INCLUDES: Final = 2000
MAX_DEPTH: Final = 20
_MAX_FILE_BYTES: Final = 20_000_000
_TOP: Final = 400_000
"""Characters within which a paper says what class it is of."""
_CLASS = re.compile(
    r"^[^%\n]*\\(documentclass|documentstyle)\s*(?:\[[^\]]{0,2000}\])?\s*\{([^}]{0,200})\}",
    re.MULTILINE,
)
_BEGIN = re.compile(r"^[^%\n]*\\begin\s*\{document\}", re.MULTILINE)
_END = re.compile(r"\\end\s*\{document\}")
_PLAIN = re.compile(
    r"^[^%\n]*(?:\\bye|\\magnification|\\input\s+(?:amstex|mn|aa\.cmm|plain))\b", re.MULTILINE
)
_LIKELY = re.compile(
    r"(?:^|[_-])(?:main|ms|paper|article|manuscript|draft|root)(?:[_-]|\d|$)", re.IGNORECASE
)
_UNLIKELY = re.compile(
    r"supp?l|response|referee|reply|cover|letter_to|template|sample|example|appendix|table|figure|standalone"
    r"|erratum|highlights|authors?$|diff",
    re.IGNORECASE,
)
_COMMAND = re.compile(
    r"(?P<comment>(?<!\\)(?:\\\\)*%[^\n]*)"
    r"|\\begin\s*\{(?P<verbatim>verbatim\*?|lstlisting|comment|filecontents\*?|minted|Verbatim)\}"
    r"|\\(?P<two>import|subimport|includefrom|subincludefrom|inputfrom|subinputfrom)\*?\s*"
    r"\{(?P<folder>[^{}]{0,500})\}\s*\{(?P<there>[^{}]{0,500})\}"
    r"|\\(?P<one>input|include|subfile|subfileinclude|subfileinput|InputIfFileExists)(?![A-Za-z@])\s*"
    r"(?:\{(?P<braced>[^{}]{0,500})\}|(?P<bare>[\w./+:-]{1,500}))"
    r"|\\(?P<bib>bibliography)\s*\{[^{}]{0,2000}\}"
    r"|\\(?P<printbib>printbibliography)(?![A-Za-z])\s*(?:\[[^\]]{0,500}\])?"
    r"|\\(?P<stop>endinput)(?![A-Za-z])"
)


@dataclass(frozen=True, slots=True)
class TexTree:
    """One paper's source.

    Attributes:
        main: Name of the file that is the paper.
        text: All of it; what was included stands where it was named.
        used: Names of the files whose text is in it, in order of first use.
        missing: What was named and is not there, or was left out; for people.
    """

    main: str
    text: str
    used: tuple[str, ...]
    missing: tuple[str, ...]


def read_tree(files: Mapping[str, bytes]) -> TexTree:
    """Return the paper of an unpacked source as one LaTeX text.

    Raises:
        DocumentError: No file of it is LaTeX.
    """
    tree = _Tree(files)
    main = tree.main()
    if main is None:
        raise DocumentError(
            "unsupported",
            "The source holds no LaTeX file: "
            + (", ".join(sorted(files)[:5]) or "no file at all")
            + (" ..." if len(files) > 5 else "")
            + ".",
            hint="Fetch the paper's PDF instead.",
        )
    reader = _Reader(tree, main)
    text = reader.read(main, posixpath.dirname(main), ())
    return TexTree(
        main, text, tuple(dict.fromkeys(reader.used)), tuple(dict.fromkeys(reader.missing))
    )


class _Tree:
    """The files, decoded when first asked for."""

    def __init__(self, files: Mapping[str, bytes]) -> None:
        self.files = files
        self._texts: dict[str, str | None] = {}
        self._folded = {name.casefold(): name for name in files}

    def text(self, name: str) -> str | None:
        """Return a file's text, or None where it is binary or too large."""
        if name not in self._texts:
            data = self.files[name]
            try:
                good = data.strip() and len(data) <= _MAX_FILE_BYTES
                self._texts[name] = decode(data) if good else ""
            except DocumentError:
                self._texts[name] = None
        return self._texts[name]

    def find(self, name: str, folders: tuple[str, ...], endings: tuple[str, ...]) -> str | None:
        """Return the file that LaTeX would take for `name`; letter case may differ, as on a Mac."""
        name = name.strip().strip('"')
        for folder in folders:
            for ending in endings:
                path = posixpath.normpath(posixpath.join(folder, name + ending))
                if path in self.files:
                    return path
                if found := self._folded.get(path.casefold()):
                    return found
        return None

    # --- which file is the paper ---

    def main(self) -> str | None:
        ignored, chosen = self._readme()
        for name in chosen:
            if found := self.find(name, ("",), ("", ".tex")):
                return found
        names = [
            n
            for n in self.files
            if n not in ignored and n.lower().endswith((".tex", ".ltx", ".latex"))
        ]
        names = names or [
            n for n in self.files if n not in ignored and "." not in posixpath.basename(n)
        ]
        scores = {name: self._score(name, self.text(name) or "") for name in names}
        best = max(
            scores,
            key=lambda name: (scores[name], -name.count("/"), len(self.files[name])),
            default=None,
        )
        return best if best is not None and scores[best] > 0 else None

    def _readme(self) -> tuple[frozenset[str], list[str]]:
        """Return what arXiv's own notes in the source say: files to ignore, and the paper."""
        ignored: set[str] = set()
        chosen: list[str] = []
        for name, usage in (*self._json_readme(), *self._old_readme()):
            if usage == "ignore":
                ignored.add(name)
            elif usage in {"toplevel", "toplevelfile"} and name.lower().endswith((".tex", ".ltx")):
                chosen.append(name)
        return frozenset(ignored), chosen

    def _json_readme(self) -> list[tuple[str, str]]:
        try:
            told = (
                json.loads(self.text("00README.json") or "null")
                if "00README.json" in self.files
                else None
            )
        except ValueError:
            return []  # not JSON: the files themselves must tell
        sources = told.get("sources") if isinstance(told, dict) else None  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]
        entries: list[object] = list(sources) if isinstance(sources, list) else []  # pyright: ignore[reportUnknownArgumentType]
        return [
            (str(entry.get("filename", "")), str(entry.get("usage", "")))  # pyright: ignore[reportUnknownMemberType, reportUnknownArgumentType]
            for entry in entries
            if isinstance(entry, dict)
        ]

    def _old_readme(self) -> list[tuple[str, str]]:
        name = next((n for n in self.files if n.lower() in {"00readme.xxx", "00readme"}), "")
        lines = (self.text(name) or "").splitlines() if name else []
        return [(parts[0], parts[1]) for line in lines if len(parts := line.split()) == 2]

    def _score(self, name: str, text: str) -> float:
        """Return how likely a file is the paper itself; 0: it is not."""
        chosen = _CLASS.search(text, 0, _TOP)
        if not chosen and not _BEGIN.search(text):
            return 1.0 if _PLAIN.search(text) else 0.0
        stem = posixpath.splitext(posixpath.basename(name))[0]
        if chosen and chosen[2].strip() in {"subfiles", "standalone", "letter", "beamer"}:
            return 0.5
        score = 10.0 if _BEGIN.search(text) else 5.0
        score += 3.0 if _LIKELY.search(stem) else 0.0
        score -= 4.0 if _UNLIKELY.search(stem) else 0.0
        score += 2.0 if f"{posixpath.splitext(name)[0]}.bbl" in self.files else 0.0
        return (
            score + min(len(text), 200_000) / 50_000 + (1.0 if "\\begin{abstract}" in text else 0.0)
        )


@dataclass(slots=True)
class _Reader:
    """Puts the text together."""

    tree: _Tree
    main: str
    used: list[str] = field(default_factory=list[str])
    missing: list[str] = field(default_factory=list[str])
    chars: int = 0
    includes: int = 0

    def read(
        self, name: str, folder: str, above: tuple[str, ...], *, only_body: bool = False
    ) -> str:
        """Return the text of one file with what it includes.

        Args:
            folder: Where its own includes are looked for first, besides the paper's folder.
            above: The files that are being read, for circles.
        """
        text = self.tree.text(name)
        if text is None:
            self.missing.append(f"{name} (no text)")
            return ""
        self.used.append(name)
        if only_body:
            text = _body(text)
        out: list[str] = []
        at = 0
        while match := _COMMAND.search(text, at):
            out.append(self._spend(text[at : match.start()]))
            at = match.end()
            if match["comment"] is not None:
                out.append(self._spend(match[0]))
            elif match["verbatim"]:
                end = text.find(f"\\end{{{match['verbatim']}}}", at)
                end = len(text) if end < 0 else end
                out.append(self._spend(text[match.start() : end]))
                at = end
            elif match["stop"]:
                at = len(text)
            else:
                out.append(self._replaced(match, folder, (*above, name)))
        out.append(self._spend(text[at:]))
        return "".join(out)

    def _replaced(self, match: re.Match[str], folder: str, above: tuple[str, ...]) -> str:
        home = posixpath.dirname(self.main)
        if match["bib"] or match["printbib"]:
            return self._bibliography(biblatex=bool(match["printbib"]))
        if match["two"]:
            base = folder if match["two"].startswith("sub") else home
            folder = posixpath.normpath(posixpath.join(base, match["folder"].strip()))
            return self._included(match["there"], (folder,), above, match[0])
        name: str = match["braced"].strip() if match["braced"] is not None else match["bare"]
        folders = tuple(dict.fromkeys((home, folder, posixpath.dirname(above[-1]))))
        kind: Literal["whole", "body"] = "body" if match["one"].startswith("subfile") else "whole"
        return self._included(name, folders, above, match[0], kind=kind)

    def _included(
        self,
        name: str,
        folders: tuple[str, ...],
        above: tuple[str, ...],
        command: str,
        *,
        kind: Literal["whole", "body"] = "whole",
    ) -> str:
        found = self.tree.find(name, folders, (".tex", "", ".ltx", ".latex"))
        if found is None:
            if name and not re.search(r"[#\\]", name):
                self.missing.append(name)
            return self._spend(command)
        self.includes += 1
        if found in above or len(above) > MAX_DEPTH or self.includes > MAX_INCLUDES:
            self.missing.append(f"{found} (it includes itself, or too much is included)")
            return ""
        if found.lower().endswith((".sty", ".cls", ".clo", ".cfg", ".def")):
            return self._spend(command)
        only_body = kind == "body" or bool(_CLASS.search(self.tree.text(found) or "", 0, _TOP))
        folder = folders[0] if len(folders) == 1 else posixpath.dirname(found)
        return self.read(found, folder, above, only_body=only_body)

    def _bibliography(self, *, biblatex: bool) -> str:
        """Return the sorted references that LaTeX would read: the .bbl of the paper, or the only one."""
        bbl = [name for name in self.tree.files if name.lower().endswith(".bbl")]
        own = f"{posixpath.splitext(self.main)[0]}.bbl"
        name = own if own in bbl else bbl[0] if len(bbl) == 1 else ""
        text = self.tree.text(name) if name else None
        if not text or (biblatex and "\\bibitem" not in text):
            self.missing.append("the references (.bbl)")
            return ""
        self.used.append(name)
        return self._spend(f"\n{text}\n")

    def _spend(self, text: str) -> str:
        left = MAX_CHARS - self.chars
        if len(text) > left:
            self.missing.append(f"what is beyond {MAX_CHARS:,} characters")
            text = text[: max(0, left)]
        self.chars += len(text)
        return text


def _body(text: str) -> str:
    """Return what stands between the begin and the end of a document, or all where it has none."""
    begin = re.search(r"\\begin\s*\{document\}", text)
    if not begin:
        return text
    end = _END.search(text, begin.end())
    return text[begin.end() : end.start() if end else len(text)]
