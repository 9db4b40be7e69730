"""Capsules: sphere against capsule, capsule against capsule, capsule on a plane; on rigid bodies or along beams.

A capsule is all that is within a radius of a segment, whose ends are fixed to one rigid body or to two nodes (a beam).
Equations, symbols and source: `fem_mbs.elements.contacts.shapes.capsule_kernels`.

One contact is one point: capsules that lie along each other need further contacts (`SphereOnCapsule` at their ends). A
capsule on a plane touches with its ends: two contacts of spheres.
"""

from typing import Any

import numpy as np

from fem_mbs.arguments.checked import FrameLike
from fem_mbs.element.base import Part, register
from fem_mbs.element.contact import Contact
from fem_mbs.elements.contacts.shapes.capsule_kernels import PARAMETERS, contact, contact_hessian, nearest
from fem_mbs.elements.contacts.shapes.sphere_plane import SphereOnPlane
from fem_mbs.errors import ParameterError


def _ends(owner, parameter, item):
    """Frames (first, second) of the ends of a capsule: a pair, or a beam."""
    if hasattr(item, "frame_A") and hasattr(item, "frame_B"):
        item = (item.frame_A, item.frame_B)
    try:
        first, second = item
    except (TypeError, ValueError):
        raise ParameterError(owner, parameter, item, "is not a pair of frames, nor a beam") from None
    ends = owner.as_frame(parameter, first), owner.as_frame(parameter, second)
    if np.linalg.norm(ends[1].position - ends[0].position) == 0.0:
        raise ParameterError(owner, parameter, item, "has both ends at the same position; for a sphere use one frame")
    return ends


class CapsuleContact(Contact):
    """Common base of contacts between capsules: nodes, record and the configurations at which they are smooth."""

    parameters = PARAMETERS
    kernels = {"contact": contact, "contact_hessian": contact_hessian}
    convex = True

    @property
    def passage(self) -> float:
        return float(sum(self.record[2]))

    @property
    def reach(self) -> float:
        z = [frame.position for frame in self.ends]
        return float(max(np.linalg.norm(z[1] - z[0]), np.linalg.norm(z[3] - z[2])) + max(self.record[2]))

    def _connect(self, first, second, radii, name, law):
        """Take the ends (one or two frames, two frames) and both radii."""
        self.ends = (*first, *first)[:2] + tuple(second)
        nodes = []
        for frame in self.ends:
            if not any(frame.node is other for other in nodes):
                nodes.append(frame.node)
        number = [next(i for i, node in enumerate(nodes) if node is frame.node) for frame in self.ends]
        super().__init__(nodes, name=name, **law)
        message = "has a node in common with the first; they can never part"
        self.check(not set(number[:2]) & set(number[2:]), "second", self.ends[2], message)
        self.sides = tuple(dict.fromkeys(number[:2])), tuple(dict.fromkeys(number[2:]))
        self.record = (np.array([f.p for f in self.ends]), number, radii, len(first) - 1)

    def crosses(self, x: np.ndarray, R: np.ndarray) -> bool:
        """True if both nearest points are inside the axes at poses x (nn, 3), R (nn, 3, 3)."""
        p, z, at, v, c = np.zeros(1, PARAMETERS), np.empty((4, 3)), np.empty(4), np.empty(3), np.empty(4)
        p[0] = self.record
        nearest(p[0], x, R, z, at, v, c)
        return bool(at[2] == at[3] == 1.0)

    def regular(self, point: Any) -> bool:
        """True if a configuration of `fem_mbs.verify` is away from where σ or τ reach an end and axes are parallel."""
        p = np.zeros(1, PARAMETERS)
        p[0] = self.record
        near = 0.02 * max(np.linalg.norm(node.position - self.nodes[0].position) for node in self.nodes)
        z, at, v, c, states, normals = np.empty((4, 3)), np.empty(4), np.empty(3), np.empty(4), [], []
        rng = np.random.default_rng(0)
        for k in range(13):
            moved = near * rng.normal(size=point.x.shape) * (k > 1)
            x, R = (point.x0, point.R0) if k == 0 else (point.x + moved, point.R)
            nearest(p[0], x, R, z, at, v, c)
            normals.append(v / np.linalg.norm(v))
            states.append(tuple(np.where(at[2:] == 1, 2, at[:2])) if k else None)
        e_A, e_B = z[1] - z[0], z[3] - z[2]
        parallel = np.linalg.norm(np.cross(e_A, e_B)) < 0.4 * np.linalg.norm(e_A) * np.linalg.norm(e_B)
        close = np.linalg.norm(v) < 30 * near
        same = all(state == states[1] for state in states[1:])
        parallel = parallel and self.record[3] == 1
        return bool(same and not close and not parallel and normals[0] @ normals[1] > -0.85)


