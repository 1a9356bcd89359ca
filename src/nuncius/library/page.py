"""One self-contained HTML file: question, answer, and each quote marked where it stands."""

import asyncio
import base64
import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib import resources
from pathlib import Path, PurePath
from urllib.parse import quote as percent

from nuncius.core.documents import Passage
from nuncius.core.errors import NunciusError
from nuncius.core.evidence import Answer, Check, Citation, Searched, Unsupported
from nuncius.core.papers import Paper
from nuncius.core.text import fold, language_of
from nuncius.library.answer import passage_digest
from nuncius.library.content import page_ranges
from nuncius.library.page_text import AnswerText, Words, escape, label, plain, words_for
from nuncius.library.parse import draw_page
from nuncius.parsing.marks import Box
from nuncius.parsing.render import RenderedPage
from nuncius.store.protocols import Store
from nuncius.walls.paths import read_user_file

_SCALE = 2.0
_MAX_PDF_BYTES = 256 * 1024 * 1024
_MAX_PICTURES_BYTES = 16 * 1024 * 1024
_MAX_LISTED = 60
_BESIDE_CHARS = 420
_WHOLE_SHARE = 0.97  # below it the rest of the quote is looked for on the next page

_POLICY = (
    "default-src 'none'; img-src data:; style-src 'unsafe-inline'; base-uri 'none';"
    " form-action 'none'"
)


class AnswerPage:
    """Writes an answer as a page that needs no server, no script and no network.

    Args:
        store: Where papers, passages and the places of the PDFs are known.
    """

    def __init__(self, store: Store) -> None:
        self._store = store

    async def render(self, question: str, answer: Answer) -> str:
        """Return the page's HTML, in the language of the question (English or Chinese).

        Each quote is marked on its rendered PDF page; where there is no PDF, or it is gone or
        changed, in the stored text around it, with a note that says so.
        """
        words = words_for(language_of(question))
        known = {citation.paper_id for citation in answer.citations} | set(answer.searched.papers)
        papers = await self._store.papers.get(sorted(known))
        pictures = _Pictures(words)
        cards: list[str] = []
        for number, citation in enumerate(answer.citations, 1):
            shown = await self._show(citation, papers.get(citation.paper_id), pictures, words)
            cards.append(_card(number, citation, papers.get(citation.paper_id), shown, words))
        near = await self._near_misses(answer.searched)
        return "\n".join(
            [
                _head(question, words),
                _top(question, answer, words),
                "<main>",
                _answer(answer, words),
                _evidence(cards, {one.check for one in answer.citations}, words),
                _searched(answer.searched, papers, near, words),
                "</main>",
                f"<footer>{escape(words.footer)}</footer>",
                "</body></html>\n",
            ]
        )

    async def _show(
        self, citation: Citation, paper: Paper | None, pictures: "_Pictures", words: Words
    ) -> str:
        """Return the quote's figures, or its context with the reason why there is no picture."""
        if paper is None:
            return _note(words.paper_gone)
        problem = ""
        if citation.page and any(file.kind == "pdf" for file in paper.files):
            drawn = await pictures.draw(paper, citation.page, citation.quote)
            if isinstance(drawn, str):
                problem = drawn
            else:
                return "\n".join(_figure(one, paper, citation, words) for one in drawn)
        context = await self._context(citation, words)
        return (_note(problem) if problem else "") + context

    async def _context(self, citation: Citation, words: Words) -> str:
        passage = await self._passage(citation)
        if passage is None:
            return ""
        around = await self._store.passages.around(passage.passage_id, before=1, after=1)
        parts = [
            f'<figure><figcaption>{escape(words.in_context)}</figcaption><div class="context">'
        ]
        for one in around:
            if one.ordinal == passage.ordinal:
                parts.append(f'<p dir="auto">{_marked(one.text, citation.quote)}</p>')
            else:
                text = _beside(one.text, before=one.ordinal < passage.ordinal)
                parts.append(f'<p class="beside" dir="auto">{escape(text)}</p>')
        return "".join([*parts, "</div></figure>"])

    async def _passage(self, citation: Citation) -> Passage | None:
        """Return the stored passage that holds the quote: by its digest, else by its text."""
        passages = await self._store.passages.of_paper(citation.paper_id)
        same = [p for p in passages if passage_digest(p) == citation.text_sha256]
        holding = same or [p for p in passages if fold(p.text).find(fold(citation.quote))]
        return next((p for p in holding if p.page == citation.page), next(iter(holding), None))

    async def _near_misses(self, searched: Searched) -> Sequence[tuple[Passage, Paper]]:
        handles = [handle.strip("[] ").split(":")[0] for handle in searched.near_misses]
        passages = await self._store.passages.get(handles[:_MAX_LISTED])
        papers = await self._store.papers.get(sorted({p.paper_id for p in passages.values()}))
        return [
            (passages[handle], papers[passages[handle].paper_id])
            for handle in dict.fromkeys(handles)
            if handle in passages and passages[handle].paper_id in papers
        ]


