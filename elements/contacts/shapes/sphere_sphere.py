"""Sphere against a sphere, outside or inside of it; both may be attached to moving bodies.

Sphere of radius r_A about P on body A, sphere of radius r_B about Q on body B; y: centre of the first from the centre
of the second, axes of Q; s = +1 outside, −1 inside. Distance, normal and curvature of the second sphere are

    φ(y) = s (|y| − r_B) ,   n = s y/|y| ,   N = ∂n/∂y = s (I − n nᵀ)/|y|                                          (1)

and gap = φ − r_A; tangents, slip and gradients follow from these as for every shape (shape_contact), outside in axes
that rotate with both spheres, so that it does not matter which of them is named first ((13) there). The normal points
from the second sphere to the first: inside, towards the centre. Concentric spheres have no normal: where |y| is below
1e-9 r_B the z axis of Q is taken, with N = 0. Inside, the gap is then all of the clearance and nothing touches.

Source: Sanchez2025 annex B, section B.4 (outside, nodes at the centres, slip with frozen tangents).

    symbol    code            shape  unit  meaning
    r_A, r_B  radius, radius_B ()    m     radii of the first and the second sphere
    s         side            ()     -     +1 outside, −1 inside
"""

import math
from typing import Any

from fem_mbs.arguments.checked import FrameLike
from fem_mbs.element.base import register
from fem_mbs.elements.contacts.shapes.shape_contact import (
    SphereShapeContact,
    middle_of_gap,
    parameters,
    sphere_contact,
    sphere_hessian,
)
from fem_mbs.jit import kernel
from fem_mbs.nodes import Ground
from fem_mbs.rotations import dot

_CONCENTRIC = 1e-9  # of the radius of the second sphere


@kernel
def _nearest(p, y, n, N):
    """Distance (1) [m] of the point y (3,) from the second sphere; fills n (3,) and N (3, 3)."""
    size = math.sqrt(dot(y, y))
    touching = size > _CONCENTRIC * p.radius_B
    for i in range(3):
        n[i] = p.side * y[i] / size if touching else (1.0 if i == 2 else 0.0)
    for i in range(3):
        for j in range(3):
            N[i, j] = p.side * ((1.0 if i == j else 0.0) - n[i] * n[j]) / size if touching else 0.0
    return p.side * (size - p.radius_B)


@kernel
def contact(p, node_A, node_B, rows):
    """Gap and rows of a sphere against the shape (1)."""
    share = middle_of_gap(p.radius) if p.side > 0.0 else 0.0
    sphere_contact(_nearest, p, node_A, node_B, rows, share)


@kernel
def contact_hessian(p, x_A, R_A, x_B, R_B, H_N):
    """Add ∂G_N/∂q to H_N (12, 12)."""
    sphere_hessian(_nearest, p, x_A, R_A, x_B, R_B, H_N)


class SphereOnSphere(SphereShapeContact):
    """Two spheres that can touch from outside, with impact, sliding, rolling and spinning friction.

    Parameters
    ----------
    sphere_A, sphere_B : Frame, Node or body
        Their origins are the centres of the first and of the second sphere.
    radius_A : float ≥ 0 [m]
        0 makes a point.
    radius_B : float > 0 [m]
    **law
        restitution, friction, rolling_resistance, spinning_resistance, radius_contensou, tangential_restitution,
        stribeck_speed, stribeck_exponent: see `Contact`.
        Impulses and slip are those of the first sphere relative to the second.

    Raises
    ------
    ParameterError
        Negative radius_A, radius_B not positive, both frames on one node, coefficients out of range.

    Examples
    --------
    >>> from fem_mbs import RigidBody
    >>> cue = RigidBody.sphere(0.17, 0.02858, name="cue")
    >>> ball = RigidBody.sphere(0.17, 0.02858, position=[1, 0, 0], name="ball")
    >>> SphereOnSphere(cue, ball, radius_A=0.02858, radius_B=0.02858, restitution=0.94, friction=0.06, name="hit")
    SphereOnSphere 'hit': radius_B=0.02858, radius=0.02858, restitution=0.94, friction=0.06
    """

    parameters = parameters(("radius_B", "f8"), ("side", "f8"))
    kernels = {"contact": contact, "contact_hessian": contact_hessian}
    nearest = staticmethod(_nearest)
    convex = True

    @property
    def smallest_radius(self) -> float | None:
        return self.radius_B

    def __init__(
        self,
        sphere_A: FrameLike,
        sphere_B: FrameLike,
        *,
        radius_A: float,
        radius_B: float,
        name: str | None = None,
        **law: Any,
    ) -> None:
        super().__init__(sphere_A, sphere_B, radius=radius_A, allow_point=True, name=name, **law)
        self.radius_B = self.positive("radius_B", radius_B, "m")
        self.record = (*self.poses, self.radius_B, 1.0)


