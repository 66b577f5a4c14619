"""Files of learned weights with a record of their origin.

``NAME.npz`` holds arrays of numbers. ``NAME.yaml`` is for readers: kind, version and unit of the
weights, the training's command and seed, a hash of its data, its scores. It also holds a hash of
the ``.npz``, so a change of one file alone is noticed.
"""

from __future__ import annotations

import functools
import hashlib
import io
import zipfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import yaml

from othello_lab.agents.evaluation.evaluation import Evaluation
from othello_lab.core.position import Position
from othello_lab.core.rules import RULESETS
from othello_lab.core.system.files import MOST_DATA, make_folder, read_bytes, write_file
from othello_lab.core.system.plain_yaml import read_yaml
from othello_lab.core.system.settings import unknown_choice

SHIPPED = Path(__file__).with_name("shipped")
"""The folder of the weights that come with the lab."""
ARRAYS, ABOUT = ".npz", ".yaml"

VALUES = "values"
"""Key in the YAML of values of fixed positions, see :func:`values_of`."""
_FIXED = (
    "---------------------------OX------XO--------------------------- X",
    "------------------XX------OXO-----XXXO----XOO-----O------------- O",
    "--XXXXX--OOOXX-O-OOOXXOX-OXOXOXXOXXXOXXX--XOXOXX-XXXOOO--OOOOO-- X",
    "XXXXXXX-OOOOOO--OXOXXOXO-OOXOXXOOOXOXXXO-OXXOXO---OOOX--X-OOOOO- O",
)
"""The start, an opening, a midgame and an endgame."""


def values_of(evaluation: Evaluation) -> dict[str, int]:
    """Return an evaluation's values of fixed positions of its board, by OBF line.

    They are stored with shipped weights; a test compares them with the present values.
    """
    if 8 not in evaluation.sides:
        start = Position.start(next(r for r in RULESETS.values() if r.side in evaluation.sides))
        return {start.to_obf(): evaluation(start)}
    return {line: evaluation(Position.from_obf(line)) for line in _FIXED}


def shipped() -> list[str]:
    """Return the names of the weights that come with the lab."""
    return sorted(path.stem for path in SHIPPED.glob(f"*{ARRAYS}"))