# --- pictures of pages ---------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Picture:
    """A rendered page; `goes_on`: it holds the rest of a quote that began on the page before."""

    page: int
    rendered: RenderedPage
    goes_on: bool = False


@dataclass(slots=True)
class _Pictures:
    """Draws pages of the user's PDFs; bounded, so that the file can be mailed."""

    words: Words
    spent_bytes: int = 0
    files: dict[str, bytes] = field(default_factory=dict[str, bytes])

    async def draw(self, paper: Paper, page: int, quote: str) -> Sequence[_Picture] | str:
        """Return the page, and the next one for a quote that runs over; or why there is none."""
        if self.spent_bytes > _MAX_PICTURES_BYTES:
            return self.words.too_many
        data = await self._data(paper)
        if isinstance(data, str):
            return data
        try:
            drawn = [_Picture(page, await self._render(data, page, quote))]
            if not drawn[0].rendered.marks:
                return self.words.not_placed
            if drawn[0].rendered.share < _WHOLE_SHARE and page < (paper.pages or 0):
                following = await self._render(data, page + 1, quote)
                together = drawn[0].rendered.share + following.share
                if following.marks and _WHOLE_SHARE - 0.1 < together < 1.01:
                    drawn.append(_Picture(page + 1, following, goes_on=True))
        except NunciusError as error:
            return self.words.file_unreadable(error.message)
        self.spent_bytes += sum(len(one.rendered.png) for one in drawn)
        return drawn

    async def _render(self, data: bytes, page: int, quote: str) -> RenderedPage:
        return await draw_page(data, page, quote=quote, scale=_SCALE)

    async def _data(self, paper: Paper) -> bytes | str:
        """Return the bytes of the paper's PDF as they were when it was added, or what is wrong."""
        problem = self.words.file_missing
        for file in paper.files:
            if file.kind != "pdf":
                continue
            if file.path in self.files:
                return self.files[file.path]
            try:
                data, _ = await asyncio.to_thread(read_user_file, Path(file.path), _MAX_PDF_BYTES)
            except NunciusError:
                continue  # told by `problem`: the page shows no path of the user's disk
            if hashlib.sha256(data).hexdigest() != file.sha256:
                problem = self.words.file_changed
                continue
            self.files[file.path] = data
            return data
        return problem


def _figure(picture: _Picture, paper: Paper, citation: Citation, words: Words) -> str:
    rendered = picture.rendered
    crop = _neighbourhood(rendered)
    wide, high = crop.right - crop.left, crop.bottom - crop.top
    full = rendered.width_px / rendered.height_px
    # `top` of a positioned box counts in heights of the window, `left` in its widths
    style = (
        f"--full:{full:.5f};--crop:{full * wide / high:.5f};--wide:{100 / wide:.3f}%;"
        f"--left:{-100 * crop.left / wide:.3f}%;--top:{-100 * crop.top / high:.3f}%"
    )
    marks = "".join(
        f'<mark aria-hidden="true" style="left:{100 * box.left:.3f}%;top:{100 * box.top:.3f}%;'
        f'width:{100 * (box.right - box.left):.3f}%;height:{100 * (box.bottom - box.top):.3f}%">'
        "</mark>"
        for box in rendered.marks
    )
    name = f"whole-{escape(citation.key)}-{picture.page}"
    alt = words.marked_on.format(page=picture.page, title=paper.title)
    caption = (
        words.goes_on.format(page=picture.page) if picture.goes_on else words.page(picture.page)
    )
    source = base64.b64encode(rendered.png).decode()
    return (
        f'<figure><input class="whole" type="checkbox" id="{name}">'
        f"<figcaption><span>{escape(caption)}</span>"
        f'<label class="switch" for="{name}">{escape(words.whole_page)}</label></figcaption>'
        f'<div class="sheet" style="{style}"><div class="paper">'
        f'<img src="data:image/png;base64,{source}" width="{rendered.width_px}"'
        f' height="{rendered.height_px}" alt="{escape(alt)}">{marks}</div></div></figure>'
    )


