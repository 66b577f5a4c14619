"""What no record can hold loses the game of the agent that gave it, and never ends a run."""

from __future__ import annotations

import functools
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from records import content, query

from othello_lab.agents.agent import Agent
from othello_lab.agents.simple import GreedyAgent, RandomAgent
from othello_lab.core.game import GARBAGE, Decision, Limits
from othello_lab.core.position import Position
from othello_lab.core.rules import ruleset
from othello_lab.experiments.jobs.run import resume, run_match
from othello_lab.experiments.playing import tasks
from othello_lab.experiments.playing.game import recordable
from othello_lab.experiments.playing.tasks import PairResult, TaskResult
from othello_lab.experiments.record.flaws import flaws
from othello_lab.experiments.record.store import UNWRITABLE, GameRow, PlayedGame, Record
from othello_lab.experiments.record.turns import TurnsRow

QUICK: dict[str, Any] = {"figures": False, "isolation": "none", "trial": False}


class Boastful(Decision):
    """Says of itself that it has no flaw."""

    def flaw(self) -> str | None:
        return None


class Shifting(Decision):
    """Has another value each time it is looked at."""

    @property  # type: ignore[override]
    def value(self) -> Any:
        _looks.append(None)
        return 1 if len(_looks) % 4 == 1 else 10**30


_looks: list[None] = []


class Leaving(Decision):
    @property  # type: ignore[override]
    def depth(self) -> Any:
        raise SystemExit


class Answers(Agent):
    """Plays at random; its answers are of this class."""

    def __init__(self, kind: type[Decision], value: Any) -> None:
        self._kind, self._value = kind, value

    def decide(self, position: Position, limits: Limits) -> Decision:
        if self._kind is Shifting:
            return Shifting(position.moves[0])
        return self._kind(position.moves[0], self._value)


@pytest.mark.parametrize("workers", [0, pytest.param(1, marks=pytest.mark.integration)])
@pytest.mark.parametrize(
    ("kind", "value"), [(Boastful, 10**30), (Boastful, object()), (Leaving, 1)]
)
def test_an_answer_of_a_class_of_its_own_is_read_once(
    tmp_path: Path, workers: int, kind: type[Decision], value: Any
) -> None:
    agents = {"odd": Answers(kind, value), "greedy": GreedyAgent()}
    result = run_match(agents, games=2, workers=workers, results=tmp_path, **QUICK)
    ends = query(result.folder, "select distinct end_reason from games")
    assert ends == [(GARBAGE,)]
    assert result.complete
    result.moves  # can be read  # noqa: B018


def test_an_answer_cannot_change_after_it_was_judged(tmp_path: Path) -> None:
    agents = {"odd": Answers(Shifting, None), "greedy": GreedyAgent()}
    result = run_match(agents, games=2, workers=0, results=tmp_path, **QUICK)
    assert set(result.moves.query("agent == 'odd'")["value"].dropna()) <= {1}


def test_a_version_that_is_no_number_of_64_bits_is_refused(tmp_path: Path) -> None:
    agent = GreedyAgent()
    agent.version = 10**30
    agents = {"odd": agent, "random": RandomAgent()}
    with pytest.raises(ValueError, match=r"agent 'odd': version is 10+; a whole number is needed"):
        run_match(agents, games=2, workers=0, results=tmp_path, **QUICK)
    assert not list(tmp_path.iterdir())


@pytest.fixture
def games(recorded_duel: Path) -> list[PlayedGame]:
    turns = {row[0]: TurnsRow(*row) for row in query(recorded_duel, "select * from turns")}
    rows = map(GameRow._make, query(recorded_duel, "select * from games order by game"))
    return [PlayedGame(row, turns[row.game]) for row in rows]


SPOILED: dict[str, Any] = {
    "black_nodes": 1 << 63,
    "white_evaluations": -(1 << 63) - 1,
    "black_nanoseconds": "fast",
    "white_late": None,
    "black_cpu_nanoseconds": 1.5,
}


