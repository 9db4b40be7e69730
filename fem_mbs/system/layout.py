"""Global matrices: their unknowns, positions of the entries of elements, values and linear solver.

A solver requests the matrices it needs from a System (`System.lay_out`) and keeps them. A `Pattern` never changes; the
System keeps one for each kind of matrix that was ever requested, so that it is made once. A `Layout` has the values of
one solver, and its factors.
"""

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from fem_mbs.jit import address
from fem_mbs.linear.base import LinearSolver
from fem_mbs.linear.solvers import choose, suited
from fem_mbs.linear.umfpack import predicted_fill
from fem_mbs.system.records import LAYOUT, STACKED, TRANSLATIONS

if TYPE_CHECKING:
    from fem_mbs.system.compiled import CompiledSystem

MOST = 3  # matrices of one solver that elements are assembled into, see `records.GROUP`
OBSERVING = {"output", "initial", "accept"}  # kernels of elements that enter no matrix
TOGETHER = 4096  # elements whose entries are numbered at once: a kilobyte for each of them, and more
FEW = 300  # unknowns: full factors of them take KLU 10 ms
NO_MATRICES = np.zeros(MOST + 1, LAYOUT)  # of a system that is only evaluated


class Rows(NamedTuple):
    """Rows of a global matrix in addition to those of the n velocities and of the m constraints.

    Attributes
    ----------
    contacts : bool
        Three rows of every contact: normal, t1, t2.
    moments : "" or "all" or "drilling"
        With contacts: three more rows of every contact with moments (rolling about t1, t2, spinning), or one of every
        contact in which drilling is coupled with sliding. With "all" the blocks of all contacts have six rows; those
        that a contact lacks lead nowhere.
    drilling_first : bool
        Of three moments of a contact with coupled drilling that of drilling is the first: it follows those of sliding.
    friction : bool
        One row of every element of joint friction, the last rows of the matrix.
    apart : bool
        A matrix with separate values and factors, though another of the solver has the same rows.
    """

    contacts: bool = False
    moments: str = ""
    drilling_first: bool = False
    friction: bool = False
    apart: bool = False


class Stack(NamedTuple):
    """A matrix of blocks, all with the pattern of one other matrix: coupled problems with the unknowns of one each.

    Elements are assembled into the other matrix, block by block, and `global_matrices.add_block` adds that to a block.

    Attributes
    ----------
    of : int
        Number of the matrix whose pattern the blocks have.
    blocks : tuple of text
        A row of blocks each, as "xx.": x where there is a block, a point where there is none.
    """

    of: int
    blocks: tuple[str, ...]


