"""query_target: where an object is and what it is, in words and in numbers."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from inline_snapshot import snapshot

from library.conftest import settings_in
from nuncius.agent.tool import ToolContext
from nuncius.core.errors import NotFoundError, ToolError
from nuncius.library.targets import Targets
from nuncius.sources.services import Services, trusted
from nuncius.tools.target import QueryTarget, TargetQuery
from nuncius.walls.network import Network
from sources.playing import Playing
from sources.sesame_answers import SesameRule, TapRule, resolver

CTX = ToolContext(session_id="s")


async def no_repeats(_text: str) -> str:
    return ""


@pytest.fixture
async def tool(tmp_path: Path) -> AsyncIterator[QueryTarget]:
    """Return the tool; the services it asks know one object."""
    async with Playing().serving() as playing:
        playing.rule(
            SesameRule({"M 1": resolver("S", ra=83.6287, dec=22.0147, oname="M   1", otype="SNR")})
        )
        playing.rule(TapRule())
        settings = settings_in(tmp_path).model_copy(update=playing.settings())
        services = Services(settings, Network(trusted_hosts=trusted(settings)), tmp_path / "cache")
        yield QueryTarget(Targets(services), no_repeats)
        await services.aclose()


async def test_tells_where_and_what_the_object_is(tool: QueryTarget) -> None:
    args = TargetQuery(name="M 1")
    output = await tool.run(args, CTX)
    assert output.content == snapshot(
        """\
M 1: supernova remnant (SNR), from SIMBAD
Position: RA 83.62870000 deg (05h34m30.89s), Dec +22.01470000 deg (+22d00m52.9s), ICRS, J2000\
"""
    )
    assert output.metadata["ra_deg"] == pytest.approx(83.6287, abs=1e-6)
    assert tool.sources(args, output) == ("SIMBAD",)
    assert tool.read_only


async def test_the_users_own_words_are_no_name_to_ask_for(tool: QueryTarget) -> None:
    async def repeats(_text: str) -> str:
        return "your note 3"

    tool = QueryTarget(tool._targets, repeats)  # pyright: ignore[reportPrivateUsage]
    with pytest.raises(ToolError, match="your note 3") as error:
        await tool.run(TargetQuery(name="the companion of the red giant in my plot"), CTX)
    assert error.value.kind == "confidential"


async def test_an_unknown_name_says_what_to_try_next(tool: QueryTarget) -> None:
    with pytest.raises(NotFoundError, match="another designation"):
        await tool.run(TargetQuery(name="NoSuch 1"), CTX)


@pytest.mark.parametrize("name", ["Mars", "10.5 -20.5"])
async def test_what_nobody_was_asked_for_is_nobodys_words(tool: QueryTarget, name: str) -> None:
    args = TargetQuery(name=name)
    assert tool.sources(args, await tool.run(args, CTX)) == ()


def test_the_definition_is_short() -> None:
    definition = QueryTarget(Targets.__new__(Targets), no_repeats).definition()
    assert definition.description == "Look up where an object on the sky is and what it is."
    assert definition.parameters == snapshot(
        {
            "properties": {
                "name": {"description": "Name or position, such as 'M 1'.", "type": "string"}
            },
            "required": ["name"],
            "type": "object",
        }
    )
