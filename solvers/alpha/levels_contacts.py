"""Contacts of the method with laws at three levels: sets, rows, and their derivatives.

With P = Λ + the force λ integrated over the step, κ̂ the same twice, and r the penalties of `DecoupledNSGA`:

    A  r g_N − κ̂_N ≤ 0        g_N = 0, else κ̂_N = 0                                                                (1)
    B  A and r ξ_N − P_N ≤ 0   ξ_N = 0, else P_N = 0           ξ = γ + e γ⁻                                          (2)
    C  B and r g̈_N − λ_N ≤ 0   g̈_N = 0, else λ_N = 0                                                               (3)
    sticks   |r ξ_F − P_F| ≤ μ P_N     ξ_F = 0                                                                       (4)
             |r γ̇_F − λ_F| ≤ μ λ_N     γ̇_F = 0, else λ_F = −μ λ_N γ̇_F/|γ̇_F|                                       (5)
    slides   P_F = −μ P_N ξ_F/|ξ_F| ,  λ_F = −μ λ_N γ_F/|γ_F|                                                        (6)
             Λ_F = −μ Λ_N γ_F/|γ_F| in the place of the first, where it was closed and sliding at the start          (7)

A contact of B but not of C has λ = 0; one of A but not of B has P = 0 as well. r decides between branches only.

Derivatives have what normals change with q (in (3) only of G_N a, and 2 vᵀH + G_N Ω~ of v); what tangents change, and
c_N, c_F with q, is left out.

Source: docs/theory/nonsmooth_generalized_alpha_friction.md, (5)-(9).
"""

import math

from fem_mbs.jit import N_SLOTS, SLOT, call2, integer_matrix, integers, kernel, local_vector, matrix, vector
from fem_mbs.solvers.alpha.contacts import CLOSED_GAP, OWN
from fem_mbs.solvers.contact.law import CLOSED, GAP, SLIP, STICK
from fem_mbs.solvers.contact.rows import reflected, slide_before
from fem_mbs.system.assembly import (
    VELOCITY,
    gather,
    gather_start,
    groups_of,
    matrix_values,
    scatter_matrix,
    times_tangent,
    zero,
)
from fem_mbs.system.contacts import (
    B_GN,
    B_GN0,
    B_VT,
    B_VT0,
    C_BLOCKS,
    C_GAP,
    C_GAP0,
    L_MU,
    L_TANGENTIAL,
    add_gradient,
    gradient_times,
    laws_of,
)

_A, _H_N, _KK, _V = SLOT["a"], SLOT["H_N"], SLOT["K"], SLOT["v"]
ABOVE = 10.0  # times what a step leaves: a velocity that is one


@kernel
def find_lasting(d, s, o):
    """Contacts that are closed and slide at the start of the step, for (7)."""
    groups = groups_of(d)
    rest = ABOVE * (s.tol_v + s.rtol * s.h * s.F_s / s.mean_mass)
    least = CLOSED_GAP * s.exact * (1.0 + s.scale_x)
    for a in range(d.n_groups):
        g = groups[a]
        if g.contact == 0:
            continue
        kept, law = matrix(g.contact_at, g.n, g.contact_stride), laws_of(g)
        for e in range(g.n):
            slide = math.hypot(gradient_times(g, e, B_VT0, 0, s.V0), gradient_times(g, e, B_VT0, 1, s.V0))
            closed = kept[e, C_GAP0] <= least and abs(gradient_times(g, e, B_GN0, 0, s.V0)) <= rest
            o.lasting[g.first_contact + e] = 1 if law[e, L_MU] > 0.0 and closed and slide > rest else 0


@kernel
def direct(rate, way):
    """Fill way (2,) with the direction of rate (2,), 0 where it has none; the size of rate."""
    size = math.hypot(rate[0], rate[1])
    for i in range(2):
        way[i] = rate[i] / size if size > 0.0 else 0.0
    return size


@kernel
def beyond(r, rate, force):
    """|r rate − force| for arrays (2,)."""
    return math.hypot(r * rate[0] - force[0], r * rate[1] - force[1])


