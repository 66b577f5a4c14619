"""The promises of isolation, each with the means that keeps it here or not.

``docs/security.md`` has the same table, with the tests of each promise.
"""

from __future__ import annotations

import ctypes
import os
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from othello_lab.core.system import call_filter, landlock
from othello_lab.core.system.processes import LINUX, has_proc


class Promise(NamedTuple):
    """A promise on an agent's process.

    text: the promise. needs: the means that keeps it. holds: True if this system has it. closed:
    True for a promise on closed processes alone.
    """

    text: str
    needs: str
    holds: bool
    closed: bool = False


def promises() -> list[Promise]:
    """Return all promises."""
    filters, proc = ("seccomp", call_filter.available()), ("Linux with /proc", has_proc())
    writes, reads, signals = (
        (f"Landlock {least} (Linux {linux})", landlock.version() >= least)
        for least, linux in ((2, "5.19"), (3, "6.2"), (6, "6.12"))
    )
    return [
        Promise("its crash, hang or late move costs nobody else", "processes", True),
        Promise("all processor time of its processes is charged", *proc),
        Promise("memory is bounded for all its processes together", *proc),
        Promise("it takes no time by priorities, processors or limits of others", *filters),
        Promise("it hides no process, and leaves no shared memory", *filters),
        Promise("it writes no file of the system", *writes),
        Promise("it signals and traces no other process", *signals),
        Promise("all its processes stop at once between its moves, and end at once", *signals),
        Promise("it reads and changes only its own files", *reads, closed=True),
        Promise("it has no network", *filters, closed=True),
        Promise("it changes no mode, owner or time of a file", *filters, closed=True),
    ]


def broken(closed: bool) -> list[str]:
    """Return the promises that do not hold here: on closed processes alone, or on all."""
    return [
        f"{promise.text} (needs {promise.needs})"
        for promise in promises()
        if not promise.holds and promise.closed == closed
    ]


def system_facts() -> dict[str, str]:
    """Return the means of this kernel and user by name."""
    version = landlock.version()
    return {
        "system": f"{os.uname().sysname} {os.uname().release}, {os.uname().machine}",
        "user": "root" if os.geteuid() == 0 else f"number {os.geteuid()}",
        "/proc": "yes" if has_proc() else "none; agents and games work without it",
        "Landlock": f"version {version}" if version else "none",
        "seccomp": "yes" if call_filter.available() else "none for this processor",
        "cgroup v2": "delegated to this user" if _own_cgroup() else "not delegated",
        "user namespaces": "yes" if _namespaces() else "none for this user",
    }


def _own_cgroup() -> bool:
    """Return True if this user may make groups of processes in the present one."""
    with suppress(OSError):
        for line in Path("/proc/self/cgroup").read_text().splitlines():
            number, _, path = line.split(":", 2)
            folder = Path("/sys/fs/cgroup", path.lstrip("/"))
            if number == "0" and (folder / "cgroup.procs").exists():
                return os.access(folder, os.W_OK)
    return False


def _namespaces() -> bool:
    """Return True if this user may make namespaces of users; tried in a process of its own."""
    if not LINUX:
        return False
    if (child := os.fork()) == 0:
        failed = ctypes.CDLL(None).unshare(0x10000000)
        os._exit(1 if failed else 0)
    return os.waitpid(child, 0)[1] == 0
