"""A random model of every seed, how it is run, and whether it is sensible.

A seed chooses a family (`random_families`), its dimensions, laws, velocities, and the options of the stepper. Most
models are *sensible*, which is computed from the model before it runs; a quarter are made without regard to it:

    mass ratio   largest over smallest mass of bodies and beam elements ≤ 1e3
    stiffness    of springs, E A/L_e of beams, and n K d^(n−1) of compliant contacts with F = K dⁿ ≤ 1e8 N/m; d is their
                 max_indentation, or 1 mm where that is unlimited
    h |ω| ≤ 0.3  ω: largest angular velocity at the start, and √(stiffness/mass) of compliant contacts, with the
                 lightest body (steps must resolve their impacts). Springs and beams may be unresolved.
    room         compliant contacts can store, within max_indentation, all energy that the bodies have or gain by
                 falling: Σ m |v|²/2 + |J| |ω|²/2 + m g (|v| T + g T²/2), T the duration
    stretch      N (1/GA − 1/EA) ≤ 1, N: tension of a beam that turns as it does at the start. Sections of a linear law
                 turn aside of themselves beyond (`elements.beams.base`); no method finds a motion of use there
    drivers      move no contact in a direction that joints hold and in which friction can take up any force: neither
                 the driver nor the contact is compliant (`locked_by_drivers`)
    clearances   with ``divide_failed_steps=False``, which asks that a step that fails ends the run, and without step
                 control: the lightest body with all energy (above) crosses none within a step

Other methods than `DecoupledNSGA` get those of its options that they know, and choices of their own (`OWN_OPTIONS`).
"""

import inspect
from dataclasses import dataclass

import numpy as np
from random_families import FAMILIES, bearing
from random_parts import Maker
from scipy.linalg import null_space

import fem_mbs as fem
from fem_mbs.solvers import STEPPERS

HELD = 1e-8  # of the mobility without constraints
UNLIMITED = 1e-3  # m: at which the stiffness of contacts counts that have no largest indentation


@dataclass
class Case:
    """A model, how it is run, and what may be asked of it."""

    seed: int
    family: str
    model: fem.Model
    options: dict
    h: float
    steps: int
    masses: list
    stiffness: float
    spin: float
    passive: bool
    method: str = "DecoupledNSGA"

    def stepper(self):
        return STEPPERS[self.method](**self.options)

    @property
    def sensible(self):
        ratio = max(self.masses) / min(self.masses)
        soft = compliant_contacts(self.model)
        stiffness = max([self.stiffness, *(stiffness_of(contact) for contact in soft)])
        rate = max([self.spin, *(rate_of(contact, self.masses) for contact in soft)])
        energy = energy_at_hand(self.model, self.steps * self.h)
        room = all(energy <= 1.001 * storable(contact) for contact in soft)
        moderate = ratio <= 1e3 and stiffness <= 1e8 and self.h * rate <= 0.3001 and room and stretch(self.model) <= 1.0
        return moderate and not locked_by_drivers(self.model) and not self._crosses_what_it_may_not_divide(energy)

    def _crosses_what_it_may_not_divide(self, energy):
        """Whether a step may cross a clearance, and has to be taken as a whole."""
        if self.options.get("divide_failed_steps", True) or self.options.get("step_control"):
            return False
        system = self.model.compile()
        least = min((system.contact_at(c).room for c in range(system.nc)), default=np.inf)
        return self.h * (2.0 * energy / min(self.masses)) ** 0.5 > least

    def __str__(self):
        options = ", ".join(f"{name} = {value!r}" for name, value in self.options.items())
        return f"seed {self.seed}, {self.family}, {self.method}, h = {self.h:g} s, {options}"


