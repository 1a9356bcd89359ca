import base64
import json
from pathlib import Path
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nuncius.walls.secrets import MASK, Masker

KEY = 'Q1w2/E3r4+T5"y6é'


@pytest.mark.parametrize(
    "text",
    [
        KEY,
        quote(KEY, safe=""),
        quote(KEY),
        json.dumps({"key": KEY}),
        json.dumps({"key": KEY}, ensure_ascii=False),
        repr({"key": KEY}),
        KEY.encode().hex(),
    ],
)
def test_a_known_secret_is_masked_in_every_spelling(text: str) -> None:
    masked = Masker([KEY]).mask(f"before {text} after")
    assert MASK in masked
    assert text not in masked
    assert masked.startswith("before ")
    assert masked.endswith(" after")


@pytest.mark.parametrize("before", ["", "u:", "us:", "use:", "user:"])
@pytest.mark.parametrize("after", ["", "!", "!!", "and more"])
def test_a_known_secret_is_masked_within_base64(before: str, after: str) -> None:
    secret = "S3cretValueOfSomeKey"
    encoded = base64.b64encode((before + secret + after).encode()).decode()
    masked = Masker([secret]).mask(f"Basic {encoded}")
    left = masked.removeprefix("Basic ").replace(MASK, "")
    assert len(left) <= len(encoded) - len(secret)


@given(st.text(min_size=6).filter(lambda text: len(text.strip()) >= 6), st.text(), st.text())
def test_a_known_value_never_stays(secret: str, before: str, after: str) -> None:
    masked = Masker([secret]).mask(before + secret + after)
    assert secret.strip() not in masked.replace(MASK, "\0")


def test_short_and_empty_values_blacken_nothing() -> None:
    assert Masker(["", "a", "the", "  "]).mask("the star a Lyr") == "the star a Lyr"


@pytest.mark.parametrize(
    "text",
    [
        "NGC 1068 at z = 0.0038, 2MASS J02424077-0000478",
        "bibcode 2019ApJ...882L..24A, arXiv:1906.11238, doi 10.3847/2041-8213/ab0ec7",
        "max_tokens: 4096, 12 tokens were used",
        "task-force-of-observers-2024",
        "https://ui.adsabs.harvard.edu/abs/2019ApJ...882L..24A/abstract",
    ],
)
def test_science_is_left_alone(text: str) -> None:
    assert Masker().mask(text) == text


def test_unknown_secrets_are_masked_by_shape_and_by_name() -> None:
    for text, secret in {
        "Authorization: Bearer abcdefgh12345": "abcdefgh12345",
        "GET /x?api_key=abcdefgh12345&q=1": "abcdefgh12345",
        "https://me:abcdefgh12345@host.example/": "abcdefgh12345",
        "key sk-proj-abcdefghijklmnop1234": "sk-proj-abcdefghijklmnop1234",
    }.items():
        assert secret not in Masker().mask(text)
    assert Masker().mask("GET /x?api_key=abcdefgh12345&q=1") == f"GET /x?api_key={MASK}&q=1"


def test_the_made_up_secrets_of_the_corpus(shared_data: Path) -> None:
    for line in (shared_data / "attacks" / "secrets.jsonl").read_text().splitlines():
        case = json.loads(line)
        secret = case["must_not_appear"]
        assert secret not in Masker([secret]).mask(case["text"])
        if "-split" not in case["id"]:  # a bare word without a shape or a name is not a secret
            assert secret not in Masker().mask(case["text"]), case["id"]
