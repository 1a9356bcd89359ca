"""Turn a model's last text into an answer: quotes put in by code, checked, and what they carry told."""

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from nuncius.core.documents import Passage
from nuncius.core.evidence import Answer, Citation, Handle, Searched, Unsupported, find_handles
from nuncius.core.papers import Paper
from nuncius.core.text import clean, fold, language_of, sentences
from nuncius.library.numbers import find_numbers, missing_numbers
from nuncius.library.verify import Verifier
from nuncius.store.protocols import Store

ABSENT = re.compile(r"^\s*\[not found\]\s*", re.IGNORECASE)
"""A line that starts so says what the library does not hold: no claim about a paper."""

_TYPED_MARK = re.compile(r"\[(\d{1,4})\]")
_ABSENT_TAG = re.compile(r"^[ \t]*\[not found\][ \t]*", re.IGNORECASE | re.MULTILINE)
_LONE_HANDLE = re.compile(r"^\s*(?:>\s*|[-*]\s+|\d+[.)]\s+)?$")
_MARK = re.compile(r"\[(\d+)\]")
_HEADING = re.compile(r"^\s*(?:#{1,6}\s|\*\*(?:\\\*|[^*])+\*\*\s*(?:[(（].*[)）])?\s*$)")
_RULE = re.compile(r"^\s*(?:-{3,}|\|?[\s:|-]+\||```\w*|\$\$)\s*$")
_ROW = re.compile(r"^\s*\|")
_QUOTE_LINE = re.compile(r"^\s*>")
_HAN = re.compile("[\u3400-\u9fff]")
_LEAD_IN = re.compile(r"[:：]\s*$")
_IN_QUOTATION_MARKS = re.compile(
    r"(?:(?<=[\s(\[>:：,，。])|^)\"(?=\S)([^\"]+)(?<=\S)\"|“([^”]+)”|„([^“]+)“|«([^»]+)»|「([^」]+)」"
)
_OMISSION = re.compile(r"\[?(?:…|\.\.\.)\]?")
_MAX_QUOTE_SENTENCES = 6
_TERM_WORDS, _TERM_HAN = 3, 7  # so much in quotation marks is a term, more claims to be a quote


@dataclass(slots=True)
class _Draft:
    """The answer while it is made. The verifier keeps pages for one answer only."""

    verifier: Verifier
    citations: list[Citation] = field(default_factory=list[Citation])
    keys: dict[tuple[str, str], str] = field(default_factory=dict[tuple[str, str], str])
    dropped: int = 0


