"""Impacts that come one after the other within a step, among contacts with restitution.

An impact has no duration: forces of the step have no part in it. With the velocities v_n before the step, impacts are
solved first, then what forces and supports do in the step. In each of the problems before the last, pairs with
restitution e have

    b = e u_N        where they have touched, or would touch in the step (u_N ≤ −g/h), and approach              (1)
    no contact       else: they are looked at again after these impacts

with e at the speed of each impact, and in the last, with v = v_n + impacts + h M⁻¹ f, all pairs have

    b = −u_N         after their last impact, where they have had one: forces take nothing of a rebound            (2)
    b = 0, g/h       else

Bodies that touch pass an impact on from one to the next like this, as in the sequences of `nsga.velocity`: of a row of
equal balls the last one leaves. Pairs without restitution have 0 or g/h in all problems. Impulses of a step are the
sums. After `MOST` impacts all pairs have 0 or g/h in the last, which never raises the energy.

Methods whose law is Newton's at all closed contacts at once (`passes_on` is 0) solve one problem. A pair with a gap
g > 0 that does not meet with v_n has b = g/h there, and no restitution: where another impact of the same step drives
it together, it is stopped, and takes the energy

    ½ e² r_N g/h                                                                                                  (3)

that its restitution would have left. Where that is more than a part of the kinetic energy of the group the impacts are
solved in turn as well, and in (1) pairs that rest on each other have b = 0.

Source: docs/theory/contact_groups.md, (26)-(28).
"""

from fem_mbs.jit import call2, kernel
from fem_mbs.solvers.granular import bodies, sweeps
from fem_mbs.solvers.granular.data import LOAD, LOAD_START, SPEEDS, add_impulse, clear_impulse, copy_impulse
from fem_mbs.solvers.granular.momentum import accuracy, add_impulses, solve
from fem_mbs.solvers.granular.pairs import load
from fem_mbs.solvers.granular.speed_laws import first_coefficient, restitution_at, solve_passes

SHARE = 1e-3  # of the kinetic energy of the group: smaller losses of a step are left, and added up
REPORTED = 0.05  # of its largest kinetic energy: sums of such losses are reported from here on
MOST = 200  # impacts of a step one after the other
RESIDUAL = 10.0  # times the largest speed and the error of the last solution: approaches up to this are no impacts
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
def _restitution(p, c, speed):
    """e of pair c at an approach speed ≥ 0 [m/s]."""
    return p.restitution[c] if p.restitutions.shape[2] == 0 else restitution_at(p, c, speed)


@kernel
def lost_by_stops(p):
    """Energy (3) [J] of all contacts."""
    total = 0.0
    for c in range(p.count):
        if p.stop[c] > 0.0:
            total += 0.5 * _restitution(p, c, p.stop[c]) ** 2 * p.pairs[c].normal_impulse * p.stop[c]
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
def some_reflect(p):
    """True if Newton's law has given b to a pair."""
    for c in range(p.count):
        if p.lift[c] < 0.0:
            return True
    return False


@kernel
def speed_left(p, fastest):
    """Speeds [m/s] of contacts up to this may be errors of the last solution, if the largest speed is ``fastest``."""
    return RESIDUAL * accuracy(p) * fastest


@kernel
def _copy(moment, to):
    for j in range(3):
        to[j] = moment[j]


@kernel
def _add(moment, to):
    for j in range(3):
        to[j] += moment[j]


@kernel
def _take_impulse(p, c):
    """Add the impulses of pair c to the sums, and set them to zero."""
    pair = p.pairs[c]
    add_impulse(pair, p.earlier[c])
    clear_impulse(pair)
    if p.resists != 0:
        moment = p.moments[c].moment_impulse
        _add(moment, p.earlier_moments[c])
        moment[0] = moment[1] = moment[2] = 0.0


@kernel
def keep_start(p):
    """Keep the impulses with which the problem of a step begins."""
    for c in range(p.count):
        copy_impulse(p.pairs[c], p.resting[c])
        if p.resists != 0:
            _copy(p.moments[c].moment_impulse, p.resting_moments[c])


@kernel
def load_velocities(p, R, V, task):
    """Velocities of the nodes as those of the iterations; ``task``: LOAD or LOAD_START, of V or V0 of the run."""
    if p.clumps != 0:
        bodies.load(p, R, V)
    else:
        load(p, R, V)
    if p.coupled < 0:
        call2(p.mechanism_part, p.self_at, task)
        if p.resists != 0:
            call2(p.turning_part, p.self_at, task)


