"""The small papers of tests/library, for whole homes."""

from library.conftest import papers

__all__ = ["papers"]
