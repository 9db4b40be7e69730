"""Constant matrices of shell elements: from a section and the unloaded shape to what kernels read.

At each point of integration the covariant strains of `shell_cells` are taken to orthonormal axes, the first of which
is the given direction projected onto the surface,

    ε_ij = ε_αβ ξ^α_,i ξ^β_,j ,   γ_i = γ_α ξ^α_,i                                                                 (1)
    H = ∫ Bᵀ ℂ B dA ,   ℂ = [A, B_s, 0; B_sᵀ, D, 0; 0, 0, S] of the section                                        (2)

Quadrilaterals have four additional modes of membrane strain, M = (j_0/j) T_0 (r; s; r, s), whose amplitudes α are
those of the least energy. They do not depend on the configuration but through e, so they are left out once and for all:

    H ← H − Lᵀ G⁻¹ L ,   L = ∫ Mᵀ ℂ B dA ,   G = ∫ Mᵀ A M dA                                                       (3)

Shear of triangles is multiplied with h²/(h² + α L²), L the longest edge.

Source: docs/theory/shells.md, section 3; (3) Simo & Rifai 1990; triangles: Lyly, Stenberg & Vihinen 1993.
"""

from typing import Any

import numpy as np

from fem_mbs.stresses.shell_cells import cell_of

SHEAR = 0.1  # α of triangles


def unit(a: np.ndarray) -> np.ndarray:
    """Vectors (…, 3) of length one."""
    return a / np.linalg.norm(a, axis=-1, keepdims=True)


def axes(J: np.ndarray, direction: np.ndarray) -> np.ndarray:
    """Orthonormal axes (…, 3, 3), rows, on surfaces with ∂X/∂ξ = J (…, 3, 2): the first along ``direction`` (…, 3)."""
    normal = unit(np.cross(J[..., 0], J[..., 1]))
    along = direction - np.einsum("...i,...i->...", direction, normal)[..., None] * normal
    first = unit(along)
    return np.stack([first, np.cross(normal, first), normal], axis=-2)


def transformation(J: np.ndarray, basis: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """T (…, 3, 3) of (ε_rr, ε_ss, 2ε_rs) to (ε_11, ε_22, 2ε_12), and (…, 2, 2) of γ; ``basis`` of `axes`."""
    local = np.einsum("...ki,...ia->...ka", basis[..., :2, :], J)  # X_k,α
    g = np.linalg.inv(local)  # ξ^α_,k
    a, b, c, d = g[..., 0, 0], g[..., 0, 1], g[..., 1, 0], g[..., 1, 1]  # r_,1 r_,2 s_,1 s_,2
    rows = [[a * a, c * c, a * c], [b * b, d * d, b * d], [2 * a * b, 2 * c * d, a * d + b * c]]
    T = np.stack([np.stack(row, axis=-1) for row in rows], axis=-2)
    return T, np.swapaxes(g, -1, -2)


def directions(X: np.ndarray, direction: np.ndarray | None) -> np.ndarray:
    """Where the first axis of elements X (n, nn, 3) points (n, 3): as given, or x, or y where x is near the normal."""
    J = cell_of(X.shape[1]).cell.gradients(np.full((1, 2), 0.0 if X.shape[1] == 4 else 1 / 3))[0]
    a = np.einsum("ja,eai->eij", J, X)
    if direction is None:
        steep = np.abs(unit(np.cross(a[..., 0], a[..., 1]))[:, 0]) > 0.8
        direction = np.where(steep[:, None], [0.0, 1.0, 0.0], [1.0, 0.0, 0.0])
    return axes(a, np.broadcast_to(direction, (len(X), 3)))[:, 0]


class Stiffness:
    """Matrices of elements with nodes X (n, nn, 3), of one section, first axes along ``first`` (n, 3).

    ``section`` has ``stiffness`` (8, 8) and ``thickness``, as `elements.shells.section.ShellSection`.

    Attributes
    ----------
    H : (n, nm, nm) of (2), (3)
    B : (n, q, 8, nm), strains in the axes at the points of integration, from strains of `shell_cells`, with (3)
    middle : (n, 8, nm), the same at the middle
    basis : (n, q, 3, 3), `axes` there
    area : (n, q) [m²], weights of the points
    law : (n, 8, 8), ℂ
    """

    def __init__(self, X: np.ndarray, section: Any, first: np.ndarray) -> None:
        cell = cell_of(X.shape[1])
        rule = cell.cell.stiffness
        J = rule.jacobians(X)
        self.area = rule.weights * np.linalg.norm(np.cross(J[..., 0], J[..., 1]), axis=-1)
        self.basis = axes(J, first[:, None])
        B = self._strains(cell, X, rule.points, J, self.basis)
        centre = np.full((1, 2), 0.0 if cell.cell.nn == 4 else 1 / 3)
        J0 = np.einsum("qja,eai->eqij", cell.cell.gradients(centre), X)
        self.middle = self._strains(cell, X, centre, J0, axes(J0, first[:, None]))[:, 0]
        self.law = np.repeat(section.stiffness[None], len(X), axis=0)
        if cell.cell.nn == 4:
            B = self._enhanced(B, section.stiffness, rule.points, J, J0, first)
        else:
            edges = np.linalg.norm(X - np.roll(X, 1, axis=1), axis=2).max(axis=1)
            self.law[:, 6:] *= (section.thickness**2 / (section.thickness**2 + SHEAR * edges**2))[:, None, None]
        self.B = B
        self.H = np.einsum("eq,eqik,eij,eqjl->ekl", self.area, B, self.law, B, optimize=True)

    @staticmethod
    def _strains(cell, X, points, J, basis):
        found = cell.fields(X, points)
        T, t = transformation(J, basis)
        for k in (0, 3):
            found[:, :, k : k + 3] = T @ found[:, :, k : k + 3]
        found[:, :, 6:] = t @ found[:, :, 6:]
        return found

    def _enhanced(self, B, C, points, J, J0, first):
        """B with the modes of (3)."""
        T, _ = transformation(J0, axes(J0, first[:, None]))
        ratio = np.linalg.norm(np.cross(J0[..., 0], J0[..., 1]), axis=-1)
        ratio = ratio / np.linalg.norm(np.cross(J[..., 0], J[..., 1]), axis=-1)
        modes = np.zeros((len(points), 3, 4))
        modes[:, 0, 0] = modes[:, 2, 2] = points[:, 0]
        modes[:, 1, 1] = modes[:, 2, 3] = points[:, 1]
        M = ratio[..., None, None] * (T @ modes)
        G = np.einsum("eq,eqik,ij,eqjl->ekl", self.area, M, C[:3, :3], M, optimize=True)
        L = np.einsum("eq,eqik,ij,eqjl->ekl", self.area, M, C[:3], B, optimize=True)
        found = B.copy()
        found[:, :, :3] -= M @ np.linalg.solve(G, L)[:, None]
        return found
