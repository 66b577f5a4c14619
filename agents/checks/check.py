"""Checks, and the one way to run and report them.

A check has a name, a sentence, and a function of a subject. The function returns, or raises
:class:`Violation` or :class:`NotApplicable`.
"""

from __future__ import annotations

import json
import math
import os
import textwrap
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import Any

from rich.console import Console

from othello_lab.core.position import Position
from othello_lab.core.system.confinement import ConfinedProcess, Confinement
from othello_lab.core.system.escaping import plain
from othello_lab.core.system.forked import Channel, ForkedProcess
from othello_lab.core.system.processes import adopt_orphans, end_descendants

OK, FAILED, SKIPPED = "ok", "failed", "skipped"
HOLDS, BROKEN = 0, 1
"""Exit codes."""
_STYLES = {OK: "green", FAILED: "bold red", SKIPPED: "dim"}
_MOST = 12  # exchanges shown of a failed check
_OPEN = Confinement()
_MOST_BYTES = 1 << 24  # of a message of another process


class Violation(Exception):
    """The reason why a check has failed. position: drawn below it."""

    def __init__(self, reason: str, position: Position | None = None) -> None:
        super().__init__(reason if position is None else f"{reason}, at\n{position}")


class NoAnswer(Violation):
    """The subject hangs, so nothing more is asked."""


class NotApplicable(Exception):
    """The reason why a check is skipped, such as an optional command that an engine lacks."""


@dataclass(frozen=True)
class Check:
    """One requirement.

    name: one or two words. sentence: the requirement. run: the function; it may return a remark.
    needed: true if a failure ends the examination. twice: true for a check of an agent whose
    answers in two processes have to be equal.
    """

    name: str
    sentence: str
    run: Callable[..., Any]
    needed: bool = False
    twice: bool = False


def named_check(name: str, sentence: str, **options: bool) -> Callable[[Callable[..., Any]], Check]:
    """Make a check of a method; for the arguments see :class:`Check`."""
    return lambda method: Check(name, sentence, method, **options)


@dataclass(frozen=True)
class Finding:
    """The outcome of one check.

    name: of the check. sentence: the requirement. outcome: OK, FAILED or SKIPPED. detail: the
    reason for any outcome but OK; after a failure the answer and the position as a board. After OK
    it may have a remark. exchanges: lines sent to a program, with their answers.
    """

    name: str
    sentence: str
    outcome: str
    detail: str = ""
    exchanges: Sequence[str] = ()

    def text(self, everything: bool = False) -> str:
        """Return the line; below a failed check stand the reason and the last exchanges.

        everything: below every check stand all exchanges.
        """
        has_failed = self.outcome == FAILED
        exchanges = self.exchanges if everything else self.exchanges[-_MOST:] if has_failed else ()
        said = self.detail if self.outcome == SKIPPED else self.sentence
        lines = [f"{self.name:<10}  {self.outcome:<9}  {said}"]
        lines += map(indented, self.detail.splitlines()) if has_failed else ()
        return "\n".join([*lines, *(textwrap.indent(lines, "      ") for lines in exchanges)])

    __str__ = text

    def to_json(self) -> dict[str, Any]:
        """Return plain data. ``asked`` is the sentence."""
        data = {"name": self.name, "asked": self.sentence, "outcome": self.outcome}
        data["detail"] = self.detail
        return data | ({"exchanges": [*self.exchanges]} if self.exchanges else {})


def indented(line: str) -> str:
    """Return a line for below a finding: sentences wrapped, boards and output as they are."""
    if line.startswith(" "):
        return f"    {line}"
    words: Any = {"break_long_words": False, "break_on_hyphens": False}
    return textwrap.fill(line, 78, initial_indent="    ", subsequent_indent="    ", **words)


class Subject:
    """Base class of what is examined.

    checks: by default those that its class declares. exchanges: lines sent in the present check.
    """

    checks: Sequence[Check] = ()
    exchanges: list[str]

    def __init_subclass__(cls) -> None:
        cls.checks = [value for value in vars(cls).values() if isinstance(value, Check)]

    def run(self, check: Check) -> str | None:
        """Run a check and return a remark or nothing; raises Violation and NotApplicable."""
        remark: str | None = check.run(self)
        return remark

    def end(self) -> None:
        """Release what the checks have used."""

    def findings(self) -> Iterator[Finding]:
        """Run the checks one by one and yield each finding.

        The remaining checks are skipped after a failure of a needed check, and if nothing answers.
        """
        reason_to_skip = ""
        try:
            for check in self.checks:
                outcome, detail, self.exchanges = OK, "", []
                try:
                    if reason_to_skip:
                        raise NotApplicable(reason_to_skip)
                    detail = self.run(check) or ""
                except NotApplicable as reason:
                    outcome, detail = SKIPPED, str(reason)
                except (Violation, ValueError) as error:  # an unreadable answer is a ValueError
                    outcome, detail = FAILED, str(error)
                    hangs = "it hangs: " * isinstance(error, NoAnswer)
                    if hangs or check.needed:
                        reason_to_skip = f"{hangs}see {check.name}"
                yield Finding(check.name, check.sentence, outcome, detail, tuple(self.exchanges))
        finally:
            self.end()


