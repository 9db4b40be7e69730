"""Contacts in the coupled problem: which ones act, normal rows of positions, friction in the position equation.

    set of velocities   g_N(q~) ≤ 0: without the correction U the contact would be closed; or ξ > 0                 (1)
    other predictions   g_N(q*) ≤ 0 alone, q* = q_n, q_n ∘ exp(h v_n) or q
    normal rows         ξ = k ν_N − p g_N(q) ≥ 0: force −G_Nᵀ ξ, row −k g_N ; else row −(k²/p) ν_N                   (2)
    "combined"          the same with ξ and ν_N less h Λ_N; force −G_Nᵀ (max(ξ, 0) + h Λ_N): `alpha.one_level`
    friction            −½ h G_Fᵀ Λ_F in the position equation, moments of rolling, spinning and drilling likewise   (3)

Laws at velocity level are those of `contact.velocity_rows`. They feel the positions through their normals, in G_N and
through σ = k Λ_N − p G_N v, which tangential forces of sliding contacts follow, H = ∂G_Nᵀ/∂q:

    force  −σ H + (p G_Nᵀ + μ p G_Tᵀτ) vᵀH        row  −k vᵀH ,  of friction  −k (p/p_T) μ τ vᵀH                    (4)

What tangents change with q is left out, and what gradients of rolling and friction do.

Source: docs/theory/nonsmooth_generalized_alpha.md, (5)-(8).
"""

import math

from fem_mbs.jit import N_SLOTS, SLOT, call2, integer_matrix, integers, kernel, matrix, vector
from fem_mbs.solvers.alpha.data import own_at
from fem_mbs.solvers.contact.law import SLIP
from fem_mbs.solvers.contact.law_rows import SIX, arm_of, row_of
from fem_mbs.solvers.stepping.kernels.codes import CLOSED_GAP
from fem_mbs.system.assembly import advance_configuration
from fem_mbs.system.contacts import add_gradient, contact_groups, contacts_of, direction_of, evaluate_contact, laws_of
from fem_mbs.system.gather import gather_poses, gather_start, gather_state, scatter_matrix, times_tangent
from fem_mbs.system.global_matrices import matrix_values
from fem_mbs.system.records import VELOCITY, zero

_H_N, _KK = SLOT["H_N"], SLOT["K"]
SMOOTH_MOTION, START, FLIGHT, END = 0, 1, 2, 3  # ``o.prediction``


@kernel
def combined(s, c):
    """Term subtracted from the multiplier of a gap, h Λ_N where levels are combined; see `alpha.one_level`, (4)."""
    return s.h * s.kv * s.cLam[c, 0] if own_at(s.own_at)[0].combined != 0 else 0.0


@kernel
def choose_closed(d, s, o):
    """Contacts that are closed at the prediction are the ones of the velocity problem, (1)."""
    x, R = s.xs, s.Rs
    if o.prediction == START:
        x, R = s.x0, s.R0
    elif o.prediction == END:
        x, R = s.x, s.R
    elif o.prediction == FLIGHT:
        for i in range(d.n_nodes):
            for j in range(6):
                o.Dc[i, j] = s.h * s.V0[i, j]
        advance_configuration(d, s.x0, s.Q0, o.Dc, o.xc, o.Qc, o.Rc, o.Tc)
        x, R = o.xc, o.Rc
    b = integers(d.table_at, N_SLOTS)
    least = CLOSED_GAP * s.exact * s.scale_x
    for g in contact_groups(d):
        for e in range(g.n):
            gap = evaluate_contact(d, g, e, b, x, R, s.x0, s.R0, s.Vs)
            s.candidate[g.first_contact + e] = 1 if gap <= least else 0


@kernel
def add_pressed(d, s):
    """Contacts that the correction presses together act in velocities too, although they would open without it, (1)."""
    k, p = s.kp, s.pp
    for g in contact_groups(d):
        contact = contacts_of(g)
        for e in range(g.n):
            c = g.first_contact + e
            if k * s.cnu[c, 0] - combined(s, c) - p * contact.gap[e] > 0.0:
                s.candidate[c] = 1


@kernel
def position_rows(d, s, rp, rows):
    """Contact part of the position residual: subtract (2) and (3) from rp (full), fill rows (nc,) divided by k_p."""
    k, p = s.kp, s.pp
    half = 0.5 * s.h * s.kv
    for g in contact_groups(d):
        contact = contacts_of(g)
        for e in range(g.n):
            c = g.first_contact + e
            jump = combined(s, c)
            xi = k * s.cnu[c, 0] - jump - p * contact.gap[e]
            s.active[c] = 1 if xi >= 0.0 else 0
            rows[c] = -contact.gap[e] if xi >= 0.0 else -(k * s.cnu[c, 0] - jump) / p
            if xi >= 0.0 or jump != 0.0:
                add_gradient(g, e, contact.G_N[e], -(max(xi, 0.0) + jump), rp)
            for m in range(1, SIX):
                add_gradient(g, e, direction_of(g, e, m), -half * arm_of(g, e, s, m) * s.cLam[c, m], rp)


