"""Contact laws by augmented Lagrangians: residuals and tangent blocks of one contact (Signorini, Coulomb, rolling,
spinning, Coulomb-Contensou).

All of sliding, rolling and spinning are the same law, a vector bounded by a multiple of the normal force:

    ξ_N = k λ_N − p g_N              active when ξ_N ≥ 0                                                           (1)
    ξ_T = k λ_T − p g_T ;  stick when |ξ_T| < μ ξ_N, else slip along τ = ξ_T/|ξ_T|                                 (2)

    block     gap                stick              slip
    forces    0                  −Bᵀ ξ_T            −μ ξ_N Bᵀ τ                 added to the dynamic residual       (3)
    rows      −(k²/p) λ_T        −k g_T             (k/p)(−k λ_T + μ ξ_N τ)                                        (4)

with B the gradient of g_T. The normal direction adds −G_Nᵀ ξ_N to the forces and has rows −k g_N (gap: −(k²/p) λ_N).
with the penalty p of the cone, and p_N in (1): what resists sliding at a contact point is lighter than the body
(2/7 of its mass for a sphere that turns). Tangents, with P = I − ττᵀ, s = μ ξ_N/|ξ_T|:

    slip: qq  μ p_N Bᵀτ G_N + s p BᵀPB ;  qN −k μ Bᵀτ ;  qT −k s BᵀP ;  Tq −k (μ p_N/p τ G_N + s P B) ;
          TN (k²/p) μ τ ;  TT (k²/p)(−I + s P)                                                                    (5)
    stick: qq p BᵀB ;  qT −k Bᵀ ;  Tq −k B                                                                         (6)

The radius uses the augmented ξ_N and the normal row does not depend on the slip: the law is Coulomb's, no De Saxcé term
is needed. Guards: |ξ_T| = 0 gives τ = 0 and s = 0.

Sliding and drilling coupled (Coulomb-Contensou) is the same law once more, in three dimensions:

    g_T = (g_1, g_2, c g_ω) ,   λ_T = (λ_1, λ_2, M_N/c) ,   |λ_T| ≤ μ λ_N                                            (7)

with g_ω the rotation or angular velocity about the normal, M_N the moment about it and c the arm of the contact disc
(`Contact.drilling_arm`). One p for the three: only so is the slip direction τ that of g_T.

Source: Sanchez2025 annex A, (A.39)-(A.42) and appendix A2; docs/theory/contact_laws.md, (5)-(10); (7): Capobianco2021,
(49), (157).

    symbol   code    meaning
    λ        lam     multipliers (position level: ν; velocity level: Λ for sliding, χ for rolling and spinning)
    g_T, B   g, B    tangential displacement over the step or velocity, (n,); its gradient, n rows of nd numbers
    n        n       2 for sliding and rolling, 1 for spinning, 3 for sliding and drilling
"""

import math

from fem_mbs.jit import kernel, local_vector

GAP, STICK, SLIP, CLOSED = 0, 1, 2, 3  # CLOSED: without friction


@kernel
def direction(k, p, mu, xi_N, lam, g, n, xi, tau):
    """Status by (2); fills xi (n,) and tau (n,). Returns status, |ξ_T|."""
    size = 0.0
    for i in range(n):
        xi[i] = k * lam[i] - p * g[i]
        size += xi[i] * xi[i]
    size = math.sqrt(size)
    for i in range(n):
        tau[i] = xi[i] / size if size > 0.0 else 0.0
    return (STICK if size < mu * xi_N else SLIP), size


@kernel
def cone_forces(k, p, mu, xi_N, lam, g, n, force, row):
    """Fill the multiplier of −Bᵀ in (3), force (n,), and the rows (4) of an active contact divided by k, row (n,)."""
    xi, tau = local_vector(3), local_vector(3)
    status, _ = direction(k, p, mu, xi_N, lam, g, n, xi, tau)
    for i in range(n):
        if status == STICK:
            force[i] = xi[i]
            row[i] = -g[i]
        else:
            force[i] = mu * xi_N * tau[i]
            row[i] = (-k * lam[i] + mu * xi_N * tau[i]) / p
    return status


@kernel
def open_rows(S, first, n, k, p):
    """Rows of multipliers without contact: −k²/p on the diagonal."""
    for i in range(first, first + n):
        S[i, i] = -k * k / p


@kernel
def open_contact(S, nd, own, friction, k, p, p_T):
    """Rows of all multipliers of an open contact: the normal one, those of friction, those of rolling and spinning."""
    open_rows(S, nd, own, k, p)
    for i in range(nd + 1, nd + 1 + friction):
        S[i, i] = -k * k / p_T


@kernel
def normal_tangent(S, nd, row, G_N, k, p):
    """Add the blocks of an active normal direction, multiplier at ``row``."""
    for i in range(nd):
        for j in range(nd):
            S[i, j] += p * G_N[i] * G_N[j]
        S[i, row] -= k * G_N[i]
        S[row, i] -= k * G_N[i]


@kernel
def cone_tangent(S, nd, row_N, row, G_N, B, n, k, p_N, p, mu, xi_N, lam, g):
    """Add the blocks (5) or (6) of one cone of an active contact, multipliers at ``row`` …, gradients B (n, nd)."""
    xi, tau = local_vector(3), local_vector(3)
    status, size = direction(k, p, mu, xi_N, lam, g, n, xi, tau)
    if status == STICK:
        for a in range(n):
            for i in range(nd):
                b = B[a, i]
                if b != 0.0:
                    for j in range(nd):
                        S[i, j] += p * b * B[a, j]
                    S[i, row + a] -= k * b
                    S[row + a, i] -= k * b
        return
    s = mu * xi_N / size if size > 0.0 and n > 1 else 0.0  # n = 1: the direction cannot turn
    for a in range(n):
        for c in range(n):
            sP = s * ((1.0 if a == c else 0.0) - tau[a] * tau[c])
            S[row + a, row + c] += k * k / p * (sP - (1.0 if a == c else 0.0))
            if sP != 0.0:
                for i in range(nd):
                    b = B[a, i]
                    for j in range(nd):
                        S[i, j] += p * sP * b * B[c, j]
                    S[i, row + c] -= k * sP * b
                    S[row + c, i] -= k * sP * b
        S[row + a, row_N] += k * k / p * mu * tau[a]
        for i in range(nd):
            b = mu * tau[a] * B[a, i]
            for j in range(nd):
                S[i, j] += p_N * b * G_N[j]
            S[i, row_N] -= k * b
            S[row + a, i] -= k * p_N / p * mu * tau[a] * G_N[i]
