"""Tools for models that know none: calls are read out of the text that they write.

Wraps any `ChatModel`; what comes out is an ordinary reply with calls, so the agent knows no
difference.
"""

import json
import re
from collections.abc import AsyncGenerator, AsyncIterator
from dataclasses import replace
from typing import Protocol

from nuncius.core.errors import ContextOverflowError, ModelError
from nuncius.core.messages import ToolCall
from nuncius.llm.faults import Origin, empty_reply
from nuncius.llm.model import (
    ChatModel,
    Completion,
    FinishReason,
    ModelChunk,
    ModelRequest,
    TextChunk,
    ThinkingChunk,
)
from nuncius.llm.schemas import reply_schema
from nuncius.llm.tool_text import (
    FENCE,
    OPENING,
    FormError,
    Mode,
    read_call,
    read_object,
    refused,
    rewrite,
)

_SCHEMA_REFUSED = re.compile(
    r"response_format|json_schema|json_object|grammar|guided|structured", re.IGNORECASE
)


class ToolsInText:
    """A `ChatModel` with tools, made of one without."""

    def __init__(self, model: ChatModel, mode: Mode) -> None:
        self._model = model
        self._mode: Mode = mode
        self._held = mode == "json_schema"

    @property
    def name(self) -> str:
        """The name of the model inside."""
        return self._model.name

    @property
    def degraded(self) -> str:
        """The limits of the model inside."""
        return self._model.degraded

    @property
    def local(self) -> bool:
        """Whether no text leaves this machine."""
        return self._model.local

    async def stream(self, request: ModelRequest) -> AsyncIterator[ModelChunk]:
        """Answer `request` piece by piece.

        A server that refuses to hold the reply to a schema is asked without from then on.

        Raises:
            ModelError, KeyMissingError, AccessDeniedError: As the model inside.
        """
        while True:
            begun = False
            chunks = self._once(request)
            try:
                async for chunk in chunks:
                    begun = True
                    yield chunk
            except ModelError as error:
                if begun or not self._held or not _about_schema(error):
                    raise
                self._held = False
            else:
                return
            finally:
                await chunks.aclose()

    async def _once(self, request: ModelRequest) -> AsyncGenerator[ModelChunk]:
        asked = replace(
            request,
            messages=rewrite(request.messages, request.tools, self._mode),
            tools=(),
            reply_schema=(
                reply_schema(request.tools)
                if request.tools and self._held
                else request.reply_schema
            ),
        )
        reply = _reader(self._mode, tools=bool(request.tools))
        chunks = self._model.stream(asked)
        try:
            async for chunk in chunks:
                if isinstance(chunk, TextChunk):
                    if shown := reply.feed(chunk.text):
                        yield TextChunk(shown)
                elif isinstance(chunk, ThinkingChunk):
                    yield chunk
                elif isinstance(chunk, Completion):
                    for last in self._end(reply, chunk):
                        yield last
        except ModelError as error:
            if error.partial:
                error.partial = replace(error.partial, content=reply.shown, tool_calls=())
            raise
        finally:
            if isinstance(chunks, AsyncGenerator):
                await chunks.aclose()

    def _end(self, reply: "_Reader", completion: Completion) -> list[ModelChunk]:
        """Return what is left to show, and the reply with its calls."""
        before = len(reply.shown)
        calls = (*reply.end(completion.finish), *completion.message.tool_calls)
        text = reply.shown.strip("\n")
        if not text.strip() and not calls:
            thought = bool(completion.message.thinking)
            raise empty_reply(Origin(self.name, ""), completion.finish, thought=thought)
        message = replace(completion.message, content=text, tool_calls=calls)
        finish: FinishReason = completion.finish
        if finish in {"stop", "tool_calls"}:
            finish = "tool_calls" if calls else "stop"
        rest = reply.shown[before:]
        done = replace(completion, message=message, finish=finish)
        return [TextChunk(rest), done] if rest else [done]


def _about_schema(error: ModelError) -> bool:
    return (
        not error.retryable
        and not isinstance(error, ContextOverflowError)
        and _SCHEMA_REFUSED.search(error.reason) is not None
    )


class _Reader(Protocol):
    """Reads one reply: `shown` is the text for people so far."""

    shown: str

    def feed(self, text: str) -> str:
        """Take more of what the model writes and return what more can be shown."""
        ...

    def end(self, finish: FinishReason) -> tuple[ToolCall, ...]:
        """Return the calls; `shown` may have grown."""
        ...


def _reader(mode: Mode, *, tools: bool) -> _Reader:
    if not tools:
        return _Plain()
    return _JsonReply() if mode == "json_schema" else _FencedReply()


