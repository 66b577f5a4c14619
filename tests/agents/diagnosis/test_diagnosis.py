"""Searches with a mistake are told it, and right ones that they are right.

The mistakes are written into the files of ``students``, a line or two each.
"""

from __future__ import annotations

import json
import re
import time
from pathlib import Path

import pytest
from chosen import chosen_of, mostly_nightly
from mistaken import BOARD, DEEP, FOLLOWED, MTDF, NEGAMAX, TWO_SIDED, Seed, written

from othello_lab import Position
from othello_lab.agents.command_line import main
from othello_lab.agents.config import build_agent, load_evaluation
from othello_lab.agents.diagnosis import Diagnosis, RecordingEvaluation, SearchUnderTest, diagnose
from othello_lab.agents.diagnosis.comparison import AnsweredQuestion
from othello_lab.agents.diagnosis.following import FollowedSearch
from othello_lab.agents.diagnosis.questions import (
    SearchQuestion,
    ask,
    narrow_positions,
    positions,
)
from othello_lab.agents.diagnosis.references import MISTAKEN, RIGHT, Search
from othello_lab.agents.diagnosis.tree import ReferenceNode
from othello_lab.agents.search import AlphaBeta, Minimax

PAIP = Path(__file__).parents[1] / "external" / "paip.py"
PAGE = Path(__file__).parents[3] / "docs" / "search.md"
POSITIONS, DEPTHS = 20, (1, 2, 3)
MORE_POSITIONS, ALL_DEPTHS = 40, (1, 2, 3, 4, 5)

CHILD = "-self.search(position.play(move), depth - 1, -beta, -alpha)"
AT_PASS = "-self.search(position.play(PASS), depth - 1, -beta, -alpha)"
PASSES = f"        if not position.moves:\n            return {AT_PASS}\n"
LEAVES = """        if position.is_over:
            return WON * position.disc_difference
        if depth == 0:
            return self.evaluate(position)
"""
COUNT = "        self.nodes += 1\n"
MOVES = "list(position.moves)"
SEARCH = f"def search(self, position, depth, alpha, beta):\n{COUNT}"
WITH_TABLE = """def search(self, position, depth, alpha, beta):
        key = position.mover, position.opponent
        if key not in self.table:
            self.table[key] = self.really(position, depth, alpha, beta)
        return self.table[key]

    def really(self, position, depth, alpha, beta):
        self.nodes += 1
"""


SEEDS = [
    Seed("no pass handling", NEGAMAX, f"return {AT_PASS}", "return self.evaluate(position)"),
    Seed("sign error at a pass", NEGAMAX, AT_PASS, AT_PASS[1:]),
    Seed("window not negated", NEGAMAX, CHILD, CHILD.replace("-beta, -alpha", "alpha, beta")),
    Seed("depth off by one", NEGAMAX, "depth == 0", "depth <= 1"),  # right at depth 1
    Seed(
        "wrong side evaluated",
        NEGAMAX,
        "return self.evaluation(position)",
        "return -self.evaluation(position)",
    ),
    Seed("ordering loses moves", NEGAMAX, MOVES, f"({MOVES}[:-1] or {MOVES})"),
    Seed(
        "finished game evaluated by the heuristic",
        NEGAMAX,
        "WON * position.disc_difference",
        "self.evaluate(position)",
    ),
    Seed("a bound is taken for a value", NEGAMAX, "if value > best:", "if value >= best:"),
    Seed(
        "maximizes at every level",
        NEGAMAX,
        CHILD,
        CHILD[1:].replace("-beta, -alpha", "alpha, beta"),
    ),
    Seed("state is kept between moves", NEGAMAX, SEARCH, WITH_TABLE),
    Seed(
        "the first move of the list is returned",
        NEGAMAX,
        "Decision(best_move",
        "Decision(position.moves[0]",
    ),
    Seed("counts: leaves are not counted", NEGAMAX, COUNT + LEAVES, LEAVES + COUNT),
    Seed("counts: the root is not counted", NEGAMAX, "self.nodes = 1", "self.nodes = 0"),
]
"""One of each kind."""

