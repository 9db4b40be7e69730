"""Many steps of a method in one call, and what is recorded of them; the same for all methods.

A method gives the address of what takes a step, ``advance_part``.
"""

import math

from fem_mbs.jit import N_SLOTS, SLOT, call2, entry, integers, kernel, matrix, tensor, vector
from fem_mbs.solvers.stepping.kernels.arrays import copy, copy1
from fem_mbs.solvers.stepping.kernels.checks import energy_rises
from fem_mbs.solvers.stepping.kernels.codes import ENERGY_ROSE, OK
from fem_mbs.solvers.stepping.kernels.data import run_at, system_at
from fem_mbs.solvers.stepping.kernels.mirror import keep
from fem_mbs.solvers.stepping.kernels.records import records_at
from fem_mbs.solvers.stepping.monitors.loss_watch import note_loss
from fem_mbs.solvers.stepping.monitors.unsaved import impulses_of, keep_unsaved, report_counted, report_unsaved
from fem_mbs.system.assembly import energies, output_values
from fem_mbs.system.constraints import constraints
from fem_mbs.system.contacts import contact_groups, contacts_of
from fem_mbs.system.far_contacts import all_far

SLOT_T, SLOT_GRAVITY = SLOT["t"], SLOT["gravity"]


@kernel
def _record_contacts(d, s, o):
    """Store what contacts did in the step."""
    nc, k = s.nc_fixed, s.saved
    if s.far != 0:
        all_far(d, s.x, s.R, s.x0, s.R0, s.V)
    impact, acted = integers(s.impact_at, d.nc), integers(s.acted_at, d.nc)
    total, impulse = s.total_Lam, impulses_of(s)
    # those of a step that was not saved when it ended wait with those before it
    now = 1 if s.in_parts != 0 or s.unsaved_step != s.step_number else 0
    if o.contact_force.shape[1] > 0:
        for c in range(nc):
            for i in range(3):
                o.contact_force[k, c, i], o.contact_moment[k, c, i] = total[c, i] / s.h, total[c, 3 + i] / s.h
    for g in contact_groups(d):
        if g.first_contact + g.n > nc:
            continue
        contact = contacts_of(g)
        scale = contact.friction_scale
        for e in range(g.n):
            c = g.first_contact + e
            o.gap[k, c] = contact.gap[e]
            o.contact_status[k, c], o.impact[k, c] = acted[c], now * impact[c]
            for i in range(3):
                o.impulse[k, c, i] = impulse[c, i] if now != 0 else 0.0
                o.moment_impulse[k, c, i] = impulse[c, 3 + i] if now != 0 else 0.0
                o.contact_point[k, c, i], o.contact_normal[k, c, i] = contact.point[e, i], contact.normal[e, i]
                for j in range(2):
                    o.contact_tangents[k, c, j, i] = contact.tangents[e, j, i]
            for j in range(2):
                o.impulse[k, c, 1 + j] *= scale[e, j]
                if o.contact_force.shape[1] > 0:
                    o.contact_force[k, c, 1 + j] *= scale[e, j]
            if s.in_parts == 0:
                report_unsaved(s, o, k, c)


@kernel
def go_to(d, s, instant):
    """Set clock and signals to those of one of the method's instants of the step; the last is the end."""
    current, given = matrix(d.signals_at, max(d.n_signals, 1), 3), s.signals
    vector(integers(d.table_at, N_SLOTS)[SLOT_T], 1)[0] = s.t - (1.0 - s.instants[instant]) * s.h
    for i in range(d.n_signals):
        for j in range(3):
            current[i, j] = given[instant, i, j]
    if d.gravity_signal >= 0:
        gravity = vector(integers(d.table_at, N_SLOTS)[SLOT_GRAVITY], 3)
        for i in range(3):
            gravity[i] = current[d.gravity_signal + i, 0]


@kernel
def momentum(d, x, R, Mv, spatial, linear, angular):
    """Momentum of the model and its moment about the origin, from M v (6 N,), which `energies` leaves."""
    for j in range(3):
        linear[j] = angular[j] = 0.0
    for i in range(d.n_nodes):
        if spatial[i] == 0:
            continue
        px, py, pz = Mv[6 * i], Mv[6 * i + 1], Mv[6 * i + 2]
        linear[0] += px
        linear[1] += py
        linear[2] += pz
        angular[0] += x[i, 1] * pz - x[i, 2] * py
        angular[1] += x[i, 2] * px - x[i, 0] * pz
        angular[2] += x[i, 0] * py - x[i, 1] * px
        for j in range(3):
            for m in range(3):
                angular[j] += R[i, j, m] * Mv[6 * i + 3 + m]


@kernel
def monitor(s):
    """Call the parts of all monitors after a step, or in the initial state."""
    for k in range(s.monitors.shape[0]):
        s.monitor_at = s.monitors[k, 1]
        call2(s.monitors[k, 0], s.data_at, s.run_at)


