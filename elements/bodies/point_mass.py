"""Point mass: a rigid body without inertia about its own centre.

    M = [ m I   −m R c̃ ;  m c̃ Rᵀ   −m c̃c̃ ]   and the other terms of `fem_mbs.elements.bodies.rigid_body` with J_c = 0

Source: docs/theory/bodies.md, (1)-(5). Symbols: see `fem_mbs.elements.bodies.rigid_body`.
"""

from typing import Any

from fem_mbs.arguments.checked import ArrayLike, FrameLike
from fem_mbs.element.base import Inertia, register
from fem_mbs.elements.bodies.rigid_body import PARAMETERS, energy, inertia, inertia_tangent
from fem_mbs.nodes import Frame, Node, Node3
from fem_mbs.rotations import skew


class PointMass(Inertia):
    """A mass in one point: a separate particle, or mass added to a node.

    Parameters
    ----------
    mass : float > 0 [kg]
    position, velocity : (3,) [m], [m/s], inertial axes
        Of the particle; a `Node3` is made for it. Ignored when ``at`` is given.
    at : Frame, Node or body, optional
        Add the mass here instead; with a frame, at its origin (off-centre if it has an offset).
    fixed : components that never move, see `Node3`
    name : str, optional

    Raises
    ------
    ParameterError
        Mass not positive.

    Notes
    -----
    On a `Node6` without any other inertia the rotation stays massless: use `RigidBody`, or fix the rotation.

    Examples
    --------
    >>> bob = PointMass(0.5, position=[0, 0, -1], name="bob")
    """

    parameters = PARAMETERS
    kernels = {"inertia": inertia, "inertia_tangent": inertia_tangent, "energy": energy}

    def __init__(
        self,
        mass: float,
        *,
        position: ArrayLike = (0, 0, 0),
        velocity: ArrayLike = (0, 0, 0),
        at: FrameLike | None = None,
        fixed: Any = (),
        name: str | None = None,
    ) -> None:
        self.name = name
        if at is None:
            place = Frame(Node3(position, velocity=velocity, fixed=fixed, name=name))
            place.node.body = self
        else:
            place = self.as_frame("at", at)
        super().__init__((place.node,), name=name)
        self.mass = self.positive("mass", mass, "kg")
        self.center = place.p
        offset = skew(place.p)
        self.record = (self.mass, place.p, -self.mass * offset @ offset)

    @property
    def node(self) -> Node:
        return self.nodes[0]

    def frame(self, p: ArrayLike = (0, 0, 0), rotation: ArrayLike | None = None, *, name: str | None = None) -> Frame:
        """Attachment frame on the node of this mass, see `Node.frame`; the default is the point itself."""
        name = self.name if name is None else name
        return Frame(self.node, self.center + self.as_vector("p", p), rotation, name=name)


register(PointMass, example=lambda rng, a: PointMass(rng.uniform(0.5, 2.0), at=a.frame(rng.normal(size=3))))
