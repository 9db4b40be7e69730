"""The coupled problem of a step: smooth motion, positions and velocities at once, all at the end of the step.

With q~ = q_n ∘ exp(D), q = q~ ∘ exp(U), v = v~ + W, everything below at q, v, t_{n+1}:

    r1 = h (M v̇~ − f − Gᵀ λ~)                    r2 = G v~ + ∂g/∂t                                                 (1)
    r3 = (M U − Gᵀ ν − contacts)/h               r4 = g/h                                                          (2)
    r5 = M W − Gᵀ Λ − contacts                   r6 = G v + ∂g/∂t                                                  (3)

``levels`` of them are solved: (1) with g/c_q for r2 (index 3), (1) and (2), all. Constraint rows are multiplied by −k.
Unknowns of Newton's iteration are v~, λ~; U/h, ν/h; v, Λ. With v in place of W contacts and G stay on the diagonal:

    block   v~                                     U/h                       v
    r1      h (c_a M + c_q K 𝒫)                    h² K T(U)                 h C                                   (4)
    r3      c_q/h ∂(M U − Gᵀν − …)/∂q 𝒫            M + ∂(M U − Gᵀν)/∂q T(U)  friction, alpha.contacts (3)          (5)
    r5      −M + c_q ∂(M W − GᵀΛ)/∂q 𝒫             h ∂(M W − GᵀΛ)/∂q T(U)    M                                     (6)

and the derivatives of r2, r4, r6 likewise; what contacts of (6) feel of q: `alpha.contacts`, (4).

Source: docs/theory/nonsmooth_generalized_alpha.md, (1)-(4), (9)-(11).
"""

import math

from fem_mbs.jit import call2, entry, kernel, vector
from fem_mbs.solvers.alpha.contacts import (
    SMOOTH_MOTION,
    add_pressed,
    choose_closed,
    impulse_columns,
    position_tangents,
    velocity_couplings,
)
from fem_mbs.solvers.alpha.data import own_at
from fem_mbs.solvers.alpha.friction import friction_block
from fem_mbs.solvers.alpha.one_level import followed_matrix
from fem_mbs.solvers.alpha.rows import configure, jumped_rows, motion_rows, moved_rows, multipliers
from fem_mbs.solvers.contact.law_rows import move_multipliers, place_of, put_rows
from fem_mbs.solvers.contact.position import FARTHEST, NEAR
from fem_mbs.solvers.contact.velocity_rows import velocity_contact_tangents
from fem_mbs.solvers.stepping.kernels.arrays import largest
from fem_mbs.solvers.stepping.kernels.codes import NOT_CONVERGED, ROUND_OFF
from fem_mbs.solvers.stepping.kernels.data import run_at, system_at
from fem_mbs.solvers.stepping.kernels.friction_tasks import GO, JOINT_RATES, KEEP
from fem_mbs.solvers.stepping.kernels.newton import SAFE, STALLED, Problem, problem_at, shorten, turns_too_far
from fem_mbs.solvers.stepping.kernels.sizes import farthest_part, push_of, speed_of, step_size
from fem_mbs.system.assembly import dynamics, inertia
from fem_mbs.system.constraints import INCREMENTS, MIXED, POSITIONS, RATES, constraint_couplings, constraint_tangents
from fem_mbs.system.contacts import contacts
from fem_mbs.system.global_matrices import add_block, clear_matrix, expand_add, fill_diagonal, full_norm, reduce_vector
from fem_mbs.system.records import STACKED, VELOCITY, layouts_of

ALL = -1  # blocks


@kernel
def merit_of_block(s, o, block):
    """Square of the norm of the rows of a block; momenta, and constraint rows times k."""
    if block == 0:
        return o.dynamic_s**2 + (s.kv * o.row_s) ** 2
    if block == 1:
        return o.dynamic_p**2 + (s.kp * o.row_p / s.h) ** 2
    return s.dynamic**2 + (s.kv * s.row) ** 2 + (s.kv * s.row_T) ** 2


@kernel
def whole_merit(s, o):
    """Norm of the rows of all blocks; those that a method does not have are zero."""
    return math.sqrt(merit_of_block(s, o, 0) + merit_of_block(s, o, 1) + merit_of_block(s, o, 2))


@kernel
def work(a, f):
    """Sum of the products of an array (N, 6) and a full vector."""
    total = 0.0
    for i in range(a.shape[0]):
        for j in range(6):
            total += a[i, j] * f[6 * i + j]
    return total


