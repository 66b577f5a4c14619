"""The diagnosis of a search: findings, and for a failure the probable cause."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from othello_lab.agents.checks.check import (
    FAILED,
    SKIPPED,
    Check,
    Finding,
    NotApplicable,
    Subject,
    Violation,
    named_check,
)
from othello_lab.agents.checks.search import causes
from othello_lab.agents.checks.search.case import (
    AnsweredQuestion,
    Cases,
    Cause,
    Fault,
    plies,
    simplest,
)
from othello_lab.agents.checks.search.counts import is_known, judge_counts, judge_pruning
from othello_lab.agents.checks.search.questions import (
    SearchAnswer,
    SearchQuestion,
    SearchUnderTest,
    ask,
    ask_in_games,
    positions,
    positions_at,
)
from othello_lab.agents.evaluation import Evaluation
from othello_lab.core.rules import Color

_AFRESH = 8  # wrong answers that are asked for again in a process of their own
_MOST = 0.75
_GAME_DEPTH = 2
_NOTHING = "it has answered nothing"


@dataclass(frozen=True)
class Diagnosis:
    """The diagnosis of a search.

    findings: the checks. causes: of failures, the most probable first. notes: choices that are
    right, but not those of the lab, and checks left out for lack of time. depth: the greatest
    number of plies to which it has answered.
    """

    findings: tuple[Finding, ...]
    causes: tuple[Cause, ...]
    notes: tuple[str, ...]
    depth: int

    @property
    def holds(self) -> bool:
        """True if every check passed."""
        return all(finding.outcome != FAILED for finding in self.findings)

    @property
    def unjudged(self) -> str:
        """The reason why nobody can say whether it prunes; empty if it can be said."""
        pruning = self.findings[-1]
        return pruning.detail if pruning.outcome == SKIPPED else ""


def diagnose(
    search: SearchUnderTest,
    evaluation: Evaluation,
    count: int,
    seconds: float,
    must_prune: bool = False,
) -> Diagnosis:
    """Hold a search to minimax.

    search: its agents are prepared here. evaluation: the heuristic that it uses. count: of
    positions. seconds: that it may think in all, and that is spent on minimax. must_prune: a search
    that does not prune fails.
    """
    evaluation.prepare()
    for agent in search.agents.values():
        agent.prepare()
    return _Examination(search, evaluation, count, seconds, must_prune).diagnosis()


@dataclass
class _Examination(Subject):
    """The answers of a search, and the conclusions.

    cases: all answers. answered: those that are legal moves; wrong: of these. sentences: of checks
    that say more than their names. causes: of failed checks.
    """

    search: SearchUnderTest
    evaluation: Evaluation
    count: int
    seconds: float  # from its first answers on, those that games may take
    must_prune: bool

    def __post_init__(self) -> None:
        evaluation = self.evaluation
        roots = positions(self.count)
        near = [position.play(move) for position in roots for move in position.moves]
        self.beyond = max(abs(evaluation(at)) for at in (*roots, *near) if not at.is_over)
        self.notes: list[str] = []
        self.sentences: dict[str, str] = {}
        self.causes: list[Cause] = []
        self.cases: list[AnsweredQuestion] = []
        self._take([*self._ask()])
        self.kind = causes.choose_kind(self.answered)
        if causes.notice_solved(self.answered):
            self.notes.append("it solves the end of the game, beyond what it was asked for")
        if self.kind.note:
            self.notes.append(f"by its own choice, {self.kind.note}")
        self._take([])
        self.forgets = self._forgets()  # which may find more that is wrong

    def _ask(self) -> Iterator[AnsweredQuestion]:
        """Yield the answers to all questions for which there is time."""
        left = self.seconds
        for number, depth in enumerate(self.search.agents):
            # The games played then are one more.
            self.seconds = share = left / (len(self.search.agents) - number + 1)
            questions = [SearchQuestion(root, depth) for root in positions_at(depth, self.count)]
            begin = time.monotonic()
            answers = ask(self.search, questions, begin + share)
            left -= time.monotonic() - begin
            until = time.monotonic() + share
            cases = 0
            for question, answer in zip(questions, answers, strict=True):
                if answer is not None and time.monotonic() < until:
                    cases += 1
                    yield AnsweredQuestion(question, answer, self.evaluation, self.beyond)
            if cases < len(questions):
                fatal = any(answer is not None and answer.fatal for answer in answers)
                why = "as it does not answer" if fatal else "for lack of time"
                self.notes.append(
                    f"{plies(depth)} deep {cases} of {len(questions)} positions, {why}"
                )

    def _take(self, cases: Cases) -> None:
        """Judge it by these, too."""
        self.cases += cases
        self.answered = [case for case in self.cases if not case.answer.trouble]
        self.wrong = [case for case in self.answered if case.wrong]

    def diagnosis(self) -> Diagnosis:
        findings = [
            replace(finding, sentence=self.sentences.get(finding.name, finding.sentence))
            for finding in self.findings()
        ]
        deepest = max((case.depth for case in self.answered), default=0)
        return Diagnosis(tuple(findings), tuple(self.causes), tuple(self.notes), deepest)

    def run(self, check: Check) -> None:
        """Run a check; note a sentence of its own, and the cause of a failure."""
        try:
            self.sentences[check.name] = check.run(self) or check.sentence
        except Fault as fault:
            self.causes.append(fault.cause)
            raise

    # ------------------------------------------------------------------ checks

    @named_check("answers", "Legal moves to all questions")
    def _answers(self) -> str:
        deep = sorted({case.depth for case in self.cases})
        depths = f"{deep[0]} to {deep[-1]}" if len(deep) > 1 else f"{deep[0] if deep else 0}"
        said = f"Legal moves to {len(self.cases):,} questions, {depths} plies deep"
        self.sentences["answers"] = said
        if troubled := [case for case in self.cases if case.answer.trouble]:
            reason = f"no legal move to {len(troubled)} of {len(self.cases)}"
            raise Fault(reason, self._trouble(troubled))
        return said

    def _trouble(self, troubled: Cases) -> Cause:
        """Return the reason why there is no answer, by where that happens."""
        evidence = simplest(troubled).describe()
        share = len(troubled) / len(self.cases)
        for which, name, advice in _TROUBLES:
            there = sum(map(which, self.cases))
            if all(map(which, troubled)) and len(troubled) >= 2 * share * there:
                return Cause(name, advice, evidence)
        if any(case.answer.fatal for case in troubled):
            advice = "see where it loops, is too slow, or ends its own process"
            return Cause("it does not answer", advice, evidence)
        advice = "see the exception; othello-lab agents check without --search tells more"
        return Cause("it gives no legal move", advice, evidence)

    @named_check("moves", "A move that is best by minimax in every position")
    def _moves(self) -> None:
        _count_wrong([case.wrong_move for case in self.answered], _NOTHING)

    @named_check("values", "Minimax's value in every position")
    def _values(self) -> None:
        stated = [case.wrong_value for case in self.answered if case.answer.value is not None]
        why = "it states no values: it is judged by its moves alone"
        _count_wrong(stated, why if self.answered else _NOTHING)

    @named_check("memory", "The same answers whatever was asked before")
    def _memory(self) -> None:
        if not self.answered:
            raise NotApplicable(_NOTHING)
        if self.forgets:
            raise self.forgets

    @named_check("counts", "Its counts are those of the tree")
    def _counts(self) -> str:
        self._explain()  # only of a right search the counts are judged
        return judge_counts(self.answered, self.kind, self.right, self.notes)

    @named_check("pruning", "It looks at less than minimax")
    def _pruning(self) -> str:
        if self.lucky:
            raise Violation("it evaluates too little to know its answers")
        return judge_pruning(self.answered, self.kind, self.right, self.notes, self.must_prune)

    # ------------------------------------------------------------------ memory

    def _forgets(self) -> Fault | None:
        """Ask for wrong answers again in a fresh process; if there are none, let it play games,
        since it might remember something in these."""
        if not self.answered:
            return None
        played = [] if self.wrong or len(self.answered) < len(self.cases) else self._in_games()
        wrong = self.wrong or [case for case in played if case.wrong or case.answer.trouble]
        again = sorted(wrong, key=lambda case: case.minimax.nodes)[:_AFRESH]
        mended = [case for case, afresh in self._ask_again(again) if not afresh.wrong]
        if not wrong or len(mended) < _MOST * len(again):
            self._take(played if wrong else [])
            return None
        evidence = f"{simplest(mended).describe()}; asked for the same in a new process it is right"
        advice = (
            "what one decision leaves behind (a table, a best value or move, a window) changes the "
            "next one: set it anew in decide, and keep with what a table holds how deep it is good"
        )
        reason = f"{len(mended)} of {len(again)} wrong answers are right in a new process"
        return Fault(reason, Cause("state is kept between moves", advice, evidence))

    def _ask_again(
        self, cases: Cases, forgetful: bool = False
    ) -> list[tuple[AnsweredQuestion, AnsweredQuestion]]:
        """Ask for some answers in fresh processes; return them with those that are legal moves."""
        again = []
        for case in cases:
            question = SearchQuestion(case.position, case.depth)
            until = time.monotonic() + self.search.patience
            (answer,) = ask(self.search, [question], until, forgetful)
            if answer and not answer.trouble:
                again.append((case, self._case(question, answer)))
        return again

    def _case(self, question: SearchQuestion, answer: SearchAnswer) -> AnsweredQuestion:
        case = AnsweredQuestion(question, answer, self.evaluation, self.beyond)
        case.kind = self.kind
        return case

    def _in_games(self) -> list[AnsweredQuestion]:
        depth = min(self.search.agents, key=lambda depth: abs(depth - _GAME_DEPTH))
        until = time.monotonic() + self.seconds
        played = [self._case(*pair) for pair in ask_in_games(self.search, depth, until)]
        causes.notice_solved([case for case in played if not case.answer.trouble])
        return played

    # ------------------------------------------------------------------ mistakes

    def _explain(self) -> None:
        """Find the causes of wrong answers, and of right ones that nothing proves."""
        if not self.forgets and (broken := self._broken()):
            self.causes.insert(0, broken)
        elif self.wrong and not self.forgets:
            mistakes = next(filter(None, self._explained()))
            sure = bool(mistakes[0].explained)
            first, then = (mistakes, self.causes) if sure else (self.causes, mistakes)
            names = {cause.name for cause in first}
            self.causes = [*first, *(cause for cause in then if cause.name not in names)]
        self.right = not self.causes and not self.wrong
        self.lucky = self._lucky() if self.right else []
        self.causes += self.lucky
        self.right = self.right and not self.lucky

    def _broken(self) -> Cause | None:
        """Return the cause if it breaks the rules, in wrong answers or where it has none."""
        troubled = [case for case in self.cases if case.answer.trouble]
        parts = (causes.followed(part) for part in (self.wrong, troubled))
        return next(filter(None, map(causes.against_the_rules, parts)), None)

    def _explained(self) -> Iterator[list[Cause]]:
        """Yield the result of each way to explain the wrong answers, the surest way first."""
        yield causes.exact(self.answered)
        searches = causes.followed(self.wrong)
        table, without_tables = self._without_tables(searches)
        yield _one(causes.too_deep(searches))
        yield _one(table)
        if causes.cuts(self.answered):
            yield _one(causes.narrow_window(searches, self.answered))
        if not all(case.passes for case in self.wrong):
            yield _one(causes.too_shallow(searches))
        yield causes.likely(self.answered)
        plain = [case for case in self.answered if not (case.passes or case.ends)]
        wrong = any(case.wrong for case in plain)
        if wrong and (explained := causes.exact(plain) or causes.likely(plain)):
            self.notes.append(
                "the cause is that of answers where nobody passes and the game does not end within "
                "the plies; at passes or ends there is more wrong"
            )
            yield explained
        yield _one(causes.too_shallow(without_tables, causes.SOME))
        yield _one(causes.unproven(searches))
        yield [self._pattern()]

    def _lucky(self) -> list[Cause]:
        """Return the mistakes with which a search looks at just so much, too little for a proof."""
        deep = [
            case
            for case in self.answered
            if case.depth > 1
            and not case.solved
            and len(case.answer.calls) == (case.answer.seen or 0)
        ]
        if not any(case.answer.calls for case in deep) or is_known(deep, self.kind):
            return []
        for case in deep:
            case.unproven = bool(case.answer.calls) and not case.proven
        unproven = any(case.unproven for case in deep)
        explained = causes.exact(self.answered, counted=True) if unproven else []
        for case in deep:
            case.unproven = False
        return explained

    def _without_tables(self, searches: Cases) -> tuple[Cause | None, Cases]:
        """Return the cause if wrong answers are right without the search's dictionaries; and the
        answers without these."""
        if not searches:
            return None, searches
        cases = [afresh for _, afresh in self._ask_again(searches, forgetful=True)]
        wrong = [case for case in cases if case.wrong]
        if cases and len(wrong) <= (1 - _MOST) * len(cases):
            return causes.from_table(searches, self.answered), searches
        return None, causes.followed(wrong)

    def _pattern(self) -> Cause:
        """Return a common feature of wrong answers that right ones do not have."""
        wrong, right = self.wrong, [case for case in self.answered if not case.wrong]
        evidence = simplest(wrong).difference()
        if unit := _unit(wrong):
            advice = f"the moves are right; the value is {unit:.4g} times what it should be"
            return Cause("the value is told in another unit", advice, evidence)
        for which, name, advice in _PATTERNS:
            here, elsewhere = sum(map(which, wrong)), sum(map(which, right))
            if here >= causes.EXPLAINED * len(wrong) and elsewhere <= (1 - causes.EXPLAINED) * len(
                right
            ):
                return Cause(name, advice, evidence)
        advice = "none of the usual mistakes explains the answers; see where they differ"
        return Cause("not recognized", advice, evidence)


def _one(cause: Cause | None) -> list[Cause]:
    return [cause] if cause else []


def _count_wrong(wrong: Sequence[bool], why_not: str) -> None:
    """Raise Violation if some answers are wrong. why_not: the reason if there are none."""
    if not wrong:
        raise NotApplicable(why_not)
    if any(wrong):
        raise Violation(f"wrong in {sum(wrong)} of {len(wrong)}")


def _unit(wrong: Cases) -> float | None:
    """Return the factor between right values and stated ones of right moves, if it is always the
    same."""
    ratios = {
        round(case.answer.value / case.truth.value, 9)
        for case in wrong
        if case.answer.value is not None and case.truth.value and not case.ends
    }
    moves = any(case.wrong_move for case in wrong)
    return ratios.pop() if len(ratios) == 1 and not moves and ratios != {-1.0} else None


_Feature = tuple[Callable[[AnsweredQuestion], bool], str, str]
_WITHIN = "within the plies that it looks ahead"
_NO_PASS = (
    "no pass handling",
    f"it fails only where a side must pass {_WITHIN}: there is no move, and the search has to go "
    "on with the other side",
)
_TROUBLES: Sequence[_Feature] = (
    (lambda case: case.passes and not case.ends, *_NO_PASS),
    (lambda case: case.passes, *_NO_PASS),
    (lambda case: case.ends, "the end of the game is not noticed",
     f"it fails only where the game ends {_WITHIN}: neither side can move, and the discs are to be "
     "counted"),
)  # fmt: skip
"""Features of questions without an answer."""
_PATTERNS: Sequence[_Feature] = (
    (lambda case: case.wrong_move and case.answer.value is not None and not case.wrong_value,
     "the move is not the one that has the value",
     "the value is right: the move has to be kept together with it whenever a better one is found"),
    (lambda case: case.passes, "something at passes",
     f"all is right but where a side must pass {_WITHIN}"),
    (lambda case: case.ends, "something at the end of the game",
     f"all is right but where the game ends {_WITHIN}"),
    (lambda case: case.position.to_move is Color.WHITE, "something with White",
     "all is right where Black moves"),
    (lambda case: case.position.to_move is Color.BLACK, "something with Black",
     "all is right where White moves"),
    (lambda case: case.depth > 1, "something beyond the first ply",
     "at depth 1 all is right: look at what a child's value becomes for its parent, and at the "
     "window"),
)  # fmt: skip
"""What wrong answers may have in common and right ones not."""
