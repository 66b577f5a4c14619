"""``python -m core``: check the rules by counting."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from core.cli import Parser, add_ruleset, dispatch, whole_number
from core.perft import divide, perft
from core.position import Position

HELP = """\
usage: python -m core perft [--depth DEPTH] [--ruleset NAME] [--divide]

  perft    count the sequences of plies from the start    (perft --help)
"""


def perft_command(arguments: Sequence[str]) -> int:
    """``perft``: count."""
    parser = Parser(
        prog="python -m core perft",
        description="Print DEPTH COUNT for each depth from 1: how many sequences of plies there "
        "are from the starting position. A pass is a ply; a finished game is one leaf at any "
        "remaining depth.",
    )
    parser.add_argument(
        "--depth", type=whole_number(1), default=8, help="greatest depth (default 8)"
    )
    add_ruleset(parser)
    parser.add_argument(
        "--divide",
        action="store_true",
        help="at the greatest depth also print MOVE COUNT for each first move",
    )
    options = parser.parse_args(arguments)
    start = Position.start(options.ruleset)
    for depth in range(1, options.depth + 1):
        count = perft(start, depth, announce=lambda line: print(line, file=sys.stderr))
        print(depth, count, flush=True)
    if options.divide:
        for move, count in divide(start, options.depth).items():
            print(move, count)
    return 0


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; 0 on success, 2 for bad input, 130 after Ctrl-C."""
    return dispatch("python -m core", HELP, {"perft": perft_command}, arguments, {})


if __name__ == "__main__":
    sys.exit(main())
