"""The sentences of a first screen, in a table: the sentence's name, its template, a small record of
which it is true, and one of which it must not be said."""

from __future__ import annotations

import math
import re
from dataclasses import replace
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pandas as pd
import pytest
from handmade import Pair, handmade_run
from records import query
from runs import changed, played
from shared import copied

from othello_lab import AlphaBeta, GreedyAgent, Limits, RandomAgent, SearchStats, SquareWeights
from othello_lab.experiments.jobs.run import run_match
from othello_lab.experiments.jobs.run_kind import facts_of
from othello_lab.experiments.report.elo_lead import lead
from othello_lab.experiments.report.facts import RunFacts
from othello_lab.experiments.report.findings import findings
from othello_lab.experiments.report.tables import limits_in_words
from othello_lab.experiments.sweep.trend import trends
from othello_lab.play.game import counts_in_words

WON: Pair = (0, 1, 20, 10)
HALF: Pair = (0, 1, 20, 0)
SHARED: Pair = (0, 1, 8, -8)
LOST: Pair = (0, 1, -6, -4)
ILLEGAL: Pair = (0, 1, "illegal move", 4)
DUEL = "agents=duel agent@first=weighted agent@second=greedy"
TRIO = "agents=classics ~agents.random ~agents.alphabeta_3 ~agents.alphabeta_5"
COSTS = "agents=ab_vs_minimax depth=2"
GAUNTLET = f"{TRIO} schedule=gauntlet schedule.champion=weighted"
# The agents of TRIO: 0 is greedy, 1 weighted, 2 minimax_2; who wins most pairs of whom.
LADDER: list[Pair] = [(1, 0, 20, 10), (1, 0, 20, -10), (2, 1, 20, 10), (2, 1, 20, -10)] * 6
# The last two of six share points with each other alone, and beat the other four, who form a pool.
TOP_TWO: list[Pair] = [(high, low, 20, 10) for high in (5, 4) for low in range(4)] * 3
TOP_TWO += [(low, (low + 1) % 4, 8, 2) for low in range(4)] * 3
TOP_TWO += [(5, 4, 20, 10)] * 20 + [(5, 4, -9, -9)] * 4
STAR: list[Pair] = [(1, 0, 20, 10), (1, 2, 20, 10), (1, 2, -9, -9), (1, 2, -9, -8)] * 8

RECORDS: dict[str, tuple[str, list[Pair], dict[str, Any]]] = {
    "won": (DUEL, [WON] * 30, {"nodes": {0: 12}}),
    "won once": (DUEL, [WON], {}),
    "won mostly": (DUEL, [WON] * 25 + [LOST] * 5, {}),
    "ahead": (DUEL, [WON] * 16 + [LOST] * 12, {}),
    "even": (DUEL, [WON, LOST] * 15, {}),
    "split": (DUEL, [SHARED] * 20, {}),
    "few openings": (DUEL, [WON, WON, LOST, WON] * 3, {"openings": 4}),
    "used again": (f"{DUEL} openings.repeats=true", [WON, WON, LOST, WON], {"openings": 4}),
    "one opening": (DUEL, [HALF], {"openings": 1}),
    "by chance": (DUEL, [WON, WON, LOST], {"openings": 1}),
    "forfeits": (DUEL, [WON] * 6 + [ILLEGAL] * 3, {}),
    "unsafe": (f"{DUEL} isolation=none rating.colour_advantage=true", [WON, LOST, SHARED] * 9, {}),
    "pruned": (COSTS, [SHARED] * 6, {"nodes": {0: 80, 1: 20}, "times": {1: 30}, "alike": True}),
    "as many": (COSTS, [SHARED] * 6, {"nodes": {0: 80, 1: 80}, "alike": True}),
    "uncounted": (COSTS, [SHARED] * 6, {"alike": True}),
    "other moves": (COSTS, [SHARED] * 6, {"nodes": {0: 80, 1: 20}}),
    "equal nodes": (COSTS, [SHARED] * 6, {"nodes": {0: 80, 1: 80}}),
    "quoted": (
        f"{COSTS} ~agents.alphabeta +agent@agents.none=alphabeta",
        [SHARED] * 6,
        {"nodes": {0: 20, 1: 80}, "alike": True},
    ),
    "other depths": (f"{COSTS} agents.minimax.depth=1", [SHARED] * 6, {"nodes": {0: 80, 1: 20}}),
    "two alike": (
        f"{COSTS} +agent@agents.greedy=greedy +agent@agents.random=random",
        [SHARED] * 6 + [(n, other, 20, 10) for n in (0, 1) for other in (2, 3)] * 6,
        {"nodes": {0: 80, 1: 20}, "alike": True},
    ),
    "shared": (f"{TRIO} schedule=swiss openings=start openings.repeats=true", [WON], {}),
    "one deep": (COSTS, [SHARED] * 6, {"nodes": {0: 80, 1: 76}, "spread": 3}),
    "ladder": (f"{TRIO} rating.anchor=greedy", LADDER, {}),
    "top two": ("agents=classics", TOP_TWO, {}),
    "star": (f"{GAUNTLET} rating.anchor=greedy", STAR, {}),
    "apart": (
        "agents=classics ~agents.random ~agents.alphabeta_5 agents.minimax_2.compiled=false",
        [(0, 1, 20, 10), (2, 3, 20, 10)] * 4,
        {},
    ),
    "selective": ("agents=duel agent@first=tapered agent@second=greedy", [WON] * 9, {}),
}

