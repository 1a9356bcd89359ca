"""Records of made-up works as several services would tell them, with the work that each is of.

Nothing here exists: people, titles and identifiers are drawn from small lists by a fixed seed.
"""

import random
from dataclasses import dataclass, replace

from nuncius.core.records import Affiliated, Record

PEOPLE = """Abel Boro Cruz Dahl Eng Faro Grun Hale Ivo Jorn Kato Lund Moya Nemec Oku Pohl Quist Rey Saar
Tanaka Ueda Vidal Wirth Xu Yamada Zorn Öberg Çelik Ångström Núñez""".split()
THINGS = """barred spirals|dwarf satellites|hot subdwarfs|contact binaries|stellar streams|globular clusters|
protoplanetary discs|brown dwarfs|red giants|white dwarfs|quiet quasars|radio relics|cooling flows|
tidal tails|cosmic voids|blue stragglers|planetary nebulae|flare stars|molecular clouds|fast bursts""".replace("\n", "").split("|")  # fmt: skip
VERBS = """The ages of|A survey of|Deep imaging of|The dust content of|Magnetic fields in|The kinematics of|
Chemical clocks for|Simulating the growth of|A spectroscopic atlas of|The environments of|
Constraining the masses of|Timing the spin of""".replace("\n", "").split("|")
PLACES = """in the outer halo|at redshift two|with a small telescope|from twelve years of photometry|
in the Lynx field|around nearby stars|in a made-up survey|under strong irradiation""".replace("\n", "").split("|")  # fmt: skip
WORDS = """gas dust orbit disc flux colour spectrum light curve cluster halo model sample survey mass age
metallicity velocity rotation field magnetic wind accretion merger evolution formation density profile
temperature variability period amplitude correlation uncertainty catalogue selection completeness""".split()


@dataclass(frozen=True, slots=True)
class Labelled:
    """A record and the work that it is of."""

    work: str
    record: Record


class Writer:
    """Makes works and tells them as services do."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)
        self._number = 0
        self.labelled: list[Labelled] = []

    def tell(self, work: str, record: Record) -> None:
        self.labelled.append(Labelled(work, record))

    def people(self, count: int = 0) -> tuple[Affiliated, ...]:
        names = self._random.sample(PEOPLE, count or self._random.randint(1, 6))
        initials = "ABCDEFGHJKLM"
        return tuple(Affiliated(f"{n}, {self._random.choice(initials)}.") for n in names)

    def abstract(self) -> str:
        return " ".join(self._random.choices(WORDS, k=60)) + "."

    def title(self) -> str:
        pick = self._random.choice
        return f"{pick(VERBS)} {pick(THINGS)} {pick(PLACES)}"

    def article(
        self, title: str, people: tuple[Affiliated, ...], abstract: str, year: int
    ) -> Record:
        """Return a journal article as ADS tells it, without its preprint's names."""
        self._number += 1
        volume, page = 400 + self._number // 9, 100 + self._number
        initial = people[0].name[0] if people[0].name[0].isascii() else "O"
        return Record(
            source="ads",
            title=title,
            authors=people,
            abstract=abstract,
            year=year,
            bibcodes=(f"{year}MNRAS.{volume}..{page}{initial}",),
            dois=(f"10.1093/mnras/made{self._number}",),
            journal="Monthly Notices of the Royal Astronomical Society",
            doctype="article",
            refereed=True,
        )

    def preprint(self, article: Record, *, with_doi: bool = False, years_before: int = 0) -> Record:
        """Return the article's preprint as arXiv tells it."""
        self._number += 1
        year = (article.year or 2020) - years_before
        arxiv_id = f"{year % 100:02d}{self._random.randint(1, 12):02d}.{10_000 + self._number:05d}"
        people = tuple(Affiliated(_turned(author.name)) for author in article.authors)
        return Record(
            source="arxiv",
            title=article.title,
            authors=people,
            abstract=article.abstract,
            year=year,
            arxiv_id=arxiv_id,
            arxiv_version=self._random.randint(1, 3),
            dois=article.dois if with_doi else (),
            doctype="eprint",
        )


def _turned(name: str) -> str:
    last, first = name.split(", ")
    return f"{first} {last}"


def eprint_in_ads(preprint: Record) -> Record:
    """Return the preprint as ADS tells it before it knows of the article."""
    number = preprint.arxiv_id.replace(".", "")
    people = tuple(Affiliated(_back(author.name)) for author in preprint.authors)
    bibcode = f"20{preprint.arxiv_id[:2]}arXiv{number}{people[0].name[0] if people[0].name[0].isascii() else 'O'}"
    return replace(
        preprint, source="ads", authors=people, bibcodes=(bibcode,), arxiv_id="", arxiv_version=None
    )


def _back(name: str) -> str:
    first, last = name.split(" ", 1)
    return f"{last}, {first}"


def linked(article: Record, preprint: Record) -> Record:
    """Return the article as ADS tells it once it knows of the preprint."""
    number = preprint.arxiv_id.replace(".", "")
    bibcode = f"20{preprint.arxiv_id[:2]}arXiv{number}{article.bibcode[-1]}"
    return replace(
        article,
        bibcodes=(*article.bibcodes, bibcode),
        arxiv_id=preprint.arxiv_id,
        dois=(*article.dois, f"10.48550/arxiv.{preprint.arxiv_id}"),
    )


