"""Quotes are found again where they stand, and nowhere else."""

import pytest

from nuncius.library.library import Library
from nuncius.library.verify import Verifier
from nuncius.store.protocols import Store


@pytest.fixture
async def star(filled: Library) -> str:
    return next(p.paper_id for p in await filled.papers() if p.pages)


@pytest.mark.parametrize(
    ("quote", "page", "check"),
    [
        ("Its radius is 1.72 solar radii", 1, "exact"),
        ("Its  radius\nis 1.72 solar radii", 1, "folded"),
        ("is not reddened by dust", 2, "folded"),
        ("4.1 Gyr. The colour excess", 1, "folded"),
    ],
)
async def test_found(store: Store, star: str, quote: str, page: int, check: str) -> None:
    place = await Verifier(store).locate(star, quote)
    assert place
    assert (place.page, place.check) == (page, check)


@pytest.mark.parametrize(
    ("quote", "page"),
    [
        ("Its radius is 1.73 solar radii", None),
        ("The colour excess is 0.03 mag", None),
        ("Its radius is 1.72 solar radii", 2),
        ("   ", None),
        ("its radius is 1.72", None),
    ],
)
async def test_not_found(store: Store, star: str, quote: str, page: int | None) -> None:
    assert await Verifier(store).locate(star, quote, page=page) is None


async def test_a_paper_that_is_not_there_holds_nothing(store: Store) -> None:
    assert await Verifier(store).locate("zzzzzzzz", "anything") is None
