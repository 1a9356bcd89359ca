"""The download attacks of ../shared, each one, through the door and the judgement, to the disk."""

import asyncio
import errno
import json
import os
import shutil
import ssl
import subprocess
import sys
from collections.abc import AsyncIterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from library.evil_files import HTMLS, PDFS
from library.faulty import Answer, Faulty, Request, bomb, head_of, pdf_of, sends, serving
from nuncius.core.documents import Document
from nuncius.core.errors import DocumentError
from nuncius.core.records import Record
from nuncius.library import partial as partial_module
from nuncius.library.fetch import Fetched, Limits, fetch, secure_first
from nuncius.library.judge import RefusalError, file_stem, judge_page
from nuncius.library.parse import MEMORY_BYTES, parse_files
from nuncius.sources.full_text import Channel
from nuncius.walls.network import Network
from walls.wire import Names, Wire

CORPUS = Path(__file__).resolve().parents[3] / "shared" / "data" / "attacks" / "downloads.jsonl"
CASES: list[dict[str, Any]] = (
    [json.loads(line) for line in CORPUS.read_text().splitlines()] if CORPUS.is_file() else []
)
OWN: list[dict[str, Any]] = [
    {"id": f"own-{name}", "response": told, "expected": expected}
    for name, told, expected in (
        ("late-head", {"head": "\n" * 900 + "%PDF-1.4", "size": 9000}, "accept:pdf"),
        ("wrong-label", {"ctype": "text/plain", "head": "%PDF-1.5", "size": 9000}, "accept:pdf"),
        ("page", {"ctype": "application/pdf", "head": "<html><body>x", "size": 900}, "reject:not_pdf"),
        ("image", {"ctype": "application/pdf", "head": "\u0089PNG\r\n\u001a\n", "size": 900}, "reject:not_pdf"),
        ("tiny", {"head": "%PDF-1.4", "size": 30}, "reject:truncated"),
        ("short", {"content_length": 90_000, "size": 9000}, "reject:truncated"),
        ("huge", {"content_length": 10**12, "size": 9000}, "reject:too_large"),
        ("drip", {"rate_bytes_s": 1, "size": 9000}, "reject:timeout"),
        ("silent", {"header_delay_s": 300}, "reject:timeout"),
        ("bomb", {"encoding": "gzip", "size": 50_000, "ratio": 900}, "reject:too_large"),
        ("brotli", {"encoding": "br", "size": 900}, "reject:encoding"),
        ("twice", {"encoding": "gzip, deflate", "size": 900}, "reject:encoding"),
        ("teapot", {"status": 418, "head": "%PDF-1.4", "size": 900}, "reject:http_status"),
        ("unasked-part", {"status": 206, "head": "%PDF-1.4", "size": 900}, "reject:http_status"),
        ("home", {"disposition": 'attachment; filename="~/.ssh/x"', "size": 9000}, "accept:pdf"),
        ("climbing-name", {"bibcode": "2020../../../../x.1A"}, "reject:bad_id"),
        ("ampersand", {"bibcode": "1999ARA&A..37..487H", "size": 9000}, "accept:pdf"),
        ("old-doi", {"doi": "10.1016/S0019-1035(03)00123-4", "size": 9000}, "accept:pdf"),
    )
]  # fmt: skip
"""Our own, in the same shapes: they are run where the corpus is not."""
SERVED = [c for c in CASES if not {"pdf", "html", "fault", "tls", "scheme"} & c["response"].keys()]
PARSED = [c for c in CASES if {"pdf", "html"} & c["response"].keys()]
POLICY = {"bomb-zstd": "reject:encoding"}
"""zstd is not asked for, so a packed answer of that kind is refused before a byte is unpacked."""
SOON = Limits(idle_s=0.4, total_s=0.8)
PATIENT = Limits(idle_s=20, total_s=40)  # other tests may need the processor
needs_corpus = pytest.mark.skipif(not CASES, reason="no ../shared/data: real input is not here")


@needs_corpus
def test_every_line_has_a_test() -> None:
    by_name = {"hsts-http", "tls-bad", "tls-expired", "tls-name", "disk-full", "kill-mid"}
    for kind, table in (("pdf", PDFS), ("html", HTMLS)):
        for words in (c["response"][kind] for c in PARSED if kind in c["response"]):
            assert any(words.startswith(ours) for ours in table), words
    assert {c["id"] for c in [*SERVED, *PARSED]} | by_name == {c["id"] for c in CASES}


def _channel(url: str, **changes: Any) -> Channel:
    return replace(Channel("repository_pdf", url, "repository copy"), **changes)


