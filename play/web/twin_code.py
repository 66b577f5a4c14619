"""The code of a reading twin for a lecture: its own lines, without those that only count or tell an
observer."""

from __future__ import annotations

import ast
import inspect
import re
import textwrap
from collections.abc import Callable, Sequence
from typing import Any

from othello_lab.agents.search.window.plain import OrderedSearch, minimax

REMEMBERING = ("killer", "history")
"""Criteria of an ordering that learn from cutoffs."""
_HIDDEN = {"stats", "watch"}  # what counts and what observes
_UNUSED = {"looked", "seen"}  # variables of hidden lines
_LEFT_OUT = re.compile(
    r", (?:self\.)?(?:evaluate|stats|watch|final|seen|ply(?: \+ 1)?)\b(?=[,)])|self\."
)
_SIGNATURE = re.compile(r"def \w+\(.*?\) ->[^:]*:", re.DOTALL)

MARKS: dict[str, str] = {
    "begin": r"^def ",
    "leaf": r"leaf\(",
    "look": r"arranged\(",
    "enter": r"play\(move\), depth - 1",
    "compare": r"if -?value > best:",
    "better": r"best(, best_line)? = -?value",
    "above": r"if value > alpha:",
    "raise": r"alpha, best_line = value",
    "cut": r"if alpha >= beta:|break",
    "end": r"^    return best, best_line",
}
"""Patterns of the lines that are lit at a step of the search, by what happens then."""


def twin_code(name: str, ordering: str | None) -> dict[str, Any]:
    """Return the ``lines`` of a search's reading twin, and ``marks``: numbers of lines by what they
    do. name: minimax, alphabeta or pvs. ordering: its ordering of moves; None for minimax."""
    if name == "minimax":
        lines = _shown(minimax, _is_counting)
    else:
        remembers = any(criterion in (ordering or "") for criterion in REMEMBERING)
        lines = _shown(OrderedSearch.search, lambda node: _is_left_out(node, remembers))
        if name != "pvs":
            lines = _without_null_windows(lines)
    marks = {
        mark: [number for number, line in enumerate(lines) if re.search(pattern, line)]
        for mark, pattern in MARKS.items()
    }
    return {"lines": lines, "marks": marks}


def _shown(function: Callable[..., Any], is_hidden: Callable[[ast.stmt], bool]) -> list[str]:
    """Return the lines of a function without docstring, blank lines and hidden statements."""
    source = textwrap.dedent(inspect.getsource(function))
    (tree,) = ast.parse(source).body
    assert isinstance(tree, ast.FunctionDef)
    hidden: set[int] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.stmt) and (node is tree.body[0] or is_hidden(node)):
            hidden.update(range(node.lineno, (node.end_lineno or 0) + 1))
    first = tree.body[0].lineno
    head = _signature(source)
    body = source.splitlines()[first - 1 :]
    shown = [
        _signature(line) if line.lstrip().startswith("def ") else _LEFT_OUT.sub("", line)
        for number, line in enumerate(body, start=first)
        if number not in hidden and line.strip()
    ]
    return [head, *(line.replace(": Line =", " =").replace("_leaf(", "leaf(") for line in shown)]


def _signature(source: str) -> str:
    """Return the first line of a function with only those parameters that the method needs."""
    match = _SIGNATURE.search(source)
    assert match is not None
    (tree,) = ast.parse(f"{match[0]} pass").body
    assert isinstance(tree, ast.FunctionDef)
    wanted = [parameter.arg for parameter in tree.args.args if parameter.arg in _PARAMETERS]
    indent = source[: len(source) - len(source.lstrip())]
    return f"{indent}def {tree.name}({', '.join(wanted)}):"


_PARAMETERS = ("position", "depth", "move", "alpha", "beta")


def _is_counting(node: ast.stmt) -> bool:
    """Return True for a statement that only counts or tells an observer."""
    if isinstance(node, ast.AugAssign):
        return bool(_HIDDEN & _names(node.target))
    if isinstance(node, ast.Expr):
        return bool(_HIDDEN & _names(node.value))
    if isinstance(node, ast.If):
        return not node.orelse and all(map(_is_counting, node.body))
    return False


def _is_left_out(node: ast.stmt, remembers: bool) -> bool:
    if isinstance(node, ast.Assign):
        return any(isinstance(name, ast.Name) and name.id in _UNUSED for name in node.targets)
    if isinstance(node, ast.If) and not remembers and "remember_cutoff" in ast.dump(node):
        return all("remember_cutoff" in ast.dump(statement) for statement in node.body)
    return _is_counting(node)


def _names(node: ast.AST) -> set[str]:
    attributes = {part.attr for part in ast.walk(node) if isinstance(part, ast.Attribute)}
    return attributes | {part.id for part in ast.walk(node) if isinstance(part, ast.Name)}


def _without_null_windows(lines: Sequence[str]) -> list[str]:
    """Return the lines of alpha-beta alone: only the other branch of ``if null_windows``."""
    begin = next(number for number, line in enumerate(lines) if "if null_windows" in line)
    indent = len(lines[begin]) - len(lines[begin].lstrip())
    other = lines.index(f"{' ' * indent}else:", begin)
    end = next(
        number
        for number in range(other + 1, len(lines))
        if len(lines[number]) - len(lines[number].lstrip()) <= indent
    )
    branch = [line[4:] for line in lines[other + 1 : end]]
    shown = [*lines[:begin], *branch, *lines[end:]]
    return [
        line.replace("for number, move in enumerate(moves, start=1)", "for move in moves")
        for line in shown
    ]
