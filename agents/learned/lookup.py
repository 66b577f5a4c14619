"""Vector code that looks up the contents of all places of a board at once.

Each row of the board adds its share to the contents of all places; see
:class:`agents.learned.geometry.Geometry`. LLVM splits the vectors to fit the processor's registers.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from othello_lab.agents.learned.geometry import BYTES, LANES, ROWS
from othello_lab.core.bitboard import VECTORISED
from othello_lab.core.system.compile import processor
from othello_lab.core.vector import I32, I64

_SHORT = ir.IntType(16)
_CONTENTS = ir.VectorType(_SHORT, LANES)
_BYTES_A_ROW = 2 * LANES

# Offsets of so many places are made together.
_TOGETHER = 16
_OFFSETS = ir.VectorType(I32, _TOGETHER)

GATHERS = VECTORISED and "avx512fp16" in processor()[1]
"""True if one instruction fetches 16 weights faster than 16 do. All processors with AVX-512 have
it, but on AMD's it is slow, and so it is on Intel's from before Sapphire Rapids, the first with
``avx512fp16``: since 2023 their microcode works around a fault (*Downfall*)."""
_GATHER_NAME = "llvm.x86.avx512.mask.gather.dpi.512"
_POINTER = ir.IntType(8).as_pointer()
_GATHER = ir.FunctionType(
    _OFFSETS, [_OFFSETS, _POINTER, _OFFSETS, ir.VectorType(ir.IntType(1), _TOGETHER), I32]
)


def _number(value: int) -> Any:
    return ir.Constant(I64, value)


def _contents(b: Any, rows: Any, mask: Any) -> Any:
    """Generate the share of one side's discs in the contents of all places."""
    total = None
    for row in range(ROWS):
        discs = b.and_(b.lshr(mask, _number(8 * row)), _number(BYTES - 1))
        offset = b.mul(b.add(discs, _number(BYTES * row)), _number(_BYTES_A_ROW))
        share = b.load(b.inttoptr(b.add(rows, offset), _CONTENTS.as_pointer()), align=2)
        total = share if total is None else b.add(total, share)
    return total


@intrinsic
def store_contents(typingctx: Any, rows: Any, mover: Any, opponent: Any, output: Any) -> Any:
    """Write the contents of all LANES places as uint16 numbers to the address ``output``.

    rows: address of the uint16 numbers of ``Geometry.rows``.
    """

    def generate(ctx: Any, b: Any, sig: Any, args: Any) -> Any:
        rows, mover, opponent, output = args
        theirs = _contents(b, rows, opponent)
        contents = b.add(_contents(b, rows, mover), b.add(theirs, theirs))
        b.store(contents, b.inttoptr(output, _CONTENTS.as_pointer()), align=2)
        return ctx.get_dummy_value()

    return types.void(types.intp, types.uint64, types.uint64, types.intp), generate


def _sum_by_gathering(b: Any, base: Any, offsets: Sequence[Any]) -> Any:
    """Generate the sum of the int16 numbers at ``base`` plus twice each offset."""
    kind = offsets[0].type
    gather = cgutils.get_or_insert_function(b.module, _GATHER, _GATHER_NAME)
    pointer = b.inttoptr(base, _POINTER)
    nothing, everywhere = ir.Constant(kind, None), ir.Constant(_GATHER.args[3], [1] * kind.count)
    half = ir.Constant(kind, [16] * kind.count)
    total = nothing
    for some in offsets:
        gathered = b.call(gather, [nothing, pointer, some, everywhere, ir.Constant(I32, 2)])
        # 32 bits are fetched, the number is their low half.
        total = b.add(total, b.ashr(b.shl(gathered, half), half))
    sum_kind = ir.FunctionType(I32, [kind])
    add = cgutils.get_or_insert_function(b.module, sum_kind, "llvm.vector.reduce.add.v16i32")
    return b.sext(b.call(add, [total]), I64)


def _sum_one_by_one(b: Any, base: Any, offsets: Sequence[Any]) -> Any:
    """Generate the same sum with ordinary instructions."""
    total = _number(0)
    for some in offsets:
        for lane in range(some.type.count):
            offset = b.zext(b.extract_element(some, ir.Constant(I32, lane)), I64)
            address = b.add(base, b.shl(offset, _number(1)))
            total = b.add(total, b.sext(b.load(b.inttoptr(address, _SHORT.as_pointer())), I64))
    return total


@intrinsic
def sum_of_places(
    typingctx: Any, rows: Any, places: Any, weights: Any, mover: Any, opponent: Any
) -> Any:
    """Return the sum of the weights of the contents of all LANES places, int64.

    rows: address of the uint16 numbers of ``Geometry.rows``. places: address of LANES int32, the
    first of each place's weights. weights: address of int16; two bytes behind the last one are
    read too.
    """

    def generate(ctx: Any, b: Any, sig: Any, args: Any) -> Any:
        rows, places, weights, mover, opponent = args
        theirs = _contents(b, rows, opponent)
        contents = b.add(_contents(b, rows, mover), b.add(theirs, theirs))
        offsets = []
        for first in range(0, LANES, _TOGETHER):
            lanes = ir.Constant(_OFFSETS, list(range(first, first + _TOGETHER)))
            some = b.shuffle_vector(contents, ir.Constant(_CONTENTS, ir.Undefined), lanes)
            begins = b.inttoptr(b.add(places, _number(4 * first)), _OFFSETS.as_pointer())
            offsets.append(b.add(b.zext(some, _OFFSETS), b.load(begins, align=4)))
        return (_sum_by_gathering if GATHERS else _sum_one_by_one)(b, weights, offsets)

    return types.int64(types.intp, types.intp, types.intp, types.uint64, types.uint64), generate


@intrinsic
def load_short(typingctx: Any, base: Any, index: Any) -> Any:
    """Return the int16 number ``index`` of the array at address ``base``, as int64."""

    def generate(ctx: Any, b: Any, sig: Any, args: Any) -> Any:
        address = b.add(args[0], b.shl(args[1], _number(1)))
        return b.sext(b.load(b.inttoptr(address, _SHORT.as_pointer())), I64)

    return types.int64(types.intp, types.int64), generate
