"""Answers beside those of searches that are right, and of such that are mistaken in a known way."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product

from othello_lab.agents.diagnosis.questions import SearchAnswer, SearchQuestion
from othello_lab.agents.diagnosis.references import (
    AT_EACH_NODE,
    INFINITY,
    MISTAKEN,
    RIGHT,
    Reply,
    Search,
)
from othello_lab.agents.diagnosis.tree import ReferenceNode
from othello_lab.agents.evaluation import Evaluation
from othello_lab.agents.evaluation.evaluation import FINAL_UNIT
from othello_lab.agents.search.endgame.solver import EndgameSolver
from othello_lab.core.notation import PASS, square_name
from othello_lab.core.position import Position

EXPLAINED = 0.9
"""So large a part of the answers a mistake has to explain to be told."""
_VALUE_ONLY = 0.8  # of a hit: among equal values the order of moves decides
_SAMPLE = 16  # answers of each depth, right and wrong ones, with which mistakes are compared
_SOLVED = 16  # empty squares, at most, where an answer may be that of an endgame solver
_TABLE_MB = 4
_ENOUGH = 12  # after so many a mistake that explains little is left out


@dataclass(frozen=True)
class Cause:
    """The probable cause of a failure.

    name: the mistake in a few words. advice: a place to look at. explained: the share of the
    answers that a search with this mistake gives too; None if it was found in another way.
    evidence: a position, the right answer and the given one.
    """

    name: str
    advice: str
    evidence: str
    explained: float | None = None


class AnsweredQuestion:
    """A question, its answer, and the answers of right searches, found on demand.

    beyond: the largest heuristic value there is. kind: of the right searches that it is held to,
    one of :data:`RIGHT`. solved: True if the answer is that of a search that plays the game to its
    end.
    """

    def __init__(
        self, question: SearchQuestion, answer: SearchAnswer, evaluation: Evaluation, beyond: int
    ) -> None:
        self.question, self.answer, self.beyond = question, answer, beyond
        self.solved = False
        self._evaluation = evaluation
        self.kind: type[Search] = Search
        root = self.root()
        self.passes, self.ends = root.within(question.depth)
        self._known: dict[type[Search], Reply] = {}
        self._shallower: dict[int, int] = {}
        self.minimax = self._known[Search] = Search(False).reply(root, question.depth)

    def root(self) -> ReferenceNode:
        """Return its position as the root of a tree, made anew each time."""
        return ReferenceNode(self.question.position, self._evaluation)

    def right(self, kind: type[Search]) -> Reply:
        """Return the answer of the right search of this kind."""
        if kind not in self._known:
            same = not (self.passes or self.ends)  # where kinds have nothing to differ in
            found = self.minimax if same else kind(False).reply(self.root(), self.question.depth)
            self._known[kind] = found
        return self._known[kind]

    def shallower(self, depth: int) -> int:
        """Return minimax's value at another depth."""
        if depth not in self._shallower:
            self._shallower[depth] = Search(False).reply(self.root(), depth).value
        return self._shallower[depth]

    @property
    def truth(self) -> Reply:
        return self.right(self.kind)

    @property
    def wrong_move(self) -> bool:
        if self.answer.trouble or self.solved:
            return False
        return self.answer.move not in self.truth.moves

    @property
    def wrong_value(self) -> bool:
        value = self.answer.value
        return (
            value is not None
            and not self.solved
            and not agree(value, self.truth.value, self.beyond)
        )

    @property
    def wrong(self) -> bool:
        return self.wrong_move or self.wrong_value

    @cached_property
    def asks_finished(self) -> bool:
        """True if the search asks the heuristic about a finished game."""
        return self.ends and any(
            Position(mine, others).is_over for mine, others in self.answer.calls
        )

    @cached_property
    def alphabeta(self) -> tuple[Reply, Reply]:
        """Return alpha-beta's answers, from a1 to h8 and backwards."""
        root, depth = self.root(), self.question.depth
        return self.kind().reply(root, depth), self.kind(backwards=True).reply(root, depth)

    def is_solved(self, solver: EndgameSolver) -> bool:
        """Return True if the answer is right about the game's end, by discs or by the winner."""
        scores = solver.analyse(self.question.position).scores
        best, chosen = max(scores.values()), scores.get(self.answer.move, -INFINITY)
        value = self.answer.value
        if value is None or not agree(value, best * FINAL_UNIT, self.beyond):
            return False
        return (chosen > 0) == (best > 0) and (chosen < 0) == (best < 0)

    def told(self) -> str:
        """Return the position, the right answer, and the given one, in words."""
        expected = _said(self.truth.moves, self.truth.value)
        if self.answer.value is None:
            expected = _said(self.truth.moves, None)
        came = self.answer.trouble or _said([self.answer.move], self.answer.value)
        plies = "1 ply" if self.question.depth == 1 else f"{self.question.depth} plies"
        board = self.question.position
        return f"asked to look {plies} ahead at\n{board}\nexpected {expected}; answered {came}"


