"""Models with impacts, stick-slip and lift-off, and their motion by an event-driven integrator without the package.

Sources: equations of motion and impact laws as written in each class; events by `scipy.integrate.solve_ivp`.
"""

import numpy as np
from scipy.integrate import solve_ivp
from scipy.optimize import fsolve

import fem_mbs as fem

G = 9.81


def integrate(modes, mode, y0, t_end):
    """State at t_end, and the events [(t, name)] on the way, of a motion with modes.

    ``modes``: name -> function of (t, y) that returns the rate of y, and name of an event -> function of (t, y) that
    falls through zero there; ``modes["next"](t, y, event)`` returns the mode and the state after an event.
    """
    t, y, happened = 0.0, np.array(y0, dtype=float), []
    while t < t_end:
        rate, events = modes[mode]
        functions = []
        for function in events.values():

            def watched(time, state, function=function, start=t):
                return function(time, state) if time > start + 1e-9 else 1.0

            watched.terminal, watched.direction = True, -1
            functions.append(watched)
        part = solve_ivp(rate, (t, t_end), y, "DOP853", events=functions, rtol=1e-13, atol=1e-14, max_step=0.02)
        t, y = part.t[-1], part.y[:, -1].copy()
        if part.status != 1:
            break
        name = list(events)[[len(times) > 0 for times in part.t_events].index(True)]
        happened.append((t, name))
        mode, y = modes["next"](t, y, name)
    return y, happened


class DampedBall:
    """A mass between a spring and a damper and a floor: it bounces by an impact law, with drag between the impacts."""

    mass, stiffness, damping, start, t_end = 0.8, 6.0, 0.25, 0.9, 2.0

    @classmethod
    def build(cls, e=0.8):
        model = fem.Model("damped ball", gravity=[0, 0, -G])
        ball = model.add(fem.PointMass(cls.mass, position=[0, 0, cls.start], fixed=("x", "y"), name="ball"))
        anchor = model.ground.frame([0, 0, -1.0])
        model.add(fem.Spring(anchor, ball, cls.stiffness, cls.damping, 1.0, name="spring"))
        model.add(fem.SphereOnPlane(ball, model.ground, radius=0.0, restitution=e, name="floor"))
        return model

    @classmethod
    def exact(cls, e=0.8):
        """Height and speed at the end, and the impacts [(t, speed before)]."""
        speeds = []

        def fly(_, y):
            return [y[1], -G - (cls.stiffness * y[0] + cls.damping * y[1]) / cls.mass]

        def strike(_, y, __):
            speeds.append(-y[1])
            return "flies", np.array([0.0, -e * y[1]])

        modes = {"flies": (fly, {"touch": lambda _, y: y[0]}), "next": strike}
        y, happened = integrate(modes, "flies", [cls.start, 0.0], cls.t_end)
        return y, [(t, speed) for (t, _), speed in zip(happened, speeds, strict=True)]


class TwoMasses:
    """Two masses on a line, each on a spring, that meet four times."""

    masses, stiffness, radius, t_end = (1.0, 1.7), (30.0, 18.0), 0.1, 3.0
    starts = (-0.4, 0.5)  # rest positions of the springs are −0.12 and 0.12 m

    @classmethod
    def build(cls, e=0.7):
        model, bodies = fem.Model("two masses"), []
        for i, side in enumerate((-1.0, 1.0)):
            place = [cls.starts[i], 0, 0]
            body = model.add(fem.PointMass(cls.masses[i], position=place, fixed=("y", "z"), name=f"mass {i}"))
            anchor = model.ground.frame([2.0 * side, 0, 0])
            model.add(fem.Spring(anchor, body, cls.stiffness[i], 0.0, 1.88, name=f"spring {i}"))
            bodies.append(body)
        law = {"radius_A": cls.radius, "radius_B": cls.radius, "restitution": e}
        model.add(fem.SphereOnSphere(*bodies, **law, name="hit"))
        return model

    @classmethod
    def exact(cls, e=0.7):
        """Positions and velocities (4,), and the number of impacts."""
        (m, n), (k, q) = cls.masses, cls.stiffness

        def fly(_, y):
            return [y[2], y[3], -k * (y[0] + 0.12) / m, -q * (y[1] - 0.12) / n]

        def strike(_, y, __):
            push = m * n / (m + n) * (1.0 + e) * (y[2] - y[3])
            return "flies", y + [0.0, 0.0, -push / m, push / n]

        gap = {"touch": lambda _, y: y[1] - y[0] - 2.0 * cls.radius}
        y, happened = integrate({"flies": (fly, gap), "next": strike}, "flies", [*cls.starts, 0.0, 0.0], cls.t_end)
        return y, len(happened)


