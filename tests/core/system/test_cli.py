"""How a package's command line ends, whatever its commands do."""

from __future__ import annotations

import io
import os
import subprocess
import sys
from argparse import ArgumentTypeError
from collections.abc import Sequence
from importlib import metadata

import pytest
from refusals import refused, refuses

from othello_lab.core.system.cli import DISTRIBUTION, Command, Parser, dispatch, whole_number


def ends(error: BaseException) -> Command:
    def command(arguments: Sequence[str]) -> int:
        raise error

    return command


COMMANDS: dict[str, Command] = {
    "count": len,
    "refuse": ends(ValueError("\x1b[31mred\n")),
    "break": ends(OSError("gone")),
    "leave": ends(KeyboardInterrupt()),
    "fail": ends(ZeroDivisionError()),
}


@pytest.mark.parametrize(
    ("words", "code", "out", "err"),
    [
        ("", 0, "usage\n", ""),
        ("--help", 0, "usage\n", ""),
        ("-h count", 0, "usage\n", ""),
        ("count a b c", 3, "", ""),
        ("refuse", 2, "", "lab: \\x1b[31mred\\n\n"),
        ("break", 1, "", "lab: gone\n"),
        ("leave", 130, "", "stopped\n"),
    ],
)
@pytest.mark.parametrize("typed", [False, True])
def test_a_command_line_ends_in_order(
    words: str,
    code: int,
    out: str,
    err: str,
    typed: bool,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    arguments = words.split()
    monkeypatch.setattr(sys, "argv", ["lab", *arguments] if typed else ["lab", "fail"])
    failures = {ValueError: 2, OSError: 1}
    assert dispatch("lab", "usage\n", COMMANDS, None if typed else arguments, failures) == code
    assert capsys.readouterr() == (out, err)


def test_a_command_that_is_none_and_the_version(capsys: pytest.CaptureFixture[str]) -> None:
    def main(words: Sequence[str]) -> int:
        return dispatch("lab", "usage\n", COMMANDS, words, {})

    refuses(["braek"], "'braek'", *sorted(COMMANDS), "'break'", main=main)
    assert main(["--version"]) == 0
    assert capsys.readouterr().out == f"Othello strategy lab {metadata.version(DISTRIBUTION)}\n"
    with pytest.raises(ZeroDivisionError):  # a mistake of ours is not hidden
        main(["fail"])
    assert whole_number(2)("2") == 2
    for text in ("1", "2.0", "two"):
        with refused(text, error=ArgumentTypeError):
            whole_number(2)(text)


@pytest.mark.integration
def test_who_stops_reading_ends_a_command_quietly() -> None:
    """``othello-lab core perft | head -1``."""
    command = [sys.executable, "-m", "core", "perft", "--depth", "6"]
    reader, writer = os.pipe()
    os.close(reader)
    process = subprocess.run(command, stdout=writer, stderr=subprocess.PIPE, text=True, check=False)
    os.close(writer)
    said = [line for line in process.stderr.splitlines() if "compil" not in line]
    assert (process.returncode, said) == (141, [])


def test_all_that_is_printed_may_be_narrow(monkeypatch: pytest.MonkeyPatch) -> None:
    def tell(arguments: Sequence[str]) -> int:
        print("30\N{NO-BREAK SPACE}µs ± 1, größe")
        return 0

    narrow = io.TextIOWrapper(io.BytesIO(), encoding="ascii")
    monkeypatch.setattr(sys, "stdout", narrow)
    assert dispatch("lab", "usage\n", {"tell": tell}, ["tell"], {}) == 0
    narrow.flush()
    assert narrow.buffer.getvalue() == b"30 us ~ 1, gr\\xf6\\xdfe\n"  # type: ignore[attr-defined]


def test_a_board_may_begin_with_an_empty_square() -> None:
    parser = Parser(prog="lab")
    parser.add_argument("position")
    parser.add_argument("-X", action="store_true")
    for board in ("-X-XO---" + 56 * "-" + "X", f"{64 * '-'} o", "-*.xo" + 11 * "-"):
        parsed = parser.parse_args([board, "-X"])
        assert parsed.position.strip() == board and parsed.X
