import asyncio
import multiprocessing
import os
import stat
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from nuncius.agent.tool import Resource, ToolContext, ToolOutput
from nuncius.core.errors import ToolError
from nuncius.tools import _edit, _text
from nuncius.tools.files import (
    LINE_CHARS,
    PAGE_CHARS,
    PAGE_LINES,
    FileEdit,
    FileEditArgs,
    FileWrite,
    FileWriteArgs,
    ReadFile,
    ReadFileArgs,
    tools,
)
from nuncius.walls.paths import PathGuard, Roots


class Desk:
    """The three tools over a library and a project; `ctx` remembers what was read."""

    def __init__(self, base: Path) -> None:
        self.lib, self.proj = base / "lib", base / "proj"
        self.lib.mkdir()
        self.proj.mkdir()
        self.guard = PathGuard(Roots.of(library=self.lib, project=self.proj))
        self.ctx = ToolContext(session_id="s")
        self.reader, self.writer, self.editor = (
            ReadFile(self.guard), FileWrite(self.guard), FileEdit(self.guard),
        )  # fmt: skip

    async def read(self, path: Path | str, **rest: Any) -> ToolOutput:
        return await self.reader.run(ReadFileArgs(path=str(path), **rest), self.ctx)

    async def write(self, path: Path | str, content: str, **rest: Any) -> ToolOutput:
        values: dict[str, Any] = {"path": str(path), "content": content, "overwrite": False, **rest}
        args = FileWriteArgs.model_construct(None, **values)
        return await self.writer.run(args, self.ctx)

    async def edit(self, path: Path | str, old: str, new: str, **rest: Any) -> ToolOutput:
        values: dict[str, Any] = {
            "old_string": old,
            "new_string": new,
            "replace_all": False,
            **rest,
        }
        args = FileEditArgs.model_construct(None, path=str(path), **values)
        return await self.editor.run(args, self.ctx)

    async def edited(self, before: bytes, old: str, new: str, **rest: Any) -> bytes:
        path = self.lib / "edited.txt"
        path.write_bytes(before)
        await self.read(path)
        await self.edit(path, old, new, **rest)
        return path.read_bytes()


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


async def refused(call: Any, match: str, kind: str = "invalid_arguments", code: str = "") -> None:
    with pytest.raises(ToolError, match=match) as caught:
        await call
    assert caught.value.kind == kind
    if code:
        assert caught.value.code == code


