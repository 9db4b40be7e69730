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
last. `finish` makes the small file of a finished run. VTK 9.7 reads all of Values into NSteps numbers (and overwrites
memory if there are more), so these two change together, NSteps first: it is stored at the lower address, and HDF5
flushes in the order of addresses.
"""

import functools
import os
import zlib
from collections.abc import Iterable, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from itertools import repeat
from pathlib import Path
from typing import Any

import numpy as np

from fem_mbs.results.file.guarded_file import GuardedFile

BLOCK = 2**18  # bytes of one HDF5 chunk of a growing file, roughly: each block of states writes whole chunks
BLOCK_STATES = 512  # the most states in one
CHUNKS = 1000  # the most in one dataset: each takes its space when the file is made
FINAL_BLOCK = 2**18  # the same of a finished file, whose chunks are compressed
AT_ONCE = 32  # of these that are in memory at once
COPY_LIMIT = 1e9  # bytes
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


def packed(rows: np.ndarray, chunk: tuple[int, ...], shuffle: bool) -> bytes:
    """Rows as HDF5's gzip filter, after its shuffle filter if wanted, would pack them into a chunk of this shape."""
    if not np.ascontiguousarray(rows).view(np.uint8).any():  # impulses of open contacts: most chunks
        return _packed_zeros(rows.itemsize * int(np.prod(chunk)))
    data = np.zeros(chunk, rows.dtype)
    data[: len(rows)] = rows
    if shuffle:
        data = np.ascontiguousarray(data.reshape(-1, 1).view(np.uint8).T)
    return zlib.compress(data.data, 1)


@functools.lru_cache(maxsize=64)
def _packed_zeros(size):
    """So many bytes of zeros, packed; they are their own shuffle."""
    return zlib.compress(bytes(size), 1)


def copy_rows(old: Any, new: Any, rows: int, pool: Executor) -> None:
    """Copy the first rows of a dataset into another, chunk by chunk; one that is compressed is packed by a pool.

    HDF5's own filters would take about as much processor time, but one processor only.
    """
    block, rest = new.chunks[0], [0] * (new.ndim - 1)
    for begin in range(0, rows, block * AT_ONCE):
        starts = range(begin, min(begin + block * AT_ONCE, rows), block)
        parts = [old[first : min(first + block, rows)] for first in starts]
        if new.compression is None:
            for first, part in zip(starts, parts):
                write_rows(new, first, part)
        else:
            given = parts, repeat(new.chunks), repeat(new.shuffle)
            # a thread would only add its overhead to a single chunk
            done = pool.map(packed, *given) if len(parts) > 1 else map(packed, *given)
            for first, data in zip(starts, done):
                new.id.write_direct_chunk((first, *rest), data)


def repack(
    file: Any, path: str | Path, lengths: dict[str, int], compressed: Iterable[str], shuffle: bool = False
) -> bool:
    """Write a copy of an open file to a path: growing datasets cut to their lengths, some compressed.

    ``lengths``: dict, name of a dataset in the file -> number of its rows; ``compressed``: names among them;
    ``shuffle``: first bytes of numbers apart from last ones, which pays for rounded numbers. Returns whether the disk
    took all of it.
    """
    import h5py

    disk = GuardedFile(path, "w+b")
    with h5py.File(disk, "w", libver="earliest") as copy, ThreadPoolExecutor(os.cpu_count()) as pool:

        def take(name, item):
            if isinstance(item, h5py.Group):
                new = copy.require_group(name)
            elif name not in lengths:
                file.copy(item, copy, name)
                return
            else:
                rows, tail = lengths[name], item.shape[1:]
                row = max(1, item.dtype.itemsize * int(np.prod(tail)))
                options = (
                    {"compression": "gzip", "compression_opts": 1, "shuffle": shuffle} if name in compressed else {}
                )
                options |= {"chunks": (max(1, min(FINAL_BLOCK // row, rows)), *tail), "maxshape": (None, *tail)}
                new = copy.create_dataset(name, (rows, *tail), item.dtype, **options)
                copy_rows(item, new, rows, pool)
            for key, value in item.attrs.items():
                new.attrs[key] = value

        names: list[str] = []
        file.visit(names.append)
        for name in names:  # a callback of `visititems` would hold the lock of h5py, which threads may need
            take(name, file[name])
    disk.close()
    return disk.error is None


def finish(
    file: Any,
    disk: GuardedFile,
    path: str | Path,
    lengths: dict[str, int],
    compressed: Iterable[str],
    shuffle: bool = False,
) -> None:
    """Close a file and put its repacked copy in its place; an interrupted or failed copy leaves the original.

    A file above 1 GB is only cut to its lengths: copying it would take long, and twice its space. ``disk`` is the
    `GuardedFile` under the file.
    """
    copy = f"{path}.part"
    size = sum(file[name].dtype.itemsize * rows * np.prod(file[name].shape[1:]) for name, rows in lengths.items())
    if size > COPY_LIMIT:
        for name, rows in lengths.items():
            file[name].resize(rows, axis=0)
        file.close()
        disk.close()
        return
    try:
        try:
            written = repack(file, copy, lengths, compressed, shuffle)
        except OSError:  # the folder is not writable
            written = False
        file.close()
        disk.close()
        if written:  # else a full disk: the original is complete, only larger
            os.replace(copy, path)
    finally:
        if os.path.exists(copy):
            os.remove(copy)


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

    def lengths(self) -> dict[str, int]:
        """Rows in use of each growing dataset, by its name in the file."""
        rows = {dataset.name[1:]: self.n_steps * self.n_points for dataset in (self.points, *self.point_data.values())}
        return rows | {d.name[1:]: self.n_steps for d in (self.values, self.parts, *self.moving, *self.constant)}

    def compressed(self) -> set[str]:
        """Names of the datasets that a finished file holds compressed: all but the times."""
        return set(self.lengths()) - {self.values.name[1:]}
