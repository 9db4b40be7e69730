"""Random small models of every element type, run with every option: what becomes of them.

A seed chooses a family (`FAMILIES`), its dimensions, laws, velocities, and the options of the stepper. Most models are
*sensible*, which is computed from the model before it runs; a quarter are made without regard to it:

    mass ratio   largest over smallest mass of bodies and beam elements ≤ 1e3
    stiffness    of springs, E A/L_e of beams, and n K d^(n−1) of compliant contacts with F = K dⁿ ≤ 1e8 N/m; d is their
                 max_indentation, or 1 mm where that is unlimited
    h |ω| ≤ 0.3  ω: largest angular velocity at the start, and √(stiffness/mass) of compliant contacts, with the
                 lightest body (steps must resolve their impacts). Springs and beams may be unresolved.
    room         compliant contacts can store, within max_indentation, all energy that the bodies have or gain by
                 falling: Σ m |v|²/2 + |J| |ω|²/2 + m g (|v| T + g T²/2), T the duration

What a run may end as (`Outcome`):

    fine      complete; the energy does not rise, but for the work of loads and drivers
    warned    the energy rises, and ``result.warnings`` says something
    refused   an error in words of the package, which is a SolverError when a step failed
    gain      the energy rises without a word
    wrong     not finite, a contact deeper than the method says, an exception from inside, no end
    not taken a ParameterError before the first step: a model or a step size that the method does not take

    python tests/helpers/random_models.py 0 300        runs seeds 0 … 299 and prints a table and what went wrong
    python tests/helpers/random_models.py 0 300 MoreauJean     the same with another method of `STEPPERS`

Other methods than `DecoupledNSGA` get those of its options that they know, and choices of their own (`OWN_OPTIONS`).

A rise counts beyond 5 % of the largest of kinetic energy and range of potential energy. Discretised impacts at the
published ``approach="start"`` and stiff elements seen with rho_inf = 1 stay below it; the defects that this looks for
multiplied the energy. The work of loads and drivers is that of the saved states, see `given`; drag gives none.
"""

import inspect
import multiprocessing
import sys
import warnings
from collections import Counter
from dataclasses import dataclass, field

import numpy as np
import random_systems

import fem_mbs as fem
from fem_mbs.results.contact_motion import contact_velocity
from fem_mbs.rotations import exp, frame_with_axis
from fem_mbs.solvers import STEPPERS
from fem_mbs.solvers.stepping.blocked import blocked_contacts

RISE = 0.05  # of the scale of the energy
STILL = 1e-9  # J/kg: below it a model is at rest
UNLIMITED = 1e-3  # m: at which the stiffness of contacts counts that have no largest indentation
LIMIT = 600.0  # s: of a model, with the compilation of everything for the first
TOGETHER = 250  # models of a process
DEEP = 1e-9  # m per m of the model: deepest gap of a contact that is not compliant


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
        moderate = ratio <= 1e3 and stiffness <= 1e8 and self.h * rate <= 0.3001 and room
        return moderate and not has_prescribed_contacts(self.model)

    def __str__(self):
        options = ", ".join(f"{name} = {value!r}" for name, value in self.options.items())
        return f"seed {self.seed}, {self.family}, {self.method}, h = {self.h:g} s, {options}"


def has_prescribed_contacts(model):
    """Whether a driver alone moves a contact: what it runs into cannot stop it, and no motion satisfies both."""
    if not any(element.name.startswith("driver") for element in model.elements):
        return False
    system = model.compile()
    return bool(blocked_contacts(system, system.initial, np.arange(system.nc_fixed)).any())


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


