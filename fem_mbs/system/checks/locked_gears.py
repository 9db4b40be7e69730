"""Couplings of coordinates that leave each other no motion: two gear pairs of different ratios between two wheels.

Each coupling is a row Σ_k c_k ξ_k of coordinates of joints (`relation` of the element). Rows of all of them make the
matrix C; what its null space Z, C Z = 0, leaves at rest is locked by the couplings alone,

    coordinate k is locked    Z_k = 0                                                                              (1)

No row is redundant then, so that no other check finds it: the train just stands still. Coordinates of several joints
are one where they are of the same two bodies along the same direction.

Source: docs/theory/redundancy.md.
"""

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from fem_mbs.errors import Warnings, label

if TYPE_CHECKING:
    from fem_mbs.system.compiled import CompiledSystem

SAME = 1e-8  # of directions
LOCKED = 1e-9  # of the null space


class Turning(NamedTuple):
    """A coordinate of a joint in a coupling.

    Attributes
    ----------
    turns : bool
    first, second : Node
    axis : (3,), inertial axes at the start
    factor : float, c_k
    """

    turns: bool
    first: Any
    second: Any
    axis: np.ndarray
    factor: float


def _sign(one, other):
    """1 or −1 where two coordinates are the same or opposite, 0 where they are others."""
    nodes = one.first is other.first and one.second is other.second
    swapped = one.first is other.second and one.second is other.first
    along = float(one.axis @ other.axis)
    if one.turns != other.turns or not (nodes or swapped) or abs(along) < 1.0 - SAME:
        return 0.0
    return (1.0 if nodes else -1.0) * np.sign(along)


def locked_gears(system: "CompiledSystem") -> list[tuple[list[Any], list[Any]]]:
    """Couplings that are on and lock coordinates together, and the bodies of these: a pair for each train."""
    coupled = [e for e in system.constraints if e.relation and system.is_on(e)]
    if len(coupled) < 2:
        return []
    coordinates: list[Turning] = []
    rows = np.zeros((len(coupled), sum(len(element.relation) for element in coupled)))
    for i, element in enumerate(coupled):
        for term in element.relation:
            signs = [_sign(term, other) for other in coordinates]
            k = next((k for k, sign in enumerate(signs) if sign), len(coordinates))
            if k == len(coordinates):
                coordinates.append(term)
                signs.append(1.0)
            rows[i, k] += signs[k] * term.factor
    rows = rows[:, : len(coordinates)]
    scale = np.abs(rows).max(axis=0)
    rows = rows / np.where(scale > 0.0, scale, 1.0)
    _, sizes, V = np.linalg.svd(rows)
    rank = int((sizes > LOCKED * sizes.max()).sum())
    locked = np.abs(V[rank:]).max(axis=0, initial=0.0) <= LOCKED
    return [_train(part, coupled, coordinates, rows) for part in _parts(rows != 0.0, locked)]


def _parts(there, locked):
    """Locked coordinates by trains: those that couplings connect with each other."""
    left, found = set(np.flatnonzero(locked).tolist()), []
    while left:
        part, new = set(), {left.pop()}
        while new:
            part |= new
            near = there[there[:, sorted(part)].any(axis=1)].any(axis=0)
            new = set(np.flatnonzero(near).tolist()) & left
            left -= new
        found.append(sorted(part))
    return found


def _train(part, coupled, coordinates, rows):
    """Couplings of some coordinates, and the bodies that these would move."""
    acts = (rows[:, part] != 0.0).any(axis=1)
    nodes = [node for k in part for node in (coordinates[k].first, coordinates[k].second) if node.free.any()]
    bodies = list(dict.fromkeys(node.body or node for node in nodes))
    return [element for element, on in zip(coupled, acts) if on], bodies


def describe_locked(train: tuple[list[Any], list[Any]]) -> str:
    """Describe a locked train."""
    elements, bodies = train
    names, held = " and ".join(label(e) for e in elements), ", ".join(label(body) for body in bodies)
    return (
        f"{names} lock each other: with their ratios none of their wheels ({held}) can rotate or slide relative to "
        "their carrier. Correct the ratio of one, remove it, or switch it off (active=False) where it is to take "
        "over in a run"
    )


def warn_locked(system: "CompiledSystem") -> None:
    """Warn about couplings that lock each other."""
    for train in locked_gears(system):
        Warnings.issue(describe_locked(train))
