"""The YAMLs of ``conf/``: find them, and compose them by Hydra with the words of a command line.

Every choice is a YAML in a group: ``conf/agent/alphabeta.yaml`` names the agent's class
(``_target_``) and its settings. A setting written ``???`` is open: a run fills ``depth`` and
``evaluation``. The same files serve every package that needs agents.

Hydra is imported late: it takes a quarter of a second, and most importers only build.
"""

from __future__ import annotations

import functools
import hashlib
import os
import pickle
import re
import sys
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

from othello_lab.agents import loading
from othello_lab.core.system.files import read_bytes, read_text, write_file
from othello_lab.core.system.foreign_text import storable
from othello_lab.core.system.plain_yaml import checked_text
from othello_lab.core.system.rooms import ROOMS
from othello_lab.core.system.settings import ConfigError, as_yaml, nearest, one_line, unknown_choice
from othello_lab.core.system.user_cache import user_cache

if TYPE_CHECKING:
    from hydra.core.override_parser.types import Override
    from omegaconf import DictConfig

OPEN = "???"
"""OmegaConf's mark of a setting left open."""
FILLED_BY_RUN = ("depth", "evaluation")
"""Settings of an agent that a run fills where they are open."""
NAMED = ("agent", "evaluation")
"""Groups whose options may be the value of a setting of the same name."""
GROUPS_WITH_DEFAULTS = ("data", "executor", "openings", "schedule", "study", "train")
"""Groups whose options get the defaults of their classes. Those of agents and evaluations are in
their YAMLs."""
NEEDS_A_TARGET = "function"
"""The evaluation made of a user's function, its setting ``target``."""
_SCHEMA = "_schema_"  # in a YAML: the dataclass of all its other settings
_UNREAD = ("data", "hydra", "study", "train")  # whose classes read names of agents themselves
_SEAL = hashlib.sha256().digest_size
_KINDS = {"agents": "line-up"}  # names of groups in messages, where they differ


# ---------------------------------------------------------------------- files


def conf_folder() -> Path:
    """Return the folder ``conf/`` of a checkout or of an installed copy; raises ConfigError."""
    here = Path(__file__).resolve().parent.parent
    if (here / "conf" / "run.yaml").is_file():
        return here / "conf"
    raise ConfigError(f"no configuration folder beside {here / 'agents'}; install the lab again")


def check_folders(folders: Sequence[str | Path]) -> list[Path]:
    """Return further folders of YAMLs as paths; raises ConfigError.

    A file named like one of the project's is an error: Hydra looks into the project's folder first
    and would never use it.
    """
    ours = conf_folder()
    for folder in map(Path, folders):
        if not folder.is_dir():
            raise ConfigError(f"--config-dir {folder}: no such folder")
        for name in sorted(path.relative_to(ours) for path in ours.rglob("*.yaml")):
            if (folder / name).is_file() and not (folder / name).samefile(ours / name):
                raise ConfigError(
                    f"--config-dir {folder}: {name} is named like a file of the lab, which would "
                    "be used instead; rename it"
                )
        for group in filter(Path.is_dir, ours.iterdir()):
            for path in sorted((folder / group.name).glob("*.yaml")):
                checked_text(path)
    return [Path(folder) for folder in folders]


def choices(group: str, extra_folders: Sequence[str | Path] = ()) -> dict[str, str]:
    """Return the options of a group (``"agent"``, ``"evaluation"``, ...) with a description each.

    The description is the first comment line of the option's file. Options of further folders of
    YAMLs come last. Raises ConfigError.
    """
    descriptions = {}
    for folder in (conf_folder(), *check_folders(extra_folders)):
        for path in sorted((folder / group).glob("*.yaml")):
            lines = read_text(path).splitlines()
            comments = (line[1:].strip() for line in lines if line.startswith("#"))
            descriptions[path.stem] = next(
                (comment for comment in comments if not comment.startswith("@package")), ""
            )
    return descriptions


