"""A long output is kept whole in a file, and the model is told how to read on."""

import asyncio
import gc
import logging
import os
import re
import stat
import tracemalloc
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.parts import Act, Bench
from agent.test_hooks import After
from nuncius.agent.hook_chain import Hooks
from nuncius.agent.hooks import MutateOutput
from nuncius.agent.outputs import stub
from nuncius.agent.tool import Resource, ToolContext, ToolOutput
from nuncius.core.errors import StoreError
from nuncius.llm.scripted import Reply
from nuncius.store.outputs import FOLDER, KEPT_DAYS, KeptOutputs
from nuncius.tools import files, find
from nuncius.walls.paths import PathGuard, Roots


def long(lines: int = 3_000) -> str:
    return "".join(f"line {n}, ångström 中\n" for n in range(1, lines + 1))


async def one(library: Path, text: str, *tools: Any, call: Reply | None = None, **more: Any) -> Bench:  # fmt: skip
    act = Act(lambda _a, _c: ToolOutput(text))
    bench = Bench(
        [call or Reply(calls=[("act", "{}")]), "Done."],
        *(tools or (act,)),
        keeper=KeptOutputs(library),
        new_id=lambda: "turn_1",
        **more,
    )
    assert (await bench.turn()).status == "completed"
    return bench


def kept(library: Path) -> list[Path]:
    return sorted(path for path in (library / FOLDER).rglob("*") if path.is_file())


async def test_the_whole_is_in_the_file_and_both_ends_in_the_result(tmp_path: Path) -> None:
    bench = await one(tmp_path, long())
    (event,) = bench.results()
    (path,) = kept(tmp_path)
    assert path == tmp_path / FOLDER / "s" / f"turn_1-{event.id}.txt"
    assert path.read_text() == long()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert str(path) in event.output
    assert f"{len(long()):,} characters in all, 3,001 lines" in event.output
    assert "line 1, ångström 中\n" in event.output
    assert event.output.endswith("line 3000, ångström 中\n")
    assert len(event.output) < 16_000
    assert event.metadata["kept"] == {"path": str(path), "characters": len(long()), "lines": 3_001}
    stored = [m.message.content for m in bench.journal.kept if m.message.role == "tool"]
    assert stored == [event.output]


async def test_the_stub_says_how_to_read_on_and_that_works(tmp_path: Path) -> None:
    library, project = tmp_path / "lib", tmp_path / "proj"
    library.mkdir()
    project.mkdir()
    bench = await one(library, long())
    output = bench.results()[0].output
    path, offset = re.findall(r'read_file\(path="([^"]+)", offset=(\d+)\)', output)[0]
    guard = PathGuard(Roots.of(library=library, project=project))
    reader = next(tool for tool in files.tools(guard) if tool.name == "read_file")
    page = await reader.run(
        reader.args.model_validate({"path": path, "offset": int(offset)}), ToolContext("s")
    )
    assert page.content.startswith(f"{offset}\tline {offset}, ")
    assert f"line {int(offset) - 1}, " in output
    assert f"line {offset}, " not in output
    grep = next(tool for tool in find.tools(guard) if tool.name == "grep_files")
    found = await grep.run(
        grep.args.model_validate({"pattern": "line 1500,", "path": path}), ToolContext("s")
    )
    assert "line 1500, ångström" in found.content


async def test_what_fits_is_not_kept_and_each_tool_has_its_own_threshold(tmp_path: Path) -> None:
    await one(tmp_path, "x" * 16_000)
    assert kept(tmp_path) == []
    small = Act(lambda _a, _c: ToolOutput("x" * 1_001), output_characters=1_000)
    await one(tmp_path, "", small)
    assert len(kept(tmp_path)) == 1
    large = Act(lambda _a, _c: ToolOutput("x" * 20_000), output_characters=20_000)
    bench = await one(tmp_path, "", large)
    assert len(bench.results()[0].output) == 20_000


