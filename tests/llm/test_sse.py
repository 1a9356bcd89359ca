import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nuncius.llm.sse import DONE, LineTooLongError, SseReader


def payloads(data: bytes, size: int = 10_000) -> list[str]:
    reader = SseReader()
    found = [p for at in range(0, len(data), size) for _, p in reader.feed(data[at : at + size])]
    return found + [p for _, p in reader.close()]


@pytest.mark.parametrize(
    "data",
    [
        b'data: {"a": 1}\n\ndata: [DONE]\n\n',
        b'data:{"a": 1}\ndata:[DONE]\n',
        b': OPENROUTER PROCESSING\n\n data: {"a": 1}\r\n\r\ndata: [DONE]',
        b'\xef\xbb\xbfdata: {"a": 1}\r\rid: 7\rretry: 1\rdata: [DONE]\r\r',
        b'event: message\ndata: {"a":\ndata:  1}\n\ndata: [DONE]\n\n',
        b'{"a": 1}\n[DONE]\n',
    ],
)
@pytest.mark.parametrize("size", [1, 3, 10_000])
def test_reads_every_way_servers_write_a_stream(data: bytes, size: int) -> None:
    first, second = payloads(data, size)
    assert first.replace(" ", "").replace("\n", "") == '{"a":1}'
    assert second == DONE


@given(st.text(), st.integers(1, 9))
def test_a_character_cut_in_two_is_whole_again(text: str, size: int) -> None:
    line = json.dumps({"t": text}, ensure_ascii=False).replace("\u2028", "")
    if any(c in line for c in "\r\n"):
        return
    data = f"data: {line}\n\n".encode("utf-8", "surrogatepass")
    assert payloads(data, size) == payloads(data)


def test_bytes_that_are_no_utf8_are_replaced_not_fatal() -> None:
    assert payloads(b'data: {"a": "\xff\xfe"}\n\n') == ['{"a": "\ufffd\ufffd"}']


def test_the_name_of_an_event_comes_with_it() -> None:
    reader = SseReader()
    assert list(reader.feed(b'event: error\ndata: {"error": {}}\n\ndata: {}\n\n')) == [
        ("error", '{"error": {}}'),
        ("", "{}"),
    ]


@pytest.mark.parametrize("data", [b"data: " + b"x" * 200, b"data: y\n" * 50])
def test_a_line_or_event_without_end_is_bounded(data: bytes) -> None:
    reader = SseReader(line_characters=40)
    with pytest.raises(LineTooLongError):
        list(reader.feed(data))
