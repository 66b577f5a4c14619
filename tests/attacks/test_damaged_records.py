"""Records that are damaged, or made by somebody else: every command that reads them says so in a
line, and none is surprised."""

from __future__ import annotations

import os
import shlex
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
import records
from chosen import mostly_nightly
from fuzzing import Draw
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
@pytest.mark.parametrize("many", mostly_nightly([6, 60], [6]))
def test_mutated_records_surprise_nobody(recorded_duel: Path, tmp_path: Path, many: int) -> None:
    """MUTATED_RECORDS=3000 in the environment takes so many."""
    sound = (recorded_duel / "games.sqlite").read_bytes()
    for number in range(many if many == 6 else int(os.environ.get("MUTATED_RECORDS", many))):
        folder = shutil.copytree(recorded_duel, tmp_path / str(number))
        (folder / "games.sqlite").write_bytes(Draw(number).damaged(sound))
        for command in COMMANDS:
            outcome(command, folder)


@pytest.mark.integration
def test_what_can_be_read_is_recovered_and_the_rest_played_again(tmp_path: Path) -> None:
    words = ["agents=duel", "agent@first=greedy", "agent@second=random", "ruleset=mini6"]
    sound = played(tmp_path / "results", *words, "games=40", "openings.plies=6").folder
    damaged = shutil.copytree(sound, tmp_path / "it's damaged")
    with closing(sqlite3.connect(sound / "games.sqlite")) as connection:
        ((size,),) = connection.execute("pragma page_size")
        found = "select pageno from dbstat where name = 'turns' and pagetype = 'leaf'"
        try:
            pages = [page for (page,) in connection.execute(found)]
        except sqlite3.OperationalError:
            pytest.skip("this SQLite does not tell what its pages hold")
    content = bytearray((damaged / "games.sqlite").read_bytes())
    spoilt = size * (pages[len(pages) // 2] - 1)
    content[spoilt : spoilt + size] = bytes(size)
    (damaged / "games.sqlite").write_bytes(content)
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
    (damaged / "games.sqlite").write_bytes(bytes(size) + content[size:])
    assert str(damaged) in told("recover", damaged, code=2)


# ---------------------------------------------------------------------- changed by others

CHEAT = """
import othello_lab, pathlib, sqlite3

class Cheat(othello_lab.RandomAgent):
    def close(self):
        for record in pathlib.Path({results!r}).rglob("games.sqlite"):
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
    with closing(sqlite3.connect(folder / "games.sqlite")) as connection, connection:
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

# What is done to the record, and by what `verify` finds it (2: that nothing can be said).
LOGICAL: dict[str, tuple[str, int]] = {
    "no table of games": ("drop table games", 2),
    "no table of turns": ("drop table turns", 2),
    "no view of moves": ("drop view moves", 2),
    "an endless view of moves": (f"drop view moves; create view moves as {ENDLESS} select * from n", 2),  # noqa: E501
    "turns that are no JSON": ("update turns set turns = '[[' where game = 1", 1),
    "turns that are a number": ("update turns set turns = '7' where game = 1", 1),
    "a turn that is a number": ("update turns set turns = '[7]' where game = 1", 1),
    "a turn that is too long": (f"update turns set turns = '{[[0] * 99]}' where game = 1", 1),
    "turns nested deep": (f"update turns set turns = '{'[' * 100_000}' where game = 1", 1),
    "turns that are huge": (f"update turns set turns = '[[{'7' * 4000}]]' where game = 1", 1),
    "turns that are long": (f"update turns set turns = '[{'[],' * 100_000}[]]' where game = 1", 1),
    "turns that are a text": ("update turns set turns = '\"abc\"' where game = 1", 1),
    "turns that are missing": ("delete from turns where game = 1", 1),
    "a total that is wrong": ("update games set white_nodes = white_nodes + 1 where game = 1", 1),
    "no table of agents": ("drop table agents", 2),
    "no table of a run": ("drop table run", 2),
    "no row of a run": ("delete from run", 2),
    "two rows of a run": ("insert into run select * from run", 1),
    "a column less": ("alter table games drop column seed", 2),
    "a column more": ("alter table games add column comment text", 2),
    "a column of another name": ("alter table games rename column black_nodes to knots", 2),
    "an endless view": (f"drop table games; create view games as {ENDLESS} select * from n", 2),
    "an endless run": (f"drop table run; create view run as {ENDLESS} select x as format from n where x < 0", 2),  # noqa: E501
    "a virtual table": ("drop table openings; create virtual table openings using fts5(number, text)", 2),  # noqa: E501
    "a generated column": ("drop table skipped; create table skipped (pair, reason as (hex(zeroblob(1e9))))", 2),  # noqa: E501
    "a trigger": ("create trigger t after insert on sessions begin delete from games; end", 2),
    "settings that are no mapping": ("update run set config = '[1, 2]'", 2),
    "settings that are no JSON": ("update run set config = '{'", 2),
    "settings nested deep": (f"update run set config = '{'[' * 100_000}'", 2),
    "settings without a line-up": ("update run set config = '{}'", 2),
    "agents that are numbers": ("update run set config = json_set(config, '$.agents', json('{\"first\": 1, \"second\": 2}'))", 1),  # noqa: E501
    "a schedule that is a number": ("update run set config = json_set(config, '$.schedule', 3)", 2),
    "no such schedule": ("update run set config = json_set(config, '$.schedule._target_', 'no.such')", 0),  # noqa: E501
    "a ruleset that does not exist": ("update run set config = json_set(config, '$.ruleset.name', 'chess')", 2),  # noqa: E501
    "versions that are a list": ("update run set versions = '[]'", 2),
    "format that is a word": ("update run set format = 'five'", 2),
    "format that is huge": (f"update run set format = {1 << 62}", 2),
    "a blob as transcript": ("update games set transcript = x'ff00ff' where game = 1", 1),
    "half a letter": ("update games set transcript = cast(x'ff' as text) where game = 1", 2),
    "an illegal transcript": ("update games set transcript = 'a1a2' where game = 1", 1),
    "a long transcript": ("update games set transcript = transcript || 'a1' where game = 1", 1),
    "an unknown agent": ("update games set black = 9 where game = 1", 1),
    "an unknown mover": ("update moves set agent = 9 where game = 1 and ply = 14", 1),
    "text among the counts": ("update moves set nodes = 'many' where game = 1 and ply = 14", 1),
    "moves of no game": ("update moves set game = 77 where game = 3", 1),
    "an opening that is none": ("update openings set text = 'zz'", 1),
    "no openings": ("delete from openings", 1),
    "no agents": ("delete from agents", 1),
    "points that are infinite": ("update games set black_points = 9e999 where game = 1", 1),
    "a value that is infinite": ("update turns set turns = replace(turns, ',1,', ',-9e999,') where game = 1", 1),  # noqa: E501
    "a result that is none": ("update games set result = 'grey' where game = 1", 1),
    "a pair of one game": ("delete from games where game = 1", 1),
    "a pair that is not there": ("update games set pair = 70 where pair = 1", 1),
    "a negative game": ("update games set game = -5 where game = 1", 1),
}  # fmt: skip


IN_PROCESS = {"no table of games", "turns nested deep", "no openings", "a column less"}
"""Of these a default test; the other rows are for integration."""


@pytest.mark.parametrize(
    "name",
    [pytest.param(n, marks=[] if n in IN_PROCESS else pytest.mark.integration) for n in LOGICAL],
)
def test_logical_damages_surprise_nobody(recorded_duel: Path, tmp_path: Path, name: str) -> None:
    statements, found = LOGICAL[name]
    folder = changed(copied(recorded_duel, tmp_path), statements)
    codes = {command: outcome(command, folder) for command in COMMANDS}
    assert codes["verify"] == found


@pytest.mark.parametrize("content", ["", "no database at all\n" * 1000, None, "a folder"])
def test_what_is_no_record_is_told(
    recorded_duel: Path, tmp_path: Path, content: str | None
) -> None:
    folder = shutil.copytree(recorded_duel, tmp_path / "run")
    path = folder / "games.sqlite"
    path.unlink()
    if content == "a folder":
        path.mkdir()
    elif content is not None:
        path.write_text(content)
    codes = [outcome(command, folder) for command in COMMANDS]
    # An empty one may be a run that has written nothing yet.
    assert codes == [0 if content == "" else 2, 2, 2, 2]
