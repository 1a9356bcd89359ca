"""The answer page's text: escaping, its own words in two languages, and Markdown of an answer.

Papers and models are not trusted: every character goes through `escape`, and only the tags
written here reach the page.
"""

import html
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from nuncius.core.evidence import Check, Unsupported
from nuncius.core.text import clean, fold

# Marks that turn the direction of what follows, and invisible tag letters: they can make a line
# read as something else than it says.
_DECEPTIVE = re.compile("[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\U000e0000-\U000e007f]")

_INLINE = re.compile(
    r"(?P<code>`[^`\n]+`)|(?P<escape>\\\*)"
    r"|(?P<strong>\*\*(?=\S)(?:\\\*|[^*\n]|\*(?!\*))+?(?<=\S)\*\*)"
    r"|(?P<em>(?<![\w*])\*(?=[^\s*])[^*\n]+?(?<=[^\s*])\*(?![\w*]))|(?P<cite>\[\d{1,4}\])"
)
_HEADING = re.compile(r"(#{1,6})\s+(.+?)\s*#*\s*$")
_QUOTE = re.compile(r"\s*>\s?(.*)$")
_BULLET = re.compile(r"\s*[-*•]\s+(.*)$")
_NUMBERED = re.compile(r"\s*(\d{1,4})[.)、]\s+(.*)$")
_RULE = re.compile(r"\s*(?:-{3,}|\*{3,}|_{3,})\s*$")
_FENCE = re.compile(r"\s*(`{3,}|~{3,})")
_ROW = re.compile(r"\s*\|.*\|\s*$")
_ROW_RULE = re.compile(r"\s*\|(?:\s*:?-+:?\s*\|)+\s*$")


def plain(text: str) -> str:
    """Return `text` without control characters and marks that turn its direction."""
    return _DECEPTIVE.sub("", clean(text))


def escape(text: str) -> str:
    """Return `text` for an HTML element or a quoted attribute."""
    return html.escape(plain(text), quote=True)


@dataclass(frozen=True, slots=True)
class Words:
    """What the page itself says, in one language."""

    lang: str
    made_by: str
    answer: str
    not_found: str
    not_found_help: str
    evidence: str
    searched: str
    checks: dict[Check, tuple[str, str]]
    """For each check a short word, and what it means."""
    page: Callable[[int], str]
    et_al: str
    join: str
    whole_page: str
    marked_on: str
    goes_on: str
    in_context: str
    doubts: Callable[[int], str]
    dropped: Callable[[int], str]
    other_doubts: str
    looked_at: Callable[[int, int, int], str]
    pages_read: Callable[[str], str]
    queries: str
    papers: str
    near_misses: str
    unreadable: str
    nothing_read: Callable[[int], str]
    and_more: Callable[[int], str]
    confidential: str
    file_missing: str
    file_changed: str
    file_unreadable: Callable[[str], str]
    not_placed: str
    too_many: str
    paper_gone: str
    footer: str


def _many(count: int, one: str, many: str) -> str:
    return f"{count:,} {one if count == 1 else many}"


