"""Sphere against a box or a rectangular plate, faces, edges and corners; both may be attached to moving bodies.

Sphere of radius r about P on body A; box in frame Q on body B, centred on its origin and parallel to its axes, edges
and corners rounded off by ρ; its core, which remains when all faces move in by ρ, has the half edge lengths h.
A plate is a box of thickness 0. With q the point of the core nearest to the sphere's centre y

    q_i = y_i held between −h_i and h_i ,   v = y − q ,   d = |v| ,   n = v/d ,   N = (D − n nᵀ)/d ,   φ = d − ρ     (1)

where D is diagonal, 1 for directions in which y is outside, and gap = φ − r: one direction outside is a face (N = 0),
two an edge, three a corner. Tangents, slip and gradients follow from these as for every shape (shape_contact). φ and n
are continuous, N jumps between faces, edges and corners. A centre inside the core - deeper than r + ρ - is pushed out
through the nearest face.

Source: distance to a box, elementary; G_N, N and slip checked by differences.

    symbol  code     shape  unit  meaning
    r       radius   ()     m     radius of the sphere, > 0: it rounds off edges and corners
    h       half     (3,)   m     half edge lengths along the axes of Q
"""

from typing import Any

import numpy as np

from fem_mbs.arguments.checked import ArrayLike, FrameLike
from fem_mbs.distance.box import out_of_core
from fem_mbs.element.base import register
from fem_mbs.elements.contacts.shapes.shape_contact import (
    SphereShapeContact,
    parameters,
    sphere_contact,
    sphere_hessian,
)
from fem_mbs.jit import kernel
from fem_mbs.nodes import Ground


@kernel
def _nearest(p, y, n, N):
    """Distance φ [m] of the point y (3,) from the box by (1); fills n (3,) and N (3, 3)."""
    distance = out_of_core(p.half, y, n)
    for i in range(3):
        for j in range(3):
            N[i, j] = 0.0
            if distance > 0.0:
                N[i, j] = ((1.0 if i == j and n[i] != 0.0 else 0.0) - n[i] * n[j]) / distance
    return distance - p.rounding


@kernel
def contact(p, node_A, node_B, rows):
    """Gap and rows of a sphere against the shape (1)."""
    sphere_contact(_nearest, p, node_A, node_B, rows)


@kernel
def contact_hessian(p, x_A, R_A, x_B, R_B, H_N):
    """Add ∂G_N/∂q to H_N (12, 12)."""
    sphere_hessian(_nearest, p, x_A, R_A, x_B, R_B, H_N)


class SphereOnBox(SphereShapeContact):
    """A sphere that can touch the faces, edges and corners of a box from outside.

    Parameters
    ----------
    sphere : Frame, Node or body
        Its origin is the centre of the sphere.
    box : Frame, Node or body
        Its origin is the centre of the box, its axes are those of the box.
    radius : float ≥ 0 [m]
        0 makes a point, against a box with rounded edges only: a point has no normal on a sharp edge.
    size : (3,) > 0 [m]
        Edge lengths of the box along the axes of its frame.
    rounding : float ≥ 0, optional [m]
        Radius of the edges and corners of the box, below half its smallest edge length. Faces stay where they are.
    drawn : bool, optional
        Whether the contact draws the box. Default: when it is on ground; a body draws itself.
    **law
        restitution, friction, rolling_resistance, spinning_resistance, radius_contensou, tangential_restitution,
        stribeck_speed, stribeck_exponent: see `Contact`.

    Raises
    ------
    ParameterError
        Radius or size not positive, both frames on one node, coefficients out of range.

    Notes
    -----
    One contact is one nearest point: a sphere in the corner between two boxes needs one contact with each. A sphere
    that flies into or through the box within one step is hit where it first touches (docs/theory/sweep).

    Examples
    --------
    >>> from fem_mbs import Model, RigidBody
    >>> model, ball = Model(), RigidBody.sphere(1.0, 0.1, position=[0, 0, 1])
    >>> SphereOnBox(ball, model.ground, radius=0.1, size=[2, 1, 0.4], restitution=0.5, name="block")
    SphereOnBox 'block': sphere=Node6, radius=0.1, size=[2, 1, 0.4], restitution=0.5
    """

    parameters = parameters(("half", "f8", (3,)), ("rounding", "f8"))
    kernels = {"contact": contact, "contact_hessian": contact_hessian}
    nearest = staticmethod(_nearest)
    convex = True

    @property
    def solid(self) -> tuple[np.ndarray, float]:
        return 0.5 * self.size - self.rounding, self.rounding

    @property
    def smallest_radius(self) -> float | None:
        return self.rounding

    def __init__(
        self,
        sphere: FrameLike,
        box: FrameLike,
        *,
        radius: float,
        size: ArrayLike,
        rounding: float = 0.0,
        drawn: bool | None = None,
        name: str | None = None,
        **law: Any,
    ) -> None:
        self.name = name
        rounding = self.positive("rounding", rounding, "m", allow_zero=True)
        super().__init__(sphere, box, radius=radius, allow_point=rounding > 0, name=name, **law)
        self._set_size(self.as_lengths("size", size), drawn, rounding)
        message = f"m must be below half the smallest edge length, {0.5 * self.size.min():.6g} m"
        self.check(2 * rounding < self.size.min(), "rounding", rounding, message)

    def _set_size(self, size, drawn, rounding=0.0):
        self.size, self.rounding = size, rounding
        self.drawn = isinstance(self.shape.node, Ground) if drawn is None else self.as_flag("drawn", drawn)
        self.record = (*self.poses, 0.5 * size - rounding, rounding)

    def picture(self) -> list:
        if not self.drawn:
            return []
        from fem_mbs.shapes import Box

        return self.placed(Box, self.size)


