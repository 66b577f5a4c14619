"""Check a submission by the check of its kind, in a closed process.

A program of the file protocol plays as with the referee; all others are held to the contract of
agents.
"""

from __future__ import annotations

from collections.abc import Iterator

from othello_lab.agents import contract
from othello_lab.agents.agent import Agent
from othello_lab.agents.checking import FAILED, ProgramFinding
from othello_lab.agents.external.check_files import checked_apart, file_findings
from othello_lab.agents.external.submission import PYTHON, UNCLEAR, Submission
from othello_lab.agents.external.wpi import WpiAgent
from othello_lab.core.game import PlayerFailure
from othello_lab.core.position import prepare_rules


def check_submission(
    submission: Submission, limit: float, total: float
) -> Iterator[ProgramFinding]:
    """Run the checks of a submission's kind and yield each finding.

    limit: seconds for a move by the file protocol. total: seconds after which no further game
    begins that is played to see a pass. Raises ValueError if the process of the checks ends.
    """
    if submission.protocol == UNCLEAR:
        yield _no_start(submission.problem)
        return
    prepare_rules(None)
    yield from checked_apart(submission.files(), _findings, submission, limit, total)


def _no_start(reason: str) -> ProgramFinding:
    return ProgramFinding("start", "It can be recognised, compiled and started", FAILED, reason)


def _findings(submission: Submission, limit: float, total: float) -> Iterator[ProgramFinding]:
    agent: Agent = submission
    if submission.protocol != PYTHON:  # whose code runs in the processes of the checks alone
        try:
            agent = submission.make()
        except PlayerFailure as fault:
            yield _no_start(fault.detail)
            return
    if isinstance(agent, WpiAgent):
        yield from file_findings(agent, limit, total)
    else:
        yield from contract.findings(agent)
