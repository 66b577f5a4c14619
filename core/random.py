"""Random numbers drawn in compiled code as numpy draws them, bit for bit.

``numpy.random.default_rng(seed).integers(n)`` is three published methods, one after another: the
seed is stirred into a state (O'Neill's ``seed_seq_fe``, numpy's ``SeedSequence``), the state makes
32-bit numbers (PCG64: O'Neill, "PCG: A Family of Simple Fast Space-Efficient Statistically Good
Algorithms for Random Number Generation", 2014; XSL-RR 128/64, each 64 bits used as two halves, the
lower first), and such a number becomes one below n without bias (Lemire, "Fast Random Integer
Generation in an Interval", 2019). The constants are those of the papers and of numpy 2.

A generator is WORDS numbers of int64 at an address.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from othello_lab.core.bitboard import ONE, ZERO, nth_bit, popcount
from othello_lab.core.system.compile import Address, Int, Mask, kernel
from othello_lab.core.vector import load, store

WORDS = 6
"""int64 numbers of a generator: state (high, low), increment (high, low), whether half of the last
64 bits is kept, and that half."""
_HIGH, _LOW, _STEP_HIGH, _STEP_LOW, _HAS_HALF, _HALF = (np.int64(index) for index in range(WORDS))

_32 = np.uint64(32)
_HALF_BITS = np.uint64(0xFFFFFFFF)
_SHIFT = np.uint64(16)
_POOL = 4  # words of 32 bits

_INIT_A, _MULTIPLY_A = np.uint64(0x43B0D7E5), np.uint64(0x931E8875)
_INIT_B, _MULTIPLY_B = np.uint64(0x8B51F9DD), np.uint64(0x58F38DED)
_MIX_LEFT, _MIX_RIGHT = np.uint64(0xCA01F9DD), np.uint64(0x4973F715)
_PCG_HIGH, _PCG_LOW = np.uint64(0x2360ED051FC65DA4), np.uint64(0x4385DF649FCCF645)
_ROTATION, _BITS = np.uint64(58), np.uint64(63)


@kernel
def _product_high(a: np.uint64, b: np.uint64) -> np.uint64:
    """The upper 64 bits of a product."""
    a_low, a_high = a & _HALF_BITS, a >> _32
    b_low, b_high = b & _HALF_BITS, b >> _32
    middle = a_high * b_low + ((a_low * b_low) >> _32)
    other = a_low * b_high + (middle & _HALF_BITS)
    return a_high * b_high + (middle >> _32) + (other >> _32)


@kernel
def _stirred(word: np.uint64, constant: np.uint64, factor: np.uint64) -> np.uint64:
    """SeedSequence's ``hashmix``; its hash constant is multiplied before the next use."""
    word = ((word ^ constant) * ((constant * factor) & _HALF_BITS)) & _HALF_BITS
    return word ^ (word >> _SHIFT)


@kernel
def _step(generator: Address) -> None:
    """Advance the 128-bit state by one."""
    high = np.uint64(load(generator, _HIGH))
    low = np.uint64(load(generator, _LOW))
    step_low = np.uint64(load(generator, _STEP_LOW))
    product = low * _PCG_LOW
    new_low = product + step_low
    carry = ONE if new_low < product else ZERO
    new_high = _product_high(low, _PCG_LOW) + high * _PCG_LOW + low * _PCG_HIGH
    new_high += np.uint64(load(generator, _STEP_HIGH)) + carry
    store(generator, _HIGH, np.int64(new_high))
    store(generator, _LOW, np.int64(new_low))


