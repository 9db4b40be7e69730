"""The Delassus operator W in its forms, and the linear systems (A + B W) d = f that the methods solve with it.

    form      holds                              systems are factorised
    dense     W                                  in contact space, LAPACK
    sparse    W by blocks                        in contact space, by blocks of contacts
    bodies    G with W = G Gᵀ (`Bodies`)            in body space (1), (2), blocks of bodies
    free      a product only                     not at all: first-order methods

Body space keeps the pattern of the body graph, where a row of W couples all contacts of two bodies:

    (W + ρ I)⁻¹ b = (b − G (ρ I + Gᵀ G)⁻¹ Gᵀ b)/ρ                                                                  (1)
    (A + B W) d = f:   z = (I + Gᵀ E G)⁻¹ Gᵀ T f,   d = T f − E G z,   T = A⁻¹, E = T B                            (2)
    or  [[A, B G], [−Gᵀ, I]] (d, z) = (f, 0)                                                                       (3)

A is singular where a contact sticks. Newton's systems are therefore factorised with A + δ B, δ = 10⁻⁷ at least, and
the exact one is solved by flexible GMRES with these factors: 2 to 13 iterations for stacks of 120, arches, walls, piles
and mass ratios of 10⁴. With δ = 10⁻⁸ weakly held modes are lost in rounding, with 10⁻⁵ it takes more than 20.
The last iterations of an interior point, where E spans more than ten decades, fall back on (3), which is 5 to 10 times
slower but exact.

Source: docs/theory/contact_problems.md, (13), (14) (measured: 16 times faster at 1,500 contacts).

    symbol  code       shape       meaning
    W       operator   (m, m)      Delassus matrix, m = nc·d rows
    G       bodies     blocks      gradients of the contacts, mass-scaled
    A, B    A, B       (nc, d, d)  blocks on the diagonal
"""

from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.linalg
import scipy.sparse as sp

from fem_mbs.solvers.contact_problem.bodies import Bodies
from fem_mbs.solvers.contact_problem.body_matrices import invert_blocks
from fem_mbs.solvers.contact_problem.factor import BlockPattern
from fem_mbs.solvers.contact_problem.linear_solves import ACCURATE, Singular, block_factors, enlarged, solver, superlu
from fem_mbs.solvers.contact_problem.shifts import BlockShift, BodyShift, DenseShift, FreeShift, apply_blocks

if TYPE_CHECKING:
    from scipy.sparse import csc_array


DENSE_ROWS = 700  # up to here a dense factorisation is the quickest of W as a matrix (docs/theory/contact_problems.md)
SMALL_ROWS = 120  # the same of W by bodies


class Operator:
    """W of a scaled problem.

    Attributes
    ----------
    diagonal : (nc, d, d), blocks of the contacts
    symmetric : bool
    factors : bool, whether (A + B W) can be factorised
    """

    factors = True
    bodies: Any = None  # of a W that is not formed
    _norm: Any = None  # once it is computed

    if TYPE_CHECKING:  # of the subclasses that have them
        matrix: "csc_array"

        def _factor(self, A, B, closed, opened, shift, accuracy) -> Callable: ...

        def block_rows(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]: ...

        def shifted(self, rho: float) -> Callable[[np.ndarray], np.ndarray]: ...

    def __init__(self, diagonal: np.ndarray, symmetric: bool) -> None:
        self.diagonal, self.symmetric = np.ascontiguousarray(diagonal), symmetric
        self.n, self.d = diagonal.shape[:2]

    @property
    def rows(self) -> int:
        return self.n * self.d

    def product(self, r: np.ndarray) -> np.ndarray:
        """W r, shape (nc, d)."""
        return (self.matrix @ r.ravel()).reshape(r.shape)

    def norm(self) -> float:
        """Largest singular value of W, by 15 power iterations (5 % low at worst on the tested families)."""
        if self._norm is None:
            x = np.cos(1.7 * np.arange(self.rows)).reshape(self.n, self.d) + 0.1  # not orthogonal to what matters
            size: Any = 0.0
            for _ in range(15):
                x = self.product(x / np.linalg.norm(x))
                size = np.linalg.norm(x)
                if size == 0.0:
                    break
            self._norm = size
        return self._norm

    def system(
        self, A: np.ndarray, B: np.ndarray, shift: float = 0.0, accuracy: float = ACCURATE
    ) -> Callable[[np.ndarray], np.ndarray]:
        """Factorise A + B (W + shift I); contacts with B = 0 (open: A = I) are eliminated first.

        ``accuracy`` is the relative residual asked of solutions where they are found by iteration.

        Returns
        -------
        function (nc, d) → (nc, d) that solves with the matrix; raises Singular when a solution is not finite

        Raises
        ------
        Singular
            If the matrix cannot be factorised.
        """
        closed = np.flatnonzero(np.abs(B).max(axis=(1, 2)) > 0.0)
        if len(closed) == 0:
            return lambda f: f.copy()
        opened = np.delete(np.arange(self.n), closed)
        A, B = A[closed], B[closed]
        with np.errstate(all="ignore"):
            solve_closed = self._factor(A, B, closed, opened, shift, accuracy)

        def solve(f):
            d = f.copy()
            right, known = f[closed], None
            if len(opened):
                known = np.zeros_like(f)
                known[opened] = f[opened]
                right = right - apply_blocks(B, self.product(known)[closed])
            with np.errstate(all="ignore"):
                d[closed] = solve_closed(right)
            if not np.isfinite(d).all():
                raise Singular("solution is not finite")
            return d

        return solve

    def solve(
        self, A: np.ndarray, B: np.ndarray, f: np.ndarray, shift: float = 0.0, accuracy: float = ACCURATE
    ) -> np.ndarray:
        """Solve (A + B (W + shift I)) d = f once, see `system`."""
        return self.system(A, B, shift, accuracy)(f)

    def _scalar_rows(self, contacts):
        return (contacts[:, None] * self.d + np.arange(self.d)).ravel()


