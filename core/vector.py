"""LLVM building blocks: bit counting, raw memory, and the hottest kernels as vector code.

An ``@intrinsic`` writes the LLVM instructions of a small function itself. The board kernels here
treat the four line directions as the four 64-bit lanes of one vector, so one pass does the work of
four. The same functions in plain Python, and the reasons behind the bit tricks, are in
:mod:`core.bitboard`; tests hold the two equal.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

I1, I32, I64 = ir.IntType(1), ir.IntType(32), ir.IntType(64)
LANES = ir.VectorType(I64, 4)
_ALL = (1 << 64) - 1

# One lane a direction. A step is a shift by so many bits: east, south, south-west, south-east one
# way; the opposite four the other way.
STEPS = (1, 8, 7, 9)
_COMPASS = ((1, 0), (0, 1), (-1, 1), (1, 1))
# Runs of opponent discs may not leave the board sideways: the outer columns can end a line
# but never lie inside one, except for the vertical direction.
_INNER_COLUMNS = 0x7E7E7E7E7E7E7E7E
_INSIDE = (_INNER_COLUMNS, _ALL, _INNER_COLUMNS, _INNER_COLUMNS)


def ray(square: int, dx: int, dy: int) -> int:
    """Mask of the squares from ``square`` (exclusive) to the border in direction (dx, dy)."""
    mask = 0
    column, row = square % 8 + dx, square // 8 + dy
    while 0 <= column < 8 and 0 <= row < 8:
        mask |= 1 << (8 * row + column)
        column, row = column + dx, row + dy
    return mask


UPWARD = tuple(tuple(ray(square, dx, dy) for dx, dy in _COMPASS) for square in range(64))
DOWNWARD = tuple(tuple(ray(square, -dx, -dy) for dx, dy in _COMPASS) for square in range(64))


@intrinsic
def popcount(typingctx: Any, mask: Any) -> Any:
    """Number of set bits of a uint64, as int64."""
    return types.int64(types.uint64), lambda ctx, b, sig, args: b.ctpop(args[0])


@intrinsic
def lowest_square(typingctx: Any, mask: Any) -> Any:
    """Index of the lowest set bit of a uint64, as uint64; undefined for 0."""
    return types.uint64(types.uint64), lambda ctx, b, sig, args: b.cttz(args[0], ir.Constant(I1, 1))


@intrinsic
def highest_bit(typingctx: Any, mask: Any) -> Any:
    """The highest set bit of a uint64 alone, as a mask; 0 for 0."""

    def generate(ctx: Any, b: Any, sig: Any, args: Any) -> Any:
        zeros = b.ctlz(args[0], ir.Constant(I1, 0))
        top = b.lshr(ir.Constant(I64, 1 << 63), b.and_(zeros, ir.Constant(I64, 63)))
        return b.and_(top, args[0])

    return types.uint64(types.uint64), generate


def _pointer(b: Any, base: Any, index: Any, kind: Any = I64) -> Any:
    address = b.add(base, b.mul(index, ir.Constant(I64, kind.width // 8)))
    return b.inttoptr(address, kind.as_pointer())


@intrinsic
def load(typingctx: Any, base: Any, index: Any) -> Any:
    """The int64 number ``index`` of the array that starts at address ``base``."""
    return types.int64(types.intp, types.int64), lambda ctx, b, sig, args: b.load(
        _pointer(b, args[0], args[1])
    )


@intrinsic
def load_float(typingctx: Any, base: Any, index: Any) -> Any:
    """The float64 number ``index`` of the array that starts at address ``base``."""
    return types.float64(types.intp, types.int64), lambda ctx, b, sig, args: b.bitcast(
        b.load(_pointer(b, args[0], args[1])), ir.DoubleType()
    )


@intrinsic
def address_of(typingctx: Any, pointer: Any) -> Any:
    """The address in a C pointer, such as an evaluation gets for its parameters."""
    return types.intp(pointer), lambda ctx, b, sig, args: b.ptrtoint(args[0], I64)


@intrinsic
def store(typingctx: Any, base: Any, index: Any, value: Any) -> Any:
    """Write int64 number ``index`` of the array that starts at address ``base``."""

    def generate(ctx: Any, b: Any, sig: Any, args: Any) -> Any:
        b.store(args[2], _pointer(b, args[0], args[1]))
        return ctx.get_dummy_value()

    return types.void(types.intp, types.int64, types.int64), generate


@intrinsic
def load_half(typingctx: Any, base: Any, index: Any) -> Any:
    """The uint16 number ``index`` of the array that starts at address ``base``, as int64."""
    return types.int64(types.intp, types.int64), lambda ctx, b, sig, args: b.zext(
        b.load(_pointer(b, args[0], args[1], ir.IntType(16))), I64
    )


def _put(width: int) -> Any:
    """Return a function of code that writes the lowest bits of a number at any address."""

    def generate(ctx: Any, b: Any, sig: Any, args: Any) -> Any:
        kind = ir.IntType(width)
        b.store(b.trunc(args[1], kind), b.inttoptr(args[0], kind.as_pointer()), align=1)
        return ctx.get_dummy_value()

    return generate


@intrinsic
def put_word(typingctx: Any, address: Any, value: Any) -> Any:
    """Write the eight bytes of an int64 at any address."""
    return types.void(types.intp, types.int64), _put(64)


@intrinsic
def put_byte(typingctx: Any, address: Any, value: Any) -> Any:
    """Write the lowest byte of an int64."""
    return types.void(types.intp, types.int64), _put(8)


@intrinsic(prefer_literal=True)
def room(typingctx: Any, words: Any) -> Any:
    """Return the address of this many int64 (a literal) that live until the calling function
    returns; called again in a loop, they are the same ones."""

    def generate(ctx: Any, b: Any, sig: Any, args: Any) -> Any:
        kind = ir.ArrayType(I64, words.literal_value)
        return b.ptrtoint(cgutils.alloca_once(b, kind), I64)

    return types.intp(words), generate


@intrinsic
def prefetch(typingctx: Any, address: Any) -> Any:
    """Ask the processor to fetch the memory at ``address``, any address; does nothing else."""

    def generate(ctx: Any, b: Any, sig: Any, args: Any) -> Any:
        pointer = ir.IntType(8).as_pointer()
        kind = ir.FunctionType(ir.VoidType(), [pointer, I32, I32, I32])
        function = cgutils.get_or_insert_function(b.module, kind, "llvm.prefetch.p0")
        # For reading, to be kept in all caches, data.
        hints = [ir.Constant(I32, value) for value in (0, 3, 1)]
        b.call(function, [b.inttoptr(args[0], pointer), *hints])
        return ctx.get_dummy_value()

    return types.void(types.intp), generate


@intrinsic
def int32_at(typingctx: Any, address: Any) -> Any:
    """A C pointer to the int32 numbers at ``address``; the inverse of :func:`address_of`."""
    kind = types.CPointer(types.int32)
    return kind(types.intp), lambda ctx, b, sig, args: b.inttoptr(args[0], I32.as_pointer())


def call_at(b: Any, result: Any, address: Any, arguments: Any) -> Any:
    """Generate a call of the C function at an address, with arguments of 64 bits each."""
    kind = ir.FunctionType(result, [I64] * len(arguments))
    return b.call(b.inttoptr(address, kind.as_pointer()), arguments)


@intrinsic
def call_evaluation(
    typingctx: Any, address: Any, mover: Any, opponent: Any, parameters: Any
) -> Any:
    """Call the compiled evaluation at ``address`` with two masks and its parameters' address."""
    kind = types.int64(types.intp, types.uint64, types.uint64, types.intp)
    return kind, lambda ctx, b, sig, args: b.sext(call_at(b, I32, args[0], args[1:]), I64)