@pytest.fixture
async def network() -> AsyncIterator[Network]:
    made = Network(trusted_hosts=["localhost"])
    yield made
    await made.aclose()


def _answer(told: Mapping[str, Any]) -> Answer:
    size = int(told.get("size", 2000))
    headers: dict[str, str | int] = {}
    if ctype := told.get("ctype"):
        headers["Content_Type"] = ctype
    if disposition := told.get("disposition"):
        headers["Content_Disposition"] = disposition
    if after := told.get("retry_after"):
        headers["Retry_After"] = after
    if "content_length" in told:
        headers["Content_Length"] = told["content_length"]
    if coding := told.get("encoding"):
        headers["Content_Encoding"] = coding
    head: str = told.get("head", "%PDF-1.7")
    if coding in {"gzip", "deflate"}:
        return sends(bomb(coding, told["ratio"], size), 200, **headers)
    if "rate_bytes_s" in told:
        return _slowly(pdf_of(size), 0.02)
    if "header_delay_s" in told:
        return _late
    if count := told.get("set_cookie"):
        return _cookies(count)
    if size < 100:  # too small for any end
        return sends(head.encode("latin-1").ljust(size, b"\n"), 200, **headers)
    body = (
        pdf_of(size, head)
        if head.startswith("%PDF") or "\n%PDF" in head
        else head.encode("latin-1").ljust(size)
    )
    return sends(body, int(told.get("status", 200)), **headers)


def _slowly(body: bytes, pause_s: float) -> Answer:
    async def answer(_request: Request, writer: asyncio.StreamWriter) -> None:
        writer.write(head_of(Content_Length=len(body)))
        for byte in body:
            writer.write(bytes([byte]))
            await writer.drain()
            await asyncio.sleep(pause_s)

    return answer


async def _late(_request: Request, writer: asyncio.StreamWriter) -> None:
    await asyncio.sleep(5)


def _cookies(count: int) -> Answer:
    async def answer(_request: Request, writer: asyncio.StreamWriter) -> None:
        body = pdf_of(5000)
        lines = "".join(f"Set-Cookie: c{n}={'x' * 50}; Domain=localhost\r\n" for n in range(count))
        head = head_of(Content_Length=len(body))
        writer.write(head[:-2] + lines.encode() + b"\r\n" + body)
        await writer.drain()

    return answer


def _record(told: Mapping[str, Any]) -> Record:
    if "bibcode" in told:
        return Record("ads", bibcodes=(told["bibcode"],))
    if "doi" in told:
        return Record("crossref", dois=(told["doi"].lower(),))
    return Record("arxiv", arxiv_id=told.get("arxiv", "2101.00001"))


def _files(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()} if folder.exists() else set()


@pytest.mark.parametrize("case", [*SERVED, *OWN], ids=lambda case: case["id"])
async def test_download_attack(case: dict[str, Any], network: Network, tmp_path: Path) -> None:
    told = case["response"]
    expected: str = str(POLICY.get(case["id"], case["expected"]))
    folder = tmp_path / "texts"
    got: Fetched | None = None
    outcome = message = ""
    async with serving(_answer(told)) as server:
        channel = _channel(f"{server.url}/paper.pdf")
        try:
            limits = SOON if expected == "reject:timeout" else PATIENT
            stem = file_stem(_record(told), channel)
            got = await fetch(network, channel, folder, stem, limits=limits)
            outcome = f"accept:{got.kind}"
        except RefusalError as error:
            outcome = f"reject:{error.code}"
            message = error.message
        assert outcome.startswith("accept") or message.endswith(".")  # one sentence, whole
        if case["id"] == "cookie-bomb":
            await fetch(network, channel, folder, "again", limits=PATIENT)
            assert all("cookie" not in asked.headers for asked in server.asked)
    if expected != "accept_or_reject":
        assert outcome == expected
    if got is None:
        assert not _files(folder)
    else:
        assert got.path.parent == folder
        assert not [name for name in _files(folder) if name.startswith(".")]
        assert len(got.path.read_bytes()) == got.size_bytes


async def test_https_is_tried_first(tmp_path: Path) -> None:  # hsts-http
    wire = Wire()
    network = Network(resolver=Names(["93.184.216.34"]), backend=wire)
    assert secure_first("http://arxiv.org/pdf/2101.00001") == ("https://arxiv.org/pdf/2101.00001",)
    assert secure_first("http://repo.example.edu/a.pdf") == (
        "https://repo.example.edu/a.pdf",
        "http://repo.example.edu/a.pdf",
    )
    assert secure_first("http://127.0.0.1:8000/a") == ("http://127.0.0.1:8000/a",)
    with pytest.raises(RefusalError, match="no PDF"):  # the wire answers "ok"
        await fetch(network, _channel("http://arxiv.org/pdf/2101.00001"), tmp_path, "x")
    await network.aclose()
    assert wire.dialled == [("93.184.216.34", 443)]


