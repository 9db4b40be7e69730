"""Buffers through which kernels are called: one array per argument name, and the table of their addresses.

A workspace serves any element up to its sizes: arrays are packed (an element with nn nodes uses the first nn·3 numbers
of ``x``), so one workspace is shared by all elements of a model.
"""

import numpy as np

from fem_mbs.jit import N_SLOTS, SLOT, SLOTS, address, shape_of


class Workspace:
    """Storage for the arguments of kernels.

    Parameters
    ----------
    nn, nr, ns, nq, no : int
        Largest numbers of nodes, constraint rows, signals, state variables and outputs of an element.
    """

    def __init__(self, nn: int = 2, nr: int = 6, ns: int = 4, nq: int = 1, no: int = 1) -> None:
        # the assembly builds blocks bordered by the element's multipliers (up to 6 of a contact) in the same buffers
        self.sizes = {"nn": nn, "nd": 6 * nn + max(nr, 6), "nr": nr, "ns": ns, "nq": nq, "no": no}
        self.buffer = {name: np.zeros(max(1, int(np.prod(shape_of(name, self.sizes))))) for name in SLOTS}
        self.buffer["needs_K"][:] = 1.0
        self.table = np.zeros(N_SLOTS, dtype=np.int64)
        for name, array in self.buffer.items():
            self.table[SLOT[name]] = address(array)

    def view(self, name: str, sizes: dict[str, int]) -> np.ndarray:
        """The argument ``name`` as an element of the given sizes sees it (a view, not a copy)."""
        shape = shape_of(name, sizes)
        return self.buffer[name][: int(np.prod(shape))].reshape(shape)
