"""Joint friction in consistent accelerations: at the start of a run, and where the memory of the method starts again.

    M v̇ − Gᵀ λ − G_Fᵀ λ_F = f ,     stick  G_F v̇ + γ_2 = 0 ,     slip  λ_F + s μ_k N(λ) = 0                          (1)

with γ_2 = vᵀ H_F v + ∂²γ/∂t². N is linearised about the multipliers of the last solution, exactly so where it is a sum
of absolute values, and (1) solved again until it has converged. What sticks and needs more than μ_s N slides at once,
against its friction; what was let slide so and accelerates backwards sticks.

Source: docs/theory/joint_friction.md, (12).

    symbol         field of FRICTION    meaning
    λ_F            smooth_force         [N, N m]
    γ_2            given_acceleration   with G_F v̇ of the accelerations that (1) is solved from, for what is missing
    N − ∂N/∂λ λ    normal_offset        at the last multipliers
    λ~_F           last_smooth_force    of the smooth motion before
"""

from fem_mbs.jit import N_SLOTS, SLOT, integers, kernel, matrix, tensor, vector
from fem_mbs.solvers.contact.law import GAP
from fem_mbs.solvers.joint_friction.friction_touch import in_impact
from fem_mbs.system.contacts import contact_groups, contacts_of, gradient_times
from fem_mbs.system.friction import (
    SLIP,
    STICK,
    add_row,
    clear_block,
    coefficient_at,
    coefficients_of,
    curvature,
    evaluate_bound,
    evaluate_row,
    friction_groups,
    friction_of,
    row_times,
    row_times_reduced,
    rows_in,
    scatter_block,
    smooth_status,
)
from fem_mbs.system.gather import gather_motion
from fem_mbs.system.global_matrices import full_norm, matrix_values
from fem_mbs.system.records import SMOOTH

_H, _KK, _V, _GTT = SLOT["H"], SLOT["K"], SLOT["v"], SLOT["gtt"]
AT_REST = 10.0  # times tol_v
LINEAR = 1e-11  # relative error of N that is left
ROUND = 1e-11  # of all forces: what repeated solutions leave
MOST_CHANGES = 3.0  # of the status of a joint


@kernel
def status_by_rate(s, kept, rate):
    """Set saved status, direction of sliding and rate γ by the rate alone."""
    rests = kept.arm * abs(rate) <= AT_REST * s.tol_v
    kept.status, kept.sign = STICK if rests else SLIP, -1.0 if rate < 0.0 else 1.0
    kept.rate = rate


@kernel
def start_statuses(d, s):
    """Set the saved part at the start of a run: statuses by velocities, no forces yet."""
    b = integers(d.table_at, N_SLOTS)
    for g in friction_groups(d):
        stored = tensor(g.G_at, g.n, 1, g.nd)
        for e in range(g.n):
            kept = friction_of(g, e)
            rate, moves = evaluate_row(d, g, e, b, s.x, s.R, s.V), False
            for i in range(g.nd):
                moves = moves or (i % 6 < 3 and stored[e, 0, i] != 0.0)
            kept.arm = 1.0 if moves else s.size
            status_by_rate(s, kept, rate)
            kept.smooth_force = kept.force = kept.work = kept.kappa = kept.jammed = 0.0
            kept.effective_mass = s.mean_mass * kept.arm**2


@kernel
def end_jump(d, s):
    """Set saved statuses by the velocities after a jump; add the work dissipated in it, −Λ times the mean of both γ."""
    b = integers(d.table_at, N_SLOTS)
    for g in friction_groups(d):
        for e in range(g.n):
            kept = friction_of(g, e)
            rate = evaluate_row(d, g, e, b, s.x, s.R, s.V)
            kept.work -= 0.5 * kept.impulse * (row_times(g, e, s.V0) + kept.given_rate + rate)
            status_by_rate(s, kept, rate)
            kept.impulse = 0.0


@kernel
def new_speeds(d, s):
    """Set saved statuses, between two steps, of rows whose surface has another speed now, as at the start."""
    b = integers(d.table_at, N_SLOTS)
    for g in friction_groups(d):
        for e in range(g.n):
            kept = friction_of(g, e)
            rate = evaluate_row(d, g, e, b, s.x, s.R, s.V)
            if kept.arm * abs(rate - kept.rate) > AT_REST * s.tol_v:
                status_by_rate(s, kept, rate)


@kernel
def keep_bound(d, g, e, b, lam):
    """Evaluate N at multipliers lam (m,), its slope, and N − ∂N/∂λ λ."""
    kept, row = friction_of(g, e), integers(g.joint_rows_at, g.n)[e]
    kept.normal_offset = evaluate_bound(d, g, e, b, lam, 1.0, lam, 0.0)
    for i in range(g.nr):
        kept.normal_offset -= kept.slope[i] * lam[row + i]


@kernel
def begin_accelerations(d, s):
    """Rows at the present state, with the rates of the accelerations in ``s.trial``; bounds by the last reactions."""
    b = integers(d.table_at, N_SLOTS)
    for g in friction_groups(d):
        H, ve = matrix(b[_H], g.nd, g.nd), vector(b[_V], g.nd)
        for e in range(g.n):
            kept = friction_of(g, e)
            evaluate_row(d, g, e, b, s.x, s.R, s.V)
            kept.given_acceleration, kept.status_changes, kept.excluded = vector(b[_GTT], 1)[0], 0.0, 0.0
            curvature(d, g, e, b)
            for i in range(g.nd):
                for j in range(g.nd):
                    kept.given_acceleration += ve[i] * H[i, j] * ve[j]
            kept.given_acceleration += row_times(g, e, s.trial)
            keep_bound(d, g, e, b, s.lam_report)
            kept.last_smooth_force = kept.smooth_force


