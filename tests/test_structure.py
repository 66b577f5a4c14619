"""How the packages may import each other, by folder.

The rooms at the top stand in the order of ``ROOMS``; each imports only from those before it. Within
every folder the files and subfolders must import each other without a circle, so that each folder
has floors. No name of a module stands here.
"""

from __future__ import annotations

import ast
import functools
import re
import sys
from collections.abc import Iterator, Mapping, Set
from pathlib import Path

import pytest

from othello_lab.core.system.rooms import ROOMS

ROOT = Path(__file__).resolve().parent.parent
LAB = "othello_lab"
ORDER = {room: number for number, room in enumerate(ROOMS)}
MOST_FLOORS = 9  # of experiments/
LOOSE = {"__init__", "__main__", "command_line", "config", "help"}  # files beside its rooms

LONGEST = 50  # lines of a function, signature and docstring included; kernels may be longer

MOST_LINES = {
    "core": ("core/*.py", 3770),
    "system": ("core/system/*.py", 2310),
    "agents": ("agents/*.py agents/commands/*.py", 2980),
    "evaluation": ("agents/evaluation/*.py", 2220),
    "search": ("agents/search/**/*.py", 6430),
    "learned": ("agents/learned/**/*.py", 1470),
    "external": ("agents/external/*.py", 2460),
    "checks": ("agents/**/check*.py agents/contract.py agents/checks/**/*.py", 5040),
    "experiments": ("experiments/*.py", 190),
    "jobs": ("experiments/jobs/*.py experiments/sweep/*.py experiments/studies/**/*.py", 6800),
    "claims": ("experiments/studies/claims.py experiments/studies/grammar.py", 620),
    "record": ("experiments/record/*.py", 2050),
    "results": ("experiments/results/**/*.py", 1840),
    "statistics": ("experiments/statistics/*.py", 1800),
    "pairing": ("experiments/pairing/*.py", 2370),
    "playing": ("experiments/playing/*.py", 3310),
    "report": ("experiments/report/**/*.py", 7380),
    "training": ("training/**/*.py", 7360),
    "play": ("play/**/*.py", 7840),
    "beside": ("othello_lab/*.py benchmarks/*.py docs/**/*.py", 2320),
    "settings": ("agents/composing.py */config.py core/system/settings.py", 2420),
    "tests": ("tests/**/*.py", 36430),
}
"""By room: its files, of which a later row may take some away, and the most lines that they may
have. A number goes up only with others that go down by as much, and never their sum."""

FILES = {
    ".".join((LAB, *path.relative_to(ROOT).with_suffix("").parts)).removesuffix(".__init__"): path
    for room in ROOMS
    for path in sorted((ROOT / room).rglob("*.py"))
} | {
    ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): path
    for path in sorted((ROOT / LAB).glob("*.py"))
}


@functools.cache
def nodes_of(module: str) -> list[ast.AST]:
    return list(ast.walk(ast.parse(FILES[module].read_text(encoding="utf-8"))))


@functools.cache
def imported(module: str) -> frozenset[str]:
    """All modules that one names in an import, wherever that stands: also within a function, or
    under ``TYPE_CHECKING``."""
    return frozenset(_imported(module))


def _imported(module: str) -> Iterator[str]:
    for node in nodes_of(module):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{module}: relative import"
            for alias in node.names:
                name = f"{node.module}.{alias.name}"
                yield name if name in FILES else str(node.module)


def room_of(module: str) -> str | None:
    """The room at the top that a module is in; None for the files above them."""
    parts = module.split(".")
    return parts[1] if len(parts) > 1 and parts[1] in ORDER else None


@functools.cache
def lines_of_rooms() -> dict[str, int]:
    owners: dict[Path, str] = {}
    for room, (places, _) in MOST_LINES.items():
        owners |= dict.fromkeys(
            (path for pattern in places.split() for path in ROOT.glob(pattern)), room
        )
    lines = dict.fromkeys(MOST_LINES, 0)
    for path, room in owners.items():
        lines[room] += len(path.read_bytes().splitlines())
    assert {*FILES.values()} <= {*owners}, "a file is in no room"
    return lines


@pytest.mark.parametrize("room", MOST_LINES)
def test_a_room_does_not_grow(room: str) -> None:
    lines, most = lines_of_rooms()[room], MOST_LINES[room][1]
    assert lines <= most, f"{room} has {lines:,} lines, and at most {most:,}: merge or move"


def test_imports_lead_downwards() -> None:
    wrong = []
    for module in FILES:
        if module.endswith(".__main__") or (room := room_of(module)) is None:
            continue  # they start the commands of all rooms
        for name in imported(module):
            above = room_of(name) not in ORDER or ORDER[str(room_of(name))] > ORDER[room]
            if name.split(".")[0] in ("tests", "benchmarks") or (name in FILES and above):
                wrong.append(f"{module} imports {name}")
    assert not wrong


