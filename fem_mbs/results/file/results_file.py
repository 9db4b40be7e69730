"""What a results file is called, what it may replace, and what it says of the run it is of."""

import functools
from pathlib import Path
from typing import Any

import numpy as np

from fem_mbs.errors import FemMbsError, FileError

SUFFIXES = (".vtkhdf", ".hdf", ".h5", ".hdf5")


def refuse_foreign(path: Path) -> None:
    """Raise an error if the file exists and is not a results file of this package."""
    import h5py

    if not path.exists() or (path.is_file() and path.stat().st_size == 0):
        return
    try:
        with h5py.File(path, "r", locking=False) as file:
            if "format" in file["fem_mbs"].attrs:
                return
    except (OSError, KeyError, AttributeError):
        pass
    raise FileError(
        path, "exists and is not a results file of fem_mbs: it is left as it is. Give another name, or delete it first"
    )


def results_path(path: str | Path) -> Path:
    """Path of a results file; an ending that ParaView supports is added or required."""
    path = Path(path)
    if not path.suffix:
        return path.with_suffix(".vtkhdf")
    if path.suffix.lower() not in SUFFIXES:
        raise FemMbsError(f"results file {path}: ending '{path.suffix}' is none of {', '.join(SUFFIXES)}; use .vtkhdf")
    return path


def plain(value: Any) -> Any:
    """Value as JSON holds it."""
    if isinstance(value, (np.ndarray, list, tuple)):
        return [plain(v) for v in value]
    if isinstance(value, dict):
        return {name: plain(v) for name, v in value.items()}
    if isinstance(value, np.generic):
        return value.item()
    return value if value is None or isinstance(value, (bool, int, float, str)) else str(value)


def versions() -> dict[str, str]:
    """Versions of Python and of the packages that a run is made with."""
    return dict(_versions())


@functools.cache
def _versions() -> dict[str, str]:
    """The same, read once: they are in every results file and checkpoint."""
    import platform
    from importlib.metadata import PackageNotFoundError, version

    found = {"python": platform.python_version()}
    for package in ("fem_mbs", "numpy", "numba", "scipy", "h5py"):
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            found[package] = "?"
    return found
