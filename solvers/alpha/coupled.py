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

from fem_mbs.jit import entry, integers, kernel, local_matrix, local_vector, vector
from fem_mbs.rotations import multiply_T, quaternion_exp, quaternion_to_matrix
from fem_mbs.solvers.alpha.contacts import (
    choose_closed,
    friction_columns,
    position_rows,
    position_tangents,
    velocity_couplings,
)
from fem_mbs.solvers.alpha.data import own_at
from fem_mbs.solvers.contact.position import FARTHEST, NEAR
from fem_mbs.solvers.contact.rows import velocity_contact_residual, velocity_contact_tangents
from fem_mbs.solvers.stepping.arrays import largest, largest_turn, norm
from fem_mbs.solvers.stepping.codes import LARGE_ROTATION, LARGEST_TURN, NOT_CONVERGED, ROUND_OFF
from fem_mbs.solvers.stepping.data import run_at, system_at
from fem_mbs.solvers.stepping.newton import Problem, problem_at, shorten
from fem_mbs.system.assembly import (
    STACKED,
    VELOCITY,
    add_block,
    add_constraint_forces,
    advance_configuration,
    clear_matrix,
    constraint_couplings,
    constraint_rates,
    constraint_tangents,
    constraints,
    dynamics,
    expand_add,
    fill_diagonal,
    full_norm,
    inertia,
    layouts_of,
    reduce_vector,
    zero,
)
from fem_mbs.system.contacts import contacts

ALL = -1  # blocks
STALLED = 0.5  # of the residual before: one that falls less is round-off, if its step was
SAFE = 4.0  # times a residual that round-off leaves: what the other rows, which meet the same, may leave


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
def multipliers(d, s, o, block):
    """Impulses of joints in the rows of a block, in s.phi: h λ~, ν or Λ."""
    lam, nu, Lam, phi = s.lam, s.nu, s.Lam, s.phi
    for i in range(d.m):
        phi[i] = s.h * s.ks * lam[i] if block == 0 else (s.kp * nu[i] if block == 1 else s.kv * Lam[i])


@kernel
def motion_rows(d, s, o):
    """Rows (1), and the size of the forces."""
    N, m, h, rs = d.n_nodes, d.m, s.h, o.rs
    single = dynamics(d, VELOCITY, s.x, s.R, s.V, s.Vd, s.Ma, s.f, False, 0.0, 0.0, 0.0, 0.0, s.T, False)
    zero(s.Gl_at, 6 * N)
    o.row_s = 0.0
    if m > 0:
        constraints(d, s.x, s.R, s.Vs, s.g, o.rate_s)
        multipliers(d, s, o, 0)
        add_constraint_forces(d, 1.0 / h, s.phi, s.Gl)
        o.row_s = norm(s.g, m) / o.c_q if o.levels == 1 else norm(o.rate_s, m)
    for i in range(6 * N):
        rs[i] = h * (s.Ma[i] - s.f[i] - s.Gl[i])
    forces = max(full_norm(d, s.f, s.length), math.sqrt(single))
    s.F_s = max(full_norm(d, s.Ma, s.length) + forces + full_norm(d, s.Gl, s.length), s.reference_force)
    o.dynamic_s = full_norm(d, rs, s.length)


@kernel
def moved_rows(d, s, o):
    """Rows (2)."""
    N, m, rp = d.n_nodes, d.m, o.rp
    inertia(d, VELOCITY, s.x, s.R, s.V, s.U, o.MU, False, 0.0, 0.0, s.T)
    for i in range(6 * N):
        rp[i] = o.MU[i]
    total = 0.0
    if m > 0:
        multipliers(d, s, o, 1)
        add_constraint_forces(d, -1.0, s.phi, rp)
        total = norm(s.g, m) ** 2
    if d.nc > 0:
        position_rows(d, s, rp, o.rows_p)
        total += norm(o.rows_p, d.nc) ** 2
    for i in range(6 * N):
        rp[i] /= s.h
    o.dynamic_p, o.row_p = full_norm(d, rp, s.length), math.sqrt(total)


