"""What the page and the terminal are told of why an agent moves, held to the engine and to
``agents evaluate``."""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from othello_lab import AlphaBeta, Minimax, SquareWeights
from othello_lab.agents.composing import choices, load
from othello_lab.agents.config import build_agent, load_evaluation
from othello_lab.agents.evaluation.evaluation import FINAL_UNIT
from othello_lab.agents.search import SearchAgent
from othello_lab.agents.search.window.ordering import CRITERIA_NAMES
from othello_lab.core.game import Limits
from othello_lab.core.notation import PASS, parse_square, split_transcript, square_name
from othello_lab.core.position import Position
from othello_lab.core.rules import Color, ruleset
from othello_lab.core.system.settings import ConfigError
from othello_lab.play.agent_process import AgentProcesses
from othello_lab.play.config import PlayerSettings, player
from othello_lab.play.game import GameState
from othello_lab.play.hints import hints
from othello_lab.play.terminal.trace import traced
from othello_lab.play.variants import with_evaluation
from othello_lab.play.web import explanations
from othello_lab.play.web.game_data import player_data

RandomGame = Callable[[str, int], list[Position]]
Data = dict[str, Any]
Ask = Callable[..., Data]

FILL = {"depth": 3, "evaluation": load("evaluation", "square_weights")}
BARE = {"table_mb": None, "iterative": False, "etc": False}
SINGLE = ["none", *(name for name in CRITERIA_NAMES if name != "tt")]
ORDERINGS = [*SINGLE, "killer+static", "sorted+history", "killer+history+sorted+mobility+static"]


@pytest.fixture(scope="module")
def thinkers() -> Iterator[AgentProcesses]:
    with AgentProcesses(ruleset("standard"), Limits(), 60.0, print) as thinkers:
        yield thinkers


def agent(name: str, **settings: Any) -> PlayerSettings:
    return player(name, load("agent", name) | settings, FILL)


@pytest.fixture
def ask(thinkers: AgentProcesses) -> Ask:
    """``ask(explanations.tree, game, player=...)``: an answer as the page gets it."""

    def answer(question: Callable[..., Data], of: GameState | Position, **options: Any) -> Data:
        game = GameState(of) if isinstance(of, Position) else of
        thinkers.rules = game.start.ruleset
        if "player" in options:
            options["player"] = player_data(options["player"])
        answer: Data = json.loads(json.dumps(question(thinkers, game, options), allow_nan=False))
        return answer

    return answer


def rows(answer: Data) -> list[Data]:
    """The nodes of a tree, each a dictionary."""
    columns = answer["nodes"]
    assert len({len(column) for column in columns.values()}) == 1
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


@pytest.fixture(scope="module")
def positions(random_game: RandomGame) -> list[tuple[Position, str]]:
    """Positions with a heuristic each; in one of them the mover has to pass."""
    games = (random_game("mini4", seed) for seed in range(300))
    passing = next(position for game in games for position in game if position.must_pass)
    return [
        (random_game("standard", 3)[22], "square_weights"),
        (random_game("mini4", 5)[3], "disc_count"),
        (passing, "disc_count"),
    ]


@pytest.mark.parametrize(
    "who",
    [
        agent("minimax"),
        *(agent("alphabeta", ordering=ordering) for ordering in ORDERINGS),
        agent("pvs", ordering="static", **BARE),
        agent("pvs", ordering="sorted+killer", **BARE),
    ],
    ids=lambda who: f"{who.name} {who.agent}"[:40],
)
def test_a_tree_counts_what_the_compiled_search_counts(
    who: PlayerSettings, ask: Ask, positions: list[tuple[Position, str]]
) -> None:
    for position, evaluation in positions:
        who = with_evaluation(who, evaluation)
        answer = ask(explanations.tree, position, player=who)
        engine = build_agent(who.agent or {}, who.name)
        assert isinstance(engine, SearchAgent)
        assert engine.compiled
        decision = engine.search(position)
        table = rows(answer)
        looks = itertools.chain.from_iterable(answer["looks"].values())
        counted = {
            "nodes": len(table),
            "leaves": sum(node["kind"] in "eg" for node in table),
            "evaluations": sum(node["kind"] == "e" for node in table)
            + sum(counted for _, _, counted in looks),
            "cutoffs": len(answer["cuts"]),
        }
        assert counted == answer["counts"]
        assert {name: answer["engine"][name] for name in counted} == counted
        assert counted == {name: getattr(decision.stats, name) for name in counted}
        assert answer["value"] == answer["engine"]["value"] == decision.value == table[0]["value"]
        assert answer["pv"] == list(map(square_name, decision.pv))
        assert [table[number]["move"] for number in answer["line"]] == [None, *answer["pv"]]
        check_lines(engine, position)
        for number in answer["line"]:  # of several searches of a move the last one counts
            assert table[number]["kind"] in "eg="


