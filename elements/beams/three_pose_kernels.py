"""Elastic part of the three-node beam, the kernels of the contract: one section law (`beams.law`) on two halves.

Forces: (1) of `beams.three_pose_kinematics`; tangent: (2), (3) of `beams.three_pose_tangent`; damping: (4) of
`beams.three_pose_damping`.

Source: docs/theory/beams.md, sections 1-4; mixed iteration: Magisano, Leonetti & Garcea 2017.
"""

import numpy as np

from fem_mbs.elements.beams.law import (
    factor,
    law_operator,
    law_residual,
    law_tangent,
    mean_and_slope,
    mean_and_slope_rates,
    slope_operator,
    solve,
    stress,
)
from fem_mbs.elements.beams.segment import add_arm_turning
from fem_mbs.elements.beams.three_pose_damping import add_damping, add_damping_matrix, viscous_stress
from fem_mbs.elements.beams.three_pose_kinematics import (
    HalfRates,
    Halves,
    carry_rows,
    gradients,
    half_rates,
    halves,
    pull,
    spread,
)
from fem_mbs.elements.beams.three_pose_tangent import add_bending, add_turning, carry, law_hessian, to_frames
from fem_mbs.jit import kernel, local_arrays, local_vector
from fem_mbs.rotations import rotate

PARAMETERS = np.dtype(
    [
        ("length", "f8"),
        ("p_A", "f8", (3,)),  # section frames at the ends in the axes of their nodes; at M they are the node's
        ("S_A", "f8", (3, 3)),
        ("p_B", "f8", (3,)),
        ("S_B", "f8", (3, 3)),
        ("placed", "i8"),  # 1 if a section frame at an end is not that of its node
        ("strain0", "f8", (12,)),
        ("Phi", "f8", (12, 12)),
        ("X", "f8", (12, 3)),
        ("F2", "f8", (3, 3)),
        ("tapered", "i8"),
        ("damped", "i8"),
        ("C_v", "f8", (12, 12)),
        # inertia, see beams/inertia.py
        ("m", "f8", (6, 6)),
        ("arms", "f8", (3, 2, 3)),
        ("off_axis", "i8"),
        ("J", "f8", (3, 3, 3, 3)),
    ]
)


@kernel
def evaluate(p, x, R, at, ab, e, G, U, P):
    """Fill the poses of the halves, a, b and e (12,), and the operators of the law G (3, 12), U (12, 3), P (12, 12)."""
    halves(p, x, R, at.S, at.u, at.psi, at.form, at.A, at.eps)
    gradients(at.u, at.psi, at.form, at.D)
    mean_and_slope(p, at.eps, ab, e)
    slope_operator(p, ab, G, U)
    factor(p, G, U, P)


@kernel
def note_normal_forces(t, noted):
    """Note the normal forces of both halves, of their stresses t (12,) [N]."""
    noted[0], noted[1] = t[0], t[6]


@kernel
def add_pulled(p, R, at, q, f):
    """Add the forces of b₁, μ₁, b₂, μ₂ of q (12,) to f (18,)."""
    row = local_vector(18)
    row[:] = 0.0
    spread(at.S, at.u, at.A, q, row)
    for i in range(18):
        row[i] = -row[i]
    carry_rows(p, R, row, f)


@kernel
def force(p, x, R, v, f, noted):
    """Add the forces (1) with damping (4) to f (18,)."""
    ab, G, w, s_v = local_arrays("12, 3 12, 12, 12")
    force_and_law(p, x, R, v, f, ab, G, w, s_v, noted)


@kernel
def force_and_law(p, x, R, v, f, ab, G, w, s_v, noted):
    """Evaluate `force`, and keep its intermediate results: fill a, b (12,), G (3, 12), section forces w (12,), C_v (ȧ,
    ḃ) in s_v.
    """
    S, u, psi, form, A, D, eps, e, U, P, r = local_arrays("9 3, 2 3, 2 3, 2 9, 6 3, 6 3, 12, 12, 12 3, 12 12, 3")
    w2, s, t, q, rest = local_arrays("3, 12, 12, 12, 12")
    at = Halves(S, u, psi, form, A, D, eps)
    evaluate(p, x, R, at, ab, e, G, U, P)
    for i in range(12):
        w[i], s_v[i] = e[i], 0.0
    solve(P, w)
    stress(p, G, w, w2, r, s)
    if p.damped == 1:
        d, theta, du, dpsi = local_arrays("2 3, 3 3, 2 3, 2 3")
        rates = HalfRates(d, theta, du, dpsi, rest)
        half_rates(p, R, v, at, rates)
        mean_and_slope_rates(p, eps, rest, t)
        viscous_stress(p, t, s_v)
        for i in range(12):
            s[i] += s_v[i]
    pull(p, eps, A, D, s, t, q)
    note_normal_forces(t, noted)
    add_pulled(p, R, at, q, f)


