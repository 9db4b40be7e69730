"""Velocity correction of the decoupled scheme: impact law, friction cones, G v = 0.

Source: docs/theory/decoupled_nsga.md, (16)-(21).
"""

import math

from fem_mbs.jit import call2, entry, integers, kernel, vector
from fem_mbs.solvers.contact.law import GAP
from fem_mbs.solvers.contact.rows import approach_of, reflected, velocity_contact_residual, velocity_contact_tangents
from fem_mbs.solvers.nsga.data import (
    NOT_CONVERGED,
    NOT_FINITE,
    OK,
    ROUND_OFF,
    SINGULAR,
    TOO_MANY_PROBLEMS,
    by_contact_problem,
    copy,
    largest,
    merit_of,
    remember,
    run_at,
    statuses,
    system_at,
)
from fem_mbs.solvers.nsga.persistent import rest_speed
from fem_mbs.system.assembly import (
    VELOCITY,
    add_constraint_forces,
    clear_matrix,
    constraint_rates,
    constraint_tangents,
    constraints,
    dynamics,
    expand_add,
    factorise,
    full_norm,
    groups_of,
    reduce_vector,
    solve_in_place,
    zero,
)
from fem_mbs.system.contacts import B_GN, B_GN0, B_VT, B_W, L_NORMAL, add_gradient, gradient_times, laws_of

GAIN = 1e-8  # of the work of impulses, relative to its parts, that is round-off
LIMITING = 12  # problems to find how much restitution an impact may have
LONG_SEQUENCE = 8  # impact problems of a step; the billiard break of annex B needs 3


@entry("void(int64, int64)")
def velocity_residual(data, run):
    """Residual at W, Λ: r1 (full), rows; norms in s.dynamic, s.row, s.row_T. Gradients are those kept."""
    d, s = system_at(data)[0], run_at(run)[0]
    N, m, nc = d.n_nodes, d.m, d.nc
    x, R, V = s.x, s.R, s.V
    Vs, W, Vd, Ad = s.Vs, s.W, s.Vd, s.Ad
    Ma, f, r1, base = s.Ma, s.f, s.r1, s.base_v
    rate, lam, Lam = s.rate, s.lam, s.Lam
    phi, P, rows, rows_chi = (
        s.phi,
        s.P,
        s.rows_c,
        s.rows_chi,
    )
    h = s.h
    for i in range(N):
        for j in range(6):
            V[i, j] = Vs[i, j] + W[i, j]
            Ad[i, j] = W[i, j] + h * Vd[i, j]
    # M(q)(W + h v̇~) − h (f(q, v) + Gᵀ k_s λ~) + h (f(q~, v~) + G~ᵀ k_s λ~ − M(q~) v̇~): base holds the last bracket
    dynamics(d, VELOCITY, x, R, V, Ad, Ma, f, False, 0.0, 0.0, 0.0, 0.0, R, False)
    for i in range(6 * N):
        r1[i] = Ma[i] - h * (f[i] - base[i]) - P[i]
    total = 0.0
    if m > 0:
        constraint_rates(d, V, rate)
        gt = s.g  # ∂g/∂t, stored by `velocity`
        for i in range(m):
            rate[i] += gt[i]
            phi[i] = h * s.ks * lam[i] + s.kv * Lam[i]
            total += rate[i] * rate[i]
        add_constraint_forces(d, -1.0, phi, r1)
    friction = 0.0
    if nc > 0 and s.without_contacts == 0:
        velocity_contact_residual(d, s, V, s.Vminus, r1, rows, rows_chi)
        for c in range(nc):
            total += rows[c, 0] ** 2
            friction += rows[c, 1] ** 2 + rows[c, 2] ** 2
            for i in range(3):
                friction += rows_chi[c, i] ** 2
    s.dynamic, s.row, s.row_T = full_norm(d, r1, s.length), math.sqrt(total), math.sqrt(friction)


