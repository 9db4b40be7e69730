"""Rigid body whose node may be anywhere on it.

With c the centre of mass in node axes, J = J_c − m c̃c̃ the inertia about the node:

    M a     = [ m (a_x + R (α × c)) ;  m c × Rᵀa_x + J α ]                                    a = (a_x, α)       (1)
    f       = [ m g − m R (Ω × (Ω × c)) ;  m c × Rᵀg − Ω × J Ω ]                                                (2)
    ∂(Ma)/∂q: (x,θ) −m R (α × c)~ ;  (θ,θ) m c̃ (Rᵀa_x)~                                                        (3)
    K = −∂f/∂q: (x,θ) −m R (Ω × (Ω × c))~ ;  (θ,θ) −m c̃ (Rᵀg)~                                                 (4)
    C = −∂f/∂v: (x,Ω) −m R ((Ω × c)~ + Ω̃ c̃) ;  (Ω,Ω) Ω̃ J − (J Ω)~                                             (5)

Source: docs/theory/bodies.md, (1)-(5) (Newton-Euler at the centre of mass moved to the node).

    symbol   code         shape   unit    meaning
    m        p.mass       ()      kg      mass
    c        p.c          (3,)    m       centre of mass from the node, node axes
    J        p.J          (3, 3)  kg m²   inertia about the node, node axes
    Ω, α     w_A, alpha_A (3,)    rad/s …  angular velocity and acceleration, node axes
"""

from typing import Any

import numpy as np

from fem_mbs.arguments.checked import ArrayLike, Keywords, Named
from fem_mbs.element.base import Inertia, register
from fem_mbs.errors import ParameterError, Warnings
from fem_mbs.jit import kernel, local_arrays, local_vector
from fem_mbs.nodes import Frame, Node6
from fem_mbs.rotations import (
    add_cross,
    add_R_skew,
    add_rotated,
    add_skew,
    add_skew_skew,
    cross,
    dot,
    exp,
    rotate,
    rotate_T,
    skew,
)

PARAMETERS = np.dtype([("mass", "f8"), ("c", "f8", (3,)), ("J", "f8", (3, 3))])


@kernel
def inertia(p, R_A, w_A, a_A, alpha_A, gravity, Ma, f):
    """Add (1) to Ma (6,) and (2) to f (6,)."""
    m = p.mass
    u, y = local_arrays("3, 3")
    for i in range(3):
        Ma[i] += m * a_A[i]
        f[i] += m * gravity[i]
    cross(alpha_A, p.c, u)
    add_rotated(m, R_A, u, Ma[0:3])
    rotate_T(R_A, a_A, y)
    add_cross(m, p.c, y, Ma[3:6])
    add_rotated(1.0, p.J, alpha_A, Ma[3:6])
    cross(w_A, p.c, y)
    cross(w_A, y, u)
    add_rotated(-m, R_A, u, f[0:3])
    rotate_T(R_A, gravity, y)
    add_cross(m, p.c, y, f[3:6])
    rotate(p.J, w_A, y)
    add_cross(-1.0, w_A, y, f[3:6])


@kernel
def inertia_tangent(p, R_A, w_A, a_A, alpha_A, gravity, M, C, K, Ka):
    """Add the mass matrix and (3)-(5) to M, Ka, K, C (6, 6)."""
    m = p.mass
    u, y = local_arrays("3, 3")
    for i in range(3):
        M[i, i] += m
        for j in range(3):
            M[3 + i, 3 + j] += p.J[i, j]
    rotate(p.J, w_A, y)
    add_skew(-1.0, y, C, 3, 3)
    for j in range(3):
        C[3, 3 + j] += w_A[1] * p.J[2, j] - w_A[2] * p.J[1, j]
        C[4, 3 + j] += w_A[2] * p.J[0, j] - w_A[0] * p.J[2, j]
        C[5, 3 + j] += w_A[0] * p.J[1, j] - w_A[1] * p.J[0, j]
    if p.c[0] == 0.0 and p.c[1] == 0.0 and p.c[2] == 0.0:
        return
    add_R_skew(-m, R_A, p.c, M, 0, 3)
    for i in range(3):
        for j in range(3):
            M[3 + j, i] = M[i, 3 + j]
    # (3)
    cross(alpha_A, p.c, u)
    add_R_skew(-m, R_A, u, Ka, 0, 3)
    rotate_T(R_A, a_A, y)
    add_skew_skew(m, p.c, y, Ka, 3, 3)
    # (4)
    cross(w_A, p.c, y)
    cross(w_A, y, u)
    add_R_skew(-m, R_A, u, K, 0, 3)
    rotate_T(R_A, gravity, u)
    add_skew_skew(-m, p.c, u, K, 3, 3)
    # (5): Ω̃c̃ = c Ωᵀ − (Ω·c) I
    add_R_skew(-m, R_A, y, C, 0, 3)
    wc = dot(w_A, p.c)
    rotate(R_A, p.c, y)
    for i in range(3):
        for j in range(3):
            C[i, 3 + j] += -m * (y[i] * w_A[j] - wc * R_A[i, j])


