"""Positions in which the two agents of a match moved differently, judged by a deeper search."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from othello_lab.agents.composing import load
from othello_lab.agents.config import build_agent
from othello_lab.agents.evaluation import FINAL_UNIT
from othello_lab.agents.learned.patterns import UNIT
from othello_lab.agents.search import SearchAgent, WindowSearch
from othello_lab.core.game import Limits
from othello_lab.core.notation import PASS, square_name
from othello_lab.core.position import Position
from othello_lab.core.rules import ruleset
from othello_lab.core.system.compile import Announce
from othello_lab.experiments.record.store import Record
from othello_lab.experiments.report.late_moves import moves_of_game
from othello_lab.experiments.statistics.means import Mean, mean_interval

if TYPE_CHECKING:
    import pandas as pd

JUDGE = "champion"
"""The agent of ``conf/agent`` that judges, at a depth of its own."""
SIDE = 8
"""The board that it judges on, squares a side."""
MOST_GAMES = 400
"""Games that are searched for such positions."""
_PURPOSE = 7  # keeps random numbers apart


class MoveChoice(NamedTuple):
    """A move that an agent chose in a game."""

    move: int
    game: int
    opening: str


class Judge:
    """A deep search that values moves in discs."""

    def __init__(self, depth: int) -> None:
        """depth: plies that it looks ahead."""
        agent = build_agent(load("agent", JUDGE) | {"depth": depth}, "judge")
        assert isinstance(agent, WindowSearch)
        self._agent = agent

    def prepare(self, announce: Announce | None = None) -> None:
        """Compile the search."""
        self._agent.prepare(announce)

    def value(self, position: Position, move: int) -> float:
        """Return the disc difference that it expects for the mover after a move."""
        after, sign = position.play(move), -1
        if after.must_pass:
            after, sign = after.play(PASS), 1
        if after.is_over:
            return float(sign * after.disc_difference)
        self._agent.begin_game(after.to_move, after, 0)
        value = self._agent.decide(after, Limits()).value
        assert value is not None
        return sign * value / (FINAL_UNIT if abs(value) >= FINAL_UNIT else UNIT)


def judges_alike(agent: SearchAgent) -> bool:
    """Return True if an agent has the judge's evaluation, which may then favour its moves."""
    expected = load("agent", JUDGE)["evaluation"]
    evaluation = agent.evaluation
    same = type(evaluation).__name__ == expected["_target_"].rpartition(".")[2]
    return same and getattr(evaluation, "weights", None) == expected["weights"]


def disagreements(record: Record, most: int, seed: int, depth: int) -> pd.DataFrame:
    """Return positions in a match with different moves of the two agents, the largest difference
    first; none unless the board is 8x8 and there are two agents.

    most: the most positions, drawn with ``seed``. depth: plies that the judge looks ahead.

    Columns: position (OBF), ply (discs on the board less 3), opening, gap (the value of the first
    agent's move less that of the second's), and of each agent by its name, "move of iago" (a
    square), "game of iago" and "value of iago" (in discs, to the mover).
    """
    import pandas as pd

    rules, judge = ruleset(record.head()["ruleset"]), Judge(depth)
    names = record.agents()["name"].tolist()
    columns = ["position", "ply", "opening", "gap"]
    columns += [f"{what} of {name}" for what in ("move", "game", "value") for name in names]
    rows: list[list[Any]] = []
    if rules.side == SIDE and len(names) == 2:
        differing = sorted(_differing(record, seed), key=lambda item: item[0].to_obf())
        chosen = np.random.default_rng([seed, _PURPOSE]).permutation(len(differing))[:most]
        for number in sorted(chosen.tolist()):
            position, choices = differing[number]
            both = [choices[agent] for agent in (0, 1)]
            values = [judge.value(position, choice.move) for choice in both]
            row = [position.to_obf(), position.discs - 3, both[0].opening, values[0] - values[1]]
            moves = (square_name(choice.move) for choice in both)
            rows.append([*row, *moves, *(choice.game for choice in both), *values])
    frame = pd.DataFrame(rows, columns=columns)
    order = frame["gap"].abs().sort_values(ascending=False, kind="stable").index
    return frame.loc[order].reset_index(drop=True)


def _differing(record: Record, seed: int) -> Iterator[tuple[Position, dict[int, MoveChoice]]]:
    """Yield positions with a choice of either agent, where the two are not the same."""
    rules = ruleset(record.head()["ruleset"])
    games = np.array([game for (game,) in record.rows("select game from games order by game")])
    pairs = np.random.default_rng([seed, _PURPOSE]).permutation(np.unique(games // 2))
    met: dict[Position, dict[int, MoveChoice]] = {}
    for number in np.isin(games // 2, pairs[: MOST_GAMES // 2]).nonzero()[0]:
        game = int(games[number])
        opening, moves = moves_of_game(record, rules, game)
        for agent, position, move in moves:
            met.setdefault(position, {}).setdefault(agent, MoveChoice(move, game, opening))
    for position, choices in met.items():
        if len({choice.move for choice in choices.values()}) > 1:
            yield position, choices


def judged_gap(frame: pd.DataFrame, seed: int = 0) -> Mean:
    """Return the mean gap: discs gained by the first agent's moves over the second's."""
    return mean_interval(frame["gap"], frame["opening"], seed)