ENGLISH = Words(
    lang="en",
    made_by="nuncius · an answer and its evidence",
    answer="Answer",
    not_found="Not found in your library",
    not_found_help="No passage that was read holds the answer. What was looked at stands below.",
    evidence="Evidence",
    searched="What was searched",
    checks={
        "exact": ("exact", "Found again in the paper word for word."),
        "folded": (
            "folded",
            (
                "Found again in the paper; only white space, ligatures, hyphens at line ends"
                " or margin line numbers differ."
            ),
        ),
        "ocr": ("ocr", "Found again in text that was recognised from a scanned page."),
    },
    page=lambda number: f"page {number}",
    et_al=" et al.",
    join=", ",
    whole_page="Show the whole page",
    marked_on="Page {page} of “{title}”, with the quote marked",
    goes_on="The quote goes on here, on page {page}.",
    in_context="The quote in its context",
    doubts=lambda n: (
        f"{_many(n, 'sentence is', 'sentences are')} not carried by the quotes; dotted below."
    ),
    dropped=lambda n: (
        f"{_many(n, 'quote was', 'quotes were')} not found again in the paper and left out."
    ),
    other_doubts="Also not carried by the quotes",
    looked_at=lambda papers, read, passages: (
        f"{_many(passages, 'passage', 'passages')} of {_many(read, 'paper', 'papers')} read,"
        f" from a library of {_many(papers, 'paper', 'papers')}."
    ),
    pages_read=lambda pages: f"pages {pages}",
    queries="Searched for",
    papers="Papers read",
    near_misses="Near misses: on the topic, but without the answer",
    unreadable="Could not be read",
    nothing_read=lambda n: f"No passage was read; the library holds {_many(n, 'paper', 'papers')}.",
    and_more=lambda n: f"and {n:,} more",
    confidential="confidential",
    file_missing="The PDF is no longer where it was, so the quote is shown in its stored text.",
    file_changed="The PDF has changed since it was added, so the quote is shown in its stored text."
    " Add it again to see the page.",
    file_unreadable=lambda reason: (
        f"The page cannot be drawn ({reason}), so the quote is shown in its stored text."
    ),
    not_placed="The quote could not be placed on the picture of the page;"
    " it is marked in its stored text.",
    too_many="Too many pages for one file: this quote is shown in its stored text.",
    paper_gone="This paper is no longer in the library.",
    footer="Quotes are stored text put in by code, never typed by a model, and each was found again"
    " in its paper. This page loads nothing from anywhere.",
)

CHINESE = Words(
    lang="zh-CN",
    made_by="nuncius · 答案与证据",
    answer="答案",
    not_found="文献库中没有找到",
    not_found_help="读过的段落都不含答案。查看过的内容列在下面。",
    evidence="证据",
    searched="检索范围",
    checks={
        "exact": ("逐字一致", "在论文中逐字找到。"),
        "folded": ("折叠后一致", "在论文中找到；只有空白、连字、行末断词或行号不同。"),
        "ocr": ("OCR 一致", "在扫描页的识别文字中找到。"),
    },
    page=lambda number: f"第 {number} 页",
    et_al=" 等",
    join="，",
    whole_page="显示整页",
    marked_on="《{title}》第 {page} 页，引文已标出",
    goes_on="引文接续到第 {page} 页。",
    in_context="引文及上下文",
    doubts=lambda n: f"有 {n} 句话没有引文支持，下文以虚线标出。",
    dropped=lambda n: f"有 {n} 条引文未能在论文中再次找到，已略去。",
    other_doubts="其他没有引文支持的句子",
    looked_at=lambda papers, read, passages: (
        f"文献库共 {papers} 篇，读了其中 {read} 篇的 {passages} 个段落。"
    ),
    pages_read=lambda pages: f"第 {pages} 页",
    queries="检索词",
    papers="读过的论文",
    near_misses="相近但不含答案的段落",
    unreadable="未能读取",
    nothing_read=lambda n: f"没有读到任何段落；文献库共 {n} 篇。",
    and_more=lambda n: f"另有 {n} 项",
    confidential="保密",
    file_missing="PDF 已不在原处，因此改为显示存储的文字。",
    file_changed="PDF 在加入之后有改动，因此改为显示存储的文字；重新加入即可看到页面。",
    file_unreadable=lambda reason: f"无法绘制页面（{reason}），因此改为显示存储的文字。",
    not_placed="未能在页面图像上定位引文，已在存储的文字中标出。",
    too_many="页面过多，此条引文改为显示存储的文字。",
    paper_gone="这篇论文已不在文献库中。",
    footer="引文是由程序放入的存储原文，不经模型转写，并已在论文中再次找到。本页不从任何地方加载内容。",
)

