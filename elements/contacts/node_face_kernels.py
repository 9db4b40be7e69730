"""A node that touches a surface of faces of another mesh, which may deform and turn; it slides from face to face.

On the face where the surface S of `face_kernels` has its nearest point, with y the place of the node,

    r = y − S ,  r·S,u = r·S,v = 0 ,   n = S,u × S,v/|…| ,   gap = n·r                                               (1)
    ∂gap = n·(δy − S_x δx)                                                                                         (2)

because S,u and S,v are at right angles to n. With t_i = S,i·(δy − S_x δx), γ_i = n·S,ix δx, κ_ij = n·S,ij,
A_ij = S,i·S,j and places δu_i along the face:

    (A − gap κ) δu = t + gap γ ,   β = γ + κ δu ,   ∂²gap = −Σ (A⁻¹t)_i β_i − Σ γ_i δu_i − n·S,xx                    (3)

The slip counts from the point of the surface that was the nearest at the start of the step, at (u0, v0), and turns with
the surface there. With t_1 along S,u and t_2 the part of S,v across it, both as they are now,

    slip_k = t_k·(y − S(u0, v0))                                                                                   (4)

and the rows of the sliding velocity are those of a point of the surface carried along the normal,

    V_T = t_k·(δy − S_x δx) + gap Σ (A⁻¹)_ij (t_k·S,i) γ_j                                                          (5)

with the tangents of (4) turned by the smallest rotation to the present normal. Gap and slip do not change in a rigid
motion of all nodes, so their forces add to nothing, and have no moment.

Faces are looked for anew at every evaluation: first the one of the start of the step, which reaches a quarter of its
size beyond edges to faces that go on smoothly; then the one whose nearest point is nearest. A surface goes on by a
twentieth of its faces beyond its border; farther out the gap is the distance from the border. Which side of the surface
the node is on says the start of the step.

What a node beyond the edges of a face is beside says the nearest point of its straight edges: the kind of the edge, or
that of the corner. Beside a border, and beside a ridge (an edge at which faces turn away from the side of the node),
there is air: the plane of a face does not go on there.
Heights and the first face are taken anew at the end of each step. A node whose straight way of a step, as seen from the
surface, went in through one face and out through another has gone through the body: the nearest face is a wrong one. So
has one that went in through a face and is beside the border now, lower by `BEHIND`.
Slopes of heights end at `_STEEP`; near a face that is bent so much the nearest point is not certain (`folded`).

Source: docs/theory/surface_contact.md; (1)-(3) as for node-to-segment contact in Wriggers, Computational Contact
Mechanics (2006), ch. 9, here for a surface with heights; derived here, checked by differences.

    symbol   code     shape          unit  meaning
    -        faces    (nf, 13) int   -     how many nodes, their numbers in the element (4), kinds of edges and corners
    -        fans     (nf, 12) int   -     of each corner (4): first row of `spokes`, how many, whether all round
    -        spokes   (k, 2) int     -     face and corner
    h_ab     state    (1 + 8 nf,)    m     face of the start of the step, then heights (`face_kernels`) of each face,
    -        state    (3 nn,)        m     and places of the node and of all nodes of faces, at the start of the step
"""

import math

import numpy as np

from fem_mbs.elements.contacts.face_kernels import (
    add_surface,
    add_turning_bulge,
    beside,
    chord,
    facet,
    foot,
    normal_of,
    surface,
)
from fem_mbs.jit import integer_matrix, kernel, local_matrix, local_vector
from fem_mbs.rotations import cross, dot

# what an edge is: goes on smoothly, ends, goes on out of reach, bends sharply towards the node or away from it;
# what a corner is: `BORDER` with air on all sides beyond, `CREASE` with edges that say no such thing
SMOOTH, BORDER, CUT, CREASE, RIDGE = 0, 1, 2, 3, 4
FACE = 13  # numbers of a face
_FLUSH = 1e-3  # of the size of a face: what comes to a surface from beside, and is lower, does not lie flush with it
BEHIND = 0.05  # of the size of a face: a node that is farther behind has not sunk in, it came round a border
_ROOM = 0.25  # of a face, beyond smooth edges, for the face of the start of the step
_GRAZE = 1e-4  # of the size of a face: straight ways over edges that bend cut in by less
_ROUND = 1e-9  # of a face: round-off
_STEEP = 1.5  # slope of a surface over its facet: what is bent more may have several nearest points
_RIM = 0.05  # of a face, by which the surface goes on beyond its border: bodies that lie flush touch there too

