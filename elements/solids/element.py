"""Solid elements: tetrahedra, hexahedra and wedges on nodes with translations.

Lumped masses are those of Hinton, Rock and Zienkiewicz: the diagonal of the consistent matrix, scaled to the mass,

    m_a = m · d_a/Σ_b d_b ,   d_a = ∫ ρ N_a² dV                                                                     (1)

which are positive for every cell; row sums of quadratic cells are negative at their corners. Nodes that touch may be
light: they keep a part of (1), and the other nodes of their element get the rest, evenly.

Source: docs/theory/solids.md, section 4; Hinton, Rock & Zienkiewicz, Earthq. Eng. Struct. Dyn. 4 (1976).
"""

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from fem_mbs.arguments.checked import ArrayLike
from fem_mbs.element.base import Element, register
from fem_mbs.elements.solids import enhanced as with_modes
from fem_mbs.elements.solids import kernels
from fem_mbs.elements.solids.material import LAWS, SolidMaterial
from fem_mbs.errors import ParameterError, label
from fem_mbs.jit import address
from fem_mbs.mesh.cells import CELLS, Cell
from fem_mbs.mesh.mesh import sound
from fem_mbs.nodes import Ground, Node, Node3

STRAIGHT = 1e-13  # relative differences of ∂X/∂ξ within a cell that are round-off
KERNELS = {
    "inertia": kernels.inertia,
    "inertia_tangent": kernels.inertia_tangent,
    "force": kernels.force,
    "force_tangent": kernels.force_tangent,
    "energy": kernels.energy,
    "trouble": kernels.trouble,
}
GEOMETRIC = kernels.geometric
MASSES = ("consistent", "lumped")
LIGHT = 0.01  # of its mass that a light node keeps; without any, impacts would have no inverse of the mass


def records(
    cell: Cell, dtype: np.dtype, X: np.ndarray, material: SolidMaterial, damping: float, lumped: bool
) -> np.ndarray:
    """Parameters of elements with nodes X (n, nn, 3); the caller checks that volumes are positive."""
    found = np.zeros(len(X), dtype)
    found["X"] = X
    found["w"] = cell.stiffness.volumes(X)
    found["m"] = material.density * cell.mass.volumes(X)
    found["nodal"] = _lumped(cell, found["m"]) if lumped else found["m"] @ cell.mass.shapes
    found["lam"], found["mu"], found["beta"] = material.lam, material.mu, damping
    found["mass"] = found["m"].sum(axis=1)
    ratio = found["w"] / cell.stiffness.weights, found["m"] / (material.density * cell.mass.weights)
    spread = [np.ptp(part, axis=1) / np.abs(part).max(axis=1) for part in ratio]
    found["affine"] = np.maximum(*spread) < STRAIGHT
    found["law"], found["lumped"] = LAWS[material.law], int(lumped)
    place(cell, found)
    return found


def place(cell: Cell, made: np.ndarray) -> None:
    """Put the addresses of the arrays of the cell into records."""
    made["gradients_at"], made["products_at"] = address(cell.stiffness.gradients), address(cell.products)


def _lumped(cell, m):
    """Masses (n, nn) [kg] of nodes by (1), from those of the points of integration."""
    diagonal = m @ cell.mass.shapes**2
    return diagonal * (m.sum(axis=1) / diagonal.sum(axis=1))[:, None]


def lighten(cell: Cell, made: np.ndarray, touching: np.ndarray) -> None:
    """Make nodes (n, nn) light in records (n,); elements that have one are lumped, and need a node that is none."""
    rows = np.flatnonzero(touching.any(axis=1))
    light, nodal = touching[rows], _lumped(cell, made["m"][rows])
    given = (1.0 - LIGHT) * np.where(light, nodal, 0.0).sum(axis=1) / (~light).sum(axis=1)
    made["nodal"][rows] = np.where(light, LIGHT * nodal, nodal + given[:, None])
    made["lumped"][rows] = 1


