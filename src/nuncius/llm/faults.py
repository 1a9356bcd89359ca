"""What a provider's failure means: which error, and whether trying again makes sense. Pure."""

import json
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any, NoReturn

from nuncius.core.errors import (
    ContextOverflowError,
    EmptyReplyError,
    KeyMissingError,
    ModelError,
    NunciusError,
    StreamCutError,
)
from nuncius.core.shapes import is_list, is_object
from nuncius.core.text import clean

RETRY_AFTER_CAP_S = 60.0
"""Longest wait before the next try, whatever the server asks for."""
RETRYABLE = frozenset({408, 409, 425, 429, 529})
_OVERFLOW = re.compile(
    r"context_length_exceeded|maximum context|context[ _](?:length|window|size)|prompt is too long"
    r"|too many (?:input )?tokens|input (?:is too long|length)|reduce the length"
    r"|exceeds? the (?:model'?s? )?(?:available )?(?:context|maximum (?:number of )?tokens)",
    re.IGNORECASE,
)
_QUOTA = re.compile(
    r"insufficient[_ ](?:quota|balance|funds|credits?)|arrear|billing|exceeded your current quota"
    r"|overdue|payment|not enough credits?|quota[_ ]exhausted",
    re.IGNORECASE,
)
_KEY = re.compile(
    r"invalid[_ ](?:api[_ ]?)?key|incorrect api key|authentication|unauthori[sz]ed"
    r"|permission_denied",
    re.IGNORECASE,
)
_AGAIN = re.compile(
    r"overloaded|rate[_ ]?limit|too many requests|timeout|timed out|temporar|try again"
    r"|unavailable|internal|server_error|tool_use_failed|busy|capacity",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Origin:
    """Who is spoken to.

    Attributes:
        service: What errors call it, such as ``openai/gpt-5``.
        secret: The key, to be taken out of whatever the server says.
    """

    service: str
    url: str
    secret: str = ""

    def words(self, text: str, limit: int = 300) -> str:
        """Return the server's words: one clean line, bounded, without the key."""
        text = " ".join(clean(text).split())
        if len(self.secret) >= 6:
            text = text.replace(self.secret, "[key]")
        return text if len(text) <= limit else text[: limit - 1] + "…"

    def cut(self, reason: str) -> StreamCutError:
        """Return the error for a stream that ended too soon."""
        return StreamCutError(self.service, self.url, reason, retryable=True)

    def error(self, reason: str, *, retryable: bool = False, hint: str = "") -> ModelError:
        """Return an error with these words."""
        return ModelError(
            self.service, self.url, self.words(reason), retryable=retryable, hint=hint
        )


def retry_after_s(headers: Mapping[str, str], *, now: datetime | None = None) -> float | None:
    """Return the seconds a server asks to wait, 0 to the cap; None where it says nothing sensible.

    Reads ``retry-after-ms``, then ``retry-after`` as seconds or as an HTTP date.
    """
    lower = {key.lower(): value for key, value in headers.items()}
    for name, unit_s in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        value = lower.get(name, "").strip()
        seconds = _seconds(value, now or datetime.now(UTC))
        if seconds is not None:
            return min(max(seconds * unit_s, 0.0), RETRY_AFTER_CAP_S)
    return None


def _seconds(value: str, now: datetime) -> float | None:
    try:
        seconds = float(value)
    except ValueError:
        try:
            when = parsedate_to_datetime(value)
        except (ValueError, TypeError):
            return None
        return (when.replace(tzinfo=when.tzinfo or UTC) - now).total_seconds()
    return seconds if math.isfinite(seconds) else None


def status_error(
    origin: Origin, status: int, body: str, headers: Mapping[str, str]
) -> NunciusError:
    """Return the error for an HTTP answer that is no success."""
    words = origin.words(_message(body)) or "no explanation"
    wait_s = retry_after_s(headers)
    return _classify(origin, status, words, wait_s, code="")


def payload_error(origin: Origin, error: Any) -> NunciusError:
    """Return the error for an ``error`` object inside a stream that began with status 200."""
    fields = error if is_object(error) else {"message": error}
    code = str(fields.get("code") or "")
    kind = str(fields.get("type") or "")
    status = int(code) if code.isdecimal() and 400 <= int(code) < 600 else 0
    status = status or _plain_status(fields.get("status"))
    words = origin.words(_text(fields.get("message")) or _text(error) or "no explanation")
    return _classify(origin, status, words, None, code=f"{code} {kind}")


def _classify(
    origin: Origin, status: int, words: str, wait_s: float | None, *, code: str
) -> NunciusError:
    said = f"{code} {words}"
    label = f"{words} (HTTP {status})" if status else words
    if status in {401, 403} or (not status and _KEY.search(said)):
        return KeyMissingError(
            f"The language model's server refused the key: {label} ({origin.url}).",
            hint="Check LLM_API_KEY and LLM_BASE_URL.",
        )
    if status == 413 or (status in {0, 400, 422} and _OVERFLOW.search(said)):
        return ContextOverflowError(
            origin.service,
            origin.url,
            f"the conversation is too long for the model: {label}",
            hint="Start a new session, or choose a model with a longer context.",
        )
    quota = status == 402 or _QUOTA.search(said) is not None
    server = status >= 500 or status in RETRYABLE or (status in {0, 400} and _AGAIN.search(said))
    hint = ""
    if quota:
        hint = "The account has no credit left; the provider's site tells more."
    elif status == 404:
        hint = "Check LLM_MODEL and LLM_BASE_URL."
    return ModelError(
        origin.service,
        origin.url,
        label,
        retryable=bool(server) and not quota,
        retry_after_s=wait_s,
        hint=hint,
    )


def _message(body: str) -> str:
    """Return what an error body says: its message where it is JSON, else its text without tags."""
    try:
        value = json.loads(body)
    except (ValueError, RecursionError):
        return re.sub(r"<[^<>]*>", " ", body[:20_000])
    if is_list(value) and value:
        value = value[0]
    if is_object(value):
        error = value.get("error", value)
        if is_object(error):
            parts = (error.get("code"), error.get("type"), error.get("message"))
            return " ".join(str(part) for part in parts if part and part != "None")
        return str(error)
    return str(value)


def _text(value: Any) -> str:
    return value if isinstance(value, str) else "" if value is None else str(value)


def _plain_status(value: Any) -> int:
    return value if isinstance(value, int) and 400 <= value < 600 else 0


def empty_reply(origin: Origin, finish: str, *, thought: bool) -> NunciusError:
    """Return the error for a reply that ended well, without text and without calls.

    Args:
        thought: Whether the model had thought.
    """
    after = " after thinking" if thought else ""
    if finish == "length":
        return origin.error(
            f"the model reached its output limit{after} without a word of answer",
            hint="Raise LLM_MAX_OUTPUT_TOKENS or turn thinking off.",
        )
    if finish == "content_filter":
        return origin.error("the provider's content filter withheld the reply")
    return EmptyReplyError(
        origin.service,
        origin.url,
        f"the model ended{after} without text and without calls",
        retryable=True,
    )


def no_answer(origin: Origin, body: str) -> NoReturn:
    """Raise the error for a success that carries no model's answer, such as a log-in page.

    Raises:
        ModelError: Always.
    """
    words = origin.words(re.sub(r"<[^<>]*>", " ", body[:20_000]), 120) or "nothing"
    raise origin.error(
        f"the server answered with something that is no model's reply: {words}",
        hint="Check LLM_BASE_URL: it usually ends in /v1.",
    )
