"""Expectations, each checked with as many games, or positions, as it takes: an autograder."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, TypeVar

import numpy as np

from othello_lab.agents.composing import load
from othello_lab.agents.config import build_agent, evaluation_settings, fill_open
from othello_lab.agents.external_agent import ExternalAgent
from othello_lab.agents.search import SearchAgent
from othello_lab.core.position import Position
from othello_lab.core.system.escaping import counted
from othello_lab.core.system.plain_yaml import read_yaml
from othello_lab.core.system.settings import ConfigError, Number, Whole, one_line
from othello_lab.experiments.config import Plan, RunConfig, make_agent
from othello_lab.experiments.pairing import ResultTable, SequentialMatch
from othello_lab.experiments.record.store import Record
from othello_lab.experiments.report.findings import about_forfeits
from othello_lab.experiments.report.searches import cost_rows, searched_positions
from othello_lab.experiments.report.standings import pair_counts
from othello_lab.experiments.statistics.means import mean_interval
from othello_lab.experiments.statistics.pairs import SHARES, FloatArray
from othello_lab.experiments.statistics.sequential import FIRST_LOOK, mean_side
from othello_lab.experiments.statistics.stopped_match import stopped_estimate
from othello_lab.experiments.studies import grammar, study

_In = TypeVar("_In")
_Out = TypeVar("_Out")

HOLDS, FAILS, UNDECIDED = "holds", "fails", "undecided"

_RANDOM = grammar.AgentText("random")  # gives positions to an agent that is compared with a number
_OTHER = grammar.AgentText("greedy")


@dataclass(frozen=True)
class ClaimVerdict:
    """The verdict on a claim. verdict: ``holds``, ``fails`` or ``undecided``. amount: the games or
    positions used, in words. forfeits: games that did not go to their end. elo, low, high: of a
    claim of strength; ratio: of one of costs."""

    claim: str
    verdict: str
    evidence: str
    amount: str
    forfeits: int = 0
    elo: float = np.nan
    low: float = np.nan
    high: float = np.nan
    ratio: float = np.nan


@dataclass(frozen=True, kw_only=True)
class Claims(study.MatchStudy):
    """Tests of claims, written in the language of :mod:`experiments.studies.grammar`.

    A claim of strength is a sequential test (SPRT) between the claimed difference and one that is
    worse by ``tolerance``. If a difference must be exceeded (> or <), it is between the claimed one
    and one better by ``tolerance``. A claim of costs is judged by the mean difference on the same
    positions, looked at after 40, 80, 160, ... of them. Either way a wrong claim (a claim of
    strength: wrong by the tolerance) is said to hold with a probability of ``error`` at most, and a
    right one to fail. No claim holds by forfeits: if more than half of its games ended so, it stays
    undecided at best.

    claims: a list, or a YAML file that has one, alone or below ``claims``
    (study.claims=homework.yaml). An agent is one of the line-up, of conf/agent, or
    path/to/file.py:Class, with settings and an evaluation in parentheses; see docs/paper.md.
    tolerance: Elo by which a claim of strength may be missed before it has to fail. error:
    probability of a wrong verdict, a claim. positions: the most openings to compare costs on.
    """

    claims: Any
    tolerance: Annotated[float, Number(above=0, high=200)] = 20
    error: Annotated[float, Number(above=0, below=0.5)] = 0.05
    positions: Annotated[int, Whole(FIRST_LOOK)] = 100

    def check(self, plan: Plan) -> None:
        _map_all(self.parsed, lambda claim: self._check(claim, plan))

    def _check(self, claim: grammar.Claim, plan: Plan) -> None:
        agents = self._agents(claim, plan)
        if isinstance(claim, grammar.CostClaim):
            for text in _compared(claim):
                agent = make_agent(agents[str(text)], str(text), plan.settings)
                if isinstance(agent, ExternalAgent):
                    raise ValueError(
                        f"{claim}: {text} is from outside the lab, where searches are not "
                        "counted; othello-lab agents check TARGET --search does that"
                    )
                if not isinstance(agent, SearchAgent):
                    raise ValueError(
                        f"{claim}: {text} is no search to a depth: it has no such cost"
                    )

    @cached_property
    def parsed(self) -> list[grammar.Claim]:
        """Return all claims; ValueError with all that are wrong."""
        return _map_all(_lines(self.claims), _parsed)

    def runs(self, plan: Plan, played: Sequence[study.PlayedRun]) -> Sequence[study.RunRequest]:
        return [study.RunRequest(self._settings(claim, plan), str(claim)) for claim in self.parsed]

    def conclude(self, plan: Plan, played: Sequence[study.PlayedRun]) -> study.Conclusion:
        import pandas as pd

        judged = {run.number: self._judged(run, plan) for run in played}
        verdicts = [
            judged.get(number, ClaimVerdict(str(claim), UNDECIDED, "no games yet", "-"))
            for number, claim in enumerate(self.parsed)
        ]
        findings = [_summary([v.verdict for v in verdicts])]
        findings += [f"{v.claim}: {v.verdict}. {v.evidence}" for v in verdicts]
        rows = [[v.verdict, v.claim, v.amount] for v in verdicts]
        return study.Conclusion(
            findings,
            [ResultTable("Claims", ["verdict", "claim", "after"], rows, (0, 1))],
            {"claims": pd.DataFrame([vars(verdict) for verdict in verdicts])},
            notes=[
                f"Error rate of a verdict: {100 * self.error:g} %; tolerance of a claim of "
                f"strength: {self.tolerance:g} Elo (a claim that misses by less may be called "
                "either way). Elo after a sequential test is median-unbiased."
            ],
            agents={
                name: settings
                for claim in self.parsed
                for name, settings in self._agents(claim, plan).items()
            },
            exit_code=_exit_code([v.verdict for v in verdicts]),
        )

    def _agents(self, claim: grammar.Claim, plan: Plan) -> dict[str, dict[str, Any]]:
        """Return the settings of a claim's agents, by their names in it; ConfigError."""
        settings = {}
        for text in _line_up(claim):
            try:
                settings[str(text)] = _settings_of(text, plan.settings)
            except ConfigError as error:
                raise ConfigError(f"{claim}: {one_line(error)}") from error
        return settings

    def _settings(self, claim: grammar.Claim, plan: Plan) -> RunConfig:
        agents = self._agents(claim, plan)
        if isinstance(claim, grammar.StrengthClaim):
            return study.changed(plan.settings, agents=agents, schedule=self._schedule(claim))
        schedule = {"_target_": "othello_lab.experiments.pairing.RoundRobin"}
        return study.changed(
            plan.settings, agents=agents, schedule=schedule, games=2 * self.positions, record="all"
        )

    def _schedule(self, claim: grammar.StrengthClaim) -> dict[str, Any]:
        """The sequential test of a claim, as its first agent sees it."""
        better = claim.compare in (">", "<=")  # the one claimed is the lower of two differences
        low = claim.elo if better else claim.elo - self.tolerance
        return {
            "_target_": "othello_lab.experiments.pairing.SequentialMatch",
            "elo0": low,
            "elo1": claim.elo + self.tolerance if better else claim.elo,
            "sprt_alpha": self.error,
            "sprt_beta": self.error,
        }

    def _judged(self, played: study.PlayedRun, plan: Plan) -> ClaimVerdict:
        claim = self.parsed[played.number]
        with played.record() as record:
            name = record.head()["config"]["name"]
            if not name.endswith(f": {claim}"):
                raise ConfigError(
                    f"{played.folder} has the games of another claim, '{name}': the claims have "
                    "changed since; start a new study"
                )
            if isinstance(claim, grammar.StrengthClaim):
                return self._of_strength(claim, record)
            return self._of_costs(claim, record, plan)

    def _of_strength(self, claim: grammar.StrengthClaim, record: Record) -> ClaimVerdict:
        test = SequentialMatch(
            **{k: v for k, v in self._schedule(claim).items() if k != "_target_"}
        )
        counts, rated = (pair_counts(record, rated=rated)[0, 1] for rated in (False, True))
        pairs = int(counts.sum())
        amount, forfeits = counted(2 * pairs, "game"), record.count_games(forfeited=True)
        if not pairs:
            return ClaimVerdict(
                str(claim), UNDECIDED, "No pair of games is complete.", amount, forfeits
            )
        estimate, elo = None, ""
        if rated.any():
            estimate = stopped_estimate(test.test, rated)
            elo = f": {estimate.text}{'' if estimate.split else ' Elo'}"
        upwards = claim.compare in (">=", ">")
        accepted = test.test.decide(counts)
        verdict = UNDECIDED if not accepted else HOLDS if (accepted == "H1") == upwards else FAILS
        evidence = (
            f"{claim.first} made {100 * counts @ SHARES / pairs:.1f} % of the points of "
            f"{amount}{elo}; "
            f"LLR {test.test.llr(counts):+.2f} of {test.test.lower:.2f} to {test.test.upper:.2f}."
        )
        games = record.count_games()
        if forfeits:
            why = "; ".join(about_forfeits(record))
            evidence = f"{forfeits:,} of {counted(games, 'game')} forfeited: {why}. {evidence}"
            amount += f", {forfeits:,} forfeited"
        if verdict == HOLDS and 2 * forfeits > games:
            verdict, evidence = UNDECIDED, f"Forfeits do not show that a claim holds. {evidence}"
        ends = (estimate.elo, estimate.low, estimate.high) if estimate else ()
        return ClaimVerdict(str(claim), verdict, evidence, amount, forfeits, *ends)

    def _of_costs(self, claim: grammar.CostClaim, record: Record, plan: Plan) -> ClaimVerdict:
        """Search the positions of one opening after the other until it is decided."""
        agents = self._agents(claim, plan)
        searchers = {}
        for text in _compared(claim):
            agent = build_agent(agents[str(text)], str(text))
            assert isinstance(agent, SearchAgent)
            agent.prepare()
            searchers[str(text)] = agent
        by_opening: dict[str, list[Position]] = {}
        for opening, position in searched_positions(record, "all", 0):
            by_opening.setdefault(opening, []).append(position)
        for positions in [*by_opening.values()][:1]:
            _spent(claim, positions[0], searchers)  # the first search is slow, and is not counted
        rng = np.random.default_rng(plan.settings.seed)
        spent: list[tuple[float, float]] = []
        verdict = UNDECIDED
        for positions in by_opening.values():
            position = positions[int(rng.integers(len(positions)))]
            spent.append(_spent(claim, position, searchers))
            verdict = self._cost_verdict(claim, spent)
            if verdict != UNDECIDED:
                break
        amount = counted(len(spent), "position")
        if not spent:
            return ClaimVerdict(str(claim), UNDECIDED, "There are no positions.", amount)
        costs, others = np.array(spent).T
        evidence = f"{claim.first} took {_cost_text(costs, claim.measure)} a position"
        ratio = np.nan
        if claim.second is not None and others.all():
            times = mean_interval(costs / others, range(len(costs)), weights=others)
            ratio = times.value
            theirs = _cost_text(others, claim.measure)
            evidence += f", {times.text(3)} x {claim.second}'s {theirs}"
        return ClaimVerdict(str(claim), verdict, f"{evidence}, in {amount}.", amount, ratio=ratio)

    def _cost_verdict(self, claim: grammar.CostClaim, spent: Sequence[tuple[float, float]]) -> str:
        if len(spent) < FIRST_LOOK:
            return UNDECIDED
        costs, others = np.array(spent).T
        mean = mean_side(costs - claim.number * others, self.positions, self.error)
        if mean.side is None:
            return UNDECIDED
        if mean.side == 0:
            return HOLDS if "=" in claim.compare else FAILS
        return HOLDS if (mean.side > 0) == (">" in claim.compare) else FAILS


