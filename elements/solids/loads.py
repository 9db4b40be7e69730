"""Loads on solid bodies and shells: pressure and traction on faces, force per volume, force per length of edges.

Pressure p acts along the inward normal of the deformed face (follower), traction t per area and body force b per volume
of the unloaded body, in fixed directions. With the points of the face's rule, weights w, and x_,i = Σ x_a ∂N_a/∂ξ_i

    pressure   f_a = −p Σ_q w N_a x_,1 × x_,2                                                                       (1)
               K_ab = p Σ_q w N_a [ N_b,2 x̃_,1 − N_b,1 x̃_,2 ]                                                       (2)
    traction   f_a = t Σ_q w N_a |X_,1 × X_,2| ,       body force   f_a = b Σ_q w N_a                                (3)
    on edges   f_a = ½ l t, l the length of the unloaded edge                                                       (4)

Single faces of (2) are not symmetric; a pressure on a closed surface has a potential, others have none in general. (3)
has the potential −Σ f_a·x_a where it does not depend on time.

Source: docs/theory/solids.md, section 6; Bonet & Wood, Nonlinear Continuum Mechanics for FE Analysis, 8.5.

    symbol    code        shape     unit   meaning
    p         p.size                Pa     times the function of time s[0, 0]
    f_a       p.load      (nn, 3)   N      of (3), times the same; p.has_potential = 1: it is constant
    ∂N/∂ξ     p.gradients           -      (q, 2, nn), of the points of the face; p.weighted (q, nn): weight times N
"""

from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from fem_mbs.arguments.checked import ArrayLike, Checked
from fem_mbs.data_table import Item, Table
from fem_mbs.element.base import Force, register
from fem_mbs.elements.solids.faces import nodal_areas, places_of_faces
from fem_mbs.elements.solids.mesh_body import MeshBody
from fem_mbs.errors import ParameterError
from fem_mbs.functions.signals import Signal
from fem_mbs.jit import kernel, local_vector
from fem_mbs.mesh.cells import FACES
from fem_mbs.nodes import Node3

if TYPE_CHECKING:
    from fem_mbs.elements.shells.body import ShellBody

PRESSURE = Table(
    "pressure on a face",
    {
        "size": Item("", "p [Pa]"),
        "gradients": Item("points 2 nn", "∂N/∂ξ"),
        "weighted": Item("points nn", "weight times N"),
    },
)


@kernel
def edges(N, x, q, x_1, x_2):
    """Fill x_1 and x_2 (3,) with x_,1 and x_,2 at point q."""
    for i in range(3):
        x_1[i] = x_2[i] = 0.0
        for a in range(len(x)):
            x_1[i] += x[a, i] * N[q, 0, a]
            x_2[i] += x[a, i] * N[q, 1, a]


@kernel
def pressure(p, x, s, f):
    """Add (1) to f (3 nn,)."""
    nn, x_1, x_2 = len(x), local_vector(3), local_vector(3)
    N, W = p.gradients, p.weighted
    size = p.size * s[0, 0]
    for q in range(p.size_points):
        edges(N, x, q, x_1, x_2)
        for i in range(3):
            j, k = (i + 1) % 3, (i + 2) % 3
            normal = size * (x_1[j] * x_2[k] - x_1[k] * x_2[j])
            for a in range(nn):
                f[3 * a + i] -= W[q, a] * normal


@kernel
def pressure_tangent(p, x, s, K):
    """Add (2) to K (3 nn, 3 nn)."""
    nn, x_1, x_2 = len(x), local_vector(3), local_vector(3)
    N, W = p.gradients, p.weighted
    size = p.size * s[0, 0]
    for q in range(p.size_points):
        edges(N, x, q, x_1, x_2)
        for a in range(nn):
            for b in range(nn):
                for i in range(3):
                    j, k = (i + 1) % 3, (i + 2) % 3
                    d = size * W[q, a] * (N[q, 1, b] * x_1[k] - N[q, 0, b] * x_2[k])
                    e = size * W[q, a] * (N[q, 1, b] * x_1[j] - N[q, 0, b] * x_2[j])
                    K[3 * a + i, 3 * b + j] -= d
                    K[3 * a + i, 3 * b + k] += e


@kernel
def dead(p, s, f):
    """Add (3) to f (3 nn,)."""
    for a in range(len(p.load)):
        for i in range(3):
            f[3 * a + i] += s[0, 0] * p.load[a, i]


@kernel
def dead_tangent(p, K):
    """(3) has none."""


@kernel
def energy_of_load(p, x, s):
    """Potential of (3) [J]; 0 of what depends on time."""
    total = 0.0
    if p.has_potential == 1:
        for a in range(len(p.load)):
            for i in range(3):
                total -= s[0, 0] * p.load[a, i] * x[a, i]
    return total


def _factor(owner: Checked, signal: Any) -> Signal:
    """The function of time that scales a load; one of numbers."""
    found = Signal.of(owner.as_motion("signal", 1.0 if signal is None else signal))
    try:
        owner.number("signal", found(0.0))
    except (TypeError, ValueError) as error:
        if isinstance(error, ParameterError):
            raise
        raise ParameterError(owner, "signal", signal, f"must return numbers: {error}") from error
    return found


