"""``python -m experiments export``: the games of a run for other programs."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from rich.console import Console

from agents.config import ConfigError
from core.cli import Parser
from core.game import FINISHED, LATE
from core.notation import format_ggf, split_transcript
from core.rules import Color, ruleset
from core.shown import plain
from experiments.pairing.openings import Opening
from experiments.record.reading import reading

_COLUMNS = "game, black, white, result, disc_difference, end_reason, opening, transcript"
_ENDS = {FINISHED: "", LATE: ":t"}
_RESIGNED = ":r"  # how GGF tells of any other loss that the board does not show
_LOST = 64


def export_command(arguments: Sequence[str], console: Console) -> int:
    """Write the games of a run to a file; ConfigError."""
    parser = Parser(
        prog="python -m experiments export",
        description="Write the games of a run to a file that other programs read: one a line, in "
        "GGF, the format of the Generic Game Server, which openings=file reads too.",
    )
    parser.add_argument("folder", type=Path, help="the run's folder, results/NAME/DATE")
    parser.add_argument("format", choices=["ggf"])
    parser.add_argument("--output", type=Path, metavar="FILE", help="(default: games.ggf there)")
    options = parser.parse_args(arguments)
    output = options.output or options.folder / "games.ggf"
    count = export(options.folder, output)
    console.print(plain(f"{count:,} games in {output}"), soft_wrap=True)
    return 0


def export(folder: Path, output: Path) -> int:
    """Write the games of a run in GGF, one a line, whole or not at all; how many. ConfigError."""
    partial = output.with_name(f"{output.name}.{os.getpid()}.partial")
    try:
        count = 0
        with partial.open("w", encoding="utf-8") as file:
            for line in _lines(folder):
                file.write(f"{line}\n")
                count += 1
        os.replace(partial, output)
    except OSError as error:
        raise ConfigError(f"{output}: cannot be written ({error.strerror})") from error
    finally:
        with suppress(OSError):
            partial.unlink(missing_ok=True)
    return count


def _lines(folder: Path) -> Iterator[str]:
    """The games of a run in GGF, in the order of the schedule; ConfigError."""
    with reading(folder) as record:
        about = record.run()
        rules = about["config"]["ruleset"]["name"]
        names = dict(record.rows("select agent, name from agents"))
        date = re.sub(r"[T_].*", "", str(about["started"]))
        for row in record.rows(f"select {_COLUMNS} from games order by game"):
            game = dict(zip(_COLUMNS.split(", "), row, strict=True))
            players = {"PB": str(names[game["black"]]), "PW": str(names[game["white"]])}
            try:
                yield _line(game, rules, {"PC": str(about["name"]), "DT": date, **players})
            except ValueError as error:
                raise ConfigError(f"{folder}: game {game['game']}: {error}") from error


def _line(game: dict[str, Any], rules: str, about: dict[str, str]) -> str:
    """A game in GGF; ValueError where it cannot be played."""
    start = Opening.read(game["opening"], ruleset(rules)).begin(rules)
    position, moves = start, []
    for move in start.follow(split_transcript(game["transcript"]))[1]:
        moves.append((position.to_move, move))
        position = position.play(move)
    return format_ggf(start.to_obf(), moves, **about, RE=_result(game))


def _result(game: dict[str, Any]) -> str:
    """The result as Black sees it: discs, and for a forfeit a whole board and how it was lost."""
    end = _ENDS.get(game["end_reason"], _RESIGNED)
    if not end:
        return f"{game['disc_difference']:+.3f}"
    return f"{_LOST if game['result'] == Color.BLACK.value else -_LOST:+.3f}{end}"
