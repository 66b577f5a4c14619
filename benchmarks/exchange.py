"""Check and time the round trip of games through GGF and WTHOR.

A run's games are written, read again, and compared with the record, move by move.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from rich.console import Console

from othello_lab import PASS, Position
from othello_lab.core.notation import parse_ggf, split_transcript, square_name
from othello_lab.core.wthor import parse_wthor
from othello_lab.experiments.config import read
from othello_lab.experiments.jobs.run import run
from othello_lab.experiments.record.store import Record
from othello_lab.experiments.results.export import FORMATS, export

Game = tuple[tuple[int, ...], int]
"""All plies, passes included, and Black's discs minus White's, empty squares to the winner."""

_LINE_UP = ["agents=duel", "agent@first=random", "agent@second=random", "figures=false"]


def games_of_record(folder: Path) -> Iterator[Game]:
    """Yield the games of a run's record."""
    record = Record.open(folder)
    for transcript, difference in record.rows(
        "select transcript, disc_difference from games order by game"
    ):
        yield Position.start().follow(split_transcript(transcript))[1], difference
    record.close()


def from_ggf(file: Path) -> Iterator[Game]:
    """Yield the games of a file in GGF; it has the passes."""
    with file.open(encoding="utf-8") as lines:
        for line in lines:
            (game,) = parse_ggf(line)
            end, plies = Position.from_obf(game.start).follow(game.words, game.colors)
            assert len(plies) == len(game.words), line
            result = float(line.partition("RE[")[2].partition("]")[0])
            yield plies, round(result) if end.is_over else 100


def from_wthor(file: Path) -> Iterator[Game]:
    """Yield the games of a file in WTHOR; it leaves passes out."""
    for game in parse_wthor(file.read_bytes()):
        words = [square_name(move) for move in game.moves]
        end, plies = Position.start().follow(words)
        yield plies, 2 * game.black_discs - 64 if end.is_over else 100


READERS = {"ggf": from_ggf, "wthor": from_wthor}


def main() -> None:
    """Play the games, and print the number of changed games and the speeds."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--games", type=int, default=100_000)
    parser.add_argument("--workers", type=int, default=2)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        words = [f"games={options.games}", f"executor.workers={options.workers}"]
        words += [f"results={place}", "searches.positions=1"]
        folder = run(read([*_LINE_UP, *words]), "exchange", Console(quiet=True)).folder
        games = list(games_of_record(folder))
        passes = sum(plies.count(PASS) for plies, _ in games)
        print(f"{len(games):,} random games with {passes:,} passes")
        for format, reader in READERS.items():
            file = folder / f"games{FORMATS[format].endings[0]}"
            begun = time.perf_counter()
            count, left_out = export(folder, format, file)
            written = time.perf_counter()
            changed = sum(
                before != after for before, after in zip(games, reader(file), strict=True)
            )
            seconds = written - begun, time.perf_counter() - written
            print(
                f"{format}: {count:,} written ({left_out.total()} left out) at "
                f"{count / seconds[0]:,.0f}/s, read at {count / seconds[1]:,.0f}/s, "
                f"{file.stat().st_size / count:.0f} bytes each; {changed} changed"
            )


if __name__ == "__main__":
    main()
