"""Loss of agents in late positions, measured by the exact solver."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import numpy as np

from othello_lab.agents.search.endgame.solver import EndgameSolver
from othello_lab.core.notation import split_transcript, square_name
from othello_lab.core.position import Position
from othello_lab.core.rules import Ruleset, ruleset
from othello_lab.core.system.compile import Announce
from othello_lab.core.system.escaping import counted
from othello_lab.core.system.settings import Whole
from othello_lab.experiments.config import Plan
from othello_lab.experiments.pairing.openings import Opening
from othello_lab.experiments.playing.tasks import Tables, WorkerContext
from othello_lab.experiments.record.reading import reading
from othello_lab.experiments.record.store import Record
from othello_lab.experiments.report.elo_lead import FEW_OPENINGS
from othello_lab.experiments.report.tables import marked
from othello_lab.experiments.statistics.means import SHARE, Mean, mean_interval
from othello_lab.experiments.studies.positions import RunFolder, run_of
from othello_lab.experiments.studies.study import Conclusion, PositionStudy, ResultTable

if TYPE_CHECKING:
    import pandas as pd

    from othello_lab.experiments.report.figures.drawing import ReportFigure

MOST_EMPTIES = 30
"""The solver may take minutes for a position with more."""
_GAMES = 6  # keeps random numbers apart
_TABLE_MB = 16
_WORST = 10  # moves that are listed
DRAWN = 6
"""Moves that are drawn."""


class LateMove(NamedTuple):
    """A move of an agent. line: the position in OBF."""

    agent: str
    line: str
    move: int


class LateGame(NamedTuple):
    """The late moves of a game. game: its number."""

    ruleset: str
    game: int
    opening: str
    moves: list[LateMove]


@dataclass(frozen=True, kw_only=True)
class Errors(PositionStudy):
    """Moves of the agents of a run against perfect play. Forced moves are left out.

    run: the folder of a run whose moves are judged; None: the line-up plays first (agents=...,
    games=...). empties: the largest number of empty squares. positions: the most moves of each
    agent, from whole games; or ``all``.
    """

    run: RunFolder = None
    empties: Annotated[int, Whole(1, MOST_EMPTIES)] = 14
    positions: Annotated[int | str, Whole(1, word="all")] = 1000

    asks_agents = False

    def needs_run(self, plan: Plan) -> bool:
        return self.run is None

    def run_folder(self) -> Path | None:
        return run_of(self.run)

    def prepare(self, plan: Plan, announce: Announce) -> None:
        EndgameSolver(table_mb=1).prepare(announce)

    def pieces(self, plan: Plan, record: Record | None) -> Sequence[Any]:
        assert record is not None
        rules = ruleset(record.run()["ruleset"])
        numbers = [game for (game,) in record.rows("select game from games order by game")]
        order = np.random.default_rng([plan.settings.seed, _GAMES]).permutation(numbers)
        names = dict(record.rows("select agent, name from agents"))
        taken: Counter[str] = Counter()
        found = []
        for number in order:
            game = late_game(record, rules, names, int(number), self.empties)
            if self.positions != "all":
                wanted = {name for name in names.values() if taken[name] < int(self.positions)}
                game = game._replace(moves=[each for each in game.moves if each.agent in wanted])
                if not wanted:
                    break
            taken.update(each.agent for each in game.moves)
            if game.moves:
                found.append(game)
        if not found:
            raise ValueError(
                f"no agent had a choice with {self.empties} or fewer empty squares in these games"
            )
        return found

    def work(self, place: WorkerContext, piece: LateGame) -> Tables:
        solver, rules = EndgameSolver(_TABLE_MB), ruleset(piece.ruleset)
        rows = []
        for each in piece.moves:
            position = Position.from_obf(each.line, rules)
            about = {"game": piece.game, "opening": piece.opening, "agent": each.agent}
            rows.append(
                {**about, "empties": position.empties, **judged(position, each.move, solver)}
            )
        return {"moves": rows}

    def conclude(self, plan: Plan, tables: Mapping[str, pd.DataFrame]) -> Conclusion:
        moves = tables["moves"]
        agents, selective = (
            plan.settings.agents,
            {name: agent.selective for name, agent in plan.agents.items()},
        )
        details, rules = {}, plan.rules
        if (folder := self.run_folder()) is not None:
            with reading(folder) as record:
                agents = record.run()["config"]["agents"]
                selective = dict(record.rows("select name, selective from agents"))
                rules = ruleset(record.run()["ruleset"])
                details = {"games of": str(folder), "ruleset": rules.name}
        moves["agent"] = [marked(name, bool(selective.get(name))) for name in moves["agent"]]
        profile = error_profile(moves, plan.settings.seed)
        whole = profile[profile["empties"] == ALL]
        about = f"{counted(len(moves), 'move')} with {self.empties} or fewer empty squares"
        return Conclusion(
            findings=list(_findings(whole, about, moves["opening"].nunique())),
            tables=[_errors_table(whole), *_worst(moves)],
            frames={"errors": profile, "moves": moves},
            figures=lambda: _figures(profile, costliest(moves, DRAWN), rules, about),
            notes=[_NOTE],
            agents=agents,
            details=details,
        )


_NOTE = """\
The loss of a move is how many discs of the final difference it gives away against perfect play of
both sides, by the exact solver. A blunder changes the outcome: a won position becomes drawn or
lost, a drawn one lost. Only moves with a choice count. Intervals are 95 %, from a bootstrap over
openings."""

ALL = "all"
"""Stands for all numbers of empty squares together."""


def late_game(
    record: Record, rules: Ruleset, names: Mapping[int, str], number: int, empties: int
) -> LateGame:
    """Return the moves of a game with a choice and at most this many empty squares."""
    ((black, white, text, transcript),) = record.rows(
        "select black, white, opening, transcript from games where game = ?", [number]
    )
    opening = Opening.read(text, rules)
    position = opening.begin(rules)
    _, plies = position.follow(split_transcript(transcript))
    found = []
    for made, move in enumerate(plies):
        late = position.empties <= empties and len(position.moves) > 1
        if late and made >= len(opening.moves):
            player = black if position.to_move.value == "black" else white
            found.append(LateMove(names[player], position.to_obf(), move))
        position = position.play(move)
    return LateGame(rules.name, number, text, found)


def judged(position: Position, move: int, solver: EndgameSolver) -> dict[str, Any]:
    """Compare a move with the best one: ``score``, the discs with perfect play; ``best``, a move
    that gets them; ``loss``, discs given away; ``is_best``; ``blunder``, true if the move changes
    the outcome."""
    solution = solver.solve(position)
    assert solution.score is not None  # nothing limits the solver
    if move in solution.best:
        got = solution.score
    else:
        reply = solver.solve(position.play(move))
        assert reply.score is not None
        got = -reply.score
    return {
        "position": position.to_obf(),
        "move": square_name(move),
        "best": square_name(solution.best[0]),
        "score": solution.score,
        "loss": solution.score - got,
        "is_best": got == solution.score,
        "blunder": bool(np.sign(got) < np.sign(solution.score)),
    }


def error_profile(moves: pd.DataFrame, seed: int = 0) -> pd.DataFrame:
    """Return the quality of each agent's moves, in all and by empty squares.

    moves: one row a move; columns ``agent``, ``opening``, ``empties``, ``loss``, ``is_best`` and
    ``blunder``.

    One row an agent and number of ``empties`` (or ALL), the agent that loses least first. Columns:
    moves, openings; ``loss``, the mean discs lost a move, ``best_share`` and ``blunder_share``,
    each with the ends of its 95 % interval, ``_low`` and ``_high``.
    """
    import pandas as pd

    measures = {
        "loss": ("loss", (0.0, np.inf)),
        "best_share": ("is_best", SHARE),
        "blunder_share": ("blunder", SHARE),
    }
    rows = []
    for part in (moves.assign(empties=ALL), moves.sort_values("empties", ascending=False)):
        for (agent, empties), group in part.groupby(["agent", "empties"], sort=False):
            row = {"agent": agent, "empties": empties, "moves": len(group)}
            row["openings"] = len(set(group["opening"]))
            for name, (column, within) in measures.items():
                mean = mean_interval(group[column], group["opening"], seed, within)
                row |= {name: mean.value, f"{name}_low": mean.low, f"{name}_high": mean.high}
            rows.append(row)
    found = pd.DataFrame(rows)
    whole = found[found["empties"] == ALL].sort_values("loss", kind="stable")
    order = whole["agent"].tolist()
    by_place = {"key": lambda names: names.map(order.index), "kind": "stable"}
    return found.sort_values("agent", ignore_index=True, **by_place)


def _mean(row: Mapping[str, Any], name: str) -> Mean:
    return Mean(row[name], row[f"{name}_low"], row[f"{name}_high"])


def _findings(whole: pd.DataFrame, about: str, openings: int) -> Iterable[str]:
    rows = whole.to_dict("records")
    best, worst = rows[0], rows[-1]
    alike = len(rows) > 1 and best["loss"] == worst["loss"]
    who = "all agents made equally good ones" if alike else f"{best['agent']} made the best"
    yield (
        f"Of {about}, from {counted(openings, 'opening')}, {who}: "
        f"{_mean(best, 'loss').text()} discs lost a move against perfect play, "
        f"a best move in {_mean(best, 'best_share').text(0, 100)} %."
    )
    if len(rows) > 1 and not alike:
        apart = worst["loss_low"] > best["loss_high"]
        sure = "" if apart else " The intervals overlap, so these two may be alike."
        yield (
            f"{worst['agent']} lost most: {_mean(worst, 'loss').text()} discs a move, a best move "
            f"in {_mean(worst, 'best_share').text(0, 100)} %.{sure}"
        )
    blunders = sorted(rows, key=lambda row: -row["blunder_share"])
    told = ", ".join(f"{row['agent']} {100 * row['blunder_share']:.1f} %" for row in blunders[:6])
    more = f", and {len(rows) - 6} more agents with fewer" if len(rows) > 6 else ""
    yield f"Moves that changed the outcome: {told}{more}."
    if openings < FEW_OPENINGS:
        yield (
            f"All moves come from {counted(openings, 'opening')}, and moves from the same opening "
            "are much alike: so few may agree by chance, and the intervals say too much. More "
            "games (games=...) have more openings."
        )


def _errors_table(whole: pd.DataFrame) -> ResultTable:
    columns = ["agent", "moves", "discs lost [95 %]", "best move % [95 %]", "blunders % [95 %]"]
    rows = [
        [
            row["agent"],
            f"{row['moves']:,}",
            _mean(row, "loss").text(),
            _mean(row, "best_share").text(0, 100),
            _mean(row, "blunder_share").text(1, 100),
        ]
        for row in whole.to_dict("records")
    ]
    return ResultTable("Moves against perfect play", columns, rows)


def costliest(moves: pd.DataFrame, count: int) -> pd.DataFrame:
    """Return up to this many moves with the largest loss, each position once."""
    costly = moves[moves["loss"] > 0].sort_values("loss", ascending=False, kind="stable")
    return costly.drop_duplicates("position").head(count)


def _worst(moves: pd.DataFrame) -> Iterable[ResultTable]:
    costly = costliest(moves, _WORST)
    if costly.empty:
        return
    rows = [
        [
            row["agent"],
            str(row["game"]),
            str(row["empties"]),
            f"{row['move']} ({row['score'] - row['loss']:+d})",
            f"{row['best']} ({row['score']:+d})",
            row["position"],
        ]
        for row in costly.to_dict("records")
    ]
    columns = ["agent", "game", "empties", "move", "best", "position"]
    yield ResultTable("The costliest moves", columns, rows, words=(0, 3, 4, 5), code=(5,))


def _figures(
    profile: pd.DataFrame, costly: pd.DataFrame, rules: Ruleset, about: str
) -> Iterable[ReportFigure]:
    from othello_lab.experiments.studies.figures.errors import error_figures

    return error_figures(profile, costly, rules, about)