@entry("void(int64, int64)")
def velocity_matrix(data, run):
    """Assemble the matrix of the velocity sub-problem at the current W, Λ."""
    d, s = system_at(data)[0], run_at(run)[0]
    m = d.m
    x, R, V = s.x, s.R, s.V
    clear_matrix(d, VELOCITY)
    Ma, f = s.force, s.Gl  # scratch here
    dynamics(d, VELOCITY, x, R, V, s.Ad, Ma, f, True, 1.0, s.h, 0.0, 0.0, R, False)
    if m > 0:
        shift = s.epsilon_rows * s.kv
        constraint_tangents(d, VELOCITY, x, R, V, s.phi, 0.0, 0.0, s.kv, 0.0, shift, False, R)
    if d.nc > 0:
        velocity_contact_tangents(d, s, V, s.Vminus)


@kernel
def pack_velocity(d, s):
    """Right-hand side −r of the velocity sub-problem in dx."""
    n, m, nc = d.n, d.m, d.nc
    dx = vector(s.dx_at, n + m + 3 * nc + 3 * d.n_roll)
    r1, rate, rows = s.r1, s.rate, s.rows_c
    rows_chi, roll = s.rows_chi, integers(d.roll_index_at, nc)
    reduce_vector(d, r1, dx)
    for i in range(n):
        dx[i] = -dx[i]
    for i in range(m):
        dx[n + i] = s.kv * rate[i]
    for c in range(nc):
        for i in range(3):
            dx[n + m + 3 * c + i] = -s.kv * rows[c, i]
            if roll[c] >= 0:
                dx[n + m + 3 * nc + 3 * roll[c] + i] = -s.kv * rows_chi[c, i]


@kernel
def apply_velocity(d, s, scale):
    """W, Λ, χ ← kept values plus scale times the Newton step."""
    n, m, nc = d.n, d.m, d.nc
    dx, W, trial = vector(s.dx_at, n + m + 3 * nc + 3 * d.n_roll), s.W, s.trial
    Lam, keep_m, cLam, keep_c = (
        s.Lam,
        s.keep_m,
        s.cLam,
        s.keep_c,
    )
    cchi, keep_chi, roll = s.cchi, s.keep_chi, integers(d.roll_index_at, nc)
    copy(trial, W)
    expand_add(d, scale, dx, W)
    for i in range(m):
        Lam[i] = keep_m[i] + scale * dx[n + i]
    for c in range(nc):
        for i in range(3):
            cLam[c, i] = keep_c[c, i] + scale * dx[n + m + 3 * c + i]
            if roll[c] >= 0:
                cchi[c, i] = keep_chi[c, i] + scale * dx[n + m + 3 * nc + 3 * roll[c] + i]


@kernel
def tolerance_of(d, s):
    """Allowed norm of the dynamic rows, docs/theory/decoupled_nsga.md."""
    Ma = s.Ma
    return s.rtol * max(s.h * s.F_s, full_norm(d, Ma, s.length))


@kernel
def velocity_solved(d, s):
    """Convergence test of the page on the last residual; gap and constraint rates to s.exact."""
    s.scale_v = max(s.scale_v, largest(s.V))
    speed, change = 1.0 + s.scale_v, s.rtol * s.h * s.F_s / s.mean_mass
    return (
        s.dynamic <= tolerance_of(d, s) + ROUND_OFF * s.kv * speed
        and s.row <= min(change, s.exact * speed) + ROUND_OFF * speed
        and s.row_T <= change + s.exact * speed
    )


