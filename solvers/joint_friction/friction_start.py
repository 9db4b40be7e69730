"""Joint friction in consistent accelerations: at the start of a run, and where the memory of the method starts again.

    M v̇ − Gᵀ λ − G_Fᵀ λ_F = f ,     stick  G_F v̇ + γ_2 = 0 ,     slip  λ_F + s μ_k N(λ) = 0                          (1)

with γ_2 = vᵀ H_F v + ∂²γ/∂t². N is linearised about the multipliers of the last solution, exactly so where it is a sum
of absolute values, and (1) solved again until it has converged. What sticks and needs more than μ_s N slides at once,
against its friction; what was let slide so and accelerates backwards sticks. With several directions s is the direction
d of sliding. Of what was let slide it is that of the acceleration α = G_F v̇ + γ_2, found by Newton's iteration

    ξ = λ_F − p α ,   d = −ξ/|ξ| ,   λ_F + b d = 0                                                                  (2)

Source: docs/theory/joint_friction.md, (12).

    symbol         field of FRICTION    meaning
    λ_F            smooth_force         [N, N m]
    γ_2            given_acceleration   with G_F v̇ of the accelerations that (1) is solved from, for what is missing
    N − ∂N/∂λ λ    normal_offset        at the last multipliers
    λ~_F           last_smooth_force    of the smooth motion before
"""

import math

from fem_mbs.jit import N_SLOTS, SLOT, integers, kernel, matrix, vector
from fem_mbs.solvers.contact.law import GAP
from fem_mbs.solvers.joint_friction.friction_touch import in_impact
from fem_mbs.system.contacts import contact_groups, contacts_of, gradient_times
from fem_mbs.system.friction import (
    SLIP,
    STICK,
    add_row,
    add_turns,
    clear_block,
    coefficient_at,
    coefficients_of,
    directions_of,
    evaluate_bound,
    evaluate_row,
    friction_groups,
    friction_of,
    given_acceleration,
    gradients_of,
    length_of,
    row_times,
    row_times_reduced,
    rows_in,
    rows_of,
    scatter_block,
    smooth_status,
)
from fem_mbs.system.gather import gather_motion
from fem_mbs.system.global_matrices import full_norm, matrix_values
from fem_mbs.system.records import SMOOTH

_KK = SLOT["K"]
AT_REST = 10.0  # times the speed that is none
LINEAR = 1e-11  # relative error of N that is left
ROUND = 1e-11  # of all forces: what repeated solutions leave
MOST_CHANGES = 3.0  # of the status of a joint
ALIGNED = 1e-9  # change of that direction that is left


@kernel
def status_by_rate(s, g, e):
    """Set saved status, direction of sliding and rates γ of element e by the rates alone, which are in ``trial_rate``.

    What is at rest in several directions has the first of them as its direction.
    """
    n, squares = directions_of(g), 0.0
    head = friction_of(g, n * e)
    for r in range(n * e, n * e + n):
        squares += friction_of(g, r).trial_rate ** 2
    size = length_of(n, squares, head.trial_rate)
    rests = head.arm * size <= AT_REST * s.slow
    for r in range(n * e, n * e + n):
        kept = friction_of(g, r)
        kept.status, kept.rate = STICK if rests else SLIP, kept.trial_rate
        if n == 1:
            kept.sign = -1.0 if kept.rate < 0.0 else 1.0
        elif rests:
            kept.sign = 1.0 if r == n * e else 0.0
        else:
            kept.sign = kept.rate / size


@kernel
def start_statuses(d, s):
    """Set the saved part at the start of a run: statuses by velocities, no forces yet."""
    b = integers(d.table_at, N_SLOTS)
    for g in friction_groups(d):
        stored, n = gradients_of(g), directions_of(g)
        for e in range(g.n):
            for r in range(n * e, n * e + n):
                kept, moves = friction_of(g, r), False
                kept.trial_rate = evaluate_row(d, g, r, b, s.x, s.R, s.V)
                for i in range(g.nd):
                    moves = moves or (i % 6 < 3 and stored[r, i] != 0.0)
                kept.arm = 1.0 if moves else s.size
                kept.smooth_force = kept.force = kept.work = kept.kappa = kept.jammed = 0.0
                kept.effective_mass = s.mean_mass * kept.arm**2
            status_by_rate(s, g, e)


@kernel
def end_jump(d, s):
    """Set saved statuses by the velocities after a jump; add the work dissipated in it, −Λ times the mean of both γ."""
    b = integers(d.table_at, N_SLOTS)
    for g in friction_groups(d):
        n = directions_of(g)
        for e in range(g.n):
            for r in range(n * e, n * e + n):
                kept = friction_of(g, r)
                kept.trial_rate = evaluate_row(d, g, r, b, s.x, s.R, s.V)
                kept.work -= 0.5 * kept.impulse * (row_times(g, r, s.V0) + kept.given_rate + kept.trial_rate)
                kept.impulse = 0.0
            status_by_rate(s, g, e)