def replayed(answer: Data, position: Position) -> list[Position]:
    """The position of each node, from the discs that its move turns."""
    turn = {"black": "X", "white": "O"}[answer["to_move"]]
    assert f"{answer['board']} {turn}" == position.to_obf()
    line: list[Position] = []
    values_seen = []
    for node in rows(answer):
        del line[node["ply"] :]
        if node["move"] is None:
            line.append(position)
        else:
            before = line[-1]
            line.append(before.play(PASS if node["move"] == "--" else node["move"]))
            flipped = map(parse_square, split_transcript(node["flips"]))
            assert sum(1 << square for square in flipped) == before.opponent & ~line[-1].mover
        values_seen.append(line[-1])
    return values_seen


def test_each_value_follows_from_those_below(ask: Ask, random_game: RandomGame) -> None:
    """What the page shows of a node is what an alpha-beta search must say: its window is the one of
    its parent, narrowed by what was found, and it is cut exactly where the values say so."""
    position = random_game("standard", 3)[22]
    who = agent("alphabeta", ordering="sorted+killer", depth=4)
    answer = ask(explanations.tree, position, player=who)
    table = rows(answer)
    positions = replayed(answer, position)
    evaluation = load_evaluation("square_weights")
    low, high = -(1 << 40), 1 << 40
    for number, node in enumerate(table):
        below = []
        for other in itertools.islice(table, number + 1, None):
            if other["ply"] <= node["ply"]:
                break
            if other["ply"] == node["ply"] + 1:
                below.append(other)
        if not below:
            reached = positions[number]
            assert node["kind"] == ("g" if reached.is_over else "e")
            if node["kind"] == "e":
                assert node["value"] == -evaluation(reached)
            continue
        alpha = low if node["beta"] is None else -node["beta"]
        beta = high if node["alpha"] is None else -node["alpha"]
        best = low
        for child in below:
            assert best < beta
            assert (low if child["alpha"] is None else child["alpha"]) == max(alpha, best)
            assert (high if child["beta"] is None else child["beta"]) == beta
            best = max(best, child["value"])
        assert node["value"] == (best if number == 0 else -best)
        low_bound = node["alpha"] is not None and node["value"] <= node["alpha"]
        high_bound = node["beta"] is not None and node["value"] >= node["beta"]
        assert node["kind"] == ("<" if low_bound else ">" if high_bound else "=")
        unsearched = set(positions[number].legal_moves()) - {child["move"] for child in below}
        cut = answer["cuts"].get(str(number))
        assert (cut is not None) == bool(unsearched)
        if cut is not None:
            assert best == cut["value"] >= cut["beta"] == beta
            assert set(cut["moves"]) == unsearched


@pytest.mark.parametrize(
    ("who", "reason"),
    [
        (agent("random"), "random has no search tree"),
        (agent("alphabeta", ordering="sorted", sort_leaves=True), "sort_leaves: .* debug on"),
        (agent("mcts"), "mcts has no search tree|no plain twin|twin"),
        (agent("iterative"), "table_mb"),
        (agent("mtdf"), "no plain twin"),
    ],
    ids=lambda value: getattr(value, "name", ""),
)
def test_what_has_no_tree_is_refused(who: PlayerSettings, reason: str, ask: Ask) -> None:
    with pytest.raises(ValueError, match=reason):
        ask(explanations.tree, Position.start(), player=who)


def test_a_tree_too_large_says_which_depth_would_do(
    ask: Ask, monkeypatch: pytest.MonkeyPatch
) -> None:
    def tree(depth: int) -> Data:
        who = agent("minimax", depth=depth)
        return ask(explanations.tree, Position.start(), player=who)

    for most, depth, words in (
        (100, 4, r"depth 4 has 317 .*at most 100.*; depth 3 .* 73$"),
        (3, 1, r"\(at most 3\)$"),
    ):
        monkeypatch.setattr(explanations, "MOST_NODES", most)
        with pytest.raises(ConfigError, match=words):
            tree(depth)
    monkeypatch.setattr(explanations, "MOST_NODES", 73)
    assert tree(3)["counts"]["nodes"] == 73
    monkeypatch.setattr(explanations, "MOST_COUNTED", 10_000)
    with pytest.raises(ConfigError, match="depth 9 has more than 10,000"):
        tree(9)