# ------------------------------------------------------------------ vectors of four lanes


def _lanes(values: Any) -> Any:
    return ir.Constant(LANES, [value & _ALL for value in values])


def _broadcast(b: Any, value: Any) -> Any:
    undefined = ir.Constant(LANES, ir.Undefined)
    first = b.insert_element(undefined, value, ir.Constant(I32, 0))
    return b.shuffle_vector(first, undefined, ir.Constant(ir.VectorType(I32, 4), [0] * 4))


def _union(b: Any, lanes: Any) -> Any:
    kind = ir.FunctionType(I64, [LANES])
    reduce = cgutils.get_or_insert_function(b.module, kind, "llvm.vector.reduce.or.v4i64")
    return b.call(reduce, [lanes])


def _union_in_lanes(b: Any, lanes: Any) -> Any:
    """Generate the union in every lane: an exchange of halves, then of neighbours."""
    undefined = ir.Constant(LANES, ir.Undefined)
    for order in ([2, 3, 0, 1], [1, 0, 3, 2]):
        places = ir.Constant(ir.VectorType(I32, 4), order)
        lanes = b.or_(lanes, b.shuffle_vector(lanes, undefined, places))
    return lanes


def _runs(b: Any, mine: Any, other: Any) -> tuple[Any, Any]:
    """Generate the runs of opponent discs that begin beside an own disc: upwards, and downwards."""
    one, two = _lanes(STEPS), _lanes(2 * step for step in STEPS)
    run = b.and_(other, _lanes(_INSIDE))
    up = b.and_(run, b.shl(mine, one))
    down = b.and_(run, b.lshr(mine, one))
    up = b.or_(up, b.and_(run, b.shl(up, one)))
    down = b.or_(down, b.and_(run, b.lshr(down, one)))
    pairs_up = b.and_(run, b.shl(run, one))
    pairs_down = b.lshr(pairs_up, one)
    for _ in range(2):
        up = b.or_(up, b.and_(pairs_up, b.shl(up, two)))
        down = b.or_(down, b.and_(pairs_down, b.lshr(down, two)))
    return up, down


