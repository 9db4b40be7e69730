"""Gauss-Seidel iterations with momentum: for many contacts that slide at once, where other methods stall far away.

All sweeps go forward. Between two of them impulses, and with bodies what these add to the velocities, go on in the
direction of the last change,

    r ← r + β (r − r_old) ,   z ← z + β (z − z_old)                                                               (1)

with β of Nesterov's sequence below a cap. The momentum begins anew when the sweeps turn round, or when the change of a
sweep, which estimates the error, has grown; the cap follows the rate of convergence in windows of iterations. These
rules are those of contact groups, see `granular.momentum`; they look at

    e = Σ_i |W_ii (y_i − r_i)|² ,   (W_ii (y_i − r_i))·(r_i − r_old,i)   with y before and r after a sweep          (2)

Sphere piles in which all contacts slide in an impact (600 to 1,700 contacts) come to 1e-4 in some hundred sweeps and to
1e-6 in some ten thousand. It is no method for redundant contacts that slide: of tables on many feet it loses the way.

Source: docs/theory/contact_problems.md, (17); docs/theory/contact_groups.md, (6).
"""

import math
from collections import namedtuple
from typing import TYPE_CHECKING

import numpy as np

from fem_mbs.jit import kernel
from fem_mbs.solvers.contact_problem.body_sweeps import sweep as body_sweep
from fem_mbs.solvers.contact_problem.gauss_seidel import sweep as row_sweep
from fem_mbs.solvers.contact_problem.input import Unsuitable
from fem_mbs.solvers.contact_problem.operators import BodyOperator

if TYPE_CHECKING:
    from fem_mbs.solvers.contact_problem.scaled import ScaledProblem
    from fem_mbs.solvers.contact_problem.watch import Watch

CAP, LARGEST_CAP = 0.9, 0.98  # of β: where it begins, and how far it follows the rate of convergence
WINDOW = 40  # sweeps between two looks at that rate
GROWTH = 4.0  # of e since a restart that ends the momentum
CHECK_EVERY = 20  # sweeps between two tests of the error, at first
LONGEST = 200  # later
FIRST = 1000  # sweeps before the first look at the error; the next ones after
SECOND = 16_000  # so many, twice as many …: in between the error may stand still
PROMISE = 1e-4  # error up to which it is worth continuing then

State = namedtuple("State", "theta beta cap least sums before count")  # of the rules: one array, in this order


@kernel
def _note(estimate, work, state):
    """Decide on the momentum after a sweep with e and work of (2); state (7,) as in `State`."""
    theta, cap, least, count = state[0], state[2], min(state[3], estimate), state[6] + 1.0
    state[4] += estimate
    restart = work > 0.0
    if estimate > GROWTH * least:
        cap, restart = max(CAP, 1.0 - 2.0 * (1.0 - cap)), True
    if count == WINDOW:
        if state[5] > 0.0:
            rate = (state[4] / state[5]) ** (0.5 / WINDOW)
            if rate >= 1.0:
                cap, restart = max(CAP, 1.0 - 2.0 * (1.0 - cap)), True
            elif rate > math.sqrt(cap):
                d = math.sqrt((1.0 - rate) * (1.0 - cap))
                best = ((1.0 - d) / (1.0 + d)) ** 2
                cap = min(max(cap, min(best, 1.0 - 0.7 * (1.0 - cap))), LARGEST_CAP)
        state[5], state[4], count = state[4], 0.0, 0.0
    if restart:
        theta, beta, least = 1.0, 0.0, math.inf
    else:
        new = 0.5 * (1.0 + math.sqrt(1.0 + 4.0 * theta * theta))
        beta, theta = min((theta - 1.0) / new, cap), new
    state[0], state[1], state[2], state[3], state[6] = theta, beta, cap, least, count


@kernel
def _go_on(x, old, beta):
    """(1) for one array; keeps what it was before."""
    for i in range(x.shape[0]):
        for a in range(x.shape[1]):
            value = x[i, a]
            x[i, a] = value + beta * (value - old[i, a])
            old[i, a] = value


