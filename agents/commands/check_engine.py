"""``othello-lab agents check-engine``: hold a program to a protocol."""

from __future__ import annotations

from argparse import Namespace
from typing import Any

from rich.console import Console

from othello_lab.agents.checks import gtp, nboard
from othello_lab.agents.checks.check import report, run_checks
from othello_lab.agents.commands.shared import add_seconds
from othello_lab.agents.external.program import PATIENCE, Program, words_of
from othello_lab.core.system.escaping import plain

PROTOCOLS: dict[str, tuple[Any, Any]] = {
    "gtp": (gtp.GtpEngineUnderTest, gtp.CHECKS),
    "nboard": (nboard.NBoardEngineUnderTest, nboard.CHECKS),
}
"""Of each protocol the class of engines and the checks."""
_THINK = 60.0


def add(commands: Any) -> None:
    parser = commands.add_parser(
        "check-engine",
        help="hold a program to a protocol",
        description="Hold a program to its protocol: twenty and more named checks. A failed check "
        "shows all lines sent and answered (--all: every check does). The last line tells if the "
        "engine plays, and in which forms of the protocol; a run finds these by itself. The exit "
        "code is 1 if a check fails, 2 if there is no such program. The file protocol has a check "
        "of its own: othello-lab agents check file COMMAND.",
    )
    parser.add_argument("protocol", choices=PROTOCOLS, help="the protocol")
    parser.add_argument("engine", metavar="COMMAND", help="the program and its arguments, quoted")
    add_seconds(parser, "--patience", PATIENCE, "for an answer")
    add_seconds(parser, "--think", _THINK, "for a move")
    parser.add_argument("--all", action="store_true", help="show all lines sent and answered")
    parser.set_defaults(run=run)


def run(options: Namespace, console: Console) -> int:
    """Print each finding at once, then the verdict; raises ValueError if there is no program.

    Returns the exit code.
    """
    words_of(options.engine)
    kind, checks = PROTOCOLS[options.protocol]
    case = kind(Program(options.engine), options.patience, options.think)
    code = report(
        run_checks(case, checks),
        console,
        options.engine,
        right="passes all checks",
        everything=options.all,
    )
    plays, detail = case.verdict()
    verdict = f"plays, with these settings: {detail}" if plays else f"does not play: {detail}"
    console.print(plain(f"{options.engine} {verdict}", keep="\n"), soft_wrap=True)
    return code
