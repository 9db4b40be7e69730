"""Cholesky factors of what is symmetric and positive definite in a matrix, with a border of the few other unknowns.

For patterns that fill in. A matrix of a step is symmetric but for a few rows: those of joints and contacts have no
positive diagonal, those of bodies that rotate, of followers and of friction that slides are not symmetric. With these
as a border b around the rest P

    [ A  B ] [ x ]   [ r   ]        A = L Lᵀ (CHOLMOD),   S = D − C A⁻¹ B (dense LU)
    [ C  D ] [ y ] = [ r_b ] ,      S y = r_b − C A⁻¹ r ,   x = A⁻¹ r − A⁻¹ B y                                     (1)

Rows that have nothing but their diagonal (open contacts) are divided by it. Which rows are the border is measured, in
each matrix: a diagonal that is not positive, or an entry that differs from its transpose by more than `SYMMETRIC` of
the geometric mean of their diagonals. A row that once was in it stays: the pattern of A is then the same for long.

The border may have so many rows that the solutions A⁻¹ B cost a third of an LU factorisation. A matrix with more, and
one whose A is not positive definite (buckling in a step that is too large) or regular by its border alone, is left to
UMFPACK, and the next `PAUSE` ones too.

Source: block elimination; measured on the systems of this project (docs/howto/linear_solvers.md).

    symbol   code     shape    meaning
    P, b     kept, border      unknowns of A and of the border
    A⁻¹ B    columns  (P, b)   for those of the border that have more than their diagonal
"""

from typing import Any

import numpy as np

from fem_mbs.linear.called_back import CalledBack
from fem_mbs.linear.cholmod import Cholesky
from fem_mbs.linear.umfpack import UMFPACK, predicted_fill

SYMMETRIC = 1e-13  # of √(a_ii a_jj): round-off of the sums that entries are
LEAST = 1e-14  # pivot over the largest one, with which A is regular
PAUSE = 16  # matrices for which UMFPACK is taken at once, after one that was not fit for Cholesky
AT_A_TIME = 4.0  # products that many right-hand sides at once take for an entry of A's factor, a third of 2 · 6 singly
SHARE = 3.0  # of the products of an LU factorisation that the border may take