@kernel
def seed_generator(generator: Address, seed: np.uint64) -> None:
    """Begin as ``default_rng(seed)`` begins."""
    pool = np.empty(_POOL, np.uint64)
    constant = _INIT_A
    for index in range(_POOL):
        word = ZERO
        if index == 0:
            word = seed & _HALF_BITS
        elif index == 1:
            word = seed >> _32
        pool[index] = _stirred(word, constant, _MULTIPLY_A)
        constant = (constant * _MULTIPLY_A) & _HALF_BITS
    for source in range(_POOL):
        for target in range(_POOL):
            if source != target:
                word = _stirred(pool[source], constant, _MULTIPLY_A)
                constant = (constant * _MULTIPLY_A) & _HALF_BITS
                mixed = (_MIX_LEFT * pool[target] - _MIX_RIGHT * word) & _HALF_BITS
                pool[target] = mixed ^ (mixed >> _SHIFT)
    state = np.zeros(_POOL, np.uint64)
    constant = _INIT_B
    for index in range(2 * _POOL):
        word = _stirred(pool[index % _POOL], constant, _MULTIPLY_B)
        constant = (constant * _MULTIPLY_B) & _HALF_BITS
        state[index // 2] |= word << _32 if index % 2 else word
    store(generator, _STEP_HIGH, np.int64((state[2] << ONE) | (state[3] >> _BITS)))
    store(generator, _STEP_LOW, np.int64((state[3] << ONE) | ONE))
    store(generator, _HIGH, np.int64(0))
    store(generator, _LOW, np.int64(0))
    store(generator, _HAS_HALF, np.int64(0))
    _step(generator)
    low = np.uint64(load(generator, _LOW)) + state[1]
    carry = ONE if low < state[1] else ZERO
    store(generator, _HIGH, np.int64(np.uint64(load(generator, _HIGH)) + state[0] + carry))
    store(generator, _LOW, np.int64(low))
    _step(generator)


@kernel
def _draw_32_bits(generator: Address) -> np.uint64:
    if load(generator, _HAS_HALF) != 0:
        store(generator, _HAS_HALF, np.int64(0))
        return np.uint64(load(generator, _HALF))
    _step(generator)
    high = np.uint64(load(generator, _HIGH))
    folded = high ^ np.uint64(load(generator, _LOW))
    turn = high >> _ROTATION
    drawn = (folded >> turn) | (folded << ((ZERO - turn) & _BITS))
    store(generator, _HAS_HALF, np.int64(1))
    store(generator, _HALF, np.int64(drawn >> _32))
    return drawn & _HALF_BITS


@kernel
def draw_below(generator: Address, bound: Int) -> Int:
    """A number from 0 to ``bound`` - 1, as ``integers(bound)`` draws it; 1 <= bound < 2**32."""
    below = np.uint64(bound)
    if below == ONE:
        return np.int64(0)  # numpy draws nothing for it
    product = _draw_32_bits(generator) * below
    left = product & _HALF_BITS
    if left < below:
        threshold = (_HALF_BITS - (below - ONE)) % below
        while left < threshold:
            product = _draw_32_bits(generator) * below
            left = product & _HALF_BITS
    return np.int64(product >> _32)


@kernel
def draw_bit(generator: Address, mask: Mask) -> Mask:
    """One of the set bits of a mask that is not 0, as a mask, each equally likely."""
    return nth_bit(mask, np.uint64(draw_below(generator, popcount(mask))))


def state_of(rng: np.random.Generator) -> np.ndarray:
    """A generator that goes on as this one of numpy's would. Raises ValueError unless it is a
    PCG64, as default_rng's are."""
    state = rng.bit_generator.state
    if state["bit_generator"] != "PCG64":
        raise ValueError(f"a PCG64 is needed, not a {state['bit_generator']}")
    words = []
    for name in ("state", "inc"):
        words += divmod(state["state"][name], 1 << 64)
    words += [state["has_uint32"], state["uinteger"]]
    return np.array(words, dtype=np.uint64).view(np.int64)


def spawned_words(seed: int, key: int, numbers: Sequence[int], count: int) -> np.ndarray:
    """Return ``SeedSequence(seed, spawn_key=(key, number)).generate_state(count, np.uint64)`` for
    each number, shape (numbers, count), in a fraction of the time.

    key, numbers: below 2**32.
    """
    begun = np.random.SeedSequence(seed, spawn_key=(key,))
    # The constant has changed with each word mixed in so far: the pool's own, each of them into
    # each other, and the key and whatever the pool has no room for.
    mixed = max(_POOL, -(-seed.bit_length() // 32)) + 1
    constant = int(_INIT_A) * pow(int(_MULTIPLY_A), _POOL * mixed, 1 << 32) % (1 << 32)
    words = np.array(numbers, dtype=np.uint64)
    pool = []
    for before in begun.pool.astype(np.uint64):
        word = (words ^ np.uint64(constant)) & _HALF_BITS
        constant = constant * int(_MULTIPLY_A) % (1 << 32)
        word = word * np.uint64(constant) & _HALF_BITS
        word ^= word >> _SHIFT
        word = (_MIX_LEFT * before - _MIX_RIGHT * word) & _HALF_BITS
        pool.append(word ^ (word >> _SHIFT))
    halves = np.empty((len(words), 2 * count), dtype=np.uint32)
    constant = int(_INIT_B)
    for index in range(2 * count):
        word = pool[index % _POOL] ^ np.uint64(constant)
        constant = constant * int(_MULTIPLY_B) % (1 << 32)
        word = word * np.uint64(constant) & _HALF_BITS
        halves[:, index] = word ^ (word >> _SHIFT)
    whole = halves.astype(np.uint64)
    return whole[:, ::2] | whole[:, 1::2] << _32
