"""Faces of a mesh as a surface that bulges: shape, normals, foot points, and their derivatives.

Over a face with nodes x_a, of three or four, the surface is

    S(u, v) = Σ N_a x_a + z ν ,   ν = c/|c| ,   c = d_1 × d_2                                                       (1)

with the linear (bilinear) shape functions N_a on 0 ≤ u, v ≤ 1 and d = x_1 − x_0, x_2 − x_0 of a triangle, the diagonals
x_2 − x_0, x_3 − x_1 of a quadrilateral. The height z comes from normals n_a at the nodes: seen from corner a their
tangent planes lie over corner b by

    h_ab = −n_a·(x_b − x_a)/(n_a·ν)                                                                                (2)

and z is the cubic with these slopes along each edge, 0 at the corners:

    edge            z(t) = h_ab t (1 − t)² + h_ba t² (1 − t)                                                       (3)
    triangle        z = Σ L_a² L_b h_ab + ½ L_0 L_1 L_2 Σ h_ab                                                     (4)
    quadrilateral   z = (1 − v) z_01(u) + v z_32(u) + (1 − u) z_03(v) + u z_12(v)                                   (5)

S,u and S,v at a corner are at right angles to n_a: both faces at a node have its normal there. Heights of quadratic
surfaces are exact, so that normals jump across edges by terms of third order in the size of the faces. Nodal normals
are weighted so that they are exact where the nodes lie on a sphere,

    n_a ∝ Σ (e_1 × e_2)/(|e_1|²|e_2|²)     over the faces around a, with the edges of each that begin in a          (6)

A node at a border, or at an edge where faces meet at a larger angle than `crease`, has faces on one side alone; there
h_ab = h_ba, the arc that is symmetric.

Heights are numbers that stay while positions change: ν carries them along. Then (1) rotates with the nodes, and

    ∂S/∂x_a = N_a I + z ∂ν/∂x_a ,   δν = (I − ν νᵀ) δc/|c|                                                         (7)
    ∂²(n·ν) by   m = (n − (n·ν) ν)/|c| ,  δm = −[ν mᵀ + m νᵀ + (n·ν)(I − ν νᵀ)/|c|] δc/|c|   for fixed n             (8)

Source: (4): Vlachos and others, Curved PN triangles (2001); (5): Coons' patch; (6): Max, J. Graphics Tools 4 (1999);
(7)-(8) derived here, checked by differences.

    symbol   code      shape    unit  meaning
    x_a      X         (4, 3)   m     nodes of the face; the fourth is not used of a triangle
    h_ab     h         (8,)     m     of corner a towards the next corner at 2a, towards the one before at 2a + 1
    S …      S         (6, 3)   m     S, S,u, S,v, S,uu, S,uv, S,vv
    N_a …    N         (4, 4)   -     N, N,u, N,v, N,uv
    z …      z         (6,)     m     z, z,u, z,v, z,uu, z,uv, z,vv
    d, ν     d, nu     (2, 3), (3,)
"""

import math

from fem_mbs.jit import kernel, local_arrays
from fem_mbs.rotations import cross, dot

_ROUNDS = 50  # of Newton's method for foot points, where halved steps count; 5 are usual
_SETTLED = 1e-6  # of a face: shorter steps are round-off of distances, or as good as the last
_FAR = 1.0  # positions are searched up to so far outside the square


@kernel
def shapes(nn, u, v, N):
    """Fill shape functions and their derivatives N (4, 4)."""
    for k in range(4):
        for a in range(4):
            N[k, a] = 0.0
    if nn == 3:
        N[0, 0], N[0, 1], N[0, 2] = 1.0 - u - v, u, v
        N[1, 0], N[1, 1], N[2, 0], N[2, 2] = -1.0, 1.0, -1.0, 1.0
        return
    N[0, 0], N[0, 1], N[0, 2], N[0, 3] = (1.0 - u) * (1.0 - v), u * (1.0 - v), u * v, (1.0 - u) * v
    N[1, 0], N[1, 1], N[1, 2], N[1, 3] = v - 1.0, 1.0 - v, v, -v
    N[2, 0], N[2, 1], N[2, 2], N[2, 3] = u - 1.0, -u, u, 1.0 - u
    N[3, 0], N[3, 1], N[3, 2], N[3, 3] = 1.0, -1.0, 1.0, -1.0


@kernel
def _edge(a, b, t):
    """The cubic (3) with its first and second derivative."""
    return (
        a * t * (1.0 - t) ** 2 + b * t * t * (1.0 - t),
        a * (1.0 - t) * (1.0 - 3.0 * t) + b * t * (2.0 - 3.0 * t),
        a * (6.0 * t - 4.0) + b * (2.0 - 6.0 * t),
    )


