"""Turns the common patterns of a Chinese request into English ones, so that one reader serves both."""

import re
import unicodedata
from collections.abc import Mapping
from functools import cache
from importlib.resources import files

from nuncius.sources.ads_reading import CUT, OBJECT
from nuncius.sources.object_names import with_printed_names

_HAN = re.compile("[\u3400-\u4dbf\u4e00-\u9fff]")
_DIGITS = {**dict(zip("一二三四五六七八九十", range(1, 11), strict=True)), "两": 2, "几": 3}
_N = r"(\d+|[一二三四五六七八九十两几])"
_Y = r"((?:1[5-9]|20)\d\d)"
_PAPER = "(?:论文|文章|文献|工作|研究|成果|著作)"
_WHO = r"([A-Za-zÀ-ɏ][A-Za-zÀ-ɏ.,'’ -]*[A-Za-zÀ-ɏ.]|[\u4e00-\u9fff·]{2,6}?)"
_UNITS = {"年": "years", "月": "months", "周": "weeks", "天": "days", "日": "days"}


def _last(match: re.Match[str]) -> str:
    count = match[1] if match[1].isdigit() else str(_DIGITS[match[1]])
    return f" last {count} {_UNITS[match[2][-1]]} "


@cache
def _rules() -> tuple[tuple[re.Pattern[str], str], ...]:
    text = files("nuncius.sources").joinpath("chinese_patterns.tsv").read_text(encoding="utf-8")
    found: list[tuple[re.Pattern[str], str]] = []
    for line in text.splitlines():
        if line.startswith("#"):
            continue
        pattern, replacement = line.split("\t")
        for name, meaning in (("YEAR", _Y), ("WHO", _WHO), ("PAPER", _PAPER)):
            pattern = pattern.replace(name, meaning)
        found.append((re.compile(pattern), replacement[1:-1]))
    return tuple(found)


_LAST = re.compile(
    rf"(?:最近|近|过去|前|最近的)\s*{_N}\s*(年|个月|月|周|天|日)(?:来|内|间|里)?(?:的)?"
)
_QUOTED = re.compile('["“「『《][^"”」』》]*["”」』》]')
_BRACED = re.compile(r"19\{(.)\}0s")
_MONTH = re.compile(r"(?<=-)0(\d\d)(?=\s)")


def is_chinese(text: str) -> bool:
    """Tell whether `text` has Chinese characters."""
    return bool(_HAN.search(text))


def to_english(text: str, *, glossary: Mapping[str, str] | None = None) -> str:
    """Put English patterns in place of the Chinese ones; names and unknown terms stay as they are.

    Args:
        text: The request as typed.
        glossary: Chinese terms and their English, from whoever has one; longest terms go first.
    """
    text = _LAST.sub(_last, unicodedata.normalize("NFKC", text))
    text = with_printed_names(re.sub("[\u2018\u2019]", "'", text), around=OBJECT)
    text = _QUOTED.sub(lambda match: re.sub(f"[{''.join(OBJECT)}]", "", match[0]), text)
    for pattern, replacement in _rules():
        text = pattern.sub(replacement, text)
    text = text.replace("¦", CUT)
    text = _MONTH.sub(r"\1", text)
    text = _BRACED.sub(lambda match: f"19{_DIGITS.get(match[1], match[1])}0s", text)
    for term in sorted(glossary or {}, key=len, reverse=True):
        if term in text and glossary:
            text = text.replace(term, f" {glossary[term]} ")
    return re.sub(r"[^\S\n]+", " ", text).strip()
