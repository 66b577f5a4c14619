"""A game as a text that can be stored, and read again: ``--record`` and ``save`` write it, ``load``
and ``replay`` read it."""

from __future__ import annotations

import os
import pkgutil
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from othello_lab.agents.config import ConfigError
from othello_lab.agents.external_agent import is_ours
from othello_lab.core.notation import (
    PASS,
    NotationError,
    is_ggf,
    is_obf,
    parse_ggf,
    parse_square,
    read_drawing,
    split_transcript,
    square_name,
)
from othello_lab.core.position import Position
from othello_lab.core.rules import Color, Ruleset, ruleset
from othello_lab.core.system.escaping import visible
from othello_lab.play.config import PlayerSettings
from othello_lab.play.game import BEFORE, GameState, decision_lines, outcome
from othello_lab.play.moves import written

TITLE = "Othello game"
LONGEST = 4 << 20
"""Bytes of a file that is read."""
_MOVE = re.compile(r" *(\d+)\. (Black|White) (--|[a-h][1-8])( .*)?")
_HEADING = re.compile(r"(ruleset|start|black|white|series): (.*)")
_NOTE = "      "
_GIVES_UP = re.compile(r"(Black|White)( resigns|'s time is up): .*")


def described(player: PlayerSettings) -> str:
    """A player in a few words: its name, and its main settings."""
    if player.agent is None:
        return player.name
    settings = ((key, player.agent.get(key)) for key in ("depth", "ordering"))
    main = [f"{key}={value}" for key, value in settings if value not in (None, "none")]
    evaluation = player.agent.get("evaluation")
    if isinstance(evaluation, Mapping):
        kind = str(evaluation.get("_target_", "")).rpartition(".")[2]
        main.append(f"evaluation={evaluation.get('target', kind)}")
    return " ".join([player.name, *main])


def value_of_a_disc(player: PlayerSettings) -> int | None:
    """Return the part of a player's values that stands for a disc; None if they are no discs."""
    agent = player.agent or {}
    evaluation = agent.get("evaluation")
    if not isinstance(evaluation, Mapping) or "playouts" in agent:  # whose values are results
        return None
    target = str(evaluation.get("_target_", ""))
    return pkgutil.resolve_name(target).per_disc if is_ours(target) else None


def players_of(game: GameState, present: Mapping[Color, PlayerSettings]) -> dict[Color, str]:
    """Return who made the moves of each colour, one after another.

    present: the players who are to move on; a colour without moves, or whose player is not known,
    is theirs.
    """
    found = {}
    for color, player in present.items():
        names = dict.fromkeys(turn.by for turn in game.turns if turn.color is color)
        names.pop(BEFORE, None)
        found[color] = ", then ".join(names) or described(player)
    return found


def game_text(game: GameState, players: Mapping[Color, str], series: str = "") -> str:
    """A game with its boards, moves, values and counts."""
    rules = game.start.ruleset
    lines = [TITLE, f"ruleset: {rules.name}", f"start: {game.start.to_obf()}"]
    lines += [f"{color.value}: {players[color]}" for color in Color]
    if series:
        lines.append(f"series: {series}")
    lines += ["", *_board(game.start)]
    for number, turn in enumerate(game.turns, start=1):
        name = turn.color.value.capitalize()
        told = "" if rules.name != "wpi" else f"  {written(turn.move, turn.color, rules)}"
        by = f"  by {turn.by}"
        lines += ["", f"{number:3}. {name} {square_name(turn.move)}{told}{by}"]
        lines += [_NOTE + line for line in decision_lines(turn)]
        lines += _board(turn.after)
    if game.is_over:
        lines += ["", outcome(game)]
    return "\n".join([*map(visible, lines), ""])


def _board(position: Position) -> list[str]:
    return [f"        {line}" for line in str(position).splitlines()]


def write(path: Path, texts: Iterable[str]) -> None:
    """Write games to a file, whole or not at all; ConfigError."""
    partial = path.with_name(f"{path.name}.{os.getpid()}.partial")
    try:
        partial.write_text("\n\n".join(texts), encoding="utf-8")
        os.replace(partial, path)
    except OSError as error:
        partial.unlink(missing_ok=True)
        raise ConfigError(f"{path}: cannot be written ({error.strerror})") from error


