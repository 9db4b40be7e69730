"""Point on spline: a point of the first body stays on a spline curve of the second.

y is the point in the axes of frame Q, c(u) the curve, u the foot of y, (y − c)·c' = 0, and v = y − c. With two
directions r_k that are at right angles to the curve where the last accepted step ended (a state), and m_k = r_k × c':

    g_k = m_k·v / |c'_n| = 0 ,      u_y = c'/S ,   S = c'·c' − v·c''                                               (1)
    ∂g_k/∂y = m_k + (m_k'·v) u_y                                                                                   (2)
    ∂²g_k/∂y² = m_k' u_y + u_y w + (m_k'·v) U ,     w = m_k' + (m_k''·v − m_k'·c') u_y                             (3)
    U = ∂u_y/∂y = c'' u_y/S − c' S_y/S² ,    S_y = (3 c'·c'' − v·c''') u_y − c''                                   (4)

(products without a dot are dyads; (2) to (4) over |c'_n|, the length of c' at the last foot). m_k are at right angles
to the curve, and independent as long as a step rotates the tangent by less than 90°. On g = 0 (2) is m_k: the
multipliers are a force at right angles to the curve. Foot and curve are those of `contacts.shapes.curve`.

Source: docs/theory/joints.md, (18), (19); (2)-(4) derived here and checked by differences.

    symbol   code          shape    unit  meaning
    c        table         (n, 13)  m     pieces of the spline, see `contacts.shapes.curve`
    r_k      state[3 k …]  (3,)     -     directions of the last step, over |c'_n|; axes of Q
    a        p.p_AP        (3,)     m     the point from the node of A; y_B: the point from the node of B, its axes
"""

import math
from typing import Any

import numpy as np

from fem_mbs.arguments.checked import ArrayLike, FrameLike
from fem_mbs.element.base import Joint, register
from fem_mbs.elements.contacts.shapes.curve import foot_on_curve, spline_of
from fem_mbs.elements.contacts.shapes.shape_contact import add_along, shape_hessian, sphere_center
from fem_mbs.elements.joints.rows import start_tolerance
from fem_mbs.jit import address, kernel, local_arrays, matrix
from fem_mbs.rotations import cross, dot, multiply_T, rotate

PARAMETERS = np.dtype(
    [("p_AP", "f8", (3,)), ("p_BQ", "f8", (3,)), ("R_BQ", "f8", (3, 3))]
    + [("table_at", "i8"), ("pieces", "i8"), ("length", "f8"), ("closed", "i8")]
)


@kernel
def third_derivative(p, u, c3):
    """Fill c3 (3,) with c''' of the piece at u."""
    table = matrix(p.table_at, p.pieces, 13)
    low, high = 0, p.pieces - 1
    while high > low:
        middle = (low + high + 1) // 2
        if table[middle, 0] <= u:
            low = middle
        else:
            high = middle - 1
    for i in range(3):
        c3[i] = 6.0 * table[low, 4 + 4 * i]


@kernel
def foot(p, x_A, R_A, x_B, R_B, y_B, v, c1, c2):
    """Fill y_B, v, c', c'' (3,) of (1); return u."""
    c, y = local_arrays("3, 3")
    sphere_center(x_A, R_A, p.p_AP, x_B, R_B, p.p_BQ, p.R_BQ, y_B, y)
    u = foot_on_curve(p, y, c, c1, c2)
    for i in range(3):
        v[i] = y[i] - c[i]
    return u


@kernel
def count(p, x_A, R_A, x_B, R_B, state):
    """Directions at right angles to the curve at the foot: the least turned ones against those of ``state``."""
    y_B, v, c1, c2 = local_arrays("3, 3, 3, 3")
    foot(p, x_A, R_A, x_B, R_B, y_B, v, c1, c2)
    size = math.sqrt(dot(c1, c1))
    length = along = 0.0
    for i in range(3):
        along += state[i] * c1[i] / size**2
    for i in range(3):
        v[i] = state[i] - along * c1[i]
        length += v[i] * v[i]
    for i in range(3):
        state[i] = v[i] / (math.sqrt(length) * size)
    cross(c1, state[0:3], v)
    for i in range(3):
        state[3 + i] = v[i] / size


