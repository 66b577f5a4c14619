"""Checks of a match's sides before they play: the contract of agents, and searches by minimax."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence

from othello_lab.agents.sides import Side

SEARCH_SECONDS = 10.0
"""Seconds for a search to think while it is held to minimax."""
MOST_SECONDS = 90.0
"""Seconds for each of its checks to end."""
_HOLDS, _BROKEN = 0, 1  # exit codes of `agents check`


def is_checked(side: Side) -> bool:
    """Return True if a side is an agent in the user's Python."""
    return side.is_agent and ":" in side.target


def check_side(side: Side) -> list[str]:
    """Return the findings on a side that :func:`is_checked`, as sentences.

    The commands ``agents check`` and ``agents check --search`` run in processes of their own.
    """
    contract, search = _start(side.target), None
    if side.searches:
        search = _start(side.target, "--search", "--json", f"--seconds={SEARCH_SECONDS:g}")
    verdicts = [_on_contract(side, *_answer(contract))]
    return [*verdicts, _on_search(side, *_answer(search))] if search else verdicts


def _start(target: str, *options: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "othello_lab", "agents", "check", target, *options]
    return subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


def _answer(process: subprocess.Popen[str]) -> tuple[int | None, str]:
    """Return the exit code, None if it took too long, and the output or the error."""
    try:
        said, errors = process.communicate(timeout=MOST_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()
        return None, ""
    return process.returncode, said if process.returncode in (_HOLDS, _BROKEN) else errors


def _on_contract(side: Side, code: int | None, said: str) -> str:
    """Return the verdict of ``agents check``, its last line."""
    if code is None:
        return f"{side.label}: the check of its contract took over {MOST_SECONDS:g} s."
    last = _last_line(said).removeprefix(side.target).strip()
    if code == _HOLDS:
        return f"{side.label} {last}."
    more = f" (othello-lab agents check {side.target})" if code == _BROKEN else ""
    return f"{side.label} {last}{more}."


def _on_search(side: Side, code: int | None, said: str) -> str:
    """Return the verdict of ``agents check --search``, with the probable cause."""
    if code is None:
        return f"{side.label}: the check of its search took over {MOST_SECONDS:g} s."
    if code == _HOLDS:
        return f"{side.label} searches as minimax does."
    if code != _BROKEN:
        return f"{side.label}: its search was not checked: {_last_line(said)}."
    causes: Sequence[dict[str, str]] = json.loads(said)["causes"]
    cause = f": probable cause: {causes[0]['name']}" if causes else ""
    return (
        f"{side.label}: its search fails a check{cause} (othello-lab agents check --search "
        f"{side.target})."
    )


def _last_line(text: str) -> str:
    lines = text.strip().splitlines()
    return lines[-1].rstrip(".") if lines else "nothing was said"