def unknown(kind: str, name: str, options: Iterable[str]) -> ConfigError:
    """Return the error for an unknown name, with the options and the nearest spelling."""
    return ConfigError(unknown_choice(kind, name, sorted(options)))


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
    text = "" if extra_folders else read_text(conf_folder() / group / f"{name}.yaml")
    if extra_folders or "@package" in text or re.search("^defaults:", text, re.MULTILINE):
        from omegaconf import OmegaConf

        config: Any = compose(None, [f"+{group}={name}"], extra_folders)
        del config.hydra
        content: Any = OmegaConf.to_container(config, resolve=False)
        content = content.get(group, content)
    else:  # composing a single file takes Hydra 60 ms
        content = yaml.safe_load(text)
    return with_defaults(group, {str(key): value for key, value in content.items()})


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
    body = re.sub(r"\A(#.*\n)*", "", text).rstrip().splitlines()
    settings = content.get(group, content)
    target = settings.get("_target_", "") if isinstance(settings, Mapping) else ""
    if not target.startswith(loading.LAB):
        return body
    left_out = set(without) - set(settings)
    lines = as_yaml(loading.resolve(target), {**settings}, left_out)
    if settings is content:
        return lines
    block = re.compile(rf"^{group}:\n(?:[ ].*\n|\n(?=[ ]))*", re.MULTILINE)
    rest = block.sub("", "\n".join([*body, ""])).strip("\n").splitlines()
    return [*rest, f"{group}:", *(f"  {line}" for line in lines)]


# ---------------------------------------------------------------------- words


def parse(word: str) -> Override:
    """Parse a word of the command line, ``depth=3`` or ``depth=1,2``, by Hydra; ConfigError."""
    from hydra.core.override_parser.overrides_parser import OverridesParser
    from hydra.errors import HydraException

    if not word.startswith("="):
        with suppress(HydraException, RecursionError):
            return OverridesParser.create().parse_override(word)
    if "=zip(" in word:
        raise ConfigError(f"{word}: zip(...) is for a sweep, run -m")
    raise ConfigError(
        f"cannot read '{word}': settings are written key=value, a value with special characters in "
        "quotes"
    )


def all_values(word: str) -> list[str]:
    """Split a word of a sweep: ``depth=1,2`` becomes ``depth=1`` and ``depth=2``; ConfigError."""
    from hydra.core.override_parser.types import Glob

    override = parse(word)
    key, value = override.get_key_element(), override.value()
    if not override.is_sweep_override():
        return [word]
    if isinstance(value, Glob):
        values = value.filter([*choices(override.key_or_group)])
    else:
        values = [*override.sweep_string_iterator()] if override.is_discrete_sweep() else []
    if not values:
        raise ConfigError(f"{word}: a sweep has values to choose from, such as a,b or range(1,5)")
    return [f"{key}={one}" for one in values]


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


_PATH = re.compile(
    r"(\+?)((agent@|evaluation@|evaluation(?==))([^=]*))=(.*:.*|.*\.(?:py|yaml|yml)'?)", re.DOTALL
)


def with_paths(words: Sequence[str]) -> list[str]:
    """Translate words with a path as a choice into Hydra's.

    Hydra has no file for an agent given by its class (``agent@first=./mine.py:Corners``) or its
    YAML (``agent@first=./mine.yaml``), nor does it know the agent's settings. An evaluation given
    by a path is the option ``function`` of its group. Raises ConfigError for a file without the
    name of a class or function, and for a YAML that cannot be read.

    >>> with_paths(["agent@first=./mine.py:Corners", "first.depth=3", "games=2"])
    ['~agent@first', "++first._target_='./mine.py:Corners'", '++first.depth=3', 'games=2']
    >>> with_paths(["evaluation=./mine.py:hollow"])
    ['evaluation=function', "++evaluation.target='./mine.py:hollow'"]
    """
    translated, agents = [], []
    for word in map(_with_quotes, words):
        match = _PATH.fullmatch(word)
        path = parse(word).value() if match else None
        if match is None or not isinstance(path, str):
            translated.append(word)
            continue
        plus, choice, group, where, _ = match.groups()
        if path.endswith(".py"):
            raise ConfigError(loading.without_name(word, group))
        if group == "agent@":
            agents.append(f"{where}.")
            if not plus:  # replaces another agent
                translated.append(f"~{choice}")
            is_yaml = path.endswith((".yaml", ".yml"))
            settings = _read_yaml(path) if is_yaml else {"_target_": path}
            translated += [f"++{where}.{key}={typed_value(settings[key])}" for key in settings]
        else:
            where = where or "evaluation"
            target = typed_value(path)
            translated += [f"{plus}{choice}={NEEDS_A_TARGET}", f"++{where}.target={target}"]
    return [f"++{word}" if word.startswith(tuple(agents)) else word for word in translated]


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
    from omegaconf import OmegaConf

    try:
        text = checked_text(Path(path).expanduser())
        settings = OmegaConf.to_container(OmegaConf.create(text), resolve=False)
    except OSError as error:
        raise ConfigError(f"{path}: {error.strerror}") from None
    except Exception as error:  # of the YAML, and OmegaConf's own assertions
        reason = one_line(error) or "no settings by name"
        raise ConfigError(f"{path}: {reason:.300}") from None
    if not isinstance(settings, dict) or "_target_" not in settings:
        raise ConfigError(f"{path}: settings with a _target_ (the class) are needed")
    return {str(key): value for key, value in settings.items()}


