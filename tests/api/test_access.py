"""The front door: who comes in, under which name, from which page, with what."""

import json
import re
import stat
from collections.abc import AsyncIterator, Iterator, Mapping
from pathlib import Path
from typing import Any, cast
from urllib.parse import quote

import pytest
from starlette.routing import BaseRoute, Route

from api.served import Place, place_in, raw, write_call
from nuncius.api import access, door
from nuncius.api.access import Access, Nonces, read_token
from nuncius.api.build import page_routes, routes
from nuncius.core.errors import SettingsError

PAPER = (
    "<!doctype html><html><head><title>A quiet star</title></head><body><h1>A quiet star</h1>"
    + (
        "<p>We measure the radius of the star. It is 1.72 solar radii.</p><script>alert(1)</script>"
        * 30
    )
)


@pytest.fixture
async def place(tmp_path: Path) -> AsyncIterator[Place]:
    """Serve a home whose front end is built: a page and one asset, beside a secret."""
    web = tmp_path / "dist" / "web"
    (web / "assets").mkdir(parents=True)
    (web / "index.html").write_text("<!doctype html><title>page</title>")
    (web / "assets" / "app.js").write_text("export {};\n" * 100)
    (web / ".env").write_text("SECRET=1")
    (tmp_path / "dist" / "agent.toml").write_text("secret")
    async with place_in(tmp_path, web_folder=web) as served:
        yield served


# --- the corpus -----------------------------------------------------------------------------------

AT_THE_PARSER = {"host-10": 400}
"""A NUL in a header is no HTTP at all: the parser refuses it before the door can."""


class Corpus:
    """Says the corpus in the names of the contract."""

    def __init__(self, place: Place, session_id: str, paper_id: str, pending: Mapping[str, Any]):
        self.place = place
        self.session_id = session_id
        self.paper_id = paper_id
        self.pending = pending

    def path(self, path: str, request_id: str) -> str:
        if path.startswith("/api/files?path="):
            return f"/api/papers/{quote(path.partition('=')[2])}/content"
        for old, new in (
            ("/api/chat", f"/api/sessions/{self.session_id}/turns"),
            ("/api/permission", f"/api/permissions/requests/{request_id}"),
            ("/api/events?session=1", f"/api/sessions/{self.session_id}/events"),
            ("/api/papers/X/html", f"/api/papers/{self.paper_id}/file"),
            ("/static", "/assets"),
        ):
            if path.startswith(old):
                return new + path.removeprefix(old)
        return path

    def request_id(self, named: str) -> str:
        return {"R": self.pending["id"], "OLD": self.pending["old"]}.get(named, named or "perm_x")

    def body(self, path: str, body: str | None) -> tuple[str | None, str]:
        """Return the body in our form, and the request that it names."""
        if body is None or path != "/api/permission":
            return body, "perm_x"
        asked = json.loads(body)
        ours = {
            "decision": asked.get("answer"),
            "args_sha256": asked.get("args_sha256", self.pending["args_sha256"]),
        }
        return json.dumps(ours), self.request_id(asked.get("request_id", ""))

    def text(self, value: str) -> str:
        return value.replace(":8000", f":{self.place.port}").replace("GOOD", self.place.token)


def expand(value: Any) -> Any:
    if isinstance(value, dict):
        fields = cast("dict[str, Any]", value)
        if set(fields) == {"$concat"}:
            return "".join(text * times for text, times in fields["$concat"])
        return {key: expand(item) for key, item in fields.items()}
    return [expand(item) for item in cast("list[Any]", value)] if isinstance(value, list) else value


async def prepared(place: Place) -> Corpus:
    """Return a home with a paper of HTML, an open permission request and a decided one."""
    paper = place.folder / "paper.html"
    paper.write_text(PAPER)
    report = await place.app.library.add([paper])
    place.says([write_call("a.txt"), write_call("b.txt"), "Done."])
    session_id = await place.session()
    await place.post(f"/sessions/{session_id}/turns", {"message": "Write."})
    old = await place.waiting("permission")
    deny = {"decision": "deny", "args_sha256": old["args_sha256"]}
    await place.post(f"/permissions/requests/{old['id']}", deny)
    while (now := await place.waiting("permission"))["id"] == old["id"]:
        pass
    return Corpus(place, session_id, report.added[0].paper_id, now | {"old": old["id"]})


