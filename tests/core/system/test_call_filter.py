"""The numbers of system calls are those of the kernel's headers, where these are installed."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from othello_lab.core.system import call_filter

HEADERS = [
    Path("/usr/include/x86_64-linux-gnu/asm/unistd_64.h"),
    Path("/usr/include/asm-generic/unistd.h"),
]
ROW = re.compile(r'"(\w+)": \((\d+|None), (\d+|None)\)')


@pytest.mark.parametrize("column", range(2), ids=["x86-64", "ARM"])
def test_calls_have_the_kernels_numbers(column: int) -> None:
    if not HEADERS[column].exists():
        pytest.skip("the kernel's headers are not installed")
    defined = r"^#define __NR(?:3264)?_(\w+)\s+(\d+)"
    numbers = dict(re.findall(defined, HEADERS[column].read_text(), re.MULTILINE))
    rows = ROW.findall(Path(str(call_filter.__file__)).read_text(encoding="utf-8"))
    assert len(rows) > 40
    # A header may be older than a call.
    known = {name: given[column] for name, *given in rows if name in numbers}
    assert known == {name: numbers[name] for name in known}
    assert len(known) > 30
