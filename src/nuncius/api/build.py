"""The application: routes, errors, the document that describes them, and the door before all."""

from collections.abc import Mapping
from importlib.resources import files
from pathlib import Path
from typing import Any, cast

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi
from fastapi.routing import APIRoute
from fastapi.telemetry import TelemetryConfig
from pydantic import TypeAdapter
from starlette.types import ASGIApp, Receive, Scope, Send

from nuncius import __version__
from nuncius.api import errors, papers, records, sessions, tools, waiting, web
from nuncius.api.door import FrontDoor
from nuncius.api.events import Reset
from nuncius.api.house import House
from nuncius.core.events import Event

_COMMON: Mapping[int, str] = {
    401: "No token, or a wrong one.",
    403: "The request comes from another page, or may not do this.",
    404: "There is no such thing.",
    413: "The body is too large.",
    415: "The body is not JSON.",
    421: "The Host header is not a name of this server.",
    422: "The request makes no sense.",
    500: "nuncius itself broke.",
    502: "A remote service failed, or a key for it is missing.",
    503: "The server is ending or has no room for another connection, or the database is busy.",
}
_SILENT: TelemetryConfig = {
    "tracing": False,
    "metrics": False,
    "logs": False,
    "operation_spans": False,
    "auto_configure": False,
}
"""FastAPI would send to whatever OTEL_* names; nothing of ours is sent anywhere."""
_REFERENCES = "#/components/schemas/{model}"


def make_api(house: House, *, web_folder: Path | None = None) -> ASGIApp:
    """Return everything, behind the front door.

    Args:
        web_folder: The built front end; None: the package's own.
    """
    api, pages = routes(), page_routes()
    api.state.house = pages.state.house = house
    pages.state.front = web.Front(web_folder or front_folder())

    async def either(scope: Scope, receive: Receive, send: Send) -> None:
        is_api = str(scope.get("path", "")).startswith("/api/")
        await (api if is_api else pages)(scope, receive, send)

    return FrontDoor(either, house.access)


def front_folder() -> Path:
    """Return where the package keeps the built front end; it may not be there."""
    return Path(str(files("nuncius"))) / "web"


def routes() -> FastAPI:
    """Return all routes under ``/api``, without a home."""
    app = FastAPI(
        title="nuncius",
        version=__version__,
        description="The HTTP interface of nuncius, a research agent for astronomers.",
        openapi_url="/api/openapi.json",
        docs_url=None,
        redoc_url=None,
        generate_unique_id_function=_route_name,
        redirect_slashes=False,
        telemetry=_SILENT,
        responses={
            status: {"model": errors.ErrorReply, "description": text}
            for status, text in _COMMON.items()
        },
    )
    for room in (sessions, waiting, records, papers, tools):
        app.include_router(room.router, prefix="/api")
    errors.install(app)
    app.openapi = lambda: _document(app)
    return app


def page_routes() -> FastAPI:
    """Return the routes of the page: everything that is not under ``/api``."""
    app = FastAPI(openapi_url=None, redirect_slashes=False, telemetry=_SILENT)
    app.include_router(web.router)
    errors.install(app)
    return app


def _route_name(route: APIRoute) -> str:
    return route.name


def _event_schemas() -> dict[str, Any]:
    """Return the schema of each event, and of their union as `Event`."""
    events = cast("TypeAdapter[Any]", TypeAdapter(Event))
    union = events.json_schema(mode="serialization", ref_template=_REFERENCES)
    found: dict[str, Any] = union.pop("$defs")
    found["Reset"] = Reset.model_json_schema(mode="serialization", ref_template=_REFERENCES)
    place = _REFERENCES.format(model="Reset")
    union["oneOf"].append({"$ref": place})
    union["discriminator"]["mapping"]["reset"] = place
    return {**found, "Event": union}


def _document(app: FastAPI) -> dict[str, Any]:
    """Return OpenAPI 3.1, with the events and how to sign in."""
    if app.openapi_schema is None:
        made = get_openapi(
            title=app.title,
            version=app.version,
            description=app.description,
            routes=app.routes,
        )
        parts: dict[str, Any] = made.setdefault("components", {})
        schemas: dict[str, Any] = parts.setdefault("schemas", {})
        schemas.update(_event_schemas())
        parts["securitySchemes"] = {
            "token": {"type": "http", "scheme": "bearer"},
            "cookie": {"type": "apiKey", "in": "cookie", "name": "nuncius_PORT"},
        }
        made["security"] = [{"token": []}, {"cookie": []}]
        made["paths"]["/api/health"]["get"]["security"] = []
        app.openapi_schema = made
    return app.openapi_schema
