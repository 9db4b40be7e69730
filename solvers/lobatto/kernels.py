"""A step of `LobattoIIIAB`: the stage problem, then the impact problem, then forces and accelerations at the end.

Source: docs/theory/lobatto.md, (4)-(14).
"""

import numpy as np

from fem_mbs.jit import call2, entry, kernel
from fem_mbs.solvers.contact.law import GAP
from fem_mbs.solvers.contact.law_rows import SIX, contact_arm
from fem_mbs.solvers.contact.one_problem import begin_friction, begin_step, end_step, next_pass
from fem_mbs.solvers.contact.restitution import solve_impact
from fem_mbs.solvers.contact.velocity import (
    accumulate_impulses,
    clear_impulses,
    rates_of_time,
)
from fem_mbs.solvers.lobatto.data import own_at
from fem_mbs.solvers.lobatto.impact import choose_closed, momentum_without_end
from fem_mbs.solvers.lobatto.lasting import choose_lasting, forces_at_the_end, give_up, keep_directions, slips
from fem_mbs.solvers.stepping.initial import equations, solve_equations
from fem_mbs.solvers.stepping.kernels.accept import accept
from fem_mbs.solvers.stepping.kernels.arrays import copy, copy3, largest_turn
from fem_mbs.solvers.stepping.kernels.codes import LARGEST_TURN, NOT_CONVERGED, OK, SINGULAR, STRIKES, WHOLE
from fem_mbs.solvers.stepping.kernels.data import run_at, system_at
from fem_mbs.solvers.stepping.kernels.friction_tasks import JUMP, MOVE
from fem_mbs.solvers.stepping.kernels.newton import solve
from fem_mbs.solvers.stepping.kernels.run import go_to
from fem_mbs.solvers.stepping.kernels.sizes import afresh
from fem_mbs.solvers.stepping.kernels.step import LADDER, begin, mark_impacts, take
from fem_mbs.system.assembly import advance_configuration, dynamics
from fem_mbs.system.constraints import add_constraint_forces
from fem_mbs.system.contacts import contacts
from fem_mbs.system.records import POSITION, VELOCITY, zero

# attempts by impulses: p/k, proximal shift, with line search or not; as the rows of `stepping.kernels.step.LADDER`
BY_IMPULSES = np.array([[1.0, 1e-8, 1.0], [0.03, 1e-6, 0.0], [30.0, 1e-6, 1.0]])
MORE = 3  # times the iterations of other problems, for those with contacts that last
IN_TURN = 30  # solutions of both problems, in which friction of joints settles
RETREATS = 2  # from contacts that were taken to last, before all of them are


@kernel
def first_guess(d, s, o, again):
    """Unknowns of the stages: velocities from the accelerations at the start, multipliers of the last step.

    From the velocities at the start alone, without multipliers, ``again``.
    """
    stages = o.a.shape[0]
    factor = 0.0 if again else s.h
    for j in range(stages):
        for n in range(d.n_nodes):
            for k in range(6):
                o.w[j, n, k] = s.V0[n, k] + factor * s.instants[j] * o.Vd0[n, k]
        for i in range(d.m):
            o.Ri[j, i] = 0.0 if again else s.h / s.kv * s.lam_report[i]
    for c in range(d.nc):
        keep = not again and s.was_active[c] != 0 and s.impact[c] == 0
        for j in range(stages):
            for k in range(SIX):
                o.cR[j, c, k] = o.cR[j, c, k] if keep else 0.0


@kernel
def velocities_at_the_end(d, s, o):
    """Solve the impact problem at the configuration of the last stage."""
    N, nc = d.n_nodes, d.nc
    s.failed_problem = VELOCITY
    copy(s.xs, s.x)
    copy(s.Qs, s.Q)
    copy3(s.Rs, s.R)
    zero(s.W_at, 6 * N)
    if nc > 0:
        choose_closed(d, s, o)
        keep_directions(d, s, o)
    momentum_without_end(d, s, o)
    rates_of_time(d, s, s.Vs)
    again, last = afresh(s), o.a.shape[0] - 1
    for i in range(d.m):
        s.Lam[i] = 0.0 if again else o.b[last] * s.h * s.lam_report[i] / s.kv
    for c in range(nc):
        s.status[c] = GAP
        stays = not again and s.was_active[c] != 0 and s.impact[c] == 0
        for k in range(SIX):
            keep = stays and (k == 0 or not slips(o, c))
            s.cLam[c, k] = s.total_Lam[c, k] / (contact_arm(d, s, c, k) * s.kv) if keep else 0.0
        for k in range(3):  # where the contact-problem solver starts, see `contact.correction`
            s.cnu[c, k] = s.position_factor * s.h * s.kv / s.kp * s.cLam[c, k]
    if o.lasting == 0:
        solve_impact(s)
        return
    s.first_residual = 1
    solve(s, s.velocity_problem, s.max_iterations)
    s.velocity_iterations = max(s.velocity_iterations, s.iteration)


