"""Reads astronomical objects out of words: designations of catalogues and names of their own."""

import re

from nuncius.sources.ads_clauses import AnyOf, Match
from nuncius.sources.ads_reading import CUTS, OBJECT, Reading
from nuncius.sources.object_names import find_star, standard_name

_NAMED_OBJECTS = {
    "M31": r"andromeda(?:\s+galaxy|\s+nebula)?(?!\s+(?:i|ii|iii|iv|v|x)\b)", "LMC": r"large\s+magellanic\s+cloud|lmc",
    "SMC": r"small\s+magellanic\s+cloud|smc", "Sgr A*": r"sagittarius\s+a(?:\s+star|\s*\*)?|sgr\s*a\s*\*",
    "M1": r"crab\s+(?:pulsar\s+)?nebula", "M42": r"orion\s+nebula", "M33": r"triangulum\s+galaxy",
    "M51": r"whirlpool\s+galaxy", "M87": r"virgo\s+a", "M104": r"sombrero\s+galaxy", "M45": r"pleiades",
}  # fmt: skip
_KEEP_NAME = {"M1": "Crab Nebula", "M42": "Orion Nebula", "M45": "Pleiades"}
_STARS = (
    r"betelgeuse|vega|proxima\s+cen(?:t?auri)?|canopus|capella|achernar|hadar|pollux|castor|alpha\s+centauri|barnard['’]s\s+star"
    r"|sirius(?:\s+[ab])?|polaris|antares|arcturus|aldebaran"
    r"|rigel|procyon|fomalhaut|beta\s+pictoris|eta\s+carinae|epsilon\s+eridani|tau\s+ceti"
    r"|algol|regulus|spica|altair|deneb"
    r"|hyades|praesepe|omega\s+centauri|47\s+tuc(?:anae)?|cygnus\s+(?:x-?\d|a|loop)"
    r"|(?:centaurus|fornax|perseus|hercules|hydra)\s+a|perseus\s+cluster|coma\s+cluster"
    r"|virgo\s+cluster|bullet\s+cluster|cassiopeia\s+a|cas\s+a|vela\s+pulsar|crab\s+pulsar"
    r"|eagle\s+nebula|ring\s+nebula|horsehead\s+nebula"
    r"|tarantula\s+nebula|30\s+doradus|carina\s+nebula|helix\s+nebula|rosette\s+nebula|geminga|oumuamua"
    r"|['ʻ‘’]oumuamua|hercules\s+x-1|scorpius\s+x-1|sco\s+x-1"
    r"|stephan['’]s\s+quintet|hoag['’]s\s+object|tabby['’]s\s+star|boyajian['’]s\s+star|teegarden['’]s\s+star"
)
_CATALOGUE = re.compile(
    r"""(?<![\w:])(?:
    (?:(?i:NGC|IC|UGC|HD|HIP|Arp|Abell|Mrk|Messier)|PGC|HR|SAO|BD|GJ|Gl|Gliese|Arp|Mrk|Markarian|Abell|ACO|Barnard|LHS|LTT|TYC|KIC|EPIC|KOI|TIC|TOI|Sh\s?2|Terzan|Pal|Palomar|Melotte|Collinder|Berkeley|Trumpler|Holmberg|Haro|Leo|DDO|VV|ESO)[\s-]?[+]?\d[\d.+-]*\w?(?:\s?[a-h]\b)?
    |(?:M\s?|m)(?:[1-9]\d?|10\d|110)(?!\w|[\s-]?(?:dwarfs?|type|giants?|stars?)\b)|Messier\s?\d{1,3}
    |(?:3C|4C|4U|PKS|B3)\s?\d[\d.+-]*|(?:GRB|GW|AT|SN|FRB|EP|IceCube-?)\s?(?:19|20)?\d{2,6}[A-Za-z_\d]*
    |(?:PSR|GRO|XTE|MAXI|SWIFT|IGR|AX|RX|SDSS|2MASS|WISE|WD|ZTF|ASASSN|GRS|GS|GX|Gaia|LSPM|1RXS|CXO|XMMU|SAX|PG|HE|QSO|BR|ULAS)\s?[JB]?\d{2,}[+\-−.\d]*\w?
    |(?:WASP|HAT-P|HATS|TrES|CoRoT|XO|KELT|OGLE-TR|Kepler|K2|NGTS|MASCARA|Qatar|TRAPPIST|GJ|LTT|TOI|LHS)-\d+(?:\s?[a-h](?![\w]))?
    |(?:Cyg|Cen|Vir|Cas|Per|Vela|Her|Sco|Cir|LMC|SMC)\sX-?\d+ | \d{1,3}P/[A-Z][\w–-]+ | C/\d{4}\s[A-Z]\d+
    |AU\sMic|PDS\s?70|HL\sTau|TW\sHya|SS\s?433|AM\sHer|RR\sLyr(?!\w)|Sgr\sA\*
    )""",
    re.VERBOSE,
)  # fmt: skip
_KNOWN = re.compile(f"{OBJECT[0]}[^{OBJECT[1]}]+{OBJECT[1]}")
_CONSTELLATION = re.compile(
    r"(?<!\w)(?:V\d{3,4}|[RSTUVWXYZ]{1,2}|\d{1,2})\s(?:And|Aql|Aqr|Aur|Boo|Cam|Cas|Cen|Cep|Cet"
    r"|CMa|CMi|Cnc|Col|CrB|Crv|CVn|Cyg|Del|Dra"
    r"|Eri|Gem|Her|Hya|Lac|Leo|Lyr|Mon|Oph|Ori|Peg|Per|Pup|Sco|Ser|Sgr|Tau|TrA|Tri|UMa|UMi|Vel|Vir|Vul)(?!\w)"
)


