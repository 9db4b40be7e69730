"""Products and sweeps with contacts between bodies: impulses go to the bodies and come back as velocities.

With z_b = Σ G_ikᵀ r_i (mass-scaled velocities that the impulses add) a product with W is one pass over the contacts
that fills z and one that reads it, and a sweep of Gauss-Seidel keeps z up to date instead of touching the neighbours of
a contact:

    known = q_i + Σ_k G_ik z_b − W_ii r_i,   r_i ← solution of one contact,   z_b += G_ikᵀ (r_i − r_i,old)           (1)

The cost of both is proportional to the number of contacts, whatever they are linked with. Sort contacts so that
neighbours in space are near in memory (2 times faster at 160,000 contacts). Symbols are those of
`contact_problem.bodies`.

Source: docs/theory/contact_problems.md, (16), (17).
"""

import numpy as np

from fem_mbs.jit import kernel, local_vector
from fem_mbs.solvers.contact_problem.cones import project
from fem_mbs.solvers.contact_problem.one import solve_one

REGULAR = 1e-10  # relative, in the normal equations of Anderson's combination


@kernel
def impulses_to_bodies(bodies, blocks, r, z):
    """z = Gᵀ r, (nb, m)."""
    n, sides, d, m = blocks.shape
    z[:, :] = 0.0
    for i in range(n):
        for k in range(sides):
            b = bodies[i, k]
            if b >= 0:
                for a in range(d):
                    x = r[i, a]
                    if x != 0.0:
                        for e in range(m):
                            z[b, e] += blocks[i, k, a, e] * x


@kernel
def bodies_to_contacts(bodies, blocks, z, u):
    """u = G z, (nc, d)."""
    n, sides, d, m = blocks.shape
    for i in range(n):
        for a in range(d):
            u[i, a] = 0.0
        for k in range(sides):
            b = bodies[i, k]
            if b >= 0:
                for a in range(d):
                    total = 0.0
                    for e in range(m):
                        total += blocks[i, k, a, e] * z[b, e]
                    u[i, a] += total


@kernel
def sweep(bodies, blocks, diagonal, shift, q, mu, z, r, forward):
    """One sweep (1) over the contacts; r (nc, d) and z (nb, m) = Gᵀ r are replaced.

    ``diagonal`` holds W_ii + shift I: with a shift the problem is that of W + shift I.
    """
    n, sides, d, m = blocks.shape
    known, change = local_vector(6)[:d], local_vector(6)[:d]
    for step in range(n):
        i = step if forward else n - 1 - step
        for a in range(d):
            known[a] = q[i, a]
        for k in range(sides):
            b = bodies[i, k]
            if b >= 0:
                for a in range(d):
                    total = 0.0
                    for e in range(m):
                        total += blocks[i, k, a, e] * z[b, e]
                    known[a] += total
        if r[i, 0] == 0.0 and known[0] >= 0.0:
            continue  # stays open
        for a in range(d):
            change[a] = -r[i, a]
            known[a] += shift * r[i, a]
            for c in range(d):
                known[a] -= diagonal[i, a, c] * r[i, c]
        solve_one(diagonal[i], known, mu[i], r[i])
        for a in range(d):
            change[a] += r[i, a]
        for k in range(sides):
            b = bodies[i, k]
            if b >= 0:
                for a in range(d):
                    for e in range(m):
                        z[b, e] += blocks[i, k, a, e] * change[a]


@kernel
def _combination(F, others, newest, c, A):
    """Fill c so that |f − Σ c_j (f − f_j)| is least, f the newest row of F and j over ``others`` rows."""
    n, d = F.shape[1:]
    for k in range(others):
        j = k if k < newest else k + 1
        for l in range(k + 1):
            i = l if l < newest else l + 1
            total = 0.0
            for e in range(n):
                for a in range(d):
                    total += (F[newest, e, a] - F[j, e, a]) * (F[newest, e, a] - F[i, e, a])
            A[k, l] = total
        total = 0.0
        for e in range(n):
            for a in range(d):
                total += (F[newest, e, a] - F[j, e, a]) * F[newest, e, a]
        c[k] = total
    for k in range(others):  # Cholesky; directions that add nothing get no part
        A[k, k] *= 1.0 + REGULAR
        for l in range(k + 1):
            total = A[k, l]
            for i in range(l):
                total -= A[k, i] * A[l, i]
            if k > l:
                A[k, l] = total / A[l, l] if A[l, l] > 0.0 else 0.0
            else:
                A[k, k] = np.sqrt(total) if total > REGULAR * A[k, k] else 0.0
    for k in range(others):
        for i in range(k):
            c[k] -= A[k, i] * c[i]
        c[k] = c[k] / A[k, k] if A[k, k] > 0.0 else 0.0
    for k in range(others - 1, -1, -1):
        for i in range(k + 1, others):
            c[k] -= A[i, k] * c[i]
        c[k] = c[k] / A[k, k] if A[k, k] > 0.0 else 0.0


@kernel
def accelerated_sweeps(bodies, blocks, diagonal, q, mu, z, r, R, F, kept, count):
    """``count`` pairs of Gauss-Seidel iterations, forward and backward, each followed by Anderson's combination with
    the last pairs.

    R and F (memory + 1, nc, d) hold what the last pairs ended with and their changes, ``kept`` says how many there
    were; 0 starts afresh. r (nc, d) and z (nb, m) are replaced. Returns the new ``kept``.
    """
    rows, n, d = F.shape
    new, c, A = np.empty(d), np.empty(rows), np.empty((rows, rows))
    for _ in range(count):
        newest, others = kept % rows, min(kept, rows - 1)
        F[newest] = r
        sweep(bodies, blocks, diagonal, 0.0, q, mu, z, r, True)
        sweep(bodies, blocks, diagonal, 0.0, q, mu, z, r, False)
        R[newest] = r
        for i in range(n):
            for a in range(d):
                F[newest, i, a] = r[i, a] - F[newest, i, a]
        kept += 1
        if others == 0:
            continue
        _combination(F, others, newest, c, A)
        for i in range(n):
            for a in range(d):
                total = R[newest, i, a]
                for k in range(others):
                    total -= c[k] * (R[newest, i, a] - R[k if k < newest else k + 1, i, a])
                r[i, a] = total
            project(r[i], mu[i], new)
            for a in range(d):
                r[i, a] = new[a]
        impulses_to_bodies(bodies, blocks, r, z)
    return kept