@kernel
def record_whole(d, s, o, data, run):
    """Store violations, outputs, energies and momenta of a state; returns True if its energy is finite."""
    N, m, k = d.n_nodes, d.m, s.saved
    x, R, V = matrix(s.x_at, N, 3), tensor(s.R_at, N, 3, 3), matrix(s.V_at, N, 6)
    if m > 0:
        g, rate, arm = vector(s.g_at, m), vector(s.rate_at, m), vector(d.row_arm_at, m)
        constraints(d, x, R, V, g, rate)
        for i in range(m):
            s.drift = max(s.drift, arm[i] * abs(g[i]))
            o.violation[k, 0] = max(o.violation[k, 0], abs(g[i]))
            o.violation[k, 1] = max(o.violation[k, 1], abs(rate[i]))
    if d.n_outputs > 0:
        output_values(d, x, R, V, o.acceleration[k], vector(s.phi_at, m), o.output[k])
    o.energy[k, 0], o.energy[k, 1] = energies(d, x, R, V, vector(s.force_at, 6 * N))
    momentum(d, x, R, vector(s.force_at, 6 * N), s.spatial, o.linear_momentum[k], o.angular_momentum[k])
    if s.step_number == 0:
        monitor(s)
        if s.external.shape[0] > 0:
            call2(s.work_part, data, run)  # keeps what the first step needs
    if o.work.shape[1] > 0:
        copy1(s.works, o.work[k])
    finite = math.isfinite(o.energy[k, 0] + o.energy[k, 1])
    if finite and s.loss_seen != 0:
        note_loss(s, o.energy[k, 0], o.energy[k, 1])
    rises = finite and s.watched != 0 and energy_rises(s, o.energy[k, 0], o.energy[k, 1])
    if (rises and s.strict != 0) or not finite:
        s.code = ENERGY_ROSE
        s.largest_rise = s.largest_rise if finite else math.inf
    return finite


@entry("void(int64, int64)")
def record(data, run):
    """Store the state after a step in the arrays of the chunk; contacts of contact groups are collected elsewhere."""
    d, s = system_at(data)[0], run_at(run)[0]
    o = records_at(s.records_at)
    N, m, k = d.n_nodes, d.m, s.saved
    x, Q, V = matrix(s.x_at, N, 3), matrix(s.Q_at, N, 4), matrix(s.V_at, N, 6)
    Vd, W, acceleration = matrix(s.Vd_at, N, 6), matrix(s.W_at, N, 6), o.acceleration[k]
    impact = integers(s.impact_at, d.nc)
    struck = False
    for c in range(d.nc):
        struck = struck or impact[c] != 0
    for i in range(N):
        for j in range(6):
            # at an impact W/h is an impulse divided by h, not an acceleration
            acceleration[i, j] = Vd[i, j] + (0.0 if struck else W[i, j] / s.h)
    o.t[k], o.h[k], o.step[k] = s.t, s.h, s.step_number
    o.problems[k], o.repeats[k], o.contact_problems[k] = s.impact_problems, s.repeats, s.handed_problems
    o.pair_count[k] = 0
    if s.in_parts == 0:
        report_counted(s, o, k)
    copy(x, o.position[k])
    copy(Q, o.quaternion[k])
    copy(V, o.velocity[k])
    report = vector(s.phi_at, m)
    jumped = 1.0 if s.jump_step >= s.step_number - 1 else 0.0
    for i in range(m):  # with the impulse of a switch as the step began
        o.multiplier[k, i] = report[i] = s.lam_report[i] + jumped * s.jump_m[i] / s.h
        s.jump_m[i] = 0.0
    o.iterations[k, 0], o.iterations[k, 1] = s.smooth_iterations, s.position_iterations
    o.iterations[k, 2] = s.velocity_iterations
    _record_contacts(d, s, o)
    o.violation[k, 0] = o.violation[k, 1] = o.energy[k, 0] = o.energy[k, 1] = 0.0
    # states that only observers see need neither outputs nor energies, which take as long as a sub-problem
    if s.step_number % s.whole_every == 0 and not record_whole(d, s, o, data, run):
        return  # a state without an energy is not kept
    s.saved += 1


@kernel
def run_steps(data, run, count, start, times, signals):
    """Advance ``count`` steps to times[start …], with signals[start …] set before each; records every ``save_every``.

    Returns the number of steps done and the code of the last. A step in which an event is crossed is the last.
    """
    d, s = data[0], run[0]
    for k in range(count):
        keep(s)
        s.t = times[start + k]
        for i in range(s.signals.shape[0]):
            copy(signals[start + k, i], s.signals[i])
        go_to(d, s, s.instants.shape[0] - 1)
        call2(s.advance_part, s.data_at, s.run_at)
        if s.code != OK:
            return k, s.code
        s.step_number += 1
        if s.in_parts == 0:
            s.work = 0
        monitor(s)
        if s.step_number % s.save_every == 0:
            s.code = OK
            call2(s.record_part, s.data_at, s.run_at)
            if s.code != OK:
                return k + 1, s.code
        if s.in_parts != 0 or s.step_number % s.save_every != 0:
            keep_unsaved(d, s)
        if s.watch_part != 0:
            call2(s.watch_part, s.data_at, s.run_at)
            if s.crossed != 0:
                return k + 1, OK
    return count, OK
