"""Joint friction in consistent accelerations: at the start of a run, and where the memory of the method starts again.

    M v̇ − Gᵀ λ − G_Fᵀ λ_F = f ,     stick  G_F v̇ + γ_2 = 0 ,     slip  λ_F + s μ_k N(λ) = 0                          (1)

with γ_2 = vᵀ H_F v + ∂²γ/∂t². N is linearised about the multipliers of the last solution, exactly so where it is a sum
of absolute values, and (1) solved again until it has converged. What sticks and needs more than μ_s N slides at once,
against its friction; what was let slide so and accelerates backwards sticks.

Source: docs/theory/joint_friction.md, (12).

    symbol             code        meaning
    λ_F                F_SMOOTH    [N, N m]
    γ_2                F_ROW       of the row; with G_F v̇ of accelerations that (1) is solved from, for what is missing
    N − ∂N/∂λ λ        F_BEFORE    at the last multipliers
    λ~_F               F_MU        of the smooth motion before
"""

from fem_mbs.jit import N_SLOTS, SLOT, integers, kernel, matrix, tensor, vector
from fem_mbs.solvers.contact.law import GAP
from fem_mbs.solvers.joint_friction.friction_touch import in_impact
from fem_mbs.system.contacts import contact_groups, contacts_of, gradient_times
from fem_mbs.system.friction import (
    F_ARM,
    F_BEFORE,
    F_BOUND,
    F_CHANGES,
    F_FORCE,
    F_GT,
    F_IMPULSE,
    F_JAM,
    F_KAPPA,
    F_LAST,
    F_MASS,
    F_MU,
    F_N,
    F_OPEN,
    F_OUT,
    F_PASS,
    F_RATE,
    F_ROW,
    F_SIGN,
    F_SLOPE,
    F_SMOOTH,
    F_STATUS,
    F_WORK,
    SLIP,
    STICK,
    add_row,
    clear_block,
    coefficients_of,
    curvature,
    evaluate_bound,
    evaluate_row,
    row_times,
    row_times_reduced,
    scatter_block,
    smooth_status,
    states_of,
)
from fem_mbs.system.gather import gather_motion
from fem_mbs.system.global_matrices import full_norm, matrix_values
from fem_mbs.system.records import SMOOTH, groups_of, layouts_of

_H, _KK, _V, _GTT = SLOT["H"], SLOT["K"], SLOT["v"], SLOT["gtt"]
AT_REST = 10.0  # times tol_v
LINEAR = 1e-11  # relative error of N that is left
ROUND = 1e-11  # of all forces: what repeated solutions leave
MOST_CHANGES = 3.0  # of the status of a joint


@kernel
def start_statuses(d, s):
    """Statuses at the start of a run, by velocities; nothing is known of forces."""
    b, groups = integers(d.table_at, N_SLOTS), groups_of(d)
    for a in range(d.n_groups):
        g = groups[a]
        if g.friction == 0:
            continue
        stored = tensor(g.G_at, g.n, 1, g.nd)
        for e in range(g.n):
            kept = states_of(g)[e]
            rate, moves = evaluate_row(d, g, e, b, s.x, s.R, s.V), False
            for i in range(g.nd):
                moves = moves or (i % 6 < 3 and stored[e, 0, i] != 0.0)
            kept[F_ARM], kept[F_RATE] = 1.0 if moves else s.size, rate
            rests = kept[F_ARM] * abs(rate) <= AT_REST * s.tol_v
            kept[F_STATUS], kept[F_SIGN] = STICK if rests else SLIP, -1.0 if rate < 0.0 else 1.0
            kept[F_SMOOTH] = kept[F_FORCE] = kept[F_WORK] = kept[F_KAPPA] = kept[F_JAM] = 0.0
            kept[F_MASS] = s.mean_mass * kept[F_ARM] ** 2


@kernel
def end_jump(d, s):
    """Statuses by the velocities after a jump, and what friction took in it: −Λ times the mean of both γ."""
    b, groups = integers(d.table_at, N_SLOTS), groups_of(d)
    for a in range(d.n_groups):
        g = groups[a]
        if g.friction == 0:
            continue
        for e in range(g.n):
            kept = states_of(g)[e]
            rate = evaluate_row(d, g, e, b, s.x, s.R, s.V)
            kept[F_WORK] -= 0.5 * kept[F_IMPULSE] * (row_times(g, e, s.V0) + kept[F_GT] + rate)
            rests = kept[F_ARM] * abs(rate) <= AT_REST * s.tol_v
            kept[F_STATUS], kept[F_SIGN] = STICK if rests else SLIP, -1.0 if rate < 0.0 else 1.0
            kept[F_RATE], kept[F_IMPULSE] = rate, 0.0


