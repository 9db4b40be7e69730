"""Block projected Gauss-Seidel: contacts are solved exactly one after the other with the newest values of the others.

The right start for every problem and a poor finisher for tall stacks, arches and mass ratios. Sweeps run forth and
back; over-relaxation is not used because it loses sliding contacts. With bodies each pair of sweeps is followed by the
best step

    r ← P_K(r + a g + b p),   g change of this pair, p the whole last step,   (a, b) = argmin ½ rᵀ W r + qᵀ r        (1)

that is conjugate gradients preconditioned by the sweeps while the contacts stick. Piles at rest then take 60 sweeps to
1e-6 instead of 650 (1,000 spheres), walls 800 instead of some thousands; where much slides (1) does harm, and it is
given up when the error grows.

Source: formulation-contact-problem-solver, section 4.1; (1) devised here.
"""

import numpy as np

from fem_mbs.jit import kernel, local_vector
from fem_mbs.solvers.contact_bodies import accelerated_sweeps
from fem_mbs.solvers.contact_bodies import sweep as body_sweep
from fem_mbs.solvers.contact_one import solve_one
from fem_mbs.solvers.contact_operators import BodyOperator

CHECK_EVERY = 10  # sweeps between two tests of the error
GROWTH, LOOKS, FAILURES = 10.0, 10, 3  # when accelerated sweeps are given up


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


def gauss_seidel(problem, r, watch, *, iterations=1000, accelerated=True, least=None):
    """Improve r (nc, d) of a scaled problem by sweeps; returns the best iterate of ``watch``.

    Parameters
    ----------
    iterations : number of sweeps
    accelerated : bool
        Whether to take the steps (1) after each pair of sweeps; problems given by bodies only. They are given up when
        they do not pay.
    least : float, optional
        Stop when 30 sweeps have not reduced the error to this part.
    """
    r, reference = r.copy(), np.inf
    improve = _Accelerated(problem, r) if accelerated and isinstance(problem.operator, BodyOperator) else None
    plain = sweeper(problem, r) if improve is None else None
    done = 0
    while done < iterations:
        count = min(CHECK_EVERY, iterations - done)
        if improve is not None and improve.on:
            improve(count)
        else:
            plain = plain or sweeper(problem, r)
            for k in range(count):
                plain((done + k) % 2 == 0)
        done += count
        watch.iterations += count
        if watch.judge(r):
            break
        if least is not None and done % 30 == 0:
            if watch.best_error > least * reference:
                break
            reference = watch.best_error
        if improve is not None and improve.on:
            improve.look_at(watch.history[-1][1])
    return watch.best


class _Accelerated:
    """Accelerated sweeps on r (nc, d), in place, and the decision to give them up.

    Attributes
    ----------
    on : bool
    """

    def __init__(self, problem, r):
        self.problem, self.bodies, self.r = problem, problem.operator.bodies, r
        self.z = self.bodies.mass_scaled(r)
        self.p, self.p_z = np.zeros_like(r), np.zeros_like(self.z)
        self.on, self.failures, self.since_best, self.best = True, 0, 0, (np.inf, r.copy())

    def __call__(self, count):
        problem, bodies = self.problem, self.bodies
        accelerated_sweeps(bodies.bodies, bodies.blocks, bodies.diagonal, problem.q, problem.friction, self.z, self.r,
                           self.p, self.p_z, (count + 1) // 2)  # fmt: skip

    def look_at(self, error):
        """Go back to the best iterate when the error has grown tenfold or not fallen in ten looks; thrice: stop."""
        if error < self.best[0]:
            self.best, self.since_best = (error, self.r.copy()), 0
            return
        self.since_best += 1
        if error > GROWTH * self.best[0] or self.since_best > LOOKS:
            self.r[:] = self.best[1]
            self.z[:] = self.bodies.mass_scaled(self.r)
            self.p[:], self.p_z[:], self.since_best = 0.0, 0.0, 0
            self.failures += 1
            self.on = self.failures < FAILURES