@kernel
def new_speeds(d, s):
    """Set saved statuses, between two steps, of rows whose surface has another speed now, as at the start."""
    b = integers(d.table_at, N_SLOTS)
    for g in friction_groups(d):
        n = directions_of(g)
        for e in range(g.n):
            other = False
            for r in range(n * e, n * e + n):
                kept = friction_of(g, r)
                kept.trial_rate = evaluate_row(d, g, r, b, s.x, s.R, s.V)
                other = other or kept.arm * abs(kept.trial_rate - kept.rate) > AT_REST * s.slow
            if other:
                status_by_rate(s, g, e)


@kernel
def keep_bound(d, g, e, b, lam):
    """Evaluate N at multipliers lam (m,), its slope, and N − ∂N/∂λ λ."""
    n, row = directions_of(g), integers(g.joint_rows_at, g.n)[e]
    kept = friction_of(g, n * e)
    offset = evaluate_bound(d, g, e, b, lam, 1.0, lam, 0.0)
    for i in range(g.nr):
        offset -= kept.slope[i] * lam[row + i]
    for r in range(n * e, n * e + n):
        friction_of(g, r).normal_offset = offset


@kernel
def begin_accelerations(d, s):
    """Rows at the present state, with the rates of the accelerations in ``s.trial``; bounds by the last reactions."""
    b = integers(d.table_at, N_SLOTS)
    for g in friction_groups(d):
        n = directions_of(g)
        for r in range(rows_of(g)):
            kept = friction_of(g, r)
            kept.given_acceleration = given_acceleration(d, g, r, b, s.x, s.R, s.V) + row_times(g, r, s.trial)
            kept.turning = kept.status_changes = kept.excluded = 0.0
            if r % n == n - 1:
                keep_bound(d, g, r // n, b, s.lam_report)
            kept.last_smooth_force = kept.smooth_force


@kernel
def acceleration_tangents(d, s):
    """Add the rows of (1) to the matrix of the smooth motion, which has k = 1."""
    b, values = integers(d.table_at, N_SLOTS), matrix_values(d, SMOOTH)
    for g in friction_groups(d):
        nd, n, stored = g.nd, directions_of(g), gradients_of(g)
        size = nd + n + g.nr
        S = matrix(b[_KK], size, size)
        for e in range(g.n):
            clear_block(S, nd, n)
            for k in range(n):
                r, row = n * e + k, nd + k
                kept = friction_of(g, r)
                status = smooth_status(kept)
                for i in range(nd):
                    S[i, row] -= stored[r, i]
                    if status == STICK:
                        S[row, i] -= stored[r, i]
                S[row, row] -= shift_of(s, kept) if status == STICK else 1.0
                if status == SLIP:
                    for i in range(g.nr):
                        S[row, nd + n + i] -= kept.sign * coefficients_of(g, r).sliding * kept.slope[i]
                    add_turns(S, g, e, k, 1.0, kept.effective_mass, True)
            scatter_block(g.maps_at[SMOOTH], e, S, nd, n, values)


@kernel
def shift_of(s, kept):
    """Proximal shift of a row that sticks."""
    return s.epsilon / (s.mean_mass * kept.arm**2)


@kernel
def given_turn(g, r):
    """What the given accelerations of an element turn the friction of row r by in (2)."""
    n, kept, along = directions_of(g), friction_of(g, r), 0.0
    if kept.turning == 0.0:
        return 0.0
    first = r // n * n
    for m in range(first, first + n):
        along += friction_of(g, m).correction_sign * friction_of(g, m).given_acceleration
    return kept.turning * kept.effective_mass * (kept.given_acceleration - kept.correction_sign * along)


@kernel
def acceleration_right(d, s):
    """Right-hand sides of the rows of (1), in dx."""
    right = rows_in(d, SMOOTH, s.dx_at)
    for g in friction_groups(d):
        for r in range(rows_of(g)):
            kept, row = friction_of(g, r), 0.0
            status = smooth_status(kept)
            if status == STICK:
                row = kept.given_acceleration - shift_of(s, kept) * kept.smooth_force
            elif status == SLIP:
                row = kept.sign * coefficients_of(g, r).sliding * kept.normal_offset + given_turn(g, r)
            right[g.first_friction + r] = row


@kernel
def lags_right(d, s):
    """Right-hand sides of the rows that stick, in dx, for what `nsga.scheme.forget_lag` solves."""
    right = rows_in(d, SMOOTH, s.dx_at)
    for g in friction_groups(d):
        for r in range(rows_of(g)):
            if smooth_status(friction_of(g, r)) == STICK:
                right[g.first_friction + r] = -row_times(g, r, s.trial)


@kernel
def take_accelerations(d, s):
    """Friction from the solution in dx."""
    solution = rows_in(d, SMOOTH, s.dx_at)
    for g in friction_groups(d):
        for r in range(rows_of(g)):
            friction_of(g, r).smooth_force = solution[g.first_friction + r]


@kernel
def knows_forces(d, s):
    """True if reactions of the smooth motion are those of the model: closed contacts that it leaves out act as well.

    Contacts that open in the impact of a split step do not act after it.
    """
    split = in_impact(s)
    for g in contact_groups(d):
        contact = contacts_of(g)
        for e in range(g.n):
            c = g.first_contact + e
            if s.was_active[c] != 0 and s.closed[c] == GAP:
                if not split or gradient_times(g, e, contact.G_N[e], s.V) <= s.tol_v:
                    return False
    return True


@kernel
def lets_go(g, e, most):
    """True if element e sticks with more than ``most``: it slides from then on, against its friction."""
    n, squares = directions_of(g), 0.0
    head = friction_of(g, n * e)
    for r in range(n * e, n * e + n):
        squares += friction_of(g, r).smooth_force ** 2
    size = length_of(n, squares, head.smooth_force)
    if not size > most:
        return False
    for r in range(n * e, n * e + n):
        kept = friction_of(g, r)
        kept.status, kept.sign = SLIP, -kept.smooth_force / size
    return True


@kernel
def acceleration_along(d, g, e, dx):
    """Acceleration of element e in its direction of sliding; leaves α of (2) for accelerations dx in ``trial_rate``."""
    n, along = directions_of(g), 0.0
    for r in range(n * e, n * e + n):
        kept = friction_of(g, r)
        kept.trial_rate = row_times_reduced(d, g, r, dx) + kept.given_acceleration
        along += kept.trial_rate * kept.sign
    return along


@kernel
def stick_again(g, e):
    """Let element e stick, which was let slide."""
    n = directions_of(g)
    for r in range(n * e, n * e + n):
        friction_of(g, r).status, friction_of(g, r).turning = STICK, 0.0


@kernel
def turns(g, e, bound):
    """True if several directions of element e, whose accelerations are in ``trial_rate``, have another d of (2)."""
    n, squares, change = directions_of(g), 0.0, 0.0
    if n == 1:
        return False
    for r in range(n * e, n * e + n):
        kept = friction_of(g, r)
        kept.residual = kept.smooth_force - kept.effective_mass * kept.trial_rate
        squares += kept.residual**2
    size = math.sqrt(squares)
    if not size > 0.0:
        return False
    for r in range(n * e, n * e + n):
        kept = friction_of(g, r)
        change = max(change, abs(kept.sign + kept.residual / size))
        kept.sign = kept.correction_sign = -kept.residual / size
        kept.turning = min(bound / size, 1.0)
    return change > ALIGNED


@kernel
def check_accelerations(d, s):
    """True if (1) has to be solved once more: N has not converged, or a joint sticks or slides that cannot.

    The solution is in dx. Without the forces of closed contacts N is not known, nor then what cannot stick.
    """
    b, again, known = integers(d.table_at, N_SLOTS), False, knows_forces(d, s)
    dx, noise = vector(s.dx_at, d.n), ROUND * full_norm(d, s.f, s.length)
    for g in friction_groups(d):
        n = directions_of(g)
        for e in range(g.n):
            kept, row = friction_of(g, n * e), integers(g.joint_rows_at, g.n)[e]
            linear = kept.normal_offset
            for i in range(g.nr):
                linear += kept.slope[i] * s.lam[row + i]
            gather_motion(d, g, e, b, s.x, s.R, s.V)
            keep_bound(d, g, e, b, s.lam)
            changes, changed = known and kept.status_changes < MOST_CHANGES, 0.0
            status, open_ = smooth_status(kept), False
            if status == STICK:
                most = coefficients_of(g, n * e).static * kept.normal_force + noise * kept.arm
                if changes and lets_go(g, e, most):
                    changed, open_ = 1.0, True
            elif status == SLIP:
                open_ = abs(kept.normal_force - linear) > LINEAR * kept.normal_force
                if kept.status_changes > 0.0 and known:
                    backwards = acceleration_along(d, g, e, dx) < 0.0
                    if changes and backwards and not open_:
                        stick_again(g, e)
                        changed, open_ = 1.0, True
                    elif turns(g, e, coefficients_of(g, n * e).sliding * kept.normal_force):
                        open_ = True
            for r in range(n * e, n * e + n):
                friction_of(g, r).status_changes += changed
                friction_of(g, r).unsettled = 1.0 if open_ else 0.0
            again = again or open_
    return again


@kernel
def add_jumps(d, s):
    """Add the change of friction since the smooth motion to the full vector s.f."""
    for g in friction_groups(d):
        for r in range(rows_of(g)):
            kept = friction_of(g, r)
            add_row(g, r, kept.smooth_force - kept.last_smooth_force, s.f)


@kernel
def last_forces(d):
    """Set the friction with which the next step begins, from consistent accelerations."""
    for g in friction_groups(d):
        for r in range(rows_of(g)):
            friction_of(g, r).start_force = friction_of(g, r).smooth_force


@kernel
def report_start(d):
    """Set the saved part at the start of a run: friction from consistent accelerations, and its bound."""
    for g in friction_groups(d):
        for r in range(rows_of(g)):
            kept, mu = friction_of(g, r), coefficients_of(g, r)
            kept.force, kept.start_force, kept.pass_number = kept.smooth_force, kept.smooth_force, -1.0  # no step yet
            kept.bound = coefficient_at(mu, kept.status) * kept.normal_force
