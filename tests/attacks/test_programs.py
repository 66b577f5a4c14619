"""Programs that play for agents: whatever ends a run, none of them is left behind."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest
from bots import bot
from processes import Command, await_, lives

from othello_lab.core.system.processes import LINUX

pytestmark = [
    pytest.mark.integration,
    pytest.mark.skipif(not LINUX, reason="finds processes by /proc"),
]

# A bot that notes its number, starts a child in a session of its own, and does not end when it is
# asked to, or when its input ends.
STUBBORN = (
    "os.path.exists({folder!r} + str(os.getpid())) or ("
    "open({folder!r} + str(os.getpid()), 'x'), "
    "__import__('subprocess').Popen([sys.executable, '-c', {child!r}], start_new_session=True))"
)
CHILD = "import os, time; open({folder!r} + str(os.getpid()), 'x'); time.sleep(300)"


def stubborn(folder: Path, trouble: str = "pass", after: int = 10**6) -> tuple[str, Path]:
    """The command of such a bot, and the folder that has a file for each process."""
    notes = folder / "notes"
    notes.mkdir()
    where = f"{notes}/"
    begin = STUBBORN.format(folder=where, child=CHILD.format(folder=where))
    return bot(folder, trouble, after, begin=begin, end="time.sleep(300)"), notes


def living(notes: Path) -> list[int]:
    """Those of the processes that are still there."""
    return [int(path.name) for path in notes.iterdir() if lives(int(path.name))]


def begun(folder: Path, command: str, *words: str) -> Command:
    line_up = ["agents=duel", "agent@first=line", f"first.command='{command}'"]
    more = [
        "agent@second=random",
        "figures=false",
        "searches.positions=1",
        f"results={folder}/results",
    ]
    return Command("run", *line_up, *more, *words)


@pytest.mark.parametrize(
    "signals", [[signal.SIGINT], pytest.param([signal.SIGINT] * 2, marks=pytest.mark.nightly)]
)
def test_none_is_left_after_ctrl_c(tmp_path: Path, signals: list[int]) -> None:
    command, notes = stubborn(tmp_path)
    run = begun(tmp_path, command, "games=3000", "executor.workers=2")
    await_(lambda: len(living(notes)) >= 4)  # two workers, each with a bot and its child
    for number in signals:
        os.kill(run.pid, number)
    assert run.wait() == 130, run.printed
    assert list(notes.iterdir()) and not living(notes)


@pytest.mark.parametrize(
    ("after", "by_a_script", "words"),
    [
        pytest.param(10**6, False, ["executor.workers=2"], marks=pytest.mark.nightly),
        (3, True, ["executor.workers=1", "trial=false"]),  # the bot does not answer any more
        pytest.param(0, True, [], marks=pytest.mark.nightly),  # so the trial does not end
    ],
)
def test_none_is_left_after_kill_9_of_the_driver(
    tmp_path: Path, after: int, by_a_script: bool, words: list[str]
) -> None:
    """Also if a shell script stands between the lab and the bot."""
    command, notes = stubborn(tmp_path, "time.sleep(300)", after)
    if by_a_script:
        script = tmp_path / "run.sh"
        script.write_text(f"#!/bin/sh\n{command}\ntrue\n")
        script.chmod(0o755)
        command = str(script)
    run = begun(tmp_path, command, "games=3000", *words)
    await_(lambda: len(living(notes)) >= 2)
    run.kill()
    await_(lambda: not living(notes))


def test_none_is_left_after_a_forfeit(tmp_path: Path) -> None:
    command, notes = stubborn(tmp_path, "print('nonsense', flush=True)", after=2)
    run = begun(tmp_path, command, "games=4", "executor.workers=1")
    assert run.wait() == 0, run.printed
    assert len(list(notes.iterdir())) >= 4  # a new bot for each game
    assert not living(notes)
