"""Changes of a newly made champion against the old one: numbers, tables, sentences."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np
import pandas as pd

from othello_lab.agents.evaluation import Evaluation
from othello_lab.agents.search.window.probcut import FITTED, ProbCut
from othello_lab.core.system.plain_yaml import read_yaml
from othello_lab.experiments.pairing import ResultTable
from othello_lab.experiments.record.reading import reading
from othello_lab.experiments.report.standings import matches
from othello_lab.experiments.statistics.intervals import elo_words, interval_text
from othello_lab.experiments.statistics.means import Mean, mean_interval
from othello_lab.experiments.studies.study import Conclusion
from othello_lab.training.champion import CHAMPION, PATTERNS, ChampionFiles, ChampionTraining
from othello_lab.training.data import Positions
from othello_lab.training.learned_files import PREFIX
from othello_lab.training.measuring import predictions, ranges_of_empties
from othello_lab.training.reporting import frame_table
from othello_lab.training.training import CORES

UNIT = 100
"""Value of a disc to evaluations that learned from scores."""


def errors_of_both(
    new: Evaluation, old: Evaluation, positions: Positions, seed: int
) -> list[dict[str, Any]]:
    """Return the mean absolute errors of two evaluations in discs, one row for each range of empty
    squares: fewest, most, positions, new, old; change, low and high of the difference with its
    95 % interval over games."""
    missed = [np.abs(predictions(each, UNIT, positions) - positions.score) for each in (new, old)]
    rows = []
    for fewest, most, there in ranges_of_empties(positions):
        both = [each[there] for each in missed]
        change = mean_interval(both[0] - both[1], positions.game[there], seed)
        rows.append(
            {
                "fewest": fewest,
                "most": most,
                "positions": int(there.sum()),
                "new": float(both[0].mean()),
                "old": float(both[1].mean()),
                **{"change": change.value, "low": change.low, "high": change.high},
            }
        )
    return rows


def sigmas(parameters: ProbCut) -> dict[int, tuple[int, float]]:
    """Return the check and the mean standard deviation, in discs, of each depth; the stages of the
    game count by their positions."""
    found: dict[int, tuple[int, float]] = {}
    for depth in sorted({each.depth for each in parameters.checks}):
        of_depth = [each for each in parameters.checks if each.depth == depth]
        check = max(each.check for each in of_depth)
        own = [each for each in of_depth if each.check == check]
        weights = [each.positions for each in own]
        mean = np.average([each.sigma for each in own], weights=weights)
        found[depth] = check, float(mean) / UNIT
    return found


def concluded(
    study: ChampionTraining, files: ChampionFiles, found: Mapping[str, pd.DataFrame]
) -> Conclusion:
    """Return findings and tables. found: the tables of the record."""
    with reading(files.match) as record:
        (match,) = matches(record, winners=False).to_dict("records")
    return Conclusion(
        list(_findings(study, found, match)),
        list(_tables(files, found)),
        notes=list(_notes(files)),
        frames={name: found[name] for name in ("errors", "solver") if name in found},
    )


def _findings(
    study: ChampionTraining, found: Mapping[str, pd.DataFrame], match: Mapping[str, Any]
) -> Iterator[str]:
    elo = elo_words(*(match[key] for key in ("elo", "elo_low", "elo_high", "bound", "split")))
    yield (
        f"Elo of the new champion less that of the old one: {elo}, in {match['games']:,} games "
        f"({100 * match['score']:.1f} % of the points)."
    )
    if (errors := found.get("errors")) is not None:
        many = errors["positions"]
        new, old = (float(np.average(errors[each], weights=many)) for each in ("new", "old"))
        yield (
            f"The new weights miss the score by {new:.2f} discs, the old ones by {old:.2f}, on "
            f"{many.sum():,} held-out positions."
        )
    if (solver := found.get("solver")) is not None:
        ratio = _ratio(solver)
        yield (
            f"Sorting by the new weights the solver visits {ratio.text()} times the nodes, on "
            f"{len(solver):,} positions with {study.endgame_empties} empty squares."
        )
    minutes = found["steps"]["minutes"].sum()
    yield f"All of it took {minutes:.1f} minutes of {CORES} cores (processor time)."


def _ratio(solver: pd.DataFrame) -> Mean:
    """Return the ratio of nodes, new to old: the geometric mean over positions."""
    logs = np.log(solver["nodes"] / solver["old_nodes"])
    return Mean(*np.exp(mean_interval(logs, np.arange(len(logs)))).tolist())


def _tables(files: ChampionFiles, found: Mapping[str, pd.DataFrame]) -> Iterator[ResultTable]:
    if (errors := found.get("errors")) is not None:
        yield frame_table("Error of the weights, discs", _ERRORS, errors)
    yield _deviations(files)
    yield _openings(files)
    rows = [[row.step, f"{row.minutes:.1f}"] for row in found["steps"].itertuples()]
    yield ResultTable("Steps", ["step", f"minutes on {CORES} cores"], rows)


_ERRORS: Mapping[str, Callable[[Any], str]] = {
    "empties": lambda row: f"{row.fewest} to {row.most}",
    "positions": lambda row: f"{row.positions:,}",
    "new": lambda row: f"{row.new:.2f}",
    "old": lambda row: f"{row.old:.2f}",
    "change [95 %]": lambda row: interval_text(row.change, row.low, row.high, digits=2),
}


def _deviations(files: ChampionFiles) -> ResultTable:
    """The table of ProbCut's checks."""
    new, old = (
        sigmas(ProbCut.load(files.probcut)),
        sigmas(ProbCut.load(FITTED / f"{PATTERNS}.yaml")),
    )
    rows = []
    for depth in sorted({*new, *old}):
        cells = [str(depth)]
        for each in (new, old):
            check, sigma = each.get(depth, (None, None))
            cells += ["-", "-"] if sigma is None else [str(check), f"{sigma:.2f}"]
        rows.append(cells)
    heads = ["depth", "check, new", "deviation, new", "check, old", "deviation, old"]
    return ResultTable("ProbCut: standard deviation of a check, discs", heads, rows)


def _openings(files: ChampionFiles) -> ResultTable:
    """The table of balanced openings."""
    about = read_yaml(files.openings.with_suffix(".yaml"))
    check = about["check"]
    rows = [
        ["openings kept", f"{about['kept']:,} of {about['candidates']:,}"],
        ["Black's score in games from some of them", _percent(check["black_score"])],
        ["the score expected there", _percent(check["black_score_expected"])],
    ]
    return ResultTable("Balanced openings", ["", ""], rows, words=(0, 1))


def _percent(share: float | None) -> str:
    return "-" if share is None else f"{100 * share:.1f} %"


def _notes(files: ChampionFiles) -> Iterator[str]:
    name, folder = f"{PREFIX}{CHAMPION}", files.folder
    weights = files.patterns / "weights" / f"{PATTERNS}.npz"
    yield (
        f"To play with it: `--config-dir {folder}/conf agent@first={name}`, or "
        f"`agent@first=champion first.evaluation.weights={weights} first.probcut={files.probcut}`. "
        f"`othello-lab train --ship {folder}` puts all of it in the place of what is there."
    )
    yield (
        "Errors are mean absolute ones, of games that both evaluations played from balanced "
        "openings without random moves; from 12 empty squares on the score is that of perfect "
        "play. The standard deviations of a depth are a mean over the stages of the game. The "
        "match is played with the solver's old sorting, as that comes with the lab."
    )
