"""Joint friction piece by piece: effective masses, κ and jamming, and what Newton's iteration has not solved.

With the reaction y_j of the joints to a unit impulse of sliding friction, −s_j G_Fjᵀ,

    [ M  −Gᵀ ] ( x_j )   ( −s_j G_Fjᵀ )
    [ G   0  ] ( y_j ) = (      0     ) ,    1/p_j = −s_j G_Fj x_j ,    κ_j = μ_j ∂N_j/∂R · y_j                    (1)

sliding of one joint with κ < 1 has one solution, with 1/(1 − κ) of the friction that its load alone would give. With
κ ≥ 1 none may slide in this direction: the joint jams, by an impulse that does not decrease with the step size.

Pieces: every joint sticks, slides forwards or backwards, 3ⁿ in all, solved one after the other with prescribed statuses
until one is allowed. First comes how the joint was, then sliding, then sticking. Before that statuses of
`joint_friction.friction_sweeps` are tried; with more than four joints these alone.

Of several directions pieces prescribe the status alone: the direction of sliding follows from ξ. p is that of the mean
mobility, κ that of the last direction of sliding.

Source: docs/theory/joint_friction.md, (9), (10).
"""

from fem_mbs.jit import N_SLOTS, integers, kernel, vector
from fem_mbs.solvers.contact.velocity import start_from_last
from fem_mbs.solvers.joint_friction.friction_sweeps import sweep_statuses
from fem_mbs.solvers.joint_friction.friction_touch import (
    added_in_impact,
    impulse_before,
    impulse_bound,
    in_impact,
    past_impulse,
)
from fem_mbs.solvers.stepping.kernels.arrays import copy1
from fem_mbs.solvers.stepping.kernels.codes import NOT_CONVERGED, OK
from fem_mbs.solvers.stepping.kernels.newton import solve
from fem_mbs.system.assembly import dynamic_tangents
from fem_mbs.system.constraints import RATES, constraint_tangents, constraints
from fem_mbs.system.friction import (
    SLIP,
    STICK,
    add_row_reduced,
    coefficients_of,
    directions_of,
    evaluate_bound,
    friction_groups,
    friction_of,
    length_of,
    row_times,
    row_times_reduced,
    rows_of,
)
from fem_mbs.system.gather import gather_motion
from fem_mbs.system.global_matrices import clear_matrix, factorise, fill_diagonal, solve_in_place
from fem_mbs.system.records import VELOCITY, layouts_of, zero

MOST_PIECES = 4  # joints whose pieces are all tried
FIXED = 1e-12  # of the mobility of a free body: below, the coordinate cannot move
BEYOND = 1e-9  # of the bound


@kernel
def kappas_wanted(d):
    """True if a joint needs κ in every step."""
    for g in friction_groups(d):
        for r in range(rows_of(g)):
            if coefficients_of(g, r).every_kappa != 0.0:
                return True
    return False


@kernel
def kappas_and_masses(d, s):
    """Fill p and κ of (1) at the present configuration and reactions; rows of friction have been evaluated there."""
    b, layout = integers(d.table_at, N_SLOTS), layouts_of(d)[VELOCITY]
    n, dx = d.n, vector(s.dx_at, layout.n)
    x, R, V, respond = s.x, s.R, s.V, s.respond
    clear_matrix(d, VELOCITY)
    dynamic_tangents(d, VELOCITY, x, R, V, s.Ad, 1.0, 0.0, 0.0, 0.0, R)
    if d.m > 0:
        constraints(d, x, R, V, s.phi, s.rate)
        constraint_tangents(d, VELOCITY, x, R, V, s.phi, 0.0, 0.0, s.kv, 0.0, s.epsilon * s.kv, RATES, R)
    fill_diagonal(d, VELOCITY, n + d.m, -s.kv)
    s.epoch += 1
    s.lent_c = 0.0
    if not factorise(d, VELOCITY):
        return
    for g in friction_groups(d):
        rows, k = integers(g.joint_rows_at, g.n), directions_of(g)
        for e in range(g.n):
            mu, kappa, mobility = coefficients_of(g, k * e), 0.0, 0.0
            gather_motion(d, g, e, b, x, R, V)
            evaluate_bound(d, g, e, b, s.lam_report, 1.0, s.lam_report, 0.0)
            for r in range(k * e, k * e + k):
                kept = friction_of(g, r)
                unit = kept.sign if k == 1 else 1.0
                zero(s.dx_at, layout.n)
                add_row_reduced(d, g, r, -unit, dx)
                solve_in_place(d, VELOCITY, s.dx_at)
                for i in range(n + d.m):
                    respond[g.first_friction + r, i] = -unit * dx[i]
                mobility += -unit * row_times_reduced(d, g, r, dx) * kept.arm**2 * s.mean_mass
                share = 1.0 if k == 1 else kept.sign
                for i in range(g.nr):
                    kappa += share * mu.sliding * kept.slope[i] * s.kv * dx[n + rows[e] + i]
            for r in range(k * e, k * e + k):
                kept = friction_of(g, r)
                kept.effective_mass, kept.kappa = s.mean_mass * kept.arm**2 / max(mobility / k, FIXED), kappa


