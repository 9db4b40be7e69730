"""Machine code that comes with the package: compiled for a kind of processor, not for the one that it runs on.

A wheel can hold compiled code (`fem_mbs.compiled.pack`), in files as numba keeps them, under the same keys of their
sources: code of other sources, or of another version of Python, numba or NumPy, is not found. It was compiled for a
level of instructions that nearly all processors of the last ten years have. Where the processor lacks one of them, and
on kinds of machines for which nothing was compiled, kernels are compiled on the spot as without it.
"""

import os
import platform
from pathlib import Path
from typing import Any, NamedTuple


class Level(NamedTuple):
    """A level of instructions: as LLVM names it, and what a processor must have for it."""

    cpu: str
    features: tuple[str, ...]


class Shipped:
    """The folder of machine code that came with the package, if this processor can use it.

    ``FEM_MBS_MACHINE_CODE`` names another folder, or none: "none" compiles everything for this processor.
    """

    levels = {
        "x86_64": Level("x86-64-v3", ("avx2", "bmi", "bmi2", "f16c", "fma", "lzcnt", "movbe")),
        "aarch64": Level("generic", ()),
    }

    def __init__(self) -> None:
        self.found: Any = ()  # not yet looked for

    @property
    def level(self) -> Level | None:
        """Level of instructions that is compiled for machines of this kind; None where there is none."""
        return self.levels.get(platform.machine().lower().replace("amd64", "x86_64"))

    @property
    def folder(self) -> Path | None:
        """Folder of the code; None if there is none, or this processor cannot use it."""
        if self.found == ():
            self.found = self._look()
        return self.found

    def directory(self, key: str) -> str | None:
        """Folder of the code of one key (`fem_mbs.compiled.code_cache`); None if there is none."""
        if self.folder is None:
            return None
        path = self.folder / key
        return str(path) if path.is_dir() else None

    def target(self, magic: tuple) -> tuple:
        """What numba writes of the processor into its keys, for the level instead: triple, processor, features."""
        assert self.level is not None
        return (magic[0], self.level.cpu, "")

    def environment(self) -> dict[str, str]:
        """Variables with which numba compiles for the level. RuntimeError where there is none."""
        if self.level is None:
            raise RuntimeError(
                f"no level of instructions is known for machines of the kind {platform.machine()!r}; "
                f"known are {', '.join(self.levels)}"
            )
        return {"NUMBA_CPU_NAME": self.level.cpu, "NUMBA_CPU_FEATURES": "", "FEM_MBS_MACHINE_CODE": "none"}

    def _look(self):
        named = os.environ.get("FEM_MBS_MACHINE_CODE")
        folder = Path(named) if named else Path(__file__).resolve().parents[1] / "machine_code"
        if named == "none" or self.level is None or not folder.is_dir():
            return None
        return folder if self._has_features() else None

    def _has_features(self):
        """True if this processor has what the level needs."""
        assert self.level is not None
        if not self.level.features:
            return True
        from llvmlite import binding

        there = binding.get_host_cpu_features()
        return all(there.get(feature, False) for feature in self.level.features)


SHIPPED = Shipped()
