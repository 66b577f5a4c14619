"""The texts of ``--help`` for people at the board."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence

from othello_lab.agents.composing import choices
from othello_lab.core.system.settings import as_yaml
from othello_lab.play.config import HUMAN, PlayConfig, levels_only

TERMINAL = """\
Play at the terminal, against an agent, another person, or watch two agents.

  othello-lab play terminal [key=value ...]
  othello-lab play terminal white=casual
  othello-lab play terminal black=human white=alphabeta white.depth=5
  othello-lab play terminal black=mcts white=pvs white.evaluation=iago pause=true
  othello-lab play series games=5 [key=value ...]     first to 5 games, colours changing
  othello-lab play series points=100 [...]            or to 100 points, the sum of winning margins

  --record FILE       keep a readable trace of all games
  --config-dir DIR    also use the YAMLs in DIR

At the prompt, help lists the commands. Ctrl-C stops an agent that thinks too long, Enter lets it
think again. Who resigns loses by the whole board: 64.
"""
WEB = """\
Play in the browser, against an agent, another person, or watch two agents.

  othello-lab play web [key=value ...]
  othello-lab play web web.port=9000 web.browser=false
  othello-lab play web black=human white=pvs white.depth=6

  --config-dir DIR    also use the YAMLs in DIR

The page is served to this machine alone, unless web.host says otherwise. Ctrl-C ends the server;
games go on where they were when it runs again. black, white and ruleset are those of a first game;
the page can choose others.
"""


def settings_help(usage: str, folders: Sequence[str] = ()) -> str:
    """Return the choices and all settings of a game at the board, as PlayConfig declares them."""
    agents = ", ".join(choices("agent", folders))
    lines = [
        usage,
        "== Choices (othello-lab agents list explains agents and evaluations) ==",
        *_wrapped(f"black, white: {HUMAN} (black by default), {agents}"),
        *_wrapped(f"  or a level (othello-lab play levels): {', '.join(levels_only(folders))}"),
        *_wrapped(f"hint: {agents}"),
        *_wrapped(f"evaluation, white.evaluation: {', '.join(choices('evaluation', folders))}"),
        *_wrapped(f"ruleset: {', '.join(choices('ruleset', folders))}"),
        "Settings of an agent: white.depth=6, black.ordering=static, hint.depth=8, ...",
        "Its heuristic: white.evaluation=iago, white.evaluation=./mine.py:hollow; with settings:",
        "  white.evaluation=composite white.evaluation.weights.mobility=3",
        "",
        "== Settings, as key=value or part.key=value; here with their defaults ==",
        *as_yaml(PlayConfig, without=("ruleset",)),
    ]
    return "\n".join(lines) + "\n"


def _wrapped(text: str) -> list[str]:
    return textwrap.wrap(text, 100, subsequent_indent="  ")
