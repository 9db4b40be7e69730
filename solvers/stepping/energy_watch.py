"""Energy of a whole run: small rises of many steps, each within the bound of `stepping.checks`, can add up.

Source: docs/theory/accepted_steps.md, (6).
"""

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from fem_mbs.solvers.stepping.engine import Engine

SHARE = 0.05  # of the largest kinetic energy: a rise above an earlier value that is told


class EnergyWatch:
    """Largest rise of the energy above any earlier saved value.

    Attributes
    ----------
    rise : float [J], the largest
    time : float [s], when it was reached
    """

    def __init__(self, mass: float, slow: float) -> None:
        self.floor = mass * slow**2  # energies of nodes that move slower than this [m/s] are round-off
        self.lowest, self.top_kinetic, self.size = np.inf, 0.0, 0.0
        self.rise, self.time = 0.0, 0.0

    def look(self, t: np.ndarray, energy: np.ndarray) -> None:
        """Take in saved times (k,) and energies (k, 2): kinetic, potential."""
        total = energy.sum(axis=1)
        lowest = np.minimum.accumulate(np.concatenate([[self.lowest], total]))[1:]
        rise = total - lowest
        i = int(np.argmax(rise))
        if rise[i] > self.rise:
            self.rise, self.time = float(rise[i]), float(t[i])
        self.lowest = float(lowest[-1])
        self.top_kinetic = max(self.top_kinetic, float(energy[:, 0].max()))
        self.size = max(self.size, float(np.abs(total).max()))

    def share(self, given: float = 0.0) -> float:
        """The rise over the largest kinetic energy, less what was given [J]; 0 where it is round-off."""
        rise = self.rise - given
        if rise <= self.floor + 1e-9 * self.size:
            return 0.0
        return rise / self.top_kinetic if self.top_kinetic > 0.0 else np.inf


def cause(engine: "Engine", where: str = "") -> str:
    """Why an energy rises that nothing gives, and the cure, a sentence without its full stop.

    Newton's law gives energy at any step size where it reflects the approach at the start of the step: where friction
    couples the contacts of an impact, or their normals turn. ``where``: what steps are too large for.
    """
    if getattr(engine.method, "constraints", "both") == "positions" and engine.touched().any():
        return 'constraints="positions" knows no law of impact, and smaller steps do not change that. Take "both"'
    if getattr(engine.method, "approach", "slower") == "start" and engine.bounced():
        return (
            'Newton\'s law of impact can give energy with approach="start", above all with friction, and smaller steps '
            'do not end that. Use approach="slower"'
        )
    return f"h is too large{where}. {engine.method.smaller_steps(engine.system)}"
