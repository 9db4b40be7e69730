"""KLU of SuiteSparse, where the system has it (libklu)."""

import ctypes
import ctypes.util
import sys
from typing import Any

import numpy as np

from fem_mbs.jit import address, invoke
from fem_mbs.linear.base import LinearSolver
from fem_mbs.linear.klu_kernels import AMORTISED, KLU_DATA, SCALED, klu_factor, klu_rebuild, klu_solve

_COMMON_BYTES = 512  # klu_common is about 160 bytes in all versions
_USED = 144  # place of memusage and mempeak in it
_SCALE_AT = 48  # of the int32 ``scale`` in it, behind five doubles and two int32


def _load_klu():
    """The KLU library of the system (libklu1 or libklu2), or None."""
    for name in (ctypes.util.find_library("klu"), "libklu.so.2", "libklu.so.1"):
        if name:
            try:
                return ctypes.CDLL(name)
            except OSError:
                continue
    return None


_klu_library = None


def klu() -> Any:
    """The loaded KLU library, or None; looked for once."""
    global _klu_library
    if _klu_library is None:
        _klu_library = _load_klu() or False
    return _klu_library or None


class KLU(LinearSolver):
    """Sparse LU of SuiteSparse for matrices that fall into blocks (mechanisms, chains, beam lines)."""

    name = "KLU (SuiteSparse)"
    kept = ("taken", "where", "used_rows", "used_pointers", "values", "pivoted", "diagonal")
    counted = ("used", "analyses", "factorisations", "since", "wait", "checked", "diagonal")  # numbers of the context
    context: Any = None  # record of a matrix; None: the constructor has raised

    def __init__(self, n: int, pointers: np.ndarray, rows: np.ndarray) -> None:
        super().__init__(n, pointers, rows)
        library = klu()

        def function(name):
            return ctypes.cast(getattr(library, name), ctypes.c_void_p).value

        nnz = len(rows)
        self.common = np.zeros(_COMMON_BYTES, np.uint8)
        library.klu_defaults(ctypes.c_void_p(address(self.common)))
        self.symbolic, self.numeric = np.zeros(1, np.int64), np.zeros(1, np.int64)
        # a library whose record is laid out otherwise keeps its own switch, and scales always
        switch = self.common[_SCALE_AT : _SCALE_AT + 4].view(np.int32)
        self.scale = switch if switch[0] == SCALED else np.array([SCALED], np.int32)
        self.taken, self.where, self.used_rows = (np.zeros(nnz, np.int32) for _ in range(3))
        self.used_pointers, self.values, self.work = np.zeros(n + 1, np.int32), np.zeros(nnz), np.zeros(2 * n)
        self.diagonal, self.pivoted = np.zeros(n), np.zeros(nnz)
        self.context = np.zeros(1, KLU_DATA)
        fields: dict[str, Any] = {
            "n": n, "nnz": nnz, "pointers_at": pointers, "rows_at": rows, "common_at": self.common,
            "symbolic_at": self.symbolic, "numeric_at": self.numeric, "status_at": self.status,
            "taken_at": self.taken, "used_pointers_at": self.used_pointers, "used_rows_at": self.used_rows,
            "where_at": self.where, "values_at": self.values, "work_at": self.work, "diagonal_at": self.diagonal,
            "scale_at": self.scale, "pivoted_at": self.pivoted,
            "analyze": function("klu_analyze"), "factor": function("klu_factor"),
            "refactor": function("klu_refactor"), "solve": function("klu_solve"),
            "wait": AMORTISED, "free": function("klu_free_numeric"), "free_symbolic": function("klu_free_symbolic"),
        }  # fmt: skip
        for name, value in fields.items():
            self.context[0][name] = address(value) if isinstance(value, np.ndarray) else value
        self.context_address = address(self.context)
        self.factor_address, self.solve_address = klu_factor.address, klu_solve.address

    def get_state(self) -> dict[str, Any]:
        """As of `LinearSolver`; analysis and pivots are made again from what they were made of."""
        counted = {name: int(self.context[0][name]) for name in self.counted}
        return super().get_state() | {"counted": counted}

    def rebuild(self, state: dict[str, Any]) -> None:
        """As of `LinearSolver`."""
        for name, value in state["counted"].items():
            self.context[0][name] = value
        if state["counted"]["analyses"]:
            values = self.values.copy()  # held here while compiled code reads it
            invoke(klu_rebuild.address, self.context_address, address(values))
            self.status[:] = state["status"]

    def foreign_bytes(self) -> int:
        """What KLU has allocated, by its own count."""
        now, most = (int(n) for n in self.common[_USED : _USED + 16].view(np.uint64))
        return now if now <= most < 2**48 else 0  # a version with another record

    def __del__(self):
        if sys is None or sys.is_finalizing():  # the process gives all back
            return
        library = klu() if klu else None  # type: ignore[truthy-function]  # gone when Python ends
        if library and self.context is not None:
            common = ctypes.c_void_p(address(self.common))
            if self.numeric[0]:
                library.klu_free_numeric(ctypes.c_void_p(address(self.numeric)), common)
            if self.symbolic[0]:
                library.klu_free_symbolic(ctypes.c_void_p(address(self.symbolic)), common)
