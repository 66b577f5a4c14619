"""How agents and evaluations are written in YAML, found, and built.

Every knob is a YAML in ``conf/``, in Hydra groups: ``conf/agent/alphabeta.yaml`` says which class
an agent is (``_target_``) and its settings. A setting written ``???`` is left open: whoever
composes the configuration fills it (a run fills ``depth`` and ``evaluation``). The same files
serve every package that needs agents.
"""

from __future__ import annotations

import copy
import inspect
import pkgutil
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import yaml

from othello_lab.agents import loading
from othello_lab.agents.agent import Agent
from othello_lab.agents.conf_folder import FILLED, NAMED, NEEDS_A_TARGET, check_folders, conf_folder
from othello_lab.agents.evaluation import Evaluation
from othello_lab.core.rules import RULESETS
from othello_lab.core.system.renamed import new_name
from othello_lab.core.system.settings import (
    Choice,
    ConfigError,
    SettingError,
    as_yaml,
    nearest,
    unknown_choice,
)

# Hydra, in hydra_parts, is imported where it is needed: it takes a quarter of a second, and most
# that import this module, workers among them, only build.

OPEN = "???"
"""OmegaConf's mark of a setting left open."""


@dataclass
class RulesetConfig:
    """The rules of a run or a game, by name."""

    name: Annotated[str, Choice(*RULESETS)] = "standard"


def choices(group: str, extra_folders: Sequence[str | Path] = ()) -> dict[str, str]:
    """The options of a group (``"agent"``, ``"evaluation"``, ...) and the first comment line of
    each one's file, by name; those of further folders of YAMLs last. Raises ConfigError."""
    folders = [Path(folder) for folder in extra_folders]
    check_folders(folders)
    found = {}
    for folder in (conf_folder(), *folders):
        for path in sorted((folder / group).glob("*.yaml")):
            lines = path.read_text(encoding="utf-8").splitlines()
            comments = (line[1:].strip() for line in lines if line.startswith("#"))
            found[path.stem] = next((c for c in comments if not c.startswith("@package")), "")
    return found


def one_line(error: BaseException) -> str:
    """An exception's message folded into one line."""
    return " ".join(str(error).split())


def unknown(kind: str, name: str, options: Iterable[str]) -> ConfigError:
    """The error for a name that is not among the options: lists them and the nearest spelling."""
    return ConfigError(unknown_choice(kind, name, sorted(options)))


def literal(data: Any) -> Any:
    """A copy of plain data that OmegaConf reads as it is written: without it ``${oc.env:HOME}`` in
    a string would become the reader's home folder.

    OmegaConf's escape is a backslash before ``${``; those that stand there already are doubled.
    """
    if isinstance(data, str):
        return re.sub(r"(\\*)\$\{", r"\1\1\\${", data)
    if isinstance(data, Mapping):
        return {key: literal(value) for key, value in data.items()}
    if isinstance(data, list | tuple):
        return [literal(value) for value in data]
    return data


# ---------------------------------------------------------------------- composing


def compose(
    config_name: str | None,
    overrides: Sequence[str] = (),
    extra_folders: Sequence[str | Path] = (),
) -> Any:
    """Compose ``conf/<config_name>.yaml``, or nothing, with overrides (``"agents=classics"``).

    extra_folders: further folders of YAMLs, which may not have files named like the project's own.
    Returns an OmegaConf ``DictConfig`` with Hydra's own node ``hydra`` in it, which is also made
    known as the current Hydra configuration. Raises ConfigError.
    """
    from hydra.errors import HydraException
    from omegaconf.errors import OmegaConfBaseException
    from yaml import YAMLError

    from othello_lab.agents import hydra_parts

    folders = [Path(folder) for folder in extra_folders]
    check_folders(folders)
    for word in overrides if config_name else ():
        if found := re.fullmatch(r"\+?agent=(.*)", word):
            raise ConfigError(
                f"{word}: which of them? agents=duel agent@first={found[1]} agent@second=NAME are "
                "two agents; agents=NAME is a line-up"
            )
    try:
        return hydra_parts.compose(config_name, overrides, folders, load)
    except ConfigError:
        raise
    except YAMLError as error:
        raise ConfigError(f"a YAML cannot be read: {one_line(error)}") from error
    except (HydraException, OmegaConfBaseException, TypeError, ValueError) as error:
        explanation = next(_explanations(error, config_name or "run", overrides, folders))
        raise ConfigError(explanation) from error


