"""What a shell completes."""

from __future__ import annotations

import shlex
import shutil
import subprocess

import pytest
from chosen import mostly_slow

from othello_lab.__main__ import main

needs_bash = pytest.mark.skipif(shutil.which("bash") is None, reason="needs bash")

COMPLETED = {
    "othello-lab r": "recover report resume run",
    "othello-lab agents che": "check check-engine",
    "othello-lab run agents=cl": "classics",
    "othello-lab run -m limits.s": "limits.seconds=",
    "othello-lab run openings.sh": "openings.shuffle=",
    "othello-lab run agents=duel agent@second=gree": "greedy",
    "othello-lab plan po": "power=",
    "othello-lab study pru": "pruning",
    "othello-lab play term": "terminal",
    "othello-lab play terminal white=hum": "human",
    "othello-lab watch res": "",
}


@needs_bash
@pytest.mark.parametrize("typed", mostly_slow(COMPLETED, list(COMPLETED)[:6:2]))
def test_what_is_typed_is_completed(typed: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["completion", "bash"]) == 0
    words = shlex.split(typed)
    asked = f"""{capsys.readouterr().out}
        COMP_LINE={shlex.quote(typed)} COMP_POINT={len(typed)}
        COMP_WORDS=({typed}) COMP_CWORD={len(words) - 1}
        _othello_lab
        echo "${{COMPREPLY[@]}}"
    """
    done = subprocess.run(
        ["bash", "--norc", "-c", asked], capture_output=True, text=True, check=True
    )
    assert (done.stdout.strip(), done.stderr) == (COMPLETED[typed], "")


def test_a_shell_that_is_not_known(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as end:
        main(["completion", "tcsh"])
    assert end.value.code == 2
    assert "invalid choice: 'tcsh'" in capsys.readouterr().err
