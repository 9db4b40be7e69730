"""Smooth sub-problem of the decoupled scheme (docs/theory/decoupled_nsga.md, (7)-(12)): contacts take no part, unless
they are closed and the method keeps them (`nsga.persistent`).
"""

import math

from fem_mbs.jit import call2, entry, integers, kernel, vector
from fem_mbs.solvers.nsga.data import (
    LARGE_ROTATION,
    NOT_CONVERGED,
    NOT_FINITE,
    OK,
    ROUND_OFF,
    SINGULAR,
    largest,
    norm,
    remember,
    run_at,
    system_at,
)
from fem_mbs.solvers.nsga.entry import leave_cones
from fem_mbs.solvers.nsga.persistent import closed_forces, closed_tangents, sliding_directions
from fem_mbs.system.assembly import (
    SMOOTH,
    add_constraint_forces,
    advance_configuration,
    clear_matrix,
    constraint_tangents,
    constraints,
    dynamics,
    expand_add,
    factorise,
    full_norm,
    reduce_vector,
    solve_in_place,
    update_states,
    zero,
)
from fem_mbs.system.contacts import contacts

FAR = 10.0  # residual, relative to the forces at the start of the step
LATE = 6  # iterations before steps that raise the residual are shortened in any case
SHORTEST = 1e-3  # part of a Newton step
TRIALS = 5  # trial points per iteration allowed
DOWN = 0.3  # slope along a Newton step at which its search ends, relative to that at its start


@kernel
def mixed_update(d, s, dx, x, R, T, trial):
    """Update the states of mixed elements with δθ = T(D) δD of this iteration."""
    zero(s.trial_at, 6 * d.n_nodes)
    expand_add(d, s.c_q, dx, trial)
    for i in range(d.n_nodes):
        a, b, c = trial[i, 3], trial[i, 4], trial[i, 5]
        for j in range(3):
            trial[i, 3 + j] = T[i, j, 0] * a + T[i, j, 1] * b + T[i, j, 2] * c
    update_states(d, x, R, trial)


@kernel
def take_back(d, s, part, dx, Vs, Vd, D, lam):
    """Undo a part of the Newton step dx."""
    expand_add(d, -part, dx, Vs)
    expand_add(d, -part * s.c_a, dx, Vd)
    expand_add(d, -part * s.c_q, dx, D)
    for i in range(d.m):
        lam[i] -= part * dx[d.n + i]
    if s.persistent != 0:
        clam, mchi = vector(s.clam_at, 3 * d.nc), s.mchi
        roll, at = integers(d.roll_index_at, d.nc), d.n + d.m
        for i in range(3 * d.nc):
            clam[i] -= part * dx[at + i]
        if d.n_roll > 0:
            for c in range(d.nc):
                for i in range(3 if roll[c] >= 0 else 0):
                    mchi[c, i] -= part * dx[at + 3 * d.nc + 3 * roll[c] + i]


@kernel
def slope_along(d, r1, r, dx):
    """Residual r1 times the Newton step, over the free components; r (n,) is scratch.

    The step is one of a nearly convex problem: negative at its start, zero where the residual along it vanishes.
    """
    reduce_vector(d, r1, r)
    total = 0.0
    for i in range(d.n):
        total += r[i] * dx[i]
    return total


@kernel
def stand_still(d, s, Vs, Vd, D):
    """Guess for the smooth sub-problem without motion in the step, where the prediction is senseless."""
    for i in range(d.n_nodes):
        for j in range(6):
            change = D[i, j] / s.c_q
            Vs[i, j] -= change
            Vd[i, j] -= s.c_a * change
            D[i, j] = 0.0


