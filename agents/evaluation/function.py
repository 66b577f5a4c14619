"""A user's heuristic: a function of two masks, compiled and used like a built-in one.

In a file of yours, for instance ``mine.py``::

    from othello_lab.agents.evaluation import heuristic
    from othello_lab.agents.evaluation.helpers import CORNERS, count, moves

    @heuristic
    def hollow(mover, opponent):
        "Corners and freedom."
        corners = count(mover & CORNERS) - count(opponent & CORNERS)
        return 10 * corners + count(moves(mover, opponent)) - count(moves(opponent, mover))

and ``evaluation=function evaluation.target=./mine.py:hollow`` puts it into any search.

An evaluation for PAIP's Othello, ``function(player, board)`` on a list of 100 squares, needs no
mark; it runs as ordinary Python.
"""

from __future__ import annotations

import functools
import inspect
import math
import re
import warnings
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import Annotated, Any, cast

import numba
import numpy as np

from othello_lab.agents.evaluation.board_list import PIECES, board_list
from othello_lab.agents.evaluation.evaluation import FINAL_UNIT, SIGNATURE, Evaluation
from othello_lab.agents.evaluation.user_code import (
    UNKNOWN,
    njit,
    returned,
    signed_mask,
    why_not,
    with_helpers,
)
from othello_lab.agents.loading import LOADED, UserCodeError, last_line, load_module, split_target
from othello_lab.core.notation import PASS
from othello_lab.core.position import Position
from othello_lab.core.rules import Color
from othello_lab.core.system.compile import Announce, Array, Mask
from othello_lab.core.system.forked import answer_of_child
from othello_lab.core.system.settings import Number, Switch, check_settings, explained, nearest

LARGEST = FINAL_UNIT - 1
CHECK_POSITIONS = 1000
CHECK_SECONDS = 10.0
"""Seconds for the trial of a new heuristic on CHECK_POSITIONS random positions."""
_TWICE = 5  # every fifth position twice, to check that the answer stays
FLOAT_SCALE = 1000
"""Factor for results that are floats, so that three digits survive the rounding."""

_BOARDS, _COMPILED = "_othello_boards", "_othello_compiled"
_LIST, _MASKS = "list", "masks"
_PAIP = ["player", "board"]  # the parameters of such a function there
IN_PYTHON = "@heuristic(compiled=False) runs it as ordinary Python, slower"


def heuristic(
    function: Callable[..., Any] | None = None,
    *,
    boards: Iterable[int] = (8,),
    compiled: bool = True,
) -> Any:
    """Mark a function ``(mover, opponent) -> int or float`` as a heuristic.

    The function stays an ordinary one, to be called and tested as such. It gets two masks
    (``numpy.uint64``) and returns the position's value for the mover; larger is better.
    boards: the sizes that it is made for, squares a side (``@heuristic(boards=(6, 8))``).
    compiled: False for a function that cannot be compiled; it runs as ordinary Python.
    """

    def mark(function: Callable[..., Any]) -> Callable[..., Any]:
        sides = frozenset(boards)
        if not sides or not sides <= {4, 6, 8}:
            raise ValueError(f"boards {sorted(sides)}: sizes out of 4, 6 and 8 are needed")
        setattr(function, _BOARDS, sides)
        setattr(function, _COMPILED, compiled)
        return function

    return mark(function) if function else mark


def is_heuristic(thing: Any) -> bool:
    """Return True for a function that can be an evaluation of two masks: it is marked with
    :func:`heuristic`, or takes ``(mover, opponent)``."""
    if hasattr(thing, _BOARDS):
        return True
    return _parameters(thing) == ["mover", "opponent"]


class NotZero(Number):
    """Any finite number but 0."""

    needed = "a finite number other than 0"

    def allows(self, value: object) -> bool:
        return value != 0 and super().allows(value)