@kernel
def attempt_step(d, s, o, again):
    """Solve both problems from the first guess."""
    begin_friction(s)
    first_guess(d, s, o, again)
    solve_problems(d, s, o)


@kernel
def solve_problems(d, s, o):
    """Solve both problems from the present unknowns of the stages, in turn as long as friction of joints changes."""
    for _ in range(1 if s.friction == 0 and s.stiction_part == 0 else IN_TURN):
        solve_both(d, s, o)
        if s.code != OK:
            return
        again = False
        if s.friction != 0:
            call2(s.friction_part, s.run_at, MOVE)
            again = s.friction_answer != 0
        if not again and not next_pass(d, s):
            return
    s.code = NOT_CONVERGED


@kernel
def solve_both(d, s, o):
    """Solve the stage problem and the impact problem."""
    s.failed_problem = POSITION
    s.want_matrix = 1  # nearly all steps need one
    solve(s, o.stage_problem, s.max_iterations)
    s.want_matrix = 0
    if s.code != OK:
        return
    s.position_iterations = max(s.position_iterations, s.iteration)
    velocities_at_the_end(d, s, o)


@kernel
def attempt_lasting(d, s, o):
    """Solve both problems with contacts that last, and again without those of them that do not; whether that ends well.

    Contacts that are removed leave their friction to others: the present unknowns are the better start. Without them a
    step is of lower order, so more iterations are spent here: from a start in contact, where no impulse is known, the
    impact problem took 28 to 33. ``o.fell_back`` counts the steps in which they were not enough.
    """
    most, s.max_iterations = s.max_iterations, MORE * s.max_iterations
    attempt_step(d, s, o, afresh(s))
    for _ in range(RETREATS):
        if s.code != OK or give_up(d, s, o) == 0:
            break
        solve_problems(d, s, o)
    s.max_iterations = most
    o.fell_back += 1 if s.code != OK else 0
    return s.code == OK and give_up(d, s, o) == 0


@kernel
def solve_by_impulses(d, s, o):
    """Solve a step that has failed with contacts at its end only; all else of them is left to the impact problem.

    Stages in which contacts close, open, stick and slide in turn leave Newton's iteration, and now and then the step,
    no solution. It comes after all usual attempts: done earlier, more of the steps that follow fail. Where the last
    step was solved like this it comes after the first: in a heap of bodies one step fails after the other.
    """
    pv, pv_T, epsilon, iterations, halvings = s.pv, s.pv_T, s.epsilon, s.max_iterations, s.max_halvings
    o.by_impulses = 1
    for k in range(BY_IMPULSES.shape[0]):
        s.pv = s.pv_T = BY_IMPULSES[k, 0] * s.kv
        s.epsilon = max(epsilon, BY_IMPULSES[k, 1])
        s.max_halvings = halvings if BY_IMPULSES[k, 2] != 0.0 else 0
        attempt_step(d, s, o, True)
        if s.code != OK and s.failed_problem == VELOCITY and s.contact_part != 0:
            call2(s.contact_part, s.data_at, s.run_at)
        if s.code == OK:
            o.troubled, s.repeats = 1, max(s.repeats, 1)  # a repeated step
            o.left_to_impulses += 1
            break
    o.by_impulses = 0
    s.pv, s.pv_T, s.epsilon, s.max_iterations, s.max_halvings = pv, pv_T, epsilon, iterations, halvings


@kernel
def solve_captured(d, s, o):
    """Solve the problems of a step in which contacts close, open, stick and slide by the rows of its stages."""
    for c in range(d.nc):
        o.left_out[c] = o.kept[c] = 0
    lasting = choose_lasting(d, s, o, s.repeats == 0 and o.by_impulses == 0)
    if not (lasting and attempt_lasting(d, s, o)):
        choose_lasting(d, s, o, False)
        attempt_step(d, s, o, lasting or afresh(s))
    if s.code == OK:
        o.troubled = 0
    elif d.nc > 0 and (o.troubled != 0 or s.plastic != 0 or s.repeats == LADDER.shape[0] - 1):
        solve_by_impulses(d, s, o)


@kernel
def mean_reactions(d, s, o):
    """Impulses of joints over h as their multipliers: what checks of the step and steps with impacts take."""
    for i in range(d.m):
        impulse = s.Lam[i]
        for j in range(o.a.shape[0] - 1):
            impulse += o.b[j] * o.Ri[j, i]
        s.lam_report[i] = s.kv * impulse / s.h


