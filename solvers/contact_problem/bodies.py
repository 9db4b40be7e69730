"""Contacts between bodies as arrays of small blocks: what W is made of, without any sparse matrix.

    u_i = Σ_k B_ik v_b(i,k) + w_i,   v_b = v_free,b + M_b⁻¹ Σ_(i,k) B_ikᵀ r_i,                                      (1)
    M_b⁻¹ = C_b C_bᵀ,   G_ik = B_ik C_b(i,k):      W = G Gᵀ,   q = w + B v_free                                     (2)

k runs over the sides of a contact, usually two; side -1 is fixed. Products and sweeps are in
`contact_problem.body_sweeps`, matrices in `contact_problem.body_matrices`.

Source: docs/theory/contact_problems.md, (15), (16); (2) elementary.

    symbol   code     shape           meaning
    b(i,k)   bodies   (nc, k)         body on side k of contact i, -1: none or fixed
    B, G     blocks   (nc, k, d, m)   gradients of the relative velocities; mass-scaled in `Bodies`
    C        factors  (nb, m, m)      factors of the inverse masses
    v, z     v, z     (nb, m)         velocities of the bodies; mass-scaled change
"""

from collections import namedtuple
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp

from fem_mbs.errors import ParameterError
from fem_mbs.jit import kernel
from fem_mbs.solvers.contact_problem.body_matrices import (
    count_links,
    fill_dense,
    fill_links,
    fill_normal_matrix,
    list_contacts,
    scale_rows,
)
from fem_mbs.solvers.contact_problem.body_sweeps import bodies_to_contacts, impulses_to_bodies
from fem_mbs.solvers.contact_problem.input import real_array

if TYPE_CHECKING:
    from scipy.sparse import csc_array

    from fem_mbs.arguments.checked import ArrayLike
    from fem_mbs.solvers.contact_problem.factor import BlockPattern


LARGEST_SIZE = 12  # velocities of one body up to which a mass matrix is split
LARGEST_SIDES = 4  # bodies of one contact up to which it is

Given = namedtuple("Given", "bodies q factors v")


@kernel
def factor_masses(mass, inverse, factors):
    """Fill factors (nb, m, m) with C of (2) from masses or their inverses; returns the first bad block, or -1.

    Masses must be positive definite; inverses may be singular (zero: a body that does not move).
    """
    m = mass.shape[1]
    for b in range(mass.shape[0]):
        C, largest = factors[b], 0.0
        for i in range(m):
            largest = max(largest, abs(mass[b, i, i]))
        for i in range(m):  # Cholesky: C = L
            for j in range(i + 1):
                total = mass[b, i, j]
                if not abs(total - mass[b, j, i]) <= 1e-9 * largest:
                    return b
                for k in range(j):
                    total -= C[i, k] * C[j, k]
                if i > j:
                    C[i, j] = total / C[j, j] if C[j, j] > 0.0 else 0.0
                    C[j, i] = 0.0
                elif total > 1e-14 * mass[b, i, i]:
                    C[i, i] = np.sqrt(total)
                elif inverse and total >= -1e-12 * largest:
                    C[i, i] = 0.0
                else:
                    return b
        if inverse:
            continue
        for j in range(m):  # C = L⁻ᵀ, column by column of L⁻¹, stored above the diagonal
            C[j, j] = 1.0 / C[j, j]
            for i in range(j + 1, m):
                total = 0.0
                for k in range(j, i):
                    total -= C[i, k] * C[j, k]
                C[j, i] = total / C[i, i]
        for i in range(m):
            for j in range(i):
                C[i, j] = 0.0
    return -1


@kernel
def scale_by_masses(bodies, blocks, factors, v, G, W, q):
    """Fill G (nc, k, d, m) and W_ii (nc, d, d) of (2) and add B v to q (nc, d).

    Two sides on the same body become one. Returns the first contact with a body that does not exist, or -1.
    """
    n, sides, d, m = blocks.shape
    for i in range(n):
        for k in range(sides):
            b = bodies[i, k]
            if b >= factors.shape[0] or b < -1:
                return i
            G[i, k, :, :] = 0.0
            if b < 0:
                continue
            to = k
            for other in range(k):
                if bodies[i, other] == b:
                    to = other
            for a in range(d):
                for c in range(m):
                    x = blocks[i, k, a, c]
                    if x != 0.0:
                        q[i, a] += x * v[b, c]
                        for e in range(m):
                            G[i, to, a, e] += x * factors[b, c, e]
            if to != k:
                bodies[i, k] = -1
        for a in range(d):
            for c in range(d):
                total = 0.0
                for k in range(sides):
                    for e in range(m):
                        total += G[i, k, a, e] * G[i, k, c, e]
                W[i, a, c] = total
    return -1


