"""Find a quote in a page's text: which of its characters belong to it."""

import bisect
import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass

from nuncius.core.text import fold

_NUMBER_FIRST = re.compile(r"^[ \t]*(\d{1,4})(?=\s|$)", re.MULTILINE | re.ASCII)
_NUMBER_LAST = re.compile(r"(?<=\s)(\d{1,4})[ \t]*$", re.MULTILINE | re.ASCII)
_ENOUGH = 0.85
"""A quote of which this share was found is taken as found: formulas differ between readers."""
_EDGE = 0.4
"""A quote that runs over stands in the last part of one page and the first of the next."""
_SKIP = 6


def locate(text: str, quote: str) -> tuple[list[int], float]:
    """Return the places in `text` that make up `quote`, in order, and which share of it is there.

    Args:
        text: A page's characters in stream order, lines ended by a newline.
        quote: Text as it was cleaned for reading: lines joined, furniture and margin numbers gone.

    Returns:
        Indices into `text` and a share between 0 and 1. Nothing and 0 where the page does not
        hold the quote; a share below 1 where it runs over the page's end, or a formula differs.
    """
    whole = list(range(len(text)))
    margin = _margin_numbers(text)
    kept = [at for at in whole if at not in margin] if margin else whole
    for places in [kept, whole] if margin else [whole]:
        span = fold("".join(text[at] for at in places)).find(fold(quote))
        if span:
            return places[slice(*span)], 1.0
    found: tuple[list[int], float] = ([], 0.0)
    for places in [kept, whole] if margin else [whole]:
        candidate = _locate_pieces([text[at] for at in places], quote)
        if candidate[1] > found[1]:
            found = [places[at] for at in candidate[0]], candidate[1]
    return found


def _margin_numbers(text: str) -> set[int]:
    """Return the places of line numbers: at lines' starts or ends, counting up by 1 or 5."""
    taken: set[int] = set()
    for pattern in (_NUMBER_FIRST, _NUMBER_LAST):
        # pdfium writes its hyphen sign instead of hyphen and line break
        matches = list(pattern.finditer(text.replace("\ufffe", "\n")))
        values = {int(match[1]) for match in matches}
        rising = {
            value
            for value in values
            if any({value + step, value - step} & values for step in (1, 5))
        }
        if len(rising) >= 3:
            for match in matches:
                if int(match[1]) in rising:
                    taken.update(range(*match.span(1)))
    return taken


# --- pieces: the quote is broken by furniture, a column's or the page's end ----------------------


@dataclass(frozen=True, slots=True)
class _Skeleton:
    """Letters and digits only; `offsets[i]`: where character i stood; `bounds`: lines' starts."""

    text: str
    offsets: list[int]
    bounds: list[int]


def _skeleton(characters: list[str] | str) -> _Skeleton:
    letters: list[str] = []
    offsets: list[int] = []
    bounds = [0]
    for at, char in enumerate(characters):
        if char in "\n\ufffe":
            if bounds[-1] != len(letters):
                bounds.append(len(letters))
            continue
        for piece in _plain(char, characters, at):
            letters.append(piece)
            offsets.append(at)
    if bounds[-1] != len(letters):
        bounds.append(len(letters))
    return _Skeleton("".join(letters), offsets, bounds)


def _plain(char: str, characters: list[str] | str, at: int) -> str:
    """Return what of `char` is compared: signs and points of numbers count, accents do not."""
    if char in ".-\u2212\u2010\u2011\u2013":
        after = characters[at + 1] if at + 1 < len(characters) else ""
        before = characters[at - 1] if at else ""
        if char == ".":
            return "." if before.isdigit() and after.isdigit() else ""
        return "-" if after.isdigit() and not before.isalnum() else ""
    if char.isascii():
        return char.lower() if char.isalnum() else ""
    if char == "\u0131":  # the dotless i under an accent of its own
        return "i"
    decomposed = unicodedata.normalize("NFKD", char).casefold()
    return "".join(piece for piece in decomposed if piece.isalnum())


@dataclass(frozen=True, slots=True)
class _Piece:
    """A run that page and quote share: its starts in both, and its length."""

    page: int
    quote: int
    length: int


def _locate_pieces(characters: list[str], quote: str) -> tuple[list[int], float]:
    page, needle = _skeleton(characters), _skeleton(quote).text
    if not needle:
        return [], 0.0
    han = sum("\u3400" <= char <= "\u9fff" for char in needle) * 2 > len(needle)
    least = min(6 if han else 14, len(needle))
    best: list[_Piece] = []
    for start in _starts(page, needle, least):
        pieces = _chain(page, needle, start, least)
        if _length(pieces) > _length(best) and _is_plausible(pieces, page, needle):
            best = pieces
    places: list[int] = []
    for piece in best:
        first, last = page.offsets[piece.page], page.offsets[piece.page + piece.length - 1]
        if piece.quote + piece.length == len(needle):
            last = _with_closing(characters, last, quote)
        places.extend(range(first, last + 1))
    return places, _length(best) / len(needle)


