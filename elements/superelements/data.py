"""Data of a superelement and of nodes on its points, by name: constants that Python fills, scratch of the kernels.

The record of a table is the record ``p`` of the parameters. Kernels read no scratch that they did not write in the same
call: elements in the systems of several threads may share it, as compiled code does not stop within a kernel.

    symbol  meaning
    nb      boundary frames
    n       coordinates d: 6 nb of the frames, then the amplitudes of the modes
    np      load patterns, 0 without stiffening
    nd      components of the nodes, 6 nn
    2       value and derivative in one direction, see `duals`
"""

from fem_mbs.data_table import Item, Table

NUMBERS = {
    "nn": Item("", "nodes", "i8"),
    "modes": Item("", "internal modes", "i8"),
    "damped": Item("", "1: with D", "i8"),
    "mass": Item("", "[kg]"),
}
CONSTANTS = {
    # floating frame
    "a": Item("nb", "weights of positions"),
    "b": Item("nb", "weights of rotations [m²]"),
    "V": Item("nb 3", "boundary frames in the reference, from X̄, axes of the body [m]"),
    "R_ref": Item("nb 3 3", "R⁰, their rotations in the reference"),
    "centre": Item("3", "centre of mass in the reference, from X̄ [m]"),
    "centre_rates": Item("3 n", "c_d, derivative of the centre of mass with respect to d"),
    # stiffness and damping
    "K": Item("n n", "K̂, stiffness"),
    "D": Item("n n", "D̂, damping; 0 without"),
    # inertia
    "M": Item("n n", "M̂, mass"),
    "N": Item("3 n n", "N_a"),
    "N_T": Item("3 n n", "N_aᵀ: `product` takes the transpose of its matrix"),
    "O": Item("6 n n", "O_ab, order of `forces.pair`"),
    "spin_rows": Item("3 n", "of `Reduction.spin_rows`"),
    # load patterns
    "k": Item("np np", "k_pq, stiffness of their forces"),
    "c": Item("np n", "c_p, stretches"),
    "G": Item("np n n", "Ĝ_p, geometric stiffness"),
}
SCRATCH = {
    # boundary frames
    "r": Item("nb 2 3", "r_i"),
    "theta": Item("nb 2 3", "θ_i"),
    "Q": Item("nb 2 3 3", "Q_i"),
    "T_inv": Item("nb 2 3 3", "T⁻¹(θ_i)"),
    "xi": Item("nb 2 3", "ξ_i = R_0ᵀẋ_i"),
    "xi_rate": Item("nb 2 3", "R_0ᵀẍ_i"),
    "Omega": Item("nb 2 3", "R_i⁰Ω_i"),
    "Omega_rate": Item("nb 2 3", "R_i⁰Ω̇_i"),
    "phi": Item("nb 2 3", "φ_i"),
    "mu": Item("nb 2 3", "μ_i = T⁻ᵀ g_θ"),
    # floating frame
    "R_0": Item("3 3", "its rotation"),
    "turn": Item("3", "δθ_0, derivative of R_0"),
    "S": Item("2 3 3", "tr(H) I − H"),
    "S_inv": Item("2 3 3", "its inverse"),
    "H_rate": Item("2 3 3", "Ḣ"),
    "Q_rate": Item("2 3 3", "Q̇_i of one frame"),
    "omega": Item("2 3", "ω_0"),
    "omega_rate": Item("2 3", "ω̇_0"),
    "sigma": Item("2 3", "σ"),
    "s": Item("2 3", "s"),
    # coordinates
    "d": Item("2 n", "d"),
    "d_rate": Item("2 n", "ḋ"),
    "speed": Item("2 n", "v̂"),
    "speed_rate": Item("2 n", "v̂̇"),
    "M_speed": Item("2 n", "M̂ v̂"),
    "M_speed_rate": Item("2 n", "M̂ v̂̇"),
    "N_d": Item("3 2 n", "N_a d"),
    "N_d_rate": Item("3 2 n", "N_a ḋ"),
    "N_T_speed": Item("3 2 n", "N_aᵀ v̂"),
    "O_d": Item("6 2 n", "O_ab d"),
    "momentum": Item("2 n", "p̂"),
    "momentum_rate": Item("2 n", "p̂̇"),
    "h": Item("2 n", "h, conjugate to v̂; also one product"),
    "g": Item("2 n", "g, conjugate to d"),
    # load patterns
    "G_d": Item("np 2 n", "Ĝ_p d"),
    "e": Item("2 np", "e_p"),
    "q": Item("2 np", "q_p"),
    "pull_rates": Item("np", "derivatives of Σ k_pq (e_q + q_q)"),
    # nodal components
    "rows": Item("2 nd", "rows of the equations of motion"),
    "zero": Item("nd", "zeros"),
    "unit": Item("nd", "one component is 1"),
}
SUPERELEMENT = Table("superelement", {**NUMBERS, **CONSTANTS, **SCRATCH})

FRAME_SCRATCH = {
    "dq": Item("nd", "variation of all nodes, one component is 1"),
    "dG": Item("3 nd", "derivative of the gradient"),
}
FLOATING_FRAME = Table(
    "floating frame of a superelement",
    {
        "nn": Item("", "nodes", "i8"),
        "radius": Item("", "ℓ [m]"),
        "a": CONSTANTS["a"],
        "b": CONSTANTS["b"],
        "V": CONSTANTS["V"],
        **FRAME_SCRATCH,
    },
)

POINT_SCRATCH = {
    "r": Item("nb 3", "r_i"),
    "theta": Item("nb 3", "θ_i"),
    "Q": Item("nb 3 3", "Q_i"),
    "T_inv": Item("nb 3 3", "T_i⁻¹"),
    "T_inv_Q_T": Item("nb 3 3", "T_i⁻¹Q_iᵀ"),
    "dr": Item("nb 3", "δr_i"),
    "dtheta": Item("nb 3", "δθ_i"),
    "phi": Item("nb 3", "φ_i"),
    "dQ": Item("nb 3 3", "δQ_i"),
    "dT_inv": Item("nb 3 3", "δ(T_i⁻¹)"),
    "dT_inv_Q_T": Item("nb 3 3", "δ(T_i⁻¹Q_iᵀ)"),
    **FRAME_SCRATCH,
}
POINT = Table(
    "point of a superelement",
    {
        "nn": Item("", "nodes", "i8"),
        "modes": Item("", "internal modes", "i8"),
        "V": CONSTANTS["V"],
        "arm": Item("3", "X − X_1 [m]"),
        "basis": Item("3 n", "rows of the basis at the point"),
        **POINT_SCRATCH,
    },
)
