"""Strains and stresses of shells at the bottom, in the middle and on the top, from the poses of their nodes.

    ε(z) = ε + z κ ,   γ(z) = (k_s S⁻¹ Q) parabola(z) ,   S_ij = Q̄(z) ε(z)      in the axes of the section           (1)
    σ = F S Fᵀ/J ,   F: axes of the section to x_,1 + z d_,1, x_,2 + z d_,2, d                                       (2)

Transverse shear stress is a parabola over the thickness, zero at both faces, with the shear force as its integral; in
layered sections this is no more than its mean size. At corners: the bilinear field through the points of integration,
and the mean over the elements that share the corner and the director there, weighted with their areas.

Source: docs/theory/shells.md, section 6.
"""

from typing import Any, NamedTuple

import numpy as np

from fem_mbs.stresses.shell_cells import cell_of
from fem_mbs.stresses.shell_stiffness import Stiffness
from fem_mbs.stresses.solid_stress import CHUNK, components, von_mises

LEVELS = ("bottom", "middle", "top")


class Layers(NamedTuple):
    """What stresses need of a section.

    Attributes
    ----------
    stiffness : (8, 8), of `ShellSection`
    thickness : float [m]
    z : (3,) [m], bottom, middle, top
    plane : (3, 3, 3) [Pa], Q̄ there
    """

    stiffness: np.ndarray
    thickness: float
    z: np.ndarray
    plane: np.ndarray

    @classmethod
    def of(cls, section: Any) -> "Layers":
        """Of a `ShellSection`."""
        return cls(section.stiffness, section.thickness, *section.levels())


