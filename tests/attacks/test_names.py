"""Names that are markup, formulas, control codes: every medium shows them as they are."""

from __future__ import annotations

import io
import logging
import re
from collections.abc import Callable
from html import unescape
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pandas as pd
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.cbook import is_math_text
from matplotlib.figure import Figure
from matplotlib.text import Text
from rich.console import Console
from runs import printed

from othello_lab import GreedyAgent, RandomAgent
from othello_lab.core.system.escaping import visible
from othello_lab.core.system.settings import ConfigError
from othello_lab.experiments.config import RunConfig, plan_of, read
from othello_lab.experiments.jobs.replan import about_object
from othello_lab.experiments.jobs.run import run, run_match
from othello_lab.experiments.record.log import logging_to
from othello_lab.experiments.report.figures.searches import cost_chart, depth_chart
from othello_lab.experiments.report.progress import progress_bar
from othello_lab.experiments.report.watch import look
from othello_lab.experiments.studies.study import PlayedRun, RunRequest
from othello_lab.experiments.sweep.figures import sweep_chart
from othello_lab.experiments.sweep.results import table_of
from othello_lab.experiments.sweep.sweep import sweep_table

NAMES = (
    "[red]x[/red]",
    "a[/b]",
    r"$\foo$",
    "\x1b[31mred\x1b]0;title\x07",
    "<script>alert(1)</script>",
    "**bold** `code` | cell",
    "two\nlines",
    "\u202egnp.txt",
    "_hidden",
    ":smile: back\\",
)
SHOWN = tuple(map(visible, NAMES))


def text_of(page: str) -> str:
    return unescape(re.sub("<[^>]+>", "", page))


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """A run whose agents have all these names, and what it printed."""
    agents = {n: GreedyAgent() if i % 2 else RandomAgent() for i, n in enumerate(NAMES)}
    words = ["agents=duel", "agent@first=greedy", "agent@second=random", "games=2", "ruleset=mini4"]
    settings = read([*words, "openings.plies=2", "executor=serial"]).settings
    settings.agents = {name: about_object(agent) for name, agent in agents.items()}
    settings.name, settings.rating.anchor = r"[/b] $\foo$ :smile:", NAMES[1]
    settings.results, settings.figures = str(tmp_path_factory.mktemp("names")), "files"
    shown = io.StringIO()
    console = Console(file=shown, force_terminal=True, color_system=None, width=200)
    made = run(plan_of(settings, agents), "\x1b[31mred", console).folder
    return made, shown.getvalue()


@pytest.mark.integration
def test_a_run_has_them_as_they_are(played: tuple[Path, str]) -> None:
    """On the terminal, in its report and figures, and when it is watched."""
    folder, printed = played
    watched = shown_by(lambda console: console.print(look(folder, console)[0]))
    assert r"[/b] $\foo$ :smile:: 90 of 90 games" in watched
    page = (folder / "report.html").read_text()
    assert "alert(1)" not in "".join(re.findall("<script[^>]*>(.*?)</script>", page, re.DOTALL))
    assert all(link.startswith("#") for link in re.findall(r"""href=["']?([^"'\s>]*)""", page))
    assert not re.search("[\x07\u202e]|\x1b\\[31m|\x1b\\]", printed)
    assert not re.search("[\x00-\x08\x0b-\x1f\u202e]", (folder / "report.md").read_text())
    for name in SHOWN:
        assert f" {name} " in printed and f" {name} " in watched
        assert name.replace("\\n", " ") in text_of(page)
    for figure in ("elo", "win_rates", "superiority"):
        drawing = ElementTree.parse(folder / f"{figure}.svg")
        texts = {"".join(part.itertext()).strip() for part in drawing.iter()}
        assert set(SHOWN) <= texts


