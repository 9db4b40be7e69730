"""Strains of shell elements: which products of nodal vectors they are, and how they vary over the element.

Four nodes, ξ = (r, s) in [−1, 1]², nodal vectors y = y_0 + r y_r + s y_s + rs y_d. Edges A (s = 1), B (s = −1),
C (r = 1), D (r = −1), middle E:

    membrane   e_A = ½ x_,r·x_,r at A …, e_C = ½ x_,s·x_,s at C …, e_E = ½ x_,r·x_,s at E
    bending    the same of x_,r·d_,r, x_,s·d_,s and ½(x_,r·d_,s + x_,s·d_,r), and κ_W = x_d·d_d
    shear      γ_A = x_,r·d at A, γ_B; γ_C = x_,s·d at C, γ_D

    ε_rr = ½(1 + s) e_A + ½(1 − s) e_B + (s² − 1) W ,   ε_ss = ½(1 + r) e_C + ½(1 − r) e_D + (r² − 1) W              (1)
    2ε_rs = 2 e_E + ½ r (e_A − e_B) + ½ s (e_C − e_D) + 2 rs W                                                      (2)
    γ_r = ½(1 + s) γ_A + ½(1 − s) γ_B ,                γ_s = ½(1 + r) γ_C + ½(1 − r) γ_D                            (3)

(1), (2) are the strains of the bilinear surface where W = ½ x_d·x_d − …, and are used so for bending, with κ_W. For
the membrane W is that part of it which lies in the middle plane, X_d = c_r X_r + c_s X_s + (…) n, from the other five:

    W = [a_A e_A + a_B e_B + a_C e_C + a_D e_D + a_E e_E],   δ = c_r² + c_s² − 1                                    (4)
    a_A = c_r(c_r − 1)/2δ, a_B = c_r(c_r + 1)/2δ, a_C = c_s(c_s − 1)/2δ, a_D = c_s(c_s + 1)/2δ, a_E = 2 c_r c_s/δ

which is exact for flat elements, and does not lock for warped ones.

Three nodes, ξ = (r, s), x_,r = x_2 − x_1, x_,s = x_3 − x_1: membrane and bending constant; shear from the edges,

    γ_r = γ_1 + c s ,   γ_s = γ_2 − c r ,   c = γ_2 − γ_1 − γ_3 ,   γ_3 = (x_3 − x_2)·½(d_2 + d_3)                   (5)

Drilling of node I: δ_I = ½(x_,r·τʳ_I + x_,s·τˢ_I) at the middle, with τ so that it is ½(x_,1·t_2 − x_,2·t_1), x_,1 and
x_,2 along orthonormal axes of the unloaded surface, t_1 and t_2 the same axes as the node carries them.

Source: docs/theory/shells.md, section 3; (3) Dvorkin & Bathe 1984; (5) Lee & Bathe 2004; (4) Ko, Lee & Bathe 2016.
"""

import functools

import numpy as np

from fem_mbs.jit import address
from fem_mbs.mesh.cells import FACES, Cell

X, D, TAU_R, TAU_S = range(4)  # which vectors the second factors are made of


