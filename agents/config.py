"""Find, compose and build agents and evaluations from YAML.

Every choice is a YAML in ``conf/``, in Hydra groups: ``conf/agent/alphabeta.yaml`` names the
agent's class (``_target_``) and its settings. A setting written ``???`` is open: the composer of
the configuration fills it (a run fills ``depth`` and ``evaluation``). The same files serve every
package that needs agents.
"""

from __future__ import annotations

import copy
import functools
import inspect
import pkgutil
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import yaml

from othello_lab.agents import loading
from othello_lab.agents.conf_folder import (
    GROUPS_WITH_DEFAULTS,
    NAMED,
    NEEDS_A_TARGET,
    check_folders,
    conf_folder,
)
from othello_lab.core.rules import RULESETS
from othello_lab.core.system.files import read_text
from othello_lab.core.system.foreign_text import storable
from othello_lab.core.system.settings import (
    Choice,
    ConfigError,
    SettingError,
    as_yaml,
    nearest,
    refusal_of,
    unknown_choice,
)

if TYPE_CHECKING:
    from othello_lab.agents.agent import Agent
    from othello_lab.agents.evaluation import Evaluation

# Hydra, in hydra_parts, is imported late, as most importers of this module, workers among them,
# only build. Agents are imported late, as a misspelt setting needs none of them.

_Settings = TypeVar("_Settings")

OPEN = "???"
"""OmegaConf's mark of a setting left open."""
FILLED_BY_RUN = ("depth", "evaluation")
"""Settings of an agent that a run fills where they are open."""


@dataclass
class RulesetConfig:
    """The rules of a run or a game, by name."""

    name: Annotated[str, Choice(*RULESETS)] = "standard"


def choices(group: str, extra_folders: Sequence[str | Path] = ()) -> dict[str, str]:
    """Return the options of a group (``"agent"``, ``"evaluation"``, ...) with a description each.

    The description is the first comment line of the option's file. Options of further folders of
    YAMLs come last. Raises ConfigError.
    """
    folders = [Path(folder) for folder in extra_folders]
    check_folders(folders)
    descriptions = {}
    for folder in (conf_folder(), *folders):
        for path in sorted((folder / group).glob("*.yaml")):
            lines = read_text(path).splitlines()
            comments = (line[1:].strip() for line in lines if line.startswith("#"))
            descriptions[path.stem] = next(
                (comment for comment in comments if not comment.startswith("@package")), ""
            )
    return descriptions


def one_line(error: BaseException) -> str:
    """Fold an exception's message into one line."""
    return " ".join(str(error).split())


def unknown(kind: str, name: str, options: Iterable[str]) -> ConfigError:
    """Return the error for an unknown name, with the options and the nearest spelling."""
    return ConfigError(unknown_choice(kind, name, sorted(options)))


# ---------------------------------------------------------------------- typing


def typed_as(kind: type[_Settings], raw: Mapping[str, Any]) -> _Settings:
    """Return settings in plain data with the types that a dataclass declares; ConfigError. Ranges
    are not checked."""
    from omegaconf import OmegaConf
    from omegaconf.errors import OmegaConfBaseException

    declared: Any = kind
    try:
        settings: Any = OmegaConf.to_object(OmegaConf.merge(_schema(declared), _literal(raw)))
    except OmegaConfBaseException as error:
        key = str(getattr(error, "full_key", None) or "")
        first = str(error).splitlines()[0]
        if "not in" in first and "Key '" in first:
            leaf = first.split("'")[1]
            known = [field.name for field in fields(declared)]
            raise ConfigError(f"unknown setting '{key or leaf}'.{nearest(leaf, known)}") from error
        value: Any = raw
        for part in key.split("."):
            value = value.get(part) if isinstance(value, Mapping) else None
        if "is not a ListConfig" in first:
            raise ConfigError(f"{key}={value}: write a list, {key}=[...]") from error
        refusal = refusal_of(kind, key, value) or f"{key}={value}: {first}"
        raise ConfigError(refusal) from error
    return settings


@functools.cache
def _schema(kind: type) -> Any:
    """A dataclass as OmegaConf sees it: half of the time that typing takes. Not to be changed;
    ``merge`` takes a copy."""
    from omegaconf import OmegaConf

    return OmegaConf.structured(kind)


