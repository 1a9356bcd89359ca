"""A language model's server on this machine, for tests that need a real one."""

import json
import threading
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


class Served(ThreadingHTTPServer):
    """Answers each request with the next of `replies`; None: begins to speak and never ends."""

    daemon_threads = True

    def __init__(self, replies: Sequence[dict[str, Any] | int | None]) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.replies = list(replies)
        self.speaking = threading.Event()
        self.over = threading.Event()
        self.asked: list[dict[str, Any]] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/v1"


class _Handler(BaseHTTPRequestHandler):
    server: Served  # pyright: ignore[reportIncompatibleVariableOverride]

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["content-length"]))
        self.server.asked.append(json.loads(body))
        reply = self.server.replies.pop(0) if self.server.replies else {"content": "No more."}
        if isinstance(reply, int):
            self.send_response(reply)
            self.send_header("content-length", "2")
            self.end_headers()
            self.wfile.write(b"{}")
            return
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.end_headers()
        if reply is None:
            self._send({"content": "I am thinking about it"}, None)
            self.server.speaking.set()
            self.server.over.wait(30)
            return
        self._send(reply, None)
        self._send({}, "tool_calls" if reply.get("tool_calls") else "stop")
        self.wfile.write(b"data: [DONE]\n\n")

    def _send(self, delta: dict[str, Any], finish: str | None) -> None:
        choice = {"index": 0, "delta": {"role": "assistant", **delta}, "finish_reason": finish}
        chunk = {"id": "c", "object": "chat.completion.chunk", "model": "m", "choices": [choice]}
        self.wfile.write(f"data: {json.dumps(chunk)}\n\n".encode())
        self.wfile.flush()

    def log_message(self, *_: object) -> None:  # pyright: ignore[reportIncompatibleMethodOverride]
        """Say nothing."""


def call(name: str, **arguments: object) -> dict[str, Any]:
    """Return a reply that calls one tool."""
    function = {"name": name, "arguments": json.dumps(arguments)}
    return {"tool_calls": [{"index": 0, "id": "x", "type": "function", "function": function}]}


@contextmanager
def serve(*replies: dict[str, Any] | int | None) -> Generator[Served]:
    """Serve `replies` until the block ends."""
    server = Served(replies)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield server
    finally:
        server.over.set()
        server.shutdown()
        thread.join()
        server.server_close()
