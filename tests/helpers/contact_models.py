"""Models of the contact benchmarks of docs/theory/decoupled_nsga.md, "Decisions"."""

from itertools import pairwise

import numpy as np
from scipy.integrate import solve_ivp

import fem_mbs as fem
from fem_mbs.rotations import exp, frame_with_axis
from fem_mbs.shapes import Box

TIGHT = {"rtol": 1e-12, "atol": 1e-13}


def facing(normal):
    """Rotation (3, 3) of a frame whose z axis is a given unit vector (3,)."""
    return frame_with_axis(np.asarray(normal, float))


def bouncing_pendulum_motion(t):
    """Angle (k,) [rad] of the exact motion, impact times [s] and energies after the impacts [J]."""
    inertia = 1.1  # kg m² about the pivot

    def rate(_, y):
        return [y[1], -10.0 * np.cos(y[0]) / inertia]

    def hit(_, y):
        return y[0] + np.pi / 4

    hit.terminal, hit.direction = True, -1
    t, y, now = np.asarray(t, float), np.array([np.pi / 12, 0.0]), 0.0
    angle, impacts, energies = np.zeros_like(t), [], []
    while now < t[-1] and len(impacts) < 40:
        flight = solve_ivp(
            rate, (now, t[-1] + 1e-9), y, "DOP853", events=hit, dense_output=True, rtol=1e-12, atol=1e-13
        )
        inside = (t >= now) & (t <= flight.t[-1])
        angle[inside] = flight.sol(t[inside])[0]
        now, y = flight.t[-1], np.array([-np.pi / 4, -0.8 * flight.y[1, -1]])
        if flight.status == 1:
            impacts.append(now)
            energies.append(0.5 * inertia * y[1] ** 2 + 10.0 * np.sin(-np.pi / 4))
    return angle, np.array(impacts), np.array(energies)


PLATE, SPHERE = (3.0, np.array([0.3, 0.4, 0.6])), (1.0, np.array([0.004] * 3))  # kg, kg m²
PLATE_NODE, SPHERE_NODE = np.array([0.2, 0.1, -0.09]), np.array([0.03, -0.04, 0.03])  # m, off-centre nodes


def free_plate(restitution, friction, offset=0):
    """Small sphere that hits a free plate off its centre, no gravity; both turn.

    With ``offset`` 1 the nodes are 0.24 m and 0.06 m from the centres of mass.
    """
    R, plate_node, sphere_node = exp([0.3, -0.2, 0.4]), offset * PLATE_NODE, offset * SPHERE_NODE
    spin, turn = R @ [0.2, 0.5, -0.3], np.array([3.0, -2.0, 4.0])
    model = fem.Model("sphere and free plate")
    plate = model.add(
        fem.RigidBody(
            *PLATE, position=R @ plate_node, rotation=R, center=-plate_node, angular_velocity=spin,
            velocity=np.cross(spin, R @ plate_node), name="plate",
        )
    )  # fmt: skip
    sphere = model.add(
        fem.RigidBody(
            *SPHERE, position=R @ [0.3, 0.2, 0.35] + sphere_node, center=-sphere_node, angular_velocity=turn,
            velocity=R @ [0.4, -0.3, -2.0] + np.cross(turn, sphere_node), name="sphere",
        )
    )  # fmt: skip
    ball, face = sphere.frame(-sphere_node), plate.frame(-plate_node)
    law = {"restitution": restitution, "friction": friction}
    model.add(fem.SphereOnPlane(ball, face, radius=0.1, name="contact", **law))
    return model


def momentum(result, offset=0):
    """Linear and angular momentum (k, 3) about the origin of a run of `free_plate`."""
    linear, angular = 0.0, 0.0
    for name, (mass, inertia), node in (("plate", PLATE, PLATE_NODE), ("sphere", SPHERE, SPHERE_NODE)):
        body, center = result[name], -offset * node
        R, w = body.rotation, body.angular_velocity
        x = body.position + R @ center
        v = body.velocity + np.einsum("kij,kj->ki", R, np.cross(w, center))
        linear = linear + mass * v
        angular = angular + np.cross(x, mass * v) + np.einsum("kij,kj->ki", R, w * inertia)
    return linear, angular


CORNERS = np.array([[x, y, z] for x in (-0.4, 0.4) for y in (-0.3, 0.3) for z in (-0.2, 0.2)])
LEGS = np.array([[0.5, 0, -0.15], [-0.25, 0.43, -0.15], [-0.25, -0.43, -0.15], [0, 0, 0.5]])


def thrown(points, position=(0, 0, 0.75), velocity=(1, 0.5, 0), spin=(2, -3, 1.5)):
    """Body with contact points (n, 3) [m], thrown onto the plane z = 0; friction 0.4, e = 0.5."""
    R = exp([0.5, 0.3, 0.2])
    model = fem.Model("thrown body", gravity=[0, 0, -9.81])
    body = model.add(
        fem.RigidBody(
            1.0, [0.05, 0.08, 0.1], position=position, rotation=R, velocity=velocity, angular_velocity=R @ spin,
            shape=Box(np.ptp(points, axis=0)), name="body",
        )
    )  # fmt: skip
    for i, p in enumerate(points):
        floor = model.ground.frame()
        model.add(
            fem.SphereOnPlane(body.frame(p), floor, radius=0, friction=0.4, restitution=0.5, name=f"point {i + 1}")
        )
    return model


def three_in_line(restitution, speed=2.0, gap=5e-3):
    """Three equal bodies on a line; the first flies towards the other two, which touch and rest."""
    model = fem.Model("three in line")
    bodies = [
        model.add(fem.RigidBody(1.0, 0.1, position=[x, 0, 0], velocity=[v, 0, 0], name=name))
        for name, x, v in (("a", -1 - gap, speed), ("b", 0, 0), ("c", 1, 0))
    ]
    for left, right in pairwise(bodies):
        face = right.frame([-0.5, 0, 0], facing([-1, 0, 0]))
        name = f"{left.name}-{right.name}"
        model.add(fem.SphereOnPlane(left.frame([0.5, 0, 0]), face, radius=0, restitution=restitution, name=name))
    return model
