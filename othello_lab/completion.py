"""``othello-lab completion``: a shell script that completes commands, settings and choices.

The script contains all words, so that the shell need not start Python, which takes a second. After
a change of settings or choices the script has to be made anew.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Sequence

from othello_lab.agents.config import choices, known_keys, load, option_groups
from othello_lab.core.system.cli import Parser
from othello_lab.experiments.config import OBJECTS

SHELLS = ("bash", "zsh")

_SCRIPT = r"""
_othello_lab() {
    local current="${COMP_LINE:0:COMP_POINT}" words
    current="${current##*[[:space:]]}"
    if ((COMP_CWORD == 1)); then
        words=%(commands)s
    else
        case "${COMP_WORDS[1]}" in
%(cases)s
            *) words="" ;;
        esac
    fi
    COMPREPLY=($(compgen -W "$words" -- "$current"))
    # For a shell a word ends at = and @; it wants only the rest.
    local begin="${current%%"${current##*[=@:]}"}"
    COMPREPLY=("${COMPREPLY[@]#"$begin"}")
    if [[ ${#COMPREPLY[@]} == 1 && ${COMPREPLY[0]} == *= ]]; then
        compopt -o nospace 2> /dev/null
    fi
}
complete -o default -F _othello_lab othello-lab
"""


def completion_command(arguments: Sequence[str], commands: Iterable[str]) -> int:
    """Print the script for a shell and return the exit code."""
    parser = Parser(
        prog="othello-lab completion",
        description="Print a script for bash or zsh that completes the commands of othello-lab, "
        "their settings, and the choices of each. To have it always, add to ~/.bashrc (or "
        '~/.zshrc):  eval "$(othello-lab completion bash)"',
    )
    parser.add_argument("shell", choices=SHELLS)
    shell = parser.parse_args(arguments).shell
    if shell == "zsh":
        print("autoload -U +X compinit && compinit\nautoload -U +X bashcompinit && bashcompinit")
    print(script(commands).strip())
    return 0


def script(commands: Iterable[str]) -> str:
    """Return the completion of these commands for bash."""
    from othello_lab.agents.command_line import make_parser
    from othello_lab.experiments.results.export import FORMATS, TABLES
    from othello_lab.experiments.studies.record import TRAINING
    from othello_lab.experiments.studies.study_command import study_words
    from othello_lab.play.command_line import COMMANDS as AT_THE_BOARD
    from othello_lab.training.selfplay_command import selfplay_words

    settings = _settings("run", ("first", "second"))
    cases = {
        "run": ["--config-dir", "--cfg", "--help", "--multirun", *settings],
        "plan": ["elo=", "draws=", "power=", "alpha=", "elo0=", "elo1=", "split=", *settings],
        "study": ["--config-dir", "--help", *study_words(), *settings],
        "train": ["--config-dir", "--help", "--ship", *study_words(TRAINING), *settings],
        "selfplay": (making := ["--config-dir", "--help", *selfplay_words(), *settings]),
        "positions": making,
        "list": ["--last", "--json", "--help"],
        "show": ["--json", "--trust", "--help"],
        "compare": ["--json", "--help"],
        "report": ["--figures", "--no-figures", "--output", "--trust", "--help"],
        "export": [*FORMATS, *TABLES, "--output", "--help"],
        "agents": make_parser()[1],
        "play": [*AT_THE_BOARD, *_settings("play", ()), *_players()],
        "core": ["perft", "--depth", "--ruleset", "--divide"],
        "completion": SHELLS,
    }
    words = sorted({*commands, *cases, "--help", "--version"})
    lines = [f"            {name}) words={_quoted(these)} ;;" for name, these in cases.items()]
    return _SCRIPT % {"commands": _quoted(words), "cases": "\n".join(lines)}


def _quoted(words: Sequence[str]) -> str:
    return shlex.quote(" ".join(words))


def _settings(config: str, places: Sequence[str]) -> list[str]:
    """Return the beginnings of ``key=value``, and the choices of each group."""
    words = [f"{key}=" for key in known_keys(config)]
    for group in option_groups():
        words += [f"{group}={name}" for name in choices(group)]
    for group in OBJECTS[1:]:  # a line-up has agents, not settings
        for name in choices(group):
            keys = (f"{group}.{key}=" for key in load(group, name) if key != "_target_")
            words += [key for key in keys if key not in words]
    return words + [f"agent@{place}={name}" for place in places for name in choices("agent")]


def _players() -> list[str]:
    names = ["human", *choices("agent")]
    return [f"{side}={name}" for side in ("black", "white", "hint") for name in names]
