"""Rotations: exponential map of SO(3), its tangent operator, their inverses and derivatives.

Everything is built from the Stumpff functions of x = ψ·ψ, which are smooth: there is no series switch and
no division by a small angle anywhere.

    c_k(x) = Σ_j (−x)^j / (k + 2j)!           c_0 = cos θ, c_1 = sin θ/θ, c_2 = (1 − cos θ)/θ², c_3 = (θ − sin θ)/θ³
    exp(ψ̃)  = I + c_1 ψ̃ + c_2 ψ̃²                                                                                    (1)
    T(ψ)    = I − c_2 ψ̃ + c_3 ψ̃²              Ω = T(ψ) ψ̇ ,  δθ = T(ψ) δψ   with R = R_0 exp(ψ̃), δR = R δθ̃          (2)
    T⁻¹(ψ)  = I + ½ ψ̃ + k ψ̃²                  k = (c_2(y) − c_3(y)) / (4 c_1(y)),  y = x/4                           (3)

T(ψ)ᵀ = T(−ψ). Kernels fill the given arrays; quaternions are (scalar, vector), unit.

Source: docs/theory/foundations.md, (1)-(4); Géradin & Cardona, Flexible Multibody Dynamics (2001), ch. 4.

    symbol  code   shape   unit   meaning
    ψ       psi    (3,)    rad    rotation vector, defined up to |ψ| → 2π for T⁻¹; log returns |ψ| ≤ π
    R       R      (3, 3)  -      rotation, body components to inertial components
    q       q      (4,)    -      unit quaternion of R, scalar first
"""

import math
from collections.abc import Sequence

import numpy as np

from fem_mbs.jit import kernel, local_arrays, local_vector

# ratios of successive coefficients of c_2, c_3, c_7 and c_8: 1/((k+2j+1)(k+2j+2))
_RATIO_2 = tuple(1.0 / ((3 + 2 * j) * (4 + 2 * j)) for j in range(8))
_RATIO_3 = tuple(1.0 / ((4 + 2 * j) * (5 + 2 * j)) for j in range(8))
_RATIO_7 = tuple(1.0 / ((8 + 2 * j) * (9 + 2 * j)) for j in range(16))
_RATIO_8 = tuple(1.0 / ((9 + 2 * j) * (10 + 2 * j)) for j in range(16))
_SMALL = 0.02  # θ² below which the first four terms reach round-off: 1e-17 with c_2, the slowest


@kernel
def stumpff(x, c):
    """Fill c (9,) with c_0 … c_8 of x = θ²; relative error 1e-16 up to θ = 2π."""
    c7, c8 = 1.0, 1.0
    # Horner in −x; the first eight terms reach round-off below x = 2.5
    if x > _SMALL:
        if x > 2.5:
            for j in range(15, 7, -1):
                c7 = 1.0 - c7 * x * _RATIO_7[j]
                c8 = 1.0 - c8 * x * _RATIO_8[j]
        for j in range(7, 3, -1):
            c7 = 1.0 - c7 * x * _RATIO_7[j]
            c8 = 1.0 - c8 * x * _RATIO_8[j]
    for j in range(3, -1, -1):
        c7 = 1.0 - c7 * x * _RATIO_7[j]
        c8 = 1.0 - c8 * x * _RATIO_8[j]
    c[7] = c7 / 5040.0
    c[8] = c8 / 40320.0
    c[6] = 1.0 / 720.0 - x * c[8]
    c[5] = 1.0 / 120.0 - x * c[7]
    c[4] = 1.0 / 24.0 - x * c[6]
    c[3] = 1.0 / 6.0 - x * c[5]
    c[2] = 0.5 - x * c[4]
    c[1] = 1.0 - x * c[3]
    c[0] = 1.0 - x * c[2]


@kernel
def add_isotropic(scale, a0, a1, a2, psi, A):
    """Add scale (a0 I + a1 ψ̃ + a2 ψψᵀ) to A (3, 3)."""
    for i in range(3):
        A[i, i] += scale * a0
        for j in range(3):
            A[i, j] += scale * a2 * psi[i] * psi[j]
    A[0, 1] -= scale * a1 * psi[2]
    A[0, 2] += scale * a1 * psi[1]
    A[1, 0] += scale * a1 * psi[2]
    A[1, 2] -= scale * a1 * psi[0]
    A[2, 0] -= scale * a1 * psi[1]
    A[2, 1] += scale * a1 * psi[0]


