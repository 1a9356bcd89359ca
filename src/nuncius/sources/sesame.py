"""Sesame, the name resolver of CDS: SIMBAD is asked first, then NED, then VizieR.

Source: https://vizier.cds.unistra.fr/vizier/doc/sesame.htx
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Literal
from urllib.parse import quote

from nuncius.core.errors import AccessDeniedError, UpstreamError
from nuncius.core.settings import SERVICE_URLS
from nuncius.core.sky import Measured, Position, Target
from nuncius.sources.services import Services
from nuncius.sources.xml import Element, parse, said
from nuncius.walls.network import Reply

SERVICE = "Sesame"
MIRROR = "http://vizier.cfa.harvard.edu/viz-bin/nph-sesame"
"""The copy at the CfA; it is only known to speak plain http. Nothing but names goes there."""
ORDER = "SNV"
"""SIMBAD, NED, VizieR: the first that knows ends the search. Never ``A`` (all): it has no order."""
FRESH_S = timedelta(days=30).total_seconds()
_KEPT_S = timedelta(days=3650).total_seconds()
_AT_ONCE = 20
_RESOLVERS = {"S": "SIMBAD", "N": "NED", "V": "VizieR"}
_UNKNOWN = re.compile(
    r"(?i)nothing found|zero \(0\)"
    r"|\b(?:identifier|object|(?<!host )name)\b.{0,60}?\b(?:not found|unknown|incorrect format)"
    r"|\bno (?:known |astronomical )?(?:object|catalog\w*)\b.{0,20}\bfound"
)
"""An ERROR with such words says that a resolver does not know the name, not that it broke."""


@dataclass(frozen=True, slots=True)
class Looked:
    """What came of one name.

    Attributes:
        target: None: not found.
        failed: Resolvers that broke instead of answering, each with its words.
    """

    asked: str
    target: Target | None = None
    failed: tuple[str, ...] = ()

    @property
    def outcome(self) -> Literal["found", "missed", "failed"]:
        """Tell a name that nobody knows from one that could not be asked for."""
        return "found" if self.target else "failed" if self.failed else "missed"


class Sesame:
    """Looks names up; answers are kept, and the last good one steps in for a lost one.

    Args:
        mirror: Asked where the main address fails; by default the CfA's, unless another main
            address is set.
    """

    def __init__(self, services: Services, *, mirror: str | None = None) -> None:
        self._service = services.get("sesame")
        self._cache = services.cache
        main = services.base("sesame")
        if mirror is None:
            mirror = MIRROR if main == SERVICE_URLS["sesame"].rstrip("/") else ""
        self._addresses = [main, mirror] if mirror else [main]

    async def look_up(self, names: Sequence[str]) -> list[Looked]:
        """Look up names, none of them blank; the list has their order and number.

        Raises:
            UpstreamError: Sesame failed, and not every name was answered before.
            AccessDeniedError: Nothing may leave this machine, likewise.
        """
        found: dict[str, Looked] = {}
        for name in dict.fromkeys(names):
            if kept := await self._kept(name, no_older_than_s=FRESH_S):
                found[name] = kept
        lacking = [name for name in dict.fromkeys(names) if name not in found]
        for start in range(0, len(lacking), _AT_ONCE):
            for looked in await self._ask_or_recall(lacking[start : start + _AT_ONCE]):
                found[looked.asked] = looked
        return [found[name] for name in names]

    async def _ask_or_recall(self, names: Sequence[str]) -> list[Looked]:
        """Ask for names; where that fails or finds nothing, take what was found in the past."""
        error: UpstreamError | AccessDeniedError | None = None
        try:
            looked = [await self._once_more(one) for one in await self._ask(names)]
        except (UpstreamError, AccessDeniedError) as raised:
            error = raised
            looked = [Looked(name) for name in names]
        for place, one in enumerate(looked):
            if one.target and not one.failed:
                continue
            kept = await self._kept(one.asked, no_older_than_s=_KEPT_S)
            if kept and kept.target:
                looked[place] = _recalled(kept, one, error)
            elif error:
                raise error
        return looked

    async def _once_more(self, looked: Looked) -> Looked:
        """Ask again, alone, for a name whose resolvers had a bad moment."""
        if looked.outcome != "failed":
            return looked
        try:
            return (await self._ask([looked.asked]))[0]
        except UpstreamError:  # what the first answer tells is enough
            return looked

    async def _ask(self, names: Sequence[str]) -> list[Looked]:
        """Ask the main address, then the mirror."""
        first: UpstreamError | None = None
        for address in self._addresses:
            query = "&".join(quote(name, safe="") for name in names)
            url = f"{address}/-oxFI/{ORDER}?{query}"
            try:
                reply = (await self._service.request("GET", url)).reply
                elements = read_targets(_good(reply, url), url=url)
            except UpstreamError as error:
                first = first or error
                continue
            return await self._align(names, elements)
        assert first is not None
        raise first

    async def _align(self, names: Sequence[str], elements: Sequence[Element]) -> list[Looked]:
        """Give each name its own block of the answer: blocks may be left out or change places."""
        by_name = {_blanks_once(one.child_text("name")): one for one in elements}
        wanted = {_blanks_once(name) for name in names}
        in_order = len(elements) == len(names)
        result: list[Looked] = []
        for number, name in enumerate(names):
            element = by_name.get(_blanks_once(name))
            if element is None and in_order:  # Sesame may write the name in its own way
                there = elements[number]
                element = None if _blanks_once(there.child_text("name")) in wanted else there
            if element is None and len(names) > 1:
                result += await self._ask([name])
                continue
            if element is None:
                result.append(Looked(name, failed=("Sesame: its answer leaves the name out",)))
                continue
            looked = read_target(element, asked=name)
            if looked.target and not looked.failed:
                await self._keep(name, element)
            result.append(looked)
        return result

    async def _keep(self, name: str, element: Element) -> None:
        whole = f"<Sesame>{element}</Sesame>".encode()
        await self._cache.put(_key(name), Reply(200, self._addresses[0], {}, whole), keep_s=_KEPT_S)

    async def _kept(self, name: str, *, no_older_than_s: float) -> Looked | None:
        kept = await self._cache.get(_key(name), no_older_than_s=no_older_than_s)
        if kept is None:
            return None
        looked = read_target(read_targets(kept.reply.content, url=kept.reply.url)[0], asked=name)
        at = datetime.fromtimestamp(kept.at, UTC).isoformat(timespec="seconds")
        return replace(
            looked, target=replace(looked.target, cached_at=at) if looked.target else None
        )


def _recalled(kept: Looked, now: Looked, error: Exception | None) -> Looked:
    """Return an old answer, with why it is shown."""
    assert kept.target
    if error is None and not now.failed:
        why = "today Sesame does not know the name"
    else:
        why = "today Sesame could not be asked"
    day = kept.target.cached_at[:10]
    note = f"This is the answer of {day}: {why}."
    return replace(kept, target=replace(kept.target, notes=(*kept.target.notes, note)))


def _good(reply: Reply, url: str) -> bytes:
    if reply.status != 200:
        raise UpstreamError(
            SERVICE,
            url,
            f"it answered with HTTP {reply.status}{said(reply.content)}",
            hint="Try again later.",
        )
    return reply.content


def read_targets(content: bytes, *, url: str) -> list[Element]:
    """Return the blocks of an answer, one a name.

    Raises:
        UpstreamError: It is not Sesame's XML; its plain text form is not read.
    """
    root = parse(content, service=SERVICE, url=url)
    if root.name != "Sesame":
        raise UpstreamError(
            SERVICE,
            url,
            f"the answer is not Sesame's but <{root.name}>{said(content)}",
            hint="Check NUNCIUS_SESAME_URL.",
        )
    return [one for one in root.children if one.name == "Target"]


def read_target(element: Element, *, asked: str) -> Looked:
    """Read one name's block: the first resolver in our order that tells a position.

    Whether a name was found is decided by that alone; the words only tell a resolver that does not
    know from one that broke.
    """
    failed = [f"Sesame: {words}" for words in _errors(element) if not _UNKNOWN.search(words)]
    found: dict[str, Target] = {}
    for block in (one for one in element.children if one.name == "Resolver"):
        letter = _letter(block)
        if letter not in found and (target := _read_resolver(block, letter, asked)):
            found[letter] = target
        elif letter not in found:
            failed += [
                f"{_RESOLVERS.get(letter, letter)}: {words}"
                for words in _errors(block)
                if not _UNKNOWN.search(words)
            ]
    for letter in (*ORDER, *(one for one in found if one not in ORDER)):
        if letter in found:
            target = found[letter]
            earlier = [one for one in failed if _comes_before(one, letter)]
            notes = tuple(f"{one.rstrip('.')}; so this is {target.resolver}'s." for one in earlier)
            return Looked(asked, replace(target, notes=(*target.notes, *notes)), tuple(earlier))
    return Looked(asked, failed=tuple(failed))


def _comes_before(failure: str, letter: str) -> bool:
    names = [_RESOLVERS[one] for one in ORDER]
    name = failure.partition(":")[0]
    return name in names and names.index(name) < names.index(_RESOLVERS.get(letter, "VizieR"))


def _letter(block: Element) -> str:
    """Return ``S`` of ``Sc=Simbad (CDS, via client/server)``."""
    return (block.get("name") or block.get("code")).strip()[:1].upper()


def _errors(element: Element) -> list[str]:
    words = [" ".join(one.text.split()) for one in element.children if one.name == "ERROR"]
    return [one.strip("* ") or "an error without words" for one in words]


def _read_resolver(block: Element, letter: str, asked: str) -> Target | None:
    """Read what one resolver tells; None without a whole position."""
    ra, dec = _number(block, "jradeg"), _number(block, "jdedeg")
    if ra is None or dec is None or not (0 <= ra <= 360 and -90 <= dec <= 90):
        return None
    raw_name = block.child_text("oname")
    errors = [one for one in (_number(block, "errRAmas"), _number(block, "errDEmas")) if one]
    resolver = _RESOLVERS.get(letter, letter)
    motion = block.first("pm")
    references = block.child_text("nrefs")
    return Target(
        asked=asked,
        name=shown_name(raw_name) or asked,
        raw_name=raw_name,
        resolver=resolver,
        position=Position(
            ra % 360,
            dec,
            error_arcsec=max(errors) / 1000 if errors else None,
            bibcode=block.child_text("refPos"),
        ),
        object_type=block.child_text("otype"),
        spectral_type=block.child_text("spType"),
        morphology=block.child_text("MType"),
        aliases=_aliases(block, raw_name),
        pm_ra_mas_yr=_motion(motion, "pmRA"),
        pm_dec_mas_yr=_motion(motion, "pmDE"),
        parallax_mas=_measured(block.first("plx"), "mas"),
        velocity_km_s=_measured(block.first("Vel"), "km/s"),
        redshift=_measured(block.first("z"), ""),
        magnitudes=_magnitudes(block),
        references=int(references) if re.fullmatch(r"[0-9]{1,9}", references) else None,
        notes=(_ROUGH,) if letter == "V" else (),
    )


_ROUGH = (
    "A row of a VizieR catalogue: SIMBAD and NED do not know the name; the position may be rough."
)


def shown_name(raw: str) -> str:
    """Return a main name without doubled blanks and VizieR's braces."""
    return " ".join(raw.replace("{", " ").replace("}", " ").split())


