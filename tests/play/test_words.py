"""Words of the commands: ``--help`` tells the settings."""

from __future__ import annotations

import pytest
from runs import told


@pytest.mark.parametrize(
    ("words", "settings"),
    [
        ("", "terminal web series replay review gtp nboard wpi referee levels"),
        ("terminal --help", "--record limits: series human alphabeta pause"),
        ("web --help", "port: 8377"),
        ("gtp --help", "agent=alphabeta"),
        ("nboard --help", "NBoard"),
        ("wpi", "agent=AGENT"),
        ("wpi --help", "agent=AGENT limit folder"),
        ("referee", "games limit names folder isolation output"),
        ("referee --help", "games limit names folder isolation output"),
    ],
)
def test_help_tells_the_settings(words: str, settings: str) -> None:
    printed = told("play", *words.split())
    assert [word for word in settings.split() if word not in printed] == []
