"""Data of a run of the decoupled nonsmooth generalized-α scheme, in addition to those of `stepping.kernels.data`.

The recipe is `nsga.scheme.advance` → `stepping.kernels.step.take` → `nsga.scheme.step`; the sub-problems are in
nsga.smooth, nsga.position, nsga.velocity. Kernels call the record of the run ``s`` and the record of this table ``o``.

    symbol    code            meaning (docs/theory/decoupled_nsga.md)
    v̇~, a     Vd0, Va         v̇~ of the last step, a of this one
    λ_c       clam (nc, 6)    multipliers of closed contacts in the smooth sub-problem, moments too
"""

from numba import carray

from fem_mbs.data_table import Item, Table
from fem_mbs.jit import kernel, void_pointer
from fem_mbs.solvers.alpha.data import COEFFICIENTS, MEMORY
from fem_mbs.solvers.contact.first_touch import SEARCH
from fem_mbs.solvers.nsga.guesses import ITEMS

PARTS = "smooth velocity restart closed course".split()  # as `stepping.kernels.data.PARTS`

TABLE = Table(
    "run of DecoupledNSGA",
    {
        **MEMORY,
        "Gw": Item("full", "moments of closed contacts in the smooth sub-problem", kept=True),
        "clam": Item(
            "nc 6", "λ of closed contacts in the smooth sub-problem, divided by k_s and arms", kept=True, scaling=1
        ),
        "clam0": Item("nc 6", "clam at the start of the step"),
        # forces [N] and moments [N m] of closed contacts in the smooth sub-problem, inertial axes, see nsga.momentum
        "cforce": Item("nc 6", "at the end of the step"),
        "cforce0": Item("nc 6", "at its start: their part of M v̇~ of the last step", kept=True),
        "cforce_a": Item("nc 6", "their part of M a", kept=True),
        "cforce_change": Item("nc 6", "their change in the last step", kept=True),
        "ctau": Item("nc 6", "directions of sliding, rolling and spinning, see nsga.persistent", kept=True),
        "gamma_c": Item("nc 6", "d(G v)/dt, length d(W v)/dt of closed contacts at fixed v"),
        "rolls": Item("nc", "as closed, for rolling", "i8", kept=True),
        "spins": Item("nc", "as closed, for spinning", "i8", kept=True),
        "entered": Item("nc", "closed as it entered the step", "i8", kept=True),
        "ends": Item("nc", "closed as the step ended, before pauses", "i8", kept=True),
        "part": Item("N", "connected part of each node, −1: cannot move", "i8"),
        "stirred": Item("N", "per part: a contact has changed", "i8", kept=True),
        "pause": Item("N", "per part: steps left of a pause", "i8", kept=True),
        "pause_length": Item("N", "per part: length of the last pause", "i8", kept=True),
        "quick": Item("N", "per part: changes in quick succession", "i8", kept=True),
        "quiet": Item("N", "per part: steps since the last change", "i8", kept=True),
        "needed": Item(
            "nc", "friction over normal force that a contact needs to stick to the end of the step; 0: no more"
        ),
        "tried_before": Item("nc 2", "coefficient and pass of the time before the touch of a split step"),
        "tried_impact": Item("nc 5", "those of its impact, speed and velocity of sliding at the touch"),
        **COEFFICIENTS,
        "ps": Item("", "p of the smooth sub-problem"),
        "mixed": Item("", "mixed iteration of beams", "i8"),
        "reset": Item("", "restarts after impacts, see nsga.scheme", "i8"),
        "fresh": Item("", "steps of the trapezoidal rule left after a restart of the memory", "i8", kept=True),
        "since": Item("", "steps since the last restart", "i8", kept=True),
        "lag": Item("", "times the change of v̇~ that a gets in a step of the trapezoidal rule"),
        # search along a Newton step of the smooth sub-problem
        "taken": Item("", "part of the step that is taken"),
        "trials": Item("", "trial points of all iterations", "i8"),
        "moved": Item("", "largest increment of the last iteration"),
        "c_step": Item("", "change of v̇~ per change of v~ in this iteration"),
        "first_force": Item("", "size of the forces at the first iteration"),
        "checked": Item("", "forces of closed contacts have been looked at", "i8"),
        # closed contacts and impacts that are split, see nsga.closed
        "integrated": Item("", "an impact of this step was integrated along its impulse, see nsga.course", "i8"),
        "by_course": Item("", "steps with such an impact", "i8", kept=True),
        "poisson": Item("", "restitution of such impacts is Poisson's, not Stronge's", "i8"),
        "by_newton": Item("", "other steps with an impact", "i8", kept=True),
        "missing": Item("", "norm of the other rows of closed contacts"),
        "answer": Item("", "of the last task", "i8"),
        **SEARCH,
        **ITEMS,
        # addresses
        **{f"{name}_part": Item("", "compiled part", "i8") for name in PARTS},
        "smooth_problem": Item("", "record of Newton's iteration", "i8"),
    },
)
OWN = TABLE.dtype


@kernel
def own_at(at):
    """Record of this table at an address, as an array of one."""
    return carray(void_pointer(at), (1,), OWN)
