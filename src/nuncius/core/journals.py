r"""Journals of astronomy: macros of the AAS, stems of bibcodes, names, ISO 4 abbreviations.

ADS writes ``journal = {\apj}``; the classes of the AAS, A&A and MNRAS define such macros. What has no
macro is written by name.
"""

import re
from dataclasses import dataclass
from functools import cache
from typing import Literal

JournalStyle = Literal["macro", "name", "abbreviation", "stem"]
"""How a journal is written: ``\\apj``, in full, by ISO 4, or as people say it: ``ApJ``."""

# macro | stem in a bibcode | name | ISO 4 abbreviation
_TABLE = """
aap|A&A|Astronomy and Astrophysics|Astron. Astrophys.
aapr|A&ARv|Astronomy and Astrophysics Review|Astron. Astrophys. Rev.
aaps|A&AS|Astronomy and Astrophysics Supplement Series|Astron. Astrophys. Suppl. Ser.
actaa|AcA|Acta Astronomica|Acta Astron.
afz|Afz|Astrofizika|Astrofizika
aj|AJ|The Astronomical Journal|Astron. J.
ao|ApOpt|Applied Optics|Appl. Opt.
aplett|ApL|Astrophysical Letters|Astrophys. Lett.
apj|ApJ|The Astrophysical Journal|Astrophys. J.
apjl|ApJL|The Astrophysical Journal Letters|Astrophys. J. Lett.
apjs|ApJS|The Astrophysical Journal Supplement Series|Astrophys. J. Suppl. Ser.
apspr|ASPRv|Astrophysics and Space Physics Research|Astrophys. Space Phys. Res.
apss|Ap&SS|Astrophysics and Space Science|Astrophys. Space Sci.
araa|ARA&A|Annual Review of Astronomy and Astrophysics|Annu. Rev. Astron. Astrophys.
astl|AstL|Astronomy Letters|Astron. Lett.
azh|AZh|Astronomicheskii Zhurnal|Astron. Zh.
baas|BAAS|Bulletin of the American Astronomical Society|Bull. Am. Astron. Soc.
bac|BAICz|Bulletin of the Astronomical Institutes of Czechoslovakia|Bull. Astron. Inst. Czech.
bain|BAN|Bulletin of the Astronomical Institutes of the Netherlands|Bull. Astron. Inst. Neth.
caa|ChA&A|Chinese Astronomy and Astrophysics|Chin. Astron. Astrophys.
cjaa|ChJAA|Chinese Journal of Astronomy and Astrophysics|Chin. J. Astron. Astrophys.
fcp|FCPh|Fundamentals of Cosmic Physics|Fundam. Cosm. Phys.
gca|GeCoA|Geochimica et Cosmochimica Acta|Geochim. Cosmochim. Acta
grl|GeoRL|Geophysical Research Letters|Geophys. Res. Lett.
iaucirc|IAUC|International Astronomical Union Circular|IAU Circ.
icarus|Icar|Icarus|Icarus
jcap|JCAP|Journal of Cosmology and Astroparticle Physics|J. Cosmol. Astropart. Phys.
jcp|JChPh|The Journal of Chemical Physics|J. Chem. Phys.
jgr|JGR|Journal of Geophysical Research|J. Geophys. Res.
jqsrt|JQSRT|Journal of Quantitative Spectroscopy and Radiative Transfer|J. Quant. Spectrosc. Radiat. Transf.
jrasc|JRASC|Journal of the Royal Astronomical Society of Canada|J. R. Astron. Soc. Can.
maps|M&PS|Meteoritics and Planetary Science|Meteorit. Planet. Sci.
memras|MmRAS|Memoirs of the Royal Astronomical Society|Mem. R. Astron. Soc.
memsai|MmSAI|Memorie della Società Astronomica Italiana|Mem. Soc. Astron. Ital.
mnras|MNRAS|Monthly Notices of the Royal Astronomical Society|Mon. Not. R. Astron. Soc.
na|NewA|New Astronomy|New Astron.
nar|NewAR|New Astronomy Reviews|New Astron. Rev.
nat|Natur|Nature|Nature
nphysa|NuPhA|Nuclear Physics A|Nucl. Phys. A
pasa|PASA|Publications of the Astronomical Society of Australia|Publ. Astron. Soc. Aust.
pasj|PASJ|Publications of the Astronomical Society of Japan|Publ. Astron. Soc. Jpn.
pasp|PASP|Publications of the Astronomical Society of the Pacific|Publ. Astron. Soc. Pac.
physrep|PhR|Physics Reports|Phys. Rep.
physscr|PhyS|Physica Scripta|Phys. Scr.
planss|P&SS|Planetary and Space Science|Planet. Space Sci.
pra|PhRvA|Physical Review A|Phys. Rev. A
prb|PhRvB|Physical Review B|Phys. Rev. B
prc|PhRvC|Physical Review C|Phys. Rev. C
prd|PhRvD|Physical Review D|Phys. Rev. D
pre|PhRvE|Physical Review E|Phys. Rev. E
prl|PhRvL|Physical Review Letters|Phys. Rev. Lett.
procspie|SPIE|Society of Photo-Optical Instrumentation Engineers (SPIE) Conference Series|Proc. SPIE
psj|PSJ|The Planetary Science Journal|Planet. Sci. J.
qjras|QJRAS|Quarterly Journal of the Royal Astronomical Society|Q. J. R. Astron. Soc.
rmxaa|RMxAA|Revista Mexicana de Astronomía y Astrofísica|Rev. Mex. Astron. Astrofis.
skytel|S&T|Sky and Telescope|Sky Telesc.
solphys|SoPh|Solar Physics|Sol. Phys.
sovast|SvA|Soviet Astronomy|Sov. Astron.
ssr|SSRv|Space Science Reviews|Space Sci. Rev.
zap|ZA|Zeitschrift für Astrophysik|Z. Astrophys.
|AN|Astronomische Nachrichten|Astron. Nachr.
|A&G|Astronomy and Geophysics|Astron. Geophys.
|A&C|Astronomy and Computing|Astron. Comput.
|APh|Astroparticle Physics|Astropart. Phys.
|ARep|Astronomy Reports|Astron. Rep.
|ASPC|Astronomical Society of the Pacific Conference Series|ASP Conf. Ser.
|AdSpR|Advances in Space Research|Adv. Space Res.
|AnP|Annalen der Physik|Ann. Phys.
|AREPS|Annual Review of Earth and Planetary Sciences|Annu. Rev. Earth Planet. Sci.
|AsBio|Astrobiology|Astrobiology
|CQGra|Classical and Quantum Gravity|Class. Quantum Gravity
|CeMDA|Celestial Mechanics and Dynamical Astronomy|Celest. Mech. Dyn. Astron.
|ComAp|Comments on Astrophysics|Comments Astrophys.
|EPJC|European Physical Journal C|Eur. Phys. J. C
|E&PSL|Earth and Planetary Science Letters|Earth Planet. Sci. Lett.
|EM&P|Earth Moon and Planets|Earth Moon Planets
|ExA|Experimental Astronomy|Exp. Astron.
|FrASS|Frontiers in Astronomy and Space Sciences|Front. Astron. Space Sci.
|GReGr|General Relativity and Gravitation|Gen. Relativ. Gravit.
|GeoJI|Geophysical Journal International|Geophys. J. Int.
|IBVS|Information Bulletin on Variable Stars|Inf. Bull. Var. Stars
|IJAsB|International Journal of Astrobiology|Int. J. Astrobiol.
|IJMPD|International Journal of Modern Physics D|Int. J. Mod. Phys. D
|IAUS|IAU Symposium|IAU Symp.
|JAVSO|Journal of the American Association of Variable Star Observers|J. Am. Assoc. Var. Star Obs.
|JApA|Journal of Astrophysics and Astronomy|J. Astrophys. Astron.
|JATIS|Journal of Astronomical Telescopes, Instruments, and Systems|J. Astron. Telesc. Instrum. Syst.
|JGRA|Journal of Geophysical Research (Space Physics)|J. Geophys. Res. Space Phys.
|JGRE|Journal of Geophysical Research (Planets)|J. Geophys. Res. Planets
|JHA|Journal for the History of Astronomy|J. Hist. Astron.
|JHEP|Journal of High Energy Physics|J. High Energy Phys.
|JInst|Journal of Instrumentation|J. Instrum.
|JKAS|Journal of Korean Astronomical Society|J. Korean Astron. Soc.
|JOSS|The Journal of Open Source Software|J. Open Source Softw.
|JPhCS|Journal of Physics Conference Series|J. Phys. Conf. Ser.
|LRR|Living Reviews in Relativity|Living Rev. Relativ.
|LRSP|Living Reviews in Solar Physics|Living Rev. Sol. Phys.
|Msngr|The Messenger|Messenger
|NatAs|Nature Astronomy|Nat. Astron.
|NatCo|Nature Communications|Nat. Commun.
|NatPh|Nature Physics|Nat. Phys.
|NatSR|Scientific Reports|Sci. Rep.
|Obs|The Observatory|Observatory
|OJAp|The Open Journal of Astrophysics|Open J. Astrophys.
|PhLB|Physics Letters B|Phys. Lett. B
|PhRv|Physical Review|Phys. Rev.
|PhRvX|Physical Review X|Phys. Rev. X
|PhT|Physics Today|Phys. Today
|PNAS|Proceedings of the National Academy of Science|Proc. Natl. Acad. Sci. U.S.A.
|RAA|Research in Astronomy and Astrophysics|Res. Astron. Astrophys.
|RNAAS|Research Notes of the American Astronomical Society|Res. Notes Am. Astron. Soc.
|RPPh|Reports on Progress in Physics|Rep. Prog. Phys.
|RvMP|Reviews of Modern Physics|Rev. Mod. Phys.
|RvMPP|Reviews of Modern Plasma Physics|Rev. Mod. Plasma Phys.
|Sci|Science|Science
|SciA|Science Advances|Sci. Adv.
|SciAm|Scientific American|Sci. Am.
|yCat|VizieR Online Data Catalog|VizieR Online Data Catalog
|arXiv|arXiv e-prints|arXiv
"""
# other macros, and other names, of the same journals
_ALSO = {
    "aapl": "aap", "aas": "aaps", "apjsupp": "apjs", "apjlett": "apjl", "applopt": "ao",
    "aplet": "aplett", "jaavso": "JAVSO", "joss": "JOSS", "jatis": "JATIS", "lrr": "LRR",
    "maap": "maps", "nast": "NatAs", "natas": "NatAs", "nate": "nat", "nastro": "NatAs",
    "planetss": "planss", "qjra": "qjras", "rnaas": "RNAAS", "raa": "RAA", "rvmp": "RvMP",
    "rmp": "RvMP", "sci": "Sci", "science": "Sci", "spie": "procspie", "ssrv": "ssr",
    "ajournal": "aj", "an": "AN", "expa": "ExA", "exa": "ExA", "cqg": "CQGra", "ijmpd": "IJMPD",
    "memrasti": "memsai", "za": "zap", "azhur": "azh", "plb": "PhLB", "oja": "OJAp", "ojap": "OJAp",
    "aspc": "ASPC", "cemda": "CeMDA", "icar": "icarus", "natastro": "NatAs", "areps": "AREPS",
    "arep": "ARep", "jhep": "JHEP", "jinst": "JInst", "mess": "Msngr", "obs": "Obs", "pnas": "PNAS",
}  # fmt: skip
_NAMES_ALSO = {
    "Astronomy & Astrophysics": "aap", "Astron.Astrophys.": "aap", "Astrophysical Journal": "apj",
    "Ap. J.": "apj", "Astronomical Journal": "aj", "Monthly Notices of the RAS": "mnras",
    "Mon.Not.Roy.Astron.Soc.": "mnras", "Mon. Not. Roy. Astron. Soc.": "mnras",
    "Monthly Notices of the Royal Astronomical Society: Letters": "mnras",
    "Monthly Notices of the Royal Astronomical Society Letters": "mnras",
    "ApJ Letters": "apjl", "ApJ Lett.": "apjl", "ApJ Supplement": "apjs",
    "Astrophysical Journal Letters": "apjl", "Astrophysical Journal Supplement Series": "apjs",
    "The Astrophysical Journal Supplement": "apjs", "Nature (London)": "nat",
    "Annual Review of A&A": "araa", "Annu. Rev. Astro. Astrophys.": "araa",
    "Proceedings of SPIE": "procspie", "Proc. SPIE": "procspie", "JRASC": "jrasc",
    "Phys.Rev.D": "prd", "Phys.Rev.Lett.": "prl", "arXiv": "arXiv", "arXiv preprint": "arXiv",
    "ArXiv e-prints": "arXiv", "arXiv.org": "arXiv", "Journal of Open Source Software": "JOSS",
    "Research Notes of the AAS": "RNAAS", "Open Journal of Astrophysics": "OJAp",
    "Proceedings of the National Academy of Sciences": "PNAS",
    "Journal of Geophysical Research: Planets": "JGRE",
    "Journal of Geophysical Research: Space Physics": "JGRA",
}  # fmt: skip
_PREPRINT = "arXiv"
_LONGEST = 100  # characters of a name that is not in the table
_DULL = frozenset({"the", "of", "and", "for", "in", "to", "de"})