@kernel
def jumped_rows(d, s, o):
    """Rows (3)."""
    N, m, r1 = d.n_nodes, d.m, s.r1
    inertia(d, VELOCITY, s.x, s.R, s.V, s.W, o.MW, False, 0.0, 0.0, s.T)
    for i in range(6 * N):
        r1[i] = o.MW[i]
    total, friction = 0.0, 0.0
    if m > 0:
        multipliers(d, s, o, 2)
        add_constraint_forces(d, -1.0, s.phi, r1)
        constraint_rates(d, s.W, s.rate)
        for i in range(m):
            s.rate[i] += o.rate_s[i]
        total = norm(s.rate, m) ** 2
    if d.nc > 0:
        velocity_contact_residual(d, s, s.V, s.Vminus, r1, s.rows_c, s.rows_chi)
        for c in range(d.nc):
            total += s.rows_c[c, 0] ** 2
            friction += s.rows_c[c, 1] ** 2 + s.rows_c[c, 2] ** 2
            for i in range(3):
                friction += s.rows_chi[c, i] ** 2
    s.dynamic, s.row, s.row_T = full_norm(d, r1, s.length), math.sqrt(total), math.sqrt(friction)


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
    """Whether U leads to a root of gaps and constraints that is not the one of this step.

    The start of the step is allowed, so that the nearest root is not farther from q~ than it, and half of what friction
    jumps in the step: |U| ≤ |D| + ½ h |W| in the metric of the mass matrix. `contact.position.farthest` tells why there
    are others. Where something is driven the start need not be allowed at the end: no bound.
    """
    if d.nc == 0 or d.n_signals > 0 or largest(s.U) <= FARTHEST * max(largest(s.D), NEAR * (1.0 + s.scale_x)):
        return False
    inertia(d, VELOCITY, s.x, s.R, s.V, s.D, s.force, False, 0.0, 0.0, s.T)
    reach = math.sqrt(work(s.D, s.force)) + 0.5 * s.h * math.sqrt(max(work(s.W, o.MW), 0.0))
    return work(s.U, o.MU) > (FARTHEST * reach) ** 2 + s.mean_mass * (NEAR * (1.0 + s.scale_x)) ** 2


@entry("void(int64, int64)")
def coupled_residual(data, run):
    """Rows of all blocks at the present unknowns; ``s.merit`` is the norm of those that are solved."""
    d, s = system_at(data)[0], run_at(run)[0]
    o = own_at(s.own_at)[0]
    if largest_turn(s.D) > LARGEST_TURN or largest_turn(s.U) > LARGEST_TURN:
        s.merit, s.code = math.inf, LARGE_ROTATION
        return
    configure(d, s, o)
    if d.nc > 0:
        choose_closed(d, s)
        contacts(d, s.x, s.R, s.x0, s.R0, s.V)
    o.dynamic_p = o.row_p = s.dynamic = s.row = s.row_T = 0.0
    motion_rows(d, s, o)
    if o.levels > 2:
        jumped_rows(d, s, o)  # first: it may shift multipliers of friction
    if o.levels > 1:
        moved_rows(d, s, o)
    s.merit = whole_merit(s, o) if o.block == ALL else math.sqrt(merit_of_block(s, o, o.block))
    if too_far(d, s, o):
        s.merit, s.code = math.inf, NOT_CONVERGED


@kernel
def motion_solved(s, o, speed):
    """Whether rows (1) are small enough; forces that are nothing but round-off raise the size of the forces."""
    change = s.rtol * s.h * s.F_s / s.mean_mass
    if o.levels == 1:
        size = 1.0 + s.scale_x
        small = o.c_q * o.row_s <= min(s.h * change, s.exact * size) + ROUND_OFF * size
    elif o.levels == 2:
        small = o.row_s <= min(change, s.exact * speed) + ROUND_OFF * speed
    else:
        small = o.row_s <= change + ROUND_OFF * speed
    if small and o.dynamic_s <= s.rtol * s.h * s.F_s + ROUND_OFF * s.kv * speed:
        return True
    # stiff parts without load: their forces are the round-off of positions, which no iteration removes
    stalled = o.dynamic_s > STALLED * s.before and o.moved <= ROUND_OFF * (1.0 + s.scale_x)
    if small and stalled:
        s.F_s = max(s.F_s, SAFE * o.dynamic_s / (s.rtol * s.h))
    return small and stalled


