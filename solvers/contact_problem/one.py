"""One contact alone: exact solution of Coulomb's law for a 3×3 matrix, local Newton with rolling and spinning.

Given u = W r + q with W (3, 3), not necessarily symmetric:

    q_n ≥ 0                                  r = 0: take-off, preferred when several solutions exist               (1)
    stick   S r_T = b                        S = W_TT − W_Tn W_nT/W_nn,  b = −(q_T − W_Tn q_n/W_nn)                 (2)
            r_n = −(q_n + W_nT r_T)/W_nn     good when |r_T| ≤ μ r_n
    slide   u_T = −α r_T, α > 0:             r_T(α) = x/D,  x = adj(S) b + α b,  D = α² + α tr S + det S           (3)
            h(α) = |x| − (μ/W_nn)(−q_n D − W_nT x) = 0                                                            (4)

h(0) > 0 because sticking failed and h → −∞ because q_n < 0, so a root exists; it is found by Newton kept inside its
bracket, from α = |u_T|/|r_T| of the impulse before. Multiplying by D avoids a division and the cancellation of the
quartic polynomial.

With rolling or spinning (4 to 6 components) there is no closed form: Newton on the Alart-Curnier map with a line search
from the old value; when it fails, 20 projection steps and Newton again, up to 10 times.

Source: docs/theory/contact_problems.md, (11), (12).

    symbol  code  shape   meaning
    W, q    W, q  (d, d), (d,)  block of the contact and all that does not depend on r; scaled: trace of W about d
    μ_k     mu    (parts,)      friction coefficients
"""

import math

import numpy as np

from fem_mbs.jit import kernel, local_vector
from fem_mbs.solvers.contact_problem.cones import alart_curnier_one, project, saxce

PROXIMAL = 1e-3  # added to the diagonal of a block that has (almost) no mobility; fixed points are unchanged
LARGEST = 1e3  # α of (4) where Newton starts, relative to the trace of S
ROUNDS, PROJECTIONS = 10, 20  # of Newton, and of projection steps between them


@kernel
def solve_coulomb(W, q, mu, r):
    """Fill r (3,) with (1)-(4); W_nn > 0 and W_TT not zero."""
    if q[0] >= 0.0:
        r[0], r[1], r[2] = 0.0, 0.0, 0.0
        return
    W_nn = W[0, 0]
    if mu == 0.0:
        r[0], r[1], r[2] = -q[0] / W_nn, 0.0, 0.0
        return
    S11, S12 = W[1, 1] - W[1, 0] * W[0, 1] / W_nn, W[1, 2] - W[1, 0] * W[0, 2] / W_nn
    S21, S22 = W[2, 1] - W[2, 0] * W[0, 1] / W_nn, W[2, 2] - W[2, 0] * W[0, 2] / W_nn
    b1, b2 = W[1, 0] * q[0] / W_nn - q[1], W[2, 0] * q[0] / W_nn - q[2]
    c1, c2 = S22 * b1 - S12 * b2, S11 * b2 - S21 * b1
    trace, det = S11 + S22, S11 * S22 - S12 * S21
    old_n, old_1, old_2 = r[0], r[1], r[2]
    if det > 1e-14 * trace * trace:
        r[1], r[2] = c1 / det, c2 / det
        r[0] = -(q[0] + W[0, 1] * r[1] + W[0, 2] * r[2]) / W_nn
        if math.sqrt(r[1] * r[1] + r[2] * r[2]) <= mu * r[0]:
            return
    before = math.sqrt(old_1 * old_1 + old_2 * old_2)
    low, high, alpha = 0.0, math.inf, max(trace, 1e-12)
    if before > 0.0:
        v1 = q[1] + W[1, 0] * old_n + W[1, 1] * old_1 + W[1, 2] * old_2
        v2 = q[2] + W[2, 0] * old_n + W[2, 1] * old_1 + W[2, 2] * old_2
        alpha = min(math.sqrt(v1 * v1 + v2 * v2) / before, LARGEST * alpha)
    for _ in range(200):
        x1, x2, D = c1 + alpha * b1, c2 + alpha * b2, alpha * alpha + trace * alpha + det
        size = math.sqrt(x1 * x1 + x2 * x2)
        h = size - mu / W_nn * (-q[0] * D - W[0, 1] * x1 - W[0, 2] * x2)
        if h >= 0.0:
            low = alpha
        else:
            high = alpha
        slope = mu / W_nn * (q[0] * (2.0 * alpha + trace) + W[0, 1] * b1 + W[0, 2] * b2)
        if size > 0.0:
            slope += (x1 * b1 + x2 * b2) / size
        new = alpha - h / slope if slope != 0.0 else low
        if not (low < new < high):
            new = 0.5 * (low + high) if high < math.inf else 4.0 * (alpha + trace)
        moved = abs(new - alpha)
        alpha = new
        if moved <= 1e-15 * (alpha + trace):
            break
    x1, x2, D = c1 + alpha * b1, c2 + alpha * b2, alpha * alpha + trace * alpha + det
    r[0] = max(-(q[0] + (W[0, 1] * x1 + W[0, 2] * x2) / D) / W_nn, 0.0)
    size = math.sqrt(x1 * x1 + x2 * x2)
    r[1], r[2] = (mu * r[0] * x1 / size, mu * r[0] * x2 / size) if size > 0.0 else (0.0, 0.0)


