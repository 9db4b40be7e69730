"""Sphere (or point) on a plane; both may be attached to moving bodies.

Sphere of radius r about point P of body A (offset a); plane through Q of body B (offset b) with unit normal n and
tangents t1, t2, all fixed in B and in B components. Q_BA = R_Bᵀ R_A, index 0: start of the step.

    y     = R_Bᵀ (x_A + R_A a − x_B)                            sphere centre in B components                       (1)
    gap   = n·(y − b) − r                                                                                        (2)
    ψ     = log(Q_BA Q_BA0ᵀ)                                    relative rotation of the step, B components         (3)
    slip  = [t1 t2]ᵀ ( y − y0 + r n × ψ )                       motion of the contact point over the plane          (4)
    G_N   = [ R_B n ;  a × Q_BAᵀ n ;  −R_B n ;  n × y ]                                                            (5)
    G_T   = [t1 t2]ᵀ [ R_Bᵀ , −Q_BA ã + r ñ T⁻ᵀ(ψ) Q_BA , −R_Bᵀ , ỹ − r ñ T⁻ᵀ(ψ) ] ;   V_T: with T⁻ᵀ → I             (6)
    W     = [t1 t2 n]ᵀ [ 0 , Q_BA , 0 , −I ]                    relative angular velocity                            (7)
    ∂G_N/∂q: (xA,θB) −R_B ñ ; (θA,θA) ã (Q_BAᵀ n)~ ; (θA,θB) −ã Q_BAᵀ ñ ; (xB,θB) R_B ñ ;
             (θB,xA) ñ R_Bᵀ ; (θB,θA) −ñ Q_BA ã ; (θB,xB) −ñ R_Bᵀ ; (θB,θB) ñ ỹ                                     (8)

Source: docs/theory/contacts.md, (3)-(8); Sanchez2025 annex A, section A.5 (fixed plane, centre at
the node). Annex A prints slip with the opposite sign and a material increment where a spatial one is meant; (3)-(4)
are exact for any motion of the plane (decision 9 of the scheme: with the printed form a ball spinning about the normal
keeps a false friction force of 32 N after it rolls).

    symbol     code            shape  unit  meaning
    a          p.p_AP          (3,)   m     sphere centre from A's origin, A components
    b, t1 t2 n p.p_BQ, p.R_BQ  (3,)…  m, -  point and axes of the plane in B; columns of R_BQ are t1, t2, n
    r          p.radius        ()     m     radius, 0 for a point
"""

from typing import Any

import numpy as np

from fem_mbs.arguments.checked import FrameLike
from fem_mbs.element.base import register
from fem_mbs.element.contact import Contact
from fem_mbs.elements.contacts.shapes.shape_contact import add_turning, relative_turn
from fem_mbs.errors import ParameterError
from fem_mbs.jit import kernel, local_arrays, local_vector
from fem_mbs.nodes import Ground
from fem_mbs.rotations import add_R_skew, add_skew_RT, add_skew_skew, cross, dot, multiply_T, rotate, rotate_T

PARAMETERS = np.dtype([("p_AP", "f8", (3,)), ("p_BQ", "f8", (3,)), ("R_BQ", "f8", (3, 3)), ("radius", "f8")])


@kernel
def center_in_second(a, x_A, R_A, x_B, R_B, y):
    """Fill y (3,) with (1)."""
    d = local_vector(3)
    rotate(R_A, a, d)
    for i in range(3):
        d[i] += x_A[i] - x_B[i]
    rotate_T(R_B, d, y)


@kernel
def _normal_row(p, x_A, R_A, R_B, Q, y, n, G_N, point, normal):
    """Fill the normal and G_N (12,) of (5), and add the point of the sphere nearest to the plane."""
    z = local_vector(3)
    rotate(R_B, n, normal)
    for i in range(3):
        G_N[i] += normal[i]
        G_N[6 + i] -= normal[i]
    rotate_T(Q, n, z)
    cross(p.p_AP, z, G_N[3:6])
    cross(n, y, G_N[9:12])
    rotate(R_A, p.p_AP, z)
    for i in range(3):
        point[i] += x_A[i] + z[i] - p.radius * normal[i]


