import asyncio
import contextlib
import gzip
import shutil
import ssl
import subprocess
import sys
import zlib
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from nuncius.core.errors import AccessDeniedError, SettingsError, UpstreamError
from nuncius.walls.addresses import TrustedHosts, address_of, is_public, parse_url
from nuncius.walls.network import Network
from walls.wire import Answer, Names, Wire, response

PUBLIC = "93.184.216.34"


Handler = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


@asynccontextmanager
async def listening(
    handler: Handler, context: ssl.SSLContext | None = None
) -> AsyncGenerator[int, None]:
    """Run a real server on loopback, give its port, and wait until all connections are closed."""
    tasks: set[asyncio.Task[None]] = set()

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task
        tasks.add(task)
        with contextlib.suppress(ConnectionError, asyncio.IncompleteReadError):
            await handler(reader, writer)
        writer.close()
        with contextlib.suppress(ConnectionError, ssl.SSLError):
            await writer.wait_closed()

    server = await asyncio.start_server(handle, "127.0.0.1", 0, ssl=context)
    async with server:
        yield server.sockets[0].getsockname()[1]
    if tasks:
        await asyncio.wait(tasks, timeout=2)


@asynccontextmanager
async def serving(answer: Callable[[bytes], bytes | list[bytes]]) -> AsyncGenerator[str, None]:
    """Run a real server that answers each request and closes; give its base URL."""

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        length = [
            line for line in head.split(b"\r\n") if line.lower().startswith(b"content-length:")
        ]
        body = await reader.readexactly(int(length[0].split(b":")[1])) if length else b""
        sent = answer(head + body)
        for piece in [sent] if isinstance(sent, bytes) else sent:
            writer.write(piece)
            await writer.drain()
            await asyncio.sleep(0.005)

    async with listening(handle) as port:
        yield f"http://127.0.0.1:{port}"


@asynccontextmanager
async def door(**settings: Any) -> AsyncGenerator[Network, None]:
    network = Network(**settings)
    try:
        yield network
    finally:
        await network.aclose()


def wired(answer: Answer | None = None, *names: Any, **settings: Any) -> tuple[Network, Wire]:
    wire = Wire(answer or (lambda _host, _request: response()))
    return Network(resolver=Names(*(names or ([PUBLIC],))), backend=wire, **settings), wire


def test_importing_the_door_imports_no_http_library() -> None:
    code = "import sys, nuncius.walls.network; print(any('http' in m[:5] for m in sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


async def test_a_configured_loopback_server_is_asked_and_told_who_asks() -> None:
    async with (
        serving(lambda request: response(body=request)) as base,
        door(trusted_hosts=[f"{base}/v1"], contact_email="me@example.org") as network,
    ):
        reply = await network.request(
            "POST",
            f"{base}/v1/x?q=a%20b",
            json={"star": "β Pic"},
            headers={"Authorization": "Bearer k"},
        )
    sent = reply.content.decode()
    assert reply.status == 200
    assert sent.startswith("POST /v1/x?q=a%20b HTTP/1.1\r\n")
    assert "user-agent: nuncius/" in sent
    assert "(mailto:me@example.org)" in sent
    assert "authorization: Bearer k\r\n" in sent
    assert sent.endswith('{"star": "β Pic"}')


async def test_loopback_is_refused_unless_the_user_named_that_port() -> None:
    async with (
        serving(lambda _: response()) as base,
        serving(lambda _: response()) as other,
        door(trusted_hosts=[other]) as network,
    ):
        with pytest.raises(AccessDeniedError, match="NUNCIUS_TRUSTED_HOSTS"):
            await network.request("GET", base)
        assert (await network.request("GET", other)).status == 200


async def test_lines_come_while_the_answer_arrives() -> None:
    pieces = [
        b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n",
        "data: β".encode()[:-1],
        "β".encode()[-1:] + b" Pic\r\n",
        b"\ndata: [DONE]",
    ]
    async with (
        serving(lambda _: pieces) as base,
        door(trusted_hosts=[base]) as network,
        network.stream("GET", base) as reply,
    ):
        assert [line async for line in reply.lines()] == ["data: β Pic", "", "data: [DONE]"]


