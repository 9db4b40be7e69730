"""Base of methods that integrate with the generalized-α method: coefficients, change of the step size."""

from typing import TYPE_CHECKING

import numpy as np

from fem_mbs.arguments.options import number, option, optional
from fem_mbs.solvers.alpha.coefficients import Coefficients, complete, of_radius, radius_at_infinity, violated
from fem_mbs.solvers.stepping.stepper import Stepper

if TYPE_CHECKING:
    from fem_mbs.solvers.stepping.engine import Engine


DEFAULT = 0.8  # ρ∞
GIVEN = "alpha_m", "alpha_f", "gamma", "beta"


class AlphaMethod(Stepper):
    """Coefficients that follow from ρ∞, the spectral radius at infinite frequency, or that are given
    (docs/theory/decoupled_nsga.md, (9), (10); docs/theory/generalized_alpha.md, Newmark and HHT).

    Parameters
    ----------
    rho_inf : float, 0 … 1, optional, -
        Spectral radius at infinite frequency: 1 keeps all frequencies, 0 removes what the step does not resolve.
        Default: 0.8, or that of the coefficients that are given.
    alpha_m, alpha_f : float ≤ 1/2, optional, -
        Coefficients of Chung and Hulbert instead of those of ``rho_inf``: alpha_m weighs the inertia forces of the last
        step, alpha_f the other forces. HHT: ``alpha_f`` = 0 … 1/3 alone, which is the -α of that method; WBZ:
        ``alpha_m`` ≤ 0 alone. Default of each one where another one is given: 0.
    gamma, beta : float, optional, -
        Coefficients of Newmark, alone or with alpha_m and alpha_f. Default: gamma = 1/2 + alpha_f - alpha_m, with which
        the method is of second order; beta = (gamma + 1/2)²/4. ``gamma=0.5`` is the trapezoidal rule. Unstable ones
        raise an error with the inequality that they violate.
    """

    rho_inf: float | None = option(default=None, check=optional(number(at_least=0, at_most=1)), kw_only=False)
    alpha_m: float | None = option(default=None, check=optional(number()))
    alpha_f: float | None = option(default=None, check=optional(number()))
    gamma: float | None = option(default=None, check=optional(number()))
    beta: float | None = option(default=None, check=optional(number()))
    error_order = 3  # of the local error in the step size

    def __post_init__(self) -> None:
        super().__post_init__()
        given = [name for name in GIVEN if getattr(self, name) is not None]
        if not given:
            self.rho_inf = DEFAULT if self.rho_inf is None else self.rho_inf
            return
        message = f"cannot be combined with {', '.join(given)}, which set the spectral radius; remove one of both"
        self.check(self.rho_inf is None, "rho_inf", self.rho_inf, message)
        coefficients = self.coefficients
        if found := violated(coefficients, self.gamma is not None):
            name, inequality = found
            message = f"must be {inequality}: with others the method is unstable, where steps do not resolve vibrations"
            self.check(False, name, getattr(coefficients, name), message)
        self.rho_inf = radius_at_infinity(coefficients)

    def chosen(self) -> list[str]:
        """Names of options that are not the default ones; ``rho_inf`` is one where it was given, with another value."""
        by_default = self.rho_inf == DEFAULT or any(getattr(self, name) is not None for name in GIVEN)
        return [name for name in super().chosen() if name != "rho_inf" or not by_default]

    @property
    def order(self) -> int:
        return 2 if self.coefficients.second_order else 1

    @property
    def coefficients(self) -> Coefficients:
        """α_m, α_f, β, γ of the generalized-α method."""
        if all(getattr(self, name) is None for name in GIVEN):
            return of_radius(self.rho_inf)  # type: ignore[arg-type]
        return complete(self.alpha_m, self.alpha_f, self.gamma, self.beta)

    def _of_step(self, h: float) -> dict[str, float]:
        """Numbers that depend on the step size: ∂v̇/∂v and ∂D/∂v."""
        alpha_m, alpha_f, beta, gamma = self.coefficients
        return {"c_a": (1 - alpha_m) / ((1 - alpha_f) * gamma * h), "c_q": h * beta / gamma}

    def _numbers_of_alpha(self, h: float) -> dict[str, float]:
        """Numbers of `alpha.data.COEFFICIENTS`."""
        alpha_m, alpha_f, beta, gamma = self.coefficients
        return {"alpha_m": alpha_m, "alpha_f": alpha_f, "beta": beta, "gamma": gamma, **self._of_step(h)}

    def use(self, engine: "Engine", h: float) -> None:
        """Numbers of the records for a step h."""
        for name, value in self._of_step(h).items():
            engine.record_of(name)[name] = value

    def local_error(self, engine: "Engine", h: float, change: np.ndarray) -> float:
        """Error [m] of a step in which the smooth accelerations have changed, `step_control` (2)."""
        alpha_m, alpha_f, beta, gamma = self.coefficients
        factor = abs(beta + 0.5 * (alpha_m - alpha_f) - 1.0 / 6.0)
        if self.order == 1:  # the error of velocities, on the path of the step
            factor += abs(gamma - 0.5 + alpha_m - alpha_f)
        size = np.abs(change)
        size[:, 3:] *= engine.system.length
        return factor * h * h * size.max()

    def impulses(self, engine: "Engine") -> dict[str, np.ndarray]:
        """Excess of the force histories in the last step over its size: impulses (m,) of joints [N s]."""
        return {"multiplier": engine.run[0]["kv"] * engine.arrays["Lam"]}

    def starts_afresh(self, engine: "Engine") -> bool:
        """True if the next step does not use the memory as it is."""
        return False

    def rescale(self, engine: "Engine", ratio: float, change: np.ndarray | None) -> None:
        """Memory for steps ``ratio`` times as large, `step_control` (1), (1a).

        ``change``: that of accelerations in the last step, if known.
        """
        a = engine.arrays
        made_anew = ratio > 1.0 and change is not None and not (a["impact"].any() or self.starts_afresh(engine))
        self.rescale_memory(a["Va0"], a["Vd0"], ratio, change if made_anew else None)
        self.rescale_contacts(a, ratio, made_anew)

    def rescale_memory(self, memory: np.ndarray, now: np.ndarray, ratio: float, change: np.ndarray | None) -> None:
        """`step_control` (1) for a memory of what is ``now``, or (1a) with its ``change`` in the last step."""
        alpha_m, alpha_f, _, _ = self.coefficients
        memory[:] = now + ratio * (memory - now if change is None else (alpha_m - alpha_f) * change)

    def rescale_contacts(self, arrays: dict[str, np.ndarray], ratio: float, made_anew: bool) -> None:
        """Rescale the parts of the memory that belong to single contacts, if the method keeps them."""
