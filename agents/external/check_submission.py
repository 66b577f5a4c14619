"""Check a submission by the check of its kind, in a closed process.

A program of the file protocol plays as with the referee; all others are held to the contract of
agents.
"""

from __future__ import annotations

from collections.abc import Iterator

from othello_lab.agents import contract
from othello_lab.agents.agent import Agent
from othello_lab.agents.external.check_files import (
    CHECKS,
    FileProgramUnderTest,
    closed_checks,
    send_findings,
)
from othello_lab.agents.external.checking import FAILED, EngineFinding, findings
from othello_lab.agents.external.submission import PYTHON, UNCLEAR, Submission
from othello_lab.agents.external.wpi import WpiAgent
from othello_lab.core.game import PlayerFailure
from othello_lab.core.position import prepare_rules
from othello_lab.core.system.forked import Channel

_START = "start", "It can be recognised, compiled and started"


def check_submission(submission: Submission, limit: float, total: float) -> Iterator[EngineFinding]:
    """Run the checks of a submission's kind and yield each finding.

    limit: seconds for a move by the file protocol. total: seconds after which no further game
    begins that is played to see a pass. Raises ValueError if the process of the checks ends.
    """
    if submission.protocol == UNCLEAR:
        yield EngineFinding(*_START, FAILED, submission.problem, ())
        return
    prepare_rules(None)
    for message in closed_checks(submission.files(), _run_checks, submission, limit, total):
        if isinstance(message, EngineFinding):
            yield message


def _run_checks(link: Channel, submission: Submission, limit: float, total: float) -> None:
    """Run the checks as the main function of a process; send 0 last."""
    send_findings(link, _findings(submission, limit, total))
    link.send(b"0")


def _findings(submission: Submission, limit: float, total: float) -> Iterator[EngineFinding]:
    agent: Agent = submission
    if submission.protocol != PYTHON:  # whose code runs in the processes of the checks alone
        try:
            agent = submission.make()
        except PlayerFailure as fault:
            yield EngineFinding(*_START, FAILED, fault.detail, ())
            return
    if isinstance(agent, WpiAgent):
        yield from findings(FileProgramUnderTest(agent, limit, total), CHECKS)
        return
    for held in contract.findings(agent):
        yield EngineFinding(held.name, held.asked, held.outcome, held.detail, ())
