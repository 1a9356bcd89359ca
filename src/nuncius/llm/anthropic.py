"""Any server that speaks the Anthropic messages protocol, streamed."""

import re
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import aclosing
from typing import Any
from urllib.parse import urlsplit

from nuncius.core.errors import ContextOverflowError, ModelError
from nuncius.llm import anthropic_wire
from nuncius.llm.anthropic_stream import BlockAssembly
from nuncius.llm.dialects import ThinkingForm, thinking_forms
from nuncius.llm.exchange import Deadlines, Door, Exchange, is_loopback
from nuncius.llm.faults import Origin
from nuncius.llm.model import Completion, ModelChunk, ModelRequest

VERSION = "2023-06-01"
PAUSES = 4
"""How often a server may pause its turn before it counts as cut."""
_UNSUPPORTED = re.compile(
    r"not support|unsupported|adaptive|budget_tokens|thinking\.type", re.IGNORECASE
)


class AnthropicModel:
    """A `ChatModel` behind a server that speaks as Anthropic's does.

    Args:
        base_url: With or without ``/v1``.
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
        self._deadlines = deadlines or Deadlines()
        self._host = urlsplit(base_url).hostname or ""
        base = base_url.rstrip("/")
        url = f"{base}/messages" if base.endswith("/v1") else f"{base}/v1/messages"
        self._origin = Origin(self.name, url, api_key)
        self._forms = thinking_forms(model)

    @property
    def name(self) -> str:
        """Host and model, such as ``api.anthropic.com/claude-sonnet-4-6``."""
        return f"{self._host}/{self._model}"

    @property
    def local(self) -> bool:
        """Whether the server is this machine itself."""
        return is_loopback(self._host)

    async def stream(self, request: ModelRequest) -> AsyncIterator[ModelChunk]:
        """Answer `request` piece by piece.

        A model that refuses one form of thinking is asked in the next; what it takes is kept.

        Raises:
            ModelError: The service failed; `partial` holds what came before.
            KeyMissingError: No key, or it was refused.
            AccessDeniedError: The door refuses the address, or the machine is offline.
        """
        forms = self._forms if request.enable_thinking else ("none",)
        while True:
            form, *rest = forms
            begun = False
            try:
                async with aclosing(self._turn(request, form)) as chunks:
                    async for chunk in chunks:
                        begun = True
                        yield chunk
            except ModelError as error:
                if begun or not rest or not _about_thinking(error):
                    raise
                if _UNSUPPORTED.search(error.reason):
                    forms = self._forms = tuple(rest)
                else:  # it is the history that it does not take: only this request goes without
                    forms = ("none",)
            else:
                return

    async def _turn(self, request: ModelRequest, form: ThinkingForm) -> AsyncGenerator[ModelChunk]:
        """Ask once, and again as often as the server pauses to be called back."""
        body = anthropic_wire.body(
            request, model=self._model, service=self._origin.service, form=form
        )
        assembly = BlockAssembly(self._origin)
        for pause in range(PAUSES + 1):
            exchange = Exchange(self._origin, assembly, self._deadlines)
            async with aclosing(exchange.run(self._door, self._headers(form), body)) as chunks:
                async for chunk in chunks:
                    if not (isinstance(chunk, Completion) and assembly.paused and pause < PAUSES):
                        yield chunk
            if not assembly.paused or pause == PAUSES:
                return
            body = _going_on(body, assembly.resume(), pause)

    def _headers(self, form: ThinkingForm) -> Mapping[str, str]:
        headers = {"anthropic-version": VERSION}
        if self._key:
            headers["x-api-key"] = self._key
        if form == "budget":  # thoughts between calls; newer models have them without asking
            headers["anthropic-beta"] = "interleaved-thinking-2025-05-14"
        return headers


def _about_thinking(error: ModelError) -> bool:
    return (
        not error.retryable
        and not isinstance(error, ContextOverflowError)
        and "thinking" in error.reason.lower()
    )


def _going_on(body: Mapping[str, Any], blocks: list[dict[str, Any]], pause: int) -> dict[str, Any]:
    """Return the request that lets a paused server go on: what it said, given back."""
    messages = body["messages"][:-1] if pause else body["messages"]
    return {**body, "messages": [*messages, {"role": "assistant", "content": blocks}]}
