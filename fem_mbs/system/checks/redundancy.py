"""Redundant constraint rows: which, and the number of independent ones."""

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from fem_mbs.system.compiled import CompiledSystem

ROUND_OFF = 1e-12  # of a row with all components: its remainder without the fixed ones is 0
RANK_TOLERANCE = 1e-9  # of the pivots of the row-normalised gradient; independent rows of real mechanisms are > 1e-4
FEW = 100  # rows up to which independence is shown without SciPy
DENSE_RANK_LIMIT = 1500  # rows up to which the rank is found with a dense pivoted QR


def dependent_rows(gradient: Any, components: np.ndarray) -> list[int]:
    """Rows of a sparse gradient (m, 6 N) that are combinations of the others in the chosen components (mask, (6 N,)).

    Of more than `DENSE_RANK_LIMIT` rows perhaps not all, but one at least where there are any.
    """
    from scipy.sparse import csr_array

    rows = csr_array(gradient[:, np.flatnonzero(components)])
    scale = row_norms(rows)
    counts = scale > ROUND_OFF * row_norms(gradient)  # axes of joints are turned: 1e-17 stands where 0 is meant
    zero, rest = np.flatnonzero(~counts), np.flatnonzero(counts)
    if not rest.size:
        return [int(i) for i in zero]
    found = (_dense if len(rest) <= DENSE_RANK_LIMIT else _sparse)(rows[rest], scale[rest])
    return [int(i) for i in (*zero, *rest[found])]


def row_norms(rows: Any) -> np.ndarray:
    """Euclidean norms (m,) of the rows of a sparse matrix."""
    return np.sqrt(np.asarray(rows.multiply(rows).sum(axis=1)).ravel())


def _dense(rows, scale):
    from scipy.linalg import qr

    r, order = qr((rows.toarray() / scale[:, None]).T, mode="r", pivoting=True)
    diagonal = np.abs(np.diag(r))
    return order[int((diagonal > RANK_TOLERANCE * diagonal.max()).sum()) :]


def _sparse(rows, scale):
    from scipy.sparse import diags_array
    from scipy.sparse.linalg import splu

    rows = diags_array(1.0 / scale) @ rows
    try:
        factors = splu((rows @ rows.T).tocsc())
    except RuntimeError:  # exactly singular: the row cannot be identified
        return np.zeros(1, int)
    pivots = np.abs(factors.U.diagonal())
    return factors.perm_c.argsort()[pivots < RANK_TOLERANCE**2 * pivots.max()]


def gradient_of(system: "CompiledSystem") -> Any:
    """Gradient of all constraints (m, 6 N) as a sparse array.

    At the state that `System.constraint_values` was called with last.
    """
    from scipy.sparse import csc_array

    return csc_array(_entries(system), shape=(system.m, 6 * len(system.nodes)))


def _entries(system):
    """Values of the gradients of all constraints, and their places (rows, columns)."""
    rows, columns, values = [np.zeros(0, int)], [np.zeros(0, int)], [np.zeros(0)]
    for group in system.groups:
        if group.elements[0].role != "constraint":
            continue
        n, nr, nd = group.G.shape
        row = group.first_row + np.arange(n * nr).reshape(n, nr, 1)
        column = (6 * group.nodes[:, :, None] + np.arange(6)).reshape(n, 1, nd)
        for found, array in ((rows, row), (columns, column), (values, group.G)):
            found.append(np.broadcast_to(array, (n, nr, nd)).ravel())
    return np.concatenate(values), (np.concatenate(rows), np.concatenate(columns))


def normalised_rows(system: "CompiledSystem") -> np.ndarray | None:
    """Gradients (m, n) of the constraints that are on, in free components, each of length 1 or 0; None where many.

    At the state that `System.constraint_values` was called with last.
    """
    free, active = np.flatnonzero(system.free.ravel()), np.flatnonzero(system.active_rows)
    if not len(active) or len(active) > DENSE_RANK_LIMIT // 3 or len(free) > 3 * DENSE_RANK_LIMIT:
        return None
    values, (row, column) = _entries(system)
    place = np.full(system.m, -1)
    place[active] = np.arange(len(active))
    on = place[row] >= 0
    whole = np.zeros((len(active), system.free.size))
    np.add.at(whole, (place[row[on]], column[on]), values[on])
    rows = whole[:, free]
    scale = np.linalg.norm(rows, axis=1)
    return rows / np.where(scale > ROUND_OFF * np.linalg.norm(whole, axis=1), scale, np.inf)[:, None]


def singular_values(rows: np.ndarray) -> np.ndarray:
    """Singular values (m,) of rows (m, n), falling; zeros where there are more rows than columns."""
    values = np.linalg.svd(rows, compute_uv=False)
    return np.append(values, np.zeros(len(rows) - len(values)))


def surely_independent(system: "CompiledSystem") -> bool:
    """True if no row of a few constraints that are on depends on others, by NumPy: SciPy takes longer to import.

    With rows of length 1 the smallest singular value is a bound from below of all pivots that `_dense` compares.
    """
    free = system.free.ravel()
    active = system.active_rows
    if active.sum() > min(FEW, free.sum()) or free.size > 100 * FEW:
        return False
    if not active.any():
        return True
    gradient = np.zeros((system.m, free.size))
    values, places = _entries(system)
    np.add.at(gradient, places, values)
    rows, whole = gradient[active][:, free], np.linalg.norm(gradient[active], axis=1)
    scale = np.linalg.norm(rows, axis=1)
    if not (scale > ROUND_OFF * whole).all():
        return False
    return bool(np.linalg.svd(rows / scale[:, None], compute_uv=False)[-1] > RANK_TOLERANCE)


def independent_count(system: "CompiledSystem") -> int:
    """Number of constraint rows that count, at the initial configuration; those that are off do not."""
    if not system.m:
        return 0
    system.constraint_values(system.initial)
    count = int(system.active_rows.sum())
    if surely_independent(system):
        return count
    return count - len(dependent_rows(gradient_of(system)[system.active_rows], system.free.ravel()))


def repeated(system: "CompiledSystem", element: Any) -> tuple[int, list]:
    """Number of redundant rows of an active constraint, and the other elements that impose the same.

    At the state that `System.constraint_values` was called with last; nothing where all rows are independent.
    """
    if not system.m or surely_independent(system):
        return 0, []
    active, free = np.flatnonzero(system.active_rows), system.free.ravel()
    own = np.zeros(system.m, bool)
    own[system.rows[element]] = True
    gradient = gradient_of(system)
    before = active[~own[active]]
    count = len(dependent_rows(gradient[active], free)) - len(dependent_rows(gradient[before], free))
    if count <= 0:
        return 0, []
    rows, others = gradient[np.flatnonzero(own)][:, np.flatnonzero(free)], gradient[before][:, np.flatnonzero(free)]
    found = []
    if len(before) and len(before) <= DENSE_RANK_LIMIT:
        parts = np.linalg.lstsq(others.toarray().T, rows.toarray().T, rcond=RANK_TOLERANCE)[0]
        acts = np.abs(parts).max(axis=1) > 1e-6 * max(np.abs(parts).max(), 1e-300)
        found = list(dict.fromkeys(system.unknown(system.n + row)[0] for row in before[acts]))
    return count, found
