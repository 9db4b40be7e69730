"""The VTKHDF layout: an unstructured grid whose points move, in an HDF5 file that ParaView opens as a time series.

    /VTKHDF           Version, Type = UnstructuredGrid
      NumberOfPoints, NumberOfCells, NumberOfConnectivityIds     (1,)      the mesh: written once
      Connectivity, Offsets, Types, CellData/…                             written once
      Points, PointData/…                                        (k·n, …)  one block of n points per frame
      Steps           NSteps
        Values                                                   (k,) [s]  times
        PointOffsets, PointDataOffsets/…                         (k,)      first row of the block of each frame
        PartOffsets, CellOffsets, ConnectivityIdOffsets, CellDataOffsets/…   zero: all frames share the mesh

Source: VTK's VTKHDF specification, version 2.0. Files in HDF5's newest format (``libver="latest"``) or with lzf
compression are not read by VTK; gzip is.

A writing program may be killed at any time, so nothing that a reader needs ever moves in the file: space for the rows
is taken in advance, rows are written in place and uncompressed, and they count when NSteps says so, which is written
last. Of compressed chunks the sizes are not known before, and their index would change in several places at once: they
are for the file that is written when the run has ended (`fem_mbs.results.file.final_layout`). VTK 9.7 reads all of
Values into NSteps numbers (and overwrites memory if there are more), so these two change together, NSteps first: it is
stored at the lower address, and HDF5 flushes in the order of addresses.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from fem_mbs.results.file.final_layout import Rows
from fem_mbs.results.file.guarded_file import GuardedFile

BLOCK = 2**18  # bytes of one HDF5 chunk of a growing file, roughly: each block of states writes whole chunks
BLOCK_STATES = 512  # the most states in one
CHUNKS = 1000  # the most in one dataset: each takes its space when the file is made
VERSION = (2, 0)


def growing(group: Any, name: str, shape: tuple[int, ...], dtype: Any, rows: int, most: int = BLOCK_STATES) -> Any:
    """Dataset (rows, *shape) whose space is taken at once and which `write_rows` makes longer when it must.

    ``most``: rows in one HDF5 chunk, which is written as a whole.
    """
    import h5py

    size = max(1, int(np.prod(shape)) * np.dtype(dtype).itemsize)
    options = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    options.set_chunk((max(1, min(BLOCK // size, rows, most), rows // CHUNKS), *shape))
    options.set_alloc_time(h5py.h5d.ALLOC_TIME_EARLY)
    options.set_fill_time(h5py.h5d.FILL_TIME_NEVER)
    space = h5py.h5s.create_simple((rows, *shape), (h5py.h5s.UNLIMITED, *shape))
    kind = h5py.h5t.py_create(np.dtype(dtype))
    return h5py.Dataset(h5py.h5d.create(group.id, name.encode(), kind, space, options))


def write_rows(dataset: Any, first: int, rows: np.ndarray) -> None:
    """Write rows first … first + k − 1 of a growing dataset."""
    from h5py import h5s

    last, space = first + len(rows), dataset.id.shape[0]
    if last > space:
        dataset.resize(max(last, 2 * space), axis=0)
    # what dataset[first:last] = rows does, without h5py's interpretation of the slice: there are many small datasets
    rows, place = np.ascontiguousarray(rows), dataset.id.get_space()
    place.select_hyperslab((first, *[0] * (rows.ndim - 1)), rows.shape)
    dataset.id.write(h5s.create_simple(rows.shape), place, rows)


def write_status(path: str | Path, status: np.ndarray) -> None:
    """Change the status of a closed file, a text of constant length: the one thing that a full disk still takes."""
    import h5py

    disk = GuardedFile(path, "r+b")
    try:
        with h5py.File(disk, "r+") as file:
            file["fem_mbs"].attrs.modify("status", status)
    except (OSError, KeyError):  # not even readable; the error that brought us here says why
        pass
    disk.close()


def rounded(values: np.ndarray) -> np.ndarray:
    """Float32 numbers rounded to 16 bits of 24, at most 1.5e-5 of each: compressed they need half the space."""
    bits = np.asarray(values, np.float32).view(np.uint32)
    return ((bits + np.uint32(0x80)) & np.uint32(0xFFFFFF00)).view(np.float32)


class MovingGrid:
    """Writer of the group VTKHDF.

    Parameters
    ----------
    file : h5py.File, open for writing
    n_points : int
    connectivity, offsets, types : (…,), (n_cells + 1,), (n_cells,)
        Cells as in vtkUnstructuredGrid.
    cell_data : dict, name -> (n_cells, …)
        Constant in time.
    point_data : dict, name -> number of components
        What `append` will be given for each frame.
    frames : int
        Number of frames to take space for.
    """

    def __init__(
        self,
        file: Any,
        n_points: int,
        connectivity: Sequence[int] | np.ndarray,
        offsets: Sequence[int] | np.ndarray,
        types: Any,
        cell_data: dict,
        point_data: dict,
        frames: int,
    ) -> None:
        self.n_points, self.n_steps, self.rounded = n_points, 0, False
        root = self.root = file.create_group("VTKHDF")
        root.attrs["Version"] = np.array(VERSION, np.int64)
        root.attrs["Type"] = np.bytes_("UnstructuredGrid")
        for name, count in (
            ("NumberOfPoints", n_points),
            ("NumberOfCells", len(types)),
            ("NumberOfConnectivityIds", len(connectivity)),
        ):
            root[name] = np.array([count], np.int64)
        root["Connectivity"] = np.asarray(connectivity, np.int64)
        root["Offsets"] = np.asarray(offsets, np.int64)
        root["Types"] = np.asarray(types, np.uint8)
        steps = self.steps = root.create_group("Steps")
        steps.attrs["NSteps"] = np.int64(0)
        self.points = growing(root, "Points", (3,), np.float32, frames * n_points, BLOCK)
        data = root.create_group("PointData")
        self.point_data = {
            name: growing(data, name, (count,) if count > 1 else (), np.float32, frames * n_points, BLOCK)
            for name, count in point_data.items()
        }
        self.values, self.times = growing(steps, "Values", (), np.float64, frames), []
        self.values.resize(0, axis=0)
        self.parts = growing(steps, "NumberOfParts", (), np.int64, frames)
        point_steps, cell_steps = steps.create_group("PointDataOffsets"), steps.create_group("CellDataOffsets")
        self.moving = [growing(steps, "PointOffsets", (), np.int64, frames)]
        self.moving += [growing(point_steps, name, (), np.int64, frames) for name in point_data]
        self.constant = [growing(steps, "PartOffsets", (), np.int64, frames)]
        self.constant += [
            growing(steps, name, (1,), np.int64, frames) for name in ("CellOffsets", "ConnectivityIdOffsets")
        ]
        self.constant += [growing(cell_steps, name, (), np.int64, frames) for name in cell_data]
        cells = root.create_group("CellData")
        for name, values in cell_data.items():
            cells[name] = values

    def append(self, times: Any, points: np.ndarray, point_data: dict[str, np.ndarray]) -> None:
        """Write frames: times (k,) [s], points (k, n_points, 3) [m], point data (k, n_points, c) or (k, n_points)."""
        k, n, first = len(times), self.n_points, self.n_steps
        for dataset, values in [(self.points, points), *((d, point_data[name]) for name, d in self.point_data.items())]:
            values = rounded(values) if self.rounded else np.asarray(values, np.float32)
            write_rows(dataset, n * first, values.reshape(k * n, *dataset.shape[1:]))
        self.times.extend(times)
        write_rows(self.parts, first, np.ones(k, np.int64))
        for dataset in self.moving:
            write_rows(dataset, first, n * (first + np.arange(k)))
        for dataset in self.constant:
            write_rows(dataset, first, np.zeros((k, *dataset.shape[1:]), np.int64))
        self.n_steps += k

    def commit(self) -> None:
        """Let readers see the frames written so far; the file must have been flushed before, and be flushed after."""
        self.steps.attrs.modify("NSteps", np.int64(self.n_steps))
        self.values.resize(self.n_steps, axis=0)
        self.values[self.n_steps - len(self.times) :] = self.times
        self.times = []

    def kept(self) -> dict[str, Rows]:
        """Rows in use of each growing dataset, by its name in the file.

        Coordinates of points take 20 % less space in chunks of one component; point data do not.
        """
        count = self.n_steps * self.n_points
        wide = Rows(count, BLOCK, narrow=False, shuffle=self.rounded)
        rows = {dataset.name[1:]: wide for dataset in self.point_data.values()}
        rows[self.points.name[1:]] = Rows(count, BLOCK)
        return rows | {d.name[1:]: Rows(self.n_steps) for d in (self.values, self.parts, *self.moving, *self.constant)}
