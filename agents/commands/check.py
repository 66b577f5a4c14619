"""``othello-lab agents check``: hold an agent to the contract, and programs to their protocols."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rich.console import Console

from othello_lab.agents.agent import Agent
from othello_lab.agents.checking import FAILED
from othello_lab.agents.commands import check_search
from othello_lab.agents.commands.shared import (
    BROKEN,
    HOLDS,
    add_config_dir,
    add_seconds,
    announce,
    build_settings,
    report,
    typed_agent,
)
from othello_lab.agents.composing import OPEN, choices, load
from othello_lab.agents.config import build_agent
from othello_lab.agents.contract import PATIENCE, findings
from othello_lab.agents.external.check_files import FileCheck, SubmissionCheck
from othello_lab.agents.external.program import LAST_OUTPUT
from othello_lab.agents.external.program_agent import ProgramAgent
from othello_lab.agents.external.submission import Submission, settings_of, submissions
from othello_lab.core.system.escaping import counted, plain
from othello_lab.core.system.files import open_file
from othello_lab.core.system.settings import ConfigError

_FILE = "file"  # the target that means the check of a program by the file protocol
_FOLDER = "folder="  # beginning of the target that means all submissions of a folder
_DEPTH = 2
_EVALUATIONS = ("disc_count", "square_weights")
"""For an agent without an evaluation: the first one that it accepts. The first one plays on every
board; the second one has fitted parameters of Multi-ProbCut."""


def add(commands: Any) -> None:
    parser = commands.add_parser(
        "check",
        help="hold an agent to the contract",
        description="Hold an agent to the contract: legal moves on all its boards, whole games, "
        "the same game from the same seed, limits, and so on. The exit code is 1 if it breaks the "
        "contract, or does not search as it should, 2 if there is no such agent, 3 if its search "
        "cannot be judged.",
    )
    parser.add_argument(
        "target",
        metavar="TARGET",
        help="one of othello-lab agents list agents, module.Class, path/to/file.py:Class, or file; "
        "or a program as handed in, a file or folder; or folder=FOLDER for all programs in it",
    )
    parser.add_argument(
        "settings",
        nargs="*",
        default=[],
        metavar="key=value",
        help=f"its settings; by default depth={_DEPTH} and an evaluation that suits. After file: "
        "the command, quoted, name=WORD for its files, limit=60 (seconds for a move), total=60 "
        "(seconds after which no further game is played to see a pass). After a program or "
        "folder=FOLDER: limit=10, total=20, protocol=line",
    )
    add_seconds(parser, "--patience", PATIENCE, "a call that takes longer counts as hung")
    add_config_dir(parser, "find the agents of")
    check_search.add_options(parser)
    parser.set_defaults(run=run)


def run(options: Namespace, console: Console) -> int:
    """Print each finding at once, failed ones last, then the verdict.

    Returns the exit code. Raises ConfigError or ValueError if there is no such agent or program.
    """
    if options.target == _FILE:
        return _check_file(options.settings, console)
    if options.target.startswith(_FOLDER):
        return _check_folder(options.target.removeprefix(_FOLDER), options.settings, console)
    if options.search:
        return check_search.run(options, console)
    if Path(options.target).exists() and options.target not in choices("agent"):
        return _check_submission(Path(options.target), options.settings, console)
    settings = typed_agent(options.target, options.settings, options.config_dir)
    if settings.get("depth") == OPEN:
        settings["depth"] = _DEPTH
    agent = _build(settings, options.target)
    if isinstance(agent, ProgramAgent):
        agent.forbid_echoes()
    return report(
        findings(agent, options.patience, announce),
        console,
        options.target,
        right="keeps to the contract",
        wrong="breaks the contract: {1}",
        text_of=str,
    )


def _check_file(words: Sequence[str], console: Console) -> int:
    """Check a program of the file protocol. words: its command and the settings of the check."""
    if not words:
        raise ConfigError(f'{_FILE}: a command is needed, as in {_FILE} "java Bert"')
    command, *settings = words
    check = build_settings(FileCheck, settings, _FILE, command=command)
    right = "keeps to the file protocol; {}"
    return report(check.run(), console, command, right, failed_last=False)


def _check_submission(path: Path, words: Sequence[str], console: Console) -> int:
    """Print all findings about a program handed in. words: the settings of the check."""
    check = build_settings(SubmissionCheck, words, "check")
    if not path.is_dir():
        open_file(path).close()
    submission = Submission(**settings_of(path.absolute(), check.protocol))
    console.print(plain(f"{path.name} plays by: {submission.plays_by}"), soft_wrap=True)
    return report(check.findings(submission), console, path.name, right="is ok")


def _check_folder(folder: str, words: Sequence[str], console: Console) -> int:
    """Print a line for each submission of a folder. words: the settings of the check."""
    check = build_settings(SubmissionCheck, words, "check")
    handed_in = {
        name: Submission(**{key: about[key] for key in about if key != "_target_"})
        for name, about in submissions(folder, check.protocol).items()
    }
    width = max(map(len, handed_in))
    most = max(len(submission.plays_by) for submission in handed_in.values())
    failed = []
    for name, submission in handed_in.items():
        wrong = [f for f in check.findings(submission) if f.outcome == FAILED]
        result = "ok"
        if wrong:
            reasons = wrong[0].detail.partition(LAST_OUTPUT)[0].splitlines() or [""]
            result = f"failed  {wrong[0].name}: {reasons[0].removesuffix(', at')}"
            failed.append(name)
        line = f"{name:<{width}}  {submission.plays_by:<{most}}  {result}"
        console.print(plain(line), soft_wrap=True)
    told = f"{len(failed)} failed: {', '.join(failed)}" if failed else "all ok"
    console.print(plain(f"{counted(len(handed_in), 'submission')}, {told}"), soft_wrap=True)
    return BROKEN if failed else HOLDS


def _build(settings: dict[str, Any], name: str) -> Agent:
    """Build the agent; if it has no evaluation yet, with the first one that suits."""
    if settings.get("evaluation") != OPEN:
        return build_agent(settings, name)
    first, second = ({"evaluation": load("evaluation", known)} for known in _EVALUATIONS)
    try:
        return build_agent(settings | first, name)
    except ConfigError:
        return build_agent(settings | second, name)
