"""Dry friction in joints in compiled code: the rate of a coordinate, and the normal force on its surfaces.

    turning   γ = z·(ω_B − ω_A) − ω(t) ,   axis z fixed to one body: G = −z there, Rᵀ z on the other                (1)
    sliding   γ = d/dt z_P·(x_S − x_P) − v(t) ,   S on the second body, at the offset from Q                      (2)
    all axes  γ_i = a_i·(ω_B − ω_A) − ω_i ,  i = 1, 2, 3 ,  a_i axes of P: (1) for each of them, of a ball in its socket
    in plane  γ_i = d/dt a_i·(x_Q − x_P) − v_i ,  i = 1, 2: (2) for x_P and y_P, of a plate on its plane
    N = F_0(t) + Σ_k |C_k p| ,   p: multipliers λ of the joint in the axes a_i of a pin, see below                  (3)
    ∂N/∂λ = Σ_k (∂p/∂λ)ᵀ C_kᵀ C_k p/|C_k p|                                                                        (4)

    p         λ as they are                      rows of the joint are in axes of P
    p         (a_i·f , λ_3, λ_4)                 hinge: f the first three of λ, a force in inertial axes; a_i those of P
    p         (a_i·f , λ_3 a_1·m , λ_3 a_2·m)    pin of a cross: axes a_i of its body, a_3 along it, m the other pin (5)
    ∂N/∂θ     own body   Rᵀ (W × f + L × m) ,  W = Σ_{i≤3} s_i a_i ,  L = λ_3 (s_4 a_1 + s_5 a_2) ,  s = ∂N/∂p      (6)
              other body Rᵀ (m × L)

In (4) and (6) a term with C_k p = 0 has no slope. λ_3 m × a_3 is the moment of the cross on the pin.

Source: docs/theory/joint_friction.md, (2)-(4). Symbols: see `fem_mbs.elements.joints.rows`.

    symbol    code          shape      unit     meaning
    C_k       p.terms       (6, 3, 5)  -, m     forces on the surfaces times their arms
    z, a_3    column 2 of p.R_AP, or column 0 of p.R_BQ (TURN_SECOND, PIN_SECOND: second pin of a cross)
"""

import numpy as np

from fem_mbs.elements.joints.rows import column, plane_hessian, plane_row
from fem_mbs.jit import kernel, local_arrays, local_vector
from fem_mbs.rotations import add_cross, rotate, rotate_T
from fem_mbs.system.friction import MOST_ROWS, N_FRICTION, SLIP, friction_in

TURN, SLIDE, TURN_SECOND, TURN_ALL, SLIDE_PLANE = 0, 1, 2, 3, 4  # kinds of coordinates
AS_THEY_ARE, POINT, PIN_FIRST, PIN_SECOND = 0, 1, 2, 3  # what p of (3) is
MOST_TERMS = 6
PARAMETERS = np.dtype(
    [("p_AP", "f8", (3,)), ("R_AP", "f8", (3, 3)), ("p_BQ", "f8", (3,)), ("R_BQ", "f8", (3, 3))]
    + [("kind", "i8"), ("axes", "i8"), ("count", "i8"), ("terms", "f8", (MOST_TERMS, 3, MOST_ROWS))]
    + [("preload", "f8"), ("preload_signal", "i8")]
    + [("directions", "i8"), ("speed", "f8", (3,)), ("speed_signal", "i8", (3,))]
)


@kernel
def turn_row(sign, R_F, z, R_S, first, second, G):
    """Add sign times (1) to G (12,): z (3,) in axes of the body with R_F, whose columns begin at ``first`` − 3."""
    Z, y = local_arrays("3, 3")
    rotate(R_F, z, Z)
    rotate_T(R_S, Z, y)
    for i in range(3):
        G[first + i] -= sign * z[i]
        G[second + i] += sign * y[i]


