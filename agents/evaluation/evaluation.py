"""The base class of evaluations, with compiling and calling.

An evaluation is a function of three arguments: the mover's discs, the opponent's discs, and its
parameters, one flat array of 32-bit integers (weights, tables). It is compiled into a C function,
and a search gets its *address*. So no search is recompiled for a new heuristic, and new weights
need no compiling at all. The reading twin ``plain`` computes the same value in obvious Python;
tests hold the two equal.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache, cached_property
from typing import Any, ClassVar

import numba
import numpy as np
from numba import types
from numba.core.errors import NumbaError

from othello_lab.agents.evaluation.user_code import why_not, with_helpers
from othello_lab.core.position import Position
from othello_lab.core.system.compile import (
    Address,
    Announce,
    Array,
    Int,
    Mask,
    callback,
    is_ours,
    kernel,
    prepare,
)
from othello_lab.core.system.memory import in_large_pages
from othello_lab.core.system.settings import Nameable, called
from othello_lab.core.vector import call_evaluation

FINAL_UNIT = 1 << 24
"""Value of one disc at the end of a game. Evaluations stay between -FINAL_UNIT and FINAL_UNIT, so a
won game always counts more than any evaluation, and 64 units fit 32 bits."""

SIGNATURE = types.int32(types.uint64, types.uint64, types.CPointer(types.int32))


@cache
def compile_evaluation(function: Callable[..., Any]) -> Any:
    """Compile a kernel ``(mover, opponent, parameters) -> integer`` into a C function.

    mover, opponent: uint64 masks. parameters: the first element of an int32 array, to be indexed.
    Raises ValueError if it cannot be compiled or does not return an integer.
    """
    try:
        if not is_ours(function):  # the conversion to int32 would silently cut off fractions
            function = with_helpers(function)
            inferred = numba.njit(error_model="numpy")(function)
            inferred.compile(SIGNATURE.args)
            result = inferred.nopython_signatures[0].return_type
            if not isinstance(result, types.Integer):
                raise ValueError(f"{function.__qualname__} gives {result}; an integer is needed")
        return callback(function, SIGNATURE)
    except (NumbaError, NotImplementedError, AttributeError) as error:
        name = function.__qualname__
        raise ValueError(f"{name} cannot be compiled: {why_not(error, function)}") from error


@kernel
def _evaluate_one(address: Address, mover: Mask, opponent: Mask, parameters: Address) -> Int:
    return call_evaluation(address, mover, opponent, parameters)


@kernel
def _evaluate_many(
    address: Address, movers: Array, opponents: Array, parameters: Address, values: Array
) -> None:
    for index in range(len(movers)):
        values[index] = call_evaluation(address, movers[index], opponents[index], parameters)


def in_words(name: str) -> str:
    """Return a class's name in words: ``square weights`` for SquareWeights."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", name).lower()


@dataclass(frozen=True)
class Feature:
    """A form of a heuristic that a composite can weigh.

    name: of its weight, and of its YAML in ``conf/evaluation``. largest: its greatest absolute
    value. antisymmetric: True if the value changes its sign with the side to move. settings: the
    arguments of the heuristic's class. order: in the line-ups of all heuristics, where lower
    numbers come first; 0 leaves it out.
    """

    name: str
    largest: int
    antisymmetric: bool = True
    settings: Mapping[str, Any] = field(default_factory=dict)
    order: int = 99


class Evaluation(Nameable, ABC):
    """A heuristic. Values are integers from the mover's view, in units of the heuristic's own.

    kernel: the function to compile, a static method of two masks and the parameters.
    sides: the board sizes that it is made for.
    compiled: true if there is a kernel; without one a search runs as ordinary Python.
    as_features: the features that the class itself declares; a subclass does not inherit them.
    per_disc: the part of a value that stands for one disc; None where values are not in discs.
    """

    sides: frozenset[int] = frozenset({4, 6, 8})
    compiled: bool = True
    as_features: ClassVar[tuple[Feature, ...]] = ()
    per_disc: ClassVar[int | None] = None

    def __repr__(self) -> str:
        return called(self)

    @staticmethod
    @abstractmethod
    def kernel(mover: Mask, opponent: Mask, parameters: Array) -> np.int32:
        """Return the value of a position, by plain arithmetic on masks that can be compiled.

        Searches call it at finished positions only if ``final`` is ``win``.
        """

    @abstractmethod
    def plain(self, position: Position) -> int:
        """Return the same value in plain Python: the reading twin."""

    @property
    def name(self) -> str:
        """Name in figures and messages: ``square weights`` for SquareWeights."""
        return in_words(type(self).__name__)

    def parts(self, position: Position) -> dict[str, int | float]:
        """Return the terms of the value's sum by formula; empty for a value without terms."""
        return {}

    def make_parameters(self) -> np.ndarray:
        """Return the kernel's int32 array, shape (n,) with at least one element."""
        return np.zeros(1, dtype=np.int32)

    @cached_property
    def parameters(self) -> np.ndarray:
        """The kernel's array; it lives as long as the evaluation."""
        return in_large_pages(np.ascontiguousarray(self.make_parameters(), dtype=np.int32))

    def __getstate__(self) -> dict[str, Any]:
        # Addresses mean nothing in another process.
        addresses = ("address", "parameters_address")
        return {name: value for name, value in vars(self).items() if name not in addresses}

    @cached_property
    def parameters_address(self) -> int:
        """Address of the parameters in memory."""
        return int(self.parameters.ctypes.data)

    @cached_property
    def address(self) -> int:
        """Address of the compiled kernel in memory; the first use compiles it."""
        return int(compile_evaluation(type(self).kernel).address)

    def prepare(self, announce: Announce | None = None) -> None:
        """Compile or load kernel and parameters, before the clock runs or processes fork."""
        _ = self.parameters
        kind = type(self)
        key = f"{kind.__module__}.{kind.__qualname__}"
        prepare(f"evaluation {self.name}", lambda: self.address, announce, key)

    def __call__(self, position: Position) -> int:
        """Return the compiled kernel's value of one position."""
        parameters = np.intp(self.parameters_address)
        return int(_evaluate_one(np.intp(self.address), *position.masks, parameters))

    def values(self, movers: np.ndarray, opponents: np.ndarray) -> np.ndarray:
        """Return the compiled kernel's values of many positions, int32, shape (n,).

        movers, opponents: uint64 masks, of equal length.
        """
        values = np.empty(len(movers), dtype=np.int32)
        movers = np.ascontiguousarray(movers, dtype=np.uint64)
        opponents = np.ascontiguousarray(opponents, dtype=np.uint64)
        parameters = np.intp(self.parameters_address)
        _evaluate_many(np.intp(self.address), movers, opponents, parameters, values)
        return values
