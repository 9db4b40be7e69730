"""Multipliers of least norm of redundant constraint rows.

The force Gᵀλ of such rows is unique, λ is not: to it any ν with Gᵀν = 0 can be added. In a step these parts arise
from round-off: where two equal rows differ by 1e-16, the shift ε of the matrices converts that to forces,
which add up from step to step. After each step λ is replaced by the one with the same Gᵀλ and the least |λ/a|, which is
that of statics (`fem_mbs.solvers.counting_rows`). What is taken out is the limit of

    ν ← ε (A + ε)⁻¹ ν ,   ν = λ/a at first,   A = Gₐ C Gₐᵀ,  Gₐ = a G,   λ ← λ − a ν                              (1)

Parts with Gₐᵀν = 0 stay in ν, of others ε/(σ² + ε) is left each time, σ² being eigenvalues of A. ν itself is iterated
and not A ν, so that round-off is relative to ν. A is factorised (Cholesky) within its envelope: rows meet where they
act on the same free components, and are numbered for a small bandwidth. Independent rows are no part of it.

Source: docs/theory/redundancy.md, (3); derived there.

    symbol  code      shape   meaning
    a       row_arm   (m,)    1 of lengths, the size of the model of angles, see `fem_mbs.system.sizes`
    C       turning   -       1 of displacements, 1/L² of rotations, L the extent of the model
    G_a √C  G         (k, w)  of the rows concerned, in free components, by nodes of their elements
    A       A         (.,)    its lower half by rows, from the first entry of a row that is not 0
"""

import math
from typing import TYPE_CHECKING, Any

import numpy as np
from numba import carray

from fem_mbs.jit import address, integer_matrix, integers, kernel, matrix, tensor, vector, void_pointer
from fem_mbs.system.records import groups_of

if TYPE_CHECKING:
    from fem_mbs.system.compiled import CompiledSystem
    from fem_mbs.system.state import State

SHARED = np.dtype(
    [(name, "i8") for name in ("k", "nn", "entries", "rows_at", "nodes_at", "first_at", "start_at")]
    + [(name, "i8") for name in ("G_at", "A_at", "x_at", "nu_at")]
    + [("turning", "f8"), ("epsilon", "f8")]
)
ROW, GROUP, ELEMENT, LOCAL = range(4)  # columns of the table of rows
EPSILON = 1e-8  # ε, of the smallest diagonal entry of A
MOST = 20  # repetitions of (1)
SETTLED, ENOUGH = 1e-13, 1e-9  # of the largest |λ/a|: change of ν foreseen at which (1) ends, or may end
ROUND_OFF = 1e-6  # of ν: its own change by round-off of A over ε is smaller


@kernel
def shared_of(d):
    """Record of the redundant rows; only where d.shared_at is not 0."""
    return carray(void_pointer(d.shared_at), (1,), SHARED)[0]


@kernel
def fill_gradients(d, r):
    """Fill G of the rows concerned, from the gradients that are kept with the elements."""
    width = 6 * r.nn
    table, nodes = integer_matrix(r.rows_at, r.k, 4), integer_matrix(r.nodes_at, r.k, r.nn)
    G = matrix(r.G_at, r.k, width)
    dof, arm, groups = integers(d.dof_at, 6 * d.n_nodes), vector(d.row_arm_at, d.m), groups_of(d)
    for i in range(r.k):
        g = groups[table[i, GROUP]]
        stored, scale = tensor(g.G_at, g.n, g.nr, g.nd), arm[table[i, ROW]]
        for a in range(g.nn):
            for j in range(6):
                value = scale * stored[table[i, ELEMENT], table[i, LOCAL], 6 * a + j]
                free = dof[6 * nodes[i, a] + j] >= 0
                G[i, 6 * a + j] = (value if j < 3 else value * r.turning) if free else 0.0


@kernel
def fill_products(r):
    """Fill A; returns its smallest diagonal entry above 0, or 0."""
    width = 6 * r.nn
    nodes, G, A = integer_matrix(r.nodes_at, r.k, r.nn), matrix(r.G_at, r.k, width), vector(r.A_at, r.entries)
    first, start = integers(r.first_at, r.k), integers(r.start_at, r.k)
    least = 0.0
    for i in range(r.k):
        for j in range(first[i], i + 1):
            total = 0.0
            for a in range(r.nn):
                for b in range(r.nn):
                    if nodes[i, a] >= 0 and nodes[i, a] == nodes[j, b]:
                        for c in range(6):
                            total += G[i, 6 * a + c] * G[j, 6 * b + c]
            A[start[i] + j - first[i]] = total
        if total > 0.0 and (least == 0.0 or total < least):
            least = total
    return least


@kernel
def factorise_products(r):
    """Replace A by the lower factor of A + ε."""
    A, first, start = vector(r.A_at, r.entries), integers(r.first_at, r.k), integers(r.start_at, r.k)
    epsilon = r.epsilon
    for i in range(r.k):
        row = start[i] - first[i]
        for j in range(first[i], i):
            other, total = start[j] - first[j], A[row + j]
            for p in range(max(first[i], first[j]), j):
                total -= A[row + p] * A[other + p]
            A[row + j] = total / A[other + j]
        total = A[row + i] + epsilon
        for p in range(first[i], i):
            total -= A[row + p] * A[row + p]
        A[row + i] = math.sqrt(max(total, 0.5 * epsilon))


