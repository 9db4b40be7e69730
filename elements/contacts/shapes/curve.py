"""Point or sphere on a spline curve: on a profile in a plane, or on a bent wire in space.

Sphere of radius r (0: a point) about P on body A; curve fixed in frame Q on body B; y: centre of the sphere in Q. The
curve c(u) is a cubic spline through given points, u the length of their chords. Its foot point, (y − c)·c' = 0, is the
nearest point; v = y − c there:

    profile   c in the x-y plane, the shape is the wall above it along z; t = c'/|c'|, m = z × t, s = ±1 the side,
              k = m·c''/|c'|² its curvature:   φ = s m·v ,   n = s m ,   N = −s k/(1 − k m·v) t tᵀ                   (1)
    wire      c in space, a round wire of radius r_w about it:   φ = |v| − r_w ,   n = v/|v| ,
              N = (I − c'c'ᵀ/(c'·c' − v·c'') − n nᵀ)/|v|                                                           (2)

and gap = φ − r; tangents, slip and gradients follow from these as for every shape (shape_contact). A curve that is not
closed is prolonged straight at both ends, where a natural spline has no curvature: φ, n and N are continuous. Foot
points are found by Newton's method from the nearest of the given points, to round-off.

Source: (1) parallel curves: do Carmo, Differential Geometry of Curves and Surfaces, 1-5; splines: de Boor, A Practical
Guide to Splines, ch. 4; N and slip checked by differences.

    symbol   code           shape    unit  meaning
    r, r_w   radius, wire   ()       m     radius of the sphere and of the wire
    c        table          (n, 13)  m     start u of a piece, then a0 … a3 of c = Σ a_k (u − start)^k for x, y, z
    s        side           ()       -     +1: the sphere is on the left of the curve, −1: on the right
"""

import math
from typing import Any

import numpy as np

from fem_mbs.arguments.checked import ArrayLike, FrameLike
from fem_mbs.element.base import register
from fem_mbs.elements.contacts.shapes.shape_contact import (
    SphereShapeContact,
    parameters,
    sphere_contact,
    sphere_hessian,
)
from fem_mbs.errors import ParameterError
from fem_mbs.jit import address, kernel, local_arrays, matrix
from fem_mbs.nodes import Ground
from fem_mbs.rotations import dot

_ROUNDS = 60  # of Newton's method; 4 to 8 are usual


@kernel
def on_curve(p, u, c, c1, c2):
    """Fill c, c', c'' (3,) of the curve at u."""
    table = matrix(p.table_at, p.pieces, 13)
    low, high = 0, p.pieces - 1
    while high > low:  # last piece that begins at or before u; the first has no beginning
        middle = (low + high + 1) // 2
        if table[middle, 0] <= u:
            low = middle
        else:
            high = middle - 1
    piece = table[low]
    t = u - piece[0]
    for i in range(3):
        a0, a1, a2, a3 = piece[1 + 4 * i], piece[2 + 4 * i], piece[3 + 4 * i], piece[4 + 4 * i]
        c[i] = a0 + t * (a1 + t * (a2 + t * a3))
        c1[i] = a1 + t * (2.0 * a2 + 3.0 * t * a3)
        c2[i] = 2.0 * a2 + 6.0 * t * a3


@kernel
def foot_on_curve(p, y, c, c1, c2):
    """Parameter u of the point of the curve nearest to y (3,); fills c, c', c'' (3,) there."""
    table = matrix(p.table_at, p.pieces, 13)
    u, nearest = 0.0, math.inf
    for k in range(1, p.pieces):
        distance = (y[0] - table[k, 1]) ** 2 + (y[1] - table[k, 5]) ** 2 + (y[2] - table[k, 9]) ** 2
        if distance < nearest:
            u, nearest = table[k, 0], distance
    longest = p.length / (p.pieces - 2)
    for _ in range(_ROUNDS):
        on_curve(p, u, c, c1, c2)
        slope, square, bend = 0.0, 0.0, 0.0
        for i in range(3):
            slope += (y[i] - c[i]) * c1[i]
            square += c1[i] * c1[i]
            bend += (y[i] - c[i]) * c2[i]
        # beyond the centre of curvature the distance has no minimum there: follow its slope
        step = slope / (square - bend if square - bend > 1e-6 * square else square)
        step = min(max(step, -longest), longest)
        u += step
        if p.closed != 0:
            u -= p.length * math.floor(u / p.length)
        if abs(step) <= 4e-16 * p.length:
            break
    on_curve(p, u, c, c1, c2)
    return u


