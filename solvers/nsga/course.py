"""Impact of a split step at one contact with friction, integrated along its normal impulse; not by Newton's law.

It stands in for the second velocity problem of such a step. The inverse mass of the contact is that of the whole
system, joints included: with velocities V of the velocity problem, in which the impulses of the contact are given,

    W e_j = ( B V(ε e_j) − B V(0) )/ε ,   B = (G_N, G_T)                                                            (1)

and the impulses of `contact.impact_course` are given once more: joint impulses and velocities of all nodes follow. ε is
as large as the impulse of the mean mass.

Newton's law remains where other contacts take part, with tangential restitution, resistance to rolling or spinning,
contact discs, static friction, and in models with joint friction.

Source: docs/theory/split_impacts.md, (5)-(9).
"""

from fem_mbs.jit import entry, kernel, local_matrix, local_vector
from fem_mbs.solvers.contact.approach import at_the_touch
from fem_mbs.solvers.contact.impact_course import integrate_impact
from fem_mbs.solvers.contact.law import GAP
from fem_mbs.solvers.contact.velocity import solve_velocities
from fem_mbs.solvers.nsga.data import own_at
from fem_mbs.solvers.stepping.kernels.codes import OK
from fem_mbs.solvers.stepping.kernels.data import run_at, system_at
from fem_mbs.system.contacts import (
    add_gradient,
    contact_groups,
    direction_of,
    falls_or_rises,
    gradient_times,
    laws_of,
    restitution_at,
)
from fem_mbs.system.records import zero


@kernel
def lone_contact(d, s):
    """Return group of contacts and number in it of the contact whose impact can be integrated, (−1, −1): none.

    It is the only one that takes part; closed ones that carry load would act in (1) as well.
    """
    groups, found, count = contact_groups(d), (-1, -1), 0
    for c in range(d.nc):
        if s.candidate[c] != 0:
            count += 1
    if count != 1:
        return found
    for a in range(len(groups)):
        g = groups[a]
        for e in range(g.n):
            if s.candidate[g.first_contact + e] == 0:
                continue
            law = laws_of(g)[e]
            others = law.tangential_restitution + law.rolling_resistance + law.spinning_resistance + law.drilling_arm
            one = law.static_friction == law.sliding_friction and not falls_or_rises(g, e)
            simple = law.friction > 0.0 and others == 0.0 and one
            if simple and at_the_touch(g, e, s):
                found = a, e
    return found


@kernel
def add_impulse(g, e, p, scale, P):
    """Add ``scale`` times the impulse p (3,) of a contact to P."""
    for m in range(3):
        add_gradient(g, e, direction_of(g, e, m), scale * p[m], P)


@kernel
def contact_velocities(g, e, V, u):
    """Fill u (3,): normal and tangential velocities of a contact."""
    for m in range(3):
        u[m] = gradient_times(g, e, direction_of(g, e, m), V)


@kernel
def respond(s, g, e, u, size, p, W):
    """Fill column by column the inverse mass W (3, 3) of a contact with velocities u, by (1); False: not solved."""
    after = local_vector(3)
    for j in range(3):
        for i in range(3):
            p[i] = size if i == j else 0.0
        add_impulse(g, e, p, 1.0, s.P)
        solve_velocities(s, s.velocity_problem)
        add_impulse(g, e, p, -1.0, s.P)
        if s.code != OK:
            return False
        contact_velocities(g, e, s.V, after)
        for i in range(3):
            W[i, j] = (after[i] - u[i]) / size
    for i in range(3):
        for j in range(i):
            W[i, j] = W[j, i] = 0.5 * (W[i, j] + W[j, i])
    return True


@kernel
def integrate(d, s, o, g, e):
    """Solve the impact of contact e of a group and apply its impulses; False: it is left to Newton's law."""
    c, law = g.first_contact + e, laws_of(g)[e]
    u, p, W = local_vector(3), local_vector(3), local_matrix(3, 3)
    contact_velocities(g, e, s.V, u)
    before = -u[0]
    s.candidate[c] = 0
    status = GAP
    if respond(s, g, e, u, s.kv * before, p, W) and W[0, 0] > 0.0:
        status = integrate_impact(W, u, law.friction, restitution_at(g, e, before), o.poisson != 0, p)
    if status != GAP:
        add_impulse(g, e, p, 1.0, s.P)
        solve_velocities(s, s.velocity_problem)
        if s.code != OK:
            add_impulse(g, e, p, -1.0, s.P)
            status = GAP
    if status == GAP:
        s.candidate[c] = 1
        return False
    s.status[c] = s.acted[c] = status
    for i in range(3):
        s.aLam[c, i] = p[i]
        s.total_Lam[c, i] += p[i]
    s.missed[c, 1] = max(s.missed[c, 1], before)
    return True


@entry("void(int64, int64)")
def course_part(run, _):
    """Integrate the impact of the next velocity problem if that is possible; ``o.answer`` is 1 if it was."""
    s = run_at(run)[0]
    d, o = system_at(s.data_at)[0], own_at(s.own_at)[0]
    o.answer = 0
    if s.friction != 0 or s.plastic != 0:
        return
    a, e = lone_contact(d, s)
    if a < 0:
        return
    if integrate(d, s, o, contact_groups(d)[a], e):
        o.answer = o.integrated = 1
        return
    zero(s.W_at, 6 * d.n_nodes)
    zero(s.Lam_at, d.m)