def _behind_runs(b: Any, mine: Any, other: Any) -> Any:
    """Generate the squares right behind these runs."""
    one = _lanes(STEPS)
    up, down = _runs(b, mine, other)
    return b.or_(b.shl(up, one), b.lshr(down, one))


def _flips_of_move(b: Any, mine: Any, other: Any, move: Any) -> Any:
    """Generate the flips of a move by lanes: from its square back over the runs that end there.

    The runs do not depend on the move, which is often known last. From it on there are few steps.
    """
    one, two, four = (_lanes(times * step for step in STEPS) for times in (1, 2, 4))
    flipped = ir.Constant(LANES, None)
    for run, back in zip(_runs(b, mine, other), (b.lshr, b.shl), strict=True):
        pairs = b.and_(run, back(run, one))
        fours = b.and_(pairs, back(pairs, two))
        first = b.or_(b.and_(run, back(move, one)), b.and_(pairs, back(move, two)))
        more = b.or_(b.and_(pairs, back(first, two)), b.and_(fours, back(first, four)))
        flipped = b.or_(flipped, b.or_(first, more))
    return flipped


@intrinsic
def legal_moves(typingctx: Any, mover: Any, opponent: Any) -> Any:
    """Mask of the mover's legal moves on the 8x8 board (see :func:`core.bitboard.legal_moves`)."""

    def generate(ctx: Any, b: Any, sig: Any, args: Any) -> Any:
        ends = _union(b, _behind_runs(b, _broadcast(b, args[0]), _broadcast(b, args[1])))
        return b.and_(ends, b.not_(b.or_(args[0], args[1])))

    return types.uint64(types.uint64, types.uint64), generate


@intrinsic
def has_short_move(typingctx: Any, mover: Any, opponent: Any, board: Any) -> Any:
    """True if a move turns a single disc in some direction (see
    :func:`core.bitboard.has_short_move`)."""

    def generate(ctx: Any, b: Any, sig: Any, args: Any) -> Any:
        mine, other = _broadcast(b, args[0]), _broadcast(b, args[1])
        free = _broadcast(b, b.and_(args[2], b.not_(b.or_(args[0], args[1]))))
        one = _lanes(STEPS)
        run = b.and_(other, _lanes(_INSIDE))
        up = b.shl(b.and_(run, b.shl(mine, one)), one)
        down = b.lshr(b.and_(run, b.lshr(mine, one)), one)
        ends = b.bitcast(b.and_(b.or_(up, down), free), ir.IntType(256))
        return b.icmp_unsigned("!=", ends, ir.Constant(ir.IntType(256), 0))

    return types.boolean(types.uint64, types.uint64, types.uint64), generate


@intrinsic
def flips(typingctx: Any, mover: Any, opponent: Any, square: Any) -> Any:
    """Mask of the discs a move to ``square`` flips (see :func:`core.bitboard.flips`)."""

    def generate(ctx: Any, b: Any, sig: Any, args: Any) -> Any:
        move = b.shl(ir.Constant(I64, 1), args[2])
        mine, other, moved = (_broadcast(b, mask) for mask in (args[0], args[1], move))
        return _union(b, _flips_of_move(b, mine, other, moved))

    return types.uint64(types.uint64, types.uint64, types.uint64), generate


@intrinsic
def advance(typingctx: Any, mover: Any, opponent: Any, move: Any) -> Any:
    """The position after a move, and its legal moves (see :func:`core.bitboard.advance`).

    In a game each move depends on the one before. So the flips stay in the vectors from which the
    next moves are made, and what does not depend on the move is computed before it is known.
    """

    def generate(ctx: Any, b: Any, sig: Any, args: Any) -> Any:
        mover, opponent, move = args
        mine, other, moved = (_broadcast(b, mask) for mask in args)
        flipped = _union_in_lanes(b, _flips_of_move(b, mine, other, moved))
        after = b.xor(other, flipped), b.xor(b.or_(mine, moved), flipped)
        moves = _union(b, _behind_runs(b, *after))
        occupied = b.or_(b.or_(mover, opponent), move)
        flips = b.extract_element(flipped, ir.Constant(I32, 0))
        after = b.xor(opponent, flips), b.xor(b.or_(mover, move), flips)
        masks = [*after, b.and_(moves, b.not_(occupied))]
        return ctx.make_tuple(b, sig.return_type, masks)

    return types.UniTuple(types.uint64, 3)(types.uint64, types.uint64, types.uint64), generate


@intrinsic
def deposit(typingctx: Any, source: Any, mask: Any) -> Any:
    """The lowest bits of ``source`` in the places of the set bits of ``mask``; BMI2 on x86-64."""

    def generate(ctx: Any, b: Any, sig: Any, args: Any) -> Any:
        kind = ir.FunctionType(I64, [I64, I64])
        function = cgutils.get_or_insert_function(b.module, kind, "llvm.x86.bmi.pdep.64")
        return b.call(function, args)

    return types.uint64(types.uint64, types.uint64), generate
