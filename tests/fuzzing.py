"""Inputs that are almost right, or anything at all: they are read, or refused in one line.

FUZZ_EXAMPLES=100000 in the environment sets the number of inputs of each nightly test.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, AnyStr

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

LONGEST = 1500
"""Characters of a refusal."""

PIECES = [
    *"XO-*.[]();:/=,'\"\\ \n\t0123456789abcdefghBW",
    "pass",
    "--",
    "(;",
    ";)",
    "B[",
    "9" * 5000,
]
PIECES += ["\0", "\N{ARABIC-INDIC DIGIT FIVE}", "\N{SUPERSCRIPT TWO}", "\ud800", "\ufeff", "\u2028"]
PIECES += ["nan", ".inf", "1e999", "null", "{", "&a", "*a", "!!python/name:os.system", "\r"]
PIECES += ["${oc.env:A}", "${a}", "~", "-1", "0", "1_0", "0x1", "true", "[[[[", "{{{{", "<<: "]

PUT_IN, PUT_OVER, TAKEN_OUT, DOUBLED, CUT_OFF = CHANGES = range(5)
Change = tuple[int, int, int, AnyStr]
"""A place, a length, one of CHANGES, and a piece."""


def changed(text: AnyStr, changes: Sequence[Change[AnyStr]]) -> AnyStr:
    for at, length, how, piece in changes:
        start = at % (len(text) + 1)
        before, after = text[:start], text[start + length :]
        if how == PUT_IN:
            text = before + piece + after
        elif how == PUT_OVER:
            text = before + piece + text[start + len(piece) :]
        elif how == TAKEN_OUT:
            text = before + after
        elif how == DOUBLED:
            text = text[: start + length] + text[start:]
        else:
            text = before
    return text


def edited(*right: AnyStr) -> st.SearchStrategy[AnyStr]:
    """Texts or bytes, each one of the right ones after a few changes."""
    pieces: Any = st.sampled_from(PIECES) | st.characters()
    if isinstance(right[0], bytes):
        pieces = st.binary(min_size=1, max_size=4) | st.just(bytes(512))
    hows = st.sampled_from([*CHANGES, *2 * [PUT_IN, PUT_OVER]])
    change = st.tuples(st.integers(0, 1 << 20), st.integers(0, 8), hows, pieces)
    return st.builds(changed, st.sampled_from(right), st.lists(change, max_size=4))


def almost(*right: AnyStr) -> st.SearchStrategy[AnyStr]:
    """Edited ones, or now and then anything."""
    if isinstance(right[0], bytes):
        return st.one_of(*3 * [edited(*right)], st.binary(max_size=200))
    ascii_text = st.text(st.characters(max_codepoint=127), max_size=40)
    return st.one_of(*3 * [edited(*right)], ascii_text, st.text(st.characters(), max_size=40))


def fuzzed(few: int = 30, many: int = 2000) -> pytest.MarkDecorator:
    """Mark a test that gets the number of ``inputs``: few, and nightly many."""
    many = int(os.environ.get("FUZZ_EXAMPLES", many))
    nightly = pytest.param(many, marks=pytest.mark.nightly)
    return pytest.mark.parametrize("inputs", [few, nightly])


def fuzz(inputs: int, test: Callable[[st.DataObject], None]) -> None:
    """Call a test with so many inputs."""
    checks = list(HealthCheck)
    settings(max_examples=inputs, suppress_health_check=checks)(given(st.data())(test))()


def refused(parse: Callable[[], object], longest: int = LONGEST) -> None:
    """Check that what cannot be read is told in one line of at most so many characters."""
    try:
        parse()
    except ValueError as error:
        said = str(error)
        assert "\n" not in said
        assert 0 < len(said) < longest


def stored(path: Path, content: str | bytes) -> Path:
    """Write into a file, half a character too."""
    if isinstance(content, str):
        content = content.encode("utf-8", "surrogatepass")
    path.write_bytes(content)
    return path