@kernel
def friction_rows(c, s, o, mu, xi, gamma, rate):
    """Status of friction of contact c, and its rows (4)-(7); γ̇_F is ``rate``."""
    k, force, P = s.kv, local_vector(2), local_vector(2)
    for i in range(2):
        force[i], P[i] = s.ks * o.lam_c[c, 1 + i], s.aLam[c, 1 + i]
    s.status[c] = GAP if o.level[c] < 2 else (CLOSED if mu == 0.0 else STICK)
    o.begins[c] = 0
    for i in range(2):
        s.rows_c[c, 1 + i], o.rows_a[c, 1 + i] = -P[i] / k, -o.lam_c[c, 1 + i]
    if o.level[c] < 2 or mu == 0.0:
        return
    if beyond(s.pv_T, xi, P) > mu * s.aLam[c, 0]:
        s.status[c] = SLIP
        o.slide_a[c] = direct(gamma, o.direction_a[c])
        o.slide[c] = direct(gamma if o.lasting[c] != 0 else xi, o.direction[c])
        for i in range(2):
            if o.lasting[c] != 0:
                s.rows_c[c, 1 + i] = -s.cLam[c, 1 + i] - mu * s.cLam[c, 0] * o.direction[c, i]
            else:
                s.rows_c[c, 1 + i] -= mu * s.aLam[c, 0] / k * o.direction[c, i]
            if o.level[c] == 3:
                o.rows_a[c, 1 + i] -= mu * o.lam_c[c, 0] * o.direction_a[c, i]
        return
    for i in range(2):
        s.rows_c[c, 1 + i] = -xi[i]
    if o.level[c] < 3:
        return
    o.begins[c] = 1 if beyond(s.pv_T, rate, force) > mu * s.ks * o.lam_c[c, 0] else 0
    o.slide_a[c] = direct(rate, o.direction_a[c])
    for i in range(2):
        if o.begins[c] != 0:
            o.rows_a[c, 1 + i] -= mu * o.lam_c[c, 0] * o.direction_a[c, i]
        else:
            o.rows_a[c, 1 + i] = -rate[i] / o.c_a


@kernel
def contact_rows(d, s, o):
    """Sets and rows (1)-(7) of all contacts; rows of a block are divided by −k, those of (3), (5) by −c_a k too."""
    groups, h = groups_of(d), s.h
    xi, gamma, rate = local_vector(2), local_vector(2), local_vector(2)
    for a in range(d.n_groups):
        g = groups[a]
        if g.contact == 0:
            continue
        kept, law = matrix(g.contact_at, g.n, g.contact_stride), laws_of(g)
        for e in range(g.n):
            c = g.first_contact + e
            for i in range(3):
                smooth = h * ((1.0 - o.gamma) * o.bar0[c, i] + o.gamma * o.bar[c, i])
                s.aLam[c, i] = s.kv * s.cLam[c, i] + smooth + s.ks * o.lam_c[c, i] / o.c_a
                s.achi[c, i] = s.rows_chi[c, i] = 0.0
            twice = h * h * ((0.5 - o.beta) * o.bar0[c, 0] + o.beta * o.bar[c, 0])
            kappa = s.kp * s.cnu[c, 0] + twice + o.c_q / o.c_a * s.ks * o.lam_c[c, 0]
            gap, fall = kept[e, C_GAP], gradient_times(g, e, B_GN, 0, s.Vd) + o.turned[c, 0]
            jump = gradient_times(g, e, B_GN, 0, s.V) + reflected(g, e, d, s, s.Vminus)
            level = 1 if s.pp * gap - kappa <= 0.0 else 0
            level = 2 if level == 1 and s.pv * jump - s.aLam[c, 0] <= 0.0 else level
            level = 3 if level == 2 and s.pv * fall - s.ks * o.lam_c[c, 0] <= 0.0 else level
            o.level[c] = level
            o.rows_p[c] = -gap if level > 0 else -kappa / s.kp
            s.rows_c[c, 0] = -jump if level > 1 else -s.aLam[c, 0] / s.kv
            o.rows_a[c, 0] = -fall / o.c_a if level > 2 else -o.lam_c[c, 0]
            for i in range(2):
                gamma[i] = gradient_times(g, e, B_VT, i, s.V)
                xi[i] = gamma[i] + law[e, L_TANGENTIAL] * slide_before(g, e, s, i, s.Vminus)
                rate[i] = gradient_times(g, e, B_VT, i, s.Vd) + o.turned[c, 1 + i]
            friction_rows(c, s, o, law[e, L_MU], xi, gamma, rate)
            s.active[c], s.candidate[c] = min(level, 1), level + 4 * o.begins[c]


