"""The lines of a traced search are counted against what the compiled search states."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable

from othello_lab import PVS, AlphaBeta, DiscCount, Minimax, SquareWeights
from othello_lab.agents.search import SearchAgent
from othello_lab.agents.search.window.ordering import CRITERIA_NAMES
from othello_lab.core.notation import square_name
from othello_lab.core.position import Position
from othello_lab.play.terminal.trace import traced

RandomGame = Callable[[str, int], list[Position]]

SINGLE = ["none", *(name for name in CRITERIA_NAMES if name != "tt")]
PAIRS = ["+".join(pair) for pair in itertools.permutations(SINGLE[1:], 2)]
ORDERINGS = [*SINGLE, *PAIRS, "killer+history+sorted+mobility+static"]
NODE = re.compile(r"(?P<star>[* ]) (?P<indent> *)(?:now|[BW] (?P<move>[a-h][1-8]|pass)) .*")
CUT = re.compile(r" +cut: (.*) >= beta (.*), [1-9]\d* moves? .*")
NUMBER = re.compile(r"[+-]\d+")
WINDOW = re.compile(r"  \(((?:alpha|beta) [^)]*)\)$")


def agents(evaluation: DiscCount | SquareWeights, depth: int) -> list[SearchAgent]:
    return [
        Minimax(depth, evaluation),
        *(AlphaBeta(depth, evaluation, ordering=ordering) for ordering in ORDERINGS),
        PVS(depth, evaluation, ordering="static"),
        PVS(depth, evaluation, ordering="sorted+killer"),
        AlphaBeta(depth, evaluation, ordering="sorted", sort_leaves=True),
        AlphaBeta(depth, evaluation, final="win"),
    ]


def counted(lines: list[str]) -> tuple[int, int, int]:
    """Nodes, evaluations and cutoffs, a line each."""
    nodes = [line for line in lines if NODE.fullmatch(line)]
    evaluations = [line for line in lines if "evaluated" in line]
    cuts = [found for line in lines if (found := CUT.fullmatch(line))]
    numbers = [cut.groups() for cut in cuts if all(map(NUMBER.fullmatch, cut.groups()))]
    assert all(int(value) >= int(beta) for value, beta in numbers)
    return len(nodes), len(evaluations), len(cuts)


def test_the_lines_are_what_the_compiled_search_counts(random_game: RandomGame) -> None:
    game = random_game("standard", 3)
    small = random_game("mini4", 5)
    questions = [(game[22], SquareWeights(), 3), (small[3], DiscCount(), 5)]
    games = (random_game("mini4", seed) for seed in range(300))
    passing = next(each for game in games for each in game if each.must_pass)
    questions.append((passing, DiscCount(), 4))
    for position, evaluation, depth in questions:
        for agent in agents(evaluation, depth):
            stated = agent.search(position)
            lines = list(traced(agent, position, depth, None))
            stats = stated.stats
            assert counted(lines) == (stats.nodes, stats.evaluations, stats.cutoffs)
            chosen = [
                found for line in lines if (found := NODE.fullmatch(line)) and found["star"] == "*"
            ]
            names = ["pass" if move == 64 else square_name(move) for move in stated.pv]
            assert [found["move"] for found in chosen] == [None, *names]
            assert f"In all {stats.nodes:,} game states" in lines[-1]
            assert max(map(len, lines)) <= 80


def test_values_are_backed_up() -> None:
    """In minimax each line is worth the best of those below it, seen from the other side."""
    lines = list(traced(Minimax(3, SquareWeights()), Position.start().play("d3"), 3, None))
    found = [re.fullmatch(r"[* ] ( *)(?:now|[BW] \w\d) +([+-]\d+).*", line) for line in lines]
    nodes = [(len(each[1]) // 2, int(each[2])) for each in found if each]
    for number, (ply, value) in enumerate(nodes):
        rest = nodes[number + 1 :]
        end = next((place for place, node in enumerate(rest) if node[0] <= ply), len(rest))
        values = [other for deeper, other in rest[:end] if deeper == ply + 1]
        if values:
            assert value == (max(values) if ply == 0 else -max(values))


def test_a_window_has_only_the_bounds_that_there_are() -> None:
    position = Position.from_transcript("f5d6c3d3c4")
    windows = [
        [found[1] for line in traced(agent, position, 3, None) if (found := WINDOW.search(line))]
        for agent in (Minimax(3, SquareWeights()), AlphaBeta(3, SquareWeights()))
    ]
    assert not windows[0]
    kinds = {re.sub(r" [+-]\d+", "", window) for window in windows[1]}
    assert kinds == {"alpha", "beta", "alpha, beta"}


def test_a_limit_of_depth_hides_lines_but_no_counts() -> None:
    position = Position.from_transcript("f5d6c3d3c4")
    agent = AlphaBeta(4, SquareWeights(), ordering="sorted")
    whole = counted(list(traced(agent, position, 4, None)))
    lines = list(traced(agent, position, 4, 2))
    hidden = [
        int(each[1].replace(",", ""))
        for each in map(re.compile(r" +\.\.\. ([\d,]+) game states? below .*").fullmatch, lines)
        if each
    ]
    assert counted(lines)[0] + sum(hidden) == whole[0]
    assert f"In all {whole[0]:,} game states" in lines[-1]
