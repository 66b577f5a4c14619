"""Filters of system calls (seccomp) that keep a process from taking what is not its own.

The kernel runs a filter, a short program, at each system call of a process and of all that it
forks. Filters add up. A kernel that has none lets everything pass.
"""

from __future__ import annotations

import ctypes
import errno
import os
import signal
import struct
from collections.abc import Iterable

from othello_lab.core.system.processes import LINUX

_PR_GET_SECCOMP, _PR_SET_NO_NEW_PRIVS, _PR_SET_SECCOMP, _FILTER = (
    21,
    38,
    22,
    2,
)  # linux/prctl.h, linux/seccomp.h
_PR_SET_PDEATHSIG, _PR_SET_CHILD_SUBREAPER, _PR_SCHED_CORE = 1, 36, 62
_CLONE_PARENT, _CLONE_THREAD, _CLONE_NAMESPACES = 0x8000, 0x10000, 0x7E020000  # linux/sched.h
_END_SIGNAL = 0xFF  # bits of clone's flags: what the parent gets when the child ends
_SHORT_POINTERS = 1 << 30  # a flag in numbers of x86-64's calls
_F_SETSIG = 10
_X86_64, _X86, _ARM_64, _ARM = 0xC000003E, 0x40000003, 0xC00000B7, 0x40000028  # linux/audit.h
_NATIVE = {"x86_64": _X86_64, "aarch64": _ARM_64}.get(os.uname().machine)

# Numbers of calls: arch/x86/entry/syscalls, include/uapi/asm-generic/unistd.h, arch/arm/tools.
_EVERYWHERE = {
    "sched_setscheduler": {_X86_64: 144, _X86: 156, _ARM_64: 119, _ARM: 156},
    "sched_setparam": {_X86_64: 142, _X86: 154, _ARM_64: 118, _ARM: 154},
    "sched_setattr": {_X86_64: 314, _X86: 351, _ARM_64: 274, _ARM: 380},
    "ioprio_set": {_X86_64: 251, _X86: 289, _ARM_64: 30, _ARM: 314},
    "sched_setaffinity": {_X86_64: 203, _X86: 241, _ARM_64: 122, _ARM: 241},
    "setpriority": {_X86_64: 141, _X86: 97, _ARM_64: 140, _ARM: 97},
    "prctl": {_X86_64: 157, _X86: 172, _ARM_64: 167, _ARM: 172},
    "clone": {_X86_64: 56, _X86: 120, _ARM_64: 220, _ARM: 120},
    "clone3": {_X86_64: 435, _X86: 435, _ARM_64: 435, _ARM: 435},
    "prlimit64": {_X86_64: 302, _X86: 340, _ARM_64: 261, _ARM: 369},
    "shmget": {_X86_64: 29, _X86: 395, _ARM_64: 194, _ARM: 307},
    "semget": {_X86_64: 64, _X86: 393, _ARM_64: 190, _ARM: 299},
    "msgget": {_X86_64: 68, _X86: 399, _ARM_64: 186, _ARM: 303},
    "ipc": {_X86: 117},  # all of System V's memory and messages in one
}
_Native = tuple[int, int | None]
"""Numbers of a call: x86-64's, 64-bit ARM's."""
_WHEN_CLOSED: dict[str, _Native] = {  # refused in a closed process
    # reach into other processes
    "ptrace": (101, 117),
    "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271),
    "kcmp": (312, 272),
    "pidfd_getfd": (438, 438),
    "process_madvise": (440, 440),
    "perf_event_open": (298, 241),
    "mq_open": (240, 180),
    # leave the group that is stopped together, or be woken by a timer
    "setsid": (112, 157),
    "timer_create": (222, 107),
    # other places, other kernels' code, keys
    "unshare": (272, 97),
    "setns": (308, 268),
    "mount": (165, 40),
    "move_mount": (429, 429),
    "fsopen": (430, 430),
    "open_tree": (428, 428),
    "chroot": (161, 51),
    "pivot_root": (155, 41),
    "bpf": (321, 280),
    "userfaultfd": (323, 282),
    "keyctl": (250, 219),
    "add_key": (248, 217),
    "request_key": (249, 218),
    # Landlock lets these by
    "chmod": (90, None),
    "fchmodat": (268, 53),
    "fchmodat2": (452, 452),
    "chown": (92, None),
    "lchown": (94, None),
    "fchownat": (260, 54),
    "utime": (132, None),
    "utimes": (235, None),
    "futimesat": (261, None),
    "setxattr": (188, 5),
    "lsetxattr": (189, 6),
    "removexattr": (197, 14),
    "lremovexattr": (198, 15),
}
_UNKNOWN_WHEN_CLOSED: dict[str, _Native] = {  # whoever asks for these has another way
    "memfd_create": (319, 279),
    "memfd_secret": (447, 447),
    "io_uring_setup": (425, 425),
}
_OTHERS_WHEN_CLOSED: dict[str, _Native] = {
    "socket": (41, 198),
    "fcntl": (72, 25),
    "utimensat": (280, 88),
    "fork": (57, None),
    "vfork": (58, None),
}

