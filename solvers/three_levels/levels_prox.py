"""Fixed-point iteration of the method with laws at three levels, where Newton's has no regular matrix or fails.

With the motion y and the multipliers of contacts z, one iteration is

    z' = p(y, z) ,   J δy = −R(y) + [G_Nᵀ G_Fᵀ] (z' − z) ,   y ← y + δy ,   z ← z'                                   (1)

J is the derivative of dynamic and constraint rows R alone, regular however the contacts depend on each other. It is
that of the coupled problem with rows −k δz for those of contacts, and is kept for some iterations. p is

    κ̂ ← max(κ̂ − r g_N, 0)        P_N ← max(P_N − r ξ_N, 0)        λ_N ← max(λ_N − r g̈_N, 0)                       (2)
    P_F ← ball(P_F − r ξ_F, μ P_N)   λ_F ← ball(λ_F − r γ̇_F, μ λ_N), or what it is where the contact slides          (3)

with the sets and exceptions of `three_levels.levels_contacts` and `three_levels.levels_friction`, radii from the new
normal parts. r of the rows of a cone is ω over the largest of their absolute row sums in the Delassus matrix G M⁻¹ Gᵀ,
joints eliminated: the frictionless iteration then contracts for ω < 2, however many contacts share a load. The columns
of that matrix are solutions with J.

When the branches have settled Newton's iteration takes over from there: it is done in a few steps if its matrix is
regular. If it fails the fixed-point iteration continues from where it was, to the same tolerances.

Source: Capobianco2021, (144)-(146); docs/theory/nonsmooth_generalized_alpha_friction.md, (11).
"""

import math

from fem_mbs.jit import call2, entry, kernel, local_vector, vector
from fem_mbs.solvers.alpha.data import own_at
from fem_mbs.solvers.alpha.motion import keep_unknowns
from fem_mbs.solvers.contact.approach import reflected
from fem_mbs.solvers.contact.law_rows import CONES, SIX, cone_of, cone_with, member, place_of, velocity_of
from fem_mbs.solvers.stepping.kernels.codes import OK
from fem_mbs.solvers.stepping.kernels.data import run_at, system_at
from fem_mbs.solvers.stepping.kernels.newton import ask, problem_at
from fem_mbs.solvers.three_levels.levels_contacts import acts
from fem_mbs.solvers.three_levels.levels_friction import (
    beyond,
    rate_of,
    reflected_slide,
)
from fem_mbs.solvers.three_levels.levels_scheme import start
from fem_mbs.system.contacts import contact_groups, contacts_of, gradient_times
from fem_mbs.system.global_matrices import expand_add, factorise, solve_in_place
from fem_mbs.system.records import STACKED, VELOCITY, layouts_of, zero

MOST = 600  # iterations
TOGETHER = 20  # iterations with one matrix; then Newton's is tried
POLISH = 10  # iterations of Newton's that are tried
OMEGA = 1.5  # ω of the rows of a cone together: below 2


@kernel
def add_row_sums(d, s, o, size):
    """Add what a unit multiplier has changed of all velocities that contacts oppose, in |…|, to ``relax``; the motion
    is in the last block of dx.
    """
    dx = vector(s.dx_at, 3 * size)
    zero(s.trial_at, 6 * d.n_nodes)
    expand_add(d, 1.0 / s.kv, dx[2 * size : 3 * size], s.trial)
    for g in contact_groups(d):
        contact = contacts_of(g)
        for e in range(g.n):
            c = g.first_contact + e
            o.relax[c, 0] += abs(gradient_times(g, e, contact.G_N[e], s.trial))
            for cone in range(CONES):
                n, mu = cone_of(g, e, s, cone)
                for i in range(n if mu > 0.0 else 0):
                    m = member(cone, i)
                    o.relax[c, m] += abs(velocity_of(g, e, s, m, s.trial))


