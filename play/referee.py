"""``othello-lab play referee``: games of two programs that speak the file protocol."""

from __future__ import annotations

import json
import sys
from collections.abc import Generator, Sequence
from contextlib import closing
from datetime import datetime
from pathlib import Path

from othello_lab.agents.external.wpi import WpiAgent
from othello_lab.core.position import prepare_rules
from othello_lab.core.system.escaping import visible
from othello_lab.core.system.forked import Channel, ForkedProcess
from othello_lab.core.system.scratch import remove_abandoned
from othello_lab.core.system.settings import ConfigError, one_line
from othello_lab.play.config import config_folders, read_plain
from othello_lab.play.game_files import write
from othello_lab.play.umpire import ExternalMatch, RefereeConfig, umpire

USAGE = """\
usage: othello-lab play referee "COMMAND A" "COMMAND B" [key=value ...]

Games of two programs that speak the file protocol (docs/file_protocol.md), in
any language. Every board is shown, and why a game was lost.

  othello-lab play referee "./anna" "java Bert"
  othello-lab play referee "./anna" "python3 bert.py" games=5 limit=10 seed=1
  othello-lab play referee "./anna" "othello-lab play wpi lab agent=pvs"

  games=1        how many; colours are drawn for the first, and change then
  limit=60       seconds for each move; White's first clock starts with the
                 program, but 10 seconds to begin are given in any case
  seed=null      of the draw; null: by chance
  names=A,B      what their files are called; by default as the last word of
                 each command that is no option or setting: anna.in, anna.out
  folder=null    the games' folder, which both use and see; null: a new one for
                 each program and game, which is removed
  output=false   show what the programs print
  processes=64   how many each may start, if it may start any
  memory_mb=null MiB that each may take; null: no limit
  ponder=false   let a program think in its opponent's time, too
  isolation=closed  no files but a program's own and those its command names, no
                 network, no other process (docs/security.md); process: all is
                 open. isolation.reads=[A], isolation.writes=[B] open files,
                 isolation.children=[NAME] lets a program start others
  --record FILE  the transcript; by default a new file in results/referee
"""
FOLDER = Path("results") / "referee"
_STOP_SECONDS = 10.0


def referee(arguments: Sequence[str]) -> int:
    """Referee the games of a command line; return the exit code. Raises ConfigError."""
    if {"-h", "--help"} & set(arguments) or not arguments:
        print(USAGE, end="")
        return 0
    words, _, options = config_folders(arguments[2:], ["record"])
    contest = read_contest([*arguments[:2], *words])
    path = Path(options["record"]) if "record" in options else _new_record(contest)
    if path.is_dir():
        raise ConfigError(f"--record {path}: a folder; a file is needed")
    texts: list[str] = []
    write(path, texts)
    prepare_rules(lambda line: print(line, file=sys.stderr))
    with closing(_messages(contest)) as messages:
        for kind, text in messages:
            if kind == "game":
                write(path, texts := [*texts, text])
            else:
                print(visible(text, keep="\n"), flush=True)
    print(f"The transcript is in {visible(path)}.")
    return 0


def _new_record(contest: ExternalMatch) -> Path:
    now = datetime.now().strftime("%Y-%m-%d_%H-%M-%S")
    path = FOLDER / f"{'-'.join(contest.names)}_{now}.txt"
    try:
        FOLDER.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ConfigError(
            f"{FOLDER}: cannot be written ({error.strerror}); --record FILE"
        ) from None
    return path


def _messages(contest: ExternalMatch) -> Generator[tuple[str, str], None, None]:
    """Yield the umpire's messages: ``say`` or ``game`` (one that has ended), and a text."""
    child = ForkedProcess(umpire, contest)
    with closing(child):
        try:
            while (message := json.loads(child.receive()))[0] != "end":
                yield message
        except EOFError:
            code = child.exit_code()
            raise ConfigError(
                f"referee: the umpire's process has ended (exit code {code})"
            ) from None
        finally:
            Channel.close(child)  # it ends the programs then
            child.has_ended(within=_STOP_SECONDS)
            child.kill()
            remove_abandoned()


# ---------------------------------------------------------------------- what is asked for


def read_contest(words: Sequence[str]) -> ExternalMatch:
    """The contest of a command line; nothing is started. Raises ConfigError."""
    commands, rest = words[:2], words[2:]
    if len(commands) < 2:
        raise ConfigError('referee: two commands are needed, as in referee "./anna" "java Bert"')
    settings = read_plain(RefereeConfig, rest)
    wanted = [None, None] if settings.names is None else settings.names.split(",")
    try:
        agents = [
            WpiAgent(command, name, settings.folder, settings.patience)
            for command, name in zip(commands, wanted, strict=True)
        ]
        for agent in agents:
            agent.prepare()
    except ValueError as error:
        raise ConfigError(one_line(error)) from error
    files = agents[0].name, agents[1].name
    if settings.folder is not None and files[0] == files[1]:
        raise ConfigError(f"folder={settings.folder}: both are called {files[0]}; names=A,B")
    names = files if files[0] != files[1] else (f"{files[0]}-1", f"{files[1]}-2")
    settings.isolation.check(names)
    return ExternalMatch(settings, (commands[0], commands[1]), names, files)