Instruction = tuple[int, int, int, int]
"""An instruction of the kernel's filters: code, jump if true, jump if false, operand."""
_LOAD, _JUMP, _EQUAL, _AT_LEAST, _ANY_BIT, _MASK, _RETURN = 0x20, 5, 0x15, 0x35, 0x45, 0x54, 6
_NUMBER, _ARCHITECTURE, _FIRST, _SECOND, _THIRD = 0, 4, 16, 24, 32  # to be loaded
_ALLOW: Instruction = (_RETURN, 0, 0, 0x7FFF0000)
_REFUSE: Instruction = (_RETURN, 0, 0, 0x00050000 | errno.EPERM)
_UNKNOWN: Instruction = (_RETURN, 0, 0, 0x00050000 | errno.ENOSYS)


def starve_nobody() -> None:
    """Keep this process from taking time from others, from hiding its children below another
    process, and from leaving memory behind (System V's).

    It may give up priority, choose its own processors and change its own limits. clone3 does not
    exist for it, as a filter cannot read its arguments; who asks for it has clone.
    """
    own_number = os.getpid()
    code: list[Instruction] = [(_LOAD, 0, 0, _ARCHITECTURE)]
    for architecture in (_X86_64, _X86, _ARM_64, _ARM):
        number = {
            name: numbers[architecture]
            for name, numbers in _EVERYWHERE.items()
            if architecture in numbers
        }
        block: list[Instruction] = [
            (_LOAD, 0, 0, _NUMBER),
            (_MASK, 0, 0, ~_SHORT_POINTERS & 0xFFFFFFFF),
        ]
        for name in ("sched_setscheduler", "sched_setparam", "sched_setattr", "ioprio_set"):
            block += _for_call(number[name], _REFUSE)
        for name in ("clone3", "shmget", "semget", "msgget", "ipc"):
            if name in number:
                block += _for_call(number[name], _UNKNOWN)
        own = (_EQUAL, 0, 1, 0), _ALLOW, _REFUSE
        block += _for_call(number["sched_setaffinity"], (_LOAD, 0, 0, _FIRST), *own)
        # The limits of this process alone, by 0 or by its number.
        limits = (_EQUAL, 1, 0, 0), (_EQUAL, 0, 1, own_number), _ALLOW, _REFUSE
        block += _for_call(number["prlimit64"], (_LOAD, 0, 0, _FIRST), *limits)
        of_process: list[Instruction] = [(_LOAD, 0, 0, _FIRST), (_EQUAL, 0, 5, 0)]
        of_itself: list[Instruction] = [(_LOAD, 0, 0, _SECOND), (_EQUAL, 0, 3, 0)]
        lower: list[Instruction] = [(_LOAD, 0, 0, _THIRD), (_ANY_BIT, 1, 0, 1 << 31)]
        block += _for_call(number["setpriority"], *of_process, *of_itself, *lower, _ALLOW, _REFUSE)
        option = (_EQUAL, 1, 0, _PR_SET_CHILD_SUBREAPER), (_EQUAL, 0, 1, _PR_SCHED_CORE)
        block += _for_call(number["prctl"], (_LOAD, 0, 0, _FIRST), *option, _REFUSE, _ALLOW)
        sibling = (_ANY_BIT, 0, 1, _CLONE_PARENT), _REFUSE, _ALLOW
        block += _for_call(number["clone"], (_LOAD, 0, 0, _FIRST), *sibling)
        block.append(_ALLOW)
        code += [(_EQUAL, 1, 0, architecture), (_JUMP, 0, 0, len(block)), *block]
    _install([*code, _ALLOW])