# ---------------------------------------------------------------------- composing


def compose(
    config_name: str | None, words: Sequence[str] = (), extra_folders: Sequence[str | Path] = ()
) -> DictConfig:
    """Compose ``conf/<config_name>.yaml``, or nothing, with words (``"agents=classics"``).

    Hydra composes the files that the words choose. Single settings are then set in what it
    composed, which is remembered: nearly all of Hydra's time goes to files. A word or a YAML may
    name an evaluation (``first.evaluation=iago``) or an agent inside another one; its settings
    replace the name.

    extra_folders: further folders of YAMLs, without files named like the project's own. Returns the
    configuration with Hydra's own node ``hydra``, and makes it the current one of Hydra. Raises
    ConfigError.
    """
    from hydra.core.hydra_config import HydraConfig
    from hydra.core.utils import setup_globals

    setup_globals()  # ${hydra:...}, ${now:...}; Hydra does so only where it composes
    folders = check_folders(extra_folders)
    for word in words:
        if storable(word) != word:
            raise ConfigError(f"{word}: a word in UTF-8 is needed")
        if config_name and (match := re.fullmatch(r"\+?agent=(.*)", word)):
            raise ConfigError(
                f"{word}: the agent needs a place; agents=duel agent@first={match[1]} "
                "agent@second=NAME are two agents; agents=NAME is a line-up"
            )
    parsed = [parse(word) for word in with_paths(words)]
    for override in parsed:
        if override.is_sweep_override():
            word = str(override.input_line)
            a_list = f"a list is {word.replace('=', '=[', 1)}]"
            raise ConfigError(f"{word}: several values are for a sweep, run -m; {a_list}")
    chosen = [override for override in parsed if _chooses_file(override, folders)]
    files = tuple(str(override.input_line) for override in chosen)
    if folders:
        config = _compose_files(config_name, files, folders)
    else:
        config = pickle.loads(
            _composed_files(config_name, files, tuple(_times(conf_folder(), ".yaml")))
        )
    _replace_names(config, folders)
    _set_all(config, [override for override in parsed if override not in chosen], folders)
    HydraConfig.instance().set_config(config)  # last, as names may have been composed, too
    return config


def plain(config: DictConfig) -> dict[str, Any]:
    """Return a composed configuration as plain data, without Hydra's own node; raises ConfigError
    for a value that refers to nothing."""
    from omegaconf import OmegaConf
    from omegaconf.errors import OmegaConfBaseException

    names = [str(key) for key in config if key != "hydra"]
    try:
        data: Any = OmegaConf.to_container(OmegaConf.masked_copy(config, names), resolve=True)
    except (OmegaConfBaseException, RecursionError) as error:
        raise ConfigError(one_line(error)) from error
    return dict(data)


def _chooses_file(override: Override, folders: Sequence[Path]) -> bool:
    """Return True if an override chooses a file of a group."""
    groups = [folder / override.key_or_group for folder in (conf_folder(), *folders)]
    if override.is_hydra_override():
        raise ConfigError(
            f"{override.input_line}: of Hydra's settings a sweep has only hydra.sweep.dir"
        )
    return any(folder.is_dir() for folder in groups) and not isinstance(override.value(), dict)


def _times(folder: Path, ending: str) -> list[tuple[str, int]]:
    """Return the files below a folder whose names end so, with the times of their last change."""
    files = [os.path.join(above, name) for above, _, names in os.walk(folder) for name in names]
    return sorted((file, os.stat(file).st_mtime_ns) for file in files if file.endswith(ending))


@functools.cache
def _sources() -> tuple[object, ...]:
    """Return versions and sources of all that composes, as this process first found them."""
    import hydra
    import omegaconf

    lab = [_times(conf_folder().parent / room, ".py") for room in ROOMS]
    return sys.version, hydra.__version__, omegaconf.__version__, lab


@functools.lru_cache(maxsize=256)
def _composed_files(config_name: str | None, words: tuple[str, ...], yamls: object) -> bytes:
    """Return a configuration, pickled. It is kept on disk for later commands: composing takes
    Hydra 70 ms, and importing the classes whose defaults it takes in more. yamls: their state."""
    key = repr((config_name, words, yamls, _sources()))
    file = user_cache() / "compositions" / hashlib.sha256(key.encode()).hexdigest()[:32]
    with suppress(OSError):
        content = read_bytes(file)
        if hashlib.sha256(content[_SEAL:]).digest() == content[:_SEAL]:
            return content[_SEAL:]
    composed = pickle.dumps(_compose_files(config_name, words, ()))
    with suppress(OSError):  # the next process composes anew
        file.parent.mkdir(parents=True, exist_ok=True)
        write_file(file, hashlib.sha256(composed).digest() + composed)
    return composed


