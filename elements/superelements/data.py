"""Data of a superelement and of nodes on its points, by name: constants that Python fills, scratch of the kernels.

The record of a table is the record ``p`` of the parameters. Kernels read no scratch that they did not write in the same
call, but for that of a pose, which is kept with the pose it belongs to and written again for any other: elements in the
systems of several threads may share it, as compiled code does not stop within a kernel.

    symbol  meaning
    nb      boundary frames
    n       coordinates d: 6 nb of the frames, then the amplitudes of the modes
    np      load patterns, 0 without stiffening
    nd      components of the nodes, 6 nn
    nf      components of the frames, 6 nb
    m       modes
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
    # inertia; products take the transpose of their matrix, of which one row holds all that belongs to one coordinate
    "M": Item("n n", "M̂, mass"),
    "N": Item("n 3n", "rows of N_1, N_2, N_3"),
    "N_T": Item("n 3n", "rows of their transposes"),
    "O": Item("n 6n", "rows of O_ab, order of `forces.pair`"),
    "spin_rows": Item("3 n", "of `Reduction.spin_rows`"),
    # load patterns
    "k": Item("np np", "k_pq, stiffness of their forces"),
    "c": Item("np n", "c_p, stretches"),
    "G": Item("np n n", "Ĝ_p, geometric stiffness"),
}
SCRATCH = {
    # pose, until there is another
    "known_x": Item("nd", "positions of the nodes to which it belongs"),
    "known_R": Item("nb 3 3", "rotations of the frames to which it belongs"),
    "known_v": Item("nd", "velocities to which the motion belongs"),
    "known_a": Item("nd", "accelerations to which the forces belong"),
    "known_gravity": Item("3", "gravity to which the forces belong"),
    "has": Item("5", "1: it is there, see `motion`"),
    "det": Item("1", "det A"),
    "mean": Item("3", "x̄"),
    "R_0": Item("3 3", "rotation of the floating frame"),
    "S_inv": Item("3 3", "S⁻¹"),
    "r": Item("nb 3", "r_i"),
    "Q": Item("nb 3 3", "Q_i"),
    "trace": Item("nb", "tr(Q_i)"),
    "axial": Item("nb 3", "q_i"),
    "theta": Item("nb 3", "θ_i"),
    "form": Item("nb 9", "of T⁻¹(θ_i), see `rotations`"),
    "T_inv": Item("nb 3 3", "T⁻¹(θ_i)"),
    "d": Item("n", "d"),
    "N_d": Item("3 n", "N_a d"),
    "O_d": Item("6 n", "O_ab d"),
    "d_O_d": Item("3 3", "d·O_ab d"),
    # local motion; of two: by velocities, and without these by accelerations
    "xi": Item("2 nb 3", "ξ_i = R_0ᵀẋ_i"),
    "Omega": Item("2 nb 3", "R_i⁰Ω_i"),
    "phi": Item("2 nb 3", "φ_i"),
    "omega": Item("2 3", "ω_0"),
    "d_rate": Item("2 n", "ḋ"),
    "speed": Item("2 n", "v̂"),
    "omega_back": Item("nb 3", "Q_iᵀω_0"),
    "w": Item("nb 3", "w_i of θ̈_i = T⁻¹w_i + X_i φ_i"),
    "X": Item("nb 3 3", "(T⁻¹)'[θ̇_i]"),
    "trace_rate": Item("1", "tr(Ḣ)"),
    "alpha": Item("3", "ω̇_0 without accelerations"),
    "acceleration": Item("n", "v̂̇ without accelerations"),
    # forces, of the sets of `forces`
    "N_d_rate": Item("3 n", "N_a ḋ"),
    "N_T_speed": Item("3 n", "N_aᵀ v̂"),
    "O_rate": Item("3 3", "2 ḋ·O_ab d"),
    "momentum": Item("nf", "p̂ of the frames"),
    "sigma": Item("3", "σ"),
    "local_gravity": Item("3", "R_0ᵀg"),
    "arm": Item("3", "s_c, centre of mass from x̄"),
    "h": Item("4 nb 3", "h, conjugate to ξ"),
    "g": Item("4 n", "g, conjugate to d"),
    "s": Item("4 3", "s"),
    "mu": Item("4 nb 3", "μ_i = T⁻ᵀ g_θ"),
    "y": Item("4 3", "y"),
    "F": Item("4 nb 3", "F_i"),
    # load patterns
    "G_d": Item("np n", "Ĝ_p d"),
    "e": Item("np", "e_p"),
    "q": Item("np", "q_p"),
    "pulls": Item("np", "Σ k_pq (e_q + q_q)"),
    # columns of directions of frames, see `variations`: at fixed pose, at fixed velocities, and those by accelerations
    "xi_q": Item("nb 3 2nf", "ξ_i"),
    "phi_q": Item("nb 3 3nf", "φ_i"),
    "rate_q": Item("nf 3nf", "P and ḋ; of the last ones only θ̇_i"),
    "omega_q": Item("3 2nf", "E and ω_0"),
    "speed_q": Item("nf 2nf", "B and v̂"),
    "alpha_q": Item("3 3nf", "ω̇_0"),
    "acceleration_q": Item("nf 3nf", "v̂̇"),
    # their sums with weights, see `tangents`: of M and C, of K and ∂(M a)/∂q
    "xi_s": Item("nb 3 2nf", "ξ_i"),
    "rate_s": Item("nf 2nf", "ḋ"),
    "omega_s": Item("3 2nf", "ω_0"),
    "speed_s": Item("nf 2nf", "v̂"),
    "alpha_s": Item("3 2nf", "ω̇_0"),
    "acceleration_s": Item("nf 2nf", "v̂̇"),
    "momentum_s": Item("nf 2nf", "p̂ of the frames"),
    "sigma_s": Item("3 2nf", "σ"),
    "momentum_rate_s": Item("n 2nf", "p̂̇ and h̄; rows of modes with −g_d"),
    "g_s": Item("nf 2nf", "−g_d of the frames"),
    "s_s": Item("3 2nf", "s̄"),
    "coefficient": Item("3 3", "a matrix"),
    "on_turn": Item("3 3", "a matrix"),
    "on_omega": Item("3 3", "a matrix"),
    "column": Item("3 nf", "a vector of all directions"),
    "turned": Item("3 nf", "another"),
    # the same of columns of modes
    "momentum_rate_m": Item("nf 2m", "p̂̇ and h̄ of the frames"),
    "g_m": Item("nf 2m", "−g_d of the frames"),
    "s_m": Item("3 2m", "s̄"),
    "sigma_m": Item("3 2m", "σ"),
    "found_m": Item("nf 2m", "rows of frames"),
    # matrices and vectors of `tangents`
    "W": Item("n n", "W"),
    "W_T": Item("n n", "−Wᵀ"),
    "Y": Item("n n", "sum of Y, in rows of modes with −Z; also ∂²V/∂d²"),
    "Z": Item("nf n", "−Z, rows of frames"),
    "U": Item("3 n", "U_a"),
    "U_d": Item("3 n", "sum of U'_a"),
    "mixed": Item("n", "sum of v̂̇"),
    "O_d_rate": Item("6 n", "O_ab ḋ"),
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