@kernel
def impact_newton(d, s):
    """Newton iteration on one velocity problem with the current candidates; returns a code."""
    m, nc = d.m, d.nc
    W, trial = s.W, s.trial
    Lam, keep_m, cLam, keep_c = (
        s.Lam,
        s.keep_m,
        s.cLam,
        s.keep_c,
    )
    cchi, keep_chi, counts = s.cchi, s.keep_chi, s.counts
    s.first_residual = 1 if counts[3] == 0 else 0
    call2(s.velocity_residual_part, s.data_at, s.run_at)
    s.first_residual = 0
    counts[5] = 0
    before, factored = 0.0, -1
    for iteration in range(s.max_iterations + 1):
        merit = merit_of(s, s.kv)
        if not math.isfinite(merit):
            return NOT_FINITE
        remember(s, merit)
        if velocity_solved(d, s):
            counts[2] = max(counts[2], iteration)
            return OK
        if iteration == s.max_iterations or s.newton == 0:
            break
        tolerance = tolerance_of(d, s)
        now = statuses(s, nc)
        if not (s.reuse != 0 and now == factored and merit < 0.02 * before):
            call2(s.velocity_matrix_part, s.data_at, s.run_at)
            if not factorise(d, VELOCITY):
                return SINGULAR
            factored = now
        # full steps make the linear rows exact: not refused below the tolerance, nor, in the first iterations, for a
        # status that changes at a residual far below that of the iteration before
        bound = max(merit, tolerance, before if iteration < 6 else 0.0)
        before = merit
        pack_velocity(d, s)
        solve_in_place(d, VELOCITY, s.dx_at)
        copy(W, trial)
        for i in range(m):
            keep_m[i] = Lam[i]
        copy(cLam, keep_c)
        copy(cchi, keep_chi)
        scale, best, best_scale = 1.0, math.inf, 1.0
        for _ in range(s.max_halvings + 1):
            apply_velocity(d, s, scale)
            call2(s.velocity_residual_part, s.data_at, s.run_at)
            value = merit_of(s, s.kv)
            if value < best:
                best, best_scale = value, scale
            if nc == 0 or value <= bound:
                break
            scale *= 0.5
        if best_scale != scale and not best <= bound and math.isfinite(best):
            apply_velocity(d, s, best_scale)
            call2(s.velocity_residual_part, s.data_at, s.run_at)
    return NOT_CONVERGED


@kernel
def moment_arm(d, s, c, i):
    """Arm [m] that turns moment i of contact c into a force: that of its disc, or the length of the model."""
    arm = vector(d.drill_arm_at, d.nc)[c]
    return arm if i == 2 and arm > 0.0 else s.length


@kernel
def rests(d, s):
    """Whether no active contact approached before the step: then none strikes in it, closed ones only carry load."""
    groups = groups_of(d)
    active, V0 = s.active, s.V0
    for a in range(d.n_groups):
        g = groups[a]
        if g.contact == 0:
            continue
        for e in range(g.n):
            if active[g.first_contact + e] != 0 and gradient_times(g, e, B_GN0, 0, V0) < -s.tol_v:
                return False
    return True


@kernel
def choose_candidates(d, s):
    """Contacts that are closed and approach with velocities V~−; returns their number.

    Others that take part: in the first problem of a step without impact all contacts that carried load before (solved
    one after the other, the contacts of a stack would hand their load up and down without end); in a long sequence
    those without restitution that have acted in this step (published ones are shorter); in the second half of the
    problems allowed all that have acted, then without restitution: what is handed to and fro that long is the tail of
    an endless sequence. In models with contact groups all closed contacts without restitution take part at once,
    whether they have acted or not: layer by layer, an impact would need a problem for each.
    """
    groups = groups_of(d)
    active, candidate = s.active, s.candidate
    closed, counts, acted_as = s.closed, s.counts, s.acted
    clam, rest = s.clam, rest_speed(s)
    was_active, Vs = s.was_active, s.Vsminus
    first, ending = counts[3] == 0, 2 * counts[3] >= s.max_problems
    resting, many, long = first and rests(d, s), d.nc > s.nc_fixed, counts[3] >= LONG_SEQUENCE
    count = 0
    for a in range(d.n_groups):
        g = groups[a]
        if g.contact == 0:
            continue
        law = laws_of(g)
        for e in range(g.n):
            c = g.first_contact + e
            candidate[c] = 0
            if active[c] == 0:
                continue
            if gradient_times(g, e, B_GN, 0, Vs) < -s.tol_v:
                candidate[c] = 1
                count += 1
            # a closed contact of the smooth sub-problem does not approach there but carries its force here; one without
            # load waits for the problem in which an impact has reached it
            loaded = s.persistent != 0 and closed[c] != GAP and s.h * s.ks * clam[c, 0] > s.mean_mass * rest
            kept = (resting and was_active[c] != 0) or (first and loaded)
            together = ending or ((long or many) and law[e, L_NORMAL] == 0.0)
            if kept or (together and (many or acted_as[c] != GAP)):
                candidate[c] = 1
    return count