class TestReading:
    async def test_shows_numbered_lines_and_says_where_the_end_is(self, desk: Desk) -> None:
        (desk.lib / "a.md").write_bytes(b"one\ntwo\r\nthree")
        output = await desk.read(desk.lib / "a.md")
        assert output.content == "1\tone\n2\ttwo\n3\tthree\n[lines 1-3 of 3; that is the end]"
        assert output.metadata["total_lines"] == 3
        assert output.metadata["next_offset"] is None

    async def test_pages_follow_each_other_without_a_gap(self, desk: Desk) -> None:
        path = desk.lib / "long.txt"
        path.write_text("".join(f"line {n} {'x' * (n % 90)}\n" for n in range(1, 3001)))
        seen: list[str] = []
        offset: int | None = 1
        while offset:
            output = await desk.read(path, offset=offset)
            assert len(output.content) <= PAGE_CHARS + 200
            *rows, end = output.content.split("\n")
            assert len(rows) <= PAGE_LINES
            assert "of 3,000" in end
            seen += [row.split("\t")[1] for row in rows]
            offset = output.metadata["next_offset"]
            if offset:
                assert f"offset={offset}" in end
        assert seen == path.read_text().splitlines()

    async def test_a_negative_offset_counts_from_the_end(self, desk: Desk) -> None:
        (desk.lib / "a").write_text("".join(f"{n}\n" for n in range(1, 51)))
        assert (await desk.read(desk.lib / "a", offset=-2)).content.startswith(
            "49\t49\n50\t50\n[lines 49-50 of 50"
        )
        assert (await desk.read(desk.lib / "a", offset=-99, limit=1)).content.startswith("1\t1\n[")

    async def test_an_empty_file_is_not_an_offset_beyond_the_end(self, desk: Desk) -> None:
        (desk.lib / "empty").write_text("")
        (desk.lib / "two").write_text("a\nb\n")
        assert "is empty" in (await desk.read(desk.lib / "empty")).content
        await refused(desk.read(desk.lib / "two", offset=3), "has 2 lines", code="beyond_end")

    async def test_long_lines_are_cut_and_say_so(self, desk: Desk) -> None:
        (desk.lib / "a").write_text("x" * 5000 + "\nshort\n")
        content = (await desk.read(desk.lib / "a")).content
        assert f"[+{5000 - LINE_CHARS:,} characters]" in content
        assert "2\tshort" in content
        assert "1 lines were cut" in content

    @pytest.mark.parametrize(
        ("content", "kind"),
        [(b"%PDF-1.4 abc", "PDF"), (b"SIMPLE  =                    T", "FITS"), (b"\x00\xff\x00\xff", "binary"),
         (b"text then\0nul", "binary"), (b"\x89PNG\r\n\x1a\n", "PNG")],
    )  # fmt: skip
    async def test_binary_files_are_refused_with_size_and_type(
        self, desk: Desk, content: bytes, kind: str
    ) -> None:
        (desk.lib / "b").write_bytes(content)
        await refused(desk.read(desk.lib / "b"), f"{kind}.*{len(content)} bytes", code="binary")

    @pytest.mark.parametrize(
        ("text", "encoding"),
        [
            ("β Pictoris – Ångström", "utf-8"),
            ("β Pictoris", "utf-8-sig"),
            ("β Pictoris 红移", "utf-16"),
            ("plain text in two bytes", "utf-16-le"),
            ("Observación del cúmulo: año 1987, señal débil.", "latin-1"),
            ("这个星系的红移是零点零三,我们用光谱测量了它的速度。", "gbk"),
            ("这个星系的红移是零点零三,我们用光谱测量了它的速度。", "gb18030"),
        ],
    )
    async def test_encodings_are_read(self, desk: Desk, text: str, encoding: str) -> None:
        (desk.lib / "e.txt").write_bytes(text.encode(encoding))
        assert f"1\t{text}\n" in (await desk.read(desk.lib / "e.txt")).content

    async def test_an_unchanged_file_is_shown_once_a_context(self, desk: Desk) -> None:
        path = desk.lib / "a"
        path.write_text("one\n")
        assert "one" in (await desk.read(path)).content
        again = await desk.read(path)
        assert "unchanged" in again.content
        assert again.metadata["unchanged"] is True
        assert "one" in (await desk.read(path, limit=1)).content  # another part was not shown yet
        desk.ctx.read_state.generation += 1  # a compaction took the text away
        assert "one" in (await desk.read(path)).content
        os.utime(path, (1, 1))
        assert "unchanged" in (await desk.read(path)).content
        path.write_text("two\n")
        assert "two" in (await desk.read(path)).content

    async def test_refusals_are_typed(self, desk: Desk) -> None:
        await refused(desk.read("/etc/passwd"), "may not be opened", kind="denied")
        await refused(desk.read("nothing.md"), "no file", kind="not_found")
        await refused(desk.read("."), "glob_files", kind="denied")


class TestWriting:
    async def test_makes_folders_and_tells_what_was_done(self, desk: Desk) -> None:
        output = await desk.write(desk.lib / "new" / "deep" / "a.md", "α\nβ\n")
        assert (desk.lib / "new" / "deep" / "a.md").read_text() == "α\nβ\n"
        assert output.content.startswith("Created ")
        assert "2 lines, 6 bytes" in output.content

    async def test_an_existing_file_must_have_been_read_and_be_unchanged(self, desk: Desk) -> None:
        path = desk.lib / "a"
        path.write_text("old")
        await refused(desk.write(path, "new"), "not read", code="not_read")
        await desk.read(path)
        path.write_text("by another")
        await refused(desk.write(path, "new"), "changed since", code="changed")
        assert path.read_text() == "by another"
        await desk.write(path, "new", overwrite=True)
        await desk.write(path, "newer")  # one's own text is known
        assert path.read_text() == "newer"

    @pytest.mark.parametrize("content", ["a\0b", "half \ud83d of a pair"])
    async def test_what_is_no_text_is_refused(self, desk: Desk, content: str) -> None:
        await refused(desk.write(desk.lib / "a", content), "no text file", code="not_text")
        assert not (desk.lib / "a").exists()


