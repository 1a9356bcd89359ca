"""The probes, and how what happened is judged.

P: what goes wrong between model and tools. E: edits of files. S: shell commands.
"""

import asyncio
import contextlib
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from contract import Call, Driver, Script, call, run_calls
from figures import peak_mb

# P: what goes wrong between model and tools.

P_STEPS: dict[str, Sequence[Call]] = {
    "control": [call("c1", "look", word="1")],
    "P1": [call("c1", "lok", word="1")],
    "P2": [Call("c1", "look", '{"word": ')],
    "P3": [call("a", "look", word="1"), call("b", "broken", word="2"), call("c", "look", word="3")],
    "P4": [call(f"c{n}", "late", number=n) for n in range(20)],
    "P5": [call("x", "look", word="1"), call("x", "look", word="2")],
    "P7": [call("", "look", word="1")],
}


PROBES = ("P1", "P2", "P3", "P4", "P5", "P6", "P7")


async def probe_calls(driver: Driver, probe: str, *, kept: bool = False) -> str:
    script = Script([P_STEPS[probe]] if probe in P_STEPS else [])
    dangling = None if probe in P_STEPS else call("c1", "look", word="1")
    try:
        async with driver.session(script, dangling=dangling, kept=kept) as turn:
            await turn("go")
    except Exception as error:  # noqa: BLE001  # what a peer lets through is the finding
        return f"{'refused' if dangling else 'the run dies'} ({type(error).__name__})"
    if dangling:
        answered = {line.id for line in script.results}
        calls = [one.id for line in script.requests[-1] for one in line.calls]
        return "ok" if set(calls) <= answered else "sent dangling"
    if len(script.requests) == 1:
        return "the turn ends silently"
    return judge(probe, script)


def judge(probe: str, script: Script) -> str:
    """Say what became of the calls in the request that follows them."""
    results = script.results
    calls = [one for line in script.requests[-1] for one in line.calls]
    texts = [line.text for line in results]
    if probe == "P3":
        wanted = {"a": "saw 1", "c": "saw 3"}
        told = {line.id: line.text for line in results}
        if any(told.get(key) != text for key, text in wanted.items()):
            return "siblings' results lost"
        return "ok" if "b" in told else "no result for the failure"
    if probe == "P4":
        wanted = [f"saw {n}" for n in range(20)]
        if sorted(texts) != sorted(wanted):
            return "results lost"
        return "ok" if texts == wanted else "out of order"
    if probe == "P5":
        if len(results) < 2:
            return "one call dropped"
        if len({line.id for line in results}) == 1:
            return "both results share it"
        paired = [one.id for one in calls] == [line.id for line in results]
        return "ok" if paired and texts == ["saw 1", "saw 2"] else "results mixed up"
    if not results:
        return "no result"
    if not results[0].id:
        return "passed on"
    return "ok" if [one.id for one in calls] == [results[0].id] else "result without its call"


# E: edits of files, each after a read, as a model would do it.


@dataclass(frozen=True)
class Edit:
    """One edit, and the bytes that the file must hold after it."""

    before: bytes
    old: str
    new: str
    after: bytes


async def probe_edits(driver: Driver, folder: Path, **edits: Edit) -> str:
    """Say how the edits went: in one word where they went alike, else one by one."""
    cells: dict[str, str] = {}
    for name, edit in edits.items():
        path = folder / "edited.txt"
        path.write_bytes(edit.before)
        change = driver.edit(path, edit.old, edit.new)
        await run_calls(driver, folder, [driver.read(path)], [change])
        after = path.read_bytes()
        unchanged = "refused" if after == edit.before else "other bytes changed"
        cells[name] = "ok" if after == edit.after else unchanged
    if len(set(cells.values())) == 1:
        return next(iter(cells.values()))
    return ", ".join(f"{name}: {cell}" for name, cell in cells.items())


async def e2(driver: Driver, folder: Path) -> str:
    crlf = Edit(b"a\r\nb\r\nc\r\n", "b", "B", b"a\r\nB\r\nc\r\n")
    mixed = Edit(b"a\nb\r\nc\nd\r\n", "b", "B", b"a\nB\r\nc\nd\r\n")
    return await probe_edits(driver, folder, CRLF=crlf, mixed=mixed)