MORE = [
    Seed("no pass handling", NEGAMAX, PASSES, ""),
    Seed("no pass handling", NEGAMAX, f"return {AT_PASS}", "raise ValueError('no moves')"),
    Seed(
        "sign error at a pass",
        TWO_SIDED,
        "return self.best(position.play(PASS)",
        "return self.worst(position.play(PASS)",
    ),
    Seed("window not negated", NEGAMAX, CHILD, CHILD.replace("-beta, -alpha", "-alpha, -beta")),
    Seed("depth off by one", NEGAMAX, "self.depth - 1, -beta", "self.depth, -beta"),
    Seed("depth off by one", NEGAMAX, "depth == 0", "depth == -1"),
    Seed("wrong side evaluated", TWO_SIDED, "return sign * self.eval", "return self.eval"),
    Seed("ordering loses moves", NEGAMAX, MOVES, f"({MOVES}[1:] or {MOVES})"),
    Seed(
        "ordering loses moves",
        NEGAMAX,
        MOVES,
        "list({self.evaluation(position.play(m)): m for m in position.moves}.values())",
    ),
    Seed(
        "finished game evaluated by the heuristic",
        TWO_SIDED,
        "if position.is_over:\n            difference",
        "if False:\n            difference",
    ),
    Seed("the best value begins at 0", NEGAMAX, "        best = -INF", "        best = 0 * INF"),
    Seed(
        "the value that is told is Black's, not the mover's",
        TWO_SIDED,
        "Decision(best_move, best)",
        "Decision(best_move, best if self.me.value == 'black' else -best)",
    ),
    Seed(
        "a finished game's discs are mixed with heuristic values", NEGAMAX, "WON = 10**6", "WON = 1"
    ),
    Seed(
        "plays for Black, whoever is to move",
        TWO_SIDED,
        "self.me = position.to_move",
        "self.me = type(position.to_move).BLACK",
    ),
    Seed(
        "the value is told in another unit",
        NEGAMAX,
        "Decision(best_move, best",
        "Decision(best_move, best / 4",
    ),
    Seed(
        "it does not answer",
        NEGAMAX,
        "        self.nodes = 1\n",
        "        __import__('os')._exit(3)\n",
    ),
    Seed("counts: evaluations", NEGAMAX, "self.cost += 1", "self.cost += 2"),
]
"""The same and some others in other forms."""

WASTEFUL = [
    Seed("cutoff with > for >=", NEGAMAX, "alpha >= beta", "alpha > beta"),
    Seed(
        "alpha is not raised",
        NEGAMAX,
        "            alpha = max(alpha, value)\n            if alpha >= beta",
        "            if value >= beta",
    ),
    Seed("alpha is not raised, or nothing is cut", NEGAMAX, "alpha >= beta", "False"),
]
"""Right searches that cost more than they need to."""

SILENT = [
    seed
    for seed in SEEDS
    if not seed.cause.startswith(("counts", "state")) and seed.file == NEGAMAX
]
"""Those that can be told from moves, and from how often the heuristic is called."""

OTHERWISE_RIGHT = [
    Seed("", NEGAMAX, "", ""),
    Seed("", TWO_SIDED, "", ""),
    Seed("", DEEP, "", ""),
    Seed("", MTDF, "", ""),
    Seed("", BOARD, "", ""),
    Seed(  # a full window for each move of the root
        "",
        TWO_SIDED,
        "self.worst(position.play(move), self.depth - 1, best, INFINITY)",
        "self.worst(position.play(move), self.depth - 1, -INFINITY, INFINITY)",
    ),
    Seed("", NEGAMAX, MOVES, f"{MOVES}[::-1]"),
    Seed("", NEGAMAX, "alpha >= beta", "False"),  # minimax
    Seed("", NEGAMAX, "        return best\n", "        return min(best, beta)\n"),  # fail-hard
    Seed("", NEGAMAX, AT_PASS, AT_PASS.replace("depth - 1", "depth")),
    Seed("", NEGAMAX, ", stats=stats)", ")"),
    Seed(  # as PAIP has it
        "",
        NEGAMAX,
        "        if position.is_over:\n            return WON",
        "        if depth == 0:\n            return self.evaluate(position)\n"
        "        if position.is_over:\n            return WON",
    ),
]


def examined(path: Path, deep: bool = False, must_prune: bool = False) -> Diagnosis:
    evaluation = load_evaluation("square_weights")
    watched = RecordingEvaluation(evaluation)
    settings = {"_target_": f"{path}:Student", "evaluation": watched}
    depths, count = (ALL_DEPTHS, MORE_POSITIONS) if deep else (DEPTHS, POSITIONS)
    agents = {depth: build_agent(settings | {"depth": depth}, "student") for depth in depths}
    asked = SearchUnderTest(agents, limited=False, watched=watched, patience=20.0)
    return diagnose(asked, evaluation, count, 60.0, must_prune)


