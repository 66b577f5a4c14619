"""Confinement of a player's process, apart from the rest of the lab.

This is no sandbox: files and the network stay open to it (see ``docs/security.md``). It keeps a
careless or hostile agent from the supervisor, from its opponent and from the run's record.
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import os
import resource
import struct
import sys
from typing import Any, Literal, NamedTuple, TextIO

from othello_lab.core.system.processes import LINUX, adopt_orphans, die_with_parent

_PR_SET_NO_NEW_PRIVS = 38  # linux/prctl.h
_PR_SET_CHILD_SUBREAPER = 36
_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446  # of Landlock, on every architecture
_VERSION = 1  # flag: return the version of Landlock
_BENEATH = 1  # a rule for all files beneath a folder
_WRITE_FILE, _REFER = 1 << 1, 1 << 13  # linux/landlock.h; _REFER: move to another folder, version 2
_SCOPE_SIGNAL = 1 << 1  # version 6, since Linux 6.12
_RULESET = struct.Struct("QQQ")  # handled access to files, to the network; scopes
_RULE = struct.Struct("=Qi")  # allowed access; the folder
_SYSTEM = ("proc", "sys")  # folders whose files change other processes, or the machine

_PR_SET_SECCOMP, _FILTER = 22, 2
_PRLIMIT = {  # the system call prlimit64 by architecture, linux/audit.h
    0xC000003E: (302, 302 | 1 << 30),  # x86-64, and with short pointers
    0x40000003: (340,),  # x86
    0xC00000B7: (261,),  # ARM, 64 bits
    0x40000028: (369,),  # ARM
}


class _Calls(NamedTuple):
    """Numbers of system calls on an architecture. never: sched_setscheduler, sched_setparam,
    sched_setattr, ioprio_set."""

    never: tuple[int, ...]
    affinity: int
    priority: int
    prctl: int
    clone: int


_CALLS = {
    0xC000003E: _Calls((144, 142, 314, 251), 203, 141, 157, 56),
    0x40000003: _Calls((156, 154, 351, 289), 241, 97, 172, 120),
    0xC00000B7: _Calls((119, 118, 274, 30), 122, 140, 167, 220),
    0x40000028: _Calls((156, 154, 380, 314), 241, 97, 172, 120),
}
_CLONE3 = 435  # on every architecture
_CLONE_PARENT = 0x8000  # linux/sched.h
_SHORT_POINTERS = 1 << 30

Instruction = tuple[int, int, int, int]
"""An instruction of the kernel's filters: code, jump if true, jump if false, operand."""
_LOAD, _EQUAL, _ANY_BIT, _MASK, _RETURN = 0x20, 0x15, 0x45, 0x54, 0x06
_NUMBER, _ARCHITECTURE, _FIRST, _SECOND, _THIRD = 0, 4, 16, 24, 32  # places of what is loaded
_ALLOW: Instruction = (_RETURN, 0, 0, 0x7FFF0000)
_REFUSE: Instruction = (_RETURN, 0, 0, 0x00050000 | errno.EPERM)
_UNKNOWN: Instruction = (_RETURN, 0, 0, 0x00050000 | errno.ENOSYS)


def confine(parent: int, kept: int, output: int, memory_mb: int | None) -> None:
    """Keep this process, just forked, apart from its parents and siblings.

    It gets a session of its own, no input, ``output`` for its own output, and no other open file
    but ``kept``; it ends with its parent, and becomes the parent of the orphans below it for good;
    it may take ``memory_mb`` MiB more than it has now, and send signals to nobody but those below
    it (Linux since 6.12). It cannot change the priority, the processors or the limits of another
    process, nor its own scheduling to its advantage.
    """
    os.setsid()
    die_with_parent(parent)
    adopt_orphans()
    _die_first()
    nothing = os.open(os.devnull, os.O_RDONLY)
    for number, source in ((0, nothing), (1, output), (2, output)):
        os.dup2(source, number)
    # Whatever stood in their place may depend on what is closed now, or hold what others print.
    sys.stdin, sys.stdout, sys.stderr = _stream(0, "r"), _stream(1, "w"), _stream(2, "w")
    os.closerange(3, kept)
    os.closerange(kept + 1, os.sysconf("SC_OPEN_MAX"))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if memory_mb is not None:
        most = _address_space() + (memory_mb << 20)
        resource.setrlimit(resource.RLIMIT_AS, (most, most))
    _reach_only_below()
    _limit_only_itself()
    _filter(_starve_nobody())


def _stream(number: int, mode: Literal["r", "w"]) -> TextIO:
    return open(number, mode, 1, "utf-8", "backslashreplace", closefd=False)


def _die_first() -> None:
    """Let the system end this process first when memory runs out (Linux)."""
    with contextlib.suppress(OSError), open("/proc/self/oom_score_adj", "w") as file:
        file.write("500")


def _address_space() -> int:
    """Bytes of memory that this process has mapped (Linux; 0 elsewhere)."""
    with contextlib.suppress(OSError), open("/proc/self/statm", "rb") as file:
        return int(file.read().split()[0]) * resource.getpagesize()
    return 0


