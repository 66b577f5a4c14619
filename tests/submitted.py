"""Programs as students hand them in, written into a folder for tests."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from bots import EXAMPLES

AGENT = """
from othello_lab import Agent, Decision

class First(Agent):
    def decide(self, position, limits):
        {trouble}
        return Decision(position.moves[0])
"""

RULES = """
STEPS = (-11, -10, -9, -1, 1, 9, 10, 11)

def legal_moves(player, board):
    opponent, found = {"@": "o", "o": "@"}[player], []
    for square in range(11, 89):
        for step in STEPS if board[square] == "." else ():
            end = square + step
            while board[end] == opponent:
                end += step
            if end != square + step and board[end] == player:
                found.append(square)
                break
    return found
"""

STRATEGY = """
import random

def strategy(player, board):
    from rules import legal_moves
    {trouble}
    return random.choice(legal_moves(player, board))
"""


def hand_in(
    folder: Path, kinds: Iterable[str], number: int = 0, trouble: dict[str, str] | None = None
) -> list[str]:
    """Write a submission of each kind into a folder; their names. number: of the first, which
    follows the kind in its name. trouble: a line of Python for some kinds, where they move."""
    folder.mkdir(parents=True, exist_ok=True)
    names = []
    for suffix, kind in enumerate(kinds, start=number):
        name = f"{kind}{suffix}"
        names.append(name)
        line = (trouble or {}).get(kind, "pass")
        if kind == "file":
            script = folder / name
            script.write_text(
                "#!/usr/bin/env python3\n" + (EXAMPLES / "bert.py").read_text("utf-8")
            )
            script.chmod(0o755)
        elif kind == "line":
            (folder / f"{name}.py").write_text((EXAMPLES / "bot.py").read_text("utf-8"))
            (folder / f"{name}.yaml").write_text("protocol: line\n")
        elif kind == "agent":
            (folder / f"{name}.py").write_text(AGENT.format(trouble=line))
        elif kind == "strategy":
            (folder / name).mkdir()
            (folder / name / f"{name}.py").write_text(STRATEGY.format(trouble=line))
            (folder / name / "rules.py").write_text(RULES)
        else:
            _broken(folder, kind, name)
    return names


def _broken(folder: Path, kind: str, name: str) -> None:
    if kind == "unreadable":
        (folder / f"{name}.py").write_text("def strategy(player board):\n")
    elif kind == "missing":
        (folder / f"{name}.py").write_text("import no_such_module\n" + AGENT.format(trouble=""))
    elif kind == "data":
        (folder / f"{name}.bin").write_bytes(bytes(range(256)))
    elif kind == "silent":
        (folder / name).write_text("#!/bin/sh\nexec sleep 1000\n")
        (folder / name).chmod(0o755)
    elif kind == "dying":
        (folder / name).write_text("#!/bin/sh\necho goodbye >&2\nexit 3\n")
        (folder / name).chmod(0o755)
    else:
        raise ValueError(f"no such kind: {kind}")