def children(folder: str) -> dict[str, set[str]]:
    """The files and subfolders of a folder, each with those of them that it imports."""
    depth = folder.count(".") + 2

    def child(module: str) -> str | None:
        if not module.startswith(f"{folder}.") or module.endswith("__main__"):
            return None
        return ".".join(module.split(".")[:depth])

    arrows: dict[str, set[str]] = {}
    for module in FILES:
        if inside := child(module):
            others = {child(name) for name in imported(module)}
            arrows.setdefault(inside, set()).update(
                other for other in others if other and other != inside
            )
    return arrows


def test_every_folder_has_floors() -> None:
    folders = {module.rpartition(".")[0] for module in FILES if room_of(module)} - {LAB}
    assert len(folders) > 20
    assert not {folder: bad for folder in folders if (bad := circles(children(folder)))}


def test_experiments_has_few_floors_and_no_loose_files() -> None:
    arrows = children(f"{LAB}.experiments")

    @functools.cache
    def floor(room: str) -> int:
        return 1 + max(map(floor, arrows[room]), default=0)

    rooms = [room for room in arrows if FILES[room].name == "__init__.py"]
    assert max(map(floor, rooms)) <= MOST_FLOORS
    assert {room.rpartition(".")[2] for room in set(arrows) - set(rooms)} <= LOOSE


def circles(arrows: Mapping[str, Set[str]]) -> list[list[str]]:
    """The groups of nodes that all lead to each other."""
    reached: dict[str, set[str]] = {}
    for start in arrows:
        reached[start], ahead = set(), [start]
        while ahead:
            new = (arrows[ahead.pop()] & set(arrows)) - reached[start]
            reached[start] |= new
            ahead += new
    groups = {tuple(sorted(n for n in r if a in reached[n])) for a, r in reached.items() if a in r}
    return [list(group) for group in sorted(groups)]


def test_no_modules_import_each_other_in_a_circle() -> None:
    """Not within functions either."""
    assert not circles({module: imported(module) for module in FILES})


def test_functions_can_be_read_in_one_go() -> None:
    long = set()
    for module in FILES:
        for node in nodes_of(module):
            if isinstance(node, ast.FunctionDef):
                decorators = {getattr(d, "id", getattr(d, "attr", "")) for d in node.decorator_list}
                lines = (node.end_lineno or 0) - node.lineno + 1
                if lines > LONGEST and not decorators & {"kernel", "intrinsic"}:
                    long.add(f"{module}.{node.name}")
    assert not long


OPENED_ELSEWHERE = {
    "core.system.files": "here",
    "core.game core.system.control_groups core.system.memory": "/proc",
    "core.system.processes core.system.promises experiments.playing.usage": "/proc",
    "core.system.compile": "machine code in the user's own cache",
    "core.system.confinement": "descriptors that are open, and /proc",
    "core.system.landlock": "folders, by descriptor",
    "core.system.settings": "the source of a class that was imported",
    "core.system.scratch agents.external.submission": "a new folder of a random name",
    "agents.external.wpi play.web.visits": "a file without a name",
    "experiments.record.sqlite_file": "SQLite opens by paths, which are looked at before",
    "experiments.record.store experiments.results.export": "a database in memory",
    "experiments.results.verify.derived": "links and moves in a new folder of its own",
    "experiments.studies.parts": "a folder gets another name",
}
"""Modules with other ways to open, rename or copy files than those of core/system/files.py."""
_PATHS = "read_text read_bytes write_text write_bytes touch symlink_to hardlink_to rename renames"
_CALLS = "mkstemp mkdtemp TemporaryFile NamedTemporaryFile copy2 copyfile copytree connect fdopen"
_BUFFERS = "ZipFile to_csv to_parquet to_excel to_pickle read_csv read_parquet savefig savez memmap"
_BUFFERS += " savez_compressed print_png print_svg ParquetFile fromfile loadtxt genfromtxt savetxt"
_ARRAYS = ("np", "torch", "OmegaConf")


def _opens(call: ast.Call) -> bool:
    """Return True for a call that opens, renames or copies a file by its path."""
    method = isinstance(call.func, ast.Attribute)
    name = call.func.attr if isinstance(call.func, ast.Attribute) else ast.unparse(call.func)
    text, owner = ast.unparse(call), ast.unparse(call.func).rpartition(".")[0].rpartition(".")[2]
    if name == "open":
        is_other = owner[:1].isupper() or owner in ("cls", "webbrowser")
        return not (is_other or "O_DIRECTORY" in text or "os.devnull" in text)
    if name == "replace" and method:
        return owner == "os" or (len(call.args) == 1 and "path" in owner)
    if name in _BUFFERS.split() or (owner in _ARRAYS and name in ("load", "save")):
        buffer = r"file|content|packed|drawing|(pa.BufferReader|io.BytesIO)\(.*"
        return not any(re.fullmatch(buffer, ast.unparse(argument)) for argument in call.args)
    return name in _CALLS.split() or (method and name in _PATHS.split() and "columns=" not in text)


