"""Agents that attack the lab while they are imported, made and asked about themselves: the run says
in one line what is wrong with them, and nothing of theirs runs in the driver."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest
from chosen import mostly_nightly
from processes import await_, descendants

import othello_lab.agents.external_agent
import othello_lab.core.game
from othello_lab.agents.config import ConfigError
from othello_lab.agents.external_agent import ExternalAgent
from othello_lab.core.position import Position
from othello_lab.core.system.processes import LINUX
from othello_lab.experiments.record.provenance import versions

pytestmark = pytest.mark.skipif(not LINUX, reason="needs Linux")

AGENT = """
import os, signal, socket, struct, sys, time
from othello_lab import Agent, Decision, RandomAgent
import othello_lab.core.game, othello_lab.core.position
class Mine(RandomAgent):
    pass
def tell(data):
    for n in range(3, 300):
        try: os.write(n, data)
        except OSError: pass
"""
FINE = ""

# What it does: its module's code behind the above, and what the lab must say.
MAKINGS: dict[str, tuple[str, str]] = {
    "ends its process": ("os._exit(0)", "exit code 0"),
    "raises SystemExit": ("sys.exit(3)", "SystemExit|cannot be imported"),
    "hangs": ("signal.pause()", "not made within"),
    "closes all descriptors, and hangs": ("os.closerange(0, 4096); signal.pause()", "ended"),
    "becomes another program": ("os.execv('/bin/sleep', ['sleep', '600'])", "ended"),
    "leaves a daemon": (
        "if os.fork() == 0:\n"
        "    os.setsid()\n"
        "    os.fork() == 0 and signal.pause()\n"
        "    os._exit(0)",
        FINE,
    ),
    "leaves a daemon, and dies": (
        "if os.fork() == 0:\n    os.setsid(); signal.pause()\nos._exit(1)",
        "ended",
    ),
    "replaces the judge": (
        "core = othello_lab.core\n"
        "core.game.play_game = core.position.Position.play = Decision.flaw = None",
        FINE,
    ),
    "changes folder and umask": ("os.chdir('/'); os.umask(0o777)", FINE),
    "prints": ("os.write(1, b'x' * 10**6); print('y' * 10**6, file=sys.stderr)", FINE),
    "writes to all descriptors": (r"tell(b'\5\0\0\0[1,2]')", "malformed"),
    "sends nested lists": ("tell(struct.pack('<I', 50000) + b'[' * 50000)", "cannot be read"),
    "says that it lacks everything": (r"tell(b'\2\0\0\0{}')", "version"),
    "has a version of 2^70": ("Mine.version = 1 << 70", "a whole number is needed"),
    "has a version that cannot be told": ("Mine.version = Mine", "not JSON serializable"),
    "plays on boards of strange sizes": ("Mine.boards = lambda self: ['x']", "'x'"),
    "plays on endlessly many boards": (
        "Mine.boards = lambda self: iter(int, 1)",
        "not made within|MemoryError",
    ),
    "raises when it is asked about itself": ("Mine.boards = lambda self: sys.exit('gone')", "gone"),
    "raises a text of 30 MB": ("raise ValueError('x' * 30_000_000)", "ValueError: xxxx|: x{1000}"),
    "is no agent": ("class Mine: pass", "Mine"),
}


def made(folder: Path, source: str, monkeypatch: pytest.MonkeyPatch) -> ExternalAgent:
    (folder / "student").mkdir()
    (folder / "student" / "__init__.py").write_text(
        f"import os\nopen({str(folder / 'made')!r}, 'a').write(str(os.getpid()) + chr(10))"
    )
    (folder / "student" / "mine.py").write_text(AGENT + source)
    monkeypatch.syspath_prepend(folder)
    settings = {"_target_": "student.mine.Mine"}
    versions({"mine": settings})
    return ExternalAgent(settings, "mine")


ALWAYS = {
    "closes all descriptors, and hangs",
    "leaves a daemon, and dies",
    "replaces the judge",
    "sends nested lists",
}
"""One or two of each sort."""


@pytest.mark.integration
@pytest.mark.parametrize("does", mostly_nightly(MAKINGS, ALWAYS))
def test_an_agent_that_attacks_while_it_is_made(
    does: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture
) -> None:
    source, said = MAKINGS[does]
    here = os.getcwd(), othello_lab.core.game.play_game, Position.play
    before = set(descendants(os.getpid()))
    monkeypatch.setattr(
        othello_lab.agents.external_agent, "START_SECONDS", 0.5 if "not made" in said else 10
    )
    if said == FINE:
        assert made(tmp_path, source, monkeypatch).version == 1
    else:
        with pytest.raises(ConfigError, match=said) as refused:
            made(tmp_path, source, monkeypatch)
        assert "\n" not in str(refused.value)
        assert len(str(refused.value)) < 3000
    nobody_left(tmp_path, before)
    assert here == (os.getcwd(), othello_lab.core.game.play_game, Position.play)
    assert capfd.readouterr() == ("", "")


def nobody_left(folder: Path, before: set[int]) -> None:
    """Its code ran in other processes, and none of them lives on."""
    ran = {int(line) for line in (folder / "made").read_text().split()}
    assert os.getpid() not in ran
    files = [getattr(module, "__file__", None) or "" for module in list(sys.modules.values())]
    assert not any(file.startswith(str(folder)) for file in files)
    await_(lambda: not (set(descendants(os.getpid())) - before or sessions(ran)))


def sessions(leaders: set[int]) -> list[int]:
    """The processes of these sessions, or of sessions begun below them, wherever they hang now."""
    found = []
    for path in Path("/proc").glob("[0-9]*/environ"):
        number = int(path.parent.name)
        try:
            if os.getsid(number) in leaders:
                found.append(number)
        except OSError:
            continue
    return found