@kernel
def moved_solved(d, s, o):
    """Whether rows (2) are small enough; gaps and constraints to s.exact whatever the tolerance."""
    size, least = 1.0 + s.scale_x, s.rtol * s.h * s.h * s.F_s / s.mean_mass
    tolerance = s.rtol * max(s.h * s.F_s, full_norm(d, o.MU, s.length) / s.h)
    good = o.row_p <= min(least, s.exact * size) + ROUND_OFF * size
    return good and o.dynamic_p <= tolerance + ROUND_OFF * s.kp * size / s.h


@kernel
def jumped_solved(d, s, o, speed):
    """Whether rows (3) are small enough; gap and constraint rates to s.exact."""
    change = s.rtol * s.h * s.F_s / s.mean_mass
    good = s.row <= min(change, s.exact * speed) + ROUND_OFF * speed and s.row_T <= change + s.exact * speed
    tolerance = s.rtol * max(s.h * s.F_s, full_norm(d, o.MW, s.length))
    return good and s.dynamic <= tolerance + ROUND_OFF * s.kv * speed


@entry("void(int64, int64)")
def coupled_solved(data, run):
    """Whether the block that is solved is, and whether all are."""
    d, s = system_at(data)[0], run_at(run)[0]
    o = own_at(s.own_at)[0]
    s.scale_x, s.scale_v = max(s.scale_x, largest(s.xs)), max(s.scale_v, largest(s.Vs), largest(s.V))
    speed = 1.0 + s.scale_v
    motion = motion_solved(s, o, speed)
    moved = o.levels < 2 or moved_solved(d, s, o)
    jumped = o.levels < 3 or jumped_solved(d, s, o, speed)
    s.tolerance = s.rtol * s.h * s.F_s + ROUND_OFF * s.kv * (speed + (1.0 + s.scale_x) / s.h)
    o.complete = 1 if motion and moved and jumped else 0
    done = motion if o.block == 0 else (moved if o.block == 1 else jumped)
    s.solved = 1 if o.complete != 0 or (o.block != ALL and done) else 0


@kernel
def motion_block(d, s, o, column):
    """Derivatives of rows (1) in matrix VELOCITY, (4)."""
    x, R, V, Vd, T, h = s.x, s.R, s.V, s.Vd, s.T, s.h
    A, f, kh = s.force, s.fs, s.h * s.ks  # scratch here: the residual has used them
    clear_matrix(d, VELOCITY)
    if column == 2:
        dynamics(d, VELOCITY, x, R, V, Vd, A, f, True, 0.0, h, 0.0, 0.0, T, False)
        return
    multipliers(d, s, o, 0)
    if column == 1:
        dynamics(d, VELOCITY, x, R, V, Vd, A, f, True, 0.0, 0.0, h, h, T, False)
        constraint_couplings(d, VELOCITY, x, R, s.Vs, s.phi, 1.0, 1.0, 0.0, kh, T)
        return
    # v follows v~ where W is what is kept
    c_C, c_V = h if o.levels < 3 or o.block != ALL else 0.0, 0.0 if o.levels == 1 else o.c_q
    dynamics(d, VELOCITY, x, R, V, Vd, A, f, True, h * o.c_a, c_C, h * o.c_q, h * o.c_q, o.TP, False)
    if d.m > 0:
        shift = s.epsilon_rows * kh
        constraint_tangents(d, VELOCITY, x, R, s.Vs, s.phi, o.c_q, c_V, kh, 0.0, shift, o.levels == 1, o.TP)
    fill_diagonal(d, VELOCITY, d.n + d.m, -kh)


@kernel
def moved_block(d, s, o, column):
    """Derivatives of rows (2) times h in matrix VELOCITY, (5)."""
    x, R, V, k = s.x, s.R, s.V, s.kp
    clear_matrix(d, VELOCITY)
    multipliers(d, s, o, 1)
    if column == 2:
        friction_columns(d, s)
    elif column == 1:
        inertia(d, VELOCITY, x, R, V, s.U, s.force, True, 1.0, 1.0, s.T)
        constraint_tangents(d, VELOCITY, x, R, V, s.phi, 1.0, 0.0, k, 0.0, s.epsilon_rows * k, True, s.T)
        position_tangents(d, s, 1.0, True, s.T)
    else:
        inertia(d, VELOCITY, x, R, V, s.U, s.force, True, 0.0, o.c_q, o.TP)
        constraint_couplings(d, VELOCITY, x, R, V, s.phi, o.c_q, 0.0, o.c_q, k, o.TP)
        position_tangents(d, s, o.c_q, False, o.TP)


