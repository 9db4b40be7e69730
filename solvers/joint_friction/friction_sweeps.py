"""Statuses of many joints with friction: Gauss-Seidel iterations on their rows, where Newton's iteration cycles.

The velocity problem without friction, and the response of rates and reactions to a unit impulse of each row,

    γ_i = γ_i⁰ + Σ_j D_ij Λ_j ,    R = R⁰ + Σ_j Y_j Λ_j                                                              (1)

leave one unknown for each row. Gauss-Seidel iterations set one after the other, several directions together

    Λ_j ← Λ_j − γ_j/D_jj , cut off at ±μ_j h N_j(R/h)                                                               (2)

(of several directions D_jj is a bound of the largest eigenvalue of their block, and the length of Λ_j is cut off)

(in the impact of a split step at the bound of `joint_friction.friction_touch`, (1), with the impulses since the touch)

which converges for frozen bounds, and with them for ρ(K) < 1; a joint with κ ≥ 1 grows until it sticks. Only statuses
are taken from it: Newton's iteration with these held gives the solution. Forces that depend on velocities, and
contacts, are those of the problem without friction meanwhile.

Source: docs/theory/joint_friction.md, (11).
"""

from fem_mbs.jit import N_SLOTS, integers, kernel
from fem_mbs.solvers.joint_friction.friction_touch import bound_of_impulses, in_impact, past_impulse
from fem_mbs.solvers.stepping.kernels.newton import solve
from fem_mbs.system.friction import (
    SLIP,
    STICK,
    directions_of,
    friction_groups,
    friction_of,
    length_of,
    row_times,
    row_times_reduced,
    rows_of,
)  # fmt: skip
from fem_mbs.system.gather import gather_motion

MOST_SWEEPS = 2000
SETTLED = 1e-12  # change of an impulse in an iteration, relative to the largest


@kernel
def without_friction(d, s):
    """Solve the problem with all rows free; leaves it in W and Λ."""
    for g in friction_groups(d):
        for r in range(rows_of(g)):
            kept = friction_of(g, r)
            kept.prescribed, kept.trial_status = -1.0, SLIP
            kept.impulse = past_impulse(s, kept)
    solve(s, s.velocity_problem, s.max_iterations)


@kernel
def couple(d, s):
    """Fill D of (1) from the responses."""
    respond, D = s.respond, s.mobility
    for g in friction_groups(d):
        for r in range(rows_of(g)):
            for j in range(d.n_friction):
                D[g.first_friction + r, j] = row_times_reduced(d, g, r, respond[j])


@kernel
def stiffest(g, e, D):
    """D of (2) of element e: of several directions a bound of the largest eigenvalue of their block."""
    n = directions_of(g)
    first, largest = g.first_friction + n * e, 0.0
    if n == 1:
        return D[first, first]
    for i in range(first, first + n):
        total = 0.0
        for j in range(first, first + n):
            total += abs(D[i, j])
        largest = max(largest, total)
    return largest


@kernel
def sweep(d, s, b, part):
    """Perform one Gauss-Seidel iteration of (2); return the largest change of an impulse, relative to the largest,
    each over the effective mass.
    """
    D, respond, rates, R = s.mobility, s.respond, s.row_rates, s.row_reactions
    changed = largest = 0.0
    for g in friction_groups(d):
        n = directions_of(g)
        for e in range(g.n):
            mobility, head = stiffest(g, e, D), friction_of(g, n * e)
            if not mobility > 0.0:
                continue
            gather_motion(d, g, e, b, s.x, s.R, s.V)
            bound = head.coefficient * bound_of_impulses(d, s, g, e, b, R, 1.0, R, 0.0)
            bound = head.bound_share * bound + head.added_bound
            squares = 0.0
            for r in range(n * e, n * e + n):
                kept = friction_of(g, r)
                kept.residual = kept.impulse - past_impulse(s, kept) - rates[g.first_friction + r] / mobility
                squares += kept.residual**2
            size = length_of(n, squares, head.residual)
            for r in range(n * e, n * e + n):
                kept, j = friction_of(g, r), g.first_friction + r
                new = kept.residual
                if size > bound:
                    new = bound * (kept.residual / size)
                kept.trial_status = STICK if size < bound else SLIP
                if n == 1:
                    kept.trial_sign = -1.0 if new > 0.0 else 1.0
                elif size > 0.0:
                    kept.trial_sign = -kept.residual / size
                change = part * (new - (kept.impulse - past_impulse(s, kept)))
                kept.impulse += change
                for i in range(d.n_friction):
                    rates[i] += D[i, j] * change
                for i in range(d.m):
                    R[i] += s.kv * respond[j, d.n + i] * change
                changed, largest = max(changed, abs(change) * mobility), max(largest, abs(new) * mobility)
    return changed / largest if largest > 0.0 else 0.0


@kernel
def settle(d, s, b, part):
    """Iterate (2), of which ``part`` is taken each time, until it has settled."""
    for _ in range(MOST_SWEEPS):
        if sweep(d, s, b, part) <= SETTLED:
            break


@kernel
def sweep_statuses(d, s):
    """Prescribe the statuses that projected Gauss-Seidel iterations give, with their impulses as a first guess.

    Responses are known.
    """
    b = integers(d.table_at, N_SLOTS)
    without_friction(d, s)
    couple(d, s)
    for g in friction_groups(d):
        for r in range(rows_of(g)):
            s.row_rates[g.first_friction + r] = row_times(g, r, s.V) + friction_of(g, r).given_rate
    for i in range(d.m):
        past = -s.kv * s.touch_Lam[i] if in_impact(s) else s.h * s.ks * s.lam[i]
        s.row_reactions[i] = past + s.kv * s.Lam[i]
    settle(d, s, b, 1.0)
    for g in friction_groups(d):
        for r in range(rows_of(g)):
            friction_of(g, r).prescribed = 1.0
