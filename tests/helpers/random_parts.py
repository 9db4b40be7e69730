"""Parts of random models: bodies, trees of joints, springs and loads, drivers, contacts of all kinds.

A `Maker` chooses the numbers and keeps what is needed to judge the model.
"""

from dataclasses import dataclass, field

import numpy as np

import fem_mbs as fem
from fem_mbs.rotations import exp, frame_with_axis


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
        """A rigid body of some shape, centre of mass at its node or off it."""
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


FRICTION_ONLY = ("restitution", "friction")  # parameters of the law of a contact that is made compliant


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
