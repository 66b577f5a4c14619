"""What a run says at its end: the tables on the terminal, the figures, ``report.html`` and
``report.md``, all from the record."""

from __future__ import annotations

import base64
import inspect
import json
import pkgutil
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import compress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import jinja2
import numpy as np
from numpy.typing import ArrayLike
from omegaconf import OmegaConf
from rich import box
from rich.console import Console
from rich.table import Table as RichTable
from scipy.sparse.csgraph import connected_components

from agents.search import SearchAgent, WindowSearch
from core.game import FINISHED
from experiments.config import Plan, available_cores, limits_of
from experiments.pairing.openings import describe
from experiments.record.provenance import differences
from experiments.record.store import Record
from experiments.report.published import beside
from experiments.report.standings import (
    OUTCOME_COLUMNS,
    matches,
    pair_counts,
    rated_parts,
    same_positions,
    standings,
)
from experiments.statistics.intervals import interval_text
from experiments.statistics.match import MatchStatistics, match_statistics
from experiments.statistics.pairs import IntArray
from experiments.statistics.pool import Ratings
from experiments.statistics.sequential import Sprt
from experiments.studies.pruning import count_nodes
from experiments.studies.searches import compare_searches, count_searches, sample

if TYPE_CHECKING:
    import pandas as pd

PRUNING_POSITIONS = 20
"""Positions of the run on which the pruning figure counts nodes."""

FEW = 3
"""Up to so many pairings are told one by one where the report would otherwise get long."""

SUPERIORITY_AGENTS = range(3, 21)
"""For so many agents the report shows how sure each one's superiority is; of two, LOS says it."""


@dataclass(frozen=True)
class FigureFile:
    """A drawn figure: file name without ending, title, and how to read it."""

    name: str
    title: str
    caption: str


def conclude(record: Record, plan: Plan, folder: Path, console: Console) -> pd.DataFrame:
    """Print the standings, draw the figures and write the reports; returns the standings."""
    rating = plan.settings.rating
    parts = rated_parts(record, plan.settings.seed, rating.anchor, rating.colour_advantage)
    table = standings(record, parts=parts)
    paired = matches(record)
    paired.to_csv(folder / "matches.csv", index=False)
    costs = _costs(record, plan)
    if costs is not None:
        costs.to_csv(folder / "searches.csv", index=False)
    findings = [
        *_findings(record),
        *_about_ratings(plan, parts, len(table)),
        *repeated(paired),
        *_about_record(record, plan),
        *_warnings(record, plan),
    ]
    for drawn in standings_tables(table, console):
        console.print(drawn)
    if 0 < len(paired) <= FEW:
        console.print(_terminal_matches(paired))
    for finding in findings:
        console.print(finding, highlight=False)
    figures = []
    if plan.settings.figures:
        with console.status("drawing figures"):
            figures = _draw(record, plan, table, parts, costs, folder)
    anchored = any(ratings.anchor is not None for _, ratings in parts)
    _write(record, plan, folder, table, costs, paired, findings, figures, anchored)
    left = {"report": "report.html", "record": "games.sqlite"}
    if figures:
        left["figures"] = f"{{{','.join(figure.name for figure in figures)}}}.png, .svg"
    for label, name in left.items():
        # Paths are for copying: not wrapped, not coloured in pieces.
        console.print(f"{label:8}{folder / name}", soft_wrap=True, highlight=False, markup=False)
    return table


# ---------------------------------------------------------------------- in words and numbers


def elo_text(row: Any) -> str:
    """``+123 [103, 145]``, ``> +620`` for an agent that won everything, or what there is to say."""
    if np.isnan(row.elo):
        return "-"
    if row.split:
        return "every pair split"
    if row.bound:
        return f"{row.bound} {row.elo:+.0f}"
    if row.elo == row.low == row.high == 0:
        return "0 (anchor)"
    return interval_text(row.elo, row.low, row.high)


def _number(value: float, digits: int = 0) -> str:
    """``-`` for what an agent that does not search has none of."""
    return "-" if np.isnan(value) or not value else f"{value:,.{digits}f}"