class SphereOnCapsule(CapsuleContact):
    """A sphere that can touch a capsule: a rod with round ends, or a beam between its two nodes.

    Parameters
    ----------
    sphere : Frame, Node or body
        Its origin is the centre of the sphere.
    capsule : pair of Frame, or Beam
        Ends of the axis: two frames of one body, frames or nodes of two, or a beam, whose axis is taken as straight
        between its ends.
    radius : float ≥ 0 [m]
        Of the sphere.
    radius_capsule : float > 0 [m]
    **law
        restitution, friction, rolling_resistance, spinning_resistance, radius_contensou, tangential_restitution,
        stribeck_speed, stribeck_exponent: see `Contact`.

    Raises
    ------
    ParameterError
        Radii, a capsule without length, a node on both sides, coefficients out of range.

    Notes
    -----
    A line of beams needs one contact for each beam; where two meet both may be closed, and the multipliers are
    shared.

    Examples
    --------
    >>> from fem_mbs import RigidBody
    >>> rod = RigidBody.cylinder(1.0, 0.05, 1.0, axis=(1, 0, 0), name="rod")
    >>> ball = RigidBody.sphere(1.0, 0.1, position=[0, 0, 0.5])
    >>> ends = rod.frame([-0.5, 0, 0]), rod.frame([0.5, 0, 0])
    >>> SphereOnCapsule(ball, ends, radius=0.1, radius_capsule=0.05, restitution=0.6, name="hit")
    SphereOnCapsule 'hit': radius=0.1, radius_capsule=0.05, restitution=0.6
    """

    def __init__(
        self,
        sphere: FrameLike,
        capsule: Any,
        *,
        radius: float,
        radius_capsule: float,
        name: str | None = None,
        **law: Any,
    ) -> None:
        self.name = name
        self.radius = self.positive("radius", radius, "m", allow_zero=True)
        self.radius_capsule = self.positive("radius_capsule", radius_capsule, "m")
        ends = _ends(self, "capsule", capsule)
        self._connect((self.as_frame("sphere", sphere),), ends, (self.radius, self.radius_capsule), name, law)


class CapsuleOnCapsule(CapsuleContact):
    """Two capsules that can touch: rods with round ends, or beams between their nodes.

    Parameters
    ----------
    capsule_A, capsule_B : pair of Frame, or Beam
        Ends of the axes: two frames of one body, frames or nodes of two, or a beam, whose axis is taken as straight
        between its ends.
    radius_A, radius_B : float > 0 [m]
    **law
        restitution, friction, rolling_resistance, spinning_resistance, radius_contensou, tangential_restitution,
        stribeck_speed, stribeck_exponent: see `Contact`.
        Impulses and slip are those of the first capsule relative to the second.

    Raises
    ------
    ParameterError
        Radii not positive, a capsule without length, a node on both sides, coefficients out of range.

    Notes
    -----
    One contact is one point: rods that cross. For rods that lie along each other add `SphereOnCapsule` contacts at the
    ends of the shorter one.

    Examples
    --------
    >>> from fem_mbs import RigidBody
    >>> low = RigidBody.cylinder(1.0, 0.05, 1.0, axis=(1, 0, 0), name="low")
    >>> high = RigidBody.cylinder(1.0, 0.05, 1.0, axis=(0, 1, 0), position=[0, 0, 0.2], name="high")
    >>> a = high.frame([0, -0.5, 0]), high.frame([0, 0.5, 0])
    >>> b = low.frame([-0.5, 0, 0]), low.frame([0.5, 0, 0])
    >>> CapsuleOnCapsule(a, b, radius_A=0.05, radius_B=0.05, friction=0.3, name="crossing")
    CapsuleOnCapsule 'crossing': radius_A=0.05, radius_B=0.05, friction=0.3
    """

    def __init__(
        self, capsule_A: Any, capsule_B: Any, *, radius_A: float, radius_B: float, name: str | None = None, **law: Any
    ) -> None:
        self.name = name
        self.radius_A = self.positive("radius_A", radius_A, "m")
        self.radius_B = self.positive("radius_B", radius_B, "m")
        first, second = _ends(self, "capsule_A", capsule_A), _ends(self, "capsule_B", capsule_B)
        self._connect(first, second, (self.radius_A, self.radius_B), name, law)


