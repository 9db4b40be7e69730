"""Elastic part of the two-node beam, the kernels of the contract: one section law on one helical segment.

(1), (2), (7) and (9) are in `beams.two_node_geometry`, (3) to (6) in `beams.two_node_law`.

Mixed Newton: w is kept; r_w = ε − ε₀ − F* w; (7) with s + Λᵀ F*⁻¹ r_w; tangent with s and C_t at w;
w ← w + F*⁻¹ (r_w + Λ δε)                                                                                        (8)

Source: docs/theory/beams.md, section 7; mixed iteration: Magisano, Leonetti & Garcea 2017.
"""

import numpy as np

from fem_mbs.elements.beams.segment import conjugates
from fem_mbs.elements.beams.two_node_geometry import (
    add_damping_stress,
    add_forces,
    relative_pose,
    relative_rates,
    tangents,
)
from fem_mbs.elements.beams.two_node_law import (
    flexibility,
    law_operator,
    law_tangent,
    mean_forces,
    solve_factored,
    stress,
)
from fem_mbs.jit import kernel, local_arrays, local_vector
from fem_mbs.rotations import form_gradient

PARAMETERS = np.dtype(
    [
        ("length", "f8"),
        ("p_A", "f8", (3,)),  # section frames in the axes of the nodes
        ("S_A", "f8", (3, 3)),
        ("p_B", "f8", (3,)),
        ("S_B", "f8", (3, 3)),
        ("eccentric", "i8"),  # 1 if p_A or p_B is not zero
        ("strain0", "f8", (6,)),
        ("F0", "f8", (6, 6)),
        ("F1", "f8", (6, 6)),
        ("F2", "f8", (6, 6)),
        ("large_strain", "f8"),  # g of (4)
        ("damped", "i8"),
        ("C_v", "f8", (6, 6)),
        # inertia, see beams/inertia.py
        ("m", "f8", (4, 4)),
        ("arms", "f8", (2, 2, 3)),
        ("off_axis", "i8"),
        ("J", "f8", (2, 2, 3, 3)),
    ]
)


@kernel
def force(p, x_A, R_A, v_A, w_A, x_B, R_B, v_B, w_B, f):
    """Add (7) with damping (9) to f (12,)."""
    S_A, S_B, A, D, u, psi, form, strain, X, G, w, r = local_arrays("3 3, 3 3, 3 3, 3 3, 3, 3, 9, 6, 6 6, 6 6, 6, 6")
    rest, s, b, mu = local_arrays("6, 6, 3, 3")
    relative_pose(p, x_A, R_A, x_B, R_B, S_A, S_B, u, psi, form, A, strain)
    form_gradient(0, form, psi, u, D)
    flexibility(p, strain, X, G)
    mean_forces(p, strain, G, w)
    stress(p, strain, w, r, rest, s)
    if p.damped == 1:
        d, du, dpsi, rate, theta_A, theta_B = local_arrays("3, 3, 3, 6, 3, 3")
        relative_rates(p, R_A, v_A, w_A, R_B, v_B, w_B, S_A, S_B, u, A, D, d, theta_A, theta_B, du, dpsi, rate)
        add_damping_stress(p, rate, s)
    conjugates(A, D, s, b, mu)
    add_forces(p, R_A, R_B, S_A, A, u, b, mu, f)