async def test_every_request_of_the_corpus_gets_its_status(place: Place, shared_data: Path) -> None:
    lines = (shared_data / "attacks" / "web_api.jsonl").read_text(encoding="utf-8").splitlines()
    corpus = await prepared(place)
    wrong: list[str] = []
    for case in (expand(json.loads(line)) for line in lines):
        asked = case["request"]
        body, request_id = corpus.body(asked["path"], asked.get("body"))
        path = corpus.path(asked["path"], request_id)
        headers = {name: corpus.text(value) for name, value in asked["headers"].items()}
        status, given, text = await raw(place.port, asked["method"], path, headers, body)
        expected = AT_THE_PARSER.get(case["id"], case["expected_status"])
        if status not in (expected if isinstance(expected, list) else [expected]):
            wrong.append(f"{case['id']}: {status} instead of {expected}: {text[:200]}")
        if "access-control-allow-origin" in given or "Traceback" in text:
            wrong.append(f"{case['id']}: {given} {text[:200]}")
        if case["id"] == "paper-html":
            assert "sandbox" in given["content-security-policy"]
            assert given["content-disposition"].startswith("attachment")
    assert not wrong, "\n".join(wrong)
    await place.post(f"/sessions/{corpus.session_id}/cancel", {})


# --- our own cases of the same kinds --------------------------------------------------------------


@pytest.mark.parametrize(
    "host",
    [
        "evil.example",
        "127.0.0.1",
        "127.0.0.1:1",
        "127.0.0.2:{port}",
        "0x7f000001:{port}",
        "localhost.:{port}",
        "[::1]:{port}",
        "user@127.0.0.1:{port}",
        "127.0.0.1:{port}/",
        " 127.0.0.1:{port} x",
        "",
    ],
)
async def test_other_names_are_not_ours(place: Place, host: str) -> None:
    headers = {"Host": host.format(port=place.port), "Authorization": f"Bearer {place.token}"}
    status, _, text = await raw(place.port, "GET", "/api/health", headers)
    assert status in {400, 421}, text


async def test_two_hosts_are_none(place: Place) -> None:
    host = f"127.0.0.1:{place.port}"
    headers = {"Host": host, "host": host, "Authorization": f"Bearer {place.token}"}
    assert (await raw(place.port, "GET", "/api/sessions", headers))[0] in {400, 421}


@pytest.mark.parametrize(
    ("origin", "status"),
    [
        ("http://127.0.0.1:{port}", 200),
        ("http://localhost:{port}", 403),  # another page than the one of this Host
        ("http://127.0.0.1:{other}", 403),
        ("HTTP://127.0.0.1:{port}", 403),
        ("http://127.0.0.1:{port}/", 403),
        ("null", 403),
        ("", 403),
    ],
)
async def test_only_our_own_page_is_let_in(place: Place, origin: str, status: int) -> None:
    headers = {
        "Host": f"127.0.0.1:{place.port}",
        "Authorization": f"Bearer {place.token}",
        "Origin": origin.format(port=place.port, other=place.port + 1),
    }
    assert (await raw(place.port, "GET", "/api/sessions", headers))[0] == status


async def test_the_link_signs_in_once_and_its_cookie_lasts(place: Place) -> None:
    host = {"Host": f"127.0.0.1:{place.port}"}
    link = place.served.link().partition(str(place.port))[2]
    status, given, page = await raw(place.port, "GET", link, host)
    cookie = given["set-cookie"]
    assert status == 200
    assert 'http-equiv="refresh"' in page
    assert cookie.startswith(f"nuncius_{place.port}=")
    assert {"HttpOnly", "SameSite=Strict", "Path=/"} <= set(cookie.split("; "))
    assert place.token not in cookie
    signed_in = {**host, "Cookie": f"other=1; {cookie.partition(';')[0]}"}
    assert (await raw(place.port, "GET", "/api/sessions", signed_in))[0] == 200
    assert (await raw(place.port, "GET", "/", signed_in))[0] == 200
    again, given, _ = await raw(place.port, "GET", link, host)
    assert again == 403
    assert "set-cookie" not in given
    assert (await raw(place.port, "GET", "/sign-in?nonce=", host))[0] == 403