def _literal(data: Any) -> Any:
    """Copy plain data with OmegaConf's interpolations escaped.

    Otherwise ``${oc.env:HOME}`` in a string would become the reader's home folder. The escape is a
    backslash before ``${``; backslashes already there are doubled.
    """
    if isinstance(data, str):
        return re.sub(r"(\\*)\$\{", r"\1\1\\${", data)
    if isinstance(data, Mapping):
        return {key: _literal(value) for key, value in data.items()}
    if isinstance(data, list | tuple):
        return [_literal(value) for value in data]
    return data


# ---------------------------------------------------------------------- composing


def compose(
    config_name: str | None, overrides: Sequence[str] = (), extra_folders: Sequence[str | Path] = ()
) -> Any:
    """Compose ``conf/<config_name>.yaml``, or nothing, with overrides (``"agents=classics"``).

    extra_folders: further folders of YAMLs, without files named like the project's own. Returns an
    OmegaConf ``DictConfig`` with Hydra's own node ``hydra``, and makes it the current Hydra
    configuration. Raises ConfigError.
    """
    from hydra.errors import HydraException
    from omegaconf.errors import OmegaConfBaseException
    from yaml import YAMLError

    from othello_lab.agents import hydra_parts

    folders = [Path(folder) for folder in extra_folders]
    check_folders(folders)
    for word in overrides:
        if storable(word) != word:
            raise ConfigError(f"{word}: a word in UTF-8 is needed")
    for word in overrides if config_name else ():
        if match := re.fullmatch(r"\+?agent=(.*)", word):
            raise ConfigError(
                f"{word}: the agent needs a place; agents=duel agent@first={match[1]} "
                "agent@second=NAME are two agents; agents=NAME is a line-up"
            )
    try:
        return hydra_parts.compose(config_name, overrides, folders, load)
    except ConfigError:
        raise
    except (HydraException, OmegaConfBaseException, RecursionError, TypeError, ValueError) as error:
        explanation = next(_explanations(error, config_name or "run", overrides, folders))
        raise ConfigError(explanation) from error
    except (YAMLError, OSError) as error:  # the latter for a lone number
        raise ConfigError(f"a YAML cannot be read: {one_line(error)}") from error


def _explanations(
    error: Exception, config_name: str, overrides: Sequence[str], folders: Sequence[Path]
) -> Iterator[str]:
    """Yield plain explanations of Hydra's error, the best first, and last Hydra's own message."""
    from hydra.errors import MissingConfigException, OverrideParseException

    from othello_lab.agents import hydra_parts

    message = one_line(error) or one_line(error.__cause__ or error) or type(error).__name__
    if isinstance(error, MissingConfigException) and error.options:
        missing = str(error.missing_cfg_file)
        group, _, name = missing.rpartition("/")
        yield unknown_choice(_KINDS.get(group, group), name, sorted(error.options))
    if match := re.match(r"In '([^']+)': Could not find '([^']+)'", message):
        yield _missing_default(match[1], match[2], folders)
    if match := re.match(r"You must specify '([^']+)'.*Available options: (.*)", message):
        yield f"{match[1]}=NAME is needed; choose from {', '.join(match[2].split())}."
    if match := re.match(r"Ambiguous value for argument '([^']+)'", message):
        key, _, values = match[1].partition("=")
        yield f"{match[1]}: several values are for a sweep, run -m; a list is {key}=[{values}]"
    match = re.search(r"(?:Could not override|Key) '([^']*)'", message)
    if match and "is not in struct" in f"{message} {one_line(error.__cause__ or error)}":
        if options := _options_with(match[1]):
            yield f"{match[1]} only goes with {' or '.join(options)}"
        if problem := _missing_setting(match[1], config_name, overrides, folders):
            yield problem
        others = [word for word in overrides if _key_of(word) != match[1]]
        known = known_keys(config_name, others, folders)
        yield f"unknown setting '{match[1]}'.{nearest(match[1], known)}"
    if isinstance(error, TypeError) or re.search("group override|Could not load", message):
        for word in overrides:
            group = word.lstrip("+").partition("=")[0]
            if group and choices(group):
                yield f"{word}: one name is needed; choose from {', '.join(choices(group))}"
    if isinstance(error, OverrideParseException):
        yield hydra_parts.unreadable(error.override)
    for word in overrides:
        if word.startswith("=") or f"override '{word}'" in message:
            yield hydra_parts.unreadable(word)
    yield message