def _explanations(
    error: Exception, config_name: str, overrides: Sequence[str], folders: Sequence[Path]
) -> Iterator[str]:
    """What Hydra's complaint means in plain words, the most fitting first; at last its own."""
    from hydra.errors import MissingConfigException

    message = one_line(error)
    if isinstance(error, MissingConfigException) and error.options:
        missing = str(error.missing_cfg_file)
        group, _, name = missing.rpartition("/")
        refused = unknown_choice(_KINDS.get(group, group), name, sorted(error.options))
        needed = _EXTRAS.get(missing)
        yield f"{refused} ({name} needs {needed})" if needed else refused
    if found := re.match(r"In '([^']+)': Could not find '([^']+)'", message):
        yield _not_found(found[1], found[2], folders)
    if found := re.match(r"You must specify '([^']+)'.*Available options: (.*)", message):
        yield f"{found[1]}=NAME is needed; choose from {', '.join(found[2].split())}."
    if found := re.match(r"Ambiguous value for argument '([^']+)'", message):
        key, _, values = found[1].partition("=")
        yield f"{found[1]}: several values are for a sweep, run -m; a list is {key}=[{values}]"
    found = re.search(r"(?:Could not override|Key) '([^']*)'", message)
    if found and "is not in struct" in f"{message} {one_line(error.__cause__ or error)}":
        if options := _options_with(found[1]):
            yield f"{found[1]} only goes with {' or '.join(options)}"
        if told := _without_setting(found[1], config_name, overrides, folders):
            yield told
        yield f"unknown setting '{found[1]}'.{nearest(found[1], known_keys(config_name))}"
    if isinstance(error, TypeError) or re.search("group override|Could not load", message):
        for word in overrides:
            group = word.lstrip("+").partition("=")[0]
            if group and choices(group):
                yield f"{word}: one name is needed; choose from {', '.join(choices(group))}"
    for word in overrides:
        if word.startswith("=") or f"override '{word}'" in message:
            if "=zip(" in word:
                yield f"{word}: zip(...) is for a sweep, run -m"
            yield f"cannot read '{word}': settings are written key=value"
    yield message


_KINDS = {"agents": "line-up", "agent": "agent", "evaluation": "evaluation"}
_EXTRAS = {
    "hydra/sweeper/optuna": "the extra optuna of this project",
    "hydra/launcher/joblib": "hydra-joblib-launcher",
}
"""What to install for some of Hydra's plugins."""


def _not_found(file: str, missing: str, folders: Sequence[Path]) -> str:
    """What to say of a YAML's default that is not there."""
    own = file.rpartition("/")[0]
    group, _, name = missing.removeprefix(f"{own}/").rpartition("/")
    if missing.startswith(f"{own}/") and name in choices(group, folders):
        return (
            f"{file}.yaml: {group}@...: {name} is looked for below {own}/; from the top it is "
            f"written with a slash, - /{group}@NAME: {name}"
        )
    return f"{file}.yaml names {missing}.yaml, which is in none of the folders of YAMLs"


def _without_setting(
    key: str, config_name: str, overrides: Sequence[str], folders: Sequence[Path]
) -> str:
    """What to say of ``second.depth`` where ``agent@second=greedy`` has no depth, and of the same
    for an agent of a line-up; else nothing."""
    from othello_lab.agents import hydra_parts

    place, _, setting = key.rpartition(".")
    others = [word for word in overrides if word.lstrip("+~").partition("=")[0] != key]
    try:
        config = hydra_parts.compose(config_name, others, folders, load)
    except Exception:  # something else is wrong as well
        return ""
    if "first" in config and re.match(r"agents\.[^.]+$", place):
        return f"{key}: the agents of a duel are set as first.{setting} and second.{setting}"
    node: Any = config
    described = False  # whether it is part of what describes an object
    for part in place.split("."):
        if node is config.get("agents") and part not in node:
            return f"{key}: {unknown_choice('agent of this line-up', part, node)}"
        node = node.get(part) if isinstance(node, Mapping) else None
        described = described or (isinstance(node, Mapping) and "_target_" in node)
    if not described or not isinstance(node, Mapping):
        return ""
    known = [str(each) for each in node if each != "_target_"]
    chosen = config.hydra.runtime.choices
    has = ", ".join(known) or "none"
    near = nearest(key, [f"{place}.{each}" for each in known])
    if name := chosen.get(f"agent@{place}"):
        return f"{key}: {name} has no setting '{setting}'; it has: {has}.{near}"
    name = f"{place}={chosen[place]}" if place in chosen else place
    return f"unknown setting '{key}'; those of {name}: {has}.{near}"


def _options_with(key: str) -> list[str]:
    """The choices of a group, as ``openings=file``, that have a setting: ``openings.file``."""
    inside, _, name = key.rpartition(".")
    group = inside or "agents"  # some line-ups have settings of their own
    if not (conf_folder() / group).is_dir():
        return []
    # also if it is left open
    return [f"{group}={each}" for each in choices(group) if name in own_settings(group, each)]


