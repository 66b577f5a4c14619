"""Programs that speak by two files, as in the tournament of ruleset ``wpi``: see
``docs/file_protocol.md``."""

from __future__ import annotations

import contextlib
import fcntl
import math
import os
import shutil
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, TypeVar

from othello_lab.agents.agent import Agent, Decision, Limits
from othello_lab.agents.external.mailbox import FileNameError, MailboxFile, slips_of
from othello_lab.agents.external.program import PATIENCE, Command, Program, shown, words_in
from othello_lab.agents.external.program_agent import ProgramAgent
from othello_lab.core.game import DIED, GARBAGE, ILLEGAL, LATE, PlayerFailure
from othello_lab.core.notation import PASS, IllegalMove
from othello_lab.core.position import Position
from othello_lab.core.rules import Color
from othello_lab.core.system.settings import Number, Text, called, checked
from othello_lab.core.wpi import color_letter, may_go_on, move_text, read_move

NAME = Text(r"[A-Za-z0-9_][A-Za-z0-9_-]{0,63}", "one word of letters, digits, - and _")
Name = Annotated[str | None, NAME]
"""A setting: what a program's two files are called."""
Folder = Annotated[str | None, Text(r".+", "a folder")]

EXIT_SECONDS = 5.0
"""A program may take so long to end by itself after a game."""
_CLOSE_SECONDS = 0.5
_MORE_SECONDS = 0.3
"""So long an answer is waited for after its time: the judge says whether it is late. It is less
than the time after which a process that does not answer is killed."""
_TICK = 0.005
_LONGEST_TICK = 0.1  # what passes beyond it, nobody was running
_SCRATCH = "othello-lab-wpi-"
_Found = TypeVar("_Found")


class WpiAgent(ProgramAgent):
    """A program that reads its colour and its opponent's moves from ``NAME.in`` and writes its own
    to ``NAME.out``. It knows no game that begins elsewhere than at the start."""

    from_start = True

    @checked
    def __init__(
        self,
        command: Command,
        name: Name = None,
        folder: Folder = None,
        patience: Annotated[float, Number(above=0)] = PATIENCE,
    ) -> None:
        """
        command: the program and its arguments; no shell is asked. name: of its files, by default
        that of the program, see :func:`name_of`. folder: where it runs and its files are; by
        default a new one for each game, which is removed. patience: seconds in which it has to
        begin, and take its colour.
        """
        super().__init__(command, patience)
        self.folder, self._given_name = folder, name
        self._program = Program(command, talks=False)
        self._scratch: ScratchFolder | None = None
        self._over_since: float | None = None
        # Seconds since it was given something; when that was seen; and what it had waited before.
        self._used = self._looked = self._waited = 0.0

    def __repr__(self) -> str:
        return called(self, {"name": self._given_name})

    @property
    def name(self) -> str:
        """Of its files; raises ValueError where there is none."""
        return self._given_name or name_of(self.command)

    def prepare(self, announce: object = None) -> None:
        super().prepare()
        _ = self.name
        if self.folder is not None:
            check_folder(self.folder)

    # ------------------------------------------------------------------ the game

    def begin_game(self, color: Color, start: Position, seed: int) -> None:
        Agent.begin_game(self, color, start, seed)
        self._end(EXIT_SECONDS)
        self._color, self._own = color, color_letter(color, start.ruleset)
        self._limit = math.inf
        self._last: str | None = None  # what the opponent has done and it does not know
        if start != Position.start(start.ruleset):
            raise PlayerFailure(GARBAGE, _ELSEWHERE)
        self._incoming, self._outgoing = self._fresh_slips()
        self._program.start()
        self._deliver(self._own)
        self._wait(self._taken, self.patience)
        self._first = color is start.ruleset.begins
        self._decided = -1

    def _fresh_slips(self) -> tuple[MailboxFile, MailboxFile]:
        """Its two files, neither of them there."""
        try:
            if self.folder is None:
                self._scratch = ScratchFolder()
                self._program.folder = self._scratch.path
            else:
                self._program.folder = Path(self.folder).absolute()
            slips = slips_of(self._program.folder, self.name)
            for slip in slips:
                slip.remove()
        except (OSError, ValueError) as error:
            raise PlayerFailure(DIED, f"'{self.command}' cannot be started: {error}") from None
        return slips

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
        given = limits.clock if limits.seconds is None else limits.seconds
        self._limit = math.inf if given is None else given
        self._decided = self._move(position, self._limit)
        return Decision(self._decided)

    def _move(self, position: Position, seconds: float) -> int:
        """Its move, or its pass, for which it has so long; raises Fault."""
        if not self._first:
            if self._last is None:
                raise PlayerFailure(GARBAGE, _ELSEWHERE)
            self._expect_nothing()
            self._deliver(self._last)
        else:  # whose clock has started at the colour; but it may take its patience to begin
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
        """It is not its turn. The end of a line may have come late, if it writes in pieces."""
        if self._outgoing.is_there:
            with contextlib.suppress(FileNameError, OSError):
                if not (self._outgoing.read() or "").strip():
                    self._outgoing.remove()
                    return
            self._program.fail(ILLEGAL, f"wrote {self._outgoing.path.name} out of turn")

    def _deliver(self, text: str) -> None:
        """Its clock starts now."""
        try:
            self._incoming.write(text)
        except OSError as error:
            name = self._incoming.path.name
            self._program.fail(GARBAGE, f"does not let {name} be written ({error.strerror})")
        self._used, self._looked, self._waited = 0.0, time.monotonic(), self._program.waited

    def _taken(self) -> bool | None:
        return None if self._incoming.is_there else True

    def _written(self) -> str | None:
        """What it has written, once it has taken what was given to it, and this is whole."""
        if self._incoming.is_there:
            return None
        try:
            text = self._outgoing.read()
        except FileNameError as error:
            self._program.fail(ILLEGAL, f"wrote what is no move: malformed; {error}")
        return None if text is None or may_go_on(text) else text

    def _wait(self, there: Callable[[], _Found | None], seconds: float) -> _Found:
        """What is there within so many seconds since it was given something."""
        while True:
            ended = self._program.has_ended
            if (found := there()) is not None:
                return found
            if ended:
                self._program.fail_as_ended()
            self._program.attend(_TICK)
            now = time.monotonic()
            self._used += min(now - self._looked, _LONGEST_TICK)
            self._looked = now
            over = self._used - seconds - _MORE_SECONDS
            if over > 0 and over > self._program.waited - self._waited:
                self._program.fail(LATE, f"{self._undone()} within {seconds:g} s")

    def _undone(self) -> str:
        if self._incoming.is_there:
            return f"did not remove {self._incoming.path.name}"
        name, text = self._outgoing.path.name, None
        with contextlib.suppress(FileNameError):
            text = self._outgoing.read()
        return (
            f"wrote no {name}" if text is None else f"wrote no whole move to {name} ('{text:.60}')"
        )

    # ------------------------------------------------------------------ its end

    def close(self) -> None:
        self._end(_CLOSE_SECONDS)

    def _end(self, seconds: float) -> None:
        """End the program, and what its game has left; so long after a game that was played to the
        end it may end by itself."""
        if self._over_since is not None:
            self._program.ended_within(self._over_since + seconds - time.monotonic())
            self._over_since = None
        self._program.kill()
        if self._scratch is not None:
            self._scratch.remove()
            self._scratch = None


