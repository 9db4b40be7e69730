"""Direct solution of systems of small blocks with a symmetric pattern, values symmetric or not.

    analyse  ordering (minimum degree on the graph of the blocks), elimination tree, supernodes: once for a pattern
    factor   a supernode with pivots 1 and rows 2 below:  D ← D⁻¹, R ← D R, then C R is subtracted from later ones   (1)
    solve    forward  y_1 = D x_1, x_2 ← x_2 − C y_1;   backward  x_1 = y_1 − R x_2                                  (2)

with D = A_11, R = A_12, C = A_21 of the partly eliminated matrix. Pivots are chosen inside a supernode only, which is
enough for the nearly semidefinite matrices of contact problems; what gets lost is restored by refinement, and a large
residual shows when it is not. All work is done by full matrix products: 3 to 10 times faster than a general sparse LU
on the body graphs of piles, where blocks are 6×6 and the fill is large (benchmarks/contact_problems.py).

Source: docs/theory/contact_problems.md, (18); elementary (supernodal elimination; the ordering is SuperLU's); written
for this project.

    symbol    code                  shape             meaning
              pointers, columns     (n + 1,), (nnz,)  block pattern by rows, diagonal included
    D, R, C   pivots, right, below  flat              dense parts of the supernodes, at the places ``at``
"""

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import splu

from fem_mbs.jit import kernel

ZEROS, SMALL = 0.25, 4  # part of zeros, and columns, up to which supernodes are merged


class SingularPivot(ArithmeticError):
    """A supernode without inverse."""


@kernel
def _elimination_tree(pointers, columns, position, node, parent):
    """Parent of each position in the elimination tree (Liu); -1 at the roots."""
    n = len(position)
    ancestor = np.full(n, -1)
    for j in range(n):
        parent[j] = -1
        for k in range(pointers[node[j]], pointers[node[j] + 1]):
            i = position[columns[k]]
            while i < j and i != -1:
                following = ancestor[i]
                ancestor[i] = j
                if following == -1:
                    parent[i] = j
                    break
                i = following


@kernel
def _postorder(parent, order):
    """Depth-first order of the tree: order[new] = old."""
    n = len(parent)
    first, following = np.full(n + 1, -1), np.full(n, -1)
    for i in range(n - 1, -1, -1):
        p = parent[i] if parent[i] >= 0 else n
        following[i] = first[p]
        first[p] = i
    stack, depth, count = np.empty(n + 1, np.int64), 0, 0
    root = first[n]
    while root != -1:
        stack[0], depth = root, 1
        while depth > 0:
            top = stack[depth - 1]
            child = first[top]
            if child != -1:
                first[top] = following[child]
                stack[depth] = child
                depth += 1
            else:
                order[count] = top
                count += 1
                depth -= 1
        root = following[root]


@kernel
def _structure(pointers, columns, position, node, parent):
    """Rows below the diagonal of each column of the factor: pointers (n + 1,) and rows, ascending."""
    n = len(position)
    first, following = np.full(n, -1), np.full(n, -1)
    for i in range(n - 1, -1, -1):
        if parent[i] >= 0:
            following[i] = first[parent[i]]
            first[parent[i]] = i
    mark, start = np.full(n, -1), np.zeros(n + 1, np.int64)
    rows = np.empty(max(4 * len(columns), 16), np.int64)
    for j in range(n):
        end = start[j]
        mark[j] = j
        if len(rows) < end + n:
            larger = np.empty(2 * len(rows) + n, np.int64)
            larger[:end] = rows[:end]
            rows = larger
        for k in range(pointers[node[j]], pointers[node[j] + 1]):
            i = position[columns[k]]
            if i > j and mark[i] != j:
                mark[i] = j
                rows[end] = i
                end += 1
        child = first[j]
        while child != -1:
            for k in range(start[child], start[child + 1]):
                i = rows[k]
                if mark[i] != j:
                    mark[i] = j
                    rows[end] = i
                    end += 1
            child = following[child]
        rows[start[j] : end].sort()
        start[j + 1] = end
    return start, rows[: start[n]].copy()


@kernel
def _supernodes(parent, start):
    """First column of each supernode, and n at the end: chains of the tree whose structures are (nearly) nested."""
    n = len(parent)
    first, count, zeros, total = np.empty(n + 1, np.int64), 0, 0, 0
    for j in range(n):
        size = start[j + 1] - start[j]
        if j > 0 and parent[j - 1] == j:
            added = size + 1 - (start[j] - start[j - 1])  # zeros that a column of j − 1's supernode gains
            width = j - first[count - 1]
            if added == 0 or zeros + added * width <= ZEROS * (total + size) or (width < SMALL and added <= SMALL):
                zeros += added * width
                total += size + 1 + added * width
                continue
        first[count] = j
        count += 1
        zeros, total = 0, size + 1
    first[count] = n
    return first[: count + 1].copy()