@kernel
def _speeds(p):
    """u_N of all pairs at the present velocities of the iterations, without what b has of moving planes."""
    moved, end = sweeps.moved_from(p), p.particles.shape[0] - 1
    for c in range(p.count):
        if p.second[c] <= moved:
            continue
        if p.clumps != 0:
            a, b = bodies.both(p, c)
            p.rate[c] = bodies.approach(p, c, a, b)[3]
        else:
            b = sweeps.row_of(p.second[c], end)
            p.rate[c] = sweeps.approach(p.particles, p.pairs[c], p.first[c], b)[3]
    if p.coupled < 0:
        call2(p.mechanism_part, p.self_at, SPEEDS)


@kernel
def _begin(p):
    """Leave out the pairs that wait for an impact, and take all impulses away."""
    for c in range(p.count):
        if p.stiction != 0:
            first_coefficient(p, c)
        pair, found = p.pairs[c], p.lift[c]
        p.lift[c] = pair.bias - found  # what moving planes have added
        p.open[c] = p.stop[c] + p.lift[c] if found < 0.0 else pair.bias
        _take_impulse(p, c)
        clear_impulse(p.earlier[c])
        if p.resists != 0:
            p.earlier_moments[c, 0] = p.earlier_moments[c, 1] = p.earlier_moments[c, 2] = 0.0
        if p.restitution[c] > 0.0 and found >= 0.0 and (p.passes_on != 0 or p.stop[c] > 0.0):
            pair.bias = FAR


@kernel
def _least(p):
    """Speed [m/s] from which on approaches are impacts."""
    return p.slow if p.passes_on != 0 else max(p.slow, p.gain)


@kernel
def _next_impacts(p):
    """Put impulses into the sums and b as (1); returns how many pairs need another impact."""
    count, least = 0, _least(p)
    _speeds(p)
    for c in range(p.count):
        _take_impulse(p, c)
        if p.restitution[c] == 0.0:
            continue
        rate, b = p.rate[c] + p.lift[c], FAR
        stop = p.stop[c] if p.earlier[c].normal_impulse == 0.0 else 0.0
        if rate < -least and rate <= -stop:
            b = _restitution(p, c, -rate) * rate
            count += 1
        elif p.passes_on == 0 and (rate <= -stop or (stop == 0.0 and rate <= p.slow)):
            b = stop
        p.pairs[c].bias = b + p.lift[c]
    return count


@kernel
def _begin_rest(p, R, V, left):
    """Begin the problem (2): velocities V with the impulses of the impacts, impulses of the last step.

    ``left``: number of pairs that still approach; where there are some, not all pairs separate as (2) asks.
    """
    for c in range(p.count):
        pair = p.pairs[c]
        if p.restitution[c] > 0.0:
            pair.bias, rate, met = p.open[c], p.rate[c] + p.lift[c], p.earlier[c].normal_impulse > 0.0
            strikes = rate < -_least(p) and (met or rate <= -p.stop[c])
            if met or strikes:
                pair.bias = p.lift[c] + (min(-rate, 0.0) if left == 0 else 0.0)
                p.stop[c] = -rate if strikes else 0.0
        copy_impulse(p.earlier[c], pair)
        if p.resists != 0:
            _copy(p.earlier_moments[c], p.moments[c].moment_impulse)
    load_velocities(p, R, V, LOAD)
    add_impulses(p)
    for c in range(p.count):
        copy_impulse(p.resting[c], p.pairs[c])
        if p.resists != 0:
            _copy(p.resting_moments[c], p.moments[c].moment_impulse)
    add_impulses(p)


@kernel
def solve_in_turn(p, R, V0, V, q_square):
    """Solve the impacts of a step in turn, and what is left of it; True where all was solved to the tolerance."""
    _begin(p)
    load_velocities(p, R, V0, LOAD_START)
    solved, error, count, left = True, 0.0, p.sweeps, 0
    for _ in range(MOST):
        solved, error = solve(p, q_square) and solved, max(error, p.error)
        p.slow, count = max(p.slow, speed_left(p, p.fastest)), count + p.sweeps
        left = _next_impacts(p)
        if left == 0:
            break
    _begin_rest(p, R, V, left)
    solved = solve_passes(p, q_square) and solved
    p.sweeps, p.error, p.lost = count + p.sweeps, max(error, p.error), lost_by_stops(p)
    p.sequences += 1
    for c in range(p.count):
        add_impulse(p.earlier[c], p.pairs[c])
        if p.resists != 0:
            _add(p.earlier_moments[c], p.moments[c].moment_impulse)
    return solved
