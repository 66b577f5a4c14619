"""The process in which agents play: who is blamed for what happens there, and how it ends."""

from __future__ import annotations

import os
from contextlib import nullcontext
from pathlib import Path
from unittest.mock import Mock

import pytest
from processes import lives
from runs import played

from othello_lab import RandomAgent
from othello_lab.core.game import FINISHED, GARBAGE, HUNG, LATE, PlayerFailure
from othello_lab.experiments.playing.agent_proxy import AgentProxy
from othello_lab.experiments.playing.game import close_all
from othello_lab.experiments.playing.tasks import WorkerContext


def closing(folder: Path, how: str = "") -> list[str]:
    folder.mkdir()
    words = ["agent@first=random", "first._target_=misbehaving.Closes", f"+first.folder={folder}"]
    words += ["agents=duel", "agent@second=greedy", "games=20", "trial=false"]
    return [*words, *([f"+first.how={how}"] if how else [])]


@pytest.mark.integration
@pytest.mark.parametrize(
    ("words", "most"), [(["executor.workers=2"], 2), (["executor=serial", "isolation=none"], 1)]
)
def test_agents_are_closed_once_in_each_process_that_played(
    tmp_path: Path, words: list[str], most: int
) -> None:
    notes = tmp_path / "notes"
    assert played(tmp_path / "results", *closing(notes), *words).complete
    files = {int(path.name): path.read_text() for path in notes.iterdir()}
    assert 1 <= len(files) <= most  # one process may play all before the other has started
    assert set(files.values()) == {"closed\n"}
    assert (os.getpid() in files) == (most == 1)


@pytest.mark.integration
@pytest.mark.parametrize("how", ["raises", "hangs"])
def test_an_agent_that_misbehaves_when_closed_is_logged_and_holds_nobody_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, how: str
) -> None:
    if how == "hangs":  # far from END_SECONDS of the pool, with which its last records are lost
        monkeypatch.setattr(f"{WorkerContext.__module__}.CLOSE_SECONDS", 0.1)
    result = played(tmp_path / "results", *closing(tmp_path / "notes", how), "executor.workers=2")
    assert result.complete
    log = (result.folder / "log.txt").read_text(encoding="utf-8")
    processes = [int(path.name) for path in (tmp_path / "notes").iterdir()]
    if how == "raises":
        assert "RuntimeError: a bug in a student's agent" in log
    else:
        assert 0 < log.count("agents were killed") <= len(processes)
    assert not any(lives(process) for process in processes)


def test_one_agent_with_two_names_is_closed_once(caplog: pytest.LogCaptureFixture) -> None:
    class Counts(RandomAgent):
        closed = 0

        def close(self) -> None:
            self.closed += 1
            raise SystemExit(1)

    both, alone = Counts(), Counts()
    close_all({"a": both, "b": both, "c": alone})
    assert (both.closed, alone.closed) == (1, 1)
    assert [record.message.split()[0] for record in caplog.records] == ["'a'", "'c'"]


ENDLESS = '''
import numpy as np
from othello_lab.agents.evaluation import heuristic

@heuristic
def endless(mover, opponent):
    """Never ends where a1 is the only one taken on rows 1, 2, 7 and 8."""
    n = 0
    if (mover | opponent) & np.uint64(0xFFFF00000000FFFF) == np.uint64(1):
        while n >= 0:
            n = n + 1 if n < 100 else 0
    return n
'''


@pytest.mark.integration
def test_a_compiled_heuristic_that_never_ends_loses_its_games_alone(tmp_path: Path) -> None:
    """In the middle of many games that are played together in compiled code."""
    (tmp_path / "mine.py").write_text(ENDLESS)
    boards = [f"{corner}{'-' * 26}OX------XO{'-' * 27} X" for corner in "-X"]
    boards += [f"{'-' * 27}OX------XO{'-' * n}O{'-' * (26 - n)} X" for n in range(4)]
    (tmp_path / "openings.txt").write_text("\n".join(boards))
    words = ["agents=duel", "agent@first=alphabeta", "agent@second=random", "first.depth=1"]
    words += ["evaluation=function", f"evaluation.target={tmp_path}/mine.py:endless", "games=12"]
    words += ["openings=file", f"openings.file={tmp_path}/openings.txt", "limits.hang=2"]
    result = played(tmp_path, *words, "executor.workers=1", "searches.positions=1")
    ends = result.games.groupby("opening")["end_reason"].unique().to_dict()
    assert {key: list(value) for key, value in ends.items() if key.startswith("X")} == {
        boards[1]: [HUNG]
    }
    assert [list(ends[key]) for key in boards if key != boards[1]] == 5 * [[FINISHED]]
    lost = result.games[result.games["opening"] == boards[1]]
    assert set(lost["result"]) == {"black", "white"}  # the random agent, with each colour
    log = (result.folder / "log.txt").read_text()
    assert "no answer for 2 s" in log and "which is done again" in log


@pytest.mark.parametrize(
    ("ready", "cpu", "timed", "printed", "reason"),
    [
        (0.0, 0.0, True, 0, LATE),
        (9.5, 0.0, True, 0, ""),
        (9.5, 10.5, True, 0, LATE),
        (0.0, 0.0, False, 1 << 24, HUNG),
        (0.0, 0.0, True, (1 << 24) + 1, GARBAGE),
    ],
)
def test_an_agent_that_does_not_answer_is_ended_for_the_right_reason(
    ready: float, cpu: float, timed: bool, printed: int, reason: str
) -> None:
    """It has waited 10.6 s for an agent with a patience of 10 s; for ``ready`` seconds the agent
    stood ready but was not run."""
    proxy = Mock(_checked=0, _printed=1000 + printed, _printed_before=1000, _is_new=False)
    proxy._account.patience_used.return_value, proxy._account.stopped_since = 10.6e9, None
    proxy._meter = Mock(ready=ready * 1e9, cpu=cpu * 1e9)
    with pytest.raises(PlayerFailure) if reason else nullcontext() as caught:
        AgentProxy._mind(proxy, 0, 10.0, timed=timed)
    assert proxy.kill.called == bool(reason)
    assert (caught.value.reason if caught else "") == reason
