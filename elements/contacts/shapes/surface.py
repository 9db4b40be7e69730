"""Point or sphere on a surface z = s(x, y).

Sphere of radius r (0: a point) about P on body A; surface S(a, b) = (a, b, s(a, b)) over a rectangle of the x-y plane
of frame Q on body B, s a bicubic spline through samples; y: centre of the sphere in Q. The foot point is the nearest
point: with v = y − S, v·S_a = v·S_b = 0 or on the border of the rectangle. With A = [S_i·S_j − v·S_ij] over the
directions i, j in which the foot is free:

    inside    n = (−s_a, −s_b, 1)/|…| ,   φ = n·v ,   N = Σ n_i (A⁻¹)_ij S_jᵀ ,   n_i = ∂n/∂(a or b)                 (1)
    border    φ = |v| ,   n = v/φ ,   N = (I − Σ S_i (A⁻¹)_ij S_jᵀ − n nᵀ)/φ                                     (2)

The surface is a thin sheet for spheres: one that has come behind it, round its border, touches it from there, with
−n, −φ and −N in (1). That side follows from the start of a step. A point has no room for a side: it may be in front
only, and raises an error where it is behind by more than `BEHIND`.

The gap is φ − r; tangents, slip and gradients follow from these as for every shape (shape_contact). φ, n and N are
continuous inside; at the border N jumps. The foot point is found by Newton's method from the point below, to round-off.

Source: (1) parallel surfaces: do Carmo, Differential Geometry of Curves and Surfaces, 3-5; tensor products of splines:
de Boor, A Practical Guide to Splines, ch. 17; N and slip checked by differences.

    symbol  code        shape           unit  meaning
    r       radius      ()              m     radius of the sphere
    s       table       (na, nb, 4, 4)  m …   coefficients of (a − a_i)^k (b − b_j)^l in each cell
            low, high   (2,)            m     rectangle; cell (2,) is the size of a cell
"""

import math
from typing import Any

import numpy as np

from fem_mbs.arguments.checked import ArrayLike, FrameLike
from fem_mbs.element.base import register
from fem_mbs.elements.contacts.shapes.shape_contact import (
    Foot,
    SphereShapeContact,
    parameters,
    shape_rows,
    sphere_center,
    sphere_hessian,
)
from fem_mbs.errors import label
from fem_mbs.jit import address, kernel, local_arrays, local_matrix, local_vector, tensor
from fem_mbs.nodes import Ground
from fem_mbs.rotations import cross, dot

BEHIND = 0.01  # of the shorter edge of the rectangle: a point that is farther behind has not sunk in, it came round
_ROUNDS = 60  # of Newton's method; 4 to 8 are usual


@kernel
def _on_surface(p, a, b, s):
    """Fill s (6,) with the surface and its derivatives s, s_a, s_b, s_aa, s_ab, s_bb at (a, b) in its rectangle."""
    i = min(max(int((a - p.low[0]) / p.cell[0]), 0), p.na - 1)
    j = min(max(int((b - p.low[1]) / p.cell[1]), 0), p.nb - 1)
    c = tensor(p.table_at, p.na * p.nb, 4, 4)[i * p.nb + j]
    x, z = a - p.low[0] - i * p.cell[0], b - p.low[1] - j * p.cell[1]
    for k in range(6):
        s[k] = 0.0
    for k in range(3, -1, -1):
        f = c[k, 0] + z * (c[k, 1] + z * (c[k, 2] + z * c[k, 3]))
        f_b = c[k, 1] + z * (2.0 * c[k, 2] + 3.0 * z * c[k, 3])
        s[3] = s[3] * x + 2.0 * s[1]
        s[1] = s[1] * x + s[0]
        s[0] = s[0] * x + f
        s[4] = s[4] * x + s[2]
        s[2] = s[2] * x + f_b
        s[5] = s[5] * x + 2.0 * c[k, 2] + 6.0 * z * c[k, 3]


