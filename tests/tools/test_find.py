import asyncio
import contextlib
import os
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nuncius.agent.tool import ToolContext, ToolOutput
from nuncius.core.errors import ToolError
from nuncius.tools import find
from nuncius.tools._glob import Glob, literal_head
from nuncius.tools.find import GlobFiles, GlobFilesArgs, GrepFiles, GrepFilesArgs
from nuncius.walls.paths import PathGuard, Roots

CTX = ToolContext(session_id="s")


class Desk:
    def __init__(self, base: Path) -> None:
        self.base, self.lib, self.proj, self.out = base, base / "lib", base / "proj", base / "out"
        for folder in (self.lib, self.proj, self.out):
            folder.mkdir()
        self.guard = PathGuard(Roots.of(library=self.lib, project=self.proj))

    def put(self, name: str, content: str | bytes = "x", *, age_s: float = 0) -> Path:
        path = self.proj / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        at = 1_700_000_000 - age_s
        os.utime(path, (at, at))
        return path

    async def glob(self, pattern: str, **rest: Any) -> ToolOutput:
        return await GlobFiles(self.guard).run(GlobFilesArgs(pattern=pattern, **rest), CTX)

    async def grep(self, pattern: str, **rest: Any) -> ToolOutput:
        return await GrepFiles(self.guard).run(GrepFilesArgs(pattern=pattern, **rest), CTX)


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


class TestGlob:
    async def test_newest_come_first_and_names_can_be_read(self, desk: Desk) -> None:
        desk.put("old.md", age_s=9)
        desk.put("sub/new.md")
        desk.put("sub/other.txt")
        output = await desk.glob("**/*.md")
        assert output.content == "sub/new.md\nold.md\n[2 files]"
        assert output.metadata["files"] == ["sub/new.md", "old.md"]

    @pytest.mark.parametrize(
        ("pattern", "hits"),
        [
            ("*.md", ["a.md"]),
            ("**/*.md", ["a.md", "d/b.md", "d/e/c.md"]),
            ("d/**/*.md", ["d/b.md", "d/e/c.md"]),
            ("d/*.md", ["d/b.md"]),
            ("**", ["a.md", "d/b.md", "d/e/c.md", "d/e/c.txt"]),
            ("d/e/c.{md,txt}", ["d/e/c.md", "d/e/c.txt"]),
            ("**/[bc].md", ["d/b.md", "d/e/c.md"]),
            ("**/[!b].md", ["a.md", "d/e/c.md"]),
            ("?.md", ["a.md"]),
            ("a.md", ["a.md"]),
            ("./a.md", ["a.md"]),
            ("nothing/*.md", []),
        ],
    )
    async def test_patterns(self, desk: Desk, pattern: str, hits: list[str]) -> None:
        for name in ("a.md", "d/b.md", "d/e/c.md", "d/e/c.txt"):
            desk.put(name)
        assert sorted((await desk.glob(pattern)).metadata["files"]) == hits

    async def test_absolute_patterns_work_inside_and_are_refused_outside(self, desk: Desk) -> None:
        (desk.lib / "p.md").write_text("x")
        assert (await desk.glob(f"{desk.lib}/*.md")).metadata["files"] == [str(desk.lib / "p.md")]
        assert (await desk.glob("*.md", path=str(desk.lib))).metadata["total"] == 1
        for pattern in ("/etc/*", "/*", "../out/*", "~/*", f"{desk.out}/*", "a/../../out/*"):
            with pytest.raises(ToolError) as caught:
                await desk.glob(pattern)
            assert caught.value.kind == "denied"

    async def test_protected_hidden_and_linked_places_are_left_out(self, desk: Desk) -> None:
        for name in (
            ".env",
            ".git/config",
            ".venv/x.py",
            "node_modules/y.js",
            "a.py",
            ".github/ci.yml",
        ):
            desk.put(name)
        (desk.out / "secret.py").write_text("x")
        (desk.proj / "link").symlink_to(desk.out)
        (desk.proj / "link.py").symlink_to(desk.out / "secret.py")
        assert (await desk.glob("**/*")).metadata["files"] == ["a.py"]
        assert (await desk.glob(".github/*.yml")).metadata["files"] == [".github/ci.yml"]

    async def test_a_cut_list_says_so(self, desk: Desk) -> None:
        for number in range(5):
            desk.put(f"{number}.md", age_s=number)
        output = await desk.glob("*.md", limit=2)
        assert output.content.startswith("0.md\n1.md\n[newest 2 of 5 files")
        assert output.metadata["truncated"] is True

    async def test_a_pattern_that_explodes_is_refused_in_time(self, desk: Desk) -> None:
        desk.put("a" * 200)
        started = time.monotonic()
        with contextlib.suppress(ToolError):  # a verdict or a refusal, but soon
            await desk.glob("*a" * 40 + "b")
        assert time.monotonic() - started < 2