def _per_second(nodes: float) -> str:
    if nodes < 1e3 or np.isnan(nodes):
        return _number(nodes)
    if nodes < 1e6:
        return f"{nodes / 1e3:.0f}\N{NO-BREAK SPACE}k"
    return f"{nodes / 1e6:.1f}\N{NO-BREAK SPACE}M"


SELECTIVE_MARK = "\N{DAGGER}"
"""Follows the names of agents that search selectively wherever their results are shown."""


def marked(name: str, selective: bool) -> str:
    """An agent's name, with the mark if it searches selectively."""
    return f"{name} {SELECTIVE_MARK}" if selective else name


COLUMNS: dict[str, Callable[[Any], str]] = {
    "agent": lambda row: marked(row.agent, row.selective),
    "games": lambda row: f"{row.games:,}",
    "wins": lambda row: f"{row.wins:,}",
    "draws": lambda row: f"{row.draws:,}",
    "losses": lambda row: f"{row.losses:,}",
    "score %": lambda row: f"{100 * row.score:.1f}",
    "Elo [95 %]": elo_text,
    "discs": lambda row: "-" if np.isnan(row.disc_difference) else f"{row.disc_difference:+.1f}",
    "nodes/move": lambda row: _number(row.nodes_per_move),
    "nodes/s": lambda row: _per_second(row.nodes_per_second),
    "evals/move": lambda row: _number(row.evaluations_per_move),
}
"""The columns of every standings table, and how a row fills them."""

LESS_NEEDED = ("evals/move", "nodes/s", "discs", "draws", "games")
"""What a narrow terminal does without, in this order."""


def _cells(table: pd.DataFrame) -> list[list[str]]:
    return [[cell(row) for cell in COLUMNS.values()] for row in table.itertuples()]


def _by_part(table: pd.DataFrame) -> list[tuple[str, list[list[str]]]]:
    """The standings of each part of the pool that met, with a heading if there are several."""
    parts = [
        ("without a complete pair" if part < 0 else f"pool {part + 1}", _cells(rows))
        for part, rows in table.groupby("part", sort=False)
    ]
    return parts if len(parts) > 1 else [("", parts[0][1])]


def statistics_of(row: Any) -> MatchStatistics:
    """The statistics of a row of :func:`experiments.report.standings.matches`."""
    return match_statistics([getattr(row, name) for name in OUTCOME_COLUMNS])


def _discs(row: Any) -> str:
    if np.isnan(row.discs):
        return "-"
    margin = "" if np.isnan(row.discs_margin) else f" ± {row.discs_margin:.1f}"
    return f"{row.discs:+.1f}{margin}"


def _dashes(row: Any, *names: str) -> str:
    return "-".join(f"{getattr(row, name):,}" for name in names)


def _ends(row: Any) -> str:
    return FINISHED if row.ends == f"{FINISHED} {row.games}" else str(row.ends)


MATCH_COLUMNS: dict[str, Callable[[Any], str]] = {
    "agent": lambda row: row.first,
    "opponent": lambda row: row.second,
    "games": lambda row: f"{row.games:,}",
    "W-D-L": lambda row: _dashes(row, "wins", "draws", "losses"),
    "as Black": lambda row: _dashes(row, "black_wins", "black_draws", "black_losses"),
    "as White": lambda row: _dashes(row, "white_wins", "white_draws", "white_losses"),
    "score %": lambda row: f"{100 * row.score:.1f}",
    "pairs": lambda row: f"{row.pairs:,}",
    "pairs by points": lambda row: _dashes(row, *OUTCOME_COLUMNS),
    "Elo ± 95 %": lambda row: statistics_of(row).elo_text,
    "nElo ± 95 %": lambda row: statistics_of(row).nelo_text,
    "LOS": lambda row: statistics_of(row).los_text,
    "discs ± 95 %": _discs,
    "ends": _ends,
}
"""The columns of the table of matches, and how a row fills them."""


def _match_cells(paired: pd.DataFrame) -> list[list[str]]:
    return [[cell(row) for cell in MATCH_COLUMNS.values()] for row in paired.itertuples()]