@kernel
def too_far(d, s, o):
    """True if U leads to a root of gaps and constraints that is not the one of this step.

    The start of the step is allowed, so that the nearest root is not farther from q~ than it, and half of what friction
    jumps in the step: |U| ≤ |D| + ½ h |W| in the metric of the mass matrix. `contact.position.farthest` states why
    there are others. Where something is driven the start need not be allowed at the end: no bound.
    """
    if (
        d.nc == 0
        or d.n_signals > 0
        or farthest_part(s.U, s.size) <= FARTHEST * max(farthest_part(s.D, s.size), NEAR * s.scale_x)
    ):
        return False
    inertia(d, VELOCITY, s.x, s.R, s.V, s.D, s.force, False, 0.0, 0.0, s.T)
    reach = math.sqrt(work(s.D, s.force)) + 0.5 * s.h * math.sqrt(max(work(s.W, o.MW), 0.0))
    return work(s.U, o.MU) > (FARTHEST * reach) ** 2 + s.mean_mass * (NEAR * s.scale_x) ** 2


@entry("void(int64, int64)")
def coupled_residual(data, run):
    """Rows of all blocks at the present unknowns; ``s.merit`` is the norm of those that are solved."""
    d, s = system_at(data)[0], run_at(run)[0]
    o = own_at(s.own_at)[0]
    if turns_too_far(s, s.D) or turns_too_far(s, s.U):
        return
    configure(d, s, o)
    if d.nc > 0:
        choose_closed(d, s, o)
        contacts(d, s.x, s.R, s.x0, s.R0, s.V)
        if o.prediction == SMOOTH_MOTION:
            add_pressed(d, s)
    o.dynamic_p = o.row_p = s.dynamic = s.row = s.row_T = 0.0
    motion_rows(d, s, o)
    if o.levels > 2:
        jumped_rows(d, s, o)  # first: it may shift multipliers of friction
    if o.levels > 1:
        moved_rows(d, s, o)
    s.merit = whole_merit(s, o) if o.block == ALL else math.sqrt(merit_of_block(s, o, o.block))
    if s.first_residual != 0:
        o.first_merit = whole_merit(s, o)
    if too_far(d, s, o):
        s.merit, s.code = math.inf, NOT_CONVERGED


@kernel
def motion_solved(s, o, speed):
    """True if rows (1) are small enough; forces that are nothing but round-off raise the size of the forces."""
    change = s.rtol * s.h * s.F_s / s.mean_mass
    if o.levels == 1:
        size = s.scale_x
        small = o.c_q * o.row_s <= min(s.h * change, s.exact * size) + ROUND_OFF * size
    elif o.levels == 2:
        small = o.row_s <= min(change, s.exact * speed) + ROUND_OFF * speed
    else:
        small = o.row_s <= change + ROUND_OFF * speed
    if small and o.dynamic_s <= s.rtol * s.h * s.F_s + ROUND_OFF * s.kv * push_of(s):
        return True
    # stiff parts without load: their forces are the round-off of positions, and rows over c_q too, which no iteration
    # removes
    stalled = s.merit > STALLED * s.before and o.moved <= ROUND_OFF * s.scale_x
    if small and stalled:
        s.F_s = max(s.F_s, SAFE * o.dynamic_s / (s.rtol * s.h))
    return small and stalled


@kernel
def moved_solved(d, s, o):
    """True if rows (2) are small enough; gaps and constraints to s.exact whatever the tolerance."""
    size, least = s.scale_x, s.rtol * s.h * s.h * s.F_s / s.mean_mass
    tolerance = s.rtol * max(s.h * s.F_s, full_norm(d, o.MU, s.length) / s.h)
    good = o.row_p <= min(least, s.exact * size) + ROUND_OFF * size
    return good and o.dynamic_p <= tolerance + ROUND_OFF * s.kp * size / s.h


@kernel
def jumped_solved(d, s, o, speed):
    """True if rows (3) are small enough; gap and constraint rates to s.exact."""
    change = s.rtol * s.h * s.F_s / s.mean_mass
    good = s.row <= min(change, s.exact * speed) + ROUND_OFF * speed and s.row_T <= change + s.exact * speed
    tolerance = s.rtol * max(s.h * s.F_s, full_norm(d, o.MW, s.length))
    return good and s.dynamic <= tolerance + ROUND_OFF * s.kv * speed


@entry("void(int64, int64)")
def coupled_solved(data, run):
    """Return if the block that is solved has converged, and if all have."""
    d, s = system_at(data)[0], run_at(run)[0]
    o = own_at(s.own_at)[0]
    s.scale_x = max(s.scale_x, largest(s.xs))
    s.scale_v = max(s.scale_v, farthest_part(s.Vs, s.size), farthest_part(s.V, s.size))
    speed = speed_of(s)
    motion = motion_solved(s, o, speed)
    moved = o.levels < 2 or moved_solved(d, s, o)
    jumped = o.levels < 3 or jumped_solved(d, s, o, speed)
    s.tolerance = s.rtol * s.h * s.F_s + ROUND_OFF * s.kv * (push_of(s) + s.scale_x / s.h)
    o.complete = 1 if motion and moved and jumped else 0
    done = motion if o.block == 0 else (moved if o.block == 1 else jumped)
    s.solved = 1 if o.complete != 0 or (o.block != ALL and done) else 0


