"""The pages on the players: what they say, and how their tests are made."""

from __future__ import annotations

import math
import re
import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest
from records import content

from othello_lab import MCTS, PVS, AlphaBeta, Minimax, SquareWeights
from othello_lab.__main__ import main
from othello_lab.agents.agent import Purpose
from othello_lab.agents.config import choices
from othello_lab.agents.evaluation import Composite
from othello_lab.experiments.record.store import FILE
from othello_lab.experiments.results.papers import evidence_builder
from othello_lab.experiments.results.papers.descriptions import (
    EvaluationDescription,
    EvaluationDescriptions,
    first_sentence,
    portraits,
    techniques,
)
from othello_lab.experiments.results.papers.evidence import (
    ErrorsEvidence,
    Evidence,
    RunEvidence,
    TableEvidence,
)
from othello_lab.experiments.results.papers.figures import loss_chart
from othello_lab.experiments.results.papers.page import line_ups_of, sections_of
from othello_lab.experiments.results.papers.remarks import said_of
from othello_lab.experiments.studies.record import FILE as STUDY

ROOT = Path(__file__).resolve().parents[4]

LINE_UP = """\
# Three small ones
defaults:
  - /agent@random: random
  - /agent@greedy: greedy
  - /agent@ply: alphabeta

ply:
  depth: 1
"""
PAGE = """\
settings: [executor=serial, openings=random]
lineups:
  small:
    run: [games=8]
    errors: [study.empties=5]
"""


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a page on three small players, whose tests are made."""
    folder = tmp_path_factory.mktemp("players")
    (folder / "conf" / "agents").mkdir(parents=True)
    (folder / "conf" / "agents" / "small.yaml").write_text(LINE_UP)
    (folder / "page.yaml").write_text(PAGE)
    assert main(make(folder)) == 0
    return folder


def make(place: Path, *more: str, page: str = "page.yaml") -> list[str]:
    """The command that makes the page there."""
    options = ["--config-dir", str(place / "conf"), "--page", str(place / page)]
    return ["players", *options, "--results", str(place / "results"), *more]


def made_in(place: Path) -> list[Path]:
    return sorted(path.parent for name in (FILE, STUDY) for path in place.rglob(name))


# ---------------------------------------------------------------------- the whole page


def text_of(folder: Path, page: str) -> str:
    return (folder / f"{page}.md").read_text()


def unlinked(folder: Path) -> list[str]:
    """Links of the pages in a folder to a page or a heading that is not there."""
    found = []
    for page in folder.glob("*.md"):
        for target in re.findall(r"\]\(([^)]*)\)", page.read_text()):
            name, _, heading = target.partition("#")
            text = (folder / name).read_text() if name.endswith(".md") else ""
            heads = re.findall("^#+ (.*)$", text, re.MULTILINE)
            if not (folder / name).is_file() or (heading and heading not in map(str.lower, heads)):
                found.append(f"{page.name}: {target}")
    return found


@pytest.mark.integration
def test_pages_say_what_their_tests_found(place: Path) -> None:
    folder = place / "results" / "pages"
    paper, index = text_of(folder, "ply"), text_of(folder, "index")
    assert "**Search.** [AlphaBeta](searches.md#alphabeta): Alpha-beta pruning: " in paper
    assert "`depth: 1`: Plies to look ahead" in paper
    assert re.search(r"\| small \| \d of 3 \| 16 \|", paper)
    assert re.search(r"- Score in small, in %, against \w+ [\d.]+, \w+ [\d.]+\.", paper)
    assert "discs against perfect play, place" in paper
    assert "## Strengths\n\n- " in paper and "## Weaknesses\n\n- " in paper
    assert "| small-errors | errors |" in index and "24 games from 4 openings" in index
    picture = folder / "players_small.png"
    assert "(players_small.png)" in index and picture.read_bytes()[:4] == b"\x89PNG"
    assert {page.stem for page in folder.glob("*.md")} == {
        *("random", "greedy", "ply"),
        *("index", "evaluations", "searches"),
    }
    assert unlinked(folder) == []


@pytest.mark.integration
def test_the_same_command_makes_nothing_twice(place: Path) -> None:
    before, text = made_in(place), text_of(place / "results" / "pages", "ply")
    assert main(make(place, "--no-figures")) == 0
    assert made_in(place) == before
    assert text_of(place / "results" / "pages", "ply") == text
    assert main(make(place, str(place / "results"), "--output", str(place / "other"))) == 0
    assert made_in(place) == before
    assert text_of(place / "other", "ply") == text


@pytest.mark.integration
def test_other_settings_are_another_test_and_what_was_begun_is_gone_on_with(place: Path) -> None:
    before = made_in(place)
    (place / "run.yaml").write_text("lineups: {small: {run: [games=2, executor=serial]}}")
    assert main(make(place, "--no-figures", "seed=2", page="run.yaml")) == 0
    (new,) = set(made_in(place)) - set(before)
    whole = content(new)
    with closing(sqlite3.connect(new / FILE)) as connection, connection:
        connection.execute("update run set complete = 0")
        for table in ("games", "turns"):
            connection.execute(f"delete from {table} where game >= 4")
    assert main(make(place, "--no-figures", "seed=2", page="run.yaml")) == 0
    assert set(made_in(place)) == {*before, new}
    assert content(new) == whole


@pytest.mark.integration
def test_what_was_shipped_is_told_of_without_tests(tmp_path: Path) -> None:
    assert main(["players", "--static", "--output", str(tmp_path)]) == 0
    told = text_of(tmp_path, "evaluations")
    assert all("**Why:** " in part for part in told.split("\n## ")[1:])
    assert "settings and docstrings alone" in text_of(tmp_path, "index")
    assert {"random", "iago", "pvs_table", "champion"} < {page.stem for page in tmp_path.iterdir()}
    assert unlinked(tmp_path) == []


@pytest.mark.integration
def test_the_tests_of_the_shipped_page_can_be_planned() -> None:
    page = evidence_builder.PageContent.read(None)
    assert set(page.lineups) <= set(choices("agents"))
    for lineup in page.lineups:
        assert page.overrides(lineup)[0] == f"agents={lineup}"
    # Whoever plays in several line-ups has one paper, and each its own name.
    sections = sections_of(line_ups_of(page, []), [])
    champion = sections[-1]
    assert [paper.portrait.name for paper in champion.papers] == ["champion"]


# ---------------------------------------------------------------------- portraits


def test_techniques_are_told_in_the_words_of_their_settings() -> None:
    told = techniques(PVS(6, SquareWeights(), ordering="tt+static", table_mb=1, iterative=True))
    assert [(each.purpose, each.setting) for each in told] == [
        (Purpose.ORDER, "ordering: tt+static"),
        (Purpose.PRUNING, "table_mb: 1"),
        (Purpose.TIME, "depth: 6"),
        (Purpose.TIME, "iterative"),
    ]
    assert told[0].does.startswith("the best or refuting move") and "; then by the" in told[0].does
    assert told[3].does.startswith("Iterative deepening: depth 1, then 2")
    assert "endgame: 8" in {
        each.setting for each in techniques(AlphaBeta(2, SquareWeights(), endgame=8))
    }
    (_, told_win) = techniques(Minimax(2, SquareWeights(), final="win"))
    assert (told_win.purpose, told_win.setting) == (None, "final: win")
    assert [each.setting for each in techniques(Minimax(2, SquareWeights()))] == ["depth: 2"]
    assert {each.setting for each in techniques(MCTS(9))} == {"playouts: 9", "solve", "tree_reuse"}


@pytest.mark.parametrize(
    ("text", "first"),
    [
        ("One thing. And another.", "One thing"),
        ("By 18.12 of *it*. More.", "By 18.12 of *it*"),
        ("Which first; see\n:mod:`a.b`. ``c`` too.", "Which first"),
        ("The :class:`~a.B` of\n``x``.\n\nMore.", "The `B` of `x`"),
        ("", ""),
    ],
)
def test_first_sentences(text: str, first: str) -> None:
    assert first_sentence(text) == first


def test_players_are_known_again_in_a_record() -> None:
    found = portraits(["agents=classics"], EvaluationDescriptions())
    by_name = {portrait.name: portrait for portrait in found}
    greedy, deep = by_name["greedy"], by_name["alphabeta_5"]
    assert greedy.named_in({"mine": greedy.filled}) == "mine"
    held = {
        "_target_": "othello_lab.agents.limited.Limited",
        "agent": greedy.filled,
        "seconds": 0.1,
    }
    assert greedy.named_in({"held": held}) == "held"
    assert greedy.named_in({"greedy": deep.filled}) is None
    # Others may have this depth too; but with another evaluation it is the same player.
    assert deep.named_in({"mine": deep.filled}) is None
    other = {**deep.filled, "evaluation": {"_target_": "othello_lab.agents.evaluation.Corners"}}
    assert deep.named_in({"alphabeta_5": other}) == "alphabeta_5"
    assert deep.named_in({"alphabeta_5": {**deep.filled, "depth": 4}}) is None


def test_learned_weights_are_told_from_their_side_file(tmp_path: Path) -> None:
    (tmp_path / "mine.yaml").write_text("kind: toy\nseed: 3\nscores: {loss: 0.123456}\n")
    weights = {"weights": str(tmp_path / "mine.npz")}
    judgement = EvaluationDescription("toy", "", SquareWeights(), weights)
    assert "Raises" not in " ".join(
        EvaluationDescription("sum", "", Composite({"parity": 1}), {}).text
    )
    assert judgement.weights is not None
    assert judgement.weights[1] == [["kind", "toy"], ["seed", "3"], ["scores, loss", "0.1235"]]
    assert EvaluationDescription("toy", "", SquareWeights(), {}).weights is None


# ---------------------------------------------------------------------- strengths and weaknesses

ABOUT = {"folder": Path("x"), "agents": {}, "command": "", "started": "", "versions": {}}
MORE = {"machine": {}, "what": ""}


def run_of(elo: list[float], matches: list[tuple[str, str, float, float, float, str]]) -> Evidence:
    """A run of a, b and c with these ratings. matches: first, second, score, the ends of the
    interval in Elo, bound."""
    standings = pd.DataFrame({"agent": list("abc"), "elo": elo, "score": [0.7, 0.5, 0.3]})
    standings["bound"] = ["<" if math.isinf(each) else "" for each in elo]
    standings["split"] = False
    standings["nodes_per_move"] = [10.0, 100.0, 400.0]
    standings["median_microseconds"] = float("nan")
    columns = ["first", "second", "score", "elo_low", "elo_high", "bound"]
    table = pd.DataFrame(matches, columns=columns)
    table["elo"] = table["elo_low"]
    return RunEvidence(kind="run", name="it", standings=standings, matches=table, **ABOUT, **MORE)


def test_who_is_better_than_whom_is_a_strength() -> None:
    nan = float("nan")
    run = run_of(
        [100, 0, -100],
        [
            ("a", "b", 0.6, 20, 130, ""),
            ("a", "c", 1.0, 400, nan, ">"),
            ("b", "c", 0.4, -140, -20, ""),
        ],
    )
    assert isinstance(run, RunEvidence) and run.places == {"a": 1, "b": 2, "c": 3}
    best, middle, worst = ({(s.text, s.good) for s in said_of(name, run)} for name in "abc")
    assert ("Surely better than b, c in it.", True) in best
    assert ("Surely worse than a, c in it.", False) in middle
    assert ("Surely better than b in it.", True) in worst
    # b is rated 100 above c, and yet lost to it.
    promised = "makes 40 % of the points, where the ratings promise 64 %."
    assert (f"Against c it {promised}", False) in middle
    assert any(good and "promise 36 %" in text for text, good in worst)
    assert ("A move takes 10 nodes, 1/10.0 of the median of those that search in it.", True) in best
    assert any(not good and "4.0 times the median" in text for text, good in worst)


def test_ratings_that_are_bounds_promise_nothing() -> None:
    known = [("a", "b", 0.6, 20, 130, ""), ("b", "c", 0.4, -140, -20, "")]
    run = run_of([100, 0, -math.inf], [*known, ("a", "c", 1.0, 400, math.nan, ">")])
    assert not [said for name in "abc" for said in said_of(name, run) if "promise" in said.text]


def test_where_discs_are_lost_is_told_beside_the_others() -> None:
    rows = [
        {"agent": name, "opening": f"{opening}", "empties": empties, "loss": loss}
        for name, losses in {"a": (0, 8), "b": (3, 4), "c": (3, 4)}.items()
        for opening in range(3)
        for empties, loss in zip((9, 2), losses, strict=True)
    ]
    moves = pd.DataFrame(rows).assign(is_best=False, blunder=False)
    met = {"a": 2, "b": 2, "c": 2}
    everybody = ABOUT | {"agents": {name: {} for name in met}}
    study = ErrorsEvidence(kind="errors", name="it", moves=moves, met=met, **everybody, **MORE)
    assert list(study.bands["band"].unique()) == ["9 to 7", "4 to 2"]
    said = {each.text: each.good for each in said_of("a", study)}
    (loss,) = (good for text, good in said.items() if "gives away 4.00" in text)
    assert loss is False  # place 3 of 3
    early, late = (next(t for t in said if t.startswith(word)) for word in ("Best", "Worst"))
    assert "9 to 7 empty squares: 0.00 discs" in early and said[early]
    assert "4 to 2 empty squares: 8.00 discs" in late and said[late] is False
    assert "Discs lost a move by squares that are empty: 9 to 7: 0.00; 4 to 2: 8.00." in said
    # Who met one of the others alone has had positions of another kind.
    more = {name: {} for name in "abcdefg"}
    alone = replace(study, met=dict.fromkeys(more, 1), agents=more)
    assert alone.comparable == set() and not said_of("a", alone)
    assert len(loss_chart(study.bands).axes) == 2  # with the bar that explains colours


def test_what_other_studies_say() -> None:
    pruning = pd.DataFrame(
        {"phase": "all", "depth": [4] * 4, "agent": ["a", "b", "c", "minimax"],
         "nodes": [10, 20, 30, 100], "nodes_share": [0.1, 0.2, 0.3, 1], "efficiency": 0.9,
         "efficiency_low": 0.8, "efficiency_high": 1.0}
    )  # fmt: skip
    study = TableEvidence(kind="pruning", name="it", table=pruning, **ABOUT, **MORE)
    ((first,), (last,)) = (said_of(name, study) for name in "ac")
    assert "10 nodes a position, 10 % of minimax's, place 1 of 3; its efficiency" in first.text
    assert first.good and last.good is False
    doublings = pd.DataFrame(
        {"agent": ["a"], "effort": ["depth"], "elo": 90, "low": 50, "high": 120}
    )
    study = TableEvidence(kind="scaling", name="it", table=doublings, **ABOUT, **MORE)
    (said,) = said_of("a", study)
    assert said.text == "Twice the depth brings it +90 [50, 120] Elo." and said.good


# ---------------------------------------------------------------------- bad input


@pytest.mark.integration
@pytest.mark.parametrize(
    ("page", "message"),
    [
        ("[1]", "settings and lineups are needed"),
        ("lineups: {}", "names of line-ups are needed"),
        ("lineups: {smal: {}}", "unknown line-up in .* 'smal'; .*Did you mean 'small'"),
        (
            "lineups: {small: {runs: []}}",
            "unknown test in .*lineups.small 'runs'; choose from",
        ),
        ("lineups: {small: {run: games}}", "lineups.small.run: a list of settings is needed"),
        ("lineups: {small: [run]}", "tests by name are needed"),
        ("lineups: {small: {errors: []}}", "errors needs a run whose moves it judges"),
        ("lineups: {small: {run: [games=3]}}", "games=3: an even number"),
        ("lineups: {small: {run: [gmes=2]}}", "unknown setting 'gmes'"),
        ("a: [", "cannot be read"),
    ],
)
def test_a_page_that_cannot_be_made_is_refused_in_a_line(
    place: Path, page: str, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (place / "bad.yaml").write_text(page)
    before = made_in(place)
    assert main(make(place, page="bad.yaml")) == 2
    told = capsys.readouterr().err
    assert re.search(message, told) and told.count("\n") == 1
    assert made_in(place) == before


@pytest.mark.integration
@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["nowhere"], "nowhere: there is no such folder"),
        (["{place}/conf"], "neither a run nor a study"),
        (["{place}/results", "--static"], "--static writes pages without tests"),
        (["--page", "none.yaml"], "none.yaml cannot be read"),
        (["{place}/results", "--output", "{place}/page.yaml/x"], "cannot be written"),
    ],
)
def test_what_is_not_there_is_told_in_a_line(
    place: Path, words: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(make(place, *(word.format(place=place) for word in words))) == 2
    told = capsys.readouterr().err
    assert message in told and told.count("\n") == 1


@pytest.mark.integration
def test_a_study_of_something_else_is_refused(
    place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (study,) = (path for path in made_in(place) if (path / STUDY).exists())
    other = place / "elsewhere"
    other.mkdir()
    (other / STUDY).write_bytes((study / STUDY).read_bytes())
    with closing(sqlite3.connect(other / STUDY)) as connection, connection:
        connection.execute("update study set name = 'claims'")
    assert main(make(place, str(other))) == 2
    assert "study claims says nothing of single players" in capsys.readouterr().err
    with closing(sqlite3.connect(other / STUDY)) as connection, connection:
        connection.execute("update study set name = 'errors', config = '{}'")
    assert main(make(place, str(other))) == 2
    assert "is damaged" in capsys.readouterr().err


@pytest.mark.integration
def test_a_long_job_is_told_before_it_begins(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    for command, told in (("players", "6 runs of 16,540 games"), ("selfplay", "10,000 games")):
        assert main([command]) == 2
        said = capsys.readouterr().err
        assert told in said
        assert "--yes" in said
    assert not list(tmp_path.iterdir())
