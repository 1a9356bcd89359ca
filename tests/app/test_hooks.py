"""Hooks come from the user's `config.toml` and from nowhere else."""

import json
import sys
from pathlib import Path
from typing import Any, cast

import pytest

from nuncius.app.build import open_app
from nuncius.app.config import Loaded, load_settings, set_value
from nuncius.app.hooks import useless_hooks
from nuncius.core.errors import NotFoundError, SessionBusyError, SettingsError
from nuncius.store.lease import Lease
from nuncius.store.outputs import FOLDER


def loaded(tmp_path: Path, toml: str) -> Loaded:
    home, project = tmp_path / "home", tmp_path / "project"
    home.mkdir(exist_ok=True)
    project.mkdir(exist_ok=True)
    (home / "config.toml").write_text(toml)
    return load_settings({"NUNCIUS_HOME": str(home)}, directory=project)


def hook(**fields: object) -> str:
    lines = [f"{key} = {json.dumps(value)}" for key, value in fields.items()]
    return "\n".join(["[[hooks]]", *lines, ""])


def test_hooks_are_read_in_order_with_their_defaults(tmp_path: Path) -> None:
    settings = loaded(
        tmp_path,
        hook(
            event="PreToolUse", match="run_bash", command=["check", "-x"], timeout_s=5, fail="open"
        )
        + hook(event="PostToolUse", command=["bin/audit", "~/log.txt", "a/b"]),
    )
    assert settings.warnings == ()
    first, second = settings.settings.hooks
    assert (first.event, first.match, first.command) == ("PreToolUse", "run_bash", ("check", "-x"))
    assert (first.timeout_s, first.fail) == (5.0, "open")
    assert (second.match, second.timeout_s, second.fail) == ("*", 30.0, "closed")
    program = str(tmp_path / "home" / "bin" / "audit")
    assert second.command == (program, str(Path.home() / "log.txt"), "a/b")


@pytest.mark.parametrize(
    ("toml", "words"),
    [
        ("hooks = 3\n", "no list"),
        ('hooks = ["x"]\n', "hook 1 is no table"),
        (hook(event="PreToolUse"), "'command'"),
        (hook(event="PreToolUse", command=[]), "'command'"),
        (hook(event="PreToolUse", command="rm -rf x"), "'command'"),
        (hook(event="Stop", command=["x"]), "'event'"),
        (hook(event="PreToolUse", command=["x"], fail="maybe"), "'fail'"),
        (hook(event="PreToolUse", command=["x"], timeout_s=0), "'timeout_s'"),
        (hook(event="PreToolUse", command=["x"], mach="run_bash"), "'mach'"),
        (hook(event="PreToolUse", command=["x"], match=""), "'match'"),
    ],
)
def test_a_hook_that_makes_no_sense_stops_everything(toml: str, words: str, tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match=r"config\.toml") as caught:
        loaded(tmp_path, toml)
    assert words in caught.value.message


def test_a_project_supplies_no_hooks(tmp_path: Path) -> None:
    project = tmp_path / "project"
    project.mkdir()
    (project / "config.toml").write_text(hook(event="PreToolUse", command=["evil"]))
    (project / ".env").write_text('HOOKS=[{"event": "PreToolUse", "command": ["evil"]}]\n')
    assert loaded(tmp_path, "").settings.hooks == ()


def test_hooks_that_guard_nothing_are_named(tmp_path: Path) -> None:
    toml = (
        hook(event="PreToolUse", match="run_bsh", command=["sh"])
        + hook(event="PostToolUse", match="read_*", command=["no-such-program"])
        + hook(event="PreToolUse", command=["sh"])
    )
    settings = loaded(tmp_path, toml).settings
    first, second = useless_hooks(settings, ["run_bash", "read_file"], {"PATH": "/bin"})
    assert "'run_bsh'" in first
    assert "no-such-program" in second


def test_setting_a_value_keeps_the_hooks(tmp_path: Path) -> None:
    before = loaded(tmp_path, hook(event="PreToolUse", command=["check"])).settings.hooks
    environment = {"NUNCIUS_HOME": str(tmp_path / "home")}
    set_value("llm_model", "m", environment=environment)
    after = load_settings(environment, directory=tmp_path / "project").settings
    assert after.hooks == before
    assert after.llm_model == "m"


async def test_a_call_passes_the_hooks_of_the_settings(tmp_path: Path) -> None:
    script = tmp_path / "hook.py"
    script.write_text(
        "import json, os, sys\n"
        "call = json.load(sys.stdin)\n"
        "print(json.dumps({'decision': 'block', 'reason': call['tool'] + ' in '"
        " + os.environ['NUNCIUS_PROJECT_DIR']}))\n"
    )
    command = [sys.executable, str(script)]
    settings = loaded(tmp_path, hook(event="PreToolUse", match="glob_*", command=command)).settings
    async with open_app(settings) as app:
        output = await app.call_tool("glob_files", '{"pattern": "*"}')
    assert output.error_kind == "hook_blocked"
    assert f"glob_files in {tmp_path / 'project'}" in output.content


async def test_long_outputs_are_kept_in_the_library_until_the_session_is_deleted(
    tmp_path: Path,
) -> None:
    settings = loaded(tmp_path, "").settings
    for number in range(2_000):
        (settings.project_dir / f"{'n' * 20}{number:04}.txt").touch()
    async with open_app(settings) as app:
        session = await app.session()
        output = await app.call_tool(
            "glob_files", '{"pattern": "*", "limit": 2000}', session_id=session.id
        )
        path = Path(output.metadata["kept"]["path"])
        assert path.parent.parent == settings.library_dir.resolve() / FOLDER
        assert len(path.read_text().splitlines()) == 2_001
        assert str(path) in output.content
        page = await app.call_tool("read_file", json.dumps({"path": str(path), "offset": 2_001}))
        assert "2,000 files" in page.content
        await app.delete_session(session.id)
        assert not path.exists()


async def test_a_turn_that_comes_while_a_session_is_deleted_comes_before_or_after_all_of_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rivals: list[Lease] = []
    release = Lease.release

    def and_a_turn_begins(lease: Lease) -> None:
        release(lease)
        if not rivals:
            rivals.append(Lease(cast("Any", lease)._path))

    async with open_app(loaded(tmp_path, "").settings) as app:
        session = await app.session()
        path = Path(await app.outputs.keep("x", session_id=session.id, turn_id="t", call_id="c"))
        async with app.journal.lease(session.id):
            with pytest.raises(SessionBusyError):
                await app.delete_session(session.id)
        assert path.exists()
        monkeypatch.setattr(Lease, "release", and_a_turn_begins)
        await app.delete_session(session.id)
        assert len(rivals) == 1
        assert not path.exists()
        with pytest.raises(NotFoundError):
            await app.journal.session(session.id)
    release(rivals[0])
