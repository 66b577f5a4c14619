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
TESTS = Path(__file__).resolve().parent
DOCS = TESTS.parent / "docs"
SEARCH = (TESTS / "agents" / "checks" / "students" / "negamax.py").read_text("utf-8")
BERT = shlex.quote(f"{sys.executable} {DOCS}/examples/bert.py")
LAB = f"{shlex.quote(sys.executable)} -m othello_lab"

FILES = {
    "mine.py": """
from othello_lab.agents.evaluation.helpers import CORNERS, count, moves

def hollow(mover, opponent):
    corners = count(mover & CORNERS) - count(opponent & CORNERS)
    return 10 * corners + count(moves(mover, opponent)) - count(moves(opponent, mover))
""",
    "own.py": (TESTS / "misbehaving.py").read_text("utf-8"),
    "paip.py": (TESTS / "agents" / "external" / "paip.py").read_text("utf-8"),
    "search.py": SEARCH,
    "wrong.py": SEARCH.replace("depth - 1, -beta, -alpha", "depth - 1, -beta, alpha"),
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

    commands: as typed after ``othello-lab``, joined by ``&&``, with ``< FILE`` for the input and
    ``{ladder}`` for the folder of a recorded job. pattern: is in what is printed, or in ``files``
    (a glob), if given. code: the exit code of the last command."""

    name: str
    commands: str
    pattern: str
    files: str = ""
    code: str = "0"


ROWS = r"""
help ¦ --help ¦ match.*run.*resume
first_run ¦ run agents=ab_vs_minimax ¦ 14[.]08 %
ladder ¦ show {ladder} ¦ alphabeta_5 .*\[-?\d+, -?\d+\]
figures_in_the_page ¦ report {ladder} ¦ <svg ¦ results/*/*/report.html
sweep_of_depth ¦ show {sweep} ¦ depth
sweep_of_heuristics ¦ run -m agents=ab_mirror evaluation=iago,mobility depth=1 games=4 ¦ mobility
sweep_of_two_settings ¦ run -m agents=duel agent@first=alphabeta agent@second=greedy
    first.depth=1,2 first.evaluation=iago,mobility games=4 ¦ iago ¦ results/*/*/report.md
agents ¦ agents list ¦ alphabeta.*greedy.*maximizer.*minimax.*random.*weighted
evaluations ¦ agents list evaluations ¦ edge_stability.*mobility.*patterns
own_heuristic ¦ match ./mine.py:hollow iago games=8 ¦ hollow.*iago
own_agent ¦ match ./own.py:Mine random games=8 ¦ Mine
own_agent_checked ¦ agents check ./own.py:Mine ¦ ok
own_search_checked ¦ agents check ./search.py:Student --search --positions 4 ¦ as minimax does
bug_named ¦ agents check ./wrong.py:Student --search --positions 4 ¦ probable cause ¦ ¦ 1
functions_of_paip ¦ match ./paip.py:random_strategy greedy games=4 ¦ random_strategy
beside_the_book ¦ run experiment=paip_1ply games=8 ¦ (?i)publish|book ¦ results/*/*/report.md
ordering_of_paip ¦ run experiment=paip_ordering games=2 ¦ 18[.]9 ¦ results/*/*/report.md
search_family ¦ run agents=search_family depth=3 games=2 ¦ mtdf
nodes ¦ run agents=ab_mirror depth=6 limits.nodes=500 games=4 ¦ nodes
seconds ¦ run agents=ab_mirror depth=20 limits.seconds=0.02 games=2 ¦ time
clock ¦ run agents=ab_mirror depth=20 limits.clock=0.5 games=2 ¦ time
processor_time ¦ run agents=duel agent@first=champion agent@second=mcts limits.cpu_seconds=0.01
    games=2 ¦ champion.*mcts
swiss ¦ run agents=classics schedule=swiss games=2 openings=start openings.repeats=true
    ¦ alphabeta_5
knockout ¦ run agents=classics schedule=knockout games=2 ¦ alphabeta_5
gauntlet ¦ run agents=classics schedule=gauntlet schedule.champion=random games=2 ¦ alphabeta_5
sequential_test ¦ run agents=duel agent@first=alphabeta agent@second=random depth=2 schedule=sprt
    schedule.elo0=0 schedule.elo1=50 games=400 ¦ (?i)accepted|H1|stronger
rules_wpi ¦ run agents=ab_mirror depth=2 ruleset=wpi games=4 ¦ left
rules_mini6 ¦ run agents=ab_mirror depth=2 evaluation=disc_count ruleset=mini6 games=4 ¦ left
openings_of_a_file ¦ run agents=ab_mirror depth=2 openings=file openings.file=lines.txt games=4
    ¦ left
extend ¦ extend {ladder} games=6 ¦ alphabeta_5
resume ¦ resume {duel} ¦ alphabeta
list ¦ list {results} ¦ classics
show ¦ show {duel} ¦ alphabeta.*random
compare ¦ compare {ladder} {duel} ¦ classics|duel
verify ¦ verify {duel} --seconds 10 ¦ holds
watch ¦ watch {ladder} --once ¦ alphabeta_5
latex ¦ report {ladder} --latex ¦ tabular
bibtex ¦ report {ladder} --bibtex ¦ @
export_ggf ¦ export {duel} ggf --output out ¦ GM\[Othello\] ¦ out
export_wthor ¦ export {duel} wthor --output out ¦ duel ¦ out*
export_csv ¦ export {duel} csv --output out ¦ black.*white ¦ out/games.csv
export_pgn-results ¦ export {duel} pgn-results --output out ¦ White ¦ out
games_as_openings ¦ export {duel} ggf --output games.ggf && run agents=ab_mirror depth=1
    openings=file openings.file=games.ggf openings.plies=8 games=4 ¦ left
own_yaml ¦ run --config-dir my_conf agents=pair games=4 ¦ mine.*random
plan ¦ plan elo=30 draws=0.04 ¦ pairs
study_pruning ¦ report {study} ¦ smallest ¦ results/*/*/report.md
study_errors ¦ study errors agents=ab_mirror depth=2 study.positions=4 ¦ (?i)discs
study_scaling ¦ study scaling games=4 ¦ (?i)elo
cluster ¦ run executor=dask executor.workers=2 agents=ab_mirror depth=2 games=8 ¦ left
class_checked ¦ agents check folder={docs}/examples/class
    ¦ anna.* ok.*carla.* ok.*frida.*traps nothing ¦ ¦ 1
class ¦ run experiment=class folder={docs}/examples/class limits.seconds=2 ¦ carla
    ¦ results/class/*/programs/carla.html
referee ¦ play referee {bert} {bert} games=1 limit=60 seed=1 ¦ (?i)wins|draw
our_agent_by_files ¦ play referee {bert} '{lab} play wpi carl agent=greedy' games=1 limit=60
    isolation=process ¦ (?i)wins|draw
gtp ¦ play gtp agent=alphabeta agent.depth=3 < gtp ¦ = [A-H][1-8]
nboard ¦ play nboard agent=alphabeta < nboard ¦ (?s)=== .*pong 2
engine_checked ¦ agents check-engine gtp '{lab} play gtp agent=greedy' --patience 60
    ¦ whole game +ok
line_protocol ¦ match 'sh {docs}/examples/bot.sh' greedy games=4 ¦ bot
illegal_move_told ¦ play terminal board=ascii white=human < two_humans ¦ d3: square occupied
states_and_pruning ¦ play terminal white.depth=2 board=ascii < asking ¦ states examined
series ¦ play series games=2 black=greedy white=random ¦ (?i)greedy
replay_and_review ¦ play terminal black=greedy white=random ruleset=mini4 board=ascii
    --record two.txt && play replay two.txt && play review two.txt ¦ with a choice were best
levels ¦ play levels ¦ (?s)starter.*casual.*champion
solver ¦ agents solve '-O-XXX--XXXXXXX-XXOXO-O-XOOOOO--XXOXOXXX-XO-XOXXOOOOOXXXOX-OOOXO X'
    ¦ (?i)score
evaluate ¦ agents evaluate f5d6c3d3c4 --evaluation iago ¦ (?i)edge.*mobility
perft ¦ core perft --depth 7 ¦ 55,?092
bench ¦ bench ¦ signature \d+
balanced_openings ¦ openings made.txt --plies 4 --evaluation iago --depth 2 --shallow 1
    --play-depth 1 --games 60 ¦ (?m)^[a-h][1-8] ¦ made.txt
selfplay ¦ selfplay games=40 depth=1 evaluation=iago ¦ (?i)positions
training ¦ report {training} ¦ tuned ¦ results/*/*/report.md
bad_input ¦ run agents=nope ¦ nope.*ab_vs_minimax ¦ ¦ 2
"""
"""A row each; of a long one a second line goes on. No run draws figures."""


def rows() -> list[Row]:
    lines = ROWS.strip().replace("\n    ", " ").splitlines()
    return [Row(*map(str.strip, line.split("¦"))) for line in lines]


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


@pytest.mark.parametrize("row", rows(), ids=lambda row: row.name)
def test_it_goes_on_working(row: Row, here: Path, request: pytest.FixtureRequest) -> None:
    jobs = {
        name: copied(request.getfixturevalue(f"recorded_{name}"), here / "results" / name)
        for name in JOBS
        if f"{{{name}}}" in row.commands
    }
    if "{results}" in row.commands:
        copied(request.getfixturevalue("recorded_ladder"), here / "results" / "classics")
    *before, last = row.commands.split(" && ")
    for line in (*before, last):
        words = line.format(**jobs, docs=DOCS, lab=LAB, bert=BERT, results=here / "results")
        if words.startswith(("run ", "match ", "study ")):
            words += " figures=none"
        command = typed(words)
        output, _ = command.communicate(timeout=300)
        assert command.returncode == (int(row.code) if line is last else 0), output
        assert "Traceback" not in output, output
    if row.files:
        files = sorted(here.glob(row.files))
        assert files, output
        output = "\n".join(path.read_bytes().decode(errors="replace") for path in files)
    assert re.search(row.pattern, output, re.DOTALL), output


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
