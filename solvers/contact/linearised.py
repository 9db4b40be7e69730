"""The linearised correction of `contact.correction`, (1) and (2): matrix, right-hand side, blocks of contacts.

Source: docs/theory/decoupled_nsga.md, (24).
"""

import numpy as np

from fem_mbs.jit import (
    call2,
    integer_matrix,
    integers,
    kernel,
    matrix,
    vector,
)
from fem_mbs.solvers.contact.approach import reflected, slide_before, tangential_restitution
from fem_mbs.solvers.contact.law_rows import SIX, gradient_of
from fem_mbs.solvers.stepping.kernels.data import run_at, system_at
from fem_mbs.solvers.stepping.kernels.friction_tasks import CORRECTION_GO, CORRECTION_KEEP, CORRECTION_RIGHT
from fem_mbs.system.contacts import (
    contact_groups,
    contacts_of,
    direction_of,
    gradient_times,
)
from fem_mbs.system.global_matrices import (
    expand_add,
    factorise,
    full_norm,
    matrix_values,
    reduce_vector,
    solve_in_place,
)
from fem_mbs.system.records import POSITION, SMOOTH, layouts_of


@kernel
def finish_matrix(data, level, factors):
    """Give rows that the matrix of the smooth motion has and this problem has not a diagonal, and factorise it if asked
    to; False when it is singular.

    These are rows of contacts, and of joint friction but in the position correction.
    """
    d = system_at(data)[0]
    L = layouts_of(d)[SMOOTH]
    values, diagonal = matrix_values(d, SMOOTH), integers(L.diagonal_at, L.n)
    for i in range(d.n + d.m, L.n - (d.n_friction if level == POSITION else 0)):
        values[diagonal[i]] = -1.0
    return not factors or factorise(d, SMOOTH)


@kernel
def solve_rows(data, at, count, size):
    """Solve with each of ``count`` rows of ``size`` numbers at an address, in place."""
    d = system_at(data)[0]
    for k in range(count):
        solve_in_place(d, SMOOTH, at + 8 * k * size)


@kernel
def right_side(data, run, level, out):
    """Fill out with (−r1, k g), or k ġ; the rows of joint friction follow in the position correction."""
    d, s = system_at(data)[0], run_at(run)[0]
    reduce_vector(d, s.r1, out)
    k = s.kp if level == POSITION else s.kv
    g = vector(s.g_at if level == POSITION else s.rate_at, d.m)
    for i in range(d.n):
        out[i] = -out[i]
    for i in range(d.m):
        out[d.n + i] = k * g[i]
    if level == POSITION and s.friction != 0:
        dx, L = vector(s.dx_at, len(out)), len(out)
        call2(s.friction_part, run, CORRECTION_RIGHT)
        for i in range(L - d.n_friction, L):
            out[i] = dx[i]


@kernel
def apply_increment(data, run, level, dx):
    """U, ν or W, Λ plus the solution of (1), joint friction of the position correction as well."""
    d, s = system_at(data)[0], run_at(run)[0]
    N, m = d.n_nodes, d.m
    expand_add(d, 1.0, dx, matrix(s.U_at if level == POSITION else s.W_at, N, 6))
    multiplier = vector(s.nu_at if level == POSITION else s.Lam_at, m)
    for i in range(m):
        multiplier[i] += dx[d.n + i]
    if level == POSITION and s.friction != 0:
        step = vector(s.dx_at, len(dx))
        for i in range(len(dx)):
            step[i] = dx[i]
        s.scale = 1.0
        call2(s.friction_part, run, CORRECTION_KEEP)
        call2(s.friction_part, run, CORRECTION_GO)


@kernel
def contact_values(data, run, level, u):
    """Fill u₀ (nc, 6): gap and slip, or g°_N and g°_T; then rolling (2) and spinning velocities."""
    d, s = system_at(data)[0], run_at(run)[0]
    V, Vminus = s.V, s.Vminus
    for g in contact_groups(d):
        contact = contacts_of(g)
        for e in range(g.n):
            c = g.first_contact + e
            if level == POSITION:
                u[c, 0] = contact.gap[e]
                for i in range(2):
                    u[c, 1 + i] = contact.slip[e, i]
                continue
            u[c, 0] = gradient_times(g, e, contact.G_N[e], V) + reflected(g, e, d, s, Vminus)
            e_T = tangential_restitution(g, e, s)
            for m in range(1, SIX):
                u[c, m] = gradient_times(g, e, direction_of(g, e, m), V)
                if m < 3:
                    u[c, m] += e_T * slide_before(g, e, s, m, Vminus)


