"""Approach velocities of contacts before an impact problem, which the impact law reflects.

Source: docs/theory/decoupled_nsga.md, (19).
"""

import math

from fem_mbs.jit import (
    kernel,
)
from fem_mbs.solvers.stepping.kernels.codes import STRIKES
from fem_mbs.system.contacts import (
    contacts_of,
    direction_of,
    gradient_times,
    laws_of,
    restitution_at,
)


@kernel
def at_the_touch(g, e, s):
    """True if the step ends where this contact touches (`nsga.split`): the impact velocities are those there."""
    return s.cut == STRIKES and s.touching[g.first_contact + e] != 0


@kernel
def without_restitution(s):
    """True if no contact reflects anything in this problem, see `reflected`."""
    return s.plastic != 0 or 2 * s.impact_problems >= s.max_problems


@kernel
def tangential_restitution(g, e, s):
    """e_T of contact e of a group in this problem."""
    e_T = laws_of(g)[e].tangential_restitution
    return 0.0 if e_T == 0.0 or without_restitution(s) else e_T


@kernel
def slide_before(g, e, s, m, Vminus):
    """Velocity of direction m, of sliding or drilling, that the impact law with e_T reflects."""
    contact = contacts_of(g)
    if at_the_touch(g, e, s):
        return gradient_times(g, e, direction_of(g, e, m), s.Vsminus)
    return gradient_times(g, e, contact.V_T_start[e, m - 1] if m < 3 else contact.W_N_start[e], Vminus)


@kernel
def touch_speed(g, e, d, s, speed):
    """Normal velocity at the touch by the energy, for ``speed`` at the start of the step; negative.

        ġ_t = −( ġ_n² − 2 a_N g_n )^½ ,   a_N = ( G_N v~ − G_N(q_n) v_n )/h                                       (1)

    A gap g_n that is round-off counts as closed.
    """
    contact = contacts_of(g)
    gap = contact.gap_start[e]
    if gap <= 100.0 * s.exact * s.scale_x:
        return -abs(speed)
    V0, Vs = s.V0, s.Vs
    change = gradient_times(g, e, contact.G_N[e], Vs) - gradient_times(g, e, contact.G_N_start[e], V0)
    return -math.sqrt(max(speed * speed - 2.0 * gap * change / s.h, 0.0))


@kernel
def comes_to_rest(g, e, s, speed):
    """True if a closed contact that leaves with ``speed`` ends all its bounces within the step.

    It returns after 2 speed/a, and each bounce lasts e times the one before: 2 speed/(a (1 − e)) ≤ h, a as in (1), with
    the largest e.
    """
    contact = contacts_of(g)
    lost = gradient_times(g, e, contact.G_N_start[e], s.V0) - gradient_times(g, e, contact.G_N[e], s.Vs)  # a h
    return 2.0 * speed <= (1.0 - laws_of(g)[e].restitution) * lost


@kernel
def was_open(g, e, s):
    """True if a contact was open as the step began, by more than round-off."""
    gap = contacts_of(g).gap_start[e]
    return s.was_active[g.first_contact + e] == 0 and gap > 100.0 * s.exact * s.scale_x


@kernel
def touches_within(g, e, s):
    """True if the speed of contact e at its touch is that of `contact.touch`: an open one that closes on its way."""
    if s.touch == 0 or s.approach == 0 or s.impact_problems != 0 or at_the_touch(g, e, s):
        return False
    return contacts_of(g).theta[e] == 0.0 and was_open(g, e, s)


@kernel
def closing_speed(g, e, s):
    """Normal velocity at the touch of a contact that was open, by `contact.touch`, (1); ≤ 0."""
    contact = contacts_of(g)
    end = gradient_times(g, e, contact.G_N[e], s.Vsminus)
    if end >= 0.0:
        return 0.0
    work = s.bias[g.first_contact + e] * gradient_times(g, e, contact.G_N[e], s.U)
    return -math.sqrt(max(end * end + 2.0 * work, 0.0))


@kernel
def approach_of(g, e, d, s, Vminus):
    """Normal velocity that Newton's law reflects; negative where the bodies approach.

    Along the normal of the start of the step, as published, or, with ``approach``, the slower of that and of the one
    along the normal of its end. The impulse acts along the latter, and does no more work than the law allows. At the
    start alone a normal that turns in the step gives energy, O(h); at its end alone a contact on a curved surface would
    never close. Bodies that leave along one of the normals have nothing to reflect: on a convex surface v_n of a closed
    contact leaves along the normal of the end, and its reflection would ask for an approach. With ``touch`` the first
    impact problem of a step takes the speed at the touch, by (1), or of a swept contact between the velocities at the
    start and at the end: an elastic contact then keeps its energy (docs/theory/sweep).
    With ``approach`` a contact that was open as the step began reflects along the normal of the end alone, by
    `closing_speed`: the normal of the start belongs to another place of a curved surface. A ball that crosses its
    socket leaves along it. A closed contact that leaves and returns within the step reflects no more than what it
    has at the end, and nothing if its bounces end in the step.
    A contact whose impact is split touches at the end of the step: the speed there is the one, whatever the options.
    """
    contact = contacts_of(g)
    if at_the_touch(g, e, s):
        return min(gradient_times(g, e, contact.G_N[e], s.Vsminus), 0.0)
    speed = gradient_times(g, e, contact.G_N_start[e], Vminus)
    first = s.touch != 0 and s.impact_problems == 0
    theta = contact.theta[e]
    if theta != 0.0:
        if first:
            speed += theta * (gradient_times(g, e, contact.G_N[e], s.Vs) - speed)
        if s.approach != 0:  # what the impulse meets: its bodies may turn on the way to the end of the step
            speed = min(max(speed, gradient_times(g, e, contact.G_N[e], s.Vsminus)), 0.0)
        return speed
    if s.approach != 0:
        other = gradient_times(g, e, contact.G_N[e], Vminus)
        if was_open(g, e, s):
            return closing_speed(g, e, s) if first else min(other, 0.0)
        if first and speed * other <= 0.0:
            speed = 0.0
        elif first and speed > 0.0:
            speed = min(speed, other)
            if comes_to_rest(g, e, s, speed):
                return 0.0
            return min(max(-speed, gradient_times(g, e, contact.G_N[e], s.Vsminus)), 0.0)
        else:
            speed = min(max(speed, other), 0.0)
    return touch_speed(g, e, d, s, speed) if first else speed


@kernel
def reflected(g, e, d, s, Vminus):
    """Term of Newton's law in the normal velocity of a contact: e_N times the approach.

    Towards the end of a long impact sequence nothing is reflected, see `nsga.velocity.choose_candidates`; nor with
    ``plastic``, for problems without a solution: a pendulum whose tip hits a wall in a self-locking position cannot
    rebound, because friction would hold it with the same cone (no v with G_N v + e_N G_N v− ≥ μ |G_T v|). Nor is
    sliding: the tip cannot leave sideways either. Less is
    reflected where all of it would give energy, see `contact.restitution.limit_restitution`. A method whose law has the
    gap gives the whole term as a bias.
    """
    if s.biased != 0:
        return s.bias[g.first_contact + e]
    if laws_of(g)[e].restitution == 0.0 or without_restitution(s):
        return 0.0
    approach = approach_of(g, e, d, s, Vminus)
    return s.restitution_scale * restitution_at(g, e, abs(approach)) * approach
