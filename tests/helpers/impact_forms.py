"""Closed forms of plane impacts with friction, by hand: slip that continues, sticks or reverses."""

import numpy as np

GOES_ON, STICKS, REVERSES = "continues", "sticks", "reverses"


def planar(W, u, mu, e, law="stronge"):
    """Terminal impulses (normal, tangential) of an impact in a plane, with what slip does and when it ends.

    All rates are constant before slip ends at p_s, and after: u_N is piecewise linear in p, and its work a sum of
    trapezoids. Routh's lines of sticking and of limiting friction, in formulas.
    """
    n, c, t = W[0, 0], W[0, 1], W[1, 1]
    side = np.sign(u[1])
    first = n - mu * side * c, side * (c - mu * side * t)  # rates of u_N and of |u_T| in slip
    ends = -abs(u[1]) / first[1] if first[1] < 0 else np.inf
    needed = -c / t  # friction per normal impulse that keeps the contact sticking
    after = needed if abs(needed) <= mu else mu * np.sign(needed)
    second = n + after * c
    kind = STICKS if abs(needed) <= mu else REVERSES
    # compression
    if first[0] > 0 and -u[0] / first[0] <= ends:
        compressed, work = -u[0] / first[0], -0.5 * u[0] ** 2 / first[0]
    else:
        at = u[0] + first[0] * ends
        compressed = ends - at / second
        work = 0.5 * (u[0] + at) * ends - 0.5 * at**2 / second
    # restitution
    if law == "poisson":  # Wang and Mason 1992
        p = (1 + e) * compressed
        if p <= ends:
            return np.array([p, -mu * side * p]), GOES_ON, "restitution"
        phase = "compression" if ends < compressed else "restitution"
        return np.array([p, -mu * side * ends + after * (p - ends)]), kind, phase
    target, p = -(e**2) * work, compressed
    if compressed < ends:
        there = first[0] * (ends - compressed)
        given = 0.5 * there * (ends - compressed) if ends < np.inf else np.inf
        if given >= target:
            p = compressed + np.sqrt(2 * target / first[0])
            return np.array([p, -mu * side * p]), GOES_ON, "restitution"
        p = ends + (np.sqrt(there**2 + 2 * second * (target - given)) - there) / second
        phase = "restitution"
    else:
        p, phase = compressed + np.sqrt(2 * target / second), "compression"
    return np.array([p, -mu * side * ends + after * (p - ends)]), kind, phase
