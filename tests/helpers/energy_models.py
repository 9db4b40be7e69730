"""Models in which a wrong impact or a wrong root gives energy."""

import numpy as np

import fem_mbs as fem

CASE = ([0.6278, 0.5148], [-2.3416, -1.7806])  # angles from the vertical [rad], angular velocities [rad/s]


def ball_on_a_race(restitution, h=1e-3, run=None, **options):
    """Run of a ball that a spring holds on a sphere, around which it slides with 1 m/s for half a second.

    ``run``: options of the run, others are those of the method.
    """
    model = fem.Model("ball on a race")
    ball = fem.RigidBody.sphere(1.0, 0.05, position=[0.15, 0, 0], velocity=[0, 1.0, 0], name="ball")
    model.add(ball, fem.Spring(model.ground, ball, 1000.0, 0.0, 0.1))
    law = {"radius_A": 0.05, "radius_B": 0.1, "restitution": restitution, "name": "race"}
    model.add(fem.SphereOnSphere(ball, model.ground, **law))
    return fem.DecoupledNSGA(**options).run(model, 0.5, h, **(run or {}))


def double_pendulum_that_strikes(angles, speeds, restitution, friction):
    """Two rods of 1 m and 1 kg whose tip hits a rough floor after 0.1 mm (Kane and Levinson's example)."""
    model = fem.Model("Kane's double pendulum")
    along = [np.array([np.sin(q), 0.0, -np.cos(q)]) for q in angles]
    spins = [np.array([0.0, -w, 0.0]) for w in speeds]
    inertia, y = [1e-3, 1 / 12, 1 / 12], np.array([0.0, 1.0, 0.0])
    bodies, start, velocity = [], np.zeros(3), np.zeros(3)
    for name, d, spin in zip(("upper", "lower"), along, spins, strict=True):
        axes = np.column_stack([d, y, np.cross(d, y)])
        middle = {"position": start + d / 2, "velocity": velocity + np.cross(spin, d / 2)}
        bodies.append(fem.RigidBody(1.0, inertia, rotation=axes, angular_velocity=spin, name=name, **middle))
        start, velocity = start + d, velocity + np.cross(spin, d)
    upper, lower = bodies
    pin = fem.Revolute.at(model.ground, upper, [0, 0, 0], axis=y, name="pin")
    elbow = fem.Revolute.at(upper, lower, along[0], axis=y, name="elbow")
    floor = model.ground.frame([0, 0, start[2] - 0.01 - 1e-4])
    law = {"restitution": restitution, "friction": friction, "name": "tip"}
    model.add(upper, lower, pin, elbow, fem.SphereOnPlane(lower.frame([0.5, 0, 0]), floor, radius=0.01, **law))
    return model