def own_settings(group: str, name: str) -> dict[str, Any]:
    """Return the settings of an option of the lab, without those of the options it is composed of:
    those in its file, with the defaults of its class."""
    text = (conf_folder() / group / f"{name}.yaml").read_text(encoding="utf-8")
    settings = yaml.safe_load(text) or {}
    return filled(group, settings.get(group, settings))  # some begin with the group's name


def option_groups() -> list[str]:
    """The groups of which a configuration takes one option each: ``agents``, ``openings``, ..."""
    inside = ("agent", "data", "study", "train")  # are taken by name elsewhere
    groups = (path.name for path in conf_folder().iterdir() if path.is_dir())
    return sorted(name for name in groups if name not in inside)


def known_keys(config_name: str) -> list[str]:
    """All settings of the default configuration, as dotted keys."""
    from omegaconf import OmegaConf

    from othello_lab.agents import hydra_parts

    def walk(node: Mapping[str, Any], prefix: str) -> Iterator[str]:
        for key, value in node.items():
            yield prefix + key
            if isinstance(value, Mapping):
                yield from walk(value, f"{prefix}{key}.")

    plain: Any = OmegaConf.to_container(
        hydra_parts.compose(config_name, (), (), load), resolve=False
    )
    plain.pop("hydra")
    return list(walk(plain, ""))


# ---------------------------------------------------------------------- building


def fill_open(agents: Mapping[str, Mapping[str, Any]], **values: Any) -> tuple[dict, set[str]]:
    """Give the settings that agents leave open (``???``) the values of the same name; those of an
    agent within one (``agent``), too.

    Returns the filled line-up and the names of the values that reached an agent. Raises
    ConfigError for a setting that stays open.
    """
    filled: dict[str, dict[str, Any]] = {}
    used: set[str] = set()
    for name, settings in agents.items():
        if not isinstance(settings, Mapping):
            raise ConfigError(f"agent '{name}' is {settings!r}; a YAML with a _target_ is needed")
        filled[name] = part = dict(copy.deepcopy(settings))
        where = f"agent '{name}'"
        while True:
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
    """The object described by ``settings`` (``_target_`` and its arguments).

    settings: plain data; what is in it in the same form is built first. where: what the error
    message calls it. kind: the class that it has to be of. All that can be checked is checked
    before anything is built. Raises ConfigError.
    """
    if "_target_" not in settings:
        raise ConfigError(f"{where} has no _target_ (the class, as module.Class)")
    _check(settings, where)
    made = _made(settings, where)
    if not isinstance(made, kind):
        raise ConfigError(f"{where}: {settings['_target_']} is no {kind.__name__}; subclass it")
    return made


def _check(node: Any, where: str) -> None:
    """Check all that can be known of settings before anything is built; raises ConfigError."""
    if isinstance(node, list | tuple):
        for number, value in enumerate(node):
            _check(value, f"{where}[{number}]")
    if not isinstance(node, Mapping):
        return
    for key, value in node.items():
        if value == OPEN:
            raise ConfigError(f"{where}.{key} is left open; say {where}.{key}=...")
    if "_target_" in node:
        name = str(node["_target_"])
        try:
            target = resolve(name)
        except Exception as error:
            if ":" in name:  # which is in the message
                raise ConfigError(f"{where}: {one_line(error)}") from error
            cause = one_line(error) + (new_name(name) or loading.searched(error, name))
            raise ConfigError(f"{where}: cannot import _target_ '{name}': {cause}") from error
        _check_names(target, name, [key for key in node if key != "_target_"], where)
    for key, value in node.items():
        _check(value, f"{where}.{key}")


def resolve(target: str) -> Any:
    """What a ``_target_`` names: ``module.Class``, or ``path/to/file.py:Class``."""
    return loading.named(target) if ":" in target else pkgutil.resolve_name(target)


def short_name(target: str) -> str:
    """What an agent given by its class, as a ``_target_`` names it, is called by default."""
    return re.split("[.:]", target)[-1]


def _check_names(target: Any, name: str, given: Sequence[str], where: str) -> None:
    """Check that a class (or a function) has these settings, and needs no others."""
    try:
        arguments = inspect.signature(target).parameters.values()
    except (TypeError, ValueError):
        return  # not all that is written in C tells; Python will say what is wrong
    known = [
        each for each in arguments if each.kind in (each.POSITIONAL_OR_KEYWORD, each.KEYWORD_ONLY)
    ]
    names = [each.name for each in known]
    if not any(each.kind == each.VAR_KEYWORD for each in arguments):
        for key in given:
            if key not in names:
                listed = f"its settings: {', '.join(names)}" if names else "it has none"
                raise ConfigError(
                    f"{where}: {name} has no setting '{key}'; {listed}.{nearest(key, names)}"
                )
    missing = [each.name for each in known if each.default is each.empty and each.name not in given]
    if missing:
        raise ConfigError(f"{where}: {name} needs {', '.join(missing)}")


