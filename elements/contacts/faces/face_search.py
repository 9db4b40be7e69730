"""Search of the face nearest to a node: tables of faces, the nearest face, heights at the end of a step.

Faces are looked for anew at every evaluation: first the one of the start of the step, which reaches a quarter of its
size beyond edges to faces that continue smoothly; then the one whose nearest point is nearest. A surface extends by a
twentieth of its faces beyond its border; farther out the gap is the distance from the border.

A node beyond the edges of a face is classified by the nearest point of its straight edges: the kind of the edge, or
that of the corner. Outside a border, and near a ridge (an edge at which faces bend away from the side of the node),
there is air: the plane of a face does not continue there.

Heights and the first face are taken anew at the end of each step. Slopes of heights end at `STEEP`.

Source: docs/theory/surface_contact.md, sections 1 and 3.

    symbol   code     shape          unit  meaning
    -        faces    (nf, 13) int   -     how many nodes, their numbers in the element (4), kinds of edges and corners
    -        fans     (nf, 12) int   -     of each corner (4): first row of `spokes`, how many, whether all round
    -        spokes   (k, 2) int     -     face and corner
    h_ab     state    (1 + 8 nf,)    m     face of the start of the step, then heights (`face_kernels`) of each face,
    -        state    (3 nn,)        m     and places of the node and of all nodes of faces, at the start of the step
"""

import math

import numpy as np

from fem_mbs.elements.contacts.faces.face_kernels import beside, chord, facet, foot, normal_of, surface
from fem_mbs.jit import integer_matrix, kernel, local_arrays, local_vector
from fem_mbs.rotations import cross, dot

# kind of an edge: continues smoothly, ends, continues out of reach, bends sharply towards the node or away from it;
# kind of a corner: `BORDER` with air on all sides beyond, `CREASE` with other edges
SMOOTH, BORDER, CUT, CREASE, RIDGE = 0, 1, 2, 3, 4
FACE = 13  # numbers of a face
BEHIND = 0.05  # of the size of a face: a node that is farther behind has not sunk in, it came round a border
ROUND = 1e-9  # of a face: round-off
STEEP = 1.5  # slope of a surface over its facet: more sharply bent ones may have several nearest points
RIM = 0.05  # of a face, by which the surface extends beyond its border: bodies that lie flush touch there too

PARAMETERS = np.dtype(
    [(name, "i8") for name in ("nn", "nq", "faces_at", "fans_at", "spokes_at", "nf", "smooth", "arms_at")]
)


@kernel
def take(p, x, state, f, X, h, d, nu):
    """Fill nodes X (4, 3), heights h (8,), d (2, 3) and ν (3,) of face f; returns its number of nodes and |c|."""
    faces = integer_matrix(p.faces_at, p.nf, FACE)
    nn = faces[f, 0]
    for a in range(4):
        k = faces[f, 1 + min(a, nn - 1)]
        for i in range(3):
            X[a, i] = x[k, i]
    for k in range(8):
        h[k] = state[1 + 8 * f + k]
    return nn, facet(nn, X, d, nu)


@kernel
def worst(p, f, nn, uv, room):
    """Distance of a position beyond the edges of a face, less the room beyond smooth ones and the rim; and the edge."""
    faces = integer_matrix(p.faces_at, p.nf, FACE)
    worst, edge = -math.inf, 0
    for k in range(nn):
        kind = faces[f, 5 + k]
        over = beside(nn, uv, k) - (room if kind == SMOOTH else (RIM if kind == BORDER else 0.0))
        if over > worst:
            worst, edge = over, k
    return worst, edge


@kernel
def _beyond(p, f, nn, X, uv, edge, y, g):
    """Kind of the feature next to a node beyond ``edge`` of a face with the gap g, as in `locate`; and its distance."""
    faces = integer_matrix(p.faces_at, p.nf, FACE)
    k, part, distance = chord(nn, X, y)
    at_corner = part == 0.0 or part == 1.0
    kind = faces[f, 5 + k]
    if at_corner:
        kind = faces[f, 9 + (k if part == 0.0 else (k + 1) % nn)]
        if kind == CREASE:
            kind = faces[f, 5 + edge]
    far = -math.inf
    for j in range(nn):
        far = max(far, beside(nn, uv, j))
    if faces[f, 5 + edge] == CUT or kind == CUT:
        return CUT, distance
    if far <= RIM and not (kind == RIDGE and g < 0.0 and far > ROUND):
        return SMOOTH, distance
    return (BORDER if kind == BORDER or kind == RIDGE else SMOOTH), distance


