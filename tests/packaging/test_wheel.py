"""What is published: built, installed into an empty environment, and run there."""

import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path
from urllib.request import HTTPCookieProcessor, ProxyHandler, build_opener

import pytest

import nuncius

PROJECT = Path(__file__).resolve().parents[2]
LARGEST_INSTALLATION_MB = 180


def run(
    *command: str | Path, cwd: Path | None = None, env: dict[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    ran = subprocess.run(
        [str(word) for word in command],
        capture_output=True,
        text=True,
        check=False,
        cwd=cwd,
        env=env,
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
    return ran


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    run(sys.executable, "-m", "pip", "wheel", "--no-deps", "-w", folder, PROJECT)
    (built,) = folder.glob("*.whl")
    return built


def test_the_wheel_holds_all_that_is_needed_and_no_tests(wheel: Path) -> None:
    assert wheel.name == f"nuncius-{nuncius.__version__}-py3-none-any.whl"
    names = set(zipfile.ZipFile(wheel).namelist())
    source = PROJECT / "src"
    wanted = {
        str(path.relative_to(source))
        for path in (source / "nuncius").rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    assert wanted <= names
    assert any(name.endswith("licenses/LICENSE") for name in names)
    assert ("nuncius/web/index.html" in names) == bool(shutil.which("npm"))
    assert not any(name.startswith(("tests/", "docs/", "bench/")) for name in names)


def test_installed_into_an_empty_environment_the_demo_runs(wheel: Path, tmp_path: Path) -> None:
    venv = tmp_path / "venv"
    run(sys.executable, "-m", "venv", venv)
    packages = next((venv / "lib").glob("python*/site-packages"))
    before = size_mb(packages)
    run(venv / "bin" / "python", "-m", "pip", "install", "--quiet", wheel)
    assert size_mb(packages) - before < LARGEST_INSTALLATION_MB

    command = venv / "bin" / "nuncius"
    user, work = tmp_path / "user", tmp_path / "work"
    user.mkdir()
    work.mkdir()
    environment = {"HOME": str(user), "PATH": os.environ["PATH"], "XDG_DATA_HOME": str(user / "d")}
    version = run(command, "--version", cwd=work, env=environment)
    assert version.stdout == f"nuncius {nuncius.__version__}\n"
    demo = run(command, "demo", cwd=work, env=environment)
    assert "[1] “" in demo.stdout
    assert "check: " in demo.stdout
    assert (work / "answer.html").stat().st_size > 2000
    assert (user / "d" / "nuncius-demo" / "nuncius.db").is_file()
    assert not (user / "d" / "nuncius").exists()
    page = fetched_page(command, work, environment)
    assert ('<div id="root">' in page) == bool(shutil.which("npm"))
    assert "nuncius" in page


def fetched_page(command: Path, folder: Path, environment: dict[str, str]) -> str:
    """Serve an empty home, sign in as a browser does, and return the page."""
    words = [str(command), "serve", "--no-browser", "--port", "0"]
    with subprocess.Popen(
        words, cwd=folder, env=environment, stdout=subprocess.PIPE, text=True
    ) as serving:
        try:
            assert serving.stdout is not None
            link = serving.stdout.readline().strip()
            opener = build_opener(ProxyHandler({}), HTTPCookieProcessor())
            opener.open(link, timeout=30).close()
            with opener.open(link.partition("sign-in")[0], timeout=30) as answer:
                return answer.read().decode()
        finally:
            serving.terminate()


def size_mb(folder: Path) -> float:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file()) / 1e6
