"""``othello-lab play``: people, and other programs, at the board."""

from __future__ import annotations

import importlib
import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from othello_lab.core.rules import RULESETS, ruleset
from othello_lab.core.system.cli import Command, Parser
from othello_lab.core.system.escaping import visible
from othello_lab.core.system.optional_libraries import install_hint
from othello_lab.core.system.settings import ConfigError

if TYPE_CHECKING:
    from othello_lab.play.config import GameSetup, Settings

# What only one command needs is imported there.

HELP = """\
usage: othello-lab play COMMAND ...

  terminal [key=value ...]    play at the terminal    (terminal --help: all settings)
  series games=N [...]        several games there, colours changing; or points=N
  replay FILE                 step through a game that was recorded or saved
  replay RUN game=N           or through a game of a run
  review FILE                 the discs that each move lost, and the better moves
  review RUN game=N           the same of a game of a run
  web [key=value ...]         play in the browser     (web --help: all settings)
  levels                      list the ten levels for people, with their Elo
  gtp agent=NAME [...]        an agent as an engine for other programs (gtp --help)
  nboard agent=NAME [...]     the same, by another protocol
  wpi NAME agent=NAME [...]   the same, by the files of the file protocol
  referee COMMAND COMMAND     referee two programs of that protocol

Start with:

  othello-lab play terminal
  othello-lab play terminal black=human white=alphabeta white.depth=5 --record game.txt
  othello-lab play terminal black=minimax white=alphabeta ruleset=wpi pause=true
  othello-lab play terminal white=casual
  othello-lab play replay game.txt
  othello-lab play web

othello-lab agents list explains the agents and evaluations.
"""

_FILES = (
    "The game is one of a run, or of a file: a saved game, GGF, WTHOR (.wtb), or text with a "
    "transcript (f5d6c3...) a line. Games that cannot be read are left out, and counted."
)


def terminal_command(arguments: Sequence[str]) -> int:
    """``terminal``: play games."""
    from othello_lab.play.help import TERMINAL

    if (words := _read_words(arguments, TERMINAL, ["record"])) is None:
        return 0
    setup, options = words
    record = Path(options["record"]) if "record" in options else None
    if record is not None and record.is_dir():
        raise ConfigError(f"--record {record}: a folder; a file is needed")

    from othello_lab.play.terminal.loop import play_at_terminal

    play_at_terminal(setup, record)
    return 0


def web_command(arguments: Sequence[str]) -> int:
    """``web``: play in the browser."""
    from othello_lab.play.help import WEB

    if (words := _read_words(arguments, WEB)) is None:
        return 0
    try:
        from othello_lab.play.web.server import serve
    except ModuleNotFoundError as error:
        raise ConfigError(f"web: {error.name} is not installed; {install_hint('play')}") from error
    serve(words[0])
    return 0


def _read_words(
    arguments: Sequence[str], usage: str, options: Sequence[str] = ()
) -> tuple[GameSetup, Settings] | None:
    """Return the settings of a game and the given options; None after printing help, if help was
    requested. Raises ConfigError."""
    from othello_lab.play.config import config_folders, read
    from othello_lab.play.help import settings_help

    help_words = [word for word in arguments if word in ("-h", "--help")]
    rest = [word for word in arguments if word not in help_words]
    words, folders, given = config_folders(rest, options)
    if help_words:
        print(visible(settings_help(usage, folders), keep="\n"), end="")
        return None
    return read(words, folders), given


def series_command(arguments: Sequence[str]) -> int:
    """``series``: play several games; ``games=5`` is short for ``series.games=5``."""
    said = [re.sub(r"^(games|points)=", r"series.\1=", word) for word in arguments]
    has_goal = any(word.startswith("series.") for word in said)
    if not has_goal and not {"-h", "--help"} & set(said):
        raise ConfigError("series: games=N or points=N is needed")
    return terminal_command(said)


def replay_command(arguments: Sequence[str]) -> int:
    """``replay``: step through a game."""
    from othello_lab.play.terminal.replay import replay

    parser = Parser(
        prog="othello-lab play replay",
        description="Step through a game. Enter shows the next move, p the one before, help the "
        f"rest. {_FILES}",
    )
    _add_game(parser)
    parser.add_argument("--all", action="store_true", help="show the whole game at once")
    options = parser.parse_args(arguments)
    number = _number_of_game(options.words)
    replay(options.path, number, ruleset(options.ruleset), options.all)
    return 0


def review_command(arguments: Sequence[str]) -> int:
    """``review``: what each move of a game lost."""
    from othello_lab.play.review import DEPTH, EXACT_EMPTIES
    from othello_lab.play.terminal.review import review

    parser = Parser(
        prog="othello-lab play review",
        description="Review a game: the discs that each move lost, the better move with its line, "
        "and the reason. Values are exact, by the endgame solver, with "
        f"{EXACT_EMPTIES} or fewer empty squares; before, they are estimates of the champion, "
        f"{DEPTH} plies ahead. {_FILES}",
    )
    _add_game(parser)
    parser.add_argument(
        "--page", type=Path, metavar="FILE.html", help="write the review as a page with figures"
    )
    options = parser.parse_args(arguments)
    if options.page is not None and options.page.suffix != ".html":
        raise ConfigError(f"--page {options.page}: a file that ends with .html is needed")
    number, rules = _number_of_game(options.words), ruleset(options.ruleset)
    review(options.path, number, rules, options.page)
    return 0


def _add_game(parser: Parser) -> None:
    parser.add_argument("path", type=Path, help="the file, or the run's folder, results/NAME/DATE")
    parser.add_argument(
        "words",
        nargs="*",
        metavar="game=N",
        help="which one: of a file from 1 (default the last), of a run from 0 (default 0)",
    )
    parser.add_argument(
        "--ruleset",
        choices=list(RULESETS),
        default="standard",
        help="of a file that does not tell it (default standard)",
    )


def _number_of_game(words: Sequence[str]) -> int | None:
    number = None
    for word in words:
        if word == "partly=true":  # as elsewhere; here it is so in any case
            continue
        if not (match := re.fullmatch(r"game=(\d{1,9})", word)):
            raise ConfigError(f"{word}: game=N is needed")
        number = int(match[1])
    return number


def gtp_command(arguments: Sequence[str]) -> int:
    """``gtp``: be an engine for programs that speak the Go Text Protocol."""
    from othello_lab.play.engine import run_engine
    from othello_lab.play.gtp import GtpServer

    name = "the Go Text Protocol (GTP)"
    return run_engine("gtp", name, arguments, lambda *parts: GtpServer(*parts[:3]))


def nboard_command(arguments: Sequence[str]) -> int:
    """``nboard``: be an engine for programs that speak the NBoard protocol."""
    from othello_lab.play.engine import run_engine
    from othello_lab.play.nboard import NBoardServer

    return run_engine("nboard", "the NBoard protocol", arguments, NBoardServer)


def _imported(module: str, name: str) -> Command:
    """Return a command of a module of this room, which is imported when the command is called."""

    def run(arguments: Sequence[str]) -> int:
        command: Command = getattr(importlib.import_module(f"othello_lab.play.{module}"), name)
        return command(arguments)

    return run


COMMANDS: dict[str, Command] = {
    "terminal": terminal_command,
    "series": series_command,
    "replay": replay_command,
    "review": review_command,
    "web": web_command,
    "levels": _imported("levels_command", "levels_command"),
    "gtp": gtp_command,
    "nboard": nboard_command,
    "wpi": _imported("wpi", "run_wpi"),
    "referee": _imported("referee", "referee"),
}