def _aliases(block: Element, raw_name: str) -> tuple[str, ...]:
    names = [shown_name(one.text) for one in block.children if one.name == "alias"]
    return tuple(one for one in dict.fromkeys(names) if one and one != shown_name(raw_name))


def _magnitudes(block: Element) -> dict[str, Measured]:
    found: dict[str, Measured] = {}
    for one in (one for one in block.children if one.name == "mag"):
        value = _measured(one, "mag")
        if value and (band := one.get("band")):
            found.setdefault(band, value)
    return found


def _motion(element: Element | None, name: str) -> Measured | None:
    if element is None or (value := _number(element, name)) is None:
        return None
    return Measured(value, "mas/yr", _number(element, f"e{name}"), element.child_text("r"))


def _measured(element: Element | None, unit: str) -> Measured | None:
    if element is None or (value := _number(element, "v")) is None:
        return None
    return Measured(value, unit, _number(element, "e"), element.child_text("r"))


def _number(element: Element, name: str) -> float | None:
    text = element.child_text(name)
    try:
        value = float(text)
    except ValueError:
        return None
    return value if abs(value) < 1e15 else None  # also false for what is no number


def _blanks_once(name: str) -> str:
    """Return a name with single blanks; its case stays: ``b Per`` is not ``B Per``."""
    return " ".join(name.split())


def _key(name: str) -> str:
    return f"sesame {ORDER} {_blanks_once(name)}"
