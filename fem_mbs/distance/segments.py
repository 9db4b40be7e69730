"""Nearest points of two segments, or of a point and a segment."""

from fem_mbs.jit import kernel

_PARALLEL = 1e-12  # sine squared of the angle of two axes below which they count as parallel


@kernel
def _foot(first, last, y):
    """Parameter in [0, 1] of the point nearest to y (3,) on the segment from first to last."""
    square, part = 0.0, 0.0
    for i in range(3):
        square += (last[i] - first[i]) ** 2
        part += (last[i] - first[i]) * (y[i] - first[i])
    return min(max(part / square, 0.0), 1.0)


@kernel
def feet(z, segment, at):
    """Fill at (4,) = σ, τ and, for each, 1 inside its segment and 0 at an end: the nearest points of two segments.

    The segments have the ends z (4, 3) [m]; with ``segment`` 0 the first is the point z_1.
    """
    a = e = b = d = f = 0.0
    for i in range(3):
        e_A, e_B, apart = z[1, i] - z[0, i], z[3, i] - z[2, i], z[0, i] - z[2, i]
        a += e_A * e_A
        e += e_B * e_B
        b += e_A * e_B
        d += e_A * apart
        f += e_B * apart
    s, free = 0.0, 0.0
    if segment != 0:
        det = a * e - b * b
        if det > _PARALLEL * a * e:
            s, free = (b * f - d * e) / det, 1.0
        else:
            first, last = min(f, f + b) / e, max(f, f + b) / e
            middle = 0.5 * (min(max(first, 0.0), 1.0) + min(max(last, 0.0), 1.0))
            s = (middle * e - f) / b
        s = min(max(s, 0.0), 1.0)
    t = (b * s + f) / e
    # from an end to the other segment: not touched by the round-off of the other end
    if t <= 0.0 or t >= 1.0:
        t = 0.0 if t <= 0.0 else 1.0
        if segment != 0:
            s, free = _foot(z[0], z[1], z[2] if t == 0.0 else z[3]), 1.0
    elif s == 0.0 or s == 1.0:
        t = _foot(z[2], z[3], z[0] if s == 0.0 else z[1])
    at[0], at[1] = s, t
    at[2] = free if 0.0 < s < 1.0 else 0.0
    at[3] = 1.0 if 0.0 < t < 1.0 else 0.0