@explained
@dataclass(eq=False, repr=False)
class FunctionEvaluation(Evaluation):
    """The evaluation made of a user's function.

    Its twin is the function itself, run as ordinary Python. A float is multiplied by ``scale`` and
    rounded half to even; an integer is not. Both are clipped to +-(2^24 - 1).

    The function is compiled and tried on 1,000 random positions. Raises ValueError, one line, for a
    function that cannot be found, compiled or used.
    """

    target: str | Callable[..., Any]
    """``path/to/file.py:function``, or ``module:function``; in Python also the function itself."""
    compiled: Annotated[bool, Switch()] = True
    """False runs it as ordinary Python, some hundred times slower, in the plain search. A function
    of PAIP's kind always runs so."""
    scale: Annotated[float, NotZero()] = FLOAT_SCALE
    """Factor for results that are floats."""

    def __post_init__(self) -> None:
        if inspect.isfunction(self.target):
            function, file = self.target, self.target.__module__
            if file.startswith(LOADED):
                file = Path(function.__code__.co_filename).name
            self.target = f"{file}:{function.__name__}"
            self._function = _as_heuristic(function, self.target)
        else:
            self._function = _find(str(self.target))
        check_settings(self)
        self.compiled = self.compiled and getattr(self._function, _COMPILED)
        self.sides = getattr(self._function, _BOARDS)
        self._compiled = _compile(self._function, self.target) if self.compiled else None
        tried = _tried(self.target, self._function, self._compiled, self.scale)
        self.floating, self.symmetric = tried

    @property
    def name(self) -> str:
        return str(self.target).rpartition(":")[2]

    @staticmethod
    def kernel(mover: Mask, opponent: Mask, parameters: Array) -> np.int32:
        raise NotImplementedError("made for each function: see address")

    @cached_property
    def address(self) -> int:
        """Address of the compiled function, wrapped to return an integer in range."""
        function: Any = self._compiled
        scale, lowest, highest = self.scale, np.int64(-LARGEST), np.int64(LARGEST)

        def whole(mover: Mask, opponent: Mask, parameters: Array) -> np.int32:
            value = np.int64(function(mover, opponent))
            return np.int32(min(max(value, lowest), highest))

        def rounded(mover: Mask, opponent: Mask, parameters: Array) -> np.int32:
            value = np.rint(scale * function(mover, opponent))
            if not np.isfinite(value):
                value = 0.0
            return np.int32(min(max(value, lowest), highest))

        wrapper = rounded if self.floating else whole
        # Not cached on disk: it compiles quickly, and its callees may be edited at any time.
        self._wrapper = numba.cfunc(SIGNATURE, nopython=True, error_model="numpy")(wrapper)
        return int(self._wrapper.address)

    def prepare(self, announce: Announce | None = None) -> None:
        if self.compiled:
            _ = self.address
        if announce:
            how = "compiled" if self.compiled else "run as ordinary Python"
            symmetry = "symmetric" if self.symmetric else "not symmetric"
            announce(
                f"{self.name}: {how}; {symmetry} in the colours on {CHECK_POSITIONS} positions"
            )

    def plain(self, position: Position) -> int:
        result = self._function(*position.masks)
        value = round(float(result) * self.scale) if self.floating else int(result)
        return min(max(value, -LARGEST), LARGEST)

    def __call__(self, position: Position) -> int:
        return super().__call__(position) if self.compiled else self.plain(position)

    def __getstate__(self) -> dict[str, Any]:
        raise TypeError("a heuristic from a file cannot be copied; build it again from its target")


def as_evaluation(thing: Any) -> Evaluation:
    """Return an evaluation, made of a user's function if it is one; raises ValueError."""
    if isinstance(thing, Evaluation):
        return thing
    if inspect.isfunction(thing):
        return FunctionEvaluation(thing)
    raise ValueError(f"evaluation={thing!r} is not an Evaluation")


# ------------------------------------------------------------------ finding


def _find(target: str) -> Callable[..., Any]:
    """Return the marked function of ``target``, or an adapted one of PAIP's kind; ValueError."""
    file, name = split_target(target)
    module = load_module(file)
    marked = [key for key, value in vars(module).items() if is_marked(value)]
    function = getattr(module, name, None)
    if function is None:
        known = f"its heuristics: {', '.join(marked)}." if marked else "it has no @heuristic."
        raise ValueError(
            f"target '{target}': no function '{name}' there; {known}{nearest(name, marked)}"
        )
    return _as_heuristic(function, target)


