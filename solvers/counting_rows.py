"""Independent constraint rows: those that are on, without redundant ones.

Matrices of small motions and of equilibria are regular with these rows K alone. The multipliers of all rows are then
not unique; those of least norm with the same forces are reported,

    λ = S λ_K,    S = a Gₐ⁺ᵀ G_Kᵀ,    Gₐ = a G,    a = 1 of lengths, the size of the model of angles                (1)

which for equal joints is an equal share. Gᵀλ, and with it all that moves, does not depend on the choice: on the motions
that constraints allow, −∂(Gᵀλ)/∂q is the same for all λ with the same Gᵀλ as long as the rank stays.

    symbol  code      shape     meaning
    K       kept      (k,)      rows that count
    S       spread    (m, k)    multipliers of all rows from those of K
    a       arm       (m,)      [m] or [-], see `fem_mbs.system.sizes`

Source: docs/theory/statics_and_modes.md, (10).
"""

from typing import TYPE_CHECKING

import numpy as np

from fem_mbs.errors import SolverError
from fem_mbs.system.checks.redundancy import ROUND_OFF, dependent_rows

if TYPE_CHECKING:
    from scipy.sparse import csc_array

    from fem_mbs.system.compiled import CompiledSystem


SAME = 1e-6  # of pivots of rows of length 1: states are known to 1e-9; independent rows of mechanisms have 1e-4
MOST = 1500  # rows up to which redundant ones are found with a full matrix


def counting_rows(system: "CompiledSystem", G: "csc_array") -> np.ndarray:
    """Numbers of the rows of G (m or more, n) that count: the first m are those of the system, others always are on.

    Raises
    ------
    SolverError
        More than 1500 rows of which some are redundant.
    """
    extra = G.shape[0] - system.m
    on = np.flatnonzero(np.append(system.active_rows, np.ones(extra, bool)))
    looked_at = system.rows_repeat or (extra and len(on) <= MOST)  # contacts in many rows: they rarely repeat
    return on[independent(G[on], system.name)] if looked_at else on


def independent(rows: "csc_array", name: str) -> np.ndarray:
    """Numbers of as many rows of a sparse matrix as are independent of each other, in order."""
    from scipy.linalg import qr

    count = rows.shape[0]
    there = _there(rows)
    if len(there) < 2:
        return there
    if count > MOST and not dependent_rows(rows, np.ones(rows.shape[1], bool)):
        return there
    if count > MOST:
        raise SolverError(
            f"'{name}' has {count} constraint rows of which some are redundant: these are found among up to {MOST} "
            "rows. Compile it with redundant='error', which names the rows, and replace joints as it says"
        )
    full = rows.toarray()
    size = np.linalg.norm(full[there], axis=1)
    R, order = qr((full[there] / size[:, None]).T, mode="r", pivoting=True)
    pivots = np.abs(np.diag(R))
    return np.sort(there[order[: int((pivots > SAME * pivots.max(initial=0.0)).sum())]])


def _there(rows):
    """Rows that hold something that is free: 1e-17 stands where 0 is meant."""
    size = np.sqrt(np.asarray(rows.multiply(rows).sum(axis=1)).ravel())
    return np.flatnonzero(size > ROUND_OFF * size.max(initial=0.0))


def spread(rows: "csc_array", kept: np.ndarray, arm: np.ndarray) -> "csc_array":
    """S (m, k) of (1), sparse where every row that is on counts."""
    from scipy.sparse import csc_array

    m, k = rows.shape[0], len(kept)
    selection = csc_array((np.ones(k), (kept, np.arange(k))), shape=(m, k))
    if k == 0 or k == len(_there(rows)):
        return selection
    scaled = (arm[:, None] * rows.toarray()).T
    return csc_array(arm[:, None] * np.linalg.lstsq(scaled, rows[kept].toarray().T, rcond=SAME)[0])