class DenseOperator(Operator):
    """W as a full matrix (m, m)."""

    _block_rows: tuple[np.ndarray, np.ndarray, np.ndarray] | None = None  # once they are made

    def __init__(self, matrix: np.ndarray, d: int, symmetric: bool) -> None:
        self.matrix = matrix
        super().__init__(diagonal_blocks(matrix, len(matrix) // d, d), symmetric)

    def block_rows(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        if self._block_rows is None:
            n, d = self.n, self.d
            blocks = np.ascontiguousarray(self.matrix.reshape(n, d, n, d).swapaxes(1, 2)).reshape(n * n, d, d)
            self._block_rows = np.arange(n + 1) * n, np.tile(np.arange(n), n), blocks
        return self._block_rows

    def shifted(self, rho: float) -> DenseShift:
        """`DenseShift` for (W + rho I) x = b; raises Singular."""
        try:
            return DenseShift(np.linalg.inv(self.matrix + rho * np.eye(self.rows)))
        except np.linalg.LinAlgError as error:
            raise Singular(str(error)) from None

    def _factor(self, A, B, closed, opened, shift, accuracy):
        W = self.matrix
        if len(opened):
            keep = self._scalar_rows(closed)
            W = W[np.ix_(keep, keep)]
        k, d = len(closed), self.d
        J = np.matmul(B, W.reshape(k, d, k * d))
        J.reshape(k, d, k, d)[np.arange(k), :, np.arange(k)] += A + shift * B
        lu, pivots, info = scipy.linalg.lapack.dgetrf(J.reshape(k * d, k * d))
        if info != 0:
            raise Singular("dense matrix is singular")
        return lambda f: scipy.linalg.lapack.dgetrs(lu, pivots, f.ravel())[0].reshape(f.shape)


class SparseOperator(Operator):
    """W by blocks; every diagonal block, and with every block its transposed partner, is stored."""

    def __init__(self, matrix: "csc_array", d: int, symmetric: bool) -> None:
        n = matrix.shape[0] // d
        given = sp.bsr_array(matrix, blocksize=(d, d))
        given.sum_duplicates()
        graph = sp.csr_array((np.ones(len(given.indices)), given.indices, given.indptr), shape=(n, n))
        graph = sp.csr_array(graph + graph.T + sp.eye_array(n))
        graph.sort_indices()
        data = np.zeros((graph.nnz, d, d))
        row = np.repeat(np.arange(n), np.diff(graph.indptr))
        of_given = np.repeat(np.arange(n), np.diff(given.indptr))
        data[np.searchsorted(row * n + graph.indices, of_given * n + given.indices)] = given.data
        self.matrix = sp.bsr_array((data, graph.indices, graph.indptr), shape=matrix.shape)
        self.row, self.at_diagonal = row, np.flatnonzero(graph.indices == row)
        super().__init__(data[self.at_diagonal], symmetric)

    def block_rows(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        return self.matrix.indptr.astype(np.int64), self.matrix.indices.astype(np.int64), self.matrix.data

    @cached_property
    def pattern(self) -> BlockPattern:
        """Analysed pattern by contacts."""
        pointers, columns, _ = self.block_rows()
        return BlockPattern(pointers, columns, self.d)

    def shifted(self, rho: float) -> BlockShift:
        """`BlockShift` for (W + rho I) x = b; raises Singular."""
        values = self.matrix.data.copy()
        values[self.at_diagonal] += rho * np.eye(self.d)
        return BlockShift(block_factors(self.pattern, values))

    def _factor(self, A, B, closed, opened, shift, accuracy):
        row, column, data, pattern = self.row, self.matrix.indices, self.matrix.data, None
        if len(opened):
            number = np.full(self.n, -1)
            number[closed] = np.arange(len(closed))
            kept = (number[row] >= 0) & (number[column] >= 0)
            row, column, data = number[row[kept]], number[column[kept]], data[kept]
        pointers = np.concatenate([[0], np.cumsum(np.bincount(row, minlength=len(closed)))])
        pattern = BlockPattern(pointers, column.astype(np.int64), self.d) if len(opened) else self.pattern
        data = np.matmul(B[row], data)
        diagonal = row == column
        data[diagonal] += A + shift * B
        size = len(closed) * self.d
        matrix = sp.bsr_array((data, column, pointers), shape=(size, size))
        nearly = data.copy()
        nearly[diagonal] += (enlarged(shift) - shift) * B
        return solver(
            lambda: block_factors(pattern, nearly),
            lambda d: (matrix @ d.ravel()).reshape(d.shape),
            lambda: superlu(matrix),
            accuracy,
        )


def _diagonal_matrix(blocks):
    """Sparse block-diagonal matrix of (nc, d, d) blocks."""
    n = len(blocks)
    return sp.bsr_array((blocks, np.arange(n), np.arange(n + 1)), shape=(n * blocks.shape[1],) * 2)


class BodyOperator(Operator):
    """W = G Gᵀ by the blocks of its contacts (`Bodies`); factorised in body space, small ones as a full matrix."""

    def __init__(self, bodies: Bodies) -> None:
        self.bodies = bodies
        super().__init__(bodies.diagonal, True)

    @cached_property
    def full(self) -> DenseOperator | None:
        """The same as a `DenseOperator` when it is small, else None."""
        return DenseOperator(self.bodies.dense(), self.d, True) if self.rows <= SMALL_ROWS else None

    @cached_property
    def pattern(self) -> tuple[BlockPattern, np.ndarray]:
        """Analysed pattern of Gᵀ G by bodies, and the place of each pair of sides in it."""
        pointers, columns, entries = self.bodies.graph()
        return BlockPattern(pointers, columns, self.bodies.blocks.shape[3]), entries

    def product(self, r: np.ndarray) -> np.ndarray:
        return self.bodies.product(r)

    def _body_system(self, E, diagonal):
        """Factors of diagonal I + Gᵀ E G in body space; E (nc, d, d)."""
        pattern, entries = self.pattern
        return block_factors(pattern, self.bodies.normal_matrix(E, diagonal, pattern, entries))

    def shifted(self, rho: float) -> BodyShift | DenseShift:
        """`BodyShift` for (W + rho I) x = b by (1), or what a small full matrix gives; raises Singular."""
        if self.full is not None:
            return self.full.shifted(rho)
        return BodyShift(self._body_system(np.broadcast_to(np.eye(self.d), self.diagonal.shape), rho), self.bodies, rho)

    def system(
        self, A: np.ndarray, B: np.ndarray, shift: float = 0.0, accuracy: float = ACCURATE
    ) -> Callable[[np.ndarray], np.ndarray]:
        """Function that solves with A + B (W + shift I), by (2), else by (3); see `Operator.system`."""
        if self.full is not None:
            return self.full.system(A, B, shift, accuracy)
        bodies, T, E = self.bodies, np.empty_like(A), np.empty_like(A)
        if not invert_blocks(A + enlarged(shift) * B, B, T, E):
            raise Singular("the block of a contact is singular")
        A = A + shift * B

        def factor():
            solve = self._body_system(E, 1.0)

            def nearly(f):
                known = apply_blocks(T, f)
                return known - apply_blocks(E, bodies.relative(solve(bodies.mass_scaled(known))))

            return nearly

        return solver(
            factor,
            lambda d: apply_blocks(A, d) + apply_blocks(B, self.product(d)),
            lambda: self._augmented(A, B),
            accuracy,
        )

    def _augmented(self, A, B):
        """Function that solves (3) by SuperLU, which chooses pivots among contacts and bodies."""
        G = self.bodies.matrix()
        unknowns = G.shape[1]
        J = sp.block_array([[_diagonal_matrix(A), _diagonal_matrix(B) @ G], [-G.T, sp.eye_array(unknowns)]])
        return superlu(J)


class FreeOperator(Operator):
    """W as a product only, ``multiply`` (m,) → (m,), with its diagonal blocks given."""

    factors = False

    def __init__(self, multiply: Callable[[np.ndarray], np.ndarray], diagonal: np.ndarray, symmetric: bool) -> None:
        self.multiply = multiply
        super().__init__(diagonal, symmetric)

    def product(self, r: np.ndarray) -> np.ndarray:
        return self.multiply(r.ravel()).reshape(r.shape)

    def shifted(self, rho: float) -> FreeShift:
        """`FreeShift` for (W + rho I) x = b."""
        return FreeShift(self, rho)


def diagonal_blocks(W: "np.ndarray | csc_array", n: int, d: int) -> np.ndarray:
    """Diagonal blocks (n, d, d) of a sparse or full matrix."""
    if n == 0:
        return np.zeros((0, d, d))
    if sp.issparse(W):
        rows = np.arange(n * d).reshape(n, d)
        i, j = np.broadcast_arrays(rows[:, :, None], rows[:, None, :])
        return np.asarray(sp.csr_array(W)[i.ravel(), j.ravel()]).reshape(n, d, d)
    return W.reshape(n, d, n, d)[np.arange(n), :, np.arange(n)]
