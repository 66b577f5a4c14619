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

import re
from dataclasses import dataclass
from typing import Any

MEASURES = {
    "nodes": "nodes",
    "evaluations": "evaluations",
    "leaves": "leaves",
    "cutoffs": "cutoffs",
    "made": "made",
    "time": "seconds",
}
"""What may be compared, and the column of :func:`experiments.report.searches.cost_rows`."""

COMPARISONS = (">=", "<=", ">", "<")

_TOKEN = re.compile(
    r"\s*(?:(?P<number>\d+(?:\.\d+)?(?:[eE][+-]?\d+)?(?![\w/.:]))"
    r"|(?P<compare>>=|<=|>|<)"
    r"|(?P<sign>[-+](?=[\s\d]))"
    r"|(?P<mark>[(),%=*\N{MULTIPLICATION SIGN}])"
    r"|(?P<word>[^\s(),%=*<>\N{MULTIPLICATION SIGN}]+))"
)
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
    if value is None or isinstance(value, bool):  # 1 is a number, though it equals True
        return {True: "true", False: "false", None: "null"}[value]
    return str(value)


def _value(word: str) -> Any:
    """A setting's value: a number, a truth value, nothing, or a word."""
    if word in ("true", "false", "null"):
        return {"true": True, "false": False, "null": None}[word]
    for kind in (int, float):
        try:
            return kind(word)
        except ValueError:
            continue
    return word


class _Reader:
    """Reads a claim from left to right."""

    def __init__(self, line: str) -> None:
        self._tokens: list[tuple[str, str]] = []
        place = 0
        while line[place:].strip():
            found = _TOKEN.match(line, place)
            if found is None:
                raise ValueError(f"'{line[place:].strip()[0]}' cannot be read")
            self._tokens.append((str(found.lastgroup), str(found[found.lastgroup or 0])))
            place = found.end()
        self._next = 0

    def claim(self) -> Claim:
        measure = self._measure()
        first = self._agent()
        if measure:
            self._expect(")")
        compare = self._compare()
        made: Claim
        if measure:
            made = self._cost(measure, first, compare)
        else:
            second = self._agent()
            made = StrengthClaim(first, compare, second, self._elo())
        if self._next < len(self._tokens):
            raise ValueError(f"'{self._tokens[self._next][1]}' is too much")
        return made

    # ------------------------------------------------------------------ parts

    def _cost(self, measure: str, first: AgentText, compare: str) -> CostClaim:
        number, given = 1.0, False
        if self._kind() == "number":
            number, given = float(self._take()), True
            if self._is("%"):
                self._take()
                number /= 100
            if not self._is(*_TIMES):
                if self._next == len(self._tokens):
                    return CostClaim(measure, first, compare, number)
                raise ValueError(f"{self._found()} where x is needed, as in 0.2 x nodes(...)")
            self._take()
        other = self._measure()
        if not other:
            needed = f"one of {', '.join(MEASURES)}" if given else "a number, or a measure,"
            raise ValueError(f"{self._found()} where {needed} is needed")
        if other != measure:
            raise ValueError(f"{measure} and {other} cannot be compared")
        second = self._agent()
        self._expect(")")
        return CostClaim(measure, first, compare, number, second, other)

    def _measure(self) -> str:
        """``nodes(``, if that comes next."""
        ahead = self._tokens[self._next : self._next + 2]
        if len(ahead) == 2 and ahead[0][1] in MEASURES and ahead[1][1] == "(":
            self._next += 2
            return ahead[0][1]
        return ""

    def _agent(self) -> AgentText:
        name = self._named("an agent")
        if not self._is("("):
            return AgentText(name)
        settings: list[tuple[str, Any]] = []
        evaluation = None
        while not self._is(")") or not self._next:
            self._take()  # the parenthesis, or a comma
            key = self._named("a setting or an evaluation")
            value = self._setting(key)
            if value is not None and key != "evaluation":
                settings.append((key, _value(value)))
            elif evaluation is None:
                evaluation = value or key
            elif value is None:
                raise ValueError(f"'{key}' has no value, and {evaluation} is the evaluation")
            else:
                raise ValueError(f"'{value}' is a second evaluation, beside {evaluation}")
            if not self._is(",", ")"):
                raise ValueError(f"{self._found()} where , or ) is needed, after {key} of {name}")
        self._take()
        return AgentText(name, tuple(settings), evaluation)

    def _setting(self, key: str) -> str | None:
        """The value that follows a key; None if there is none."""
        if self._is("="):
            self._take()
            return self._named(f"a value of {key}")
        return self._take() if self._kind() in ("word", "number") else None

    def _compare(self) -> str:
        return self._named(f"one of {' '.join(COMPARISONS)}", "compare")

    def _elo(self) -> float:
        if self._kind() != "sign":
            return 0.0
        sign = -1 if self._take() == "-" else 1
        elo = sign * float(self._named("a number of Elo", "number"))
        if self._word().lower() != "elo":
            raise ValueError(f"{self._found()} where Elo is needed, as in + 200 Elo")
        self._take()
        return elo

    def _named(self, what: str, *kinds: str) -> str:
        """Take a word of one of these kinds, by default a word or a number."""
        if self._kind() not in (kinds or ("word", "number")):
            raise ValueError(f"{self._found()} where {what} is needed")
        return self._take()

    # ------------------------------------------------------------------ words

    def _kind(self) -> str:
        return self._tokens[self._next][0] if self._next < len(self._tokens) else ""

    def _word(self) -> str:
        return self._tokens[self._next][1] if self._next < len(self._tokens) else "the end"

    def _found(self) -> str:
        """Return the text at this place, for a message on the missing part."""
        return f"'{self._word()}'" if self._next < len(self._tokens) else "it ends"

    def _is(self, *words: str) -> bool:
        return self._next < len(self._tokens) and self._tokens[self._next][1] in words

    def _take(self) -> str:
        word = self._word()
        self._next += 1
        return word

    def _expect(self, word: str) -> None:
        if not self._is(word):
            raise ValueError(f"{self._found()} where {word} is needed")
        self._take()
