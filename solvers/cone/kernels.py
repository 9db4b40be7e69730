"""Cone complementarity stepping: one cone complementarity problem in velocities per step.

With v = v_n + W and q = q_n ∘ exp(h v), all gradients and gaps at q_n:

    M(q) W = h f(q, v, t) + G(q_n)ᵀ P + D(q_n)ᵀ Λ                                                                   (1)
    G(q_n) v + g(q_n, t)/h = 0                                                                                     (2)
    b = max(g_N(q_n)/h, −v_rec) ,  and e_N G_N v_n if that is less, where the bodies meet in the step               (3)
        relaxed, and they do not meet yet: + Σ μ_k |u_k(v_n)|, which leaves their flight alone
    relaxed:  K ∋ Λ ⟂ −(G_N v + b, G_T v) ∈ K° ;   else Coulomb's law with G_N v + b                                (4)

Its Newton matrix has M + h C + h² K T in the rows of (1) and the constant G(q_n) in those of (2).

    symbol     code                       symbol     code
    W          W                          P          Lam, divided by k_v
    f          f                          Λ          cLam, divided by k_v
    g/h        g                          b          bias
    v_rec      recovery

Source: docs/theory/cone_complementarity.md, (1)-(7).
"""

import math

from fem_mbs.jit import call2, entry, kernel
from fem_mbs.solvers.cone.data import own_at
from fem_mbs.solvers.cone.rows import relaxed_residual, relaxed_tangents
from fem_mbs.solvers.contact import velocity
from fem_mbs.solvers.contact.bias import bias
from fem_mbs.solvers.contact.law_rows import add_squares
from fem_mbs.solvers.contact.one_problem import begin_step, end_step, solve_first
from fem_mbs.solvers.contact.velocity_rows import velocity_contact_residual, velocity_contact_tangents
from fem_mbs.solvers.stepping.kernels.accept import accept
from fem_mbs.solvers.stepping.kernels.arrays import copy
from fem_mbs.solvers.stepping.kernels.codes import OK
from fem_mbs.solvers.stepping.kernels.data import run_at, system_at
from fem_mbs.solvers.stepping.kernels.friction_tasks import IMPULSES, SLOPES
from fem_mbs.solvers.stepping.kernels.newton import SAFE, merit_of, stalled, turns_too_far
from fem_mbs.solvers.stepping.kernels.step import begin, mark_impacts, take
from fem_mbs.system.assembly import advance_configuration, dynamics, energies
from fem_mbs.system.constraints import (
    RATES,
    add_constraint_forces,
    constraint_rates,
    constraint_tangents,
    constraints,
    replace_velocity_rows,
    row_norm,
)
from fem_mbs.system.contacts import (
    contact_groups,
    contacts,
    contacts_of,
    gradient_times,
    laws_of,
    restitution_at,
)
from fem_mbs.system.global_matrices import clear_matrix, full_norm
from fem_mbs.system.records import VELOCITY, zero

REACH = 2.0  # times the gap that the fastest node could close in the step: contacts up to it take part


@entry("void(int64, int64)")
def cone_residual(data, run):
    """Residual of (1) in r1 (full), of (2) in rate, of (4) in rows_c; norms in s.dynamic, s.row, s.row_T."""
    d, s = system_at(data)[0], run_at(run)[0]
    o = own_at(s.own_at)[0]
    N, m, nc, h = d.n_nodes, d.m, d.nc, s.h
    x, R, V, D, Ma, f, r1 = s.x, s.R, s.V, s.D, s.Ma, s.f, s.r1
    for i in range(N):
        for j in range(6):
            V[i, j] = s.V0[i, j] + s.W[i, j]
            D[i, j] = h * V[i, j]
    if turns_too_far(s, D):
        return
    advance_configuration(d, s.x0, s.Q0, D, x, s.Q, R, s.T)
    single = dynamics(d, VELOCITY, x, R, V, s.W, Ma, f, False, 0.0, 0.0, 0.0, 0.0, R, False)
    zero(s.Gl_at, 6 * N)
    total = 0.0
    if m > 0:
        constraint_rates(d, V, s.rate)
        for i in range(m):
            s.rate[i] += s.g[i]
            s.phi[i] = s.kv * s.Lam[i]
        total = row_norm(d, s.rate) ** 2
        add_constraint_forces(d, 1.0, s.phi, s.Gl)
    for i in range(6 * N):
        r1[i] = Ma[i] - h * f[i] - s.Gl[i] - s.P[i]
    s.F_s = max(full_norm(d, f, s.length), math.sqrt(single)) + full_norm(d, s.Gl, s.length) / h
    friction = 0.0
    if nc > 0 and s.without_contacts == 0:
        if o.relaxed != 0:
            relaxed_residual(d, s, V, s.Vminus, r1, s.rows_c)
        else:
            velocity_contact_residual(d, s, V, s.Vminus, r1, s.rows_c)
        total, friction = add_squares(s.rows_c, total)
    if s.friction != 0:
        call2(s.friction_part, run, IMPULSES)
        total, friction = total + s.friction_row**2, friction + s.friction_slip**2
    s.dynamic, s.row, s.row_T = full_norm(d, r1, s.length), math.sqrt(total), math.sqrt(friction)
    s.merit = merit_of(s, s.kv)
    if stalled(s, nc, h):
        s.F_s = max(s.F_s, SAFE * s.dynamic / (s.rtol * h))


