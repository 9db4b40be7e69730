"""Friction cones: projection, distance to a solution, and the maps whose zeros are the solutions.

One contact has r = (r_n, r_T, …) and u = (u_n, u_T, …): the normal component and up to three parts k, each a vector
bounded by μ_k r_n (sliding (2), rolling (2), spinning (1)). With s = Σ μ_k |u_k| (De Saxcé) and ũ = u + s n

    K = {|r_k| ≤ μ_k r_n for all k},   K* = {Σ μ_k |u_k| ≤ u_n},      K* ∋ ũ ⟂ r ∈ K                             (1)

Projection: parts in the order of |x_k|/μ_k, largest first; t = x_n; while |x_k| > μ_k t clip the part:
t = (x_n + Σ μ_k |x_k|) / (1 + Σ μ_k²) over the clipped parts; then P_n = max(t, 0), P_k = x_k min(1, μ_k t/|x_k|)   (2)

Maps F(r) = 0 with dF = A dr + B du, block by block, for unit step (the problem is scaled):

    natural            F = r − P_K(r − ũ):  A = I − DP,  B = DP C,  C = I + n Σ μ_k t_kᵀ,  t_k = u_k/|u_k|           (3)
    Alart-Curnier      x = r − u;  x_n ≤ 0: F = r;  else F_n = u_n and F_k = u_k where |x_k| ≤ μ_k x_n,
                       else F_k = r_k − μ_k x_n x_k/|x_k|                                                         (4)
    Fischer-Burmeister x = (μ r_n, r_T), y = (ũ_n, μ u_T), w = (x² + y²)^½ in the Jordan algebra, F = x + y − w   (5)

A part with μ_k = 0 is always clipped: r_k = 0.

Source: docs/theory/contact_problems.md, (2), (7)-(10); (3)-(5) checked in the tests by differences.

    symbol    code   shape       meaning
    r, u      r, u   (nc, d)     impulses and relative velocities; d = 3, 4 (spinning), 5 (rolling) or 6 (both)
    μ_k       mu     (nc, parts) friction coefficients, part k in columns 1 + 2 k …
    A, B      A, B   (nc, d, d)  derivatives of a map
"""

import math

import numpy as np

from fem_mbs.jit import kernel, local_vector


@kernel
def part_size(x, k, d):
    """|x_k|."""
    total = 0.0
    for a in range(1 + 2 * k, min(3 + 2 * k, d)):
        total += x[a] * x[a]
    return math.sqrt(total)


@kernel
def saxce(u, mu):
    """s of (1) for one contact."""
    s = 0.0
    for k in range(mu.shape[0]):
        s += mu[k] * part_size(u, k, u.shape[0])
    return s


@kernel
def project(x, mu, out):
    """Fill out (d,) with (2) for one contact. Returns t (before max), the denominator and the clipped parts as bits."""
    d, parts = x.shape[0], mu.shape[0]
    t, above, below, clipped = x[0], x[0], 1.0, 0
    for _ in range(parts):
        first, size, friction = -1, 0.0, 0.0
        for k in range(parts):
            if (clipped >> k) & 1 == 0:
                other = part_size(x, k, d)
                if first < 0 or other * friction > size * mu[k]:
                    first, size, friction = k, other, mu[k]
        if size <= friction * t and friction > 0.0:
            break
        clipped |= 1 << first
        above += friction * size
        below += friction * friction
        t = above / below
    out[0] = max(t, 0.0)
    for k in range(parts):
        factor = 1.0
        if (clipped >> k) & 1 == 1:
            size = part_size(x, k, d)
            factor = mu[k] * out[0] / size if size > 0.0 else 0.0
        elif t <= 0.0:
            factor = 0.0
        for a in range(1 + 2 * k, min(3 + 2 * k, d)):
            out[a] = factor * x[a]
    return t, below, clipped


@kernel
def project_all(x, mu, out):
    """Projection of all contacts, (nc, d)."""
    for i in range(x.shape[0]):
        project(x[i], mu[i], out[i])


@kernel
def saxce_all(u, mu, s):
    """s of (1) of all contacts, (nc,)."""
    for i in range(u.shape[0]):
        s[i] = saxce(u[i], mu[i])