@dataclass
class Maker:
    """Chooses numbers and keeps what is needed to judge the model."""

    rng: np.random.Generator
    wild: bool
    model: fem.Model
    masses: list = field(default_factory=list)
    stiffness: float = 0.0
    spin: float = 0.0
    passive: bool = True
    groups: bool = False
    bodies: list = field(default_factory=list)
    parents: dict = field(default_factory=dict)
    count: int = 0

    def chance(self, part):
        return self.rng.random() < part

    def vector(self, size):
        return self.rng.uniform(-size, size, 3)

    def direction(self):
        n = self.rng.normal(size=3)
        return n / np.linalg.norm(n)

    def power(self, low, high):
        """A number between 10^low and 10^high."""
        return 10.0 ** self.rng.uniform(low, high)

    def name(self, kind):
        self.count += 1
        return f"{kind} {self.count}"

    def mass(self):
        m = self.power(-3, 3) if self.wild else self.power(-1, 1)
        self.masses.append(m)
        return m

    def spring(self, high=8.0):
        """Stiffness [N/m or N m/rad]."""
        k = self.power(2, 11) if self.wild else self.power(1, high)
        self.stiffness = max(self.stiffness, k)
        return k

    def law(self, size=0.05):
        """Coefficients of a contact."""
        rng = self.rng
        resistance = [0.0, 0.0, 0.0, size * rng.uniform(0.01, 0.1)]
        law = {
            "restitution": rng.choice([0.0, rng.uniform(0.0, 1.0), 1.0]),
            "friction": rng.choice([0.0, rng.uniform(0.05, 1.0)]),
        }
        if law["friction"]:
            law |= {"rolling_resistance": rng.choice(resistance), "spinning_resistance": rng.choice(resistance)}
            if self.chance(0.1):
                law |= {"radius_contensou": 0.1 * size, "spinning_resistance": 0.0}
        if self.chance(0.05):
            law["tangential_restitution"] = rng.uniform(-0.5, 0.5)
        return law

    def compliant(self):
        """Options of a compliant contact."""
        model = self.rng.choice(["hunt-crossley", "lankarani-nikravesh", "flores", "consistent"])
        k = self.power(2, 11) if self.wild else self.power(1, 8)
        return {"stiffness": k, "model": str(model), "exponent": float(self.rng.choice([1.0, 1.5]))}

    def frame(self, body, point, rotation=None):
        """Attachment at a point of the inertial frame."""
        return body.node.frame_at(point, rotation) if body is not None else self.model.ground.frame_at(point, rotation)

    def node(self, body):
        return self.model.ground if body is None else body

    def body(self, place, velocity=(0, 0, 0), spin=(0, 0, 0)):
        """A rigid body of some shape, centre of mass at its node or beside it."""
        size = self.rng.uniform(0.04, 0.2, 3)
        mass = self.mass()
        a, b, c = mass / 12.0 * size**2
        centre = self.vector(0.01) if self.chance(0.2) else None
        self.spin = max(self.spin, float(np.linalg.norm(spin)))
        options = {} if centre is None else {"center": centre}
        body = fem.RigidBody(
            mass, [b + c, a + c, a + b], position=place, rotation=exp(self.vector(1.5)), velocity=velocity,
            angular_velocity=spin, name=self.name("body"), **options,
        )  # fmt: skip
        self.model.add(body)
        self.bodies.append(body)
        return body

    def turning(self):
        """Angular velocity (3,)."""
        return self.direction() * self.rng.uniform(0.0, 1000.0 if self.wild and self.chance(0.5) else 20.0)

    def velocity_of(self, body, point):
        """Velocity of a point of a body in the initial state, and angular velocity (inertial axes)."""
        if body is None:
            return np.zeros(3), np.zeros(3)
        node = body.node
        w = np.asarray(node.angular_velocity, float)
        return np.asarray(node.velocity, float) + np.cross(w, point - np.asarray(node.position)), w


JOINTS = (fem.Revolute, fem.Spherical, fem.Universal, fem.Cylindrical, fem.Prismatic, fem.Fixed)