def _compose_files(
    config_name: str | None, words: Sequence[str], folders: Sequence[Path]
) -> DictConfig:
    """Return what Hydra composes of files, with the defaults of classes. Raises ConfigError."""
    import hydra
    from hydra.errors import HydraException
    from omegaconf import OmegaConf
    from omegaconf.errors import OmegaConfBaseException

    _store_heuristics()
    path = [f"file://{folder.resolve()}" for folder in folders]
    searched = [f"hydra.searchpath={typed_value(path)}"] if path else []
    try:
        with hydra.initialize_config_dir(str(conf_folder()), version_base="1.3"):
            config = hydra.compose(config_name, [*words, *searched], return_hydra_config=True)
    except (HydraException, OmegaConfBaseException, RecursionError, TypeError, ValueError) as error:
        explanation = next(_explanations(error, words, folders))
        raise ConfigError(explanation) from error
    except (yaml.YAMLError, OSError) as error:  # the latter for a lone number
        raise ConfigError(f"a YAML cannot be read: {one_line(error)}") from error
    OmegaConf.set_struct(config, False)
    _fill(config, loading.defaults_of(str(config.pop(_SCHEMA, ""))))
    for key in GROUPS_WITH_DEFAULTS:
        if "_target_" in (config.get(key) or ()):
            _fill(config[key], loading.defaults_of(str(config[key]._target_)))
    return config


@functools.cache
def _store_heuristics() -> None:
    """Store what the classes of heuristics declare: the YAMLs take it in by their ``defaults``."""
    from hydra.core.config_store import ConfigStore

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


def _fill(node: Any, defaults: Mapping[str, Any]) -> None:
    """Add defaults to a part of a configuration for settings without a value."""
    for name, value in defaults.items():
        if name not in node:
            node[name] = value
        elif isinstance(value, Mapping) and value and isinstance(node[name], Mapping):
            _fill(node[name], value)


def _replace_names(node: DictConfig, folders: Sequence[Path], above: str = "") -> None:
    """Replace every bare name of an agent or evaluation by its settings."""
    from omegaconf import OmegaConf

    for key in map(str, list(node)):
        if OmegaConf.is_interpolation(node, key) or OmegaConf.is_missing(node, key):
            continue
        value, where = node[key], f"{above}{key}"
        if key in NAMED and isinstance(value, str) and ("_target_" in node or not above):
            try:
                node[key] = load(key, value, folders)
            except ConfigError as error:
                raise ConfigError(f"{where}: {error}") from error
        elif isinstance(value, Mapping) and where not in _UNREAD:
            _replace_names(node[key], folders, f"{where}.")


def _set_all(config: DictConfig, overrides: Sequence[Override], folders: Sequence[Path]) -> None:
    """Set single settings, in their order; raises ConfigError."""
    from omegaconf.errors import OmegaConfBaseException

    for override in overrides:
        try:
            _set(config, override, folders)
        except (OmegaConfBaseException, RecursionError) as error:
            raise ConfigError(f"{override.input_line!s:.100}: {one_line(error):.200}") from error


def _set(config: DictConfig, override: Override, folders: Sequence[Path]) -> None:
    """Set a single setting, as Hydra does: ``key=value`` one that is there, ``+key=value`` a new
    one, ``++key=value`` either; ``~key`` removes it."""
    from omegaconf import OmegaConf

    key, value = override.key_or_group, override.value()
    *steps, name = key.split(".")
    adds = override.is_add() or override.is_force_add()
    node: Any = config
    for depth, step in enumerate(steps):
        in_duel = OmegaConf.is_interpolation(node, step)
        if in_duel or not isinstance(node.get(step), Mapping):
            if in_duel or not adds:
                raise ConfigError(_no_setting(config, key, steps[:depth], step))
            node[step] = {}
        node = node[step]
    is_there = name in [*node]  # an open one, too
    replaces = override.is_add() and is_there and not isinstance(value, dict | list)
    if replaces and (OmegaConf.is_interpolation(node, name) or node[name] is not None):
        raise ConfigError(f"{override.input_line}: it is there already; {key}=... sets it")
    if not adds and not is_there:
        raise ConfigError(_no_setting(config, key, steps, name))
    if override.is_delete() and value not in (None, node[name]):
        raise ConfigError(f"{override.input_line}: it is {node[name]}; ~{key} removes it")
    if override.is_delete():
        del node[name]
    else:
        OmegaConf.update(config, key, value, merge=True, force_add=True)
    if name in NAMED or isinstance(value, dict):
        _replace_names(config, folders)


