"""Models with friction in their joints, of which closed forms or a reference are known."""

import numpy as np

import fem_mbs as fem


def run(model, t_end, h, **options):
    """Run a model; joints may repeat each other (planar mechanisms in space)."""
    system = model.compile(redundant="allow")
    return fem.DecoupledNSGA(**{"rho_inf": 0.8, **options}).run(system, t_end=t_end, h=h, progress=False)


def pendulum(start=np.pi / 3, friction=0.3, radius=0.1, moment=0.0):
    """Point mass 1 kg on a rod of 1 m, hinge with friction; angle from hanging down."""
    model = fem.Model("pendulum", gravity=[0, -9.81, 0])
    R = turned(start)
    bob = model.add(fem.RigidBody(1.0, 1e-9 * np.eye(3), position=R @ [0, -1.0, 0], rotation=R, name="bob"))
    hinge = model.add(fem.Revolute.at(model.ground, bob, [0, 0, 0], [0, 0, 1], name="hinge"))
    model.add(fem.JointFriction(hinge, friction, radius=radius, name="friction"))
    if moment:
        model.add(fem.PointMoment(bob.frame(), [0, 0, moment]))
    return model


def turned(angle):
    """Rotation about z."""
    c, s = np.cos(angle), np.sin(angle)
    return np.array([[c, -s, 0], [s, c, 0], [0, 0, 1.0]])


def guide(kappa=0.0, velocity=1.0, moment=1.0, stop=None, restitution=0.0):
    """Slider of 1 kg in a guide with two pads 0.4 m apart, friction 0.5 off the centre for a given κ.

    ``stop``: how far off the centre it meets a stop, 20.5 mm ahead.
    """
    model = fem.Model("guide")
    slider = model.add(fem.RigidBody(1.0, 0.02 * np.eye(3), velocity=[velocity, 0, 0], name="slider"))
    joint = model.add(fem.Prismatic.at(model.ground, slider, [0, 0, 0], [1, 0, 0], name="guide"))
    offset = joint.frame_Q.orientation.T @ [0, -0.4 * kappa, 0]
    model.add(fem.JointFriction(joint, 0.5, length=0.4, offset=offset[:2], kappa=True, name="friction"))
    if moment:
        model.add(fem.PointMoment(slider.frame(), [0, 0, moment]))
    if stop is not None:
        wall = model.ground.frame_at([0.0205, 0, 0], fem.rotations.frame_with_axis(np.array([-1.0, 0, 0])))
        point = slider.frame(p=[0, stop, 0])
        model.add(fem.SphereOnPlane(point, wall, radius=0.0, restitution=restitution, name="stop"))
    return model


def block(load=None, friction=(1.0, 0.6), velocity=0.0, position=0.0, stiffness=0.0, speed=0.0):
    """Block of 1 kg on a guide with a preload of 1 N, with a load or a spring."""
    model = fem.Model("block")
    at = [position, 0, 0]
    body = model.add(fem.RigidBody(1.0, 0.1 * np.eye(3), position=at, velocity=[velocity, 0, 0], name="block"))
    joint = model.add(fem.Prismatic.at(model.ground, body, at, [1, 0, 0], name="guide"))
    model.add(fem.JointFriction(joint, friction, preload=1.0, speed=speed, name="friction"))
    if load is not None:
        model.add(fem.PointForce(body.frame(), [load, 0, 0]))
    if stiffness:
        wall = model.ground.frame(p=[-10, 0, 0])
        model.add(fem.Spring(wall, body.frame(), stiffness=stiffness, free_length=10.0, name="spring"))
    return model


def crank_slider():
    """Crank 0.2 m, rod 0.5 m, slider along x, with friction in three hinges and the guide; gravity along −y."""
    model = fem.Model("crank-slider", gravity=[0, -9.81, 0])
    l1, l2, angle, rate = 0.2, 0.5, 0.5, 12.0
    tilt = -np.arcsin(l1 * np.sin(angle) / l2)
    tilting = -l1 * np.cos(angle) * rate / (l2 * np.cos(tilt))
    p1 = l1 * turned(angle)[:, 0]
    p2 = p1 + l2 * turned(tilt)[:, 0]

    def across(rate, r):
        return rate * np.array([-r[1], r[0], 0.0])

    v1 = across(rate, p1)
    crank = fem.RigidBody(1.0, 0.01 * np.eye(3), position=0.5 * p1, rotation=turned(angle), name="crank",
                          velocity=0.5 * v1, angular_velocity=[0, 0, rate])  # fmt: skip
    rod = fem.RigidBody(1.5, 0.03 * np.eye(3), position=0.5 * (p1 + p2), rotation=turned(tilt), name="rod",
                        velocity=v1 + across(tilting, 0.5 * (p2 - p1)), angular_velocity=[0, 0, tilting])  # fmt: skip
    slider = fem.RigidBody(2.0, 0.03 * np.eye(3), position=p2, velocity=v1 + across(tilting, p2 - p1), name="slider")
    z = [0, 0, 1]
    joints = [
        fem.Revolute.at(model.ground, crank, [0, 0, 0], z, name="main"),
        fem.Revolute.at(crank, rod, p1, z, name="pin"),
        fem.Revolute.at(rod, slider, p2, z, name="wrist"),
        fem.Prismatic.at(model.ground, slider, p2, [1, 0, 0], name="guide"),
    ]
    model.add(crank, rod, slider, *joints)
    for joint in joints:
        options = {} if joint.name == "guide" else {"radius": 0.02}
        model.add(fem.JointFriction(joint, 0.2, name=f"{joint.name} friction", **options))
    return model


def double_pendulum():
    """Links of 1.3 and 0.9 kg, 1.3 and 0.2 rad from hanging down; friction in both hinges, a preload in the second."""
    model = fem.Model("double pendulum", gravity=[0, -9.81, 0])
    upper, lower = turned(1.3), turned(0.2)
    elbow = upper @ [0, -0.7, 0]
    first = fem.RigidBody(1.3, 0.06 * np.eye(3), position=upper @ [0, -0.35, 0], rotation=upper, name="first")
    second = fem.RigidBody(0.9, 0.03 * np.eye(3), position=elbow + lower @ [0, -0.3, 0], rotation=lower, name="second")
    shoulder = fem.Revolute.at(model.ground, first, [0, 0, 0], [0, 0, 1], name="shoulder")
    joint = fem.Revolute.at(first, second, elbow, [0, 0, 1], name="elbow")
    model.add(first, second, shoulder, joint)
    model.add(fem.JointFriction(shoulder, 0.25, radius=0.08, name="shoulder friction"))
    model.add(fem.JointFriction(joint, 0.5, radius=0.05, preload=0.3, name="elbow friction"))
    return model
