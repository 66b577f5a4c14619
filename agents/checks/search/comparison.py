"""Answers beside those of searches that are right, and of such that are mistaken in a known way."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from othello_lab.agents.checks.search.case import AnsweredQuestion, Cases, Cause, simplest
from othello_lab.agents.checks.search.references import (
    RIGHT,
    TYPICAL,
    Order,
    Search,
    as_called,
    from_a1,
    from_h8,
    mistaken,
)
from othello_lab.agents.search.endgame.solver import EndgameSolver

EXPLAINED = 0.9
"""So large a part of the answers a mistake has to explain to be told."""
_CAUSES = 3  # that are told
_SAMPLE = 16  # answers of each depth, right and wrong ones, with which mistakes are compared
_SOLVED = 16  # empty squares, at most, where an answer may be that of an endgame solver
_TABLE_MB = 4
_FURTHER = 200  # answers with which mistakes that have explained those alike are compared
_ENOUGH = 8  # after so many a mistake that explains little is left out


# ------------------------------------------------------------------ right in another way


def notice_solved(cases: Cases) -> bool:
    """Return True if the only difference is that the end of the game is solved, and note it in the
    cases. Such a search solves all positions with few enough empty squares."""
    empties = max((case.position.empties for case in cases if case.wrong), default=_SOLVED + 1)
    late = [case for case in cases if case.position.empties <= empties]
    if empties > _SOLVED or not all(map(_may_be_solved, late)):
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


def choose_kind(cases: Cases) -> type[Search]:
    """Return the kind of right search that most answers belong to, and note it in the cases."""
    wrong = _wrong_by(Search, cases)
    asks_above = any(case.asks_above for case in cases if case.ends)

    def misfit(kind: type[Search]) -> tuple[int, bool]:
        """Return the number of wrong answers, and True if finished games are asked about more."""
        asks = all(not case.asks_finished or kind.depth_first for case in cases)
        return len(_wrong_by(kind, cases)), not asks

    best = Search
    for kind in RIGHT[1:]:
        if (kind.depth_first and asks_above) or 2 * len(_wrong_by(kind, wrong)) > len(wrong):
            continue  # a choice explains most of what differs
        if misfit(kind) < misfit(best):
            best = kind
    _wrong_by(best, cases)
    return best


def _wrong_by(kind: type[Search], cases: Cases) -> Cases:
    """Return the answers that are wrong by this kind, and note it in the cases."""
    for case in cases:
        case.kind = kind
    return [case for case in cases if case.wrong]


# ------------------------------------------------------------------ mistakes


def cuts(cases: Cases) -> bool:
    """Return True if the calls show cuts, or cannot be seen."""
    plain = [case for case in cases if not (case.passes or case.ends) and case.depth > 1]
    seen = [case for case in plain if case.answer.calls]
    return not seen or any(
        case.evaluated < sum(ply == case.depth for ply in case.plies.values()) for case in seen
    )


def exact(cases: Cases, counted: bool = False) -> list[Cause]:
    """Return the mistakes with which a search answers just so; of each cause one.

    counted: False for those with another number of evaluations, too, if there is no other.
    """
    natural, with_cuts = (from_a1, from_h8), cuts(cases)
    # A search that leaves out nothing where nobody passes may have cuts after all.
    phases = dict.fromkeys(
        [(True, natural, with_cuts), (True, (as_called,), with_cuts), (True, natural, True)]
    )
    last = [] if counted else [(False, (from_a1, as_called), with_cuts)]
    found = (_explanations(cases, 0.0, *phase) for phase in (*phases, *last))
    return next(filter(None, found), [])


def likely(cases: Cases) -> list[Cause]:
    """Return the mistakes with which a search answers mostly so."""
    return _explanations(cases, 1 - EXPLAINED, False, (from_a1, as_called), cuts(cases))


def _explanations(
    cases: Cases, most: float, counted: bool, orders: Sequence[Order], may_cut: bool
) -> list[Cause]:
    """Return the mistakes that explain answers, those of one group that explain as much in one.

    most: share of the answers that a mistake may fail to explain. The rest: see
    :meth:`AnsweredQuestion.fits` and :func:`~agents.checks.search.references.mistaken`.
    """
    wrong, right = [c for c in cases if c.wrong], [c for c in cases if not c.wrong]
    sample = _alternating(_sample(wrong), _sample(right))
    rest = [case for case in _alternating(wrong, right) if case not in sample][:_FURTHER]
    trials = {search: _Trial() for search in mistaken(_kinds(cases), orders, may_cut)}
    for number, case in enumerate([*sample, *rest], start=1):
        if number > len(sample) and (most or len({s.mistake.cause for s in trials}) < 2):
            break
        root = case.root(as_called in orders)
        for search, trial in trials.items():
            trial.note(case, case.fits(search, root, counted))
        least = 1.0 - most if number > _ENOUGH else 0.5 * (most > 0) or 1.0
        trials = {search: trial for search, trial in trials.items() if trial.rate >= least}
    best: dict[str, tuple[Search, _Trial]] = {}
    for search, trial in trials.items():
        if trial.examples:
            best.setdefault(search.mistake.cause, (search, trial))
    # Of mistakes that explain as much, one without a window is the simpler.
    found = sorted(
        best.values(), key=lambda pair: (-round(pair[1].rate, 2), pair[0].mistake.windowed)
    )
    if not found:
        return []
    rate, group = found[0][1].rate, found[0][0].mistake.group
    alike = [
        (search, trial)
        for search, trial in found[1:]
        if group and search.mistake.group == group and trial.rate == rate
    ]
    causes = [
        Cause(search.cause, search.advice, simplest(trial.examples).difference(), trial.rate)
        for search, trial in [pair for pair in found if pair not in alike][:_CAUSES]
    ]
    return [replace(causes[0], name=group), *causes[1:]] if alike else causes


class _Trial:
    """How often a mistaken search has answered as the search in question did.

    examples: the wrong answers among those. rate: its share of the wrong answers, or if that is
    less of the right ones.
    """

    def __init__(self) -> None:
        self._hits: dict[bool, list[bool]] = {True: [], False: []}
        self.examples: list[AnsweredQuestion] = []

    def note(self, case: AnsweredQuestion, fits: bool) -> None:
        self._hits[case.wrong].append(fits)
        if fits and case.wrong:
            self.examples.append(case)

    @property
    def rate(self) -> float:
        return min((sum(hits) / len(hits) for hits in self._hits.values() if hits), default=0.0)


def _kinds(cases: Cases) -> list[type[Search]]:
    """Return the kinds that a mistaken search may be of, the chosen one first."""
    chosen = cases[0].kind
    asks = any(case.asks_finished for case in cases)
    seen = any(case.answer.calls for case in cases)
    may = [k for k in TYPICAL if not (seen and k.depth_first and not asks) and k is not chosen]
    return [chosen, *may]


def _sample(cases: Cases) -> Cases:
    """Some of each depth, half of them before passes and ends where there are such."""
    chosen: list[AnsweredQuestion] = []
    for depth in sorted({case.depth for case in cases}):
        there = [case for case in cases if case.depth == depth]
        special = [case for case in there if case.passes or case.ends][: _SAMPLE // 2]
        usual = [case for case in there if case not in special]
        chosen += special + usual[: _SAMPLE - len(special)]
    return chosen


def _alternating(wrong: Cases, right: Cases) -> Cases:
    """All of both, wrong and right ones mixed, small trees first."""
    order = []
    for part in (wrong, right):
        for number, case in enumerate(sorted(part, key=lambda case: case.minimax.nodes)):
            order.append((number / len(part), case))
    return [case for _, case in sorted(order, key=lambda pair: pair[0])]