@kernel
def _places(first, start, rows, m, of, below_at, below, at):
    """Rows of the supernodes and places of their parts; fills of (n,), below_at (ns + 1,), below, at (ns + 1, 3)."""
    at[0, 0] = at[0, 1] = at[0, 2] = below_at[0] = 0
    for s in range(len(first) - 1):
        width, last = first[s + 1] - first[s], first[s + 1] - 1
        for j in range(first[s], first[s + 1]):
            of[j] = s
        height = start[last + 1] - start[last]
        below[below_at[s] : below_at[s] + height] = rows[start[last] : start[last + 1]]
        below_at[s + 1] = below_at[s] + height
        at[s + 1, 0] = at[s, 0] + width * width * m * m
        at[s + 1, 1] = at[s, 1] + width * height * m * m
        at[s + 1, 2] = max(at[s, 2], height)


@kernel
def _find(rows, first, last, wanted):
    """Place of a number in a part of a sorted array."""
    while last - first > 1:
        middle = (first + last) // 2
        if rows[middle] <= wanted:
            first = middle
        else:
            last = middle
    return first


@kernel
def _targets(pointers, columns, position, first, of, below_at, below, at, m, target, stride):
    """Location of block (row, column) of the pattern: flat index of its first entry, stride of its rows.

    Parts are identified by the sign and size of the index: D in [0, size D), R behind it, C behind that.
    """
    sizes = at[-1, 0], at[-1, 1]
    for node in range(len(position)):
        i = position[node]
        for k in range(pointers[node], pointers[node + 1]):
            j = position[columns[k]]
            s = of[min(i, j)]
            width, height = first[s + 1] - first[s], below_at[s + 1] - below_at[s]
            row = i - first[s] if i < first[s + 1] else _find(below, below_at[s], below_at[s + 1], i) - below_at[s]
            col = j - first[s] if j < first[s + 1] else _find(below, below_at[s], below_at[s + 1], j) - below_at[s]
            if i < first[s + 1] and j < first[s + 1]:
                target[k], stride[k] = at[s, 0] + (row * width * m + col) * m, width * m
            elif i < first[s + 1]:
                target[k], stride[k] = sizes[0] + at[s, 1] + (row * height * m + col) * m, height * m
            else:
                target[k], stride[k] = sizes[0] + sizes[1] + at[s, 1] + (row * width * m + col) * m, width * m


@kernel
def _assemble(values, target, stride, store):
    """Put the blocks (nnz, m, m) where they belong."""
    m = values.shape[1]
    store[:] = 0.0
    for k in range(values.shape[0]):
        for a in range(m):
            for b in range(m):
                store[target[k] + a * stride[k] + b] += values[k, a, b]


@kernel
def _subtract(update, s, first, of, below_at, below, at, m, store):
    """Subtract update (height m, height m) of supernode s from the later ones."""
    begin, end = below_at[s], below_at[s + 1]
    sizes = at[-1, 0], at[-1, 1]
    place = np.empty(end - begin, np.int64)
    run = begin
    while run < end:
        t = of[below[run]]
        width, height = first[t + 1] - first[t], below_at[t + 1] - below_at[t]
        stop = run
        while stop < end and below[stop] < first[t + 1]:
            place[stop - begin] = below[stop] - first[t]
            stop += 1
        k = below_at[t]
        for i in range(stop, end):
            while below[k] != below[i]:
                k += 1
            place[i - begin] = k - below_at[t]
        D, R, C = at[t, 0], sizes[0] + at[t, 1], sizes[0] + sizes[1] + at[t, 1]
        for i in range(run - begin, stop - begin):
            for a in range(m):
                row = update[i * m + a]
                to = D + (place[i] * m + a) * width * m
                for j in range(run - begin, stop - begin):
                    for b in range(m):
                        store[to + place[j] * m + b] -= row[j * m + b]
                to = R + (place[i] * m + a) * height * m
                for j in range(stop - begin, end - begin):
                    for b in range(m):
                        store[to + place[j] * m + b] -= row[j * m + b]
        for i in range(stop - begin, end - begin):
            for a in range(m):
                row = update[i * m + a]
                to = C + (place[i] * m + a) * width * m
                for j in range(run - begin, stop - begin):
                    for b in range(m):
                        store[to + place[j] * m + b] -= row[j * m + b]
        run = stop


@kernel
def _factor(first, of, below_at, below, at, m, store, work):
    """(1) for all supernodes; the parts are overwritten."""
    sizes = at[-1, 0], at[-1, 1]
    for s in range(len(first) - 1):
        width, height = (first[s + 1] - first[s]) * m, (below_at[s + 1] - below_at[s]) * m
        D = store[at[s, 0] : at[s, 0] + width * width].reshape(width, width)
        D[:, :] = np.linalg.inv(D)
        if height == 0:
            continue
        begin = sizes[0] + at[s, 1]
        R = store[begin : begin + width * height].reshape(width, height)
        C = store[begin + sizes[1] : begin + sizes[1] + width * height].reshape(height, width)
        R[:, :] = np.dot(D, R)
        update = work[: height * height].reshape(height, height)
        np.dot(C, R, update)
        _subtract(update, s, first, of, below_at, below, at, m, store)


