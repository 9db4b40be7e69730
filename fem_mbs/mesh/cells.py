"""Reference cells of solid elements: nodes, shape functions, integration points, faces.

Nodes are numbered as VTK and meshio do. The shape functions of a cell are the polynomials of its monomials with

    N_a(ξ_b) = δ_ab ,        N_a = Σ_k ξ^i_k η^j_k ζ^l_k (V⁻¹)_ka ,   V_ak = ξ_a^i_k η_a^j_k ζ_a^l_k                 (1)

where the monomials are those of degree 1 or 2 (tetrahedra), of degree 1 in each coordinate (8-node hexahedra), of
superlinear degree ≤ 2 (20-node hexahedra: factors ξ, η, ζ of power one do not count), and for wedges the products of
the triangle's with the line's, without those of quadratic in both. Rules of integration:

    cell          stiffness            mass, volume
    4 nodes       1 point              4 points of degree 2: N_a N_b is integrated exactly
    10            4 of degree 2        14 of degree 5 (Walkington)
    8, 20         2³, 3³ Gauss         the same
    6, 15         3 × 2, 6 × 3         the same; triangle of degree 2 and 4

A hexahedron of 20 nodes with 2³ points has six motions without energy in addition to those of a rigid body, which
survive in a row of elements: it is not offered.

Source: docs/theory/solids.md, section 2; Zienkiewicz, Taylor & Zhu, The Finite Element Method, ch. 6 (shape functions,
points); Walkington, Quadrature on simplices of arbitrary dimension (2000).
"""

import functools
import itertools
from typing import NamedTuple

import numpy as np

AT_ONCE = 8192  # cells, of which intermediate arrays are made
# edges of linear cells in the order in which VTK numbers the middle nodes of quadratic ones
TETRA_EDGES = [(0, 1), (1, 2), (2, 0), (0, 3), (1, 3), (2, 3)]
HEXA_EDGES = [(0, 1), (1, 2), (2, 3), (3, 0), (4, 5), (5, 6), (6, 7), (7, 4), (0, 4), (1, 5), (2, 6), (3, 7)]
WEDGE_EDGES = [(0, 1), (1, 2), (2, 0), (3, 4), (4, 5), (5, 3), (0, 3), (1, 4), (2, 5)]
TETRA_FACES = [(0, 2, 1), (0, 1, 3), (1, 2, 3), (2, 0, 3)]  # corners, seen from outside counter-clockwise
HEXA_FACES = [(0, 3, 2, 1), (4, 5, 6, 7), (0, 1, 5, 4), (1, 2, 6, 5), (2, 3, 7, 6), (3, 0, 4, 7)]
WEDGE_FACES = [(0, 2, 1), (3, 4, 5), (0, 1, 4, 3), (1, 2, 5, 4), (2, 0, 3, 5)]


def _corners(kind):
    """Reference coordinates of the corners."""
    if kind == "tetra":
        return np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]], float)
    if kind == "wedge":
        return np.array([[x, y, z] for z in (-1, 1) for x, y in ((0, 0), (1, 0), (0, 1))], float)
    if kind == "triangle":
        return np.array([[0, 0], [1, 0], [0, 1]], float)
    square = ((-1, -1), (1, -1), (1, 1), (-1, 1))
    if kind == "quad":
        return np.array(square, float)
    return np.array([[x, y, z] for z in (-1, 1) for x, y in square], float)


def _superlinear(powers):
    return sum(p for p in powers if p > 1)


def _monomials(kind, order):
    """Powers (n, d) of the monomials of (1)."""
    d = 2 if kind in ("triangle", "quad") else 3
    every = list(itertools.product(range(order + 1), repeat=d))
    if kind in ("tetra", "triangle"):
        found = [p for p in every if sum(p) <= order]
    elif kind == "wedge":
        found = [p for p in every if p[0] + p[1] <= order and not (p[0] + p[1] == 2 and p[2] == 2)]
    else:
        found = [p for p in every if _superlinear(p) <= order]
    return np.array(found)


def _gauss(n):
    return np.polynomial.legendre.leggauss(n)


def _product(n, d):
    x, w = _gauss(n)
    points = np.array(list(itertools.product(x, repeat=d)))[:, ::-1]
    return points, np.array([np.prod(c) for c in itertools.product(w, repeat=d)])


def _orbit(values, weight):
    """All different orders of barycentric coordinates, the first left out, with their weight."""
    points = sorted(set(itertools.permutations(values)))
    return np.array(points)[:, 1:], np.full(len(points), weight)


def _simplex(orbits):
    parts = [_orbit(values, weight) for values, weight in orbits]
    return np.concatenate([p for p, _ in parts]), np.concatenate([w for _, w in parts])


