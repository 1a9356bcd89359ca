"""The files beside the package keep what they promise."""

import importlib.util
import os
import re
import shutil
import subprocess
from pathlib import Path
from types import ModuleType

import pytest

from nuncius.app.config import FIELDS
from nuncius.core.settings import DOTENV_NAMES

PROJECT = Path(__file__).resolve().parents[2]


def script(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, PROJECT / "scripts" / f"{name}.py")
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_env_example_documents_every_setting_in_the_right_part() -> None:
    text = (PROJECT / ".env.example").read_text(encoding="utf-8")
    anywhere, environment_only = text.split("# --- These work in the environment", 1)
    assert set(re.findall(r"^# ([A-Z0-9_]+)=", anywhere, re.MULTILINE)) == DOTENV_NAMES
    named = set(re.findall(r"^# ([A-Z0-9_]+)=", environment_only, re.MULTILINE))
    assert named == set(FIELDS) - DOTENV_NAMES


needs_make = pytest.mark.skipif(shutil.which("make") is None, reason="make is not installed")


@needs_make
def test_make_help_lists_the_targets() -> None:
    ran = subprocess.run(
        ["make", "--no-print-directory", "help"],
        cwd=PROJECT,
        capture_output=True,
        text=True,
        check=True,
    )
    listed = {line.split()[0] for line in ran.stdout.splitlines()}
    assert {"demo", "test", "check", "bench", "release", "help"} <= listed


@needs_make
def test_make_says_what_is_missing_where_there_is_no_python(tmp_path: Path) -> None:
    ran = subprocess.run(
        ["make", "--no-print-directory", "PYTHON=", f"VENV={tmp_path / 'venv'}", "demo"],
        cwd=PROJECT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode != 0
    assert "Python 3.11 or newer" in ran.stdout
    assert not (tmp_path / "venv").exists()


def test_the_gate_is_a_script_that_runs() -> None:
    gate = PROJECT / ".ci" / "run"
    assert os.access(gate, os.X_OK)
    lines = gate.read_text(encoding="utf-8").splitlines()
    assert lines[0] == "#!/usr/bin/env bash"
    assert "set -euo pipefail" in lines


def test_this_tree_has_its_changelog_fragments() -> None:
    assert script("check_changelog").faults(PROJECT) == []


@pytest.mark.parametrize(
    ("name", "text", "fault"),
    [
        ("12.feature.md", "New.", ""),
        ("+word.bugfix.md", "Mended.", ""),
        ("12.feature.rst", "New.", "named unlike"),
        ("notes.md", "New.", "named unlike"),
        ("12.misc.md", " \n", "is empty"),
        ("", "", "no fragment"),
    ],
)
def test_a_bad_fragment_is_found(name: str, text: str, fault: str, tmp_path: Path) -> None:
    (tmp_path / "changelog.d").mkdir()
    (tmp_path / "changelog.d" / ".gitkeep").touch()
    (tmp_path / "src" / "nuncius").mkdir(parents=True)
    (tmp_path / "src" / "nuncius" / "__init__.py").write_text('__version__ = "9.9.9"\n')
    (tmp_path / "CHANGELOG.md").write_text("# nuncius 0.0.1\n")
    if name:
        (tmp_path / "changelog.d" / name).write_text(text)
    found = script("check_changelog").faults(tmp_path)
    assert fault in "".join(found)
    assert bool(found) is bool(fault)


def test_the_cost_of_the_demo_counts_each_file_once_and_the_cache_apart() -> None:
    log = """
  Downloading a-1-py3-none-any.whl.metadata (15 kB)
  Using cached b-1.whl (2.5 MB)
Downloading c-1.whl (1.0 MB)
   Downloading c-1.whl (1.0 MB)
Successfully installed a b c
"""
    assert script("demo_cost").totals(log) == {"Downloading": 1_015_000.0, "Using cached": 2.5e6}