class TestEditing:
    async def test_an_unread_file_is_not_edited(self, desk: Desk) -> None:
        (desk.lib / "a").write_text("x")
        await refused(desk.edit(desk.lib / "a", "x", "y"), "not read", code="not_read")
        await refused(desk.edit(desk.lib / "gone", "x", "y"), "no file", kind="not_found")

    async def test_crlf_stays_and_new_lines_take_it(self, desk: Desk) -> None:
        assert await desk.edited(b"a\r\nb\r\nc\r\n", "b", "B1\nB2") == b"a\r\nB1\r\nB2\r\nc\r\n"
        assert await desk.edited(b"a\r\nb\r\nc", "a\nb\n", "a\nX\nb\n") == b"a\r\nX\r\nb\r\nc"

    async def test_mixed_endings_outside_the_edited_text_stay(self, desk: Desk) -> None:
        assert await desk.edited(b"a\nb\r\nc\nd\r\n", "b\nc\nd", "b\nC\nd") == b"a\nb\r\nC\nd\r\n"

    @pytest.mark.parametrize(
        ("text", "encoding", "old", "new"),
        [
            ("año débil\nseñal\n", "latin-1", "débil", "fuerte é"),
            (
                "这个星系的红移是零点零三,我们用光谱测量了它的速度。\n",
                "gbk",
                "零点零三",
                "零点零五",
            ),
            ("\ufeffbom\nβ\n", "utf-8", "β", "γ"),
            ("\ufeffwide β\r\nend\r\n", "utf-16-le", "end", "end\nof β"),
            ("\ufeffwide β\r\nend\r\n", "utf-16-be", "end", "fin"),
        ],
    )
    async def test_encoding_and_byte_order_mark_stay(
        self, desk: Desk, text: str, encoding: str, old: str, new: str
    ) -> None:
        wish = text.replace(old, new.replace("\n", "\r\n")).encode(encoding)
        assert await desk.edited(text.encode(encoding), old, new) == wish

    async def test_a_character_the_encoding_lacks_is_refused(self, desk: Desk) -> None:
        path = desk.lib / "a"
        path.write_bytes("año débil\n".encode("latin-1"))
        await desk.read(path)
        await refused(desk.edit(path, "débil", "红移"), "which has no", code="encoding")
        assert path.read_bytes() == "año débil\n".encode("latin-1")

    async def test_content_is_never_normalised(self, desk: Desk) -> None:
        odd = "Å vs Å – × “q” ﬁ \u00a0 e\u0301\n"
        assert (
            await desk.edited(f"{odd}z = 1\n".encode(), "z = 1", "z = 2")
        ).decode() == f"{odd}z = 2\n"

    async def test_an_ambiguous_text_is_refused_with_its_places(self, desk: Desk) -> None:
        path = desk.lib / "a"
        path.write_text("x\ny\nx\n\nx\n")
        await desk.read(path)
        await refused(desk.edit(path, "x", "z"), "3 times.*lines 1, 3, 5", code="ambiguous")
        output = await desk.edit(path, "x", "z", replace_all=True)
        assert path.read_text() == "z\ny\nz\n\nz\n"
        assert output.metadata["replacements"] == 3

    async def test_overlapping_places_are_ambiguous(self, desk: Desk) -> None:
        await refused(desk.edited(b"aaa", "aa", "b"), "2 times", code="ambiguous")

    async def test_trailing_white_space_is_forgiven_and_told(self, desk: Desk) -> None:
        path = desk.lib / "a"
        path.write_bytes(b"def f():  \r\n    a = 1\t\r\n    b = 2\r\n")
        await desk.read(path)
        output = await desk.edit(
            path, "def f():\n    a = 1\n    b = 2\n", "def f():\n    a = 1\n    b = 3\n"
        )
        assert path.read_bytes() == b"def f():  \r\n    a = 1\t\r\n    b = 3\r\n"
        assert "ignoring trailing white space" in output.content
        assert output.metadata["fuzz"] == "trailing white space"

    async def test_indentation_is_not_forgiven(self, desk: Desk) -> None:
        await refused(
            desk.edited(b"  a = 1\n  b = 2\n", "a = 1\nb = 2", "c"),
            "stands on line 1",
            "not_found",
            "no_match",
        )

    async def test_a_changed_file_is_edited_where_the_text_still_stands_once(
        self, desk: Desk
    ) -> None:
        path = desk.lib / "a"
        path.write_text("one\ntwo\n")
        await desk.read(path)
        path.write_text("zero\none\ntwo\n")
        output = await desk.edit(path, "two", "2")
        assert path.read_text() == "zero\none\n2\n"
        assert "had changed since" in output.content
        path.write_text("one\none\n")
        await refused(
            desk.edit(path, "one", "1", replace_all=True), "changed since", code="ambiguous"
        )
        await refused(desk.edit(path, "two", "2b"), "changed since", "not_found", "no_match")

    async def test_link_and_mode_stay(self, desk: Desk) -> None:
        real, link = desk.lib / "real", desk.lib / "link"
        real.write_text("x")
        real.chmod(0o755)
        link.symlink_to("real")
        await desk.read(link)
        await desk.edit(link, "x", "y")
        assert link.is_symlink()
        assert real.read_text() == "y"
        assert stat.S_IMODE(real.stat().st_mode) == 0o755

    async def test_nothing_to_do_and_no_text_are_refused(self, desk: Desk) -> None:
        await refused(desk.edited(b"x", "x", "x"), "nothing to change", code="no_change")
        await refused(desk.edited(b"x", "x", "\ud800"), "no text file", code="not_text")
        await refused(desk.edited(b"x y", "z", "a"), "does not stand", "not_found", "no_match")

    async def test_a_carriage_return_that_is_asked_for_is_taken_literally(self, desk: Desk) -> None:
        assert await desk.edited(b"a\nb\n", "a\n", "a\r\n") == b"a\r\nb\n"

    async def test_parallel_edits_of_one_file_lose_nothing(self, desk: Desk) -> None:
        path = desk.lib / "a"
        for _ in range(20):
            path.write_text("".join(f"line {n} old\n" for n in range(4)))
            await desk.read(path)
            await asyncio.gather(
                *(desk.edit(path, f"line {n} old", f"line {n} new") for n in range(4))
            )
            assert path.read_text() == "".join(f"line {n} new\n" for n in range(4))


