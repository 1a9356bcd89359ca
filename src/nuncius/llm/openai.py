"""Any server that speaks the OpenAI chat protocol, streamed."""

from collections.abc import AsyncIterator
from contextlib import aclosing
from urllib.parse import urlsplit

from nuncius.llm import wire
from nuncius.llm.accumulate import Accumulator
from nuncius.llm.dialects import dialect_of
from nuncius.llm.exchange import Deadlines, Door, Exchange, Reply, is_loopback
from nuncius.llm.faults import Origin
from nuncius.llm.model import Completion, ModelChunk, ModelRequest


class OpenAIModel:
    """A `ChatModel` behind an OpenAI-compatible server.

    Args:
        base_url: Up to, and without, ``/chat/completions``.
        api_key: Empty for a server that wants none.
    """

    degraded = ""

    def __init__(
        self,
        door: Door,
        *,
        base_url: str,
        model: str,
        api_key: str = "",
        deadlines: Deadlines | None = None,
    ) -> None:
        self._door = door
        self._model = model
        self._key = api_key
        self._dialect = dialect_of(base_url, model)
        self._deadlines = deadlines or Deadlines()
        self._host = urlsplit(base_url).hostname or ""
        url = f"{base_url.rstrip('/')}/chat/completions"
        self._origin = Origin(self.name, url, api_key)

    @property
    def name(self) -> str:
        """Host and model, such as ``api.openai.com/gpt-5``."""
        return f"{self._host}/{self._model}"

    @property
    def local(self) -> bool:
        """Whether the server is this machine itself."""
        return is_loopback(self._host)

    async def stream(self, request: ModelRequest) -> AsyncIterator[ModelChunk]:
        """Answer `request` piece by piece.

        Raises:
            ModelError: The service failed; `partial` holds what came before.
            KeyMissingError: No key, or it was refused.
            AccessDeniedError: The door refuses the address, or the machine is offline.
        """
        assembly = Accumulator(self._origin, max_output_tokens=request.max_output_tokens)
        exchange = Exchange(self._origin, assembly, self._deadlines)
        body = wire.body(
            request, model=self._model, dialect=self._dialect, service=self._origin.service
        )
        headers = {"authorization": f"Bearer {self._key}"} if self._key else {}
        async with aclosing(exchange.run(self._door, headers, body)) as chunks:
            async for chunk in chunks:
                yield chunk


__all__ = ["Completion", "Deadlines", "Door", "OpenAIModel", "Reply"]
