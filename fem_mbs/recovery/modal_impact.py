"""Impact of bodies that deform while it lasts: their modes at the contact, and between them the law of the contact.

Normal modes of both bodies and of what is joined to them, of unit modal mass, with coordinates η_j, give the
indentation at the contact; its force F loads each mode by its participation b_j, how far the gap opens per η_j:

    δ(t) = −g + v̄ t + ½ ā t² − Σ b_j η_j(t)                                                                        (1)
    η̈_j + c_j η̇_j + ω_j² η_j = f_j t + ½ f'_j t² + b_j F ,       η_j(0) = η̇_j(0) = 0                               (2)
    F = K δⁿ (1 + χ δ̇/δ̇_i), at least 0, while δ > 0                                                                (3)

v̄, ā are speed and acceleration of approach at the start, and f_j, f'_j the loads that make the free motion deviate from
them later. With ā = f = f' = 0 the bodies approach at constant speed. A rigid body of mass m is one mode with ω = 0,
b = 1/√m; of rigid bodies alone, (1)-(3) is the impact of the mass 1/Σ b_j². For the modes of an infinite plate
Σ b_j η̇_j → F/(8 √(D ρ h)) (Zener1941).

In a step of size s in which F is linear, (2) has an exact solution, whatever ω_j s; δ and δ̇ at its end are linear in
F there, which leaves one equation, x = F(δ̂ − S x, δ̂' − S' x), whose right side falls with x: one root. The error of F
is of order s²: `STEPS` to the shortest impact, that of the mass 1/Σ b_j² alone.

Source: docs/theory/force_recovery.md, "Bodies that deform"; modes with Hertz's law: Timoshenko1913; the step: here.
Tests: tests/core/recovery/test_modal_impact.py.

    symbol   code               unit         meaning
    b        participation      kg^-1/2      Gᵀ of the contact on modes of unit modal mass
    ω, c     omega, damping     rad/s, 1/s   c = 2 ζ ω
    f, f'    load               kg^½ m/s³ …  columns of (k, 2): rate of the load at the start, and its rate
    S, S'    give, give_rate    m/N, m/s/N   indentation that a force at the end of a step takes away
"""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from fem_mbs.arguments.checked import ArrayLike, Checked, Keywords, Named
from fem_mbs.errors import FemMbsError
from fem_mbs.jit import kernel
from fem_mbs.recovery.impact_curve import ImpactCurve

STEPS = 400  # to the shortest impact; of a Hertz impact the peak is right to 1e-5 then
MOST = 400_000  # steps of an impact
LASTS_ON, NO_TOUCH = -1, -2  # instead of a number of rows
FLIES, TOUCHES, AWAY = 0, 1, 2


@Keywords.known
@dataclass(frozen=True, repr=False)
class ContactModes(Checked):
    """Modes of the bodies at a contact, as far as their normal motion there goes; those of both bodies in one list.

    Parameters
    ----------
    omega : (k,) ≥ 0 [rad/s]
        Circular frequencies; 0 for rigid motions.
    participation : (k,) [kg^-1/2]
        How far the gap opens per coordinate of the mode, of unit modal mass: normal displacement of the shape at the
        contact over the root of its modal mass. A rigid body of mass m that moves along the normal: 1/√m.
    damping : (k,) ≥ 0 [1/s], optional
        2 ζ ω; default: none.

    Notes
    -----
    They enter by their squares: signs do not matter where the bodies approach at constant speed, as they do for a run
    whose ``modes`` are given as `ContactModes`. For the modes of a model see `ReducedContact`.

    Examples
    --------
    >>> from fem_mbs.recovery.modal_impact import ContactModes
    >>> ball, beam = ContactModes([0.0], [2.0]), ContactModes([3000.0], [1.5])
    >>> round((ball + beam).mass, 3)
    0.16
    """

    omega: ArrayLike
    participation: ArrayLike
    damping: ArrayLike | None = None

    def __post_init__(self):
        damping = np.zeros(np.size(self.omega)) if self.damping is None else self.damping
        for name, value in (("omega", self.omega), ("participation", self.participation), ("damping", damping)):
            array = np.atleast_1d(self.as_array(name, value))
            object.__setattr__(self, name, array)
            self.check(array.shape == (np.size(self.omega),), name, value, "must have one number for each mode")
        for name in ("omega", "damping"):
            self.check(np.all(getattr(self, name) >= 0), name, getattr(self, name), "must not be negative")
        self.check(np.any(self.participation != 0), "participation", self.participation, "has no mode that moves there")

    def __add__(self, other: "ContactModes") -> "ContactModes":
        """Modes of two bodies that are not joined."""
        names = ("omega", "participation", "damping")
        return ContactModes(*(np.concatenate([getattr(one, name) for one in (self, other)]) for name in names))

    def __len__(self):
        return np.size(self.omega)

    def __repr__(self):
        return f"ContactModes({len(self)} up to {np.max(self.omega) / (2 * np.pi):.4g} Hz, {self.mass:.4g} kg)"

    @property
    def mass(self) -> float:
        """Mass [kg] that a rigid impact meets, 1/Σ b²: it falls with every mode more."""
        return 1.0 / float(np.sum(np.square(np.asarray(self.participation, float))))

    def local_motion(self, result: Any, contact: str, state: int, speed: float, stiff: tuple) -> "LocalMotion":
        """`LocalMotion` of an impact of a run: constant speed of approach from first touch."""
        return LocalMotion(self, np.zeros((len(self), 2)), 0.0, speed, 0.0, True)