@kernel
def locate(p, x, state, room, uv):
    """Face of the nearest point and the kind of that point: SMOOTH (its inside), BORDER or CUT; fills uv (2,)."""
    X, h, d, nu, N, z, S, r = local_arrays("4 3, 8, 2 3, 3, 4 4, 6, 6 3, 3")
    at, y, n = local_vector(2), x[0], local_vector(3)
    first = min(max(int(state[0]), 0), p.nf - 1)
    if room > 0.0:
        nn, _ = take(p, x, state, first, X, h, d, nu)
        uv[0] = uv[1] = 1.0 / nn if nn == 3 else 0.5
        foot(nn, X, h, nu, y, uv, N, z, S, r)
        if worst(p, first, nn, uv, room)[0] <= 0.0:
            return first, SMOOTH
    best, found, kind = math.inf, first, BORDER
    for f in range(p.nf):
        nn, _ = take(p, x, state, f, X, h, d, nu)
        reach = apart = 0.0  # nothing of the face is nearer than the middle less the distance from there to its corners
        for i in range(3):
            r[i] = 0.0
            for a in range(nn):
                r[i] += X[a, i] / nn
            apart += (y[i] - r[i]) ** 2
        for a in range(nn):
            away = 0.0
            for i in range(3):
                away += (X[a, i] - r[i]) ** 2
            reach = max(reach, away)
        if math.sqrt(apart) - 1.2 * math.sqrt(reach) > best:
            continue
        at[0] = at[1] = 1.0 / nn if nn == 3 else 0.5
        foot(nn, X, h, nu, y, at, N, z, S, r)
        over, edge = worst(p, f, nn, at, 0.0)
        distance = math.sqrt(dot(r, r))
        inside = SMOOTH
        if over > 0.0:
            normal_of(S, n)
            inside, distance = _beyond(p, f, nn, X, at, edge, y, dot(n, r))
        if distance < best * (1.0 - 1e-12):
            best, found, kind = distance, f, inside
            uv[0], uv[1] = at[0], at[1]
    return found, kind


@kernel
def behind(p, x, state, f, uv):
    """True if the node is farther behind its position on face f than `BEHIND`, over the face or next to it."""
    X, h, d, nu, n, N, z, S, r = local_arrays("4 3, 8, 2 3, 3, 3, 4 4, 6, 6 3, 3")
    nn, size = take(p, x, state, f, X, h, d, nu)
    surface(nn, X, h, nu, uv[0], uv[1], N, z, S)
    normal_of(S, n)
    for i in range(3):
        r[i] = x[0, i] - S[0, i]
    return dot(n, r) < -BEHIND * math.sqrt(size)


@kernel
def _corner_normal(p, x, f, a, n):
    """Add (6) of `face_kernels` of one corner of one face to n (3,)."""
    faces = integer_matrix(p.faces_at, p.nf, FACE)
    nn = faces[f, 0]
    k, b, c = faces[f, 1 + a], faces[f, 1 + (a + 1) % nn], faces[f, 1 + (a + nn - 1) % nn]
    e, o, w = local_arrays("3, 3, 3")
    for i in range(3):
        e[i], o[i] = x[b, i] - x[k, i], x[c, i] - x[k, i]
    cross(e, o, w)
    scale = 1.0 / (dot(e, e) * dot(o, o))
    for i in range(3):
        n[i] += scale * w[i]


@kernel
def accept(p, x, state):
    """New heights of all faces, and the face that is nearest, at the end of a step."""
    fans = integer_matrix(p.fans_at, p.nf, 12)
    X, h, d, nu, n, uv = local_arrays("4 3, 8, 2 3, 3, 3, 2")
    if p.smooth != 0:
        for f in range(p.nf):
            nn, _ = take(p, x, state, f, X, h, d, nu)
            for a in range(nn):
                for i in range(3):
                    n[i] = 0.0
                first, count = fans[f, 3 * a], fans[f, 3 * a + 1]
                spokes = integer_matrix(p.spokes_at, first + count, 2)
                for k in range(first, first + count):
                    _corner_normal(p, x, spokes[k, 0], spokes[k, 1], n)
                up = dot(n, nu)
                for k in range(2):
                    b = (a + 1) % nn if k == 0 else (a + nn - 1) % nn
                    rise = square = 0.0
                    for i in range(3):
                        rise -= n[i] * (X[b, i] - X[a, i])
                        square += (X[b, i] - X[a, i]) ** 2
                    # a normal at a right angle to that of the facet, or against it, has no height
                    most = STEEP * math.sqrt(square)
                    h[2 * a + k] = rise / up if abs(rise) < most * up else math.copysign(most, rise)
            for a in range(nn):  # arcs from corners at a border
                b = (a + 1) % nn
                open_a, open_b = fans[f, 3 * a + 2] == 0, fans[f, 3 * b + 2] == 0
                if open_a and not open_b:
                    h[2 * a] = h[2 * b + 1]
                elif open_b and not open_a:
                    h[2 * b + 1] = h[2 * a]
            for k in range(2 * nn):
                state[1 + 8 * f + k] = h[k]
    state[0] = float(locate(p, x, state, 0.0, uv)[0])
    old = state.shape[0] - 3 * x.shape[0]
    for k in range(x.shape[0]):
        for i in range(3):
            state[old + 3 * k + i] = x[k, i]


@kernel
def initial(p, x, state):
    """Heights and face that are consistent with the pose."""
    accept(p, x, state)
