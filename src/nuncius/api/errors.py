"""Errors as HTTP shows them: ``{"error": {"code", "message", "hint"}}`` with the right status."""

import logging
import re
from collections.abc import Sequence
from http import HTTPStatus
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from pydantic import BaseModel, ConfigDict
from starlette.exceptions import HTTPException
from starlette.responses import Response

from nuncius.core.errors import (
    AccessDeniedError,
    ConfidentialError,
    DatabaseBusyError,
    DocumentError,
    KeyMissingError,
    NotFoundError,
    NunciusError,
    SessionBusyError,
    SettingsError,
    StoreError,
    ToolError,
    UpstreamError,
    UsageError,
)

log = logging.getLogger(__name__)

_STATUS: Sequence[tuple[type[NunciusError], int]] = (
    (NotFoundError, 404),
    (AccessDeniedError, 403),
    (ConfidentialError, 403),
    (SessionBusyError, 409),
    (DatabaseBusyError, 503),
    (StoreError, 500),
    (UpstreamError, 502),
    (KeyMissingError, 502),
    (UsageError, 422),
    (SettingsError, 422),
    (DocumentError, 422),
    (ToolError, 422),
)
_SHOWN_FAULTS = 3
_HINTS = {
    401: "nuncius serve prints the link; the token is in the file `token` of the home.",
    405: "See /api/openapi.json for the methods of each path.",
    404: "See /api/openapi.json for all paths.",
}


class ErrorFacts(BaseModel):
    """What went wrong."""

    model_config = ConfigDict(use_attribute_docstrings=True)

    code: str
    """One word for programs, such as ``not_found``."""
    message: str
    """What was asked and what happened."""
    hint: str
    """What to do next; may be empty."""


class ErrorReply(BaseModel):
    """The body of every answer that is no success."""

    error: ErrorFacts


class ConflictError(NunciusError):
    """The request is well formed and does not fit what is there now."""


class StoppingError(NunciusError):
    """The server is ending and takes nothing new."""


def reply(status: int, code: str, message: str, hint: str = "") -> JSONResponse:
    """Return an error as the body that every route shares."""
    facts = ErrorFacts(code=code, message=_storable(message), hint=_storable(hint))
    return JSONResponse(ErrorReply(error=facts).model_dump(), status)


def refusal(status: int, message: str) -> Response:
    """Return the answer to a request that is not let in."""
    answer = reply(status, _code(status), message, _HINTS.get(status, ""))
    if status == 401:
        answer.headers["www-authenticate"] = "Bearer"
    answer.headers["connection"] = "close"  # what is left of its body is not read
    return answer


def install(app: FastAPI) -> None:
    """Have all errors of routes told in one shape."""
    app.add_exception_handler(NunciusError, _ours)
    app.add_exception_handler(RequestValidationError, _invalid)
    app.add_exception_handler(HTTPException, _http)
    app.add_exception_handler(Exception, _broken)


async def _ours(_request: Request, error: Exception) -> Response:
    assert isinstance(error, NunciusError)
    status = status_of(error)
    if status == 500:
        log.error("a request failed: %s", error)
    return reply(status, kind_of(error), error.message, error.hint)


async def _invalid(_request: Request, error: Exception) -> Response:
    """Say which fields are wrong; their values are not sent back."""
    assert isinstance(error, RequestValidationError)
    faults: list[Any] = list(error.errors())
    told = [f"{'.'.join(map(str, fault['loc']))}: {fault['msg']}" for fault in faults]
    more = f" (and {len(told) - _SHOWN_FAULTS} more)" if len(told) > _SHOWN_FAULTS else ""
    message = f"The request makes no sense: {'; '.join(told[:_SHOWN_FAULTS])}{more}."
    return reply(422, "invalid_request", message, "See /api/openapi.json for its form.")


async def _http(_request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    status = error.status_code
    answer = reply(status, _code(status), str(error.detail), _HINTS.get(status, ""))
    answer.headers.update(error.headers or {})
    return answer


async def _broken(_request: Request, _error: Exception) -> Response:
    """Tell that we broke and nothing more; the door logs it."""
    text = "nuncius itself broke."
    return reply(500, _code(500), text, "The log in its home tells more; please report it.")


def status_of(error: NunciusError) -> int:
    """Return the status that an error has."""
    if isinstance(error, ConflictError):
        return 409
    if isinstance(error, StoppingError):
        return 503
    return next((status for kind, status in _STATUS if isinstance(error, kind)), 500)


def kind_of(error: NunciusError) -> str:
    """Return a document's fault, else the class in small letters: ``session_busy``."""
    if isinstance(error, DocumentError):
        return error.kind
    name = type(error).__name__.removesuffix("Error")
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).lower()


def _code(status: int) -> str:
    return HTTPStatus(status).phrase.lower().replace(" ", "_").replace("-", "_")


def _storable(text: str) -> str:
    """Return text that UTF-8 can hold: a request may have brought half a character."""
    return text.encode("utf-8", errors="replace").decode()