@kernel
def _c0123(x):
    """c_0 … c_3 of x as scalars: closed forms where they are accurate, Horner sums elsewhere."""
    if x > 1.0:
        theta = math.sqrt(x)
        s, c = math.sin(theta), math.cos(theta)
        return c, s / theta, (1.0 - c) / x, (theta - s) / (x * theta)
    c2, c3 = 1.0, 1.0
    if x > _SMALL:
        for j in range(7, 3, -1):
            c2 = 1.0 - c2 * x * _RATIO_2[j]
            c3 = 1.0 - c3 * x * _RATIO_3[j]
    for j in range(3, -1, -1):
        c2 = 1.0 - c2 * x * _RATIO_2[j]
        c3 = 1.0 - c3 * x * _RATIO_3[j]
    c2 *= 0.5
    c3 /= 6.0
    return 1.0 - x * c2, 1.0 - x * c3, c2, c3


@kernel
def exp_matrix(psi, R):
    """Fill R (3, 3) with exp(ψ̃), (1)."""
    x = psi[0] * psi[0] + psi[1] * psi[1] + psi[2] * psi[2]
    c0, c1, c2, _ = _c0123(x)
    R[:, :] = 0.0
    add_isotropic(1.0, c0, c1, c2, psi, R)  # I + c_2 ψ̃² = c_0 I + c_2 ψψᵀ


@kernel
def tangent(psi, T):
    """Fill T (3, 3) with T(ψ), (2)."""
    x = psi[0] * psi[0] + psi[1] * psi[1] + psi[2] * psi[2]
    _, c1, c2, c3 = _c0123(x)
    T[:, :] = 0.0
    add_isotropic(1.0, c1, -c2, c3, psi, T)  # I + c_3 ψ̃² = c_1 I + c_3 ψψᵀ


@kernel
def tangent_inverse(psi, T):
    """Fill T (3, 3) with T⁻¹(ψ), (3); |ψ| < 2π."""
    x = psi[0] * psi[0] + psi[1] * psi[1] + psi[2] * psi[2]
    _, c1, c2, c3 = _c0123(0.25 * x)
    k = (c2 - c3) / (4.0 * c1)
    T[:, :] = 0.0
    add_isotropic(1.0, 1.0 - k * x, 0.5, k, psi, T)


@kernel
def quaternion_exp(psi, q):
    """Fill q (4,) with the quaternion of exp(ψ̃)."""
    x = 0.25 * (psi[0] * psi[0] + psi[1] * psi[1] + psi[2] * psi[2])
    c0, c1, _, _ = _c0123(x)
    q[0] = c0
    for i in range(3):
        q[1 + i] = 0.5 * c1 * psi[i]


@kernel
def quaternion_multiply(p, q, r):
    """Fill r (4,) with the product p q; r may not be p or q."""
    r[0] = p[0] * q[0] - p[1] * q[1] - p[2] * q[2] - p[3] * q[3]
    r[1] = p[0] * q[1] + p[1] * q[0] + p[2] * q[3] - p[3] * q[2]
    r[2] = p[0] * q[2] - p[1] * q[3] + p[2] * q[0] + p[3] * q[1]
    r[3] = p[0] * q[3] + p[1] * q[2] - p[2] * q[1] + p[3] * q[0]


@kernel
def quaternion_normalise(q):
    """Scale q (4,) to unit length."""
    s = 1.0 / math.sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3])
    for i in range(4):
        q[i] *= s


@kernel
def quaternion_to_matrix(q, R):
    """Fill R (3, 3) from the unit quaternion q (4,)."""
    w, x, y, z = q[0], q[1], q[2], q[3]
    R[0, 0] = 1.0 - 2.0 * (y * y + z * z)
    R[0, 1] = 2.0 * (x * y - w * z)
    R[0, 2] = 2.0 * (x * z + w * y)
    R[1, 0] = 2.0 * (x * y + w * z)
    R[1, 1] = 1.0 - 2.0 * (x * x + z * z)
    R[1, 2] = 2.0 * (y * z - w * x)
    R[2, 0] = 2.0 * (x * z - w * y)
    R[2, 1] = 2.0 * (y * z + w * x)
    R[2, 2] = 1.0 - 2.0 * (x * x + y * y)


