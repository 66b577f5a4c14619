"""``othello-lab play wpi``: an agent of the lab as a program of the file protocol. The test is the
referee, and its opponent."""

from __future__ import annotations

import functools
import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from chosen import mostly_nightly
from processes import Command, await_
from refusals import ended

from othello_lab import Color, Position
from othello_lab.__main__ import room_main
from othello_lab.agents.external.mailbox import MailboxFile, mailbox_files
from othello_lab.agents.search.context import MAX_DEPTH
from othello_lab.core.system.processes import LINUX
from othello_lab.core.wpi import may_go_on, move_text, read_move
from othello_lab.play.agent_process import AgentProcesses
from othello_lab.play.game import GameState
from othello_lab.play.wpi import SHARE, FilePlayer, read_player

main = functools.partial(room_main, "play")


@pytest.fixture
def commands() -> Iterator[list[Command]]:
    begun: list[Command] = []
    yield begun
    for command in begun:
        command.kill()


class Opponent:
    """Referee and opponent of a program, by its two files."""

    def __init__(self, folder: Path, commands: list[Command], *words: str) -> None:
        self.incoming, self.outgoing = mailbox_files(folder, "anna")
        rest = [f"folder={folder}", "limit=30", *words]
        self.command = Command("wpi", "anna", *rest, main=main)
        commands.append(self.command)
        self.position = Position.start("wpi")

    def tell(self, text: str) -> None:
        """Write in pieces, and wait until the program has read all."""
        with self.incoming.path.open("w") as file:
            for letter in f" {text}":
                file.write(letter)
                file.flush()
        await_(lambda: not self.incoming.is_there)

    def hear(self) -> int:
        """Its move, which is made."""
        await_(lambda: not may_go_on(self.outgoing.read() or ""))
        text = str(self.outgoing.read())
        self.outgoing.remove()
        move = read_move(text, self.position)
        assert text == move_text(move, self.position.to_move, self.position.ruleset) + "\n"
        self.position = self.position.play(move)
        return move

    def play(self) -> None:
        """Make the first legal move, or pass."""
        move = (*self.position.moves, 64)[0]
        text = move_text(move, self.position.to_move, self.position.ruleset)
        self.position = self.position.play(move)
        self.tell(text.lower())


@pytest.mark.parametrize("color", mostly_nightly(Color, [Color.WHITE]))
@pytest.mark.integration
def test_a_whole_game(color: Color, tmp_path: Path, commands: list[Command]) -> None:
    opponent = Opponent(tmp_path, commands, "agent=greedy")
    opponent.tell("W" if color is Color.WHITE else "B")
    while not opponent.position.is_over:
        opponent.hear() if opponent.position.to_move is color else opponent.play()
    assert opponent.command.wait() == 0
    printed = opponent.command.printed
    final = opponent.position
    lead = final.black.bit_count() - final.white.bit_count()
    lead *= 1 if color is Color.BLACK else -1
    result = "drawn" if not lead else "won" if lead > 0 else "lost"
    assert f"anna has {color.value.capitalize()}." in printed
    assert printed.endswith(f"anna has {result}.\n") and str(final) in printed


def test_an_invalid_move_is_shown_and_wins(tmp_path: Path, commands: list[Command]) -> None:
    opponent = Opponent(tmp_path, commands, "agent=greedy")
    opponent.tell("W")
    opponent.hear()
    opponent.tell("(B D 4)")
    assert opponent.command.wait() == 0
    printed = opponent.command.printed
    assert "'(B D 4)': square occupied" in printed, printed
    assert printed.endswith("anna has won.\n")


