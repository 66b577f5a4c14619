"""Files with a heuristic that cannot be compiled: the message has the line, the construct there and
a cure, and nothing of the compiler's own words."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Callable
from pathlib import Path

import pytest
from refusals import refused, refuses

from othello_lab import Agent, Evaluation, Position, run_match
from othello_lab.__main__ import main
from othello_lab.agents.config import ConfigError
from othello_lab.agents.evaluation import FunctionEvaluation
from othello_lab.agents.evaluation.evaluation import compile_evaluation
from othello_lab.experiments.config import read

HEAD = """\
import math, os
import numpy as np
from functools import lru_cache
from othello_lab.agents.evaluation import heuristic
from othello_lab.agents.evaluation.helpers import CORNERS, around, count, moves, squares

"""

FILES: dict[str, tuple[str, str, str]] = {
    "global dict": ("dict tuple", "W = {'corner': 10}", "return W['corner'] * count(mover)  #!"),
    "dict of two kinds": ("dict", "", "w = {'corner': 10, 1: 3}  #!\nreturn w[1] + count(mover)"),
    "default dict": (
        "dict",
        "def f(m, w={1: 2}):  #!\n    return w[1] * count(m)",
        "return f(mover)",
    ),
    "global list": ("list tuple", "W = [[1, 2], [3]]", "x = 1\nreturn W[0][1] + x  #!"),
    "empty list": ("'x' element", "", "x = []  #!\nreturn count(mover)"),
    "tuple of two kinds": (
        "tuple",
        "",
        "n, w = 0.0, (1, (2, 3))\nfor i in range(1):\n    n += w[i]  #!\nreturn n",
    ),
    "changed tuple": ("tuple list", "", "t = (1, 2)\nt[0] = count(mover)  #!\nreturn t[0]"),
    "returned tuple": ("returns integer", "", "x = 1\nreturn count(mover), x  #!"),
    "global set": ("set mask", "GOOD = {0, 7}", "return 1 if count(mover) in GOOD else 0  #!"),
    "set": ("set", "", "s = {1, 'a'}  #!\nreturn len(s)"),
    "string": ("string number", "", "x = 'n'\nreturn count(mover) + x  #!"),
    "name of a phase": (
        "string",
        "",
        "x = 'early' if count(mover) < 9 else 3  #!\nreturn count(mover)",
    ),
    "f-string": ("f-string", "", "x = f'{count(mover):>3}'  #!\nreturn len(x)"),
    "bits as text": ("bin count", "", "n = 0\nreturn n + bin(mover).count('1')  #!"),
    "print": ("leave out", "", "print(count(mover), end='')  #!\nreturn 1"),
    "float shift": ("float //", "", "half = count(mover) / 2\nreturn count(mover >> half)  #!"),
    "float index": ("float //", "W = (1, 2, 3)", "return W[count(mover) / 32]  #!"),
    "float size": ("float //", "", "x = np.zeros(count(mover) / 2)  #!\nreturn x.sum()"),
    "float mask": ("float mask", "", "x = mover * 0.5\nreturn count(x & opponent)  #!"),
    "try": (
        "`try` if",
        "",
        "x = 3\ntry:  #!\n    x = x // count(opponent)\nexcept ZeroDivisionError:\n    x = 0\nreturn x",
    ),
    "with": ("`with`", "", "with np.errstate(divide='ignore'):  #!\n    return count(mover)"),
    "generator": ("generator [ ]", "", "return sum(count(mover) >> s for s in range(3))  #!"),
    "generator of a helper": (
        "generator loop",
        "def bits(m):\n    yield m\n\n",
        "x = 0\nreturn sum(bits(mover)) + x  #!",
    ),
    "lambda": ("lambda def", "", "return max([1, 2], key=lambda x: -x)  #!"),
    "recursion in a helper": (
        "Recursion if",
        "def f(n):\n    return n * f(n - 1)  #!",
        "return f(count(mover))",
    ),
    "changed global": (
        "global return",
        "CALLS = 0\ndef note():\n    global CALLS\n    CALLS += 1  #!",
        "note()\nreturn count(mover)",
    ),
    "changed array": ("array copy", "W = np.array([1, 2])", "W[0] = count(mover)  #!\nreturn W[0]"),
    "unknown to NumPy's compiler": ("unpackbits loop", "", "return np.unpackbits(mover).sum()  #!"),
    "array of two kinds": ("array", "", "x = 1\nreturn np.array([x, 'a'])[0]  #!"),
    "no return": ("None `return`", "", "x = 1\nx += count(mover)  #!"),
    "no return in a branch": ("None `return`", "", "x = 1\nif count(mover) > 9:  #!\n    return x"),
    "no return in a helper": (
        "None f `return`",
        "def f(m):\n    count(m)",
        "x = 2\nreturn x + f(mover)  #!",
    ),
    "too many arguments": ("count() argument", "", "return count(mover, opponent)  #!"),
    "too few arguments": (
        "f() argument",
        "def f(a, b):\n    return count(a)",
        "return f(mover)  #!",
    ),
    "typing error": ("'cuont' 'count'", "", "x = 1\nreturn cuont(mover) + x  #!"),
    "typing error in a helper": (
        "'move' 'moves'",
        "def f(a, b):\n    x = 1\n    return x + count(move(a, b))  #!",
        "return f(mover, opponent)",
    ),
    "typing error where no game comes": (
        "'cuont' 'count'",
        "",
        "if count(mover) > 64:\n    return cuont(mover)  #!\nreturn 1",
    ),
    "attribute": ("bit_length count(", "", "x = 1\nreturn mover.bit_length() + x  #!"),
    "large number": ("64 bits", "", "x = 1\nreturn count(mover & 0x1FFFFFFFFFFFFFFFF) + x  #!"),
    "large global number": ("'BIG' 64 bits", "BIG = 1 << 70", "return count(int(mover) & BIG)  #!"),
    "None": ("None number", "", "x = None\nreturn 1 if count(mover) > x else 0  #!"),
    "first None": (
        "None number",
        "",
        "best = None  #!\nfor s in range(3):\n    if best is None or s > best:\n        best = s\n"
        "return best",
    ),
    "class": (
        "'Board' class",
        "class Board:\n    weight = 3",
        "x = 1\nreturn Board.weight + x  #!",
    ),
    "object": ("'W' object", "class Board:\n    weight = 3\nW = Board()", "return W.weight  #!"),
    "class within": ("class", "", "class Board:  #!\n    weight = 3\nreturn Board.weight"),
    "import within": ("import head", "", "x = 2\nfrom math import floor  #!\nreturn floor(x)"),
    "default list": ("'w' default", "", "return w[0] * count(mover)"),
    "division by zero": (
        "ZeroDivision if",
        "",
        "x = 3\nreturn x // (count(mover) - count(mover))  #!",
    ),
    "negative shift": ("shift 63", "", "d = -8\nreturn count(mover << d)  #!"),
    "signed mask": ("squares", "", "x = 60\nreturn count((mover | 0x7FFFFFFFFFFFFFFF) >> x)  #!"),
    "module": ("getpid", "", "x = 1\nreturn os.getpid() % 2 + x  #!"),
    "wrapper": ("'f' def", "@lru_cache\ndef f(x):\n    return x", "return f(count(mover))  #!"),
    "unpacking": ("values", "", "a, b, c = (1, count(mover))  #!\nreturn a"),
    "two kinds": ("'x' tuple", "", "x = 0\nif count(mover) > 5:\n    x = (1, 2)  #!\nreturn x"),
    "truth": ("returns", "", "x = 3\nreturn count(mover) > x  #!"),
}
"""Words of the message, what stands before the function, and its body; `#!` marks the line."""


def file_of(name: str) -> str:
    _, before, body = FILES[name]
    more = ", w=[1]" if name == "default list" else ""
    head = f"@heuristic\ndef wrong(mover, opponent{more}):{'  #!' if more else ''}\n"
    return f"{HEAD}{before}\n\n{head}{textwrap.indent(body, '    ')}\n"


@pytest.mark.integration
@pytest.mark.parametrize("name", FILES)
def test_the_message_names_line_construct_and_cure(name: str, tmp_path: Path) -> None:
    code = file_of(name)
    (line,) = (n for n, text in enumerate(code.splitlines(), 1) if text.endswith("#!"))
    (tmp_path / "mine.py").write_text(code.replace("  #!", ""))
    with pytest.raises(ValueError, match="mine.py:wrong'") as refusal:
        FunctionEvaluation(f"{tmp_path}/mine.py:wrong")
    message = str(refusal.value)
    source = code.splitlines()[line - 1].removesuffix("  #!").strip()
    assert f": line {line}, `{source}`: " in message, message
    assert all(word in message for word in FILES[name][0].split()), message
    told = message.replace(source, "")
    words = (
        "umba|nopython|Literal|Untyped|reflected|opcode|signature|0x|\n|candidate|Tuple\\(|int64 "
    )
    assert not re.search(words, told), message
