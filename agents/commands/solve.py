"""``othello-lab agents solve``: exact scores of endgame positions, one or a file of them."""

from __future__ import annotations

import re
import sys
import time
from argparse import Namespace
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.status import Status

from othello_lab.agents.commands.shared import announce, empty_table
from othello_lab.agents.search.endgame.memory import MOST_THREADS
from othello_lab.agents.search.endgame.solver import EndgameSolver, Solution
from othello_lab.core.command_line import add_ruleset
from othello_lab.core.notation import PASS, NotationError, is_obf, parse_square, square_name
from othello_lab.core.position import Position, prepare_rules
from othello_lab.core.rules import Ruleset
from othello_lab.core.system.cli import whole_number
from othello_lab.core.system.escaping import counted, visible
from othello_lab.core.system.files import MOST_TEXT, open_file, read_bytes
from othello_lab.core.system.memory import free_memory

SOLVED, WRONG, BAD_INPUT, INTERRUPTED = 0, 1, 2, 130
_COMMENTS = ("%", "#")
_LONG = 26
"""Empty squares from which on a note warns of the long time."""
_NOTE_SECONDS = 60.0  # between notes of progress without a terminal
_COLUMNS = "{:>5}  {:>7}  {:<9}  {:>5}  {:>15}  {:>10}  {:>9}  {}"


def add(commands: Any) -> None:
    parser = commands.add_parser(
        "solve",
        help="exact scores of endgame positions",
        description="Solve positions exactly: the best move, its score (discs to the side to move, "
        "empty squares to the winner), the principal variation and the cost. Each line of a file "
        "is an OBF position; blank lines and lines that begin with % or # are skipped, and scores "
        "behind the position (X; G8:+18; H1:+12;) are checked. The exit code is 1 if one differs, "
        "2 if a line cannot be read.",
    )
    parser.add_argument(
        "position", help="an OBF line, a transcript (f5d6c3...), or a file of OBF lines"
    )
    parser.add_argument("--all", action="store_true", help="the exact score of each legal move")
    add_ruleset(parser)
    parser.add_argument(
        "--table",
        type=whole_number(1),
        default=64,
        metavar="MB",
        help="size of the transposition table (default 64)",
    )
    parser.add_argument(
        "--threads",
        type=whole_number(1, MOST_THREADS),
        default=1,
        metavar="N",
        help="threads that search together, where more than 13 squares are empty; with several the "
        "number of nodes differs from run to run (default 1)",
    )
    parser.set_defaults(run=run)


def run(options: Namespace, console: Console) -> int:
    """Solve the positions of a file of OBF lines, of an OBF line or of a transcript.

    Returns the exit code: 0, 1 if a score differs from the given one, 2 for unreadable lines, 130
    after Ctrl-C. Raises ValueError for any other text, and for a table that does not fit.
    """
    text, rules = options.position, options.ruleset
    solver = EndgameSolver(options.table, threads=options.threads)
    free = free_memory()
    if free is not None and options.table > free:
        raise ValueError(f"--table {options.table}: only {free} MB of memory are free")
    # Bad input is reported before anything is compiled.
    task: Path | Problem | None = existing_file(text)
    if task is None:
        obf = is_obf(text)
        task = read_problem(text, rules) if obf else Problem(Position.from_transcript(text, rules))
    prepare_rules(announce)
    solver.prepare(announce)
    if isinstance(task, Problem):
        return solve_one(task, solver, options.all, console)
    return solve_file(task, rules, solver, options.all, console)


@dataclass(frozen=True)
class Problem:
    """A position to solve, with the right scores if its line states them."""

    position: Position
    scores: dict[int, int] = field(default_factory=dict)


def read_problem(line: str, rules: Ruleset) -> Problem:
    """Read an OBF line with or without scores (``...X; G8:+18; H1:+12;``); raises ValueError."""
    position = Position.from_obf(line, rules)
    moves = (PASS,) if position.must_pass else position.moves
    scores: dict[int, int] = {}
    for part in line.split(";")[1:]:
        if not part.strip():
            continue
        match = re.fullmatch(r"\s*(\S+)\s*:\s*([+-]?[0-9]{1,3})\s*", part)
        if not match:
            raise NotationError(f"score {part.strip()!r:.60}: MOVE:+score is expected, like G8:+18")
        move = parse_square(match[1], rules.side)
        if move not in moves:
            raise NotationError(f"score {part.strip()!r}: {square_name(move)} is not a legal move")
        scores[move] = int(match[2])
    return Problem(position, scores)


