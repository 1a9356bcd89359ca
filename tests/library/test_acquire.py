"""Getting full texts: places in order, faults of all kinds, and what is said of them."""

import asyncio
import gzip
import io
import itertools
import tarfile
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from inline_snapshot import snapshot

from library.conftest import settings_in
from library.faulty import pdf_of
from nuncius.core.records import Link, Record
from nuncius.core.settings import Settings
from nuncius.library.acquire import Acquire, Attempt, NoFullTextError
from nuncius.library.fetch import Limits
from nuncius.library.judge import RefusalError
from nuncius.sources.services import Services, trusted
from nuncius.walls.network import Network
from sources.playing import Played, Playing
from walls.wire import Names, Wire

TITLE = "Quiet stars in the Hyades"
ID = "2101.00001"
RECORD = Record(
    "arxiv", title=TITLE, arxiv_id=ID, arxiv_version=3, bibcodes=("2021ApJ...900....1R",), dois=("10.3847/x1",)
)  # fmt: skip
SENTENCE = "We measure the radius of forty quiet stars with an interferometer and compare them. "
ARTICLE = (
    f'<!DOCTYPE html><html><head><title>{TITLE}</title></head><body><article class="ltx_document">'
    f'<h1 class="ltx_title_document">{TITLE}</h1>'
    + f'<div class="ltx_para"><p class="ltx_p">{SENTENCE * 8}</p></div>' * 6
    + "</article></body></html>"
)
CHALLENGE = "<html><head><title>Just a moment...</title></head><body><script>_cf_chl_opt={}</script></body></html>"
PDF = Played(pdf_of(20_000), headers={"Content-Type": "application/pdf"})
HTML = Played.text(ARTICLE, kind="text/html")
INTERVAL_S = 0.15
SOON = Limits(idle_s=0.4, total_s=1.0)
PATIENT = Limits(idle_s=20, total_s=40)  # other tests may need the processor


def _source() -> Played:
    out = io.BytesIO()
    main = rb"\documentclass{aastex631}\begin{document}\title{Quiet}\input{body}\end{document}"
    with tarfile.open(fileobj=out, mode="w:gz") as tar:
        for name, body in (("ms.tex", main), ("body.tex", SENTENCE.encode())):
            info = tarfile.TarInfo(name)
            info.size = len(body)
            tar.addfile(info, io.BytesIO(body))
    return Played(out.getvalue(), headers={"Content-Type": "application/gzip"})


@pytest.fixture
async def playing() -> AsyncIterator[Playing]:
    async with Playing().serving() as server:
        yield server


@pytest.fixture
def settings(playing: Playing, tmp_path: Path) -> Settings:
    return settings_in(tmp_path).model_copy(
        update={**playing.settings(), "contact_email": "a@example.org"}
    )


@pytest.fixture
async def services(settings: Settings, tmp_path: Path) -> AsyncIterator[Services]:
    made = Services(settings, Network(trusted_hosts=trusted(settings)), tmp_path / "cache")
    arxiv = made.get("arxiv")
    arxiv.manners = replace(arxiv.manners, interval_s=INTERVAL_S)  # as ever, but faster
    yield made
    await made.aclose()


class Watch:
    """What an `Acquire` said, waited and wrote down."""

    def __init__(self) -> None:
        self.attempts: list[Attempt] = []
        self.said: list[tuple[str, float | None]] = []
        self.waited: list[float] = []

    def note(self, attempt: Attempt) -> None:
        self.attempts.append(attempt)

    def report(self, text: str, fraction: float | None) -> None:
        self.said.append((text, fraction))

    async def sleep(self, seconds: float) -> None:
        self.waited.append(seconds)

    @property
    def outcomes(self) -> list[str]:
        return [f"{one.channel.kind} {one.outcome}" for one in self.attempts]


@pytest.fixture
def watch() -> Watch:
    return Watch()


@pytest.fixture
def acquire(services: Services, watch: Watch, tmp_path: Path) -> Acquire:
    return Acquire(services, tmp_path / "texts", limits=PATIENT, note=watch.note, sleep=watch.sleep)


