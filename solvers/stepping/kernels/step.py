"""One step of a method: its start, the attempts at it, the check of what was accepted.

A method gives the address of what solves a step, ``step_part``; `take` calls it until it succeeds.
"""

import numpy as np

from fem_mbs.jit import call2, kernel, vector
from fem_mbs.solvers.stepping.kernels.arrays import copy, copy1, copy3, largest
from fem_mbs.solvers.stepping.kernels.codes import CLOSED_GAP, LARGE_ROTATION, NOT_CONVERGED, OK, SINGULAR, TOUCHED
from fem_mbs.solvers.stepping.kernels.sizes import farthest_part
from fem_mbs.system.constraints import constraints
from fem_mbs.system.contacts import (
    contact_groups,
    contacts,
    contacts_begin_step,
    contacts_of,
    gradient_times,
    restitution_at,
)
from fem_mbs.system.far_contacts import begin_contacts
from fem_mbs.system.global_matrices import full_norm
from fem_mbs.system.least_norm import least_norm, prepare
from fem_mbs.system.records import SMOOTH, VELOCITY

REACHED = 2  # flag of a contact that has an impact if another has
BOUNCE = 2.0  # times tol_v: rebounds above it are impacts of contacts that were closed before
LEAST_SHIFT = 1e-8  # of constraint rows when a step is repeated
SINGULAR_FORCES = 1e3  # times the forces and the momentum per step: beyond, multipliers are those of a singular matrix
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
    copy(s.x, s.x0)
    copy(s.Q, s.Q0)
    copy(s.V, s.V0)
    copy3(s.R, s.R0)
    if s.far != 0:
        begin_contacts(d, s.x, s.R, s.V)
    elif d.nc > 0:
        # tangents may depend on the start of the step, which is now this configuration
        x, R, V = s.x, s.R, s.V
        contacts(d, x, R, x, R, V)
        contacts_begin_step(d)


@kernel
def configuration_at_start(s):
    """Set the configuration to that at the start of the step."""
    copy(s.x0, s.x)
    copy(s.Q0, s.Q)
    copy3(s.R0, s.R)


@kernel
def near_singular(d, s):
    """True if multipliers exceed by far what forces and momenta of the step explain: its constraints are dependent.

    A mechanism may land on a dead centre. Its matrix is then singular but for round-off, which multipliers divide by.
    """
    lam, arm, largest_force = s.lam_report, vector(d.row_arm_at, d.m), 0.0
    for i in range(d.m):
        largest_force = max(largest_force, abs(lam[i]) / arm[i])
    push = s.mean_mass * max(farthest_part(s.V0, s.size), s.scale_v) / s.h
    return largest_force > SINGULAR_FORCES * (push + full_norm(d, s.f, s.length))


@kernel
def share(d, s):
    """Set the forces of redundant constraint rows to those of least norm at the end of a step."""
    constraints(d, s.x, s.R, s.V, s.g, s.rate)
    if not prepare(d):
        return
    lasting, alone = s.lasting != 0, True
    for i in range(d.m):
        lasting = lasting and s.lam_lasting[i] == s.ks * s.lam[i]
        alone = alone and s.lam_report[i] == s.lam_lasting[i]
    least_norm(d, s.lam)
    if lasting:
        for i in range(d.m):
            s.lam_lasting[i] = s.ks * s.lam[i]
    else:
        least_norm(d, s.lam_lasting)
    if alone:
        copy1(s.lam_lasting, s.lam_report)
    else:
        least_norm(d, s.lam_report)


@kernel
def accept(d, s, singular):
    """Check a step that has converged, and count and share what it found; returns a code."""
    scale_x, scale_v = s.scale_x, s.scale_v
    call2(s.check_part, s.data_at, s.run_at)
    if s.code != OK:
        return s.code
    if singular:
        s.singular_time = s.t if s.singular == 0 else s.singular_time
        s.singular += 1
    if d.shared_at != 0:
        share(d, s)
    s.scale_x = max(scale_x, largest(s.x))
    s.scale_v = max(scale_v, farthest_part(s.Vs, s.size), farthest_part(s.V, s.size))
    return OK