def existing_file(text: str) -> Path | None:
    """Return the file of this name, or None if the text has to be a position.

    Raises ValueError for a folder, and for a file's name without a file.
    """
    try:
        exists = bool(text) and Path(text).exists()
    except (OSError, ValueError):  # a transcript can be too long for a file's name
        return None
    if exists:
        open_file(text, MOST_TEXT).close()
        return Path(text)
    if "/" in text or re.search(r"\.(obf|txt)$", text):
        raise ValueError(f"there is no file {text}")
    return None


def mistakes(solution: Solution, expected: dict[int, int], every: bool) -> list[str]:
    """Describe the differences between a solution and the scores given with the position."""
    if every:
        return [
            f"{square_name(move)} {solution.scores[move]:+d} instead of {score:+d}"
            for move, score in expected.items()
            if solution.scores.get(move, score) != score
        ]
    if not expected or solution.score is None:
        return []
    best = max(expected.values())
    if solution.score != best:
        return [f"score {solution.score:+d} instead of {best:+d}"]
    worse = [m for m in solution.best if expected.get(m, best) < best]
    return [f"{square_name(m)} {best:+d} instead of {expected[m]:+d}" for m in worse]


# ---------------------------------------------------------------------- solving


def _interruptible(solver: EndgameSolver, position: Position, every: bool) -> tuple[Solution, bool]:
    """Return the solution of another thread, and True if Ctrl-C ended it."""
    if position.empties >= _LONG:
        print(
            f"{position.empties} empty squares: {_LONG} may take minutes, and two more about ten "
            "times as long; Ctrl-C prints the bounds proven so far",
            file=sys.stderr,
        )
    with ThreadPoolExecutor(1) as pool, _SolvingProgress(solver, every) as progress:
        future = pool.submit(solver.analyse if every else solver.solve, position)
        try:
            while not wait([future], progress.seconds).done:
                progress.show()
            return future.result(), False
        except KeyboardInterrupt:
            solver.stop()
            return future.result(), True


class _SolvingProgress(ExitStack):
    """Progress on the error stream: a changing line on a terminal, else a line now and then."""

    def __init__(self, solver: EndgameSolver, every: bool) -> None:
        super().__init__()
        self._solver, self._every = solver, every
        self._since = time.monotonic()
        self._console = Console(stderr=True)
        self._status: Status | None = None
        self.seconds = 0.5 if self._console.is_terminal else _NOTE_SECONDS

    def show(self) -> None:
        """Print the progress; to be called every ``seconds``."""
        seconds = time.monotonic() - self._since
        nodes, lower, upper = self._solver.so_far()
        line = f"{nodes:,} nodes in {seconds:,.0f} s ({_speed(nodes, seconds)})"
        if not self._every:
            line += f"; {_bounds_in_words(lower, upper)}"
        if not self._console.is_terminal:
            print(line, file=sys.stderr, flush=True)
        elif self._status is not None:
            self._status.update(line)
        elif seconds > 2:
            self._status = self.enter_context(self._console.status(line))


def _bounds_in_words(lower: int, upper: int) -> str:
    """Put the proven bounds of a score into words."""
    if lower > 0:
        return f"the side to move wins, by {lower} at least"
    if upper < 0:
        return f"the side to move loses, by {-upper} at least"
    return "the winner is not known yet"


def _speed(nodes: int, seconds: float) -> str:
    return f"{nodes / seconds / 1e6:.1f} M/s" if seconds > 0 else ""


def _names(moves: tuple[int, ...]) -> str:
    return " ".join(square_name(move) for move in moves)


def _score(solution: Solution) -> str:
    """Format the score or its proven bound: ``>=+2`` is a win without an exact score."""
    if solution.score is not None:
        return f"{solution.score:+d}"
    if solution.lower > 0:
        return f">={solution.lower:+d}"
    return f"<={solution.upper:+d}" if solution.upper < 0 else "?"


def _scores(solution: Solution) -> str:
    ranked = sorted(solution.scores.items(), key=lambda item: -item[1])
    return "  ".join(f"{square_name(move)} {score:+d}" for move, score in ranked)