@kernel
def _nearest_profile(p, y, n, N):
    """Distance [m] of y (3,) from the wall over a profile by (1); fills n (3,) and N (3, 3)."""
    flat, c, c1, c2 = local_arrays("3, 3, 3, 3")
    flat[0], flat[1], flat[2] = y[0], y[1], 0.0
    foot_on_curve(p, flat, c, c1, c2)
    size = math.sqrt(c1[0] * c1[0] + c1[1] * c1[1])
    tx, ty = c1[0] / size, c1[1] / size
    along = -ty * (y[0] - c[0]) + tx * (y[1] - c[1])
    k = (-ty * c2[0] + tx * c2[1]) / (size * size)
    bend = -p.side * k / (1.0 - k * along)
    n[0], n[1], n[2] = -p.side * ty, p.side * tx, 0.0
    for i in range(3):
        for j in range(3):
            N[i, j] = 0.0
    N[0, 0], N[0, 1], N[1, 0], N[1, 1] = bend * tx * tx, bend * tx * ty, bend * tx * ty, bend * ty * ty
    return p.side * along


@kernel
def _nearest_wire(p, y, n, N):
    """Distance [m] of y (3,) from the wire by (2); fills n (3,) and N (3, 3)."""
    c, c1, c2 = local_arrays("3, 3, 3")
    foot_on_curve(p, y, c, c1, c2)
    for i in range(3):
        n[i] = y[i] - c[i]
    size = math.sqrt(dot(n, n))
    stretch = dot(c1, c1) - dot(n, c2)
    outside = size > 0.0  # on the centre line, deep inside, any normal is as good
    for i in range(3):
        n[i] = n[i] / size if outside else (1.0 if i == 2 else 0.0)
    for i in range(3):
        for j in range(3):
            across = (1.0 if i == j else 0.0) - c1[i] * c1[j] / stretch - n[i] * n[j]
            N[i, j] = across / size if outside else 0.0
    return size - p.wire


@kernel
def contact_profile(p, node_A, node_B, rows):
    """Gap and rows of a sphere against the shape (1)."""
    sphere_contact(_nearest_profile, p, node_A, node_B, rows)


@kernel
def contact_profile_hessian(p, x_A, R_A, x_B, R_B, H_N):
    """Add ∂G_N/∂q to H_N (12, 12)."""
    sphere_hessian(_nearest_profile, p, x_A, R_A, x_B, R_B, H_N)


@kernel
def contact_wire(p, node_A, node_B, rows):
    """Gap and rows of a sphere against the shape (2)."""
    sphere_contact(_nearest_wire, p, node_A, node_B, rows)


@kernel
def contact_wire_hessian(p, x_A, R_A, x_B, R_B, H_N):
    """Add ∂G_N/∂q to H_N (12, 12)."""
    sphere_hessian(_nearest_wire, p, x_A, R_A, x_B, R_B, H_N)


def spline_table(points: np.ndarray, closed: bool) -> tuple[np.ndarray, float, Any]:
    """Pieces (n, 13) of the natural or closed cubic spline through points (k, 3), its length of chords, the spline.

    The first piece and, when the curve is open, the last are its straight prolongations.
    """
    from scipy.interpolate import CubicSpline

    if closed:
        points = np.vstack([points, points[:1]])
    u = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(points, axis=0), axis=1))])
    spline = CubicSpline(u, points, bc_type="periodic" if closed else "natural")
    table = np.zeros((len(u) + 1, 13))
    table[1:-1, 0] = u[:-1]
    for i in range(3):
        table[1:-1, 1 + 4 * i : 5 + 4 * i] = spline.c[::-1, :, i].T
    for row, end in ((0, 0), (-1, -1)):
        table[row, 0] = u[end]
        table[row, 1::4], table[row, 2::4] = points[end], spline(u[end], 1)
    return table, u[-1], spline


