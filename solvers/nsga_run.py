"""Steps of the decoupled scheme: the three sub-problems, the penalty ladder, the records, many steps in one call."""

import numpy as np

from fem_mbs.assembly import (
    POSITION,
    SMOOTH,
    VELOCITY,
    accept_states,
    advance_configuration,
    clear_matrix,
    constraint_tangents,
    constraints,
    convective_terms,
    dynamics,
    expand_add,
    factorise,
    full_norm,
    groups_of,
    kinetic_energy,
    output_values,
    potential_energy,
    reduce_vector,
    solve_in_place,
    zero,
)
from fem_mbs.contact_assembly import (
    B_GN0,
    C_GAP,
    C_NORMAL,
    C_POINT,
    C_TANGENTS,
    L_NORMAL,
    contacts,
    contacts_begin_step,
    gradient_times,
    laws_of,
)
from fem_mbs.jit import N_SLOTS, SLOT, call2, entry, integers, kernel, matrix, tensor, vector
from fem_mbs.solvers.contact_law import GAP, STICK
from fem_mbs.solvers.nsga_checks import energy_rises
from fem_mbs.solvers.nsga_contacts import let_go
from fem_mbs.solvers.nsga_data import (
    ENERGY_ROSE,
    NOT_CONVERGED,
    OK,
    SINGULAR,
    copy,
    copy3,
    largest,
    run_at,
    system_at,
)
from fem_mbs.solvers.nsga_entry import decide_closed, decide_turning, leave_cones
from fem_mbs.solvers.nsga_momentum import keep_forces, momentum
from fem_mbs.solvers.nsga_persistent import closed_rates, closed_tangents, sliding_directions
from fem_mbs.solvers.stepping.records import records_at

SLOT_T = SLOT["t"]
LEAST_SHIFT = 1e-8  # of constraint rows when a step is repeated
CALM = 10  # steps without a restart after which one begins with a trapezoidal step, see `advance`
# Attempts at a step: p/k (of the first: the user's), least proximal shift, whether with line search, factor of the
# number of iterations. Of 23 position problems that the first two rows left (200 random throws of bodies with 4 and 8
# frictional contact points) the third solved all, the fourth 22, the fifth 22: small penalties and full steps leave the
# cycles of statuses in which a line search stalls.
LADDER = np.array(
    [[1.0, 0.0, 1.0, 1.0], [0.1, 0.0, 1.0, 1.0], [0.03, 1e-6, 0.0, 2.0], [0.01, 1e-6, 0.0, 2.0], [30.0, 1e-4, 1.0, 2.0]]
)


@kernel
def begin(d, s):
    """The end of the last step becomes the start of this one."""
    N = d.n_nodes
    copy(matrix(s.x_at, N, 3), matrix(s.x0_at, N, 3))
    copy(matrix(s.Q_at, N, 4), matrix(s.Q0_at, N, 4))
    copy(matrix(s.V_at, N, 6), matrix(s.V0_at, N, 6))
    copy3(tensor(s.R_at, N, 3, 3), tensor(s.R0_at, N, 3, 3))


@kernel
def step(d, s):
    """The three sub-problems of one step; returns a code. What `begin` kept is not touched."""
    counts = integers(s.counts_at, 8)
    Ma, f, Gl = vector(s.Ma_at, 6 * d.n_nodes), vector(s.f_at, 6 * d.n_nodes), vector(s.Gl_at, 6 * d.n_nodes)
    base, base_v = vector(s.base_at, 6 * d.n_nodes), vector(s.base_v_at, 6 * d.n_nodes)
    Gw = vector(s.Gw_at, 6 * d.n_nodes)
    counts[6] = SMOOTH
    call2(s.smooth_part, s.data_at, s.run_at)
    if s.code != OK:
        return s.code
    fs = vector(s.fs_at, 6 * d.n_nodes)
    for i in range(6 * d.n_nodes):
        fs[i] = f[i]
        base[i] = f[i] + Gl[i]  # f(q~, v~) + G(q~)ᵀ k_s λ~
        base_v[i] = base[i] + Gw[i] - Ma[i]
    if d.nc > 0:
        call2(s.sweep_part, s.data_at, s.run_at)
        if s.code != OK:
            return s.code
    counts[6] = POSITION
    call2(s.position_part, s.data_at, s.run_at)
    if s.code == OK and s.swept != 0:
        call2(s.settle_part, s.data_at, s.run_at)
    if s.code != OK:
        return s.code
    counts[6] = VELOCITY
    call2(s.velocity_part, s.data_at, s.run_at)
    return s.code


