"""Impulse filter: which part of the impulses of a contact comes from impacts, which from a contact that stays closed.

A nonsmooth step gives one impulse Λ per contact. q = Λ/h is a force only while the contact stays closed; an impact
takes a time of its own. Both filters split Λ = Λ_i + h F_c with Λ_i, F_c ≥ 0.

Peak filter, from impulses alone (published): a sample between two zeros is a free impact; in what remains

    F_c,k = ½ (q_{k−1} + q_{k+1})   if q_k is larger than both neighbours, else q_k                               (1)

It takes every second sample of an oscillating force for an impact, and leaves impacts in adjacent steps (never both
larger than their neighbours) in the force. The kinematic filter asks how fast the bodies approached. With the approach
speed a at the start of the step and the speed d that smooth motion gains in it, sample k is an impact if

    q_{k−1} = q_{k+1} = 0                                  an isolated pulse                                      (2)
    a > max(d, v_tol)                                      they approached before the step                        (3)
    another contact of the same bodies, linked by joints and closed contacts, is one by (3), and
    q_k > 2 F_c,k                                          an impulse that comes through the chain                (4)

and then F_c,k is the mean of the nearest samples that are no impacts, at most three steps away on either side (an open
contact counts 0), and not more than q_k; all other samples are continuous, F_c,k = q_k.

Source: (1) Sanchez2025 annex C, (C.40)-(C.41), in the form of the thesis, section 3.3.1; (2)-(4)
docs/theory/force_recovery.md, (5). With v~ of the smooth sub-problem d would be |G (v~ − v_n)|; results lack it, and d
is h times the mean of the relative normal accelerations at both ends of the step.

    symbol   code          unit   meaning
    q        force         N      impulse of the step over its size
    F_c      continuous    N      force of the closed contact
    a, d     approach, change   m/s   −(gap rate) at the start of the step; gain of it by smooth motion
"""

from collections.abc import Callable

import numpy as np

from fem_mbs.arguments.checked import ArrayLike

LEAST = 1e-6  # rise over the neighbours that makes a peak, relative
REACH = 3  # steps that the background may be away: bursts are rarely longer


def peak_filter(force: ArrayLike) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Free impacts, impacts on a closed contact (both (k,) bool), and the continuous force (k,) [N], by (1).

    Parameters
    ----------
    force : (k,) [N], Λ/h of successive steps
    """
    q = np.asarray(force, float)
    before, after = _neighbours(q)
    free = (q > 0) & (before == 0) & (after == 0)
    rest = np.where(free, 0.0, q)
    before, after = _neighbours(rest)
    # a closed contact at rest has peaks of round-off
    on_closed = rest * (1 - LEAST) > np.maximum(before, after)
    return free, on_closed, np.where(on_closed, 0.5 * (before + after), rest)


def _neighbours(q):
    """Samples before and after each; the ends have none: infinity, so that they are neither peak nor alone."""
    padded = np.concatenate([[np.inf], q, [np.inf]])
    return padded[:-2], padded[2:]


def isolated_pulses(force: ArrayLike) -> np.ndarray:
    """Samples (k,) bool between two open steps, (2)."""
    return peak_filter(force)[0]


def background(force: np.ndarray, impact: np.ndarray, wanted: np.ndarray) -> np.ndarray:
    """Continuous force (len(wanted),) [N] under samples: the mean of the nearest that are no impacts, on both sides.

    Parameters
    ----------
    force : (k,) [N]
    impact : (k,) bool
        Samples that are impacts, and do not count.
    wanted : (j,) int
        Samples to find it for.
    """
    sides = []
    for sign in (-1, 1):
        found = np.full(len(wanted), np.nan)
        for offset in range(1, REACH + 1):
            i = wanted + sign * offset
            inside = (i >= 0) & (i < len(force))
            i = np.clip(i, 0, len(force) - 1)
            take = np.isnan(found) & inside & ~impact[i]
            found[take] = force[i[take]]
        sides.append(found)
    left, right = sides
    left, right = np.where(np.isnan(left), right, left), np.where(np.isnan(right), left, right)
    return np.minimum(np.nan_to_num(0.5 * (left + right)), force[wanted])


def kinematic_filter(
    force: np.ndarray,
    approach: np.ndarray,
    change: np.ndarray,
    v_tol: float,
    transmitted: Callable[[np.ndarray], np.ndarray] | None = None,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Impacts (k,) bool, those of them that came through the chain (k,) bool, and the continuous force (k,) [N].

    Parameters
    ----------
    force : (k,) [N]
    approach, change : (k,) [m/s]
        a and d of (3).
    v_tol : float [m/s]
    transmitted : callable, optional
        ``transmitted(steps)`` says (j,) bool for samples (j,) int whether another contact of the same bodies is an
        impact by (3). Not called without candidates.
    """
    closed = force > 0
    impact = isolated_pulses(force) | (closed & (approach > np.maximum(change, v_tol)))
    passed = np.zeros(len(force), bool)
    if transmitted is not None:
        candidates = np.flatnonzero(closed & ~impact)
        candidates = candidates[force[candidates] > 2 * background(force, impact, candidates)]
        if len(candidates):
            passed[candidates[transmitted(candidates)]] = True
    impact |= passed
    continuous = force.copy()
    found = np.flatnonzero(impact)
    continuous[found] = background(force, impact, found)
    return impact, passed, continuous