@kernel
def assemble_bodies(d, s, o, row, column, q, T):
    """Derivatives of inertia and forces in one block; q and T take its unknowns to rotations of q."""
    x, R, V, h, Ma = s.x, s.R, s.V, s.h, s.force  # scratch, as f: the residual has used them
    if row == 0:
        # v follows v~ where W is what is kept
        damped = column == 2 or (column == 0 and (o.levels < 3 or o.block != ALL))
        c_M, c_C, c_K = h * o.c_a if column == 0 else 0.0, h if damped else 0.0, h * q if column < 2 else 0.0
        dynamics(d, VELOCITY, x, R, V, s.Vd, Ma, s.fs, True, c_M, c_C, c_K, c_K, T, False)
    elif row == 2 or column < 2:
        c_M = 1.0 if row == column else (-1.0 if row == 2 and column == 0 else 0.0)
        inertia(d, VELOCITY, x, R, V, s.U if row == 1 else s.W, Ma, True, c_M, q if column < 2 else 0.0, T)


@kernel
def assemble_joints(d, s, o, row, column, q, T):
    """Derivatives of joints in one block."""
    x, R, k = s.x, s.R, s.h * s.ks if row == 0 else (s.kp if row == 1 else s.kv)
    V = s.Vs if row == 0 else s.V
    multipliers(d, s, row)
    if row != column:
        if column < 2:
            position = row == 1
            c_V, c_G = 0.0 if position else q, q if position else 0.0
            constraint_couplings(d, VELOCITY, x, R, V, s.phi, q, c_V, c_G, k, position, T)
        return
    rows = MIXED if o.levels == 1 else RATES
    if row == 1:
        rows = INCREMENTS if d.nc > 0 and o.levels != 1 else POSITIONS
    c_H, c_V = q if row < 2 else 0.0, q if row == 0 else 0.0
    constraint_tangents(d, VELOCITY, x, R, V, s.phi, c_H, c_V, k, 0.0, s.epsilon_rows * k, rows, T)


@kernel
def assemble(d, s, o, row, column):
    """One block, (4)-(6), in matrix VELOCITY, without the scaling of positions by h."""
    clear_matrix(d, VELOCITY)
    q, T = o.c_q if column == 0 else 1.0, o.TP if column == 0 else s.T
    if row == 1 and o.follows != 0:
        followed_matrix(d, s, column)
        return
    assemble_bodies(d, s, o, row, column, q, T)
    if d.m > 0:
        assemble_joints(d, s, o, row, column, q, T)
    if o.levels == 1 and d.nc > 0:
        position_tangents(d, s, 1.0, True, T)
    elif row == 0 and column == 0:
        fill_diagonal(d, VELOCITY, d.n + d.m, -s.h * s.ks)
    if s.friction != 0:
        friction_block(d, s, row, column)
    if d.nc == 0 or row == 0:
        return
    if o.held != 0:  # see `alpha.reduced`
        if row == column:
            fill_diagonal(d, VELOCITY, d.n + d.m, -(s.kp if row == 1 else s.kv))
    elif row == 2 and column == 2:
        velocity_contact_tangents(d, s, s.V, s.Vminus)
    elif row == 2:
        velocity_couplings(d, s, q, T)
    elif column == 2:
        impulse_columns(d, s)
    else:
        position_tangents(d, s, q, column == 1, T)


@entry("void(int64, int64)")
def coupled_matrix(data, run):
    """Matrix of the blocks that are solved, where the residual was evaluated last."""
    d, s = system_at(data)[0], run_at(run)[0]
    o = own_at(s.own_at)[0]
    if o.block != ALL:
        assemble(d, s, o, o.block, o.block)
        return
    clear_matrix(d, STACKED)
    for row in range(o.levels):
        for column in range(o.levels):
            if (row == 1 and column == 2) and d.nc == 0 and s.friction == 0 and o.follows == 0:
                continue
            assemble(d, s, o, row, column)
            scale = (1.0 / s.h if row == 1 else 1.0) * (s.h if column == 1 else 1.0)
            add_block(d, VELOCITY, row, column, scale)


@entry("void(int64, int64)")
def coupled_contacts(data, run):
    """Nothing: contacts are assembled with their blocks."""


@kernel
def place(o, block, size):
    """First unknown of a block in the linear system, −1: not in it."""
    if o.block == ALL:
        return block * size if block < o.levels else -1
    return 0 if o.block == block else -1


