"""Vector code that looks up the contents of all places of a board at once.

Each row of the board adds its share to the contents of all places; see
:class:`agents.learned.geometry.Geometry`. LLVM splits the vectors to fit the processor's registers.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from othello_lab.agents.learned.geometry import BYTES, LANES, ROWS
from othello_lab.core.vector import I32, I64

_SHORT = ir.IntType(16)
_CONTENTS = ir.VectorType(_SHORT, LANES)
_BYTES_A_ROW = 2 * LANES


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


@intrinsic
def sum_of_places(
    typingctx: Any, rows: Any, places: Any, weights: Any, mover: Any, opponent: Any
) -> Any:
    """Return the sum of the weights of the contents of all LANES places, int64.

    rows: address of the uint16 numbers of ``Geometry.rows``. places: address of LANES int64, the
    offset in bytes of each place's weights from ``weights``. weights: address of int16.
    """

    def generate(ctx: Any, b: Any, sig: Any, args: Any) -> Any:
        rows, places, weights, mover, opponent = args
        theirs = _contents(b, rows, opponent)
        contents = b.add(_contents(b, rows, mover), b.add(theirs, theirs))
        total = None
        for lane in range(LANES):
            content = b.zext(b.extract_element(contents, ir.Constant(I32, lane)), I64)
            begin = b.load(b.inttoptr(b.add(places, _number(8 * lane)), I64.as_pointer()))
            address = b.add(b.add(weights, begin), b.shl(content, _number(1)))
            weight = b.sext(b.load(b.inttoptr(address, _SHORT.as_pointer())), I64)
            total = weight if total is None else b.add(total, weight)
        return total

    return types.int64(types.intp, types.intp, types.intp, types.uint64, types.uint64), generate


@intrinsic
def load_short(typingctx: Any, base: Any, index: Any) -> Any:
    """Return the int16 number ``index`` of the array at address ``base``, as int64."""

    def generate(ctx: Any, b: Any, sig: Any, args: Any) -> Any:
        address = b.add(args[0], b.shl(args[1], _number(1)))
        return b.sext(b.load(b.inttoptr(address, _SHORT.as_pointer())), I64)

    return types.int64(types.intp, types.int64), generate