_ELSEWHERE = (
    "the file protocol knows no game that begins elsewhere than at the start, or that was taken "
    "back; openings=start is needed"
)


def name_of(command: str) -> str:
    """What a program's files are called if nobody says otherwise: the last word of its command that
    is no option and no setting, without its folder and extension. Raises ValueError.

    >>> name_of("./anna"), name_of("java -cp build Bert"), name_of("python3 bots/carl.py depth=3")
    ('anna', 'Bert', 'carl')
    """
    words = [word for word in words_in(command) if not word.startswith("-") and "=" not in word]
    name = Path(words[-1]).stem if words else ""
    if not NAME.allows(name):
        raise ValueError(
            f"command='{shown(command)}': its files need a name of one word; name=WORD"
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


class ScratchFolder:
    """A new folder for one game. It is locked as long as its owner lives; where that was
    killed, the next one removes it."""

    def __init__(self) -> None:
        remove_abandoned()
        self.path, self._lock = self._made()

    def _made(self) -> tuple[Path, int]:
        while True:
            path = Path(tempfile.mkdtemp(prefix=_SCRATCH))
            # Before it is locked another process may take it for an abandoned one.
            with contextlib.suppress(BlockingIOError, FileNotFoundError):
                lock = _locked(path)
                if path.exists():
                    return path, lock
                os.close(lock)

    def remove(self) -> None:
        _discard(self.path, self._lock)


def remove_abandoned() -> None:
    """Remove the scratch folders whose owners were killed."""
    for left in Path(tempfile.gettempdir()).glob(f"{_SCRATCH}*"):
        with contextlib.suppress(OSError):
            _discard(left, _locked(left))


def _locked(folder: Path) -> int:
    """A descriptor of a folder that is locked by it; raises OSError if another process does."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(descriptor)
        raise
    return descriptor


def _discard(folder: Path, lock: int) -> None:
    """Remove a folder with all that it holds, and unlock it."""
    try:
        with contextlib.suppress(RecursionError):
            shutil.rmtree(folder, ignore_errors=True)
    finally:
        os.close(lock)