def add_linkage(make, count, at=(0.0, 0.0, 0.0)):
    """Tree of rigid bodies with joints of all kinds, moving as its joints allow."""
    rng, model = make.rng, make.model
    joints = []
    for k in range(count):
        parent = None if k == 0 else make.bodies[int(rng.integers(len(make.bodies)))] if make.chance(0.9) else None
        start = np.asarray(at, float) if parent is None else np.asarray(parent.node.position, float)
        point = start + make.vector(0.2)
        place = point + make.direction() * rng.uniform(0.05, 0.3)
        kind, axis = JOINTS[int(rng.integers(len(JOINTS)))], make.direction()
        v, w = make.velocity_of(parent, point)
        if kind in (fem.Revolute, fem.Cylindrical):
            w = w + axis * rng.uniform(-10, 10)
        if kind is fem.Spherical:
            w = w + make.turning()
        if kind in (fem.Prismatic, fem.Cylindrical):
            v = v + axis * rng.uniform(-1, 1)
        body = make.body(place, v + np.cross(w, place - point), w)
        given = {} if kind in (fem.Spherical, fem.Fixed) else {"axis": axis}
        joint = kind.at(make.node(parent), body, point, name=make.name("joint"), **given)
        model.add(joint)
        joints.append((kind, joint, body))
    return joints


def add_forces(make, joints):
    """Springs between bodies, springs and dampers of hinges, now and then loads and drivers."""
    rng, model = make.rng, make.model
    for _ in range(int(rng.integers(0, 3))):
        one = make.bodies[int(rng.integers(len(make.bodies)))]
        other = make.bodies[int(rng.integers(len(make.bodies)))] if make.chance(0.5) else None
        if one is other:
            continue
        a = np.asarray(one.node.position) + make.vector(0.05)
        b = make.vector(0.5) if other is None else np.asarray(other.node.position) + make.vector(0.05)
        k = make.spring()
        length = np.linalg.norm(a - b) * (rng.uniform(0.8, 1.2) if k < 1e5 else 1.0)
        model.add(fem.Spring(make.frame(one, a), make.frame(other, b), k, damping=rng.choice([0.0, 1e-3 * k]),
                             free_length=length, name=make.name("spring")))  # fmt: skip
    for kind, joint, _ in joints:
        if kind is fem.Revolute and make.chance(0.3):
            model.add(fem.TorsionSpring(joint.frame_P, joint.frame_Q, make.spring(4.0), name=make.name("spiral")))
    last = make.bodies[-1]
    if make.chance(0.1):
        model.add(fem.PointMass(make.mass(), at=last.frame(make.vector(0.1)), name=make.name("mass")))
    if make.chance(0.1):

        def drag(x, R, v, t):
            return np.array([[*(-0.3 * v[0, :3]), 0, 0, 0]])

        model.add(fem.UserForce(last, drag, name=make.name("drag")))
    if make.chance(0.15):
        make.passive = False
        size, rate = rng.uniform(1, 20), rng.uniform(1, 20)
        options = {"follower": make.chance(0.5), "signal": lambda t: np.sin(rate * t)}
        if make.chance(0.5):
            model.add(fem.PointForce(last.frame(make.vector(0.1)), make.direction() * size, name="load", **options))
        else:
            model.add(fem.PointMoment(last, make.direction() * size * 0.1, name="load", **options))
    add_driver(make, joints)


def add_driver(make, joints):
    """A hinge or a slide that follows a given motion; the others start at rest."""
    kinds = {fem.Revolute: fem.RevoluteDriver, fem.Prismatic: fem.LinearDriver}
    able = [(kind, joint) for kind, joint, _ in joints if kind in kinds]
    if not able or not make.chance(0.25):
        return
    make.passive = False
    for body in make.bodies:
        body.node.velocity[:], body.node.angular_velocity[:] = 0.0, 0.0
    kind, joint = able[0]
    size, rate = make.rng.uniform(0.1, 0.5), make.rng.uniform(1.0, 10.0)
    make.model.add(kinds[kind](joint.frame_P, joint.frame_Q, lambda t: size * (1.0 - np.cos(rate * t)),
                               name=make.name("driver")))  # fmt: skip


