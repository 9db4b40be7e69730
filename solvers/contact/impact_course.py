"""Impact at one contact, integrated along its normal impulse: Darboux-Keller equations, restitution of Stronge or of
Poisson.

Positions stand still, and velocities u = (u_N, u_1, u_2) of the contact follow the normal impulse p from 0 on,

    du/dp = W (1, f) ,   f = −μ u_T/|u_T| while it slides; sticking: du_T/dp = 0 where that takes |f| ≤ μ           (1)

W is the inverse mass of the contact (Delassus matrix, 3×3). Where slip ends with |f| > μ needed, it starts again in the
only direction τ that (1) keeps:

    (a I + μ W_TT) τ = W_TN ,   |τ| = 1 ,   a = d|u_T|/dp > 0                                                       (2)

|τ| falls with a. From there on, as while it sticks, all rates are constant. Compression lasts to u_N = 0, restitution
until the work of the normal impulse has given back e² of what compression took (Stronge), or the normal impulse e of
that of compression (Poisson):

    ∫ u_N dp (u_N > 0) = −e² ∫ u_N dp (u_N < 0)      or      ∫ dp (u_N > 0) = e ∫ dp (u_N < 0)                       (3)

Friction works with f·u_T ≤ 0 and the normal impulse of Stronge with −(1 − e²) of the work of compression.

Runge-Kutta steps of order 4 in p, each at most `PART` of the slip over the rate |du_T/dp| + μ |W_TT|, are exact while
slip keeps its direction. Axes are those in which W_TT is diagonal.

Source: docs/theory/split_impacts.md, (5)-(9); Keller 1986, Routh 1905, Stronge 1990, Batlle 1996.

    symbol              code
    W_NN, W_NT, W_TT    m[0], m[1:3], m[3:5]
    f where constant    m[5:7]
    state               y: u_N, u_1, u_2, impulses of friction, work of the normal impulse
"""

import math

from fem_mbs.jit import kernel, local_vector
from fem_mbs.solvers.contact.law import GAP, SLIP, STICK

PART = 0.03  # of the slip that a step may change
ENDED = 1e-12  # of the velocities before the impact: slip below it has ended
STRAIGHT = 1e-13  # of the rate of slip: one below it does not turn it
IMMOBILE = 1e-10  # of the inverse mass: tangents below it cannot move
CLOSE = 1e-13  # events are found to this part of the velocity or of the work
MOST_STEPS, MOST_TRIALS = 20_000, 60


@kernel
def force_of_slip(mu, y, f):
    """Friction per normal impulse of a contact that slides; its speed."""
    speed = math.sqrt(y[1] * y[1] + y[2] * y[2])
    f[0], f[1] = -mu * y[1] / speed, -mu * y[2] / speed
    return speed


@kernel
def rates(m, mu, constant, y, k):
    """Rates k (6,) of the state by (1)."""
    f = local_vector(2)
    f[0], f[1] = m[5], m[6]
    if not constant:
        force_of_slip(mu, y, f)
    k[0] = m[0] + m[1] * f[0] + m[2] * f[1]
    k[1], k[2] = m[1] + m[3] * f[0], m[2] + m[4] * f[1]
    k[3], k[4], k[5] = f[0], f[1], y[0]


@kernel
def take_step(m, mu, constant, y, dp, end):
    """State ``end`` a normal impulse dp after state y."""
    a, b, c, e, at = local_vector(6), local_vector(6), local_vector(6), local_vector(6), local_vector(6)
    rates(m, mu, constant, y, a)
    for i in range(6):
        at[i] = y[i] + 0.5 * dp * a[i]
    rates(m, mu, constant, at, b)
    for i in range(6):
        at[i] = y[i] + 0.5 * dp * b[i]
    rates(m, mu, constant, at, c)
    for i in range(6):
        at[i] = y[i] + dp * c[i]
    rates(m, mu, constant, at, e)
    for i in range(6):
        end[i] = y[i] + dp * (a[i] + 2.0 * (b[i] + c[i]) + e[i]) / 6.0


@kernel
def find_event(m, mu, constant, y, dp, i, value, scale, end):
    """Impulse up to dp at which component i of the state passes ``value``, and the state there; Newton and bisection.

    It does between 0 and dp. Component 0 is u_N, 5 the work of the normal impulse.
    """
    low, high, k = 0.0, dp, local_vector(6)
    sign = 1.0 if y[i] < value else -1.0
    for _ in range(MOST_TRIALS):
        take_step(m, mu, constant, y, dp, end)
        miss = sign * (end[i] - value)
        if abs(miss) <= CLOSE * scale:
            break
        if miss > 0.0:
            high = dp
        else:
            low = dp
        rates(m, mu, constant, end, k)
        dp = dp - miss / (sign * k[i]) if sign * k[i] > 0.0 else low
        if not low < dp < high:
            dp = 0.5 * (low + high)
    return dp


@kernel
def size_of_direction(m, mu, a, f):
    """|τ| of (2) for a given a; τ in f. Tangents that cannot move have no part in it."""
    for i in range(2):
        f[i] = m[1 + i] / (a + mu * m[3 + i]) if m[3 + i] > 0.0 else 0.0
    return math.sqrt(f[0] * f[0] + f[1] * f[1])