class SphereOnRectangle(SphereOnBox):
    """A sphere that can touch both sides and the edges of a thin rectangular plate: a table top, a ledge, a blade.

    Parameters
    ----------
    sphere : Frame, Node or body
        Its origin is the centre of the sphere.
    plate : Frame, Node or body
        The rectangle is centred on its origin in the x-y plane.
    radius : float > 0 [m]
    size : (2,) > 0 [m]
        Edge lengths along the x and y axes of the frame.
    drawn : bool, optional
        Whether the contact draws the rectangle. Default: when it is on ground.
    **law
        restitution, friction, rolling_resistance, spinning_resistance, radius_contensou, tangential_restitution,
        stribeck_speed, stribeck_exponent: see `Contact`.

    Raises
    ------
    ParameterError
        Radius or size not positive, both frames on one node, coefficients out of range.

    Notes
    -----
    The plate has no thickness. A sphere that crosses it within one step is hit where it first touches
    (docs/theory/sweep). For an endless plane use `SphereOnPlane`.

    Examples
    --------
    >>> from fem_mbs import Model, RigidBody
    >>> model, ball = Model(), RigidBody.sphere(1.0, 0.1, position=[0, 0, 1])
    >>> SphereOnRectangle(ball, model.ground, radius=0.1, size=[2, 1], restitution=0.5, name="table")
    SphereOnRectangle 'table': sphere=Node6, radius=0.1, size=[2, 1, 0], restitution=0.5
    """

    def __init__(
        self,
        sphere: FrameLike,
        plate: FrameLike,
        *,
        radius: float,
        size: ArrayLike,
        drawn: bool | None = None,
        name: str | None = None,
        **law: Any,
    ) -> None:
        SphereShapeContact.__init__(self, sphere, plate, radius=radius, name=name, **law)
        self._set_size(np.append(self.as_lengths("size", size, 2), 0.0), drawn)

    def picture(self) -> list:
        if not self.drawn:
            return []
        from fem_mbs.shapes import Patch

        return self.placed(Patch, self.size[:2])


def _frames(rng, A, B):
    return A.frame(0.3 * rng.normal(size=3)), B.frame(0.3 * rng.normal(size=3), rng.normal(size=3))


register(
    SphereOnBox,
    example=lambda rng, A, B: SphereOnBox(
        *_frames(rng, A, B), radius=rng.uniform(0.1, 1.0), size=rng.uniform(0.2, 1.0, size=3),
        rounding=rng.uniform(0, 0.09),
    ),
)  # fmt: skip
register(
    SphereOnRectangle,
    example=lambda rng, A, B: SphereOnRectangle(
        *_frames(rng, A, B), radius=rng.uniform(0.1, 1.0), size=rng.uniform(0.2, 1.0, size=2)
    ),
)
