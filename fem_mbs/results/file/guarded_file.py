"""A file under HDF5 that never fails: the first error is kept, and nothing more is written after it.

HDF5 cannot close a file whose last blocks it cannot write: at the end of the program it tries again and crashes. Here
a full disk looks like a success to HDF5. The writer of results checks `GuardedFile.error` after each block and warns
the user. The file on the disk is left alone from the first error on, so it is what a killed process leaves: everything
that was counted can be read (`fem_mbs.results.file.vtkhdf`).
"""

import errno
import io
from pathlib import Path
from typing import Any

CAUSES = {
    errno.ENOSPC: "the disk is full",
    errno.EDQUOT: "your quota of the disk is used up",
    errno.EFBIG: "the file has reached the largest size that this system allows",
    errno.EROFS: "the disk has become read-only",
}


class GuardedFile(io.RawIOBase):
    """File object for h5py (driver "fileobj").

    Parameters
    ----------
    path : path
    mode : {"w+b", "r+b"}

    Attributes
    ----------
    error : OSError or None
        The first one of writing.
    """

    def __init__(self, path: str | Path, mode: str) -> None:
        super().__init__()
        self.raw: Any = open(path, mode, buffering=0)
        self.error: OSError | None = None

    @property
    def cause(self) -> str | None:
        """The error in words; None without one."""
        if self.error is None:
            return None
        return CAUSES.get(self.error.errno or 0, f"writing failed: {self.error.strerror}")

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        return self.raw.seek(offset, whence)

    def tell(self) -> int:
        return self.raw.tell()

    def readinto(self, buffer: Any) -> int:
        # all bytes that there are: one read may return less
        view, at = memoryview(buffer).cast("B"), 0
        while at < len(view):
            count = self.raw.readinto(view[at:])
            if not count:
                break
            at += count
        view[at:] = bytes(len(view) - at)  # HDF5 looks at all of it
        return at

    def write(self, data: Any) -> int:
        view = memoryview(data).cast("B")
        size = len(view)
        while len(view) and self.error is None:
            try:
                view = view[self.raw.write(view) :]
            except OSError as error:
                self.error = error.with_traceback(None)  # whose frames would keep this file open
        return size

    def truncate(self, size: int | None = None) -> int:
        if self.error is None:
            try:
                self.raw.truncate(size)
            except OSError as error:
                self.error = error
        return self.raw.tell() if size is None else size

    def flush(self) -> None:
        pass  # nothing is buffered

    def readable(self) -> bool:
        return True

    def writable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def close(self) -> None:
        try:
            self.raw.close()
        except OSError as error:  # network disks report it last
            self.error = self.error or error
        super().close()
