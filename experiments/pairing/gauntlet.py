"""One agent meets each of the others."""

from __future__ import annotations

from collections.abc import Sequence

from othello_lab.core.system.settings import unknown_choice
from othello_lab.experiments.pairing.schedule import Pairing, PairOutcomes, Schedule


class Gauntlet(Schedule):
    """One agent meets each of the others; the others do not meet each other."""

    def __init__(self, champion: str | None = None) -> None:
        """champion: the name of the one; None: the first of the line-up."""
        self.champion = champion

    def check(self, names: Sequence[str]) -> None:
        if self.champion is not None and self.champion not in names:
            raise ValueError(unknown_choice("champion", self.champion, names))

    def hub(self, names: Sequence[str]) -> int:
        return 0 if self.champion is None else list(names).index(self.champion)

    def pairings(
        self, number: int, names: Sequence[str], results: PairOutcomes
    ) -> Sequence[Pairing]:
        hub = self.hub(names)
        return [(hub, other) for other in range(len(names)) if other != hub]
