"""``othello-lab agents evaluate``, ``show`` and ``list evaluations``, as typed."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from runs import line_of, printed

from othello_lab import Position
from othello_lab.agents.commands.show import described_names, description
from othello_lab.agents.composing import choices
from othello_lab.agents.config import load_evaluation
from othello_lab.agents.evaluation.catalogue import FEATURES
from othello_lab.agents.ladder import ladder, levels

POSITION = "f5d6c3d3c4"
NAMES = [
    name
    for name in choices("evaluation")
    if name != "function" and 8 in load_evaluation(name).sides
]


@pytest.fixture(autouse=True)
def wide(monkeypatch: pytest.MonkeyPatch) -> None:
    """A terminal wide enough for every table."""
    monkeypatch.setenv("COLUMNS", "300")
    monkeypatch.setenv("NO_COLOR", "1")


def rows(output: str) -> list[list[str]]:
    """The lines of tables that hold a value: where, the value, and what it is made of."""
    result = []
    for line in output.splitlines():
        cells = re.match(r"\s*(now|--|[a-h][1-8])\s+([+-]\d+(?: discs)?|-)(?:\s+(.*))?$", line)
        if cells:
            result.append([(cell or "").strip() for cell in cells.groups()])
    return result


@pytest.mark.parametrize("name", ["iago", "disc_count", "patterns"])
def test_values_now_and_after_each_move(name: str) -> None:
    output = printed("agents", "evaluate", POSITION, "--evaluation", name)
    position, evaluation = Position.from_transcript(POSITION), load_evaluation(name)
    assert str(position) in output
    assert name in output
    now, *after = rows(output)
    assert now[:2] == ["now", f"{evaluation(position):+d}"]
    expected = {move: -evaluation(position.play(move)) for move in position.legal_moves()}
    assert {move: int(value) for move, value, _ in after} == expected
    # The best first; among equal values the first from a1 to h8.
    order = sorted(expected, key=lambda move: (-expected[move], move[1], move[0]))
    assert [move for move, _, _ in after] == order


# X has the whole first row and its X-squares, some hundred thousand points of Iago's.
LARGE = "XXXXXXXX" + "OX-OO-XO" + "-" * 48 + " X"
PASSING = "OX" + "-" * 62 + " X"


@pytest.mark.parametrize("name", ["iago", "composite"])
@pytest.mark.parametrize("line", [Position.from_transcript(POSITION).to_obf(), LARGE, PASSING])
def test_the_parts_are_shown(name: str, line: str) -> None:
    """In full: digits that are not shown would make sums that do not add up."""
    output = printed("agents", "evaluate", line, "--evaluation", name)
    position, evaluation = Position.from_obf(line), load_evaluation(name)
    (_, value, made_of), *after = rows(output)
    for row_value, row_made_of, sign in ((value, made_of, 1), *((v, m, -1) for _, v, m in after)):
        terms = [float(term) for term in re.findall(r"= ([+-][\d.e+-]+)", row_made_of)]
        assert len(terms) == 3 and "e+" not in row_made_of
        assert sum(terms) == sign * int(row_value)
    for move, _, row_made_of in after:
        for part in evaluation.parts(position.play(move)):
            assert part in row_made_of


@pytest.mark.integration
def test_a_finished_game() -> None:
    over = "X" * 44 + "O" * 20 + " X"
    assert printed("agents", "evaluate", over).count("+24 discs") == len(NAMES)
    output = printed("agents", "evaluate", over, "--evaluation", "iago")
    assert rows(output) == [["now", "-", "game over: +24 discs"]]
    output = printed("agents", "evaluate", "XXX" + "-" * 61 + " O", "--evaluation", "iago")
    assert "-64 discs" in output  # empty squares go to the winner


def test_a_move_that_ends_the_game_comes_first_or_last() -> None:
    win = "XXXXXXXXXXOOOOXXXOXXOXOXXOXXXOOXXXXXOOOXXOXXOXXXXOOOXXXX--OXXXXX X"
    first, second = rows(printed("agents", "evaluate", win, "--evaluation", "iago"))[1:]
    assert first[:2] == ["b8", "+34 discs"]
    assert second[0] == "a8"
    position = Position.from_obf(win)
    assert int(second[1]) == -load_evaluation("iago")(position.play("a8"))
    # A move that loses the game at once is worse than anything: X takes b1, and O cannot move.
    lost = "O" * 40 + "-" * 21 + "XO-" + " X"
    _, only = rows(printed("agents", "evaluate", lost, "--evaluation", "disc_count"))[:2]
    after = Position.from_obf(lost).play("h8")
    assert after.is_over
    assert only[:2] == ["h8", f"{-after.disc_difference:+d} discs"]


def test_on_a_small_board_only_what_is_made_for_it() -> None:
    output = printed("agents", "evaluate", "", "--ruleset", "mini6")
    known = {*NAMES, "patterns6"} & {
        line.split()[0] for line in output.splitlines() if line.strip()
    }
    assert known == {"disc_count", "patterns6"}


@pytest.mark.integration
def test_all_heuristics_have_a_line_each() -> None:
    output = printed("agents", "evaluate", "f5d6c3")
    position = Position.from_transcript("f5d6c3")
    assert len(output.splitlines()) < 50
    lines = {line.split()[0]: line.split()[1:] for line in output.splitlines() if line.strip()}
    for name in NAMES:
        assert lines[name][0] == f"{load_evaluation(name)(position):+d}"
    for name in ("disc_count", "mobility"):
        alone = rows(printed("agents", "evaluate", "f5d6c3", "--evaluation", name))
        values = dict(row[:2] for row in alone)
        cells = lines[name]
        assert cells[0] == values.pop("now")
        assert dict(zip(cells[1::2], cells[2::2], strict=True)) == values


def test_a_heuristic_of_ones_own(tmp_path: Path) -> None:
    path = tmp_path / "mine.py"
    path.write_text(
        "from othello_lab.agents.evaluation import heuristic\n"
        "from othello_lab.agents.evaluation.helpers import count\n\n"
        "@heuristic\ndef five(mover, opponent):\n    return 5 * count(mover)\n",
        encoding="utf-8",
    )
    output = printed("agents", "evaluate", "", "--evaluation", f"{path}:five")
    assert "five" in output
    assert rows(output) == [["now", "+10", ""]] + [[m, "-5", ""] for m in ("d3", "c4", "f5", "e6")]


@pytest.mark.integration
def test_evaluations_are_listed_with_their_cost() -> None:
    output = printed("agents", "list", "evaluations")
    described = choices("evaluation")
    lines = {line.split()[0]: line for line in output.splitlines()[1:] if line.strip()}
    assert set(lines) == set(described)
    for name, line in lines.items():
        assert described[name] in line
        cost = re.match(rf"\s*{name}\s+(\d+) ns ", line)
        assert bool(cost) == (name != "function"), line
        if cost:
            assert 0 <= int(cost[1]) < 100_000


def test_evaluations_of_a_folder_of_mine(tmp_path: Path) -> None:
    (tmp_path / "evaluation").mkdir()
    mine = tmp_path / "evaluation" / "mine.yaml"
    mine.write_text("# Mine\n_target_: othello_lab.agents.evaluation.DiscCount\n")
    words = "evaluate", POSITION, "--config-dir", str(tmp_path), "--evaluation"
    ours = printed("agents", *words, "mine")
    theirs = printed("agents", "evaluate", POSITION, "--evaluation", "disc_count")
    assert rows(ours) == rows(theirs) != []
    assert "mine" in line_of("agents", *words, "yours", code=2)


# ------------------------------------------------------------------ agents show


def test_an_evaluation_is_shown_term_by_term() -> None:
    text = line_of("agents", "show", "composite")
    for term, weight in {"corners": 25, "mobility": 8, "stable_discs": 12}.items():
        largest = FEATURES.declared[term][1].largest
        assert f"{term}, {-largest} to {largest}, weight {weight}." in text
    assert "parity" not in text, "its weight is 0"
    row = next(row for row in ladder() if row.name == "heuristics_ab.composite")
    assert row.name in text and f": {row.elo} {row.interval}, above " in text
    assert "Range -1176 to 1176" in line_of("agents", "show", "square_weights")
    assert "Buro" in (text := line_of("agents", "show", "patterns")) and "othello-lab train" in text


@pytest.mark.integration
def test_an_agent_is_shown_with_settings_and_evaluation() -> None:
    assert "depth: to be given. Plies to look ahead" in line_of("agents", "show", "alphabeta")
    text = line_of("agents", "show", "search_family.ab_killer")
    assert "ordering: killer. the two moves that last caused a cutoff" in text
    assert "depth: 4." in text and "Evaluation square_weights" in text and "etc=false" in text
    text = line_of("agents", "show", "beginner")
    level = next(level for level in levels() if level.name == "beginner")
    assert "share: 0.25." in text and "Maximizer" in text and "Norvig" in text
    assert f"beginner: {level.elo} {level.interval} (level)" in text


@pytest.mark.integration
def test_all_that_is_in_conf_can_be_described() -> None:
    for name in described_names():
        assert "## On the ladder" in description(name)


def test_without_a_name_the_ladder_is_printed() -> None:
    text = line_of("agents", "show")
    assert text.index("champion") < text.index("starter")
    assert "classics.minimax_2" in text and "strong" in text
