"""Joint friction: evaluation of its rows and bounds, and the record of each.

An element of this role has one row, the relative rate of a joint coordinate, γ = G v + ∂γ/∂t, or two or three: the
components of a relative velocity that stick and slide together. Its bound N(λ) of what friction can hold is positively
homogeneous in the multipliers λ of the joint but for a part that is given (`fem_mbs.element.friction_row`). The law is
that of the method that solves it, see `fem_mbs.solvers.joint_friction.friction`.

All that a run changes is in the record `FRICTION`, with which the internal variables of the element (``state``) begin,
so that it is saved and restored with those of all elements. An element with several directions has a record for each
row, one behind the other; what belongs to the element (status, coefficient, bound …) is the same in all of them. Rows
of a group are numbered element by element: r = n e + k for direction k of n.

Source: docs/theory/joint_friction.md, (1), (2).
"""

import math

import numpy as np
from numba import carray

from fem_mbs.jit import SLOT, address_of, call2, indices, integer_matrix, integers, kernel, matrix, vector, void_pointer
from fem_mbs.system.gather import gather_motion
from fem_mbs.system.records import GROUP, layouts_of, switches_of, zero

MOST_ROWS = 5  # of a joint that leaves a coordinate free
FREE, STICK, SLIP = 0.0, 1.0, 2.0  # status; FREE: without friction

