"""Kernels of a superelement: forces by the lines of `forces`, tangents column by column as derivatives of them.

Source: docs/theory/superelements.md, sections 3-6.
"""

import math

from fem_mbs.elements.superelements.duals import product
from fem_mbs.elements.superelements.forces import (
    elastic,
    find_pull_rates,
    gravity_rows,
    inertia_products,
    inertia_rows,
    stretches,
    to_rows,
)
from fem_mbs.elements.superelements.motion import accelerate, clear_derivatives, move, place_frame, turn_frame
from fem_mbs.jit import kernel, local_arrays, local_vector
from fem_mbs.rotations import rotate


@kernel
def column(p, j):
    """Place among nodal components of local component j."""
    first = 6 * p.size_nb
    return j if j < first else first + 6 * ((j - first) // 3) + (j - first) % 3


@kernel
def begin(p, x, R):
    """Set the pose, and rows, ``zero`` and ``unit`` to zero."""
    p.rows[:, :] = 0.0
    p.zero[:] = 0.0
    p.unit[:] = 0.0
    place_frame(p, x, R)


@kernel
def move_rows(p, v, dv, a, da, derivative, gyroscopic):
    """Add values (0) or also derivatives (1) of (11), (12) to the rows, at velocities v and accelerations a."""
    move(p, v, dv)
    accelerate(p, a, da)
    inertia_products(p, derivative, gyroscopic)
    inertia_rows(p, gyroscopic)


@kernel
def take_column(p, to, K):
    """Add the derivatives of the rows to column ``to`` of K (6 nn, 6 nn); the rows are zero then."""
    rows = p.rows
    for i in range(K.shape[0]):
        K[i, to] += rows[1, i]
    rows[:, :] = 0.0


@kernel
def inertia(p, x, R, v, a, gravity, Ma, f):
    """Add M a of (12) to Ma (6 nn,), minus the rest and gravity to f (6 nn,)."""
    begin(p, x, R)
    zero, rows = p.zero, p.rows
    move_rows(p, zero, zero, a, zero, 0, 0)
    for i in range(len(v)):
        Ma[i] += rows[0, i]
        rows[0, i] = 0.0
    move_rows(p, v, zero, zero, zero, 0, 1)
    gravity_rows(p, gravity, zero)
    for i in range(len(v)):
        f[i] -= rows[0, i]


@kernel
def inertia_tangent(p, x, R, v, a, gravity, needs_K, M, C, K, Ka):
    """Add the mass matrix and the derivatives of `inertia`, column by column."""
    begin(p, x, R)
    zero, unit = p.zero, p.unit
    move(p, v, zero)
    accelerate(p, zero, zero)
    inertia_products(p, 0, 1)
    for j in range(p.size_n):
        to = column(p, j)
        unit[to] = 1.0
        clear_derivatives(p)
        move_rows(p, v, unit, zero, zero, 1, 1)
        take_column(p, to, C)
        if needs_K != 0.0:
            turn_frame(p, unit)
            move_rows(p, v, zero, zero, zero, 1, 1)
            gravity_rows(p, gravity, zero)
            take_column(p, to, K)
        unit[to] = 0.0
    clear_derivatives(p)
    move(p, zero, zero)
    accelerate(p, a, zero)
    inertia_products(p, 0, 0)
    for j in range(p.size_n):
        to = column(p, j)
        unit[to] = 1.0
        clear_derivatives(p)
        move_rows(p, zero, zero, a, unit, 1, 0)
        take_column(p, to, M)
        if needs_K != 0.0:
            turn_frame(p, unit)
            move_rows(p, zero, zero, a, zero, 1, 0)
            take_column(p, to, Ka)
        unit[to] = 0.0


@kernel
def elastic_rows(p, derivative):
    """Add elastic and damping forces, values (0) or also derivatives (1), to the rows."""
    elastic(p, derivative)
    p.s[:, :] = 0.0
    to_rows(p)


@kernel
def force(p, x, R, v, f):
    """Add the elastic and damping forces."""
    begin(p, x, R)
    if p.damped == 1:
        move(p, v, p.zero)
    elastic_rows(p, 0)
    for i in range(len(v)):
        f[i] -= p.rows[0, i]


@kernel
def force_tangent(p, x, R, v, K, C):
    """Add the derivatives of `force`, column by column."""
    begin(p, x, R)
    zero, unit = p.zero, p.unit
    if p.damped == 1:
        move(p, v, zero)
    elastic(p, 0)
    for j in range(p.size_n):
        to = column(p, j)
        unit[to] = 1.0
        turn_frame(p, unit)
        if p.damped == 1:
            move(p, v, zero)
        elastic_rows(p, 1)
        take_column(p, to, K)
        if p.damped == 1:
            clear_derivatives(p)
            move(p, v, unit)
            elastic_rows(p, 1)
            take_column(p, to, C)
        unit[to] = 0.0


@kernel
def geometric(p, x, R, v, K):
    """Add the stiffness of the elastic forces ġ = K̂ ḋ + … that displacements v bring about, in the place that there is.

    Of patterns the pulls change by Σ k_pq (ė_q + q̇_q), and their Ĝ with them.
    """
    begin(p, x, R)
    n, g, h, unit = p.size_n, p.g, p.h, p.unit
    turn_frame(p, v)
    p.d_rate[:, :] = 0.0
    elastic(p, 1)
    find_pull_rates(p)
    for i in range(n):
        g[0, i] = g[1, i]
    for j in range(n):
        to = column(p, j)
        unit[to] = 1.0
        turn_frame(p, unit)
        g[1, :] = 0.0
        for q in range(p.size_np):
            product(p.G[q], n, 1, p.d, h)
            for i in range(n):
                g[1, i] += p.pull_rates[q] * h[1, i]
        h[:, :] = 0.0
        p.s[:, :] = 0.0
        to_rows(p)
        take_column(p, to, K)
        unit[to] = 0.0


@kernel
def energy(p, x, R, gravity):
    """Potential energy (8) and that of gravity, −m g·(x̄ + R_0 s) [J]."""
    place_frame(p, x, R)
    n, d, g, e, q = p.size_n, p.d, p.g, p.e, p.q
    product(p.K, n, 0, d, g)
    total = 0.0
    for i in range(n):
        total += 0.5 * d[0, i] * g[0, i]
    stretches(p, 0)
    for a in range(p.size_np):
        for b in range(p.size_np):
            total += p.k[a, b] * q[0, a] * (e[0, b] + 0.5 * q[0, b])
    arm, place = local_arrays("3, 3")
    for k in range(3):
        arm[k] = p.centre[k]
        for j in range(n):
            arm[k] += p.centre_rates[k, j] * d[0, j]
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
            turned += d[0, 6 * i + 3 + k] ** 2
            moved += d[0, 6 * i + k] ** 2
        turn, way = max(turn, turned), max(way, moved)
    square = 0.0
    for i in range(first, n):
        for k in range(first, n):
            square += d[0, i] * M[i, k] * d[0, k]
    way = max(way, square / p.mass)
    out[0] = math.sqrt(turn) if det > 0.0 else math.inf
    out[1] = math.sqrt(way)


@kernel
def spin(p, v):
    """Angular speed [rad/s] of the rigid motion with the angular momentum of the body, see `Reduction.spin_rows`."""
    p.zero[:] = 0.0
    move(p, v, p.zero)
    rows, speed, square = p.spin_rows, p.speed, 0.0
    for k in range(3):
        one = 0.0
        for i in range(p.size_n):
            one += rows[k, i] * speed[0, i]
        square += one * one
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