class TestGrep:
    async def test_lines_are_shown_with_their_place(self, desk: Desk) -> None:
        desk.put("a.md", "one\r\nz = 0.5\r\n")
        desk.put("d/b.md", "no\nz = 1.5\nz = 2.5")
        output = await desk.grep(r"z = \d")
        assert output.content == (
            "a.md:2:z = 0.5\nd/b.md:2:z = 1.5\nd/b.md:3:z = 2.5\n[3 hits in 2 of 2 text files searched]"
        )

    async def test_forms_of_output(self, desk: Desk) -> None:
        desk.put("a.md", "x\nx\n")
        desk.put("b.md", "X\n")
        desk.put("c.txt", "x\n")
        assert (await desk.grep("x", output="files")).content.startswith("a.md\nc.txt\n[")
        assert (await desk.grep("x", output="count", glob="*.md")).content.startswith("a.md:2\n[")
        assert (await desk.grep("x", ignore_case=True, output="count")).metadata["hits"] == 4
        assert (await desk.grep("x", path="c.txt")).content.startswith("c.txt:1:x")
        assert "No line matches" in (await desk.grep("nothing")).content

    async def test_context_is_marked_and_not_repeated(self, desk: Desk) -> None:
        desk.put("a", "1\n2 hit\n3\n4 hit\n5\n6\n7\n8 hit\n")
        assert (await desk.grep("hit", context=1)).content.split("\n")[:-1] == [
            "a-1-1", "a:2:2 hit", "a-3-3", "a:4:4 hit", "a-5-5", "--", "a-7-7", "a:8:8 hit", "a-9-",
        ]  # fmt: skip

    async def test_matches_stay_within_a_line(self, desk: Desk) -> None:
        desk.put("a", "foo\nbar\nfoo bar\n")
        assert (await desk.grep(r"foo\s+bar")).metadata["hits"] == 1
        assert (await desk.grep(r"^foo$")).metadata["hits"] == 1
        assert (await desk.grep(r"[^x]*")).metadata["hits"] == 3

    async def test_encodings_are_searched_and_binary_files_skipped(self, desk: Desk) -> None:
        desk.put("gbk.txt", "这个星系的红移是零点零三,光谱很好。".encode("gbk"))
        desk.put("wide.txt", "红移\n".encode("utf-16"))
        desk.put("b.bin", b"\0\1" + "红移".encode())
        assert sorted((await desk.grep("红移")).metadata["files"]) == ["gbk.txt", "wide.txt"]

    async def test_secrets_and_the_outside_are_not_searched(self, desk: Desk) -> None:
        desk.put(".env", "KEY=topsecret")
        desk.put("sub/config.toml", "key = 'topsecret'")
        (desk.out / "s.txt").write_text("topsecret")
        (desk.proj / "d").symlink_to(desk.out)
        (desk.proj / "f").symlink_to(desk.out / "s.txt")
        (desk.proj / "loop").symlink_to(desk.proj)
        assert (await desk.grep("topsecret")).metadata["hits"] == 0
        for path in ("/etc", "../out", ".env", "d"):
            with pytest.raises(ToolError) as caught:
                await desk.grep("x", path=path)
            assert caught.value.kind == "denied"

    async def test_limits_are_told(self, desk: Desk) -> None:
        desk.put("a", "hit\n" * 500)
        output = await desk.grep("hit", limit=10)
        assert output.content.count("a:") == 10
        assert "first 10 hits" in output.content
        desk.put("b", ("hit " + "y" * 1000 + "\n") * 500)
        output = await desk.grep("hit", path="b", limit=500)
        assert len(output.content) < 17_000
        assert "narrow with path or glob" in output.content
        exact = await desk.grep("hit", path="a", limit=500)
        assert exact.metadata["truncated"] is False

    @pytest.mark.parametrize("pattern", ["^(a+)+$", "(a|aa)+$", "(a*)*b", r"(\w+\s?)*!"])
    async def test_an_exploding_pattern_stops_in_time_and_says_so(
        self, desk: Desk, pattern: str
    ) -> None:
        desk.put("r.txt", "a" * 5000 + "c\n" + "a" * 40 + "c")
        started = time.monotonic()
        ticks = 0

        async def tick() -> None:
            nonlocal ticks
            while True:
                await asyncio.sleep(0.01)
                ticks += 1

        ticking = asyncio.create_task(tick())
        output = await desk.grep(pattern)
        ticking.cancel()
        taken = time.monotonic() - started
        assert taken < 2
        if output.metadata["truncated"]:
            assert "stopped after" in output.content
            assert ticks > 3  # the search held up nobody else

    async def test_a_long_search_stops_and_says_so(
        self, desk: Desk, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        desk.put("a", "hit")
        monkeypatch.setattr(find, "SEARCH_S", 0.0)
        output = await desk.grep("hit")
        assert "stopped after" in output.content
        assert output.metadata["truncated"] is True

    @pytest.mark.parametrize("pattern", ["(", "[a", "*x", "(?P<n>", "a{99999999999}"])
    async def test_a_bad_pattern_is_told(self, desk: Desk, pattern: str) -> None:
        with pytest.raises(ToolError) as caught:
            await desk.grep(pattern)
        assert caught.value.kind == "invalid_arguments"


def test_permissions(desk: Desk) -> None:
    glob, grep = find.tools(desk.guard)
    assert grep.check_permissions(GrepFilesArgs(pattern="x"))[0].decision == "allow"
    assert grep.check_permissions(GrepFilesArgs(pattern="x", path="/etc"))[0].decision == "deny"
    assert glob.check_permissions(GlobFilesArgs(pattern="/etc/*"))[0].decision == "deny"
    assert glob.subject(GlobFilesArgs(pattern="*.md", path="d")).endswith("/d")


def test_the_head_of_a_pattern_ends_before_the_first_wildcard() -> None:
    assert literal_head("notes/2024/**/*.md") == ("notes/2024", "**/*.md")
    assert literal_head("*.md") == ("", "*.md")
    assert literal_head("/a/b/*") == ("/a/b", "*")
    assert literal_head("/*") == ("/", "*")


@given(
    st.text(st.sampled_from("ab/*?[]{},.\\^$(+!"), max_size=15),
    st.text(st.sampled_from("ab/."), max_size=10),
)
def test_any_glob_pattern_matches_or_is_refused(pattern: str, path: str) -> None:
    with contextlib.suppress(ToolError):
        assert isinstance(Glob(pattern).matches(path), bool)


@given(st.text(st.characters(exclude_characters="*?[]{}/", exclude_categories=["Cs"]), min_size=1))
def test_a_pattern_without_wildcards_matches_itself(name: str) -> None:
    assert Glob(name).matches(name)
    assert not Glob(name).matches(name + "x")
