"""Broad phase: which spheres of many are near each other, by a cell list.

Space is cut into cubes at least as large as the reach of two spheres, so that only spheres in the 27 cells around one
can be near it: O(n) for spheres of similar sizes. The cells of a bounding box that is nearly empty are enlarged until
there are at most `CELLS_PER_SPHERE` of them per sphere.
"""

import numpy as np

from fem_mbs.jit import kernel

CELLS_PER_SPHERE = 8


@kernel
def _cells(centers, reach, low, count):
    """Corner of the box of cells, low (3,), their numbers, count (3,), and their size."""
    n = centers.shape[0]
    high = np.empty(3)
    for k in range(3):
        low[k] = high[k] = centers[0, k]
    for i in range(n):
        for k in range(3):
            low[k] = min(low[k], centers[i, k])
            high[k] = max(high[k], centers[i, k])
    size, most = reach, max(64.0, float(CELLS_PER_SPHERE) * n)
    while True:
        total = 1.0
        for k in range(3):
            total *= np.floor((high[k] - low[k]) / size) + 1.0
        if total <= most:
            break
        size *= 1.26
    for k in range(3):
        count[k] = int((high[k] - low[k]) / size) + 1
    return size


@kernel
def near_pairs(centers, radii, margin, pairs):
    """Pairs of spheres whose gap is below a margin, ordered by their first sphere.

    Parameters
    ----------
    centers : (n, 3) [m]; radii : (n,) [m]
    margin : float ≥ 0 [m]
    pairs : (k, 2) int32, filled with (i, j), i < j, as far as they fit

    Returns
    -------
    int, number of pairs; more than k when they did not fit
    """
    n = centers.shape[0]
    if n == 0:
        return 0
    low, count, cell = np.empty(3), np.empty(3, np.int64), np.empty((n, 3), np.int64)
    largest = 0.0
    for i in range(n):
        largest = max(largest, radii[i])
    size = _cells(centers, 2.0 * largest + margin, low, count)
    head = np.full(count[0] * count[1] * count[2], -1, np.int64)
    after = np.empty(n, np.int64)
    for i in range(n - 1, -1, -1):
        for k in range(3):
            cell[i, k] = min(int((centers[i, k] - low[k]) / size), count[k] - 1)
        at = (cell[i, 0] * count[1] + cell[i, 1]) * count[2] + cell[i, 2]
        after[i] = head[at]
        head[at] = i
    found = 0
    for i in range(n):
        for a in range(max(cell[i, 0] - 1, 0), min(cell[i, 0] + 2, count[0])):
            for b in range(max(cell[i, 1] - 1, 0), min(cell[i, 1] + 2, count[1])):
                for c in range(max(cell[i, 2] - 1, 0), min(cell[i, 2] + 2, count[2])):
                    j = head[(a * count[1] + b) * count[2] + c]
                    while j >= 0:
                        if j > i:
                            reach = radii[i] + radii[j] + margin
                            square = 0.0
                            for k in range(3):
                                square += (centers[i, k] - centers[j, k]) ** 2
                            if square < reach * reach:
                                if found < pairs.shape[0]:
                                    pairs[found, 0], pairs[found, 1] = i, j
                                found += 1
                        j = after[j]
    return found


@kernel
def centers_of(nodes, offsets, x, R, centers):
    """Fill the centres (n, 3) of spheres at offsets (n, 3) [m], node axes, from nodes (n,) of poses x, R."""
    for i in range(nodes.shape[0]):
        b = nodes[i]
        for k in range(3):
            centers[i, k] = x[b, k]
            for m in range(3):
                centers[i, k] += R[b, k, m] * offsets[i, m]


@kernel
def ways(nodes, offsets, V, h, least, ahead):
    """Fill ahead (n,) with the ways [m] of spheres in a step with velocities V; 0 for those shorter than ``least``."""
    for i in range(nodes.shape[0]):
        arm = speed = spin = 0.0
        for k in range(3):
            arm += offsets[i, k] ** 2
            speed += V[nodes[i], k] ** 2
            spin += V[nodes[i], 3 + k] ** 2
        way = h * (np.sqrt(speed) + np.sqrt(spin * arm))
        ahead[i] = way if way > least else 0.0


@kernel
def displaced(nodes, offsets, centers, ahead, x, R, V, h):
    """Largest distance [m] of spheres from where they were, centers (n, 3), at the end of a step with velocities V.

    The ways ahead (n,) that the search has allowed for do not count.
    """
    largest = 0.0
    for i in range(nodes.shape[0]):
        b = nodes[i]
        arm = speed = spin = square = 0.0
        for k in range(3):
            arm += offsets[i, k] ** 2
            speed += V[b, k] ** 2
            spin += V[b, 3 + k] ** 2
        for k in range(3):
            now = x[b, k]
            for m in range(3):
                now += R[b, k, m] * offsets[i, m]
            square += (now - centers[i, k]) ** 2
        largest = max(largest, np.sqrt(square) + h * (np.sqrt(speed) + np.sqrt(spin * arm)) - ahead[i])
    return largest


@kernel
def turned(nodes, x0, R0, x, R, V, h, reach):
    """The same for the points within ``reach`` [m] of nodes (n,) that were at x0 (n, 3), R0 (n, 3, 3)."""
    largest = 0.0
    for i in range(nodes.shape[0]):
        b = nodes[i]
        shift = turn = speed = spin = 0.0
        for k in range(3):
            shift += (x[b, k] - x0[i, k]) ** 2
            speed += V[b, k] ** 2
            spin += V[b, 3 + k] ** 2
            for m in range(3):
                turn += (R[b, k, m] - R0[i, k, m]) ** 2
        # a chord of the rotation is at most |R − R0|/√2 times the distance from the axis
        moved = np.sqrt(shift) + reach * np.sqrt(0.5 * turn) + h * (np.sqrt(speed) + reach * np.sqrt(spin))
        largest = max(largest, moved)
    return largest
