"""Contacts of the relaxed law in Newton's iteration: residual parts and tangent blocks.

With u = (u_N + b, u_T, u_R, u_S) of a contact, the cone K of `contact_problem.cones` and its polar, K ∋ r ⟂ −u ∈ K°, is

    ξ = k λ − p u ,   r = P_K(ξ)                                                                                    (1)

    block     dynamic rows        rows of multipliers                                                               (2)
    residual  −Bᵀ r               (k/p) (r − k λ)
    tangents  p Bᵀ DP B,  −k Bᵀ DP        −k DP B,  (k²/p) (DP − I)

the stationary point of the augmented Lagrangian of a convex problem: its matrix is symmetric. Rolling and spinning are
velocities arm · ω, and μ̂ = resistance/arm, as in `contact.velocity_rows`.

Source: docs/theory/cone_complementarity.md, (4), (8), (9); Negrut2018, (7), (10).

    symbol    code    shape   meaning
    B         B       (6, nd) gradients: normal, sliding (2), arm times rolling (2) and spinning
    λ         cLam    (nc, 6) multipliers divided by k_v and arms
    DP        DP      (6, 6)  derivative of the projection
    b         bias            gap/h, or what Newton's law asks, see `cone.kernels`
"""

from fem_mbs.jit import N_SLOTS, SLOT, integers, kernel, local_matrix, local_vector, matrix, vector
from fem_mbs.solvers.contact.approach import tangential_restitution
from fem_mbs.solvers.contact.law import CLOSED, GAP, SLIP, STICK, open_contact
from fem_mbs.solvers.contact.law_rows import CONES, SIX, arm_of, cone_of
from fem_mbs.solvers.contact.velocity_rows import open_velocity_rows
from fem_mbs.solvers.contact_problem.cones import project, projection_tangent
from fem_mbs.system.contacts import (
    add_gradient,
    contact_groups,
    contacts_of,
    direction_of,
    gradient_times,
)
from fem_mbs.system.gather import scatter_matrix
from fem_mbs.system.global_matrices import matrix_values
from fem_mbs.system.records import VELOCITY, zero

_H_N, _KK = SLOT["H_N"], SLOT["K"]


@kernel
def augmented(g, e, s, V, Vminus, xi, mu):
    """Fill ξ (6,) of (1) and the coefficients mu (3,) of a contact."""
    contact = contacts_of(g)
    k, p, arm, lam = s.kv, s.pv, s.length, s.cLam[g.first_contact + e]
    xi[0] = k * lam[0] - p * (gradient_times(g, e, contact.G_N[e], V) + s.bias[g.first_contact + e])
    e_T = tangential_restitution(g, e, s)
    for i in range(2):
        slide = gradient_times(g, e, contact.V_T[e, i], V) + e_T * gradient_times(g, e, contact.V_T_start[e, i], Vminus)
        xi[1 + i] = k * lam[1 + i] - p * slide
    for i in range(3):
        xi[3 + i] = k * lam[3 + i] - p * arm * gradient_times(g, e, contact.W[e, i], V)
    for cone in range(CONES):
        mu[cone] = cone_of(g, e, s, cone)[1]


@kernel
def relaxed_residual(d, s, V, Vminus, r1, rows):
    """Contact residual as `contact.velocity_rows.velocity_contact_residual`, of the relaxed law."""
    status, turning, candidate = s.status, s.turning, s.candidate
    xi, r, mu, k, p = local_vector(6), local_vector(6), local_vector(3), s.kv, s.pv
    for g in contact_groups(d):
        for e in range(g.n):
            c = g.first_contact + e
            open_velocity_rows(g, c, s, rows)
            status[c] = turning[c] = GAP
            if candidate[c] == 0:
                continue
            augmented(g, e, s, V, Vminus, xi, mu)
            _, _, clipped = project(xi, mu, r)
            for m in range(SIX):
                rows[c, m] = (r[m] - k * s.cLam[c, m]) / p
            if r[0] == 0.0:
                continue
            status[c] = CLOSED if mu[0] == 0.0 else (SLIP if clipped & 1 else STICK)
            if mu[1] > 0.0 or mu[2] > 0.0:
                rests = (clipped & 2 == 0 or mu[1] == 0.0) and (clipped & 4 == 0 or mu[2] == 0.0)
                turning[c] = STICK if rests else SLIP
            for m in range(SIX):
                s.aLam[c, m] = arm_of(g, e, s, m) * r[m]
                add_gradient(g, e, direction_of(g, e, m), -s.aLam[c, m], r1)


@kernel
def relaxed_tangents(d, s, V, Vminus):
    """Contact tangents as `contact.velocity_rows.velocity_contact_tangents`, of the relaxed law."""
    b = integers(d.table_at, N_SLOTS)
    layout = matrix_values(d, VELOCITY)
    xi, r, mu, k, p = local_vector(6), local_vector(6), local_vector(3), s.kv, s.pv
    DP = local_matrix(6, 6)
    for g in contact_groups(d):
        nd = g.nd
        size = nd + SIX
        S, B = matrix(b[_KK], size, size), matrix(b[_H_N], 6, nd)
        for e in range(g.n):
            zero(b[_KK], size * size)
            if s.candidate[g.first_contact + e] == 0:
                open_contact(S, nd, 6, 2, k, s.pv, s.pv_T)
            else:
                augmented(g, e, s, V, Vminus, xi, mu)
                t, below, clipped = project(xi, mu, r)
                projection_tangent(xi, t, below, clipped, mu, DP)
                for m in range(SIX):
                    row, arm = direction_of(g, e, m), arm_of(g, e, s, m)
                    for j in range(nd):
                        B[m, j] = arm * row[j]
                cone_block(S, B, DP, nd, k, p, s.epsilon)
            scatter_matrix(g.maps_at[VELOCITY], e, size, vector(b[_KK], size * size), layout)


@kernel
def cone_block(S, B, DP, nd, k, p, epsilon):
    """Fill S (nd + 6, nd + 6) with (2); ``epsilon``: proximal shift of redundant contacts."""
    for i in range(6):
        for j in range(nd):
            total = 0.0
            for a in range(6):
                total += DP[i, a] * B[a, j]
            S[nd + i, j] = S[j, nd + i] = -k * total
        for a in range(6):
            S[nd + i, nd + a] = k * k / p * (DP[i, a] - (1.0 if i == a else 0.0))
        S[nd + i, nd + i] -= epsilon * k * k / p
    for i in range(nd):
        for j in range(nd):
            for a in range(6):
                S[i, j] -= p / k * B[a, i] * S[nd + a, j]