@kernel
def turn_hessian(sign, R_F, z, R_S, first, second, H):
    """Add sign times ∂G/∂q of (1) to H (12, 12)."""
    Z, y, unit, moved = local_arrays("3, 3, 3, 3")
    rotate(R_F, z, Z)
    rotate_T(R_S, Z, y)
    for j in range(3):
        for i in range(3):
            unit[i] = 1.0 if i == j else 0.0
            moved[i] = 0.0
        add_cross(1.0, unit, z, moved)  # δz = δθ × z, in axes of its body
        rotate(R_F, moved, Z)
        rotate_T(R_S, Z, moved)
        for i in range(3):
            H[second + i, first + j] += sign * moved[i]
            moved[i] = 0.0
        add_cross(-1.0, unit, y, moved)
        for i in range(3):
            H[second + i, second + j] += sign * moved[i]


@kernel
def friction(p, x_A, R_A, x_B, R_B, s, g, G, gt, gtt):
    """Add the gradients of (1) or (2) to G (…, 12), and to gt, gtt (…,) derivatives by time [rad/s or m/s, …]."""
    z = local_vector(3)
    if p.kind == SLIDE_PLANE:
        plane_row(x_A, R_A, p.p_AP, p.R_AP, x_B, R_B, p.p_BQ, 0, 0, g, G)
        plane_row(x_A, R_A, p.p_AP, p.R_AP, x_B, R_B, p.p_BQ, 1, 1, g, G)
    elif p.kind == TURN_ALL:
        for i in range(3):
            column(p.R_AP, i, z)
            turn_row(1.0, R_A, z, R_B, 3, 9, G[i])
    elif p.kind == SLIDE:
        plane_row(x_A, R_A, p.p_AP, p.R_AP, x_B, R_B, p.p_BQ, 2, 0, g, G)
    elif p.kind == TURN:
        column(p.R_AP, 2, z)
        turn_row(1.0, R_A, z, R_B, 3, 9, G[0])
    else:
        column(p.R_BQ, 0, z)
        turn_row(-1.0, R_B, z, R_A, 9, 3, G[0])
    for k in range(p.directions):
        gt[k] -= p.speed[k]
        if p.speed_signal[k] >= 0:
            gt[k] -= s[p.speed_signal[k], 0]
            gtt[k] -= s[p.speed_signal[k], 1]


@kernel
def friction_hessian(p, x_A, R_A, x_B, R_B, H):
    """Add ∂G/∂q of (1) or (2) to H (…, 12, 12)."""
    z = local_vector(3)
    if p.kind == SLIDE_PLANE:
        plane_hessian(x_A, R_A, p.p_AP, p.R_AP, x_B, R_B, p.p_BQ, 0, 0, H)
        plane_hessian(x_A, R_A, p.p_AP, p.R_AP, x_B, R_B, p.p_BQ, 1, 1, H)
    elif p.kind == TURN_ALL:
        for i in range(3):
            column(p.R_AP, i, z)
            turn_hessian(1.0, R_A, z, R_B, 3, 9, H[i])
    elif p.kind == SLIDE:
        plane_hessian(x_A, R_A, p.p_AP, p.R_AP, x_B, R_B, p.p_BQ, 2, 0, H)
    elif p.kind == TURN:
        column(p.R_AP, 2, z)
        turn_hessian(1.0, R_A, z, R_B, 3, 9, H[0])
    else:
        column(p.R_BQ, 0, z)
        turn_hessian(-1.0, R_B, z, R_A, 9, 3, H[0])


@kernel
def terms(p, local, slope):
    """Sum of |C_k p| of ``local`` = p (5,) [N, N m]; adds its slope by p to slope (5,)."""
    total = 0.0
    for k in range(p.count):
        a = b = c = 0.0
        for i in range(local.shape[0]):
            a += p.terms[k, 0, i] * local[i]
            b += p.terms[k, 1, i] * local[i]
            c += p.terms[k, 2, i] * local[i]
        size = np.sqrt(a * a + b * b + c * c)
        total += size
        if size > 0.0:
            for i in range(local.shape[0]):
                slope[i] += (p.terms[k, 0, i] * a + p.terms[k, 1, i] * b + p.terms[k, 2, i] * c) / size
    return total