def _said(moves: Iterable[int], value: float | None) -> str:
    names = " or ".join(square_name(move) if 0 <= move <= PASS else "?" for move in sorted(moves))
    if value is None:
        return names
    if abs(value) < FINAL_UNIT or value % FINAL_UNIT or abs(value) > 64 * FINAL_UNIT:
        return f"{names} with the value {value:,}"
    discs = int(value) // FINAL_UNIT
    return f"{names} with the value {int(value):,} (the game ends {discs:+d} discs)"


def agree(value: float, expected: int, beyond: int) -> bool:
    """Return True if a value is the expected one. Of a finished game the sign has to be right; its
    size is everybody's own choice, if that is ``beyond`` all values of the heuristic."""
    if value == expected:
        return True
    final = abs(expected) >= FINAL_UNIT
    return final and abs(value) > beyond and (value > 0) == (expected > 0)


def notice_solved(cases: Sequence[AnsweredQuestion]) -> bool:
    """Return True if the only difference is that the end of the game is solved, and note it in the
    cases. Such a search solves all positions with few enough empty squares."""
    wrong = [case for case in cases if case.wrong]
    empties = max((case.question.position.empties for case in wrong), default=0)
    late = [case for case in cases if case.question.position.empties <= empties]
    if not wrong or empties > _SOLVED or not all(map(_may_be_solved, late)):
        return False
    solver = EndgameSolver(_TABLE_MB)
    solver.prepare()
    if not all(case.is_solved(solver) for case in late):
        return False
    for case in late:
        case.solved = True
    return True


def _may_be_solved(case: AnsweredQuestion) -> bool:
    value = case.answer.value
    return value is not None and (value == 0 or abs(value) > case.beyond)


def choose_kind(cases: Sequence[AnsweredQuestion]) -> type[Search]:
    """Return the kind of right search that most answers belong to, and note it in the cases."""

    asks = any(case.asks_finished for case in cases)
    fewest: dict[type[Search], int] = {}
    for kind in RIGHT:
        fewest[kind] = _wrong_by(kind, cases)
        if not fewest[kind] and not asks:
            break
    best = min(fewest, key=lambda kind: fewest[kind])
    alike = [kind for kind in fewest if fewest[kind] == fewest[best]]
    if fewest[best] > 0.5 * fewest[Search]:  # a choice explains most of what differs
        best = Search
    elif asks and fewest[Search]:
        counted = [kind for kind in alike if _counts_are_of(kind, cases)]
        _wrong_by(Search, cases)
        mistake = None if counted else next(iter(matches(cases)), None)
        best = counted[0] if counted else best
        if mistake and mistake.rate == mistake.counts == 1:
            best = Search  # it is a mistake, not a choice
    _wrong_by(best, cases)
    return best


def _counts_are_of(kind: type[Search], cases: Sequence[AnsweredQuestion]) -> bool:
    """Return True if the heuristic was called as often as by this kind, with pruning or without."""
    return any(
        all(
            (case.answer.seen or 0) == search.reply(case.root(), case.question.depth).evaluations
            for case in cases
        )
        for search in (kind(), kind(False))
    )


def _wrong_by(kind: type[Search], cases: Sequence[AnsweredQuestion]) -> int:
    """Return the number of answers that are wrong by this kind, and note it in the cases."""
    for case in cases:
        case.kind = kind
    return sum(case.wrong for case in cases)


# ------------------------------------------------------------------ mistakes


@dataclass(frozen=True)
class Explanation:
    """A mistaken search as an explanation of the answers.

    rate: its share of the wrong answers, or if that is less of the right ones. counts: its share of
    the counts. example: the simplest wrong answer that it explains.
    """

    mistake: type[Search]
    rate: float
    counts: float
    example: AnsweredQuestion