@kernel
def solve_products(r, x):
    """Solve with the factors of `factorise_products`, in place."""
    A, first, start = vector(r.A_at, r.entries), integers(r.first_at, r.k), integers(r.start_at, r.k)
    for i in range(r.k):
        row, total = start[i] - first[i], x[i]
        for j in range(first[i], i):
            total -= A[row + j] * x[j]
        x[i] = total / A[row + i]
    for i in range(r.k - 1, -1, -1):
        row = start[i] - first[i]
        x[i] /= A[row + i]
        for j in range(first[i], i):
            x[j] -= A[row + j] * x[i]


@kernel
def prepare(d):
    """Factorise A + ε with the gradients that are kept; False where no row acts on anything."""
    r = shared_of(d)
    fill_gradients(d, r)
    r.epsilon = EPSILON * fill_products(r)
    if r.epsilon == 0.0:
        return False
    factorise_products(r)
    return True


@kernel
def least_norm(d, lam):
    """Take out of multipliers (m,) what no force belongs to, after `prepare`."""
    r = shared_of(d)
    table, arm = integer_matrix(r.rows_at, r.k, 4), vector(d.row_arm_at, d.m)
    x, nu = vector(r.x_at, r.k), vector(r.nu_at, r.k)
    largest = 0.0
    for i in range(r.k):
        nu[i] = lam[table[i, ROW]] / arm[table[i, ROW]]
        largest = max(largest, abs(nu[i]))
    if largest == 0.0:
        return
    change, before, size = largest, largest, largest
    for _ in range(MOST):
        for i in range(r.k):
            x[i] = r.epsilon * nu[i]
        solve_products(r, x)
        before, change, size = change, 0.0, 0.0
        for i in range(r.k):
            change, size = max(change, abs(x[i] - nu[i])), max(size, abs(x[i]))
            nu[i] = x[i]
        if change * change <= SETTLED * largest * before or change <= ROUND_OFF * size:  # it falls by the same factor
            break
    if change * change <= ENOUGH * largest * before or change <= ROUND_OFF * size:
        for i in range(r.k):
            lam[table[i, ROW]] -= arm[table[i, ROW]] * nu[i]


class SharedRows:
    """Redundant constraint rows of a system, with the arrays of the kernels above."""

    def __init__(self, system: "CompiledSystem", numbers: np.ndarray) -> None:
        from scipy.sparse.csgraph import reverse_cuthill_mckee

        where = {}
        for q, group in enumerate(system.groups):
            if group.elements[0].role == "constraint":
                n, nr, _ = group.G.shape
                for e in range(n):
                    for i in range(nr):
                        where[group.first_row + e * nr + i] = (q, e, i)
        meet = _meeting(system, numbers)
        numbers = numbers[reverse_cuthill_mckee(meet, symmetric_mode=True)]
        self.rows = np.array([(row, *where[row]) for row in numbers], np.int64)
        nodes = [system.groups[q].nodes[e] for _, q, e, _ in self.rows]
        k, nn = len(numbers), max(len(one) for one in nodes)
        self.nodes = np.array([[*one, *[-1] * (nn - len(one))] for one in nodes], np.int64)
        place = np.empty(system.m, np.int64)
        place[numbers] = np.arange(k)
        pattern = _meeting(system, numbers).tocoo()
        self.first = np.arange(k, dtype=np.int64)
        np.minimum.at(self.first, pattern.row, pattern.col)
        lengths = np.arange(k) - self.first + 1
        self.start = np.concatenate([[0], np.cumsum(lengths)[:-1]]).astype(np.int64)
        self.G, self.A = np.zeros((k, 6 * nn)), np.zeros(int(lengths.sum()))
        self.x, self.nu = np.zeros(k), np.zeros(k)
        self.record = np.zeros(1, SHARED)
        r = self.record[0]
        r["k"], r["nn"], r["entries"], r["turning"] = k, nn, len(self.A), 1.0 / (system.extent or system.size)
        for name in ("rows", "nodes", "first", "start", "G", "A", "x", "nu"):
            r[f"{name}_at"] = address(getattr(self, name))


def _meeting(system, numbers):
    """Sparse matrix of which of the rows act on the same free nodes."""
    from scipy.sparse import csr_array

    from fem_mbs.system.checks.redundancy import gradient_of

    gradient = gradient_of(system).tocsr()[numbers].tocoo()
    moves = system.free.any(axis=1)
    node = gradient.col // 6
    kept = moves[node]
    shape = (len(numbers), len(system.nodes))
    at = csr_array((np.ones(kept.sum()), (gradient.row[kept], node[kept])), shape=shape)
    return (at @ at.T).tocsr()


def find_shared(system: "CompiledSystem", state: "State") -> Any:
    """The `SharedRows` of a system with all its elements on, at a state; None where all rows are independent."""
    from scipy.sparse.csgraph import connected_components

    from fem_mbs.system.checks.redundancy import dependent_rows, gradient_of

    acting = np.flatnonzero(system.empty_rows[: system.m] == 0)
    if not len(acting):
        return None
    system.constraint_values(state)
    gradient, free = gradient_of(system).tocsr(), system.free.ravel()
    _, part = connected_components(_meeting(system, acting), directed=False)
    chosen = [acting[part == k] for k in range(part.max() + 1)]
    chosen = [rows for rows in chosen if dependent_rows(gradient[rows], free)]
    return SharedRows(system, np.concatenate(chosen)) if chosen else None
