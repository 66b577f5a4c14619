"""Why an agent moves as it does: its counts beside another search's, and its whole tree."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from othello_lab.agents.agent import Agent, Limits
from othello_lab.agents.search import SearchAgent
from othello_lab.core.system.files import open_to_add
from othello_lab.play.agent_process import AgentFailure, AgentProcesses
from othello_lab.play.config import PlayerSettings
from othello_lab.play.game import GameState, PlayedTurn, value_text
from othello_lab.play.terminal.screen import Screen
from othello_lab.play.terminal.trace import MOST_LINES, traced


@dataclass
class TraceOptions:
    """Options of the tree of a search. deepest: plies of it that are shown; None for all. file: its
    file; None for the screen."""

    on: bool = False
    deepest: int | None = None
    file: Path | None = None


def compare(
    screen: Screen,
    thinkers: AgentProcesses,
    rival: PlayerSettings,
    game: GameState,
    turn: PlayedTurn,
    seed: int,
) -> None:
    """Let another agent search the position of a move that is about to be made, and show the counts
    of both."""
    assert turn.decision is not None
    try:
        decision, seconds = thinkers.ask(rival, game, seed)
    except AgentFailure as trouble:
        screen.say(f"  no comparison with {rival.name}: {trouble}")
        return
    except KeyboardInterrupt:
        screen.say(f"  no comparison with {rival.name}: it was stopped")
        return
    rows = [(turn.by.split()[0], turn.decision, turn.seconds), (rival.name, decision, seconds)]
    headings = ("states", 13), ("evaluations", 14), ("cutoffs", 11), ("s", 9), ("value", 9)
    screen.say(f"  {'the same position':<18}" + "".join(f"{n:>{wide}}" for n, wide in headings))
    for name, decided, took in rows:
        stats = decided.stats
        screen.say(
            f"  {name:<18}{stats.nodes:>13,}{stats.evaluations:>14,}{stats.cutoffs:>11,}"
            f"{took:>9.3f}{value_text(decided.value):>9}"
        )
    less, more = sorted((decided.stats.nodes, name) for name, decided, _ in rows)
    if 0 < less[0] < more[0]:
        share = 100 * less[0] / more[0]
        screen.say(f"  {less[1]} examined {share:.1f} % of the states of {more[1]}.")


def show_tree(
    screen: Screen, limits: Limits, agent: Agent, turn: PlayedTurn, options: TraceOptions
) -> None:
    """Show the tree of the search behind a move, or say why there is none."""
    assert turn.decision is not None
    try:
        if not isinstance(agent, SearchAgent):
            raise ValueError(f"{turn.by} shows no search tree; agent alphabeta does")
        if limits.nodes or limits.timed:
            raise ValueError("a search with a limit on nodes or time has none")
        nodes = turn.decision.stats.nodes
        if nodes > MOST_LINES and options.deepest is None:
            raise ValueError(
                f"it would have {nodes:,} lines; debug depth 2 shows its top, depth N searches less"
            )
        if nodes > MOST_LINES:
            screen.say("  debug: searching again in plain Python, which takes a while ...")
        depth = min(agent.depth, limits.depth or agent.depth)
        _write_tree(screen, agent, depth, turn, options)
    except (ValueError, OSError) as error:
        screen.say(f"  debug: no tree: {error}")
    except KeyboardInterrupt:
        screen.say("  debug: no tree: stopped")


def _write_tree(
    screen: Screen, agent: SearchAgent, depth: int, turn: PlayedTurn, options: TraceOptions
) -> None:
    lines = traced(agent, turn.before, depth, options.deepest)
    if options.file is None:
        screen.page(lines)
        return
    head = f"{turn.color.value.capitalize()}, {turn.by}: {turn.before.to_obf()}"
    with open_to_add(options.file) as file:
        file.writelines(f"{line}\n".encode() for line in (head, *lines))
    screen.say(f"  debug: the tree is in {options.file}")
