"""One command for each thing that the lab is built for."""

from __future__ import annotations

import os
import re
import shlex
import sys
import urllib.request
from pathlib import Path
from typing import NamedTuple

import pytest
from processes import Command, await_
from served import free_port
from shared import JOBS, copied

pytestmark = pytest.mark.integration
DOCS = Path(__file__).resolve().parents[1] / "docs"
BERT = shlex.quote(f"{sys.executable} {DOCS}/examples/bert.py")
LAB = f"{shlex.quote(sys.executable)} -m othello_lab"

FILES = {
    "mine.py": """
from othello_lab.agents.evaluation.helpers import CORNERS, count, moves

def hollow(mover, opponent):
    corners = count(mover & CORNERS) - count(opponent & CORNERS)
    return 10 * corners + count(moves(mover, opponent)) - count(moves(opponent, mover))
""",
    "own.py": """
from othello_lab import Agent, Decision

class Corners(Agent):
    def decide(self, position, limits):
        corners = [move for move in position.moves if move in (0, 7, 56, 63)]
        return Decision((corners or position.moves)[0])
""",
    "search.py": """
from othello_lab import PASS, Agent, Decision

class Right(Agent):
    def __init__(self, depth, evaluation):
        self.depth, self.evaluation = depth, evaluation

    def value(self, position, depth, alpha, beta):
        if position.is_over:
            return 10**9 * position.disc_difference
        if depth == 0:
            return self.evaluation(position)
        for move in position.moves or [PASS]:
            alpha = max(alpha, self.child(position.play(move), depth - 1, alpha, beta))
            if alpha >= beta:
                break
        return alpha

    def child(self, position, depth, alpha, beta):
        return -self.value(position, depth, -beta, -alpha)

    def decide(self, position, limits):
        best, choice = -(10**15), None
        for move in position.moves:
            value = -self.value(position.play(move), self.depth - 1, -(10**15), -best)
            if value > best:
                best, choice = value, move
        return Decision(choice, best)

class Wrong(Right):
    def child(self, position, depth, alpha, beta):
        return -self.value(position, depth, -beta, alpha)
""",
    "paip.py": """
import random

def edges(player, board):
    legal = [square for square in range(11, 89) if is_legal(square, player, board)]
    return random.choice([square for square in legal if square // 10 in (1, 8)] or legal)

def is_legal(square, player, board):
    other = "o" if player == "@" else "@"
    if board[square] != ".":
        return False
    for step in (-11, -10, -9, -1, 1, 9, 10, 11):
        place = square + step
        while board[place] == other:
            place += step
        if board[place] == player and board[place - step] == other:
            return True
    return False
""",
    "lines.txt": "f5d6c3d3c4\nf5f6e6f4\n",
    "my_conf/agents/pair.yaml": """
mine:
  _target_: othello_lab.AlphaBeta
  depth: 2
  evaluation: {_target_: othello_lab.SquareWeights}
random: {_target_: othello_lab.RandomAgent}
""",
    "two_humans": "d3\nd3\nc3\nquit\n",
    "asking": "depth 2\nd3\ndebug on once\npruning off\nc5\nquit\n",
    "gtp": "name\ngenmove black\nshowboard\nquit\n",
    "nboard": "nboard 2\nping 1\nset depth 3\ngo\nping 2\nquit\n",
}


class Row(NamedTuple):
    """A thing that the lab does.

    commands: a line each, as typed after ``othello-lab``, with ``< FILE`` for its input and
    ``{ladder}`` for the folder of a recorded job. patterns: all are in what is printed, or in
    ``files`` (a glob), if given. code: the exit code of the last command."""

    name: str
    commands: str
    patterns: str
    files: str = ""
    code: int = 0


