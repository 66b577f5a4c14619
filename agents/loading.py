"""Find and load code in a user's file, and name the line of its errors."""

from __future__ import annotations

import ast
import importlib
import importlib.util
import itertools
import pkgutil
import re
import sys
import sysconfig
import traceback
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import MISSING, asdict, is_dataclass
from functools import cache
from importlib.machinery import SourceFileLoader
from pathlib import Path
from typing import Any

from othello_lab.core.system.escaping import visible
from othello_lab.core.system.files import MOST_TEXT, read_bytes
from othello_lab.core.system.settings import Nameable, documented, nearest, unknown_choice

_LONGEST = 300  # characters of a user's word in a message
_allowed: Collection[str] | None = None  # see only()
LOADED = "_loaded_"
"""The name of a module from a file begins so."""
LAB = "othello_lab."
"""All names in the lab's own package begin so."""
_OLD_NAMES = {"xrange": range, "raw_input": input}
"""Names of Python 2 that files written for PAIP's Othello use."""
_OLD_VALUES = re.compile(r"not float$|'float' object cannot be interp|'(map|filter)'")


def split_target(target: str) -> tuple[str, str]:
    """Split ``path/to/file.py:function`` or ``module:function`` into place and expression.

    Raises ValueError for anything else.
    """
    target = str(target)
    place, colon, name = target.partition(".py:")
    place, name = (place + ".py", name) if colon else target.partition(":")[::2]
    if not place or not name:
        shown = f"{visible(target):.{_LONGEST}}"
        raise ValueError(f"target '{shown}': path/to/file.py:function is needed")
    return place, name


def place_of(target: str) -> str:
    """Return the file or module of a target; the target itself where it names no more."""
    with suppress(ValueError):
        return split_target(target)[0]
    return target


@contextmanager
def only(targets: Collection[str] | None) -> Iterator[None]:
    """Within it no code from outside the lab is loaded but these targets; None: no bounds. Inside
    another one it changes nothing."""
    global _allowed
    before = _allowed
    _allowed = targets if before is None else before
    try:
        yield
    finally:
        _allowed = before


def check_allowed(place: str) -> None:
    """Raise ValueError for a class, file or module that :func:`only` does not allow now."""
    if _allowed is not None and place not in {*_allowed, *map(place_of, _allowed)}:
        raise ValueError(f"{visible(place)} is from outside the lab; if you trust it: --trust")


def without_name(word: str, group: str) -> str:
    """Return the message for a file without the name of a class or function."""
    kind = "class" if group.startswith("agent") else "function"
    return f"{word}: the {kind} in that file is missing; {word}:NAME is needed"


def load_module(place: str) -> Any:
    """Load the module in a file, or of a dotted name; raises ValueError, one line.

    A file finds ``xrange`` and ``raw_input`` defined.
    """
    check_allowed(place)
    path = Path(place).expanduser()
    if path.suffix == ".py" and not path.exists():
        where = "" if path.is_absolute() else f" in {Path.cwd()}"
        raise ValueError(f"target: there is no file {place}{where}")
    file = str(path.resolve())
    try:
        if path.suffix != ".py":
            return importlib.import_module(place)
        status = path.stat()
        return _load_file(path.resolve(), (status.st_mtime_ns, status.st_size))
    except (Exception, SystemExit) as error:
        reason = last_line(error, file) + search_hint(error, place)
        raise ValueError(f"target '{place}' cannot be loaded: {reason}") from error


def search_hint(error: BaseException, module: str) -> str:
    """Return the folders searched for a module or package that was not found, or nothing.

    Python's own folders are left out.
    """
    if not isinstance(error, ModuleNotFoundError) or error.name is None:
        return ""
    if not f"{module}.".startswith(f"{error.name}.") or "." in error.name:
        return ""  # one of its imports failed, or its package exists
    of_python = [Path(path) for path in set(sysconfig.get_paths().values())]
    folders = [Path(path).resolve() for path in sys.path if Path(path).is_dir()]
    searched = [
        str(folder)
        for folder in dict.fromkeys(folders)
        if not any(folder.is_relative_to(path) for path in of_python)
    ]
    return f" (searched: {', '.join([*searched, 'installed packages'])})"


def own_class(target: str) -> type | None:
    """Return the class of the lab's own that settings may name so, otherwise None.

    Nothing of others is imported: a name of ours leads to what a module of the lab has, never
    through it to the modules that it imports.
    """
    module, _, name = target.replace(":", ".").rpartition(".")
    if not f"{module}.".startswith(LAB) or "__" in target:
        return None
    with suppress(ImportError, ValueError):
        found = getattr(importlib.import_module(module), name, None)
        if isinstance(found, type) and issubclass(found, Nameable):
            return found if found.__module__.startswith(LAB) else None
    return None


def load_name(target: str) -> Any:
    """Return the object of ``path/to/file.py:name`` or ``module:name``; raises ValueError."""
    place, name = split_target(target)
    module = load_module(place)
    if not hasattr(module, name):
        names = [
            key
            for key, value in vars(module).items()
            if getattr(value, "__module__", None) == module.__name__ and not key.startswith("_")
        ]
        raise ValueError(f"target '{target}': {unknown_choice('name', name, names)}")
    return getattr(module, name)


