"""Base of methods that integrate with the generalized-α method: coefficients, change of the step size."""

from typing import TYPE_CHECKING

import numpy as np

from fem_mbs.arguments.options import number, option
from fem_mbs.solvers.stepping.stepper import Stepper

if TYPE_CHECKING:
    from fem_mbs.solvers.stepping.engine import Engine


class AlphaMethod(Stepper):
    """Coefficients that follow from ρ∞, the spectral radius at infinite frequency (docs/theory/decoupled_nsga.md, (9),
    (10)).

    Parameters
    ----------
    rho_inf : float, 0 … 1, -
        Spectral radius at infinite frequency: 1 keeps all frequencies, 0 removes what the step does not resolve.
    """

    rho_inf: float = option(default=0.8, check=number(at_least=0, at_most=1), kw_only=False)
    error_order = 3  # of the local error in the step size

    @property
    def order(self) -> int:
        return 2

    @property
    def coefficients(self) -> tuple[float, float, float, float]:
        """α_m, α_f, β, γ of the generalized-α method (Sanchez2025, (2.28))."""
        rho = self.rho_inf
        alpha_m, alpha_f = (2 * rho - 1) / (rho + 1), rho / (rho + 1)
        gamma = 0.5 + alpha_f - alpha_m
        return alpha_m, alpha_f, 0.25 * (gamma + 0.5) ** 2, gamma

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
        alpha_m, alpha_f, beta, _ = self.coefficients
        factor = abs(beta + 0.5 * (alpha_m - alpha_f) - 1.0 / 6.0)
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
