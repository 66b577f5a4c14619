"""Late moves of games, held to perfect play by the exact solver."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar

import numpy as np

from othello_lab.agents.search.endgame.solver import EndgameSolver
from othello_lab.core.notation import split_transcript, square_name
from othello_lab.core.position import Position
from othello_lab.core.rules import Color, Ruleset, ruleset
from othello_lab.experiments.pairing.openings import Opening
from othello_lab.experiments.record.store import Record
from othello_lab.experiments.report.tables import by_agent
from othello_lab.experiments.statistics.means import SHARE, Mean, mean_interval

if TYPE_CHECKING:
    import pandas as pd


_GAMES = 6  # keeps random numbers apart
_TABLE_MB = 16


Move = TypeVar("Move")


class LateMove(NamedTuple):
    """A move of an agent. line: the position in OBF."""

    agent: str
    line: str
    move: int


class LateGame(NamedTuple, Generic[Move]):
    """The late moves of a game, or others of its moves that are judged. game: its number."""

    ruleset: str
    game: int
    opening: str
    moves: list[Move]


class ChosenMove(NamedTuple):
    """A move that its player could choose. ply: from 1, opening and passes included."""

    ply: int
    position: Position
    move: int


ALL = "all"
"""Stands for all numbers of empty squares together."""

_SHARES = "best move % [95 %]", "turning moves % [95 %]"
ERROR_COLUMNS = ("agent", "moves", "discs lost [95 %]", *_SHARES)
"""The columns of a table of :func:`error_profile`."""


def drawn_games(record: Record, seed: int) -> list[int]:
    """Return the numbers of all games in an order drawn with ``seed``."""
    numbers = [game for (game,) in record.rows("select game from games order by game")]
    order: list[int] = np.random.default_rng([seed, _GAMES]).permutation(numbers).tolist()
    return order


def chosen_moves(
    rules: Ruleset, text: str, transcript: str, choices: int = 2
) -> Iterator[ChosenMove]:
    """Yield the moves of a game after its opening (``text``), of positions with at least so many
    legal ones: by default no forced ones."""
    opening = Opening.read(text, rules)
    position = opening.begin(rules)
    _, plies = position.follow(split_transcript(transcript))
    for ply, move in enumerate(plies, start=1):
        if ply > len(opening.moves) and len(position.moves) >= choices:
            yield ChosenMove(ply, position, move)
        position = position.play(move)


def late_games(
    record: Record, most: int | str, empties: int, seed: int
) -> list[LateGame[LateMove]]:
    """Return games with late moves, drawn with ``seed``.

    most: the most moves of each agent, from whole games; or ``all``.
    """
    rules = ruleset(record.head()["ruleset"])
    names = dict(record.rows("select agent, name from agents"))
    taken: Counter[str] = Counter()
    games = []
    for number in drawn_games(record, seed):
        game = late_game(record, rules, names, number, empties)
        if most != "all":
            wanted = {name for name in names.values() if taken[name] < int(most)}
            game = game._replace(moves=[move for move in game.moves if move.agent in wanted])
            if not wanted:
                break
        taken.update(move.agent for move in game.moves)
        if game.moves:
            games.append(game)
    return games


def late_game(
    record: Record, rules: Ruleset, names: Mapping[int, str], number: int, empties: int
) -> LateGame[LateMove]:
    """Return the moves of a game with a choice and at most this many empty squares."""
    opening, moves = moves_of_game(record, rules, number)
    late = [row for row in moves if row[1].empties <= empties]
    rows = [LateMove(names[agent], position.to_obf(), move) for agent, position, move in late]
    return LateGame(rules.name, number, opening, rows)


def moves_of_game(
    record: Record, rules: Ruleset, number: int
) -> tuple[str, list[tuple[int, Position, int]]]:
    """Return the opening of a game, and its moves with a choice: agent, position and move."""
    ((black, white, text, transcript),) = record.rows(
        "select black, white, opening, transcript from games where game = ?", [number]
    )
    agents = {Color.BLACK: black, Color.WHITE: white}
    moves = chosen_moves(rules, text, transcript)
    return text, [(agents[move.position.to_move], *move[1:]) for move in moves]


def judged(position: Position, move: int, solver: EndgameSolver) -> dict[str, Any]:
    """Compare a move with the best one: ``score``, the discs with perfect play; ``best``, a move
    that gets them; ``loss``, discs given away; ``is_best``; ``turning``, true if the move changes
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
        "turning": bool(np.sign(got) < np.sign(solution.score)),
    }


