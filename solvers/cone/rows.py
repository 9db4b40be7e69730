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
    λ         cLam, cchi      multipliers divided by k_v
    DP        DP      (6, 6)  derivative of the projection
    b         bias            gap/h, or what Newton's law asks, see `cone.kernels`
"""

from fem_mbs.jit import N_SLOTS, SLOT, integers, kernel, local_matrix, local_vector, matrix, vector
from fem_mbs.solvers.contact.approach import tangential_restitution
from fem_mbs.solvers.contact.law import CLOSED, GAP, SLIP, STICK, open_contact
from fem_mbs.solvers.contact.velocity_rows import open_velocity_rows
from fem_mbs.solvers.contact_problem.cones import project, projection_tangent
from fem_mbs.system.contacts import (
    add_gradient,
    contact_groups,
    contacts_of,
    direction_of,
    gradient_times,
    laws_of,
)
from fem_mbs.system.gather import scatter_matrix
from fem_mbs.system.global_matrices import matrix_values
from fem_mbs.system.records import VELOCITY, zero

_H_N, _KK = SLOT["H_N"], SLOT["K"]


@kernel
def augmented(g, e, s, V, Vminus, xi, mu):
    """Fill ξ (6,) of (1) and the coefficients mu (3,) of a contact."""
    contact = contacts_of(g)
    c, k, p, law, arm = g.first_contact + e, s.kv, s.pv, laws_of(g), s.length
    cLam, cchi = s.cLam, s.cchi
    xi[0] = k * cLam[c, 0] - p * (gradient_times(g, e, contact.G_N[e], V) + s.bias[c])
    e_T = tangential_restitution(g, e, s)
    for i in range(2):
        slide = gradient_times(g, e, contact.V_T[e, i], V) + e_T * gradient_times(g, e, contact.V_T_start[e, i], Vminus)
        xi[1 + i] = k * cLam[c, 1 + i] - p * slide
    for i in range(3):
        xi[3 + i] = k * cchi[c, i] - p * arm * gradient_times(g, e, contact.W[e, i], V)
    mu[0], mu[1], mu[2] = law[e].friction, law[e].rolling_resistance / arm, law[e].spinning_resistance / arm


@kernel
def relaxed_residual(d, s, V, Vminus, r1, rows, rows_chi):
    """Contact residual as `contact.velocity_rows.velocity_contact_residual`, of the relaxed law."""
    cLam, cchi, aLam, achi = s.cLam, s.cchi, s.aLam, s.achi
    status, turning, candidate = s.status, s.turning, s.candidate
    xi, r, mu, k, p, arm = local_vector(6), local_vector(6), local_vector(3), s.kv, s.pv, s.length
    for g in contact_groups(d):
        contact = contacts_of(g)
        for e in range(g.n):
            c = g.first_contact + e
            open_velocity_rows(g, c, s, rows, rows_chi)
            status[c] = turning[c] = GAP
            if candidate[c] == 0:
                continue
            augmented(g, e, s, V, Vminus, xi, mu)
            _, _, clipped = project(xi, mu, r)
            for i in range(3):
                rows[c, i] = (r[i] - k * cLam[c, i]) / p
                rows_chi[c, i] = (r[3 + i] - k * cchi[c, i]) / p
            if r[0] == 0.0:
                continue
            status[c] = CLOSED if mu[0] == 0.0 else (SLIP if clipped & 1 else STICK)
            if mu[1] > 0.0 or mu[2] > 0.0:
                rests = (clipped & 2 == 0 or mu[1] == 0.0) and (clipped & 4 == 0 or mu[2] == 0.0)
                turning[c] = STICK if rests else SLIP
            add_gradient(g, e, contact.G_N[e], -r[0], r1)
            for i in range(2):
                add_gradient(g, e, contact.V_T[e, i], -r[1 + i], r1)
            for i in range(3):
                add_gradient(g, e, contact.W[e, i], -arm * r[3 + i], r1)
                aLam[c, i], achi[c, i] = r[i], arm * r[3 + i]


@kernel
def relaxed_tangents(d, s, V, Vminus):
    """Contact tangents as `contact.velocity_rows.velocity_contact_tangents`, of the relaxed law."""
    b = integers(d.table_at, N_SLOTS)
    layout = matrix_values(d, VELOCITY)
    xi, r, mu, k, p, arm = local_vector(6), local_vector(6), local_vector(3), s.kv, s.pv, s.length
    DP = local_matrix(6, 6)
    for g in contact_groups(d):
        nd = g.nd
        size = nd + 6
        S, B = matrix(b[_KK], size, size), matrix(b[_H_N], 6, nd)
        for e in range(g.n):
            zero(b[_KK], size * size)
            if s.candidate[g.first_contact + e] == 0:
                open_contact(S, nd, 6, 2, k, s.pv, s.pv_T)
            else:
                augmented(g, e, s, V, Vminus, xi, mu)
                t, below, clipped = project(xi, mu, r)
                projection_tangent(xi, t, below, clipped, mu, DP)
                for i in range(6):
                    row = direction_of(g, e, i)
                    for j in range(nd):
                        B[i, j] = (arm if i > 2 else 1.0) * row[j]
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
