"""The promises of isolation, each with the means that keeps it here or not.

``docs/security.md`` has the same table, with the tests of each promise.
"""

from __future__ import annotations

import os
from typing import NamedTuple

from othello_lab.core.system import call_filter, landlock
from othello_lab.core.system.processes import has_proc


class Promise(NamedTuple):
    """A promise on a closed agent's process.

    text: the promise. needs: the means that keeps it. holds: True if this system has it.
    """

    text: str
    needs: str
    holds: bool


def promises() -> list[Promise]:
    """Return all promises."""
    filters, proc = ("seccomp", call_filter.available()), ("Linux with /proc", has_proc())
    files = "Landlock of Linux 6.2", landlock.version() >= 3
    return [
        Promise("its crash, hang or late move costs nobody else", "processes", True),
        Promise("it is one process, and starts no other", *filters),
        Promise("all processor time of its threads is charged", *proc),
        Promise("its memory is bounded, of every kind", *proc),
        Promise("it stands still between its moves", *filters),
        Promise("it reads and changes only its own files, which are bounded", *files),
        Promise("it changes no mode, owner or time of a file", *filters),
        Promise("it has no network", *filters),
        Promise("it signals and traces no other process, nor takes its time", *filters),
    ]


def broken() -> list[str]:
    """Return the promises that do not hold here."""
    return [
        f"{promise.text} (needs {promise.needs})" for promise in promises() if not promise.holds
    ]


def system_facts() -> str:
    """Return the means of this kernel and user in a line."""
    system = os.uname()
    means = {
        f"Landlock {landlock.version() or ''}".strip(): landlock.version() > 0,
        "seccomp": call_filter.available(),
        "/proc": has_proc(),
    }
    listed = ", ".join(name if there else f"no {name}" for name, there in means.items())
    user = "root" if os.geteuid() == 0 else f"user {os.geteuid()}"
    return f"{system.sysname} {system.release}, {system.machine}, {user}: {listed}"
