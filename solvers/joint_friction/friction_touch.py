"""Joint friction in a split step: up to the touch by its bound there, in the impact by what the impact itself gives.

The first velocity problem of a step that ends at a touch is the time h₁ before it, the problems after it are the
impact. With Λ_F and Λ as the first problem leaves them, Λ_F⁻ and Λ⁻, the row (3) of `joint_friction.friction` is there

    b = μ ( N(Λ − Λ⁻) − N(0) ) ,   ξ = (Λ_F − Λ_F⁻) − p γ ,      slip  Λ_F − Λ_F⁻ + s b = 0                          (1)

An impact lasts no time: what presses for a time alone, a preload, gives it no friction. The same bound holds in a jump
of velocities between two steps (h = 0). A joint that stuck, and that its friction would stop again within a step H of
the user, is beyond what steps resolve, and stays: it is tried with b + μ_s H N, N that at the touch, and again with (1)
where it slips. Statuses and coefficients of the impact begin with those at the touch; passes
of the time before the touch are over before the impact is solved.

Source: docs/theory/split_impacts.md, "The step".

    symbol       code                     meaning
    Λ_F⁻, Λ⁻     o.touch_impulse, o.touch_Lam   [N s, N m s]; Λ is divided by k_v
    γ⁻           o.touch_rate             rate at the touch
                 o.before_touch           columns `TRIED` of the time before the touch, as the pass begins
                 o.at_touch               the same of the impact
    μ_s H N      F_HELD                   in the impact
"""

from fem_mbs.jit import kernel
from fem_mbs.solvers.joint_friction.friction_passes import next_pass
from fem_mbs.solvers.stepping.kernels.arrays import copy1
from fem_mbs.solvers.stepping.kernels.codes import STRIKES
from fem_mbs.system.friction import (
    F_DONE,
    F_FORCED,
    F_GT,
    F_HELD,
    F_IMPULSE,
    F_MU,
    F_N,
    F_PART,
    F_PASS,
    F_SHARE,
    F_SIGN,
    F_START,
    F_TRY,
    F_TRY_SIGN,
    FREE,
    SLIP,
    STICK,
    coefficients_of,
    evaluate_bound,
    row_times,
    states_of,
)
from fem_mbs.system.records import groups_of

TRIED = (F_START, F_SIGN, F_PART, F_MU, F_PASS, F_FORCED, F_SHARE, F_HELD, F_TRY, F_TRY_SIGN)
START, SIGN, PART = 0, 1, 2  # their places


@kernel
def in_impact(s):
    """True in the impact of a split step, after the time before the touch."""
    return s.h > 0.0 and s.cut == STRIKES and s.counts[3] > 0


@kernel
def past_impulse(s, o, j):
    """Friction impulse of row j that belongs to the time before the impact [N s, N m s]."""
    return o.touch_impulse[j] if in_impact(s) else 0.0


@kernel
def bound_of_impulses(d, s, g, e, b, one, scale, more, more_scale):
    """b over μ for the impulses scale one + more_scale more (m,), its slope kept: h N, or that of (1)."""
    kept, impact = states_of(g)[e], in_impact(s)
    if s.h > 0.0 and not impact:
        return s.h * evaluate_bound(d, g, e, b, one, scale / s.h, more, more_scale / s.h)
    lasting = kept[F_N]
    given = evaluate_bound(d, g, e, b, one, 0.0, more, 0.0)
    bound = evaluate_bound(d, g, e, b, one, scale, more, more_scale) - given
    if impact:
        kept[F_N] = lasting
    return bound


@kernel
def impulse_bound(d, s, o, g, e, b):
    """Bound of the friction impulse of the problem that is solved, over μ."""
    if in_impact(s):
        return bound_of_impulses(d, s, g, e, b, s.Lam, s.kv, o.touch_Lam, -s.kv)
    return bound_of_impulses(d, s, g, e, b, s.lam, s.h * s.ks, s.Lam, s.kv)


