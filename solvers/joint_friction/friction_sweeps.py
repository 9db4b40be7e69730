"""Statuses of many joints with friction: Gauss-Seidel iterations on their rows, where Newton's iteration cycles.

The velocity problem without friction, and the response of rates and reactions to a unit impulse of each row,

    γ_i = γ_i⁰ + Σ_j D_ij Λ_j ,    R = R⁰ + Σ_j Y_j Λ_j                                                              (1)

leave one unknown for each row. Gauss-Seidel iterations set one after the other

    Λ_j ← Λ_j − γ_j/D_jj , cut off at ±μ_j h N_j(R/h)                                                               (2)

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
    friction_groups,
    friction_of,
    row_times,
    row_times_reduced,
)  # fmt: skip
from fem_mbs.system.gather import gather_motion

MOST_SWEEPS = 2000
SETTLED = 1e-12  # change of an impulse in an iteration, relative to the largest


@kernel
def without_friction(d, s):
    """Solve the problem with all rows free; leaves it in W and Λ."""
    for g in friction_groups(d):
        for e in range(g.n):
            kept = friction_of(g, e)
            kept.prescribed, kept.trial_status = -1.0, SLIP
            kept.impulse = past_impulse(s, kept)
    solve(s, s.velocity_problem, s.max_iterations)


@kernel
def couple(d, s):
    """Fill D of (1) from the responses."""
    respond, D = s.respond, s.mobility
    for g in friction_groups(d):
        for e in range(g.n):
            for j in range(d.n_friction):
                D[g.first_friction + e, j] = row_times_reduced(d, g, e, respond[j])


@kernel
def sweep(d, s, b, part):
    """Perform one Gauss-Seidel iteration of (2); return the largest change of an impulse, relative to the largest,
    each over the effective mass.
    """
    D, respond, rates, R = s.mobility, s.respond, s.row_rates, s.row_reactions
    changed = largest = 0.0
    for g in friction_groups(d):
        for e in range(g.n):
            kept, j = friction_of(g, e), g.first_friction + e
            if not D[j, j] > 0.0:
                continue
            gather_motion(d, g, e, b, s.x, s.R, s.V)
            bound = kept.coefficient * bound_of_impulses(d, s, g, e, b, R, 1.0, R, 0.0)
            bound = kept.bound_share * bound + kept.added_bound
            old = kept.impulse - past_impulse(s, kept)
            new = min(max(old - rates[j] / D[j, j], -bound), bound)
            kept.trial_status = STICK if abs(new) < bound else SLIP
            kept.trial_sign = -1.0 if new > 0.0 else 1.0
            change = part * (new - old)
            kept.impulse += change
            for i in range(d.n_friction):
                rates[i] += D[i, j] * change
            for i in range(d.m):
                R[i] += s.kv * respond[j, d.n + i] * change
            changed, largest = max(changed, abs(change) * D[j, j]), max(largest, abs(new) * D[j, j])
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
        for e in range(g.n):
            s.row_rates[g.first_friction + e] = row_times(g, e, s.V) + friction_of(g, e).given_rate
    for i in range(d.m):
        past = -s.kv * s.touch_Lam[i] if in_impact(s) else s.h * s.ks * s.lam[i]
        s.row_reactions[i] = past + s.kv * s.Lam[i]
    settle(d, s, b, 1.0)
    for g in friction_groups(d):
        for e in range(g.n):
            friction_of(g, e).prescribed = 1.0
