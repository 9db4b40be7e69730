"""How much restitution an impact may have: as much as its impulses do not gain energy with.

Source: docs/theory/accepted_steps.md, (3).
"""

from fem_mbs.jit import kernel
from fem_mbs.solvers.contact.approach import approach_of, reflected
from fem_mbs.solvers.contact.velocity import solve_velocities
from fem_mbs.solvers.stepping.codes import OK
from fem_mbs.system.contacts import B_GN, B_VT, B_W, gradient_times
from fem_mbs.system.records import groups_of

GAIN = 1e-8  # of the work of impulses, relative to its parts, that is round-off
LIMITING = 12  # problems to find how much restitution an impact may have
NARROW = 1e-3  # of the restitution: what is left of it, or not, is no better known


@kernel
def work_of_impulses(d, s):
    """Work of the contact impulses of the problem solved last, and the sum of the amounts of its parts [J].

        L = ½ Σ ( Λ·(γ⁺ + γ⁻) + χ·(ω⁺ + ω⁻) )                                                                    (1)

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
    solve_velocities(s, s.velocity_problem)
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
            if s.code != OK or high - low < NARROW:
                break
            if value > 0.0:
                high, gain, loss = last, value, 0.5 * loss
            else:
                low, loss, gain = last, value, 0.5 * gain
        if s.code == OK and last != low:
            gained(d, s, low)
    s.restitution_scale = 1.0
    s.limited_impacts += 1
