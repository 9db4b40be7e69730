"""Limit of the restitution of an impact, with which its impulses gain no energy.

Source: docs/theory/accepted_steps.md, (3); docs/theory/sweep.md, The speed at the touch.
"""

from fem_mbs.jit import call2, kernel
from fem_mbs.solvers.contact.impact_work import GAIN, energy_of_touches, reflects, work_of_impulses
from fem_mbs.solvers.contact.velocity import solve_velocities
from fem_mbs.solvers.stepping.kernels.codes import OK, STRUCK
from fem_mbs.solvers.stepping.kernels.friction_tasks import PIECES

LIMITING = 12  # problems to find how much restitution an impact may have
NARROW = 1e-3  # of what is taken from the restitution: it is no better known
MATCHING = 6  # problems to find the restitution that keeps the energy of several touches
MOST = 1.5  # times the restitution


@kernel
def solve_impact(s):
    """Solve an impact problem, with joint friction piece by piece where Newton's iteration fails."""
    solve_velocities(s, s.velocity_problem)
    if s.code != OK and s.friction != 0:
        call2(s.friction_part, s.run_at, PIECES)


@kernel
def gained(d, s, scale):
    """Energy that the impulses give beyond round-off, the problem solved again with restitution times ``scale``."""
    s.restitution_scale = scale
    solve_impact(s)
    total, size = work_of_impulses(d, s)
    return total - GAIN * size


@kernel
def match_touches(d, s):
    """Solve an impact problem again in which several contacts touch at different times of the step.

    Each has the speed at its own touch; the position correction takes the bodies back to all of them at once. With the
    restitution times one factor, found by secants, the impact takes the energy of Newton's law: δ = 0 of
    `contact.impact_work`, (3).
    """
    delta, size, kept, touches = energy_of_touches(d, s)
    if touches < 2 or abs(delta) <= GAIN * size or kept == 0.0:
        return
    last, before = 1.0, delta
    scale = 1.0 - delta / kept
    for _ in range(MATCHING):
        if not 0.0 <= scale <= MOST:
            break
        s.restitution_scale = scale
        solve_impact(s)
        if s.code != OK:
            break
        delta, size, kept, _ = energy_of_touches(d, s)
        if abs(delta) <= GAIN * size or delta == before:
            return
        last, before, scale = scale, delta, scale - delta * (scale - last) / (delta - before)
    s.restitution_scale = 1.0
    solve_impact(s)


@kernel
def limit_restitution(d, s):
    """Solve an impact problem whose impulses give energy again, with the largest restitution that does not.

    Newton's law with friction can gain energy in coupled bodies (Kane's paradox): with the friction of a linkage one
    impact took it from 220.9 to 475.8 J. Joint friction is part of it: its impulse opposes the rate after the impact,
    and works with the rate before it where the impact turns that round. With e = 0 no impulse of a cone gives energy,
    and L is continuous in e; the largest factor of e with L ≤ 0 is found by regula falsi (Illinois).
    """
    if s.touch == STRUCK and s.impact_problems == 0:
        match_touches(d, s)
    if s.code != OK:
        s.restitution_scale = 1.0
        return
    total, size = work_of_impulses(d, s)
    most = s.restitution_scale
    high, gain = most, total - GAIN * size
    if gain <= 0.0 or not reflects(d, s):
        return
    low, loss = 0.0, gained(d, s, 0.0)
    last, narrow = 0.0, NARROW * min(gain, -loss) / max(-loss, 1e-300)
    # the rest without restitution is the work of elastic forces: no bound for it here
    if s.code == OK and loss < 0.0:
        for _ in range(LIMITING):
            last = (low * gain - high * loss) / (gain - loss)
            value = gained(d, s, last)
            if s.code != OK or high - low < narrow:
                break
            if value > 0.0:
                high, gain, loss = last, value, 0.5 * loss
            else:
                low, loss, gain = last, value, 0.5 * gain
        if s.code == OK and last != low:
            gained(d, s, low)
    if s.code != OK:
        s.restitution_scale = 1.0  # otherwise `contact.impact_work.compare_with_law` sets it back
    if s.restitution_scale < most * (1.0 - NARROW):
        s.limited_impacts += 1
