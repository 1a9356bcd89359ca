"""The page: the built front end where the package has one, else a page that says how to build it."""

import html
import mimetypes
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

from fastapi import APIRouter, Query, Request
from fastapi.responses import FileResponse, HTMLResponse
from starlette.exceptions import HTTPException
from starlette.responses import Response

from nuncius.api.house import Home

router = APIRouter(include_in_schema=False)

_VIEW = re.compile(r"(?:/[a-zA-Z0-9_-]+)*/?")
"""Paths of the front end's own views: they have no dots, so they are never a file's."""
_KINDS = {".js": "text/javascript", ".mjs": "text/javascript", ".wasm": "application/wasm"}
_NEVER = ("/api", "/assets", "/static")
_NO_BUILD = """
<p>The web page is not built into this installation; the HTTP interface works.</p>
<p>From a clone, with Node 20 or newer: <code>make web</code>, then start <code>nuncius serve</code>
again. Released packages bring the page along.</p>
<p>The interface describes itself at <a href="/api/openapi.json">/api/openapi.json</a>.</p>
"""


class Front:
    """The built front end: only files that are there when the server starts are ever sent."""

    def __init__(self, folder: Path) -> None:
        found = sorted(folder.rglob("*")) if folder.is_dir() else []
        self._files: Mapping[str, Path] = {
            f"/{path.relative_to(folder).as_posix()}": path
            for path in found
            if path.is_file() and "/." not in f"/{path.relative_to(folder).as_posix()}"
        }

    @property
    def built(self) -> bool:
        """Tell whether there is a page."""
        return "/index.html" in self._files

    def answer(self, path: str) -> Response | None:
        """Return the file of a path, or the page for one of its views; None for neither."""
        view = _VIEW.fullmatch(path) is not None and not path.startswith(_NEVER)
        if path == "/index.html" or view:
            path = "/index.html"
        file = self._files.get(path)
        if file is None:
            return None
        kind = _KINDS.get(file.suffix) or mimetypes.guess_type(file.name)[0]
        # names of assets change with what is in them
        kept = "private, max-age=31536000, immutable" if path.startswith("/assets/") else "no-cache"
        return FileResponse(
            file,
            media_type=kind or "application/octet-stream",
            headers={"Cache-Control": kept},
        )


@router.get("/sign-in")
async def sign_in(home: Home, nonce: Annotated[str, Query(max_length=200)] = "") -> Response:
    """Turn a link into the cookie, once.

    The page goes on by itself instead of a redirect: where the link stood on another site's page, a
    SameSite=Strict cookie would not come along with a redirect.
    """
    if not home.access.nonces.spend(nonce):
        text = (
            "<p>This link was used before, or is older than ten minutes.</p>"
            "<p>Start <code>nuncius serve</code> again for a new one. Where you have signed in"
            ' before, <a href="/">the page</a> still knows you.</p>'
        )
        return page("Not signed in", text, status=403)
    answer = page(
        "Signed in",
        '<p><a href="/">Go on to nuncius.</a></p>',
        head='<meta http-equiv="refresh" content="0; url=/">',
    )
    answer.headers["set-cookie"] = home.access.set_cookie()
    return answer


@router.get("/{path:path}")
async def show(path: str, request: Request) -> Response:
    """Return a file of the front end."""
    front: Front = request.app.state.front
    whole = f"/{path}"
    if (found := front.answer(whole)) is not None:
        return found
    if whole == "/" and not front.built:
        return page("nuncius", _NO_BUILD)
    raise HTTPException(404, "There is nothing here.")


def page(title: str, body: str, *, status: int = 200, head: str = "") -> HTMLResponse:
    """Return a small page; `body` and `head` are our own HTML."""
    text = (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8">{head}'
        f"<title>{html.escape(title)}</title></head><body><h1>{html.escape(title)}</h1>{body}"
        "</body></html>\n"
    )
    return HTMLResponse(text, status)


def not_signed_in() -> Response:
    """Return the page for who comes without token or cookie."""
    answer = page(
        "Not signed in",
        "<p>Open the link that <code>nuncius serve</code> printed in its terminal. It is good once,"
        " for ten minutes; starting <code>nuncius serve</code> again prints a new one.</p>",
        status=401,
    )
    answer.headers["www-authenticate"] = "Bearer"
    answer.headers["connection"] = "close"  # what is left of its body is not read
    return answer
