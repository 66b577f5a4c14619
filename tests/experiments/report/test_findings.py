"""The list of a run's findings."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from othello_lab.experiments.report import findings


def test_every_kind_of_finding_is_in_the_list(monkeypatch: pytest.MonkeyPatch) -> None:
    kinds = [name for name in vars(findings) if name.startswith(("_about_", "_one_strategy"))]
    kinds += ["match_findings", "repeated", "about_forfeits"]
    assert len(kinds) >= 10
    for kind in kinds:
        monkeypatch.setattr(findings, kind, lambda *_, kind=kind: [kind])
    monkeypatch.setattr(findings, "lead", lambda facts: ["the lead"])
    facts: Any = SimpleNamespace(record=None, plan=None, matches=None)
    found = findings.findings(facts)
    assert found.lead == ["the lead"]
    told = [remark.partition(" ")[0] for remark in found.remarks]
    assert sorted(told) == sorted(kinds)
