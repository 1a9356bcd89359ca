"""What a shell command can reach from inside the sandbox: nothing that it was not given.

Each probe tries one way out and prints ESCAPED where it got through. They run as this user, and
as user 65534 where this one is root.
"""

import asyncio
import contextlib
import os
import platform
import secrets
import shutil
import socket
import subprocess
import sys
import tempfile
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import Any

import pytest

from nuncius.core.errors import NunciusError
from nuncius.walls import cgroups, shell, spawn
from nuncius.walls.paths import Roots
from nuncius.walls.shell import ShellResult, run_shell, why_unavailable

needs_sandbox = pytest.mark.skipif(
    bool(spawn.sandbox_failure()), reason=f"no sandbox: {spawn.sandbox_failure()}"
)
SYSTEM_PYTHON = next((p for p in ("/usr/bin/python3", sys.executable) if Path(p).exists()), "")

PROBES = {
    "home": "print('ESCAPED') if any(os.path.exists(p) and os.listdir(p) for p in"
    " (os.environ['REAL_HOME'] + '/.ssh', os.environ['REAL_HOME'] + '/.config', '/home')) else 0",
    "secret beside the project": "print('ESCAPED', open(os.environ['SECRET']).read())",
    "shadow": "print('ESCAPED', open('/etc/shadow').read())",
    "host passwd": "print('ESCAPED') if open('/etc/passwd').read().count(':') > 6 else 0",
    "other processes": "print('ESCAPED') if any(int(p) > 20 for p in os.listdir('/proc')"
    " if p.isdigit() and os.path.exists(f'/proc/{p}/cmdline')"
    " and b'pytest' in open(f'/proc/{p}/cmdline', 'rb').read()) else 0",
    "signals": "os.kill(int(os.environ['PARENT']), 0); print('ESCAPED')",
    "environment of pid 1": "print('ESCAPED') if b'sk-very-secret' in"
    " open('/proc/1/environ', 'rb').read() else 0",
    "own environment": "print('ESCAPED') if 'sk-very-secret' in str(os.environ) else 0",
    "tcp to loopback": "import socket; s = socket.create_connection(('127.0.0.1',"
    " int(os.environ['PORT'])), 2); print('ESCAPED')",
    "network cards": "import socket; print('ESCAPED') if any(name != 'lo' for _, name in"
    " socket.if_nameindex()) else 0",
    "host socket": "import socket; s = socket.socket(socket.AF_UNIX);"
    " s.connect(os.environ['UNIX_SOCKET']); print('ESCAPED')",
    "abstract socket": "import socket; s = socket.socket(socket.AF_UNIX);"
    " s.connect('\\0' + os.environ['ABSTRACT']); print('ESCAPED')",
    "datagram pair": "import socket; s, _ = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM);"
    " s.sendto(b'x', os.environ['UNIX_SOCKET']); print('ESCAPED')",
    "vsock": "import socket; socket.socket(40, socket.SOCK_STREAM); print('ESCAPED')",
    "netlink": "import socket; socket.socket(socket.AF_NETLINK, socket.SOCK_RAW); print('ESCAPED')",
    "ptrace": "import ctypes; c = ctypes.CDLL(None, use_errno=True);"
    " print('ESCAPED') if c.ptrace(0, 0, 0, 0) == 0 else 0",
    "unshare": "import ctypes; c = ctypes.CDLL(None, use_errno=True);"
    " print('ESCAPED') if c.unshare(0x10000000) == 0 or c.unshare(0x20000) == 0 else 0",
    "setns": "import ctypes; c = ctypes.CDLL(None, use_errno=True);"
    " f = os.open('/proc/self/ns/mnt', os.O_RDONLY);"
    " print('ESCAPED') if c.setns(f, 0) == 0 else 0",
    "mount": "import ctypes; c = ctypes.CDLL(None, use_errno=True);"
    " print('ESCAPED') if c.mount(b'none', b'/tmp', b'tmpfs', 0, None) == 0 else 0",
    "umount": "import ctypes; c = ctypes.CDLL(None, use_errno=True);"
    " print('ESCAPED') if c.umount2(os.environ['HIDDEN'].encode(), 2) == 0 else 0",
    "chroot": "os.chroot('/tmp'); print('ESCAPED')",
    "bpf": "import ctypes; c = ctypes.CDLL(None, use_errno=True);"
    " r = c.syscall(321 if os.uname().machine == 'x86_64' else 280, 0, 0, 0);"
    " print('ESCAPED') if ctypes.get_errno() != 1 else 0",
    "io_uring": "import ctypes; c = ctypes.CDLL(None, use_errno=True);"
    " r = c.syscall(425, 1, 0); print('ESCAPED') if ctypes.get_errno() != 1 else 0",
    "keyctl": "import ctypes; c = ctypes.CDLL(None, use_errno=True);"
    " r = c.syscall(250 if os.uname().machine == 'x86_64' else 219, 0, -3, 0);"
    " print('ESCAPED') if ctypes.get_errno() != 1 else 0",
    "typing into a terminal": "import fcntl; m, s = os.openpty();"
    " fcntl.ioctl(s, 0x5412, b'x'); print('ESCAPED')",
    # Opened, not written: a probe must do no harm where it gets through.
    "kernel settings": "os.open('/proc/sys/kernel/core_pattern', os.O_WRONLY); print('ESCAPED')",
    "sysrq": "os.open('/proc/sysrq-trigger', os.O_WRONLY); print('ESCAPED')",
    "raw disk": "import stat; os.mknod('disk', 0o600 | stat.S_IFBLK, os.makedev(8, 0));"
    " open('disk', 'rb').read(1); print('ESCAPED')",
    "memory": "open('/dev/mem', 'rb').read(1); print('ESCAPED')",
    "system files": "open('/usr/nuncius-was-here', 'w'); print('ESCAPED')",
    "root through proc": "print('ESCAPED') if os.path.exists('/proc/1/root' + os.environ['SECRET'])"
    " else 0",
    "link out of the project": "os.symlink(os.environ['SECRET'], 'link');"
    " print('ESCAPED', open('link').read())",
    "hidden file": "print('ESCAPED', open('.env').read())",
    "hidden file unlinked": "os.unlink('.env'); print('ESCAPED')",
    "hidden folder": "print('ESCAPED') if os.listdir('deep/.ssh') else 0",
    "our home": "print('ESCAPED') if os.path.exists(os.environ['OUR_HOME'] + '/token') else 0",
    "hook of git": "open('.git/hooks/post-commit', 'w'); print('ESCAPED')",
    "settings of git": "open('.git/config', 'a').write('[core]') ;"
    " print('ESCAPED') if 'token' in open('.git/config').read() else 0",
    "skill": "open(os.environ['SKILLS'] + '/SKILL.md', 'w'); print('ESCAPED')",
}


