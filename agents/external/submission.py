"""Submissions: a folder of programs handed in is a line-up.

Each file or subfolder is a submission; its name without extension is the program's name. A YAML
may state the kind of a submission; otherwise this module infers it without running anything. A
submission plays in a process of its own, in a scratch folder with a copy of its files. A submission
that cannot play loses all its games, with a stated reason.
"""

from __future__ import annotations

import ast
import os
import re
import shlex
import shutil
import stat
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Iterator, Mapping
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Annotated, Any

from othello_lab.agents.agent import Agent, Decision, Files, Limits
from othello_lab.agents.external.function import FunctionAgent
from othello_lab.agents.external.line import LineAgent
from othello_lab.agents.external.program import LAST_OUTPUT, files_of_interpreter
from othello_lab.agents.external.program_agent import refuse_counts
from othello_lab.agents.external.wpi import UNREAD, WpiAgent
from othello_lab.agents.external_agent import alike, prepare_alike
from othello_lab.agents.loading import find, last_line, own_class, split_target
from othello_lab.agents.recognition import describe
from othello_lab.core.game import UNFIT, PlayerFailure
from othello_lab.core.position import Position
from othello_lab.core.rules import Color
from othello_lab.core.system.compile import Announce
from othello_lab.core.system.confinement import Box, Confinement
from othello_lab.core.system.escaping import visible
from othello_lab.core.system.files import open_file, read_bytes, writing
from othello_lab.core.system.foreign_text import storable
from othello_lab.core.system.plain_yaml import read_yaml
from othello_lab.core.system.processes import end_descendants, family
from othello_lab.core.system.scratch import ScratchFolder
from othello_lab.core.system.settings import Choice, ConfigError, checked, unknown_choice

FILE, LINE, PYTHON, UNCLEAR = KINDS = "file", "line", "python", "unclear"
"""Kinds: the file protocol, the line protocol, a class or function in Python, or unknown."""
PROGRAMS = (FILE, LINE)
_PLAYS_BY = {FILE: "file protocol", LINE: "line protocol", PYTHON: "Python"}

TARGET = f"{__package__}.Submission"
"""The ``_target_`` of submissions."""
_LONGEST = 1 << 20  # bytes of Python
_DEEPEST = 100  # folders in each other
_NOTES = "submission.yaml"
_KEYS = ("protocol", "command", "target", "children")
_IGNORED = (".md", ".txt")  # read by people
_SKIPPED = ("__pycache__",)
_COMPILERS = {
    ".java": ("javac -proc:none {0}.java", "java {0}"),
    ".c": ("cc -O2 -o {0} {0}.c PARTS -lm", "./{0}"),
}
"""By the end of a source's name the command that compiles it, and the command of the program.
PARTS stands for the other sources in its folder that have no ``main``; ``javac`` finds them
itself."""
_MAIN = re.compile(rb"\bmain\s*\(")
_PREPARE_MB = 1024
_COMPILE_SECONDS, _LOOK_SECONDS, _MOST_PROCESSES = 60.0, 0.05, 32
_READS = ("input(", "sys.stdin", "sys.argv")
_MOST_WORDS = 20  # lines of a compiler
_MOST_NAMED = 5  # files in a message
_PARTS = "PARTS"