def facing(normal):
    """Rotation (3, 3) of a frame whose z axis is a unit vector."""
    return frame_with_axis(normal)


def upwards(normal):
    """Rotation (3, 3) of a frame whose y axis is a unit vector."""
    return frame_with_axis(normal) @ np.array([[1.0, 0, 0], [0, 0, 1], [0, -1, 0]]).T


FRICTION_ONLY = ("restitution", "friction")  # what the law of a contact knows that is made compliant


def obstacle(make, frame, centre, radius, gap, other=None, compliant=False):
    """A contact of a random type of a sphere at ``centre`` with something ``gap`` away, on a body or the ground."""
    rng = make.rng
    n, law, name = make.direction(), make.law(radius), make.name("contact")
    law = {key: value for key, value in law.items() if key in FRICTION_ONLY or not compliant}
    near = centre - (radius + gap) * n  # the nearest point of an obstacle

    def on(point, rotation):
        return make.frame(other, point, rotation)

    R = rng.uniform(0.3, 1.0)
    across = facing(n)[:, 0]
    common = {"radius": radius, "name": name}
    hill = {"height": lambda x, y: -0.2 * (x**2 + 2 * y**2), "x": (-3.0, 3.0), "y": (-3.0, 3.0), "cells": 12}
    line = np.array([[-2.0, 0, 0], [-1, 0, 0], [0, 0, 0], [1, 0, 0], [2, 0, 0]])
    kinds = {
        "plane": lambda: fem.SphereOnPlane(frame, on(near, facing(n)), **common, **law),
        "rectangle": lambda: fem.SphereOnRectangle(frame, on(near, facing(n)), size=[0.6, 0.4], **common, **law),
        "box": lambda: fem.SphereOnBox(
            frame, on(near - 0.1 * n, facing(n)), size=[0.3, 0.3, 0.2], rounding=0.01, **common, **law
        ),
        "cylinder": lambda: fem.SphereOnCylinder(
            frame, on(near - R * n, facing(across)), radius_cylinder=R, **common, **law
        ),
        "drum": lambda: fem.SphereInCylinder(
            frame, on(near + (R + 2 * radius) * n, facing(across)), radius_cylinder=R + 2 * radius, **common, **law
        ),
        "bowl": lambda: fem.SphereInSphere(
            frame, on(near + (R + 2 * radius) * n, facing(n)), radius_outer=R + 2 * radius, **common, **law
        ),
        "ball": lambda: fem.SphereOnSphere(
            frame, on(near - 0.1 * n, facing(n)), radius_A=radius, radius_B=0.1, name=name, **law
        ),
        "surface": lambda: fem.PointOnSurface(frame, on(near, facing(n)), **hill, **common, **law),
        "curve": lambda: fem.PointOnCurve(frame, on(near, upwards(n)), points=line[:, :2], **common, **law),
        "wire": lambda: fem.SphereOnWire(
            frame, on(near - 0.02 * n, facing(n)), points=line, radius_wire=0.02, **common, **law
        ),
    }
    return kinds[str(rng.choice(sorted(kinds)))]()


def add_contacts(make, count, part_compliant=0.0):
    """Obstacles before spheres on the bodies."""
    for _ in range(count):
        body = make.bodies[int(make.rng.integers(len(make.bodies)))]
        others = [b for b in make.bodies if b is not body]
        other = others[int(make.rng.integers(len(others)))] if others and make.chance(0.2) else None
        centre = np.asarray(body.node.position, float) + make.vector(0.1)
        gap = 0.0 if make.chance(0.15) else make.rng.uniform(0.0, 0.03)
        radius, compliant = make.rng.uniform(0.02, 0.06), make.chance(part_compliant)
        contact = obstacle(make, make.frame(body, centre), centre, radius, gap, other, compliant)
        if compliant:
            restitution = make.rng.uniform(0.1, 1.0)
            contact = fem.CompliantContact(contact, restitution=restitution, **make.compliant())
        make.model.add(contact)


