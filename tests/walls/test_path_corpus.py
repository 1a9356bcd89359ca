"""The path attacks of ../shared, each through the tool that it names."""

import importlib.util
import json
import os
import shutil
import socket
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from nuncius.agent.tool import Tool, ToolContext
from nuncius.core.errors import NunciusError, ToolError
from nuncius.store.outputs import FOLDER, KeptOutputs
from nuncius.tools import files, find
from nuncius.walls import beneath
from nuncius.walls.paths import PathGuard, Roots

CORPUS = Path(__file__).resolve().parents[3] / "shared" / "data" / "attacks"

LEFT_OUT = {
    "skill-symlink": "load_skill: its issue is not open",
    "skill-name-climb": "load_skill: its issue is not open",
}
RACES = {"race-swap-file", "race-swap-parent"}


def _load() -> list[dict[str, Any]]:
    if not CORPUS.is_dir():
        return []
    spec = importlib.util.spec_from_file_location("expand", CORPUS / "expand.py")
    assert spec
    assert spec.loader
    expand = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(expand)
    lines = (CORPUS / "paths.jsonl").read_text(encoding="utf-8").splitlines()
    return [expand.ex(json.loads(line)) for line in lines]


CASES = _load()


@dataclass
class World:
    """Three roots and what lies outside, as the corpus names them."""

    base: Path

    def __post_init__(self) -> None:
        self.names = {
            "{LIB}": str(self.base / "lib"),
            "{SKILLS}": str(self.base / "skills"),
            "{PROJ}": str(self.base / "proj"),
            "{OUT}": str(self.base / "outside"),
            "{LIBLINK}": str(self.base / "liblink"),
            "{LIBUPPER}": str(self.base / "LIB"),
        }
        for name in ("{LIB}", "{SKILLS}", "{PROJ}", "{OUT}"):
            Path(self.names[name]).mkdir()
        self.sockets: list[socket.socket] = []

    def fill(self, text: str) -> str:
        for name, path in self.names.items():
            text = text.replace(name, path)
        return text

    def make(self, kind: str, *rest: Any) -> None:
        first, second = (
            self.fill(part) if isinstance(part, str) else part for part in (*rest, "")[:2]
        )
        path = Path(second if kind in {"symlink", "hardlink"} else first)
        if path.parent != path:
            path.parent.mkdir(parents=True, exist_ok=True)
        match kind:
            case "dir":
                path.mkdir(parents=True, exist_ok=True)
            case "file":
                path.write_text(second)
            case "bytes":
                path.write_bytes(bytes.fromhex(second))
            case "symlink":
                path.symlink_to(first)
            case "hardlink":
                os.link(first, second)
            case "fifo":
                os.mkfifo(path)
            case "socket":
                server = socket.socket(socket.AF_UNIX)
                old = Path.cwd()
                os.chdir(path.parent)  # socket names are short
                try:
                    server.bind(path.name)
                finally:
                    os.chdir(old)
                self.sockets.append(server)
            case "chmod":
                path.chmod(int(rest[1]))
            case "sparse":
                with path.open("wb") as file:
                    file.truncate(int(rest[1]))
            case _:
                raise AssertionError(kind)

    def guard(self, *, through_link: bool) -> PathGuard:
        library = self.names["{LIBLINK}" if through_link else "{LIB}"]
        return PathGuard(
            Roots.of(
                library=Path(library),
                project=Path(self.names["{PROJ}"]),
                skills=[Path(self.names["{SKILLS}"])],
            )
        )

    def outside(self) -> dict[str, bytes]:
        inside = tuple(self.names[name] for name in ("{LIB}", "{SKILLS}", "{PROJ}"))
        return {
            str(path): path.read_bytes()
            for path in self.base.rglob("*")
            if path.is_file()
            and not path.is_symlink()
            and not str(path).startswith(tuple(f"{root}/" for root in inside))
        }


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    made = World(tmp_path)
    yield made
    for server in made.sockets:
        server.close()


def _tool(name: str, guard: PathGuard) -> tuple[Tool[Any], Callable[[str], dict[str, Any]]]:
    by_name = {tool.name: tool for tool in (*files.tools(guard), *find.tools(guard))}
    arguments: dict[str, Callable[[str], dict[str, Any]]] = {
        "read_file": lambda path: {"path": path},
        "file_write": lambda path: {"path": path, "content": "new", "overwrite": True},
        "file_edit": lambda path: {"path": path, "old_string": "x", "new_string": "y"},
        "glob_files": lambda path: (
            {"pattern": path} if "*" in path else {"pattern": "**/*", "path": path}
        ),
        "grep_files": lambda path: {"pattern": "^(a+)+$", "path": path},
    }
    return by_name[name], arguments[name]


async def _outcome(case: dict[str, Any], world: World) -> tuple[str, str]:
    """Judge, then run where the judge lets us; return the outcome and what was said."""
    guard = world.guard(through_link=case["id"] == "allow-root-is-symlink")
    tool, arguments = _tool(case["tool"], guard)
    path = world.fill(case["path"])
    args = tool.args.model_construct(**tool.args.model_construct().model_dump() | arguments(path))
    decision = tool.check_permissions(args)[0].decision
    tool.resources(args)
    tool.subject(args)
    context = ToolContext(session_id="s")
    if case["id"].startswith("hardlink-edit"):
        reader, reading = _tool("read_file", guard)
        read = reader.args.model_construct(offset=1, limit=None, **reading(path))
        await reader.run(read, context)
        args = tool.args.model_construct(
            path=path, old_string="TOPSECRET", new_string="y", replace_all=False
        )
    try:
        output = await tool.run(args, context)
    except ToolError as error:
        return "deny", str(error)
    return (
        "ask" if decision == "ask" and "{PROJ}" not in case["path"] else "allow"
    ), output.content


