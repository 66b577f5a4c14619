"""Searches with a mistake are told it, and right ones that they are right: students' searches with
changes of a line or two, as ``data/mistakes.txt`` has them."""

from __future__ import annotations

import json
import re
import time
import zlib
from collections.abc import Callable
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from othello_lab.agents.checks.check import FAILED, OK, SKIPPED, NotApplicable
from othello_lab.agents.checks.search import (
    Diagnosis,
    RecordingEvaluation,
    SearchUnderTest,
    diagnose,
)
from othello_lab.agents.checks.search.case import AnsweredQuestion, Fault
from othello_lab.agents.checks.search.causes import cuts
from othello_lab.agents.checks.search.counts import judge_counts
from othello_lab.agents.checks.search.questions import (
    SearchAnswer,
    SearchQuestion,
    ask,
    narrow_positions,
    positions,
)
from othello_lab.agents.checks.search.references import (
    FULL,
    MISTAKES,
    NO_CUTS,
    RIGHT,
    SOFT,
    Order,
    Pairs,
    Search,
    Style,
    from_a1,
    from_h8,
    mistaken,
)
from othello_lab.agents.checks.search.tree import ReferenceNode
from othello_lab.agents.command_line import main
from othello_lab.agents.config import build_agent, load_evaluation
from othello_lab.agents.search import AlphaBeta, Minimax

PAIP = Path(__file__).parents[1] / "external" / "paip.py"
PAGE = Path(__file__).parents[3] / "docs" / "search.md"
POSITIONS, DEPTHS = 20, (1, 2, 3)
MORE_POSITIONS, ALL_DEPTHS = 40, (1, 2, 3, 4, 5)
BOARD = "  a b c d e f g h\n1 "

FILES = Path(__file__).with_name("students")
TABLE = Path(__file__).parents[2] / "data" / "mistakes.txt"
LINE = re.compile(r"(\* )?(\w+) (.*?) :: (.+) =>(?: (.*))?")


class Seed(NamedTuple):
    """A change: its cause, the student's file, the right text, and the wrong text for it.

    always: True if it is tried in each run of the integration tests.
    """

    cause: str
    student: str
    right: str
    wrong: str
    always: bool = False


def seeds(kind: str) -> list[Seed]:
    """Return the changes of a kind, the name of a part of the table."""
    part = TABLE.read_text(encoding="utf-8").partition(f"\n[{kind}]\n")[2].partition("\n[")[0]
    rows = []
    for line in part.strip().splitlines():
        match = LINE.fullmatch(line)
        assert match, line
        always, student, cause, *texts = match.groups(default="")
        right, wrong = (text.replace(r"\n", "\n") for text in texts)
        rows.append(Seed(cause, student, right, wrong, bool(always)))
    return rows


def cases(changes: list[Seed]) -> list[Any]:
    """Return changes for ``pytest.mark.parametrize``: integration or nightly."""
    marks = {True: pytest.mark.integration, False: pytest.mark.nightly}
    return [pytest.param(seed, id=seed.cause, marks=marks[seed.always]) for seed in changes]


def written(seed: Seed, folder: Path, states_values: bool = True) -> Path:
    """Write the student's file with the change in it and return its path."""
    parts = [PAIP, FILES / "inside.txt"]
    parts = parts if seed.student == "inside" else [FILES / f"{seed.student}.py"]
    text = "".join(part.read_text(encoding="utf-8") for part in parts)
    assert seed.right in text, "that is not what the student has written"
    text = text.replace(seed.right, seed.wrong) if seed.right else text
    if not states_values:
        text = re.sub(r"return Decision\(([^,]*), best, .*\)", r"return Decision(\1)", text)
    path = folder / f"{seed.student}.py"
    path.write_text(text, encoding="utf-8")
    return path


PLAIN, FOLLOWED, PLANTED_RIGHT = seeds("mistakes"), seeds("calls"), seeds("planted right")
STUDENTS = [Seed(name, name, "", "", name == "deep") for name in ("negamax", "deep", "board")]


