"""Programs of all protocols, alone and in runs: they play to the end of their games, and one that
does wrong loses its game for that reason."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from bots import EXAMPLES, bot, engine, in_game, in_run, player
from chosen import rows_mostly_nightly
from processes import await_
from records import content, query
from runs import line_of

from othello_lab import PASS, Color, Limits, Position
from othello_lab.__main__ import main
from othello_lab.agents.agent import Agent, Decision, SearchStats
from othello_lab.agents.external import FunctionAgent, GtpAgent, LineAgent, NBoardAgent, WpiAgent
from othello_lab.agents.external_agent import is_outside
from othello_lab.core.game import DIED, FINISHED, GARBAGE, HUNG, ILLEGAL, LATE, RAISED, RESIGNED
from othello_lab.core.system.processes import descendants


def strategy(folder: Path, line: str) -> str:
    """The target of a strategy of this line, written into a folder."""
    (folder / "mine.py").write_text(f"def wrong(player, board):\n    {line}\n")
    return f"{folder}/mine.py:wrong"


pytestmark = pytest.mark.usefixtures("scratch")

MAKERS: dict[str, Callable[[Path, str, float], Agent]] = {
    "gtp": lambda _, trait, patience: GtpAgent(engine("gtp", trait), patience=patience),
    "nboard": lambda _, trait, patience: NBoardAgent(engine("nboard", trait), 2, patience),
    "line": lambda to, line, patience: LineAgent(bot(to, line, after=1), patience),
    "line at its start": lambda to, line, patience: LineAgent(bot(to, begin=line), patience),
    "wpi": lambda to, line, patience: WpiAgent(player(to, line, after=1), patience=patience),
    "function": lambda to, line, patience: FunctionAgent(strategy(to, line)),
}
TROUBLES = {
    "gtp": {
        "dies": (DIED, "exit code 9", "out of luck"),
        "resigns": (RESIGNED, ""),
        "illegal": (ILLEGAL, "a1"),
        "nonsense": (GARBAGE, "'the corner'"),
        "pass-word": (ILLEGAL, "pass"),
        "refuses": (GARBAGE, "'genmove black'", "no idea"),
        "raw": (GARBAGE, "'I am lost'", "'genmove black'"),
        "other-number": (GARBAGE, "'=999 d3'"),
        "chatters": (GARBAGE, "thinking"),
        "garbage": (GARBAGE, "'Welcome!'"),
        "plays-go": (GARBAGE, "unsupported game"),
        "no-clear_board": (GARBAGE, "'clear_board'", "unknown command"),
    },
    "nboard": {
        "dies": (DIED, "exit code 9", "out of luck"),
        "illegal": (ILLEGAL, "a1"),
        "nonsense": (GARBAGE, "'=== corner"),
        "same-pong": (HUNG, "0.3 s"),
        "volunteers": (GARBAGE, "without being asked"),
    },
    "line": {
        "print('a1', flush=True)": (ILLEGAL, "a1"),
        "print('--', flush=True)": (ILLEGAL, "pass"),
        "print('z9', flush=True)": (GARBAGE, "'z9'"),
        "print('d3, I think', flush=True)": (GARBAGE, "'d3, I think'"),
        "print(rest[3], 'nodes=many', flush=True)": (GARBAGE, "'nodes=many'"),
        "print(rest[3], 'nodes=9' + '9' * 17, flush=True)": (GARBAGE, "nodes"),
        "print(rest[3], 'value', flush=True)": (GARBAGE, "'value'"),
        "print(rest[3], 'value=', flush=True)": (GARBAGE, "'value='"),
        "print(rest[3], 'x=1', flush=True)": (GARBAGE, "'x=1'"),
        "print(rest[3], 'depth=1.5', flush=True)": (GARBAGE, "'depth=1.5'"),
        "print(rest[3], 'value=nan', flush=True)": (GARBAGE, "'value=nan'"),
        "os.write(1, f'{rest[3]}\\n{rest[3]}\\n'.encode())": (GARBAGE, "without being asked"),
        "os.write(1, bytes(range(256)) + b'\\n')": (GARBAGE, "answered"),
        "os.write(1, b'x' * 100_000); signal.pause()": (GARBAGE, "65536"),
        "1 / 0": (DIED, "ZeroDivisionError"),
    },
    "line at its start": {
        "os._exit(4)": (DIED, "exit code 4"),
        "print('hello', flush=True)": (GARBAGE, "'hello'"),
        "signal.pause()": (HUNG, "0.3 s"),
    },
    "wpi": {
        "honest('(W D 4)')": (ILLEGAL, "'(W D 4)'"),
        "1 / 0": (DIED, "ZeroDivisionError"),
        "open(NAME + '.out', 'w').write('(W'); signal.pause()": (LATE, "'(W"),
        "signal.pause()": (LATE, "player.out"),
    },
    "function": {
        "return None": (GARBAGE, "None"),
        "return 19": (GARBAGE, "19"),
        "return 'd3'": (GARBAGE, "'d3'"),
        "return 34.0": (GARBAGE, "34.0"),
        "return 44": (ILLEGAL, "occupied"),
        "return board[100]": (RAISED, "IndexError"),
        "import sys; sys.exit(3)": (RAISED, "SystemExit"),
    },
}
"""By protocol: what the program does, the reason for which it loses, and what is said of it."""
SLOW = {"gtp", "line", "wpi"}


@pytest.mark.parametrize(
    ("protocol", "trouble"),
    [
        pytest.param(name, trouble, marks=pytest.mark.integration if name in SLOW else ())
        for name, troubles in TROUBLES.items()
        for trouble in troubles
    ],
)
def test_a_program_that_does_wrong_loses(protocol: str, trouble: str, tmp_path: Path) -> None:
    reason, *expected = TROUBLES[protocol][trouble]
    agent = MAKERS[protocol](tmp_path, trouble, 0.3 if reason == HUNG else 60)
    rules = "wpi" if protocol == "wpi" else "standard"
    limits = Limits(seconds=0.2 if reason == LATE else 60) if protocol == "wpi" else None
    record = in_game(agent, rules, limits)
    loser = Position.start(rules).to_move
    assert (record.winner, record.end_reason) == (loser.other, reason), record.detail
    assert all(words in record.detail for words in expected), record.detail


# ------------------------------------------------------------------ in runs

STRATEGY = f"{Path(__file__).with_name('paip.py')}:random_strategy"
FROM_START = ["openings=start", "openings.repeats=true", "limits.seconds=30"]

Made = Callable[[Path], str]


def running(protocol: str, *traits: str) -> Made:
    return lambda _: engine(protocol, *traits)


def breaking(trouble: str, program: Callable[..., str] = bot) -> Made:
    return lambda folder: program(folder, trouble, after=3)


@pytest.mark.integration
@pytest.mark.parametrize(
    ("agent", "make", "words"),
    [
        ("gtp", running("gtp"), ["games=6", "limits.seconds=10"]),
        ("nboard", running("nboard"), ["games=6", "ruleset=wpi", "depth=2"]),
        ("line", lambda _: f"{sys.executable} {EXAMPLES / 'bot.py'}", ["games=10", "seed=2"]),
        ("wpi", player, [*FROM_START, "games=4", "executor.workers=2"]),
    ],
)
def test_games_are_played_to_their_end(
    agent: str, make: Made, words: list[str], tmp_path: Path, scratch: Path
) -> None:
    before = set(descendants([os.getpid()]))
    ends = in_run(tmp_path, agent, make(tmp_path), *words)
    assert {end for _, end in ends.pairs} == {FINISHED}, ends.log
    assert set(descendants([os.getpid()])) <= before
    assert not list(scratch.iterdir())


@pytest.mark.integration
@pytest.mark.parametrize(
    ("agent", "make", "words", "reason", "log"),
    [
        ("line", breaking("os._exit(3)"), [], DIED, "exit code 3"),
        ("line", breaking("signal.pause()"), ["limits.hang=1"], HUNG, "1 s"),
        (
            "line",
            breaking("[(print('#', flush=True), time.sleep(0.05)) for _ in iter(int, 1)]"),
            ["limits.hang=1"],
            HUNG,
            "",
        ),
        (
            "line",
            breaking("time.sleep(0.4); print(rest[3], flush=True)"),
            ["limits.seconds=0.2"],
            LATE,
            "",
        ),
        ("gtp", running("gtp", "illegal"), [], ILLEGAL, "a1"),
        ("wpi", breaking("honest('(W D 4)')", player), FROM_START, ILLEGAL, "'(W D 4)'"),
        ("function", lambda to: strategy(to, "return None"), [], GARBAGE, "None"),
    ],
)
def test_who_does_wrong_loses_for_that_reason(
    agent: str, make: Made, words: list[str], reason: str, log: str, tmp_path: Path
) -> None:
    ends = in_run(tmp_path, agent, make(tmp_path), *words)
    assert ends.pairs == {("random", reason)}, ends.log
    assert log in ends.log


@pytest.mark.integration
def test_a_program_plays_again_after_a_game_that_it_has_lost(tmp_path: Path) -> None:
    flag = str(tmp_path / "flag")
    die = f"print('farewell', file=sys.stderr); open({flag!r}, 'x'); os._exit(1)"
    once = f"print(rest[3], flush=True) if os.path.exists({flag!r}) else exec({die!r})"
    ends = in_run(tmp_path, "line", bot(tmp_path, once, after=3), "games=6")
    assert {end for _, end in ends.pairs} == {DIED, FINISHED}
    assert "line: farewell" in (ends.folder / "output.txt").read_text()


@pytest.mark.integration
def test_what_a_bot_says_that_it_thinks_is_recorded(tmp_path: Path) -> None:
    notes = "value=-1.5 depth=4 nodes=77 evaluations=30"
    answer = f"print(rest[3], {notes!r}, '\\n\\n# fine', flush=True)"
    ends = in_run(tmp_path, "line", bot(tmp_path, answer, after=0))
    assert {end for _, end in ends.pairs} == {FINISHED}, ends.log
    rows = query(
        ends.folder,
        "select distinct value, depth, nodes, evaluations from moves join agents using (agent) "
        "where name = 'line' and nodes > 0",
    )
    assert rows == [(-1.5, 4, 77, 30)]


@pytest.mark.integration
def test_a_strategys_run_comes_out_the_same_on_any_number_of_workers(tmp_path: Path) -> None:
    folders = []
    for number in (1, 2):
        words = [f"executor.workers={number}", "games=8"]
        ends = in_run(tmp_path / str(number), "function", STRATEGY, *words)
        assert {end for _, end in ends.pairs} == {FINISHED}
        folders.append(ends.folder)
    assert content(folders[0]) == content(folders[1])
    assert query(folders[0], "select reproducible from agents where name = 'function'") == [(1,)]
    assert main(["verify", str(folders[0]), "--trust", "--games", "4"]) == 0


# ------------------------------------------------------------------ bots by the line protocol

START = Position.start()


def test_answers_that_are_understood(tmp_path: Path) -> None:
    answers = {
        "d3": Decision(19),
        " D3 ": Decision(19),
        "d3 value=+4 depth=2": Decision(19, 4, (), 2),
        "d3 value=0.25 playouts=5": Decision(19, 0.25, stats=SearchStats(playouts=5)),
        "\\n# hm\\nd3 nodes=3": Decision(19, stats=SearchStats(nodes=3)),
    }
    said = f"print({list(answers)}[ANSWERS - 1].replace('\\\\n', chr(10)), flush=True)"
    agent = LineAgent(bot(tmp_path, said, after=0), 30)
    agent.begin_game(Color.BLACK, START, 1)
    assert [agent.decide(START, Limits()) for _ in answers] == list(answers.values())
    agent.close()


def test_what_a_bot_is_told(tmp_path: Path) -> None:
    log = tmp_path / "log"
    hear, answer = f"open({str(log)!r}, 'a').write(line)", "print(rest[3].upper(), flush=True)"
    agent = LineAgent(bot(tmp_path, answer, after=0, hear=hear), 30, [6, 8])
    agent.begin_game(Color.WHITE, START, 17)
    position = START.play("d3")
    agent.observe(19, position)
    assert agent.decide(position, Limits()).move == position.moves[0]
    agent.decide(position, Limits(seconds=1.5))
    agent.decide(position, Limits(clock=20))
    passing = Position.from_obf("XO--" + "-" * 60 + " X").play("c1")
    agent.observe(PASS, passing)
    small = Position.start("mini6")
    agent.begin_game(Color.BLACK, small, 3)
    agent.decide(small, Limits())
    agent.close()
    board, small_board = position.to_obf()[:-2], small.to_obf()[:-2]
    moves = " ".join(position.legal_moves())
    assert log.read_text().splitlines() == [
        f"game O 8 17 {START.to_obf()}",
        "played X d3",
        f"move O {board} - {moves}",
        f"move O {board} move:1.500 {moves}",
        f"move O {board} game:20.000 {moves}",
        "played X --",
        f"game X 6 3 {small.to_obf()}",
        f"move X {small_board} - {' '.join(small.legal_moves())}",
        "quit",
    ]


# ------------------------------------------------------------------ agents that start a program


@pytest.mark.parametrize(
    "agent_of", [LineAgent, GtpAgent, lambda command: NBoardAgent(command, 2), WpiAgent]
)
def test_nothing_is_started_because_somebody_looks(
    agent_of: Callable[[str], LineAgent], tmp_path: Path
) -> None:
    flag = tmp_path / "started"
    (tmp_path / "bot.py").write_text(f"open({str(flag)!r}, 'w')")
    agent = agent_of(f"{sys.executable} {tmp_path / 'bot.py'}")
    agent.prepare()
    agent.close()
    assert is_outside(agent) and not agent.reproducible
    assert agent.from_start == isinstance(agent, WpiAgent)
    assert not flag.exists()


@pytest.mark.integration
def test_check_shows_what_a_bot_prints_at_a_failure_alone(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    chatter = "print('chatter', file=sys.stderr)"
    assert main(["agents", "check", "line", f"command={bot(tmp_path, begin=chatter)}"]) == 0
    out, errors = capfd.readouterr()
    assert "chatter" not in out + errors
    assert (
        main(["agents", "check", "line", f"command={bot(tmp_path, 'os._exit(3)', 3, chatter)}"])
        == 1
    )
    assert "chatter" in capfd.readouterr().out


@pytest.mark.integration
def test_check_finds_a_bot_that_hangs_and_leaves_nothing(tmp_path: Path) -> None:
    command = bot(tmp_path, "signal.pause()", after=3)
    before = set(descendants([os.getpid()]))
    assert "5 s after decide" in line_of(
        "agents", "check", "line", f"command={command}", "--patience", "5", code=1
    )
    await_(lambda: set(descendants([os.getpid()])) <= before)


@pytest.mark.parametrize(
    ("make", "named"),
    [
        (lambda: LineAgent(""), "command="),
        (lambda: LineAgent("'").prepare(), "quotation"),
        (lambda: LineAgent("cat", patience=0), "patience=0"),
        (lambda: LineAgent("cat", boards=[5]), "boards=5"),
        (lambda: GtpAgent("cat", settings=3), "settings=3"),  # type: ignore[arg-type]
        (lambda: GtpAgent("cat", time=2), "time=2"),  # type: ignore[arg-type]
        (lambda: WpiAgent("cat", "../cat"), "name=../cat"),
        (lambda: WpiAgent("cat", folder="/nowhere").prepare(), "folder=/nowhere"),
        (lambda: WpiAgent("cat", folder="/proc").prepare(), "folder=/proc"),
    ],
)
def test_bad_settings_of_programs(make: Callable[[], Any], named: str) -> None:
    with pytest.raises(ValueError, match=named):
        make()


# ------------------------------------------------------------------ the examples of each language

TOOLS = {
    "c": ("cc",),
    "java": ("javac", "jar", "java"),
    "js": ("node",),
    "sh": ("sh",),
    "py": ("python3",),
    "rs": ("rustc",),
    "go": ("go",),
}
"""Programs that a language needs, by the end of its files' names."""
PLAYERS = {
    "./anna": ("c", "rs", "go"),
    "java Bert": ("java",),
    "java -cp . Bert": ("java",),
    "java -jar bert.jar": ("java",),
    "node bert.js": ("js",),
    "sh bert.sh": ("sh",),
    "python3 bert.py": ("py",),
}
BOTS = {
    "./bot": ("c", "rs", "go"),
    "java Bot": ("java",),
    "node bot.js": ("js",),
    "sh bot.sh": ("sh",),
    "python3 bot.py": ("py",),
}