@pytest.mark.parametrize("name", sorted(set(choices("evaluation")) - {"function", "patterns6"}))
def test_parts_are_those_of_agents_evaluate(name: str, ask: Ask, random_game: RandomGame) -> None:
    evaluation = load_evaluation(name)
    game = random_game("standard", 3)
    for position in (game[22], game[-3], game[-2]):
        answer = ask(explanations.parts, position, evaluation=load("evaluation", name))
        assert answer["now"]["value"] == evaluation(position)
        terms = {part["name"]: part["value"] for part in answer["now"]["parts"]}
        assert terms == evaluation.parts(position)
        assert {row["move"] for row in answer["moves"]} == set(position.legal_moves())
        values = [row["value"] for row in answer["moves"]]
        assert values == sorted(values, reverse=True)
        for row in answer["moves"]:
            after = position.play(row["move"])
            if after.is_over:
                assert row["value"] == -after.disc_difference * FINAL_UNIT
                assert row["parts"] == []
            else:
                assert row["value"] == -evaluation(after)
                if row["parts"]:
                    total = sum(part["value"] for part in row["parts"])
                    assert abs(total + row["value"]) <= 0.5


def test_values_of_all_moves(ask: Ask, random_game: RandomGame) -> None:
    position = random_game("standard", 3)[22]
    answer = ask(explanations.values, position, player=agent("alphabeta"))
    engine = build_agent(load("agent", "minimax") | FILL, "minimax")
    assert isinstance(engine, SearchAgent)
    assert {row["move"] for row in answer["moves"]} == set(position.legal_moves())
    for row in answer["moves"]:
        reply = engine.search(position.play(row["move"]), 2)
        assert row["value"] == -(reply.value or 0)
        assert row["line"] == [row["move"], *map(square_name, reply.pv)]
        assert row["nodes"] > 0
    assert answer["moves"][0]["value"] == engine.search(position).value
    assert "alphabeta depth=3" in answer["by"]


@pytest.mark.parametrize(
    ("name", "settings"),
    [
        ("maximizer", {}),
        ("greedy", {}),
        ("alphabeta", {}),
        ("alphabeta", {"depth": 2}),
        ("alphabeta", {"depth": 1, "endgame": 8}),
    ],
)
def test_the_best_value_is_that_of_what_the_agent_plays(
    name: str,
    settings: dict[str, int],
    ask: Ask,
    thinkers: AgentProcesses,
    random_game: RandomGame,
) -> None:
    who, game = agent(name, **settings), random_game("standard", 3)
    games = itertools.chain.from_iterable(random_game("standard", seed) for seed in range(50))
    before = next(  # after a forced pass the plies still count
        position
        for position, after in itertools.pairwise(games)
        if after.must_pass and len(position.moves) > 1
    )
    for position in (game[0], game[21], game[40], game[-7], game[-4], before):
        if position.moves:
            every = ask(explanations.values, position, player=who)["moves"]
            (best,) = hints(thinkers, who, GameState(position), 1)
            assert {row["move"] for row in every} == set(position.legal_moves())
            assert every[0]["value"] == best.value
            best_moves = [row["move"] for row in every if row["value"] == best.value]
            assert square_name(best.move) in best_moves


def test_the_only_move_and_a_forced_pass_have_their_answers(
    ask: Ask, random_game: RandomGame
) -> None:
    games = [random_game("standard", seed) for seed in range(40)]
    positions = list(itertools.chain.from_iterable(games))
    alone = next(position for position in positions if len(position.moves) == 1)
    passing = next(position for position in positions if position.must_pass)

    def moves_of(question: Callable[..., Data], position: Position, **options: Any) -> list[str]:
        answer = ask(question, position, **options)
        return [row["move"] for row in answer["moves"]]

    who, iago = agent("alphabeta"), load("evaluation", "iago")
    assert moves_of(explanations.values, alone, player=who) == list(alone.legal_moves())
    assert moves_of(explanations.values, passing, player=who) == []
    assert moves_of(explanations.parts, passing, evaluation=iago) == []


def test_the_course_of_a_game_is_told_to_black(
    ask: Ask, random_game: RandomGame, played: Callable[..., GameState]
) -> None:
    games = (random_game("mini4", seed) for seed in range(300))
    positions = next(game for game in games if any(position.must_pass for position in game))
    game = played(positions)
    who = with_evaluation(agent("alphabeta"), "disc_count")
    answer = ask(explanations.course, game, player=who)
    assert len(answer["points"]) == len(positions)
    engine = build_agent(with_evaluation(agent("minimax"), "disc_count").agent or {}, "minimax")
    assert isinstance(engine, SearchAgent)
    for number, (point, position) in enumerate(zip(answer["points"], positions, strict=True)):
        sign = 1 if position.to_move is Color.BLACK else -1
        if position.is_over:
            assert point["value"] == sign * position.disc_difference * FINAL_UNIT
        elif position.must_pass:
            assert point["value"] == answer["points"][number + 1]["value"]
        else:
            assert point["value"] == sign * (engine.search(position).value or 0)