def _reach_only_below() -> None:
    """Forbid this process, and all it forks, to signal or trace any other, and to write to the
    files of the system. An older kernel can do less, and one without Landlock nothing."""
    if not LINUX:
        return
    libc = ctypes.CDLL(None, use_errno=True)
    version = libc.syscall(_CREATE_RULESET, None, ctypes.c_size_t(0), _VERSION)
    files = _WRITE_FILE | _REFER if version >= 2 else 0
    signals = _SCOPE_SIGNAL if version >= 6 else 0
    if not files:
        return
    size = _RULESET.size if signals else 8
    rules = _RULESET.pack(files, 0, signals)
    descriptor = libc.syscall(_CREATE_RULESET, rules, ctypes.c_size_t(size), 0)
    if descriptor < 0:
        return
    for entry in os.scandir("/"):
        if entry.name not in _SYSTEM:
            _let_write(libc, descriptor, entry)
    libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    libc.syscall(_RESTRICT_SELF, descriptor, 0)
    os.close(descriptor)


def _let_write(libc: Any, ruleset: int, entry: os.DirEntry[str]) -> None:
    with contextlib.suppress(OSError):
        place = os.open(entry.path, os.O_PATH | os.O_CLOEXEC)
        access = _WRITE_FILE | (_REFER if entry.is_dir() else 0)
        libc.syscall(_ADD_RULE, ruleset, _BENEATH, _RULE.pack(access, place), 0)
        os.close(place)


def _limit_only_itself() -> None:
    """Forbid this process, and all it forks, to change the limits of any other (prlimit). Landlock
    does not forbid it, and an opponent without memory would lose."""
    if not LINUX:
        return
    calls = [(kind, number) for kind, numbers in _PRLIMIT.items() for number in numbers]
    code: list[Instruction] = []
    for left, (kind, number) in enumerate(reversed(calls)):
        # Load architecture and number of the call; if both fit, go on behind "allow".
        row: list[Instruction] = [
            (_LOAD, 0, 0, _ARCHITECTURE),
            (_EQUAL, 0, 2, kind),
            (_LOAD, 0, 0, _NUMBER),
        ]
        code = [*row, (_EQUAL, 4 * left + 1, 0, number), *code]
    # Allow; load the first argument, whose limits: its own is 0. Otherwise say EPERM.
    own: list[Instruction] = [(_EQUAL, 1, 0, 0), (_EQUAL, 0, 1, os.getpid())]
    _filter([*code, _ALLOW, (_LOAD, 0, 0, _FIRST), *own, _ALLOW, _REFUSE])


def _starve_nobody() -> list[Instruction]:
    """Return the filter that keeps a process from taking time from others, and from hiding its
    children below another process.

    It may give up priority and choose its own processors. clone3 does not exist for it, as a filter
    cannot read its arguments; who asks for it has clone.
    """
    code: list[Instruction] = [(_LOAD, 0, 0, _ARCHITECTURE)]
    for architecture, calls in _CALLS.items():
        block: list[Instruction] = [
            (_LOAD, 0, 0, _NUMBER),
            (_MASK, 0, 0, ~_SHORT_POINTERS & 0xFFFFFFFF),
        ]
        for number in calls.never:
            block += [(_EQUAL, 0, 1, number), _REFUSE]
        block += [(_EQUAL, 0, 1, _CLONE3), _UNKNOWN]
        own = (_EQUAL, 0, 1, 0), _ALLOW, _REFUSE
        block += _for_call(calls.affinity, (_LOAD, 0, 0, _FIRST), *own)
        of_process: list[Instruction] = [(_LOAD, 0, 0, _FIRST), (_EQUAL, 0, 5, 0)]
        of_itself: list[Instruction] = [(_LOAD, 0, 0, _SECOND), (_EQUAL, 0, 3, 0)]
        lower: list[Instruction] = [(_LOAD, 0, 0, _THIRD), (_ANY_BIT, 1, 0, 1 << 31)]
        block += _for_call(calls.priority, *of_process, *of_itself, *lower, _ALLOW, _REFUSE)
        subreaper = (_EQUAL, 0, 1, _PR_SET_CHILD_SUBREAPER), _REFUSE, _ALLOW
        block += _for_call(calls.prctl, (_LOAD, 0, 0, _FIRST), *subreaper)
        sibling = (_ANY_BIT, 0, 1, _CLONE_PARENT), _REFUSE, _ALLOW
        block += _for_call(calls.clone, (_LOAD, 0, 0, _FIRST), *sibling)
        block.append(_ALLOW)
        code += [(_EQUAL, 0, len(block), architecture), *block]
    return [*code, _ALLOW]


def _for_call(number: int, *body: Instruction) -> list[Instruction]:
    """Return the instructions for one system call, passed over for all others."""
    return [(_EQUAL, 0, len(body), number), *body]


def _filter(code: list[Instruction]) -> None:
    """Let the kernel judge the system calls of this process, and of all it forks, by a filter
    (seccomp). A kernel that cannot do it refuses."""
    if not LINUX:
        return
    packed = b"".join(struct.pack("HBBI", *each) for each in code)
    program = ctypes.create_string_buffer(packed, len(packed))
    whole = struct.pack("HxxxxxxP", len(code), ctypes.addressof(program))
    libc = ctypes.CDLL(None, use_errno=True)
    libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    libc.prctl(_PR_SET_SECCOMP, _FILTER, whole, 0, 0)
