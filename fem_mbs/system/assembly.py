"""Assembly: loops over groups of elements that gather nodal data, call kernels and scatter into global arrays.

Everything here is compiled once, whatever elements a model has: element kernels are called through their addresses
(`fem_mbs.jit.bind`). A `System` fills the records below and keeps the arrays behind the addresses alive.

Vectors of forces and velocities are *full*: 6 numbers per node, fixed components included (so that support reactions
can be read off). Unknowns of the linear systems are *reduced*: free components, then multipliers of constraints, then
those of contacts. ``dof`` maps full to reduced (−1: fixed); the index maps of a `LAYOUT` say where an entry of an
element's matrix goes in the array of values of the global matrix (−1: nowhere).
"""

import math

import numpy as np
from numba import carray

from fem_mbs.jit import (
    N_SLOTS,
    SLOT,
    call2,
    indices,
    integer_matrix,
    integers,
    kernel,
    local_vector,
    matrix,
    tensor,
    vector,
    void_pointer,
)
from fem_mbs.rotations import quaternion_exp, quaternion_multiply, quaternion_normalise, quaternion_to_matrix, tangent

# A group: elements of one type. Fields that end in _at or that carry a kernel's name are addresses (0: absent).
KERNELS = (
    "inertia", "inertia_tangent", "force", "force_tangent", "energy", "mixed", "update", "initial", "accept",
    "constraint", "hessian", "rheonomic", "contact", "contact_hessian", "output", "trouble", "touching", "friction",
    "friction_hessian", "friction_bound", "engage",
)  # fmt: skip
GROUP = np.dtype(
    [(name, "i8") for name in ("n", "nn", "nd", "nr", "ns", "nq", "no", "stride")]
    + [
        (name, "i8")
        for name in ("parameters_at", "nodes_at", "signals_at", "state_at", "G_at", "contact_at", "laws_at")
    ]
    + [("active_at", "i8"), ("efforts_at", "i8")]
    + [(name, "i8") for name in ("first_row", "first_contact", "first_output", "contact_stride", "drilling", "viscous")]
    + [("velocity_rows", "i8"), ("tangent_tells_forces", "i8"), ("first_friction", "i8"), ("joint_rows_at", "i8")]
    + [("abstract", "i8"), ("width", "i8"), ("fills", "i8")]
    + [("maps_at", "i8", (3,))]
    + [(name, "i8") for name in KERNELS]
)

# A global matrix: pattern, values and the linear solver that works on them (fem_mbs/system/linear.py). One that is
# stacked of blocks has the address of what `add_block` reads, see `fem_mbs.system.layout.Stack`.
LAYOUT = np.dtype(
    [(name, "i8") for name in ("n", "nnz", "values_at", "diagonal_at", "factor", "solve", "context_at", "status_at")]
    + [("stack_at", "i8"), ("pointers_at", "i8")]
)
SMOOTH, POSITION, VELOCITY, STACKED = 0, 1, 2, 3

# The system: sizes and addresses.
DATA = np.dtype(
    [(name, "i8") for name in ("n_nodes", "n", "m", "nc", "n_groups", "n_signals", "n_outputs")]
    + [(name, "i8") for name in ("groups_at", "dof_at", "turns_at", "table_at", "signals_at", "layouts_at")]
    + [(name, "i8") for name in ("roll_index_at", "n_roll", "drill_index_at", "drill_arm_at", "n_drill", "row_arm_at")]
    + [("rate_rows_at", "i8"), ("n_rate_rows", "i8")]  # rows of velocities, by number
    + [("n_friction", "i8")]
)

_X, _R, _V, _A, _X0, _R0, _S = (SLOT[k] for k in ("x", "R", "v", "a", "x0", "R0", "s"))
_F, _MA, _M, _C, _K, _KA = (SLOT[k] for k in ("f", "Ma", "M", "C", "K", "Ka"))
_G, _GG, _H, _RATE, _GT, _GTT = (SLOT[k] for k in ("g", "G", "H", "rate", "gt", "gtt"))
TRANSLATIONS = 3  # width of elements whose local arrays have no rotations
FILLS_M, FILLS_C, FILLS_K, FILLS_KA = 1, 2, 4, 8  # which tangents the kernels of a group add to
_LAM, _STATE, _OUT, _ENERGY, _DELTA, _NEEDS_K = (SLOT[k] for k in ("lam", "state", "out", "energy", "delta", "needs_K"))


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
    """Which elements of a group are on (n,), 1 or 0: those that are off do nothing (docs/theory/switches.md)."""
    return integers(g.active_at, g.n)