def resolve(target: str) -> Any:
    """Return the object of a ``_target_``: ``module.Class`` or ``path/to/file.py:Class``."""
    if target.startswith(LAB):
        kind = own_class(target)
        if kind is None:
            raise ImportError("it is no class of the lab that settings may name")
        return kind
    if ":" in target:
        return load_name(target)
    check_allowed(target)
    return pkgutil.resolve_name(target)


class _FileLoader(SourceFileLoader):
    """Loader of a file's source alone: byte code beside it may be of another source."""

    def get_data(self, path: str) -> bytes:
        return read_bytes(path, MOST_TEXT)

    def path_stats(self, path: str) -> Mapping[str, Any]:
        raise OSError


@cache
def _load_file(path: Path, stamp: tuple[int, int]) -> Any:
    """Load the module in a file, once for each state of the file (``stamp``).

    So two agents with the same heuristic do not compile and check it twice.
    """
    names = (f"{LOADED}{path.stem}{number or ''}" for number in itertools.count())
    name = next(name for name in names if name not in sys.modules)
    loader = _FileLoader(name, str(path))
    spec = importlib.util.spec_from_file_location(name, path, loader=loader)
    assert spec is not None
    module = importlib.util.module_from_spec(spec)
    vars(module).update(_OLD_NAMES)
    sys.path.insert(0, str(path.parent))  # it may import files beside it
    sys.modules[name] = module  # dataclasses look up their annotations there
    try:
        loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    finally:
        sys.path.pop(0)
    return module


class UserCodeError(ValueError):
    """A mistake in a user's file. The message has its line."""


def last_line(error: BaseException, file: str) -> str:
    """Describe an exception in one line, with the line in the user's file that raised it."""
    if isinstance(error, UserCodeError):
        return str(error)
    if isinstance(error, SyntaxError):
        name = Path(error.filename or file).name
        where = "" if name == Path(file).name else f"{name} "
        return f"{where}line {error.lineno}: {error.msg}" if error.lineno else str(error.msg)
    frames = traceback.extract_tb(error.__traceback__)
    lines = [frame.lineno for frame in frames if frame.filename == file]
    where = f"line {lines[-1]}: " if lines else ""
    return f"{where}{type(error).__name__}: {' '.join(str(error).split())}{python2_hint(error)}"


def python2_hint(error: BaseException) -> str:
    """Return the cure for an error that is typical of a file written for Python 2, or nothing."""
    if not isinstance(error, TypeError) or not _OLD_VALUES.search(str(error)):
        return ""
    return "; in Python 3 / divides (// rounds down), and map and filter give no lists"


def defaults_of(target: str) -> dict[str, Any]:
    """Return the defaults of the settings of a class of the lab, as plain data.

    A class from outside the lab has none here, and is not imported; nor has one that is not there.
    """
    cls = own_class(target)
    if cls is None:
        return {}
    unfilled = getattr(cls, "UNFILLED", ())
    return {
        name: _plain(setting.default)
        for name, setting in documented(cls).items()
        if name not in unfilled and setting.default is not MISSING
    }


def _plain(default: Any) -> Any:
    if is_dataclass(default) and not isinstance(default, type):
        return asdict(default)
    return list(default) if isinstance(default, tuple) else default


# ------------------------------------------------------------------ call expressions


def find(target: str) -> Any:
    """Return the object of ``file.py:name``, or the result of ``file.py:searcher(3, score)``.

    Arguments of a call are names and literals. Raises ValueError, one line, for
    anything else.
    """
    place, expression = split_target(target)
    try:
        tree = ast.parse(expression.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise ValueError(f"target '{target}': {_UnknownExpression.of(expression)}") from None
    module = load_module(place)
    try:
        return _value(tree, module)
    except _UnknownExpression as error:
        raise ValueError(f"target '{target}': {error}") from None
    except (Exception, SystemExit) as error:
        where = last_line(error, str(Path(place).expanduser().resolve()))
        raise ValueError(f"target '{target}' cannot be made: {where}") from error


class _UnknownExpression(Exception):
    """A part of an expression that is neither name, call nor literal."""

    @classmethod
    def of(cls, part: str) -> _UnknownExpression:
        return cls(f"{part!r:.80} is neither a name, nor a call of one with names and literals")


def _value(node: ast.expr, module: Any) -> Any:
    if isinstance(node, ast.Name):
        if not hasattr(module, node.id):
            names = [name for name, value in vars(module).items() if callable(value)]
            raise _UnknownExpression(f"no '{node.id}' there.{nearest(node.id, names)}")
        return getattr(module, node.id)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
        function = _value(node.func, module)
        arguments = [_value(argument, module) for argument in node.args]
        named = {keyword.arg: _value(keyword.value, module) for keyword in node.keywords}
        if None not in named:  # **settings
            return function(*arguments, **{str(key): value for key, value in named.items()})
    with suppress(ValueError, TypeError, RecursionError):
        return ast.literal_eval(node)
    raise _UnknownExpression.of(ast.unparse(node))