def _tetra_rule(degree):
    """Points (q, 3) and weights (q,), Σ w = 1/6."""
    if degree == 1:
        return np.full((1, 3), 0.25), np.array([1 / 6])
    if degree == 2:
        a, b = 0.25 + 0.15 * np.sqrt(5.0), 0.25 - 0.05 * np.sqrt(5.0)
        return _simplex([((a, b, b, b), 1 / 24)])
    a, b, c = 0.31088591926330060980, 0.092735250310891226402, 0.045503704125649649492
    return _simplex(
        [
            ((1 - 3 * a, a, a, a), 0.11268792571801585080 / 6),
            ((1 - 3 * b, b, b, b), 0.073493043116361949544 / 6),
            ((c, c, 0.5 - c, 0.5 - c), 0.042546020777081466438 / 6),
        ]
    )


def _triangle_rule(degree):
    """Points (q, 2) and weights (q,), Σ w = 1/2."""
    if degree == 2:
        return _simplex([((2 / 3, 1 / 6, 1 / 6), 1 / 6)])
    a, b = 0.44594849091596488632, 0.091576213509770743460
    return _simplex([((1 - 2 * a, a, a), 0.22338158967801146570 / 2), ((1 - 2 * b, b, b), 0.10995174365532186764 / 2)])


def _wedge_rule(degree, n):
    triangle, wt = _triangle_rule(degree)
    line, wl = _gauss(n)
    points = np.array([[*p, z] for z in line for p in triangle])
    return points, np.array([a * b for b in wl for a in wt])


class Rule(NamedTuple):
    """Points ξ (q, d), weights (q,), shape functions (q, nn) and their gradients ∂N/∂ξ (q, d, nn) there."""

    points: np.ndarray
    weights: np.ndarray
    shapes: np.ndarray
    gradients: np.ndarray

    def jacobians(self, X: np.ndarray) -> np.ndarray:
        """∂X_i/∂ξ_j (n, q, 3, d) of cells with nodes X (n, nn, 3)."""
        return np.einsum("qja,eai->eqij", self.gradients, X, optimize=True)

    def volumes(self, X: np.ndarray) -> np.ndarray:
        """Weight times determinant (n, q) [m³] of cells with nodes X (n, nn, 3)."""
        found = np.empty((len(X), len(self.weights)))
        for first in range(0, len(X), AT_ONCE):
            J = self.jacobians(X[first : first + AT_ONCE])
            cross = np.cross(J[..., 0], J[..., 1])
            found[first : first + AT_ONCE] = np.einsum("eqi,eqi->eq", cross, J[..., 2]) * self.weights
        return found


class Cell:
    """A reference cell.

    Attributes
    ----------
    name : str, as meshio names it
    kind : {"tetra", "hexahedron", "wedge", "triangle", "quad"}
    order : 1 or 2, of its edges
    vtk : int, cell type of VTK
    points : (nn, d), reference coordinates of its nodes
    faces : list of arrays, nodes of each face, corners first as seen from outside, then middle nodes of its edges
    stiffness, mass : Rule
    """

    def __init__(self, name: str, kind: str, order: int, vtk: int, edges: list, faces: list) -> None:
        self.name, self.kind, self.order, self.vtk, self.edges = name, kind, order, vtk, edges
        corners = _corners(kind)
        middles = np.array([corners[list(e)].mean(axis=0) for e in edges]) if order == 2 else corners[:0]
        self.n_corners = len(corners)
        self.points = np.vstack([corners, middles])
        self.powers = _monomials(kind, order)
        self._inverse = np.linalg.inv(self._basis(self.points))
        numbers = {frozenset(edge): len(corners) + k for k, edge in enumerate(edges)}
        self.faces = [
            np.array([*f, *((numbers[frozenset(pair)] for pair in zip(f, f[1:] + f[:1])) if order == 2 else ())])
            for f in faces
        ]
        self.stiffness, self.mass = self._rules()

    @property
    def nn(self) -> int:
        return len(self.points)

    def _basis(self, xi):
        return np.prod(xi[:, None, :] ** self.powers[None], axis=2)

    def shapes(self, xi: np.ndarray) -> np.ndarray:
        """N_a (q, nn) at points (q, d)."""
        return self._basis(xi) @ self._inverse

    def gradients(self, xi: np.ndarray) -> np.ndarray:
        """∂N_a/∂ξ_i (q, d, nn) at points (q, d)."""
        found = []
        for i in range(xi.shape[1]):
            lower = self.powers.copy()
            lower[:, i] = np.maximum(lower[:, i] - 1, 0)
            found.append((self.powers[:, i] * np.prod(xi[:, None, :] ** lower[None], axis=2)) @ self._inverse)
        return np.stack(found, axis=1)

    def rule(self, points: np.ndarray, weights: np.ndarray) -> Rule:
        """A rule of integration with the shape functions at its points."""
        arrays = (points, weights, self.shapes(points), self.gradients(points))
        return Rule(*(np.ascontiguousarray(array) for array in arrays))

    def _rules(self):
        quadratic = self.order == 2
        if self.kind == "tetra":
            given = (_tetra_rule(2 if quadratic else 1), _tetra_rule(5 if quadratic else 2))
        elif self.kind == "hexahedron":
            given = (_product(self.order + 1, 3),) * 2
        elif self.kind == "wedge":
            given = (_wedge_rule(2 * self.order, self.order + 1),) * 2
        elif self.kind == "triangle":
            given = (_triangle_rule(2 * self.order),) * 2
        else:
            given = (_product(self.order + 1, 2),) * 2
        return tuple(self.rule(*one) for one in given)

    @functools.cached_property
    def products(self) -> np.ndarray:
        """N_a N_b (qm + 1, nn²) at the points of the mass rule, and their mean over the cell."""
        shapes = self.mass.shapes
        products = np.einsum("qa,qb->qab", shapes, shapes)
        mean = np.einsum("q,qab->ab", self.mass.weights, products) / self.mass.weights.sum()
        return np.concatenate([products, mean[None]]).reshape(-1, self.nn**2)

    @functools.cached_property
    def weighted_shapes(self) -> np.ndarray:
        """Weight times N (q, nn) at the points of the stiffness rule."""
        return self.stiffness.weights[:, None] * self.stiffness.shapes

    @functools.cached_property
    def extrapolation(self) -> np.ndarray:
        """Values at nodes (nn, q) from values at stiffness points: least squares of the linear or trilinear part."""
        points = self.stiffness.points
        if len(points) == 1:
            return np.ones((self.nn, 1))
        powers = _monomials(self.kind, 1)
        at_points = np.prod(points[:, None, :] ** powers[None], axis=2)
        at_nodes = np.prod(self.points[:, None, :] ** powers[None], axis=2)
        return at_nodes @ np.linalg.pinv(at_points)


