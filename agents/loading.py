"""Code in a file of somebody's: found, loaded, and named when it goes wrong."""

from __future__ import annotations

import importlib
import importlib.util
import sys
import traceback
from functools import cache
from pathlib import Path
from typing import Any


def split_target(target: str) -> tuple[str, str]:
    """``path/to/file.py:function`` or ``module:function`` as the place and what is meant there;
    ValueError for anything else."""
    target = str(target)
    place, colon, name = target.partition(".py:")
    place, name = (place + ".py", name) if colon else target.partition(":")[::2]
    if not place or not name:
        raise ValueError(f"target '{target}': path/to/file.py:function is needed")
    return place, name


def load_module(place: str) -> Any:
    """The module in a file, or of a dotted name; ValueError, one line, if it cannot be loaded."""
    path = Path(place).expanduser()
    if path.suffix == ".py" and not path.is_file():
        raise ValueError(f"target: there is no file {place}")
    file = str(path.resolve())
    try:
        if path.suffix != ".py":
            return importlib.import_module(place)
        status = path.stat()
        return _loaded(path.resolve(), (status.st_mtime_ns, status.st_size))
    except (Exception, SystemExit) as error:
        raise ValueError(f"target '{place}' cannot be loaded: {last_line(error, file)}") from error


@cache
def _loaded(path: Path, stamp: tuple[int, int]) -> Any:
    """The module in a file, loaded once as long as the file stays as it is (``stamp``), so that
    two agents with the same heuristic do not compile and try it twice."""
    spec = importlib.util.spec_from_file_location(f"_loaded_{path.stem}", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.path.insert(0, str(path.parent))  # it may import what stands beside it
    try:
        spec.loader.exec_module(module)
    finally:
        sys.path.pop(0)
    return module


def last_line(error: BaseException, file: str) -> str:
    """Where in the user's code an exception came from, and what it says, in one line."""
    if isinstance(error, SyntaxError):
        name = Path(error.filename or file).name
        where = "" if name == Path(file).name else f"{name} "
        return f"{where}line {error.lineno}: {error.msg}" if error.lineno else str(error.msg)
    frames = traceback.extract_tb(error.__traceback__)
    own = [f.lineno for f in frames if f.filename == file]
    where = f"line {own[-1]}: " if own else ""
    return f"{where}{type(error).__name__}: {' '.join(str(error).split())}"
