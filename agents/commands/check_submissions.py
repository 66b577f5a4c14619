"""``othello-lab agents check folder=FOLDER``: check programs as students hand them in."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from rich.console import Console

from othello_lab.agents.checking import FAILED, ProgramFinding
from othello_lab.agents.commands.shared import BROKEN, HOLDS, build_settings, report
from othello_lab.agents.external.check_files import SubmissionCheck, no_start
from othello_lab.agents.external.program import LAST_OUTPUT
from othello_lab.agents.external.submission import (
    FILE,
    LINE,
    PYTHON,
    UNCLEAR,
    Submission,
    settings_of,
    submissions,
)
from othello_lab.core.system.escaping import counted, plain
from othello_lab.core.system.files import open_file

FOLDER = "folder="
"""Beginning of the target that means all submissions of a folder."""
_PLAYS_BY = {FILE: "file protocol", LINE: "line protocol", PYTHON: "Python"}


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
    """Run the checks of a submission's kind and yield each finding.

    Raises ValueError if the process of the checks ends.
    """
    submission = Submission(**{key: about[key] for key in about if key != "_target_"})
    if submission.protocol == UNCLEAR:
        return iter([no_start(submission.problem)])
    return check.findings(submission)


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