_LABELS_ZH = {
    "quotes only, no language model": "只有引文，未使用语言模型",
    "translated by word list": "检索词按词表翻译",
}


def words_for(language: str) -> Words:
    """Return the page's words for ``zh``, else the English ones."""
    return CHINESE if language == "zh" else ENGLISH


def label(text: str, words: Words) -> str:
    """Return a label in the page's language where it is known, the original in brackets."""
    known = _LABELS_ZH.get(text.strip()) if words is CHINESE else None
    return f"{known} ({text})" if known else text


# --- Markdown of an answer -----------------------------------------------------------------------


class AnswerText:
    """Turns an answer's text into HTML: links to citations, marks on unsupported sentences.

    Args:
        anchors: The element id of each citation, by its key; other ``[n]`` stay text.
    """

    def __init__(self, anchors: dict[str, str], unsupported: Sequence[Unsupported]) -> None:
        self._anchors = anchors
        self._unsupported = list(unsupported)
        self._seen: set[int] = set()

    @property
    def unmarked(self) -> list[Unsupported]:
        """Return what was not found in the text that was rendered."""
        return [one for index, one in enumerate(self._unsupported) if index not in self._seen]

    def render(self, text: str) -> str:
        """Return HTML of `text`: headings, quotes, lists, tables, code, bold and marks."""
        lines = plain(text).split("\n")
        parts: list[str] = []
        at = 0
        while at < len(lines):
            at = self._block(lines, at, parts)
        return "\n".join(parts)

    def _block(self, lines: list[str], at: int, parts: list[str]) -> int:
        """Add the block that starts at line `at`, and return the line after it."""
        line = lines[at]
        if not line.strip():
            return at + 1
        if fence := _FENCE.match(line):
            return _code(lines, at, fence[1], parts)
        if heading := _HEADING.match(line):
            level = min(len(heading[1]) + 2, 6)
            parts.append(f"<h{level}>{self.inline(heading[2])}</h{level}>")
            return at + 1
        if _RULE.match(line):
            parts.append("<hr>")
            return at + 1
        for pattern, opening, item, closing in (
            (_QUOTE, "<blockquote>", "<p>{}</p>", "</blockquote>"),
            (_BULLET, "<ul>", "<li>{}</li>", "</ul>"),
            (_NUMBERED, "<ol>", "<li>{}</li>", "</ol>"),
        ):
            if pattern.match(line):
                return self._run(lines, at, parts, pattern, (opening, item, closing))
        if _ROW.match(line):
            return self._table(lines, at, parts)
        end = at + 1
        while end < len(lines) and lines[end].strip() and not _starts_block(lines[end]):
            end += 1
        parts.append(f"<p>{'<br>'.join(self.inline(line) for line in lines[at:end])}</p>")
        return end

    def _run(
        self,
        lines: list[str],
        at: int,
        parts: list[str],
        pattern: re.Pattern[str],
        tags: tuple[str, str, str],
    ) -> int:
        opening, item, closing = tags
        if pattern is _NUMBERED and (first := _NUMBERED.match(lines[at])) and first[1] != "1":
            opening = f'<ol start="{int(first[1])}">'
        parts.append(opening)
        while at < len(lines) and (match := pattern.match(lines[at])):
            parts.append(item.format(self.inline(match[match.re.groups])))
            at += 1
        parts.append(closing)
        return at

    def _table(self, lines: list[str], at: int, parts: list[str]) -> int:
        parts.append('<div class="scroll"><table>')
        head = at + 1 < len(lines) and bool(_ROW_RULE.match(lines[at + 1]))
        while at < len(lines) and _ROW.match(lines[at]):
            if not _ROW_RULE.match(lines[at]):
                tag = "th" if head else "td"
                cells = re.split(r"(?<!\\)\|", lines[at].strip()[1:-1])
                row = "".join(f"<{tag}>{self.inline(cell.strip())}</{tag}>" for cell in cells)
                parts.append(f"<tr>{row}</tr>")
                head = False
            at += 1
        parts.append("</table></div>")
        return at

    def inline(self, line: str) -> str:
        """Return one line: code, bold, emphasis, marks; sentences without evidence dotted."""
        doubts = self._doubts(line)
        out: list[str] = []
        for start, end, style in _runs(line):
            cuts = {start, end}
            cuts.update(edge for a, b, _ in doubts for edge in (a, b) if start < edge < end)
            edges = sorted(cuts)
            for a, b in pairwise(edges):
                piece = self._styled(line[a:b], style)
                doubt = next((one for one in doubts if one[0] <= a < one[1]), None)
                out.append(f'<span class="doubt">{piece}</span>' if doubt else piece)
                if doubt and b == min(doubt[1], len(line)):
                    out.append(f' <span class="why">⚠ {escape(doubt[2])}</span>')
        return "".join(out)

    def _styled(self, text: str, style: str) -> str:
        if style == "cite":
            anchor = self._anchors.get(text[1:-1])
            return (
                f'<a class="cite" href="#{anchor}">{escape(text)}</a>' if anchor else escape(text)
            )
        if style in {"strong", "em", "code"}:
            return f"<{style}>{escape(text)}</{style}>"
        return "" if style == "sign" else escape(text)

    def _doubts(self, line: str) -> list[tuple[int, int, str]]:
        """Return (start, end, reason) of the unsupported sentences that stand in `line`."""
        found: list[tuple[int, int, str]] = []
        folded = fold(line)
        for index, one in enumerate(self._unsupported):
            span = folded.find(fold(plain(one.sentence)))
            if span and not any(a < span[1] and span[0] < b for a, b, _ in found):
                found.append((*span, one.reason))
                self._seen.add(index)
        return found