@entry("void(int64, int64)")
def cone_matrix(data, run):
    """Assemble the matrix of (1) and (2) where the residual was evaluated last."""
    d, s = system_at(data)[0], run_at(run)[0]
    h, T = s.h, s.T
    clear_matrix(d, s.number)
    # the forces of this point have been used already: arrays of them are scratch
    dynamics(d, s.number, s.x, s.R, s.V, s.W, s.force, s.fs, True, 1.0, h, h * h, h, T, False)
    if d.m > 0:
        shift = s.epsilon_rows * s.kv
        constraint_tangents(d, s.number, s.x0, s.R0, s.V, s.phi, 0.0, 0.0, s.kv, 0.0, shift, RATES, T)
    if s.friction != 0:
        call2(s.friction_part, run, SLOPES)


@entry("void(int64, int64)")
def cone_contacts(data, run):
    """Add the contacts to the matrix."""
    d, s = system_at(data)[0], run_at(run)[0]
    if own_at(s.own_at)[0].relaxed != 0:
        relaxed_tangents(d, s, s.V, s.Vminus)
    else:
        velocity_contact_tangents(d, s, s.V, s.Vminus)


PROBLEM = velocity.PROBLEM._replace(residual=cone_residual, matrix=cone_matrix, contacts=cone_contacts)


@kernel
def fastest(s, first):
    """Largest velocity component of any node at the start of the step plus its change in the last one; from column
    ``first`` on three.
    """
    result = 0.0
    for i in range(s.V0.shape[0]):
        for j in range(first, first + 3):
            result = max(result, abs(s.V0[i, j]) + abs(s.W[i, j]))
    return result


@kernel
def lift_of(g, e, s):
    """Normal velocity required by the relaxed law for the motion at the start of the step: Σ μ_k |u_k|."""
    contact = contacts_of(g)
    law, V = laws_of(g), s.V0
    stays = 1.0 + law[e].tangential_restitution
    slide = math.hypot(gradient_times(g, e, contact.V_T[e, 0], V), gradient_times(g, e, contact.V_T[e, 1], V))
    roll = math.hypot(gradient_times(g, e, contact.W[e, 0], V), gradient_times(g, e, contact.W[e, 1], V))
    spin = abs(gradient_times(g, e, contact.W[e, 2], V))
    return law[e].friction * stays * slide + law[e].rolling_resistance * roll + law[e].spinning_resistance * spin


@kernel
def bias_of(g, e, s, o):
    """b of (3), of contact e of group g at the start of the step; overlaps as `gaps_of_joints` has them."""
    contact = contacts_of(g)
    gap = contact.gap[e]
    law = laws_of(g)
    b = gap / s.h
    if gap < 0.0:
        b = 0.0 if s.plastic != 0 else max(gap / o.whole, -o.recovery)
    if (law[e].restitution > 0.0 or law[e].tangential_restitution != 0.0) and s.plastic == 0:
        speed = gradient_times(g, e, contact.G_N[e], s.V0)
        b, apart = bias(b, gap, 0.0, speed, s.h, restitution_at(g, e, abs(speed)), s.tol_v)
        if apart and o.relaxed != 0:
            b += lift_of(g, e, s)  # else the law slows them down and turns them before they meet
    return b


@kernel
def most_of(row, fast_x, fast_w):
    """Largest value of one row (nd,) of a gradient, with no component of velocity above these."""
    total = 0.0
    for j in range(len(row)):
        total += abs(row[j]) * (fast_x if j % 6 < 3 else fast_w)
    return total


@kernel
def reach_of(g, e, o, fast_x, fast_w):
    """Gap over h up to which a contact may act: the largest approach, and what the relaxed law lifts a fast slide."""
    law, contact = laws_of(g), contacts_of(g)
    reach = most_of(contact.G_N[e], fast_x, fast_w)
    if o.relaxed != 0:
        for i in range(2):
            reach += law[e].friction * most_of(contact.V_T[e, i], fast_x, fast_w)
            reach += law[e].rolling_resistance * most_of(contact.W[e, i], fast_x, fast_w)
        reach += law[e].spinning_resistance * most_of(contact.W[e, 2], fast_x, fast_w)
    return reach


