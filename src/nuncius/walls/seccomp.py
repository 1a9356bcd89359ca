"""The filter of system calls for sandboxed children: raw BPF, made here, handed to bubblewrap.

Namespaces already take files, processes and the network away. The filter closes what lies beside
them: watching other processes, new namespaces and mounts, sockets of the machine, the kernel's
large and young interfaces. A refused call fails with an error; programs that probe go on.

Source:
    The numbers of the calls are those of Linux's tables: arch/x86/entry/syscalls/syscall_64.tbl
    and include/uapi/asm-generic/unistd.h.
"""

import errno
import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache

REFUSED: Mapping[str, tuple[int, int | None]] = {
    # other processes
    "ptrace": (101, 117),
    "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271),
    "pidfd_getfd": (438, 438),
    "kcmp": (312, 272),
    "process_madvise": (440, 440),
    # mounts and namespaces
    "mount": (165, 40),
    "umount2": (166, 39),
    "pivot_root": (155, 41),
    "chroot": (161, 51),
    "unshare": (272, 97),
    "setns": (308, 268),
    "open_tree": (428, 428),
    "move_mount": (429, 429),
    "fsopen": (430, 430),
    "fsconfig": (431, 431),
    "fsmount": (432, 432),
    "fspick": (433, 433),
    "mount_setattr": (442, 442),
    "open_tree_attr": (467, 467),
    "open_by_handle_at": (304, 265),
    # large interfaces of the kernel
    "bpf": (321, 280),
    "perf_event_open": (298, 241),
    "userfaultfd": (323, 282),
    "io_uring_setup": (425, 425),
    "io_uring_enter": (426, 426),
    "io_uring_register": (427, 427),
    "add_key": (248, 217),
    "request_key": (249, 218),
    "keyctl": (250, 219),
    "lookup_dcookie": (212, 18),
    # the machine itself
    "kexec_load": (246, 104),
    "kexec_file_load": (320, 294),
    "init_module": (175, 105),
    "finit_module": (313, 273),
    "delete_module": (176, 106),
    "swapon": (167, 224),
    "swapoff": (168, 225),
    "reboot": (169, 142),
    "acct": (163, 89),
    "quotactl": (179, 60),
    "quotactl_fd": (443, 443),
    "syslog": (103, 116),
    "settimeofday": (164, 170),
    "clock_settime": (227, 112),
    "clock_adjtime": (305, 266),
    "adjtimex": (159, 171),
    "sethostname": (170, 161),
    "setdomainname": (171, 162),
    "vhangup": (153, 58),
    "iopl": (172, None),
    "ioperm": (173, None),
    "modify_ldt": (154, None),
    "uselib": (134, None),
}
"""Calls that always fail: their numbers on x86_64 and on aarch64, which has not all of them."""

JUDGED: Mapping[str, tuple[int, int]] = {
    "clone": (56, 220),
    "clone3": (435, 435),
    "socket": (41, 198),
    "socketpair": (53, 199),
    "ioctl": (16, 29),
}
"""Calls that are refused for some arguments only."""

_NAMESPACES = 0x7E020000  # CLONE_NEWNS, -CGROUP, -UTS, -IPC, -USER, -PID, -NET
_AF_UNIX, _AF_INET, _AF_INET6, _SOCK_DGRAM = 1, 2, 10, 2
_TIOCSTI, _TIOCLINUX = 0x5412, 0x541C  # type into, and speak to, the terminal outside
_X32 = 0x40000000  # a second table of calls on x86_64

_LOAD, _EQUAL, _AT_LEAST, _ANY_BIT, _AND, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x54, 0x06
_ALLOW, _ERROR, _KILL = 0x7FFF0000, 0x00050000, 0x80000000
_NUMBER, _ARCHITECTURE, _ARGUMENTS = 0, 4, 16  # places in `struct seccomp_data`


@dataclass(frozen=True, slots=True)
class _Machine:
    column: int
    architecture: int  # AUDIT_ARCH_*


_MACHINES = {
    "x86_64": _Machine(0, 0xC000003E),
    "amd64": _Machine(0, 0xC000003E),
    "aarch64": _Machine(1, 0xC00000B7),
    "arm64": _Machine(1, 0xC00000B7),
}


@cache
def filter_for(machine: str) -> bytes | None:
    """Return the filter as `bwrap --seccomp` reads it, or None for a machine that is not known.

    Args:
        machine: As `platform.machine()` names it.
    """
    known = _MACHINES.get(machine.lower())
    if known is None:
        return None
    program = _Program()
    program.load(_ARCHITECTURE)
    program.unless_equal(known.architecture, _KILL)  # 32-bit calls have other numbers
    program.load(_NUMBER)
    if known.column == 0:
        program.when(_AT_LEAST, _X32, _ERROR | errno.ENOSYS)
    for name in sorted(REFUSED):
        number = REFUSED[name][known.column]
        if number is not None:
            program.when(_EQUAL, number, _ERROR | errno.EPERM)
    numbers = {name: pair[known.column] for name, pair in JUDGED.items()}
    # Its flags lie behind a pointer that a filter cannot follow; C libraries fall back to clone.
    program.when(_EQUAL, numbers["clone3"], _ERROR | errno.ENOSYS)
    program.judge(numbers["clone"], 0, [(_ANY_BIT, _NAMESPACES, _ERROR | errno.EPERM)])
    program.judge(
        numbers["ioctl"],
        1,
        [(_EQUAL, call, _ERROR | errno.EPERM) for call in (_TIOCSTI, _TIOCLINUX)],
    )
    # Sockets of the machine (AF_UNIX, AF_VSOCK, AF_NETLINK ...) are no part of the network that
    # was taken away. A pair of stream sockets talks to itself only; programs need it.
    program.judge(
        numbers["socket"],
        0,
        [(_EQUAL, _AF_INET, _ALLOW), (_EQUAL, _AF_INET6, _ALLOW)],
        otherwise=_ERROR | errno.EAFNOSUPPORT,
    )
    program.judge(numbers["socketpair"], 1, [(_EQUAL, _SOCK_DGRAM, _ERROR | errno.EPERM)], mask=0xF)
    program.end(_ALLOW)
    return program.bytes()


class _Program:
    """BPF instructions: operation, jumps where true and where false, operand."""

    def __init__(self) -> None:
        self._lines: list[tuple[int, int, int, int]] = []

    def load(self, offset: int) -> None:
        self._lines.append((_LOAD, 0, 0, offset))

    def end(self, answer: int) -> None:
        self._lines.append((_RETURN, 0, 0, answer))

    def when(self, test: int, operand: int, answer: int) -> None:
        """Answer where the test holds of what was loaded."""
        self._lines.append((test, 0, 1, operand))
        self.end(answer)

    def unless_equal(self, operand: int, answer: int) -> None:
        self._lines.append((_EQUAL, 1, 0, operand))
        self.end(answer)

    def judge(
        self,
        number: int,
        argument: int,
        tests: Sequence[tuple[int, int, int]],
        *,
        mask: int | None = None,
        otherwise: int = _ALLOW,
    ) -> None:
        """Judge one call by the lower half of one argument; the kernel looks at no more of it."""
        body = _Program()
        body.load(_ARGUMENTS + 8 * argument)  # both machines are little-endian
        if mask is not None:
            body._lines.append((_AND, 0, 0, mask))
        for test, operand, answer in tests:
            body.when(test, operand, answer)
        body.end(otherwise)
        self._lines.append((_EQUAL, 0, len(body._lines), number))
        self._lines += body._lines

    def bytes(self) -> bytes:
        return b"".join(struct.pack("<HBBI", *line) for line in self._lines)