class PressureFace(Force):
    """Pressure on one face; `SurfacePressure` makes those of a group of faces.

    Parameters
    ----------
    nodes : sequence of 3, 4, 6 or 8 Node3 or Node6
        As seen from outside: corners counter-clockwise, then the middle nodes of their edges.
    pressure : float [Pa], > 0 presses inwards
    signal : float, callable or Signal, optional
        Factor or function of time.
    name : str, optional

    Raises
    ------
    ParameterError
        A wrong number of nodes.
    """

    numbers_per_node = 3
    has_no_moments = True
    circulatory = True
    checked_within = 0.05
    parameters = PRESSURE.dtype
    kernels = {"force": pressure, "force_tangent": pressure_tangent}
    viscous = False

    def __init__(self, nodes: Any, pressure: float, *, signal: Any = None, name: str | None = None) -> None:
        self.name = name
        super().__init__(nodes, name=name, signals=[_factor(self, signal)])
        self.check(len(self.nodes) in FACES, "nodes", len(self.nodes), "of them; a face has 3, 4, 6 or 8")
        self._size = self.number("pressure", pressure, "Pa")
        self.place()

    def place(self) -> None:
        cell = FACES[len(self.nodes)]
        arrays = {"gradients": cell.stiffness.gradients, "weighted": cell.weighted_shapes}
        self.record = PRESSURE.values({"size": self._size}, arrays)


class NodalLoad(Force):
    """Forces of fixed direction on the nodes of one face or cell; tractions and body forces are made of them.

    Parameters
    ----------
    nodes : sequence of Node3 or Node6
    load : (nn, 3) [N], inertial axes
    signal : float, callable or Signal, optional
        Factor or function of time.
    name : str, optional

    Raises
    ------
    ParameterError
        Not one force for each node.
    """

    numbers_per_node = 3
    has_no_moments = True
    external = by_time = True
    invariant = viscous = False
    kernels = {"force": dead, "force_tangent": dead_tangent, "energy": energy_of_load}
    RECORDS: ClassVar[dict[int, np.dtype]] = {}

    def __init__(self, nodes: Any, load: ArrayLike, *, signal: Any = None, name: str | None = None) -> None:
        self.name = name
        super().__init__(nodes, name=name, signals=[_factor(self, signal)])
        self.record = (self.as_array("load", load, (len(self.nodes), 3)), int(self.conservative))

    @property
    def parameters(self) -> np.dtype:  # type: ignore[override]
        """Record of the parameters, for this number of nodes."""
        nn = len(self.nodes)
        return self.RECORDS.setdefault(nn, np.dtype([("load", "f8", (nn, 3)), ("has_potential", "i8")]))

    @property
    def conservative(self) -> bool:
        """True if the load has a potential."""
        return self.signals[0].constant


class _BodyLoad(Checked):
    """Base of loads that are made of many elements; ``model.add(load)`` adds them.

    A function of time is one signal of all elements: it is evaluated once.
    """

    def __init__(self, body: MeshBody, signal: Any, name: str | None) -> None:
        self.name = name
        what = "a SolidBody or a ShellBody. A superelement takes PointForce on nodes of its SuperelementSurface"
        self.body = self.as_instance("body", body, MeshBody, what)
        self.signal = _factor(self, signal)
        self.elements: list[Force] = []

    def _label(self, k):
        return None if self.name is None else f"{self.name} {k}"

    def _as_load(self, parameter, value):
        """The vector (3,) of the load; for a function the error names the right parameter."""
        message = "is a function: give a vector here, and a function of time that scales it as signal="
        self.check(not callable(value), parameter, value, message)
        return self.as_vector(parameter, value)

    def _add_dead(self, places, shares, load):
        """Add shares (nn,) of a load (3,) at nodes ``places`` (nn,) of the body."""
        nodes, forces = [self.body.nodes[i] for i in places], np.outer(shares, load)
        self.elements.append(NodalLoad(nodes, forces, signal=self.signal, name=self._label(len(self.elements))))

    @property
    def total(self) -> np.ndarray:
        """Resultant (3,) [N] with a factor of one, of the unloaded body, inertial axes."""
        return sum(element.record[0].sum(axis=0) for element in self.elements)