@kernel
def foot_on_surface(p, y, at, s, v, A):
    """Find the point of the surface nearest to y (3,).

    Fills its place at (2,), s (6,) as `_on_surface`, v = y − F (3,) and the inverse A (2, 2) of (1)-(2), with zeros for
    directions held by the border; returns the number of these.
    """
    slope, fixed = local_arrays("2, 2")
    for i in range(2):
        at[i] = min(max(y[i], p.low[i]), p.high[i])
    for _ in range(_ROUNDS):
        _on_surface(p, at[0], at[1], s)
        v[0], v[1], v[2] = y[0] - at[0], y[1] - at[1], y[2] - s[0]
        for i in range(2):
            slope[i] = v[i] + s[1 + i] * v[2]
            low, high = at[i] <= p.low[i], at[i] >= p.high[i]
            fixed[i] = 1.0 if (low and slope[i] <= 0.0) or (high and slope[i] >= 0.0) else 0.0
        # Newton's matrix where it has a minimum to go to, otherwise that of the distance to the tangent plane
        aa, ab, bb = 1.0 + s[1] * s[1] - v[2] * s[3], s[1] * s[2] - v[2] * s[4], 1.0 + s[2] * s[2] - v[2] * s[5]
        free = fixed[0] + fixed[1] == 0.0
        if (aa <= 0.0 and fixed[0] == 0.0) or (bb <= 0.0 and fixed[1] == 0.0) or (free and aa * bb <= ab * ab):
            aa, ab, bb = 1.0 + s[1] * s[1], s[1] * s[2], 1.0 + s[2] * s[2]
        if free:
            det = aa * bb - ab * ab
            A[0, 0], A[0, 1], A[1, 0], A[1, 1] = bb / det, -ab / det, -ab / det, aa / det
        else:
            A[0, 1] = A[1, 0] = 0.0
            A[0, 0], A[1, 1] = (1.0 - fixed[0]) / aa, (1.0 - fixed[1]) / bb
        moved = 0.0
        for i in range(2):
            step = A[i, 0] * slope[0] + A[i, 1] * slope[1]
            step = min(max(step, -p.cell[i]), p.cell[i])
            new = min(max(at[i] + step, p.low[i]), p.high[i])
            moved = max(moved, abs(new - at[i]) / (p.high[i] - p.low[i]))
            at[i] = new
        if moved <= 4e-16:
            break
    return int(fixed[0] + fixed[1])


@kernel
def height_over(p, y):
    """Distance [m] of y (3,) from the tangent plane at its foot point: negative behind the surface, and outside
    that.
    """
    at, s, v, A = local_arrays("2, 6, 3, 2 2")
    foot_on_surface(p, y, at, s, v, A)
    return (v[2] - s[1] * v[0] - s[2] * v[1]) / math.sqrt(1.0 + s[1] * s[1] + s[2] * s[2])


@kernel
def side_of(p, y0, y):
    """Side of the surface on which y (3,) may be that was y0 (3,) at the start of the step: 1 in front, −1 behind."""
    same = y0[0] == y[0] and y0[1] == y[1] and y0[2] == y[2]  # also evaluated without a step: initial gaps, force laws
    limit = 0.0 if p.radius > 0.0 else -math.inf if same else -BEHIND * _width(p)
    return 1.0 if height_over(p, y0) >= limit else -1.0


@kernel
def _width(p):
    """Shorter edge of the rectangle [m]."""
    return min(p.high[0] - p.low[0], p.high[1] - p.low[1])


@kernel
def _nearest_surface(p, y, n, N):
    """Distance [m] of y (3,) from the front of the surface by (1)-(2); fills n (3,) and N (3, 3)."""
    return nearest_on_side(p, 1.0, y, n, N)


@kernel
def nearest_on_side(p, side, y, n, N):
    """Distance [m] of y (3,) from a side (1, −1) of the surface by (1)-(2); fills n (3,) and N (3, 3)."""
    at, s, v, A, S, n_i = local_arrays("2, 6, 3, 2 2, 2 3, 2 3")
    held = foot_on_surface(p, y, at, s, v, A)
    S[0, 0], S[0, 1], S[0, 2] = 1.0, 0.0, s[1]
    S[1, 0], S[1, 1], S[1, 2] = 0.0, 1.0, s[2]
    cross(S[0], S[1], n)
    size, outside = math.sqrt(dot(n, n)), math.sqrt(dot(v, v))
    if held == 0 or outside == 0.0:
        for i in range(3):
            n[i] /= size
        for i in range(2):
            # ∂(−s_a, −s_b, 1)/∂a or b, and its part across n
            da, db = -s[3 + i], -s[4 + i]
            part = n[0] * da + n[1] * db
            n_i[i, 0], n_i[i, 1], n_i[i, 2] = (da - part * n[0]) / size, (db - part * n[1]) / size, -part * n[2] / size
        for k in range(3):
            for m in range(3):
                N[k, m] = 0.0
                for i in range(2):
                    N[k, m] += side * n_i[i, k] * (A[i, 0] * S[0, m] + A[i, 1] * S[1, m])
        for k in range(3):
            n[k] *= side
        return dot(n, v)
    for k in range(3):
        n[k] = v[k] / outside
    for k in range(3):
        for m in range(3):
            N[k, m] = (1.0 if k == m else 0.0) - n[k] * n[m]
            for i in range(2):
                N[k, m] -= S[i, k] * (A[i, 0] * S[0, m] + A[i, 1] * S[1, m])
            N[k, m] /= outside
    return outside


