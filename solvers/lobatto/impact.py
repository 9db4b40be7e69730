"""The impact problem: velocities at the end of the step, at the configuration of the last stage.

    M v = p + Gᵀ P_s + G_Nᵀ ΔP_N + V_Tᵀ ΔP_T + …                                                                  (1)
    p_x = P_n + Σ_j b_j F_x^j ,   exp(ψ^s) p_θ = P_n + Σ_j b_j exp(ψ^j) F'_θ^j       without R^s, and with the impulses
          Σ_{j<s} b_j R^j of contacts taken off at the gradients of the end                                      (2)
    G v + ∂g/∂t = 0 ;   contacts whose gap is closed: Newton's law and the cones for the impulses ΔP = Σ_j b_j R^j   (3)

The unknowns of (3) are the impulses of the whole step, so that the laws of `contact.velocity` hold as they stand.

Source: Capobianco2024, (53)-(59), (67); docs/theory/lobatto.md, (11), (14).
"""

import math

from fem_mbs.jit import call2, entry, integers, kernel
from fem_mbs.rotations import rotate_T
from fem_mbs.solvers.contact import velocity
from fem_mbs.solvers.contact.law import GAP
from fem_mbs.solvers.contact.law_rows import SIX, add_squares, arm_of
from fem_mbs.solvers.contact.velocity_rows import velocity_contact_residual
from fem_mbs.solvers.lobatto.chart import without_gyration
from fem_mbs.solvers.lobatto.data import own_at
from fem_mbs.solvers.lobatto.lasting import has_own_rows, impact_contacts, last_slipping
from fem_mbs.solvers.stepping.kernels.data import run_at, system_at
from fem_mbs.solvers.stepping.kernels.friction_tasks import IMPACT_BEGIN, IMPULSES, SLOPES
from fem_mbs.solvers.stepping.kernels.newton import merit_of
from fem_mbs.system.assembly import dynamics
from fem_mbs.system.constraints import RATES, add_constraint_forces, constraint_rates, constraint_tangents, row_norm
from fem_mbs.system.contacts import add_gradient, contact_groups, contacts, contacts_of, direction_of
from fem_mbs.system.global_matrices import clear_matrix, full_norm
from fem_mbs.system.records import VELOCITY


@entry("void(int64, int64)")
def impact_residual(data, run):
    """Residual of (1) in r1 (full), of (3) in rate, rows_c; norms in s.dynamic, s.row, s.row_T."""
    d, s = system_at(data)[0], run_at(run)[0]
    o = own_at(s.own_at)[0]
    N, m, nc, r1 = d.n_nodes, d.m, d.nc, s.r1
    for i in range(N):
        for j in range(6):
            s.V[i, j] = s.Vs[i, j] + s.W[i, j]
    dynamics(d, VELOCITY, s.x, s.R, s.V, s.V, s.Ma, s.f, False, 0.0, 0.0, 0.0, 0.0, s.R, False)
    for i in range(6 * N):
        r1[i] = s.Ma[i] - o.p[i]
    total, friction = 0.0, 0.0
    if m > 0:
        constraint_rates(d, s.V, s.rate)
        for i in range(m):
            s.rate[i] += s.g[i]  # ∂g/∂t, stored before
            s.phi[i] = s.kv * s.Lam[i]
        total = row_norm(d, s.rate) ** 2
        add_constraint_forces(d, -1.0, s.phi, r1)
    if nc > 0 and s.without_contacts == 0:
        velocity_contact_residual(d, s, s.V, s.Vminus, r1, s.rows_c)
        if o.lasting != 0:
            last_slipping(d, s, o, r1, s.rows_c)
        total, friction = add_squares(s.rows_c, total)
    if s.friction != 0:
        call2(s.friction_part, run, IMPULSES)
        total, friction = total + s.friction_row**2, friction + s.friction_slip**2
    s.dynamic, s.row, s.row_T = full_norm(d, r1, s.length), math.sqrt(total), math.sqrt(friction)
    s.merit = merit_of(s, s.kv)


@entry("void(int64, int64)")
def impact_matrix(data, run):
    """Assemble the matrix of (1) and (3), without contacts."""
    d, s = system_at(data)[0], run_at(run)[0]
    clear_matrix(d, s.number)
    dynamics(d, s.number, s.x, s.R, s.V, s.V, s.force, s.Gl, True, 1.0, 0.0, 0.0, 0.0, s.R, False)
    if d.m > 0:
        shift = s.epsilon_rows * s.kv
        constraint_tangents(d, s.number, s.x, s.R, s.V, s.phi, 0.0, 0.0, s.kv, 0.0, shift, RATES, s.R)
    if s.friction != 0:
        call2(s.friction_part, run, SLOPES)


PROBLEM = velocity.PROBLEM._replace(residual=impact_residual, matrix=impact_matrix, contacts=impact_contacts)


@kernel
def momentum_without_end(d, s, o):
    """Fill p by (2); stages and contacts are evaluated at the last stage."""
    turns, last = integers(d.turns_at, d.n_nodes), o.a.shape[0] - 1
    b = o.b[last]
    moment = s.force
    for n in range(d.n_nodes):
        at = 6 * n
        for k in range(6):
            o.p[at + k] = o.y[at + k] + b * o.Fi[last, at + k]
        if turns[n]:
            rotate_T(o.Ex[last, n], o.y[at + 3 : at + 6], o.p[at + 3 : at + 6])
            without_gyration(s, o, last, n, moment[at + 3 : at + 6])
            for k in range(3, 6):
                o.p[at + k] += b * moment[at + k]
    for g in contact_groups(d):
        for e in range(g.n):
            c = g.first_contact + e
            for i in range(SIX):
                impulse = 0.0
                for j in range(last):
                    impulse += o.b[j] * s.kv * arm_of(g, e, s, i) * o.cR[j, c, i]
                o.before_end[c, i] = impulse
                add_gradient(g, e, direction_of(g, e, i), -impulse, o.p)
    if s.friction != 0:
        call2(s.friction_part, s.run_at, IMPACT_BEGIN)


@kernel
def choose_closed(d, s, o):
    """Contacts that are closed at the end take part in the impact problem; contacts are evaluated there.

    So do those that an inner stage has stopped, although their gap at the end is a little above zero: left out, their
    bodies keep the approach with which they came, and are stopped again in every step.
    """
    contacts(d, s.x, s.R, s.x0, s.R0, s.V)
    round_off = s.exact * s.scale_x
    last = o.a.shape[0] - 2
    for g in contact_groups(d):
        contact = contacts_of(g)
        for e in range(g.n):
            c = g.first_contact + e
            closed = s.pv * (contact.gap[e] - round_off) / s.h - s.kv * o.cR[last, c, 0] <= 0.0
            for i in range(last):
                # round-off of the linear system leaves multipliers to contacts that are open there
                closed = closed or (o.stage_status[i, c] != GAP and o.cR[i, c, 0] > 0.0)
            # those that slip in the whole step have rows of their own
            taken = closed and o.left_out[c] == 0 and not has_own_rows(o, c)
            s.candidate[c] = s.active[c] = 1 if taken else 0
