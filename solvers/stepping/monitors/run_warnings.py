"""Warnings by numbers that steps record in all runs: non-fatal problems. Each function reports one kind.

Those with data of their own are monitors of their own, see `stepping.monitors.catalogue`.

Source: docs/theory/accepted_steps.md, (5), (7).
"""

from typing import TYPE_CHECKING

from fem_mbs.errors import label
from fem_mbs.solvers.stepping.monitors.energy_watch import cause, drift_of_energy
from fem_mbs.solvers.stepping.monitors.impact_watch import energy_of_impacts
from fem_mbs.solvers.stepping.monitors.monitor import Monitor

if TYPE_CHECKING:
    from fem_mbs.solvers.stepping.engine import Engine

DRIFT = 0.01  # of the size of the model: joints farther apart than that are reported


def of_step_control(engine: "Engine") -> list[str]:
    """Warnings of what controls and subdivides steps."""
    return [] if engine.march.control is None else engine.march.control.warnings()


def of_particles(engine: "Engine") -> list[str]:
    """Warnings of contact groups that the Gauss-Seidel solver handles."""
    return [] if engine.grains is None else engine.grains.warnings()


def lost_restitution(engine: "Engine") -> list[str]:
    """Warning of restitution that steps have lost in contacts of a method that records it."""
    if "all_lost" not in engine.own.dtype.names:
        return []
    from fem_mbs.solvers.granular.strikes import loss_warnings

    own, most = engine.own[0], float(engine.run[0]["top_kinetic"])  # that of saved states
    name = f"Contacts of '{engine.system.name}'"
    return loss_warnings(name, float(own["all_lost"]), max(most, float(own["kinetic"])))


def without_restitution(engine: "Engine") -> list[str]:
    """Warning of steps whose impacts had no solution with restitution, see `stepping.kernels.step.take`."""
    count = int(engine.run[0]["made_plastic"])
    if not count or not engine.bounced():  # without restitution there is none to lose
        return []
    return [
        f"steps solved without restitution, because friction left no solution with it: {count}. Bodies do not rebound "
        "in them. Less friction, or a finer step where several impacts fall on one, lets them"
    ]


def without_impact_law(engine: "Engine") -> list[str]:
    """Warning of a run in which the impact law that was requested applied to no impact."""
    law = engine.method.impact_law
    if law == "newton" or engine.own[0]["by_course"]:
        return []
    count, contacts = int(engine.own[0]["by_newton"]), engine.system.contacts[: engine.system.nc_fixed]
    if not count or not any(contact.law[0] > 0.0 for contact in contacts):  # without friction both are the same
        return []
    return [
        f"impact_law='{law}' applied to no impact: {count} steps with an impact follow Newton's law. "
        f"{law.capitalize()}'s law holds for impacts of one contact with friction that are split, while no other "
        "contact acts; not with friction of joints in the model, nor with tangential restitution, resistance to "
        "rolling or spinning, discs or static friction of the contact"
    ]


def jammed(engine: "Engine") -> list[str]:
    """Warning of joints that friction has stopped by an impulse, see `joint_friction.friction_end`."""
    run, count = engine.run[0], int(engine.run[0]["jammed"])
    if not count:
        return []
    element = engine.system.frictions[int(run["jam_row"])]
    unit = "N m s" if element.outputs["force"][1] == "N m" else "N s"
    times = "jammed" if count == 1 else f"is the first of {count} times that joints jammed:"
    return [
        f"{label(element)} {times} at t = {run['jam_time']:.6g} s with κ = {run['jam_kappa']:.4g}: friction enlarges "
        f"its own cause without bound where κ ≥ 1, and stops the joint by an impulse ({run['jam_impulse']:.4g} {unit}) "
        "whatever the step size is. Less friction, a longer guide, or friction nearer to its axis lets it slide"
    ]


def singular(engine: "Engine") -> list[str]:
    """Warning of steps that ended where constraint rows depend on each other, see
    `stepping.kernels.step.near_singular`.
    """
    count = int(engine.run[0]["singular"])
    if not count:
        return []
    steps = "1 step ended" if count == 1 else f"{count} steps ended"
    return [
        f"{steps} at a singular position (dead centre), the first at t = {engine.run[0]['singular_time']:.6g} s: joint "
        "forces of that step are not determined by the motion, and may be large. The motion passes it by inertia; a "
        "slightly different h does not land on it"
    ]


def risen(engine: "Engine") -> list[str]:
    """Warning of steps in which energy increased beyond the integration error, see `stepping.kernels.checks`."""
    run = engine.run[0]
    if not run["rises"]:
        return []
    rises = "once" if run["rises"] == 1 else f"{run['rises']} times"
    most = "" if run["rises"] == 1 else "most "
    what = "the integration error and the work of loads and drivers" if engine.driven else "the integration error"
    alone = "" if engine.driven else ", although nothing drives the model"
    end = float(run["rise_time"])
    why = cause(engine, " for what happened there")
    if engine.jumps.within(end - engine.h * max(run["save_every"], run["whole_every"]), end):
        why = "a driver jumps there"
    return [
        f"energy increased {rises} beyond {what}, {most}by {run['largest_rise']:.3g} J "
        f"before t = {end:.6g} s{alone}: {why}"
    ]


def inexact(engine: "Engine") -> list[str]:
    """Warning of contact problems that were left above the tolerance, by far not enough to fail a step."""
    groups = engine.solver_of_groups
    if groups is None or not groups.inexact:
        return []
    return [
        f"{groups.inexact} contact problems ended above contact_tolerance = {engine.contact_tolerance:.3g}, with "
        f"scale-free errors up to {groups.worst:.2g}: impulses of these steps are as inexact as that. Halve h (an "
        "impact then falls on fewer contacts at once), or increase contact_tolerance to a sufficient value"
    ]


def drifted(engine: "Engine") -> list[str]:
    """Warning of joints that drift: methods that solve them in velocities alone leave that to the step size."""
    drift, size = float(engine.run[0]["drift"]), engine.system.size
    if drift <= DRIFT * size:
        return []
    return [
        f"joints are up to {drift:.3g} m apart (angles times the size of the model, {size:.3g} m): the method "
        "keeps their velocities and lets positions drift. Halve h, or use a method that keeps both: DecoupledNSGA, "
        "MoreauJean(projection=True)"
    ]


CHECKS = (
    of_step_control,
    of_particles,
    lost_restitution,
    energy_of_impacts,
    without_restitution,
    without_impact_law,
    jammed,
    singular,
    risen,
    inexact,
    drifted,
    drift_of_energy,
)


class RunWarnings(Monitor):
    """Warnings by numbers that all runs have, of each function in `CHECKS`."""

    def warnings(self) -> list[str]:
        """Return the warnings of a run."""
        return [text for check in CHECKS for text in check(self.engine)]