class Finisher:
    """The library's side of the agent's `AnswerFinisher`."""

    def __init__(self, store: Store) -> None:
        self._store = store

    async def finish(
        self,
        text: str,
        *,
        question: str,
        evidence: Sequence[Mapping[str, object]],
        degraded: Sequence[str] = (),
    ) -> Answer:
        """Put quotes in for handles, check each in its paper, and mark what they do not carry."""
        text = _TYPED_MARK.sub(r"(\1)", clean(text))  # marks are set by code alone
        shown = _shown(evidence)
        passages = await self._store.passages.get(
            list({handle.passage_id for handle, _, _ in find_handles(text)})
        )
        papers = await self._store.papers.get(list({p.paper_id for p in passages.values()}))
        draft = _Draft(Verifier(self._store))
        lines: list[str] = []
        for line in text.split("\n"):
            lines.extend(await self._line(line, shown, passages, papers, draft))
        if draft.dropped and not draft.citations:
            lines = _without_frame(lines, language_of(question))
        tagged = _tidy(lines)
        searched = await self._searched(evidence, shown)
        known = f"{question} {await self._looked_at(searched)}"
        labels = " ".join(paper.label for paper in papers.values())
        unsupported = _unsupported(tagged, draft.citations, known, labels)
        return Answer(
            text=_ABSENT_TAG.sub("", tagged),
            answered=bool(draft.citations),
            citations=tuple(draft.citations),
            unsupported=tuple(unsupported),
            dropped_quotes=draft.dropped,
            searched=searched,
            degraded=tuple(dict.fromkeys([*degraded, *_degraded(evidence)])),
        )

    async def _line(
        self,
        line: str,
        shown: Mapping[str, str],
        passages: Mapping[str, Passage],
        papers: Mapping[str, Paper],
        draft: _Draft,
    ) -> list[str]:
        found = list(find_handles(line))
        if not found:
            return [line]
        rest = line
        for _, start, end in reversed(found):
            rest = rest[:start] + rest[end:]
        alone = bool(_LONE_HANDLE.match(rest))
        pieces: list[str] = []
        quotes: list[str] = []
        position = 0
        for handle, start, end in found:
            cited = await self._cite_run(handle, shown, passages, papers, draft)
            pieces.append(line[position:start] if cited else line[position:start].rstrip())
            position = end
            for citation in cited:
                pieces.append(f"[{citation.key}]")
                quotes.append(f"> {_one_line(citation.quote)} [{citation.key}]")
        if alone:
            return quotes
        return ["".join([*pieces, line[position:]])]

    async def _cite_run(
        self,
        handle: Handle,
        shown: Mapping[str, str],
        passages: Mapping[str, Passage],
        papers: Mapping[str, Paper],
        draft: _Draft,
    ) -> list[Citation]:
        """Cite a run of sentences as one quote; each for itself where a figure stands between them."""
        dropped = draft.dropped
        whole = await self._cite(handle, shown, passages, papers, draft)
        if whole:
            return [whole]
        if handle.last <= handle.first or handle.passage_id not in shown:
            return []
        draft.dropped = dropped
        last = min(handle.last, handle.first + _MAX_QUOTE_SENTENCES - 1)
        singles = [
            await self._cite(
                Handle(handle.passage_id, number, number), shown, passages, papers, draft
            )
            for number in range(handle.first, last + 1)
        ]
        return [citation for citation in singles if citation]

    async def _cite(
        self,
        handle: Handle,
        shown: Mapping[str, str],
        passages: Mapping[str, Passage],
        papers: Mapping[str, Paper],
        draft: _Draft,
    ) -> Citation | None:
        passage = passages.get(handle.passage_id)
        if passage is None or passage.paper_id not in papers:
            draft.dropped += 1
            return None
        digest = passage_digest(passage)
        if shown.get(passage.passage_id) != digest:
            draft.dropped += 1  # never shown in this session, or changed since
            return None
        quote = cut_quote(passage, handle)
        if not quote:
            draft.dropped += 1
            return None
        key = draft.keys.get((passage.passage_id, quote))
        if key:
            return draft.citations[int(key) - 1]
        place = await draft.verifier.locate(passage.paper_id, quote, page=passage.page or 0)
        if place is None and passage.page:
            place = await draft.verifier.locate(passage.paper_id, quote, page=passage.page + 1)
        if place is None:
            draft.dropped += 1
            return None
        paper = papers[passage.paper_id]
        citation = Citation(
            key=str(len(draft.citations) + 1),
            paper_id=paper.paper_id,
            bibcode=paper.bibcode,
            doi=paper.doi,
            arxiv_id=paper.arxiv_id,
            title=_marked_title(paper),
            authors=tuple(author.name for author in paper.authors),
            year=paper.year,
            quote=quote,
            page=place.page,
            section=passage.section,
            anchor=f"page={place.page}" if place.page else passage.passage_id,
            check=place.check,
            text_sha256=digest,
        )
        draft.citations.append(citation)
        draft.keys[passage.passage_id, quote] = citation.key
        return citation

    async def _looked_at(self, searched: Searched) -> str:
        """Return what a statement of absence may name: papers looked at, their years and pages."""
        papers = await self._store.papers.get(searched.papers)
        pages = {str(page) for numbers in searched.pages.values() for page in numbers}
        titles = [f"{paper.title} {paper.short_reference}" for paper in papers.values()]
        return "; ".join([*titles, *sorted(pages)])

    async def _searched(
        self, evidence: Sequence[Mapping[str, object]], shown: Mapping[str, str]
    ) -> Searched:
        passages = await self._store.passages.get(list(shown))
        pages: dict[str, set[int]] = {}
        for passage in passages.values():
            pages.setdefault(passage.paper_id, set()).update([passage.page] if passage.page else [])
        files = await self._store.papers.files()
        return Searched(
            papers_in_library=await self._store.papers.count(),
            papers=tuple(sorted(pages)),
            passages=len(passages),
            pages={paper: sorted(numbers) for paper, numbers in sorted(pages.items())},
            unreadable=tuple(
                f"{file.path}: {file.reason}" for file in files if file.error_kind and file.present
            ),
            near_misses=_strings(evidence, "near_misses"),
            queries=_strings(evidence, "query"),
        )


