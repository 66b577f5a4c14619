"""Records that are damaged, or made by somebody else: every command that reads them says so in a
line, and none is surprised."""

from __future__ import annotations

import shlex
import shutil
import sqlite3
import tempfile
from contextlib import closing
from pathlib import Path

import pytest
import records
from fuzzing import edited, fuzz, fuzzed, stored
from hypothesis import strategies as st
from refusals import ended
from runs import changed, played, printed, told
from shared import copied

from othello_lab.__main__ import main
from othello_lab.experiments.record.store import CHANGED, Record

COMMANDS = {
    "watch": (["watch", "RUN", "--once"], {0, 2}),
    "verify": (["verify", "RUN", "--games", "2"], {0, 1, 2}),
    "recover": (["recover", "RUN"], {0, 2}),
    "resume": (["resume", "RUN"], {0, 1, 2}),
}
"""The words of each command, and the exit codes that it may have; only the last writes."""


def outcome(command: str, folder: Path) -> object:
    """The exit code of a command that is not surprised by what it reads."""
    words, allowed = COMMANDS[command]
    code, _, said = ended([folder if word == "RUN" else word for word in words])
    assert code in allowed
    if code == 2:
        assert said.count("\n") == 1, said
        assert len(said) < 2000
    return code


# ---------------------------------------------------------------------- bytes


@pytest.mark.integration
@fuzzed(6, 60)
def test_mutated_records_surprise_nobody(inputs: int, recorded_duel: Path, tmp_path: Path) -> None:
    damaged = edited((recorded_duel / "record.sqlite").read_bytes())

    def test(data: st.DataObject) -> None:
        folder = copied(recorded_duel, Path(tempfile.mkdtemp(dir=tmp_path)))
        stored(folder / "record.sqlite", data.draw(damaged))
        for command in COMMANDS:
            outcome(command, folder)

    fuzz(inputs, test)


