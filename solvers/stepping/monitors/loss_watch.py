"""Numerical dissipation of a velocity-level method: energy that no part of the model takes.

    max_{t_1 < t_2} ( E(t_1) − Σ W(t_1) − E(t_2) + Σ W(t_2) ) > share K_max                                        (1)

W are the works of the energy balance, `stepping.monitors.ledger`: of dampers, loads, drivers, friction and contacts.
A run of such a method keeps them for this sum alone where their lines are not requested. In a model without such work
they are zero. Energies are those of the states that are saved, works are added up in all steps.

A step that moves positions by h v goes along the tangents of circles. With the angular velocity ω a part is longer by
½ (h ω)² after it, and an elastic part gets ½ E (½ h² ω²)² in each unit of volume, which the next step damps away:

    loss of a step/kinetic energy ~ ¼ (c h/r)² (h ω)² ,   c² = E/ρ, r the radius                                   (2)

Only methods that solve velocities first are looked at: others have numerical damping by design, of oscillations that
steps do not resolve. Contact groups that the Gauss-Seidel solver takes are looked at where they move obstacles: the
work of others is not known.

Source: docs/theory/accepted_steps.md, (11), (12).
"""

from typing import TYPE_CHECKING

from fem_mbs.jit import kernel
from fem_mbs.solvers.stepping.monitors.external_work import explained
from fem_mbs.solvers.stepping.monitors.monitor import Monitor

if TYPE_CHECKING:
    from fem_mbs.solvers.granular.grains import Grains
    from fem_mbs.solvers.stepping.stepper import Stepper
    from fem_mbs.system.compiled import CompiledSystem

SHARE = 0.2  # of the largest kinetic energy: methods of first order lose 5 to 15 % of right motions with usual steps
FIRST = 10  # steps: what begins to fall has lost 1/n of its energy after n steps of the implicit Euler method
SLOW = 1e-3  # of the speed that tolerances refer to: the kinetic energy of less is round-off


def losses_are_reported(system: "CompiledSystem", method: "Stepper", grains: "Grains | None") -> bool:
    """True if losses of a method can be separated from those of the model: the balance has all that takes or gives
    energy.

    ``grains``: contact groups of the Gauss-Seidel solver, None without any.
    """
    return method.velocities_first and (grains is None or impulses_are_known(grains)) and explained(system)


def impulses_are_known(grains: "Grains | None") -> bool:
    """True if a run has the impulses of a contact group on its nodes: those that move obstacles have to be known."""
    return grains is not None and grains.mechanism is not None


@kernel
def note_loss(s, kinetic, potential):
    """Note how far an energy is below an earlier one, less the accumulated work, (1)."""
    own = kinetic + potential
    for i in range(s.works.shape[0]):
        own -= s.works[i]
    s.top_kinetic = max(s.top_kinetic, kinetic)
    s.most_energy = own if s.step_number == 0 else max(s.most_energy, own)
    if s.most_energy - own > s.total_loss:
        s.total_loss, s.total_loss_time = s.most_energy - own, s.t


class LossWatch(Monitor):
    """Numerical dissipation of methods that solve velocities first."""

    def start(self) -> None:
        """Let `note_loss` be called where losses can be reported."""
        engine = self.engine
        engine.run[0]["loss_seen"] = losses_are_reported(self.system, engine.method, engine.grains)

    def warnings(self) -> list[str]:
        """Return the warning of a loss above (1) and above a rise before that nothing explains either."""
        run = self.engine.run[0]
        loss, kinetic = float(run["total_loss"]), float(run["top_kinetic"])
        nothing = run["mean_mass"] * (SLOW * run["scale_v"]) ** 2 + run["all_left"]
        rose = float(run["rises"] * run["largest_rise"]) if run["rises"] else 0.0
        first = run["step_number"] < FIRST or kinetic == 0.0
        if first or loss <= SHARE * kinetic + nothing + rose:
            return []
        return [
            f"energy was {loss:.3g} J, {100 * loss / kinetic:.3g} % of the largest kinetic energy, below an earlier "
            f"value at t = {float(run['total_loss_time']):.6g} s, and nothing in the model has taken it: the method "
            "damps what its steps do not resolve, stiff parts that turn above all. Halve h, or use a method that keeps "
            "energy: DecoupledNSGA, GeneralizedAlpha, MoreauJean(theta=0.5, projection=True)"
        ]
