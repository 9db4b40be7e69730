"""A node that touches a surface of faces of another mesh, which may deform and rotate; it slides from face to face.

On the face where the surface S of `face_kernels` has its nearest point, with y the place of the node,

    r = y − S ,  r·S,u = r·S,v = 0 ,   n = S,u × S,v/|…| ,   gap = n·r                                               (1)
    ∂gap = n·(δy − S_x δx)                                                                                         (2)

because S,u and S,v are at right angles to n. With t_i = S,i·(δy − S_x δx), γ_i = n·S,ix δx, κ_ij = n·S,ij,
A_ij = S,i·S,j and places δu_i along the face:

    (A − gap κ) δu = t + gap γ ,   β = γ + κ δu ,   ∂²gap = −Σ (A⁻¹t)_i β_i − Σ γ_i δu_i − n·S,xx                    (3)

The slip counts from the point of the surface that was the nearest at the start of the step, at (u0, v0), and rotates
with the surface there. With t_1 along S,u and t_2 the part of S,v across it, both as they are now,

    slip_k = t_k·(y − S(u0, v0))                                                                                   (4)

and the rows of the sliding velocity are those of a point of the surface carried along the normal,

    V_T = t_k·(δy − S_x δx) + gap Σ (A⁻¹)_ij (t_k·S,i) γ_j                                                          (5)

with the tangents of (4) turned by the smallest rotation to the present normal. Gap and slip do not change in a rigid
motion of all nodes, so their forces add to nothing, and have no moment.

The face and its place are those of `face_search`. The side of the surface on which the node is follows from the start
of the step.

Source: docs/theory/surface_contact.md; (1)-(3) as for node-to-segment contact in Wriggers, Computational Contact
Mechanics (2006), ch. 9, here for a surface with heights; derived here, checked by differences.

Symbols of the tables: `face_search`.
"""

import math

from fem_mbs.elements.contacts.faces.face_kernels import add_surface, add_turning_bulge, chord, foot, normal_of, surface
from fem_mbs.elements.contacts.faces.face_search import FACE, SMOOTH, behind, locate, take
from fem_mbs.jit import integer_matrix, kernel, local_arrays
from fem_mbs.rotations import cross, dot

_ROOM = 0.25  # of a face, beyond smooth edges, for the face of the start of the step


@kernel
def _start(p, x, x0, state, uv):
    """Face at the start of the step, and side of the surface: 1 in front, −1 behind; fills the place uv (2,) there."""
    f, _ = locate(p, x0, state, _ROOM, uv)
    return f, -1.0 if not _same(x, x0) and behind(p, x0, state, f, uv) else 1.0


@kernel
def _same(x, x0):
    """True if a step has not begun: initial gaps."""
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
    X, h, d, nu, N, z, S, r, e, w, row = local_arrays("4 3, 8, 2 3, 3, 4 4, 6, 6 3, 3, 3, 3, 15")
    nn, size = take(p, x, state, f, X, h, d, nu)
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
def contact(p, x, x0, state, rows):
    """Gap, slip and rows by (1), (2), (4), (5)."""
    X, h, d, nu, n, N, z, S, r, uv, row, t, m = local_arrays("4 3, 8, 2 3, 3, 3, 4 4, 6, 6 3, 3, 2, 15, 2 3, 3")
    first, side = _start(p, x, x0, state, uv)
    _slip(p, x, state, first, uv, rows.slip, rows.G_T, m, t)
    f, kind = locate(p, x, state, _ROOM, uv)
    if kind != SMOOTH:
        rows.slip[0] = rows.slip[1] = 0.0
        for j in range(rows.G_T.shape[1]):
            rows.G_T[0, j] = rows.G_T[1, j] = 0.0
        _beside_border(p, x, state, f, rows)
        return
    nn, size = take(p, x, state, f, X, h, d, nu)
    foot(nn, X, h, nu, x[0], uv, N, z, S, r)
    normal_of(S, n)
    g = dot(n, r)
    rows.gap[0] += side * g
    _point_row(n, nn, N[0], z[0], d, nu, size, row)
    _scatter(p, f, nn, side, row, rows.G_N)
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
        _scatter(p, f, nn, 1.0, row, rows.V_T[k])
    for i in range(3):
        rows.point[i] += S[0, i]
        rows.normal[i] += side * n[i]
        rows.tangents[0, i] += t[0, i]
        rows.tangents[1, i] += side * t[1, i]
    if side < 0.0:
        rows.slip[1] = -rows.slip[1]
        for j in range(rows.G_T.shape[1]):
            rows.G_T[1, j], rows.V_T[1, j] = -rows.G_T[1, j], -rows.V_T[1, j]


@kernel
def _beside_border(p, x, state, f, rows):
    """Distance of the node, which is outside the surface, from its border: an open contact."""
    X, h, d, nu, n, t = local_arrays("4 3, 8, 2 3, 3, 3, 2 3")
    faces = integer_matrix(p.faces_at, p.nf, FACE)
    nn, size = take(p, x, state, f, X, h, d, nu)
    k, part, distance = chord(nn, X, x[0])
    b = (k + 1) % nn
    for i in range(3):
        rows.point[i] += X[k, i] + part * (X[b, i] - X[k, i])
    distance = max(distance, 1e-9 * math.sqrt(size))
    for i in range(3):
        n[i] = x[0, i] - rows.point[i]
    length = math.sqrt(dot(n, n))
    for i in range(3):
        n[i] = n[i] / length if length > 1e-9 * math.sqrt(size) else nu[i]
    rows.gap[0] += distance
    for i in range(3):
        rows.normal[i] += n[i]
        rows.G_N[i] += n[i]
        rows.G_N[6 * faces[f, 1 + k] + i] -= (1.0 - part) * n[i]
        rows.G_N[6 * faces[f, 1 + b] + i] -= part * n[i]
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
            rows.tangents[k, i] += t[k, i]


@kernel
def curvature(p, x, x0, state, B, row):
    """Fill (3), B (15, 15), and ∂gap, row (15,), of the node and the nodes of a face; returns the face, −1 outside it.

    Both have the sign of the side of the surface.
    """
    X, h, d, nu, n, N, z, S, r, uv, T, c, u = local_arrays("4 3, 8, 2 3, 3, 3, 4 4, 6, 6 3, 3, 2, 2 15, 2 15, 2 15")
    f, kind = locate(p, x, state, _ROOM, uv)
    if kind != SMOOTH:
        return -1
    nn, size = take(p, x, state, f, X, h, d, nu)
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
    B, row = local_arrays("15 15, 15")
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
