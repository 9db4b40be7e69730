"""The velocity problem of methods that have one in a step, with passes of static friction; friction as a step ends.

A pass is the problem with one coefficient per joint and contact (`joint_friction.friction_passes`,
`contact.static_friction`): where one was the wrong one the problem is solved again, from the solution of the last pass.
"""

from fem_mbs.jit import call2, kernel
from fem_mbs.solvers.contact import static_friction
from fem_mbs.solvers.contact.restitution import solve_impact
from fem_mbs.solvers.contact.velocity import accumulate_impulses, clear_impulses, start_from_last
from fem_mbs.solvers.stepping.kernels.arrays import copy
from fem_mbs.solvers.stepping.kernels.codes import OK
from fem_mbs.solvers.stepping.kernels.friction_tasks import BEGIN, END, FIRST, PASSES
from fem_mbs.solvers.stepping.kernels.sizes import afresh
from fem_mbs.system.records import zero


@kernel
def begin_friction(s):
    """Begin a step, or an attempt at one: coefficients of the first pass, first guess of joint friction."""
    if s.friction != 0:
        call2(s.friction_part, s.run_at, FIRST)
    if s.stiction_part != 0:
        call2(s.stiction_part, s.run_at, static_friction.BEGIN)


@kernel
def next_pass(d, s):
    """True if a coefficient of friction was the wrong one in the problem solved last; the next ones are set."""
    again = False
    if s.friction != 0:
        call2(s.friction_part, s.run_at, PASSES)
        again = s.friction_answer != 0
    if s.stiction_part != 0:
        for c in range(d.nc):
            s.acted[c] = s.status[c]
        call2(s.stiction_part, s.run_at, static_friction.NEXT)
        again = again or s.friction_answer != 0
    return again


@kernel
def solve_passes(d, s):
    """Solve the velocity problem at its present unknowns, as often as coefficients of friction change."""
    begin_friction(s)
    solve_impact(s)
    while s.code == OK and (s.friction != 0 or s.stiction_part != 0) and next_pass(d, s):
        solve_impact(s)


@kernel
def begin_step(s):
    """Begin a step, before all attempts at it."""
    if s.friction != 0:
        call2(s.friction_part, s.run_at, BEGIN)


@kernel
def end_step(s):
    """Friction at the end of a step that is accepted; its impacts are known."""
    if s.friction != 0:
        call2(s.friction_part, s.run_at, END)
    if s.stiction_part != 0:
        call2(s.stiction_part, s.run_at, static_friction.END)


@kernel
def solve_first(d, s):
    """Solve the velocity problem of a step in which nothing goes before it, and add up what it did.

    It starts from the change of velocities and from the impulses of the last step.
    """
    N, m = d.n_nodes, d.m
    again = afresh(s)
    if again:
        zero(s.W_at, 6 * N)
    for i in range(m):
        s.Lam[i] = 0.0 if again else s.h * s.lam_report[i] / s.kv
    start_from_last(d, s)
    clear_impulses(d, s)
    zero(s.P_at, 6 * N)
    copy(s.V0, s.Vs)
    copy(s.V0, s.Vminus)
    copy(s.V0, s.Vsminus)
    # particles start with the residual of contact forces and gravity load; with heavy bodies it is below the tolerance
    s.insist = 1 if s.grains_at != 0 else 0
    solve_passes(d, s)
    s.insist = 0
    if s.code == OK:
        s.impact_problems = 1
        accumulate_impulses(d, s)
        for i in range(m):
            s.lam_report[i] = s.kv * s.Lam[i] / s.h