@kernel
def pin_bound(p, R_F, R_FP, shift, R_S, z, own, other, lam, bound_lam, bound_q):
    """Σ|C_k p| of (5) [N m]; adds ∂N/∂λ to bound_lam (4,) and (6) to bound_q (12,).

    The pin lies along column (2 + shift) mod 3 of R_FP, on the body with R_F; z (3,) is the other pin in axes of its
    body with R_S; ``own``, ``other``: where θ of both bodies begin.
    """
    axes, m, a, local, slope = local_arrays("3 3, 3, 3, 5, 5")
    rotate(R_S, z, m)
    for i in range(3):
        column(R_FP, (i + shift) % 3, a)
        rotate(R_F, a, axes[i])
        local[i] = axes[i, 0] * lam[0] + axes[i, 1] * lam[1] + axes[i, 2] * lam[2]
    across_1 = axes[0, 0] * m[0] + axes[0, 1] * m[1] + axes[0, 2] * m[2]
    across_2 = axes[1, 0] * m[0] + axes[1, 1] * m[1] + axes[1, 2] * m[2]
    local[3], local[4] = lam[3] * across_1, lam[3] * across_2
    for i in range(5):
        slope[i] = 0.0
    total = terms(p, local, slope)
    W, L, turn = local_arrays("3, 3, 3")
    for i in range(3):
        W[i] = slope[0] * axes[0, i] + slope[1] * axes[1, i] + slope[2] * axes[2, i]
        L[i] = lam[3] * (slope[3] * axes[0, i] + slope[4] * axes[1, i])
        bound_lam[i] += W[i]
        turn[i] = 0.0
    bound_lam[3] += slope[3] * across_1 + slope[4] * across_2
    add_cross(1.0, W, lam[:3], turn)
    add_cross(1.0, L, m, turn)
    rotate_T(R_F, turn, a)
    for i in range(3):
        bound_q[own + i] += a[i]
        turn[i] = 0.0
    add_cross(1.0, m, L, turn)
    rotate_T(R_S, turn, a)
    for i in range(3):
        bound_q[other + i] += a[i]
    return total


@kernel
def friction_bound(p, R_A, R_B, s, lam, bound, bound_lam, bound_q):
    """Add (3) to bound (1,) [N, N m], (4) to bound_lam (nr,) and (6) to bound_q (12,)."""
    nr = lam.shape[0]
    local, slope, y, w = local_arrays("5, 5, 3, 3")
    given = p.preload
    if p.preload_signal >= 0:
        given += s[p.preload_signal, 0]
    bound[0] += max(given, 0.0)
    if p.axes == PIN_FIRST:
        column(p.R_BQ, 0, w)
        bound[0] += pin_bound(p, R_A, p.R_AP, 0, R_B, w, 3, 9, lam, bound_lam, bound_q)
        return
    if p.axes == PIN_SECOND:
        column(p.R_AP, 2, w)
        bound[0] += pin_bound(p, R_B, p.R_BQ, 1, R_A, w, 9, 3, lam, bound_lam, bound_q)
        return
    for i in range(5):
        local[i], slope[i] = lam[i] if i < nr else 0.0, 0.0
    if p.axes == POINT:
        rotate_T(R_A, lam[:3], y)
        rotate_T(p.R_AP, y, local)
    bound[0] += terms(p, local, slope)
    if p.axes == POINT:
        rotate(p.R_AP, slope, w)
        add_cross(1.0, w, y, bound_q[3:6])
        rotate(R_A, w, slope)
    for i in range(nr):
        bound_lam[i] += slope[i]


@kernel
def output(state, out):
    """Write the friction of the run."""
    kept, n = friction_in(state), state.shape[0] // N_FRICTION
    out[n] += kept.bound
    for k in range(n):
        row = friction_in(state[k * N_FRICTION :])
        out[k] += row.force
        out[n + 1 + k] += row.rate
        out[2 * n + 2] -= row.force * row.rate
        out[2 * n + 3] += row.work
    if kept.jammed != 0.0:
        out[2 * n + 1] += 2.0
    elif kept.status == SLIP:
        out[2 * n + 1] += kept.sign if n == 1 else 1.0
    out[2 * n + 4] += kept.kappa