@kernel
def contact_blocks(data, level, place, nodes, blocks):
    """Fill nodes (k, nn) and blocks (k, nn, size, 6) of the contacts c with place[c] ≥ 0; absent nodes are −1."""
    d = system_at(data)[0]
    size = blocks.shape[2]
    for g in contact_groups(d):
        of = integer_matrix(g.nodes_at, g.n, g.nn)
        for e in range(g.n):
            k = place[g.first_contact + e]
            if k < 0:
                continue
            for b in range(g.nn):
                nodes[k, b] = of[e, b]
                for i in range(size):
                    row = gradient_of(g, e, level, i)
                    for j in range(6):
                        blocks[k, b, i, j] = row[6 * b + j]


@kernel
def dense_rows(data, nodes, blocks, rows):
    """Scatter blocks of contacts to rows (k·size, ≥ n) of free components; two nodes of a contact may be the same."""
    d = system_at(data)[0]
    dof = integers(d.dof_at, 6 * d.n_nodes)
    size = blocks.shape[2]
    for k in range(blocks.shape[0]):
        for b in range(blocks.shape[1]):
            if nodes[k, b] < 0:
                continue
            for j in range(6):
                at = dof[6 * nodes[k, b] + j]
                if at >= 0:
                    for i in range(size):
                        rows[k * size + i, at] += blocks[k, b, i, j]


@kernel
def residual_norm(data, run, nodes, blocks, r):
    """Norm of r1 − Dᵀ r; r1 stays, it is the right-hand side of the next problem."""
    d, s = system_at(data)[0], run_at(run)[0]
    left = s.r1.copy()
    for k in range(blocks.shape[0]):
        for b in range(blocks.shape[1]):
            if nodes[k, b] < 0:
                continue
            for i in range(blocks.shape[2]):
                for j in range(6):
                    left[6 * nodes[k, b] + j] -= blocks[k, b, i, j] * r[k, i]
    return full_norm(d, left, s.length)


@kernel
def expand(data, reduced, full):
    """`expand_add` for callers in Python: full (N, 6) += reduced."""
    expand_add(system_at(data)[0], 1.0, reduced, full)


@kernel
def reduce(data, full, reduced):
    """`reduce_vector` for callers in Python, of an array (N, 6)."""
    reduce_vector(system_at(data)[0], full.reshape(-1), reduced)


@kernel
def node_inverses(data, entries, inverse):
    """Fill inverse (N, 6, 6) with the inverses of the symmetric parts of the blocks of nodes in the matrix (1)."""
    d = system_at(data)[0]
    values = matrix_values(d, SMOOTH)
    block, unit = np.empty((6, 6)), np.empty((6, 6))
    for b in range(d.n_nodes):
        for i in range(6):
            for j in range(6):
                unit[i, j] = 1.0 if i == j else 0.0
                one, two = entries[b, i, j], entries[b, j, i]
                block[i, j] = 0.5 * (values[one] + values[two]) if one >= 0 and two >= 0 else unit[i, j]
        # Gauss-Jordan; the blocks are positive definite
        for k in range(6):
            pivot = 1.0 / block[k, k]
            for j in range(6):
                block[k, j] *= pivot
                unit[k, j] *= pivot
            for i in range(6):
                if i != k:
                    factor = block[i, k]
                    if factor != 0.0:
                        for j in range(6):
                            block[i, j] -= factor * block[k, j]
                            unit[i, j] -= factor * unit[k, j]
        for i in range(6):
            for j in range(6):
                moves = entries[b, i, i] >= 0 and entries[b, j, j] >= 0
                inverse[b, i, j] = unit[i, j] if moves else 0.0