def _runs(line: str) -> list[tuple[int, int, str]]:
    """Part a line into (start, end, style); a style's signs are runs of their own, ``sign``."""
    runs: list[tuple[int, int, str]] = []
    position = 0
    for match in _INLINE.finditer(line):
        start, end = match.span()
        style = match.lastgroup or ""
        sign = {"strong": 2, "em": 1, "code": 1, "escape": 1}.get(style, 0)
        runs.append((position, start, ""))
        runs.append((start, start + sign, "sign"))
        if style == "escape":
            runs.append((start + sign, end, ""))
        else:
            runs.extend(_inside(line, start + sign, end - sign, style))
            runs.append((end - sign, end, "sign"))
        position = end
    runs.append((position, len(line), ""))
    return [run for run in runs if run[0] < run[1]]


def _inside(line: str, start: int, end: int, style: str) -> list[tuple[int, int, str]]:
    """Return the runs inside bold or emphasis: citations there are links, escapes are signs."""
    if style not in {"strong", "em"}:
        return [(start, end, style)]
    runs: list[tuple[int, int, str]] = []
    for match in re.finditer(r"(?P<cite>\[\d{1,4}\])|(?P<sign>\\(?=\*))", line[start:end]):
        at = start + match.start()
        own = match.lastgroup or ""
        runs += [(runs[-1][1] if runs else start, at, style), (at, start + match.end(), own)]
    runs.append((runs[-1][1] if runs else start, end, style))
    return runs


def _starts_block(line: str) -> bool:
    patterns = (_FENCE, _HEADING, _RULE, _QUOTE, _BULLET, _NUMBERED, _ROW)
    return any(pattern.match(line) for pattern in patterns)


def _code(lines: list[str], at: int, fence: str, parts: list[str]) -> int:
    end = at + 1
    while end < len(lines) and not lines[end].strip().startswith(fence):
        end += 1
    parts.append(f"<pre><code>{escape(chr(10).join(lines[at + 1 : end]))}</code></pre>")
    return end + 1
