"""The calls of the heuristic that a search makes, beside the tree that it should search.

An evaluated position outside the tree shows an illegal move, wrong flips or a wrong depth. A line
without evaluated positions was not searched: the value above it is not proven.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from othello_lab.agents.diagnosis.comparison import AnsweredQuestion, Cause, simplicity
from othello_lab.agents.diagnosis.references import INFINITY, Search
from othello_lab.agents.diagnosis.tree import ReferenceNode
from othello_lab.agents.evaluation.evaluation import FINAL_UNIT
from othello_lab.core.bitboard import FLIPS, bits
from othello_lab.core.notation import PASS, square_name
from othello_lab.core.position import Position

_FOLLOWED = 16
"""So many wrong answers are followed, the simplest."""
_MOST = 0.65
"""So large a part of them has to show a fault."""
SOME = 0.3
_BY_CHANCE = 0.001
_FURTHER = 3  # plies beyond the depth, at most, where a line to a position is looked for
_STRANGE = 8  # positions outside the tree, at most, that are looked at

Board = tuple[int, int]
"""The masks of mover and opponent."""
Line = tuple[int, ...]

_ILLEGAL, _TWICE, _FLIPS, _KEPT = (
    "illegal moves are played",
    "the same side moves twice",
    "wrong flips",
    "moves are not taken back",
)
_FAULTS = {
    _ILLEGAL: "a move has to be legal in the position where it is tried: a killer, or the move of "
    "a table, comes from another position",
    _TWICE: "a pass is legal only where there is no move; a null move gives bounds that minimax "
    "does not have",
    _FLIPS: "a line of discs flips only if it ends at a disc of the mover, before the edge of the "
    "board, in each of the eight directions",
    _KEPT: "discs of a move that was tried before are still there: copy the board for each move, "
    "or restore the square and all flipped discs",
}


@dataclass(frozen=True)
class Fault:
    """A step against the rules.

    kind: a key of :data:`_FAULTS`. move: its square, or a pass. before: the position where it was
    made. line: the legal moves to that. board: the position that was evaluated. left_over: True if
    the wrong discs are such as another move there flips.
    """

    kind: str
    move: int
    before: Position
    line: Line
    board: Board
    left_over: bool = False

    def told(self) -> str:
        """Return the step in words, with both boards."""
        tried = "passes" if self.move == PASS else f"plays {square_name(self.move)}"
        asked = Position(*self.board, self.before.to_move.other)
        if sum(self.board) >> 64 or not self.before.legal_mask >> self.move & 1:
            right = "that is not legal there"
        else:
            right = f"right is\n{self.before.play(self.move)}"
        return (
            f"first difference: {_after(self.line)}, at\n{self.before}\n"
            f"it {tried}, and evaluates\n{asked}\n{right}"
        )


class FollowedSearch:
    """An answer whose calls of the heuristic are followed through the tree of its question."""

    def __init__(self, case: AnsweredQuestion) -> None:
        self.case, self.depth = case, case.question.depth
        self.root, self.start = case.root(), case.question.position
        self.calls: list[Board] = [(mover, other) for mover, other in case.answer.calls]
        self.seen = {board for call in self.calls for board in (call, call[::-1])}

    @cached_property
    def plies(self) -> dict[Board, int]:
        """The greatest ply of each position of the tree."""
        found: dict[Board, int] = {}
        level = [self.root]
        for ply in range(self.depth + 1):
            found |= {_board(node): ply for node in level}
            if ply < self.depth:
                level = [child for node in level if not node.over for child in node.children]
        return found

    def ply(self, call: Board) -> int | None:
        """Return the ply of a position, seen by either side; None for one outside the tree."""
        return self.plies.get(call, self.plies.get(call[::-1]))

    @cached_property
    def deepest(self) -> int:
        """The greatest ply with an evaluated position of the tree; -1 if there is none."""
        return max((ply for call in self.calls if (ply := self.ply(call)) is not None), default=-1)

    @cached_property
    def outside(self) -> list[Board]:
        """Some evaluated positions outside the tree, those with the fewest discs."""
        strange = [call for call in dict.fromkeys(self.calls) if self.ply(call) is None]
        return sorted(strange, key=lambda call: sum(call).bit_count())[:_STRANGE]

    def _further(self, call: Board) -> int:
        """Return the number of discs that a position has more than the last ply."""
        return sum(call).bit_count() - self.start.discs - self.depth

    @cached_property
    def deeper(self) -> Line:
        """A legal line to an evaluated position beyond the depth; empty if there is none."""
        beyond = (call for call in self.outside if 0 < self._further(call) <= _FURTHER)
        lines = (next(_lines(self.start, call), ()) for call in beyond)
        return next(filter(None, lines), ())

    @cached_property
    def fault(self) -> Fault | None:
        """The step against the rules that leads to an evaluated position."""
        for call in self.outside:
            if self._further(call) > _FURTHER:
                return Fault(_KEPT, PASS, self.start, (), call)
            if next(_lines(self.start, call), None) is None:
                broken = next(_broken_lines(self.start, call), None)
                flips = min(_wrong_flips(self.start, call), key=lambda pair: pair[0], default=None)
                if broken and not (flips and flips[1].left_over):
                    return broken
                return flips[1] if flips else Fault(_KEPT, PASS, self.start, (), call)
        return None

    @cached_property
    def discs_stay(self) -> bool:
        """True if the first position outside the tree has all the discs of the one before it."""
        for earlier, call in zip(self.calls, self.calls[1:], strict=False):
            if self.ply(call) is None:
                more = not sum(earlier) & ~sum(call) and sum(earlier) != sum(call)
                return more and self.ply(earlier) == self.depth
        return False

    # ------------------------------------------------------------------ proofs

    def bounds(self, node: ReferenceNode, left: int, short: bool = False) -> tuple[int, int]:
        """Return the least and the greatest value that the evaluated positions leave possible.

        short: True if a position counts as a leaf that was evaluated above the last ply, and
        nothing below it.
        """
        if node.over:
            return (node.discs * FINAL_UNIT,) * 2
        evaluated = _board(node) in self.seen
        if evaluated and (left == 0 or (short and not self.entered(node, left))):
            return node.looks, node.looks
        if left == 0:
            return -INFINITY, INFINITY
        pairs = [self.bounds(child, left - 1, short) for child in node.children]
        return max(-high for _, high in pairs), max(-low for low, _ in pairs)

    def entered(self, node: ReferenceNode, left: int) -> bool:
        """Return True if a position below a node was evaluated."""
        if node.over or not left:
            return False
        return any(
            _board(child) in self.seen or self.entered(child, left - 1) for child in node.children
        )

    def searched(self, node: ReferenceNode, left: int) -> bool:
        """Return True if a position of the last ply below a node was evaluated, or the game ends
        there."""
        if node.over or not left:
            return node.over or _board(node) in self.seen
        return any(self.searched(child, left - 1) for child in node.children)

    @cached_property
    def proven(self) -> bool:
        """True if the evaluated leaves are enough to know the value."""
        low, high = self.bounds(self.root, self.depth)
        return low == high

    @cached_property
    def shallow(self) -> bool:
        """True if positions above the last ply, taken for leaves, give the answer."""
        if self.proven:
            return False
        low, high = self.bounds(self.root, self.depth, short=True)
        return low == high == self.case.answer.value

    @cached_property
    def after_deeper(self) -> list[bool]:
        """For each call in the tree, True if a deeper position was evaluated before it."""
        found, most = [], 0
        for call in self.calls:
            ply = self.ply(call)
            if ply is not None:
                found.append(ply < most)
                most = max(most, ply)
        return found

    @cached_property
    def ends_early(self) -> bool:
        """True if after a deeper position others were evaluated above it, and not all moves of a
        node together, as for an order of moves."""
        calls = [call for call in self.calls if self.ply(call) is not None]
        late = {call for call, late in zip(calls, self.after_deeper, strict=True) if late}

        def chosen(node: ReferenceNode, left: int) -> bool:
            if node.over or left < 2:
                return False
            boards = [_board(child) for child in node.children]
            share = sum(board in late or board[::-1] in late for board in boards)
            return 0 < share < len(boards) or any(chosen(each, left - 1) for each in node.children)

        return bool(late) and chosen(self.root, self.depth)

    # ------------------------------------------------------------------ the first difference

    @cached_property
    def origin(self) -> tuple[Line, ReferenceNode, int] | None:
        """The lowest wrong node on the way to a leaf that has the answer's value.

        It is told as the line to it, the node, and the value that the search kept there; None if no
        such leaf was evaluated below the answer's move.
        """
        value, child = self.case.answer.value, _replies(self.root).get(self.case.answer.move)
        if value is None or child is None:
            return None
        ways = self._ways((self.case.answer.move,), child, -int(value))
        return max(ways, key=lambda way: len(way[0]), default=None)

    def _ways(
        self, line: Line, node: ReferenceNode, value: int
    ) -> Iterator[tuple[Line, ReferenceNode, int]]:
        """Yield the lowest wrong node above each leaf with a value, given to the mover."""
        if len(line) < self.depth and not node.over:
            for move, child in _replies(node).items():
                yield from self._ways((*line, move), child, -value)
        elif not node.over and _board(node) in self.seen and node.looks == value:
            nodes = [self.root]
            for move in line[:-1]:
                nodes.append(_replies(nodes[-1])[move])
            for place in reversed(range(len(line))):
                kept = value if (len(line) - place) % 2 == 0 else -value
                if Search().reply(nodes[place], self.depth - place).value != kept:
                    yield line[:place], nodes[place], kept
                    return

    def told(self) -> str:
        """Return the case in words, with the first node that differs."""
        said = self.case.told()
        if self.origin is None or self.depth == 1:
            return said
        line, node, kept = self.origin
        left = self.depth - len(line)
        right = Search().reply(node, left)
        move, child = next(
            (pair for pair in _replies(node).items() if pair[0] in right.moves),
            (PASS, node.children[0]),
        )
        name = "the pass" if move == PASS else square_name(move)
        how = "was searched" if self.searched(child, left - 1) else "was never searched to the end"
        return (
            f"{said}\nfirst difference: {_after(line)}, at\n{node.position}\n"
            f"{name} is worth {right.value:,} there and {how}; the search kept {kept:,}"
        )


def _after(line: Line) -> str:
    moves = " ".join("pass" if move == PASS else square_name(move) for move in line)
    return f"after {moves}" if line else "at the root"


def _board(node: ReferenceNode) -> Board:
    return node.position.mover, node.position.opponent


def _masks(position: Position) -> Board:
    return position.mover, position.opponent


def _replies(node: ReferenceNode) -> dict[int, ReferenceNode]:
    return dict(zip(node.moves or (PASS,), node.children, strict=True))


# ------------------------------------------------------------------ lines to a position


def _ways_on(position: Position, goal: Board) -> Iterator[tuple[int, Position]]:
    """Yield the legal moves whose squares have discs on a board, with the positions after them."""
    for move in bits(position.legal_mask & sum(goal)):
        yield move, position.play(move)
    if position.must_pass:
        yield PASS, position.play(PASS)


def _lines(position: Position, goal: Board, line: Line = ()) -> Iterator[Line]:
    """Yield the legal lines from a position to a board, seen by either side."""
    if (position.mover, position.opponent) in (goal, goal[::-1]):
        yield line
    elif (position.mover | position.opponent) != sum(goal):
        for move, after in _ways_on(position, goal):
            yield from _lines(after, goal, (*line, move))


def _wrong_flips(position: Position, goal: Board, line: Line = ()) -> Iterator[tuple[int, Fault]]:
    """Yield last steps to a board that would be moves with wrong flips, each after the number of
    squares that are wrong."""
    mover, opponent = position.mover, position.opponent
    rest = sum(goal) & ~(mover | opponent)
    if rest.bit_count() != 1:
        for move, after in _ways_on(position, goal):
            yield from _wrong_flips(after, goal, (*line, move))
        return
    square = rest.bit_length() - 1
    right = int(FLIPS.open(mover, opponent, square))
    others = 0
    for move in position.moves:
        others |= int(FLIPS.open(mover, opponent, move))
    for mine in goal:
        if mine & rest:
            wrong = (mine ^ (mover | right | rest)) & ~rest
            kind = _FLIPS if right or mine & opponent else _ILLEGAL
            left_over = 0 < wrong == wrong & others
            yield wrong.bit_count(), Fault(kind, square, position, line, goal, left_over)


def _broken_lines(position: Position, goal: Board, line: Line = ()) -> Iterator[Fault]:
    """Yield the steps against the rules that together with legal moves lead to a board."""
    mover, opponent = position.mover, position.opponent
    for square in bits((sum(goal) & ~position.legal_mask) | mover):
        taken = (mover | opponent) >> square & 1
        flipped = int(FLIPS.open(mover, opponent, square)) & opponent if taken else 0
        if taken and not flipped:
            continue
        gained = mover | flipped | 1 << square
        after = Position(opponent & ~gained, gained, position.to_move.other)
        if next(_lines(after, goal), None) is not None:
            yield Fault(_ILLEGAL, square, position, line, goal)
    if position.legal_mask:
        after = Position(opponent, mover, position.to_move.other)
        if next(_lines(after, goal), None) is not None:
            yield Fault(_TWICE, PASS, position, line, goal)
    for move, after in _ways_on(position, goal):
        yield from _broken_lines(after, goal, (*line, move))


# ------------------------------------------------------------------ causes

_Followed = Sequence[FollowedSearch]


def followed(cases: Sequence[AnsweredQuestion]) -> list[FollowedSearch]:
    """Follow the simplest of some answers, those without calls left out."""
    usable = sorted((case for case in cases if case.answer.calls), key=simplicity)
    return [FollowedSearch(case) for case in usable[:_FOLLOWED]]


def against_the_rules(searches: _Followed) -> Cause | None:
    """Return the cause if evaluated positions are reached by no legal line."""
    first_is_right = not any(each.outside and each.calls[0] in each.outside for each in searches)
    stay = [each for each in searches if first_is_right and each.discs_stay]
    if stay and len(stay) >= _MOST * len(searches):
        return _broken(_KEPT, stay)
    broken = [each for each in searches if each.fault]
    if not broken or len(broken) < _MOST * len(searches):
        return None
    kinds = Counter(
        _KEPT if each.fault.left_over and first_is_right else each.fault.kind
        for each in broken
        if each.fault
    )
    return _broken(kinds.most_common(1)[0][0], broken)


def _broken(kind: str, searches: _Followed) -> Cause:
    typical = next(
        (each for each in searches if each.fault and each.fault.kind == kind), searches[0]
    )
    step = f"\n{typical.fault.told()}" if typical.fault else ""
    return Cause(kind, _FAULTS[kind], typical.case.told() + step)


def too_deep(searches: _Followed) -> Cause | None:
    """Return the cause if only some lines are searched beyond the depth."""
    far = [each for each in searches if each.deeper]
    usual = _share(searches, lambda each: each.deepest == each.depth) > SOME
    if not usual or len(far) < _MOST * len(searches):
        return None
    return Cause(
        "some lines are searched deeper",
        "an extension gives another value than minimax: every line ends after the plies asked for",
        f"{far[0].case.told()}\nfirst difference: it evaluates the position "
        f"{_after(far[0].deeper)}, {len(far[0].deeper)} plies deep",
    )


def too_shallow(searches: _Followed, least: float = _MOST) -> Cause | None:
    """Return the cause if some lines end before the depth."""
    short = [each for each in searches if not each.proven and (each.shallow or each.ends_early)]
    usual = _share(searches, lambda each: each.deepest == each.depth) > 0.5
    if not short or not usual or len(short) < least * len(searches):
        return None
    marks = [each.after_deeper for each in short if each.ends_early]
    if marks and all(all(mark[mark.index(True) :]) for mark in marks):
        return Cause(
            "the search stops before it is complete",
            "a budget of nodes or time ends it quietly: from some call on it evaluates positions "
            "where it stands; a search that runs out has to give the last complete answer, and to "
            "state that depth",
            short[0].told(),
        )
    return Cause(
        "some lines are searched less deep",
        "moves reduced or cut on a first impression have to be searched again to the full depth "
        "before their values count",
        short[0].told(),
    )


def narrow_window(searches: _Followed, answered: Sequence[AnsweredQuestion]) -> Cause | None:
    """Return the cause if answers are wrong where the value is far from the one before."""
    wrong = [each for each in searches if not each.proven]
    if len(wrong) < 3 or len(wrong) < _MOST * len(searches):
        return None
    right = [case for case in answered if not case.wrong and case.question.depth > 1]
    for name, advice, centre in _CENTRES:
        for sign in (0, 1, -1):
            far = sorted(_distance(each.case, centre, sign) for each in wrong)
            near = [_distance(case, centre, sign) for case in right]
            width = far[len(far) // 10]  # a wrong answer may follow from one before
            inside = sum(0 < each < width for each in near) / max(1, sum(each > 0 for each in near))
            if width > 0 and inside > 0.5 and (1 - inside) ** (0.9 * len(far)) < _BY_CHANCE:
                evidence = (
                    f"{wrong[0].told()}\nit is wrong only where the value is {width:,} or more "
                    f"away from {name}"
                )
                cause = _NARROW if centre is None else _ASPIRATION
                return Cause(cause, advice, evidence)
    return None


_ASPIRATION, _NARROW = "aspiration window not searched again", "the window begins too narrow"
_AGAIN = (
    "a value at or beyond the ends of a narrow window is only a bound: search again with a wider "
    "window, on either side"
)
_OPEN = "the first window has to hold any value: begin with alpha below and beta above all values"
_CENTRES: tuple[tuple[str, str, int | None], ...] = (
    ("the value one ply less deep", _AGAIN, 1),
    ("the value two plies less deep", _AGAIN, 2),
    ("0", _OPEN, None),
)


def _distance(case: AnsweredQuestion, centre: int | None, sign: int) -> int:
    """Return the distance of the right value from that of a search some plies less deep, or from
    0; with a sign only that on its side."""
    before = 0
    if centre is not None:
        before = case.shallower(max(0, case.question.depth - centre))
    distance = case.truth.value - before
    return distance * sign if sign else abs(distance)


_BOUND = "a bound is taken for a value"
_BOUND_ADVICE = (
    "a result at or beyond the ends of the window is only a bound: a null window that fails high "
    "has to be searched again, a table has to store the kind of bound, and a move is better only "
    "if its value is more than alpha"
)


def unproven(searches: _Followed) -> Cause | None:
    """Return the cause if values are taken for exact that are but bounds."""
    bounds = [
        each
        for each in searches
        if not each.proven or (each.case.wrong_move and not each.case.wrong_value)
    ]
    if not bounds or len(bounds) < _MOST * len(searches):
        return None
    return Cause(
        _BOUND,
        _BOUND_ADVICE,
        f"{bounds[0].told()}\nthe lines that it has searched do not prove its answer",
    )


def _share(searches: _Followed, which: Callable[[FollowedSearch], bool]) -> float:
    return sum(map(which, searches)) / len(searches) if searches else 0.0


def from_table(searches: _Followed, answered: Sequence[AnsweredQuestion]) -> Cause:
    """Return the cause of answers that are right without the search's tables."""
    evidence = f"{searches[0].told()}\nwithout its dictionaries it answers right"
    others = [case for case in answered if not case.wrong and case.question.depth > 1]
    passes = sum(case.passes for case in others) / max(1, len(others))
    if _share(searches, lambda each: each.shallow and not each.ends_early) > 0.5:
        return Cause(
            "a table's entry is used for another depth",
            "the depth has to be stored with a value, and an entry of a lower depth is of no use",
            evidence,
        )
    if all(each.case.passes for each in searches) and passes ** len(searches) < 0.1:
        return Cause(
            "a table's entry is used for the other side",
            "after a pass the same discs are on the board: the side to move belongs to the key",
            evidence,
        )
    if _share(searches, lambda each: each.origin is None) >= _MOST:
        return Cause(
            "a table's entry is used for another position",
            "the key has to hold both sides' discs: its value is that of no line below the move",
            evidence,
        )
    return unproven(searches) or Cause(_BOUND, _BOUND_ADVICE, evidence)