@pytest.fixture
def place() -> Iterator[Path]:
    """Make roots that every user may enter, with things that no command may reach."""
    top = Path(tempfile.mkdtemp(prefix="nuncius-sandbox-"))
    top.chmod(0o755)
    for name in ("project/.git/hooks", "project/deep/.ssh", "skills", "home/library", "beside"):
        (top / name).mkdir(parents=True)
    (top / "project/.env").write_text("KEY=hidden")
    (top / "project/.git/config").write_text("[remote]\nurl = https://token@example.org\n")
    (top / "project/.git/HEAD").write_text("ref: refs/heads/main\n")
    (top / "project/deep/.ssh/id_rsa").write_text("hidden")
    (top / "project/a.txt").write_text("seen\n")
    (top / "home/token").write_text("hidden")
    (top / "beside/secret").write_text("hidden")
    for found in top.rglob("*"):
        found.chmod(0o777 if found.is_dir() else 0o666)
    yield top
    shutil.rmtree(top)


def roots_in(place: Path) -> Roots:
    return Roots.of(
        library=place / "home/library",
        project=place / "project",
        skills=[place / "skills"],
        home=place / "home",
    )


async def ran(command: str, place: Path, *, timeout_s: float = 20) -> ShellResult:
    return await run_shell(
        command, roots=roots_in(place), cwd=place / "project", timeout_s=timeout_s
    )


def text(result: ShellResult) -> str:
    return (result.head + result.tail).decode()


@contextlib.contextmanager
def listening(place: Path) -> Generator[dict[str, str]]:
    """Open the sockets that the probes knock at, and name what they look for."""
    with (
        socket.create_server(("127.0.0.1", 0)) as tcp,
        socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as unix,
        socket.socket(socket.AF_UNIX) as abstract,
    ):
        unix.bind(str(place / "project/socket"))  # inside a root, where it can be seen
        (place / "project/socket").chmod(0o777)
        name = f"nuncius-test-{os.getpid()}-{secrets.token_hex(4)}"
        abstract.bind(f"\0{name}")
        abstract.listen()
        yield {
            "ABSTRACT": name,
            "PORT": str(tcp.getsockname()[1]),
            "UNIX_SOCKET": str(place / "project/socket"),
            "SECRET": str(place / "beside/secret"),
            "OUR_HOME": str(place / "home"),
            "SKILLS": str(place / "skills"),
            "HIDDEN": str(place / "project/.env"),
            "REAL_HOME": str(Path.home()),
            "PARENT": str(os.getpid()),
        }


