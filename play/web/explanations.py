"""Explanations of an agent's moves, as plain data for the page: values of moves, the terms of an
evaluation, the value over a game, and the tree of a search.

Each function answers a question to the compute process: for a game, up to the present place, with
options that :mod:`play.web.messages` has checked. All raise ConfigError, ValueError and
AgentFailure.
"""

from __future__ import annotations

import itertools
import math
import time
from collections import defaultdict
from collections.abc import Container, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from othello_lab.agents.agent import Decision, Limits
from othello_lab.agents.config import build
from othello_lab.agents.evaluation.evaluation import FINAL_UNIT, Evaluation
from othello_lab.agents.evaluation.terms import EvaluationTerms, worth, worth_of_moves
from othello_lab.agents.search import SearchAgent, WindowSearch
from othello_lab.agents.search.window.plain import INFINITY
from othello_lab.core import bitboard
from othello_lab.core.notation import square_name
from othello_lab.core.position import Position
from othello_lab.core.rules import Color
from othello_lab.core.system.settings import ConfigError
from othello_lab.play.agent_process import AgentProcesses
from othello_lab.play.config import PlayerSettings
from othello_lab.play.game import GameState
from othello_lab.play.game_files import described, value_of_a_disc
from othello_lab.play.hints import hints
from othello_lab.play.search_tree import Cutoff, OrderingLook, TracedNode, watched
from othello_lab.play.web.game_data import player_from
from othello_lab.play.web.twin_code import twin_code

Data = dict[str, Any]

MOST_NODES = 30_000
"""A larger tree is not sent."""
MOST_COUNTED = 20_000_000
"""So many nodes are counted, to say how much too large a tree is."""
_USE = "tree"
_TIMES = 3  # that a search is timed; the first finds nothing in the processor's caches


# ---------------------------------------------------------------------- values


def values(thinkers: AgentProcesses, game: GameState, options: Mapping[str, Any]) -> Data:
    """Return each legal move's value to the side that makes it, the best first. options:
    ``player``, the source of the values."""
    who = player_from(options["player"])
    if game.position.is_over:
        raise ConfigError("the game is over; there are no moves")
    moves = game.position.moves
    results = hints(thinkers, who, game, len(moves) + 1) if moves else []
    return {
        "by": described(who),
        "to_move": game.position.to_move.value,
        "moves": [
            {
                "move": square_name(result.move),
                "value": result.value,
                "line": _names(result.line),
                "nodes": result.nodes,
                "seconds": result.seconds,
            }
            for result in results
        ],
    }


# ---------------------------------------------------------------------- parts


def parts(thinkers: AgentProcesses, game: GameState, options: Mapping[str, Any]) -> Data:
    """Return a heuristic's value of the position and of the position after each move, with the
    terms of the sum, as ``othello-lab agents evaluate`` shows it. options: ``evaluation``, its
    settings."""
    position, side = game.position, game.position.ruleset.side
    evaluation: Evaluation = build(options["evaluation"], "evaluation", Evaluation)
    if side not in evaluation.sides:
        raise ConfigError(f"{evaluation.name} is not made for a board of {side}x{side}")
    evaluation.prepare()
    return {
        "evaluation": evaluation.name,
        "to_move": position.to_move.value,
        "now": _worth_data(worth(evaluation, position)),
        "moves": [
            {"move": square_name(move), **_worth_data(theirs, sign=-1)}
            for move, theirs in worth_of_moves(evaluation, position)
        ],
    }


def _worth_data(worth: EvaluationTerms, sign: int = 1) -> Data:
    """sign: -1 if the position is the opponent's, and the value is to be to the mover. The terms
    stay as they are."""
    terms = [{"name": name, "value": value} for name, value in worth.parts.items()]
    return {"value": sign * worth.as_value, "parts": terms}


# ---------------------------------------------------------------------- the value over the game


def course(thinkers: AgentProcesses, game: GameState, options: Mapping[str, Any]) -> Data:
    """Return an agent's value of every position of a game, to Black; the first is the start.
    options: ``player``, the agent."""
    who = player_from(options["player"])
    points: list[Data] = []
    for position in (game.start, *(turn.after for turn in game.turns)):
        point: Data = {"value": None, "nodes": 0, "seconds": 0.0}
        if position.is_over:
            point["value"] = _to_black(position.disc_difference * FINAL_UNIT, position)
        elif position.moves:
            (hint,) = hints(thinkers, who, GameState(position), 1)
            point["value"] = _to_black(hint.value, position)
            point |= {"nodes": hint.nodes, "seconds": hint.seconds}
        points.append(point)
    for point, after in itertools.pairwise(points):
        if point["value"] is None:  # a pass changes nothing
            point["value"] = after["value"]
    return {"by": described(who), "per_disc": value_of_a_disc(who), "points": points}


def _to_black(value: float | None, position: Position) -> float | None:
    if value is None or position.to_move is Color.BLACK:
        return value
    return -value


# ---------------------------------------------------------------------- the tree


