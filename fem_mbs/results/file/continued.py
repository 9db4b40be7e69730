"""A results file continued from a checkpoint: written anew, with the rows up to it.

Rows after the checkpoint are cut off. A finished file is compressed and has no room for more, one that a killed run has
left may hold what does not count; both are copied into a file as a new run makes it. The file as it was keeps another
name, ``run.vtkhdf.before``, until the new one is complete and on the disk.
"""

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fem_mbs.errors import FileError
from fem_mbs.results.file import read_checks
from fem_mbs.results.file.vtkhdf import write_rows

if TYPE_CHECKING:
    from fem_mbs.results.file.writer import ResultsWriter

AT_ONCE = 2**24  # bytes


def before_path(path: Path) -> Path:
    """Name that the file has while the new one is made."""
    return Path(f"{path}.before")


def set_aside(path: Path, run: str) -> Path:
    """Give the file of a run its other name, and return that.

    Raises
    ------
    FileError
        It is not there, or is another run's.
    """
    before = before_path(path)
    if before.exists():  # left by one who was killed while he copied it: what is at ``path`` is not complete
        with read_checks.opened(before, run):
            return before
    with read_checks.opened(path, run):
        pass
    os.replace(path, before)
    return before


def copy_into(writer: "ResultsWriter", before: Path, state: dict[str, Any]) -> None:
    """Copy what counts in a state of the writer from the file as it was into that of a new writer."""
    rows = writer.rows
    file: Any = writer.file
    with read_checks.opened(before, state["run"]) as old:
        if int(old["fem_mbs"].attrs["n"]) < state["n"]:
            raise FileError(before, f"has fewer saved states than the {state['n']} of the checkpoint")
        rows.set_state(state)
        if rows.grid is not None:
            rows.grid.n_steps = state["frames"]
        lengths = {name: kept.n for name, kept in rows.kept().items()}
        if rows.grid is not None:
            values = rows.grid.values.name[1:]
            rows.grid.times = list(old[values][: lengths.pop(values)])
        for name, count in lengths.items():
            _copy(old[name], file[name], count)
    writer.begun -= state["wall"]
    file.flush()
    rows.commit()
    writer.to_disk()


def _copy(old, new, rows):
    """Copy the first rows of a dataset into another, some at a time."""
    size = old.dtype.itemsize * int(old.size // max(old.shape[0], 1))
    block = max(1, AT_ONCE // max(size, 1))
    for first in range(0, rows, block):
        write_rows(new, first, old[first : min(first + block, rows)])