@kernel
def contact(p, node_A, node_B, rows):
    """Gap and rows of a sphere against the shape (1)-(2)."""
    A, B, foot = node_A, node_B, Foot(
        local_vector(3), local_vector(3), local_vector(3), local_vector(3), local_vector(3), local_matrix(3, 3)
    )  # fmt: skip
    sphere_center(A.x0, A.R0, p.p_AP, B.x0, B.R0, p.p_BQ, p.R_BQ, foot.y_B, foot.y0)
    sphere_center(A.x, A.R, p.p_AP, B.x, B.R, p.p_BQ, p.R_BQ, foot.y_B, foot.y)
    side = side_of(p, foot.y0, foot.y)
    nearest_on_side(p, side, foot.y0, foot.n0, foot.N)
    rows.gap[0] += nearest_on_side(p, side, foot.y, foot.n, foot.N) - p.radius
    shape_rows(p.p_AP, p.R_BQ, p.radius, A, B, foot, rows, (0.0, 0.0, 0.0, 0.0))


@kernel
def _nearest_now(p, y, n, N):
    """Distance [m] of y (3,) from the side of the surface on which it is by itself; fills n (3,) and N (3, 3)."""
    return nearest_on_side(p, side_of(p, y, y), y, n, N)


@kernel
def contact_hessian(p, x_A, R_A, x_B, R_B, H_N):
    """Add ∂G_N/∂q to H_N (12, 12)."""
    sphere_hessian(_nearest_now, p, x_A, R_A, x_B, R_B, H_N)


@kernel
def trouble(p, x_A, R_A, x_B, R_B):
    """1 for a point that is over the rectangle and behind the surface."""
    y, y_B, at, s, v, A = local_arrays("3, 3, 2, 6, 3, 2 2")
    sphere_center(x_A, R_A, p.p_AP, x_B, R_B, p.p_BQ, p.R_BQ, y_B, y)
    if p.radius > 0.0 or foot_on_surface(p, y, at, s, v, A) > 0:
        return 0.0
    return 1.0 if height_over(p, y) < -BEHIND * _width(p) else 0.0