@pytest.fixture
def hasty(services: Services, watch: Watch, tmp_path: Path) -> Acquire:
    """Return one that soon loses its patience."""
    return Acquire(services, tmp_path / "texts", limits=SOON, note=watch.note, sleep=watch.sleep)


def _copy(playing: Playing, name: str = "copy") -> Link:
    return Link("repository_pdf", f"{playing.url}/{name}.pdf", "cc-by")


def _demand_pace(playing: Playing) -> None:
    """Check that requests to arXiv came one by one, each the interval after the one before."""
    at = [asked.at for asked in playing.asked if asked.path.startswith("/arxiv")]
    assert all(later - earlier >= INTERVAL_S for earlier, later in itertools.pairwise(at))


async def test_arxivs_page_comes_first(acquire: Acquire, playing: Playing, watch: Watch) -> None:
    playing.play(f"/arxiv_web/html/{ID}v3", HTML)
    got = await acquire.get(RECORD, report=watch.report)
    assert (got.kind, got.version, got.label) == ("html", 3, "")
    assert got.path.name == "2101.00001v3.html"
    assert got.path.read_text() == ARTICLE
    assert playing.paths() == [f"/arxiv_web/html/{ID}v3"]
    assert watch.said[-1][1] == 1.0
    assert any(fraction for _, fraction in watch.said[:-1])


async def test_each_place_is_asked_when_the_one_before_has_nothing(
    acquire: Acquire, playing: Playing, watch: Watch
) -> None:
    playing.play(
        f"/ar5iv/html/{ID}", Played(status=307, headers={"Location": f"/arxiv_web/abs/{ID}"})
    )
    playing.play("/arxiv_web/abs", HTML)  # a page of the right title, but not where it was asked
    playing.play("/copy.pdf", PDF)
    got = await acquire.get(replace(RECORD, links=(_copy(playing),)))
    assert watch.outcomes == [
        "arxiv_html http_status", "ar5iv missing", "arxiv_source http_status", "arxiv_pdf http_status",
        *["arxiv_source http_status", "arxiv_pdf http_status"] * 2, "repository_pdf got",
    ]  # fmt: skip
    assert got.path.name == "2021ApJ...900....1R.pdf"
    assert got.channel.licence == "cc-by"
    _demand_pace(playing)


async def test_a_source_becomes_one_text(acquire: Acquire, playing: Playing) -> None:
    playing.play("/arxiv_web/src", _source())
    got = await acquire.get(RECORD, "source")
    assert (got.kind, got.path.name) == ("source", "2101.00001v3.tex")
    assert SENTENCE in got.path.read_text()
    assert [path.name for path in got.path.parent.iterdir()] == [got.path.name]


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        (gzip.compress(rb"\documentclass{a}\begin{document}One file.\end{document}"), "source"),
        (rb"\documentclass{a}\begin{document}Not packed.\end{document}", "source"),
        (gzip.compress(pdf_of(9000)), "pdf"),
        (pdf_of(9000), "pdf"),
    ],
    ids=["gzip", "plain", "packed PDF", "PDF"],
)
async def test_a_source_may_be_of_any_kind(
    acquire: Acquire, playing: Playing, body: bytes, kind: str
) -> None:
    playing.play("/arxiv_web/src", Played(body, headers={"Content-Type": "text/html"}))
    assert (await acquire.get(RECORD, "source")).kind == kind


async def test_the_old_encoding_of_arxivs_sources_is_undone(
    acquire: Acquire, playing: Playing
) -> None:
    played = replace(
        _source(),
        headers={"Content-Encoding": "x-gzip", "Content-Type": "application/x-eprint-tar"},
    )
    playing.play("/arxiv_web/src", played)
    assert SENTENCE in (await acquire.get(RECORD, "source")).path.read_text()