_WORDS = (HOLDS, FAILS, UNDECIDED)
_SAID = {
    HOLDS: ("holds", "hold"),
    FAILS: ("fails", "fail"),
    UNDECIDED: ("is undecided", "are undecided"),
}
"""What one claim, and several, do."""


_EXIT_CODES = {FAILS: 1, UNDECIDED: 3}
"""A claim that fails counts for more than one that is undecided; 2 is that of wrong settings."""


def _exit_code(verdicts: Sequence[str]) -> int:
    """Return the exit code of the command.

    >>> _exit_code([HOLDS]), _exit_code([HOLDS, UNDECIDED]), _exit_code([UNDECIDED, FAILS])
    (0, 3, 1)
    """
    return next((code for word, code in _EXIT_CODES.items() if word in verdicts), 0)


def _summary(verdicts: Sequence[str]) -> str:
    """Return the numbers of claims that hold, fail, and are undecided, in words.

    >>> _summary(["holds"]), _summary(["holds", "undecided", "holds"])
    ('The claim holds.', 'Of 3 claims 2 hold, 1 is undecided.')
    """
    if len(verdicts) == 1:
        return f"The claim {_SAID[verdicts[0]][0]}."
    number = {word: verdicts.count(word) for word in _WORDS}
    counts = [f"{number[word]} {_SAID[word][number[word] > 1]}" for word in _WORDS if number[word]]
    return f"Of {counted(len(verdicts), 'claim')} {', '.join(counts)}."


