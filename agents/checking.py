"""Checks of an agent or a program: the runner that all kinds of checks share, and its findings."""

from __future__ import annotations

import json
import math
import os
import textwrap
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import Any

from othello_lab.core.system.confinement import ConfinedProcess, Confinement
from othello_lab.core.system.forked import Channel
from othello_lab.core.system.processes import end_descendants

OK, FAILED, NOT_ASKED = "ok", "failed", "skipped"
_MOST = 12  # exchanges shown of a failed check
_MOST_BYTES = 1 << 24  # of an item of another process
_OPEN = Confinement()


class Violation(Exception):
    """The reason why a check has failed. Its class or the check may end the examination."""


class NoAnswer(Violation):
    """What is examined hangs, so nothing more is asked."""


class NotApplicable(Exception):
    """The reason why a check is skipped, such as an optional command that an engine lacks."""


@dataclass(frozen=True)
class Check:
    """One requirement.

    name: one or two words. asked: the requirement, a sentence. run: called with what is examined;
    raises Violation or NotApplicable. needed: true if a failure ends the examination. twice: true
    for a check of an agent whose answers in two processes have to be equal.
    """

    name: str
    asked: str
    run: Callable[..., Any]
    needed: bool = False
    twice: bool = False


def named_check(name: str, asked: str, **options: bool) -> Callable[[Callable[..., Any]], Check]:
    """Make a check of a method; for the arguments see :class:`Check`."""
    return lambda method: Check(name, asked, method, **options)


def checks_of(kind: type) -> tuple[Check, ...]:
    """Return the checks that a class declares, in their order there."""
    return tuple(thing for thing in vars(kind).values() if isinstance(thing, Check))


def indented(line: str) -> str:
    """Return a line with its words wrapped below a finding."""
    return textwrap.fill(line, 78, initial_indent="    ", subsequent_indent="    ")


@dataclass(frozen=True)
class Finding:
    """The outcome of one check.

    name: of the check. asked: the requirement, a sentence. outcome: OK, FAILED or NOT_ASKED.
    detail: the reason for any outcome but OK; after a failure the answer and the position as a
    board. After OK it may have a remark.

    ``str`` gives one line, and after a failure the detail in further lines.
    """

    name: str
    asked: str
    outcome: str
    detail: str = ""

    def __str__(self) -> str:
        detail = self.detail.splitlines() if self.outcome == FAILED else []
        return "\n".join([self.line(9), *map(indented, detail)])

    def line(self, width: int) -> str:
        """Return name, outcome, and requirement or reason. width: of the name."""
        text = self.detail if self.outcome == NOT_ASKED else self.asked
        return f"{self.name:<{width}}  {self.outcome:<9}  {text}"


@dataclass(frozen=True)
class ProgramFinding(Finding):
    """The outcome of one check of a program.

    exchanges: all lines sent during the check, with their answers.
    """

    exchanges: Sequence[str] = ()

    def text(self, everything: bool = False) -> str:
        """Return the line; below a failed check stand the reason and the last exchanges.

        everything: below every check stand all exchanges.
        """
        has_failed = self.outcome == FAILED
        shown = self.exchanges if everything else self.exchanges[-_MOST:] if has_failed else ()
        lines = [self.line(10)]
        lines += [textwrap.indent(self.detail, "    ")] if has_failed else []
        return "\n".join([*lines, *(textwrap.indent(exchange, "      ") for exchange in shown)])


def run_checks(case: Any, checks: Sequence[Check]) -> Iterator[ProgramFinding]:
    """Run checks one by one and yield each finding.

    case: what is examined. ``case.run(check)`` runs one check, and returns a remark or nothing.
    ``case.exchanges`` are the lines sent in it. ``case.end()`` is called last. The remaining checks
    are skipped after a failure of a needed check, and if nothing answers.
    """
    reason_to_skip = ""
    try:
        for check in checks:
            outcome, detail, case.exchanges = OK, "", []
            try:
                if reason_to_skip:
                    raise NotApplicable(reason_to_skip)
                detail = case.run(check) or ""
            except NotApplicable as reason:
                outcome, detail = NOT_ASKED, str(reason)
            except (Violation, ValueError) as error:  # an unreadable answer is a ValueError
                outcome, detail = FAILED, str(error)
                if isinstance(error, NoAnswer):
                    reason_to_skip = f"it hangs: see {check.name}"
                elif check.needed:
                    reason_to_skip = f"see {check.name}"
            yield ProgramFinding(check.name, check.asked, outcome, detail, tuple(case.exchanges))
    finally:
        case.end()


# ------------------------------------------------------------------ in another process


class Interrupted(Exception):
    """The reason why a process has said nothing more."""


def items_apart(
    main: Callable[..., Iterator[Any]],
    *arguments: Any,
    patience: float = math.inf,
    confinement: Confinement = _OPEN,
) -> Iterator[Any]:
    """Yield the items of ``main(*arguments)``, plain data, which runs in a process of its own.

    patience: seconds for each. The process's output is hidden. Raises Interrupted if it hangs or
    dies.
    """
    silent = os.open(os.devnull, os.O_WRONLY)
    try:
        process = ConfinedProcess(
            _send_all, main, arguments, confinement=confinement, output=silent, most=_MOST_BYTES
        )
    finally:
        os.close(silent)
    with closing(process):
        try:
            while (message := process.receive_within(patience)) != b"null":
                if message is None:
                    raise Interrupted(f"no answer for {patience:g} s")
                yield json.loads(message)
        except (EOFError, OSError):
            code = process.exit_code()
            raise Interrupted(f"its process died (exit code {code})") from None


def _send_all(link: Channel, main: Callable[..., Iterator[Any]], arguments: Sequence[Any]) -> None:
    """Send each item, and last null, as the main function of a process."""
    for item in main(*arguments):
        link.send(json.dumps(item).encode())
    link.send(b"null")
    end_descendants([os.getpid()])