@dataclass(frozen=True, slots=True)
class Journal:
    """One journal.

    Attributes:
        macro: The AAS's, without its backslash; empty where there is none.
        stem: As in a bibcode, such as ``A&A``.
        abbreviation: By ISO 4, such as ``Astron. Astrophys.``
    """

    macro: str
    stem: str
    name: str
    abbreviation: str

    def written(self, style: JournalStyle) -> str:
        r"""Return the journal in a style, as plain text; a macro as ``\apj``."""
        if style == "macro" and self.macro:
            return f"\\{self.macro}"
        if style == "stem":
            return self.stem
        return self.abbreviation if style == "abbreviation" else self.name


@cache
def journals() -> tuple[Journal, ...]:
    """Return the table."""
    rows = (line.split("|") for line in _TABLE.strip().splitlines())
    return tuple(Journal(*row) for row in rows)


def by_stem(stem: str) -> Journal | None:
    """Return the journal of a bibcode's five characters, with or without their dots."""
    return _index()[0].get(stem.rstrip("."))


def find_journal(text: str) -> Journal | None:
    r"""Return the journal that a macro (``\apj``), a stem, a name or an abbreviation means."""
    stems, macros, names = _index()
    bare = text.strip().strip("{}").strip()
    if bare.startswith("\\"):
        return macros.get(bare[1:].strip().lower())
    if not bare:
        return None
    # people write macros as words, too: ``PRD``, ``mnras``
    return stems.get(bare) or names.get(_folded(bare)) or macros.get(bare.lower())