@kernel
def natural_error(r, u, s, mu):
    """Sum and largest of |r − P(r − u − s n)|² over the contacts."""
    d = r.shape[1]
    x, p = local_vector(6)[:d], local_vector(6)[:d]
    total, largest = 0.0, 0.0
    for i in range(r.shape[0]):
        for a in range(d):
            x[a] = r[i, a] - u[i, a]
        x[0] -= s[i]
        project(x, mu[i], p)
        square = 0.0
        for a in range(d):
            square += (r[i, a] - p[a]) ** 2
        total += square
        largest = max(largest, square)
    return total, largest


@kernel
def projection_tangent(x, t, below, clipped, mu, D):
    """Fill D (d, d) with the derivative of (2)."""
    d = x.shape[0]
    D[:, :] = 0.0
    if t <= 0.0:
        return
    D[0, 0] = 1.0 / below
    for k in range(mu.shape[0]):
        first, end = 1 + 2 * k, min(3 + 2 * k, d)
        if (clipped >> k) & 1 == 0:
            for a in range(first, end):
                D[a, a] = 1.0
            continue
        size = part_size(x, k, d)
        if size == 0.0:
            continue
        for a in range(first, end):
            D[0, a] = mu[k] * x[a] / (size * below)
    for k in range(mu.shape[0]):
        size = part_size(x, k, d)
        if (clipped >> k) & 1 == 0 or size == 0.0:
            continue
        for a in range(1 + 2 * k, min(3 + 2 * k, d)):
            for b in range(d):
                D[a, b] += mu[k] * x[a] / size * D[0, b]
            for b in range(1 + 2 * k, min(3 + 2 * k, d)):
                D[a, b] += mu[k] * t / size * ((1.0 if a == b else 0.0) - x[a] * x[b] / (size * size))


@kernel
def _natural(r, u, mu, lift, F, A, B):
    """Fill F, A, B of (3), with ``lift`` times De Saxcé's term."""
    d = r.shape[1]
    x, p, slope = local_vector(6)[:d], local_vector(6)[:d], local_vector(6)[:d]
    D = np.empty((d, d))
    for i in range(r.shape[0]):
        for a in range(d):
            x[a] = r[i, a] - u[i, a]
        x[0] -= lift * saxce(u[i], mu[i])
        t, below, clipped = project(x, mu[i], p)
        projection_tangent(x, t, below, clipped, mu[i], D)
        slope[0] = 0.0
        for k in range(mu.shape[1]):
            size = part_size(u[i], k, d)
            for a in range(1 + 2 * k, min(3 + 2 * k, d)):
                slope[a] = lift * mu[i, k] * u[i, a] / size if size > 0.0 else 0.0
        for a in range(d):
            F[i, a] = r[i, a] - p[a]
            for b in range(d):
                A[i, a, b] = (1.0 if a == b else 0.0) - D[a, b]
                B[i, a, b] = D[a, b] + D[a, 0] * slope[b]


@kernel
def natural_map(r, u, mu, F, A, B):
    """Fill F, A, B of (3)."""
    _natural(r, u, mu, 1.0, F, A, B)


@kernel
def relaxed_map(r, u, mu, F, A, B):
    """Fill F, A, B of (3) without De Saxcé's term: ũ = u, C = I, of the relaxed problem."""
    _natural(r, u, mu, 0.0, F, A, B)


@kernel
def alart_curnier_one(r, u, mu, F, A, B):
    """Fill F (d,), A and B (d, d) of (4) for one contact."""
    d = r.shape[0]
    A[:, :] = 0.0
    B[:, :] = 0.0
    x_n = r[0] - u[0]
    if x_n <= 0.0:
        for a in range(d):
            F[a] = r[a]
            A[a, a] = 1.0
        return
    F[0] = u[0]
    B[0, 0] = 1.0
    x = local_vector(6)[:d]
    for a in range(d):
        x[a] = r[a] - u[a]
    for k in range(mu.shape[0]):
        first, end = 1 + 2 * k, min(3 + 2 * k, d)
        size, radius = part_size(x, k, d), mu[k] * x_n
        if mu[k] > 0.0 and size <= radius:
            for a in range(first, end):
                F[a] = u[a]
                B[a, a] = 1.0
            continue
        g = radius / size if size > 0.0 else 0.0
        for a in range(first, end):
            e = x[a] / size if size > 0.0 else 0.0
            F[a] = r[a] - radius * e
            A[a, 0] = -mu[k] * e
            B[a, 0] = mu[k] * e
            for b in range(first, end):
                f = x[b] / size if size > 0.0 else 0.0
                turn = g * ((1.0 if a == b else 0.0) - e * f)
                A[a, b] = (1.0 if a == b else 0.0) - turn
                B[a, b] = turn


