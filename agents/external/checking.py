"""Named checks of a program's protocol: how they are made, one after another, and what is found."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from othello_lab.agents.external.program import Program
from othello_lab.core.game import PlayerFailure

OK, FAILED, NOT_ASKED = "ok", "failed", "not asked"


@dataclass(frozen=True)
class Exchange:
    """What was sent, and what the engine answered."""

    sent: str
    answered: str

    def __str__(self) -> str:
        lines = self.answered.splitlines() or [""]
        return "\n".join([f"> {self.sent}", *(f"< {line}" for line in lines)])


@dataclass(frozen=True)
class EngineFinding:
    """What a check has found. name, asked: of the check. outcome: OK, FAILED or NOT_ASKED. detail:
    why it is not OK. exchanges: what was said."""

    name: str
    asked: str
    outcome: str
    detail: str
    exchanges: tuple[Exchange, ...]


@dataclass(frozen=True)
class EngineCheck:
    """Something that is asked of an engine.

    name, asked: in one word, and in a sentence. run: called with the case; raises Broken. needed:
    whether nothing more is to be asked where it fails.
    """

    name: str
    asked: str
    run: Callable[[Any], None]
    needed: bool = False


class ProtocolViolation(Exception):
    """The engine does not do what it should."""


class NotApplicable(Exception):
    """It does not know what it need not know."""


@dataclass
class EngineUnderTest:
    """An engine under examination. patience: seconds for an answer; think: the same for a move.
    said: in the check under way."""

    program: Program
    patience: float
    think: float
    said: list[Exchange] = field(default_factory=list)

    def begin(self) -> None:
        """A check begins: the program is started, if it is not running. Raises Fault."""
        self.said = []
        if not self.program.is_running:
            self.program.start()
            self.greet()

    def greet(self) -> None:
        """The program has just been started."""


def findings(case: EngineUnderTest, checks: Sequence[EngineCheck]) -> Iterator[EngineFinding]:
    """What checks find, each as it is made. After one in which the program has hung or died it is
    started again for the next."""
    useless = ""
    try:
        for each in checks:
            if useless:
                yield EngineFinding(each.name, each.asked, NOT_ASKED, useless, ())
                continue
            outcome, detail = _made(each, case)
            if outcome == FAILED and each.needed:
                useless = f"see {each.name}"
            yield EngineFinding(each.name, each.asked, outcome, detail, tuple(case.said))
    finally:
        case.program.kill()


def _made(check: EngineCheck, case: EngineUnderTest) -> tuple[str, str]:
    """The outcome of a check, and why it is that."""
    try:
        case.begin()
        check.run(case)
    except NotApplicable as reason:
        return NOT_ASKED, str(reason)
    except (ProtocolViolation, ValueError) as broken:  # what cannot be read is a ValueError
        return FAILED, str(broken)
    except PlayerFailure as fault:
        case.program.kill()
        return FAILED, f"{fault.reason}: {fault.detail}"
    return OK, ""
