"""Tangents of the stage problem: element matrices with the operators of the chart, summed into a matrix of blocks.

Rows i, with all that is the same in them in C, and moments F' = F + h Ω × P without those of the frame:

    r^i = Y_P^i + Σ_{j<s} (b_j − â_ij) Y_F^j + C                                                                 (1)
    Y_P = (P_x, TᵀP_θ) ,   Y_F = (F_x, h ṪᵀP_θ + TᵀF_θ)                                                          (2)
    C   = (−y_x, −T^s y_θ) + b_s h (0, ṪᵀP_θ − Tᵀ(Ω × P_θ))^s ,   y = P_n + Σ_{j<s} b_j (F_x, exp(ψ) F'_θ)^j        (3)

Each stage has entries of its δD (suffix _D) and of its δw (suffix _w) for Y_P, Y_F and C. With δD^j = h Σ_k a_jk δw^k
they go to the blocks (i, k):

    ∂r^i/∂w^k = Σ_j (h a_jk ∂_D + δ_jk ∂_w) [ δ_ij Y_P^j + (b_j − â_ij) Y_F^j + C^j ]                            (4)

Elements give ∂P/∂q, M, ∂F/∂q and ∂F/∂v; δq = 𝒯 δD, δv = Θ δD + 𝒯 δw. Second derivatives of M are left out: they are
O(h²).

Source: docs/theory/lobatto.md, (7)-(10).
"""

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
)
from fem_mbs.rotations import add_R_skew
from fem_mbs.system.assembly import element_forces, separate_tangents
from fem_mbs.system.gather import gather, gather_poses, scatter_vector
from fem_mbs.system.global_matrices import matrix_values
from fem_mbs.system.records import POSITION, STACKED, TRANSLATIONS, groups_of, layouts_of, switches_of, zero

_F, _MA, _M, _C, _K, _KA = (SLOT[k] for k in ("f", "Ma", "M", "C", "K", "Ka"))
_V, _R, _HN = SLOT["v"], SLOT["R"], SLOT["H_N"]


@kernel
def clear_entries(o):
    """Set the entries of a stage to zero."""
    for at in (o.P_D_at, o.P_w_at, o.F_D_at, o.F_w_at, o.C_D_at, o.C_w_at):
        zero(at, o.size_nz)
    for at in (o.R_D_at, o.R_w_at, o.R_L_at, o.A_D_at, o.A_w_at, o.S_D_at, o.S_w_at):
        zero(at, o.size_nz)


@kernel
def spread(s, o, j, g, e, map_at, size, direct, P, F):
    """Add ∂P (rows of nodes only, 0 columns: none) and ∂F of element e to the entries of stage j, by (2) and (3).

    ``direct``: derivatives with respect to w and multipliers, else to D.
    """
    nodes = integer_matrix(g.nodes_at, g.n, g.nn)
    where = indices(map_at + 4 * e * size * size, size * size)
    Y_P, Y_F, C = (o.P_w, o.F_w, o.C_w) if direct else (o.P_D, o.F_D, o.C_D)
    last = j == o.a.shape[0] - 1
    h, b, with_P = s.h, o.b[j], P.shape[1] > 0
    p, f, w = local_vector(3), local_vector(3), local_vector(3)
    for a in range(g.nn):
        n, row = nodes[e, a], 6 * a
        for r in range(row, row + 3):
            for c in range(size):
                at = where[r * size + c]
                if at >= 0:
                    if with_P:
                        Y_P[at] += P[r, c]
                    Y_F[at] += F[r, c]
                    if not last:
                        C[at] -= b * F[r, c]
        T, Td, Q = o.Ti[j, n], o.Td[j, n], o.Qi[j, n]
        for k in range(3):
            w[k] = s.Vs[n, 3 + k]
        row += 3
        for c in range(size):
            for k in range(3):
                p[k] = P[row + k, c] if with_P else 0.0
                f[k] = F[row + k, c]
            w0, w1, w2 = w[1] * p[2] - w[2] * p[1], w[2] * p[0] - w[0] * p[2], w[0] * p[1] - w[1] * p[0]
            for k in range(3):
                at = where[(row + k) * size + c]
                if at < 0:
                    continue
                own = T[0, k] * p[0] + T[1, k] * p[1] + T[2, k] * p[2]
                turning = h * (Td[0, k] * p[0] + Td[1, k] * p[1] + Td[2, k] * p[2])
                Y_P[at] += own
                Y_F[at] += turning + T[0, k] * f[0] + T[1, k] * f[1] + T[2, k] * f[2]
                if last:
                    C[at] += b * (turning - h * (T[0, k] * w0 + T[1, k] * w1 + T[2, k] * w2))
                else:
                    C[at] += Q[k, 0] * (f[0] + h * w0) + Q[k, 1] * (f[1] + h * w1) + Q[k, 2] * (f[2] + h * w2)


