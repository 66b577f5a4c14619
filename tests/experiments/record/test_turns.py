"""The turns of games as a record keeps them."""

from __future__ import annotations

import pytest

from othello_lab.experiments.record.store import MoveRow, read_turns, written


@pytest.mark.parametrize(("digits", "fits"), [(2**63 - 1, True), (2**63, False), (-(2**63), True)])
def test_numbers_of_turns_fit_64_bits(digits: int, fits: bool) -> None:
    row = MoveRow(0, 9, 1, 19, None, 4, digits, 1, 5, 4, 4, waited_nanoseconds=0, late=0)
    text = written([row])
    if fits:
        (again,) = read_turns(0, text)
        assert again.nanoseconds == digits
    else:
        with pytest.raises(ValueError, match="64 bits"):
            read_turns(0, text)
