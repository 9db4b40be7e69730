"""Random small systems with many contacts: spheres, boxes, rods and pendulums among planes, walls, bowls, each other.

They start close above each other and fall, so that most of them touch several times within 0.3 s.
"""

import math

import numpy as np

import fem_mbs as fem
from fem_mbs.rotations import exp

GRAVITY = 9.81  # m/s²
GROUPS = {  # largest e_N and μ
    "plastic": {"restitution": 0.0},
    "frictionless": {"friction": 0.0},
    "rough and elastic": {},
}


def vector(rng, size):
    """Components (3,) between −size and size."""
    return np.array([rng.uniform(-size, size) for _ in range(3)])


def throw(rng):
    """Velocity (3,) [m/s], downwards."""
    return vector(rng, 1.0) - [0.0, 0.0, rng.uniform(0.0, 2.0)]


def law(rng, size, restitution, friction):
    """Coefficients of one kind of pair; size [m] of the arms of resistance, the rest is the largest e_N and μ."""
    resistance = friction * size
    return {
        "restitution": rng.choice([0.0, restitution * rng.uniform(0.0, 1.0), restitution]),
        "friction": friction * rng.choice([0.0, rng.uniform(0.05, 1.0), rng.uniform(0.05, 1.0)]),
        "rolling_resistance": resistance * rng.choice([0.0, 0.0, 0.0, rng.uniform(0.01, 0.1)]),
        "spinning_resistance": resistance * rng.choice([0.0, 0.0, 0.0, rng.uniform(0.01, 0.1)]),
    }


class Ball:
    """Sphere of 0.03 … 0.1 m."""

    def __init__(self, rng, place, name):
        self.reach = rng.uniform(0.03, 0.1)
        mass = rng.uniform(0.2, 2.0)
        self.body = fem.RigidBody(
            mass, 0.4 * mass * self.reach**2, position=place, velocity=throw(rng),
            angular_velocity=vector(rng, 10.0), name=name,
        )  # fmt: skip
        self.points = [(self.body.frame(), self.reach)]


class Brick:
    """Box of 0.04 … 0.16 m with contact points at its corners."""

    def __init__(self, rng, place, name):
        self.size = np.array([rng.uniform(0.04, 0.16) for _ in range(3)])
        self.rounding = 0.1 * self.size.min()
        self.reach = 0.5 * np.linalg.norm(self.size)
        flat = rng.random() < 0.3
        self.body = fem.RigidBody.box(
            rng.uniform(0.2, 2.0), self.size, position=place, rotation=exp(vector(rng, 0.0 if flat else 1.5)),
            velocity=throw(rng), angular_velocity=vector(rng, 0.0 if flat else 8.0), name=name,
        )  # fmt: skip
        half = 0.5 * self.size - self.rounding
        signs = [[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)]
        self.points = [(self.body.frame(half * np.array(s)), self.rounding) for s in signs]


class Rod:
    """Rod with round ends, 0.1 … 0.3 m long."""

    def __init__(self, rng, place, name):
        length, self.radius = rng.uniform(0.1, 0.3), rng.uniform(0.01, 0.03)
        self.reach = 0.5 * length + self.radius
        self.body = fem.RigidBody.cylinder(
            rng.uniform(0.2, 2.0), self.radius, length, axis=(1, 0, 0), position=place, rotation=exp(vector(rng, 1.5)),
            velocity=throw(rng), angular_velocity=vector(rng, 8.0), name=name,
        )  # fmt: skip
        self.ends = self.body.frame([-0.5 * length, 0, 0]), self.body.frame([0.5 * length, 0, 0])
        self.points = [(end, self.radius) for end in self.ends]


class Pendulum:
    """Rod hanging from the ground by a hinge or a spherical joint, a ball at its free end."""

    def __init__(self, rng, place, name):
        length, radius = rng.uniform(0.1, 0.3), rng.uniform(0.02, 0.05)
        self.reach = length + radius
        R = exp(vector(rng, 1.5))
        mass = rng.uniform(0.2, 2.0)
        centre = rng.uniform(0.5, 1.0) * length
        inertia = mass * np.array([0.1 * length**2, 0.12 * length**2, 0.15 * length**2])
        spin = vector(rng, 5.0)
        self.hinge = place
        axis = R @ [0, 0, 1]
        hinged = rng.random() < 0.5
        spin = axis * rng.uniform(-8.0, 8.0) if hinged else spin
        arm = R @ [centre, 0, 0]
        self.body = fem.RigidBody(
            mass, inertia, position=place + arm, rotation=R, velocity=np.cross(spin, arm), angular_velocity=spin,
            name=name,
        )  # fmt: skip
        self.axis = axis if hinged else None
        self.points = [(self.body.frame([length - centre, 0, 0]), radius)]


KINDS = {"ball": Ball, "brick": Brick, "rod": Rod, "pendulum": Pendulum}