def corpus(seed: int = 7) -> list[Labelled]:
    """Return at least 200 records with the work of each, in a mixed order."""
    writer = Writer(seed)
    for number in range(60):
        _work(writer, f"w{number}", number)
    _series(writer)
    _meetings(writer)
    _notices(writer)
    _same_titles(writer)
    _mistyped(writer)
    mixed = list(writer.labelled)
    random.Random(seed).shuffle(mixed)
    return mixed


def _work(writer: Writer, work: str, number: int) -> None:
    article = writer.article(writer.title(), writer.people(), writer.abstract(), 2010 + number % 14)
    preprint = writer.preprint(article, with_doi=number % 3 == 0, years_before=number % 2)
    match number % 6:
        case 0 | 1:  # ADS knows of both
            writer.tell(work, linked(article, preprint))
            writer.tell(work, preprint)
        case 2:  # three services, the preprint unknown to ADS
            writer.tell(work, article)
            crossref = replace(article, source="crossref", bibcodes=(), abstract="")
            writer.tell(work, replace(crossref, title=article.title.upper()))
            writer.tell(work, replace(preprint, dois=article.dois))
        case 3:  # nobody links them: same title
            writer.tell(work, article)
            writer.tell(work, preprint)
            writer.tell(work, eprint_in_ads(preprint))
        case 4:  # nobody links them: the title was changed by the referee
            changed = article.title.replace("The ", "On the ", 1) if "The " in article.title else f"{article.title}: a new look"  # fmt: skip
            writer.tell(work, article)
            writer.tell(work, replace(preprint, title=changed, dois=()))
        case _:  # TeX and accents told in different ways
            writer.tell(
                work, replace(article, title=f"{article.title} with H_2 and <SUP>13</SUP>CO")
            )
            writer.tell(
                work, replace(preprint, title=f"{article.title} with H$_2$ and $^{{13}}$CO")
            )


def _series(writer: Writer) -> None:
    """Tell parts of series: one title, other numbers."""
    for series in range(5):
        people, title = writer.people(3), writer.title()
        for part in ("I", "II", "III"):
            work = f"s{series}-{part}"
            named = f"{title}. {part}."
            article = writer.article(named, people, writer.abstract(), 2015 + series)
            writer.tell(work, article)
            writer.tell(work, replace(writer.preprint(article), dois=()))


def _meetings(writer: Writer) -> None:
    """Tell talks and theses with the title of a paper."""
    for number in range(10):
        article = writer.article(writer.title(), writer.people(2), writer.abstract(), 2012 + number)
        preprint = writer.preprint(article)
        writer.tell(f"m{number}", linked(article, preprint))
        writer.tell(f"m{number}", preprint)
        bibcode = f"{article.year}AAS...2{number:02d}40{100 + number}{article.bibcode[-1]}"
        talk = replace(article, bibcodes=(bibcode,), dois=(), doctype="abstract", refereed=False)
        writer.tell(f"m{number}-talk", talk)
        if number % 2:
            thesis = replace(article, bibcodes=(f"{article.year}PhDT.......{number:02d}{article.bibcode[-1]}",), dois=(), doctype="phdthesis")  # fmt: skip
            writer.tell(f"m{number}-thesis", thesis)


def _notices(writer: Writer) -> None:
    """Tell errata, comments, replies and retractions; some carry the DOI of their original."""
    forms = ("Erratum: {}", "Corrigendum to: {}", 'Comment on "{}"', "Reply to: {}", "Retraction Note: {}", "{} (Erratum)")  # fmt: skip
    for number in range(12):
        article = writer.article(writer.title(), writer.people(3), writer.abstract(), 2008 + number)
        preprint = writer.preprint(article)
        writer.tell(f"e{number}", linked(article, preprint))
        writer.tell(f"e{number}", preprint)
        form = forms[number % len(forms)]
        notice = writer.article(
            form.format(article.title), article.authors, "", (article.year or 0) + 1
        )
        if number % 2:
            notice = replace(notice, dois=article.dois)
        writer.tell(f"e{number}-notice", notice)


def _same_titles(writer: Writer) -> None:
    """Tell short titles that many people use, and one title by two groups."""
    for number, title in enumerate(
        ("Dark matter", "Gravitational waves", "Stellar winds", "Cosmology")
    ):
        for group in range(3):
            work = f"t{number}-{group}"
            article = writer.article(title, writer.people(2), writer.abstract(), 2003 + 4 * group)
            writer.tell(work, article)
            if group:
                writer.tell(work, replace(writer.preprint(article, with_doi=True)))
    people = writer.people(3)
    for year in (2004, 2016):  # the same people, the same title, twelve years later
        article = writer.article(
            "The ages of hot subdwarfs in the Lynx field", people, writer.abstract(), year
        )
        writer.tell(f"again-{year}", article)
        writer.tell(f"again-{year}", writer.preprint(article))


def _mistyped(writer: Writer) -> None:
    """Tell preprints whose authors typed the DOI of another paper."""
    for number in range(6):
        one = writer.article(writer.title(), writer.people(4), writer.abstract(), 2018)
        other = writer.article(writer.title(), writer.people(4), writer.abstract(), 2018)
        own = writer.preprint(one)
        writer.tell(f"d{number}-one", linked(one, own))
        writer.tell(f"d{number}-one", own)
        wrong = replace(writer.preprint(other), dois=one.dois)
        writer.tell(f"d{number}-other", linked(other, wrong))
        writer.tell(f"d{number}-other", wrong)
