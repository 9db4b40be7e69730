"""A ball whose centre of mass is not its centre, rolling or sliding on a table, and its motion by index-1 equations.

Resistances: rolling and spinning [m], and the radius [m] of the disc that couples sliding with drilling.
"""

import numpy as np
from scipy.integrate import solve_ivp

import fem_mbs as fem
from fem_mbs.rotations import exp, skew

mass, radius, g = 1.0, 0.3, 9.81  # kg, m, m/s²
inertia = np.array([[0.04, 0.003, -0.002], [0.003, 0.05, 0.004], [-0.002, 0.004, 0.06]])  # kg m², about the node
centre = np.array([0.05, -0.03, 0.08])  # m, of the sphere from the centre of mass, the node
rotation, spin = exp([0.3, -0.2, 0.5]), np.array([2.0, 3.0, 1.5])  # at the start; rad/s, node axes
friction, duration = 0.2, 0.4  # where it slides; s
up, along = np.array([0.0, 0.0, 1.0]), np.eye(3)[:2]


def start(slides):
    """Velocity of the node [m/s] at the start: that of rolling, or with the contact point sliding."""
    rolling = -np.cross(rotation @ spin, rotation @ centre - radius * up)
    return np.array([1.0, 0.6, rolling[2]]) if slides else rolling


def loaded_ball(slides, friction=None, **resistances):
    """The model; what rolls has friction enough never to slide. Resistances are options of the contact."""
    model = fem.Model("loaded ball", gravity=-g * up)
    position = [0, 0, radius - (rotation @ centre)[2]]
    body = fem.RigidBody(
        mass, inertia, position=position, rotation=rotation, velocity=start(slides), angular_velocity=rotation @ spin,
        name="ball",
    )  # fmt: skip
    model.add(body)
    friction = friction if friction is not None else (0.2 if slides else 2.0)
    law = {"friction": friction, **resistances}
    model.add(fem.SphereOnPlane(body.frame(centre), model.ground, radius=radius, name="table", **law))
    return model


def against(rates, rows):
    """Generalised force (6,) against rates (k,), of unit size in their rows (k, 6)."""
    return -rates / np.linalg.norm(rates) @ rows


def accelerations(R, v, w, slides, rolling=0.0, spinning=0.0, disc=0.0):
    """ẍ, Ω̇ and the forces of the contact: normal and, where it rolls, two of friction."""
    M = np.zeros((6, 6))
    M[:3, :3], M[3:, 3:] = mass * np.eye(3), inertia
    f = np.concatenate([-mass * g * up, -np.cross(w, inertia @ w)])
    centripetal = R @ np.cross(w, np.cross(w, centre))
    normal = np.concatenate([up, np.cross(centre, R.T @ up)])
    sliding = np.array([np.concatenate([t, np.cross(centre - radius * R.T @ up, R.T @ t)]) for t in along])
    rows, forces, c = [normal], [normal], [up @ centripetal]
    turning, speeds = np.array([np.concatenate([0 * t, R.T @ t]) for t in (*along, up)]), np.concatenate([v, w])
    held = normal.copy()
    if rolling:
        held += rolling * against(turning[:2] @ speeds, turning[:2])
    if spinning:
        held += spinning * against(turning[2:] @ speeds, turning[2:])
    if slides:
        coupled = np.vstack([sliding, 3 * np.pi / 16 * disc * turning[2:]]) if disc else sliding
        forces = [held + friction * against(coupled @ speeds, coupled)]
    else:
        rows, forces, c = [normal, *sliding], [held, *sliding], [*c, *(along @ centripetal)]
    rows, forces, k = np.array(rows), np.array(forces), len(rows)
    solution = np.linalg.solve(np.block([[M, -forces.T], [rows, np.zeros((k, k))]]), np.concatenate([f, -np.array(c)]))
    return solution[:3], solution[3:6], solution[6:]


def motion(times, slides, **resistances):
    """Positions (k, 3), rotations (k, 3, 3), velocities (k, 3) and normal forces (k,) at times (k,)."""

    def rate(_, y):
        R, v, w = y[3:12].reshape(3, 3), y[12:15], y[15:]
        a, alpha, _ = accelerations(R, v, w, slides, **resistances)
        return np.concatenate([v, (R @ skew(w)).ravel(), a, alpha])

    first = np.concatenate([[0, 0, radius - (rotation @ centre)[2]], rotation.ravel(), start(slides), spin])
    y = solve_ivp(rate, (0, times[-1]), first, "DOP853", times, rtol=1e-12, atol=1e-13).y.T
    R = y[:, 3:12].reshape(-1, 3, 3)
    force = [accelerations(A, b[12:15], b[15:], slides, **resistances)[2][0] for A, b in zip(R, y)]
    return y[:, :3], R, y[:, 12:15], np.array(force)
