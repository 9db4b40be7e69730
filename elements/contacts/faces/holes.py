"""Obstacles that fit between the nodes of a surface: nodes alone touch, so that these would pass or sink in.

A ball of radius r that lies over the middle of a face, ℓ from the nearest nodes, touches them when it has sunk in by

    s = r − √(r² − ℓ²) ,   s = r: it passes                                                                         (1)

Source: docs/theory/solids.md, section 9.
"""

from typing import Any

import numpy as np

from fem_mbs.arguments.checked import Checked
from fem_mbs.errors import Warnings, label

MUCH = 0.5  # of the radius: what sinks in by more is not the obstacle that is meant


def holes(x: np.ndarray, faces: list[np.ndarray]) -> np.ndarray:
    """ℓ (f,) [m]: the distance from the position on each face that is farthest from its nodes x (n, 3) to the next of
    them.
    """
    found = np.zeros(len(faces))
    for k, row in enumerate(faces):
        corners = row[: 3 if len(row) in (3, 6) else 4]
        found[k] = np.linalg.norm(_emptiest(x[corners]) - x[row], axis=1).min()
    return found


def _emptiest(X):
    """The middle of a quadrilateral (4, 3); of a triangle (3, 3) that of the circle through its corners, on it."""
    if len(X) == 4:
        return X.mean(axis=0)
    apart = np.roll(X, -1, axis=0) - np.roll(X, -2, axis=0)  # edge across from each corner
    square = (apart**2).sum(axis=1)
    weights = square * (square.sum() - 2.0 * square)
    if weights.min() <= 0.0:  # a right angle or more: the middle of the longest edge
        weights = (np.arange(3) != square.argmax()).astype(float)
    return weights @ X / weights.sum()


def gaps_along(x: np.ndarray, faces: list[np.ndarray], normals: np.ndarray, axis: np.ndarray) -> np.ndarray:
    """ℓ (f,) [m] for a cylinder: half of the widest distance between lines through nodes of a face along its axis
    (3,).
    """
    found = np.zeros(len(faces))
    for k, row in enumerate(faces):
        across = np.cross(axis, normals[k])
        size = np.linalg.norm(across)
        if size > 0.0:
            places = np.sort(x[row] @ across / size)
            found[k] = 0.5 * np.diff(places).max()
    return found


def tell_small_obstacle(
    owner: Checked, parameter: str, radius: float, ways: np.ndarray, found: np.ndarray, *, flat: bool = False
) -> bool:
    """Warn about an obstacle that passes between nodes of the faces that are nearest to it at the start, by (1).

    ``radius``: of the obstacle, or half of the width of its side that looks at the body, which is ``flat`` then;
    ``ways`` (f, 3) from its middle to the faces; ``found`` (f,): their ℓ. True if a warning is issued.
    """
    apart = np.linalg.norm(ways, axis=1)
    hole = float(found[apart <= apart.min() + radius].max())
    sinks = radius - np.sqrt(max(radius**2 - hole**2, 0.0))
    small = hole >= radius or (sinks > MUCH * radius and not flat)
    if small:
        size = f"is {2.0 * radius:.3g} m wide" if flat else f"has a radius of {radius:.3g} m"
        how = f"sinks in by up to {sinks:.3g} m" if hole < radius else "passes between them without contact"
        Warnings.issue(
            f"{label(owner)}: {parameter} is small for the faces that it meets, on which places are up to {hole:.3g} m "
            f"from the next node. Nodes alone touch: what {size} {how}. Take cells no longer "
            "than that there, or let points of the obstacle touch faces: "
            "SurfaceOnSurface([ball.frame(point), …], None, body, group)"
        )
    return small


def narrow(x: np.ndarray) -> float:
    """The smallest width [m] of places (n, 3) that are about in a plane, along that plane."""
    from scipy.spatial import ConvexHull

    centred = x - x.mean(axis=0)
    flat = centred @ np.linalg.svd(centred, full_matrices=False)[2][:2].T
    return float(np.ptp(flat @ ConvexHull(flat).equations[:, :2].T, axis=0).min())  # along an edge of the hull


def tell_coarse_first(owner: Any, x_A: np.ndarray, faces_A: list[np.ndarray], x_B: np.ndarray, over: Any) -> None:
    """Warn about a second surface with the places x_B (n, 3) that fits between nodes x_A of the first: none may meet
    it.

    ``over()`` is true if one of them is over the second at the start: then these two touch.
    """
    from scipy.spatial import cKDTree

    width = narrow(x_B)
    middles = np.array([x_A[row].mean(axis=0) for row in faces_A])
    apart, _ = cKDTree(x_B).query(middles)
    hole = float(holes(x_A, faces_A)[apart <= apart.min() + width].max())
    if 0.5 * width < hole and not over():
        Warnings.issue(
            f"{label(owner)}: the second surface is {width:.3g} m wide, and places on faces of the first are up to "
            f"{hole:.3g} m from the next node. Nodes of the first alone touch: the second passes between them. Put "
            "it first, or give both=True"
        )
