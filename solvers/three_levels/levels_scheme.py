"""Steps of the method with laws at three levels: how the iteration starts, and what a step leaves to the next.

    λ̄* = (α_f λ_n − α_m λ̄_n)/(1 − α_m) ,   λ̄ = λ̄* + (1 − α_f)/(1 − α_m) λ                                        (1)

for the forces of contacts, as for accelerations in `alpha.motion`.

Source: docs/theory/nonsmooth_generalized_alpha_friction.md, (5).
"""

from fem_mbs.jit import entry, kernel
from fem_mbs.solvers.alpha.data import own_at
from fem_mbs.solvers.alpha.scheme import keep_impulses, solve_coupled, start_motion, take_coupled
from fem_mbs.solvers.contact.law import GAP
from fem_mbs.solvers.contact.law_rows import SIX, contact_arm
from fem_mbs.solvers.contact.velocity import clear_impulses
from fem_mbs.solvers.stepping.kernels.arrays import copy
from fem_mbs.solvers.stepping.kernels.codes import OK
from fem_mbs.solvers.stepping.kernels.data import run_at, system_at
from fem_mbs.solvers.stepping.kernels.step import begin
from fem_mbs.solvers.three_levels.levels_friction import branches, find_lasting, measure_cones
from fem_mbs.system.records import SMOOTH, VELOCITY, zero

# Attempts at a step (`stepping.kernels.step.take`) with laws in accelerations. With friction these need not have a
# solution where those of impulses have one; then the contacts of the step act by impulses alone. Of 160 throws of
# boxes 33 were rejected without this, 3 with it.
WITH_FORCES = 2


@kernel
def predict_forces(d, s, o):
    """λ of the last step as the first guess, and λ̄*, (1)."""
    for c in range(d.nc):
        for m in range(SIX):
            o.lam_c[c, m] = o.lam_c0[c, m] / s.ks
            o.bar[c, m] = (o.alpha_f * o.lam_c0[c, m] - o.alpha_m * o.bar0[c, m]) / (1.0 - o.alpha_m)


@kernel
def keep_contact_forces(d, s, o):
    """λ and λ̄ of the step for the next one, (1), and what is saved of the contacts: P and h λ."""
    factor = (1.0 - o.alpha_f) / (1.0 - o.alpha_m)
    copy(s.total_Lam, s.sent)
    for c in range(d.nc):
        if o.level[c] == 0:  # open, its row is λ = 0: its residual is the round-off of the last solve
            for m in range(SIX):
                o.lam_c[c, m] = 0.0
        for m in range(SIX):
            o.lam_change[c, m] = s.ks * o.lam_c[c, m] - o.lam_c0[c, m]
            o.lam_c0[c, m] = s.ks * o.lam_c[c, m]
            o.bar0[c, m] = o.bar[c, m] + factor * o.lam_c0[c, m]
            s.total_Lam[c, m] = s.h * contact_arm(d, s, c, m) * o.lam_c0[c, m]
        now = branches(s, o, c)
        o.changed[c], o.branch[c] = 1 if now != o.branch[c] else 0, now
        # what steps of variable size may take for smooth motion: see `step_control.Controller`
        s.closed[c] = s.acted[c] if o.level[c] == 3 and o.changed[c] == 0 and s.impact[c] == 0 else GAP


@kernel
def start(d, s, o):
    """First guess: motion by the prediction, forces of the last step, no jump and no correction."""
    start_motion(d, s, o)
    predict_forces(d, s, o)
    for at in (s.cnu_at, s.cLam_at, s.sent_at):
        zero(at, SIX * d.nc)
    clear_impulses(d, s)


@entry("void(int64, int64)")
def first_guess(data, run):
    """`start` as a part of `alpha.reduced`."""
    d, s = system_at(data)[0], run_at(run)[0]
    start(d, s, own_at(s.own_at)[0])


@entry("void(int64, int64)")
def levels_step(data, run):
    """Solve the coupled problem of one step. What the start of the step kept is not touched."""
    d, s = system_at(data)[0], run_at(run)[0]
    o = own_at(s.own_at)[0]
    s.smooth_iterations = s.position_iterations = s.velocity_iterations = s.impact_problems = 0
    s.failed_problem = VELOCITY if d.nc > 0 else SMOOTH
    o.forces = 1 if s.repeats < WITH_FORCES else 0
    start(d, s, o)
    solve_coupled(d, s, d.nc > 0)
    s.smooth_iterations = s.position_iterations = s.velocity_iterations
    if s.code != OK:
        return
    keep_impulses(d, s)
    s.lasting = 1
    for i in range(d.m):
        s.lam_lasting[i] = s.ks * s.lam[i]
        s.lam_report[i] = s.lam_lasting[i] + s.kv * s.Lam[i] / s.h


@entry("void(int64, int64)")
def levels_advance(data, run):
    """Perform one step, and prepare the next."""
    d, s = system_at(data)[0], run_at(run)[0]
    o = own_at(s.own_at)[0]
    begin(d, s)
    find_lasting(d, s, o)
    code = take_coupled(d, s, o)
    if code == OK:
        keep_contact_forces(d, s, o)
        measure_cones(d, s, o)
        if s.friction == 0:
            zero(s.W_at, 6 * d.n_nodes)  # accelerations that are saved are a itself
    s.code = code
