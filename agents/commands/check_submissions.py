"""``othello-lab agents check folder=FOLDER``: check programs as students hand them in."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from rich.console import Console

from othello_lab.agents import contract
from othello_lab.agents.agent import Agent
from othello_lab.agents.checking import FAILED, ProgramFinding
from othello_lab.agents.commands.shared import BROKEN, HOLDS, build_settings, report
from othello_lab.agents.config import choices
from othello_lab.agents.external.check_files import checked_apart, file_findings
from othello_lab.agents.external.program import LAST_OUTPUT
from othello_lab.agents.external.submission import (
    FILE,
    LINE,
    PROGRAMS,
    PYTHON,
    UNCLEAR,
    Submission,
    settings_of,
    submissions,
)
from othello_lab.agents.external.wpi import WpiAgent
from othello_lab.core.game import PlayerFailure
from othello_lab.core.position import prepare_rules
from othello_lab.core.system.escaping import counted, plain
from othello_lab.core.system.files import open_file
from othello_lab.core.system.settings import Choice, Nameable, Number, check_settings

FOLDER = "folder="
"""Beginning of the target that means all submissions of a folder."""
_PLAYS_BY = {FILE: "file protocol", LINE: "line protocol", PYTHON: "Python"}


@dataclass(frozen=True)
class SubmissionCheck(Nameable):
    """Settings of the check of submissions."""

    protocol: Annotated[str, Choice(*PROGRAMS)] = FILE
    """Of programs without a YAML."""
    limit: Annotated[float, Number(above=0)] = 10.0
    """Seconds for a move by the file protocol."""
    total: Annotated[float, Number(low=0)] = 20.0
    """Seconds for a program of the file protocol after which no further game begins that is played
    to see a pass."""
    children: bool = False
    """It may start other programs, as ``isolation.children`` allows it."""

    def __post_init__(self) -> None:
        check_settings(self)


def is_submission(target: str) -> bool:
    """Return True for a file or folder that is no name of an agent."""
    return Path(target).exists() and target not in choices("agent")


def run(options: Namespace, console: Console) -> int:
    """Print a line for each submission of a folder, or all findings of one; raises ConfigError or
    ValueError.

    Returns the exit code.
    """
    check = build_settings(SubmissionCheck, options.settings, "check")
    if options.target.startswith(FOLDER):
        return _check_folder(options.target.removeprefix(FOLDER), check, console)
    path = Path(options.target)
    if not path.is_dir():
        open_file(path).close()
    about = settings_of(path.absolute(), check.protocol)
    console.print(plain(f"{path.name} plays by: {_kind(about)}"), soft_wrap=True)
    return report(_findings(about, check), console, path.name, right="is ok")


def _check_folder(folder: str, check: SubmissionCheck, console: Console) -> int:
    handed_in = submissions(folder, check.protocol)
    width = max(map(len, handed_in))
    kinds = {name: _kind(about) for name, about in handed_in.items()}
    most = max(map(len, kinds.values()))
    failed = []
    for name, about in handed_in.items():
        wrong = [f for f in _findings(about, check) if f.outcome == FAILED]
        result = f"failed  {_reason(wrong[0])}" if wrong else "ok"
        failed += [name] * bool(wrong)
        line = f"{name:<{width}}  {kinds[name]:<{most}}  {result}"
        console.print(plain(line), soft_wrap=True)
    told = f"{len(failed)} failed: {', '.join(failed)}" if failed else "all ok"
    console.print(plain(f"{counted(len(handed_in), 'submission')}, {told}"), soft_wrap=True)
    return BROKEN if failed else HOLDS


def _findings(about: Mapping[str, Any], check: SubmissionCheck) -> Iterator[ProgramFinding]:
    """Run the checks of a submission's kind, closed, and yield each finding.

    A program of the file protocol plays as with the referee; all others are held to the contract of
    agents. Raises ValueError if the process of the checks ends.
    """
    submission = Submission(**{key: about[key] for key in about if key != "_target_"})
    if submission.protocol == UNCLEAR:
        yield _no_start(submission.problem)
        return
    prepare_rules(None)
    yield from checked_apart(submission, check.children, _findings_inside, check)


def _findings_inside(submission: Submission, check: SubmissionCheck) -> Iterator[ProgramFinding]:
    agent: Agent = submission
    if submission.protocol != PYTHON:  # whose code runs in the processes of the checks alone
        try:
            agent = submission.make()
        except PlayerFailure as fault:
            yield _no_start(fault.detail)
            return
    if isinstance(agent, WpiAgent):
        yield from file_findings(agent, check.limit, check.total)
    else:
        yield from contract.findings(agent)


def _no_start(reason: str) -> ProgramFinding:
    return ProgramFinding("start", "It can be recognised, compiled and started", FAILED, reason)


def _kind(about: Mapping[str, Any]) -> str:
    """Return the way in which a submission plays."""
    kind = _PLAYS_BY.get(about["protocol"])
    if kind is None:
        return "unclear"
    return f"{kind}: {about.get('command') or Path(about['target']).name}"


def _reason(finding: ProgramFinding) -> str:
    """Return the reason of a failed check in a line."""
    lines = finding.detail.partition(LAST_OUTPUT)[0].splitlines() or [""]
    return f"{finding.name}: {lines[0].removesuffix(', at')}"