CELLS = {
    cell.name: cell
    for cell in (
        Cell("tetra", "tetra", 1, 10, TETRA_EDGES, TETRA_FACES),
        Cell("tetra10", "tetra", 2, 24, TETRA_EDGES, TETRA_FACES),
        Cell("hexahedron", "hexahedron", 1, 12, HEXA_EDGES, HEXA_FACES),
        Cell("hexahedron20", "hexahedron", 2, 25, HEXA_EDGES, HEXA_FACES),
        Cell("wedge", "wedge", 1, 13, WEDGE_EDGES, WEDGE_FACES),
        Cell("wedge15", "wedge", 2, 26, WEDGE_EDGES, WEDGE_FACES),
    )
}
_RIM = {3: [(0, 1), (1, 2), (2, 0)], 4: [(0, 1), (1, 2), (2, 3), (3, 0)]}
FACES = {
    cell.nn: cell
    for cell in (
        Cell("triangle", "triangle", 1, 5, _RIM[3], []),
        Cell("quad", "quad", 1, 9, _RIM[4], []),
        Cell("triangle6", "triangle", 2, 22, _RIM[3], []),
        Cell("quad8", "quad", 2, 23, _RIM[4], []),
    )
}

# triangles that draw a face of so many nodes
DRAWN = {
    3: [[0, 1, 2]], 4: [[0, 1, 2], [0, 2, 3]], 6: [[0, 3, 5], [3, 1, 4], [5, 4, 2], [3, 4, 5]],
    8: [[0, 4, 7], [4, 1, 5], [5, 2, 6], [6, 3, 7], [4, 5, 6], [4, 6, 7]],
}  # fmt: skip


def outer_faces(parts: list[tuple[Cell, np.ndarray]]) -> dict[int, np.ndarray]:
    """Faces that one cell alone has: number of nodes -> (k, nn) points, as seen from outside.

    ``parts``: cells of one type each, with the points (n, nn) of their nodes.
    """
    faces: dict[int, list[np.ndarray]] = {}
    keys: dict[int, list[np.ndarray]] = {}
    for cell, rows in parts:
        for face in cell.faces:
            points, corners = rows[:, face], 3 if len(face) in (3, 6) else 4
            faces.setdefault(len(face), []).append(points)
            keys.setdefault(len(face), []).append(np.sort(points[:, :corners], axis=1))
    found = {}
    for nn, several in faces.items():
        all_faces, all_keys = np.concatenate(several), np.concatenate(keys[nn])
        order = np.lexsort(all_keys.T)
        same = (np.diff(all_keys[order], axis=0) == 0).all(axis=1)
        alone = ~(np.append(False, same) | np.append(same, False))
        outer = np.sort(order[alone])
        if len(outer):
            found[nn] = all_faces[outer]
    return found