@kernel
def linearise(p, x_A, R_A, v_A, w_A, x_B, R_B, v_B, w_B, solve, w, f, K, C):
    """Add f, K, C of the mixed iteration (8) at section forces w (6,); with ``solve`` = 1 w is found first by (3)."""
    S_A, S_B, A, D, u, psi, form, strain, X, G, Lam = local_arrays("3 3, 3 3, 3 3, 3 3, 3, 3, 9, 6, 6 6, 6 6, 6 6")
    C_t, r, rest, s, s_force, b, mu = local_arrays("6 6, 6, 6, 6, 6, 3, 3")
    relative_pose(p, x_A, R_A, x_B, R_B, S_A, S_B, u, psi, form, A, strain)
    form_gradient(0, form, psi, u, D)
    flexibility(p, strain, X, G)
    if solve == 1:
        mean_forces(p, strain, G, w)
    stress(p, strain, w, r, rest, s)
    law_operator(p, w, r, X, Lam)
    law_tangent(p, w, G, Lam, C_t)
    solve_factored(G, rest)
    for i in range(6):
        s_force[i] = s[i]
        for k in range(6):
            s_force[i] += Lam[k, i] * rest[k]
    tangents(p, R_A, v_A, w_A, R_B, v_B, w_B, S_A, S_B, u, psi, form, A, D, s, s_force, C_t, K, C)
    conjugates(A, D, s_force, b, mu)
    add_forces(p, R_A, R_B, S_A, A, u, b, mu, f)


@kernel
def force_tangent(p, x_A, R_A, v_A, w_A, x_B, R_B, v_B, w_B, f, K, C):
    """Add K = −∂f/∂q and C = −∂f/∂v (12, 12) of `force`, and the forces themselves."""
    w = local_vector(6)
    linearise(p, x_A, R_A, v_A, w_A, x_B, R_B, v_B, w_B, 1, w, f, K, C)


@kernel
def mixed(p, x_A, R_A, v_A, w_A, x_B, R_B, v_B, w_B, state, f, K, C):
    """Add f, K, C of the mixed iteration (8) at the kept section forces ``state`` (6,)."""
    linearise(p, x_A, R_A, v_A, w_A, x_B, R_B, v_B, w_B, 0, state, f, K, C)


@kernel
def update(p, x_A, R_A, x_B, R_B, state, delta):
    """Advance the section forces ``state`` (6,) by (8) for the variation delta (12,) of the nodes."""
    S_A, S_B, A, D, u, psi, form, strain, X, G, Lam = local_arrays("3 3, 3 3, 3 3, 3 3, 3, 3, 9, 6, 6 6, 6 6, 6 6")
    r, rest, s, d, du, dpsi, rate, theta_A, theta_B = local_arrays("6, 6, 6, 3, 3, 3, 6, 3, 3")
    relative_pose(p, x_A, R_A, x_B, R_B, S_A, S_B, u, psi, form, A, strain)
    form_gradient(0, form, psi, u, D)
    flexibility(p, strain, X, G)
    stress(p, strain, state, r, rest, s)
    law_operator(p, state, r, X, Lam)
    relative_rates(
        p,
        R_A,
        delta[0:3],
        delta[3:6],
        R_B,
        delta[6:9],
        delta[9:12],
        S_A,
        S_B,
        u,
        A,
        D,
        d,
        theta_A,
        theta_B,
        du,
        dpsi,
        rate,
    )
    for i in range(6):
        for k in range(6):
            rest[i] += Lam[i, k] * rate[k]
    solve_factored(G, rest)
    for i in range(6):
        state[i] += rest[i]


@kernel
def initial(p, x_A, R_A, x_B, R_B, state):
    """Fill the section forces ``state`` (6,) that belong to the configuration."""
    S_A, S_B, A, u, psi, form, strain, X, G = local_arrays("3 3, 3 3, 3 3, 3, 3, 9, 6, 6 6, 6 6")
    relative_pose(p, x_A, R_A, x_B, R_B, S_A, S_B, u, psi, form, A, strain)
    flexibility(p, strain, X, G)
    mean_forces(p, strain, G, state)


@kernel
def strain_energy(p, x_A, R_A, x_B, R_B):
    """½ L w·(ε − ε₀) [J]."""
    S_A, S_B, A, u, psi, form, strain, X, G, w = local_arrays("3 3, 3 3, 3 3, 3, 3, 9, 6, 6 6, 6 6, 6")
    relative_pose(p, x_A, R_A, x_B, R_B, S_A, S_B, u, psi, form, A, strain)
    flexibility(p, strain, X, G)
    mean_forces(p, strain, G, w)
    energy = 0.0
    for i in range(6):
        energy += 0.5 * p.length * w[i] * (strain[i] - p.strain0[i])
    return energy