def _marked_title(paper: Paper) -> str:
    """Return a paper's title; one that was taken back begins with the word, as journals print it."""
    for word in ("retracted", "withdrawn"):
        if word in paper.label and not paper.title.upper().startswith(word.upper()):
            return f"{word.upper()}: {paper.title}"
    return paper.title


def passage_digest(passage: Passage) -> str:
    """Return the digest that ties a shown passage to the stored one."""
    return hashlib.sha256(passage.text.encode()).hexdigest()


def cut_quote(passage: Passage, handle: Handle) -> str:
    """Return the sentences that `handle` points to, or an empty string where there are none."""
    spans = sentences(passage.text)
    if not spans:
        return ""
    first = handle.first or 1
    last = handle.last or (len(spans) if not handle.first else first)
    if first > len(spans) or last < first:
        return ""
    last = min(last, len(spans), first + _MAX_QUOTE_SENTENCES - 1)
    return passage.text[spans[first - 1][0] : spans[last - 1][1]]


def _shown(evidence: Sequence[Mapping[str, object]]) -> dict[str, str]:
    shown: dict[str, str] = {}
    for metadata in evidence:
        passages = metadata.get("evidence")
        if isinstance(passages, Mapping):
            shown.update({str(key): str(value) for key, value in passages.items()})  # type: ignore[reportUnknownVariableType]  # JSON from the journal
    return shown


def _strings(evidence: Sequence[Mapping[str, object]], key: str) -> tuple[str, ...]:
    found: list[str] = []
    for metadata in evidence:
        value = metadata.get(key)
        if isinstance(value, str):
            found.append(value)
        elif isinstance(value, (list, tuple)):
            found.extend(str(item) for item in value)  # type: ignore[reportUnknownVariableType]  # JSON from the journal
    return tuple(dict.fromkeys(found))


def _degraded(evidence: Sequence[Mapping[str, object]]) -> tuple[str, ...]:
    return _strings(evidence, "degraded")


def _without_frame(lines: Sequence[str], language: str) -> list[str]:
    """Take out headings and lead-ins of quotes that were all dropped, and say so."""
    kept = [line for line in lines if not (_HEADING.match(line) or _LEAD_IN.search(line))]
    said = (
        "[not found] 引文未能在论文中重新找到，因此不显示。"
        if language == "zh"
        else "[not found] The quotes could not be found again in the papers and are not shown."
    )
    return [*kept, "", said]


def _one_line(text: str) -> str:
    return re.sub(r"\s*\n\s*", " ", text).strip()


def _tidy(lines: Sequence[str]) -> str:
    text = "\n".join(line.rstrip() for line in lines)
    return re.sub(r"\n{3,}", "\n\n", text).strip()