def judged_moves(game: LateGame[LateMove], solver: EndgameSolver) -> list[dict[str, Any]]:
    """Return a row for each late move of a game, see :func:`judged`."""
    rules = ruleset(game.ruleset)
    rows = []
    for late in game.moves:
        position = Position.from_obf(late.line, rules)
        columns = {"game": game.game, "opening": game.opening, "agent": late.agent}
        rows.append({**columns, "empties": position.empties, **judged(position, late.move, solver)})
    return rows


def judged_late_moves(record: Record, most: int, empties: int, seed: int) -> pd.DataFrame:
    """Return the judged late moves of a record; see :func:`late_games`."""
    import pandas as pd

    solver = EndgameSolver(_TABLE_MB)
    games = late_games(record, most, empties, seed)
    return pd.DataFrame([row for game in games for row in judged_moves(game, solver)])


def error_profile(moves: pd.DataFrame, seed: int = 0) -> pd.DataFrame:
    """Return the quality of each agent's moves, in all and by empty squares.

    moves: one row a move; columns ``agent``, ``opening``, ``empties``, ``loss``, ``is_best`` and
    ``turning``.

    One row an agent and number of ``empties`` (or ALL), the agent that loses least first. Columns:
    moves, openings; ``loss``, the mean discs lost a move, ``best_share`` and ``turning_share``,
    each with the ends of its 95 % interval, ``_low`` and ``_high``.
    """
    import pandas as pd

    measures = {
        "loss": ("loss", (0.0, np.inf)),
        "best_share": ("is_best", SHARE),
        "turning_share": ("turning", SHARE),
    }
    rows = []
    for part in (moves.assign(empties=ALL), moves.sort_values("empties", ascending=False)):
        for (agent, empties), group in part.groupby(["agent", "empties"], sort=False):
            row = {"agent": agent, "empties": empties, "moves": len(group)}
            row["openings"] = len(set(group["opening"]))
            for name, (column, within) in measures.items():
                mean = mean_interval(group[column], group["opening"], seed, within)
                row |= mean_columns(name, mean)
            rows.append(row)
    profile = pd.DataFrame(rows)
    whole = profile[profile["empties"] == ALL].sort_values("loss", kind="stable")
    return by_agent(profile, whole["agent"].tolist()).reset_index(drop=True)


def mean_columns(name: str, mean: Mean) -> dict[str, float]:
    """Return the columns of a measure with its interval."""
    return {name: mean.value, f"{name}_low": mean.low, f"{name}_high": mean.high}


def mean_of(row: Mapping[str, Any], name: str) -> Mean:
    """Return a measure of a row of :func:`error_profile`, with its interval."""
    return Mean(row[name], row[f"{name}_low"], row[f"{name}_high"])


def error_cells(rows: pd.DataFrame) -> list[list[str]]:
    """Return the cells of a table of :data:`ERROR_COLUMNS`; rows: of :func:`error_profile`."""
    return [
        [
            row["agent"],
            f"{row['moves']:,}",
            mean_of(row, "loss").text(),
            mean_of(row, "best_share").text(0, 100),
            mean_of(row, "turning_share").text(1, 100),
        ]
        for row in rows.to_dict("records")
    ]


def costliest(moves: pd.DataFrame, count: int) -> pd.DataFrame:
    """Return up to this many moves with the largest loss, each position once."""
    costly = moves[moves["loss"] > 0].sort_values("loss", ascending=False, kind="stable")
    return costly.drop_duplicates("position").head(count)