@kernel
def take(d, s):
    """One accepted step of the method, by its ``step_part``, after `begin`; returns a code.

    When it fails it is repeated with other penalties (docs/theory/decoupled_nsga.md, decision 7), see `LADDER`, then
    with a matrix of its own in every iteration, then without restitution. What the method does after an accepted step
    is its own.
    """
    pp, pv, epsilon, iterations, halvings = s.pp, s.pv, s.epsilon, s.max_iterations, s.max_halvings
    pp_T, pv_T, rows, newton = s.pp_T, s.pv_T, s.epsilon_rows, s.newton
    s.handed_problems = 0
    code, first, singular = OK, OK, False
    scale_x, scale_v = s.scale_x, s.scale_v
    short, limited = s.cut_short, s.limited_impacts
    for attempt in range(LADDER.shape[0]):
        if attempt > 0:
            s.pp, s.pv = LADDER[attempt, 0] * s.kp, LADDER[attempt, 0] * s.kv
            s.pp_T, s.pv_T = s.pp, s.pv
            # constraints that were independent at the start may depend on each other where the mechanism is now, and
            # contacts that are closed in the smooth motion too
            s.epsilon_rows = max(rows, LEAST_SHIFT)
            if d.nc == s.nc_fixed:
                s.newton = 1  # where the contact-problem solver has failed; contact groups have no other
        s.epsilon = max(epsilon, LADDER[attempt, 1], LEAST_SHIFT if attempt > 0 else 0.0)
        s.epsilon_rows = max(s.epsilon_rows, LADDER[attempt, 1])
        s.max_halvings = halvings if LADDER[attempt, 2] != 0.0 else 0
        s.max_iterations = iterations * int(LADDER[attempt, 3])
        s.repeats = attempt
        s.cut_short, s.limited_impacts = short, limited  # attempts that failed do not count
        call2(s.step_part, s.data_at, s.run_at)
        if attempt == 0 and rows < LEAST_SHIFT and s.code == OK and d.m > 0 and near_singular(d, s):
            s.code, singular = SINGULAR, True
        code = s.code
        first = code if attempt == 0 else first
        again = d.nc > 0 and s.failed_problem != SMOOTH and (s.newton != 0 or d.nc == s.nc_fixed)
        shifted = attempt == 0 and (d.m > 0 or s.persistent != 0) and (code == SINGULAR or code == NOT_CONVERGED)
        # redundant contacts without a shift: a matrix singular but for round-off gives increments of any size
        shifted = shifted or (attempt == 0 and s.persistent != 0 and epsilon < LEAST_SHIFT and code == LARGE_ROTATION)
        if code == OK or code == TOUCHED or not (again or shifted):
            break
    s.pp, s.pv, s.epsilon, s.max_iterations, s.max_halvings = pp, pv, epsilon, iterations, halvings
    s.pp_T, s.pv_T, s.epsilon_rows, s.newton = pp_T, pv_T, rows, newton
    if code != OK and code != TOUCHED and s.costly != 0 and s.reuse != 0:
        # where it hangs by round-off, an iteration with the exact matrix may find what kept factors have missed
        s.reuse, s.repeats = 0, 0
        s.cut_short, s.limited_impacts = short, limited
        call2(s.step_part, s.data_at, s.run_at)
        code = s.code
        s.reuse, s.repeats = 1, LADDER.shape[0]
    hopeless = code != OK and code != TOUCHED and d.nc > 0 and s.failed_problem == VELOCITY
    if hopeless and (s.newton != 0 or d.nc == s.nc_fixed):
        # an impact with friction and restitution may have no solution (`contact.approach.reflected`)
        s.plastic, s.repeats = 1, 0
        s.cut_short, s.limited_impacts = short, limited
        call2(s.step_part, s.data_at, s.run_at)
        code = s.code
        s.plastic, s.repeats = 0, LADDER.shape[0]
        s.made_plastic += 1 if code == OK else 0
    # nothing but the shift of constraint rows was changed, and the first guess of joint friction
    singular = singular or (s.repeats == 1 and d.nc == 0 and (s.friction == 0 or first == SINGULAR))
    s.repeated += 1 if s.repeats > 0 else 0
    s.handed += s.handed_problems
    # sizes that tolerances refer to: of accepted steps, not of rejected iterates
    s.scale_x, s.scale_v = scale_x, scale_v
    return accept(d, s, singular) if code == OK else code


@kernel
def rebounds(g, e, s):
    """True if Newton's law reflects contact e of a group by more than contacts at rest approach."""
    contact = contacts_of(g)
    approach = abs(gradient_times(g, e, contact.G_N_start[e], s.V0))
    return restitution_at(g, e, approach) * approach > BOUNCE * max(s.tol_v, s.rest_speed)


@kernel
def rested(g, e, s):
    """True if contact e of a group was closed at the start of the step, and its bodies did not approach."""
    contact = contacts_of(g)
    gap = contact.gap_start[e]
    approach = abs(gradient_times(g, e, contact.G_N_start[e], s.V0))
    return gap <= CLOSED_GAP * s.exact * s.scale_x and approach <= max(s.tol_v, s.rest_speed)


@kernel
def mark_impacts(d, s):
    """Fill the flags of contacts that had an impact in the step, and of those that acted; True if one had.

    An impact is an impulse on a contact that was open, or one that Newton's law reflects. Contacts that were closed but
    had no force have one where another has: it reaches them through their bodies. Else they only share a load anew.
    """
    total, impact, was = s.total_Lam, s.impact, s.was_active
    struck = False
    for g in contact_groups(d):
        for e in range(g.n):
            c = g.first_contact + e
            acts = total[c, 0] > 0.0
            impact[c] = 1 if acts and rebounds(g, e, s) else 0
            if acts and was[c] == 0 and impact[c] == 0:
                impact[c] = REACHED if rested(g, e, s) else 1
            was[c] = 1 if acts else 0
            struck = struck or impact[c] == 1
    for c in range(d.nc):
        if impact[c] == REACHED:
            impact[c] = 1 if struck else 0
        if impact[c] == 1 and c < s.nc_fixed:
            s.unkept[c, 0] += s.missed[c, 0]
            s.unkept[c, 1] = max(s.unkept[c, 1], s.missed[c, 1])
        elif impact[c] == 1:
            s.unkept_pairs += s.missed[c, 0]
    s.impact_gain += s.step_gain if struck else 0.0
    return struck
