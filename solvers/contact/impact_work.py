"""Work of the impulses of an impact problem, and the energy that its contacts keep less than their law asks.

Source: docs/theory/accepted_steps.md, (3), (13); docs/theory/sweep.md, The speed at the touch.
"""

from fem_mbs.jit import call2, kernel
from fem_mbs.solvers.contact.approach import (
    approach_of,
    at_the_touch,
    closing_speed,
    reflected,
    touches_within,
)
from fem_mbs.solvers.contact.law import GAP
from fem_mbs.solvers.contact.law_rows import SIX
from fem_mbs.solvers.stepping.kernels.codes import STRUCK
from fem_mbs.solvers.stepping.kernels.friction_tasks import IMPACT_WORK
from fem_mbs.system.contacts import contact_groups, contacts_of, direction_of, gradient_times, laws_of, restitution_at

GAIN = 1e-8  # of the work of impulses, relative to its parts, that is round-off


@kernel
def work_of_impulses(d, s):
    """Work of the impulses of the problem solved last, and the sum of the absolute values of its terms [J].

        L = ½ Σ ( Λ·(γ⁺ + γ⁻) + χ·(ω⁺ + ω⁻) ) + ½ Σ Λ_F (γ_F⁺ + γ_F⁻) − Σ ν a                                     (1)

    γ⁻ are velocities before the problem; of the normal ones the faster of that and of the approach that Newton's law
    reflects counts, which the forces of the step may have changed since. Of contacts with the speed at the touch the
    work of these forces is known, and is the last sum (`contact.touch`, (2)). That before it is of joint friction.
    Constraints do no work: G v = 0 before and after.
    """
    aLam, V, Vs, Vminus = s.aLam, s.V, s.Vsminus, s.Vminus
    candidate = s.candidate
    total = size = 0.0
    for g in contact_groups(d):
        contact = contacts_of(g)
        for e in range(g.n):
            c = g.first_contact + e
            within = s.touch == STRUCK and touches_within(g, e, s)
            if within:  # the position correction has moved it, whether an impulse follows or not
                total -= s.kp * s.cnu[c, 0] * s.bias[c]
            if candidate[c] == 0 or aLam[c, 0] == 0.0:
                continue
            before = gradient_times(g, e, contact.G_N[e], Vs)
            if not within:
                before = min(before, approach_of(g, e, d, s, Vminus))
            part = 0.5 * aLam[c, 0] * (gradient_times(g, e, contact.G_N[e], V) + before)
            total, size = total + part, size + abs(0.5 * aLam[c, 0] * before)
            for m in range(1, SIX):
                if aLam[c, m] != 0.0:
                    row = direction_of(g, e, m)
                    before = gradient_times(g, e, row, Vs)
                    part = 0.5 * aLam[c, m] * (gradient_times(g, e, row, V) + before)
                    total, size = total + part, size + abs(0.5 * aLam[c, m] * before)
    if s.friction != 0:
        call2(s.friction_part, s.run_at, IMPACT_WORK)
        total, size = total + s.friction_work, size + s.friction_work_size
    return total, size


@kernel
def energy_of_touches(d, s):
    """Energy [J] that contacts keep beyond their law, of those that touch within the step; two sizes of it; how many.

        δ = Σ ½ Λ (γ⁺ + γ~) − Σ ν a + Σ ½ Λ (1 − e²) γ_t²/(e |γ_t| + |γ~|)                                      (3)

    with γ~ before and γ_t at the touch (`contact.touch`). The last sum is what Newton's law takes of impulses that
    begin at γ_t. δ is zero for one contact without friction, but for O(h²) where its forces change on the path back to
    the touch. Sizes: Σ ½ Λ |γ~| and Σ ½ Λ e |γ_t|.
    """
    count = 0
    total = size = kept = 0.0
    for g in contact_groups(d):
        contact = contacts_of(g)
        for e in range(g.n):
            c = g.first_contact + e
            if not touches_within(g, e, s):
                continue
            count += 1
            total -= s.kp * s.cnu[c, 0] * s.bias[c]
            Lam = s.aLam[c, 0]
            if s.candidate[c] == 0 or Lam == 0.0:
                continue
            before, touch = gradient_times(g, e, contact.G_N[e], s.Vsminus), closing_speed(g, e, s)
            e_N = restitution_at(g, e, abs(touch))
            total += 0.5 * Lam * (gradient_times(g, e, contact.G_N[e], s.V) + before)
            begun = e_N * abs(touch) + abs(before)
            total += 0.5 * Lam * (1.0 - e_N * e_N) * touch * touch / begun if begun > 0.0 else 0.0
            size, kept = size + 0.5 * Lam * abs(before), kept + 0.5 * Lam * e_N * abs(touch)
    return total, size, kept, count


@kernel
def reflects(d, s):
    """True if a contact that acts in the problem solved last bounces."""
    aLam, Vminus = s.aLam, s.Vminus
    for g in contact_groups(d):
        for e in range(g.n):
            if aLam[g.first_contact + e, 0] > 0.0 and reflected(g, e, d, s, Vminus) < -s.tol_v:
                return True
    return False


@kernel
def met_with(g, e, s):
    """Speed [m/s] at which the bodies of a contact met, ≥ 0, along the normal in which the impulse acts.

    At its touch where that is known: forces may have slowed the bodies on their way there. Else as the step began.
    """
    contact = contacts_of(g)
    if at_the_touch(g, e, s):
        return max(-gradient_times(g, e, contact.G_N[e], s.Vsminus), 0.0)
    if touches_within(g, e, s):
        return -closing_speed(g, e, s)
    return max(-gradient_times(g, e, contact.G_N[e], s.Vminus), 0.0)


@kernel
def compare_with_law(d, s):
    """Add what the problem solved last gives, and what it keeps less than Newton's law asks; both in energy.

        given   max(L, 0)              kept less, of each contact   ½ Λ max( e max(−γ⁻, 0) − γ⁺, 0 )               (2)

    γ⁻, γ⁺ are the velocities before and after it along the normal in which the impulse acts, see `met_with`. e is what
    `contact.restitution` has left of it; a law with a bias (`ConeComplementarity`) has a sum of its own.
    """
    if d.nc == 0:
        return
    if reflects(d, s):
        total, size = work_of_impulses(d, s)
        s.step_gain += max(total - GAIN * size, 0.0)
    for g in contact_groups(d):
        contact = contacts_of(g)
        law = laws_of(g)
        for e in range(g.n):
            c = g.first_contact + e
            if s.status[c] == GAP or s.restitution_scale * law[e].restitution == 0.0:
                continue
            before = met_with(g, e, s)
            rebound = s.restitution_scale * restitution_at(g, e, before) * before
            short = rebound - max(gradient_times(g, e, contact.G_N[e], s.V), 0.0)
            if s.biased == 0:
                s.missed[c, 0] += 0.5 * s.aLam[c, 0] * max(short, 0.0)
            s.missed[c, 1] = max(s.missed[c, 1], before)
    s.restitution_scale = 1.0
