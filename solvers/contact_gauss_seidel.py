"""Block projected Gauss-Seidel: contacts are solved exactly one after the other with the newest values of the others.

The right start for every problem and a poor finisher for tall stacks, arches and mass ratios. Sweeps run forth and
back; over-relaxation is not used because it loses sliding contacts.

Source: formulation-contact-problem-solver, section 4.1.
"""

import numpy as np

from fem_mbs.jit import kernel, local_vector
from fem_mbs.solvers.contact_bodies import sweep as body_sweep
from fem_mbs.solvers.contact_one import solve_one
from fem_mbs.solvers.contact_operators import BodyOperator

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


def sweeper(problem, r, shift=0.0, q=None):
    """Function forward → None that improves r (nc, d) in place by one sweep; with bodies without forming W.

    ``shift`` and ``q`` make it the problem of W + shift I and another q.
    """
    operator, q, mu = problem.operator, problem.q if q is None else q, problem.friction
    diagonal = operator.diagonal + shift * np.eye(r.shape[1]) if shift else operator.diagonal
    if isinstance(operator, BodyOperator):
        bodies = operator.bodies
        z = bodies.mass_scaled(r)
        return lambda forward: body_sweep(bodies.bodies, bodies.blocks, diagonal, shift, q, mu, z, r, forward)
    rows = operator.block_rows()
    return lambda forward: sweep(*rows, diagonal, q, mu, r, forward)


def gauss_seidel(problem, r, watch, *, iterations=1000):
    """Improve r (nc, d) of a scaled problem by sweeps; returns the best iterate of ``watch``."""
    r = r.copy()
    improve = sweeper(problem, r)
    for k in range(iterations):
        improve(k % 2 == 0)
        watch.iterations += 1
        if (k % CHECK_EVERY == CHECK_EVERY - 1 or k == iterations - 1) and watch.judge(r):
            break
    return watch.best
