"""A network of our own for tests: names, addresses and servers, no socket leaves the process."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import httpcore2
from typing_extensions import override

Answer = Callable[[str, bytes], bytes]
"""Given the Host header and the raw request, the raw response."""


def response(status: int = 200, body: bytes = b"ok", **headers: str) -> bytes:
    head = [f"HTTP/1.1 {status} X", f"Content-Length: {len(body)}", "Connection: close"]
    head += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
    return "\r\n".join(head).encode() + b"\r\n\r\n" + body


class _Stream(httpcore2.AsyncMockStream):
    def __init__(self, wire: "Wire") -> None:
        super().__init__([])
        self._wire = wire
        self._sent = b""
        self._answer: bytes | None = None

    @override
    async def write(self, buffer: bytes, timeout: float | None = None) -> None:
        self._sent += buffer

    @override
    async def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        if self._answer is None:
            lines = self._sent.split(b"\r\n\r\n")[0].decode("latin-1").split("\r\n")
            host = next(line[6:] for line in lines if line.lower().startswith("host: "))
            self._wire.requests.append((host, self._sent))
            self._answer = self._wire.answer(host, self._sent)
        piece, self._answer = self._answer[:max_bytes], self._answer[max_bytes:]
        return piece

    @override
    def get_extra_info(self, info: str) -> Any:
        return None


class Wire(httpcore2.AsyncNetworkBackend):
    """Answers every connection and remembers which address was dialled."""

    def __init__(self, answer: Answer = lambda _host, _request: response()) -> None:
        self.answer = answer
        self.dialled: list[tuple[str, int]] = []
        self.requests: list[tuple[str, bytes]] = []

    @override
    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore2.AsyncNetworkStream:
        self.dialled.append((host, port))
        return _Stream(self)


class Names:
    """A resolver: fixed answers, or a sequence of answers one after the other."""

    def __init__(self, *answers: Sequence[str], **named: Sequence[str]) -> None:
        self._answers = list(answers)
        self._named = {name.replace("_", "."): answer for name, answer in named.items()}
        self.asked: list[str] = []

    async def __call__(self, name: str) -> Sequence[str]:
        self.asked.append(name)
        if name in self._named:
            return self._named[name]
        if not self._answers:
            raise OSError(f"no such name {name}")
        return self._answers.pop(0) if len(self._answers) > 1 else self._answers[0]