@kernel
def energy(p, x_A, R_A, gravity):
    """Potential energy −m g·(x + R c) [J]."""
    y = local_vector(3)
    rotate(R_A, p.c, y)
    return -p.mass * (dot(gravity, x_A) + dot(gravity, y))


class RigidBody(Inertia):
    """A rigid body.

    Parameters
    ----------
    mass : float ≥ 0 [kg]
        0, with an inertia of 0: a light link, whose motion must follow from constraints and the bodies at its ends.
    inertia : float, (3,) or (3, 3) [kg m²]
        About the centre of mass, in node axes: a number for a sphere, three principal moments, or the full tensor. A
        moment of 0 (thin rods about their axis) needs constraints that determine that rotation.
    position : (3,) [m]
        Of the node, inertial axes. Ignored when ``node`` is given, as the three that follow.
    rotation : matrix, rotation vector [rad] or quaternion, optional
    velocity : (3,) [m/s]
        Of the node, inertial axes.
    angular_velocity : (3,) [rad/s], inertial axes
    center : (3,) [m], optional
        Centre of mass from the node, node axes. For bodies with impacts or fast spin keep the node at the centre of
        mass (default): errors are much smaller (docs/theory/decoupled_nsga.md, decision 11).
    node : Node6, optional
        Use this node instead of making one (a body on the end of a beam).
    fixed : components that never move, see `Node6`
    shape : Shape or list of Shape, optional
        Drawn in ParaView, see `fem_mbs.shapes`.
    allow_nonphysical : bool
        Accept an inertia that violates the triangle inequality (published test data sometimes do).
    name : str, optional

    Raises
    ------
    ParameterError
        Mass negative; inertia not symmetric, not positive semidefinite, violating the triangle inequality, or without
        mass. Models whose motion mass and constraints do not determine are rejected when they are compiled or started,
        and those with components without mass by `LobattoIIIAB`.

    Examples
    --------
    >>> rod = RigidBody(0.3, [1e-5, 2e-3, 2e-3], position=[0.15, 0, 0], name="rod")
    """

    rigid_body = True
    _mesh_center: np.ndarray | None = None
    parameters = PARAMETERS
    kernels = {"inertia": inertia, "inertia_tangent": inertia_tangent, "energy": energy}

    def __init__(
        self,
        mass: float,
        inertia: ArrayLike,
        *,
        position: ArrayLike = (0, 0, 0),
        rotation: ArrayLike | None = None,
        velocity: ArrayLike = (0, 0, 0),
        angular_velocity: ArrayLike = (0, 0, 0),
        center: ArrayLike = (0, 0, 0),
        node: Node6 | None = None,
        fixed: Any = (),
        shape: Any = None,
        allow_nonphysical: bool = False,
        name: str | None = None,
    ) -> None:
        self.name = name
        if node is not None:
            self.as_instance("node", node, Node6)
        else:
            motion = {"velocity": velocity, "angular_velocity": angular_velocity}
            node = Node6(position, rotation, **motion, fixed=fixed, name=name)
            node.body = self
        super().__init__((node,), name=name)
        self.mass = self.positive("mass", mass, "kg", True)
        self.inertia = self._check_inertia(inertia, self.as_flag("allow_nonphysical", allow_nonphysical))
        self.center = self.as_vector("center", center)
        self.shapes = [] if shape is None else list(shape) if isinstance(shape, (list, tuple)) else [shape]
        for one in self.shapes:
            self.check(hasattr(one, "faces"), "shape", one, "is not a shape, such as fem.shapes.Sphere(0.1)")
        J = self.inertia
        if any(self.center.tolist()):
            offset = skew(self.center)
            J = J - self.mass * offset @ offset
        self.record = (self.mass, self.center, J)

    def _check_inertia(self, inertia, allow_nonphysical):
        if (principal := self._short_vector(inertia, 3)) is not None:
            moments, J = sorted(principal.tolist()), np.diag(principal)
        elif (one := self._short_vector((inertia,), 1)) is not None:
            moments, J = 3 * one.tolist(), one * np.eye(3)
        else:
            J = self.as_array("inertia", inertia)
            J = J * np.eye(3) if J.ndim == 0 else np.diag(J) if J.shape == (3,) else J
            good = "must be a number, three principal moments or a 3×3 tensor"
            self.check(J.shape == (3, 3), "inertia", inertia, good)
            self.check(np.abs(J - J.T).max() <= 1e-9 * np.abs(J).max(), "inertia", J, "kg m² is not symmetric")
            moments = np.linalg.eigvalsh(J).tolist()
        low, middle, high = moments
        physical = allow_nonphysical or high <= low + middle + 1e-9 * high
        if low >= -1e-12 * high and (self.mass > 0.0 or not J.any()) and physical:
            return J
        text = f"has principal moments ({', '.join(f'{m:.4g}' for m in moments[::-1])}) kg m²"
        self.check(low >= -1e-12 * high, "inertia", J, f"{text}; all must be ≥ 0")
        message = f"{text}, and the body has no mass: give the mass, or inertia=0"
        self.check(self.mass > 0.0 or not J.any(), "inertia", J, message)
        raise ParameterError(
            self,
            "inertia",
            J,
            f"{text}; the largest exceeds the sum of the others, which no real body does. Is it in kg m² rather than "
            "kg mm², and about the centre of mass? (allow_nonphysical=True accepts it.)",
        )

    @property
    def node(self) -> Node6:
        return self.nodes[0]

    @property
    def position(self) -> np.ndarray:
        return self.node.position

    def frame(self, p: ArrayLike = (0, 0, 0), rotation: ArrayLike | None = None, *, name: str | None = None) -> Frame:
        """Attachment frame on this body, see `Node.frame`; offsets are from the node."""
        return Frame(self.node, p, rotation, name=self.name if name is None else name)

    def frame_at(self, position: ArrayLike, rotation: ArrayLike | None = None, *, name: str | None = None) -> Frame:
        """Attachment frame at an initial position in inertial axes, see `Node.frame_at`."""
        return self.node.frame_at(position, rotation, name=self.name if name is None else name)

    def picture(self) -> list:
        return [(self.node, shape) for shape in self.shapes]

    @classmethod
    @Keywords.known
    def sphere(cls, mass: float, radius: float, **options: Any) -> "RigidBody":
        """Homogeneous sphere: inertia 2/5 m r²; drawn as a sphere."""
        from fem_mbs.shapes import Sphere

        owner = Named(cls.__name__, options.get("name"))
        mass, radius = owner.positive("mass", mass, "kg", True), owner.positive("radius", radius, "m")
        return cls(mass, 0.4 * mass * radius**2, **{"shape": Sphere(radius), **options})

    @classmethod
    @Keywords.known
    def ellipsoid(cls, mass: float, semi_axes: ArrayLike, **options: Any) -> "RigidBody":
        """Homogeneous ellipsoid of semi-axes (3,) [m] along the node axes: about x m/5 (b² + c²); drawn as such."""
        from fem_mbs.shapes import Ellipsoid

        owner = Named(cls.__name__, options.get("name"))
        mass, semi_axes = owner.positive("mass", mass, "kg", True), owner.as_lengths("semi_axes", semi_axes)
        squares = semi_axes**2
        return cls(mass, mass / 5 * (squares.sum() - squares), **{"shape": Ellipsoid(semi_axes), **options})

    @classmethod
    @Keywords.known
    def box(cls, mass: float, size: ArrayLike, **options: Any) -> "RigidBody":
        """Homogeneous box of edge lengths size (3,) [m] along the node axes; drawn as a box."""
        from fem_mbs.shapes import Box

        owner = Named(cls.__name__, options.get("name"))
        mass, size = owner.positive("mass", mass, "kg", True), owner.as_lengths("size", size)
        x, y, z = (edge * edge for edge in size.tolist())
        total = x + y + z
        moments = [mass / 12 * (total - square) for square in (x, y, z)]
        return cls(mass, moments, **{"shape": Box(size), **options})

    @classmethod
    @Keywords.known
    def cylinder(
        cls, mass: float, radius: float, length: float, axis: ArrayLike = (0, 0, 1), **options: Any
    ) -> "RigidBody":
        """Homogeneous cylinder about an axis (3,), unit, of the node axes; drawn as a cylinder."""
        from fem_mbs.shapes import Cylinder

        owner = Named(cls.__name__, options.get("name"))
        mass, radius = owner.positive("mass", mass, "kg", True), owner.positive("radius", radius, "m")
        length, a = owner.positive("length", length, "m"), owner.unit_vector("axis", axis)
        along, across = mass * radius**2 / 2, mass * (3 * radius**2 + length**2) / 12
        J = across * np.eye(3) + (along - across) * np.outer(a, a)
        shape = Cylinder(-0.5 * length * a, 0.5 * length * a, radius)
        return cls(mass, J, **{"shape": shape, **options})

    @classmethod
    @Keywords.known
    def capsule(
        cls, mass: float, radius: float, length: float, axis: ArrayLike = (0, 0, 1), **options: Any
    ) -> "RigidBody":
        """Homogeneous capsule about an axis (3,), unit, of the node axes; drawn as a capsule.

        ``length`` [m] is that of its axis, between the centres of the round ends.
        """
        from fem_mbs.shapes import Capsule

        owner = Named(cls.__name__, options.get("name"))
        mass, r = owner.positive("mass", mass, "kg", True), owner.positive("radius", radius, "m")
        length, a = owner.positive("length", length, "m"), owner.unit_vector("axis", axis)
        balls = mass / (1 + 0.75 * length / r)  # mass of both ends; that of a cylinder is proportional to π r² length
        rod = mass - balls
        along = rod * r**2 / 2 + 0.4 * balls * r**2
        across = rod * (3 * r**2 + length**2) / 12 + balls * (0.4 * r**2 + length**2 / 4 + 3 * length * r / 8)
        J = across * np.eye(3) + (along - across) * np.outer(a, a)
        shape = Capsule(-0.5 * length * a, 0.5 * length * a, r)
        return cls(mass, J, **{"shape": shape, **options})

    @classmethod
    @Warnings.kept
    @Keywords.known
    def from_mesh(
        cls, mesh: Any, density: float, *, scale: float = 1.0, color: Any = None, **options: Any
    ) -> "RigidBody":
        """Body of constant density [kg/m³] from a mesh of its surface or volume, see `fem_mbs.mass_of_mesh`.

        The node is the centre of mass. Without ``position`` the body is where the mesh is, its axes inertial ones; with
        it the centre of mass is put there. It is drawn as it is, in a ``color``, unless ``shape`` is given.
        `mesh_frame` is where the mesh has its origin.
        """
        from fem_mbs.mesh.mass import mass_of_mesh, surface_of

        found = mass_of_mesh(mesh, density, scale=scale)
        shape = surface_of(mesh, scale, -found.center, color)
        given = {"position": found.center} | ({} if shape is None else {"shape": shape})
        body = cls(found.mass, found.inertia, **{**given, **options})
        body._mesh_center = found.center
        return body

    @property
    def mesh_frame(self) -> Frame:
        """Frame of the coordinates of the mesh that the body was made from (`from_mesh`), in metres."""
        if self._mesh_center is None:
            message = "is not available, as the body has no mesh; RigidBody.from_mesh makes bodies of them"
            raise ParameterError(self, "mesh_frame", self.name, message)
        return self.frame(-self._mesh_center)


def _example(rng, node):
    Q = exp(rng.normal(size=3))
    sides = rng.uniform(0.5, 1.0, size=3) ** 2
    J = Q @ np.diag([sides[1] + sides[2], sides[0] + sides[2], sides[0] + sides[1]]) @ Q.T
    return RigidBody(rng.uniform(0.5, 2.0), J, center=rng.normal(size=3), node=node)


register(RigidBody, example=_example)