@kernel
def contact_convection(d, s):
    """Fill gamma_c, gamma_w (nc, 3) with d(G v)/dt, length d(W v)/dt at fixed v, by a central difference along the
    motion (any contact type).
    """
    N, nc = d.n_nodes, d.nc
    x, Q, V = matrix(s.x_at, N, 3), matrix(s.Q_at, N, 4), matrix(s.V_at, N, 6)
    xs, Qs, Rs, D = matrix(s.xs_at, N, 3), matrix(s.Qs_at, N, 4), tensor(s.Rs_at, N, 3, 3), matrix(s.D_at, N, 6)
    T, gamma, rates = tensor(s.T_at, N, 3, 3), matrix(s.gamma_c_at, nc, 3), matrix(s.rows_c_at, nc, 3)
    gamma_w, turns = matrix(s.gamma_w_at, nc, 3), matrix(s.rows_chi_at, nc, 3)
    delta = 1e-3 * s.h
    for side in range(2):
        sign = 1.0 - 2.0 * side
        for i in range(N):
            for j in range(6):
                D[i, j] = sign * delta * V[i, j]
        advance_configuration(d, x, Q, D, xs, Qs, Rs, T)
        contacts(d, xs, Rs, xs, Rs, V)
        closed_rates(d, s, V, rates, turns)
        for c in range(nc):
            for i in range(3):
                gamma[c, i] = (gamma[c, i] if side == 1 else 0.0) + sign * rates[c, i] / (2.0 * delta)
                gamma_w[c, i] = (gamma_w[c, i] if side == 1 else 0.0) + sign * turns[c, i] / (2.0 * delta)


@kernel
def consistent(d, s):
    """Solve for consistent accelerations (in dx) and multipliers (not divided by k_s) of the kept contacts."""
    N, n, m = d.n_nodes, d.n, d.m
    nc = d.nc if s.persistent != 0 else 0
    turning = d.n_roll if s.persistent != 0 else 0
    x, R, V = matrix(s.x_at, N, 3), tensor(s.R_at, N, 3, 3), matrix(s.V_at, N, 6)
    Ma, f, dx = vector(s.Ma_at, 6 * N), vector(s.f_at, 6 * N), vector(s.dx_at, n + m + 3 * nc + 3 * turning)
    lam, gamma, g, rate = vector(s.lam_at, m), vector(s.phi_at, m), vector(s.g_at, m), vector(s.rate_at, m)
    clam, gamma_c, closed = matrix(s.clam_at, nc, 3), matrix(s.gamma_c_at, nc, 3), integers(s.closed_at, nc)
    mchi, gamma_w, roll = matrix(s.mchi_at, nc, 3), matrix(s.gamma_w_at, nc, 3), integers(d.roll_index_at, nc)
    rolls, spins = integers(s.rolls_at, nc), integers(s.spins_at, nc)
    shift = s.epsilon / s.mean_mass
    zero(s.trial_at, 6 * N)
    zero(s.lam_at, m)
    zero(s.clam_at, 3 * nc)
    zero(s.mchi_at, 3 * nc)
    clear_matrix(d, SMOOTH)
    dynamics(d, SMOOTH, x, R, V, matrix(s.trial_at, N, 6), Ma, f, True, 1.0, 0.0, 0.0, 0.0, R, False)
    if s.persistent != 0 and s.struck != 0:
        # forces before an impact: those after it shake stiff parts, and would do so again as a memory
        fs = vector(s.fs_at, 6 * N)
        for i in range(6 * N):
            f[i] = fs[i]
    if m > 0:
        constraints(d, x, R, V, g, rate)
        constraint_tangents(d, SMOOTH, x, R, V, lam, 0.0, 0.0, 1.0, 0.0, shift, False, R)
        convective_terms(d, x, R, V, gamma)
    if nc > 0:
        closed_tangents(d, s, x, R, V, 1.0, 0.0, R)
    if not factorise(d, SMOOTH):
        s.code = SINGULAR
        return
    # repeated for the shift of redundant rows, as in `initial.consistent`
    for _ in range((2 if s.epsilon <= 1e-6 else 4) if m + nc > 0 else 1):
        reduce_vector(d, f, dx)
        for i in range(m):
            dx[n + i] = gamma[i] - shift * lam[i]
        for c in range(nc):
            for i in range(3):
                rated = closed[c] == STICK or (closed[c] != GAP and i == 0)
                dx[n + m + 3 * c + i] = gamma_c[c, i] - s.epsilon * clam[c, i] if rated else 0.0
                if roll[c] >= 0 and turning > 0:
                    rated = (rolls[c] if i < 2 else spins[c]) == STICK
                    at = n + m + 3 * nc + 3 * roll[c] + i
                    dx[at] = gamma_w[c, i] - s.epsilon * mchi[c, i] if rated else 0.0
        solve_in_place(d, SMOOTH, s.dx_at)
        for i in range(m):
            lam[i] = dx[n + i]
        for c in range(nc):
            for i in range(3):
                clam[c, i] = dx[n + m + 3 * c + i]
                if roll[c] >= 0 and turning > 0:
                    mchi[c, i] = dx[n + m + 3 * nc + 3 * roll[c] + i]