FAULTS: dict[str, Sequence[Played]] = {
    "429 with Retry-After": [Played(b"Rate exceeded.", 429, {"Retry-After": "7"})],
    "429 without": [Played(b"Rate exceeded.", 429)],
    "429 for a day": [Played(b"", 429, {"Retry-After": "86400"})],
    "503 until a date": [Played(b"", 503, {"Retry-After": "Wed, 21 Oct 2099 07:28:00 GMT"})],
    "500": [Played(b"oops", 500)],
    "403": [Played(b"no", 403)],
    "silent": [Played(fault="silent")],
    "drip": [Played(b"%PDF-1.4" + b" " * 5000, fault="drip")],
    "cut": [Played(pdf_of(300_000), fault="cut")],
    "close": [Played(fault="close")],
    "empty": [Played(b"")],
    "wrong type": [Played(b"\x7fELF" + b"x" * 3000, headers={"Content-Type": "application/pdf"})],
    "challenge": [Played.text(CHALLENGE, kind="text/html")],
    "challenge with 503": [Played(CHALLENGE.encode(), 503, {"cf-mitigated": "challenge"})],
    "redirect to loopback": [Played(b"", 302, {"Location": "http://127.0.0.1:9/x.pdf"})],
    "redirect to metadata": [Played(b"", 302, {"Location": "http://169.254.169.254/latest"})],
    "redirect loop": [Played(b"", 302, {"Location": "?again"})],
    "unknown coding": [Played(b"x", headers={"Content-Encoding": "br"})],
    "too large": [Played(b"", headers={"Content-Length": "9000000000"})],
}  # fmt: skip


@pytest.mark.parametrize("name", FAULTS)
async def test_a_fault_of_arxiv_is_told_and_the_next_place_asked(
    name: str, hasty: Acquire, playing: Playing, watch: Watch
) -> None:
    for place in ("/arxiv_web", "/ar5iv"):
        playing.play(place, *FAULTS[name])
    playing.play("/copy.pdf", PDF)
    got = await hasty.get(replace(RECORD, links=(_copy(playing),)), "pdf")
    assert got.channel.kind == "repository_pdf"
    assert [path.name for path in got.path.parent.iterdir()] == [got.path.name]
    for attempt in watch.attempts:
        assert attempt.sentence
        assert "\n" not in attempt.sentence
        assert "Traceback" not in attempt.sentence
    assert all(seconds <= 60 for seconds in watch.waited)
    if name != "redirect loop":  # the door follows redirects at once: they are one request for us
        _demand_pace(playing)


async def test_what_faults_are_called(hasty: Acquire, playing: Playing, watch: Watch) -> None:
    told: dict[str, str] = {}
    for name, played in FAULTS.items():
        playing.play("/arxiv_web/pdf", *played)
        watch.attempts.clear()
        with pytest.raises(NoFullTextError):
            await hasty.get(RECORD, "pdf", force=True)
        last = [one for one in watch.attempts if one.outcome != "skipped"][-1]
        told[name] = f"{last.outcome}: {last.sentence}".replace(playing.url, "URL")
    told["503 until a date"] = told["503 until a date"].partition(" to wait")[0]
    assert told == snapshot(
        {
            "429 with Retry-After": "http_status: HTTP 429: it is asked too often and asks to wait 7 s.",
            "429 without": "http_status: HTTP 429: it is asked too often.",
            "429 for a day": "http_status: HTTP 429: it is asked too often and asks to wait 86,400 s.",
            "503 until a date": "http_status: HTTP 503: it is too busy and asks",
            "500": "http_status: HTTP 500: it gave no text.",
            "403": "http_status: HTTP 403: it refuses.",
            "silent": "timeout: No answer in time.",
            "drip": "timeout: It did not come whole within 1 s.",
            "cut": "truncated: The answer was cut (peer closed connection without sending complete message body (received 150000 bytes, expected 300000)).",
            "close": "unreachable: It could not be reached (Server disconnected without sending a response).",
            "empty": "truncated: The answer is empty.",
            "wrong type": "not_pdf: What came is no PDF but a program.",
            "challenge": "not_pdf: What came is no PDF but a web page: a check for robots, which is left alone.",
            "challenge with 503": "challenge: What came is a check for robots, which is left alone.",
            "redirect to loopback": "refused: http://127.0.0.1:9/x.pdf is not fetched: port 9 is not one of the web. If you mean this host, name it in NUNCIUS_TRUSTED_HOSTS.",
            "redirect to metadata": "refused: 169.254.169.254 is not dialled: 169.254.169.254 is not a public address. If you mean this host, name it in NUNCIUS_TRUSTED_HOSTS.",
            "redirect loop": "unreachable: More than 5 redirects, it was given up.",
            "unknown coding": "encoding: It is packed as 'br', which is not unpacked.",
            "too large": "too_large: It has 9,000 MB; up to 210 MB are kept.",
        }
    )