def _unsupported(
    text: str, citations: Sequence[Citation], known: str, labels: str
) -> list[Unsupported]:
    found: list[Unsupported] = []
    quotes = [citation.quote for citation in citations]
    names = " ".join(
        [labels, *(f"{citation.title} {citation.year or ''}" for citation in citations)]
    )
    put_in = {f"> {_one_line(citation.quote)} [{citation.key}]" for citation in citations}
    lines = text.split("\n")
    for index, line in enumerate(lines):
        if not line.strip() or line in put_in or _RULE.match(line):
            continue
        if ABSENT.match(line) and not missing_numbers(line, quotes, known):
            continue
        frame = (
            _HEADING.match(line)
            or (_LEAD_IN.search(line) and _cited_below(lines, index))
            or (_ROW.match(line) and not find_numbers(line))
        )
        if frame and not missing_numbers(line, quotes, names):
            continue  # a heading, a lead-in, a statement of absence: nothing is claimed of a paper
        typed = bool(_QUOTE_LINE.match(line))  # by the model: those of code are in `put_in`
        bare = _QUOTE_LINE.sub("", ABSENT.sub("", line))
        for sentence in [line.strip()] if _ROW.match(line) else _marked_sentences(bare):
            reason = _why_unsupported(sentence, citations, typed_quote=typed)
            if reason:
                found.append(Unsupported(sentence=sentence, reason=reason))
    return found


def _cited_below(lines: Sequence[str], index: int) -> bool:
    for line in lines[index + 1 :]:
        if line.strip():
            return bool(_QUOTE_LINE.match(line) or _HEADING.match(line) or _MARK.search(line))
    return False


def _marked_sentences(line: str) -> list[str]:
    """Return the sentences of a line, each with the marks that follow its full stop."""
    found: list[str] = []
    for start, end in sentences(line):
        sentence = line[start:end]
        if found and re.fullmatch(r"(?:\s*[\[(]\d+[\])]\s*[.。]?)+", sentence):
            found[-1] += " " + sentence
            continue
        lead = re.match(r"((?:\[\d+\]\s*)+)(.+)", sentence, re.DOTALL)
        if found and lead:  # marks set after the full stop belong to the sentence before
            found[-1] += " " + lead[1].strip()
            sentence = lead[2]
        found.append(re.sub(r"^\s*(?:[-*]\s+|\d+[.)]\s+)", "", sentence))
    return [sentence for sentence in found if re.search(r"\w", _MARK.sub("", sentence))]


def _why_unsupported(
    sentence: str, citations: Sequence[Citation], *, typed_quote: bool = False
) -> str:
    cited = [citations[int(n) - 1] for n in _MARK.findall(sentence) if 0 < int(n) <= len(citations)]
    bare = _MARK.sub("", sentence)
    if not cited:
        return "没有引文" if language_of(bare) == "zh" else "no citation"
    if not _typed_quotes_hold(bare, cited, whole=typed_quote):
        return (
            "引号中的文字不在引文中"
            if language_of(bare) == "zh"
            else "words given as a quote are not in the cited quotes"
        )
    names = " ".join(f"{citation.title} {citation.year or ''}" for citation in cited)
    missing = missing_numbers(bare, [citation.quote for citation in cited], names)
    if not missing:
        return ""
    listed = ", ".join(missing)
    if language_of(bare) == "zh":
        return f"引文中没有这些数值：{listed}"
    return f"not in the cited quotes: {listed}"


def _typed_quotes_hold(sentence: str, cited: Sequence[Citation], *, whole: bool) -> bool:
    """Tell whether what the sentence itself quotes stands in what it cites.

    Args:
        whole: The sentence is a line of a block quote: all of it is quoted.
    """
    quoted = [
        part for match in _IN_QUOTATION_MARKS.finditer(sentence) for part in match.groups() if part
    ]
    pieces = [
        piece.strip(' \t.,;:!?，。；：！？"“”')
        for words in ([sentence] if whole else quoted)
        if whole or len(words.split()) > _TERM_WORDS or len(_HAN.findall(words)) > _TERM_HAN
        for piece in _OMISSION.split(words)
    ]
    sources = [fold(text) for citation in cited for text in (citation.quote, citation.title)]
    # a writer may change the case of a quote's first letter to fit the sentence
    spelled = [(fold(piece), fold(piece[0].swapcase() + piece[1:])) for piece in pieces if piece]
    return all(any(source.find(form) for source in sources for form in forms) for forms in spelled)
