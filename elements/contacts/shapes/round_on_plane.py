"""Ellipsoid, or the edge of a disc, on a plane; both may be attached to moving bodies.

A round body is known by its support, the point that is farthest in a direction. Body A has, in frame P (origin a, axes
F), an ellipsoid with semi-axes s and all that is within ρ of it; a disc with a round edge has s = (r, r, 0). Plane
through Q of body B (origin b) with unit normal n and tangents t1, t2 in B components. B components unless marked;
Q = R_Bᵀ R_A, index 0: start of the step; K = Q F diag(s²) Fᵀ Qᵀ.

    y     = R_Bᵀ (x_A + R_A a − x_B)                     centre of the body                                        (1)
    w     = √(n·K n) ,   c = −K n/w − ρ n                from there to the point nearest to the plane              (2)
    gap   = n·(y − b) − w − ρ = n·(y + c − b)                                                                    (3)
    δc    = η × c + M (η × n) ,   M = K/w − (K n)(K n)ᵀ/w³ + ρ (I − n nᵀ) ,   η = Q δθ_A − δθ_B                     (4)

The second part of (4) is the travel of the point over the body, along its surface: a relative velocity has no part in
it, and n·M = 0. Rows with e = n, t1, t2:

    G_N, V_T = [ R_B e ;  Qᵀ((Q a + c) × e) ;  −R_B e ;  e × (y + c) ]                                             (5)
    slip  = e·(y − y0 + ψ × (c0 + c)/2) ,   ψ = log(Q Q0ᵀ)                                                         (6)
    G_T   = as V_T of the centre, and along η:  T⁻¹(ψ)((c0 + c)/2 × e) + c × u + n × M u ,   u = (e × ψ)/2          (7)
    ∂G_N/∂q: that of the centre (sphere_plane, (8)), and with L = −(n·c) I + n̂ M n̂, n̂ the matrix of n ×:
             (θA,θA) Qᵀ(L + n cᵀ)Q ; (θA,θB) −Qᵀ(L + n cᵀ) ; (θB,θA) −(L + c nᵀ)Q ; (θB,θB) L + c nᵀ              (8)

(6) is exact where c does not rotate: for spheres, and for discs that roll upright. It is of second order otherwise.

Source: docs/theory/contacts.md, (31)-(33); support of an ellipsoid: Schneider, Convex Bodies, 1.7; (4)-(8) derived here
and checked by differences.

    symbol     code             shape  unit  meaning
    a, F       p.p_AP, p.R_AP   (3,)…  m, -  centre and axes in A
    b, t1 t2 n p.p_BQ, p.R_BQ   (3,)…  m, -  point and axes of the plane in B; columns of R_BQ are t1, t2, n
    s, ρ       p.semi, p.edge   (3,)…  m     semi-axes; radius of the edge
"""

import math
from typing import Any

import numpy as np

from fem_mbs.arguments.checked import ArrayLike, FrameLike
from fem_mbs.element.base import register
from fem_mbs.element.contact import Contact
from fem_mbs.elements.contacts.shapes.shape_contact import add_turning, relative_turn
from fem_mbs.elements.contacts.shapes.sphere_plane import center_hessian, center_in_second
from fem_mbs.errors import ParameterError, label
from fem_mbs.jit import kernel, local_arrays, local_matrix, local_vector
from fem_mbs.nodes import Ground
from fem_mbs.rotations import cross, dot, multiply_T, rotate, rotate_T

PARAMETERS = np.dtype(
    [("p_AP", "f8", (3,)), ("R_AP", "f8", (3, 3)), ("p_BQ", "f8", (3,)), ("R_BQ", "f8", (3, 3))]
    + [("semi", "f8", (3,)), ("edge", "f8")]
)
FLAT = 1e-2  # sine of the tilt from which a disc lies, and of its radius how near to the plane that matters
_TINY = 1e-12  # of the largest semi-axis: w of a disc that is parallel to the plane to round-off