@kernel
def add_contacts(d, s, o, block, sign, f):
    """Add ``sign`` times forces, impulses of positions or impulses of all contacts to f (full), for a block."""
    groups = groups_of(d)
    half = 0.5 * s.h * s.kv
    for a in range(d.n_groups):
        g = groups[a]
        if g.contact == 0:
            continue
        for e in range(g.n):
            c = g.first_contact + e
            for i in range(3):
                force = s.ks * o.lam_c[c, i] if block == 0 else s.kv * s.cLam[c, i]
                if block == 1:
                    force = half * s.cLam[c, i] if i > 0 else s.kp * s.cnu[c, 0]
                add_gradient(g, e, B_GN if i == 0 else B_VT, max(i - 1, 0), sign * force, f)


@kernel
def slip_rows(S, G, nd, k, force, mu, way, size, rates, own):
    """Rows −k (F + μ N way(rate)): with respect to the multipliers, with ``own``, and to G (2, nd), with ``rates``."""
    for i in range(2):
        if own != 0.0:
            S[nd + 1 + i, nd + 1 + i] -= own
            S[nd + 1 + i, nd] -= own * mu * way[i]
        for j in range(2 if rates != 0.0 and size > 0.0 else 0):
            across = ((1.0 if i == j else 0.0) - way[i] * way[j]) * mu * force / size * rates * k
            for r in range(nd):
                S[nd + 1 + i, r] -= across * G[j * nd + r]


@kernel
def rows_of_accelerations(S, d, s, o, c, nd, column, G, G_T, mu):
    """Block row 0: derivatives of (3), (5) and of the second of (6), without what G_N changes."""
    k = s.h * s.ks
    if column == 0:
        if o.level[c] == 3:
            for r in range(nd):
                S[nd, r] -= k * G[r]
        else:
            S[nd, nd] -= k
    slides = o.level[c] == 3 and s.status[c] == SLIP
    sticks = o.level[c] == 3 and s.status[c] == STICK
    if sticks and o.begins[c] == 0:
        for i in range(2 if column == 0 else 0):
            for r in range(nd):
                S[nd + 1 + i, r] -= k * G_T[i * nd + r]
    elif slides or sticks:
        follows = (o.c_a if sticks and column == 0 else 0.0) + (1.0 if slides and column == 2 else 0.0)
        own = k if column == 0 else 0.0
        slip_rows(S, G_T, nd, k, o.lam_c[c, 0], mu, o.direction_a[c], o.slide_a[c], follows, own)
    elif column == 0:
        S[nd + 1, nd + 1] -= k
        S[nd + 2, nd + 2] -= k


@kernel
def rows_of_velocities(S, d, s, o, c, nd, column, G, G_T, mu):
    """Block row 2: derivatives of (2), (4), (7) and of the first of (6), without what G_N changes with q."""
    k, force = s.kv, s.ks / o.c_a
    own = k if column == 2 else (force if column == 0 else 0.0)  # of impulses P
    if o.level[c] < 2:
        S[nd, nd] -= own
    elif column == 2:
        for r in range(nd):
            S[nd, r] -= k * G[r]
    if s.status[c] == STICK:
        for i in range(2 if column == 2 else 0):
            for r in range(nd):
                S[nd + 1 + i, r] -= k * G_T[i * nd + r]
    elif s.status[c] == SLIP:
        lasts = o.lasting[c] != 0
        size = s.cLam[c, 0] if lasts else s.aLam[c, 0] / k
        follows = 1.0 if column == 2 else 0.0
        own = own if column == 2 or not lasts else 0.0
        slip_rows(S, G_T, nd, k, size, mu, o.direction[c], o.slide[c], follows, own)
    else:
        S[nd + 1, nd + 1] -= own
        S[nd + 2, nd + 2] -= own


@kernel
def rows_of_positions(S, s, o, c, nd, column, q, G):
    """Block row 1: derivatives of (1), with G T."""
    if o.level[c] > 0:
        for r in range(nd if column < 2 else 0):
            S[nd, r] -= q * s.kp * G[r]
    elif column < 2:
        S[nd, nd] -= s.kp if column == 1 else o.c_q / o.c_a * s.ks
    if column == 1:
        S[nd + 1, nd + 1] -= s.kp
        S[nd + 2, nd + 2] -= s.kp


