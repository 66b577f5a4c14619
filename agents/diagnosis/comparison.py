"""Answers beside those of searches that are right, and of such that are mistaken in a known way."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from othello_lab.agents.diagnosis.questions import SearchAnswer, SearchQuestion
from othello_lab.agents.diagnosis.references import (
    FULL,
    INFINITY,
    NO_CUTS,
    RIGHT,
    TYPICAL,
    Mistake,
    Reply,
    Search,
    as_called,
    from_a1,
    from_h8,
    mistaken,
)
from othello_lab.agents.diagnosis.tree import ReferenceNode
from othello_lab.agents.evaluation import Evaluation
from othello_lab.agents.evaluation.evaluation import FINAL_UNIT
from othello_lab.agents.search.endgame.solver import EndgameSolver
from othello_lab.core.notation import PASS, square_name
from othello_lab.core.position import Position

EXPLAINED = 0.9
"""So large a part of the answers a mistake has to explain to be told."""
_SAMPLE = 16  # answers of each depth, right and wrong ones, with which mistakes are compared
_SOLVED = 16  # empty squares, at most, where an answer may be that of an endgame solver
_TABLE_MB = 4
_FURTHER = 200  # answers with which mistakes that have explained those alike are compared
_ENOUGH = 8  # after so many a mistake that explains little is left out


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
    end. unproven: True if it is right, but for no reason.
    """

    def __init__(
        self, question: SearchQuestion, answer: SearchAnswer, evaluation: Evaluation, beyond: int
    ) -> None:
        self.question, self.answer, self.beyond = question, answer, beyond
        self.solved = self.unproven = False
        self._evaluation = evaluation
        self.kind: type[Search] = Search
        root = self.root()
        self.passes, self.ends = root.within(question.depth)
        self._known: dict[type[Search], Reply] = {}
        self._shallower: dict[int, int] = {}
        self.minimax = self._known[Search] = Search(NO_CUTS).reply(root, question.depth)

    def root(self) -> ReferenceNode:
        """Return its position as the root of a tree, made anew each time."""
        return ReferenceNode(self.question.position, self._evaluation)

    def called_root(self) -> ReferenceNode:
        """Return the same with the order of moves that the calls show."""
        root = self.root()
        root.note_order(self.question.depth, self.answer.calls)
        return root

    def right(self, kind: type[Search]) -> Reply:
        """Return the answer of the right search of this kind, with all moves that are best."""
        if kind not in self._known:
            same = not (self.passes or self.ends)  # where kinds have nothing to differ in
            found = self.minimax if same else kind(FULL).reply(self.root(), self.question.depth)
            self._known[kind] = found
        return self._known[kind]

    def shallower(self, depth: int) -> int:
        """Return minimax's value at another depth."""
        if depth not in self._shallower:
            self._shallower[depth] = Search().reply(self.root(), depth).value
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
        return self.wrong_move or self.wrong_value or self.unproven

    def last_ply(self) -> list[frozenset[int]]:
        """Return the positions of the last ply that a search reaches, as both masks."""
        level = [self.root()]
        for _ in range(self.question.depth):
            level = [child for node in level if not node.over for child in node.children]
        return [node.masks for node in level]

    @cached_property
    def unfinished(self) -> int | None:
        """Calls of the heuristic about positions where the game is not over; None if not seen."""
        calls = self.answer.calls
        return (
            sum(not Position(mine, others).is_over for mine, others in calls)
            if calls and self.ends
            else (self.answer.seen)
        )

    @property
    def asks_finished(self) -> bool:
        """True if the search asks the heuristic about a finished game."""
        return self.ends and self.unfinished != self.answer.seen

    @cached_property
    def asks_above(self) -> bool:
        """True if above the last ply the heuristic is asked about finished games, and about them
        alone, so not to sort moves."""
        last = {*self.last_ply()}
        above = [(mine, others) for mine, others in self.answer.calls if {mine, others} not in last]
        return bool(above) and all(Position(mine, others).is_over for mine, others in above)

    @property
    def last_ply_only(self) -> bool:
        """True if only positions of the last ply are evaluated: none to sort moves by them."""
        last = {*self.last_ply()}
        return all(frozenset(call) in last for call in self.answer.calls)

    @property
    def is_long(self) -> bool:
        """True if only its first calls have been noted."""
        return len(self.answer.calls) != (self.answer.seen or 0)

    @property
    def repeats(self) -> bool:
        """True if the heuristic was asked about a position again, or about one above the last
        ply: something was searched again, or sorted."""
        calls = [frozenset(call) for call in self.answer.calls]
        return len({*calls}) < len(calls) or not self.last_ply_only

    def fits(self, search: Search, root: ReferenceNode, counted: bool) -> bool:
        """Return True if a search answers as this one did, with as many evaluations if these are
        ``counted``."""
        reply, value = search.reply(root, self.question.depth), self.answer.value
        if self.answer.move not in reply.moves:
            return False
        if value is not None and not agree(value, reply.value, self.beyond):
            return False
        if self.asks_above and reply.evaluations == reply.unfinished:
            return False
        return not counted or self.unfinished in (None, reply.unfinished)

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
    wrong = _wrong_by(Search, cases)
    best, fewest = Search, len(wrong)
    asks_above = any(case.asks_above for case in cases if case.ends)
    for kind in RIGHT[1:]:
        if (kind.depth_first and asks_above) or 2 * len(_wrong_by(kind, wrong)) > len(wrong):
            continue  # a choice explains most of what differs
        count = len(_wrong_by(kind, cases))
        if (count, not _counts_are_of(kind, cases)) < (fewest, not _counts_are_of(best, cases)):
            best, fewest = kind, count
    _wrong_by(best, cases)
    return best