@kernel
def jumped_block(d, s, o, column):
    """Derivatives of rows (3) in matrix VELOCITY, (6)."""
    x, R, V, k = s.x, s.R, s.V, s.kv
    clear_matrix(d, VELOCITY)
    multipliers(d, s, o, 2)
    if column == 2:
        inertia(d, VELOCITY, x, R, V, s.W, s.force, True, 1.0, 0.0, s.T)
        constraint_tangents(d, VELOCITY, x, R, V, s.phi, 0.0, 0.0, k, 0.0, s.epsilon_rows * k, False, s.T)
        velocity_contact_tangents(d, s, V, s.Vminus)
    else:
        factor = 1.0 if column == 1 else o.c_q
        T = s.T if column == 1 else o.TP
        inertia(d, VELOCITY, x, R, V, s.W, s.force, True, -1.0 if column == 0 else 0.0, factor, T)
        constraint_couplings(d, VELOCITY, x, R, V, s.phi, factor, factor, 0.0, k, T)
        velocity_couplings(d, s, factor, T)


@kernel
def assemble(d, s, o, row, column):
    """One block in matrix VELOCITY, in the units of its rows and unknowns without the scaling by h."""
    if row == 0:
        motion_block(d, s, o, column)
    elif row == 1:
        moved_block(d, s, o, column)
    else:
        jumped_block(d, s, o, column)


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
            if (row == 1 and column == 2) and d.nc == 0:
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


@entry("void(int64, int64)")
def coupled_right(data, run):
    """Minus the residual, in dx."""
    d, s = system_at(data)[0], run_at(run)[0]
    o = own_at(s.own_at)[0]
    n, m, nc, size = d.n, d.m, d.nc, layouts_of(d)[VELOCITY].n
    dx, roll = vector(s.dx_at, 3 * size), integers(d.roll_index_at, nc)
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
                part[n + i] = s.kp * s.g[i] / s.h
            else:
                part[n + i] = s.kv * s.rate[i]
        for c in range(nc if block > 0 else 0):
            if block == 1:
                part[n + m + 3 * c] = -s.kp * o.rows_p[c] / s.h
                continue
            for i in range(3):
                part[n + m + 3 * c + i] = -s.kv * s.rows_c[c, i]
                if roll[c] >= 0:
                    part[n + m + 3 * nc + 3 * roll[c] + i] = -s.kv * s.rows_chi[c, i]


@entry("void(int64, int64)")
def coupled_keep(data, run):
    """Nothing of the step is taken yet; how far it goes."""
    d, s = system_at(data)[0], run_at(run)[0]
    o = own_at(s.own_at)[0]
    o.taken = 0.0
    if place(o, 0, 1) < 0:
        return
    dx = vector(s.dx_at, d.n)
    o.moved = 0.0
    for i in range(d.n):
        o.moved = max(o.moved, o.c_q * abs(dx[i]))


@entry("void(int64, int64)")
def coupled_move(data, run):
    """Unknowns go from the part ``o.taken`` of the Newton step to the part ``s.scale``."""
    d, s = system_at(data)[0], run_at(run)[0]
    o = own_at(s.own_at)[0]
    n, m, nc, size, part = d.n, d.m, d.nc, layouts_of(d)[VELOCITY].n, s.scale - o.taken
    dx, roll = vector(s.dx_at, 3 * size), integers(d.roll_index_at, nc)
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
    at = place(o, 1, size)
    if at >= 0:
        second = dx[at : at + size]
        expand_add(d, part * s.h, second, s.U)
        for i in range(m):
            s.nu[i] += part * s.h * second[n + i]
        for c in range(nc):
            s.cnu[c, 0] += part * s.h * second[n + m + 3 * c]
    at = place(o, 2, size)
    if at >= 0:
        third = dx[at : at + size]
        expand_add(d, part, third, s.W)
        for i in range(m):
            s.Lam[i] += part * third[n + i]
        for c in range(nc):
            for i in range(3):
                s.cLam[c, i] += part * third[n + m + 3 * c + i]
                if roll[c] >= 0:
                    s.cchi[c, i] += part * third[n + m + 3 * nc + 3 * roll[c] + i]
    o.taken = s.scale


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
