"""Ball whose centre of mass is off its centre, on a plane: rolls or slides; motion with accelerations of index 1."""

import numpy as np
from scipy.integrate import solve_ivp

import fem_mbs as fem
from fem_mbs.rotations import exp, skew

mass, radius, g = 1.0, 0.3, 9.81  # kg, m, m/s²
centre = np.array([0.05, -0.03, 0.08])  # m, of the ball from its centre of mass
inertia = np.array([[0.04, 0.003, -0.002], [0.003, 0.05, 0.004], [-0.002, 0.004, 0.06]])  # kg m²
rotation, spin = exp([0.3, -0.2, 0.5]), np.array([2.0, 3.0, 1.5])  # at the start; rad/s in body axes
normal = np.array([0.0, 0.0, 1.0])
friction, duration = 0.2, 0.4  # of the ball that slides; s


def start(slides):
    """Velocity of the centre of mass at the start (3,), rolling or with a horizontal velocity of its own."""
    rolling = -np.cross(rotation @ spin, rotation @ centre - radius * normal)
    return np.array([1.0, 0.6, rolling[2]]) if slides else rolling


def build(slides):
    model = fem.Model("loaded ball", gravity=[0, 0, -g])
    place = radius * normal - rotation @ centre
    ball = model.add(
        fem.RigidBody(
            mass, inertia, position=place, rotation=rotation, velocity=start(slides),
            angular_velocity=rotation @ spin, name="ball",
        )
    )  # fmt: skip
    mu = friction if slides else 5.0
    model.add(fem.SphereOnPlane(ball.frame(centre), model.ground, radius=radius, friction=mu, name="floor"))
    return model


def accelerations(R, w, v, slides):
    """Linear and angular acceleration, inertial axes: Newton, Euler and the contact point that is not accelerated."""
    to_centre = R @ centre
    arm, J = to_centre - radius * normal, R @ inertia @ R.T
    A, b = np.zeros((9, 9)), np.zeros(9)  # of v̇, ẇ and the force of the floor
    A[:3, :3], A[:3, 6:], b[:3] = mass * np.eye(3), -np.eye(3), -mass * g * normal
    A[3:6, 3:6], A[3:6, 6:], b[3:6] = J, -skew(arm), -np.cross(w, J @ w)
    point, convective = np.hstack([np.eye(3), -skew(arm)]), np.cross(w, np.cross(w, to_centre))
    if not slides:
        A[6:, :6], b[6:] = point, -convective
    else:
        velocity = v + np.cross(w, arm)
        direction = velocity / np.linalg.norm(velocity)
        A[6, :6], b[6] = normal @ point, -normal @ convective
        A[7:, 6:8], A[7:, 8] = np.eye(2), friction * direction[:2]
    solution = np.linalg.solve(A, b)
    return solution[:3], solution[3:6]


def motion(slides, times):
    """Positions (k, 3), rotations (k, 3, 3) and velocities (k, 3) of the centre of mass."""

    def rate(_, y):
        v, w, R = y[:3], y[3:6], y[6:15].reshape(3, 3)
        return np.concatenate([*accelerations(R, w, v, slides), (skew(w) @ R).ravel(), v])

    place = radius * normal - rotation @ centre
    y = np.concatenate([start(slides), rotation @ spin, rotation.ravel(), place])
    y = solve_ivp(rate, (0, times[-1]), y, "DOP853", t_eval=times, rtol=1e-12, atol=1e-13).y.T
    return y[:, 15:], y[:, 6:15].reshape(-1, 3, 3), y[:, :3]
