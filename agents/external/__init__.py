"""Other programs as agents: one file a protocol. None is started before its first game."""

from agents.external.line import LineAgent

__all__ = ["LineAgent"]
