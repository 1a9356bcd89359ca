from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nuncius.app.dotenv import parse_dotenv, read_dotenv


@pytest.mark.parametrize(
    ("line", "value"),
    [
        ("A=b", "b"),
        ("export A = b ", "b"),
        ("A=", ""),
        ("A='b # c'", "b # c"),
        ('A="b \\"c\\" \\n d"', 'b "c" \n d'),
        ('A="b" # why', "b"),
        ("A=b # why", "b"),
        ("A=b#c", "b#c"),
        ("A=# nothing", ""),
        ("A=$HOME/x", "$HOME/x"),
        ("A='$(rm -rf /)'", "$(rm -rf /)"),
        ("A=sk-1=2=3", "sk-1=2=3"),
    ],
)
def test_reads_a_line_as_a_shell_would_without_expanding(line: str, value: str) -> None:
    assert parse_dotenv(line).values == {"A": value}


def test_names_lines_that_say_nothing() -> None:
    found = parse_dotenv("# fine\n\nA=1\nnonsense\nB='open\n=x\n")
    assert found.values == {"A": "1"}
    assert found.unclear == (4, 5, 6)


@given(st.text())
def test_any_text_is_taken_without_a_crash(text: str) -> None:
    found = parse_dotenv(text)
    assert len(found.values) + len(found.unclear) <= len(text.splitlines())


def test_a_missing_file_is_empty(tmp_path: Path) -> None:
    assert not read_dotenv(tmp_path / ".env").values
    assert not read_dotenv(tmp_path / "file" / ".env").values


@pytest.mark.parametrize("content", [b"A=\xff", b"A=" + b"x" * 70_000])
def test_odd_files_are_refused_with_the_reason(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / ".env"
    path.write_bytes(content)
    with pytest.raises(ValueError, match="it is"):
        read_dotenv(path)


def test_a_mark_at_the_start_is_no_part_of_the_name(tmp_path: Path) -> None:
    path = tmp_path / ".env"
    path.write_bytes(b"\xef\xbb\xbfA=1\n")
    assert read_dotenv(path).values == {"A": "1"}
