"""``othello-lab completion``: a shell script that completes commands, settings and choices.

The script contains all words, so that the shell need not start Python, which takes a second. After
a change of settings or choices the script has to be made anew.
"""

from __future__ import annotations

import contextlib
import io
import re
import shlex
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from othello_lab.agents.conf_folder import NAMED
from othello_lab.agents.config import choices, known_keys, load, option_groups
from othello_lab.agents.sides import SEARCH
from othello_lab.core.system.cli import Command, Parser
from othello_lab.experiments.config import OBJECTS

_COMMON = r"""
# Print the words that fit. Arguments: all words typed so far, the last one in part.
_othello_lab_words() {
    if [ -n "$ZSH_VERSION" ]; then emulate -L sh; fi
    local command="$1" current="" place="" name="" second="" word
    for word in "$@"; do current="$word"; done
    if [ $# -eq 1 ]; then
        echo %(commands)s
        return
    fi
    case "$command" in
        %(nested)s)
            if [ $# -eq 2 ]; then command="$command -"; else command="$command $2"; fi ;;
    esac
    case "$current" in
        -*) _othello_lab_options "$command"; return ;;
        *.*) place="${current%%%%.*}" ;;
    esac
    # The agent of this place: named by agent@first=NAME or black=NAME, or as a side of a match.
    if [ "$command" = match ]; then
        case "$2" in *=*) ;; *) [ "$place" = first ] && name="$2" ;; esac
        second="$3"
        case "$second" in *=*) ;; *) [ "$place" = second ] && name="$second" ;; esac
    fi
    for word in "$@"; do
        case "$word" in
            "agent@$place="* | "$place="*) name="${word#*=}" ;;
        esac
    done
    if [ -n "$name" ]; then
        for word in $(_othello_lab_agent "$name"); do echo "$place.$word"; done
    fi
    if [ "$command" = match ] && [ $# -le 3 ]; then
        echo %(sides)s
        return
    fi
    case "$command" in
%(cases)s
    esac
}
_othello_lab_options() {
    case "$1" in
%(options)s
    esac
}
_othello_lab_agent() {
    case "$1" in
%(agents)s
    esac
}
"""

_BASH = r"""
_othello_lab() {
    local typed current begin
    read -ra typed <<< "${COMP_LINE:0:COMP_POINT}"
    current="${COMP_LINE:0:COMP_POINT}"
    current="${current##*[[:space:]]}"
    [[ -n "$current" ]] || typed+=("")
    COMPREPLY=($(compgen -W "$(_othello_lab_words "${typed[@]:1}")" -- "$current"))
    # For bash a word begins behind = and : and with @; it wants only this word.
    begin="${current%"${current##*[=:]}"}"
    current="${current#"$begin"}"
    [[ "$current" != *@* ]] || begin+="${current%@*}"
    COMPREPLY=("${COMPREPLY[@]#"$begin"}")
    if [[ ${#COMPREPLY[@]} == 1 && ${COMPREPLY[0]} == *= ]]; then
        compopt -o nospace 2> /dev/null
    fi
}
complete -o default -F _othello_lab othello-lab
"""

_ZSH = r"""
_othello_lab() {
    local -a fitting
    fitting=(${(f)"$(_othello_lab_words "${(@)words[2,CURRENT]}" | tr ' ' '\n')"})
    fitting=(${(M)fitting:#${words[CURRENT]}*})
    if (( $#fitting == 0 )); then
        compset -P '*='
        _files
        return
    fi
    compadd -S '' -- ${(M)fitting:#*=}
    compadd -- ${fitting:#*=}
}
(( $+functions[compdef] )) || { autoload -Uz compinit && compinit }
compdef _othello_lab othello-lab
"""

SHELLS = {"bash": _BASH, "zsh": _ZSH}

_NESTED = ("agents", "core", "play")  # commands that have commands
_PLACES = ("first", "second")


def completion_command(arguments: Sequence[str], commands: Mapping[str, Command]) -> int:
    """Print the script for a shell and return the exit code."""
    parser = Parser(
        prog="othello-lab completion",
        description="Print a script for bash or zsh that completes the commands of othello-lab, "
        "their settings, and the choices of each. To have it always, add to ~/.bashrc (or "
        '~/.zshrc):  eval "$(othello-lab completion bash)"',
    )
    parser.add_argument("shell", choices=list(SHELLS))
    shell = parser.parse_args(arguments).shell
    print(script(shell, commands).strip())
    return 0


def script(shell: str, commands: Mapping[str, Command]) -> str:
    """Return the completion of these commands for a shell of ``SHELLS``."""
    names = {room: _commands_of(room) for room in _NESTED}
    cases = _words_of_commands(names)
    agents = {name: _settings_of_agent(name) for name in choices("agent")}
    # An evaluation as a side of a match plays inside of a search.
    agents |= {name: agents[SEARCH] for name in choices("evaluation") if name not in agents}
    text = _COMMON % {
        "commands": _quoted([*sorted([*commands, "completion"]), "--help", "--version"]),
        "nested": " | ".join(_NESTED),
        "sides": _quoted(agents),
        "cases": _cases(cases),
        "options": _cases(_options(commands, names)),
        "agents": _cases(agents),
    }
    return text + SHELLS[shell]