def script(probe: str, facts: dict[str, str]) -> str:
    """Return a shell command that runs a probe; that something stops it is its success."""
    code = f"import os\nos.environ.update({facts!r})\ntry:\n    {probe}\nexcept OSError: pass\n"
    return f"{SYSTEM_PYTHON} -I - <<'PROBE'\n{code}print('tried')\nPROBE"


@needs_sandbox
@pytest.mark.parametrize("name", PROBES)
async def test_no_way_out(name: str, place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LLM_API_KEY", "sk-very-secret")
    with listening(place) as facts:
        result = await ran(script(PROBES[name], facts), place)
    assert text(result).strip() == "tried"


@needs_sandbox
@pytest.mark.skipif(os.geteuid() != 0, reason="it already runs as a user")
@pytest.mark.parametrize("name", PROBES)
def test_no_way_out_for_a_user_who_is_not_root(
    name: str, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # This Python may lie where only root can go, so it is left out of what the command sees.
    monkeypatch.setattr(shell, "python_roots", list)
    monkeypatch.setattr(shell, "process_limit", no_group)  # only root makes one
    with listening(place) as facts:
        result = as_user(script(PROBES[name], facts), place)
    if "bwrap" in result.stdout and "namespace" in result.stdout:
        pytest.skip("this system gives users no namespaces")
    assert result.stdout.strip() == "tried"


def no_group(_most: int) -> contextlib.AbstractContextManager[list[str]]:
    return contextlib.nullcontext([])


def as_user(command: str, place: Path) -> "subprocess.CompletedProcess[str]":
    """Run a command in the sandbox, started by user 65534."""
    room = shell.SandboxedShell(roots_in(place), place / "project")
    try:
        return subprocess.run(
            [
                *("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"),
                *room.line,
                *room.shell,
                command,
            ],
            env={**room.environment, "LLM_API_KEY": ""},
            pass_fds=room.fds,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=60,
            check=False,
        )
    finally:
        room.close()


@needs_sandbox
async def test_a_probe_that_may_succeed_does(place: Path) -> None:
    """The probes can fail: what is given is reached in the same way."""
    with listening(place) as facts:
        result = await ran(script("print('ESCAPED', open('a.txt').read())", facts), place)
    assert "ESCAPED seen" in text(result)


@needs_sandbox
async def test_project_and_library_are_written_and_skills_read(place: Path) -> None:
    library = place / "home/library"
    (place / "skills/SKILL.md").write_text("read me")
    result = await ran(
        f"echo p > new.txt && echo l > {library}/new.txt && cat {place}/skills/SKILL.md", place
    )
    assert (result.exit_code, text(result)) == (0, "read me")
    assert (place / "project/new.txt").read_text() == "p\n"
    assert (library / "new.txt").read_text() == "l\n"


@needs_sandbox
async def test_git_can_be_read_without_the_password_in_its_settings(place: Path) -> None:
    result = await ran("cat .git/HEAD .git/config; touch .git/x", place)
    assert "ref: refs/heads/main" in text(result)
    assert "token" not in text(result)
    assert "Read-only" in text(result)


@needs_sandbox
async def test_what_must_be_hidden_is_hidden_again_at_each_start(place: Path) -> None:
    assert "later" not in text(await ran("cat late.pem; echo done", place))
    (place / "project/late.pem").write_text("later")
    result = await ran("cat late.pem; echo done", place)
    assert "later" not in text(result)
    assert "Permission denied" in text(result)


@needs_sandbox
async def test_a_project_that_holds_our_home_does_not_show_it(place: Path) -> None:
    roots = Roots.of(library=place / "home/library", project=place, home=place / "home")
    result = await run_shell(
        "ls -A home home/library; cat beside/secret", roots=roots, cwd=place, timeout_s=20
    )
    assert "token" not in text(result)
    assert "library" in text(result)
    assert text(result).endswith("hidden")  # what lies elsewhere in the project is the project's


@needs_sandbox
async def test_more_to_hide_than_can_be_hidden_is_refused(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shell, "_MAX_HIDDEN", 1)
    with pytest.raises(NunciusError, match="NUNCIUS_PROJECT_DIR"):
        await ran("true", place)


@needs_sandbox
async def test_a_sandbox_that_cannot_be_made_is_told_apart_from_a_failing_command(
    place: Path,
) -> None:
    assert (await ran("echo 'bwrap: no' >&2; exit 1", place)).exit_code == 1
    with pytest.raises(NunciusError, match="sandbox could not be made"):
        await run_shell("true", roots=roots_in(place), cwd=place / "project/missing", timeout_s=20)


@needs_sandbox
async def test_processes_are_limited(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shell, "MAX_PROCESSES", 40)
    # Root's processes are counted by a control group, all others' by the kernel's limit.
    result = await ran("for i in $(seq 300); do sleep 65.5 & done", place, timeout_s=40)
    assert "fork" in text(result)
    assert len(list(Path("/sys/fs/cgroup").rglob(f"nuncius-{os.getpid()}-*"))) == 0
    assert not [line for line in processes() if "sleep\0" + "65.5" in line]


@needs_sandbox
@pytest.mark.skipif(os.geteuid() != 0, reason="only root's processes need counting")
async def test_where_root_has_no_control_group_we_count(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shell, "MAX_PROCESSES", 40)
    monkeypatch.setattr(cgroups, "_TREE", place / "nowhere")
    result = await ran("for i in $(seq 300); do sleep 66.5 & done; wait", place, timeout_s=40)
    assert result.too_many
    assert not [line for line in processes() if "sleep\0" + "66.5" in line]


@needs_sandbox
async def test_file_size_and_memory_are_limited(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(spawn, "MAX_FILE_BYTES", 1024 * 1024)
    monkeypatch.setattr(shell, "_memory_bytes", lambda: 300 * 1024**2)
    code = f"head -c 3000000 /dev/zero > big; {SYSTEM_PYTHON} -c 'bytearray(10**9)'"
    result = await ran(code, place)
    assert (place / "project/big").stat().st_size <= 1024 * 1024
    assert "MemoryError" in text(result)


@needs_sandbox
async def test_cancelling_leaves_nothing_behind(place: Path) -> None:
    nap = "64.125"
    task = asyncio.create_task(ran(f"touch started; sleep {nap} & sleep {nap}", place))
    while not (place / "project/started").exists():  # noqa: ASYNC110  (another process)
        await asyncio.sleep(0.01)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert not [line for line in processes() if f"sleep\0{nap}" in line]


def processes() -> list[str]:
    found: list[str] = []
    for entry in Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):
            found.append(entry.read_bytes().decode(errors="replace"))
    return found


@pytest.mark.parametrize("project", ["/", "/usr", "/home", "/tmp"])
def test_a_project_that_is_the_system_is_refused(project: str, tmp_path: Path) -> None:
    roots = Roots.of(library=tmp_path, project=Path(project))
    assert "NUNCIUS_PROJECT_DIR" in why_unavailable(roots)


def test_why_it_is_unavailable_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    roots = Roots.of(library=tmp_path, project=tmp_path)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert "apt-get install bubblewrap" in why_unavailable(roots)
    assert "NUNCIUS_SANDBOX=off" in why_unavailable(roots)


@needs_sandbox
def test_a_machine_without_a_filter_has_no_sandbox_for_commands(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    machine: Any = lambda: "riscv64"  # noqa: E731
    monkeypatch.setattr(platform, "machine", machine)
    roots = Roots.of(library=tmp_path, project=tmp_path)
    assert "riscv64" in why_unavailable(roots)


@needs_sandbox
async def test_the_librarys_own_hooks_and_logs_are_not_seen_and_the_projects_are(
    place: Path,
) -> None:
    library = place / "home/library"
    for folder in (library / "hooks", library / "logs", place / "project/hooks"):
        folder.mkdir()
        (folder / "mine.txt").write_text("found")
    result = await ran(f"cat {library}/hooks/* {library}/logs/*; cat hooks/mine.txt", place)
    assert text(result).count("found") == 1
    assert "No such file" in text(result)


@needs_sandbox
@pytest.mark.parametrize("name", ["AGENTS.md", "deep/claude.md", "conftest.py"])
async def test_what_agents_and_tools_obey_is_read_and_not_changed(place: Path, name: str) -> None:
    file = place / "project" / name
    file.write_text("obey\n")
    result = await ran(f"cat {name}; echo evil >> {name}; rm -f {name}; mv a.txt {name}", place)
    assert "obey" in text(result)
    assert file.read_text() == "obey\n"


@needs_sandbox
async def test_what_is_withheld_cannot_be_read(place: Path) -> None:
    (place / "project/deep/proposal.md").write_text("nine nights")
    result = await run_shell(
        "cat deep/*.md; cat a.txt",
        roots=roots_in(place),
        cwd=place / "project",
        timeout_s=20,
        withheld=[(place / "project/deep/proposal.md").resolve(), place / "gone.md"],
    )
    assert "nine nights" not in text(result)
    assert "seen" in text(result)
