"""Which part of the source may import which, and how long a function may be.

The packages: core <- agents <- experiments <- play. Within them ``FLOORS`` says which room stands
above which. It is the one place to change when a room is added.
"""

from __future__ import annotations

import ast
import functools
from collections.abc import Iterator, Mapping, Set
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = ("core", "agents", "experiments", "play")

# A room is a package or a module, and holds all below it that is no room of its own. A room may
# import from the rooms of lower floors, the first being the ground.
FLOORS = (
    ("core",),
    ("agents.base", "agents.conf_folder", "agents.loading"),
    ("agents.evaluation", "agents.hydra_parts"),
    ("agents.learned",),
    ("agents.search.context", "agents.search.table"),
    ("agents.search.limits", "agents.search.watch"),
    ("agents.search.base",),
    ("agents.search.endgame", "agents.search.montecarlo"),
    ("agents.search.window",),
    ("agents.search",),
    ("agents.simple", "agents.external"),
    ("agents",),
    ("agents.config",),
    ("agents.contract", "agents.outside"),
    ("agents.diagnosis",),
    ("agents.commands",),
    ("agents.__main__",),
    ("experiments.system", "experiments.statistics"),
    ("experiments.record",),
    ("experiments.pairing",),
    ("experiments.playing",),
    ("experiments.config",),
    ("experiments.studies.searches", "experiments.studies.strategies", "experiments.foreign"),
    ("experiments.report",),
    ("experiments.recorded", "experiments.command_line", "experiments.stopping"),
    ("experiments.run",),
    (
        "experiments.sweep",
        "experiments.sample_size",
        "experiments.bench",
        "experiments.help",
        "experiments.export",
    ),
    ("experiments.studies",),
    ("experiments.training",),
    ("experiments.looking",),
    ("experiments.verify", "experiments.players"),
    ("experiments.recover",),
    ("experiments",),
    ("experiments.__main__",),
    ("play.config", "play.game", "play.moves"),
    ("play.help", "play.switches", "play.thinking", "play.written"),
    (
        "play.hints",
        "play.recorded",
        "play.tree",
        "play.engine",
        "play.gtp",
        "play.nboard",
        "play.umpire",
    ),
    ("play.terminal", "play.web", "play.referee", "play.wpi"),
    ("play", "play.__main__"),
    ("play.completion",),
    ("play.lab",),
)
FLOOR = {room: floor for floor, rooms in enumerate(FLOORS) for room in rooms}

LONGEST = 50  # lines of a function, signature and docstring included; kernels may be longer

FILES = {
    ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): path
    for package in PACKAGES
    for path in sorted((ROOT / package).rglob("*.py"))
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


def room_of(module: str) -> str:
    """The innermost room that a module is in."""
    room = module
    while room not in FLOOR:
        room = room.rpartition(".")[0]
    return room


def test_imports_lead_downwards() -> None:
    wrong = []
    for module in FILES:
        room = room_of(module)
        for name in imported(module):
            package = name.split(".")[0]
            ours = package in PACKAGES and room_of(name) != room
            if package in ("tests", "benchmarks", "conftest") or (
                ours and FLOOR[room_of(name)] >= FLOOR[room]
            ):
                wrong.append(f"{module} imports {name}")
    assert not wrong


def test_every_room_is_there() -> None:
    assert {room_of(module) for module in FILES} == set(FLOOR)


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


def test_circles_are_found() -> None:
    arrows = {"a": {"b"}, "b": {"c", "elsewhere"}, "c": {"b"}, "d": {"a", "d"}}
    assert circles(arrows) == [["b", "c"], ["d"]]


def test_no_modules_import_each_other_in_a_circle() -> None:
    """Not within functions either."""
    assert not circles({module: imported(module) for module in FILES})


def test_functions_can_be_read_in_one_go() -> None:
    found = set()
    for module in FILES:
        for node in nodes_of(module):
            if isinstance(node, ast.FunctionDef):
                decorators = {getattr(d, "id", getattr(d, "attr", "")) for d in node.decorator_list}
                lines = (node.end_lineno or 0) - node.lineno + 1
                if lines > LONGEST and not decorators & {"kernel", "intrinsic"}:
                    found.add(f"{module}.{node.name}")
    assert not found
