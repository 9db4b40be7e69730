"""Where `Results` read the histories of a run from: arrays in memory, or a results file."""

from collections.abc import Collection
from pathlib import Path
from typing import Any

import numpy as np

from fem_mbs.errors import FileError
from fem_mbs.results.file import read_checks
from fem_mbs.results.table import HISTORIES, PAIR_COLUMNS, separated, shape_of

UNIT = 1e-6  # that quaternions may miss of length 1


class Memory:
    """Histories held as arrays."""

    def __init__(self, arrays: dict[str, np.ndarray]) -> None:
        self.arrays = arrays

    def read(self, name: str, column: Any = slice(None)) -> np.ndarray:
        array = self.arrays[name]
        return array if array.ndim == 1 else array[:, column]

    def pairs(self, first: int, last: int) -> np.ndarray:
        return self.arrays["pairs"][first:last]

    def rows(self, chosen: Any, names: Collection[str] = HISTORIES) -> dict[str, np.ndarray]:
        return {name: array[chosen] for name, array in self.arrays.items() if name in names}


class File:
    """Histories read from a file when they are asked for."""

    def __init__(self, path: Path, n: int, sizes: dict[str, int], run: Any) -> None:
        self.path, self.n, self.sizes, self.run = path, n, sizes, run

    def _open(self):
        return read_checks.opened(self.path, self.run)

    def read(self, name: str, column: Any = slice(None)) -> np.ndarray:
        kind, shape = HISTORIES[name].kind, shape_of(name, self.sizes)
        if 0 in shape or self.n == 0:  # a file has no states when its run has just begun
            return Memory({name: np.zeros((self.n, *shape), kind)}).read(name, column)
        with self._open() as file:
            histories = file["fem_mbs/histories"]
            if name not in histories:
                raise FileError(self.path, f"was written by a version of fem_mbs that did not record '{name}'")
            dataset = histories[name]
            array = dataset[: self.n] if dataset.ndim == 1 else dataset[: self.n, column]
            return self._checked(name, array)

    def _checked(self, name, array):
        """Raise an error for invalid rotations, for example zeros where a part of the file was lost."""
        if name == "quaternion" and not (np.abs(np.linalg.norm(array, axis=-1) - 1.0) < UNIT).all():
            raise FileError(self.path, "is damaged: history 'quaternion' has numbers that are no rotation")
        return array

    def pairs(self, first: int, last: int) -> np.ndarray:
        with self._open() as file:
            histories = file["fem_mbs/histories"]
            return histories["pairs"][first:last] if "pairs" in histories else np.zeros((0, PAIR_COLUMNS))

    def rows(self, chosen: Any, names: Collection[str] = HISTORIES) -> dict[str, np.ndarray]:
        chosen = np.asarray(chosen)
        order, back = np.unique(chosen, return_inverse=True)
        result = {}
        with self._open() as file:
            for name, line in ((name, HISTORIES[name]) for name in HISTORIES if name in names):
                shape = shape_of(name, self.sizes)
                if 0 in shape or self.n == 0:
                    result[name] = np.zeros((len(chosen), *shape), line.kind)
                elif name in file["fem_mbs/histories"]:
                    result[name] = self._checked(name, file["fem_mbs/histories"][name][order][back])
        return result


def view(records: dict[str, np.ndarray]) -> Memory:
    """Store of `Results` that reads the records of a stepper: dict of arrays, one row per state, not all names."""
    return Memory(separated(records))
