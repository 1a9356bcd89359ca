"""Papers made here, for every test of this room."""

from collections.abc import Sequence

import pytest

from parsing.papers import MakePdf, Placed, write_pdf


@pytest.fixture(scope="session")
def make_pdf() -> MakePdf:
    return write_pdf


@pytest.fixture(scope="session")
def paper_pdf() -> bytes:
    """Two pages like a draft: margin numbers, a running head, a broken word, a table, references."""

    def numbered(lines: Sequence[str], *, first: int, top: float) -> list[Placed]:
        placed: list[Placed] = []
        for index, line in enumerate(lines):
            y = top - 14 * index
            placed.append((40, y, 5, "F1", str(first + index)))
            placed.append((72, y, 10, "F1", line))
        return placed

    one: list[Placed] = [
        (72, 750, 8, "F1", "Draft version March 3, 2022"),
        (150, 700, 14, "F2", "Ages of Quiet Dwarfs in the Hyades"),
        (200, 680, 10, "F1", "Ada B. Lovelace,1 Tycho van Brahe,2 and Vera C. Rubin1"),
        (150, 665, 8, "F3", "1Department of Astronomy, Example University, Sometown, USA"),
        (150, 655, 8, "F3", "2Example Observatory, Othertown, Denmark"),
        (290, 630, 10, "F2", "ABSTRACT"),
        *numbered(
            [
                "We measure the ages of forty quiet dwarfs and find a spread of 0.35 dex that no single",
                "model of magnetic braking explains without a second parameter.",
            ],
            first=1,
            top=610,
        ),
        (250, 570, 10, "F2", "1. Introduction"),
        *numbered(
            [
                "Stars of the Hyades rotate slowly and their ages agree within -0.25 and +0.31 dex of the",
                "cluster mean. The metallicity of the sample is known to better than five percent from high-",
                "resolution spectra, and each measure-",
                "ment was repeated three times under the same conditions by two observers who did not know",
                "the result of the other, so that the scatter in the final catalogue is free of the bias that",
            ],
            first=3,
            top=550,
        ),
    ]
    two: list[Placed] = [
        (250, 760, 9, "F1", "LOVELACE ET AL."),
        *numbered(
            [
                "had plagued the earlier surveys of this cluster and of its neighbours in the solar vicinity.",
                "The measurement itself is described in the following table, which lists all of the stars.",
            ],
            first=8,
            top=730,
        ),
        (72, 690, 9, "F1", "Table 1. Periods and ages of the first three stars."),
        (72, 675, 9, "F1", "Star Period Age Error"),
        (72, 663, 9, "F1", "HD 1 12.50 0.650 -0.010"),
        (72, 651, 9, "F1", "HD 2 11.25 0.640 -0.020"),
        (72, 639, 9, "F1", "HD 3 10.75 0.660 +0.030"),
        (250, 600, 10, "F2", "References"),
        (72, 585, 9, "F1", "Barnes, S. A. 2007, ApJ, 669, 1167"),
        (72, 573, 9, "F1", "Skumanich, A. 1972, ApJ, 171, 565"),
    ]
    return write_pdf([one, two])
