"""Kernels of a superelement: forces of `forces`, tangents of `tangents`.

Source: docs/theory/superelements.md, sections 3-6.
"""

import math

from fem_mbs.elements.superelements.forces import (
    ACCELERATION,
    MOTION,
    add_gravity,
    add_rows,
    elastic_forces,
    find_products,
    find_resultants,
    gyroscopic_forces,
    inertia_forces,
    stretches,
)
from fem_mbs.elements.superelements.motion import accelerate, place_frame, rates
from fem_mbs.elements.superelements.products import copy_columns, product, times_T
from fem_mbs.elements.superelements.tangents import (
    add_change_of_axes,
    add_frame_rows,
    add_mode_columns,
    add_mode_rows,
    add_modes,
    add_of_deformation,
    find_covectors,
    find_frame_columns,
    find_frame_sums,
    find_matrices,
    find_mode_columns,
    find_stiffness,
    map_mode_columns,
)
from fem_mbs.elements.superelements.variations import vary_accelerations, vary_pose, vary_rates, vary_translations
from fem_mbs.jit import kernel, local_arrays, local_vector
from fem_mbs.rotations import rotate


@kernel
def find_inertia_forces(p, x, R, v, a, gravity):
    """Local motion, and h, g and s of both sets: those of velocities and gravity, and those of accelerations."""
    place_frame(p, x, R)
    find_products(p)
    rates(p, ACCELERATION, a)
    inertia_forces(p)
    rates(p, MOTION, v)
    accelerate(p)
    gyroscopic_forces(p)
    add_gravity(p, gravity)


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
def vary_motion(p, kinds):
    """Derivatives of the local motion: of velocities and accelerations, and with two ``kinds`` of the pose."""
    nf = p.size_nf
    vary_pose(p)
    copy_columns(p.omega_q, 0, p.alpha_q, 0, nf)
    copy_columns(p.speed_q, 0, p.acceleration_q, 0, nf)
    if kinds == 2:
        vary_rates(p, MOTION, p.omega_q, nf, p.speed_q, nf)
        vary_rates(p, ACCELERATION, p.alpha_q, 3 * nf, p.acceleration_q, 3 * nf)
        vary_translations(p)
    vary_accelerations(p, kinds)


@kernel
def inertia_tangent(p, x, R, v, a, gravity, needs_K, M, C, K, Ka):
    """Add the mass matrix and the derivatives of `inertia`."""
    kinds = 1 if needs_K == 0.0 else 2
    find_inertia_forces(p, x, R, v, a, gravity)
    vary_motion(p, kinds)
    find_matrices(p, kinds)
    find_covectors(p, kinds)
    find_frame_columns(p, kinds)
    find_frame_sums(p, kinds)
    find_mode_columns(p, kinds)
    map_mode_columns(p, kinds)
    add_block(p, 0, p.M, M)
    add_block(p, 1, p.W, C)
    add_modes(p, p.W_T, C)
    if kinds == 2:
        add_block(p, 2, p.Y, K)
        find_resultants(p, MOTION)
        add_change_of_axes(p, MOTION, K)
        add_block(p, 3, p.Y_a, Ka)
        find_resultants(p, ACCELERATION)
        add_change_of_axes(p, ACCELERATION, Ka)


@kernel
def add_block(p, number, modes, K):
    """Add all rows and columns of (31), number 0, 1, 2, 3: of M, C, K, ∂(M a)/∂q; ``modes`` (n, n) has those of modes."""
    add_frame_rows(p, number, K)
    add_mode_columns(p, number, K)
    add_mode_rows(p, number, K)
    add_modes(p, modes, K)


@kernel
def force(p, x, R, v, f):
    """Add the elastic and damping forces."""
    place_frame(p, x, R)
    if p.damped == 1:
        rates(p, MOTION, v)
    elastic_forces(p)
    add_rows(p, MOTION, -1.0, f)


@kernel
def force_tangent(p, x, R, v, K, C):
    """Add the derivatives of `force`."""
    place_frame(p, x, R)
    vary_pose(p)
    if p.damped == 1:
        rates(p, MOTION, v)
        vary_rates(p, MOTION, p.omega_q, p.size_nf, p.speed_q, p.size_nf)
        vary_translations(p)
        add_of_deformation(p, p.D, 0, C)
        add_of_deformation(p, p.D, 1, K)
    elastic_forces(p)
    find_resultants(p, MOTION)
    if p.size_np > 0:
        find_stiffness(p)
    add_of_deformation(p, p.Y if p.size_np > 0 else p.K, 0, K)
    add_change_of_axes(p, MOTION, K)


@kernel
def geometric(p, x, R, v, K):
    """Add the stiffness of the elastic forces ġ = K̂ ḋ + … that displacements v bring about, in the place that there is.

    Of patterns the pulls change by Σ k_pq (ė_q + q̇_q), and their Ĝ with them.
    """
    n, count, e, Y = p.size_n, p.size_np, p.e, p.Y
    place_frame(p, x, R)
    vary_pose(p)
    rates(p, MOTION, v)
    elastic_forces(p)
    change = p.d_rate[0]
    if count > 0:
        find_stiffness(p)
    times_T(Y if count > 0 else p.K, change, p.g[0])
    find_resultants(p, MOTION)
    add_change_of_axes(p, MOTION, K)
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
    add_of_deformation(p, Y, 0, K)


@kernel
def energy(p, x, R, gravity):
    """Potential energy (8) and that of gravity, −m g·(x̄ + R_0 s) [J]."""
    place_frame(p, x, R)
    n, d, g, e, q = p.size_n, p.d, p.g[0], p.e, p.q
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
    rates(p, MOTION, v)
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