@entry("void(int64, int64)")
def smooth_residual(data, run):
    """r1 = M v̇~ − f − Gᵀφ (full, in r1) and G v~ + ∂g/∂t (in rate) at the current q~, v~; leaves both norms in
    s.dynamic, s.row, that of the normal rows of closed contacts in s.row_T.

    With ``s.want_matrix`` the matrix of the sub-problem is assembled in the same pass.
    """
    d, s = system_at(data)[0], run_at(run)[0]
    N, m, tangents = d.n_nodes, d.m, s.want_matrix != 0
    x, R, V = s.xs, s.Rs, s.Vs
    Vd, T = s.Vd, s.T
    Ma, f, r1, Gl = s.Ma, s.f, s.r1, s.Gl
    g, rate, lam, phi = s.g, s.rate, s.lam, s.phi
    if tangents:
        clear_matrix(d, SMOOTH)
    single = dynamics(d, SMOOTH, x, R, V, Vd, Ma, f, tangents, s.c_a, 1.0, s.c_q, s.c_q, T, s.mixed != 0)
    Gw = s.Gw  # moments of closed contacts, which the position correction does not know
    zero(s.Gl_at, 6 * N)
    zero(s.Gw_at, 6 * N)
    if m > 0:
        constraints(d, x, R, V, g, rate)
        for i in range(m):
            phi[i] = s.ks * lam[i] - s.ps * rate[i]
        add_constraint_forces(d, 1.0, phi, Gl)
    missing = 0.0
    if s.persistent != 0:
        contacts(d, x, R, s.x0, s.R0, V)
        closed_forces(d, s, V, Gl, Gw, s.rows_c, s.rows_chi)
        rows, missing_N = s.rows_c, 0.0
        for c in range(d.nc):
            missing_N += rows[c, 0] ** 2
            missing += rows[c, 1] ** 2 + rows[c, 2] ** 2
        if d.n_roll > 0:
            missing += norm(vector(s.rows_chi_at, 3 * d.nc), 3 * d.nc) ** 2
        missing, s.row_T = math.sqrt(missing), math.sqrt(missing_N)
    for i in range(6 * N):
        r1[i] = Ma[i] - f[i] - Gl[i] - Gw[i]
    if tangents and m > 0:
        shift = s.epsilon_rows * s.ks
        constraint_tangents(d, SMOOTH, x, R, V, phi, s.c_q, s.c_q, s.ks, s.ps, shift, False, T)
    if tangents and s.persistent != 0:
        closed_tangents(d, s, x, R, V, s.ks, s.c_q, T)
    # forces of single elements: net nodal forces cancel in a stressed structure at rest, whose round-off they would
    # not see
    s.F_s = full_norm(d, Ma, s.length) + max(full_norm(d, f, s.length), math.sqrt(single)) + full_norm(d, Gl, s.length)
    s.F_s = max(s.F_s, s.reference_force)
    s.dynamic, s.row = full_norm(d, r1, s.length), norm(rate, m) + missing


