"""Every parser is fed with what is almost right, and with anything at all: it reads it, or refuses
it in one line.

FUZZ_EXAMPLES=100000 in the environment feeds each with so many inputs; 50 without it. (The last
one is as slow as resuming a run, and gets at most 2,000.)
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from datetime import date
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from rich.console import Console

from othello_lab import RULESETS, Position
from othello_lab.agents.commands.solve import read_problem
from othello_lab.agents.external.mailbox import MailboxFile
from othello_lab.agents.external.wpi import name_of
from othello_lab.agents.loading import split_target
from othello_lab.agents.search.window.probcut import FITTED, ProbCut
from othello_lab.core.notation import parse_ggf, parse_obf, parse_square, split_transcript
from othello_lab.core.rules import ruleset
from othello_lab.core.wpi import may_go_on, move_text, read_move
from othello_lab.core.wthor import WthorGame, format_wthor
from othello_lab.experiments.config import read
from othello_lab.experiments.jobs.replan import replanned
from othello_lab.experiments.jobs.run import run
from othello_lab.experiments.pairing.openings import Opening, read_openings
from othello_lab.experiments.record.reading import damages, reading
from othello_lab.experiments.report.watch import look
from othello_lab.experiments.sweep.folder import Sweep
from othello_lab.play.web import messages

EXAMPLES = int(os.environ.get("FUZZ_EXAMPLES", "50"))
fuzzed = settings(
    max_examples=EXAMPLES,
    deadline=None,
    database=None,
    suppress_health_check=list(HealthCheck),
)

TRANSCRIPT = "f5d6c3d3c4f4f6f3e6e7d7g6d8c5"
OBF = "---------------------------OX------XO--------------------------- X; D3:+0; C4:-2;"
BOARD = "8 -------- -------- -------- ---O*--- ---*O--- -------- -------- -------- *"
GGF = f"(;GM[Othello]PC[GGS/os]TY[8]BO[{BOARD}]B[d3//0.01]W[C5/1.5/2]B[e6]W[f5//0.1];)"
PIECES = [*"XO-*.[]();:/ \n\t0123456789abcdefghBW", "pass", "--", "(;", ";)", "B[", "9" * 5000]
PIECES += ["\0", "\N{ARABIC-INDIC DIGIT FIVE}", "\N{SUPERSCRIPT TWO}", "\ud800", "\ufeff"]
PIECES += [
    "nan",
    ".inf",
    "1e999",
    "null",
    "{",
    "&a",
    "*a",
    "!!python/name:os.system",
    "${oc.env:A}",
]


@st.composite
def edited(draw: st.DrawFn, *texts: str) -> str:
    """A text after a few changes: a piece put in, something taken out, doubled, or cut off."""
    text = draw(st.sampled_from(texts))
    for _ in range(draw(st.integers(0, 4))):
        start = draw(st.integers(0, len(text)))
        end = min(len(text), start + draw(st.integers(0, 8)))
        kind = draw(st.integers(0, 3))
        if kind == 0:
            piece = draw(st.sampled_from(PIECES) | st.text(max_size=3))
            text = text[:start] + piece + text[end:]
        elif kind == 1:
            text = text[:start] + text[end:]
        elif kind == 2:
            text = text[:end] + text[start:]
        else:
            text = text[:start]
    return text


def refused(parse: Callable[[], object]) -> None:
    """What cannot be read is told in one line that can be read."""
    said = "it is read"
    try:
        parse()
    except ValueError as error:
        said = str(error)
    assert "\n" not in said
    assert 0 < len(said) < 1500


# ---------------------------------------------------------------------- notation

rules = st.sampled_from(sorted(RULESETS))


@fuzzed
@given(edited("d3", "--", "pass") | st.text(max_size=6), st.sampled_from([4, 6, 8]))
def test_squares(text: str, side: int) -> None:
    refused(lambda: parse_square(text, side))


@fuzzed
@given(edited(TRANSCRIPT, "f5 d6, c3;d3", "d3--") | st.text(), rules)
def test_transcripts(text: str, name: str) -> None:
    refused(lambda: split_transcript(text))
    refused(lambda: Position.from_transcript(text, name))
    refused(lambda: Opening.read(text, name))


@fuzzed
@given(edited(OBF, "-" * 64 + "X", "-----OX--XO----- X") | st.text(), rules)
def test_obf(text: str, name: str) -> None:
    refused(lambda: parse_obf(text, ruleset(name).squares))
    refused(lambda: Position.from_obf(text, name))
    refused(lambda: read_problem(text, ruleset(name)))
    refused(lambda: Opening.read(text, name))


@fuzzed
@given(edited(GGF, f"2 {GGF}{GGF}") | st.text())
def test_ggf(text: str) -> None:
    refused(lambda: parse_ggf(text))


@fuzzed
@given(edited(f"# openings\n{TRANSCRIPT}\n\n{OBF}\n{GGF}{GGF}\n") | st.text(), rules, st.data())
def test_files_of_openings(
    tmp_path_factory: pytest.TempPathFactory, text: str, name: str, data: st.DataObject
) -> None:
    path = tmp_path_factory.getbasetemp() / "openings.txt"
    path.write_bytes(text.encode("utf-8", "surrogatepass"))
    plies = data.draw(st.none() | st.integers(0, 70))
    refused(lambda: read_openings(path, ruleset(name), plies))


WPI = ("(W D 3)", "( b  p 12 )\r\n", "(W E 6)\n", "(B P 1)")


@fuzzed
@given(edited(*WPI) | st.text(), rules, st.booleans())
def test_moves_of_the_file_protocol(text: str, name: str, passing: bool) -> None:
    position = Position.start(name)
    if passing:
        side = ruleset(name).side
        board = f"XO{'-' * (2 * side - 2)}XO".ljust(side * side, "-")
        position = Position.from_obf(f"{board} X", name).play("c1")
    move = None

    def read_it() -> None:
        nonlocal move
        move = read_move(text, position)

    refused(read_it)
    if move is None:
        return
    position.play(move)
    assert not may_go_on(text)  # nobody waits for more of a whole move
    word = move_text(move, position.to_move, position.ruleset)
    assert read_move(word, position) == move


@fuzzed
@given(st.binary(max_size=40) | st.binary(min_size=4000, max_size=5000))
def test_files_of_the_file_protocol(
    tmp_path_factory: pytest.TempPathFactory, content: bytes
) -> None:
    slip = MailboxFile(tmp_path_factory.getbasetemp() / "anna.out")
    slip.path.write_bytes(content)
    text = slip.read()
    assert text is not None
    if not may_go_on(text):
        refused(lambda: read_move(text, Position.start("wpi")))


@fuzzed
@given(edited("./anna", "java -cp build Bert", "python3 'my bots/carl.py' depth=3") | st.text())
def test_names_of_programs(text: str) -> None:
    refused(lambda: name_of(text))


@fuzzed
@given(st.binary() | st.integers(0, 151).flatmap(lambda at: st.tuples(st.just(at), st.binary())))
def test_files_of_wthor_games(
    tmp_path_factory: pytest.TempPathFactory, content: bytes | tuple[int, bytes]
) -> None:
    """Any bytes, and a good file with others from some place on."""
    if isinstance(content, tuple):
        at, new = content
        moves = bytes(Position.from_obf(OBF).moves[:1])
        good = format_wthor(2 * [WthorGame(moves, 32)], date(2026, 1, 31), 2026)
        content = good[:at] + new + good[at + len(new) :]
    path = tmp_path_factory.getbasetemp() / "openings.wtb"
    path.write_bytes(content)
    refused(lambda: read_openings(path, ruleset("standard"), 2))


# ---------------------------------------------------------------------- YAML

PROBCUT = (FITTED / "square_weights.yaml").read_text(encoding="utf-8")
PROBCUT = "- depth:".join(PROBCUT.split("- depth:")[:3])  # two checks are enough


@fuzzed
@given(edited(PROBCUT) | st.text())
def test_files_of_probcut(tmp_path_factory: pytest.TempPathFactory, text: str) -> None:
    path = tmp_path_factory.getbasetemp() / "probcut.yaml"
    path.write_bytes(text.encode("utf-8", "surrogatepass"))
    refused(lambda: ProbCut.load(path).array(1.5))


SWEEP = "command: run -m depth=1,2\narguments: [depth=1,2]\ncombinations:\n- [depth=1]\n- []\n"


@fuzzed
@given(edited(SWEEP) | st.text())
def test_files_of_sweeps(tmp_path_factory: pytest.TempPathFactory, text: str) -> None:
    folder = tmp_path_factory.getbasetemp() / "sweep"
    folder.mkdir(exist_ok=True)
    (folder / "sweep.yaml").write_bytes(text.encode("utf-8", "surrogatepass"))
    refused(lambda: Sweep.read(folder))


# ---------------------------------------------------------------------- what a page and a user say

SAID = (
    '{"type":"move","move":"d3","ply":4}',
    '{"type":"new","rules":"wpi","black":{"name":"human"},"white":{"name":"mcts","settings":{"a":1}}}',
    '{"type":"ask","id":7,"name":"tree","options":{"ply":3,"depth":2},"ref":9}',
    '{"type":"pace","playing":true,"delay":0.5}',
)


@fuzzed
@given(edited(*SAID) | st.text())
def test_messages_of_a_page(text: str) -> None:
    def read_all() -> None:
        message, _ = messages.read(text)
        if isinstance(message, messages.AskMessage):
            messages.check_question(message)

    refused(read_all)


@fuzzed
@given(
    edited("./mine.py:f", "mine.f", "./o.py:alphabeta_searcher(3, score)", "./o.py:f(g(1), -2.5)")
)
def test_targets(text: str) -> None:
    refused(lambda: split_target(text))


# ---------------------------------------------------------------------- records


@pytest.fixture(scope="module")
def small_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    words = ["agents=duel", "agent@first=greedy", "agent@second=random", "games=2"]
    words += ["figures=false", "executor=serial", f"results={tmp_path_factory.mktemp('small')}"]
    return run(read(words), "test", Console(quiet=True)).folder


@fuzzed
@given(st.data())
def test_records(small_run: Path, data: st.DataObject) -> None:
    content = bytearray((small_run / "games.sqlite").read_bytes())
    for _ in range(data.draw(st.integers(1, 6))):
        start = data.draw(st.integers(0, len(content) - 1))
        piece = data.draw(st.binary(min_size=1, max_size=4) | st.just(bytes(512)))
        content[start : start + len(piece)] = piece
    folder = small_run.parent / "mutated"
    folder.mkdir(exist_ok=True)
    (folder / "games.sqlite").write_bytes(content)

    def read_all() -> None:
        look(folder, Console(quiet=True))
        with reading(folder) as record:
            list(damages(record))

    refused(read_all)


CONFIGS = ["seed: 1\n", "", "\0\0\0", "{ ] :", "- a\n", "executor: 3\n", "a: &a [*a]\n"]


@settings(fuzzed, max_examples=min(EXAMPLES // 5, 2000))
@given(edited(*CONFIGS))
def test_files_of_settings(small_run: Path, text: str) -> None:
    """The one beside the record is held against it when a run is resumed."""
    folder = small_run.parent / "configured"
    if not folder.exists():
        shutil.copytree(small_run, folder)
    (folder / "config.yaml").write_bytes(text.encode("utf-8", "surrogatepass"))
    moved = dict.fromkeys(("workers", "executor", "address"))
    refused(lambda: replanned(folder, None, None, moved, False, False, lambda lines: None))
