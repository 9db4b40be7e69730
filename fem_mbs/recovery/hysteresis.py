"""Compliant contact laws: force from indentation and its rate, with the energy loss that a restitution asks for.

Indentation δ ≥ 0, rate δ̇ > 0 while closing, δ̇_i at first touch, restitution e = −δ̇_f/δ̇_i:

    F = K δⁿ (1 + χ δ̇/δ̇_i)           n = 3/2 for surfaces that touch in a point (Hertz)                      (1)

    hunt-crossley        χ = 3 (1 − e)/2                                              Hunt, Crossley 1975      (2)
    lankarani-nikravesh  χ = 3 (1 − e²)/4                                             1990                     (3)
    hu                   χ = −6.66264 ln e/(3.85238 + ln e)                           Hu et al. 2011           (4)
    flores               χ = 8 (1 − e)/(5 e)                                          Flores et al. 2011       (5)
    zhang                χ = 3 (1 − e)/(2 e (0.6181 exp(−3.52 e) + 0.899 exp(0.09025 e)))   Zhang et al. 2020  (6)
    consistent           χ (1 + e) = ln((1 + χ)/(1 − χ e))                                                     (7)

(7) is the factor with which m δ̈ = −F ends with exactly −e δ̇_i, whatever the exponent: with u = δ̇/δ̇_i the equation
separates, u du/(1 + χ u) = −K δⁿ dδ/(m δ̇_i²), and both sides vanish over the impact. (4)-(6) are fits of it, (6) within
0.5 % for 0.2 ≤ e ≤ 0.95; (2) and (3) hold for e near 1 and return more speed than e below. A resolved impact never
pulls: χ times the restitution that it reaches is below 1 (but see `fem_mbs.recovery.recover`).

The resolved impact, `resolved_impact`, is solved in the units L₀ = (m δ̇_i²/K)^(1/(n+1)), T₀ = L₀/δ̇_i, F₀ = m δ̇_i²/L₀,
in which (1) has no other parameters than χ and n.

Source: docs/theory/force_recovery.md, (11)-(13); Sanchez2025, table 2.1 and annex C, table C.1; (7) derived here.

    symbol  code            unit   meaning
    δ, δ̇    delta, rate     m, m/s indentation and its rate
    δ̇_i     speed           m/s    rate at first touch
    K, n    stiffness, exponent   N/mⁿ, -
    χ       factor          -      hysteresis factor: the damping D of the literature is χ K/δ̇_i
    m       mass            kg     effective mass of the pair along the normal
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from fem_mbs.arguments.checked import ArrayLike, Checked, Keywords, Named
from fem_mbs.errors import FemMbsError
from fem_mbs.recovery.impact_curve import ImpactCurve, evenly
from fem_mbs.results.file.names import unknown_name

LOWEST_RESTITUTION = 0.02  # below, the laws are singular: χ of (4)-(7) goes to infinity with 1/e


def _consistent(e):
    """Root of (7) by bisection for u = −ln(1 − χ e), which keeps its digits where χ e is near 1."""
    e = np.asarray(e, float)
    low, high = np.full_like(e, 1e-14), 60.0 + 2.0 / e
    for _ in range(100):
        u = 0.5 * (low + high)
        chi = -np.expm1(-u) / e
        below = np.log1p(chi) + u < chi * (1 + e)
        low, high = np.where(below, u, low), np.where(below, high, u)
    # near e = 1 both sides of (7) agree to round-off: first terms of its series there
    return np.where(e > 1 - 1e-5, 1.5 * (1 - e**2) / (1 + e**3), chi)


FACTORS = {
    "hunt-crossley": lambda e: 1.5 * (1 - e),
    "lankarani-nikravesh": lambda e: 0.75 * (1 - e**2),
    "hu": lambda e: -6.66264 * np.log(e) / (3.85238 + np.log(e)),
    "flores": lambda e: 1.6 * (1 - e) / e,
    "zhang": lambda e: 1.5 * (1 - e) / (e * (0.6181 * np.exp(-3.52 * e) + 0.899 * np.exp(0.09025 * e))),
    "consistent": _consistent,
}


@Keywords.known
def hysteresis_factor(model: Any, restitution: ArrayLike) -> np.ndarray:
    """Hysteresis factor χ of (1).

    Parameters
    ----------
    model : str or callable
        Name of a law, (2)-(7), or a function of the restitution that returns χ ≥ 0.
    restitution : float or array, 0.02 … 1, -
        Below 0.04 (4) has a pole (ln e = −3.85) and goes wrong; prefer (6), (7).

    Returns
    -------
    array of the shape of ``restitution``

    Raises
    ------
    UnknownNameError, FemMbsError
        No such law; restitution out of range; a function that returns something else than finite numbers ≥ 0.

    Examples
    --------
    >>> from fem_mbs.recovery.hysteresis import hysteresis_factor
    >>> round(float(hysteresis_factor("flores", 0.8)), 4), round(float(hysteresis_factor("consistent", 0.8)), 4)
    (0.4, 0.3731)
    """
    owner = Named("hysteresis_factor")
    e = owner.as_array("restitution", restitution, finite=False)
    message = f"must be between {LOWEST_RESTITUTION:g} and 1"
    owner.check(np.all((e >= LOWEST_RESTITUTION) & (e <= 1)), "restitution", restitution, message)
    if not callable(model) and not (isinstance(model, str) and model in FACTORS):
        raise unknown_name(model, FACTORS, "the list of hysteresis models")
    if callable(model):
        owner.as_function("model", model, "a function of the restitution", 1)
    factor = owner.as_array("model", (model if callable(model) else FACTORS[model])(e), finite=False)
    factor = np.broadcast_to(factor, e.shape) if factor.ndim == 0 else factor
    if factor.shape != e.shape or not np.all(np.isfinite(factor) & (factor >= 0)):
        raise FemMbsError(
            f"hysteresis model {_title(model)}: χ = {factor} for restitution = {e}; it must be a finite "
            "number ≥ 0 for each restitution"
        )
    return factor


def _title(model):
    """How a model is named in messages and plots."""
    return model if isinstance(model, str) else getattr(model, "__name__", type(model).__name__)


@Keywords.known
@dataclass(frozen=True, repr=False)
class ForceLaw(Checked):
    """A contact law of the user that is not of the form (1).

    Parameters
    ----------
    force : callable
        ``force(delta, rate, speed, restitution)`` with indentations delta ≥ 0 (k,) [m], rates (k,) [m/s] (> 0 closing),
        the approach speed [m/s] and the restitution of the impact; returns forces (k,) [N]. It must grow with delta and
        be zero at delta = 0.
    name : str

    Examples
    --------
    >>> from fem_mbs.recovery.hysteresis import ForceLaw
    >>> law = ForceLaw(lambda delta, rate, speed, e: 1e6 * delta * (1 + 0.2 * rate / speed), name="linear")
    """

    force: object
    name: str = "user law"

    def __post_init__(self):
        Named("ForceLaw").as_text("name", self.name)
        self.as_function("force", self.force, "force(delta, rate, speed, restitution)", 4)

    def __call__(self, delta, rate, speed, restitution):
        """Forces (k,) [N], checked."""
        force = np.asarray(self.force(delta, rate, speed, restitution), float)
        if force.shape != np.shape(delta) or not np.all(np.isfinite(force)):
            raise FemMbsError(
                f"ForceLaw '{self.name}' returned {force if force.size < 4 else 'values'} of shape {force.shape} for "
                f"{np.size(delta)} indentations up to {np.max(delta):.3g} m; it must return as many finite forces"
            )
        return force


@Keywords.known
def resolved_impact(
    *,
    mass: float | None = None,
    speed: float,
    stiffness: float,
    exponent: float = 1.5,
    factor: float = 0.0,
    samples: int = 1001,
    modes: Any = None,
) -> ImpactCurve:
    """Impact of a mass on a compliant surface, integrated in time: what a recovered impact is compared with.

    m δ̈ = −K δⁿ (1 + χ δ̇/δ̇_i) from δ = 0, δ̇ = δ̇_i until δ = 0 again, by an explicit Runge-Kutta method of order 8
    (scipy's DOP853) to a relative error of about 1e-11.

    Parameters
    ----------
    mass : float > 0 [kg]
        Effective mass of the pair along the normal: m for a ball on the ground, m_A m_B/(m_A + m_B) for two.
    speed : float > 0 [m/s]
    stiffness : float > 0 [N/mⁿ]
    exponent : float ≥ 1, -
    factor : float ≥ 0, -
        χ, see `hysteresis_factor`.
    samples : int
        Number of times, evenly spaced.
    modes : ContactModes, optional
        In place of ``mass``: modes of both bodies at the contact, which vibrate while it lasts. From first touch to
        first separation, in equal steps, see `fem_mbs.recovery.modal_impact`.

    Returns
    -------
    ImpactCurve

    Raises
    ------
    FemMbsError
        For a parameter out of its range; bodies with ``modes`` that do not separate.
    """
    from scipy.integrate import solve_ivp

    owner = Named("resolved_impact")
    speed = owner.positive("speed", speed, "m/s")
    stiffness, factor = owner.positive("stiffness", stiffness, "N/m^n"), owner.number("factor", factor, at_least=0)
    exponent, samples = owner.number("exponent", exponent, at_least=1, at_most=20), owner.as_integer("samples", samples)
    owner.check(samples <= 10_000_000, "samples", samples, "are too many: 10 million at most")
    if modes is not None:
        from fem_mbs.recovery.modal_impact import resolved

        owner.check(mass is None, "mass", mass, "is not used with modes, which hold it; remove it")
        return evenly(resolved(owner, modes, speed, stiffness, exponent, factor), samples)
    mass = owner.positive("mass", mass, "kg")
    length = (mass * speed**2 / stiffness) ** (1 / (exponent + 1))

    def rates(_, y):
        return y[1], -(max(y[0], 0.0) ** exponent) * (1 + factor * y[1])

    def leaves(tau, y):
        return y[0] if tau > 0.1 else 1.0

    leaves.terminal, leaves.direction = True, -1  # type: ignore[attr-defined]
    # the end is near 3 T₀ for e = 1 and goes like χ for large χ, where the surface creeps back
    run = solve_ivp(
        rates, (0, 1e3 * (1 + factor)), (0.0, 1.0), "DOP853", events=leaves, rtol=1e-12, atol=1e-14, dense_output=True
    )
    if not len(run.t_events[0]):
        raise FemMbsError(f"resolved_impact: the bodies do not separate (factor = {factor:g}, exponent = {exponent:g})")
    tau = np.linspace(0, run.t_events[0][0], samples)
    delta, rate = run.sol(tau)
    delta = np.maximum(delta, 0.0)
    force = delta**exponent * (1 + factor * rate)
    return ImpactCurve(tau * length / speed, force * mass * speed**2 / length, delta * length, rate * speed)
