"""Moreau's time-stepping scheme: one problem per step, in velocities.

With D = h ((1 − θ) v_n + θ v) and q = q_n ∘ exp(D), v = v_n + W:

    [θ M(q) + (1 − θ) M(q_n)] W = h [θ f + (1 − θ) f_n] + [θ G(q) + (1 − θ) G(q_n)]ᵀ P + G_cᵀ Λ + P_s              (1)
    G(q) v + ∂g/∂t = 0                                                                                             (2)
    contacts with a forecast gap g_c ≤ 0, by Newton's law and the friction cones, gradients G_c at the forecast
    q_n ∘ exp(γ h v_n)                                                                                             (3)

P_s are the impulses of a contact group of free bodies, by Gauss-Seidel iterations (docs/theory/contact_groups.md);
else 0.

Its Newton matrix has M + θ h C + θ² h² K T in the rows of (1), G(q) + θ h (v·∂G/∂q) T in those of (2).

    symbol     code                        symbol     code
    W          W, of the last step between steps       P          Lam, divided by k_v
    f, f_n     f, f0                       Λ          cLam, divided by k_v
    θ h        c_q                         γ = ½      FORECAST

Source: docs/theory/moreau_jean.md, (1)-(8).
"""

import math

from fem_mbs.jit import call2, entry, kernel
from fem_mbs.solvers.contact import velocity
from fem_mbs.solvers.contact.approach import reflected
from fem_mbs.solvers.contact.law_rows import add_squares
from fem_mbs.solvers.contact.one_problem import begin_step, end_step, solve_first
from fem_mbs.solvers.contact.velocity import (
    accumulate_impulses,
    rates_of_time,
    solve_velocities,
)
from fem_mbs.solvers.contact.velocity_rows import velocity_contact_residual
from fem_mbs.solvers.moreau.data import own_at
from fem_mbs.solvers.stepping.kernels.accept import accept
from fem_mbs.solvers.stepping.kernels.arrays import copy, copy3
from fem_mbs.solvers.stepping.kernels.codes import CLOSED_GAP, OK
from fem_mbs.solvers.stepping.kernels.data import run_at, system_at
from fem_mbs.solvers.stepping.kernels.friction_tasks import HELD, IMPULSES, RELEASED, SLOPES
from fem_mbs.solvers.stepping.kernels.newton import SAFE, merit_of, stalled, turns_too_far
from fem_mbs.solvers.stepping.kernels.step import begin, mark_impacts, rebounds, take
from fem_mbs.system.assembly import advance_configuration, dynamics
from fem_mbs.system.constraints import RATES, add_constraint_forces, constraint_tangents, constraints, row_norm
from fem_mbs.system.contacts import (
    add_gradient,
    contact_groups,
    contacts,
    contacts_begin_step,
    contacts_of,
    direction_of,
    gradient_times,
)
from fem_mbs.system.global_matrices import clear_matrix, full_norm
from fem_mbs.system.records import POSITION, VELOCITY, zero

FORECAST = 0.5  # γ: contacts that half a step of flight closes take part


@kernel
def closed_gap(s):
    """A gap [m] below it is closed."""
    return CLOSED_GAP * s.exact * s.scale_x


@entry("void(int64, int64)")
def theta_residual(data, run):
    """Residual of (1) in r1 (full), of (2) in rate, of (3) in rows_c; norms in s.dynamic, s.row, s.row_T."""
    d, s = system_at(data)[0], run_at(run)[0]
    o = own_at(s.own_at)[0]
    N, m, nc, h, theta = d.n_nodes, d.m, d.nc, s.h, o.theta
    x, R, V, V0, W, D = s.x, s.R, s.V, s.V0, s.W, s.D
    Ma, f, f0, r1, reaction = s.Ma, s.f, o.f0, s.r1, s.Gl
    for i in range(N):
        for j in range(6):
            V[i, j] = V0[i, j] + W[i, j]
            D[i, j] = h * V0[i, j] + o.c_q * W[i, j]
    if turns_too_far(s, D):
        return
    advance_configuration(d, s.x0, s.Q0, D, x, s.Q, R, s.T)
    zero(s.Gl_at, 6 * N)
    if m > 0:
        for i in range(m):
            s.phi[i] = s.kv * s.Lam[i]
    if theta < 1.0:
        dynamics(d, VELOCITY, s.x0, s.R0, V0, W, s.force, s.fs, False, 0.0, 0.0, 0.0, 0.0, R, False)
        if m > 0:
            constraints(d, s.x0, s.R0, V0, s.g, s.rate)
            add_constraint_forces(d, 1.0 - theta, s.phi, reaction)
    single = dynamics(d, VELOCITY, x, R, V, W, Ma, f, False, 0.0, 0.0, 0.0, 0.0, R, False)
    total = 0.0
    if m > 0:
        constraints(d, x, R, V, s.g, s.rate)
        add_constraint_forces(d, theta, s.phi, reaction)
        total = row_norm(d, s.rate) ** 2
    for i in range(6 * N):
        if theta < 1.0:
            Ma[i] = theta * Ma[i] + (1.0 - theta) * s.force[i]
        r1[i] = Ma[i] - h * (theta * f[i] + (1.0 - theta) * f0[i]) - reaction[i] - s.P[i]
    forces = max(full_norm(d, f, s.length), math.sqrt(single)) + full_norm(d, f0, s.length)
    s.F_s = forces + full_norm(d, reaction, s.length) / h
    friction = 0.0
    if nc > 0 and s.without_contacts == 0:
        velocity_contact_residual(d, s, V, s.Vminus, r1, s.rows_c)
        total, friction = add_squares(s.rows_c, total)
    if s.friction != 0:
        call2(s.friction_part, run, IMPULSES)
        total, friction = total + s.friction_row**2, friction + s.friction_slip**2
    s.dynamic, s.row, s.row_T = full_norm(d, r1, s.length), math.sqrt(total), math.sqrt(friction)
    s.merit = merit_of(s, s.kv)
    if stalled(s, nc, o.c_q):
        s.F_s = max(s.F_s, SAFE * s.dynamic / (s.rtol * h))


