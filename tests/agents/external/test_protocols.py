"""Programs of all protocols, alone and in runs: they play to the end of their games, and one that
does wrong loses its game for that reason."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from bots import EXAMPLES, bot, engine, in_game, in_run, player
from records import content, query

from othello_lab import Limits, Position
from othello_lab.__main__ import main
from othello_lab.agents.agent import Agent
from othello_lab.agents.external import FunctionAgent, GtpAgent, LineAgent, NBoardAgent, WpiAgent
from othello_lab.core.game import DIED, FINISHED, GARBAGE, HUNG, ILLEGAL, LATE, RAISED, RESIGNED
from othello_lab.core.system.processes import descendants


def strategy(folder: Path, line: str) -> str:
    """The target of a strategy of this line, written into a folder."""
    (folder / "mine.py").write_text(f"def wrong(player, board):\n    {line}\n")
    return f"{folder}/mine.py:wrong"


pytestmark = pytest.mark.usefixtures("scratch")

MAKERS: dict[str, Callable[[Path, str, float], Agent]] = {
    "gtp": lambda _, trait, patience: GtpAgent(engine("gtp", trait), patience=patience),
    "nboard": lambda _, trait, patience: NBoardAgent(engine("nboard", trait), 2, patience),
    "line": lambda to, line, patience: LineAgent(bot(to, line, after=1), patience),
    "line at its start": lambda to, line, patience: LineAgent(bot(to, begin=line), patience),
    "wpi": lambda to, line, patience: WpiAgent(player(to, line, after=1), patience=patience),
    "function": lambda to, line, patience: FunctionAgent(strategy(to, line)),
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


# ------------------------------------------------------------------ in runs

STRATEGY = f"{Path(__file__).with_name('paip.py')}:random_strategy"
FROM_START = ["openings=start", "openings.repeats=true", "limits.seconds=30"]

Made = Callable[[Path], str]


def running(protocol: str, *traits: str) -> Made:
    return lambda _: engine(protocol, *traits)


def breaking(trouble: str, program: Callable[..., str] = bot) -> Made:
    return lambda folder: program(folder, trouble, after=3)


@pytest.mark.integration
@pytest.mark.parametrize(
    ("agent", "make", "words"),
    [
        ("gtp", running("gtp"), ["games=6", "limits.seconds=10"]),
        ("nboard", running("nboard"), ["games=6", "ruleset=wpi", "depth=2"]),
        ("line", lambda _: f"{sys.executable} {EXAMPLES / 'bot.py'}", ["games=10", "seed=2"]),
        ("wpi", player, [*FROM_START, "games=4", "executor.workers=2"]),
    ],
)
def test_games_are_played_to_their_end(
    agent: str, make: Made, words: list[str], tmp_path: Path, scratch: Path
) -> None:
    before = set(descendants([os.getpid()]))
    ends = in_run(tmp_path, agent, make(tmp_path), *words)
    assert {end for _, end in ends.pairs} == {FINISHED}, ends.log
    assert set(descendants([os.getpid()])) <= before
    assert not list(scratch.iterdir())


@pytest.mark.integration
@pytest.mark.parametrize(
    ("agent", "make", "words", "reason", "told"),
    [
        ("line", breaking("os._exit(3)"), [], DIED, "exit code 3"),
        ("line", breaking("signal.pause()"), ["limits.hang=1"], HUNG, "1 s"),
        (
            "line",
            breaking("[(print('#', flush=True), time.sleep(0.05)) for _ in iter(int, 1)]"),
            ["limits.hang=1"],
            HUNG,
            "",
        ),
        (
            "line",
            breaking("time.sleep(0.4); print(rest[3], flush=True)"),
            ["limits.seconds=0.2"],
            LATE,
            "",
        ),
        ("gtp", running("gtp", "illegal"), [], ILLEGAL, "a1"),
        ("wpi", breaking("honest('(W D 4)')", player), FROM_START, ILLEGAL, "'(W D 4)'"),
        ("function", lambda to: strategy(to, "return None"), [], GARBAGE, "None"),
    ],
)
def test_who_does_wrong_loses_for_that_reason(
    agent: str, make: Made, words: list[str], reason: str, told: str, tmp_path: Path
) -> None:
    ends = in_run(tmp_path, agent, make(tmp_path), *words)
    assert ends.pairs == {("random", reason)}, ends.log
    assert told in ends.log


@pytest.mark.integration
def test_a_program_plays_again_after_a_game_that_it_has_lost(tmp_path: Path) -> None:
    flag = str(tmp_path / "flag")
    die = f"print('farewell', file=sys.stderr); open({flag!r}, 'x'); os._exit(1)"
    once = f"print(rest[3], flush=True) if os.path.exists({flag!r}) else exec({die!r})"
    ends = in_run(tmp_path, "line", bot(tmp_path, once, after=3), "games=6")
    assert {end for _, end in ends.pairs} == {DIED, FINISHED}
    assert "line: farewell" in (ends.folder / "output.txt").read_text()


@pytest.mark.integration
def test_what_a_bot_says_that_it_thinks_is_recorded(tmp_path: Path) -> None:
    notes = "value=-1.5 depth=4 nodes=77 evaluations=30"
    answer = f"print(rest[3], {notes!r}, '\\n\\n# fine', flush=True)"
    ends = in_run(tmp_path, "line", bot(tmp_path, answer, after=0))
    assert {end for _, end in ends.pairs} == {FINISHED}, ends.log
    rows = query(
        ends.folder,
        "select distinct value, depth, nodes, evaluations from moves join agents using (agent) "
        "where name = 'line' and nodes > 0",
    )
    assert rows == [(-1.5, 4, 77, 30)]


@pytest.mark.integration
def test_a_strategys_run_comes_out_the_same_on_any_number_of_workers(tmp_path: Path) -> None:
    folders = []
    for number in (1, 2):
        words = [f"executor.workers={number}", "games=8"]
        ends = in_run(tmp_path / str(number), "function", STRATEGY, *words)
        assert {end for _, end in ends.pairs} == {FINISHED}
        folders.append(ends.folder)
    assert content(folders[0]) == content(folders[1])
    assert query(folders[0], "select reproducible from agents where name = 'function'") == [(1,)]
    assert main(["verify", str(folders[0]), "--trust", "--games", "4"]) == 0
