"""What a shell completes."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
from collections.abc import Mapping, Sequence

import pytest

from othello_lab.__main__ import all_commands, main
from othello_lab.completion import SHELLS, script

COMPLETED = {
    "othello-lab r": "recover report resume run",
    "othello-lab agents che": "check check-engine",
    "othello-lab run agents=cl": "agents=classics",
    "othello-lab match ia": "iago",
    "othello-lab match champ": "champion",
    "othello-lab match iago mobility unt": "until=decided",
    "othello-lab match iago pvs first.evaluation=stab": "first.evaluation=stable_discs",
    "othello-lab match iago pvs second.iter": "second.iterative=false second.iterative=true",
    "othello-lab match iago pvs second.play": "",
    "othello-lab run -m limits.s": "limits.seconds=",
    "othello-lab run openings.sh": "openings.shuffle=",
    "othello-lab run agents=duel agent@second=gree": "agent@second=greedy",
    "othello-lab run agents=duel agent@first=mcts first.play": "first.playouts=",
    "othello-lab run agents=duel agent@first=mcts second.play": "",
    "othello-lab plan po": "power=",
    "othello-lab study pru": "pruning",
    "othello-lab list so": "sort=",
    "othello-lab report --lat": "--latex",
    "othello-lab agents solve --tab": "--table",
    "othello-lab play term": "terminal",
    "othello-lab play terminal white=hum": "white=human",
    "othello-lab play terminal white=mcts white.rew": "white.reward=",
    "othello-lab play gtp agent=gree": "agent=greedy",
    "othello-lab play gtp agent=mcts agent.rew": "agent.reward=",
    "othello-lab watch res": "",
}

LAST = r"""
    COMP_LINE={typed} COMP_POINT={length}
    _othello_lab
    echo "${{COMPREPLY[@]}}"
"""
CAPTURING = r"""
    compdef() { }
    compset() { }
    _files() { }
    compadd() { print -r -- ${@[(i)--]:+${@[$@[(i)--]+1,-1]}} }
"""


@pytest.fixture(scope="module")
def scripts() -> dict[str, str]:
    return {shell: script(shell, all_commands()) for shell in SHELLS}


def answer(shell: Sequence[str], text: str) -> str:
    """Return what a shell prints that runs a text, its words sorted."""
    done = subprocess.run([*shell, "-c", text], capture_output=True, text=True, check=True)
    assert not done.stderr
    return " ".join(sorted(done.stdout.split()))


@pytest.mark.skipif(shutil.which("bash") is None, reason="needs bash")
@pytest.mark.parametrize("typed", COMPLETED)
def test_bash_completes_what_is_typed(typed: str, scripts: Mapping[str, str]) -> None:
    asked = LAST.format(typed=shlex.quote(typed), length=len(typed))
    completed = answer(["bash", "--norc"], scripts["bash"] + asked)
    last = typed.split()[-1]
    begin = re.split("(?<=[=:])|(?=@)", last)[-1]  # where a word begins for bash
    begin = last.removesuffix(begin)
    assert completed == " ".join(word.removeprefix(begin) for word in COMPLETED[typed].split())


@pytest.mark.skipif(shutil.which("zsh") is None, reason="needs zsh")
@pytest.mark.parametrize("typed", COMPLETED)
def test_zsh_completes_what_is_typed(typed: str, scripts: Mapping[str, str]) -> None:
    asked = f"words=({typed}) CURRENT={len(typed.split())}\n_othello_lab"
    assert answer(["zsh", "-f"], CAPTURING + scripts["zsh"] + asked) == COMPLETED[typed]


@pytest.mark.integration
def test_the_command_prints_the_script(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["completion", "bash"]) == 0
    assert "complete -o default -F _othello_lab othello-lab" in capsys.readouterr().out


def test_a_shell_that_is_not_known(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as end:
        main(["completion", "tcsh"])
    assert end.value.code == 2
    assert "invalid choice: 'tcsh'" in capsys.readouterr().err