async def test_a_busy_server_is_asked_again_after_as_long_as_it_says(
    acquire: Acquire, playing: Playing, watch: Watch
) -> None:
    playing.play("/arxiv_web/html", Played(b"", 429, {"Retry-After": "7"}), HTML)
    got = await acquire.get(RECORD)
    assert got.kind == "html"
    assert watch.waited == [7.0]
    assert watch.outcomes == ["arxiv_html http_status", "arxiv_html got"]


async def test_a_server_that_wants_a_long_rest_is_left_alone_everywhere(
    acquire: Acquire, playing: Playing, watch: Watch
) -> None:
    playing.play("/arxiv_web", Played(b"", 429, {"Retry-After": "86400"}))
    with pytest.raises(NoFullTextError, match="asked to wait 24 h") as caught:
        await acquire.get(RECORD)
    assert len(playing.asked) == 1
    assert not watch.waited
    assert "Ask again later" in caught.value.hint
    assert caught.value.exit_code == 3  # of the services, not of the paper
    assert [one.outcome for one in watch.attempts] == [
        "http_status",
        "skipped",
        "skipped",
        "skipped",
    ]


@pytest.mark.parametrize("status", ["withdrawn", ""])
async def test_of_a_withdrawn_paper_the_version_before_is_read(
    status: str, acquire: Acquire, playing: Playing
) -> None:
    playing.play("/arxiv_web/pdf/2101.00001v2", PDF)
    record = replace(RECORD, status="withdrawn" if status else "")
    got = await acquire.get(record, "pdf")
    assert got.version == 2
    assert got.label == (
        "version 2; withdrawn since" if status else "version 2; version 3 has no text"
    )
    assert got.path.name == "2101.00001v2.pdf"


async def test_a_withdrawn_paper_whose_version_is_not_known(
    acquire: Acquire, playing: Playing
) -> None:
    playing.play("/arxiv_web/pdf/2101.00001v1", PDF)
    got = await acquire.get(replace(RECORD, status="withdrawn", arxiv_version=None), "pdf")
    assert got.label == "version 1; withdrawn since"


async def test_old_identifiers_keep_their_slash_on_the_way_and_lose_it_on_the_disk(
    acquire: Acquire, playing: Playing
) -> None:
    playing.play("/arxiv_web/pdf/astro-ph/9901001v1", PDF)
    got = await acquire.get(Record("arxiv", arxiv_id="astro-ph/9901001", arxiv_version=1), "pdf")
    assert got.path.name == "astro-ph_9901001v1.pdf"


async def test_a_page_of_another_paper_is_not_kept(
    acquire: Acquire, playing: Playing, watch: Watch
) -> None:
    playing.play(
        "/arxiv_web/html",
        Played.text(
            ARTICLE.replace("Hyades", "Pleiades").replace("Quiet", "Loud"), kind="text/html"
        ),
    )
    playing.play("/arxiv_web/pdf", PDF)
    assert (await acquire.get(RECORD)).kind == "pdf"
    assert watch.outcomes[0] == "arxiv_html wrong_paper"


