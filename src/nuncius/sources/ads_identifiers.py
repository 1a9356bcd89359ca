"""Reads identifiers of papers and people, and positions on the sky, out of words."""

import re

from nuncius.core.identifiers import find_arxiv_id, find_doi
from nuncius.sources.ads_clauses import Match
from nuncius.sources.ads_reading import Reading

_BIBCODE = re.compile(
    r"(?<!\S)(?P<it>(?:1[5-9]|20)\d\d[A-Za-z][\w.&%…;]{8,}[\w.][A-Za-z.])(?=$|[\s,;)])"
)
_ORCID = re.compile(
    r"(?:orcid(?:\s+id)?\s*:?\s*)?(?:https?://orcid\.org/)?(?P<it>\d{4}-\d{4}-\d{4}-\d{3}[\dXx])",
    re.IGNORECASE,
)
_LEAD = (
    r"(?<!\w)(?:(?:the|papers?|articles?|preprints?|e-?prints?|records?|with|has|having|an?"
    r"|identifier|identified\s+by|bibcode|doi|arxiv|id|number)\s*[:=]?\s*)*$"
)


def read_identifiers(reading: Reading) -> None:
    """Take DOIs, bibcodes, ORCID iDs and arXiv identifiers, with the words that announce them."""
    for word in re.findall(r"\S*10\.\d{4,9}/\S+", reading.text):
        doi = word[word.index("10.") :] if "(SICI)" in word.upper() else find_doi(word)
        if doi:
            start = reading.text.lower().index(doi.lower(), reading.text.index(word))
            end = start + len(doi)
            _named(reading, start, end, Match("identifier", reading.text[start:end]))
    while match := _BIBCODE.search(reading.text):
        bibcode = re.sub(r"&amp;|%26", "&", match["it"]).replace("…", "...")
        _named(reading, match.start("it"), match.end("it"), Match("identifier", bibcode))
    while match := _ORCID.search(reading.text):
        reading.take(match.start(), match.end(), [Match("orcid", match["it"].upper(), "plain")])
    while arxiv_id := find_arxiv_id(reading.text):
        match = re.search(rf"{re.escape(arxiv_id)}(?:v\d+)?", reading.text)
        assert match
        _named(
            reading,
            match.start(),
            match.end(),
            Match("arXiv", arxiv_id, "phrase" if "/" in arxiv_id else "plain"),
        )


def _named(reading: Reading, start: int, end: int, clause: Match) -> None:
    before = reading.text[:start]
    url = re.search(r"(?:https?://\S*|arxiv:|doi:)$", before, re.IGNORECASE)
    begin = url.start() if url else start
    lead = re.search(_LEAD, reading.text[:begin], re.IGNORECASE)
    reading.take(lead.start() if lead else begin, end, [clause])


_RADIUS = (
    r"(?:within\s+|radius\s+(?:of\s+)?|r\s*=\s*"
    r"|,?\s*)(?P<r>\d+(?:\.\d+)?)\s*(?P<unit>deg(?:rees?)?|°|arc\s?min(?:utes?)?|['′]"
    r"|arc\s?sec(?:onds?)?|[\"″])"
)
_CONE = re.compile(
    (
        r"(?<![\w.])(?:(?:near|around|at|towards?|about|search\s+at"
        r"|position)\s+)?(?:ra\s*=?\s*)?(?P<ra>\d{1,2}[:h]\d{1,2}[:m]\d{1,2}(?:\.\d+)?s?"
        r"|[+-]?\d{1,3}\.\d+)"
        rf"\s*,?\s*(?:dec\s*=?\s*)?(?P<dec>[+\-−]?\d{{1,2}}[:d]\d{{1,2}}[:m]\d{{1,2}}(?:\.\d+)?s?"
        rf"|[+\-−]?\d{{1,2}}\.\d+|\d{{1,3}}\.\d+)(?:\s*{_RADIUS})?"
    ),
    re.IGNORECASE,
)


def read_position(reading: Reading) -> None:
    """Take a position with an optional radius; ADS wants the sign of the declination."""
    match = _CONE.search(reading.text)
    if not match:
        return
    ra, dec = match["ra"], match["dec"].replace("−", "-")
    if not (
        match["r"]
        or re.search(r"[:h]", ra)
        or re.search(r"(?<!\w)ra(?!\w)", match[0], re.IGNORECASE)
    ):
        return  # two bare decimals may be anything
    if ra[0] in "+-":  # the declination came first
        ra, dec = dec, ra
    if ":" in ra or "h" in ra:
        hours, minutes, seconds = re.split("[:hms]", ra)[:3]
        ra = f"{hours}h{minutes}m{seconds}s"
    if ":" in dec or "d" in dec:
        degrees, minutes, seconds = re.split("[:dms]", dec)[:3]
        dec = f"{degrees}d{minutes}m{seconds}s"
    dec = dec if dec[0] in "+-" else f"+{dec}"
    text = f"{ra} {dec}"
    if match["r"]:
        unit = match["unit"].lower()
        scale = (
            1
            if unit.startswith(("deg", "°"))
            else 60
            if unit.startswith(("arcm", "arc m", "'", "′"))
            else 3600
        )
        text += f":{round(float(match['r']) / scale, 4):g}"
    before = re.search(r"(?:object\s+search\s+)$", reading.text[: match.start()], re.IGNORECASE)
    reading.take(before.start() if before else match.start(), match.end(), [Match("object", text)])