class LocalMotion(NamedTuple):
    """Where an impact starts: modes, their loads f, f' (k, 2), gap g [m], speed v̄ [m/s], acceleration ā [m/s²].

    ``still``: time runs from first touch, not from the state.
    """

    modes: ContactModes
    load: np.ndarray
    gap: float
    speed: float
    acceleration: float
    still: bool = False


class ModalImpact(NamedTuple):
    """An impact: its curve, with times from the start of its `LocalMotion`, the speed of approach at first touch, and
    ``again``: True if the bodies touch again within its duration. Without a curve ``problem`` states the reason.
    """

    curve: ImpactCurve | None
    speed: float
    again: bool
    problem: str


def shortest(mass: float, speed: float, stiffness: float, exponent: float) -> float:
    """Duration [s] of the elastic impact of a mass, to some per cent: that of Hertz is 2.94 (…)."""
    return 3.0 * (mass * speed**2 / stiffness) ** (1 / (exponent + 1)) / speed


def transitions(modes: ContactModes, s: float) -> np.ndarray:
    """(k, 2, 4): η, s η̇ after a step of size s from η, s η̇, s² load at its start and the change of s² load in it."""
    from scipy.linalg import expm

    A = np.zeros((len(modes), 4, 4))
    A[:, 0, 1] = A[:, 1, 2] = A[:, 2, 3] = 1.0
    omega, damping = np.asarray(modes.omega, float), np.asarray(modes.damping, float)
    A[:, 1, 0], A[:, 1, 1] = -((omega * s) ** 2), -damping * s
    return np.ascontiguousarray(expm(A)[:, :2])


@kernel
def law(K, n, chi, v, delta, rate):
    """(3)"""
    if delta <= 0.0:
        return 0.0
    return max(K * delta**n * (1.0 + chi * rate / v), 0.0)


@kernel
def force_at_end(K, n, chi, v, delta, rate, give, give_rate):
    """Root of x = F(δ̂ − S x, δ̂' − S' x) by bisection and secants (Illinois)."""
    low, high = 0.0, law(K, n, chi, v, delta, rate)
    at_low, at_high = -high, 0.0
    if high == 0.0:
        return 0.0
    at_high = high - law(K, n, chi, v, delta - give * high, rate - give_rate * high)
    side = 0
    x = high
    for _ in range(200):
        if at_high - at_low <= 0.0:
            break
        x = (low * at_high - high * at_low) / (at_high - at_low)
        miss = x - law(K, n, chi, v, delta - give * x, rate - give_rate * x)
        if abs(miss) <= 1e-13 * high or high - low <= 1e-14 * high:
            break
        if miss > 0.0:
            high, at_high = x, miss
            if side == 1:
                at_low *= 0.5
            side = 1
        else:
            low, at_low = x, miss
            if side == -1:
                at_high *= 0.5
            side = -1
    return x


@kernel
def free_end(E, b, load, F, t, s, eta, rate):
    """Advance modes (η, s η̇) by a step from t in which the force falls from F to 0; returns Σ b η, Σ b η̇ at its end."""
    gap = speed = 0.0
    for j in range(len(b)):
        first, grows = t * (load[j, 0] + 0.5 * t * load[j, 1]), s * (load[j, 0] + (t + 0.5 * s) * load[j, 1])
        L, change = s * s * (first + b[j] * F), s * s * (grows - b[j] * F)
        here, moves = eta[j], rate[j]
        eta[j] = E[j, 0, 0] * here + E[j, 0, 1] * moves + E[j, 0, 2] * L + E[j, 0, 3] * change
        rate[j] = E[j, 1, 0] * here + E[j, 1, 1] * moves + E[j, 1, 2] * L + E[j, 1, 3] * change
        gap += b[j] * eta[j]
        speed += b[j] * rate[j]
    return gap, speed / s


