"""Strains and stresses of solid elements from the positions of their nodes.

    F = Σ x_a ⊗ ∂N_a/∂X ,   E = ½(FᵀF − I) ,   σ = F S Fᵀ/J                                                        (1)
    S = λ tr(E) I + 2μ E        or        S = μ(I − C⁻¹) + λ ln J C⁻¹                                              (2)
    von Mises  √(3/2 s:s), s = σ − tr(σ)/3 I ;   principal stresses: eigenvalues of σ, rising                      (3)

at the points of the stiffness rule, where they are most accurate. Hexahedra with incompatible modes have E = E(u) +
Σ α_k M_k; F is then that with the same rotation, F = R U, U² = I + 2E. At nodes: the (tri)linear field that fits the
points best, and the mean of the elements that meet there, weighted with their volumes.

What an element is made of is kept as numbers, so that a results file can be read without the model.

Source: docs/theory/solids.md, section 7.
"""

from collections.abc import Callable
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from fem_mbs.mesh.cells import CELLS, Cell, outer_faces
from fem_mbs.stresses.solid_stress_kernels import add_at_nodes, large, principal, small

CHUNK = 4096  # elements whose points are looked at at once
FIELDS = {"strain": 6, "stress": 6, "principal_stress": 3, "von_mises": 1}  # name -> components, of point data
ORDER = ((0, 0), (1, 1), (2, 2), (0, 1), (1, 2), (0, 2))  # xx, yy, zz, xy, yz, xz: symmetric tensors of VTK
PLAIN, NEO_HOOKE, ENHANCED = 0, 1, 2  # bits of the column "law"
ITERATIONS = 30
PAIRS = ((0, 0, 0), (1, 1, 1), (2, 2, 2), (0, 1, 0), (0, 1, 1), (1, 2, 1), (1, 2, 2), (0, 2, 0), (0, 2, 2))


class Block(NamedTuple):
    """Solid elements of one type of cell: all that their stress depends on except positions.

    Attributes
    ----------
    cell : Cell
    nodes : (n, nn) int, rows of their nodes in the positions
    X : (n, nn, 3) [m], the unloaded elements
    material : (n, 3): λ, μ [Pa], and the law: sum of 1 for neo-Hookean and 2 for incompatible modes
    """

    cell: Cell
    nodes: np.ndarray
    X: np.ndarray
    material: np.ndarray


class Means:
    """Where blocks of elements meet at nodes, and with which weights: the same at all configurations.

    Attributes
    ----------
    nodes : (k,) int, rows of the nodes, rising
    rows : list of (n, nn) int, places in ``nodes``; volumes : list of (n,) [m³], both of each block
    weight : (k,) [m³], volumes of the elements that meet at a node
    """

    def __init__(self, blocks: list[Block]) -> None:
        numbers = [block.nodes.ravel() for block in blocks]
        self.nodes = np.unique(np.concatenate([np.zeros(0, np.int64), *numbers]))
        self.rows = [np.searchsorted(self.nodes, block.nodes) for block in blocks]
        self.volumes = [block.cell.stiffness.volumes(block.X).sum(axis=1) for block in blocks]
        self.weight = np.zeros(len(self.nodes))
        for rows, volumes in zip(self.rows, self.volumes):
            np.add.at(self.weight, rows, volumes[:, None])


