"""A command loads what it needs, and no more."""

from __future__ import annotations

import subprocess
import sys

import pytest

LOADED = """
import contextlib, io, sys
from othello_lab.__main__ import main
with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
    main(sys.argv[1:])
print(*{name.partition(".")[0] for name in sys.modules} - set(sys.stdlib_module_names))
"""
HEAVY = {"hydra", "matplotlib", "numba", "numpy", "omegaconf", "pandas", "scipy", "seaborn"}


def loaded(*words: str) -> set[str]:
    """Return the packages from elsewhere that a command has loaded."""
    done = subprocess.run(
        [sys.executable, "-c", LOADED, *words], capture_output=True, text=True, check=True
    )
    return {name for name in done.stdout.split() if not name.startswith("_")}


@pytest.mark.parametrize("words", ["resume --help", "lits"])
def test_help_and_a_misspelt_command_load_nothing_heavy(words: str) -> None:
    assert loaded(*words.split()) <= {"lazy_loader", "othello_lab", "rich"}


@pytest.mark.integration
def test_a_misspelt_setting_loads_hydra_alone() -> None:
    words = ("run", "agents=ab_vs_minimax", "limts.seconds=3")
    loaded(*words)  # keeps the composition, if none is kept
    assert HEAVY & loaded(*words) == {"hydra", "omegaconf"}


@pytest.mark.integration
def test_figures_load_a_part_of_seaborn_and_all_of_it_can_be_imported_afterwards() -> None:
    code = """
import sys
from othello_lab.experiments.report.figures.quick_seaborn import palettes
assert not {"scipy.stats", "scipy.cluster", "seaborn"} & set(sys.modules)
import seaborn
assert seaborn.color_palette("mako", 5) == palettes.color_palette("mako", 5)
assert seaborn.kdeplot
"""
    subprocess.run([sys.executable, "-c", code], check=True)
