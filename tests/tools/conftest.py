"""The small library of tests/library, for the tools that stand on it."""

from library.conftest import filled, library, papers, store

__all__ = ["filled", "library", "papers", "store"]