class Fields:
    """Strains and stresses of solid elements at one configuration.

    Attributes
    ----------
    nodes : (k,) int, rows of the nodes, rising
    strain, stress : (k, 3, 3)
        Green-Lagrange strain, axes of the unloaded body [-]; Cauchy stress, inertial axes [Pa]; at the nodes.
    points : list of (strain, stress), each (n, q, 3, 3)
        The same at the points of integration, for each type of cell.
    """

    def __init__(
        self, blocks: list[Block], x: np.ndarray, at: Callable | None = None, means: Means | None = None
    ) -> None:
        at = at_points if at is None else at
        means = Means(blocks) if means is None else means
        self.points, self.nodes = [at(block, x) for block in blocks], means.nodes
        total = np.zeros((len(self.nodes), 2, 3, 3))
        for block, rows, volumes, (strain, stress) in zip(blocks, means.rows, means.volumes, self.points):
            add_at_nodes(np.ascontiguousarray(block.cell.extrapolation), rows, volumes, strain, stress, total)
        mean = total / np.maximum(means.weight, 1e-300)[:, None, None, None]
        self.strain, self.stress = mean[:, 0], mean[:, 1]

    def turned(self, R: np.ndarray) -> "Fields":
        """These, with stresses turned by R of all nodes of the blocks, numbered as ``nodes`` are; those at points stay.

        Of linear bodies: their strains and stresses are in axes that turn with them.
        """
        R = R[self.nodes]
        self.stress = R @ self.stress @ np.swapaxes(R, -1, -2)
        return self

    @property
    def von_mises(self) -> np.ndarray:
        """Von Mises stress (k,) [Pa]."""
        return von_mises(self.stress)

    @property
    def principal_stress(self) -> np.ndarray:
        """Principal stresses (k, 3) [Pa], rising."""
        found = np.empty((len(self.stress), 3))
        principal(np.ascontiguousarray(self.stress), found)
        return found

    def columns(self) -> dict[str, np.ndarray]:
        """Point data (k, c) of `FIELDS`."""
        return {
            "strain": components(self.strain),
            "stress": components(self.stress),
            "principal_stress": self.principal_stress,
            "von_mises": self.von_mises[:, None],
        }


def components(tensor: np.ndarray) -> np.ndarray:
    """Six components (…, 6), xx, yy, zz, xy, yz, xz, of symmetric tensors (…, 3, 3)."""
    return np.stack([tensor[..., i, j] for i, j in ORDER], axis=-1)


def von_mises(stress: np.ndarray) -> np.ndarray:
    """Von Mises stress (…) [Pa] of stresses (…, 3, 3)."""
    mean = np.trace(stress, axis1=-2, axis2=-1) / 3.0
    deviator = stress - mean[..., None, None] * np.eye(3)
    return np.sqrt(1.5 * np.einsum("...ij,...ij->...", deviator, deviator))


