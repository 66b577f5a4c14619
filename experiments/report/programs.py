"""A page for each submitted program: its games, its losses, its failures and its output."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from othello_lab.agents.external.submission import TARGET
from othello_lab.core.game import FAIR_ENDS, FINISHED, RAISED, UNFIT
from othello_lab.core.notation import PASS, split_transcript, square_name
from othello_lab.core.system.files import make_folder
from othello_lab.experiments.pairing.openings import Opening
from othello_lab.experiments.record.log import entries
from othello_lab.experiments.report.facts import RunFacts
from othello_lab.experiments.report.markdown import write_report
from othello_lab.experiments.report.page import Drawing
from othello_lab.experiments.report.tables import columns_of

FOLDER = "programs"
"""Where the pages are, in the folder of the run."""
MOST_LINES = 200
"""Of a log, on a page."""
MOST_FAILURES = 3
"""Failures that a page draws, each of another kind."""
LAST_WORDS = 10
"""Lines of a failure."""
_WIDTH = 160  # characters of such a line

_LOSES = re.compile("'.*' loses: ")
_PROTOCOLS = {"file": "the file protocol", "line": "the line protocol", "python": "Python"}
_GAMES = """
    select game, pair, black, white, b.name as black_name, w.name as white_name, black_points,
    disc_difference, end_reason, detail
    from games join agents b on b.agent = black join agents w on w.agent = white order by game
"""
_COLUMNS = ("game", "colour", "opponent", "result", "discs", "end", "why", "points", "for")


def write_programs(facts: RunFacts, folder: Path) -> dict[str, str]:
    """Write the pages of all submissions, as Markdown and HTML; returns where each is, as seen from
    the report. Other agents have none."""
    described = facts.plan.settings.agents
    names = [name for name, agent in described.items() if agent.get("_target_") == TARGET]
    if not names:
        return {}
    make_folder(folder / FOLDER)
    files, games, said = file_names(names), _games(facts), _said(folder, names)
    columns = columns_of(facts.standings, facts.tournament_columns)
    stands = {row.agent: row for row in facts.standings.itertuples()}
    for name in names:
        standing = {c: columns[c](stands[name]) for c in columns if name in stands}
        standing = {c: cell for c, cell in standing.items() if cell not in (name, "-")}
        losses = [game for game in games[name] if game[3] == "lost"]
        logs = [line for entry in said[name] for line in str(entry).splitlines()]
        points = [game[7] for game in games[name] if game[7]]
        shown = [_failure(facts, game, said[name]) for game in _kinds_of_failures(losses)]
        write_report(
            "program",
            folder / FOLDER,
            title=name,
            file=files[name],
            run=facts.record.head()["name"],
            description=_description(described[name]) | standing,
            problem=described[name].get("problem", ""),
            losses=Counter(_lost_by(game) for game in losses).most_common(),
            failures=shown,
            figures=[failure.board for failure in shown if failure.board is not None],
            columns=_COLUMNS[: None if points else -2],
            games=[game[: None if points else -2] for game in games[name]],
            points=points,
            total=f"{sum(map(float, points)):g}",
            logs=logs[:MOST_LINES],
            more=max(0, len(logs) - MOST_LINES),
        )
    return {name: f"{FOLDER}/{file}.md" for name, file in files.items()}


def file_names(names: Sequence[str]) -> dict[str, str]:
    """A file's name for each program, without extension; no two differ by the case of letters
    alone.

    >>> file_names(["anna", "Anna", "../b c"])
    {'anna': 'anna', 'Anna': 'Anna-2', '../b c': '_b_c'}
    """
    files: dict[str, str] = {}
    taken: set[str] = set()
    for name in names:
        plain = re.sub(r"[^\w-]+", "_", name)[:60]
        number, file = 1, plain
        while file.casefold() in taken:
            number += 1
            file = f"{plain}-{number}"
        taken.add(file.casefold())
        files[name] = file
    return files


def _description(described: Mapping[str, Any]) -> dict[str, str]:
    """Return a description of the submitted file, in words."""
    lines = {"handed in": described["path"]}
    if described["protocol"] in _PROTOCOLS:
        lines["plays by"] = _PROTOCOLS[described["protocol"]]
    for key in ("command", "target"):
        if described.get(key):
            lines[key] = described[key]
    return lines


def _games(facts: RunFacts) -> dict[str, list[list[str]]]:
    """The rows of each agent's table of games."""
    games: dict[str, list[list[str]]] = defaultdict(list)
    awards = facts.plan.schedule.awards(facts.plan.names, facts.results)
    for row in facts.record.query(_GAMES).itertuples():
        for agent, name, colour, points, sign, opponent in (
            (row.black, row.black_name, "Black", row.black_points, 1, row.white_name),
            (row.white, row.white_name, "White", 1 - row.black_points, -1, row.black_name),
        ):
            result = {1.0: "won", 0.5: "drawn", 0.0: "lost"}[points]
            discs = f"{sign * row.disc_difference:+.0f}" if row.end_reason == FINISHED else "-"
            why = row.detail if result == "lost" else ""  # of the other's fault its own page tells
            award, reason = awards[row.pair][agent] if row.pair < len(awards) else ("", "")
            cells = [str(row.game), colour, opponent, result, discs, row.end_reason, why]
            games[name].append([*cells, f"{award:g}" if reason else "", reason])
    return games