def mistaken_answers(path: Path) -> list[AnsweredQuestion]:
    """Return wrong answers of a search, three plies deep."""
    evaluation = load_evaluation("square_weights")
    watched = RecordingEvaluation(evaluation)
    settings = {"_target_": f"{path}:Student", "evaluation": watched, "depth": 3}
    asked = SearchUnderTest({3: build_agent(settings, "student")}, False, watched, 20.0)
    questions = [SearchQuestion(position, 3) for position in positions(MORE_POSITIONS)]
    answers = ask(asked, questions, time.monotonic() + 60)
    cases = [
        AnsweredQuestion(question, answer, evaluation, 1000)
        for question, answer in zip(questions, answers, strict=True)
        if answer
    ]
    wrong = [case for case in cases if case.wrong]
    assert wrong
    return wrong


def is_told(diagnosis: Diagnosis, cause: str) -> None:
    assert not diagnosis.holds
    assert [each.name for each in diagnosis.causes][:1] == [cause], diagnosis.causes
    evidence = diagnosis.causes[0].evidence
    assert "  a b c d e f g h\n1 " in evidence and "expected " in evidence


@pytest.mark.integration
@pytest.mark.parametrize("seed", mostly_nightly(SEEDS, SEEDS[::20]), ids=lambda seed: seed.cause)
def test_a_mistake_is_told_by_its_cause(seed: Seed, tmp_path: Path) -> None:
    is_told(examined(written(seed, tmp_path)), seed.cause)


@pytest.mark.integration
@pytest.mark.parametrize("seed", MORE, ids=lambda seed: seed.cause)
def test_so_it_is_in_other_forms(seed: Seed, tmp_path: Path) -> None:
    is_told(examined(written(seed, tmp_path)), seed.cause)


@pytest.mark.integration
@pytest.mark.parametrize("seed", SILENT, ids=lambda seed: seed.cause)
def test_so_it_is_where_only_moves_are_stated(seed: Seed, tmp_path: Path) -> None:
    diagnosis = examined(written(seed, tmp_path, states_values=False))
    is_told(diagnosis, seed.cause)
    values = next(each for each in diagnosis.findings if each.name == "values")
    assert "judged by its moves alone" in values.detail


@pytest.mark.parametrize(
    "seed",
    [
        pytest.param(
            seed, id=seed.wrong.strip() or seed.file, marks=[pytest.mark.integration] * (place > 0)
        )
        for place, seed in enumerate(OTHERWISE_RIGHT)
    ],
)
def test_a_right_search_passes_whatever_it_has_chosen(seed: Seed, tmp_path: Path) -> None:
    diagnosis = examined(written(seed, tmp_path), deep=True)
    assert diagnosis.holds and not diagnosis.causes, diagnosis
    assert diagnosis.depth == ALL_DEPTHS[-1]
    pruning = diagnosis.findings[-1].asked
    assert pruning.startswith("It does not prune" if seed.wrong == "False" else "It prunes: ")


@pytest.mark.integration
def test_of_two_mistakes_the_one_in_ordinary_positions_is_told(tmp_path: Path) -> None:
    side = next(seed for seed in SEEDS if seed.cause == "wrong side evaluated")
    path = written(side, tmp_path)
    text = path.read_text(encoding="utf-8")
    path.write_text(text.replace(AT_PASS, AT_PASS[1:]), encoding="utf-8")
    diagnosis = examined(path)
    is_told(diagnosis, side.cause)
    assert diagnosis.notes or (diagnosis.causes[0].explained or 1) < 1  # that is not all


@pytest.mark.integration
@pytest.mark.parametrize(
    "seed", mostly_nightly(WASTEFUL, WASTEFUL[1:2]), ids=lambda seed: seed.cause
)
def test_who_does_not_prune_well_fails_only_if_asked_to(seed: Seed, tmp_path: Path) -> None:
    path = written(seed, tmp_path)
    assert examined(path).holds
    is_told(examined(path, must_prune=True), seed.cause)


@pytest.mark.integration
def test_a_full_window_at_the_root_prunes(tmp_path: Path) -> None:
    diagnosis = examined(written(OTHERWISE_RIGHT[5], tmp_path), must_prune=True)
    assert diagnosis.holds and any("full window" in note for note in diagnosis.notes)


# ------------------------------------------------------------------ the calls of the heuristic

NOT_NAMED = [
    seed
    for seed in FOLLOWED
    if seed.wrong in ("key = mover", "            moves[0] = killer\n        moves = ")
]
"""Noticed, but taken for bounds that are stored as exact."""