@kernel
def contact(p, node_A, node_B, rows):
    """Kinematics (2)-(7)."""
    A, B = node_A, node_B
    y, y0, n, e, en, Q, Q0, T, psi, turn, z, s = local_arrays("3, 3, 3, 3, 3, 3 3, 3 3, 3 3, 3, 3, 3, 3")
    center_in_second(p.p_AP, A.x, A.R, B.x, B.R, y)
    center_in_second(p.p_AP, A.x0, A.R0, B.x0, B.R0, y0)
    relative_turn(A.R, B.R, A.R0, B.R0, Q, Q0, psi, T)
    for i in range(3):
        n[i] = p.R_BQ[i, 2]
    rows.gap[0] += dot(n, y) - dot(n, p.p_BQ) - p.radius
    _normal_row(p, A.x, A.R, B.R, Q, y, n, rows.G_N, rows.point, rows.normal)
    cross(n, psi, turn)
    for k in range(2):
        for i in range(3):
            e[i] = p.R_BQ[i, k]
            rows.slip[k] += e[i] * (y[i] - y0[i] + p.radius * turn[i])
        rotate(B.R, e, z)
        for i in range(3):
            rows.tangents[k, i] += z[i]
            rows.G_T[k, i] += z[i]
            rows.G_T[k, 6 + i] -= z[i]
            rows.V_T[k, i] += z[i]
            rows.V_T[k, 6 + i] -= z[i]
        # the centre: e·(−Q ã) = a × Qᵀe and e·ỹ = e × y
        rotate_T(Q, e, z)
        cross(p.p_AP, z, rows.V_T[k, 3:6])
        cross(e, y, rows.V_T[k, 9:12])
        for i in range(3):
            rows.G_T[k, 3 + i] += rows.V_T[k, 3 + i]
            rows.G_T[k, 9 + i] += rows.V_T[k, 9 + i]
        # rotation: r e·(n × ω) = r (e × n)·ω, and (e × n)ᵀ T⁻ᵀ = (T⁻¹ (e × n))ᵀ
        cross(e, n, en)
        rotate(T, en, s)
        add_turning(p.radius, s, Q, rows.G_T[k])
        add_turning(p.radius, en, Q, rows.V_T[k])
        add_turning(1.0, e, Q, rows.W[k])
    add_turning(1.0, n, Q, rows.W[2])


@kernel
def center_hessian(a, n, y, Q, R_B, H_N):
    """Add (8) to H_N (12, 12)."""
    u, Qn = local_arrays("3, 3 3")
    add_R_skew(-1.0, R_B, n, H_N, 0, 9)
    add_R_skew(1.0, R_B, n, H_N, 6, 9)
    add_skew_RT(1.0, n, R_B, H_N, 9, 0)
    add_skew_RT(-1.0, n, R_B, H_N, 9, 6)
    rotate_T(Q, n, u)
    add_skew_skew(1.0, a, u, H_N, 3, 3)
    add_skew_skew(1.0, n, y, H_N, 9, 9)
    # ã Qᵀ ñ and its transpose ñ Q ã
    for i in range(3):  # Qn = Qᵀ ñ
        Qn[i, 0] = Q[1, i] * n[2] - Q[2, i] * n[1]
        Qn[i, 1] = Q[2, i] * n[0] - Q[0, i] * n[2]
        Qn[i, 2] = Q[0, i] * n[1] - Q[1, i] * n[0]
    for j in range(3):
        c0 = a[1] * Qn[2, j] - a[2] * Qn[1, j]
        c1 = a[2] * Qn[0, j] - a[0] * Qn[2, j]
        c2 = a[0] * Qn[1, j] - a[1] * Qn[0, j]
        H_N[3, 9 + j] -= c0
        H_N[4, 9 + j] -= c1
        H_N[5, 9 + j] -= c2
        H_N[9 + j, 3] -= c0
        H_N[9 + j, 4] -= c1
        H_N[9 + j, 5] -= c2


