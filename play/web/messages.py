"""The messages of a page, and the one place that checks all of them.

A message is a JSON object. Its ``type`` is the name of one of the classes below in small letters
without its ``Message``; the other keys are its fields. A valid message may still be impossible in
the game as it stands; the visit decides that.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Annotated, Any

from othello_lab.core.rules import RULESETS, Color
from othello_lab.core.system.escaping import visible
from othello_lab.core.system.settings import (
    Choice,
    Constraint,
    Number,
    Switch,
    Text,
    Whole,
    from_plain,
    unknown_choice,
)
from othello_lab.play.web.clock import PERIODS

LONGEST_TEXT = 80_000
"""Letters of a game or a position that is put in."""
_MOST_PLIES = 200
_MOST_SETTINGS = 40
_LARGEST = 1 << 53
_DEEPEST = 4  # how far lists and objects may be nested in what is plain data

SIDE = Choice(*(color.value for color in Color))
VISIT = Text(r"[A-Za-z0-9_-]{22}", "the number of a visit")
PLY = Whole(0, _MOST_PLIES)
NUMBER = Whole(0, 1 << 31)


class MessageError(ValueError):
    """A page has sent no valid message; one line gives the reason."""

    def __init__(self, text: str) -> None:
        super().__init__(visible(text))  # it may quote what was sent


class PlainData(Constraint):
    """An object of plain data: texts, numbers, switches, lists and objects of these."""

    needed = f"an object with at most {_MOST_SETTINGS} names"

    def allows(self, value: object) -> bool:
        fits = isinstance(value, dict) and len(value) <= _MOST_SETTINGS
        return fits and _is_plain(value, _DEEPEST)


def _is_plain(value: object, depth: int) -> bool:
    if isinstance(value, dict | list):
        parts = value.values() if isinstance(value, dict) else value
        return depth > 0 and len(value) <= 100 and all(_is_plain(one, depth - 1) for one in parts)
    if isinstance(value, int | float):
        return abs(value) <= _LARGEST  # which infinity is not
    return value is None or isinstance(value, str)


@dataclass(frozen=True)
class PlayerChoice:
    """The choice of a player: ``human``, or an agent by its name, and its settings. path: of an own
    agent, in place of a name of the list."""

    name: Annotated[str, Text(r"[\w-]{1,60}", "the name of a player")]
    settings: Annotated[dict[str, Any], PlainData()] = field(default_factory=dict)
    path: Annotated[str | None, Text(r"[^\x00-\x1f]{1,300}", "the path of an agent")] = None


@dataclass(frozen=True)
class ClockChoice:
    """The time of people. per: for each of these. seconds: so many."""

    per: Annotated[str, Choice(*PERIODS)]
    seconds: Annotated[float, Number(low=1, high=86_400)]


@dataclass(frozen=True)
class Message:
    """What a page may send; each subclass is a type of message."""


@dataclass(frozen=True)
class HelloMessage(Message):
    """The first message: the visit that this page continues; None for a new one."""

    visit: Annotated[str | None, VISIT] = None


@dataclass(frozen=True)
class MoveMessage(Message):
    """A person's move. ply: how many moves the page has seen before it."""

    move: Annotated[str, Text(r"[a-h][1-8]", "a square")]
    ply: Annotated[int, PLY]


@dataclass(frozen=True)
class RecordedGame:
    """A game of a run. run: its name in the list of runs. game: its number."""

    run: Annotated[str, Text(r".{1,300}", "the name of a run")]
    game: Annotated[int, NUMBER]


@dataclass(frozen=True)
class NewMessage(Message):
    """A new game. text: its first position or its moves: OBF, transcript, GGF, or a saved game;
    empty for the start. recorded: or a game of a run. playing: True if two agents play on at once.
    black, white: None for the present player. series: games that win a series; None for a single
    game. clock: the time of people; None for as much as they like."""

    rules: Annotated[str, Choice(*RULESETS)]
    black: PlayerChoice | None = None
    white: PlayerChoice | None = None
    text: Annotated[str, Text(rf".{{0,{LONGEST_TEXT}}}", "a game as text")] = ""
    recorded: RecordedGame | None = None
    playing: Annotated[bool, Switch()] = True
    series: Annotated[int | None, Whole(1, 99)] = None
    clock: ClockChoice | None = None


class NextMessage(Message):
    """The next game of a series."""


@dataclass(frozen=True)
class PlayersMessage(Message):
    """Others play on from here; None for the present player."""

    black: PlayerChoice | None = None
    white: PlayerChoice | None = None


@dataclass(frozen=True)
class PaceMessage(Message):
    """Two agents: True if they play on by themselves, and the seconds between their moves."""

    playing: Annotated[bool, Switch()]
    delay: Annotated[float, Number(low=0, high=30)]


class StepMessage(Message):
    """Two agents: one move, then wait."""


class StopMessage(Message):
    """End the agent's present work."""


class GoMessage(Message):
    """Let the agent think again."""


