"""All that the lab takes from Hydra's private parts, and why it has to.

Hydra tells the public how to write an application of its own; the lab has its own command line,
composes several configurations in one process, and wants to answer bad input in one line. A new
version of Hydra may move any of this, so ``pyproject.toml`` allows none that has not been tried.

Importing this takes a quarter of a second: who needs it only sometimes imports it late.
"""

from __future__ import annotations

import functools
import os
import pickle
import re
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import hydra
from hydra._internal.config_loader_impl import ConfigLoaderImpl, get_overrides_dirname
from hydra._internal.core_plugins.basic_sweeper import BasicSweeper
from hydra._internal.utils import get_args_parser
from hydra.core.global_hydra import GlobalHydra
from hydra.core.hydra_config import HydraConfig
from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.core.override_parser.types import Override
from hydra.errors import HydraException
from omegaconf import DictConfig

from othello_lab.agents import loading
from othello_lab.agents.conf_folder import conf_folder
from othello_lab.core.system.settings import ConfigError

VERSION_BASE = "1.3"  # of Hydra, whose defaults are used


# ---------------------------------------------------------------------- the command line


command_line_parser = get_args_parser
"""The parser of Hydra's options (``--cfg``, ``--multirun``, ...): private, but ``run`` has to know
which of them it is given before Hydra takes over."""


def hand_over(program: str, arguments: Sequence[str], task: Callable[[DictConfig], Any]) -> None:
    """Let Hydra's own command line do the rest. Public, but it reads ``sys.argv`` alone."""
    sys.argv = [program, *with_targets(arguments)]
    main = hydra.main(config_path=str(conf_folder()), config_name="run", version_base=VERSION_BASE)
    main(task)()


def parse(override: str) -> Override:
    """What a word such as ``depth=1,2`` says; raises ConfigError. There is no public parser, and a
    second one of our own would differ."""
    try:
        return OverridesParser.create().parse_override(override)
    except HydraException as error:
        why = str(error).splitlines()[0]
        raise ConfigError(f"cannot read '{override}': {why}") from error


def all_values(override: str) -> list[str]:
    """All that an override of a sweep says: ``depth=1,2`` says ``depth=1`` and ``depth=2``. Raises
    ConfigError.

    Private, but it is what Hydra's own sweeps do, which those of the lab only extend.
    """
    try:
        return [words[0] for words in BasicSweeper.split_arguments([parse(override)], None)[0]]
    except HydraException as error:
        raise ConfigError(
            f"{override}: that is for a search over settings, hydra/sweeper=optuna"
        ) from error


def with_targets(words: Sequence[str]) -> list[str]:
    """Overrides in which an agent is named by its class, ``agent@first=./mine.py:Corners``, as
    Hydra understands them: it has no file for such an agent, whose settings are all new to it.
    ConfigError for a file without the name of a class.

    >>> with_targets(["agent@first=./mine.py:Corners", "first.depth=3", "games=2"])
    ['~agent@first', "++first._target_='./mine.py:Corners'", '++first.depth=3', 'games=2']
    """
    told, places = [], []
    for word in words:
        if re.fullmatch(r"\+?agent@[^=]+=.*\.py", word):
            raise ConfigError(f"{word}: which class of that file? {word}:NAME is needed")
        found = re.fullmatch(r"(\+?)agent@([^=]+)=.*:.*", word, re.DOTALL)
        target = parse(word).value() if found else None
        if found is None or not isinstance(target, str):
            told.append(word)
            continue
        places.append(f"{found[2]}.")
        if not found[1]:  # another one stands there
            told.append(f"~agent@{found[2]}")
        escaped = target.replace("\\", "\\\\").replace("'", "\\'")
        told.append(f"++{found[2]}._target_='{escaped}'")
    return [f"++{word}" if word.startswith(tuple(places)) else word for word in told]


# ---------------------------------------------------------------------- composing


def compose(
    config_name: str | None, overrides: Sequence[str] = (), folders: Sequence[Path] = ()
) -> DictConfig:
    """Compose ``conf/<config_name>.yaml``, with Hydra's own node in it; raises HydraException.

    folders: further ones, searched after the project's own. The public function needs a Hydra that
    was cleared of what was composed before, and does not make ``${hydra:...}`` ask the result.
    """
    overrides = with_targets(overrides)
    if folders:
        paths = ",".join(f"'file://{folder.resolve()}'" for folder in folders)
        config = _compose_anew(config_name, [*overrides, f"hydra.searchpath=[{paths}]"])
    else:
        config = _composed(config_name, overrides)
    HydraConfig.instance().set_config(config)
    return config


def _composed(config_name: str | None, overrides: list[str]) -> DictConfig:
    """Composing takes Hydra 70 ms, nearly all for the choices of files. So what was composed of
    the same choices and the same files is taken again, and only single settings are set anew, by
    Hydra's private function for that."""
    parsed = OverridesParser.create().parse_overrides(overrides)
    if any(override.is_sweep_override() for override in parsed):
        return _compose_anew(config_name, overrides)  # which is refused
    choices = tuple(each.input_line for each in parsed if _chooses_files(each))
    config = pickle.loads(_remembered(config_name, choices, _files()))
    rest = [override for override in parsed if not _chooses_files(override)]
    ConfigLoaderImpl._apply_overrides_to_config(rest, config)
    # Hydra's own node tells what was asked for, and where.
    ours = [override for override in parsed if not override.is_hydra_override()]
    written = config.hydra.job.config.override_dirname
    config.hydra.overrides.task = [override.input_line for override in ours]
    config.hydra.job.override_dirname = get_overrides_dirname(
        ours, written.exclude_keys, written.item_sep, written.kv_sep
    )
    config.hydra.runtime.cwd = os.getcwd()
    return config


def _compose_anew(config_name: str | None, overrides: Sequence[str]) -> DictConfig:
    GlobalHydra.instance().clear()
    with hydra.initialize_config_dir(str(conf_folder()), version_base=VERSION_BASE):
        return hydra.compose(config_name, list(overrides), return_hydra_config=True)


def _chooses_files(override: Override) -> bool:
    """Whether an override chooses a file of a group, or something of Hydra's."""
    is_group = override.is_hydra_override() or (conf_folder() / override.key_or_group).is_dir()
    return is_group and not isinstance(override.value(), dict)


@functools.lru_cache(maxsize=256)
def _remembered(config_name: str | None, choices: tuple[str, ...], files: object) -> bytes:
    """A configuration, pickled, so that nobody can change what another one gets. files: the state
    of all that it is made of."""
    return pickle.dumps(_compose_anew(config_name, choices))


def _files() -> tuple[tuple[str, int], ...]:
    """The project's YAMLs and when they were changed last."""
    return tuple((str(path), path.stat().st_mtime_ns) for path in conf_folder().rglob("*.yaml"))


# ---------------------------------------------------------------------- building


def maker(target: str) -> Callable[..., Any]:
    """What ``_target_`` names, to be called. Raises InstantiationException.

    It is asked of ``instantiate``, which since Hydra 1.3.8 refuses dangerous ones such as
    ``os.system``; but without the settings, in which it would look for interpolations, twice. What
    stands in a file, ``./mine.py:Corners``, is not asked for: Hydra knows no files.
    """
    if ".py:" in target:
        return loading.named(target)
    made: Callable[..., Any] = hydra.utils.instantiate(
        {"_target_": target.replace(":", "."), "_partial_": True}
    )
    return made
