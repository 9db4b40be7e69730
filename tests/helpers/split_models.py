"""Planar models with impacts, and their motion by an event-driven integrator independent of the package.

Angles are those of a pendulum that hangs down at 0 and turns towards +x; bodies are spheres on massless rods.
"""

import numpy as np
from scipy.integrate import solve_ivp

import fem_mbs as fem

G, RADIUS = 9.81, 0.1
INERTIA = 0.4 * RADIUS**2  # of a sphere of 1 kg


def event_driven(rate, gap, strike, y0, t_end):
    """State y at t_end of y' = rate(y), with y ← impact(y) whenever gap(y) falls to zero; impact by impact."""

    def touch(_, y):
        return gap(y)

    touch.terminal, touch.direction = True, -1
    t, y, impacts = 0.0, np.array(y0, dtype=float), 0
    while t < t_end:
        part = solve_ivp(lambda _, y: rate(y), (t, t_end), y, "DOP853", events=touch, rtol=1e-13, atol=1e-14)
        t, y = part.t[-1], part.y[:, -1]
        if part.status == 1:
            y, impacts = strike(y), impacts + 1
    return y, impacts


def with_friction(normal, tangential, e, mu, mass_N, mass_T):
    """Impulses (normal, tangential) of a contact that approaches with ``normal`` < 0; its effective masses."""
    push = -mass_N * (1.0 + e) * normal
    return push, float(np.clip(-mass_T * tangential, -mu * push, mu * push))


class Ball:
    """Falls on a table: free flight, so that a run that splits impacts is exact."""

    @staticmethod
    def build(height=1.0, e=0.8):
        model = fem.Model("ball", gravity=[0, 0, -G])
        ball = model.add(fem.RigidBody.sphere(1.0, RADIUS, position=[0, 0, height + RADIUS], name="ball"))
        model.add(fem.SphereOnPlane(ball, model.ground.frame(), radius=RADIUS, restitution=e, name="table"))
        return model

    @staticmethod
    def exact(height=1.0, e=0.8, t_end=1.6):
        """Height of the ball above the table, closed form."""
        t, speed = np.sqrt(2.0 * height / G), e * np.sqrt(2.0 * G * height)
        while t + 2.0 * speed / G < t_end:
            t, speed = t + 2.0 * speed / G, e * speed
        return speed * (t_end - t) - 0.5 * G * (t_end - t) ** 2


class Pendulum:
    """A sphere on a rod of 1 m, with a damper in its hinge, that hits a wall twice."""

    t_end = 1.6

    @staticmethod
    def build(angle=1.0, wall=0.1, e=0.7, drag=0.2):
        model = fem.Model("pendulum", gravity=[0, 0, -G])
        ball = model.add(
            fem.RigidBody.sphere(1.0, RADIUS, position=[np.sin(angle), 0, -np.cos(angle)], name="ball"),
        )
        hinge, axis = [0.0, 0.0, 0.0], [-np.pi / 2, 0, 0]
        model.add(fem.Revolute.at(model.ground, ball, hinge, axis=[0, 1, 0], name="hinge"))
        place = [-np.sin(angle), 0, np.cos(angle)]
        damper = (model.ground.frame(hinge, axis), ball.frame(place, axis))
        model.add(fem.TorsionSpring(*damper, 0.0, drag, name="damper"))
        wall_frame = model.ground.frame([wall - RADIUS, 0, 0], [0, np.pi / 2, 0])
        model.add(fem.SphereOnPlane(ball, wall_frame, radius=RADIUS, restitution=e, name="wall"))
        return model

    @classmethod
    def exact(cls, angle=1.0, wall=0.1, e=0.7, drag=0.2):
        """Position and velocity (4,) of the sphere in the plane of motion, and the number of impacts."""

        def rate(y):
            return np.array([y[1], -(G * np.sin(y[0]) + drag * y[1]) / (1.0 + INERTIA)])

        (phi, speed), n = event_driven(
            rate, lambda y: np.sin(y[0]) - wall, lambda y: y * [1.0, -e], [angle, 0.0], cls.t_end
        )
        c, s = np.cos(phi), np.sin(phi)
        return np.array([s, -c, speed * c, speed * s]), n


class Disc:
    """A sphere on a spring that jumps over a table, spinning: every impact has friction."""

    t_end, anchor, free, stiffness, damping = 1.2, np.array([0.3, 1.5]), 0.9, 8.0, 0.2

    @classmethod
    def build(cls, height=0.5, speed=2.0, spin=-10.0, e=0.7, mu=0.1):
        model = fem.Model("disc", gravity=[0, 0, -G])
        start = {"position": [0, 0, height + RADIUS], "velocity": [speed, 0, 0], "angular_velocity": [0, spin, 0]}
        ball = model.add(fem.RigidBody.sphere(1.0, RADIUS, name="ball", **start))
        anchor = model.ground.frame([cls.anchor[0], 0, cls.anchor[1] + RADIUS])
        model.add(fem.Spring(anchor, ball, cls.stiffness, cls.damping, cls.free, name="spring"))
        law = {"restitution": e, "friction": mu}
        model.add(fem.SphereOnPlane(ball, model.ground.frame(), radius=RADIUS, name="table", **law))
        return model

    @classmethod
    def exact(cls, height=0.5, speed=2.0, spin=-10.0, e=0.7, mu=0.1):
        """Position and velocity (4,), and the number of impacts."""

        def rate(y):
            arm = y[:2] - cls.anchor
            length = np.linalg.norm(arm)
            arm = arm / length
            force = -(cls.stiffness * (length - cls.free) + cls.damping * arm @ y[2:4]) * arm
            return np.array([y[2], y[3], force[0], force[1] - G, 0.0])

        def strike(y):
            push, drag = with_friction(y[3], y[2] - RADIUS * y[4], e, mu, 1.0, 2.0 / 7.0)
            return y + [0.0, 0.0, drag, push, -RADIUS * drag / INERTIA]

        y, n = event_driven(rate, lambda y: y[1], strike, [0.0, height, speed, 0.0, spin], cls.t_end)
        return y[:4] + [0.0, RADIUS, 0.0, 0.0], n


