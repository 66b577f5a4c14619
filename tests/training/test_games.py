"""Games of others are read, and what cannot be read is told with its place."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date
from pathlib import Path

import numpy as np
import pytest

from othello_lab import run_match
from othello_lab.core.notation import PASS, format_ggf, square_name
from othello_lab.core.position import Position
from othello_lab.core.rules import ruleset
from othello_lab.core.system.settings import ConfigError
from othello_lab.core.wthor import WthorGame, format_wthor, offset
from othello_lab.training import games as reading
from othello_lab.training.data_plan import DataConfig
from othello_lab.training.games import read_games
from othello_lab.training.labels import LabelledGames, labelled

STANDARD = ruleset("standard")
Line = tuple[Position, list[int]]


def played(count: int, rules: str = "standard", seed: int = 1) -> list[Line]:
    """Random games: where each begins, and its moves, passes included."""
    rng, found = np.random.default_rng(seed), []
    for _ in range(count):
        start = position = Position.start(rules)
        moves = []
        while not position.is_over:
            moves.append(int(rng.choice(position.moves)) if position.moves else PASS)
            position = position.play(moves[-1])
        found.append((start, moves))
    return found


def as_wthor(games: list[Line]) -> bytes:
    found = [WthorGame(bytes(move for move in moves if move != PASS), 32) for _, moves in games]
    return format_wthor(found, date(2026, 11, 22), 2026)


def as_ggf(games: list[Line], between: str = "\n") -> str:
    texts = []
    for start, moves in games:
        position, told = start, []
        for move in moves:
            told.append((position.to_move, move))
            position = position.play(move)
        texts.append(format_ggf(start.to_obf(), told, PB="one", RE="+2.000"))
    return between.join(texts)


def as_transcripts(games: list[Line]) -> str:
    lines = ["".join(square_name(move) for move in moves if move != PASS) for _, moves in games]
    return "# games\n\n" + "\n".join(lines)


@pytest.fixture
def read(tmp_path: Path) -> Callable[..., tuple[LabelledGames, list[str]]]:
    """Reads files of these contents, by name; with what was told."""

    def read(
        files: dict[str, bytes | str], partly: bool = False, rules: str = "standard"
    ) -> tuple[LabelledGames, list[str]]:
        told: list[str] = []
        for name, content in files.items():
            content = content if isinstance(content, bytes) else content.encode("utf-8")
            (tmp_path / name).write_bytes(content)
        paths = [tmp_path / name for name in files]
        return read_games(paths, ruleset(rules), partly, told.append), told

    return read


def positions(
    games: LabelledGames, rules: str = "standard", **settings: object
) -> list[tuple[int, ...]]:
    rows, left_out = labelled(games, ruleset(rules), DataConfig(**{"exact": 0, **settings}))  # type: ignore[arg-type]
    assert not left_out
    return [(int(r["mover"]), int(r["opponent"]), int(r["score"]), int(r["game"])) for r in rows]


def expected(games: list[Line]) -> list[tuple[int, ...]]:
    found = []
    for number, (position, moves) in enumerate(games):
        line = []
        for move in moves:
            line.append(position)
            position = position.play(move)
        final = position.disc_difference
        found += [
            (p.mover, p.opponent, final if p.to_move is position.to_move else -final, number)
            for p in line
        ]
    return found


@pytest.mark.integration
def test_every_format_holds_the_same_games(
    read: Callable[..., tuple[LabelledGames, list[str]]],
) -> None:
    games = played(40)
    assert any(PASS in moves for _, moves in games)
    for name, content in {
        "a.wtb": as_wthor(games),
        "A.WTB": as_wthor(games),
        "a.ggf": as_ggf(games),
        "b.ggf": "40 " + as_ggf(games, " "),
        "a.txt": as_transcripts(games),
    }.items():
        found, told = read({name: content})
        assert positions(found) == expected(games) and not told, name


def test_games_of_small_boards(read: Callable[..., tuple[LabelledGames, list[str]]]) -> None:
    games = played(10, "mini6")
    found, _ = read({"a.ggf": as_ggf(games)}, rules="mini6")
    assert positions(found, "mini6") == expected(games)


def test_games_from_other_positions(read: Callable[..., tuple[LabelledGames, list[str]]]) -> None:
    later = []
    for start, moves in played(5):
        position = start
        for move in moves[:9]:
            position = position.play(move)
        later.append((position, moves[9:]))
    found, _ = read({"a.ggf": as_ggf(later)})
    assert positions(found) == expected(later)


def test_the_games_of_a_run(tmp_path: Path) -> None:
    from othello_lab import GreedyAgent, RandomAgent

    agents = {"greedy": GreedyAgent(), "random": RandomAgent()}
    options = {"results": tmp_path, "quiet": True, "figures": False, "workers": 0}
    run = run_match(agents, games=6, **options)
    found = read_games([run.folder], STANDARD, False, print)
    rows = positions(found)
    assert len(found) == 6
    empties = [60 - bin(mover | opponent).count("1") + 4 for mover, opponent, *_ in rows]
    assert max(empties) == 52  # its openings, of 8 plies, were nobody's choice
    ends = run.games["disc_difference"].tolist()
    for number, end in enumerate(ends):
        first = next(row for row in rows if row[3] == number)
        assert first[2] == end  # after 8 plies Black is to move
    with pytest.raises(ConfigError, match="its games are of ruleset standard; ruleset=standard"):
        read_games([run.folder], ruleset("mini6"), False, print)


GOOD = as_ggf(played(1))
HEAD = GOOD[: GOOD.index("]B[") + 1]
CASES = {
    "a.wtb, byte 100: 2 games make 152 bytes, and the file has 100": as_wthor(played(2))[:100],
    f"a.wtb, byte {offset(1) + 8}: 99 as move 1 of game 2": as_wthor(played(2))[: offset(1) + 8]
    + b"\x63"
    + as_wthor(played(2))[offset(1) + 9 :],
    f"a.wtb, byte {offset(1)}, game 2: move 1 of the transcript: a1: traps nothing": as_wthor(
        [*played(1), (Position.start(), [0])]
    ),
    f"a.ggf, byte {len(GOOD) + 1}: GGF: a property such as B[d3], or the end ;), is": GOOD
    + "\n"
    + GOOD[:200],
    f"a.ggf, byte {len(GOOD)}: GGF: a game, which begins with (;, and not 'nonsense'": GOOD
    + " nonsense "
    + GOOD,
    "a.ggf, byte 0: GGF: the game has no BO[...]": "(;GM[Othello];)" + GOOD,
    "a.ggf, byte 0: a game on 4x4; ruleset standard is 8x8": as_ggf(played(1, "mini4")) + GOOD,
    "a.ggf, byte 0: move 2 of the transcript: c3: it is the other side's turn": HEAD
    + "B[D3]B[C3];)"
    + GOOD,
    "a.ggf, byte 0: 'x9': not a square": HEAD + "B[x9];)" + GOOD,
    "a.txt, line 3: move 2 of the transcript: d3: square occupied": as_transcripts(
        [(Position.start(), [19, 19]), *played(1)]
    ),
    "a.txt, line 1: transcript 'f5d': 'd' is left over": "f5d\n" + as_transcripts(played(1)),
}


@pytest.mark.parametrize("message", CASES)
def test_what_cannot_be_read(
    read: Callable[..., tuple[LabelledGames, list[str]]], message: str
) -> None:
    """It is told with its place; and the rest is used where that is asked for."""
    name = message.partition(",")[0]
    with pytest.raises(ConfigError) as caught:
        read({name: CASES[message]})
    assert message in str(caught.value)
    found, told = read({name: CASES[message]}, partly=True)
    assert len(found) in (1, 2) and len(told) == 1
    assert told[0].startswith("left out: ") and message in told[0]


def test_not_all_that_is_left_out_is_told(
    read: Callable[..., tuple[LabelledGames, list[str]]],
) -> None:
    text = "\n".join(["a1"] * 15) + "\n" + as_transcripts(played(1))
    _, told = read({"a.txt": text}, partly=True)
    assert len(told) == reading.MOST_TOLD + 1 and "5 further games" in told[-1]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "there is no game to learn from"),
        (b"# nothing\n", "there is no game to learn from"),
        (b"\xff\xfe\x00", "byte 0: text is expected"),
    ],
)
def test_files_without_games(
    read: Callable[..., tuple[LabelledGames, list[str]]], content: bytes, message: str
) -> None:
    with pytest.raises(ConfigError, match=message):
        read({"a.txt": content})
    with pytest.raises(ConfigError, match="there is no game to learn from"):
        read({"a.txt": content}, partly=True)


def test_no_file_and_no_run(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="nowhere: cannot be read"):
        read_games([tmp_path / "nowhere"], STANDARD, False, print)
    with pytest.raises(ConfigError, match=r"is no run: there is no games\.sqlite"):
        read_games([tmp_path], STANDARD, False, print)
