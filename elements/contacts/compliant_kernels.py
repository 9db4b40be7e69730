"""Kernels of the compliant contact: bodies that press into each other, of any contact geometry.

What the nonsmooth contacts describe - gap g_N, its gradient G_N and the gradient V_T of the sliding velocity - serves a
force law as well. With indentation δ = −g_N > 0, its rate δ̇ = −G_N v and the largest rate δ̇_i since the first touch:

    N = K δⁿ (1 + χ δ̇/δ̇_i) + c δ̇  ≥ 0            hysteresis factor χ(e): `recovery.hysteresis`, (2)-(7)             (1)
    F_T = −μ N w/s ,   w = V_T v ,  s = √(w·w + w_s²)                Coulomb's law, smooth below some w_s            (2)
    f = G_Nᵀ N + V_Tᵀ F_T                                                                                         (3)
    V = K δⁿ⁺¹/(n + 1)                                               energy of the elastic part                   (4)

The dashpot c is that of Kelvin and Voigt, without χ: their force jumps to c δ̇_i at first touch. N is cut off at zero:
bodies that are pulled apart faster than δ̇_i/χ, or K δ/c, do not stick. Tangents, with N_δ = ∂N/∂δ, N_r = ∂N/∂δ̇,
H = ∂G_N/∂q, t = V_Tᵀ w and D = ∂(w/s)/∂w = I/s − w wᵀ/s³:

    ∂N/∂q = −N_δ G_N − N_r vᵀH ,   ∂N/∂v = −N_r G_N                                                                (5)
    K = −(G_Nᵀ − μ t/s) ∂N/∂q − N H + μ N ∂(t/s)/∂q                                                               (6)
    C = −(G_Nᵀ − μ t/s) ∂N/∂v + μ N V_Tᵀ D V_T                                                                     (7)
    ∂(t/s)/∂q = Σ_k (∂V_T,k/∂q) w_k/s + V_Tᵀ D (∂V_T/∂q) v                                                         (8)

Contacts give no ∂V_T/∂q. It is the central difference of four points of V_T, whose steps are 3e-4 of the radii of
curvature that H shows; without friction, or with ``simple_tangent``, nothing is differenced.

Speed of a phase of contact. δ̇_i is the largest rate of indentation of the phase, from first touch to separation. In a
free impact that is the rate at first touch. It is kept in the state: max(0, δ̇) of the last step while the contact is
open, max(δ̇_i, δ̇) while it is closed. A contact that is closed at the start takes the rate it starts with. Within a
step a rate above the state is δ̇_i itself: N = K δⁿ (1 + χ) and N_r = 0. An impact on bodies that touch already is
damped as one on bodies a short distance apart. N − K δⁿ has the sign of δ̇: no energy is gained. δ̇_i counts as at
least
``least_speed``: a contact that is loaded without an impact would be damped without bound.

Of anisotropic friction, rows of V_T have the scales s_1, s_2 and F_T those coordinates (`fem_mbs.element.anisotropic`).

The geometry is not written a second time: the kernels below call those of the wrapped contact by their addresses, with
the same table of arguments. The start of the step, on which tangents may depend, is put where the bodies are.

Source: docs/theory/contacts.md, (25)-(30); Hunt and Crossley 1975 and Sanchez2025, table 2.1, for (1); (2) is the
usual smooth Coulomb law (Oden and Martins 1985, with a square root in place of their polynomial); (5)-(8) derived here,
checked by differences.

    symbol    code           shape   unit   meaning
    K, n, χ   stiffness, exponent, factor   N/mⁿ, -, -
    c         dashpot        ()      N s/m
    δ̇_i       state[0]       ()      m/s    largest rate of indentation since the first touch
    w_s       slip_speed     ()      m/s    sliding speed at which friction is 71 % of μ N
    s_1, s_2  scale          (2,)    -      of anisotropic friction, else 1
    -         contact_at …   ()      -      addresses: kernels and parameters of the wrapped contact
"""

