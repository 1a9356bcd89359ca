"""Choose passages of a paper as a reader names them: a page, a section, a table."""

import re
from collections.abc import Sequence

from nuncius.core.documents import Passage
from nuncius.core.errors import NotFoundError
from nuncius.core.papers import Paper

_MAX_NAMED = 40


def choose(
    paper: Paper, passages: Sequence[Passage], *, section: str, page: int | None, table: str
) -> Sequence[Passage]:
    """Return the passages that fit all that is named, in order.

    Raises:
        NotFoundError: Nothing fits; what there is, is named.
    """
    if page is not None:
        passages = _on_page(paper, passages, page)
    if section:
        passages = _in_section(paper, passages, section)
    if table:
        passages = _of_table(paper, passages, table)
    return passages


def _on_page(paper: Paper, passages: Sequence[Passage], page: int) -> Sequence[Passage]:
    if paper.pages is None:
        raise NotFoundError(
            f"{paper.short_reference} has no pages.", hint="Ask for a section or use offset."
        )
    if page > paper.pages:
        raise NotFoundError(f"{paper.short_reference} has {paper.pages} pages; {page} is beyond.")
    # a passage that starts on the page before may run over into this one
    ends = [p for p in passages if p.page == page - 1][-1:]
    starts = [p for p in passages if p.page == page]
    if not starts and not ends:
        raise NotFoundError(f"Page {page} of {paper.short_reference} holds no text.")
    return [*ends, *starts] if starts else ends


def _in_section(paper: Paper, passages: Sequence[Passage], name: str) -> Sequence[Passage]:
    wanted = _key(name)
    paths = list(dict.fromkeys(p.section for p in passages if p.section))
    for matches in (_same, _numbered, _starts, _holds):
        fitting = [path for path in paths if matches(path, wanted)]
        if fitting:
            return [p for p in passages if p.section in fitting]
    listed = "; ".join(paths[:_MAX_NAMED]) or "none known"
    raise NotFoundError(
        f"{paper.short_reference} has no section '{name}'.", hint=f"Its sections: {listed}."
    )


def _key(text: str) -> str:
    return re.sub(r"\s+", " ", text).strip().strip(".").casefold()


def _parts(path: str) -> list[str]:
    return [_key(part) for part in path.split(" > ")]


def _same(path: str, wanted: str) -> bool:
    return _key(path) == wanted or wanted in _parts(path)


def _numbered(path: str, wanted: str) -> bool:
    return any(re.match(rf"{re.escape(wanted)}[.\s]", part) for part in _parts(path))


def _starts(path: str, wanted: str) -> bool:
    return any(re.sub(r"^[\d.]+\s*", "", part).startswith(wanted) for part in _parts(path))


def _holds(path: str, wanted: str) -> bool:
    return wanted in _key(path)


def _of_table(paper: Paper, passages: Sequence[Passage], name: str) -> Sequence[Passage]:
    number = re.sub(r"(?i)^\s*(?:tab(?:le|\.)?|表)\s*", "", name).strip().rstrip(".:")
    label = re.compile(rf"(?i)(?:\btab(?:le|\.)\s*|表\s*){re.escape(number)}(?![\w])")
    tables = [p for p in passages if p.kind in {"table", "caption"} and label.search(p.text[:300])]
    if tables:
        return tables
    there = [re.split(r"[.\n:]", p.text, maxsplit=1)[0][:60] for p in passages if p.kind == "table"]
    listed = "; ".join(dict.fromkeys(there[:_MAX_NAMED])) or "none known"
    raise NotFoundError(
        f"{paper.short_reference} has no table '{name}'.", hint=f"Its tables: {listed}."
    )