async def test_a_cookie_changes_nothing_without_its_page(place: Place) -> None:
    value = place.served.house.access.cookie_value
    headers = {
        "Host": f"127.0.0.1:{place.port}",
        "Cookie": f"nuncius_{place.port}={value}",
        "Content-Type": "application/json",
    }
    post = (place.port, "POST", "/api/sessions")
    assert (await raw(*post, headers, "{}"))[0] == 401
    own = {**headers, "Origin": f"http://127.0.0.1:{place.port}"}
    assert (await raw(*post, own, "{}"))[0] == 201
    fetched = {**headers, "Sec-Fetch-Site": "same-origin"}
    assert (await raw(*post, fetched, "{}"))[0] == 201
    twice = {**own, "Cookie": f"nuncius_{place.port}={value}; nuncius_{place.port}=x"}
    assert (await raw(*post, twice, "{}"))[0] == 401


async def test_a_wrong_token_is_not_helped_by_a_cookie(place: Place) -> None:
    headers = {
        "Host": f"127.0.0.1:{place.port}",
        "Cookie": f"nuncius_{place.port}={place.served.house.access.cookie_value}",
        "Authorization": "Bearer wrong",
    }
    assert (await raw(place.port, "GET", "/api/sessions", headers))[0] == 401


async def test_bodies_end_at_their_limit_however_they_are_sent(place: Place) -> None:
    session_id = await place.session()
    path = f"/api/sessions/{session_id}/turns"
    good = {"Host": f"127.0.0.1:{place.port}", "Authorization": f"Bearer {place.token}"}
    headers = {**good, "Content-Type": "application/json", "Transfer-Encoding": "chunked"}
    piece = b"10000\r\n" + b" " * 0x10000 + b"\r\n"
    status, given, text = await raw(place.port, "POST", path, headers, piece * 17 + b"0\r\n\r\n")
    assert status == 413, text
    assert "larger than 1 MB" in text
    assert given["content-type"] == "application/json"
    large = {**good, "Content-Type": "application/json", "Content-Length": str(2**20 + 1)}
    assert (await raw(place.port, "POST", path, large))[0] == 413
    cyrillic = {**good, "Content-Type": "application/json; charset=koi8-r"}
    assert (await raw(place.port, "POST", path, cyrillic, "{}"))[0] == 415
    form = {**good, "Content-Type": "application/x-www-form-urlencoded"}
    assert (await raw(place.port, "POST", f"/api/sessions/{session_id}/cancel", form))[0] == 415


DEEP = '{"message":' + '{"a":' * 20_000 + "1" + "}" * 20_001


@pytest.mark.parametrize(
    "body",
    [
        b"", b"null", b"[]", b'"x"', b"NaN", b'{"message": NaN}', b'{"message": null}', b"\xff\xfe{",
        b"\xef\xbb\xbf", b'{"message": "\xff"}', b"{" * 50_000, DEEP.encode(), b'{"message": 1e999}',
        b'{"message": "x", "model": {"a": 1}}', b'{"message": "x", "mode": ["ask"]}', b"\0" * 100,
        b'{"message": "x"} {"message": "y"}', b'{"message": "x", "__proto__": {}}',
        b'{"message": "\\ud800"}', b'{"message": "x", "model": "\\udfff"}', b"1" * 10_000,
    ],
)  # fmt: skip
async def test_bodies_that_make_no_sense_are_told_so(place: Place, body: bytes) -> None:
    session_id = await place.session()
    headers = {
        "Host": f"127.0.0.1:{place.port}",
        "Authorization": f"Bearer {place.token}",
        "Content-Type": "application/json",
    }
    path = f"/api/sessions/{session_id}/turns"
    status, _, text = await raw(place.port, "POST", path, headers, body)
    assert status in {400, 422}, (status, text)
    assert set(json.loads(text)["error"]) == {"code", "message", "hint"}
    assert await place.app.journal.events(session_id) == []


@pytest.mark.parametrize(
    "header",
    [
        "Range: bytes=" + ",".join(f"{n}-" for n in range(5_000)),
        "Range: bytes=-1",
        "Range: bytes=5-1",
        "Range: bytes=99999999999999999999-",
        "Range: lines=1-2",
        "Content-Length: -1",
        "Content-Length: 1e9",
        "Content-Length: 5, 6",
        "Transfer-Encoding: gzip",
        "Expect: 200-maybe",
        "If-Modified-Since: yesterday",
        "If-None-Match: " + "x" * 30_000,
        "X-HTTP-Method-Override: DELETE",
        "Accept-Encoding: identity;q=0",
        "Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Key: eA==",
        "Cookie: " + "a" * 200_000,
        "X-Long: " + "b" * 70_000,
    ],
)
async def test_headers_that_make_no_sense_break_nothing(place: Place, header: str) -> None:
    name, _, value = header.partition(": ")
    for path in ("/assets/app.js", "/api/sessions"):
        headers = {
            "Host": f"127.0.0.1:{place.port}",
            "Authorization": f"Bearer {place.token}",
            name: value,
        }
        status, _, _ = await raw(place.port, "GET", path, headers)
        assert status in {200, 206, 304, 400, 411, 413, 416, 426, 431}, status
    assert (await place.client.get("/api/health")).status_code == 200


