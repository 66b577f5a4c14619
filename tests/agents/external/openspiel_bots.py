"""Bots as somebody might write them for OpenSpiel."""

from __future__ import annotations

from typing import Any


class First:
    """Plays its first move."""

    def __init__(self, player: int) -> None:
        self.player = player

    def restart_at(self, state: Any) -> None:
        pass

    def inform_action(self, state: Any, player: int, action: int) -> None:
        pass

    def step(self, state: Any) -> Any:
        return state.legal_actions()[0]


class Told(First):
    """Notes all that it hears of, and what it has chosen itself."""

    def restart_at(self, state: Any) -> None:
        self.begun_at, self.heard = state.history(), []

    def inform_action(self, state: Any, player: int, action: int) -> None:
        self.heard.append((player, action))

    def step(self, state: Any) -> Any:
        action = super().step(state)
        self.heard.append((self.player, action))
        state.apply_action(action)  # which is its own copy
        return action


class Silent(First):
    def step(self, state: Any) -> Any:
        return None


class Raising(First):
    def step(self, state: Any) -> Any:
        raise RuntimeError("no idea")


def told(game: Any, player: int, seed: int) -> Any:
    return Told(player)


def silent(game: Any, player: int, seed: int) -> Any:
    return Silent(player)


def raising(game: Any, player: int, seed: int) -> Any:
    return Raising(player)
