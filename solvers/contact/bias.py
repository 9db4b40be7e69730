"""Term b of the law of contacts in velocities, from the gap and the approach at the start of a step.

    b = 0  where gap < δ ,   else  (gap − δ/2)/h                                                                   (1)
    b = e u_N  if that is less, where the pair meets in the step: gap < δ ,  or  gap + h u_N ≤ δ/2                  (2)

δ is the band of closed contacts: open ones aim at its middle. Contact groups have 1e-5 of the smaller diameter, since
overlaps that are left by inexact impulses give small negative b otherwise, which contradict each other where spheres
stick; overlaps are taken back by positions, see `granular.positions`. `ConeComplementarity` has δ = 0. (2) is for
pairs that (1) would stop: what it has stopped has nothing left to be reflected.

Source: docs/theory/contact_groups.md, (1), (2); docs/theory/cone_complementarity.md, (5).
"""

from fem_mbs.jit import kernel


@kernel
def open_bias(gap, band, h):
    """b [m/s] of (1) for a gap [m], band δ [m] and step size h [s]."""
    return 0.0 if gap < band else (gap - 0.5 * band) / h


@kernel
def bias(b, gap, band, rate, h, restitution, slow):
    """b [m/s] of (2) from that of the gap, for a pair whose gap [m] changes with the rate [m/s].

    Returns also True if the pair approaches faster than ``slow`` [m/s] and does not meet yet, which the relaxed law
    would lift.
    """
    if rate >= -slow:
        return b, False
    if gap < band or gap + h * rate <= 0.5 * band:
        return min(b, restitution * rate), False
    return b, True
