"""Closed contacts inside the smooth sub-problem: second order while a contact stays closed (decision 12).

A contact that ended the last step closed, without impact, enters the smooth sub-problem with multipliers λ_c, χ_c:

    sticking     G_N v = 0 ,  G_T v = 0                         forces  G_Nᵀ λ_N + G_Tᵀ λ_T                          (1)
    sliding      G_N v = 0 ,  λ_T = −μ λ_N τ, τ ∥ G_T v           the same                                           (2)
    frictionless G_N v = 0 ,  λ_T = 0                                                                              (3)
    with a disc  G_N v = 0 ,  (λ_T, M_N/c) = −μ λ_N s/|s|, s = (G_T v, c w v)      the same and wᵀ M_N             (2c)
    not turning  W v = 0                                        moment  Wᵀ χ                                       (4)
    turning      χ = −ρ λ_N τ_ω, τ_ω ∥ W v                      the same, for rolling and spinning alone             (5)

The two corrections see these forces as part of the smooth solution and keep the *total* multipliers of the contact,
so their cone tests are unchanged: they decide whether the contact stays closed, sticks, slides or opens. The position
correction has no moments χ: Wᵀ χ belongs to the smooth motion there. Rows of other contacts are λ_c = 0. The change of
sliding and turning rows with q is left out of the tangents (it costs an iteration at most); that of the normal row is
exact.

Contacts with a disc (sliding coupled with drilling, w the last row of W) slide by (2c): M_N is no unknown, and only |s|
is taken from the prediction, not s: a disc that drills fast makes sliding friction viscous, μ λ_N/|s| G_T v, too stiff
for a direction known before. Where such a contact sticks the smooth sub-problem has (1) alone; what then stops it from
drilling acts in the corrections (first order).

Sliding with anisotropic friction has (2c) without a moment. Its direction, which is not that of the force, turns within
about |v|/(μ g): of slow sliding, which starts on a slope, in less than a step, where a direction known before goes to
and fro. What was at rest has (2), with the direction of the force that held it.

Entry and release: nsga.entry. Orders: examples/order_in_contact.py, tests/validation/laws/test_persistent_contacts.py.

Source: docs/theory/decoupled_nsga.md, (25), (26), decision 12.

    symbol     code                   meaning
    λ_c, χ_c   clam (nc, 6)           multipliers divided by k_s; χ, the last three: moments divided by length k_s
    τ, τ_ω     ctau (nc, 6)           directions of sliding, rolling and spinning; first column: |s| of (2c), else 0
               closed (nc,)           GAP (not in the smooth problem), STICK, SLIP or CLOSED
               rolls, spins (nc,)     the same for rolling and spinning: GAP (no resistance), STICK or SLIP
"""

import math

from fem_mbs.jit import N_SLOTS, SLOT, call2, integers, kernel, local_vector, matrix, vector
from fem_mbs.solvers.contact.law import GAP, SLIP, STICK
from fem_mbs.solvers.contact.law_rows import SIX, arm_of, cone_of, cone_with
from fem_mbs.solvers.stepping.kernels.sizes import rest_speed
from fem_mbs.system.contacts import (
    add_gradient,
    anisotropic,
    contact_groups,
    contacts_of,
    direction_of,
    gradient_times,
    laws_of,
)
from fem_mbs.system.gather import gather, scatter_matrix, times_tangent
from fem_mbs.system.global_matrices import matrix_values
from fem_mbs.system.records import SMOOTH, zero

_H_N, _KK, _V = SLOT["H_N"], SLOT["K"], SLOT["v"]


@kernel
def direction_along(g, e, rows, first, n, V, V0, rows0, rest, tau):
    """Fill tau (n,) with the direction of n ``rows`` of a gradient times V, from ``first`` on; ``rows0`` are for V0.

    A predicted motion that reverses that of V0 is about to stick, which the corrections decide: V0 counts. What was at
    rest keeps the tau of its force, see `leave_cones`: False then.
    """
    now, old = local_vector(2), local_vector(2)
    reversal = size = 0.0
    for i in range(n):
        now[i] = gradient_times(g, e, rows[first + i], V)
        old[i] = gradient_times(g, e, rows0[first + i], V0)
        reversal += now[i] * old[i]
        size += old[i] * old[i]
    if size <= rest * rest:
        return False
    if reversal > 0.0:
        size = 0.0
        for i in range(n):
            old[i] = now[i]
            size += now[i] * now[i]
    for i in range(n):
        tau[i] = old[i] / math.sqrt(size)
    return True


