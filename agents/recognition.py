"""Kinds of the things in a user's file, recognised by trying them.

A class of :class:`~agents.agent.Agent` plays, a class of Evaluation or a function of two masks
judges positions. A function of a player and a board, as PAIP's Othello has it, is a strategy if it
answers with squares, else an evaluation. A function that makes strategies is a maker.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from itertools import product
from numbers import Real
from pathlib import Path
from typing import Any

import numpy as np

from othello_lab.agents import loading
from othello_lab.agents.agent import Agent
from othello_lab.agents.composing import FILLED_BY_RUN
from othello_lab.agents.evaluation import Evaluation
from othello_lab.agents.evaluation.board_list import PIECES, board_list, list_index
from othello_lab.agents.evaluation.function import LARGEST, has_two, is_heuristic, is_marked, tried
from othello_lab.core.notation import PASS, square_name
from othello_lab.core.position import Position

AGENT, STRATEGY, MAKER = "agent", "strategy", "maker"
EVALUATION, EVALUATION_CLASS = "evaluation", "evaluation class"
UNKNOWN, DOUBTFUL, PROGRAM = "", "doubtful", "program"
PLAYS = (AGENT, STRATEGY, MAKER)
_ENOUGH = 4  # answers that are all legal moves
_MOST = 12
_SEED = 7


@cache
def _positions() -> tuple[Position, ...]:
    rng, position = np.random.default_rng(_SEED), Position.start()
    found: list[Position] = []
    while len(found) < _MOST:
        found.append(position)
        for _ in range(3 if len(found) > 1 else 1):
            position = position.play(int(rng.choice(position.moves or (PASS,))))
        if not position.legal_mask:
            position = position.play(PASS)
    return tuple(found)


def answers_of(function: Callable[..., Any]) -> Iterator[tuple[Position, Any]]:
    """Yield positions with the answers of a function of (player, board), exceptions among them."""
    for position in _positions():
        try:
            board = board_list(position.black, position.white)
            answer = function(PIECES[position.to_move], board)
        except Exception as error:
            answer = error
        yield position, getattr(answer, "item", lambda answer=answer: answer)()


def kind_of(thing: Any) -> str:
    """Return the kind of an object in a user's file; DOUBTFUL for a function of (player, board)
    that may be an evaluation as well as a strategy.

    Functions are tried, so this belongs into a process of its own.
    """
    if isinstance(thing, type):
        kinds = ((Agent, AGENT), (Evaluation, EVALUATION_CLASS))
        return next((kind for base, kind in kinds if issubclass(thing, base)), UNKNOWN)
    if is_heuristic(thing):
        return EVALUATION
    if not has_two(thing):
        return UNKNOWN
    answers: list[tuple[Position, Any]] = []
    for position, answer in answers_of(thing):
        answers.append((position, answer))
        if len(answers) == _ENOUGH and _share(answers, _legal(list_index)) == 1:
            return STRATEGY
        if len(answers) == _ENOUGH and all(isinstance(a, Exception) for _, a in answers):
            break
    return _kind_by_answers(thing, answers)


def _kind_by_answers(function: Any, answers: Sequence[tuple[Position, Any]]) -> str:
    given = [answer for _, answer in answers if not isinstance(answer, Exception)]
    if not given:
        if made_of(function, 1, lambda player, board: board.count(player)) is not None:
            return MAKER
        return EVALUATION if _judges_masks(function) else UNKNOWN
    if all(map(callable, given)):
        return MAKER
    if _share(answers, _legal(list_index)) >= 0.5 or _are_squares(answers):
        return STRATEGY
    numbers = [answer for answer in given if is_number(answer)]
    if not all(is_number(answer) or answer is None for answer in given):
        return UNKNOWN  # a list of moves, or True
    if len({*given}) == 1:
        return DOUBTFUL
    return STRATEGY if len(numbers) < len(given) or _share(answers, _empty) == 1 else EVALUATION


def _ways(square: int) -> list[Any]:
    """Return a square as users number it, in each way: from 0 to 63, from 1 to 64, from 00 to 77,
    from 11 to 88, as a pair, all also with the column first; and by its name."""
    row, column = divmod(square, 8)
    ways: list[Any] = [square_name(square)]
    for (first, second), start in product(((row, column), (column, row)), (0, 1)):
        pair = first + start, second + start
        ways += [pair, 10 * pair[0] + pair[1], 8 * first + second + start]
    return ways


def _are_squares(answers: Sequence[tuple[Position, Any]]) -> bool:
    """Return True if all answers are legal moves, numbered in one way."""
    numberings = [lambda square, way=way: _ways(square)[way] for way in range(len(_ways(0)))]
    return any(_share(answers, _legal(numbers)) == 1 for numbers in numberings)


def _share(answers: Sequence[tuple[Position, Any]], fits: Callable[[Position, Any], bool]) -> float:
    return sum(fits(position, answer) for position, answer in answers) / len(answers)


def _legal(numbers: Callable[[int], Any]) -> Callable[[Position, Any], bool]:
    return lambda position, answer: answer in [numbers(move) for move in position.moves]


def _empty(position: Position, answer: Any) -> bool:
    taken = position.mover | position.opponent
    return answer in [list_index(square) for square in range(64) if not taken >> square & 1]


def is_number(answer: Any) -> bool:
    """Return True for a number that is no bool."""
    return isinstance(answer, Real) and not isinstance(answer, bool)


def _judges_masks(function: Any) -> bool:
    try:
        values = [function(*position.masks).real for position in _positions()[:3]]
    except Exception:
        return False
    return all(abs(value) <= LARGEST for value in values)


def made_of(function: Any, depth: int, evaluation: Callable[..., Any]) -> Callable[..., Any] | None:
    """Return the strategy that a function makes of a depth and an evaluation, whichever of them it
    takes first; None if it makes none."""
    start = Position.start()
    player, board = PIECES[start.to_move], board_list(start.black, start.white)
    for given in ((1, evaluation), (evaluation, 1)):
        try:
            if _legal(list_index)(start, function(*given)(player, list(board))):
                return function(*((depth, evaluation) if given[0] == 1 else (evaluation, depth)))
        except Exception:
            continue
    return None


# ------------------------------------------------------------------ targets


def about(target: str) -> dict[str, Any]:
    """Describe the object that a target names, or the one thing in a file that can be a side.

    kind: as above. open: settings that a run fills. target: with the name. question: to the user,
    if the kind is in doubt. Raises ValueError; an
    exception of a function that is tried passes through.
    """
    if target.endswith(".py"):
        return _about_file(target)
    thing = loading.find(target)
    kind = kind_of(thing)
    if not kind:
        raise ValueError(
            f"{_complaint(thing)}it is {_shown(thing)}; an agent (a class), an evaluation "
            "(@heuristic), a strategy of (player, board) or a maker of one from (depth, "
            "evaluation) is needed"
        )
    if kind == DOUBTFUL:
        answer = repr(next(answer for _, answer in answers_of(thing)))
        question = (
            f"is it a strategy or an evaluation? On every board it answers {answer:.40}: "
            "a strategy has to answer with a legal square, from 11 to 88, an evaluation with "
            f"numbers that differ. To play it anyway: run agents=duel agent@first=function "
            f"first.target={target}, or first.evaluation={target}"
        )
        return {"kind": kind, "open": [], "target": target, "question": question}
    wanted = _required(thing) if kind == AGENT else []
    opened = [name for name in FILLED_BY_RUN if kind == MAKER or name in wanted]
    if missing := [name for name in wanted if name not in FILLED_BY_RUN]:
        raise ValueError(f"its class needs {', '.join(missing)}; put them into a YAML of the agent")
    return {"kind": kind, "open": opened, "target": target}


def _complaint(thing: Any) -> str:
    """Return what a function of two arguments does instead of judging; empty for others."""
    complaint = tried(thing)[1] if has_two(thing) else ""
    return f"{complaint}; " if complaint else ""


def _about_file(file: str) -> dict[str, Any]:
    module = loading.load_module(file)
    things = {name: kind for name, thing in _own(module).items() if (kind := kind_of(thing))}
    players = [name for name, kind in things.items() if kind in PLAYS]
    named = [name for name in players if name in ("strategy", Path(file).stem)]
    marked = [name for name in things if is_marked(getattr(module, name))]
    for names in (players, named, [] if players else marked, [*things]):
        if len(names) == 1:
            return about(f"{file}:{names[0]}")
    if things:
        listed = ", ".join(f"{file}:{name} ({kind})" for name, kind in things.items())
        raise ValueError(f"it holds several; name one of {listed}")
    functions = {name: thing for name, thing in _own(module).items() if has_two(thing)}
    complaints = [f"its function {n}: {tried(thing)[1]}" for n, thing in functions.items()]
    return {"kind": PROGRAM, "target": file, "question": "; ".join(complaints)}


def _own(module: Any) -> dict[str, Any]:
    return {
        name: thing
        for name, thing in vars(module).items()
        if getattr(thing, "__module__", None) == module.__name__
    }


def _shown(thing: object) -> str:
    if isinstance(thing, type):
        return f"the class {thing.__name__}, which is no othello_lab.Agent"
    if isinstance(thing, Agent):
        return "an agent that is made already; name its class, with the settings as first.NAME=..."
    try:
        return f"a function of {inspect.signature(thing)}"  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return f"{thing!r:.80}"


def _required(thing: Any) -> list[str]:
    """Return the parameters of a class, or a function, that have no default."""
    parameters = inspect.signature(thing).parameters.values()
    kinds = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    return [p.name for p in parameters if p.default is p.empty and p.kind in kinds]
