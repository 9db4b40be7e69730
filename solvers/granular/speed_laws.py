"""Laws of pairs that depend on a speed: restitution on the approach speed, friction on sliding, and static friction.

Each pair takes the law of its two materials. Its coefficient of friction acts in all kernels of the iterations, and is
found by passes as those of single contacts (`contact.static_friction`, (1), (2)), each one an ordinary problem:

    stuck as the step begins   μ_s ; where it slips again with μ(v)                                                (1)
    slides                     μ(v) ; where sliding has turned by more than a right angle again with μ_s ;
                               where that slips, with μ(0)

v is the sliding speed as the step begins. A pair is stuck if it hardly slides, or if the friction of the last step was
inside of its cone, which inexact velocities do not change. One that has slid all the same, with impulses of impacts and
of their step together, has its μ(v) when it slips again. Of several contacts of one body some may be at their bounds
though the body sticks: a pair slips if it is at its bound, and slides faster than

    u = 10 e max(|V_n|, |V|)                                                                                       (2)

with the error e of the last solution, and velocities as the step begins and without contacts.

Source: docs/theory/contact_groups.md, (29); docs/theory/contact_laws.md, (12), (13), (15).
"""

import math

from fem_mbs.jit import call2, kernel
from fem_mbs.solvers.granular import bodies, sweeps
from fem_mbs.solvers.granular.data import SLIPS
from fem_mbs.solvers.granular.momentum import solve
from fem_mbs.system.speed_pieces import pieces_at, value_of

INSIDE = 1.0 - 1e-9  # of the bound: friction below it sticks


@kernel
def materials_of(p, c):
    """Materials of the two partners of pair c."""
    b = p.second[c]
    return p.material[p.first[c]], p.material[b] if b >= 0 else p.plane_material[-1 - b]


@kernel
def restitution_at(p, c, speed):
    """e_N of pair c at an approach speed ≥ 0 [m/s]."""
    i, j = materials_of(p, c)
    most, count = p.laws[i, j].restitution, p.restitutions.shape[2]
    if count == 0:
        return most
    return min(value_of(pieces_at(p.restitutions_at, count, i * p.laws.shape[0] + j), speed), most)


@kernel
def coefficient(p, c, speed):
    """μ of pair c at a sliding speed ≥ 0 [m/s]."""
    i, j = materials_of(p, c)
    count = p.slidings.shape[2]
    if count == 0:
        return p.laws[i, j].sliding_friction
    return value_of(pieces_at(p.slidings_at, count, i * p.laws.shape[0] + j), speed)


@kernel
def static_friction(p, c):
    """μ_s of pair c."""
    i, j = materials_of(p, c)
    return p.laws[i, j].static_friction


@kernel
def is_inside(p, c):
    """True if pair c carries, and its friction is inside of its cone."""
    pair, square = p.pairs[c], 0.0
    for j in range(3):
        square += pair.tangential_impulse[j] ** 2
    return pair.normal_impulse > 0.0 and math.sqrt(square) < INSIDE * p.mu[c] * pair.normal_impulse


@kernel
def begin_friction(p, c, u):
    """Coefficient of the first pass of pair c, whose surfaces have the relative velocity u (3,), inertial axes.

    Its impulses, and its coefficient, are those of the last step.
    """
    n, along, square = p.pairs[c].normal, 0.0, 0.0
    for j in range(3):
        along += n[j] * u[j]
    for j in range(3):
        p.slide_start[c, j] = u[j] - along * n[j]
        square += p.slide_start[c, j] ** 2
    p.stuck[c] = 1 if square <= p.still * p.still or is_inside(p, c) else 0
    first_coefficient(p, c)


@kernel
def first_coefficient(p, c):
    """Set the coefficient of the first pass of pair c."""
    p.passes[c] = 0
    p.mu[c] = static_friction(p, c) if p.stuck[c] != 0 else coefficient(p, c, speed_at_start(p, c))


@kernel
def speed_at_start(p, c):
    """Sliding speed of pair c as the step begins."""
    u = p.slide_start
    return math.sqrt(u[c, 0] ** 2 + u[c, 1] ** 2 + u[c, 2] ** 2)


@kernel
def find_slips(p):
    """Sliding velocities of all pairs at the present velocities of the iterations."""
    moved, end = sweeps.moved_from(p), p.particles.shape[0] - 1
    for c in range(p.count):
        if p.second[c] <= moved:
            continue
        if p.clumps != 0:
            a, b = bodies.both(p, c)
            u0, u1, u2, u_n = bodies.approach(p, c, a, b)
            u0, u1, u2 = bodies.slip(p, c, u0, u1, u2, u_n)
        else:
            a, b = p.first[c], sweeps.row_of(p.second[c], end)
            n0, n1, n2, u_n = sweeps.approach(p.particles, p.pairs[c], a, b)
            u0, u1, u2 = sweeps.slip(p.particles, p.given, p.moving != 0, c, a, b, n0, n1, n2, u_n)
        p.slip[c, 0], p.slip[c, 1], p.slip[c, 2] = u0, u1, u2
    if p.coupled < 0:
        call2(p.mechanism_part, p.self_at, SLIPS)


@kernel
def slips(p, c):
    """True if pair c slides, (2)."""
    square = 0.0
    for j in range(3):
        square += p.slip[c, j] ** 2
    return p.pairs[c].normal_impulse > 0.0 and square > p.still * p.still and not is_inside(p, c)


@kernel
def slides_on(p, c):
    """True if pair c, which slides, does so as when the step began."""
    along = 0.0
    for j in range(3):
        along += p.slip[c, j] * p.slide_start[c, j]
    return along >= 0.0


@kernel
def next_coefficients(p):
    """Coefficients of the next pass, (1); True where one has changed."""
    again = False
    find_slips(p)
    for c in range(p.count):
        if p.passes[c] == 2 or not slips(p, c):
            continue
        before, slid = p.mu[c], p.stuck[c] == 0
        if slid and p.passes[c] == 0:
            if slides_on(p, c):
                continue
            p.passes[c], p.mu[c] = 1, static_friction(p, c)
        else:
            p.passes[c], p.mu[c] = 2, coefficient(p, c, 0.0 if slid else speed_at_start(p, c))
        again = again or p.mu[c] != before
    return again


@kernel
def solve_passes(p, q_square):
    """`granular.momentum.solve`, as often as coefficients of friction change; p.sweeps is the sum."""
    solved = solve(p, q_square)
    if p.stiction == 0:
        return solved
    count = p.sweeps
    while next_coefficients(p):
        solved = solve(p, q_square)
        count += p.sweeps
    p.sweeps = count
    return solved
