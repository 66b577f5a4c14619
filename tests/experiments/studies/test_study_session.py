"""How studies are made: by name, over any executor, recorded, resumed."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from runs import changed, line_of, made
from shared import copied

from othello_lab.__main__ import main
from othello_lab.experiments import studies
from othello_lab.experiments.record.store import FILE, Record
from othello_lab.experiments.studies import load
from othello_lab.play.recorded import runs_below

LONG = 10 * "long"  # paths longer than a line are printed in one all the same

YAMLS = {
    "growing": "# Runs that grow\n_target_: studied.Growing\nmost: 4\n",
    "asking": "# Asks\n_target_: studied.Asking\ncount: 6\ntrouble: ''\nat: 0\nwhere: ''\n",
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder for results, and in ``conf`` the YAMLs of the studies of tests."""
    (tmp_path / "conf" / "study").mkdir(parents=True)
    for name, text in YAMLS.items():
        (tmp_path / "conf" / "study" / f"{name}.yaml").write_text(text)
    return tmp_path


def study(folder: Path, name: str, *words: str, code: int = 0) -> tuple[str, Path]:
    """Make a study, which ends with this code; what is told, and its folder."""
    common = ["agents=duel", "agent@first=random", "agent@second=greedy", "figures=false"]
    where = f"--config-dir={folder}/conf"
    return made(folder / "results" / LONG, "study", name, *common, where, *words, code=code)


def rows(folder: Path) -> list[tuple[object, ...]]:
    with Record.open(folder) as record:
        return sorted(map(tuple, record.tables()["moves"].to_numpy().tolist()))


@pytest.mark.integration
def test_every_number_of_workers_gives_the_same_though_one_dies(folder: Path) -> None:
    said, where = study(folder, "asking", "executor=serial")
    assert "12 <b>moves</b>." in said
    assert "<b>" not in (where / "report.html").read_text()
    assert "othello-lab study asking" in (where / "report.md").read_text()
    for number in range(2):
        (folder / f"life{number}").touch()
    words = ["executor.workers=2", "study.trouble=kills", "study.at=2", f"study.where={folder}"]
    _, again = study(folder, "asking", *words)
    assert not list(folder.glob("life*"))
    assert rows(again) == rows(where) and len(studies.load(again)["moves"]) == 12


@pytest.mark.integration
def test_a_cluster_gives_the_same(folder: Path) -> None:
    pytest.importorskip("distributed")
    words = ["agents=duel", "agent@first=random", "agent@second=greedy", "games=4"]
    words += ["study.positions=2", "figures=false", f"results={folder}"]
    first, second = (
        studies.load(studies.make("errors", *words, f"executor={name}", quiet=True).folder)["moves"]
        for name in ("serial", "dask")
    )
    assert first.equals(second) and len(first) > 10


def test_a_piece_that_fails_is_told_and_can_be_done_again(folder: Path) -> None:
    (folder / "life").touch()
    words = ["executor=serial", "study.trouble=fails", "study.at=1", f"study.where={folder}"]
    said, where = study(folder, "asking", *words, code=1)
    assert len(rows(where)) == 10 and "piece 1: ValueError: no 1" in said
    (folder / "life").unlink()
    assert main(["resume", str(where)]) == 2  # its code is not the lab's
    shown = line_of("resume", where, "--trust", "--retry-skipped")
    assert len(rows(where)) == 12
    assert "row0" in shown and "row19" not in shown and "first 16" in shown
    assert str(where / "report.html") in shown  # however long, in one line


@pytest.mark.integration
def test_after_ctrl_c_the_rest_is_done_by_resume(folder: Path) -> None:
    (folder / "life").touch()
    words = ["executor=serial", "study.trouble=stops", "study.at=2", f"study.where={folder}"]
    said, where = study(folder, "asking", *words, code=130)
    assert len(rows(where)) == 6 and f"othello-lab resume {where} --trust" in said
    assert "asking: 3 of 6 pieces, stopped" in line_of("watch", where, "--once")
    assert main(["resume", str(where), "--trust", "--executor", "serial"]) == 0
    _, whole = study(folder, "asking", "executor=serial")
    assert rows(where) == rows(whole)
    assert main(["resume", str(where), "--trust"]) == 0  # there is nothing left to do


@pytest.mark.integration
def test_a_study_of_matches_asks_for_runs_until_it_has_all(folder: Path) -> None:
    said, where = study(folder, "growing", "executor=serial", code=1)  # the conclusion's
    assert "Games: [4, 2]." in said
    assert sorted(path.name for path in where.iterdir() if path.is_dir()) == ["0", "1"]
    assert "growing: 2 runs so far, complete" in line_of("watch", where, "--once")
    assert main(["extend", str(where), "games=6"]) == 2
    assert "Games: [4, 2]." in line_of("resume", where, "--trust", code=1)


def test_a_damaged_record_and_no_study_are_told_in_a_line(
    recorded_study: Path, tmp_path: Path
) -> None:
    with pytest.raises(ValueError, match="no folder of a study"):
        studies.load(tmp_path)
    where = copied(recorded_study, tmp_path)
    changed(where, "create trigger late after insert on pieces begin select 1; end")
    for words in (["resume", str(where)], ["watch", str(where), "--once"]):
        assert "no record of the lab" in line_of(*words, code=2)
    (where / FILE).write_bytes(b"nothing" * 100)
    assert "damaged" in line_of("watch", where, "--once", code=2)


MIRROR = "study.by=nodes agents=ab_mirror agents.left.iterative=true agents.right.iterative=true"


@pytest.mark.integration
@pytest.mark.parametrize(
    "words",
    [
        "games=8 study.levels=[1,2] evaluation@agents.iago.evaluation=mobility",
        f"games=4 study.levels=[20,40] {MIRROR}",
    ],
    ids=["depth", "nodes"],
)
def test_elo_by_doubling(tmp_path: Path, words: str) -> None:
    """The finding is the slope of the levels' ratings."""
    quick = ["executor=serial", "openings.plies=6", "figures=files"]
    _, folder = made(tmp_path, "study", "scaling", *words.split(), *quick)
    assert sorted(path.stem for path in folder.glob("*.png")) == ["cost", "scaling"]
    if "nodes" in words:
        return
    tables = load(folder)
    levels, gains = tables["levels"], tables["doublings"]
    assert sorted(levels["name"])[:2] == ["disc_count 1", "disc_count 2"]
    of_agent = levels[(levels["agent"] == "iago") & levels["bound"].isna()]
    gain = gains[(gains["agent"] == "iago") & (gains["effort"] == "depth")].iloc[0]
    slope = np.polyfit(np.log2(of_agent["level"]), of_agent["elo"], 1)[0]
    assert gain["elo"] == pytest.approx(slope, abs=0.01)
    assert gain["low"] < gain["elo"] < gain["high"]
    assert "each doubling of depth" in (folder / "report.md").read_text()


def test_a_study_is_no_run(recorded_study: Path, recorded_duel: Path) -> None:
    """Its record has the same name: neither the page nor a look at what plays takes it for one."""
    assert runs_below(recorded_study.parent.parent) == []
    assert len(runs_below(recorded_duel.parent.parent)) == 1
    assert "is a study" in line_of("compare", recorded_study, recorded_duel, code=2)
