"""Commands at the prompt besides moves."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from othello_lab.agents.composing import compose, plain
from othello_lab.core.notation import PASS, is_obf, split_transcript
from othello_lab.core.position import Position
from othello_lab.core.rules import Color
from othello_lab.core.system.escaping import counted
from othello_lab.core.system.settings import ConfigError, Whole, unknown_choice
from othello_lab.play.agent_process import AgentFailure, changed
from othello_lab.play.config import (
    HUMAN,
    PERSON,
    PlayerSettings,
    level_word,
    levels_only,
    player,
)
from othello_lab.play.game import BEFORE, GameState, line_text, value_text
from othello_lab.play.game_files import described, value_of_a_disc, write
from othello_lab.play.hints import hints
from othello_lab.play.moves import looks_like_move, read_move, written
from othello_lab.play.recorded import open_game
from othello_lab.play.series import Series
from othello_lab.play.terminal.session import SessionEnd, TerminalSession, TraceOptions
from othello_lab.play.variants import with_evaluation, with_pruning, without_pruning

_DEPTH = Whole(1, 64)
_ONCE = "once"
_SHORT = {"q": "quit", "exit": "quit", "?": "help"}


def obey(session: TerminalSession, line: str) -> None:
    """Obey a line. Raises ValueError (ConfigError, IllegalMove) with one line of text if that is
    impossible, and then nothing has changed; SessionEnd at the end."""
    words = line.split()
    if not words:
        words = ["board" if session.waits_for_a_person else "go"]
    if looks_like_move(line):
        position = session.game.position
        session.play(read_move(line, position), HUMAN)
        return
    name = _SHORT.get(words[0].lower(), words[0].lower())
    if name in ("black", "white") and len(words) > 1:
        named: Color | None = Color(name)
        name, *rest = words[1].lower(), *words[2:]
        if name not in _OF_A_SIDE:
            raise ConfigError(unknown_choice("command for a side", name, _OF_A_SIDE))
    else:
        named, rest = None, words[1:]
    if name not in COMMANDS:
        near = difflib.get_close_matches(name, COMMANDS, n=1)
        hint = f" Did you mean '{near[0]}'?" if near else ""
        raise ConfigError(f"'{line:.40}' is neither a move nor a command; try help.{hint}")
    if rest and COMMANDS[name].usage == name:
        raise ConfigError(f"{name}: nothing is expected after it, not '{rest[0]}'")
    COMMANDS[name].run(session, CommandWords(rest, named))


@dataclass
class CommandWords:
    """The words after a command. side: the colour that was named before it."""

    words: list[str]
    side: Color | None

    def take_once(self) -> bool:
        """Return True if it is for one move alone."""
        if self.words[-1:] == [_ONCE]:
            self.words.pop()
            return True
        return False

    def one(self, what: str) -> str:
        """Return the only word; otherwise raise ConfigError with the valid words."""
        if len(self.words) != 1:
            raise ConfigError(f"{what} is needed")
        return self.words[0]

    def switch(self, what: str) -> bool:
        """Return True for ``on``, the only word, and False for ``off``."""
        word = self.one(f"{what}: on or off")
        if word not in ("on", "off"):
            raise ConfigError(unknown_choice(what, word, ("on", "off")))
        return word == "on"

    def number(self, what: str, allowed: Whole) -> int:
        """The only word as a number."""
        return _number(self.one(f"{what}: {allowed.needed}"), what, allowed)


Run = Callable[[TerminalSession, CommandWords], None]
Change = Callable[[PlayerSettings], PlayerSettings]


def _number(word: str, what: str, allowed: Whole) -> int:
    value = int(word) if word.isascii() and word.isdecimal() and len(word) < 10 else word
    if not allowed.allows(value):
        raise ConfigError(f"{what} {word}: {allowed.needed} is needed")
    return int(value)


# ---------------------------------------------------------------------- whom a switch is for


def _agent_meant(
    session: TerminalSession, side: Color | None, once: bool
) -> tuple[Color, PlayerSettings]:
    """Return the colour of the agent in question: the named one, the only one, or the one to move;
    and this agent, of the next move alone or from then on."""
    seats = session.seats
    with_agents = [color for color in Color if not seats.of(color).is_human]
    if side is not None:
        if side not in with_agents:
            raise ConfigError(f"{side.value} is human; {side.value} agent NAME puts an agent there")
    elif not with_agents:
        raise ConfigError("no agent plays; white agent NAME puts one there")
    only = with_agents[0] if len(with_agents) == 1 else session.game.position.to_move
    color = side or only
    return color, seats.of(color) if once else seats.lasting[color]


def _changing(read: Callable[[CommandWords], Change]) -> Run:
    """Return the command that changes the agent in question, for its next move or from then on.
    read: returns the change that the words ask for."""

    def run(session: TerminalSession, words: CommandWords) -> None:
        once = words.take_once()
        change = read(words)
        color, before = _agent_meant(session, words.side, once)
        _seat(session, color, change(before), once)

    return run


def _seat(session: TerminalSession, color: Color, who: PlayerSettings, once: bool) -> None:
    if not who.is_human:
        session.thinkers.of(who, color.value)  # which refuses what cannot play
    session.seats.put(color, who, once)
    until = " for its next move" if once else ""
    session.screen.say(f"{color.value.capitalize()} is now {described(who)}{until}.")


def _depth(words: CommandWords) -> Change:
    depth = words.number("depth", _DEPTH)
    return lambda who: changed(who, "depth", depth)


def _ordering(words: CommandWords) -> Change:
    ordering = words.one("ordering: none, or criteria such as killer+static,")
    return lambda who: changed(who, "ordering", ordering)


def _evaluation(words: CommandWords) -> Change:
    name = words.one("evaluation: a name (othello-lab agents list), or path/to/file.py:function,")
    return lambda who: with_evaluation(who, name)


def _pruning(session: TerminalSession, words: CommandWords) -> None:
    once = words.take_once()
    pruning = words.switch("pruning")
    color, before = _agent_meant(session, words.side, once)
    pruned, full = with_pruning(before, session.seats.pruned.get(color)), without_pruning(before)
    chosen, other = (pruned, full) if pruning else (full, pruned)
    session.thinkers.of(other, color.value)
    _seat(session, color, chosen, once)
    session.seats.compare(color, pruned, once)
    session.screen.say(f"Each search is compared with {described(other)}.")


def _agent(session: TerminalSession, words: CommandWords) -> None:
    once = words.take_once()
    if not words.words:
        raise ConfigError("agent: a name is needed (othello-lab agents list), then key=value")
    name, *settings = words.words
    color = words.side or _side_for_agent(session)
    if name == HUMAN:
        who = PERSON
    else:
        who = _chosen(session, name, settings)
    session.seats.compare_no_more(color)
    _seat(session, color, who, once)
    session.halted = session.halted and who.is_human


def _side_for_agent(session: TerminalSession) -> Color:
    """Return the side for an agent if none is named."""
    humans = session.seats.humans
    if session.halted or len(humans) != 1:
        to_move = session.game.position.to_move
        return to_move if session.halted or not humans else to_move.other
    return humans[0].other


def _chosen(session: TerminalSession, name: str, settings: Sequence[str]) -> PlayerSettings:
    """An agent or a level by its name, with settings as on the command line."""
    setup = session.setup
    is_level = name in levels_only(setup.folders)
    chosen = level_word("player", name) if is_level else f"+agent@player={name}"
    words = [chosen, *(f"player.{word}" for word in settings)]
    return player(name, plain(compose(None, words, setup.folders))["player"], setup.fill)


def _human(session: TerminalSession, words: CommandWords) -> None:
    color = words.side or session.game.position.to_move
    session.seats.compare_no_more(color)
    _seat(session, color, PERSON, once=False)
    session.halted = False


# ---------------------------------------------------------------------- the game


def _go(session: TerminalSession, words: CommandWords) -> None:
    if session.game.is_over:
        raise ConfigError("the game is over; new begins another one, undo goes back")
    if session.seats.of(session.game.position.to_move).is_human:
        raise ConfigError("it is a person's turn; hint helps, agent NAME takes over")
    session.let_agent_move()


def _undo(session: TerminalSession, words: CommandWords) -> None:
    humans = session.seats.humans
    taken = session.game.take_back(humans if len(humans) == 1 else Color)
    if not taken:
        raise ConfigError("undo: there is nothing to take back")
    session.reopen()
    session.screen.say(f"Taken back: {counted(taken, 'move')}.")
    session.halted = not humans
    session.save_record()
    session.show_board()


def _hint(session: TerminalSession, words: CommandWords) -> None:
    position = session.game.position
    if session.game.is_over:
        raise ConfigError("hint: the game is over")
    wanted = words.number("hint", Whole(1, 64)) if words.words else 1
    who = session.setup.hint
    with session.stoppable(f"{who.name} was stopped."):
        if session.screen.interactive:
            session.screen.say(f"{who.name} is thinking ... (Ctrl-C stops it)")
        try:
            results = hints(session.thinkers, who, session.game, wanted)
        except AgentFailure as trouble:
            raise ConfigError(f"hint: {who.name} has broken down: {trouble}") from None
        session.screen.say(f"Hints of {described(who)}, best first:")
        for result in results:
            name = written(result.move, position.to_move, position.ruleset)
            value = value_text(result.value, value_of_a_disc(who))
            explanation = f"value {value:<18} line {line_text(result.line)}"
            session.screen.say(f"  {name:<8} {explanation}")


def _position(session: TerminalSession, words: CommandWords) -> None:
    game = session.game
    if not words.words:
        session.screen.say(game.position.to_obf())
        if game.turns:
            moves = line_text(move for move in game.moves if move != PASS)
            session.screen.say(f"played: {moves}")
        return
    text = " ".join(words.words)
    rules = game.start.ruleset
    if is_obf(text):
        session.begin(GameState(Position.from_obf(text, rules)))
    else:
        game = GameState(Position.start(rules))
        game.follow(game.start.follow(split_transcript(text))[1], BEFORE)
        session.begin(game)


def _save(session: TerminalSession, words: CommandWords) -> None:
    path = Path(words.one("save: a file"))
    write(path, [session.text()])
    session.screen.say(f"Saved in {path}.")


def _load(session: TerminalSession, words: CommandWords) -> None:
    path, rules = Path(words.one("load: a file")), session.game.start.ruleset
    session.begin(open_game(path, None, rules, session.screen.say).game)


def _resign(session: TerminalSession, words: CommandWords) -> None:
    if session.game.is_over:
        raise ConfigError("resign: the game is over")
    humans = session.seats.humans
    session.game.give_up(humans[0] if len(humans) == 1 else session.game.position.to_move)


def _marks(session: TerminalSession, words: CommandWords) -> None:
    session.marks = words.switch("marks")
    session.show_board()


def _series(session: TerminalSession, words: CommandWords) -> None:
    if words.words == ["off"]:
        session.series = None
    elif words.words:
        session.series = Series.parse(words.one("series: games=N, points=N or off"))
    session.screen.say(session.series_score())


def _debug(session: TerminalSession, words: CommandWords) -> None:
    """``debug on|off [depth N] [to FILE] [once]``, in any order; without on or off it is on."""
    options = replace(session.debug, on=True)
    once = False
    waiting = list(words.words)
    while waiting:
        word = waiting.pop(0)
        if word in ("on", "off"):
            options.on = word == "on"
        elif word == _ONCE:
            once = True
        elif word == "depth" and waiting:
            options.deepest = _number(waiting.pop(0), "debug depth", _DEPTH)
        elif word == "all":
            options.deepest = None
        elif word == "to" and waiting:
            options.file = Path(waiting.pop(0))
        elif word == "screen":
            options.file = None
        else:
            raise ConfigError(f"debug {word}: on, off, depth N, all, to FILE, screen, once")
    if once:
        session.debug_once = options
    else:
        session.debug, session.debug_once = options, None
    session.screen.say(_debug_text(options, once))


def _debug_text(options: TraceOptions, once: bool) -> str:
    if not options.on:
        return "debug is off."
    depth = "" if options.deepest is None else f" to depth {options.deepest}"
    where = "" if options.file is None else f", written to {options.file}"
    return f"The tree of {'the next search' if once else 'each search'} is shown{depth}{where}."


def _help(session: TerminalSession, words: CommandWords) -> None:
    lines = [
        "A move: d3, D3, (B D 3), or row and column: 3 4.",
        *(f"{command.usage:<32} {command.summary}" for command in COMMANDS.values()),
        "black or white before agent, human, depth, pruning, ordering or evaluation names",
        "the side; once after it: for the next move alone (depth 6 once).",
    ]
    session.screen.page(lines)


def _quit(session: TerminalSession, words: CommandWords) -> None:
    raise SessionEnd


@dataclass(frozen=True)
class Command:
    usage: str
    summary: str
    run: Run


_OF_A_SIDE = ("agent", "human", "depth", "pruning", "ordering", "evaluation")

COMMANDS = {
    command.usage.split()[0]: command
    for command in (
        Command("undo", "take back your last move, and what followed", _undo),
        Command("hint [n]", "the best move, or the n best, with values", _hint),
        Command("go", "let the agent whose turn it is think (Enter)", _go),
        Command(
            "board",
            "show the board again (also Enter, on your turn)",
            lambda session, words: session.show_board(),
        ),
        Command("marks on|off", "mark the legal moves", _marks),
        Command("position [OBF or moves]", "show the position, or go on from another", _position),
        Command("save FILE", "write the game, to be read or loaded", _save),
        Command("load FILE", "go on with a game of a file, the last", _load),
        Command("resign", "give up", _resign),
        Command("new", "begin another game", lambda session, words: session.next_game()),
        Command("series [games=N|points=N|off]", "several games, colours changing", _series),
        Command("agent NAME [key=value ...]", "another agent (or human) plays", _agent),
        Command("human", "you play the side to move from now on", _human),
        Command("depth N", "plies that the agent looks ahead", _changing(_depth)),
        Command("pruning on|off", "alpha-beta or minimax, and both counts", _pruning),
        Command("ordering NAME", "the order of moves: none, static, ...", _changing(_ordering)),
        Command("evaluation NAME", "the agent's heuristic", _changing(_evaluation)),
        Command(
            "debug on|off [depth N] [to FILE]", "every line of moves that is looked at", _debug
        ),
        Command("help", "this list", _help),
        Command("quit", "leave", _quit),
    )
}
