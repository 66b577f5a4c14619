"""The language of claims: ``alphabeta(depth 4, iago) >= greedy + 200 Elo``.

::

    claim    = strength | cost
    strength = agent compare agent [("+" | "-") number "Elo"]
    cost     = measure "(" agent ")" compare (number | [factor "x"] measure "(" agent ")")
    agent    = NAME ["(" setting {"," setting} ")"]
    setting  = KEY VALUE | KEY "=" VALUE | ["evaluation" "="] EVALUATION
    compare  = ">=" | ">" | "<=" | "<"
    factor   = number ["%"]
    measure  = nodes | evaluations | leaves | cutoffs | made | time

An agent's name is one of the line-up, of ``conf/agent``, or ``path/to/file.py:Class``. Measures are
means on the same positions; ``time`` is in seconds.

>>> print(parse("nodes(alphabeta(depth 3)) <= 0.2 x nodes(minimax(depth 3))"))
nodes(alphabeta(depth 3)) <= 0.2 x nodes(minimax(depth 3))
>>> parse("alphabeta >= greedy + lots Elo")
Traceback (most recent call last):
ValueError: alphabeta >= greedy + lots Elo: 'lots' where a number of Elo is needed
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, NoReturn

_COUNTS = ("nodes", "evaluations", "leaves", "cutoffs", "made")
MEASURES = {**{name: name for name in _COUNTS}, "time": "seconds"}
"""What may be compared, and the column of :func:`experiments.report.searches.cost_rows`."""

COMPARISONS = (">=", "<=", ">", "<")

_TOKEN = re.compile(
    r"\s*(?:(?P<number>\d+(?:\.\d+)?(?:[eE][+-]?\d+)?(?![\w/.:]))"
    r"|(?P<compare>>=|<=|>|<)"
    r"|(?P<sign>[-+](?=[\s\d]))"
    r"|(?P<mark>[(),%=*\N{MULTIPLICATION SIGN}])"
    r"|(?P<word>[^\s(),%=*<>\N{MULTIPLICATION SIGN}]+))"
)
_CONSTANTS = {"true": True, "false": False, "null": None}
_WORDS = ("word", "number")
_TIMES = ("x", "*", "\N{MULTIPLICATION SIGN}", "times")


@dataclass(frozen=True)
class AgentText:
    """An agent in a claim: its name, its settings, and bare words for evaluations."""

    name: str
    settings: tuple[tuple[str, Any], ...] = ()
    evaluation: str | None = None

    def __str__(self) -> str:
        inside = [f"{key} {_written(value)}" for key, value in self.settings]
        inside += [self.evaluation] if self.evaluation else []
        return f"{self.name}({', '.join(inside)})" if inside else self.name


@dataclass(frozen=True)
class StrengthClaim:
    """The claim that the first agent's Elo above the second compares so with ``elo``."""

    first: AgentText
    compare: str
    second: AgentText
    elo: float = 0.0

    def __str__(self) -> str:
        sign = "-" if self.elo < 0 else "+"
        further = f" {sign} {abs(self.elo):g} Elo" if self.elo else ""
        return f"{self.first} {self.compare} {self.second}{further}"


@dataclass(frozen=True)
class CostClaim:
    """The claim that the first agent's search costs, a position, compare in this way with
    ``number``; or, with a second agent, with ``number`` times its costs on the same positions."""

    measure: str
    first: AgentText
    compare: str
    number: float
    second: AgentText | None = None
    other: str = ""

    def __str__(self) -> str:
        said = f"{self.measure}({self.first}) {self.compare}"
        if self.second is None:
            return f"{said} {self.number:g}"
        factor = "" if self.number == 1 else f"{self.number:g} x "
        return f"{said} {factor}{self.other}({self.second})"


Claim = StrengthClaim | CostClaim


def parse(text: str) -> Claim:
    """Return the claim in a line; ValueError, one line that begins with it."""
    line = " ".join(str(text).split())
    try:
        return _Reader(line).claim()
    except ValueError as error:
        raise ValueError(f"{line}: {error}") from None


def _written(value: Any) -> str:
    return json.dumps(value) if value is None or isinstance(value, bool) else str(value)