PARAMETERS = np.dtype([(name, "i8") for name in ("faces_at", "fans_at", "spokes_at", "nf", "smooth", "arms_at")])


@kernel
def _take(p, x, state, f, X, h, d, nu):
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
def _worst(p, f, nn, uv, room):
    """How far a place lies beyond the edges of a face, less the room beyond smooth ones and the rim; and the edge."""
    faces = integer_matrix(p.faces_at, p.nf, FACE)
    worst, edge = -math.inf, 0
    for k in range(nn):
        kind = faces[f, 5 + k]
        over = beside(nn, uv, k) - (room if kind == SMOOTH else (_RIM if kind == BORDER else 0.0))
        if over > worst:
            worst, edge = over, k
    return worst, edge


@kernel
def _beyond(p, f, nn, X, uv, edge, y, g):
    """What a node beyond ``edge`` of a face, with the gap g to it, is beside, as `locate` says; and its distance."""
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
    if far <= _RIM and not (kind == RIDGE and g < 0.0 and far > _ROUND):
        return SMOOTH, distance
    return (BORDER if kind == BORDER or kind == RIDGE else SMOOTH), distance


@kernel
def locate(p, x, state, room, uv):
    """Face of the nearest point and what it is nearest to: SMOOTH (its inside), BORDER or CUT; fills uv (2,)."""
    X, h, d, nu = local_matrix(4, 3), local_vector(8), local_matrix(2, 3), local_vector(3)
    N, z, S, r = local_matrix(4, 4), local_vector(6), local_matrix(6, 3), local_vector(3)
    at, y, n = local_vector(2), x[0], local_vector(3)
    first = min(max(int(state[0]), 0), p.nf - 1)
    if room > 0.0:
        nn, _ = _take(p, x, state, first, X, h, d, nu)
        uv[0] = uv[1] = 1.0 / nn if nn == 3 else 0.5
        foot(nn, X, h, nu, y, uv, N, z, S, r)
        if _worst(p, first, nn, uv, room)[0] <= 0.0:
            return first, SMOOTH
    best, found, kind = math.inf, first, BORDER
    for f in range(p.nf):
        nn, _ = _take(p, x, state, f, X, h, d, nu)
        reach = apart = 0.0  # nothing of the face is nearer than the middle less the way from there to its corners
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
        over, edge = _worst(p, f, nn, at, 0.0)
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
    """Whether the node is farther behind its place on face f than `BEHIND`, over the face or beside it."""
    X, h, d, nu, n = local_matrix(4, 3), local_vector(8), local_matrix(2, 3), local_vector(3), local_vector(3)
    N, z, S, r = local_matrix(4, 4), local_vector(6), local_matrix(6, 3), local_vector(3)
    nn, size = _take(p, x, state, f, X, h, d, nu)
    surface(nn, X, h, nu, uv[0], uv[1], N, z, S)
    normal_of(S, n)
    for i in range(3):
        r[i] = x[0, i] - S[0, i]
    return dot(n, r) < -BEHIND * math.sqrt(size)


@kernel
def _start(p, x, x0, state, uv):
    """Face at the start of the step, and side of the surface: 1 in front, −1 behind; fills the place uv (2,) there."""
    f, _ = locate(p, x0, state, _ROOM, uv)
    return f, -1.0 if not _same(x, x0) and behind(p, x0, state, f, uv) else 1.0


@kernel
def _same(x, x0):
    """Whether a step has not begun: initial gaps."""
    for a in range(x.shape[0]):
        for i in range(3):
            if x[a, i] != x0[a, i]:
                return False
    return True


@kernel
def _scatter(p, f, nn, scale, row, G):
    """Add a row (15,) of the node and the nodes of face f to G (nd,)."""
    faces = integer_matrix(p.faces_at, p.nf, FACE)
    for i in range(3):
        G[i] += scale * row[i]
    for a in range(nn):
        k = 6 * faces[f, 1 + a]
        for i in range(3):
            G[k + i] += scale * row[3 + 3 * a + i]


@kernel
def _clear(row):
    for i in range(15):
        row[i] = 0.0


@kernel
def _point_row(e, nn, N, z, d, nu, size, row):
    """Fill row (15,) with e·(δy − S_x δx)."""
    _clear(row)
    add_surface(-1.0, e, nn, N, z, d, nu, size, row)
    for i in range(3):
        row[i] = e[i]