class _Plain:
    """A reply that can hold no calls."""

    def __init__(self) -> None:
        self.shown = ""

    def feed(self, text: str) -> str:
        self.shown += text
        return text

    def end(self, finish: FinishReason) -> tuple[ToolCall, ...]:  # noqa: ARG002  (the protocol's)
        return ()


_ANSWER = re.compile(r'\s*(?:```(?:json)?\s*)?\{\s*"answer"\s*:\s*"')
_ESCAPE = re.compile(
    r'\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[0-9a-fA-F]{4}|u[0-9a-fA-F]{4}|["\\/bfnrt])'
)
_LONGEST_ESCAPE = 12
_FENCED = re.compile(r"```(?:json)?[ \t]*\n(.*)\n[ \t]*```", re.DOTALL)


class _JsonReply:
    """One JSON object; the text of an answer is shown while it still comes."""

    def __init__(self) -> None:
        self.shown = ""
        self._text = ""
        self._at: int | None = None
        self._prose = False

    def feed(self, text: str) -> str:
        self._text += text
        if self._prose:
            self.shown += text
            return text
        start = self._text.lstrip()
        if start and start[0] not in "{`":
            self._prose, self.shown = True, self._text
            return self.shown
        if self._at is None:
            opening = _ANSWER.match(self._text)
            if opening is None:
                return ""
            self._at = opening.end()
        piece = "".join(self._characters())
        self.shown += piece
        return piece

    def _characters(self) -> list[str]:
        """Return the answer's characters that are certain, up to its closing quote."""
        at, found = self._at or 0, list[str]()
        while at < len(self._text):
            if self._text[at] == '"':
                break
            if self._text[at] != "\\":
                step, character = 1, self._text[at]
            elif escape := _ESCAPE.match(self._text, at):
                half = "\ud800" <= (character := json.loads(f'"{escape[0]}"'))[0] <= "\udbff"
                step = len(escape[0])
                if half and len(character) == 1 and len(self._text) - at < _LONGEST_ESCAPE:
                    break  # the other half may follow
            else:
                break  # unfinished, or no escape at all: the end judges
            found.append(character)
            at += step
        self._at = at
        return found

    def end(self, finish: FinishReason) -> tuple[ToolCall, ...]:
        text = self._text.strip()
        if fenced := _FENCED.fullmatch(text):
            text = fenced[1]
        if not text or (self._prose and '"tool"' not in text):
            return ()
        if self._prose:
            return (refused(text, "there is text before the JSON object"),)
        if finish == "length" and self.shown:
            return ()  # an answer that the output limit cut
        try:
            value = read_object(text)
            if value.keys() == {"answer"} and isinstance(value["answer"], str):
                self._complete(value["answer"])
                return ()
            return (read_call(text),)
        except FormError as error:
            return (refused(text, str(error)),)

    def _complete(self, answer: str) -> None:
        """Show what is left of the answer."""
        if answer.startswith(self.shown):
            self.shown = answer


class _FencedReply:
    """Prose with fenced calls in it. A fence of another kind is prose, whatever is inside."""

    def __init__(self) -> None:
        self.shown = ""
        self._line = ""
        self._passed = 0
        self._block: list[str] | None = None
        self._quoting = False
        self._calls: list[ToolCall] = []

    def feed(self, text: str) -> str:
        before = len(self.shown)
        for piece in text.splitlines(keepends=True):
            self._line += piece
            if piece.endswith("\n"):
                self._line_ended()
            elif self._block is None and not _may_be_fence(self._line):
                self._show()
        return self.shown[before:]

    def end(self, finish: FinishReason) -> tuple[ToolCall, ...]:  # noqa: ARG002  (the protocol's)
        if self._line:
            self._line_ended()
        if self._block is not None:
            text = "".join(self._block)
            self._calls.append(refused(text, "the block has no end"))
        return tuple(self._calls)

    def _show(self) -> None:
        self.shown += self._line[self._passed :]
        self._passed = len(self._line)

    def _line_ended(self) -> None:
        line = self._line.strip()
        if self._block is not None:
            self._in_block(line)
        elif not self._quoting and line.startswith(FENCE + OPENING):
            self._block = [line.removeprefix(FENCE + OPENING)]
        else:
            if line.startswith(FENCE):
                self._quoting = not self._quoting or line.strip("`") != ""
            self._show()
        self._line, self._passed = "", 0

    def _in_block(self, line: str) -> None:
        assert self._block is not None
        if line != FENCE:
            self._block.append(self._line)
            return
        text, self._block = "".join(self._block), None
        try:
            self._calls.append(read_call(text))
        except FormError as error:
            self._calls.append(refused(text, str(error)))


def _may_be_fence(line: str) -> bool:
    start = line.lstrip(" \t")[: len(FENCE)]
    return FENCE.startswith(start)
