"""Final layout of a results file: datasets cut to their lengths and compressed, written once, when the run has ended.

A file that grows has room for rows to come, and none that is compressed (`fem_mbs.results.file.vtkhdf`). `replace`
writes its rows to a new file, which then takes its name. The file that grows is one in memory where a run ends before
its first write: then nothing but the final file reaches the disk.

Chunks of histories and of drawn points are long and narrow: numbers of one component, which change little from one row
to the next, take less space than those of many, and reading one component touches no others.
"""

import functools
import os
import zlib
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from itertools import islice, product
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from fem_mbs.results.file.guarded_file import GuardedFile

BLOCK = 2**20  # bytes of whole rows as long as a chunk: what reading one row unpacks
NARROW = 2**13  # bytes of a chunk of a few columns
SMALL = 2**12  # bytes of a dataset that is not worth chunks: their index takes 3 kB
AT_ONCE = 64  # chunks that are in memory at once
THREADS_FROM = 2**25  # bytes: threads would only add their overhead to less
COPY_LIMIT = 1e9  # bytes


class Rows(NamedTuple):
    """What of a dataset is kept: its first ``n`` rows, in chunks as long as ``block`` bytes of them."""

    n: int
    block: int = BLOCK
    narrow: bool = True
    shuffle: bool = True


def chunk_shape(shape: tuple[int, ...], itemsize: int, rows: Rows) -> tuple[int, ...]:
    """Chunks of a dataset: rows that fit into a block, and of these a few columns where chunks are narrow."""
    row = itemsize * int(np.prod(shape[1:]))
    chunk = [max(1, min(rows.block // max(row, 1), shape[0])), *shape[1:]]
    for axis in range(1, len(chunk) if rows.narrow else 0):
        size = itemsize * int(np.prod(chunk))
        if size > NARROW:
            chunk[axis] = max(1, chunk[axis] * NARROW // size)
    return tuple(chunk)


def packed(rows: np.ndarray, chunk: tuple[int, ...], shuffle: bool) -> bytes:
    """Rows as HDF5's gzip filter, after its shuffle filter if wanted, would pack them into a chunk of this shape."""
    if not np.ascontiguousarray(rows).view(np.uint8).any():  # impulses of open contacts: most chunks
        return _packed_zeros(rows.itemsize * int(np.prod(chunk)))
    if rows.shape == chunk:
        data = np.ascontiguousarray(rows)
    else:
        data = np.zeros(chunk, rows.dtype)
        data[tuple(map(slice, rows.shape))] = rows
    if shuffle:
        data = np.ascontiguousarray(data.reshape(-1, 1).view(np.uint8).T)
    return zlib.compress(data.data, 1)


@functools.lru_cache(maxsize=64)
def _packed_zeros(size):
    """So many bytes of zeros, packed; they are their own shuffle."""
    return zlib.compress(bytes(size), 1)


def _chunks(source, count, chunk) -> Iterator[tuple]:
    """Place and numbers of each chunk of the first rows."""
    for first in range(0, count, chunk[0]):
        rows = source[first : min(first + chunk[0], count)]
        for place in product(*(range(0, size, step) for size, step in zip(rows.shape[1:], chunk[1:]))):
            cut = tuple(slice(at, at + step) for at, step in zip(place, chunk[1:]))
            yield (first, *place), rows[(slice(None), *cut)]


def write_packed(group: Any, name: str, source: Any, rows: Rows) -> Any:
    """Write the first rows of an array or dataset as a dataset of the final file; returns it."""
    shape, dtype = (rows.n, *source.shape[1:]), source.dtype
    size = dtype.itemsize * int(np.prod(shape))
    if size <= SMALL:
        return group.create_dataset(name, data=source[: rows.n], dtype=dtype)
    chunk = chunk_shape(shape, dtype.itemsize, rows)
    new = group.create_dataset(
        name, shape, dtype, chunks=chunk, maxshape=(None, *shape[1:]), compression="gzip", compression_opts=1,
        shuffle=rows.shuffle,
    )  # fmt: skip
    todo = _chunks(source, rows.n, chunk)
    # HDF5's own filters would take more processor time, and one processor only
    if size < THREADS_FROM:
        for place, part in todo:
            new.id.write_direct_chunk(place, packed(part, chunk, rows.shuffle))
        return new
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        while some := list(islice(todo, AT_ONCE)):
            data = pool.map(lambda item: packed(item[1], chunk, rows.shuffle), some)
            for (place, _), part in zip(some, data):
                new.id.write_direct_chunk(place, part)
    return new


def repack(file: Any, path: str | Path, kept: Mapping[str, Rows]) -> bool:
    """Write the final file of an open one to a path; ``kept``: name of a dataset in the file -> what of it is kept.

    True if the disk took all of it.
    """
    import h5py

    disk = GuardedFile(path, "w+b")
    with h5py.File(disk, "w", libver="earliest") as copy:
        names: list[str] = []
        file.visit(names.append)
        for key, value in file.attrs.items():
            copy.attrs[key] = value
        for name in names:  # a callback of `visititems` would hold the lock of h5py, which threads may need
            item = file[name]
            if isinstance(item, h5py.Group):
                new = copy.require_group(name)
            elif name not in kept and (item.shape == () or item.nbytes <= SMALL):
                file.copy(item, copy, name)
                continue
            else:
                new = write_packed(copy, name, item, kept.get(name, Rows(len(item), narrow=False)))
            for key, value in item.attrs.items():
                new.attrs[key] = value
    disk.close()
    return disk.error is None


def replace(path: str | Path, file: Any, kept: Mapping[str, Rows], close: Callable[[], None]) -> bool:
    """Put the final file of an open one at a path; returns whether that was possible.

    An interrupted or failed copy leaves what is at the path. ``close`` closes that when the copy is complete.
    """
    copy = f"{path}.part"
    try:
        try:
            written = repack(file, copy, kept)
        except OSError:  # the folder is not writable
            written = False
        if written:
            close()
            os.replace(copy, path)
    finally:
        if os.path.exists(copy):
            os.remove(copy)
    return written


def cut_if_large(file: Any, kept: Mapping[str, Rows]) -> bool:
    """Cut a file above 1 GB to its lengths: copying it would take long, and twice its space. True if it is cut."""
    size = sum(file[name].dtype.itemsize * rows.n * np.prod(file[name].shape[1:]) for name, rows in kept.items())
    if size > COPY_LIMIT:
        for name, rows in kept.items():
            file[name].resize(rows.n, axis=0)
    return bool(size > COPY_LIMIT)