SENTENCES = [
    ("lead", r"weighted leads greedy by \d+ \[\d+, \d+\] Elo, in 60 games\.", "won mostly", "won"),
    ("bound", r"leads greedy by more than 392 Elo, in 60", "won", "won mostly"),
    ("too few", r"weighted leads greedy, in 2 games: too few for an Elo\.", "won once", "won"),
    ("undecided", r"\[-\d+, \d+\] Elo: undecided\. .*some [\d,]+ games", "ahead", "won mostly"),
    ("hopeless", r"undecided\. .*no number of games worth playing", "even", "ahead"),
    ("no leader", r"Between weighted and greedy there are 0 \[", "even", "ahead"),
    ("too few openings", r"undecided\. 4 openings are too few", "few openings", "ahead"),
    ("one opening", r"by \d+ Elo, from one opening: nothing is decided", "one opening", "won once"),
    ("split", r"Every pair was split, so these games cannot tell", "split", "even"),
    ("ranks", r"All ranks: minimax_2 > weighted > greedy\.", "ladder", "won"),
    ("own games", r"alphabeta_5 leads alphabeta_3 by \d+ \[\d+, \d+\] Elo, in the 48 games between "
     "these two", "top two", "ladder"),
    ("forfeits", r"3 of 18 games ended by a forfeit, all by weighted", "forfeits", "won"),
    ("gauntlet", r"weighted, which met all others, is on place 2 of 3\. minimax_2 leads weighted "
     r"by .* weighted leads greedy by more than \d+ Elo, in the 16 games", "star", "ladder"),
    ("anchor", r"greedy has no rating to be the anchor, .*: weighted is 0 Elo\.", "star", "ladder"),
    ("cost of a move", r"A move costs weighted 12 nodes and 10.µs, greedy 10.µs", "won", "even"),
    ("order of times", r"from the fastest to the slowest: minimax 10.µs, ", "pruned", "as many"),
    ("same moves", r"alphabeta visited 25\.00 % of minimax's nodes at equal strength.*, the same "
     r"moves in all 6 pairs; 240 nodes against 960", "pruned", "other moves"),
    ("as many nodes", r"minimax and alphabeta visited as many nodes", "as many", "pruned"),
    ("one strategy", r"minimax, alphabeta play the same moves\.", "uncounted", "pruned"),
    ("shared place", r"greedy and weighted share the first place of 3 \(points", "shared", "won"),
    ("quoted", r"minimax visited 25\.00 % of the nodes of 'none' at equal", "quoted", "pruned"),
    ("two alike", r"25\.00 % of (.|\n)*minimax, alphabeta play the same", "two alike", "ladder"),
    ("equal ranks", r"All ranks: .*minimax = alphabeta", "two alike", "ladder"),
    ("other depths", r"Every pair was split", "other depths", "other moves"),
    ("fewest nodes", r"alphabeta visits the fewest nodes of 2.* 25 % of those of minimax\.\n"
     r"Nodes in order, with minimax as 100 %: alphabeta 25 %, minimax 100 %\.", "other moves",
     "equal nodes"),
    ("fewer nodes", r"visits the fewest nodes .* in their own games", "other moves", "one deep"),
    ("same values", r"All search equally deep with the same", "other moves", "uncounted"),
    ("few results", r"All games come from 4 openings, .*More games", "few openings", "even"),
    ("used up", r"All games come from 4 openings, so .*wide\.$", "used again", "few openings"),
    ("chance", r"All games come from one opening and differ by chance", "by chance", "one opening"),
    ("no interval", r"one opening, so no interval can be given", "one opening", "by chance"),
    ("apart", r"Some agents did not meet, not even through others\.", "apart", "ladder"),
    ("as Python", r"minimax_2 searched as ordinary Python", "apart", "ladder"),
    ("selective", r"tapered . searches selectively", "selective", "won"),
    ("isolation", r"Nobody was isolated", "unsafe", "won"),
    ("advantage", r"Black's advantage: [+-]\d+ \[", "unsafe", "won"),
]  # fmt: skip


