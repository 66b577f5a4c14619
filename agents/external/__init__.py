"""Agents made of other programs or of other people's functions, one file a protocol.

A program starts at its first game.
"""

from othello_lab.agents.external.function import FunctionAgent
from othello_lab.agents.external.gtp import GtpAgent
from othello_lab.agents.external.line import LineAgent
from othello_lab.agents.external.nboard import NBoardAgent
from othello_lab.agents.external.submission import Submission
from othello_lab.agents.external.wpi import WpiAgent

__all__ = ["FunctionAgent", "GtpAgent", "LineAgent", "NBoardAgent", "Submission", "WpiAgent"]
