"""The band of closed contacts: gaps below δ are closed, with no bias, and open ones aim at its middle,

    b = 0  where gap < δ ,   else  (gap − δ/2)/h ,   δ = 1e-5 of the smaller diameter                               (1)

Without it overlaps that are left by inexact impulses give small negative b, which contradict each other where spheres
stick, and no method converges any more. Overlaps are taken back by positions, see `granular.positions`.

A pair that approaches meets in the step where (1) would stop it: closed, or without contact below δ/2 at the end. All
of these are for Newton's law, since what (1) has stopped has nothing left to be reflected.

Source: docs/theory/contact_groups.md, (1), (2).
"""

from fem_mbs.jit import kernel


@kernel
def open_bias(gap, band, h):
    """b [m/s] of (1) for a gap [m], band δ [m] and step size h [s]."""
    return 0.0 if gap < band else (gap - 0.5 * band) / h


@kernel
def meets(gap, band, rate, h):
    """True if a pair whose gap [m] changes with the rate [m/s] < 0 meets in the step of size h [s]."""
    return gap < band or gap + h * rate <= 0.5 * band