class Submission(Agent):
    """A program handed in, played in its own scratch folder and its own process."""

    from_outside = True
    closed = True
    reproducible = False

    @checked
    def __init__(
        self,
        path: str,
        protocol: Annotated[str, Choice(*KINDS)],
        command: str | None = None,
        target: str | None = None,
        problem: str = "",
        source: str | None = None,
        children: bool = False,
    ) -> None:
        """
        path: the file or folder handed in. protocol: the kind of submission. command: of a
        program, as seen from its folder. target: of Python, ``path/to/file.py:NAME``. problem: the
        reason why it cannot play. source: a file of Java or C in its folder, which is compiled
        before the command is run. children: True if its YAML asks to start other programs, which
        only ``isolation.children`` of the run allows.
        """
        self.path, self.protocol = path, protocol
        self.command, self.target, self.problem = command, target, problem
        self.source, self.children = source, children
        self.from_start = protocol == FILE
        self.compile_seconds = _COMPILE_SECONDS if source is not None else 0.0
        self._agent: Agent | None = None
        self._scratch: ScratchFolder | None = None
        self._may_fork = True

    @property
    def plays_by(self) -> str:
        """The way in which it plays, with its command or file; ``unclear`` if it cannot play."""
        if self.protocol == UNCLEAR:
            return UNCLEAR
        program = self.command or Path(str(self.target)).name
        return f"{_PLAYS_BY[self.protocol]}: {program}"

    def boards(self) -> frozenset[int]:
        return frozenset({8})

    def check_limits(self, limits: Limits) -> None:
        if self.protocol in PROGRAMS:
            refuse_counts(limits)

    def prepare(self, announce: Announce | None = None) -> None:
        with suppress(ValueError, OSError):  # it will lose its games, with a reason
            file = Path(split_target(str(self.target))[0]) if self.protocol == PYTHON else None
            if file is not None and _agents(_parsed(file)):
                box = Confinement(_PREPARE_MB, Box()).opening(self.files())
                make = partial(self.make, prepares=False)
                prepare_alike(alike(make, self.path, box), self.path, announce)

    def begin_game(self, color: Color, start: Position, seed: int) -> None:
        super().begin_game(color, start, seed)
        if self._agent is None:
            self._agent = self.make()
        try:
            self._agent.begin_game(color, start, seed)
        except PlayerFailure as fault:
            raise PlayerFailure(fault.reason, self._with_hint(fault.detail)) from None

    def _with_hint(self, detail: str) -> str:
        """Return the reason of a failure; with a hint if the program may speak another protocol."""
        if self.protocol != FILE or UNREAD not in detail:
            return detail
        notes = f"{Path(self.path).stem}.yaml"
        hint = f"{UNREAD}; if the program reads lines, add {notes} with protocol: {LINE}"
        return detail.replace(UNREAD, hint, 1)

    def observe(self, move: int, position: Position) -> None:
        if self._agent is not None:
            self._agent.observe(move, position)

    def decide(self, position: Position, limits: Limits) -> Decision:
        assert self._agent is not None
        return self._agent.decide(position, limits)

    def files(self) -> Files:
        # Its command is the words of somebody else: a path in it opens nothing.
        interpreter = files_of_interpreter(self.command) if self.command is not None else ()
        return Files((os.path.abspath(self.path), *interpreter))

    def forbid_children(self) -> None:
        self._may_fork = False  # once it is made: a compiler may

    def close(self) -> None:
        try:
            if self._agent is not None:
                self._agent.close()
        finally:
            if self._scratch is not None:
                self._scratch.remove()

    def make(self, prepares: bool = True) -> Agent:
        """Make the agent inside its scratch folder, the new working folder of this process; raises
        PlayerFailure. prepares: False to leave one of Python unprepared."""
        if self.protocol == UNCLEAR:
            raise PlayerFailure(UNFIT, self.problem)
        try:
            folder = self._copy()
            target = self._target_in(folder)
            os.chdir(folder)  # nothing else runs in this process
            if self.protocol == PYTHON:
                if not self._may_fork:
                    super().forbid_children()
                sys.path.insert(0, str(folder))  # it may import files beside it at any time
                return _python(target, prepares)
            if self.source is not None:
                assert self._scratch is not None
                _compile(Path(self.source), self._scratch)
            agent: Agent = LineAgent(str(self.command))
            if self.protocol == FILE:
                agent = WpiAgent(str(self.command), folder=str(folder))
            if not self._may_fork:
                agent.forbid_children()
            agent.prepare()
        except (ValueError, OSError) as error:
            detail = str(error)
            if self._scratch is not None:
                detail = detail.replace(f"{self._scratch.path}/", "")  # the name is random
            raise PlayerFailure(UNFIT, detail) from None
        return agent

    def _target_in(self, folder: Path) -> str:
        """Return the target inside a copy of the submission."""
        path = Path(self.path)
        file, colon, name = str(self.target).removesuffix(".py").partition(".py:")
        inside = os.path.relpath(f"{file}.py", path if path.is_dir() else path.parent)
        return f"{folder / inside}{colon[-1:]}{name}"

    def _copy(self) -> Path:
        """Copy the submission into a new scratch folder and return the folder to run it in."""
        path = Path(self.path)
        self._scratch = ScratchFolder()
        copy = self._scratch.path / path.name
        if path.exists():
            _copy_tree(path, copy)
        return copy if path.is_dir() else self._scratch.path


