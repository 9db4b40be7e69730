"""Velocity correction of the decoupled scheme: impact law, friction cones, G v = 0.

Source: docs/theory/decoupled_nsga.md, (16)-(21).
"""

from fem_mbs.jit import call2, entry, integer_matrix, kernel
from fem_mbs.solvers.contact.approach import at_the_touch, was_open
from fem_mbs.solvers.contact.law import GAP
from fem_mbs.solvers.contact.law_rows import SIX
from fem_mbs.solvers.contact.restitution import limit_restitution, solve_impact
from fem_mbs.solvers.contact.touch import accelerate
from fem_mbs.solvers.contact.velocity import (
    accumulate_impulses,
    clear_impulses,
    rates_of_time,
    start_from_last,
)
from fem_mbs.solvers.nsga.data import own_at
from fem_mbs.solvers.nsga.guesses import guess, may_guess
from fem_mbs.solvers.nsga.persistent import state_of
from fem_mbs.solvers.nsga.stiction_tasks import NEXT, TIME, TIME_FIRST, TOUCH
from fem_mbs.solvers.stepping.kernels.arrays import copy
from fem_mbs.solvers.stepping.kernels.codes import OK, STRIKES, TOO_MANY_PROBLEMS
from fem_mbs.solvers.stepping.kernels.data import run_at, system_at
from fem_mbs.solvers.stepping.kernels.friction_tasks import FIRST, IMPACT_BEGIN, IMPACT_DONE, PASSES
from fem_mbs.solvers.stepping.kernels.newton import problem_at
from fem_mbs.solvers.stepping.kernels.shared_factors import share
from fem_mbs.solvers.stepping.kernels.sizes import rest_speed
from fem_mbs.system.contacts import contact_groups, contacts_of, gradient_times, laws_of
from fem_mbs.system.records import groups_of, zero

LONG_SEQUENCE = 8  # impact problems of a step; the billiard break of annex B needs 3
WAITS = 2  # mark of a candidate that waits
SLOW = 0.1  # of the fastest approach at a common body: contacts that close in a step with less wait for that impact


@kernel
def rests(d, s):
    """True if no active contact approached before the step: then it has no impact, closed ones only carry load."""
    active, V0 = s.active, s.V0
    if s.cut == STRIKES:
        return False
    for g in contact_groups(d):
        contact = contacts_of(g)
        for e in range(g.n):
            if active[g.first_contact + e] != 0 and gradient_times(g, e, contact.G_N_start[e], V0) < -s.tol_v:
                return False
    return True


@kernel
def fastest_at(d, s, g, e):
    """Fastest approach of the candidates that share a moving node with contact e of group g; ≥ 0."""
    groups, nodes, fastest = groups_of(d), integer_matrix(g.nodes_at, g.n, g.nn), 0.0
    for k in range(d.n_groups):
        other = groups[k]
        if other.contact == 0:
            continue
        others = integer_matrix(other.nodes_at, other.n, other.nn)
        for f in range(other.n):
            if s.candidate[other.first_contact + f] == 0:
                continue
            common = False
            for i in range(g.nn):
                for j in range(other.nn):
                    common = common or (nodes[e, i] == others[f, j] != 0)
            if common:
                fastest = max(fastest, -gradient_times(other, f, contacts_of(other).G_N[f], s.Vsminus))
    return fastest


@kernel
def let_slow_ones_wait(d, s):
    """Leave slow open contacts with restitution out of the problem of a fast impact at the same body; returns how many.

    In one problem with it such a contact hands the impulse on, and reflects its own small approach: two bodies then fly
    off together where the first should stop. In the next problem it approaches with what the fast impact has given.
    """
    waiting = 0
    for g in contact_groups(d):
        contact = contacts_of(g)
        for e in range(g.n):
            c = g.first_contact + e
            if s.candidate[c] == 0 or laws_of(g)[e].restitution == 0.0 or not was_open(g, e, s):
                continue
            approach = -gradient_times(g, e, contact.G_N[e], s.Vsminus)
            if s.tol_v < approach < SLOW * fastest_at(d, s, g, e):
                s.candidate[c] = WAITS
                waiting += 1
    for c in range(d.nc):  # after all of them, whatever their order is
        if s.candidate[c] == WAITS:
            s.candidate[c] = 0
    return waiting


