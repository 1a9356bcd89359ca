"""Read what services answer: JSON where JSON is due, and an error of one sentence where it is not."""

from collections.abc import Callable
from typing import Any, TypeVar

from nuncius.core.errors import NunciusError, UpstreamError
from nuncius.core.text import clean
from nuncius.walls.courtesy import RateLimitedError
from nuncius.walls.network import Reply

DAY_S = 86_400.0
T = TypeVar("T")
_QUOTED_CHARS = 300


class RefusedError(UpstreamError):
    """The service does not take the request as it was asked; asking the same again is useless."""

    exit_code = 2


def public_url(reply: Reply) -> str:
    """Return where an answer came from, without the query: it may be long."""
    return reply.url.split("?", 1)[0]


def looks_like_page(content: bytes) -> bool:
    """Tell whether the content is a web page, whatever its headers say."""
    start = content[:512].lstrip(b"\xef\xbb\xbf \t\r\n").lower()
    return start.startswith((b"<!doctype html", b"<html", b"<head"))


def quoted(text: str) -> str:
    """Return the first words of what a service said, on one line, for an error."""
    text = " ".join(clean(text).split())
    return text if len(text) <= _QUOTED_CHARS else f"{text[: _QUOTED_CHARS - 2]} …"


def read_json(service: str, reply: Reply) -> Any:
    """Return an answer's JSON.

    Raises:
        UpstreamError: It is a web page or something else.
    """
    if looks_like_page(reply.content):
        raise UpstreamError(
            service, public_url(reply),
            f"it answered with a web page instead of JSON (HTTP {reply.status})",
            hint="A proxy or a log-in page may stand between; try again later.",
        )  # fmt: skip
    try:
        return reply.json()
    except (UpstreamError, RecursionError, UnicodeDecodeError) as error:
        raise UpstreamError(
            service, public_url(reply),
            f"its answer is not JSON (HTTP {reply.status}): {quoted(reply.text[:400]) or 'empty'}",
            hint="Try again later.",
        ) from error  # fmt: skip


def too_busy(service: str, reply: Reply, *, said: str = "", hint: str = "") -> UpstreamError:
    """Return the error for a status that asks to come back later: 429, 499 and 5xx."""
    words = f": {quoted(said)}" if said.strip() else ""
    if reply.status == 429:
        return RateLimitedError(
            service, public_url(reply), f"it has had too many requests (HTTP 429){words}",
            hint=hint or "Wait some minutes, then ask again; what was found before is kept.",
        )  # fmt: skip
    return UpstreamError(
        service, public_url(reply), f"it is too busy or broken (HTTP {reply.status}){words}",
        hint=hint or "Try again in some minutes.",
    )  # fmt: skip


def read_once(read: Callable[[Reply], T]) -> Callable[[Reply], T]:
    """Return `read` with a memory of one answer: whether it is good is asked before it is used."""
    last: list[tuple[Reply, T]] = []

    def again(reply: Reply) -> T:
        if not last or last[0][0] is not reply:
            last[:] = [(reply, read(reply))]
        return last[0][1]

    return again


def is_good(
    read: Callable[[Reply], object], *, also: Callable[[Reply], bool] | None = None
) -> Callable[[Reply], bool]:
    """Return a test whether an answer can be read (and what `also` tests); only such are kept."""

    def test(reply: Reply) -> bool:
        try:
            read(reply)
        except NunciusError:
            return False
        return also is None or also(reply)

    return test