@kernel
def turning_normals(S, s, o, c, nd, row, column, q, H, v, w):
    """What normals change: forces and normal rows by δq = q T δ, and (3) by v; v, w (nd,) are velocities and rates."""
    if row == 0:
        force, k = s.h * s.ks * o.lam_c[c, 0], s.h * s.ks / o.c_a
    else:
        force, k = (s.kp * s.cnu[c, 0], 0.0) if row == 1 else (s.kv * s.cLam[c, 0], s.kv)
    felt = o.level[c] == 3 if row == 0 else o.level[c] > 1
    for j in range(nd):
        total = 0.0
        for i in range(nd):
            if column < 2:
                S[i, j] -= q * force * H[i, j]
            total += (w[i] if row == 0 and column < 2 else v[i]) * H[i, j]
        if felt and (column < 2 or row == 0):
            S[nd, j] -= (q if column < 2 else 2.0) * k * total


@kernel
def swing(S, g, e, s, o, nd, G):
    """Part G_N Ω~ of the derivative of c_N with respect to v, in (3)."""
    k, nodes = s.h * s.ks / o.c_a, integer_matrix(g.nodes_at, g.n, g.nn)
    for a in range(g.nn):
        n, at = nodes[e, a], 6 * a + 3
        w0, w1, w2 = s.V[n, 3], s.V[n, 4], s.V[n, 5]
        S[nd, at] -= k * (G[at + 1] * w2 - G[at + 2] * w1)
        S[nd, at + 1] -= k * (G[at + 2] * w0 - G[at] * w2)
        S[nd, at + 2] -= k * (G[at] * w1 - G[at + 1] * w0)


@kernel
def contact_block(d, s, o, row, column, q, T):
    """Add the derivatives of the contacts in one block to matrix VELOCITY; q, T as in `coupled.assemble`."""
    b, groups, values = integers(d.table_at, N_SLOTS), groups_of(d), matrix_values(d, VELOCITY)
    k = s.h * s.ks if row == 0 else (s.kp if row == 1 else s.kv)
    for a in range(d.n_groups):
        g = groups[a]
        if g.contact == 0:
            continue
        nd = g.nd
        size = nd + OWN
        S, H, v, w = matrix(b[_KK], size, size), matrix(b[_H_N], nd, nd), vector(b[_V], nd), vector(b[_A], nd)
        kept, law = matrix(g.contact_at, g.n, g.contact_stride), laws_of(g)
        for e in range(g.n):
            c, mu = g.first_contact + e, law[e, L_MU]
            zero(b[_KK], size * size)
            G = kept[e, C_BLOCKS + B_GN * nd : C_BLOCKS + (B_GN + 1) * nd]
            G_T = kept[e, C_BLOCKS + B_VT * nd : C_BLOCKS + (B_VT + 2) * nd]
            if row == 1:
                rows_of_positions(S, s, o, c, nd, column, q, G)
            if g.contact_hessian != 0 and (column < 2 or row == 0):
                gather(d, g, e, b, s.x, s.R, s.V, s.Vd)
                gather_start(g, e, b, s.x0, s.R0)
                zero(b[_H_N], nd * nd)
                call2(g.contact_hessian, g.parameters_at + e * g.stride, d.table_at)
                turning_normals(S, s, o, c, nd, row, column, q, H, v, w)
            if column < 2:
                times_tangent(g, e, S, nd + 1, T)
            elif row == 0 and o.level[c] == 3:
                swing(S, g, e, s, o, nd, G)
            if row == 0:
                rows_of_accelerations(S, d, s, o, c, nd, column, G, G_T, mu)
            elif row == 2:
                rows_of_velocities(S, d, s, o, c, nd, column, G, G_T, mu)
            for i in range(nd if row == column else 0):
                S[i, nd] -= k * G[i]
                for j in range(2 if row != 1 else 0):
                    S[i, nd + 1 + j] -= k * G_T[j * nd + i]
            for i in range(nd, nd + 3 if row == column else 0):
                S[i, i] -= s.epsilon * k  # contacts that depend on each other leave the matrix regular
            scatter_matrix(g.maps_at[VELOCITY], e, size, vector(b[_KK], size * size), values)
