"""Files of weights: what was learned, and where it came from.

``NAME.npz`` holds arrays of numbers. ``NAME.yaml`` beside it, made for reading, says of what kind
and version they are, in which units, and how they were made: the training's command and seed, a
hash of its data, its scores. It has the hash of the ``.npz`` too, so that neither can change alone.
"""

from __future__ import annotations

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
from othello_lab.core.system.settings import unknown_choice

SHIPPED = Path(__file__).with_name("shipped")
"""The folder of the weights that come with the lab."""
ARRAYS, ABOUT = ".npz", ".yaml"

VALUES = "values"
"""The key of the side file under which it has values of fixed positions, see :func:`values_of`."""
_FIXED = (
    "---------------------------OX------XO--------------------------- X",
    "------------------XX------OXO-----XXXO----XOO-----O------------- O",
    "--XXXXX--OOOXX-O-OOOXXOX-OXOXOXXOXXXOXXX--XOXOXX-XXXOOO--OOOOO-- X",
    "XXXXXXX-OOOOOO--OXOXXOXO-OOXOXXOOOXOXXXO-OXXOXO---OOOX--X-OOOOO- O",
)
"""The start, an opening, a midgame and an endgame."""


def values_of(evaluation: Evaluation) -> dict[str, int]:
    """What an evaluation says of fixed positions of its board, by their OBF lines: kept when it is
    put into the lab, so that a test sees whether it still says so."""
    if 8 not in evaluation.sides:
        start = Position.start(next(r for r in RULESETS.values() if r.side in evaluation.sides))
        return {start.to_obf(): evaluation(start)}
    return {line: evaluation(Position.from_obf(line)) for line in _FIXED}


def shipped() -> list[str]:
    """The names of the weights that come with the lab."""
    return sorted(path.stem for path in SHIPPED.glob(f"*{ARRAYS}"))


@dataclass(frozen=True, eq=False)
class LearnedWeights:
    """What an evaluation has learned.

    kind: of evaluation, such as ``patterns``. version: of its features; weights of another version
    mean something else. unit: a value of so much is one disc. arrays: the numbers, by name.
    about: how they were made, plain data.
    """

    kind: str
    version: int
    unit: int
    arrays: Mapping[str, np.ndarray]
    about: Mapping[str, Any] = field(default_factory=dict)

    def write(self, path: str | Path, compressed: bool = True) -> Path:
        """Write ``path`` (its ending is ``.npz``) and the YAML beside it; gives the former. To
        compress the weights of all patterns takes a second or two."""
        path = Path(path).with_suffix(ARRAYS)
        content = _packed(self.arrays, zipfile.ZIP_LZMA if compressed else zipfile.ZIP_STORED)
        said = {
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
        path.parent.mkdir(parents=True, exist_ok=True)
        for file, text in (
            (path, content),
            (path.with_suffix(ABOUT), yaml.safe_dump(said, sort_keys=False, width=100).encode()),
        ):
            part = file.with_name(f"{file.name}.part")
            part.write_bytes(text)
            part.replace(file)
        return path

    @classmethod
    def read(
        cls, name: str | Path, kind: str, version: int, arrays: Iterable[str] = ()
    ) -> LearnedWeights:
        """The weights that come with the lab under this name, or those of a file.

        arrays: names of those that must be there. Raises ValueError, in one line, for a file that
        is not there or damaged, and for weights of another kind or version.
        """
        path = Path(name)
        if path.suffix != ARRAYS:
            if str(name) not in shipped():
                refused = unknown_choice("weights", name, shipped())
                raise ValueError(f"{refused} A file's name ends with {ARRAYS}.")
            path = SHIPPED / f"{name}{ARRAYS}"
        about = _read_about(path.with_suffix(ABOUT))
        for key, wanted in (("kind", kind), ("version", version)):
            if about.get(key) != wanted:
                raise ValueError(f"{path}: weights of {key} {about.get(key)}; {wanted} is expected")
        try:
            content = path.read_bytes()
        except OSError as error:
            raise ValueError(f"{path}: {error.strerror}") from error
        if hashlib.sha256(content).hexdigest() != about.get("sha256"):
            raise ValueError(
                f"{path}: its {len(content):,} bytes are not those that {path.stem}{ABOUT} tells "
                "of (sha256); one of the two was changed or cut off"
            )
        found = _unpacked(path, content)
        for array in arrays:
            if array not in found:
                raise ValueError(f"{path}: has no array '{array}'; it has {', '.join(found)}")
        rest = {
            key: value
            for key, value in about.items()
            if key not in ("kind", "version", "unit", "arrays", "sha256")
        }
        return cls(kind, version, int(about.get("unit", 1)), found, rest)

    def shaped(self, name: str, shape: tuple[int, ...]) -> np.ndarray:
        """One array, which has to be of this shape; ValueError."""
        array = self.arrays[name]
        if array.shape != shape:
            raise ValueError(f"weights: {name} is of shape {array.shape}; {shape} is expected")
        return array

    def whole(self, name: str, shape: tuple[int, ...]) -> np.ndarray:
        """As :meth:`shaped`, an array of whole numbers; int64."""
        array = self.shaped(name, shape)
        if array.dtype.kind not in "iu":
            raise ValueError(f"weights: {name} is of {array.dtype}; whole numbers are expected")
        return array.astype(np.int64)

    def stages(self, name: str, most_empties: int) -> tuple[np.ndarray, int]:
        """The array of this name, the stage of the game by number of empty squares from 0 on, and
        how many stages there are; ValueError."""
        found = self.whole(name, (most_empties + 1,))
        if found.min() < 0:
            raise ValueError(f"weights: {name}: there is no stage {found.min()}")
        return found, int(found.max()) + 1


def _packed(arrays: Mapping[str, np.ndarray], how: int) -> bytes:
    """The bytes of an ``.npz``, the same for the same arrays: it holds no times."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", how) as archive:
        for name, array in sorted(arrays.items()):
            content = io.BytesIO()
            np.save(content, np.ascontiguousarray(array), allow_pickle=False)
            archive.writestr(zipfile.ZipInfo(f"{name}.npy"), content.getvalue(), how)
    return packed.getvalue()


def _unpacked(path: Path, content: bytes) -> dict[str, np.ndarray]:
    try:
        with np.load(io.BytesIO(content), allow_pickle=False) as archive:
            return {name: archive[name] for name in archive.files}
    except (OSError, ValueError, EOFError, zipfile.BadZipFile) as error:
        raise ValueError(f"{path}: no file of arrays ({error})") from error


def _read_about(path: Path) -> dict[str, Any]:
    try:
        said = yaml.safe_load(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise ValueError(f"{path}: {error.strerror}") from error
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise ValueError(f"{path}: no YAML") from error
    if not isinstance(said, dict):
        raise ValueError(f"{path}: kind, version and sha256 of weights are expected")
    return said
