"""A step whose impacts and transitions are located: modes, both problems, events, and the impact at a touch.

By the extent of the step, ``s.cut`` (`stepping.kernels.codes`):

    whole step     in fixed modes; with an event in it the code is TOUCHED
    trial part     φ of the marked events at its end (`lobatto.events`), the code is TOUCHED
    part           that ends at an event. Where a contact touches, v of the impact problem is v⁻, and the impact
                   follows, with all closed contacts and without duration:

        M (v⁺ − v⁻) = Gᵀ Λ + G_Nᵀ Λ_N + V_Tᵀ Λ_T ,   G v⁺ + ∂g/∂t = 0 ,   Newton's law and the cones for Λ         (1)

Impulses of (1) are added to those of the part. ``o.answer`` is 0 where the step is left to the rows of its stages
(`lobatto.kernels.solve_captured`): slow impacts, modes that do not settle, problems without a solution.

Source: docs/theory/lobatto.md, (19)-(22). Tests: tests/validation/laws/test_lobatto_split.py.
"""

from fem_mbs.jit import entry, kernel
from fem_mbs.solvers.contact.first_touch import NEAR
from fem_mbs.solvers.contact.law import GAP
from fem_mbs.solvers.contact.restitution import limit_restitution, solve_impact
from fem_mbs.solvers.contact.velocity import accumulate_impulses, clear_impulses
from fem_mbs.solvers.lobatto.data import own_at
from fem_mbs.solvers.lobatto.events import find_events, look, reach_events
from fem_mbs.solvers.lobatto.kernels import MORE, attempt_step, solve_problems
from fem_mbs.solvers.lobatto.modes import begin_modes, change_at_start, choose_modes
from fem_mbs.solvers.stepping.kernels.arrays import copy, copy1
from fem_mbs.solvers.stepping.kernels.codes import LOOKS, OK, STOPS, STRIKES, TOUCHED
from fem_mbs.solvers.stepping.kernels.data import run_at, system_at
from fem_mbs.solvers.stepping.kernels.sizes import afresh
from fem_mbs.solvers.stepping.kernels.step import configuration_at_start
from fem_mbs.system.assembly import dynamics
from fem_mbs.system.contacts import contact_groups, contacts_of
from fem_mbs.system.records import VELOCITY, zero

CHANGES = 5  # attempts at the modes of a step


@kernel
def solve_in_modes(d, s, o):
    """Solve both problems in the present modes; the part that ends at an event was solved last."""
    most, s.max_iterations = s.max_iterations, MORE * s.max_iterations
    if s.cut == STRIKES and s.repeats == 0:
        solve_problems(d, s, o)
    else:
        attempt_step(d, s, o, afresh(s))
    s.max_iterations = most


@kernel
def settle_modes(d, s, o):
    """Solve the step in modes whose forces are within their bounds as it begins; False if there are none."""
    begin_modes(d, o)
    for _ in range(CHANGES):
        choose_modes(d, s, o)
        solve_in_modes(d, s, o)
        if s.code != OK:
            return False
        if change_at_start(d, s, o) == 0:
            return True
    return False


@kernel
def choose_struck(d, s, o):
    """Contacts of the impact: those that touch, and closed ones."""
    near = NEAR * s.exact * s.scale_x
    for g in contact_groups(d):
        for e in range(g.n):
            c = g.first_contact + e
            touches = s.touching[c] != 0 and contacts_of(g).gap[e] <= near
            closed = s.acted[c] != GAP or o.kept[c] != 0
            s.candidate[c] = s.active[c] = 1 if touches or closed else 0
            s.status[c] = GAP
            for k in range(3):
                s.cnu[c, k] = 0.0


@kernel
def impact_at_the_touch(d, s, o):
    """Solve (1) from the velocities at the end of the part, and add its impulses to those of the part."""
    clear_impulses(d, s)
    zero(s.P_at, 6 * d.n_nodes)
    accumulate_impulses(d, s)
    copy(s.V, s.Vs)
    copy(s.V, s.Vsminus)
    zero(s.W_at, 6 * d.n_nodes)
    dynamics(d, VELOCITY, s.x, s.R, s.V, s.V, o.p, s.f, False, 0.0, 0.0, 0.0, 0.0, s.R, False)
    copy1(s.Lam, o.Lam_before)
    zero(s.Lam_at, d.m)
    choose_struck(d, s, o)
    o.lasting = 0
    s.impact_problems = 1
    solve_impact(s)
    if s.code == OK and s.plastic == 0:
        limit_restitution(d, s)
    if s.code != OK:
        return
    accumulate_impulses(d, s)
    for i in range(d.m):
        s.Lam[i] += o.Lam_before[i]
    s.impact_problems = 2
    o.collected = 1


@entry("void(int64, int64)")
def located_part(run, _):
    """Perform a step by ``s.cut``; ``o.answer`` is 1 if it was."""
    s = run_at(run)[0]
    d, o = system_at(s.data_at)[0], own_at(s.own_at)[0]
    o.answer = 1
    if s.cut == STOPS:
        if not settle_modes(d, s, o):
            o.answer = 0
            return
        count, slow = find_events(d, s, o)
        if count > 0:
            s.code = TOUCHED
        elif slow > 0:
            o.answer = 0
        return
    choose_modes(d, s, o)
    solve_in_modes(d, s, o)
    if s.code != OK:
        return
    if s.cut == LOOKS:
        look(d, s, o)
        configuration_at_start(s)
        copy(s.V0, s.V)
        s.code = TOUCHED
        return
    reach_events(d, s, o)
    if o.touched != 0:
        impact_at_the_touch(d, s, o)
        zero(o.mode_at, d.nc)
