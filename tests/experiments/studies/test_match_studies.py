"""Studies made of matches: attribution, scaling, intransitivity, openings."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from othello_lab import Position
from othello_lab.__main__ import main
from othello_lab.agents.evaluation.composite import Composite
from othello_lab.experiments.studies import load
from othello_lab.experiments.studies.attribution import (
    AgentSwitch,
    _by_time,
    _findings,
    cost_effects,
    ranked,
)
from othello_lab.experiments.studies.figures.matches import effects_chart

SMALL = ("executor=serial", "openings.plies=6")


def made(
    folder: Path, *words: str, figures: bool = False
) -> tuple[dict[str, pd.DataFrame], str, list[str]]:
    """A small study: its tables, its report, and the figures it has."""
    drawn = f"figures={'files' if figures else 'none'}"
    assert main(["study", *words, *SMALL, drawn, f"results={folder}"]) == 0
    (where,) = (folder / words[0]).iterdir()
    names = sorted(path.stem for path in where.glob("*.png"))
    return load(where), (where / "report.md").read_text(), names


@pytest.fixture(scope="module")
def attribution(
    tmp_path_factory: pytest.TempPathFactory,
) -> tuple[dict[str, pd.DataFrame], str, list[str]]:
    """Disc count and mobility, on and off, at one ply."""
    weights = "agents.agent.evaluation.weights"
    return made(
        tmp_path_factory.mktemp("attribution"), "attribution", "games=20", "depth=1",
        f"{weights}.corners=0", f"{weights}.stable_discs=0", f"{weights}.disc_count=4",
        "evaluation@agents.opponent.evaluation=disc_count", figures=True,
    )  # fmt: skip


@pytest.mark.integration
def test_every_combination_of_switches_plays(
    attribution: tuple[dict[str, pd.DataFrame], str, list[str]],
) -> None:
    tables, report, figures = attribution
    combined = tables["combinations"].set_index("agent")
    assert set(combined.index) == {"all off", "disc_count", "mobility", "disc_count+mobility"}
    assert combined.loc["disc_count+mobility", ["disc_count", "mobility"]].all()
    assert (combined["games"] == 20).all()
    effects = tables["effects"].set_index("term")
    elo = combined["elo"]
    without = elo["all off"] + elo["disc_count"]
    mobile = elo["mobility"] + elo["disc_count+mobility"]
    assert effects.loc["mobility", "elo"] == pytest.approx((mobile - without) / 2, abs=0.01)
    crossed = elo["disc_count+mobility"] + elo["all off"] - elo["disc_count"] - elo["mobility"]
    assert effects.loc["disc_count with mobility", "elo"] == pytest.approx(crossed, abs=0.01)
    assert (effects["low"] < effects["elo"]).all() and (effects["elo"] < effects["high"]).all()
    assert "What each switch adds, in Elo against 'opponent':" in report
    for measure, least in (("microseconds", 0.3), ("nodes", 10)):
        name = "elo_per_microsecond" if measure == "microseconds" else "elo_per_1000_nodes"
        told = effects[effects[name].notna()]
        assert (told[measure] > least).all() and (told[f"{measure}_low"] > 0).all()
        assert (told[f"{name}_low"] <= told[name]).all()
        assert (told[name] <= told[f"{name}_high"]).all()
    assert figures == ["cost", "effects"]


def test_what_lost_everything_ranks_last() -> None:
    """Its bound may be above the rating of another one."""
    score, elo = [0.0, 0.1, 0.4], [-183.0, -191, -70]
    combined = pd.DataFrame({"agent": ["all off", "mobility", "both"], "score": score, "elo": elo})
    assert ranked(combined)["agent"].tolist() == ["both", "mobility", "all off"]


def opening_costs(openings: int, spread: float) -> pd.DataFrame:
    """Costs of two agents: the second takes 5 microseconds, and 2 nodes, more for a move."""
    generator = np.random.default_rng(5)
    rows = []
    for opening in range(openings):
        for agent in (0, 1):
            moves = int(generator.integers(50, 70))
            time = moves * (20 + 5 * agent + generator.normal(0, spread))
            rows.append((agent, f"opening {opening}", moves, moves * (30 + 2 * agent), time))
    return pd.DataFrame(rows, columns=["agent", "opening", "moves", "nodes", "microseconds"])


@pytest.mark.integration
def test_a_cost_has_the_interval_of_its_openings() -> None:
    costs = opening_costs(200, 10.0)
    (effect,), mean = cost_effects(np.array([[-1.0, 1.0]]), costs, "microseconds")

    def difference(table: pd.DataFrame) -> float:
        sums = table.groupby("agent")[["microseconds", "moves"]].sum()
        means = sums["microseconds"] / sums["moves"]
        return float(means[1] - means[0])

    assert effect.value == pytest.approx(difference(costs))
    assert mean == pytest.approx(22.5, abs=2)
    openings = dict(list(costs.groupby("opening")))
    names, generator = list(openings), np.random.default_rng(6)
    drawn = [
        difference(pd.concat([openings[name] for name in generator.choice(names, len(names))]))
        for _ in range(200)
    ]
    assert (effect.high - effect.low) / 2 == pytest.approx(1.97 * np.std(drawn), rel=0.2)
    (exact,), _ = cost_effects(np.array([[-1.0, 1.0]]), costs, "nodes")
    assert exact == pytest.approx((2, 2, 2))
    (alone,), _ = cost_effects(np.array([[-1.0, 1.0]]), costs[:2], "microseconds")
    assert np.isnan(alone.low) and np.isnan(alone.high)


def test_no_switch_is_the_best_for_its_time_unless_intervals_show_it() -> None:
    worth = pd.DataFrame(
        {
            "term": ["mobility", "corners", "parity"],
            "elo_per_microsecond": [10.0, 40.0, np.nan],
            "elo_per_microsecond_low": [8.0, 30.0, np.nan],
            "elo_per_microsecond_high": [12.0, 50.0, np.nan],
        }
    )
    numbers, best = _by_time(worth)
    assert numbers.endswith("corners +40.0 [30.0, 50.0], mobility +10.0 [8.0, 12.0].")
    assert best == "corners brings most for its time among these."
    _, unsettled = _by_time(worth.assign(elo_per_microsecond_low=[8.0, 11.0, np.nan]))
    assert "not settled" in unsettled
    assert not list(_by_time(worth[1:]))


def test_only_an_interval_without_nought_shows_that_a_switch_matters() -> None:
    names, ends = ["helps", "harms", "idle", "begins"], [(5, 15), (-15, -5), (-9, 9), (0, 20)]
    low, high = np.array(ends, dtype=float).T
    effects = pd.DataFrame(
        {"term": names, "order": 1, "elo": (low + high) / 2, "low": low, "high": high}
    )
    effects["elo_per_microsecond"] = np.nan
    none = pd.DataFrame({"agent": [], "bound": []})
    _, useless = _findings(effects, none, "opponent", 30)
    assert "from 30 openings: begins, idle; whether these switches do" in useless
    crossed = effects.assign(order=2)
    said = [text.split(": ")[1].split()[0] for text in _findings(crossed, none, "opponent", 30)]
    assert said == ["helps", "harms"]


def test_effects_chart_draws_intervals_from_end_to_end() -> None:
    effects = pd.DataFrame(
        [("corners", 1, 10.0, 4.0, 17.0), ("parity", 1, -3.0, np.nan, np.nan)],
        columns=["term", "order", "elo", "low", "high"],
    )
    (axes,) = effects_chart(effects).axes
    bars = [
        (float(line[:, 0].min()), float(line[:, 0].max()))
        for part in axes.containers
        for lines in part.lines[2]
        for line in lines.get_segments()
    ]
    assert bars == [pytest.approx((4, 17))]


def test_a_feature_is_switched_off_in_all_stages() -> None:
    stages = [{"empties": [0, 30], "weights": {"mobility": 5}}, {"empties": [31, 60]}]
    weights = {"mobility": 8, "corners": 0}
    agent = {"evaluation": {"weights": weights, "stages": stages}}
    AgentSwitch("mobility").turn(agent, True)
    assert agent["evaluation"]["weights"]["mobility"] == 8
    AgentSwitch("mobility").turn(agent, False)
    composite = Composite(**agent["evaluation"])
    position = Position.start().play("d3").play("c3")
    assert composite.plain(position) == 0
    assert composite(position) == 0


@pytest.mark.integration
def test_elo_by_doubling(tmp_path: Path) -> None:
    """The finding is the slope of the levels' ratings."""
    tables, report, _ = made(
        tmp_path, "scaling", "games=8", "study.levels=[1,2]",
        "evaluation@agents.iago.evaluation=mobility",
    )  # fmt: skip
    levels, gains = tables["levels"], tables["doublings"]
    assert sorted(levels["name"])[:2] == ["disc_count 1", "disc_count 2"]
    own = levels[(levels["agent"] == "iago") & levels["bound"].isna()]
    gain = gains[(gains["agent"] == "iago") & (gains["effort"] == "depth")].iloc[0]
    slope = np.polyfit(np.log2(own["level"]), own["elo"], 1)[0]
    assert gain["elo"] == pytest.approx(slope, abs=0.01)
    assert gain["low"] < gain["elo"] < gain["high"]
    assert "Elo gained by each doubling of depth" in report