def _copy_tree(source: Path, target: Path, mode: int | None = None) -> None:
    """Copy a file, or a folder with all that it holds.

    mode: of the copy of a file, by default that of the file. It is given as the copy is made: a
    closed process can change none later. Raises OSError, and ValueError for what is no file, and
    for folders in each other that no path can name.
    """
    if len(target.parts) > _DEEPEST:
        raise ValueError(f"{source.name}: more than {_DEEPEST} folders in each other")
    kind = source.lstat().st_mode
    if stat.S_ISLNK(kind):
        target.symlink_to(source.readlink())
    elif stat.S_ISDIR(kind):
        target.mkdir()
        for part in source.iterdir():
            _copy_tree(part, target / part.name)
    elif stat.S_ISREG(kind):
        mode = stat.S_IMODE(kind) if mode is None else mode
        with open_file(source, None, follow=False) as read, writing(target, mode=mode) as written:
            shutil.copyfileobj(read, written)
    else:
        raise ValueError(f"{source.name} is neither a file nor a folder")


def _compile(source: Path, scratch: ScratchFolder) -> None:
    """Compile a file of Java or C here; raises PlayerFailure with the compiler's words."""
    words: list[str] = []
    for word in _COMPILERS[source.suffix][0].split():
        words += _parts(source) if word == _PARTS else [word.format(source.stem)]
    if shutil.which(words[0]) is None:
        raise PlayerFailure(UNFIT, f"{source.name} cannot be compiled: there is no {words[0]} here")
    with tempfile.TemporaryFile() as output:
        process = subprocess.Popen(
            words, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT
        )
        excess = _excess_of(process, scratch)
        if excess is not None:
            raise PlayerFailure(UNFIT, f"{shlex.join(words)}: {excess}")
        if process.returncode:
            output.seek(0)
            said = output.read(_LONGEST).decode(errors="replace").splitlines()[:_MOST_WORDS]
            detail = f"{shlex.join(words)} ended (exit code {process.returncode})"
            raise PlayerFailure(UNFIT, detail + LAST_OUTPUT + "\n".join(map(visible, said)))
    built = Path(source.stem)
    if built.is_file() and not _is_executable(built):  # the linker may change no mode
        _copy_tree(built.rename(f"{built}.built"), built, mode=0o755)


def _excess_of(compiler: subprocess.Popen[bytes], scratch: ScratchFolder) -> str | None:
    """Wait for a compiler; end it, and return what was too much, if it takes more than it may."""
    until, excess = time.monotonic() + _COMPILE_SECONDS, None
    try:
        while compiler.poll() is None and excess is None:
            time.sleep(_LOOK_SECONDS)
            if time.monotonic() > until:
                excess = f"took more than {_COMPILE_SECONDS:g} s"
            elif len(family(compiler.pid)) > _MOST_PROCESSES:
                excess = f"started more than {_MOST_PROCESSES} processes"
            else:
                excess = scratch.excess()
    finally:
        end_descendants([compiler.pid])
        compiler.kill()
        compiler.wait()
    return excess


def _parts(main: Path) -> list[str]:
    """Return the other sources of a program in the same language and folder."""
    return [
        f"./{file.name}"
        for file in sorted(Path().glob(f"*{main.suffix}"))
        if file.name != main.name and not _has_main(file)
    ]


def _has_main(source: Path) -> bool:
    """Return True if a file of Java or C has a function ``main``."""
    with open_file(source, None) as file:
        return _MAIN.search(file.read(_LONGEST)) is not None


def _python(target: str, prepares: bool) -> Agent:
    """Make the agent of a class or a function, or of the one that a file has; raises ValueError."""
    if target.endswith(".py"):
        target = describe(target)["target"]
    player = find(target)
    if isinstance(player, type):
        if not issubclass(player, Agent):
            raise ValueError(f"target '{target}': {player.__name__} is no othello_lab.Agent")
        try:
            player = player()
        except Exception as error:
            file = split_target(target)[0]
            raise ValueError(
                f"{player.__name__}() cannot be made: {last_line(error, file)}"
            ) from error
    if not isinstance(player, Agent):
        return FunctionAgent(target)
    if prepares:
        player.prepare()
    return player


# ---------------------------------------------------------------------- a folder of submissions


