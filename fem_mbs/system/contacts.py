"""Contacts: evaluation of their kinematics, and the vectors and products that steppers build from it.

What a contact element supplies is kept per contact in one row of numbers (`C_GAP` … and `B_GN` …), because the laws of
the steppers need it several times. The gradients at the start of a step are kept too, for Newton's impact law.
"""

import numpy as np
from numba import carray

from fem_mbs.jit import N_SLOTS, SLOT, call2, integer_matrix, integers, kernel, matrix, vector, void_pointer
from fem_mbs.system.gather import gather, gather_start
from fem_mbs.system.records import groups_of, zero

_GAP, _SLIP, _GN, _GTAN, _VT, _W, _HN = (SLOT[k] for k in ("gap", "slip", "G_N", "G_T", "V_T", "W", "H_N"))
_POINT, _NORMAL, _TANGENTS = (SLOT[k] for k in ("point", "normal", "tangents"))

# Numbers kept per contact: fixed part, then blocks of nd numbers.
# What an element supplies: gap, slip (2), point (3), normal (3), tangents (6); the gap at the start of the step; what
# `Contact` says of its shape (passage, reach, convex); where in the step a swept contact touches (0: not swept) and its
# gap and slip (2) without correction, see solvers/contact/sweep
C_GAP, C_SLIP, C_POINT, C_NORMAL, C_TANGENTS, C_GAP0 = 0, 1, 3, 6, 9, 15
# for system.far_contacts: gap, its slopes by ways and turns, poses (24); which number a contact has among those of one
# pair of bodies (`Contact.pair`), in the row of number 0 which of them touches first in the step, and whether a contact
# touches after that, see contact/sweep
C_PASSAGE, C_REACH, C_CONVEX, C_THETA, C_TOUCH = 16, 17, 18, 19, 20
C_SLACK, C_SLIDES, C_TURNS, C_POSES, C_NUMBER, C_FIRST, C_LATE, C_BLOCKS = 23, 24, 25, 26, 50, 51, 52, 53
# blocks: G_N (1), G_T (2), V_T (2), W (3), then at the start of the step G_N (1), V_T (2); the last, the row of W about
# the normal at the start of the step (1), exists in groups with drilling friction only
B_GN, B_GT, B_VT, B_W, B_GN0, B_VT0, B_WN0, B_COUNT = 0, 1, 3, 5, 8, 9, 11, 11
# law of a contact, see `Contact.law`. `friction` is the coefficient that acts: a run changes it where the static and
# the sliding one differ
LAW = np.dtype(
    [("friction", "f8"), ("rolling_resistance", "f8"), ("spinning_resistance", "f8"), ("restitution", "f8")]
    + [("tangential_restitution", "f8"), ("drilling_arm", "f8")]
    + [("static_friction", "f8"), ("sliding_friction", "f8"), ("stribeck_speed", "f8")]
)
TURNING = ("rolling_resistance", "spinning_resistance")  # coefficients of moments without a disc


def with_any(laws: np.ndarray, *names: str) -> np.ndarray:
    """Which laws have a positive coefficient among those named."""
    return np.any([laws[name] > 0.0 for name in names], axis=0)


@kernel
def evaluate_contact(d, g, e, b, x, R, x0, R0, V):
    """Kinematics of contact e of group g at poses x, R, left in the workspace; returns the gap."""
    nd = g.nd
    gather(d, g, e, b, x, R, V, V)
    gather_start(g, e, b, x0, R0)
    zero(b[_GN], nd)
    zero(b[_GTAN], 2 * nd)
    zero(b[_VT], 2 * nd)
    zero(b[_W], 3 * nd)
    zero(b[_GAP], 1)
    zero(b[_SLIP], 2)
    zero(b[_POINT], 3)
    zero(b[_NORMAL], 3)
    zero(b[_TANGENTS], 6)
    call2(g.contact, g.parameters_at + e * g.stride, d.table_at)
    return vector(b[_GAP], 1)[0]


@kernel
def rate_of(g, e, b, V):
    """Rate of the gap of the contact that was evaluated last."""
    nodes, G_N = integer_matrix(g.nodes_at, g.n, g.nn), vector(b[_GN], g.nd)
    rate = 0.0
    for a in range(g.nn):
        for j in range(6):
            rate += G_N[6 * a + j] * V[nodes[e, a], j]
    return rate