@entry("void(int64, int64)")
def smooth(data, run):
    """Solve the smooth sub-problem."""
    d, s = system_at(data)[0], run_at(run)[0]
    N, n, m = d.n_nodes, d.n, d.m
    x0, Q0 = s.x0, s.Q0
    xs, Qs, Rs, Vs = s.xs, s.Qs, s.Rs, s.Vs
    V0, Va0, Vd0 = s.V0, s.Va0, s.Vd0
    Va, Vd, D, T = s.Va, s.Vd, s.D, s.T
    nc = d.nc if s.persistent != 0 else 0
    turning = d.n_roll if s.persistent != 0 else 0
    size = n + m + 3 * nc + 3 * turning
    r, dx = vector(s.r_at, size), vector(s.dx_at, size)
    rows, clam = vector(s.rows_c_at, 3 * nc), vector(s.clam_at, 3 * nc)
    rows_chi, mchi, roll = s.rows_chi, s.mchi, integers(d.roll_index_at, nc)
    r1, rate, lam = s.r1, s.rate, s.lam
    trial = s.trial
    h, counts = s.h, s.counts
    # predict: v̇~ of the last step as first guess
    for i in range(N):
        for j in range(6):
            Vd[i, j] = Vd0[i, j]
            star = (s.alpha_f * Vd0[i, j] - s.alpha_m * Va0[i, j]) / (1.0 - s.alpha_m)
            Va[i, j] = star
            Vs[i, j] = V0[i, j] + h * (1.0 - s.gamma) * Va0[i, j] + h * s.gamma * star + Vd[i, j] / s.c_a
            D[i, j] = h * V0[i, j] + h * h * ((0.5 - s.beta) * Va0[i, j] + s.beta * star) + s.c_q / s.c_a * Vd[i, j]
    if s.persistent != 0:
        advance_configuration(d, x0, Q0, D, xs, Qs, Rs, T)
        contacts(d, xs, Rs, x0, s.R0, Vs)
        sliding_directions(d, s, Vs)
    counts[5] = 0
    fresh, before, moved, checked = True, 0.0, math.inf, s.persistent == 0
    scale = 0.0
    searches = s.mixed == 0
    # search along a Newton step: part of it taken, bracket of the zero of the slope along it, slope at its start
    taken, low, low_slope, high, high_slope, start_slope = 1.0, 0.0, 0.0, math.inf, 0.0, 0.0
    iteration, trials, stood = 0, 0, False
    while True:
        turn = 0.0
        for i in range(N):
            turn = max(turn, D[i, 3] ** 2 + D[i, 4] ** 2 + D[i, 5] ** 2)
        if turn > 9.0:
            if iteration == 0 and not stood and s.mixed == 0:
                stood = True
                stand_still(d, s, Vs, Vd, D)
                continue
            if not searches or iteration == 0 or taken <= SHORTEST:
                s.code = LARGE_ROTATION
                return
            taken *= 0.25
            take_back(d, s, 3.0 * taken, dx, Vs, Vd, D, lam)
            high, high_slope = 4.0 * taken, 0.0
            continue
        advance_configuration(d, x0, Q0, D, xs, Qs, Rs, T)
        s.want_matrix = 1 if iteration == 0 else 0
        call2(s.smooth_residual_part, s.data_at, s.run_at)
        dynamic, row = s.dynamic, s.row
        if not (math.isfinite(dynamic) and math.isfinite(row)):
            s.code = NOT_FINITE
            return
        s.scale_v = max(s.scale_v, largest(Vs))
        remember(s, dynamic)
        speed = 1.0 + s.scale_v
        exact = dynamic <= s.rtol * s.F_s + ROUND_OFF * s.ks * speed
        # stiff parts without load: their forces are the round-off of positions, which no iteration removes
        stalled = dynamic > 0.5 * before and moved <= ROUND_OFF * (1.0 + s.scale_x)
        if (
            (exact or stalled)
            and row <= s.rtol * h * s.F_s / s.mean_mass + ROUND_OFF * speed
            # as in the velocity correction, which then has nothing to do where the prediction was right
            and (s.persistent == 0 or iteration > 0 or s.row_T <= s.exact * speed)
            and not (s.mixed != 0 and iteration == 0)
        ):
            if checked or not leave_cones(d, s, s.rtol * s.F_s / s.ks):
                if not exact:
                    s.F_s = 4.0 * dynamic / s.rtol  # the corrections meet the same round-off
                counts[0] = iteration
                s.code = OK
                return
            checked = True
            call2(s.smooth_residual_part, s.data_at, s.run_at)
            dynamic, before, moved = s.dynamic, 0.0, math.inf
        if iteration == s.max_iterations:
            break
        # a Newton step is shortened where it went far too deep into a contact (moderately too deep is a good start:
        # forces are convex in the depth), and late, where the iteration goes to and fro: to where the residual along
        # it vanishes, which friction that changes its direction and stiff parts need
        if iteration == 0:
            scale = s.F_s
        far = s.abrupt != 0 and dynamic > FAR * scale
        late = iteration > LATE and trials < TRIALS * s.max_iterations
        # a smaller residual does not end a search: where friction turns round it is the same on both sides
        worse = dynamic > before or (late and math.isfinite(high))
        if searches and worse and taken > SHORTEST and iteration > 0 and (far or late):
            slope = slope_along(d, r1, r, dx)
            downhill = taken == 1.0 and -abs(start_slope) <= slope <= 0.0
            if not (downhill or abs(slope) <= DOWN * abs(start_slope)):
                if slope < 0.0 and math.isfinite(high):
                    low, low_slope = taken, slope
                    high_slope *= 0.5
                else:
                    high, high_slope = taken, max(slope, 0.0)
                    low_slope *= 0.5 if low > 0.0 else 1.0
                width = high - low
                part = 0.25
                if high_slope > 0.0:
                    part = min(max(-low_slope / (high_slope - low_slope), 0.02), 0.98)
                if width > SHORTEST * high:
                    target = low + part * width
                    take_back(d, s, taken - target, dx, Vs, Vd, D, lam)
                    taken, trials = target, trials + 1
                    continue
        taken, low, high = 1.0, 0.0, math.inf
        # round-off of closed contacts: taken out of v̇~ at once, where the damping of ρ would let it swing for long
        small = iteration == 0 and s.persistent != 0 and max(row, s.row_T) <= 1e4 * s.exact * speed
        small = small and dynamic <= s.rtol * s.F_s
        if iteration > 0 and not (s.reuse != 0 and dynamic < 0.02 * before):
            s.want_matrix = 1
            call2(s.smooth_residual_part, s.data_at, s.run_at)
            fresh = True
        if fresh and not factorise(d, SMOOTH):
            s.code = SINGULAR
            return
        fresh, before = False, dynamic
        reduce_vector(d, r1, r)
        for i in range(n):
            dx[i] = -r[i]
        for i in range(m):
            dx[n + i] = s.ks * rate[i]
        for i in range(3 * nc):
            dx[n + m + i] = s.ks * rows[i]
        if turning > 0:
            for c in range(nc):
                for i in range(3 if roll[c] >= 0 else 0):
                    dx[n + m + 3 * nc + 3 * roll[c] + i] = s.ks * rows_chi[c, i]
        solve_in_place(d, SMOOTH, s.dx_at)
        start_slope = low_slope = slope_along(d, r1, r, dx)
        moved = 0.0
        for i in range(n):
            moved = max(moved, s.c_q * abs(dx[i]))
        if s.mixed != 0:
            mixed_update(d, s, dx, xs, Rs, T, trial)
        expand_add(d, 1.0, dx, Vs)
        expand_add(d, 1.0 / h if small else s.c_a, dx, Vd)
        expand_add(d, s.c_q, dx, D)
        for i in range(m):
            lam[i] += dx[n + i]
        for i in range(3 * nc):
            clam[i] += dx[n + m + i]
        if turning > 0:
            for c in range(nc):
                for i in range(3 if roll[c] >= 0 else 0):
                    mchi[c, i] += dx[n + m + 3 * nc + 3 * roll[c] + i]
        iteration += 1
    s.code = NOT_CONVERGED
    return