class ShellCell:
    """A reference cell of shells.

    Attributes
    ----------
    cell : Cell
    table : (np, 2 nn + 2), products: P (nn), Q (nn), which vectors Q is of, which strain the product belongs to
    n_membrane, n_bending, n_shear : int, numbers of strains
    """

    def __init__(self, cell: Cell, membrane: list, bending: list, shear: list) -> None:
        self.cell, nn = cell, cell.nn
        self.n_membrane, self.n_bending, self.n_shear = len(membrane), len(bending), len(shear)
        rows, strain = [], 0
        for kind, group in ((X, membrane), (D, bending), (D, shear)):
            for products in group:
                rows += [np.concatenate([first, second, [kind, strain]]) for first, second in products]
                strain += 1
        middle = cell.gradients(np.full((1, 2), 0.0 if nn == 4 else 1 / 3))[0]
        for node in range(nn):
            for kind, gradient in ((TAU_R, middle[0]), (TAU_S, middle[1])):
                rows.append(np.concatenate([0.5 * gradient, np.eye(nn)[node], [kind, strain]]))
            strain += 1
        self.table = np.array(rows)

    @property
    def table_at(self) -> int:
        return address(self.table)

    @property
    def nm(self) -> int:
        """Number of strains without drilling."""
        return self.n_membrane + self.n_bending + self.n_shear

    def strains(self, vectors: np.ndarray) -> np.ndarray:
        """Σ p·q (n, ne) of (1) in `elements.shells.kernels`, of vectors (n, 4, nn, 3): x, d, τʳ, τˢ."""
        nn = self.cell.nn
        kind, strain = self.table[:, 2 * nn].astype(int), self.table[:, 2 * nn + 1].astype(int)
        first = np.einsum("ja,eai->eji", self.table[:, :nn], vectors[:, X])
        second = np.einsum("ja,ejai->eji", self.table[:, nn : 2 * nn], vectors[:, kind])
        products = np.einsum("eji,eji->ej", first, second)
        found = np.zeros((len(vectors), self.nm + nn))
        np.add.at(found.T, strain, products.T)
        return found

    def fields(self, X: np.ndarray, points: np.ndarray) -> np.ndarray:
        """From strains to (ε_rr, ε_ss, 2ε_rs, κ_rr, κ_ss, 2κ_rs, γ_r, γ_s) at points (q, 2): (n, q, 8, nm)."""
        found = np.zeros((len(X), len(points), 8, self.nm))
        r, s = points.T
        if self.cell.nn == 3:
            for k in (0, 3):
                found[..., k, k] = found[..., k + 1, k + 1] = 1.0
                found[..., k + 2, k + 2] = 2.0
            found[..., 6, 6:9] = np.stack([1 - s, s, -s], axis=1)
            found[..., 7, 6:9] = np.stack([r, 1 - r, r], axis=1)
            return found
        bilinear = np.zeros((len(points), 3, 6))  # of (1), (2) with W as the sixth
        bilinear[:, 0, 0], bilinear[:, 0, 1], bilinear[:, 0, 5] = 0.5 * (1 + s), 0.5 * (1 - s), s * s - 1
        bilinear[:, 1, 2], bilinear[:, 1, 3], bilinear[:, 1, 5] = 0.5 * (1 + r), 0.5 * (1 - r), r * r - 1
        bilinear[:, 2, 0], bilinear[:, 2, 1] = 0.5 * r, -0.5 * r
        bilinear[:, 2, 2], bilinear[:, 2, 3] = 0.5 * s, -0.5 * s
        bilinear[:, 2, 4], bilinear[:, 2, 5] = 2.0, 2 * r * s
        found[:, :, 3:6, 5:11] = bilinear
        found[:, :, 0:3, 0:5] = bilinear[..., :5] + np.einsum("qi,ek->eqik", bilinear[..., 5], in_plane(X))
        found[..., 6, 11], found[..., 6, 12] = 0.5 * (1 + s), 0.5 * (1 - s)
        found[..., 7, 13], found[..., 7, 14] = 0.5 * (1 + r), 0.5 * (1 - r)
        return found


R_SIGNS, S_SIGNS = np.array([-1.0, 1, 1, -1]), np.array([-1.0, -1, 1, 1])


def in_plane(X: np.ndarray) -> np.ndarray:
    """Coefficients (n, 5) of (4) of elements with nodes X (n, 4, 3)."""
    x_r, x_s, x_d = (0.25 * np.einsum("a,eai->ei", c, X) for c in (R_SIGNS, S_SIGNS, R_SIGNS * S_SIGNS))
    n = np.cross(x_r, x_s)
    size = np.einsum("ei,ei->e", n, n)
    c_r = np.einsum("ei,ei->e", np.cross(x_d, x_s), n) / size
    c_s = np.einsum("ei,ei->e", np.cross(x_r, x_d), n) / size
    delta = c_r**2 + c_s**2 - 1.0
    columns = [c_r * (c_r - 1) / 2, c_r * (c_r + 1) / 2, c_s * (c_s - 1) / 2, c_s * (c_s + 1) / 2, 2 * c_r * c_s]
    return np.stack(columns, axis=1) / delta[:, None]


@functools.cache
def quadrilateral() -> ShellCell:
    """The cell of four nodes."""
    a_r = {s: 0.25 * R_SIGNS * (1 + s * S_SIGNS) for s in (-1, 0, 1)}  # x_,r at s
    a_s = {r: 0.25 * S_SIGNS * (1 + r * R_SIGNS) for r in (-1, 0, 1)}
    x_d = 0.25 * R_SIGNS * S_SIGNS
    edges = [a_r[1], a_r[-1], a_s[1], a_s[-1]]
    ends = [np.abs(edge) for edge in edges]  # d at the middle of an edge
    return ShellCell(
        FACES[4],
        membrane=[[(0.5 * edge, edge)] for edge in edges] + [[(0.5 * a_r[0], a_s[0])]],
        bending=[[(edge, edge)] for edge in edges] + [[(0.5 * a_r[0], a_s[0]), (0.5 * a_s[0], a_r[0])], [(x_d, x_d)]],
        shear=[[(edge, end)] for edge, end in zip(edges, ends)],
    )


@functools.cache
def triangle() -> ShellCell:
    """The cell of three nodes."""
    a_r, a_s = np.array([-1.0, 1, 0]), np.array([-1.0, 0, 1])
    return ShellCell(
        FACES[3],
        membrane=[[(0.5 * a_r, a_r)], [(0.5 * a_s, a_s)], [(0.5 * a_r, a_s)]],
        bending=[[(a_r, a_r)], [(a_s, a_s)], [(0.5 * a_r, a_s), (0.5 * a_s, a_r)]],
        shear=[[(a, 0.5 * np.abs(a))] for a in (a_r, a_s, a_s - a_r)],
    )


def cell_of(nn: int) -> ShellCell:
    """The cell of nn nodes."""
    return quadrilateral() if nn == 4 else triangle()