def _as_heuristic(function: Any, target: str) -> Callable[..., Any]:
    """Return a marked function, or an adapted ``function(player, board)``; else ValueError."""
    if is_heuristic(function):
        return function if is_marked(function) else cast("Any", heuristic(function))
    named = _parameters(function) == _PAIP  # if it fails, its trial says where
    form, complaint = tried(function) if has_two(function) and not named else ("", "")
    if named or form == _LIST:
        return _of_board_list(function)
    if form:
        return cast("Any", heuristic(function))
    name = target.rpartition(":")[2]
    said = f"is no heuristic: {complaint}" if complaint else "is not marked with @heuristic"
    raise ValueError(f"target '{target}': '{name}' {said}")


def _parameters(function: Any) -> list[str]:
    """Return the names of a function's parameters; none for anything else."""
    if isinstance(function, type):
        return []
    try:
        return list(inspect.signature(function).parameters)
    except (TypeError, ValueError, NameError):  # Python 3.14 evaluates annotations here
        return []


def is_marked(thing: Any) -> bool:
    """Return True for a function with ``@heuristic``."""
    return hasattr(thing, _BOARDS)


def has_two(function: Any) -> bool:
    """Return True for a function that can be called with two arguments, none of them named."""
    try:
        inspect.signature(function).bind(None, None)
    except (TypeError, ValueError, NameError):
        return False
    return not isinstance(function, type)


@cache
def tried(function: Callable[..., Any]) -> tuple[str, str]:
    """Try a function of two arguments in a process of its own: the form of the position that it
    takes, and if it takes none what it does instead, in words."""
    try:
        form, complaint = answer_of_child(_try_forms, function, seconds=CHECK_SECONDS) or ("", "")
    except EOFError:
        return "", "it ends its process"
    return form, complaint


def _try_forms(function: Callable[..., Any]) -> tuple[str, str]:
    masks = Position.start().masks
    complaints: dict[str, str] = {}
    forms = [
        (_LIST, "a player and a board", (PIECES[Color.BLACK], board_list(*map(int, masks)))),
        (_MASKS, "two masks", masks),
    ]
    for form, words, given in forms[: 1 if _parameters(function) == _PAIP else 2]:
        try:
            answer = function(*given)
            number = getattr(answer, "real", None)
            if number is not None and abs(number) <= LARGEST:
                return form, ""
            complaints[f"it answers {answer!r:.40}"] = words
        except Exception as error:
            file = inspect.getsourcefile(function) or ""
            complaints[last_line(error, file)] = words
    if len(complaints) > 1:
        complaints = {f"of {words}: {said}": "" for said, words in reversed(complaints.items())}
    return "", "; ".join(complaints)


def _of_board_list(function: Callable[..., Any]) -> Callable[..., Any]:
    """Adapt such a function to two masks, with the mover as Black."""

    @heuristic(compiled=False)
    @functools.wraps(function)
    def adapted(mover: Mask, opponent: Mask) -> Any:
        return function(PIECES[Color.BLACK], board_list(int(mover), int(opponent)))

    return cast("Callable[..., Any]", adapted)


# ------------------------------------------------------------------ compiling


@cache
def _compile(function: Callable[..., Any], target: str) -> Any:
    """Compile ``function`` for two masks; raises ValueError with the line that fails."""
    # Inlined into the wrapper that searches call, so that it is as fast as a built-in one.
    compiled = njit(with_helpers(function), forceinline=True)
    further = list(inspect.signature(function).parameters.values())[2:]
    given = [option.default for option in further if option.default is not option.empty]
    defaults = [numba.types.Omitted(default) for default in given]
    try:
        with warnings.catch_warnings(action="ignore"):
            compiled.compile((numba.uint64, numba.uint64, *defaults))
        result = compiled.nopython_signatures[0].return_type
        if not isinstance(result, numba.types.Integer | numba.types.Float):
            raise TypeError(f"returns {result}")
    except Exception as error:
        fault, hint = why_not(error, function), f"; {IN_PYTHON}"
        try:
            _tried(target, function, None, FLOAT_SCALE)
        except ValueError as mistake:
            line, hint = fault.partition(",")[0], ""
            _, colon, said = str(mistake).partition("': ")
            if not colon:
                raise  # it does not end, or ends its process
            elsewhere = "(position" in said and not said.startswith(f"{line},")
            if UNKNOWN in fault or elsewhere or "argument" in said:
                fault = said  # ordinary Python tells it better
        raise UserCodeError(f"'{target}' cannot be compiled: {fault}{hint}") from error
    return compiled


