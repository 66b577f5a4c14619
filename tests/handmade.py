"""Records of runs that nobody played."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from othello_lab.experiments.config import read
from othello_lab.experiments.record.store import (
    FORMAT,
    RUN,
    AgentRow,
    GameRow,
    PlayedGame,
    Record,
    seat_totals,
)
from othello_lab.experiments.record.turns import MoveRow, written
from othello_lab.experiments.report.facts import RunFacts

Pair = tuple[int, int, int | str, int | str]
"""The agents with Black and White in its first game, by number, and both results as the first agent
sees them: discs, or the kind of forfeit by which it lost."""


@contextmanager
def handmade(file: Path, agents: Sequence[str]) -> Iterator[Record]:
    """Make a record with these agents and no game yet."""
    with Record.create(file) as made:
        head = {"kind": RUN, "name": "test", "format": FORMAT, "ruleset": "standard", "seed": 0}
        head |= {"command": "", "config": {}, "versions": {}, "machine": {}, "started": ""}
        head |= {"complete": False}
        made.write_row("job", head)
        made.write_agents(AgentRow.of(n, name, {}, 1, True, False) for n, name in enumerate(agents))
        yield made


@contextmanager
def handmade_run(
    file: Path,
    words: str,
    pairs: Iterable[Pair],
    nodes: Mapping[int, int] | None = None,
    times: Mapping[int, int] | None = None,
    openings: int = 1000,
    alike: bool = False,
    spread: int = 1,
) -> Iterator[RunFacts]:
    """Make a run with the settings of a command and these pairs, and give its facts.

    nodes: of each move of an agent, by number; others count none. times: its microseconds, 10 if
    not given. openings: so many pairs have an opening of their own, the others begin anew. alike:
    the two games of a pair are the same. spread: nodes differ from pair to pair by this factor.
    """
    plan = read([*words.split(), "executor=serial", "figures=none"])
    with handmade(file, plan.names) as made:
        rows = []
        for number, (first, second, *results) in enumerate(pairs):
            for index, result in enumerate(results):
                game, seats = 2 * number + index, (second, first) if index else (first, second)
                discs = None if isinstance(result, str) else result * (1 - 2 * index)
                points = index if discs is None else 0.5 + 0.5 * (discs > 0) - 0.5 * (discs < 0)
                name = {0: "white", 0.5: "draw", 1: "black"}[points]
                turns = [
                    MoveRow(
                        *(game, 3 + seat, agent, 19, None, 4),
                        *[1000 * (times or {}).get(agent, 10)] * 2,
                        nodes=(nodes or {}).get(agent, 0) * (1 + number % spread),
                        **{"evaluations": 0, "late": 0, "waited_nanoseconds": 0},
                    )
                    for seat, agent in enumerate(seats)
                ]
                outcome = name, points, discs, 0, 0, result if discs is None else "finished"
                text = f"opening {number % openings}", 0, f"{number}" if alike else f"{game}", ""
                totals = [total for part in seat_totals(turns, seats) for total in part]
                row = GameRow(game, number, *seats, *outcome, *text, *totals)
                rows.append(PlayedGame(row, written(game, seats[0], turns)))
        made.write_games(rows)
        yield RunFacts(made, plan)
