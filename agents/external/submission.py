"""Programs that are handed in: a folder of them is a line-up.

A file or subfolder of the folder is a submission, and its name, without extension, the program's.
What it is told to be, by a YAML, or looks like is found out here, and nothing of it is run: that is
done in its own process, where it plays in a scratch folder with a copy of what was handed in. A
submission that cannot be played loses each of its games, and the reason is told.
"""

from __future__ import annotations

import ast
import os
import shlex
import shutil
import stat
import sys
import warnings
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any

import yaml

from othello_lab.agents.agent import Agent, Decision, Limits
from othello_lab.agents.external.function import FunctionAgent
from othello_lab.agents.external.line import LineAgent
from othello_lab.agents.external.program_agent import refuse_counts
from othello_lab.agents.external.wpi import ScratchFolder, WpiAgent
from othello_lab.agents.loading import find, last_line, split_target
from othello_lab.core.game import UNFIT, PlayerFailure
from othello_lab.core.position import Position
from othello_lab.core.rules import Color
from othello_lab.core.system.settings import Choice, ConfigError, checked, unknown_choice

FILE, LINE, PYTHON, UNCLEAR = KINDS = "file", "line", "python", "unclear"
"""The file protocol, the line protocol, a class or function in Python, or what nobody knows."""
PROGRAMS = (FILE, LINE)

TARGET = f"{__package__}.Submission"
"""The ``_target_`` of submissions."""
_LONGEST = 1 << 20  # bytes of Python
_TOLD = "submission.yaml"
_KEYS = ("protocol", "command", "target")
_IGNORED = (".md", ".txt")  # read by people
_SKIPPED = ("__pycache__",)


class Submission(Agent):
    """A program that was handed in, in its own scratch folder; it has to have a process of its
    own."""

    from_outside = True
    reproducible = False

    @checked
    def __init__(
        self,
        path: str,
        protocol: Annotated[str, Choice(*KINDS)],
        command: str | None = None,
        target: str | None = None,
        problem: str = "",
    ) -> None:
        """
        path: the file or folder that was handed in. protocol: how it plays. command: of a program,
        as seen from its folder. target: of Python, ``path/to/file.py:NAME``. problem: why it cannot
        play.
        """
        self.path, self.protocol = path, protocol
        self.command, self.target, self.problem = command, target, problem
        self.from_start = protocol == FILE
        self._agent: Agent | None = None
        self._scratch: ScratchFolder | None = None

    def boards(self) -> frozenset[int]:
        return frozenset({8})

    def check_limits(self, limits: Limits) -> None:
        if self.protocol in PROGRAMS:
            refuse_counts(limits)

    def begin_game(self, color: Color, start: Position, seed: int) -> None:
        super().begin_game(color, start, seed)
        if self._agent is None:
            self._agent = self._made()
        self._agent.begin_game(color, start, seed)

    def observe(self, move: int, position: Position) -> None:
        if self._agent is not None:
            self._agent.observe(move, position)

    def decide(self, position: Position, limits: Limits) -> Decision:
        assert self._agent is not None
        return self._agent.decide(position, limits)

    def close(self) -> None:
        try:
            if self._agent is not None:
                self._agent.close()
        finally:
            if self._scratch is not None:
                self._scratch.remove()

    def _made(self) -> Agent:
        """The agent, where it is to play; raises Fault."""
        if self.protocol == UNCLEAR:
            raise PlayerFailure(UNFIT, self.problem)
        try:
            place = self._copied()
            target = self._target_in(place)
            os.chdir(place)  # this process is its own
            if self.protocol == PYTHON:
                sys.path.insert(0, str(place))  # what stands beside it may be imported at any time
                return _python(target)
            agent: Agent = LineAgent(str(self.command))
            if self.protocol == FILE:
                agent = WpiAgent(str(self.command), folder=str(place))
            agent.prepare()
        except (ValueError, OSError) as error:
            told = str(error)
            if self._scratch is not None:
                told = told.replace(f"{self._scratch.path}/", "")  # another one each time
            raise PlayerFailure(UNFIT, told) from None
        return agent

    def _target_in(self, place: Path) -> str:
        """The target in a copy."""
        path = Path(self.path)
        file, _, name = str(self.target).partition(".py:")
        inside = os.path.relpath(f"{file}.py", path if path.is_dir() else path.parent)
        return f"{place / inside}:{name}"

    def _copied(self) -> Path:
        """The folder in which it runs, with a copy of what was handed in."""
        path = Path(self.path)
        self._scratch = ScratchFolder()
        if path.is_dir():
            return Path(shutil.copytree(path, self._scratch.path / path.name, symlinks=True))
        if path.exists():
            shutil.copy2(path, self._scratch.path)
        return self._scratch.path


