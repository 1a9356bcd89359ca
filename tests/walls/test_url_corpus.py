"""The URL attacks of ../shared, through the whole door with a resolver and a wire of our own."""

import importlib.util
import json
from pathlib import Path
from typing import Any

import pytest

from nuncius.core.errors import AccessDeniedError, NunciusError
from nuncius.walls.addresses import TrustedHosts, parse_url
from nuncius.walls.network import Network
from walls.wire import Names, Wire, response

CORPUS = Path(__file__).resolve().parents[3] / "shared" / "data" / "attacks"


def _load() -> list[dict[str, Any]]:
    if not CORPUS.is_dir():
        return []
    spec = importlib.util.spec_from_file_location("expand", CORPUS / "expand.py")
    assert spec
    assert spec.loader
    expand = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(expand)
    lines = (CORPUS / "urls.jsonl").read_text(encoding="utf-8").splitlines()
    return [expand.ex(json.loads(line)) for line in lines]


CASES = _load()


def _follow(steps: list[str]) -> Any:
    left = list(steps)

    def answer(_host: str, _request: bytes) -> bytes:
        if not left:
            return response()
        step = left.pop(0)
        if step.startswith("meta-refresh:"):
            page = f'<meta http-equiv="refresh" content="0; url={step[13:]}">'
            return response(body=page.encode(), Content_Type="text/html")
        return response(302, b"", Location=step)

    return answer


@pytest.mark.skipif(not CASES, reason="no ../shared/data: real input is not part of the project")
@pytest.mark.parametrize("key", ["Bearer topsecret", ""], ids=["key", "no key"])
@pytest.mark.parametrize("case", CASES, ids=lambda case: case["id"])
async def test_url_attack(case: dict[str, Any], key: str) -> None:
    if case.get("trust_check"):
        try:
            url = parse_url(case["url"])
        except AccessDeniedError:
            return
        assert not TrustedHosts(["arxiv.org"]).covers(url.host, url.port)
        return
    # Where the corpus names no answer the name may lead anywhere: what is refused must not
    # depend on it.
    answers = case.get("resolve_sequence") or [case.get("resolve", ["93.184.216.34"])]
    steps = case.get("redirects", [])
    loop = steps * 4 if case["id"] == "redir-loop" else steps
    wire = Wire(_follow(loop))
    network = Network(resolver=Names(*answers), backend=wire)
    try:
        await network.request("GET", case["url"], headers={"Authorization": key} if key else {})
        outcome = "allow"
    except NunciusError:
        outcome = "deny"
    finally:
        await network.aclose()

    public = {address for address, _port in wire.dialled}
    assert public <= {"93.184.216.34"}
    if case["id"] == "rebind-flip":  # resolved once, so the second answer is never seen
        return
    if key and case["id"] in {"redir-ok", "redir-authdrop"}:
        hosts = [host for host, sent in wire.requests if b"topsecret" in sent]
        assert set(hosts) == {"arxiv.org" if case["id"] == "redir-ok" else "api.adsabs.harvard.edu"}
    assert outcome == case["expected"]
