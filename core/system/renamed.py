"""Names that the lab's packages had before they moved below ``othello_lab``."""

from __future__ import annotations

import sys

ROOMS = ("core", "agents", "experiments", "training", "play")
"""The packages below ``othello_lab``. Until version 0.2 all but ``training`` stood at the top."""


def refuse_old_name(package: str) -> None:
    """Raise ImportError if a package of a checkout is imported without ``othello_lab``.

    ``othello-lab`` is allowed. Any other import would load the modules a second time.
    """
    if "." not in package and sys.argv[:1] != ["-m"]:  # Python is about to run package.__main__
        raise ImportError(f"{package} is part of the lab{new_name(package)}", name=package)


def new_name(old: str) -> str:
    """Return a hint with the present name for an old one, such as ``agents.AlphaBeta``, or nothing.

    >>> new_name("agents.AlphaBeta")
    "; since version 0.2 'agents.AlphaBeta' is 'othello_lab.AlphaBeta'"
    >>> new_name("numpy.random")
    ''
    """
    import othello_lab  # for its names

    package, _, rest = old.replace(":", ".").partition(".")
    if package not in ROOMS:
        return ""
    short = rest.rpartition(".")[2]
    new = f"othello_lab.{short if short in dir(othello_lab) else old}"
    return f"; since version 0.2 '{old}' is '{new}'"
