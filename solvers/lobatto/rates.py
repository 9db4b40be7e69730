"""Rows of velocities in the stage problem: averaged over the stages, which keeps the order of the scheme.

    0 = Σ_j b_j P_{i−1}(x_j) γ(q^j, v^j, t^j) ,  i = 1 … s − 1   with R^i ;   γ = G v + ∂g/∂t                      (1)
    ∂γ/∂D = ∂γ/∂q 𝒯 + G Θ ,   ∂γ/∂w = G 𝒯                                                                        (2)

x_j = 2 c_j − 1, with the Legendre polynomials P. The impact problem has γ = 0 at the end. With γ = 0 at single stages
instead of (1) the order is s − 1, not 2 s − 2.

Source: docs/theory/lobatto.md, (13), "Non-holonomic rows".
"""

from fem_mbs.jit import N_SLOTS, SLOT, indices, integer_matrix, integers, kernel, matrix, tensor, vector
from fem_mbs.system.constraints import replace_velocity_rows, row_norm, second_derivatives
from fem_mbs.system.gather import gather, times_tangent
from fem_mbs.system.records import POSITION, groups_of, switches_of, zero

_H, _RATE, _M, _V = (SLOT[k] for k in ("H", "rate", "M", "v"))


@kernel
def stage_rates(d, s, o, j):
    """Contribution of stage j to (1), times h: in gaps, at the positions that g of stage i + 1 would have."""
    chosen = integers(d.rate_rows_at, d.n_rate_rows)
    for k in range(d.n_rate_rows):
        row, change = chosen[k], s.h * s.rate[chosen[k]]
        for i in range(1, o.a.shape[0]):
            if j == 0:
                o.gaps[i, row] = 0.0
            o.gaps[i, row] += change * o.averages[i - 1, j]


@kernel
def rates_squared(d, s, o):
    """Sum of squares of (1), times h."""
    total = 0.0
    for j in range(1, o.a.shape[0]):
        zero(s.g_at, d.m)
        replace_velocity_rows(d, 1.0, o.gaps[j], s.g)
        total += row_norm(d, s.g) ** 2
    return total


@kernel
def rate_entries(d, s, o, j):
    """Entries of (1) at stage j, by (2)."""
    b = integers(d.table_at, N_SLOTS)
    groups = groups_of(d)
    for k in range(d.n_groups):
        g = groups[k]
        if g.constraint == 0 or g.velocity_rows == 0:
            continue
        nd, nr = g.nd, g.nr
        size, stored = nd + nr, tensor(g.G_at, g.n, nr, nd)
        nodes = integer_matrix(g.nodes_at, g.n, g.nn)
        B, H, rate = matrix(b[_M], nr, nd), tensor(b[_H], nr, nd, nd), matrix(b[_RATE], nr, nd)
        ve, on = vector(b[_V], nd), switches_of(g)
        for e in range(g.n):
            if on[e] == 0:
                continue
            where = indices(g.maps_at[POSITION] + 4 * e * size * size, size * size)
            gather(d, g, e, b, s.xs, s.Rs, s.Vs, s.Vs)
            second_derivatives(d, g, e, b)
            for i in range(nr):
                for c in range(nd):
                    B[i, c] = rate[i, c]
                    for r in range(nd):
                        B[i, c] += ve[r] * H[i, r, c]
            times_tangent(g, e, B, nr, o.Ti[j])
            for i in range(nr - g.velocity_rows, nr):
                for a in range(g.nn):
                    T, Th = o.Ti[j, nodes[e, a]], o.Th[j, nodes[e, a]]
                    for c in range(6):
                        at = where[(nd + i) * size + 6 * a + c]
                        if at < 0:
                            continue
                        o.A_D[at] += s.kv * B[i, 6 * a + c]
                        if c < 3:
                            o.A_w[at] += s.kv * stored[e, i, 6 * a + c]
                            continue
                        for m in range(3):
                            o.A_w[at] += s.kv * stored[e, i, 6 * a + 3 + m] * T[m, c - 3]
                            o.A_D[at] += s.kv * stored[e, i, 6 * a + 3 + m] * Th[m, c - 3]