@kernel
def from_rest(d, s):
    """First guess for a problem that is solved anew: nothing has happened in the step, or in its impact."""
    zero(s.W_at, 6 * d.n_nodes)
    zero(s.Lam_at, d.m)
    if in_impact(s):
        copy1(s.touch_Lam, s.Lam)
        for i in range(d.n_nodes):
            for j in range(6):
                s.W[i, j] = s.Vminus[i, j] - s.V0[i, j]
    start_from_last(d, s)
    for g in friction_groups(d):
        for r in range(rows_of(g)):
            kept = friction_of(g, r)
            kept.impulse = impulse_before(s, kept)


@kernel
def prescribe(g, kept, option):
    """Prescribe one of the three pieces of a joint: how it was, then sliding, then sticking."""
    kept.prescribed = 1.0
    if directions_of(g) > 1:
        kept.trial_status = kept.start_status if option == 0 else SLIP if kept.start_status == STICK else STICK
        return
    kept.trial_sign = kept.sign
    if kept.start_status == STICK:
        kept.trial_status = STICK if option == 0 else SLIP
        kept.trial_sign = 1.0 if option == 1 else -1.0
        return
    kept.trial_status = STICK if option == 2 else SLIP
    if option == 1:
        kept.trial_sign = -kept.sign


@kernel
def is_admissible(d, s, g, e, b):
    """True if the prescribed status of element e is: friction within its bound, or against the rate of sliding."""
    n, along, squares, impulse = directions_of(g), 0.0, 0.0, 0.0
    head = friction_of(g, n * e)
    for r in range(n * e, n * e + n):
        kept = friction_of(g, r)
        along += (row_times(g, r, s.V) + kept.given_rate) * kept.trial_sign
        impulse = kept.impulse - past_impulse(s, kept)
        squares += impulse * impulse
    if head.trial_status != STICK:
        return not along * head.arm < -s.tolerance / s.mean_mass
    gather_motion(d, g, e, b, s.x, s.R, s.V)
    bound = head.coefficient * impulse_bound(d, s, g, e, b) + added_in_impact(s, head)
    return not length_of(n, squares, impulse) > bound * (1.0 + BEYOND) + s.tolerance * head.arm


@kernel
def is_allowed(d, s):
    """True if prescribed statuses are admissible."""
    b = integers(d.table_at, N_SLOTS)
    for g in friction_groups(d):
        for e in range(g.n):
            if friction_of(g, directions_of(g) * e).prescribed != 0.0 and not is_admissible(d, s, g, e, b):
                return False
    return True


@kernel
def prescribe_piece(d, piece):
    """Prescribe the statuses of all joints by the number of a piece; −1: prescribe none."""
    rest = piece
    for g in friction_groups(d):
        n = directions_of(g)
        for e in range(g.n):
            for r in range(n * e, n * e + n):
                kept = friction_of(g, r)
                kept.prescribed = 0.0
                if piece >= 0:
                    prescribe(g, kept, rest % 3)
            if piece >= 0:
                rest //= 3


@kernel
def joints_with_friction(d):
    """Number of the joints, or belts, with friction."""
    count = 0
    for g in friction_groups(d):
        count += g.n
    return count


@kernel
def search_pieces(d, s):
    """Solve a velocity problem where Newton's iteration failed, from its start: with effective masses of this position,
    with statuses of Gauss-Seidel iterations, then piece by piece.
    """
    kappas_and_masses(d, s)
    from_rest(d, s)
    solve(s, s.velocity_problem, s.max_iterations)
    if s.code != OK:
        from_rest(d, s)
        sweep_statuses(d, s)
        solve(s, s.velocity_problem, s.max_iterations)
    joints = joints_with_friction(d)
    for piece in range(3**joints if joints <= MOST_PIECES else 0):
        if s.code == OK and is_allowed(d, s):
            break
        prescribe_piece(d, piece)
        from_rest(d, s)
        solve(s, s.velocity_problem, s.max_iterations)
    if s.code == OK and not is_allowed(d, s):
        s.code = NOT_CONVERGED
    s.pieces += 1
    prescribe_piece(d, -1)