def in_each_language(programs: dict[str, tuple[str, ...]], always: tuple[str, ...]) -> list[object]:
    rows = [(language, command) for command, made in programs.items() for language in made]
    return rows_mostly_nightly(rows, always)


def build(language: str, name: str, folder: Path) -> None:
    """Copy an example into a folder and build it by the commands in its first comment."""
    missing = [tool for tool in TOOLS[language] if shutil.which(tool) is None]
    if missing:
        pytest.skip(f"needs {', '.join(missing)}")
    source = folder / f"{name}.{language}"
    shutil.copy(next(EXAMPLES.rglob(source.name)), source)
    comment = source.read_text("utf-8")[:800]
    commands = re.findall(r"^\W*((?:cc|javac|jar|rustc|go build) .*)$", comment, re.MULTILINE)
    environment = os.environ | {"GOCACHE": str(folder.parent / "cache"), "GO111MODULE": "off"}
    for command in commands:
        subprocess.run(command, shell=True, cwd=folder, check=True, env=environment)


@pytest.fixture
def empty(tmp_path: Path) -> Path:
    folder = tmp_path / "empty"
    folder.mkdir()
    return folder


def lab(folder: Path, *words: str) -> str:
    """Return all that a command of the lab prints, given in this folder."""
    command = [sys.executable, "-m", "othello_lab", *words]
    environment = os.environ | {"COLUMNS": "200"}
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.integration
@pytest.mark.parametrize(("language", "command"), in_each_language(PLAYERS, ()))
def test_players_of_the_file_protocol(
    language: str, command: str, tmp_path: Path, empty: Path
) -> None:
    name = "anna" if command == "./anna" else "Bert" if "java" in command else "bert"
    build(language, name, empty)
    shutil.copy(EXAMPLES / "bert.py", empty / "emil.py")
    record = ("--record", str(tmp_path / "games.txt"))
    words = ["isolation.children=[bert]"] if language == "sh" else []  # it runs tr, rm and mv
    referee = "play", "referee", command, "python3 emil.py", "games=1", "seed=1", *record
    shown = lab(empty, *referee, *words)
    assert shown.count("The game is over: ") == 1, shown


@pytest.mark.integration
@pytest.mark.parametrize(("language", "command"), in_each_language(BOTS, ("sh",)))
def test_bots_of_the_line_protocol(
    language: str, command: str, tmp_path: Path, empty: Path
) -> None:
    build(language, "Bot" if language == "java" else "bot", empty)
    words = ["agent@first=line", f"first.command='{command}'", "agent@second=random", "games=2"]
    quiet = ["figures=none", "searches.positions=1", "trial=false", "executor.workers=1"]
    results = tmp_path / "results"
    lab(empty, "run", "agents=duel", *words, *quiet, f"results={results}", "isolation=closed")
    (record,) = results.rglob("record.sqlite")
    assert query(record.parent, "select distinct end_reason from games") == [(FINISHED,)]