@kernel
def choose_candidates(d, s, o):
    """Contacts that are closed and approach with velocities V~−; returns their number.

    Contacts of a pair that touch after its first touch wait for the second problem. So do those that a split step ends
    at: the first problem is that of the time before the touch, the second the impact, with all that has acted in the
    first. Others that take part: in the
    first problem of a step without impact all contacts that carried load before (solved one after the other, the
    contacts of a stack would hand their load up and down without end); in a long sequence those without restitution
    that have acted in this step (published ones are shorter); in the second half of the problems allowed all that
    have acted, then without restitution: what is handed to and fro that long is the tail of an endless sequence. In
    models with contact groups all closed contacts without restitution take part at once, whether they have acted or
    not: layer by layer, an impact would need a problem for each. In short sequences without contact groups
    `let_slow_ones_wait`.
    """
    active, candidate = s.active, s.candidate
    closed, acted_as = s.closed, s.acted
    clam, rest = o.clam, rest_speed(s)
    was_active, Vs = s.was_active, s.Vsminus
    first, ending = s.impact_problems == 0, 2 * s.impact_problems >= s.max_problems
    resting, many, long = first and rests(d, s), d.nc > s.nc_fixed, s.impact_problems >= LONG_SEQUENCE
    touched = s.cut == STRIKES and s.impact_problems == 1
    count = 0
    for g in contact_groups(d):
        law, contact = laws_of(g), contacts_of(g)
        for e in range(g.n):
            c = g.first_contact + e
            candidate[c] = 0
            if active[c] == 0 or (first and (contact.late[e] != 0 or at_the_touch(g, e, s))):
                continue
            if gradient_times(g, e, contact.G_N[e], Vs) < -s.tol_v:
                candidate[c] = 1
                count += 1
            # a closed contact of the smooth sub-problem does not approach there but carries its force here; one without
            # load waits for the problem in which an impact has reached it
            loaded = s.persistent != 0 and closed[c] != GAP and s.h * s.ks * clam[c, 0] > s.mean_mass * rest
            carried = (resting and was_active[c] != 0) or (first and loaded) or (touched and acted_as[c] != GAP)
            together = ending or ((long or many) and law[e].restitution == 0.0)
            if carried or (together and (many or acted_as[c] != GAP)):
                candidate[c] = 1
    if count > 1 and s.approach != 0 and not (many or long or ending):
        count -= let_slow_ones_wait(d, s)
    return count


@kernel
def some_reflect(d, s):
    """True if a candidate has a restitution, which it loses where a sequence is cut short."""
    candidate = s.candidate
    for g in contact_groups(d):
        law = laws_of(g)
        for e in range(g.n):
            if candidate[g.first_contact + e] != 0 and law[e].restitution > 0.0:
                return s.plastic == 0
    return False


@kernel
def start_from_closed(d, s, o):
    """First guess of the impulses of contacts that are in the smooth sub-problem: their forces there."""
    for c in range(d.nc):
        for m in range(SIX if s.closed[c] != GAP else 0):
            if state_of(s, o, c, m) != GAP:
                s.cLam[c, m] = s.h * s.ks * o.clam[c, m] / s.kv


