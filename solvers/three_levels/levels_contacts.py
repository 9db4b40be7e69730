"""Contacts of the method with laws at three levels: sets, rows, and their derivatives.

With P = Λ + the force λ integrated over the step, κ̂ the same twice, and r the penalties of `DecoupledNSGA`:

    A  r g_N − κ̂_N ≤ 0        g_N = 0, else κ̂_N = 0                                                                (1)
    B  A and r ξ_N − P_N ≤ 0   ξ_N = 0, else P_N = 0           ξ = γ + e γ⁻                                          (2)
    C  B and r g̈_N − λ_N ≤ 0   g̈_N = 0, else λ_N = 0                                                               (3)

A contact that needs no correction, κ̂_N = 0, may be of B nevertheless, see `acts`. One that rebounds is not of C: at
the end of the step it is about to open, and the memory of a force there would be taken back along another normal.
Friction, and what resists rolling, spinning and drilling, is in `three_levels.levels_friction`.
A contact of B but not of C has λ = 0; one of A but not of B has P = 0 as well. r decides between branches only.

Derivatives have what normals change with q (in (3) only of G_N a, and 2 vᵀH + G_N Ω~ of v); what tangents change, and
c_N, c_F with q, is left out.

Source: docs/theory/nonsmooth_generalized_alpha_friction.md, (5)-(9).
"""

from fem_mbs.jit import N_SLOTS, SLOT, call2, integer_matrix, integers, kernel, local_vector, matrix, vector
from fem_mbs.solvers.contact.approach import reflected
from fem_mbs.solvers.contact.law_rows import SIX, arm_of
from fem_mbs.solvers.stepping.kernels.codes import CLOSED_GAP
from fem_mbs.solvers.three_levels.levels_friction import (
    branches,
    friction_of_accelerations,
    friction_of_velocities,
    friction_rows,
    opposed,
)
from fem_mbs.system.contacts import add_gradient, contact_groups, contacts_of, direction_of, gradient_times
from fem_mbs.system.gather import gather, gather_start, scatter_matrix, times_tangent
from fem_mbs.system.global_matrices import matrix_values
from fem_mbs.system.records import VELOCITY, zero

NEARLY = 1e-3  # of what a contact closes in a step: less is as good as closed
_A, _H_N, _KK, _V = SLOT["a"], SLOT["H_N"], SLOT["K"], SLOT["v"]


@kernel
def acts(g, e, s, o, gap):
    """True if a contact that needs no correction of positions is closed in velocities nevertheless.

    It is if the bodies would be in touch without any correction: friction, which goes into positions too, may lift a
    contact from its plane that is pressed on it without friction, and neither closed nor open would be consistent. It
    is with a small gap: of contacts that share a load, the feet of a table, some have κ̂ = 0, and their gap is a
    residual of the others'. By its sign their impulse would come and go in the iteration.
    """
    contact = contacts_of(g)
    approach = max(-gradient_times(g, e, contact.G_N_start[e], s.V0), 0.0)
    least = CLOSED_GAP * s.exact * s.scale_x + NEARLY * s.h * approach
    return gap <= least or o.reached[g.first_contact + e] != 0


@kernel
def contact_rows(d, s, o):
    """Sets and rows (1)-(3) of all contacts, and those of friction; rows of a block are divided by −k, those of
    accelerations by −c_a k.
    """
    h, P = s.h, local_vector(SIX)
    for g in contact_groups(d):
        contact = contacts_of(g)
        for e in range(g.n):
            c = g.first_contact + e
            for m in range(SIX):
                smooth = h * ((1.0 - o.gamma) * o.bar0[c, m] + o.gamma * o.bar[c, m])
                P[m] = s.kv * s.cLam[c, m] + smooth + s.ks * o.lam_c[c, m] / o.c_a
                s.aLam[c, m] = arm_of(g, e, s, m) * P[m]
            twice = h * h * ((0.5 - o.beta) * o.bar0[c, 0] + o.beta * o.bar[c, 0])
            kappa = s.kp * s.cnu[c, 0] + twice + o.c_q / o.c_a * s.ks * o.lam_c[c, 0]
            gap, fall = contact.gap[e], gradient_times(g, e, contact.G_N[e], s.Vd) + o.turned[c, 0]
            bounce = reflected(g, e, d, s, s.Vminus)
            jump = gradient_times(g, e, contact.G_N[e], s.V) + bounce
            s.active[c] = 1 if s.pp * gap - kappa <= 0.0 else 0
            level = 1 if s.active[c] != 0 or acts(g, e, s, o, gap) else 0
            level = 2 if level == 1 and s.pv * jump - P[0] <= 0.0 else level
            stays = level == 2 and o.forces != 0 and -bounce <= s.tol_v
            level = 3 if stays and s.pv * fall - s.ks * o.lam_c[c, 0] <= 0.0 else level
            o.level[c] = level
            o.rows_p[c] = -gap if s.active[c] != 0 else -kappa / s.kp
            s.rows_c[c, 0] = -jump if level > 1 else -P[0] / s.kv
            o.rows_a[c, 0] = -fall / o.c_a if level > 2 else -o.lam_c[c, 0]
            friction_rows(g, e, d, s, o, P)
            s.candidate[c] = 2 * branches(s, o, c) + s.active[c]