def submissions(folder: str, protocol: str = FILE) -> dict[str, dict[str, Any]]:
    """Return the settings of an agent for each submission in a folder, by name, sorted by path.

    Nothing is run. Names are shown with escapes for characters that are not seen. protocol:
    ``file`` or ``line``, for programs without a YAML. Raises ConfigError if the folder is missing
    or empty.
    """
    if protocol not in PROGRAMS:
        raise ConfigError(unknown_choice("protocol", protocol, PROGRAMS))
    expanded = Path(folder).expanduser()
    try:
        paths = sorted(_handed_in(expanded))
    except OSError as error:
        raise ConfigError(f"folder={folder}: {error.strerror}") from None
    if not paths:
        raise ConfigError(f"folder={folder}: there is no program in it")
    line_up: dict[str, dict[str, Any]] = {}
    for path in paths:
        name = visible(path.stem if path.is_file() else path.name)
        name = visible(path.name) if name in line_up else name
        line_up[name] = {"_target_": TARGET} | settings_of(path, protocol)
    return line_up


def settings_of(path: Path, protocol: str = FILE) -> dict[str, Any]:
    """Return the settings of :class:`Submission` for a file or folder handed in; nothing is run.

    protocol: as in :func:`submissions`.
    """
    try:
        if path.is_symlink():  # it would open the folder that it leads to
            raise ValueError(f"{path.name} is a link; put the program itself into the folder")
        settings = _settings_of(path, protocol)
        if _notes_of(path).get("children"):
            settings["children"] = True
        for text in (str(path), *map(str, settings.values())):
            if storable(text) != text:  # neither the record nor a YAML could hold it
                raise ValueError(f"{text}: this file name is not UTF-8; rename the file")
    except (ValueError, OSError, RecursionError, MemoryError) as error:
        problem = " ".join(str(error).split())
        if isinstance(error, RecursionError | MemoryError):
            problem = f"{path.name}, {problem or 'not enough memory'}"
        settings = {"protocol": UNCLEAR, "problem": storable(problem)}
    return {"path": storable(str(path))} | settings


def _handed_in(folder: Path) -> Iterator[Path]:
    """Yield the files and subfolders that are programs, without the YAML of another program."""
    names = {path.stem for path in folder.iterdir() if path.suffix != ".yaml"}
    for path in folder.iterdir():
        is_note = path.suffix == ".yaml" and path.stem in names
        is_text = path.is_file() and path.suffix in _IGNORED
        if not (path.name.startswith(".") or path.name in _SKIPPED or is_note or is_text):
            yield path


def _settings_of(path: Path, protocol: str) -> dict[str, Any]:
    """Return the settings of a submission without its path; raises ValueError if unclear."""
    notes = _notes_of(path)
    kind = notes.get("protocol", PYTHON if "target" in notes else protocol)
    if "command" in notes:
        return {"protocol": kind, "command": notes["command"]}
    folder = path if path.is_dir() else path.parent
    if "target" in notes:
        return {"protocol": PYTHON, "target": f"{folder / notes['target']}"}
    main = _main_file(path)
    if kind == PYTHON or ("protocol" not in notes and _is_python(main)):
        return {"protocol": PYTHON, "target": f"{main.parent / _target(main)}"}
    if _is_executable(main):
        return {"protocol": kind, "command": f"./{shlex.quote(main.name)}"}
    if main.suffix == ".py":
        return {"protocol": kind, "command": f"python3 {shlex.quote(main.name)}"}
    if main.suffix in _COMPILERS and re.fullmatch(r"\w+", main.stem):
        command = _COMPILERS[main.suffix][1].format(main.stem)
        return {"protocol": kind, "command": command, "source": main.name}
    raise ValueError(
        f"{main.name} is neither executable (chmod +x) nor Python, Java or C; {path.stem}.yaml "
        "beside it can name its command"
    )


def _notes_of(path: Path) -> Mapping[str, Any]:
    """Read the YAML beside a submission or in its folder; raises ValueError."""
    beside = path if path.suffix == ".yaml" else path.with_name(f"{path.stem}.yaml")
    places = (beside, path / _NOTES) if path.is_dir() else (beside,)
    for file in places:
        if not file.is_file():
            continue
        try:
            notes = read_yaml(file)
        except ValueError as error:
            raise ValueError(f"{file.name} cannot be read: {error}") from None
        if not isinstance(notes, Mapping):
            raise ValueError(f"{file.name}: key: value is needed, of {', '.join(_KEYS)}")
        for key, value in notes.items():
            if key not in _KEYS:
                raise ValueError(f"{file.name}: {unknown_choice('key', key, _KEYS)}")
            if key == "children" and isinstance(value, bool):
                continue
            if not isinstance(value, str):
                raise ValueError(f"{file.name}: {key}={value!r:.60} is no text")
        known = (*PROGRAMS, PYTHON)
        if notes.get("protocol", FILE) not in known:
            problem = unknown_choice("protocol", notes["protocol"], known)
            raise ValueError(f"{file.name}: {problem}")
        return notes
    return {}