@kernel
def speed_of_disc(g, e, V):
    """|(v_1, v_2, c ω_N)| of velocities V (N, 6), 1 at rest."""
    contact = contacts_of(g)
    v1, v2 = gradient_times(g, e, contact.V_T[e, 0], V), gradient_times(g, e, contact.V_T[e, 1], V)
    spin = laws_of(g)[e].drilling_arm * gradient_times(g, e, contact.W[e, 2], V)
    size = math.sqrt(v1 * v1 + v2 * v2 + spin * spin)
    return size if size > 0.0 else 1.0


@kernel
def coupled_speed(g, e, V, V0):
    """|(v_1, v_2, c ω_N)| of the predicted velocities V (N, 6), or of those at the start: as in `direction_along`."""
    contact = contacts_of(g)
    arm = laws_of(g)[e].drilling_arm
    now, old, both = 0.0, 0.0, 0.0
    for i in range(3):
        if i < 2:
            a, b = gradient_times(g, e, contact.V_T[e, i], V), gradient_times(g, e, contact.V_T_start[e, i], V0)
        else:
            a, b = arm * gradient_times(g, e, contact.W[e, 2], V), arm * gradient_times(g, e, contact.W_N_start[e], V0)
        now, old, both = now + a * a, old + b * b, both + a * b
    size = math.sqrt(now if both > 0.0 else old)
    return size if size > 0.0 else 1.0


@kernel
def sliding_directions(d, s, o, V, predicted):
    """Fill ctau (nc, 6) for the predicted velocities V of contacts that slide, roll or spin.

    Those with (2c) get |s| in its first column, others 0. Not ``predicted``: V are those of now, and what
    the step began with does not count.

    The prediction is second-order accurate, so the directions are too, and (2), (5) become linear.
    """
    closed, rolls, spins = s.closed, o.rolls, o.spins
    ctau = o.ctau
    V0 = s.V0 if predicted else V
    rest = rest_speed(s)
    for g in contact_groups(d):
        contact = contacts_of(g)
        for e in range(g.n):
            c = g.first_contact + e
            if closed[c] == SLIP and (g.drilling != 0 or anisotropic(g, e)):
                ctau[c, 0] = coupled_speed(g, e, V, V0) if predicted else speed_of_disc(g, e, V)
            if closed[c] == SLIP and g.drilling == 0:
                rows0 = contact.V_T_start[e] if predicted else contact.V_T[e]
                slid = direction_along(g, e, contact.V_T[e], 0, 2, V, V0, rows0, rest, ctau[c, 1:])
                if not slid:
                    ctau[c, 0] = 0.0
            if rolls[c] == SLIP:
                direction_along(g, e, contact.W[e], 0, 2, V, V0, contact.W[e], rest / s.length, ctau[c, 3:])
            if spins[c] == SLIP:
                direction_along(g, e, contact.W[e], 2, 1, V, V0, contact.W[e], rest / s.length, ctau[c, 5:])


@kernel
def state_of(s, o, c, m):
    """Status of direction m of contact c in the smooth sub-problem: GAP, STICK, SLIP, or CLOSED without friction."""
    if m < 3:
        return s.closed[c]
    return o.rolls[c] if m < 5 else o.spins[c]


@kernel
def closed_forces(d, s, o, V, Gl, Gw, rows):
    """Add the forces of (1)-(3) to Gl and the moments of (4), (5) to Gw (full); fill rows (nc, 6).

    A row is G v (W v times length), or what is missing in the law of its multiplier.
    """
    for g in contact_groups(d):
        law = laws_of(g)
        for e in range(g.n):
            c = g.first_contact + e
            lam, disc = o.clam[c], s.closed[c] == SLIP and o.ctau[c, 0] > 0.0
            for m in range(SIX):
                rows[c, m] = lam[m]
                state = state_of(s, o, c, m)
                if state == GAP:
                    continue
                G, arm = direction_of(g, e, m), arm_of(g, e, s, m)
                add_gradient(g, e, G, arm * s.ks * lam[m], Gl if m < 3 else Gw)
                if m == 0 or state == STICK:
                    rows[c, m] = arm * gradient_times(g, e, G, V)
                elif disc and m < 3:
                    rows[c, m] += law[e].friction * lam[0] / o.ctau[c, 0] * gradient_times(g, e, G, V)
                elif state == SLIP:
                    rows[c, m] += cone_of(g, e, s, cone_with(g, m))[1] * lam[0] * o.ctau[c, m]
            if disc:
                factor, w = law[e].friction * lam[0] / o.ctau[c, 0] * law[e].drilling_arm ** 2, direction_of(g, e, 5)
                add_gradient(g, e, w, -s.ks * factor * gradient_times(g, e, w, V), Gl)


