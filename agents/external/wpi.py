"""Programs that talk through two files, as in the tournament of ruleset ``wpi``.

See ``docs/file_protocol.md``.
"""

from __future__ import annotations

import contextlib
import math
import os
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, TypeVar

from othello_lab.agents.agent import Agent, Decision, Files, Limits
from othello_lab.agents.external.mailbox import FileNameError, MailboxFile, mailbox_files
from othello_lab.agents.external.program import PATIENCE, Command, Program, quote_command, words_in
from othello_lab.agents.external.program_agent import ProgramAgent
from othello_lab.core.game import DIED, GARBAGE, ILLEGAL, LATE, PlayerFailure
from othello_lab.core.notation import PASS, IllegalMove
from othello_lab.core.position import Position
from othello_lab.core.rules import Color
from othello_lab.core.system.escaping import visible
from othello_lab.core.system.scratch import ScratchFolder
from othello_lab.core.system.settings import Number, Text, called, checked
from othello_lab.core.wpi import color_letter, may_go_on, move_text, read_move

NAME = Text(r"[A-Za-z0-9_][A-Za-z0-9_-]{0,63}", "one word of letters, digits, - and _")
Name = Annotated[str | None, NAME]
"""A setting: the name of a program's two files."""

EXIT_SECONDS = 5.0
"""Seconds for a program to end by itself after a game."""
UNREAD = " without a look at its .in file"
"""Words of the failure of a program that may know nothing of this protocol."""
_CLOSE_SECONDS = 0.5
_MORE_SECONDS = 0.3
"""Seconds to wait for an answer after its time: the judge decides if it is late. They are fewer
than the seconds after which a silent process is killed."""
_TICK = 0.005
_LONGEST_TICK = 0.1  # a longer one means that this process was not running
_MOST_NAMED = 3
_Answer = TypeVar("_Answer")


