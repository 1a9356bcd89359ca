"""Read XML that a service sent: no entity is expanded, nothing is fetched, a web page is refused."""

import importlib
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from xml.sax.saxutils import escape, quoteattr

from nuncius.core.errors import UpstreamError

_PAGE = re.compile(rb"(?is)\s*(?:<!--.*?-->\s*)*<(?:!doctype\s+html|html|head|body)\b")
_TAGS = re.compile(r"(?is)<(?:script|style)\b.*?</(?:script|style)>|<[^>]*>")
_SHOWN = 160


@dataclass(frozen=True, slots=True)
class Element:
    """One element.

    Attributes:
        name: Without namespace.
        pieces: Text and elements as they stand.
    """

    name: str
    attributes: Mapping[str, str]
    pieces: tuple["str | Element", ...]

    @property
    def children(self) -> Iterator["Element"]:
        """Yield the elements directly inside."""
        return (piece for piece in self.pieces if isinstance(piece, Element))

    @property
    def text(self) -> str:
        """Return all text inside, white space around it included."""
        return "".join(one if isinstance(one, str) else one.text for one in self.pieces)

    def get(self, name: str) -> str:
        """Return an attribute; empty where it is not there."""
        return self.attributes.get(name, "")

    def all(self, *names: str) -> Iterator["Element"]:
        """Yield the elements of these names anywhere inside, as they stand."""
        for child in self.children:
            if child.name in names:
                yield child
            yield from child.all(*names)

    def first(self, name: str) -> "Element | None":
        """Return the first child of this name."""
        return next((child for child in self.children if child.name == name), None)

    def child_text(self, name: str) -> str:
        """Return the words of the first child of this name; empty where there is none."""
        child = self.first(name)
        return "" if child is None else child.text.strip()

    def __str__(self) -> str:
        """Return it as XML, without namespaces."""
        inner = "".join(escape(one) if isinstance(one, str) else str(one) for one in self.pieces)
        said = "".join(f" {name}={quoteattr(text)}" for name, text in self.attributes.items())
        return f"<{self.name}{said}>{inner}</{self.name}>"


def parse(content: bytes, *, service: str, url: str) -> Element:
    """Return the root of `content`.

    Comments and text after the root are no fault: some services put them there.

    Raises:
        UpstreamError: It is a web page, or no XML.
    """
    if _PAGE.match(content[:4096]):
        raise UpstreamError(
            service,
            url,
            f"it answered with a web page instead of data{said(content)}",
            hint="The service may be down for a while; try again later.",
        )
    etree: Any = importlib.import_module("lxml.etree")  # lxml brings no types
    parser = etree.XMLParser(
        resolve_entities=False, no_network=True, load_dtd=False, remove_comments=True,
        remove_pis=True, huge_tree=False,
    )  # fmt: skip
    try:
        root = etree.fromstring(content, parser)
    except (etree.XMLSyntaxError, ValueError) as error:
        raise UpstreamError(
            service,
            url,
            f"the answer cannot be read as XML ({error}){said(content)}",
            hint="It may have been cut or be no data; try again later.",
        ) from error
    return _element(root)


def _element(node: Any) -> Element:
    pieces: list[str | Element] = [node.text] if node.text else []
    for child in node:
        if isinstance(child.tag, str):  # else an entity, which is not expanded
            pieces.append(_element(child))
        if child.tail:
            pieces.append(child.tail)
    attributes = {str(name).rpartition("}")[2]: str(text) for name, text in node.attrib.items()}
    return Element(str(node.tag).rpartition("}")[2], attributes, tuple(pieces))


def said(content: bytes) -> str:
    """Return the first words of a page or a text, such as ``: "502 Bad Gateway"``; or nothing."""
    text = " ".join(_TAGS.sub(" ", content[:8192].decode("utf-8", errors="replace")).split())
    return f': "{text[:_SHOWN]}{"..." if len(text) > _SHOWN else ""}"' if text else ""
