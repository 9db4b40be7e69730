"""Why constraint rows are dependent: the loops that repeat them, and weaker joints that would not.

Let I be a largest set of independent rows of the gradient G, in the components that are free. A row d outside of it is
one combination of them,

    G_d = Σ c_i G_i ,   i ∈ I,                                                                                     (1)

and the rows with c_i ≠ 0 are, with d, a smallest dependent set. Sets that share a joint are one loop. Joints of a loop
are replaced by weaker ones, whose rows are among theirs, until the remaining rows are independent and span
the same space: then no row is redundant and the mobility is unchanged.

Source: docs/theory/redundancy.md, (1), (2).
"""

from itertools import combinations, product
from typing import TYPE_CHECKING, Any

import numpy as np

from fem_mbs.errors import label
from fem_mbs.system.checks.redundancy import RANK_TOLERANCE, gradient_of, row_norms

if TYPE_CHECKING:
    from fem_mbs.system.compiled import CompiledSystem

MOST_ROWS = 1500  # up to which dense factors find the loops
MOST_JOINTS = 10  # of a loop for which replacements are sought
MOST_REPLACED = 3  # joints of one proposal
_SMALL = 1e-7  # coefficients of (1), relative to the largest


class Loop:
    """Joints whose rows depend on each other.

    Attributes
    ----------
    joints : list of Element
    repeated : int
        Redundant rows.
    replacements : list of (Element, str)
        Joints and the weaker types to put in their place; empty when none were found.
    """

    def __init__(self, joints: list, repeated: int, replacements: list) -> None:
        self.joints, self.repeated, self.replacements = joints, repeated, replacements

    def __str__(self) -> str:
        some = ", ".join(label(joint) for joint in self.joints)
        rows = "row repeats" if self.repeated == 1 else "rows repeat"
        return f"{self.repeated} {rows} others among {some}. {self.proposal}"

    @property
    def proposal(self) -> str:
        """Proposal for the user."""
        if not self.replacements:
            return "No replacement by weaker joints was found: remove constraints that are imposed twice"
        parts = [f"{label(joint)} by a {kind}" for joint, kind in self.replacements]
        rest = "no row repeats then, and what can move stays the same"
        return f"Replace {' and '.join(parts)}: {rest}"


def loops_of(system: "CompiledSystem") -> list[Loop]:
    """Loops of a system at the state that `System.constraint_values` was called with last."""
    if not 0 < system.m <= MOST_ROWS:
        return []
    active = np.flatnonzero(system.active_rows)
    gradient = gradient_of(system)[active]
    rows = gradient[:, np.flatnonzero(system.free.ravel())].toarray()
    sets = _dependent_sets(rows, row_norms(gradient))
    owners = [system.unknown(system.n + int(row))[0] for row in active]
    loops: list[tuple[list, list]] = []  # joints, dependent rows
    for first, others in sets:
        joints = list(dict.fromkeys(owners[row] for row in (first, *others)))
        number = [first]
        for loop in [item for item in loops if any(joint in item[0] for joint in joints)]:
            joints += [joint for joint in loop[0] if joint not in joints]
            number += loop[1]
            loops.remove(loop)
        loops.append((joints, number))
    return [_explained(rows, owners, joints, number) for joints, number in loops]


def _explained(rows, owners, joints, dependent):
    joints = sorted(joints, key=owners.index)
    gradients = {id(joint): rows[[k for k, owner in enumerate(owners) if owner is joint]] for joint in joints}
    return Loop(joints, len(dependent), _replacements(joints, gradients, len(dependent)))


def _dependent_sets(rows, whole):
    """Smallest dependent sets (1): (row d, rows i) each."""
    from scipy.linalg import qr, solve_triangular

    scale = np.linalg.norm(rows, axis=1)
    zero = scale <= 1e-12 * np.maximum(whole, 1e-300)
    found: list[tuple[int, list[int]]] = [(int(row), []) for row in np.flatnonzero(zero)]
    rest = np.flatnonzero(~zero)
    if not len(rest):
        return found
    R, order = qr((rows[rest] / scale[rest, None]).T, mode="r", pivoting=True)
    diagonal = np.abs(np.diag(R))
    rank = int((diagonal > RANK_TOLERANCE * diagonal[0]).sum())
    if rank == len(rest):
        return found
    c = solve_triangular(R[:rank, :rank], R[:rank, rank:])
    for k, column in enumerate(c.T):
        kept = np.abs(column) > _SMALL * max(np.abs(column).max(initial=0.0), 1.0)
        found.append((int(rest[order[rank + k]]), [int(rest[order[i]]) for i in np.flatnonzero(kept)]))
    return found


def _rank(matrix):
    if not matrix.size:
        return 0
    norms = np.linalg.norm(matrix, axis=1)
    values = np.linalg.svd(matrix[norms > 1e-12] / norms[norms > 1e-12, None], compute_uv=False)
    return int((values > RANK_TOLERANCE * values.max(initial=1e-300)).sum())


def _replacements(joints, gradients, repeated):
    """The fewest joints of a loop, and weaker ones for them, with which it has as many rows as it needs."""
    if len(joints) > MOST_JOINTS:
        return []
    spanned = _rank(np.vstack(list(gradients.values())))
    weaker = {
        id(joint): [(kind, T @ gradients[id(joint)], len(T)) for kind, T in weaker_joints(joint)] for joint in joints
    }
    able = [joint for joint in joints if weaker.get(id(joint))]
    for count in range(1, MOST_REPLACED + 1):
        for chosen in combinations(reversed(able), count):  # the last joint closes the loop
            for options in product(*(weaker[id(joint)] for joint in chosen)):
                removed = sum(len(gradients[id(joint)]) - n for joint, (_, _, n) in zip(chosen, options))
                if removed != repeated:
                    continue
                replaced = {id(joint): matrix for joint, (_, matrix, _) in zip(chosen, options)}
                if _rank(np.vstack([replaced.get(id(joint), gradients[id(joint)]) for joint in joints])) == spanned:
                    return [(joint, kind) for joint, (kind, _, _) in zip(reversed(chosen), reversed(options))]
    return []


def weaker_joints(joint: Any) -> list[tuple[str, np.ndarray]]:
    """Weaker joints that could replace one: their type, and the matrix that makes their rows from its own."""
    if not joint.weaker_rows:
        return []
    axes = joint.frame_P.orientation
    return [(kind, selected_rows(names, joint.rows, axes)) for kind, names in joint.weaker_rows.items()]


def selected_rows(names: Any, count: int, axes: np.ndarray) -> np.ndarray:
    """Matrix (k, count) that makes rows of a weaker joint from those of a joint.

    ``names`` are row numbers, or "x", "y", "z": the combination of the first three rows, those of a point in inertial
    axes, along a column of ``axes`` (3, 3).
    """
    T = np.zeros((len(names), count))
    for i, name in enumerate(names):
        if isinstance(name, str):
            T[i, :3] = axes[:, "xyz".index(name)]
        else:
            T[i, name] = 1.0
    return T
