"""Assembly: loops over groups of elements that gather nodal data, call kernels and scatter into global arrays.

Everything here is compiled once, whatever elements a model has: element kernels are called through their addresses
(`fem_mbs.jit.bind`). A `System` fills the records below and keeps the arrays behind the addresses alive.

Vectors of forces and velocities are *full*: 6 numbers per node, fixed components included (so that support reactions
can be read off). Unknowns of the linear systems are *reduced*: free components, then multipliers of constraints, then
those of contacts. ``dof`` maps full to reduced (−1: fixed); the index maps of a `LAYOUT` give the position of an
entry of an element's matrix in the array of values of the global matrix (−1: nowhere).
"""

from fem_mbs.jit import N_SLOTS, SLOT, call2, integers, kernel, local_vector, matrix, vector
from fem_mbs.rotations import quaternion_exp, quaternion_multiply, quaternion_normalise, quaternion_to_matrix, tangent
from fem_mbs.row_products import combine
from fem_mbs.system.gather import (
    gather,
    scatter_blocks,
    scatter_matrix,
    scatter_sum,
    scatter_vector,
    times_tangent,
    times_tangent_of_turning,
)
from fem_mbs.system.global_matrices import matrix_values
from fem_mbs.system.records import FILLS_C, FILLS_KA, FILLS_M, TRANSLATIONS, groups_of, switches_of, zero

_F, _MA, _M, _C, _K, _KA = (SLOT[k] for k in ("f", "Ma", "M", "C", "K", "Ka"))
_LAM, _OUT, _ENERGY, _NEEDS_K = (SLOT[k] for k in ("lam", "out", "energy", "needs_K"))
_GRAVITY, _WEIGHTS, _NOTED = SLOT["gravity"], SLOT["weights"], SLOT["noted"]


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
def set_weights(b, c_M, c_C, c_K, c_A):
    """Set the weights of elements whose tangents are sums: c_M M + c_C C in M, c_K K + c_A Ka in K."""
    weights = vector(b[_WEIGHTS], 4)
    weights[0], weights[1], weights[2], weights[3] = c_M, c_C, c_K, c_A


@kernel
def separate_tangents(d, g, tangent, p):
    """Call a kernel of tangents, at an address, such that M, C, K and Ka are filled, by elements with sums too."""
    if g.weighted == 0:
        call2(tangent, p, d.table_at)
        return
    b = integers(d.table_at, N_SLOTS)
    set_weights(b, 1.0, 0.0, 1.0, 0.0)
    call2(tangent, p, d.table_at)
    M, C, K, Ka = b[_M], b[_C], b[_K], b[_KA]
    b[_M], b[_K] = C, Ka
    set_weights(b, 0.0, 1.0, 0.0, 1.0)
    call2(tangent, p, d.table_at)
    b[_M], b[_K] = M, K


@kernel
def _clear_tangents(g, b):
    """Set the tangents of an element in the workspace to zero: of translations alone those that its kernels fill."""
    n, every = g.nd * g.nd, g.width != TRANSLATIONS and g.weighted == 0
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
def _add_sums(d, g, e, b, layout, values, of_poses, T):
    """The same as `_add_tangents` of elements with sums: that in M, and, ``of_poses``, K T."""
    n = g.nd * g.nd
    if of_poses:
        times_tangent_of_turning(d, g, e, matrix(b[_K], g.nd, g.nd), g.nd, T)
    scatter_sum(d, g, e, layout, vector(b[_M], n), vector(b[_K], n), values)


@kernel
def _add_tangents(d, g, e, b, layout, values, c_M, c_C, c_K, c_A, T):
    """Add c_M M + c_C C + (c_K K + c_A ∂(M A)/∂q) T of element e, in the workspace, to a global matrix."""
    if g.width == TRANSLATIONS:
        _add_translations(d, g, e, b, layout, values, c_M, c_C, c_K, c_A)
        return
    if g.weighted != 0:
        _add_sums(d, g, e, b, layout, values, c_K != 0.0 or c_A != 0.0, T)
        return
    nd = g.nd
    n = nd * nd
    turned = c_K != 0.0 or c_A != 0.0
    if turned:
        combine(n, 0, c_K, b[_K], c_A, b[_KA], b[_K])
        times_tangent(g, e, matrix(b[_K], nd, nd), nd, T)
    combine(n, 1 if turned else 0, c_M, b[_M], c_C, b[_C], b[_K])
    scatter_matrix(g.maps_at[layout], e, nd, vector(b[_K], nd * nd), values)


@kernel
def element_forces(d, g, p, tangents):
    """Add the forces of the element in the workspace, and their tangents if wanted; K of these is needed then."""
    if not (tangents and g.tangent_tells_forces != 0):
        call2(g.force, p, d.table_at)
    if tangents:
        call2(g.force_tangent, p, d.table_at)


@kernel
def keep_noted(g, e, b):
    """Keep what the kernel of the forces of element e has noted, for `stepping.monitors.extremes`."""
    noted, kept = vector(b[_NOTED], 2), vector(g.noted_at + 16 * e, 2)
    kept[0], kept[1] = noted[0], noted[1]


