"""Energy of a whole run: small rises of many steps, each within the bound of `stepping.kernels.checks`, can add up.

Compiled code notes the largest one, `stepping.kernels.checks` (3); here it becomes words.

Source: docs/theory/accepted_steps.md, (6).
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fem_mbs.solvers.stepping.engine import Engine

SHARE = 0.05  # of the largest kinetic energy: a rise above an earlier value that is reported
AT_IMPACTS = 0.005  # the same, in runs in which contacts bounced: many impacts add up
NO_LAW = 'constraints="positions" has no impact law, and smaller steps do not change that. Use constraints="both"'


def without_law(engine: "Engine") -> bool:
    """True if the method solves gaps in positions alone: velocities after an impact are then wrong at any step size."""
    return engine.method.constraints == "positions"


def drift_of_energy(engine: "Engine") -> list[str]:
    """Warning of a rise over a run that no single step shows; none where one did, which `run_warnings` reports."""
    run = engine.run[0]
    rise, top = float(run["total_rise"]), float(run["top_kinetic"])
    if rise <= (AT_IMPACTS if engine.bounced() else SHARE) * top or run["rises"]:
        return []
    share = f", {100 * rise / top:.3g} % of the largest kinetic energy," if top > 0.0 else ""
    why = "more than loads and drivers can have given" if engine.driven else "although nothing drives the model"
    return [
        f"energy was {rise:.3g} J{share} above an earlier value at t = {float(run['total_rise_time']):.6g} s, by many "
        f"small rises, {why}: {cause(engine)}"
    ]


def cause(engine: "Engine", where: str = "") -> str:
    """Likely cause of an increase of energy, and the remedy, a sentence without its full stop.

    Newton's law gives energy at any step size where it reflects the approach at the start of the step: where friction
    couples the contacts of an impact, or their normals turn; and without the limit of `contact.restitution` wherever
    friction acts together with restitution. ``where``: what steps are too large for.
    """
    if without_law(engine) and engine.touched().any():
        return NO_LAW
    if engine.method.approach == "start" and engine.bounced():
        return (
            'Newton\'s law of impact can give energy with approach="start", above all with friction, and smaller steps '
            'do not end that. Use approach="slower"'
        )
    run = engine.run[0]
    gain = float(run["impact_gain"])
    if gain > 0.5 * max(run["largest_rise"], run["total_rise"]):
        limits = "Use a smaller restitution, or DecoupledNSGA, which limits it there"
        if engine.method.approach == "slower":
            limits = "Use a smaller restitution or less friction"
        return (
            f"impulses of impacts added {gain:.3g} J. Newton's law of impact can add energy where friction acts "
            f"together with restitution, and smaller steps do not end that. {limits}"
        )
    if not engine.method.reset_of(engine.system) and not engine.system.searches and engine.touched().any():
        value = engine.method.reset_after_impact
        return (
            f"accelerations of the motion before an impact act on after it with reset_after_impact={value!r}"
            f"{' and contacts on meshes' if value == 'auto' else ''}, above all on bodies that turn. Use "
            f'reset_after_impact="filtered", or halve h{_flexible(engine)}'
        )
    control = engine.method.step_control
    if control is not None and control.tolerance is not None:
        return (
            f"steps are too large{where}. Take a smaller tolerance of step_control, and halve h, the step at contacts"
        )
    return f"h is too large{where}. {engine.method.smaller_steps(engine.system)}{_flexible(engine)}"


def _flexible(engine):
    """Remedy where impacts act on flexible parts."""
    if (engine.method.rho_inf or 0.0) > 0.0 and engine.touched().any() and engine.system.deformable().any():
        return ". For impacts on flexible parts, rho_inf=0 damps vibrations that steps do not resolve"
    return ""