@entry("void(int64, int64)")
def restart(data, run):
    """Memory of the method from consistent accelerations at the current state (decision 10), closed contacts
    included."""
    d, s = system_at(data)[0], run_at(run)[0]
    N, m = d.n_nodes, d.m
    nc = d.nc if s.persistent != 0 else 0
    x, R, V = matrix(s.x_at, N, 3), tensor(s.R_at, N, 3, 3), matrix(s.V_at, N, 6)
    Va0, Vd0, f, dx = matrix(s.Va0_at, N, 6), matrix(s.Vd0_at, N, 6), vector(s.f_at, 6 * N), vector(s.dx_at, d.n)
    lam, clam, mchi = vector(s.lam_at, m), matrix(s.clam_at, nc, 3), matrix(s.mchi_at, nc, 3)
    if nc > 0:
        contact_convection(d, s)
        contacts(d, x, R, x, R, V)
        contacts_begin_step(d)
        copy(V, matrix(s.V0_at, N, 6))
        decide_turning(d, s, V)
        sliding_directions(d, s, V)
    s.code = OK
    for _ in range(4):
        consistent(d, s)
        # forces outside their cones: the contact opens or slides at once
        if s.code != OK or nc == 0 or not leave_cones(d, s, s.rtol * full_norm(d, f, s.length)):
            break
    if s.code != OK:
        return
    # a − v̇~ ≈ (α_m − α_f) h dv̇/dt stays what it was, for the damping of what the event does not touch, unless a first
    # step of the trapezoidal rule finds it anew, see `advance`
    calm = s.since >= CALM and s.alpha_f >= 1.0 / 3.0
    keep = 1.0 if s.persistent != 0 and not calm else 0.0
    for i in range(N):
        for j in range(6):
            Va0[i, j] = keep * (Va0[i, j] - Vd0[i, j])
            Vd0[i, j] = 0.0
    expand_add(d, 1.0, dx, Vd0)
    for i in range(N):
        for j in range(6):
            Va0[i, j] += Vd0[i, j]
    s.fresh = 1 if s.persistent != 0 and calm else 0
    s.since = 0
    for i in range(m):
        lam[i] /= s.ks
    for c in range(nc):
        for i in range(3):
            clam[c, i] /= s.ks
            mchi[c, i] /= s.ks


