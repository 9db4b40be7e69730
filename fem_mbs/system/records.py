"""Records through which compiled code finds a system: groups of elements, global matrices, the system itself.

A `System` fills them and keeps the arrays behind the addresses alive.
"""

import numpy as np
from numba import carray

from fem_mbs.jit import integers, kernel, vector, void_pointer

# A group: elements of one type. Fields that end in _at or that carry a kernel's name are addresses (0: absent).
KERNELS = (
    "inertia", "inertia_tangent", "force", "force_tangent", "energy", "mixed", "update", "initial", "accept",
    "constraint", "hessian", "rheonomic", "contact", "contact_hessian", "output", "trouble", "touching", "friction",
    "friction_hessian", "friction_bound", "engage",
)  # fmt: skip
ALL, COUNTING, OTHERS = 0, 1, 2  # elements that `accept_states` is called for
GROUP = np.dtype(
    [(name, "i8") for name in ("n", "nn", "nd", "nr", "ns", "nq", "no", "stride")]
    + [
        (name, "i8")
        for name in ("parameters_at", "nodes_at", "signals_at", "state_at", "G_at", "contact_at", "laws_at")
    ]
    + [("active_at", "i8"), ("efforts_at", "i8"), ("noted_at", "i8")]
    + [(name, "i8") for name in ("first_row", "first_contact", "first_output", "drilling", "viscous")]
    + [("velocity_rows", "i8"), ("tangent_tells_forces", "i8"), ("first_friction", "i8"), ("joint_rows_at", "i8")]
    + [("abstract", "i8"), ("counts_turns", "i8"), ("far", "i8"), ("width", "i8"), ("fills", "i8"), ("weighted", "i8")]
    + [("maps_at", "i8", (3,))]
    # laws of contacts that depend on speeds, see `fem_mbs.system.speed_pieces`; 0 pieces: none does
    + [(name, "i8") for name in ("restitution_at", "restitution_pieces", "sliding_at", "sliding_pieces")]
    + [(name, "i8") for name in KERNELS]
)

# A global matrix: pattern, values and the linear solver that works on them (fem_mbs/linear/solvers.py). One that is
# stacked of blocks has the address of what `add_block` reads, see `fem_mbs.system.layout.Stack`.
LAYOUT = np.dtype(
    [(name, "i8") for name in ("n", "nnz", "values_at", "diagonal_at", "factor", "solve", "context_at", "status_at")]
    + [("stack_at", "i8"), ("pointers_at", "i8")]
)
SMOOTH, POSITION, VELOCITY, STACKED = 0, 1, 2, 3
TRANSLATIONS = 3  # width of elements whose local arrays have no rotations
FILLS_M, FILLS_C, FILLS_K, FILLS_KA = 1, 2, 4, 8  # which tangents the kernels of a group add to

# The system: sizes and addresses.
DATA = np.dtype(
    [(name, "i8") for name in ("n_nodes", "n", "m", "nc", "n_groups", "first_contact_group", "n_signals", "n_outputs")]
    + [(name, "i8") for name in ("groups_at", "dof_at", "turns_at", "table_at", "signals_at", "layouts_at")]
    + [(name, "i8") for name in ("roll_index_at", "n_roll", "drill_index_at", "drill_arm_at", "n_drill", "row_arm_at")]
    + [("rate_rows_at", "i8"), ("n_rate_rows", "i8")]  # rows of velocities, by number
    # groups with joint friction follow each other, that many bytes behind the first group
    + [(name, "i8") for name in ("n_friction", "n_friction_groups", "friction_offset")]
    + [("states_at", "i8")]  # of each node whether it is a state, not matter
    + [("gravity_signal", "i8")]  # first of three functions of time, −1 for a constant field
    # flags of constraint rows without any motion; record of the redundant rows (0: none)
    + [("empty_rows_at", "i8"), ("shared_at", "i8")]
)


@kernel
def groups_of(d):
    """Records of all groups."""
    return carray(void_pointer(d.groups_at), (d.n_groups,), GROUP)


@kernel
def layouts_of(d):
    """Records of the global matrices: three that elements are assembled into, and one that is stacked of them."""
    return carray(void_pointer(d.layouts_at), (4,), LAYOUT)


@kernel
def switches_of(g):
    """Flags of the active elements of a group (n,), 1 or 0: inactive ones do nothing (docs/theory/switches.md)."""
    return integers(g.active_at, g.n)


@kernel
def zero(at, n):
    """Set n numbers at an address to zero."""
    values = vector(at, n)
    for i in range(n):
        values[i] = 0.0