@kernel
def spread_translations(d, s, o, j, g, e, layout, direct, P, F):
    """`spread` of an element without rotations, (3 nn, 3 nn)."""
    nn = g.nn
    nodes, dof = integer_matrix(g.nodes_at, g.n, nn), integers(d.dof_at, 6 * d.n_nodes)
    L = layouts_of(d)[layout]
    where, pointers = indices(g.maps_at[layout] + 4 * e * nn * nn, nn * nn), indices(L.pointers_at, L.n + 1)
    Y_P, Y_F, C = (o.P_w, o.F_w, o.C_w) if direct else (o.P_D, o.F_D, o.C_D)
    last, b = j == o.a.shape[0] - 1, o.b[j]
    for c in range(nn):
        for k in range(3):
            column = dof[6 * nodes[e, c] + k]
            if column < 0:
                continue
            for a in range(nn):
                if where[a * nn + c] < 0:
                    continue
                at = pointers[column] + where[a * nn + c]
                for i in range(3):
                    if dof[6 * nodes[e, a] + i] < 0:
                        continue
                    Y_P[at] += P[3 * a + i, 3 * c + k]
                    Y_F[at] += F[3 * a + i, 3 * c + k]
                    if not last:
                        C[at] -= b * F[3 * a + i, 3 * c + k]
                    at += 1


@kernel
def add_row(o, j, g, e, row, B, scale, to_D, to_w):
    """Add scale times a gradient B (nd,) in the chart, B Θ and B T, to a row of two sets of entries."""
    nd, size = g.nd, g.nd + 6
    nodes = integer_matrix(g.nodes_at, g.n, g.nn)
    where = indices(g.maps_at[POSITION] + 4 * e * size * size, size * size)
    first = (nd + row) * size
    for a in range(g.nn):
        T, Th, c = o.Ti[j, nodes[e, a]], o.Th[j, nodes[e, a]], 6 * a
        for k in range(3):
            i = where[first + c + k]
            if i >= 0:
                to_w[i] += scale * B[c + k]
        c += 3
        for k in range(3):
            i = where[first + c + k]
            if i >= 0:
                for m in range(3):
                    to_w[i] += scale * B[c + m] * T[m, k]
                    to_D[i] += scale * B[c + m] * Th[m, k]


@kernel
def to_chart(o, j, g, e, nd, h, P_q, P_v, K, C):
    """Derivatives of P and F in the chart: P_q ← ∂P/∂D, P_v ← ∂P/∂w, K ← ∂F/∂D, C ← ∂F/∂w, from ∂ṗ = −K δq − C δv."""
    nodes = integer_matrix(g.nodes_at, g.n, g.nn)
    for r in range(nd):
        for a in range(g.nn):
            n = nodes[e, a]
            T, Th = o.Ti[j, n], o.Th[j, n]
            for c in range(6 * a, 6 * a + 3):
                K[r, c] *= -h
                C[r, c] *= -h
            c = 6 * a + 3
            q0, q1, q2 = P_q[r, c], P_q[r, c + 1], P_q[r, c + 2]
            v0, v1, v2 = P_v[r, c], P_v[r, c + 1], P_v[r, c + 2]
            k0, k1, k2 = K[r, c], K[r, c + 1], K[r, c + 2]
            c0, c1, c2 = C[r, c], C[r, c + 1], C[r, c + 2]
            for k in range(3):
                P_q[r, c + k] = (
                    q0 * T[0, k] + q1 * T[1, k] + q2 * T[2, k] + (v0 * Th[0, k] + v1 * Th[1, k] + v2 * Th[2, k])
                )
                P_v[r, c + k] = v0 * T[0, k] + v1 * T[1, k] + v2 * T[2, k]
                K[r, c + k] = -h * (
                    k0 * T[0, k] + k1 * T[1, k] + k2 * T[2, k] + c0 * Th[0, k] + c1 * Th[1, k] + c2 * Th[2, k]
                )
                C[r, c + k] = -h * (c0 * T[0, k] + c1 * T[1, k] + c2 * T[2, k])