class WpiAgent(ProgramAgent):
    """A program that talks through two files.

    It reads its colour and its opponent's moves from ``NAME.in`` and writes its own moves to
    ``NAME.out``. Every game begins at the start.
    """

    from_start = True

    @checked
    def __init__(
        self,
        command: Command,
        name: Name = None,
        folder: Annotated[str | None, Text(r".+", "a folder")] = None,
        patience: Annotated[float, Number(above=0)] = PATIENCE,
    ) -> None:
        """
        command: the program and its arguments, run without a shell. name: of its files, by default
        that of the program, see :func:`name_of`. folder: its working folder, with its files; by
        default a new one for each game, removed afterwards. patience: seconds to start and to take
        its colour.
        """
        super().__init__(command, patience)
        self.folder, self._given_name = folder, name
        self._program = Program(command, talks=False)
        self._scratch: ScratchFolder | None = None
        self._over_since: float | None = None
        # Seconds since the last delivery; the time of the last look; its waiting time before.
        self._used = self._looked = self._waited = 0.0

    def __repr__(self) -> str:
        return called(self, {"name": self._given_name})

    @property
    def name(self) -> str:
        """Name of the program's files; raises ValueError if the command has none."""
        return self._given_name or name_of(self.command)

    def prepare(self, announce: object = None) -> None:
        super().prepare()
        _ = self.name
        if self.folder is not None:
            check_folder(self.folder)

    def files(self) -> Files:
        writes = () if self.folder is None else (os.path.abspath(self.folder),)
        return super().files()._replace(writes=writes)

    # ------------------------------------------------------------------ the game

    def begin_game(self, color: Color, start: Position, seed: int) -> None:
        Agent.begin_game(self, color, start, seed)
        self._end(EXIT_SECONDS)
        self._color = color
        self._limit = math.inf
        self._last: str | None = None  # the opponent's last move, not yet delivered
        if start != Position.start(start.ruleset):
            raise PlayerFailure(GARBAGE, _ELSEWHERE)
        self._incoming, self._outgoing = self._fresh_files()
        self._program.start()
        self._deliver(color_letter(color, start.ruleset))
        self._wait(self._taken, self.patience)
        self._first = color is start.ruleset.begins
        self._decided = -1

    def _fresh_files(self) -> tuple[MailboxFile, MailboxFile]:
        """Return the program's two files after removing old ones."""
        try:
            if self.folder is None:
                self._scratch = ScratchFolder()
                self._program.folder = self._scratch.path
            else:
                self._program.folder = Path(self.folder).absolute()
            files = mailbox_files(self._program.folder, self.name)
            for file in files:
                file.remove()
        except (OSError, ValueError) as error:
            raise PlayerFailure(DIED, f"'{self.command}' cannot be started: {error}") from None
        return files

    def observe(self, move: int, position: Position) -> None:
        mover = position.to_move.other
        if mover is not self._color:
            self._last = move_text(move, mover, position.ruleset)
            if position.is_over:
                with contextlib.suppress(OSError):
                    self._incoming.write(self._last)
        elif move == PASS:
            before = Position(position.opponent, position.mover, mover, position.ruleset)
            self._move(before, self._limit)
        elif move != self._decided:
            raise PlayerFailure(GARBAGE, _ELSEWHERE)
        if position.is_over:
            self._over_since = time.monotonic()

    def decide(self, position: Position, limits: Limits) -> Decision:
        self._limit = math.inf if limits.allowed is None else limits.allowed
        self._decided = self._move(position, self._limit)
        return Decision(self._decided)

    def _move(self, position: Position, seconds: float) -> int:
        """Return the program's move or pass, made within ``seconds``; raises PlayerFailure."""
        if not self._first:
            if self._last is None:
                raise PlayerFailure(GARBAGE, _ELSEWHERE)
            self._expect_nothing()
            self._deliver(self._last)
        else:  # the clock started at the colour, but the program may take ``patience`` to begin
            self._used = max(0.0, self._used - max(0.0, self.patience - seconds))
            self._first = False
        text = self._wait(self._written, seconds)
        try:
            move = read_move(text, position)
        except IllegalMove as error:
            self._program.fail(ILLEGAL, f"wrote {error}")
        with contextlib.suppress(OSError):
            self._outgoing.remove()
        return move

    def _expect_nothing(self) -> None:
        """Raise PlayerFailure for a file out of turn; a blank one, a late line end, is removed."""
        if self._outgoing.is_there:
            with contextlib.suppress(FileNameError, OSError):
                if not (self._outgoing.read() or "").strip():
                    self._outgoing.remove()
                    return
            self._program.fail(ILLEGAL, f"wrote {self._outgoing.path.name} out of turn")

    def _deliver(self, text: str) -> None:
        """Write a line for the program and start its clock."""
        try:
            self._incoming.write(text)
        except OSError as error:
            name = self._incoming.path.name
            self._program.fail(GARBAGE, f"does not let {name} be written ({error.strerror})")
        self._used, self._looked, self._waited = 0.0, time.monotonic(), self._program.waited

    def _taken(self) -> bool | None:
        return None if self._incoming.is_there else True

    def _written(self) -> str | None:
        """Return the program's answer once it is whole and the program has taken its input."""
        if self._incoming.is_there:
            return None
        try:
            text = self._outgoing.read()
        except FileNameError as error:
            self._program.fail(ILLEGAL, f"wrote no move: malformed; {error}")
        return None if text is None or may_go_on(text) else text

    def _wait(self, look: Callable[[], _Answer | None], seconds: float) -> _Answer:
        """Call ``look`` until it returns an answer, up to ``seconds`` after the last delivery."""
        while True:
            ended = self._program.has_ended
            if (answer := look()) is not None:
                return answer
            if ended:
                self._program.fail_as_ended(UNREAD if look == self._taken else "")
            self._program.read_output(_TICK)
            now = time.monotonic()
            self._used += min(now - self._looked, _LONGEST_TICK)
            self._looked = now
            over = self._used - seconds - _MORE_SECONDS
            if over > 0 and over > self._program.waited - self._waited:
                limit = round(seconds, 2) or seconds  # being told of a move has used a millisecond
                self._program.fail(LATE, f"{self._failure_of_wait()} within {limit:.3g} s")

    def _failure_of_wait(self) -> str:
        if self._incoming.is_there:
            return f"did not remove {self._incoming.path.name}"
        name, text = self._outgoing.path.name, None
        with contextlib.suppress(FileNameError):
            text = self._outgoing.read()
        if text is not None:
            return f"wrote no whole move to {name} ('{text:.60}')"
        others = ", ".join(self._other_files())
        return f"wrote no {name}" + (f" (but {others})" if others else "")

    def _other_files(self) -> list[str]:
        """Return the first few other files that the program has put into its scratch folder."""
        expected = {self._incoming.path.name, self._outgoing.path.name}
        names: list[str] = []
        if self._scratch is not None:
            with contextlib.suppress(OSError):
                names = [entry.name for entry in self._scratch.path.iterdir()]
        return [f"{visible(name):.40}" for name in sorted(set(names) - expected)[:_MOST_NAMED]]

    # ------------------------------------------------------------------ its end

    def close(self) -> None:
        self._end(_CLOSE_SECONDS)

    def ended_within(self, seconds: float) -> bool:
        """Wait up to ``seconds`` after a game played to the end; return False if the program goes
        on."""
        if self._over_since is None:
            return True
        return self._program.ended_within(self._over_since + seconds - time.monotonic())

    def _end(self, seconds: float) -> None:
        """End the program, by itself after a whole game, and remove its scratch folder."""
        self.ended_within(seconds)
        self._over_since = None
        self._program.kill()
        if self._scratch is not None:
            self._scratch.remove()
            self._scratch = None


_ELSEWHERE = (
    "the file protocol knows no game with another start or with moves taken back; "
    "openings=start is needed"
)


def name_of(command: str) -> str:
    """Return the default name of a program's files.

    It is the last word of the command that is no option and no setting, without folder and
    extension. Raises ValueError.

    >>> name_of("./anna"), name_of("java -cp build Bert"), name_of("python3 bots/carl.py depth=3")
    ('anna', 'Bert', 'carl')
    """
    words = [word for word in words_in(command) if not word.startswith("-") and "=" not in word]
    name = Path(words[-1]).stem if words else ""
    if not NAME.allows(name):
        raise ValueError(
            f"command='{quote_command(command)}': its files need a name of one word; "
            "name=WORD, of an agent of a run first.name=WORD"
        )
    return name


def check_folder(folder: str) -> None:
    """Raise ValueError unless a game can be played there."""
    if not os.path.isdir(folder):
        raise ValueError(f"folder={folder}: no such folder")
    try:
        tempfile.TemporaryFile(dir=folder).close()
    except OSError as error:
        raise ValueError(f"folder={folder}: cannot be written ({error.strerror})") from None
