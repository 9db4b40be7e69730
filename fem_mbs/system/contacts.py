"""Contacts: evaluation of their kinematics, and the vectors and products that steppers build from it.

What a contact element supplies is kept by name in a table of its group (`CONTACTS`), because the laws of the steppers
need it several times. The gradients at the start of a step are kept too, for Newton's impact law.
"""

import math

import numpy as np
from numba import carray

from fem_mbs.data_table import Item, Table
from fem_mbs.jit import (
    N_SLOTS,
    SLOT,
    call2,
    integer_matrix,
    integers,
    kernel,
    local_vector,
    matrix,
    vector,
    void_pointer,
)
from fem_mbs.system.gather import gather, gather_start
from fem_mbs.system.records import GROUP, zero
from fem_mbs.system.speed_pieces import pieces_at, value_of, varies

_GAP, _SLIP, _GN, _GTAN, _VT, _W, _HN = (SLOT[k] for k in ("gap", "slip", "G_N", "G_T", "V_T", "W", "H_N"))
_POINT, _NORMAL, _TANGENTS = (SLOT[k] for k in ("point", "normal", "tangents"))

# n contacts with gradients of nd numbers; of force laws on contacts, whose shapes alone are known, nd is 0 here
CONTACTS = Table(
    "contacts of a group",
    {
        # from the element
        "gap": Item("n", "[m], open > 0"),
        "slip": Item("n 2", "since the start of the step [m]"),
        "point": Item("n 3", "inertial axes [m]"),
        "normal": Item("n 3", "inertial axes"),
        "tangents": Item("n 2 3", "inertial axes"),
        # rows of sliding are scaled by s of `fem_mbs.element.anisotropic`
        "G_N": Item("n nd", "gradient of the gap"),
        "G_T": Item("n 2 nd", "gradient of the slip"),
        "V_T": Item("n 2 nd", "sliding velocity by velocities of the nodes"),
        "W": Item("n 3 nd", "angular velocities of rolling (2) and spinning by velocities of the nodes"),
        # at the start of the step
        "gap_start": Item("n", "[m]"),
        "G_N_start": Item("n nd", "G_N"),
        "V_T_start": Item("n 2 nd", "V_T"),
        "W_N_start": Item("n nd", "last row of W, where sliding is coupled with drilling"),
        # see `Contact`
        "friction_scale": Item("n 2", "s, factors of both rows of sliding; 1 but for anisotropic friction"),
        "passage": Item("n", "[m]"),
        "reach": Item("n", "[m]"),
        "convex": Item("n", "both surfaces are convex", "i8"),
        "number": Item("n", "of each contact among those of its pair of bodies (`Contact.pair`)", "i8"),
        # swept contacts, see `contact.sweep`
        "theta": Item("n", "first touch, part of the step; 0: not swept"),
        "touch": Item("n 3", "gap and slip without correction [m]"),
        "first_touch": Item("n", "of number 0 of a pair: 1 + number of the contact that touches first, or 0", "i8"),
        "late": Item("n", "touches after the first one of its pair", "i8"),
        # contacts that are far from closing, see `far_contacts`
        "far_gap": Item("n", "gap where it was evaluated last, 0: not open [m]"),
        "far_x": Item("n 2 3", "positions of both nodes there [m]"),
        "far_R": Item("n 2 3 3", "rotations of both nodes there"),
        "gap_slopes": Item("n 2", "a and b of `Contact.gap_slopes`"),
    },
)
CONTACTS_DTYPE = CONTACTS.dtype
GROUP_BYTES = GROUP.itemsize
# law of a contact, see `Contact.law`. `friction` is the coefficient that acts: a run changes it where the static and
# the sliding one differ. `restitution` is the largest one, see `restitution_at`
LAW = np.dtype(
    [("friction", "f8"), ("rolling_resistance", "f8"), ("spinning_resistance", "f8"), ("restitution", "f8")]
    + [("tangential_restitution", "f8"), ("drilling_arm", "f8")]
    + [("static_friction", "f8"), ("sliding_friction", "f8")]
)
TURNING = ("rolling_resistance", "spinning_resistance")  # coefficients of moments without a disc


def with_any(laws: np.ndarray, *names: str) -> np.ndarray:
    """Mask of the laws with a positive coefficient among those named."""
    return np.any([laws[name] > 0.0 for name in names], axis=0)


def contact_arrays(n: int, nd: int) -> dict[str, np.ndarray]:
    """Arrays of n contacts, see `CONTACTS`; all zero, with isotropic friction."""
    arrays = CONTACTS.arrays({"n": n, "nd": nd})
    arrays["friction_scale"][:] = 1.0
    return arrays


def two_coefficients(laws: np.ndarray, sliding: np.ndarray) -> bool:
    """True if friction of laws (…) with pieces (…, k) of sliding friction is not one number, see
    `Contact.two_coefficients`.
    """
    return bool((laws["static_friction"] > laws["sliding_friction"]).any() or (sliding["factor"] != 0.0).any())


@kernel
def contact_groups(d):
    """Records of the groups of contacts, which are behind all others."""
    at = d.groups_at + d.first_contact_group * GROUP_BYTES
    return carray(void_pointer(at), (d.n_groups - d.first_contact_group,), GROUP)


@kernel
def contacts_of(g):
    """Data of the contacts of a group, see `CONTACTS`."""
    return carray(void_pointer(g.contact_at), (1,), CONTACTS_DTYPE)[0]