@dataclass(frozen=True, eq=False)
class LearnedWeights:
    """The learned weights of an evaluation.

    kind: of evaluation, such as ``patterns``. version: of its features; weights of another version
    mean something else. unit: units of value a disc. arrays: the numbers, by name. about: the
    origin of the weights, plain data.
    """

    kind: str
    version: int
    unit: int
    arrays: Mapping[str, np.ndarray]
    about: Mapping[str, Any] = field(default_factory=dict)

    def write(self, path: str | Path, compressed: bool = True) -> Path:
        """Write ``path`` (its ending is ``.npz``) and its YAML; return the path.

        Compressing the weights of all patterns takes a second or two.
        """
        path = Path(path).with_suffix(ARRAYS)
        content = pack(self.arrays, zipfile.ZIP_LZMA if compressed else zipfile.ZIP_STORED)
        about = {
            "kind": self.kind,
            "version": self.version,
            "unit": self.unit,
            "arrays": {
                name: f"{array.dtype} {'x'.join(map(str, array.shape))}"
                for name, array in sorted(self.arrays.items())
            },
            "sha256": hashlib.sha256(content).hexdigest(),
            **self.about,
        }
        make_folder(path.parent)
        write_file(path, content)
        write_file(path.with_suffix(ABOUT), yaml.safe_dump(about, sort_keys=False, width=100))
        return path

    @classmethod
    def read(
        cls,
        name: str | Path | LearnedWeights,
        kind: str,
        version: int,
        arrays: Iterable[str] = (),
    ) -> LearnedWeights:
        """Read weights that come with the lab, by name, or from a file; or take those given.

        arrays: names of required arrays. Raises ValueError, in one line, for a missing or damaged
        file and for weights of another kind or version.
        """
        if isinstance(name, LearnedWeights):
            return name
        path = Path(name)
        if path.suffix != ARRAYS:
            if str(name) not in shipped():
                problem = unknown_choice("weights", name, shipped())
                raise ValueError(f"{problem} A file's name ends with {ARRAYS}.")
            path = SHIPPED / f"{name}{ARRAYS}"
        about = _read_about(path.with_suffix(ABOUT))
        for key, wanted in (("kind", kind), ("version", version)):
            if about.get(key) != wanted:
                raise ValueError(f"{path}: weights of {key} {about.get(key)}; {wanted} is expected")
        try:
            content = read_bytes(path)
        except OSError as error:
            raise ValueError(f"{path}: {error.strerror}") from error
        if hashlib.sha256(content).hexdigest() != about.get("sha256"):
            raise ValueError(
                f"{path}: the hash (sha256) of its {len(content):,} bytes is not the one in "
                f"{path.stem}{ABOUT}; one of the two was changed or cut off"
            )
        unpacked = dict(_shared(path, content))
        for array in arrays:
            if array not in unpacked:
                raise ValueError(f"{path}: has no array '{array}'; it has {', '.join(unpacked)}")
        rest = {
            key: value
            for key, value in about.items()
            if key not in ("kind", "version", "unit", "arrays", "sha256")
        }
        unit = about.get("unit", 1)
        if type(unit) is not int or unit < 1:
            raise ValueError(
                f"{path.with_suffix(ABOUT)}: unit {unit!r}; a whole number is expected"
            )
        return cls(kind, version, unit, unpacked, rest)

    def shaped(self, name: str, shape: tuple[int, ...]) -> np.ndarray:
        """Return one array; raises ValueError if its shape differs."""
        array = self.arrays[name]
        if array.shape != shape:
            raise ValueError(f"weights: {name} is of shape {array.shape}; {shape} is expected")
        return array

    def whole(self, name: str, shape: tuple[int, ...]) -> np.ndarray:
        """Return one array of whole numbers as int64; raises ValueError as :meth:`shaped`."""
        array = self.shaped(name, shape)
        if array.dtype.kind not in "iu":
            raise ValueError(f"weights: {name} is of {array.dtype}; whole numbers are expected")
        return array.astype(np.int64)

    def short(self, name: str, shape: tuple[int, ...]) -> np.ndarray:
        """Return one array of whole numbers that fit int16; raises ValueError as :meth:`shaped`."""
        array = self.shaped(name, shape)
        if not np.can_cast(array.dtype, np.int16) or array.dtype.kind not in "iu":
            raise ValueError(f"weights: {name} is of {array.dtype}; int16 is expected")
        return array

    def stages(self, name: str, most_empties: int) -> tuple[np.ndarray, int]:
        """Return the stage of the game by number of empty squares, and the number of stages.

        Raises ValueError for a wrong shape or a negative stage.
        """
        stages = self.whole(name, (most_empties + 1,))
        if stages.min() < 0:
            raise ValueError(f"weights: {name}: there is no stage {stages.min()}")
        return stages, int(stages.max()) + 1


def pack(arrays: Mapping[str, np.ndarray], compression: int) -> bytes:
    """Return the bytes of an ``.npz`` without times: equal for equal arrays."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", compression) as archive:
        for name, array in sorted(arrays.items()):
            content = io.BytesIO()
            np.save(content, np.ascontiguousarray(array), allow_pickle=False)
            archive.writestr(zipfile.ZipInfo(f"{name}.npy"), content.getvalue(), compression)
    return packed.getvalue()


def unpack(content: bytes) -> dict[str, np.ndarray]:
    """Return the arrays of an ``.npz``. Raises errors of any kind for a damaged one."""
    with np.load(io.BytesIO(content), allow_pickle=False) as archive:
        if sum(packed.file_size for packed in archive.zip.infolist()) > MOST_DATA:
            raise ValueError(f"more than {MOST_DATA:,} bytes in it")
        return {name: archive[name] for name in archive.files}


@functools.lru_cache(maxsize=4)
def _shared(path: Path, content: bytes) -> dict[str, np.ndarray]:
    """Return the arrays of an ``.npz``. They are read-only, as agents of one process share them:
    decompressing them takes longer than all else of making an agent."""
    try:
        unpacked = unpack(content)
    except Exception as error:  # of the archive, of each way of packing, of numpy's format
        raise ValueError(f"{path}: no file of arrays ({' '.join(str(error).split())})") from error
    for array in unpacked.values():
        array.setflags(write=False)
    return unpacked


def _read_about(path: Path) -> dict[str, Any]:
    try:
        about = read_yaml(path)
    except OSError as error:
        raise ValueError(f"{path}: {error.strerror}") from error
    except ValueError as error:
        raise ValueError(f"{path}: no YAML ({error})") from error
    if not isinstance(about, dict):
        raise ValueError(f"{path}: kind, version and sha256 of weights are expected")
    return about