@kernel
def set_coefficients(s, alpha_m, alpha_f, beta, gamma):
    """Coefficients of the generalized-α method for the current step size."""
    s.alpha_m, s.alpha_f, s.beta, s.gamma = alpha_m, alpha_f, beta, gamma
    s.c_a = (1.0 - alpha_m) / ((1.0 - alpha_f) * gamma * s.h)
    s.c_q = s.h * beta / gamma


@kernel
def finish(d, s, lag):
    """History for the next step, reported multipliers and impact flags."""
    N, m, nc = d.n_nodes, d.m, d.nc
    Va, Vd, Va0, Vd0 = matrix(s.Va_at, N, 6), matrix(s.Vd_at, N, 6), matrix(s.Va0_at, N, 6), matrix(s.Vd0_at, N, 6)
    lam, Lam, report = vector(s.lam_at, m), vector(s.Lam_at, m), vector(s.lam_report_at, m)
    factor = (1.0 - s.alpha_f) / (1.0 - s.alpha_m)
    for i in range(N):
        for j in range(6):
            Va0[i, j] = Va[i, j] + factor * Vd[i, j] + lag * (Vd[i, j] - Vd0[i, j])
            Vd0[i, j] = Vd[i, j]
    for i in range(m):
        report[i] = s.ks * lam[i] + s.kv * Lam[i] / s.h
    accept_states(d, matrix(s.x_at, N, 3), tensor(s.R_at, N, 3, 3), matrix(s.V_at, N, 6))
    total, impact, was = matrix(s.total_Lam_at, nc, 3), integers(s.impact_at, nc), integers(s.was_active_at, nc)
    V0 = matrix(s.V0_at, N, 6)
    struck = False
    groups = groups_of(d)
    for a in range(d.n_groups):
        g = groups[a]
        if g.contact == 0:
            continue
        law = laws_of(g)
        for e in range(g.n):
            c = g.first_contact + e
            acts = total[c, 0] > 0.0
            # an impulse on a contact that was open, or one that Newton's law reflects
            bounces = law[e, L_NORMAL] * abs(gradient_times(g, e, B_GN0, 0, V0)) > 2.0 * s.tol_v
            impact[c] = 1 if acts and (was[c] == 0 or bounces) else 0
            was[c] = 1 if acts else 0
            struck = struck or impact[c] != 0
    restart_now = struck and s.reset != 0
    s.struck = 1 if struck else 0
    if s.persistent != 0:
        momentum(d, s)
        changed, kept = decide_closed(d, s)
        # the memory holds the forces of closed contacts: an impact, which turns slips, makes it wrong
        restart_now = restart_now or changed or (struck and kept)
    s.fresh = 0
    s.since += 1
    if restart_now:
        call2(s.restart_part, s.data_at, s.run_at)