def test_a_finished_game_has_nothing_to_ask(ask: Ask, random_game: RandomGame) -> None:
    game = GameState(random_game("standard", 3)[-1])
    for question in (explanations.values, explanations.tree):
        with pytest.raises(ConfigError, match="the game is over"):
            ask(question, game, player=agent("alphabeta"))
    answer = ask(explanations.parts, game, evaluation=load("evaluation", "disc_count"))
    assert abs(answer["now"]["value"]) % FINAL_UNIT == 0
    assert answer["moves"] == []


def test_a_heuristic_for_another_board_is_refused(ask: Ask) -> None:
    small = GameState(Position.start("mini4"))
    with pytest.raises(ConfigError, match="4x4"):
        ask(explanations.parts, small, evaluation=load("evaluation", "iago"))


# ------------------------------------------------------------------ lines on the terminal


NODE = re.compile(r"(?P<star>[* ]) (?P<indent> *)(?:now|[BW] (?P<move>[a-h][1-8]|pass)) .*")
CUT = re.compile(r" +cut: (.*) >= beta (.*), [1-9]\d* moves? .*")
NUMBER = re.compile(r"[+-]\d+")
WINDOW = re.compile(r"  \(((?:alpha|beta) [^)]*)\)$")


def counted(lines: list[str]) -> tuple[int, int, int]:
    """Nodes, evaluations and cutoffs, a line each."""
    nodes = [line for line in lines if NODE.fullmatch(line)]
    evaluations = [line for line in lines if "evaluated" in line]
    cuts = [match for line in lines if (match := CUT.fullmatch(line))]
    numbers = [cut.groups() for cut in cuts if all(map(NUMBER.fullmatch, cut.groups()))]
    assert all(int(value) >= int(beta) for value, beta in numbers)
    return len(nodes), len(evaluations), len(cuts)


def check_lines(agent: SearchAgent, position: Position) -> None:
    """Hold the lines of a traced search to what the compiled one counts."""
    stated, lines = agent.search(position), list(traced(agent, position, agent.depth, None))
    stats = stated.stats
    assert counted(lines) == (stats.nodes, stats.evaluations, stats.cutoffs)
    nodes = [node for line in lines if (node := NODE.fullmatch(line))]
    names = ["pass" if move == PASS else square_name(move) for move in stated.pv]
    assert [node["move"] for node in nodes if node["star"] == "*"] == [None, *names]
    assert f"In all {stats.nodes:,} game states" in lines[-1]
    assert max(map(len, lines)) <= 80


@pytest.mark.parametrize(
    "settings", [{"ordering": "sorted", "sort_leaves": True}, {"final": "win"}]
)
def test_a_search_without_a_tree_is_traced(
    settings: dict[str, Any], positions: list[tuple[Position, str]]
) -> None:
    for position, evaluation in positions:
        check_lines(AlphaBeta(3, load_evaluation(evaluation), **settings), position)


def test_values_are_backed_up() -> None:
    """In minimax each line is worth the best of those below it, seen from the other side."""
    lines = list(traced(Minimax(3, SquareWeights()), Position.start().play("d3"), 3, None))
    matches = [re.fullmatch(r"[* ] ( *)(?:now|[BW] \w\d) +([+-]\d+).*", line) for line in lines]
    nodes = [(len(match[1]) // 2, int(match[2])) for match in matches if match]
    for number, (ply, value) in enumerate(nodes):
        rest = nodes[number + 1 :]
        end = next((index for index, node in enumerate(rest) if node[0] <= ply), len(rest))
        values = [other for deeper, other in rest[:end] if deeper == ply + 1]
        if values:
            assert value == (max(values) if ply == 0 else -max(values))


def test_a_window_has_only_the_bounds_that_there_are() -> None:
    position = Position.from_transcript("f5d6c3d3c4")
    windows = [
        [match[1] for line in traced(agent, position, 3, None) if (match := WINDOW.search(line))]
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
        int(hidden[1].replace(",", ""))
        for hidden in map(re.compile(r" +\.\.\. ([\d,]+) game states? below .*").fullmatch, lines)
        if hidden
    ]
    assert counted(lines)[0] + sum(hidden) == whole[0]
    assert f"In all {whole[0]:,} game states" in lines[-1]
