"""Published numbers of the same experiment beside the run's own.

An original is mostly a small sample. So beside its numbers stands the probability that chance
alone, with this run's rates, takes a sample of that size so far from this run's numbers.
"""

from __future__ import annotations

import numpy as np

from othello_lab.core.notation import square_name
from othello_lab.experiments.config import PublishedConfig, PublishedGame
from othello_lab.experiments.pairing import ResultTable
from othello_lab.experiments.report.facts import RunFacts
from othello_lab.experiments.report.searches import compare_searches, game_costs, search_costs
from othello_lab.experiments.report.standings import pairs_by_opening
from othello_lab.experiments.statistics.intervals import points_interval
from othello_lab.experiments.statistics.pairs import SHARES, FloatArray, IntArray, pentanomial

DRAWS = 20_000
_PRIOR = 0.1  # pairs of each outcome: what a run has never seen is improbable, not impossible


def beside_original(facts: RunFacts) -> list[ResultTable]:
    """Return the run's numbers beside published ones; nothing if none were published."""
    if (published := facts.plan.settings.published) is None:
        return []
    costs, plies = _costs(published.game, facts) if published.game else ([], [])
    columns = ["", "this run [95 %]", "original", "so large a gap by chance"]
    rows, notes = [*_points(published, facts), *costs], [f"{published.source}.", *published.notes]
    return [ResultTable("Beside the original", columns, rows, note="\n\n".join(notes)), *plies]


def _points(published: PublishedConfig, facts: RunFacts) -> list[list[str]]:
    """Return the rows of scores."""
    (tables, times), games = pairs_by_opening(facts.record), published.games
    counts, rng = pentanomial(tables), np.random.default_rng(facts.plan.settings.seed)
    number = {name: agent for agent, name in enumerate(facts.record.agents()["name"])}
    seen: dict[tuple[str, str], FloatArray] = {}  # points: the original's, and those drawn
    rows = []
    for name, points in published.points.items():
        halves = {other: counts[:, number[name], number[other]] for other in points}
        new = [other for other in points if (other, name) not in seen and halves[other].any()]
        for other in new:
            seen[name, other] = np.append(points[other], _sample(times @ halves[other], games, rng))
            seen[other, name] = games - seen[name, other]
        met = [other for other in points if (name, other) in seen]
        for others in [*([met] * (len(met) > 1)), *([other] for other in new)]:
            units = np.sum([halves[other] for other in others], axis=0)
            pairs = int(times @ units.sum(axis=1))
            share, low, high = points_interval(units @ SHARES, units.sum(axis=1), times)
            title = f"{name} against {others[0] if len(others) == 1 else 'all'}"
            ours = f"{100 * share:.1f} % [{100 * low:.1f}, {100 * high:.1f}] of {2 * pairs:,} games"
            values = np.sum([seen[name, other] for other in others], axis=0)
            original = f"{values[0]:g} of {games * len(others)}"
            rows.append([title, ours, original, _chance(values)])
    if len(seen) > 2:  # each pairing is there twice, which counts alike
        rows.append([f"{len(seen) // 2} pairings together", "", "", _chance(*seen.values())])
    return rows


def _sample(pairs: IntArray, games: int, rng: np.random.Generator) -> FloatArray:
    """Draw the points in samples of this size, with rates drawn by a run's pairs. An odd game is
    half a pair."""
    shares = rng.dirichlet(pairs + _PRIOR, DRAWS)
    whole, odd = (rng.multinomial(n, shares) @ np.arange(len(SHARES)) for n in divmod(games, 2))
    return np.asarray(whole + (odd + rng.integers(2, size=DRAWS)) // 2) / 2


def _chance(*samples: FloatArray) -> str:
    """Return the share of values, the first included, at least as far from the mean as the first.
    Several samples are compared by the sum of their squared distances, in variances."""
    squares = sum((sample - sample[1:].mean()) ** 2 / (sample[1:].var() or 1) for sample in samples)
    share = np.mean(squares >= squares[0] - 1e-9)
    return f"{100 * share:.1f} %" if share >= 0.001 else "< 0.1 %"


def _costs(game: PublishedGame, facts: RunFacts) -> tuple[list[list[str]], list[ResultTable]]:
    """Return the rows of costs, where chance is the choice of a game, and tables of each ply."""
    base, plies = facts.plan.settings.searches.baseline or "", game.plies()
    single = game_costs(facts.record, facts.searchers, len(plies))
    if single.empty:
        return [], []
    costs = compare_searches(single, base, facts.plan.settings.seed).set_index("agent")
    positions = {square_name(move): position for position, move in plies}
    counted, rows, tables = search_costs([*positions.items()], facts.searchers), [], []
    for measure, theirs in (("made", game.made), ("evaluations", game.evaluations)):
        ours = {name: counted[counted["agent"] == name][measure].tolist() for name in theirs}
        heads = ["move", *(f"{name}, {who}" for name in theirs for who in ("here", "original"))]
        cells = [map("{:,}".format, counts[name]) for name in theirs for counts in (ours, theirs)]
        equal = np.sum([np.equal(ours[name], theirs[name]) for name in theirs])
        note = f"{equal} of {len(theirs) * len(plies)} counts are equal."
        body = [*zip(positions, *cells, strict=True)]
        tables.append(ResultTable(f"The original's game: {measure}", heads, body, note=note))
        logs = np.log(single.pivot(index="opening", columns="agent", values=measure))
        for name in [name for name in theirs if base in theirs and name != base]:
            ratio = sum(theirs[name]) / sum(theirs[base])
            chance = _chance(np.append(np.log(ratio), logs[name] - logs[base]))
            ends = (costs.loc[name, f"{measure}_{end}"] for end in ("ratio", "low", "high"))
            here = "{:.2f} [{:.2f}, {:.2f}]".format(*ends)
            rows.append([f"{name}, {measure}, {base} = 1", here, f"{ratio:.2f}", chance])
    return rows, tables
