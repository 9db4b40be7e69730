"""Passes of joint friction in a step: static and sliding coefficient, and what changes within the step.

Each pass is an ordinary problem, (3) of `joint_friction.friction`, with one coefficient per joint:

    stuck before     μ_s; where it slips again with μ_k                                                            (1)
    slid before      μ_k; where it reverses again with μ_s: it sticks, or again with μ_k

Friction that jumps within the step has an impulse of two parts. With φ, the part of the step before the jump,

    reversal     φ = γ_n/(γ_n − γ~) with γ~ of the smooth motion, in which friction is as before;
                 Λ_F = −s (b − 2 φ h |λ~_F|)                                                                      (2)
    stops, and cannot stay      the force that holds it since, (s_n Λ_F/h + μ_k N φ)/(1 − φ), is more than μ_s N:
                                it reverses, as (2)                                                               (3)
    breaks loose                φ = (μ_s N − |λ_n|)/(|λ~| − |λ_n|) ,  Λ_F = −s (½ φ h (|λ_n| + μ_s N) + (1 − φ) b)  (4)

which leaves O(h²) in the velocity instead of O(h): second order needs no step that ends there. Not where contacts are
struck: when in the step friction changed is then not known. In a split step the time before the touch has (1)-(4), the
impact (1) alone.

Source: docs/theory/joint_friction.md, (7), (8).

    symbol      code                  meaning
    φ           F_PART
    1 − φ, …    F_SHARE, F_HELD       part of b that acts; impulse besides, along the friction at the end. In the impact
                                      of a split step F_HELD is what `joint_friction.friction_touch` tries first
"""

from fem_mbs.jit import kernel
from fem_mbs.solvers.contact.law import GAP
from fem_mbs.system.friction import (
    F_FORCE,
    F_FORCED,
    F_GT,
    F_HELD,
    F_IMPULSE,
    F_MU,
    F_N,
    F_OLD,
    F_OUT,
    F_PART,
    F_PASS,
    F_SHARE,
    F_SIGN,
    F_SMOOTH,
    F_START,
    F_TRY,
    F_TRY_SIGN,
    SLIP,
    STICK,
    coefficients_of,
    row_times,
    states_of,
)  # fmt: skip
from fem_mbs.system.records import groups_of


@kernel
def two_parts(s, kept, part):
    """Impulse (2) of a joint that slides as before in a part of the step, and then the other way.

    b is of the mean reaction, φ times that of the smooth motion and 1 − φ times that after the jump.
    """
    kept[F_PART] = part
    if kept[F_OUT] != 0.0:  # its smooth motion is without friction
        kept[F_SHARE] = 1.0 - 2.0 * part
    else:
        kept[F_HELD] = -2.0 * part * s.h * abs(kept[F_SMOOTH])


@kernel
def turns_back(g, e, s, kept, static, sliding):
    """Whether a joint that stops in the step cannot stay: holding it since takes more than static friction, (6).

    F_PART is then the part of the step in which it slid on.
    """
    rate = row_times(g, e, s.Vs) + kept[F_GT]
    if kept[F_OLD] * rate >= 0.0:
        return False
    part = kept[F_OLD] / (kept[F_OLD] - rate)
    hold = kept[F_SIGN] * kept[F_IMPULSE] / s.h + sliding * kept[F_N] * part
    if hold <= static * kept[F_N] * (1.0 - part) * (1.0 + s.rtol):
        return False
    two_parts(s, kept, part)
    return True


@kernel
def breaks_loose(s, kept, static):
    """Impulse of a joint that sticks until its load is that of static friction, and slides from then on, (7)."""
    direction = -kept[F_TRY_SIGN]
    before, needed, most = direction * kept[F_FORCE], direction * kept[F_SMOOTH], static * kept[F_N]
    if kept[F_OUT] != 0.0 or before < 0.0 or before >= most or needed <= most * (1.0 - s.rtol):
        return
    part = min((most - before) / (needed - before), 1.0)  # 1 but for rounding where it does just as the step ends
    kept[F_PART], kept[F_SHARE], kept[F_HELD] = part, 1.0 - part, part * s.h * 0.5 * (before + most)


@kernel
def strikes(d, s):
    """Whether contacts were struck in the step: when in it friction changed its direction is then not known."""
    for c in range(d.nc):
        if s.acted[c] != GAP and s.was_active[c] == 0:
            return True
    return s.counts[3] > 1


@kernel
def next_pass(d, s, impact):
    """Coefficients of the next pass, (4), and friction where sliding has reversed, (5); True when one has changed.

    ``impact``: of the impact of a split step, which lasts no time.
    """
    groups, again, struck = groups_of(d), False, impact or strikes(d, s)
    for a in range(d.n_groups):
        g = groups[a]
        if g.friction == 0:
            continue
        mu = coefficients_of(g)
        for e in range(g.n):
            kept = states_of(g)[e]
            if impact and kept[F_HELD] > 0.0 and kept[F_TRY] == SLIP:
                kept[F_HELD], again = 0.0, True
                continue
            if kept[F_PASS] == 2.0 or (impact and mu[e, 0] == mu[e, 1]):
                continue
            if kept[F_TRY] != SLIP:
                if kept[F_START] == SLIP and not struck and turns_back(g, e, s, kept, mu[e, 0], mu[e, 1]):
                    kept[F_MU], kept[F_PASS], kept[F_FORCED], again = mu[e, 1], 2.0, 1.0, True
                    kept[F_TRY], kept[F_TRY_SIGN] = SLIP, -kept[F_SIGN]
                continue
            reverses = kept[F_START] == SLIP and kept[F_TRY_SIGN] != kept[F_SIGN]
            if reverses and kept[F_PASS] == 0.0 and mu[e, 0] > mu[e, 1]:
                kept[F_MU], kept[F_PASS], again = mu[e, 0], 1.0, True
            elif reverses:
                rate = row_times(g, e, s.V if kept[F_OUT] != 0.0 else s.Vs) + kept[F_GT]
                kept[F_MU], kept[F_PASS], kept[F_FORCED], again = mu[e, 1], 2.0, 1.0, True
                if kept[F_OLD] * rate < 0.0 and not struck:
                    two_parts(s, kept, kept[F_OLD] / (kept[F_OLD] - rate))
            elif kept[F_START] == STICK:
                kept[F_MU], kept[F_PASS], again = mu[e, 1], 2.0, True
                if not struck:
                    breaks_loose(s, kept, mu[e, 0])
    return again