@kernel
def add_row_rates(d, s, o, factor, A, rows):
    """Add factor G A, of moments factor length W A, of closed contacts to rows (nc, 6)."""
    for g in contact_groups(d):
        for e in range(g.n):
            c = g.first_contact + e
            for m in range(SIX if s.closed[c] != GAP else 0):
                rows[c, m] += factor * arm_of(g, e, s, m) * gradient_times(g, e, direction_of(g, e, m), A)


@kernel
def _row_tangent(S, nd, row, stuck, limit, tau, G, scale, k, shift):
    """Blocks of one row of (1) or (4), gradient scale G (nd,), or of (2), (3) or (5); forces included."""
    for i in range(nd):
        S[i, row] -= k * scale * G[i]
    if stuck:
        for i in range(nd):
            S[row, i] -= k * scale * G[i]
        S[row, row] -= shift * k
    else:
        S[row, row] -= k
        S[row, nd] -= k * limit * tau


@kernel
def _disc_tangent(S, g, e, nd, mu, lam_N, speed, k, V):
    """Blocks of the sliding rows and of the forces of (2c), speed = |s|."""
    contact, arm = contacts_of(g), laws_of(g)[e].drilling_arm
    factor, turn = mu * lam_N / speed, mu / speed * gradient_times(g, e, contact.W[e, 2], V)
    w = contact.W[e, 2]
    for j in range(2):
        G, row = contact.V_T[e, j], nd + 1 + j
        S[row, row] -= k
        S[row, nd] -= k * mu / speed * gradient_times(g, e, contact.V_T[e, j], V)
        for i in range(nd):
            S[i, row] -= k * G[i]
            S[row, i] -= k * factor * G[i]
    for i in range(nd):
        moment = k * arm * arm * w[i]
        S[i, nd] += turn * moment
        for j in range(nd):
            S[i, j] += factor * moment * w[j]


@kernel
def closed_tangents(d, s, o, x, R, V, k, shift, c_q, T):
    """Add the blocks of (1)-(5) to the matrix of the smooth sub-problem; c_q = ∂D/∂v (0: rows of accelerations).

    ``shift``: proximal shift over k.
    """
    b = integers(d.table_at, N_SLOTS)
    values = matrix_values(d, SMOOTH)
    closed, lam, ctau = s.closed, o.clam, o.ctau
    for g in contact_groups(d):
        nd = g.nd
        size = nd + (SIX if d.n_roll > 0 else 3)
        S, H, ve = matrix(b[_KK], size, size), matrix(b[_H_N], nd, nd), vector(b[_V], nd)
        contact, law = contacts_of(g), laws_of(g)
        for e in range(g.n):
            c = g.first_contact + e
            zero(b[_KK], size * size)
            if closed[c] == GAP:
                for i in range(nd, size):
                    S[i, i] = -k
                scatter_matrix(g.maps_at[SMOOTH], e, size, vector(b[_KK], size * size), values)
                continue
            if c_q != 0.0 and g.contact_hessian != 0:
                gather(d, g, e, b, x, R, V, V)
                zero(b[_H_N], nd * nd)
                call2(g.contact_hessian, g.parameters_at + e * g.stride, d.table_at)
                for i in range(nd):
                    for j in range(nd):
                        S[i, j] -= c_q * k * lam[c, 0] * H[i, j]
                        S[nd, j] -= c_q * k * ve[i] * H[i, j]
                times_tangent(g, e, S, nd + 1, T)
            _row_tangent(S, nd, nd, True, 0.0, 0.0, contact.G_N[e], 1.0, k, shift)
            disc = closed[c] == SLIP and law[e].friction != 0.0 and ctau[c, 0] > 0.0
            if disc:
                _disc_tangent(S, g, e, nd, law[e].friction, lam[c, 0], ctau[c, 0], k, V)
            for m in range(3 if disc else 1, size - nd):
                state, G = state_of(s, o, c, m), direction_of(g, e, m)
                scale = arm_of(g, e, s, m) if state != GAP else 0.0
                mu = cone_of(g, e, s, cone_with(g, m))[1] if state == SLIP else 0.0
                _row_tangent(S, nd, nd + m, state == STICK, mu, ctau[c, m], G, scale, k, shift)
            scatter_matrix(g.maps_at[SMOOTH], e, size, vector(b[_KK], size * size), values)