def _made(node: Any, where: str) -> Any:
    """What settings that have been checked describe; raises ConfigError."""
    from othello_lab.agents import hydra_parts

    if isinstance(node, list | tuple):
        return [_made(value, f"{where}[{number}]") for number, value in enumerate(node)]
    if not isinstance(node, Mapping):
        return node
    values = {key: _made(value, f"{where}.{key}") for key, value in node.items()}
    if "_target_" not in values:
        return values
    try:
        return hydra_parts.maker(values.pop("_target_"))(**values)
    except Exception as error:
        kind = "" if isinstance(error, ValueError | TypeError) else f"{type(error).__name__}: "
        # What can be typed like that is told like that: executor.workers=0.
        setting, _, _ = str(error).partition("=")
        typed = isinstance(error, SettingError) and where.isidentifier() and setting.isidentifier()
        raise ConfigError(f"{where}{'.' if typed else ': '}{kind}{one_line(error)}") from error


def load(group: str, name: str, extra_folders: Sequence[str | Path] = ()) -> dict[str, Any]:
    """Return the settings of ``conf/<group>/<name>.yaml``, or of a file in one of the further
    folders, as plain data, open ones as ``???``.

    A path names an agent by its class (``path/to/file.py:Class``), or an evaluation by its
    function (``path/to/file.py:function``). Raise ConfigError, listing the choices, where there is
    no such file.
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
    if not extra_folders and (alone := _alone(conf_folder() / group / f"{name}.yaml")) is not None:
        return filled(group, alone)
    from omegaconf import OmegaConf

    node: Any = OmegaConf.to_container(
        compose(None, [f"+{group}={name}"], extra_folders), resolve=False
    )
    settings = {str(key): value for key, value in node.get(group, node).items() if key != "hydra"}
    return filled(group, settings)


def filled(group: str, settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings of an option with the defaults of its class, if its group has these."""
    if group not in FILLED:
        return dict(settings)
    return {**settings, **loading.defaults_of(str(settings.get("_target_", ""))), **settings}


def settings_text(
    group: str, name: str, folders: Sequence[str | Path] = (), without: Collection[str] = ()
) -> list[str]:
    """Return the settings of an option as the lines of a YAML: those that its class declares, each
    explained and with its default, then all else that its file says.

    without: settings that are left out unless the file has them.
    """
    paths = (Path(folder, group, f"{name}.yaml") for folder in (conf_folder(), *folders))
    text = next(path for path in paths if path.is_file()).read_text(encoding="utf-8")
    said: Any = yaml.safe_load(text) or {}
    body = text[re.match(r"(#.*\n)*", text).end() :].rstrip().splitlines()  # type: ignore[union-attr]
    settings = said.get(group, said)
    target = settings.get("_target_", "") if isinstance(settings, Mapping) else ""
    if not target.startswith("othello_lab."):
        return body
    left_out = set(without) - set(settings)
    lines = as_yaml(resolve(target), {**settings}, left_out)
    if settings is said:
        return lines
    block = re.compile(rf"^{group}:\n(?:[ ].*\n|\n(?=[ ]))*", re.MULTILINE)
    rest = block.sub("", "\n".join([*body, ""])).strip("\n").splitlines()
    return [*rest, f"{group}:", *(f"  {line}" for line in lines)]


def _alone(path: Path) -> dict[str, Any] | None:
    """What a YAML says, or None if that takes Hydra: it is part of others, or cannot be read.
    Composing a single file takes Hydra 60 ms."""
    from omegaconf import OmegaConf
    from omegaconf.errors import OmegaConfBaseException
    from yaml import YAMLError

    text = path.read_text(encoding="utf-8")
    if "@package" in text or re.search("^defaults:", text, re.MULTILINE):
        return None
    try:
        said = OmegaConf.to_container(OmegaConf.create(text), resolve=False)
    except (OmegaConfBaseException, YAMLError):
        return None
    return {str(key): value for key, value in said.items()} if isinstance(said, dict) else None


def evaluation_settings(name: str, extra_folders: Sequence[str | Path] = ()) -> dict[str, Any]:
    """Return the settings of an evaluation, given by its name or path; see :func:`load`."""
    return load("evaluation", name, extra_folders)


def load_evaluation(name: str, extra_folders: Sequence[str | Path] = ()) -> Evaluation:
    """The evaluation with the :func:`evaluation_settings` of this name; ConfigError."""
    return build(evaluation_settings(name, extra_folders), "evaluation", Evaluation)


def build_agent(settings: Mapping[str, Any], name: str) -> Agent:
    """The agent described by ``settings``; raises ConfigError."""
    return build(settings, f"agent '{name}'", Agent)
