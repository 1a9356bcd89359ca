"""What bytes are is told from the bytes; what is no paper is refused by its name."""

import io
import zipfile

import pytest

from nuncius.core.errors import DocumentError
from nuncius.parsing import parse
from nuncius.parsing.sniff import sniff

CHINESE = (
    "摘要\n\n本文利用模拟的数据分析银河系薄盘恒星的轨道角动量分布。恒星的径向迁移强度随年龄增长。"
    * 4
)


def _zip(name: str) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr(name, "x")
    return buffer.getvalue()


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (_zip("word/document.xml"), "Word"),
        (_zip("paper.tex"), "ZIP"),
        (b"\x1f\x8b\x08\x00" + b"\x00" * 40, "gzip"),
        (b"\x89PNG\r\n\x1a\n" + b"\x00" * 40, "PNG"),
        (b"\xff\xd8\xff\xe0" + b"\x01" * 40, "JPEG"),
        (b"x" * 257 + b"ustar" + b"\x00" * 300, "tar"),
        (b"\x01\x02\x03\x04\x05\x06\x0e\x0f" * 100, "neither PDF nor text"),
        (b'<?xml version="1.0"?><article article-type="x"><front/></article>', "JATS"),
        (b'<?xml version="1.0"?><TEI xmlns="http://www.tei-c.org/ns/1.0"/>', "TEI"),
        (b"%!PS-Adobe-3.0\n", "PostScript"),
    ],
)
def test_other_files_are_named_and_refused(data: bytes, words: str) -> None:
    with pytest.raises(DocumentError, match=words) as caught:
        parse(data, name="paper.pdf")
    assert caught.value.kind == "unsupported"
    assert caught.value.hint


@pytest.mark.parametrize("data", [b"", b" \n\t ", b"\x00" * 5000])
def test_nothing_is_empty(data: bytes) -> None:
    with pytest.raises(DocumentError) as caught:
        parse(data, name="paper.pdf")
    assert caught.value.kind == "empty"


@pytest.mark.parametrize(
    ("html", "words"),
    [
        (
            "<html><head><title>Just a moment...</title></head><body>Wait</body></html>",
            "Cloudflare",
        ),
        ("<html><title>Bot Manager</title><p>Radware needs to know</p></html>", "Radware"),
        ("<html><body><form><input type='password'></form>Sign in</body></html>", "log-in"),
        ("<html><title>403 Forbidden</title><body>No</body></html>", "access-denied"),
        ("<html><div class='wd-jnl-art-turn-away-panel'>Buy</div></html>", "turn-away"),
        ("<html><title>404 Not Found</title><body>No</body></html>", "error page"),
    ],
)
def test_pages_in_a_papers_place_are_named(html: str, words: str) -> None:
    with pytest.raises(DocumentError, match=words) as caught:
        parse(html.encode(), name="2201.01234.pdf")
    assert caught.value.kind == "not_a_paper"


def test_a_paper_about_robots_is_no_robot_check() -> None:
    text = "<html><title>Captcha and radware in astronomy</title><body><h1>On captcha</h1><p>"
    text += "The survey of captcha services found many stars among them. " * 80
    assert sniff(f"{text}</p></body></html>".encode()).kind == "html"


@pytest.mark.parametrize(
    "encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "gb18030", "big5"]
)
def test_encodings_are_told_from_the_bytes(encoding: str) -> None:
    text = (
        CHINESE
        if encoding != "big5"
        else "本文分析恆星的金屬豐度與年齡之間的關係並討論其起源。" * 8
    )
    assert text[:20] in sniff(text.encode(encoding)).text


def test_latin_1_is_read() -> None:
    text = "Königstuhl und Garching liegen nicht in Åland; São Paulo auch nicht. " * 5
    assert "Königstuhl" in sniff(text.encode("latin-1")).text


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("\\documentclass{article}\n\\begin{document}Text\\end{document}", "latex"),
        ("# Title\n\nText with **bold** words.\n\n## Section\n", "markdown"),
        ("Just a few words about a star.\nAnd no marks at all.", "text"),
        ("<!DOCTYPE html><html><body><p>x</p></body></html>", "html"),
    ],
)
def test_kinds_of_text_are_told_apart(text: str, kind: str) -> None:
    assert sniff(text.encode()).kind == kind


def test_a_pdf_may_start_late() -> None:
    assert sniff(b"\r\n junk \n%PDF-1.7\n...").kind == "pdf"
