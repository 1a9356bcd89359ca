"""Fixtures that every room uses."""

from pathlib import Path

import pytest
from hypothesis import settings

settings.register_profile(
    "untimed", settings.get_profile(settings.get_current_profile_name()), deadline=None
)
settings.load_profile("untimed")  # what is slow stands in bench/: machines are noisy

PROJECT = Path(__file__).resolve().parent.parent


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """Return the folder of real input beside the checkout; skip where it is not there."""
    folder = PROJECT.parent / "shared" / "data"
    if not folder.is_dir():
        pytest.skip("no ../shared/data: real input is not part of the project")
    return folder