class TwoLinks:
    """Two spheres on rods of 0.5 m hinged to each other; the lower one hits a wall with friction."""

    t_end, length = 0.9, 0.5

    @classmethod
    def build(cls, wall=0.05, mass=1.0, e=0.6, mu=0.3):
        model = fem.Model("two links", gravity=[0, 0, -G])
        elbow = [cls.length, 0, 0]
        upper = model.add(fem.RigidBody.sphere(1.0, RADIUS, position=elbow, name="upper"))
        lower = model.add(fem.RigidBody.sphere(mass, RADIUS, position=[2 * cls.length, 0, 0], name="lower"))
        model.add(fem.Revolute.at(model.ground, upper, [0, 0, 0], axis=[0, 1, 0], name="hinge"))
        model.add(fem.Revolute.at(upper, lower, elbow, axis=[0, 1, 0], name="elbow"))
        frame = model.ground.frame([wall - RADIUS, 0, 0], [0, np.pi / 2, 0])
        law = {"restitution": e, "friction": mu}
        model.add(fem.SphereOnPlane(lower, frame, radius=RADIUS, name="wall", **law))
        return model

    @classmethod
    def exact(cls, wall=0.05, mass=1.0, e=0.6, mu=0.3):
        """Position and velocity (4,) of the lower sphere in the plane of motion, and the number of impacts."""
        length = cls.length

        def matrix(a, b):
            side = mass * length**2 * np.cos(a - b)
            ends = [(1.0 + mass) * length**2 + INERTIA, mass * length**2 + mass * INERTIA]
            return np.array([[ends[0], side], [side, ends[1]]])

        def rate(y):
            a, b, u, w = y
            turn = mass * length**2 * np.sin(a - b)
            weight = G * length * np.array([(1.0 + mass) * np.sin(a), mass * np.sin(b)])
            return np.concatenate([[u, w], np.linalg.solve(matrix(a, b), [-turn * w * w, turn * u * u] - weight)])

        def rows(a, b):
            """Rates of gap and slip (upwards) of the contact point for unit rates of both angles."""
            # the angle turns towards +x as it grows: about −y, which moves a point at −x of the centre downwards
            return length * np.array([[np.cos(a), np.cos(b)], [np.sin(a), np.sin(b) - RADIUS / length]])

        def strike(y):
            B = rows(*y[:2])
            W = B @ np.linalg.solve(matrix(*y[:2]), B.T)
            before = B @ y[2:]
            # sticking, and where that leaves the cone sliding
            impulse = np.linalg.solve(W, [-(1.0 + e) * before[0], -before[1]])
            if abs(impulse[1]) > mu * impulse[0]:
                side = np.sign(impulse[1])
                push = -(1.0 + e) * before[0] / (W[0, 0] + side * mu * W[0, 1])
                impulse = np.array([push, side * mu * push])
            return y + np.concatenate([[0.0, 0.0], np.linalg.solve(matrix(*y[:2]), B.T @ impulse)])

        def gap(y):
            return length * (np.sin(y[0]) + np.sin(y[1])) - wall

        (a, b, u, w), n = event_driven(rate, gap, strike, [np.pi / 2, np.pi / 2, 0.0, 0.0], cls.t_end)
        place = length * np.array([np.sin(a) + np.sin(b), -np.cos(a) - np.cos(b)])
        speed = length * np.array([u * np.cos(a) + w * np.cos(b), u * np.sin(a) + w * np.sin(b)])
        return np.concatenate([place, speed]), n


class FourBalls:
    """Balls that fall from four heights: in steps of 0.2 s they touch at 0.45 s, at 0.51 and 0.57 s, at 0.62 s."""

    heights, restitution, t_end, h = (1.0, 1.3, 1.6, 1.9), 0.9, 0.8, 0.2

    @classmethod
    def build(cls):
        model = fem.Model("four balls", gravity=[0, 0, -G])
        law = {"radius": RADIUS, "restitution": cls.restitution}
        for i, height in enumerate(cls.heights):
            start = [i, 0, RADIUS + height]
            ball = model.add(fem.RigidBody.sphere(1.0, RADIUS, position=start, name=f"ball {i}"))
            model.add(fem.SphereOnPlane(ball, model.ground.frame(), **law, name=f"table {i}"))
        return model

    @classmethod
    def error(cls, result):
        """Largest error [m] of the gaps at the end."""
        ends = [result[f"ball {i}"].position[-1, 2] - RADIUS for i in range(4)]
        exact = [Ball.exact(height, cls.restitution, cls.t_end) for height in cls.heights]
        return np.abs(np.subtract(ends, exact)).max()