def _length(pieces: list[_Piece]) -> int:
    return sum(piece.length for piece in pieces)


def _starts(page: _Skeleton, needle: str, least: int) -> Iterator[_Piece]:
    """Yield where the quote may begin on the page, then where its rest may begin a page's line."""
    at = page.text.find(needle[:least])
    while at >= 0:
        yield _Piece(at, 0, 0)
        at = page.text.find(needle[:least], at + 1)
    for shift in range(4, 2 * least, 4):  # a raised mark or an accent in the very first words
        if shift + least > len(needle) or any(char.isdigit() for char in needle[:shift]):
            break
        at = page.text.find(needle[shift : shift + least])
        if at >= 0:
            head = page.text.find(needle[:4], max(0, at - shift - _SKIP), at)
            yield _Piece(head, 0, 0) if head >= 0 else _Piece(at, shift, 0)
    for bound in page.bounds:
        if bound > _EDGE * len(page.text):
            break
        seed = page.text[bound : bound + least]
        inside = needle.find(seed, 1) if len(seed) == least else -1
        if inside > 0:
            yield _Piece(bound, inside, 0)


def _chain(page: _Skeleton, needle: str, start: _Piece, least: int) -> list[_Piece]:
    """Follow the quote from piece to piece; a piece ends where a line of the page does."""
    pieces: list[_Piece] = []
    at, inside = start.page, start.quote
    while inside < len(needle):
        length = _common(page.text, at, needle, inside)
        skip = _step_over(page.text, at + length, needle, inside + length, least)
        if skip:
            pieces.append(_Piece(at, inside, length))
            at, inside = skip
            continue
        if inside + length < len(needle):
            # a column, a page or a figure cuts between lines: what agrees beyond is chance
            bound = page.bounds[bisect.bisect_right(page.bounds, at + length) - 1]
            length = bound - at
        if length <= 0:
            break
        pieces.append(_Piece(at, inside, length))
        inside += length
        seed = needle[inside : inside + least]
        following = page.bounds[bisect.bisect_left(page.bounds, at + length) :]
        resumed = next((b for b in following if page.text.startswith(seed, b)), None)
        if len(seed) < 4 or resumed is None:
            break
        at = resumed
    return pieces


def _common(page: str, at: int, needle: str, inside: int) -> int:
    length = 0
    limit = min(len(page) - at, len(needle) - inside)
    while length < limit and page[at + length] == needle[inside + length]:
        length += 1
    return length


def _step_over(page: str, at: int, needle: str, inside: int, least: int) -> tuple[int, int] | None:
    """Return where both agree again after a few characters, or None: a mark, a symbol, an accent.

    A number is never stepped over: the quote's digits must all stand on the page, and digits of
    the page may be left out only where they stand alone, as a raised footnote mark does.
    """
    if inside >= len(needle):
        return None
    for left_out in range(_SKIP + 1):
        for missing in range(_SKIP + 1):
            seed = needle[inside + missing : inside + missing + least]
            if len(seed) < least or not page.startswith(seed, at + left_out):
                continue
            around = page[at - 1 : at] + seed[:1]
            digits = any(char.isdigit() for char in page[at : at + left_out])
            if any(char.isdigit() for char in needle[inside : inside + missing]):
                continue
            if digits and any(char.isdigit() or char in ".-" for char in around):
                continue
            return at + left_out, inside + missing
    return None


def _is_plausible(pieces: list[_Piece], page: _Skeleton, needle: str) -> bool:
    """Tell a quote that is here, or runs over the page's edge, from words that merely agree."""
    if not pieces:
        return False
    if _length(pieces) >= _ENOUGH * len(needle):
        return True
    first, last = pieces[0], pieces[-1]
    if first.quote == 0:
        return last.page + last.length >= (1 - _EDGE) * len(page.text)
    at_top = first.page in page.bounds and first.page <= _EDGE * len(page.text)
    return at_top and last.quote + last.length == len(needle)


def _with_closing(characters: list[str], last: int, quote: str) -> int:
    """Return the place of the full stop or bracket that closes the quote, if it follows."""
    while (
        last + 1 < len(characters)
        and not characters[last + 1].isalnum()
        and not characters[last + 1].isspace()
        and characters[last + 1] in quote[-4:]
    ):
        last += 1
    return last
