"""Strains and stresses of solid elements at their points of integration, and their means at nodes: compiled loops.

Equations (1) and (2) of `fem_mbs.stresses.solid_stress`; of small displacements u, in the place of positions,

    ε = sym ∂u/∂X ,   σ = λ tr(ε) 1 + 2μ ε                                                                         (1)

    symbol   code        shape        meaning
    ∂N/∂ξ    gradients   (q, 3, nn)   of the shape functions at the points of integration
    X        X           (n, nn, 3)   nodes of the elements without stress
    x, u     x           (N, 3)       positions or displacements of all nodes
    λ, μ     material    (n, 3)       third column: 1 for neo-Hookean

Source: docs/theory/solids.md, section 7.
"""

import numpy as np

from fem_mbs.jit import kernel, local_arrays, local_matrix

SWEEPS = 12  # of Jacobi's method, which converges quadratically: four or five do
ROUND_OFF = 1e-17  # of the sum of all entries: the remainder off the diagonal


@kernel
def inverse(A, B):
    """Fill B (3, 3) with the inverse of A and return the determinant; 0: B is not a number."""
    for i in range(3):
        for j in range(3):
            a, b, c, d = (i + 1) % 3, (i + 2) % 3, (j + 1) % 3, (j + 2) % 3
            B[j, i] = A[a, c] * A[b, d] - A[a, d] * A[b, c]
    det = A[0, 0] * B[0, 0] + A[0, 1] * B[1, 0] + A[0, 2] * B[2, 0]
    factor = 1.0 / det if det != 0.0 else np.nan
    for i in range(3):
        for j in range(3):
            B[i, j] *= factor
    return det


@kernel
def gradient(g, X, x, nodes, F):
    """Fill F (3, 3) with Σ x_a ⊗ ∂N_a/∂X at a point with ∂N/∂ξ = g (3, nn)."""
    J, H, D = local_arrays("3 3, 3 3, 3 3")
    for i in range(3):
        for j in range(3):
            J[i, j] = D[i, j] = F[i, j] = 0.0
    for a in range(len(nodes)):
        for i in range(3):
            for j in range(3):
                J[i, j] += X[a, i] * g[j, a]
                D[i, j] += x[nodes[a], i] * g[j, a]
    inverse(J, H)
    for i in range(3):
        for j in range(3):
            for k in range(3):
                F[i, j] += D[i, k] * H[k, j]


@kernel
def hooke(lam, mu, E, S):
    """Fill S (3, 3) with λ tr(E) 1 + 2μ E."""
    trace = E[0, 0] + E[1, 1] + E[2, 2]
    for i in range(3):
        for j in range(3):
            S[i, j] = 2.0 * mu * E[i, j] + (lam * trace if i == j else 0.0)


@kernel
def large(gradients, X, x, nodes, material, strain, stress):
    """Green-Lagrange strain and Cauchy stress, both (n, q, 3, 3), at positions x."""
    F, C, D, S = local_arrays("3 3, 3 3, 3 3, 3 3")
    for e in range(len(nodes)):
        lam, mu = material[e, 0], material[e, 1]
        for q in range(len(gradients)):
            E, sigma = strain[e, q], stress[e, q]
            gradient(gradients[q], X[e], x, nodes[e], F)
            for i in range(3):
                for j in range(3):
                    C[i, j] = F[0, i] * F[0, j] + F[1, i] * F[1, j] + F[2, i] * F[2, j]
                    E[i, j] = 0.5 * (C[i, j] - (1.0 if i == j else 0.0))
            if material[e, 2] == 0.0:
                hooke(lam, mu, E, S)
            else:
                det = inverse(C, D)
                log_J = 0.5 * np.log(det) if det > 0.0 else np.nan
                for i in range(3):
                    for j in range(3):
                        S[i, j] = (lam * log_J - mu) * D[i, j] + (mu if i == j else 0.0)
            J = inverse(F, D)
            for i in range(3):
                for j in range(3):
                    sigma[i, j] = 0.0
                    for k in range(3):
                        for m in range(3):
                            sigma[i, j] += F[i, k] * S[k, m] * F[j, m]
                    sigma[i, j] = sigma[i, j] / J if J != 0.0 else np.nan


@kernel
def small(gradients, X, u, nodes, material, strain, stress):
    """Strain and stress (1), both (n, q, 3, 3), of displacements u."""
    F = local_matrix(3, 3)
    for e in range(len(nodes)):
        for q in range(len(gradients)):
            gradient(gradients[q], X[e], u, nodes[e], F)
            for i in range(3):
                for j in range(3):
                    strain[e, q, i, j] = 0.5 * (F[i, j] + F[j, i])
            hooke(material[e, 0], material[e, 1], strain[e, q], stress[e, q])


@kernel
def add_at_nodes(extrapolation, rows, volumes, strain, stress, total):
    """Add to total (k, 2, 3, 3) the strains and stresses at nodes ``rows`` (n, nn), times volumes (n,)."""
    for e in range(len(rows)):
        for a in range(rows.shape[1]):
            for q in range(extrapolation.shape[1]):
                w = volumes[e] * extrapolation[a, q]
                for i in range(3):
                    for j in range(3):
                        total[rows[e, a], 0, i, j] += w * strain[e, q, i, j]
                        total[rows[e, a], 1, i, j] += w * stress[e, q, i, j]


@kernel
def principal(stress, values):
    """Eigenvalues (n, 3) of symmetric matrices (n, 3, 3), rising, by Jacobi's rotations; NaN if not finite."""
    A = local_matrix(3, 3)
    for n in range(len(stress)):
        size = 0.0
        for i in range(3):
            for j in range(3):
                A[i, j] = 0.5 * (stress[n, i, j] + stress[n, j, i])
                size += abs(A[i, j])
        for _ in range(SWEEPS):
            if not abs(A[0, 1]) + abs(A[0, 2]) + abs(A[1, 2]) > ROUND_OFF * size:
                break
            for k in range(3):
                rotate(A, (k + 1) % 3, (k + 2) % 3, k)
        low, middle, high = A[0, 0], A[1, 1], A[2, 2]
        if low > middle:
            low, middle = middle, low
        if middle > high:
            middle, high = high, middle
        if low > middle:
            low, middle = middle, low
        values[n, 0], values[n, 1], values[n, 2] = low, middle, high
        if not np.isfinite(size):
            values[n, 0] = values[n, 1] = values[n, 2] = np.nan


@kernel
def rotate(A, p, q, r):
    """Turn symmetric A (3, 3) so that A_pq is zero; r is the third axis."""
    if A[p, q] == 0.0:
        return
    ratio = (A[q, q] - A[p, p]) / (2.0 * A[p, q])
    t = (1.0 if ratio >= 0.0 else -1.0) / (abs(ratio) + np.sqrt(1.0 + ratio * ratio))
    c = 1.0 / np.sqrt(1.0 + t * t)
    A[p, p] -= t * A[p, q]
    A[q, q] += t * A[p, q]
    A[p, q] = A[q, p] = 0.0
    first, second = A[r, p], A[r, q]
    A[r, p] = A[p, r] = c * (first - t * second)
    A[r, q] = A[q, r] = c * (t * first + second)
