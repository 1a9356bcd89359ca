"""The command as a process: a client of the SDK, and raw lines on its pipes."""

import asyncio
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import AsyncGenerator, Callable, Generator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import IO, Any

import pytest
from mcp import Client, MCPError, StdioServerParameters, stdio_client
from mcp.types import CallToolResult, TextContent

from nuncius.mcp.stdio import MAX_LINE_BYTES, split

INITIALIZE = {
    "protocolVersion": "2025-06-18",
    "capabilities": {},
    "clientInfo": {"name": "raw", "version": "1"},
}


def text(result: CallToolResult) -> str:
    assert isinstance(result.content[0], TextContent)
    return result.content[0].text


@asynccontextmanager
async def client_of(command: StdioServerParameters, mode: Any, log: Path) -> AsyncGenerator[Client]:
    with log.open("w") as file:
        async with Client(stdio_client(command, errlog=file), mode=mode) as client:
            yield client


@pytest.mark.parametrize("mode", ["2026-07-28", "legacy"])
async def test_a_client_searches_checks_and_cancels(
    mode: str,
    command: StdioServerParameters,
    tmp_path: Path,
    handle_in: Callable[[str, str], str],
) -> None:
    told: list[float] = []

    async def note(progress: float, total: float | None, message: str | None) -> None:
        told.append(progress)

    log = tmp_path / "stderr"
    async with client_of(command, mode, log) as client, asyncio.timeout(60):
        assert "rag_search" in {tool.name for tool in (await client.list_tools()).tools}

        found = text(await client.call_tool("rag_search", {"query": "mass of PSR J0740+6620"}))
        handle = handle_in(found, "2.08")
        answer = await client.call_tool(
            "check_answer", {"text": f"It has 2.08 solar masses {handle}."}
        )
        assert text(answer).startswith("It has 2.08 solar masses [1].")
        assert answer.structured_content["citations"][0]["check"] == "exact"

        unknown = await client.call_tool("get_paper_content", {"paper_id": "nosuch99"})
        assert unknown.is_error
        assert "nosuch99" in text(unknown)
        with pytest.raises(MCPError):
            await client.call_tool("file_write", {"path": "x", "content": "x"})

        rested = await asyncio.gather(
            client.call_tool("doze", {"seconds": 1}, progress_callback=note),
            client.call_tool("doze", {"seconds": 0.5}),
        )
        assert [text(result) for result in rested] == ["rested", "rested"]
        assert told == sorted(set(told))
        assert told[-1] > 0.5

        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.5):
                await client.call_tool("doze", {"seconds": 60})
        assert not (await client.call_tool("glob_files", {"pattern": "*.md"})).is_error
    assert "this must not reach the protocol" in log.read_text()


# --- raw pipes ---


class Server:
    """A server process and the lines that go to and fro."""

    def __init__(self, process: "subprocess.Popen[bytes]") -> None:
        assert process.stdin
        assert process.stdout
        self.process = process
        self.stdin: IO[bytes] = process.stdin
        self.stdout: IO[bytes] = process.stdout

    def write(self, line: bytes) -> None:
        self.stdin.write(line + b"\n")
        self.stdin.flush()

    def send(self, method: str, params: dict[str, Any], request_id: int | None = None) -> None:
        message: dict[str, Any] = {"jsonrpc": "2.0", "method": method, "params": params}
        if request_id is not None:
            message["id"] = request_id
        self.write(json.dumps(message).encode())

    def read(self) -> dict[str, Any]:
        return json.loads(self.stdout.readline())

    def ask(self, method: str, params: dict[str, Any], request_id: int) -> dict[str, Any]:
        self.send(method, params, request_id)
        answer = self.read()
        assert answer["id"] == request_id
        return answer

    def end(self) -> float:
        """Wait for the end of the process and return how long it took, in seconds."""
        began = time.monotonic()
        self.process.wait(timeout=20)
        return time.monotonic() - began


