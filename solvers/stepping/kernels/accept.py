"""Internal variables of elements at the end of an accepted step; turns of joints that are counted when they have to be.

A joint has a multi-turn angle for its outputs: an angle is the one nearest to the last that was counted. Any count
within half a turn gives the same angle, to the last bit. So nothing is counted while all steps since the last count
have turned two bodies against each other by less than `MOST`,

    |Δθ| ≤ φ_A + φ_B ≤ 2 max φ ,   cos(φ/2) = |Q_n·Q|                                                                (1)

with φ the angle from the start to the end of a step, of all nodes. That holds for a turn about an axis that the joint
keeps common to both bodies (the distance of rotations obeys the triangle inequality). A step that goes beyond `MOST`
first counts at its own start, so that, as ever, a step may turn by less than half a turn. Stops that are not evaluated
(`fem_mbs.system.far_contacts`) count likewise, and whenever they are evaluated as a step begins. Joints that are off
count in every step.

Source: derived here; docs/theory/joints.md, (12).

    symbol    code         meaning
    Σ 2 max φ s.turned     since the last count [rad]
"""

import math

from fem_mbs.jit import integers, kernel
from fem_mbs.system.element_states import accept_states
from fem_mbs.system.records import ALL, COUNTING, OTHERS

MOST = 2.0  # rad; π less what joints that drift apart may be off
ROUND = 1e-7  # rad in each step: acos of a cosine that rounding has changed


@kernel
def largest_turn(d, s):
    """2 max φ of (1) [rad]."""
    turns, least = integers(d.turns_at, d.n_nodes), 1.0
    for i in range(d.n_nodes):
        if turns[i]:
            q, p = s.Q0[i], s.Q[i]
            least = min(least, abs(q[0] * p[0] + q[1] * p[1] + q[2] * p[2] + q[3] * p[3]))
    return 4.0 * math.acos(least) + ROUND


@kernel
def accept(d, s):
    """Internal variables of all elements at the end of the step."""
    if s.counting == 0 and s.far == 0:
        accept_states(d, s.x, s.R, s.V, s.lam_report, ALL, 0)
        return
    accept_states(d, s.x, s.R, s.V, s.lam_report, OTHERS, s.far)
    turn = largest_turn(d, s)
    if not s.turned + turn < MOST:
        if s.turned > 0.0:
            accept_states(d, s.x0, s.R0, s.V0, s.lam_report, COUNTING, s.far)
        accept_states(d, s.x, s.R, s.V, s.lam_report, COUNTING, s.far)
        s.turned = 0.0
    else:
        s.turned += turn