def stretch(model):
    """N (1/GA − 1/EA) of the beam of a model, 0 without one: N the largest tension that its rotation gives it.

    ω² (m l/2 + M l) at a support, with the mass M at its end; ω² m c²/(2 l) at the centre c of mass of a free one.
    """
    beams = [element for element in model.elements if hasattr(element, "section")]
    if not beams:
        return 0.0
    first, last = beams[0].nodes[0], beams[-1].nodes[-1]
    length, rate = np.linalg.norm(last.position - first.position), np.linalg.norm(last.angular_velocity)
    mass = beams[0].section.mass_per_length * length
    body = sum(element.mass for element in model.elements if isinstance(element, fem.RigidBody))
    tension = rate**2 * (0.5 * mass + body) * length
    if not any(element.role == "constraint" and first in element.nodes for element in model.elements):
        centre = (0.5 * mass + body) * length / (mass + body)
        tension = 0.5 * rate**2 * mass / length * centre**2
    flexibility = beams[0].section.flexibility
    return tension * (flexibility[1, 1] - flexibility[0, 0])


def locked_by_drivers(model):
    """True if a driver can press a rigid contact: there is an impulse r in its friction cone with

        W r = 0 ,   r·w ≠ 0 ,   W = D S⁻¹ Dᵀ (3, 3),  w the velocity that the driver gives the contact

    No impulse then stops the approach, and sliding is what friction prevents. Of all r with W r = 0 the projection p of
    the normal is nearest to it: tan of the angle between them ≤ μ. Without friction p is the normal itself: the driver
    alone moves the gap.
    """
    if not any(element.name.startswith("driver") for element in model.elements):
        return False
    system = model.compile()
    D, mass, gradient = contact_rows(system)[: system.nc_fixed], *system.matrices(system.initial)[::3]
    mass, gradient = mass.toarray(), gradient.toarray()
    given = np.zeros(system.m)
    for element in system.constraints:
        if "rheonomic" in element.kernels:
            given[system.rows[element]] = 1.0
    driven = np.linalg.lstsq(gradient, given, rcond=None)[0]
    free = null_space(gradient)
    inverse = free @ np.linalg.solve(free.T @ mass @ free, free.T) if free.size else np.zeros_like(mass)
    for rows, friction in zip(D, system.laws["friction"]):
        mobility, alone = rows @ inverse @ rows.T, np.trace(rows @ np.linalg.solve(mass, rows.T))
        values, directions = np.linalg.eigh(mobility)
        held = directions[:, values <= HELD * alone]
        nearest = held @ held[0]  # its normal component is its size squared
        within = nearest[0] > 0.0 and np.linalg.norm(nearest[1:]) <= friction * nearest[0] + HELD
        if within and abs(nearest @ rows @ driven) > HELD * np.linalg.norm(rows @ driven):
            return True
    return False


def contact_rows(system):
    """Gradients (nc, 3, n) of the normal and the sliding velocities of all contacts at the start."""
    state, rows = system.initial.copy(), np.zeros((system.n, system.nc, 3))
    for j, unit in enumerate(np.eye(system.n)):
        state.V[:] = system.expanded(unit).reshape(-1, 6)
        rows[j] = system.contact_velocities(state)
    return rows.transpose(1, 2, 0)


def compliant_contacts(model):
    return [element for element in model.elements if isinstance(element, fem.CompliantContact)]


def stiffness_of(contact):
    """∂F/∂d [N/m] of a compliant contact at its largest indentation."""
    depth = contact.max_indentation if np.isfinite(contact.max_indentation) else UNLIMITED
    return contact.exponent * contact.stiffness * depth ** (contact.exponent - 1.0)


def rate_of(contact, masses):
    """Angular frequency [rad/s] of the lightest body on a compliant contact."""
    return (stiffness_of(contact) / min(masses)) ** 0.5


def storable(contact):
    """Energy [J] of a compliant contact at its largest indentation."""
    return contact.stiffness * contact.max_indentation ** (contact.exponent + 1.0) / (contact.exponent + 1.0)


def energy_at_hand(model, duration):
    """Bound of the energy [J] that rigid bodies have at the start or gain by falling for a time."""
    gravity, total = float(np.linalg.norm(model.gravity)), 0.0
    for body in model.elements:
        if isinstance(body, fem.RigidBody):
            speed, rate = (float(np.linalg.norm(v)) for v in (body.node.velocity, body.node.angular_velocity))
            total += 0.5 * body.mass * speed**2 + 0.5 * np.linalg.norm(body.inertia) * rate**2
            total += body.mass * gravity * (speed * duration + 0.5 * gravity * duration**2)
    return total