OF_EACH_CAUSE = list({seed.cause: seed for seed in reversed(FOLLOWED)}.values())


@pytest.mark.integration
@pytest.mark.parametrize(
    "seed",
    mostly_nightly(chosen_of(FOLLOWED, OF_EACH_CAUSE), FOLLOWED[3:4]),
    ids=lambda seed: seed.cause,
)
def test_the_calls_of_the_heuristic_show_the_cause(seed: Seed, tmp_path: Path) -> None:
    diagnosis = examined(written(seed, tmp_path), deep=True)
    assert not diagnosis.holds and diagnosis.causes
    if seed not in NOT_NAMED:
        is_told(diagnosis, seed.cause)


@pytest.mark.integration
def test_an_illegal_move_is_told_with_its_line_and_boards(tmp_path: Path) -> None:
    seed = next(seed for seed in FOLLOWED if "killer" in seed.right)
    evidence = examined(written(seed, tmp_path), deep=True).causes[0].evidence
    assert "\nfirst difference: after " in evidence and "\nthat is not legal there" in evidence
    assert evidence.count("  a b c d e f g h\n1 ") == 3  # the question, before, and evaluated


@pytest.mark.integration
def test_the_first_node_that_differs_is_told(tmp_path: Path) -> None:
    """Every line of moves in it is legal, and its value is minimax's."""
    evaluation = load_evaluation("square_weights")
    seed = next(seed for seed in FOLLOWED if seed.wrong == "EXACT")
    for case in mistaken_answers(written(seed, tmp_path)):
        search = FollowedSearch(case)
        if search.origin is None:
            continue
        line, node, kept = search.origin
        position = case.question.position
        for move in line:
            position = position.play(move)
        assert position == node.position
        right = Minimax(case.question.depth - len(line), evaluation).search(position)
        assert right.value > kept
        assert f"is worth {right.value:,} there" in search.told()


# ------------------------------------------------------------------ what it is held to


def test_the_right_search_is_the_labs() -> None:
    """Node for node, with pruning and without."""
    evaluation = load_evaluation("square_weights")
    for position in positions(6):
        for prunes, lab in ((False, Minimax), (True, AlphaBeta)):
            decision = lab(3, evaluation).search(position)
            reply = Search(prunes).reply(ReferenceNode(position, evaluation), 3)
            assert decision.move in reply.moves and decision.value == reply.value
            stats = decision.stats
            counts = stats.nodes, stats.leaves, stats.evaluations
            assert counts == (reply.nodes, reply.leaves, reply.evaluations)


def test_the_positions_are_of_all_kinds() -> None:
    for count in (24, 200):
        chosen = positions(count)
        assert len(set(chosen)) == count and all(each.legal_mask for each in chosen)
        evaluation = load_evaluation("square_weights")
        near = [ReferenceNode(each, evaluation).within(2) for each in chosen]
        assert sum(passes for passes, _ in near) >= count / 8
        assert sum(ends for _, ends in near) >= count / 16
        assert any(len(each.moves) == 1 for each in chosen)
        same = {(each.mover, each.opponent) for each in chosen}
        assert len(same) < count  # colours exchanged


def test_narrow_positions_have_small_trees_with_passes_and_transpositions() -> None:
    chosen = narrow_positions(100)
    assert len(set(chosen)) == 20
    evaluation = load_evaluation("square_weights")
    roots = [ReferenceNode(each, evaluation) for each in chosen]
    assert all(Search(False).reply(root, 5).leaves <= 1500 for root in roots)
    assert sum(root.within(3)[0] for root in roots) >= 8
    transposed = 0
    for root in roots:
        level = [root]
        for _ in range(4):
            level = [child for node in level if not node.over for child in node.children]
        transposed += len({node.position for node in level}) < len(level)
    assert transposed >= 10


def test_a_cause_is_told_in_one_way() -> None:
    advice: dict[str, str] = {}
    for mistake in MISTAKEN:
        assert mistake not in RIGHT
        assert advice.setdefault(mistake.cause, mistake.advice) == mistake.advice


# ------------------------------------------------------------------ on the command line