@pytest.mark.integration
def test_what_can_be_read_is_recovered_and_the_rest_played_again(tmp_path: Path) -> None:
    words = ["agents=duel", "agent@first=greedy", "agent@second=random", "ruleset=mini6"]
    sound = played(tmp_path / "results", *words, "games=40", "openings.plies=6").folder
    damaged = shutil.copytree(sound, tmp_path / "it's damaged")
    with closing(sqlite3.connect(sound / "record.sqlite")) as connection:
        ((size,),) = connection.execute("pragma page_size")
        found = "select pageno from dbstat where name = 'turns' and pagetype = 'leaf'"
        try:
            pages = [page for (page,) in connection.execute(found)]
        except sqlite3.OperationalError:
            pytest.skip("this SQLite does not tell what its pages hold")
    content = bytearray((damaged / "record.sqlite").read_bytes())
    spoilt = size * (pages[len(pages) // 2] - 1)
    content[spoilt : spoilt + size] = bytes(size)
    (damaged / "record.sqlite").write_bytes(content)
    before = {path: path.read_bytes() for path in damaged.iterdir()}

    said = told("resume", damaged, code=2)
    way_out = "othello-lab recover "
    assert way_out in said
    assert shlex.split(said[said.index(way_out) :])[-1] == str(damaged)
    out = printed("recover", damaged)
    made = tmp_path / "it's damaged-recovered"
    with Record.open(made) as record:
        saved = record.count_games()
    assert 0 < saved < 40
    assert f"{saved} of 40 games" in out and str(made) in out
    assert shlex.split(out.splitlines()[-1])[-1] == str(made)
    assert {path: path.read_bytes() for path in damaged.iterdir()} == before, "nothing is lost"
    assert main(["verify", str(made)]) == 0
    assert main(["resume", str(made)]) == 0
    assert records.content(made) == records.content(sound)

    assert main(["recover", str(damaged)]) == 0, "a second time, too"
    (damaged / "record.sqlite").write_bytes(bytes(size) + content[size:])
    assert str(damaged) in told("recover", damaged, code=2)


# ---------------------------------------------------------------------- changed by others

CHEAT = """
import othello_lab, pathlib, sqlite3

class Cheat(othello_lab.RandomAgent):
    def close(self):
        for record in pathlib.Path({results!r}).rglob("record.sqlite"):
            with sqlite3.connect(record) as connection:
                connection.execute("update games set result = 'white', black_points = 0")
"""


@pytest.mark.integration
def test_a_run_keeps_the_sum_of_its_rows_and_notices_changes(
    recorded_duel: Path, tmp_path: Path
) -> None:
    folder = copied(recorded_duel, tmp_path)
    said = told("extend", folder, "games=12", "--force") + told("verify", folder, "--games", 0)
    assert CHANGED not in said
    with closing(sqlite3.connect(folder / "record.sqlite")) as connection, connection:
        connection.execute("update agents set version = version + 1 where agent = 0")
    for words in (["resume", folder, "--force"], ["show", folder]):
        assert CHANGED in told(*words)


@pytest.mark.integration
def test_an_open_agent_that_changes_the_record_at_its_end_is_noticed(tmp_path: Path) -> None:
    (tmp_path / "cheat.py").write_text(CHEAT.format(results=str(tmp_path)))
    words = ["agents=duel", "agent@first=greedy", f"agent@second={tmp_path}/cheat.py:Cheat"]
    said = told("run", *words, "games=6", "figures=none", f"results={tmp_path}/results")
    (folder,) = records.runs_in(tmp_path)
    assert said.index(CHANGED) < said.index("Elo")
    assert CHANGED in (folder / "report.md").read_text() and CHANGED in told("show", folder)
    assert CHANGED in told("verify", folder, code=1)


# ---------------------------------------------------------------------- what it says

ENDLESS = "with recursive n (x) as (select 1 union all select x + 1 from n)"
DEEP = "[" * 100_000
BAD_TURNS = [f"turns = {value}" for value in ("'text'", "x'00'", "zeroblob(10000000)")]
BAD_TURNS += [f"turns = cast(x'{two}' || substr(turns, 3) as blob)" for two in ("4100", "00ff")]
BAD_TURNS += [f"layout = {value}" for value in ("99", "-1", "'x'", "0.5")]
BAD_TURNS += [f"first = {value}" for value in ("0", "first + 1", f"{1 << 62}", "'x'")]
BAD_GAMES = ["white_nodes = white_nodes + 1", "black = 9", "result = 'grey'", "game = -5"]
BAD_GAMES += ["transcript = x'ff00ff'", "transcript = 'a1a2'", "transcript = transcript || 'a1'"]
BAD_GAMES += ["black_points = 9e999"]
NO_SETTINGS = ["[1, 2]", "{", DEEP, "{}"]
NO_RUN = ["versions = '[]'", "format = 'five'", f"format = {1 << 62}"]
NO_RUN += [
    f"config = json_set(config, {part})" for part in ("'$.schedule', 3", "'$.ruleset.name', 'x'")
]
AGENTS = "'$.agents', json('{\"first\": 1, \"second\": 2}')"
DAMAGES = {
    0: ["update job set config = json_set(config, '$.schedule._target_', 'no.such')"],
    1: [
        *(f"update turns set {change} where game = 1" for change in BAD_TURNS),
        "delete from turns where game = 1",
        *(f"update games set {change} where game = 1" for change in BAD_GAMES),
        "update games set pair = 70 where pair = 1",
        "delete from games where game = 1",
        "update job set layouts = '[['",
        "update job set layouts = hex(zeroblob(1000000))",
        "update moves set game = 77 where game = 3",
        "update openings set text = 'zz'",
        "delete from openings",
        "delete from agents",
        f"update job set config = json_set(config, {AGENTS})",
        "insert into job select * from job",
    ],
    2: [
        *(f"drop table {table}" for table in ("games", "turns", "agents", "job")),
        f"drop table turns; create view turns as {ENDLESS} select * from n",
        f"drop table games; create view games as {ENDLESS} select * from n",
        f"drop table job; create view job as {ENDLESS} select x as format from n where x < 0",
        "drop table openings; create virtual table openings using fts5(number, text)",
        "drop table pieces; create table pieces (piece, failure as (hex(zeroblob(1e9))))",
        "create trigger t after insert on sessions begin delete from games; end",
        "alter table games drop column seed",
        "alter table games add column comment text",
        "alter table games rename column black_nodes to knots",
        "update games set transcript = cast(x'ff' as text) where game = 1",  # half a letter
        "delete from job",
        *(f"update job set config = '{text}'" for text in NO_SETTINGS),
        *(f"update job set {change}" for change in NO_RUN),
    ],
}
"""By what `verify` finds them (2: that nothing can be said), what is done to the record."""
IN_PROCESS = ["drop table games", "delete from openings", "delete from agents"]


@pytest.mark.parametrize("in_process", [True, pytest.param(False, marks=pytest.mark.integration)])
@pytest.mark.parametrize("found", DAMAGES)
def test_logical_damages_surprise_nobody(
    recorded_duel: Path, tmp_path: Path, found: int, in_process: bool
) -> None:
    for number, change in enumerate(DAMAGES[found]):
        if not in_process or change in IN_PROCESS:
            folder = changed(copied(recorded_duel, tmp_path / str(number)), change)
            codes = {command: outcome(command, folder) for command in COMMANDS}
            assert codes["verify"] == found, change[:200]
