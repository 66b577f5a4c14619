"""The reference of settings and of columns, made from the YAMLs in ``conf/``, the classes that they
name, and the rows that a record declares."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import MISSING, is_dataclass
from typing import Any

import yaml

from othello_lab.agents.composing import NAMED, OPEN, choices, conf_folder, load
from othello_lab.agents.loading import resolve
from othello_lab.core.game import SearchStats
from othello_lab.core.system.settings import Constraint, Switch, as_written, documented, paragraphs
from othello_lab.experiments.config import OBJECTS, RunConfig
from othello_lab.experiments.record import store, turns
from othello_lab.experiments.report import standings
from othello_lab.play.config import PlayConfig

CONF = "../../../conf"
"""The folder of YAMLs, seen from a page of the reference."""

WHOLE = {
    "run": ("A run", RunConfig, "`run`, `match` and `study`"),
    "play": ("A game at the board", PlayConfig, "`play terminal`, `play series` and `play web`"),
}
"""Settings that belong to no group: title, class and commands of a page."""


def settings_pages() -> dict[str, str]:
    """Return the pages by name: the settings of a run and of a game, then the groups."""
    pages = {}
    for name, (title, kind, commands) in WHOLE.items():
        fields = {key: setting for key, setting in documented(kind).items() if key not in OBJECTS}
        listed = "\n".join(_listed(fields, {}))
        pages[name] = f"# {title}\n\nSettings of {commands}, as `key=value`.\n\n{listed}\n"
    for folder in sorted(path.name for path in conf_folder().iterdir() if path.is_dir()):
        pages[folder] = "\n\n".join(_group(folder)) + "\n"
    return pages


def _group(group: str) -> Iterator[str]:
    """Yield the parts of a page on a group: its options, and the settings of each class."""
    yield f"# {group}"
    yield f"`{group}=NAME` chooses one of these."
    options = {name: _settings(group, name) for name in choices(group)}
    targets = [settings.get("_target_", "") for settings in options.values()]
    for name, description in choices(group).items():
        yield f"## {group}={name}"
        yield f"{description}. ([{name}.yaml]({CONF}/{group}/{name}.yaml))"
        yield from _beside(group, name)
        settings = options[name]
        if (target := settings.get("_target_", "")) and targets.count(target) == 1:
            yield "\n".join(_listed(documented(resolve(target)), settings, f"{group}."))
        elif target:
            values = {key: value for key, value in settings.items() if key != "_target_"}
            words = ", ".join(f"`{key}={as_written(value):.60}`" for key, value in values.items())
            name = target.rpartition(".")[2]
            yield f"It has the [settings of {name}](#settings-of-{name.lower()}). {words}"
    for target in dict.fromkeys(t for t in targets if t and targets.count(t) > 1):
        yield f"## Settings of {target.rpartition('.')[2]}"
        yield "\n".join(_listed(documented(resolve(target)), {}))


def _content(group: str, name: str) -> dict[str, Any]:
    """Return an option's file as data."""
    text = (conf_folder() / group / f"{name}.yaml").read_text(encoding="utf-8")
    return yaml.safe_load(text) or {}


def _settings(group: str, name: str) -> Mapping[str, Any]:
    """Return the settings that an option has for its class; none without a class."""
    content = load(group, name) if group in NAMED else _content(group, name)
    settings = content.get(group, content)
    return settings if isinstance(settings, Mapping) and "_target_" in settings else {}


def _beside(group: str, name: str) -> Iterator[str]:
    """Yield the players of a line-up, and settings that an option changes outside its group."""
    content = _content(group, name)
    listed = [key for item in content.get("defaults", []) if isinstance(item, dict) for key in item]
    players = [key.partition("@")[2] for key in listed if key.startswith("/agent@")]
    if group == "agents" and players:
        yield f"Players: {', '.join(f'`{player}`' for player in players)}."
    if group in content:
        others = {key: item for key, item in content.items() if key not in (group, "defaults")}
        words = ", ".join(f"`{key}={as_written(item)}`" for key, item in others.items())
        if words:
            yield f"It also sets {words}."


def _listed(settings: Any, values: Mapping[str, Any], above: str = "") -> Iterator[str]:
    """Yield a line of a list for each setting: name, default, meaning and range."""
    for name, setting in settings.items():
        value = values.get(name, setting.default)
        if is_dataclass(value) and not isinstance(value, type):
            yield from _listed(documented(type(value)), {}, f"{above}{name}.")
            continue
        text = re.sub(r"\bNone\b", "null", " ".join(paragraphs(setting.text)))
        constraint = setting.note(Constraint)
        if constraint is not None and not isinstance(constraint, Switch):
            needed = constraint.needed.removeprefix("a list is needed, of which ").rstrip(",")
            text = f"{text} *{needed[:1].upper()}{needed[1:]}.*"
        default = "to be given" if value in (MISSING, OPEN) else f"default `{as_written(value)}`"
        yield f"- **`{above}{name}`**, {default}. {text}"


# ---------------------------------------------------------------------- columns


def columns_text() -> str:
    """Return the tables of a record, and two tables of a report, each with its columns."""
    parts = []
    for table, row in store.TABLES.items():
        description = {name: setting.text for name, setting in documented(row).items()}
        parts.append(_section(f"Table {table}", paragraphs(str(row.__doc__))[0], description))
    counts = {name: setting.text for name, setting in documented(SearchStats).items()}
    moves = {name: turns.MOVE_MEANINGS.get(name) or counts[name] for name in turns.MOVE_COLUMNS}
    parts.append(
        _section(
            "Table moves",
            "A turn after the opening. Of a forced pass only the first four columns are filled. "
            "The same holds for a game in which an agent hung or its process died. With "
            "`record=games` the table is empty. The file packs it by game as `turns` (see "
            "`core/turn_layouts.py`); `Record.moves()` and `export FOLDER sqlite` unpack it.",
            moves,
        )
    )
    tables = (("standings.csv", standings.standings), ("matches.csv", standings.matches))
    for title, function in tables:
        name = f"{function.__module__}.{function.__name__}"
        parts.append(f"## {title}\n\n```{{eval-rst}}\n.. autofunction:: {name}\n```")
    return "\n\n".join(parts) + "\n"


def _section(title: str, description: str, columns: Mapping[str, Any]) -> str:
    return f"## {title}\n\n{description}\n\n" + "\n".join(_columns(columns))


def _columns(columns: Mapping[str, str]) -> Iterator[str]:
    """Yield a line for each column, or for several if those after the first have no text."""
    names: list[str] = []
    text = ""
    for name, description in [*columns.items(), ("", "end")]:
        if description and names:
            yield f"- {', '.join(f'**`{name}`**' for name in names)}: {text}"
            names = []
        text = " ".join(paragraphs(description)) if description else text
        names.append(name)
