"""Static and sliding friction of contacts: which coefficient acts in a step, found by passes.

The passes of a step are those of `contact.static_friction`, (1), (2), which is of first order. Closed contacts of the
smooth motion (`nsga.persistent`) are of second order, with

    slides          μ( |G_T v| ) of the predicted velocities, whose direction of sliding they have too               (3)
    breaks loose    φ = (μ_s − r_n)/(r − r_n) ,   μ = μ_s − (1 − φ) ( ½ (r_n + μ_s) − μ(0) )                         (4)

with r_n = |λ_T|/λ_N of the start and r that of sticking to the end, before it is let go (`nsga.entry.leave_cones`).
With the total impulse of (4) the velocity has changed as by sticking up to φ h and sliding from there on. Where a
coefficient has jumped in a step the memory of the method starts again.

A split step has passes for the time before the touch, which are over before the impact is solved, and passes of the
impact. The impact begins with what sticks and slides at the touch, and with the speed of sliding there.

Source: docs/theory/contact_laws.md, (12)-(14).

    symbol    code               meaning
              s.slid, s.passes   as in `contact.static_friction`
              o.tried_before, o.tried_impact   of a split step, columns `MU` … `ALONG`
"""

import math

from fem_mbs.jit import entry, kernel
from fem_mbs.solvers.contact.law import GAP, SLIP, STICK
from fem_mbs.solvers.contact.static_friction import (
    coefficient,
    find_sliding,
    first_coefficients,
    next_coefficient,
    slides_along,
    sliding_speeds,
    slips,
)
from fem_mbs.solvers.joint_friction.friction_touch import in_impact
from fem_mbs.solvers.nsga.data import own_at
from fem_mbs.solvers.nsga.stiction_tasks import BEGIN, NEXT, PREDICTED, START, TIME, TIME_FIRST, TOUCH
from fem_mbs.solvers.stepping.kernels.data import run_at, system_at
from fem_mbs.solvers.stepping.kernels.sizes import rest_speed
from fem_mbs.system.contacts import (
    contact_groups,
    contacts_of,
    falls_or_rises,
    gradient_times,
    laws_of,
    sliding_speed,
)

MU, PASS, SPEED, ALONG = 0, 1, 2, 3  # coefficient, pass; sliding at the touch: speed, −1: stuck, and velocity
UNKNOWN = -2.0  # SPEED before the time before the touch has been solved


@kernel
def begin_step(d, s, o):
    """Coefficients of the first pass of a step."""
    first_coefficients(d, s)
    for c in range(d.nc):
        o.needed[c] = 0.0


@kernel
def slides_on(g, e, s, o, c, impact):
    """True if contact c slides on at the end as it slid when the step, or the impact of a split step, began."""
    contact = contacts_of(g)
    if not impact:
        return slides_along(g, e, s, s.V) >= 0.0
    along = 0.0
    for i in range(2):
        along += o.tried_impact[c, ALONG + i] * gradient_times(g, e, contact.V_T[e, i], s.V)
    return along >= 0.0


@kernel
def predicted_coefficients(d, s, o):
    """(3), of contacts that slide in the smooth motion; what turns by more than a right angle is about to stick."""
    for g in contact_groups(d):
        law = laws_of(g)
        for e in range(g.n):
            c = g.first_contact + e
            if s.closed[c] == SLIP and s.slid[c] >= 0.0 and falls_or_rises(g, e):
                speed = sliding_speed(g, e, s.Vs)
                law[e].friction = coefficient(g, e, speed if slides_along(g, e, s, s.Vs) > 0.0 else 0.0)


