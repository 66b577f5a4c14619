"""Submissions: a folder of programs handed in is a line-up.

Each file or subfolder is a submission; its name without extension is the program's name. A YAML
may state the kind of a submission; otherwise this module infers it without running anything. A
submission plays in a process of its own, in a scratch folder with a copy of its files. A submission
that cannot play loses all its games, with a stated reason.
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
"""Kinds: the file protocol, the line protocol, a class or function in Python, or unknown."""
PROGRAMS = (FILE, LINE)

TARGET = f"{__package__}.Submission"
"""The ``_target_`` of submissions."""
_LONGEST = 1 << 20  # bytes of Python
_NOTES = "submission.yaml"
_KEYS = ("protocol", "command", "target")
_IGNORED = (".md", ".txt")  # read by people
_SKIPPED = ("__pycache__",)


class Submission(Agent):
    """A program handed in, played in its own scratch folder and its own process."""

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
        path: the file or folder handed in. protocol: the kind of submission. command: of a
        program, as seen from its folder. target: of Python, ``path/to/file.py:NAME``. problem: the
        reason why it cannot play.
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
            self._agent = self._make_agent()
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

    def _make_agent(self) -> Agent:
        """Make the agent inside its scratch folder; raises PlayerFailure."""
        if self.protocol == UNCLEAR:
            raise PlayerFailure(UNFIT, self.problem)
        try:
            place = self._copy()
            target = self._target_in(place)
            os.chdir(place)  # nothing else runs in this process
            if self.protocol == PYTHON:
                sys.path.insert(0, str(place))  # it may import files beside it at any time
                return _python(target)
            agent: Agent = LineAgent(str(self.command))
            if self.protocol == FILE:
                agent = WpiAgent(str(self.command), folder=str(place))
            agent.prepare()
        except (ValueError, OSError) as error:
            detail = str(error)
            if self._scratch is not None:
                detail = detail.replace(f"{self._scratch.path}/", "")  # the name is random
            raise PlayerFailure(UNFIT, detail) from None
        return agent

    def _target_in(self, place: Path) -> str:
        """Return the target inside a copy of the submission."""
        path = Path(self.path)
        file, _, name = str(self.target).partition(".py:")
        inside = os.path.relpath(f"{file}.py", path if path.is_dir() else path.parent)
        return f"{place / inside}:{name}"

    def _copy(self) -> Path:
        """Copy the submission into a new scratch folder and return the folder to run it in."""
        path = Path(self.path)
        self._scratch = ScratchFolder()
        if path.is_dir():
            return Path(shutil.copytree(path, self._scratch.path / path.name, symlinks=True))
        if path.exists():
            shutil.copy2(path, self._scratch.path)
        return self._scratch.path


def _python(target: str) -> Agent:
    """Make the agent of a class or a function; raises ValueError."""
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
    player.prepare()
    return player


# ---------------------------------------------------------------------- a folder of submissions


def submissions(folder: str, protocol: str = FILE) -> dict[str, dict[str, Any]]:
    """Return the settings of an agent for each submission in a folder, by name, sorted by path.

    Nothing is run. protocol: ``file`` or ``line``, for programs without a YAML. Raises ConfigError
    if the folder is missing or empty.
    """
    if protocol not in PROGRAMS:
        raise ConfigError(unknown_choice("protocol", protocol, PROGRAMS))
    place = Path(folder).expanduser()
    try:
        paths = sorted(_handed_in(place))
    except OSError as error:
        raise ConfigError(f"folder={folder}: {error.strerror}") from None
    if not paths:
        raise ConfigError(f"folder={folder}: there is no program in it")
    line_up: dict[str, dict[str, Any]] = {}
    for path in paths:
        name = path.stem if path.is_file() else path.name
        name = path.name if name in line_up else name
        try:
            about = _settings_of(path, protocol)
        except (ValueError, OSError, RecursionError, MemoryError) as error:
            problem = " ".join(str(error).split())
            if isinstance(error, RecursionError | MemoryError):
                problem = f"{path.name}, {problem or 'not enough memory'}"
            about = {"protocol": UNCLEAR, "problem": problem}
        known = {"_target_": TARGET, "path": str(path)}
        line_up[name] = known | about
    return line_up


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
    raise ValueError(
        f"{main.name} is neither executable (chmod +x) nor Python; {path.stem}.yaml beside it can "
        "name its command"
    )


def _notes_of(path: Path) -> Mapping[str, str]:
    """Read the YAML beside a submission or in its folder; raises ValueError."""
    beside = path if path.suffix == ".yaml" else path.with_name(f"{path.stem}.yaml")
    places = (beside, path / _NOTES) if path.is_dir() else (beside,)
    for place in places:
        if not place.is_file():
            continue
        try:
            notes = yaml.safe_load(place.read_text(encoding="utf-8"))
        except (ValueError, yaml.YAMLError, RecursionError) as error:
            raise ValueError(f"{place.name} cannot be read: {error}") from None
        if not isinstance(notes, Mapping):
            raise ValueError(f"{place.name}: key: value is needed, of {', '.join(_KEYS)}")
        for key, value in notes.items():
            if key not in _KEYS:
                raise ValueError(f"{place.name}: {unknown_choice('key', key, _KEYS)}")
            if not isinstance(value, str):
                raise ValueError(f"{place.name}: {key}={value!r:.60} is no text")
        known = (*PROGRAMS, PYTHON)
        if notes.get("protocol", FILE) not in known:
            problem = unknown_choice("protocol", notes["protocol"], known)
            raise ValueError(f"{place.name}: {problem}")
        return notes
    return {}


def _main_file(path: Path) -> Path:
    """Return the file of a submission to run or load; raises ValueError if it is unclear."""
    if path.is_file():
        return path
    files = [file for file in sorted(path.iterdir()) if file.is_file()]
    python = [file for file in files if file.suffix == ".py"]
    runnable = [file for file in files if _is_executable(file)]
    for candidates in (
        [file for file in (*runnable, *python) if file.stem == path.name],
        runnable,
        python,
    ):
        if len({*candidates}) == 1:
            return candidates[0]
    raise ValueError(
        f"{path.name}/ has no file, or more than one, that is executable or Python, so the program "
        f"is unclear; name its command or target in {_NOTES} in it"
    )


def _is_executable(path: Path) -> bool:
    return bool(path.stat().st_mode & stat.S_IXUSR)


# ---------------------------------------------------------------------- Python


def _is_python(path: Path) -> bool:
    """Return True for a file with a class or function to call, False for a program to start."""
    if path.suffix != ".py" or _is_executable(path):
        return False
    tree = _parsed(path)
    if _agents(tree):
        return True
    return bool(_strategies(tree)) and not _is_program(tree)


def _target(path: Path) -> str:
    """Return the class or function in a Python file that plays; raises ValueError."""
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
        f"{path.name} has {', '.join(names)}; name the one that plays in a YAML (target: "
        f"{path.name}:{names[0]})"
    )


def _parsed(path: Path) -> ast.Module:
    if path.stat().st_size > _LONGEST:
        raise ValueError(f"{path.name} is longer than {_LONGEST >> 20} MiB")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a submission's warnings are not ours
            return ast.parse(path.read_bytes(), str(path))
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise ValueError(f"{path.name}, {last_line(error, str(path))}") from None


def _agents(tree: ast.Module) -> list[str]:
    """Return the classes that are agents by their base's name, without bases of other classes."""
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
    """Return the functions of (player, board)."""
    return [
        node.name
        for node in tree.body
        if isinstance(node, ast.FunctionDef)
        and [argument.arg for argument in node.args.args] == ["player", "board"]
    ]


def _is_program(tree: ast.Module) -> bool:
    """Return True if a file has an ``if __name__ == "__main__"`` part."""
    return any(
        isinstance(node, ast.If) and "__main__" in ast.unparse(node.test) for node in tree.body
    )