@dataclass
class ReadGame:
    """A game that was read. notes: statements on each move. players: their descriptions."""

    game: GameState
    players: dict[Color, str] = field(default_factory=dict)
    notes: list[list[str]] = field(default_factory=list)


def read(path: Path) -> list[ReadGame]:
    """The games of a file, at least one; ConfigError naming the line that is wrong."""
    try:
        if path.is_dir():
            raise ConfigError(f"{path}: a folder, not a saved game")
        with path.open("rb") as file:
            content = file.read(LONGEST + 1)
        text = content.decode("utf-8")
    except OSError as error:
        raise ConfigError(f"{path}: cannot be read ({error.strerror})") from error
    except UnicodeDecodeError:
        text = ""
    if len(content) > LONGEST:
        raise ConfigError(f"{path}: longer than {LONGEST} bytes")
    return read_text(text, str(path))


def read_text(text: str, path: str) -> list[ReadGame]:
    """The games of a text, at least one; ConfigError naming the line that is wrong. path: where it
    comes from."""
    if not text.startswith(TITLE + "\n"):
        raise ConfigError(f"{path}: no saved game; the first line of one is '{TITLE}'")
    found = []
    first = 1
    for part in re.split(rf"(?m)^(?={TITLE}$)", text)[1:]:
        found.append(_read_one(path, first, part.splitlines()))
        first += part.count("\n")
    return found


def _read_one(path: str, first: int, lines: list[str]) -> ReadGame:
    headings = {found[1]: found[2] for line in lines if (found := _HEADING.fullmatch(line))}
    try:
        rules = ruleset(headings.get("ruleset", ""))
        read = ReadGame(GameState(Position.from_obf(headings.get("start", ""), rules)))
    except ValueError as error:
        raise ConfigError(f"{path}: {error}") from error
    read.players = {color: headings.get(color.value, "?") for color in Color}
    for number, line in enumerate(lines, start=first):
        try:
            if found := _MOVE.fullmatch(line):
                _add(read, *found.groups()[:3])
            elif line.startswith(_NOTE) and read.notes:
                if not line.startswith(f"{_NOTE} "):
                    read.notes[-1].append(line.strip())
            elif found := _GIVES_UP.fullmatch(line):
                read.game.give_up(Color(found[1].lower()), late="time" in found[2])
        except ValueError as error:
            raise ConfigError(f"{path}, line {number}: {error}") from error
    return read


def game_of(text: str, rules: Ruleset) -> GameState:
    """Return a game from any notation: a position (OBF, or a board drawn in several lines), a
    transcript, GGF (its first game), or a saved game (the last) with the name of its own ruleset.
    Raises ValueError with one line."""
    text = text.replace("\r\n", "\n").strip()
    if text.startswith(TITLE):
        return read_text(text + "\n", "the text")[-1].game
    if is_ggf(text):
        found = parse_ggf(text)[0]
        if found.side != rules.side:
            raise NotationError(
                f"a game on {found.side}x{found.side}; ruleset {rules.name} is "
                f"{rules.side}x{rules.side}"
            )
        game = GameState(Position.from_obf(found.start, rules))
        for ply in game.start.follow(found.words, found.colors)[1]:
            game.play(ply, found.players.get(game.position.to_move, BEFORE))
        return game
    elif (drawn := read_drawing(text, rules.side, rules.first_row_on_top)) is not None:
        return GameState(Position.from_obf(drawn, rules))
    elif is_obf(text):
        return GameState(Position.from_obf(text, rules))
    else:
        game = GameState(Position.start(rules))
        plies = game.start.follow(split_transcript(text))[1]
    game.follow(plies, BEFORE)
    return game


def _add(read: ReadGame, number: str, name: str, word: str) -> None:
    game = read.game
    if int(number) != len(game.turns) + 1:
        raise ValueError(f"move {number}; {len(game.turns) + 1} is expected")
    color = game.position.to_move
    if name.lower() != color.value:
        raise ValueError(f"{name} {word}: {color.value} is to move")
    side = game.start.ruleset.side
    game.play(PASS if word == "--" else parse_square(word, side), read.players[color])
    read.notes.append([])