@kernel
def contact_hessian(p, x_A, R_A, x_B, R_B, H_N):
    """Add (8) to H_N (12, 12)."""
    y, n, Q = local_arrays("3, 3, 3 3")
    center_in_second(p.p_AP, x_A, R_A, x_B, R_B, y)
    multiply_T(R_B, R_A, Q)
    for i in range(3):
        n[i] = p.R_BQ[i, 2]
    center_hessian(p.p_AP, n, y, Q, R_B, H_N)


class SphereOnPlane(Contact):
    """A sphere or a point that can touch a plane, with impact, sliding, rolling and spinning friction.

    Parameters
    ----------
    sphere : Frame, Node or body
        Its origin is the centre of the sphere.
    plane : Frame, Node or body
        The plane contains its origin; its z axis is the normal and points to the side where the sphere may be.
    radius : float ≥ 0 [m]
        0 makes a point (a corner of a body).
    drawn_size : float ≥ 0, optional [m]
        Edge length of the square patch that draws the plane; 0 draws none. Default: ten radii for planes on the ground.
    **law
        restitution, friction, rolling_resistance, spinning_resistance, radius_contensou, tangential_restitution,
        stribeck_speed, stribeck_exponent: see `Contact`.

    Raises
    ------
    ParameterError
        Negative radius, both frames on one node, coefficients out of range.

    Examples
    --------
    >>> from fem_mbs import Model, RigidBody
    >>> model, ball = Model(), RigidBody.sphere(1.0, 0.2, position=[0, 0, 1])
    >>> SphereOnPlane(ball.frame(), model.ground.frame(), radius=0.2, restitution=0.8, name="table")
    SphereOnPlane 'table': sphere=Node6, plane=ground, radius=0.2, restitution=0.8
    """

    has_axes = True
    half_space = True
    parameters = PARAMETERS
    kernels = {"contact": contact, "contact_hessian": contact_hessian}
    where = "on which side the normal of the plane (z axis of its frame) points"

    def __init__(
        self,
        sphere: FrameLike,
        plane: FrameLike,
        *,
        radius: float,
        drawn_size: float | None = None,
        name: str | None = None,
        **law: Any,
    ) -> None:
        self.name = name
        self.sphere, self.plane = self.as_frame("sphere", sphere), self.as_frame("plane", plane)
        super().__init__((self.sphere.node, self.plane.node), name=name, **law)
        if self.sphere.node is self.plane.node:
            raise ParameterError(self, "plane", self.plane, "is on the same node as the sphere; they can never touch")
        self.radius = self.positive("radius", radius, "m", allow_zero=True)
        self.room = np.inf  # joints with clearance set theirs
        if drawn_size is None:
            drawn_size = 10.0 * self.radius if isinstance(self.plane.node, Ground) else 0.0
        self.drawn_size = self.positive("drawn_size", drawn_size, "m", allow_zero=True)
        self.record = (self.sphere.p, self.plane.p, self.plane_axes(self.plane.rotation), self.radius)

    def picture(self) -> list:
        if self.drawn_size == 0.0:
            return []
        from fem_mbs.shapes import Mesh

        s = 0.5 * self.drawn_size
        corners = np.array([[-s, -s, 0], [s, -s, 0], [s, s, 0], [-s, s, 0]])
        corners = self.plane.p + corners @ self.plane.rotation.T
        return [(self.plane.node, Mesh(corners, [[0, 1, 2, 3]]))]


def _example(rng, A, B):
    return SphereOnPlane(
        A.frame(rng.normal(size=3)), B.frame(rng.normal(size=3), rng.normal(size=3)), radius=rng.uniform(0.1, 1.0)
    )


register(SphereOnPlane, example=_example)