@kernel
def _solve_small(J, f, d):
    """Solve J x = f in place by Gaussian elimination with row pivoting; False when singular."""
    for i in range(d):
        pivot = i
        for k in range(i + 1, d):
            if abs(J[k, i]) > abs(J[pivot, i]):
                pivot = k
        if abs(J[pivot, i]) < 1e-14:
            return False
        if pivot != i:
            f[i], f[pivot] = f[pivot], f[i]
            for b in range(d):
                J[i, b], J[pivot, b] = J[pivot, b], J[i, b]
        for k in range(i + 1, d):
            factor = J[k, i] / J[i, i]
            f[k] -= factor * f[i]
            for b in range(i, d):
                J[k, b] -= factor * J[i, b]
    for i in range(d - 1, -1, -1):
        for b in range(i + 1, d):
            f[i] -= J[i, b] * f[b]
        f[i] /= J[i, i]
    return True


@kernel
def _local_map(W, q, mu, r, u, F, A, B):
    """Alart-Curnier map of one contact at r; fills u = W r + q. Returns |F|."""
    d = r.shape[0]
    for a in range(d):
        u[a] = q[a]
        for b in range(d):
            u[a] += W[a, b] * r[b]
    alart_curnier_one(r, u, mu, F, A, B)
    total = 0.0
    for a in range(d):
        total += F[a] * F[a]
    return math.sqrt(total)


@kernel
def _newton(W, q, mu, r, scale):
    """Alart-Curnier Newton from r (d,), at most 15 iterations; True, and r replaced, when it converges."""
    d = r.shape[0]
    u, F, step, trial = local_vector(6)[:d], local_vector(6)[:d], local_vector(6)[:d], local_vector(6)[:d]
    A, B, J = np.empty((d, d)), np.empty((d, d)), np.empty((d, d))
    for a in range(d):
        trial[a] = r[a]
    if r[0] <= 0.0:
        trial[0] = -q[0] / W[0, 0]
    size = _local_map(W, q, mu, trial, u, F, A, B)
    for _ in range(15):
        if size <= 1e-13 * scale:
            break
        for a in range(d):
            step[a] = -F[a]
            for b in range(d):
                J[a, b] = A[a, b]
                for c in range(d):
                    J[a, b] += B[a, c] * W[c, b]
        if not _solve_small(J, step, d):
            break
        fraction, before = 1.0, size
        for a in range(d):
            trial[a] += step[a]
        for _ in range(8):
            size = _local_map(W, q, mu, trial, u, F, A, B)
            if size < before:
                break
            fraction *= 0.5
            for a in range(d):
                trial[a] -= fraction * step[a]
        if not size < before:
            break
    if size > 1e-10 * scale:
        return False
    for a in range(d):
        r[a] = trial[a]
    return True


@kernel
def solve_rolling(W, q, mu, r):
    """Improve r (d,), d = 4 to 6, to the solution for one contact."""
    d = r.shape[0]
    if q[0] >= 0.0:
        for a in range(d):
            r[a] = 0.0
        return
    scale, rho = 0.0, 0.0
    for a in range(d):
        row = 0.0
        for b in range(d):
            row += abs(W[a, b])
        scale, rho = max(scale, abs(q[a])), max(rho, row)
    u, x, new = local_vector(6)[:d], local_vector(6)[:d], local_vector(6)[:d]
    for _ in range(ROUNDS):
        if _newton(W, q, mu, r, scale):
            return
        for _ in range(PROJECTIONS):
            for a in range(d):
                u[a] = q[a]
                for b in range(d):
                    u[a] += W[a, b] * r[b]
            u[0] += saxce(u, mu)
            for a in range(d):
                x[a] = r[a] - u[a] / rho
            project(x, mu, new)
            for a in range(d):
                r[a] = new[a]


@kernel
def solve_one(W, q, mu, r):
    """Replace r (d,) by the solution of one contact; blocks without mobility are solved with a proximal term."""
    d = r.shape[0]
    tangential = 0.0
    for a in range(1, d):
        tangential += W[a, a]
    if W[0, 0] > 1e-8 and tangential > 1e-10:
        if d == 3:
            solve_coulomb(W, q, mu[0], r)
        else:
            solve_rolling(W, q, mu, r)
        return
    shifted, known = np.empty((d, d)), np.empty(d)
    for a in range(d):
        known[a] = q[a] - PROXIMAL * r[a]
        for b in range(d):
            shifted[a, b] = W[a, b] + (PROXIMAL if a == b else 0.0)
    if d == 3:
        solve_coulomb(shifted, known, mu[0], r)
    else:
        solve_rolling(shifted, known, mu, r)