class Pattern:
    """Pattern of a global matrix, compressed by columns, and the index maps of all groups of elements.

    Attributes
    ----------
    n : int, unknowns
    pointers, rows : (n + 1,), (nnz,) int32
    diagonal : (n,) int64, places of the diagonal in the values
    stack : int64 array for `global_matrices.add_block`, or None
    maps : for each group (elements, nd, nd) int32, place of an entry in the values, −1: none; or None
        Of elements of translations alone (elements, nn, nn): for each pair of nodes where the rows of the first begin
        in the columns of the second, see `assembly.scatter_blocks`.
    """

    stack: np.ndarray | None = None

    def __init__(self, system: "CompiledSystem", rows: Rows, dense: bool) -> None:
        n = self.n = size_of(system, rows)
        narrow = [group for group in system.groups if group.width == TRANSLATIONS and _in_matrices(group)]
        blocks = [None if group in narrow else _unknowns(system, group, rows) for group in system.groups]
        pairs = {id(group): _node_pairs(system, group.nodes) for group in narrow}
        if dense:
            unique = np.arange(n * n, dtype=np.int64)
        else:
            keys = [np.arange(n, dtype=np.int64) * (n + 1)]
            keys += [_unique(_entries_of_pairs(system, n, numbers)) for numbers, _ in pairs.values()]
            for block in (block for block in blocks if block is not None):
                keys += [_unique(place[place >= 0]) for place in _places(n, *block)]
            entries = np.concatenate(keys)
            del keys
            unique = _unique(entries)
            del entries
        self.pointers = np.searchsorted(unique, np.arange(n + 1, dtype=np.int64) * n).astype(np.int32)
        self.rows = (unique % n).astype(np.int32)
        self.diagonal = np.searchsorted(unique, np.arange(n, dtype=np.int64) * (n + 1)).astype(np.int64)
        self.maps: list[Any] = [None if block is None else _map(unique, n, *block) for block in blocks]
        for k, group in enumerate(system.groups):
            if id(group) in pairs:
                numbers, which = pairs[id(group)]
                self.maps[k] = self._begins(system, unique, numbers)[which]

    @cached_property
    def fill(self) -> tuple[float, float]:
        """Entries and products of an elimination, as in `predicted_fill`; (0, 0) of few unknowns."""
        return (0.0, 0.0) if self.n <= FEW else predicted_fill(self.n, self.pointers, self.rows)

    def places(self, system: "CompiledSystem") -> list[np.ndarray]:
        """Places in the values of the entries that each group of elements has; some several times."""
        found = []
        keys = np.repeat(np.arange(self.n, dtype=np.int64), np.diff(self.pointers)) * self.n + self.rows
        for group, where in zip(system.groups, self.maps):
            if where is not None and group.width == TRANSLATIONS:
                entries = _entries_of_pairs(system, self.n, _node_pairs(system, group.nodes)[0])
                found.append(np.searchsorted(keys, entries))
            elif where is not None:
                found.append(where.ravel())
        return found

    def _begins(self, system, unique, numbers):
        """First rows of the first node of each pair in every column of the second (k,), −1: nowhere."""
        n, N = self.n, len(system.nodes)
        dof, begins = system.dof.reshape(N, 6), np.full(len(numbers), -1, np.int64)
        column_node, row_node = np.divmod(numbers, N)
        row = _first_free(dof)[row_node]
        for j in range(3):
            column = dof[column_node, j]
            there = np.flatnonzero((row >= 0) & (column >= 0))
            at = np.searchsorted(unique, column[there] * n + row[there]) - self.pointers[column[there]]
            known = begins[there]
            if ((known >= 0) & (known != at)).any():
                raise AssertionError("columns of one node have different rows")
            begins[there] = at
        return begins.astype(np.int32)


class StackedPattern(Pattern):
    """Pattern of a matrix of blocks; elements are not assembled into it.

    Parameters
    ----------
    block : Pattern
    present : (k, k) bool
        Which blocks there are; with all of them a pattern of all entries stays one.
    """

    def __init__(self, block: Pattern, present: np.ndarray) -> None:
        k, n, lengths = len(present), block.n, np.diff(block.pointers.astype(np.int64))
        number = present.sum(axis=0)
        columns = np.concatenate([lengths * count for count in number])
        self.n, self.maps = k * n, []
        self.pointers = np.concatenate([[0], np.cumsum(columns)]).astype(np.int32)
        below = [np.flatnonzero(present[:, column]) * n for column in range(k)]  # first row of each block
        parts = [block.rows[a:b] for a, b in zip(block.pointers[:-1], block.pointers[1:])]
        self.rows = np.concatenate(
            [(firsts[:, None] + part).ravel() for firsts in below for part in parts] or [np.zeros(0, np.int64)]
        ).astype(np.int32)
        column_of = np.repeat(np.arange(self.n), np.diff(self.pointers))
        self.diagonal = np.flatnonzero(self.rows == column_of)
        table = np.zeros((k, k + 2), np.int64)
        table[:, 0] = self.pointers[:-1:n] if n else 0
        table[:, 1] = number
        table[:, 2:] = (np.cumsum(present, axis=0) - 1).T
        self._block = block  # whose pointers compiled code reads
        self.stack = np.concatenate([[k, n, address(block.pointers)], table.ravel()]).astype(np.int64)


def size_of(system: "CompiledSystem", rows: Rows) -> int:
    """Number of unknowns of a matrix."""
    n = system.n + system.m
    if rows.contacts:
        n += 3 * system.nc + {"": 0, "all": 3 * system.n_roll, "drilling": system.n_drill}[rows.moments]
    return n + (system.n_friction if rows.friction else 0)


def _in_matrices(group):
    """True if the elements of a group add to matrices."""
    first = group.elements[0]
    return bool({*first.kernels, *first.python_kernels} - OBSERVING)


def _first_free(dof):
    """First unknown of the translations of nodes, dof (N, 6); −1 of those that are fixed."""
    free = dof[:, :3] >= 0
    return np.where(free.any(axis=1), dof[np.arange(len(dof)), free.argmax(axis=1)], -1)