@kernel
def position_tangents(d, s, factor, own, T):
    """Add ``factor`` times the derivative of (2) to the block of matrix VELOCITY; ``own``: with multipliers.

    T takes the increments of the block to rotations of q.
    """
    b, values = integers(d.table_at, N_SLOTS), matrix_values(d, VELOCITY)
    k, p = s.kp, s.pp
    for g in contact_groups(d):
        nd = g.nd
        size = nd + SIX
        S, H = matrix(b[_KK], size, size), matrix(b[_H_N], nd, nd)
        contact = contacts_of(g)
        for e in range(g.n):
            c = g.first_contact + e
            zero(b[_KK], size * size)
            jump = combined(s, c)
            xi = k * s.cnu[c, 0] - jump - p * contact.gap[e]
            push, stiffness = max(xi, 0.0) + jump, p if xi >= 0.0 else 0.0
            G = contact.G_N[e]
            if xi >= 0.0 or jump != 0.0:
                if g.contact_hessian != 0:
                    gather_poses(g, e, b, s.x, s.R)
                    gather_start(g, e, b, s.x0, s.R0)
                    gather_state(g, e, b)
                    zero(b[_H_N], nd * nd)
                    call2(g.contact_hessian, g.parameters_at + e * g.stride, d.table_at)
                for i in range(nd):
                    for j in range(nd):
                        S[i, j] = factor * stiffness * G[i] * G[j]
                        if g.contact_hessian != 0:
                            S[i, j] -= factor * push * H[i, j]
                    S[nd, i] = -factor * k * G[i] if xi >= 0.0 else 0.0
                times_tangent(g, e, S, nd + 1, T)
            if own:
                S[nd, nd] = -s.epsilon * k * k / p
                for i in range(nd if xi >= 0.0 else 0):
                    S[i, nd] = -k * G[i]
                if xi < 0.0:
                    S[nd, nd] -= k * k / p
                for i in range(nd + 1, size):
                    S[i, i] = -k
            scatter_matrix(g.maps_at[VELOCITY], e, size, vector(b[_KK], size * size), values)


@kernel
def velocity_couplings(d, s, factor, T):
    """Add ``factor`` times the derivative (4) of the contact rows of velocities with respect to q to the block of
    matrix VELOCITY. T takes the increments of the block to rotations of q.
    """
    b, values = integers(d.table_at, N_SLOTS), matrix_values(d, VELOCITY)
    k, p, p_T = s.kv, s.pv, s.pv_T
    for g in contact_groups(d):
        if g.contact_hessian == 0:
            continue
        nd = g.nd
        size = nd + SIX
        S, H = matrix(b[_KK], size, size), matrix(b[_H_N], nd, nd)
        contact, nodes = contacts_of(g), integer_matrix(g.nodes_at, g.n, g.nn)
        law = laws_of(g)
        for e in range(g.n):
            c = g.first_contact + e
            if s.candidate[c] == 0 or s.aLam[c, 0] == 0.0:
                continue
            gather_poses(g, e, b, s.x, s.R)
            gather_start(g, e, b, s.x0, s.R0)
            gather_state(g, e, b)
            zero(b[_H_N], nd * nd)
            zero(b[_KK], size * size)
            call2(g.contact_hessian, g.parameters_at + e * g.stride, d.table_at)
            for j in range(nd):
                for i in range(nd):
                    S[nd, j] -= factor * k * s.V[nodes[e, i // 6], i % 6] * H[i, j]
                    S[i, j] -= factor * s.aLam[c, 0] * H[i, j]
            sliding = s.status[c] == SLIP
            slip = math.hypot(s.aLam[c, 1], s.aLam[c, 2]) if sliding else 0.0
            for i in range(nd):
                along = contact.G_N[e, i]
                for r in range(2 if slip > 0.0 else 0):
                    tau = s.aLam[c, 1 + r] / slip
                    along += law[e].friction * tau * contact.V_T[e, r, i]
                for j in range(nd):
                    S[i, j] -= p / k * along * S[nd, j]
            for r in range(2 if slip > 0.0 else 0):
                for j in range(nd):
                    S[nd + 1 + r, j] = p / p_T * law[e].friction * s.aLam[c, 1 + r] / slip * S[nd, j]
            times_tangent(g, e, S, nd + 3, T)
            scatter_matrix(g.maps_at[VELOCITY], e, size, vector(b[_KK], size * size), values)


@kernel
def impulse_columns(d, s):
    """Add derivatives of (3), and of (2) where levels are combined, by multipliers of velocities to matrix VELOCITY."""
    b, values = integers(d.table_at, N_SLOTS), matrix_values(d, VELOCITY)
    half, whole = 0.5 * s.h * s.kv, s.h * s.kv if own_at(s.own_at)[0].combined != 0 else 0.0
    for g in contact_groups(d):
        nd = g.nd
        size = nd + SIX
        S, contact = matrix(b[_KK], size, size), contacts_of(g)
        for e in range(g.n):
            zero(b[_KK], size * size)
            if whole > 0.0 and s.active[g.first_contact + e] == 0:
                for j in range(nd):
                    S[j, nd] = -whole * contact.G_N[e, j]
                S[nd, nd] = s.kp / s.pp * whole
            for m in range(1, SIX):
                arm, row, column = arm_of(g, e, s, m), direction_of(g, e, m), nd + row_of(g, m)
                for j in range(nd):
                    S[j, column] = -half * arm * row[j]
            scatter_matrix(g.maps_at[VELOCITY], e, size, vector(b[_KK], size * size), values)