@kernel
def _turned_mass(d, g, e, b, V, R, scale, out, sign):
    """Add ``sign`` M(R + scale R Ω̃) of an element to out (nd, nd); uses the buffers of tangents."""
    nd = g.nd
    nodes = integer_matrix(g.nodes_at, g.n, g.nn)
    Re, Me = tensor(b[_R], g.nn, 3, 3), matrix(b[_M], nd, nd)
    for a in range(g.nn):
        n = nodes[e, a]
        for k in range(3):
            for m in range(3):
                Re[a, k, m] = R[n, k, m]
        add_R_skew(scale, R[n], V[n, 3:6], Re[a], 0, 0)
    for slot in (_M, _C, _K, _KA):
        zero(b[slot], nd * nd)
    separate_tangents(d, g, g.inertia_tangent, g.parameters_at + e * g.stride)
    for r in range(nd):
        for c in range(nd):
            out[r, c] += sign * Me[r, c]


@kernel
def mass_rate(d, g, e, b, V, R, out):
    """Fill out (nd, nd) with Ṁ, the derivative of the mass matrix of an element along V; uses the same buffers.

    Half the difference of M at R ± ε R Ω̃. It is no approximation: as polynomials in the entries of R mass matrices are
    at most quadratic (rows of displacements have one factor R_k, those of rotations R_kᵀ R_l).
    """
    nodes, largest = integer_matrix(g.nodes_at, g.n, g.nn), 1.0
    for a in range(g.nn):
        for k in range(3, 6):
            largest = max(largest, abs(V[nodes[e, a], k]))
    for r in range(g.nd):
        for c in range(g.nd):
            out[r, c] = 0.0
    _turned_mass(d, g, e, b, V, R, 1.0 / largest, out, 0.5 * largest)
    _turned_mass(d, g, e, b, V, R, -1.0 / largest, out, -0.5 * largest)


@kernel
def _inertia(d, s, g, e, b, tangents):
    """Call the inertia of an element; what it does to ∂ṗ/∂v, Ṁ and ∂(M a)/∂q, is taken off C with ``tangents``."""
    nd, p = g.nd, g.parameters_at + e * g.stride
    Ce, Kae, rate = matrix(b[_C], nd, nd), matrix(b[_KA], nd, nd), matrix(b[_HN], nd, nd)
    separate_tangents(d, g, g.inertia_tangent, p)
    moves = False
    for r in range(nd):
        for c in range(nd):
            moves = moves or Kae[r, c] != 0.0
    if tangents and moves:
        mass_rate(d, g, e, b, s.Vs, s.Rs, rate)
        gather_poses(g, e, b, s.xs, s.Rs)
        for slot in (_M, _C, _K, _KA):
            zero(b[slot], nd * nd)
        separate_tangents(d, g, g.inertia_tangent, p)
        for r in range(nd):
            for c in range(nd):
                Ce[r, c] -= rate[r, c]
    call2(g.inertia, p, d.table_at)


@kernel
def elements(d, s, o, j, layout, tangents):
    """Momentum P and h ṗ of stage j, evaluated at xs, Rs, Vs; with ``tangents`` their entries.

    ṗ = f + [∂(M a)/∂q at a = v] v                                                                          (5)
    """
    b = integers(d.table_at, N_SLOTS)
    groups = groups_of(d)
    P, F, h = o.Pi[j], o.Fi[j], s.h
    o.single = 0.0
    for k in range(d.n_groups):
        g = groups[k]
        if g.inertia == 0 and g.force == 0:
            continue
        nd = g.nd
        fe, Pe, ve = vector(b[_F], nd), vector(b[_MA], nd), vector(b[_V], nd)
        Me, Ce = matrix(b[_M], nd, nd), matrix(b[_C], nd, nd)
        Ke, Kae, on = matrix(b[_K], nd, nd), matrix(b[_KA], nd, nd), switches_of(g)
        for e in range(g.n):
            if on[e] == 0:
                continue
            p = g.parameters_at + e * g.stride
            gather(d, g, e, b, s.xs, s.Rs, s.Vs, s.Vs)
            for i in range(nd):
                fe[i] = Pe[i] = 0.0
            for slot in (_M, _C, _K, _KA):
                zero(b[slot], nd * nd)
            if g.inertia != 0:
                _inertia(d, s, g, e, b, tangents)
                scatter_vector(g, e, Pe, P)
            if g.force != 0:
                element_forces(d, g, p, tangents and g.weighted == 0)
                if tangents and g.weighted != 0:
                    separate_tangents(d, g, g.force_tangent, p)
            for a in range(g.nn):
                for i in range(3):
                    o.single += fe[g.width * a + i] ** 2
            for r in range(nd):
                for c in range(nd):
                    fe[r] += Kae[r, c] * ve[c]
                    Ce[r, c] -= Kae[r, c]
                fe[r] *= h
            scatter_vector(g, e, fe, F)
            if tangents and g.width == TRANSLATIONS:
                for r in range(nd):
                    for c in range(nd):
                        Ke[r, c] *= -h
                        Ce[r, c] *= -h
                spread_translations(d, s, o, j, g, e, layout, False, Kae, Ke)
                spread_translations(d, s, o, j, g, e, layout, True, Me, Ce)
            elif tangents:
                to_chart(o, j, g, e, nd, h, Kae, Me, Ke, Ce)
                spread(s, o, j, g, e, g.maps_at[layout], nd, False, Kae, Ke)
                spread(s, o, j, g, e, g.maps_at[layout], nd, True, Me, Ce)