class SolidElement(Element):
    """Base of solid elements; a body of many is made by `SolidBody`, which checks them all at once.

    Parameters
    ----------
    nodes : sequence of Node3, in the numbering of VTK
    material : SolidMaterial
    mass : {"consistent", "lumped"}
        Consistent for accuracy; lumped makes the mass matrix diagonal. Lumped quadratic elements are poor: their
        frequencies converge with order 1 only.
    damping : float ≥ 0 [s]
        β of damping proportional to the stiffness: a mode of circular frequency ω has the damping ratio β ω/2.
    reference : (nn, 3) [m], optional
        Where the nodes are without stress; default: where they are.
    name : str, optional

    Raises
    ------
    ParameterError
        Wrong number or kind of nodes; one node twice; a cell that is inverted or flat at an
        integration point.
    """

    cell: Cell  # of the class
    numbers_per_node = 3
    kernels = KERNELS
    geometric = GEOMETRIC
    enhanced: ClassVar[bool] = False  # whether it has incompatible modes
    checked_within = 0.006  # of its size: more would invert it
    material: SolidMaterial

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if "cell" in vars(cls):
            cell = cls.cell
            cls.parameters = kernels.parameters(cell.nn, len(cell.stiffness.weights), len(cell.mass.weights))

    def __init__(
        self,
        nodes: Sequence[Node],
        material: SolidMaterial,
        *,
        mass: str = "consistent",
        damping: float = 0.0,
        reference: ArrayLike | None = None,
        name: str | None = None,
    ) -> None:
        self.name = name
        nn = self.cell.nn
        self.check(isinstance(nodes, (list, tuple)), "nodes", nodes, f"must be a list of {nn} Node3")
        super().__init__(nodes, name=name)
        self.check(len(self.nodes) == nn, "nodes", len(self.nodes), f"of them; a {type(self).__name__} has {nn}")
        for node in self.nodes:
            self.check(
                isinstance(node, (Node3, Ground)), "nodes", node, "must be a Node3: nodes of solids have no rotation"
            )
        self.check(len(set(map(id, self.nodes))) == nn, "nodes", self.nodes, "has a node twice")
        self.material = self.as_instance("material", material, SolidMaterial, "a SolidMaterial")
        lumped = self.as_choice("mass", mass, MASSES) == "lumped"
        beta = self.positive("damping", damping, "s", allow_zero=True)
        if reference is None:
            X = np.array([node.position for node in self.nodes])
        else:
            X = self.as_array("reference", reference, (nn, 3))
        made = records(self.cell, self.parameters, X[None], self.material, beta, lumped)
        if not sound((made["w"], made["m"]))[0]:
            raise ParameterError(self, "nodes", X.tolist(), "are those of a cell that is flat or inverted")
        self.viscous, self.record = beta > 0.0, made[0]

    def place(self) -> None:
        made = np.array(self.record)  # a record that comes from another process cannot be written to
        if made.dtype == self.parameters:
            place(self.cell, made)
            self.record = made[()]

    def trouble(self, state: Any) -> str | None:
        """Describe the fault of a state, or None: an inverted element."""
        made = self.record["X"].copy()
        for k, node in enumerate(self.nodes):
            made[k] = state.x[node.index]
        least = float((self.cell.stiffness.volumes(made[None])[0] / self.record["w"]).min())
        if least > 0.0:
            return None
        where = np.round(made.mean(axis=0), 6).tolist()
        return (
            f"{label(self)} near {where} m is inverted (det F = {least:.3g}). Use smaller load steps or time "
            "steps, a finer mesh, or the neo-Hookean law"
        )


class Tetra4(SolidElement):
    """Tetrahedron of 4 nodes, constant strain: far too stiff in bending. For geometry, and where strain is uniform.

    Parameters as `SolidElement`.
    """

    cell = CELLS["tetra"]


class Tetra10(SolidElement):
    """Tetrahedron of 10 nodes, 4 points: the element for parts of any form.

    Parameters as `SolidElement`.
    """

    cell = CELLS["tetra10"]


class Hexa8(SolidElement):
    """Hexahedron of 8 nodes: for contact and waves; too stiff in bending, see `Hexa8Enhanced`.

    Parameters as `SolidElement`.
    """

    cell = CELLS["hexahedron"]


class Hexa20(SolidElement):
    """Hexahedron of 20 nodes, 27 points: the element for parts that can be divided into bricks.

    Parameters as `SolidElement`.
    """

    cell = CELLS["hexahedron20"]


class Wedge6(SolidElement):
    """Wedge of 6 nodes, to fill between hexahedra of 8 nodes; too stiff in bending.

    Parameters as `SolidElement`.
    """

    cell = CELLS["wedge"]


class Wedge15(SolidElement):
    """Wedge of 15 nodes, to fill between hexahedra of 20 nodes.

    Parameters as `SolidElement`.
    """

    cell = CELLS["wedge15"]


class Hexa8Enhanced(SolidElement):
    """Hexahedron of 8 nodes with 9 incompatible strains: bends as it should with one element per thickness.

    Parameters as `SolidElement`. Not for strong compression: below stretches of 0.7 it has false folding modes.
    """

    cell = CELLS["hexahedron"]
    enhanced = True
    kernels = KERNELS | {
        "force": with_modes.force,
        "force_tangent": with_modes.force_tangent,
        "energy": with_modes.energy,
    }
    geometric = with_modes.geometric


def example(kind: Any, rng: np.random.Generator, law: str | None = None) -> SolidElement:
    """A distorted, damped element of random law and mass."""
    nodes = kind.cell.points @ (np.eye(3) + 0.1 * rng.normal(size=(3, 3)))
    nodes = nodes + 0.02 * rng.normal(size=nodes.shape)
    law = law or ("neo-hookean" if rng.random() < 0.5 else "st-venant-kirchhoff")
    material = SolidMaterial(rng.uniform(1.0, 2.0), rng.uniform(0.0, 0.4), rng.uniform(0.5, 2.0), law=law)
    mass = "lumped" if rng.random() < 0.3 else "consistent"
    return kind([Node3(x) for x in nodes], material, mass=mass, damping=rng.uniform(0.1, 0.3))


register(Tetra4, example=lambda rng: example(Tetra4, rng))
register(Tetra10, example=lambda rng: example(Tetra10, rng))
register(Hexa8, example=lambda rng: example(Hexa8, rng))
register(Hexa20, example=lambda rng: example(Hexa20, rng))
register(Wedge6, example=lambda rng: example(Wedge6, rng))
register(Wedge15, example=lambda rng: example(Wedge15, rng))
register(Hexa8Enhanced, example=lambda rng: example(Hexa8Enhanced, rng))
SOLIDS: tuple[type[SolidElement], ...] = (Tetra4, Tetra10, Hexa8, Hexa20, Wedge6, Wedge15, Hexa8Enhanced)
DEFAULTS = {kind.cell.name: kind for kind in SOLIDS if kind is not Hexa8Enhanced}