def _terminal_matches(paired: pd.DataFrame) -> RichTable:
    """The table of a few matches on its side: one column a pairing."""
    drawn = RichTable(box=box.SIMPLE_HEAD, header_style="bold", padding=(0, 1, 0, 0))
    drawn.add_column("as the first sees it")
    cells = _match_cells(paired)
    for first, second, *_ in cells:
        drawn.add_column(f"{first} -\n{second}", justify="right")
    for name, *values in list(zip(MATCH_COLUMNS, *cells, strict=True))[2:]:
        drawn.add_row(name, *values)
    return drawn


def terminal_table(columns: Iterable[str]) -> RichTable:
    """An empty table for the terminal. Words go left, numbers right, and headings of two words
    break between them, so that the standings fit into some 90 columns."""
    drawn = RichTable(box=box.SIMPLE_HEAD, header_style="bold", padding=(0, 1, 0, 0))
    for name in columns:
        words = name in ("agent", "settings", "algorithm")
        heading = name.replace("/", "\n/").replace(" ", "\n", 1)
        drawn.add_column(heading, justify="left" if words else "right", no_wrap=True)
    return drawn


def standings_tables(table: pd.DataFrame, console: Console) -> Iterable[RichTable]:
    """The standings for a terminal, a table for each part of the pool that met. A narrow terminal
    does without some columns, which the report has, rather than cut numbers."""
    unbounded = console.options.update(width=10_000)
    for heading, rows in _by_part(table):
        for left_out in range(len(LESS_NEEDED) + 1):
            shown = [name not in LESS_NEEDED[:left_out] for name in COLUMNS]
            drawn = terminal_table(compress(COLUMNS, shown))
            drawn.title = heading or None
            for row in rows:
                drawn.add_row(*compress(row, shown))
            # asked of a console without an edge, or it would never be more
            if console.measure(drawn, options=unbounded).maximum <= console.width:
                break
        yield drawn


def _all(count: int, what: str) -> str:
    return f"the one {what}" if count == 1 else f"all {count:,} {what}s"


def _findings(record: Record) -> Iterable[str]:
    """Where agents chose the same moves, what that cost each: the lesson of alpha-beta."""
    alike = same_positions(record)
    if len(alike) > FEW:
        yield from _alike(alike)
        return
    for row in alike.itertuples():
        first, second = row.first, row.second
        few, many = sorted((row.first_nodes, row.second_nodes))
        if few == many:
            cost = f"both visited {few:,} nodes"
        else:
            cheap, dear = (first, second) if few == row.first_nodes else (second, first)
            cost = f"{cheap} visited {few:,} nodes, {100 * few / many:.2f} % of {dear}'s {many:,}"
        yield (
            f"{first} and {second} chose the same moves in {_all(row.pairs, 'pair')}, so the score "
            f"is 50 %; on the same {row.positions:,} positions {cost}."
        )


def _alike(alike: pd.DataFrame) -> Iterable[str]:
    """The same of many pairings: one line for each group of agents."""
    names = sorted({*alike["first"], *alike["second"]})
    place = {name: number for number, name in enumerate(names)}
    link = np.zeros((len(names), len(names)), dtype=bool)
    link[[place[name] for name in alike["first"]], [place[name] for name in alike["second"]]] = True
    groups, label = connected_components(link, directed=False)
    for group in range(groups):
        members = [name for name in names if label[place[name]] == group]
        pairings = len(members) * (len(members) - 1) // 2
        rows = alike[alike["first"].isin(members)]
        which = "all" if len(rows) == pairings else f"{len(rows)} of the"
        yield (
            f"{', '.join(members)}: in {which} {pairings} pairings among them both agents chose "
            f"the same moves in every pair, so the score is 50 %."
        )


