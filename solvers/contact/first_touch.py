"""First touch of an open contact in a step: its estimate, and what counts as a touch at the end of the step.

The gap over a step, or up to one of its stages, is estimated by the cubic with the values and rates of both ends,

    g(τ) = (1 + 2τ)(1 − τ)² g_n + τ(1 − τ)² h ġ_n + τ²(3 − 2τ) g~ − τ²(1 − τ) h ġ~                                 (1)

and an impact at the touch is isolated if it is faster than forces make it in a whole step H of the user, by one in a
hundred:

    −ġ~ > |ġ~ − ġ_n| H/h ,   ġ = G_N v                                                                             (2)

Source: worked out here (docs/theory/split_impacts.md). Tests: tests/validation/steppers/test_split_impacts.py.
"""

from fem_mbs.data_table import Item
from fem_mbs.jit import kernel

BISECTIONS = 40  # of the first guess
SINKS = 1.01  # times what forces make in a step: a contact at rest sinks that fast, but for round-off
NEAR = 100.0  # times the accuracy of gaps: contacts of the cut step that touch
LATEST = 2e-9  # of a step: contacts up to that much later touch at its end; limit of `stepping.march.splitter` too

SEARCH = {  # for `stepping.march.splitter`, in the table of a method
    "whole": Item("", "step size of the user"),
    "guess": Item("", "part of the step at which the first event is, estimate"),
    "latest": Item("", "part of the step before which the first event is"),
    "least": Item("", "smallest gap of touching contacts at the end of the smooth motion"),
    "least_rate": Item("", "its rate there"),
}


@kernel
def first_root(gap_0, rate_0, gap_1, rate_1):
    """First τ at which the cubic (1) vanishes, for rates times h; 1 if there is none.

    A contact that starts at gap zero leaves first: the cubic over τ is positive there as well.
    """
    low, high = 0.0, 1.0
    for _ in range(BISECTIONS):
        t = 0.5 * (low + high)
        begin = (1.0 + 2.0 * t) * gap_0 + t * rate_0
        end = (3.0 - 2.0 * t) * gap_1 - (1.0 - t) * rate_1
        if (1.0 - t) ** 2 * begin + t * t * end > 0.0:
            low = t
        else:
            high = t
    return high


@kernel
def ends_at_touch(s, gap, rate):
    """True if an open contact touches as the step ends, but for round-off: at the start of the next step it is closed.

    Only a touch within a step can be split, and what is closed as a step begins is no impact before its end.
    """
    accuracy = s.exact * s.scale_x
    return gap <= max(0.5 * accuracy, min(0.5 * NEAR * accuracy, -LATEST * s.h * rate))


@kernel
def is_fast(s, rate, change, whole, h):
    """True if a contact that meets with ``rate`` has an impact by (2); ``change`` of the rate in a time h."""
    return -rate > max(SINKS * abs(change) * whole / h, s.tol_v)