@kernel
def support(p, Q, n, c, M):
    """Fill c (3,) of (2) and M (3, 3) of (4); returns w [m]."""
    axes, Kn, largest = local_matrix(3, 3), local_vector(3), 0.0
    for k in range(3):
        for i in range(3):
            axes[k, i] = 0.0
            for j in range(3):
                axes[k, i] += Q[i, j] * p.R_AP[j, k]
        largest = max(largest, p.semi[k])
    for i in range(3):
        Kn[i] = 0.0
        for j in range(3):
            M[i, j] = 0.0
    for k in range(3):
        along, square = dot(axes[k], n), p.semi[k] * p.semi[k]
        for i in range(3):
            Kn[i] += square * along * axes[k, i]
            for j in range(3):
                M[i, j] += square * axes[k, i] * axes[k, j]
    w = math.sqrt(max(dot(n, Kn), 0.0))
    flat = w <= _TINY * largest  # all of its edge is equally near: no point of it is
    for i in range(3):
        c[i] = -p.edge * n[i] - (0.0 if flat else Kn[i] / w)
        for j in range(3):
            M[i, j] = 0.0 if flat else (M[i, j] - Kn[i] * Kn[j] / (w * w)) / w
            M[i, j] += p.edge * ((1.0 if i == j else 0.0) - n[i] * n[j])
    return w


@kernel
def point_row(a, e, Qe, c, z, R_B, row):
    """Add (5) to a row (12,), z = y + c, Qe = Qᵀ e; c as in `support`, A components."""
    arm, turned, u = local_arrays("3, 3, 3")
    rotate(R_B, e, u)
    for i in range(3):
        arm[i] = a[i] + c[i]
    cross(arm, Qe, turned)
    cross(e, z, arm)
    for i in range(3):
        row[i] += u[i]
        row[3 + i] += turned[i]
        row[6 + i] -= u[i]
        row[9 + i] += arm[i]


@kernel
def contact(p, node_A, node_B, rows):
    """Kinematics (1)-(7)."""
    A, B = node_A, node_B
    y, y0, n, e, c, c0, z, mean, in_A, Qe, nothing, Q, Q0 = local_arrays("3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3 3, 3 3")
    M, T, psi, u, v, turn = local_arrays("3 3, 3 3, 3, 3, 3, 3")
    center_in_second(p.p_AP, A.x, A.R, B.x, B.R, y)
    center_in_second(p.p_AP, A.x0, A.R0, B.x0, B.R0, y0)
    relative_turn(A.R, B.R, A.R0, B.R0, Q, Q0, psi, T)
    for i in range(3):
        n[i] = p.R_BQ[i, 2]
    support(p, Q0, n, c0, M)
    w = support(p, Q, n, c, M)
    rows.gap[0] += dot(n, y) - dot(n, p.p_BQ) - w - p.edge
    for i in range(3):
        z[i] = y[i] + c[i]
        mean[i] = 0.5 * (c0[i] + c[i])
        nothing[i] = 0.0
    rotate_T(Q, c, in_A)
    rotate_T(Q, n, Qe)
    point_row(p.p_AP, n, Qe, in_A, z, B.R, rows.G_N)
    add_turning(1.0, n, Q, rows.W[2])
    rotate(B.R, n, rows.normal)
    rotate(B.R, z, rows.point)
    for i in range(3):
        rows.point[i] += B.x[i]
    for k in range(2):
        for i in range(3):
            e[i] = p.R_BQ[i, k]
        rotate(B.R, e, rows.tangents[k])
        rotate_T(Q, e, Qe)
        point_row(p.p_AP, e, Qe, in_A, z, B.R, rows.V_T[k])
        point_row(p.p_AP, e, Qe, nothing, y, B.R, rows.G_T[k])
        add_turning(1.0, e, Q, rows.W[k])
        cross(mean, e, turn)
        rows.slip[k] += dot(e, y) - dot(e, y0) + dot(psi, turn)
        # along η, (7)
        rotate(T, turn, u)
        add_turning(1.0, u, Q, rows.G_T[k])
        cross(e, psi, u)
        for i in range(3):
            u[i] *= 0.5
        cross(c, u, turn)
        add_turning(1.0, turn, Q, rows.G_T[k])
        rotate(M, u, v)
        cross(n, v, turn)
        add_turning(1.0, turn, Q, rows.G_T[k])


@kernel
def contact_hessian(p, x_A, R_A, x_B, R_B, H_N):
    """Add (8) to H_N (12, 12)."""
    y, n, c, z, Q, M, L, B = local_arrays("3, 3, 3, 3, 3 3, 3 3, 3 3, 3 3")
    center_in_second(p.p_AP, x_A, R_A, x_B, R_B, y)
    multiply_T(R_B, R_A, Q)
    for i in range(3):
        n[i] = p.R_BQ[i, 2]
    center_hessian(p.p_AP, n, y, Q, R_B, H_N)
    support(p, Q, n, c, M)
    along = dot(n, c)
    for j in range(3):  # rows of M n̂: n̂ = −n̂ᵀ, so row j of M times n̂ is (row j of M) × n
        cross(M[j], n, B[j])
    for j in range(3):
        for i in range(3):
            z[i] = B[i, j]
        cross(n, z, L[j])  # column j of n̂ (M n̂)
    for i in range(3):
        for j in range(3):
            B[i, j] = L[j, i] - (along if i == j else 0.0)
    for i in range(3):
        for j in range(3):
            H_N[9 + i, 9 + j] += B[i, j] + c[i] * n[j]
            for m in range(3):
                first = B[i, m] + n[i] * c[m]
                H_N[9 + i, 3 + j] -= (B[i, m] + c[i] * n[m]) * Q[m, j]
                H_N[3 + j, 9 + m] -= Q[i, j] * first
                for q in range(3):
                    H_N[3 + j, 3 + q] += Q[i, j] * first * Q[m, q]


