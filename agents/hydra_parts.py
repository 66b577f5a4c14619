"""All uses of Hydra's private parts, with the reasons.

Hydra's public interface is for applications that Hydra starts. The lab has its own command line,
composes several configurations in one process, and answers bad input in one line. A new version of
Hydra may move any of these parts, so ``pyproject.toml`` allows only versions that were tried.

Importing this module takes a tenth of a second, so others import it late.
"""

from __future__ import annotations

import functools
import os
import pickle
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import hydra
from hydra._internal.config_loader_impl import ConfigLoaderImpl, get_overrides_dirname
from hydra._internal.core_plugins.basic_sweeper import BasicSweeper
from hydra.core.config_store import ConfigStore
from hydra.core.global_hydra import GlobalHydra
from hydra.core.hydra_config import HydraConfig
from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.core.override_parser.types import Override
from hydra.core.utils import setup_globals
from hydra.errors import HydraException
from omegaconf import DictConfig, OmegaConf, open_dict

from othello_lab.agents import loading
from othello_lab.agents.conf_folder import GROUPS_WITH_DEFAULTS, NAMED, NEEDS_A_TARGET, conf_folder
from othello_lab.agents.kept_compositions import kept_composition
from othello_lab.core.system.plain_yaml import checked_text
from othello_lab.core.system.settings import ConfigError

VERSION_BASE = "1.3"  # of Hydra, for its defaults


# ---------------------------------------------------------------------- words


def parse(override: str) -> Override:
    """Parse a word such as ``depth=1,2``; raises ConfigError.

    Hydra has no public parser, and one of our own would differ.
    """
    try:
        return OverridesParser.create().parse_override(override)
    except HydraException as error:
        raise ConfigError(unreadable(override)) from error


def unreadable(override: str) -> str:
    """Return the refusal of a word that Hydra cannot read. Its own names symbols of its grammar."""
    if "=zip(" in override:
        return f"{override}: zip(...) is for a sweep, run -m"
    return (
        f"cannot read '{override}': settings are written key=value, a value with special "
        "characters in quotes"
    )


def all_values(override: str) -> list[str]:
    """Split an override of a sweep: ``depth=1,2`` becomes ``depth=1`` and ``depth=2``.

    The function is private, but the lab's sweeps extend Hydra's own. Raises ConfigError.
    """
    try:
        return [words[0] for words in BasicSweeper.split_arguments([parse(override)], None)[0]]
    except HydraException as error:
        raise ConfigError(
            f"{override}: a sweep has values to choose from, such as a,b or range(1,5)"
        ) from error


_PATH = re.compile(
    r"(\+?)((agent@|evaluation@|evaluation(?==))([^=]*))=(.*:.*|.*\.(?:py|yaml|yml)'?)", re.DOTALL
)
_YAML = (".yaml", ".yml")


def typed_value(value: Any) -> str:
    """Return plain data as a word of Hydra's language has it.

    >>> print(typed_value({"command": "it's", "boards": [8], "name": None}))
    {command: 'it\\'s', boards: [8], name: null}
    """
    if isinstance(value, Mapping):
        return f"{{{', '.join(f'{key}: {typed_value(part)}' for key, part in value.items())}}}"
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(typed_value, value))}]"
    if isinstance(value, str):
        escaped = value.replace("\\", "\\\\").replace("'", "\\'")
        return f"'{escaped}'"
    return (
        "null" if value is None else str(value).lower() if isinstance(value, bool) else str(value)
    )


def with_paths(words: Sequence[str]) -> list[str]:
    """Translate overrides with a path as a choice into Hydra's words.

    Hydra has no file for an agent given by its class (``agent@first=./mine.py:Corners``) or its
    YAML (``agent@first=./mine.yaml``), nor does it know the agent's settings. An evaluation given
    by a path is the option ``function`` of its group. Raises ConfigError for a file without the
    name of a class or function, and for a YAML that cannot be read.

    >>> with_paths(["agent@first=./mine.py:Corners", "first.depth=3", "games=2"])
    ['~agent@first', "++first._target_='./mine.py:Corners'", '++first.depth=3', 'games=2']
    >>> with_paths(["evaluation=./mine.py:hollow"])
    ['evaluation=function', "++evaluation.target='./mine.py:hollow'"]
    """
    translated, places = [], []
    for word in map(_with_quotes, words):
        match = _PATH.fullmatch(word)
        path = parse(word).value() if match else None
        if match is None or not isinstance(path, str):
            translated.append(word)
            continue
        plus, choice, group, place, _ = match.groups()
        if path.endswith(".py"):
            raise ConfigError(loading.without_name(word, group))
        if group == "agent@":
            places.append(f"{place}.")
            if not plus:  # replaces another agent
                translated.append(f"~{choice}")
            settings = _read_yaml(path) if path.endswith(_YAML) else {"_target_": path}
            translated += [f"++{place}.{key}={typed_value(settings[key])}" for key in settings]
        else:
            place = place or "evaluation"
            target = typed_value(path)
            translated += [f"{plus}{choice}={NEEDS_A_TARGET}", f"++{place}.target={target}"]
    return [f"++{word}" if word.startswith(tuple(places)) else word for word in translated]


