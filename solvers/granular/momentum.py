"""Gauss-Seidel iterations with momentum, until the error of all contacts is below the tolerance.

Between two iterations velocities and impulses go on in the direction of the last change,

    (v, s) ← (v, s) + β Δ(v, s) ,   r ← r + β Δr                                                                  (1)

with β of Nesterov's sequence below a cap. The cap, restarts where the change reverses or the error grows, and the
window by which the cap follows the rate of convergence are what makes (1) converge with Coulomb's law. After a window
without progress, or three, De Saxcé's term lags (`granular.sweeps`, (4)): the iterations may cycle otherwise. The
error costs two iterations, and is evaluated when the estimate of an iteration may be small enough.

Source: docs/theory/contact_groups.md, (6), (8).
"""

import math

from fem_mbs.jit import call2, kernel, matrix
from fem_mbs.solvers.granular import bodies, lanes, sweeps
from fem_mbs.solvers.granular.data import ADD, BODY_NUMBERS, ERROR, SIZE, SWEEP, copy_impulse
from fem_mbs.solvers.granular.obstacles.mechanism import mechanism_at

LOOK = 10  # iterations between two searches for pairs that have begun to close their gaps
WINDOW = 40  # iterations between two estimates of the rate of convergence
PATIENCE = 120  # iterations after which De Saxcé's term lags
GROWTH = 4.0  # of the squared error since a restart that ends the momentum
LARGEST_CAP = 0.98
LATE = 0.8  # of all iterations: then bodies with arms lag if their error is coarse; their relaxed contacts are inexact
COARSE = 1e-3  # error above which the lag helps; it is slow to the last digits
LESS = 0.7  # of the lowest cap, where the error grows among contacts that share one light obstacle, and oscillates
LESS_LATE = 0.9  # the same where De Saxcé's term lags
CHEAP = 20000  # iterations times pairs: 0.2 ms of single spheres
JUDGE = 2.4  # times the squared tolerance: estimates at which the error itself is looked at


@kernel
def size_of_problem(p):
    """‖q̂‖² with the present velocities."""
    if p.resists != 0:
        call2(p.turning_part, p.self_at, SIZE)
        return p.answer
    total = bodies.size_of_problem(p) if p.clumps != 0 else sweeps.size_of_problem(p)
    if p.coupled < 0:
        call2(p.mechanism_part, p.self_at, SIZE)
        total += p.answer
    return total


@kernel
def add_impulses(p):
    """Add the impulses of all pairs to the velocities."""
    if p.clumps != 0:
        bodies.add_impulses(p)
    else:
        sweeps.add_impulses(p)
    if p.coupled < 0:
        call2(p.mechanism_part, p.self_at, ADD)
    if p.resists != 0:
        call2(p.turning_part, p.self_at, ADD)


@kernel
def _sweep(p, beta):
    p.beta = beta
    if p.resists != 0:
        call2(p.turning_part, p.self_at, SWEEP)
        return p.answer, p.work
    estimate, work = bodies.sweep(p, beta) if p.clumps != 0 else lanes.sweep(p, beta)
    if p.coupled < 0:
        call2(p.mechanism_part, p.self_at, SWEEP)
        return estimate + p.answer, work + p.work
    return estimate, work


@kernel
def _error_of(p):
    if p.resists != 0:
        call2(p.turning_part, p.self_at, ERROR)
        return p.answer
    if p.clumps == 0:
        lanes.put_back(p)
    total = bodies.error_of(p) if p.clumps != 0 else sweeps.error_of(p)
    if p.coupled < 0:
        call2(p.mechanism_part, p.self_at, ERROR)
        total += p.answer
    return total


@kernel
def _extrapolate(g, before, beta):
    """(1) for the velocities, the first six columns of g; keeps those of before."""
    for i in range(g.shape[0]):
        for j in range(6):
            v = g[i, j]
            if beta > 0.0:
                g[i, j] = v + beta * (v - before[i, j])
            before[i, j] = v


