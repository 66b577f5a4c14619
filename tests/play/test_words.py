"""Words of the commands: ``--help`` tells the settings."""

from __future__ import annotations

import pytest

from othello_lab.__main__ import room_main


@pytest.mark.parametrize(
    ("words", "told"),
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
def test_help_tells_the_settings(words: str, told: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert room_main("play", words.split()) == 0
    printed = capsys.readouterr().out
    assert [word for word in told.split() if word not in printed] == []
