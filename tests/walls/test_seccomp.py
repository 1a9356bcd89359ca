"""The filter of system calls, run by a small reading of BPF for both machines."""

import errno
import re
import struct
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nuncius.walls.seccomp import JUDGED, REFUSED, filter_for

ALLOW, KILL = 0x7FFF0000, 0x80000000
MACHINES = {"x86_64": (0, 0xC000003E), "aarch64": (1, 0xC00000B7)}
machines = pytest.mark.parametrize("machine", MACHINES)
HEADERS = {
    "x86_64": Path("/usr/include/x86_64-linux-gnu/asm/unistd_64.h"),
    "aarch64": Path("/usr/include/asm-generic/unistd.h"),
}


def error(number: int) -> int:
    return 0x00050000 | number


def answer(machine: str, number: int, *arguments: int, architecture: int | None = None) -> int:
    """Return what the kernel would: the filter's answer for one call."""
    column_and_architecture = MACHINES[machine]
    padded = [*arguments, *[0] * (6 - len(arguments))]
    data = struct.pack(
        "<IIQ6Q",
        number,
        column_and_architecture[1] if architecture is None else architecture,
        0,
        *(argument & 0xFFFFFFFFFFFFFFFF for argument in padded),
    )
    program = list(struct.iter_unpack("<HBBI", filter_for(machine) or b""))
    at = accumulator = 0
    while True:
        code, yes, no, operand = program[at]
        at += 1
        match code:
            case 0x20:
                accumulator = struct.unpack_from("<I", data, operand)[0]
            case 0x54:
                accumulator &= operand
            case 0x15:
                at += yes if accumulator == operand else no
            case 0x35:
                at += yes if accumulator >= operand else no
            case 0x45:
                at += yes if accumulator & operand else no
            case 0x06:
                return operand
            case _:
                raise AssertionError(code)


def number_of(machine: str, name: str) -> int | None:
    return {**REFUSED, **JUDGED}[name][MACHINES[machine][0]]


@machines
@pytest.mark.parametrize("name", REFUSED)
def test_what_is_refused_fails_with_an_error(machine: str, name: str) -> None:
    number = number_of(machine, name)
    if number is not None:
        assert answer(machine, number) == error(errno.EPERM)


@machines
def test_new_namespaces_are_refused_and_new_threads_are_not(machine: str) -> None:
    clone, clone3 = number_of(machine, "clone") or 0, number_of(machine, "clone3") or 0
    thread = 0x3D0F00
    assert answer(machine, clone, thread) == ALLOW
    assert answer(machine, clone, 17) == ALLOW  # fork
    for flag in (0x20000, 0x2000000, 0x4000000, 0x8000000, 0x10000000, 0x20000000, 0x40000000):
        assert answer(machine, clone, thread | flag) == error(errno.EPERM)
    assert answer(machine, clone3) == error(errno.ENOSYS)


@machines
def test_sockets_are_those_of_the_network_only(machine: str) -> None:
    socket, pair = number_of(machine, "socket") or 0, number_of(machine, "socketpair") or 0
    assert answer(machine, socket, 2, 1) == answer(machine, socket, 10, 2) == ALLOW
    for family in (0, 1, 16, 17, 31, 38, 40, 44):
        assert answer(machine, socket, family, 1) == error(errno.EAFNOSUPPORT)
    assert answer(machine, pair, 1, 1 | 0o2000000) == ALLOW
    assert answer(machine, pair, 1, 2 | 0o4000) == error(errno.EPERM)


@machines
def test_nothing_is_typed_into_a_terminal(machine: str) -> None:
    ioctl = number_of(machine, "ioctl") or 0
    assert answer(machine, ioctl, 0, 0x5401) == ALLOW
    for call in (0x5412, 0x541C, 0x5412 | 1 << 40):  # the kernel looks at the lower half
        assert answer(machine, ioctl, 0, call) == error(errno.EPERM)


@machines
def test_calls_of_another_table_are_no_way_round(machine: str) -> None:
    assert answer(machine, 0, architecture=0x40000003) == KILL
    if machine == "x86_64":
        assert answer(machine, 0x40000000 | 101) == error(errno.ENOSYS)


@machines
@given(number=st.integers(0, 500), arguments=st.lists(st.integers(0, 2**64 - 1), max_size=6))
def test_every_other_call_is_allowed(machine: str, number: int, arguments: list[int]) -> None:
    column = MACHINES[machine][0]
    if number not in {pair[column] for pair in {**REFUSED, **JUDGED}.values()}:
        assert answer(machine, number, *arguments) == ALLOW


@machines
@pytest.mark.parametrize("name", [*REFUSED, *JUDGED])
def test_the_numbers_are_the_kernels(machine: str, name: str) -> None:
    header = HEADERS[machine]
    if not header.is_file():
        pytest.skip("no kernel headers are installed")
    found = re.search(rf"#define __NR3?_*(?:264_)?{name}\s+(\d+)\b", header.read_text())
    number = number_of(machine, name)
    if found and number is not None:  # a call may be younger than the headers
        assert int(found[1]) == number


def test_another_machine_has_no_filter() -> None:
    assert filter_for("riscv64") is None
    assert filter_for("AMD64") == filter_for("x86_64")
    assert len(filter_for("x86_64") or b"") // 8 < 4096  # what the kernel takes