@kernel
def add_contacts(d, s, o, block, sign, f):
    """Add ``sign`` times forces, impulses of positions or impulses of all contacts to f (full), for a block."""
    half = 0.5 * s.h * s.kv
    for g in contact_groups(d):
        for e in range(g.n):
            c = g.first_contact + e
            for m in range(SIX):
                force = s.ks * o.lam_c[c, m] if block == 0 else s.kv * s.cLam[c, m]
                if block == 1:
                    force = half * s.cLam[c, m] if m > 0 else s.kp * s.cnu[c, 0]
                add_gradient(g, e, direction_of(g, e, m), sign * arm_of(g, e, s, m) * force, f)


@kernel
def rows_of_accelerations(S, s, o, c, nd, column, G):
    """Block row 0: derivatives of (3), without what G_N changes."""
    k = s.h * s.ks
    if column == 0 and o.level[c] == 3:
        for r in range(nd):
            S[nd, r] -= k * G[r]
    elif column == 0:
        S[nd, nd] -= k


@kernel
def rows_of_velocities(S, s, o, c, nd, column, G):
    """Block row 2: derivatives of (2), without what G_N changes with q."""
    if o.level[c] < 2:
        S[nd, nd] -= s.kv if column == 2 else (s.ks / o.c_a if column == 0 else 0.0)
    elif column == 2:
        for r in range(nd):
            S[nd, r] -= s.kv * G[r]


@kernel
def rows_of_positions(S, s, o, c, nd, column, q, G):
    """Block row 1: derivatives of (1), with G T."""
    if s.active[c] != 0:
        for r in range(nd if column < 2 else 0):
            S[nd, r] -= q * s.kp * G[r]
    elif column < 2:
        S[nd, nd] -= s.kp if column == 1 else o.c_q / o.c_a * s.ks
    for i in range(1, SIX if column == 1 else 1):
        S[nd + i, nd + i] -= s.kp


@kernel
def turning_normals(S, s, o, c, nd, row, column, q, H, v, w):
    """Derivatives of normals: forces and normal rows by δq = q T δ, and (3) by v; v, w (nd,) are velocities and
    rates.
    """
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
def own_columns(S, s, nd, k, row, G, B):
    """Columns of multipliers in the dynamic rows of their block, and the shift of their diagonal."""
    for i in range(nd):
        S[i, nd] -= k * G[i]
        for j in range(SIX - 1 if row != 1 else 0):
            S[i, nd + 1 + j] -= k * B[j * nd + i]
    for i in range(nd, nd + SIX):
        S[i, i] -= s.epsilon * k  # contacts that depend on each other leave the matrix regular


@kernel
def hold_rows(S, nd, k):
    """Rows −k δ of multipliers that are given, in the place of the laws, see `three_levels.levels_prox`."""
    for i in range(nd, nd + SIX):
        for j in range(nd + SIX):
            S[i, j] = 0.0
        S[i, i] = -k


@kernel
def contact_block(d, s, o, row, column, q, T):
    """Add the derivatives of the contacts in one block to matrix VELOCITY; q, T as in `coupled.assemble`."""
    b, values = integers(d.table_at, N_SLOTS), matrix_values(d, VELOCITY)
    k = s.h * s.ks if row == 0 else (s.kp if row == 1 else s.kv)
    for g in contact_groups(d):
        nd = g.nd
        size = nd + SIX
        S, H, v, w = matrix(b[_KK], size, size), matrix(b[_H_N], nd, nd), vector(b[_V], nd), vector(b[_A], nd)
        contact, B = contacts_of(g), vector(b[_H_N], (SIX - 1) * nd)
        for e in range(g.n):
            c = g.first_contact + e
            zero(b[_KK], size * size)
            G = contact.G_N[e]
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
            opposed(g, e, s, B)  # in the place of H
            if row == 0:
                rows_of_accelerations(S, s, o, c, nd, column, G)
                friction_of_accelerations(S, g, e, d, s, o, nd, column, B)
            elif row == 2:
                rows_of_velocities(S, s, o, c, nd, column, G)
                friction_of_velocities(S, g, e, d, s, o, nd, column, B)
            if row == column:
                own_columns(S, s, nd, k, row, G, B)
            if o.held != 0:
                hold_rows(S, nd, k if row == column else 0.0)
            scatter_matrix(g.maps_at[VELOCITY], e, size, vector(b[_KK], size * size), values)