def _about_ratings(
    plan: Plan, parts: Sequence[tuple[IntArray, Ratings]], agents: int
) -> Iterable[str]:
    """What the ratings rest on, where that is not as usual."""
    if not parts or len(parts[0][0]) < agents:
        yield (
            "Not all agents met, if only through others, so the pool falls into parts whose ratings"
            " cannot be compared."
        )
    anchor = plan.settings.rating.anchor
    if anchor is not None and all(ratings.anchor is None for _, ratings in parts):
        yield f"{anchor} has no rating to be the anchor, so the mean of the pool is 0 Elo."
    if plan.settings.rating.colour_advantage:
        for number, (_, ratings) in enumerate(parts, start=1):
            where = f" in pool {number}" if len(parts) > 1 else ""
            if ratings.advantage is None:
                yield f"The games cannot tell Black's advantage{where}."
            else:
                low, best, high = ratings.advantage
                yield f"Black's advantage{where}: {interval_text(best, low, high)} Elo."


def repeated(paired: pd.DataFrame) -> Iterable[str]:
    """Warnings of pairs that repeat earlier ones move for move; from
    :func:`experiments.report.standings.matches`."""
    rows = paired[paired["pairs"] < paired["all_pairs"]]
    exhausted = rows[rows["pairs"] <= rows["openings"]]
    if len(rows) > FEW:
        pairs, distinct = rows["all_pairs"].sum(), rows["pairs"].sum()
        yield (
            f"In {len(rows):,} pairings pairs of games repeat earlier ones move for move: only "
            f"{distinct:,} of their {pairs:,} pairs are distinct (matches.csv)"
            + (
                f"; in {len(exhausted):,} of them both agents play without chance and have run out"
                " of openings"
                if len(exhausted)
                else ""
            )
            + ". Elo and all intervals count distinct pairs."
        )
        return
    for row in rows.itertuples():
        counted = "Elo and all intervals count distinct pairs."
        if row.pairs <= row.openings:
            openings = "the one opening" if row.openings == 1 else f"the {row.openings:,} openings"
            yield (
                f"{row.first} and {row.second} play without chance and have run out of openings: "
                f"from {openings} only {row.pairs:,} of their {row.all_pairs:,} pairs are "
                f"distinct. {counted}"
            )
        else:
            yield (
                f"{row.all_pairs - row.pairs:,} of the {row.all_pairs:,} pairs of {row.first} and "
                f"{row.second} repeat an earlier one move for move. {counted}"
            )


def sprt_outcome(test: Sprt, counts: ArrayLike) -> str:
    """How a sequential test ended, in words; counts: shape (5,), pairs as the first agent sees them
    in the order in which the test saw them."""
    decision = test.decide(counts)
    pairs = int(np.sum(counts))
    ended = f"{decision} was accepted" if decision else "no decision"
    return (
        f"SPRT, {test.model} Elo, H0: {test.elo0:g}, H1: {test.elo1:g} (error rates "
        f"{test.alpha:g}, {test.beta:g}): {ended} after {pairs:,} pair{'s' * (pairs != 1)}; LLR "
        f"{test.llr(counts):+.2f}, bounds {test.lower:+.2f} and {test.upper:+.2f}. "
        + (
            "The Elo of a match that its own result stopped is biased: it overstates on average "
            "how far the result is from the other hypothesis."
            if decision
            else "More pairs can still decide it."
        )
    )


def _about_record(record: Record, plan: Plan) -> Iterable[str]:
    """How a sequential test ended; which pairs are missing; whether versions were mixed."""
    if plan.sprt:
        yield sprt_outcome(plan.sprt, pair_counts(record)[0, 1])
    skipped = record.skipped()
    if len(skipped):
        numbers = ", ".join(f"{pair}" for pair in skipped["pair"].head(20))
        pairs = "1 pair was" if len(skipped) == 1 else f"{len(skipped):,} pairs were"
        yield f"{pairs} not played, because {skipped['reason'].iloc[0]}: number {numbers}."
    sessions = [json.loads(text) for text in record.sessions()["versions"]]
    changed = sorted({change for each in sessions for change in differences(sessions[0], each)})
    if changed:
        yield (
            f"These games mix versions, since the run was resumed with --force: "
            f"{'; '.join(changed)}."
        )


