"""Loss of two agents in the course of their games, by a deep search and the exact solver."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

from othello_lab.agents.config import load_evaluation
from othello_lab.agents.evaluation import FINAL_UNIT, Evaluation
from othello_lab.agents.search import PVS
from othello_lab.agents.search.endgame.solver import EndgameSolver
from othello_lab.core.notation import square_name
from othello_lab.core.position import Position
from othello_lab.core.rules import Color, Ruleset, ruleset
from othello_lab.core.system.compile import Announce
from othello_lab.core.system.escaping import counted
from othello_lab.core.system.settings import Switch, Whole
from othello_lab.experiments.config import ALL as ALL_MOVES
from othello_lab.experiments.config import Plan
from othello_lab.experiments.playing.tasks import Tables, WorkerContext
from othello_lab.experiments.record.store import Record
from othello_lab.experiments.report.late_moves import (
    ALL,
    LateGame,
    chosen_moves,
    drawn_games,
    judged,
    mean_of,
)
from othello_lab.experiments.report.tables import marked, time_text
from othello_lab.experiments.statistics.means import Mean
from othello_lab.experiments.studies.errors import MOST_EMPTIES, few_openings_warning, worst_moves
from othello_lab.experiments.studies.loss_profile import (
    RESULTS,
    difference_profile,
    loss_profile,
    result_for,
)
from othello_lab.experiments.studies.positions import RecordedStudy
from othello_lab.experiments.studies.study import Conclusion, ResultTable, drawn_by

if TYPE_CHECKING:
    import pandas as pd

_MOVES = 12  # of a piece: some tenths of a second
_MOST_PLIES = 120


class PlayedMove(NamedTuple):
    """A move to be judged. line: the position in OBF. microseconds: usable time of the decision;
    None if it is unknown. depth: plies that the agent stated; None if it stated none."""

    agent: str
    ply: int
    line: str
    move: int
    points: float
    microseconds: float | None
    depth: int | None


@dataclass(frozen=True, kw_only=True)
class Losses(RecordedStudy):
    """Discs given away by two agents, ply by ply, before a neutral judge. Forced moves are left
    out.

    The loss of a move is the best value of the position less the value of the move played. The
    judge is the exact solver near the end of a game, and before that the mean of two searches,
    ``depth`` and one ply less deep, without selective techniques. Errors of these searches make
    the losses of both agents a little too large, so their difference counts.

    games: the most games, drawn with the run's seed; or ``all``. balanced: take only decided games,
    half of them lost by each agent. first_ply, last_ply: the moves that are judged, counted from 1
    with opening and passes. band: plies of a row in tables and figure; bands begin at its
    multiples. evaluation: of the judge, a name in ``conf/evaluation``, in discs. per_disc: units of
    it that stand for one disc; None: as its class declares. depth: plies of the judge's deeper
    search. exact: the number of empty squares from which on the solver judges.
    """

    games: Annotated[int | str, Whole(1, word="all")] = 200
    balanced: Annotated[bool, Switch()] = False
    first_ply: Annotated[int, Whole(1, _MOST_PLIES)] = 1
    last_ply: Annotated[int, Whole(1, _MOST_PLIES)] = _MOST_PLIES
    band: Annotated[int, Whole(1, 60)] = 8
    evaluation: str | Evaluation = "patterns"
    per_disc: Annotated[int | None, Whole(1)] = None
    depth: Annotated[int, Whole(LEAST_DEPTH, 20)] = 8
    exact: Annotated[int, Whole(0, MOST_EMPTIES)] = 20

    def check(self, plan: Plan) -> None:
        self._judge()
        if self.first_ply > self.last_ply:
            first, last = self.first_ply, self.last_ply
            raise ValueError(f"study.first_ply={first} is after study.last_ply={last}")
        if self.run_folder() is None:
            self._check_run(list(plan.agents), plan.rules)
            if plan.settings.record != ALL_MOVES:
                record = plan.settings.record
                raise ValueError(f"record={record}: the moves are needed, record={ALL_MOVES}")

    def _check_run(self, names: Sequence[str], rules: Ruleset) -> None:
        """Raise ValueError unless the moves of these agents can be judged."""
        if len(names) != 2:
            raise ValueError(f"two agents are needed; this run has {len(names)}")
        if rules.side not in (evaluation := self._evaluation()).sides:
            raise ValueError(
                f"the evaluation {evaluation.name} is not made for boards of {rules.side}x"
                f"{rules.side}; set study.evaluation"
            )

    def _evaluation(self) -> Evaluation:
        if isinstance(self.evaluation, str):
            return load_evaluation(self.evaluation)
        return self.evaluation

    def _judge(self) -> NeutralJudge:
        """Return the judge; ValueError if its evaluation does not count discs."""
        evaluation = self._evaluation()
        if (per_disc := self.per_disc or evaluation.per_disc) is None:
            raise ValueError(
                f"the evaluation {evaluation.name} does not count discs; set study.per_disc, or "
                "study.evaluation to one that does, such as patterns"
            )
        return NeutralJudge(evaluation, self.depth, per_disc, self.exact)

    def prepare(self, plan: Plan, announce: Announce) -> None:
        self._judge().prepare(announce)

    def pieces(self, plan: Plan, record: Record | None) -> Sequence[Any]:
        assert record is not None
        agents = dict(record.rows("select agent, name from agents"))
        rules = ruleset(record.head()["ruleset"])
        self._check_run(list(agents.values()), rules)
        if not record.rows("select 1 from turns limit 1"):
            raise ValueError("this run has no recorded moves; it needs record=all")
        pieces = [
            part
            for number in self._games(record, plan.settings.seed)
            for part in self._parts(record, rules, agents, number)
        ]
        if not pieces:
            raise ValueError("no agent had a choice at these plies of the chosen games")
        return pieces

    def _games(self, record: Record, seed: int) -> list[int]:
        order = drawn_games(record, seed)
        most = len(order) if self.games == "all" else int(self.games)
        if not self.balanced:
            return order[:most]
        sql = "select game, case when black_points > 0.5 then white else black end from games"
        loser = dict(record.rows(f"{sql} where black_points != 0.5"))
        lost = [[game for game in order if loser.get(game) == agent] for agent in (0, 1)]
        share = min(len(lost[0]), len(lost[1]), most // 2)
        if not share:
            raise ValueError(
                "study.balanced: no decided games of both agents; leave it out, or take more games"
            )
        chosen = {game for games in lost for game in games[:share]}
        return [game for game in order if game in chosen]

    def _parts(
        self, record: Record, rules: Ruleset, agents: Mapping[int, str], number: int
    ) -> Iterator[LateGame[PlayedMove]]:
        ((black, white, points, text, transcript),) = record.rows(
            "select black, white, black_points, opening, transcript from games where game = ?",
            [number],
        )
        turns = {turn.ply: turn for turn in record.turns([number]).rows()}
        moves = []
        for ply, position, move in chosen_moves(rules, text, transcript):
            if self.first_ply <= ply <= self.last_ply and (turn := turns.get(ply)) is not None:
                is_black = position.to_move is Color.BLACK
                time = None
                if turn.nanoseconds is not None:
                    time = (turn.nanoseconds - turn.waited_nanoseconds) / 1000
                moves.append(
                    PlayedMove(
                        agent=agents[black if is_black else white],
                        ply=ply,
                        line=position.to_obf(),
                        move=move,
                        points=points if is_black else 1 - points,
                        microseconds=time,
                        depth=turn.depth,
                    )
                )
        for begin in range(0, len(moves), _MOVES):
            yield LateGame(rules.name, number, text, moves[begin : begin + _MOVES])

    def work(self, context: WorkerContext, piece: LateGame[PlayedMove]) -> Tables:
        judge, rules = self._judge(), ruleset(piece.ruleset)
        rows = []
        for move in piece.moves:
            position = Position.from_obf(move.line, rules)
            rows.append(
                {
                    "game": piece.game,
                    "opening": piece.opening,
                    "agent": move.agent,
                    "result": result_for(move.points),
                    "ply": move.ply,
                    "empties": position.empties,
                    **judge.judged(position, move.move),
                    "microseconds": move.microseconds,
                    "depth": move.depth,
                }
            )
        return {"moves": rows}

    def conclude(self, plan: Plan, tables: Mapping[str, pd.DataFrame]) -> Conclusion:
        moves, run = tables["moves"], self.judged_run(plan)
        names = {name: marked(name, bool(run.selective.get(name))) for name in run.agents}
        moves["agent"] = moves["agent"].map(names)
        agents, seed = list(names.values()), plan.settings.seed
        profile = loss_profile(moves, agents, self.band, seed)
        gaps = difference_profile(moves, agents, self.band, seed)
        games = moves["game"].nunique()
        sample = f"{counted(len(moves), 'move')} of {counted(games, 'game')}"
        findings = [*_findings(profile, gaps, agents, games)]
        findings += few_openings_warning(moves["opening"].nunique())
        return Conclusion(
            findings=findings,
            tables=[
                _by_ply(profile, gaps, agents),
                _by_result(profile, agents),
                *worst_moves(moves, "+.1f"),
            ],
            frames={"losses": profile, "differences": gaps, "moves": moves},
            figures=drawn_by("losses:loss_figures", profile, sample, _exact_from(moves)),
            notes=[self._note(moves)],
            agents=run.agents,
            details=run.details,
        )

    def _note(self, moves: pd.DataFrame) -> str:
        return _NOTE.format(
            depth=self.depth,
            shallower=self.depth - 1,
            evaluation=self._evaluation().name,
            exact=self.exact,
            share=f"{100 * moves['exact'].mean():.0f}",
        )


_NOTE = """\
The loss of a move is the best value of all legal moves less the value of the move played, in discs,
to its mover. With {exact} or fewer empty squares ({share} % of the moves) both are exact, by the
endgame solver. Before that each legal move gets the mean of two searches, {depth} and {shallower}
plies from the position before it, by the evaluation {evaluation}, with no selective technique:
values of even and odd depths differ systematically. One search judges all moves of a position, so
no loss is negative. Its errors make some moves look best that are not; hence searched losses are a
little too large, for both agents alike, and the difference of the two is the fair figure. A search
also overlooks losses that the solver sees, so losses seem to rise where the solver begins: compare
the agents within a band. A judge with the evaluation of one agent alone may favour that agent.
Forced moves are left out. Intervals are 95 %, from a bootstrap over openings; each band of plies
has one of its own, so of twenty bands one shows a difference by chance. *Plies ahead* are those
that an agent stated: of a solved position, to the end of the game."""


def _findings(
    profile: pd.DataFrame, gaps: pd.DataFrame, agents: Sequence[str], games: int
) -> Iterator[str]:
    whole = gaps[gaps["plies"] == ALL].to_dict("records")[0]
    total = {
        row["agent"]: row
        for row in profile.to_dict("records")
        if (row["result"], row["plies"]) == (ALL, ALL)
    }
    ahead = 0 if whole["difference"] >= 0 else 1
    loser, other = agents[ahead], agents[1 - ahead]
    gap = _gap(whole, ahead)
    unsure = "" if gap.low > 0 else " So these two may be alike."
    yield (
        f"In {counted(games, 'game')} {loser} gives away "
        f"{mean_of(total[loser], 'loss_game').text(1)} discs a game and {other} "
        f"{mean_of(total[other], 'loss_game').text(1)}: {gap.text(1)} more.{unsure}"
    )
    bands = gaps[gaps["plies"] != ALL].to_dict("records")
    for side, name, rival in ((ahead, loser, other), (1 - ahead, other, loser)):
        sure = [row for row in bands if _gap(row, side).low > 0]
        if sure:
            row = max(sure, key=lambda row: _gap(row, side).value)
            yield (
                f"{name} loses most to {rival} at plies {_span(row['plies'])}: "
                f"{_gap(row, side).text(1)} discs a game more.{_depths(profile, row, name, rival)}"
            )
    if not any(_gap(row, side).low > 0 for row in bands for side in (0, 1)):
        yield "In no band of plies is the difference of the two clear of chance."
    for name in agents:
        if (bands_lost := _worst_band(profile, name, "lost")) is not None:
            lost, worst = bands_lost
            yield (
                f"In the {counted(lost['games'], 'game')} that {name} lost, it gives away "
                f"{mean_of(lost, 'loss_game').text(1)} discs a game, most of them at plies "
                f"{_span(worst['plies'])}: {mean_of(worst, 'loss_game').text(1)}."
            )


def _depths(profile: pd.DataFrame, band: Mapping[str, Any], name: str, rival: str) -> str:
    """Return a sentence on how far both agents look ahead in a band; "" if one states no depth."""
    rows = profile[(profile["result"] == ALL) & (profile["plies"] == band["plies"])]
    depth = rows.set_index("agent")["depth"].reindex([name, rival])
    if depth.isna().any():
        return ""
    return (
        f" There it looks {depth[name]:.1f} plies ahead on average, its opponent "
        f"{depth[rival]:.1f}."
    )


def _gap(row: Mapping[str, Any], side: int) -> Mean:
    """Return how much more the agent at this place gives away than the other one, a game."""
    mean = mean_of(row, "difference")
    return mean if side == 0 else Mean(0 - mean.value, 0 - mean.high, 0 - mean.low)


def _span(plies: str) -> str:
    return plies.replace("-", " to ")


def _by_ply(profile: pd.DataFrame, gaps: pd.DataFrame, agents: Sequence[str]) -> ResultTable:
    rows = []
    whole = profile[profile["result"] == ALL].set_index(["plies", "agent"])
    for gap in gaps.to_dict("records"):
        for side, name in enumerate(agents):
            row = whole.loc[gap["plies"], name].to_dict()
            rows.append(
                [
                    _span(gap["plies"]),
                    name,
                    f"{row['moves']:,}",
                    mean_of(row, "loss_move").text(),
                    mean_of(row, "loss_game").text(1),
                    _gap(gap, side).text(1),
                    time_text(row["microseconds"]),
                    "-" if math.isnan(row["depth"]) else f"{row['depth']:.1f}",
                ]
            )
    columns = ["plies", "agent", "moves", "discs lost a move [95 %]", "a game [95 %]"]
    columns += ["more than the other [95 %]", "time a move", "plies ahead"]
    note = (
        "*A game*: mean discs given away in the games' moves at these plies. Time and plies ahead "
        "are means of the same moves."
    )
    return ResultTable("Discs given away", columns, rows, words=(0, 1), note=note)


def _by_result(profile: pd.DataFrame, agents: Sequence[str]) -> ResultTable:
    rows = []
    for name in agents:
        for result in RESULTS:
            if (extremes := _worst_band(profile, name, result)) is not None:
                whole, worst = extremes
                rows.append(
                    [
                        name,
                        result,
                        f"{whole['games']:,}",
                        mean_of(whole, "loss_game").text(1),
                        _span(worst["plies"]),
                        mean_of(worst, "loss_game").text(1),
                    ]
                )
    columns = ["agent", "result", "games", "discs lost a game [95 %]", "most at plies", "there"]
    note = "In the games that the agent won, drew and lost. `losses.csv` has all bands."
    return ResultTable("Discs given away by result", columns, rows, words=(0, 1, 4), note=note)


def _worst_band(
    profile: pd.DataFrame, name: str, result: str
) -> tuple[Mapping[str, Any], Mapping[str, Any]] | None:
    """Return the rows of all plies and of the costliest band in games with a result, if any."""
    rows = profile[(profile["agent"] == name) & (profile["result"] == result)].to_dict("records")
    bands = [row for row in rows if row["plies"] != ALL]
    if not bands:
        return None
    return rows[-1], max(bands, key=lambda row: row["loss_game"])


def _exact_from(moves: pd.DataFrame) -> int | None:
    solved = moves.loc[moves["exact"].astype(bool), "ply"]
    return None if solved.empty else int(solved.min())


_TABLE_MB = 16
LEAST_DEPTH = 3
"""Plies; after a move, the shallower of two searches has one left."""


class NeutralJudge:
    """Values of moves in discs, to the mover.

    The search is PVS with a table, and with no selective technique, so its values are minimax's.
    Even and odd depths differ by one to two discs; therefore a move's value is the mean of two
    searches, ``depth`` and ``depth - 1`` plies from the position before it.
    """

    def __init__(self, evaluation: Evaluation, depth: int, per_disc: int, empties: int) -> None:
        """per_disc: units of the evaluation that stand for one disc. empties: the largest number of
        empty squares of a position that the solver judges instead."""
        self._search = PVS(
            depth,
            evaluation,
            ordering="tt+mobility+history",
            table_mb=_TABLE_MB,
            etc=True,
            iterative=True,
        )
        self._solver = EndgameSolver(_TABLE_MB)
        self.per_disc, self.empties = per_disc, empties

    def prepare(self, announce: Announce | None = None) -> None:
        """Compile search and solver."""
        self._search.prepare(announce)
        self._solver.prepare(announce)

    def judged(self, position: Position, move: int) -> dict[str, Any]:
        """Compare a move with the best one: ``position`` (OBF); ``move`` and ``best``, names of
        squares; ``score``, the best value; ``loss``, the best value less the move's, at least 0;
        ``is_best``; ``exact``, true if the solver judged."""
        if position.empties <= self.empties:
            row = judged(position, move, self._solver)
            return {**{key: row[key] for key in row if key != "turning"}, "exact": True}
        values = self.values(position)
        best = max(values, key=values.__getitem__)
        loss = values[best] - values[move]
        return {
            "position": position.to_obf(),
            "move": square_name(move),
            "best": square_name(best),
            "score": values[best],
            "loss": loss,
            "is_best": loss == 0,
            "exact": False,
        }

    def values(self, position: Position) -> dict[int, float]:
        """Return the searched value of each legal move."""
        after = {move: position.play(move) for move in position.moves}
        totals = dict.fromkeys(after, 0.0)
        keep = False
        # All moves at one depth before the next: what the table holds is then never of a deeper
        # search than the one that asks, which would be of the other parity.
        for plies in (self._search.depth - 2, self._search.depth - 1):
            for move, reply in after.items():
                totals[move] -= self._value(reply, plies, keep) / 2
                keep = True
        return totals

    def _value(self, position: Position, plies: int, keep: bool) -> float:
        """Return the value of a position to its mover. keep: use what the table holds."""
        if position.is_over:
            return float(position.disc_difference)
        value = self._search.search(position, plies, keep=keep).value
        assert value is not None  # nothing limits the search
        return value / (FINAL_UNIT if abs(value) >= FINAL_UNIT else self.per_disc)
