"""Compiled code on disk: under which key, in which files, and how these are read and written.

Compiled code is kept under a key made from the text of the module *and of every fem_mbs module it imports*, so that
editing a callee in another file never serves a stale kernel (numba itself looks only at the file of the caller).
Comments, the module's docstring and classes do not count: kernels cannot see them, so that a change of a constructor
compiles nothing anew. Nor does the place of the checkout: two checkouts of the same sources share their compiled code.
The name of the module counts. Files of compiled code begin with a checksum: a damaged one is compiled again.

It is looked for first in what came with the package (`fem_mbs.compiled.shipped`), then in the folder of the user
(`fem_mbs.compiled.code_folder`).
"""

import hashlib
import os
import pickle
import threading
import time
from collections.abc import Callable
from pathlib import Path
from types import CodeType
from typing import Any

import numba
import numpy as np
from numba.core import caching

from fem_mbs.compiled.code_folder import BOUND, FOLDER
from fem_mbs.compiled.shipped import SHIPPED
from fem_mbs.compiled.sources import SOURCES

# `fem_mbs.compiled.compiler` compiles in half the time, by overriding inner parts of numba. With versions of numba
# that it was not tested with, and with FEM_MBS_COMPILER=numba, numba compiles by itself.
OWN_COMPILER = numba.__version__.startswith("0.68.") and os.environ.get("FEM_MBS_COMPILER") != "numba"
LOCK = threading.RLock()


class Keys:
    """Keys of compiled code by source files."""

    started = time.time_ns()  # what changed later may be another text than the one that this process has imported

    @classmethod
    def of(cls, path: str | Path) -> str:
        """Hash of a source file and of all fem_mbs modules that it imports, and of what else code depends on.

        A process that runs while sources are replaced (an update, an edit) may compile what it imported before. Under
        the key of the new text that code would serve, and crash, all later processes: such a process has separate keys.
        """
        numpy = ".".join(np.__version__.split(".")[:2])  # its arrays are the same in all versions of these two numbers
        versions = [numba.__version__, numpy, "own" if OWN_COMPILER else "numba", "with sums"]
        digests, newest = SOURCES.digests(path, FOLDER.get())
        if newest > cls.started:
            versions.append(f"process {os.getpid()} of {cls.started}")
        return hashlib.sha256(" ".join([*versions, *digests]).encode()).hexdigest()[:16]


class ByContent(caching._CacheLocator):
    """Location of the compiled code of a function in numba's cache: by the key of its sources, wherever these are."""

    keys: dict[str, str] = {}  # file -> its key, found once: a file has many kernels

    def __init__(self, function: Callable, file: str) -> None:
        code = function.__code__
        self._py_file = file  # for numba's warnings
        if file not in self.keys:
            self.keys[file] = "bound" if os.path.basename(file).startswith(BOUND) else Keys.of(file)
        self.key = self.keys[file]
        # functions of one name in one file differ in what they do; names and numbers are not part of numba's own key
        constants = [c for c in code.co_consts if not isinstance(c, CodeType)]
        # compiled code names its module, which is imported when the code is loaded
        text = f"{function.__module__} {code.co_names} {constants}".encode() + code.co_code
        self.name = hashlib.sha256(text).hexdigest()[:12]

    @classmethod
    def from_function(cls, py_func: Callable, py_file: str) -> "ByContent":
        return cls(py_func, py_file)  # numba makes the folder when it has something to keep

    def get_cache_path(self) -> str:
        return str(FOLDER.get() / self.key)

    def get_source_stamp(self) -> str:
        return "by content"

    def get_disambiguator(self) -> str:
        return self.name


_IMPLEMENTATION: Any = vars(caching).get("CacheImpl") or vars(caching)["_CacheImpl"]  # its name until numba 0.61


class Summed(caching.IndexDataCacheFile):
    """Files of compiled code that begin with a checksum: one that is damaged counts as missing, and is written anew."""

    sum_bytes = 32  # of SHA-256

    def _read(self, path):
        with open(path, "rb") as file:
            found = file.read()
        digest, data = found[: self.sum_bytes], found[self.sum_bytes :]
        if hashlib.sha256(data).digest() != digest:
            raise FileNotFoundError(path)
        return pickle.loads(data)

    def _write(self, path, what):
        data = self._dump(what)
        with self._open_for_write(path) as file:
            file.write(hashlib.sha256(data).digest() + data)

    def holds(self, key: Any) -> bool:
        """True if there is code under a key of the index."""
        name = self._load_index().get(key)
        return name is not None and os.path.exists(self._data_path(name))

    def _load_index(self):
        try:
            version, stamp, overloads = self._read(self._index_path)
        except FileNotFoundError:
            return {}
        return overloads if (version, stamp) == (self._version, self._source_stamp) else {}

    def _save_index(self, overloads):
        self._write(self._index_path, (self._version, self._source_stamp, overloads))

    def _load_data(self, name):
        return self._read(self._data_path(name))

    def _save_data(self, name, data):
        self._write(self._data_path(name), data)


class Checked(caching.FunctionCache):
    """numba's cache of a function, in files that are checked; what came with the package is looked at first."""

    def __init__(self, py_func: Any) -> None:
        super().__init__(py_func)
        plain = self._cache_file
        base = plain._index_name.removesuffix(".nbi")
        self._cache_file = Summed(plain._cache_path, base, plain._source_stamp)
        directory = SHIPPED.directory(self._impl.locator.key)
        self._shipped = Summed(directory, base, plain._source_stamp) if directory else None

    def holds(self, sig: Any, target_context: Any) -> bool:
        """True if there is code for the types of a signature."""
        return any(files.holds(key) for files, key in self._places(sig, target_context))

    def _load_overload(self, sig, target_context):
        if self._enabled:
            for files, key in self._places(sig, target_context):
                data = files.load(key)
                if data is not None:
                    return self._impl.rebuild(target_context, data)
        return None

    def _places(self, sig, target_context):
        """Files that may have code for the types of a signature, each with the key that it would have there."""
        key = self._index_key(sig, target_context.codegen())
        if self._shipped is not None:
            yield self._shipped, (key[0], SHIPPED.target(key[1]), key[2])
        yield self._cache_file, key


class LookFirst(Checked):
    """numba loads all that it can compile before it looks into its cache; here it looks first."""

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        from numba.core.runtime import rtsys

        rtsys.initialize(target_context)  # loaded code may count owners of arrays
        with self._guard_against_spurious_io_errors():
            return self._load_overload(sig, target_context)


class CacheByContent:
    """Make numba cache functions decorated inside this context by content."""

    def __enter__(self):
        from numba.core import ccallback, dispatcher

        LOCK.acquire()
        # our compilation gets ready by itself; for C functions of `fem_mbs.jit.bind` too
        ccallback.FunctionCache = dispatcher.FunctionCache = LookFirst if OWN_COMPILER else Checked
        self.before = _IMPLEMENTATION._locator_classes
        _IMPLEMENTATION._locator_classes = [ByContent]

    def __exit__(self, *_):
        _IMPLEMENTATION._locator_classes = self.before
        LOCK.release()
