"""The one way in which the store writes times."""

from datetime import UTC, datetime


def now() -> str:
    """Return the time as ISO 8601 in UTC, such as ``2026-03-01T12:00:00.123Z``."""
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