class SphereInSphere(SphereShapeContact):
    """A sphere inside a larger hollow sphere, such as a ball in a bowl or in a socket with clearance.

    Parameters
    ----------
    inner, outer : Frame, Node or body
        Their origins are the centres of the ball and of the hollow sphere.
    radius, radius_outer : float > 0 [m]
        radius < radius_outer; the difference is the clearance of concentric spheres.
    drawn : bool, optional
        Whether the lower half of the hollow sphere (z < 0 of the outer frame) is drawn. Default: when it is on ground.
    **law
        restitution, friction, rolling_resistance, spinning_resistance, radius_contensou, tangential_restitution,
        stribeck_speed, stribeck_exponent: see `Contact`.

    Raises
    ------
    ParameterError
        Radii not positive or without clearance, both frames on one node, coefficients out of range.

    Examples
    --------
    >>> from fem_mbs import Model, RigidBody
    >>> model, ball = Model(), RigidBody.sphere(1.0, 0.1, position=[0, 0, -0.8])
    >>> SphereInSphere(ball, model.ground, radius=0.1, radius_outer=1.0, friction=0.4, name="bowl")
    SphereInSphere 'bowl': radius=0.1, radius_outer=1, friction=0.4
    """

    parameters = SphereOnSphere.parameters
    kernels = SphereOnSphere.kernels
    nearest = staticmethod(_nearest)

    def __init__(
        self,
        inner: FrameLike,
        outer: FrameLike,
        *,
        radius: float,
        radius_outer: float,
        drawn: bool | None = None,
        name: str | None = None,
        **law: Any,
    ) -> None:
        super().__init__(inner, outer, radius=radius, name=name, **law)
        self.radius_outer = self.positive("radius_outer", radius_outer, "m")
        message = f"m leaves no clearance: it must be larger than radius = {self.radius:.6g} m"
        self.check(self.radius_outer > self.radius, "radius_outer", self.radius_outer, message)
        self.room = self.radius_outer - self.radius
        self.drawn = isinstance(self.shape.node, Ground) if drawn is None else self.as_flag("drawn", drawn)
        self.record = (*self.poses, self.radius_outer, -1.0)

    @property
    def hollow(self) -> bool:
        return True

    def picture(self) -> list:
        if not self.drawn:
            return []
        from fem_mbs.shapes import Mesh, Sphere

        whole = Sphere(self.radius_outer)
        low = [block[(whole.points[block][:, :, 2] < 1e-9 * self.radius_outer).all(axis=1)] for block in whole.faces]
        return self.placed(Mesh, whole.points, [block[:, ::-1] for block in low if len(block)])


register(
    SphereOnSphere,
    example=lambda rng, A, B: SphereOnSphere(
        A.frame(0.3 * rng.normal(size=3)), B.frame(0.3 * rng.normal(size=3), rng.normal(size=3)),
        radius_A=rng.uniform(0.1, 1.0), radius_B=rng.uniform(0.1, 1.0),
    ),
)  # fmt: skip
register(
    SphereInSphere,
    example=lambda rng, A, B: SphereInSphere(
        A.frame(0.3 * rng.normal(size=3)), B.frame(0.3 * rng.normal(size=3), rng.normal(size=3)),
        radius=rng.uniform(0.1, 0.4), radius_outer=rng.uniform(0.5, 1.0),
    ),
)  # fmt: skip
