import errno
import multiprocessing
import os
import stat
import threading
import time
from multiprocessing.process import BaseProcess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nuncius.core.errors import AccessDeniedError, DocumentError, NotFoundError, NunciusError
from nuncius.walls import beneath, names
from nuncius.walls.paths import PathGuard, Roots, TooLargeError, read_user_file


class Desk:
    """Library, skills, project, and a folder outside that holds a secret."""

    def __init__(self, base: Path) -> None:
        self.base = base
        self.lib, self.skills, self.proj, self.out = (
            base / name for name in ("lib", "skills", "proj", "out")
        )
        for folder in (self.lib, self.skills, self.proj, self.out):
            folder.mkdir()
        (self.out / "secret.txt").write_text("TOPSECRET")
        self.guard = PathGuard(Roots.of(library=self.lib, project=self.proj, skills=[self.skills]))

    def refusal(self, path: object) -> str:
        with pytest.raises(AccessDeniedError) as caught:
            self.guard.read(str(path))
        return str(caught.value).replace(repr(str(path)), "PATH")


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


@pytest.fixture(params=["openat2", "walk"])
def either_way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Run with openat2 and with the step-by-step walk."""
    if request.param == "walk":
        monkeypatch.setattr(beneath, "has_openat2", lambda: False)
    elif not beneath.has_openat2():
        pytest.skip("this kernel has no openat2")


def test_every_refusal_says_the_same_whether_the_file_exists_or_not(desk: Desk) -> None:
    (desk.lib / "out").symlink_to(desk.out)
    (desk.lib / "gone").symlink_to(desk.out / "gone")
    (desk.lib / "loop").symlink_to("loop")
    (desk.proj / ".env").write_text("KEY=1")
    said = {
        desk.refusal(path)
        for path in (
            desk.out / "secret.txt",
            desk.out / "nothing.txt",
            desk.out,
            desk.lib / "out" / "secret.txt",
            desk.lib / "out" / "nothing.txt",
            desk.lib / "gone",
            desk.lib / "loop",
            desk.proj / ".env",
            desk.lib / ".env",
            "~/x",
            "../out/secret.txt",
            "file:///etc/passwd",
            "/etc/shadow",
            "a\0b",
            "",
        )
    }
    assert len(said) == 1
    assert "Allowed are names below the library" in said.pop()


@pytest.mark.parametrize(
    "name",
    ["a..b", "...", "..x", "x..", "IMG~1.fits", "%2e%2e", "-rf", "NGC 253..2005.md", "星系 β.md"],
)
def test_unusual_names_are_names(desk: Desk, name: str, either_way: None) -> None:
    desk.guard.write(str(desk.lib / name), b"x")
    assert desk.guard.read(str(desk.lib / name)) == b"x"


@pytest.mark.parametrize(
    "path",
    [
        ".env", ".env.local", ".ENV", "sub/.env/x", ".git/config", ".GIT/config", ".gi\u200ct/config",
        "config.toml", "x.db", "deep/x.DB-wal", "token", ".bashrc", ".vscode/x", ".mcp.json",
        ".ssh/id_rsa", "sitecustomize.py", ".team/inbox", "cert.pem", ".ads/dev_key", ".env. ",
    ],
)  # fmt: skip
@pytest.mark.parametrize("root", ["lib", "proj", "skills"])
def test_protected_names_are_refused_in_every_root(desk: Desk, root: str, path: str) -> None:
    place = desk.base / root / path
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text("x")
    desk.refusal(place)
    assert desk.guard.judge(str(place), "write").decision == "deny"
    assert path not in {found.name for found in desk.guard.walk(str(desk.base / root))}


@pytest.mark.parametrize(
    "path",
    ["environment.md", "gitlog.txt", "tokens.md", "token.md", "my.config.toml", "m31.dat", "env"],
)
def test_names_that_only_look_alike_are_free(desk: Desk, path: str) -> None:
    (desk.proj / path).write_text("x")
    assert desk.guard.judge(path, "read").decision == "allow"


def test_logs_are_protected_in_the_library_and_free_in_a_project(desk: Desk) -> None:
    for root in (desk.lib, desk.proj):
        (root / "logs").mkdir()
        (root / "logs" / "night1.txt").write_text("x")
    assert desk.guard.judge("logs/night1.txt", "read").decision == "allow"
    assert desk.guard.judge(str(desk.lib / "logs" / "night1.txt"), "read").decision == "deny"


def test_a_link_cannot_lead_to_a_protected_name(desk: Desk) -> None:
    (desk.proj / ".env").write_text("KEY=1")
    (desk.proj / "notes.txt").symlink_to(".env")
    desk.refusal("notes.txt")
    (desk.proj / ".envrc").symlink_to("real.txt")
    (desk.proj / "real.txt").write_text("x")
    desk.refusal(".envrc")


@pytest.mark.parametrize(
    ("path", "decision"),
    [
        ("lib/a.md", "allow"), ("lib/new/deep/a.md", "allow"), ("proj/a.md", "ask"),
        ("proj/conftest.py", "ask"), ("lib/AGENTS.md", "ask"), ("lib/claude.md", "ask"),
        ("skills/x/SKILL.md", "ask"), ("out/a.md", "deny"), ("lib", "deny"), ("lib/", "deny"),
        ("lib/a\u202eb", "deny"), ("lib/a\u200bb", "deny"), ("lib/a\nb", "deny"), ("lib/\x1b[2J", "deny"),
        ("lib/new\u200b/x", "deny"), ("lib/a.md/", "deny"),
    ],
)  # fmt: skip
def test_writes_are_allowed_asked_or_denied(desk: Desk, path: str, decision: str) -> None:
    verdict = desk.guard.judge(f"{desk.base}/{path}", "write")
    assert verdict.decision == decision
    assert bool(verdict.reason) == (decision != "allow")


def test_our_own_home_is_closed_even_inside_a_project(tmp_path: Path) -> None:
    home = tmp_path / "user" / ".local" / "share" / "nuncius"
    library = home / "library"
    (home / "logs").mkdir(parents=True)
    library.mkdir()
    (home / "logs" / "x.txt").write_text("x")
    (home / "sessions.txt").write_text("x")
    (library / "a.md").write_text("x")
    project = tmp_path / "user"
    guard = PathGuard(Roots.of(library=library, project=project, home=home))
    assert guard.judge(str(library / "a.md"), "read").decision == "allow"
    assert guard.judge(str(library / "a.md"), "write").decision == "allow"
    assert guard.judge(str(home / "sessions.txt"), "read").decision == "deny"
    assert list(guard.walk(".")) == []
    assert [found.name for found in guard.walk(str(library))] == ["a.md"]


def test_a_root_may_be_spelled_through_a_link(tmp_path: Path, either_way: None) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "real" / "a.md").write_text("x")
    (tmp_path / "link").symlink_to("real")
    (tmp_path / "proj").mkdir()
    guard = PathGuard(Roots.of(library=tmp_path / "link", project=tmp_path / "proj"))
    assert guard.read(str(tmp_path / "link" / "a.md")) == b"x"
    assert guard.read(str(tmp_path / "real" / "a.md")) == b"x"
    assert guard.key(str(tmp_path / "link" / "a.md")) == f"file:{tmp_path / 'real' / 'a.md'}"


def test_a_write_keeps_link_mode_and_hard_linked_neighbours(desk: Desk, either_way: None) -> None:
    real = desk.lib / "real.md"
    real.write_text("old")
    real.chmod(0o640)
    (desk.proj / "link.md").symlink_to(real)
    os.link(real, desk.out / "other-name")
    desk.guard.write("link.md", b"new")
    assert (desk.proj / "link.md").is_symlink()
    assert real.read_text() == "new"
    assert stat.S_IMODE(real.stat().st_mode) == 0o640
    assert (desk.out / "other-name").read_text() == "old"
    assert [path.name for path in desk.lib.iterdir()] == ["real.md"]


def test_a_new_file_follows_the_umask_and_a_wish(desk: Desk) -> None:
    desk.guard.write(str(desk.lib / "a"), b"x")
    desk.guard.write(str(desk.lib / "b"), b"x", mode=0o600)
    umask = os.umask(0o022)
    os.umask(umask)
    assert stat.S_IMODE((desk.lib / "a").stat().st_mode) == 0o666 & ~umask
    assert stat.S_IMODE((desk.lib / "b").stat().st_mode) == 0o600


def test_a_failed_write_leaves_the_old_file_and_no_leftover(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    (desk.lib / "a.md").write_text("old")

    def full(_fd: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(NunciusError, match="No space left"):
        desk.guard.write(str(desk.lib / "a.md"), b"new")
    assert (desk.lib / "a.md").read_text() == "old"
    assert [path.name for path in desk.lib.iterdir()] == ["a.md"]


def test_a_name_of_255_bytes_can_be_written_and_one_of_256_is_told(
    desk: Desk, either_way: None
) -> None:
    desk.guard.write(str(desk.lib / ("n" * 255)), b"x")
    assert (desk.lib / ("n" * 255)).read_bytes() == b"x"
    with pytest.raises(NunciusError):
        desk.guard.write(str(desk.lib / ("n" * 256)), b"x")


def test_what_is_no_regular_file_is_never_opened(desk: Desk, either_way: None) -> None:
    os.mkfifo(desk.lib / "fifo")
    with pytest.raises(AccessDeniedError, match="regular file"):
        desk.guard.read(str(desk.lib / "fifo"))
    with pytest.raises(AccessDeniedError, match="regular file"):
        desk.guard.write(str(desk.lib / "fifo"), b"x")
    with pytest.raises(AccessDeniedError, match="glob_files"):
        desk.guard.read(str(desk.lib))
    with pytest.raises(NotFoundError):
        desk.guard.read(str(desk.lib / "nothing"))


def test_a_file_over_the_limit_is_told(desk: Desk) -> None:
    (desk.lib / "big").write_bytes(b"x" * 101)
    with pytest.raises(TooLargeError):
        desk.guard.read(str(desk.lib / "big"), max_bytes=100)
    assert len(desk.guard.read(str(desk.lib / "big"), max_bytes=101)) == 101


def test_a_walk_ends_and_stays_inside(desk: Desk, either_way: None) -> None:
    (desk.lib / "d" / "e").mkdir(parents=True)
    (desk.lib / "d" / "e" / "a.md").write_text("x")
    (desk.lib / "d" / "up").symlink_to(desk.lib)
    (desk.lib / "out").symlink_to(desk.out)
    (desk.lib / "secret").symlink_to(desk.out / "secret.txt")
    (desk.lib / "inner").symlink_to(desk.lib / "d" / "e" / "a.md")
    os.mkfifo(desk.lib / "fifo")
    assert [found.name for found in desk.guard.walk(str(desk.lib))] == ["d/e/a.md", "inner"]


def test_opening_beneath_follows_no_link(tmp_path: Path, either_way: None) -> None:
    (tmp_path / "d").mkdir()
    (tmp_path / "d" / "f").write_text("x")
    (tmp_path / "link").symlink_to("d")
    (tmp_path / "d" / "g").symlink_to("f")
    root = os.open(tmp_path, os.O_RDONLY)
    try:
        os.close(beneath.open_at(root, ("d", "f"), os.O_RDONLY))
        for parts in (("link", "f"), ("d", "g")):
            with pytest.raises(OSError, match=os.strerror(errno.ELOOP)):
                beneath.open_at(root, parts, os.O_RDONLY)
    finally:
        os.close(root)


def _append(base: Path, name: str) -> None:
    guard = PathGuard(Roots.of(library=base / "lib", project=base / "proj"))
    for at in range(10):
        with guard.change(str(base / "lib" / "log.txt")) as change:
            change.write((change.before or b"") + f"{name}{at}\n".encode())


def test_threads_and_processes_lose_no_change(desk: Desk) -> None:
    context = multiprocessing.get_context("spawn")
    workers: list[threading.Thread | BaseProcess] = [
        *(threading.Thread(target=_append, args=(desk.base, f"t{n}-")) for n in range(2)),
        *(context.Process(target=_append, args=(desk.base, f"p{n}-")) for n in range(2)),
    ]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    lines = (desk.lib / "log.txt").read_text().split()
    assert sorted(lines) == sorted(
        f"{who}{n}-{at}" for who in "tp" for n in range(2) for at in range(10)
    )


@given(st.text(max_size=30))
def test_a_path_is_malformed_exactly_where_a_component_climbs(text: str) -> None:
    if text.strip() and "\0" not in text and not text.startswith("~") and "://" not in text:
        assert names.is_malformed(text) == any(part == ".." for part in text.split("/"))


@given(st.lists(st.sampled_from(["..", ".", "a", "link", "out", "", "~", "b..c", "x"]), max_size=6))
def test_no_path_made_of_pieces_reaches_outside(
    tmp_path_factory: pytest.TempPathFactory, parts: list[str]
) -> None:
    base = tmp_path_factory.getbasetemp() / "pieces"
    if not base.exists():
        base.mkdir()
        (Desk(base).lib / "link").symlink_to(base / "out")
        (base / "lib" / "a").mkdir()
        (base / "lib" / "a" / "out").symlink_to("../../out")
    guard = PathGuard(Roots.of(library=base / "lib", project=base / "proj"))
    try:
        place = guard.locate(f"{base}/lib/" + "/".join(parts))
    except AccessDeniedError:
        return
    assert place.path.resolve().is_relative_to(base / "lib")


class TestUserFiles:
    def test_any_regular_file_is_read_links_followed(self, tmp_path: Path) -> None:
        (tmp_path / "a.pdf").write_bytes(b"%PDF-x")
        (tmp_path / "link.pdf").symlink_to("a.pdf")
        content, status = read_user_file(tmp_path / "link.pdf")
        assert content == b"%PDF-x"
        assert status.st_size == 6

    def test_a_fifo_does_not_hang(self, tmp_path: Path) -> None:
        os.mkfifo(tmp_path / "fifo")
        started = time.monotonic()
        with pytest.raises(DocumentError) as caught:
            read_user_file(tmp_path / "fifo")
        assert caught.value.kind == "unsupported"
        assert time.monotonic() - started < 1

    def test_what_cannot_be_read_says_why(self, tmp_path: Path) -> None:
        (tmp_path / "big").write_bytes(b"x" * 11)
        with pytest.raises(NotFoundError):
            read_user_file(tmp_path / "nothing")
        for path, kind in ((tmp_path / "big", "too_large"), (tmp_path, "unsupported")):
            with pytest.raises(DocumentError) as caught:
                read_user_file(path, 10)
            assert caught.value.kind == kind
        with pytest.raises(DocumentError):
            read_user_file(Path("a\0b"))