async def test_a_cut_answer_is_an_error_not_a_short_answer() -> None:
    cut = b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nshort"
    async with serving(lambda _: cut) as base, door(trusted_hosts=[base]) as network:
        with pytest.raises(UpstreamError, match="cut"):
            await network.request("GET", base)


async def test_silence_ends_a_request() -> None:
    async def silent(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read()

    async with listening(silent) as port, door(trusted_hosts=["127.0.0.1"]) as network:
        with pytest.raises(UpstreamError, match=r"within|in time"):
            await network.request("GET", f"http://127.0.0.1:{port}/", timeout_s=0.1)


def packed_once(data: bytes) -> bytes:
    return gzip.compress(data, mtime=0)


def in_two_members(data: bytes) -> bytes:
    return gzip.compress(data[:10], mtime=0) + gzip.compress(data[10:], mtime=0)


def deflated(data: bytes) -> bytes:
    return zlib.compress(data)


def headless(data: bytes) -> bytes:
    return zlib.compress(data)[2:-4]


@pytest.mark.parametrize(
    ("encoding", "pack"),
    [
        ("gzip", packed_once),
        ("deflate", deflated),
        ("deflate", headless),
        ("gzip", in_two_members),
        ("identity", bytes),
    ],
)
async def test_packed_answers_are_unpacked(encoding: str, pack: Callable[[bytes], bytes]) -> None:
    body = b"a star is born " * 10_000
    network, _ = wired(lambda _h, _r: response(body=pack(body), Content_Encoding=encoding))
    assert (await network.request("GET", "https://a.example/")).content == body


@pytest.mark.parametrize(
    ("body", "encoding", "said"),
    [
        (gzip.compress(bytes(50_000_000), mtime=0), "gzip", "larger than"),
        (gzip.compress(gzip.compress(b"x", mtime=0), mtime=0), "gzip, gzip", "not asked for"),
        (b"x", "br", "not asked for"),
        (b"not packed at all", "gzip", "unpacked"),
        (gzip.compress(b"x" * 1000, mtime=0)[:-10], "gzip", "ended before"),
        (b"y" * 2_000_000, "identity", "more than allowed"),
    ],
)
async def test_bombs_and_broken_packing_are_refused(body: bytes, encoding: str, said: str) -> None:
    network, _ = wired(lambda _h, _r: response(body=body, Content_Encoding=encoding))
    with pytest.raises(UpstreamError, match=said):
        await network.request("GET", "https://a.example/", max_bytes=1_000_000)


async def test_offline_asks_nobody_and_names_the_setting() -> None:
    network, wire = wired(offline=True, trusted_hosts=["lab.example.org"])
    for url in ("https://arxiv.org/", "https://lab.example.org/"):
        with pytest.raises(AccessDeniedError, match="NUNCIUS_OFFLINE"):
            await network.request("GET", url)
    assert wire.dialled == []
    async with (
        serving(lambda _: response()) as base,
        door(offline=True, trusted_hosts=[base]) as door_,
    ):
        assert (await door_.request("GET", base)).status == 200


async def test_the_name_is_resolved_once_for_a_connection() -> None:
    names = Names([PUBLIC], ["127.0.0.1"])
    wire = Wire()
    await Network(resolver=names, backend=wire).request("GET", "https://flip.example/")
    assert names.asked == ["flip.example"]
    assert wire.dialled == [(PUBLIC, 443)]
    assert wire.requests[0][0] == "flip.example"


async def test_a_name_that_does_not_resolve_is_told() -> None:
    network = Network(resolver=Names(), backend=Wire())
    with pytest.raises(UpstreamError, match="does not resolve"):
        await network.request("GET", "https://nowhere.example/")


class TestRedirects:
    def hops(self, *steps: str, status: int = 302) -> Answer:
        left = list(steps)
        return lambda _h, _r: response(status, b"", Location=left.pop(0)) if left else response()

    async def test_keys_stay_with_their_host(self) -> None:
        network, wire = wired(self.hops("https://other.example/"))
        await network.request(
            "GET",
            "https://a.example/",
            headers={"X-Api-Key": "k1", "Cookie": "c=k2", "Accept": "text/x"},
        )
        assert b"k1" in wire.requests[0][1]
        assert b"k1" not in wire.requests[1][1]
        assert b"k2" not in wire.requests[1][1]
        assert b"text/x" in wire.requests[1][1]

    async def test_an_upgrade_to_https_keeps_the_key(self) -> None:
        network, wire = wired(self.hops("https://a.example/x"))
        await network.request("GET", "http://a.example/x", headers={"Authorization": "k1"})
        assert b"k1" in wire.requests[1][1]

    async def test_a_downgrade_with_a_key_is_refused_and_without_one_followed(self) -> None:
        network, _ = wired(self.hops("http://a.example/"))
        with pytest.raises(AccessDeniedError, match="without encryption"):
            await network.request("GET", "https://a.example/", headers={"Authorization": "k1"})
        network, _ = wired(self.hops("http://a.example/"))
        assert (await network.request("GET", "https://a.example/")).url == "http://a.example/"

    async def test_a_body_is_not_given_to_another_host(self) -> None:
        network, wire = wired(self.hops("https://other.example/", status=307))
        with pytest.raises(AccessDeniedError, match="body"):
            await network.request("POST", "https://a.example/", content=b"question")
        assert len(wire.requests) == 1

    async def test_a_post_becomes_a_get_after_303(self) -> None:
        network, wire = wired(self.hops("/done", status=303))
        await network.request("POST", "https://a.example/", json={"q": 1})
        assert wire.requests[1][1].startswith(b"GET /done HTTP/1.1\r\n")
        assert b"content-" not in wire.requests[1][1].lower()

    async def test_a_public_page_cannot_lead_to_a_private_host_that_the_user_trusts(self) -> None:
        network, wire = wired(
            self.hops("http://127.0.0.1:11434/api/delete"), trusted_hosts=["http://127.0.0.1:11434"]
        )
        with pytest.raises(AccessDeniedError):
            await network.request("GET", "https://a.example/")
        assert wire.dialled == [(PUBLIC, 443)]


class TestFakeAddresses:
    async def test_are_accepted_where_every_name_has_one(self) -> None:
        network, wire = wired(None, ["198.18.0.7"])
        assert (await network.request("GET", "https://arxiv.org/")).status == 200
        assert wire.dialled == [("198.18.0.7", 443)]

    async def test_are_refused_where_others_have_real_ones(self) -> None:
        wire = Wire()
        names = Names([PUBLIC], evil_example=["198.18.0.7"])
        with pytest.raises(AccessDeniedError):
            await Network(resolver=names, backend=wire).request("GET", "https://evil.example/")
        assert wire.dialled == []

    async def test_are_refused_as_literals(self) -> None:
        network, wire = wired(None, ["198.18.0.7"])
        with pytest.raises(AccessDeniedError):
            await network.request("GET", "http://198.18.0.7/")
        assert wire.dialled == []


class TestProxy:
    def connecting(self, _host: str, request: bytes) -> bytes:
        if b"\r\n\r\nGET " in request:
            return response()
        return b"HTTP/1.1 200 Connection established\r\n\r\n"

    async def dialled(self, url: str, **settings: Any) -> tuple[Wire, Names]:
        names = Names([PUBLIC])
        wire = Wire(self.connecting)
        network = Network(resolver=names, backend=wire, **settings)
        # The wire speaks no TLS behind CONNECT; who was dialled is what counts.
        with contextlib.suppress(UpstreamError):
            await network.request("GET", url)
        return wire, names

    async def test_a_loopback_proxy_is_dialled_and_resolves_the_names(self) -> None:
        wire, names = await self.dialled("https://arxiv.org/", https_proxy="http://127.0.0.1:7890")
        assert wire.dialled[0] == ("127.0.0.1", 7890)
        assert b"CONNECT arxiv.org:443" in wire.requests[0][1]
        assert names.asked == []

    @pytest.mark.parametrize(
        ("url", "no_proxy"),
        [
            ("http://arxiv.org/", ""),
            ("https://arxiv.org/", "arxiv.org"),
            ("https://export.arxiv.org/", "x.org, .arxiv.org"),
            ("https://arxiv.org/", "*"),
            ("https://arxiv.org/", "arxiv.org:443"),
            ("https://93.184.216.34/", "93.184.0.0/16"),
        ],
    )
    async def test_plain_http_and_excluded_hosts_go_directly(self, url: str, no_proxy: str) -> None:
        wire, _ = await self.dialled(url, https_proxy="http://127.0.0.1:7890", no_proxy=no_proxy)
        assert wire.dialled[0][0] == PUBLIC

    @pytest.mark.parametrize(
        "no_proxy", ["notarxiv.org", "rxiv.org", "arxiv.org:8443", "10.0.0.0/8"]
    )
    async def test_entries_of_no_proxy_match_whole_labels(self, no_proxy: str) -> None:
        wire, _ = await self.dialled(
            "https://arxiv.org/", https_proxy="127.0.0.1:7890", no_proxy=no_proxy
        )
        assert wire.dialled[0] == ("127.0.0.1", 7890)

    @pytest.mark.parametrize(
        "url",
        ["https://127.0.0.1/", "https://10.0.0.1/", "https://[::1]/", "https://printer.local/"],
    )
    async def test_a_proxy_opens_no_private_address(self, url: str) -> None:
        network, wire = wired(None, https_proxy="http://127.0.0.1:7890")
        with pytest.raises(AccessDeniedError):
            await network.request("GET", url)
        assert wire.dialled == []

    async def test_behind_a_remote_proxy_names_are_judged_here_too(self) -> None:
        network, wire = wired(None, ["10.0.0.5"], https_proxy="http://proxy.lab.example:3128")
        with pytest.raises(AccessDeniedError):
            await network.request("GET", "https://intranet.example/")
        assert wire.dialled == []

    def test_a_socks_proxy_is_refused_with_advice(self) -> None:
        with pytest.raises(SettingsError, match="http port"):
            Network(https_proxy="socks5://127.0.0.1:1080")


async def test_a_bad_header_is_refused_without_repeating_its_value() -> None:
    network, wire = wired()
    for value in ("sk-secret\n", "sk-secret\u2013x"):
        with pytest.raises(AccessDeniedError) as caught:
            await network.request("GET", "https://a.example/", headers={"Authorization": value})
        assert "sk-secret" not in str(caught.value)
    assert wire.dialled == []


async def test_an_error_shows_no_query_and_no_password() -> None:
    network, _ = wired(lambda _h, _r: b"garbage")
    with pytest.raises(UpstreamError) as caught:
        await network.request("GET", "https://a.example/x?key=sk-secret")
    assert "sk-secret" not in str(caught.value)
    with pytest.raises(AccessDeniedError) as refused:
        await network.request("GET", "https://me:sk-secret@a.example/x?key=sk-secret")
    assert "sk-secret" not in str(refused.value)


@pytest.mark.parametrize("port", [22, 25, 3306, 5432, 6379, 9200, 11211])
async def test_ports_of_other_services_are_closed(port: int) -> None:
    network, wire = wired()
    with pytest.raises(AccessDeniedError, match="port"):
        await network.request("GET", f"http://public.example:{port}/")
    assert wire.dialled == []


@pytest.mark.parametrize(
    "address",
    [
        "127.8.8.8", "10.1.2.3", "100.127.255.255", "169.254.169.254", "172.31.0.1", "192.168.1.1",
        "198.19.0.1", "240.0.0.1", "0.1.2.3", "::1", "::", "fe80::1", "fc00::1", "fec0::1",
        "ff02::1", "::ffff:8.8.8.8", "::8.8.8.8", "64:ff9b::808:808", "64:ff9b:1::1",
        "2002:808:808::", "2001:0:1::", "100::1", "5f00::1", "3fff::1", "4000::1",
    ],
)  # fmt: skip
def test_addresses_that_are_not_public(address: str) -> None:
    found = address_of(address)
    assert found is not None
    assert not is_public(found)


@pytest.mark.parametrize(
    "address", ["8.8.8.8", "131.142.185.1", "2a00:1450::1", "2620:0:2d0:200::7"]
)
def test_addresses_that_are_public(address: str) -> None:
    found = address_of(address)
    assert found is not None
    assert is_public(found)


def test_one_reading_of_a_url() -> None:
    url = parse_url("HTTPS://Arxiv.ORG:443/a b".replace(" ", "%20") + "/β?q=ä&x=1#frag")
    assert str(url) == "https://arxiv.org/a%20b/%CE%B2?q=%C3%A4&x=1"
    assert str(parse_url("http://[2A00:1450::1]:8080/")) == "http://[2a00:1450::1]:8080/"
    assert parse_url("https://münchen.example/").host == "xn--mnchen-3ya.example"


def test_trust_is_by_whole_names() -> None:
    trusted = TrustedHosts(
        ["lab.example.org", "*.inst.example", "10.0.0.5:8000", "http://localhost:11434/v1"]
    )
    assert trusted.covers("lab.example.org", 9999)
    assert trusted.covers("a.b.inst.example", 443)
    assert trusted.covers("10.0.0.5", 8000)
    assert trusted.covers("localhost", 11434)
    assert not trusted.covers("xlab.example.org", 443)
    assert not trusted.covers("inst.example", 443)
    assert not trusted.covers("evilinst.example", 443)
    assert not trusted.covers("10.0.0.5", 22)
    assert not trusted.covers("localhost", 8765)


async def test_one_door_serves_several_event_loops() -> None:
    async with serving(lambda _: response()) as base:
        network = Network(trusted_hosts=[base])
        assert (await network.request("GET", base)).status == 200

        async def elsewhere() -> int:
            try:
                return (await network.request("GET", base)).status
            finally:
                await network.aclose()

        assert await asyncio.to_thread(asyncio.run, elsewhere()) == 200
        await network.aclose()


@pytest.fixture
def certificate(tmp_path: Path) -> tuple[Path, Path]:
    if not shutil.which("openssl"):
        pytest.skip("no openssl to make a certificate with")
    key, cert = tmp_path / "key.txt", tmp_path / "cert.txt"
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1",
         "-nodes", "-days", "1", "-subj", "/CN=star.example", "-addext",
         "subjectAltName=DNS:star.example", "-keyout", str(key), "-out", str(cert)],
        check=True, capture_output=True,
    )  # fmt: skip
    return key, cert


async def test_tls_checks_the_name_though_the_address_is_dialled(
    certificate: tuple[Path, Path],
) -> None:
    key, cert = certificate
    server_side = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    server_side.load_cert_chain(cert, key)
    names: list[str | None] = []
    server_side.sni_callback = lambda _s, name, _c: names.append(name)

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(response())
        await writer.drain()

    async with (
        listening(handle, server_side) as port,
        door(
            resolver=Names(["127.0.0.1"]),
            trusted_hosts=["star.example", "other.example"],
            ssl_context=ssl.create_default_context(cafile=str(cert)),
        ) as network,
    ):
        assert (await network.request("GET", f"https://star.example:{port}/")).status == 200
        assert names == ["star.example"]
        with pytest.raises(UpstreamError, match="certificate"):
            await network.request("GET", f"https://other.example:{port}/")
