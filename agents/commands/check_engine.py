"""``othello-lab agents check-engine``: hold a program to a protocol."""

from __future__ import annotations

import textwrap
from argparse import Namespace
from collections.abc import Callable, Sequence
from typing import Any

from rich.console import Console

from othello_lab.agents.external import check_gtp, check_nboard
from othello_lab.agents.external.checking import (
    FAILED,
    NOT_ASKED,
    OK,
    EngineCheck,
    EngineFinding,
    findings,
)
from othello_lab.agents.external.program import PATIENCE, Program, words_of
from othello_lab.core.system.cli import seconds
from othello_lab.core.system.escaping import plain

PROTOCOLS: dict[str, tuple[Any, Sequence[EngineCheck], Callable[..., tuple[bool, str]]]] = {
    "gtp": (check_gtp.GtpEngineUnderTest, check_gtp.CHECKS, check_gtp.verdict),
    "nboard": (check_nboard.NBoardEngineUnderTest, check_nboard.CHECKS, check_nboard.verdict),
}
"""Of each protocol the class of engines, the checks, and a function that tells if and how an engine
plays here."""
HOLDS, BROKEN, INTERRUPTED = 0, 1, 130
_STYLES = {OK: "green", FAILED: "bold red", NOT_ASKED: "dim"}
_THINK = 60.0
_MOST = 12  # exchanges shown of a failed check


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
    parser.add_argument(
        "--patience",
        type=seconds,
        default=PATIENCE,
        metavar="SECONDS",
        help=f"for an answer (default {PATIENCE:g})",
    )
    parser.add_argument(
        "--think",
        type=seconds,
        default=_THINK,
        metavar="SECONDS",
        help=f"for a move (default {_THINK:g})",
    )
    parser.add_argument("--all", action="store_true", help="show all lines sent and answered")
    parser.set_defaults(run=run)


def run(options: Namespace, console: Console) -> int:
    """Print each finding at once, then the verdict; raises ValueError if there is no program.

    Returns the exit code.
    """
    words_of(options.engine)
    kind, checks, judge = PROTOCOLS[options.protocol]
    case = kind(Program(options.engine), options.patience, options.think)
    failed = []
    try:
        for finding in findings(case, checks):
            print_engine_finding(finding, options.all, console)
            if finding.outcome == FAILED:
                failed.append(finding.name)
        verdict = f"fails {len(failed)}: {', '.join(failed)}" if failed else "passes all checks"
        console.print(plain(f"{options.engine} {verdict}"), soft_wrap=True)
        plays, detail = judge(case)
        told = f"plays, with these settings: {detail}" if plays else f"does not play: {detail}"
        console.print(plain(f"{options.engine} {told}", keep="\n"), soft_wrap=True)
    except KeyboardInterrupt:
        console.print("interrupted")
        return INTERRUPTED
    return BROKEN if failed else HOLDS


def print_engine_finding(finding: EngineFinding, everything: bool, console: Console) -> None:
    """Print the finding of a check; after a failure the reason and the exchanges.

    everything: the exchanges of every check.
    """
    text = plain(_format(finding, everything), keep="\n")
    text.highlight_words([finding.outcome], _STYLES[finding.outcome])
    console.print(text, soft_wrap=True)


def _format(finding: EngineFinding, everything: bool) -> str:
    """Format a check as one line; below a failed check stand the reason and the exchanges."""
    text = finding.detail if finding.outcome == NOT_ASKED else finding.requirement
    lines = [f"{finding.name:<10}  {finding.outcome:<9}  {text}"]
    exchanges = list(map(str, finding.exchanges))
    if finding.outcome == FAILED:
        lines.append(textwrap.indent(finding.detail, "    "))
        if not everything:
            exchanges = exchanges[-_MOST:]
    elif not everything:
        exchanges = []
    lines += [textwrap.indent(exchange, "      ") for exchange in exchanges]
    return "\n".join(lines)
