"""Which part of the source may import which, and how long a function may be.

The packages: core <- agents <- experiments. Within them the table ``MAY_IMPORT`` says which room
may import which. It is the one place to change when a room is added.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = ("core", "agents", "experiments")

# A room is a package or a module, and holds all below it that is no room of its own.
SEARCH = tuple(f"agents.search.{name}" for name in ("base", "context", "limits", "table"))
AGENTS = ("agents.base", "agents.conf_folder", "agents.evaluation", *SEARCH)
SEARCHES = ("agents.search.window", "agents.search.endgame", "agents.search.montecarlo")
ALL_AGENTS = ("core", *AGENTS, *SEARCHES, "agents.search", "agents.simple", "agents")
BELOW = (*ALL_AGENTS, "agents.hydra_parts", "agents.config", "agents.contract")
# From the lowest room upwards.
EXPERIMENTS = (
    "experiments.statistics",
    "experiments.pairing",
    "experiments.record",
    "experiments.playing",
    "experiments.config",
    "experiments.studies",
    "experiments.report",
    "experiments.run",
    "experiments.sweep",
)
STATISTICS, PAIRING, RECORD, PLAYING, CONFIG, STUDIES, REPORT, RUN, SWEEP = EXPERIMENTS
TOP = ("experiments.plan", "experiments.bench", "experiments.help")

MAY_IMPORT: dict[str, tuple[str, ...]] = {
    "core": (),
    "agents.conf_folder": (),
    "agents.hydra_parts": ("agents.conf_folder",),
    "agents.base": ("core",),
    "agents.evaluation": ("core",),
    **dict.fromkeys(SEARCH, ("core", *AGENTS)),
    "agents.search.endgame": ("core", *AGENTS),
    "agents.search.window": ("core", *AGENTS, "agents.search.endgame"),
    "agents.search.montecarlo": ("core", *AGENTS),
    "agents.search": ("core", *AGENTS, *SEARCHES),
    "agents.simple": ("core", *AGENTS, *SEARCHES, "agents.search"),
    "agents": ("core", *AGENTS, "agents.search", "agents.simple"),
    "agents.config": (*ALL_AGENTS, "agents.hydra_parts"),
    "agents.contract": (*ALL_AGENTS, "agents.config"),
    "agents.solve": BELOW,
    "agents.commands": BELOW,
    "agents.__main__": (*BELOW, "agents.commands", "agents.solve"),
    "experiments.command_line": (),
    STATISTICS: (),
    PAIRING: (*BELOW, STATISTICS),
    RECORD: BELOW,
    PLAYING: (*BELOW, PAIRING, RECORD),
    CONFIG: (*BELOW, PAIRING, PLAYING, RECORD),
    STUDIES: (*BELOW, RECORD, PAIRING),
    REPORT: (*BELOW, CONFIG, STUDIES, STATISTICS, RECORD, PAIRING),
    RUN: (*BELOW, STATISTICS, PAIRING, RECORD, PLAYING, CONFIG, STUDIES, REPORT),
    SWEEP: (*BELOW, RUN, REPORT, CONFIG, RECORD, STATISTICS, "experiments.command_line"),
    "experiments": (RUN,),
    **dict.fromkeys(TOP, (*BELOW, *EXPERIMENTS, "experiments.command_line")),
    "experiments.__main__": (*BELOW, *EXPERIMENTS, *TOP, "experiments.command_line"),
}

LONGEST = 50  # lines of a function, signature and docstring included; kernels may be longer

KNOWN = {
    # imports against the arrows
    "agents.search.endgame.solver -> agents.search.window.transposition",
    "agents.search.window.probcut -> agents.config",
    "experiments.config -> experiments.statistics.sequential",
    "experiments.pairing.balanced -> experiments.config",
    "experiments.pairing.balanced -> experiments.playing.pool",
    "experiments.pairing.balanced -> experiments.record.provenance",
    "experiments.pairing.openings -> experiments.config",
    "experiments.playing.cluster -> experiments.config",
    "experiments.playing.executors -> experiments.config",
    "experiments.record.folder -> experiments.playing.player",
    "experiments.record.provenance -> experiments.config",
    "experiments.sweep.running -> experiments.__main__",
    # circles
    "agents.search.window.iterative <-> agents.search.window.probcut <-> agents.search.window.pvs",
    "experiments.config <-> experiments.pairing.openings <-> experiments.pairing.schedule",
    "experiments.playing.cluster <-> experiments.playing.executors",
    "experiments.__main__ <-> experiments.sweep.reporting <-> experiments.sweep.running",
    # functions that are too long
    "agents.__main__._parser",
    "agents.search.window.plain.ordered",
    "core.game.play_game",
    "experiments.pairing.balanced._select",
    "experiments.playing.match.play_over",
    "experiments.report.figures.sweep_chart",
    "experiments.report.report._draw",
    "experiments.report.standings.matches",
    "experiments.report.standings.standings",
    "experiments.run._go_on",
    "experiments.run.resume",
    "experiments.run.run_match",
    "experiments.statistics.ratings.match_statistics",
    "experiments.statistics.ratings.rate",
}
"""What is still to be mended."""
KNOWN_ROOMS = {
    *("agents.conf_folder", "agents.hydra_parts", "agents.contract", "agents.commands"),
    *("agents.search.table", "agents.solve", "experiments.command_line"),
}
"""Rooms that come, and one that goes."""

FILES = {
    ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): path
    for package in PACKAGES
    for path in sorted((ROOT / package).rglob("*.py"))
}


def imported(module: str) -> Iterator[str]:
    """All modules that one names in an import, wherever that stands: also within a function, or
    under ``TYPE_CHECKING``."""
    for node in ast.walk(ast.parse(FILES[module].read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{module}: relative import"
            for alias in node.names:
                name = f"{node.module}.{alias.name}"
                yield name if name in FILES else str(node.module)


IMPORTS = {module: set(imported(module)) for module in FILES}


def room_of(module: str) -> str:
    """The innermost room that a module is in."""
    room = module
    while room not in MAY_IMPORT:
        room = room.rpartition(".")[0]
        assert room not in PACKAGES or room == "core", f"{module} is in no room of MAY_IMPORT"
    return room


@pytest.mark.parametrize("module", FILES)
def test_imports_follow_the_arrows(module: str) -> None:
    room = room_of(module)
    allowed = {room, *MAY_IMPORT[room]}
    ours = {name for name in IMPORTS[module] if name.split(".")[0] in PACKAGES}
    wrong = {f"{module} -> {name}" for name in ours if room_of(name) not in allowed}
    assert not wrong - KNOWN
    others = {name.split(".")[0] for name in IMPORTS[module]}
    assert not others & {"play", "tests", "benchmarks", "conftest"}


def test_the_arrows_have_no_circle() -> None:
    for room in SEARCH:  # these make one room, so they may use each other
        assert MAY_IMPORT[room] == MAY_IMPORT[SEARCH[0]]
    arrows = {room: set(others) - {*SEARCH} for room, others in MAY_IMPORT.items()}
    assert not circles(arrows)


def test_every_room_is_there() -> None:
    rooms = {room_of(module) for module in FILES}
    assert set(MAY_IMPORT) - rooms <= KNOWN_ROOMS


def circles(arrows: dict[str, set[str]]) -> list[list[str]]:
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
    found = {" <-> ".join(circle) for circle in circles(IMPORTS)}
    assert not found - KNOWN


def test_functions_can_be_read_in_one_go() -> None:
    found = set()
    for module, path in FILES.items():
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef):
                decorators = {getattr(d, "id", getattr(d, "attr", "")) for d in node.decorator_list}
                lines = (node.end_lineno or 0) - node.lineno + 1
                if lines > LONGEST and not decorators & {"kernel", "intrinsic"}:
                    found.add(f"{module}.{node.name}")
    assert not found - KNOWN
