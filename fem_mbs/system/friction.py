"""Joint friction: evaluation of its rows and bounds, and the record of each.

An element of this role has one row, the relative rate of a joint coordinate, γ = G v + ∂γ/∂t, and a bound N(λ) of what
friction can hold, positively homogeneous in the multipliers λ of the joint but for a part that is given
(`fem_mbs.element.friction_row`). The law is that of the method that solves it, see
`fem_mbs.solvers.joint_friction.friction`.

All that a run changes is in the record `FRICTION`, with which the internal variables of the element (``state``) begin,
so that it is saved and restored with those of all elements.

Source: docs/theory/joint_friction.md, (1), (2).
"""

import numpy as np
from numba import carray

from fem_mbs.jit import SLOT, address_of, call2, indices, integer_matrix, integers, kernel, tensor, vector, void_pointer
from fem_mbs.system.gather import gather_motion
from fem_mbs.system.records import GROUP, layouts_of, switches_of, zero

MOST_ROWS = 5  # of a joint that leaves a coordinate free
FREE, STICK, SLIP = 0.0, 1.0, 2.0  # status; FREE: without friction

# Problem that is solved for a row in a step; a split step has two, see `joint_friction.friction_touch`.
PROBLEM = [
    ("start_status", "f8"),  # status as the step, or the impact of a split step, began
    ("sign", "f8"),  # direction of sliding as it began and of the last sliding, ±1
    ("event_fraction", "f8"),  # fraction of the step before sliding began or reversed, 0: no change within the step
    ("coefficient", "f8"),  # μ of this pass
    ("pass_number", "f8"),  # 0 … 2; −1 at the start of a run
    ("prescribed", "f8"),  # 1: trial_status is prescribed, 0: it follows from the rate, −1: no friction acts
    ("bound_share", "f8"),  # fraction of the bound that acts in the step
    ("added_bound", "f8"),  # impulse that is added to it [N s, N m s]
    ("trial_status", "f8"),  # status in the problem
    ("trial_sign", "f8"),  # direction of sliding in the problem, ±1
]

# Units are those of a displacement; for an angle N m in place of N, rad/s of m/s, N m s of N s and kg m² of kg.
FRICTION = np.dtype([
    # saved: at the end of the last step, for outputs and for the next step
    ("status", "f8"),  # STICK or SLIP
    ("force", "f8"),  # friction force [N]
    ("bound", "f8"),  # μ N, the most that it can be [N]
    ("rate", "f8"),  # γ [m/s]
    ("work", "f8"),  # dissipated since the start [J]
    ("kappa", "f8"),  # κ
    ("jammed", "f8"),  # 1: it jammed in the step
    # of the row
    ("arm", "f8"),  # converts γ into a velocity [m, 1 of a displacement]
    ("effective_mass", "f8"),  # p, of the coordinate [kg]
    ("given_rate", "f8"),  # ∂γ/∂t, less the speed of the surface [m/s]
    ("normal_force", "f8"),  # N(λ) as evaluated last, the bound over the coefficient [N]
    ("slope", "f8", (MOST_ROWS,)),  # ∂N/∂λ there
    # of the step: at its start
    ("start_rate", "f8"),  # γ [m/s]
    ("start_force", "f8"),  # friction force [N]
    ("start_smooth_force", "f8"),  # λ~ [N]
    ("start_given_rate", "f8"),  # ∂γ/∂t [m/s]
    # of the step: smooth sub-problem
    ("smooth_force", "f8"),  # λ~ [N]
    ("excluded", "f8"),  # 1: left out of the smooth sub-problem and of consistent accelerations
    ("residual", "f8"),  # of the row, here and in the sub-problems below [m/s, of the position correction m]
    # of the step: position correction
    ("correction_force", "f8"),  # friction force Y [N]
    ("correction_force_before", "f8"),  # the same as a search along a Newton step begins
    ("correction_normal_force", "f8"),  # N of this pass, −1 in the first one [N]
    # of the step: velocity sub-problem
    *PROBLEM,
    ("impulse", "f8"),  # Λ, total impulse of the step [N s]
    ("impulse_before", "f8"),  # the same as a search along a Newton step begins
    ("earlier_impulse", "f8"),  # impulse of the step before the impact problem that is solved [N s]
    # of the step: split step
    ("touch_impulse", "f8"),  # impulse of the time before the touch [N s]
    ("touch_rate", "f8"),  # γ at the touch [m/s]
    ("before_touch", PROBLEM),  # problem of the time before the touch as its pass begins
    ("at_touch", PROBLEM),  # problem of the impact as its pass begins
    # of the step: energy balance
    ("step_work", "f8"),  # dissipated in the step [J]
    ("surface_work", "f8"),  # work of the moving surface in the step [J]
    # consistent accelerations
    ("given_acceleration", "f8"),  # dγ/dt less G v̇ of the unknowns [m/s²]
    ("normal_offset", "f8"),  # N − ∂N/∂λ λ at the multipliers of the last solution [N]
    ("last_smooth_force", "f8"),  # λ~ of the smooth motion before [N]
    ("status_changes", "f8"),  # number of changes of the status
    ("unsettled", "f8"),  # 1: the iteration has not converged with it
])  # fmt: skip
N_FRICTION = FRICTION.itemsize // 8

