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
    """Writes into a file the history at its start, and all that it hears of and chooses."""

    def __init__(self, player: int, path: str) -> None:
        super().__init__(player)
        self.path = path

    def note(self, *words: Any) -> None:
        with open(self.path, "a") as file:
            print(*words, file=file)

    def restart_at(self, state: Any) -> None:
        self.note("began", *state.history())

    def inform_action(self, state: Any, player: int, action: int) -> None:
        self.note(player, action)

    def step(self, state: Any) -> Any:
        action = super().step(state)
        self.note(self.player, action)
        state.apply_action(action)  # which is its own copy
        return action


class Silent(First):
    def step(self, state: Any) -> Any:
        return None


class Raising(First):
    def step(self, state: Any) -> Any:
        raise RuntimeError("no idea")


def made(kind: str, *arguments: Any) -> Any:
    """A maker of bots of a kind."""
    classes = {"told": Told, "silent": Silent, "raising": Raising}
    return lambda game, player, seed: classes[kind](player, *arguments)
