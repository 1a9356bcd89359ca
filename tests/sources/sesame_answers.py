"""Answers in Sesame's and SIMBAD's shapes; all objects are made up."""

from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import parse_qsl

from sources.playing import Asked, Played

_RESOLVERS = {
    "S": "Sc=Simbad (CDS, via client/server)",
    "N": "N=NED",
    "V": "V1=VizieR (CDS)",
}


def resolver(
    letter: str,
    *,
    ra: float | None = 10.5,
    dec: float | None = -20.25,
    oname: str = "",
    **fields: str,
) -> str:
    """Return one resolver's block; `fields` are further elements."""
    where = "" if ra is None else f"<jradeg>{ra}</jradeg>"
    where += "" if dec is None else f"<jdedeg>{dec}</jdedeg>"
    more = "".join(f"<{name}>{text}</{name}>" for name, text in fields.items())
    name = f"<oname>{oname}</oname>" if oname else ""
    return (
        f'<Resolver name="{_RESOLVERS[letter]}"><!-- delay: 1ms -->{where}{name}{more}</Resolver>'
    )


def broken(letter: str, words: str = "timeout") -> str:
    return f'<Resolver name="{_RESOLVERS[letter]}"><ERROR>{words}</ERROR></Resolver>'


MISS = "<INFO>*** Nothing found ***</INFO>"


def star(oname: str = "* kap Mic", otype: str = "PM*") -> str:
    return resolver("S", oname=oname, otype=otype)


def sesame(blocks: Mapping[str, str]) -> bytes:
    """Return a whole answer, with what Sesame puts before and after the root."""
    targets = "".join(
        f'<Target option="SNV">\n<name>{name}</name>\n<!-- Q1 #1 -->{block}</Target>\n'
        for name, block in blocks.items()
    )
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n<Sesame xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance">'
        f"{targets}</Sesame>\n<!-- - ====Done (2026-Jan-01,00:00:00z)====  -->\n"
    ).encode()


class SesameRule:
    """Answers as Sesame does, from blocks by name; other names are misses."""

    def __init__(self, blocks: Mapping[str, str]) -> None:
        self.blocks = dict(blocks)
        self.asked: list[list[str]] = []

    def __call__(self, asked: Asked) -> Played | None:
        if not asked.path.startswith("/sesame"):
            return None
        names = list(asked.query)
        self.asked.append(names)
        content = sesame({name: self.blocks.get(name, MISS) for name in names})
        return Played(content, 200, {"Content-Type": "text/xml"})


def table(columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> Played:
    """Return a table as SIMBAD's TAP writes it in JSON."""
    return Played.json(
        {"metadata": [{"name": name, "datatype": "CHAR"} for name in columns], "data": list(rows)}
    )


def query_of(asked: Asked) -> str:
    return dict(parse_qsl(asked.body.decode()))["QUERY"]


class TapRule:
    """Answers queries that hold certain words; other queries get an empty table."""

    def __init__(self, answers: Mapping[str, Played] | None = None) -> None:
        self.answers = dict(answers or {})
        self.queries: list[str] = []

    def __call__(self, asked: Asked) -> Played | None:
        if not asked.path.startswith("/simbad_tap"):
            return None
        query = query_of(asked)
        self.queries.append(query)
        found = (answer for words, answer in self.answers.items() if words in query)
        return next(found, table(["main_id"], []))
