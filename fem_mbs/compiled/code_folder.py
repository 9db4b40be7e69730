"""Where compiled code is kept: a folder that nobody else can write, because what lies in it is executed."""

import atexit
import os
import shutil
import stat
import tempfile
import warnings
from pathlib import Path

BOUND = "bound_"  # what names of modules that `fem_mbs.jit.bind` writes begin with: their keys are in these names


class CodeFolder:
    """Folders of compiled code by the paths that were wanted, and a temporary one where none can be had.

    Classes are not part of the key of compiled code (`fem_mbs.compiled.sources`): a change here compiles nothing anew.
    """

    def __init__(self) -> None:
        self.checked, self.temporary = {}, None

    def get(self) -> Path:
        """Folder $FEM_MBS_CACHE, else that of the user, if it can be trusted; else one for this process."""
        wanted = os.environ.get("FEM_MBS_CACHE")
        base = Path(wanted) if wanted else Path(os.environ.get("XDG_CACHE_HOME", "~/.cache")).expanduser() / "fem_mbs"
        if base not in self.checked:
            trouble = self._trouble(base)
            if trouble:
                warnings.warn(
                    f"compiled code is not kept in {base}: {trouble}. This process compiles what it needs into a "
                    "temporary folder; set FEM_MBS_CACHE to a writable folder to keep it",
                    stacklevel=2,
                )
            self.checked[base] = self._temporary() if trouble else base
        return self.checked[base]

    @staticmethod
    def _trouble(base):
        """Why a folder cannot be used, in words; None if it can. It is made, and made private, if possible."""
        try:
            base.mkdir(mode=0o700, parents=True, exist_ok=True)
            found = base.stat()
            if hasattr(os, "geteuid"):  # Windows keeps folders of users apart
                if found.st_uid != os.geteuid():
                    return f"it belongs to another user (number {found.st_uid})"
                if stat.S_IMODE(found.st_mode) & 0o022:
                    return "others may write there, and what lies there would be executed; empty it and chmod 700 it"
                if stat.S_IMODE(found.st_mode) & 0o077:
                    base.chmod(0o700)
        except OSError as error:
            return error.strerror
        return None if os.access(base, os.W_OK) else "it is read-only"

    def _temporary(self):
        """The one temporary folder of this process (mode 0700), removed when it ends."""
        if self.temporary is None:
            self.temporary = Path(tempfile.mkdtemp(prefix="fem_mbs_cache_"))
            atexit.register(self._remove, os.getpid())
        return self.temporary

    def _remove(self, owner):
        if os.getpid() == owner:  # a forked process uses the folder of its parent
            shutil.rmtree(self.temporary, ignore_errors=True)


FOLDER = CodeFolder()