def linkage(make):
    joints = add_linkage(make, int(make.rng.integers(1, 6)))
    add_forces(make, joints)
    if make.passive or make.chance(0.5):
        add_contacts(make, int(make.rng.integers(0, 4)))


def closed_loop(make):
    """Planar or spatial loop of bars at rest, falling; or a chain whose end is held."""
    rng, model = make.rng, make.model
    points = np.array([[0.0, 0, 0], [0.1, 0, 0.3], [0.5, 0, 0.35], [0.5, 0, 0]])
    points[1:3] += rng.uniform(-0.08, 0.08, (2, 3)) * [1, 0, 1]
    planar = make.chance(0.6)
    before = None
    for k in range(3):
        body = make.body(0.5 * (points[k] + points[k + 1]))
        if planar and k < 2:  # two hinges, a ball joint and a sleeve: no row is redundant
            joint = fem.Revolute.at(make.node(before), body, points[k], axis=[0, 1, 0], name=make.name("joint"))
        else:
            joint = fem.Spherical.at(make.node(before), body, points[k], name=make.name("joint"))
        model.add(joint)
        before = body
    kind = fem.Cylindrical if planar else fem.Spherical
    given = {"axis": [0, 1, 0]} if kind is fem.Cylindrical else {}
    model.add(kind.at(before, model.ground, points[3], name=make.name("joint"), **given))
    add_contacts(make, int(rng.integers(0, 3)))


def throw(make):
    import random

    groups = ({"restitution": 0.0}, {"friction": 0.0}, {})
    build = random_systems.build(
        random.Random(int(make.rng.integers(2**31))), most=4, **groups[int(make.rng.integers(len(groups)))]
    )
    make.model = build
    make.masses += [element.mass for element in build.elements if isinstance(element, fem.RigidBody)]
    make.spin = max(
        (np.linalg.norm(e.node.angular_velocity) for e in build.elements if hasattr(e, "mass")), default=0.0
    )


def obstacles(make):
    """Bodies that fly among obstacles of all kinds."""
    for _ in range(int(make.rng.integers(1, 4))):
        make.body(make.vector(0.3), make.vector(2.0), make.turning())
    add_contacts(make, int(make.rng.integers(1, 5)), part_compliant=0.2)


def compliant(make):
    for _ in range(int(make.rng.integers(1, 3))):
        make.body(make.vector(0.3), make.vector(2.0), make.turning())
    add_contacts(make, int(make.rng.integers(1, 4)), part_compliant=1.0)


def beams(make):
    """A beam that is clamped, hinged or free, with a body at its end, in tension or in bending, before an obstacle."""
    rng, model = make.rng, make.model
    n, length = int(rng.integers(2, 6)), rng.uniform(0.3, 1.0)
    E = make.power(6, 11.3)
    section = fem.Section.circle(rng.uniform(2e-3, 1e-2), E=E, nu=0.3, density=rng.choice([1000.0, 7800.0]))
    make.stiffness = max(make.stiffness, E * section.area * n / length)
    make.masses.append(section.mass_per_length * length / n)
    end, held = make.direction() * length, str(rng.choice(["clamped", "hinged", "free"]))
    options = {"damping": rng.uniform(0.0, 1e-3)} if make.chance(0.3) else {}
    line = model.add(fem.beam_line([0, 0, 0], end, n, section, name=make.name("beam"), **options))
    axis = facing(end / length)[:, 0]
    w = np.zeros(3) if held == "clamped" else axis * rng.uniform(-10, 10) * (5.0 if make.wild else 1.0)
    v = make.vector(1.0) if held == "free" else np.zeros(3)
    make.spin = max(make.spin, float(np.linalg.norm(w)))
    for node in line.nodes:
        node.velocity[:], node.angular_velocity[:] = v + np.cross(w, node.position), w
    if held == "clamped":
        model.add(fem.Fixed.at(model.ground, line.nodes[0], [0, 0, 0], name=make.name("joint")))
    elif held == "hinged":
        model.add(fem.Revolute.at(model.ground, line.nodes[0], [0, 0, 0], axis=axis, name=make.name("joint")))
    tip, radius = line.nodes[-1], rng.uniform(0.01, 0.04)
    if make.chance(0.5):
        body = make.body(end, v + np.cross(w, end), w)
        model.add(fem.Fixed.at(tip, body, end, name=make.name("joint")))
    for _ in range(int(rng.integers(0, 3))):
        model.add(obstacle(make, tip, end, radius, rng.uniform(0.0, 0.03)))


