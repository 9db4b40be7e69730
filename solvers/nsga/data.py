"""Data of a run of the decoupled nonsmooth generalized-α scheme, shared by its compiled parts.

The recipe is `nsga.scheme.advance` → `stepping.step.take` → `nsga.scheme.step`; the sub-problems are in nsga.smooth,
nsga.position, nsga.velocity. Moreau's scheme (moreau.kernels) uses the same data.

Symbols as in docs/theory/decoupled_nsga.md; ~ marks the smooth part, arrays of nodes are (N, 6).

    symbol       code      meaning
    q_n, v_n     x0 Q0 R0 V0   start of the step               q~, v~    xs Qs Rs Vs   result of the smooth sub-problem
    q, v         x Q R V       current (corrected) values      v̇~, a     Vd, Va of the new step, Vd0, Va0 of the last
    D, U, W      D, U, W   increments of the smooth, position and velocity sub-problems
    λ~, ν, Λ     lam, nu, Lam  bilateral multipliers, divided by k_s, k_p, k_v
    ν, Λ, χ      cnu, cLam, cchi (nc, 3)  contact multipliers, the same (χ: moments divided by length k_v)
    ν_D          nu_D (nc,)  of drilling coupled with sliding: moments divided by c k_p; χ_3 is divided by c k_v there
    P            P         impulses of earlier problems of an impact sequence
                 xt Qt Rt  poses on the path of the step, see contact.sweep
                 aLam, achi (nc, 3)  contact impulses that act in the problem, N s and N m s
                 sent, sent_chi (nc, 3)  momentum that contacts hand over in the step, see nsga.momentum

"""

import math

from numba import carray

from fem_mbs.jit import call2, kernel, void_pointer
from fem_mbs.solvers.stepping.table import Item, Table
from fem_mbs.system.assembly import DATA

# C functions that the parts call each other through: a part is then compiled on its own, not again inside its callers
PARTS = (
    "advance step smooth smooth_residual position position_residual position_matrix velocity velocity_residual "
    "velocity_matrix held_residual held_matrix restart record check sweep settle"
).split()

_LAST = "of the last step, where Newton's iteration starts"
_SCRATCH = "scratch"