@entry("void(int64, int64)")
def theta_matrix(data, run):
    """Assemble the matrix of (1) and (2) where the residual was evaluated last.

    What G(q_n) and M(q_n) differ from G(q) and M(q) is left out: O(h), on a change of P and W that is small itself.
    """
    d, s = system_at(data)[0], run_at(run)[0]
    o = own_at(s.own_at)[0]
    # the forces of this point have been used already: arrays of them are scratch
    c_C, c_A, T = o.theta * s.h, o.theta * o.c_q, s.T
    clear_matrix(d, s.number)
    dynamics(d, s.number, s.x, s.R, s.V, s.W, s.force, s.fs, True, 1.0, c_C, c_C * o.c_q, c_A, T, False)
    if d.m > 0:
        shift = s.epsilon_rows * s.kv
        constraint_tangents(d, s.number, s.x, s.R, s.V, s.phi, c_A, o.c_q, s.kv, 0.0, shift, RATES, T)
    if s.friction != 0:
        call2(s.friction_part, run, SLOPES)


PROBLEM = velocity.PROBLEM._replace(residual=theta_residual, matrix=theta_matrix)


@kernel
def forecast(d, s, o):
    """Evaluate contacts at q_n ∘ exp(γ h v_n) and choose those that are closed there, (3).

    With projection also those that are closed at the start: bodies at rest are restored to gap 0, and would hop there.
    """
    for i in range(d.n_nodes):
        for j in range(6):
            s.D[i, j] = FORECAST * s.h * s.V0[i, j]
    advance_configuration(d, s.x0, s.Q0, s.D, s.xs, s.Qs, s.Rs, s.T)
    contacts(d, s.xs, s.Rs, s.x0, s.R0, s.V0)
    for g in contact_groups(d):
        contact = contacts_of(g)
        for e in range(g.n):
            gap = min(contact.gap[e], contact.gap_start[e]) if o.project != 0 else contact.gap[e]
            closed = gap <= closed_gap(s)
            s.candidate[g.first_contact + e] = s.active[g.first_contact + e] = 1 if closed else 0
            o.start_gap[g.first_contact + e] = contact.gap_start[e]
    contacts_begin_step(d)  # Newton's law reflects the velocity along the gradients of the forecast
    for g in contact_groups(d):
        contact = contacts_of(g)
        for e in range(g.n):
            contact.gap_start[e] = o.start_gap[g.first_contact + e]  # the step may be repeated


@kernel
def choose_violated(d, s):
    """Contacts that the projection has closed and that still break Newton's law take part; returns their number.

    They have touched in this step, where the forecast did not see it. Left to the next step, what should rest hops with
    the period of three steps: the projection lifts it as far as it falls.
    """
    count = 0
    for g in contact_groups(d):
        contact = contacts_of(g)
        for e in range(g.n):
            c = g.first_contact + e
            speed = gradient_times(g, e, contact.G_N[e], s.V) + reflected(g, e, d, s, s.Vminus)
            s.candidate[c] = 1 if s.active[c] != 0 and speed < -s.tol_v else 0
            count += s.candidate[c]
    return count


@kernel
def hold_velocities(d, s, o):
    """Project velocities onto (2) and Newton's law at the projected positions: the velocity problem of a held
    configuration. Its impulses are added to those of the step.
    """
    N, m = d.n_nodes, d.m
    if choose_violated(d, s) + m == 0:
        return
    zero(s.W_at, 6 * N)
    zero(s.P_at, 6 * N)
    dynamics(d, VELOCITY, s.x, s.R, s.V, s.W, s.Ma, s.base_v, False, 0.0, 0.0, 0.0, 0.0, s.R, False)
    rates_of_time(d, s, s.V)
    if s.friction != 0:
        call2(s.friction_part, s.run_at, HELD)
    zero(s.Lam_at, m)
    solve_velocities(s, o.held_problem)
    if s.code == OK:
        accumulate_impulses(d, s)
        for i in range(m):
            s.lam_report[i] += s.kv * s.Lam[i] / s.h  # reactions to the contacts of this problem
    if s.friction != 0:
        call2(s.friction_part, s.run_at, RELEASED)