@kernel
def _tangents(S, t):
    """Fill t (2, 3): along S,u, and across it."""
    along = math.sqrt(dot(S[1], S[1]))
    for i in range(3):
        t[0, i] = S[1, i] / along
    part = dot(S[2], t[0])
    for i in range(3):
        t[1, i] = S[2, i] - part * t[0, i]
    across = math.sqrt(dot(t[1], t[1]))
    for i in range(3):
        t[1, i] /= across


@kernel
def _slip(p, x, state, f, uv, slip, G_T, m, t):
    """Add (4), from place uv of face f, and its gradient; fill the normal m (3,) and tangents t (2, 3) there."""
    X, h, d, nu = local_matrix(4, 3), local_vector(8), local_matrix(2, 3), local_vector(3)
    N, z, S, r = local_matrix(4, 4), local_vector(6), local_matrix(6, 3), local_vector(3)
    e, w, row = local_vector(3), local_vector(3), local_vector(15)
    nn, size = _take(p, x, state, f, X, h, d, nu)
    surface(nn, X, h, nu, uv[0], uv[1], N, z, S)
    _tangents(S, t)
    normal_of(S, m)
    along = math.sqrt(dot(S[1], S[1]))
    part = dot(S[2], t[0])
    for i in range(3):
        r[i] = x[0, i] - S[0, i]
        e[i] = S[2, i] - part * t[0, i]
    across = math.sqrt(dot(e, e))
    for k in range(2):
        value = dot(t[k], r)
        slip[k] += value
        _point_row(t[k], nn, N[0], z[0], d, nu, size, row)
        if k == 0:  # r·δt_1 = w·δS,u
            for i in range(3):
                w[i] = (r[i] - value * t[0, i]) / along
        else:  # r·δt_2 = e·δS,v + w·δS,u
            y = dot(r, t[0])  # (r − value t_2)·t_1
            for i in range(3):
                rest = r[i] - value * t[1, i]
                e[i] = (rest - y * t[0, i]) / across
                w[i] = -(y * S[2, i] + part * rest) / (along * across)
            flat = dot(w, t[0])
            for i in range(3):
                w[i] -= flat * t[0, i]
            add_surface(1.0, e, nn, N[2], z[2], d, nu, size, row)
        add_surface(1.0, w, nn, N[1], z[1], d, nu, size, row)
        _scatter(p, f, nn, 1.0, row, G_T[k])


@kernel
def contact(p, x, x0, state, gap, slip, G_N, G_T, V_T, point, normal, tangents):
    """Gap, slip and rows by (1), (2), (4), (5)."""
    X, h, d, nu, n = local_matrix(4, 3), local_vector(8), local_matrix(2, 3), local_vector(3), local_vector(3)
    N, z, S, r, uv = local_matrix(4, 4), local_vector(6), local_matrix(6, 3), local_vector(3), local_vector(2)
    row, t, m = local_vector(15), local_matrix(2, 3), local_vector(3)
    first, side = _start(p, x, x0, state, uv)
    _slip(p, x, state, first, uv, slip, G_T, m, t)
    f, kind = locate(p, x, state, _ROOM, uv)
    if kind != SMOOTH:
        slip[0] = slip[1] = 0.0
        for j in range(G_T.shape[1]):
            G_T[0, j] = G_T[1, j] = 0.0
        _beside_border(p, x, state, f, gap, G_N, point, normal, tangents)
        return
    nn, size = _take(p, x, state, f, X, h, d, nu)
    foot(nn, X, h, nu, x[0], uv, N, z, S, r)
    normal_of(S, n)
    g = dot(n, r)
    gap[0] += side * g
    _point_row(n, nn, N[0], z[0], d, nu, size, row)
    _scatter(p, f, nn, side, row, G_N)
    # tangents of the start of the step, turned to the present normal
    alpha = 1.0 / (1.0 + max(dot(m, n), -0.9))
    for k in range(2):
        s = dot(t[k], n)
        for i in range(3):
            t[k, i] -= alpha * s * (m[i] + n[i])
    aa, ab, bb = dot(S[1], S[1]), dot(S[1], S[2]), dot(S[2], S[2])
    det = aa * bb - ab * ab
    for k in range(2):
        _point_row(t[k], nn, N[0], z[0], d, nu, size, row)
        c0, c1 = dot(t[k], S[1]), dot(t[k], S[2])
        add_surface(g * (bb * c0 - ab * c1) / det, n, nn, N[1], z[1], d, nu, size, row)
        add_surface(g * (aa * c1 - ab * c0) / det, n, nn, N[2], z[2], d, nu, size, row)
        _scatter(p, f, nn, 1.0, row, V_T[k])
    for i in range(3):
        point[i] += S[0, i]
        normal[i] += side * n[i]
        tangents[0, i] += t[0, i]
        tangents[1, i] += side * t[1, i]
    if side < 0.0:
        slip[1] = -slip[1]
        for j in range(G_T.shape[1]):
            G_T[1, j], V_T[1, j] = -G_T[1, j], -V_T[1, j]