@kernel
def advance(d, s):
    """One step; when it fails it is repeated with other penalties (decision 7), see `LADDER`.

    The first after a fresh start of the memory is one of the trapezoidal rule, see nsga_entry.
    """
    pp, pv, epsilon, iterations, halvings = s.pp, s.pv, s.epsilon, s.max_iterations, s.max_halvings
    pp_T, pv_T, rows, newton = s.pp_T, s.pv_T, s.epsilon_rows, s.newton
    counts = integers(s.counts_at, 8)
    counts[7] = 0
    begin(d, s)
    if d.nc > 0:
        # tangents may depend on the start of the step, which is now this configuration
        x, R, V = matrix(s.x_at, d.n_nodes, 3), tensor(s.R_at, d.n_nodes, 3, 3), matrix(s.V_at, d.n_nodes, 6)
        contacts(d, x, R, x, R, V)
        contacts_begin_step(d)
    if s.persistent != 0:
        keep_forces(d, s)
    code = OK
    scale_x, scale_v = s.scale_x, s.scale_v
    alpha_m, alpha_f, beta, gamma, lag = s.alpha_m, s.alpha_f, s.beta, s.gamma, 0.0
    if s.fresh != 0:
        set_coefficients(s, 0.5, 0.5, 0.25, 0.5)
        lag = alpha_m - alpha_f
    for attempt in range(LADDER.shape[0]):
        if attempt > 0:
            s.pp, s.pv = LADDER[attempt, 0] * s.kp, LADDER[attempt, 0] * s.kv
            s.pp_T, s.pv_T = s.pp, s.pv
            # constraints that were independent at the start may depend on each other where the mechanism is now
            s.epsilon_rows = max(rows, LEAST_SHIFT)
            if d.nc == s.nc_fixed:
                s.newton = 1  # where the contact-problem solver has failed; contact groups have no other
        s.epsilon = max(epsilon, LADDER[attempt, 1])
        s.epsilon_rows = max(s.epsilon_rows, LADDER[attempt, 1])
        s.max_halvings = halvings if LADDER[attempt, 2] != 0.0 else 0
        s.max_iterations = iterations * int(LADDER[attempt, 3])
        counts[4] = attempt
        code = step(d, s)
        again = d.nc > 0 and counts[6] != SMOOTH and (s.newton != 0 or d.nc == s.nc_fixed)
        shifted = attempt == 0 and d.m > 0 and rows < LEAST_SHIFT and (code == SINGULAR or code == NOT_CONVERGED)
        if code == OK or not (again or shifted):
            break
    s.pp, s.pv, s.epsilon, s.max_iterations, s.max_halvings = pp, pv, epsilon, iterations, halvings
    s.pp_T, s.pv_T, s.epsilon_rows, s.newton = pp_T, pv_T, rows, newton
    if code != OK and d.nc > 0 and counts[6] == VELOCITY and (s.newton != 0 or d.nc == s.nc_fixed):
        # an impact with friction and restitution may have no solution (`nsga_contacts.reflected`)
        s.plastic, counts[4] = 1, 0
        code = step(d, s)
        s.plastic, counts[4] = 0, LADDER.shape[0]
        s.made_plastic += 1 if code == OK else 0
    s.repeated += 1 if counts[4] > 0 else 0
    s.handed += counts[7]
    # sizes that tolerances refer to: of what was accepted, not of iterates that were given up
    s.scale_x, s.scale_v = scale_x, scale_v
    if code == OK:
        call2(s.check_part, s.data_at, s.run_at)
        code = s.code
    if code == OK:
        s.scale_x = max(scale_x, largest(matrix(s.x_at, d.n_nodes, 3)))
        s.scale_v = max(scale_v, largest(matrix(s.Vs_at, d.n_nodes, 6)), largest(matrix(s.V_at, d.n_nodes, 6)))
        finish(d, s, lag)
    if s.swept != 0:
        let_go(d, s)
    set_coefficients(s, alpha_m, alpha_f, beta, gamma)
    return code


@kernel
def _record_contacts(d, s, o):
    """Store what contacts did in the step."""
    nc, k = s.nc_fixed, s.saved
    impact, acted = integers(s.impact_at, d.nc), integers(s.acted_at, d.nc)
    total, total_chi = matrix(s.total_Lam_at, nc, 3), matrix(s.total_chi_at, nc, 3)
    if s.persistent == 0:
        copy(total, o.impulse[k])
        copy(total_chi, o.moment_impulse[k])
    else:
        copy(matrix(s.sent_at, nc, 3), o.impulse[k])
        copy(matrix(s.sent_chi_at, nc, 3), o.moment_impulse[k])
        for c in range(nc):
            for i in range(3):
                o.contact_force[k, c, i], o.contact_moment[k, c, i] = total[c, i] / s.h, total_chi[c, i] / s.h
    groups = groups_of(d)
    for a in range(d.n_groups):
        g = groups[a]
        if g.contact == 0 or g.first_contact + g.n > nc:
            continue
        kept = matrix(g.contact_at, g.n, g.contact_stride)
        for e in range(g.n):
            c = g.first_contact + e
            o.gap[k, c] = kept[e, C_GAP]
            o.contact_status[k, c], o.impact[k, c] = acted[c], impact[c]
            for i in range(3):
                o.contact_point[k, c, i], o.contact_normal[k, c, i] = kept[e, C_POINT + i], kept[e, C_NORMAL + i]
                for j in range(2):
                    o.contact_tangents[k, c, j, i] = kept[e, C_TANGENTS + 3 * j + i]


