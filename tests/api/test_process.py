"""`nuncius serve` as people run it: one link, one server a home, an end in order."""

import asyncio
import json
import signal
import sys
from pathlib import Path

import httpx2

from api.serve_process import environment, run, serving_process, start
from api.served import WAIT_S, raw
from cli.loopback import serve as model_server
from library.conftest import settings_in
from nuncius.app import open_app


async def test_serve_prints_one_link_that_signs_in_and_ends_in_order(tmp_path: Path) -> None:
    async with serving_process(tmp_path) as server:
        host = {"Host": f"127.0.0.1:{server.port}"}
        path = server.link.partition(str(server.port))[2]
        status, given, _ = await raw(server.port, "GET", path, host)
        cookie = given["set-cookie"].partition(";")[0]
        assert status == 200
        assert (await raw(server.port, "GET", "/api/sessions", host | {"Cookie": cookie}))[0] == 200
        status, _, _ = await raw(server.port, "GET", "/", host | {"Cookie": cookie})
        assert status == 200
        assert (tmp_path / "home" / "token").stat().st_mode & 0o777 == 0o600
        code, err = await server.end()
        assert code == 0, err
        assert "Traceback" not in err
    assert not (tmp_path / "home" / "serve.lock").exists()
    async with serving_process(tmp_path, port=server.port) as again:  # the cookie outlives it
        signed_in = host | {"Cookie": cookie}
        assert (await raw(again.port, "GET", "/api/sessions", signed_in))[0] == 200
        assert (await raw(again.port, "GET", path, host))[0] == 403  # the old link does not
        assert (await again.end(signal.SIGINT))[0] == 0


async def test_a_second_serve_of_the_home_is_refused_with_the_pid(tmp_path: Path) -> None:
    async with serving_process(tmp_path) as server:
        code, out, err = await run(tmp_path, "serve", "--no-browser", "--port", "0")
        assert (code, out) == (1, "")
        assert f"process {server.process.pid}" in err
        assert (await server.ask("GET", "/api/sessions"))[0] == 200
        server.process.kill()  # the lock goes with its process
        await server.process.wait()
        async with serving_process(tmp_path) as next_one:
            assert (await next_one.ask("GET", "/api/health"))[0] == 200


async def test_a_host_that_nobody_knows_is_told(tmp_path: Path) -> None:
    words = ("serve", "--no-browser", "--port", "0", "--host", "no.such.host.invalid")
    code, out, err = await run(tmp_path, *words)
    assert (code, out) == (2, "")
    assert "no.such.host.invalid" in err
    assert "Traceback" not in err


async def test_who_listens_everywhere_is_told_which_name_is_answered(tmp_path: Path) -> None:
    everywhere = ("--host", "0.0.0.0")
    async with serving_process(tmp_path, *everywhere) as server:
        other = {"Host": f"192.0.2.7:{server.port}"}
        assert (await raw(server.port, "GET", "/api/health", other))[0] == 421
        _, err = await server.end()
    assert "answered under 127.0.0.1 alone" in " ".join(err.split())
    assert "NUNCIUS_PUBLIC_URL" in err
    public = {"NUNCIUS_PUBLIC_URL": "http://192.0.2.7:8765"}
    words = ("serve", "--no-browser", "--port", "0", *everywhere)
    process = await start(tmp_path, *words, more=public)
    assert process.stdout is not None
    async with asyncio.timeout(WAIT_S):
        link = (await process.stdout.readline()).decode()
        process.send_signal(signal.SIGTERM)
        _, told = await process.communicate()
    assert link.startswith("http://192.0.2.7:8765/sign-in?")
    assert b"without encryption" in told
    assert b"PUBLIC_URL" not in told


async def test_programs_are_told_in_json(tmp_path: Path) -> None:
    process = await start(tmp_path, "serve", "--no-browser", "--port", "0", "--json")
    try:
        assert process.stdout is not None
        async with asyncio.timeout(WAIT_S):
            text = ""
            while not text.endswith("}\n"):
                text += (await process.stdout.readline()).decode()
        told = json.loads(text)
        assert told["schema_version"] == 1
        assert f":{told['port']}/sign-in?nonce=" in told["link"]
        assert told["pid"] == process.pid
    finally:
        process.send_signal(signal.SIGTERM)
        await process.communicate()


async def test_an_address_that_is_taken_is_told(tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    async with serving_process(tmp_path) as server:
        other = tmp_path / "other"
        code, out, err = await run(other, "serve", "--no-browser", "--port", str(server.port))
    assert (code, out) == (2, "")
    assert f"127.0.0.1:{server.port}: Address already in use" in err
    assert "--port" in err


async def test_a_turn_of_another_process_is_seen_as_it_happens(tmp_path: Path) -> None:
    async with serving_process(tmp_path) as server:
        _, text = await server.ask("POST", "/api/sessions", "{}")
        session_id = json.loads(text)["id"]
        kinds: list[str] = []
        async with httpx2.AsyncClient(trust_env=False, timeout=WAIT_S) as client:
            url = f"http://127.0.0.1:{server.port}/api/sessions/{session_id}/events"
            token = {"Authorization": f"Bearer {server.token}"}
            async with client.stream("GET", url, headers=token) as stream:
                asking = asyncio.create_task(
                    run(tmp_path, "ask", "What is known?", "--session", session_id)
                )
                async for line in stream.aiter_lines():
                    if line.startswith("data: "):
                        kinds.append(json.loads(line[6:])["type"])
                    if kinds[-1:] == ["turn_finished"]:
                        break
        assert (await asking)[0] == 0
        assert kinds[0] == "turn_started"
        assert "answer" in kinds
        _, text = await server.ask("GET", f"/api/sessions/{session_id}/messages")
        assert len(json.loads(text)["messages"]) >= 2


async def test_a_turn_ends_however_its_server_does(tmp_path: Path) -> None:
    """SIGTERM cancels it; after SIGKILL the next start closes it."""
    with model_server(None, None) as model:
        more = {"LLM_BASE_URL": model.url, "LLM_MODEL": "m", "LLM_API_KEY": "k" * 20}
        ends: list[str] = []
        for number in (signal.SIGTERM, signal.SIGKILL):
            async with serving_process(tmp_path, more=more) as server:
                _, text = await server.ask("POST", "/api/sessions", "{}")
                session_id = json.loads(text)["id"]
                turns = f"/api/sessions/{session_id}/turns"
                assert (await server.ask("POST", turns, '{"message": "Think."}'))[0] == 202
                await asyncio.to_thread(model.speaking.wait, WAIT_S)
                model.speaking.clear()
                await server.end(number)
            async with serving_process(tmp_path, more=more) as server:
                assert (await server.ask("GET", f"/api/sessions/{session_id}"))[0] == 200
                await server.end()
            async with open_app(settings_in(tmp_path)) as app:
                events = await app.journal.events(session_id)
                ends += [event.status for event in events if event.type == "turn_finished"]
                assert events[-1].type == "turn_finished"
        model.over.set()
    assert ends == ["cancelled", "failed"]


async def test_no_other_command_pays_for_the_server(tmp_path: Path) -> None:
    code = (
        "import sys; import nuncius.cli.main, nuncius.cli.commands, nuncius.cli.serve;"
        "heavy = {'fastapi', 'starlette', 'uvicorn', 'opentelemetry'} & set(sys.modules);"
        "sys.exit(f'imported: {heavy}' if heavy else 0)"
    )
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", code, env=environment(tmp_path)
    )
    assert await process.wait() == 0
