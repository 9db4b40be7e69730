"""Elastic part of the two-node beam, the kernels of the contract: one section law on one helical segment.

(1), (2), (7) and (9) are in `beams.two_node_geometry`, (3) to (6) in `beams.two_node_law`.

Mixed Newton: w is kept; r_w = ε − ε₀ − F* w; (7) with s + Λᵀ F*⁻¹ r_w; tangent with s and C_t at w;
w ← w + F*⁻¹ (r_w + Λ δε)                                                                                        (8)

Source: docs/theory/beams.md, section 7; mixed iteration: Magisano, Leonetti & Garcea 2017.
"""

import numpy as np

from fem_mbs.elements.beams.segment import conjugates
from fem_mbs.elements.beams.two_node_geometry import (
    RATES,
    SEGMENT,
    Rates,
    Segment,
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
from fem_mbs.jit import kernel, local_arrays, local_record, local_vector
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
def force(p, node_A, node_B, f, noted):
    """Add (7) with damping (9) to f (12,)."""
    seg = local_record(Segment, SEGMENT)
    X, G, w, r = local_arrays("6 6, 6 6, 6, 6")
    rest, s, b, mu = local_arrays("6, 6, 3, 3")
    relative_pose(p, node_A.x, node_A.R, node_B.x, node_B.R, seg)
    form_gradient(0, seg.form, seg.psi, seg.u, seg.D)
    flexibility(p, seg.strain, X, G)
    mean_forces(p, seg.strain, G, w)
    stress(p, seg.strain, w, r, rest, s)
    if p.damped == 1:
        rates = local_record(Rates, RATES)
        relative_rates(p, node_A.R, node_A.v, node_A.w, node_B.R, node_B.v, node_B.w, seg, rates)
        add_damping_stress(p, rates.rate, s)
    noted[0] = noted[1] = s[0]
    conjugates(seg.A, seg.D, s, b, mu)
    add_forces(p, node_A.R, node_B.R, seg.S_A, seg.A, seg.u, b, mu, f)


@kernel
def linearise(p, node_A, node_B, solve, w, f, K, C, noted):
    """Add f, K, C of the mixed iteration (8) at section forces w (6,); with ``solve`` = 1 w is found first by (3)."""
    seg = local_record(Segment, SEGMENT)
    X, G, Lam = local_arrays("6 6, 6 6, 6 6")
    C_t, r, rest, s, s_force, b, mu = local_arrays("6 6, 6, 6, 6, 6, 3, 3")
    relative_pose(p, node_A.x, node_A.R, node_B.x, node_B.R, seg)
    form_gradient(0, seg.form, seg.psi, seg.u, seg.D)
    flexibility(p, seg.strain, X, G)
    if solve == 1:
        mean_forces(p, seg.strain, G, w)
    stress(p, seg.strain, w, r, rest, s)
    law_operator(p, w, r, X, Lam)
    law_tangent(p, w, G, Lam, C_t)
    solve_factored(G, rest)
    for i in range(6):
        s_force[i] = s[i]
        for k in range(6):
            s_force[i] += Lam[k, i] * rest[k]
    tangents(p, node_A, node_B, seg, s, s_force, C_t, K, C)
    noted[0] = noted[1] = s_force[0]
    conjugates(seg.A, seg.D, s_force, b, mu)
    add_forces(p, node_A.R, node_B.R, seg.S_A, seg.A, seg.u, b, mu, f)


@kernel
def force_tangent(p, node_A, node_B, f, K, C, noted):
    """Add K = −∂f/∂q and C = −∂f/∂v (12, 12) of `force`, and the forces themselves."""
    w = local_vector(6)
    linearise(p, node_A, node_B, 1, w, f, K, C, noted)


@kernel
def mixed(p, node_A, node_B, state, f, K, C, noted):
    """Add f, K, C of the mixed iteration (8) at the kept section forces ``state`` (6,)."""
    linearise(p, node_A, node_B, 0, state, f, K, C, noted)


@kernel
def update(p, x_A, R_A, x_B, R_B, state, delta):
    """Advance the section forces ``state`` (6,) by (8) for the variation delta (12,) of the nodes."""
    seg = local_record(Segment, SEGMENT)
    X, G, Lam = local_arrays("6 6, 6 6, 6 6")
    rates = local_record(Rates, RATES)
    r, rest, s = local_arrays("6, 6, 6")
    relative_pose(p, x_A, R_A, x_B, R_B, seg)
    form_gradient(0, seg.form, seg.psi, seg.u, seg.D)
    flexibility(p, seg.strain, X, G)
    stress(p, seg.strain, state, r, rest, s)
    law_operator(p, state, r, X, Lam)
    relative_rates(p, R_A, delta[0:3], delta[3:6], R_B, delta[6:9], delta[9:12], seg, rates)
    for i in range(6):
        for k in range(6):
            rest[i] += Lam[i, k] * rates.rate[k]
    solve_factored(G, rest)
    for i in range(6):
        state[i] += rest[i]


@kernel
def initial(p, x_A, R_A, x_B, R_B, state):
    """Fill the section forces ``state`` (6,) that belong to the configuration."""
    seg = local_record(Segment, SEGMENT)
    X, G = local_arrays("6 6, 6 6")
    relative_pose(p, x_A, R_A, x_B, R_B, seg)
    flexibility(p, seg.strain, X, G)
    mean_forces(p, seg.strain, G, state)


@kernel
def strain_energy(p, x_A, R_A, x_B, R_B):
    """½ L w·(ε − ε₀) [J]."""
    seg = local_record(Segment, SEGMENT)
    X, G, w = local_arrays("6 6, 6 6, 6")
    relative_pose(p, x_A, R_A, x_B, R_B, seg)
    flexibility(p, seg.strain, X, G)
    mean_forces(p, seg.strain, G, w)
    energy = 0.0
    for i in range(6):
        energy += 0.5 * p.length * w[i] * (seg.strain[i] - p.strain0[i])
    return energy
