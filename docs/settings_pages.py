"""The reference of settings, made from the YAMLs in ``conf/`` and the classes that they name."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import MISSING, is_dataclass
from typing import Any

import yaml

from othello_lab.agents.composing import NAMED, OPEN, choices, conf_folder, load
from othello_lab.agents.loading import resolve
from othello_lab.core.system.settings import Constraint, Switch, as_written, documented, paragraphs
from othello_lab.experiments.config import OBJECTS, RunConfig
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
        own = {key: each for key, each in documented(kind).items() if key not in OBJECTS}
        listed = "\n".join(_listed(own, {}))
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
    for name, about in choices(group).items():
        yield f"## {group}={name}"
        yield f"{about}. ([{name}.yaml]({CONF}/{group}/{name}.yaml))"
        yield from _beside(group, name)
        settings = options[name]
        if (target := settings.get("_target_", "")) and targets.count(target) == 1:
            yield "\n".join(_listed(documented(resolve(target)), settings, f"{group}."))
        elif target:
            own = {key: value for key, value in settings.items() if key != "_target_"}
            words = ", ".join(f"`{key}={as_written(value):.60}`" for key, value in own.items())
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
    listed = [key for each in content.get("defaults", []) if isinstance(each, dict) for key in each]
    players = [key.partition("@")[2] for key in listed if key.startswith("/agent@")]
    if group == "agents" and players:
        yield f"Players: {', '.join(f'`{player}`' for player in players)}."
    if group in content:
        others = {key: each for key, each in content.items() if key not in (group, "defaults")}
        words = ", ".join(f"`{key}={as_written(each)}`" for key, each in others.items())
        if words:
            yield f"It also sets {words}."


def _listed(settings: Any, values: Mapping[str, Any], above: str = "") -> Iterator[str]:
    """Yield a line of a list for each setting: name, default, meaning and range."""
    for name, setting in settings.items():
        value = values.get(name, setting.default)
        if is_dataclass(value) and not isinstance(value, type):
            yield from _listed(documented(type(value)), {}, f"{above}{name}.")
            continue
        about = re.sub(r"\bNone\b", "null", " ".join(paragraphs(setting.text)))
        constraint = setting.note(Constraint)
        if constraint is not None and not isinstance(constraint, Switch):
            needed = constraint.needed.removeprefix("a list is needed, of which ").rstrip(",")
            about = f"{about} *{needed[:1].upper()}{needed[1:]}.*"
        default = "to be given" if value in (MISSING, OPEN) else f"default `{as_written(value)}`"
        yield f"- **`{above}{name}`**, {default}. {about}"