def _no_setting(config: DictConfig, key: str, steps: Sequence[str], name: str) -> str:
    """Return the message for a setting that is not there. steps: to the part of the configuration
    that should have it. name: what that part lacks."""

    where, node, in_object = ".".join(steps), config, False
    for step in steps:
        node = node[step]
        in_object = in_object or "_target_" in node
    group = where or "agents"  # some line-ups have settings of their own
    if (conf_folder() / group).is_dir():
        options = [option for option in choices(group) if name in own_settings(group, option)]
        if options and name not in node:
            return f"{key} only goes with {' or '.join(f'{group}={option}' for option in options)}"
    known = [str(setting) for setting in node if setting != "_target_"]
    if where == "agents" and "first" in config:
        setting = key.rpartition(".")[2]
        return f"{key}: the agents of a duel are set as first.{setting} and second.{setting}"
    if where == "agents" and name not in known:
        return f"{key}: {unknown_choice('agent of this line-up', name, known)}"
    if in_object and name not in known:
        chosen = config.hydra.runtime.choices
        near = nearest(key, [f"{where}.{setting}" for setting in known])
        has = f"{', '.join(known) or 'none'}.{near}"
        if agent := chosen.get(f"agent@{where}"):
            return f"{key}: {agent} has no setting '{name}'; it has: {has}"
        where = f"{where}={chosen[where]}" if where in chosen else where
        return f"unknown setting '{key}'; those of {where}: {has}"
    return f"unknown setting '{key}'.{nearest(key, dotted_keys(config))}"


def dotted_keys(config: DictConfig) -> list[str]:
    """Return all settings of a configuration, Hydra's apart: ``limits``, ``limits.seconds``."""
    from omegaconf import OmegaConf

    def below(node: Any, prefix: str) -> Iterator[str]:
        for name, value in node.items():
            if f"{prefix}{name}" != "hydra":
                yield f"{prefix}{name}"
                if isinstance(value, Mapping):
                    yield from below(value, f"{prefix}{name}.")

    return [*below(OmegaConf.to_container(config, resolve=False), "")]


def own_settings(group: str, name: str) -> dict[str, Any]:
    """Return the settings of an option of the lab: those in its file, and its class's defaults.

    Settings of the options that it is composed of are left out.
    """
    settings = yaml.safe_load(read_text(conf_folder() / group / f"{name}.yaml")) or {}
    if group != "agents":  # a line-up has its own settings beside the agents
        settings = settings.get(group, settings)  # some begin with the group's name
    return with_defaults(group, settings)


def _explanations(error: Exception, words: Sequence[str], folders: Sequence[Path]) -> Iterator[str]:
    """Yield plain explanations of Hydra's error, the best first, and last Hydra's own message."""
    from hydra.errors import MissingConfigException

    message = one_line(error) or one_line(error.__cause__ or error) or type(error).__name__
    if isinstance(error, MissingConfigException) and error.options:
        group, _, name = str(error.missing_cfg_file).rpartition("/")
        yield unknown_choice(_KINDS.get(group, group), name, sorted(error.options))
    if match := re.match(r"In '([^']+)': Could not find '([^']+)'", message):
        file, missing = match.groups()
        folder = file.rpartition("/")[0]
        group, _, name = missing.removeprefix(f"{folder}/").rpartition("/")
        if missing.startswith(f"{folder}/") and name in choices(group, folders):
            yield (
                f"{file}.yaml: {group}@...: {name} is looked for below {folder}/; from the top it "
                f"is written with a slash, - /{group}@NAME: {name}"
            )
        yield f"{file}.yaml names {missing}.yaml, which is in none of the folders of YAMLs"
    if match := re.match(r"You must specify '([^']+)'.*Available options: (.*)", message):
        yield f"{match[1]}=NAME is needed; choose from {', '.join(match[2].split())}."
    if isinstance(error, TypeError) or re.search("group override|Could not load", message):
        for word in words:
            group = word.lstrip("+").partition("=")[0]
            if group and choices(group):
                yield f"{word}: one name is needed; choose from {', '.join(choices(group))}"
    yield message


def format_config(config: DictConfig) -> str:
    """Return a composed configuration as ``--cfg job`` prints it: all but Hydra's own settings."""
    from omegaconf import OmegaConf

    ours = OmegaConf.masked_copy(config, [str(key) for key in config if key != "hydra"])
    return str(OmegaConf.to_yaml(ours))
