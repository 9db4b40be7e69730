"""Sphere against a cylinder, outside or inside of it; both may be attached to moving bodies.

Sphere of radius r about P on body A; cylinder of radius R_c and half length l (or infinite) whose axis is the z axis
of frame Q on body B, its middle at the origin. With ρ the distance of the sphere's centre y from the axis, e the unit
vector across the axis towards y, h = z × e, s = +1 outside, −1 inside, the nearest point is on

    wall  |y_z| ≤ l               φ = s (ρ − R_c) ,  n = s e ,  N = s h hᵀ/ρ                                        (1)
    rim   |y_z| > l               v = (ρ − R_c) e + (y_z ∓ l) z ,  φ = |v| ,  n = v/φ ,
                                  N = (e eᵀ + z zᵀ − n nᵀ)/φ + (ρ − R_c)/(ρ φ) h hᵀ                                  (2)
    end   outside, ρ < R_c        φ = |y_z| − l ,  n = ±z ,  N = 0                                                  (3)

and gap = φ − r; tangents, slip and gradients follow from these as for every shape (shape_contact). Outside, the
cylinder is solid: flat ends and round edges count. Inside, it is a pipe: open ends whose rim counts; a bottom is a
`SphereOnPlane`. φ and n are continuous, N jumps between (1), (2) and (3). On the axis, where the wall has no single
nearest point, e is the x axis and N = 0: inside, the gap is then the clearance and nothing touches.

Source: distance to a cylinder, elementary; G_N, N and slip checked by differences.

    symbol    code         shape  unit  meaning
    r, R_c    radius, radius_C ()  m    radii of the sphere and of the cylinder
    l         half         ()     m     half the length of the cylinder, 1e300 for an endless one
    s         side         ()     -     +1 outside, −1 inside
"""

import math
from typing import Any

import numpy as np

from fem_mbs.arguments.checked import FrameLike
from fem_mbs.element.base import register
from fem_mbs.elements.contacts.shapes.shape_contact import (
    SphereShapeContact,
    parameters,
    sphere_contact,
    sphere_hessian,
)
from fem_mbs.jit import kernel
from fem_mbs.nodes import Ground

_ON_AXIS = 1e-9  # of the radius of the cylinder
_ENDLESS = 1e300  # m; parameters of a compiled model are finite


@kernel
def _nearest(p, y, n, N):
    """Distance [m] of the point y (3,) from the cylinder by (1)-(3); fills n (3,) and N (3, 3)."""
    R = p.radius_C
    rho = math.sqrt(y[0] * y[0] + y[1] * y[1])
    off_axis = rho > _ON_AXIS * abs(R)  # negative for rings (clearance)
    ex, ey = (y[0] / rho, y[1] / rho) if off_axis else (1.0, 0.0)
    over = abs(y[2]) - p.half
    end = 1.0 if y[2] > 0.0 else -1.0
    for i in range(3):
        n[i] = 0.0
        for j in range(3):
            N[i, j] = 0.0
    around = 0.0  # factor of h hᵀ
    if p.side > 0.0 and rho < R and over > rho - R:
        n[2] = end
        return over
    if over <= 0.0:
        n[0], n[1] = p.side * ex, p.side * ey
        distance = p.side * (rho - R)
        around = p.side / rho if off_axis else 0.0
    else:
        distance = math.sqrt((rho - R) * (rho - R) + over * over)
        across, along = (rho - R) / distance, end * over / distance
        n[0], n[1], n[2] = across * ex, across * ey, along
        # e eᵀ + z zᵀ − n nᵀ = q qᵀ with q = (−along e + across z), across the rim
        qx, qy, qz = -along * ex, -along * ey, across
        N[0, 0], N[0, 1], N[0, 2] = qx * qx / distance, qx * qy / distance, qx * qz / distance
        N[1, 0], N[1, 1], N[1, 2] = qy * qx / distance, qy * qy / distance, qy * qz / distance
        N[2, 0], N[2, 1], N[2, 2] = qz * qx / distance, qz * qy / distance, qz * qz / distance
        around = across / rho if off_axis else 0.0
    N[0, 0] += around * ey * ey
    N[0, 1] -= around * ex * ey
    N[1, 0] -= around * ex * ey
    N[1, 1] += around * ex * ex
    return distance


