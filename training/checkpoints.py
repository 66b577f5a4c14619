"""Checkpoints: states of a training in files that can be read again without running any code."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from othello_lab.core.system.files import MOST_DATA, make_folder, open_file, write_file
from othello_lab.core.system.settings import ConfigError, one_line

_PLAIN, _BYTES = "plain.json", "bytes of "


def write_state(path: Path, state: Mapping[str, Any]) -> None:
    """Write a state: arrays of numbers, bytes, and JSON values, by name. An interruption leaves the
    file with this state, or with the one before."""
    arrays = {name: value for name, value in state.items() if isinstance(value, np.ndarray)}
    for name, value in state.items():
        if isinstance(value, bytes):
            arrays[_BYTES + name] = np.frombuffer(value, dtype=np.uint8)
    rest = {name: state[name] for name in state if name not in arrays}
    plain = {name: value for name, value in rest.items() if not isinstance(value, bytes)}
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr(_PLAIN, json.dumps(plain))
        for name, array in arrays.items():
            content = io.BytesIO()
            np.save(content, array, allow_pickle=False)
            archive.writestr(f"{name}.npy", content.getvalue())
    make_folder(path.parent)
    write_file(path, packed.getvalue(), durable=True)


def read_state(path: Path) -> dict[str, Any] | None:
    """The state in a file, None where there is no such file; ConfigError for a damaged one."""
    try:
        with open_file(path) as file, zipfile.ZipFile(file) as archive:
            if sum(packed.file_size for packed in archive.infolist()) > MOST_DATA:
                raise ValueError(f"more than {MOST_DATA:,} bytes in it")
            state: dict[str, Any] = json.loads(archive.read(_PLAIN))
            for name in archive.namelist():
                if name != _PLAIN:
                    content = io.BytesIO(archive.read(name))
                    array = np.load(content, allow_pickle=False)
                    key = name.removesuffix(".npy")
                    of_bytes = key.startswith(_BYTES)
                    state[key.removeprefix(_BYTES)] = array.tobytes() if of_bytes else array
            return state
    except FileNotFoundError:
        return None
    except Exception as error:  # of the archive, of its parts, of numpy's format
        why = f"no checkpoint that can be read ({one_line(error):.300})"
        raise ConfigError(f"{path}: {why}; delete it to learn again") from error
