"""Block projected Gauss-Seidel: contacts are solved exactly one after the other with the newest values of the others.

The right start for every problem and a poor finisher for tall stacks, arches and mass ratios. Sweeps run forth and
back; over-relaxation is not used because it loses sliding contacts. With bodies a pair of iterations is followed by
Anderson's combination with the last three pairs,

    r ← P_K(g − Σ_j c_j (g − g_j)),   c = argmin |f − Σ_j c_j (f − f_j)|,   g end of a pair, f its change            (1)

which looks for a small change, not for a small energy, and so takes sliding contacts as they are. Spheres poured into a
box (600 to 1,900 contacts) come to 1e-4 in 40 to 140 sweeps instead of 150 to 660, 5,000 contacts of a pile at rest to
1e-6 in 90 instead of 650. Where contacts change their state (1) goes astray: when the error has not halved in 40 sweeps
some plain ones follow, from the best point.

Source: docs/theory/contact_problems.md, (19); (1) Anderson 1965, elementary, safeguards devised here.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from fem_mbs.jit import kernel, local_vector
from fem_mbs.solvers.contact_problem.body_sweeps import accelerated_sweeps
from fem_mbs.solvers.contact_problem.body_sweeps import sweep as body_sweep
from fem_mbs.solvers.contact_problem.input import Unsuitable
from fem_mbs.solvers.contact_problem.one import solve_one
from fem_mbs.solvers.contact_problem.operators import BodyOperator

if TYPE_CHECKING:
    from fem_mbs.solvers.contact_problem.scaled import ScaledProblem
    from fem_mbs.solvers.contact_problem.watch import Watch

CHECK_EVERY = 10  # sweeps between two tests of the error
MEMORY = 3  # pairs that (1) looks back on
PATIENCE = 4  # checks in which the error must halve while sweeps are accelerated
PAUSE, LONGEST = 4, 20  # checks of plain sweeps when it has not: the first time, and at most; doubled each time
GROWTH = 10.0  # of the error that ends accelerated sweeps at once


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


def sweeper(
    problem: "ScaledProblem", r: np.ndarray, shift: float = 0.0, q: np.ndarray | None = None
) -> Callable[[bool], None]:
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


def gauss_seidel(
    problem: "ScaledProblem",
    r: np.ndarray,
    watch: "Watch",
    *,
    iterations: int = 1000,
    accelerated: bool = True,
    least: float | None = None,
) -> np.ndarray:
    """Improve r (nc, d) of a scaled problem by Gauss-Seidel iterations; returns the best iterate of ``watch``.

    Parameters
    ----------
    iterations : number of iterations over all contacts
    accelerated : bool
        Whether to combine them as in (1) while that pays; problems given by bodies only.
    least : float, optional
        Stop when 30 sweeps have not reduced the error to this part.
    """
    if problem.relaxed:
        raise Unsuitable("Gauss-Seidel solves contacts by Coulomb's law, not by the relaxed one; take 'hybrid', "
                         "'admm' or 'apgd'")  # fmt: skip
    r, reference, done = r.copy(), np.inf, 0
    improve = _Sweeps(problem, r, accelerated and isinstance(problem.operator, BodyOperator))
    while done < iterations:
        count = min(CHECK_EVERY, iterations - done)
        improve(count)
        done += count
        watch.iterations += count
        if watch.judge(r):
            break
        if least is not None and done % 30 == 0:
            if watch.best_error > least * reference:
                break
            reference = watch.best_error
        improve.look_at(watch.history[-1][1])
    return watch.best


class _Sweeps:
    """Sweeps on r (nc, d), in place: accelerated ones while the error falls, plain ones in between.

    Attributes
    ----------
    on : bool, whether the next sweeps are accelerated
    """

    def __init__(self, problem: "ScaledProblem", r: np.ndarray, accelerated: bool) -> None:
        self.problem, self.r, self.on, self.plain = problem, r, accelerated, None
        self.best, self.reference, self.checks, self.pause = (np.inf, r), np.inf, 0, PAUSE
        self.forward, self.kept = True, None
        if accelerated:
            self.R, self.F = np.empty((MEMORY + 1, *r.shape)), np.empty((MEMORY + 1, *r.shape))
            self._begin()

    def _begin(self):
        self.z, self.kept = self.problem.operator.bodies.mass_scaled(self.r), 0

    def __call__(self, count):
        if self.on:
            bodies, p = self.problem.operator.bodies, self.problem
            self.kept = accelerated_sweeps(bodies.bodies, bodies.blocks, bodies.diagonal, p.q, p.friction, self.z,
                                           self.r, self.R, self.F, self.kept, (count + 1) // 2)  # fmt: skip
            return
        if self.plain is None:
            self.plain = sweeper(self.problem, self.r)
        for _ in range(count):
            self.plain(self.forward)
            self.forward = not self.forward

    def look_at(self, error: float) -> None:
        """Decide on the next sweeps by the error after the last."""
        if self.kept is None:
            return
        self.checks += 1
        if self.on:
            if error < self.best[0]:
                self.best = error, self.r.copy()
            if error < 0.5 * self.reference:
                self.reference, self.checks = error, 0
            elif self.checks >= PATIENCE or error > GROWTH * self.best[0]:
                self.r[:] = self.best[1]
                self.on, self.plain, self.checks = False, None, 0
        elif self.checks >= self.pause:
            self.on, self.reference, self.checks = True, error, 0
            self.best, self.pause = (error, self.r.copy()), min(2 * self.pause, LONGEST)
            self._begin()