def refuse_reach(network: bool) -> None:
    """Refuse the calls that reach beyond a closed process, or wake it when it is stopped: what
    Landlock's rules for files do not cover. network: True to leave sockets alone."""
    numbers = {**_WHEN_CLOSED, **({} if network else {"socket": _OTHERS_WHEN_CLOSED["socket"]})}
    code = _native_only()
    tables: list[tuple[dict[str, _Native], Instruction]]
    tables = [(numbers, _REFUSE), (_UNKNOWN_WHEN_CLOSED, _UNKNOWN)]
    for table, answer in tables:
        for name in table:
            code += _for_native(table, name, answer)
    first, second = (_LOAD, 0, 0, _FIRST), (_LOAD, 0, 0, _SECOND)
    others = _OTHERS_WHEN_CLOSED
    code += _for_native(others, "fcntl", second, (_EQUAL, 0, 1, _F_SETSIG), _REFUSE, _ALLOW)
    code += _for_native(others, "utimensat", second, (_EQUAL, 1, 0, 0), _REFUSE, _ALLOW)
    if _NATIVE is not None:
        # No signal at anybody's end but SIGCHLD, and SIGKILL and the like of the parent's.
        number = _EVERYWHERE["prctl"][_NATIVE]
        at_end = (_EQUAL, 0, 3, _PR_SET_PDEATHSIG), second, (_EQUAL, 0, 1, signal.SIGCONT), _REFUSE
        code += _for_call(number, first, *at_end, _ALLOW)
        number = _EVERYWHERE["clone"][_NATIVE]
        by = (_MASK, 0, 0, _END_SIGNAL), (_EQUAL, 2, 0, 0), (_EQUAL, 1, 0, signal.SIGCHLD)
        code += _for_call(number, first, (_ANY_BIT, 3, 0, _CLONE_NAMESPACES), *by, _REFUSE, _ALLOW)
    _install([*code, _ALLOW])


def forbid_children() -> None:
    """Let this process start threads, but no other process."""
    code = _native_only()
    for name in ("fork", "vfork"):
        code += _for_native(_OTHERS_WHEN_CLOSED, name, _REFUSE)
    if _NATIVE is not None:
        thread = (_LOAD, 0, 0, _FIRST), (_ANY_BIT, 0, 1, _CLONE_THREAD), _ALLOW, _REFUSE
        code += _for_call(_EVERYWHERE["clone"][_NATIVE], *thread)
        code += _for_call(_EVERYWHERE["clone3"][_NATIVE], _UNKNOWN)
    _install([*code, _ALLOW])


def available() -> bool:
    """Return True if this kernel has filters, for this processor's calls."""
    return (
        LINUX and _NATIVE is not None and ctypes.CDLL(None).prctl(_PR_GET_SECCOMP, 0, 0, 0, 0) >= 0
    )


def _native_only() -> list[Instruction]:
    """Refuse the calls of other architectures and short pointers, and load the number."""
    if _NATIVE is None:
        return []
    code: list[Instruction] = [(_LOAD, 0, 0, _ARCHITECTURE), (_EQUAL, 1, 0, _NATIVE), _REFUSE]
    return [*code, (_LOAD, 0, 0, _NUMBER), (_AT_LEAST, 0, 1, _SHORT_POINTERS), _REFUSE]


def _for_native(table: dict[str, _Native], name: str, *body: Instruction) -> list[Instruction]:
    """Return the instructions for a call on this architecture; none if it has no such call."""
    if _NATIVE is None:
        return []
    number = table[name][0 if _NATIVE == _X86_64 else 1]
    return [] if number is None else _for_call(number, *body)


def _for_call(number: int, *body: Instruction) -> list[Instruction]:
    """Return the instructions for one system call, passed over for all others."""
    return [(_EQUAL, 0, len(body), number), *body]


def _install(code: Iterable[Instruction]) -> None:
    if not LINUX:
        return
    lines = [struct.pack("HBBI", *each) for each in code]
    packed = b"".join(lines)
    program = ctypes.create_string_buffer(packed, len(packed))
    whole = struct.pack("HxxxxxxP", len(lines), ctypes.addressof(program))
    libc = ctypes.CDLL(None, use_errno=True)
    libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    libc.prctl(_PR_SET_SECCOMP, _FILTER, whole, 0, 0)
