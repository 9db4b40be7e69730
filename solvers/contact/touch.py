"""The speed at the touch of contacts that were open as the step began, by the work of forces on the rest of the way.

The smooth motion ends at q~ with the kinetic energy that it has there; the position correction moves the bodies back by
U, to where they touch. Forces that work on the path back change the energy by f·U, and nothing else does:

    γ_t² = γ~² + 2 a G_N U ,   γ~ = G_N P v~ ,   a = G_N a_q ,                                                     (1)
    ( M + h C + ½ h² K ) a_q = f + Gᵀ λ ,   G a_q = 0

P v~ are the velocities nearest to v~ that joints allow at q: on the path back they turn them. Gyroscopic forces, joints
that turn a velocity, and normals that turn with their body do no work. They change γ too, in a fast body much more than
its weight does; counted in γ_t each impact would give or take energy of their order. f are the mean forces of both
configurations at rest, and those of dampers; with C stiff ones hold what they have brought to rest. One impulse Λ that
reverses γ_t then keeps the energy exactly, with the multiplier ν of the position correction (U = M⁻¹ G_Nᵀ ν):

    ½ Λ ( γ⁺ + γ~ )  =  ν a                                                                                        (2)

Where constraints move with time drivers do work as well, and no energy is there to be kept: a = (γ~ − γ_n)/h, P = 1.

Several contacts that touch at different times of the step keep it but for terms of the order of ν a: the restitution is
matched (`contact.restitution`, `match_touches`).

Source: worked out here (docs/theory/sweep.md, The speed at the touch).

    symbol   code       meaning
    a        s.bias     per contact; this law has no other bias. 0 where the correction moves nothing
    P v~     s.Vsminus  before the first impact problem
"""

from fem_mbs.jit import kernel, vector
from fem_mbs.solvers.contact.approach import touches_within
from fem_mbs.solvers.stepping.kernels.codes import AT_TOUCH, STRUCK, STRUCK_WHILE_DRIVEN
from fem_mbs.system.assembly import dynamic_tangents, dynamics
from fem_mbs.system.constraints import RATES, constraint_rates, constraint_tangents
from fem_mbs.system.contacts import contact_groups, contacts_of, gradient_times, laws_of
from fem_mbs.system.global_matrices import (
    clear_matrix,
    expand_add,
    factorise,
    fill_diagonal,
    reduce_vector,
    solve_in_place,
)
from fem_mbs.system.records import SMOOTH, groups_of, layouts_of, zero


@kernel
def some_touch(d, s):
    """True if a contact with restitution closes within the step; ``s.bias`` of all contacts is set to zero."""
    found = False
    for g in contact_groups(d):
        contact = contacts_of(g)
        law = laws_of(g)
        for e in range(g.n):
            c = g.first_contact + e
            s.bias[c] = 0.0
            if s.active[c] != 0 and law[e].restitution != 0.0 and touches_within(g, e, s):
                found = found or gradient_times(g, e, contact.G_N[e], s.Vs) < -s.tol_v
    return found


@kernel
def driven(d, s):
    """True if constraints move with time, ∂g/∂t of ``s.g``."""
    for i in range(d.m):
        if abs(s.g[i]) > s.tol_v:
            return True
    return False


@kernel
def damps(d):
    """True if an element has forces that change with velocities."""
    groups = groups_of(d)
    for k in range(d.n_groups):
        if groups[k].force != 0 and groups[k].viscous != 0:
            return True
    return False


@kernel
def working_forces(d, s, a_q):
    """f of (1) in ``s.force``; ``a_q`` is an array (N, 6) to work with, and zero in the end."""
    Ma, f, force, Vs = s.Ma, s.f, s.force, s.Vs
    zero(s.trial_at, 6 * d.n_nodes)
    dynamics(d, SMOOTH, s.xs, s.Rs, a_q, Vs, Ma, force, False, 0.0, 0.0, 0.0, 0.0, s.R, False)
    dynamics(d, SMOOTH, s.x, s.R, a_q, Vs, Ma, f, False, 0.0, 0.0, 0.0, 0.0, s.R, False)
    for i in range(6 * d.n_nodes):
        force[i] = 0.5 * (force[i] + f[i])
    if damps(d):
        # half the difference of the forces at v and −v: what is even in them, gyroscopic forces above all, does no work
        for sign in (1.0, -1.0):
            for i in range(d.n_nodes):
                for j in range(6):
                    a_q[i, j] = sign * Vs[i, j]
            dynamics(d, SMOOTH, s.x, s.R, a_q, Vs, Ma, f, False, 0.0, 0.0, 0.0, 0.0, s.R, False)
            for i in range(6 * d.n_nodes):
                force[i] += 0.5 * sign * f[i]
        zero(s.trial_at, 6 * d.n_nodes)


@kernel
def allow(d, s, dx):
    """Make ``s.Vsminus``, which is v~, P v~ with the factors of matrix `SMOOTH`; ∂g/∂t is in ``s.g``."""
    if d.m == 0:
        return
    constraint_rates(d, s.Vsminus, s.rate)
    for i in range(d.m):
        dx[d.n + i] = s.kv * (s.rate[i] + s.g[i])
    solve_in_place(d, SMOOTH, s.dx_at)
    expand_add(d, 1.0, dx, s.Vsminus)


@kernel
def set_accelerations(d, s, a_q, mean):
    """Set ``s.bias`` of the contacts that close within the step to a: that of ``a_q``, or the mean of the step."""
    for g in contact_groups(d):
        contact = contacts_of(g)
        for e in range(g.n):
            if not touches_within(g, e, s):
                continue
            if mean:
                change = gradient_times(g, e, contact.G_N[e], s.Vs) - gradient_times(g, e, contact.G_N_start[e], s.V0)
                s.bias[g.first_contact + e] = change / s.h
            else:
                s.bias[g.first_contact + e] = gradient_times(g, e, contact.G_N[e], a_q)


@kernel
def accelerate(d, s):
    """a of (1) for the contacts that close within the step, in ``s.bias``; what ``s.touch`` is in this step.

    To be called before the first impact problem.
    """
    if not some_touch(d, s):
        return AT_TOUCH
    if driven(d, s):
        set_accelerations(d, s, s.trial, True)
        return STRUCK_WHILE_DRIVEN
    if s.unmoved != 0:
        return STRUCK
    n, m, a_q, T = d.n, d.m, s.trial, s.T
    dx = vector(s.dx_at, layouts_of(d)[SMOOTH].n)
    zero(s.dx_at, dx.shape[0])
    working_forces(d, s, a_q)
    for i in range(d.n_nodes):
        for j in range(3):
            for k in range(3):
                T[i, j, k] = 1.0 if j == k else 0.0
    clear_matrix(d, SMOOTH)
    dynamic_tangents(d, SMOOTH, s.x, s.R, a_q, a_q, 1.0, s.h, s.position_factor * s.h * s.h, 0.0, T)
    if m > 0:
        constraint_tangents(d, SMOOTH, s.x, s.R, s.Vs, s.phi, 0.0, 0.0, s.kv, 0.0, s.epsilon * s.kv, RATES, s.R)
    fill_diagonal(d, SMOOTH, n + m, -s.kv)
    s.epoch += 1
    s.lent_c = 0.0
    if not factorise(d, SMOOTH):
        return STRUCK
    allow(d, s, dx)
    zero(s.dx_at, dx.shape[0])
    reduce_vector(d, s.force, dx)
    solve_in_place(d, SMOOTH, s.dx_at)
    expand_add(d, 1.0, dx, a_q)
    set_accelerations(d, s, a_q, False)
    return STRUCK
