"""Composing a configuration once for all tests that ask for it.

Hydra takes 70 ms to compose a run and 40 ms to load an agent, and the tests ask a thousand times,
mostly for one of a few line-ups with other plain values (``depth=3``). Here a line-up is composed
once, and plain values are set on a copy of it, as Hydra sets them. Whatever is not that simple, or
goes wrong, is composed by Hydra.
"""

from __future__ import annotations

import pickle
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

import agents.config
import experiments.config  # noqa: F401  (so that its names are replaced too)

Words = Sequence[str]
composed_by_hydra = agents.config.compose


class Composer:
    """Stands in for ``agents.config.compose``."""

    def __init__(self) -> None:
        self._composed: dict[tuple[str, ...], tuple[bytes, Any]] = {}

    def __call__(self, name: str, overrides: Words = (), folders: Sequence[str | Path] = ()) -> Any:
        from hydra.core.hydra_config import HydraConfig
        from hydra.errors import HydraException
        from omegaconf import OmegaConf
        from omegaconf.errors import OmegaConfBaseException

        try:
            chosen, plain = _told_apart(overrides)
        except HydraException:
            return composed_by_hydra(name, overrides, folders)
        if folders or (not plain and (name, *chosen) not in self._composed):
            config = composed_by_hydra(name, overrides, folders)
            if not folders:
                self._composed[name, *chosen] = pickle.dumps(config), HydraConfig.instance().cfg
            return config
        try:
            if (name, *chosen) not in self._composed:
                self(name, chosen)
            dumped, HydraConfig.instance().cfg = self._composed[name, *chosen]
            config = pickle.loads(dumped)
            for key, value in plain:
                OmegaConf.update(config, key, value, merge=True)
        except (OmegaConfBaseException, TypeError, ValueError):
            return composed_by_hydra(name, overrides)  # for its complaint
        return config


def _told_apart(overrides: Words) -> tuple[list[str], list[tuple[str, Any]]]:
    """The words that choose files or do more than to change a value, and the other ones, parsed."""
    from hydra.core.override_parser.overrides_parser import OverridesParser
    from hydra.core.override_parser.types import OverrideType

    chosen, plain = [], []
    for word in OverridesParser.create().parse_overrides(list(overrides)):
        key = word.key_or_group
        if (
            word.type is OverrideType.CHANGE
            and word.package is None
            and not word.is_sweep_override()
            and not key.startswith("hydra")
            and not (agents.config.conf_folder() / key).is_dir()
        ):
            plain.append((key, word.value()))
        else:
            chosen.append(str(word.input_line))
    return chosen, plain


class Loader:
    """Stands in for ``agents.config.load``."""

    def __init__(self) -> None:
        self._load = agents.config.load
        self._loaded: dict[tuple[Any, ...], bytes] = {}

    def __call__(self, *asked: Any) -> Any:
        if asked not in self._loaded:
            self._loaded[asked] = pickle.dumps(self._load(*asked))
        return pickle.loads(self._loaded[asked])


@contextmanager
def composed_once() -> Iterator[None]:
    """All modules of the lab compose and load through these until the end of the context."""
    replaced: dict[Any, Callable[..., Any]] = {
        agents.config.compose: Composer(),
        agents.config.load: Loader(),
    }
    with pytest.MonkeyPatch.context() as patch:
        for name, module in list(sys.modules.items()):
            if name.split(".")[0] in ("agents", "experiments"):
                for key in ("compose", "load"):
                    stand_in = replaced.get(getattr(module, key, None))
                    if stand_in is not None:
                        patch.setattr(module, key, stand_in)
        yield