@kernel
def laws_of(g):
    """Laws of the contacts of a group (n,), records `LAW`."""
    return carray(void_pointer(g.laws_at), (g.n,), LAW)


@kernel
def restitution_at(g, e, speed):
    """e_N of contact e of a group at an approach speed ≥ 0 [m/s]."""
    most = laws_of(g)[e].restitution
    if g.restitution_pieces == 0:
        return most
    return min(value_of(pieces_at(g.restitution_at, g.restitution_pieces, e), speed), most)


@kernel
def sliding_friction_at(g, e, speed):
    """μ of contact e of a group that slides, at a sliding speed ≥ 0 [m/s]."""
    if g.sliding_pieces == 0:
        return laws_of(g)[e].sliding_friction
    return value_of(pieces_at(g.sliding_at, g.sliding_pieces, e), speed)


@kernel
def falls_or_rises(g, e):
    """True if sliding friction of contact e of a group depends on the sliding speed."""
    return varies(g.sliding_at, g.sliding_pieces, e)


@kernel
def copy_row(source, target):
    """Copy a row of numbers."""
    for j in range(len(target)):
        target[j] = source[j]


@kernel
def scale_row(factor, source, target):
    """Set a row of numbers to a factor times another."""
    for j in range(len(target)):
        target[j] = factor * source[j]


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
    """Keep what `evaluate_contact` left in the workspace, see `CONTACTS`; rows of sliding are scaled, (2) there."""
    contact, nd = contacts_of(g), g.nd
    contact.gap[e] = vector(b[_GAP], 1)[0]
    copy_row(vector(b[_POINT], 3), contact.point[e])
    copy_row(vector(b[_NORMAL], 3), contact.normal[e])
    copy_row(vector(b[_GN], nd), contact.G_N[e])
    tangents, W = matrix(b[_TANGENTS], 2, 3), matrix(b[_W], 3, nd)
    G_T, V_T, slip, scale = matrix(b[_GTAN], 2, nd), matrix(b[_VT], 2, nd), vector(b[_SLIP], 2), contact.friction_scale
    for i in range(2):
        contact.slip[e, i] = scale[e, i] * slip[i]
        copy_row(tangents[i], contact.tangents[e, i])
        scale_row(scale[e, i], G_T[i], contact.G_T[e, i])
        scale_row(scale[e, i], V_T[i], contact.V_T[e, i])
    for i in range(3):
        copy_row(W[i], contact.W[e, i])


@kernel
def contacts(d, x, R, x0, R0, V):
    """Evaluate the kinematics of all contacts and keep it; what swept contacts keep is that of their first touch."""
    b = integers(d.table_at, N_SLOTS)
    for g in contact_groups(d):
        contact = contacts_of(g)
        for e in range(g.n):
            if contact.theta[e] == 0.0:
                evaluate_contact(d, g, e, b, x, R, x0, R0, V)
                keep_contact(g, e, b)


@kernel
def start_gradients(g, e):
    """Keep the gradients of the last evaluation as those of the start of the step, for the impact law."""
    contact = contacts_of(g)
    copy_row(contact.G_N[e], contact.G_N_start[e])
    for i in range(2):
        copy_row(contact.V_T[e, i], contact.V_T_start[e, i])
    if g.drilling != 0:
        copy_row(contact.W[e, 2], contact.W_N_start[e])


@kernel
def begin_contact(g, e):
    """Keep gap and gradients of the last evaluation as those of the start of the step."""
    contact = contacts_of(g)
    contact.gap_start[e] = contact.gap[e]
    start_gradients(g, e)


@kernel
def contacts_begin_step(d):
    """`begin_contact` of all contacts."""
    for g in contact_groups(d):
        for e in range(g.n):
            begin_contact(g, e)


@kernel
def direction_of(g, e, i):
    """Gradient (nd,) of direction i of contact e: normal, two of sliding, two of rolling, spinning."""
    contact = contacts_of(g)
    if i == 0:
        return contact.G_N[e]
    return contact.V_T[e, i - 1] if i < 3 else contact.W[e, i - 3]


@kernel
def gradient_times(g, e, row, V):
    """One row (nd,) of a gradient of contact e times velocities V (N, 6)."""
    nodes = integer_matrix(g.nodes_at, g.n, g.nn)
    total = 0.0
    for a in range(g.nn):
        for j in range(6):
            total += row[6 * a + j] * V[nodes[e, a], j]
    return total


@kernel
def anisotropic(g, e):
    """True if friction of contact e depends on the direction of sliding."""
    scale = contacts_of(g).friction_scale
    return scale[e, 0] != scale[e, 1]


@kernel
def sliding_speed(g, e, V):
    """Sliding speed [m/s] of contact e at velocities V (N, 6), not scaled."""
    contact, v = contacts_of(g), local_vector(2)
    for i in range(2):
        v[i] = gradient_times(g, e, contact.V_T[e, i], V) / contact.friction_scale[e, i]
    return math.hypot(v[0], v[1])


@kernel
def add_gradient(g, e, row, factor, f):
    """Add factor times one row (nd,) of a gradient of contact e to the full vector f."""
    if factor == 0.0:
        return
    nodes = integer_matrix(g.nodes_at, g.n, g.nn)
    for a in range(g.nn):
        i = 6 * nodes[e, a]
        for j in range(6):
            f[i + j] += factor * row[6 * a + j]