def _cost_text(spent: FloatArray, measure: str) -> str:
    mean = mean_interval(spent, range(len(spent)))
    return f"{mean.text(1, 1e6)} µs" if measure == "time" else f"{mean.text(1)} {measure}"


def _compared(claim: grammar.CostClaim) -> list[grammar.AgentText]:
    return [claim.first] if claim.second is None else [claim.first, claim.second]


def _line_up(claim: grammar.Claim) -> list[grammar.AgentText]:
    if claim.second is not None:
        return [claim.first, claim.second]
    return [claim.first, _OTHER if claim.first == _RANDOM else _RANDOM]


def _lines(claims: Any) -> list[str]:
    if isinstance(claims, str) and claims.endswith((".yaml", ".yml")):
        try:
            claims = read_yaml(Path(claims))
        except FileNotFoundError:
            raise ValueError(
                f"study.claims={claims}: there is no such file; a YAML that has a list of claims, "
                "or the list itself, is needed"
            ) from None
        except (OSError, ValueError) as error:
            raise ValueError(f"study.claims: {one_line(error)}") from error
        if isinstance(claims, Mapping):
            claims = claims.get("claims")
    if isinstance(claims, str):
        return [claims]
    if not isinstance(claims, Sequence) or not claims:
        raise ValueError("study.claims: a list of claims, or a YAML file that has one, is needed")
    for number, line in enumerate(claims):
        if not isinstance(line, str):
            raise ValueError(f"study.claims[{number}]={line}: a claim in words is needed")
    return list(claims)