def _node_pairs(system, nodes):
    """Pairs of nodes of elements (n, nn), numbers column · N + row, rising; and the pair of each (n, nn, nn)."""
    n, nn = nodes.shape
    pairs = (nodes[:, None, :] * len(system.nodes) + nodes[:, :, None]).ravel()
    order = np.argsort(pairs, kind="stable")
    sorted_pairs = pairs[order]
    first = np.ones(len(pairs), bool)
    np.not_equal(sorted_pairs[1:], sorted_pairs[:-1], out=first[1:])
    which = np.empty(len(pairs), np.int32)
    which[order] = np.cumsum(first) - 1
    return sorted_pairs[first], which.reshape(n, nn, nn)


def _entries_of_pairs(system, n, numbers):
    """Numbers column · n + row of the entries of pairs of nodes."""
    dof = system.dof.reshape(-1, 6)[:, :3]
    column_node, row_node = np.divmod(numbers, len(dof))
    column, row = dof[column_node][:, :, None], dof[row_node][:, None, :]
    return (column * n + row)[(column >= 0) & (row >= 0)]


def _unknowns(system, group, rows):
    """Unknowns (elements, k) of the elements of a group, and which entries (k, k) they have; None: no entries."""
    first, count, n, m, nc = group.elements[0], group.n, system.n, system.m, system.nc
    if not _in_matrices(group):
        return None
    ids = system.dof[6 * group.nodes[:, :, None] + np.arange(6)].reshape(len(group.nodes), -1)
    nd = ids.shape[1]
    if first.role == "constraint":
        ids = np.hstack([ids, n + group.first_row + np.arange(count * first.rows).reshape(count, first.rows)])
    elif first.role == "contact":
        if not rows.contacts:
            return None
        index = group.first_contact + np.arange(count)
        parts = [ids, n + m + 3 * index[:, None] + np.arange(3)]
        if rows.moments == "all":
            roll = system.roll_index[index][:, None]
            order = [2, 0, 1] if group.drilling and rows.drilling_first else [0, 1, 2]
            parts.append(np.where(roll >= 0, n + m + 3 * nc + 3 * roll + order, -1))
        elif rows.moments == "drilling" and group.drilling:
            parts.append(n + m + 3 * nc + system.drill_index[index][:, None])
        ids = np.hstack(parts)
    elif first.role == "friction":
        if not rows.friction:
            return None
        first_own, k = size_of(system, rows) - system.n_friction + group.first_friction, first.directions
        own = first_own + np.arange(count * k).reshape(count, k)
        ids = np.hstack([ids, own, n + group.joint_rows[:, None] + np.arange(first.rows)])
    mask = np.ones((ids.shape[1], ids.shape[1]), bool)
    if first.role == "constraint":
        mask[nd:, nd:] = np.eye(first.rows, dtype=bool)
    elif first.role == "friction":
        own_end = nd + first.directions
        mask[own_end:] = mask[:nd, own_end:] = False  # its rows alone have the multipliers of the joint
    return ids, mask


def _places(n, ids, mask):
    """Numbers column · n + row of the entries of some elements after the other, −1 where there is none."""
    for first in range(0, len(ids), TOGETHER):
        some = ids[first : first + TOGETHER]
        r, c = some[:, :, None], some[:, None, :]
        yield np.where((r >= 0) & (c >= 0) & mask[None], c * n + r, -1)


def _unique(numbers):
    """Each number once, sorted. NumPy hashes integers: these, in steps of n, take it twenty times as long.

    They come in rising runs, columns of elements and parts that were sorted before, which the stable sort merges.
    """
    numbers = np.sort(numbers, kind="stable")
    first = np.ones(len(numbers), bool)
    np.not_equal(numbers[1:], numbers[:-1], out=first[1:])
    return numbers[first]


def _map(unique, n, ids, mask):
    """Places of the entries of elements in the values of a pattern."""
    places, first = np.empty((len(ids), *mask.shape), np.int32), 0
    for place in _places(n, ids, mask):
        where = np.searchsorted(unique, np.where(place >= 0, place, 0))
        places[first : first + len(place)] = np.where(place >= 0, where, -1)
        first += len(place)
    return places


