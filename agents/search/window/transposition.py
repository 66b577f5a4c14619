"""The transposition table: a search's knowledge of positions it meets again.

An entry holds the whole position, so that two positions are never mistaken for each other. With it
stand a lower and an upper bound of its value at one depth, the best or refuting move, and the
generation (number of the search) that wrote it. A bucket of two entries fills one cache line.

Most positions that are looked up are not there, and the table is too large for the processor's
cache. So each entry has a *tag*, eight more bits of its position's hash, in an array of their own
that fits there. An entry with another tag than the position's is not looked at.

Replacement: a position that is in its bucket already is overwritten, unless the entry is of this
generation and deeper. Otherwise the first place keeps the deeper result. If the new one is as deep,
or the first entry is of an older generation, the new one takes the first place, and the entry there
moves to the second. If not, the new one takes the second place. The entry in the second place is
lost.

Bounds are used only for exactly the depth they were found at, unless ``table_any_depth`` is set: a
deeper result is often the better estimate, but the search no longer gives minimax's value.
"""

from __future__ import annotations

import numpy as np

from othello_lab.agents.search.context import (
    ANY_DEPTH,
    GENERATION,
    MAX_DEPTH,
    OLDEST,
    TABLE,
    TABLE_SHIFT,
    TAGS,
)
from othello_lab.agents.search.table import GOLDEN_RATIO, LOG_BUCKET_BYTES, TableMemory
from othello_lab.core.system.compile import Address, Int, Mask, kernel
from othello_lab.core.vector import load, load_half, prefetch, put_byte, store

# An entry: four words; two entries are a bucket.
_MOVER, _OPPONENT, _BOUNDS, _ABOUT = range(4)
_WORDS = 4
_LOG_BUCKET = np.uint64(LOG_BUCKET_BYTES)
# Tags: of a bucket two bytes, that of the first place first.
_TAG_BITS, _LOG_TAGS = np.uint64(8), np.uint64(1)
# The last word: depth, move, generation.
_MOVE_SHIFT, _GENERATION_SHIFT = np.int64(8), np.int64(16)
_BYTE = np.int64(0xFF)
_HALF = np.int64(32)

# Odd numbers with well mixed bits: the fractional parts of the square roots of 2 and 3.
_SECOND, _THIRD = np.uint64(0x6A09E667F3BCC909), np.uint64(0xBB67AE8584CAA73B)
_TURN = np.uint64(32)

NO_MOVE = np.int64(0x7F)
NOT_FOUND = np.intp(0)


def new_tags(table: TableMemory) -> np.ndarray:
    """Tags of an empty table, uint16, shape (buckets,)."""
    return np.zeros(len(table.words) * table.words.itemsize >> LOG_BUCKET_BYTES, dtype=np.uint16)


def new_generation(context: np.ndarray, forget: bool) -> None:
    """A new search begins; with ``forget`` entries of all earlier ones count as empty."""
    context[GENERATION] += 1
    if forget:
        context[OLDEST] = context[GENERATION]


# ------------------------------------------------------------------ kernels


@kernel
def _hash(mover: Mask, opponent: Mask) -> Mask:
    mixed = mover * GOLDEN_RATIO ^ (opponent ^ (opponent >> _TURN)) * _SECOND
    return (mixed ^ (mixed >> _TURN)) * _THIRD


@kernel
def bucket(context: Address, mover: Mask, opponent: Mask) -> Address:
    """Address of the bucket a position belongs to."""
    number = _hash(mover, opponent) >> np.uint64(load(context, TABLE_SHIFT))
    return load(context, TABLE) + np.intp(number << _LOG_BUCKET)


@kernel
def _tags(context: Address, mover: Mask, opponent: Mask) -> Address:
    """Address of the two tags of the bucket a position belongs to."""
    number = _hash(mover, opponent) >> np.uint64(load(context, TABLE_SHIFT))
    return load(context, TAGS) + np.intp(number << _LOG_TAGS)


@kernel
def _tag(context: Address, mover: Mask, opponent: Mask) -> Int:
    """The tag of a position: the bits of its hash next to those of the bucket's number."""
    shift = np.uint64(load(context, TABLE_SHIFT)) - _TAG_BITS
    return np.int64(_hash(mover, opponent) >> shift) & _BYTE


