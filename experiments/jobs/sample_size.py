"""``othello-lab plan``: the number of pairs of games that a question needs, before they are played.

The **model of a pair** is pentanomial. A game is won, drawn or lost with probabilities that give
the expected score of the Elo difference and the stated share of draws; the two games of a pair are
independent, except that a share ``split`` of the pairs is decided by the opening: the better colour
wins both games, so the pair is split. The other pairs must then make up the whole difference.

A **fixed match** is played out and tells the difference from ``elo0`` by a one-sided test of the
mean score of a pair at the error rate ``alpha``. It needs

    n = ((z(1 - alpha) sqrt(v0) + z(power) sqrt(v)) / (s - s0))^2

pairs, with s, s0 the expected scores at ``elo`` and ``elo0``, v and v0 the variances of a pair's
score there, and z the normal quantiles (the sample size of a test of a mean). The needs of a
**sequential test** with the same error rates are simulated.
"""

from __future__ import annotations

import math
import time
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import BrokenExecutor
from dataclasses import dataclass, fields, replace
from typing import Annotated, Any

import numpy as np
from rich.console import Console

from othello_lab.core.game import FAIR_ENDS
from othello_lab.core.system.escaping import counted, plain
from othello_lab.core.system.settings import ConfigError, Number, check_settings, one_line
from othello_lab.experiments.config import Plan, read
from othello_lab.experiments.jobs.run import RunStopped
from othello_lab.experiments.pairing.schedule import PairOutcomes, PairQueue
from othello_lab.experiments.playing.tasks import TaskFailed, pairs_of
from othello_lab.experiments.statistics.elo import ELO, NELO, expected_score
from othello_lab.experiments.statistics.intervals import interval_text, sample_size
from othello_lab.experiments.statistics.pairs import SHARES, FloatArray, IntArray
from othello_lab.experiments.statistics.sequential import Sprt, simulate

SIMULATED = 1000
"""Matches simulated under each hypothesis; the seed is the run's."""

TIMED_SECONDS = 5.0
"""Pairs of the line-up are played until so much time has passed."""

_LEAST = 1e-6  # difference of scores that some 10^12 pairs would show
_TIMED_OPENINGS = 500  # enough for some seconds of the quickest agents
_LOOKS = 300  # at the LLR of a simulated match, in as many pairs as the fixed match has
_MOST = 20  # times the fixed match's pairs: a sequential test this long is given up
_CHECKED_OPENINGS = 20_000  # whether there are so many is found out in a few seconds
_TESTS_OWN = ("schedule.elo", "schedule.sprt_", "schedule.model")

HELP = f"""\
usage: othello-lab plan elo=30 draws=0.04 [key=value ...]

Before a match is played: how many pairs of games it needs to show that the first agent is better,
and about how long that takes on this machine.

  elo      difference that is to be found, in Elo
  draws    share of drawn games (default 0.04)
  power    probability of finding it if it is there (default 0.9)
  alpha    probability of finding it if it is not (default 0.05)
  elo0     difference it is to be told from (default 0)
  elo1     what a sequential test holds against elo0 (default: elo)
  split    share of pairs that the opening decides, so that both agents win with the same colour
           (default 0: the two games of a pair are independent). Take it from an earlier run's
           pairs by points: more splits than independent games would have.

A fixed match is played out and judged once, one-sided; a sequential test (SPRT) stops as soon as
it knows, and is simulated {SIMULATED:,} times at each of the two differences, with the run's seed.
Everything else is a setting of the run (agents=..., depth=..., executor.workers=...; see
othello-lab run --help): a few of its pairs are played to tell the time.
"""


@dataclass(frozen=True)
class MatchQuestion:
    """A question to a match; the settings of ``plan`` that are not the run's."""

    elo: float
    draws: Annotated[float, Number(low=0, below=1)] = 0.04
    power: Annotated[float, Number(above=0.5, below=1)] = 0.9
    alpha: Annotated[float, Number(above=0, below=0.5)] = 0.05
    elo0: float = 0.0
    elo1: float = math.nan
    split: Annotated[float, Number(low=0, below=1)] = 0.0

    def __post_init__(self) -> None:
        if math.isnan(self.elo1):
            object.__setattr__(self, "elo1", self.elo)
        try:
            check_settings(self)
            if not self.elo0 < self.elo:
                raise ValueError(f"elo={self.elo:g}: more than elo0={self.elo0:g} is needed")
            self.test()
        except ValueError as error:
            raise ConfigError(str(error)) from error

    def test(self) -> Sprt:
        """The sequential test of the same question."""
        return Sprt(self.elo0, self.elo1, self.alpha, 1 - self.power)

    def pairs(self, elo: float) -> FloatArray:
        """The pairs that are to be expected at a difference of ``elo``; see :func:`pair_shares`."""
        return pair_shares(elo, self.draws, self.split)

    def fixed(self) -> int:
        """Pairs of a fixed match."""
        (mean, variance), (mean0, variance0) = map(_moments, map(self.pairs, (self.elo, self.elo0)))
        deviations = math.sqrt(variance), math.sqrt(variance0)
        if mean - mean0 < _LEAST:
            why = f"no match is long enough to tell elo0={self.elo0:g}"
            raise ConfigError(f"elo={self.elo:g}: {why}")
        return math.ceil(sample_size(mean - mean0, *deviations, self.alpha, self.power))