def tree(thinkers: AgentProcesses, game: GameState, options: Mapping[str, Any]) -> Data:
    """Return the whole tree of a search, in the order of the search, with the counts of the
    compiled search. options: ``player``, the agent; its own depth is used.

    ``board``: the position in OBF, without the side ``to_move``. ``nodes``: columns of the same
    length, the root first, then the nodes as they were entered:

    - ``move``; ``ply``; ``flips``, the discs it turns (``d4e5``);
    - ``alpha`` and ``beta``, the window of the move, null if it is open, and ``value``, all to
      the side that makes the move (the root's: to the side to move);
    - ``kind``, a letter each: ``e`` evaluated, ``g`` game over, ``=`` an exact value, ``<`` or
      ``>`` a bound.

    By the node's number: ``looks``, the positions that were evaluated to order its moves, before
    any of them was searched; ``cuts``, the moves that were left out in the end. ``line``: the nodes
    on the chosen line. ``code``: see :func:`~play.web.twin_code.twin_code`.
    """
    who = player_from(options["player"])
    position = game.position
    if position.is_over:
        raise ConfigError("the game is over; there is nothing to search")
    agent = thinkers.of(who, _USE).agent
    if not isinstance(agent, SearchAgent):
        raise ConfigError(f"{who.name} has no search tree; minimax, alphabeta and pvs have one")
    agent.reading_twin()  # which refuses what has none
    if isinstance(agent, WindowSearch) and agent.sort_leaves:
        raise ConfigError("sort_leaves: this tree is shown at the terminal alone, by debug on")
    depth = agent.depth
    counted, seconds = _counted(agent, position, depth)
    root, decision = watched(agent, position, depth)
    columns = _Columns(root.line(decision.pv))
    columns.add(root, position, "", 0)
    return {
        "by": described(who),
        "name": who.name,
        "ordering": _ordering(who),
        "depth": depth,
        "to_move": position.to_move.value,
        "board": position.to_obf().split()[0],
        "value": decision.value,
        "pv": _names(decision.pv),
        "engine": {**_counts(counted), "value": counted.value, "seconds": seconds},
        "counts": _counts(decision),
        "code": twin_code(who.name, _ordering(who)),
        **columns.data,
    }


def _ordering(who: PlayerSettings) -> str | None:
    assert who.agent is not None
    ordering = who.agent.get("ordering")
    return None if ordering is None else str(ordering)


def _counted(agent: SearchAgent, position: Position, depth: int) -> tuple[Decision, float]:
    """Return the compiled search's decision, and its seconds; ConfigError, with a cure, if its tree
    is too large to be sent."""
    seconds = math.inf
    for _ in range(_TIMES):
        started = time.perf_counter()
        decision = agent.search(position, depth, Limits(nodes=MOST_COUNTED))
        seconds = min(seconds, time.perf_counter() - started)
        if decision.stats.nodes > MOST_NODES:
            break
    nodes = decision.stats.nodes
    if nodes <= MOST_NODES:
        return decision, seconds
    fits = 0
    while fits + 1 < depth:
        shallower = agent.search(position, fits + 1, Limits(nodes=MOST_NODES + 1)).stats.nodes
        if shallower > MOST_NODES:
            break
        fits, last = fits + 1, shallower
    much = f"more than {MOST_COUNTED:,}" if nodes >= MOST_COUNTED else f"{nodes:,}"
    wording = f"depth {depth} has {much} nodes here, too many to show (at most {MOST_NODES:,})"
    if not fits:
        raise ConfigError(wording)
    raise ConfigError(f"{wording}; depth {fits} would do, with {last:,}")


def _counts(decision: Decision) -> Data:
    stats = decision.stats
    return {
        "nodes": stats.nodes,
        "leaves": stats.leaves,
        "evaluations": stats.evaluations,
        "cutoffs": stats.cutoffs,
    }


@dataclass
class _Columns:
    """A tree as columns; see :func:`tree`. on_line: the nodes on the chosen line."""

    on_line: Container[TracedNode]
    columns: dict[str, list[Any]] = field(default_factory=lambda: defaultdict(list))
    line: list[int] = field(default_factory=list)
    looks: dict[int, list[Any]] = field(default_factory=dict)
    cuts: dict[int, Data] = field(default_factory=dict)
    size: int = 0

    @property
    def data(self) -> Data:
        kinds = "".join(self.columns["kind"])
        return {
            "nodes": {**self.columns, "kind": kinds},
            "line": self.line,
            "looks": self.looks,
            "cuts": self.cuts,
        }

    def add(self, node: TracedNode, position: Position, flips: str, ply: int) -> None:
        """A node, and all below it. position: after the move. flips: the discs it has turned."""
        number = self.size
        self.size += 1
        if node in self.on_line:
            self.line.append(number)
        row = {
            "move": None if node.move is None else square_name(node.move),
            "ply": ply,
            "alpha": node.alpha if node.alpha > -INFINITY else None,
            "beta": node.beta if node.beta < INFINITY else None,
            "value": node.value,
            "flips": flips,
            "kind": node.end[:1] or node.bound[:1] or "=",
        }
        for name, value in row.items():
            self.columns[name].append(value)
        looks = []
        for part in node.below:
            if isinstance(part, OrderingLook):
                looks.append([square_name(part.move), part.value, part.counted])
            elif isinstance(part, Cutoff):
                self.cuts[number] = {
                    "value": part.value,
                    "beta": part.beta,
                    "moves": _names(part.unsearched),
                }
            else:
                assert part.move is not None
                after = position.play(part.move)
                turned = "".join(_names(bitboard.bits(position.opponent & after.opponent)))
                self.add(part, after, turned, ply + 1)
        if looks:
            self.looks[number] = looks


def _names(moves: Iterable[int]) -> list[str]:
    return [square_name(move) for move in moves]