@kernel
def zero(at, n):
    """Set n numbers at an address to zero."""
    values = vector(at, n)
    for i in range(n):
        values[i] = 0.0


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
def gather(d, g, e, b, x, R, V, A):
    """Copy what element e of group g needs to the workspace: poses, velocities, accelerations, signals, state."""
    nodes, width = integer_matrix(g.nodes_at, g.n, g.nn), g.width
    ve, ae = matrix(b[_V], g.nn, width), matrix(b[_A], g.nn, width)
    if width == TRANSLATIONS:  # its kernels have no use for rotations
        xe = matrix(b[_X], g.nn, 3)
        for k in range(g.nn):
            for j in range(3):
                xe[k, j] = x[nodes[e, k], j]
    else:
        gather_poses(g, e, b, x, R)
    for k in range(g.nn):
        i = nodes[e, k]
        for j in range(width):
            ve[k, j] = V[i, j]
            ae[k, j] = A[i, j]
    if g.ns > 0:
        which = integer_matrix(g.signals_at, g.n, g.ns)
        signals, s = matrix(d.signals_at, d.n_signals, 3), matrix(b[_S], g.ns, 3)
        for k in range(g.ns):
            for j in range(3):
                s[k, j] = signals[which[e, k], j]
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
def times_tangent(g, e, A, rows, T):
    """Multiply the rotation columns of A (rows, ≥ nd) by T of each node: from variations δθ to increments δD."""
    nodes = integer_matrix(g.nodes_at, g.n, g.nn)
    for k in range(g.nn):
        i = nodes[e, k]
        c = 6 * k + 3
        for r in range(rows):
            a0, a1, a2 = A[r, c], A[r, c + 1], A[r, c + 2]
            for j in range(3):
                A[r, c + j] = a0 * T[i, 0, j] + a1 * T[i, 1, j] + a2 * T[i, 2, j]


@kernel
def advance_configuration(d, x0, Q0, D, x, Q, R, T):
    """q = q0 ∘ exp(D) for all nodes, and T(D) (N, 3, 3)."""
    turns = integers(d.turns_at, d.n_nodes)
    p = local_vector(4)
    for i in range(d.n_nodes):
        for j in range(3):
            x[i, j] = x0[i, j] + D[i, j]
        if turns[i]:
            quaternion_exp(D[i, 3:6], p)
            quaternion_multiply(Q0[i], p, Q[i])
            quaternion_normalise(Q[i])
            quaternion_to_matrix(Q[i], R[i])
            tangent(D[i, 3:6], T[i])


@kernel
def _clear_tangents(g, b):
    """Set the tangents of an element in the workspace to zero: of translations alone those that its kernels fill."""
    n, every = g.nd * g.nd, g.width != TRANSLATIONS
    if every or g.fills & FILLS_M:
        zero(b[_M], n)
    if every or g.fills & FILLS_C:
        zero(b[_C], n)
    if every or g.fills & FILLS_KA:
        zero(b[_KA], n)
    zero(b[_K], n)


@kernel
def _add_scaled(n, scale, source_at, total_at):
    """Add ``scale`` times n numbers at an address to those at another."""
    source, total = vector(source_at, n), vector(total_at, n)
    for i in range(n):
        total[i] += scale * source[i]


