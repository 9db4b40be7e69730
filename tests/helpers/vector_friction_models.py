"""Models with friction in several directions of one joint: a plate on its plane, a ball in its socket."""

import numpy as np

import fem_mbs as fem

G, MU = 9.81, 0.3
DIRECTION = np.array([np.cos(0.7), np.sin(0.7)])  # oblique to the axes of the plane
INERTIA, RADIUS, LOAD = 0.02, 0.05, 40.0  # kg m², m, N


def plate(
    velocity=0.0,
    friction=MU,
    tan_slope=0.0,
    axes=0.0,
    direction=DIRECTION,
    spin=0.0,
    thrown=None,
    collar=0.0,
    speed=None,
):
    """Plate of 2 kg on a plane; gravity is normal to the plane but for ``tan_slope``, which pulls along ``direction``.

    ``axes``: angle [rad] by which the x axis of the plane is turned about its normal. ``thrown``: velocity (2,) that is
    not along ``direction``. ``speed``: of the plane, a conveyor.
    """
    tilt = np.arctan(tan_slope)
    gravity = G * np.array([*(np.sin(tilt) * np.asarray(direction)), -np.cos(tilt)])
    model = fem.Model("plate", gravity=gravity)
    along = velocity * np.asarray(direction) if thrown is None else thrown
    body = model.add(fem.RigidBody(2.0, 0.1 * np.eye(3), velocity=[*along, 0.0],
                                   angular_velocity=[0, 0, spin], name="plate"))  # fmt: skip
    c, s = np.cos(axes), np.sin(axes)
    R = np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])
    laws = {"displacement": friction} if speed is None else {}
    if collar:
        laws["angle"] = fem.DryFriction(friction, collar=collar)
    joint = fem.Planar(model.ground.frame(rotation=R), body.frame(rotation=R), friction=laws or None, name="table")
    model.add(joint)
    if speed is not None:
        model.add(fem.JointFriction(joint, friction, coordinate="displacement", speed=speed, name="belt"))
    return model


def rod_on_a_turntable(rate, centre, end, mass=2.0, inertia=0.02):
    """Rod that a turntable takes along at ``rate`` [rad/s]; its end (2,) rubs on it, its centre (2,) is free."""
    model = fem.Model("turntable", gravity=[0, 0, -G])
    table = model.add(fem.RigidBody(5.0, 1.0, angular_velocity=[0, 0, rate], name="table"))
    turn = fem.Signal(lambda t: rate * t)
    model.add(fem.RevoluteDriver.at(model.ground, table, [0, 0, 0], [0, 0, 1], angle=turn, name="drive"))
    model.add(fem.Revolute.at(model.ground, table, [0, 0, 0], [0, 0, 1], name="axle"))
    velocity = rate * np.array([-centre[1], centre[0], 0.0])
    rod = model.add(fem.RigidBody(mass, inertia, position=[*centre, 0], velocity=velocity,
                                  angular_velocity=[0, 0, rate], name="rod"))  # fmt: skip
    joint = fem.Planar(table.frame_at([*end, 0]), rod.frame_at([*end, 0]), friction={"displacement": MU}, name="plane")
    model.add(joint)
    return model


def ball(rates=(0.0, 0.0, 0.0), friction=MU, radius=RADIUS, moment=None, inertia=(INERTIA,) * 3):
    """Body on a ball joint at its centre of mass, pressed by `LOAD` along −z; ``inertia``: its principal moments."""
    model = fem.Model("ball")
    body = model.add(fem.RigidBody(2.0, inertia, angular_velocity=rates, name="ball"))
    law = fem.DryFriction(friction, radius=radius)
    model.add(fem.Spherical.at(model.ground, body, [0, 0, 0], friction=law, name="socket"))
    model.add(fem.PointForce(body.frame(), [0, 0, -LOAD], name="load"))
    if moment is not None:
        model.add(fem.PointMoment(body.frame(), moment))
    return model


def pendulum(angle, friction=MU, radius=RADIUS, velocity=0.0):
    """Rod with its centre of mass 0.5 m from its ball joint, displaced by an angle about a horizontal axis."""
    model = fem.Model("pendulum", gravity=[0, 0, -G])
    axis = np.array([0.6, 0.8, 0.0])
    R = fem.rotations.exp(angle * axis)
    arm = R @ [0, 0, -0.5]
    rate = np.array([0.0, 0.0, velocity])
    body = model.add(fem.RigidBody(2.0, np.diag([0.04, 0.05, 0.01]), position=arm, rotation=R,
                                   velocity=np.cross(rate, arm), angular_velocity=rate, name="rod"))  # fmt: skip
    law = fem.DryFriction(friction, radius=radius)
    model.add(fem.Spherical.at(model.ground, body, [0, 0, 0], friction=law, name="socket"))
    return model