@pytest.mark.integration
def test_charts_of_costs_and_sweeps_have_them_too() -> None:
    """None of it is a formula but powers of ten."""
    rows = [{"agent": name, "depth": depth, "[b]": name} for name in NAMES for depth in (1, 2)]
    common = {"positions": 1, "openings": 1, "nodes": 9.0, "nodes_per_move": 9.0, "$s$": "$a$ $b$"}
    common |= {"run": 1, "games": 2, "nodes_ratio": 1.0, "nodes_low": 0.9, "nodes_high": 1.1}
    frame = pd.DataFrame(rows).assign(**common)
    charts: list[tuple[Figure, set[str]]] = [
        (
            cost_chart(frame[frame["depth"] == 1], "$x$"),
            {"1 position from 1 opening, standard, $x$"},
        ),
        (sweep_chart(frame, "nodes_per_move", "[b]", "$s$"), {"$s$ = $a$ $b$", "[b]"}),
    ]
    for baseline in (NAMES[2], NAMES[3], NAMES[8]):  # a formula, control codes, a hidden one
        chart = depth_chart(frame, baseline)
        charts.append((chart, {f"nodes, {visible(baseline)} = 1"}))
    for figure, more in charts:
        FigureCanvasAgg(figure).draw()
        texts = [text for text in figure.findobj(Text) if "mathdefault" not in text.get_text()]
        assert not any(is_math_text(text.get_text()) for text in texts)
        drawn = {text.get_text().replace(r"\$", "$").strip() for text in texts}
        assert {*SHOWN, *more} <= drawn


def shown_by(show: Callable[[Console], object], **options: Any) -> str:
    """What is printed on a console."""
    console = Console(file=(shown := io.StringIO()), width=200, **options)
    show(console)
    return shown.getvalue()


def test_the_progress_bar_shows_them() -> None:
    def show(console: Console) -> None:
        with progress_bar(console) as progress:
            fields = {"before": 0, "note": NAMES[3], "warnings": [NAMES[0]]}
            progress.add_task(NAMES[1], total=1, **fields)

    shown = shown_by(show, force_terminal=True, color_system=None)
    assert SHOWN[1] in shown and f"{SHOWN[3]}, {SHOWN[0]}" in shown


@pytest.mark.integration
def test_tables_of_sweeps_show_them(played: tuple[Path, str]) -> None:
    values = {NAMES[0]: {0: NAMES[1]}, NAMES[2]: {0: NAMES[3]}}
    run = PlayedRun(0, played[0], RunRequest(RunConfig(), ""), 2, True)
    table = table_of([run], values)
    shown = shown_by(lambda console: console.print(sweep_table(table, values)))
    assert all(f" {name} " in shown for name in SHOWN)
    assert "[red]x[/red]=a[/b]" in shown


@pytest.mark.parametrize("name", ["", "\ud800", "a\udcff"])
def test_names_that_nothing_can_be_written_with_are_refused(tmp_path: Path, name: str) -> None:
    agents = {name: RandomAgent(), "b": RandomAgent()}
    with pytest.raises(ConfigError, match="agents="):
        run_match(agents, games=2, workers=0, results=tmp_path)
    if name:
        with pytest.raises(ConfigError, match="name="):
            run_match(["random", "greedy"], games=2, workers=0, results=tmp_path, name=name)
    assert not list(tmp_path.iterdir())


def test_help_and_lists_show_the_names_of_files(tmp_path: Path) -> None:
    (tmp_path / "agent").mkdir()
    for name in ("[b]x[", "\x1b[31mred", ":smile:"):
        (tmp_path / "agent" / f"{name}.yaml").write_text("# [/b] \x1b]0;title\x07\n_target_: x.Y\n")
    text = printed("agents", "list", "agents", "--config-dir", tmp_path)
    text += printed("run", "--help", "--config-dir", tmp_path)
    assert "\x1b" not in text
    for name in ("[b]x[", r"\x1b[31mred", ":smile:"):
        assert text.count(name) == 2
    assert r"[/b] \x1b]0;title\x07" in text


def test_error_lines_show_what_was_typed() -> None:
    red = "\x1b[31mred"
    for words in (
        ["resume", f"{red}\n"],
        [red],
        ["agents", "check", red],
        ["watch", "x", f"--{red}"],
    ):
        line = printed(*words, code=2)
        assert "\x1b" not in line and line.count(r"\x1b[31mred") == 1


def test_the_log_shows_what_agents_say(tmp_path: Path) -> None:
    with logging_to(tmp_path / "log.txt", "info"):
        logging.getLogger("lab").error("%s says\n\t%s", *NAMES[2:4])
    assert (tmp_path / "log.txt").read_text().endswith(f"{SHOWN[2]} says\n    \t{SHOWN[3]}\n")