@cache
def said(record: str) -> str:
    """All sentences of a record, a line each."""
    words, pairs, how = RECORDS[record]
    with (
        TemporaryDirectory() as folder,
        handmade_run(Path(folder) / "record.sqlite", words, pairs, **how) as facts,
    ):
        return "\n".join(findings(facts).sentences)


@pytest.mark.integration
@pytest.mark.parametrize(
    ("template", "true", "false"), [row[1:] for row in SENTENCES], ids=[row[0] for row in SENTENCES]
)
def test_a_sentence_is_said_of_what_it_is_true_of_alone(
    template: str, true: str, false: str
) -> None:
    assert re.search(template, said(true), re.MULTILINE), said(true)
    assert not re.search(template, said(false), re.MULTILINE), said(false)


def sweep(*rows: tuple[int, str, float, str], **more: Any) -> pd.DataFrame:
    """The table of a sweep: run, agent, Elo, and ``>``, ``<``, ``split`` or nothing."""
    table = pd.DataFrame(rows, columns=["run", "agent", "elo", "bound"])
    table["split"] = table["bound"] == "split"
    table["bound"] = table["bound"].replace("split", "")
    row = {"reference": "random", "question": "match", "alike": False, "part": 0}
    return table.assign(low=table["elo"] - 9, high=table["elo"] + 9, **row | more)


def numbers(*leads: tuple[float, str], **more: Any) -> pd.DataFrame:
    """The table of a sweep in which pvs has these leads over random."""
    rows = []
    for number, (elo, bound) in enumerate(leads):
        rows += [(number, "pvs", elo, bound), (number, "random", 0, bound.strip("<>split"))]
    return sweep(*rows, **more)