def _warnings(record: Record, plan: Plan) -> Iterable[str]:
    for name, agent in plan.agents.items():
        if isinstance(agent, SearchAgent) and not agent.compiled:
            yield (
                f"{name} searched as ordinary Python (compiled: false): its counts can be compared "
                "with the others', its nodes/s cannot."
            )
    for name, agent in plan.agents.items():
        if agent.selective:
            yield (
                f"{marked(name, True)} searches selectively: it leaves out what is probably worse, "
                "so its values are not minimax's."
            )
    yield from _time_kept(record, plan)
    forfeits = record.query(
        """select name, end_reason, count(*) as games from games
           join agents on agent = case result when 'black' then white else black end
           where end_reason != ? group by name, end_reason order by games desc""",
        [FINISHED],
    )
    for row in forfeits.itertuples():
        games = "1 game" if row.games == 1 else f"{row.games:,} games"
        yield f"{row.name} forfeited {games}: {row.end_reason} (see log.txt)."


BUSY_SHARE = 0.95
"""Below this share of their thinking time on the processor agents were held up by other work."""


def _time_kept(record: Record, plan: Plan) -> Iterable[str]:
    """Whether a run with a time limit had the machine to itself."""
    if not limits_of(plan.settings).timed:
        return
    if plan.workers > available_cores():
        yield (
            f"The machine was oversubscribed: {plan.workers} workers on {available_cores()} cores; "
            "agents had less time than their limit says."
        )
    clocked = [name for name, agent in plan.agents.items() if agent.watches_clock]
    share = record.query(
        f"""select 1.0 * sum(cpu_microseconds) / sum(microseconds) as share from moves
            join agents using (agent)
            where nodes > 0 and name in ({", ".join("?" * len(clocked))})""",
        clocked,
    )["share"].iloc[0]
    if clocked and share is not None and share < BUSY_SHARE:
        yield (
            f"The machine was oversubscribed: agents had the processor for {100 * share:.0f} % of "
            "their thinking time; other programs, or too many workers, had the rest."
        )
    if clocked:
        yield (
            "Time was limited, so the games of " + ", ".join(clocked) + " cannot be reproduced "
            "move for move."
        )


# ---------------------------------------------------------------------- figures


def _costs(record: Record, plan: Plan) -> pd.DataFrame | None:
    """What each search costs on positions of the run; None unless that was asked for, or there is a
    choice of searches whose costs are settled by their depth alone."""
    study = plan.settings.study
    searchers = {
        n: a
        for n, a in plan.agents.items()
        if isinstance(a, SearchAgent) and (a.depth > 1 or study.asked)
    }
    limits = limits_of(plan.settings)
    limited = limits.timed or limits.nodes is not None or limits.depth is not None
    several = sum(isinstance(a, WindowSearch) and not a.bare for a in searchers.values()) >= 2
    if not searchers or not (study.asked or (several and not limited)):
        return None
    positions = sample(record, study.positions, plan.settings.seed)
    costs = count_searches(positions, searchers, study.depths)
    return compare_searches(costs, study.baseline, plan.settings.seed)


