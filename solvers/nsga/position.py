"""Position correction of the decoupled scheme: that of `contact.position`, from the forces of closed contacts."""

from fem_mbs.jit import entry, kernel
from fem_mbs.solvers.contact.law import GAP
from fem_mbs.solvers.contact.position import correct_position, start_position
from fem_mbs.solvers.nsga.data import own_at
from fem_mbs.solvers.nsga.guesses import guess, may_guess
from fem_mbs.solvers.nsga.split import close_touching
from fem_mbs.solvers.stepping.kernels.codes import CLOSED_GAP, OK, STRIKES
from fem_mbs.solvers.stepping.kernels.data import run_at, system_at
from fem_mbs.solvers.stepping.kernels.newton import problem_at
from fem_mbs.solvers.stepping.kernels.shared_factors import share
from fem_mbs.system.contacts import contact_groups, contacts_of


@kernel
def keep_closed(d, s):
    """Contacts that are closed at both ends of the step take part in its velocity problems, pressed or not.

    Sticking friction may hold bodies in the smooth motion with more than its bound: there is no normal force then, and
    the correction has no force. The velocity problem obeys the bounds, and the bodies would fall through what they lie
    on, by g h in this step.
    """
    near = CLOSED_GAP * s.exact * s.scale_x
    for g in contact_groups(d):
        contact = contacts_of(g)
        for e in range(g.n):
            c = g.first_contact + e
            closed = contact.gap_start[e] <= near and contact.gap[e] <= near and contact.theta[e] == 0.0
            if closed and s.held[c] == 0:
                s.active[c] = 1


@entry("void(int64, int64)")
def position(data, run):
    """Solve the position sub-problem: gaps ≥ 0 and g = 0 at the end of the step."""
    d, s = system_at(data)[0], run_at(run)[0]
    o = own_at(s.own_at)[0]
    start_position(d, s)
    share(problem_at(s.position_problem)[0], 0.0 if s.friction != 0 and d.nc > 0 else 1.0, s.kp)
    if s.persistent != 0 and s.repeats == 0:
        factor = s.position_factor * s.h * s.h * s.ks / s.kp
        for c in range(d.nc):
            if s.closed[c] != GAP:
                for i in range(3):
                    s.cnu[c, i] = factor * o.clam[c, i]
    s.at_smooth = 1 if o.mixed == 0 else 0  # forces of mixed elements are those of their states
    if o.guess_U != 0 and may_guess(s, o):
        guess(o.past_U, o.past_nu, o.newest, s.U, s.nu)
        s.guessed, s.at_smooth = 1, 0
    correct_position(d, s)
    s.guessed = 0
    if s.code == OK and (s.friction != 0 or s.persistent != 0):
        keep_closed(d, s)
    if s.cut == STRIKES and s.code == OK:
        close_touching(d, s)
