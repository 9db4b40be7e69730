"""Data of a run of the decoupled nonsmooth generalized-α scheme, shared by its compiled parts.

The recipe is `nsga_run.advance` → `nsga_run.step`; the sub-problems are in nsga_smooth, nsga_position, nsga_velocity.

Symbols as in docs/theory/decoupled_nsga.md; ~ marks the smooth part, arrays of nodes are (N, 6).

    symbol       code      meaning
    q_n, v_n     x0 Q0 R0 V0   start of the step               q~, v~    xs Qs Rs Vs   result of the smooth sub-problem
    q, v         x Q R V       current (corrected) values      v̇~, a     Vd, Va of the new step, Vd0, Va0 of the last
    D, U, W      D, U, W   increments of the smooth, position and velocity sub-problems
    λ~, ν, Λ     lam, nu, Lam  bilateral multipliers, divided by k_s, k_p, k_v
    ν, Λ, χ      cnu, cLam, cchi (nc, 3)  contact multipliers, the same (χ: moments divided by length k_v)
    ν_D          nu_D (nc,)  of drilling coupled with sliding: moments divided by c k_p; χ_3 is divided by c k_v there
    P            P         impulses of earlier problems of an impact sequence
                 xt Qt Rt  poses on the path of the step, see nsga_sweep
                 aLam, achi (nc, 3)  contact impulses that act in the problem, N s and N m s

"""

import math

import numpy as np
from numba import carray

from fem_mbs.assembly import DATA
from fem_mbs.jit import call2, integers, kernel, vector, void_pointer

# name -> shape; N nodes, m rows, c contacts, u unknowns of the largest problem, full = 6 N
ARRAYS = {
    "x": "N3", "Q": "N4", "R": "N33", "V": "N6", "x0": "N3", "Q0": "N4", "R0": "N33", "V0": "N6",
    "xs": "N3", "Qs": "N4", "Rs": "N33", "Vs": "N6", "Vd": "N6", "Va": "N6", "Vd0": "N6", "Va0": "N6",
    "D": "N6", "U": "N6", "W": "N6", "T": "N33", "trial": "N6", "Vminus": "N6", "Vsminus": "N6", "Ad": "N6",
    "Ma": "full", "f": "full", "r1": "full", "force": "full", "base": "full", "P": "full", "Gl": "full",
    "g": "m", "rate": "m", "lam": "m", "nu": "m", "Lam": "m", "phi": "m", "lam_report": "m", "keep_m": "m",
    "cnu": "c3", "cLam": "c3", "cchi": "c3", "base_v": "full",
    "total_Lam": "c3", "total_chi": "c3", "keep_c": "c3", "keep_chi": "c3", "aLam": "c3", "achi": "c3",
    "nu_D": "c", "keep_D": "c", "rows_D": "c",
    "clam": "c3", "ctau": "c3", "gamma_c": "c3", "rows_c": "c3", "rows_chi": "c3",
    "mchi": "c3", "wtau": "c3", "gamma_w": "c3", "Gw": "full", "fs": "full",
    "r": "u", "dx": "u", "history": "64", "xt": "N3", "Qt": "N4", "Rt": "N33",
}  # fmt: skip
# counts: iterations smooth, position, velocity; impact problems; penalty restarts; history length; failed sub-problem;
# sub-problems given to the contact-problem solver
INTEGERS = {
    "active": "c",
    "candidate": "c",
    "status": "c",
    "acted": "c",
    "turning": "c",
    "closed": "c",
    "rolls": "c",
    "spins": "c",
    "entered": "c",
    "ends": "c",
    "part": "n",
    "stirred": "n",
    "pause": "n",
    "pause_length": "n",
    "quick": "n",
    "quiet": "n",
    "impact": "c",
    "was_active": "c",
    "counts": "8",
}
# what `record` stores of a saved step; shapes in stepper.new_records
RECORDS = (
    "t h step problems repeats contact_problems position quaternion velocity acceleration multiplier gap impulse "
    "moment_impulse contact_point contact_normal contact_tangents contact_status impact output energy iterations "
    "violation"
).split()
SCALARS = (
    "h t alpha_m alpha_f beta gamma c_a c_q ks kp kv ps pp pv epsilon rtol tol_v mean_mass length F_s scale_x scale_v "
    "reference_force position_factor dynamic row row_T exact pp_T pv_T epsilon_rows restitution_scale allowed_energy "
    "last_energy top_kinetic largest_rise rise_time farthest sweep_travel sweep_size"
).split()
# C functions that the parts call each other through: a part is then compiled on its own, not again inside its callers
PARTS = (
    "smooth smooth_residual position position_residual position_matrix velocity velocity_residual velocity_matrix "
    "restart record check sweep settle"
).split()
OPTIONS = (
    "max_iterations max_problems mixed persistent reset reuse approach plastic save_every saved step_number "
    "max_halvings newton without_contacts repeated handed nc_fixed cut_short made_plastic fresh "
    "since struck abrupt whole_every first_residual strict conservative rises limited_impacts jumped "
    "touch swept swept_total swept_contact"
).split()