class CholeskyWithBorder(CalledBack):
    """CHOLMOD for the symmetric part, called back from compiled code; UMFPACK where that does not do."""

    name = "CHOLMOD (scikit-sparse)"
    kept = ("taken", "bordered", "pause", "used")

    def __init__(self, n: int, pointers: np.ndarray, rows: np.ndarray) -> None:
        super().__init__(n, pointers, rows)
        self.taken = np.zeros(len(rows), bool)  # entries that are or once were not zero
        self.bordered = np.zeros(n, bool)  # unknowns that are or once were in the border
        self.pause, self.used = np.zeros(1, np.int64), np.zeros(1, np.int64)  # used: of `_BY`, 0: none yet
        self.most = -1  # rows that the border may have; not known yet
        self.columns_of = np.repeat(np.arange(n, dtype=np.int32), np.diff(pointers))
        self.diagonal = np.full(n, -1, np.int64)
        on = np.flatnonzero(rows == self.columns_of)
        self.diagonal[rows[on]] = on
        self.lower, self.upper = self._pairs()
        self.lower_row, self.lower_column = rows[self.lower], self.columns_of[self.lower]
        self.other: Any = None  # UMFPACK's factors
        self.cholesky: Any = None

    def _pairs(self):
        """Places of entries and of their transposes, one of each pair; −1 for a transpose that there is not."""
        below = self.rows.astype(np.int64) * self.n + self.columns_of  # numbers of the transposes
        own = self.columns_of.astype(np.int64) * self.n + self.rows  # rising
        place = np.searchsorted(own, below)
        place[own[np.minimum(place, len(own) - 1)] != below] = -1
        one = (self.rows > self.columns_of) | ((self.rows < self.columns_of) & (place < 0))
        return np.flatnonzero(one).astype(np.int32), place[one].astype(np.int32)

    def foreign_bytes(self) -> int:
        """What the factors hold at most, by AMD's prediction: scikit-sparse does not count; columns of the border."""
        if self.other is not None:
            return self.other.foreign_bytes()
        return 0 if self.cholesky is None else 8 * int(self._fill()[0]) + self.columns.nbytes

    def _factorise(self, values):
        self.factored = values
        new = (values != 0.0) & ~self.taken
        grown = bool(new.any())
        self.taken |= new
        if self.pause[0] > 0:
            self.pause[0] -= 1
        elif self._by_cholesky(values, grown):
            return
        else:
            self.pause[0] = PAUSE
        self._by_umfpack(values)

    def _by_umfpack(self, values):
        self.cholesky = None  # its memory
        if self.other is None:
            self.other = UMFPACK(self.n, self.pointers, self.rows)
            self.other.taken[:] = self.taken
        self.other._factorise(values)
        self.used[0], self.status[0] = 2, self.other.status[0]

    def _by_cholesky(self, values, grown):
        """Whether the matrix has such factors."""
        if not np.isfinite(values).all():
            return False
        if self._find_border(values) or grown or self.cholesky is None:
            self._divide()
            self.cholesky = None
        active = self._active(values)
        if len(active) > self._most():
            self.bordered[:] = False  # what was in it may be symmetric next time
            return False
        if not (self._make(values) and self._make_border(values, active)):
            return False
        self.other = None
        self.used[0], self.status[0] = 1, 0
        return True

    def rebuild(self, state: dict[str, Any]) -> None:
        """As of `LinearSolver`; by the library that has made the factors."""
        pause, used = int(self.pause[0]), int(self.used[0])
        self.other = self.cholesky = None
        self.pause[0] = 0 if used < 2 else 1
        super().rebuild(state)
        self.pause[0] = pause

    def _find_border(self, values):
        """Let the border grow by what this matrix has; whether it did."""
        diagonal = np.where(self.diagonal >= 0, values[self.diagonal], 0.0)
        before = np.count_nonzero(self.bordered)
        self.bordered |= ~(diagonal > 0.0)
        differs = np.abs(values[self.lower] - np.where(self.upper >= 0, values[self.upper], 0.0))
        some = np.flatnonzero(differs)
        row, column = self.lower_row[some], self.lower_column[some]
        root = np.sqrt(np.where(self.bordered, np.inf, diagonal))
        wrong = differs[some] > SYMMETRIC * root[row] * root[column]
        row, column = row[wrong], column[wrong]
        while len(row):  # first those that have the most: an axis that turns, not all the nodes that are tied to it
            number = np.bincount(row, minlength=self.n) + np.bincount(column, minlength=self.n)
            self.bordered |= 2 * number > number.max()
            left = ~(self.bordered[row] | self.bordered[column])
            row, column = row[left], column[left]
        return np.count_nonzero(self.bordered) > before

    def _fill(self):
        return predicted_fill(self.n, self.pointers, self.rows)

    def _most(self):
        if self.most < 0:
            entries, products = self._fill()
            self.most = int(products / (SHARE * AT_A_TIME * max(entries, 1.0)))
        return self.most

    def _divide(self):
        """What the entries that are taken belong to: A, or the border."""
        kept = ~self.bordered
        number = np.where(kept, np.cumsum(kept) - 1, np.cumsum(self.bordered) - 1).astype(np.int32)
        self.inside, self.border = np.flatnonzero(kept), np.flatnonzero(self.bordered)
        row, column = self.rows, self.columns_of
        own = self.taken & kept[row] & kept[column] & (row >= column)
        self.entries = np.flatnonzero(own)
        count = np.bincount(number[column[own]], minlength=len(self.inside))
        self.of_A = np.concatenate([[0], np.cumsum(count)]).astype(np.int32), number[row[own]]
        self.blocks = {}
        for name, mask in (
            ("B", kept[row] & self.bordered[column]),
            ("C", self.bordered[row] & kept[column]),
            ("D", self.bordered[row] & self.bordered[column]),
        ):
            at = np.flatnonzero(self.taken & mask)
            self.blocks[name] = at, number[row[at]], number[column[at]]

    def _active(self, values):
        """Rows of the border that have more than a diagonal."""
        marked = np.zeros(len(self.border), bool)
        for name, (at, row, column) in self.blocks.items():
            there = values[at] != 0.0
            if name == "D":
                there &= row != column
            if name != "B":
                marked[row[there]] = True
            if name != "C":
                marked[column[there]] = True
        return np.flatnonzero(marked)

    def _make(self, values):
        """Factors of A."""
        from scipy.sparse import csc_array

        pointers, rows = self.of_A
        A = csc_array((values[self.entries], rows, pointers), shape=(len(self.inside),) * 2)
        try:
            if self.cholesky is None:
                self.cholesky = Cholesky(A)
            else:
                self.cholesky.factor(A)
        except RuntimeError:
            return False
        return self.cholesky.evenness > LEAST  # else only the border makes the whole matrix regular

    def _make_border(self, values, active):
        """S and A⁻¹ B of (1); False where S is singular."""
        place = np.full(len(self.border), -1, np.int64)
        place[active] = np.arange(len(active))
        diagonal = np.where(self.diagonal >= 0, values[self.diagonal], 0.0)[self.border]
        alone = place < 0
        if (diagonal[alone] == 0.0).any():
            return False
        self.active, self.alone = self.border[active], self.border[alone]
        self.alone_diagonal = diagonal[alone]
        from scipy.sparse import csr_array

        def block(name, shape, dense):
            at, row, column = self.blocks[name]
            row = row if name == "B" else place[row]
            column = column if name == "C" else place[column]
            on = (row >= 0) & (column >= 0)
            found = csr_array((values[at[on]], (row[on], column[on])), shape=shape)
            return found.toarray(order="F") if dense else found

        p, n = len(active), len(self.inside)
        self.columns = np.zeros((n, 0))
        if p == 0:
            return True
        self.columns = self.cholesky.solve(block("B", (n, p), True))
        self.C = block("C", (p, n), False)
        S = block("D", (p, p), True) - self.C @ self.columns
        from scipy.linalg import lapack

        self.S_lu, self.S_pivots, info = lapack.dgetrf(S)
        return info == 0 and bool(np.isfinite(self.S_lu).all())

    def _solution(self, right):
        if self.other is not None:
            return self.other._solution(right)
        if self.cholesky is None:
            return right
        found = np.empty(self.n)
        x = self.cholesky.solve(right[self.inside])
        if len(self.active):
            from scipy.linalg import lapack

            y, _ = lapack.dgetrs(self.S_lu, self.S_pivots, right[self.active] - self.C @ x)
            x -= self.columns @ y
            found[self.active] = y
        found[self.inside] = x
        found[self.alone] = right[self.alone] / self.alone_diagonal
        return found
