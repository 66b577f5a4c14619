"""The features of composites and line-ups, as the classes of this package's modules declare them.

The modules are imported when somebody first asks, so that each of them may import this one.
"""

from __future__ import annotations

import functools
import importlib
import pkgutil
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from othello_lab.agents.evaluation.evaluation import Evaluation, Feature

_PACKAGE = __name__.rpartition(".")[0]


class Features(Mapping[str, Callable[[], Evaluation]]):
    """Functions that make the features, by name, sorted."""

    @functools.cached_property
    def declared(self) -> dict[str, tuple[type[Evaluation], Feature]]:
        """Each feature's class and declaration; raises ValueError if two have one name."""
        declared: dict[str, tuple[type[Evaluation], Feature]] = {}
        for module in pkgutil.iter_modules([str(Path(__file__).parent)]):
            name = f"{_PACKAGE}.{module.name}"
            for kind in vars(importlib.import_module(name)).values():
                if getattr(kind, "__module__", "") != name:
                    continue  # imported from another module
                for feature in vars(kind).get("as_features", ()) if isinstance(kind, type) else ():
                    if feature.name in declared:
                        raise ValueError(f"two heuristics declare the feature '{feature.name}'")
                    declared[feature.name] = (kind, feature)
        return dict(sorted(declared.items()))

    def in_line_ups(self) -> list[str]:
        """Return the names of those in the line-ups of all heuristics, in their order there."""
        places = {name: feature.order for name, (_, feature) in self.declared.items()}
        return sorted((name for name, number in places.items() if number), key=places.__getitem__)

    def __getitem__(self, name: str) -> Callable[[], Evaluation]:
        kind, feature = self.declared[name]
        return functools.partial(kind, **feature.settings)

    def __iter__(self) -> Iterator[str]:
        return iter(self.declared)

    def __len__(self) -> int:
        return len(self.declared)


FEATURES = Features()
"""What a composite can be made of, by the name its weight has."""