def _certificate(folder: Path, *, name: str, expired: bool) -> ssl.SSLContext:
    key, cert = str(folder / "key.pem"), str(folder / "cert.pem")
    make = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
            "-keyout", key, "-out", cert, "-subj", f"/CN={name}", "-addext", f"subjectAltName=DNS:{name}",
            "-days", "2"]  # fmt: skip
    subprocess.run(make, check=True, capture_output=True)
    if expired:  # signed again, with an end before its beginning
        again = ["openssl", "x509", "-in", cert, "-signkey", key, "-days", "-1", "-out", cert]
        subprocess.run(again, check=True, capture_output=True)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(cert, key)
    return context


@pytest.mark.skipif(not shutil.which("openssl"), reason="no openssl to make a certificate with")
@pytest.mark.parametrize("case", ["tls-bad", "tls-expired", "tls-name"])
async def test_bad_certificates_are_never_accepted(case: str, tmp_path: Path) -> None:
    name = "other.example" if case == "tls-name" else "localhost"
    server_side = _certificate(tmp_path, name=name, expired=case == "tls-expired")
    client = ssl.create_default_context()
    if case != "tls-bad":  # its authority is trusted: only the date or the name is wrong
        client.load_verify_locations(tmp_path / "cert.pem")
    network = Network(trusted_hosts=["localhost"], ssl_context=client)
    async with serving(sends(pdf_of(5000)), server_side) as server:
        with pytest.raises(RefusalError) as caught:
            await fetch(
                network, _channel(f"{server.url}/a.pdf"), tmp_path / "texts", "x", limits=PATIENT
            )
    await network.aclose()
    assert caught.value.code == "tls"
    reason = {"tls-bad": "self-signed", "tls-expired": "expired", "tls-name": "mismatch"}[case]
    assert reason in caught.value.message
    assert not server.asked
    assert not _files(tmp_path / "texts")