@kernel
def fill_right(d, s, o):
    """Minus the residual, in dx."""
    n, m, nc, size = d.n, d.m, d.nc, layouts_of(d)[VELOCITY].n
    dx = vector(s.dx_at, 3 * size)
    for block in range(3):
        at = place(o, block, size)
        if at < 0:
            continue
        for i in range(at, at + size):
            dx[i] = 0.0
        part = dx[at : at + size]
        reduce_vector(d, o.rs if block == 0 else (o.rp if block == 1 else s.r1), part)
        for i in range(n):
            part[i] = -part[i]
        for i in range(m):
            if block == 0:
                part[n + i] = s.h * s.ks * (s.g[i] / o.c_q if o.levels == 1 else o.rate_s[i])
            elif block == 1:
                part[n + i] = s.kp * s.g[i] / s.h if o.follows == 0 else 0.0
            else:
                part[n + i] = s.kv * s.rate[i]
        if block == 2:
            put_rows(d, VELOCITY, -s.kv, s.rows_c, part)
            continue
        for c in range(nc if block > 0 or o.levels == 1 else 0):
            part[place_of(d, VELOCITY, c, 0)] = -s.kp * o.rows_p[c] / (s.h if block == 1 else o.c_q)
    if s.friction != 0 and place(o, 2, size) >= 0:
        call2(s.friction_part, s.run_at, JOINT_RATES)


@entry("void(int64, int64)")
def coupled_right(data, run):
    """`fill_right` as a part of the problem."""
    s = run_at(run)[0]
    fill_right(system_at(data)[0], s, own_at(s.own_at)[0])


@entry("void(int64, int64)")
def coupled_keep(data, run):
    """Nothing of the step is taken yet; how far it goes."""
    d, s = system_at(data)[0], run_at(run)[0]
    o = own_at(s.own_at)[0]
    o.taken = 0.0
    if s.friction != 0:
        call2(s.friction_part, run, KEEP)
    if place(o, 0, 1) < 0:
        return
    dx = vector(s.dx_at, d.n)
    o.moved = o.c_q * step_size(d, s, dx)


@kernel
def take_part(d, s, o):
    """Unknowns go from the part ``o.taken`` of the Newton step to the part ``s.scale``."""
    n, m, nc, size, part = d.n, d.m, d.nc, layouts_of(d)[VELOCITY].n, s.scale - o.taken
    dx = vector(s.dx_at, 3 * size)
    at = place(o, 0, size)
    if at >= 0:
        first = dx[at : at + size]
        expand_add(d, part, first, s.Vs)
        expand_add(d, part * o.c_a, first, s.Vd)
        expand_add(d, part * o.c_q, first, s.D)
        if o.block == ALL and o.levels > 2:
            expand_add(d, -part, first, s.W)  # the unknown of the last block is v
        for i in range(m):
            s.lam[i] += part * first[n + i]
        for c in range(nc if o.levels == 1 else 0):
            s.cnu[c, 0] += part * o.c_q * first[place_of(d, VELOCITY, c, 0)]
    at = place(o, 1, size)
    if at >= 0:
        second = dx[at : at + size]
        expand_add(d, part * s.h, second, s.U)
        for i in range(m):
            s.nu[i] += part * s.h * second[n + i]
        for c in range(nc):
            s.cnu[c, 0] += part * s.h * second[place_of(d, VELOCITY, c, 0)]
    at = place(o, 2, size)
    if at >= 0:
        third = dx[at : at + size]
        expand_add(d, part, third, s.W)
        for i in range(m):
            s.Lam[i] += part * third[n + i]
        move_multipliers(d, VELOCITY, s.cLam, part, third, s.cLam)
        if s.friction != 0:
            call2(s.friction_part, s.run_at, GO)
    o.taken = s.scale


@entry("void(int64, int64)")
def coupled_move(data, run):
    """`take_part` as a part of the problem."""
    s = run_at(run)[0]
    take_part(system_at(data)[0], s, own_at(s.own_at)[0])


@entry("void(int64, int64)")
def coupled_search(problem, run):
    """`newton.shorten` with contacts and with forces that change abruptly."""
    s = run_at(run)[0]
    shorten(problem_at(problem)[0], s, system_at(s.data_at)[0].nc > 0 or s.abrupt != 0)


PROBLEM = Problem(
    number=STACKED,
    residual=coupled_residual,
    solved=coupled_solved,
    matrix=coupled_matrix,
    contacts=coupled_contacts,
    right=coupled_right,
    keep=coupled_keep,
    move=coupled_move,
    search=coupled_search,
)
BLOCK = PROBLEM._replace(number=VELOCITY)