COEFFICIENTS = np.dtype([
    ("static", "f8"),  # μ_s
    ("sliding", "f8"),  # μ_k
    ("every_kappa", "f8"),  # 1: κ is computed in every step
])  # fmt: skip

_V, _G, _GG, _H, _GT, _GTT, _LAM = (SLOT[k] for k in ("v", "g", "G", "H", "gt", "gtt", "lam"))
_BOUND, _BOUND_LAM, _BOUND_Q = (SLOT[k] for k in ("bound", "bound_lam", "bound_q"))


@kernel
def friction_groups(d):
    """Records of the groups with joint friction, which follow each other."""
    return carray(void_pointer(d.groups_at + d.friction_offset), (d.n_friction_groups,), GROUP)


@kernel
def friction_of(g, e):
    """Record of element e of a group."""
    return carray(void_pointer(g.state_at + 8 * e * g.nq), (1,), FRICTION)[0]


@kernel
def friction_in(state):
    """Record at the beginning of the internal variables (nq,) of one element."""
    return carray(void_pointer(address_of(state)), (1,), FRICTION)[0]


@kernel
def coefficients_of(g, e):
    """Coefficients of element e of a group."""
    return carray(void_pointer(g.laws_at), (g.n,), COEFFICIENTS)[e]


@kernel
def coefficient_at(mu, status):
    """Static coefficient of a joint that sticks, sliding coefficient of others."""
    return mu.static if status == STICK else mu.sliding


@kernel
def rows_in(d, layout, at):
    """Rows of friction (n_friction,) of a vector at an address that belongs to a global matrix."""
    return vector(at + 8 * (layouts_of(d)[layout].n - d.n_friction), d.n_friction)


@kernel
def smooth_status(kept):
    """Status in the smooth sub-problem and in consistent accelerations."""
    return FREE if kept.excluded != 0.0 else kept.status


@kernel
def evaluate_row(d, g, e, b, x, R, V):
    """γ of element e of group g; its gradient is kept, and ∂γ/∂t. Leaves the element gathered."""
    nd = g.nd
    gather_motion(d, g, e, b, x, R, V)
    zero(b[_GG], nd)
    zero(b[_G], 1)
    zero(b[_GT], 1)
    zero(b[_GTT], 1)
    call2(g.friction, g.parameters_at + e * g.stride, d.table_at)
    G, v, stored = vector(b[_GG], nd), vector(b[_V], nd), tensor(g.G_at, g.n, 1, nd)
    rate = vector(b[_GT], 1)[0]
    friction_of(g, e).given_rate = rate
    for i in range(nd):
        stored[e, 0, i] = G[i]
        rate += G[i] * v[i]
    return rate


