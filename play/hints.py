"""Hints of an agent: the best moves of a position, with their values."""

from __future__ import annotations

from dataclasses import dataclass, replace

from othello_lab.agents.evaluation.evaluation import FINAL_UNIT
from othello_lab.agents.search import SearchAgent, WindowSearch
from othello_lab.core.notation import PASS
from othello_lab.play.agent_process import AgentProcesses
from othello_lab.play.config import PlayerSettings
from othello_lab.play.game import GameState

_USE = "hint"


@dataclass(frozen=True)
class Hint:
    """A move. value: to the mover. line: the moves it begins. nodes, seconds: their cost."""

    move: int
    value: int | float | None
    line: tuple[int, ...]
    nodes: int = 0
    seconds: float = 0.0


def hints(
    thinkers: AgentProcesses, who: PlayerSettings, game: GameState, wanted: int
) -> list[Hint]:
    """The ``wanted`` best moves, the best first. More than one takes a search of each move. Raises
    ConfigError and AgentFailure."""
    position = game.position
    if wanted == 1:
        decision, seconds = thinkers.ask(who, GameState(position), 0, use=_USE)
        nodes = decision.stats.nodes
        return [Hint(decision.move, decision.value, decision.pv, nodes, seconds)]
    results = [_hint(thinkers, who, game, move) for move in position.moves]
    results.sort(key=lambda hint: -hint.value if hint.value is not None else 0.0)
    return results[:wanted]


def _hint(thinkers: AgentProcesses, who: PlayerSettings, game: GameState, move: int) -> Hint:
    """One move, searched as deep as the agent would from here."""
    after = game.position.play(move)
    if after.is_over:
        return Hint(move, -after.disc_difference * FINAL_UNIT, (move,))
    limits = thinkers.limits
    agent = thinkers.of(who, _USE).agent
    depth = None  # plies left after the move
    if isinstance(agent, SearchAgent):
        solves = isinstance(agent, WindowSearch) and after.empties <= agent.endgame
        depth = None if solves else min(agent.depth, limits.depth or agent.depth) - 1
    line: tuple[int, ...] = (move,)
    sign = -1
    if after.must_pass and depth != 0:
        after, line, sign = after.play(PASS), (move, PASS), 1
        depth = None if depth is None else depth - 1
    if isinstance(agent, SearchAgent) and depth == 0:
        evaluation = agent.evaluation
        seen = evaluation(after) if evaluation.compiled else evaluation.plain(after)
        return Hint(move, sign * seen, line, nodes=1)
    limits = replace(limits, depth=depth or limits.depth)
    decision, seconds = thinkers.ask(who, GameState(after), 0, limits, _USE)
    value = None if decision.value is None else sign * decision.value
    return Hint(move, value, line + decision.pv, decision.stats.nodes, seconds)
