"""Between elements and the whole: copy the inputs of an element to its workspace, add its results to global arrays."""

from fem_mbs.jit import SLOT, indices, integer_matrix, integers, kernel, matrix, tensor, vector
from fem_mbs.system.records import TRANSLATIONS, layouts_of

_X, _R, _V, _A, _X0, _R0, _S, _STATE = (SLOT[k] for k in ("x", "R", "v", "a", "x0", "R0", "s", "state"))


@kernel
def _copy_poses(g, e, x_at, R_at, x, R):
    """Copy the poses of the nodes of element e of group g to two buffers."""
    nodes = integer_matrix(g.nodes_at, g.n, g.nn)
    xe, Re = matrix(x_at, g.nn, 3), tensor(R_at, g.nn, 3, 3)
    for k in range(g.nn):
        i = nodes[e, k]
        for j in range(3):
            xe[k, j] = x[i, j]
            for m in range(3):
                Re[k, j, m] = R[i, j, m]


@kernel
def gather_poses(g, e, b, x, R):
    """Copy the poses of the nodes of element e of group g to the workspace."""
    _copy_poses(g, e, b[_X], b[_R], x, R)


@kernel
def gather_start(g, e, b, x0, R0):
    """Copy the poses at the start of the step to the workspace."""
    _copy_poses(g, e, b[_X0], b[_R0], x0, R0)


@kernel
def gather_motion(d, g, e, b, x, R, V):
    """Copy poses, velocities and signals of element e of group g to the workspace."""
    nodes, width = integer_matrix(g.nodes_at, g.n, g.nn), g.width
    if width == TRANSLATIONS:  # its kernels have no use for rotations
        xe = matrix(b[_X], g.nn, 3)
        for k in range(g.nn):
            for j in range(3):
                xe[k, j] = x[nodes[e, k], j]
    else:
        gather_poses(g, e, b, x, R)
    ve = matrix(b[_V], g.nn, width)
    for k in range(g.nn):
        for j in range(width):
            ve[k, j] = V[nodes[e, k], j]
    if g.ns > 0:
        which = integer_matrix(g.signals_at, g.n, g.ns)
        signals, s = matrix(d.signals_at, d.n_signals, 3), matrix(b[_S], g.ns, 3)
        for k in range(g.ns):
            for j in range(3):
                s[k, j] = signals[which[e, k], j]


@kernel
def gather(d, g, e, b, x, R, V, A):
    """Copy the inputs of element e of group g to the workspace: poses, velocities, accelerations, signals, state."""
    gather_motion(d, g, e, b, x, R, V)
    nodes, ae = integer_matrix(g.nodes_at, g.n, g.nn), matrix(b[_A], g.nn, g.width)
    for k in range(g.nn):
        for j in range(g.width):
            ae[k, j] = A[nodes[e, k], j]
    gather_state(g, e, b)


@kernel
def gather_state(g, e, b):
    """Copy the internal variables of element e of group g to the workspace."""
    if g.nq > 0:
        state, q = matrix(g.state_at, g.n, g.nq), vector(b[_STATE], g.nq)
        for k in range(g.nq):
            q[k] = state[e, k]


@kernel
def scatter_vector(g, e, local, full):
    """Add an element vector (nd,) to a full vector (6 n_nodes,)."""
    nodes, width = integer_matrix(g.nodes_at, g.n, g.nn), g.width
    for k in range(g.nn):
        i = 6 * nodes[e, k]
        for j in range(width):
            full[i + j] += local[width * k + j]


@kernel
def scatter_matrix(map_at, e, size, local, values):
    """Add an element matrix (size², row by row) to the values of a global matrix through its index map."""
    where = indices(map_at + 4 * e * size * size, size * size)
    for k in range(size * size):
        i = where[k]
        if i >= 0:
            values[i] += local[k]


@kernel
def scatter_blocks(d, g, e, layout, local, values):
    """Add the matrix (3 nn, 3 nn) of an element of translations to the values of a global matrix.

    The map has one number per pair of nodes: where the rows of the first begin in the columns of the second, −1: fixed.
    """
    L, map_at, nn = layouts_of(d)[layout], g.maps_at[layout], g.nn
    nodes, dof = integer_matrix(g.nodes_at, g.n, nn), integers(d.dof_at, 6 * d.n_nodes)
    where, pointers = indices(map_at + 4 * e * nn * nn, nn * nn), indices(L.pointers_at, L.n + 1)
    for c in range(nn):
        for j in range(3):
            column = dof[6 * nodes[e, c] + j]
            if column < 0:
                continue
            first = pointers[column]
            for a in range(nn):
                if where[a * nn + c] < 0:
                    continue
                at, row = first + where[a * nn + c], 6 * nodes[e, a]
                for i in range(3):
                    if dof[row + i] >= 0:
                        values[at] += local[3 * a + i, 3 * c + j]
                        at += 1


@kernel
def scatter_sum(d, g, e, layout, M, K, values):
    """Add M + K (nd, nd) of an element to the values of a global matrix; nodes without rotations have no such rows."""
    nd, nn, map_at = g.nd, g.nn, g.maps_at[layout]
    nodes, turns = integer_matrix(g.nodes_at, g.n, nn), integers(d.turns_at, d.n_nodes)
    where = indices(map_at + 4 * e * nd * nd, nd * nd)
    for a in range(nn):
        for row in range(6 * a, 6 * a + (6 if turns[nodes[e, a]] else 3)):
            for c in range(nn):
                first = row * nd + 6 * c
                for k in range(first, first + (6 if turns[nodes[e, c]] else 3)):
                    i = where[k]
                    if i >= 0:
                        values[i] += M[k] + K[k]


@kernel
def times_tangent_of_turning(d, g, e, A, rows, T):
    """`times_tangent` for nodes with rotations alone, in elements that also have others."""
    nodes, turns = integer_matrix(g.nodes_at, g.n, g.nn), integers(d.turns_at, d.n_nodes)
    for k in range(g.nn):
        if turns[nodes[e, k]]:
            columns_times_tangent(T[nodes[e, k]], A, rows, 6 * k + 3)


@kernel
def columns_times_tangent(T, A, rows, c):
    """Multiply columns c, c + 1, c + 2 of A (rows, …) by T (3, 3)."""
    for r in range(rows):
        a0, a1, a2 = A[r, c], A[r, c + 1], A[r, c + 2]
        for j in range(3):
            A[r, c + j] = a0 * T[0, j] + a1 * T[1, j] + a2 * T[2, j]


@kernel
def times_tangent(g, e, A, rows, T):
    """Multiply the rotation columns of A (rows, ≥ nd) by T of each node: from variations δθ to increments δD."""
    nodes = integer_matrix(g.nodes_at, g.n, g.nn)
    for k in range(g.nn):
        columns_times_tangent(T[nodes[e, k]], A, rows, 6 * k + 3)