@kernel
def _look(diagonal, y, r, old, state):
    """Sums (2) over the contacts, and what follows from them."""
    n, d = r.shape
    estimate, work = 0.0, 0.0
    for i in range(n):
        changed = False
        for a in range(d):
            changed = changed or y[i, a] != r[i, a]
        if changed:
            for a in range(d):
                change = 0.0
                for b in range(d):
                    change += diagonal[i, a, b] * (y[i, b] - r[i, b])
                estimate += change * change
                work += change * (r[i, a] - old[i, a])
    _note(estimate, work, state)


@kernel
def sweeps_on_bodies(bodies, blocks, diagonal, q, mu, z, r, z_old, r_old, y, state, count):
    """``count`` sweeps with momentum; r (nc, d) and z (nb, m) = Gᵀ r, and those before, are replaced."""
    for _ in range(count):
        _go_on(r, r_old, state[1])
        _go_on(z, z_old, state[1])
        y[:, :] = r
        body_sweep(bodies, blocks, diagonal, 0.0, q, mu, z, r, True)
        _look(diagonal, y, r, r_old, state)


@kernel
def sweeps_on_rows(pointers, columns, blocks, diagonal, q, mu, r, r_old, y, state, count):
    """The same with W by block rows, which may be unsymmetric."""
    for _ in range(count):
        _go_on(r, r_old, state[1])
        y[:, :] = r
        row_sweep(pointers, columns, blocks, diagonal, q, mu, r, True)
        _look(diagonal, y, r, r_old, state)


class _Momentum:
    """Sweeps with momentum on r (nc, d), in place."""

    def __init__(self, problem: "ScaledProblem", r: np.ndarray) -> None:
        self.problem, self.r, self.r_old, self.y = problem, r, r.copy(), np.empty_like(r)
        self.state = np.array(State(1.0, 0.0, CAP, math.inf, 0.0, 0.0, 0.0))
        operator = problem.operator
        self.bodies = operator.bodies if isinstance(operator, BodyOperator) else None
        if self.bodies is not None:
            self.z = self.bodies.mass_scaled(r)
            self.z_old = self.z.copy()

    def __call__(self, count: int) -> None:
        p, diagonal = self.problem, self.problem.operator.diagonal
        if self.bodies is not None:
            sweeps_on_bodies(self.bodies.bodies, self.bodies.blocks, diagonal, p.q, p.friction, self.z, self.r,
                             self.z_old, self.r_old, self.y, self.state, count)  # fmt: skip
            self.z = self.bodies.mass_scaled(self.r)  # sweeps add up round-off
        else:
            sweeps_on_rows(*p.operator.block_rows(), diagonal, p.q, p.friction, self.r, self.r_old, self.y, self.state,
                           count)  # fmt: skip


def momentum(
    problem: "ScaledProblem",
    r: np.ndarray,
    watch: "Watch",
    *,
    iterations: int = 100_000,
    least: float | None = None,
) -> np.ndarray:
    """Improve r (nc, d) of a scaled problem by iterations with momentum; returns the best iterate of ``watch``.

    Parameters
    ----------
    iterations : number of iterations over all contacts
    least : float, optional
        Stop when the best error is above 1e-4 after 1000 sweeps, or when twice as many sweeps, of 16,000 and more, have
        not reduced it to this part.
    """
    if problem.relaxed:
        raise Unsuitable("Gauss-Seidel with momentum supports Coulomb's law, not the relaxed one; use 'hybrid', "
                         "'admm' or 'apgd'")  # fmt: skip
    r, done = r.copy(), 0
    improve, reference, looked = _Momentum(problem, r), math.inf, FIRST
    while done < iterations:
        # tests cost two sweeps: rarer, the more sweeps there were
        count = min(max(CHECK_EVERY, min(LONGEST, done // 20)), iterations - done)
        improve(count)
        done += count
        watch.iterations += count
        if watch.judge(r):
            break
        if least is not None and done >= looked:
            if watch.best_error > (PROMISE if reference == math.inf else least * reference):
                break
            looked = SECOND if reference == math.inf else 2 * done
            reference = watch.best_error
    return watch.best
