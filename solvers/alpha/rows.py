"""Rows of the coupled problem: the configuration that its unknowns lead to, and the residual of each block.

Equations (1)-(3) of alpha.coupled.

Source: docs/theory/nonsmooth_generalized_alpha.md, (1)-(4).
"""

import math

from fem_mbs.jit import call2, integers, kernel, local_matrix, local_vector
from fem_mbs.rotations import multiply_T, quaternion_exp, quaternion_to_matrix
from fem_mbs.solvers.alpha.contacts import position_rows
from fem_mbs.solvers.alpha.one_level import add_closed_rows, followed_rows
from fem_mbs.solvers.contact.law_rows import add_squares
from fem_mbs.solvers.contact.velocity_rows import velocity_contact_residual
from fem_mbs.solvers.stepping.kernels.arrays import norm
from fem_mbs.solvers.stepping.kernels.friction_tasks import IMPULSES, POSITIONS
from fem_mbs.system.assembly import advance_configuration, dynamics, inertia
from fem_mbs.system.constraints import (
    add_constraint_forces,
    constraint_rates,
    constraints,
    replace_velocity_rows,
    row_norm,
)
from fem_mbs.system.global_matrices import full_norm
from fem_mbs.system.records import VELOCITY, zero


@kernel
def configure(d, s, o):
    """q~, q and v from D, U, v~ and W; T(D), T(U) and 𝒫 = exp(−U~) T(D)."""
    advance_configuration(d, s.x0, s.Q0, s.D, s.xs, s.Qs, s.Rs, o.TD)
    advance_configuration(d, s.xs, s.Qs, s.U, s.x, s.Q, s.R, s.T)
    turns, p, turn = integers(d.turns_at, d.n_nodes), local_vector(4), local_matrix(3, 3)
    U, W, V, Vs = s.U, s.W, s.V, s.Vs
    for i in range(d.n_nodes):
        for j in range(6):
            V[i, j] = Vs[i, j] + W[i, j]
        if turns[i]:
            quaternion_exp(U[i, 3:6], p)
            quaternion_to_matrix(p, turn)
            multiply_T(turn, o.TD[i], o.TP[i])


@kernel
def multipliers(d, s, block):
    """Impulses of joints in the rows of a block, in s.phi: h λ~, ν or Λ."""
    lam, nu, Lam, phi = s.lam, s.nu, s.Lam, s.phi
    for i in range(d.m):
        phi[i] = s.h * s.ks * lam[i] if block == 0 else (s.kp * nu[i] if block == 1 else s.kv * Lam[i])


@kernel
def motion_rows(d, s, o):
    """Rows (1), and the size of the forces."""
    m = d.m
    zero(s.Gl_at, 6 * d.n_nodes)
    o.row_s = 0.0
    if m > 0:
        constraints(d, s.x, s.R, s.Vs, s.g, o.rate_s)
        if o.levels == 1:
            replace_velocity_rows(d, o.c_q, o.rate_s, s.g)  # rates, as what they do to positions
        multipliers(d, s, 0)
        add_constraint_forces(d, 1.0 / s.h, s.phi, s.Gl)
        o.row_s = row_norm(d, s.g) / o.c_q if o.levels == 1 else row_norm(d, o.rate_s)
    balance(d, s, o)
    if o.levels == 1 and d.nc > 0:
        add_closed_rows(d, s, o)


@kernel
def balance(d, s, o):
    """Dynamic rows of (1) with the reactions in ``Gl``, and the size of the forces."""
    h, rs = s.h, o.rs
    single = dynamics(d, VELOCITY, s.x, s.R, s.V, s.Vd, s.Ma, s.f, False, 0.0, 0.0, 0.0, 0.0, s.T, False)
    for i in range(6 * d.n_nodes):
        rs[i] = h * (s.Ma[i] - s.f[i] - s.Gl[i])
    forces = max(full_norm(d, s.f, s.length), math.sqrt(single))
    s.F_s = full_norm(d, s.Ma, s.length) + forces + full_norm(d, s.Gl, s.length)
    o.dynamic_s = full_norm(d, rs, s.length)


@kernel
def momenta(d, s, increment, momentum, block, rows):
    """Fill ``momentum`` with M U or M W, and rows (full) with that less the impulses of joints in the block."""
    inertia(d, VELOCITY, s.x, s.R, s.V, increment, momentum, False, 0.0, 0.0, s.T)
    for i in range(6 * d.n_nodes):
        rows[i] = momentum[i]
    if d.m > 0:
        multipliers(d, s, block)
        add_constraint_forces(d, -1.0, s.phi, rows)


@kernel
def moved_rows(d, s, o):
    """Rows (2)."""
    if o.follows != 0:
        followed_rows(d, s, o)
        return
    rp = o.rp
    momenta(d, s, s.U, o.MU, 1, rp)
    if d.nc > 0 and d.n_rate_rows > 0 and o.levels != 1:
        constraint_rates(d, s.U, s.phi)
        replace_velocity_rows(d, 1.0, s.phi, s.g)  # G U = 0: contacts do not move what velocities fix
    total = row_norm(d, s.g) ** 2
    if d.nc > 0 and s.without_contacts == 0:
        position_rows(d, s, rp, o.rows_p)
        total += norm(o.rows_p, d.nc) ** 2
    if s.friction != 0:
        call2(s.friction_part, s.run_at, POSITIONS)
    for i in range(6 * d.n_nodes):
        rp[i] /= s.h
    o.dynamic_p, o.row_p = full_norm(d, rp, s.length), math.sqrt(total)


@kernel
def jumped_rows(d, s, o):
    """Rows (3)."""
    m, r1 = d.m, s.r1
    momenta(d, s, s.W, o.MW, 2, r1)
    total, friction = 0.0, 0.0
    if m > 0:
        constraint_rates(d, s.W, s.rate)
        for i in range(m):
            s.rate[i] += o.rate_s[i]
        total = row_norm(d, s.rate) ** 2
    if d.nc > 0 and s.without_contacts == 0:
        velocity_contact_residual(d, s, s.V, s.Vminus, r1, s.rows_c)
        total, friction = add_squares(s.rows_c, total)
    if s.friction != 0:
        call2(s.friction_part, s.run_at, IMPULSES)
        total, friction = total + s.friction_row**2, friction + s.friction_slip**2
    s.dynamic, s.row, s.row_T = full_norm(d, r1, s.length), math.sqrt(total), math.sqrt(friction)
