"""``othello-lab agents check`` and ``check-engine``: agents, programs, engines and searches."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rich.console import Console

from othello_lab.agents.agent import Agent
from othello_lab.agents.checks.agent import PATIENCE, AgentUnderTest
from othello_lab.agents.checks.check import BROKEN, FAILED, HOLDS, report
from othello_lab.agents.checks.engine import EngineUnderTest
from othello_lab.agents.checks.files import FileCheck, SubmissionCheck
from othello_lab.agents.checks.gtp import GtpEngineUnderTest
from othello_lab.agents.checks.nboard import NBoardEngineUnderTest
from othello_lab.agents.commands import check_search
from othello_lab.agents.commands.shared import (
    add_config_dir,
    add_seconds,
    announce,
    build_settings,
    typed_agent,
)
from othello_lab.agents.composing import OPEN, choices, load
from othello_lab.agents.config import build_agent
from othello_lab.agents.external import program
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
_PROTOCOLS: dict[str, type[EngineUnderTest]] = {
    "gtp": GtpEngineUnderTest,
    "nboard": NBoardEngineUnderTest,
}
_THINK = 60.0


def add(commands: Any) -> None:
    """Declare both commands."""
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
    parser.add_argument("--json", action="store_true", help="print all findings as JSON")
    add_config_dir(parser, "find the agents of")
    check_search.add_options(parser)
    parser.set_defaults(run=run)
    _add_engine(commands)


def _add_engine(commands: Any) -> None:
    parser = commands.add_parser(
        "check-engine",
        help="hold a program to a protocol",
        description="Hold a program to its protocol: twenty and more named checks. A failed check "
        "shows all lines sent and answered (--all: every check does). The last line tells if the "
        "engine plays, and in which forms of the protocol; a run finds these by itself. The exit "
        "code is 1 if a check fails, 2 if there is no such program. The file protocol has a check "
        "of its own: othello-lab agents check file COMMAND.",
    )
    parser.add_argument("protocol", choices=_PROTOCOLS, help="the protocol")
    parser.add_argument("engine", metavar="COMMAND", help="the program and its arguments, quoted")
    add_seconds(parser, "--patience", program.PATIENCE, "for an answer")
    add_seconds(parser, "--think", _THINK, "for a move")
    parser.add_argument("--all", action="store_true", help="show all lines sent and answered")
    parser.set_defaults(run=run_engine)


def run(options: Namespace, console: Console) -> int:
    """Print each finding at once, failed ones last, then the verdict.

    Returns the exit code. Raises ConfigError or ValueError if there is no such agent or program.
    """
    target, words = options.target, options.settings
    right, wrong = "is ok", "fails {}: {}"
    if target.startswith(_FOLDER):
        if options.json:
            raise ConfigError(f"{target}: a folder has no --json; check one program of it")
        return _check_folder(target.removeprefix(_FOLDER), words, console)
    if target == _FILE:
        if not words:
            raise ConfigError(f'{_FILE}: a command is needed, as in {_FILE} "java Bert"')
        target, right = words[0], "keeps to the file protocol; {}"
        results = build_settings(FileCheck, words[1:], _FILE, command=target).run()
    elif options.search:
        return check_search.run(options, console)
    elif Path(target).exists() and target not in choices("agent"):
        check, path = build_settings(SubmissionCheck, words, "check"), Path(target)
        if not path.is_dir():
            open_file(path).close()
        submission = Submission(**settings_of(path.absolute(), check.protocol))
        target, results = path.name, check.findings(submission)
        if not options.json:
            console.print(plain(f"{target} plays by: {submission.plays_by}"), soft_wrap=True)
    else:
        right, wrong = "keeps to the contract", "breaks the contract: {1}"
        results = AgentUnderTest(_build(options), options.patience, announce).findings()
    return report(results, console, target, right, wrong, as_json=options.json)


def run_engine(options: Namespace, console: Console) -> int:
    """Print each finding at once, then the verdict; raises ValueError if there is no program.

    Returns the exit code.
    """
    program.words_of(options.engine)
    kind = _PROTOCOLS[options.protocol]
    engine = kind(program.Program(options.engine), options.patience, options.think)
    right, everything = "passes all checks", options.all
    code = report(engine.findings(), console, options.engine, right, everything=everything)
    plays, detail = engine.verdict()
    verdict = f"plays, with these settings: {detail}" if plays else f"does not play: {detail}"
    console.print(plain(f"{options.engine} {verdict}", keep="\n"), soft_wrap=True)
    return code


def _check_folder(folder: str, words: Sequence[str], console: Console) -> int:
    """Print a line for each submission of a folder. words: the settings of the check."""
    check = build_settings(SubmissionCheck, words, "check")
    handed_in = {
        name: Submission(**{key: settings[key] for key in settings if key != "_target_"})
        for name, settings in submissions(folder, check.protocol).items()
    }
    width = max(map(len, handed_in))
    most = max(len(submission.plays_by) for submission in handed_in.values())
    failed = []
    for name, submission in handed_in.items():
        wrong = [f for f in check.findings(submission) if f.outcome == FAILED]
        result = "ok"
        if wrong:
            reasons = wrong[0].detail.partition(program.LAST_OUTPUT)[0].splitlines() or [""]
            result = f"failed  {wrong[0].name}: {reasons[0].removesuffix(', at')}"
            failed.append(name)
        line = f"{name:<{width}}  {submission.plays_by:<{most}}  {result}"
        console.print(plain(line), soft_wrap=True)
    verdict = f"{len(failed)} failed: {', '.join(failed)}" if failed else "all ok"
    console.print(plain(f"{counted(len(handed_in), 'submission')}, {verdict}"), soft_wrap=True)
    return BROKEN if failed else HOLDS


def _build(options: Namespace) -> Agent:
    """Build the agent; if it has no evaluation yet, with the first one that suits."""
    settings = typed_agent(options.target, options.settings, options.config_dir)
    if settings.get("depth") == OPEN:
        settings["depth"] = _DEPTH
    evaluations = _EVALUATIONS if settings.get("evaluation") == OPEN else ()
    tries = [settings | {"evaluation": load("evaluation", name)} for name in evaluations]
    try:
        agent = build_agent((tries or [settings])[0], options.target)
    except ConfigError:
        if not tries:
            raise
        agent = build_agent(tries[1], options.target)
    if isinstance(agent, ProgramAgent):
        agent.forbid_echoes()
    return agent
