"""Assembly of constraints: values, rates, forces and tangents of all rows; gradients are kept per element.

Rows of velocities (`fem_mbs.element.base.Constraint`) have no g. They are no part of problems in positions: their g
is 0 there, and the row sets their multiplier to 0 (docs/theory/non_holonomic.md).

Rows of elements that are off are no part of any problem: g, ġ and G are 0, and the row sets the multiplier to 0
(docs/theory/switches.md, (1)). The pattern of matrices is unchanged. The same holds for rows that fixed components
leave without any motion (`fem_mbs.system.empty_rows`).

As in `fem_mbs.system.assembly`, kernels of elements are called through their addresses.
"""

import math

from fem_mbs.jit import (
    N_SLOTS,
    SLOT,
    address_of,
    call2,
    indices,
    integer_matrix,
    integers,
    kernel,
    matrix,
    tensor,
    vector,
)
from fem_mbs.row_products import add_rows
from fem_mbs.system.gather import gather, scatter_matrix, times_tangent
from fem_mbs.system.global_matrices import matrix_values
from fem_mbs.system.records import groups_of, switches_of, zero

# rows of a matrix: rates of all rows; g, and rows of velocities left out, as rates, or as G times an increment
RATES, POSITIONS, MIXED, INCREMENTS = 0, 1, 2, 3
_V, _A, _M, _K = (SLOT[k] for k in ("v", "a", "M", "K"))
_G, _GG, _H, _RATE, _GT, _GTT = (SLOT[k] for k in ("g", "G", "H", "rate", "gt", "gtt"))


@kernel
def clear_off(g, e, g_value, rate):
    """Rows of an element that is off: g, ġ and its kept gradient are 0."""
    stored, row = tensor(g.G_at, g.n, g.nr, g.nd), g.first_row + e * g.nr
    for i in range(g.nr):
        g_value[row + i] = rate[row + i] = 0.0
        clear_row(stored, e, i, g.nd)


@kernel
def clear_row(stored, e, i, nd):
    """Set the gradient of row i of element e to 0."""
    for j in range(nd):
        stored[e, i, j] = 0.0


@kernel
def off_diagonal(d, g, e, map_at, factor, values):
    """Add factor/arm² to the diagonal of the rows of an element that is off: their multipliers do not change."""
    arm, size = vector(d.row_arm_at, d.m), g.nd + g.nr
    where = indices(map_at + 4 * e * size * size, size * size)
    for i in range(g.nr):
        at = where[(g.nd + i) * (size + 1)]
        values[at] += factor / arm[g.first_row + e * g.nr + i] ** 2


@kernel
def constraints(d, x, R, V, g_value, rate):
    """Fill g (m,) and ġ = G V + ∂g/∂t (m,); gradients G are kept per element for the functions below."""
    b = integers(d.table_at, N_SLOTS)
    groups, empty = groups_of(d), integers(d.empty_rows_at, d.m)
    for k in range(d.n_groups):
        g = groups[k]
        if g.constraint == 0:
            continue
        nd, nr = g.nd, g.nr
        G, stored = matrix(b[_GG], nr, nd), tensor(g.G_at, g.n, nr, nd)
        ge, gt, ve, on = vector(b[_G], nr), vector(b[_GT], nr), vector(b[_V], nd), switches_of(g)
        for e in range(g.n):
            if on[e] == 0:
                clear_off(g, e, g_value, rate)
                continue
            gather(d, g, e, b, x, R, V, V)
            zero(b[_GG], nr * nd)
            for i in range(nr):
                ge[i] = 0.0
                gt[i] = 0.0
            p = g.parameters_at + e * g.stride
            call2(g.constraint, p, d.table_at)
            if g.rheonomic != 0:
                zero(b[_RATE], nr * nd)
                zero(b[_GTT], nr)
                call2(g.rheonomic, p, d.table_at)
            row = g.first_row + e * nr
            for i in range(nr):
                if empty[row + i] != 0:
                    clear_row(stored, e, i, nd)
                    g_value[row + i] = rate[row + i] = 0.0
                    continue
                total = gt[i]
                for j in range(nd):
                    stored[e, i, j] = G[i, j]
                    total += G[i, j] * ve[j]
                g_value[row + i] = ge[i] if i < nr - g.velocity_rows else 0.0
                rate[row + i] = total


