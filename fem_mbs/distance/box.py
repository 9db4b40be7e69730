"""Distance of a point from a box, and the normal of its surface."""

import math

from fem_mbs.jit import kernel


@kernel
def out_of_core(half, y, n):
    """Distance [m] of the point y (3,) from the box of half edge lengths (3,), some of which may be 0; fills n (3,).

    Points inside have a depth, 0 or negative, and the normal of the nearest face.
    """
    square = 0.0
    for i in range(3):
        n[i] = y[i] - min(max(y[i], -half[i]), half[i])
        square += n[i] * n[i]
    if square == 0.0:  # inside, or on a plate
        face, depth = 2, abs(y[2]) - half[2]
        for i in range(2):
            if abs(y[i]) - half[i] > depth:
                face, depth = i, abs(y[i]) - half[i]
        for i in range(3):
            n[i] = 0.0
        n[face] = 1.0 if y[face] >= 0.0 else -1.0
        return depth
    distance = math.sqrt(square)
    for i in range(3):
        n[i] /= distance
    return distance
