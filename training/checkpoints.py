"""Checkpoints: states of a training in files that can be read again without running any code."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from othello_lab.agents.learned.weights import pack, unpack
from othello_lab.core.system.files import make_folder, read_bytes, write_file
from othello_lab.core.system.settings import ConfigError, one_line

_PLAIN, _BYTES = "plain", "bytes of "


def write_state(path: Path, state: Mapping[str, Any]) -> None:
    """Write a state: arrays of numbers, bytes, and JSON values, by name. An interruption leaves the
    file with this state, or with the one before."""
    arrays, plain = {}, {}
    for name, value in state.items():
        if isinstance(value, np.ndarray):
            arrays[name] = value
        elif isinstance(value, bytes):
            arrays[_BYTES + name] = np.frombuffer(value, dtype=np.uint8)
        else:
            plain[name] = value
    arrays[_PLAIN] = np.frombuffer(json.dumps(plain).encode(), dtype=np.uint8)
    make_folder(path.parent)
    write_file(path, pack(arrays, zipfile.ZIP_STORED), durable=True)


def read_state(path: Path) -> dict[str, Any] | None:
    """The state in a file, None where there is no such file; ConfigError for a damaged one."""
    try:
        arrays = unpack(read_bytes(path))
        state: dict[str, Any] = json.loads(arrays.pop(_PLAIN).tobytes())
        for name, array in arrays.items():
            of_bytes = name.startswith(_BYTES)
            state[name.removeprefix(_BYTES)] = array.tobytes() if of_bytes else array
        return state
    except FileNotFoundError:
        return None
    except Exception as error:  # of the archive, of its parts, of numpy's format
        why = f"no checkpoint that can be read ({one_line(error):.300})"
        raise ConfigError(f"{path}: {why}; delete it to learn again") from error
