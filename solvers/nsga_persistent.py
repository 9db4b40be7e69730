"""Closed contacts inside the smooth sub-problem: second order while a contact stays closed (formulation note, 3.12).

A contact that ended the last step closed, without impact, enters the smooth sub-problem with multipliers λ_c:

    sticking     G_N v = 0 ,  G_T v = 0                         forces  G_Nᵀ λ_N + G_Tᵀ λ_T                          (1)
    sliding      G_N v = 0 ,  λ_T = −μ λ_N τ, τ ∥ G_T v           the same                                           (2)
    frictionless G_N v = 0 ,  λ_T = 0                                                                              (3)
    with a disc  G_N v = 0 ,  (λ_T, M_N/c) = −μ λ_N s/|s|, s = (G_T v, c w v)      the same and wᵀ M_N             (2c)

The two corrections see these forces as part of the smooth solution and keep the *total* multipliers of the contact,
so their cone tests are unchanged: they alone decide whether the contact stays closed, sticks, slides or opens. Rows
of other contacts are λ_c = 0. The change of sliding rows with q is left out of the tangents (it costs an iteration at
most); that of the normal row is exact.

Contacts with a disc (sliding coupled with drilling, w the last row of W) slide by (2c): M_N is no unknown, and only |s|
is taken from the prediction, not s: a disc that drills fast makes sliding friction viscous, μ λ_N/|s| G_T v, too stiff
for a direction known before. Where such a contact sticks the smooth sub-problem has (1) alone; what then stops it from
drilling acts in the corrections (first order), as rolling and spinning resistance do.

Source: formulation-decoupled-nsga-lie-group, section 3.12 for (1); (2), (2c), (3), entry and release of contacts here.
"""

import math

from fem_mbs.assembly import SMOOTH, gather, groups_of, matrix_values, scatter_matrix, times_tangent, zero
from fem_mbs.contact_assembly import (
    B_GN,
    B_VT,
    B_VT0,
    B_W,
    B_WN0,
    C_BLOCKS,
    L_DRILLING,
    L_MU,
    add_gradient,
    gradient_times,
    laws_of,
)
from fem_mbs.jit import N_SLOTS, SLOT, call2, integers, kernel, matrix, vector
from fem_mbs.solvers.contact_law import GAP, SLIP, STICK

_H_N, _KK, _V = SLOT["H_N"], SLOT["K"], SLOT["v"]


@kernel
def coupled_speed(g, e, V, V0):
    """|(v_1, v_2, c ω_N)| of the predicted velocities V (N, 6), or of those at the start of the step: as below."""
    arm = laws_of(g)[e, L_DRILLING]
    now, old, both = 0.0, 0.0, 0.0
    for i in range(3):
        if i < 2:
            a, b = gradient_times(g, e, B_VT, i, V), gradient_times(g, e, B_VT0, i, V0)
        else:
            a, b = arm * gradient_times(g, e, B_W, 2, V), arm * gradient_times(g, e, B_WN0, 0, V0)
        now, old, both = now + a * a, old + b * b, both + a * b
    size = math.sqrt(now if both > 0.0 else old)
    return size if size > 0.0 else 1.0


@kernel
def sliding_directions(d, s, V):
    """Fill ctau (nc, 3) with G_T v/|G_T v| of the predicted velocities of sliding contacts, in its first two columns.

    Contacts with a disc get |s| of (2c) in the third column.

    The prediction is second-order accurate, so the direction is too, and (2) becomes linear. Where the prediction
    reverses the sliding velocity of the start of the step, that one is used: the contact is about to stick, which the
    corrections decide.
    """
    groups = groups_of(d)
    closed, tau = integers(s.closed_at, d.nc), matrix(s.ctau_at, d.nc, 3)
    V0 = matrix(s.V0_at, d.n_nodes, 6)
    for a in range(d.n_groups):
        g = groups[a]
        if g.contact == 0:
            continue
        for e in range(g.n):
            c = g.first_contact + e
            if closed[c] != SLIP:
                continue
            if g.drilling != 0:
                tau[c, 2] = coupled_speed(g, e, V, V0)
                continue
            now0, now1 = gradient_times(g, e, B_VT, 0, V), gradient_times(g, e, B_VT, 1, V)
            old0, old1 = gradient_times(g, e, B_VT0, 0, V0), gradient_times(g, e, B_VT0, 1, V0)
            if now0 * old0 + now1 * old1 <= 0.0:
                now0, now1 = old0, old1
            size = math.sqrt(now0 * now0 + now1 * now1)
            tau[c, 0] = now0 / size if size > 0.0 else 0.0
            tau[c, 1] = now1 / size if size > 0.0 else 0.0


@kernel
def closed_forces(d, s, V, Gl, rows):
    """Add the forces of (1)-(3) to Gl (full) and fill rows (nc, 3): G v, or what is missing in the law of λ_c."""
    groups = groups_of(d)
    closed, lam, tau = integers(s.closed_at, d.nc), matrix(s.clam_at, d.nc, 3), matrix(s.ctau_at, d.nc, 3)
    for a in range(d.n_groups):
        g = groups[a]
        if g.contact == 0:
            continue
        law = laws_of(g)
        for e in range(g.n):
            c = g.first_contact + e
            for i in range(3):
                rows[c, i] = lam[c, i]
            if closed[c] == GAP:
                continue
            rows[c, 0] = gradient_times(g, e, B_GN, 0, V)
            add_gradient(g, e, B_GN, 0, s.ks * lam[c, 0], Gl)
            for i in range(2):
                add_gradient(g, e, B_VT, i, s.ks * lam[c, 1 + i], Gl)
            if closed[c] == STICK:
                for i in range(2):
                    rows[c, 1 + i] = gradient_times(g, e, B_VT, i, V)
            elif closed[c] == SLIP and g.drilling != 0:
                factor, arm = law[e, L_MU] * lam[c, 0] / tau[c, 2], law[e, L_DRILLING]
                for i in range(2):
                    rows[c, 1 + i] = lam[c, 1 + i] + factor * gradient_times(g, e, B_VT, i, V)
                moment = s.ks * factor * arm * arm * gradient_times(g, e, B_W, 2, V)
                add_gradient(g, e, B_W, 2, -moment, Gl)
            elif closed[c] == SLIP:
                for i in range(2):
                    rows[c, 1 + i] = lam[c, 1 + i] + law[e, L_MU] * lam[c, 0] * tau[c, i]