@kernel
def _beside_border(p, x, state, f, gap, G_N, point, normal, tangents):
    """Distance of the node from the border of the surface, which it is beside: an open contact."""
    X, h, d, nu, n = local_matrix(4, 3), local_vector(8), local_matrix(2, 3), local_vector(3), local_vector(3)
    t = local_matrix(2, 3)
    faces = integer_matrix(p.faces_at, p.nf, FACE)
    nn, size = _take(p, x, state, f, X, h, d, nu)
    k, part, distance = chord(nn, X, x[0])
    b = (k + 1) % nn
    for i in range(3):
        point[i] += X[k, i] + part * (X[b, i] - X[k, i])
    distance = max(distance, 1e-9 * math.sqrt(size))
    for i in range(3):
        n[i] = x[0, i] - point[i]
    length = math.sqrt(dot(n, n))
    for i in range(3):
        n[i] = n[i] / length if length > 1e-9 * math.sqrt(size) else nu[i]
    gap[0] += distance
    for i in range(3):
        normal[i] += n[i]
        G_N[i] += n[i]
        G_N[6 * faces[f, 1 + k] + i] -= (1.0 - part) * n[i]
        G_N[6 * faces[f, 1 + b] + i] -= part * n[i]
    j = 0
    for i in range(1, 3):
        if abs(n[i]) < abs(n[j]):
            j = i
    scale = 1.0 / math.sqrt(1.0 - n[j] * n[j])
    for i in range(3):
        t[0, i] = -scale * n[j] * n[i]
    t[0, j] += scale
    cross(n, t[0], t[1])
    for k in range(2):
        for i in range(3):
            tangents[k, i] += t[k, i]


@kernel
def curvature(p, x, x0, state, B, row):
    """Fill (3), B (15, 15), and ∂gap, row (15,), of the node and the nodes of a face; returns the face, −1 beside it.

    Both have the sign of the side of the surface.
    """
    X, h, d, nu, n = local_matrix(4, 3), local_vector(8), local_matrix(2, 3), local_vector(3), local_vector(3)
    N, z, S, r, uv = local_matrix(4, 4), local_vector(6), local_matrix(6, 3), local_vector(3), local_vector(2)
    T, c, u = local_matrix(2, 15), local_matrix(2, 15), local_matrix(2, 15)
    f, kind = locate(p, x, state, _ROOM, uv)
    if kind != SMOOTH:
        return -1
    nn, size = _take(p, x, state, f, X, h, d, nu)
    foot(nn, X, h, nu, x[0], uv, N, z, S, r)
    normal_of(S, n)
    g = dot(n, r)
    for i in range(2):
        _point_row(S[1 + i], nn, N[0], z[0], d, nu, size, T[i])
        _clear(c[i])
        add_surface(1.0, n, nn, N[1 + i], z[1 + i], d, nu, size, c[i])
    aa, ab, bb = dot(S[1], S[1]), dot(S[1], S[2]), dot(S[2], S[2])
    kk, km, mm = dot(n, S[3]), dot(n, S[4]), dot(n, S[5])
    d00, d01, d11 = aa - g * kk, ab - g * km, bb - g * mm
    det, full = aa * bb - ab * ab, d00 * d11 - d01 * d01
    for j in range(15):
        q0, q1 = T[0, j] + g * c[0, j], T[1, j] + g * c[1, j]
        u[0, j], u[1, j] = (d11 * q0 - d01 * q1) / full, (d00 * q1 - d01 * q0) / full
        t0, t1 = T[0, j], T[1, j]
        T[0, j], T[1, j] = (bb * t0 - ab * t1) / det, (aa * t1 - ab * t0) / det
    for i in range(15):
        for j in range(15):
            b0 = c[0, j] + kk * u[0, j] + km * u[1, j]
            b1 = c[1, j] + km * u[0, j] + mm * u[1, j]
            B[i, j] = -T[0, i] * b0 - T[1, i] * b1 - c[0, i] * u[0, j] - c[1, i] * u[1, j]
    if z[0] != 0.0:
        add_turning_bulge(-z[0], n, nn, d, nu, size, B)
    _point_row(n, nn, N[0], z[0], d, nu, size, row)
    _, side = _start(p, x, x0, state, uv)
    for i in range(15):
        row[i] *= side
        for j in range(15):
            B[i, j] *= side
    return f


