"""Contacts in the two corrections of the decoupled scheme: residual parts and tangent blocks (section 2.6)."""

import numpy as np

from fem_mbs.assembly import (
    POSITION,
    VELOCITY,
    gather_poses,
    gather_start,
    groups_of,
    matrix_values,
    scatter_matrix,
    times_tangent,
    zero,
)
from fem_mbs.contact_assembly import (
    B_GN,
    B_GN0,
    B_GT,
    B_VT,
    B_VT0,
    B_W,
    C_BLOCKS,
    C_GAP,
    C_SLIP,
    add_gradient,
    gradient_times,
)
from fem_mbs.jit import N_SLOTS, SLOT, call2, integers, kernel, matrix, vector
from fem_mbs.solvers.contact_law import CLOSED, GAP, cone_forces, cone_tangent, normal_tangent, open_rows

_H_N, _KK = SLOT["H_N"], SLOT["K"]


@kernel
def position_contact_residual(d, s, r1, rows):
    """Contact part of the position residual: subtract forces from r1 (full), fill rows (nc, 3) divided by k_p."""
    groups = groups_of(d)
    cnu, status = matrix(s.cnu_at, d.nc, 3), integers(s.status_at, d.nc)
    force, row, slip = np.empty(2), np.empty(2), np.empty(2)
    k, p = s.kp, s.pp
    for a in range(d.n_groups):
        g = groups[a]
        if g.contact == 0:
            continue
        kept, law = matrix(g.contact_at, g.n, g.contact_stride), matrix(g.law_at, g.n, 5)
        for e in range(g.n):
            c = g.first_contact + e
            xi_N = k * cnu[c, 0] - p * kept[e, C_GAP]
            if xi_N < 0.0:
                status[c] = GAP
                for i in range(3):
                    rows[c, i] = -k / p * cnu[c, i]
                continue
            add_gradient(g, e, B_GN, 0, -xi_N, r1)
            rows[c, 0] = -kept[e, C_GAP]
            mu = law[e, 0]
            for i in range(2):
                slip[i] = kept[e, C_SLIP + i]
            if mu == 0.0:
                status[c] = CLOSED
                for i in range(2):
                    rows[c, 1 + i] = -k / p * cnu[c, 1 + i]
                continue
            status[c] = cone_forces(k, p, mu, xi_N, cnu[c, 1:], slip, 2, force, row)
            for i in range(2):
                add_gradient(g, e, B_GT, i, -force[i], r1)
                rows[c, 1 + i] = row[i]


@kernel
def position_contact_tangents(d, s, x, R, x0, R0, T):
    """Add the contact blocks of the position sub-problem to its matrix."""
    b = integers(d.table_at, N_SLOTS)
    groups = groups_of(d)
    layout = matrix_values(d, POSITION)
    cnu = matrix(s.cnu_at, d.nc, 3)
    slip = np.empty(2)
    k, p = s.kp, s.pp
    for a in range(d.n_groups):
        g = groups[a]
        if g.contact == 0:
            continue
        nd = g.nd
        size = nd + 3
        S, H = matrix(b[_KK], size, size), matrix(b[_H_N], nd, nd)
        kept, law = matrix(g.contact_at, g.n, g.contact_stride), matrix(g.law_at, g.n, 5)
        for e in range(g.n):
            c = g.first_contact + e
            zero(b[_KK], size * size)
            xi_N = k * cnu[c, 0] - p * kept[e, C_GAP]
            if xi_N < 0.0:
                open_rows(S, nd, 3, k, p)
            else:
                G_N = kept[e, C_BLOCKS + B_GN * nd : C_BLOCKS + (B_GN + 1) * nd]
                G_T = kept[e, C_BLOCKS + B_GT * nd : C_BLOCKS + (B_GT + 2) * nd]
                normal_tangent(S, nd, nd, G_N, k, p)
                mu = law[e, 0]
                if mu == 0.0:
                    open_rows(S, nd + 1, 2, k, p)
                else:
                    for i in range(2):
                        slip[i] = kept[e, C_SLIP + i]
                    cone_tangent(S, nd, nd, nd + 1, G_N, G_T, 2, k, p, mu, xi_N, cnu[c, 1:], slip)
                if g.contact_hessian != 0:
                    gather_poses(g, e, b, x, R)
                    gather_start(g, e, b, x0, R0)
                    zero(b[_H_N], nd * nd)
                    call2(g.contact_hessian, g.parameters_at + e * g.stride, d.table_at)
                    for i in range(nd):
                        for j in range(nd):
                            S[i, j] -= xi_N * H[i, j]
                times_tangent(g, e, S, size, T)
                for i in range(3):
                    S[nd + i, nd + i] -= s.epsilon * k * k / p  # proximal: redundant contacts (section 3.8)
            scatter_matrix(g.maps_at[POSITION], e, size, vector(b[_KK], size * size), layout)