def _map_all(what: Iterable[_In], do: Callable[[_In], _Out]) -> list[_Out]:
    """Return the result of ``do`` for each; ValueError with all errors."""
    results, wrong = [], []
    for item in what:
        try:
            results.append(do(item))
        except ValueError as error:
            wrong.append(one_line(error))
    if wrong:
        raise ValueError("; ".join(wrong))
    return results


def _parsed(line: Any) -> grammar.Claim:
    claim = grammar.parse(line)
    if claim.second is not None and str(claim.first) == str(claim.second):
        raise ValueError(f"{claim}: an agent cannot be compared with itself")
    return claim


def _settings_of(text: grammar.AgentText, settings: RunConfig) -> dict[str, Any]:
    if text.name in settings.agents:
        made = copy.deepcopy(dict(settings.agents[text.name]))
    else:
        made = load("agent", text.name)
    if text.evaluation is not None:
        # Whether somebody's own class takes one is found out where it is made.
        if "evaluation" not in made and ":" not in text.name:
            raise ConfigError(f"{text.name} has no evaluation that {text.evaluation} could be")
        made["evaluation"] = evaluation_settings(text.evaluation)
    for key, value in text.settings:
        node = made
        *way, last = key.split(".")
        for part in way:
            node = node.get(part) if isinstance(node, dict) else None  # type: ignore[assignment]
        if not isinstance(node, dict) or (last not in node and ":" not in text.name):
            raise ConfigError(f"{text.name} has no setting '{key}'; it has {_known(made)}")
        node[last] = value
    filled, _ = fill_open({str(text): made}, depth=settings.depth, evaluation=settings.evaluation)
    return dict(filled[str(text)])


def _known(settings: Mapping[str, Any]) -> str:
    return ", ".join(key for key in settings if not key.startswith("_")) or "none"


def _spent(
    claim: grammar.CostClaim, position: Position, searchers: Mapping[str, SearchAgent]
) -> tuple[float, float]:
    """Return the costs of a claim's searches on a position; 1 in the place of a second one."""
    column = grammar.MEASURES[claim.measure]
    rows = list(cost_rows(position, searchers))
    return float(rows[0][column]), float(rows[1][column]) if len(rows) > 1 else 1.0
