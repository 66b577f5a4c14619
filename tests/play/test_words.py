"""Words of the commands: what is wrong is told in one line, and ``--help`` tells the settings."""

from __future__ import annotations

import shlex
from functools import partial

import pytest
from refusals import refuses

from othello_lab.__main__ import room_main

pytestmark = pytest.mark.usefixtures("scratch")

WPI, GTP = "wpi anna agent=greedy", "gtp agent=greedy"
WRONG: dict[str, tuple[str, ...]] = {
    "watch": ("'watch'",),
    "terminal white=foo": ("'foo'", "choose from"),
    "terminal white.dpth=3": ("'white.depth'?",),
    "terminal white.depth=0": ("depth=0", "1 to 64"),
    "terminal black.depth=3": ("black is human",),
    "terminal white=random white.evaluation=iago": ("random", "'evaluation'"),
    "terminal ruleset=mini6 evaluation=iago": ("evaluation=disc_count",),
    "terminal ruleset=go": ("'go'",),
    "terminal --fast": ("--fast",),
    "terminal --record": ("--record", "value"),
    "terminal --record /nowhere/x": ("/nowhere/x", "written"),
    "terminal series.games=1 series.points=2": ("games or points",),
    "terminal board=round": ("'round'",),
    "terminal depth=fast": ("depth",),
    "series black=greedy": ("games=N", "points=N"),
    "replay /nowhere": ("/nowhere", "read"),
    "replay /etc/hostname game=x": ("game=N",),
    "review /nowhere": ("/nowhere", "read"),
    "levels games=10": ("games",),
    "levels --output x.yaml": ("output",),
    "web web.browser=false web.port=0": ("web.port=0", "1 to 65535"),
    "web web.browser=false web.host=a/b": ("web.host=a/b",),
    "web web.browser=false web.colour=red": ("'web.colour'",),
    "web web.browser=false web.folder=/proc/x": ("web.folder=/proc/x",),
    "nboard agent=nobody": ("'nobody'",),
    "gtp": ("agent=NAME",),
    "gtp agent=alphabeat": ("'alphabeat'", "'alphabeta'?"),
    "gtp agent=alphabeta agent.dpth=3": ("'dpth'", "'agent.depth'"),
    f"{GTP} agent.evaluation=iago": ("agent.evaluation", "greedy"),
    f"{GTP} white=random": ("white=random", "agent=NAME"),
    f"{GTP} black.depth=3": ("black.depth=3", "agent=NAME"),
    "gtp agent=gtp agent.command=no-such-engine": ("'no-such-engine'",),
    "gtp agent=maximizer ruleset=mini6 evaluation=iago": ("8x8",),
    "wpi agent=greedy": ("NAME", "agent=greedy"),
    "wpi a/b agent=greedy": ("name=a/b",),
    "wpi anna agent=human": ("agent",),
    f"{WPI} folder=/nowhere": ("folder=/nowhere", "no such folder"),
    f"{WPI} folder=/proc": ("folder=/proc", "written"),
    f"{WPI} limit=0": ("limit=0.0", "more than 0"),
    "referee cat": ("two commands",),
    "referee cat no-such-program": ("'no-such-program'",),
    'referee cat "sh \'x"': ("quotation",),
    "referee cat cat names=../a,b": ("names=../a,b", "different"),
    "referee cat cat names=anna": ("names=anna", "different"),
    "referee cat sort names=anna,anna": ("names=anna,anna", "different"),
    "referee cat cat folder=.": ("both", "cat", "names="),
    "referee cat sort folder=/nowhere": ("folder=/nowhere", "no such folder"),
    "referee cat sh games=0": ("games=0",),
    "referee cat sh limit=-1": ("limit=-1",),
    "referee cat sh gaems=3": ("'gaems'",),
    "referee cat sh games": ("games", "key=value"),
    "referee cat sh isolation=shut": ("auto, process, closed, none",),
    "referee cat sh isolation.reads=x": ("isolation.reads=x", "list"),
    "referee cat sh isolation.reads=[/nowhere]": ("isolation.reads", "/nowhere"),
    "referee cat sh isolation=process isolation.network=true": ("isolation.network",),
    "referee cat sh isolation.network=perhaps": ("isolation.network=perhaps", "true or false"),
    "referee cat sh --record /nowhere/x": ("/nowhere/x", "written"),
    "referee cat sh --record /": ("--record /", "folder"),
    "referee \"sh -c 'exit 1; a b'\" cat": ("name=WORD",),
}


@pytest.mark.parametrize("words", WRONG)
def test_what_is_wrong_is_told_in_one_line(words: str, capsys: pytest.CaptureFixture[str]) -> None:
    refuses(partial(room_main, "play"), shlex.split(words), capsys, *WRONG[words])


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
