"""Games of others are read, and what cannot be read is told with its place."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import date
from pathlib import Path

import pytest
from records import query
from taught import Line, positions_of, random_games, scored

from othello_lab.core.notation import PASS, format_ggf, square_name
from othello_lab.core.position import Position
from othello_lab.core.rules import ruleset
from othello_lab.core.system.settings import ConfigError
from othello_lab.core.wthor import WthorGame, format_wthor, offset
from othello_lab.experiments.pairing.game_archives import MOST_TOLD
from othello_lab.training.games import read_games
from othello_lab.training.labels import DataConfig, LabelledGames, labelled

STANDARD = ruleset("standard")
GAMES = random_games(8)


def as_wthor(games: list[Line]) -> bytes:
    result = [WthorGame(bytes(move for move in moves if move != PASS), 32) for _, moves in games]
    return format_wthor(result, date(2026, 11, 22), 2026)


def as_ggf(games: list[Line], between: str = "\n") -> str:
    texts = []
    for line in games:
        plies = [(at.to_move, move) for at, move in zip(positions_of(line), line[1], strict=False)]
        texts.append(format_ggf(line[0].to_obf(), plies, PB="one", RE="+2.000"))
    return between.join(texts)


def as_transcripts(games: list[Line]) -> str:
    lines = ["".join(square_name(move) for move in moves if move != PASS) for _, moves in games]
    return "# games\n\n" + "\n".join(lines)


Reader = Callable[..., tuple[LabelledGames, list[str]]]


@pytest.fixture
def read(tmp_path: Path) -> Reader:
    """Reads files of these contents, by name; with what was told."""

    def read(
        files: dict[str, bytes | str], partly: bool = False, rules: str = "standard"
    ) -> tuple[LabelledGames, list[str]]:
        messages: list[str] = []
        for name, content in files.items():
            content = content if isinstance(content, bytes) else content.encode("utf-8")
            (tmp_path / name).write_bytes(content)
        paths = [tmp_path / name for name in files]
        return read_games(paths, ruleset(rules), partly, messages.append), messages

    return read


def positions(
    games: LabelledGames, rules: str = "standard", **settings: object
) -> list[tuple[int, ...]]:
    rows, left_out = labelled(games, ruleset(rules), DataConfig(**{"exact": 0, **settings}))  # type: ignore[arg-type]
    assert not left_out
    return [(int(r["mover"]), int(r["opponent"]), int(r["score"]), int(r["game"])) for r in rows]


def expected(games: list[Line]) -> list[tuple[int, ...]]:
    return [
        (*position.masks, score, number)
        for number, line in enumerate(games)
        for position, score in scored(line)
    ]


@pytest.mark.parametrize("name", ["a.wtb", "A.WTB", "a.ggf", "b.ggf", "a.txt"])
@pytest.mark.integration
def test_every_format_holds_the_same_games(read: Reader, name: str) -> None:
    contents = {
        "wtb": as_wthor(GAMES),
        "WTB": as_wthor(GAMES),
        "ggf": as_ggf(GAMES) if name[0] == "a" else "8 " + as_ggf(GAMES, " "),
        "txt": as_transcripts(GAMES),
    }
    assert any(PASS in moves for _, moves in GAMES)
    result, messages = read({name: contents[name.partition(".")[2]]})
    assert positions(result) == expected(GAMES) and not messages


def test_games_of_small_boards(read: Reader) -> None:
    games = random_games(6, "mini6")
    result, _ = read({"a.ggf": as_ggf(games)}, rules="mini6")
    assert positions(result, "mini6") == expected(games)


def test_games_from_other_positions(read: Reader) -> None:
    later = [(positions_of(line)[9], line[1][9:]) for line in GAMES[:5]]
    result, _ = read({"a.ggf": as_ggf(later)})
    assert positions(result) == expected(later)


def test_the_games_of_a_run(recorded_duel: Path) -> None:
    result = read_games([recorded_duel], STANDARD, False, print)
    rows = positions(result)
    ends = query(recorded_duel, "select disc_difference from games order by game")
    assert len(result) == len(ends) == 8
    empties = [64 - bin(mover | opponent).count("1") for mover, opponent, *_ in rows]
    assert max(empties) == 52  # its openings, of 8 plies, were nobody's choice
    for number, (end,) in enumerate(ends):
        first = next(row for row in rows if row[3] == number)
        assert first[2] == end  # after 8 plies Black is to move
    with pytest.raises(ConfigError, match="ruleset=standard"):
        read_games([recorded_duel], ruleset("mini6"), False, print)


ONE, TWO = random_games(1), random_games(2)
GOOD = as_ggf(ONE)
HEAD = GOOD[: GOOD.index("]B[") + 1]
SECOND = offset(1)
"""Where the second game of a WTHOR file begins."""
WRONG = as_wthor(TWO)[: SECOND + 8] + b"\x63" + as_wthor(TWO)[SECOND + 9 :]
CASES = [
    ("a.wtb", "byte 100: 2 games make 152 bytes", as_wthor(TWO)[:100]),
    ("a.wtb", f"byte {SECOND + 8}: 99 as move 1 of game 2", WRONG),
    ("a.wtb", f"game 2, byte {SECOND}: move 1 ", as_wthor([*ONE, (Position.start(), [0])])),
    ("a.ggf", "line 2: GGF: a property", f"{GOOD}\n{GOOD[:200]}"),
    ("a.ggf", "line 1: position 'nonsense'", f"{GOOD} nonsense {GOOD}"),
    ("a.ggf", "line 1: a game on 4x4", as_ggf(random_games(1, "mini4")) + GOOD),
    ("a.ggf", "line 1: move 2 of the transcript: c3", HEAD + "B[D3]B[C3];)" + GOOD),
    ("a.txt", "line 3: move 2 ", as_transcripts([(Position.start(), [19, 19]), *ONE])),
    ("a.txt", "line 1: transcript 'f5d'", "f5d\n" + as_transcripts(ONE)),
]


@pytest.mark.parametrize(("name", "where", "content"), CASES, ids=[where for _, where, _ in CASES])
def test_what_cannot_be_read(read: Reader, name: str, where: str, content: bytes | str) -> None:
    """Its place is named, and the rest is used where that is asked for."""
    with pytest.raises(ConfigError, match=re.escape(f"{name}, {where}")):
        read({name: content})
    result, messages = read({name: content}, partly=True)
    assert len(result) in (1, 2) and len(messages) == 2
    assert messages[0].startswith("left out: ") and f"{name}, {where}" in messages[0]


def test_not_all_that_is_left_out_is_told(read: Reader) -> None:
    text = "\n".join(["a1"] * 15) + "\n" + as_transcripts(ONE)
    _, messages = read({"a.txt": text}, partly=True)
    assert len(messages) == MOST_TOLD + 1 and "15 games" in messages[-1]


@pytest.mark.parametrize("content", [b"", b"# nothing\n", b"\xff\xfe\x00"])
def test_files_without_games(read: Reader, content: bytes) -> None:
    with pytest.raises(ConfigError, match="byte 0" if b"\xff" in content else "no game"):
        read({"a.txt": content})
    with pytest.raises(ConfigError, match="no game"):
        read({"a.txt": content}, partly=True)


def test_no_file_and_no_run(tmp_path: Path) -> None:
    for path, reason in ((tmp_path / "nowhere", "nowhere"), (tmp_path, "no run")):
        with pytest.raises(ConfigError, match=reason):
            read_games([path], STANDARD, False, print)