@kernel
def _add_translations(d, g, e, b, layout, values, c_M, c_C, c_K, c_A):
    """The same as `_add_tangents` of elements without rotations, for which T is the identity."""
    nd = g.nd
    n, K = nd * nd, vector(b[_K], nd * nd)
    if c_K != 1.0:
        for i in range(n):
            K[i] *= c_K
    if c_M != 0.0 and g.fills & FILLS_M:
        _add_scaled(n, c_M, b[_M], b[_K])
    if c_C != 0.0 and g.fills & FILLS_C:
        _add_scaled(n, c_C, b[_C], b[_K])
    if c_A != 0.0 and g.fills & FILLS_KA:
        _add_scaled(n, c_A, b[_KA], b[_K])
    scatter_blocks(d, g, e, layout, matrix(b[_K], nd, nd), values)


@kernel
def _add_tangents(d, g, e, b, layout, values, c_M, c_C, c_K, c_A, T):
    """Add c_M M + c_C C + (c_K K + c_A ∂(M A)/∂q) T of element e, in the workspace, to a global matrix."""
    if g.width == TRANSLATIONS:
        _add_translations(d, g, e, b, layout, values, c_M, c_C, c_K, c_A)
        return
    nd = g.nd
    Me, Ce = matrix(b[_M], nd, nd), matrix(b[_C], nd, nd)
    Ke, Kae = matrix(b[_K], nd, nd), matrix(b[_KA], nd, nd)
    if c_K != 0.0 or c_A != 0.0:
        for i in range(nd):
            for j in range(nd):
                Ke[i, j] = c_K * Ke[i, j] + c_A * Kae[i, j]
        times_tangent(g, e, Ke, nd, T)
        for i in range(nd):
            for j in range(nd):
                Ke[i, j] += c_M * Me[i, j] + c_C * Ce[i, j]
    else:
        for i in range(nd):
            for j in range(nd):
                Ke[i, j] = c_M * Me[i, j] + c_C * Ce[i, j]
    scatter_matrix(g.maps_at[layout], e, nd, vector(b[_K], nd * nd), values)


@kernel
def element_forces(d, g, p, tangents):
    """Add the forces of the element in the workspace, and their tangents if wanted; K of these is needed then."""
    if not (tangents and g.tangent_tells_forces != 0):
        call2(g.force, p, d.table_at)
    if tangents:
        call2(g.force_tangent, p, d.table_at)


@kernel
def dynamics(d, layout, x, R, V, A, Ma, f, tangents, c_M, c_C, c_K, c_A, T, mixed):
    """Inertia and forces of all elements; returns the sum of squares of the forces of each element by itself.

    Fill the full vectors Ma = M(q) A and f(q, V, t). With ``tangents`` add to the values of global matrix ``layout``
    c_M M + c_C C + (c_K K + c_A ∂(M A)/∂q) T. With ``mixed`` elements that can use their kept state (mixed Newton).
    """
    b = integers(d.table_at, N_SLOTS)
    groups = groups_of(d)
    values = matrix_values(d, layout)
    single = 0.0
    for i in range(6 * d.n_nodes):
        Ma[i] = 0.0
        f[i] = 0.0
    for k in range(d.n_groups):
        g = groups[k]
        if g.inertia == 0 and g.force == 0:
            continue
        nd = g.nd
        use_mixed = mixed and g.mixed != 0
        fe, Mae, on = vector(b[_F], nd), vector(b[_MA], nd), switches_of(g)
        for e in range(g.n):
            if on[e] == 0:
                continue
            p = g.parameters_at + e * g.stride
            gather(d, g, e, b, x, R, V, A)
            for i in range(nd):
                fe[i] = 0.0
                Mae[i] = 0.0
            if g.inertia != 0:
                call2(g.inertia, p, d.table_at)
            if tangents:
                _clear_tangents(g, b)
                if g.inertia != 0:
                    call2(g.inertia_tangent, p, d.table_at)
            if use_mixed:
                call2(g.mixed, p, d.table_at)  # fills f and K
            else:
                if g.force != 0:
                    element_forces(d, g, p, tangents and (c_K != 0.0 or g.viscous != 0))
            scatter_vector(g, e, fe, f)
            for a in range(g.nn):
                for j in range(3):
                    single += fe[g.width * a + j] ** 2
            if g.inertia != 0:
                scatter_vector(g, e, Mae, Ma)
            if tangents:
                _add_tangents(d, g, e, b, layout, values, c_M, c_C, c_K, c_A, T)
    return single


