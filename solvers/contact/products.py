"""The Delassus matrix of a correction by products, for more contacts than a full matrix is good for.

    W r = D S⁻¹ Dᵀ r                                                                                                (1)

with the factors of S and the sparse gradients D of contacts, see `contact.correction`, (2). Only the diagonal blocks
of W are formed, which scale the problem.

Source: docs/theory/contact_problems.md, (31).
"""

from collections.abc import Callable

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import LinearOperator

BATCH = 64  # contacts whose responses are held at a time

Solve = Callable[[np.ndarray], np.ndarray]


def sparse_rows(dof: np.ndarray, nodes: np.ndarray, blocks: np.ndarray, unknowns: int) -> sp.csr_array:
    """D (k·size, unknowns) of nodes (k, nn), absent: −1, and blocks (k, nn, size, 6); dof (6 N,), fixed: −1."""
    k, _, size, _ = blocks.shape
    free = dof.reshape(-1, 6)[nodes]
    free[nodes < 0] = -1
    column = np.broadcast_to(free[:, :, None, :], blocks.shape)
    row = np.broadcast_to(np.arange(k * size).reshape(k, 1, size, 1), blocks.shape)
    moves = column >= 0
    return sp.csr_array((blocks[moves], (row[moves], column[moves])), shape=(k * size, unknowns))


def delassus(D: sp.csr_array, size: int, solve: Solve) -> tuple[LinearOperator, np.ndarray]:
    """W of (1) as a product and its diagonal blocks (k, size, size); ``solve`` takes rows (count, unknowns)."""
    count = D.shape[0] // size
    blocks = np.empty((count, size, size))
    for begin in range(0, count, BATCH):
        end = min(begin + BATCH, count)
        rows = D[begin * size : end * size].toarray().reshape(end - begin, size, -1)
        response = solve(rows.reshape(-1, D.shape[1]).copy()).reshape(rows.shape)
        blocks[begin:end] = np.einsum("iau,ibu->iab", rows, response)
    transposed = D.T.tocsr()

    def product(r):
        return D @ solve((transposed @ np.ravel(r))[None].copy())[0]

    return LinearOperator((D.shape[0], D.shape[0]), matvec=product, dtype=float), blocks