def _main_file(path: Path) -> Path:
    """Return the file of a submission to run or load; raises ValueError if it is unclear."""
    if path.is_file():
        return path
    files = [file for file in sorted(path.iterdir()) if file.is_file()]
    python = [file for file in files if file.suffix == ".py"]
    runnable = [file for file in files if _is_executable(file)]
    sources = [file for file in files if file.suffix in _COMPILERS]
    kinds = {"executable": runnable, "Python": python, "Java or C": sources}
    whole = [*runnable, *python, *sources]
    named = [file for file in whole if file.stem == path.name]
    alike = [file for file in whole if file.stem.casefold() == path.name.casefold()]
    for candidates in (named, alike, *kinds.values(), [*filter(_has_main, sources)]):
        if len({*candidates}) == 1:
            return candidates[0]
    notes = f"name its command or target in {path.name}/{_NOTES}"
    for kind, several in kinds.items():
        if several:
            names = ", ".join(file.name for file in several[:_MOST_NAMED])
            more = ", ..." if len(several) > _MOST_NAMED else ""
            raise ValueError(
                f"{path.name}/ has {len(several)} {kind} files ({names}{more}): give the folder "
                f"the name of the one to start, or {notes}"
            )
    raise ValueError(f"{path.name}/ has no executable, Python, Java or C file: {notes}")


def _is_executable(path: Path) -> bool:
    """Return True for a program to start; archives may set that mode for sources, too."""
    return path.suffix not in _COMPILERS and bool(path.stat().st_mode & stat.S_IXUSR)


# ---------------------------------------------------------------------- Python


def _is_python(path: Path) -> bool:
    """Return True for a file with a class or function to call, False for a program to start."""
    if path.suffix != ".py" or _is_executable(path):
        return False
    tree = _parsed(path)
    return bool(_agents(tree) or (_strategies(tree) and not _is_program(tree)))


def _target(path: Path) -> str:
    """Return the class or function in a Python file that plays; raises ValueError."""
    tree = _parsed(path)
    names = _agents(tree) or _strategies(tree)
    for preferred in ("strategy", path.stem):
        if preferred in names:
            return f"{path.name}:{preferred}"
    if len(names) == 1:
        return f"{path.name}:{names[0]}"
    if names and not (_agents(tree) or _named(tree)):
        return path.name  # they are tried when it plays
    if not names:
        raise ValueError(
            f"{path.name} has neither a class of Agent nor a function of (player, board)"
        )
    raise ValueError(
        f"{path.name} has {', '.join(names)}; name the one that plays in a YAML (target: "
        f"{path.name}:{names[0]})"
    )


def _parsed(path: Path) -> ast.Module:
    content = read_bytes(path, _LONGEST)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a submission's warnings are not ours
            return ast.parse(content, str(path))
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise ValueError(f"{path.name}, {last_line(error, str(path))}") from None


def _agents(tree: ast.Module) -> list[str]:
    """Return the classes that are agents by their base's name, without bases of other classes."""
    known: set[str] = set()
    bases: set[str] = set()
    for node in tree.body:
        if isinstance(node, ast.ClassDef):
            words = {ast.unparse(base).rpartition(".")[2] for base in node.bases}
            if any(word.endswith("Agent") or word in known or _is_ours(word) for word in words):
                known.add(node.name)
                bases |= words
    return [name for name in sorted(known) if name not in bases]


def _is_ours(name: str) -> bool:
    return issubclass(own_class(f"othello_lab.{name}") or object, Agent)


def _strategies(tree: ast.Module) -> list[str]:
    """Return the functions of (player, board); without such names, those of any two arguments."""
    functions = [node for node in tree.body if isinstance(node, ast.FunctionDef)]
    return _named(tree) or [node.name for node in functions if len(node.args.args) == 2]


def _named(tree: ast.Module) -> list[str]:
    return [
        node.name
        for node in tree.body
        if isinstance(node, ast.FunctionDef)
        and [argument.arg for argument in node.args.args] == ["player", "board"]
    ]


def _is_program(tree: ast.Module) -> bool:
    """Return True if a file has an ``if __name__ == "__main__"`` part, or reads its input."""
    return any(
        isinstance(node, ast.If) and "__main__" in ast.unparse(node.test) for node in tree.body
    ) or any(word in ast.unparse(tree) for word in _READS)