@kernel
def begin_sequence(d, s, o):
    """Begin the velocity sub-problem: nothing has acted."""
    N, nc = d.n_nodes, d.nc
    V, Vs, V0, Vminus, Vsminus = s.V, s.Vs, s.V0, s.Vminus, s.Vsminus
    zero(s.W_at, 6 * N)
    zero(s.Lam_at, d.m)
    s.guessed = 1 if o.guess_W != 0 and may_guess(s, o) else 0
    if s.guessed != 0:
        guess(o.past_W, o.past_Lam, o.newest, s.W, s.Lam)
    zero(s.P_at, 6 * N)
    start_from_last(d, s)
    if s.persistent != 0 and s.repeats == 0:
        start_from_closed(d, s, o)
    clear_impulses(d, s)
    rates_of_time(d, s, Vs)
    copy(V0, Vminus)
    copy(Vs, Vsminus)
    copy(Vs, V)
    s.velocity_iterations = s.impact_problems = o.integrated = 0
    share(problem_at(s.velocity_problem)[0], 0.0 if s.friction != 0 and d.nc > 0 else 1.0, s.kv)
    if s.friction != 0:
        call2(s.friction_part, s.run_at, IMPACT_BEGIN)
    if s.stiction_part != 0 and s.cut == STRIKES:
        call2(s.stiction_part, s.run_at, TIME)
    if s.touch != 0 and s.approach != 0 and nc > 0:
        s.touch = accelerate(d, s)


@kernel
def solve_sequence(d, s, o):
    """The velocity sub-problem as a sequence of impact problems, with one coefficient per joint and contact.

    Static friction in the time before the touch of a split step has passes of its own.
    """
    N, nc = d.n_nodes, d.nc
    V, V0, W, Vminus, Vsminus = s.V, s.V0, s.W, s.Vminus, s.Vsminus
    begin_sequence(d, s, o)
    while True:
        count = choose_candidates(d, s, o)
        if count == 0 and s.impact_problems > 0:
            s.code = OK
            return
        if 0 <= 2 * s.impact_problems - s.max_problems <= 1 and some_reflect(d, s):
            s.cut_short += 1
        taken = False
        if o.course_part != 0 and s.impact_problems == 1 and s.cut == STRIKES:
            call2(o.course_part, s.run_at, 0)
            taken = o.answer != 0
        if not taken:
            solve_impact(s)
        if not taken and s.code == OK and nc > 0 and s.approach != 0 and s.plastic == 0:
            limit_restitution(d, s)
        if s.code != OK:
            return
        acted = taken or accumulate_impulses(d, s)
        s.impact_problems += 1
        again = False
        if s.friction != 0:
            call2(s.friction_part, s.run_at, IMPACT_DONE)
            again = s.friction_answer != 0
        if s.stiction_part != 0 and s.cut == STRIKES and s.impact_problems == 1:
            call2(s.stiction_part, s.run_at, TOUCH)
            again = again or o.answer != 0
        if again:
            begin_sequence(d, s, o)
            continue
        # the first W holds what the position correction has strained: it can drive in contacts that did not approach
        if not acted and s.impact_problems > 1:
            s.code = OK
            return
        if acted and s.impact_problems >= s.max_problems:
            s.code = TOO_MANY_PROBLEMS
            return
        for i in range(N):
            for j in range(6):
                Vminus[i, j] = V0[i, j] + W[i, j]
                Vsminus[i, j] = V[i, j]


@entry("void(int64, int64)")
def velocity(data, run):
    """Solve the velocity sub-problem: impact law, friction cones and G v + ∂g/∂t = 0, friction of joints.

    Static friction, of joints and of contacts, takes up to three passes.
    """
    d, s = system_at(data)[0], run_at(run)[0]
    o = own_at(s.own_at)[0]
    if s.friction != 0:
        call2(s.friction_part, run, FIRST)
    if s.stiction_part != 0 and s.cut == STRIKES:
        call2(s.stiction_part, run, TIME_FIRST)
    solve_sequence(d, s, o)
    s.guessed = 0
    while (s.friction != 0 or s.stiction_part != 0) and s.code == OK:
        again = False
        if s.friction != 0:
            call2(s.friction_part, run, PASSES)
            again = s.friction_answer != 0
        if s.stiction_part != 0:
            call2(s.stiction_part, run, NEXT)
            again = again or o.answer != 0
        if not again:
            return
        solve_sequence(d, s, o)