@pytest.mark.skipif(not CASES, reason="no ../shared/data: real input is not part of the project")
@pytest.mark.parametrize("openat2", [True, False], ids=["openat2", "walk"])
@pytest.mark.parametrize(
    "case",
    [
        c
        for c in CASES
        if c["id"] not in LEFT_OUT and c["id"] not in RACES and c["tool"] != "persist_output"
    ],
    ids=lambda c: c["id"],
)
async def test_path_attack(
    case: dict[str, Any], openat2: bool, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    if "skip-as-root" in case.get("tags", ()) and os.geteuid() == 0:
        pytest.skip("root reads everything")
    if not openat2:
        monkeypatch.setattr(beneath, "has_openat2", lambda: False)
    elif not beneath.has_openat2():
        pytest.skip("no openat2 here")
    for step in case["setup"]:
        world.make(*step)
    before = world.outside()
    started = time.monotonic()

    if case["expected"] == "ask":  # the guard asks, and writes once a person agreed
        guard = world.guard(through_link=False)
        assert guard.judge(world.fill(case["path"]), "write").decision == "ask"
    outcome, said = await _outcome(case, world)

    assert time.monotonic() - started < 2
    assert world.outside() == before
    assert "TOPSECRET" not in said or case["id"] == "hardlink-read"
    if "either" not in case.get("tags", ()) and case["expected"] != "ask":
        assert outcome == case["expected"], said
    if case["id"] == "symlink-in-glob":
        assert "secret" not in said
    if case["id"] == "dir-read":
        assert "glob_files" in said


@pytest.mark.skipif(not CASES, reason="no ../shared/data: real input is not part of the project")
@pytest.mark.parametrize(
    "case", [c for c in CASES if c["tool"] == "persist_output"], ids=lambda c: c["id"]
)
async def test_an_id_names_a_kept_output_and_is_never_its_path(
    case: dict[str, Any], world: World
) -> None:
    outputs = KeptOutputs(Path(world.names["{LIB}"]))
    folder = Path(world.names["{LIB}"]) / FOLDER
    before = world.outside()

    kept = [
        Path(await outputs.keep("text", session_id="s", turn_id="t", call_id=case["path"])),
        Path(await outputs.keep("text", session_id=case["path"], turn_id="t", call_id="c")),
    ]

    assert world.outside() == before
    assert {path.parent.parent for path in kept} == {folder}
    assert {path for path in folder.rglob("*") if path.is_file()} == set(kept)
    assert all(case["path"] not in str(path) for path in kept)
    literal = world.guard(through_link=False).judge(f"{folder}/s/{case['path']}.txt", "write")
    assert literal.decision == case["expected"]


def test_every_case_runs_or_is_left_out_with_a_reason() -> None:
    known = {
        "read_file", "file_write", "file_edit", "grep_files", "glob_files", "persist_output"
    }  # fmt: skip
    assert {case["id"] for case in CASES if case["tool"] not in known} <= set(LEFT_OUT)
    assert all(reason for reason in LEFT_OUT.values())


SWAPS = 10_000


class Swapper(threading.Thread):
    """Swaps a name between the real thing and a link that leads out, again and again."""

    def __init__(self, name: Path, target: Path) -> None:
        super().__init__(daemon=True)
        self._name, self._target = name, target
        self._aside = name.with_name("aside")
        self.swaps = 0

    def run(self) -> None:
        for _ in range(10 * SWAPS):
            if self.swaps >= SWAPS:
                return
            try:
                if self._name.is_dir() or self._aside.exists():
                    self._swap_directory()
                else:
                    self._swap_file()
                self.swaps += 2  # there and back
            except OSError:  # the writer came in between; both may lose a round
                shutil.rmtree(self._aside, ignore_errors=True)

    def _swap_directory(self) -> None:
        self._name.rename(self._aside)
        self._name.symlink_to(self._target)
        self._name.unlink()
        self._aside.rename(self._name)

    def _swap_file(self) -> None:
        link = self._name.with_name("link")
        link.unlink(missing_ok=True)
        link.symlink_to(self._target)
        link.rename(self._name)
        self._name.unlink(missing_ok=True)


@pytest.mark.parametrize("openat2", [True, False], ids=["openat2", "walk"])
@pytest.mark.parametrize("what", ["file", "parent"])
def test_ten_thousand_swaps_write_nothing_outside(
    what: str, openat2: bool, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not openat2:
        monkeypatch.setattr(beneath, "has_openat2", lambda: False)
    monkeypatch.setattr(os, "fsync", int)  # power cuts are not the subject here
    library, outside = Path(world.names["{LIB}"]), Path(world.names["{OUT}"])
    (outside / "secret.txt").write_text("TOPSECRET")
    if what == "file":
        target, swapped = library / "race.md", library / "race.md"
        swapper = Swapper(swapped, outside / "secret.txt")
        target.write_text("x")
    else:
        target, swapped = library / "rd" / "x.md", library / "rd"
        swapped.mkdir()
        swapper = Swapper(swapped, outside)
    guard = world.guard(through_link=False)
    done = refused = 0
    read: set[bytes] = set()

    swapper.start()
    while swapper.is_alive():
        try:
            guard.write(str(target), b"mine")
            read.add(guard.read(str(target)))
            done += 1
        except NunciusError:
            refused += 1
    swapper.join()

    print(f"{done=} {refused=}")
    assert swapper.swaps >= SWAPS
    assert done + refused > 0
    assert read <= {b"mine", b"x"}
    assert {path.name for path in outside.iterdir()} == {"secret.txt"}
    assert (outside / "secret.txt").read_text() == "TOPSECRET"