# ------------------------------------------------------------------ trying


@cache
def check_positions(count: int = CHECK_POSITIONS) -> tuple[Position, ...]:
    """Return ``count`` unfinished positions from random games, always the same."""
    rng = np.random.default_rng(0)
    positions: list[Position] = []
    while len(positions) < count:
        position = Position.start()
        while not position.is_over:
            positions.append(position)
            position = position.play(int(rng.choice(position.moves or (PASS,))))
    return tuple(positions[:count])


@cache
def _tried(
    target: str, function: Callable[..., Any], compiled: Any, scale: float
) -> tuple[bool, bool]:
    """Try a heuristic apart; True if its results are floats, True if symmetric; ValueError."""
    work = function, compiled, scale, check_positions()
    try:
        answer = answer_of_child(_try, *work, seconds=CHECK_SECONDS)
    except EOFError:
        raise ValueError(f"'{target}' ended its process when tried") from None
    if answer is None:
        raise ValueError(
            f"'{target}' did not end on {CHECK_POSITIONS} positions within {CHECK_SECONDS:g} s"
        )
    floating, symmetric, complaint = answer
    if complaint:
        raise UserCodeError(f"'{target}': {complaint}")
    return floating, symmetric


def _try(
    function: Callable[..., Any], compiled: Any, scale: float, positions: tuple[Position, ...]
) -> tuple[bool, bool, str]:
    kind = compiled.nopython_signatures[0].return_type if compiled else None
    floating = isinstance(kind, numba.types.Float)
    symmetric, complaint = True, ""
    position = positions[0]
    try:
        np.seterr(all="ignore")  # of masks that overflow nothing is to be said
        results: list[tuple[Position, Any, Any]] = []
        for position in positions:
            result = function(*position.masks)
            if isinstance(result, bool | np.bool) or not isinstance(
                result, int | float | np.integer | np.floating
            ):
                shown = re.sub(" at 0x.*", " ...>", f"returns {result!r:.60}")
                complaint = returned(function, position.masks, shown)
                break
            if not len(results) % _TWICE and (fault := _changes(position, result, function)):
                complaint = returned(function, position.masks, fault)
                break
            # Python's own numbers, as numpy's unsigned ones cannot be negated.
            swapped = function(*reversed(position.masks))
            result, swapped = (getattr(r, "item", lambda r=r: r)() for r in (result, swapped))
            results.append((position, result, swapped))
        floating = floating or any(isinstance(r[1], float | np.floating) for r in results)
        for position, result, swapped in [] if complaint else results:
            complaint = _complaint(position, result, function, compiled, floating, scale)
            if complaint:
                break
            symmetric &= result == -swapped
    except Exception as error:
        complaint = f"{why_not(error, function)} (position {position.to_obf()})"
    return floating, bool(symmetric), complaint


def _changes(position: Position, result: Any, function: Callable[..., Any]) -> str:
    """Return the complaint about a function whose second result differs, or nothing."""
    again = function(*position.masks)
    if again == result or (again != again and result != result):
        return ""
    return (
        f"gives {result}, and then {again}, for the same position {position.to_obf()}; it may "
        "neither draw random numbers nor remember anything"
    )


def _complaint(
    position: Position, result: Any, function: Any, compiled: Any, floating: bool, scale: float
) -> str:
    """Return the complaint about a result, or nothing."""
    where, fault = f"at {position.to_obf()}", f"returns {result}"
    if not math.isfinite(result):
        return returned(function, position.masks, f"{fault} {where}")
    if abs(result * (scale if floating else 1)) > LARGEST:
        most = f"at most {LARGEST} (floats: after scaling) is allowed"
        return returned(function, position.masks, f"{fault} {where}; {most}")
    if compiled:
        other = compiled(*position.masks)
        if complaint := _changes(position, other, compiled):
            return complaint
        if not math.isclose(other, result, rel_tol=1e-9, abs_tol=1e-9):
            fault = f"gives {other} compiled but {result} as ordinary Python {where}"
            return signed_mask(compiled, fault)
    return ""