def at_points(block: Block, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Green-Lagrange strain and Cauchy stress (n, q, 3, 3) at the points of integration; x (N, 3) positions [m]."""
    return _at_points(block, x, large, _large_with_modes)


def linear_at_points(block: Block, u: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Small strain and stress (n, q, 3, 3) at the points of integration; u (N, 3) displacements [m]."""
    return _at_points(block, u, small, _small_with_modes)


def _at_points(block, x, plain, with_modes):
    rule, n = block.cell.stiffness, len(block.nodes)
    strain, stress = np.empty((n, len(rule.weights), 3, 3)), np.empty((n, len(rule.weights), 3, 3))
    numbers = [np.ascontiguousarray(part, float) for part in (rule.gradients, block.X, x, block.material)]
    nodes = np.ascontiguousarray(block.nodes, np.int64)
    plain(numbers[0], numbers[1], numbers[2], nodes, numbers[3], strain, stress)
    bent = np.flatnonzero(block.material[:, 2].astype(int) & ENHANCED)
    for first in range(0, len(bent), CHUNK):
        some = bent[first : first + CHUNK]
        X, material = block.X[some], block.material[some]
        F = np.einsum("eqij,eqjk->eqik", rule.jacobians(x[block.nodes[some]]), np.linalg.inv(rule.jacobians(X)))
        strain[some], stress[some] = with_modes(block.cell, X, F, *(material[:, k, None] for k in (0, 1, 2)))
    return strain, stress


def _large_with_modes(cell, X, F, lam, mu, law):
    E = 0.5 * (np.swapaxes(F, -1, -2) @ F - np.eye(3))
    hooke = law.astype(int) & NEO_HOOKE == 0
    E += _incompatible(cell, X, E, lam, mu, hooke)
    F = _rotation(F) @ _root(E)
    S, _ = law_of(E, lam, mu, hooke)
    return E, F @ S @ np.swapaxes(F, -1, -2) / np.linalg.det(F)[..., None, None]


def _small_with_modes(cell, X, F, lam, mu, law):
    E, hooke = 0.5 * (F + np.swapaxes(F, -1, -2)), np.ones((len(X), 1), bool)
    E += _incompatible(cell, X, E, lam, mu, hooke)
    return E, law_of(E, lam, mu, hooke)[0]


def law_of(E: np.ndarray, lam: np.ndarray, mu: np.ndarray, hooke: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """S (n, q, 3, 3) of (2) and elasticities (n, q, 6, 6) of strains E (n, q, 3, 3), strains with shears doubled.

    ``hooke`` (n, 1): of which elements the law is St. Venant-Kirchhoff.
    """
    one = np.eye(3)
    C = one + 2.0 * E
    with np.errstate(all="ignore"):  # of elements turned inside out there is no number
        log_J = 0.5 * np.log(np.where(hooke, 1.0, np.linalg.det(C)))
        D = np.where(hooke[..., None, None], one, np.linalg.inv(np.where(hooke[..., None, None], one, C)))
    trace = np.trace(E, axis1=-2, axis2=-1)
    linear = (lam * trace)[..., None, None] * one + 2.0 * mu[..., None, None] * E
    other = mu[..., None, None] * (one - D) + (lam * log_J)[..., None, None] * D
    b = np.where(hooke, mu, mu - lam * log_J)
    Q = np.empty((*E.shape[:2], 6, 6))
    for r, (i, j) in enumerate(ORDER):
        for c, (k, m) in enumerate(ORDER):
            crossed = D[..., i, k] * D[..., j, m] + D[..., i, m] * D[..., j, k]
            Q[..., r, c] = lam * D[..., i, j] * D[..., k, m] + b * crossed
    return np.where(hooke[..., None, None], linear, other), Q


def _incompatible(cell, X, E, lam, mu, hooke):
    """Σ α_k M_k (n, q, 3, 3), with α that makes the strain energy least."""
    rule, middle = cell.stiffness, cell.gradients(np.zeros((1, 3)))[0]
    J0 = np.einsum("ja,eai->eij", middle, X)
    h, w = np.linalg.inv(J0), rule.volumes(X)
    ratio = np.linalg.det(J0)[:, None] * rule.weights / w
    M = np.empty((*E.shape[:2], 9, 3, 3))
    for k, (i, j, m) in enumerate(PAIRS):
        both = np.einsum("ea,eb->eab", h[:, i], h[:, j])
        M[:, :, k] = (ratio * rule.points[:, m])[..., None, None] * (0.5 * (both + np.swapaxes(both, 1, 2)))[:, None]
    double = np.array([1.0, 1.0, 1.0, 2.0, 2.0, 2.0])
    V = components(M) * double
    alpha = np.zeros((len(X), 9))
    for _ in range(ITERATIONS):
        S, Q = law_of(E + np.einsum("ek,eqkij->eqij", alpha, M), lam, mu, hooke)
        r = np.einsum("eq,eqkc,eqc->ek", w, V, components(S))
        K = np.einsum("eq,eqkc,eqcd,eqmd->ekm", w, V, Q, V, optimize=True)
        step = np.linalg.solve(K, r[..., None])[..., 0]
        alpha -= step
        if not np.abs(step).max(initial=0.0) > 1e-12 * np.abs(alpha).max(initial=0.0):
            break
    return np.einsum("ek,eqkij->eqij", alpha, M)


def _rotation(F):
    """Polar rotations of F (…, 3, 3)."""
    U, _, W = np.linalg.svd(F)
    return U @ W


def _root(E):
    """√(I + 2E) of strains (…, 3, 3)."""
    values, vectors = np.linalg.eigh(np.eye(3) + 2.0 * E)
    return (vectors * np.sqrt(values)[..., None, :]) @ np.swapaxes(vectors, -1, -2)


class Solids:
    """All solid elements of a model as arrays that a file can hold.

    Attributes
    ----------
    type : (n,) int, cell types of VTK, in one run for each type
    connectivity : (m,) int, nodes of all elements, one after the other
    X : (m, 3) [m], where these are without stress
    material : (n, 3), see `Block`
    owner : (n,) int, numbers of the elements in the model
    color : (n,) int, number of the colour
    """

    type: np.ndarray
    connectivity: np.ndarray
    X: np.ndarray
    material: np.ndarray
    owner: np.ndarray
    color: np.ndarray
    ARRAYS = ("type", "connectivity", "X", "material", "owner", "color")

    def __init__(self, **arrays: Any) -> None:
        none = {"X": np.zeros((0, 3)), "material": np.zeros((0, 3))}
        for name in self.ARRAYS:
            setattr(self, name, np.asarray(arrays.get(name, none.get(name, np.zeros(0, np.int64)))))
        self.blocks: list[Block] = []
        self.rows: list[np.ndarray] = []  # elements of each block
        at = 0
        types: np.ndarray = self.type
        for cell in CELLS.values():
            rows = np.flatnonzero(types == cell.vtk)
            if len(rows):
                part = slice(at, at + len(rows) * cell.nn)
                nodes = self.connectivity[part].reshape(-1, cell.nn)
                X = self.X[part].reshape(-1, cell.nn, 3)
                self.blocks.append(Block(cell, nodes, X, self.material[rows]))
                self.rows.append(rows)
                at = part.stop
        self.nodes = np.unique(np.concatenate([np.zeros(0, np.int64), *(b.nodes.ravel() for b in self.blocks)]))

    def __len__(self) -> int:
        return len(self.type)

    @staticmethod
    def kinds() -> list[int]:
        """Cell types of VTK, in the order of the runs."""
        return [cell.vtk for cell in CELLS.values()]

    @staticmethod
    def corners(kind: int) -> int:
        """Number of nodes of a cell type of VTK."""
        return next(cell.nn for cell in CELLS.values() if cell.vtk == kind)

    def arrays(self) -> dict[str, np.ndarray]:
        """All arrays by name."""
        return {name: getattr(self, name) for name in self.ARRAYS}

    @classmethod
    def of(cls, groups: Any, number: dict[int, int], colors: dict[Any, int] | None = None) -> "Solids":
        """The solid elements among groups of a system; ``number``: element by its id -> its number in the model."""
        found = [group for group in groups if group.elements[0].cell is not None]
        found.sort(key=lambda group: list(CELLS).index(group.elements[0].cell.name))
        if not found:
            return cls()
        colors = {} if colors is None else colors
        parts: dict[str, list] = {name: [] for name in cls.ARRAYS}
        for group in found:
            first, p = group.elements[0], group.parameters
            parts["type"].append(np.full(group.n, first.cell.vtk))
            parts["connectivity"].append(group.nodes.ravel())
            parts["X"].append(p["X"].reshape(-1, 3))
            law = p["law"] + (ENHANCED if first.enhanced else 0)
            parts["material"].append(np.stack([p["lam"], p["mu"], law], axis=1))
            parts["owner"].append([number[id(element)] for element in group.elements])
            parts["color"].append([colors.setdefault(id(e.material), len(colors)) for e in group.elements])
        return cls(**{name: np.concatenate(arrays) for name, arrays in parts.items()})

    def fields(self, x: np.ndarray) -> Fields:
        """Strains and stresses at positions x (N, 3) [m]."""
        return Fields(self.blocks, x, means=self.means)

    @cached_property
    def means(self) -> Means:
        """Of all blocks."""
        return Means(self.blocks)

    def boundary(self) -> dict[int, np.ndarray]:
        """Number of nodes -> (k, nn) nodes of the outer faces, as seen from outside."""
        return outer_faces([(block.cell, block.nodes) for block in self.blocks])
