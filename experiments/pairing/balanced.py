"""``othello-lab openings``: make openings from which both sides have equal chances.

Every distinct position at a ply is a candidate. A shallow search of them all removes positions that
are clearly better for one side. A random sample of the others is played out by a search against
itself. Its results show how a deep search's value translates into Black's expected score
(:class:`ScoreCurve`). Those whose expected score then lies within a band are kept, the most even
first.

To search all candidates deeply would take too long: the positions that were played out show the
deep value that a shallow one foretells, and only the candidates that it says to be the most even
are searched deeply. So the list may miss an opening that belongs in it, but every opening in it
belongs there.

Values are those of minimax, so the result depends on nothing but the :class:`Recipe`: not on the
number of workers, nor on the searches' order.
"""

from __future__ import annotations

import multiprocessing
import os
import shlex
import signal
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass, fields
from functools import partial
from pathlib import Path
from typing import Annotated, Any, get_type_hints

import numpy as np
import scipy  # which loads its parts when they are used
from omegaconf import OmegaConf
from rich.console import Console

from othello_lab.agents.config import load_evaluation
from othello_lab.agents.evaluation import FINAL_UNIT
from othello_lab.agents.search import PVS
from othello_lab.agents.search.context import MAX_DEPTH
from othello_lab.core.game import FINISHED, play_game
from othello_lab.core.position import Position, prepare_rules
from othello_lab.core.rules import RULESETS, Color
from othello_lab.core.system.cli import Parser, whole_number
from othello_lab.core.system.escaping import plain
from othello_lab.core.system.files import write_file
from othello_lab.core.system.processes import available_cores, die_with_parent
from othello_lab.core.system.rows import RowMaker
from othello_lab.core.system.settings import ConfigError, Number, Whole, check_settings
from othello_lab.core.system.shared_memory import why_no_locks
from othello_lab.experiments.pairing.openings import Opening, all_openings
from othello_lab.experiments.record.provenance import versions

_PURPOSE = 3  # keeps these random numbers apart from those of openings and games
TAIL = 0.1
"""Share of the candidates, by the shallow value, that is set apart at either end. The curve is not
asked about them, and they would bend it: they hold the lost positions, in which a value is a matter
of many discs, while among the others it foretells little."""
_TIMED = 5  # positions that are searched, and played out, to tell how long all of them take
ENDGAME = 12
"""Empty squares from which on the games are played perfectly."""


@dataclass(frozen=True)
class Recipe:
    """The options from which the list of openings follows.

    ``low`` and ``high`` are the command's ``--band``: the band of Black's expected score. The
    others are options of their own names.
    """

    plies: Annotated[int, Whole(1), "length of the openings"] = 8
    evaluation: Annotated[
        str, "heuristic of all searches: one of othello-lab agents list evaluations"
    ] = "iago"
    depth: Annotated[int, Whole(1, MAX_DEPTH), "plies of the deep search"] = 8
    shallow: Annotated[
        int, Whole(1), "plies of the search that chooses what is searched deeply"
    ] = 4
    games: Annotated[
        int, Whole(10), "games played for the fit, and up to a quarter of that for the check"
    ] = 4000
    play_depth: Annotated[
        int, Whole(1, MAX_DEPTH), "plies that the players of these games look ahead"
    ] = 6
    low: Annotated[float, Number(above=0, below=1)] = 0.45
    high: Annotated[float, Number(above=0, below=1)] = 0.55
    most: Annotated[int, Whole(1), "how many to keep, the most even of those in the band"] = 5000
    seed: Annotated[int, Whole(0), "of what is played"] = 1

    def check(self) -> None:
        """Raise ConfigError, in the words of the command line, if it cannot be followed."""
        try:
            check_settings(self, "--")
        except ValueError as error:
            raise ConfigError(str(error).replace("_", "-")) from None
        if self.shallow > self.depth:
            raise ConfigError(
                f"--shallow={self.shallow}: a whole number from 1 to the depth, {self.depth}, is "
                "needed"
            )
        if self.low >= self.high:
            raise ConfigError(f"--low={self.low}: less than --high={self.high} is needed")


@dataclass(frozen=True)
class ScoreCurve:
    """Black's expected score as a function of a search's value: ``1 / (1 + exp(-(intercept +
    slope * value)))``, value from Black's view in units of the evaluation."""

    intercept: float
    slope: float

    def score(self, value: float | np.ndarray) -> Any:
        """Black's expected score, 0 to 1."""
        return scipy.special.expit(self.intercept + self.slope * value)