@kernel
def held_within_step(s, kept):
    """What friction within a step adds to the bound of a joint that stuck as it was struck [N s, N m s]."""
    return kept[F_HELD] if in_impact(s) else 0.0


@kernel
def keep_tried(kept, table, j):
    """Keep coefficient, pass and status of row j."""
    for i in range(len(TRIED)):
        table[j, i] = kept[TRIED[i]]


@kernel
def take_tried(table, j, kept):
    """Take them again."""
    for i in range(len(TRIED)):
        kept[TRIED[i]] = table[j, i]


@kernel
def first_tried(kept, o, j):
    """Begin the problems of a split step: nothing is known of its impact."""
    keep_tried(kept, o.before_touch, j)
    o.touch_impulse[j], o.at_touch[j, START] = kept[F_IMPULSE], FREE


@kernel
def begin_time(d, s, o):
    """Begin the sequence of problems with the time before the touch."""
    groups = groups_of(d)
    for a in range(d.n_groups):
        g = groups[a]
        if g.friction != 0:
            for e in range(g.n):
                kept, j = states_of(g)[e], g.first_friction + e
                take_tried(o.before_touch, j, kept)
                kept[F_IMPULSE] = o.touch_impulse[j]


@kernel
def begin_impact(kept, mu, o, j):
    """Statuses and coefficient with which the impact begins: those at the touch, or of its last pass."""
    status, sign = kept[F_TRY], kept[F_TRY_SIGN] if kept[F_TRY] == SLIP else kept[F_SIGN]
    if o.at_touch[j, START] == status and o.at_touch[j, SIGN] == sign:
        take_tried(o.at_touch, j, kept)
        return
    kept[F_START], kept[F_SIGN], kept[F_TRY_SIGN] = status, sign, sign
    kept[F_MU] = mu[0] if status == STICK else mu[1]
    kept[F_PART], kept[F_PASS], kept[F_FORCED], kept[F_SHARE] = 0.0, 0.0, 0.0, 1.0
    kept[F_HELD] = mu[0] * o.whole * kept[F_N] if status == STICK else 0.0
    keep_tried(kept, o.at_touch, j)


@kernel
def end_time(d, s, o):
    """End the time before the touch; True if a pass follows, with which the sequence begins again."""
    groups, again = groups_of(d), next_pass(d, s, False)
    if not again:
        copy1(s.Lam, o.touch_Lam)
    for a in range(d.n_groups):
        g = groups[a]
        if g.friction == 0:
            continue
        mu = coefficients_of(g)
        for e in range(g.n):
            kept, j = states_of(g)[e], g.first_friction + e
            o.touch_impulse[j] = kept[F_IMPULSE]
            if again:
                keep_tried(kept, o.before_touch, j)
            else:
                o.touch_rate[j] = row_times(g, e, s.V) + kept[F_GT]
                begin_impact(kept, mu[e], o, j)
    return again


@kernel
def next_pass_of_impact(d, s, o):
    """Coefficients of the next pass of the impact; True when one has changed."""
    groups, again = groups_of(d), next_pass(d, s, True)
    for a in range(d.n_groups):
        g = groups[a]
        if g.friction != 0:
            for e in range(g.n):
                keep_tried(states_of(g)[e], o.at_touch, g.first_friction + e)
    return again


@kernel
def back_to_touch(kept, o, j):
    """Statuses of the time before the touch, as it began and as it ended."""
    kept[F_TRY], kept[F_TRY_SIGN] = kept[F_START], kept[F_SIGN]
    kept[F_START], kept[F_SIGN] = o.before_touch[j, START], o.before_touch[j, SIGN]
    kept[F_PART] = o.before_touch[j, PART]


@kernel
def impulse_before(s, kept):
    """Impulse before the problem that is solved: first guess of what is solved anew."""
    return kept[F_DONE] if in_impact(s) else 0.0