@kernel
def new_speeds(d, s):
    """Statuses between two steps, of rows whose surface has another speed now: by the velocities, as at the start."""
    b, groups = integers(d.table_at, N_SLOTS), groups_of(d)
    for a in range(d.n_groups):
        g = groups[a]
        if g.friction == 0:
            continue
        for e in range(g.n):
            kept = states_of(g)[e]
            rate, slow = evaluate_row(d, g, e, b, s.x, s.R, s.V), AT_REST * s.tol_v
            if kept[F_ARM] * abs(rate - kept[F_RATE]) > slow:
                rests = kept[F_ARM] * abs(rate) <= slow
                kept[F_STATUS], kept[F_SIGN] = STICK if rests else SLIP, -1.0 if rate < 0.0 else 1.0
                kept[F_RATE] = rate


@kernel
def keep_bound(d, g, e, b, s, lam):
    """N at multipliers lam (m,), its slope, and what the slope leaves of it."""
    kept, row = states_of(g)[e], integers(g.joint_rows_at, g.n)[e]
    kept[F_BEFORE] = evaluate_bound(d, g, e, b, lam, 1.0, lam, 0.0)
    for i in range(g.nr):
        kept[F_BEFORE] -= kept[F_SLOPE + i] * lam[row + i]


@kernel
def begin_accelerations(d, s):
    """Rows at the present state, with the rates of the accelerations in ``s.trial``; bounds by the last reactions."""
    b, groups = integers(d.table_at, N_SLOTS), groups_of(d)
    for a in range(d.n_groups):
        g = groups[a]
        if g.friction == 0:
            continue
        H, ve = matrix(b[_H], g.nd, g.nd), vector(b[_V], g.nd)
        for e in range(g.n):
            kept = states_of(g)[e]
            evaluate_row(d, g, e, b, s.x, s.R, s.V)
            kept[F_ROW], kept[F_CHANGES], kept[F_OUT] = vector(b[_GTT], 1)[0], 0.0, 0.0
            curvature(d, g, e, b)
            for i in range(g.nd):
                for j in range(g.nd):
                    kept[F_ROW] += ve[i] * H[i, j] * ve[j]
            kept[F_ROW] += row_times(g, e, s.trial)
            keep_bound(d, g, e, b, s, s.lam_report)
            kept[F_MU] = kept[F_SMOOTH]


@kernel
def acceleration_tangents(d, s):
    """Add the rows of (1) to the matrix of the smooth motion, which has k = 1."""
    b, groups, values = integers(d.table_at, N_SLOTS), groups_of(d), matrix_values(d, SMOOTH)
    for a in range(d.n_groups):
        g = groups[a]
        if g.friction == 0:
            continue
        nd, size, mu, stored = g.nd, g.nd + 1 + g.nr, coefficients_of(g), tensor(g.G_at, g.n, 1, g.nd)
        S = matrix(b[_KK], size, size)
        for e in range(g.n):
            kept = states_of(g)[e]
            status = smooth_status(kept)
            clear_block(S, nd)
            for i in range(nd):
                S[i, nd] -= stored[e, 0, i]
                if status == STICK:
                    S[nd, i] -= stored[e, 0, i]
            S[nd, nd] -= shift_of(s, kept) if status == STICK else 1.0
            if status == SLIP:
                for i in range(g.nr):
                    S[nd, nd + 1 + i] -= kept[F_SIGN] * mu[e, 1] * kept[F_SLOPE + i]
            scatter_block(g.maps_at[SMOOTH], e, S, nd, values)


@kernel
def shift_of(s, kept):
    """Proximal shift of a row that sticks."""
    return s.epsilon / (s.mean_mass * kept[F_ARM] ** 2)


@kernel
def acceleration_right(d, s):
    """Right-hand sides of the rows of (1), in dx."""
    groups, dx, first = groups_of(d), vector(s.dx_at, layouts_of(d)[SMOOTH].n), layouts_of(d)[SMOOTH].n - d.n_friction
    for a in range(d.n_groups):
        g = groups[a]
        if g.friction == 0:
            continue
        mu = coefficients_of(g)
        for e in range(g.n):
            kept, right = states_of(g)[e], 0.0
            status = smooth_status(kept)
            if status == STICK:
                right = kept[F_ROW] - shift_of(s, kept) * kept[F_SMOOTH]
            elif status == SLIP:
                right = kept[F_SIGN] * mu[e, 1] * kept[F_BEFORE]
            dx[first + g.first_friction + e] = right