def _draw(
    record: Record,
    plan: Plan,
    table: pd.DataFrame,
    parts: Sequence[tuple[IntArray, Ratings]],
    costs: pd.DataFrame | None,
    folder: Path,
) -> list[FigureFile]:
    import pandas as pd

    from experiments.report import figures
    from experiments.statistics.pool import score_matrix

    drawn = []
    agents = record.agents()
    names = [marked(*row) for row in zip(agents["name"], agents["selective"], strict=True)]
    order = [marked(*row) for row in zip(table["agent"], table["selective"], strict=True)]
    shown = table.assign(agent=order)
    for part in range(len(parts)):
        name = f"elo_{part + 1}" if part else "elo"
        anchor = parts[part][1].anchor
        held = "" if anchor is None else names[parts[part][0][anchor]]
        figures.save(figures.elo_chart(shown[shown["part"] == part], held), folder, name)
        drawn.append(
            FigureFile(
                name,
                f"Elo, pool {part + 1}" if len(parts) > 1 else "Elo",
                f"Bradley-Terry ratings over all games; {_zero(held)} is 0. Bars are 95 % "
                "intervals from a bootstrap over pairs of games. 100 points more is an expected "
                "score of 64 %.",
            )
        )
    scores = pd.DataFrame(score_matrix(pair_counts(record)), index=names, columns=names)
    figures.save(figures.win_rate_matrix(scores.loc[order, order]), folder, "win_rates")
    drawn.append(
        FigureFile(
            "win_rates",
            "Win rates",
            "Share of points of the row agent against the column agent, draws counting half.",
        )
    )
    if len(names) in SUPERIORITY_AGENTS and parts:
        above = np.full((len(names), len(names)), np.nan)
        for members, ratings in parts:
            above[np.ix_(members, members)] = ratings.superiority
        shares = pd.DataFrame(above, index=names, columns=names)
        figures.save(figures.superiority_matrix(shares.loc[order, order]), folder, "superiority")
        drawn.append(
            FigureFile(
                "superiority",
                "Who is better, and how sure that is",
                "In how many of a hundred replicates of the bootstrap over pairs the row agent is "
                "rated above the column agent: 50 is a toss-up, 97.5 or more is what a two-sided "
                "test at 5 % would call better.",
            )
        )

    if costs is not None:
        marks = [marked(*row) for row in zip(costs["agent"], costs["selective"], strict=True)]
        shown = costs.assign(agent=marks)
        baseline = plan.settings.study.baseline
        depths = sorted(set(costs["depth"]))
        if plan.settings.study.depths:
            chart = figures.depth_chart(shown, baseline)
        else:
            title = " to ".join(f"{each}" for each in (depths[0], depths[-1])[: len(depths)])
            chart = figures.cost_chart(shown, f"depth {title}")
        figures.save(chart, folder, "searches")
        drawn.append(
            FigureFile(
                "searches",
                "What each search costs",
                f"Mean nodes of every search on the same {costs['positions'].max():,} positions of "
                f"this run, from {costs['openings'].max():,} openings, each searched afresh"
                ". The table is in searches.csv"
                + (f", with ratios to {baseline} and their 95 % intervals." if baseline else "."),
            )
        )
    searchers = [agent for agent in plan.agents.values() if isinstance(agent, SearchAgent)]
    deepest = max(searchers, key=lambda agent: agent.depth, default=None)
    if deepest is None or deepest.depth < 2:
        return drawn
    positions = [position for _, position in sample(record, PRUNING_POSITIONS, plan.settings.seed)]
    counts = count_nodes(positions, deepest.depth, deepest.evaluation)
    if counts["depth"].max() < 2:
        return drawn
    name = deepest.evaluation.name
    figures.save(figures.pruning_chart(counts, subtitle=name), folder, "pruning")
    counts.to_csv(folder / "pruning.csv", index=False)
    drawn.append(
        FigureFile(
            "pruning",
            "Pruning efficiency",
            f"Mean nodes of minimax and alpha-beta (moves from a1 to h8) on the same "
            f"{len(positions)} positions of this run, with {name}. The percentages are "
            "alpha-beta's share of minimax's nodes.",
        )
    )
    return drawn


# ---------------------------------------------------------------------- reports