async def test_what_is_there_is_not_asked_for_again(
    acquire: Acquire, playing: Playing, watch: Watch
) -> None:
    playing.play("/arxiv_web/html", HTML)
    first = await acquire.get(RECORD)
    again = await acquire.get(RECORD)
    assert again.path == first.path
    assert len(playing.asked) == 1
    assert watch.outcomes[-1] == "arxiv_html kept"
    first.path.write_text("spoilt")
    await acquire.get(RECORD)
    await acquire.get(RECORD, force=True)
    assert len(playing.asked) == 3


async def test_a_cut_download_goes_on_where_it_stopped(acquire: Acquire, playing: Playing) -> None:
    body = pdf_of(3_000_000)
    sent = {"ETag": '"a"', "Accept-Ranges": "bytes"}
    playing.play("/arxiv_web/pdf", Played(body, headers=sent, fault="silent", delay_s=0))
    half = len(body) // 2

    def rest(asked: object) -> Played | None:
        headers: dict[str, str] = getattr(asked, "headers", {})
        if "range" not in headers:
            return Played(body, headers=sent, fault="cut")
        start = int(headers["range"].removeprefix("bytes=").removesuffix("-"))
        assert 0 < start <= half
        span = f"bytes {start}-{len(body) - 1}/{len(body)}"
        return Played(body[start:], 206, {**sent, "Content-Range": span})

    playing.rule(rest)
    got = await acquire.get(RECORD, "pdf")
    assert got.path.read_bytes() == body
    assert "were there" in got.attempts[-1].sentence


async def test_services_of_open_copies_are_asked_only_when_arxiv_has_nothing(
    services: Services, watch: Watch, playing: Playing, tmp_path: Path
) -> None:
    asked: list[str] = []

    async def copies(record: Record) -> Sequence[Link]:
        asked.append(record.doi)
        return [_copy(playing, "found")]

    acquire = Acquire(
        services, tmp_path / "t", limits=PATIENT, copies=copies, note=watch.note, sleep=watch.sleep
    )
    playing.play("/found.pdf", PDF)
    playing.play("/arxiv_web/pdf", PDF)
    await acquire.get(RECORD, "pdf")
    assert not asked
    got = await acquire.get(Record("ads", title=TITLE, dois=("10.3847/x1",)))
    assert asked == ["10.3847/x1"]
    assert got.path.name == "10.3847_x1.pdf"


async def test_the_last_word_says_what_was_tried_and_what_to_do(
    acquire: Acquire, settings: Settings
) -> None:
    with pytest.raises(NoFullTextError) as caught:
        await acquire.get(RECORD)
    assert caught.value.exit_code == 1
    assert caught.value.message == snapshot(
        "The full text of 2101.00001 could not be had. arXiv HTML v3, ar5iv, arXiv source v3, arXiv PDF v3, arXiv source v2, arXiv PDF v2, arXiv source v1, arXiv PDF v1: It has no such text (HTTP 404)."
    )
    assert caught.value.hint == snapshot(
        "If you may read it, let your browser fetch it (NUNCIUS_BROWSER_CDP_URL) or save it there and add the file: `nuncius add FILE`."
    )
    with pytest.raises(NoFullTextError) as caught:
        await acquire.get(Record("ads", title=TITLE, bibcodes=("2020A&A...641A...6P",)))
    assert str(caught.value) == snapshot(
        "No legal place with the full text of 2020A&A...641A...6P is known. Add the file yourself: `nuncius add FILE`."
    )


async def test_a_name_that_is_none_is_refused_before_anything_is_asked(
    acquire: Acquire, playing: Playing
) -> None:
    record = Record("ads", bibcodes=("../../../x",), links=(_copy(playing),))
    with pytest.raises(RefusalError) as caught:
        await acquire.get(record)
    assert caught.value.code == "bad_id"
    assert not playing.asked


