"""Files with a heuristic that cannot be compiled: the message has the line, the construct there and
a cure, and nothing of the compiler's own words."""

from __future__ import annotations

import importlib
import re
import textwrap
from pathlib import Path
from typing import Any

import pytest
from refusals import refused
from runs import printed

from othello_lab import AlphaBeta, Position
from othello_lab.agents.evaluation import FunctionEvaluation
from othello_lab.agents.evaluation.evaluation import compile_evaluation

HEAD = """\
import math, os
import numpy as np
from functools import lru_cache
from othello_lab.agents.evaluation import heuristic
from othello_lab.agents.evaluation.helpers import CORNERS, around, count, moves, squares

"""

FILES = r"""
global dict ¦ dict tuple ¦ W = {'corner': 10} ¦ return W['corner'] * count(mover)  #!
dict of two kinds ¦ dict ¦ ¦ w = {'corner': 10, 1: 3}  #!\nreturn w[1] + count(mover)
default dict ¦ dict ¦ def f(m, w={1: 2}):  #!\n return w[1] * count(m) ¦ return f(mover)
global list ¦ list tuple ¦ W = [[1, 2], [3]] ¦ x = 1\nreturn W[0][1] + x  #!
empty list ¦ 'x' element ¦ ¦ x = []  #!\nreturn count(mover)
tuple of two kinds ¦ tuple ¦ ¦ n, w = 0.0, (1, (2, 3))\nfor i in range(1):\n n += w[i]  #!\nreturn n
changed tuple ¦ tuple list ¦ ¦ t = (1, 2)\nt[0] = count(mover)  #!\nreturn t[0]
returned tuple ¦ returns integer ¦ ¦ x = 1\nreturn count(mover), x  #!
global set ¦ set mask ¦ GOOD = {0, 7} ¦ return 1 if count(mover) in GOOD else 0  #!
set ¦ set ¦ ¦ s = {1, 'a'}  #!\nreturn len(s)
string ¦ string number ¦ ¦ x = 'n'\nreturn count(mover) + x  #!
name of a phase ¦ string ¦ ¦ x = 'early' if count(mover) < 9 else 3  #!\nreturn 1
f-string ¦ f-string ¦ ¦ x = f'{count(mover):>3}'  #!\nreturn len(x)
bits as text ¦ bin count ¦ ¦ n = 0\nreturn n + bin(mover).count('1')  #!
print ¦ leave out ¦ ¦ print(count(mover), end='')  #!\nreturn 1
float shift ¦ float // ¦ ¦ half = count(mover) / 2\nreturn count(mover >> half)  #!
float index ¦ float // ¦ W = (1, 2, 3) ¦ return W[count(mover) / 32]  #!
float size ¦ float // ¦ ¦ x = np.zeros(count(mover) / 2)  #!\nreturn x.sum()
float mask ¦ float mask ¦ ¦ x = mover * 0.5\nreturn count(x & opponent)  #!
try ¦ `try` if ¦ ¦ x = 3\ntry:  #!\n x //= count(opponent)\nexcept ValueError:\n x = 0\nreturn x
with ¦ `with` ¦ ¦ with np.errstate(divide='ignore'):  #!\n return count(mover)
generator ¦ generator [ ] ¦ ¦ return sum(count(mover) >> s for s in range(3))  #!
generator of a helper ¦ generator loop ¦ def f(m):\n yield m ¦ x = 0\nreturn sum(f(mover)) + x  #!
lambda ¦ lambda def ¦ ¦ return max([1, 2], key=lambda x: -x)  #!
recursion in a helper ¦ Recursion if ¦ def f(n):\n return n * f(n - 1)  #! ¦ return f(count(mover))
changed global ¦ global return ¦ N = 0\ndef f():\n global N\n N += 1  #! ¦ f()\nreturn count(mover)
changed array ¦ array copy ¦ W = np.array([1, 2]) ¦ W[0] = count(mover)  #!\nreturn W[0]
unknown to NumPy's compiler ¦ unpackbits loop ¦ ¦ return np.unpackbits(mover).sum()  #!
array of two kinds ¦ array ¦ ¦ x = 1\nreturn np.array([x, 'a'])[0]  #!
no return ¦ None `return` ¦ ¦ x = 1\nx += count(mover)  #!
no return in a branch ¦ None `return` ¦ ¦ x = 1\nif count(mover) > 9:  #!\n return x
string of a helper ¦ returns ¦ def f(m):\n return 'x'  #! ¦ x = 1\nreturn f(mover)
no return in a helper ¦ None f `return` ¦ def f(m):\n count(m) ¦ x = 2\nreturn x + f(mover)  #!
too many arguments ¦ count() argument ¦ ¦ return count(mover, opponent)  #!
too few arguments ¦ f() argument ¦ def f(a, b):\n return count(a) ¦ return f(mover)  #!
typing error ¦ 'cuont' 'count' ¦ ¦ x = 1\nreturn cuont(mover) + x  #!
misspelt helper ¦ 'coutn' 'count' ¦ def f(m):\n x = 1\n return coutn(x)  #! ¦ return f(mover)
typing error unseen ¦ 'cuont' 'count' ¦ ¦ if count(mover) > 64:\n return cuont(mover)  #!\nreturn 1
no import ¦ import head ¦ ¦ x = 1\nreturn random.random() + x  #!
attribute ¦ bit_length count( ¦ ¦ x = 1\nreturn mover.bit_length() + x  #!
large number ¦ 64 bits ¦ ¦ x = 1\nreturn count(mover & 0x1FFFFFFFFFFFFFFFF) + x  #!
large global number ¦ 'BIG' 64 bits ¦ BIG = 1 << 70 ¦ return count(int(mover) & BIG)  #!
None ¦ None number ¦ ¦ x = None\nreturn 1 if count(mover) > x else 0  #!
first None ¦ None number ¦ ¦ x = None  #!\nfor s in (2, 3):\n if x is None or s > x: x = s\nreturn x
class ¦ 'Board' class ¦ class Board:\n weight = 3 ¦ x = 1\nreturn Board.weight + x  #!
object ¦ 'W' object ¦ class Board:\n weight = 3\nW = Board() ¦ return W.weight  #!
class within ¦ class ¦ ¦ class Board:  #!\n weight = 3\nreturn Board.weight
import within ¦ import head ¦ ¦ x = 2\nfrom math import floor  #!\nreturn floor(x)
default list ¦ 'w' default ¦ ¦ return w[0] * count(mover)
division by zero ¦ ZeroDivision if ¦ ¦ x = 3\nreturn x // (count(mover) - count(mover))  #!
negative shift ¦ shift 63 ¦ ¦ d = -8\nreturn count(mover << d)  #!
signed mask ¦ squares ¦ ¦ x = 60\nreturn count((mover | 0x7FFFFFFFFFFFFFFF) >> x)  #!
module ¦ getpid ¦ ¦ x = 1\nreturn os.getpid() % 2 + x  #!
wrapper ¦ 'f' def ¦ @lru_cache\ndef f(x):\n return x ¦ return f(count(mover))  #!
unpacking ¦ values ¦ ¦ a, b, c = (1, count(mover))  #!\nreturn a
two kinds ¦ 'x' tuple ¦ ¦ x = 0\nif count(mover) > 5:\n x = (1, 2)  #!\nreturn x
truth ¦ returns ¦ ¦ x = 3\nreturn count(mover) > x  #!
"""
"""Name, words of the message, what stands before the function, its body; `#!` marks the line."""