async def e3(driver: Driver, folder: Path) -> str:
    def edit(text: str, old: str, new: str, encoding: str) -> Edit:
        return Edit(text.encode(encoding), old, new, text.replace(old, new).encode(encoding))

    chinese = "这个星系的红移是零点零三,我们用光谱测量了它的速度。\n"
    return await probe_edits(
        driver,
        folder,
        latin1=edit("año débil\nseñal\n", "débil", "fuerte", "latin-1"),
        GBK=edit(chinese, "零点零三", "零点零五", "gbk"),
    )


async def e4(driver: Driver, folder: Path) -> str:
    before = b"\xef\xbb\xbfmark\nb\n"
    edit = Edit(before, "b", "B", before.replace(b"b", b"B"))
    return await probe_edits(driver, folder, mark=edit)


async def e5(driver: Driver, folder: Path) -> str:
    path = folder / "ambiguous.txt"
    path.write_text("x\ny\nx\n\nx\n")
    results = await run_calls(driver, folder, [driver.read(path)], [driver.edit(path, "x", "z")])
    if path.read_text() != "x\ny\nx\n\nx\n":
        return "edited all the same"
    named = set(re.findall(r"\d+", results[-1].text.replace(str(folder), "")))
    return "ok" if {"1", "3", "5"} <= named else "refused, places not named"


async def e6(driver: Driver, folder: Path) -> str:
    real, link = folder / "real.txt", folder / "link.txt"
    real.write_text("x\n")
    real.chmod(0o750)
    link.symlink_to("real.txt")
    await run_calls(driver, folder, [driver.read(link)], [driver.edit(link, "x", "y")])
    if not link.is_symlink():
        return "the link became a file"
    if real.read_text() != "y\n":
        return "refused"
    return "ok" if real.stat().st_mode & 0o777 == 0o750 else "the mode changed"


SHARED = 80


def lines(count: int) -> str:
    return "".join(f"line {n} old;\n" for n in range(count))


def edit_line(driver: Driver, path: Path, number: int) -> tuple[str, dict[str, Any]]:
    return driver.edit(path, f"line {number} old;", f"line {number} new;")


async def e1(driver: Driver, folder: Path) -> str:
    """Four parallel edits of one file in one step, twenty times."""
    old = refused = 0
    for time_ in range(20):
        path = folder / f"parallel{time_}.txt"
        path.write_text(lines(4))
        edits = [edit_line(driver, path, number) for number in range(4)]
        results = await run_calls(driver, folder, [driver.read(path)], edits)
        old += path.read_text().count("old;")
        refused += sum(line.failed for line in results)
    return _lost(old, refused)


async def edit_share(driver: Driver, folder: Path, first: int, step: int) -> int:
    """Edit every `step`-th line, one edit a step of one turn; return how many were refused."""
    path = folder / "shared.txt"
    edits = [[edit_line(driver, path, number)] for number in range(first, SHARED, step)]
    results = await run_calls(driver, folder, [driver.read(path)], *edits)
    return sum(line.failed for line in results)


async def e1_threads(driver: Driver, folder: Path) -> str:
    """Four threads, each with an event loop and a session of its own, twenty edits each."""
    path = folder / "shared.txt"
    path.write_text(lines(SHARED))

    def work(first: int) -> int:
        return asyncio.run(edit_share(driver, folder, first, 4))

    refused = await asyncio.gather(*(asyncio.to_thread(work, first) for first in range(4)))
    return _lost(path.read_text().count("old;"), sum(refused))


async def e1_processes(driver: Driver, folder: Path) -> str:
    """Two processes, forty edits each."""
    path = folder / "shared.txt"
    path.write_text(lines(SHARED))
    command = [sys.executable, sys.argv[0], "share", str(folder)]
    children = [
        await asyncio.create_subprocess_exec(*command, first, stdout=subprocess.PIPE)
        for first in ("0", "1")
    ]
    told = [(await child.communicate())[0] for child in children]
    if any(child.returncode for child in children):
        return "a process failed"
    return _lost(path.read_text().count("old;"), sum(map(int, told)))


def _lost(old: int, refused: int) -> str:
    """Say how many of the 80 edits are missing although the model was told that they were made."""
    lost = old - refused
    more = f", {refused} refused" if refused else ""
    return f"{'ok, ' if not old else ''}{lost} of {SHARED} lost{more}"


# S: shell commands.


@dataclass
class Ran:
    text: str
    seconds: float
    survivors: int


