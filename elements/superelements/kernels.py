"""Kernels of a superelement: forces of `forces`, tangents of `tangents`.

Source: docs/theory/superelements.md, sections 3-6.
"""

import math

from fem_mbs.elements.superelements.forces import (
    ACCELERATION,
    ELASTIC,
    MOTION,
    add_gravity,
    add_rows,
    elastic_forces,
    find_products,
    gyroscopic_forces,
    inertia_forces,
    stretches,
)
from fem_mbs.elements.superelements.motion import (
    FORCES,
    VARIED,
    VARIED_RATES,
    accelerate,
    is_known,
    move,
    place_frame,
    rates,
)
from fem_mbs.elements.superelements.products import product, times_T
from fem_mbs.elements.superelements.tangents import (
    OF_C,
    OF_K,
    OF_KA,
    OF_M,
    add_change_of_axes,
    add_frame_rows,
    add_mode_columns,
    add_modes,
    add_of_deformation,
    find_covectors,
    find_frame_columns,
    find_frame_sums,
    find_matrices,
    find_mode_columns,
    find_stiffness,
    map_mode_columns,
    weigh_motion,
)
from fem_mbs.elements.superelements.variations import vary_accelerations, vary_pose, vary_rates, vary_translations
from fem_mbs.jit import kernel, local_arrays, local_vector
from fem_mbs.rotations import rotate


@kernel
def find_inertia_forces(p, x, R, v, a, gravity):
    """Local motion, and h, g and s of both sets: those of velocities and gravity, and those of accelerations."""
    place_frame(p, x, R)
    move(p, v)
    same = is_known(p.known_a, a)
    if not (is_known(p.known_gravity, gravity) and same):
        p.has[FORCES] = 0.0
    if p.has[FORCES] == 0.0:
        find_products(p)
        rates(p, ACCELERATION, a)
        inertia_forces(p)
        accelerate(p)
        gyroscopic_forces(p)
        add_gravity(p, gravity)
        p.has[FORCES] = 1.0


@kernel
def inertia(p, x, R, v, a, gravity, Ma, f):
    """Add M a of (12) to Ma (6 nn,), minus the rest and gravity to f (6 nn,)."""
    find_inertia_forces(p, x, R, v, a, gravity)
    add_rows(p, ACCELERATION, 1.0, Ma)
    add_rows(p, MOTION, -1.0, f)
    for i in range(p.size_nb):
        for k in range(3):
            f[6 * i + k] += p.mass * p.a[i] * gravity[k]


@kernel
def vary(p, rates_too):
    """Derivatives of the pose, and with ``rates_too`` = 1 of the motion at fixed velocities, if there are none yet."""
    nf = p.size_nf
    if p.has[VARIED] == 0.0:
        vary_pose(p)
        p.has[VARIED] = 1.0
    if rates_too == 1 and p.has[VARIED_RATES] == 0.0:
        vary_rates(p, MOTION, p.omega_q, nf, p.speed_q, nf)
        vary_translations(p)
        p.has[VARIED_RATES] = 1.0


@kernel
def number_of_kinds(weights):
    """1: only derivatives with respect to velocities and accelerations are asked for; 2: all."""
    return 1 if weights[OF_K] == 0.0 and weights[OF_KA] == 0.0 else 2


@kernel
def inertia_tangent(p, x, R, v, a, gravity, weights, M, K):
    """Add the mass matrix and the derivatives of `inertia`: sums of two each, with weights."""
    kinds, nf = number_of_kinds(weights), p.size_nf
    find_inertia_forces(p, x, R, v, a, gravity)
    vary(p, kinds - 1)
    if kinds == 2:
        vary_rates(p, ACCELERATION, p.alpha_q, 2 * nf, p.acceleration_q, 2 * nf)
    vary_accelerations(p, kinds)
    weigh_motion(p, weights, kinds)
    find_matrices(p, weights, kinds)
    find_covectors(p, weights, kinds)
    find_frame_columns(p, weights, kinds)
    find_frame_sums(p, weights, kinds)
    find_mode_columns(p, weights, kinds)
    map_mode_columns(p, kinds)
    add_frame_rows(p, 0, M)
    add_mode_columns(p, 0, M)
    add_modes(p, weights[OF_M], p.M, M)
    add_modes(p, weights[OF_C], p.W, M)
    add_modes(p, weights[OF_C], p.W_T, M)
    if kinds == 2:
        add_frame_rows(p, 1, K)
        add_mode_columns(p, 1, K)
        add_modes(p, 1.0, p.Y, K)
        add_change_of_axes(p, weights[OF_K], MOTION, weights[OF_KA], ACCELERATION, K)


@kernel
def force(p, x, R, v, f):
    """Add the elastic and damping forces."""
    place_frame(p, x, R)
    if p.damped == 1:
        move(p, v)
    elastic_forces(p)
    add_rows(p, ELASTIC, -1.0, f)