@kernel
def solve_blocks(factors, right, x):
    """(2): fill x (n, m) from right (n, m), both in the order of the user; ``factors`` of `BlockFactors`."""
    first, node, below_at, below, at, store = factors
    sizes, n, m = (at[-1, 0], at[-1, 1]), len(node), right.shape[1]
    work = np.empty(n * m)
    for j in range(n):
        for a in range(m):
            work[j * m + a] = right[node[j], a]
    gathered = np.empty(max(at[-1, 2], 1) * m)
    for s in range(len(first) - 1):
        width, height = (first[s + 1] - first[s]) * m, (below_at[s + 1] - below_at[s]) * m
        D = store[at[s, 0] : at[s, 0] + width * width].reshape(width, width)
        mine = work[first[s] * m : first[s + 1] * m]
        mine[:] = np.dot(D, mine)
        if height > 0:
            begin = sizes[0] + sizes[1] + at[s, 1]
            C = store[begin : begin + width * height].reshape(height, width)
            y = gathered[:height]
            np.dot(C, mine, y)
            for i in range(below_at[s + 1] - below_at[s]):
                to = below[below_at[s] + i] * m
                for a in range(m):
                    work[to + a] -= y[i * m + a]
    for s in range(len(first) - 2, -1, -1):
        width, height = (first[s + 1] - first[s]) * m, (below_at[s + 1] - below_at[s]) * m
        if height == 0:
            continue
        begin = sizes[0] + at[s, 1]
        R = store[begin : begin + width * height].reshape(width, height)
        y = gathered[:height]
        for i in range(below_at[s + 1] - below_at[s]):
            come = below[below_at[s] + i] * m
            for a in range(m):
                y[i * m + a] = work[come + a]
        work[first[s] * m : first[s + 1] * m] -= np.dot(R, y)
    for j in range(n):
        for a in range(m):
            x[node[j], a] = work[j * m + a]


class BlockPattern:
    """Analysed pattern of a matrix of blocks m × m.

    Parameters
    ----------
    pointers, columns : (n + 1,), (nnz,) int64
        Block pattern by rows; symmetric, with every diagonal block.
    m : int
        Size of the blocks.

    Attributes
    ----------
    entries : numbers in the factors
    """

    def __init__(self, pointers: np.ndarray, columns: np.ndarray, m: int) -> None:
        n = len(pointers) - 1
        self.n, self.m, self.pointers, self.columns = n, m, pointers, columns
        position = _minimum_degree(pointers, columns)
        node = np.argsort(position)
        parent, order = np.empty(n, np.int64), np.empty(n, np.int64)
        _elimination_tree(pointers, columns, position, node, parent)
        _postorder(parent, order)
        self.node = np.ascontiguousarray(node[order])
        position = np.argsort(self.node)
        _elimination_tree(pointers, columns, position, self.node, parent)
        start, rows = _structure(pointers, columns, position, self.node, parent)
        self.first = _supernodes(parent, start)
        count = len(self.first) - 1
        self.of, self.below_at = np.empty(n, np.int64), np.empty(count + 1, np.int64)
        self.below, self.at = np.empty(len(rows), np.int64), np.empty((count + 1, 3), np.int64)
        _places(self.first, start, rows, m, self.of, self.below_at, self.below, self.at)
        self.target, self.stride = np.empty(len(columns), np.int64), np.empty(len(columns), np.int64)
        _targets(pointers, columns, position, self.first, self.of, self.below_at, self.below, self.at, m,
                 self.target, self.stride)  # fmt: skip
        self.entries = self.at[-1, 0] + 2 * self.at[-1, 1]

    def factor(self, values: np.ndarray) -> "BlockFactors":
        """`BlockFactors` of the matrix of these blocks (nnz, m, m).

        Raises
        ------
        SingularPivot
            If a supernode has no inverse.
        """
        store, work = np.empty(self.entries), np.empty((self.at[-1, 2] * self.m) ** 2)
        _assemble(values, self.target, self.stride, store)
        try:
            _factor(self.first, self.of, self.below_at, self.below, self.at, self.m, store, work)
        except (np.linalg.LinAlgError, ValueError) as error:
            raise SingularPivot(str(error)) from None
        return BlockFactors((self.first, self.node, self.below_at, self.below, self.at, store), self.m)


class BlockFactors:
    """Factors of a matrix of blocks; call it with a right-hand side (n, m) for the solution (n, m).

    Attributes
    ----------
    parts : tuple of arrays, what `solve_blocks` takes
    """

    def __init__(self, parts: tuple, m: int) -> None:
        self.parts, self.shape = parts, (len(parts[1]), m)

    def __call__(self, right):
        x = np.empty(self.shape)
        solve_blocks(self.parts, np.ascontiguousarray(right).reshape(self.shape), x)
        return x


def _minimum_degree(pointers, columns):
    """Place of each node in an elimination order of little fill, by SuperLU on the graph of the blocks."""
    n = len(pointers) - 1
    degree = np.diff(pointers)
    graph = sp.csc_array((-np.ones(len(columns)), columns, pointers), shape=(n, n))
    graph.setdiag(degree + 1.0)
    order = splu(graph, permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options={"SymmetricMode": True})
    return order.perm_c.astype(np.int64)