@kernel
def velocity_contact_residual(d, s, V, Vminus, r1, rows, rows_chi):
    """Contact part of the velocity residual: subtract impulses from r1 (full), fill rows (nc, 3) divided by k_v.

    Rolling and spinning are scaled by a length, the radius of gyration of the model: arm ω is a velocity, and moment
    impulses are arm k_v χ, so that one k and one p serve forces and moments.
    """
    groups = groups_of(d)
    cLam, cchi = matrix(s.cLam_at, d.nc, 3), matrix(s.cchi_at, d.nc, 3)
    status, candidate = integers(s.status_at, d.nc), integers(s.candidate_at, d.nc)
    turning = integers(s.turning_at, d.nc)
    force, row, rate = np.empty(2), np.empty(2), np.empty(2)
    k, p, arm = s.kv, s.pv, s.length
    for a in range(d.n_groups):
        g = groups[a]
        if g.contact == 0:
            continue
        law = matrix(g.law_at, g.n, 5)
        for e in range(g.n):
            c = g.first_contact + e
            for i in range(3):
                rows[c, i] = -k / p * cLam[c, i]
                rows_chi[c, i] = -k / p * cchi[c, i]
            status[c] = turning[c] = GAP
            if candidate[c] == 0:
                continue
            g_N = gradient_times(g, e, B_GN, 0, V) + law[e, 3] * gradient_times(g, e, B_GN0, 0, Vminus)
            sigma_N = k * cLam[c, 0] - p * g_N
            if sigma_N < 0.0:
                continue
            add_gradient(g, e, B_GN, 0, -sigma_N, r1)
            rows[c, 0] = -g_N
            status[c] = CLOSED
            if law[e, 0] != 0.0:
                for i in range(2):
                    rate[i] = gradient_times(g, e, B_VT, i, V) + law[e, 4] * gradient_times(g, e, B_VT0, i, Vminus)
                status[c] = cone_forces(k, p, law[e, 0], sigma_N, cLam[c, 1:], rate, 2, force, row)
                for i in range(2):
                    add_gradient(g, e, B_VT, i, -force[i], r1)
                    rows[c, 1 + i] = row[i]
            if law[e, 1] != 0.0:  # rolling
                for i in range(2):
                    rate[i] = arm * gradient_times(g, e, B_W, i, V)
                turning[c] = cone_forces(k, p, law[e, 1] / arm, sigma_N, cchi[c], rate, 2, force, row)
                for i in range(2):
                    add_gradient(g, e, B_W, i, -arm * force[i], r1)
                    rows_chi[c, i] = row[i]
            if law[e, 2] != 0.0:  # spinning
                rate[0] = arm * gradient_times(g, e, B_W, 2, V)
                spinning = cone_forces(k, p, law[e, 2] / arm, sigma_N, cchi[c, 2:], rate, 1, force, row)
                turning[c] = max(turning[c], spinning)
                add_gradient(g, e, B_W, 2, -arm * force[0], r1)
                rows_chi[c, 2] = row[0]


@kernel
def velocity_contact_tangents(d, s, V, Vminus):
    """Add the contact blocks of the velocity sub-problem to its matrix."""
    b = integers(d.table_at, N_SLOTS)
    groups = groups_of(d)
    layout = matrix_values(d, VELOCITY)
    cLam, cchi = matrix(s.cLam_at, d.nc, 3), matrix(s.cchi_at, d.nc, 3)
    candidate = integers(s.candidate_at, d.nc)
    rate = np.empty(2)
    k, p, arm = s.kv, s.pv, s.length
    for a in range(d.n_groups):
        g = groups[a]
        if g.contact == 0:
            continue
        nd = g.nd
        size = nd + 6
        S, W = matrix(b[_KK], size, size), vector(b[_H_N], 3 * nd)
        kept, law = matrix(g.contact_at, g.n, g.contact_stride), matrix(g.law_at, g.n, 5)
        for e in range(g.n):
            c = g.first_contact + e
            zero(b[_KK], size * size)
            sigma_N = -1.0
            if candidate[c] != 0:
                g_N = gradient_times(g, e, B_GN, 0, V) + law[e, 3] * gradient_times(g, e, B_GN0, 0, Vminus)
                sigma_N = k * cLam[c, 0] - p * g_N
            if sigma_N < 0.0:
                open_rows(S, nd, 6, k, p)
            else:
                G_N = kept[e, C_BLOCKS + B_GN * nd : C_BLOCKS + (B_GN + 1) * nd]
                V_T = kept[e, C_BLOCKS + B_VT * nd : C_BLOCKS + (B_VT + 2) * nd]
                for i in range(3 * nd):
                    W[i] = arm * kept[e, C_BLOCKS + B_W * nd + i]
                normal_tangent(S, nd, nd, G_N, k, p)
                if law[e, 0] == 0.0:
                    open_rows(S, nd + 1, 2, k, p)
                else:
                    for i in range(2):
                        rate[i] = gradient_times(g, e, B_VT, i, V) + law[e, 4] * gradient_times(g, e, B_VT0, i, Vminus)
                    cone_tangent(S, nd, nd, nd + 1, G_N, V_T, 2, k, p, law[e, 0], sigma_N, cLam[c, 1:], rate)
                if law[e, 1] == 0.0:
                    open_rows(S, nd + 3, 2, k, p)
                else:
                    for i in range(2):
                        rate[i] = arm * gradient_times(g, e, B_W, i, V)
                    cone_tangent(S, nd, nd, nd + 3, G_N, W, 2, k, p, law[e, 1] / arm, sigma_N, cchi[c], rate)
                if law[e, 2] == 0.0:
                    open_rows(S, nd + 5, 1, k, p)
                else:
                    rate[0] = arm * gradient_times(g, e, B_W, 2, V)
                    spin = W[2 * nd :]
                    cone_tangent(S, nd, nd, nd + 5, G_N, spin, 1, k, p, law[e, 2] / arm, sigma_N, cchi[c, 2:], rate)
                for i in range(6):
                    S[nd + i, nd + i] -= s.epsilon * k * k / p
            scatter_matrix(g.maps_at[VELOCITY], e, size, vector(b[_KK], size * size), layout)