@kernel
def force_tangent(p, x, R, v, weights, M, K):
    """Add the derivatives of `force`, with weights: that with respect to velocities to M."""
    kinds, w_C, w_K, nf = number_of_kinds(weights), weights[OF_C], weights[OF_K], p.size_nf
    place_frame(p, x, R)
    if p.damped == 1:
        move(p, v)
        vary(p, kinds - 1)
        add_of_deformation(p, w_C, p.D, 0, 1, M)
        if kinds == 2:
            add_of_deformation(p, w_K, p.D, nf, 0, K)
    if w_K != 0.0:
        vary(p, 0)
        elastic_forces(p)
        if p.size_np > 0:
            find_stiffness(p)
        add_of_deformation(p, w_K, p.Y if p.size_np > 0 else p.K, 0, 1, K)
        add_change_of_axes(p, w_K, ELASTIC, 0.0, ELASTIC, K)


@kernel
def geometric(p, x, R, v, K):
    """Add the stiffness of the elastic forces ġ = K̂ ḋ + … that displacements v bring about, in the place that there is.

    Of patterns the pulls change by Σ k_pq (ė_q + q̇_q), and their Ĝ with them.
    """
    n, count, e, Y, change = p.size_n, p.size_np, p.e, p.Y, p.d_rate[0]
    place_frame(p, x, R)
    move(p, v)
    vary(p, 0)
    elastic_forces(p)
    if count > 0:
        find_stiffness(p)
    times_T(Y if count > 0 else p.K, change, p.g[ELASTIC])
    add_change_of_axes(p, 1.0, ELASTIC, 0.0, ELASTIC, K)
    if count == 0:
        return
    for a in range(count):
        e[a] = product(p.c[a], change, n) + product(p.G_d[a], change, n)
    Y[:, :] = 0.0
    for a in range(count):
        rate = product(p.k[a], e, count)
        for i in range(n):
            for j in range(n):
                Y[i, j] += rate * p.G[a, i, j]
    add_of_deformation(p, 1.0, Y, 0, 1, K)


@kernel
def energy(p, x, R, gravity):
    """Potential energy (8) and that of gravity, −m g·(x̄ + R_0 s) [J]."""
    place_frame(p, x, R)
    n, d, g, e, q = p.size_n, p.d, p.g[ELASTIC], p.e, p.q
    times_T(p.K, d, g)
    total = 0.5 * product(d, g, n)
    stretches(p)
    for a in range(p.size_np):
        for b in range(p.size_np):
            total += p.k[a, b] * q[a] * (e[b] + 0.5 * q[b])
    arm, place = local_arrays("3, 3")
    for k in range(3):
        arm[k] = p.centre[k] + product(p.centre_rates[k], d, n)
    rotate(p.R_0, arm, place)
    for k in range(3):
        for i in range(p.size_nb):
            place[k] += p.a[i] * x[i, k]
        total -= p.mass * gravity[k] * place[k]
    return total


@kernel
def deformed(p, x, R, out):
    """Fill out[0], out[1] with the largest rotation [rad] and displacement [m] from the floating frame.

    Of a boundary frame, or √(η·M̂_ηη η/m): the root mean square over the body of what modes add between held frames.
    """
    n, first, d, M = p.size_n, 6 * p.size_nb, p.d, p.M
    det = place_frame(p, x, R)
    turn = way = 0.0
    for i in range(p.size_nb):
        turned = moved = 0.0
        for k in range(3):
            turned += d[6 * i + 3 + k] ** 2
            moved += d[6 * i + k] ** 2
        turn, way = max(turn, turned), max(way, moved)
    square = 0.0
    for i in range(first, n):
        for k in range(first, n):
            square += d[i] * M[i, k] * d[k]
    way = max(way, square / p.mass)
    out[0] = math.sqrt(turn) if det > 0.0 else math.inf
    out[1] = math.sqrt(way)


@kernel
def spin(p, v):
    """Angular speed [rad/s] of the rigid motion with the angular momentum of the body, see `Reduction.spin_rows`."""
    move(p, v)
    square = 0.0
    for k in range(3):
        square += product(p.spin_rows[k], p.speed[0], p.size_n) ** 2
    return math.sqrt(square)


@kernel
def output(p, x, R, v, out):
    """Compute the deformation relative to the floating frame [rad], [m], and the rotation rate [rad/s]."""
    deformed(p, x, R, out)
    out[2] = spin(p, v)


@kernel
def trouble(p, x, R):
    """Positive where a boundary frame has turned by more than 1 rad from the floating frame."""
    values = local_vector(2)
    deformed(p, x, R, values)
    return 1.0 if values[0] > 1.0 else 0.0
