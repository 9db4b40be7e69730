"""A file under HDF5 that never fails: the first error is kept, and nothing more is written after it.

HDF5 cannot close a file whose last blocks it cannot write: at the end of the program it tries again and crashes. Here
a full disk looks like a success to HDF5. The writer of results asks `GuardedFile.error` after each block and tells the
user. The file on the disk is left alone from the first error on, so it is what a killed process leaves: everything that
was counted can be read (`fem_mbs.results.vtkhdf`).
"""

import errno
import io
from pathlib import Path

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

    def __init__(self, path: str | Path, mode: str):
        super().__init__()
        self.raw = open(path, mode, buffering=0)
        self.error = None

    @property
    def cause(self) -> str | None:
        """The error in words; None without one."""
        return None if self.error is None else CAUSES.get(self.error.errno, f"writing failed: {self.error.strerror}")

    def seek(self, offset, whence=io.SEEK_SET):
        return self.raw.seek(offset, whence)

    def tell(self):
        return self.raw.tell()

    def readinto(self, buffer):
        # all bytes that there are: one read may return less
        view, at = memoryview(buffer).cast("B"), 0
        while at < len(view):
            count = self.raw.readinto(view[at:])
            if not count:
                break
            at += count
        view[at:] = bytes(len(view) - at)  # HDF5 looks at all of it
        return at

    def write(self, data):
        view = memoryview(data).cast("B")
        size = len(view)
        while len(view) and self.error is None:
            try:
                view = view[self.raw.write(view) :]
            except OSError as error:
                self.error = error.with_traceback(None)  # whose frames would keep this file open
        return size

    def truncate(self, size=None):
        if self.error is None:
            try:
                self.raw.truncate(size)
            except OSError as error:
                self.error = error
        return size

    def flush(self):
        pass  # nothing is buffered

    def readable(self):
        return True

    def writable(self):
        return True

    def seekable(self):
        return True

    def close(self):
        try:
            self.raw.close()
        except OSError as error:  # network disks tell it last
            self.error = self.error or error
        super().close()
