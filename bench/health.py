"""How soon the server answers while a command of the agent is a fork bomb.

A server on loopback in a process of its own, whose model asks for the bomb in the sandbox, and one
client that asks ``/api/health`` (which waits for the event loop) and the list of sessions (which
reads the database) over and over: at rest, and for as long as the bomb runs.

Run it as: ``python bench/health.py [--seconds 5]``
"""

import argparse
import asyncio
import json
import sys
import tempfile
import time
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import httpx2

from nuncius.api.server import serving
from nuncius.app.serving import open_served
from nuncius.core.settings import Settings
from nuncius.llm.scripted import Reply, ScriptedModel
from nuncius.walls.spawn import sandbox_failure

LIMIT_S = 120
"""The whole bench ends after this, whatever happens."""
TARGET_MS = 200
BOMB = """
bomb() { (( $1 )) && { bomb $(($1 - 1)) & bomb $(($1 - 1)) & }; while :; do :; done; }
bomb 11 2>/dev/null &
while (( SECONDS < {seconds} )); do :; done
"""
"""Its processes compute instead of waiting; 4,095 at most, where no limit holds."""


async def serve(folder: Path, seconds: int) -> None:
    home = folder / "home"
    settings = Settings(
        home=home, library_dir=home / "library", skills_dir=home / "skills",
        project_dir=folder / "project", database_url=f"sqlite:///{home / 'nuncius.db'}",
        offline=True,
    )  # fmt: skip
    command = json.dumps({"command": BOMB.replace("{seconds}", str(seconds))})
    async with open_served(settings) as app, serving(app, port=0) as served:
        model = ScriptedModel([Reply(calls=[("run_bash", command)]), "It is over."])
        app.model = lambda name="": model  # type: ignore[method-assign]
        token = (home / "token").read_text().strip()
        print(json.dumps({"port": served.port, "token": token}), flush=True)
        await asyncio.to_thread(sys.stdin.readline)


@asynccontextmanager
async def server(folder: Path, seconds: int) -> AsyncGenerator[httpx2.AsyncClient]:
    process = await asyncio.create_subprocess_exec(
        sys.executable, __file__, "--serve", str(folder), "--seconds", str(seconds),
        stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE,
    )  # fmt: skip
    assert process.stdout is not None
    try:
        told = json.loads(await process.stdout.readline())
        async with httpx2.AsyncClient(
            base_url=f"http://127.0.0.1:{told['port']}/api",
            headers={"Authorization": f"Bearer {told['token']}"},
            timeout=LIMIT_S,
            trust_env=False,
        ) as client:
            yield client
    finally:
        await process.communicate(b"\n")


async def took_ms(client: httpx2.AsyncClient, path: str) -> float:
    began = time.perf_counter()
    (await client.get(path, headers={"Connection": "close"})).raise_for_status()
    return (time.perf_counter() - began) * 1000


async def measure(folder: Path, seconds: int) -> int:
    (folder / "project").mkdir()
    found: dict[str, dict[str, list[float]]] = {}
    async with server(folder, seconds) as client, asyncio.timeout(LIMIT_S):
        session = (await client.post("/sessions", json={})).json()["id"]
        for state in ("at rest", "fork bomb"):
            if state == "fork bomb":
                body = {"message": "Go.", "mode": "auto"}
                (await client.post(f"/sessions/{session}/turns", json=body)).raise_for_status()
            end = time.monotonic() + seconds
            times = found[state] = {"/health": [], "/sessions": []}
            while time.monotonic() < end:
                for path, list_ms in times.items():
                    list_ms.append(await took_ms(client, path))
                await asyncio.sleep(0.01)
        while (await client.get(f"/sessions/{session}")).json()["status"] == "running":  # noqa: ASYNC110
            await asyncio.sleep(0.1)
        messages = (await client.get(f"/sessions/{session}/messages")).json()["messages"]
    print(next(one["content"] for one in messages if one["role"] == "tool").partition("\n")[0])
    for state, times in found.items():
        for path, all_ms in times.items():
            ms = sorted(all_ms)
            p50, p99 = ms[len(ms) // 2], ms[int(0.99 * (len(ms) - 1))]
            print(f"{state:9} {path:9} {len(ms):5} answers, p50 {p50:.1f} ms, p99 {p99:.1f} ms,"
                  f" longest {ms[-1]:.1f} ms (target {TARGET_MS} ms)")  # fmt: skip
    return 0


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--seconds", type=int, default=5)
    parser.add_argument("--serve", type=Path)
    options = parser.parse_args()
    if options.serve:
        asyncio.run(serve(options.serve, options.seconds))
        return 0
    if failure := sandbox_failure():
        print(f"no sandbox ({failure}): nothing to measure")
        return 0
    with tempfile.TemporaryDirectory(prefix="nuncius-health-") as folder:
        return asyncio.run(measure(Path(folder), options.seconds))


if __name__ == "__main__":
    sys.exit(main())