def _print_one(position: Position, solution: Solution, every: bool, console: Console) -> None:
    """Print the board and its solution."""
    console.print(str(position), highlight=False)
    if position.is_over:
        console.print(f"game over: {position.disc_difference:+d} discs to the side to move")
        return
    line = "principal variation"
    table = empty_table("score", "nodes", "time", "nodes/s", line, left=[line])
    nodes = solution.stats.nodes
    cost = f"{nodes:,}", f"{solution.seconds:.3f} s", _speed(nodes, solution.seconds)
    table.add_row(_score(solution), *cost, _names(solution.pv) or "-")
    console.print(table)
    if every:
        moves = empty_table("move", "score", left=["move"])
        for move, score in sorted(solution.scores.items(), key=lambda item: -item[1]):
            moves.add_row(square_name(move), f"{score:+d}")
        console.print(moves)
    if not solution.complete:
        console.print("Stopped before the score was proven.")
    noun = "Best moves" if len(solution.best) > 1 else "Best move"
    noun += "" if solution.complete else " so far"
    console.print(f"{noun}: {_names(solution.best)}. Scores are to the side to move.")


def _print_row(name: str, position: Position, solution: Solution, console: Console) -> None:
    """Print one line of a file's table."""
    if position.is_over:
        row = (name, position.empties, "game over", f"{position.disc_difference:+d}", *[""] * 4)
    else:
        nodes, seconds = solution.stats.nodes, solution.seconds
        row = (
            name,
            position.empties,
            _names(solution.best[:2]) + (" .." if len(solution.best) > 2 else ""),
            _score(solution),
            f"{nodes:,}",
            f"{seconds:.3f} s",
            _speed(nodes, seconds),
            _names(solution.pv),
        )
    console.print(_COLUMNS.format(*row).rstrip(), highlight=False, soft_wrap=True)


def solve_one(problem: Problem, solver: EndgameSolver, every: bool, console: Console) -> int:
    """Solve and print one position; return the exit code."""
    solution, interrupted = _interruptible(solver, problem.position, every)
    _print_one(problem.position, solution, every, console)
    wrong = mistakes(solution, problem.scores, every)
    for mistake in wrong:
        console.print(f"[bold red]differs from the given score:[/] {mistake}")
    return INTERRUPTED if interrupted else WRONG if wrong else SOLVED


def _lines(path: Path) -> Iterator[tuple[int, str]]:
    """Yield the lines with a position, and their numbers."""
    text = read_bytes(path).decode("utf-8-sig", "replace")
    for number, line in enumerate(text.splitlines(), start=1):
        if line.strip() and not line.lstrip().startswith(_COMMENTS):
            yield number, line.strip()


def solve_file(
    path: Path, rules: Ruleset, solver: EndgameSolver, every: bool, console: Console
) -> int:
    """Solve the positions of a file and print each at once; return the exit code."""
    header = ("line", "empties", "best", "score", "nodes", "time", "nodes/s", "principal variation")
    console.print(f"[bold]{_COLUMNS.format(*header)}[/]", soft_wrap=True)
    solved = nodes = wrong = bad = checked = 0
    interrupted = False
    started = time.perf_counter()
    for number, line in _lines(path):
        try:
            problem = read_problem(line, rules)
        except ValueError as error:
            sys.stdout.flush()
            print(visible(f"{path}, line {number}: {error}"), file=sys.stderr, flush=True)
            bad += 1
            continue
        solution, interrupted = _interruptible(solver, problem.position, every)
        _print_row(str(number), problem.position, solution, console)
        if every and solution.scores:
            console.print(" " * 14 + _scores(solution), highlight=False, soft_wrap=True)
        differences = mistakes(solution, problem.scores, every)
        for difference in differences:
            console.print(" " * 14 + f"[bold red]differs from the file:[/] {difference}")
        wrong += bool(differences)
        checked += bool(problem.scores)
        solved += 1
        nodes += solution.stats.nodes
        if interrupted:
            break
    seconds = time.perf_counter() - started
    words = [
        f"{counted(solved, 'position')} in {seconds:.3f} s",
        f"{nodes:,} nodes" + (f" ({_speed(nodes, seconds)})" if nodes else ""),
    ]
    if checked:
        words.append(f"{wrong} of {checked} differ from the file" if wrong else "scores as given")
    if bad:
        words.append(counted(bad, "bad line"))
    if interrupted:
        words.append("interrupted")
    console.print("; ".join(words), highlight=False, soft_wrap=True)
    if interrupted:
        return INTERRUPTED
    return BAD_INPUT if bad else WRONG if wrong else SOLVED
