"""A page for each submitted program: its games, its losses, and its output."""

from __future__ import annotations

import re
import shlex
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from othello_lab.agents.external.submission import TARGET
from othello_lab.core.game import FINISHED
from othello_lab.experiments.record.log import entries
from othello_lab.experiments.report.facts import RunFacts
from othello_lab.experiments.report.markdown import write_report
from othello_lab.experiments.report.tables import columns_of

FOLDER = "programs"
"""Where the pages are, in the folder of the run."""
MOST_LINES = 200
"""Of a log, on a page."""

_PROTOCOLS = {"file": "the file protocol", "line": "the line protocol", "python": "Python"}
_GAMES = """
    select game, b.name as black, w.name as white, black_points, disc_difference, end_reason, detail
    from games join agents b on b.agent = black join agents w on w.agent = white order by game
"""
_COLUMNS = ("game", "colour", "opponent", "result", "discs", "end", "why")


def write_programs(facts: RunFacts, folder: Path) -> dict[str, str]:
    """Write the pages of all submissions, as Markdown and HTML; returns where each is, as seen from
    the report. Other agents have none."""
    described = facts.plan.settings.agents
    names = [name for name, about in described.items() if about.get("_target_") == TARGET]
    if not names:
        return {}
    (folder / FOLDER).mkdir(exist_ok=True)
    files, games, said = file_names(names), _games(facts), _said(folder, names)
    columns = columns_of(facts.standings, facts.merits)
    stands = {row.agent: row for row in facts.standings.itertuples()}
    for name in names:
        place = {c: columns[c](stands[name]) for c in columns if name in stands}
        place = {c: cell for c, cell in place.items() if cell not in (name, "-")}
        losses = [game for game in games[name] if game[3] == "lost"]
        write_report(
            "program",
            folder / FOLDER,
            title=name,
            file=files[name],
            run=facts.record.run()["name"],
            about=_about(described[name]) | place,
            problem=described[name].get("problem", ""),
            losses=Counter(_lost_by(game) for game in losses).most_common(),
            columns=_COLUMNS,
            games=games[name],
            replay=f"othello-lab play replay {shlex.quote(str(folder))} game={{}}",
            logs=said[name][:MOST_LINES],
            more=max(0, len(said[name]) - MOST_LINES),
        )
    return {name: f"{FOLDER}/{file}.md" for name, file in files.items()}


def file_names(names: Sequence[str]) -> dict[str, str]:
    """A file's name for each program, without extension; no two differ by the case of letters
    alone.

    >>> file_names(["anna", "Anna", "../b c"])
    {'anna': 'anna', 'Anna': 'Anna-2', '../b c': '_b_c'}
    """
    found: dict[str, str] = {}
    taken: set[str] = set()
    for name in names:
        plain = re.sub(r"[^\w-]+", "_", name)[:60]
        number, file = 1, plain
        while file.casefold() in taken:
            number += 1
            file = f"{plain}-{number}"
        taken.add(file.casefold())
        found[name] = file
    return found


def _about(described: Mapping[str, Any]) -> dict[str, str]:
    """Return a description of the submitted file, in words."""
    told = {"handed in": described["path"]}
    if described["protocol"] in _PROTOCOLS:
        told["plays by"] = _PROTOCOLS[described["protocol"]]
    for key in ("command", "target"):
        if described.get(key):
            told[key] = described[key]
    return told


def _games(facts: RunFacts) -> dict[str, list[list[str]]]:
    """The rows of each agent's table of games."""
    found: dict[str, list[list[str]]] = defaultdict(list)
    for row in facts.record.query(_GAMES).itertuples():
        for agent, colour, points, sign, opponent in (
            (row.black, "Black", row.black_points, 1, row.white),
            (row.white, "White", 1 - row.black_points, -1, row.black),
        ):
            result = {1.0: "won", 0.5: "drawn", 0.0: "lost"}[points]
            discs = f"{sign * row.disc_difference:+.0f}" if row.end_reason == FINISHED else "-"
            why = row.detail if result == "lost" else ""  # of the other's fault its own page tells
            found[agent].append(
                [str(row.game), colour, opponent, result, discs, row.end_reason, why]
            )
    return found


def _lost_by(game: Sequence[str]) -> str:
    """The reason of a loss, in a row of the table of games."""
    return "fewer discs" if game[5] == FINISHED else game[5]


def _said(folder: Path, names: Sequence[str]) -> dict[str, list[str]]:
    """Return the lines of each program's log: notes of the run, and its own output."""
    said: dict[str, list[str]] = defaultdict(list)
    for file, named in (("log.txt", True), ("output.txt", False)):
        for game, text in entries(folder / file):
            told = text.partition(": ")[2] if named else text  # the logger comes first
            for name in names:
                if told.startswith((f"{name}: ", f"'{name}' ")):
                    said[name] += f"game {'-' if game is None else game}: {told}".splitlines()
    return said
