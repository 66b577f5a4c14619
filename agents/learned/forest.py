"""The answers of many small trees, as vector code for eight trees at a time.

A question compares one of 32 small numbers with a bound, all of them bytes. So the processor asks
all questions of a tree at once, and only then follows the way to the leaf. In plain form each tree
is followed question by question.

A tree's questions are 64 bytes: the places of 31 numbers and a byte that is not used, then as many
bounds. Question n leads to question 2n + 1, or to 2n + 2 if its number exceeds its bound. A tree's
leaves are 32 int32.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from othello_lab.core.bitboard import VECTORISED
from othello_lab.core.system.compile import Address, kernel
from othello_lab.core.vector import I32, I64, int32_at

DEPTH = 5
"""Questions on the way to a leaf."""
LEAVES = 2**DEPTH
TOGETHER = 8
"""Trees that are looked at together."""
TREE_BYTES = 2 * LEAVES

_BYTE = ir.IntType(8)
_TREES, _BYTES = ir.VectorType(I32, TOGETHER), ir.VectorType(_BYTE, LEAVES)


def _all(kind: ir.VectorType, value: int) -> Any:
    return ir.Constant(kind, [value] * kind.count)


def _load(b: Any, kind: Any, address: Any, offset: int) -> Any:
    return b.load(b.inttoptr(b.add(address, ir.Constant(I64, offset)), kind.as_pointer()), align=1)


def _picked(b: Any, halves: Any, places: Any) -> Any:
    """Generate the numbers at these places, of two halves of 16 bytes, each held twice. The
    instruction gives 0 where a place's highest bit is set; otherwise it takes the low four."""
    kind = ir.FunctionType(_BYTES, [_BYTES, _BYTES])
    shuffle = cgutils.get_or_insert_function(b.module, kind, "llvm.x86.avx2.pshuf.b")
    low = b.call(shuffle, [halves[0], b.add(places, _all(_BYTES, 0x70))])
    return b.or_(low, b.call(shuffle, [halves[1], b.sub(places, _all(_BYTES, 16))]))


@intrinsic
def _sum_of_leaves(typingctx: Any, numbers: Any, questions: Any, leaves: Any) -> Any:
    """The instructions of :func:`vector_sum_of_leaves`."""

    def generate(ctx: Any, b: Any, sig: Any, args: Any) -> Any:
        numbers, questions, leaves = args
        numbers = b.trunc(_load(b, ir.VectorType(I32, LEAVES), numbers, 0), _BYTES)
        halves = [
            b.shuffle_vector(
                numbers,
                ir.Constant(_BYTES, ir.Undefined),
                ir.Constant(ir.VectorType(I32, LEAVES), 2 * list(range(first, first + 16))),
            )
            for first in (0, 16)
        ]
        passed = ir.Constant(_TREES, ir.Undefined)
        for tree in range(TOGETHER):
            at = TREE_BYTES * tree
            values = _picked(b, halves, _load(b, _BYTES, questions, at))
            exceeds = b.icmp_signed(">", values, _load(b, _BYTES, questions, at + LEAVES))
            passed = b.insert_element(passed, b.bitcast(exceeds, I32), ir.Constant(I32, tree))
        # Counted from 1, the two questions after question n are 2n and 2n + 1; so are the leaves.
        one = _all(_TREES, 1)
        passed, place = b.shl(passed, one), one
        for _ in range(DEPTH):
            place = b.add(b.add(place, place), b.and_(b.lshr(passed, place), one))
        total = ir.Constant(I32, 0)
        for tree in range(TOGETHER):
            leaf = b.zext(b.extract_element(place, ir.Constant(I32, tree)), I64)
            address = b.add(leaves, b.shl(leaf, ir.Constant(I64, 2)))
            total = b.add(total, _load(b, I32, address, 4 * LEAVES * (tree - 1)))
        return total

    return types.int32(types.intp, types.intp, types.intp), generate


@intrinsic
def _signed_byte(typingctx: Any, address: Any) -> Any:
    """The int8 at an address, as int32."""
    return types.int32(types.intp), lambda ctx, b, sig, args: b.sext(
        _load(b, _BYTE, args[0], 0), I32
    )


@kernel
def plain_sum_of_leaves(numbers: Address, questions: Address, leaves: Address) -> np.int32:
    """As :func:`sum_of_leaves`, question by question."""
    total = np.int32(0)
    for tree in range(TOGETHER):
        place = np.intp(0)
        for _ in range(DEPTH):
            at = questions + np.intp(TREE_BYTES * tree) + place
            number = int32_at(numbers)[_signed_byte(at)]
            place = np.intp(2 * place + 1 + (number > _signed_byte(at + np.intp(LEAVES))))
        total = np.int32(total + int32_at(leaves)[LEAVES * tree + place - (LEAVES - 1)])
    return total


@kernel
def vector_sum_of_leaves(numbers: Address, questions: Address, leaves: Address) -> np.int32:
    """As :func:`sum_of_leaves`, all questions of a tree at once."""
    return _sum_of_leaves(numbers, questions, leaves)


sum_of_leaves = vector_sum_of_leaves if VECTORISED else plain_sum_of_leaves
"""``sum_of_leaves(numbers, questions, leaves) -> sum`` of the leaves of TOGETHER trees, as int32.
The arguments are addresses: of 32 int32 between -128 and 127, of the trees' questions, and of their
leaves."""