def clearance(make):
    """Rods that hang in joints with clearance, from the ground and from each other."""
    rng, model, before = make.rng, make.model, None
    point = np.zeros(3)
    for k in range(int(rng.integers(1, 3))):
        axis, gap = np.array([0.0, 1.0, 0.0]), make.power(-4.5, -2.5)
        body = make.body(point + [rng.uniform(0.1, 0.3), 0, rng.uniform(-0.2, 0.2)])
        frames = make.frame(body, point, facing(axis)), make.frame(before, point, facing(axis))
        law = {"restitution": rng.uniform(0.0, 1.0), "friction": rng.choice([0.0, 0.1, 0.5])}
        if make.chance(0.3):
            law = {"compliant": make.compliant(), "restitution": rng.uniform(0.1, 1.0), "friction": 0.1}
        kind = rng.integers(3) if k == 0 else rng.integers(2)
        options = {"clearance": gap, "name": make.name("clearance"), **law}
        if kind == 0:
            length, play = rng.uniform(0.01, 0.05), gap if make.chance(0.7) else None
            joint = fem.JournalClearance(*frames, radius=0.01, length=length, end_play=play, **options)
        elif kind == 1:
            joint = fem.SphericalClearance(*frames, radius=0.015, **options)
        else:
            joint = fem.PrismaticClearance(*frames, size=[0.05, 0.03, 0.1], **options)
        model.add(joint)
        before, point = body, np.asarray(body.node.position) + make.vector(0.1)


def groups(make):
    """Balls of a contact group among obstacles."""
    make.groups = True
    rng, model = make.rng, make.model
    law = {"restitution": rng.choice([0.0, 0.5]), "friction": rng.choice([0.0, 0.3, 0.8])}
    group = fem.ContactGroup(name="balls", **law)
    count, places = int(rng.integers(2, 12)), []
    while len(places) < count:
        place = rng.uniform([-0.2, -0.2, 0.05], [0.2, 0.2, 0.4])
        if all(np.linalg.norm(place - other) > 0.085 for other in places):
            places.append(place)
            mass, radius = make.mass(), rng.uniform(0.02, 0.04)
            w = make.turning() * 0.2
            make.spin = max(make.spin, float(np.linalg.norm(w)))
            ball = model.add(fem.RigidBody.sphere(mass, radius, position=place, velocity=make.vector(1.0),
                                                  angular_velocity=w, name=make.name("ball")))  # fmt: skip
            group.sphere(ball, radius)
    group.obstacle(fem.SphereOnPlane, model.ground.frame())
    if make.chance(0.5):
        group.obstacle(fem.SphereInCylinder, model.ground.frame(), radius_cylinder=0.4)
    if make.chance(0.3):
        group.obstacle(fem.SphereOnBox, model.ground.frame([0, 0, -0.05]), size=[0.2, 0.2, 0.1])
    model.add(group)