def test_cycles_and_alpha_rank(tmp_path: Path) -> None:
    line_up = [f"agent@{name}=random" for name in ("first", "second")]
    tables, report, _ = made(
        tmp_path, "intransitivity", "games=8", "agents=duel", *line_up,
        "+agents.greedy={_target_:othello_lab.GreedyAgent}",
    )  # fmt: skip
    ranks = tables["ranks"]
    assert ranks["alpha_rank"].sum() == pytest.approx(1)
    assert (ranks["alpha_low"] <= ranks["alpha_rank"]).all()
    assert (ranks["alpha_rank"] <= ranks["alpha_high"]).all()
    assert len(tables["pairings"]) == 3
    assert "of 3 pairings" in report


@pytest.mark.integration
def test_sets_of_openings(tmp_path: Path) -> None:
    line_up = ["agents=duel", "agent@first=random", "agent@second=greedy"]
    tables, report, _ = made(
        tmp_path,
        "openings",
        "games=24",
        *line_up,
        "study.sets=[start,{name:deep,kind:random,plies:9}]",
    )
    table = tables["openings"].set_index("openings")
    assert list(table.index) == ["start", "deep"]
    assert table.loc["start", "from_openings"] == 1 < table.loc["deep", "from_openings"]
    known = table.dropna(subset=["pairs_needed"])
    assert len(known) == 2
    assert (known["needed_low"] < known["pairs_needed"]).all()
    assert "Pairs needed to see 30 Elo between such agents:" in report
    assert "start is a single opening" in report and "deep is a single" not in report
    few, many = sorted(table.index, key=lambda name: table.loc[name, "pairs_needed"])
    apart = table.loc[few, "needed_high"] < table.loc[many, "needed_low"]
    assert f"Whether {few} needs fewer than {many} is not settled" in report or apart


