"""Routes on tools, and on the services that the person may ask without an agent."""

import json
from typing import Annotated, Any

from fastapi import APIRouter, Query

from nuncius import __version__
from nuncius.api.house import Home
from nuncius.api.models import (
    DoctorReply,
    FindingShape,
    HealthReply,
    SearchBody,
    SearchReply,
    SettingsReply,
    ToolCallBody,
    ToolList,
    ToolReply,
    ToolShape,
)
from nuncius.core.errors import NotFoundError
from nuncius.library.field import WIDEST_ARCMIN, Field

router = APIRouter()


@router.get("/health", tags=["server"])
async def health() -> HealthReply:
    """Tell that the server answers; needs no token."""
    return HealthReply(version=__version__)


@router.get("/settings", tags=["server"])
async def show_settings(home: Home) -> SettingsReply:
    """Tell what a new turn runs with."""
    settings = home.app.settings
    model = settings.llm_model or "builtin"
    return SettingsReply(
        model=model,
        models=list(dict.fromkeys([model, "builtin"])),
        mode=settings.permission_mode,
        enable_thinking=settings.enable_thinking,
        context_tokens=settings.llm_context_tokens if settings.llm_model else None,
    )


@router.get("/doctor", tags=["server"])
async def examine(home: Home) -> DoctorReply:
    """Check this machine and this home, as `nuncius doctor` does."""
    from nuncius.app.doctor import examine_home

    found = await examine_home(home.app.settings)
    return DoctorReply(findings=[FindingShape.model_validate(one.shape()) for one in found])


@router.get("/tools", tags=["tools"])
async def list_tools(home: Home) -> ToolList:
    """Return the definitions as the model sees them."""
    return ToolList(
        tools=[
            ToolShape(name=one.name, description=one.description, parameters=dict(one.parameters))
            for one in home.app.tools()
        ]
    )


@router.post("/tools/{name}", tags=["tools"])
async def call_tool(name: str, body: ToolCallBody, home: Home) -> ToolReply:
    """Run one call through the whole executor; a permission may have to be decided meanwhile."""
    if all(one.name != name for one in home.app.tools()):
        raise NotFoundError(f"There is no tool '{name}'.", hint="GET /api/tools lists all.")
    output = await home.turns.call(name, json.dumps(body.arguments), session_id=body.session_id)
    return ToolReply(
        content=output.content,
        is_error=output.is_error,
        error_kind=output.error_kind,
        metadata=dict(output.metadata),
    )


@router.post("/search", tags=["search"])
async def search(body: SearchBody, home: Home) -> SearchReply:
    """Search ADS and arXiv."""
    from nuncius.library.search import Request
    from nuncius.tools.search import facts

    found = await home.app.search().search(
        Request(
            body.query.strip(),
            sources=tuple(dict.fromkeys(body.sources)),
            authors=tuple(body.author),
            year_from=body.year_from,
            year_to=body.year_to,
            target=body.object.strip(),
            refereed=body.refereed,
            rows=body.rows,
            start=body.start,
            sort=body.sort,
        )
    )
    return SearchReply.model_validate(facts(found))


@router.get("/targets", tags=["search"])
async def resolve_target(
    home: Home,
    name: Annotated[str, Query(min_length=1, max_length=200, description="A name or a position.")],
) -> dict[str, Any]:
    """Tell where an object on the sky is and what it is, as `query_target` does."""
    from nuncius.library.sky_text import shape

    return shape(await home.app.targets.resolve(name))


@router.get("/targets/field", tags=["search"])
async def show_field(
    home: Home,
    ra_deg: Annotated[float, Query(ge=0, le=360, allow_inf_nan=False, description="ICRS.")],
    dec_deg: Annotated[float, Query(ge=-90, le=90, allow_inf_nan=False, description="ICRS.")],
    radius_arcmin: Annotated[
        float,
        Query(gt=0, le=WIDEST_ARCMIN, allow_inf_nan=False, description="Of the cone; at most 60."),
    ],
) -> Field:
    """Tell what lies around a position, as catalogues have it: what a finder chart draws."""
    return await home.app.targets.around(ra_deg, dec_deg, radius_arcmin=radius_arcmin)
