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
from typing import Literal, TextIO

from othello_lab.core.system.processes import LINUX, adopt_orphans, die_with_parent

_PR_SET_NO_NEW_PRIVS = 38  # linux/prctl.h
_CREATE_RULESET, _RESTRICT_SELF = 444, 446  # the system calls of Landlock, on every architecture
_SCOPE_SIGNAL = 1 << 1  # linux/landlock.h, since Linux 6.12
_RULESET = struct.Struct("QQQ")  # handled access to files, to the network; scopes

_PR_SET_SECCOMP, _FILTER = 22, 2
_PRLIMIT = {  # the system call prlimit64 by architecture, linux/audit.h
    0xC000003E: (302, 302 | 1 << 30),  # x86-64, and with short pointers
    0x40000003: (340,),  # x86
    0xC00000B7: (261,),  # ARM, 64 bits
    0x40000028: (369,),  # ARM
}


def confine(parent: int, kept: int, output: int, memory_mb: int | None) -> None:
    """Keep this process, just forked, apart from its parents and siblings.

    It gets a session of its own, no input, ``output`` for its own output, and no other open file
    but ``kept``; it ends with its parent, and becomes the parent of the orphans below it; it may
    take ``memory_mb`` MiB more than it has now, and send signals to nobody but those below it
    (Linux since 6.12).
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
    _signal_only_below()
    _limit_only_itself()


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


def _signal_only_below() -> None:
    """Forbid this process, and all it forks, to signal or trace any other. An older kernel says
    no, and nothing is changed."""
    if not LINUX:
        return
    libc = ctypes.CDLL(None, use_errno=True)
    rules = _RULESET.pack(0, 0, _SCOPE_SIGNAL)
    descriptor = libc.syscall(_CREATE_RULESET, rules, ctypes.c_size_t(len(rules)), 0)
    if descriptor < 0:
        return
    libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    libc.syscall(_RESTRICT_SELF, descriptor, 0)
    os.close(descriptor)


def _limit_only_itself() -> None:
    """Forbid this process, and all it forks, to change the limits of any other (prlimit). Landlock
    does not forbid it, and an opponent without memory would lose. A kernel that cannot do it
    refuses."""
    if not LINUX:
        return
    calls = [(kind, number) for kind, numbers in _PRLIMIT.items() for number in numbers]
    code: list[tuple[int, int, int, int]] = []
    for left, (kind, number) in enumerate(reversed(calls)):
        # Load architecture and number of the call; if both fit, go on behind "allow".
        row = [(0x20, 0, 0, 4), (0x15, 0, 2, kind), (0x20, 0, 0, 0)]
        code = [*row, (0x15, 4 * left + 1, 0, number), *code]
    # Allow; load the first argument, whose limits: its own is 0. Otherwise say EPERM.
    allow, refuse = (0x06, 0, 0, 0x7FFF0000), (0x06, 0, 0, 0x00050000 | errno.EPERM)
    own = (0x15, 1, 0, 0), (0x15, 0, 1, os.getpid())
    code += [allow, (0x20, 0, 0, 16), *own, allow, refuse]
    packed = b"".join(struct.pack("HBBI", *each) for each in code)
    program = ctypes.create_string_buffer(packed, len(packed))
    whole = struct.pack("HxxxxxxP", len(code), ctypes.addressof(program))
    libc = ctypes.CDLL(None, use_errno=True)
    libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    libc.prctl(_PR_SET_SECCOMP, _FILTER, whole, 0, 0)