def _write(
    record: Record,
    plan: Plan,
    folder: Path,
    table: pd.DataFrame,
    costs: pd.DataFrame | None,
    paired: pd.DataFrame,
    findings: list[str],
    figures: list[FigureFile],
    anchored: bool,
) -> None:
    head = record.run()
    games = record.query("select count(*) as games, count(distinct opening) as openings from games")
    forfeited = table["forfeits"].sum()
    repeats = plan.settings.openings.repeats
    played = int(games["games"].iloc[0])
    facts = {
        "games": f"{played:,}" + _of_all(played, 2 * plan.pairs, plan, head["complete"]),
        "openings": f"{games['openings'].iloc[0]:,} ({describe(plan.settings.openings)}), each "
        f"played {'again and again, ' if repeats else ''}twice with colours swapped",
        "distinct games": f"{paired['distinct_games'].sum():,}; effective number of pairs "
        f"{paired['pairs'].sum():,} (complete, and repeating no earlier one move for move)",
        "forfeits": f"{forfeited:,}",
        "ruleset": head["ruleset"],
        "seed": head["seed"],
        "started": datetime.fromisoformat(head["started"]).strftime("%Y-%m-%d %H:%M:%S"),
        "wall time": f"{head['wall_seconds']:.1f} s",
        "workers": plan.crew,
        "machine": ", ".join(f"{key} {value}" for key, value in head["machine"].items()),
        "versions": ", ".join(f"{key} {value}" for key, value in head["versions"].items()),
    }
    render(
        "report",
        folder,
        title=head["name"],
        columns=list(COLUMNS),
        tables=_by_part(table),
        zero=_zero(plan.settings.rating.anchor if anchored else None),
        match_columns=list(MATCH_COLUMNS),
        matches=_match_cells(paired),
        agents=described(head["config"]["agents"]),
        findings=findings,
        figures=figures,
        published=plan.settings.published,
        beside=beside(plan.settings.published, record, costs) if plan.settings.published else [],
        facts=facts,
        command=head["command"],
        settings=OmegaConf.to_yaml(OmegaConf.create(head["config"])),
    )


def _of_all(played: int, total: int, plan: Plan, complete: bool) -> str:
    if plan.sprt:
        return f" of at most {total:,}"
    return "" if complete else f" of {total:,} (stopped early)"


def render(template: str, folder: Path, **values: Any) -> None:
    """Write ``report.html`` and ``report.md`` from the templates of this name; in HTML figures are
    embedded, with ``embed(name)``."""
    for ending in ("html", "md"):
        environment = jinja2.Environment(
            loader=jinja2.PackageLoader("experiments.report"),
            autoescape=ending == "html",
            undefined=jinja2.StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
        )
        text = environment.get_template(f"{template}.{ending}.j2").render(
            embed=lambda name: _embedded(folder / f"{name}.svg"), **values
        )
        (folder / f"report.{ending}").write_text(text, encoding="utf-8")


def _zero(anchor: str | None) -> str:
    return anchor or "the mean of the pool"


def described(agents: Mapping[str, Mapping[str, Any]]) -> dict[str, str]:
    """Each agent's settings in a line: ``AlphaBeta, depth 4, evaluation SquareWeights``. What is as
    it is by default is left out, unless the agents differ in it."""
    values: dict[str, set[str]] = {}
    for settings in agents.values():
        for key, value in settings.items():
            values.setdefault(key, set()).add(str(value))
    differing = {key for key, found in values.items() if len(found) > 1}
    return {name: _in_words(settings, differing) for name, settings in agents.items()}


def _in_words(settings: Mapping[str, Any], differing: Collection[str] = ()) -> str:
    target = str(settings.get("_target_") or settings.get("object", ""))
    defaults = _defaults(target)
    words = [target.rpartition(".")[2]]
    for key, value in settings.items():
        off = (value is None or value is False) and not defaults.get(key)
        if off or key in ("_target_", "object"):
            continue
        if isinstance(value, Mapping) and ("_target_" in value or "object" in value):
            words.append(f"{key} {_in_words(value)}")
        elif isinstance(value, Mapping):
            words.append(
                f"{key} {' '.join(f'{name} {part}' for name, part in value.items() if part)}"
            )
        elif key in differing or key not in defaults or defaults[key] != value:
            words.append(f"{key} {value}")
    return ", ".join(words)


def _defaults(target: str) -> dict[str, Any]:
    """The default values of a class's settings; none where it is out of reach by its name."""
    try:
        line = pkgutil.resolve_name(target).__mro__
    except (ImportError, AttributeError, ValueError):
        return {}
    makers = [kind.__init__ for kind in reversed(line) if "__init__" in vars(kind)]
    parameters = [each for make in makers for each in inspect.signature(make).parameters.values()]
    return {parameter.name: parameter.default for parameter in parameters}


def _embedded(path: Path) -> str:
    return "data:image/svg+xml;base64," + base64.b64encode(path.read_bytes()).decode()
