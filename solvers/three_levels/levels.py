"""The coupled problem with laws at three levels: joints and contacts in positions, velocities and accelerations.

It differs from `alpha.coupled` in the first block, and in the laws of contacts (`three_levels.levels_contacts`):

    r1 = h (M a − f − Gᵀ λ − contacts)            r2 = (G a + c2)/c_a ,  g̈ = G a + c2                                (1)
    r3 = (M Q − Gᵀ κ − contacts)/h                r4 = g/h                                                          (2)
    r5 = M U − Gᵀ Λ − contacts                    r6 = G v + ∂g/∂t                                                  (3)

so that λ is the reaction itself. Q and U are what is called U and W there. Derivatives of r2, divided by k:

    v~   G + c_q/c_a ∂(G a)/∂q 𝒫        U/h   h/c_a ∂(G a)/∂q T(U)        v   ( 2 ∂(G v + ∂g/∂t)/∂q + G Ω~ )/c_a    (4)

What c2 changes with q is left out. Rows of velocities, of which H − Hᵀ is not G Ω~, have ∂γ̇/∂v from H in (v).

Source: docs/theory/nonsmooth_generalized_alpha_friction.md, (1)-(4).
"""

import math

from fem_mbs.jit import call2, entry, kernel, vector
from fem_mbs.solvers.alpha.contacts import choose_closed, impulse_columns
from fem_mbs.solvers.alpha.coupled import (
    PROBLEM,
    assemble_bodies,
    assemble_joints,
    fill_right,
    take_part,
    too_far,
    whole_merit,
)
from fem_mbs.solvers.alpha.data import own_at
from fem_mbs.solvers.alpha.friction import friction_block
from fem_mbs.solvers.alpha.rows import balance, configure, momenta, multipliers
from fem_mbs.solvers.contact.convection import contact_convection
from fem_mbs.solvers.contact.law import STICK
from fem_mbs.solvers.contact.law_rows import SIX, cone_with, move_multipliers, put_rows
from fem_mbs.solvers.stepping.kernels.codes import NOT_CONVERGED
from fem_mbs.solvers.stepping.kernels.data import run_at, system_at
from fem_mbs.solvers.stepping.kernels.friction_tasks import IMPULSES, POSITIONS
from fem_mbs.solvers.stepping.kernels.newton import turns_too_far
from fem_mbs.solvers.three_levels.levels_contacts import add_contacts, contact_block, contact_rows
from fem_mbs.system.constraints import (
    RATES,
    add_constraint_forces,
    constraint_couplings,
    constraint_rates,
    constraint_tangents,
    constraints,
    convective_terms,
    row_norm,
    velocity_row_accelerations,
)
from fem_mbs.system.contacts import contact_groups, contacts
from fem_mbs.system.global_matrices import add_block, clear_matrix, full_norm
from fem_mbs.system.records import STACKED, VELOCITY, layouts_of, zero


@kernel
def joint_rows(d, s, o):
    """Rows r2, r4, r6, and the reactions λ in ``Gl``."""
    zero(s.Gl_at, 6 * d.n_nodes)
    if d.m == 0:
        return
    constraints(d, s.x, s.R, s.V, s.g, s.rate)
    convective_terms(d, s.x, s.R, s.V, s.phi)
    constraint_rates(d, s.Vd, o.rate_s)
    for i in range(d.m):
        o.rate_s[i] = (o.rate_s[i] + s.phi[i]) / o.c_a
    multipliers(d, s, 0)
    add_constraint_forces(d, 1.0 / s.h, s.phi, s.Gl)


@kernel
def sizes(d, s, o):
    """Norms of the constraint and contact rows of each level."""
    force, place, speed, friction = row_norm(d, o.rate_s) ** 2, row_norm(d, s.g) ** 2, row_norm(d, s.rate) ** 2, 0.0
    for g in contact_groups(d):
        for c in range(g.first_contact, g.first_contact + g.n):
            place += o.rows_p[c] ** 2
            speed += s.rows_c[c, 0] ** 2
            for m in range(SIX):
                force += o.rows_a[c, m] ** 2
            for m in range(1, SIX):
                # what sticks holds as well as a joint: a creep that no step corrects would add up
                if o.state[c, cone_with(g, m)] == STICK:
                    speed += s.rows_c[c, m] ** 2
                else:
                    friction += s.rows_c[c, m] ** 2
    if s.friction != 0:
        speed, friction = speed + s.friction_row**2, friction + s.friction_slip**2
    o.row_s, o.row_p, s.row, s.row_T = math.sqrt(force), math.sqrt(place), math.sqrt(speed), math.sqrt(friction)