@kernel
def contact(p, node_A, node_B, rows):
    """Gap and rows of a sphere against the shape (1)-(3)."""
    sphere_contact(_nearest, p, node_A, node_B, rows)


@kernel
def contact_hessian(p, x_A, R_A, x_B, R_B, H_N):
    """Add ∂G_N/∂q to H_N (12, 12)."""
    sphere_hessian(_nearest, p, x_A, R_A, x_B, R_B, H_N)


class _SphereCylinder(SphereShapeContact):
    """Common base of both sides: checks, record and drawing."""

    parameters = parameters(("radius_C", "f8"), ("half", "f8"), ("side", "f8"))
    kernels = {"contact": contact, "contact_hessian": contact_hessian}
    nearest = staticmethod(_nearest)
    side = 1.0

    def __init__(
        self,
        sphere: FrameLike,
        cylinder: FrameLike,
        *,
        radius: float,
        radius_cylinder: float,
        length: float = np.inf,
        drawn_length: float | None = None,
        name: str | None = None,
        **law: Any,
    ) -> None:
        endless = length is None or (isinstance(length, float) and length == np.inf)
        # at an edge without rounding a point has no normal
        super().__init__(sphere, cylinder, radius=radius, allow_point=endless, name=name, **law)
        self.radius_cylinder = self.positive("radius_cylinder", radius_cylinder, "m")
        self._check_clearance()
        self.length = np.inf if endless else self.positive("length", length, "m")
        if drawn_length is None:
            drawn_length = 0.0
            if isinstance(self.shape.node, Ground):
                drawn_length = 6.0 * self.radius_cylinder if endless else self.length
        self.drawn_length = self.positive("drawn_length", drawn_length, "m", allow_zero=True)
        self.record = (*self.poses, self.radius_cylinder, min(0.5 * self.length, _ENDLESS), self.side)

    def _check_clearance(self):
        """Raise an error for a sphere that does not fit in; outside all do."""


class SphereOnCylinder(_SphereCylinder):
    """A sphere that can touch a solid cylinder from outside: a roller, a shaft, a peg, a disc.

    Parameters
    ----------
    sphere : Frame, Node or body
        Its origin is the centre of the sphere.
    cylinder : Frame, Node or body
        Its z axis is the axis of the cylinder, its origin the middle of it.
    radius, radius_cylinder : float > 0 [m]
        A radius of 0, a point, requires an infinite cylinder.
    length : float > 0, optional [m]
        With its flat ends and their edges. Default: infinite.
    drawn_length : float ≥ 0, optional [m]
        Length of the cylinder that is drawn, 0 for none. Default: ``length`` (six radii when infinite) for a cylinder
        on ground, 0 otherwise: a body draws itself.
    **law
        restitution, friction, rolling_resistance, spinning_resistance, radius_contensou, tangential_restitution,
        stribeck_speed, stribeck_exponent: see `Contact`.

    Raises
    ------
    ParameterError
        Radius or length not positive, both frames on one node, coefficients out of range.

    Notes
    -----
    Tangent t1 is along the axis while the sphere is on the wall. An edge that the sphere rolls over is round off by
    its radius; for a point at an edge use a small sphere.

    Examples
    --------
    >>> from fem_mbs import Model, RigidBody
    >>> model, ball = Model(), RigidBody.sphere(1.0, 0.1, position=[0, 1.1, 0])
    >>> SphereOnCylinder(ball, model.ground, radius=0.1, radius_cylinder=1.0, friction=0.3, name="roller")
    SphereOnCylinder 'roller': sphere=Node6, radius=0.1, radius_cylinder=1, friction=0.3
    """

    convex = True

    @property
    def solid(self) -> tuple[np.ndarray, float] | None:
        return (np.array([0.0, 0.0, np.inf]), self.radius_cylinder) if np.isinf(self.length) else None

    @property
    def smallest_radius(self) -> float | None:
        return self.radius_cylinder if np.isinf(self.length) else 0.0  # edges are sharp

    def picture(self) -> list:
        if self.drawn_length == 0.0:
            return []
        from fem_mbs.shapes import Cylinder

        end = [0, 0, 0.5 * self.drawn_length]
        return self.placed(Cylinder, np.negative(end), end, self.radius_cylinder)