def searching(path: Path, depths: tuple[int, ...], patience: float = 20.0) -> SearchUnderTest:
    """A student's search with the square weights, whose calls are recorded."""
    watched = RecordingEvaluation(load_evaluation("square_weights"))
    settings = {"_target_": f"{path}:Student", "evaluation": watched}
    agents = {depth: build_agent(settings | {"depth": depth}, "student") for depth in depths}
    return SearchUnderTest(agents, limited=False, watched=watched, patience=patience)


def examined(path: Path, deep: bool = False, must_prune: bool = False) -> Diagnosis:
    depths, count = (ALL_DEPTHS, MORE_POSITIONS) if deep else (DEPTHS, POSITIONS)
    evaluation = load_evaluation("square_weights")
    return diagnose(searching(path, depths), evaluation, count, 60.0, must_prune)


def is_told(diagnosis: Diagnosis, cause: str) -> None:
    assert not diagnosis.holds
    assert diagnosis.causes[0].name.startswith(cause), diagnosis.causes
    evidence = diagnosis.causes[0].evidence
    assert BOARD in evidence and "expected " in evidence


@pytest.mark.parametrize("seed", cases([*PLAIN, *seeds("mistakes in other forms")]))
def test_a_mistake_is_told_by_its_cause(seed: Seed, tmp_path: Path) -> None:
    is_told(examined(written(seed, tmp_path)), seed.cause)
    if seed in PLAIN and not seed.cause.startswith(("counts", "state")):
        diagnosis = examined(written(seed, tmp_path, states_values=False))
        is_told(diagnosis, seed.cause)
        values = next(finding for finding in diagnosis.findings if finding.name == "values")
        assert "moves alone" in values.detail


