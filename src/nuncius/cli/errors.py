"""What programs are told of an error: one word."""

import re

from nuncius.core.errors import DocumentError, NunciusError


def kind_of(error: NunciusError) -> str:
    """Return a document's fault, else the class in small letters: ``not_found``."""
    if isinstance(error, DocumentError):
        return error.kind
    name = type(error).__name__.removesuffix("Error")
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).lower()