@kernel
def alart_curnier(r, u, mu, F, A, B):
    """Fill F, A, B of (4)."""
    for i in range(r.shape[0]):
        alart_curnier_one(r[i], u[i], mu[i], F[i], A[i], B[i])


@kernel
def _arrow_inverse_product(w, v, out):
    """out = L_w⁻¹ L_v (3, 3), L the matrix of the Jordan product."""
    det = (w[0] - math.hypot(w[1], w[2])) * (w[0] + math.hypot(w[1], w[2]))
    inverse, arrow = np.empty((3, 3)), np.empty((3, 3))
    for a in range(3):
        for b in range(3):
            if a == 0 and b == 0:
                inverse[a, b] = w[0] / det
            elif a == 0 or b == 0:
                inverse[a, b] = -w[a + b] / det
            else:
                inverse[a, b] = (1.0 / w[0] if a == b else 0.0) + w[a] * w[b] / (w[0] * det)
            arrow[a, b] = v[0] if a == b else (v[a + b] if a == 0 or b == 0 else 0.0)
    for a in range(3):
        for b in range(3):
            out[a, b] = inverse[a, 0] * arrow[0, b] + inverse[a, 1] * arrow[1, b] + inverse[a, 2] * arrow[2, b]


@kernel
def fischer_burmeister(r, u, mu, F, A, B):
    """Fill F, A, B of (5); d = 3 only. The smallest eigenvalue of w is kept above 1e-8 of the largest."""
    x, y, z, w = np.empty(3), np.empty(3), np.empty(3), np.empty(3)
    X, Y = np.empty((3, 3)), np.empty((3, 3))
    for i in range(r.shape[0]):
        m = mu[i, 0]
        A[i, :, :] = 0.0
        B[i, :, :] = 0.0
        if m == 0.0:
            size = max(math.hypot(r[i, 0], u[i, 0]), 1e-300)
            F[i, 0] = r[i, 0] + u[i, 0] - math.hypot(r[i, 0], u[i, 0])
            A[i, 0, 0] = 1.0 - r[i, 0] / size
            B[i, 0, 0] = 1.0 - u[i, 0] / size
            for a in range(1, 3):
                F[i, a] = r[i, a]
                A[i, a, a] = 1.0
            continue
        slide = math.hypot(u[i, 1], u[i, 2])
        x[0], y[0] = m * r[i, 0], u[i, 0] + m * slide
        for a in range(1, 3):
            x[a], y[a] = r[i, a], m * u[i, a]
        z[0] = x[0] ** 2 + x[1] ** 2 + x[2] ** 2 + y[0] ** 2 + y[1] ** 2 + y[2] ** 2
        for a in range(1, 3):
            z[a] = 2.0 * (x[0] * x[a] + y[0] * y[a])
        size = math.hypot(z[1], z[2])
        high = math.sqrt(z[0] + size)
        low = max(math.sqrt(max(z[0] - size, 0.0)), 1e-8 * high, 1e-150)
        high = max(high, low)
        w[0] = 0.5 * (high + low)
        for a in range(1, 3):
            w[a] = 0.5 * (high - low) * z[a] / size if size > 0.0 else 0.0
        _arrow_inverse_product(w, x, X)
        _arrow_inverse_product(w, y, Y)
        for a in range(3):
            F[i, a] = x[a] + y[a] - w[a]
            for b in range(3):
                X[a, b] = (1.0 if a == b else 0.0) - X[a, b]
                Y[a, b] = (1.0 if a == b else 0.0) - Y[a, b]
            A[i, a, 0] = m * X[a, 0]
            B[i, a, 0] = Y[a, 0]
            for b in range(1, 3):
                t = u[i, b] / slide if slide > 0.0 else 0.0
                A[i, a, b] = X[a, b]
                B[i, a, b] = m * (Y[a, b] + Y[a, 0] * t)
