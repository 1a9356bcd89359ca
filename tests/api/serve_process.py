"""`nuncius serve` as a process of its own, and other commands beside it."""

import asyncio
import os
import re
import signal
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from api.served import WAIT_S, raw


def environment(home: Path, **more: str) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if name in {"PATH", "LANG"}}
    return {**kept, "HOME": str(home), "NUNCIUS_HOME": str(home / "home"), **more}


async def start(
    home: Path, *arguments: str, more: Mapping[str, str] | None = None, open_files: int = 0
) -> Process:
    """Start a command in a folder whose home is `home`; `open_files` is a limit it cannot raise."""
    limited = ("sh", "-c", f'ulimit -n {open_files} && exec "$@"', "sh") if open_files else ()
    return await asyncio.create_subprocess_exec(
        *limited, sys.executable, "-m", "nuncius", *arguments,
        env=environment(home, **(more or {})), cwd=home, stdin=asyncio.subprocess.DEVNULL,
        stdout=PIPE, stderr=PIPE,
    )  # fmt: skip


async def run(
    home: Path, *arguments: str, more: Mapping[str, str] | None = None
) -> tuple[int, str, str]:
    """Run a command to its end."""
    process = await start(home, *arguments, more=more)
    async with asyncio.timeout(WAIT_S * 2):
        out, err = await process.communicate()
    return process.returncode or 0, out.decode(), err.decode()


@dataclass(slots=True)
class Serving:
    """A server process that listens."""

    process: Process
    link: str
    port: int
    token: str

    async def ask(self, method: str, path: str, body: str | None = None) -> tuple[int, str]:
        """Send one request with the token."""
        headers = {
            "Host": f"127.0.0.1:{self.port}",
            "Authorization": f"Bearer {self.token}",
            "Content-Type": "application/json",
        }
        status, _, text = await raw(self.port, method, path, headers, body)
        return status, text

    async def end(self, number: int = signal.SIGTERM) -> tuple[int, str]:
        """Send a signal and return exit code and stderr."""
        self.process.send_signal(number)
        async with asyncio.timeout(WAIT_S):
            _, err = await self.process.communicate()
        return self.process.returncode or 0, err.decode()


@asynccontextmanager
async def serving_process(
    home: Path,
    *arguments: str,
    port: int = 0,
    more: Mapping[str, str] | None = None,
    open_files: int = 0,
) -> AsyncGenerator[Serving]:
    """Start `nuncius serve` and wait for its link; it is gone after the block."""
    words = ("serve", "--no-browser", "--port", str(port), *arguments)
    process = await start(home, *words, more=more, open_files=open_files)
    try:
        assert process.stdout is not None
        async with asyncio.timeout(WAIT_S):
            link = (await process.stdout.readline()).decode().strip()
        found = re.match(r"http://127\.0\.0\.1:(\d+)/sign-in\?nonce=", link)
        assert found, (link, (await process.communicate())[1].decode())
        token = (home / "home" / "token").read_text().strip()
        yield Serving(process, link, int(found[1]), token)
    finally:
        if process.returncode is None:
            process.kill()
            await process.communicate()