class SphereInCylinder(_SphereCylinder):
    """A sphere in a hollow cylinder: a ball in a tube, in a groove or in a drum.

    Parameters
    ----------
    sphere : Frame, Node or body
        Its origin is the centre of the sphere.
    cylinder : Frame, Node or body
        Its z axis is the axis of the cylinder, its origin the middle of it.
    radius, radius_cylinder : float > 0 [m]
        radius < radius_cylinder; the difference is the clearance. A radius of 0, a point, requires an
        infinite cylinder.
    length : float > 0, optional [m]
        Of a pipe with open ends; the sphere can roll over their rims. Default: infinite. Close an end by a
        `SphereOnPlane`.
    drawn_length : float ≥ 0, optional [m]
        Length of the half pipe (side y < 0 of the frame) that is drawn, 0 for none. Default: ``length`` (six radii when
        infinite) for a cylinder on ground, 0 otherwise.
    **law
        restitution, friction, rolling_resistance, spinning_resistance, radius_contensou, tangential_restitution,
        stribeck_speed, stribeck_exponent: see `Contact`.

    Raises
    ------
    ParameterError
        Radii or length not positive, no clearance, both frames on one node, coefficients out of range.

    Notes
    -----
    Tangent t1 is along the axis while the sphere is on the wall. The pipe has no outside: a sphere that has left
    through an end must not come back outside it (add a `SphereOnCylinder` for that).

    Examples
    --------
    >>> from fem_mbs import Model, RigidBody
    >>> model, ball = Model(), RigidBody.sphere(1.0, 0.1, position=[0, -0.8, 0])
    >>> SphereInCylinder(ball, model.ground, radius=0.1, radius_cylinder=1.0, friction=0.3, name="drum")
    SphereInCylinder 'drum': sphere=Node6, radius=0.1, radius_cylinder=1, friction=0.3
    """

    side = -1.0

    @property
    def hollow(self) -> bool:
        return bool(np.isinf(self.length))  # the rims of a pipe touch anywhere

    def _check_clearance(self):
        message = f"m leaves no clearance: it must be larger than radius = {self.radius:.6g} m"
        self.check(self.radius_cylinder > self.radius, "radius_cylinder", self.radius_cylinder, message)
        self.room = self.radius_cylinder - self.radius

    def picture(self) -> list:
        if self.drawn_length == 0.0:
            return []
        from fem_mbs.shapes import Mesh

        angle, z = np.pi * np.arange(25) / 24, 0.5 * self.drawn_length
        arc = self.radius_cylinder * np.stack([-np.cos(angle), -np.sin(angle)], axis=1)
        points = np.vstack([np.column_stack([arc, np.full(25, end)]) for end in (-z, z)])
        i = np.arange(24)
        return self.placed(Mesh, points, [np.stack([i, 25 + i, 26 + i, i + 1], axis=1)])


def _example(cls, largest):
    def make(rng, A, B):
        a, b = A.frame(0.3 * rng.normal(size=3)), B.frame(0.3 * rng.normal(size=3), rng.normal(size=3))
        length = rng.choice([np.inf, 0.5, 2.0])
        return cls(a, b, radius=rng.uniform(0.1, largest), radius_cylinder=rng.uniform(0.5, 1.0), length=length)

    return make


register(SphereOnCylinder, example=_example(SphereOnCylinder, 1.0))
register(SphereInCylinder, example=_example(SphereInCylinder, 0.4))