import math

import numpy as np

from fem_mbs.jit import N_SLOTS, SLOT, call2, integers, kernel, local_arrays, local_vector, vector
from fem_mbs.system.records import zero

LAW = ("stiffness", "exponent", "factor", "dashpot", "least_speed", "friction", "slip_speed")
PARAMETERS = np.dtype(
    [(name, "f8") for name in LAW + ("deepest",)]
    + [("scale", "f8", (2,))]
    + [(name, "i8") for name in ("contact_at", "hessian_at", "parameters_at", "simple")]
)
_X, _R, _X0, _R0, _GAP, _SLIP, _GN, _GT, _VT, _W, _HN = (
    SLOT[k] for k in ("x", "R", "x0", "R0", "gap", "slip", "G_N", "G_T", "V_T", "W", "H_N")
)
_POINT, _NORMAL, _TANGENTS = SLOT["point"], SLOT["normal"], SLOT["tangents"]
_STEP = 3e-4  # of differences, relative to the radius of curvature: truncation ~ STEP⁴, round-off ~ 1e-16/STEP


@kernel
def touch(p, arguments, nn):
    """Evaluate the wrapped contact at the poses in the table of arguments, whatever the state at the start of the
    step.
    """
    b = integers(arguments, N_SLOTS)
    nd = 6 * nn
    zero(b[_GAP], 1)
    zero(b[_SLIP], 2)
    zero(b[_GN], nd)
    zero(b[_GT], 2 * nd)
    zero(b[_VT], 2 * nd)
    zero(b[_W], 3 * nd)
    zero(b[_POINT], 3)
    zero(b[_NORMAL], 3)
    zero(b[_TANGENTS], 6)
    call2(p.contact_at, p.parameters_at, arguments)
    V_T = vector(b[_VT], 2 * nd)
    for k in range(2):
        for i in range(nd):
            V_T[k * nd + i] *= p.scale[k]


@kernel
def start_here(arguments, nn):
    """Put the start of the step where the bodies are."""
    b = integers(arguments, N_SLOTS)
    x, R, x0, R0 = vector(b[_X], 3 * nn), vector(b[_R], 9 * nn), vector(b[_X0], 3 * nn), vector(b[_R0], 9 * nn)
    for i in range(3 * nn):
        x0[i] = x[i]
    for i in range(9 * nn):
        R0[i] = R[i]


@kernel
def normal_law(p, delta, rate, speed):
    """N of (1) and its derivatives with respect to indentation and rate; ``speed`` is δ̇_i of the last step."""
    speed = max(speed, p.least_speed)
    growing = rate > speed  # the rate is δ̇_i
    damping = 1.0 + p.factor * (1.0 if growing else rate / speed)
    if delta <= 0.0:
        return 0.0, 0.0, 0.0
    spring = p.stiffness * delta**p.exponent
    N = spring * damping + p.dashpot * rate
    if N <= 0.0:
        return 0.0, 0.0, 0.0
    by_rate = p.dashpot + (0.0 if growing else spring * p.factor / speed)
    return N, p.exponent * spring / delta * damping, by_rate


@kernel
def rate_of(G_N, v):
    """δ̇ = −G_N v."""
    total = 0.0
    for i in range(len(v)):
        total -= G_N[i] * v[i]
    return total


@kernel
def sliding(p, V_T, v, w):
    """Fill w (2,) and return s, both of (2)."""
    for k in range(2):
        w[k] = 0.0
        for i in range(len(v)):
            w[k] += V_T[k, i] * v[i]
    return math.sqrt(w[0] * w[0] + w[1] * w[1] + p.slip_speed * p.slip_speed)


