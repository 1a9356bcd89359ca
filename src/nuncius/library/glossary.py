"""Astronomy's words in Chinese and English: turns queries and names other words for a thing."""

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from nuncius.core.stem import stem
from nuncius.core.text import STOP_WORDS, index_terms, query_terms

_HAN = re.compile("[\u3400-\u4dbf\u4e00-\u9fff]")
_LATIN = re.compile(r"[A-Za-z0-9]")
_LONGEST = 16
_QUESTION_WORDS = """
    什么时候 为什么 什么样 哪一个 哪一年 哪一种 多少个 怎么样 是不是 是什么 是多少 有什么 有多少
    有没有 能不能 一个 一共 一种 一颗 为何 什么 他们 作者 使用 其中 分别 可以 哪个 哪些 哪台
    哪年 哪次 哪种 哪类 哪里 哪颗 多久 多大 多少 多快 多远 多重 多长 多高 大约 如何 如果
    它们 它的 应该 得到 怎么 怎样 总共 我们 文中 文章 是否 给出 要花 论文 请问 这个 这些
    这篇 进行 那个 需要 一 上 下 与 个 中 为 之 也 了 于 些 从 以 会 但 其 到 前 及
    只 可 各 后 吗 吧 呢 和 哪 在 多 它 对 就 并 应 当 很 或 所 才 把 时 是 更 最
    有 某 每 用 由 的 种 约 而 能 花 若 被 要 该 请 还 这 那 都 里 间 颗
""".split()
_STOP = frozenset(_QUESTION_WORDS)
_DIGITS = {char: value for value, char in enumerate("零一二三四五六七八九")} | {"〇": 0, "两": 2}
_SCALES = {"十": 10, "百": 100, "千": 1000, "万": 10_000, "亿": 100_000_000}
_N = "[零〇一二两三四五六七八九十百千万亿]"
_NUMERAL = re.compile(
    rf"百分之(?P<percent>{_N}+)|(?P<tenths>[一二两三四五六七八九])成"
    rf"|(?P<years>{_N}*[万亿])[年岁]|(?P<number>{_N}{{2,}}|[二两三四五六七八九十](?=[年岁天个颗次倍种层]))"
)


@dataclass(frozen=True, slots=True)
class Glossary:
    """The word lists, ready for look-ups.

    `english` maps a Chinese term to its English words, `chinese` an English phrase (its stems) to
    Chinese terms as search tokens; `siblings` maps an English phrase to other phrases for nearly
    the same, `same` to other spellings of the very same; `phrases` holds the English terms of
    several words, as stems.
    """

    english: dict[str, tuple[str, ...]]
    chinese: dict[str, tuple[str, ...]]
    siblings: dict[str, tuple[str, ...]]
    same: dict[str, tuple[str, ...]]
    phrases: frozenset[str]

    def translate(self, text: str) -> tuple[list[tuple[str, tuple[str, ...]]], str]:
        """Take the Chinese terms out of `text`, longest first from the left.

        Returns:
            The terms in order, each with its English words (none where the list does not know
            it), and the rest of the text. Question words are in neither.
        """
        text = unicodedata.normalize("NFKC", text)
        found: list[tuple[str, tuple[str, ...]]] = []
        rest: list[str] = []
        unknown = ""
        position = 0
        while position < len(text):
            piece = self._longest(text, position)
            numeral, end = _numeral(text, position)
            if end - position <= len(piece):
                numeral = ""  # a listed word, such as 三合星, is longer
            if not piece and not numeral and _HAN.match(text[position]):
                unknown += text[position]
                position += 1
                continue
            if unknown:
                found.append((unknown, ()))
                unknown = ""
            if numeral:
                rest.append(f" {numeral} ")
                position = end
                continue
            if piece in self.english:
                found.append((piece, self.english[piece]))
            rest.append(" " if piece else text[position])
            position += len(piece) or 1
        if unknown:
            found.append((unknown, ()))
        return found, "".join(rest)

    def _longest(self, text: str, position: int) -> str:
        """Return the longest known word that starts at `position`, or an empty string."""
        if _LATIN.match(text[position]) and position and _LATIN.match(text[position - 1]):
            return ""  # not inside a Latin word
        for length in range(min(_LONGEST, len(text) - position), 0, -1):
            piece = text[position : position + length]
            if piece in self.english or piece in _STOP:
                return piece
        return ""