@pytest.mark.integration
@pytest.mark.skipif(not LINUX, reason="asks /proc")
def test_it_uses_no_processor_while_it_waits(tmp_path: Path, commands: list[Command]) -> None:
    opponent = Opponent(tmp_path, commands, "agent=greedy")
    await_(lambda: "anna waits for" in opponent.command.printed)

    def ticks() -> int:
        """Of the processor, that it and its child have used."""
        fields = Path(f"/proc/{opponent.command.pid}/stat").read_text().rpartition(")")[2].split()
        return int(fields[11]) + int(fields[12])

    before = ticks()
    time.sleep(1.0)
    assert ticks() - before <= 0.1 * os.sysconf("SC_CLK_TCK")


def test_a_search_deepens_within_its_share_of_the_time() -> None:
    def settings(*words: str) -> tuple[dict[str, Any], float | None]:
        settings, setup, player = read_player(["anna", "limit=20", *words])
        assert settings.limit == 20 and player.agent is not None and setup.rules.name == "wpi"
        return dict(player.agent), setup.limits.seconds

    agent, seconds = settings("agent=alphabeta")
    assert seconds == SHARE * 20
    assert agent["iterative"] is True and agent["depth"] == MAX_DEPTH
    assert settings("agent=alphabeta", "agent.depth=3")[0]["depth"] == 3
    agent, _ = settings("agent=alphabeta", "depth=4", "agent.iterative=false")
    assert agent["depth"] == 4 and agent["iterative"] is False
    assert settings("agent=alphabeta", "limits.seconds=1")[1] == 1
    assert "iterative" not in settings("agent=greedy")[0]


@pytest.mark.integration
@pytest.mark.parametrize("playouts", [None, 2000])
def test_mcts_uses_its_time_unless_its_playouts_are_said(playouts: int | None) -> None:
    words = [] if playouts is None else [f"agent.playouts={playouts}"]
    settings, setup, player = read_player(["anna", "agent=mcts", "limit=2", *words])
    with AgentProcesses(setup.rules, setup.limits, 60, lambda line: None) as thinkers:
        decision, seconds = thinkers.ask(player, GameState(Position.start("wpi")), 1)
    if playouts is None:
        assert decision.stats.playouts > 2000 and seconds > 0.8 * SHARE * settings.limit
    else:
        assert decision.stats.playouts == playouts


def test_it_is_asked_for_less_than_what_is_left(tmp_path: Path) -> None:
    """The time since the referee has written the file is gone."""
    incoming, outgoing = mailbox_files(tmp_path, "anna")
    incoming.write("W")
    os.utime(incoming.path, (time.time() - 4, time.time() - 4))
    requests = []

    def decide(game: object, seconds: float) -> None:
        requests.append(seconds)
        raise KeyboardInterrupt

    player = FilePlayer("anna", incoming, outgoing, 10.0, decide, lambda *lines: None)  # type: ignore[arg-type]
    with pytest.raises(KeyboardInterrupt):
        player.play()
    assert 0.02 * 10 <= requests[0] <= 5.0


def test_an_agent_that_breaks_down_makes_some_move(tmp_path: Path, commands: list[Command]) -> None:
    (tmp_path / "mine.py").write_text("def strategy(player, board): return 1 / 0\n")
    target = f"agent.target={tmp_path}/mine.py:strategy"
    opponent = Opponent(tmp_path, commands, "agent=function", target)
    opponent.tell("W")
    first = opponent.position.moves[0]
    assert opponent.hear() == first
    await_(lambda: "broken down" in opponent.command.printed)


@pytest.mark.parametrize(
    ("make", "complaint"),
    [
        (lambda slip: slip.write("hello"), "'hello'"),
        (lambda slip: slip.path.mkdir(), "a folder"),
        (lambda slip: slip.path.symlink_to("/etc/hostname"), "a link"),
    ],
)
def test_a_file_that_is_none_ends_it_with_a_line(
    make: object, complaint: str, tmp_path: Path
) -> None:
    make(MailboxFile(tmp_path / "anna.in"))  # type: ignore[operator]
    code, _, errors = ended(["play", "wpi", "anna", "agent=greedy", f"folder={tmp_path}"])
    last = errors.splitlines()[-1]
    assert code == 2 and "anna.in" in last and complaint in last