@kernel
def first(p, x_A, R_A, x_B, R_B, state):
    """Directions at the start: the first one from the axis of Q that the curve is farthest from."""
    y_B, v, c1, c2 = local_arrays("3, 3, 3, 3")
    foot(p, x_A, R_A, x_B, R_B, y_B, v, c1, c2)
    least = 0
    for i in range(1, 3):
        if abs(c1[i]) < abs(c1[least]):
            least = i
    for i in range(3):
        state[i] = 1.0 if i == least else 0.0
    count(p, x_A, R_A, x_B, R_B, state)


@kernel
def constraint(p, x_A, R_A, x_B, R_B, state, g, G):
    """Add (1) to g (2,) [m] and its gradient to G (2, 12)."""
    y_B, v, c1, c2, m, m1, e, Q = local_arrays("3, 3, 3, 3, 3, 3, 3, 3 3")
    foot(p, x_A, R_A, x_B, R_B, y_B, v, c1, c2)
    S = dot(c1, c1) - dot(v, c2)
    multiply_T(R_B, R_A, Q)
    for k in range(2):
        cross(state[3 * k : 3 * k + 3], c1, m)
        cross(state[3 * k : 3 * k + 3], c2, m1)
        g[k] += dot(m, v)
        slope = dot(m1, v) / S
        for i in range(3):
            m[i] += slope * c1[i]
        rotate(p.R_BQ, m, e)
        add_along(1.0, e, p.p_AP, R_B, Q, y_B, G[k])


@kernel
def hessian(p, x_A, R_A, x_B, R_B, state, H):
    """Add ∂Gᵀ/∂q of (1) to H (2, 12, 12), by (3)."""
    y_B, v, c1, c2, c3, m, m1, m2, slope_S, w, N = local_arrays("3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3 3")
    third_derivative(p, foot(p, x_A, R_A, x_B, R_B, y_B, v, c1, c2), c3)
    S = dot(c1, c1) - dot(v, c2)
    for i in range(3):
        slope_S[i] = (3.0 * dot(c1, c2) - dot(v, c3)) * c1[i] / S - c2[i]
    for k in range(2):
        r = state[3 * k : 3 * k + 3]
        cross(r, c1, m)
        cross(r, c2, m1)
        cross(r, c3, m2)
        slope, bend = dot(m1, v), dot(m2, v) - dot(m1, c1)
        for i in range(3):
            w[i] = m1[i] + bend * c1[i] / S
        for i in range(3):
            m[i] += slope * c1[i] / S
            for j in range(3):
                N[i, j] = (m1[i] * c1[j] + c1[i] * w[j]) / S
                N[i, j] += slope * (c2[i] * c1[j] - c1[i] * slope_S[j]) / S**2
        shape_hessian(p.p_AP, p.R_BQ, R_A, R_B, y_B, m, N, H[k])


@kernel
def output(p, node_A, node_B, state, lam, out):
    """Force on the first body, foot and its rate along the curve."""
    y_B, v, c1, c2, m, e, z, Q, row, turned = local_arrays("3, 3, 3, 3, 3, 3, 3, 3 3, 12, 3")
    u = foot(p, node_A.x, node_A.R, node_B.x, node_B.R, y_B, v, c1, c2)
    for k in range(2):
        cross(state[3 * k : 3 * k + 3], c1, m)
        rotate(p.R_BQ, m, e)
        rotate(node_B.R, e, z)
        for i in range(3):
            out[i] += lam[k] * z[i]
    out[3] += u
    size = math.sqrt(dot(c1, c1))
    for i in range(3):
        turned[i] = c1[i] / size
    for j in range(12):
        row[j] = 0.0
    multiply_T(node_B.R, node_A.R, Q)
    rotate(p.R_BQ, turned, e)
    add_along(1.0, e, p.p_AP, node_B.R, Q, y_B, row)
    for i in range(3):
        out[4] += row[i] * node_A.v[i] + row[3 + i] * node_A.w[i] + row[6 + i] * node_B.v[i] + row[9 + i] * node_B.w[i]