@kernel
def find_relaxation(d, s, o):
    """r of the multipliers of all contacts for ω = 1, with the matrix that is factorised."""
    size = layouts_of(d)[VELOCITY].n
    dx = vector(s.dx_at, 3 * size)
    zero(o.relax_at, SIX * d.nc)
    for g in contact_groups(d):
        for e in range(g.n):
            c = g.first_contact + e
            for m in range(SIX):
                at = place_of(d, VELOCITY, c, m)
                if at < 0 or (m > 0 and not cone_of(g, e, s, cone_with(g, m))[1] > 0.0):
                    continue
                for i in range(3 * size):
                    dx[i] = 0.0
                dx[2 * size + at] = -s.kv
                solve_in_place(d, STACKED, s.dx_at)
                add_row_sums(d, s, o, size)
    for g in contact_groups(d):
        for e in range(g.n):
            c = g.first_contact + e
            o.relax[c, 0] = 1.0 / o.relax[c, 0] if o.relax[c, 0] > 0.0 else s.mean_mass
            for cone in range(CONES):
                n, _ = cone_of(g, e, s, cone)
                most = 0.0
                for i in range(n):
                    most = max(most, o.relax[c, member(cone, i)])
                for i in range(n):
                    o.relax[c, member(cone, i)] = 1.0 / most if most > 0.0 else s.mean_mass


@kernel
def into_ball(value, n, radius):
    """Project value (n,) to the ball; whether it was inside."""
    size = 0.0
    for i in range(n):
        size += value[i] ** 2
    size = math.sqrt(size)
    if size <= radius:
        return True
    for i in range(n):
        value[i] *= radius / size
    return False


@kernel
def project_cone(g, e, d, s, o, cone, P, force):
    """(3) for one cone: new P and λ (6,), whose normal parts are new already."""
    c = g.first_contact + e
    n, mu = cone_of(g, e, s, cone)
    new, gamma, push, after = local_vector(3), local_vector(3), local_vector(3), local_vector(3)
    size = 0.0
    for i in range(n):
        m = member(cone, i)
        gamma[i] = velocity_of(g, e, s, m, s.V)
        push[i] = OMEGA * o.relax[c, m] * (gamma[i] + reflected_slide(g, e, s, cone, m))
        new[i] = P[m] - push[i]
        size += gamma[i] ** 2
    sticks = into_ball(new, n, mu * P[0])
    size = math.sqrt(size)
    for i in range(n):
        P[member(cone, i)] = new[i]
        m = member(cone, i)
        new[i] = force[m] - OMEGA * o.relax[c, m] * rate_of(g, e, s, o, m)
    into_ball(new, n, mu * force[0])
    for i in range(n):
        m, along = member(cone, i), gamma[i] / size if size > 0.0 else 0.0
        force[m] = new[i] if sticks else -mu * force[0] * along
        # where Λ_F, not P_F, opposes sliding: P is the rest of the impulse of the step
        after[i] = smooth_of(s, o, c, m, force[m]) - mu * (P[0] - smooth_of(s, o, c, 0, force[0])) * along
    if sticks or o.forces == 0 or o.lasting[c, cone] == 0 or not beyond(1.0, push, after, n) > mu * P[0]:
        return
    for i in range(n):
        P[member(cone, i)] = after[i]


@kernel
def smooth_of(s, o, c, m, force):
    """Impulse [N s] of a force over the step, memory and λ at its end."""
    return s.h * ((1.0 - o.gamma) * o.bar0[c, m] + o.gamma * o.bar[c, m]) + force / o.c_a


@kernel
def project(g, e, d, s, o, P, force):
    """(2) and (3) for one contact: fill P and λ (6,), return κ̂."""
    contact = contacts_of(g)
    c = g.first_contact + e
    for m in range(SIX):
        force[m] = s.ks * o.lam_c[c, m]
        P[m] = s.kv * s.cLam[c, m] + smooth_of(s, o, c, m, force[m])
    r, bounce = OMEGA * o.relax[c, 0], reflected(g, e, d, s, s.Vminus)
    gap, jump = contact.gap[e], gradient_times(g, e, contact.G_N[e], s.V) + bounce
    fall = gradient_times(g, e, contact.G_N[e], s.Vd) + o.turned[c, 0]
    kappa = max(positions_of(s, o, c, force[0]) + s.kp * s.cnu[c, 0] - r * gap, 0.0)
    closed = kappa > 0.0 or acts(g, e, s, o, gap)
    P[0] = max(P[0] - r * jump, 0.0) if closed else 0.0
    stays = P[0] > 0.0 and o.forces != 0 and -bounce <= s.tol_v
    force[0] = max(force[0] - r * fall, 0.0) if stays else 0.0
    for cone in range(CONES):
        project_cone(g, e, d, s, o, cone, P, force)
    return kappa