@pytest.mark.integration
@pytest.mark.parametrize(
    ("words", "figures"),
    [
        (("scaling", "games=8", "study.levels=[1,2]"), ["cost", "scaling"]),
        (("scaling", "games=4", "study.levels=[20,40]", "study.by=nodes", "agents=ab_mirror",
          "agents.left.iterative=true", "agents.right.iterative=true"), ["cost", "scaling"]),
        (("intransitivity", "games=60", "agents=classics"), ["graph", "ranks"]),
        (("openings", "games=24"), ["openings"]),
        (("attribution", "games=8", "study.switches={ordering: [none, static]}"),
         ["cost", "effects"]),
    ],
)  # fmt: skip
def test_studies_have_figures(tmp_path: Path, words: tuple[str, ...], figures: list[str]) -> None:
    assert made(tmp_path, *words, figures=True)[2] == figures


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (("attribution", "study.agent=nobody"), "unknown study.agent 'nobody'"),
        (("attribution", "study.opponent=agent"), "another agent than study.agent"),
        (("attribution", "study.switches={iterative: true}"), "[OFF, ON], two values"),
        (("attribution", "study.switches={no.such: [1, 2]}"), "study.switches 'no.such'"),
        (("attribution", "study.agent=opponent", "study.opponent=agent"), "no composite"),
        (("scaling", "study.levels=[2]"), "two or more, ascending"),
        (("scaling", "study.levels=[2, 1]"), "two or more, ascending"),
        (("scaling", "study.levels=[1.5, 2]"), "whole numbers"),
        (("scaling", "study.levels=[1, 100]"), "a depth is 64 at most"),
        (("scaling", "study.by=nodes"), "does not deepen iteratively"),
        (("scaling", "agents=duel", "agent@first=random", "agent@second=pvs"), "has no depth"),
        (("intransitivity", "agents=ab_vs_minimax"), "three agents"),
        (("openings", "agents=classics"), "two agents are needed"),
        (("openings", "study.sets=[nowhere]"), "unknown openings 'nowhere'"),
        (("openings", "study.sets=[]"), "a list of sets"),
        (("openings", "study.sets=[start,start]"), "two are called start"),
        (("openings", "study.sets=[start,{kind:file,file:nowhere.txt}]"), "nowhere.txt"),
    ],
)  # fmt: skip
def test_what_cannot_be_studied_is_told_in_a_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], words: tuple[str, ...], why: str
) -> None:
    assert main(["study", *words, f"results={tmp_path}"]) == 2
    told = capsys.readouterr().err.strip()
    assert why in told and "\n" not in told
    assert not list(tmp_path.iterdir())
