"""The packages below ``othello_lab``."""

from __future__ import annotations

import sys

ROOMS = ("core", "agents", "experiments", "training", "play")
"""Their names. In a checkout their folders stand at the top too."""


def refuse_second_import(package: str) -> None:
    """Raise ImportError if a package of a checkout is imported without ``othello_lab``.

    ``othello-lab`` is allowed. Any other import would load the modules a second time.
    """
    if "." not in package and sys.argv[:1] != ["-m"]:  # Python is about to run package.__main__
        raise ImportError(f"{package} is part of the lab: othello_lab.{package}", name=package)
