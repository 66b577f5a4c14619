"""The verdict on a search: findings, and for a failure the probable cause."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from othello_lab.agents.contract import FAILED, NOT_ASKED, OK, ContractFinding
from othello_lab.agents.diagnosis.comparison import (
    EXPLAINED,
    AnsweredQuestion,
    Cause,
    Explanation,
    choose_kind,
    cuts,
    exact,
    likely,
    notice_solved,
    simplest,
)
from othello_lab.agents.diagnosis.counts import is_known, judge_counts, judge_pruning
from othello_lab.agents.diagnosis.following import (
    SOME,
    FollowedSearch,
    against_the_rules,
    followed,
    from_table,
    narrow_window,
    too_deep,
    too_shallow,
    unproven,
)
from othello_lab.agents.diagnosis.questions import (
    SearchAnswer,
    SearchQuestion,
    SearchUnderTest,
    ask,
    ask_afresh,
    ask_in_games,
    positions,
    positions_at,
)
from othello_lab.agents.evaluation import Evaluation
from othello_lab.core.position import Position
from othello_lab.core.rules import Color

_AFRESH = 8  # wrong answers that are asked for again in a process of their own
_MOST = 0.75
_CAUSES = 3  # that are told
_GAME_DEPTH = 2


@dataclass(frozen=True)
class Diagnosis:
    """The diagnosis of a search.

    findings: the checks. causes: of failures, the most probable first. notes: choices that are
    right, but not those of the lab, and checks left out for lack of time. depth: the greatest
    number of plies to which it has answered.
    """

    findings: tuple[ContractFinding, ...]
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
        return pruning.detail if pruning.outcome == NOT_ASKED else ""


def diagnose(
    asked: SearchUnderTest,
    evaluation: Evaluation,
    count: int,
    seconds: float,
    must_prune: bool = False,
) -> Diagnosis:
    """Hold a search to minimax.

    asked: the search; its agents are prepared here. evaluation: the heuristic that it uses. count:
    of positions. seconds: that it may think in all, and that is spent on minimax. must_prune: a
    search that does not prune fails.
    """
    evaluation.prepare()
    for agent in asked.agents.values():
        agent.prepare()
    places: Sequence[Position] = positions(count)
    near = [each.play(move) for each in places for move in each.moves]
    beyond = max(abs(evaluation(each)) for each in (*places, *near) if not each.is_over)
    cases, notes = [], []
    share = left = seconds
    for number, depth in enumerate(asked.agents):
        share = left / (len(asked.agents) - number + 1)  # the games played then are one more
        places = positions_at(depth, count)
        questions = [SearchQuestion(place, depth) for place in places]
        begin = time.monotonic()
        answers = ask(asked, questions, begin + share)
        left -= time.monotonic() - begin
        until = time.monotonic() + share
        here: list[AnsweredQuestion] = []
        for question, answer in zip(questions, answers, strict=True):
            if answer is not None and time.monotonic() < until:
                here.append(AnsweredQuestion(question, answer, evaluation, beyond))
        if len(here) < len(places):
            plies = "1 ply" if depth == 1 else f"{depth} plies"
            why = "for lack of time"
            if any(answer is not None and answer.fatal for answer in answers):
                why = "as it does not answer"
            notes.append(f"{plies} deep {len(here)} of {len(places)} positions, {why}")
        cases += here
    examination = _Examination(asked, evaluation, beyond, cases, notes, share, must_prune)
    return examination.diagnosis()


class _Symptom(NamedTuple):
    finding: ContractFinding
    causes: list[Cause]


class _Examination:
    """The answers of a search, and the conclusions."""

    def __init__(
        self,
        asked: SearchUnderTest,
        evaluation: Evaluation,
        beyond: int,
        cases: Sequence[AnsweredQuestion],
        notes: list[str],
        seconds: float,
        must_prune: bool,
    ) -> None:
        self.seconds = seconds  # that games may take
        self.asked, self.evaluation, self.beyond = asked, evaluation, beyond
        self.notes, self.must_prune = notes, must_prune
        self.cases: list[AnsweredQuestion] = []
        self._take(cases)
        self.kind = choose_kind(self.answered)
        if notice_solved(self.answered):
            self.notes.append("it solves the end of the game, beyond what it was asked for")
        if self.kind.note:
            self.notes.append(f"by its own choice, {self.kind.note}")
        self.wrong = [case for case in self.answered if case.wrong]

    def _take(self, cases: Sequence[AnsweredQuestion]) -> None:
        """Judge it by these, too."""
        self.cases += cases
        self.answered = [case for case in self.cases if not case.answer.trouble]
        self.wrong = [case for case in self.answered if case.wrong]

    def diagnosis(self) -> Diagnosis:
        memory = self._memory()  # which may find more that is wrong
        found = [self._answers(), self._moves(), self._values(), memory]
        causes = [cause for each in found for cause in each.causes]
        if not memory.causes and (broken := self._broken()):
            causes = [broken, *causes]
        elif self.wrong and not memory.causes:
            mistakes = self._mistakes()
            sure = bool(mistakes[0].explained)
            names = {cause.name for cause in (mistakes if sure else causes)}
            first, then = (mistakes, causes) if sure else (causes, mistakes)
            causes = [*first, *(cause for cause in then if cause.name not in names)]
        right = not causes and not self.wrong
        causes += self._lucky() if right else []
        about = self.answered, self.kind, right and not causes, self.notes
        pruning = judge_pruning(*about, self.must_prune)
        if right and causes:
            detail = "it evaluates too little to know its answers"
            pruning = ContractFinding("pruning", pruning[0].asked, FAILED, detail), None
        for part, cause in (judge_counts(*about), pruning):
            found.append(_Symptom(part, [cause] if cause else []))
            causes += found[-1].causes
        deepest = max((case.question.depth for case in self.answered), default=0)
        findings = tuple(each.finding for each in found)
        return Diagnosis(findings, tuple(causes), tuple(self.notes), deepest)

    # ------------------------------------------------------------------ answers

    def _answers(self) -> _Symptom:
        deep = sorted({case.question.depth for case in self.cases})
        plies = f"{deep[0]} to {deep[-1]}" if len(deep) > 1 else f"{deep[0] if deep else 0}"
        said = f"Legal moves to {len(self.cases):,} questions, {plies} plies deep"
        troubled = [case for case in self.cases if case.answer.trouble]
        if not troubled:
            return _Symptom(ContractFinding("answers", said, OK), [])
        detail = f"no legal move to {len(troubled)} of {len(self.cases)}"
        return _Symptom(ContractFinding("answers", said, FAILED, detail), [self._trouble(troubled)])

    def _trouble(self, troubled: Sequence[AnsweredQuestion]) -> Cause:
        """Why there is no answer, by where that happens."""
        evidence = simplest(troubled).told()
        share = len(troubled) / len(self.cases)

        def only_where(which: Callable[[AnsweredQuestion], bool]) -> bool:
            there = [case for case in self.cases if which(case)]
            inside = sum(map(which, troubled))
            return inside == len(troubled) and len(troubled) >= 2 * share * len(there)

        if only_where(lambda case: case.passes and not case.ends) or only_where(
            lambda case: case.passes
        ):
            advice = (
                "it fails only where a side must pass within the plies that it looks ahead: there "
                "is no move, and the search has to go on with the other side"
            )
            return Cause("no pass handling", advice, evidence)
        if only_where(lambda case: case.ends):
            advice = (
                "it fails only where the game ends within the plies that it looks ahead: neither "
                "side can move, and the discs are to be counted"
            )
            return Cause("the end of the game is not noticed", advice, evidence)
        if any(case.answer.fatal for case in troubled):
            return Cause(
                "it does not answer",
                "see where it loops, is too slow, or ends its own process",
                evidence,
            )
        advice = "see the exception; othello-lab agents check without --search tells more"
        return Cause("it gives no legal move", advice, evidence)

    def _moves(self) -> _Symptom:
        said = "A move that is best by minimax in every position"
        if not self.answered:
            return _Symptom(ContractFinding("moves", said, NOT_ASKED, _NOTHING), [])
        wrong = [case for case in self.answered if case.wrong_move]
        return _Symptom(self._told("moves", said, wrong, len(self.answered)), [])

    def _values(self) -> _Symptom:
        said = "Minimax's value in every position"
        stated = [case for case in self.answered if case.answer.value is not None]
        if not stated:
            why = "it states no values: it is judged by its moves alone"
            why = why if self.answered else _NOTHING
            return _Symptom(ContractFinding("values", said, NOT_ASKED, why), [])
        wrong = [case for case in stated if case.wrong_value]
        return _Symptom(self._told("values", said, wrong, len(stated)), [])

    def _told(
        self, name: str, said: str, wrong: Sequence[AnsweredQuestion], of: int
    ) -> ContractFinding:
        if not wrong:
            return ContractFinding(name, said, OK)
        return ContractFinding(name, said, FAILED, f"wrong in {len(wrong)} of {of}")

    # ------------------------------------------------------------------ memory

    def _memory(self) -> _Symptom:
        """Ask for wrong answers again in a fresh process; if there are none, let it play games,
        since it might remember something in these."""
        said = "The same answers whatever was asked before"
        if not self.answered:
            return _Symptom(ContractFinding("memory", said, NOT_ASKED, _NOTHING), [])
        played = [] if self.wrong or len(self.answered) < len(self.cases) else self._in_games()
        wrong = self.wrong or [case for case in played if case.wrong or case.answer.trouble]
        if not wrong:
            return _Symptom(ContractFinding("memory", said, OK), [])
        again = sorted(wrong, key=lambda case: case.minimax.nodes)[:_AFRESH]
        answers = ask_afresh(self.asked, [case.question for case in again])
        mended = [
            case
            for case, answer in zip(again, answers, strict=True)
            if answer and not answer.trouble and not self._case(case.question, answer).wrong
        ]
        if len(mended) < _MOST * len(again):
            self._take(played)
            return _Symptom(ContractFinding("memory", said, OK), [])
        evidence = f"{simplest(mended).told()}; asked for the same in a new process it is right"
        advice = (
            "what one decision leaves behind (a table, a best value or move, a window) changes the "
            "next one: set it anew in decide, and keep with what a table holds how deep it is good"
        )
        cause = Cause("state is kept between moves", advice, evidence)
        detail = f"{len(mended)} of {len(again)} wrong answers are right in a new process"
        return _Symptom(ContractFinding("memory", said, FAILED, detail), [cause])

    def _case(self, question: SearchQuestion, answer: SearchAnswer) -> AnsweredQuestion:
        case = AnsweredQuestion(question, answer, self.evaluation, self.beyond)
        case.kind = self.kind
        return case

    def _in_games(self) -> list[AnsweredQuestion]:
        depth = min(self.asked.agents, key=lambda depth: abs(depth - _GAME_DEPTH))
        until = time.monotonic() + self.seconds
        played = [self._case(*each) for each in ask_in_games(self.asked, depth, until)]
        notice_solved([case for case in played if not case.answer.trouble])
        return played

    # ------------------------------------------------------------------ mistakes

    def _broken(self) -> Cause | None:
        """Return the cause if it breaks the rules, in wrong answers or where it has none."""
        troubled = [case for case in self.cases if case.answer.trouble]
        return next(
            filter(None, (against_the_rules(followed(part)) for part in (self.wrong, troubled))),
            None,
        )

    def _mistakes(self) -> list[Cause]:
        """Return the mistakes that explain the wrong answers; else a description of them."""
        if explained := exact(self.answered):
            return _causes(explained)
        searches = followed(self.wrong)
        table, without_tables = self._without_tables(searches)
        for cause in (
            too_deep(searches),
            table or (narrow_window(searches, self.answered) if cuts(self.answered) else None),
            None if all(case.passes for case in self.wrong) else too_shallow(searches),
        ):
            if cause:
                return [cause]
        if explained := likely(self.answered):
            return _causes(explained)
        plain = [case for case in self.answered if not (case.passes or case.ends)]
        if any(case.wrong for case in plain) and (explained := exact(plain) or likely(plain)):
            self.notes.append(
                "the cause is that of answers where nobody passes and the game does not end within "
                "the plies; at passes or ends there is more wrong"
            )
            return _causes(explained)
        cause = too_shallow(without_tables, SOME) or unproven(searches)
        return [cause] if cause else [*self._patterns()]

    def _lucky(self) -> list[Cause]:
        """Return the mistakes with which a search looks at just so much, if that does not prove
        its answers, which are right in these positions."""
        seen = [case for case in self.answered if not (case.solved or case.is_long)]
        deep = [case for case in seen if case.question.depth > 1]
        if not any(case.answer.calls for case in deep) or is_known(deep, self.kind):
            return []
        for case in deep:
            case.unproven = bool(case.answer.calls) and not FollowedSearch(case).proven
        unproven = any(case.unproven for case in deep)
        explained = exact(self.answered, counted=True) if unproven else []
        for case in deep:
            case.unproven = False
        return _causes(explained)

    def _without_tables(
        self, searches: Sequence[FollowedSearch]
    ) -> tuple[Cause | None, Sequence[FollowedSearch]]:
        """Return the cause if wrong answers are right without the search's dictionaries; else the
        answers without these, in which no line is left out."""
        if not searches:
            return None, searches
        again = [each.case for each in searches]
        answers = ask_afresh(self.asked, [case.question for case in again], forgetful=True)
        cases = [
            self._case(case.question, answer)
            for case, answer in zip(again, answers, strict=True)
            if answer and not answer.trouble
        ]
        wrong = [case for case in cases if case.wrong]
        if cases and len(wrong) <= (1 - _MOST) * len(cases):
            return from_table(searches, self.answered), searches
        return None, followed(wrong)

    def _patterns(self) -> Iterator[Cause]:
        """Return the common features of wrong answers."""
        wrong, right = self.wrong, [case for case in self.answered if not case.wrong]
        evidence = FollowedSearch(simplest(wrong)).told()
        ends = {abs(case.answer.value or 0) for case in wrong}
        if len(ends) == 1 and len(wrong) > 4 and max(ends) > self.beyond:
            advice = (
                "alpha or beta comes back as it went in: the side that maximizes raises alpha, the "
                "other one lowers beta"
            )
            yield Cause("a window's end is returned", advice, evidence)
            return
        if unit := _unit(wrong):
            advice = f"the moves are right; the value is {unit:.4g} times what it should be"
            yield Cause("the value is told in another unit", advice, evidence)
            return
        for which, name, advice in _PATTERNS:
            here, elsewhere = sum(map(which, wrong)), sum(map(which, right))
            if here >= EXPLAINED * len(wrong) and elsewhere <= (1 - EXPLAINED) * len(right):
                yield Cause(name, advice, evidence)
                return
        yield Cause("not recognized", _UNKNOWN, evidence)


def _causes(explained: Sequence[Explanation]) -> list[Cause]:
    """Return the mistakes that explain the wrong answers."""
    return [
        Cause(each.cause, each.advice, FollowedSearch(each.example).told(), each.rate)
        for each in explained[:_CAUSES]
    ]


def _unit(wrong: Sequence[AnsweredQuestion]) -> float | None:
    """Return the factor between right values and stated ones of right moves, if it is always the
    same."""
    ratios = {
        round(case.answer.value / case.truth.value, 9)
        for case in wrong
        if case.answer.value is not None and case.truth.value and not case.ends
    }
    moves = any(case.wrong_move for case in wrong)
    return ratios.pop() if len(ratios) == 1 and not moves and ratios != {-1.0} else None


_NOTHING = "it has answered nothing"
_UNKNOWN = "none of the usual mistakes explains the answers; see where they differ"
_PATTERNS: tuple[tuple[Callable[[AnsweredQuestion], bool], str, str], ...] = (
    (
        lambda case: case.wrong_move and case.answer.value is not None and not case.wrong_value,
        "the move is not the one that has the value",
        "the value is right: the move has to be kept together with it whenever a better one is "
        "found",
    ),
    (
        lambda case: case.passes,
        "something at passes",
        "all is right but where a side must pass within the plies that it looks ahead",
    ),
    (
        lambda case: case.ends,
        "something at the end of the game",
        "all is right but where the game ends within the plies that it looks ahead",
    ),
    (
        lambda case: _moves_white(case),
        "something with White",
        "all is right where Black moves",
    ),
    (
        lambda case: not _moves_white(case),
        "something with Black",
        "all is right where White moves",
    ),
    (
        lambda case: case.question.depth > 1,
        "something beyond the first ply",
        "at depth 1 all is right: look at what a child's value becomes for its parent, and at the "
        "window",
    ),
)
"""What wrong answers may have in common and right ones not."""


def _moves_white(case: AnsweredQuestion) -> bool:
    return case.question.position.to_move is Color.WHITE