@kernel
def accumulate_impulses(d, s):
    """Add the impulses of the candidates to P and to the totals; zero the contact unknowns; True if one was active."""
    groups = groups_of(d)
    P, status, acted_as = s.P, s.status, s.acted
    cLam, cchi = s.cLam, s.cchi
    aLam, achi = s.aLam, s.achi
    total_Lam, total_chi = s.total_Lam, s.total_chi
    acted = False
    for a in range(d.n_groups):
        g = groups[a]
        if g.contact == 0:
            continue
        for e in range(g.n):
            c = g.first_contact + e
            if status[c] != GAP:
                acted = True
                acted_as[c] = status[c]
                add_gradient(g, e, B_GN, 0, aLam[c, 0], P)
                for i in range(2):
                    add_gradient(g, e, B_VT, i, aLam[c, 1 + i], P)
                for i in range(3):
                    add_gradient(g, e, B_W, i, achi[c, i], P)
                    total_Lam[c, i] += aLam[c, i]
                    total_chi[c, i] += achi[c, i]
            for i in range(3):
                cLam[c, i] = 0.0
                cchi[c, i] = 0.0
    return acted


@kernel
def start_from_last(d, s):
    """First guess of contact impulses: those of the last step where the contact stayed closed without impact."""
    cLam, cchi = s.cLam, s.cchi
    total_Lam, total_chi = s.total_Lam, s.total_chi
    was_active, impact = s.was_active, s.impact
    closed, clam, mchi = s.closed, s.clam, s.mchi
    rolls, spins, counts = s.rolls, s.spins, s.counts
    status = s.status
    for c in range(d.nc):
        keep = 1.0 if was_active[c] != 0 and impact[c] == 0 and counts[4] == 0 else 0.0
        if keep == 0.0:
            status[c] = GAP  # its start is not shifted, see `position_contact_residual`
        for i in range(3):
            cLam[c, i] = keep * total_Lam[c, i] / s.kv
            cchi[c, i] = keep * total_chi[c, i] / (moment_arm(d, s, c, i) * s.kv)
        if s.persistent != 0 and counts[4] == 0 and closed[c] != GAP:
            for i in range(3):
                cLam[c, i] = s.h * s.ks * clam[c, i] / s.kv
                if (rolls[c] if i < 2 else spins[c]) != GAP:
                    cchi[c, i] = s.h * s.ks * mchi[c, i] / s.kv


@kernel
def solve_impact(d, s):
    """One impact problem, by Newton's iteration or, where that stalls, by the contact-problem solver."""
    s.code = impact_newton(d, s)
    if s.code != OK:
        by_contact_problem(s)


@kernel
def work_of_impulses(d, s):
    """Work of the contact impulses of the problem solved last, and the sum of the amounts of its parts [J].

        L = ½ Σ ( Λ·(γ⁺ + γ⁻) + χ·(ω⁺ + ω⁻) )                                                                    (3)

    γ⁻ are velocities before the problem; of the normal ones the faster of that and of the approach that Newton's law
    reflects counts, which the forces of the step may have changed since. Joints do no work: G v = 0 before and after.
    """
    groups = groups_of(d)
    aLam, achi = s.aLam, s.achi
    V, Vs, Vminus = s.V, s.Vsminus, s.Vminus
    candidate = s.candidate
    total = size = 0.0
    for a in range(d.n_groups):
        g = groups[a]
        if g.contact == 0:
            continue
        for e in range(g.n):
            c = g.first_contact + e
            if candidate[c] == 0 or aLam[c, 0] == 0.0:
                continue
            before = min(gradient_times(g, e, B_GN, 0, Vs), approach_of(g, e, d, s, Vminus))
            part = 0.5 * aLam[c, 0] * (gradient_times(g, e, B_GN, 0, V) + before)
            total, size = total + part, size + abs(0.5 * aLam[c, 0] * before)
            for i in range(2):
                before = gradient_times(g, e, B_VT, i, Vs)
                part = 0.5 * aLam[c, 1 + i] * (gradient_times(g, e, B_VT, i, V) + before)
                total, size = total + part, size + abs(0.5 * aLam[c, 1 + i] * before)
            for i in range(3):
                if achi[c, i] != 0.0:
                    before = gradient_times(g, e, B_W, i, Vs)
                    part = 0.5 * achi[c, i] * (gradient_times(g, e, B_W, i, V) + before)
                    total, size = total + part, size + abs(0.5 * achi[c, i] * before)
    return total, size