@kernel
def matrix_to_quaternion(R, q):
    """Fill q (4,) with the unit quaternion of R (3, 3), scalar ≥ 0 (largest pivot, Spurrier 1978)."""
    trace = R[0, 0] + R[1, 1] + R[2, 2]
    i = 0
    if R[1, 1] > R[0, 0]:
        i = 1
    if R[2, 2] > R[i, i]:
        i = 2
    if trace >= R[i, i]:
        q[0] = 0.5 * math.sqrt(1.0 + trace)
        s = 0.25 / q[0]
        q[1] = (R[2, 1] - R[1, 2]) * s
        q[2] = (R[0, 2] - R[2, 0]) * s
        q[3] = (R[1, 0] - R[0, 1]) * s
    else:
        j = (i + 1) % 3
        k = (i + 2) % 3
        q[1 + i] = math.sqrt(max(0.5 * R[i, i] + 0.25 * (1.0 - trace), 0.0))
        s = 0.25 / q[1 + i]
        q[0] = (R[k, j] - R[j, k]) * s
        q[1 + j] = (R[j, i] + R[i, j]) * s
        q[1 + k] = (R[k, i] + R[i, k]) * s
    sign = -1.0 if q[0] < 0.0 else 1.0
    for m in range(4):
        q[m] *= sign
    quaternion_normalise(q)


@kernel
def quaternion_log(q, psi):
    """Fill psi (3,) with the rotation vector of q (4,), |ψ| ≤ π."""
    n = math.sqrt(q[1] * q[1] + q[2] * q[2] + q[3] * q[3])
    w = q[0]
    sign = 1.0
    if w < 0.0:
        w, sign = -w, -1.0
    # 2 atan2(n, w)/n → 2/w (1 − n²/(3w²)) for n → 0
    scale = 2.0 * math.atan2(n, w) / n if n > 1e-7 else 2.0 / w
    for i in range(3):
        psi[i] = sign * scale * q[1 + i]


@kernel
def log_matrix(R, psi):
    """Fill psi (3,) with log(R), |ψ| ≤ π; accurate near 0 and near π (through the quaternion)."""
    q = local_vector(4)
    matrix_to_quaternion(R, q)
    quaternion_log(q, psi)


# --- small products used by the element kernels -----------------------------------------------------------------------


@kernel
def cross(a, b, c):
    """Fill c (3,) with a × b; c may not be a or b."""
    c[0] = a[1] * b[2] - a[2] * b[1]
    c[1] = a[2] * b[0] - a[0] * b[2]
    c[2] = a[0] * b[1] - a[1] * b[0]


@kernel
def add_cross(scale, a, b, c):
    """Add scale a × b to c (3,)."""
    c[0] += scale * (a[1] * b[2] - a[2] * b[1])
    c[1] += scale * (a[2] * b[0] - a[0] * b[2])
    c[2] += scale * (a[0] * b[1] - a[1] * b[0])


@kernel
def dot(a, b):
    """a · b of vectors (3,)."""
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


@kernel
def rotate(R, a, b):
    """Fill b (3,) with R a."""
    for i in range(3):
        b[i] = R[i, 0] * a[0] + R[i, 1] * a[1] + R[i, 2] * a[2]


@kernel
def rotate_T(R, a, b):
    """Fill b (3,) with Rᵀ a."""
    for i in range(3):
        b[i] = R[0, i] * a[0] + R[1, i] * a[1] + R[2, i] * a[2]


@kernel
def add_rotated(scale, R, a, b):
    """Add scale R a to b (3,)."""
    for i in range(3):
        b[i] += scale * (R[i, 0] * a[0] + R[i, 1] * a[1] + R[i, 2] * a[2])