@kernel
def take_back(d, s, o, base):
    """Start the projection without the motion by contacts at rest, U = −θ h M⁻¹ G_cᵀ Λ: it has to keep them closed.

    From the end of the step it would hold nothing: where normals turn, a gap that the step leaves open by h³ stays
    open, the next step has no contact, and bodies at rest hop. Contacts that meet in this step are none of these, nor
    those that leave. Rolling and spinning have no rows in the projection and are left as they are.
    """
    push = 2.0 * o.theta / s.h  # θ h over the ½ h² of the projection
    total = s.total_Lam
    for g in contact_groups(d):
        contact = contacts_of(g)
        for e in range(g.n):
            c = g.first_contact + e
            if total[c, 0] <= 0.0 or contact.gap_start[e] > closed_gap(s) or rebounds(g, e, s):
                continue
            for m in range(3):
                add_gradient(g, e, direction_of(g, e, m), push * total[c, m], base)


@kernel
def project(d, s, o):
    """Project positions onto g = 0 and gaps ≥ 0 by the position correction, then velocities."""
    N = d.n_nodes
    s.failed_problem = POSITION
    copy(s.x, s.xs)
    copy(s.Q, s.Qs)
    copy3(s.R, s.Rs)
    copy(s.V, s.Vs)
    for i in range(6 * N):
        s.base[i] = s.fs[i] = s.f[i]
    if d.nc > 0:
        take_back(d, s, o, s.base)
    call2(s.position_part, s.data_at, s.run_at)
    if s.code == OK:
        s.failed_problem = VELOCITY
        hold_velocities(d, s, o)


@kernel
def resting_force(d, s, o):
    """Force [N] that changes the velocities in a step without an impact.

    Gradients turn between steps and forces act: a contact at rest begins a step with a speed of that size. An impact
    goes through joints and elastic parts, so that forces at its end and reactions of its step are not those at rest.
    """
    if o.quiet < 0.0:
        return s.F_s
    return 2.0 * full_norm(d, o.f0, s.length) + o.quiet


@entry("void(int64, int64)")
def theta_step(data, run):
    """Solve (1)-(3) for the velocities at the end of the step. What the start of the step kept is not touched."""
    d, s = system_at(data)[0], run_at(run)[0]
    o = own_at(s.own_at)[0]
    N = d.n_nodes
    s.smooth_iterations = s.position_iterations = s.velocity_iterations = s.impact_problems = 0
    s.failed_problem = VELOCITY
    if d.nc > 0:
        forecast(d, s, o)
    solve_first(d, s)
    if s.code == OK and s.grains_at != 0:
        call2(s.grains_part, data, run)
    if s.code != OK:
        return
    s.rest_speed = max(s.tol_v, s.h * resting_force(d, s, o) / s.mean_mass)
    for i in range(6 * N):
        o.reaction[i] = s.Gl[i] / s.h
    if o.project != 0:
        project(d, s, o)
    for i in range(6 * N):
        s.base[i] = s.f[i] + o.reaction[i]  # what `stepping.kernels.checks` takes for the forces at the nodes


@entry("void(int64, int64)")
def theta_advance(data, run):
    """Perform one step, and prepare the next."""
    d, s = system_at(data)[0], run_at(run)[0]
    o = own_at(s.own_at)[0]
    begin(d, s)
    begin_step(s)
    code = take(d, s)
    if code == OK and d.nc > 0:
        copy(s.V, s.Vs)
        if o.project == 0:
            zero(s.U_at, 6 * d.n_nodes)
        call2(s.sweep_part, s.data_at, s.run_at)
        code = s.code
    if code == OK:
        for i in range(d.n_nodes):
            for j in range(6):
                s.W[i, j] = s.V[i, j] - s.V0[i, j]
        if o.project != 0:
            zero(s.trial_at, 6 * d.n_nodes)
            dynamics(d, VELOCITY, s.x, s.R, s.V, s.trial, s.Ma, s.f, False, 0.0, 0.0, 0.0, 0.0, s.R, False)
        for i in range(6 * d.n_nodes):
            o.f0[i] = s.f[i]
        accept(d, s)
        s.struck = 1 if mark_impacts(d, s) else 0
        end_step(s)
        if s.struck == 0:
            o.quiet = full_norm(d, o.reaction, s.length)
        if d.nc > 0:
            contacts(d, s.x, s.R, s.x0, s.R0, s.V)  # what is recorded belongs to the end of the step
    s.code = code
