"""Inputs that are almost right, or anything at all, drawn by chance: they are read, or refused in
one line.

Each number is a seed, so an input can be drawn again. FUZZ_EXAMPLES=100000 in the environment sets
the number of inputs of each nightly test.
"""

from __future__ import annotations

import inspect
import os
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Test = Callable[..., None]

FEW = 100
"""Inputs of a default test."""
MANY = 20_000
"""Inputs of a nightly test that needs less than a minute for them."""
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


class Draw(random.Random):
    """One input. drawn: all that it consists of, to be shown when it fails."""

    def __init__(self, seed: int) -> None:
        super().__init__(seed)
        self.drawn: list[str | bytes] = []

    def anything(self, most: int = 40) -> str:
        """Any characters, mostly of the ASCII kind."""
        ends = (128, 128, 256, 0x2100, 0x110000)
        text = "".join(chr(self.randrange(self.choice(ends))) for _ in range(self.randrange(most)))
        self.drawn.append(text)
        return text

    def edited(self, *texts: str) -> str:
        """A text after a few changes: a piece put in, something taken out, doubled, or cut off."""
        text = self.choice(texts)
        for _ in range(self.randrange(5)):
            start = self.randrange(len(text) + 1)
            end = min(len(text), start + self.randrange(9))
            match self.randrange(8):
                case 0:
                    text = text[:start] + text[end:]
                case 1:
                    text = text[:end] + text[start:]
                case 2:
                    text = text[:start]
                case 3:
                    text = text[:start] + chr(self.randrange(0x3000)) + text[end:]
                case _:
                    text = text[:start] + self.choice(PIECES) + text[end:]
        self.drawn.append(text)
        return text

    def text(self, *texts: str) -> str:
        """A text that is almost right, or now and then anything."""
        return self.anything() if self.random() < 0.15 else self.edited(*texts)

    def damaged(self, content: bytes) -> bytes:
        """Bytes after a few changes."""
        new = bytearray(content)
        for _ in range(self.randrange(1, 6)):
            start = self.randrange(len(new) + 1)
            match self.randrange(6):
                case 0:
                    del new[start:]
                case 1:
                    new[start : start + 512] = bytes(min(512, len(new) - start))
                case 2:
                    new[start:start] = self.randbytes(self.randrange(1, 5))
                case _:
                    piece = self.randbytes(self.randrange(1, 5))
                    new[start : start + len(piece)] = piece
        self.drawn.append(bytes(new))
        return bytes(new)


def fuzzed(most: int = MANY, few: int = FEW) -> Callable[[Test], Test]:
    """Call a test with a ``draw`` for each of few inputs, and nightly for ``most``."""

    def decorate(test: Test) -> Test:
        def repeated(inputs: int, **fixtures: Any) -> None:
            for number in range(inputs):
                draw = Draw(number)
                try:
                    test(draw, **fixtures)
                except BaseException as error:
                    error.add_note(f"input {number}: {draw.drawn!r:.3000}")
                    raise

        _, *fixtures = inspect.signature(test).parameters.values()
        number = inspect.Parameter("inputs", inspect.Parameter.KEYWORD_ONLY)
        repeated.__signature__ = inspect.Signature([*fixtures, number])  # type: ignore[attr-defined]
        repeated.__name__, repeated.__doc__ = test.__name__, test.__doc__
        repeated.__module__ = test.__module__
        many = int(os.environ.get("FUZZ_EXAMPLES", most))
        nightly = pytest.param(many, marks=pytest.mark.nightly)
        return pytest.mark.parametrize("inputs", [min(few, most), nightly])(repeated)

    return decorate


def refused(parse: Callable[[], object], longest: int = LONGEST) -> bool:
    """Check that what cannot be read is told in one line of at most so many characters; return True
    then."""
    try:
        parse()
    except ValueError as error:
        said = str(error)
        assert "\n" not in said
        assert 0 < len(said) < longest
        return True
    return False


def stored(path: Path, text: str) -> Path:
    """Write a text into a file, half a character too."""
    path.write_bytes(text.encode("utf-8", "surrogatepass"))
    return path