def spline_of(element: Any, points: np.ndarray, closed: bool) -> tuple[np.ndarray, float, Any]:
    """Return `spline_table` of points given to an element; a ParameterError unless they make a curve."""
    enough = 3 if closed else 2
    element.check(len(points) >= enough, "points", points, f"are {len(points)}, must be at least {enough}")
    chords = np.linalg.norm(np.diff(np.vstack([points, points[:1]]) if closed else points, axis=0), axis=1)
    where = int(np.argmin(chords))
    text = f"has point {where + 1} at the same place as its neighbour"
    element.check(chords[where] > 1e-12 * chords.max(), "points", points, text)
    return spline_table(points, closed)


class _OnCurve(SphereShapeContact):
    """Common base of contacts with a curve: the spline and its checks.

    Attributes
    ----------
    spline : scipy.interpolate.CubicSpline
        The curve (3,) [m] in its frame as a function of the length of chords, 0 … ``curve_length``.
    """

    _last: float  # number of the record: the side, or the radius of the wire

    def _set_curve(self, points, closed):
        self.points, self.closed = points, self.as_flag("closed", closed)
        # kernels read the pieces at their address: the array lives as long as the element
        self.table, self.curve_length, self.spline = spline_of(self, points, self.closed)

    def place(self) -> None:
        table = address(self.table), len(self.table), self.curve_length, int(self.closed)
        self.record = (*self.poses, *table, self._last)

    def sampled(self, count: Any = None) -> np.ndarray:
        """Points (k, 3) [m] along the curve in its frame, for drawings."""
        return self.spline(np.linspace(0, self.curve_length, count or 8 * len(self.points) + 1))

    def regular(self, point: Any) -> bool:
        """True if no end of a piece and no centre of curvature is near (see `SphereShapeContact.regular`)."""
        p = np.zeros(1, self.parameters)
        p[0] = self.record
        R, x = point.R, point.x
        y = self.shape.rotation.T @ (R[1].T @ (x[0] + R[0] @ self.sphere.p - x[1]) - self.shape.p)
        y[2] *= not isinstance(self, PointOnCurve)
        near = 4e-3 * point.size
        c, c1, c2 = np.empty((3, 3))
        feet = [
            foot_on_curve(p[0], y + step, c, c1, c2) for step in near * np.vstack([np.zeros(3), np.eye(3), -np.eye(3)])
        ]
        pieces = np.searchsorted(self.table[1:, 0], feet, side="right")
        far = np.ptp(feet) > 0.1 * self.curve_length
        return (pieces == pieces[0]).all() and not far and super().regular(point)


