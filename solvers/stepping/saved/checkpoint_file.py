"""The file of a checkpoint: written as a whole or not at all, read only when it is whole.

It lies next to the results file, ``run.vtkhdf.checkpoint``, not in it: rows of the results are added in place, and no
file can be changed in place and be whole at any time. A checkpoint is written to another name, brought to the disk, and
then takes the name of the one before in one act of the operating system. Whoever is killed meanwhile leaves that one.

    line          fem_mbs checkpoint 1
    8 bytes       length of the head
    head          JSON: versions, time, how the run was asked for, lengths and SHA-256 sums of the parts
    parts         model, observers, state (pickles)

The head is read, and versions and sums are compared, before anything is unpickled.
"""

import contextlib
import hashlib
import json
import os
import pickle
import platform
from pathlib import Path
from typing import Any

from fem_mbs.errors import FileError
from fem_mbs.results.file.results_file import versions

MAGIC = b"fem_mbs checkpoint 1\n"
SUFFIX = ".checkpoint"
LONGEST_HEAD = 10_000_000  # bytes


def checkpoint_path(results: str | Path) -> Path:
    """Path of the checkpoint of a results file."""
    return Path(f"{results}{SUFFIX}")


def environment() -> dict[str, str]:
    """What the last bits of a run depend on, in addition to its model: versions and the processor that code is
    compiled for.
    """
    import llvmlite.binding

    return {**versions(), "processor": f"{platform.machine()} {llvmlite.binding.get_host_cpu_name()}"}


def pickled(item: object) -> tuple[bytes | None, str]:
    """An object as bytes; or None, and why it cannot be."""
    try:
        return pickle.dumps(item, protocol=pickle.HIGHEST_PROTOCOL), ""
    except Exception as error:  # of the user's objects: anything
        return None, f"{type(error).__name__}: {error}"


def write(path: Path, head: dict[str, Any], parts: dict[str, bytes | None]) -> None:
    """Write a checkpoint in place of the one before.

    Raises
    ------
    FileError
        The disk does not take it; the one before is still there.
    """
    there = {name: data for name, data in parts.items() if data is not None}
    sums = {name: [len(data), hashlib.sha256(data).hexdigest()] for name, data in there.items()}
    text = json.dumps({**head, "parts": sums}).encode()
    part = Path(f"{path}.part")
    try:
        with open(part, "wb") as file:
            for data in (MAGIC, len(text).to_bytes(8, "little"), text, *there.values()):
                file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.replace(part, path)
        _to_disk(path.parent)
    except OSError as error:
        with contextlib.suppress(OSError):
            part.unlink(missing_ok=True)
        raise FileError(path, f"cannot be written: {error.strerror}; an earlier checkpoint is kept") from error


def _to_disk(folder):
    """Bring the names in a folder to the disk, where the system can."""
    with contextlib.suppress(OSError):
        number = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(number)
        finally:
            os.close(number)


def read(path: Path) -> tuple[dict[str, Any], dict[str, bytes]]:
    """Head and parts of a checkpoint; nothing is unpickled.

    Raises
    ------
    FileError
        There is none, it is no checkpoint, or it is damaged.
    """
    try:
        data = path.read_bytes()
    except OSError as error:
        what = "does not exist: run(…, save=FILE, checkpoint_every=…) writes one"
        raise FileError(path, what if not path.exists() else f"cannot be read: {error.strerror}") from error
    if not data.startswith(MAGIC):
        raise FileError(path, "is not a checkpoint that this version of fem_mbs reads")
    at = len(MAGIC) + 8
    size = int.from_bytes(data[len(MAGIC) : at], "little")
    try:
        head = json.loads(data[at : at + min(size, LONGEST_HEAD)])
        parts, at = {}, at + size
        for name, (length, expected) in head["parts"].items():
            parts[name], at = data[at : at + length], at + length
            if hashlib.sha256(parts[name]).hexdigest() != expected:
                raise ValueError(f"part '{name}' is not what was written")
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise FileError(path, f"is damaged: {error}") from error
    return head, parts


def unpickled(path: Path, name: str, data: bytes) -> Any:
    """A part of a checkpoint as the object it was.

    Raises
    ------
    FileError
        Python cannot make it: what it is of is not there.
    """
    try:
        return pickle.loads(data)
    except Exception as error:
        raise FileError(path, f"its {name} cannot be made again: {type(error).__name__}: {error}") from error
