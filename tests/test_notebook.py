"""The notebooks of the documentation: each runs from an empty folder."""

from __future__ import annotations

from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

DOCS = Path(__file__).resolve().parent.parent / "docs"


def shown_by(notebook: str, folder: Path) -> tuple[str, int]:
    """Run a notebook; return the text and tables that it shows, and the number of its pictures.

    No cell prints: all outputs are results.
    """
    content = nbformat.read(DOCS / notebook, as_version=4)
    NotebookClient(content, timeout=600, resources={"metadata": {"path": folder}}).execute()
    outputs = [output for cell in content.cells for output in cell.get("outputs", [])]
    assert {output["output_type"] for output in outputs} == {"execute_result"}
    kinds = ("text/plain", "text/html")
    text = "".join(output["data"].get(kind, "") for output in outputs for kind in kinds)
    return text, sum("image/png" in output["data"] for output in outputs)


@pytest.mark.integration
def test_the_notebook_of_a_course(tmp_path: Path) -> None:
    text, pictures = shown_by("notebook.ipynb", tmp_path)
    assert "hollow" in text and "discs_lost" in text and " leads " in text
    assert pictures == 2
    assert list(tmp_path.glob("results/hollow_vs_iago/*/report.html"))


@pytest.mark.nightly
def test_the_notebook_of_researchers(tmp_path: Path) -> None:
    text, pictures = shown_by("notebook_research.ipynb", tmp_path)
    assert "mobility" in text and "4 of 40 games replayed" in text
    assert pictures == 2
    assert len(list(tmp_path.glob("results/squares_or_freedom/*-sweep/*/games.sqlite"))) == 6
