from datetime import UTC, datetime
from pathlib import Path

import pytest

from nuncius.core.errors import ContextOverflowError, KeyMissingError, ModelError
from nuncius.llm.faults import RETRY_AFTER_CAP_S, Origin, retry_after_s, status_error

ORIGIN = Origin("test/model", "http://example.org", secret="sk-secret-1234")
NOW = datetime(2026, 1, 1, tzinfo=UTC)


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"Retry-After": "2"}, 2),
        ({"retry-after": "0.5"}, 0.5),
        ({"retry-after-ms": "1500", "retry-after": "9"}, 1.5),
        ({"retry-after": "Thu, 01 Jan 2026 00:00:07 GMT"}, 7),
        ({"retry-after": "Thu, 01 Jan 2020 00:00:00 GMT"}, 0),
        ({"retry-after": "3600"}, RETRY_AFTER_CAP_S),
        ({"retry-after": "-5"}, 0),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "1e999"}, None),
        ({"retry-after": ""}, None),
        ({}, None),
    ],
)
def test_retry_after_is_read_safely_and_capped(
    headers: dict[str, str], seconds: float | None
) -> None:
    assert retry_after_s(headers, now=NOW) == seconds


@pytest.mark.parametrize("status", [408, 409, 425, 429, 500, 502, 503, 504, 529])
def test_what_may_pass_is_tried_again(status: int) -> None:
    error = status_error(ORIGIN, status, "busy", {"retry-after": "3"})
    assert isinstance(error, ModelError)
    assert (error.retryable, error.retry_after_s) == (True, 3)


@pytest.mark.parametrize(
    ("status", "body"),
    [
        (400, '{"error": {"message": "unknown parameter"}}'),
        (404, "no such model"),
        (402, "{}"),
        (429, '{"error": {"code": "insufficient_quota", "message": "You exceeded your quota"}}'),
        (400, '{"error": {"code": "Arrearage", "message": "account in arrears"}}'),
        (301, ""),
    ],
)
def test_what_will_not_pass_is_not_tried_again(status: int, body: str) -> None:
    error = status_error(ORIGIN, status, body, {})
    assert isinstance(error, ModelError)
    assert not error.retryable


@pytest.mark.parametrize("status", [401, 403])
def test_a_refused_key_names_the_setting_and_never_the_key(status: int) -> None:
    error = status_error(ORIGIN, status, '{"error": "bad key sk-secret-1234"}', {})
    assert isinstance(error, KeyMissingError)
    assert "LLM_API_KEY" in str(error)
    assert "sk-secret" not in str(error)


@pytest.mark.parametrize(
    "message",
    [
        "This model's maximum context length is 8192 tokens.",
        "prompt is too long: 210000 tokens > 200000 maximum",
        "Range of input length should be [1, 98304]",
        "the request exceeds the available context size",
        "Please reduce the length of the messages.",
    ],
)
def test_a_conversation_too_long_is_known_by_its_words(message: str) -> None:
    body = f'{{"error": {{"message": "{message}"}}}}'
    assert isinstance(status_error(ORIGIN, 400, body, {}), ContextOverflowError)


@pytest.mark.parametrize(
    "name", ["dashscope_error_enable_thinking_nonstream", "deepseek_error_reasoning_content"]
)
def test_a_recorded_refusal_is_told_in_the_servers_words(shared_data: Path, name: str) -> None:
    body = (shared_data / "upstreams" / "llm" / f"{name}.json").read_text()
    error = status_error(ORIGIN, 400, body, {})
    assert isinstance(error, ModelError)
    assert not error.retryable
    assert "must be" in str(error)