async def test_reading_a_kept_output_is_never_kept_again_whatever_the_tool(tmp_path: Path) -> None:
    await one(tmp_path, long())
    (path,) = kept(tmp_path)
    reads = Act(
        lambda _a, _c: ToolOutput(path.read_text()), keys=[Resource(f"file:{path}", "read")]
    )
    bench = await one(tmp_path, "", reads)
    assert kept(tmp_path) == [path]
    assert "characters in all" in bench.results()[0].output
    assert len(bench.results()[0].output) <= 16_000


async def test_the_raw_output_is_kept_before_a_hook_changes_it(tmp_path: Path) -> None:
    seen = After(lambda _: MutateOutput("masked"))
    bench = await one(tmp_path, long(), hooks=[seen])
    (path,) = kept(tmp_path)
    assert path.read_text() == long()
    assert seen.seen[0].output == long()
    (event,) = bench.results()
    assert event.output == "masked"
    assert "kept" not in event.metadata


async def test_a_hook_that_says_nothing_leaves_the_stub(tmp_path: Path) -> None:
    bench = await one(tmp_path, long(), hooks=[After(lambda _: None)])
    assert "read_file(path=" in bench.results()[0].output


async def test_a_full_disk_falls_back_to_a_plain_cut_and_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.CRITICAL)

    def full(_: int) -> None:
        raise OSError(28, os.strerror(28))

    monkeypatch.setattr(os, "fsync", full)
    bench = await one(tmp_path, long())
    (event,) = bench.results()
    assert event.is_error is False
    assert "No space left on device" in event.output
    assert event.output.startswith("line 1,")
    assert len(event.output) <= 16_000
    assert kept(tmp_path) == []


async def test_dirty_text_is_kept_without_what_no_file_can_hold(tmp_path: Path) -> None:
    bench = await one(tmp_path, "\ud800\x00" + "中" * 20_000 + "\udfff")
    (path,) = kept(tmp_path)
    assert path.read_text() == "中" * 20_000
    bench.results()[0].model_dump_json()


async def test_repeats_of_a_long_output_are_still_seen(tmp_path: Path) -> None:
    act = Act(lambda _a, _c: ToolOutput(long()))
    bench = Bench([*[Reply(calls=[("act", "{}")])] * 4, "Done."], act, keeper=KeptOutputs(tmp_path))
    await bench.turn()
    assert [event.error_kind for event in bench.results()] == [None, None, None, "duplicate"]


async def test_the_full_text_does_not_stay_in_memory(tmp_path: Path) -> None:
    size = 8_000_000
    tracemalloc.start()
    try:
        before, _ = tracemalloc.get_traced_memory()
        act = Act(lambda _a, _c: ToolOutput("x" * size))
        bench = await one(tmp_path, "", act, hooks=[After(lambda _: None)])
        bench.runtime.hooks = Hooks()  # the test's hook remembers what it saw
        await asyncio.sleep(0)
        gc.collect()
        after, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert kept(tmp_path)[0].stat().st_size == size
    assert after - before < size / 4