def bearing(make):
    """A rotor in one bearing of a random level, as a spinning top or with a spring."""
    rng, model = make.rng, make.model
    speed = rng.uniform(0.0, 100.0)
    make.spin = max(make.spin, speed)
    mass = rng.uniform(0.3, 2.0)
    make.masses.append(mass)
    make.stiffness = max(make.stiffness, 1e8)
    level = str(rng.choice(["quasi-static", "dynamic", "rigid"]))
    fixed = () if level != "rigid" else ("z", "rx", "ry")
    shaft = model.add(
        fem.RigidBody(mass, [1e-3, 1e-3, 5e-4], angular_velocity=[0, 0, speed], fixed=fixed, name="shaft")
    )
    if level == "rigid":
        model.add(fem.RigidBallBearing(
            model.ground, shaft, balls=8, radius_ball=3.96875e-3, radius_inner=12.77125e-3, radius_outer=20.71875e-3,
            ball_mass=2.042e-3, cage_stiffness=1e6, friction=float(rng.choice([0.0, 0.05])), name="bearing",
        ))  # fmt: skip
    else:
        geometry = fem.BearingGeometry.from_designation("6204", clearance=float(rng.uniform(1e-6, 2e-5)))
        model.add(fem.ball_bearing(model.ground, shaft, geometry, level=level, name="bearing"))


# family: how often, largest number of steps
FAMILIES = {
    throw: (3, 200), linkage: (5, 300), closed_loop: (2, 300), obstacles: (4, 300), compliant: (3, 300),
    beams: (4, 200), clearance: (3, 200), groups: (2, 150), bearing: (1, 40),
}  # fmt: skip


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
            options["persistent_contacts"] = True
        if rng.random() < 0.3:
            tolerance = rng.choice([None, 1e-6, 1e-5, 1e-4])
            options["step_control"] = fem.StepControl(tolerance=tolerance)
    for name, values in {
        "reset_after_impact": (True,), "mixed": (True,), "reuse": (False,), "penalty": (0.3, 0.1), "rtol": (1e-6, 1e-8),
        "epsilon": (0.0, 1e-6), "position_factor": (1.0,), "max_problems": (5,), "restitution_speed": ("touch",),
        "friction_penalty": (1.0,), "divide_failed_steps": (False,),
    }.items():  # fmt: skip
        if rng.random() < 0.1:
            options[name] = values[int(rng.integers(len(values)))]
    if rng.random() < 0.1 and "persistent_contacts" not in options:
        options["improved_start"] = True
    return options


OWN_OPTIONS = {
    "MoreauJean": {"projection": (False, True), "theta": (0.5, 0.6, 1.0), "forecast": (0.5, 1.0)},
    "ConeComplementarity": {"relaxed": (True, False)},
    "NonsmoothGeneralizedAlphaGGL": {"coupling": ("monolithic", "sequential")},
    "LobattoIIIAB": {"stages": (2, 3)},
}


