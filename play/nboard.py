"""``othello-lab play nboard``: any agent of the lab as an engine that speaks the NBoard protocol,
version 2."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TextIO

from othello_lab.agents.agent import Decision
from othello_lab.agents.evaluation.evaluation import FINAL_UNIT
from othello_lab.core.notation import (
    PASS,
    IllegalMove,
    NotationError,
    ggf_word,
    parse_ggf,
    parse_square,
)
from othello_lab.core.position import Position
from othello_lab.core.rules import RULESETS
from othello_lab.core.system.escaping import visible
from othello_lab.core.system.settings import ConfigError, one_line
from othello_lab.play.agent_process import AgentFailure, AgentProcesses
from othello_lab.play.config import GameSetup, PlayerSettings
from othello_lab.play.game import GameState
from othello_lab.play.game_files import described

_MOVE = re.compile(r"[A-Ha-h][1-8]|[Pp][Aa]")


class NBoardServer:
    """Answers commands about one game of an agent."""

    def __init__(
        self,
        setup: GameSetup,
        player: PlayerSettings,
        thinkers: AgentProcesses,
        output: TextIO,
    ) -> None:
        """``output``: to the controller."""
        self._player, self._thinkers, self._output = player, thinkers, output
        self._limits, self._seed = setup.limits, setup.settings.seed
        self._game = GameState(Position.start(setup.rules))
        self.quitting = False

    def _say(self, line: str) -> None:
        self._output.write(f"{line.rstrip()}\n")
        self._output.flush()

    def answer(self, line: str) -> None:
        """Obey a line; unknown ones are ignored, as the protocol wants."""
        word, _, rest = line.strip().partition(" ")
        try:
            if _MOVE.fullmatch(word.partition("/")[0]):  # as old controllers send it
                self._do_move(word)
            elif (command := getattr(self, f"_do_{word}", None)) is not None:
                command(rest.strip())
        except (ConfigError, IllegalMove, NotationError, AgentFailure) as error:
            self._say(f"status {visible(one_line(error))}")

    def _do_nboard(self, version: str) -> None:
        self._say(f"set myname {self._player.name}")
        self._say(f"status {described(self._player)}")

    def _do_quit(self, rest: str) -> None:
        self.quitting = True

    def _do_ping(self, number: str) -> None:
        self._say(f"pong {number}")

    def _do_learn(self, rest: str) -> None:
        self._say("learned")  # it has no book

    def _do_set(self, text: str) -> None:
        what, _, value = text.partition(" ")
        if what == "depth" and re.fullmatch(r"[1-9]\d{0,2}", value):
            # At most: how deep the agent looks is its own setting.
            self._limits = replace(self._limits, depth=int(value))
        elif what == "game":
            self._set_game(value)

    def _set_game(self, text: str) -> None:
        games = parse_ggf(text)
        if not games:
            raise NotationError("GGF: a game, which begins with (;, is expected")
        (game, *_) = games
        rules = next((rule for rule in RULESETS.values() if rule.side == game.side), None)
        if rules is None:
            raise NotationError(f"a board of {game.side}x{game.side} is not played here")
        start = Position.from_obf(game.start, rules)
        _, moves = start.follow(game.words, game.colors)
        self._thinkers.change_rules_for(self._player, rules)
        self._game = GameState(start)
        self._game.follow(moves, "controller")

    def _do_move(self, text: str) -> None:
        word = text.partition("/")[0].strip()
        self._game.play(parse_square(word, self._game.start.ruleset.side), "controller")

    def _do_go(self, rest: str) -> None:
        position = self._game.position
        if not position.moves:
            self._say(f"=== {ggf_word(PASS)}")
            return
        decision, seconds = self._think()
        self._say(f"nodestats {decision.stats.nodes} {seconds:.3f}")
        value = _value(decision)
        worth = "" if value is None else f"/{value:.2f}/{seconds:.3f}"
        self._say(f"=== {ggf_word(decision.move)}{worth}")

    def _do_hint(self, count: str) -> None:
        if not self._game.position.moves:
            return
        decision, seconds = self._think()
        line = "".join(map(ggf_word, decision.pv or (decision.move,)))
        value, depth = _value(decision) or 0.0, decision.depth or 0
        self._say(f"search {line} {value:.2f} 0 {depth}")
        self._say(f"nodestats {decision.stats.nodes} {seconds:.3f}")

    def _think(self) -> tuple[Decision, float]:
        """Return the agent's decision, and its seconds; raises AgentFailure."""
        self._say(f"status {self._player.name} is thinking")
        answer = self._thinkers.ask(self._player, self._game, self._seed, self._limits)
        self._say("status")
        return answer


def _value(decision: Decision) -> float | None:
    """Return the worth of a move: in the heuristic's units, or discs if the end is known."""
    value = decision.value
    if value is None or abs(value) < FINAL_UNIT:
        return value
    return round(value / FINAL_UNIT)
