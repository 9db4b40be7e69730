"""Static and sliding friction of contacts: which coefficient acts in a step, found by passes.

Each pass is an ordinary problem with one coefficient per contact, as those of joint friction (`nsga.friction_passes`),
and of any direction:

    stuck as the step began    μ_s; where it slips again with μ(0)                                                 (1)
    slid                       μ(v), v the speed as the step began; where sliding has turned by more than a right
                               angle, it has come to rest in the step: again with μ_s; where it slips, with μ(0)

    μ(v) = μ_k + (μ_s − μ_k) exp(−(v/v_s)²) ;   without a Stribeck speed v_s it is μ_k                              (2)

A test of both coefficients inside of an iteration would depend on the penalty and go to and fro for slow slip. What was
open slides as the step begins. In the position correction the coefficient of the first pass acts.

The coefficient that acts is column `L_MU` of the laws, which a run changes; all kernels read that.

Source: docs/theory/contact_laws.md, (12)-(13); the law (2): Armstrong-Hélouvry, Dupont, Canudas de Wit, Automatica 30
(1994).

    symbol    code           meaning
    v         o.slid (nc,)   sliding speed as the step begins [m/s]; −1: stuck
              o.passes       0: first pass, 1: tried to come to rest, 2: last
"""

import math

from fem_mbs.jit import entry, kernel
from fem_mbs.solvers.contact.law import GAP, STICK
from fem_mbs.solvers.nsga.data import own_at
from fem_mbs.solvers.nsga.persistent import rest_speed
from fem_mbs.solvers.nsga.stiction_tasks import BEGIN, NEXT, START
from fem_mbs.solvers.stepping.data import run_at, system_at
from fem_mbs.system.contacts import (
    B_VT,
    B_VT0,
    L_MU,
    L_SLIDING,
    L_STATIC,
    L_STRIBECK,
    contacts,
    gradient_times,
    laws_of,
)
from fem_mbs.system.records import groups_of


@kernel
def coefficient(law, e, speed):
    """μ(v) of (2); −1 for v: μ_s."""
    static, sliding, scale = law[e, L_STATIC], law[e, L_SLIDING], law[e, L_STRIBECK]
    if speed < 0.0:
        return static
    if scale == 0.0:
        return sliding
    return sliding + (static - sliding) * math.exp(-((speed / scale) ** 2))


@kernel
def sliding_speeds(d, s, o, ended):
    """Fill o.slid with the speeds at V; what sticks, or has stuck in the step that ended, has −1."""
    groups, rest = groups_of(d), rest_speed(s)
    for a in range(d.n_groups):
        g = groups[a]
        if g.contact == 0:
            continue
        for e in range(g.n):
            c = g.first_contact + e
            speed = math.hypot(gradient_times(g, e, B_VT, 0, s.V), gradient_times(g, e, B_VT, 1, s.V))
            stuck = speed <= rest or (ended and s.acted[c] == STICK)
            o.slid[c] = -1.0 if stuck else speed


@kernel
def first_coefficients(d, o):
    """Coefficients of the first pass of a step."""
    groups = groups_of(d)
    for a in range(d.n_groups):
        g = groups[a]
        if g.contact == 0:
            continue
        law = laws_of(g)
        for e in range(g.n):
            c = g.first_contact + e
            o.passes[c] = 0
            law[e, L_MU] = coefficient(law, e, o.slid[c])


@kernel
def came_to_rest(g, e, s):
    """Whether sliding has turned by more than a right angle since the start of the step."""
    along = 0.0
    for i in range(2):
        along += gradient_times(g, e, B_VT0, i, s.V0) * gradient_times(g, e, B_VT, i, s.V)
    return along < 0.0


@kernel
def next_coefficients(d, s, o):
    """Coefficients of the next pass, (1); True where one has changed."""
    groups, again = groups_of(d), False
    for a in range(d.n_groups):
        g = groups[a]
        if g.contact == 0:
            continue
        law = laws_of(g)
        for e in range(g.n):
            c = g.first_contact + e
            if o.passes[c] == 2 or s.acted[c] == GAP or s.acted[c] == STICK:
                continue
            before = law[e, L_MU]
            if o.slid[c] >= 0.0 and o.passes[c] == 0:
                if not came_to_rest(g, e, s):
                    continue
                o.passes[c], law[e, L_MU] = 1, law[e, L_STATIC]
            else:
                o.passes[c], law[e, L_MU] = 2, coefficient(law, e, 0.0)
            again = again or law[e, L_MU] != before
    return again


@entry("void(int64, int64)")
def stiction_part(run, task):
    """What ``task`` says, by the numbers above."""
    s = run_at(run)[0]
    d, o = system_at(s.data_at)[0], own_at(s.own_at)[0]
    if task == START:
        contacts(d, s.x, s.R, s.x, s.R, s.V)
        sliding_speeds(d, s, o, False)
        first_coefficients(d, o)
    elif task == BEGIN:
        first_coefficients(d, o)
    elif task == NEXT:
        o.answer = 1 if next_coefficients(d, s, o) else 0
    else:
        sliding_speeds(d, s, o, True)
        first_coefficients(d, o)  # a memory that starts again asks what sticks