@kernel
def reflects(d, s):
    """Whether a contact that acts in the problem solved last bounces."""
    groups = groups_of(d)
    aLam, Vminus = s.aLam, s.Vminus
    for a in range(d.n_groups):
        g = groups[a]
        if g.contact == 0:
            continue
        for e in range(g.n):
            if aLam[g.first_contact + e, 0] > 0.0 and reflected(g, e, d, s, Vminus) < -s.tol_v:
                return True
    return False


@kernel
def gained(d, s, scale):
    """Energy that the impulses give beyond round-off, the problem solved again with restitution times ``scale``."""
    s.restitution_scale = scale
    solve_impact(d, s)
    total, size = work_of_impulses(d, s)
    return total - GAIN * size


@kernel
def limit_restitution(d, s):
    """Solve an impact problem whose impulses give energy again, with the largest restitution that does not.

    Newton's law with friction can gain energy in coupled bodies (Kane's paradox): with the friction of a linkage one
    impact took it from 220.9 to 475.8 J. With e = 0 no impulse of a cone gives energy, and L is continuous in e; the
    largest factor of e with L ≤ 0 is found by regula falsi (Illinois).
    """
    total, size = work_of_impulses(d, s)
    high, gain = 1.0, total - GAIN * size
    if gain <= 0.0 or not reflects(d, s):
        return
    low, loss = 0.0, gained(d, s, 0.0)
    last = 0.0
    # what is left without restitution is the work of elastic forces: no bound for it here
    if s.code == OK and loss < 0.0:
        for _ in range(LIMITING):
            last = (low * gain - high * loss) / (gain - loss)
            value = gained(d, s, last)
            if s.code != OK or high - low < 1e-3:
                break
            if value > 0.0:
                high, gain, loss = last, value, 0.5 * loss
            else:
                low, loss, gain = last, value, 0.5 * gain
        if s.code == OK and last != low:
            gained(d, s, low)
    s.restitution_scale = 1.0
    s.limited_impacts += 1


@entry("void(int64, int64)")
def velocity(data, run):
    """Solve the velocity sub-problem: impact law, friction cones and G v + ∂g/∂t = 0, as a sequence of impact
    problems.
    """
    d, s = system_at(data)[0], run_at(run)[0]
    N, m, nc = d.n_nodes, d.m, d.nc
    x, R, V = s.x, s.R, s.V
    Vs, V0 = s.Vs, s.V0
    W, Vminus, Vsminus = s.W, s.Vminus, s.Vsminus
    g, rate = s.g, s.rate
    counts, acted_as = s.counts, s.acted
    zero(s.W_at, 6 * N)
    zero(s.Lam_at, m)
    zero(s.P_at, 6 * N)
    start_from_last(d, s)
    zero(s.total_Lam_at, 3 * nc)
    zero(s.total_chi_at, 3 * nc)
    for c in range(nc):
        acted_as[c] = GAP
    # ∂g/∂t = ġ − G V at this configuration (gradients are kept from the position sub-problem)
    if m > 0:
        constraints(d, x, R, Vs, g, rate)
        constraint_rates(d, Vs, g)
        for i in range(m):
            g[i] = rate[i] - g[i]
    copy(V0, Vminus)
    copy(Vs, Vsminus)
    copy(Vs, V)
    counts[2] = counts[3] = 0
    while True:
        count = choose_candidates(d, s)
        if count == 0 and counts[3] > 0:
            s.code = OK
            return
        if 2 * counts[3] == s.max_problems or 2 * counts[3] == s.max_problems + 1:
            s.cut_short += 1
        solve_impact(d, s)
        if s.code == OK and nc > 0 and s.approach != 0 and s.plastic == 0:
            limit_restitution(d, s)
        if s.code != OK:
            return
        counts[3] += 1
        if not accumulate_impulses(d, s):
            s.code = OK
            return
        if counts[3] >= s.max_problems:
            s.code = TOO_MANY_PROBLEMS
            return
        for i in range(N):
            for j in range(6):
                Vminus[i, j] = V0[i, j] + W[i, j]
                Vsminus[i, j] = V[i, j]
