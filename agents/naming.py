"""Names of agents by the settings in which they differ.

Two agents that differ in their evaluation are *iago* and *mobility*, in depth *alphabeta_d5* and
*alphabeta_d3*, in both *iago_d5* and *mobility_d3*.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from othello_lab.agents.composing import OPEN, choices, conf_folder, load
from othello_lab.agents.config import short_name
from othello_lab.core.system.files import read_text

LONGEST = 40
"""Letters of a name; of more settings than that holds the first ones are in it."""

_MOST = 3  # settings in a name
_LONGEST_VALUE = 20  # letters of one that is no name; a longer one is left out
_FIRST = ("evaluation", "depth")  # the settings that matter most, in this order
_TARGET = "_target_"
_MISSING = object()

Settings = Mapping[str, Any]


def names_by_difference(agents: Sequence[Settings], options: Sequence[str] = ()) -> list[str]:
    """Return a name for each agent, no two alike.

    agents: the settings of each, as a line-up has them: plain data with a ``_target_``. options:
    the name of each one's YAML or class; default the names of the classes.

    Agents of different options are named by these, and by what they then differ in of the settings
    that all of them leave open or have changed. Others are named by the differing settings alone,
    or by their option where that is the depth. If there are none, they are numbered.

    >>> greedy, corners = {"_target_": "mine.Greedy"}, {"_target_": "mine.Corners", "depth": 2}
    >>> names_by_difference([greedy, corners])
    ['Greedy', 'Corners']
    >>> names_by_difference([corners, corners | {"depth": 3}])
    ['Corners_d2', 'Corners_d3']
    >>> names_by_difference([greedy, greedy], ["greedy", "greedy"])
    ['greedy_1', 'greedy_2']
    """
    own = list(options) or [short_name(str(agent.get(_TARGET, "agent"))) for agent in agents]
    if len(set(own)) == 1:
        names = [_joined(words, own[0]) for words in _differences(agents)]
    else:
        chosen = [_chosen(agent, option) for agent, option in zip(agents, own, strict=True)]
        shared = set.intersection(*map(set, chosen))
        parts = [{key: agent[key] for key in shared} for agent in chosen]
        names = [
            _joined([option, *words], option)
            for option, words in zip(own, _differences(parts), strict=True)
        ]
    if len(set(names)) == 1:
        names = names_by_files([_text_of(agent) for agent in agents]) or names
    return _numbered(names, own)


def names_by_files(texts: Sequence[str]) -> list[str]:
    """Return names for the files in which targets or commands differ, as short as tells them apart;
    none if they differ in no file.

    >>> names_by_files(["./a/bot.py:strategy", "./b/bot.py:strategy"])
    ['a/bot', 'b/bot']
    >>> names_by_files(["./bot 1", "./bot 2"])
    []
    """
    for words in zip(*(re.split(r"\s+|:", text) for text in texts), strict=False):
        if len(set(words)) == len(texts) and any("/" in word for word in words):
            parts = [Path(word.strip("'\"")).with_suffix("").parts for word in words]
            for length in range(1, max(map(len, parts)) + 1):
                names = ["/".join(each[-length:]) for each in parts]
                if len(set(names)) == len(names) and max(map(len, names)) <= LONGEST:
                    return names
    return []


def _text_of(settings: Settings) -> str:
    """Return the texts in settings, one after another."""
    values = (_text_of(v) if isinstance(v, Mapping) else str(v) for v in settings.values())
    return " ".join(values)


def option_name(group: str, settings: Settings) -> str:
    """Return the name of the YAML with these settings, or the class or function they name.

    >>> option_name("evaluation", {"_target_": "othello_lab.agents.evaluation.Iago"})
    'iago'
    """
    function = settings.get("target")
    if isinstance(function, str) and ":" in function:
        return short_name(function)
    target = str(settings.get(_TARGET, group))
    for name in choices(group):
        # Some YAMLs take a tenth of a second to compose.
        text = read_text(conf_folder() / group / f"{name}.yaml")
        if f"{_TARGET}: {target}\n" in text and load(group, name) == settings:
            return name
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", short_name(target)).lower()


def _chosen(agent: Settings, option: str) -> dict[str, Any]:
    """Return the settings of an agent that its YAML leaves open, or has otherwise."""
    if option not in choices("agent"):
        return {key: value for key, value in agent.items() if key in _FIRST}
    file = load("agent", option)
    return {
        key: value
        for key, value in agent.items()
        if file.get(key, OPEN) in (OPEN, None) or file[key] != value
    }


def _differences(agents: Sequence[Settings]) -> list[list[str]]:
    """Return for each agent the words of those settings in which not all agree, the most important
    ones first."""
    keys = dict.fromkeys(key for agent in agents for key in agent)
    order = [*(key for key in _FIRST if key in keys), *(key for key in keys if key not in _FIRST)]
    columns = [column for key in order for column in _words(key, agents)]
    return [list(words) for words in zip(*columns, strict=True)] or [[] for _ in agents]


def _words(key: str, agents: Sequence[Settings]) -> Iterator[list[str]]:
    """Yield the words of a setting, one an agent, if they differ in it; of a part with settings of
    its own, those of the settings in which the parts differ."""
    values = [agent.get(key, _MISSING) for agent in agents]
    if all(value == values[0] for value in values):
        return
    parts = [value for value in values if isinstance(value, Mapping)]
    if len(parts) == len(values):
        names = [option_name(key, part) if _TARGET in part else "" for part in parts]
        if len(set(names)) > 1:
            yield names
        else:
            yield from map(list, zip(*_differences(parts), strict=True))
    else:
        yield [_word(key, value) for value in values]


def _word(key: str, value: Any) -> str:
    """Return a setting with its value in a word or two; nothing for a long value.

    >>> [_word("depth", 5), _word("etc", True), _word("etc", False), _word("weight", 0.25)]
    ['d5', 'etc', 'no etc', 'weight 0.25']
    """
    if key == "depth" and type(value) is int:
        return f"d{value}"
    if value is True:
        return key
    if value is None or value is False or value is _MISSING:
        return f"no {key}"
    if key == _TARGET:
        file, _, name = str(value).rpartition(":")
        return f"{name} of {Path(file).stem}" if file else str(value)
    if key == "target":
        return short_name(str(value))
    if isinstance(value, Mapping):
        return option_name(key, value) if _TARGET in value else key
    text = " ".join(map(str, value)) if isinstance(value, list | tuple) else str(value)
    text = f"{value:g}" if isinstance(value, float) else Path(text).stem if "/" in text else text
    return f"{key} {text}" if len(text) <= _LONGEST_VALUE else ""


def _joined(words: Sequence[str], option: str) -> str:
    """Return the first words that a name has room for, on one line; ``option`` if there are none,
    and before a depth."""
    name = ""
    for word in [" ".join(word.split()) for word in words if word][:_MOST] or [option]:
        is_depth = re.fullmatch(r"d\d+", word)
        longer = f"{name or option}_{word}" if is_depth else f"{name} {word}".strip()
        if name and len(longer) > LONGEST:
            break
        name = longer[:LONGEST].strip()
    return name


def _numbered(names: Sequence[str], own: Sequence[str]) -> list[str]:
    """Return the names with numbers for those that are alike."""
    often, place = Counter(names), Counter[str]()
    numbered = []
    for name, option in zip(names, own, strict=True):
        if often[name] > 1:
            place[name] += 1
            name = f"{name or option}_{place[name]}"
        numbered.append(name)
    return (
        numbered
        if len(set(numbered)) == len(names)
        else [f"{option}_{number}" for number, option in enumerate(own, start=1)]
    )
