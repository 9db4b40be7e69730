"""Factors by KLU in compiled code: which entries it is given, when it analyses anew, when it takes new pivots.

KLU is given the entries that are or were not zero, found by one pass over the values: half of what
elements could fill is zero in most models (planar motion, frames along axes, open contacts). When others appear it
analyses the pattern anew. Where more than half have become zero (contacts that opened) it forgets these: after
`AMORTISED` factorisations, then after twice as many, and so on. Where it would analyse too often, see `ANALYSES`, it is
given more than it needs.

Diagonal matrices need no factors: KLU would scale their rows to ±1 and divide by that, which gives the same bits. Free
bodies with principal axes have no others, spheres above all, and KLU would take a kilobyte for each.

KLU keeps the pivots of its first factorisation; the first solve with new factors checks the residual and factorises
afresh when it exceeds `REFRESH` of the right-hand side. Rows are scaled, KLU's default, where pivots are chosen:
without it solutions lose five digits. Once pivots are given scales change round-off only, L to D L D⁻¹ and U to D U,
so that a refactorisation leaves them out: it is a fifth cheaper. KKT matrices with a zero block need KLU's block
triangular form, which is its default.

Source: measured on the systems of this project (docs/howto/linear_solvers.md).
"""

import numpy as np
from numba import carray

from fem_mbs.jit import entry, indices, integers, kernel, vector, void_pointer
from fem_mbs.linear.calls import call5, call6

REFRESH = 1e-10
ANALYSES, AMORTISED = 32, 64  # of a pattern: that many, and one more in so many factorisations
FEWER = 2  # times what is not zero: of more entries KLU is given the others no longer
EARLIER, IN_USE = 1, 2  # entries that KLU was given before, and those it is given
SCALED, UNSCALED = 2, -1  # by the largest entry of each row; not, nor are indices checked again
# symbolic_at and numeric_at are addresses of one pointer each; taken, used_* and values: the entries that KLU is given
KLU_DATA = np.dtype(
    [(name, "i8") for name in ("n", "nnz", "pointers_at", "rows_at", "common_at", "symbolic_at", "numeric_at")]
    + [(name, "i8") for name in ("analyze", "factor", "refactor", "solve", "free", "free_symbolic", "status_at")]
    + [(name, "i8") for name in ("taken_at", "used_pointers_at", "used_rows_at", "where_at", "values_at", "work_at")]
    + [("scale_at", "i8")]  # of KLU's switch
    + [(name, "i8") for name in ("used", "analyses", "factorisations", "since", "wait", "checked")]
    + [(name, "i8") for name in ("diagonal", "diagonal_at")]  # whether the matrix is, and its entries
    + [("pivoted_at", "i8")]  # values that the pivots were chosen for
)


@kernel
def _klu_release(c):
    """Give factors back."""
    numeric_at = integers(c.numeric_at, 1)
    if numeric_at[0] != 0:
        call5(c.free, c.numeric_at, c.common_at, 0, 0, 0)
        numeric_at[0] = 0


@kernel
def _klu_again(c):
    """Factorise with the pivots there are, without scales; False when one of them is zero."""
    symbolic, numeric = integers(c.symbolic_at, 1)[0], integers(c.numeric_at, 1)[0]
    scale = indices(c.scale_at, 1)
    scale[0] = UNSCALED
    good = call6(c.refactor, c.used_pointers_at, c.used_rows_at, c.values_at, symbolic, numeric, c.common_at)
    scale[0] = SCALED
    return good & 0xFFFFFFFF != 0


@kernel
def _klu_fresh(c):
    """Factorise with new pivots; the status word is 1 when the matrix is singular.

    Factors are then made as later ones are: their bits do not depend on when the pivots were chosen.
    """
    _klu_release(c)
    symbolic, numeric = integers(c.symbolic_at, 1)[0], 0
    kept, pivoted = vector(c.values_at, c.used), vector(c.pivoted_at, c.used)
    for k in range(c.used):
        pivoted[k] = kept[k]
    if symbolic != 0:
        numeric = call5(c.factor, c.used_pointers_at, c.used_rows_at, c.values_at, symbolic, c.common_at)
    integers(c.numeric_at, 1)[0] = numeric
    if numeric != 0 and not _klu_again(c):
        numeric = 0
    integers(c.status_at, 1)[0] = 0 if numeric != 0 else 1


@kernel
def _klu_gather(c, values):
    """Copy the values of the entries that KLU is given; returns how many are not zero, of all and of these."""
    where, kept = indices(c.where_at, c.nnz), vector(c.values_at, c.nnz)
    total = found = 0
    for i in range(c.nnz):
        total += 1 if values[i] != 0.0 else 0
    for k in range(c.used):
        value = values[where[k]]
        kept[k] = value
        found += 1 if value != 0.0 else 0
    return total, found


@kernel
def _klu_forget(c):
    """Mark the entries that KLU was given as `EARLIER` ones."""
    taken = indices(c.taken_at, c.nnz)
    for k in range(c.nnz):
        taken[k] = min(taken[k], EARLIER)
    c.wait, c.since = 2 * c.wait, 0