def _python(target: str) -> Agent:
    """The agent that a class or a function stands for; raises ValueError."""
    found = find(target)
    if isinstance(found, type):
        if not issubclass(found, Agent):
            raise ValueError(f"target '{target}': {found.__name__} is no othello_lab.Agent")
        try:
            found = found()
        except Exception as error:
            file = split_target(target)[0]
            raise ValueError(
                f"{found.__name__}() cannot be made: {last_line(error, file)}"
            ) from error
    if not isinstance(found, Agent):
        return FunctionAgent(target)
    found.prepare()
    return found


# ---------------------------------------------------------------------- what was handed in


def submissions(folder: str, protocol: str = FILE) -> dict[str, dict[str, Any]]:
    """The settings of an agent for each submission in a folder, by the program's name, in their
    order. Nothing of it is run.

    protocol: of programs of which nothing else is told, ``file`` or ``line``. Raises ConfigError if
    there is no such folder, or nothing in it.
    """
    if protocol not in PROGRAMS:
        raise ConfigError(unknown_choice("protocol", protocol, PROGRAMS))
    place = Path(folder).expanduser()
    try:
        found = sorted(_handed_in(place))
    except OSError as error:
        raise ConfigError(f"folder={folder}: {error.strerror}") from None
    if not found:
        raise ConfigError(f"folder={folder}: there is no program in it")
    line_up: dict[str, dict[str, Any]] = {}
    for path in found:
        name = path.stem if path.is_file() else path.name
        name = path.name if name in line_up else name
        try:
            about = _described(path, protocol)
        except (ValueError, OSError, RecursionError, MemoryError) as error:
            problem = " ".join(str(error).split())
            if isinstance(error, RecursionError | MemoryError):
                problem = f"{path.name}, {problem or 'not enough memory'}"
            about = {"protocol": UNCLEAR, "problem": problem}
        known = {"_target_": TARGET, "path": str(path)}
        line_up[name] = known | about
    return line_up


def _handed_in(folder: Path) -> Iterator[Path]:
    """The files and subfolders that are programs; what only tells of one that is there is none."""
    names = {path.stem for path in folder.iterdir() if path.suffix != ".yaml"}
    for path in folder.iterdir():
        tells = path.suffix == ".yaml" and path.stem in names
        read = path.is_file() and path.suffix in _IGNORED
        if not (path.name.startswith(".") or path.name in _SKIPPED or tells or read):
            yield path


def _described(path: Path, protocol: str) -> dict[str, Any]:
    """The settings of a submission, but for its path; raises ValueError where they are unclear."""
    told = _told(path)
    kind = told.get("protocol", PYTHON if "target" in told else protocol)
    if "command" in told:
        return {"protocol": kind, "command": told["command"]}
    folder = path if path.is_dir() else path.parent
    if "target" in told:
        return {"protocol": PYTHON, "target": f"{folder / told['target']}"}
    main = _main_file(path)
    if kind == PYTHON or ("protocol" not in told and _is_python(main)):
        return {"protocol": PYTHON, "target": f"{main.parent / _target(main)}"}
    if _is_executable(main):
        return {"protocol": kind, "command": f"./{shlex.quote(main.name)}"}
    if main.suffix == ".py":
        return {"protocol": kind, "command": f"python3 {shlex.quote(main.name)}"}
    raise ValueError(
        f"{main.name} is neither executable (chmod +x) nor Python; {path.stem}.yaml beside it can "
        "tell its command"
    )