@kernel
def push(E, b, F, s, eta, rate):
    """Add what a force that grows from 0 to F within the step does to its end; returns the changes of Σ b η, Σ b η̇."""
    gap = speed = 0.0
    for j in range(len(b)):
        eta[j] += E[j, 0, 3] * s * s * b[j] * F
        rate[j] += E[j, 1, 3] * s * s * b[j] * F
        gap += E[j, 0, 3] * s * s * b[j] ** 2 * F
        speed += E[j, 1, 3] * s * b[j] ** 2 * F
    return gap, speed


@kernel
def integrate(E, b, load, start, contact, s, eta, rate, out):
    """March (1)-(3) with steps s into out (steps, 4): t, F, δ, δ̇; returns rows written, approach speed, touches again.

    E (k, 2, 4) of `transitions`; start = −g, v̄, ā; contact = K, n, χ; eta, rate (k,) at the start, rate times s.
    """
    K, n, chi = contact[0], contact[1], contact[2]
    give = give_rate = 0.0
    before, before_rate = start[0], start[1]
    for j in range(len(b)):
        give += E[j, 0, 3] * s * s * b[j] ** 2
        give_rate += E[j, 1, 3] * s * b[j] ** 2
        before -= b[j] * eta[j]
        before_rate -= b[j] * rate[j] / s
    phase, rows, begin, end = FLIES, 0, 0, 0
    F = v = 0.0
    for i in range(1, 2 * len(out)):
        t = i * s
        gap, speed = free_end(E, b, load, F, t - s, s, eta, rate)
        delta = start[0] + (start[1] + 0.5 * start[2] * t) * t - gap
        speed = start[1] + start[2] * t - speed
        if phase == FLIES and delta > 0.0:
            part = -before / (delta - before) if before < 0.0 else 0.0
            v = before_rate + part * (speed - before_rate)
            if v <= 0.0:
                return 0, v, False
            out[0, 0], out[0, 1], out[0, 2], out[0, 3] = t - s + part * s, 0.0, 0.0, v
            phase, rows, begin = TOUCHES, 1, i
        if phase == TOUCHES:
            F = force_at_end(K, n, chi, v, delta, speed, give, give_rate)
            gap, rest = push(E, b, F, s, eta, rate)
            delta, speed = delta - gap, speed - rest
            if rows == len(out):
                break
            out[rows, 0], out[rows, 1], out[rows, 2], out[rows, 3] = t, F, delta, speed
            if delta <= 0.0:
                part = before / (before - delta) if before > 0.0 else 1.0
                out[rows, 0], out[rows, 2] = t - s + part * s, 0.0
                out[rows, 3] = before_rate + part * (speed - before_rate)
                phase, end = AWAY, i
            rows += 1
        elif phase == AWAY and (delta > 0.0 or i - end > end - begin):
            return rows, v, delta > 0.0
        before, before_rate = delta, speed
    return (rows, v, False) if phase == AWAY else (LASTS_ON if phase == TOUCHES else NO_TOUCH, v, False)


def resolve(
    local: LocalMotion, stiffness: float, exponent: float, factor: float, steps: int = STEPS, most: int = MOST
) -> ModalImpact:
    """`ModalImpact` of a `LocalMotion`, from first touch to separation."""
    modes, load, gap, speed, acceleration, _ = local
    if not speed > 0.0:
        return ModalImpact(None, speed, False, "no approach speed")
    b, s = np.asarray(modes.participation, float), shortest(modes.mass, speed, stiffness, exponent) / steps
    start, eta, rate = np.array([-gap, speed, acceleration]), np.zeros(len(modes)), np.zeros(len(modes))
    out = np.empty((most, 4))
    contact = np.array([stiffness, exponent, factor])
    rows, v, again = integrate(transitions(modes, s), b, load, start, contact, s, eta, rate * s, out)
    if rows <= 0:
        problems = {LASTS_ON: "does not separate", NO_TOUCH: "does not touch"}
        return ModalImpact(None, v, False, problems.get(rows, "no approach speed"))
    times, force, delta, velocity = out[:rows].T.copy()
    return ModalImpact(ImpactCurve(times, force, delta, velocity), v, bool(again), "")


def resolved(owner: Named, modes: Any, speed: float, stiffness: float, exponent: float, factor: float) -> ImpactCurve:
    """`resolved_impact` of bodies with modes."""
    owner.as_instance("modes", modes, ContactModes, "ContactModes of both bodies")
    found = resolve(modes.local_motion(None, "", 0, speed, ()), stiffness, exponent, factor)
    if found.curve is None:
        raise FemMbsError(
            f"resolved_impact: the bodies do not separate within {MOST / STEPS:g} times the shortest impact: are there "
            "modes of rigid motion (omega = 0) of the body that hits? A body held by springs alone stays in contact"
        )
    return found.curve