def build(seed, method="DecoupledNSGA"):
    """The case of a seed: the same model whatever the method."""
    rng = np.random.default_rng(seed)
    weights = np.array([often for often, _ in FAMILIES.values()], float)
    family = list(FAMILIES)[int(rng.choice(len(FAMILIES), p=weights / weights.sum()))]
    gravity = [0, 0, -9.81 * rng.choice([0.0, 1.0, 1.0, 1.0])]
    make = Maker(rng, bool(rng.random() < 0.25), fem.Model(f"random model {seed}", gravity=gravity))
    family(make)
    soft, masses = compliant_contacts(make.model), make.masses or [1.0]
    h = float(rng.choice([1e-5, 1e-4] if family is bearing or soft else [5e-4, 1e-3, 2e-3]))
    steps = int(rng.integers(20, FAMILIES[family][1]))
    if not make.wild:
        stiffen(make.model, 1.001 * energy_at_hand(make.model, steps * h), rng)
        soft = compliant_contacts(make.model)
        h = min([h, *(0.3 / rate for rate in (make.spin, *(rate_of(contact, masses) for contact in soft)) if rate > 0)])
    elif soft and make.chance(0.5):
        h = 1e-3
    options = options_of(method, stepper_options(rng, make), seed)
    spin, stiffness = make.spin, make.stiffness
    return Case(seed, family.__name__, make.model, options, h, steps, masses, stiffness, spin, make.passive, method)


def stiffen(model, energy, rng):
    """Make compliant contacts that are too soft for an energy [J] as stiff as it needs, or up to ten times stiffer."""
    kept = "exponent", "restitution", "friction", "slip_speed", "least_speed", "model", "name"
    for k, contact in enumerate(model.elements):
        if isinstance(contact, fem.CompliantContact) and storable(contact) < energy:
            stiffness = contact.stiffness * energy / storable(contact) * 10.0 ** rng.uniform(0.0, 1.0)
            options = {name: getattr(contact, name) for name in kept} | {"stiffness": stiffness}
            model.elements[k] = fem.CompliantContact(
                contact.contact, max_indentation=contact.max_indentation, **options
            )


def stepper_options(rng, make):
    """Options of `DecoupledNSGA`: each one now and then."""
    options = {
        "rho_inf": float(rng.choice([0.0, 0.5, 0.8, 0.8, 1.0])),
        "approach": str(rng.choice(["start", "slower"])),
    }
    if not make.groups:
        options["contact_solver"] = str(rng.choice(["auto", "auto", "newton", "problem"]))
        if rng.random() < 0.2:
            options["persistent_contacts"] = False
        if rng.random() < 0.3:
            tolerance = rng.choice([None, 1e-6, 1e-5, 1e-4])
            options["step_control"] = fem.StepControl(tolerance=tolerance)
    for name, values in {
        "reset_after_impact": (True, False, "filtered"), "mixed": (True,), "reuse": (False,), "penalty": (0.3, 0.1),
        "rtol": (1e-6, 1e-8),
        "epsilon": (0.0, 1e-6), "position_factor": (1.0,), "max_problems": (5,), "restitution_speed": ("start",),
        "divide_failed_steps": (False,),
    }.items():  # fmt: skip
        if rng.random() < 0.1:
            options[name] = values[int(rng.integers(len(values)))]
    return options


OWN_OPTIONS = {
    "MoreauJean": {"projection": (False, True), "theta": (0.5, 0.6, 1.0)},
    "ConeComplementarity": {"relaxed": (True, False)},
    "NonsmoothGeneralizedAlphaGGL": {"coupling": ("monolithic", "sequential")},
    "LobattoIIIAB": {"stages": (2, 3)},
}


def options_of(method, options, seed):
    """Those of the options of `DecoupledNSGA` that a method supports, and in half of the models choices of its own."""
    rng, known = np.random.default_rng([seed, 1]), inspect.signature(STEPPERS[method]).parameters
    result = {name: value for name, value in options.items() if name in known}
    if rng.random() < 0.5:
        for name, values in OWN_OPTIONS.get(method, {}).items():
            result[name] = values[int(rng.integers(len(values)))]
    return result
