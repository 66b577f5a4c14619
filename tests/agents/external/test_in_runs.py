"""Programs of all protocols in runs: they play to the end, and what does wrong loses its games."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from bots import EXAMPLES, bot, engine, in_run, player
from records import content, query

from othello_lab.__main__ import main
from othello_lab.core.game import DIED, FINISHED, GARBAGE, HUNG, ILLEGAL, LATE
from othello_lab.core.system.processes import descendants

pytestmark = [pytest.mark.integration, pytest.mark.usefixtures("scratch")]
STRATEGY = f"{Path(__file__).with_name('paip.py')}:random_strategy"
FROM_START = ["openings=start", "openings.repeats=true", "limits.seconds=30"]

Made = Callable[[Path], str]


def running(protocol: str, *traits: str) -> Made:
    return lambda _: engine(protocol, *traits)


def breaking(trouble: str, program: Callable[..., str] = bot) -> Made:
    return lambda folder: program(folder, trouble, after=3)


def strategy(line: str) -> Made:
    def write(folder: Path) -> str:
        (folder / "mine.py").write_text(f"def wrong(player, board):\n    {line}\n")
        return f"{folder / 'mine.py'}:wrong"

    return write


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
        ("function", strategy("return None"), [], GARBAGE, "None"),
    ],
)
def test_who_does_wrong_loses_for_that_reason(
    agent: str, make: Made, words: list[str], reason: str, told: str, tmp_path: Path
) -> None:
    ends = in_run(tmp_path, agent, make(tmp_path), *words)
    assert ends.pairs == {("random", reason)}, ends.log
    assert told in ends.log


def test_a_program_plays_again_after_a_game_that_it_has_lost(tmp_path: Path) -> None:
    flag = str(tmp_path / "flag")
    die = f"print('farewell', file=sys.stderr); open({flag!r}, 'x'); os._exit(1)"
    once = f"print(rest[3], flush=True) if os.path.exists({flag!r}) else exec({die!r})"
    ends = in_run(tmp_path, "line", bot(tmp_path, once, after=3), "games=6")
    assert {end for _, end in ends.pairs} == {DIED, FINISHED}
    assert "line: farewell" in (ends.folder / "output.txt").read_text()


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