def matches(cases: Sequence[AnsweredQuestion]) -> list[Explanation]:
    """The mistakes, the one that explains the answers best first; of each cause one."""
    wrong, right = (
        _sample([c for c in cases if c.wrong]),
        _sample([c for c in cases if not c.wrong]),
    )
    trials = [_Candidate(search) for search in _suspects()]
    for number, case in enumerate(_alternating(wrong, right), start=1):
        root = case.root()
        for trial in trials:
            trial.compare(case, root)
        if number >= _ENOUGH:
            trials = [trial for trial in trials if trial.rate > 0.5]
    trials.sort(key=lambda trial: (round(trial.rate, 2), trial.counts), reverse=True)
    best: dict[str, _Candidate] = {}
    for trial in trials:
        if trial.example:
            best.setdefault(trial.kind.cause, trial)
    return [
        Explanation(each.kind, each.rate, each.counts, each.example)
        for each in best.values()
        if each.example
    ]


def _suspects() -> Iterator[Search]:
    """Each mistake with and without pruning, and with a root that is right where that matters."""
    for kind, prunes in product(MISTAKEN, (True, False)):
        yield kind(prunes)
        if any(getattr(kind, name) is not getattr(Search, name) for name in AT_EACH_NODE):
            yield kind(prunes, right_root=True)


def _sample(cases: Sequence[AnsweredQuestion]) -> list[AnsweredQuestion]:
    """Some of each depth, half of them before passes and ends where there are such."""
    chosen: list[AnsweredQuestion] = []
    for depth in sorted({case.question.depth for case in cases}):
        there = [case for case in cases if case.question.depth == depth]
        special = [case for case in there if case.passes or case.ends][: _SAMPLE // 2]
        usual = [case for case in there if case not in special]
        chosen += special + usual[: _SAMPLE - len(special)]
    return chosen


def _alternating(
    wrong: Sequence[AnsweredQuestion], right: Sequence[AnsweredQuestion]
) -> list[AnsweredQuestion]:
    """All of both, wrong and right ones mixed, small trees first."""

    def size(case: AnsweredQuestion) -> int:
        return case.minimax.nodes

    order = []
    for part in (wrong, right):
        for number, case in enumerate(sorted(part, key=size)):
            order.append((number / len(part), case))
    return [case for _, case in sorted(order, key=lambda pair: pair[0])]


class _Candidate:
    """A mistaken search, and how often it has answered as the search in question did."""

    def __init__(self, search: Search) -> None:
        self.kind = type(search)
        self._search = search
        self._hits: dict[bool, list[float]] = {True: [], False: []}
        self._counts: list[bool] = []
        self.example: AnsweredQuestion | None = None

    def compare(self, case: AnsweredQuestion, root: ReferenceNode) -> None:
        answer, reply = case.answer, self._search.reply(root, case.question.depth)
        hit = float(answer.move in reply.moves)
        if answer.value is not None:
            hit = max(hit, _VALUE_ONLY) if agree(answer.value, reply.value, case.beyond) else 0.0
        self._hits[case.wrong].append(hit)
        for stated, expected in ((answer.nodes, reply.nodes), (answer.seen, reply.evaluations)):
            if stated is not None:
                self._counts.append(stated == expected)
        if hit == 1 and case.wrong and (self.example is None or _simpler(case, self.example)):
            self.example = case

    @property
    def rate(self) -> float:
        return min((_mean(hits) for hits in self._hits.values() if hits), default=0.0)

    @property
    def counts(self) -> float:
        return _mean(self._counts)


def _mean(numbers: Sequence[float]) -> float:
    return sum(numbers) / len(numbers) if numbers else 0.0


def _simpler(one: AnsweredQuestion, other: AnsweredQuestion) -> bool:
    return simplicity(one) < simplicity(other)


def simplicity(case: AnsweredQuestion) -> tuple[int, int]:
    """Small for a case that is easily followed."""
    return case.question.depth, case.minimax.nodes


def simplest(
    cases: Iterable[AnsweredQuestion], which: Callable[[AnsweredQuestion], bool] = lambda case: True
) -> AnsweredQuestion:
    """Of these cases the one most easily followed."""
    return min(filter(which, cases), key=simplicity)
