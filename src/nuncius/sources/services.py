"""The remote services, each with its manners, behind the one door."""

from collections.abc import Mapping
from pathlib import Path

from nuncius.core.settings import SERVICE_URLS, Settings
from nuncius.walls.courtesy import Manners, Service
from nuncius.walls.network import Network
from nuncius.walls.reply_cache import ReplyCache

ARXIV_INTERVAL_S = 3.0
"""arXiv's terms: one request in three seconds, one connection, over all machines of a user."""

MANNERS: Mapping[str, Manners] = {
    "ads": Manners("ADS", parallel=4, timeout_s=30),
    # All of arXiv's hosts share one pace.
    "arxiv": Manners("arXiv", interval_s=ARXIV_INTERVAL_S, parallel=1, timeout_s=30),
    "ar5iv": Manners("ar5iv", interval_s=1.0, parallel=1, timeout_s=60),
    "sesame": Manners("Sesame", parallel=2, tries=2, timeout_s=10),
    "simbad_tap": Manners("SIMBAD", parallel=2, tries=2, timeout_s=30),
    "gaia_tap": Manners("Gaia", parallel=2, tries=2, timeout_s=30),
    "crossref": Manners("Crossref", parallel=3),
    "unpaywall": Manners("Unpaywall", parallel=3),
    "openalex": Manners("OpenAlex", parallel=3),
    "s2": Manners("Semantic Scholar", interval_s=1.0, parallel=1),
    "web": Manners("the web", parallel=4, tries=2, timeout_s=120),
}
"""By the name of the service's URL in `core.settings`; `web` is for publishers' pages."""
_SHARED = {"arxiv_web": "arxiv", "arxiv_oai": "arxiv", "arxiv_rss": "arxiv"}


class Services:
    """All services of one home.

    Args:
        network: The door; the services' hosts are trusted there.
        folder: Where pace, limits and the cache of answers are kept, such as ``$NUNCIUS_HOME/cache``.
    """

    def __init__(self, settings: Settings, network: Network, folder: Path) -> None:
        self.settings = settings
        self.network = network
        self.cache = ReplyCache(folder / "answers.db")
        self._folder = folder
        self._made: dict[str, Service] = {}

    def base(self, name: str) -> str:
        """Return the base URL in force, without a slash at its end."""
        return self.settings.services[name]

    def get(self, name: str) -> Service:
        """Return a service; names that share a pace share it."""
        name = _SHARED.get(name, name)
        if name not in self._made:
            self._made[name] = Service(
                self.network, MANNERS[name], folder=self._folder, cache=self.cache
            )
        return self._made[name]

    async def aclose(self) -> None:
        """Close connections and the cache."""
        await self.network.aclose()
        await self.cache.aclose()


def trusted(settings: Settings) -> list[str]:
    """Return the hosts that the user configured: those of services that are not the default ones."""
    return [url for name, url in settings.services.items() if url != SERVICE_URLS[name].rstrip("/")]