_KINDS = {"agents": "line-up"}  # names of groups in messages, where they differ


def _missing_default(file: str, missing: str, folders: Sequence[Path]) -> str:
    """Return the message for a YAML's default that does not exist."""
    folder = file.rpartition("/")[0]
    group, _, name = missing.removeprefix(f"{folder}/").rpartition("/")
    if missing.startswith(f"{folder}/") and name in choices(group, folders):
        return (
            f"{file}.yaml: {group}@...: {name} is looked for below {folder}/; from the top it is "
            f"written with a slash, - /{group}@NAME: {name}"
        )
    return f"{file}.yaml names {missing}.yaml, which is in none of the folders of YAMLs"


def _missing_setting(
    key: str, config_name: str, overrides: Sequence[str], folders: Sequence[Path]
) -> str:
    """Return the message for a setting that its object lacks, or nothing.

    Examples are ``second.depth`` with ``agent@second=greedy``, and an agent of a line-up.
    """
    from othello_lab.agents import hydra_parts

    place, _, setting = key.rpartition(".")
    others = [word for word in overrides if _key_of(word) != key]
    try:
        config = hydra_parts.compose(config_name, others, folders, load)
    except Exception:  # something else is wrong as well
        return ""
    if "first" in config and re.match(r"agents\.[^.]+$", place):
        return f"{key}: the agents of a duel are set as first.{setting} and second.{setting}"
    node: Any = config
    in_object = False  # true below a _target_
    for part in place.split("."):
        if node and node is config.get("agents") and part not in node:
            return f"{key}: {unknown_choice('agent of this line-up', part, node)}"
        node = node.get(part) if isinstance(node, Mapping) else None
        in_object = in_object or (isinstance(node, Mapping) and "_target_" in node)
    if not in_object or not isinstance(node, Mapping):
        return ""
    known = [str(name) for name in node if name != "_target_"]
    chosen = config.hydra.runtime.choices
    has = ", ".join(known) or "none"
    near = nearest(key, [f"{place}.{name}" for name in known])
    if name := chosen.get(f"agent@{place}"):
        return f"{key}: {name} has no setting '{setting}'; it has: {has}.{near}"
    name = f"{place}={chosen[place]}" if place in chosen else place
    return f"unknown setting '{key}'; those of {name}: {has}.{near}"


def _options_with(key: str) -> list[str]:
    """Return the options of a group (``openings=file``) with this setting (``openings.file``)."""
    inside, _, name = key.rpartition(".")
    group = inside or "agents"  # some line-ups have settings of their own
    if not (conf_folder() / group).is_dir():
        return []
    # An open setting counts too.
    return [f"{group}={option}" for option in choices(group) if name in own_settings(group, option)]


def own_settings(group: str, name: str) -> dict[str, Any]:
    """Return the settings of an option of the lab: those in its file, and its class's defaults.

    Settings of the options that it is composed of are left out.
    """
    text = read_text(conf_folder() / group / f"{name}.yaml")
    settings = yaml.safe_load(text) or {}
    if group != "agents":  # a line-up has its own settings beside the agents
        settings = settings.get(group, settings)  # some begin with the group's name
    return with_defaults(group, settings)


def _key_of(override: str) -> str:
    return override.lstrip("+~").partition("=")[0]


def known_keys(
    config_name: str, overrides: Sequence[str] = (), folders: Sequence[Path] = ()
) -> list[str]:
    """Return all settings of a configuration, as dotted keys; none if it cannot be composed."""
    from omegaconf import OmegaConf

    from othello_lab.agents import hydra_parts

    def walk(node: Mapping[str, Any], prefix: str) -> Iterator[str]:
        for key, value in node.items():
            yield prefix + key
            if isinstance(value, Mapping):
                yield from walk(value, f"{prefix}{key}.")

    try:
        composed = hydra_parts.compose(config_name, overrides, folders, load)
    except Exception:  # something else is wrong as well
        return []
    plain: Any = OmegaConf.to_container(composed, resolve=False)
    plain.pop("hydra")
    return list(walk(plain, ""))


# ---------------------------------------------------------------------- building


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