def _counts_are_of(kind: type[Search], cases: Sequence[AnsweredQuestion]) -> bool:
    """Return True if a search of this kind asks about finished games as often."""
    return all(not case.asks_finished or kind.depth_first for case in cases)


def _wrong_by(kind: type[Search], cases: Sequence[AnsweredQuestion]) -> Sequence[AnsweredQuestion]:
    """Return the answers that are wrong by this kind, and note it in the cases."""
    for case in cases:
        case.kind = kind
    return [case for case in cases if case.wrong]


def cuts(cases: Sequence[AnsweredQuestion]) -> bool:
    """Return True if the calls show cuts, or cannot be seen."""
    plain = [case for case in cases if not (case.passes or case.ends) and case.question.depth > 1]
    seen = [case for case in plain if case.answer.calls]
    return not seen or any(
        len({frozenset(call) for call in case.answer.calls}) < len({*case.last_ply()})
        for case in seen
    )


# ------------------------------------------------------------------ mistakes


@dataclass(frozen=True)
class Explanation:
    """A mistaken search as an explanation of the answers.

    rate: its share of the wrong answers, or if that is less of the right ones. example: the
    simplest wrong answer that it explains.
    """

    cause: str
    advice: str
    rate: float
    example: AnsweredQuestion


def exact(cases: Sequence[AnsweredQuestion], counted: bool = False) -> list[Explanation]:
    """Return the mistakes with which a search answers just so; of each cause one.

    counted: False for those with another number of evaluations, too, if there is no other.
    """
    return _explanations(cases, 0.0, counted)


def likely(cases: Sequence[AnsweredQuestion]) -> list[Explanation]:
    """Return the mistakes with which a search answers mostly so."""
    return _explanations(cases, 1 - EXPLAINED, False)


def _explanations(
    cases: Sequence[AnsweredQuestion], most: float, only_counted: bool
) -> list[Explanation]:
    """most: share of the answers that a mistake may fail to explain."""
    wrong, right = [c for c in cases if c.wrong], [c for c in cases if not c.wrong]
    sample = _alternating(_sample(wrong), _sample(right))
    rest = [case for case in _alternating(wrong, right) if case not in sample][:_FURTHER]
    with_cuts, natural = cuts(cases), (from_a1, from_h8)
    # A search that leaves out nothing where nobody passes may have cuts after all.
    phases = [(True, natural, with_cuts), (True, (as_called,), with_cuts), (True, natural, True)]
    uncounted = [] if only_counted else [(False, (from_a1, as_called), with_cuts)]
    for counted, orders, may_cut in (*([] if most else dict.fromkeys(phases)), *uncounted):
        trials = {search: _Trial() for search in mistaken(_kinds(cases), orders, may_cut)}
        for number, case in enumerate([*sample, *rest], start=1):
            if number > len(sample) and (most or len({s.mistake.cause for s in trials}) < 2):
                break
            root = case.called_root() if as_called in orders else case.root()
            for search, trial in trials.items():
                trial.note(case, case.fits(search, root, counted))
            least = 1.0 - most if number > _ENOUGH else 0.5 * (most > 0) or 1.0
            trials = {s: t for s, t in trials.items() if t.rate >= least}
        best: dict[str, tuple[Mistake, Explanation]] = {}
        for search, trial in trials.items():
            if trial.example:
                about = search.cause, search.advice, trial.rate, trial.example
                best.setdefault(search.mistake.cause, (search.mistake, Explanation(*about)))
        if best:
            # Of mistakes that explain as much, one without a window is the simpler.
            return _merged(
                sorted(best.values(), key=lambda pair: (-round(pair[1].rate, 2), pair[0].windowed))
            )
    return []


def _merged(found: Sequence[tuple[Mistake, Explanation]]) -> list[Explanation]:
    """Return explanations, those of one group that explain as much in one."""
    (first, best), *others = found
    alike = [e for m, e in others if first.group == m.group != "" and e.rate == best.rate]
    name = first.group if alike else best.cause
    return [replace(best, cause=name), *(e for _, e in others if e not in alike)]


def _kinds(cases: Sequence[AnsweredQuestion]) -> list[type[Search]]:
    """Return the kinds that a mistaken search may be of, the chosen one first."""
    chosen = cases[0].kind
    asks = any(case.asks_finished for case in cases)
    seen = any(case.answer.calls for case in cases)
    may = [k for k in TYPICAL if not (seen and k.depth_first and not asks) and k is not chosen]
    return [chosen, *may]


class _Trial:
    """How often a mistaken search has answered as the search in question did."""

    def __init__(self) -> None:
        self.hits: dict[bool, list[bool]] = {True: [], False: []}
        self.example: AnsweredQuestion | None = None

    def note(self, case: AnsweredQuestion, fits: bool) -> None:
        self.hits[case.wrong].append(fits)
        if fits and case.wrong and (self.example is None or _simpler(case, self.example)):
            self.example = case

    @property
    def rate(self) -> float:
        return min((sum(hits) / len(hits) for hits in self.hits.values() if hits), default=0.0)


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
