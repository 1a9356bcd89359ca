"""`doctor` tells of each service whether it answers, what is left of its limit and what it receives."""

from nuncius.app import App
from nuncius.app.doctor import Finding
from nuncius.app.services_check import RECEIVES, look_at
from sources.answers import QUASAR, ads, arxiv
from sources.home import app, playing
from sources.playing import Played, Playing

__all__ = ["app", "playing"]


async def told(app: App) -> dict[str, Finding]:
    return {finding.name: finding for finding in await look_at(app.services)}


async def test_each_service_is_reached_and_says_what_it_receives(
    app: App, playing: Playing
) -> None:
    playing.play("/robots.txt", Played.text("User-agent: *"))
    found = await told(app)
    assert set(found) == set(RECEIVES)
    answered = [name for name, finding in found.items() if "answers in" in finding.text]
    assert set(RECEIVES) - set(answered) == {"arxiv_web", "arxiv_rss"}
    assert all(RECEIVES[name] in finding.text for name, finding in found.items())
    assert "made-up" not in str(found)
    assert not any("authorization" in asked.headers for asked in playing.asked)
    assert found["unpaywall"].state == "note"
    assert "NUNCIUS_CONTACT_EMAIL" in found["unpaywall"].mend


async def test_what_is_left_of_a_limit_is_told(app: App, playing: Playing) -> None:
    playing.play("/ads/search", ads(QUASAR))
    playing.play("/arxiv/query", arxiv())
    await app.lookup().paper("2021MNRAS.500..100R")
    playing.play("/robots.txt", Played.text(""))
    assert "search: 4,990 of 5,000 left until 2030-" in (await told(app))["ads"].text


async def test_without_a_token_it_says_what_follows_and_where_to_get_one(
    app: App, playing: Playing
) -> None:
    app.services.settings = app.settings.model_copy(update={"ads_api_token": ""})
    playing.play("/robots.txt", Played.text(""))
    finding = (await told(app))["ads"]
    assert finding.state == "note"
    assert "arXiv is searched alone" in finding.text
    assert "nuncius config set ADS_API_TOKEN" in finding.mend


async def test_one_that_is_out_of_reach_costs_nothing_else(app: App, playing: Playing) -> None:
    playing.play("/robots.txt", Played(fault="close"), Played.text(""))
    states = [finding.text for finding in (await told(app)).values()]
    assert sum("out of reach" in text for text in states) >= 1


async def test_offline_nobody_is_asked(app: App, playing: Playing) -> None:
    app.services.settings = app.settings.model_copy(update={"offline": True})
    found = await told(app)
    assert playing.asked == []
    assert all("offline" in finding.text for finding in found.values())