@kernel
def dynamic_tangents(d, layout, x, R, V, A, c_M, c_C, c_K, c_A, T):
    """The tangents of `dynamics` alone, for a matrix whose residual is known."""
    b = integers(d.table_at, N_SLOTS)
    needs_K = vector(b[_NEEDS_K], 1)
    needs_K[0] = 1.0 if c_K != 0.0 or c_A != 0.0 else 0.0
    groups = groups_of(d)
    values = matrix_values(d, layout)
    for k in range(d.n_groups):
        g = groups[k]
        forces = g.force != 0 and (c_K != 0.0 or g.viscous != 0)
        if g.inertia == 0 and not forces:
            continue
        on = switches_of(g)
        for e in range(g.n):
            if on[e] == 0:
                continue
            p = g.parameters_at + e * g.stride
            gather(d, g, e, b, x, R, V, A)
            _clear_tangents(g, b)
            if g.inertia != 0:
                call2(g.inertia_tangent, p, d.table_at)
            if forces:
                call2(g.force_tangent, p, d.table_at)
            _add_tangents(d, g, e, b, layout, values, c_M, c_C, c_K, c_A, T)
    needs_K[0] = 1.0


@kernel
def inertia(d, layout, x, R, V, A, Ma, tangents, c_M, c_A, T):
    """M(q) A of all elements, in the full vector Ma.

    With ``tangents`` add c_M M + c_A ∂(M A)/∂q T to the values of global matrix ``layout``. `dynamics` does it
    together with the forces, which cost more.
    """
    b = integers(d.table_at, N_SLOTS)
    groups = groups_of(d)
    values = matrix_values(d, layout)
    for i in range(6 * d.n_nodes):
        Ma[i] = 0.0
    for k in range(d.n_groups):
        g = groups[k]
        if g.inertia == 0:
            continue
        nd = g.nd
        fe, Mae = vector(b[_F], nd), vector(b[_MA], nd)
        Me, Kae = matrix(b[_M], nd, nd), matrix(b[_KA], nd, nd)
        for e in range(g.n):
            p = g.parameters_at + e * g.stride
            gather(d, g, e, b, x, R, V, A)
            for i in range(nd):
                fe[i] = 0.0
                Mae[i] = 0.0
            call2(g.inertia, p, d.table_at)
            scatter_vector(g, e, Mae, Ma)
            if tangents:
                zero(b[_M], nd * nd)
                zero(b[_C], nd * nd)
                zero(b[_K], nd * nd)
                zero(b[_KA], nd * nd)
                call2(g.inertia_tangent, p, d.table_at)
                if g.width == TRANSLATIONS:
                    zero(b[_K], nd * nd)  # that of the inertia forces has no part in this
                    _add_translations(d, g, e, b, layout, values, c_M, 0.0, 0.0, c_A)
                    continue
                if c_A != 0.0:
                    times_tangent(g, e, Kae, nd, T)
                for i in range(nd):
                    for j in range(nd):
                        Me[i, j] = c_M * Me[i, j] + c_A * Kae[i, j]
                scatter_matrix(g.maps_at[layout], e, nd, vector(b[_M], nd * nd), values)


@kernel
def potential_energy(d, x, R, V):
    """Potential energy of all elements [J]."""
    b = integers(d.table_at, N_SLOTS)
    groups = groups_of(d)
    total = 0.0
    result = vector(b[_ENERGY], 1)
    for k in range(d.n_groups):
        g = groups[k]
        if g.energy == 0:
            continue
        on = switches_of(g)
        for e in range(g.n):
            if on[e] == 0:
                continue
            gather(d, g, e, b, x, R, V, V)
            call2(g.energy, g.parameters_at + e * g.stride, d.table_at)
            total += result[0]
    return total


