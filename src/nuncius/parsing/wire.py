"""A Document as JSON, so that it can be parsed in a child process."""

import json
from dataclasses import asdict
from typing import Any, Literal, TypedDict, cast

from nuncius.core.documents import Block, Document, FrontMatter, PageText
from nuncius.core.errors import DocumentError, DocumentFault


class _Failure(TypedDict):
    kind: DocumentFault
    message: str
    hint: str


def dump(document: Document) -> bytes:
    """Return `document` as one line of JSON in UTF-8."""
    return _json(
        {
            "document": {
                "kind": document.kind,
                "engine": document.engine,
                "blocks": [[b.kind, b.text, b.page, b.level] for b in document.blocks],
                "layer": [[page.page, page.text] for page in document.layer],
                "front": asdict(document.front),
                "page_count": document.page_count,
                "language": document.language,
                "verdict": document.verdict,
            }
        }
    )


def dump_error(error: DocumentError) -> bytes:
    """Return the error as one line of JSON in UTF-8."""
    return _json({"error": {"kind": error.kind, "message": error.message, "hint": error.hint}})


def load(data: bytes) -> Document:
    """Read what `dump` or `dump_error` wrote.

    Raises:
        DocumentError: The other side could not read the document (the same error), or what it
            sent is no document.
    """
    try:
        answer: dict[Literal["document", "error"], Any] = json.loads(data)
        if "error" in answer:
            failure = cast("_Failure", answer["error"])
            error = DocumentError(failure["kind"], failure["message"], hint=failure["hint"])
        else:
            return _document(answer["document"])
    except (ValueError, KeyError, TypeError) as broken:
        raise DocumentError(
            "damaged",
            "The parser's answer broke off: the file made it fail.",
            hint="Fetch the file again, or add another format of the paper.",
        ) from broken
    raise error


def _document(fields: dict[str, Any]) -> Document:
    front = dict(fields["front"])
    front["authors"] = tuple(front["authors"])
    return Document(
        kind=fields["kind"],
        engine=fields["engine"],
        blocks=tuple(Block(*block) for block in fields["blocks"]),
        layer=tuple(PageText(*page) for page in fields["layer"]),
        front=FrontMatter(**front),
        page_count=fields["page_count"],
        language=fields["language"],
        verdict=fields["verdict"],
    )


def _json(value: dict[str, Any]) -> bytes:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()
