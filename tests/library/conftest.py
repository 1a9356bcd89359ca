"""A library on disk with two small papers: one with pages, one without."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from nuncius.core.settings import Settings
from nuncius.library.library import Library
from nuncius.store import open_store
from nuncius.store.protocols import Store
from parsing.pdf_writing import make_pdf, text_at

PAGES = (
    ("A quiet star", 24, 700),
    ("Mira Stern and Jo Feld", 12, 670),
    ("We measure the radius of the star HD 12345 with an interferometer.", 10, 600),
    ("Its radius is 1.72 solar radii and its age is 4.1 Gyr.", 10, 585),
)
SECOND = (
    ("The colour excess is -0.03 mag, so the star is not redden-", 10, 700),
    ("ed by dust. No planet was found around it.", 10, 685),
)
NOTE = """---
title: Notes on a pulsar
author: Ana Rey
date: 2021-04-01
---

# Notes on a pulsar

## Timing

PSR J0000+0000 has a spin period of 5.75 ms. Its dispersion measure is 12.3 pc cm$^{-3}$.

| epoch | residual |
|---|---|
| 1 | -0.4 µs |
"""


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[Store]:
    opened = await open_store(tmp_path / "home", tmp_path / "home" / "nuncius.db")
    yield opened
    await opened.close()


def settings_in(folder: Path) -> Settings:
    return Settings(
        home=folder / "home",
        library_dir=folder / "home" / "library",
        skills_dir=folder / "home" / "skills",
        project_dir=folder,
        database_url=f"sqlite:///{folder / 'home' / 'nuncius.db'}",
    )


@pytest.fixture
def library(store: Store, tmp_path: Path) -> Library:
    return Library(store, settings_in(tmp_path))


@pytest.fixture
def papers(tmp_path: Path) -> Path:
    folder = tmp_path / "papers"
    folder.mkdir()
    pdf = make_pdf(
        [
            "".join(text_at(60, y, text, size=size) for text, size, y in page)
            for page in (PAGES, SECOND)
        ]
    )
    (folder / "star.pdf").write_bytes(pdf)
    (folder / "pulsar.md").write_text(NOTE)
    return folder


@pytest.fixture
async def filled(library: Library, papers: Path) -> Library:
    report = await library.add([papers])
    assert not report.failed
    assert len(report.added) == 2
    return library