async def test_uploads_are_bytes_and_nothing_else_is(place: Place) -> None:
    good = {"Host": f"127.0.0.1:{place.port}", "Authorization": f"Bearer {place.token}"}
    put = (place.port, "PUT", "/api/papers/files?name=a.md")
    for kind in ("application/json", "text/plain", "multipart/form-data; boundary=x"):
        assert (await raw(*put, {**good, "Content-Type": kind}, "# A"))[0] == 415
    large = {**good, "Content-Type": "application/octet-stream", "Content-Length": str(2**26 + 1)}
    assert (await raw(*put, large))[0] == 413
    rule = {**good, "Content-Type": "application/octet-stream"}
    assert (await raw(place.port, "PUT", "/api/permissions", rule, "{}"))[0] == 415


async def test_every_answer_carries_the_policy(place: Place) -> None:
    good = {"Host": f"127.0.0.1:{place.port}", "Authorization": f"Bearer {place.token}"}
    for path in (
        "/",
        "/assets/app.js",
        "/api/sessions",
        "/api/nothing",
        "/nothing.txt",
        "/sign-in",
    ):
        _, given, _ = await raw(place.port, "GET", path, good)
        policy = given["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "'unsafe-inline'" not in policy.replace("style-src-attr 'unsafe-inline'", "")
        assert "http" not in policy
        assert given["x-content-type-options"] == "nosniff"
        assert given["referrer-policy"] == "no-referrer"
        assert "access-control-allow-origin" not in given
        assert "server" not in given


async def test_only_built_files_are_sent(place: Place) -> None:
    for path, status in {
        "/": 200,
        "/sessions/abc": 200,  # a view of the front end
        "/assets/app.js": 200,
        "/assets/": 404,
        "/assets/nothing": 404,
        "/.env": 404,
        "/../agent.toml": 404,
        "/assets/../../agent.toml": 404,
        "/assets/%2e%2e/%2e%2e/agent.toml": 404,
        "//etc/passwd": 404,
        "/index.html": 200,
    }.items():
        headers = {"Host": f"127.0.0.1:{place.port}", "Authorization": f"Bearer {place.token}"}
        got, _, text = await raw(place.port, "GET", path, headers)
        assert got == status, path
        assert "secret" not in text.lower()


# --- the route table ------------------------------------------------------------------------------


def all_routes(found: list[BaseRoute]) -> Iterator[tuple[str, str]]:
    """Yield method and path of each route, of included routers too."""
    for route in found:
        inner = getattr(route, "effective_route_contexts", None)
        if inner is not None:
            for one in inner():
                path = str(one.path)
                yield from ((method, path) for method in one.methods)
        elif isinstance(route, Route):
            yield from ((method, route.path) for method in route.methods or ())
        else:
            raise AssertionError(f"a route that this test cannot look at: {route!r}")


def table() -> list[tuple[str, str]]:
    found = [*all_routes(routes().routes), *all_routes(page_routes().routes)]
    return sorted({(method, re.sub(r":path\}", "}", path)) for method, path in found})


def test_the_walk_sees_the_routes_that_are_there() -> None:
    described = {
        (method.upper(), path)
        for path, operations in routes().openapi()["paths"].items()
        for method in operations
    }
    assert described <= set(table())
    assert len(described) > 25
    assert {("GET", "/sign-in"), ("GET", "/{path}"), ("GET", "/api/openapi.json")} <= set(table())


async def test_no_route_answers_without_the_token(place: Place) -> None:
    host = f"127.0.0.1:{place.port}"
    for method, path in table():
        if (method, path) in door.OPEN:
            continue
        filled = re.sub(r"\{\w+\}", "x", path)
        kind = "application/octet-stream" if path.endswith("/files") else "application/json"
        headers = {"Host": host, "Content-Type": kind}
        for extra in ({}, {"Authorization": "Bearer x"}, {"Cookie": f"nuncius_{place.port}=x"}):
            status, _, _ = await raw(place.port, method, filled, {**headers, **extra}, "{}")
            assert status == 401, (method, path, extra)
        foreign = {**headers, "Authorization": f"Bearer {place.token}"}
        evil = {**foreign, "Origin": "https://evil.example"}
        assert (await raw(place.port, method, filled, evil, "{}"))[0] == 403, (method, path)
        named = {**foreign, "Host": f"evil.example:{place.port}"}
        assert (await raw(place.port, method, filled, named, "{}"))[0] == 421, (method, path)
        if method in {"POST", "PUT", "PATCH"}:
            text = {**foreign, "Content-Type": "text/plain"}
            assert (await raw(place.port, method, filled, text, "{}"))[0] == 415, (method, path)


def test_just_health_and_the_link_need_no_token() -> None:
    assert {("GET", "/api/health"), ("GET", "/sign-in")} == door.OPEN
    assert set(table()) >= door.OPEN


async def test_health_tells_no_more_than_that_it_is_well(place: Place) -> None:
    host = {"Host": f"127.0.0.1:{place.port}"}
    status, _, text = await raw(place.port, "GET", "/api/health", host)
    assert (status, set(json.loads(text))) == (200, {"status", "version"})


# --- token, nonces, names -------------------------------------------------------------------------


def test_the_token_is_made_once_for_its_owner_alone(tmp_path: Path) -> None:
    path = tmp_path / "token"
    token = read_token(path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert len(token) >= 64
    assert read_token(path) == token
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("fault", ["readable", "link", "empty", "folder", "short"])
def test_a_token_that_cannot_be_trusted_is_refused(tmp_path: Path, fault: str) -> None:
    path = tmp_path / "token"
    match fault:
        case "readable":
            read_token(path)
            path.chmod(0o644)
        case "link":
            read_token(tmp_path / "other")
            path.symlink_to(tmp_path / "other")
        case "folder":
            path.mkdir()
        case _:
            path.write_text("" if fault == "empty" else "abc")
            path.chmod(0o600)
    with pytest.raises(SettingsError, match="token") as caught:
        read_token(path)
    assert "Delete the file" in caught.value.hint


def test_a_nonce_is_good_once_and_not_for_long() -> None:
    now = 0.0
    nonces = Nonces(lambda: now)
    first, second = nonces.make(), nonces.make()
    assert nonces.spend(first)
    assert not nonces.spend(first)
    now = access.NONCE_LIFE_S + 1
    assert not nonces.spend(second)
    assert not nonces.spend("\ud800")
    late = [nonces.make() for _ in range(200)]
    assert nonces.spend(late[-1])
    assert not nonces.spend(late[0])  # memory is bounded


def test_a_public_address_is_one_of_our_names_and_the_link_leads_there() -> None:
    made = Access("t" * 64, port=8765, public_url="https://Nuncius.Example.org/")
    assert made.link().startswith("https://nuncius.example.org/sign-in?nonce=")
    assert made.knows_host("nuncius.example.org")
    assert made.same_origin("https://nuncius.example.org", "nuncius.example.org")
    assert not made.same_origin("https://nuncius.example.org", "127.0.0.1:8765")
    assert not made.same_origin("http://nuncius.example.org", "nuncius.example.org")
    assert "; Secure" in made.set_cookie()
    with_port = Access("t" * 64, port=1, public_url="http://[fe80::1]:99")
    assert with_port.knows_host("[fe80::1]:99")


@pytest.mark.parametrize(
    "url",
    ["nuncius.example.org", "ftp://a", "https://", "https://u:p@a", "https://a/b", "https://a:x"],
)
def test_a_public_address_that_is_none_is_refused(url: str) -> None:
    with pytest.raises(SettingsError, match="NUNCIUS_PUBLIC_URL"):
        Access("t" * 64, port=1, public_url=url)


def test_everywhere_is_no_name() -> None:
    made = Access("t" * 64, port=80, hosts=("0.0.0.0",))
    assert made.link().startswith("http://127.0.0.1:80/")
    assert not made.knows_host("0.0.0.0:80")
    assert made.knows_host("localhost")
    assert Access("t" * 64, port=9, hosts=("::1",)).knows_host("[::1]:9")
