"""Dry friction of joints in methods that have no smooth motion with friction: all of it is an impulse of the step.

    r1 −= G_F(q)ᵀ Λ_F ,      γ = G_F(q) v + ∂γ/∂t at the end of the step                                            (1)

with the law of `joint_friction.friction_velocity`, (1), in the velocity problem of the step. It is of first order while
joints slide, as the friction of contacts is in these methods; a joint that sticks is at rest at the end of every step.

Static friction takes passes, each with one coefficient per joint, as those of an impact
(`joint_friction.friction_passes`, (1)). What Newton's iteration does not solve goes piece by piece
(`joint_friction.friction_pieces`). Friction at the end of a step is Λ_F/h, its work

    W = Λ_F ½ (γ_n + γ_n+1)                                                                                         (2)

which is what the impulse takes of the kinetic energy; the surface gives the same with −∂γ/∂t in place of γ. In a step
with an impact dry friction takes energy or does nothing: what is above that is counted where it comes from.

Source: docs/theory/joint_friction.md, (1), (16).
"""

from fem_mbs.jit import N_SLOTS, entry, integers, kernel
from fem_mbs.solvers.joint_friction.friction_end import contacts_struck, note_jam
from fem_mbs.solvers.joint_friction.friction_passes import next_pass
from fem_mbs.solvers.joint_friction.friction_pieces import kappas_and_masses, kappas_wanted, search_pieces
from fem_mbs.solvers.joint_friction.friction_start import end_jump, new_speeds, start_statuses
from fem_mbs.solvers.joint_friction.friction_sweeps import couple, settle
from fem_mbs.solvers.joint_friction.friction_velocity import (
    begin_step,
    first_impulses,
    perform_velocity,
)
from fem_mbs.solvers.stepping.kernels.data import run_at, system_at
from fem_mbs.solvers.stepping.kernels.friction_tasks import (
    BEGIN,
    CORRECTION,
    END,
    FIRST,
    HELD,
    JUMPED,
    PASSES,
    PIECES,
    RELEASED,
    SPEEDS,
    START,
)
from fem_mbs.solvers.stepping.kernels.sizes import afresh
from fem_mbs.system.constraints import add_constraint_forces
from fem_mbs.system.friction import (
    STICK,
    add_row,
    coefficient_at,
    coefficients_of,
    directions_of,
    evaluate_row,
    friction_groups,
    friction_of,
    given_acceleration,
    row_times,
    rows_of,
)


@kernel
def break_loose(d):
    """Let slide what static friction does not hold at the start, with its sliding coefficient; True if some slides."""
    found = False
    for g in friction_groups(d):
        for r in range(rows_of(g)):
            kept = friction_of(g, r)
            if kept.status == STICK and kept.trial_status != STICK:
                kept.status, kept.sign, found = kept.trial_status, kept.trial_sign, True
                kept.coefficient = coefficient_at(coefficients_of(g, r), kept.status)
    return found


@kernel
def start(d, s):
    """Statuses by velocities, and friction at the start of a run: that of a short step from the accelerations without
    it, in s.trial, by the iterations of `joint_friction.friction_sweeps`.
    """
    b = integers(d.table_at, N_SLOTS)
    start_statuses(d, s)
    kappas_and_masses(d, s)
    couple(d, s)
    for i in range(d.m):
        s.row_reactions[i] = s.h * s.lam_report[i]
    for g in friction_groups(d):
        for r in range(rows_of(g)):
            kept = friction_of(g, r)
            kept.coefficient = coefficient_at(coefficients_of(g, r), kept.status)
            kept.impulse, kept.bound_share, kept.added_bound, kept.pass_number = 0.0, 1.0, 0.0, -1.0
            acceleration = given_acceleration(d, g, r, b, s.x, s.R, s.V) + row_times(g, r, s.trial)
            s.row_rates[g.first_friction + r] = kept.rate + s.h * acceleration
    settle(d, s, b, 0.5)  # a guide that friction turns to its other side swings about with the whole
    if break_loose(d):
        settle(d, s, b, 0.5)
    for g in friction_groups(d):
        for r in range(rows_of(g)):
            kept = friction_of(g, r)
            kept.bound, kept.force = kept.coefficient * kept.normal_force, kept.impulse / s.h
            kept.start_force = kept.force


@kernel
def first_guess(d, s):
    """First guess of a step: the friction of the last one, but after an impact and in repeated attempts."""
    first_impulses(d, s)
    if afresh(s):
        return
    for g in friction_groups(d):
        for r in range(rows_of(g)):
            kept = friction_of(g, r)
            kept.impulse = s.h * kept.start_force


