"""Programs of all protocols that do wrong: each loses its game, for that reason."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from bots import bot, engine, in_game, player

from othello_lab import Limits, Position
from othello_lab.agents.agent import Agent
from othello_lab.agents.external import FunctionAgent, GtpAgent, LineAgent, NBoardAgent, WpiAgent
from othello_lab.core.game import DIED, GARBAGE, HUNG, ILLEGAL, LATE, RAISED, RESIGNED


def strategy(folder: Path, line: str) -> FunctionAgent:
    (folder / "mine.py").write_text(f"def wrong(player, board):\n    {line}\n")
    return FunctionAgent(f"{folder}/mine.py:wrong")


MAKERS: dict[str, Callable[[Path, str, float], Agent]] = {
    "gtp": lambda _, trait, patience: GtpAgent(engine("gtp", trait), patience=patience),
    "nboard": lambda _, trait, patience: NBoardAgent(engine("nboard", trait), 2, patience),
    "line": lambda to, line, patience: LineAgent(bot(to, line, after=1), patience),
    "line at its start": lambda to, line, patience: LineAgent(bot(to, begin=line), patience),
    "wpi": lambda to, line, patience: WpiAgent(player(to, line, after=1), patience=patience),
    "function": lambda to, line, patience: strategy(to, line),
}
TROUBLES = {
    "gtp": {
        "dies": (DIED, "exit code 9", "out of luck"),
        "resigns": (RESIGNED, ""),
        "illegal": (ILLEGAL, "a1"),
        "nonsense": (GARBAGE, "'the corner'"),
        "pass-word": (ILLEGAL, "pass"),
        "refuses": (GARBAGE, "'genmove black'", "no idea"),
        "raw": (GARBAGE, "'I am lost'", "'genmove black'"),
        "other-number": (GARBAGE, "'=999 d3'"),
        "chatters": (GARBAGE, "thinking"),
        "garbage": (GARBAGE, "'Welcome!'"),
        "plays-go": (GARBAGE, "unsupported game"),
        "no-clear_board": (GARBAGE, "'clear_board'", "unknown command"),
    },
    "nboard": {
        "dies": (DIED, "exit code 9", "out of luck"),
        "illegal": (ILLEGAL, "a1"),
        "nonsense": (GARBAGE, "'=== corner"),
        "same-pong": (HUNG, "0.3 s"),
    },
    "line": {
        "print('a1', flush=True)": (ILLEGAL, "a1"),
        "print('--', flush=True)": (ILLEGAL, "pass"),
        "print('z9', flush=True)": (GARBAGE, "'z9'"),
        "print('d3, I think', flush=True)": (GARBAGE, "'d3, I think'"),
        "print(rest[3], 'nodes=many', flush=True)": (GARBAGE, "'nodes=many'"),
        "print(rest[3], 'nodes=9' + '9' * 17, flush=True)": (GARBAGE, "nodes"),
        "print(rest[3], 'value', flush=True)": (GARBAGE, "'value'"),
        "print(rest[3], 'value=', flush=True)": (GARBAGE, "'value='"),
        "print(rest[3], 'x=1', flush=True)": (GARBAGE, "'x=1'"),
        "print(rest[3], 'depth=1.5', flush=True)": (GARBAGE, "'depth=1.5'"),
        "print(rest[3], 'value=nan', flush=True)": (GARBAGE, "'value=nan'"),
        "os.write(1, f'{rest[3]}\\n{rest[3]}\\n'.encode())": (GARBAGE, "without being asked"),
        "os.write(1, bytes(range(256)) + b'\\n')": (GARBAGE, "answered"),
        "os.write(1, b'x' * 100_000); signal.pause()": (GARBAGE, "65536"),
        "1 / 0": (DIED, "ZeroDivisionError"),
    },
    "line at its start": {
        "os._exit(4)": (DIED, "exit code 4"),
        "print('hello', flush=True)": (GARBAGE, "'hello'"),
        "signal.pause()": (HUNG, "0.3 s"),
    },
    "wpi": {
        "honest('(W D 4)')": (ILLEGAL, "'(W D 4)'"),
        "1 / 0": (DIED, "ZeroDivisionError"),
        "open(NAME + '.out', 'w').write('(W'); signal.pause()": (LATE, "'(W"),
        "signal.pause()": (LATE, "player.out"),
    },
    "function": {
        "return None": (GARBAGE, "None"),
        "return 19": (GARBAGE, "19"),
        "return 'd3'": (GARBAGE, "'d3'"),
        "return 34.0": (GARBAGE, "34.0"),
        "return 44": (ILLEGAL, "occupied"),
        "return board[100]": (RAISED, "IndexError"),
        "import sys; sys.exit(3)": (RAISED, "SystemExit"),
    },
}
"""By protocol: what the program does, the reason for which it loses, and what is said of it."""
SLOW = {"gtp", "line", "wpi"}


@pytest.mark.usefixtures("scratch")
@pytest.mark.parametrize(
    ("protocol", "trouble"),
    [
        pytest.param(name, trouble, marks=pytest.mark.integration if name in SLOW else ())
        for name, troubles in TROUBLES.items()
        for trouble in troubles
    ],
)
def test_a_program_that_does_wrong_loses(protocol: str, trouble: str, tmp_path: Path) -> None:
    reason, *told = TROUBLES[protocol][trouble]
    agent = MAKERS[protocol](tmp_path, trouble, 0.3 if reason == HUNG else 60)
    rules = "wpi" if protocol == "wpi" else "standard"
    limits = Limits(seconds=0.2 if reason == LATE else 60) if protocol == "wpi" else None
    record = in_game(agent, rules, limits)
    loser = Position.start(rules).to_move
    assert (record.winner, record.end_reason) == (loser.other, reason), record.detail
    assert all(words in record.detail for words in told), record.detail
