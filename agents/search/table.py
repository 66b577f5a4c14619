"""The memory of transposition tables: buckets of 64 bytes, each a line of the processor's cache."""

from __future__ import annotations

import numpy as np

from othello_lab.core.system.memory import memory_of_machine
from othello_lab.core.system.settings import Constraint

BUCKET_BYTES = 64
LOG_BUCKET_BYTES = 6
_BUCKET_WORDS = BUCKET_BYTES // 8
_MEGABYTE = 1 << 20

GOLDEN_RATIO = np.uint64(0x9E3779B97F4A7C15)
"""The fractional part of the golden ratio in 64 bits: an odd number with well mixed bits, to hash
with."""


class Megabytes(Constraint):
    """A size that a table can have on this machine."""

    needed = "a whole number of MB, 1 or more,"

    def allows(self, value: object) -> bool:
        memory = memory_of_machine()
        return type(value) is int and value >= 1 and (memory is None or value <= memory)

    def refusal(self, name: str, value: object, optional: bool) -> str:
        if type(value) is int and value >= 1:
            return f"{name}={value}: this machine has {memory_of_machine()} MB of memory"
        return super().refusal(name, value, optional)


class TableMemory:
    """2^bits buckets, at first full of zeros.

    words: int64, shape (8 * 2^bits,). address: of the first bucket. shift: number of bits that a
    hash of 64 bits is shifted by to be the number of a bucket.
    """

    def __init__(self, bits: int) -> None:
        number = _BUCKET_WORDS << bits
        reserved = np.zeros(number + _BUCKET_WORDS, dtype=np.int64)
        start = -reserved.ctypes.data % BUCKET_BYTES // 8
        self.words = reserved[start : start + number]
        self.address = int(self.words.ctypes.data)
        self.shift = 64 - bits

    @classmethod
    def of(cls, megabytes: int) -> TableMemory:
        """As many buckets as fit, of the powers of two."""
        return cls((megabytes * _MEGABYTE // BUCKET_BYTES).bit_length() - 1)