def _with_quotes(word: str) -> str:
    """Quote a plain value with ``=`` in it, such as a folder's name; Hydra reads no other.

    >>> print(_with_quotes("results=runs/a=b"), _with_quotes("depth=4"))
    results='runs/a=b' depth=4
    """
    key, _, value = word.partition("=")
    is_plain = "=" in value and not set(value) & set("'\"[]{}()$,")
    return f"{key}={typed_value(value)}" if is_plain else word


def _read_yaml(path: str) -> dict[str, Any]:
    """Return the settings in the YAML of an agent; raises ConfigError."""
    try:
        text = checked_text(Path(path).expanduser())
        settings = OmegaConf.to_container(OmegaConf.create(text), resolve=False)
    except OSError as error:
        raise ConfigError(f"{path}: {error.strerror}") from None
    except Exception as error:  # of the YAML, and OmegaConf's own assertions
        reason = " ".join(str(error).split()) or "no settings by name"
        raise ConfigError(f"{path}: {reason:.300}") from None
    if not isinstance(settings, dict) or "_target_" not in settings:
        raise ConfigError(f"{path}: settings with a _target_ (the class) are needed")
    return {str(key): value for key, value in settings.items()}


# ---------------------------------------------------------------------- composing


SCHEMA = "_schema_"
"""The setting of a configuration that names the dataclass of all other settings."""
_UNREAD = ("data", "hydra", "study", "train")
"""Parts of a configuration whose classes read the names of agents and evaluations themselves."""
Load = Callable[[str, str, Sequence[Path]], dict[str, Any]]
"""A function of a group, an option's name and further folders that returns the settings."""


def compose(
    config_name: str | None, overrides: Sequence[str], folders: Sequence[Path], load: Load
) -> DictConfig:
    """Compose ``conf/<config_name>.yaml``, with Hydra's own node in it.

    Nearly all of Hydra's time goes to the choices of files. Therefore the result for the same
    choices and files is cached, and Hydra's private function sets only single settings anew.
    An override or a YAML may name an evaluation (``first.evaluation=iago``) or an agent inside
    another one; its settings replace the name.

    folders: further ones, searched after the project's own. load: returns an option's settings.
    Raises HydraException, and ConfigError for an unknown name.
    """
    setup_globals()  # functions of YAMLs, ${now:...}; Hydra does so only where it composes anew
    parsed = OverridesParser.create().parse_overrides(with_paths(overrides))
    if any(override.is_sweep_override() for override in parsed):
        _compose_anew(config_name, overrides)  # raises the error
    chooses = [_chooses_files(override, folders) for override in parsed]
    choices = [
        str(override.input_line) for override, choice in zip(parsed, chooses, strict=True) if choice
    ]
    if folders:
        paths = ",".join(f"'file://{folder.resolve()}'" for folder in folders)
        choices.append(f"hydra.searchpath=[{paths}]")
        config = _compose_anew(config_name, choices)
    else:
        config = pickle.loads(_compose_cached(config_name, tuple(choices), _files()))
    _replace_names(config, folders, load)
    for override, choice in zip(parsed, chooses, strict=True):
        if not choice:
            ConfigLoaderImpl._apply_overrides_to_config([override], config)
            leaf = override.key_or_group.rpartition(".")[2]
            if leaf in NAMED or isinstance(override.value(), dict):
                _replace_names(config, folders, load)
    # Hydra's own node records the overrides and the working folder.
    ours = [override for override in parsed if not override.is_hydra_override()]
    written = config.hydra.job.config.override_dirname
    config.hydra.overrides.task = [override.input_line for override in ours]
    config.hydra.job.override_dirname = get_overrides_dirname(
        ours, written.exclude_keys, written.item_sep, written.kv_sep
    )
    config.hydra.runtime.cwd = os.getcwd()
    HydraConfig.instance().set_config(config)
    return config