def words_of_commands(commands: Mapping[str, Command]) -> dict[str, list[str]]:
    """Return the words and options of each command: settings end with ``=``. A command that stands
    in another one is called ``agents list``."""
    names = {room: _commands_of(room) for room in _NESTED}
    words = _words_of_commands(names)
    return {
        command: [*words.get(command, ()), *options]
        for command, options in _options(commands, names).items()
    }


def _words_of_commands(names: Mapping[str, Sequence[str]]) -> dict[str, Iterable[str]]:
    """Return the words of each command, but for its options. names: of commands in others."""
    from othello_lab.experiments.studies.record import TRAINING
    from othello_lab.experiments.studies.study_command import study_words
    from othello_lab.training.selfplay_command import selfplay_words

    run = _settings("run")
    making = [*selfplay_words(), *run]
    return {
        "run": run,
        "match": _words_of_a_match(run),
        "plan": ["elo=", "draws=", "power=", "alpha=", "elo0=", "elo1=", "split=", *run],
        "study": [*study_words(), *run],
        "train": [*study_words(TRAINING), *run],
        "selfplay": making,
        "positions": making,
        "list": _filters(),
        "export": _exports(),
        "extend": ["games="],
        "completion": SHELLS,
        **{f"{room} -": found for room, found in names.items()},
        **{f"play {name}": words for name, words in _words_at_the_board().items()},
    }


def _quoted(words: Iterable[str]) -> str:
    return shlex.quote(" ".join(dict.fromkeys(words)))


def _cases(words: Mapping[str, Iterable[str]]) -> str:
    """Return branches of a shell's ``case``; names with the same words share one."""
    names: dict[str, list[str]] = {}
    for name, these in words.items():
        names.setdefault(_quoted(these), []).append(f'"{name}"')
    return "\n".join(
        f"        {' | '.join(those)}) echo {these} ;;" for these, those in names.items()
    )


# ------------------------------------------------------------------ words of the commands


def _settings(config: str) -> list[str]:
    """Return the beginnings of ``key=value``, and the choices of each group."""
    words = [f"{key}=" for key in known_keys(config)]
    for group in option_groups():
        words += [f"{group}={name}" for name in choices(group)]
    for group in OBJECTS[1:]:  # a line-up has agents, not settings
        for name in choices(group):
            words += [f"{group}.{key}=" for key in load(group, name) if key != "_target_"]
    return words + [f"agent@{place}={name}" for place in _PLACES for name in choices("agent")]


def _settings_of_agent(name: str) -> list[str]:
    """Return the settings of an agent with their choices."""
    words = []
    for key, value in load("agent", name).items():
        if key in NAMED:
            words += [f"{key}={choice}" for choice in choices(key)]
        elif isinstance(value, bool):
            words += [f"{key}=true", f"{key}=false"]
        elif key != "_target_":
            words.append(f"{key}=")
    return words


def _words_of_a_match(run: Sequence[str]) -> list[str]:
    from othello_lab.experiments.jobs.two_sides import SHORT

    searches = [f"agent={name}" for name in choices("agent")]
    return ["until=decided", *(f"{key}=" for key in SHORT), *searches, *run]


def _words_at_the_board() -> dict[str, list[str]]:
    """Return the settings of the commands at the board."""
    settings = _settings("play")
    names = ["human", *choices("agent")]
    players = [f"{side}={name}" for side in ("black", "white", "hint") for name in names]
    engine = [word for word in settings if not word.startswith(("black", "white", "hint"))]
    engine += [f"agent={name}" for name in choices("agent")]
    return {
        **{name: [*settings, *players] for name in ("terminal", "series", "web")},
        **{name: engine for name in ("gtp", "nboard", "wpi")},
    }


def _filters() -> list[str]:
    from othello_lab.experiments.results.listing import FILTERS

    return [f"{key}=" for key in FILTERS]


def _exports() -> list[str]:
    from othello_lab.experiments.results.export import FORMATS, TABLES

    return [*FORMATS, *TABLES]


def _commands_of(room: str) -> list[str]:
    from othello_lab.agents.command_line import make_parser
    from othello_lab.core.command_line import COMMANDS as RULES
    from othello_lab.play.command_line import COMMANDS as AT_THE_BOARD

    return {"agents": make_parser()[1], "core": list(RULES), "play": list(AT_THE_BOARD)}[room]


def _options(
    commands: Mapping[str, Command], names: Mapping[str, Sequence[str]]
) -> dict[str, list[str]]:
    """Return the options in the help of each command."""
    with_settings = ("run", "study", "plan", "selfplay", "positions", "train")
    found = {}
    for command in commands:
        for name in names.get(command, [""]):
            options = re.findall(r"(?<![\w-])--[a-z][\w-]*", _help(commands[command], name))
            more = ["--config-dir"] if command in with_settings else []
            more += ["--multirun"] if command == "run" else []
            found[f"{command} {name}".strip()] = sorted({*options, *more, "--help"})
    return found


def _help(command: Command, name: str) -> str:
    """Return the help of a command, or of one of its commands."""
    words: list[Any] = [name] if name else []
    with contextlib.redirect_stdout(io.StringIO()) as printed, contextlib.suppress(SystemExit):
        command([*words, "--help"])
    return printed.getvalue()
