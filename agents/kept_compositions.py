"""Compositions of the project's YAMLs, kept on disk for later commands.

Composing takes Hydra 70 ms, and half a second where it has to import the classes whose defaults it
takes in. A kept composition is read in a millisecond.
"""

from __future__ import annotations

import functools
import hashlib
import sys
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path

import hydra
import omegaconf

from othello_lab.core.system.files import read_bytes, write_file
from othello_lab.core.system.rooms import ROOMS
from othello_lab.core.system.user_cache import user_cache

_SEAL = hashlib.sha256().digest_size


def kept_composition(question: object, conf: Path, compose: Callable[[], bytes]) -> bytes:
    """Return what ``compose`` returned in an earlier process, or else what it returns now.

    question: all that the answer depends on, beside the versions and sources of this lab. conf: the
    folder of its YAMLs.
    """
    state = (question, str(conf), _digest(conf.rglob("*.yaml")), _code())
    file = user_cache() / "compositions" / hashlib.sha256(repr(state).encode()).hexdigest()[:32]
    with suppress(OSError):
        content = read_bytes(file)
        seal, composed = content[:_SEAL], content[_SEAL:]
        if seal == hashlib.sha256(composed).digest():
            return composed
    composed = compose()
    with suppress(OSError):  # the next process composes anew
        file.parent.mkdir(parents=True, exist_ok=True)
        write_file(file, hashlib.sha256(composed).digest() + composed)
    return composed


@functools.cache
def _code() -> tuple[str, ...]:
    """Return the versions of Python, Hydra, OmegaConf and the lab's sources, as this process first
    found them."""
    root = Path(__file__).resolve().parents[1]
    sources = (path for room in ROOMS for path in (root / room).rglob("*.py"))
    return sys.version, hydra.__version__, omegaconf.__version__, _digest(sources)


def _digest(files: Iterable[Path]) -> str:
    digest = hashlib.sha256()
    for path in sorted(files):
        digest.update(f"{path}\0".encode() + read_bytes(path) + b"\0")
    return digest.hexdigest()