DUEL = "agents=duel agent@first=alphabeta agent@second"
ROWS = [
    Row("help", "--help", "match.*run.*resume"),
    Row("first_run", "run agents=ab_vs_minimax figures=none", r"14[.]08 %"),
    Row("ladder", "show {ladder}", r"alphabeta_5 .*\[-?\d+, -?\d+\]"),
    Row("figures_in_the_page", "report {ladder}", "<svg", "results/*/*/report.html"),
    Row("sweep_of_depth", "show {sweep}", "depth"),
    Row(
        "sweep_of_heuristics",
        "run -m agents=ab_mirror evaluation=iago,mobility depth=1 games=4 figures=none",
        "mobility",
    ),
    Row(
        "sweep_of_two_settings",
        f"run -m {DUEL}=greedy first.depth=1,2 first.evaluation=iago,mobility games=4 figures=none",
        "iago",
        "results/*/*/report.md",
    ),
    Row("agents", "agents list", "alphabeta.*greedy.*maximizer.*minimax.*random.*weighted"),
    Row("evaluations", "agents list evaluations", "edge_stability.*mobility.*patterns"),
    Row("own_heuristic", "match ./mine.py:hollow iago games=8 figures=none", "hollow.*iago"),
    Row("own_agent", "match ./own.py:Corners random games=8 figures=none", "Corners"),
    Row("own_agent_checked", "agents check ./own.py:Corners", "ok"),
    Row(
        "own_search_checked",
        "agents check ./search.py:Right --search --seconds 10",
        "searches as minimax does",
    ),
    Row(
        "bug_named", "agents check ./search.py:Wrong --search --seconds 10", "probable cause", "", 1
    ),
    Row("functions_of_paip", "match ./paip.py:edges random games=4 figures=none", "edges"),
    Row(
        "beside_the_book",
        "run experiment=paip_1ply games=8 figures=none",
        "(?i)publish|book",
        "results/*/*/report.md",
    ),
    Row(
        "ordering_of_paip",
        "run experiment=paip_ordering games=2 figures=none",
        r"18[.]9",
        "results/*/*/report.md",
    ),
    Row("search_family", "run agents=search_family depth=3 games=2 figures=none", "mtdf"),
    Row("nodes", "run agents=ab_mirror depth=6 limits.nodes=500 games=4 figures=none", "nodes"),
    Row(
        "seconds", "run agents=ab_mirror depth=20 limits.seconds=0.02 games=2 figures=none", "time"
    ),
    Row("clock", "run agents=ab_mirror depth=20 limits.clock=0.5 games=2 figures=none", "time"),
    Row(
        "processor_time",
        "run agents=duel agent@first=champion agent@second=mcts limits.cpu_seconds=0.01 games=2"
        " figures=none",
        "champion.*mcts",
    ),
    Row(
        "swiss",
        "run agents=classics schedule=swiss games=2 openings=start openings.repeats=true"
        " figures=none",
        "alphabeta_5",
    ),
    Row("knockout", "run agents=classics schedule=knockout games=2 figures=none", "alphabeta_5"),
    Row(
        "gauntlet",
        "run agents=classics schedule=gauntlet schedule.champion=random games=2 figures=none",
        "alphabeta_5",
    ),
    Row(
        "sequential_test",
        f"run {DUEL}=random depth=2 schedule=sprt schedule.elo0=0 schedule.elo1=50 games=400"
        " figures=none",
        "(?i)accepted|H1|stronger",
    ),
    Row("rules_wpi", "run agents=ab_mirror depth=2 ruleset=wpi games=4 figures=none", "left"),
    Row(
        "rules_mini6",
        "run agents=ab_mirror depth=2 evaluation=disc_count ruleset=mini6 games=4 figures=none",
        "left",
    ),
    Row(
        "openings_of_a_file",
        "run agents=ab_mirror depth=2 openings=file openings.file=lines.txt games=4 figures=none",
        "left",
    ),
    Row("extend", "extend {ladder} games=6", "alphabeta_5"),
    Row("resume", "resume {duel}", "alphabeta"),
    Row("list", "list {results}", "classics"),
    Row("show", "show {duel}", "alphabeta.*random"),
    Row("compare", "compare {ladder} {duel}", "classics|duel"),
    Row("verify", "verify {duel} --seconds 10", "holds"),
    Row("watch", "watch {ladder} --once", "alphabeta_5"),
    Row("latex", "report {ladder} --latex", "tabular"),
    Row("bibtex", "report {ladder} --bibtex", "@"),
    *(
        Row(f"export_{kind}", f"export {{duel}} {kind} --output out", pattern, files)
        for kind, files, pattern in (
            ("ggf", "out", r"GM\[Othello\]"),
            ("wthor", "out*", "duel"),
            ("csv", "out/games.csv", "black.*white"),
            ("pgn-results", "out", "White"),
        )
    ),
    Row(
        "games_as_openings",
        "export {duel} ggf --output games.ggf\n"
        "run agents=ab_mirror depth=1 openings=file openings.file=games.ggf openings.plies=8"
        " games=4 figures=none",
        "left",
    ),
    Row("own_yaml", "run --config-dir my_conf agents=pair games=4 figures=none", "mine.*random"),
    Row("plan", "plan elo=30 draws=0.04", "pairs"),
    Row("study_pruning", "report {study}", "smallest", "results/*/*/report.md"),
    Row(
        "study_errors",
        "study errors agents=ab_mirror depth=2 study.positions=4 figures=none",
        "(?i)discs",
    ),
    Row("study_scaling", "study scaling games=4 figures=none", "(?i)elo"),
    Row(
        "cluster",
        "run executor=dask executor.workers=2 agents=ab_mirror depth=2 games=8 figures=none",
        "left",
    ),
    Row(
        "class_checked",
        "agents check folder={docs}/examples/class",
        "anna.* ok.*carla.* ok.*frida.*traps nothing",
        code=1,
    ),
    Row(
        "class",
        "run experiment=class folder={docs}/examples/class limits.seconds=2 figures=none",
        "carla",
        "results/class/*/programs/carla.html",
    ),
    Row("referee", "play referee {bert} {bert} games=1 limit=60 seed=1", "(?i)wins|draw"),
    Row(
        "our_agent_by_files",
        "play referee {bert} '{lab} play wpi carl agent=greedy' games=1 limit=60 isolation=process",
        "(?i)wins|draw",
    ),
    Row("gtp", "play gtp agent=alphabeta agent.depth=3 < gtp", "= [A-H][1-8]"),
    Row("nboard", "play nboard agent=alphabeta < nboard", "(?s)=== .*pong 2"),
    Row(
        "engine_checked",
        "agents check-engine gtp '{lab} play gtp agent=greedy' --patience 60",
        "whole game +ok",
    ),
    Row("line_protocol", "match 'sh {docs}/examples/bot.sh' greedy games=4 figures=none", "bot"),
    Row(
        "illegal_move_told",
        "play terminal board=ascii white=human < two_humans",
        "d3: square occupied",
    ),
    Row(
        "states_and_pruning", "play terminal white.depth=2 board=ascii < asking", "states examined"
    ),
    Row("series", "play series games=2 black=greedy white=random", "(?i)greedy"),
    Row(
        "replay_and_review",
        "play terminal black=greedy white=casual board=ascii --record two.txt\n"
        "play replay two.txt\nplay review two.txt",
        "(?i)mistake|lost",
    ),
    Row("levels", "play levels", "(?s)starter.*casual.*champion"),
    Row(
        "solver",
        "agents solve '-O-XXX--XXXXXXX-XXOXO-O-XOOOOO--XXOXOXXX-XO-XOXXOOOOOXXXOX-OOOXO X'",
        "(?i)score",
    ),
    Row("evaluate", "agents evaluate f5d6c3d3c4 --evaluation iago", "(?i)edge.*mobility"),
    Row("perft", "core perft --depth 7", "55,?092"),
    Row("bench", "bench", r"signature \d+"),
    Row(
        "balanced_openings",
        "openings made.txt --plies 4 --evaluation iago --depth 2 --shallow 1 --play-depth 1"
        " --games 60",
        "(?m)^[a-h][1-8]",
        "made.txt",
    ),
    Row("selfplay", "selfplay games=40 depth=1 evaluation=iago", "(?i)positions"),
    Row("training", "report {training}", "tuned", "results/*/*/report.md"),
    Row("bad_input", "run agents=nope", "nope.*ab_vs_minimax", "", 2),
]


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    return tmp_path


