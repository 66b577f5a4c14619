"""What a command cannot do with its words is one line, which names the bad word."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from refusals import refuses

from othello_lab.__main__ import main
from othello_lab.agents.external import GtpAgent, LineAgent, WpiAgent

FUNCTIONS = Path(__file__).with_name("external") / "paip.py"
SEARCHES = "agents check {words} --search"
RUN = "run agents=duel agent@second=greedy games=2 results=TMP/results agent@first={words}"
FILES = f"{RUN} openings=start"

REFUSED = {
    "agents check {words}": {
        "": "TARGET",
        "alphabeat": "'alphabeat' choose alphabeta",
        "alphabeta dpth=3": "AlphaBeta 'dpth' 'depth'",
        "alphabeta depth": "'depth' key=value",
        "alphabeta depth=0": "depth 0: from 1 to 64",
        "alphabeta evaluation=iagoo": "'iagoo'",
        "nowhere.Class": "nowhere searched",
        "no/such/file.py:Class": "no/such/file.py",
        "TMP/picky.py:Piky favourite=1": "'Piky' 'Picky'",
        "TMP/picky.py:Picky": "Picky favourite",
        "misbehaving.NotAnAgent": "misbehaving.NotAnAgent Agent subclass",
        "greedy --patience 0": "--patience 0 seconds",
        "greedy --config-dir nowhere": "--config-dir nowhere",
        "folder=none": "folder=none",
        "folder=TMP protocol=gtp": "protocol",
        "folder=TMP limit=0": "limit",
        "folder=TMP what=3": "what",
    },
    SEARCHES: {
        "greedy": "greedy evaluation",
        "probcut": "probability",
        "alphabeta --depths 0": "0 1 to 6",
        "alphabeta --depths two": "'two' 1,2,3",
        "alphabeta --evaluation iagoo": "'iagoo'",
        f"{FUNCTIONS}:weighted_score depth=2": "depth=2 function",
        f"{FUNCTIONS}:random_strategy --evaluation disc_count": "--depths",
        f"{FUNCTIONS}:nothing": "'nothing'",
    },
    "agents check file {words}": {
        "": "command java",
        "no-such-program": "'no-such-program'",
        "'./an_na'_-x": "'./an na'",
        "cat_'a_b'": "name=WORD",
        "cat limit=0": "limit=0",
        "cat name=a/b": "name=a/b word",
        "cat limits=3": "limits",
        "cat limit": "limit",
    },
    "agents check-engine {words}": {
        "gtp no-such-engine": "'no-such-engine'",
        "uci cat": "'uci' gtp nboard",
        "gtp": "COMMAND",
        "gtp cat --patience -1": "seconds",
    },
    RUN: {
        "line": "'first' 'command'",
        "line first.command=no-such-program": "'line' 'no-such-program'",
        "line first.command=cat ruleset=mini6": "'line' 8x8",
        "line first.command=cat limits.nodes=10": "limits.nodes=10",
        "nboard first.command=cat depth=2 limits.nodes=10": "limits.nodes=10",
        "wpi first.command=cat openings=random": "'wpi' openings=",
        f"function first.target={FUNCTIONS}:maximizer": "'function' maximizer' evaluate",
        f"function first.target={FUNCTIONS}:random_strategy ruleset=mini6": "'function' 8x8",
        "openspiel first.target=othello_lab.agents.external.openspiel:mcts": "OpenSpiel",
    },
    FILES: {
        "wpi first.command=cat first.folder=. executor.workers=2": "'wpi' folder=. workers=1",
        "wpi first.command=cat first.folder=. executor=serial agent@second=wpi "
        "second.command=cat second.folder=.": "'wpi_2' folder=. 'wpi_1' cat.in cat.out",
    },
}
"""Of each command, its words (of which ``_`` stands for a blank within one), and what must be named
in this order."""

PICKY = """
from othello_lab import Agent

class Picky(Agent):
    def __init__(self, favourite: int) -> None:
        self.favourite = favourite
"""


@pytest.mark.parametrize(
    ("command", "words", "named"),
    [(command, *row) for command, rows in REFUSED.items() for row in rows.items()],
)
def test_bad_words_are_one_line(
    command: str, words: str, named: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "picky.py").write_text(PICKY)
    asked = command.format(words=words).replace("TMP", str(tmp_path)).split()
    if "file" in asked:
        asked = [word.replace("_", " ") for word in asked]
    refuses(main, asked, capsys, *named.split())
    assert not (tmp_path / "results").exists()


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
