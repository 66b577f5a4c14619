"""Whom a page may ask to play."""

from __future__ import annotations

from pathlib import Path

import pytest

from othello_lab.agents.config import ConfigError, choices
from othello_lab.core.rules import ruleset
from othello_lab.play.config import read
from othello_lab.play.web.catalogue import Catalogue


@pytest.mark.integration
def test_who_is_nothing_without_a_program_or_a_file_is_not_listed() -> None:
    listed = Catalogue(read([])).agents
    unlisted = {"function", "gtp", "line", "nboard", "openspiel", "wpi"}
    assert set(choices("agent")) - set(listed) == unlisted


@pytest.mark.integration
def test_a_page_cannot_change_what_a_program_is(tmp_path: Path) -> None:
    (tmp_path / "agent").mkdir()
    (tmp_path / "agent" / "rhino.yaml").write_text(
        "# An engine\n_target_: othello_lab.agents.external.GtpAgent\n"
        "command: gtp-rhino\nsettings: []\n",
        encoding="utf-8",
    )
    catalogue = Catalogue(read([], [str(tmp_path)]))
    rules = ruleset("standard")
    engine = catalogue.player("rhino", {}, rules).agent
    assert engine is not None and engine["command"] == "gtp-rhino"
    for key, value in (("command", "halt"), ("settings", ["halt"]), ("patience", 1)):
        with pytest.raises(ConfigError, match=key):
            catalogue.player("rhino", {key: value}, rules)