class CapsuleOnPlane(Part):
    """A capsule that can touch a plane: two `SphereOnPlane` contacts, one at each end, which is all that can touch.

    Parameters
    ----------
    capsule : pair of Frame, or Beam
        Ends of the axis: two frames of one body, frames or nodes of two, or a beam.
    plane : Frame, Node or body
        The plane contains its origin; its z axis is the normal and points to the side where the capsule may be.
    radius : float > 0 [m]
        Of the capsule.
    drawn_size : float ≥ 0, optional [m]
        Edge length of the square patch that draws the plane, see `SphereOnPlane`.
    name : str, optional
        The contacts are called "name 1" and "name 2", after the ends.
    **law
        restitution, friction, rolling_resistance, spinning_resistance, radius_contensou, tangential_restitution,
        stribeck_speed, stribeck_exponent: see `Contact`.

    Attributes
    ----------
    elements : list of the two contacts

    Raises
    ------
    ParameterError
        Radius not positive, a capsule without length, a common node, coefficients out of range.

    Examples
    --------
    >>> from fem_mbs import Model, RigidBody
    >>> model, rod = Model(), RigidBody.cylinder(1.0, 0.05, 1.0, axis=(1, 0, 0), position=[0, 0, 1], name="rod")
    >>> ends = rod.frame([-0.5, 0, 0]), rod.frame([0.5, 0, 0])
    >>> floor = model.add(CapsuleOnPlane(ends, model.ground, radius=0.05, friction=0.3, name="floor"))
    >>> [contact.name for contact in floor.elements]
    ['floor 1', 'floor 2']
    """

    options_of = Contact

    def __init__(
        self,
        capsule: Any,
        plane: FrameLike,
        *,
        radius: float,
        drawn_size: float | None = None,
        name: str | None = None,
        **law: Any,
    ) -> None:
        self.name = name
        self.radius = self.positive("radius", radius, "m")
        first, second = _ends(self, "capsule", capsule)
        names = (None, None) if name is None else (f"{name} 1", f"{name} 2")
        self.elements = [
            SphereOnPlane(first, plane, radius=radius, drawn_size=drawn_size, name=names[0], **law),
            SphereOnPlane(second, plane, radius=radius, drawn_size=0.0, name=names[1], **law),
        ]


def _random_ends(rng, A, B):
    return A.frame(0.2 * rng.normal(size=3)), B.frame(0.2 * rng.normal(size=3))


register(
    SphereOnCapsule,
    example=lambda rng, A, B, C: SphereOnCapsule(
        A.frame(0.2 * rng.normal(size=3)), _random_ends(rng, B, C), radius=rng.uniform(0, 0.5),
        radius_capsule=rng.uniform(0.1, 0.5),
    ),
)  # fmt: skip
register(
    CapsuleOnCapsule,
    example=lambda rng, A, B, C, D: CapsuleOnCapsule(
        _random_ends(rng, A, B), _random_ends(rng, C, D), radius_A=rng.uniform(0.1, 0.5), radius_B=rng.uniform(0.1, 0.5)
    ),
)