@entry("void(int64, int64)")
def record(data, run):
    """Store the state after a step in the arrays of the chunk; contacts of contact groups are collected elsewhere."""
    d, s = system_at(data)[0], run_at(run)[0]
    o = records_at(s.records_at)
    N, m, k = d.n_nodes, d.m, s.saved
    x, Q, R, V = matrix(s.x_at, N, 3), matrix(s.Q_at, N, 4), tensor(s.R_at, N, 3, 3), matrix(s.V_at, N, 6)
    Vd, W, trial = matrix(s.Vd_at, N, 6), matrix(s.W_at, N, 6), matrix(s.trial_at, N, 6)
    impact, counts = integers(s.impact_at, d.nc), integers(s.counts_at, 8)
    struck = False
    for c in range(d.nc):
        struck = struck or impact[c] != 0
    for i in range(N):
        for j in range(6):
            # at an impact W/h is an impulse divided by h, not an acceleration
            trial[i, j] = Vd[i, j] + (0.0 if struck else W[i, j] / s.h)
    o.t[k], o.h[k], o.step[k] = s.t, s.h, s.step_number
    o.problems[k], o.repeats[k], o.contact_problems[k], o.pair_count[k] = counts[3], counts[4], counts[7], 0
    copy(x, o.position[k])
    copy(Q, o.quaternion[k])
    copy(V, o.velocity[k])
    copy(trial, o.acceleration[k])
    report = vector(s.lam_report_at, m)
    for i in range(m):
        o.multiplier[k, i] = report[i]
    for i in range(3):
        o.iterations[k, i] = counts[i]
    _record_contacts(d, s, o)
    o.violation[k, 0] = o.violation[k, 1] = o.energy[k, 0] = o.energy[k, 1] = 0.0
    # states that only observers see need neither outputs nor energies, which take as long as a sub-problem
    if s.step_number % s.whole_every == 0:
        if m > 0:
            g, rate = vector(s.g_at, m), vector(s.rate_at, m)
            constraints(d, x, R, V, g, rate)
            for i in range(m):
                o.violation[k, 0] = max(o.violation[k, 0], abs(g[i]))
                o.violation[k, 1] = max(o.violation[k, 1], abs(rate[i]))
        if d.n_outputs > 0:
            output_values(d, x, R, V, trial, report, o.output[k])
        o.energy[k, 0] = kinetic_energy(d, x, R, V, vector(s.force_at, 6 * N), vector(s.r1_at, 6 * N))
        o.energy[k, 1] = potential_energy(d, x, R, V)
        if s.conservative != 0 and energy_rises(s, o.energy[k, 0], o.energy[k, 1]) and s.strict != 0:
            s.code = ENERGY_ROSE
    s.saved += 1


@kernel
def run_steps(data, run, count, start, times, signals):
    """Advance ``count`` steps to times[start …], with signals[start …] set before each; records every ``save_every``.

    Returns the number of steps done and the code of the last.
    """
    d, s = data[0], run[0]
    current = matrix(d.signals_at, max(d.n_signals, 1), 3)
    clock = vector(integers(d.table_at, N_SLOTS)[SLOT_T], 1)
    for k in range(count):
        s.t = times[start + k]
        clock[0] = s.t
        for i in range(d.n_signals):
            for j in range(3):
                current[i, j] = signals[start + k, i, j]
        code = advance(d, s)
        if code != OK:
            return k, code
        s.step_number += 1
        if s.step_number % s.save_every == 0:
            s.code = OK
            call2(s.record_part, s.data_at, s.run_at)
            if s.code != OK:
                return k + 1, s.code
    return count, OK