def contact_impulse(W, u, e, mu):
    """Impulse (3,) of a contact with inverse mass W and velocities u (normal, tangential), two laws.

    Newton's law; friction, by Coulomb's, opposes the slip after the impact.
    """
    wanted = np.array([-e * u[0], 0.0, 0.0])
    impulse = np.linalg.solve(W, wanted - u)
    if np.linalg.norm(impulse[1:]) <= mu * impulse[0]:
        return impulse

    def rows(z):
        push, angle = z
        impulse = push * np.array([1.0, -mu * np.cos(angle), -mu * np.sin(angle)])
        after = u + W @ impulse
        return after[0] + e * u[0], after[1] * np.sin(angle) - after[2] * np.cos(angle)

    found = fsolve(rows, [impulse[0], np.arctan2(u[2], u[1])], xtol=1e-13)
    push, angle = found
    return push * np.array([1.0, -mu * np.cos(angle), -mu * np.sin(angle)])


class Tumbler:
    """A rigid body with three different moments of inertia that hits a floor with friction with a point of its own."""

    mass, inertia = 1.2, np.array([0.02, 0.03, 0.045])
    point, radius = np.array([0.15, 0.05, -0.1]), 0.02
    place, velocity, spin = np.array([0.0, 0.0, 0.4]), np.array([0.7, -0.3, -0.4]), np.array([1.0, -2.0, 1.5])
    t_end = 0.4

    @classmethod
    def build(cls, e=0.6, mu=0.25):
        model = fem.Model("tumbler", gravity=[0, 0, -G])
        motion = {"position": cls.place, "velocity": cls.velocity, "angular_velocity": cls.spin}
        body = model.add(fem.RigidBody(cls.mass, cls.inertia, name="body", **motion))
        law = {"restitution": e, "friction": mu}
        model.add(fem.SphereOnPlane(body.frame(cls.point), model.ground, radius=cls.radius, name="floor", **law))
        return model

    @staticmethod
    def rotation(q):
        """Rotation matrix of a quaternion, scalar first."""
        w, v = q[0], q[1:]
        cross = np.cross(np.eye(3), v)
        return np.eye(3) + 2.0 * w * cross + 2.0 * cross @ cross

    @classmethod
    def exact(cls, e=0.6, mu=0.25):
        """Position (3,), velocity (3,), angular velocity (3,) in body axes, and the impacts [(t, impulse (3,))]."""
        impulses = []

        def fly(_, y):
            q, w = y[3:7], y[10:]
            turn = 0.5 * np.concatenate([[-q[1:] @ w], q[0] * w + np.cross(q[1:], w)])
            spin = (np.cross(cls.inertia * w, w)) / cls.inertia
            return np.concatenate([y[7:10], turn, [0, 0, -G], spin])

        def gap(_, y):
            return y[2] + (cls.rotation(y[3:7]) @ cls.point)[2] - cls.radius

        def strike(_, y, __):
            R = cls.rotation(y[3:7] / np.linalg.norm(y[3:7]))
            arm = R @ cls.point - [0.0, 0.0, cls.radius]
            # velocity of the point: v + ω × arm, ω = R Ω; rows: normal z, tangential x, y
            B = np.hstack([np.eye(3), np.array([np.cross(R[:, k], arm) for k in range(3)]).T])[[2, 0, 1]]
            inverse = np.diag(np.concatenate([np.full(3, 1.0 / cls.mass), 1.0 / cls.inertia]))
            impulse = contact_impulse(B @ inverse @ B.T, B @ y[7:], e, mu)
            impulses.append(impulse)
            return "flies", y + np.concatenate([np.zeros(7), inverse @ B.T @ impulse])

        modes = {"flies": (fly, {"touch": gap}), "next": strike}
        start = np.concatenate([cls.place, [1, 0, 0, 0], cls.velocity, cls.spin])
        y, happened = integrate(modes, "flies", start, cls.t_end)
        return np.concatenate([y[:3], y[7:]]), [(t, P) for (t, _), P in zip(happened, impulses, strict=True)]