class ShellBlock(NamedTuple):
    """Shell elements of one number of nodes and one section.

    Attributes
    ----------
    nodes : (n, nn) int, rows of their nodes in the poses
    X, Y, c, first : parameters of `elements.shells.kernels`
    layers : Layers
    """

    nodes: np.ndarray
    X: np.ndarray
    Y: np.ndarray
    c: np.ndarray
    first: np.ndarray
    layers: Layers

    @classmethod
    def of(cls, nodes: Any, X: Any, Y: Any, c: Any, first: Any, section: Any) -> "ShellBlock":
        """Of elements with a section."""
        return cls(nodes, X, Y, c, first, Layers.of(section))

    def at_points(self, x: np.ndarray, R: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Green-Lagrange strain, axes of X, and Cauchy stress, inertial axes (n, q, 3 levels, 3, 3)."""
        parts = [self._some(slice(k, k + CHUNK))._at_points(x, R) for k in range(0, len(self.nodes), CHUNK)]
        return np.concatenate([strain for strain, _ in parts]), np.concatenate([stress for _, stress in parts])

    def _some(self, rows):
        """The elements of some rows."""
        return ShellBlock(*(array[rows] for array in self[:5]), self.layers)

    def _at_points(self, x, R):
        cell = cell_of(self.nodes.shape[1])
        found = Stiffness(self.X, self.layers, self.first)
        vectors = np.concatenate([x[self.nodes][:, None], np.einsum("eaij,ekaj->ekai", R[self.nodes], self.Y)], axis=1)
        local = np.einsum("eqik,ek->eqi", found.B, cell.strains(vectors)[:, : cell.nm] - self.c[:, : cell.nm])
        z, h = self.layers.z, self.layers.thickness
        plane = local[..., None, 0:3] + z[:, None] * local[..., None, 3:6]  # (n, q, level, 3)
        stress = np.einsum("lij,eqlj->eqli", self.layers.plane, plane)
        shear = np.einsum("eij,eqj->eqi", found.law[:, 6:, 6:], local[..., 6:])  # Q
        inside = 1.5 / h * (1.0 - (2.0 * (z - z[1]) / h) ** 2)
        E, S = np.zeros((*plane.shape, 3)), np.zeros((*plane.shape, 3))
        for tensor, values, half in ((E, plane, 0.5), (S, stress, 1.0)):
            tensor[..., 0, 0], tensor[..., 1, 1] = values[..., 0], values[..., 1]
            tensor[..., 0, 1] = tensor[..., 1, 0] = half * values[..., 2]
        for i in (0, 1):
            E[..., i, 2] = E[..., 2, i] = 0.5 * local[..., None, 6 + i]
            S[..., i, 2] = S[..., 2, i] = inside * shear[..., None, i]
        # (2)
        rule = cell.cell.stiffness
        d = np.einsum("qa,eai->eqi", rule.shapes, vectors[:, 1])
        J, J_x, J_d = (rule.jacobians(field) for field in (self.X, vectors[:, 0], vectors[:, 1]))
        inverse = np.linalg.inv(np.einsum("eqki,eqia->eqka", found.basis[..., :2, :], J))  # ξ^α_,k
        F = np.empty((*plane.shape, 3))
        F[..., :2] = (J_x[:, :, None] + z[:, None, None] * J_d[:, :, None]) @ inverse[:, :, None]
        F[..., 2] = d[:, :, None]
        B = found.basis[:, :, None]
        strain = np.swapaxes(B, -1, -2) @ E @ B
        return strain, F @ S @ np.swapaxes(F, -1, -2) / np.linalg.det(F)[..., None, None]

    def section_forces(self, x: np.ndarray, R: np.ndarray) -> np.ndarray:
        """(N₁₁, N₂₂, N₁₂, M₁₁, M₂₂, M₁₂, Q₁, Q₂) (n, q, 8) at the points of integration."""
        cell = cell_of(self.nodes.shape[1])
        found = Stiffness(self.X, self.layers, self.first)
        vectors = np.concatenate([x[self.nodes][:, None], np.einsum("eaij,ekaj->ekai", R[self.nodes], self.Y)], axis=1)
        e = cell.strains(vectors)[:, : cell.nm] - self.c[:, : cell.nm]
        return np.einsum("eij,eqjk,ek->eqi", found.law, found.B, e)


def corner_numbers(blocks: list[ShellBlock]) -> tuple[np.ndarray, np.ndarray, np.ndarray, list[np.ndarray]]:
    """Corners that elements share: equal nodes, directors and faces.

    Returns
    -------
    node : (k,) int; director : (k, 3), node axes; z : (k, 3) [m], levels
    rows : list of (n, nn) int, corners of the elements of each block
    """
    keys = []
    for block in blocks:
        size = block.nodes.size
        z = np.broadcast_to(block.layers.z, (size, 3))
        keys.append(np.column_stack([block.nodes.ravel(), block.Y[:, 0].reshape(-1, 3).round(9), z]))
    every = np.concatenate(keys) if keys else np.zeros((0, 7))
    unique, first, where = np.unique(every, axis=0, return_index=True, return_inverse=True)
    exact = np.concatenate([block.Y[:, 0].reshape(-1, 3) for block in blocks]) if blocks else np.zeros((0, 3))
    rows, at, where = [], 0, where.ravel()
    for block in blocks:
        rows.append(where[at : at + block.nodes.size].reshape(block.nodes.shape))
        at += block.nodes.size
    return unique[:, 0].astype(np.int64), exact[first], unique[:, 4:7], rows


class ShellFields:
    """Strains and stresses of shells at one configuration.

    Attributes
    ----------
    nodes : (k,) int
        Node of each corner, rising; where shells meet at a fold a node has a corner for each side of it.
    directors : (k, 3), of the corners, node axes
    strain, stress : (k, 3, 3, 3)
        Green-Lagrange strain, axes of the unloaded body [-]; Cauchy stress, inertial axes [Pa]; at the corners, at the
        bottom, in the middle and on the top.
    points : list of (strain, stress), each (n, q, 3, 3, 3)
        The same at the points of integration, for each type of cell and section.
    """

    def __init__(self, blocks: list[ShellBlock], x: np.ndarray, R: np.ndarray) -> None:
        self.points = [block.at_points(x, R) for block in blocks]
        self.nodes, self.directors, _, rows = corner_numbers(blocks)
        total, weight = np.zeros((len(self.nodes), 54)), np.zeros(len(self.nodes))
        for block, values, row in zip(blocks, self.points, rows):
            both = np.concatenate([part.reshape(*part.shape[:2], 27) for part in values], axis=2)
            cell = cell_of(block.nodes.shape[1]).cell
            at_corners = np.einsum("aq,eqk->eak", cell.extrapolation, both, optimize=True).reshape(-1, 54)
            J = cell.stiffness.jacobians(block.X)
            area = (np.linalg.norm(np.cross(J[..., 0], J[..., 1]), axis=-1) * cell.stiffness.weights).sum(axis=1)
            area = np.repeat(area, cell.nn)
            weight += np.bincount(row.ravel(), area, len(self.nodes))
            for k, column in enumerate(at_corners.T):
                total[:, k] += np.bincount(row.ravel(), area * column, len(self.nodes))
        mean = (total / np.maximum(weight, 1e-300)[:, None]).reshape(-1, 2, 3, 3, 3)
        self.strain, self.stress = mean[:, 0], mean[:, 1]

    @property
    def von_mises(self) -> np.ndarray:
        """Von Mises stress (k, 3) [Pa] at the bottom, in the middle, on the top."""
        return von_mises(self.stress)

    @property
    def principal_stress(self) -> np.ndarray:
        """Principal stresses (k, 3, 3) [Pa], rising, at the three levels."""
        found, good = np.full(self.stress.shape[:-1], np.nan), np.isfinite(self.stress).all(axis=(1, 2, 3))
        found[good] = np.linalg.eigvalsh(self.stress[good])
        return found

    def columns(self) -> dict[str, np.ndarray]:
        """Point data (2 k, c) of the corners at the bottom, then on the top."""
        faces = [0, 2]

        def of(values):
            return np.concatenate([values[:, level] for level in faces])

        return {
            "strain": components(of(self.strain)),
            "stress": components(of(self.stress)),
            "principal_stress": of(self.principal_stress),
            "von_mises": of(self.von_mises)[:, None],
        }
