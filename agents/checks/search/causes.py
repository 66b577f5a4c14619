"""Probable causes of wrong answers.

Answers are compared with those of right and of mistaken searches, and the calls of the heuristic
with the tree that should be searched: an evaluated position outside the tree shows an illegal move,
wrong flips or a wrong depth; a line without evaluated positions was not searched, so the value
above it is not proven.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace

from othello_lab.agents.checks.search.case import (
    AnsweredQuestion,
    Cases,
    Cause,
    simplest,
    simplicity,
)
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
from othello_lab.agents.checks.search.tree import FAULTS, KEPT, after
from othello_lab.agents.search.endgame.solver import EndgameSolver

EXPLAINED = 0.9
"""So large a part of the answers a mistake has to explain to be told."""
_CAUSES = 3  # that are told
_SAMPLE = 16  # answers of each depth, right and wrong ones, with which mistakes are compared
_SOLVED = 16  # empty squares, at most, where an answer may be that of an endgame solver
_TABLE_MB = 4
_FURTHER = 200  # answers with which mistakes that have explained those alike are compared
_ENOUGH = 8  # after so many a mistake that explains little is left out
_FOLLOWED = 16  # so many wrong answers are followed through the tree, the simplest
_MOST, SOME = 0.65, 0.3  # parts of them that show a fault
_BY_CHANCE = 0.001


# ------------------------------------------------------------------ right in another way


def notice_solved(cases: Cases) -> bool:
    """Return True if the only difference is that the end of the game is solved, and note it in the
    cases. Such a search solves all positions with few enough empty squares."""
    empties = max((case.position.empties for case in cases if case.wrong), default=_SOLVED + 1)
    late = [case for case in cases if case.position.empties <= empties]
    if empties > _SOLVED or not all(
        case.answer.value == 0 or abs(case.answer.value or 0) > case.beyond for case in late
    ):
        return False
    solver = EndgameSolver(_TABLE_MB)
    solver.prepare()
    if solved := all(case.is_solved(solver) for case in late):
        for case in late:
            case.solved = True
    return solved


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


# ------------------------------------------------------------------ mistaken searches


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
    causes = (_explanations(cases, 0.0, *phase) for phase in (*phases, *last))
    return next(filter(None, causes), [])


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
    trials: dict[Search, list[tuple[AnsweredQuestion, bool]]]
    trials = {search: [] for search in mistaken(_kinds(cases), orders, may_cut)}

    def rate(search: Search) -> float:
        """Return the share of the answers that it gives too: of wrong or right ones, the less."""
        parts = ([fits for case, fits in trials[search] if case.wrong is w] for w in (True, False))
        return min((sum(part) / len(part) for part in parts if part), default=0.0)

    for number, case in enumerate([*sample, *rest], start=1):
        if number > len(sample) and (most or len({s.mistake.cause for s in trials}) < 2):
            break
        root = case.root(as_called in orders)
        for search, answers in trials.items():
            answers.append((case, case.fits(search, root, counted)))
        least = 1.0 - most if number > _ENOUGH else 0.5 * (most > 0) or 1.0
        trials = {search: trials[search] for search in trials if rate(search) >= least}
    examples = {s: [case for case, fits in trials[s] if fits and case.wrong] for s in trials}
    best: dict[str, Search] = {}
    for search in trials:
        if examples[search]:
            best.setdefault(search.mistake.cause, search)
    # Of mistakes that explain as much, one without a window is the simpler.
    ranked = sorted(best.values(), key=lambda s: (-round(rate(s), 2), s.mistake.windowed))
    if not ranked:
        return []
    group = ranked[0].mistake.group
    same = [s for s in ranked[1:] if group == s.mistake.group and rate(s) == rate(ranked[0])]
    same = same if group else []
    causes = [
        Cause(search.cause, search.advice, simplest(examples[search]).difference(), rate(search))
        for search in [search for search in ranked if search not in same][:_CAUSES]
    ]
    return [replace(causes[0], name=group), *causes[1:]] if same else causes


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


# ------------------------------------------------------------------ calls in the tree


def followed(cases: Cases) -> Cases:
    """Return the simplest of some answers, those without calls left out."""
    return sorted((case for case in cases if case.answer.calls), key=simplicity)[:_FOLLOWED]


def _share(cases: Cases, which: Callable[[AnsweredQuestion], bool]) -> float:
    return sum(map(which, cases)) / max(1, len(cases))


def _to_depth(cases: Cases) -> float:
    """Return the share of answers in which positions of the last ply were evaluated."""
    return _share(cases, lambda case: case.depth in map(case.ply, case.answer.calls))


def against_the_rules(cases: Cases) -> Cause | None:
    """Return the cause if evaluated positions are reached by no legal line."""
    first_is_right = not any(case.answer.calls[0] in case.outside for case in cases)
    shown = [case for case in cases if first_is_right and case.discs_stay]
    kind = KEPT
    if not shown or len(shown) < _MOST * len(cases):
        shown = [case for case in cases if case.fault]
        if not shown or len(shown) < _MOST * len(cases):
            return None
        faults = [case.fault for case in shown if case.fault]
        kinds = (KEPT if fault.left_over and first_is_right else fault.kind for fault in faults)
        kind = Counter(kinds).most_common(1)[0][0]
    typical = next((case for case in shown if case.fault and case.fault.kind == kind), shown[0])
    step = f"\n{typical.fault.describe()}" if typical.fault else ""
    return Cause(kind, FAULTS[kind], typical.describe() + step)


def too_deep(cases: Cases) -> Cause | None:
    """Return the cause if only some lines are searched beyond the depth."""
    far = [case for case in cases if case.deeper]
    if _to_depth(cases) <= SOME or len(far) < _MOST * len(cases):
        return None
    return Cause(
        "some lines are searched deeper",
        "an extension gives another value than minimax: every line ends after the plies asked for",
        f"{far[0].describe()}\nfirst difference: it evaluates the position "
        f"{after(far[0].deeper)}, {len(far[0].deeper)} plies deep",
    )


def too_shallow(cases: Cases, least: float = _MOST) -> Cause | None:
    """Return the cause if some lines end before the depth."""
    short = [case for case in cases if not case.proven and (case.shallow or case.ends_early)]
    if not short or _to_depth(cases) <= 0.5 or len(short) < least * len(cases):
        return None
    marks = [[late for _, late in case.after_deeper] for case in short if case.ends_early]
    if marks and all(all(mark[mark.index(True) :]) for mark in marks):
        name = "the search stops before it is complete"
        advice = (
            "a budget of nodes or time ends it quietly: from some call on it evaluates positions "
            "where it stands; a search that runs out has to give the last complete answer, and to "
            "state that depth"
        )
    else:
        name = "some lines are searched less deep"
        advice = (
            "moves reduced or cut on a first impression have to be searched again to the full "
            "depth before their values count"
        )
    return Cause(name, advice, short[0].difference())


_ASPIRATION = (
    "aspiration window not searched again",
    "a value at or beyond the ends of a narrow window is only a bound: search again with a wider "
    "window, on either side",
)
_NARROW = (
    "the window begins too narrow",
    "the first window has to hold any value: begin with alpha below and beta above all values",
)
_CENTRES = (
    ("the value one ply less deep", _ASPIRATION, 1),
    ("the value two plies less deep", _ASPIRATION, 2),
    ("0", _NARROW, 0),
)
"""Middles of narrow windows: in words, the cause, and the plies that they are less deep."""


def _distance(case: AnsweredQuestion, plies: int) -> int:
    """Return how much the value is more than that some plies less deep; than 0 for no plies."""
    middle = Search().reply(case.root(), max(0, case.depth - plies)).value if plies else 0
    return case.truth.value - middle


def narrow_window(cases: Cases, answered: Cases) -> Cause | None:
    """Return the cause if answers are wrong where the value is far from the one before."""
    wrong = [case for case in cases if not case.proven]
    if len(wrong) < 3 or len(wrong) < _MOST * len(cases):
        return None
    right = [case for case in answered if not case.wrong and case.depth > 1]
    for name, (cause, advice), plies in _CENTRES:
        distances = [[_distance(case, plies) for case in part] for part in (wrong, right)]
        for side in (abs, int, lambda distance: -distance):  # the window may fail at one end only
            far, near = (sorted(map(side, part)) for part in distances)
            width = far[len(far) // 10]  # a wrong answer may follow from one before
            beside = [distance for distance in near if distance > 0]
            inside = sum(distance < width for distance in beside) / max(1, len(beside))
            if width > 0 and inside > 0.5 and (1 - inside) ** (0.9 * len(far)) < _BY_CHANCE:
                evidence = (
                    f"{wrong[0].difference()}\nit is wrong only where the value is {width:,} or "
                    f"more away from {name}"
                )
                return Cause(cause, advice, evidence)
    return None


_BOUND = "a bound is taken for a value"
_BOUND_ADVICE = (
    "a result at or beyond the ends of the window is only a bound: a null window that fails high "
    "has to be searched again, a table has to store the kind of bound, and a move is better only "
    "if its value is more than alpha"
)


def unproven(cases: Cases) -> Cause | None:
    """Return the cause if values are taken for exact that are but bounds."""
    bounds = [c for c in cases if not c.proven or (c.wrong_move and not c.wrong_value)]
    if not bounds or len(bounds) < _MOST * len(cases):
        return None
    why = "the lines that it has searched do not prove its answer"
    return Cause(_BOUND, _BOUND_ADVICE, f"{bounds[0].difference()}\n{why}")


def from_table(cases: Cases, answered: Cases) -> Cause:
    """Return the cause of answers that are right without the search's tables."""
    evidence = f"{cases[0].difference()}\nwithout its dictionaries it answers right"
    others = [case for case in answered if not case.wrong and case.depth > 1]
    passes = _share(others, lambda case: case.passes)
    for applies, use, advice in (
        (
            _share(cases, lambda case: case.shallow and not case.ends_early) > 0.5,
            "another depth",
            "the depth has to be stored with a value, and an entry of a lower depth is of no use",
        ),
        (
            all(case.passes for case in cases) and passes ** len(cases) < 0.1,
            "the other side",
            "after a pass the same discs are on the board: the side to move belongs to the key",
        ),
        (
            _share(cases, lambda case: case.origin is None) >= _MOST,
            "another position",
            "the key has to hold both sides' discs: its value is that of no line below the move",
        ),
    ):
        if applies:
            return Cause(f"a table's entry is used for {use}", advice, evidence)
    return unproven(cases) or Cause(_BOUND, _BOUND_ADVICE, evidence)
