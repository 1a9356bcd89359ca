"""A home and an open store for each test."""

from collections.abc import AsyncGenerator
from pathlib import Path

import pytest

from nuncius.store import open_store
from nuncius.store.sqlite import SqliteStore


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"


@pytest.fixture
def database_path(home: Path) -> Path:
    return home / "nuncius.db"


@pytest.fixture
async def store(home: Path, database_path: Path) -> AsyncGenerator[SqliteStore, None]:
    opened = await open_store(home, database_path)
    yield opened
    await opened.close()
