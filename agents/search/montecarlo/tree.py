"""The tree of Monte-Carlo search, compiled; its twin :mod:`agents.search.montecarlo.plain` explains
it.

A tree is one array of int64, :data:`WORDS` words a node, node 0 the root. A node's children lie
side by side. No position is kept: it is made anew on the way down, cheaper than the memory traffic
of keeping it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from othello_lab.agents.search import context as layout
from othello_lab.agents.search.context import (
    ScratchLayout,
    count,
    count_evaluation,
    enter_again,
    is_over,
    out_of_budget,
    read_stats,
    set_constants,
)
from othello_lab.agents.search.limits import limit
from othello_lab.agents.search.montecarlo.plain import (
    CLEAR_WIN,
    FINE,
    ROLLOUTS,
    MoveEstimate,
    TreeSettings,
)
from othello_lab.agents.search.montecarlo.rollout import (
    EPSILON,
    RANDOM,
    ROLLOUT,
    below,
    draw,
    greedy_rollout,
    random_rollout,
)
from othello_lab.core.bitboard import ONE, ZERO, after, legal_moves, lowest_square, popcount
from othello_lab.core.clock import WALL_CLOCK
from othello_lab.core.game import SearchStats
from othello_lab.core.notation import PASS
from othello_lab.core.position import Position
from othello_lab.core.system.compile import Address, Index, Int, Mask, Square, kernel
from othello_lab.core.vector import load, load_float, store

# The words of a node. Total and bounds are worth that much to the side that moved here; the total
# is in units of 1 / FINE of a result.
WORDS = 4
VISITS, TOTAL, BOUNDS, CHILDREN = range(WORDS)
# BOUNDS holds the move in its low byte, the lower bound plus 128 in the next, then the upper one.
_OFFSET = 128
# CHILDREN is the number of the first child times 64 plus how many there are; 0 if there are none.
_SLOTS = 64
assert _SLOTS > 60  # squares to move to

# The context, after what the rollouts have in it.
_layout = ScratchLayout(behind=ROLLOUT)
MOST_PLAYOUTS = _layout.word()  # playouts to make
DISCS = _layout.word()  # whether results are disc differences
SOLVE = _layout.word()  # whether nodes are proven
JUDGING = _layout.word()  # how a new position is judged: a number among ROLLOUTS
PER_DISC = _layout.word()  # units of the evaluation to a disc, as a float's bits
MOST = _layout.word()  # the greatest result
CAPACITY = _layout.word()  # the room for nodes
USED = _layout.word()  # how many nodes there are
EXPLORATION = _layout.word()  # UCT's constant times the greatest result, as a float's bits
PATH = _layout.block(128)
"""The nodes of the playout under way: at most 60 moves and a pass after each."""

_PASS = np.uint64(PASS)
_GREEDY, _VALUE = (np.int64(ROLLOUTS.index(name)) for name in ("greedy", "value"))


@kernel
def move_into(tree: Address, node: Int) -> Int:
    """The move that leads to a node."""
    return load(tree, node * WORDS + BOUNDS) & 255


@kernel
def lower(tree: Address, node: Index) -> Int:
    """The lower bound of a node's value."""
    return ((load(tree, node * WORDS + BOUNDS) >> 8) & 255) - _OFFSET


@kernel
def upper(tree: Address, node: Index) -> Int:
    """The upper bound of a node's value."""
    return (load(tree, node * WORDS + BOUNDS) >> 16) - _OFFSET


@kernel
def set_bounds(tree: Address, node: Int, move: Int, low: Int, high: Int) -> None:
    """Write a node's move and bounds."""
    packed = move | (low + _OFFSET) << 8 | (high + _OFFSET) << 16
    store(tree, node * WORDS + BOUNDS, packed)


@kernel
def make_node(context: Address, tree: Address, node: Int, move: Square) -> None:
    """Write a node without visits or proven bounds."""
    most = load(context, MOST)
    store(tree, node * WORDS + VISITS, np.int64(0))
    store(tree, node * WORDS + TOTAL, np.int64(0))
    set_bounds(tree, node, np.int64(move), -most, most)
    store(tree, node * WORDS + CHILDREN, np.int64(0))


@kernel
def expand(context: Address, tree: Address, node: Int, mover: Mask, opponent: Mask) -> bool:
    """Give a node its children; False if the game is over or the memory full."""
    board = np.uint64(load(context, layout.BOARD))
    first = load(context, USED)
    moves = legal_moves(mover, opponent) & board
    if moves == ZERO and legal_moves(opponent, mover) & board == ZERO:
        return False
    children = popcount(moves) if moves != ZERO else np.int64(1)
    if first + children > load(context, CAPACITY):
        return False
    if moves == ZERO:
        make_node(context, tree, first, _PASS)
    child = first
    while moves != ZERO:
        make_node(context, tree, child, lowest_square(moves))
        moves &= moves - ONE
        child += 1
    # New nodes differ in the word that has the move, so only that is shuffled.
    for last in range(children - 1, 0, -1):
        other = np.int64(below(draw(context), last + 1))
        one, two = (first + last) * WORDS + BOUNDS, (first + other) * WORDS + BOUNDS
        first_word = load(tree, one)
        store(tree, one, load(tree, two))
        store(tree, two, first_word)
    store(tree, node * WORDS + CHILDREN, first * _SLOTS + children)
    store(context, USED, first + children)
    return True