class Hopper:
    """A mass with dry friction on a floor, on a spring, shaken along and across it: slips, sticks, takes off, lands."""

    mass, stiffness, length = 1.0, 20.0, 3.0

    def __init__(self, mu=0.3, e=0.0, start=0.5, push=4.0, lift=0.0, t_end=3.0):
        self.mu, self.e, self.start, self.push, self.lift, self.t_end = mu, e, start, push, lift, t_end

    def build(self):
        model = fem.Model("hopper", gravity=[0, 0, -G])
        mass = fem.PointMass(self.mass, position=[self.start, 0, 0], fixed=("y",), name="mass")
        model.add(mass, fem.Spring(model.ground.frame([-self.length, 0, 0]), mass, self.stiffness, 0.0, self.length))
        law = {"restitution": self.e, "friction": self.mu}
        model.add(fem.SphereOnPlane(mass, model.ground, radius=0.0, name="floor", **law))
        along, across = fem.Signal(lambda t: np.cos(3.0 * t)), fem.Signal(lambda t: np.sin(2.0 * t))
        model.add(fem.PointForce(mass.frame(), [self.push, 0, 0], signal=along, name="push"))
        if self.lift:
            model.add(fem.PointForce(mass.frame(), [0, 0, self.lift], signal=across, name="lift"))
        return model

    def force(self, t, y):
        """Force (2,) on the mass but that of the floor."""
        arm = np.array([y[0] + self.length, y[1]])
        size = np.linalg.norm(arm)
        pull = -self.stiffness * (size - self.length) * arm / size
        return pull + [self.push * np.cos(3.0 * t), self.lift * np.sin(2.0 * t) - self.mass * G]

    def mode_at(self, t, y):
        """Mode of a mass that is on the floor and does not move across it."""
        along, across = self.force(t, y)
        if across > 0.0:
            return "flies"
        side = np.sign(y[2])
        if y[2] == 0.0:
            if abs(along) <= -self.mu * across:
                return "sticks"
            side = np.sign(along)
        return "slips forwards" if side > 0.0 else "slips backwards"

    def after(self, t, y, event):
        """Mode and state after an event."""
        if event == "yields":
            return ("slips forwards" if self.force(t, y)[0] > 0.0 else "slips backwards"), y
        if event == "touches":
            push = -self.mass * (1.0 + self.e) * y[3]
            drag = np.clip(-self.mass * y[2], -self.mu * push, self.mu * push)
            y = np.array([y[0], 0.0, y[2] + drag / self.mass, -self.e * y[3]])
        if event == "stops":
            y[2] = 0.0
        return ("flies" if event == "opens" or y[3] > 0.0 else self.mode_at(t, y)), y

    def exact(self):
        """Position and velocity (4,) along and across the floor, and the events [(t, name)]."""

        def fly(t, y):
            return np.concatenate([y[2:], self.force(t, y) / self.mass])

        def slide(side):
            def rate(t, y):
                along, across = self.force(t, y)
                return np.array([y[2], 0.0, (along + side * self.mu * across) / self.mass, 0.0])

            return rate

        opens = {"opens": lambda t, y: -self.force(t, y)[1]}

        def reserve(t, y):
            along, across = self.force(t, y)
            return -self.mu * across - abs(along)

        modes = {
            "flies": (fly, {"touches": lambda _, y: y[1]}),
            "sticks": (lambda _, y: np.zeros(4), opens | {"yields": reserve}),
            "slips forwards": (slide(1.0), opens | {"stops": lambda _, y: y[2]}),
            "slips backwards": (slide(-1.0), opens | {"stops": lambda _, y: -y[2]}),
            "next": self.after,
        }
        start = np.array([self.start, 0.0, 0.0, 0.0])
        return integrate(modes, self.mode_at(0.0, start), start, self.t_end)
