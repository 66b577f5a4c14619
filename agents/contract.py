"""Hold any agent to the contract of :class:`agents.agent.Agent`: ``check(agent).holds``."""

from othello_lab.agents.checks.agent import ContractVerdict, check
from othello_lab.agents.checks.check import FAILED, OK, SKIPPED, Finding

__all__ = ["FAILED", "OK", "SKIPPED", "ContractVerdict", "Finding", "check"]
