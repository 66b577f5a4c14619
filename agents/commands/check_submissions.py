"""``othello-lab agents check folder=FOLDER``: check programs as students hand them in."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from omegaconf import OmegaConf
from rich.console import Console

from othello_lab.agents.commands.check_engine import BROKEN, HOLDS, print_engine_finding
from othello_lab.agents.config import build, choices
from othello_lab.agents.external.check_submission import check_submission
from othello_lab.agents.external.checking import FAILED, EngineFinding
from othello_lab.agents.external.program import LAST_OUTPUT
from othello_lab.agents.external.submission import (
    FILE,
    LINE,
    PROGRAMS,
    PYTHON,
    Submission,
    settings_of,
    submissions,
)
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
    typed: Any = OmegaConf.to_container(OmegaConf.from_dotlist(options.settings))
    kind = f"{SubmissionCheck.__module__}.{SubmissionCheck.__name__}"
    check: SubmissionCheck = build(typed | {"_target_": kind}, "check", SubmissionCheck)
    if options.target.startswith(FOLDER):
        return _check_folder(options.target.removeprefix(FOLDER), check, console)
    path = Path(options.target)
    if not path.is_dir():
        open_file(path).close()
    return _check_one(settings_of(path.absolute(), check.protocol), path.name, check, console)


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


def _check_one(
    about: Mapping[str, Any], name: str, check: SubmissionCheck, console: Console
) -> int:
    console.print(plain(f"{name} plays by: {_kind(about)}"), soft_wrap=True)
    failed = []
    for finding in _findings(about, check):
        if finding.outcome == FAILED:
            failed.append(finding)
        else:
            print_engine_finding(finding, False, console)
    for finding in failed:
        print_engine_finding(finding, False, console)
    names = ", ".join(finding.name for finding in failed)
    told = f"{name} fails {len(failed)}: {names}" if failed else f"{name} is ok"
    console.print(plain(told), soft_wrap=True)
    return BROKEN if failed else HOLDS


def _findings(about: Mapping[str, Any], check: SubmissionCheck) -> Iterator[EngineFinding]:
    settings = {key: value for key, value in about.items() if key != "_target_"}
    return check_submission(Submission(**settings), check.limit, check.total)


def _kind(about: Mapping[str, Any]) -> str:
    """Return the way in which a submission plays."""
    kind = _PLAYS_BY.get(about["protocol"])
    if kind is None:
        return "unclear"
    return f"{kind}: {about.get('command') or Path(about['target']).name}"


def _reason(finding: EngineFinding) -> str:
    """Return the reason of a failed check in a line."""
    lines = finding.detail.partition(LAST_OUTPUT)[0].splitlines() or [""]
    return f"{finding.name}: {lines[0].removesuffix(', at')}"