def _neighbourhood(rendered: RenderedPage) -> Box:
    """Return the part of the page to show: the marked lines with some lines around, one column."""
    marks = rendered.marks
    top = min(box.top for box in marks) - 0.05
    bottom = max(box.bottom for box in marks) + 0.05
    left = min(box.left for box in marks) - 0.035
    right = max(box.right for box in marks) + 0.035
    # no narrower than half the page: enlarged twice, a column can be read on a telephone
    half = max(right - left, 0.5) / 2
    middle = min(max((left + right) / 2, half), 1 - half)
    left, right = middle - half, middle + half
    return Box(max(0.0, left), max(0.0, top), min(1.0, right), min(1.0, bottom))


# --- pieces of HTML ------------------------------------------------------------------------------


def _head(question: str, words: Words) -> str:
    style = resources.files("nuncius.library").joinpath("page.css").read_text("utf-8")
    title = " ".join(question.split())[:120]
    return (
        f'<!doctype html>\n<html lang="{words.lang}">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="referrer" content="no-referrer">\n'
        '<meta name="color-scheme" content="light dark">\n'
        f"<title>{escape(title)} · nuncius</title>\n<style>\n{style}</style>\n</head>\n<body>"
    )


def _top(question: str, answer: Answer, words: Words) -> str:
    labels = "".join(f"<li>{escape(label(one, words))}</li>" for one in answer.degraded)
    shown = f'\n<ul class="labels">{labels}</ul>' if labels else ""
    return (
        f'<header>\n<p class="brand">{escape(words.made_by)}</p>\n'
        f'<h1 dir="auto">{escape(question.strip())}</h1>{shown}\n</header>'
    )


def _answer(answer: Answer, words: Words) -> str:
    anchors = {one.key: f"c{number}" for number, one in enumerate(answer.citations, 1)}
    text = AnswerText(anchors, answer.unsupported)
    prose = text.render(answer.text)
    parts = [f'<section aria-labelledby="answer"><h2 id="answer">{escape(words.answer)}</h2>']
    if not answer.answered:
        parts.append(
            f'<p class="notice"><strong>{escape(words.not_found)}</strong>'
            f"{escape(words.not_found_help)}</p>"
        )
    if answer.unsupported:
        parts.append(f'<p class="notice">⚠ {escape(words.doubts(len(answer.unsupported)))}</p>')
    if answer.dropped_quotes:
        parts.append(f'<p class="notice">{escape(words.dropped(answer.dropped_quotes))}</p>')
    lang = "zh-CN" if language_of(answer.text) == "zh" else "en"
    parts.append(f'<div class="prose" lang="{lang}" dir="auto">{prose}</div>')
    parts.append(_other_doubts(text.unmarked, words))
    return "\n".join([*parts, "</section>"])


def _other_doubts(unmarked: Sequence[Unsupported], words: Words) -> str:
    if not unmarked:
        return ""
    items = "".join(
        f'<li><span class="doubt">{escape(one.sentence)}</span>'
        f' <span class="why">⚠ {escape(one.reason)}</span></li>'
        for one in unmarked
    )
    heading = f"<h3>{escape(words.other_doubts)}</h3>"
    return f'<div class="searched">{heading}<ul>{items}</ul></div>'


def _evidence(cards: Sequence[str], checks: set[Check], words: Words) -> str:
    if not cards:
        return ""
    legend = "".join(
        f"<li>✓ {escape(short)}: {escape(meaning)}</li>"
        for check, (short, meaning) in words.checks.items()
        if check in checks
    )
    items = "\n".join(f"<li>{card}</li>" for card in cards)
    return (
        f'<section aria-labelledby="evidence"><h2 id="evidence">{escape(words.evidence)}</h2>\n'
        f'<ol class="cards">{items}</ol>\n<ul class="legend">{legend}</ul></section>'
    )


def _card(number: int, citation: Citation, paper: Paper | None, shown: str, words: Words) -> str:
    short, meaning = words.checks[citation.check]
    lang = {"zh": "zh-CN", "ja": "ja"}.get(language_of(citation.quote), "en")
    chips = [paper.label, words.confidential if paper.confidential else ""] if paper else []
    marks = "".join(f' <span class="chip">{escape(chip)}</span>' for chip in chips if chip)
    return (
        f'<article class="card" id="c{number}" aria-labelledby="t{number}"><header>'
        f'<span class="number">[{escape(citation.key)}]</span>'
        f'<h3 id="t{number}" dir="auto">{escape(citation.title)}{marks}</h3>'
        f'<span class="badge" title="{escape(meaning)}">✓ {escape(short)}</span>'
        f'<p class="meta">{_meta(citation, words)}</p></header>\n'
        f'<blockquote class="quote" lang="{lang}" dir="auto">{escape(citation.quote)}'
        "</blockquote>\n"
        f"{shown}</article>"
    )