def pair_shares(elo: float, draws: float = 0.04, split: float = 0.0) -> FloatArray:
    """Probabilities of LL, LD, DD+WL, WD, WW in the model of a pair, shape (5,).

    elo: difference between the agents. draws: share of drawn games. split: share of pairs decided
    by the opening. Raises ConfigError where these leave no room for the difference.
    """
    rest = 1 - split
    share = (float(expected_score(elo)) - split / 2) / rest
    draw = draws / rest
    game = np.array([1 - share - draw / 2, draw, share - draw / 2])
    if not (game >= 0).all():
        raise ConfigError(
            f"draws={draws:g} split={split:g}: they leave too few games to make a difference of "
            f"{elo:g} Elo"
        )
    pairs = rest * np.convolve(game, game)
    pairs[2] += split
    return pairs


def _moments(pairs: FloatArray) -> tuple[float, float]:
    mean = float(pairs @ SHARES)
    return mean, float(pairs @ (SHARES - mean) ** 2)


def run_plan(arguments: Sequence[str], console: Console) -> int:
    """Print the games that a match needs; see :data:`HELP`. Raises ConfigError."""
    if not arguments or arguments[0] in ("--help", "-h"):
        print(HELP, end="")
        return 0
    question, rest = _read_question(arguments)
    fixed = question.fixed()  # fails before anything is played

    plan = read(rest)
    timing = time_pairs(plan, console)
    with console.status("simulating sequential tests"):
        needed = {elo: _simulated(question, elo, plan) for elo in (question.elo, question.elo0)}
    _print(console, question, plan, fixed, needed, timing)
    return 0


def _read_question(arguments: Sequence[str]) -> tuple[MatchQuestion, list[str]]:
    names = {field.name for field in fields(MatchQuestion)}
    values: dict[str, float] = {}
    rest = []
    for word in arguments:
        name, equals, text = word.partition("=")
        if name not in names or not equals:
            rest.append(word)
            continue
        try:
            values[name] = float(text)
        except ValueError:
            raise ConfigError(f"{word}: a number is needed") from None
        if not math.isfinite(values[name]):
            raise ConfigError(f"{word}: a finite number is needed")
    for word in rest:
        if word.startswith(_TESTS_OWN):
            raise ConfigError(
                f"{word}: plan has elo0=, elo1=, alpha= and power= for that (beta is 1 - power)"
            )
    if "elo" not in values:
        raise ConfigError("elo=... is needed: the difference that is to be found; see plan --help")
    return MatchQuestion(**values), rest