class UndoMessage(Message):
    """Take back the last move of a person, and all after it."""


@dataclass(frozen=True)
class BackMessage(Message):
    """Take back all but the first moves. ply: how many the page has seen in all."""

    moves: Annotated[int, PLY]
    ply: Annotated[int, PLY]


class ResignMessage(Message):
    """Give up."""


@dataclass(frozen=True)
class AskMessage(Message):
    """A question for a client. id: the page's number for it. name: of the question. options: its
    own; ``ply`` among them says after how many moves of the game, all by default."""

    id: Annotated[int, NUMBER]
    name: Annotated[str, Text(r"[a-z_]{1,20}", "the name of a question")]
    options: Annotated[dict[str, Any], PlainData()] = field(default_factory=dict)


@dataclass(frozen=True)
class CancelMessage(Message):
    """The page wants no answer to this question any more."""

    id: Annotated[int, NUMBER]


@dataclass(frozen=True)
class GamesOptions:
    """Options of the question ``games``, a part of a run's games. first: the first of them."""

    run: Annotated[str, Text(r".{1,300}", "the name of a run")]
    first: Annotated[int, NUMBER] = 0


@dataclass(frozen=True)
class PlayerOptions:
    """Options of the questions that an agent answers."""

    player: PlayerChoice


@dataclass(frozen=True)
class TreeOptions:
    """Options of the question ``tree``. position: in OBF, by the rules of this name; without it the
    game's."""

    player: PlayerChoice
    position: Annotated[str | None, Text(r"[XO-]{16,64} [XO];?", "a position in OBF")] = None
    rules: Annotated[str, Choice(*RULESETS)] = "standard"


@dataclass(frozen=True)
class EvaluationOptions:
    """Options of the question ``parts``: the name of the evaluation."""

    evaluation: Annotated[str, Text(r"\w{1,60}", "the name of an evaluation")]


@dataclass(frozen=True)
class ReviewOptions:
    """Options of the question ``review``: the numbers of the first and the last move."""

    first: Annotated[int, Whole(1, _MOST_PLIES)]
    last: Annotated[int, Whole(1, _MOST_PLIES)]


class VisitNumbers(Constraint):
    """A list of numbers of visits."""

    needed = "a list of at most 100 numbers of visits"

    def allows(self, value: object) -> bool:
        return (
            isinstance(value, list)
            and len(value) <= 100
            and all(isinstance(number, str) and VISIT.allows(number) for number in value)
        )


@dataclass(frozen=True)
class MineOptions:
    """Options of the question ``mine``: the visits that the page remembers."""

    visits: Annotated[list[Any], VisitNumbers()]


@dataclass(frozen=True)
class NoOptions:
    """Options of a question that has none."""


OPTIONS: dict[str, Callable[..., Any]] = {
    "texts": NoOptions,
    "runs": NoOptions,
    "games": GamesOptions,
    "mine": MineOptions,
    "hint": NoOptions,
    "values": PlayerOptions,
    "parts": EvaluationOptions,
    "course": PlayerOptions,
    "tree": TreeOptions,
    "review": ReviewOptions,
}
"""What a page may ask, and the options of each question, without ``ply``."""

_KINDS: dict[str, Callable[..., Any]] = {
    kind.__name__.removesuffix("Message").lower(): kind for kind in Message.__subclasses__()
}


def read(text: str) -> tuple[Any, int | None]:
    """Return the message of a page, and the number, ``ref``, of its acknowledgement; raises
    MessageError."""
    try:
        content = json.loads(text, parse_constant=_no_constant)
    except (ValueError, RecursionError):
        raise MessageError("the message is no JSON") from None
    if not isinstance(content, dict):
        raise MessageError("an object with a type is needed")
    kind = content.pop("type", None)
    if not isinstance(kind, str) or kind not in _KINDS:
        raise MessageError(f"unknown type '{kind!s:.30}'; choose from {', '.join(_KINDS)}")
    ref = content.pop("ref", None)
    if ref is not None and not NUMBER.allows(ref):
        raise MessageError(f"ref: {NUMBER.needed} is needed")
    return _made(_KINDS[kind], kind, content), ref


def check_question(ask: AskMessage) -> tuple[dict[str, Any], int | None]:
    """Return the options of a question, and apart from them the number of moves after which it
    applies, None for all; raises MessageError."""
    if ask.name not in OPTIONS:
        raise MessageError(unknown_choice("question", ask.name, OPTIONS))
    options = dict(ask.options)
    ply = options.pop("ply", None)
    if ply is not None and not PLY.allows(ply):
        raise MessageError(PLY.refusal("ply", ply, optional=True))
    return asdict(_made(OPTIONS[ask.name], ask.name, options)), ply


def _no_constant(word: str) -> None:
    raise ValueError(word)


def _made(kind: Any, where: str, content: Mapping[str, Any]) -> Any:
    """An object of a class from its fields; raises MessageError."""
    try:
        return from_plain(kind, content, f"{where}.")
    except ValueError as error:
        raise MessageError(str(error)) from None
