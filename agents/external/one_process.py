"""The words for a program that cannot live in one process, as a closed one must."""

from __future__ import annotations

import re
import shutil
from contextlib import suppress
from pathlib import Path

from othello_lab.agents.external.program import LAST_OUTPUT
from othello_lab.core.system.files import read_text

_REFUSED = re.compile(r"No child processes|Cannot fork|Unknown system error -10", re.IGNORECASE)
"""What shells and languages print when the system refuses another process."""
_NAMED = re.compile(
    r"""No child processes: '([^']+)'|Cannot run program "([^"]+)"|fork/exec (\S+):""",
    re.IGNORECASE,
)
_LINE = re.compile(r"([^\s:]+): (?:line )?(\d+): Cannot fork|([^\s:]+): fork: ")
_COMMAND = re.compile(r"(?:^|[|;&`(])\s*([\w./-]+)")
_OF_SHELLS = {"echo", "printf", "test", "true", "false", "kill", "pwd", "[", "time"}


def explained(detail: str, name: str, place: str | None) -> str:
    """Return the detail of a failure; if the agent of this name wanted another process, words that
    say so stand before it. place: its file or folder, None if it has none."""
    if not _REFUSED.search(detail):
        return detail
    wanted = _wanted(detail, place)
    told = f" ({wanted})" if wanted else ""
    who = name if place is None else Path(place).name
    said = (
        f"{who} started another program{told}: write it in one process, or ask your teacher for "
        f"isolation.children=[{name}]"
    )
    return said + LAST_OUTPUT + detail.replace(LAST_OUTPUT, "\n")


def _wanted(detail: str, place: str | None) -> str:
    """Return the program that was to be started, as far as it is known."""
    if named := _NAMED.search(detail):
        return Path(next(filter(None, named.groups()))).name
    if place is None or not (script := _LINE.search(detail)):
        return ""
    file = Path(place)
    if file.is_dir():
        file /= Path(script[1] or script[3]).name
    with suppress(OSError):
        lines = read_text(file).splitlines()
        for line in lines[int(script[2]) - 1 :][:1] if script[2] else lines:
            for word in _COMMAND.findall(line):
                if word not in _OF_SHELLS and shutil.which(word):
                    return str(word)
    return ""