# ------------------------------------------------------------------ reports


def print_findings(
    findings: Iterable[Finding], console: Console, everything: bool = False
) -> list[Finding]:
    """Print each finding at once, failed ones last; return all."""
    results: list[Finding] = []

    def show(finding: Finding) -> None:
        text = plain(finding.text(everything), keep="\n")
        text.highlight_words([finding.outcome], _STYLES[finding.outcome])
        console.print(text, soft_wrap=not console.is_terminal)

    try:
        for finding in findings:
            results.append(finding)
            if finding.outcome != FAILED:
                show(finding)
    finally:
        for finding in results:
            if finding.outcome == FAILED:
                show(finding)
    return results


def report(
    findings: Iterable[Finding],
    console: Console,
    target: str,
    right: str,
    wrong: str = "fails {}: {}",
    everything: bool = False,
    as_json: bool = False,
) -> int:
    """Print all findings, then the verdict on the target, and return the exit code.

    right, wrong: the verdicts; ``{}`` are the last finding's remark, and the number and the names
    of the failed checks. everything: see :meth:`Finding.text`.
    """
    results = [*findings] if as_json else print_findings(findings, console, everything)
    failed = [finding.name for finding in results if finding.outcome == FAILED]
    if as_json:
        print_json(target, not failed, results)
        return BROKEN if failed else HOLDS
    verdict = wrong.format(len(failed), ", ".join(failed)) if failed else ""
    verdict = verdict or right.format(results[-1].detail)
    console.print(plain(f"{target} {verdict}"), soft_wrap=True)
    return BROKEN if failed else HOLDS


def print_json(target: str, right: bool | None, findings: Iterable[Finding], **more: Any) -> None:
    """Print findings, and more, as JSON. right: None if nobody can say it."""
    data = {"target": target, "right": right}
    data |= {"findings": [finding.to_json() for finding in findings]} | more
    print(json.dumps(data, indent=2))


# ------------------------------------------------------------------ in another process


class Interrupted(Exception):
    """The reason why a process has said nothing more. hangs: True if it still runs."""

    def __init__(self, reason: str, hangs: bool = False) -> None:
        super().__init__(reason)
        self.hangs = hangs


Send = Callable[[Any], None]
"""Sends plain data to the process that waits for it."""


def items_apart(
    main: Callable[..., None],
    *arguments: Any,
    patience: float | Callable[[], float] = math.inf,
    confinement: Confinement | None = _OPEN,
) -> Iterator[Any]:
    """Yield what ``main(send, *arguments)`` sends from a process of its own.

    patience: seconds to wait for the next item, or a function that returns them. confinement: of
    the process, whose output is hidden; None for one that is forked only. Raises Interrupted if the
    process hangs or dies.
    """
    if confinement is None:
        process = ForkedProcess(_run, main, arguments, most=_MOST_BYTES)
    else:
        with open(os.devnull, "wb") as hidden:
            bounds: Any = {"confinement": confinement, "output": hidden.fileno()}
            process = ConfinedProcess(_run, main, arguments, most=_MOST_BYTES, **bounds)
    with closing(process):
        try:
            while True:
                seconds = patience() if callable(patience) else patience
                message = process.receive_within(seconds)
                if message is None:
                    raise Interrupted(f"no answer for {seconds:g} s", True)
                if message == b"null":
                    return
                yield json.loads(message)
        except (EOFError, OSError):
            code = process.exit_code()
            raise Interrupted(f"its process died (exit code {code})") from None
        finally:
            end_descendants([process.number])


def _run(link: Channel, main: Callable[..., None], arguments: Sequence[Any]) -> None:
    """Run the main function of a process; send null after all items."""
    adopt_orphans()
    main(lambda item: link.send(json.dumps(item).encode()), *arguments)
    end_descendants([os.getpid()])  # an agent may have started another program
    link.send(b"null")