class Layout:
    """One global matrix: its pattern, with its values (nnz,) and linear solver."""

    def __init__(self, pattern: Pattern, solver_class: type[LinearSolver]) -> None:
        self.pattern, self.n, self.pointers, self.rows = pattern, pattern.n, pattern.pointers, pattern.rows
        self.values = np.zeros(len(self.rows))
        self.solver = solver_class(self.n, self.pointers, self.rows)

    def record(self) -> tuple:
        """Numbers of a `LAYOUT` record."""
        s = self.solver
        return (
            self.n,
            len(self.values),
            address(self.values),
            address(self.pattern.diagonal),
            s.factor_address,
            s.solve_address,
            s.context_address,
            address(s.status),
            0 if self.pattern.stack is None else address(self.pattern.stack),
            address(self.pointers),
        )

    def matrix(self) -> Any:
        """The matrix as a SciPy sparse array (a copy)."""
        from scipy.sparse import csc_array

        return csc_array((self.values.copy(), self.rows, self.pointers), shape=(self.n, self.n))


class Matrices:
    """The matrices of one solver, and the records by which compiled code finds the system with them.

    Parameters
    ----------
    system : System
    rows : sequence of Rows, at most `MOST`
        Of each matrix; matrices with the same rows are one.
    stack : Stack, optional
        One more matrix, number `records.STACKED`, of blocks.

    Attributes
    ----------
    layouts : list of Layout
    data : (1,) record of the system, as the kernels of `fem_mbs.system.assembly` take it; stays where it is
    """

    def __init__(self, system: "CompiledSystem", rows: Sequence[Rows], stack: Stack | None = None) -> None:
        if len(rows) > MOST:
            raise ValueError(f"a solver can have {MOST} matrices, {len(rows)} were requested")
        self.system = system
        rows = [_necessary(system, r) for r in rows]
        repeated = {} if stack is None else {rows[stack.of]: len(stack.blocks)}
        made = {r: self._layout(r, repeated.get(r, 1)) for r in dict.fromkeys(rows)}
        self.layouts = [made[r] for r in rows]
        self.records = np.zeros(MOST + 1, LAYOUT)
        for k, layout in enumerate(self.layouts):
            self.records[k] = layout.record()
        self.stacked = None if stack is None else self._stacked(stack)
        self.groups, self.data = system.group_records.copy(), system.data.copy()
        self._groups_at, self._records_at = address(self.groups), address(self.records)
        self._maps_at = np.zeros((len(self.groups), MOST), np.int64)
        for k, layout in enumerate(self.layouts):
            self._maps_at[:, k] = [0 if places is None else address(places) for places in layout.pattern.maps]
        self.update()

    def _layout(self, rows, times):
        """A matrix, with the solver that suits ``times`` its size: that of a stacked one reads the same pattern."""
        system = self.system
        size = times * size_of(system, rows)
        # coupled blocks fill a stacked one: without KLU chains with 2-4 stages are faster by dense LU up to 150
        solver = choose(size if times == 1 else 2 * size // 5, system.linear_solver)
        pattern = system.pattern(rows, solver.__name__ == "DenseLU")
        if times == 1 and system.linear_solver is None:
            solver = suited(solver, pattern)
        return Layout(pattern, solver)

    def _stacked(self, stack):
        """The matrix of blocks; without those that it does not have, unless all entries are stored."""
        block = self.layouts[stack.of]
        present = np.array([[mark == "x" for mark in row] for row in stack.blocks])
        dense = type(block.solver).__name__ == "DenseLU"
        pattern, kind = StackedPattern(block.pattern, present | dense), type(block.solver)
        if self.system.linear_solver is None:
            kind = suited(kind, pattern, symmetric=False)
        layout = Layout(pattern, kind)
        self.records[STACKED] = layout.record()
        return layout

    def update(self) -> None:
        """Take over the records of the system, which change with the pairs of contact groups."""
        self.groups[:], self.data[:] = self.system.group_records, self.system.data
        self.groups["maps_at"] = self._maps_at
        self.data["groups_at"], self.data["layouts_at"] = self._groups_at, self._records_at


def _necessary(system, rows):
    """The rows that there are in this system."""
    friction = rows.friction and system.n_friction > 0
    if system.nc == 0 and not system.searches:
        return Rows(friction=friction, apart=rows.apart)
    if rows.contacts and system.searches:
        raise ValueError("contacts of contact groups come and go: a matrix cannot have rows of them")
    return rows._replace(friction=friction)