def read_designations(reading: Reading) -> None:
    """Take objects of catalogues (NGC 1275, β Pic b, GRB 130427A) as ADS objects."""
    start = 0
    while (
        match := _KNOWN.search(reading.text, start)
        or find_star(reading.text, start)
        or _CATALOGUE.search(reading.text, start)
        or _CONSTELLATION.search(reading.text, start)
    ):
        name = re.sub(r"\s+", " ", match[0]).strip().strip("".join(OBJECT))
        name = name if name.isascii() else standard_name(name)  # SIMBAD knows no Greek characters
        before = reading.text[: match.start()]
        lead = re.search(
            r"(?:about|on|of|around|near|toward|towards|in|for|(?:the\s+)?objects?)\s+(?:the\s+)?$",
            before,
            re.IGNORECASE,
        )
        if re.search(r"\bby\s+$", before):
            start = match.end()
            continue
        name = re.sub(r"^[Mm]\s?(?=\d)", "M", name)
        begin = lead.start() if lead else match.start()
        reading.take(
            begin, match.end(), [Match("object", name)], words=match[0].strip("".join(OBJECT))
        )


def read_objects(reading: Reading) -> None:
    """Take objects with names of their own; "or" between them makes a choice."""
    table = [*_NAMED_OBJECTS.items(), ("", _STARS)]
    for value, name in table:
        pattern = (
            rf"(?<![\w-])(?:(?:about|on|of|around|near|in|for"
            rf"|(?:with\s+)?objects?)\s+)?(?:the\s+)?(?P<it>{name})(?![\w-])"
        )
        while match := re.search(pattern, reading.text, re.IGNORECASE):
            found = _KEEP_NAME.get(value, value) or re.sub(r"\s+", " ", match["it"])
            reading.take(match.start(), match.end(), [Match("object", found)], words=match["it"])
    _choices(reading)


def _choices(reading: Reading) -> None:
    """Join objects that an "or" stands between."""
    objects = [
        c for c in reading.clauses if isinstance(c, Match) and c.field == "object" and not c.negated
    ]
    pattern = rf"[{CUTS}]\s*\)?\s*or\s*\(?\s*[{CUTS}]"
    if len(objects) < 2 or not re.search(pattern, reading.text, re.IGNORECASE):
        return
    reading.text = re.sub(pattern, CUTS[0], reading.text, count=1, flags=re.IGNORECASE)
    chosen = objects[:2]
    reading.clauses = [clause for clause in reading.clauses if clause not in chosen]
    reading.clauses.append(AnyOf(tuple((clause,) for clause in chosen)))