@kernel
def select(context: Address, tree: Address, node: Int) -> Int:
    """The child to visit next of a node that has children."""
    children = load(tree, node * WORDS + CHILDREN)
    first, behind = children // _SLOTS, children // _SLOTS + children % _SLOTS
    exploration = load_float(context, EXPLORATION)
    certain = -upper(tree, node)  # what the side to move is sure to get
    log_visits = math.log(np.float64(load(tree, node * WORDS + VISITS)))
    best, best_score = first, -np.inf
    for child in range(first, behind):
        low, high = lower(tree, child), upper(tree, child)
        if low == high or high <= certain:
            continue
        visits = load(tree, child * WORDS + VISITS)
        if visits == 0:
            return np.int64(child)
        value = np.float64(load(tree, child * WORDS + TOTAL)) / np.float64(FINE * visits)
        value = min(max(value, np.float64(low)), np.float64(high))
        score = value + exploration * math.sqrt(log_visits / np.float64(visits))
        if score > best_score:
            best, best_score = child, score
    return best


@kernel
def settle(tree: Address, node: Int) -> bool:
    """Derive a node's bounds from its children's; return True if that changed them."""
    children = load(tree, node * WORDS + CHILDREN)
    first = children // _SLOTS
    low, high = lower(tree, first), upper(tree, first)
    for child in range(first + 1, first + children % _SLOTS):
        low = max(low, lower(tree, child))
        high = max(high, upper(tree, child))
    if lower(tree, node) == -high and upper(tree, node) == -low:
        return False
    set_bounds(tree, node, move_into(tree, node), -high, -low)
    return True


@kernel
def rollout(context: Address, mover: Mask, opponent: Mask) -> Int:
    """Result of a game played to its end, to the side to move here."""
    if load(context, JUDGING) == _GREEDY:
        result = greedy_rollout(context, mover, opponent)
    else:
        result = random_rollout(context, mover, opponent)
    if load(context, DISCS) != 0:
        return result
    return np.int64(result > 0) - np.int64(result < 0)


@kernel
def expected(context: Address, mover: Mask, opponent: Mask) -> Int:
    """The result that the evaluation expects, to the side to move, times FINE."""
    value = count_evaluation(context, mover, opponent)
    discs = np.float64(value) / load_float(context, PER_DISC)
    if load(context, DISCS) != 0:
        most = np.float64(load(context, MOST))
        result = min(max(discs, -most), most)
    else:
        result = math.tanh(discs / CLEAR_WIN)
    return np.int64(np.rint(result * FINE))


@kernel
def playout(context: Address, tree: Address, mover: Mask, opponent: Mask) -> None:
    """Walk once from the root, this position, to a result, and back it up."""
    node = np.int64(0)
    length = np.int64(1)
    store(context, PATH, node)
    while lower(tree, node) != upper(tree, node):
        if load(tree, node * WORDS + CHILDREN) == 0 and (
            load(tree, node * WORDS + VISITS) == 0
            or not expand(context, tree, node, mover, opponent)
        ):
            break
        node = select(context, tree, node)
        square = np.uint64(move_into(tree, node))
        if square == _PASS:
            mover, opponent = opponent, mover
        else:
            mover, opponent = after(mover, opponent, square)
        store(context, PATH + length, node)
        length += 1
    store(context, layout.NODES, load(context, layout.NODES) + length)
    enter_again(context)  # the root
    count(context, layout.LEAVES)
    count(context, layout.PLAYOUTS)
    settled = False
    if lower(tree, node) == upper(tree, node):
        result = FINE * lower(tree, node)
    elif load(context, JUDGING) == _VALUE and not is_over(context, mover, opponent):
        result = -expected(context, mover, opponent)
    else:
        before = load(context, layout.NODES)
        end = -rollout(context, mover, opponent)
        result = FINE * end
        if load(context, SOLVE) != 0 and load(context, layout.NODES) == before:  # the game was over
            set_bounds(tree, node, move_into(tree, node), end, end)
            settled = True
    for step in range(length - 1, -1, -1):
        node = load(context, PATH + step)
        if settled and step < length - 1:
            settled = settle(tree, node)
        result = min(max(result, FINE * lower(tree, node)), FINE * upper(tree, node))
        at = node * WORDS
        store(tree, at + VISITS, load(tree, at + VISITS) + 1)
        store(tree, at + TOTAL, load(tree, at + TOTAL) + result)
        result = -result