@kernel
def height(nn, h, u, v, z):
    """Fill the height (4) or (5) and its derivatives z (6,)."""
    if nn == 4:
        c0, s0, k0 = _edge(h[0], h[3], u)
        c1, s1, k1 = _edge(h[2], h[5], v)
        c2, s2, k2 = _edge(h[7], h[4], u)
        c3, s3, k3 = _edge(h[1], h[6], v)
        z[0] = (1.0 - v) * c0 + v * c2 + (1.0 - u) * c3 + u * c1
        z[1] = (1.0 - v) * s0 + v * s2 - c3 + c1
        z[2] = c2 - c0 + (1.0 - u) * s3 + u * s1
        z[3], z[4], z[5] = (1.0 - v) * k0 + v * k2, s2 - s0 + s1 - s3, (1.0 - u) * k3 + u * k1
        return
    L, g, H = local_arrays("3, 3, 3 3")
    L[0], L[1], L[2] = 1.0 - u - v, u, v
    middle = 0.5 * (h[0] + h[1] + h[2] + h[3] + h[4] + h[5])
    z[0] = middle * L[0] * L[1] * L[2]
    for a in range(3):
        b, c = (a + 1) % 3, (a + 2) % 3
        g[a] = middle * L[b] * L[c]
        H[a, a], H[a, b], H[a, c] = 0.0, middle * L[c], middle * L[b]
    for a in range(3):
        for k in range(2):
            b, s = (a + 1 + k) % 3, h[2 * a + k]
            z[0] += s * L[a] * L[a] * L[b]
            g[a] += 2.0 * s * L[a] * L[b]
            g[b] += s * L[a] * L[a]
            H[a, a] += 2.0 * s * L[b]
            H[a, b] += 2.0 * s * L[a]
            H[b, a] += 2.0 * s * L[a]
    z[1], z[2] = g[1] - g[0], g[2] - g[0]
    z[3] = H[0, 0] - 2.0 * H[0, 1] + H[1, 1]
    z[4] = H[0, 0] - H[0, 1] - H[0, 2] + H[1, 2]
    z[5] = H[0, 0] - 2.0 * H[0, 2] + H[2, 2]


@kernel
def ends(nn, k, a):
    """Coefficient of corner a in d_k of (1): −1, 0 or 1."""
    first = 0 if nn == 3 else k
    last = k + 1 if nn == 3 else k + 2
    return -1.0 if a == first else (1.0 if a == last else 0.0)


@kernel
def facet(nn, X, d, nu):
    """Fill d (2, 3) and ν (3,) of (1); returns |c|, twice the area."""
    for k in range(2):
        for i in range(3):
            d[k, i] = 0.0
            for a in range(nn):
                d[k, i] += ends(nn, k, a) * X[a, i]
    cross(d[0], d[1], nu)
    size = math.sqrt(dot(nu, nu))
    for i in range(3):
        nu[i] /= size
    return size


@kernel
def surface(nn, X, h, nu, u, v, N, z, S):
    """Fill N (4, 4), z (6,) and the surface (1) with its derivatives S (6, 3)."""
    shapes(nn, u, v, N)
    height(nn, h, u, v, z)
    for i in range(3):
        for k in range(6):
            S[k, i] = z[k] * nu[i]
        for a in range(nn):
            for k in range(3):
                S[k, i] += N[k, a] * X[a, i]
            S[4, i] += N[3, a] * X[a, i]


@kernel
def foot(nn, X, h, nu, y, uv, N, z, S, r):
    """Move uv (2,) to the place of the surface where r = y − S is at right angles to it; whether it is found.

    N, z, S, r are those at that place. Positions farther outside the face than its size are cut off. Steps that lead
    away from y are halved: on faces that are bent sharply Newton's method alone went from edge to edge.
    """
    u, v, du, dv, best = uv[0], uv[1], 0.0, 0.0, math.inf
    low, high = -_FAR, 1.0 + _FAR
    for _ in range(_ROUNDS):
        surface(nn, X, h, nu, u + du, v + dv, N, z, S)
        for i in range(3):
            r[i] = y[i] - S[0, i]
        square = dot(r, r)
        if square > best and max(abs(du), abs(dv)) > _SETTLED:
            du, dv = 0.5 * du, 0.5 * dv
            continue
        u, v, best = u + du, v + dv, square
        f0, f1 = dot(r, S[1]), dot(r, S[2])
        aa, ab, bb = dot(S[1], S[1]), dot(S[1], S[2]), dot(S[2], S[2])
        kk, km, mm = aa - dot(r, S[3]), ab - dot(r, S[4]), bb - dot(r, S[5])
        if kk > 0.0 and mm > 0.0 and kk * mm - km * km > 0.01 * (aa * bb - ab * ab):
            aa, ab, bb = kk, km, mm
        det = aa * bb - ab * ab
        du, dv = (bb * f0 - ab * f1) / det, (aa * f1 - ab * f0) / det
        longest = max(abs(du), abs(dv), 1.0)  # of a face: longer ones are guesses, cut off in their direction
        du = min(max(u + du / longest, low), high) - u
        dv = min(max(v + dv / longest, low), high) - v
        if max(abs(du), abs(dv)) <= 1e-15:
            break
    uv[0], uv[1] = u, v
    return max(abs(du), abs(dv)) <= _SETTLED