@kernel
def _klu_analyse(c, values):
    """Give KLU the entries in use and those that are not zero now; where that happens too often all earlier ones too,
    and then all.
    """
    pointers, rows, taken = indices(c.pointers_at, c.n + 1), indices(c.rows_at, c.nnz), indices(c.taken_at, c.nnz)
    used_pointers, used_rows = indices(c.used_pointers_at, c.n + 1), indices(c.used_rows_at, c.nnz)
    where, kept, used = indices(c.where_at, c.nnz), vector(c.values_at, c.nnz), 0
    often = c.analyses // (ANALYSES + c.factorisations // AMORTISED)
    least = IN_USE if often == 0 else EARLIER if often == 1 else 0
    for j in range(c.n):
        for k in range(pointers[j], pointers[j + 1]):
            if values[k] != 0.0 or taken[k] >= least:
                taken[k] = IN_USE
                where[used], used_rows[used], kept[used] = k, rows[k], values[k]
                used += 1
        used_pointers[j + 1] = used
    c.used, c.analyses = used, c.analyses + 1
    _klu_release(c)
    symbolic_at = integers(c.symbolic_at, 1)
    if symbolic_at[0] != 0:
        call5(c.free_symbolic, c.symbolic_at, c.common_at, 0, 0, 0)
    symbolic_at[0] = call5(c.analyze, c.n, c.used_pointers_at, c.used_rows_at, c.common_at, 0)


@kernel
def _is_diagonal(c, values):
    """Whether just the diagonal is not zero, and all of it; copies it."""
    pointers, rows = indices(c.pointers_at, c.n + 1), indices(c.rows_at, c.nnz)
    diagonal = vector(c.diagonal_at, c.n)
    for j in range(c.n):
        found = False
        for k in range(pointers[j], pointers[j + 1]):
            if values[k] != 0.0:
                if rows[k] != j:
                    return False
                diagonal[j], found = values[k], True
        if not found:
            return False
    return True


@entry("void(int64, int64)")
def klu_factor(context, values_at):
    c = carray(void_pointer(context), (1,), KLU_DATA)[0]
    values = vector(values_at, c.nnz)
    c.checked = 0
    c.diagonal = 1 if _is_diagonal(c, values) else 0
    if c.diagonal != 0:
        integers(c.status_at, 1)[0] = 0
        return
    total, found = _klu_gather(c, values)
    c.factorisations += 1
    c.since += 1
    fewer = c.since >= c.wait and FEWER * found < c.used
    if fewer:
        _klu_forget(c)
    if fewer or total != found or c.analyses == 0:
        _klu_analyse(c, values)
    if integers(c.numeric_at, 1)[0] != 0:
        integers(c.status_at, 1)[0] = 0
        if _klu_again(c):
            return
    _klu_fresh(c)


@entry("void(int64, int64)")
def klu_rebuild(context, values_at):
    """Analyse and factorise as it was done before, with pivots of the values at `pivoted`; then with those given."""
    c = carray(void_pointer(context), (1,), KLU_DATA)[0]
    symbolic_at = integers(c.symbolic_at, 1)
    if symbolic_at[0] != 0:
        call5(c.free_symbolic, c.symbolic_at, c.common_at, 0, 0, 0)
    symbolic_at[0] = call5(c.analyze, c.n, c.used_pointers_at, c.used_rows_at, c.common_at, 0)
    given, kept, pivoted = vector(values_at, c.nnz), vector(c.values_at, c.nnz), vector(c.pivoted_at, c.nnz)
    for k in range(c.used):
        kept[k] = pivoted[k]
    _klu_fresh(c)
    for k in range(c.used):
        kept[k] = given[k]
    if integers(c.numeric_at, 1)[0] != 0:
        _klu_again(c)


@kernel
def _klu_residual(c, right, solution):
    """Largest residual and largest right-hand side entry of a solve; ``work`` is scratch."""
    pointers, rows = indices(c.used_pointers_at, c.n + 1), indices(c.used_rows_at, c.nnz)
    values, residual = vector(c.values_at, c.nnz), vector(c.work_at + 8 * c.n, c.n)
    for i in range(c.n):
        residual[i] = right[i]
    for j in range(c.n):
        for k in range(pointers[j], pointers[j + 1]):
            residual[rows[k]] -= values[k] * solution[j]
    worst, scale = 0.0, 0.0
    for i in range(c.n):
        worst = max(worst, abs(residual[i]))
        scale = max(scale, abs(right[i]))
    return worst, scale


@kernel
def _klu_substitute(c, right_at):
    """Solve with the factors."""
    symbolic, numeric = integers(c.symbolic_at, 1)[0], integers(c.numeric_at, 1)[0]
    call6(c.solve, symbolic, numeric, c.n, 1, right_at, c.common_at)


@kernel
def _klu_bad(c, right_at):
    """Whether a solve leaves a residual above `REFRESH`; the right-hand side is that kept in ``work``."""
    right, kept = vector(right_at, c.n), vector(c.work_at, c.n)
    for i in range(c.n):
        right[i] = kept[i]
    _klu_substitute(c, right_at)
    worst, scale = _klu_residual(c, kept, right)
    return not worst <= REFRESH * scale


@entry("void(int64, int64)")
def klu_solve(context, right_at):
    c = carray(void_pointer(context), (1,), KLU_DATA)[0]
    if c.diagonal != 0:
        right, diagonal = vector(right_at, c.n), vector(c.diagonal_at, c.n)
        for i in range(c.n):
            right[i] /= diagonal[i]
        return
    numeric_at = integers(c.numeric_at, 1)
    if numeric_at[0] == 0:
        return
    if c.checked != 0:
        _klu_substitute(c, right_at)
        return
    c.checked = 1
    right, kept = vector(right_at, c.n), vector(c.work_at, c.n)
    for i in range(c.n):
        kept[i] = right[i]
    if _klu_bad(c, right_at):
        _klu_fresh(c)
        if numeric_at[0] != 0:
            _klu_bad(c, right_at)