class PointOnCurve(_OnCurve):
    """A point or a sphere on one side of a spline curve in the x-y plane of a frame: a cam, a track, a slot, a hill.

    Parameters
    ----------
    point : Frame, Node or body
        Its origin is the point, or the centre of the sphere.
    curve : Frame, Node or body
        The curve lies in its x-y plane and extends along z as an infinite wall.
    points : (n, 2) [m]
        Points of the curve in the axes of that frame, in order; a cubic spline is put through them.
    closed : bool
        Whether the curve returns to its first point (do not repeat it). An open curve is prolonged straight.
    radius : float ≥ 0 [m]
        Of the sphere; 0 for a point.
    side : {"left", "right"}
        On which side of the curve, walking along it, the point may be. A closed curve given counter-clockwise has its
        inside on the left.
    width : float ≥ 0, optional [m]
        Extent of the wall along z that is drawn, 0 for none. Default: a tenth of the curve on ground, 0 otherwise.
    **law
        restitution, friction, rolling_resistance, spinning_resistance, radius_contensou, tangential_restitution,
        stribeck_speed, stribeck_exponent: see `Contact`.

    Raises
    ------
    ParameterError
        Points that coincide or are too few, a sphere that does not fit into the tightest bend, both frames on one
        node, coefficients out of range.

    Notes
    -----
    Tangent t1 is z of the frame, t2 runs along the curve. One contact is one nearest point: a curve that comes back
    to itself within the radius needs several contacts with parts of it.

    Examples
    --------
    >>> from fem_mbs import Model, RigidBody
    >>> model, ball = Model(), RigidBody.sphere(1.0, 0.1, position=[0.0, 1.2, 0])
    >>> hill = [[-2, 0], [-1, 0.2], [0, 1], [1, 0.2], [2, 0]]
    >>> PointOnCurve(ball, model.ground, points=hill, radius=0.1, friction=0.3, name="hill")
    PointOnCurve 'hill': points=array (5, 3), radius=0.1, width=0.460086, friction=0.3
    """

    parameters = parameters(
        ("table_at", "i8"), ("pieces", "i8"), ("length", "f8"), ("closed", "i8"), ("side", "f8")
    )  # fmt: skip
    kernels = {"contact": contact_profile, "contact_hessian": contact_profile_hessian}
    nearest = staticmethod(_nearest_profile)

    @property
    def smallest_radius(self) -> float | None:
        """Half the width of a closed curve that the point is outside of; other curves have no other side."""
        x, y = self.points[:, :2].T
        inside_is_left = np.sum(x * np.roll(y, -1) - y * np.roll(x, -1)) > 0
        outside = self.closed and inside_is_left == (self.record[-1] < 0)
        return 0.5 * np.ptp(self.points[:, :2], axis=0).min() if outside else None

    def __init__(
        self,
        point: FrameLike,
        curve: FrameLike,
        *,
        points: ArrayLike,
        closed: bool = False,
        radius: float = 0.0,
        side: str = "left",
        width: float | None = None,
        name: str | None = None,
        **law: Any,
    ) -> None:
        super().__init__(point, curve, radius=radius, allow_point=True, name=name, **law)
        plane = self.as_array("points", points, (None, 2))
        self.side = self.as_choice("side", side, ("left", "right"))
        s = self._last = 1.0 if self.side == "left" else -1.0
        self._set_curve(np.column_stack([plane, np.zeros(len(plane))]), closed)
        u = np.linspace(0, self.curve_length, 40 * len(self.points))
        first, second = self.spline(u, 1), self.spline(u, 2)
        bend = s * (first[:, 0] * second[:, 1] - first[:, 1] * second[:, 0]) / np.hypot(*first.T[:2]) ** 3
        if self.radius * bend.max() >= 1.0:
            text = f"m does not fit into the tightest bend of the curve, of radius {1 / bend.max():.6g} m"
            raise ParameterError(self, "radius", self.radius, text)
        if width is None:
            width = 0.1 * self.curve_length if isinstance(self.shape.node, Ground) else 0.0
        self.width = self.positive("width", width, "m", allow_zero=True)
        self.place()

    def picture(self) -> list:
        if self.width == 0.0:
            return []
        from fem_mbs.shapes import Mesh

        line = self.sampled()
        n, up = len(line), np.array([0, 0, 0.5 * self.width])
        i = np.arange(n - 1)
        quads = np.stack([i, i + 1, n + i + 1, n + i], axis=1)
        return self.placed(Mesh, np.vstack([line - up, line + up]), [quads])