def _replace_names(config: DictConfig, folders: Sequence[Path], load: Load) -> None:
    """Replace every bare name of an agent or evaluation by its settings."""

    def walk(node: DictConfig, place: str) -> None:
        for key in list(node):
            if OmegaConf.is_interpolation(node, key) or OmegaConf.is_missing(node, key):
                continue
            value, where = node[key], f"{place}{key}"
            if key in NAMED and isinstance(value, str) and ("_target_" in node or not place):
                try:
                    node[key] = load(str(key), value, folders)
                except ConfigError as error:
                    raise ConfigError(f"{where}: {error}") from error
            elif isinstance(value, DictConfig) and where not in _UNREAD:
                walk(value, f"{where}.")

    walk(config, "")


@functools.cache
def _store_heuristics() -> None:
    """Store what the classes of heuristics declare: the YAMLs take it in by their ``defaults``."""
    from othello_lab.agents.evaluation import FEATURES

    store = ConfigStore.instance()
    names = FEATURES.in_line_ups()
    for agent in ("alphabeta", "maximizer"):
        defaults: list[dict[str, str]] = []
        for name in names:
            defaults += [{f"/agent@{name}": agent}, {f"/evaluation@{name}.evaluation": name}]
        store.store(agent, {"defaults": defaults}, "agents/of_each_heuristic")
    weights = dict.fromkeys(FEATURES, 0)
    composite = {"_target_": "othello_lab.agents.evaluation.Composite", "weights": weights}
    store.store("no_features", composite, "evaluation")


def _compose_anew(config_name: str | None, overrides: Sequence[str]) -> DictConfig:
    """Compose by Hydra's public function, after clearing the previous configuration."""
    _store_heuristics()
    GlobalHydra.instance().clear()
    with hydra.initialize_config_dir(str(conf_folder()), version_base=VERSION_BASE):
        config = hydra.compose(config_name, list(overrides), return_hydra_config=True)
    with open_dict(config):
        _fill(config, loading.defaults_of(str(config.pop(SCHEMA, ""))))
        for key in list(config):
            if key in GROUPS_WITH_DEFAULTS and "_target_" in (config[key] or ()):
                _fill(config[key], loading.defaults_of(str(config[key]._target_)))
    return config


def _fill(node: DictConfig, defaults: Mapping[str, Any]) -> None:
    """Add defaults to a part of a configuration for settings without a value."""
    for name, value in defaults.items():
        if name not in node:
            node[name] = value
        elif isinstance(value, Mapping) and value and isinstance(node[name], DictConfig):
            _fill(node[name], value)


def _chooses_files(override: Override, folders: Sequence[Path]) -> bool:
    """Return True if an override chooses a file of a group, or something of Hydra's."""
    places = [folder / override.key_or_group for folder in (conf_folder(), *folders)]
    is_group = override.is_hydra_override() or any(place.is_dir() for place in places)
    return is_group and not isinstance(override.value(), dict)


@functools.lru_cache(maxsize=256)
def _compose_cached(config_name: str | None, choices: tuple[str, ...], files: object) -> bytes:
    """Return a configuration, pickled, so that callers cannot change the cached one.

    files: the state of all its files.
    """

    def compose() -> bytes:
        return pickle.dumps(_compose_anew(config_name, choices))

    if any("hydra" in choice for choice in choices):  # plugins have files elsewhere
        return compose()
    return kept_composition((config_name, choices), conf_folder(), compose)


def _files() -> tuple[tuple[str, int], ...]:
    """Return the project's YAMLs with the time of their last change."""
    return tuple((str(path), path.stat().st_mtime_ns) for path in conf_folder().rglob("*.yaml"))


def format_config(config: DictConfig) -> str:
    """Return a composed configuration as ``--cfg job`` prints it: all but Hydra's own settings."""
    ours = OmegaConf.masked_copy(config, [str(key) for key in config if key != "hydra"])
    return str(OmegaConf.to_yaml(ours))


# ---------------------------------------------------------------------- building


def maker(target: str) -> Callable[..., Any]:
    """Return the callable that ``_target_`` names. Raises InstantiationException.

    ``instantiate`` finds it and, since Hydra 1.3.8, refuses dangerous ones such as ``os.system``.
    It does not get the settings, as it would resolve their interpolations a second time. A class in
    a file, ``./mine.py:Corners``, is loaded without it: Hydra knows no files.
    """
    if ".py:" in target:
        return loading.load_name(target)
    function: Callable[..., Any] = hydra.utils.instantiate(
        {"_target_": target.replace(":", "."), "_partial_": True}
    )
    return function