def _edit_in_process(base: Path, numbers: list[int]) -> None:
    async def edit() -> None:
        desk = Desk.__new__(Desk)
        desk.guard = PathGuard(Roots.of(library=base / "lib", project=base / "proj"))
        desk.ctx = ToolContext(session_id="s")
        desk.reader, desk.editor = ReadFile(desk.guard), FileEdit(desk.guard)
        await desk.read(base / "lib" / "a")
        for number in numbers:
            await desk.edit(base / "lib" / "a", f"line {number} old", f"line {number} new")

    asyncio.run(edit())


def test_edits_by_two_processes_lose_nothing(desk: Desk) -> None:
    (desk.lib / "a").write_text("".join(f"line {n} old\n" for n in range(40)))
    context = multiprocessing.get_context("spawn")
    workers = [
        context.Process(target=_edit_in_process, args=(desk.lib.parent, list(range(first, 40, 2))))
        for first in (0, 1)
    ]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert (desk.lib / "a").read_text() == "".join(f"line {n} new\n" for n in range(40))


def test_permissions_resources_and_subject(desk: Desk) -> None:
    (desk.lib / "real").write_text("x")
    (desk.proj / "link").symlink_to(desk.lib / "real")
    read = ReadFileArgs(path="link")
    key = f"file:{desk.lib / 'real'}"
    assert desk.reader.resources(read) == (Resource(key, "read"),)
    assert desk.reader.check_permissions(read)[0].decision == "allow"
    write = FileWriteArgs(path=str(desk.lib / "real"), content="")
    assert desk.writer.resources(write) == (Resource(key, "write"),)
    assert desk.writer.check_permissions(write)[0].decision == "allow"
    assert (
        desk.writer.check_permissions(FileWriteArgs(path="a/b.md", content=""))[0].decision == "ask"
    )
    subject = desk.writer.subject(FileWriteArgs(path="a//b.md", content=""))
    assert subject.endswith("/proj/a/b.md")
    denied = FileEditArgs(path="../x", old_string="a", new_string="b")
    assert desk.editor.check_permissions(denied)[0].decision == "deny"
    assert desk.editor.resources(denied) == ()
    assert [tool.name for tool in tools(desk.guard)] == ["read_file", "file_write", "file_edit"]


@pytest.mark.parametrize(
    ("path", "firm"),
    [("CLAUDE.md", True), ("a/AGENTS.md", True), ("notes.md", False), ("a/skill.txt", False)],
)
def test_no_mode_answers_for_a_file_that_steers_later_turns(
    desk: Desk, path: str, firm: bool
) -> None:
    (verdict,) = desk.writer.check_permissions(FileWriteArgs(path=path, content=""))
    assert (verdict.decision, verdict.firm) == ("ask", firm)


PIECES = st.lists(
    st.sampled_from(["a", "b", " ", "\t", "é", "\n", "\r\n", "\r", "星"]), max_size=25
).map("".join)


@settings(suppress_health_check=[HealthCheck.too_slow])
@given(PIECES, PIECES, PIECES, PIECES)
def test_an_edit_changes_nothing_around_its_place(
    before: str, old: str, after: str, new: str
) -> None:
    text = before + old + after
    match = _edit.find(text, old)
    if not old or len(match.spans) != 1 or match.fuzz != "exact":
        return
    result = _edit.replaced(text, match, old, new)
    assert result.startswith(before)
    assert result.endswith(after)
    middle = result[len(before) : len(result) - len(after)]
    assert middle.replace("\r\n", "\n") == new.replace("\r\n", "\n") or middle == new


@given(PIECES, PIECES)
def test_a_loose_match_maps_back_to_the_right_bytes(text: str, old: str) -> None:
    if not old:
        return
    for span in _edit.find(text, old).spans:
        found = text[span.start : span.end].replace("\r\n", "\n").split("\n")
        assert [line.rstrip() for line in found] == [
            line.rstrip() for line in old.replace("\r\n", "\n").split("\n")
        ]


@given(st.binary(max_size=200))
def test_every_byte_comes_back_from_a_decoded_file(content: bytes) -> None:
    text = _text.decode(content)
    assert text.encode(text.text) == content