def _meta(citation: Citation, words: Words) -> str:
    who = words.join.join(citation.authors[:3]) + (words.et_al if len(citation.authors) > 3 else "")
    facts = [
        who,
        str(citation.year or ""),
        words.page(citation.page) if citation.page else "",
        f"§ {citation.section}" if citation.section[:1].isdigit() else citation.section,
    ]
    shown = [f"<bdi>{escape(fact)}</bdi>" for fact in facts if fact]
    for before, name, spelled in (
        ("https://doi.org/", citation.doi, "doi:"),
        ("https://arxiv.org/abs/", citation.arxiv_id, "arXiv:"),
        ("https://ui.adsabs.harvard.edu/abs/", citation.bibcode, ""),
    ):
        if name:
            target = before + percent(plain(name), safe="/")
            shown.append(
                f'<a href="{target}" rel="noreferrer noopener">{escape(spelled + name)}</a>'
            )
    return " · ".join(shown)


def _note(text: str) -> str:
    return f'<p class="note">{escape(text)}</p>'


def _marked(text: str, quote: str) -> str:
    """Return the part of a passage around the quote, with the quote marked."""
    at = text.find(quote)
    span = (at, at + len(quote)) if at >= 0 else fold(text).find(fold(quote))
    if span is None:
        return escape(text)
    start, end = span
    before, after = _beside(text[:start], before=True), _beside(text[end:], before=False)
    return f"{escape(before)}<mark>{escape(text[start:end])}</mark>{escape(after)}"


def _beside(text: str, *, before: bool) -> str:
    """Return the end of the text before the quote, or the beginning of what comes after."""
    if len(text) <= _BESIDE_CHARS:
        return text
    if before:
        kept = text[-_BESIDE_CHARS:]
        return "… " + (kept.split(maxsplit=1)[-1] if " " in kept[:40] else kept)
    kept = text[:_BESIDE_CHARS]
    return (kept.rsplit(maxsplit=1)[0] if " " in kept[-40:] else kept) + " …"


# --- what was searched ---------------------------------------------------------------------------


def _searched(
    searched: Searched,
    papers: Mapping[str, Paper],
    near: Sequence[tuple[Passage, Paper]],
    words: Words,
) -> str:
    read = [papers[paper_id] for paper_id in searched.papers if paper_id in papers]
    summary = (
        words.looked_at(searched.papers_in_library, len(searched.papers), searched.passages)
        if searched.passages
        else words.nothing_read(searched.papers_in_library)
    )
    parts = [
        '<section class="searched" aria-labelledby="searched">',
        f'<h2 id="searched">{escape(words.searched)}</h2><p>{escape(summary)}</p>',
        _list(words.queries, [escape(query) for query in searched.queries], words),
        _list(words.papers, [_paper_read(paper, searched, words) for paper in read], words),
        _list(words.near_misses, [_near_miss(*one, words) for one in near], words),
        _list(
            words.unreadable, [escape(_without_folder(one)) for one in searched.unreadable], words
        ),
        "</section>",
    ]
    return "\n".join(part for part in parts if part)


def _list(heading: str, items: Sequence[str], words: Words) -> str:
    """Return a bounded list of HTML pieces under a heading; nothing where there are none."""
    if not items:
        return ""
    shown = [f'<li dir="auto">{item}</li>' for item in items[:_MAX_LISTED]]
    if len(items) > _MAX_LISTED:
        shown.append(f"<li>{escape(words.and_more(len(items) - _MAX_LISTED))}</li>")
    return f"<h3>{escape(heading)}</h3><ul>{''.join(shown)}</ul>"


def _paper_read(paper: Paper, searched: Searched, words: Words) -> str:
    numbers = searched.pages.get(paper.paper_id, [])
    pages = f" · {words.pages_read(page_ranges(numbers))}" if numbers else ""
    who = f" · {paper.short_reference}" if paper.authors else ""
    return f'{escape(paper.title)}<span class="snippet">{escape(who + pages)}</span>'


def _near_miss(passage: Passage, paper: Paper, words: Words) -> str:
    where = f", {words.page(passage.page)}" if passage.page else ""
    snippet = " ".join(passage.text.split())
    snippet = snippet if len(snippet) <= 240 else snippet[:239] + "…"
    return (
        f'{escape(paper.short_reference + where)}<br><span class="snippet">{escape(snippet)}</span>'
    )


def _without_folder(unreadable: str) -> str:
    """Return ``paper.pdf: reason``: a page that is passed on does not tell where files lie."""
    path, separator, reason = unreadable.partition(": ")
    return PurePath(path).name + separator + reason