# N nodes, full = 6 N, m constraint rows, nc contacts, u unknowns of the largest matrix
TABLE = Table(
    "run of DecoupledNSGA",
    {
        # configurations and velocities
        "x": Item("N 3", "positions", kept=True),
        "Q": Item("N 4", "rotations, quaternions", kept=True),
        "R": Item("N 3 3", "rotations, matrices", kept=True),
        "V": Item("N 6", "velocities", kept=True),
        "x0": Item("N 3", "at the start of the step"),
        "Q0": Item("N 4", "at the start of the step"),
        "R0": Item("N 3 3", "at the start of the step"),
        "V0": Item("N 6", "at the start of the step"),
        "xs": Item("N 3", "of the smooth sub-problem"),
        "Qs": Item("N 4", "of the smooth sub-problem"),
        "Rs": Item("N 3 3", "of the smooth sub-problem"),
        "Vs": Item("N 6", "of the smooth sub-problem"),
        "Vd": Item("N 6", "v̇~", kept=True),
        "Va": Item("N 6", "a, of the generalized-α method", kept=True),
        "Vd0": Item("N 6", "v̇~ of the last step", kept=True),
        "Va0": Item("N 6", "a of the last step", kept=True),
        "xt": Item("N 3", "at the touch of swept contacts"),
        "Qt": Item("N 4", "at the touch of swept contacts"),
        "Rt": Item("N 3 3", "at the touch of swept contacts"),
        "D": Item("N 6", "increment of the smooth sub-problem"),
        "U": Item("N 6", "increment of the position correction"),
        "W": Item("N 6", "increment of the velocity correction"),
        "T": Item("N 3 3", "tangent operators of increments"),
        "trial": Item("N 6", _SCRATCH),
        "Vminus": Item("N 6", "velocities before the impact problem"),
        "Vsminus": Item("N 6", "velocities before the first impact problem of the step"),
        "Ad": Item("N 6", "accelerations at which M(q) is differentiated"),
        # forces, full vectors
        "Ma": Item("full", "M v̇~"),
        "f": Item("full", "forces of the smooth sub-problem"),
        "r1": Item("full", "dynamic rows of the residual"),
        "force": Item("full", _SCRATCH),
        "base": Item("full", "f(q~, v~) + G(q~)ᵀ k_s λ~"),
        "base_v": Item("full", "the same with forces of closed contacts, less M v̇~"),
        "P": Item("full", "impulses of earlier problems of an impact sequence"),
        "f0": Item("full", "forces at the start of the step, of Moreau's scheme", kept=True),
        "Gl": Item("full", "Gᵀ k_s λ~"),
        "Gw": Item("full", "moments of closed contacts in the smooth sub-problem", kept=True),
        "fs": Item("full", "forces at the end of the smooth sub-problem", kept=True),
        # constraints
        "g": Item("m", "g"),
        "rate": Item("m", "ġ, or rows of the velocity problem"),
        "lam": Item("m", "λ~, divided by k_s", kept=True, scaling=1),
        "nu": Item("m", "ν, divided by k_p", kept=True),
        "Lam": Item("m", "Λ, divided by k_v", kept=True),
        "phi": Item("m", "forces in the tangents, or convective terms"),
        "lam_report": Item("m", "reactions that are saved", kept=True),
        "keep_m": Item("m", "multipliers before a line search"),
        # contacts
        "cnu": Item("nc 3", "ν of contacts, divided by k_p", kept=True, scaling=2),
        "cLam": Item("nc 3", "Λ of contacts, divided by k_v", kept=True),
        "cchi": Item("nc 3", "χ of contacts: moment impulses divided by length k_v", kept=True),
        "total_Lam": Item("nc 3", f"impulses {_LAST}", kept=True, scaling=1),
        "total_chi": Item("nc 3", f"moment impulses {_LAST}", kept=True, scaling=1),
        "keep_c": Item("nc 3", "multipliers before a line search"),
        "keep_chi": Item("nc 3", "multipliers before a line search"),
        "aLam": Item("nc 3", "impulses that act in the problem [N s]"),
        "achi": Item("nc 3", "moment impulses that act in the problem [N m s]"),
        "nu_D": Item("nc", "ν of drilling coupled with sliding: moments divided by c k_p", kept=True, scaling=2),
        "keep_D": Item("nc", "the same before a line search"),
        "rows_D": Item("nc", "rows of drilling in the position correction"),
        "clam": Item("nc 3", "λ of closed contacts in the smooth sub-problem, divided by k_s", kept=True, scaling=1),
        "mchi": Item("nc 3", "their moments, divided by length k_s", kept=True, scaling=1),
        "clam0": Item("nc 3", "clam at the start of the step"),
        "mchi0": Item("nc 3", "mchi at the start of the step"),
        "sent": Item("nc 3", "momentum of the step from contacts, with persistent contacts [N s]"),
        "sent_chi": Item("nc 3", "the same about rolling and spinning axes [N m s]"),
        "ctau": Item("nc 3", "directions of sliding, see nsga.persistent", kept=True),
        "wtau": Item("nc 3", "directions of rolling and spinning", kept=True),
        "gamma_c": Item("nc 3", "d(G v)/dt of closed contacts at fixed v"),
        "gamma_w": Item("nc 3", "length d(W v)/dt of closed contacts at fixed v"),
        "rows_c": Item("nc 3", "rows of contacts"),
        "rows_chi": Item("nc 3", "rows of rolling and spinning"),
        # linear systems
        "r": Item("u", "right-hand side"),
        "dx": Item("u", "solution"),
        "history": Item("64", "residual norms, for the diagnosis of a failed step"),
        # statuses, see nsga.entry
        "active": Item("nc", "status of the position correction", "i8"),
        "candidate": Item("nc", "takes part in the impact problem", "i8"),
        "status": Item("nc", "GAP, STICK, SLIP or CLOSED in the sub-problem", "i8"),
        "acted": Item("nc", "status that is saved", "i8", kept=True),
        "turning": Item("nc", "status of rolling and spinning", "i8"),
        "closed": Item("nc", "status in the smooth sub-problem", "i8", kept=True),
        "rolls": Item("nc", "the same for rolling", "i8", kept=True),
        "spins": Item("nc", "the same for spinning", "i8", kept=True),
        "entered": Item("nc", "closed as it entered the step", "i8", kept=True),
        "ends": Item("nc", "closed as the step ended, before pauses", "i8", kept=True),
        "part": Item("N", "connected part of each node, −1: cannot move", "i8"),
        "stirred": Item("N", "per part: a contact has changed", "i8", kept=True),
        "pause": Item("N", "per part: steps left of a pause", "i8", kept=True),
        "pause_length": Item("N", "per part: length of the last pause", "i8", kept=True),
        "quick": Item("N", "per part: changes in quick succession", "i8", kept=True),
        "quiet": Item("N", "per part: steps since the last change", "i8", kept=True),
        "impact": Item("nc", "took part in an impact of the step", "i8", kept=True),
        "was_active": Item("nc", "carried an impulse in the last step", "i8", kept=True),
        "counts": Item(
            "8",
            "iterations smooth, position, velocity; impact problems; penalty restarts; length of the "
            "history; failed sub-problem; sub-problems given to the contact-problem solver",
            "i8",
        ),
        # the step and the method
        "h": Item("", "step size"),
        "t": Item("", "time at the end of the step", kept=True),
        "alpha_m": Item("", "α_m"),
        "alpha_f": Item("", "α_f"),
        "beta": Item("", "β"),
        "gamma": Item("", "γ"),
        "theta": Item("", "θ of Moreau's scheme"),
        "c_a": Item("", "∂v̇/∂v of the method"),
        "c_q": Item("", "∂D/∂v of the method"),
        "ks": Item("", "k of the smooth sub-problem"),
        "kp": Item("", "k of the position correction"),
        "kv": Item("", "k of the velocity correction"),
        "ps": Item("", "p of the smooth sub-problem"),
        "pp": Item("", "p of the position correction"),
        "pv": Item("", "p of the velocity correction"),
        "epsilon": Item("", "proximal shift, relative"),
        "rtol": Item("", "relative tolerance"),
        "tol_v": Item("", "approach speeds below it are no impacts"),
        "mean_mass": Item("", "of the moving nodes"),
        "length": Item("", "turns moments into forces"),
        "F_s": Item("", "size of the forces"),
        "scale_x": Item("", "size of the positions", kept=True),
        "scale_v": Item("", "size of the velocities", kept=True),
        "reference_force": Item("", "forces are solved to rtol of it at least"),
        "position_factor": Item("", "c_p"),
        "dynamic": Item("", "norm of the dynamic rows"),
        "row": Item("", "norm of constraint and gap rows"),
        "row_T": Item("", "norm of friction rows"),
        "exact": Item("", "accuracy of constraints and gaps"),
        "pp_T": Item("", "p of friction in the position correction"),
        "pv_T": Item("", "p of friction in the velocity correction"),
        "epsilon_rows": Item("", "proximal shift of constraint rows, relative"),
        "restitution_scale": Item("", "part of the restitution that acts, see nsga.velocity"),
        "allowed_energy": Item("", "rise that is allowed since the last look, see stepping.checks", kept=True),
        "last_energy": Item("", "energy when it was last looked at", kept=True),
        "top_kinetic": Item("", "largest kinetic energy", kept=True),
        "largest_rise": Item("", "of the energy, beyond what is allowed", kept=True),
        "rise_time": Item("", "time of the largest rise", kept=True),
        "sweep_travel": Item("", "of a contact that is passed"),
        "sweep_size": Item("", "of a contact that is passed"),
        "farthest": Item("", "of a jump: motion over what is allowed"),
        # options
        "max_iterations": Item("", "of a sub-problem", "i8"),
        "max_problems": Item("", "impact problems of a step", "i8"),
        "max_halvings": Item("", "of a line search", "i8"),
        "mixed": Item("", "mixed iteration of beams", "i8"),
        "persistent": Item("", "closed contacts take part in the smooth sub-problem", "i8"),
        "reset": Item("", "restart after an impact", "i8"),
        "project": Item("", "positions are projected after the step", "i8"),
        "reuse": Item("", "keep a factorisation while it contracts", "i8"),
        "approach": Item("", "Newton's law reflects the slower approach", "i8"),
        "touch": Item("", "Newton's law reflects the speed at the touch", "i8"),
        "newton": Item("", "contacts by Newton's iteration first", "i8"),
        "strict": Item("", "a rise of the energy refuses a step", "i8"),
        "conservative": Item("", "nothing drives or loads the model", "i8"),
        "abrupt": Item("", "elements have forces that change abruptly", "i8"),
        "save_every": Item("", "steps between saved ones", "i8"),
        "whole_every": Item("", "steps between those with outputs and energies", "i8"),
        "nc_fixed": Item("", "contacts that are not of contact groups", "i8"),
        # state of the run
        "saved": Item("", "rows of the records that are filled", "i8", kept=True),
        "step_number": Item("", "steps done", "i8", kept=True),
        "plastic": Item("", "no restitution in this attempt", "i8"),
        "without_contacts": Item("", "residuals leave contacts out", "i8"),
        "repeated": Item("", "steps that were repeated", "i8", kept=True),
        "handed": Item("", "sub-problems given to the contact-problem solver", "i8", kept=True),
        "cut_short": Item("", "impact sequences that were cut short", "i8", kept=True),
        "made_plastic": Item("", "steps taken without restitution", "i8", kept=True),
        "fresh": Item("", "the memory was started afresh", "i8", kept=True),
        "since": Item("", "steps since the last restart", "i8", kept=True),
        "struck": Item("", "the step had an impact", "i8", kept=True),
        "rises": Item("", "rises of the energy beyond what is allowed", "i8", kept=True),
        "limited_impacts": Item("", "impacts with less restitution", "i8", kept=True),
        "swept": Item("", "swept contacts of the step", "i8"),
        "swept_total": Item("", "swept contacts of all steps", "i8", kept=True),
        "swept_contact": Item("", "contact that is passed", "i8"),
        "jumped": Item("", "node that jumped, or element out of its range", "i8"),
        "first_residual": Item("", "the residual is the first of its iteration", "i8"),
        "code": Item("", "how a part ended", "i8"),
        "want_matrix": Item("", "the smooth residual assembles its matrix", "i8"),
        # addresses
        **{f"{name}_part": Item("", "compiled part", "i8") for name in PARTS},
        "contact_part": Item("", "corrections by the contact-problem solver, 0: none", "i8"),
        "data_at": Item("", "record of the system", "i8"),
        "run_at": Item("", "record of the run itself", "i8"),
        "records_at": Item("", "record of the arrays of saved steps", "i8"),
    },
)
RUN = TABLE.dtype

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
    counts, history = s.counts, s.history
    if counts[5] < 64:
        history[counts[5]] = value
        counts[5] += 1


@kernel
def statuses(s, nc):
    """Number that changes when the status of any contact changes (decides on a new factorisation)."""
    status, candidate = s.status, s.candidate
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
    if s.contact_part != 0 and s.counts[4] == 0:
        call2(s.contact_part, s.data_at, s.run_at)