def test_the_command_tells_what_is_wrong(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = written(SEEDS[1], tmp_path)
    command = ["check", f"{path}:Student", "--search", "--positions", "16", "--depths", "2"]
    assert main(command) == 1
    printed = capsys.readouterr().out
    assert "probable cause: sign error at a pass (explains 100% of its answers)\n" in printed
    assert "    expected " in printed and "-- " not in printed
    assert printed.endswith(":Student does not search as it should; checked to 2 plies\n")
    assert main([*command, "--json"]) == 1
    told = json.loads(capsys.readouterr().out)
    assert not told["right"] and told["causes"][0]["name"] == "sign error at a pass"


@pytest.mark.parametrize(
    "words",
    [
        "alphabeta",
        f"{PAIP}:maximizer(weighted_score) --depths 1 --evaluation {PAIP}:weighted_score",
        "minimax evaluation=disc_count --depths 2",
    ],
)
def test_the_command_takes_every_kind_of_search(
    words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["check", *words.split(), "--search", "--positions", "6"]) == 0
    last = capsys.readouterr().out.splitlines()[-1]
    assert last.startswith(f"{words.split()[0]} searches as minimax does; checked to ")
    deepest = re.search(r"--depths (\d)", words)
    assert f"checked to {deepest[1] if deepest else 5} pl" in last


@pytest.mark.integration
def test_the_search_of_the_page_is_right(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    blocks = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    (block,) = (block for block in blocks if "class Lookahead(" in block)
    path = tmp_path / "anna.py"
    path.write_text(block, encoding="utf-8")
    assert main(["check", f"{path}:Lookahead", "--search", "--positions", "12"]) == 0
    assert "It does not prune" in capsys.readouterr().out


def test_a_function_may_make_the_search(capsys: pytest.CaptureFixture[str]) -> None:
    """PAIP's asks for the depth first."""
    command = f"check {PAIP}:alphabeta_searcher --search --depths 1,2 --positions 24".split()
    assert main(command) == 0
    assert "\nnote: by its own choice, as in PAIP, where no depth is " in capsys.readouterr().out


@pytest.mark.integration
def test_who_solves_the_end_is_right(capsys: pytest.CaptureFixture[str]) -> None:
    command = ["check", "alphabeta", "endgame=10", "--search", "--positions", "24"]
    assert main(command) == 0
    assert "\nnote: it solves the end of the game, beyond " in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (
            "greedy",
            "greedy has no setting evaluation",
        ),
        ("probcut", "leaves moves out on probability"),
        ("alphabeta --depths 0", "0: from 1 to 6 plies"),
        ("alphabeta --depths two", "'two': numbers of plies are needed, such as 3 or 1,2,3"),
        ("alphabeta --evaluation iagoo", "unknown evaluation 'iagoo'"),
        (f"{PAIP}:weighted_score depth=2", "depth=2: a function has no settings"),
        (f"{PAIP}:random_strategy --evaluation disc_count", "name it by --depths N"),
        (f"{PAIP}:nothing", "no 'nothing' there"),
    ],
)
def test_bad_input_is_one_line(
    words: str, complaint: str, capsys: pytest.CaptureFixture[str]
) -> None:
    try:
        code: object = main(["check", *words.split(), "--search"])
    except SystemExit as exit:
        code = exit.code
    assert code == 2
    printed = capsys.readouterr()
    assert printed.err.count("\n") == 1 and not printed.out
    assert complaint in printed.err


def test_slow_searches_are_asked_less(tmp_path: Path) -> None:
    seed = Seed("", NEGAMAX, "        self.nodes = 1\n", "        import time\n        time.sleep(0.02)\n        self.nodes = 1\n")  # fmt: skip  # noqa: E501
    evaluation = load_evaluation("square_weights")
    agent = build_agent(
        {"_target_": f"{written(seed, tmp_path)}:Student", "depth": 1, "evaluation": evaluation},
        "student",
    )
    diagnosis = diagnose(SearchUnderTest({1: agent}, False, None, 20.0), evaluation, 200, 1.0)
    assert diagnosis.holds
    assert re.fullmatch(r"1 ply deep \d+ of 200 positions, for lack of time", diagnosis.notes[0])


def test_who_hangs_is_told_so(tmp_path: Path) -> None:
    seed = Seed("", NEGAMAX, "        self.nodes = 1\n", "        while True:\n            pass\n")
    path = written(seed, tmp_path)
    agent = build_agent({"_target_": f"{path}:Student", "depth": 1, "evaluation": None}, "student")
    evaluation = load_evaluation("square_weights")
    diagnosis = diagnose(SearchUnderTest({1: agent}, False, None, 0.2), evaluation, 6, 10.0)
    assert diagnosis.causes[0].name == "it does not answer"
    assert isinstance(positions(1)[0], Position)