def fit_curve(values: np.ndarray, scores: np.ndarray) -> ScoreCurve:
    """The logistic curve of greatest likelihood, a draw counting as half a win and half a loss.

    values, scores: one a game, from Black's view; scores are 1, 0.5 or 0. Raises ConfigError where
    scores do not rise with values, or do so without exception.
    """
    scale = float(np.std(values)) or 1.0  # the minimizer wants terms of about the same size

    def loss(terms: np.ndarray) -> float:
        return _log_loss(terms[0] + terms[1] * values / scale, scores)

    # Where a value parts all wins from all losses the likelihood grows with the slope for ever.
    won, lost = values[scores > 0], values[scores < 1]
    parted = not (len(won) and len(lost)) or won.min() >= lost.max()
    intercept, slope = scipy.optimize.minimize(loss, np.zeros(2)).x.tolist()
    if parted or slope <= 0:
        raise ConfigError(
            f"the results of {len(values)} games do not tell how values translate into scores; "
            "play more of them (--games)"
        )
    return ScoreCurve(intercept, slope / scale)


def _log_loss(logits: np.ndarray | float, scores: np.ndarray) -> float:
    return float(np.mean(np.logaddexp(0, logits) - scores * logits))


@dataclass(frozen=True)
class BalancedList:
    """The openings that were kept, and how they came about.

    openings: in the order of :func:`all_openings`. notes: figures on the way, for the record.
    """

    openings: list[Opening]
    notes: dict[str, Any]


class PositionSearcher:
    """The work of a worker process on one position."""

    def __init__(self, recipe: Recipe, folders: Sequence[str | Path] = ()) -> None:
        """``folders``: further ones of YAMLs, for the evaluation."""
        settings: dict[str, Any] = dict(
            ordering="tt+mobility+static", table_mb=16, etc=True, iterative=True
        )
        evaluation = load_evaluation(recipe.evaluation, folders)
        self.search = PVS(recipe.depth, evaluation, **settings)
        self.player = PVS(recipe.play_depth, evaluation, endgame=ENDGAME, **settings)

    def prepare(self, announce: Callable[[str], None]) -> None:
        prepare_rules(announce)
        self.search.prepare(announce)
        self.player.prepare(announce)

    def value(self, depth: int, position: Position) -> int:
        """The value of a search to this depth, from Black's view."""
        value = self.search.search(position, depth).value
        assert isinstance(value, int)
        return value if position.to_move is Color.BLACK else -value

    def play_out(self, position: Position) -> float:
        """Black's score in a game from here of the player against itself."""
        record = play_game(dict.fromkeys(Color, self.player), position)
        if record.end_reason != FINISHED:
            raise RuntimeError(f"a game ended by {record.end_reason}: {record.detail}")
        return 0.5 if record.winner is None else float(record.winner is Color.BLACK)


_searcher: PositionSearcher  # of this worker process


def _start_worker(searcher: PositionSearcher, parent: int) -> None:
    global _searcher
    _searcher = searcher
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the parent
    die_with_parent(parent)


def _work(depth: int | None, position: Position) -> float:
    return _searcher.play_out(position) if depth is None else _searcher.value(depth, position)


