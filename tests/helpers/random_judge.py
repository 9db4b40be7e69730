"""What a run of a random model may end as (`Outcome`), and which of it a completed run is.

    fine      complete; the energy does not rise, but for the work of loads and drivers
    warned    the energy rises, and ``result.warnings`` says something
    rejected   an error in words of the package, which is a SolverError when a step failed
    gain      the energy rises without a warning
    wrong     not finite, a contact deeper than the method says, an exception from inside, no end
    not taken a ParameterError before the first step: a model or a step size that the method does not take

A rise counts beyond 5 % of the largest of kinetic energy and range of potential energy. Discretised impacts at the
published ``approach="start"`` and stiff elements seen with rho_inf = 1 stay below it; the defects that this looks for
multiplied the energy. The work of loads and drivers is that of the saved states, see `given`; drag gives none.
"""

from dataclasses import dataclass

import numpy as np

import fem_mbs as fem
from fem_mbs.results.contact_motion import contact_velocity

RISE = 0.05  # of the scale of the energy
STILL = 1e-9  # J/kg: below it a model is at rest
PLACED = 1e-9  # of the size of a model: what its bodies may be moved by, see `stepping.kernels.codes.TOUCHES`
DEEP = 1e-9  # m per m of the model: deepest gap of a contact that is not compliant


@dataclass
class Outcome:
    """How a run ended; ``case`` in words, ``rise`` the largest rise of the energy over its scale."""

    case: str
    family: str
    sensible: bool
    kind: str
    message: str = ""
    rise: float = 0.0

    @classmethod
    def of(cls, case, *what):
        return cls(str(case), case.family, bool(case.sensible), *what)

    def __str__(self):
        return f"{self.kind}: {self.case}: {self.message}"


def power_of(element, result):
    """Power (k,) [W] of a load or a driver at the saved states, from its outputs; 0 for what gives none."""
    if isinstance(element, fem.RevoluteDriver | fem.LinearDriver):
        turns = isinstance(element, fem.RevoluteDriver)
        effort = result[element.name].moment if turns else result[element.name].force
        return effort * np.array([element.signals[0].jet(t)[1] for t in result.t])
    if not isinstance(element, fem.PointForce | fem.PointMoment):
        return np.zeros(len(result.t))
    body = result[element.frame.node.name or element.frame.node.body.name]
    w = np.einsum("kij,kj->ki", body.rotation, body.angular_velocity)
    if isinstance(element, fem.PointMoment):
        return np.einsum("ki,ki->k", result[element.name].moment, w)
    point = body.velocity + np.cross(w, body.rotation @ element.frame.p)
    return np.einsum("ki,ki->k", result[element.name].force, point)


def given(case, result):
    """Largest work (k,) [J] that loads and drivers can have done up to each saved state."""
    work = np.zeros(len(result.t))
    for element in case.model.elements:
        power = np.maximum(power_of(element, result), 0.0)
        work[1:] += np.cumsum(result.h[1:] * np.maximum(power[1:], power[:-1]))
    return work


def rise_of_energy(case, result):
    """Largest rise above the start, less what was given and what the accuracy of positions makes of energies, over the
    scale of the energy.
    """
    kinetic, potential, total = result.energy.kinetic, result.energy.potential, result.energy.total
    scale = max(kinetic.max(), np.ptp(potential), STILL * sum(case.masses))
    total = total if case.passive else total - given(case, result)
    return float(max((total - total[0]).max() - unseen_energy(case, result), 0.0) / scale)


def unseen_energy(case, result):
    """Energy [J] that is no gain: work of all weights on `PLACED` of the size of the model, and as much of what is
    stored in springs and beams. A body that starts 1e-10 m inside the ground is lifted by as much.
    """
    weight = sum(case.masses) * np.linalg.norm(case.model.gravity)
    stored = np.abs(result.energy.potential).max()
    return PLACED * (weight * case.model.compile().size + stored)


def turning_arms(result, name, nodes):
    """Σ |a − a'| |ω| (k − 1,) [m/s] over the nodes of a contact, a from the node to the contact point."""
    read, total = result._store.read, 0.0
    point = result[name].point
    for i in nodes:
        arm = point - read("position", i)
        turn = np.linalg.norm(read("angular_velocity", i), axis=1)
        total = total + np.linalg.norm(np.diff(arm, axis=0), axis=1) * np.maximum(turn[1:], turn[:-1])
    return total


def allowed_depth(case, result, name):
    """How deep [m] a contact may be.

    Methods that close contacts in velocities only (`Stepper.follows`) leave what the bodies travel there in a step: it
    is open when the step begins, or its surfaces are so curved that a step leads through them. `ConeComplementarity`
    takes that back in the next step. `MoreauJean` never does, and each step with the contact closed adds to it, because
    the law holds with the gradient of another pose of the step,

        |ġ| = |n·v − n'·v'| ≤ |v − v'| + |n − n'| |v'| + Σ |a − a'| |ω| ,

    v the relative velocity at the contact, n its normal, a its arms from the nodes of both bodies: where a body rolls
    or pivots v and n stay what they are, but its gradient turns with a. What a contact does that does not act is not
    in this sum: it falls with v, not with what a step changes of v.
    """
    method = case.stepper()
    if not method.follows:
        bodies = [result[e.name].position for e in case.model.elements if isinstance(e, fem.RigidBody)]
        return DEEP * (1.0 + max((float(np.abs(position).max()) for position in bodies), default=0.0))
    v, n, nodes = contact_velocity(result, name)
    speed = np.linalg.norm(v, axis=1)
    allowed = case.h * speed.max()
    if case.method == "MoreauJean":
        change = np.linalg.norm(np.diff(v, axis=0), axis=1) + np.linalg.norm(np.diff(n, axis=0), axis=1) * speed[1:]
        change += turning_arms(result, name, nodes)
        allowed += case.h * change[result[name].gap[1:] <= 0.0].sum()
    return allowed + DEEP


def judge(case, result):
    """Outcome of a run that completed."""
    said = [text for text in getattr(result, "warnings", ()) if "energy" in text]
    energy = result.energy.total
    if not np.isfinite(energy).all():
        return Outcome.of(case, "wrong", "energy is not finite")
    for element in case.model.elements:
        if element.role == "contact":
            depth = -result[element.name].gap[1:].min(initial=0.0)
            if not depth <= DEEP and not depth <= allowed_depth(case, result, element.name):
                return Outcome.of(case, "wrong", f"{element.name} penetrates by {depth:.1e} m")
    rise = rise_of_energy(case, result)
    if rise > RISE and not said:
        return Outcome.of(case, "gain", f"energy rises by {rise:.2g} of its scale", rise)
    if rise > RISE:
        return Outcome.of(case, "warned", str(said[0]), rise)
    return Outcome.of(case, "fine", "", rise)
