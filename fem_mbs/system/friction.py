"""Joint friction: evaluation of its rows and bounds, and what is kept of each.

An element of this role has one row, the relative rate of a joint coordinate, γ = G v + ∂γ/∂t, and a bound N(λ) of what
friction can hold, positively homogeneous in the multipliers λ of the joint but for a part that is given, see
`fem_mbs.element.base.FrictionRow`. The law is that of the method that solves it,
`fem_mbs.solvers.joint_friction.friction`.

All that a run changes is in the internal variables of the element (``state``), so that it is saved and put back with
those of all elements.

Source: docs/theory/joint_friction.md, (1), (2).
"""

from fem_mbs.jit import N_SLOTS, SLOT, call2, indices, integer_matrix, integers, kernel, matrix, tensor, vector
from fem_mbs.system.gather import gather_motion
from fem_mbs.system.records import groups_of, switches_of, zero

# --- internal variables, by column. Saved:
F_STATUS, F_SIGN = 0, 1  # STICK or SLIP as the last step ended; direction of sliding, ±1
F_FORCE, F_BOUND, F_RATE = 2, 3, 4  # friction at the end of the step [N, N m], what it can be, γ
F_WORK, F_KAPPA, F_JAM = 5, 6, 7  # taken out of the model since the start [J]; κ; it jammed in this step
F_SMOOTH = 8  # λ~ [N, N m]
F_MASS = 9  # p: effective mass of the coordinate [kg, kg m²]
# of the step that is taken:
F_IMPULSE, F_BEFORE = 10, 11  # Λ [N s, N m s], and as it was before a search along a Newton step
F_MU, F_PASS = 12, 13  # coefficient in this pass, and which pass it is
F_TRY, F_TRY_SIGN, F_FORCED = 14, 15, 16  # status in the problem; 1: it is prescribed, −1: no friction
F_ROW, F_N, F_GT = 17, 18, 19  # residual of the row; bound over the coefficient; ∂γ/∂t
F_ARM = 20  # turns γ into a velocity [m, -]
F_START, F_CHANGES = 21, 22  # status as the step began; changes while accelerations are made consistent
F_OLD = 23  # γ at the start of the step
F_PART = 24  # of the step before sliding began or reversed, 0: all of it is as at its end
F_SHARE, F_HELD = 27, 28  # part of the bound that acts in the step; impulse besides [N s, N m s]
F_OUT = 25  # it is left out of the smooth sub-problem, and of consistent accelerations
F_LAST = 29  # friction at the start of the step
F_BEGAN, F_BEGAN_GT = 26, 30  # λ~ that the step begins with, and ∂γ/∂t
F_TAKEN, F_GIVEN = 31, 32  # of a run that keeps books: work of the step, of the friction and of its moving surface [J]
F_OPEN = 33  # consistent accelerations have not settled with it
F_CORRECTED, F_CORRECTED_BEFORE = 34, 35  # friction in the position correction [N, N m], and before a search
F_DONE = 36  # impulse of the step before the impact problem that is solved [N s, N m s]
F_SLOPE = 37  # from here on: ∂N/∂λ
MOST_ROWS = 5  # of a joint that leaves a coordinate free
N_FRICTION = F_SLOPE + MOST_ROWS

FREE, STICK, SLIP = 0.0, 1.0, 2.0  # status; FREE: left out

_V, _G, _GG, _H, _GT, _GTT, _LAM = (SLOT[k] for k in ("v", "g", "G", "H", "gt", "gtt", "lam"))
_BOUND, _BOUND_LAM, _BOUND_Q = (SLOT[k] for k in ("bound", "bound_lam", "bound_q"))


@kernel
def states_of(g):
    """Internal variables of the elements of a group (n, nq)."""
    return matrix(g.state_at, g.n, g.nq)


@kernel
def coefficients_of(g):
    """Laws of the elements of a group (n, 3): static and sliding coefficient, whether κ is wanted in every step."""
    return matrix(g.laws_at, g.n, 3)


@kernel
def smooth_status(kept):
    """Status in the smooth sub-problem and in consistent accelerations."""
    return FREE if kept[F_OUT] != 0.0 else kept[F_STATUS]


@kernel
def evaluate_row(d, g, e, b, x, R, V):
    """γ of element e of group g; its gradient is kept, ∂γ/∂t in F_GT. Leaves the element gathered."""
    nd = g.nd
    gather_motion(d, g, e, b, x, R, V)
    zero(b[_GG], nd)
    zero(b[_G], 1)
    zero(b[_GT], 1)
    zero(b[_GTT], 1)
    call2(g.friction, g.parameters_at + e * g.stride, d.table_at)
    G, v, stored = vector(b[_GG], nd), vector(b[_V], nd), tensor(g.G_at, g.n, 1, nd)
    rate = vector(b[_GT], 1)[0]
    states_of(g)[e, F_GT] = rate
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
    kept = states_of(g)[e]
    kept[F_N] = vector(b[_BOUND], 1)[0]
    for i in range(nr):
        kept[F_SLOPE + i] = slope[i]
    return kept[F_N]


@kernel
def curvature(d, g, e, b):
    """Fill H (nd, nd) = ∂G/∂q of the row in the workspace; after the element was gathered."""
    zero(b[_H], g.nd * g.nd)
    call2(g.friction_hessian, g.parameters_at + e * g.stride, d.table_at)


@kernel
def clear_block(S, nd):
    """Set to zero what a row of friction has in its element matrix: nd equations of motion and the row itself."""
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


@kernel
def evaluate_rows(d, x, R, V, column):
    """γ of all elements into a column of their internal variables; gradients are kept."""
    b, groups = integers(d.table_at, N_SLOTS), groups_of(d)
    for k in range(d.n_groups):
        g = groups[k]
        if g.friction != 0:
            for e in range(g.n):
                states_of(g)[e, column] = evaluate_row(d, g, e, b, x, R, V)
