"""Each number of a run's tables, counted again from its games with pandas."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from io import StringIO
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from rich.console import Console
from runs import changed, line_of
from shared import copied

from othello_lab.experiments.jobs.run_kind import facts_of
from othello_lab.experiments.report.citing import latex_tables
from othello_lab.experiments.report.findings import findings
from othello_lab.experiments.report.report import tell, write
from othello_lab.experiments.report.tables import elo_text

Row = dict[str, str]
TITLES = ("Standings", "Match by match", "By colour", "Crosstable", "How games ended")

LEAD = (12, 4, 8, 6, 0, 10, -4, 0)
"""Black's lead in discs, game by game: whoever has White first is ahead, 3-1-0 as Black and 1-1-2
as White."""
CRASHES = (None, None, 4, 8, None, None, None, None)
"""The same; the agent with Black first forfeits nearly all games, and then wins one."""


def with_results(folder: Path, lead: Sequence[int | None], exchanged: bool) -> None:
    """Give the run of two agents in a folder other results; None for a forfeit."""
    statements = ["update games set black = white, white = black"] * exchanged
    for game, discs in enumerate(lead):
        sign = np.sign(2 * (game % 2) - 1 if discs is None else discs)
        changes = f"result = '{['draw', 'black', 'white'][sign]}', black_points = {(sign + 1) / 2}"
        changes += f", disc_difference = {'null' if discs is None else discs}"
        changes += ", end_reason = 'time exceeded'" if discs is None else ""
        statements.append(f"update games set {changes} where game = {game}")
    changed(folder, *statements)


def seats_of(folder: Path) -> pd.DataFrame:
    """Each game as each of its agents sees it."""
    with closing(sqlite3.connect(folder / "record.sqlite")) as connection:
        games = pd.read_sql("select * from games", connection)
        names = dict(connection.execute("select agent, name from agents"))
    seats = []
    for colour, other, sign in (("black", "white", 1), ("white", "black", -1)):
        points = games["result"].map({colour: 1.0, "draw": 0.5, other: 0.0})
        side = {"colour": colour, "points": points, "discs": sign * games["disc_difference"]}
        side |= {"agent": games[colour].map(names), "opponent": games[other].map(names)}
        seats.append(games[["pair", "opening", "transcript", "end_reason"]].assign(**side))
    table = pd.concat(seats, ignore_index=True)
    by_pair = table.groupby(["pair", "agent"])["end_reason"]
    return table.assign(
        whole=by_pair.transform("count") == 2,
        fair=by_pair.transform(lambda ends: list(ends) == ["finished"] * 2),
    )


def wdl(rows: pd.DataFrame) -> str:
    return "-".join(str(int((rows["points"] == points).sum())) for points in (1, 0.5, 0))


def check_match(row: Row, seats: pd.DataFrame) -> None:
    mine = (seats["agent"] == row["agent"]) & (seats["opponent"] == row["opponent"])
    views = seats[mine & seats["whole"]].sort_values(["pair", "colour"])
    score = views["points"].mean()
    assert score > 0.5 or (score == 0.5 and not views[views["fair"]]["discs"].sum() < 0)
    pairs = (
        views[views["fair"]]
        .groupby("pair")[["points", "discs", "opening", "transcript"]]
        .agg(tuple)
    )
    pairs = pairs[~pairs[["opening", "transcript"]].duplicated()]
    points = 2 * pairs["points"].map(sum)
    discs = pairs["discs"].map(np.mean).mean() if len(pairs) else np.nan
    ends = views["end_reason"].value_counts()
    expected = {
        "games": f"{len(views)}",
        "W-D-L": wdl(views),
        "as Black": wdl(views[views["colour"] == "black"]),
        "as White": wdl(views[views["colour"] == "white"]),
        "score %": f"{100 * score:.1f}",
        "pairs": f"{len(pairs)}",
        "pairs by points": "-".join(f"{(points == half).sum()}" for half in range(5)),
        "discs [95 %]": "-" if np.isnan(discs) else f"{discs:+z.1f}",
        "ends": "finished" if len(ends) == 1 and "finished" in ends else
        ", ".join(f"{reason} {count}" for reason, count in ends.items()),
    }  # fmt: skip
    shown = row | {"discs [95 %]": row["discs [95 %]"].split(" ")[0]}
    assert {name: shown[name] for name in expected if name in shown} == {
        name: value for name, value in expected.items() if name in shown
    }
    share = points.sum() / 4 / max(1, len(pairs))
    if re.match(r"[+-]\d", row["Elo [95 %]"]):
        assert row["Elo [95 %]"].split(" ")[0] == f"{400 * np.log10(share / (1 - share)):+z.0f}"
    else:
        assert not 0 < share < 1 or len(pairs) < 10 or row["Elo [95 %]"] == "every pair split"


def check_standings(rows: Sequence[Row], seats: pd.DataFrame) -> None:
    for row in rows:
        games = seats[seats["agent"] == row["agent"]]
        discs = games["discs"].mean()
        assert row["games"] == f"{len(games)}"
        assert "-".join(row[name] for name in ("wins", "draws", "losses")) == wdl(games)
        assert row["score %"] == f"{100 * games['points'].mean():.1f}"
        assert row["discs"] == ("-" if np.isnan(discs) else f"{discs:+z.1f}")
    if (seats["end_reason"] != "finished").any():
        scores = [float(row["score %"]) for row in rows]
        assert scores == sorted(scores, reverse=True)


def check_others(tables: dict[str, list[Row]], seats: pd.DataFrame) -> None:
    for row in tables.get("By colour", []):
        games = seats[(seats["agent"] == row["agent"]) & (seats["colour"] == row["as"].lower())]
        assert "-".join(row[name] for name in ("wins", "draws", "losses")) == wdl(games)
        assert row["score % [95 %]"].split()[0] == f"{100 * games['points'].mean():.1f}"
    for row in tables.get("Crosstable", []):
        for other in tables["Crosstable"]:
            met = (seats["agent"] == row["agent"]) & (seats["opponent"] == other["agent"])
            points = row[other["place"]].split("/")[0].replace("½", ".5")
            assert float(points or 0) == seats[met]["points"].sum()
    for row in tables.get("How games ended", []):
        ended = seats[seats["end_reason"] == row["end"]]
        lost = ended[(ended["agent"] == row["lost by"]) & (ended["points"] == 0)]
        assert int(row["games"]) == (len(ended) / 2 if row["lost by"] == "-" else len(lost))


def in_rows(lines: Sequence[str], between: str) -> list[Row]:
    """The rows of a table from its lines, the headings first."""
    cells = [
        [re.sub(r"\\dag{}|[\\†]", "", cell).strip() for cell in line.split(between)]
        for line in lines
    ]
    return [dict(zip(cells[0], row, strict=True)) for row in cells[1:]]


def tables_of(report: str) -> dict[str, list[Row]]:
    parts = (part.partition("\n") for part in report.split("\n## ")[1:])
    lines = {title: re.findall(r"^\|(.* .*)\|$", text, re.MULTILINE) for title, _, text in parts}
    return {title: in_rows(lines[title], "|") for title in TITLES if lines.get(title)}


def check_run(folder: Path) -> None:
    """Check all tables of the games of a run: in the report, on the terminal, in LaTeX, as CSV."""
    console = Console(record=True, width=200, file=StringIO())
    with facts_of(folder) as facts:
        facts.plan.settings.figures = "none"
        said = findings(facts)
        tell(facts, said, console)
        write(facts, said, folder, console)
        printed, latex = console.export_text(), latex_tables(facts).replace("$-$", "-")
    seats, tables = seats_of(folder), tables_of((folder / "report.md").read_text("utf-8"))
    check_standings(tables["Standings"], seats)
    of_latex = [
        re.findall(r"^.* & .* \\\\$", part, re.MULTILINE) for part in latex.split("toprule")
    ]
    check_standings(in_rows(of_latex[1], " & "), seats)
    csv = pd.read_csv(folder / "matches.csv")
    assert len(csv) == len(tables["Match by match"])
    for row in [*tables["Match by match"], *in_rows(of_latex[2], " & ")]:
        check_match(row, seats)
        same = csv[(csv["agent"] == row["agent"]) & (csv["opponent"] == row["opponent"])]
        for name, part in (("W-D-L", ""), ("as Black", "black_"), ("as White", "white_")):
            counts = same[[f"{part}{result}" for result in ("wins", "draws", "losses")]]
            assert row[name] == "-".join(map(str, *counts.to_numpy()))
        if len(csv) == 1:
            for name in ("games", "W-D-L", "as Black", "as White", "score %", "pairs by points"):
                assert re.search(rf" {name} +{row[name]} ", printed)
    check_others(tables, seats)
    forfeits, shown = (seats["end_reason"] != "finished").any(), tables["Match by match"][0]
    assert ("ends" in shown) == forfeits
    assert ("pairs" in shown) == (2 * csv["pairs"] != csv["games"]).any()
    assert ("opponent" in printed) == (len(csv) == 1)
    for text in (printed, latex, (folder / "report.md").read_text("utf-8")):
        assert ("Ordered by points" in text) == forfeits


@pytest.mark.parametrize(
    ("lead", "exchanged"), [(LEAD, False), (LEAD, True), (CRASHES, False), ((None,) * 8, True)]
)
def test_tables_of_two_agents(
    lead: Sequence[int | None], exchanged: bool, recorded_duel: Path, tmp_path: Path
) -> None:
    folder = copied(recorded_duel, tmp_path)
    with_results(folder, lead, exchanged)
    check_run(folder)


def test_tables_of_several_agents(recorded_ladder: Path, tmp_path: Path) -> None:
    folder = copied(recorded_ladder, tmp_path)
    forfeit = "end_reason = 'illegal move', disc_difference = null, result = 'white'"
    where = "black = 4 and game % 4 < 2"
    anchor = "update job set config = json_set(config, '$.rating.anchor', 'greedy')"
    games = f"update games set {forfeit}, black_points = 0 where {where}"
    check_run(changed(folder, anchor, games))
    report, watched = (folder / "report.md").read_text("utf-8"), line_of("watch", folder, "--once")
    assert "relative to greedy" in report and "0 (anchor)" in report
    with facts_of(folder) as facts:
        assert all(elo_text(row) in watched for row in facts.standings.itertuples())