@kernel
def trouble(p, x_A, R_A, x_B, R_B):
    """1 for a disc that lies on the plane, or nearly so."""
    y, n, c, Q, M = local_arrays("3, 3, 3, 3 3, 3 3")
    center_in_second(p.p_AP, x_A, R_A, x_B, R_B, y)
    multiply_T(R_B, R_A, Q)
    for i in range(3):
        n[i] = p.R_BQ[i, 2]
    w = support(p, Q, n, c, M)
    near = dot(n, y) - dot(n, p.p_BQ) - w - p.edge < FLAT * p.semi[0]
    return 1.0 if near and w < FLAT * p.semi[0] else 0.0


class _RoundOnPlane(Contact):
    """Common base of both shapes: frames, plane, picture of the plane."""

    parameters = PARAMETERS
    has_axes = True
    where = "on which side the normal of the plane (z axis of its frame) points"

    def _place(self, what, first, plane, drawn_size, size, law):
        self.first, self.plane = self.as_frame(what, first), self.as_frame("plane", plane)
        super().__init__((self.first.node, self.plane.node), name=self.name, **law)
        if self.first.node is self.plane.node:
            raise ParameterError(self, "plane", self.plane, f"is on the same node as the {what}; they can never touch")
        if drawn_size is None:
            drawn_size = 10.0 * size if isinstance(self.plane.node, Ground) else 0.0
        self.drawn_size = self.positive("drawn_size", drawn_size, "m", allow_zero=True)

    @property
    def poses(self) -> tuple:
        """Values of the fields of both frames."""
        return self.first.p, self.first.rotation, self.plane.p, self.plane_axes(self.plane.rotation)

    def picture(self) -> list:
        if self.drawn_size == 0.0:
            return []
        from fem_mbs.shapes import Patch

        size = [self.drawn_size, self.drawn_size]
        return [(self.plane.node, Patch(size, offset=self.plane.p, rotation=self.plane.rotation))]


class EllipsoidOnPlane(_RoundOnPlane):
    """An ellipsoid that can touch a plane: eggs, pebbles, rockers, rattlebacks.

    Parameters
    ----------
    ellipsoid : Frame, Node or body
        Its origin is the centre of the ellipsoid, its axes are those of it. The centre of mass may be elsewhere.
    plane : Frame, Node or body
        The plane contains its origin; its z axis is the normal and points to the side where the ellipsoid may be.
    semi_axes : (3,) > 0 [m]
        Along x, y, z of the first frame.
    drawn_size : float ≥ 0, optional [m]
        Edge length of the square patch that draws the plane; 0 draws none. Default: ten of the largest semi-axis for
        planes on the ground.
    **law
        restitution, friction, rolling_resistance, spinning_resistance, radius_contensou, tangential_restitution,
        stribeck_speed, stribeck_exponent: see `Contact`.

    Raises
    ------
    ParameterError
        Semi-axes not positive, both frames on one node, coefficients out of range.

    Notes
    -----
    Steps must resolve the rotation of the body: the slip of a step is of second order in its angle. For three equal
    semi-axes
    `SphereOnPlane` is the same and quicker.

    Examples
    --------
    >>> from fem_mbs import Model, RigidBody
    >>> model, egg = Model(), RigidBody.ellipsoid(0.06, [0.022, 0.022, 0.03], position=[0, 0, 0.03], name="egg")
    >>> EllipsoidOnPlane(egg, model.ground, semi_axes=[0.022, 0.022, 0.03], friction=0.4, name="table")
    EllipsoidOnPlane 'table': plane=ground, semi_axes=[0.022, 0.022, 0.03], friction=0.4
    """

    kernels = {"contact": contact, "contact_hessian": contact_hessian}

    def __init__(
        self,
        ellipsoid: FrameLike,
        plane: FrameLike,
        *,
        semi_axes: ArrayLike,
        drawn_size: float | None = None,
        name: str | None = None,
        **law: Any,
    ) -> None:
        self.name = name
        self.semi_axes = self.as_vector("semi_axes", semi_axes)
        self.check((self.semi_axes > 0).all(), "semi_axes", self.semi_axes, "m must all be positive")
        self._place("ellipsoid", ellipsoid, plane, drawn_size, float(self.semi_axes.max()), law)
        self.record = (*self.poses, self.semi_axes, 0.0)