@kernel
def constraint_rates(d, V, rate):
    """Fill G V (m,) with the kept gradients (without ∂g/∂t)."""
    groups = groups_of(d)
    for k in range(d.n_groups):
        g = groups[k]
        if g.constraint == 0:
            continue
        nodes, stored = integer_matrix(g.nodes_at, g.n, g.nn), tensor(g.G_at, g.n, g.nr, g.nd)
        for e in range(g.n):
            for i in range(g.nr):
                total = 0.0
                for a in range(g.nn):
                    for j in range(6):
                        total += stored[e, i, 6 * a + j] * V[nodes[e, a], j]
                rate[g.first_row + e * g.nr + i] = total


@kernel
def replace_velocity_rows(d, scale, source, rows):
    """Replace the values (m,) of the rows of velocities by scale times those of ``source`` (m,)."""
    chosen = integers(d.rate_rows_at, d.n_rate_rows)
    for k in range(d.n_rate_rows):
        rows[chosen[k]] = scale * source[chosen[k]]


@kernel
def row_norm(d, rows):
    """Euclidean norm of values of the constraint rows (m,) as lengths, see `fem_mbs.system.sizes`."""
    arm, total = vector(d.row_arm_at, d.m), 0.0
    for i in range(d.m):
        total += (arm[i] * rows[i]) ** 2
    return math.sqrt(total)


@kernel
def add_constraint_forces(d, scale, lam, f):
    """Add scale Gᵀ lam to the full vector f, with the kept gradients."""
    groups = groups_of(d)
    for k in range(d.n_groups):
        g = groups[k]
        if g.constraint == 0:
            continue
        nodes, stored = integer_matrix(g.nodes_at, g.n, g.nn), tensor(g.G_at, g.n, g.nr, g.nd)
        for e in range(g.n):
            for i in range(g.nr):
                factor = scale * lam[g.first_row + e * g.nr + i]
                if factor != 0.0:
                    for a in range(g.nn):
                        at = 6 * nodes[e, a]
                        for j in range(6):
                            f[at + j] += factor * stored[e, i, 6 * a + j]


@kernel
def second_derivatives(d, g, e, b):
    """Fill H (nr, nd, nd), rate (nr, nd) and gtt (nr,) in the workspace, of element e of group g after `gather`."""
    zero(b[_H], g.nr * g.nd * g.nd)
    zero(b[_RATE], g.nr * g.nd)
    zero(b[_GTT], g.nr)
    p = g.parameters_at + e * g.stride
    call2(g.hessian, p, d.table_at)
    if g.rheonomic != 0:
        zero(b[_GT], g.nr)  # its kernel adds there too
        call2(g.rheonomic, p, d.table_at)


@kernel
def _curvature(d, g, e, b, phi, c_H, c_V, first, S, B):
    """Add −c_H ∂(Gᵀ phi)/∂q to S (size, size) and c_V ∂(G V + ∂g/∂t)/∂q to B (nr, nd), of element e after `gather`.

    B from row ``first`` on.
    """
    nd, nr = g.nd, g.nr
    rate, ve = matrix(b[_RATE], nr, nd), vector(b[_V], nd)
    empty, forces, speeds = integers(d.empty_rows_at, d.m), vector(b[_GT], nr), vector(b[_A], nd)
    second_derivatives(d, g, e, b)
    for i in range(nr):
        row = g.first_row + e * nr + i
        forces[i] = -c_H * phi[row] if empty[row] == 0 else 0.0
    for r in range(nd):
        add_rows(nr, nd, b[_GT], b[_H] + 8 * nd * r, nd * nd, address_of(S) + 8 * S.shape[1] * r)
        speeds[r] = c_V * ve[r]
    for i in range(first, nr if c_V != 0.0 else first):
        if empty[g.first_row + e * nr + i] != 0:
            continue
        add_rows(nd, nd, b[_A], b[_H] + 8 * nd * nd * i, nd, address_of(B) + 8 * nd * i)
        for j in range(nd):
            B[i, j] += c_V * rate[i, j]


