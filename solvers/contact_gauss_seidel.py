"""Block projected Gauss-Seidel: contacts are solved exactly one after the other with the newest values of the others.

The right start for every problem and a poor finisher for tall stacks, arches and mass ratios. Sweeps run forth and
back; over-relaxation is not used because it loses sliding contacts.

Source: formulation-contact-problem-solver, section 4.1.
"""

from fem_mbs.jit import kernel, local_vector
from fem_mbs.solvers.contact_one import solve_one

CHECK_EVERY = 10  # sweeps between two tests of the error


@kernel
def sweep(pointers, columns, blocks, diagonal, q, mu, r, forward):
    """One sweep over the contacts; W by block rows: pointers (nc + 1,), columns (nnz,), blocks (nnz, d, d)."""
    n, d = r.shape
    known = local_vector(6)[:d]
    for step in range(n):
        i = step if forward else n - 1 - step
        for a in range(d):
            known[a] = q[i, a]
        for k in range(pointers[i], pointers[i + 1]):
            j = columns[k]
            if j != i:
                for a in range(d):
                    for b in range(d):
                        known[a] += blocks[k, a, b] * r[j, b]
        solve_one(diagonal[i], known, mu[i], r[i])


def gauss_seidel(problem, r, watch, *, iterations=1000):
    """Improve r (nc, d) of a scaled problem by sweeps; returns the best iterate of ``watch``."""
    pointers, columns, blocks = problem.operator.block_rows()
    r = r.copy()
    for k in range(iterations):
        sweep(pointers, columns, blocks, problem.operator.diagonal, problem.q, problem.friction, r, k % 2 == 0)
        watch.iterations += 1
        if (k % CHECK_EVERY == CHECK_EVERY - 1 or k == iterations - 1) and watch.judge(r):
            break
    return watch.best
