"""A record of a run that nobody played."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from othello_lab.experiments.record.store import FORMAT, AgentRow, Record


@contextmanager
def handmade(file: Path, agents: Sequence[str]) -> Iterator[Record]:
    """Make a record with these agents and no game yet."""
    with Record.create(file) as made:
        head = {"name": "test", "format": FORMAT, "ruleset": "standard", "seed": 0, "config": {}}
        head |= {"command": "", "versions": {}, "machine": {}, "started": ""}
        made.write_row("run", head)
        made.write_agents(AgentRow.of(n, name, {}, 1, True, False) for n, name in enumerate(agents))
        yield made