@entry("void(int64, int64)")
def levels_residual(data, run):
    """Rows of all blocks at the present unknowns; ``s.merit`` is their norm."""
    d, s = system_at(data)[0], run_at(run)[0]
    o = own_at(s.own_at)[0]
    if turns_too_far(s, s.D) or turns_too_far(s, s.U):
        return
    configure(d, s, o)
    if d.nc > 0:
        choose_closed(d, s, o)
        for c in range(d.nc):
            o.reached[c] = s.candidate[c]
        contact_convection(d, s, s.V, o.xc, o.Qc, o.Rc, o.Dc, o.Tc, s.x0, s.R0, o.turned)
        contacts(d, s.x, s.R, s.x0, s.R0, s.V)
        contact_rows(d, s, o)
    joint_rows(d, s, o)
    add_contacts(d, s, o, 0, 1.0, s.Gl)
    balance(d, s, o)
    momenta(d, s, s.U, o.MU, 1, o.rp)
    momenta(d, s, s.W, o.MW, 2, s.r1)
    add_contacts(d, s, o, 1, -1.0, o.rp)
    add_contacts(d, s, o, 2, -1.0, s.r1)
    if s.friction != 0:
        call2(s.friction_part, run, IMPULSES)
        call2(s.friction_part, run, POSITIONS)
    for i in range(6 * d.n_nodes):
        o.rp[i] /= s.h
    o.dynamic_p, s.dynamic = full_norm(d, o.rp, s.length), full_norm(d, s.r1, s.length)
    sizes(d, s, o)
    s.merit = whole_merit(s, o)
    if s.first_residual != 0:
        o.first_merit = s.merit
    if too_far(d, s, o):
        s.merit, s.code = math.inf, NOT_CONVERGED


@kernel
def turns_of(d, s, o, spin):
    """Fill TW with Ω~ of all nodes, or with zeros."""
    T, V = o.TW, s.V
    for i in range(d.n_nodes):
        for j in range(3):
            T[i, j, j] = 0.0
        w0, w1, w2 = spin * V[i, 3], spin * V[i, 4], spin * V[i, 5]
        T[i, 0, 1], T[i, 0, 2], T[i, 1, 2] = -w2, w1, -w0
        T[i, 1, 0], T[i, 2, 0], T[i, 2, 1] = w2, -w1, w0


@kernel
def unit_turns(d, o):
    """Fill TW with unit matrices."""
    for i in range(d.n_nodes):
        for j in range(3):
            for r in range(3):
                o.TW[i, j, r] = 1.0 if j == r else 0.0


@kernel
def joints_in_accelerations(d, s, o, column, q, T):
    """Derivatives of r1, r2 of joints in one block of the first row of blocks, (4)."""
    k, a = s.h * s.ks, 1.0 / o.c_a
    multipliers(d, s, 0)
    if column == 0:
        shift = s.epsilon_rows * k
        constraint_tangents(d, VELOCITY, s.x, s.R, s.Vd, s.phi, q, q * a, k, 0.0, shift, RATES, T)
    elif column == 1:
        constraint_couplings(d, VELOCITY, s.x, s.R, s.Vd, s.phi, 1.0, a, 0.0, k, False, T)
    else:
        unit_turns(d, o)
        constraint_couplings(d, VELOCITY, s.x, s.R, s.V, s.phi, 0.0, 2.0 * a, 0.0, k, True, o.TW)
        turns_of(d, s, o, 1.0)
        constraint_couplings(d, VELOCITY, s.x, s.R, s.V, s.phi, 0.0, 0.0, a, k, True, o.TW)
        turns_of(d, s, o, 0.0)  # of G Ω~ the rotation columns alone
        constraint_couplings(d, VELOCITY, s.x, s.R, s.V, s.phi, 0.0, 0.0, -a, k, True, o.TW)
        velocity_row_accelerations(d, VELOCITY, s.x, s.R, s.V, a, k)


@kernel
def assemble(d, s, o, row, column):
    """One block in matrix VELOCITY, without the scaling of positions by h."""
    clear_matrix(d, VELOCITY)
    q, T = o.c_q if column == 0 else 1.0, o.TP if column == 0 else s.T
    assemble_bodies(d, s, o, row, column, q, T)
    if d.m > 0 and row == 0:
        joints_in_accelerations(d, s, o, column, q, T)
    elif d.m > 0:
        assemble_joints(d, s, o, row, column, q, T)
    if s.friction != 0:
        friction_block(d, s, row, column)
    if d.nc == 0:
        return
    if row == 1 and column == 2:
        impulse_columns(d, s)
    else:
        contact_block(d, s, o, row, column, q, T)


@entry("void(int64, int64)")
def levels_matrix(data, run):
    """Matrix of all blocks, where the residual was evaluated last."""
    d, s = system_at(data)[0], run_at(run)[0]
    o = own_at(s.own_at)[0]
    clear_matrix(d, STACKED)
    for row in range(3):
        for column in range(3):
            if (row == 1 and column == 2) and d.nc == 0 and s.friction == 0:
                continue
            assemble(d, s, o, row, column)
            scale = (1.0 / s.h if row == 1 else 1.0) * (s.h if column == 1 else 1.0)
            add_block(d, VELOCITY, row, column, scale)


@entry("void(int64, int64)")
def levels_right(data, run):
    """Minus the residual, in dx."""
    d, s = system_at(data)[0], run_at(run)[0]
    o = own_at(s.own_at)[0]
    fill_right(d, s, o)
    put_rows(d, VELOCITY, -(s.h * s.ks), o.rows_a, vector(s.dx_at, layouts_of(d)[VELOCITY].n))


@entry("void(int64, int64)")
def levels_move(data, run):
    """Unknowns go from the part ``o.taken`` of the Newton step to the part ``s.scale``."""
    d, s = system_at(data)[0], run_at(run)[0]
    o = own_at(s.own_at)[0]
    dx = vector(s.dx_at, layouts_of(d)[VELOCITY].n)
    move_multipliers(d, VELOCITY, o.lam_c, s.scale - o.taken, dx, o.lam_c)
    take_part(d, s, o)


LEVELS = PROBLEM._replace(residual=levels_residual, matrix=levels_matrix, right=levels_right, move=levels_move)
