"""Energy that a method of velocities loses by itself: nothing of the model takes it, the step does.

    max_{t_1 < t_2} ( E(t_1) − Σ W(t_1) − E(t_2) + Σ W(t_2) ) > share K_max                                        (1)

W are the works of the books of energy, where a run keeps them; without books only models are looked at that have
nothing which could take energy: no dampers, loads, drivers, friction or contacts.

A step that moves positions by h v goes along the tangents of circles. With the angular velocity ω a part is longer by
½ (h ω)² after it, and an elastic part gets ½ E (½ h² ω²)² in each unit of volume, which the next step damps away:

    loss of a step/kinetic energy ~ ¼ (c h/r)² (h ω)² ,   c² = E/ρ, r the radius                                   (2)

Only methods that solve velocities first are looked at: others lose what they are asked to, of oscillations that steps
do not resolve.

Source: docs/theory/accepted_steps.md, (11), (12).
"""

from typing import TYPE_CHECKING

import numpy as np

from fem_mbs.solvers.stepping.ledger import Ledger

if TYPE_CHECKING:
    from fem_mbs.solvers.stepping.engine import Engine

SHARE = 0.2  # of the largest kinetic energy: methods of first order lose 5 to 15 % of right motions with usual steps
FIRST = 10  # steps: what begins to fall has lost 1/n of its energy after n steps of the implicit Euler method
SLOW = 1e-3  # of the speed that tolerances refer to: the kinetic energy of less is round-off


class LossWatch:
    """Largest loss (1) over the saved states of a run.

    Attributes
    ----------
    seen : bool, whether losses of the method can be told from those of the model
    top, loss, kinetic : float [J], largest E − Σ W so far, largest loss, largest kinetic energy
    t : float [s], where the loss was largest
    """

    def __init__(self, engine: "Engine") -> None:
        system = engine.system
        alone = not Ledger(system, False).lines and not system.n_friction and engine.agenda is None
        self.engine = engine
        self.seen = engine.method.velocities_first and not system.searches and (alone or engine.ledger is not None)
        self.top, self.loss, self.kinetic, self.t = -np.inf, 0.0, 0.0, 0.0

    def look(self, block: dict[str, np.ndarray]) -> None:
        """Take in saved states, all with their energies."""
        if not self.seen or not len(block["t"]):
            return
        energy = block["energy"]
        own = energy[:, :2].sum(axis=1) - block["work"].sum(axis=1)
        tops = np.maximum.accumulate(np.maximum(own, self.top))
        k = int(np.argmax(tops - own))
        if tops[k] - own[k] > self.loss:
            self.loss, self.t = float(tops[k] - own[k]), float(block["t"][k])
        self.top, self.kinetic = float(tops[-1]), max(self.kinetic, float(energy[:, 0].max()))

    def get_state(self) -> dict[str, float]:
        """What was seen so far."""
        return {"top": self.top, "loss": self.loss, "kinetic": self.kinetic, "t": self.t}

    def set_state(self, state: dict[str, float]) -> None:
        """Go on from what `get_state` has given."""
        self.top, self.loss, self.kinetic, self.t = (state[name] for name in ("top", "loss", "kinetic", "t"))

    def warnings(self) -> list[str]:
        """That the method has lost more than (1)."""
        run = self.engine.run[0]
        nothing = run["mean_mass"] * (SLOW * run["scale_v"]) ** 2 + run["all_left"]
        first = run["step_number"] < FIRST or self.kinetic == 0.0
        if first or self.loss <= SHARE * self.kinetic + nothing or run["rises"]:
            return []
        share = 100 * self.loss / self.kinetic
        return [
            f"energy was {self.loss:.3g} J, {share:.3g} % of the largest kinetic energy, below an earlier "
            f"value at t = {self.t:.6g} s, and nothing in the model has taken it: the method damps what its "
            "steps do not resolve, stiff parts that turn above all. Halve h, or use a method that keeps energy: "
            "DecoupledNSGA, GeneralizedAlpha, MoreauJean(theta=0.5, projection=True)"
        ]
