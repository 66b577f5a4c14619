"""``verify`` believes what is true, and names what is not, in the record and in all other files."""

from __future__ import annotations

import random
import re
import sys
from pathlib import Path
from typing import Any

import pytest
from chosen import mostly_nightly
from runs import DUEL, QUIET, changed, line_of, played, printed
from shared import copied

from othello_lab import AlphaBeta, RandomAgent, SquareWeights, run_match
from othello_lab.experiments.config import built_from
from othello_lab.experiments.jobs.run_kind import RunKind
from othello_lab.experiments.record.provenance import versions
from othello_lab.experiments.record.reading import reading
from othello_lab.experiments.report.plan_from_record import recorded_plan
from othello_lab.experiments.results.verify.derived import DerivedFiles, differing
from othello_lab.experiments.results.verify.run_check import Verification

SEARCHES = ("agents=ab_vs_minimax", "depth=2", "games=6", "openings.plies=9")
HOLDS = "all that was checked holds"


@pytest.fixture(scope="module")
def honest(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return played(tmp_path_factory.mktemp("honest"), *SEARCHES, "seed=4").folder


def findings(folder: Path, **options: Any) -> list[str]:
    """What a verification in this process finds, each with its check before it; by default no game
    is played again."""
    with reading(folder) as record:
        verification = Verification(record, **{"games": 0, **options})
    return [f"{name}: {said}" for name, lines in verification.wrong.items() for said in lines]


def compared(folder: Path) -> DerivedFiles:
    with reading(folder) as record:
        plan = recorded_plan(record, lambda foreign: None)
        return DerivedFiles(record, plan, versions(built_from(plan.settings)))


@pytest.mark.integration
def test_what_is_true_holds(honest: Path) -> None:
    printed = line_of("verify", honest)
    assert printed.endswith(f"{HOLDS}; all 6 games replayed")
    printed = line_of("verify", honest, "--seconds", "0.0001")
    assert f"{HOLDS}; 0 of 6 games replayed (if one were false, " in printed


@pytest.mark.integration
@pytest.mark.parametrize(
    "words",
    [
        ["ruleset=wpi", "games=8", "schedule=sprt"],
        ["ruleset=mini4", "games=4", "openings.plies=2", "evaluation=disc_count"],
        ["games=4", "openings=start", "openings.repeats=true"],
        ["games=4", "schedule=gauntlet", "limits.nodes=50", "export=[csv]"],
    ],
)
def test_runs_of_all_kinds_hold(tmp_path: Path, words: list[str]) -> None:
    line_of("verify", played(tmp_path, "agents=ab_vs_minimax", "depth=2", *words).folder)


OF_PIECE = "update rows set row = json_set(row, '$.nodes', 7) where piece = 2"
MORE_NODES = "update games set black_nodes = black_nodes + 1 where game = 1"
SEED = "update job set seed = 5"
NO_AGENT = "update games set black = 9 where game = 1"
FALSE = {
    "study": [("", [OF_PIECE], ["pieces", "files"])],
    "sweep": [
        ("0", [MORE_NODES], ["runs", "files"]),
        ("", [SEED], ["settings"]),
        ("1", [NO_AGENT], ["runs"]),
    ],
    "training": [("matches", [MORE_NODES], ["runs"])],
}


@pytest.mark.integration
@pytest.mark.parametrize("job", FALSE)
def test_jobs_with_pieces_are_held_to_them(
    job: str, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    """Each piece is done again, each run verified; what is false is named by its check."""
    sound = request.getfixturevalue(f"recorded_{job}")
    assert HOLDS in printed("verify", sound)
    for number, (inner, statements, checks) in enumerate(FALSE[job]):
        folder = copied(sound, tmp_path / str(number))
        changed(folder / inner, *statements)
        text = printed("verify", folder, code=1)
        assert [check for check in checks if f"\n{check}: " not in text] == []


KINDS = ["Raises", "Illegal", "Garbage", "Slow"]


@pytest.mark.integration
@pytest.mark.parametrize("how", mostly_nightly(KINDS, ["Illegal"]))
def test_forfeits_hold(tmp_path: Path, how: str) -> None:
    words = [*DUEL, "games=4", f"second._target_=misbehaving.{how}", "+second.after=20"]
    printed = line_of("verify", played(tmp_path, *words, "limits.seconds=0.15").folder)
    assert f"from outside the lab, --trust runs it: agents.random: misbehaving.{how}" in printed


WINNER = "result = case result when 'black' then 'white' else 'black' end"
OF_GAME_2 = {  # what is changed in the record, and the check that finds it
    "transcript = (select transcript from games where game = 0)": "transcripts",
    "transcript = substr(transcript, 1, 60)": "results",
    f"{WINNER}, black_points = 1 - black_points": "results",
    "black_points = 0.25": "results",
    "black_discs = black_discs + 1": "results",
    "disc_difference = 64": "results",
    "end_reason = 'time exceeded'": "results",
    "detail = 'bored'": "results",
    "end_reason = 'bored'": "results",
    "seed = seed + 2": "schedule",
    "black = white, white = black": "schedule",
}
OF_PLY_30 = {
    "agent = 1 - agent": "moves",
    "square = 0": "moves",
    "late = 2": "moves",
    "late = 3": "counts",
    "nodes = -1": "counts",
    "first_move_cutoffs = cutoffs + 1": "counts",
}
GONE = "delete from moves where game"
LIES = {
    **{f"update games set {lie} where game = 2": check for lie, check in OF_GAME_2.items()},
    **{
        f"update moves set {lie} where game = 2 and ply = 30": check
        for lie, check in OF_PLY_30.items()
    },
    f"{GONE} = 2 and ply = 30": "moves",
    "update games set pair = 9, game = game + 14 where pair = 2; "
    "update moves set game = game + 14 where game in (4, 5)": "schedule",
    f"delete from games where pair = 2; {GONE} in (4, 5)": "schedule",  # complete too soon
    f"delete from games where game = 2; {GONE} = 2": "schedule",
    "insert into pieces values (1, 'no reason')": "schedule",
    "update job set seed = 99": "settings",
    "update agents set config = json_set(config, '$.depth', 9) where agent = 1": "settings",
    "update openings set text = 'd3c3c4' where number = 0": "settings",
    "update job set wall_seconds = 9999": "files",
}


@pytest.mark.integration
@pytest.mark.parametrize(
    ("lie", "plainly"),
    [*((lie, False) for lie in LIES), *((lie, True) for lie in LIES if LIES[lie] == "results")],
)
def test_a_lie_is_found(honest: Path, tmp_path: Path, lie: str, plainly: bool) -> None:
    folder = changed(copied(honest, tmp_path), *lie.split("; "))
    lines = findings(folder, independent=plainly)
    assert any(said.startswith(f"{LIES[lie]}: ") for said in lines), lines


@pytest.mark.integration
@pytest.mark.parametrize(
    ("flag", "wrong"), [("reproducible", 0), ("reproducible", 1), ("selective", 1)]
)
def test_a_wrong_flag_of_an_agent_is_found(
    flag: str, wrong: int, honest: Path, tmp_path: Path
) -> None:
    lie = f"update agents set {flag} = {wrong} where agent = 1"
    lines = findings(changed(copied(honest, tmp_path), lie))
    right = (flag, wrong) == ("reproducible", 1)
    assert any(said.startswith("settings: agent ") and flag in said for said in lines) != right


@pytest.mark.parametrize("count", ["nodes = nodes + 1", "value = value - 1", "made = made + 1"])
@pytest.mark.integration
def test_games_are_played_again(count: str, honest: Path, tmp_path: Path) -> None:
    folder = changed(copied(honest, tmp_path), f"update moves set {count} where ply in (20, 30)")
    name = count.split()[0]
    for games in (6, 2):
        lines = [said for said in findings(folder, games=games) if said.startswith("replayed")]
        assert len(lines) == games
        assert all(f": ply 20: {name} is " in said for said in lines)
    printed = line_of("verify", folder, "--games", "2", "--seed", "3", code=1)
    assert printed.count("replayed: game") == 2 and "2 wrong" in printed
    assert "2 of 6 games replayed (if one were false, " in printed
    assert "33 % probability" in printed


@pytest.mark.integration
def test_totals_of_games_without_moves_are_played_again(tmp_path: Path) -> None:
    folder = played(tmp_path, *SEARCHES, "games=2", "record=games").folder
    assert findings(folder, games=2) == []
    changed(folder, "update games set white_evaluations = white_evaluations + 1 where game = 1")
    lines = findings(folder, games=2)
    assert any(said.startswith("replayed: game 1: white_evaluations is ") for said in lines)


@pytest.mark.integration
@pytest.mark.parametrize(
    "words",
    [
        # A table carries over from move to move, and so do random numbers.
        "agent@first=pvs first.depth=3",
        "agent@first=random",
        "agent@first=mcts first.playouts=20",
    ],
)
def test_opponents_of_agents_that_cannot_be_made_again_are_checked(
    tmp_path: Path, words: str
) -> None:
    other = ["agent@second=random", "second._target_=misbehaving.Mine", "games=2"]
    folder = played(tmp_path, "agents=duel", *words.split(), *other, "openings.plies=9").folder
    assert line_of("verify", folder).endswith(
        "all 2 games replayed, as far as 1 of 2 agents played them"
    )
    for agent, due in ((1, 0), (0, 2)):
        lie = "update moves set evaluations = evaluations + 1 where ply > 30 and agent ="
        changed(folder, f"{lie} {agent}")
        lines = findings(folder, games=2)
        assert sum(said.startswith("replayed: game") for said in lines) == due


OTHER_VERSION = "update job set versions = json_set(versions, '$.numba', '0.1')"


@pytest.mark.integration
def test_what_was_played_by_another_version_is_played_again_by_twins_alone(
    honest: Path, tmp_path: Path
) -> None:
    folder = changed(copied(honest, tmp_path), OTHER_VERSION)
    line_of("report", folder)
    assert "not checked: games: other versions played them: numba 0.1 ->" in line_of(
        "verify", folder
    )
    assert line_of("verify", folder, "--independent").endswith(f"{HOLDS}; all 6 games replayed")
    changed(folder, "update moves set nodes = nodes + 1 where game = 1 and ply = 40")
    lines = findings(folder, games=6, independent=True)
    assert any(said.startswith("replayed: game 1: ply 40: nodes is ") for said in lines)


@pytest.mark.integration
def test_code_from_outside_runs_where_that_is_asked_for_and_in_another_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    module = "from othello_lab import RandomAgent\n\n\nclass Told(RandomAgent):\n    pass\n"
    (tmp_path / "told_elsewhere.py").write_text(module)
    monkeypatch.syspath_prepend(tmp_path)
    words = [*DUEL, "games=4", "second._target_=told_elsewhere.Told"]
    folder = played(tmp_path, *words).folder
    printed = line_of("verify", folder)
    assert "--trust runs it: agents.random: told_elsewhere.Told" in printed
    printed = line_of("verify", folder, "--trust")
    assert "from outside" not in printed
    assert printed.endswith("all 4 games replayed")
    assert "told_elsewhere" not in sys.modules


def edited(folder: Path, rng: random.Random) -> set[str]:
    """Change a random number in each file that a report or a setting stands in; their names."""
    names = set()
    for path in sorted(folder.rglob("*.*")):
        if path.suffix in (".csv", ".md", ".html", ".yaml", ".svg"):
            text = path.read_text(encoding="utf-8")
            numbers = list(re.finditer(r"\d+(?:\.\d+)?", text))
            if not numbers:
                continue
            number = rng.choice(numbers)
            other = f"{float(number[0]) * 1.5 + 1:.2f}" if "." in number[0] else f"{number[0]}1"
            path.write_text(text[: number.start()] + other + text[number.end() :], encoding="utf-8")
            names.add(path.relative_to(folder).as_posix())
    return names


def named(files: DerivedFiles) -> set[str]:
    return {said.partition(": ")[0] for said in files.wrong}


def test_an_edited_number_is_found_in_every_file(recorded_searches: Path, tmp_path: Path) -> None:
    folder = copied(recorded_searches, tmp_path)
    assert compared(folder).wrong == []  # although the folder was moved
    assert edited(folder, random.Random(1)) == named(compared(folder)) >= {"config.yaml"}


@pytest.mark.integration
@pytest.mark.parametrize("seed", mostly_nightly(list(range(20)), [0, 1]))
@pytest.mark.parametrize("job", ["ladder", "searches", "class"])
def test_edited_numbers_are_found(
    job: str, seed: int, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    if job == "class":
        (tmp_path / "in").mkdir()
        for name in ("anna", "bob"):
            text = "from othello_lab import GreedyAgent\n\n\nclass Mine(GreedyAgent):\n    pass\n"
            (tmp_path / "in" / f"{name}.py").write_text(text)
        words = ["experiment=class", f"folder={tmp_path / 'in'}", "games=2", "export=[csv]"]
        folder = played(tmp_path, *words).folder
    else:
        folder = copied(request.getfixturevalue(f"recorded_{job}"), tmp_path)
    assert compared(folder).wrong == []
    assert edited(folder, random.Random(seed)) == named(compared(folder))


DUE = {
    "t.csv": "agent,elo\na,1.25\nb,-3\n",
    "t.md": "# Duel\n\nalphabeta leads by 512 [337, 772] Elo\n",
    "t.png": "\udcff12",
}
PLACES = {  # of a file: its name, a change, and where it differs then
    "a cell": ("t.csv", "-3", "-4", "line 3, column elo: '-4' found, '-3' ex"),
    "a name": ("t.csv", "a,", "c,", "line 2, column agent: 'c' found, 'a' ex"),
    "less": ("t.csv", "b,-3\n", "", "line 3, column agent: 'nothing' found, 'b' expected"),
    "more": ("t.csv", r"\Z", "c,1\n", "line 4, column agent: 'c' found, 'nothing' expected"),
    "a column": ("t.csv", ",.*", "", "line 1, column elo: 'nothing' found, 'elo' ex"),
    "a sign": ("t.csv", "-", "", "line 3, column elo: '3' found, '-3' expect"),
    "as written": ("t.csv", "1.25", "1.250", ""),
    "a number": ("t.md", "512", "513", "line 3: '513' found, '512' expected"),
    "a word": ("t.md", "leads", "trails", "line 3: 'alphabeta trails by 512"),
    "a line": ("t.md", "(?<=Elo\n)", "for sure\n", "line 4: 'for sure' found, '' expected"),
    "bytes": ("t.png", "2", "3", "its bytes differ"),
    "not text": ("t.md", "(?s)^.+", "\udcff", "its bytes differ"),
}


@pytest.mark.parametrize("what", PLACES)
def test_a_difference_is_told_with_its_place(what: str, tmp_path: Path) -> None:
    name, old, new, where = PLACES[what]
    texts = {"due": DUE[name], "found": re.sub(old, new, DUE[name])}
    assert texts["due"] != texts["found"]
    for folder, text in texts.items():
        (tmp_path / folder).mkdir()
        (tmp_path / folder / name).write_bytes(text.encode(errors="surrogateescape"))
    differences = differing(tmp_path / "found" / name, tmp_path / "due" / name, True, True)
    said = [said for said, _ in differences]
    assert said[:1] == [] if not where else said[0].startswith(where), said


def test_missing_and_additional_files_are_named(recorded_duel: Path, tmp_path: Path) -> None:
    folder = copied(recorded_duel, tmp_path)
    (folder / "report.md").unlink()
    (folder / "programs").mkdir()
    (folder / "programs" / "mallory.md").write_text("# mallory\n", encoding="utf-8")
    (folder / ".hidden").touch()
    assert named(compared(folder)) == {"report.md", "programs/mallory.md"}


@pytest.mark.integration
def test_files_that_were_asked_for_later_are_compared(recorded_duel: Path, tmp_path: Path) -> None:
    folder = copied(recorded_duel, tmp_path)
    line_of("report", folder, "--figures", "files")
    assert (folder / "elo.png").is_file()
    line_of("report", folder, "--figures", "none")  # which leaves the files of figures
    for kind in ("ggf", "wthor", "jsonl", "csv", "sqlite"):
        line_of("export", folder, kind)
    latex = RunKind().latex(folder, QUIET)
    (folder / "table.tex").write_text(f"{latex}\n", encoding="utf-8")
    assert compared(folder).wrong == []
    due = edited(folder, random.Random(2)) | {"games.ggf", "games.jou", "elo.png", "table.tex"}
    for name in ("games.jou", "elo.png"):
        (folder / name).write_bytes((folder / name).read_bytes() + b"1")
    for name in ("games.ggf", "table.tex"):
        text = (folder / name).read_text(encoding="utf-8")
        (folder / name).write_text(text.replace("1", "2", 1), encoding="utf-8")
    assert named(compared(folder)) == due


def test_an_unfinished_run_need_not_have_a_report(recorded_duel: Path, tmp_path: Path) -> None:
    folder = copied(recorded_duel, tmp_path)
    killed = "update job set complete = 0, wall_seconds = null"
    changed(folder, "delete from games where game > 3", killed)
    said = "; ".join(compared(folder).wrong)
    names = ("matches.csv", "standings.csv", "report.md", "report.html")
    assert all(name in said for name in names), said
    for name in names:
        (folder / name).unlink()
    files = compared(folder)
    assert not files.wrong and any("reports: the run has not ended" in s for s in files.unchecked)


MACHINE = "update sessions set machine = json_set(machine, '$.processor', 'another')"
LAB = "update sessions set versions = json_set(versions, '$.code', '0')"


def test_other_machines_and_versions_may_differ(recorded_searches: Path, tmp_path: Path) -> None:
    """By less than a billionth of a float; a report of another version by anything."""
    folder = changed(copied(recorded_searches, tmp_path), MACHINE)
    text = (folder / "matches.csv").read_text()
    (number,) = set(re.findall(r",(\d\.\d{12,}),", text)[:1]) or {"0.5"}
    for change, wrong in ((1e-13, False), (1e-6, True)):
        near = text.replace(number, repr(float(number) * (1 + change)), 1)
        (folder / "matches.csv").write_text(near)
        assert bool(compared(folder).wrong) == wrong
    files = compared(changed(folder, LAB))
    assert not files.wrong
    assert any(said.startswith("matches.csv: line 2, column ") for said in files.unchecked)


def test_a_report_on_another_machine_has_the_workers_of_the_run(
    recorded_duel: Path, tmp_path: Path
) -> None:
    folder = changed(
        copied(recorded_duel, tmp_path),
        "update sessions set machine = json_set(machine, '$.cores', 77)",
        "update job set config = json_set(config, '$.executor', "
        'json(\'{"_target_": "othello_lab.experiments.playing.Processes"}\'))',
    )
    with reading(folder) as record:
        assert recorded_plan(record, lambda foreign: None).executor.workers == 77


@pytest.mark.integration
def test_reports_of_objects_are_compared_as_far_as_they_can_be(tmp_path: Path) -> None:
    agents = {name: AlphaBeta(2, SquareWeights()) for name in ("a", "b")} | {"c": RandomAgent()}
    folder = run_match(agents, games=4, results=tmp_path, workers=0).folder
    files = compared(folder)
    assert not files.wrong
    assert any(said.startswith("pruning.csv: ") for said in files.unchecked)
    for name in ("report.md", "report.html"):
        text = (folder / name).read_text(encoding="utf-8")
        (folder / name).write_text(text.replace("12 games", "13 games", 1), encoding="utf-8")
    assert named(compared(folder)) == {"report.md", "report.html"}
