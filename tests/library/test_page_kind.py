"""What pages are: the recorded ones of publishers, and pages of our own in the same shapes."""

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nuncius.library.page_kind import PageKind, is_right_page, page_kind

RECORDED: dict[str, PageKind] = {
    "APS_PhysRevX.12.041027.html": "landing",  # its text is loaded by scripts
    "AnnualReview_annurev_conmatphys_031214_014726.html": "challenge",
    "IOPScience_002.html": "landing",
    "SYNTHETIC_cloudflare_challenge.html": "challenge",
    "SYNTHETIC_radware_iop_challenge.html": "challenge",
    "SpringerLink_s10924_010_0192_1.html": "turn_away",
    "nature_error_or_short.html": "article",  # a research briefing: short, and whole
    "nature_s41586-026-10265-5.html": "article",
    "springer_paywalled_s00382-018-4286-0.html": "turn_away",
    "springer_s10584-011-0143-4.html": "article",
}
WORDS = "We measure the radius of forty quiet stars with an interferometer and compare them. "


def test_every_recorded_page_is_told(shared_data: Path) -> None:
    folder = shared_data / "upstreams" / "html"
    found = {
        path.name: page_kind(path.read_text(errors="replace")) for path in folder.glob("*.html")
    }
    assert found == RECORDED


@pytest.mark.parametrize("name", ["emcee.html", "astropy2.html"])
def test_latexml_papers_are_articles(shared_data: Path, name: str) -> None:
    html = (shared_data / "upstreams" / "latexml" / name).read_text()
    assert page_kind(html) == "article"
    title = {"emcee.html": "emcee: The MCMC Hammer", "astropy2.html": "The Astropy Project: Building an open-science project and status of the v2.0 core package"}[name]  # fmt: skip
    assert is_right_page(html, title)
    assert is_right_page(html, "A search for planets around white dwarfs") is False


def _page(body: str, head: str = "<title>Quiet stars</title>") -> str:
    return f"<!DOCTYPE html><html><head>{head}</head><body>{body}</body></html>"


META = '<title>Quiet stars</title><meta name="citation_title" content="Quiet stars">'
TEXT = (
    "<h2>1. Introduction</h2>"
    + f"<p>{WORDS}</p>" * 40
    + "<h2>2. Results</h2>"
    + f"<p>{WORDS}</p>" * 40
)


@pytest.mark.parametrize(
    ("html", "kind"),
    [
        (_page(TEXT), "article"),
        (_page(f"<h2>Introduction</h2>{TEXT}<p>Are you a robot? turn-away</p>"), "article"),
        (_page(f"<div itemprop='articleBody'><p>{WORDS * 20}</p></div>", META), "article"),
        (_page(f"<h1>Quiet stars</h1><h2>Abstract</h2><p>{WORDS * 5}</p>", META), "landing"),
        (_page(f"<h2>Abstract</h2><p>{WORDS * 5}</p><h3>Access this article</h3><p>Buy now</p>", META), "turn_away"),
        (_page(f'<div class="turn-away__title">x</div><p>{WORDS * 9}</p>', META), "turn_away"),
        (_page("<form><input type=password></form>", "<title>Log in</title>"), "turn_away"),
        (_page("<p>Checking.</p>", "<title>Client Challenge</title>"), "challenge"),
        (_page('<div id="px-captcha"></div>', "<title>Access to this page has been denied</title>"), "challenge"),
        (_page("<p>Sorry.</p>", "<title>404 Not Found</title>"), "error"),
        (_page('<article class="ltx_document"><div class="ltx_para">x</div></article>'), "error"),
        ("", "error"),
        (_page(""), "error"),
    ],
)  # fmt: skip
def test_pages_are_told_by_what_they_say(html: str, kind: PageKind) -> None:
    assert page_kind(html) == kind


def test_the_answers_status_and_headers_count() -> None:
    assert page_kind(_page(TEXT), headers={"cf-mitigated": "challenge"}) == "challenge"
    assert page_kind(_page(TEXT), status=403) == "turn_away"
    assert page_kind(_page(TEXT), status=500) == "error"
    radware = _page("<p>x</p>", "<title>Radware Bot Manager Captcha</title>")
    assert page_kind(radware, status=503) == "challenge"


@pytest.mark.parametrize(
    ("head", "right"),
    [
        ("<title>Ages of Quiet Dwarfs in the Hyades | A Journal</title>", True),
        (
            '<meta name="citation_title" content="Ages of quiet dwarfs in the Hyades"><title>x</title>',
            True,
        ),
        ("<title>[2101.00001] Ages of quiet $M$ dwarfs in the Hyades</title>", True),
        ("<title>Winds of Loud Giants in the Pleiades</title>", False),
        ("<title></title>", None),
    ],
)
def test_a_page_names_its_paper(head: str, right: bool | None) -> None:
    assert is_right_page(_page(TEXT, head), "Ages of Quiet Dwarfs in the Hyades") is right


@settings(max_examples=200, deadline=None)
@given(st.text(alphabet="<>/=\"' abchtml!-p", max_size=300))
def test_any_markup_is_of_some_kind(text: str) -> None:
    assert page_kind(f"<html>{text}") in {"article", "landing", "turn_away", "challenge", "error"}
