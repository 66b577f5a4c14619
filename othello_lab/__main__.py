"""``othello-lab`` and ``python -m othello_lab``: every command of the lab, from any folder.

In a checkout ``python -m experiments`` and ``python -m training`` do the same. ``python -m core``,
``python -m agents`` and ``python -m play`` are short for ``othello-lab core`` and so on.
"""

from __future__ import annotations

import signal
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, NoReturn

if TYPE_CHECKING:
    from othello_lab.core.system.cli import Command

HELP = """\
usage: othello-lab COMMAND ...

Ask
  match A B [key=value]   is A better than B, by how much, at what cost, and where?
  run [key=value ...]     play a line-up of agents and report
  run -m key=a,b,c ...    run a sweep: one run for each combination, and one report
  study NAME [key=value]  answer a question that needs several runs
  plan elo=30 draws=0.04  estimate the pairs and the time of a match

Look
  list                    list all results under results/: when, games, leader, state
  show FOLDER             show the result of one
  watch FOLDER            show the standings of a run in progress
  compare FOLDER FOLDER   compare runs: settings that differ, standings, pooled if alike
  report FOLDER ...       write the report again, or one that compares several runs
  verify FOLDER           check that a run's record is true
  export FOLDER FORMAT    write games and tables for other programs: ggf, wthor, csv, json, ...

Go on
  resume FOLDER           continue an interrupted job
  extend FOLDER games=N   add games to a run, up to N a pairing
  recover FOLDER          save the readable part of a damaged record into a new folder

Learn
  selfplay [key=value]    make training positions from games of agents
  positions FILE ...      make training positions from files: WTHOR, GGF, folders of runs
  train NAME [key=value]  learn an evaluation from games, and measure it

At hand
  play ...                play against agents, or connect another program
  agents ...              list, show and check agents and heuristics, solve positions, ...
  openings FILE           make balanced openings
  core perft              check the rules by counting
  bench                   count nodes of every search over fixed positions: the signature

Each has --help. Start with:

  othello-lab match iago mobility
  othello-lab run agents=ab_vs_minimax
  othello-lab run agents=classics games=200
  othello-lab run -m agents=ab_vs_minimax depth=1,2,3,4

othello-lab agents list explains the agents, evaluations and line-ups. Results go to results/.
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return the exit code: 0, 2 for bad input, 130 after Ctrl-C."""
    end_quietly_while_loading()
    from othello_lab.core.system.cli import dispatch
    from othello_lab.experiments.command_line import FAILURES

    return dispatch("othello-lab", HELP, all_commands(), arguments, FAILURES)


def all_commands() -> dict[str, Command]:
    """Return every command by its name."""
    from othello_lab.experiments.command_line import COMMANDS
    from othello_lab.training.command_line import COMMANDS as TRAINING

    return {
        **COMMANDS,
        **TRAINING,
        "agents": lambda words: room_main("agents", words),
        "play": lambda words: room_main("play", words),
        "core": lambda words: room_main("core", words),
    }


def room_main(room: str, arguments: Sequence[str]) -> int:
    """Run one command of ``agents``, ``play`` or ``core``; returns the exit code."""
    from othello_lab.core.system.cli import dispatch
    from othello_lab.core.system.settings import ConfigError

    if room == "agents":
        from othello_lab.agents.command_line import main as agents_main

        return agents_main(list(arguments))
    if room == "play":
        from othello_lab.play.command_line import COMMANDS, HELP
    else:
        from othello_lab.core.command_line import COMMANDS, HELP
    return dispatch(f"othello-lab {room}", HELP, COMMANDS, arguments, {ConfigError: 2})


def run_room(room: str) -> NoReturn:
    """Run ``python -m ROOM`` with the arguments of this process, and exit."""
    del sys.modules[room]  # the lab's modules are below othello_lab alone
    words = sys.argv[1:]
    sys.exit(main(words if room in ("experiments", "training") else [room, *words]))


def end_quietly_while_loading() -> None:
    """Let Ctrl-C end this process without a traceback until the command runs.

    Loading takes a second. :func:`core.system.cli.in_order` restores Python's handler.
    """
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    if "" not in sys.path:
        sys.path.append("")  # last, so that no file there can replace another module


if __name__ == "__main__":
    sys.exit(main())