def options_of(method, options, seed):
    """Those of the options of `DecoupledNSGA` that a method knows, and in half of the models choices of its own."""
    rng, known = np.random.default_rng([seed, 1]), inspect.signature(STEPPERS[method]).parameters
    result = {name: value for name, value in options.items() if name in known}
    if rng.random() < 0.5:
        for name, values in OWN_OPTIONS.get(method, {}).items():
            result[name] = values[int(rng.integers(len(values)))]
    return result


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
    """Largest rise above the start, less what was given, over the scale of the energy; systems at rest move by
    round-off.
    """
    kinetic, potential, total = result.energy.kinetic, result.energy.potential, result.energy.total
    scale = max(kinetic.max(), np.ptp(potential), STILL * sum(case.masses))
    total = total if case.passive else total - given(case, result)
    return float((total - total[0]).max() / scale)


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

    Methods that close contacts in velocities only (`Stepper.drift`) leave what the bodies travel there in a step: it
    is open when the step begins, or its surfaces are so curved that a step leads through them. `ConeComplementarity`
    takes that back in the next step. `MoreauJean` never does, and each step with the contact closed adds to it, because
    the law holds with the gradient of another pose of the step,

        |ġ| = |n·v − n'·v'| ≤ |v − v'| + |n − n'| |v'| + Σ |a − a'| |ω| ,

    v the relative velocity at the contact, n its normal, a its arms from the nodes of both bodies: where a body rolls
    or pivots v and n stay what they are, but its gradient turns with a. What a contact does that does not act is not
    in this sum: it falls with v, not with what a step changes of v.
    """
    method = case.stepper()
    if method.drift(case.model.compile(), case.h) == 0.0:
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
    said = list(getattr(result, "warnings", ()))
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


def run(seed, method="DecoupledNSGA"):
    """Outcome of a seed. An error from inside while the model is built is a fault of this file and is raised."""
    case = build(seed, method)
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            result = case.stepper().run(case.model, case.steps * case.h, case.h)
    except fem.ParameterError as error:
        return Outcome.of(case, "not taken", f"{type(error).__name__}: {error}")
    except fem.FemMbsError as error:
        return Outcome.of(case, "refused", f"{type(error).__name__}: {error}")
    except Exception as error:
        return Outcome.of(case, "wrong", f"{type(error).__name__} from inside: {error}")
    outcome = judge(case, result)
    if outcome.kind == "gain" and any(issubclass(w.category, UserWarning) for w in caught):
        outcome.kind = "warned"
    return outcome


def kind_of_refusal(message):
    """Short text by which refusals are counted."""
    if "after 0 iterations" in message:
        return "after 0 iterations"
    for text in ("position correction", "velocity correction", "smooth motion", "impact problems", "not finite",
                 "rad", "singular", "too deep"):  # fmt: skip
        if text in message:
            return text
    return message.split(":")[0]


def statistics(outcomes):
    """Table of outcomes by family, of all and of sensible models; lines of text."""
    families = sorted({o.family for o in outcomes})
    kinds = ("fine", "warned", "refused", "gain", "wrong", "not taken")
    yield f"{'family':14s} {'models':>7s} " + " ".join(f"{k:>9s}" for k in kinds) + "   sensible: taken, refused"
    for family in [*families, "all"]:
        mine = [o for o in outcomes if family in (o.family, "all")]
        count = Counter(o.kind for o in mine)
        taken = [o for o in mine if o.sensible and o.kind != "not taken"]
        refused = sum(o.kind == "refused" for o in taken)
        share = 100.0 * refused / max(len(taken), 1)
        yield (f"{family:14s} {len(mine):7d} " + " ".join(f"{count[k]:9d}" for k in kinds)
               + f"   {len(taken):5d}, {refused:3d} = {share:.1f} %")  # fmt: skip
    refusals = Counter(kind_of_refusal(o.message) for o in outcomes if o.kind == "refused")
    yield "refused: " + ", ".join(f"{text} {n}" for text, n in refusals.most_common())


def work(connection, method):
    """Run the seeds that come through a connection, in another process; first say that it is there."""
    connection.send("ready")
    while (seed := connection.recv()) is not None:
        connection.send(run(seed, method))


def in_process(seeds, limit=LIMIT, method="DecoupledNSGA"):
    """Outcomes of seeds, one after the other, by another process: it is ended where a model takes longer than a limit
    [s], which counts as wrong, and is replaced now and then."""
    context, process = multiprocessing.get_context("spawn"), None
    for k, seed in enumerate(seeds):
        if process is None:
            here, there = context.Pipe()
            process = context.Process(target=work, args=(there, method), daemon=True)
            process.start()
            there.close()
            here.recv()
        fault = f"takes longer than {limit:g} s"
        try:
            here.send(seed)
            outcome = here.recv() if here.poll(limit) else None
        except (EOFError, OSError):
            outcome, fault = None, "ended its process"
        yield Outcome.of(build(seed, method), "wrong", fault) if outcome is None else outcome
        if outcome is None or k % TOGETHER == TOGETHER - 1:
            process.kill()
            process.join()
            process = None
    if process is not None:
        process.kill()
        process.join()


def main():
    outcomes = []
    for outcome in in_process(range(int(sys.argv[1]), int(sys.argv[2])), LIMIT, *sys.argv[3:]):
        outcomes.append(outcome)
        if outcome.kind not in ("fine", "not taken"):
            print(f"{outcome}"[:400].replace("\n", " "), flush=True)
    print("\n".join(statistics(outcomes)))


if __name__ == "__main__":
    main()