@kernel
def from_rest(m, mu):
    """Set the constant friction of a contact whose slip has ended: it sticks, or slides by (2). Returns its status."""
    f = local_vector(2)
    if size_of_direction(m, mu, 0.0, f) <= 1.0:
        m[5], m[6] = -mu * f[0], -mu * f[1]
        return STICK
    low, high = 0.0, math.sqrt(m[1] * m[1] + m[2] * m[2])
    for _ in range(MOST_TRIALS):
        middle = 0.5 * (low + high)
        if size_of_direction(m, mu, middle, f) > 1.0:
            low = middle
        else:
            high = middle
    size = size_of_direction(m, mu, 0.5 * (low + high), f)
    m[5], m[6] = -mu * f[0] / size, -mu * f[1] / size
    return SLIP


@kernel
def impulse_to_event(u, rate, work):
    """Normal impulse until u_N = 0 (``work`` = 0), or until its work is that, at a constant rate of u_N; infinite if
    never."""
    if work == 0.0:
        return -u / rate if rate > 0.0 else math.inf
    square = u * u + 2.0 * rate * work
    return 2.0 * work / (u + math.sqrt(square)) if square > 0.0 else math.inf


@kernel
def longest_step(m, mu, y, F):
    """Largest step while slip turns, and True where slip continues straight to its end."""
    f = local_vector(2)
    speed = force_of_slip(mu, y, f)
    F[0], F[1] = m[1] + m[3] * f[0], m[2] + m[4] * f[1]
    size = math.sqrt(F[0] * F[0] + F[1] * F[1])
    if abs(F[0] * y[2] - F[1] * y[1]) > STRAIGHT * size * speed:
        return PART * speed / (size + mu * max(m[3], m[4])), False
    if F[0] * y[1] + F[1] * y[2] >= 0.0:
        return math.inf, False
    m[5], m[6] = f[0], f[1]
    return speed / size, True


@kernel
def integrate(m, mu, part, by_impulse, y):
    """Integrate the state y from before the impact to its end; (normal impulse, status), GAP where there is no end.

    part: of what compression takes, which restitution gives back; by_impulse: impulse and not work is taken and given.
    """
    end, k, F = local_vector(6), local_vector(6), local_vector(2)
    scale = math.sqrt(y[0] * y[0] + y[1] * y[1] + y[2] * y[2])
    first, p, taken, given = abs(y[0]), 0.0, 0.0, 0.0
    status, constant, compressed = SLIP, False, True
    for _ in range(MOST_STEPS):
        if not constant and math.sqrt(y[1] * y[1] + y[2] * y[2]) <= ENDED * scale:
            y[1] = y[2] = 0.0
            status, constant = from_rest(m, mu), True
        limit, straight = math.inf, False
        if not constant:
            limit, straight = longest_step(m, mu, y, F)
        rates(m, mu, constant, y, k)
        missing = 0.0 if compressed else part * taken - given
        to_end = missing if by_impulse and not compressed else impulse_to_event(y[0], k[0], missing)
        dp = min(to_end, limit)
        if not dp < math.inf:
            return 0.0, GAP
        take_step(m, mu, constant or straight, y, dp, end)
        if compressed and end[0] > CLOSE * first:
            dp = find_event(m, mu, constant or straight, y, dp, 0, 0.0, first, end)
        elif not compressed and end[0] < 0.0:
            dp = find_event(m, mu, constant or straight, y, dp, 0, 0.0, first, end)
            end[0] = 0.0
        elif not compressed and not by_impulse and end[5] - y[5] > missing + CLOSE * taken:
            dp = find_event(m, mu, constant or straight, y, dp, 5, y[5] + missing, taken, end)
        p += dp
        amount = dp if by_impulse else abs(end[5] - y[5])
        if compressed:
            taken += amount
        else:
            given += amount
        ends_slip = straight and dp == limit
        for i in range(6):
            y[i] = end[i]
        if ends_slip:
            y[1] = y[2] = 0.0
        if compressed:
            compressed = y[0] < -CLOSE * first
        elif y[0] <= 0.0:
            compressed = True  # slip that has turned drives the bodies together again
        if not compressed and given >= part * taken - 2.0 * CLOSE * taken:
            return p, status
    return 0.0, GAP


@kernel
def integrate_impact(W, u, mu, e, by_impulse, p):
    """Fill p (3,) [N s]: normal and tangential impulses of an impact; return its last status, GAP if there is no end.

    W (3, 3) [1/kg]: inverse mass of the contact; u (3,) [m/s]: its velocities before the impact, on return those after
    it; mu, e [-]: friction and restitution; by_impulse: e is Poisson's ratio of impulses, not Stronge's of energies.
    """
    m, y = local_vector(7), local_vector(6)
    angle = 0.5 * math.atan2(2.0 * W[1, 2], W[1, 1] - W[2, 2])
    c, s = math.cos(angle), math.sin(angle)
    m[0] = W[0, 0]
    m[1], m[2] = c * W[0, 1] + s * W[0, 2], c * W[0, 2] - s * W[0, 1]
    m[3] = c * c * W[1, 1] + 2.0 * c * s * W[1, 2] + s * s * W[2, 2]
    m[4] = s * s * W[1, 1] - 2.0 * c * s * W[1, 2] + c * c * W[2, 2]
    for i in range(2):
        if m[3 + i] <= IMMOBILE * max(m[0], m[3], m[4]):
            m[1 + i] = m[3 + i] = 0.0
    m[5] = m[6] = 0.0
    y[0], y[1], y[2] = u[0], c * u[1] + s * u[2], c * u[2] - s * u[1]
    y[3] = y[4] = y[5] = 0.0
    p[0], status = integrate(m, mu, e if by_impulse else e * e, by_impulse, y)
    p[1], p[2] = c * y[3] - s * y[4], s * y[3] + c * y[4]
    u[0], u[1], u[2] = y[0], c * y[1] - s * y[2], s * y[1] + c * y[2]
    return status