@kernel
def lags_right(d, s):
    """Right-hand sides of the rows that stick, in dx, for what `nsga.scheme.forget_lag` solves."""
    groups, dx, first = groups_of(d), vector(s.dx_at, layouts_of(d)[SMOOTH].n), layouts_of(d)[SMOOTH].n - d.n_friction
    for a in range(d.n_groups):
        g = groups[a]
        if g.friction != 0:
            for e in range(g.n):
                if smooth_status(states_of(g)[e]) == STICK:
                    dx[first + g.first_friction + e] = -row_times(g, e, s.trial)


@kernel
def take_accelerations(d, s):
    """Friction from the solution in dx."""
    groups, dx, first = groups_of(d), vector(s.dx_at, layouts_of(d)[SMOOTH].n), layouts_of(d)[SMOOTH].n - d.n_friction
    for a in range(d.n_groups):
        g = groups[a]
        if g.friction != 0:
            for e in range(g.n):
                states_of(g)[e, F_SMOOTH] = dx[first + g.first_friction + e]


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
    """Whether (1) is to be solved once more: N has not converged, or a joint sticks or slides that cannot.

    The solution is in dx. Without the forces of closed contacts N is not known, nor then what cannot stick.
    """
    b, groups, again, known = integers(d.table_at, N_SLOTS), groups_of(d), False, knows_forces(d, s)
    dx, noise = vector(s.dx_at, d.n), ROUND * full_norm(d, s.f, s.length)
    for a in range(d.n_groups):
        g = groups[a]
        if g.friction == 0:
            continue
        mu = coefficients_of(g)
        for e in range(g.n):
            kept, row = states_of(g)[e], integers(g.joint_rows_at, g.n)[e]
            linear = kept[F_BEFORE]
            for i in range(g.nr):
                linear += kept[F_SLOPE + i] * s.lam[row + i]
            gather_motion(d, g, e, b, s.x, s.R, s.V)
            keep_bound(d, g, e, b, s, s.lam)
            force, changes = kept[F_SMOOTH], known and kept[F_CHANGES] < MOST_CHANGES
            status, open_ = smooth_status(kept), False
            if status == STICK:
                if changes and abs(force) > mu[e, 0] * kept[F_N] + noise * kept[F_ARM]:
                    kept[F_STATUS], kept[F_SIGN] = SLIP, -1.0 if force > 0.0 else 1.0
                    kept[F_CHANGES], open_ = kept[F_CHANGES] + 1.0, True
            elif status == SLIP and abs(kept[F_N] - linear) > LINEAR * kept[F_N]:
                open_ = True
            elif status == SLIP and kept[F_CHANGES] > 0.0 and changes:
                if (row_times_reduced(d, g, e, dx) + kept[F_ROW]) * kept[F_SIGN] < 0.0:
                    kept[F_STATUS], kept[F_CHANGES], open_ = STICK, kept[F_CHANGES] + 1.0, True
            kept[F_OPEN], again = 1.0 if open_ else 0.0, again or open_
    return again


@kernel
def add_jumps(d, s):
    """Add to the full vector s.f what friction has changed by since the smooth motion."""
    groups = groups_of(d)
    for a in range(d.n_groups):
        g = groups[a]
        if g.friction != 0:
            for e in range(g.n):
                kept = states_of(g)[e]
                add_row(g, e, kept[F_SMOOTH] - kept[F_MU], s.f)


@kernel
def last_forces(d):
    """Friction that the next step begins with, from consistent accelerations."""
    groups = groups_of(d)
    for a in range(d.n_groups):
        g = groups[a]
        if g.friction != 0:
            for e in range(g.n):
                states_of(g)[e, F_LAST] = states_of(g)[e, F_SMOOTH]


@kernel
def report_start(d):
    """Friction at the start of a run, from consistent accelerations."""
    groups = groups_of(d)
    for a in range(d.n_groups):
        g = groups[a]
        if g.friction == 0:
            continue
        mu = coefficients_of(g)
        for e in range(g.n):
            kept = states_of(g)[e]
            kept[F_FORCE], kept[F_LAST], kept[F_PASS] = kept[F_SMOOTH], kept[F_SMOOTH], -1.0  # no step yet
            kept[F_BOUND] = (mu[e, 0] if kept[F_STATUS] == STICK else mu[e, 1]) * kept[F_N]