@kernel
def mean_coefficient(g, e, s, o, c):
    """(4) of contact c that has broken loose; μ(0) where the smooth motion did not hold it, or at an impact."""
    static, sliding, needed = laws_of(g)[e].static_friction, coefficient(g, e, 0.0), o.needed[c]
    if s.persistent == 0 or needed <= static or o.clam0[c, 0] <= 0.0 or s.impact_problems > 1:
        return sliding
    before = math.hypot(o.clam0[c, 1], o.clam0[c, 2]) / o.clam0[c, 0]
    if before >= static:
        return sliding
    part = (static - before) / (needed - before)
    return static - (1.0 - part) * (0.5 * (before + static) - sliding)


@kernel
def next_coefficients(d, s, o, impact):
    """Coefficients of the next pass of a step, (1), or of the impact of a split one; True where one has changed."""
    again = False
    for g in contact_groups(d):
        law = laws_of(g)
        for e in range(g.n):
            c = g.first_contact + e
            if not slips(g, e, s):
                continue
            slid, on = o.tried_impact[c, SPEED] if impact else s.slid[c], slides_on(g, e, s, o, c, impact)
            again = next_coefficient(law, e, s, c, slid, on, mean_coefficient(g, e, s, o, c)) or again
    return again


@kernel
def keep_tried(d, s, table):
    """Keep coefficients and passes in the first columns of ``table``."""
    for g in contact_groups(d):
        for e in range(g.n):
            c = g.first_contact + e
            table[c, MU], table[c, PASS] = laws_of(g)[e].friction, s.passes[c]


@kernel
def take_tried(d, s, table):
    """Take coefficients and passes from the first columns of ``table``."""
    for g in contact_groups(d):
        for e in range(g.n):
            c = g.first_contact + e
            laws_of(g)[e].friction, s.passes[c] = table[c, MU], int(table[c, PASS])


@kernel
def begin_impact(d, s, o):
    """Coefficients with which the impact of a split step begins; where it began alike, those of its last pass."""
    rest, tried = rest_speed(s), o.tried_impact
    for g in contact_groups(d):
        contact = contacts_of(g)
        for e in range(g.n):
            c = g.first_contact + e
            v1, v2 = gradient_times(g, e, contact.V_T[e, 0], s.V), gradient_times(g, e, contact.V_T[e, 1], s.V)
            speed = sliding_speed(g, e, s.V)
            if s.acted[c] == STICK or speed <= rest:
                speed = -1.0
            if tried[c, SPEED] == UNKNOWN or (tried[c, SPEED] < 0.0) != (speed < 0.0):
                tried[c, MU], tried[c, PASS] = coefficient(g, e, speed), 0.0
            tried[c, SPEED], tried[c, ALONG], tried[c, ALONG + 1] = speed, v1, v2
    take_tried(d, s, tried)


@entry("void(int64, int64)")
def stiction_part(run, task):
    """Perform ``task``, one of the numbers above."""
    s = run_at(run)[0]
    d, o = system_at(s.data_at)[0], own_at(s.own_at)[0]
    if task == START:
        find_sliding(d, s)
    elif task == BEGIN:
        begin_step(d, s, o)
    elif task == PREDICTED:
        predicted_coefficients(d, s, o)
    elif task == NEXT:
        impact = in_impact(s)
        o.answer = 1 if next_coefficients(d, s, o, impact) else 0
        if impact:
            keep_tried(d, s, o.tried_impact)
    elif task == TIME_FIRST:
        keep_tried(d, s, o.tried_before)
        for c in range(d.nc):
            o.tried_impact[c, SPEED] = UNKNOWN
    elif task == TIME:
        take_tried(d, s, o.tried_before)
    elif task == TOUCH:
        o.answer = 1 if next_coefficients(d, s, o, False) else 0
        if o.answer != 0:
            keep_tried(d, s, o.tried_before)
        else:
            begin_impact(d, s, o)
    else:
        o.answer = 0
        for c in range(d.nc):  # a coefficient has jumped in the step: the memory holds forces of the one before
            if s.passes[c] == 2 and s.closed[c] != GAP:
                o.answer = 1
        sliding_speeds(d, s, True)
        first_coefficients(d, s)  # a memory that starts again asks what sticks
