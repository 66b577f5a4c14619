"""``othello-lab match A B``: two sides play until one is shown to be better."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console

from othello_lab.agents.sides import side_of
from othello_lab.core.system.cli import Parser
from othello_lab.core.system.console import as_typed
from othello_lab.experiments.jobs.two_sides import (
    PLACES,
    MatchSide,
    play_sides,
    search_and_settings,
)


def match_command(arguments: Sequence[str], console: Console) -> int:
    """``match``: compare two sides; returns the exit code."""
    options = _parser().parse_intermixed_args(list(arguments))
    search, words = search_and_settings(options.settings)
    folders = options.config_dir
    targets = options.first, options.second
    sides = [MatchSide(side_of(target, search, folders)) for target in targets]
    lines = [f"{word} is {side.side.kind}" for word, side in zip(targets, sides, strict=True)]
    command = as_typed(["match", *arguments])
    return play_sides(sides, words, command, console, folders, options.check, lines).exit_code


def _parser() -> Parser:
    parser = Parser(
        prog="othello-lab match",
        description="Play two sides against each other, in pairs of games from balanced openings "
        "with colours swapped, until the better one is clear or the time is over. Then write "
        "one page with the answer: the better side, its lead, the costs, and the differences.",
        epilog="Examples: match ./mine.py:hollow iago · match ./mine.py:Student alphabeta · "
        "match 'java Bert' mcts · match champion 'gtp-engine -l 3' seconds=0.05 · "
        "match alphabeta alphabeta first.depth=4 second.depth=6",
    )
    for side in PLACES:
        parser.add_argument(
            side,
            metavar=side.upper(),
            help="an evaluation (iago, file.py:function), an agent (alphabeta, file.py:Class, its "
            "YAML), a strategy of (player, board), or a program with its arguments, in quotes",
        )
    parser.add_argument(
        "settings",
        nargs="*",
        default=[],  # without it argparse's error calls them required
        metavar="key=value",
        help="games=N, minutes=M (default 1) or until=decided: the end; depth=4, agent=alphabeta: "
        "the search around evaluations; seconds=, nodes=, clock=: limits of a move, or of a game; "
        "first.NAME=, second.NAME=: settings of one side; all settings of `othello-lab run --help`",
    )
    parser.add_argument(
        "--no-check", dest="check", action="store_false", help="play at once, without checking"
    )
    parser.add_argument("--config-dir", nargs=1, default=[], metavar="DIR", help="more YAMLs")
    return parser
