"""Vectors of whole numbers in compiled code, for the sums of a network's layers.

A value of these types lives in the processor's vector registers. LLVM splits it into as many
registers as it needs, so the same code runs on every processor at full speed.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic, models, register_model

from othello_lab.core.bitboard import VECTORISED

_I16, _I32, _I64 = ir.IntType(16), ir.IntType(32), ir.IntType(64)
_MADD = 16


class SimdType(types.Type):
    """A vector of ``count`` whole numbers of ``bits`` bits."""

    def __init__(self, bits: int, count: int) -> None:
        self.bits, self.count = bits, count
        super().__init__(name=f"Lanes({bits}, {count})")

    @property
    def vector(self) -> ir.VectorType:
        """The LLVM type."""
        return ir.VectorType(ir.IntType(self.bits), self.count)


@register_model(SimdType)
class _SimdModel(models.PrimitiveModel):
    def __init__(self, manager: Any, kind: SimdType) -> None:
        super().__init__(manager, kind, kind.vector)


def _splat(kind: ir.VectorType, value: int) -> Any:
    return ir.Constant(kind, [value] * kind.count)


def _load(b: Any, kind: ir.VectorType, address: Any) -> Any:
    return b.load(b.inttoptr(address, kind.as_pointer()), align=4)


def _clip(b: Any, value: Any, most: int) -> Any:
    low, high = _splat(value.type, 0), _splat(value.type, most)
    value = b.select(b.icmp_signed(">", value, low), value, low)
    return b.select(b.icmp_signed("<", value, high), value, high)


def _undefined(kind: ir.VectorType) -> Any:
    return ir.Constant(kind, ir.Undefined)


def _pick(b: Any, value: Any, places: Sequence[int]) -> Any:
    """Generate a vector of the numbers at these places."""
    chosen = ir.Constant(ir.VectorType(_I32, len(places)), list(places))
    return b.shuffle_vector(value, _undefined(value.type), chosen)


def _add_products_of_pairs(b: Any, one: Any, other: Any) -> Any:
    """Generate the products of 2n numbers of 16 bits, added in pairs: n numbers of 32 bits."""
    count = one.type.count
    if not VECTORISED or count % _MADD:
        wide = ir.VectorType(_I32, count)
        products = b.mul(b.sext(one, wide), b.sext(other, wide))
        return b.add(*(_pick(b, products, range(half, count, 2)) for half in (0, 1)))
    # AVX2 has one instruction for all of this, but LLVM does not choose it by itself.
    argument, result = ir.VectorType(_I16, _MADD), ir.VectorType(_I32, _MADD // 2)
    kind = ir.FunctionType(result, [argument, argument])
    function = cgutils.get_or_insert_function(b.module, kind, "llvm.x86.avx2.pmadd.wd")
    parts = []
    for first in range(0, count, _MADD):
        places = range(first, first + _MADD)
        parts.append(b.call(function, [_pick(b, vector, places) for vector in (one, other)]))
    while len(parts) > 1:
        joined = ir.VectorType(_I32, 2 * parts[0].type.count)
        order = ir.Constant(joined, list(range(joined.count)))
        parts = [b.shuffle_vector(*pair, order) for pair in zip(*[iter(parts)] * 2, strict=True)]
    return parts[0]


@intrinsic(prefer_literal=True)
def lanes_at(typingctx: Any, bits: Any, count: Any, address: Any) -> Any:
    """Load ``count`` numbers of ``bits`` bits (literals) from an address divisible by 4."""
    kind = SimdType(bits.literal_value, count.literal_value)

    def generate(ctx: Any, b: Any, sig: Any, args: Any) -> Any:
        return _load(b, kind.vector, args[2])

    return kind(bits, count, types.intp), generate


@intrinsic
def plus(typingctx: Any, one: Any, other: Any) -> Any:
    """Return the sums, number by number."""
    return one(one, other), lambda ctx, b, sig, args: b.add(*args)


@intrinsic(prefer_literal=True)
def shift_and_clip(typingctx: Any, value: Any, shift: Any, most: Any) -> Any:
    """Divide each number by 2^shift, round down, and clip to 0..most (shift, most: literals)."""

    def generate(ctx: Any, b: Any, sig: Any, args: Any) -> Any:
        shifted = b.ashr(args[0], _splat(value.vector, shift.literal_value))
        return _clip(b, shifted, most.literal_value)

    return value(value, shift, most), generate


@intrinsic
def plus_product(typingctx: Any, total: Any, inputs: Any, weights: Any) -> Any:
    """Return ``total + weights x inputs``, a matrix times a vector.

    total: n numbers of 32 bits. inputs: m of 16 bits, m even. weights: the address of n x m of 16
    bits in the order (m / 2, n, 2): processors multiply a pair of inputs by the pairs of all
    outputs in one instruction.
    """
    outputs = total.count

    def generate(ctx: Any, b: Any, sig: Any, args: Any) -> Any:
        value, vector, address = args
        pairs = ir.VectorType(_I32, inputs.count // 2)
        wide, narrow = ir.VectorType(_I32, outputs), ir.VectorType(_I16, 2 * outputs)
        vector = b.bitcast(vector, pairs)
        for k in range(pairs.count):
            spread = b.shuffle_vector(vector, _undefined(pairs), ir.Constant(wide, [k] * outputs))
            row = _load(b, narrow, b.add(address, ir.Constant(_I64, 4 * outputs * k)))
            value = b.add(value, _add_products_of_pairs(b, b.bitcast(spread, narrow), row))
        return value

    return total(total, inputs, types.intp), generate


@intrinsic
def dot(typingctx: Any, one: Any, other: Any) -> Any:
    """Return the sum of the products, as int64; numbers and sum have 32 bits."""

    def generate(ctx: Any, b: Any, sig: Any, args: Any) -> Any:
        kind = one.vector
        function = ir.FunctionType(_I32, [kind])
        name = f"llvm.vector.reduce.add.v{kind.count}i32"
        total = cgutils.get_or_insert_function(b.module, function, name)
        return b.sext(b.call(total, [b.mul(*args)]), _I64)

    return types.int64(one, other), generate