@kernel
def positions_of(s, o, c, force):
    """The part of forces in κ̂ [kg m]."""
    return s.h * s.h * ((0.5 - o.beta) * o.bar0[c, 0] + o.beta * o.bar[c, 0]) + o.c_q / o.c_a * force


@kernel
def project_all(d, s, o):
    """Right-hand sides of the rows of contacts in dx: what (2) and (3) change."""
    size = layouts_of(d)[VELOCITY].n
    dx, P, force = vector(s.dx_at, 3 * size), local_vector(SIX), local_vector(SIX)
    for g in contact_groups(d):
        for e in range(g.n):
            c = g.first_contact + e
            kappa = project(g, e, d, s, o, P, force)
            for m in range(SIX):
                at = place_of(d, VELOCITY, c, m)
                if at < 0:
                    continue
                dx[at] = -s.h * s.ks * (force[m] / s.ks - o.lam_c[c, m])
                change = (kappa - positions_of(s, o, c, force[0])) / s.kp - s.cnu[c, 0] if m == 0 else 0.0
                dx[size + at] = -s.kp * change / s.h
                impulse = (P[m] - smooth_of(s, o, c, m, force[m])) / s.kv
                dx[2 * size + at] = -s.kv * (impulse - s.cLam[c, m])


@kernel
def prepare(d, s, o, p, first):
    """Matrix J, factorised, and for the first time the relaxation; whether J is regular."""
    o.held = 1
    call2(p.residual, s.data_at, s.run_at)
    call2(p.matrix, s.data_at, s.run_at)
    o.held = 0
    if not factorise(d, STACKED):
        return False
    if first:
        find_relaxation(d, s, o)
    return True


@kernel
def iterate(d, s, o, p):
    """TOGETHER iterations (1); whether they have solved the problem."""
    for _ in range(TOGETHER):
        ask(p, s)
        if s.solved != 0 or not math.isfinite(s.merit):
            return s.solved != 0
        call2(p.right, s.data_at, s.run_at)
        project_all(d, s, o)
        solve_in_place(d, STACKED, s.dx_at)
        o.taken, s.scale = 0.0, 1.0
        s.before = s.merit
        call2(p.move, s.data_at, s.run_at)
        call2(p.residual, s.data_at, s.run_at)
    return False


@kernel
def polish(s, o):
    """Newton's iteration from here; back to here where it fails."""
    keep_unknowns(s, o, False)
    s.most, s.solving = POLISH, s.velocity_problem
    call2(s.newton_part, s.velocity_problem, s.run_at)
    if s.code == OK:
        return True
    keep_unknowns(s, o, True)
    return False


@entry("void(int64, int64)")
def fixed_point(data, run):
    """Solve the problem of a step by (1)-(3), from its first guess; `newton.by_contact_problem` calls it.

    ``s.code`` is OK then, or what Newton's iteration has left.
    """
    d, s = system_at(data)[0], run_at(run)[0]
    o = own_at(s.own_at)[0]
    if d.nc == 0:
        return
    p, failed = problem_at(s.velocity_problem)[0], s.code
    start(d, s, o)
    s.number, s.first_residual, s.want_matrix = STACKED, 0, 0
    for turn in range(MOST // TOGETHER):
        if not prepare(d, s, o, p, turn == 0):
            break
        good = iterate(d, s, o, p)
        if not math.isfinite(s.merit):
            break
        if good or polish(s, o):
            s.code = OK
            s.velocity_iterations = max(s.velocity_iterations, (turn + 1) * TOGETHER)
            s.handed_problems += 1
            return
    s.code = failed