@kernel
def force(p, arguments, x, v, state, rows, f):
    """Add (3) to f (nd,)."""
    start_here(arguments, x.shape[0])
    touch(p, arguments, x.shape[0])
    if rows.gap[0] >= 0.0:
        return
    N, _, _ = normal_law(p, -rows.gap[0], rate_of(rows.G_N, v), state[0])
    for i in range(len(v)):
        f[i] += N * rows.G_N[i]
    if p.friction > 0.0 and N > 0.0:
        w = local_vector(2)
        scale = -p.friction * N / sliding(p, rows.V_T, v, w)
        for i in range(len(v)):
            f[i] += scale * (rows.V_T[0, i] * w[0] + rows.V_T[1, i] * w[1])


@kernel
def force_tangent(p, arguments, x, R, v, state, rows, H_N, K, C):
    """Add (6) and (7) to K and C (nd, nd)."""
    nn, nd = x.shape[0], len(v)
    start_here(arguments, nn)
    touch(p, arguments, nn)
    if rows.gap[0] >= 0.0:
        return
    N, N_d, N_r = normal_law(p, -rows.gap[0], rate_of(rows.G_N, v), state[0])
    if N == 0.0:
        return
    b = integers(arguments, N_SLOTS)
    zero(b[_HN], nd * nd)
    call2(p.hessian_at, p.parameters_at, arguments)
    w, t, N_q, along = local_arrays("2, 24, 24, 24")
    s = sliding(p, rows.V_T, v, w)
    for i in range(nd):
        t[i] = rows.V_T[0, i] * w[0] + rows.V_T[1, i] * w[1]
        along[i] = rows.G_N[i] - p.friction * t[i] / s
        N_q[i] = -N_d * rows.G_N[i]
        for j in range(nd):
            N_q[i] -= N_r * v[j] * H_N[j, i]
    for i in range(nd):
        for j in range(nd):
            K[i, j] -= along[i] * N_q[j] + N * H_N[i, j]
            C[i, j] += along[i] * N_r * rows.G_N[j]
    if p.friction > 0.0:
        scale = p.friction * N / s
        bent = 1.0 if p.simple == 0 or s * s <= 2.0 * p.slip_speed * p.slip_speed else 0.0
        for i in range(nd):
            for j in range(nd):
                straight = rows.V_T[0, i] * rows.V_T[0, j] + rows.V_T[1, i] * rows.V_T[1, j]
                C[i, j] += scale * (straight - bent * t[i] * t[j] / (s * s))
        if p.simple == 0:
            _friction_tangent(p, arguments, x, R, v, rows.V_T, H_N, w, s, scale, K)


@kernel
def _curvature(H_N, columns, nn):
    """Largest change of the normal, a direction in space, per unit of the three components of q from ``columns`` on."""
    largest = 0.0
    for a in range(nn):
        for i in range(3):
            for j in range(columns, columns + 3):
                largest = max(largest, abs(H_N[6 * a + i, j]))
    return largest


@kernel
def _turn(R, axis, c, s):
    """R ← R exp(angle about body axis), c and s the cosine and sine of the angle."""
    j, k = (axis + 1) % 3, (axis + 2) % 3
    for i in range(3):
        first, second = R[i, j], R[i, k]
        R[i, j] = c * first + s * second
        R[i, k] = c * second - s * first