# Problem that is solved for a row in a step; a split step has two, see `joint_friction.friction_touch`.
PROBLEM = [
    ("start_status", "f8"),  # status as the step, or the impact of a split step, began
    ("sign", "f8"),  # direction of sliding as it began and of the last sliding: its component, ±1 of one direction
    ("event_fraction", "f8"),  # fraction of the step before sliding began or reversed, 0: no change within the step
    ("coefficient", "f8"),  # μ of this pass
    ("pass_number", "f8"),  # 0 … 2; −1 at the start of a run
    ("prescribed", "f8"),  # 1: trial_status is prescribed, 0: it follows from the rate, −1: no friction acts
    ("bound_share", "f8"),  # fraction of the bound that acts in the step
    ("added_bound", "f8"),  # impulse that is added to it [N s, N m s]
    ("earlier_part", "f8"),  # impulse of the part of the step before several directions reversed [N s, N m s]
    ("trial_status", "f8"),  # status in the problem
    ("trial_sign", "f8"),  # direction of sliding in the problem: its component, ±1 of one direction
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
    ("trial_rate", "f8"),  # γ as evaluated last, of the corrections [m/s, of the position correction a displacement]
    ("turning", "f8"),  # b/|ξ| of a sliding row of several, by which a change of ξ turns friction
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
    ("correction_sign", "f8"),  # direction of sliding there: its component
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
def directions_of(g):
    """Number of directions of each element of a group: of its rows and records."""
    return g.nq // N_FRICTION


@kernel
def rows_of(g):
    """Number of rows of a group."""
    return g.n * directions_of(g)


@kernel
def friction_of(g, r):
    """Record of row r of a group."""
    n = directions_of(g)
    return carray(void_pointer(g.state_at + 8 * (r // n * g.nq + r % n * N_FRICTION)), (1,), FRICTION)[0]


@kernel
def gradients_of(g):
    """Kept gradients of the rows of a group (rows, nd)."""
    return matrix(g.G_at, rows_of(g), g.nd)


@kernel
def friction_in(state):
    """Record at the beginning of the internal variables (nq,) of one element, or of one of its rows."""
    return carray(void_pointer(address_of(state)), (1,), FRICTION)[0]


@kernel
def coefficients_of(g, r):
    """Coefficients of row r of a group."""
    return carray(void_pointer(g.laws_at), (g.n,), COEFFICIENTS)[r // directions_of(g)]


@kernel
def length_of(n, squares, component):
    """Length of a vector of n components with this sum of squares; of a single component its magnitude."""
    return abs(component) if n == 1 else math.sqrt(squares)


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
def evaluate_row(d, g, r, b, x, R, V):
    """γ of row r of group g; its gradient is kept, and ∂γ/∂t. Leaves the element gathered.

    The first row of an element evaluates all of them: others follow it at the same configuration.
    """
    nd, n, stored = g.nd, directions_of(g), gradients_of(g)
    if r % n == 0:
        e = r // n
        gather_motion(d, g, e, b, x, R, V)
        zero(b[_GG], n * nd)
        zero(b[_G], n)
        zero(b[_GT], n)
        zero(b[_GTT], n)
        call2(g.friction, g.parameters_at + e * g.stride, d.table_at)
        G, given = matrix(b[_GG], n, nd), vector(b[_GT], n)
        for k in range(n):
            friction_of(g, r + k).given_rate = given[k]
            for i in range(nd):
                stored[r + k, i] = G[k, i]
    v, rate = vector(b[_V], nd), friction_of(g, r).given_rate
    for i in range(nd):
        rate += stored[r, i] * v[i]
    return rate


@kernel
def evaluate_bound(d, g, e, b, lam, scale, more, more_scale):
    """N of the multipliers scale lam + more_scale more (m,), its slope kept; after element e was gathered.

    ∂N/∂q is left in the workspace. N is 0 for one that is switched off.
    """
    row, nr, n = integers(g.joint_rows_at, g.n)[e], g.nr, directions_of(g)
    local, slope = vector(b[_LAM], nr), vector(b[_BOUND_LAM], nr)
    for i in range(nr):
        local[i] = scale * lam[row + i] + more_scale * more[row + i]
        slope[i] = 0.0
    zero(b[_BOUND], 1)
    zero(b[_BOUND_Q], g.nd)
    if switches_of(g)[e] != 0:
        call2(g.friction_bound, g.parameters_at + e * g.stride, d.table_at)
    N = vector(b[_BOUND], 1)[0]
    for k in range(n):
        kept = friction_of(g, n * e + k)
        kept.normal_force = N
        for i in range(nr):
            kept.slope[i] = slope[i]
    return N


@kernel
def curvature(d, g, e, b):
    """Fill H (directions, nd, nd) = ∂G/∂q of element e in the workspace; after it was gathered.

    That of a row is at `curvature_at`.
    """
    n = directions_of(g)
    zero(b[_H], n * g.nd * g.nd)
    call2(g.friction_hessian, g.parameters_at + e * g.stride, d.table_at)


@kernel
def curvature_at(g, r, b):
    """Address of H (nd, nd) of row r in the workspace."""
    return b[_H] + 8 * g.nd * g.nd * (r % directions_of(g))


@kernel
def given_acceleration(d, g, r, b, x, R, V):
    """γ_2 = vᵀ H v + ∂²γ/∂t² of row r of group g, evaluated as by `evaluate_row`: γ̇ without accelerations."""
    n, v = directions_of(g), vector(b[_V], g.nd)
    evaluate_row(d, g, r, b, x, R, V)
    total = vector(b[_GTT], n)[r % n]
    if r % n == 0:
        curvature(d, g, r // n, b)
    H = matrix(curvature_at(g, r, b), g.nd, g.nd)
    for i in range(g.nd):
        for j in range(g.nd):
            total += v[i] * H[i, j] * v[j]
    return total


@kernel
def clear_block(S, nd, n):
    """Set to zero the entries of n rows of friction in their element matrix: nd equations of motion and the rows."""
    for i in range(nd):
        for j in range(nd + n):
            S[i, j] = 0.0
    for i in range(nd, nd + n):
        for j in range(S.shape[1]):
            S[i, j] = 0.0


@kernel
def scatter_block(map_at, e, S, nd, n, values):
    """Add that to the values of a global matrix."""
    size = S.shape[1]
    where = indices(map_at + 4 * e * size * size, size * size)
    for i in range(nd + n):
        for j in range(nd + n if i < nd else size):
            k = where[i * size + j]
            if k >= 0:
                values[k] += S[i, j]


@kernel
def add_turns(S, g, e, k, weight, scale, sign_of_correction):
    """Add to row k of element e what turns its friction with ξ: weight c T of impulses, −scale c T G of rates, to S.

    c: ``turning``, T = I − d dᵀ with the direction d of sliding. Nothing for one direction.
    """
    n, nd, stored = directions_of(g), g.nd, gradients_of(g)
    kept = friction_of(g, n * e + k)
    if n == 1 or kept.turning == 0.0:
        return
    mine = kept.correction_sign if sign_of_correction else kept.trial_sign
    for m in range(n):
        other = friction_of(g, n * e + m)
        theirs = other.correction_sign if sign_of_correction else other.trial_sign
        turn = kept.turning * ((1.0 if m == k else 0.0) - mine * theirs)
        S[nd + k, nd + m] += weight * turn
        for i in range(nd):
            S[nd + k, i] -= scale * turn * stored[n * e + m, i]


@kernel
def row_times(g, r, V):
    """Kept gradient of row r times velocities V (N, 6)."""
    nodes, stored, e = integer_matrix(g.nodes_at, g.n, g.nn), gradients_of(g), r // directions_of(g)
    total = 0.0
    for a in range(g.nn):
        for j in range(6):
            total += stored[r, 6 * a + j] * V[nodes[e, a], j]
    return total


@kernel
def add_row(g, r, factor, f):
    """Add factor times the kept gradient of row r to the full vector f."""
    if factor == 0.0:
        return
    nodes, stored, e = integer_matrix(g.nodes_at, g.n, g.nn), gradients_of(g), r // directions_of(g)
    for a in range(g.nn):
        at = 6 * nodes[e, a]
        for j in range(6):
            f[at + j] += factor * stored[r, 6 * a + j]


@kernel
def row_times_reduced(d, g, r, reduced):
    """Kept gradient of row r times a reduced vector: free components alone."""
    nodes, stored, e = integer_matrix(g.nodes_at, g.n, g.nn), gradients_of(g), r // directions_of(g)
    dof = integers(d.dof_at, 6 * d.n_nodes)
    total = 0.0
    for a in range(g.nn):
        for j in range(6):
            k = dof[6 * nodes[e, a] + j]
            if k >= 0:
                total += stored[r, 6 * a + j] * reduced[k]
    return total


@kernel
def add_row_reduced(d, g, r, factor, reduced):
    """Add factor times the kept gradient of row r to a reduced vector."""
    nodes, stored, e = integer_matrix(g.nodes_at, g.n, g.nn), gradients_of(g), r // directions_of(g)
    dof = integers(d.dof_at, 6 * d.n_nodes)
    for a in range(g.nn):
        for j in range(6):
            k = dof[6 * nodes[e, a] + j]
            if k >= 0:
                reduced[k] += factor * stored[r, 6 * a + j]