COUNTED = {"nodes_per_move": [8.0, 80.0, 2.0, 80.0], "question": "cost"}
SPLIT = [(0, "split"), (0, "split")]
SWEEPS = [
    ("change", "depth", numbers((50, ""), (90, "")),
     r"pvs above random, Elo: \+50 \[41, 59\] at depth = 1 and \+90 \[81, 99\] at depth = 5\. "
     r"The change from 1 to 5: \+40 .*surely more", "show how|stand highest|than"),
    ("bound", "depth", numbers((512, ""), (392, ">")),
     r"\+512 \[.*\] at depth = 1 and more than \+392 at depth = 5\. These runs do not show",
     r"The change|392 \["),
    ("one run split", "depth", numbers((50, ""), (0, "split")),
     r"\+50 \[.*\] at depth = 1 and unknown \(every pair split\) at depth = 5", r"The change|\+0"),
    ("without order", "evaluation", numbers((50, ""), (392, ">"), (90, "")),
     r"The greatest difference of leads with an interval, from 1 to 9: \+40", "difference from"),
    ("several settings", "", numbers((50, ""), (392, ">"), (90, "")),
     r"pvs above random, Elo: \+50 \[41, 59\] \(1\) to \+90 \[81, 99\] \(9\) and more than \+392 "
     r"\(5\)\.(.|\n)*Of 3 runs these stand highest: pvs in 3\.", "change|how"),
    ("no reference", "", numbers((50, ""), (-90, ""), reference=""),
     r"Of 2 runs these stand highest: pvs in 2\.", "above"),
    ("shares of nodes", "depth", numbers(*SPLIT, **COUNTED, alike=True),
     r"pvs visits 10 % and 2\.5 % of the nodes of random at depth = 1 and 5, for the same moves\.",
     "Elo|values"),
    ("other moves", "depth", numbers(*SPLIT, **COUNTED), r", for the same values\.", "same moves"),
    ("shares over several", "", numbers(*SPLIT, **COUNTED),
     r"pvs visits 2\.5 % \(5\) to 10 % \(1\) of the nodes of random in 2 runs", "Elo|at  ="),
    ("no counts", "depth", numbers(*SPLIT, nodes_per_move=math.nan), r"^$", "visits|Elo"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("name", "table", "template", "untrue"), [row[1:] for row in SWEEPS], ids=[r[0] for r in SWEEPS]
)
def test_a_sweep_says_what_its_runs_show(
    name: str, table: pd.DataFrame, template: str, untrue: str
) -> None:
    runs = [(value, run) for run, value in enumerate("159"[: table["run"].nunique()])]
    text = "\n".join(trends(table, runs, name, ordered=name == "depth"))
    assert re.search(template, text), text
    assert not re.search(untrue, text), text


@pytest.mark.parametrize(
    ("counts", "words"),
    [
        ({"nodes": 1234}, ["1,234 game states examined"]),
        ({"nodes": 9, "evaluations": 8}, ["9 game states examined", "8 evaluations"]),
        ({"nodes": 9, "playouts": 2}, ["9 game states examined", "2 playouts"]),
        ({"nodes": 9, "cutoffs": 1}, ["9 game states examined", "1 cutoffs"]),
        ({}, []),
    ],
)
def test_an_agent_is_told_with_what_it_counts_alone(counts: Any, words: list[str]) -> None:
    assert counts_in_words(SearchStats(**counts)) == words


# ------------------------------------------------------------------ remarks, forfeits, tournaments


@pytest.fixture(scope="module")
def timed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    words = ["agents=duel", "agent@first=iterative", "agent@second=random", "first.depth=1"]
    words += ["games=2", "isolation=none", "limits.seconds=9"]
    return played(tmp_path_factory.mktemp("results"), *words).folder


def remarks(folder: Path, edit: str, limits: Limits | None = None) -> str:
    """Return all remarks on a run, after an edit of its moves and with other limits."""
    with facts_of(changed(folder, edit)) as facts:
        plan = replace(facts.plan, limits=limits) if limits else facts.plan
        return "\n".join(findings(RunFacts(facts.record, plan)).remarks)


MILLISECONDS = "update moves set nanoseconds = 1e6 * {}, waited_nanoseconds = 1e6 * {}, late = 0"


@pytest.mark.parametrize(
    ("limits", "spent", "waited", "share"),
    [
        (Limits(seconds=0.05), 7.5, 0, "15 %"),
        (Limits(seconds=0.05), 30, 0, ""),
        (Limits(seconds=0.05), 0, 0, "0 %"),
        (Limits(cpu_seconds=0.05), 30, 0, "30 %"),
        # What it waited for a processor is not unused.
        (Limits(seconds=0.05), 15, 35, ""),
        (Limits(seconds=0.05), 5, 25, "20 %"),
        # More than the time of a move is limited.
        (Limits(), 1, 0, ""),
        (Limits(clock=1), 1, 0, ""),
        (Limits(nodes=9, seconds=0.05), 1, 0, ""),
    ],
    ids=str,
)
def test_searches_that_end_long_before_the_limit_on_time_are_told(
    timed: Path, tmp_path: Path, limits: Limits, spent: float, waited: float, share: str
) -> None:
    edit = MILLISECONDS.format(spent + waited, waited)
    sentences = remarks(copied(timed, tmp_path), f"{edit}, cpu_nanoseconds = 5e5 * {spent}", limits)
    assert f"iterative used {share}" in sentences if share else "iterative used" not in sentences
    assert "(depth 1)" in sentences or not share


@pytest.mark.parametrize(
    ("edit", "expected"),
    [
        ("update moves set nanoseconds = 1000, cpu_nanoseconds = 500", "50 % of"),
        ("update moves set nanoseconds = 1000, cpu_nanoseconds = 990", ""),
        ("delete from moves", ""),
    ],
)
def test_little_processor_time_for_much_thinking_is_told(
    timed: Path, tmp_path: Path, edit: str, expected: str
) -> None:
    sentences = remarks(copied(timed, tmp_path), edit)
    assert ("oversubscribed" in sentences) == bool(expected) and expected in sentences
    assert "isolation=none" in sentences


@pytest.mark.parametrize(("plies", "moves"), [(20, "iterative"), (0, "")])
def test_moves_that_stand_though_late_by_the_wall_clock_are_counted(
    timed: Path, tmp_path: Path, plies: int, moves: str
) -> None:
    folder = copied(timed, tmp_path)
    late = f"update moves set late = (agent = 0 and ply < {plies} and game = 0)"
    sentences = remarks(folder, late)
    ((count,),) = query(folder, "select count(*) from moves where late = 1")
    assert (f": iterative {count}." in sentences) == bool(moves) == bool(count)


def test_limits_in_words() -> None:
    said = [
        *limits_in_words(Limits(nodes=2000, cpu_seconds=0.005)),
        *limits_in_words(Limits(seconds=0.05)),
        *limits_in_words(Limits(clock=10, depth=4)),
    ]
    assert [text.replace("\N{NO-BREAK SPACE}", " ") for text in said] == [
        "at most 2,000 nodes a move",
        "5 ms of processor time a move",
        "50 ms a move",
        "10 s a game",
        "depth at most 4",
    ]
    assert limits_in_words(Limits()) == []


FEW = [(0, 1, "white", "finished", 8), (1, 0, "black", "finished", 1)]
FORFEITS = [
    (0, 1, "black", "never answered", 2),
    (1, 0, "white", "never answered", 1),
    (0, 1, "white", "illegal move", 1),
]


@pytest.mark.parametrize(
    ("ends", "forfeits"),
    [
        ([*FEW[:1], *FORFEITS], ["4 of 12 games", "3 of them by random (never answered)"]),
        ([*FEW, *FORFEITS[1:]], ["2 of 11 games", "by"]),
        ([*FEW, FORFEITS[2]], []),  # a tenth
        (FEW, []),
    ],
)
def test_many_forfeits_come_first(
    recorded_duel: Path, monkeypatch: pytest.MonkeyPatch, ends: list[Any], forfeits: list[str]
) -> None:
    monkeypatch.setattr(RunFacts, "ends", ends)
    with facts_of(recorded_duel) as facts:
        first = lead(facts)[0]
    assert ("forfeit" in first) == bool(forfeits)
    assert all(words in first for words in forfeits)


@pytest.mark.integration
@pytest.mark.parametrize(
    ("schedule", "words"), [("class", "wins the knockout"), ("swiss", "is first of 3 (points ")]
)
def test_the_first_of_a_tournament_is_told(tmp_path: Path, schedule: str, words: str) -> None:
    agents = {"a": AlphaBeta(2, SquareWeights()), "b": RandomAgent(), "c": GreedyAgent()}
    quiet: dict[str, Any] = {"workers": 0, "figures": False, "quiet": True}
    done = run_match(agents, results=tmp_path, games=2, schedule=schedule, **quiet)
    with facts_of(done.folder) as facts:
        assert lead(facts)[0].startswith(f"{done.standings['agent'].iloc[0]} {words}")