class RingOnPlane(_RoundOnPlane):
    """The edge of a disc that can touch a plane: coins, wheels, hoops, Euler's disc.

    Parameters
    ----------
    ring : Frame, Node or body
        Its origin is the centre of the edge, its z axis the axis of the disc. A disc with a thickness has two edges:
        two of these contacts, with their frames half of it to either side.
    plane : Frame, Node or body
        The plane contains its origin; its z axis is the normal and points to the side where the disc may be.
    radius : float > 0 [m]
    edge_radius : float ≥ 0 [m]
        Rounds the edge off, outside of ``radius``: a ring of wire has the radius of its centre line and this of the
        wire. 0: a sharp edge.
    drawn_size : float ≥ 0, optional [m]
        Edge length of the square patch that draws the plane; 0 draws none. Default: ten radii for planes on the ground.
    **law
        restitution, friction, rolling_resistance, spinning_resistance, radius_contensou, tangential_restitution,
        stribeck_speed, stribeck_exponent: see `Contact`.

    Raises
    ------
    ParameterError
        Radii out of range, both frames on one node, coefficients out of range.

    Notes
    -----
    A disc that lies flat touches with all of its edge, which is no point: a model raises an error, and a run stops,
    where it is within 0.57° of that and closer to the plane than 1 % of its radius. Above the plane it may have any
    attitude. For a disc that comes to lie use points on its edge: a dozen `SphereOnPlane` of ``radius=0``. A disc that
    may neither slip nor lift off is a joint, `RollingDisc`.

    Examples
    --------
    >>> from fem_mbs import Model, RigidBody
    >>> model, tilt = Model(), 1.2
    >>> coin = RigidBody(0.01, [1e-6, 1e-6, 2e-6], position=[0, 0, 0.02], rotation=[tilt, 0, 0], name="coin")
    >>> RingOnPlane(coin, model.ground, radius=0.02, friction=0.4, name="table")
    RingOnPlane 'table': plane=ground, radius=0.02, friction=0.4
    """

    kernels = {"contact": contact, "contact_hessian": contact_hessian, "trouble": trouble}
    everywhere = False

    def __init__(
        self,
        ring: FrameLike,
        plane: FrameLike,
        *,
        radius: float,
        edge_radius: float = 0.0,
        drawn_size: float | None = None,
        name: str | None = None,
        **law: Any,
    ) -> None:
        self.name = name
        self.radius = self.positive("radius", radius, "m")
        self.edge_radius = self.positive("edge_radius", edge_radius, "m", allow_zero=True)
        self._place("ring", ring, plane, drawn_size, self.radius, law)
        self.record = (*self.poses, [self.radius, self.radius, 0.0], self.edge_radius)

    def trouble(self, state: Any) -> str:
        """Report that the disc lies on the plane."""
        return (
            f"{label(self)}: the disc is within {np.degrees(FLAT):.2g}° of lying on the plane, where no point of its "
            "edge is the nearest. Tilt it, end the run before, or take a dozen points of its edge, SphereOnPlane(…, "
            "radius=0)"
        )

    def regular(self, point: Any) -> bool:
        """True if the disc of a configuration of `fem_mbs.verify` is tilted enough to be differentiated."""
        pairs = ((point.R0[0], point.R0[1]), (point.R[0], point.R[1]))
        axes = [(A @ self.first.rotation[:, 2], B @ self.plane.rotation[:, 2]) for A, B in pairs]
        return all(np.linalg.norm(np.cross(e, n)) > 0.2 for e, n in axes)


def _frames(rng, A, B):
    return A.frame(rng.normal(size=3), rng.normal(size=3)), B.frame(rng.normal(size=3), rng.normal(size=3))


def _ellipsoid(rng, A, B):
    return EllipsoidOnPlane(*_frames(rng, A, B), semi_axes=rng.uniform(0.2, 1.0, size=3))


def _ring(rng, A, B):
    return RingOnPlane(*_frames(rng, A, B), radius=rng.uniform(0.2, 1.0), edge_radius=rng.choice([0.0, 0.1]))


register(EllipsoidOnPlane, example=_ellipsoid)
register(RingOnPlane, example=_ring)
