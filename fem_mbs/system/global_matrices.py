"""Global vectors and matrices: free components of full vectors, values of matrices, factors, solutions, norms."""

import math

from fem_mbs.jit import call2, indices, integer_matrix, integers, kernel, vector
from fem_mbs.system.records import STACKED, layouts_of, zero


@kernel
def reduce_vector(d, full, reduced):
    """Copy the free components of a full vector."""
    dof = integers(d.dof_at, 6 * d.n_nodes)
    for i in range(6 * d.n_nodes):
        if dof[i] >= 0:
            reduced[dof[i]] = full[i]


@kernel
def expand_add(d, scale, reduced, full):
    """Add scale times a reduced vector to a full array (N, 6)."""
    dof = integers(d.dof_at, 6 * d.n_nodes)
    for i in range(d.n_nodes):
        for j in range(6):
            k = dof[6 * i + j]
            if k >= 0:
                full[i, j] += scale * reduced[k]


@kernel
def matrix_values(d, layout):
    """Values of a global matrix, in pattern order."""
    L = layouts_of(d)[layout]
    return vector(L.values_at, L.nnz)


@kernel
def clear_matrix(d, layout):
    """Set the values of a global matrix to zero."""
    zero(layouts_of(d)[layout].values_at, layouts_of(d)[layout].nnz)


@kernel
def add_block(d, source, row, column, scale):
    """Add ``scale`` times the values of matrix ``source`` to one block of the stacked matrix.

    Column c of the stacked matrix has the columns c of the blocks it is made of, one below the other.
    """
    L = layouts_of(d)[STACKED]
    k, n = integers(L.stack_at, 2)
    table = integer_matrix(L.stack_at + 24, k, k + 2)  # of each column of blocks: begin, number, rank of each row
    pointers = indices(integers(L.stack_at, 3)[2], n + 1)
    begin, number, rank = table[column, 0], table[column, 1], table[column, 2 + row]
    values, block = vector(L.values_at, L.nnz), matrix_values(d, source)
    for c in range(n):
        first, last = pointers[c], pointers[c + 1]
        at = begin + number * first + rank * (last - first) - first
        for p in range(first, last):
            values[at + p] += scale * block[p]


@kernel
def fill_diagonal(d, layout, first, value):
    """Set the diagonal of a global matrix from row ``first`` on: of rows that a problem does not have."""
    L = layouts_of(d)[layout]
    values, diagonal = matrix_values(d, layout), integers(L.diagonal_at, L.n)
    for i in range(first, L.n):
        values[diagonal[i]] = value


@kernel
def factorise(d, layout):
    """Factorise a global matrix; False when it is singular."""
    L = layouts_of(d)[layout]
    call2(L.factor, L.context_at, L.values_at)
    return integers(L.status_at, 1)[0] == 0


@kernel
def solve_in_place(d, layout, right_at):
    """Solve with the factorised global matrix; the right-hand side at an address is overwritten by the solution."""
    L = layouts_of(d)[layout]
    call2(L.solve, L.context_at, right_at)


@kernel
def full_norm(d, values, length):
    """Euclidean norm of the free components of a full vector, moments divided by ``length`` [m]."""
    dof = integers(d.dof_at, 6 * d.n_nodes)
    total = 0.0
    for i in range(d.n_nodes):
        for j in range(6):
            if dof[6 * i + j] >= 0:
                y = values[6 * i + j] if j < 3 else values[6 * i + j] / length
                total += y * y
    return math.sqrt(total)