class SurfacePressure(_BodyLoad):
    """Pressure on the faces of a group, along the normals of the deformed body (follower).

    Parameters
    ----------
    body : SolidBody or ShellBody
    group : str
        Faces, or nodes of the boundary: then the faces all of whose nodes are in the group. Of a shell its cells, or
        nodes.
    pressure : float [Pa], > 0 presses inwards, on shells against their normals
    signal : float, callable or Signal, optional
        Factor or function of time that scales the pressure, e.g. ``ramp(duration=1)``.
    name : str, optional

    Attributes
    ----------
    elements : list of PressureFace
    area : float [m²], of the unloaded faces

    Raises
    ------
    ParameterError
        No such group, no faces in it, or faces that are not on the boundary of the body.

    Examples
    --------
    >>> from fem_mbs.mesh.block import block_mesh
    >>> from fem_mbs.elements.solids.body import SolidBody
    >>> from fem_mbs.elements.solids.material import SolidMaterial
    >>> block = SolidBody(block_mesh([1, 1, 1], [2, 2, 2]), SolidMaterial(1e6, 0.3, 1000.0))
    >>> (SurfacePressure(block, "z1", 2e3).total.round(9) + 0.0).tolist()
    [0.0, 0.0, -2000.0]
    """

    def __init__(
        self, body: MeshBody, group: str, pressure: float, *, signal: Any = None, name: str | None = None
    ) -> None:
        super().__init__(body, signal, name)
        self.pressure = self.number("pressure", pressure, "Pa")
        self._places = places_of_faces(self, body, group)
        for k, places in enumerate(self._places):
            nodes = [body.nodes[i] for i in places]
            self.elements.append(PressureFace(nodes, self.pressure, signal=self.signal, name=self._label(k)))

    @property
    def area(self) -> float:
        return float(sum(np.linalg.norm(normals, axis=1).sum() for normals in self._normals()))

    def _normals(self):
        """w X_,1 × X_,2 (q, 3) of each face of the unloaded body, inertial axes."""
        for places in self._places:
            rule = FACES[len(places)].stiffness
            J = rule.jacobians(np.array([self.body.nodes[i].position for i in places])[None])[0]
            yield rule.weights[:, None] * np.cross(J[..., 0], J[..., 1])

    @property
    def total(self) -> np.ndarray:
        return -self.pressure * sum(normals.sum(axis=0) for normals in self._normals())


class SurfaceTraction(_BodyLoad):
    """Force per area of the unloaded faces of a group, of fixed direction.

    Parameters
    ----------
    body : SolidBody or ShellBody
    group : str
        Faces, or nodes of the boundary: then the faces all of whose nodes are in the group.
    traction : (3,) [N/m²], inertial axes
    signal : float, callable or Signal, optional
        Factor or function of time that scales the traction.
    name : str, optional

    Attributes
    ----------
    elements : list of NodalLoad

    Raises
    ------
    ParameterError
        No such group, no faces in it, or faces that are not on the boundary of the body.
    """

    def __init__(
        self, body: MeshBody, group: str, traction: ArrayLike, *, signal: Any = None, name: str | None = None
    ) -> None:
        super().__init__(body, signal, name)
        self.traction = self._as_load("traction", traction)
        for places in places_of_faces(self, body, group):
            self._add_dead(places, nodal_areas(body, places), self.traction)


class BodyForce(_BodyLoad):
    """Force per volume of the unloaded body, of fixed direction. Weight is the model's own gravity.

    Parameters
    ----------
    body : SolidBody or ShellBody
    force : (3,) [N/m³], inertial axes
    signal : float, callable or Signal, optional
        Factor or function of time that scales the force.
    name : str, optional

    Attributes
    ----------
    elements : list of NodalLoad
    """

    def __init__(self, body: MeshBody, force: ArrayLike, *, signal: Any = None, name: str | None = None) -> None:
        super().__init__(body, signal, name)
        self.force = self._as_load("force", force)
        for rows, shares in body.nodal_volumes():
            for places, share in zip(rows, shares):
                self._add_dead(places, share, self.force)


class EdgeTraction(_BodyLoad):
    """Force per length of the unloaded edges of a shell, of fixed direction.

    Parameters
    ----------
    body : ShellBody
    group : str
        Line cells (a physical curve of Gmsh); or nodes of a line: all edges of the shell with both ends in it.
    traction : (3,) [N/m], inertial axes
    signal : float, callable or Signal, optional
        Factor or function of time that scales the traction.
    name : str, optional

    Attributes
    ----------
    elements : list of NodalLoad

    Raises
    ------
    ParameterError
        Not a shell; no such group, no edges in it; nodes with edges of the rim and others inside between them.
    """

    def __init__(
        self, body: "ShellBody", group: str, traction: ArrayLike, *, signal: Any = None, name: str | None = None
    ) -> None:
        super().__init__(body, signal, name)
        self.check(body.is_surface, "body", body, "must be a ShellBody: others have no edges")
        self.traction = self._as_load("traction", traction)
        for places in body.edges_of(self, group):
            length = float(np.linalg.norm(np.diff(body.reference[places], axis=0)))
            self._add_dead(places, [0.5 * length, 0.5 * length], self.traction)


def _pressed(rng):
    nn = int(rng.choice([3, 4, 6, 8]))
    flat = FACES[nn].points
    places = np.column_stack([flat, 0.1 * rng.normal(size=nn)]) + 0.05 * rng.normal(size=(nn, 3))
    return PressureFace([Node3(x) for x in places], rng.normal(), signal=rng.uniform(0.5, 1.5))


def _loaded(rng):
    nn = int(rng.choice([3, 4, 6, 8]))
    return NodalLoad([Node3(rng.normal(size=3)) for _ in range(nn)], rng.normal(size=(nn, 3)))


register(PressureFace, example=_pressed)
register(NodalLoad, example=_loaded)
