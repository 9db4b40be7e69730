"""Data of a run of Moreau's scheme, in addition to those of `stepping.kernels.data`; kernels call its record ``o``."""

from numba import carray

from fem_mbs.data_table import Item, Table
from fem_mbs.jit import kernel, void_pointer

TABLE = Table(
    "run of MoreauJean",
    {
        "f0": Item("full", "forces at the start of the step", kept=True),
        "reaction": Item("full", "forces of joints in the problem of the step"),
        "quiet": Item("", "size of the reactions in the last step without an impact; below 0: not known", kept=True),
        "start_gap": Item("nc", "gaps at the start of the step"),
        "theta": Item("", "θ"),
        "c_q": Item("", "∂D/∂v = θ h"),
        "project": Item("", "positions are projected after the step", "i8"),
        "held_problem": Item("", "record of Newton's iteration: velocities at projected positions", "i8"),
    },
)
OWN = TABLE.dtype


@kernel
def own_at(at):
    """Record of this table at an address, as an array of one."""
    return carray(void_pointer(at), (1,), OWN)