@kernel
def multiply(A, B, C):
    """Fill C (3, 3) with A B."""
    for i in range(3):
        for j in range(3):
            C[i, j] = A[i, 0] * B[0, j] + A[i, 1] * B[1, j] + A[i, 2] * B[2, j]


@kernel
def multiply_T(A, B, C):
    """Fill C (3, 3) with Aᵀ B."""
    for i in range(3):
        for j in range(3):
            C[i, j] = A[0, i] * B[0, j] + A[1, i] * B[1, j] + A[2, i] * B[2, j]


@kernel
def add_skew(scale, a, A, i, j):
    """Add scale ã to the 3×3 block of A that begins at (i, j)."""
    A[i, j + 1] -= scale * a[2]
    A[i, j + 2] += scale * a[1]
    A[i + 1, j] += scale * a[2]
    A[i + 1, j + 2] -= scale * a[0]
    A[i + 2, j] -= scale * a[1]
    A[i + 2, j + 1] += scale * a[0]


@kernel
def add_R_skew(scale, R, a, A, i, j):
    """Add scale R ã to the 3×3 block of A that begins at (i, j)."""
    for k in range(3):
        A[i + k, j] += scale * (R[k, 1] * a[2] - R[k, 2] * a[1])
        A[i + k, j + 1] += scale * (R[k, 2] * a[0] - R[k, 0] * a[2])
        A[i + k, j + 2] += scale * (R[k, 0] * a[1] - R[k, 1] * a[0])


@kernel
def add_skew_RT(scale, a, R, A, i, j):
    """Add scale ã Rᵀ to the 3×3 block of A that begins at (i, j)."""
    for k in range(3):
        A[i, j + k] += scale * (a[1] * R[k, 2] - a[2] * R[k, 1])
        A[i + 1, j + k] += scale * (a[2] * R[k, 0] - a[0] * R[k, 2])
        A[i + 2, j + k] += scale * (a[0] * R[k, 1] - a[1] * R[k, 0])


@kernel
def add_skew_skew(scale, a, b, A, i, j):
    """Add scale ã b̃ = scale (b aᵀ − a·b I) to the 3×3 block of A that begins at (i, j)."""
    ab = a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
    for k in range(3):
        for m in range(3):
            A[i + k, j + m] += scale * b[k] * a[m]
        A[i + k, j + k] -= scale * ab


@kernel
def add_outer(scale, a, b, A, i, j):
    """Add scale a bᵀ to the 3×3 block of A that begins at (i, j)."""
    for k in range(3):
        for m in range(3):
            A[i + k, j + m] += scale * a[k] * b[m]


# --- isotropic forms: an operator A(ψ), its gradient and its Hessian --------------------------------------------------
#
# A(ψ) = a_0 I − a_1 ψ̃ + a_2 ψψᵀ with a_i functions of x = ψ·ψ is given by nine numbers, form (9,):
# a_i, b_i = 2 da_i/dx, c_i = 4 d²a_i/dx² (i = 0, 1, 2), in this order.


@kernel
def form_tangent(psi, form):
    """Fill form (9,) for T(ψ), (2)."""
    s = local_vector(9)
    stumpff(dot(psi, psi), s)
    for k in range(1, 4):
        form[k - 1] = s[k]
        form[k + 2] = k * s[k + 2] - s[k + 1]
        form[k + 5] = k * (k + 2) * s[k + 4] - (2 * k + 1) * s[k + 3] + s[k + 2]


@kernel
def form_tangent_inverse_T(psi, form):
    """Fill form (9,) for T⁻ᵀ(ψ) = T⁻¹(−ψ), (3); |ψ| < 2π."""
    s = local_vector(9)
    x = dot(psi, psi)
    stumpff(0.25 * x, s)
    # k = n/d as functions of y = x/4, with s_k' = ½(k s_{k+2} − s_{k+1}) and its derivative
    n1 = 0.5 * (2.0 * s[4] - s[3]) - 0.5 * (3.0 * s[5] - s[4])
    n2 = 0.25 * (8.0 * s[6] - 5.0 * s[5] + s[4]) - 0.25 * (15.0 * s[7] - 7.0 * s[6] + s[5])
    d = 4.0 * s[1]
    d1 = 2.0 * (s[3] - s[2])
    d2 = 3.0 * s[5] - 3.0 * s[4] + s[3]
    k = (s[2] - s[3]) / d
    k1 = (n1 - k * d1) / d
    k2 = (n2 - 2.0 * k1 * d1 - k * d2) / d
    k1 *= 0.25
    k2 *= 0.0625
    form[0] = 1.0 - x * k
    form[1] = 0.5
    form[2] = k
    form[3] = -2.0 * (k + x * k1)
    form[4] = 0.0
    form[5] = 2.0 * k1
    form[6] = -4.0 * (2.0 * k1 + x * k2)
    form[7] = 0.0
    form[8] = 4.0 * k2