GOOD = r"""
helpers ¦ def g(m):\n return 3 * count(m)\ndef f(m):\n return g(m) + 1 ¦ return f(mover)
recursion ¦ def f(n):\n return n and g(n - 1)\ndef g(n):\n return n and f(n - 1) ¦ return f(3)
default ¦ def f(m, w=3):\n return w * count(m) ¦ return f(mover) - f(opponent, w=2)
wrapper ¦ def d(g):\n return lambda m: 2 * g(m)\n@d\ndef f(m):\n return count(m) ¦ return f(mover)
heuristic ¦ @heuristic\ndef f(a, b):\n return count(a) - 0.5 ¦ return f(mover, opponent)
"""


def rows(table: str) -> list[Any]:
    cells = [row.replace("\\n", "\n").split("¦") for row in table.strip().splitlines()]
    return [pytest.param(*(c.removeprefix(" ") for c in row[1:]), id=row[0]) for row in cells]


@pytest.mark.integration
@pytest.mark.parametrize(("words", "before", "body"), rows(FILES))
def test_the_message_names_line_construct_and_cure(
    words: str, before: str, body: str, tmp_path: Path
) -> None:
    more = ", w=[1]" if "w[0] *" in body else ""
    head = f"@heuristic\ndef wrong(mover, opponent{more}):{'  #!' if more else ''}\n"
    lines = f"{HEAD}{before}\n\n{head}{textwrap.indent(body, '    ')}\n".splitlines()
    lines = [text.rstrip() for text in lines]
    (line,) = (n for n, text in enumerate(lines, 1) if text.endswith("#!"))
    # The compiler's messages have lines of a helpers.py of the lab, too.
    (tmp_path / "helpers.py").write_text("\n".join(lines).replace("  #!", ""))
    with pytest.raises(ValueError, match=r"helpers\.py:wrong'") as refusal:
        FunctionEvaluation(f"{tmp_path}/helpers.py:wrong")
    message, source = str(refusal.value), lines[line - 1].removesuffix("  #!").strip()
    assert f": line {line}, `{source}`: " in message, message
    assert all(word in message for word in words.split()), message
    odd = "umba|nopython|Literal|Untyped|reflected|opcode|signature|0x|\n|candidate|Tuple\\(|int64 "
    assert not re.search(odd, message.replace(source, "")), message