def _numeral(text: str, position: int) -> tuple[str, int]:
    """Return the number in Chinese characters at `position` in digits, and where it ends.

    Long times come in the units that papers print: ``六十亿年`` is ``6 Gyr``, ``三百万年`` is
    ``3 Myr``.
    """
    match = _NUMERAL.match(text, position)
    if not match:
        return "", position
    if match["percent"]:
        return f"{_value(match['percent'])} %", match.end()
    if match["tenths"]:
        return f"{10 * _value(match['tenths'])} %", match.end()
    value = _value(match["years"] or match["number"])
    if not match["years"] or value < 1_000_000:
        return str(value), match.end()
    unit, size = ("Gyr", 1e9) if value >= 1_000_000_000 else ("Myr", 1e6)
    return f"{value / size:g} {unit}", match.end()


def _value(numeral: str) -> int:
    total, section, digit = 0, 0, 0
    for char in numeral:
        if char in _DIGITS:
            digit = _DIGITS[char]
            continue
        scale = _SCALES[char]
        if scale < 10_000:  # 十, 百, 千 count within a section of four digits
            section += (digit or 1) * scale
        else:
            total = (total + section + digit or 1) * scale
            section = 0
        digit = 0
    return total + section + digit


def phrase(words: str) -> str:
    """Return English words as the search's tokens, stop words left out."""
    return " ".join(term[0] for term in query_terms(words) if term[0] not in STOP_WORDS)


def stemmed(words: str) -> str:
    """Return the stems of search tokens, joined by spaces."""
    return " ".join(map(stem, words.split()))


def spellings(words: str) -> tuple[str, ...]:
    """Return how the index may hold these words: as written, compounds glued, small words left out.

    A compound stands there as its parts and then as one word: ``tensor-to-scalar ratio`` is
    ``tensor to scalar tensortoscalar ratio``.
    """
    terms = [term for word in words.split() for term in query_terms(word)]
    written = " ".join(term[0] for term in terms)
    found = (
        (written, index_terms(words), phrase(words))
        if len(terms) > 1
        else tuple(terms[0] if terms else ())
    )
    return tuple(dict.fromkeys(filter(None, found)))


@cache
def glossary() -> Glossary:
    """Read the shipped lists.

    `glossary_zh.tsv`: Chinese, a tab, English words with ``;`` between. `related_words.txt`:
    groups of English words and symbols with ``;`` between, spellings of one thing with ``=``.
    """
    english: dict[str, tuple[str, ...]] = {}
    siblings: dict[str, dict[str, None]] = {}
    back: dict[str, dict[str, None]] = {}
    same: dict[str, dict[str, None]] = {}
    several: set[str] = set()
    for line in _lines("related_words.txt"):
        for item in line.split(";"):
            _relate(item.split("="), same, several)
        _relate(line.replace("=", ";").split(";"), siblings, several)
    for line in _lines("glossary_zh.tsv"):
        chinese, _, words = line.partition("\t")
        if not words:
            continue
        spelled = tuple(word.strip() for word in words.split(";") if word.strip())
        english[unicodedata.normalize("NFKC", chinese)] = spelled
        _relate(spelled, siblings, several)
        for one in filter(None, map(phrase, spelled)):
            tokens = " ".join(term[0] for term in query_terms(chinese))
            back.setdefault(stemmed(one), {})[tokens] = None
    return Glossary(
        english,
        {key: tuple(value) for key, value in back.items()},
        {key: tuple(value) for key, value in siblings.items() if value},
        {key: tuple(value) for key, value in same.items() if value},
        frozenset(several),
    )


def _lines(name: str) -> Iterator[str]:
    text = files("nuncius.library").joinpath(name).read_text(encoding="utf-8")
    return (line for line in text.splitlines() if line and not line.startswith("#"))


def _relate(words: Iterable[str], siblings: dict[str, dict[str, None]], several: set[str]) -> None:
    group = {stemmed(key): spellings(word) for word in words if (key := phrase(word))}
    for key in group:
        if " " in key:
            several.add(key)
        others = siblings.setdefault(key, {})
        for other, spelled in group.items():
            if other != key:
                others.update(dict.fromkeys(spelled))


def sibling_phrases(tokens: Sequence[str]) -> Iterator[tuple[int, int, tuple[str, ...]]]:
    """Yield (start, end, other phrases) for the runs of `tokens` that the lists know."""
    known = glossary().siblings
    for start in range(len(tokens)):
        for end in range(min(len(tokens), start + 4), start, -1):
            others = known.get(" ".join(tokens[start:end]))
            if others:
                yield start, end, others