@kernel
def contact_hessian(p, x, x0, state, H_N):
    """Add (3) to H_N (nd, nd)."""
    B, row = local_matrix(15, 15), local_vector(15)
    f = curvature(p, x, x0, state, B, row)
    if f < 0:
        return
    faces = integer_matrix(p.faces_at, p.nf, FACE)
    nn = faces[f, 0]
    for a in range(nn + 1):
        at = 0 if a == 0 else 6 * faces[f, a]
        for b in range(nn + 1):
            to = 0 if b == 0 else 6 * faces[f, b]
            for i in range(3):
                for j in range(3):
                    H_N[at + i, to + j] += B[3 * a + i, 3 * b + j]


@kernel
def _corner_normal(p, x, f, a, n):
    """Add (6) of `face_kernels` of one corner of one face to n (3,)."""
    faces = integer_matrix(p.faces_at, p.nf, FACE)
    nn = faces[f, 0]
    k, b, c = faces[f, 1 + a], faces[f, 1 + (a + 1) % nn], faces[f, 1 + (a + nn - 1) % nn]
    e, o, w = local_vector(3), local_vector(3), local_vector(3)
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
    X, h, d, nu, n = local_matrix(4, 3), local_vector(8), local_matrix(2, 3), local_vector(3), local_vector(3)
    uv = local_vector(2)
    if p.smooth != 0:
        for f in range(p.nf):
            nn, _ = _take(p, x, state, f, X, h, d, nu)
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
                    # a normal beside that of the facet, or behind it, has no height
                    most = _STEEP * math.sqrt(square)
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
def _crossing(p, x, state, f, inwards, room, nu):
    """Part of the step at which the node went through facet f, or up to ``room`` beside it; −1: it did not.

    Fills the normal nu (3,) of the facet there.
    """
    X, X0, h, d = local_matrix(4, 3), local_matrix(4, 3), local_vector(8), local_matrix(2, 3)
    N, z, S, r, y, uv = (
        local_matrix(4, 4),
        local_vector(6),
        local_matrix(6, 3),
        local_vector(3),
        local_vector(3),
        local_vector(2),
    )
    faces = integer_matrix(p.faces_at, p.nf, FACE)
    old = state.shape[0] - 3 * x.shape[0]
    nn, size = _take(p, x, state, f, X, h, d, nu)
    after = before = 0.0
    for a in range(nn):
        for i in range(3):
            X0[a, i] = state[old + 3 * faces[f, 1 + a] + i]
            after += nu[i] * (x[0, i] - X[a, i]) / nn
    facet(nn, X0, d, nu)
    for a in range(nn):
        for i in range(3):
            before += nu[i] * (state[old + i] - X0[a, i]) / nn
    near = 1e-6 * math.sqrt(size)  # what is pressed to the other side ends on it
    if inwards:
        missed = before < -near or after >= 0.0 or after >= before
    else:
        missed = before >= 0.0 or after < -near or after <= before
    if missed:
        return -1.0
    part = min(max(before / (before - after), 0.0), 1.0)
    for i in range(3):
        y[i] = (1.0 - part) * state[old + i] + part * x[0, i]
        for a in range(nn):
            X[a, i] = (1.0 - part) * X0[a, i] + part * X[a, i]
    for k in range(8):
        h[k] = 0.0
    facet(nn, X, d, nu)
    uv[0] = uv[1] = 1.0 / nn if nn == 3 else 0.5
    foot(nn, X, h, nu, y, uv, N, z, S, r)
    for k in range(nn):
        if beside(nn, uv, k) > room:
            return -1.0
    return part


