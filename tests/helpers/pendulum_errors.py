"""Errors of the spatial double pendulum, free and driven, against its motion in minimal coordinates."""

from functools import cache

import double_pendulum
import driven_double_pendulum
import numpy as np
import references
from references import rotation_error

import fem_mbs as fem

TIGHT = 1e-10  # rtol of the tables: the error of the iterations is then far below that of the time discretisation
TIMES = np.linspace(0.0, 1.0, 51)
LATER = TIMES >= 0.1 - 1e-9
NODES = {
    "com": (double_pendulum.center_1, double_pendulum.center_2),
    "off": (driven_double_pendulum.node_1, driven_double_pendulum.node_2),
}


@cache
def free_motion():
    return references.double_pendulum_motion(TIMES)


@cache
def driven_motion():
    return references.driven_pendulum_motion(TIMES, driven_double_pendulum.amplitude, driven_double_pendulum.frequency)


def steps(times, h):
    """Numbers of the steps that end at these times."""
    return np.round(times / h).astype(int)


def pendulum_errors(result, motion, nodes, moment=None):
    """Largest errors of positions, rotations, velocities and joint efforts; energy drift [J].

    Over the times of the run; ``moment`` (k,) of a driver at `TIMES`.
    """
    count = round(result.t[-1] / TIMES[1]) + 1
    k, motion = steps(TIMES[:count], result.h[-1]), motion[:count]
    later = LATER[:count]
    efforts = [getattr(result[joint], effort)[k] for joint in ("joint 1", "joint 2") for effort in ("force", "moment")]
    if moment is not None:  # the drive adds its moment to that of the hinge
        efforts[1] = efforts[1] + result["driver"].moment[k, None] * double_pendulum.axis_1
    x, R, v = [], [], []
    for name, node in zip(("body 1", "body 2"), nodes):
        second = name == "body 2"
        rotation = np.array([p.R2 if second else p.R1 for p in motion])
        origin = np.array([p.p2 if second else 0 * p.p2 for p in motion])
        w1, w = np.array([p.w1 for p in motion]), np.array([p.w2 if second else p.w1 for p in motion])
        velocity = np.cross(w1, origin) + np.cross(w, rotation @ node)
        body = result[name]
        x.append(np.abs(body.position[k] - origin - rotation @ node).max())
        R.append(rotation_error(body.rotation[k], rotation))
        v.append(np.abs(body.velocity[k] - velocity).max())
        v.append(np.abs(body.angular_velocity[k] - np.einsum("kji,kj->ki", rotation, w)).max())
    lam = np.abs(np.hstack(efforts) - [p.efforts() for p in motion])[later].max()
    energy = result.energy.total
    return np.array([max(x), max(R), max(v), lam]), np.abs(energy - energy[0]).max()


def flexible_pendulum():
    """A soft beam with a body at each end, on a skew hinge off its nodes, which a force that grows smoothly swings."""
    section = fem.Section.rectangle(0.03, 0.02, E=1e7, nu=0.3, density=2000.0)
    model = fem.Model("flexible pendulum", gravity=[0, 0, 0])
    rod = fem.beam_line([0.1, 0, 0], [0.5, 0.1, 0], 2, section, name="rod")
    model.add(fem.RigidBody(0.3, [3e-4, 4e-4, 5e-4], node=rod.nodes[0], name="root"))
    model.add(fem.RigidBody(0.2, [1e-4, 2e-4, 3e-4], node=rod.nodes[-1], name="bob"), rod)
    model.add(fem.Revolute.at(model.ground, rod.nodes[0], [0, 0, 0], [0, 0.6, 0.8], name="hinge"))
    model.add(fem.PointForce(rod.nodes[-1], lambda t: np.sin(6 * t) ** 4 * np.array([3.0, 8.0, -6.0]), name="load"))
    return model


FLEXIBLE_END, FINE = 0.32, 5e-5  # s


@cache
def flexible_motion():
    """The flexible pendulum in small steps of a method that neither damps nor is under test: error 1e-9 m."""
    return fem.DecoupledNSGA(1.0, rtol=TIGHT).run(flexible_pendulum(), FLEXIBLE_END, FINE)


def flexible_errors(method, h):
    """Largest errors of position, rotation, velocity of the bob, and of the force of the hinge."""
    result, exact = method.run(flexible_pendulum(), FLEXIBLE_END, h), flexible_motion()
    k = steps(result.t, FINE)
    return np.array(
        [
            np.abs(result["bob"].position - exact["bob"].position[k]).max(),
            rotation_error(result["bob"].rotation, exact["bob"].rotation[k]),
            np.abs(result["bob"].velocity - exact["bob"].velocity[k]).max(),
            np.abs(result["hinge"].force - exact["hinge"].force[k])[result.t > 0.15].max(),
        ]
    )
