"""Other programs, and other people's functions, as agents: one file a protocol. No program is
started before its first game."""

from agents.external.function import FunctionAgent
from agents.external.gtp import GtpAgent
from agents.external.line import LineAgent
from agents.external.nboard import NBoardAgent
from agents.external.submission import Submission
from agents.external.wpi import WpiAgent

__all__ = ["FunctionAgent", "GtpAgent", "LineAgent", "NBoardAgent", "Submission", "WpiAgent"]
