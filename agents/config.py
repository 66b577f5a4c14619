"""How agents and evaluations are written in YAML, found, and built.

Every knob is a YAML in ``conf/``, in Hydra groups: ``conf/agent/alphabeta.yaml`` says which class
an agent is (``_target_``) and its settings. A setting written ``???`` is left open: whoever
composes the configuration fills it (a run fills ``depth`` and ``evaluation``). The same files
serve every package that needs agents.
"""

from __future__ import annotations

import copy
import pkgutil
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from agents.base import Agent
from agents.evaluation import Evaluation
from core.settings import nearest, unknown_choice

OPEN = "???"
"""OmegaConf's mark of a setting left open."""


class ConfigError(ValueError):
    """A configuration that cannot be used; the message is one line that names the bad part."""


def conf_folder() -> Path:
    """The folder of the project's YAMLs: ``conf/`` in a checkout, ``othello_lab_conf`` in an
    installed copy."""
    here = Path(__file__).resolve().parent.parent
    for name in ("othello_lab_conf", "conf"):
        if (here / name / "run.yaml").is_file():
            return here / name
    raise ConfigError(f"no configuration folder beside {here / 'agents'}; install the lab again")


def choices(group: str, extra_folders: Sequence[str | Path] = ()) -> dict[str, str]:
    """The options of a group (``"agent"``, ``"evaluation"``, ...) and the first comment line of
    each one's file, by name; those of further folders of YAMLs last."""
    found = {}
    folders = [conf_folder(), *map(Path, extra_folders)]
    for path in (path for folder in folders for path in sorted((folder / group).glob("*.yaml"))):
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


# ---------------------------------------------------------------------- composing


def compose(
    config_name: str | None,
    overrides: Sequence[str] = (),
    extra_folders: Sequence[str | Path] = (),
) -> Any:
    """Compose ``conf/<config_name>.yaml``, or nothing, with overrides (``"agents=classics"``).

    extra_folders: further folders of YAMLs, searched before the project's own.
    Returns an OmegaConf ``DictConfig`` with Hydra's own node ``hydra`` in it, which is also made
    known as the current Hydra configuration. Raises ConfigError.
    """
    from hydra import compose as hydra_compose
    from hydra import initialize_config_dir
    from hydra.core.global_hydra import GlobalHydra
    from hydra.core.hydra_config import HydraConfig
    from hydra.errors import HydraException
    from omegaconf.errors import OmegaConfBaseException
    from yaml import YAMLError

    overrides = list(overrides)
    if extra_folders:
        paths = []
        for folder in extra_folders:
            if not Path(folder).is_dir():
                raise ConfigError(f"--config-dir {folder}: no such folder")
            paths.append(f"'file://{Path(folder).resolve()}'")
        overrides.append(f"hydra.searchpath=[{','.join(paths)}]")
    GlobalHydra.instance().clear()
    try:
        with initialize_config_dir(str(conf_folder()), version_base="1.3"):
            config = hydra_compose(config_name, overrides, return_hydra_config=True)
    except YAMLError as error:
        raise ConfigError(f"a YAML cannot be read: {one_line(error)}") from error
    except (HydraException, OmegaConfBaseException, TypeError, ValueError) as error:
        raise _explain(error, config_name or "run", overrides) from error
    HydraConfig.instance().set_config(config)
    return config


def _explain(error: Exception, config_name: str, overrides: Sequence[str]) -> ConfigError:
    """Hydra's exceptions in the words of someone who typed a command line."""
    from hydra.errors import MissingConfigException

    if isinstance(error, MissingConfigException) and error.missing_cfg_file:
        missing = str(error.missing_cfg_file)
        group, _, name = missing.rpartition("/")
        if error.options:
            refused = unknown(_KINDS.get(group, group), name, error.options)
            needed = _EXTRAS.get(missing)
            return ConfigError(f"{refused} ({name} needs {needed})") if needed else refused
    message = one_line(error)
    if open_choice := re.match(r"You must specify '([^']+)'.*Available options: (.*)", message):
        listed = ", ".join(open_choice[2].split())
        return ConfigError(f"{open_choice[1]}=NAME is needed; choose from {listed}.")
    if several := re.match(r"Ambiguous value for argument '([^']+)'", message):
        key, _, values = several[1].partition("=")
        return ConfigError(
            f"{several[1]}: several values are for a sweep, run -m; a list is {key}=[{values}]"
        )
    if "Could not override" in message or "Key '" in message:
        key = message.split("'")[1]
        if "is not in struct" in f"{message} {one_line(error.__cause__ or error)}":
            keys = _known_keys(config_name)
            options = _options_with(key)
            if options:
                return ConfigError(f"{key} only goes with {' or '.join(options)}")
            return ConfigError(f"unknown setting '{key}'.{nearest(key, keys)}")
    for bad in overrides:
        group = bad.lstrip("+").partition("=")[0]
        misread = isinstance(error, TypeError) or re.search(
            "group override|Could not load", message
        )
        if misread and group and choices(group):
            return ConfigError(
                f"{bad}: one name is needed; choose from {', '.join(choices(group))}"
            )
        if bad.startswith("=") or f"override '{bad}'" in message:
            if "=zip(" in bad:
                return ConfigError(f"{bad}: zip(...) is for a sweep, run -m")
            return ConfigError(f"cannot read '{bad}': settings are written key=value")
    return ConfigError(message)