@kernel
def constraint_couplings(d, layout, x, R, V, phi, c_H, c_V, c_G, k, holonomic, T):
    """Add what another problem of the same step feels of the constraints to global matrix ``layout``; no multipliers.

    (δq, δq)  −c_H ∂(Gᵀ phi)/∂q T        (λ, δq)   −k ( c_G G + c_V ∂(G V + ∂g/∂t)/∂q ) T

    Rows of velocities have nothing in (λ, δq) where only ``holonomic`` rows are meant.
    """
    b = integers(d.table_at, N_SLOTS)
    groups = groups_of(d)
    values = matrix_values(d, layout)
    for a in range(d.n_groups):
        g = groups[a]
        if g.constraint == 0:
            continue
        nd, nr = g.nd, g.nr
        size = nd + nr
        S, B = matrix(b[_K], size, size), matrix(b[_M], nr, nd)
        stored, on = tensor(g.G_at, g.n, nr, nd), switches_of(g)
        for e in range(g.n):
            if on[e] == 0:
                continue
            zero(b[_K], size * size)
            for i in range(nr):
                for j in range(nd):
                    B[i, j] = c_G * stored[e, i, j]
            gather(d, g, e, b, x, R, V, V)
            _curvature(d, g, e, b, phi, c_H, c_V, 0, S, B)
            times_tangent(g, e, S, nd, T)
            times_tangent(g, e, B, nr, T)
            for i in range(nr - g.velocity_rows if holonomic else nr):
                for j in range(nd):
                    S[nd + i, j] = -k * B[i, j]
            scatter_matrix(g.maps_at[layout], e, size, vector(b[_K], size * size), values)


@kernel
def velocity_row_accelerations(d, layout, x, R, V, c, k):
    """Add −k c ∂γ̇/∂V of rows of velocities to global matrix ``layout``, in (λ, δv): γ̇ = G v̇ + vᵀHv + 2 rate v + gtt.

    Other rows have H − Hᵀ = G Ω~ and need no H here, see `constraint_couplings`.
    """
    b = integers(d.table_at, N_SLOTS)
    groups, values = groups_of(d), matrix_values(d, layout)
    for a in range(d.n_groups):
        g = groups[a]
        if g.constraint == 0 or g.velocity_rows == 0:
            continue
        nd, nr = g.nd, g.nr
        size = nd + nr
        S, H = matrix(b[_K], size, size), tensor(b[_H], nr, nd, nd)
        rate, ve, on = matrix(b[_RATE], nr, nd), vector(b[_V], nd), switches_of(g)
        for e in range(g.n):
            if on[e] == 0:
                continue
            zero(b[_K], size * size)
            gather(d, g, e, b, x, R, V, V)
            second_derivatives(d, g, e, b)
            for i in range(nr - g.velocity_rows, nr):
                for j in range(nd):
                    total = 2.0 * rate[i, j]
                    for r in range(nd):
                        total += (H[i, r, j] + H[i, j, r]) * ve[r]
                    S[nd + i, j] = -k * c * total
            scatter_matrix(g.maps_at[layout], e, size, vector(b[_K], size * size), values)