@kernel
def hold(d, s, held):
    """Begin a second velocity problem of a step, at positions that do not change, or end it.

    Impulses and reactions of the first one count in the law, which is that of the whole step: its impulses stay, its
    reactions go to s.lam, and both are taken off the momenta by the impulses P before the problem.
    """
    b = integers(d.table_at, N_SLOTS)
    for i in range(d.m):
        s.phi[i] = -s.kv * s.Lam[i]
        s.lam[i] = s.kv * s.Lam[i] / (s.h * s.ks) if held else 0.0
    if held and d.m > 0:
        add_constraint_forces(d, 1.0, s.phi, s.P)
    for g in friction_groups(d):
        for r in range(rows_of(g) if held else 0):
            evaluate_row(d, g, r, b, s.x, s.R, s.V)
            add_row(g, r, -friction_of(g, r).impulse, s.P)


@kernel
def take_work(s, kept, moved, struck):
    """Add the work of the step of an element to its first record; in a step with an impact friction gives none."""
    kept.work -= min(moved, 0.0) if struck else moved
    if struck and kept.step_work > 0.0:
        s.given_back += kept.step_work
        kept.step_work = 0.0


@kernel
def end_step(d, s, smooth):
    """Set what is saved of the step: statuses, forces, bounds and the works (2).

    ``smooth``: the impulses turn the rates of a smooth motion into those at the end, see `alpha.friction`, (1). The
    works of several directions are in the record of the first.
    """
    struck, stopped = contacts_struck(d, s), False
    s.friction_event, s.given_back, s.friction_change = -1.0, 0.0, 0.0
    for g in friction_groups(d):
        n, moved = directions_of(g), 0.0
        for r in range(rows_of(g)):
            kept, head = friction_of(g, r), friction_of(g, r // n * n)
            if r % n == 0:
                head.step_work = head.surface_work = moved = 0.0
            kept.rate = row_times(g, r, s.V) + kept.given_rate
            before = row_times(g, r, s.Vs) + kept.given_rate if smooth else kept.start_rate
            head.step_work += 0.5 * kept.impulse * (before + kept.rate)
            given = kept.given_rate if smooth else 0.5 * (kept.start_given_rate + kept.given_rate)
            head.surface_work += -kept.impulse * given
            moved += 0.5 * kept.impulse * (kept.start_rate + kept.rate)
            if r % n == n - 1:
                take_work(s, head, moved, struck)
            force = kept.impulse / s.h
            s.friction_change = max(s.friction_change, kept.arm * abs(force - kept.force) / kept.effective_mass)
            kept.force = kept.start_force = force
            stopped = stopped or (kept.trial_status == STICK and kept.start_status != STICK)
    if stopped or kappas_wanted(d):
        kappas_and_masses(d, s)
    for g in friction_groups(d):
        for r in range(rows_of(g)):
            kept = friction_of(g, r)
            kept.status = kept.trial_status
            if r % directions_of(g) == 0:
                note_jam(s, g, r // directions_of(g))
            kept.bound = coefficient_at(coefficients_of(g, r), kept.status) * kept.normal_force
            if kept.status != STICK:
                kept.sign = kept.trial_sign


@kernel
def perform(d, s, task, at):
    """Perform one of the `friction_tasks` that methods without friction in a smooth motion have; others do nothing.

    ``at``: address of the unknowns of velocities in dx.
    """
    if perform_velocity(d, s, task, at, True):
        return
    if task == BEGIN:
        begin_step(d, False)
    elif task == FIRST:
        first_guess(d, s)
    elif task == PASSES:
        s.friction_answer = 1 if next_pass(d, s, True) else 0
    elif task == PIECES:
        search_pieces(d, s)
    elif task == CORRECTION:  # joints that stick hold in the velocities that follow
        s.friction_row = s.friction_slip = 0.0
    elif task == HELD or task == RELEASED:
        hold(d, s, task == HELD)
    elif task == END:
        end_step(d, s, False)
    elif task == START:
        start(d, s)
    elif task == SPEEDS:
        new_speeds(d, s)
    elif task == JUMPED:
        end_jump(d, s)


@entry("void(int64, int64)")
def friction_part(run, task):
    """Do one of the `friction_tasks`."""
    s = run_at(run)[0]
    s.friction_answer = 0
    perform(system_at(s.data_at)[0], s, task, s.dx_at)