@given(
    st.text(st.sampled_from("ab中é😀\n"), min_size=1, max_size=3_000),
    st.integers(10, 2_000),
)
def test_a_stub_shows_both_ends_in_whole_characters_and_counts_right(text: str, limit: int) -> None:
    shown = stub(text, "/p", limit=limit)
    head, gap, tail = re.fullmatch(
        r"\[This output.*?\]\n\n(.*)\n\n\[… (.*) left out\..*?…\]\n\n(.*)", shown, re.DOTALL
    ).groups()  # pyright: ignore[reportOptionalMemberAccess]
    if len(text) > limit:
        assert text.startswith(head)
        assert text.endswith(tail)
        assert len(head) + len(tail) <= max(limit // 2, 2)
        missing = int(gap.split()[0].replace(",", ""))
        assert missing == len(text) - len(head) - len(tail)
        first = int(re.findall(r"offset=(\d+)", shown)[0])
        assert first == head.count("\n") + 1


# --- the files ------------------------------------------------------------------------------------


async def keep(outputs: KeptOutputs, text: str, call_id: str = "c", session_id: str = "s") -> Path:
    return Path(await outputs.keep(text, session_id=session_id, turn_id="turn_1", call_id=call_id))


async def test_one_call_is_kept_once(tmp_path: Path) -> None:
    outputs = KeptOutputs(tmp_path)
    first = await keep(outputs, "text")
    assert await keep(outputs, "text") == first
    other = await keep(outputs, "another agent's call of the same name")
    assert other != first
    assert first.read_text() == "text"
    assert other.parent == first.parent


@pytest.mark.parametrize(
    "name",
    ["../../x", "call/1", "/etc/passwd", "..", "", "a" * 300, "token", "CONFIG.TOML", "x.db", "\ud800",
     "a\nb", "a\u202eb", ".env", "id_rsa"],
)  # fmt: skip
async def test_no_id_is_a_path_and_no_name_is_one_that_the_guard_protects(
    name: str, tmp_path: Path
) -> None:
    library = tmp_path / "lib"
    outputs = KeptOutputs(library)
    guard = PathGuard(Roots.of(library=library, project=tmp_path / "proj"))
    for path in (await keep(outputs, "a", call_id=name), await keep(outputs, "b", session_id=name)):
        assert path.parent.parent == library.resolve() / FOLDER
        assert re.fullmatch(r"[A-Za-z0-9_-]+\.txt", path.name)
        assert guard.read(str(path)) in {b"a", b"b"}
    assert {path.name for path in tmp_path.iterdir()} == {"lib"}


async def test_a_link_in_the_place_of_the_folder_is_not_followed(tmp_path: Path) -> None:
    library, outside = tmp_path / "lib", tmp_path / "outside"
    library.mkdir()
    outside.mkdir()
    old = outside / "old.txt"
    old.write_text("mine")
    os.utime(old, (0, 0))
    outputs = KeptOutputs(library)
    (library / FOLDER).symlink_to(outside)
    with pytest.raises(StoreError, match="could not be kept"):
        await keep(outputs, "text")
    (library / FOLDER).unlink()
    (library / FOLDER).mkdir()
    (library / FOLDER / "s").symlink_to(outside)
    with pytest.raises(StoreError, match="could not be kept"):
        await keep(KeptOutputs(library), "text")
    assert await KeptOutputs(library).sweep() == 0
    assert old.read_text() == "mine"


async def test_old_outputs_are_swept_away_and_young_ones_stay(tmp_path: Path) -> None:
    outputs = KeptOutputs(tmp_path)
    assert await KeptOutputs(tmp_path).sweep() == 0  # nothing was ever kept
    old = await keep(outputs, "old", session_id="one")
    young = await keep(outputs, "young", session_id="two")
    month = (KEPT_DAYS + 1) * 86_400
    then = old.stat().st_mtime - month
    os.utime(old, (then, then))
    assert await outputs.sweep() == 0  # swept today already
    assert await KeptOutputs(tmp_path).sweep() == 1
    assert not old.parent.exists()
    assert young.read_text() == "young"


async def test_what_is_kept_of_a_session_can_be_forgotten(tmp_path: Path) -> None:
    outputs = KeptOutputs(tmp_path)
    await keep(outputs, "a", call_id="1")
    await keep(outputs, "b", call_id="2")
    stays = await keep(outputs, "c", session_id="other")
    assert await outputs.forget("s") == 2
    assert await outputs.forget("s") == 0
    assert kept(tmp_path) == [stays]


async def test_many_processes_keep_at_once(tmp_path: Path) -> None:
    outputs = [KeptOutputs(tmp_path) for _ in range(4)]
    paths = await asyncio.gather(
        *(keep(outputs[n % 4], f"text {n}", call_id=str(n)) for n in range(40))
    )
    assert [path.read_text() for path in paths] == [f"text {n}" for n in range(40)]


def test_only_paths_below_the_folder_are_held(tmp_path: Path) -> None:
    outputs = KeptOutputs(tmp_path)
    folder = tmp_path.resolve() / FOLDER
    assert outputs.holds(str(folder / "s" / "t-c.txt"))
    assert not outputs.holds(f"{folder}-other/x.txt")
    assert not outputs.holds("paper:abc")