@contextmanager
def started(command: StdioServerParameters) -> Generator[Server]:
    with subprocess.Popen[bytes](
        [command.command, *command.args],
        env=command.env,
        cwd=command.cwd,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        server = Server(process)
        try:
            server.ask("initialize", INITIALIZE, 0)
            server.send("notifications/initialized", {})
            yield server
        finally:
            process.kill()


def call(name: str, **arguments: Any) -> dict[str, Any]:
    return {"name": name, "arguments": arguments}


def test_broken_lines_are_answered_and_end_nothing(command: StdioServerParameters) -> None:
    with started(command) as server:
        for line, code, request_id in (
            (b"no json", -32700, None),
            (b"\xff\xfe", -32700, None),
            (b'{"jsonrpc": "2.0", "method": "tools/list", "id": "\\ud800"}', -32600, None),
            (b"[" * 100_000, -32700, None),
            (b"[]", -32600, None),
            (b"7", -32600, None),
            (b'{"id": 7}', -32600, 7),
            (b'{"jsonrpc": "1.0", "method": "ping", "id": "a"}', -32600, "a"),
            (b'"' + b"x" * (MAX_LINE_BYTES + 10) + b'"', -32600, None),
        ):
            server.write(line)
            answer = server.read()
            assert (answer["error"]["code"], answer["id"]) == (code, request_id), line[:60]
        server.write(b"")  # nothing is nothing
        for params in ({}, {"name": 3}, {"name": "rag_search", "arguments": [1]}):
            assert server.ask("tools/call", params, 8)["error"]["code"] == -32602
        assert server.ask("no/such", {}, 9)["error"]["code"] == -32601
        deep: dict[str, Any] = {}
        for _ in range(100):
            deep = {"a": deep}
        assert server.ask("tools/call", call("rag_search", query=deep), 10)["result"]["isError"]
        fine = server.ask("tools/call", call("glob_files", pattern="*.md"), 11)
        assert "neutron-stars.md" in fine["result"]["content"][0]["text"]


def test_the_end_of_stdin_ends_the_process_though_a_call_runs(
    command: StdioServerParameters,
) -> None:
    with started(command) as server:
        server.send("tools/call", call("doze", seconds=60) | {"_meta": {"progressToken": 1}}, 1)
        assert server.read()["method"] == "notifications/progress"
        server.stdin.close()
        assert server.end() < 2  # alone on the machine: 0.5 s
        rest = server.stdout.read().splitlines()
        assert all(json.loads(line)["jsonrpc"] == "2.0" for line in rest)
        assert server.process.returncode == 0
    listed = subprocess.run(
        [command.command, "-m", "nuncius", "sessions", "list", "--json"],
        env=command.env,
        cwd=command.cwd,
        capture_output=True,
        check=True,
    )
    (session,) = json.loads(listed.stdout)["sessions"]
    assert session["title"] == "mcp: raw"
    assert session["status"] == "cancelled"


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_the_process_though_the_client_is_silent_and_does_not_read(
    number: int, command: StdioServerParameters
) -> None:
    with started(command) as server:
        for n in range(40):  # more than a pipe holds
            server.send("tools/list", {}, n)
        time.sleep(0.5)
        server.process.send_signal(number)
        assert server.end() < 4
        assert server.process.returncode == 0
        assert server.process.stderr
        assert server.process.stderr.read() == b""


def test_a_client_that_reads_no_more_ends_the_process(command: StdioServerParameters) -> None:
    with started(command) as server:
        server.stdout.close()
        server.send("tools/list", {}, 1)
        assert server.end() < 4
        assert server.process.returncode == 0


@pytest.mark.parametrize("place", ["/", "home", "chosen"])
def test_an_assistant_that_starts_it_anywhere_does_not_get_every_file(
    place: str, command: StdioServerParameters, tmp_path: Path
) -> None:
    command.cwd = "/" if place == "/" else tmp_path  # which is HOME
    if place == "chosen":
        command.env = {**(command.env or {}), "NUNCIUS_PROJECT_DIR": str(tmp_path)}
    private = tmp_path / "diary.txt"
    private.write_text("dear diary")
    with started(command) as server:
        read = server.ask("tools/call", call("read_file", path=str(private)), 1)["result"]
        listed = server.ask("tools/call", call("glob_files", pattern="**/*"), 2)["result"]
    assert read["isError"] == (place != "chosen")
    assert ("dear diary" in str(read)) == (place == "chosen")
    assert ("diary.txt" in str(listed)) == (place == "chosen")


def test_without_the_extra_the_command_says_what_to_install(
    command: StdioServerParameters,
) -> None:
    program = "import sys; sys.modules['mcp'] = None; from nuncius.cli.main import run; run()"
    ran = subprocess.run(
        [sys.executable, "-c", program, "mcp"],
        env=command.env,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (ran.returncode, ran.stdout) == (1, "")
    assert "pip install 'nuncius[mcp]'" in ran.stderr


def test_the_command_line_does_not_import_the_sdk() -> None:
    program = (
        "import sys, nuncius.cli.commands, nuncius.cli.main, nuncius.mcp;"
        "print([n for n in sys.modules if n.partition('.')[0] in ('mcp', 'mcp_types', 'anyio')])"
    )
    ran = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, env=os.environ
    )
    assert ran.stdout.strip() == "[]"


# --- lines ---


def test_lines_come_out_as_they_went_in_however_they_are_cut() -> None:
    whole = b"one\n\ntwo " + b"x" * 50 + b"\nlast"
    for size in range(1, 20):
        chunks = [whole[at : at + size] for at in range(0, len(whole), size)] + [b""]
        assert list(split(iter(chunks).__next__)) == [b"one", b"two " + b"x" * 50, b"last"]


def test_a_line_without_end_takes_no_memory_and_the_next_is_read() -> None:
    chunk = b"x" * 1_000_000
    chunks = iter([chunk] * 20 + [b"\nnext\n", b""])
    long, after = split(chunks.__next__)
    assert len(long) == MAX_LINE_BYTES + 1
    assert after == b"next"