def processes(needle: str) -> list[int]:
    listed = subprocess.run(
        ["ps", "-e", "-ww", "-o", "pid=,args="], capture_output=True, text=True, check=True
    )
    rows = [line.split(None, 1) for line in listed.stdout.splitlines()]
    return [int(row[0]) for row in rows if len(row) == 2 and needle in row[1]]


async def run_shell(driver: Driver, folder: Path, command: str, *, limit_s: int = 8) -> Ran:
    """Run a command in which ``NAP`` stands for a sleep of 17 s that is known again."""
    nap = f"sleep 17.{os.getpid()}{time.monotonic_ns() % 10**6:06}"
    started = time.perf_counter()
    (result,) = await run_calls(
        driver, folder, [driver.shell(command.replace("NAP", nap), limit_s)]
    )
    seconds = time.perf_counter() - started
    await asyncio.sleep(0.3)  # what was sent a signal may need a moment
    left = processes(nap)
    for pid in left:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    return Ran(result.text, seconds, len(left))


def told(ran: Ran, wanted: Sequence[str], *, within_s: float, seconds: bool = True) -> str:
    """Return "ok" or what is wrong, with the seconds."""
    wrong: list[str] = []
    if ran.seconds > within_s:
        wrong.append("late")
    if any(piece not in ran.text for piece in wanted):
        wrong.append("output lost")
    if ran.survivors:
        wrong.append(f"{ran.survivors} left running")
    return (", ".join(wrong) or "ok") + (f", {ran.seconds:.1f} s" if seconds else "")


async def s1(driver: Driver, folder: Path) -> str:
    bare = await run_shell(driver, folder, "echo hi")
    ran = await run_shell(driver, folder, "NAP & echo hi")
    return f"{told(ran, ['hi'], within_s=7)} ({bare.seconds:.1f} s without the sleep)"


async def s2(driver: Driver, folder: Path) -> str:
    command = "echo part; NAP | (trap '' TERM; NAP; NAP); echo never"
    ran = await run_shell(driver, folder, command, limit_s=2)
    return told(ran, ["part"], within_s=6)


async def s3(driver: Driver, folder: Path) -> str:
    ran = await run_shell(driver, folder, "setsid sh -c 'NAP; echo late' & echo now")
    return told(ran, ["now"], within_s=7)


async def s4(driver: Driver, folder: Path) -> str:
    ran = await run_shell(driver, folder, "cat; read x; echo code $?")
    return told(ran, ["code 1"], within_s=7, seconds=False)


async def s5(driver: Driver, folder: Path) -> str:
    """Memory of this process alone, which must be fresh: a peak does not come down again."""
    await run_shell(driver, folder, "true")  # what is loaded once is no growth
    before = peak_mb()
    command = "echo first; yes abcdefghijk | head -c 200000000; echo last"
    ran = await run_shell(driver, folder, command, limit_s=50)
    added = peak_mb() - before
    # the rest of the 200 MB must be said to be missing, in whatever words
    words = ("left out", "truncated", "omitted", "cut", "too large", "kept in")
    said = any(word in ran.text.lower() for word in words) and len(ran.text) < 1_000_000
    wrong = [*(["memory grows"] if added >= 10 else []), *([] if said else ["cut not told"])]
    return f"{', '.join(wrong) or 'ok'}, +{added:.0f} MB"


async def s6(driver: Driver, folder: Path) -> str:
    ran = await run_shell(driver, folder, r"printf 'begin \377\376 end\n'")
    return told(ran, ["begin ", " end"], within_s=7, seconds=False)


async def files_control(driver: Driver, folder: Path) -> str:
    return await probe_edits(driver, folder, plain=Edit(b"a\nb\n", "b", "B", b"a\nB\n"))


async def shell_control(driver: Driver, folder: Path) -> str:
    ran = await run_shell(driver, folder, "echo hi")
    return told(ran, ["hi"], within_s=7, seconds=False)


FILES = {"control": files_control, "E1": e1, "E1 threads": e1_threads, "E1 processes": e1_processes,
         "E2": e2, "E3": e3, "E4": e4, "E5": e5, "E6": e6}  # fmt: skip
SHELL = {"control": shell_control, "S1": s1, "S2": s2, "S3": s3, "S4": s4, "S6": s6}
MEMORY = {"control": shell_control, "S5": s5}