@kernel
def distribute(d, s, o, j):
    """Add the entries of stage j to the blocks of the stacked matrix, (4); rows of multipliers to those before it."""
    stages, h, a = o.a.shape[0], s.h, o.a
    used, offset, stride = o.used, o.offset, o.stride
    P_D, P_w, F_D, F_w, C_D, C_w = o.P_D, o.P_w, o.F_D, o.F_w, o.C_D, o.C_w
    values, column = matrix_values(d, STACKED), stages * o.size_nz
    last = j == stages - 1
    for i in range(stages):
        rest = 0.0 if last else o.b[j] - o.a_hat[i, j]
        own = 1.0 if i == j else 0.0
        for u in range(o.n_used):
            p, at = used[u], offset[u] + i * stride[u]
            values[at + j * column] += C_w[p] + rest * F_w[p] + own * P_w[p]
            if j > 0:
                total = h * (C_D[p] + rest * F_D[p] + own * P_D[p])
                for k in range(stages):
                    values[at + k * column] += a[j, k] * total
    if j > 0:
        _add_rows(s, o, j, j - 1, 1.0, o.R_D, o.R_w, values)
        for u in range(o.n_used):
            values[offset[u] + (j - 1) * (stride[u] + column)] += o.R_L[used[u]]
    if o.lasting != 0 or o.averaged != 0:
        for i in range(stages - 1):
            _add_rows(s, o, j, i, o.averages[i, j], o.A_D, o.A_w, values)
        if o.lasting != 0 and not last:
            _add_rows(s, o, j, j, 1.0, o.S_D, o.S_w, values)


@kernel
def _add_rows(s, o, j, i, weight, of_D, of_w, values):
    """Add ``weight`` times rows of multipliers, evaluated at stage j, to block row i."""
    stages = o.a.shape[0]
    used, offset, stride, column = o.used, o.offset, o.stride, stages * o.size_nz
    for u in range(o.n_used):
        p, at = used[u], offset[u] + i * stride[u]
        values[at + j * column] += weight * of_w[p]
        for k in range(stages):
            values[at + k * column] += weight * s.h * o.a[j, k] * of_D[p]


@kernel
def multiplier_diagonal(d, s, o, layout, shift, k_v):
    """Proximal shift of constraint rows; unit rows of the multipliers that the last stage does not have."""
    L = layouts_of(d)[layout]
    values, diagonal = vector(L.values_at, L.nnz), integers(L.diagonal_at, L.n)
    stages, arm, empty = o.a.shape[0], vector(d.row_arm_at, d.m), integers(d.empty_rows_at, d.m)
    size = L.n // stages
    for j in range(stages - 1):
        for i in range(d.m):
            values[diagonal[j * size + d.n + i]] += (shift if empty[i] == 0 else k_v) / arm[i] ** 2
    for i in range((stages - 1) * size + d.n, L.n):
        values[diagonal[i]] = k_v
    off_rows(d, k_v, stages, size, values, diagonal)


@kernel
def off_rows(d, k_v, stages, size, values, diagonal):
    """Unit rows of the multipliers of constraints that are off, see `fem_mbs.system.constraints`."""
    groups = groups_of(d)
    for k in range(d.n_groups):
        g = groups[k]
        if g.constraint == 0:
            continue
        on = switches_of(g)
        for e in range(g.n):
            if on[e] != 0:
                continue
            for j in range(stages - 1):
                for i in range(g.nr):
                    values[diagonal[j * size + d.n + g.first_row + e * g.nr + i]] = k_v
