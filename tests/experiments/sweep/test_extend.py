"""How many games a sweep may be extended to."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from rich.console import Console

from othello_lab.core.system.settings import ConfigError
from othello_lab.experiments.sweep import sweep_session
from othello_lab.experiments.sweep.folder import Sweep


def test_as_many_games_as_there_are_is_no_fewer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = Sweep(tmp_path, [], [], [["agents=ab_mirror", "games=4"]], trusted=True)
    went_on: list[Any] = []
    monkeypatch.setattr(sweep_session, "Sweep", SimpleNamespace(read=lambda folder: asked))
    monkeypatch.setattr(sweep_session, "about", lambda folder: {"command": "", "arguments": []})
    monkeypatch.setattr(sweep_session, "write_about", lambda *arguments: None)
    monkeypatch.setattr(sweep_session, "_go_on", lambda sweep, *_: went_on.append(sweep.known) or 0)
    console = Console(quiet=True)
    assert sweep_session.extend(tmp_path, 4, console) == 0
    assert sweep_session.extend(tmp_path, 6, console) == 0
    assert went_on == [[["agents=ab_mirror", f"games={games}"]] for games in (4, 6)]
    with pytest.raises(ConfigError, match="it can only grow"):
        sweep_session.extend(tmp_path, 2, console)