def test_files_are_opened_in_one_place() -> None:
    opening = {
        module.removeprefix(f"{LAB}.")
        for module in FILES
        for node in nodes_of(module)
        if isinstance(node, ast.Call) and _opens(node)
    }
    assert not opening - set(" ".join(OPENED_ELSEWHERE).split())


_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
REFERENCE = re.compile(r":(?:class|func|mod|meth|attr|data):`~?([\w.]+)`")


def defined_by(node: ast.AST) -> str:
    """Return the name that a node gives to a function, class, parameter or variable, or ``""``."""
    if isinstance(node, (*_FUNCTIONS, ast.ClassDef)):
        return node.name
    if isinstance(node, ast.arg):
        return node.arg
    is_stored = isinstance(getattr(node, "ctx", None), ast.Store)
    return getattr(node, "attr", getattr(node, "id", "")) if is_stored else ""


def _targets(tree: ast.AST, in_function: bool = False) -> Iterator[tuple[str, ast.AST | str]]:
    """All names that a tree imports (each with the name it has there), defines or stores; but no
    variables of functions."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.Import | ast.ImportFrom):
            prefix = f"{node.module}." if isinstance(node, ast.ImportFrom) else ""
            yield from ((alias.asname or alias.name, prefix + alias.name) for alias in node.names)
        elif not (in_function and isinstance(node, ast.Name | ast.arg)):
            yield defined_by(node), node
        yield from _targets(node, in_function or isinstance(node, _FUNCTIONS))


@functools.cache
def targets(module: str, class_: ast.ClassDef | None = None) -> dict[str, ast.AST | str]:
    return dict(_targets(class_ or nodes_of(module)[0]))


def resolves(name: str, module: str, class_: ast.ClassDef | None = None) -> bool:
    """Return True if a module, or a class in it, has this name; or ``a.b`` with b in a."""
    first, _, rest = name.partition(".")
    target = targets(module, class_).get(first)
    if isinstance(target, str):
        return is_absolute(f"{target}.{rest}".rstrip("."))
    if target is None:  # a base class may have it
        bases = [ast.unparse(base).partition("[")[0] for base in class_.bases] if class_ else []
        return any(resolves(f"{base}.{name}", module) for base in bases)
    return not rest or (isinstance(target, ast.ClassDef) and resolves(rest, module, target))


def is_absolute(name: str) -> bool:
    """Return True for the dotted name of something in the lab, or of another library."""
    words = name.removeprefix(f"{LAB}.").split(".")
    for end in range(len(words), 0, -1):
        if (module := ".".join((LAB, *words[:end]))) in FILES:
            return end == len(words) or resolves(".".join(words[end:]), module)
    return name.partition(".")[0] != LAB and words[0] not in ORDER


def test_references_in_docstrings_lead_somewhere() -> None:
    references = {
        (module, name)
        for module, path in FILES.items()
        for name in REFERENCE.findall(path.read_text(encoding="utf-8"))
    }
    assert len(references) > 200
    libraries = {*ORDER, LAB, *sys.stdlib_module_names}
    assert not [
        f"{module}: {name}"
        for module, name in sorted(references)
        if not resolves(name, module)
        and not (name.partition(".")[0] in libraries and is_absolute(name))
    ]


DIALECT = {"found", "each", "place", "about", "told", "own", "asked", "kept"}
MOST_DIALECT = 38
"""So many names are still of the dialect. Write the noun or verb of the field instead."""


def test_names_are_words_of_the_field() -> None:
    nodes = [node for module in FILES for node in nodes_of(module)]
    for path in (
        path for room in ("tests", "benchmarks", "docs") for path in ROOT.glob(f"{room}/**/*.py")
    ):
        text = path.read_text(encoding="utf-8")
        if re.search(rf"\b_?({'|'.join(DIALECT)})\b", text):
            nodes += ast.walk(ast.parse(text))
    assert sum(defined_by(node).strip("_") in DIALECT for node in nodes) <= MOST_DIALECT


def test_the_way_from_a_command_to_its_report_names_files_that_are_there() -> None:
    """docs/inside.md: at most twelve stations, none of them twice."""
    page = (ROOT / "docs" / "inside.md").read_text(encoding="utf-8")
    stations = re.findall(r"^.*?((?:\w+/)+\w+\.py) +\d+ +", page, re.MULTILINE)
    assert 8 <= len(stations) == len({*stations}) <= 12
    assert [station for station in stations if not (ROOT / station).is_file()] == []