def make(
    recipe: Recipe,
    workers: int,
    console: Console | None = None,
    folders: Sequence[str | Path] = (),
    rows: Path | None = None,
) -> BalancedList:
    """Find the balanced openings of the standard rules.

    workers: processes. folders: further ones of YAMLs, for the evaluation. rows: a folder that
    keeps values and results, from which the same recipe continues after an interruption. Raises
    ConfigError for a recipe that cannot be followed.
    """
    console = console or Console(quiet=True)
    recipe.check()
    if problem := why_no_locks():
        raise ConfigError(problem)
    candidates = all_openings(recipe.plies, RULESETS["standard"])
    try:
        searcher = PositionSearcher(recipe, folders)
    except ValueError as error:
        raise ConfigError(str(error)) from None
    searcher.prepare(lambda line: console.print(plain(line)))
    maker = RowMaker(console, rows)
    # The workers are forked from this process, so compiled kernels are there.
    with ProcessPoolExecutor(
        workers, multiprocessing.get_context("fork"), _start_worker, (searcher, os.getpid())
    ) as pool:

        def evaluate(depth: int | None, indices: np.ndarray, title: str) -> np.ndarray:
            work, positions = partial(_work, depth), [candidates[index][1] for index in indices]
            chunk = max(1, min(64, len(positions) // (4 * workers)))
            values = maker(title, positions, lambda left: pool.map(work, left, chunksize=chunk))
            return np.array(values, dtype=float)

        try:
            if not console.quiet:
                times = _timed(recipe, searcher, [position for _, position in candidates])
                _foretell(recipe, len(candidates), times, workers, console)
            return _select(recipe, [opening for opening, _ in candidates], evaluate)
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise


def _timed(
    recipe: Recipe, searcher: PositionSearcher, positions: Sequence[Position]
) -> tuple[float, float, float]:
    """Return the mean seconds of a shallow search, a deep one, and a game."""
    works = partial(searcher.value, recipe.shallow), partial(searcher.value, recipe.depth)
    taken = []
    for work in (*works, searcher.play_out):
        seconds = []
        for index in np.linspace(0, len(positions) - 1, _TIMED).astype(int):
            begun = time.perf_counter()
            work(positions[index])
            seconds.append(time.perf_counter() - begun)
        taken.append(float(np.mean(seconds)))
    return taken[0], taken[1], taken[2]


def _foretell(
    recipe: Recipe,
    candidates: int,
    times: tuple[float, float, float],
    workers: int,
    console: Console,
) -> None:
    sample = min(recipe.games, candidates)
    likely = min(2 * recipe.most, candidates - sample)
    work = candidates, sample + likely, sample + recipe.games // 4
    seconds = sum(count * cost for count, cost in zip(work, times, strict=True)) / workers
    duration = f"{seconds / 60:,.0f} minutes" if seconds > 90 else f"{seconds:,.0f} seconds"
    console.print(
        plain(f"about {duration} by {workers} workers: {work[0]:,} positions, {work[1]:,} of them")
        + f" searched {recipe.depth} plies deep, {work[2]:,} games",
        soft_wrap=True,
    )


def _select(
    recipe: Recipe,
    candidates: Sequence[Opening],
    evaluate: Callable[[int | None, np.ndarray, str], np.ndarray],
) -> BalancedList:
    from scipy.stats import linregress  # 0.4 s, in every process that imports this module

    depth, first = (f"searching {plies} plies" for plies in (recipe.depth, recipe.shallow))
    shallow = evaluate(recipe.shallow, np.arange(len(candidates)), f"{first}, all")
    ends = np.quantile(shallow, [TAIL, 1 - TAIL])
    middle = np.flatnonzero((ends[0] <= shallow) & (shallow <= ends[1]))

    rng = np.random.default_rng(np.random.SeedSequence(recipe.seed, spawn_key=(_PURPOSE,)))
    sample = rng.permutation(middle)[: recipe.games]
    deep = evaluate(recipe.depth, sample, f"{depth}, sample")
    # Where a search sees the end of the game its value is beyond any heuristic's.
    sample, deep = sample[np.abs(deep) < FINAL_UNIT], deep[np.abs(deep) < FINAL_UNIT]
    scores = evaluate(None, sample, "playing")
    curve = fit_curve(deep, scores)

    line = linregress(shallow[sample], deep)  # from shallow values to deep ones
    foretold = line.intercept + line.slope * shallow
    unevenness = np.abs(curve.score(foretold) - 0.5)
    order = middle[np.argsort(unevenness[middle], kind="stable")]
    likely = np.setdiff1d(order[: 2 * recipe.most], sample)

    values = np.full(len(candidates), np.nan)
    values[sample] = deep
    values[likely] = evaluate(recipe.depth, likely, f"{depth}, likely")
    expected = curve.score(values)
    chosen = _most_even(recipe, expected)
    checked = rng.permutation(np.setdiff1d(chosen, sample))[: recipe.games // 4]
    results = evaluate(None, checked, "checking")
    notes = {
        "candidates": len(candidates),
        "searched_deeply": len(sample) + len(likely),
        "kept": len(chosen),
        "expected": _ends(expected[chosen]) if len(chosen) else None,
        "fit": _about_fit(curve, deep, scores),
        "first_search": {
            "slope": float(line.slope),
            "intercept": float(line.intercept),
            "correlation": float(line.rvalue),
            "sigma": float(np.std(deep - foretold[sample])),
        },
        "check": _about_check(results, expected[checked]),
    }
    return BalancedList([candidates[int(index)] for index in chosen], notes)


def _most_even(recipe: Recipe, expected: np.ndarray) -> np.ndarray:
    """Return the numbers of the candidates within the bounds with the most even scores."""
    inside = np.flatnonzero((recipe.low <= expected) & (expected <= recipe.high))
    even = np.argsort(np.abs(expected[inside] - 0.5), kind="stable")
    return np.sort(inside[even[: recipe.most]])


def _ends(expected: np.ndarray) -> dict[str, float]:
    return {"least": float(expected.min()), "most": float(expected.max())}


def _about_check(scores: np.ndarray, expected: np.ndarray) -> dict[str, Any]:
    means = [float(part.mean()) if len(part) else None for part in (scores, expected)]
    return {"games": len(scores), "black_score": means[0], "black_score_expected": means[1]}


def _about_fit(curve: ScoreCurve, values: np.ndarray, scores: np.ndarray) -> dict[str, float]:
    mean = float(scores.mean())
    return {
        "intercept": curve.intercept,
        "slope": curve.slope,
        "games": len(scores),
        "black_score": mean,
        "log_loss": _log_loss(curve.intercept + curve.slope * values, scores),
        "log_loss_of_the_mean": _log_loss(scipy.special.logit(mean), scores),
    }


def write(balanced: BalancedList, recipe: Recipe, path: Path) -> Path:
    """Write the openings, a transcript a line, and next to them a YAML about their making; return
    the YAML's path."""
    options = {key.replace("_", "-"): value for key, value in asdict(recipe).items()}
    options["band"] = f"{options.pop('low')} {options.pop('high')}"
    words = " ".join(f"--{key} {value}" for key, value in options.items())
    content = {
        "command": f"othello-lab openings {shlex.quote(path.name)} {words}",
        "ruleset": "standard",
        "settings": asdict(recipe),
        **balanced.notes,
        "versions": versions({}),
    }
    recipe_path = path.with_suffix(".yaml")
    formula = "1 / (1 + exp(-(intercept + slope value)))"
    comment = f"# How {path.name} was made; expected score = {formula}"
    write_file(recipe_path, f"{comment}\n{OmegaConf.to_yaml(content)}")
    what = f"Openings of {recipe.plies} plies, distinct up to symmetry"
    lines = [f"# {what}; {recipe_path.name} tells more", *(one.text for one in balanced.openings)]
    write_file(path, "".join(f"{line}\n" for line in lines))
    return recipe_path


def _parser() -> Parser:
    parser = Parser(
        prog="othello-lab openings",
        description="Make openings from which both sides have about equal chances: search every "
        "distinct position at a ply, play a sample of them out to learn how a deep search's value "
        "translates into Black's expected score, and keep those within a band. The usual settings "
        "make the openings that come with the project (openings=balanced); a file of your own is "
        "used with openings=file openings.file=FILE.",
    )
    parser.add_argument("file", type=Path, help="the text file to write; a YAML goes beside it")

    for name, hint in get_type_hints(Recipe, include_extras=True).items():
        default, words = getattr(Recipe, name), hint.__metadata__[-1]
        if isinstance(words, str):
            metavar, kind = ("NAME", str) if isinstance(default, str) else ("N", whole_number(0))
            option = f"--{name.replace('_', '-')}"
            words += f" (default {default})"
            parser.add_argument(option, type=kind, default=default, metavar=metavar, help=words)
    parser.add_argument(
        "--band",
        nargs=2,
        type=float,
        default=(Recipe.low, Recipe.high),
        metavar=("LOW", "HIGH"),
        help=f"Black's expected score (default {Recipe.low} {Recipe.high})",
    )
    parser.add_argument("--workers", type=whole_number(1), help="processes (default: all cores)")
    parser.add_argument("--config-dir", nargs=1, default=[], help="a further folder of YAMLs")
    return parser


def openings_command(arguments: Sequence[str], console: Console) -> int:
    """``openings``: make balanced openings and write them to a file."""
    options = _parser().parse_args(list(arguments))
    options.low, options.high = options.band
    recipe = Recipe(**{field.name: getattr(options, field.name) for field in fields(Recipe)})
    if not options.file.name:
        raise ConfigError(f"{options.file}: not a file that can be written")
    for path in (options.file, options.file.with_suffix(".yaml")):
        if path.is_dir() or not path.parent.is_dir():
            raise ConfigError(f"{path}: not a file that can be written")
    if options.file.suffix == ".yaml":
        raise ConfigError(f"{options.file}: this name is taken by the YAML that goes beside it")
    workers = options.workers or available_cores()
    balanced = make(recipe, workers, console, options.config_dir)
    recipe_path = write(balanced, recipe, options.file)
    notes = balanced.notes
    check = notes["check"]
    lines = [
        f"{notes['candidates']:,} positions at ply {recipe.plies}, {notes['searched_deeply']:,} "
        f"searched {recipe.depth} plies deep, {notes['kept']:,} with an expected score for Black "
        f"of {recipe.low:g} to {recipe.high:g}"
    ]
    if check["games"]:
        scored, expected = (100 * check[key] for key in ("black_score", "black_score_expected"))
        lines.append(
            f"in {check['games']:,} games from some of those Black scored {scored:.1f} %, expected "
            f"{expected:.1f} %"
        )
    lines.append(f"written to {options.file}, and how they were made to {recipe_path}")
    for line in lines:
        console.print(plain(line), soft_wrap=True)
    return 0