@kernel
def linearise(p, x, R, v, solve_law, w, f, K, C, noted):
    """Add f, K, C of the mixed iteration at section forces w (12,); with ``solve_law`` = 1 w is found first."""
    S, u, psi, form, A, D, eps, ab, e, G, U = local_arrays("9 3, 2 3, 2 3, 2 9, 6 3, 6 3, 12, 12, 12, 3 12, 12 3")
    P, r, rest, s, t, q, w2, s_force, Lam, C_ab = local_arrays("12 12, 3, 12, 12, 12, 12, 3, 12, 12 12, 12 12")
    H, E = local_arrays("12 12, 18 18")
    at = Halves(S, u, psi, form, A, D, eps)
    evaluate(p, x, R, at, ab, e, G, U, P)
    if solve_law == 1:
        for i in range(12):
            w[i] = e[i]
        solve(P, w)
    stress(p, G, w, w2, r, s)
    law_operator(p, w, r, U, Lam)
    for i in range(12):
        s_force[i] = s[i]
    if solve_law == 0:
        law_residual(p, G, e, w, w2, r, rest)
        solve(P, rest)
        for i in range(12):
            for k in range(12):
                s_force[k] += Lam[i, k] * rest[i]
    law_tangent(p, w, P, Lam, C_ab)
    law_hessian(p, eps, A, D, C_ab, H)
    if p.damped == 1:
        d, theta, du, dpsi = local_arrays("2 3, 3 3, 2 3, 2 3")
        rates = HalfRates(d, theta, du, dpsi, rest)
        half_rates(p, R, v, at, rates)
        mean_and_slope_rates(p, eps, rest, ab)
        viscous_stress(p, ab, t)
        for i in range(12):
            s[i] += t[i]
            s_force[i] += t[i]
        add_damping(p, R, v, at, rates, K, C)
    # forces
    pull(p, eps, A, D, s_force, t, q)
    note_normal_forces(t, noted)
    add_pulled(p, R, at, q, f)
    # tangent
    pull(p, eps, A, D, s, t, q)
    add_bending(A, D, u, psi, form, s, t, H)
    to_frames(S, u, A, H, E)
    add_turning(S, u, psi, form, A, q, E)
    carry(p, R, E, K)
    if p.placed == 1:
        rotate(S[0:3], q[0:3], r)
        add_arm_turning(-1.0, R[0], p.p_A, r, K, 3)
        rotate(S[3:6], q[6:9], r)
        add_arm_turning(1.0, R[2], p.p_B, r, K, 15)


@kernel
def damping_alone(p, x, R, C):
    """Add C = −∂f/∂v (18, 18) of `force`."""
    S, u, psi, form, A, D, eps = local_arrays("9 3, 2 3, 2 3, 2 9, 6 3, 6 3, 12")
    if p.damped == 0:
        return
    halves(p, x, R, S, u, psi, form, A, eps)
    gradients(u, psi, form, D)
    add_damping_matrix(p, R, S, u, A, D, eps, C)


@kernel
def force_tangent(p, x, R, v, needs_K, f, K, C, noted):
    """Add K = −∂f/∂q and C = −∂f/∂v (18, 18) of `force`, and the forces themselves."""
    if needs_K == 0.0:
        damping_alone(p, x, R, C)
        return
    w = local_vector(12)
    linearise(p, x, R, v, 1, w, f, K, C, noted)


@kernel
def mixed(p, x, R, v, state, f, K, C, noted):
    """Add f, K, C of the mixed iteration at the kept section forces ``state`` (12,)."""
    linearise(p, x, R, v, 0, state, f, K, C, noted)


@kernel
def update(p, x, R, state, delta):
    """Advance the section forces ``state`` (12,) by (8) of `beams.law` for the variation delta (18,) of the nodes."""
    S, u, psi, form, A, D, eps, ab, e, G, U = local_arrays("9 3, 2 3, 2 3, 2 9, 6 3, 6 3, 12, 12, 12, 3 12, 12 3")
    P, r, rest, s, Lam, d, du, dpsi, theta, w2 = local_arrays("12 12, 3, 12, 12, 12 12, 2 3, 2 3, 2 3, 3 3, 3")
    at = Halves(S, u, psi, form, A, D, eps)
    evaluate(p, x, R, at, ab, e, G, U, P)
    stress(p, G, state, w2, r, s)
    law_residual(p, G, e, state, w2, r, rest)
    law_operator(p, state, r, U, Lam)
    half_rates(p, R, delta, at, HalfRates(d, theta, du, dpsi, s))
    mean_and_slope_rates(p, eps, s, ab)
    for i in range(12):
        for k in range(12):
            rest[i] += Lam[i, k] * ab[k]
    solve(P, rest)
    for i in range(12):
        state[i] += rest[i]


@kernel
def initial(p, x, R, state):
    """Fill the section forces ``state`` (12,) that belong to the configuration."""
    ab = local_vector(12)
    section_forces(p, x, R, ab, state)


@kernel
def section_forces(p, x, R, ab, w):
    """Fill a, b (12,) and the section forces w (12,) of a configuration; returns the strain energy [J]."""
    S, u, psi, form, A, eps, e, G, U, P = local_arrays("9 3, 2 3, 2 3, 2 9, 6 3, 12, 12, 3 12, 12 3, 12 12")
    halves(p, x, R, S, u, psi, form, A, eps)
    mean_and_slope(p, eps, ab, e)
    slope_operator(p, ab, G, U)
    factor(p, G, U, P)
    for i in range(12):
        w[i] = e[i]
    solve(P, w)
    energy = 0.0
    for i in range(12):
        energy += 0.5 * p.length * w[i] * e[i]
    return energy