def typed(line: str) -> Command:
    words = shlex.split(line)
    source = Path(words[-1] if "<" in words else os.devnull)
    if "<" in words:
        words = words[: words.index("<")]

    def reading() -> None:
        os.dup2(os.open(source, os.O_RDONLY), 0)
        sys.stdin = os.fdopen(0, closefd=False)

    return Command(*words, before=reading)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_it_goes_on_working(row: Row, here: Path, request: pytest.FixtureRequest) -> None:
    jobs = {
        name: copied(request.getfixturevalue(f"recorded_{name}"), here / "results" / name)
        for name in JOBS
        if f"{{{name}}}" in row.commands
    }
    if "{results}" in row.commands:
        copied(request.getfixturevalue("recorded_ladder"), here / "results" / "classics")
    output = ""
    for line in row.commands.splitlines():
        command = typed(
            line.format(**jobs, docs=DOCS, lab=LAB, bert=BERT, results=here / "results")
        )
        output, _ = command.communicate(timeout=300)
        code = row.code if line == row.commands.splitlines()[-1] else 0
        assert command.returncode == code, output
        assert "Traceback" not in output, output
    if row.files:
        files = sorted(here.glob(row.files))
        assert files, output
        output = "\n".join(path.read_bytes().decode(errors="replace") for path in files)
    assert re.search(row.patterns, output, re.DOTALL), output


def test_a_match_in_a_notebook(here: Path) -> None:
    from othello_lab import match

    assert "iago" in str(match("iago", "mobility", games=4))


def test_a_search_of_a_position() -> None:
    from othello_lab import AlphaBeta, Position, SquareWeights

    assert AlphaBeta(4, SquareWeights()).search(Position.start()).stats.nodes > 4


def test_the_page_answers(here: Path) -> None:
    port = free_port()
    command = Command("play", "web", f"web.port={port}", "web.browser=false")
    address = f"http://127.0.0.1:{port}"
    try:
        await_(lambda: address in command.printed)
        for path in ("/", "/lecture"):
            with urllib.request.urlopen(address + path) as answer:
                assert "Othello" in answer.read().decode()
    finally:
        command.kill()
