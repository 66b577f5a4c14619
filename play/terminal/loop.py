"""A session from its beginning to its end."""

from __future__ import annotations

from pathlib import Path

from othello_lab.play.agent_process import AgentProcesses
from othello_lab.play.config import GameSetup
from othello_lab.play.terminal.commands import obey
from othello_lab.play.terminal.screen import Screen
from othello_lab.play.terminal.session import SessionEnd, TerminalSession


def play_at_terminal(setup: GameSetup, record: Path | None) -> None:
    """Play games until somebody quits or the input ends; raises ConfigError if that cannot
    begin. record: a file for all games; None for none."""
    screen = Screen(setup.settings.board)
    limits = setup.settings.limits
    with AgentProcesses(setup.rules, setup.limits, limits.hang, screen.say) as thinkers:
        session = TerminalSession(setup, screen, thinkers, record)
        for color, player in setup.players.items():
            if not player.is_human:
                thinkers.of(player, color.value)
        session.save_record()
        session.show_welcome()
        try:
            while True:
                _step(session)
        except SessionEnd:
            _say_goodbye(session, "Goodbye.")
        except EOFError:
            screen.say()
            _say_goodbye(session, "The input has ended. Goodbye.")


def _say_goodbye(session: TerminalSession, words: str) -> None:
    if session.record is not None:
        words += f" The game is in {session.record}."
    session.screen.say(words)


def _step(session: TerminalSession) -> None:
    """Do the next step: an agent's move, a forced pass, or a line of input."""
    screen, position = session.screen, session.game.position
    try:
        if session.game.is_over:
            if session.announce_end():
                return
        elif position.must_pass:
            session.force_pass()
            return
        stops = session.setup.settings.pause and not session.seats.humans
        if not session.waits_for_somebody and not stops:
            session.let_agent_move()
        else:
            asks = "game over" if session.game.is_over else position.to_move.value
            obey(session, screen.ask(f"{asks}> "))
    except (ValueError, OSError) as error:
        screen.say(" ".join(str(error).split()), "bold red")
    except KeyboardInterrupt:
        screen.say()
        screen.say("quit leaves the game.")
