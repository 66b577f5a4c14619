"""The notebook of the documentation."""

from __future__ import annotations

from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

NOTEBOOK = Path(__file__).resolve().parent.parent / "docs" / "notebook.ipynb"


@pytest.mark.slow
def test_the_notebook_runs_and_prints_nothing(tmp_path: Path) -> None:
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    NotebookClient(notebook, timeout=600, resources={"metadata": {"path": tmp_path}}).execute()
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", [])]
    assert {output["output_type"] for output in outputs} == {"execute_result"}
    shown = "".join(output["data"].get("text/html", "") for output in outputs)
    assert "hollow" in shown
    assert "discs_lost" in shown
    assert sum("image/png" in output["data"] for output in outputs) == 2
    assert list(tmp_path.glob("results/hollow_vs_iago/*/report.html"))