@kernel
def closed_tangents(d, s, x, R, V, k, c_q, T):
    """Add the blocks of (1)-(3) to the matrix of the smooth sub-problem; c_q = ∂D/∂v (0: rows of accelerations)."""
    b = integers(d.table_at, N_SLOTS)
    groups = groups_of(d)
    values = matrix_values(d, SMOOTH)
    closed, lam, tau = integers(s.closed_at, d.nc), matrix(s.clam_at, d.nc, 3), matrix(s.ctau_at, d.nc, 3)
    for a in range(d.n_groups):
        g = groups[a]
        if g.contact == 0:
            continue
        nd = g.nd
        size = nd + 3
        S, H, ve = matrix(b[_KK], size, size), matrix(b[_H_N], nd, nd), vector(b[_V], nd)
        kept, law = matrix(g.contact_at, g.n, g.contact_stride), laws_of(g)
        for e in range(g.n):
            c = g.first_contact + e
            zero(b[_KK], size * size)
            if closed[c] == GAP:
                for i in range(nd, size):
                    S[i, i] = -k
                scatter_matrix(g.maps_at[SMOOTH], e, size, vector(b[_KK], size * size), values)
                continue
            G_N = kept[e, C_BLOCKS + B_GN * nd : C_BLOCKS + (B_GN + 1) * nd]
            G_T = kept[e, C_BLOCKS + B_VT * nd : C_BLOCKS + (B_VT + 2) * nd]
            if c_q != 0.0 and g.contact_hessian != 0:
                gather(d, g, e, b, x, R, V, V)
                zero(b[_H_N], nd * nd)
                call2(g.contact_hessian, g.parameters_at + e * g.stride, d.table_at)
                for i in range(nd):
                    for j in range(nd):
                        S[i, j] -= c_q * k * lam[c, 0] * H[i, j]
                        S[nd, j] -= c_q * k * ve[i] * H[i, j]
                times_tangent(g, e, S, nd + 1, T)
            for i in range(nd):
                S[i, nd] -= k * G_N[i]
                S[nd, i] -= k * G_N[i]
                for j in range(2):
                    S[i, nd + 1 + j] -= k * G_T[j * nd + i]
            S[nd, nd] -= s.epsilon * k
            if closed[c] == STICK:
                for j in range(2):
                    for i in range(nd):
                        S[nd + 1 + j, i] -= k * G_T[j * nd + i]
                    S[nd + 1 + j, nd + 1 + j] -= s.epsilon * k
            elif closed[c] == SLIP and g.drilling != 0:
                mu, arm, W = law[e, L_MU], law[e, L_DRILLING], (B_W + 2) * nd + C_BLOCKS
                factor = mu * lam[c, 0] / tau[c, 2]
                for j in range(2):
                    S[nd + 1 + j, nd + 1 + j] -= k
                    S[nd + 1 + j, nd] -= k * mu / tau[c, 2] * gradient_times(g, e, B_VT, j, V)
                    for i in range(nd):
                        S[nd + 1 + j, i] -= k * factor * G_T[j * nd + i]
                turn = mu / tau[c, 2] * gradient_times(g, e, B_W, 2, V)
                for i in range(nd):
                    w = k * arm * arm * kept[e, W + i]
                    S[i, nd] += turn * w
                    for j in range(nd):
                        S[i, j] += factor * w * kept[e, W + j]
            else:
                mu = law[e, L_MU] if closed[c] == SLIP else 0.0
                for j in range(2):
                    S[nd + 1 + j, nd + 1 + j] -= k
                    S[nd + 1 + j, nd] -= k * mu * tau[c, j]
            scatter_matrix(g.maps_at[SMOOTH], e, size, vector(b[_KK], size * size), values)


@kernel
def closed_rates(d, s, V, rates):
    """Fill rates (nc, 3) with G_N v, G_T v of all contacts at the last evaluation."""
    groups = groups_of(d)
    for a in range(d.n_groups):
        g = groups[a]
        if g.contact == 0:
            continue
        for e in range(g.n):
            c = g.first_contact + e
            rates[c, 0] = gradient_times(g, e, B_GN, 0, V)
            for i in range(2):
                rates[c, 1 + i] = gradient_times(g, e, B_VT, i, V)


@kernel
def decide_closed(d, s):
    """Which contacts enter the next smooth sub-problem, by how they ended this step; True when that has changed."""
    closed, acted = integers(s.closed_at, d.nc), integers(s.acted_at, d.nc)
    impact, total = integers(s.impact_at, d.nc), matrix(s.total_Lam_at, d.nc, 3)
    changed = False
    for c in range(d.nc):
        now = acted[c] if total[c, 0] > 0.0 and impact[c] == 0 else GAP
        changed = changed or now != closed[c]
        closed[c] = now
    return changed
