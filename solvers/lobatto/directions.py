"""The six directions of a contact: normal, two of sliding, two of rolling, spinning; their gradients in the chart."""

from fem_mbs.jit import indices, integer_matrix, kernel
from fem_mbs.system.contacts import laws_of
from fem_mbs.system.records import POSITION


@kernel
def local_row(g, i):
    """Place of the multiplier of direction i among those of an element: drilling follows sliding."""
    if i < 3 or g.drilling == 0:
        return i
    return 3 + (i - 2) % 3


@kernel
def arm_of(g, e, s, i):
    """Factor of direction i: that of moments is a length."""
    if i < 3:
        return 1.0
    return laws_of(g)[e].drilling_arm if i == 5 and g.drilling != 0 else s.length


@kernel
def cone_of(g, e, s, which, members):
    """Directions of a cone (0 sliding, 1 rolling, 2 spinning) in members (3,); their number and μ."""
    law = laws_of(g)
    if which == 0:
        members[0], members[1], members[2] = 1, 2, 5
        return 2 + g.drilling, law[e].friction
    if which == 1:
        members[0], members[1] = 3, 4
        return 2, law[e].rolling_resistance / s.length
    members[0] = 5
    return (0 if g.drilling != 0 else 1), law[e].spinning_resistance / s.length


@kernel
def cone_at(g, i):
    """Cone of direction i > 0: 0 sliding, 1 rolling, 2 spinning."""
    if i < 3:
        return 0
    return 1 if i < 5 else (0 if g.drilling != 0 else 2)


@kernel
def multiplier(o, j, c, i):
    """Multiplier of direction i of contact c at stage j."""
    return o.cR[j, c, i] if i < 3 else o.cX[j, c, i - 3]


@kernel
def add_row(o, j, g, e, row, B, scale, to_D, to_w):
    """Add scale times a gradient B (nd,) in the chart, B Θ and B T, to a row of two sets of entries."""
    nd, size = g.nd, g.nd + 6
    nodes = integer_matrix(g.nodes_at, g.n, g.nn)
    where = indices(g.maps_at[POSITION] + 4 * e * size * size, size * size)
    first = (nd + row) * size
    for a in range(g.nn):
        T, Th, c = o.Ti[j, nodes[e, a]], o.Th[j, nodes[e, a]], 6 * a
        for k in range(3):
            i = where[first + c + k]
            if i >= 0:
                to_w[i] += scale * B[c + k]
        c += 3
        for k in range(3):
            i = where[first + c + k]
            if i >= 0:
                for m in range(3):
                    to_w[i] += scale * B[c + m] * T[m, k]
                    to_D[i] += scale * B[c + m] * Th[m, k]
