"""One writer per results file: a lock of our own, which readers do not see.

HDF5's lock would keep ParaView and Python from looking at a file that grows. The lock is therefore held on a small file
next to it, ``.run.vtkhdf.lock``, and the operating system gives it back when the writing process ends, however it ends:
a lock file that nobody holds is what a crash has left, and means nothing.
"""

import contextlib
import os
import platform
from pathlib import Path

from fem_mbs.errors import FileError

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]


def lock_path(path: str | Path) -> Path:
    """Path of the lock file of a results file; a link and the file it points to have the same."""
    path = Path(path).resolve()
    return path.with_name(f".{path.name}.lock")


class FileLock:
    """The right to write one file; held from construction until `release`.

    Parameters
    ----------
    path : path of the file to be written

    Attributes
    ----------
    left_behind : bool
        Whether a writer that crashed had left its lock: what it wrote may be damaged.

    Raises
    ------
    FileError
        Somebody writes the file, in this process or another; or no lock file can be made next to it.
    """

    def __init__(self, path: str | Path) -> None:
        self.path, self.lock = Path(path), lock_path(path)
        try:
            self.lock.parent.mkdir(parents=True, exist_ok=True)
            self.file = self._acquire()
        except OSError as error:
            raise FileError(path, f"cannot be written: {error.strerror or error}") from error
        self.left_behind = bool(self.file.read())
        self.file.seek(0)
        self.file.truncate()
        with contextlib.suppress(OSError):  # a full disk: only the message of a second writer would miss it
            self.file.write(f"process {os.getpid()} on {platform.node()}")
            self.file.flush()

    def _acquire(self):
        while True:
            file = open(self.lock, "a+", encoding="utf-8")
            file.seek(0)
            if not _held(file):
                holder = file.read() or "another process"
                file.close()
                raise FileError(
                    self.path,
                    f"is being written by {holder}. Two runs cannot share a file: wait for the other one, or choose "
                    "another name with save=…",
                )
            # the holder before may have deleted the lock file between our opening and locking it
            if _same(file, self.lock):
                return file
            file.close()

    def release(self) -> None:
        """Let others write the file."""
        if self.file is None:
            return
        with contextlib.suppress(OSError):
            self.lock.unlink()
        if fcntl:  # by name, not by closing: a process forked meanwhile has the file open as well
            fcntl.flock(self.file, fcntl.LOCK_UN)
        self.file.close()
        self.file = None

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.release()


def _held(file):
    """Lock an open file; False if another holds it. File systems without locks (some network disks) count as
    unlocked.
    """
    try:
        if fcntl:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        else:
            import msvcrt

            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
    except (BlockingIOError, PermissionError):
        return False
    except OSError:
        return True
    return True


def _same(file, path):
    """Whether an open file is still the one at a path."""
    try:
        return os.path.samestat(os.fstat(file.fileno()), os.stat(path))
    except OSError:
        return False
