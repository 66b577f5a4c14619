"""A user's function: its helpers compiled with it, and its faults in words.

A fault is told with the line in the user's file, the construct there, and the cure. Python's own
exceptions carry their line; of Numba's messages the line and the types are taken. The words are in
user_code.yaml.
"""

from __future__ import annotations

import ast
import builtins
import functools
import inspect
import linecache
import os
import re
import sys
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path
from types import CellType, FunctionType
from typing import Any, cast

import numba

from othello_lab.agents.loading import python2_hint
from othello_lab.core.system.plain_yaml import read_yaml
from othello_lab.core.system.settings import nearest

njit = functools.partial(numba.njit, nogil=True, error_model="numpy")
UNKNOWN = "compiled code cannot do this"


def with_helpers(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a copy of a function that calls the other functions of its file compiled."""
    scope, file = dict(function.__globals__), function.__code__.co_filename
    made: dict[Any, Any] = {}

    def compiled(one: Any) -> Any:
        if not (isinstance(one, FunctionType) and one.__code__.co_filename == file):
            return one
        if one not in made:
            cells = tuple(CellType() for _ in one.__closure__ or ())
            copy = FunctionType(one.__code__, scope, one.__name__, one.__defaults__, cells)
            copy.__kwdefaults__, copy.__qualname__ = one.__kwdefaults__, one.__qualname__
            made[one] = njit(copy)  # before its cells: it may call itself
            for cell, theirs in zip(cells, one.__closure__ or (), strict=True):
                cell.cell_contents = compiled(theirs.cell_contents)
        return made[one]

    scope.update({name: compiled(thing) for name, thing in scope.items()})
    return cast("Callable[..., Any]", compiled(function).py_func)


def why_not(error: BaseException, function: Callable[..., Any]) -> str:
    """Return the line, its text, the construct and the cure, for an exception that ``function``
    raised, or that ended its compilation."""
    source = _Source(function)
    calls = traceback.extract_tb(error.__traceback__)
    lines = [call.lineno or 0 for call in calls if call.filename == source.file]
    if not lines and f"{function.__name__}() " in str(error):  # called with too few, or too many
        lines = [source.first]
    if lines and not type(error).__module__.startswith("numba."):
        return source.at(lines[-1], source.raised(error))
    return source.explained(re.sub(r"\x1b\[[0-9;]*m", "", str(error)))


def returned(function: Callable[..., Any], arguments: Any, fault: str) -> str:
    """Return the line that gives a function's result for these arguments, its text, what is told of
    the result, and the cure."""
    source = _Source(function)
    ends: list[tuple[int, Any]] = [(source.first, source)]  # lines and results in this file

    def trace(frame: Any, event: str, result: Any) -> Any:
        if frame.f_code.co_filename != source.file:
            return None
        if event == "return":
            ends.append((frame.f_lineno, result))
        return trace

    sys.settrace(trace)
    try:
        function(*arguments)
    finally:
        sys.settrace(None)
    while len(ends) > 1 and ends[-1][1] is ends[-2][1] and "`return " in source.at(ends[-1][0], ""):
        ends.pop()  # the result of a helper, passed on
    whole = source.functions[0]
    nodes = [node for node in ast.walk(whole) if isinstance(node, ast.Yield | ast.YieldFrom)]
    starts = [node.lineno for node in source.functions if hasattr(node, "lineno")]
    line = nodes[0].lineno if nodes else ends[-1][0]
    line += line + 1 in starts  # of a docstring alone the line of the @ is told
    if fault == "returns None" and (last := getattr(whole, "end_lineno", 0)):
        fault += f" ({function.__name__}, line {source.first} to line {last})"
    return source.at(line, fault + _cure(fault))


def signed_mask(compiled: Any, fault: str) -> str:
    """Return what is told of compiled code that differs from ordinary Python, and the line in which
    it takes a mask for a signed number, if there is one."""
    source, lines = _Source(compiled.py_func), list[int]()
    for dispatcher in (compiled, *compiled.py_func.__globals__.values()):
        for made in getattr(dispatcher, "overloads", {}).values():
            types, calls = made.type_annotation.typemap, made.type_annotation.calltypes
            lines += [
                node.loc.line
                for node, signature in calls.items()
                if getattr(node, "op", "") in ("binop", "inplace_binop")
                and numba.uint64 in (types[node.lhs.name], types[node.rhs.name])
                and getattr(signature.return_type, "signed", False)
            ]
    return source.at(lines[0], fault + _cure("signed")) if lines else fault + _cure("wide")


@functools.cache
def _words() -> Any:
    return read_yaml(Path(__file__).with_suffix(".yaml"))


def _kind(kind: str) -> tuple[int, str, str]:
    """Return the place of a type in the table of kinds, its words and its cure."""
    index = next(n for n, row in enumerate(_words()["kinds"]) if re.search(row[0], kind))
    return index, *_words()["kinds"][index][1:]


def _cure(fault: str) -> str:
    return next((f"; {cure}" for row, cure in _words()["cures"] if re.search(row, fault)), "")


class _Source:
    """A user's file, and those of its functions that one of them uses.

    first: the line of that one's `def`. functions: the nodes of all, that one's first.
    """

    def __init__(self, function: Any) -> None:
        function = inspect.unwrap(function)
        self.code, self.scope = function.__code__, function.__globals__
        self.file, start = self.code.co_filename, self.code.co_firstlineno
        tree = ast.parse("".join(linecache.getlines(self.file)))
        nodes = [n for n in ast.walk(tree) if isinstance(n, ast.FunctionDef | ast.AsyncFunctionDef)]
        named = {node.name: node for node in nodes}
        heads = (n for n in nodes if start in (n.lineno, *(d.lineno for d in n.decorator_list)))
        self.functions: list[Any] = [next(heads, tree)]
        for node in self.functions:  # it grows
            used = (named.get(getattr(part, "id", "")) for part in ast.walk(node))
            self.functions += [n for n in dict.fromkeys(used) if n and n not in self.functions]
        self.first = getattr(self.functions[0], "lineno", start)

    def at(self, line: int, fault: str) -> str:
        """Return a line's number and text, and what is told of it."""
        return f"line {line}, `{linecache.getline(self.file, line).strip()}`: {fault}"

    def nodes(self, line: int = 0) -> Iterator[Any]:
        """Yield the nodes of the functions, all or those in a line: of a compound statement its
        head."""
        nodes: Any = (n for one in self.functions for n in ast.walk(one) if n is not one)
        for node in (n for n in nodes if hasattr(n, "lineno")):
            heads = [part.lineno for part in (node, *getattr(node, "handlers", ()))]
            last = heads[0] if hasattr(node, "body") else node.end_lineno
            if not line or line in heads or heads[0] <= line <= last:
                yield node

    def lines_of(self, **wanted: Any) -> list[int]:
        """Return the lines of the nodes that have these attributes."""
        nodes = [n for n in self.nodes() if all(getattr(n, k, 0) == wanted[k] for k in wanted)]
        return sorted({n.lineno for n in nodes if not isinstance(getattr(n, "ctx", 0), ast.Load)})

    def raised(self, error: BaseException) -> str:
        """Return an exception of Python's in words, and its cure."""
        fault = f"{type(error).__name__}: {' '.join(str(error).split())}"
        if isinstance(error, NameError | AttributeError) and error.name and "uint64" not in fault:
            known = [*self.scope, *dir(builtins), *self.code.co_varnames]
            names = dir(error.obj) if isinstance(error, AttributeError) else known
            guess = nearest(error.name, {*names} - {error.name})
            if error.name in sys.stdlib_module_names:
                guess = f" Write `import {error.name}` at the head of the file"
            return f"{fault}{guess and '.'}{guess}"
        return f"{fault}{python2_hint(error) or _cure(fault)}{self.endless(fault)}"

    def endless(self, fault: str) -> str:
        """Return the helper functions that may give None, if that is told."""
        last = {node: node.body[-1] for node in self.functions[1:] if "None" in fault}
        return "".join(
            f"; {node.name} (line {node.lineno} to line {node.end_lineno}) may end without `return`"
            for node, end in last.items()
            if ast.unparse(end) in ("return", "return None")
            or not (isinstance(end, ast.Return | ast.Raise) or getattr(end, "orelse", None))
        )

    def explained(self, text: str) -> str:
        """Return the line, the construct and the cure that a message of the compiler means."""
        paths = "|".join(map(re.escape, (self.file, os.path.relpath(self.file))))
        pattern = rf'(?<![/\w])(?:{paths})(?:", line | \()(\d+)'
        line = next(map(int, re.findall(pattern, text)), 0)
        line = self.first if line == self.code.co_firstlineno else line  # not that of its @
        if match := re.search(r"name '(\w+)' is not defined", text):
            places = [n.lineno for n in self.nodes() if getattr(n, "id", "") == match[1]]
            fault = self.raised(NameError(match[0], name=match[1]))
            return self.at((places or [self.first])[0], fault)
        fault = self._of_construct(text, line) or self._of_types(text, line)
        if not fault and not _cure(text):
            fault = self._of_construct(text, 0)
        stars = [
            a.kwarg.lineno for f in self.functions if (a := getattr(f, "args", None)) and a.kwarg
        ]
        return fault or self.at(line or min(stars, default=self.first), UNKNOWN + _cure(text))

    def _of_construct(self, text: str, line: int) -> str:
        """Explain a message by what stands in its line, or anywhere if it names none."""
        writes_global = "STORE_GLOBAL" in text
        nodes = {type(n).__name__: n for n in self.nodes(0 if writes_global else line)}
        for kind, (words, cure) in _words()["constructs"].items():
            if kind in nodes and writes_global <= (kind == "Global"):
                start = line if writes_global else nodes[kind].lineno
                also = "".join(f" (line {n})" for n in {line, nodes[kind].lineno} - {start, 0})
                return self.at(start, f"{words}{also}; {cure}")
        return ""

    def _of_types(self, text: str, line: int) -> str:
        """Explain a message about types."""
        if match := re.search(r">>> (\w+)\((.*)\)", text):
            operators, name = _words()["operators"], match[1]
            name = operators.get(name) or operators.get(name.removeprefix("i")) or name
            inner = r"\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)"
            types = re.findall(rf"(?:[^,()<]|{inner}|<[^>]*>)+", match[2])
            kinds = [_kind(one.strip()) for one in types]
            whole = [k for k in kinds[: -1 if name == "[] =" else None] if k == _kind("float")]
            odd = min((name in _words()["whole"] and whole) or kinds)
            words = " and ".join(dict.fromkeys(kind[1] for kind in kinds))
            fault = f"`{name}` cannot take {words}; {odd[2]}"
            return self.at(line, f"{fault}{self.endless(odd[1])}")
        for pattern, fault in _words()["messages"]:
            if match := re.search(pattern, text):
                kinds = [_kind(f"{group}(") for group in match.groups()]
                name = match.groupdict().get("name")
                lines = self.lines_of(id=name) if name else []
                if "ptional" in match[0]:  # the last of these counts
                    lines = self.lines_of(value=None)[::-1]
                named, cure = [kind[1] for kind in kinds], kinds[-1][2]
                fault = fault.format(*match.groups(), words=named, cure=cure)
                also = "".join(f" (line {n})" for n in lines[:-1])
                return self.at((lines or [line or self.first])[-1], f"{fault}{also}")
        return ""