def resolve(target: str) -> Any:
    """Return the object of a ``_target_``: ``module.Class`` or ``path/to/file.py:Class``."""
    if target.startswith(loading.LAB):
        kind = loading.own_class(target)
        if kind is None:
            raise ImportError("it is no class of the lab that settings may name")
        return kind
    if ":" in target:
        return loading.load_name(target)
    loading.check_allowed(target)
    return pkgutil.resolve_name(target)


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
        from othello_lab.agents import hydra_parts

        return hydra_parts.maker(target)(**values)
    except Exception as error:
        kind = "" if isinstance(error, ValueError | TypeError) else f"{type(error).__name__}: "
        # A setting is named as it is typed: executor.workers=0.
        setting, _, _ = str(error).partition("=")
        as_typed = (
            isinstance(error, SettingError) and where.isidentifier() and setting.isidentifier()
        )
        raise ConfigError(f"{where}{'.' if as_typed else ': '}{kind}{one_line(error)}") from error


def load(group: str, name: str, extra_folders: Sequence[str | Path] = ()) -> dict[str, Any]:
    """Return the settings of an option as plain data, open ones as ``???``.

    They come from ``conf/<group>/<name>.yaml`` or from a file in one of the further folders. A path
    names an agent by its class (``path/to/file.py:Class``) or an evaluation by its function
    (``path/to/file.py:function``). Raises ConfigError with the choices if there is no such file.
    """
    if group in NAMED:
        if name.endswith(".py"):
            raise ConfigError(loading.without_name(name, group))
        if ":" in name and group == "agent":
            return {"_target_": name}
        if ":" in name:
            return load(group, NEEDS_A_TARGET) | {"target": name}
    known = choices(group, extra_folders)
    if name not in known:
        raise unknown(_KINDS.get(group, group), name, known)
    path = conf_folder() / group / f"{name}.yaml"
    if not extra_folders and (content := _read_without_hydra(path)) is not None:
        return with_defaults(group, content)
    from omegaconf import OmegaConf

    node: Any = OmegaConf.to_container(
        compose(None, [f"+{group}={name}"], extra_folders), resolve=False
    )
    settings = {str(key): value for key, value in node.get(group, node).items() if key != "hydra"}
    return with_defaults(group, settings)


def with_defaults(group: str, settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings of an option with the defaults of its class, if its group has these."""
    if group not in GROUPS_WITH_DEFAULTS:
        return dict(settings)
    return {**settings, **loading.defaults_of(str(settings.get("_target_", ""))), **settings}


def settings_text(
    group: str, name: str, folders: Sequence[str | Path] = (), without: Collection[str] = ()
) -> list[str]:
    """Return the settings of an option as the lines of a YAML.

    The settings that its class declares come first, explained and with their defaults; the rest of
    the file follows. without: settings to leave out unless the file has them.
    """
    paths = (Path(folder, group, f"{name}.yaml") for folder in (conf_folder(), *folders))
    text = read_text(next(path for path in paths if path.is_file()))
    content: Any = yaml.safe_load(text) or {}
    if group in NAMED and "defaults" in content:  # takes in another file
        content = load(group, name, folders)
    body = text[re.match(r"(#.*\n)*", text).end() :].rstrip().splitlines()  # type: ignore[union-attr]
    settings = content.get(group, content)
    target = settings.get("_target_", "") if isinstance(settings, Mapping) else ""
    if not target.startswith(loading.LAB):
        return body
    left_out = set(without) - set(settings)
    lines = as_yaml(resolve(target), {**settings}, left_out)
    if settings is content:
        return lines
    block = re.compile(rf"^{group}:\n(?:[ ].*\n|\n(?=[ ]))*", re.MULTILINE)
    rest = block.sub("", "\n".join([*body, ""])).strip("\n").splitlines()
    return [*rest, f"{group}:", *(f"  {line}" for line in lines)]


def _read_without_hydra(path: Path) -> dict[str, Any] | None:
    """Read a YAML; None if it needs Hydra, because it is composed of others or cannot be read.

    Composing a single file takes Hydra 60 ms.
    """
    from omegaconf import OmegaConf
    from omegaconf.errors import OmegaConfBaseException
    from yaml import YAMLError

    text = read_text(path)
    if "@package" in text or re.search("^defaults:", text, re.MULTILINE):
        return None
    try:
        content = OmegaConf.to_container(OmegaConf.create(text), resolve=False)
    except (OmegaConfBaseException, YAMLError):
        return None
    if not isinstance(content, dict):
        return None
    return {str(key): value for key, value in content.items()}


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
