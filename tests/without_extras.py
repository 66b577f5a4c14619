"""Run as a program: import every module of the lab as if no extra were installed."""

from __future__ import annotations

import importlib
import importlib.abc
import pkgutil
import re
import sys
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, packages_distributions, requires
from pathlib import Path

from packaging.requirements import Requirement

LAB = "othello-strategy-lab"


def canonical(name: str) -> str:
    """The name of a distribution as all indexes have it."""
    return re.sub(r"[-_.]+", "-", name).lower()


def installed_with(name: str) -> set[str]:
    """A distribution and all that it needs without extras, by their canonical names."""
    names: set[str] = set()
    ahead = [name]
    while ahead:
        distribution = canonical(ahead.pop())
        if distribution in names:
            continue
        names.add(distribution)
        try:
            lines = requires(distribution) or []
        except PackageNotFoundError:  # of another system
            continue
        needed = map(Requirement, lines)
        ahead += [
            one.name for one in needed if not one.marker or one.marker.evaluate({"extra": ""})
        ]
    return names


class Absent(importlib.abc.MetaPathFinder):
    """Hides all packages of distributions that the lab does not bring."""

    def __init__(self) -> None:
        there = installed_with(LAB)
        self._hidden = {
            package
            for package, names in packages_distributions().items()
            if not {canonical(name) for name in names} & there
        }

    def find_spec(self, name, path=None, target=None):  # type: ignore[no-untyped-def]
        if name.partition(".")[0] in self._hidden:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
        return None


def modules(folder: Path, prefix: str) -> Iterator[str]:
    """All modules below a folder, but the ``__main__`` that run."""
    for module in pkgutil.iter_modules([str(folder)], f"{prefix}."):
        if not module.name.endswith("__main__"):
            yield module.name
        if module.ispkg:
            yield from modules(folder / module.name.rpartition(".")[2], module.name)


def main() -> None:
    """Print every module that cannot be imported, with the reason."""
    import othello_lab

    sys.meta_path.insert(0, Absent())
    number = 0
    for name in modules(Path(othello_lab.__file__).parent, "othello_lab"):
        number += 1
        try:
            importlib.import_module(name)
        except ImportError as error:
            print(f"{name}: {error}")
    print(f"{number} modules")


if __name__ == "__main__":
    main()
