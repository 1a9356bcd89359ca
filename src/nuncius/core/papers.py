"""A paper, its authors and its names."""

import re
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

PaperState = Literal["known", "downloaded", "parsed", "indexed", "failed"]

_GROUP = re.compile(r"\b(?:Collaboration|Consortium|Team|Group|Project|Survey)\b")


class Author(BaseModel):
    """One author, as printed."""

    model_config = ConfigDict(frozen=True)

    name: str
    """Full name in the paper's own order, such as ``Luke G. Bouma`` or ``张三``."""

    @property
    def filed_as(self) -> str:
        """Return the name as libraries file it: ``Bouma, L``; a group or ``张三`` as it is."""
        last = self.last_name
        first = self.name.replace(last, " ", 1).strip(" ,.~")
        return f"{last}, {first[0]}" if first else last

    @property
    def last_name(self) -> str:
        """Return the family name, for cite keys and short references."""
        if "," in self.name:
            return self.name.split(",", 1)[0].strip()
        if _is_han(self.name):
            return self.name.strip()
        words = [word for word in self.name.split() if word.strip(".")]
        if not words or words[-1][0].islower() or _GROUP.search(self.name):
            return self.name  # a group: ``lightkurve contributors``
        particles = {"van", "von", "de", "der", "den", "di", "da", "del", "la", "le", "ter", "dos"}
        if len(words) > 1 and words[-1].rstrip(".").lower() in {"jr", "sr", "ii", "iii", "iv"}:
            words.pop()
        start = len(words) - 1
        while start > 1 and words[start - 1].lower() in particles:
            start -= 1
        return " ".join(words[start:])


class PaperFile(BaseModel):
    """A file on the user's disk that holds a paper's text."""

    model_config = ConfigDict(frozen=True)

    path: str
    """Absolute path; the file stays where the user keeps it."""
    sha256: str
    size_bytes: int
    kind: str
    """What its bytes are: pdf, html, latex, markdown, text."""
    present: bool = True
    """False once it was found to be gone."""


class Paper(BaseModel):
    """One work and what the library holds of it."""

    model_config = ConfigDict(frozen=True)

    paper_id: Annotated[str, Field(pattern=r"^(?:[a-z0-9]{8})?$")]
    """Eight lower-case letters and digits, given once, never reused; empty before the first `put`."""
    title: str
    authors: tuple[Author, ...] = ()
    year: int | None = None
    bibcode: str | None = None
    arxiv_id: str | None = None
    doi: str | None = None
    abstract: str = ""
    cite_key: str = ""
    """Stable key for LaTeX, such as ``Bouma2022``; unique in the library."""
    state: PaperState = "known"
    files: tuple[PaperFile, ...] = ()
    pages: int | None = None
    """Number of pages; None where the format has none."""
    language: str = "en"
    """Main language of the text: ``en``, ``zh`` or another ISO 639-1 code."""
    label: str = ""
    """A word for people about where it is from, such as ``sample note``; usually empty."""
    confidential: bool = False
    added_at: str = ""
    """ISO 8601, UTC."""
    journal: str = ""
    """As people say it: ``ApJ``, ``arXiv`` of a preprint; from what the store knows of the paper."""
    tags: tuple[str, ...] = ()
    """Words that people hung on it, in their order; see `core.tags`."""
    notes: int = 0
    """How many notes stand on it."""

    @property
    def short_reference(self) -> str:
        """Return ``Bouma et al. 2022``, or the title where nobody is named."""
        names = [author.last_name for author in self.authors]
        match names:
            case []:
                who = self.title if len(self.title) <= 60 else self.title[:57] + "..."
            case [one]:
                who = one
            case [one, two]:
                who = f"{one} & {two}"
            case _:
                who = f"{names[0]} et al."
        return f"{who} {self.year}" if self.year else who


def _is_han(text: str) -> bool:
    return any("\u4e00" <= char <= "\u9fff" for char in text)
