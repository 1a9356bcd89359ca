import os
import resource
import stat
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from cli.running import QUESTION, Run

Process = Callable[..., "subprocess.Popen[bytes]"]
KEY = "sk-0123456789abcdefghij"


# --- config ---------------------------------------------------------------------------------------


def test_config_path_is_in_the_home_or_the_platforms_place(
    nuncius: Run, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert nuncius("config", "path").out == f"{home / 'config.toml'}\n"
    monkeypatch.delenv("NUNCIUS_HOME")
    shape = nuncius("config", "path", "--json").json
    assert shape["path"].endswith("nuncius/config.toml")
    assert shape["exists"] is False


def test_set_get_and_show_agree(nuncius: Run, home: Path) -> None:
    assert nuncius("config", "set", "llm_model", "m-1").code == 0
    assert nuncius("config", "get", "LLM_MODEL").out == "m-1\n"
    shown = nuncius("config", "show", "--json").json["settings"]
    assert shown["LLM_MODEL"] == {"value": "m-1", "source": "config.toml"}
    assert shown["NUNCIUS_HOME"]["source"] == "environment"
    assert stat.S_IMODE((home / "config.toml").stat().st_mode) == 0o600


def test_a_key_comes_from_stdin_and_is_never_printed(nuncius: Run, home: Path) -> None:
    printed = [nuncius("config", "set", "LLM_API_KEY", stdin=f"{KEY}\n")]
    assert KEY in (home / "config.toml").read_text()
    commands = ("config show", "config get llm_api_key", "doctor")
    for command in commands:
        printed += [nuncius(*command.split()), nuncius(*command.split(), "--json")]
    assert all(KEY not in ran.out + ran.err for ran in printed)
    assert printed[3].out == "********\n"


def test_set_says_when_the_environment_wins(nuncius: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LLM_MODEL", "env")
    assert "environment, which wins" in nuncius("config", "set", "llm_model", "file").err
    assert nuncius("config", "get", "llm_model").out == "env\n"


def test_unknown_settings_and_bad_values_are_refused(nuncius: Run, home: Path) -> None:
    unknown = nuncius("config", "set", "llm_modle", "x")
    assert unknown.code == 2
    assert "Did you mean LLM_MODEL" in unknown.err
    bad = nuncius("config", "set", "llm_context_tokens", "few", "--json")
    assert bad.code == 2
    assert bad.json["error"]["kind"] == "settings"
    assert nuncius("config", "get", "nothing").code == 2
    assert not (home / "config.toml").exists()


def test_what_was_ignored_is_told_on_stderr_alone(nuncius: Run) -> None:
    Path(".env").write_text("LLM_BASE_URL=http://evil.example\nLLM_MODEL=m\n")
    ran = nuncius("library", "list", "--json")
    assert ran.json["papers"] == []
    assert "warning: " in ran.err
    assert "LLM_BASE_URL" in ran.err


# --- doctor ---------------------------------------------------------------------------------------


def test_doctor_finds_a_sound_home_sound(nuncius: Run, filled: Path) -> None:
    ran = nuncius("doctor", "--json")
    checks = {check["name"]: check for check in ran.json["checks"]}
    assert ran.code == 0, ran.out
    assert ran.json["ok"]
    wanted = {
        "python",
        "settings",
        "home",
        "sqlite",
        "database",
        "tools",
        "sandbox",
        "pdf",
        "model",
        "keys",
    }
    assert checks.keys() >= wanted
    assert "FTS5" in checks["sqlite"]["text"]
    assert "1 papers" in checks["database"]["text"]
    assert "nothing leaves this machine" in checks["model"]["text"]
    assert checks["sandbox"]["state"] != "failed"


def test_doctor_names_who_receives_what(nuncius: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LLM_BASE_URL", "https://user:pw@llm.example:8443/v1")
    ran = nuncius("doctor")
    assert ran.code == 1
    assert "llm.example:8443 receives your questions" in ran.out
    assert "no model is named" in ran.out
    assert "nuncius config set llm_model" in ran.out
    assert "pw" not in ran.out + ran.err


def test_each_failure_comes_with_what_mends_it(
    nuncius: Run, home: Path, filled: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (home / "nuncius.db").write_bytes(b"SQLite format 3\x00" + b"\xff" * 8000)
    monkeypatch.setenv("LLM_PROVIDER", "openai")
    ran = nuncius("doctor", "--json")
    assert ran.code == 1
    failed = [check for check in ran.json["checks"] if check["state"] == "failed"]
    assert {"database", "keys"} <= {check["name"] for check in failed}
    assert all(check["mend"] for check in failed)


def test_doctor_names_unreadable_files_and_a_key_that_others_may_read(
    nuncius: Run, home: Path
) -> None:
    Path("bad.pdf").write_bytes(b"%PDF-1.4 no")
    nuncius("add", "bad.pdf")
    nuncius("config", "set", "llm_api_key", KEY)
    (home / "config.toml").chmod(0o644)
    nuncius("config", "set", "llm_model", "m")  # rewritten for the owner only
    assert "chmod" not in nuncius("doctor").out
    (home / "config.toml").chmod(0o644)
    text = nuncius("doctor").out
    assert "bad.pdf" in text
    assert f"chmod 600 {home / 'config.toml'}" in text


@pytest.mark.parametrize("place", ["file", "file/below"])
def test_doctor_and_all_else_survive_a_home_that_cannot_be(
    place: str, nuncius: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("NUNCIUS_HOME", str(tmp_path / place))
    ran = nuncius("doctor")
    assert ran.code == 1
    assert "NUNCIUS_HOME" in ran.out
    other = nuncius("library", "list")
    assert other.code == 2
    assert "NUNCIUS_HOME" in other.err
    assert "Traceback" not in other.err


def test_doctor_with_a_bad_setting_still_checks_the_rest(
    nuncius: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ENABLE_THINKING", "perhaps")
    ran = nuncius("doctor", "--json")
    assert ran.code == 1
    assert {"python", "settings", "pdf"} <= {check["name"] for check in ran.json["checks"]}


# --- backup, restore, broken databases, full disks -------------------------------------------------


def test_a_backup_brings_everything_back(nuncius: Run, home: Path, filled: Path) -> None:
    assert nuncius("backup", "copy.db").code == 0
    assert nuncius("backup", "copy.db").code == 1  # never over a file that is there
    (paper,) = nuncius("library", "list", "--json").json["papers"]
    nuncius("paper", "remove", paper["paper_id"])
    shape = nuncius("restore", "copy.db", "--json").json
    assert shape["path"] == str(home / "nuncius.db")
    assert Path(shape["replaced"]).is_file()
    assert nuncius("library", "list", "--json").json["papers"] == [paper]
    assert "2.08" in nuncius("ask", QUESTION).out


@pytest.mark.parametrize(
    "content", [b"", b"not a database", b"SQLite format 3\x00" + b"\xff" * 9000]
)
def test_what_is_no_backup_is_refused_and_nothing_changes(
    content: bytes, nuncius: Run, filled: Path
) -> None:
    Path("copy.db").write_bytes(content)
    before = nuncius("library", "list", "--json").json
    ran = nuncius("restore", "copy.db")
    assert ran.code == 1
    assert ran.err.startswith("error: ")
    assert nuncius("restore", "nothing.db").code == 1
    assert nuncius("library", "list", "--json").json == before


@pytest.mark.parametrize("command", [["library", "list"], ["ask", QUESTION], ["add", "note.md"]])
def test_a_broken_database_is_told_and_never_overwritten(
    command: list[str], nuncius: Run, home: Path, filled: Path
) -> None:
    Path("note.md").write_text("# N\n\nText.\n")
    nuncius("backup", "copy.db")
    database = home / "nuncius.db"
    for ending in ("-wal", "-shm"):
        database.with_name(database.name + ending).unlink(missing_ok=True)
    broken = b"garbage" * 1000
    database.write_bytes(broken)
    ran = nuncius(*command)
    assert ran.code == 1
    assert "nuncius restore" in ran.err
    assert "Traceback" not in ran.err
    assert database.read_bytes() == broken
    assert nuncius("restore", "copy.db").code == 0
    assert len(nuncius("library", "list", "--json").json["papers"]) == 1


def test_a_full_disk_is_told_and_what_was_there_stays(
    nuncius: Run, process: Process, filled: Path, tmp_path: Path
) -> None:
    big = tmp_path / "big.md"
    sentences = (f"Star {number} has {number}.5 solar masses. " for number in range(60_000))
    big.write_text("# Big\n\n" + "".join(sentences))

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (600_000, 600_000))

    child = process("add", str(big), preexec_fn=limit)
    out, err = child.communicate()
    assert child.returncode == 1, out + err
    assert b"Traceback" not in err
    assert b"error: " in err or b"failed" in err
    assert nuncius("doctor").code == 0
    assert [paper["title"] for paper in nuncius("library", "list", "--json").json["papers"]] == [
        "Masses of neutron stars"
    ]
    assert "2.08" in nuncius("ask", QUESTION).out


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_home_without_rights_is_told(nuncius: Run, home: Path) -> None:
    home.mkdir(mode=0o500)
    ran = nuncius("library", "list")
    assert ran.code in {1, 2}
    assert "NUNCIUS_HOME" in ran.err