@kernel
def form_matrix(form, psi, A):
    """Fill A (3, 3) with A(ψ)."""
    A[:, :] = 0.0
    add_isotropic(1.0, form[0], -form[1], form[2], psi, A)


@kernel
def form_gradient(transposed, form, psi, u, D):
    """Fill D (3, 3) with ∂(A(ψ) u)/∂ψ, or ∂(A(ψ)ᵀ u)/∂ψ when ``transposed`` is 1 (otherwise 0)."""
    sign = 1.0 - 2.0 * transposed
    a1, b1 = sign * form[1], sign * form[4]
    pu = dot(psi, u)
    g = local_vector(3)
    cross(u, psi, g)
    for i in range(3):
        g[i] = form[3] * u[i] + b1 * g[i] + form[5] * pu * psi[i]
    for i in range(3):
        for j in range(3):
            D[i, j] = g[i] * psi[j] + form[2] * psi[i] * u[j]
        D[i, i] += form[2] * pu
    add_skew(a1, u, D, 0, 0)


@kernel
def form_hessian(form, psi, u, n, E):
    """Fill E (3, 3), symmetric, with ∂²(n·A(ψ) u)/∂ψ²."""
    w = local_vector(3)
    cross(n, u, w)
    pu, pn, pw, un = dot(psi, u), dot(psi, n), dot(psi, w), dot(u, n)
    diagonal = form[3] * un + form[4] * pw + form[5] * pn * pu
    along = form[6] * un + form[7] * pw + form[8] * pn * pu
    for i in range(3):
        w[i] = form[4] * w[i] + form[5] * (pu * n[i] + pn * u[i]) + 0.5 * along * psi[i]
    for i in range(3):
        for j in range(3):
            E[i, j] = w[i] * psi[j] + psi[i] * w[j] + form[2] * (u[i] * n[j] + n[i] * u[j])
        E[i, i] += diagonal


@kernel
def form_rate(form, psi, d, A):
    """Fill A (3, 3) with the derivative of A(ψ) in the direction d (3,)."""
    pd = dot(psi, d)
    A[:, :] = 0.0
    add_isotropic(pd, form[3], -form[4], form[5], psi, A)
    add_skew(-form[1], d, A, 0, 0)
    for i in range(3):
        for j in range(3):
            A[i, j] += form[2] * (psi[i] * d[j] + d[i] * psi[j])


@kernel
def form_rate_gradient(form, psi, d, u, E):
    """Fill E (3, 3) with ∂/∂ψ of (derivative of A(ψ) in the direction d) u, d and u fixed."""
    pd, pu, du = dot(psi, d), dot(psi, u), dot(d, u)
    dxu, pxu = local_arrays("3, 3")
    cross(d, u, dxu)
    cross(psi, u, pxu)
    for i in range(3):
        along_psi = (
            form[6] * pd * u[i] - form[4] * dxu[i] - form[7] * pd * pxu[i]
            + form[5] * (pu * d[i] + du * psi[i]) + form[8] * pd * pu * psi[i]
        )  # fmt: skip
        along_d = form[3] * u[i] - form[4] * pxu[i] + form[5] * pu * psi[i]
        along_u = form[2] * d[i] + form[5] * pd * psi[i]
        for j in range(3):
            E[i, j] = along_psi * psi[j] + along_d * d[j] + along_u * u[j]
        E[i, i] += form[2] * du + form[5] * pd * pu
    add_skew(form[4] * pd, u, E, 0, 0)


# --- for scripts: plain NumPy in, NumPy out ---------------------------------------------------------------------------


