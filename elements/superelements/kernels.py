"""Kernels of a superelement: forces by the lines of `forces`, tangents column by column as derivatives of them.

Source: docs/theory/superelements.md, sections 3-6.
"""

import math

import numpy as np

from fem_mbs.elements.superelements.duals import product
from fem_mbs.elements.superelements.forces import (
    G_,
    H_,
    N_L,
    elastic,
    gravity_rows,
    inertia_products,
    inertia_rows,
    pull_rates,
    stretches,
    to_rows,
)
from fem_mbs.elements.superelements.motion import (
    N_B,
    N_G,
    POSE,
    SPEED,
    TOTAL,
    accelerate,
    clear_derivatives,
    move,
    place_frame,
    turn_frame,
)
from fem_mbs.jit import kernel, local_vector, matrix, vector
from fem_mbs.rotations import rotate


@kernel
def column(p, j):
    """Place among nodal components of local component j."""
    first = 6 * p.frames
    return j if j < first else first + 6 * ((j - first) // 3) + (j - first) % 3


@kernel
def inertia(p, x, R, v, a, gravity, Ma, f):
    """Add M a of (12) to Ma (6 nn,), minus the rest and gravity to f (6 nn,)."""
    n, nd = 6 * p.frames + p.modes, len(v)
    B, Q = np.zeros((p.frames, N_B, 2, 3)), np.zeros((p.frames, 2, 2, 3, 3))
    G, F, L = np.zeros((N_G, 2, 3)), np.zeros((5, 2, 3, 3)), np.zeros((N_L, 2, n))
    rows, zero, c = np.zeros((2, nd)), np.zeros(nd), np.zeros(2)
    place_frame(p, x, R, B, Q, F, L)
    move(p, zero, zero, B, Q, G, F, L)
    accelerate(p, a, zero, B, Q, G, F, L)
    inertia_products(p, 0, 0, L)
    inertia_rows(p, B, Q, G, F, L, c, 0, rows)
    for i in range(nd):
        Ma[i] += rows[0, i]
        rows[0, i] = 0.0
    move(p, v, zero, B, Q, G, F, L)
    accelerate(p, zero, zero, B, Q, G, F, L)
    inertia_products(p, 0, 1, L)
    inertia_rows(p, B, Q, G, F, L, c, 1, rows)
    gravity_rows(p, gravity, zero, B, Q, G, F, L, rows)
    for i in range(nd):
        f[i] -= rows[0, i]


@kernel
def inertia_tangent(p, x, R, v, a, gravity, needs_K, M, C, K, Ka):
    """Add the mass matrix and the derivatives of `inertia`, column by column."""
    n, nd = 6 * p.frames + p.modes, len(v)
    B, Q = np.zeros((p.frames, N_B, 2, 3)), np.zeros((p.frames, 2, 2, 3, 3))
    G, F, L = np.zeros((N_G, 2, 3)), np.zeros((5, 2, 3, 3)), np.zeros((N_L, 2, n))
    rows, zero, unit, c = np.zeros((2, nd)), np.zeros(nd), np.zeros(nd), np.zeros(2)
    place_frame(p, x, R, B, Q, F, L)
    move(p, v, zero, B, Q, G, F, L)
    accelerate(p, zero, zero, B, Q, G, F, L)
    inertia_products(p, 0, 1, L)
    for j in range(n):
        to = column(p, j)
        unit[to] = 1.0
        clear_derivatives(p, B, Q, G, F, L)
        move(p, v, unit, B, Q, G, F, L)
        accelerate(p, zero, zero, B, Q, G, F, L)
        inertia_products(p, 1, 1, L)
        rows[:, :] = 0.0
        inertia_rows(p, B, Q, G, F, L, c, 1, rows)
        for i in range(nd):
            C[i, to] += rows[1, i]
        if needs_K != 0.0:
            turn_frame(p, unit, B, Q, G, F, L)
            move(p, v, zero, B, Q, G, F, L)
            accelerate(p, zero, zero, B, Q, G, F, L)
            inertia_products(p, 1, 1, L)
            rows[:, :] = 0.0
            inertia_rows(p, B, Q, G, F, L, c, 1, rows)
            gravity_rows(p, gravity, zero, B, Q, G, F, L, rows)
            for i in range(nd):
                K[i, to] += rows[1, i]
        unit[to] = 0.0
    clear_derivatives(p, B, Q, G, F, L)
    move(p, zero, zero, B, Q, G, F, L)
    accelerate(p, a, zero, B, Q, G, F, L)
    inertia_products(p, 0, 0, L)
    for j in range(n):
        to = column(p, j)
        unit[to] = 1.0
        clear_derivatives(p, B, Q, G, F, L)
        move(p, zero, zero, B, Q, G, F, L)
        accelerate(p, a, unit, B, Q, G, F, L)
        inertia_products(p, 1, 0, L)
        rows[:, :] = 0.0
        inertia_rows(p, B, Q, G, F, L, c, 0, rows)
        for i in range(nd):
            M[i, to] += rows[1, i]
        if needs_K != 0.0:
            turn_frame(p, unit, B, Q, G, F, L)
            move(p, zero, zero, B, Q, G, F, L)
            accelerate(p, a, zero, B, Q, G, F, L)
            inertia_products(p, 1, 0, L)
            rows[:, :] = 0.0
            inertia_rows(p, B, Q, G, F, L, c, 0, rows)
            for i in range(nd):
                Ka[i, to] += rows[1, i]
        unit[to] = 0.0


@kernel
def force(p, x, R, v, f):
    """Add the elastic and damping forces."""
    n, nd = 6 * p.frames + p.modes, len(v)
    B, Q = np.zeros((p.frames, N_B, 2, 3)), np.zeros((p.frames, 2, 2, 3, 3))
    G, F, L = np.zeros((N_G, 2, 3)), np.zeros((5, 2, 3, 3)), np.zeros((N_L, 2, n))
    rows, zero = np.zeros((2, nd)), np.zeros(nd)
    place_frame(p, x, R, B, Q, F, L)
    if p.damped == 1:
        move(p, v, zero, B, Q, G, F, L)
    elastic(p, 0, L)
    G[TOTAL, :, :] = 0.0
    to_rows(p, B, Q, G, F, L, rows)
    for i in range(nd):
        f[i] -= rows[0, i]


@kernel
def force_tangent(p, x, R, v, K, C):
    """Add the derivatives of `force`, column by column."""
    n, nd = 6 * p.frames + p.modes, len(v)
    B, Q = np.zeros((p.frames, N_B, 2, 3)), np.zeros((p.frames, 2, 2, 3, 3))
    G, F, L = np.zeros((N_G, 2, 3)), np.zeros((5, 2, 3, 3)), np.zeros((N_L, 2, n))
    rows, zero, unit = np.zeros((2, nd)), np.zeros(nd), np.zeros(nd)
    place_frame(p, x, R, B, Q, F, L)
    if p.damped == 1:
        move(p, v, zero, B, Q, G, F, L)
    elastic(p, 0, L)
    for j in range(n):
        to = column(p, j)
        unit[to] = 1.0
        turn_frame(p, unit, B, Q, G, F, L)
        if p.damped == 1:
            move(p, v, zero, B, Q, G, F, L)
        elastic(p, 1, L)
        G[TOTAL, :, :] = 0.0
        rows[:, :] = 0.0
        to_rows(p, B, Q, G, F, L, rows)
        for i in range(nd):
            K[i, to] += rows[1, i]
        if p.damped == 1:
            clear_derivatives(p, B, Q, G, F, L)
            move(p, v, unit, B, Q, G, F, L)
            elastic(p, 1, L)
            G[TOTAL, :, :] = 0.0
            rows[:, :] = 0.0
            to_rows(p, B, Q, G, F, L, rows)
            for i in range(nd):
                C[i, to] += rows[1, i]
        unit[to] = 0.0


@kernel
def geometric(p, x, R, v, K):
    """Add the stiffness of the elastic forces ġ = K̂ ḋ + … that displacements v bring about, in the place that there is.

    Of patterns the pulls change by Σ k_pq (ė_q + q̇_q), and their Ĝ with them.
    """
    n, nd = 6 * p.frames + p.modes, len(v)
    B, Q = np.zeros((p.frames, N_B, 2, 3)), np.zeros((p.frames, 2, 2, 3, 3))
    G, F, L = np.zeros((N_G, 2, 3)), np.zeros((5, 2, 3, 3)), np.zeros((N_L, 2, n))
    rows, unit, pulls = np.zeros((2, nd)), np.zeros(nd), np.zeros(p.patterns)
    place_frame(p, x, R, B, Q, F, L)
    turn_frame(p, v, B, Q, G, F, L)
    elastic(p, 1, L)
    pull_rates(p, L, pulls)
    for i in range(n):
        L[G_, 0, i] = L[G_, 1, i]
    for j in range(n):
        to = column(p, j)
        unit[to] = 1.0
        turn_frame(p, unit, B, Q, G, F, L)
        L[G_, 1, :] = 0.0
        for q in range(p.patterns):
            at = p.pattern_at + 8 * (p.patterns**2 + q * (n + n * n) + n)
            product(matrix(at, n, n), n, 1, L[POSE], L[H_])
            for i in range(n):
                L[G_, 1, i] += pulls[q] * L[H_, 1, i]
        L[H_, :, :] = 0.0
        G[TOTAL, :, :] = 0.0
        rows[:, :] = 0.0
        to_rows(p, B, Q, G, F, L, rows)
        for i in range(nd):
            K[i, to] += rows[1, i]
        unit[to] = 0.0


@kernel
def energy(p, x, R, gravity):
    """Potential energy (8) and that of gravity, −m g·(x̄ + R_0 s) [J]."""
    nb = p.frames
    n = 6 * nb + p.modes
    B, Q = np.zeros((nb, N_B, 2, 3)), np.zeros((nb, 2, 2, 3, 3))
    F, L = np.zeros((5, 2, 3, 3)), np.zeros((N_L, 2, n))
    place_frame(p, x, R, B, Q, F, L)
    product(matrix(p.stiffness_at, n, n), n, 0, L[POSE], L[G_])
    total = 0.0
    for i in range(n):
        total += 0.5 * L[POSE, 0, i] * L[G_, 0, i]
    count = p.patterns
    turned, e, k = np.zeros((2, count, n)), np.zeros((2, 2, count)), matrix(p.pattern_at, count, count)
    stretches(p, 0, L, turned, e)
    for q in range(count):
        for r in range(count):
            total += k[q, r] * e[0, 1, q] * (e[0, 0, r] + 0.5 * e[0, 1, r])
    a, centre = vector(p.geometry_at, nb), vector(p.geometry_at + 8 * 14 * nb, 3)
    c_d = matrix(p.geometry_at + 8 * (14 * nb + 3), 3, n)
    arm, place = local_vector(3), local_vector(3)
    for k in range(3):
        arm[k] = centre[k]
        for j in range(n):
            arm[k] += c_d[k, j] * L[POSE, 0, j]
    rotate(F[2, 0], arm, place)
    for k in range(3):
        for i in range(nb):
            place[k] += a[i] * x[i, k]
        total -= p.mass * gravity[k] * place[k]
    return total


@kernel
def deformed(p, x, R, B, Q, F, L, out):
    """Fill out[0], out[1] with the largest rotation [rad] and displacement [m] from the floating frame.

    Of a boundary frame, or √(η·M̂_ηη η/m): the root mean square over the body of what modes add between held frames.
    """
    n = 6 * p.frames + p.modes
    det = place_frame(p, x, R, B, Q, F, L)
    turn = way = 0.0
    for i in range(p.frames):
        turned = moved = 0.0
        for k in range(3):
            turned += L[POSE, 0, 6 * i + 3 + k] ** 2
            moved += L[POSE, 0, 6 * i + k] ** 2
        turn, way = max(turn, turned), max(way, moved)
    first, square = 6 * p.frames, 0.0
    M = matrix(p.inertia_at, n, n)
    for i in range(first, n):
        for k in range(first, n):
            square += L[POSE, 0, i] * M[i, k] * L[POSE, 0, k]
    way = max(way, square / p.mass)
    out[0] = math.sqrt(turn) if det > 0.0 else math.inf
    out[1] = math.sqrt(way)


@kernel
def spin(p, v, B, Q, F, L):
    """Angular speed [rad/s] of the rigid motion with the angular momentum of the body, see `Reduction.spin_rows`."""
    n = 6 * p.frames + p.modes
    G, zero = np.zeros((N_G, 2, 3)), np.zeros(len(v))
    move(p, v, zero, B, Q, G, F, L)
    rows, square = matrix(p.spin_at, 3, n), 0.0
    for k in range(3):
        one = 0.0
        for i in range(n):
            one += rows[k, i] * L[SPEED, 0, i]
        square += one * one
    return math.sqrt(square)


@kernel
def output(p, x, R, v, out):
    """How far the body is from its floating frame [rad], [m], and how fast it turns [rad/s]."""
    n = 6 * p.frames + p.modes
    B, Q = np.zeros((p.frames, N_B, 2, 3)), np.zeros((p.frames, 2, 2, 3, 3))
    F, L = np.zeros((5, 2, 3, 3)), np.zeros((N_L, 2, n))
    deformed(p, x, R, B, Q, F, L, out)
    out[2] = spin(p, v, B, Q, F, L)


@kernel
def trouble(p, x, R):
    """Positive where a boundary frame has turned by more than 1 rad from the floating frame."""
    n, values = 6 * p.frames + p.modes, local_vector(2)
    B, Q = np.zeros((p.frames, N_B, 2, 3)), np.zeros((p.frames, 2, 2, 3, 3))
    F, L = np.zeros((5, 2, 3, 3)), np.zeros((N_L, 2, n))
    deformed(p, x, R, B, Q, F, L, values)
    return 1.0 if values[0] > 1.0 else 0.0