@kernel
def expect(context: Address, mover: Mask, opponent: Mask) -> None:
    """Have the processor fetch a position's bucket, as it will be remembered soon."""
    prefetch(bucket(context, mover, opponent))


@kernel
def _entry_at(entry: Address, number: int) -> Address:
    return entry + np.intp(number * _WORDS * 8)


@kernel
def find(context: Address, mover: Mask, opponent: Mask) -> Address:
    """Address of a position's entry, NOT_FOUND if there is none that counts."""
    where = bucket(context, mover, opponent)
    tag = _tag(context, mover, opponent)
    tags = load_half(_tags(context, mover, opponent), 0)
    for number in range(2):
        entry = _entry_at(where, number)
        if (
            (tags >> np.int64(8 * number)) & _BYTE == tag
            and load(entry, _MOVER) == np.int64(mover)
            and load(entry, _OPPONENT) == np.int64(opponent)
            and load(entry, _ABOUT) >> _GENERATION_SHIFT >= load(context, OLDEST)
        ):
            return entry
    return NOT_FOUND


@kernel
def depth_of(entry: Address) -> Int:
    """The depth at which the bounds of an entry hold."""
    return load(entry, _ABOUT) & _BYTE


@kernel
def holds_at(context: Address, entry: Address, depth: Int) -> bool:
    """Return True if the bounds of an entry may be used for a search of this depth. Deeper ones
    only where the number of plies is as even or odd: values of even and odd depths differ."""
    found_at = depth_of(entry)
    if load(context, ANY_DEPTH) == 0 or found_at > MAX_DEPTH:
        return bool(found_at == depth)
    return bool(found_at >= depth and (found_at - depth) & np.int64(1) == 0)


@kernel
def hint_of(entry: Address) -> Int:
    """Its best or refuting move; NO_MOVE if none is known."""
    return (load(entry, _ABOUT) >> _MOVE_SHIFT) & _BYTE


@kernel
def lower_of(entry: Address) -> Int:
    """Return the lower bound of the position's worth."""
    return load(entry, _BOUNDS) >> _HALF


@kernel
def upper_of(entry: Address) -> Int:
    """Return the upper bound of the position's worth."""
    return (load(entry, _BOUNDS) << _HALF) >> _HALF


@kernel
def remember(
    context: Address, mover: Mask, opponent: Mask, depth: Int, lower: Int, upper: Int, move: Int
) -> None:
    """Enter bounds and move of a position at this depth; the head of this file has the rule of
    replacement. Bounds of an entry of the same depth are narrowed, not lost."""
    where = bucket(context, mover, opponent)
    generation = load(context, GENERATION)
    entry = find(context, mover, opponent)
    if entry != NOT_FOUND:
        known = load(entry, _ABOUT)
        if known & _BYTE > depth and known >> _GENERATION_SHIFT == generation:
            return
        if known & _BYTE == depth:
            narrowed = max(lower, lower_of(entry)), min(upper, upper_of(entry))
            if narrowed[0] <= narrowed[1]:  # as it always is, unless the search is selective
                lower, upper = narrowed
    else:
        entry = where
        tags, tag = _tags(context, mover, opponent), _tag(context, mover, opponent)
        first = load(where, _ABOUT)
        if first & _BYTE <= depth or first >> _GENERATION_SHIFT != generation:
            second = _entry_at(where, 1)
            for word in range(_WORDS):
                store(second, word, load(where, word))
            put_byte(tags + 1, load_half(tags, 0))
            put_byte(tags, tag)
        else:
            entry = _entry_at(where, 1)
            put_byte(tags + 1, tag)
    store(entry, _MOVER, np.int64(mover))
    store(entry, _OPPONENT, np.int64(opponent))
    store(entry, _BOUNDS, (lower << _HALF) | (upper & np.int64(0xFFFFFFFF)))
    store(entry, _ABOUT, depth | (move << _MOVE_SHIFT) | (generation << _GENERATION_SHIFT))