@kernel
def grow(context: Address, tree: Address, mover: Mask, opponent: Mask) -> None:
    """Add playouts until there are enough, the root is proven, or the budget is spent; at least
    one."""
    root = np.int64(0)
    if load(tree, CHILDREN) == 0:
        expand(context, tree, root, mover, opponent)
    while True:
        playout(context, tree, mover, opponent)
        if (
            lower(tree, root) == upper(tree, root)
            or load(context, layout.PLAYOUTS) >= load(context, MOST_PLAYOUTS)
            or out_of_budget(context)
        ):
            return


@kernel
def transplant(tree: Address, node: Int, target: Address) -> Int:
    """Copy the tree below ``node`` to ``target``, level by level; return the number of nodes there.

    The copy is its own list of remaining work (Cheney's algorithm): a copied node points to its old
    children until its turn comes.
    """
    for word in range(WORDS):
        store(target, word, load(tree, node * WORDS + word))
    done, free = np.int64(0), np.int64(1)
    while done < free:
        children = load(target, done * WORDS + CHILDREN)
        if children != 0:
            first, number = children // _SLOTS, children % _SLOTS
            for word in range(number * WORDS):
                store(target, free * WORDS + word, load(tree, first * WORDS + word))
            store(target, done * WORDS + CHILDREN, free * _SLOTS + number)
            free += number
        done += 1
    return free


# ------------------------------------------------------------------ from Python


class NodePool:
    """Room for a tree, and as much again to move a subtree to; kept from one tree to the next."""

    def __init__(self, nodes: int) -> None:
        # The system provides the memory when it is first written to.
        self._trees = [np.empty((nodes, WORDS), dtype=np.int64)]
        self.nodes = nodes

    @property
    def tree(self) -> np.ndarray:
        """The nodes in use, shape (nodes, WORDS)."""
        return self._trees[0]

    @property
    def address(self) -> np.intp:
        """The address of the nodes in use."""
        return np.intp(self.tree.ctypes.data)

    def transplant(self, node: int) -> int:
        """Keep only the tree below this node, now the root; return its number of nodes."""
        if len(self._trees) == 1:
            self._trees.append(np.empty_like(self.tree))
        target = np.intp(self._trees[1].ctypes.data)
        used = int(transplant(self.address, np.int64(node), target))
        self._trees.reverse()
        return used


class CompiledTree:
    """A tree, grown playout by playout from one root; as
    :class:`agents.search.montecarlo.plain.PlainTree`."""

    def __init__(self, method: TreeSettings, position: Position, pool: NodePool) -> None:
        self.method = method
        self.position = position
        self.most = method.most(position.ruleset)
        self._pool = pool
        context = self._context = np.zeros(_layout.size, dtype=np.int64)
        self._address = np.intp(context.ctypes.data)
        set_constants(context, position.ruleset, method.evaluation)
        context[JUDGING] = ROLLOUTS.index(method.rollout)
        context[PER_DISC] = np.float64(method.per_disc).view(np.int64)
        context[EPSILON] = int(method.epsilon * 2**53)
        context[DISCS] = method.discs
        context[SOLVE] = method.solve
        context[MOST] = self.most
        context[CAPACITY] = method.capacity
        context[EXPLORATION] = np.float64(method.exploration * self.most).view(np.int64)
        make_node(self._address, pool.address, np.int64(0), _PASS)
        context[USED] = 1

    def search(
        self,
        seed: int,
        playouts: int | None,
        nodes: int | None,
        seconds: float | None,
        clock: int = WALL_CLOCK,
    ) -> SearchStats:
        """As the twin's. clock: of the seconds."""
        context = self._context
        context[RANDOM] = np.uint64(seed).view(np.int64)
        context[MOST_PLAYOUTS] = layout.NO_LIMIT if playouts is None else playouts
        limit(context, nodes, seconds, clock)
        grow(self._address, self._pool.address, *self.position.masks)
        return read_stats(context)

    def _children(self, path: Sequence[int]) -> dict[int, int]:
        """Move and number of each node after these moves."""
        tree = self._pool.tree
        node = 0
        while True:
            first, number = divmod(int(tree[node, CHILDREN]), _SLOTS)
            moves = (tree[first : first + number, BOUNDS] & 255).tolist()
            children = dict(zip(moves, range(first, first + number), strict=True))
            if not path:
                return children
            node, path = children[path[0]], path[1:]

    def estimates(self, path: Sequence[int]) -> dict[int, MoveEstimate]:
        """As the twin's."""
        moves = {}
        for move, node in sorted(self._children(path).items()):
            visits, total, bounds = self._pool.tree[node, : BOUNDS + 1].tolist()
            low, high = (bounds >> 8 & 255) - _OFFSET, (bounds >> 16) - _OFFSET
            value = min(max(total / (FINE * visits), low), high) / self.most if visits else None
            moves[move] = MoveEstimate(visits, value, low / self.most, high / self.most)
        return moves

    def move_to(self, path: Sequence[int], position: Position) -> None:
        """As the twin's."""
        if path:
            node = self._children(path[:-1])[path[-1]]
            self._context[USED] = self._pool.transplant(node)
        self.position = position
