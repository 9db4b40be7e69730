"""Data of a run of cone complementarity stepping, in addition to those of `stepping.kernels.data`; kernels call its
record ``o``.
"""

from numba import carray

from fem_mbs.data_table import Item, Table
from fem_mbs.jit import kernel, void_pointer

TABLE = Table(
    "run of ConeComplementarity",
    {
        "reaction": Item("full", "forces of joints"),
        "recovery": Item("", "speed at which overlaps are taken back at most"),
        "distance": Item("", "gap up to which contacts take part, < 0: chosen in each step"),
        "whole": Item("", "step size of the user: in it, not in its parts, overlaps are taken back"),
        "many": Item("", "contacts of a step above which the contact-problem solver takes them at once", "i8"),
        "relaxed": Item("", "the relaxed law of contact, else Coulomb's", "i8"),
        "kinetic": Item("", "largest kinetic energy before and after steps that have lost such energy", kept=True),
        "all_lost": Item("", "energy that restitution would have left, in all steps [J]", kept=True),
    },
)
OWN = TABLE.dtype


@kernel
def own_at(at):
    """Record of this table at an address, as an array of one."""
    return carray(void_pointer(at), (1,), OWN)