@kernel
def _friction_tangent(p, arguments, x, R, v, V_T, H_N, w, s, scale, K):
    """Add scale s ∂(t/s)/∂q of (8) to K; the poses are moved and restored, V_T is overwritten."""
    nn, nd = x.shape[0], len(v)
    V, dV, pose = local_arrays("2 24, 2 24, 9")
    for k in range(2):
        for i in range(nd):
            V[k, i] = V_T[k, i]
    for column in range(nd):
        a, axis = column // 6, column % 6
        curvature = _curvature(H_N, 6 * a + (3 if axis >= 3 else 0), nn)
        if axis >= 3:
            step = _STEP / max(1.0, curvature)
            for i in range(9):
                pose[i] = R[a, i // 3, i % 3]
        else:
            step = _STEP / curvature if curvature > 0.0 else _STEP
            pose[0] = x[a, axis]
        for k in range(2):
            for i in range(nd):
                dV[k, i] = 0.0
        for m in range(4):
            n = (1.0, -1.0, 2.0, -2.0)[m]
            weight = (8.0 / 12.0, -8.0 / 12.0, -1.0 / 12.0, 1.0 / 12.0)[m] / step
            if axis >= 3:
                _turn(R[a], axis - 3, math.cos(n * step), math.sin(n * step))
            else:
                x[a, axis] = pose[0] + n * step
            touch(p, arguments, nn)
            for k in range(2):
                for i in range(nd):
                    dV[k, i] += weight * V_T[k, i]
            if axis >= 3:
                for i in range(9):
                    R[a, i // 3, i % 3] = pose[i]
            else:
                x[a, axis] = pose[0]
        first = second = 0.0
        for i in range(nd):
            first += dV[0, i] * v[i]
            second += dV[1, i] * v[i]
        inner = (w[0] * first + w[1] * second) / (s * s)
        first, second = first - w[0] * inner, second - w[1] * inner
        for i in range(nd):
            K[i, column] += scale * (dV[0, i] * w[0] + dV[1, i] * w[1] + V[0, i] * first + V[1, i] * second)


@kernel
def energy_contact(p, arguments, x, gap):
    """Energy (4) [J]."""
    start_here(arguments, x.shape[0])
    touch(p, arguments, x.shape[0])
    delta = -gap[0]
    return p.stiffness * delta ** (p.exponent + 1.0) / (p.exponent + 1.0) if delta > 0.0 else 0.0


@kernel
def initial(p, arguments, x, v, gap, G_N, state):
    """First δ̇_i."""
    start_here(arguments, x.shape[0])
    touch(p, arguments, x.shape[0])
    state[0] = max(rate_of(G_N, v), 0.0)


@kernel
def accept(p, arguments, x, v, gap, G_N, state):
    """δ̇_i at the end of a step: the rate of approach while the contact is open, then the largest rate."""
    start_here(arguments, x.shape[0])
    touch(p, arguments, x.shape[0])
    rate = max(rate_of(G_N, v), 0.0)
    state[0] = rate if gap[0] >= 0.0 else max(state[0], rate)


@kernel
def output(p, arguments, x, v, state, rows, out):
    """Gap, indentation and its rate, forces, sliding speed, point, normal: in the order of ``outputs``."""
    start_here(arguments, x.shape[0])
    touch(p, arguments, x.shape[0])
    w = local_vector(2)
    s, rate = sliding(p, rows.V_T, v, w), rate_of(rows.G_N, v)
    N, _, _ = normal_law(p, -rows.gap[0], rate, state[0])
    out[0] += rows.gap[0]
    out[1] += max(-rows.gap[0], 0.0)
    out[2] += rate
    out[3] += N
    first, second = p.scale[0] * w[0], p.scale[1] * w[1]  # along t1 and t2
    for i in range(3):
        friction = -p.friction * N / s * (rows.tangents[0, i] * first + rows.tangents[1, i] * second)
        out[4 + i] += N * rows.normal[i] + friction
        out[7 + i] += friction
        out[11 + i] += rows.point[i]
        out[14 + i] += rows.normal[i]
    first, second = w[0] / p.scale[0], w[1] / p.scale[1]
    out[10] += math.sqrt(first * first + second * second)


@kernel
def trouble(p, arguments, x, gap):
    """Indentation beyond the deepest that is allowed [m]; 0 within it."""
    start_here(arguments, x.shape[0])
    touch(p, arguments, x.shape[0])
    return max(-gap[0] - p.deepest, 0.0)


@kernel
def touching(p, arguments, x, gap, normal):
    """Compute gap, normal and gradient at the poses in the table of arguments."""
    start_here(arguments, x.shape[0])
    touch(p, arguments, x.shape[0])
