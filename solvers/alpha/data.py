"""Data of a run of a coupled generalized-α method, in addition to those of `stepping.kernels.data`; kernels call its
record ``o``.

The recipe is `alpha.scheme.coupled_advance` → `stepping.kernels.step.take` → `alpha.scheme.coupled_step`; the problem
is in alpha.coupled, its contacts in alpha.contacts.

    symbol    code              meaning (docs/theory/nonsmooth_generalized_alpha.md)
    v̇~, a     Vd0, Va           v̇~ of the last step, a of this one
    T(D), 𝒫   TD, TP (N, 3, 3)  from increments of D to rotations of q~, of q
    r1, r3    rs, rp            dynamic rows of motion and positions; those of velocities, r5, are ``r1`` of the run
"""

from numba import carray

from fem_mbs.data_table import Item, Table
from fem_mbs.jit import kernel, void_pointer

# what every method that integrates with the generalized-α method has
MEMORY = {
    "Va": Item("N 6", "a, of the generalized-α method", kept=True),
    "Vd0": Item("N 6", "v̇~ of the last step", kept=True),
}
COEFFICIENTS = {
    "alpha_m": Item("", "α_m"),
    "alpha_f": Item("", "α_f"),
    "beta": Item("", "β"),
    "gamma": Item("", "γ"),
    "c_a": Item("", "∂v̇/∂v of the method"),
    "c_q": Item("", "∂D/∂v of the method"),
}

# of the method with laws at three levels, see alpha.levels
LEVELS = {
    "lam_c": Item("nc 6", "λ of contacts, see alpha.levels_friction, divided by k_s", kept=True, scaling=1),
    "lam_c0": Item("nc 6", "the same at the start of the step [N]", kept=True),
    "lam_change": Item("nc 6", "change of λ in the last step [N]", kept=True),
    "branch": Item("nc", "number of the branches of a contact in the last step", "i8", kept=True),
    "changed": Item("nc", "whether it changed in that step", "i8", kept=True),
    "bar0": Item("nc 6", "λ̄ of contacts at the start of the step [N]", kept=True),
    "bar": Item("nc 6", "λ̄ at the end of the step without the part of λ [N]"),
    "rows_a": Item("nc 6", "rows of contacts in accelerations, divided by c_a"),
    "turned": Item("nc 6", "c_N, c_F: d(G v)/dt at fixed v, of moments times the length of the model"),
    "direction": Item("nc 6", "of sliding, rolling and spinning, for Λ_F"),
    "direction_a": Item("nc 6", "of these or of their beginning, for λ_F"),
    "slide": Item("nc 3", "size of what ``direction`` of a cone is the direction of [m/s]"),
    "slide_a": Item("nc 3", "size of what ``direction_a`` of a cone is the direction of"),
    "level": Item("nc", "0: open; 1, 2, 3: closed in positions, and velocities, and accelerations", "i8"),
    "forces": Item("", "contacts hold in accelerations", "i8"),
    "reached": Item("nc", "bodies touch without correction of positions", "i8"),
    "state": Item("nc 3", "GAP, STICK, SLIP or CLOSED of each cone", "i8"),
    "begins": Item("nc 3", "a cone sticks in velocities and begins to slide", "i8"),
    "lasting": Item("nc 3", "a cone was closed and sliding at the start of the step", "i8"),
    "slides_on": Item("nc 3", "a cone that does so slides on", "i8"),
    "beyond": Item("", "largest |P_F| − μ P_N of a cone in the run [N s]", kept=True),
    "widest": Item("", "largest μ P_N [N s]", kept=True),
    "relax": Item("nc 6", "r of the fixed-point iteration for ω = 1 [kg]"),
    "kept_motion": Item("5 N 6", "unknowns of the motion that Newton's iteration may leave"),
    "kept_rows": Item("3 m", "multipliers of joints, the same"),
    "kept_contacts": Item("2 nc 6", "impulses of contacts, the same"),
    "kept_forces": Item("nc 6", "forces of contacts, the same"),
    "held": Item("", "multipliers of contacts are given, see alpha.levels_prox", "i8"),
    "xc": Item("N 3", "scratch of contact.convection and alpha.contacts"),
    "Qc": Item("N 4", "scratch of contact.convection and alpha.contacts"),
    "Rc": Item("N 3 3", "scratch of contact.convection and alpha.contacts"),
    "Tc": Item("N 3 3", "scratch of contact.convection and alpha.contacts"),
    "Dc": Item("N 6", "scratch of contact.convection and alpha.contacts"),
    "TW": Item("N 3 3", "Ω~, or other matrices that rotation columns are multiplied by"),
}

TABLE = Table(
    "run of a coupled generalised-α method",
    {
        **MEMORY,
        "TD": Item("N 3 3", "T(D)"),
        "TP": Item("N 3 3", "𝒫 = exp(−U~) T(D)"),
        "rs": Item("full", "dynamic rows of the smooth motion, times h"),
        "rp": Item("full", "dynamic rows of positions, divided by h"),
        "MU": Item("full", "M U"),
        "MW": Item("full", "M W"),
        "rate_s": Item("m", "G v~ + ∂g/∂t"),
        "lam0": Item("m", "λ~ of the last step, divided by k_s"),
        "rows_p": Item("nc", "normal rows of contacts in the position problem, divided by k_p"),
        **COEFFICIENTS,
        **LEVELS,
        "levels": Item("", "1: motion with g = 0; 2: and positions; 3: and velocities", "i8"),
        "follows": Item("", "positions follow velocities, see alpha.one_level", "i8"),
        "combined": Item("", "gaps are complementary to ν_N − h Λ_N, see alpha.one_level", "i8"),
        "prediction": Item("", "positions at which contacts become active in velocities, see alpha.contacts", "i8"),
        "block": Item("", "block that is solved, ALL: all of them", "i8"),
        "complete": Item("", "all blocks are solved", "i8"),
        "taken": Item("", "part of the Newton step that is taken"),
        "moved": Item("", "largest increment of positions in the last iteration"),
        "first_merit": Item("", "norm of the rows of all blocks where the iteration starts"),
        # norms of the last residual; those of velocities are ``dynamic`` and ``row`` of the run
        "dynamic_s": Item("", "dynamic rows of the smooth motion"),
        "dynamic_p": Item("", "dynamic rows of positions"),
        "row_s": Item("", "constraint rows of the smooth motion, as velocities"),
        "row_p": Item("", "constraint and gap rows of positions"),
        "block_problem": Item("", "record of Newton's iteration: one block", "i8"),
        "iterate_part": Item("", "that iteration", "i8"),
    },
)
OWN = TABLE.dtype


@kernel
def own_at(at):
    """Record of this table at an address, as an array of one."""
    return carray(void_pointer(at), (1,), OWN)
