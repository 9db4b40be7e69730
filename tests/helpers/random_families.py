"""Families of random models: what each puts together, how often it is chosen, and how many steps it runs at most."""

import numpy as np
import random_systems
from random_parts import add_contacts, add_forces, add_linkage, facing, obstacle

import fem_mbs as fem


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