_KINDS = {"agents": "line-up", "agent": "agent", "evaluation": "evaluation"}
_EXTRAS = {
    "hydra/sweeper/optuna": "the extra optuna of this project",
    "hydra/launcher/joblib": "hydra-joblib-launcher",
}
"""What to install for some of Hydra's plugins."""


def _options_with(key: str) -> list[str]:
    """The choices of a group, as ``openings=file``, that have a setting: ``openings.file``."""
    from omegaconf import OmegaConf

    group, _, name = key.rpartition(".")
    folder = conf_folder() / group
    if not group or not folder.is_dir():
        return []
    found = []
    for path in sorted(folder.glob("*.yaml")):
        settings: Any = OmegaConf.load(path)
        if name in settings.get(group, settings):  # some begin with the group's name
            found.append(f"{group}={path.stem}")
    return found


def _known_keys(config_name: str) -> list[str]:
    """All settings of the default configuration, as dotted keys."""

    def walk(node: Mapping[str, Any], prefix: str) -> Iterable[str]:
        for key, value in node.items():
            yield prefix + key
            if isinstance(value, Mapping):
                yield from walk(value, f"{prefix}{key}.")

    from omegaconf import OmegaConf

    config = compose(config_name)
    plain: Any = OmegaConf.to_container(config, resolve=False)
    plain.pop("hydra")
    return list(walk(plain, ""))


# ---------------------------------------------------------------------- building


def fill_open(agents: Mapping[str, Mapping[str, Any]], **values: Any) -> tuple[dict, set[str]]:
    """Give the settings that agents leave open (``???``) the values of the same name.

    Returns the filled line-up and the names of the values that reached an agent. Raises
    ConfigError for a setting that stays open.
    """
    filled: dict[str, dict[str, Any]] = {}
    used: set[str] = set()
    for name, settings in agents.items():
        if not isinstance(settings, Mapping):
            raise ConfigError(f"agent '{name}' is {settings!r}; a YAML with a _target_ is needed")
        filled[name] = dict(copy.deepcopy(settings))
        for key, value in filled[name].items():
            if value != OPEN:
                continue
            if values.get(key) is None:
                raise ConfigError(f"agent '{name}' leaves '{key}' open, and nothing fills it")
            filled[name][key] = copy.deepcopy(values[key])
            used.add(key)
    return filled, used


def _check_targets(node: Any, where: str) -> None:
    """Find the ``_target_`` that cannot be imported before anything is built: instantiation
    would report it together with a long chain of consequences."""
    if not isinstance(node, Mapping):
        return
    if target := node.get("_target_"):
        try:
            pkgutil.resolve_name(str(target))
        except Exception as error:
            cause = one_line(error)
            raise ConfigError(f"{where}: cannot import _target_ '{target}': {cause}") from error
    for key, value in node.items():
        _check_targets(value, f"{where}.{key}")


def build(settings: Mapping[str, Any], where: str) -> Any:
    """The object described by ``settings`` (``_target_`` and its arguments).

    where: what the error message calls it. Raises ConfigError.
    """
    from hydra.utils import instantiate

    for key, value in settings.items():
        if value == OPEN:
            raise ConfigError(f"{where}.{key} is left open; say {where}.{key}=...")
    if "_target_" not in settings:
        raise ConfigError(f"{where} has no _target_ (the class, as module.Class)")
    _check_targets(settings, where)
    try:
        return instantiate(dict(settings), _convert_="all")
    except Exception as error:
        cause = error.__cause__ if error.__cause__ is not None else error
        kind = "" if isinstance(cause, ValueError | TypeError) else f"{type(cause).__name__}: "
        raise ConfigError(f"{where}: {kind}{one_line(cause)}") from error


def load(group: str, name: str, extra_folders: Sequence[str | Path] = ()) -> dict[str, Any]:
    """The settings of ``conf/<group>/<name>.yaml``, or of a file in one of the further folders, as
    plain data, open ones as ``???``.

    Raises ConfigError, listing the choices, where there is no such file.
    """
    from omegaconf import OmegaConf

    known = choices(group, extra_folders)
    if name not in known:
        raise unknown(_KINDS.get(group, group), name, known)
    node: Any = OmegaConf.to_container(
        compose(None, [f"+{group}={name}"], extra_folders), resolve=False
    )
    return {str(key): value for key, value in node.get(group, node).items() if key != "hydra"}


def load_evaluation(name: str, **settings: Any) -> Evaluation:
    """The evaluation of ``conf/evaluation/<name>.yaml`` with ``settings`` changed; ConfigError."""
    evaluation = build(load("evaluation", name) | settings, "evaluation")
    if not isinstance(evaluation, Evaluation):
        raise ConfigError(f"evaluation {name} is no agents.Evaluation")
    return evaluation


def build_agent(settings: Mapping[str, Any], name: str) -> Agent:
    """The agent described by ``settings``; raises ConfigError."""
    agent = build(settings, f"agent '{name}'")
    if not isinstance(agent, Agent):
        raise ConfigError(f"agent '{name}': {settings['_target_']} is no agents.Agent; subclass it")
    return agent