@kernel
def passed(p, x, state):
    """Whether the node went through the body in the step: in by one face, and out by one on the other side."""
    nu, to = local_vector(3), local_vector(3)
    X, h, d = local_matrix(4, 3), local_vector(8), local_matrix(2, 3)
    old = state.shape[0] - 3 * x.shape[0]
    for f in range(p.nf):
        at = _crossing(p, x, state, f, True, _ROUND, nu)
        if at < 0.0:
            continue
        for g in range(p.nf):
            out = -1.0 if g == f else _crossing(p, x, state, g, False, _ROUND, to)
            if out <= at or dot(nu, to) >= 0.0:
                continue
            nn, size = _take(p, x, state, f, X, h, d, nu)
            faces = integer_matrix(p.faces_at, p.nf, FACE)
            depth, half = 0.0, 0.5 * (at + out)
            for i in range(3):
                way = (1.0 - half) * state[old + i] + half * x[0, i]
                for a in range(nn):
                    depth -= nu[i] * (way - (1.0 - half) * state[old + 3 * faces[f, 1 + a] + i] - half * X[a, i]) / nn
            if depth > _GRAZE * math.sqrt(size):
                return True
            _crossing(p, x, state, f, True, _ROUND, nu)
    return False


@kernel
def _height_over(p, x, f):
    """How far the node is above the facet of face f, over the size of the face."""
    faces = integer_matrix(p.faces_at, p.nf, FACE)
    X, d, nu = local_matrix(4, 3), local_matrix(2, 3), local_vector(3)
    nn, height = faces[f, 0], 0.0
    for a in range(nn):
        for i in range(3):
            X[a, i] = x[faces[f, 1 + a], i]
    size = facet(nn, X, d, nu)
    for a in range(nn):
        for i in range(3):
            height += nu[i] * (x[0, i] - X[a, i]) / nn
    return height / math.sqrt(size)


@kernel
def from_below(p, x, state, f):
    """Whether the node, which touches face f, was beside the border at the start of the step, and lower than it."""
    old, faces, uv = state.shape[0] - 3 * x.shape[0], integer_matrix(p.faces_at, p.nf, FACE), local_vector(2)
    x0 = state[old:].reshape(x.shape)
    if _height_over(p, x0, f) >= -_FLUSH or _height_over(p, x, f) > _FLUSH:
        return False
    g, kind = locate(p, x0, state, 0.0, uv)
    return kind == BORDER and faces[g, 5 + _worst(p, g, faces[g, 0], uv, 0.0)[1]] == BORDER


@kernel
def folded(p, x, state, f):
    """Whether neighbours bend face f, which the node is near, beyond the largest slope at the start of the step."""
    x0 = state[state.shape[0] - 3 * x.shape[0] :].reshape(x.shape)
    X, h, d, nu = local_matrix(4, 3), local_vector(8), local_matrix(2, 3), local_vector(3)
    nn, _ = _take(p, x0, state, f, X, h, d, nu)
    steepest = 0.0
    for a in range(nn):
        for k in range(2):
            b, square = (a + 1) % nn if k == 0 else (a + nn - 1) % nn, 0.0
            for i in range(3):
                square += (X[b, i] - X[a, i]) ** 2
            steepest = max(steepest, abs(h[2 * a + k]) / math.sqrt(square))
    return steepest > _STEEP * (1.0 - _ROUND) and abs(_height_over(p, x, f)) < 1.0


@kernel
def passed_beside(p, x, state):
    """Whether the node, which is beside the border, went in through a face in the step, and is well below it."""
    nu = local_vector(3)
    for f in range(p.nf):
        if _crossing(p, x, state, f, True, _RIM, nu) >= 0.0 and _height_over(p, x, f) < -BEHIND:
            return True
    return False


@kernel
def initial(p, x, state):
    """Heights and face that are consistent with the pose."""
    accept(p, x, state)


@kernel
def trouble(p, x, state):
    """1: the nearest face is out of reach; 2: the node is behind the surface, 4: and came from beside its border; 3: it
    has gone through the body; 5: the nearest face is bent so much that its nearest point is uncertain."""
    uv = local_vector(2)
    f, kind = locate(p, x, state, 0.0, uv)
    if kind == CUT:
        return 1.0
    if kind == SMOOTH and folded(p, x, state, f):
        return 5.0
    if kind == SMOOTH and behind(p, x, state, f, uv):
        return 2.0
    if kind == SMOOTH and from_below(p, x, state, f):
        return 4.0
    if kind == BORDER and passed_beside(p, x, state):
        return 3.0
    return 3.0 if f != int(state[0]) and passed(p, x, state) else 0.0