@kernel
def constraint_tangents(d, layout, x, R, V, phi, c_H, c_V, k, penalty, shift, rows, T):
    """Add the blocks of all constraints to global matrix ``layout``.

    With B = G + c_V ∂(G V + ∂g/∂t)/∂q T of ``rows`` that are `RATES`, B = G T of those that are not:
        (δq, δq)  penalty Gᵀ B − c_H ∂(Gᵀ phi)/∂q T        (δq, λ)  −k Gᵀ
        (λ, δq)   −k B                                     (λ, λ)   −shift/arm²  (proximal, redundant constraints;
                                                                     arms of `fem_mbs.system.sizes`)
    Rows of velocities have −k/arm² in (λ, λ) alone in `POSITIONS`, are rates in `MIXED`, and have B = G in
    `INCREMENTS`, with c_V = 0. Rows of elements that are off, and empty ones (`fem_mbs.system.empty_rows`), have
    −k/arm² and nothing else.
    """
    b = integers(d.table_at, N_SLOTS)
    groups = groups_of(d)
    values, arm, empty = matrix_values(d, layout), vector(d.row_arm_at, d.m), integers(d.empty_rows_at, d.m)
    with_H = c_H != 0.0 or c_V != 0.0
    for a in range(d.n_groups):
        g = groups[a]
        if g.constraint == 0:
            continue
        nd, nr = g.nd, g.nr
        size, taking_part = nd + nr, nr - g.velocity_rows if rows == POSITIONS else nr
        first_rate = 0 if rows == RATES else nr - g.velocity_rows
        S = matrix(b[_K], size, size)
        B = matrix(b[_M], nr, nd)
        stored, on = tensor(g.G_at, g.n, nr, nd), switches_of(g)
        for e in range(g.n):
            if on[e] == 0:
                off_diagonal(d, g, e, g.maps_at[layout], -k, values)
                continue
            zero(b[_K], size * size)
            for i in range(nr):
                for j in range(nd):
                    B[i, j] = stored[e, i, j] if i < first_rate else 0.0
            if with_H:
                gather(d, g, e, b, x, R, V, V)
                _curvature(d, g, e, b, phi, c_H, c_V, first_rate, S, B)
                times_tangent(g, e, S, nd, T)
            if with_H or first_rate > 0:
                times_tangent(g, e, B, nr, T)
            for i in range(first_rate, nr):
                for j in range(nd):
                    B[i, j] += stored[e, i, j]
            for i in range(taking_part, nr):
                S[nd + i, nd + i] = -k / arm[g.first_row + e * nr + i] ** 2
                for j in range(nd):
                    B[i, j] = 0.0
            for i in range(taking_part):
                for j in range(nd):
                    S[nd + i, j] = -k * B[i, j]
                    S[j, nd + i] = -k * stored[e, i, j]
                row = g.first_row + e * nr + i
                S[nd + i, nd + i] = -(shift if empty[row] == 0 else k) / arm[row] ** 2
            if penalty != 0.0:
                weights = vector(b[_GT], nr)
                for r in range(nd):
                    for i in range(nr):
                        weights[i] = penalty * stored[e, i, r]
                    add_rows(nr, nd, b[_GT], b[_M], nd, b[_K] + 8 * size * r)
            scatter_matrix(g.maps_at[layout], e, size, vector(b[_K], size * size), values)


@kernel
def convective_terms(d, x, R, V, gamma):
    """Fill gamma (m,) = vᵀHv + 2 ∂G/∂t v + ∂²g/∂t², so that g̈, or γ̇ of rows of velocities, is G v̇ + gamma."""
    b = integers(d.table_at, N_SLOTS)
    groups = groups_of(d)
    for k in range(d.n_groups):
        g = groups[k]
        if g.constraint == 0:
            continue
        nd, nr = g.nd, g.nr
        H, rate, gtt = tensor(b[_H], nr, nd, nd), matrix(b[_RATE], nr, nd), vector(b[_GTT], nr)
        ve, on, empty = vector(b[_V], nd), switches_of(g), integers(d.empty_rows_at, d.m)
        for e in range(g.n):
            if on[e] == 0:
                for i in range(nr):
                    gamma[g.first_row + e * nr + i] = 0.0
                continue
            gather(d, g, e, b, x, R, V, V)
            second_derivatives(d, g, e, b)
            for i in range(nr):
                total = gtt[i]
                for r in range(nd):
                    total += 2.0 * rate[i, r] * ve[r]
                    for j in range(nd):
                        total += ve[r] * H[i, r, j] * ve[j]
                row = g.first_row + e * nr + i
                gamma[row] = total if empty[row] == 0 else 0.0
