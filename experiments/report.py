"""What a run says at its end: the tables on the terminal, the figures, ``report.html`` and
``report.md``, all from the record."""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import jinja2
import numpy as np
from omegaconf import OmegaConf
from rich import box
from rich.console import Console
from rich.table import Table as RichTable

from agents.search import SearchAgent, WindowSearch
from core.game import FINISHED
from experiments.config import Plan, available_cores, limits_of
from experiments.openings import describe
from experiments.published import beside
from experiments.standings import pair_counts, same_positions, standings
from experiments.store import Record
from experiments.studies.pruning import count_nodes
from experiments.studies.searches import compare_searches, count_searches, sample

if TYPE_CHECKING:
    import pandas as pd

PRUNING_POSITIONS = 20
"""Positions of the run on which the pruning figure counts nodes."""


@dataclass(frozen=True)
class FigureFile:
    """A drawn figure: file name without ending, title, and how to read it."""

    name: str
    title: str
    caption: str


def conclude(record: Record, plan: Plan, folder: Path, console: Console) -> pd.DataFrame:
    """Print the standings, draw the figures and write the reports; returns the standings."""
    table = standings(record, seed=plan.settings.seed)
    costs = _costs(record, plan)
    findings = [*_findings(record), *_warnings(record, plan)]
    console.print(standings_table(table, console.width))
    for finding in findings:
        console.print(finding, highlight=False)
    with console.status("drawing figures"):
        figures = _draw(record, plan, table, costs, folder)
        _write(record, plan, folder, table, costs, findings, figures)
    for label, name in (
        ("report", "report.html"),
        ("figures", f"{{{','.join(figure.name for figure in figures)}}}.png, .svg"),
        ("record", "games.sqlite"),
    ):
        # Paths are for copying: not wrapped, not coloured in pieces.
        console.print(f"{label:8}{folder / name}", soft_wrap=True, highlight=False, markup=False)
    return table


# ---------------------------------------------------------------------- in words and numbers


def elo_text(row: Any) -> str:
    """``+123 ± 20``, ``> +620`` for an agent that won everything, or what there is to say."""
    if np.isnan(row.elo):
        return "-"
    if row.split:
        return "every pair split"
    if row.bound:
        return f"{row.bound} {row.elo:+.0f}"
    return f"{row.elo:+.0f} ± {(row.high - row.low) / 2:.0f}"


def _number(value: float, digits: int = 0) -> str:
    """``-`` for what an agent that does not search has none of."""
    return "-" if np.isnan(value) or not value else f"{value:,.{digits}f}"


def _per_second(nodes: float) -> str:
    if nodes < 1e6 or np.isnan(nodes):
        return _number(nodes)
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
    "Elo ± 95 %": elo_text,
    "discs": lambda row: "-" if np.isnan(row.disc_difference) else f"{row.disc_difference:+.1f}",
    "nodes/move": lambda row: _number(row.nodes_per_move),
    "nodes/s": lambda row: _per_second(row.nodes_per_second),
    "evals/move": lambda row: _number(row.evaluations_per_move),
}
"""The columns of every standings table, and how a row fills them."""


def _cells(table: pd.DataFrame) -> list[list[str]]:
    return [[cell(row) for cell in COLUMNS.values()] for row in table.itertuples()]


def terminal_table(columns: Iterable[str]) -> RichTable:
    """An empty table for the terminal. Words go left, numbers right, and headings of two words
    break between them, so that the standings fit into some 90 columns."""
    drawn = RichTable(box=box.SIMPLE_HEAD, header_style="bold", padding=(0, 1, 0, 0))
    for name in columns:
        words = name in ("agent", "settings", "algorithm")
        heading = name.replace("/", "\n/").replace(" ", "\n", 1)
        drawn.add_column(heading, justify="left" if words else "right", no_wrap=words)
    return drawn


def standings_table(table: pd.DataFrame, width: int) -> RichTable:
    """The standings for a terminal of so many columns. A narrow one does without the last column,
    which the report has, rather than cut numbers."""
    columns = list(COLUMNS)[: -1 if width < 90 else None]
    drawn = terminal_table(columns)
    for cells in _cells(table):
        drawn.add_row(*cells[: len(columns)])
    return drawn


