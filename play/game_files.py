"""A game as a text that can be stored, and read again: ``--record`` and ``save`` write it, ``load``
and ``replay`` read it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

from othello_lab.agents.external_agent import own_kind
from othello_lab.core.notation import PASS, parse_square, square_name
from othello_lab.core.position import Position
from othello_lab.core.rules import Color, Ruleset, ruleset
from othello_lab.core.system.escaping import visible
from othello_lab.core.system.files import write_file
from othello_lab.core.system.settings import ConfigError
from othello_lab.core.wthor import is_wthor
from othello_lab.experiments.pairing.game_archives import Refusals, Tell, games_of
from othello_lab.play.config import PlayerSettings
from othello_lab.play.game import BEFORE, GameState, decision_lines, outcome
from othello_lab.play.moves import written

TITLE = "Othello game"
_MOVE = re.compile(r" *(\d+)\. (Black|White) (--|[a-h][1-8])( .*)?")
_HEADING = re.compile(r"(ruleset|start|black|white|series): (.*)")
_NOTE = "      "
_Game = TypeVar("_Game")
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
    return getattr(own_kind(evaluation), "per_disc", None)


def players_of(game: GameState, present: Mapping[Color, PlayerSettings]) -> dict[Color, str]:
    """Return who made the moves of each colour, one after another.

    present: the players who are to move on; a colour without moves, or whose player is not known,
    is theirs.
    """
    descriptions = {}
    for color, player in present.items():
        names = dict.fromkeys(turn.by for turn in game.turns if turn.color is color)
        names.pop(BEFORE, None)
        descriptions[color] = ", then ".join(names) or described(player)
    return descriptions


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
        notation = "" if rules.name != "wpi" else f"  {written(turn.move, turn.color, rules)}"
        by = f"  by {turn.by}"
        lines += ["", f"{number:3}. {name} {square_name(turn.move)}{notation}{by}"]
        lines += [_NOTE + line for line in decision_lines(turn)]
        lines += _board(turn.after)
    if game.is_over:
        lines += ["", outcome(game)]
    return "\n".join([*map(visible, lines), ""])


def _board(position: Position) -> list[str]:
    return [f"        {line}" for line in str(position).splitlines()]


def write(path: Path, texts: Iterable[str]) -> None:
    """Write games to a file, whole or not at all; ConfigError."""
    try:
        write_file(path, "\n\n".join(texts))
    except OSError as error:
        raise ConfigError(f"{path}: cannot be written ({error.strerror})") from error


@dataclass
class ReadGame:
    """A game that was read. notes: statements on each move. players: their descriptions."""

    game: GameState
    players: dict[Color, str] = field(default_factory=dict)
    notes: list[list[str]] = field(default_factory=list)


def read_game(
    content: bytes, source: str, rules: Ruleset, number: int | None, tell: Tell, ending: str = ""
) -> ReadGame:
    """Return a game of any notation: a saved one, or one that :func:`games_of` reads.

    source: where the content comes from. rules: of games that do not tell theirs. number: of the
    game, from 1; None for the last. tell: gets a line on each game that cannot be read. ending: of
    the file's name. Raises ConfigError naming the line that is wrong.
    """
    if content.startswith(TITLE.encode()):
        saved = saved_games(content.decode("utf-8", "replace"), source)
        return _chosen(number, dict(enumerate(saved, start=1)), source)
    left_out: list[str] = []
    refuse = Refusals(source, partly=True, tell=left_out.append)
    games = {game.number: game for game in games_of(content, rules, refuse, ending)}
    refuse.end()
    if not games:
        why = left_out[0].removeprefix("left out: ") if left_out else f"{source}: no game in it"
        raise ConfigError(why)
    for line in left_out:
        tell(line)
    game = _chosen(number, games, source)
    players = {color: game.players.get(color, "?") for color in Color}
    shown = ReadGame(GameState(game.start), players)
    try:
        for ply in game.plies():
            shown.game.play(ply, game.players.get(shown.game.position.to_move, BEFORE))
            shown.notes.append([])
    except ValueError as error:
        raise ConfigError(f"{source}, {game.where}: {error}") from error
    return shown


def game_of(text: str, rules: Ruleset, tell: Tell = print) -> GameState:
    """Return the game of a text, of several the last, as :func:`read_game`. A file in WTHOR may be
    sent as text, a letter for each byte."""
    content = text.encode("latin-1", "replace")
    content = content if is_wthor(content) else text.encode("utf-8", "replace")
    return read_game(content, "the text", rules, None, tell).game


def _chosen(number: int | None, games: Mapping[int, _Game], source: str) -> _Game:
    if number is not None and number not in games:
        of = f"games 1 to {max(games)}" if len(games) > 1 else "one game"
        less = ", some of which cannot be read" if len(games) < max(games) else ""
        raise ConfigError(f"game={number}: {source} has the {of}{less}")
    return games[max(games) if number is None else number]


def saved_games(text: str, source: str) -> list[ReadGame]:
    """Return the games of a session's text, at least one; ConfigError naming the line that is
    wrong. source: where it comes from."""
    games, first = [], 1
    for part in re.split(rf"(?m)^(?={TITLE}$)", text.replace("\r\n", "\n"))[1:]:
        games.append(_read_one(source, first, part.splitlines()))
        first += part.count("\n")
    return games


def _read_one(path: str, first: int, lines: list[str]) -> ReadGame:
    headings = {match[1]: match[2] for line in lines if (match := _HEADING.fullmatch(line))}
    try:
        rules = ruleset(headings.get("ruleset", ""))
        read = ReadGame(GameState(Position.from_obf(headings.get("start", ""), rules)))
    except ValueError as error:
        raise ConfigError(f"{path}: {error}") from error
    read.players = {color: headings.get(color.value, "?") for color in Color}
    for number, line in enumerate(lines, start=first):
        try:
            if match := _MOVE.fullmatch(line):
                _add(read, *match.groups()[:3])
            elif line.startswith(_NOTE) and read.notes:
                if not line.startswith(f"{_NOTE} "):
                    read.notes[-1].append(line.strip())
            elif match := _GIVES_UP.fullmatch(line):
                read.game.give_up(Color(match[1].lower()), late="time" in match[2])
        except ValueError as error:
            raise ConfigError(f"{path}, line {number}: {error}") from error
    return read


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