@kernel
def dynamics(d, layout, x, R, V, A, Ma, f, tangents, c_M, c_C, c_K, c_A, T, mixed):
    """Inertia and forces of all elements; returns the sum of squares of the forces of each element by itself.

    Fill the full vectors Ma = M(q) A and f(q, V, t). With ``tangents`` add to the values of global matrix ``layout``
    c_M M + c_C C + (c_K K + c_A ∂(M A)/∂q) T. With ``mixed`` elements that can use their kept state (mixed Newton).
    """
    b = integers(d.table_at, N_SLOTS)
    groups = groups_of(d)
    values = matrix_values(d, layout)
    set_weights(b, c_M, c_C, c_K, c_A)
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
            if g.noted_at != 0:
                keep_noted(g, e, b)
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
    set_weights(b, c_M, c_C, c_K, c_A)
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
    set_weights(b, c_M, 0.0, 0.0, c_A)
    for i in range(6 * d.n_nodes):
        Ma[i] = 0.0
    for k in range(d.n_groups):
        g = groups[k]
        if g.inertia == 0:
            continue
        nd = g.nd
        fe, Mae = vector(b[_F], nd), vector(b[_MA], nd)
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
                if g.weighted != 0:
                    _add_sums(d, g, e, b, layout, values, c_A != 0.0, T)
                    continue
                if g.width == TRANSLATIONS:
                    zero(b[_K], nd * nd)  # that of the inertia forces has no part in this
                    _add_translations(d, g, e, b, layout, values, c_M, 0.0, 0.0, c_A)
                    continue
                if c_A != 0.0:
                    times_tangent(g, e, matrix(b[_KA], nd, nd), nd, T)
                combine(nd * nd, 0, c_M, b[_M], c_A, b[_KA], b[_M])
                scatter_matrix(g.maps_at[layout], e, nd, vector(b[_M], nd * nd), values)


@kernel
def potential_of_forces(d, g, p, b):
    """Potential of an element without that of its weight, which acts with its inertia [J]; after `gather`."""
    gravity = vector(b[_GRAVITY], 3)
    x, y, z = gravity[0], gravity[1], gravity[2]
    gravity[:] = 0.0
    call2(g.energy, p, d.table_at)
    gravity[0], gravity[1], gravity[2] = x, y, z
    return vector(b[_ENERGY], 1)[0]


@kernel
def stored_energy(d, g, p, b):
    """Potential of an element [J], after `gather`. A field of gravity that changes in time has none."""
    if d.gravity_signal >= 0:
        return potential_of_forces(d, g, p, b)
    call2(g.energy, p, d.table_at)
    return vector(b[_ENERGY], 1)[0]


@kernel
def potential_energy(d, x, R, V):
    """Potential energy of all elements [J]."""
    b = integers(d.table_at, N_SLOTS)
    groups = groups_of(d)
    total = 0.0
    for k in range(d.n_groups):
        g = groups[k]
        if g.energy == 0:
            continue
        on = switches_of(g)
        for e in range(g.n):
            if on[e] == 0:
                continue
            gather(d, g, e, b, x, R, V, V)
            total += stored_energy(d, g, g.parameters_at + e * g.stride, b)
    return total


@kernel
def energies(d, x, R, V, Ma):
    """Kinetic energy ½ Vᵀ M V and potential energy of all elements [J]; Ma (full) is scratch."""
    b = integers(d.table_at, N_SLOTS)
    groups = groups_of(d)
    kinetic = potential = 0.0
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
                potential += stored_energy(d, g, p, b)
    for i in range(d.n_nodes):
        for j in range(6):
            kinetic += 0.5 * V[i, j] * Ma[6 * i + j]
    return kinetic, potential


@kernel
def output_of(d, g, e, b, x, R, V, A, lam):
    """Evaluate the outputs of one element, into the workspace; forces of one that is off are 0."""
    oe, le, is_effort = vector(b[_OUT], g.no), vector(b[_LAM], max(g.nr, 1)), integers(g.efforts_at, g.no)
    gather(d, g, e, b, x, R, V, A)
    # joint friction has none of its own, but sees those of its joint
    row = integers(g.joint_rows_at, g.n)[e] if g.friction != 0 else g.first_row + e * g.nr
    for j in range(g.nr):
        le[j] = lam[row + j]
    for j in range(g.no):
        oe[j] = 0.0
    call2(g.output, g.parameters_at + e * g.stride, d.table_at)
    if switches_of(g)[e] == 0:
        for j in range(g.no):
            oe[j] = 0.0 if is_effort[j] != 0 else oe[j]


@kernel
def output_values(d, x, R, V, A, lam, out):
    """Outputs of all elements, out (n_outputs,), from poses, velocities and reported multipliers lam (m,)."""
    b = integers(d.table_at, N_SLOTS)
    groups = groups_of(d)
    for k in range(d.n_groups):
        g = groups[k]
        if g.output == 0:
            continue
        for e in range(g.n):
            output_of(d, g, e, b, x, R, V, A, lam)
            oe = vector(b[_OUT], g.no)
            for j in range(g.no):
                out[g.first_output + e * g.no + j] = oe[j]
