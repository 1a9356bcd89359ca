"""A served home for each test."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from api.served import Place, place_in


@pytest.fixture
async def place(tmp_path: Path) -> AsyncIterator[Place]:
    async with place_in(tmp_path) as served:
        yield served