class PointOnSurface(SphereShapeContact):
    """A point or a sphere on a surface z = s(x, y) in a frame: terrain, a bowl, a guiding surface.

    Parameters
    ----------
    point : Frame, Node or body
        Its origin is the point, or the centre of the sphere.
    surface : Frame, Node or body
        The surface is given in its axes.
    height : callable (x, y) -> z, or array (na + 1, nb + 1) [m]
        Called with arrays; or its values on the grid.
    x, y : (2,) [m]
        Ranges of the rectangle over which the surface extends; outside it there is nothing to touch.
    cells : int or (int, int)
        Cells (na, nb) of the spline along x and y; taken from the array when ``height`` is one. The error of a smooth
        function falls with the fourth power of the cell size.
    radius : float ≥ 0 [m]
        Of the sphere; 0 for a point.
    drawn : bool, optional
        Default: when the surface is on ground.
    **law
        restitution, friction, rolling_resistance, spinning_resistance, radius_contensou, tangential_restitution,
        stribeck_speed, stribeck_exponent: see `Contact`.

    Raises
    ------
    ParameterError
        Ranges, cells or heights that make no surface, both frames on one node, coefficients out of range.

    Notes
    -----
    A point (``radius=0``) may be above the surface (z > s) and outside it; a run in which it comes under the surface
    over its border ends there. A sphere touches the surface from below then. One contact is one nearest point, looked
    for from the point below the centre: the sphere must fit into all hollows. Tangent t1 comes from the x axis where
    the surface is flat.

    Examples
    --------
    >>> from fem_mbs import Model, RigidBody
    >>> model, ball = Model(), RigidBody.sphere(1.0, 0.1, position=[0.5, 0, 0.5])
    >>> bowl = {"height": lambda x, y: 0.5 * (x**2 + 2 * y**2), "x": (-1, 1), "y": (-1, 1)}
    >>> PointOnSurface(ball, model.ground, **bowl, radius=0.1, friction=0.3, name="bowl")
    PointOnSurface 'bowl': x=array (41,), y=array (41,), radius=0.1, friction=0.3
    """

    parameters = parameters(
        ("table_at", "i8"), ("na", "i8"), ("nb", "i8"), ("low", "f8", (2,)), ("high", "f8", (2,)), ("cell", "f8", (2,))
    )
    kernels = {"contact": contact, "contact_hessian": contact_hessian, "trouble": trouble}
    nearest = staticmethod(_nearest_surface)

    def __init__(
        self,
        point: FrameLike,
        surface: FrameLike,
        *,
        height: Any,
        x: ArrayLike,
        y: ArrayLike,
        cells: Any = 40,
        radius: float = 0.0,
        drawn: bool | None = None,
        name: str | None = None,
        **law: Any,
    ) -> None:
        from scipy.interpolate import CubicSpline

        super().__init__(point, surface, radius=radius, allow_point=True, name=name, **law)
        low, high = np.array([self.as_vector("x", x, 2), self.as_vector("y", y, 2)]).T
        for axis, a, b in zip("xy", low, high):
            self.check(b > a, axis, (a, b), "m: the second value must be larger than the first")
        if callable(height):
            self.as_function("height", height, "height(x, y)", 2)
            both = (cells, cells) if np.isscalar(cells) else tuple(self.as_vector("cells", cells, 2))
            counts = [self.as_integer("cells", number, 3) + 1 for number in both]
            self.check(max(counts) < 10_000, "cells", cells, "are more than the surface needs; 9998 at most")
        else:
            height = self.as_array("height", height, (None, None))
            counts = height.shape
            self.check(min(counts) > 3, "height", height, "must be an array (≥ 4, ≥ 4)")
        axes = [np.linspace(a, b, n) for a, b, n in zip(low, high, counts)]
        self.x, self.y = axes
        values = height(*np.meshgrid(*axes, indexing="ij")) if callable(height) else height
        values = self.as_array("height", values)
        self.check(values.shape in ((), tuple(counts)), "height", values, f"returned values of shape {values.shape}")
        values = np.broadcast_to(values, tuple(counts))
        # powers of x, cells along x, samples along y; then powers of y, cells along y, powers of x, cells along x
        along_x = CubicSpline(axes[0], values).c[::-1]
        both = CubicSpline(axes[1], np.moveaxis(along_x, 2, 0)).c[::-1]
        # kernels read the cells at their address: the array lives as long as the element
        self.table = np.ascontiguousarray(both.transpose(3, 1, 2, 0))
        self.heights = values
        self.drawn = isinstance(self.shape.node, Ground) if drawn is None else self.as_flag("drawn", drawn)
        self.place()

    def place(self) -> None:
        low, high = np.array([self.x[[0, -1]], self.y[[0, -1]]]).T
        na, nb = len(self.x) - 1, len(self.y) - 1
        self.record = (*self.poses, address(self.table), na, nb, low, high, (high - low) / (na, nb))

    def regular(self, point: Any) -> bool:
        """True if no border of a cell, no centre of curvature (see `SphereShapeContact.regular`) and no other side is
        near.
        """
        p = np.zeros(1, self.parameters)
        p[0] = self.record
        y0, y = (
            self.shape.rotation.T @ (R[1].T @ (x[0] + R[0] @ self.sphere.p - x[1]) - self.shape.p)
            for x, R in ((point.x0, point.R0), (point.x, point.R))
        )
        near = 4e-3 * point.size
        heights = height_over(p[0], y0), height_over(p[0], y)
        front = min(heights) > near
        if not (front or (self.radius > 0.0 and max(heights) < -near)):
            return False
        at, s, v, A, found = np.empty(2), np.empty(6), np.empty(3), np.empty((2, 2)), []
        for step in near * np.vstack([np.zeros(3), np.eye(3), -np.eye(3)]):
            held = foot_on_surface(p[0], y + step, at, s, v, A)
            found.append((*np.floor((at - p["low"][0]) / p["cell"][0]), held))
        return all(place == found[0] for place in found) and super().regular(point)

    def trouble(self, state: Any) -> str:
        """Report that the point is behind the surface."""
        return (
            f"{label(self)}: the point is under the surface, to which it came over its border; it may be above it and "
            "outside it only. Make the surface larger, end the run before, or give the point a radius > 0: spheres "
            "touch both sides"
        )

    def picture(self) -> list:
        if not self.drawn:
            return []
        from fem_mbs.shapes import Mesh

        na, nb = self.heights.shape
        points = np.column_stack([np.repeat(self.x, nb), np.tile(self.y, na), self.heights.ravel()])
        i, j = np.meshgrid(np.arange(na - 1), np.arange(nb - 1), indexing="ij")
        corner = i * nb + j
        quads = np.stack([corner, corner + nb, corner + nb + 1, corner + 1], axis=-1).reshape(-1, 4)
        return self.placed(Mesh, points, [quads])


def _frames(rng, A, B):
    return A.frame(0.3 * rng.normal(size=3)), B.frame(0.3 * rng.normal(size=3), rng.normal(size=3))


def _example_surface(rng, A, B):
    bend = 0.1 * rng.normal(size=4)

    def height(x, y):
        return bend[0] * x**2 + bend[1] * x * y + bend[2] * y**2 + bend[3] * np.sin(x + y)

    return PointOnSurface(
        *_frames(rng, A, B), height=height, x=(-3, 2), y=(-2, 3), cells=(3, 4), radius=rng.uniform(0, 0.3)
    )


register(PointOnSurface, example=_example_surface)
