"""Run named checks of a program's protocol, one after another, and collect the findings."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import count
from typing import Any

import numpy as np

from othello_lab.agents.external.program import Program
from othello_lab.core.game import PlayerFailure
from othello_lab.core.notation import PASS
from othello_lab.core.position import Position

OK, FAILED, NOT_ASKED = "ok", "failed", "skipped"


@dataclass(frozen=True)
class Exchange:
    """A line sent to an engine, and its answer."""

    sent: str
    answered: str

    def __str__(self) -> str:
        lines = self.answered.splitlines() or [""]
        return "\n".join([f"> {self.sent}", *(f"< {line}" for line in lines)])


@dataclass(frozen=True)
class EngineFinding:
    """The outcome of one check.

    name, requirement: as in the check. outcome: OK, FAILED or NOT_ASKED. detail: the reason for any
    outcome but OK. exchanges: all lines sent during the check, with their answers.
    """

    name: str
    requirement: str
    outcome: str
    detail: str
    exchanges: tuple[Exchange, ...]


@dataclass(frozen=True)
class EngineCheck:
    """One requirement on an engine.

    name: one word. requirement: one sentence. run: called with the engine; raises
    ProtocolViolation or NotApplicable. needed: true if a failure ends the examination.
    """

    name: str
    requirement: str
    run: Callable[[Any], None]
    needed: bool = False


class ProtocolViolation(Exception):
    """The engine breaks its protocol."""


class NotApplicable(Exception):
    """The engine lacks an optional command."""


@dataclass
class EngineUnderTest:
    """An engine under examination.

    patience: seconds for an answer. think: seconds for a move. exchanges: of the present
    check.
    """

    program: Program
    patience: float
    think: float
    exchanges: list[Exchange] = field(default_factory=list)

    def begin(self) -> None:
        """Begin a check; start the program unless it runs. Raises PlayerFailure."""
        self.exchanges = []
        if not self.program.is_running:
            self.program.start()
            self.greet()

    def end(self) -> None:
        """End the program if it runs."""
        self.program.kill()

    def has_to_end(self) -> None:
        """Raise ProtocolViolation if the program does not end now."""
        if not self.program.ended_within(self.patience):
            raise ProtocolViolation(f"it is still there {self.patience:g} s after quit")

    def greet(self) -> None:
        """Prepare a program that has just started."""


def random_game(seed: int) -> list[int]:
    """Return the moves of a random game, passes included."""
    position, rng, moves = Position.start(), np.random.default_rng(seed), []
    while not position.is_over:
        moves.append(int(rng.choice(position.moves or (PASS,))))
        position = position.play(moves[-1])
    return moves


def line_to_a_pass() -> list[int]:
    """Return the moves from the start to a position without a move."""
    moves = next(game for game in map(random_game, count()) if PASS in game)
    return moves[: moves.index(PASS)]


def findings(case: Any, checks: Sequence[EngineCheck]) -> Iterator[EngineFinding]:
    """Run checks of a program one by one and yield each finding.

    case: the program, with ``begin()``, ``end()`` and ``exchanges``, those of the present check.
    If the program hangs or dies in a check, it is started again for the next one.
    """
    reason_to_skip = ""
    try:
        for check in checks:
            if reason_to_skip:
                yield EngineFinding(check.name, check.requirement, NOT_ASKED, reason_to_skip, ())
                continue
            outcome, detail = _run_check(check, case)
            if outcome == FAILED and check.needed:
                reason_to_skip = f"see {check.name}"
            yield EngineFinding(
                check.name, check.requirement, outcome, detail, tuple(case.exchanges)
            )
    finally:
        case.end()


def judged(case: Any, play: Callable[[], str]) -> tuple[bool, str]:
    """Start a program anew and play with it.

    play: plays, and returns the settings. Returns True and these, or False and the reason.
    """
    case.end()
    try:
        case.begin()
        return True, play()
    except (ProtocolViolation, ValueError) as error:
        return False, str(error)
    except PlayerFailure as fault:
        return False, f"{fault.reason}: {fault.detail}"
    finally:
        case.end()


def _run_check(check: EngineCheck, case: Any) -> tuple[str, str]:
    """Run one check and return its outcome with the reason."""
    try:
        case.begin()
        check.run(case)
    except NotApplicable as reason:
        return NOT_ASKED, str(reason)
    except (ProtocolViolation, ValueError) as error:  # an unreadable answer is a ValueError
        return FAILED, str(error)
    except PlayerFailure as fault:
        case.end()
        return FAILED, f"{fault.reason}: {fault.detail}"
    return OK, ""