def _all(count: int, what: str) -> str:
    return f"the one {what}" if count == 1 else f"all {count:,} {what}s"


def _findings(record: Record) -> Iterable[str]:
    """Where agents chose the same moves, what that cost each: the lesson of alpha-beta."""
    for row in same_positions(record).itertuples():
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
    record: Record, plan: Plan, table: pd.DataFrame, costs: pd.DataFrame | None, folder: Path
) -> list[FigureFile]:
    import pandas as pd

    from experiments import figures
    from experiments.ratings import score_matrix

    drawn = [
        FigureFile(
            "elo",
            "Elo",
            "Bradley-Terry ratings over all games; the mean of the pool is 0. Bars are 95 % "
            "intervals from a bootstrap over pairs of games. 100 points more is an expected "
            "score of 64 %.",
        ),
        FigureFile(
            "win_rates",
            "Win rates",
            "Share of points of the row agent against the column agent, draws counting half.",
        ),
    ]
    agents = record.agents()
    names = [marked(*row) for row in zip(agents["name"], agents["selective"], strict=True)]
    order = [marked(*row) for row in zip(table["agent"], table["selective"], strict=True)]
    if table["elo"].isna().any():
        drawn.pop(0)
    else:
        figures.save(figures.elo_chart(table.assign(agent=order)), folder, "elo")
    scores = pd.DataFrame(score_matrix(pair_counts(record)), index=names, columns=names)
    figures.save(figures.win_rate_matrix(scores.loc[order, order]), folder, "win_rates")

    if costs is not None:
        costs.to_csv(folder / "searches.csv", index=False)
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
    findings: list[str],
    figures: list[FigureFile],
) -> None:
    head = record.run()
    games = record.query("select count(*) as games, count(distinct opening) as openings from games")
    total = 2 * plan.pairs
    forfeited = table["forfeits"].sum()
    repeats = plan.settings.openings.repeats
    played = int(games["games"].iloc[0])
    facts = {
        "games": f"{played:,}" + ("" if played == total else f" of {total:,} (stopped early)"),
        "openings": f"{games['openings'].iloc[0]:,} ({describe(plan.settings.openings)}), each "
        f"played {'again and again, ' if repeats else ''}twice with colours swapped",
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
        rows=_cells(table),
        agents={name: described(each) for name, each in head["config"]["agents"].items()},
        findings=findings,
        figures=figures,
        published=plan.settings.published,
        beside=beside(plan.settings.published, record, costs) if plan.settings.published else [],
        facts=facts,
        command=head["command"],
        settings=OmegaConf.to_yaml(OmegaConf.create(head["config"])),
    )


def render(template: str, folder: Path, **values: Any) -> None:
    """Write ``report.html`` and ``report.md`` from the templates of this name; in HTML figures are
    embedded, with ``embed(name)``."""
    for ending in ("html", "md"):
        environment = jinja2.Environment(
            loader=jinja2.PackageLoader("experiments"),
            autoescape=ending == "html",
            undefined=jinja2.StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
        )
        text = environment.get_template(f"{template}.{ending}.j2").render(
            embed=lambda name: _embedded(folder / f"{name}.svg"), **values
        )
        (folder / f"report.{ending}").write_text(text, encoding="utf-8")


def described(settings: Any) -> str:
    """An agent's or evaluation's settings in a line: ``AlphaBeta, depth 4, SquareWeights``."""
    if not isinstance(settings, dict):
        return str(settings)
    words = [str(settings.get("_target_", "")).rpartition(".")[2]]
    for key, value in settings.items():
        if isinstance(value, dict) and "_target_" in value:
            words.append(f"{key} {described(value)}")
        elif key != "_target_":
            words.append(f"{key} {value}")
    return ", ".join(words)


def _embedded(path: Path) -> str:
    return "data:image/svg+xml;base64," + base64.b64encode(path.read_bytes()).decode()
