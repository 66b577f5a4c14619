"""Files written for Python 2, read unchanged: its names, and its division of whole numbers.

The grammar of such a file has to be that of Python 3 too: ``print(x)``, ``except Error as error``.
"""

from __future__ import annotations

import ast
import builtins
import functools
import numbers
import re
import sys
import types
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from importlib.machinery import ModuleSpec, SourceFileLoader
from importlib.util import spec_from_file_location
from pathlib import Path
from typing import Any

_DIVISOR = "__python2_divisor__"
_FLOAT_AS_INDEX = re.compile(r"not float$|'float' object cannot be interpreted as an integer")


class _Divisor:
    """The right side of a division that rounds down between whole numbers."""

    __slots__ = ("value",)
    __array_ufunc__ = None  # so that a division of numpy's numbers comes here

    def __init__(self, value: Any) -> None:
        self.value = value

    def __rtruediv__(self, left: Any) -> Any:
        whole = _is_whole(left) and _is_whole(self.value)
        return left // self.value if whole else left / self.value


def _is_whole(value: Any) -> bool:
    """Return True for whole numbers and for numpy's arrays of them."""
    if isinstance(value, numbers.Integral):
        return True
    import numpy as np  # here, as composing settings does without it

    return isinstance(value, np.ndarray) and value.dtype.kind in "iub"


def _filter(function: Callable[..., Any] | None, items: Any) -> Any:
    """Return the items of the kind that Python 2 returned: a text, a tuple or a list."""
    chosen = filter(function, items)
    if isinstance(items, str):
        return "".join(chosen)
    return tuple(chosen) if isinstance(items, tuple) else list(chosen)


NAMES: dict[str, Any] = {
    "xrange": range,
    "raw_input": input,
    "unicode": str,
    "basestring": str,
    "long": int,
    "unichr": chr,
    "reduce": functools.reduce,
    "cmp": lambda one, other: (one > other) - (one < other),
}
"""Names of Python 2 that Python 3 does not have."""
_LISTS: dict[str, Any] = {
    "range": lambda *bounds: list(range(*bounds)),
    "map": lambda function, *items: list(map(function, *items)),
    "zip": lambda *items: list(zip(*items, strict=False)),
    "filter": _filter,
}
"""Functions that return a list in Python 2."""


class Python2Loader(SourceFileLoader):
    """Loads the module in a file as Python 2 had it; its compiled code is not cached."""

    def get_code(self, fullname: str) -> types.CodeType:
        path = self.get_filename(fullname)
        tree = ast.parse(self.get_data(path), path)
        if not _has_true_division(tree):
            tree = ast.fix_missing_locations(_Division().visit(tree))
        return compile(tree, path, "exec", dont_inherit=True)

    def exec_module(self, module: types.ModuleType) -> None:
        names = vars(builtins) | NAMES | _LISTS | {_DIVISOR: _Divisor}
        module.__dict__["__builtins__"] = names  # of this module alone
        super().exec_module(module)


class _Division(ast.NodeTransformer):
    """Wraps the right side of each division."""

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        self.generic_visit(node)
        if isinstance(node.op, ast.Div):
            node.right = _wrapped(node.right)
        return node

    def visit_AugAssign(self, node: ast.AugAssign) -> ast.AST:
        self.generic_visit(node)
        if isinstance(node.op, ast.Div):
            node.value = _wrapped(node.value)
        return node


def _wrapped(value: ast.expr) -> ast.expr:
    name = ast.Name(_DIVISOR, ast.Load())
    return ast.copy_location(ast.Call(name, [value], []), value)


def _has_true_division(tree: ast.Module) -> bool:
    """Return True for a file with ``from __future__ import division``."""
    return any(
        isinstance(node, ast.ImportFrom)
        and node.module == "__future__"
        and any(alias.name == "division" for alias in node.names)
        for node in tree.body
    )


class _FolderFinder:
    """Finds the modules in a folder, for ``sys.meta_path``."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: object = None
    ) -> ModuleSpec | None:
        file = self._folder / f"{name}.py"
        if path is not None or not file.is_file():
            return None
        return spec_from_file_location(name, file, loader=Python2Loader(name, str(file)))


@contextmanager
def imports_from(folder: Path) -> Iterator[None]:
    """Load modules imported from a folder as Python 2 had them, for this import alone."""
    finder = _FolderFinder(folder)
    before = {name: sys.modules.pop(name) for name in _modules_in(folder)}
    sys.meta_path.insert(0, finder)
    try:
        yield
    finally:
        sys.meta_path.remove(finder)
        for name in _modules_in(folder):
            del sys.modules[name]
        sys.modules.update(before)


def _modules_in(folder: Path) -> list[str]:
    """Return the names of the modules that were imported from a folder."""
    files = {name: getattr(module, "__file__", None) for name, module in [*sys.modules.items()]}
    return [name for name, file in files.items() if file == str(folder / f"{name}.py")]


def python2_hint(error: BaseException, owner: str = "") -> str:
    """Return the cure for an error that a file written for Python 2 raises, otherwise nothing.

    owner: of the setting, such as ``agent.``.
    """
    if isinstance(error, NameError) and error.name in NAMES:
        reason = f"{error.name} is a name of Python 2"
    elif isinstance(error, TypeError) and _FLOAT_AS_INDEX.search(str(error)):
        reason = "/ between whole numbers rounds down in Python 2"
    else:
        return ""
    return f"; {reason}: {owner}python2=true reads the file so"


@contextmanager
def naming_the_cure() -> Iterator[None]:
    """Add the cure to the message of an error that a file written for Python 2 raises."""
    try:
        yield
    except (NameError, TypeError) as error:
        if hint := python2_hint(error, "agent."):
            error.args = (f"{error}{hint}",)
        raise
