"""A search over settings: `Optuna <https://optuna.org>`_ suggests them, each trial is a run.

The study is a file in the sweep's folder. ``optuna-dashboard`` shows it. Each session makes it
anew: the seed leads to the same suggestions, and the folders of finished trials have their results.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from othello_lab.agents.config import ConfigError
from othello_lab.core.system.optional_libraries import needs
from othello_lab.experiments.config import Plan
from othello_lab.experiments.pairing.schedule import GiveUp, PairOutcomes
from othello_lab.experiments.statistics.elo import elo_of_score
from othello_lab.experiments.statistics.pairs import SHARES
from othello_lab.experiments.statistics.sequential import IntArray
from othello_lab.experiments.sweep.composing import short_names

if TYPE_CHECKING:
    from optuna import Trial
    from optuna.distributions import BaseDistribution

# Optuna is loaded where it is needed: only a search has it, and it takes most of a second.

STUDY = "optuna.journal"
"""The file of the study in a sweep's folder."""

_FIRST_TRIALS = 5
"""Trials that play all their games, so that later ones have a median to be compared with."""


def check_installed() -> None:
    """Raise ConfigError if there is no Optuna."""
    needs("a search over settings", "optuna", "optuna")


def smoothed_elo(counts: IntArray) -> float:
    """Return the Elo of pentanomial counts, with half a pair won and half a pair lost added.

    So winning everything is a number too, and more points are always more Elo.
    """
    return float(elo_of_score((counts @ SHARES + 0.5) / (int(counts.sum()) + 1)))


# ---------------------------------------------------------------------- the settings to choose


def distribution_of(word: str) -> BaseDistribution:
    """Return the values of an override such as ``key=interval(0,20)``, for Optuna.

    ``interval(a,b)`` and ``int(interval(a,b))``, each also as ``tag(log,interval(a,b))``;
    ``range(a,b,step)``; values separated by commas. Raises ConfigError.

    >>> distribution_of("weight=range(0,21)")
    IntDistribution(high=20, log=False, low=0, step=1)
    """
    from optuna.distributions import (
        CategoricalDistribution,
        FloatDistribution,
        IntDistribution,
    )

    from othello_lab.agents.hydra_parts import parse

    override = parse(word)
    values: Any = override.value()
    try:
        if override.is_interval_sweep():
            kind = IntDistribution if isinstance(values.start, int) else FloatDistribution
            return kind(values.start, values.end, log="log" in values.tags)
        if override.is_range_sweep() and not values.shuffle:
            steps = math.ceil((values.stop - values.start) / values.step) - 1
            kind = FloatDistribution if isinstance(values.step, float) else IntDistribution
            return kind(values.start, values.start + steps * values.step, step=values.step)
        return CategoricalDistribution(tuple(override.sweep_string_iterator()))
    except ValueError as error:
        raise ConfigError(f"{word}: {error}") from error


def space_of(overrides: Sequence[str]) -> dict[str, BaseDistribution]:
    """Return what a search chooses from, by key, in the order of the overrides."""
    from othello_lab.agents.hydra_parts import parse

    varied = {word.partition("=")[0]: word for word in overrides if parse(word).is_sweep_override()}
    return {key: distribution_of(word) for key, word in varied.items()}


def examples_of(space: Mapping[str, BaseDistribution]) -> list[list[str]]:
    """Return overrides to check before a search begins: all highest numbers, with each choice."""
    ends = {
        key: getattr(values, "choices", None) or [getattr(values, "high", None)]
        for key, values in space.items()
    }
    return [
        [f"{key}={values[place % len(values)]}" for key, values in ends.items()]
        for place in range(max(map(len, ends.values())))
    ]


# ---------------------------------------------------------------------- the search


class Suggestion:
    """A trial of a search: its settings, and its results so far.

    words: the overrides that Optuna has chosen. line: the same, in short. elo_by_pairs: Elo of the
    tuned agent by number of pairs. hopeless: True once the trial was given up.
    """

    def __init__(self, trial: Trial, words: list[str]) -> None:
        self.words = words
        short = short_names([word.partition("=")[0] for word in words])
        self.line = " ".join(f"{short[k]}={v}" for k, _, v in (w.partition("=") for w in words))
        self.elo_by_pairs: dict[int, float] = {}
        self.hopeless = False
        self._trial = trial

    def look(self, pairs: int, elo: float) -> None:
        """Note the Elo after a number of pairs, and compare it with earlier trials."""
        self.elo_by_pairs[pairs] = elo
        self._trial.report(elo, pairs)
        self.hopeless = bool(self._trial.should_prune())  # it may be numpy's


def judge_of(suggestion: Suggestion, plan: Plan) -> GiveUp:
    """Return the function that looks at a trial's results after each part of its pairs. It returns
    True for a hopeless trial."""
    tuning = plan.settings.tuning
    tuned = plan.names.index(tuning.agent or "")
    looks = {plan.pairs * part // tuning.looks for part in range(1, tuning.looks)} - {0}

    def give_up(results: PairOutcomes) -> bool:
        if len(results) in looks:
            counts = results.counts(tuned, 1 - tuned) + results.counts(1 - tuned, tuned)[::-1]
            suggestion.look(len(results), smoothed_elo(counts))
        return suggestion.hopeless

    return give_up


class SettingsSearch:
    """A search by Optuna's tree-structured Parzen estimator, with its median rule for pruning."""

    def __init__(self, folder: Path, space: Mapping[str, BaseDistribution], seed: int) -> None:
        """folder: of the sweep. space: of :func:`space_of`. seed: of the suggestions."""
        import optuna
        from optuna.storages import JournalStorage
        from optuna.storages.journal import JournalFileBackend

        optuna.logging.set_verbosity(optuna.logging.WARNING)
        self.file = folder / STUDY
        self.file.unlink(missing_ok=True)
        self._space = space
        self._study = optuna.create_study(
            study_name=f"{folder.parent.name} {folder.name}",
            storage=JournalStorage(JournalFileBackend(str(self.file))),
            sampler=optuna.samplers.TPESampler(seed=seed),
            pruner=optuna.pruners.MedianPruner(n_startup_trials=_FIRST_TRIALS),
            direction="maximize",
        )

    def suggest(self) -> Suggestion:
        """Return the next trial."""
        trial = self._study.ask(dict(self._space))
        return Suggestion(trial, [f"{key}={value}" for key, value in trial.params.items()])

    def tell(self, suggestion: Suggestion, objective: float | None) -> None:
        """Note the end of a trial. objective: its Elo; None if it failed."""
        from optuna.trial import TrialState

        tell = partial(self._study.tell, suggestion._trial)
        if objective is None:
            tell(state=TrialState.FAIL)
        elif suggestion.hopeless:
            tell(state=TrialState.PRUNED)
        else:
            tell(objective)