@kernel
def normal_of(S, n):
    """Fill the unit normal n (3,) of the surface."""
    cross(S[1], S[2], n)
    size = math.sqrt(dot(n, n))
    for i in range(3):
        n[i] /= size


@kernel
def beside(nn, uv, k):
    """Distance of a position beyond edge k of the face, from corner k to the next, in parameters."""
    u, v = uv[0], uv[1]
    if k == 0:
        return -v
    if nn == 3:
        return u + v - 1.0 if k == 1 else -u
    return u - 1.0 if k == 1 else (v - 1.0 if k == 2 else -u)


@kernel
def chord(nn, X, y):
    """The nearest point of the straight edges to y (3,): edge, part of it, distance."""
    best, edge, part = math.inf, 0, 0.0
    for k in range(nn):
        b, square, along, apart = (k + 1) % nn, 0.0, 0.0, 0.0
        for i in range(3):
            e = X[b, i] - X[k, i]
            square += e * e
            along += e * (y[i] - X[k, i])
        t = min(max(along / square, 0.0), 1.0)
        for i in range(3):
            apart += (y[i] - X[k, i] - t * (X[b, i] - X[k, i])) ** 2
        if apart < best:
            best, edge, part = apart, k, t
    return edge, part, math.sqrt(best)


@kernel
def add_surface(scale, e, nn, N, z, d, nu, size, row):
    """Add scale eᵀ ∂/∂x of Σ N_a x_a + z ν, (7), to a row (15,) of a point and four nodes."""
    m, w = local_arrays("3, 3")
    part = dot(e, nu)
    for i in range(3):
        m[i] = (e[i] - part * nu[i]) / size
        for a in range(nn):
            row[3 + 3 * a + i] += scale * N[a] * e[i]
    if z == 0.0:
        return
    for k in range(2):
        if k == 0:
            cross(d[1], m, w)
        else:
            cross(m, d[0], w)
        for a in range(nn):
            sign = scale * z * ends(nn, k, a)
            for i in range(3):
                row[3 + 3 * a + i] += sign * w[i]


@kernel
def add_turning_bulge(scale, n, nn, d, nu, size, H):
    """Add scale ∂²(n·ν)/∂x², (8), to H (15, 15)."""
    m, A, D, B = local_arrays("3, 3 3, 3 6, 6 6")
    s = dot(n, nu)
    for i in range(3):
        m[i] = (n[i] - s * nu[i]) / size
    for i in range(3):
        for j in range(3):
            flat = (1.0 if i == j else 0.0) - nu[i] * nu[j]
            A[i, j] = -(nu[i] * m[j] + m[i] * nu[j] + s * flat / size) / size
            D[i, j] = D[i, 3 + j] = 0.0
    for i in range(3):
        j, k = (i + 1) % 3, (i + 2) % 3
        # δc = −d_2 × δd_1 + d_1 × δd_2
        D[j, i], D[k, i] = -d[1, k], d[1, j]
        D[j, 3 + i], D[k, 3 + i] = d[0, k], -d[0, j]
    for i in range(6):
        for j in range(6):
            total = 0.0
            for a in range(3):
                for b in range(3):
                    total += D[a, i] * A[a, b] * D[b, j]
            B[i, j] = total
    for i in range(3):
        j, k = (i + 1) % 3, (i + 2) % 3
        # −m̃ over the diagonal, its transpose under it
        B[j, 3 + i] -= m[k]
        B[k, 3 + i] += m[j]
        B[3 + i, j] -= m[k]
        B[3 + i, k] += m[j]
    for a in range(nn):
        for b in range(nn):
            for k in range(2):
                for o in range(2):
                    sign = scale * ends(nn, k, a) * ends(nn, o, b)
                    if sign != 0.0:
                        for i in range(3):
                            for j in range(3):
                                H[3 + 3 * a + i, 3 + 3 * b + j] += sign * B[3 * k + i, 3 * o + j]