@kernel
def evaluate_bound(d, g, e, b, lam, scale, more, more_scale):
    """N of the multipliers scale lam + more_scale more (m,), its slope kept; after the element was gathered.

    ∂N/∂q is left in the workspace. N is 0 for one that is switched off.
    """
    row, nr = integers(g.joint_rows_at, g.n)[e], g.nr
    local, slope = vector(b[_LAM], nr), vector(b[_BOUND_LAM], nr)
    for i in range(nr):
        local[i] = scale * lam[row + i] + more_scale * more[row + i]
        slope[i] = 0.0
    zero(b[_BOUND], 1)
    zero(b[_BOUND_Q], g.nd)
    if switches_of(g)[e] != 0:
        call2(g.friction_bound, g.parameters_at + e * g.stride, d.table_at)
    kept = friction_of(g, e)
    kept.normal_force = vector(b[_BOUND], 1)[0]
    for i in range(nr):
        kept.slope[i] = slope[i]
    return kept.normal_force


@kernel
def curvature(d, g, e, b):
    """Fill H (nd, nd) = ∂G/∂q of the row in the workspace; after the element was gathered."""
    zero(b[_H], g.nd * g.nd)
    call2(g.friction_hessian, g.parameters_at + e * g.stride, d.table_at)


@kernel
def clear_block(S, nd):
    """Set to zero the entries of a row of friction in its element matrix: nd equations of motion and the row itself."""
    for i in range(nd):
        for j in range(nd + 1):
            S[i, j] = 0.0
    for j in range(S.shape[1]):
        S[nd, j] = 0.0


@kernel
def scatter_block(map_at, e, S, nd, values):
    """Add that to the values of a global matrix."""
    size = S.shape[1]
    where = indices(map_at + 4 * e * size * size, size * size)
    for i in range(nd + 1):
        for j in range(nd + 1 if i < nd else size):
            k = where[i * size + j]
            if k >= 0:
                values[k] += S[i, j]


@kernel
def row_times(g, e, V):
    """Kept gradient of the row times velocities V (N, 6)."""
    nodes, stored = integer_matrix(g.nodes_at, g.n, g.nn), tensor(g.G_at, g.n, 1, g.nd)
    total = 0.0
    for a in range(g.nn):
        for j in range(6):
            total += stored[e, 0, 6 * a + j] * V[nodes[e, a], j]
    return total


@kernel
def add_row(g, e, factor, f):
    """Add factor times the kept gradient of the row to the full vector f."""
    if factor == 0.0:
        return
    nodes, stored = integer_matrix(g.nodes_at, g.n, g.nn), tensor(g.G_at, g.n, 1, g.nd)
    for a in range(g.nn):
        at = 6 * nodes[e, a]
        for j in range(6):
            f[at + j] += factor * stored[e, 0, 6 * a + j]


@kernel
def row_times_reduced(d, g, e, reduced):
    """Kept gradient of the row times a reduced vector: free components alone."""
    nodes, stored = integer_matrix(g.nodes_at, g.n, g.nn), tensor(g.G_at, g.n, 1, g.nd)
    dof = integers(d.dof_at, 6 * d.n_nodes)
    total = 0.0
    for a in range(g.nn):
        for j in range(6):
            k = dof[6 * nodes[e, a] + j]
            if k >= 0:
                total += stored[e, 0, 6 * a + j] * reduced[k]
    return total


@kernel
def add_row_reduced(d, g, e, factor, reduced):
    """Add factor times the kept gradient of the row to a reduced vector."""
    nodes, stored = integer_matrix(g.nodes_at, g.n, g.nn), tensor(g.G_at, g.n, 1, g.nd)
    dof = integers(d.dof_at, 6 * d.n_nodes)
    for a in range(g.nn):
        for j in range(6):
            k = dof[6 * nodes[e, a] + j]
            if k >= 0:
                reduced[k] += factor * stored[e, 0, 6 * a + j]