def test_a_game_that_can_be_written_stays_as_it_is(games: list[PlayedGame]) -> None:
    assert [recordable(game, ruleset("standard")) for game in games] == games


@pytest.mark.parametrize("column", SPOILED)
def test_a_column_that_cannot_be_written_loses_for_its_side(
    games: list[PlayedGame], column: str
) -> None:
    rules, side = ruleset("standard"), column.partition("_")[0]
    for game in games:
        spoiled = game._replace(game=game.game._replace(**{column: SPOILED[column]}))
        made = recordable(spoiled, rules)
        check_forfeit(made, game, side)
        assert column in made.game.detail


def check_forfeit(made: PlayedGame, game: PlayedGame, loser: str) -> None:
    assert made.game.result == ("white" if loser == "black" else "black")
    assert made.game.end_reason == GARBAGE
    assert game.game.transcript.startswith(made.game.transcript)
    rows = made.moves()
    assert len(rows) <= 1  # of the other one, before the loser's first
    assert not list(flaws(made.game, rows, ruleset("standard")))


def test_a_reason_that_cannot_be_written_is_left_out(games: list[PlayedGame]) -> None:
    game = games[0]._replace(game=games[0].game._replace(detail="x" * (1 << 18)))
    made = recordable(game, ruleset("standard"))
    assert made == game._replace(game=game.game._replace(detail="its reason cannot be recorded"))


@pytest.mark.integration
@pytest.mark.parametrize("value", [1 << 64, None])
def test_a_game_that_cannot_be_written_is_forfeited_and_the_run_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, value: Any
) -> None:
    """Games with an even number come from the workers with something else for White's nodes."""

    def results_of(games: Iterable[PlayedGame]) -> list[PairResult]:
        return tasks.by_pair(
            game
            if game.game.game % 2
            else game._replace(game=game.game._replace(white_nodes=value))
            for game in games
        )

    agents = {"first": RandomAgent(), "second": GreedyAgent()}
    with monkeypatch.context() as patched:
        patched.setattr(tasks, "results_of", results_of)
        result = run_match(agents, games=10, workers=1, results=tmp_path, figures=False)
    assert result.complete
    rows = query(result.folder, "select game % 2, result, end_reason, detail from games")
    assert len(rows) == 10
    lost = [row[1:] for row in rows if row[0] == 0]
    assert {row[:2] for row in lost} == {("black", GARBAGE)}
    assert all("white_nodes" in detail for _, _, detail in lost)
    assert {reason for odd, _, reason, _ in rows if odd} == {"finished"}
    before = content(result.folder)
    resume(result.folder, agents=agents)
    assert content(result.folder) == before


def test_other_errors_of_the_record_still_end_a_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(record: Record, games: Any) -> None:
        raise UNWRITABLE[0]("not of a game")

    monkeypatch.setattr(Record, "write_games", refuse)
    agents = {"first": RandomAgent(), "second": GreedyAgent()}
    with pytest.raises(OverflowError, match="not of a game"):
        run_match(agents, games=2, workers=0, results=tmp_path, figures=False)


NESTED: list[Any] = functools.reduce(lambda rows, _: [rows], range(100_000), [])


@pytest.mark.parametrize(
    "value", [float("nan"), object(), {1: {2, 3}}, NESTED], ids=["nan", "object", "sets", "nested"]
)
def test_results_of_a_study_that_cannot_be_written_are_a_failure(
    tmp_path: Path, value: Any
) -> None:
    with Record.create(tmp_path) as record:
        good = {"n": 1, "word": "caf\udce9"}
        record.write_pieces(
            [
                TaskResult(0, {"rows": [good]}),
                TaskResult(1, {"rows": [good, {"n": value}]}),
                TaskResult(2, {}, "caf\udce9"),
            ]
        )
        failures = record.pieces()
        assert (failures[0], failures[2]) == ("", r"caf\udce9")
        assert "cannot be recorded" in failures[1]
        table = record.tables()["rows"]
    assert table[["piece", "word"]].to_numpy().tolist() == [[0, r"caf\udce9"]]
