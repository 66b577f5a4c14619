"""Build agents, evaluations and other objects from settings in plain data."""

from __future__ import annotations

import copy
import inspect
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from othello_lab.agents import loading
from othello_lab.agents.composing import FILLED_BY_RUN, OPEN, load
from othello_lab.agents.loading import resolve
from othello_lab.core.rules import RULESETS
from othello_lab.core.system.settings import Choice, ConfigError, SettingError, nearest, one_line

if TYPE_CHECKING:
    from othello_lab.agents.agent import Agent
    from othello_lab.agents.evaluation import Evaluation

# Agents are imported late, as a misspelt setting needs none of them.


@dataclass
class RulesetConfig:
    """The rules of a run or a game, by name."""

    name: Annotated[str, Choice(*RULESETS)] = "standard"


def fill_open(
    agents: Mapping[str, Mapping[str, Any]], by_time: bool | None = False, **values: Any
) -> tuple[dict, set[str]]:
    """Fill the open settings (``???``) of agents with the values of the same name.

    Agents inside agents (``agent``) are filled too. by_time: True if the game's time is limited,
    which then decides the depth that an agent leaves open (``depth_by_time``), as a limit of its
    own does; None if a depth was asked for. Returns the filled line-up and the names of the values
    used. Raises ConfigError for a setting that stays open.
    """
    filled: dict[str, dict[str, Any]] = {}
    used: set[str] = set()
    for name, settings in agents.items():
        if not isinstance(settings, Mapping):
            raise ConfigError(f"agent '{name}' is {settings!r}; a YAML with a _target_ is needed")
        filled[name] = part = dict(copy.deepcopy(settings))
        where, timed = f"agent '{name}'", by_time
        while True:
            if timed is False:
                timed = any(part.get(key) for key in ("seconds", "cpu_seconds"))
            if timed and part.get("depth") == OPEN and part.get("iterative") is True:
                part |= {"depth_by_time": True}
            for key in [key for key, value in part.items() if value == OPEN]:
                if values.get(key) is None:
                    raise ConfigError(f"{where} leaves '{key}' open, and nothing fills it")
                part[key] = copy.deepcopy(values[key])
                used.add(key)
            if not isinstance(part.get("agent"), dict):
                break
            part, where = part["agent"], f"{where}.agent"
    return filled, used


def build(settings: Mapping[str, Any], where: str, kind: type = object) -> Any:
    """Build the object described by ``settings`` (``_target_`` and its arguments).

    settings: plain data; objects described inside it are built first. where: the name in error
    messages. kind: the required class. All settings are checked before anything is built. Raises
    ConfigError.
    """
    if "_target_" not in settings:
        raise ConfigError(f"{where} has no _target_ (the class, as module.Class)")
    _check(settings, where)
    target = str(settings["_target_"])
    misplaced = ConfigError(f"{where}: {target} is no {kind.__name__}; subclass it")
    if target.startswith(loading.LAB) and not issubclass(resolve(target), kind):
        raise misplaced  # before it is built
    built = _build(settings, where)
    if not isinstance(built, kind):
        raise misplaced
    return built


def _check(node: Any, where: str) -> None:
    """Check settings as far as possible without building anything; raises ConfigError."""
    if isinstance(node, list | tuple):
        for number, value in enumerate(node):
            _check(value, f"{where}[{number}]")
    if not isinstance(node, Mapping):
        return
    for key, value in node.items():
        if value == OPEN:
            raise ConfigError(f"{where}.{key} is left open; set {where}.{key}=...")
    if "_target_" in node:
        for key in node:
            if not isinstance(key, str):
                raise ConfigError(f"{where}: {key!r} is no name of a setting")
        name = str(node["_target_"])
        try:
            target = resolve(name)
        except Exception as error:
            if ":" in name:  # the message names it already
                raise ConfigError(f"{where}: {one_line(error)}") from error
            cause = one_line(error) + loading.search_hint(error, name)
            raise ConfigError(f"{where}: cannot import _target_ '{name}': {cause}") from error
        _check_names(target, name, [key for key in node if key != "_target_"], where)
    for key, value in node.items():
        _check(value, f"{where}.{key}")


def short_name(target: str) -> str:
    """Return the default name of an agent given by its class, a ``_target_``."""
    return re.split("[.:]", target)[-1]


def _check_names(target: Any, name: str, given: Sequence[str], where: str) -> None:
    """Check that a class (or a function) has these settings and needs no others."""
    try:
        parameters = inspect.signature(target).parameters.values()
    except (TypeError, ValueError):
        return  # some classes in C have no signature; calling them will report the error
    kinds = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    known = [parameter for parameter in parameters if parameter.kind in kinds]
    names = [parameter.name for parameter in known]
    if not any(parameter.kind == parameter.VAR_KEYWORD for parameter in parameters):
        for key in given:
            if key not in names:
                listed = f"its settings: {', '.join(names)}" if names else "it has none"
                raise ConfigError(
                    f"{where}: {name} has no setting '{key}'; {listed}.{nearest(key, names)}"
                )
    required = [parameter.name for parameter in known if parameter.default is parameter.empty]
    missing = [required_name for required_name in required if required_name not in given]
    if missing:
        left = [f"{key}: {OPEN}" for key in missing if key in FILLED_BY_RUN]
        cure = f"; with {' and '.join(left)} in its YAML the run's is taken" if left else ""
        raise ConfigError(f"{where}: {name} needs {' and '.join(missing)}{cure}")


def _build(node: Any, where: str) -> Any:
    """Build the object of checked settings; raises ConfigError."""
    if isinstance(node, list | tuple):
        return [_build(value, f"{where}[{number}]") for number, value in enumerate(node)]
    if not isinstance(node, Mapping):
        return node
    values = {key: _build(value, f"{where}.{key}") for key, value in node.items()}
    if "_target_" not in values:
        return values
    target = values.pop("_target_")
    try:
        if target.startswith(loading.LAB):
            return resolve(target)(**values)
        if ".py:" in target:
            return loading.load_name(target)(**values)
        # Hydra refuses dangerous ones, such as os.system. It does not get the settings, as it would
        # resolve their interpolations a second time.
        from hydra.utils import instantiate

        return instantiate({"_target_": target.replace(":", "."), "_partial_": True})(**values)
    except Exception as error:
        kind = "" if isinstance(error, ValueError | TypeError) else f"{type(error).__name__}: "
        # A setting is named as it is typed: executor.workers=0.
        setting, _, _ = str(error).partition("=")
        as_typed = (
            isinstance(error, SettingError) and where.isidentifier() and setting.isidentifier()
        )
        raise ConfigError(f"{where}{'.' if as_typed else ': '}{kind}{one_line(error)}") from error


def evaluation_settings(name: str, extra_folders: Sequence[str | Path] = ()) -> dict[str, Any]:
    """Return the settings of an evaluation, given by its name or path; see :func:`load`."""
    return load("evaluation", name, extra_folders)


def load_evaluation(name: str, extra_folders: Sequence[str | Path] = ()) -> Evaluation:
    """Build the evaluation of this name or path; raises ConfigError."""
    from othello_lab.agents.evaluation import Evaluation

    return build(evaluation_settings(name, extra_folders), "evaluation", Evaluation)


def build_agent(settings: Mapping[str, Any], name: str) -> Agent:
    """Build the agent described by ``settings``; raises ConfigError."""
    from othello_lab.agents.agent import Agent

    return build(settings, f"agent '{name}'", Agent)