@kernel
def look_ahead(d, s, o):
    """Fill b of (3) and choose the contacts that may act in the step: those whose gap is within `REACH`, or within the
    distance that the user gave. Returns their number.

    Others cost time and change nothing. A contact that closes all the same, through a force that begins in the step,
    overlaps by h² times an acceleration and is put right in the next step.
    """
    fast_x = fastest(s, 0)
    fast_w = max(fastest(s, 3), fast_x / s.length)
    count = 0
    for g in contact_groups(d):
        contact = contacts_of(g)
        for e in range(g.n):
            c, reach = g.first_contact + e, o.distance
            if reach < 0.0:
                reach = REACH * s.h * reach_of(g, e, o, fast_x, fast_w)
            near = contact.gap[e] <= reach + s.exact * s.scale_x
            s.bias[c] = bias_of(g, e, s, o)
            s.candidate[c] = s.active[c] = 1 if near else 0
            count += s.candidate[c]
    return count


@kernel
def lost_by_stops(d, s):
    """Energy [J] that restitution would have left where the step has stopped contacts with a gap, ½ e² Λ_N |u_N| as (1)
    of `granular.strikes`; gaps and gradients are those of the start of the step.

    u_N is the approach that is left, −g/h of what is stopped: what floats while it slides has a gap, and loses nothing.
    """
    if d.nc == 0 or s.without_contacts != 0:
        return 0.0
    total = 0.0
    for g in contact_groups(d):
        law, contact = laws_of(g), contacts_of(g)
        for e in range(g.n):
            c = g.first_contact + e
            if law[e].restitution > 0.0 and s.candidate[c] != 0 and s.bias[c] > 0.0 and contact.gap[e] > 0.0:
                left = max(-gradient_times(g, e, contact.G_N[e], s.V), 0.0)
                total += 0.5 * restitution_at(g, e, left) ** 2 * max(s.total_Lam[c, 0], 0.0) * left
    return total


@kernel
def gaps_of_joints(d, s, o):
    """g(q_n, t)/h of (2) in s.g, ∂g/∂t of rows of velocities; gradients at q_n are kept.

    In part of a step ∂g/∂t + (g − h ∂g/∂t)/h_whole: the overlap that a step of that size has left, removed in 1/64 of
    it, would be an impact. Where a step has no solution ∂g/∂t alone: a body that friction jams between a joint and a
    contact stands, and can be moved by neither. What is apart or overlaps is left as it is.
    """
    if d.m == 0:
        return
    constraints(d, s.x0, s.R0, s.V0, s.g, s.rate)
    constraint_rates(d, s.V0, s.phi)
    whole = s.plastic == 0 and s.h == o.whole
    taken_back = 0.0 if s.plastic != 0 else 1.0 / o.whole
    for i in range(d.m):
        rate = s.phi[i] = s.rate[i] - s.phi[i]
        s.g[i] = s.g[i] / s.h if whole else rate + taken_back * (s.g[i] - s.h * rate)
    replace_velocity_rows(d, 1.0, s.phi, s.g)


@entry("void(int64, int64)")
def cone_step(data, run):
    """Solve (1)-(4) for the velocities at the end of the step. What the start of the step kept is not touched."""
    d, s = system_at(data)[0], run_at(run)[0]
    o = own_at(s.own_at)[0]
    s.smooth_iterations = s.position_iterations = s.velocity_iterations = s.impact_problems = 0
    s.failed_problem = VELOCITY
    newton = s.newton
    if look_ahead(d, s, o) > o.many and s.repeats == 0:
        s.newton = 0
    gaps_of_joints(d, s, o)
    solve_first(d, s)
    s.newton = newton
    if s.code == OK and s.grains_at != 0:
        call2(s.grains_part, data, run)
    if s.code != OK:
        return
    for i in range(6 * d.n_nodes):
        o.reaction[i] = s.Gl[i] / s.h
        s.base[i] = s.f[i] + o.reaction[i]  # what `stepping.kernels.checks` takes for the forces at the nodes


@entry("void(int64, int64)")
def cone_advance(data, run):
    """Perform one step, and prepare the next."""
    d, s = system_at(data)[0], run_at(run)[0]
    begin(d, s)
    begin_step(s)
    code = take(d, s)
    if code == OK and d.nc > 0:
        o, lost = own_at(s.own_at)[0], lost_by_stops(d, s)
        if lost > 0.0:
            o.all_lost += lost
            o.kinetic = max(o.kinetic, energies(d, s.x0, s.R0, s.V0, s.force)[0])
            o.kinetic = max(o.kinetic, energies(d, s.x, s.R, s.V, s.force)[0])
        copy(s.V, s.Vs)
        zero(s.U_at, 6 * d.n_nodes)
        call2(s.sweep_part, s.data_at, s.run_at)
        code = s.code
    if code == OK:
        accept(d, s)
        s.struck = 1 if mark_impacts(d, s) else 0
        end_step(s)
        if d.nc > 0:
            contacts(d, s.x, s.R, s.x0, s.R0, s.V)  # what is recorded belongs to the end of the step
    s.code = code