def exp(psi: np.ndarray | Sequence[float]) -> np.ndarray:
    """Rotation matrix (3, 3) of the rotation vector psi (3,) [rad]."""
    R = np.empty((3, 3))
    exp_matrix(np.asarray(psi, float), R)
    return R


@kernel
def _log_matrices(R, psi):
    for i in range(R.shape[0]):
        log_matrix(R[i], psi[i])


def log(R: np.ndarray) -> np.ndarray:
    """Rotation vectors (…, 3) [rad] of rotation matrices R (…, 3, 3), |ψ| ≤ π."""
    R = np.ascontiguousarray(R, float)
    psi = np.empty(R.shape[:-1])
    _log_matrices(R.reshape(-1, 3, 3), psi.reshape(-1, 3))
    return psi


def skew(a: np.ndarray | Sequence[float]) -> np.ndarray:
    """Cross-product matrix ã (3, 3) of a (3,)."""
    return np.array([[0.0, -a[2], a[1]], [a[2], 0.0, -a[0]], [-a[1], a[0], 0.0]])


EXACT = 4e-16  # of products of the columns of a matrix: it is orthogonal to round-off


def as_matrix(rotation: np.ndarray | Sequence | None) -> np.ndarray:
    """Rotation matrix (3, 3) of a matrix (3, 3), a rotation vector (3,) [rad], a unit quaternion (4,) or None.

    Raises
    ------
    ValueError
        If a matrix is not a rotation or a quaternion not of unit length (1e-6).
    """
    if rotation is None:
        return np.eye(3)
    given = np.asarray(rotation, float)
    if given.shape == (3,):
        return exp(given)
    if given.shape == (4,):
        if abs(np.linalg.norm(given) - 1.0) > 1e-6:
            raise ValueError(f"quaternion of length {np.linalg.norm(given):.6g}, must be 1")
        R = np.empty((3, 3))
        quaternion_to_matrix(given / np.linalg.norm(given), R)
        return R
    if given.shape == (3, 3):
        (a, b, c), (d, e, f), (g, h, i) = given.tolist()
        (aa, ab, ac), (_, bb, bc), (_, _, cc) = (given.T @ given).tolist()
        error = max(abs(aa - 1.0), abs(bb - 1.0), abs(cc - 1.0), abs(ab), abs(ac), abs(bc))
        if not error <= 1e-6 or a * (e * i - f * h) - b * (d * i - f * g) + c * (d * h - e * g) < 0:
            raise ValueError("matrix is not a rotation (orthogonal, determinant +1)")
        if error <= EXACT:
            return given.copy()  # a quaternion would turn the zeros of a quarter turn into 2e-16
        # round-off of the caller is removed, so that products of such matrices stay orthogonal
        q, R = np.empty(4), np.empty((3, 3))
        matrix_to_quaternion(np.ascontiguousarray(given), q)
        quaternion_to_matrix(q, R)
        return R
    raise ValueError(f"shape {given.shape}; expected a matrix (3, 3), a rotation vector (3,) or a quaternion (4,)")


def frame_with_axis(axis: np.ndarray | Sequence[float], along: int = 2) -> np.ndarray:
    """Rotation matrix (3, 3) whose column ``along`` is the unit vector axis (3,); the others are chosen,
    right-handed.
    """
    axis = np.asarray(axis, float)
    sizes = np.abs(axis).tolist()
    helper = [0.0, 0.0, 0.0]
    helper[sizes.index(min(sizes))] = 1.0
    first = cross_product(helper, axis.tolist())
    first /= math.sqrt(first.dot(first))
    columns = [axis, first, cross_product(axis.tolist(), first.tolist())]
    return np.array(columns[-along:] + columns[:-along]).T.copy()


def cross_product(a: np.ndarray | Sequence[float], b: np.ndarray | Sequence[float]) -> np.ndarray:
    """Cross product (3,) of two vectors: a tenth of the time that NumPy takes for so few numbers."""
    (a0, a1, a2), (b0, b1, b2) = a, b
    return np.array([a1 * b2 - a2 * b1, a2 * b0 - a0 * b2, a0 * b1 - a1 * b0])