def _value(word: str) -> Any:
    """Return a setting's value: a number, a truth value, nothing, or a word."""
    if word in _CONSTANTS:
        return _CONSTANTS[word]
    for kind in (int, float):
        with suppress(ValueError):
            return kind(word)
    return word


class _Reader:
    def __init__(self, line: str) -> None:
        self._tokens: list[tuple[str, str]] = []
        begin = 0
        while line[begin:].strip():
            match = _TOKEN.match(line, begin)
            if match is None:
                raise ValueError(f"'{line[begin:].strip()[0]}' cannot be read")
            self._tokens.append((str(match.lastgroup), str(match[match.lastgroup or 0])))
            begin = match.end()
        self._tokens.append(("", ""))  # the end
        self._next = 0

    def claim(self) -> Claim:
        measure = self._measure()
        first = self._agent()
        if measure:
            self._take(")", ")")
        compare = self._take(f"one of {' '.join(COMPARISONS)}", kinds=("compare",))
        made: Claim
        if measure:
            made = self._cost(measure, first, compare)
        else:
            made = StrengthClaim(first, compare, self._agent(), self._elo())
        if self._word:
            raise ValueError(f"'{self._word}' is too much")
        return made

    def _cost(self, measure: str, first: AgentText, compare: str) -> CostClaim:
        number, needed = 1.0, "a number, or a measure,"
        if given := self._skip(kinds=("number",)):
            number, needed = float(given), f"one of {', '.join(MEASURES)}"
            if self._skip("%"):
                number /= 100
            if not self._skip(*_TIMES):
                if not self._word:
                    return CostClaim(measure, first, compare, number)
                self._refuse("x", ", as in 0.2 x nodes(...)")
        other = self._measure() or self._refuse(needed)
        if other != measure:
            raise ValueError(f"{measure} and {other} cannot be compared")
        second = self._agent()
        self._take(")", ")")
        return CostClaim(measure, first, compare, number, second, other)

    def _measure(self) -> str:
        """Take ``nodes(``, if that comes next; return the measure."""
        (_, name), *after = self._tokens[self._next : self._next + 2]
        if name not in MEASURES or after[0][1] != "(":
            return ""
        self._next += 2
        return name

    def _agent(self) -> AgentText:
        name = self._take("an agent", kinds=_WORDS)
        if not self._skip("("):
            return AgentText(name)
        settings: list[tuple[str, Any]] = []
        evaluation = None
        while True:
            key = self._take("a setting or an evaluation", kinds=_WORDS)
            if self._skip("="):
                value = self._take(f"a value of {key}", kinds=_WORDS)
            else:
                value = self._skip(kinds=_WORDS)
            if value and key != "evaluation":
                settings.append((key, _value(value)))
            elif evaluation is None:
                evaluation = value or key
            elif value:
                raise ValueError(f"'{value}' is a second evaluation, beside {evaluation}")
            else:
                raise ValueError(f"'{key}' has no value, and {evaluation} is the evaluation")
            if self._skip(")"):
                return AgentText(name, tuple(settings), evaluation)
            self._skip(",") or self._refuse(", or )", f", after {key} of {name}")

    def _elo(self) -> float:
        if not (sign := self._skip(kinds=("sign",))):
            return 0.0
        elo = float(sign + self._take("a number of Elo", kinds=("number",)))
        if self._word.lower() != "elo":
            self._refuse("Elo", ", as in + 200 Elo")
        self._next += 1
        return elo

    @property
    def _word(self) -> str:
        """The next word; "" at the end."""
        return self._tokens[self._next][1]

    def _skip(self, *words: str, kinds: Collection[str] = ()) -> str:
        """Take the next word if it is one of these, or of these kinds; else return ""."""
        kind, word = self._tokens[self._next]
        if word not in words and kind not in kinds:
            return ""
        self._next += 1
        return word

    def _take(self, needed: str, *words: str, kinds: Collection[str] = ()) -> str:
        return self._skip(*words, kinds=kinds) or self._refuse(needed)

    def _refuse(self, needed: str, more: str = "") -> NoReturn:
        here = f"'{self._word}'" if self._word else "it ends"
        raise ValueError(f"{here} where {needed} is needed{more}")