async def test_a_full_disk_leaves_nothing(
    network: Network, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:  # disk-full
    written = 0

    def full(fd: int, data: bytes, at: int) -> int:
        nonlocal written
        written += len(data)
        if written > 500_000:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return os.write(fd, data)

    monkeypatch.setattr(partial_module.os, "pwrite", full)
    async with serving(sends(pdf_of(1_000_000), ETag='"a"')) as server:
        with pytest.raises(RefusalError, match="disk is full") as caught:
            await fetch(network, _channel(server.url), tmp_path / "texts", "x")
    assert caught.value.code == "disk_full"
    assert not _files(tmp_path / "texts")


BODY = pdf_of(1_000_000)
ETAG = '"version-one"'


def _half_then_nothing(etag: str = ETAG) -> Answer:
    """Send half of the file to who asks for all of it and wait; the rest to who asks for the rest."""

    async def answer(request: Request, writer: asyncio.StreamWriter) -> None:
        if asked := request.headers.get("range"):
            start = int(asked.removeprefix("bytes=").removesuffix("-"))
            if request.headers.get("if-range") == etag:
                span = f"bytes {start}-{len(BODY) - 1}/{len(BODY)}"
                rest = BODY[start:]
                writer.write(
                    head_of(206, Content_Length=len(rest), Content_Range=span, ETag=etag) + rest
                )
            else:
                writer.write(head_of(Content_Length=len(BODY), ETag=etag) + BODY)
            await writer.drain()
            return
        writer.write(head_of(Content_Length=len(BODY), ETag=ETAG) + BODY[: len(BODY) // 2])
        await writer.drain()
        await asyncio.sleep(20)

    return answer


CHILD = """
import asyncio, sys
from pathlib import Path
from nuncius.library.fetch import fetch
from nuncius.sources.full_text import Channel
from nuncius.walls.network import Network
channel = Channel("repository_pdf", sys.argv[1], "copy")
asyncio.run(fetch(Network(trusted_hosts=["localhost"]), channel, Path(sys.argv[2]), "x"))
"""


async def test_a_killed_download_goes_on(network: Network, tmp_path: Path) -> None:  # kill-mid
    async with serving(_half_then_nothing()) as server:
        child = await asyncio.create_subprocess_exec(
            sys.executable, "-c", CHILD, f"{server.url}/a.pdf", str(tmp_path)
        )
        partial = tmp_path / ".x.pdf.part"
        async with asyncio.timeout(20):
            while not partial.exists() or partial.stat().st_size < 200_000:  # noqa: ASYNC110
                await asyncio.sleep(0.02)
        child.kill()
        await child.wait()
        assert not (tmp_path / "x.pdf").exists()
        got = await fetch(network, _channel(f"{server.url}/a.pdf"), tmp_path, "x")
    assert got.resumed_from >= 200_000
    assert got.path.read_bytes() == BODY
    assert _files(tmp_path) == {"x.pdf"}


async def _stopped(network: Network, server: Faulty, folder: Path) -> None:
    with pytest.raises(RefusalError) as caught:
        await fetch(network, _channel(f"{server.url}/a.pdf"), folder, "x", limits=SOON)
    assert caught.value.code == "timeout"


async def test_a_file_that_changed_meanwhile_is_begun_anew(
    network: Network, tmp_path: Path
) -> None:
    async with serving(_half_then_nothing('"version-two"')) as server:
        await _stopped(network, server, tmp_path)
        assert _files(tmp_path) == {".x.pdf.part", ".x.pdf.part.json"}
        got = await fetch(network, _channel(f"{server.url}/a.pdf"), tmp_path, "x")
    assert got.resumed_from == 0
    assert got.path.read_bytes() == BODY


async def test_a_cancelled_download_goes_on(network: Network, tmp_path: Path) -> None:
    async with serving(_half_then_nothing()) as server:
        channel = _channel(f"{server.url}/a.pdf")
        task = asyncio.create_task(fetch(network, channel, tmp_path, "x"))
        while not server.asked or not (tmp_path / ".x.pdf.part.json").exists():  # noqa: ASYNC110
            await asyncio.sleep(0.01)
        await asyncio.sleep(0.05)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert not (tmp_path / "x.pdf").exists()
        got = await fetch(network, channel, tmp_path, "x")
    assert got.path.read_bytes() == BODY
    assert _files(tmp_path) == {"x.pdf"}


def test_old_leftovers_are_swept_and_fresh_ones_stay(tmp_path: Path) -> None:
    for name in (".old.pdf.part", ".old.pdf.part.json", "old.pdf"):
        (tmp_path / name).write_text("x")
        os.utime(tmp_path / name, (1, 1))
    (tmp_path / ".new.pdf.part").write_text("x")
    partial_module.sweep(tmp_path)
    assert _files(tmp_path) == {"old.pdf", ".new.pdf.part"}


async def test_what_stands_in_a_partials_place_is_left_alone(
    network: Network, tmp_path: Path
) -> None:
    victim = tmp_path / "victim"
    victim.write_text("mine")
    folder = tmp_path / "texts"
    folder.mkdir()
    (folder / ".x.pdf.part").symlink_to(victim)
    (folder / "x.pdf").symlink_to(victim)
    async with serving(sends(pdf_of(3000))) as server:
        got = await fetch(network, _channel(server.url), folder, "x")
    assert victim.read_text() == "mine"
    assert got.path.read_bytes() == pdf_of(3000)
    assert not got.path.is_symlink()


async def test_a_folder_that_cannot_be_is_a_sentence(network: Network, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(RefusalError, match="cannot be written") as caught:
        await fetch(network, _channel("http://localhost:9/"), tmp_path / "file" / "texts", "x")
    assert caught.value.code == "unwritable"


# --- what the parsers do with what is whole but evil -------------------------------------------------


EVIL = {
    f"{kind}: {words}": (f"evil-{number}.{kind}", make)
    for kind, table in (("pdf", PDFS), ("html", HTMLS))
    for number, (words, make) in enumerate(table.items())
}


@pytest.fixture(scope="module")
def outcomes() -> Mapping[str, Document | DocumentError]:
    """Parse all evil files in two children; one that brings its child down is tried alone."""
    files = [(name, make()) for name, make in EVIL.values()]
    return dict(zip(EVIL, asyncio.run(parse_files(files, jobs=2)), strict=True))


@pytest.mark.parametrize("words", EVIL)
def test_evil_files_end_in_a_document_or_a_reason(
    words: str, outcomes: Mapping[str, Document | DocumentError]
) -> None:
    outcome = outcomes[words]
    if isinstance(outcome, DocumentError):
        assert outcome.message
        assert outcome.kind not in {"unreadable", "unsupported"}
    else:
        text = "".join(page.text for page in outcome.layer)
        assert len(text) < MEMORY_BYTES / 1000
        assert "root:" not in text


@pytest.mark.parametrize("name", HTMLS, ids=str)
def test_evil_pages_are_no_articles(name: str) -> None:
    with pytest.raises(RefusalError):
        judge_page(HTMLS[name](), title="A quiet star")
