"""Tell the bodies of the Solar System: they move, so that no catalogue of the sky has them."""

import re
from collections.abc import Mapping

_LISTS: Mapping[str, str] = {
    "star": "Sun",
    "planet": "Mercury Venus Earth Mars Jupiter Saturn Uranus Neptune",
    "dwarf planet": "Pluto Ceres Eris Haumea Makemake Gonggong Quaoar Sedna Orcus",
    "moon of Earth": "Moon",
    "moon of Mars": "Phobos Deimos",
    "moon of Jupiter": "Io Europa Ganymede Callisto Amalthea Himalia Thebe Metis Adrastea",
    "moon of Saturn": "Titan Enceladus Mimas Tethys Dione Rhea Iapetus Hyperion Phoebe Janus"
    " Epimetheus Pan Daphnis Prometheus Pandora",
    "moon of Uranus": "Miranda Ariel Umbriel Titania Oberon Puck",
    "moon of Neptune": "Triton Nereid Proteus Larissa",
    "moon of Pluto": "Charon Nix Hydra Kerberos Styx",
    "asteroid": "Pallas Juno Vesta Astraea Hebe Iris Hygiea Psyche Eros Ida Gaspra Mathilde Lutetia"
    " Itokawa Ryugu Bennu Apophis Toutatis Phaethon Didymos Dimorphos Chiron Chariklo Varuna Ixion"
    " Arrokoth Oumuamua Donaldjohanson Dinkinesh Eurybates Polymele Leucus Kamoʻoalewa",
}
_SHARED = frozenset({"hydra"})
"""Better known as something else on the sky."""
BODIES: Mapping[str, tuple[str, str]] = {
    name.casefold(): (name, kind)
    for kind, names in _LISTS.items()
    for name in names.split()
    if name.casefold() not in _SHARED
}
_CHINESE: Mapping[str, str] = {
    "太阳": "Sun", "月球": "Moon", "月亮": "Moon", "水星": "Mercury", "金星": "Venus",
    "地球": "Earth", "火星": "Mars", "木星": "Jupiter", "土星": "Saturn", "天王星": "Uranus",
    "海王星": "Neptune", "冥王星": "Pluto", "谷神星": "Ceres", "阋神星": "Eris",
    "妊神星": "Haumea", "鸟神星": "Makemake", "赛德娜": "Sedna", "灶神星": "Vesta",
    "智神星": "Pallas", "婚神星": "Juno", "爱神星": "Eros", "贝努": "Bennu", "龙宫": "Ryugu",
    "阿波菲斯": "Apophis", "火卫一": "Phobos", "火卫二": "Deimos", "木卫一": "Io",
    "木卫二": "Europa", "木卫三": "Ganymede", "木卫四": "Callisto", "土卫一": "Mimas",
    "土卫二": "Enceladus", "土卫六": "Titan", "天卫三": "Titania", "海卫一": "Triton",
    "冥卫一": "Charon",
}  # fmt: skip
_COMET = re.compile(
    r"(?:(?i:comet)\b(?!\s(?i:galaxy|nebula|globule)).*)"
    r"|(?:\w.*['’]s\s(?i:comet))"
    r"|(?:\d{1,4}[PD](?:[/ -].*)?)"
    r"|(?:[CPDX]/-?\d{1,4}\s?[A-Z]{1,2}\d{0,3}(?:-[A-Z]{1,2})?(?:\s?\(.*\)|\s.*)?)",
)
_INTERSTELLAR = re.compile(r"[1-9]\d?I(?:/.*)?")
_NUMBERED = re.compile(r"\(\d{1,7}\)(?:\s.*)?|(?:asteroid|minor planet)\b.*", re.IGNORECASE)
_NAMED = re.compile(r"\d{1,7}\s([A-Z][a-z'’][a-zA-Z'’-]+)")
_PROVISIONAL = re.compile(r"(?:\d{1,7}\s)?(?:18|19|20)\d\d\s[A-HJ-Y][A-HJ-Z]\d{0,3}")
_TITLES = re.compile(
    r"^(?:the\s+|planet\s+|dwarf planet\s+|moon\s+|asteroid\s+)+(?=\w)", re.IGNORECASE
)


def find_body(name: str, *, constellations: frozenset[str]) -> tuple[str, str] | None:
    """Return the body that a name means and what it is; None: something beyond.

    Args:
        constellations: In lower case, all forms: ``51 Pegasi`` is a star, ``24 Themis`` is none.
    """
    bare = " ".join(name.split())
    bare = _CHINESE.get(bare, bare)
    found = BODIES.get(_TITLES.sub("", bare).casefold().replace("'", "").replace("ʻ", ""))
    if found:
        return found
    if bare.endswith("彗星") or _COMET.fullmatch(bare):
        return bare, "comet"
    if _INTERSTELLAR.fullmatch(bare):
        return bare, "interstellar object"
    if _NUMBERED.fullmatch(bare) or _PROVISIONAL.fullmatch(bare):
        return bare, "asteroid"
    named = _NAMED.fullmatch(bare)
    if named and named[1].casefold() not in constellations:
        return bare, "asteroid"
    return None