@kernel
def energies(d, x, R, V, Ma):
    """Kinetic energy ½ Vᵀ M V and potential energy of all elements [J]; Ma (full) is scratch."""
    b = integers(d.table_at, N_SLOTS)
    groups = groups_of(d)
    kinetic = potential = 0.0
    result = vector(b[_ENERGY], 1)
    for i in range(6 * d.n_nodes):
        Ma[i] = 0.0
    for k in range(d.n_groups):
        g = groups[k]
        if g.inertia == 0 and g.energy == 0:
            continue
        Mae, on = vector(b[_MA], g.nd), switches_of(g)
        for e in range(g.n):
            if on[e] == 0:
                continue
            p = g.parameters_at + e * g.stride
            gather(d, g, e, b, x, R, V, V)
            if g.inertia != 0 and g.abstract == 0:
                zero(b[_F], g.nd)  # gyroscopic forces go there
                zero(b[_MA], g.nd)
                call2(g.inertia, p, d.table_at)
                scatter_vector(g, e, Mae, Ma)
            if g.energy != 0:
                call2(g.energy, p, d.table_at)
                potential += result[0]
    for i in range(d.n_nodes):
        for j in range(6):
            kinetic += 0.5 * V[i, j] * Ma[6 * i + j]
    return kinetic, potential


@kernel
def update_states(d, x, R, delta):
    """New internal variables of all elements from the variation delta (N, 6) of the last iteration, made at x, R."""
    b = integers(d.table_at, N_SLOTS)
    groups = groups_of(d)
    for k in range(d.n_groups):
        g = groups[k]
        if g.update == 0:
            continue
        nodes = integer_matrix(g.nodes_at, g.n, g.nn)
        de = matrix(b[_DELTA], g.nn, g.width)
        state, q = matrix(g.state_at, g.n, g.nq), vector(b[_STATE], g.nq)
        for e in range(g.n):
            gather(d, g, e, b, x, R, delta, delta)
            for a in range(g.nn):
                for j in range(g.width):
                    de[a, j] = delta[nodes[e, a], j]
            call2(g.update, g.parameters_at + e * g.stride, d.table_at)
            for j in range(g.nq):
                state[e, j] = q[j]


@kernel
def _new_state(d, g, e, function, x, R, V):
    """Internal variables of element e of a group as a kernel makes them from the configuration and its velocity."""
    b = integers(d.table_at, N_SLOTS)
    state, q = matrix(g.state_at, g.n, g.nq), vector(b[_STATE], g.nq)
    gather(d, g, e, b, x, R, V, V)
    call2(function, g.parameters_at + e * g.stride, d.table_at)
    for j in range(g.nq):
        state[e, j] = q[j]


@kernel
def _new_states(d, g, function, x, R, V):
    """The same of all elements of a group."""
    for e in range(g.n):
        _new_state(d, g, e, function, x, R, V)


@kernel
def engage(d, group, e, x, R, V):
    """What element e of a group, by its number, keeps of the configuration in which it is switched on."""
    g = groups_of(d)[group]
    if g.engage != 0:
        _new_state(d, g, e, g.engage, x, R, V)


@kernel
def initial_states(d, x, R, V):
    """Internal variables of all elements that are consistent with the configuration."""
    groups = groups_of(d)
    for k in range(d.n_groups):
        g = groups[k]
        if g.initial != 0:
            _new_states(d, g, g.initial, x, R, V)


@kernel
def accept_states(d, x, R, V, lam):
    """Internal variables of all elements at the end of a step, with its reported multipliers lam (m,)."""
    b = integers(d.table_at, N_SLOTS)
    groups = groups_of(d)
    for k in range(d.n_groups):
        g = groups[k]
        if g.accept == 0:
            continue
        state, q, le = matrix(g.state_at, g.n, g.nq), vector(b[_STATE], g.nq), vector(b[_LAM], max(g.nr, 1))
        for e in range(g.n):
            gather(d, g, e, b, x, R, V, V)
            for j in range(g.nr):
                le[j] = lam[g.first_row + e * g.nr + j]
            call2(g.accept, g.parameters_at + e * g.stride, d.table_at)
            for j in range(g.nq):
                state[e, j] = q[j]