@kernel
def acceleration_tangents(d, s):
    """Add the rows of (1) to the matrix of the smooth motion, which has k = 1."""
    b, values = integers(d.table_at, N_SLOTS), matrix_values(d, SMOOTH)
    for g in friction_groups(d):
        nd, size, stored = g.nd, g.nd + 1 + g.nr, tensor(g.G_at, g.n, 1, g.nd)
        S = matrix(b[_KK], size, size)
        for e in range(g.n):
            kept = friction_of(g, e)
            status = smooth_status(kept)
            clear_block(S, nd)
            for i in range(nd):
                S[i, nd] -= stored[e, 0, i]
                if status == STICK:
                    S[nd, i] -= stored[e, 0, i]
            S[nd, nd] -= shift_of(s, kept) if status == STICK else 1.0
            if status == SLIP:
                for i in range(g.nr):
                    S[nd, nd + 1 + i] -= kept.sign * coefficients_of(g, e).sliding * kept.slope[i]
            scatter_block(g.maps_at[SMOOTH], e, S, nd, values)


@kernel
def shift_of(s, kept):
    """Proximal shift of a row that sticks."""
    return s.epsilon / (s.mean_mass * kept.arm**2)


@kernel
def acceleration_right(d, s):
    """Right-hand sides of the rows of (1), in dx."""
    right = rows_in(d, SMOOTH, s.dx_at)
    for g in friction_groups(d):
        for e in range(g.n):
            kept, row = friction_of(g, e), 0.0
            status = smooth_status(kept)
            if status == STICK:
                row = kept.given_acceleration - shift_of(s, kept) * kept.smooth_force
            elif status == SLIP:
                row = kept.sign * coefficients_of(g, e).sliding * kept.normal_offset
            right[g.first_friction + e] = row


@kernel
def lags_right(d, s):
    """Right-hand sides of the rows that stick, in dx, for what `nsga.scheme.forget_lag` solves."""
    right = rows_in(d, SMOOTH, s.dx_at)
    for g in friction_groups(d):
        for e in range(g.n):
            if smooth_status(friction_of(g, e)) == STICK:
                right[g.first_friction + e] = -row_times(g, e, s.trial)


@kernel
def take_accelerations(d, s):
    """Friction from the solution in dx."""
    solution = rows_in(d, SMOOTH, s.dx_at)
    for g in friction_groups(d):
        for e in range(g.n):
            friction_of(g, e).smooth_force = solution[g.first_friction + e]


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
def check_accelerations(d, s):
    """True if (1) has to be solved once more: N has not converged, or a joint sticks or slides that cannot.

    The solution is in dx. Without the forces of closed contacts N is not known, nor then what cannot stick.
    """
    b, again, known = integers(d.table_at, N_SLOTS), False, knows_forces(d, s)
    dx, noise = vector(s.dx_at, d.n), ROUND * full_norm(d, s.f, s.length)
    for g in friction_groups(d):
        for e in range(g.n):
            kept, row = friction_of(g, e), integers(g.joint_rows_at, g.n)[e]
            linear = kept.normal_offset
            for i in range(g.nr):
                linear += kept.slope[i] * s.lam[row + i]
            gather_motion(d, g, e, b, s.x, s.R, s.V)
            keep_bound(d, g, e, b, s.lam)
            force, changes = kept.smooth_force, known and kept.status_changes < MOST_CHANGES
            status, open_ = smooth_status(kept), False
            if status == STICK:
                if changes and abs(force) > coefficients_of(g, e).static * kept.normal_force + noise * kept.arm:
                    kept.status, kept.sign = SLIP, -1.0 if force > 0.0 else 1.0
                    kept.status_changes, open_ = kept.status_changes + 1.0, True
            elif status == SLIP and abs(kept.normal_force - linear) > LINEAR * kept.normal_force:
                open_ = True
            elif status == SLIP and kept.status_changes > 0.0 and changes:
                if (row_times_reduced(d, g, e, dx) + kept.given_acceleration) * kept.sign < 0.0:
                    kept.status, kept.status_changes, open_ = STICK, kept.status_changes + 1.0, True
            kept.unsettled, again = 1.0 if open_ else 0.0, again or open_
    return again


@kernel
def add_jumps(d, s):
    """Add the change of friction since the smooth motion to the full vector s.f."""
    for g in friction_groups(d):
        for e in range(g.n):
            kept = friction_of(g, e)
            add_row(g, e, kept.smooth_force - kept.last_smooth_force, s.f)


@kernel
def last_forces(d):
    """Set the friction with which the next step begins, from consistent accelerations."""
    for g in friction_groups(d):
        for e in range(g.n):
            friction_of(g, e).start_force = friction_of(g, e).smooth_force


@kernel
def report_start(d):
    """Set the saved part at the start of a run: friction from consistent accelerations, and its bound."""
    for g in friction_groups(d):
        for e in range(g.n):
            kept, mu = friction_of(g, e), coefficients_of(g, e)
            kept.force, kept.start_force, kept.pass_number = kept.smooth_force, kept.smooth_force, -1.0  # no step yet
            kept.bound = coefficient_at(mu, kept.status) * kept.normal_force
