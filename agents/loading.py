"""Find and load code in a user's file, and name the line of its errors."""

from __future__ import annotations

import ast
import importlib
import importlib.util
import itertools
import pkgutil
import sys
import sysconfig
import traceback
from contextlib import nullcontext, suppress
from dataclasses import MISSING, asdict, is_dataclass
from functools import cache
from pathlib import Path
from typing import Any

from othello_lab.agents.python2 import Python2Loader, imports_from, python2_hint
from othello_lab.core.system.escaping import visible
from othello_lab.core.system.renamed import new_name
from othello_lab.core.system.settings import documented, nearest, unknown_choice

_LONGEST = 300  # characters of a user's word in a message


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


def without_name(word: str, group: str) -> str:
    """Return the message for a file without the name of a class or function."""
    kind = "class" if group.startswith("agent") else "function"
    return f"{word}: the {kind} in that file is missing; {word}:NAME is needed"


def load_module(place: str, python2: bool = False) -> Any:
    """Load the module in a file, or of a dotted name; raises ValueError, one line.

    python2: true to read a file as Python 2 had it.
    """
    path = Path(place).expanduser()
    if path.suffix == ".py" and not path.is_file():
        where = "" if path.is_absolute() else f" in {Path.cwd()}"
        raise ValueError(f"target: there is no file {place}{where}")
    file = str(path.resolve())
    try:
        if path.suffix != ".py":
            return importlib.import_module(place)
        status = path.stat()
        return _load_file(path.resolve(), (status.st_mtime_ns, status.st_size), python2)
    except (Exception, SystemExit) as error:
        hint = _rename_hint(error) or search_hint(error, place)
        reason = last_line(error, file) + (hint or python2_hint(error))
        raise ValueError(f"target '{place}' cannot be loaded: {reason}") from error


def _rename_hint(error: BaseException) -> str:
    """Return a hint if an import failed because of a name that the lab no longer has, or nothing.

    In a checkout the message has the hint already.
    """
    if not isinstance(error, ImportError) or error.name is None or "othello_lab" in str(error):
        return ""
    return new_name(error.name)


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


@cache
def _load_file(path: Path, stamp: tuple[int, int], python2: bool) -> Any:
    """Load the module in a file, once for each state of the file (``stamp``).

    So two agents with the same heuristic do not compile and check it twice.
    """
    names = (f"_loaded_{path.stem}{number or ''}" for number in itertools.count())
    name = next(name for name in names if name not in sys.modules)
    loader = Python2Loader(name, str(path)) if python2 else None
    spec = importlib.util.spec_from_file_location(name, path, loader=loader)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.path.insert(0, str(path.parent))  # it may import files beside it
    sys.modules[name] = module  # dataclasses look up their annotations there
    try:
        with imports_from(path.parent) if python2 else nullcontext():
            spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    finally:
        sys.path.pop(0)
    return module


def last_line(error: BaseException, file: str) -> str:
    """Describe an exception in one line, with the line in the user's file that raised it."""
    if isinstance(error, SyntaxError):
        name = Path(error.filename or file).name
        where = "" if name == Path(file).name else f"{name} "
        return f"{where}line {error.lineno}: {error.msg}" if error.lineno else str(error.msg)
    frames = traceback.extract_tb(error.__traceback__)
    lines = [frame.lineno for frame in frames if frame.filename == file]
    where = f"line {lines[-1]}: " if lines else ""
    return f"{where}{type(error).__name__}: {' '.join(str(error).split())}"


def defaults_of(target: str) -> dict[str, Any]:
    """Return the defaults of the settings of a class of the lab, as plain data.

    A class from outside the lab has none here, and is not imported; nor has one that is not there.
    """
    if not target.startswith("othello_lab."):
        return {}
    try:
        cls = pkgutil.resolve_name(target)
    except Exception:
        return {}  # whoever builds it will say so
    if not isinstance(cls, type):
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


def find(target: str, python2: bool = False) -> Any:
    """Return the object of ``file.py:name``, or the result of ``file.py:searcher(3, score)``.

    Arguments of a call are names and literals. python2: as in :func:`load_module`. Raises
    ValueError, one line, for anything else.
    """
    place, expression = split_target(target)
    try:
        tree = ast.parse(expression.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise ValueError(f"target '{target}': {_UnknownExpression.of(expression)}") from None
    module = load_module(place, python2)
    try:
        return _value(tree, module)
    except _UnknownExpression as error:
        raise ValueError(f"target '{target}': {error}") from None
    except (Exception, SystemExit) as error:
        where = last_line(error, str(Path(place).expanduser().resolve()))
        hint = python2_hint(error)
        raise ValueError(f"target '{target}' cannot be made: {where}{hint}") from error


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