@pytest.mark.integration
@pytest.mark.parametrize(("before", "body"), rows(GOOD))
def test_functions_of_the_file_are_compiled_with_it(before: str, body: str, tmp_path: Path) -> None:
    code = f"{HEAD}{before}\n@heuristic\ndef right(mover, opponent, w=1):\n    {body}\n"
    (tmp_path / "mine.py").write_text(code)
    evaluation = FunctionEvaluation(f"{tmp_path}/mine.py:right")
    assert evaluation.compiled and evaluation.address
    for position in (Position.start(), Position.from_transcript("f5d6c3d3c4")):
        assert evaluation(position) == evaluation.plain(position)


OWN = """
from othello_lab import AlphaBeta, Evaluation
W = {"corner": 10}

def freedom(mover, opponent):
    return W["corner"] * count(moves(mover, opponent))

@heuristic
def wrong(mover, opponent):
    return freedom(mover, opponent)

class Wrong(Evaluation):
    @staticmethod
    def kernel(mover, opponent, parameters):
        return freedom(mover, opponent)

    def plain(self, position):
        return 0

class Player(AlphaBeta):
    def __init__(self):
        super().__init__(2, wrong)
"""
MINE = "evaluation=./mine.py:wrong"
ANSWER = (
    "mine",
    ': line 12, `return W["corner"] * ',
    "'W' is a dict; write a tuple",
    "compiled=False",
)


@pytest.mark.integration
@pytest.mark.parametrize(
    "words",
    [
        "match ./mine.py:wrong random games=2",
        f"run agents=ab_mirror {MINE}",
        f"run agents=duel agent@first=pvs first.{MINE} agent@second=random games=2",
        "agents evaluate f5d6c3 --evaluation ./mine.py:wrong",
        f"agents check alphabeta {MINE}",
        "agents check ./mine.py:Player",
        "agents check alphabeta --search --evaluation ./mine.py:wrong",
        f"play terminal black=alphabeta black.{MINE} white=random",
        f"play gtp agent=alphabeta agent.{MINE}",
        f"study pruning agents=ab_vs_minimax {MINE}",
        f"train tuned agents=ab_mirror {MINE}",
    ],
)
def test_every_command_tells_it_in_the_same_line(
    words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("mine.py").write_text(HEAD + OWN)
    said = printed(*words.split(), code=2)
    assert all(word in said for word in ANSWER), said


def test_python_tells_it_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(tmp_path))
    (tmp_path / "own_uncompilable.py").write_text(HEAD + OWN.replace("compiled", ""))
    own_uncompilable = importlib.import_module("own_uncompilable")

    line = "line 12, `return W["
    with refused(line, "'W' is a dict"):
        compile_evaluation(own_uncompilable.Wrong.kernel)
    with refused("own_uncompilable:wrong", line, "'W' is a dict"):
        AlphaBeta(2, own_uncompilable.wrong)