@kernel
def keep_contact(g, e, b):
    """Keep what `evaluate_contact` left in the workspace (see `C_GAP` … and `B_GN` …)."""
    nd = g.nd
    kept = matrix(g.contact_at, g.n, g.contact_stride)
    gap, slip, point, normal = vector(b[_GAP], 1), vector(b[_SLIP], 2), vector(b[_POINT], 3), vector(b[_NORMAL], 3)
    tangents = vector(b[_TANGENTS], 6)
    kept[e, C_GAP] = gap[0]
    for j in range(2):
        kept[e, C_SLIP + j] = slip[j]
    for j in range(3):
        kept[e, C_POINT + j] = point[j]
        kept[e, C_NORMAL + j] = normal[j]
    for j in range(6):
        kept[e, C_TANGENTS + j] = tangents[j]
    G_N, W = vector(b[_GN], nd), vector(b[_W], 3 * nd)
    G_T, V_T = vector(b[_GTAN], 2 * nd), vector(b[_VT], 2 * nd)
    for j in range(nd):
        kept[e, C_BLOCKS + B_GN * nd + j] = G_N[j]
    for j in range(2 * nd):
        kept[e, C_BLOCKS + B_GT * nd + j] = G_T[j]
        kept[e, C_BLOCKS + B_VT * nd + j] = V_T[j]
    for j in range(3 * nd):
        kept[e, C_BLOCKS + B_W * nd + j] = W[j]


@kernel
def contacts(d, x, R, x0, R0, V):
    """Evaluate the kinematics of all contacts and keep it; what swept contacts keep is that of their first touch."""
    b = integers(d.table_at, N_SLOTS)
    groups = groups_of(d)
    for k in range(d.n_groups):
        g = groups[k]
        if g.contact == 0:
            continue
        kept = matrix(g.contact_at, g.n, g.contact_stride)
        for e in range(g.n):
            if kept[e, C_THETA] == 0.0:
                evaluate_contact(d, g, e, b, x, R, x0, R0, V)
                keep_contact(g, e, b)


@kernel
def begin_contact(g, e):
    """Keep gap and gradients of the last evaluation as those of the start of the step (for the impact law)."""
    nd, kept = g.nd, matrix(g.contact_at, g.n, g.contact_stride)
    kept[e, C_GAP0] = kept[e, C_GAP]
    for j in range(nd):
        kept[e, C_BLOCKS + B_GN0 * nd + j] = kept[e, C_BLOCKS + B_GN * nd + j]
    for j in range(2 * nd):
        kept[e, C_BLOCKS + B_VT0 * nd + j] = kept[e, C_BLOCKS + B_VT * nd + j]
    if g.drilling != 0:
        for j in range(nd):
            kept[e, C_BLOCKS + B_WN0 * nd + j] = kept[e, C_BLOCKS + (B_W + 2) * nd + j]


@kernel
def contacts_begin_step(d):
    """`begin_contact` of all contacts."""
    groups = groups_of(d)
    for k in range(d.n_groups):
        g = groups[k]
        if g.contact != 0:
            for e in range(g.n):
                begin_contact(g, e)


@kernel
def laws_of(g):
    """Laws of the contacts of a group (n,), records `LAW`."""
    return carray(void_pointer(g.laws_at), (g.n,), LAW)


@kernel
def gradient_times(g, e, block, row, V):
    """One row of a kept contact gradient times velocities V (N, 6)."""
    nodes = integer_matrix(g.nodes_at, g.n, g.nn)
    kept = matrix(g.contact_at, g.n, g.contact_stride)
    at = C_BLOCKS + (block + row) * g.nd
    total = 0.0
    for a in range(g.nn):
        for j in range(6):
            total += kept[e, at + 6 * a + j] * V[nodes[e, a], j]
    return total


@kernel
def add_gradient(g, e, block, row, factor, f):
    """Add factor times one row of a kept contact gradient to the full vector f."""
    if factor == 0.0:
        return
    nodes = integer_matrix(g.nodes_at, g.n, g.nn)
    kept = matrix(g.contact_at, g.n, g.contact_stride)
    at = C_BLOCKS + (block + row) * g.nd
    for a in range(g.nn):
        i = 6 * nodes[e, a]
        for j in range(6):
            f[i + j] += factor * kept[e, at + 6 * a + j]