class PointOnSpline(Joint):
    """A point of the first body stays on a spline curve of the second: bead on a wire, pin in a slot, car on a rail.

    Parameters
    ----------
    frame_P : Frame, Node or body
        Its origin is the point; on the curve at the start.
    frame_Q : Frame, Node or body
        The curve is fixed in it.
    points : (n, 3) [m]
        Points of the curve in the axes of frame_Q, in order; a cubic spline is put through them.
    closed : bool
        Whether the curve returns to its first point (do not repeat it). An open curve is prolonged straight.
    name : str, optional

    Outputs
    -------
    force : (3,) [N], of the curve on the point, inertial axes; at right angles to the curve
    parameter : [m], place on the curve: the length of chords from its first point
    speed : [m/s], along the curve

    Raises
    ------
    ParameterError
        Both frames on one node; points that coincide or are too few; the point off the curve at the start.

    Notes
    -----
    The point is kept at the nearest place of the curve: parts of the curve that come near each other must stay apart by
    more than the displacement of a step. A one-sided curve is the contact `PointOnCurve`.

    Examples
    --------
    >>> import numpy as np
    >>> from fem_mbs import PointMass
    >>> from fem_mbs.nodes import Ground
    >>> turn = np.linspace(0, 2 * np.pi, 40, endpoint=False)
    >>> ring = np.column_stack([np.cos(turn), np.sin(turn), 0 * turn])
    >>> bead = PointOnSpline(PointMass(0.1, position=[1, 0, 0]), Ground(), points=ring, closed=True, name="bead")
    """

    rows = 2
    n_state = 6
    parameters = PARAMETERS
    kernels = {"constraint": constraint, "hessian": hessian, "initial": first, "accept": count, "output": output}
    outputs = {"force": (3, "N"), "parameter": (1, "m"), "speed": (1, "m/s")}

    def __init__(
        self,
        frame_P: FrameLike,
        frame_Q: FrameLike,
        *,
        points: ArrayLike,
        closed: bool = False,
        name: str | None = None,
    ) -> None:
        super().__init__(frame_P, frame_Q, name=name)
        self.closed = self.as_flag("closed", closed)
        self.points = self.as_array("points", points, (None, 3))
        # kernels read the pieces at their address: the array lives as long as the element
        self.table, self.curve_length, self.spline = spline_of(self, self.points, self.closed)
        self.place()
        p = np.zeros(1, self.parameters)
        p[0] = self.record
        A, B, away = self.frame_P.node, self.frame_Q.node, np.zeros((4, 3))
        foot(p[0], A.position, A.rotation, B.position, B.rotation, *away)
        distance = float(np.linalg.norm(away[1]))
        self.check(
            distance <= start_tolerance(self),
            "frame_P",
            self.frame_P,
            f"has its origin {distance:.6g} m off the curve at the start. Move it to a place of the curve "
            "(joint.spline(u) of one that is made), or give more points",
        )

    def place(self) -> None:
        """Record with the address of the pieces."""
        P, Q = self.frame_P, self.frame_Q
        table = address(self.table), len(self.table), self.curve_length, int(self.closed)
        self.record = (P.p, Q.p, Q.rotation, *table)

    def regular(self, point: Any) -> bool:
        """True if no end of a piece and no centre of curvature is near a configuration of `fem_mbs.verify`."""
        p = np.zeros(1, self.parameters)
        p[0] = self.record
        R, x = point.R, point.x
        y = self.frame_Q.rotation.T @ (R[1].T @ (x[0] + R[0] @ self.frame_P.p - x[1]) - self.frame_Q.p)
        c, c1, c2 = np.empty((3, 3))
        steps = 6e-3 * point.size * np.vstack([np.zeros(3), np.eye(3), -np.eye(3)])
        feet = [foot_on_curve(p[0], y + step, c, c1, c2) for step in steps]
        pieces = np.searchsorted(self.table[1:, 0], feet, side="right")
        bent = c1 @ c1 - (y - c) @ c2 > 0.3 * c1 @ c1
        return bool((pieces == pieces[0]).all() and np.ptp(feet) < 0.1 * self.curve_length and bent)


def _example(rng, a, b):
    Q = b.frame(rng.normal(size=3), rng.normal(size=3))
    turn = np.arange(8) * 0.8
    points = np.column_stack([3 * np.cos(turn), 3 * np.sin(turn), 0.4 * turn]) + 0.1 * rng.normal(size=(8, 3))
    u = rng.uniform(0.2, 0.8)
    from fem_mbs.elements.contacts.shapes.curve import spline_table

    _, length, spline = spline_table(points, False)
    place = Q.position + Q.orientation @ spline(u * length)
    return PointOnSpline(a.frame_at(place), Q, points=points)


register(PointOnSpline, example=_example)