class Bodies:
    """W = G Gᵀ by the blocks G of its contacts.

    Attributes
    ----------
    bodies : (nc, k) int64, body on each side, -1: none
    blocks : (nc, k, d, m), mass-scaled gradients G
    diagonal : (nc, d, d), blocks W_ii
    count : number of bodies
    """

    def __init__(self, bodies: np.ndarray, blocks: np.ndarray, diagonal: np.ndarray, count: int) -> None:
        self.bodies, self.blocks, self.diagonal, self.count = bodies, blocks, diagonal, count

    @classmethod
    def from_arrays(
        cls,
        masses: "ArrayLike",
        bodies: Any,
        blocks: "ArrayLike",
        w: "ArrayLike",
        v: "ArrayLike | None",
        inverse: bool,
        d: int,
        problem: object,
    ) -> Given:
        """Check and mass-scale the arguments of `ContactProblem.from_contacts`, as `Given`; ``problem`` names errors.

        Raises
        ------
        ParameterError
            If shapes do not fit, numbers are not finite, a mass is not positive definite or a body does not exist.
        """
        masses = real_array(problem, "masses", masses)
        blocks = np.ascontiguousarray(real_array(problem, "blocks", blocks))
        if masses.ndim == 2:
            diagonal, masses = masses, np.zeros((*masses.shape, masses.shape[1]))
            np.einsum("bii->bi", masses)[:] = diagonal
        if masses.ndim != 3 or masses.shape[1] != masses.shape[2]:
            raise ParameterError(problem, "masses", masses.shape, "must be the shape (nb, m, m) or (nb, m)")
        (count, m), bodies = masses.shape[:2], cls._integers(problem, bodies)
        if bodies.size == 0 and blocks.size == 0:  # no contacts, also as empty lists
            bodies, blocks = np.zeros((0, 1), int), np.zeros((0, 1, d, m))
        if bodies.ndim != 2 or not np.issubdtype(bodies.dtype, np.integer):
            raise ParameterError(problem, "bodies", bodies.shape, "must be integers of the shape (nc, sides)")
        if blocks.shape != (*bodies.shape, d, m):
            raise ParameterError(problem, "blocks", blocks.shape, f"must be the shape {(*bodies.shape, d, m)}")
        q: np.ndarray = real_array(problem, "w", w).ravel().copy()
        if q.size != len(bodies) * d:
            raise ParameterError(problem, "w", q.shape, f"must be {d} numbers for each of {len(bodies)} contacts")
        v = np.zeros((count, m)) if v is None else real_array(problem, "v", v)
        if v.size != count * m:
            raise ParameterError(problem, "v", v.shape, f"must be the shape {(count, m)}")
        v, q = np.ascontiguousarray(v.reshape(count, m)), q.reshape(-1, d)
        bodies, factors = bodies.astype(np.int64), np.empty_like(masses)
        bad = factor_masses(np.ascontiguousarray(masses), inverse, factors)
        if bad >= 0:
            what = "must be symmetric and positive " + ("semidefinite" if inverse else "definite")
            raise ParameterError(problem, f"masses[{bad}]", masses[bad], what)
        G, W = np.empty_like(blocks), np.empty((len(blocks), d, d))
        bad = scale_by_masses(bodies, blocks, factors, v, G, W, q)
        if bad >= 0:
            raise ParameterError(problem, f"bodies[{bad}]", bodies[bad], f"must be -1 to {count - 1}")
        return Given(cls(bodies, G, W, count), q, factors, v)

    @staticmethod
    def _integers(problem, bodies):
        """Numbers of bodies as an array, of which the caller checks the type."""
        try:
            return np.array(bodies)
        except ValueError:
            raise ParameterError(problem, "bodies", bodies, "has rows of different lengths") from None

    @property
    def shape(self) -> tuple[int, int]:
        """Of W."""
        rows = len(self.blocks) * self.blocks.shape[2]
        return rows, rows

    def mass_scaled(self, r: np.ndarray) -> np.ndarray:
        """z = Gᵀ r, (nb, m)."""
        z = np.empty((self.count, self.blocks.shape[3]))
        impulses_to_bodies(self.bodies, self.blocks, np.ascontiguousarray(r), z)
        return z

    def product(self, r: np.ndarray) -> np.ndarray:
        """W r, (nc, d)."""
        return self.relative(self.mass_scaled(r))

    def relative(self, z: np.ndarray) -> np.ndarray:
        """u = G z, (nc, d)."""
        u = np.empty((len(self.blocks), self.blocks.shape[2]))
        bodies_to_contacts(self.bodies, self.blocks, z, u)
        return u

    def graph(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Pattern by rows of Gᵀ G in blocks of bodies, pointers and columns, and the block of each pair of sides."""
        first, contacts, sides_of = self.of_bodies
        pointers = np.empty(self.count + 1, np.int64)
        count_links(self.bodies, first, contacts, pointers)
        columns = np.empty(pointers[-1], np.int64)
        entries = np.empty((*self.bodies.shape, self.bodies.shape[1]), np.int64)
        fill_links(self.bodies, first, contacts, sides_of, pointers, columns, entries)
        return pointers, columns, entries

    def normal_matrix(self, E: np.ndarray, diagonal: float, pattern: "BlockPattern", entries: np.ndarray) -> np.ndarray:
        """Blocks (nnz, m, m) of diagonal I + Gᵀ E G in the pattern of `graph`; E (nc, d, d)."""
        m = self.blocks.shape[3]
        values = np.empty((len(pattern.columns), m, m))
        fill_normal_matrix(
            self.bodies,
            self.blocks,
            np.ascontiguousarray(E),
            diagonal,
            entries,
            pattern.pointers,
            pattern.columns,
            values,
        )
        return values

    def scaled(self, S: np.ndarray) -> "Bodies":
        """The same with rows of G multiplied by S (nc, d)."""
        blocks = np.empty_like(self.blocks)
        scale_rows(self.blocks, S, blocks)
        return Bodies(self.bodies, blocks, S[:, :, None] * self.diagonal * S[:, None, :], self.count)

    @cached_property
    def of_bodies(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """first (nb + 1,), contacts, sides: where the contacts of each body are."""
        first, places = np.empty(self.count + 1, np.int64), np.empty((2, self.bodies.size), np.int64)
        list_contacts(self.bodies, first, places[0], places[1])
        return first, places[0], places[1]

    def matrix(self) -> sp.csr_array:
        """G as a sparse matrix (nc d, nb m)."""
        n, _, d, m = self.blocks.shape
        contact, side = np.nonzero(self.bodies >= 0)
        row = np.broadcast_to((contact[:, None] * d + np.arange(d))[:, :, None], (len(contact), d, m))
        column = np.broadcast_to(
            (self.bodies[contact, side][:, None] * m + np.arange(m))[:, None, :], (len(contact), d, m)
        )
        triplets = self.blocks[contact, side].ravel(), (row.ravel(), column.ravel())
        matrix = sp.csr_array(sp.coo_array(triplets, shape=(n * d, self.count * m)))
        matrix.eliminate_zeros()
        return matrix

    def delassus(self) -> sp.csr_array:
        """W as a sparse matrix (nc d, nc d)."""
        G = self.matrix()
        return sp.csr_array(G @ G.T)

    def dense(self) -> np.ndarray:
        """W as a full matrix (nc d, nc d)."""
        n, _, d, _ = self.blocks.shape
        W = np.empty((n * d, n * d))
        fill_dense(self.bodies, self.blocks, *self.of_bodies, W)
        return W


def split_bodies(
    M: "csc_array", H: "csc_array", f: np.ndarray, d: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray] | None:
    """Masses, bodies, blocks and free velocities of `ContactProblem.from_contacts` from sparse matrices.

    None when M is not symmetric or does not fall into blocks of at most 12 unknowns, or a contact touches more than
    four of them. Smaller blocks are filled up.
    """
    asymmetry = abs(M - M.T)
    if asymmetry.nnz and asymmetry.max() > 1e-12 * abs(M).max():
        return None
    count, body = _body_of_unknowns(M)
    sizes = np.bincount(body, minlength=count)
    m = int(sizes.max(initial=1))
    if m > LARGEST_SIZE:
        return None
    order = np.argsort(body, kind="stable")
    place = np.empty(len(body), int)  # of each unknown in its body
    place[order] = np.arange(len(body)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    M = M.tocoo()
    masses = np.zeros((count, m, m))
    np.add.at(masses, (body[M.row], place[M.row], place[M.col]), M.data)
    filled = np.arange(m) >= sizes[:, None]
    np.einsum("bii->bi", masses)[filled] = 1.0
    H = H.tocoo()
    n = H.shape[1] // d
    pairs, pair = np.unique((H.col // d) * count + body[H.row], return_inverse=True)
    contact, touched = pairs // count, pairs % count
    sides = np.bincount(contact, minlength=n)
    if sides.max(initial=0) > LARGEST_SIDES:
        return None
    side = np.arange(len(pairs)) - np.repeat(np.cumsum(sides) - sides, sides)
    bodies = np.full((n, max(int(sides.max(initial=0)), 1)), -1)
    bodies[contact, side] = touched
    blocks = np.zeros((*bodies.shape, d, m))
    np.add.at(blocks, (H.col // d, side[pair], H.col % d, place[H.row]), H.data)
    v = np.zeros((count, m))
    if f is not None:
        momentum = np.zeros((count, m))
        momentum[body, place] = f
        try:
            v = np.linalg.solve(masses, momentum[:, :, None])[:, :, 0]
        except np.linalg.LinAlgError:
            return None
    return masses, bodies, blocks, v


def _body_of_unknowns(M):
    """Number of bodies, and the body of each unknown: six or three successive ones, else what M couples."""
    n, M = M.shape[0], M.tocoo()
    for size in (6, 3):
        if n % size == 0 and (M.row // size == M.col // size).all():
            return n // size, np.arange(n) // size
    return sp.csgraph.connected_components(M, directed=False)