def build(rng, most=6, restitution=1.0, friction=1.0, kinds=tuple(KINDS)):
    """Random system of 1 to ``most`` bodies.

    Parameters
    ----------
    rng : random.Random
    restitution, friction : float
        Largest coefficients; without friction there is no rolling and spinning resistance either.
    kinds : names from `KINDS`
    """
    model = fem.Model("random system", gravity=[0, 0, -GRAVITY * rng.choice([0.0, 1.0, 1.0, 1.0, 1.0])])
    count = rng.randint(1, most)
    bodies, height = [], 0.0
    for k in range(count):
        kind = rng.choice(kinds)
        touching = kind == "ball" and rng.random() < 0.3
        part = KINDS[kind](rng, np.zeros(3), f"{kind} {k + 1}")
        # one above the other: piles up, with gaps that close within the run; or a ball that lies on what is below
        space = 0.0 if touching else rng.uniform(0.0, 0.05)
        place = np.array([rng.uniform(-0.03, 0.03), rng.uniform(-0.03, 0.03), height + space + part.reach])
        part.body.node.position += place
        height = place[2] + part.reach
        model.add(part.body)
        if kind == "pendulum":
            hinge = place
            joint = fem.Spherical if part.axis is None else fem.Revolute
            model.add(joint.at(model.ground, part.body, hinge, axis=part.axis, name=f"joint {k + 1}"))
        bodies.append(part)
    surroundings(rng, model, bodies, (restitution, friction))
    for i, first in enumerate(bodies):
        for second in bodies[:i]:
            between(rng, model, first, second, law(rng, 0.5 * (first.reach + second.reach), restitution, friction))
    return model


def surroundings(rng, model, bodies, largest):
    """A floor, level or tilted, and up to two walls; or a bowl; up to 3 cm from the nearest body."""
    points = np.array([frame.position for part in bodies for frame, _ in part.points])
    radii = np.array([r for part in bodies for _, r in part.points])
    places = []
    if rng.random() < 0.2:
        centre = points.mean(axis=0) + [0.0, 0.0, 0.3]
        reach = (np.linalg.norm(points - centre, axis=1) + radii).max() + rng.uniform(0.0, 0.03)
        places.append(("bowl", fem.SphereInSphere, model.ground.frame(centre), {"radius_outer": reach}))
    else:
        turns = {"floor": [rng.choice([0.0, 0.0, rng.uniform(0.0, 0.4)]), 0.0, 0.0]}
        turns |= {"west": [0.0, 0.5 * math.pi, 0.0]} if rng.random() < 0.3 else {}
        turns |= {"south": [-0.5 * math.pi, 0.0, 0.0]} if rng.random() < 0.3 else {}
        for name, turn in turns.items():
            normal = exp(turn) @ [0, 0, 1]
            height = (points @ normal - radii).min() - rng.uniform(0.0, 0.03)
            places.append((name, fem.SphereOnPlane, model.ground.frame(height * normal, turn), {}))
    for part in bodies:
        for name, contact, place, shape in places:
            numbers = law(rng, part.reach, *largest)
            for i, (frame, r) in enumerate(part.points):
                model.add(
                    contact(frame, place, radius=r, name=f"{name}, {part.body.name}, {i + 1}", **shape, **numbers)
                )


def between(rng, model, first, second, numbers):
    """Contacts of two bodies."""
    name = f"{first.body.name}, {second.body.name}"
    if isinstance(first, Brick) and isinstance(second, Brick):
        rounding = min(first.rounding, second.rounding)
        sizes = {"size_A": first.size, "size_B": second.size}
        edges = rng.random() < 0.1
        model.add(fem.BoxOnBox(first.body, second.body, **sizes, rounding=rounding, edges=edges, name=name, **numbers))
        return
    if isinstance(second, Brick):
        first, second = second, first
    if isinstance(first, Brick):
        for i, (frame, r) in enumerate(second.points):
            options = {"radius": r, "size": first.size, "rounding": first.rounding, "name": f"{name}, {i + 1}"}
            model.add(fem.SphereOnBox(frame, first.body, **options, **numbers))
        return
    if isinstance(second, Rod):
        first, second = second, first
    if isinstance(first, Rod) and isinstance(second, Rod):
        radii = {"radius_A": first.radius, "radius_B": second.radius}
        model.add(fem.CapsuleOnCapsule(first.ends, second.ends, **radii, name=name, **numbers))
    elif isinstance(first, Rod):
        ((frame, r),) = second.points
        radii = {"radius": r, "radius_capsule": first.radius}
        model.add(fem.SphereOnCapsule(frame, first.ends, **radii, name=name, **numbers))
    else:
        ((frame_A, r_A),), ((frame_B, r_B),) = first.points, second.points
        model.add(fem.SphereOnSphere(frame_A, frame_B, radius_A=r_A, radius_B=r_B, name=name, **numbers))


def check_contacts(model, result, what):
    """No penetration beyond 1e-10 of the size (1 m), forces in the cones to 1e-8."""
    for element in model.elements:
        if element.role != "contact":
            continue
        contact = result[element.name]
        assert contact.gap.min() > -1e-10, f"{what}: {element.name} penetrates {contact.gap.min():.1e} m"
        normal = contact.force_normal  # with persistent contacts impulses are momenta, which no law bounds in a step
        assert normal.min() >= 0.0, f"{what}: {element.name} pulls"
        sliding = np.linalg.norm(contact.force_tangential, axis=1)
        rolling = np.linalg.norm(contact.moment[:, :2], axis=1)
        spinning = np.abs(contact.moment[:, 2])
        laws = element.friction, element.rolling_resistance, element.spinning_resistance
        for size, limit in zip((sliding, rolling, spinning), laws, strict=True):
            assert np.all(size <= limit * normal * (1 + 1e-8)), f"{what}: {element.name} outside its cone"