RUN = np.dtype(
    [(f"{name}_at", "i8") for name in (*ARRAYS, *INTEGERS)]
    + [(f"record_{name}_at", "i8") for name in RECORDS]
    + [(name, "f8") for name in SCALARS]
    + [(name, "i8") for name in OPTIONS]
    + [(f"{name}_part", "i8") for name in PARTS]
    + [(name, "i8") for name in ("data_at", "run_at", "code", "want_matrix", "contact_part")]
)

OK, NOT_CONVERGED, SINGULAR, NOT_FINITE, TOO_MANY_PROBLEMS, LARGE_ROTATION = 0, 1, 2, 3, 4, 5
JUMP, ENERGY_ROSE, OUT_OF_RANGE = 6, 7, 8
PASSED = 9  # a contact was passed within the step, and where it touched first cannot be told
EXACT = 1e-13  # constraints and gaps hold to this, relative to sizes and speeds, whatever the tolerance of the forces
ROUND_OFF = 5e-15  # floor of convergence tests, relative to sizes: sums of a few dozen products of order one


@kernel
def system_at(at):
    """Record of the system at an address, as an array of one."""
    return carray(void_pointer(at), (1,), DATA)


@kernel
def run_at(at):
    """Record of the run at an address, as an array of one."""
    return carray(void_pointer(at), (1,), RUN)


@kernel
def copy(a, b):
    """b ← a for arrays (N, k)."""
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            b[i, j] = a[i, j]


@kernel
def copy3(a, b):
    """b ← a for arrays (N, 3, 3)."""
    for i in range(a.shape[0]):
        for j in range(3):
            for k in range(3):
                b[i, j, k] = a[i, j, k]


@kernel
def largest(a):
    """Largest absolute value of an array (N, k)."""
    result = 0.0
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            result = max(result, abs(a[i, j]))
    return result


@kernel
def norm(a, n):
    """Euclidean norm of a (n,)."""
    total = 0.0
    for i in range(n):
        total += a[i] * a[i]
    return math.sqrt(total)


@kernel
def remember(s, value):
    """Append a residual norm to the history of the failed-step diagnosis."""
    counts, history = integers(s.counts_at, 8), vector(s.history_at, 64)
    if counts[5] < 64:
        history[counts[5]] = value
        counts[5] += 1


@kernel
def statuses(s, nc):
    """Number that changes when the status of any contact changes (decides on a new factorisation)."""
    status, candidate = integers(s.status_at, nc), integers(s.candidate_at, nc)
    result = 1
    for c in range(nc):
        result = (31 * result + 3 * candidate[c] + status[c]) % 1000000007
    return result


@kernel
def merit_of(s, k):
    """Norm of the whole residual of a correction: dynamic rows, and k times constraint, gap and friction rows."""
    return math.sqrt(s.dynamic**2 + (k * s.row) ** 2 + (k * s.row_T) ** 2)


@kernel
def by_contact_problem(s):
    """Hand the sub-problem of counts[6] to the contact-problem solver, once per step; s.code says whether it did."""
    if s.contact_part != 0 and integers(s.counts_at, 8)[4] == 0:
        call2(s.contact_part, s.data_at, s.run_at)
