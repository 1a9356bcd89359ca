import hashlib
import re
from collections.abc import AsyncIterator, Sequence
from html.parser import HTMLParser
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from typing_extensions import override

from nuncius.core.documents import PageText, PassageDraft
from nuncius.core.evidence import Answer, Check, Citation, Searched, Unsupported
from nuncius.core.papers import Author, Paper
from nuncius.library.page import AnswerPage
from nuncius.library.page_text import AnswerText, escape
from nuncius.store import open_store
from nuncius.store.protocols import FileRecord, PaperContent, Store
from parsing.pdf_writing import make_pdf, text_at

QUOTE = "The flux of the source is 3.2 mJy at 5 GHz."
VOID = {"meta", "img", "input", "br", "hr"}


class Read(HTMLParser):
    """The page as a browser reads it: tags, text, and whether every tag is closed in order."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str]]] = []
        self.text = ""
        self.open: list[str] = []
        self.under: dict[str, list[str]] = {}
        self.feed(html)
        self.close()
        assert self.open == []

    @override
    def handle_starttag(self, tag: str, attrs: Sequence[tuple[str, str | None]]) -> None:
        self.tags.append((tag, {name: value or "" for name, value in attrs}))
        if tag not in VOID:
            self.open.append(tag)
            self.under.setdefault(tag, []).append("")

    @override
    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    @override
    def handle_data(self, data: str) -> None:
        if "style" not in self.open:
            self.text += data
        for tag in set(self.open):
            self.under[tag][-1] += data

    def all(self, tag: str, **attributes: str) -> list[dict[str, str]]:
        wanted = {name.strip("_"): value for name, value in attributes.items()}
        return [a for t, a in self.tags if t == tag and wanted.items() <= a.items()]


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[Store]:
    opened = await open_store(tmp_path, tmp_path / "nuncius.db")
    yield opened
    await opened.close()


def record_of(pdf: Path) -> FileRecord:
    data = pdf.read_bytes()
    digest = hashlib.sha256(data).hexdigest()
    return FileRecord(str(pdf), digest, len(data), pdf.stat().st_mtime_ns, kind="pdf")


def change(pdf: Path) -> None:
    pdf.write_bytes(make_pdf([text_at(60, 700, QUOTE.replace("3.2", "9.9"))]))


async def put(
    store: Store,
    passages: Sequence[str],
    *,
    title: str = "A radio source",
    pdf: Path | None = None,
    pages: int | None = None,
    label: str = "",
) -> Paper:
    files = [record_of(pdf)] if pdf else []
    drafts = [PassageDraft("text", text, "2. Data", 1 if pages else None) for text in passages]
    layer = [PageText(1 if pages else 0, "\n".join(passages))]
    content = PaperContent(
        hashlib.sha256(title.encode()).hexdigest(),
        "t/1",
        "good",
        "\n\n".join(passages),
        layer,
        drafts,
    )
    paper = Paper.model_construct(
        paper_id="", title=title, authors=(Author(name="Ada Bell"),), year=2024, pages=pages,
        doi="10.1234/a(b)<c>", label=label, files=(),
    )  # fmt: skip
    return await store.papers.put(paper, content, files)


def cite(
    paper: Paper, passage: str, quote: str = QUOTE, *, key: str = "1", check: Check = "exact"
) -> Citation:
    return Citation(
        key=key,
        paper_id=paper.paper_id,
        title=paper.title,
        authors=("Ada Bell", "Chen Du", "Eva Fox", "Guy Hill"),
        year=2024,
        doi=paper.doi,
        quote=quote,
        page=1 if paper.pages else None,
        section="2. Data",
        check=check,
        text_sha256=hashlib.sha256(passage.encode()).hexdigest(),
    )


def answer(*citations: Citation, text: str = "It is 3.2 mJy [1].", **more: object) -> Answer:
    return Answer.model_validate(
        {"text": text, "answered": bool(citations), "citations": citations} | more
    )


async def render(store: Store, given: Answer, question: str = "How bright is the source?") -> Read:
    return Read(await AnswerPage(store).render(question, given))


@pytest.fixture
def pdf(tmp_path: Path) -> Path:
    path = tmp_path / "source.pdf"
    path.write_bytes(make_pdf([text_at(60, 700, QUOTE) + text_at(60, 650, "It varies.")]))
    return path


# --- evidence ------------------------------------------------------------------------------------


async def test_a_quote_is_marked_on_the_picture_of_its_page(store: Store, pdf: Path) -> None:
    paper = await put(store, [QUOTE], pdf=pdf, pages=1)
    page = await render(store, answer(cite(paper, QUOTE)))
    (picture,) = page.all("img")
    assert picture["src"].startswith("data:image/png;base64,iVBOR")
    assert picture["alt"] == "Page 1 of “A radio source”, with the quote marked"
    (mark,) = page.all("mark")
    places = {name: float(value) for name, value in re.findall(r"(\w+):([\d.]+)%", mark["style"])}
    assert places["left"] == pytest.approx(10, abs=1)
    assert places["top"] == pytest.approx(100 * 92 / 800, abs=1)
    assert "Show the whole page" in page.text


async def test_a_card_tells_paper_place_and_check(store: Store, pdf: Path) -> None:
    paper = await put(store, [QUOTE], pdf=pdf, pages=1, label="sample note")
    page = await render(store, answer(cite(paper, QUOTE, check="folded")))
    card = page.under["article"][0]
    assert "[1]" in card
    assert "A radio source sample note" in card
    assert "Ada Bell, Chen Du, Eva Fox et al. · 2024 · page 1 · § 2. Data" in card
    assert "✓ folded" in card
    assert QUOTE in page.under["blockquote"]
    assert "ligatures" in page.text  # what "folded" means
    assert page.all("a", class_="cite", href="#c1")
    assert page.all("article", id="c1")


async def test_without_pages_the_quote_is_marked_among_its_neighbours(store: Store) -> None:
    middle = f"It was seen first in 1998. {QUOTE} Nobody knows why."
    paper = await put(store, ["The passage before.", middle, "The passage after."])
    page = await render(store, answer(cite(paper, middle)))
    assert page.under["mark"] == [QUOTE]
    assert not page.all("img")
    context = page.under["figure"][0]
    assert context.index("before.") < context.index("first in 1998") < context.index("after.")


async def test_a_long_context_is_cut_around_the_quote(store: Store) -> None:
    long = "Words before it. " * 200 + QUOTE + " Words after it." * 200
    paper = await put(store, [long])
    page = await render(store, answer(cite(paper, long)))
    assert page.under["mark"] == [QUOTE]
    assert len(page.under["figure"][0]) < 1500


async def test_a_changed_file_is_not_shown_as_if_it_were_the_one_that_was_read(
    store: Store, pdf: Path
) -> None:
    paper = await put(store, [QUOTE], pdf=pdf, pages=1)
    change(pdf)
    page = await render(store, answer(cite(paper, QUOTE)))
    assert "has changed since it was added" in page.text
    assert not page.all("img")
    assert page.under["mark"] == [QUOTE]


async def test_a_file_that_is_gone_leaves_the_stored_text(store: Store, pdf: Path) -> None:
    paper = await put(store, [QUOTE], pdf=pdf, pages=1)
    Path.unlink(pdf)
    page = await render(store, answer(cite(paper, QUOTE)))
    assert "no longer where it was" in page.text
    assert page.under["mark"] == [QUOTE]


async def test_a_file_that_cannot_be_drawn_says_why(store: Store, tmp_path: Path) -> None:
    broken = tmp_path / "broken.pdf"
    broken.write_bytes(b"%PDF-1.4 and nothing else")
    paper = await put(store, [QUOTE], pdf=broken, pages=1)
    page = await render(store, answer(cite(paper, QUOTE)))
    assert "cannot be drawn (The PDF cannot be opened" in page.text
    assert page.under["mark"] == [QUOTE]


async def test_a_quote_that_is_not_on_the_page_is_never_shown_by_a_picture_without_marks(
    store: Store, pdf: Path
) -> None:
    other = "Its distance is 41 Mpc according to the redshift."
    paper = await put(store, [other], pdf=pdf, pages=1)
    page = await render(store, answer(cite(paper, other, other)))
    assert "could not be placed" in page.text
    assert not page.all("img")


async def test_a_quote_over_two_pages_shows_both(store: Store, tmp_path: Path) -> None:
    quote = "The companion was seen in the near infrared at a separation of two arcseconds."
    filler = "".join(text_at(60, 740 - 12 * n, "Other words stand here.") for n in range(20))
    path = tmp_path / "two.pdf"
    end = text_at(60, 80, "The companion was seen in the near")
    start = text_at(60, 760, "infrared at a separation of two arcseconds.")
    path.write_bytes(make_pdf([filler + end, start + filler]))
    paper = await put(store, [quote], pdf=path, pages=2)
    page = await render(store, answer(cite(paper, quote, quote)))
    assert len(page.all("img")) == len(page.all("mark")) == 2
    assert "The quote goes on here, on page 2." in page.text


async def test_a_paper_that_was_removed_since_is_told(store: Store) -> None:
    paper = await put(store, [QUOTE])
    await store.papers.remove(paper.paper_id)
    page = await render(store, answer(cite(paper, QUOTE)))
    assert "no longer in the library" in page.text
    assert QUOTE in page.under["blockquote"]


# --- the answer ----------------------------------------------------------------------------------


async def test_labels_and_sentences_without_evidence_are_plain_to_see(store: Store) -> None:
    paper = await put(store, [QUOTE])
    given = answer(
        cite(paper, QUOTE),
        text="It is 3.2 mJy [1]. It is also 12 Mpc away.",
        unsupported=[
            Unsupported(sentence="It is also 12 Mpc away.", reason="no citation"),
            Unsupported(sentence="Nowhere in the text.", reason="no citation"),
        ],
        degraded=["quotes only, no language model"],
        dropped_quotes=2,
    )
    page = await render(store, given)
    assert "quotes only, no language model" in page.under["li"]
    assert page.all("span", class_="doubt")
    assert "It is also 12 Mpc away. ⚠ no citation" in page.text
    assert "Nowhere in the text. ⚠ no citation" in page.text
    assert "2 sentences are not carried by the quotes" in page.text
    assert "2 quotes were not found again" in page.text


async def test_nothing_found_tells_what_was_looked_at(store: Store) -> None:
    paper = await put(store, ["Quasars are bright.", "Blazars too."], pages=9)
    searched = Searched(
        papers_in_library=14,
        papers=(paper.paper_id,),
        passages=2,
        pages={paper.paper_id: [1, 2, 3, 7]},
        unreadable=("/home/ada/secret/scan.pdf: pages without text",),
        near_misses=(f"{paper.paper_id}-1",),
        queries=("lensing time delay",),
    )
    page = await render(store, answer(text="Nothing on this.", searched=searched))
    assert "Not found in your library" in page.under["strong"]
    assert "2 passages of 1 paper read, from a library of 14 papers" in page.text
    assert "pages 1-3, 7" in page.text
    assert "lensing time delay" in page.text
    assert "Quasars are bright." in page.text
    assert "scan.pdf: pages without text" in page.text
    assert "secret" not in page.text  # a page that is passed on tells no paths
    assert not page.all("article")


async def test_a_chinese_question_gets_a_chinese_page(store: Store) -> None:
    page = await render(
        store,
        answer(text="文献库里没有。", degraded=["quotes only, no language model"]),
        "这个射电源有多亮？",
    )
    assert page.all("html", lang="zh-CN")
    assert "文献库中没有找到" in page.text
    assert "只有引文，未使用语言模型" in page.text


def test_markdown_of_an_answer_becomes_html() -> None:
    text = AnswerText({"1": "c1", "2": "c2"}, [])
    html = text.render(
        "# Flux\n\nIt is **3.2 mJy [1]** and *steady* [2], not [9].\nSecond line\n\n"
        "> quoted [1]\n> again\n\n- one\n- two `a*b*`\n\n3. three\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n"
        "---\n```\n# code <b>\n```\n2 * 3 * 4 and a[1:2] and Sgr A* and M31*"
    )
    Read(html)
    assert "<h3>Flux</h3>" in html
    assert '<strong>3.2 mJy </strong><a class="cite" href="#c1">[1]</a>' in html
    assert "<em>steady</em>" in html
    assert "not [9]." in html  # no such citation: text
    assert "<br>Second line" in html
    assert html.count("<blockquote>") == 1
    assert html.count("<li>") == 3
    assert '<ol start="3">' in html
    assert "<code>a*b*</code>" in html
    assert "<th>a</th><th>b</th>" in html
    assert "<td>1</td>" in html
    assert "<pre><code># code &lt;b&gt;</code></pre>" in html
    assert "2 * 3 * 4 and a[1:2] and Sgr A* and M31*" in html


def test_escaped_stars_are_stars() -> None:
    html = AnswerText({}, []).render(r"**Sgr A\*** and \*this\*")
    assert re.sub(r"</?strong>", "", html) == "<p>Sgr A* and *this*</p>"
    assert "em>" not in html


def test_a_doubt_that_ends_inside_bold_stays_well_formed() -> None:
    doubt = Unsupported(sentence="It is new.", reason="no citation")
    text = AnswerText({}, [doubt])
    html = text.render("**It is new. It is bright.**")
    Read(html)
    assert '<span class="doubt"><strong>It is new.</strong></span>' in html
    assert text.unmarked == []


# --- papers and models are not trusted -----------------------------------------------------------

HOSTILE = [
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "' onmouseover='alert(1)",
    "</style><script>alert(1)</script>",
    "javascript:alert(1) [x](javascript:alert(1)) ![i](https://example.org/i.png)",
    "<svg/onload=alert(1)> &lt;b&gt; \x00\x1b[31m",
    "safe\u202efdp.exe \u2066hidden\u2069",
]


@pytest.mark.parametrize("bad", HOSTILE)
async def test_nothing_of_a_paper_or_a_model_becomes_markup(store: Store, bad: str) -> None:
    passage = f"{bad} {QUOTE} {bad}"
    paper = await put(store, [bad, passage, bad], title=bad, label=bad)
    citation = cite(paper, passage).model_copy(
        update={
            "authors": (bad,), "doi": bad, "arxiv_id": bad, "bibcode": bad, "section": bad,
            "key": "1", "title": bad, "quote": passage, "anchor": bad,
        }
    )  # fmt: skip
    given = answer(
        citation,
        text=f"# {bad}\n\n> {bad} [1]\n\n- **{bad}**\n\n| {bad} |\n\n```{bad}\n{bad}\n```\n\n{bad}",
        unsupported=[Unsupported(sentence=bad, reason=bad), Unsupported(sentence=f"{bad}!", reason=bad)],
        degraded=[bad],
        searched=Searched(
            papers_in_library=1, papers=(paper.paper_id,), passages=3, unreadable=(bad,),
            near_misses=(f"{paper.paper_id}-1", bad), queries=(bad,),
        ),
    )  # fmt: skip
    page = await render(store, given, question=bad)
    names = {tag for tag, _ in page.tags}
    assert names.isdisjoint({"script", "svg", "iframe", "object", "link", "base", "form", "b"})
    attributes = {name for _, own in page.tags for name in own}
    assert not [name for name in attributes if name.startswith("on")]
    for link in page.all("a"):
        assert re.match(
            r"#c\d+$|https://(doi\.org|arxiv\.org|ui\.adsabs\.harvard\.edu)/", link["href"]
        )
    assert all(image["src"].startswith("data:image/png;base64,") for image in page.all("img"))
    assert not re.search("[\u202a-\u202e\u2066-\u2069\x00\x1b]", page.text)
    visible = re.sub(r"[\s\u202a-\u202e\u2066-\u2069\x00\x1b]+", "", bad)
    assert visible in re.sub(r"\s+", "", page.text)  # shown as text, not swallowed


async def test_the_page_loads_nothing_and_forbids_loading(store: Store, pdf: Path) -> None:
    paper = await put(store, [QUOTE], pdf=pdf, pages=1)
    html = await AnswerPage(store).render("Q?", answer(cite(paper, QUOTE)))
    page = Read(html)
    (policy,) = page.all("meta", http_equiv="Content-Security-Policy") or [
        own for _, own in page.tags if own.get("http-equiv") == "Content-Security-Policy"
    ]
    assert policy["content"].startswith(
        "default-src 'none'; img-src data:; style-src 'unsafe-inline'"
    )
    style = page.under["style"][0]
    assert "url(" not in style
    assert "@import" not in style
    assert not [
        own
        for _, own in page.tags
        for name in ("src", "srcset", "poster", "background")
        if own.get(name, "data:")[:5] != "data:"
    ]
    assert str(pdf.parent) not in html


@given(st.text(alphabet=st.characters(codec="utf-8"), max_size=200), st.text(max_size=40))
def test_any_answer_text_renders_to_well_formed_html(text: str, sentence: str) -> None:
    renderer = AnswerText({"1": "c1"}, [Unsupported(sentence=sentence, reason="<i>")])
    page = Read(renderer.render(text))
    assert {tag for tag, _ in page.tags} <= {
        "p", "br", "hr", "h3", "h4", "h5", "h6", "ul", "ol", "li", "blockquote", "strong", "em",
        "code", "pre", "a", "span", "div", "table", "tr", "td", "th",
    }  # fmt: skip


@given(st.text(max_size=200))
def test_escaped_text_reads_back_as_itself_without_deceptive_marks(text: str) -> None:
    page = Read(f'<p title="{escape(text)}">{escape(text)}</p>')
    assert len(page.tags) == 1
    assert page.all("p")[0]["title"] == page.text
