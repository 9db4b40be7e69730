"""Joint friction of Lobatto's scheme: a force that is constant over the step, found from the velocities at its end.

    stages    h G_F(q^i)ᵀ λ_F  in the impulses of each stage                                                        (1)
    end       the law of `joint_friction.friction_velocity`, (1), for Λ_F, in the place of h λ_F                     (2)

The stage problem with λ_F and the impact problem with Λ_F are solved in turn, λ_F ← Λ_F/h, until they agree: a joint
that sticks does not creep, one that slides has the friction that its bound gives. It is of second order as long as
joints slide or stick through the step with bounds by their reactions, and of first order where one of them begins or
reverses in it, or where a preload changes with time: bounds are those of the end.

Source: docs/theory/joint_friction.md, (16).
"""

from fem_mbs.jit import N_SLOTS, entry, integers, kernel
from fem_mbs.solvers.joint_friction.by_impulses import perform
from fem_mbs.solvers.lobatto.data import own_at
from fem_mbs.solvers.stepping.kernels.data import run_at, system_at
from fem_mbs.solvers.stepping.kernels.friction_tasks import FIRST, FORCES, IMPACT_BEGIN, JUMP, MOVE
from fem_mbs.solvers.stepping.kernels.sizes import afresh
from fem_mbs.system.friction import add_row, evaluate_row, friction_groups, friction_of, rows_of

SETTLED = 10.0  # times the relative tolerance: change of λ_F that is left


@kernel
def add_forces(d, s, factor, x, R, V, out):
    """Evaluate the rows, and add ``factor`` times friction λ_F to a full vector."""
    b = integers(d.table_at, N_SLOTS)
    for g in friction_groups(d):
        for r in range(rows_of(g)):
            evaluate_row(d, g, r, b, x, R, V)
            add_row(g, r, factor * friction_of(g, r).smooth_force, out)


@kernel
def first_forces(d, s):
    """λ_F of the last step as the first guess, but after an impact and in repeated attempts."""
    again = afresh(s)
    for g in friction_groups(d):
        for r in range(rows_of(g)):
            kept = friction_of(g, r)
            kept.smooth_force = 0.0 if again else kept.start_force


@kernel
def begin_impact(d, s, o):
    """Take λ_F off the momenta of the impact problem, whose unknowns are the impulses of the whole step."""
    add_forces(d, s, -s.h, s.x, s.R, s.Vs, o.p)
    last = o.a.shape[0] - 1
    for i in range(d.m):  # reactions of the inner stages, for the bounds
        impulse = 0.0
        for j in range(last):
            impulse += o.b[j] * s.kv * o.Ri[j, i]
        s.lam[i] = impulse / (s.h * s.ks)


@kernel
def take_forces(d, s):
    """Set λ_F to Λ_F/h; True if one of them has changed by more than the tolerance."""
    changed, tolerance = False, SETTLED * s.rtol * s.h * s.F_s
    for g in friction_groups(d):
        for r in range(rows_of(g)):
            kept = friction_of(g, r)
            change = abs(kept.impulse - s.h * kept.smooth_force)
            changed = changed or change > kept.arm * tolerance + SETTLED * s.rtol * abs(kept.impulse)
            kept.smooth_force = kept.impulse / s.h
    return changed


@entry("void(int64, int64)")
def friction_part(run, task):
    """Do one of the `friction_tasks`."""
    s = run_at(run)[0]
    d, o = system_at(s.data_at)[0], own_at(s.own_at)[0]
    s.friction_answer = 0
    if task == FORCES:
        add_forces(d, s, s.h, s.xs, s.Rs, s.Vs, o.Fi[s.friction_block])
    elif task == IMPACT_BEGIN:
        begin_impact(d, s, o)
    elif task == MOVE:
        s.friction_answer = 1 if take_forces(d, s) else 0
    elif task == JUMP:
        add_forces(d, s, 1.0, s.x, s.R, s.V, s.f)
    else:
        if task == FIRST and s.h > 0.0:
            first_forces(d, s)
        perform(d, s, task, s.dx_at)
