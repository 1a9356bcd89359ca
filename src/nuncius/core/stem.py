"""The Porter stemmer (M. F. Porter, 1980), so that code agrees with the search index on words.

SQLite's FTS5 stems with the same algorithm; a test compares the two on real words.
"""

from functools import lru_cache

from nuncius.core.text import index_terms

_VOWELS = "aeiou"
_STEP_2 = (
    ("ational", "ate"), ("tional", "tion"), ("enci", "ence"), ("anci", "ance"), ("izer", "ize"),
    ("logi", "log"), ("bli", "ble"), ("alli", "al"), ("entli", "ent"), ("eli", "e"), ("ousli", "ous"),
    ("ization", "ize"), ("ation", "ate"), ("ator", "ate"), ("alism", "al"), ("iveness", "ive"),
    ("fulness", "ful"), ("ousness", "ous"), ("aliti", "al"), ("iviti", "ive"), ("biliti", "ble"),
)  # fmt: skip
_STEP_3 = (
    ("icate", "ic"), ("ative", ""), ("alize", "al"), ("iciti", "ic"), ("ical", "ic"), ("ful", ""),
    ("ness", ""),
)  # fmt: skip
_STEP_4 = (
    "al ance ence er ic able ible ant ement ment ent sion tion ou ism ate iti ous ive ize"
).split()


def _is_consonant(word: str, index: int) -> bool:
    char = word[index]
    if char in _VOWELS:
        return False
    return char != "y" or index == 0 or not _is_consonant(word, index - 1)


def _measure(stem: str) -> int:
    """Count the vowel-consonant sequences of a stem."""
    count = 0
    vowel_before = False
    for index in range(len(stem)):
        vowel = not _is_consonant(stem, index)
        count += vowel_before and not vowel
        vowel_before = vowel
    return count


def _has_vowel(stem: str) -> bool:
    return any(not _is_consonant(stem, index) for index in range(len(stem)))


def _double(word: str) -> bool:
    return len(word) > 1 and word[-1] == word[-2] and _is_consonant(word, len(word) - 1)


def _cvc(word: str) -> bool:
    return (
        len(word) > 2
        and _is_consonant(word, len(word) - 3)
        and not _is_consonant(word, len(word) - 2)
        and _is_consonant(word, len(word) - 1)
        and word[-1] not in "wxy"
    )


def _step_1(word: str) -> str:
    if word.endswith("s"):
        if word.endswith(("sses", "ies")):
            word = word[:-2]
        elif not word.endswith("ss"):
            word = word[:-1]
    if word.endswith("eed"):
        if _measure(word[:-3]) > 0:
            word = word[:-1]
    else:
        for ending in ("ed", "ing"):
            stem = word.removesuffix(ending)
            if stem != word and _has_vowel(stem):
                word = _after_ed(stem)
                break
    if word.endswith("y") and _has_vowel(word[:-1]):
        word = word[:-1] + "i"
    return word


def _after_ed(stem: str) -> str:
    if stem.endswith(("at", "bl", "iz")):
        return stem + "e"
    if _double(stem) and stem[-1] not in "lsz":
        return stem[:-1]
    if _measure(stem) == 1 and _cvc(stem):
        return stem + "e"
    return stem


def _swap(word: str, endings: tuple[tuple[str, str], ...]) -> str:
    for ending, other in sorted(endings, key=lambda pair: -len(pair[0])):
        if word.endswith(ending):
            stem = word[: -len(ending)]
            return stem + other if _measure(stem) > 0 else word
    return word


def _step_4(word: str) -> str:
    for ending in sorted(_STEP_4, key=len, reverse=True):
        if not word.endswith(ending):
            continue
        stem = word[: -len(ending)]
        if ending in {"sion", "tion"}:
            stem += ending[0]
        return stem if _measure(stem) > 1 else word
    return word


def _step_5(word: str) -> str:
    if word.endswith("e"):
        stem = word[:-1]
        size = _measure(stem)
        if size > 1 or (size == 1 and not _cvc(stem)):
            word = stem
    if word.endswith("ll") and _measure(word[:-1]) > 1:
        word = word[:-1]
    return word


@lru_cache(maxsize=16384)
def stem(word: str) -> str:
    """Return the stem of a lower-case English word; other words come back as they are."""
    if len(word) < 3 or not word.isascii() or not word.isalpha():
        return word
    return _step_5(_step_4(_swap(_swap(_step_1(word), _STEP_2), _STEP_3)))


def stems(text: str) -> list[str]:
    """Return the stems of the tokens of `text`, as the search index sees them."""
    return [stem(token) for token in index_terms(text).split()]
