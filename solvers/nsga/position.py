"""Position correction of the decoupled scheme: that of `contact.position`, from the forces of closed contacts."""

from fem_mbs.jit import entry
from fem_mbs.solvers.contact.law import GAP
from fem_mbs.solvers.contact.position import correct_position, start_position
from fem_mbs.solvers.nsga.data import own_at
from fem_mbs.solvers.nsga.split import close_touching
from fem_mbs.solvers.stepping.codes import OK, STRIKES
from fem_mbs.solvers.stepping.data import run_at, system_at
from fem_mbs.solvers.stepping.newton import problem_at
from fem_mbs.solvers.stepping.shared_factors import share


@entry("void(int64, int64)")
def position(data, run):
    """Solve the position sub-problem: gaps ≥ 0 and g = 0 at the end of the step."""
    d, s = system_at(data)[0], run_at(run)[0]
    o = own_at(s.own_at)[0]
    start_position(d, s)
    share(problem_at(s.position_problem)[0], 0.0 if s.friction != 0 and d.nc > 0 else 1.0, s.kp)
    if s.persistent != 0 and s.counts[4] == 0:
        factor = s.position_factor * s.h * s.h * s.ks / s.kp
        for c in range(d.nc):
            if s.closed[c] != GAP:
                for i in range(3):
                    s.cnu[c, i] = factor * o.clam[c, i]
    s.at_smooth = 1 if o.mixed == 0 else 0  # forces of mixed elements are those of their states
    correct_position(d, s)
    if s.cut == STRIKES and s.code == OK:
        close_touching(d, s)