@kernel
def output_values(d, x, R, V, A, lam, out):
    """Outputs of all elements, out (n_outputs,), from poses, velocities and reported multipliers lam (m,).

    Forces of elements that are off are 0.
    """
    b = integers(d.table_at, N_SLOTS)
    groups = groups_of(d)
    for k in range(d.n_groups):
        g = groups[k]
        if g.output == 0:
            continue
        oe, le = vector(b[_OUT], g.no), vector(b[_LAM], max(g.nr, 1))
        on, is_effort = switches_of(g), integers(g.efforts_at, g.no)
        for e in range(g.n):
            gather(d, g, e, b, x, R, V, A)
            # joint friction has none of its own, but sees those of its joint
            row = integers(g.joint_rows_at, g.n)[e] if g.friction != 0 else g.first_row + e * g.nr
            for j in range(g.nr):
                le[j] = lam[row + j]
            for j in range(g.no):
                oe[j] = 0.0
            call2(g.output, g.parameters_at + e * g.stride, d.table_at)
            for j in range(g.no):
                out[g.first_output + e * g.no + j] = 0.0 if on[e] == 0 and is_effort[j] != 0 else oe[j]


# --- global vectors and matrices
# ---------------------------------------------------------------------------------------


@kernel
def reduce_vector(d, full, reduced):
    """Copy the free components of a full vector."""
    dof = integers(d.dof_at, 6 * d.n_nodes)
    for i in range(6 * d.n_nodes):
        if dof[i] >= 0:
            reduced[dof[i]] = full[i]


@kernel
def expand_add(d, scale, reduced, full):
    """Add scale times a reduced vector to a full array (N, 6)."""
    dof = integers(d.dof_at, 6 * d.n_nodes)
    for i in range(d.n_nodes):
        for j in range(6):
            k = dof[6 * i + j]
            if k >= 0:
                full[i, j] += scale * reduced[k]


@kernel
def matrix_values(d, layout):
    """Values of a global matrix, in pattern order."""
    L = layouts_of(d)[layout]
    return vector(L.values_at, L.nnz)


@kernel
def clear_matrix(d, layout):
    """Set the values of a global matrix to zero."""
    zero(layouts_of(d)[layout].values_at, layouts_of(d)[layout].nnz)


@kernel
def add_block(d, source, row, column, scale):
    """Add ``scale`` times the values of matrix ``source`` to one block of the stacked matrix.

    Column c of the stacked matrix has the columns c of the blocks it is made of, one below the other.
    """
    L = layouts_of(d)[STACKED]
    k, n = integers(L.stack_at, 2)
    table = integer_matrix(L.stack_at + 24, k, k + 2)  # of each column of blocks: begin, number, rank of each row
    pointers = indices(integers(L.stack_at, 3)[2], n + 1)
    begin, number, rank = table[column, 0], table[column, 1], table[column, 2 + row]
    values, block = vector(L.values_at, L.nnz), matrix_values(d, source)
    for c in range(n):
        first, last = pointers[c], pointers[c + 1]
        at = begin + number * first + rank * (last - first) - first
        for p in range(first, last):
            values[at + p] += scale * block[p]


@kernel
def fill_diagonal(d, layout, first, value):
    """Set the diagonal of a global matrix from row ``first`` on: of rows that a problem does not have."""
    L = layouts_of(d)[layout]
    values, diagonal = matrix_values(d, layout), integers(L.diagonal_at, L.n)
    for i in range(first, L.n):
        values[diagonal[i]] = value


@kernel
def factorise(d, layout):
    """Factorise a global matrix; False when it is singular."""
    L = layouts_of(d)[layout]
    call2(L.factor, L.context_at, L.values_at)
    return integers(L.status_at, 1)[0] == 0


@kernel
def solve_in_place(d, layout, right_at):
    """Solve with the factorised global matrix; the right-hand side at an address is overwritten by the solution."""
    L = layouts_of(d)[layout]
    call2(L.solve, L.context_at, right_at)


@kernel
def full_norm(d, values, length):
    """Euclidean norm of the free components of a full vector, moments divided by ``length`` [m]."""
    dof = integers(d.dof_at, 6 * d.n_nodes)
    total = 0.0
    for i in range(d.n_nodes):
        for j in range(6):
            if dof[6 * i + j] >= 0:
                y = values[6 * i + j] if j < 3 else values[6 * i + j] / length
                total += y * y
    return math.sqrt(total)
