"""Static and sliding friction of contacts: which coefficient acts in a step, found by passes.

Each pass is an ordinary problem with one coefficient per contact, as those of joint friction
(`joint_friction.friction_passes`), and of any direction:

    stuck as the step began    μ_s; where it slips again with μ(0)                                                 (1)
    slid                       μ(v), v the speed as the step began; where sliding has turned by more than a right
                               angle, it has come to rest in the step: again with μ_s; where it slips, with μ(0)

A contact that slips is at its bound, and slides faster than what the sub-problems leave.

    μ(v) = μ_k + (μ_s − μ_k) exp(−(v/v_s)ⁿ) ,   without a Stribeck speed v_s μ_k ;   or by a table                  (2)

That is of first order: sliding has another speed at the end of the step, and what breaks loose sticks up to a time φ h
in it. `nsga.stiction` is of second order where contacts stay closed.

A test of both coefficients inside of an iteration would depend on the penalty and go to and fro for slow slip. What was
open slides as the step begins. In a position correction the coefficient of the first pass acts.

The coefficient that acts is `friction` of the laws, which a run changes; all kernels read that.

Source: docs/theory/contact_laws.md, (12)-(14); the law (2): Armstrong-Hélouvry, Dupont, Canudas de Wit, Automatica 30
(1994).

    symbol    code           meaning
    v         s.slid (nc,)   sliding speed as the step begins [m/s]; −1: stuck
              s.passes       0: first pass, 1: tried to come to rest, 2: last
"""

from fem_mbs.jit import entry, kernel
from fem_mbs.solvers.contact.law import GAP, STICK
from fem_mbs.solvers.stepping.kernels.data import run_at, system_at
from fem_mbs.solvers.stepping.kernels.sizes import still_speed
from fem_mbs.system.contacts import (
    contact_groups,
    contacts,
    contacts_of,
    gradient_times,
    laws_of,
    sliding_friction_at,
    sliding_speed,
)

START = 0  # of a run, and after velocities have jumped: what slides
BEGIN = 1  # of a step, or of an attempt at one: coefficients of the first pass
NEXT = 2  # ``s.friction_answer``: another pass is needed; its coefficients are set
END = 3  # of a step: what slides


@kernel
def coefficient(g, e, speed):
    """μ(v) of (2); −1 for v: μ_s."""
    return laws_of(g)[e].static_friction if speed < 0.0 else sliding_friction_at(g, e, speed)


@kernel
def sliding_speeds(d, s, ended):
    """Fill s.slid with the speeds at V; what sticks, or has stuck in the step that ended, has −1."""
    rest = still_speed(s)
    for g in contact_groups(d):
        for e in range(g.n):
            c = g.first_contact + e
            speed = sliding_speed(g, e, s.V)
            stuck = speed <= rest or (ended and s.acted[c] == STICK)
            s.slid[c] = -1.0 if stuck else speed


@kernel
def first_coefficients(d, s):
    """Coefficients of the first pass of a step."""
    for g in contact_groups(d):
        law = laws_of(g)
        for e in range(g.n):
            c = g.first_contact + e
            s.passes[c] = 0
            law[e].friction = coefficient(g, e, s.slid[c])


@kernel
def find_sliding(d, s):
    """What slides at the present velocities, and coefficients by that."""
    contacts(d, s.x, s.R, s.x, s.R, s.V)
    sliding_speeds(d, s, False)
    first_coefficients(d, s)


@kernel
def slides_along(g, e, s, V):
    """Sliding velocity at V times that at the start of the step; below 0 it has turned by more than a right angle."""
    contact = contacts_of(g)
    along = 0.0
    for i in range(2):
        along += gradient_times(g, e, contact.V_T_start[e, i], s.V0) * gradient_times(g, e, contact.V_T[e, i], V)
    return along


@kernel
def slips(g, e, s):
    """True if contact e, which is at its bound, slides: some contacts of a body that sticks may be there too."""
    return sliding_speed(g, e, s.V) > still_speed(s)


@kernel
def next_coefficient(law, e, s, c, slid, slides_on, last):
    """Set the coefficient of the next pass of contact c, (1); True if it has changed.

    ``slid``: speed as the step began, ``slides_on``: it slides on as it did then, ``last``: μ of the last pass.
    """
    before = law[e].friction
    if s.passes[c] == 2 or s.acted[c] == GAP or s.acted[c] == STICK:
        return False
    if slid >= 0.0 and s.passes[c] == 0:
        if slides_on:
            return False
        s.passes[c], law[e].friction = 1, law[e].static_friction
    else:
        s.passes[c], law[e].friction = 2, last
    return law[e].friction != before


@kernel
def next_coefficients(d, s):
    """Coefficients of the next pass of a step; True where one has changed."""
    again = False
    for g in contact_groups(d):
        law = laws_of(g)
        for e in range(g.n):
            c, slides_on = g.first_contact + e, slides_along(g, e, s, s.V) >= 0.0
            if not slips(g, e, s):
                continue
            again = next_coefficient(law, e, s, c, s.slid[c], slides_on, coefficient(g, e, 0.0)) or again
    return again


@entry("void(int64, int64)")
def static_friction_part(run, task):
    """Perform ``task``, one of the numbers above."""
    s = run_at(run)[0]
    d = system_at(s.data_at)[0]
    s.friction_answer = 0
    if task == START:
        find_sliding(d, s)
    elif task == BEGIN:
        first_coefficients(d, s)
    elif task == NEXT:
        s.friction_answer = 1 if next_coefficients(d, s) else 0
    else:
        sliding_speeds(d, s, True)
        first_coefficients(d, s)  # a memory that starts again asks what sticks