@kernel
def _begin(p):
    """Impulses of one iteration ago are the present ones, no pair of particles is listed, and nothing lags."""
    p.sweeps, p.lagged = 0, 0
    if p.clumps == 0:
        lanes.begin(p)
    if p.clumps == 0 and p.coupled == 0:
        return  # lanes keep their own
    for c in range(p.count):
        copy_impulse(p.pairs[c], p.last[c])
        if p.resists != 0:
            for j in range(3):
                p.last_moments[c, j] = p.moments[c].moment_impulse[j]


@kernel
def _begin_lag(p):
    """Solve Coulomb's law with a lag in the next iterations over pairs of bodies; lanes have σ of their own."""
    p.lagged = 1
    for c in range(p.count):
        p.slide[c] = 0.0


@kernel
def _fitted(cap, rate):
    """Cap of the momentum for a rate of convergence per iteration, from the present one."""
    if rate <= math.sqrt(cap):
        return cap
    d = math.sqrt((1.0 - rate) * (1.0 - cap))
    best = ((1.0 - d) / (1.0 + d)) ** 2
    return min(max(cap, min(best, 1.0 - 0.7 * (1.0 - cap))), LARGEST_CAP)


@kernel
def accuracy(p):
    """Error to which the last problem was solved, between the tolerances."""
    return min(p.tolerance, max(p.fine, p.error))


@kernel
def solve(p, q_square):
    """Iterate until the error is below the tolerance; velocities and impulses belong together at the start.

    It is that of ``p.fine`` as long as the iterations are cheap: few pairs are solved to this. Fills p.error, p.sweeps;
    True when the tolerance was reached.
    """
    _begin(p)
    coarse, factor = p.tolerance * p.tolerance * q_square, JUDGE
    fine = p.fine * p.fine * q_square
    theta, beta, cap, least = 1.0, 0.0, p.cap, math.inf
    lowest, less = p.cap, LESS if p.coupled < 0 else 1.0
    sums, sums_before, error = 0.0, 0.0, math.inf
    for k in range(p.most):
        if k % LOOK == 0 and p.clumps == 0:
            lanes.look(p)
        if p.clumps != 0:
            _extrapolate(matrix(p.bodies_at, p.bodies.shape[0], BODY_NUMBERS), p.before, beta)
        else:
            lanes.extrapolate(p, beta)
        if p.coupled < 0:
            o = mechanism_at(p.mechanism_at)[0]
            _extrapolate(o.v, o.before, beta)
        target = fine if (k + 1) * p.count <= CHEAP else coarse
        estimate, work = _sweep(p, beta)
        p.sweeps += 1
        sums += estimate
        least = min(least, estimate)
        if estimate <= factor * target:
            error = _error_of(p)
            if error <= target:
                p.error = math.sqrt(error / q_square) if q_square > 0.0 else 0.0
                return True
            factor = 0.7 * min(factor, estimate / error)
        restart, smaller = work > 0.0, 1.0 - 2.0 * (1.0 - cap)
        if estimate > GROWTH * least:
            lowest *= less
            cap, restart = max(lowest, smaller), True
        if (k + 1) % WINDOW == 0:
            stalled = False
            if sums_before > 0.0:
                rate = (sums / sums_before) ** (0.5 / WINDOW)
                if rate < 1.0:
                    cap = _fitted(cap, rate)
                else:
                    lowest *= less
                    cap, restart, stalled = max(lowest, smaller), True, True
            if (stalled or k + 1 >= PATIENCE) and p.clumps == 0 and p.relaxed == 0 and p.lagged == 0:
                lanes.begin_lag(p)
                less, restart = min(less, LESS_LATE), True
            sums_before, sums = sums, 0.0
            late = p.clumps != 0 and p.resists + p.relaxed + p.lagged == 0 and k >= LATE * p.most
            if late and _error_of(p) > max(coarse, COARSE * COARSE * q_square):
                _begin_lag(p)
                restart = True
        if restart:
            theta, beta, least = 1.0, 0.0, math.inf
        else:
            new = 0.5 * (1.0 + math.sqrt(1.0 + 4.0 * theta * theta))
            beta, theta = min((theta - 1.0) / new, cap), new
    p.error = math.sqrt(_error_of(p) / q_square) if q_square > 0.0 else 0.0
    return p.error <= p.tolerance