def _lost_by(game: Sequence[str]) -> str:
    """The reason of a loss, in a row of the table of games."""
    return "fewer discs" if game[5] == FINISHED else game[5]


class LogEntry(NamedTuple):
    """An entry of a program's log. game: None for none. printed: True for the program's output."""

    game: int | None
    text: str
    printed: bool

    def __str__(self) -> str:
        return f"game {'-' if self.game is None else self.game}: {self.text}"


@dataclass(frozen=True)
class Failure:
    """A game that a program has lost by a fault, as its page shows it.

    title: the game and the reason. board: a drawing of the position at its end, None if the program
    could not be started. position: the same as text. words: the last lines that the program
    printed.
    """

    title: str
    board: Drawing | None
    position: str
    words: str


def _kinds_of_failures(losses: Sequence[Sequence[str]]) -> list[Sequence[str]]:
    """Return the first game of each kind of failure, in the rows of the table of games."""
    kinds: dict[tuple[str, str], Sequence[str]] = {}
    for game in losses:
        if game[5] not in FAIR_ENDS:
            reason, why = game[5:7]
            kinds.setdefault((reason, why if reason == RAISED else ""), game)
    return list(kinds.values())[:MOST_FAILURES]


def _failure(facts: RunFacts, game: Sequence[str], said: Sequence[LogEntry]) -> Failure:
    """Return the failure in a game, a row of the table of games. said: the program's log."""
    number, colour, opponent, _, _, reason, why, *_ = game
    ((opening, transcript),) = facts.record.rows(
        "select opening, transcript from games where game = ?", [int(number)]
    )
    rules = facts.plan.rules
    position, plies = Opening.read(opening, rules).begin(rules).follow(split_transcript(transcript))
    if position.must_pass:
        position = position.play(PASS)
    after = f"after ply {len(plies)}" if plies else "before the first move"
    title = f"Game {number}, as {colour} against {opponent}, {after}: {reason}"
    notes = [entry for entry in said if entry.game == int(number)]
    words = [entry.text.partition(": ")[2] for entry in notes if entry.printed]
    words = words or _words_of_failure(notes)
    board = None
    if reason != UNFIT:
        last = f" after {square_name(plies[-1])}" if plies and plies[-1] != PASS else ""
        caption = f"Game {number}{last}: {position.to_move.value.capitalize()} is to move."
        svg = position._repr_svg_()
        board = Drawing(f"game-{number}", f"The board of game {number}", caption, svg)
    return Failure(
        f"{title}: {why}" if why else title,
        board,
        str(position),
        "\n".join(f"{line:.{_WIDTH}}" for line in words[-LAST_WORDS:]),
    )


def _words_of_failure(notes: Iterable[LogEntry]) -> list[str]:
    """Return the further lines of the run's note on a failure: a program's last output, or a
    traceback."""
    for entry in notes:
        first, *further = entry.text.splitlines()
        if further and _LOSES.match(first):
            return [line.removeprefix("    ") for line in further]
    return []


def _said(folder: Path, names: Sequence[str]) -> dict[str, list[LogEntry]]:
    """Return the log of each program: notes of the run, and its own output."""
    said: dict[str, list[LogEntry]] = defaultdict(list)
    for file, printed in (("log.txt", False), ("output.txt", True)):
        for game, text in entries(folder / file):
            line = text if printed else text.partition(": ")[2]  # the logger comes first
            for name in names:
                if line.startswith((f"{name}: ", f"'{name}' ")):
                    said[name].append(LogEntry(game, line, printed))
    return said