def _told(path: Path) -> Mapping[str, str]:
    """What the YAML beside a submission, or in its folder, says; raises ValueError."""
    own = path if path.suffix == ".yaml" else path.with_name(f"{path.stem}.yaml")
    places = (own, path / _TOLD) if path.is_dir() else (own,)
    for place in places:
        if not place.is_file():
            continue
        try:
            told = yaml.safe_load(place.read_text(encoding="utf-8"))
        except (ValueError, yaml.YAMLError, RecursionError) as error:
            raise ValueError(f"{place.name} cannot be read: {error}") from None
        if not isinstance(told, Mapping):
            raise ValueError(f"{place.name}: key: value is needed, of {', '.join(_KEYS)}")
        for key, value in told.items():
            if key not in _KEYS:
                raise ValueError(f"{place.name}: {unknown_choice('key', key, _KEYS)}")
            if not isinstance(value, str):
                raise ValueError(f"{place.name}: {key}={value!r:.60} is no text")
        known = (*PROGRAMS, PYTHON)
        if told.get("protocol", FILE) not in known:
            refused = unknown_choice("protocol", told["protocol"], known)
            raise ValueError(f"{place.name}: {refused}")
        return told
    return {}


def _main_file(path: Path) -> Path:
    """The file of a submission that is run or loaded; raises ValueError where nobody can tell."""
    if path.is_file():
        return path
    files = [each for each in sorted(path.iterdir()) if each.is_file()]
    python = [each for each in files if each.suffix == ".py"]
    runnable = [each for each in files if _is_executable(each)]
    for choice in (
        [each for each in (*runnable, *python) if each.stem == path.name],
        runnable,
        python,
    ):
        if len({*choice}) == 1:
            return choice[0]
    raise ValueError(
        f"nobody can tell which file of {path.name}/ is the program: none, or more than one, is "
        f"executable or Python; {_TOLD} in it can tell its command or target"
    )


def _is_executable(path: Path) -> bool:
    return bool(path.stat().st_mode & stat.S_IXUSR)


# ---------------------------------------------------------------------- Python


def _is_python(path: Path) -> bool:
    """Whether a file is a class or a function to be called, not a program to be started."""
    if path.suffix != ".py" or _is_executable(path):
        return False
    tree = _parsed(path)
    if _agents(tree):
        return True
    return bool(_strategies(tree)) and not _is_program(tree)


def _target(path: Path) -> str:
    """The class or function in a file of Python that plays; raises ValueError."""
    tree = _parsed(path)
    names = _agents(tree) or _strategies(tree)
    for preferred in ("strategy", path.stem):
        if preferred in names:
            return f"{path.name}:{preferred}"
    if len(names) == 1:
        return f"{path.name}:{names[0]}"
    if not names:
        raise ValueError(
            f"{path.name} has neither a class of Agent nor a function of (player, board)"
        )
    raise ValueError(
        f"{path.name} has {', '.join(names)}; a YAML has to tell which of them plays (target: "
        f"{path.name}:{names[0]})"
    )


def _parsed(path: Path) -> ast.Module:
    if path.stat().st_size > _LONGEST:
        raise ValueError(f"{path.name} is longer than {_LONGEST >> 20} MiB")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of what is no error here
            return ast.parse(path.read_bytes(), str(path))
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise ValueError(f"{path.name}, {last_line(error, str(path))}") from None


def _agents(tree: ast.Module) -> list[str]:
    """The classes that by their names are agents', but for those that others are made of."""
    known: set[str] = set()
    bases: set[str] = set()
    for node in tree.body:
        if isinstance(node, ast.ClassDef):
            words = {ast.unparse(base).rpartition(".")[2] for base in node.bases}
            if any(word.endswith("Agent") or word in known for word in words):
                known.add(node.name)
                bases |= words
    return [name for name in sorted(known) if name not in bases]


def _strategies(tree: ast.Module) -> list[str]:
    """The functions of (player, board)."""
    return [
        node.name
        for node in tree.body
        if isinstance(node, ast.FunctionDef)
        and [each.arg for each in node.args.args] == ["player", "board"]
    ]


def _is_program(tree: ast.Module) -> bool:
    """Whether a file says what it does when it is started."""
    return any(
        isinstance(node, ast.If) and "__main__" in ast.unparse(node.test) for node in tree.body
    )