@entry("void(int64, int64)")
def lobatto_step(data, run):
    """Solve the problems of the step. What the start of the step kept is not touched, except multipliers."""
    d, s = system_at(data)[0], run_at(run)[0]
    o = own_at(s.own_at)[0]
    s.smooth_iterations = s.position_iterations = s.velocity_iterations = s.impact_problems = 0
    copy(s.V0, s.Vminus)
    copy(s.V0, s.Vsminus)
    go_to(d, s, 0)
    dynamics(d, VELOCITY, s.x0, s.R0, s.V0, s.V0, o.Pn, s.f, False, 0.0, 0.0, 0.0, 0.0, s.R0, False)
    if d.nc > 0:
        contacts(d, s.x0, s.R0, s.x0, s.R0, s.V0)
    o.collected = o.answer = 0
    if s.cut != WHOLE:
        call2(o.located_part, run, 0)
    if o.answer == 0:
        solve_captured(d, s, o)
    if s.code == OK:
        mean_reactions(d, s, o)
    go_to(d, s, o.a.shape[0] - 1)


@kernel
def collect_impulses(d, s, o):
    """Impulses of contacts of the step, and their status; P gets h times their forces: means, or those of the end."""
    clear_impulses(d, s)
    zero(s.P_at, 6 * d.n_nodes)
    s.impact_problems = 1
    accumulate_impulses(d, s)
    if o.lasting != 0:
        forces_at_the_end(d, s, o)


@kernel
def report(d, s, o):
    """Multipliers and accelerations at the end: those that are consistent with the forces there.

    Forces of contacts that stick or slide in the whole step are R^s/h, of order s − 1, those of others means over the
    step. In steps with an impact joints report their impulses over h too, and accelerations are zero.
    """
    h = s.h
    if s.struck != 0:
        zero(s.Vd_at, 6 * d.n_nodes)
        return True
    zero(s.trial_at, 6 * d.n_nodes)
    epsilon = s.epsilon_rows / s.mean_mass
    equations(d, epsilon, s.x, s.R, s.V, s.trial, s.lam_report, s.g, s.rate, s.phi, s.Ma, s.f)
    for i in range(6 * d.n_nodes):
        s.f[i] += s.P[i] / h
    if s.friction != 0:
        call2(s.friction_part, s.run_at, JUMP)
    return solve_equations(d, epsilon, s.Vd, s.lam_report, s.phi, s.f, s.r)


@kernel
def keep_accelerations(d, s, o):
    """Store accelerations at the end, which start the next step, and the data of both for `lobatto.error`."""
    o.steady = 1 if o.quiet != 0 and s.struck == 0 else 0
    for c in range(d.nc):
        o.steady = 0 if s.was_active[c] != 0 else o.steady
    o.quiet = 0 if s.struck != 0 else 1
    copy(o.Vd0, o.Vd_start)
    copy(s.Vd, o.Vd0)


@kernel
def look_for_passages(d, s, code):
    """Check if bodies passed each other in the step; returns a code. A step that failed is looked at as free flight.

    Bodies that would be inside each other at an inner stage and beyond at the end leave Newton's iteration no solution.
    """
    if code != OK:
        for i in range(d.n_nodes):
            for j in range(6):
                s.V[i, j], s.D[i, j] = s.V0[i, j], s.h * s.V0[i, j]
        if largest_turn(s.D) > LARGEST_TURN:
            return code
        advance_configuration(d, s.x0, s.Q0, s.D, s.x, s.Q, s.R, s.T)
        for c in range(d.nc):
            s.acted[c] = GAP
    copy(s.V, s.Vs)
    zero(s.U_at, 6 * d.n_nodes)
    call2(s.sweep_part, s.data_at, s.run_at)
    return s.code if s.code != OK else code


@entry("void(int64, int64)")
def lobatto_advance(data, run):
    """Perform one step, and prepare the next."""
    d, s = system_at(data)[0], run_at(run)[0]
    o = own_at(s.own_at)[0]
    begin(d, s)
    begin_step(s)
    code = take(d, s)
    if d.nc > 0 and (code == OK or code == NOT_CONVERGED):
        if code == OK:
            contacts(d, s.x, s.R, s.x0, s.R0, s.V)
            if o.collected == 0:
                collect_impulses(d, s, o)
        code = look_for_passages(d, s, code)
    if code == OK:
        accept(d, s)
        s.struck = 1 if mark_impacts(d, s) else 0
        if s.cut != STRIKES:
            zero(o.mode_at, d.nc)
        end_step(s)
        zero(s.W_at, 6 * d.n_nodes)
        if not report(d, s, o):
            code = SINGULAR
        keep_accelerations(d, s, o)
        for i in range(6 * d.n_nodes):
            s.base[i] = s.f[i]  # what `stepping.kernels.checks` takes for the forces at the nodes
        add_constraint_forces(d, 1.0, s.lam_report, s.base)
    s.code = code