def journal_word(*, name: str = "", stem: str = "", bibcode: str = "", arxiv_id: str = "") -> str:
    """Return where a work stands as people say it: ``ApJ``, ``arXiv`` of a preprint; or nothing.

    Args:
        name, stem: As a service tells them, `stem` in ADS's spelling; a whole reference
            (``Astrophys.J. 934 (2022) L7``) is read as far as its journal.
        bibcode: Its characters 5 to 9 name the journal, where nobody tells one.
    """
    told = by_stem(stem) or find_journal(name) or find_journal(_before_its_numbers(name))
    in_bibcode = bibcode[4:9].strip(".") if len(bibcode) == 19 else ""
    words = [told.stem if told else stem or " ".join(name.split())[:_LONGEST], in_bibcode]
    published = next((word for word in words if word and word != _PREPRINT), "")
    if published == "ApJ" and bibcode[13:14] == "L":
        return "ApJL"
    return published or (_PREPRINT if arxiv_id or _PREPRINT in words else "")


def _before_its_numbers(reference: str) -> str:
    """Return the first words of a reference, whether its year goes before them or not."""
    parts = (part.strip(" .") for part in re.split(r"[\d,;:()]+", reference))
    return next(filter(None, parts), "")


def same_journal(one: str, other: str) -> bool:
    """Tell whether two writings mean one journal, whatever macro, name or abbreviation.

    Unknown journals are compared by the first letters of their words: ``J. Phys. Chem.`` is the
    ``Journal of Physical Chemistry``.
    """
    first, second = find_journal(one), find_journal(other)
    if first and second:
        return first == second or {first.macro, second.macro} == {
            "apj",
            "apjl",
        }  # as ADS writes both
    mine, theirs = _words(one), _words(other)
    if "".join(mine) == "".join(theirs):
        return True
    return len(mine) == len(theirs) and all(
        a.startswith(b) or b.startswith(a) for a, b in zip(mine, theirs, strict=True)
    )


@cache
def _index() -> tuple[dict[str, Journal], dict[str, Journal], dict[str, Journal]]:
    """Return the journals by stem, by macro and by folded name or abbreviation."""
    stems = {journal.stem: journal for journal in journals()}
    macros = {journal.macro: journal for journal in journals() if journal.macro}
    names: dict[str, Journal] = {}
    for journal in journals():
        names.setdefault(_folded(journal.name), journal)
        names.setdefault(_folded(journal.abbreviation), journal)
        names.setdefault(_folded(journal.stem), journal)
    names |= {
        _folded(name): macros.get(which) or stems[which] for name, which in _NAMES_ALSO.items()
    }
    macros |= {also: macros.get(which) or stems[which] for also, which in _ALSO.items()}
    return stems, macros, names


def _words(text: str) -> list[str]:
    text = re.sub(r"\\[A-Za-z]+|[{}\\]", "", text.replace(r"\&", "&")).casefold()
    return [word for word in re.findall(r"[^\W_]+", text) if word not in _DULL]


def _folded(text: str) -> str:
    return "".join(_words(text))