def _simulated(question: MatchQuestion, elo: float, plan: Plan) -> IntArray:
    """Pairs that the sequential test needs at a difference of ``elo``, shape (SIMULATED,)."""
    fixed = question.fixed()
    every = max(1, fixed // _LOOKS)
    counts, _ = simulate(
        question.test(), question.pairs(elo), SIMULATED, plan.settings.seed, every, _MOST * fixed
    )
    return np.asarray(counts.sum(axis=1))


@dataclass(frozen=True)
class PlayingTime:
    """The time of a trial: pairs and seconds, of all workers together; and the ends of games that
    were forfeited."""

    pairs: int
    seconds: float
    forfeits: Counter[str]


def time_pairs(plan: Plan, console: Console) -> PlayingTime:
    """Play pairs of the line-up, all pairings in turn, for some seconds, by the workers that the
    run would have. Raises ConfigError and RunStopped."""

    def say(line: str) -> None:
        console.print(plain(line))

    conditions = plan.conditions()
    conditions.prepare(say)
    openings = replace(plan.openings, repeats=True).choose(
        _TIMED_OPENINGS, plan.rules, plan.settings.seed
    )
    played, forfeits = 0, Counter[str]()
    ready = plan.executor.ready(conditions, say, plan.settings.trial)
    with ready as play, console.status("timing a few pairs"):
        draw = _TimedDraw(plan.schedule, plan.names, openings, plan.settings.seed)
        begun = time.perf_counter()
        try:
            for batch in play(draw):
                pairs = [*pairs_of(batch)]
                played += sum(bool(pair.games) for pair in pairs)
                ends = (played_game.game.end_reason for pair in pairs for played_game in pair.games)
                forfeits.update(end for end in ends if end not in FAIR_ENDS)
            seconds = time.perf_counter() - begun
        except (BrokenExecutor, TaskFailed) as error:
            raise RunStopped(f"the line-up cannot be timed: {one_line(error)}") from error
    if not played:
        raise RunStopped("the line-up cannot be timed: its workers died")
    return PlayingTime(played, seconds, forfeits)


class _TimedDraw(PairQueue):
    """Whole rounds until time is up, so that slow pairings weigh no more than they will."""

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self._until = time.perf_counter() + TIMED_SECONDS

    def _draw(self) -> bool:
        if self._number and time.perf_counter() > self._until:
            return False
        return super()._draw()


def _print(
    console: Console,
    question: MatchQuestion,
    plan: Plan,
    fixed: int,
    needed: dict[float, IntArray],
    timing: PlayingTime,
) -> None:
    from othello_lab.experiments.report.terminal import terminal_table

    pairings = len(plan.schedule.pairings(0, plan.names, PairOutcomes()))
    shares = question.pairs(question.elo)
    mean, variance = _moments(shares)
    nelo = NELO / math.sqrt(2) * (mean - 0.5) / math.sqrt(variance)
    console.print(
        f"To tell {question.elo:g} Elo from {question.elo0:g} with probability {question.power:g}, "
        f"wrongly with {question.alpha:g}, at {100 * question.draws:g} % draws and "
        f"{100 * question.split:g} % pairs decided by the opening:",
        highlight=False,
    )
    drawn = terminal_table(["settings", "pairs", "games", "minutes"])
    drawn.columns[0].header = ""

    def add(what: str, pairs: float, times: int = 1) -> None:
        minutes = times * pairs * timing.seconds / timing.pairs / 60
        drawn.add_row(what, f"{pairs:,.0f}", f"{2 * pairs:,.0f}", f"{minutes:,.1f}")

    add("fixed match", fixed)
    for elo, pairs in needed.items():
        drawn.add_section()
        add(f"SPRT if it is {elo:g} Elo: on average", pairs.mean())
        for text, share in (("half", 0.5), ("90 %", 0.9), ("99 %", 0.99)):
            add(f"  {text} of the tests end within", float(np.quantile(pairs, share)))
    if pairings > 1:
        drawn.add_section()
        add(f"all {pairings} pairings of the line-up, fixed", fixed, pairings)
    console.print(drawn)
    lines = [
        f"Model: LL to WW {', '.join(f'{100 * share:.1f}' for share in shares)} % of the pairs at "
        f"{question.elo:g} Elo, which is {nelo:.0f} normalised Elo. The 95 % interval of the fixed "
        f"match will be about {_expected_interval(question.elo, mean, variance, fixed)} Elo.",
        f"SPRT: elo0={question.elo0:g} elo1={question.elo1:g} alpha={question.alpha:g} "
        f"beta={1 - question.power:g}, {SIMULATED:,} simulated matches each.",
        f"Minutes: {', '.join(plan.agents)}; {counted(timing.pairs, 'pair')} took "
        f"{timing.seconds:.1f} s; workers: {plan.executor.text}.",
        *_forfeited(timing),
        *_too_few_openings(plan, fixed),
    ]
    for line in lines:
        console.print(plain(line))


def _forfeited(timing: PlayingTime) -> list[str]:
    ends = ", ".join(f"{reason} {games}" for reason, games in timing.forfeits.most_common())
    return [f"Games were forfeited, so the minutes mean little: {ends}."] if ends else []


def _expected_interval(elo: float, mean: float, variance: float, pairs: int) -> str:
    """A 95 % interval in words: 1.96 standard errors of the score by the curve's slope."""
    reach = 1.96 * math.sqrt(variance / pairs) * ELO / (mean * (1 - mean))
    return interval_text(elo, elo - reach, elo + reach)


def _too_few_openings(plan: Plan, pairs: int) -> list[str]:
    try:
        plan.openings.choose(min(pairs, _CHECKED_OPENINGS), plan.rules, plan.settings.seed)
    except ConfigError as error:
        return [f"Not enough openings for the fixed match: {error}."]
    return []