async def test_nothing_is_asked_offline(services: Services, watch: Watch, tmp_path: Path) -> None:
    offline = services.settings.model_copy(
        update={
            "offline": True,
            "arxiv_web_url": "https://arxiv.org",
            "ar5iv_url": "https://ar5iv.labs.arxiv.org",
        }
    )
    wire = Wire()
    made = Services(
        offline,
        Network(offline=True, backend=wire, resolver=Names(["93.184.216.34"])),
        tmp_path / "c",
    )
    made.get("arxiv").manners = replace(made.get("arxiv").manners, interval_s=0.0)
    with pytest.raises(NoFullTextError, match="NUNCIUS_OFFLINE") as caught:
        await Acquire(made, tmp_path / "t", sleep=watch.sleep).get(RECORD)
    assert "Unset NUNCIUS_OFFLINE" in caught.value.hint
    assert not wire.dialled


@pytest.mark.parametrize(
    ("network", "outcome"),
    [
        (lambda: Network(resolver=Names(["198.18.0.7"]), backend=Wire()), "reached"),
        (lambda: Network(resolver=Names(["198.18.0.7"], arxiv_org=["93.184.216.34"]), backend=Wire()), "reached"),
        (lambda: Network(resolver=Names(["10.0.0.5"]), backend=Wire()), "refused"),
        (lambda: Network(resolver=Names(), backend=Wire()), "unreachable"),
        (lambda: Network(https_proxy="http://127.0.0.1:9"), "unreachable"),
    ],
    ids=["fake addresses", "a mixed resolver", "a private address", "no name", "a dead proxy"],
)  # fmt: skip
async def test_strange_networks_end_in_a_sentence(
    network: Callable[[], Network], outcome: str, services: Services, watch: Watch, tmp_path: Path
) -> None:
    real = services.settings.model_copy(
        update={"arxiv_web_url": "https://arxiv.org", "ar5iv_url": "https://ar5iv.labs.arxiv.org"}
    )
    made = Services(real, network(), tmp_path / "c")
    made.get("arxiv").manners = replace(made.get("arxiv").manners, interval_s=0.0)
    with pytest.raises(NoFullTextError) as caught:
        await Acquire(made, tmp_path / "t", limits=SOON, sleep=watch.sleep).get(RECORD, "pdf")
    await made.aclose()
    outcomes = {attempt.outcome for attempt in caught.value.attempts}
    assert outcomes == ({outcome} if outcome != "reached" else {"not_pdf"})
    assert all(len(attempt.sentence) > 10 for attempt in caught.value.attempts)


async def test_two_at_once_do_not_meet(acquire: Acquire, playing: Playing) -> None:
    playing.play("/copy.pdf", PDF)
    record = Record("ads", title=TITLE, dois=("10.3847/x1",), links=(_copy(playing),))
    both = await asyncio.gather(acquire.get(record), acquire.get(record))
    assert {one.path.read_bytes() for one in both} == {PDF.body}
    assert [path.name for path in both[0].path.parent.iterdir()] == ["10.3847_x1.pdf"]


async def test_one_version_may_be_asked_for(acquire: Acquire, playing: Playing) -> None:
    playing.play("/arxiv_web/pdf/2101.00001v1", PDF)
    playing.play("/copy.pdf", PDF)
    record = replace(RECORD, links=(_copy(playing),))
    got = await acquire.get(record, version=1)
    assert (got.path.name, got.label) == ("2101.00001v1.pdf", "version 1 of 3")
    with pytest.raises(NoFullTextError):
        await acquire.get(record, version=2)
    assert "/copy.pdf" not in playing.paths()


@pytest.mark.parametrize(
    "record",
    [
        Record("s2", dois=("10.48550/arxiv.2101.00001",)),
        Record("ads", bibcodes=("2021arXiv210100001R",)),
        Record("arxiv", arxiv_id="arXiv:2101.00001"),
    ],
    ids=["DOI", "bibcode", "prefix"],
)
async def test_other_names_of_a_preprint_lead_to_it(
    record: Record, acquire: Acquire, playing: Playing
) -> None:
    playing.play("/arxiv_web/pdf/2101.00001", PDF)
    got = await acquire.get(record, "pdf")
    assert got.path.name == "2101.00001.pdf"
    with pytest.raises(RefusalError, match="no arXiv identifier"):
        await acquire.get(replace(record, arxiv_id="../../x"))
