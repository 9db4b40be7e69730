"""Impacts that come one after the other within a step, among contacts with restitution.

A pair with a gap g > 0 that does not meet with the velocities before the step has b = g/h, and no restitution: where
another impact of the same step drives it together, it is stopped, and takes the energy

    ½ e² r_N g/h                                                                                                  (1)

that its restitution e would have left. Where that is more than a part of the kinetic energy of the group, impacts of
the step are solved in turn. Let u be the velocities after those before, and f what forces add to them in the step, as
they do without contacts. Pairs with restitution then have

    b = e (u_N − f_N)   where they have touched, or touch in the step (u_N ≤ −g/h), and u_N − f_N approaches        (2)
    b = 0, g/h          the same where that is too slow for an impact, or they rest on each other: approaches up to
                        twice the largest f are what supports that hold it give, else what lies on a floor trembles
    no contact          else: they are looked at again after these impacts

until nothing approaches any more. Impulses of a step are the sums. Each impact is Newton's law of those that meet
together: energies are those that e leaves. Pairs without restitution keep b = g/h all the time. After `MOST` impacts
all pairs have, once,

    b = 0, g/h          which never raises the energy, and counts as lost.                                          (3)

Source: docs/theory/contact_groups.md, (26), (27).
"""

from fem_mbs.jit import kernel
from fem_mbs.solvers.granular import bodies, sweeps
from fem_mbs.solvers.granular.data import add_impulse, clear_impulse

SHARE = 1e-3  # of the kinetic energy of the group: smaller losses of a step are left, and added up
REPORTED = 0.05  # of its largest kinetic energy: sums of such losses are reported from here on
MOST = 200  # impacts of a step one after the other
NEARLY = 0.1  # of the speed of the slowest impacts: approaches up to this are left by inexact iterations
FAR = 1e30  # m/s: b of pairs that are left out


def loss_warnings(who: str, lost: float, kinetic: float) -> list[str]:
    """Warning of the energy [J] that restitution would have left, compared with the largest kinetic energy; none below
    `REPORTED`.

    ``who``: whose contacts have lost it.
    """
    if lost <= REPORTED * kinetic:
        return []
    return [
        f"{who}: {lost:.3g} J that restitution would have left, {100 * lost / kinetic:.3g} % of the "
        "largest kinetic energy of its bodies, were lost: impacts that follow each other within a step stopped "
        "bodies without a rebound. Halve h, so that fewer impacts fall on one step"
    ]


@kernel
def lost_by_stops(p):
    """Energy (1) [J] of all contacts."""
    total = 0.0
    for c in range(p.count):
        if p.stop[c] > 0.0:
            total += 0.5 * p.restitution[c] ** 2 * p.pairs[c].normal_impulse * p.stop[c]
    return total


@kernel
def kinetic_energy(p, V):
    """Kinetic energy [J] of the bodies of the group that can move, at node velocities V."""
    total = 0.0
    if p.clumps == 0:
        for a in range(p.node.shape[0]):
            i, m, turn = p.node[a], p.particles[a].inverse_mass, p.particles[a].inverse_inertia
            if m > 0.0:
                total += 0.5 * (V[i, 0] ** 2 + V[i, 1] ** 2 + V[i, 2] ** 2) / m
            if turn > 0.0:
                total += 0.5 * p.radius[a] ** 2 * (V[i, 3] ** 2 + V[i, 4] ** 2 + V[i, 5] ** 2) / turn
        return total
    for a in range(p.body_node.shape[0] - 1):
        i, m, J = p.body_node[a], p.bodies[a].inverse_mass, p.inertia[a]
        if m == 0.0:
            continue
        total += 0.5 * (V[i, 0] ** 2 + V[i, 1] ** 2 + V[i, 2] ** 2) / m
        for j in range(3):
            total += 0.5 * V[i, 3 + j] * (J[j, 0] * V[i, 3] + J[j, 1] * V[i, 4] + J[j, 2] * V[i, 5])
    return total


@kernel
def _speed(p, c):
    """u_N of pair c at the present velocities of the iterations, without what b has of moving planes."""
    if p.clumps != 0:
        a, b = bodies.both(p, c)
        return bodies.approach(p, c, a, b)[3]
    b = sweeps.row_of(p.second[c], p.particles.shape[0] - 1)
    return sweeps.approach(p.particles, p.pairs[c], p.first[c], b)[3]


@kernel
def begin_sequence(p):
    """Leave out the pairs that do not meet with the velocities before the step, and take their impulses away."""
    for c in range(p.count):
        pair = p.pairs[c]
        p.lift[c] = pair.bias - p.lift[c]  # what moving planes have added
        p.gained[c] = 0.0
        clear_impulse(p.earlier[c])
        if p.stop[c] > 0.0:
            pair.bias = FAR
            clear_impulse(pair)


@kernel
def add_speeds(p, sign):
    """Add the u_N of the present velocities of the iterations to what forces give in the step, with a sign."""
    for c in range(p.count):
        p.gained[c] += sign * _speed(p, c)


@kernel
def next_impacts(p, last):
    """Put impulses into the sums and b as (2), or (3) for the last impacts; returns how many pairs need them."""
    count = 0
    for c in range(p.count):
        add_impulse(p.pairs[c], p.earlier[c])
        clear_impulse(p.pairs[c])
        if p.restitution[c] == 0.0:
            continue
        rate, stop, b = _speed(p, c) + p.lift[c], p.stop[c], FAR
        count += 1 if rate < -stop - NEARLY * p.slow else 0
        own = rate - p.gained[c]
        if own < -max(p.slow, p.gain) and rate <= -stop:
            b = 0.0 if last else p.restitution[c] * own
            p.stop[c] = -rate if last else 0.0
        elif last or rate <= -stop or (stop == 0.0 and rate <= p.slow):
            b = stop
        p.pairs[c].bias = b + p.lift[c]
    return count


@kernel
def end_sequence(p):
    """Store the impulses of the whole step in the contacts."""
    for c in range(p.count):
        add_impulse(p.earlier[c], p.pairs[c])