class SphereOnWire(_OnCurve):
    """A sphere that can touch a bent round wire, pipe or rail from any side, its centre line a spline in space.

    Parameters
    ----------
    sphere : Frame, Node or body
        Its origin is the centre of the sphere.
    wire : Frame, Node or body
    points : (n, 3) [m]
        Points of the centre line in the axes of that frame, in order.
    closed : bool
        Whether the line returns to its first point (do not repeat it). An open line is prolonged straight.
    radius : float > 0 [m]
        Of the sphere.
    radius_wire : float ≥ 0 [m]
    drawn : bool, optional
        Default: when the wire is on ground and has a radius.
    **law
        restitution, friction, rolling_resistance, spinning_resistance, radius_contensou, tangential_restitution,
        stribeck_speed, stribeck_exponent: see `Contact`.

    Raises
    ------
    ParameterError
        Points that coincide or are too few, radius not positive, both frames on one node, coefficients out of range.

    Notes
    -----
    Two wires side by side carry a ball as a rail does. One contact is one nearest point: where the wire bends around
    the sphere (radius of the bend below the sum of both radii) a second contact is missed.

    Examples
    --------
    >>> from fem_mbs import Model, RigidBody
    >>> model, ball = Model(), RigidBody.sphere(1.0, 0.1, position=[0, 0, 0.2])
    >>> line = [[-2, -0.05, 1], [0, -0.05, 0], [2, -0.05, 1]]
    >>> SphereOnWire(ball, model.ground, points=line, radius=0.1, radius_wire=0.02, name="left rail")
    SphereOnWire 'left rail': sphere=Node6, points=array (3, 3), radius=0.1, radius_wire=0.02
    """

    parameters = parameters(
        ("table_at", "i8"), ("pieces", "i8"), ("length", "f8"), ("closed", "i8"), ("wire", "f8")
    )  # fmt: skip
    kernels = {"contact": contact_wire, "contact_hessian": contact_wire_hessian}
    nearest = staticmethod(_nearest_wire)

    @property
    def smallest_radius(self) -> float | None:
        return self.radius_wire

    def __init__(
        self,
        sphere: FrameLike,
        wire: FrameLike,
        *,
        points: ArrayLike,
        closed: bool = False,
        radius: float,
        radius_wire: float = 0.0,
        drawn: bool | None = None,
        name: str | None = None,
        **law: Any,
    ) -> None:
        super().__init__(sphere, wire, radius=radius, name=name, **law)
        self.radius_wire = self._last = self.positive("radius_wire", radius_wire, "m", allow_zero=True)
        self._set_curve(self.as_array("points", points, (None, 3)), closed)
        self.drawn = isinstance(self.shape.node, Ground) if drawn is None else self.as_flag("drawn", drawn)
        self.place()

    def picture(self) -> list:
        if not self.drawn or self.radius_wire == 0.0:
            return []
        from fem_mbs.shapes import Mesh

        line = self.sampled()
        along = np.gradient(line, axis=0)
        along /= np.linalg.norm(along, axis=1)[:, None]
        # a frame carried along the line by the smallest rotation from one point to the next
        across = [np.cross(along[0], np.eye(3)[np.argmin(np.abs(along[0]))])]
        for t in along[1:]:
            across.append(across[-1] - (across[-1] @ t) * t)
        across = np.array(across) / np.linalg.norm(across, axis=1)[:, None]
        third, angle, n, k = np.cross(along, across), 2 * np.pi * np.arange(12) / 12, len(line), 12
        ring = np.cos(angle)[:, None] * across[:, None] + np.sin(angle)[:, None] * third[:, None]
        points = (line[:, None] + self.radius_wire * ring).reshape(-1, 3)
        i, j = np.meshgrid(np.arange(n - 1), np.arange(k), indexing="ij")
        quads = np.stack([i * k + j, i * k + (j + 1) % k, (i + 1) * k + (j + 1) % k, (i + 1) * k + j], axis=-1)
        return self.placed(Mesh, points, [quads.reshape(-1, 4)], np.zeros((0, 2), int))


def _frames(rng, A, B):
    return A.frame(0.3 * rng.normal(size=3)), B.frame(0.3 * rng.normal(size=3), rng.normal(size=3))


def _ring(rng, n=5):
    """Points (n, 2) on a closed curve, about a circle of 2 m."""
    angle = 2 * np.pi * np.arange(n) / n
    return (2.0 + 0.3 * rng.normal(size=n))[:, None] * np.column_stack([np.cos(angle), np.sin(angle)])


def _example_profile(rng, A, B):
    closed = rng.random() < 0.5
    points = _ring(rng) if closed else np.column_stack([[-3.0, -1, 1, 3], 0.3 * rng.normal(size=4)])
    side = "right" if closed else rng.choice(["left", "right"])
    return PointOnCurve(*_frames(rng, A, B), points=points, closed=closed, radius=rng.uniform(0, 0.1), side=side)


def _example_wire(rng, A, B):
    points = np.column_stack([_ring(rng), 0.5 * rng.normal(size=5)])
    a, b = _frames(rng, A, B)
    return SphereOnWire(a, b, points=points, closed=rng.random() < 0.5, radius=0.1, radius_wire=rng.uniform(0, 0.1))


register(PointOnCurve, example=_example_profile)
register(SphereOnWire, example=_example_wire)