@pytest.mark.parametrize("seed", cases([*seeds("planted"), *PLANTED_RIGHT]))
def test_the_command_names_a_planted_mistake_and_passes_what_is_right(
    seed: Seed, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    name = "student" if seed.student == "inside" else "Student --depths 1,2,3"
    words = f"check {written(seed, tmp_path)}:{name} --search --json --positions 30"
    code = main(words.split())
    diagnosis = json.loads(capsys.readouterr().out)
    if seed in PLANTED_RIGHT:
        assert code == 0 and diagnosis["right"] and not diagnosis["causes"]
        assert diagnosis["depth"] == (2 if "DEPTH = 2" in seed.wrong else 3)
    else:
        assert code == 1 and diagnosis["causes"][0]["name"] == seed.cause


@pytest.mark.parametrize("seed", cases([*STUDENTS, *seeds("right")]))
def test_a_right_search_passes_whatever_it_has_chosen(seed: Seed, tmp_path: Path) -> None:
    diagnosis = examined(written(seed, tmp_path), deep=True)
    assert diagnosis.holds and not diagnosis.causes, diagnosis
    assert diagnosis.depth == ALL_DEPTHS[-1]
    assert ("not prune" in diagnosis.findings[-1].sentence) == (seed.wrong == "False")


@pytest.mark.integration
def test_of_two_mistakes_the_one_in_ordinary_positions_is_told(tmp_path: Path) -> None:
    side = next(seed for seed in PLAIN if seed.cause == "wrong side evaluated")
    at_pass = next(seed for seed in PLAIN if seed.cause == "sign error at a pass")
    path = written(side, tmp_path)
    text = path.read_text(encoding="utf-8")
    path.write_text(text.replace(at_pass.right, at_pass.wrong), encoding="utf-8")
    diagnosis = examined(path)
    is_told(diagnosis, side.cause)
    assert diagnosis.notes or (diagnosis.causes[0].explained or 1) < 1  # that is not all


@pytest.mark.parametrize("seed", cases(seeds("waste")))
def test_who_does_not_prune_well_fails_only_if_asked_to(seed: Seed, tmp_path: Path) -> None:
    path = written(seed, tmp_path)
    assert examined(path).holds
    is_told(examined(path, must_prune=True), seed.cause)


@pytest.mark.nightly
def test_a_full_window_at_the_root_prunes(tmp_path: Path) -> None:
    diagnosis = examined(written(STUDENTS[2], tmp_path), must_prune=True)
    assert diagnosis.holds and any("full window" in note for note in diagnosis.notes)


# ------------------------------------------------------------------ the calls of the heuristic


def is_named(seed: Seed) -> bool:
    """False for those that are noticed, but taken for bounds that are stored as exact."""
    return seed.wrong != "key = mover" and "moves[0] = killer" not in seed.wrong


@pytest.mark.parametrize("seed", cases(FOLLOWED))
def test_the_calls_of_the_heuristic_show_the_cause(seed: Seed, tmp_path: Path) -> None:
    diagnosis = examined(written(seed, tmp_path), deep=True)
    assert not diagnosis.holds and diagnosis.causes
    if is_named(seed):
        is_told(diagnosis, seed.cause)
    if "killer" in seed.right and is_named(seed):  # the question, before, and evaluated
        assert diagnosis.causes[0].evidence.count(BOARD) == 3


@pytest.mark.integration
def test_the_first_node_that_differs_is_told(tmp_path: Path) -> None:
    """Every line of moves in it is legal, and its value is minimax's."""
    evaluation = load_evaluation("square_weights")
    path = written(next(seed for seed in FOLLOWED if seed.wrong == "EXACT"), tmp_path)
    questions = [SearchQuestion(position, 3) for position in positions(MORE_POSITIONS)]
    answers = ask(searching(path, (3,)), questions, time.monotonic() + 60)
    followed = 0
    for question, answer in zip(questions, answers, strict=True):
        case = AnsweredQuestion(question, answer, evaluation, 1000) if answer else None
        if case is None or not case.wrong or case.origin is None:
            continue
        line, node, value = case.origin
        position = question.position
        for move in line:
            position = position.play(move)
        assert position == node.position
        right = Minimax(question.depth - len(line), evaluation).search(position)
        assert right.value > value
        assert f" {right.value:,} " in case.difference()
        followed += 1
    assert followed


# ------------------------------------------------------------------ counts


def counting(style: Style, order: Order, of: Callable[[int], int]) -> list[AnsweredQuestion]:
    """Answers of a right search that states its nodes after ``of``, and whose calls are seen."""
    evaluation = RecordingEvaluation(load_evaluation("square_weights"))
    late = min(positions(40), key=lambda position: position.empties)
    cases = []
    for depth, position in [
        *product((1, 2), positions(5)),
        *product((3,), positions(2)),
        (ALL_DEPTHS[-1], late),  # the game ends before that
    ]:
        evaluation.seen.clear()
        reply = Search(style, order).reply(ReferenceNode(position, evaluation), depth)
        calls = [(seen.mover, seen.opponent) for seen in evaluation.seen]
        (move, *_), nodes = sorted(reply.moves), of(reply.nodes)
        answer = SearchAnswer(move, reply.value, nodes, None, len(calls) or None, calls)
        cases.append(AnsweredQuestion(SearchQuestion(position, depth), answer, evaluation, 1000))
    return cases


def judged(cases: list[AnsweredQuestion]) -> tuple[str, str]:
    """The outcome of the check of counts, and what it says."""
    try:
        return OK, judge_counts(cases, Search, True, [])
    except Fault as fault:
        return FAILED, str(fault)
    except NotApplicable as reason:
        return SKIPPED, str(reason)


def by_value(node: ReferenceNode) -> Pairs:
    return sorted(from_a1(node), key=lambda pair: pair[1].discs)


@pytest.mark.parametrize(
    ("style", "order", "of", "outcome", "words"),
    [
        (NO_CUTS, from_a1, lambda n: n, OK, "nodes of minimax"),
        (SOFT, from_a1, lambda n: n, OK, "nodes of alpha-beta"),
        (SOFT, from_h8, lambda n: n, OK, "from h8"),
        (SOFT, by_value, lambda n: n, OK, "order of its own"),
        (FULL, from_a1, lambda n: n, OK, "full window"),
        (SOFT, from_a1, lambda n: n // 2, FAILED, "half"),
        (SOFT, by_value, lambda n: n // 2, FAILED, "half"),
        (NO_CUTS, from_a1, lambda n: n - 1, FAILED, "root"),
        (SOFT, from_a1, lambda n: 2 * n, FAILED, "twice"),
        (SOFT, from_a1, lambda n: n * 2 // 3, FAILED, "not those of its tree"),
        (SOFT, from_a1, lambda n: n + 7, FAILED, "not those of its tree"),
    ],
)
def test_a_count_is_exact_or_wrong(
    style: Style, order: Order, of: Callable[[int], int], outcome: str, words: str
) -> None:
    result, reason = judged(counting(style, order, of))
    assert result == outcome and words in reason


def test_unseen_counts_in_an_unknown_order_are_held_to_the_bounds() -> None:
    for of, outcome in (
        (lambda nodes: nodes, OK),
        (lambda nodes: nodes // 3, FAILED),
        (lambda nodes: 9 * nodes, SKIPPED),
    ):
        cases = counting(SOFT, by_value, of)
        for case in cases:
            case.answer = replace(case.answer, seen=None, calls=())
        result, words = judged(cases)
        assert result == outcome and "exactly" not in words


def test_a_search_without_cuts_has_no_cause_that_needs_them() -> None:
    minimax, alphabeta = (counting(style, from_a1, lambda n: n) for style in (NO_CUTS, SOFT))
    assert (cuts(minimax), cuts(alphabeta)) == (False, True)
    windowed = [
        sum(search.mistake.windowed for search in mistaken(RIGHT[:1], (from_a1,), may_cut))
        for may_cut in (False, True)
    ]
    assert windowed[0] == 0 < windowed[1]


# ------------------------------------------------------------------ what it is held to


def test_the_right_search_is_the_labs() -> None:
    """Node for node, with pruning and without."""
    evaluation = load_evaluation("square_weights")
    for position in positions(4):
        for style, lab in ((NO_CUTS, Minimax), (SOFT, AlphaBeta)):
            decision = lab(2, evaluation).search(position)
            reply = Search(style).reply(ReferenceNode(position, evaluation), 2)
            assert decision.move in reply.moves and decision.value == reply.value
            stats = decision.stats
            counts = stats.nodes, stats.leaves, stats.evaluations
            assert counts == (reply.nodes, reply.leaves, reply.evaluations)


@pytest.mark.integration
def test_the_positions_are_of_all_kinds_and_narrow_ones_have_small_trees() -> None:
    evaluation = load_evaluation("square_weights")
    chosen, narrow = positions(200), narrow_positions(100)
    assert len(set(chosen)) == 200 and all(position.legal_mask for position in chosen)
    near = [ReferenceNode(position, evaluation).within(2) for position in chosen]
    assert sum(passes for passes, _ in near) >= 25 and sum(ends for _, ends in near) >= 12
    assert any(len(position.moves) == 1 for position in chosen)
    assert len({(position.mover, position.opponent) for position in chosen}) < 200  # colours
    assert len(set(narrow)) == 20
    roots = [ReferenceNode(position, evaluation) for position in narrow]
    assert all(Search(NO_CUTS).reply(root, 5).leaves <= 1500 for root in roots)
    assert sum(root.within(3)[0] for root in roots) >= 8
    levels = [[node.position for way, node in root.ways(4) if len(way) == 4] for root in roots]
    assert sum(len(set(level)) < len(level) for level in levels) >= 10  # transpositions


def test_the_positions_are_always_the_same() -> None:
    """As in earlier versions, so that verdicts can be compared."""
    obf = " ".join(position.to_obf() for position in (*positions(200), *narrow_positions(100)))
    assert zlib.crc32(obf.encode()) == 3720529642


def test_a_cause_is_told_in_one_way() -> None:
    advice: dict[str, str] = {}
    for mistake in MISTAKES:
        assert advice.setdefault(mistake.cause, mistake.advice) == mistake.advice


@pytest.mark.integration
def test_slow_searches_are_asked_less(tmp_path: Path) -> None:
    first = "        self.nodes = 1\n"
    slow = f"        __import__('time').sleep(0.02)\n{first}"
    path = written(Seed("", "negamax", first, slow), tmp_path)
    diagnosis = diagnose(searching(path, (1,)), load_evaluation("square_weights"), 200, 1.0)
    assert diagnosis.holds
    assert re.search(r"\d of 200 positions", diagnosis.notes[0])


def test_who_hangs_is_told_so(tmp_path: Path) -> None:
    pause = "        __import__('signal').pause()\n"
    path = written(Seed("", "negamax", "        self.nodes = 1\n", pause), tmp_path)
    diagnosis = diagnose(searching(path, (1,), 0.2), load_evaluation("square_weights"), 6, 10.0)
    assert diagnosis.causes[0].name == "it does not answer"


# ------------------------------------------------------------------ on the command line


@pytest.mark.integration
def test_the_command_tells_what_is_wrong(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    seed = next(seed for seed in PLAIN if seed.cause == "wrong side evaluated")
    command = ["check", f"{written(seed, tmp_path)}:Student", "--search"]
    command += ["--positions", "4", "--depths", "1"]
    assert main(command) == 1
    printed = capsys.readouterr().out
    assert f"{seed.cause} (explains 100% of its answers)\n" in printed
    assert "    expected " in printed and printed.endswith(" 1 ply\n")
    assert main([*command, "--json"]) == 1
    diagnosis = json.loads(capsys.readouterr().out)
    assert not diagnosis["right"] and diagnosis["causes"][0]["name"] == seed.cause


@pytest.mark.parametrize(
    ("words", "deepest", "note"),
    [
        ("minimax evaluation=disc_count --depths 2", 2, ""),
        (f"{PAIP}:maximizer(weighted_score) --depths 1 --evaluation {PAIP}:weighted_score", 1, ""),
        (f"{PAIP}:maximizer(weighted_score)", 1, ""),
        pytest.param(
            f"{PAIP}:alphabeta_searcher(2,weighted_score) --evaluation {PAIP}:weighted_score",
            2,
            "as in PAIP",
            marks=pytest.mark.integration,
        ),
        pytest.param("alphabeta", 5, "", marks=pytest.mark.integration),
        pytest.param("alphabeta endgame=10", 5, "end of the game", marks=pytest.mark.integration),
        # PAIP's asks for the depth first.
        pytest.param(
            f"{PAIP}:alphabeta_searcher --depths 1,2 --positions 24",
            2,
            "as in PAIP",
            marks=pytest.mark.integration,
        ),
    ],
)
def test_the_command_takes_every_kind_of_search(
    words: str, deepest: int, note: str, capsys: pytest.CaptureFixture[str]
) -> None:
    few = [] if "--positions" in words else ["--positions", "6"]
    assert main(["check", *words.split(), *few, "--search"]) == 0
    *lines, last = capsys.readouterr().out.splitlines()
    assert last.startswith(words.split()[0]) and f" {deepest} pl" in last
    assert not note or any(note in line for line in lines if line.startswith("note: "))


@pytest.mark.parametrize(
    ("words", "code", "why"),
    [
        (f"{PAIP}:maximizer(weighted_score) --prunes", 3, "depth 1"),
        (f"{PAIP}:maximizer(weighted_score)", 0, ""),
        ("random --prunes", 2, "--evaluation"),
        (f"{PAIP}:weighted_score", 2, "evaluation"),
    ],
)
def test_what_cannot_be_judged_has_an_exit_code_of_its_own(
    words: str, code: int, why: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["check", *words.split(), "--search", "--positions", "4"]) == code
    captured = capsys.readouterr()
    assert why in captured.out + captured.err


@pytest.mark.integration
def test_the_search_of_the_page_is_right(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    blocks = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    (block,) = (block for block in blocks if "class Lookahead(" in block)
    path = tmp_path / "anna.py"
    path.write_text(block, encoding="utf-8")
    assert main(["check", f"{path}:Lookahead", "--search", "--positions", "12"]) == 0
    assert "not prune" in capsys.readouterr().out
