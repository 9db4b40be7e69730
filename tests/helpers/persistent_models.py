"""Models with closed contacts and exact solutions, for the orders of `persistent_contacts`.

Each case has ``build()``, ``duration`` [s] and ``errors(result)``: a dictionary of largest errors over the run. Exact
means minimal coordinates integrated to 1e-12, or a closed form.
"""

import numpy as np
from scipy.integrate import solve_ivp
from scipy.optimize import brentq

import fem_mbs as fem

TIGHT = {"method": "DOP853", "rtol": 1e-12, "atol": 1e-13}
FLOOR = [-np.pi / 2, 0, 0]
g = 9.81  # m/s²


def integrate(rate, start, t):
    """Solution (n, k) at times t (k,)."""
    return solve_ivp(rate, (0, t[-1] + 1e-9), start, dense_output=True, **TIGHT).sol(t)


def largest(difference, first=0):
    return np.abs(difference[first:]).max()


def run(case, steps, **options):
    """Errors of a run with so many steps."""
    stepper = fem.DecoupledNSGA(**{"rho_inf": 0.8, "rtol": 1e-9, **options})
    return case.errors(stepper.run(case.build(), t_end=case.duration, h=case.duration / steps))


def orders(case, steps, **options):
    """Order of each error, and the errors of the finest run."""
    table = [run(case, n, **options) for n in steps]
    values = {name: np.array([row[name] for row in table]) for name in table[0]}
    return {name: -np.polyfit(np.log(steps), np.log(v), 1)[0] for name, v in values.items()}, table[-1]


class Bowl:
    """Ball that rolls in a bowl in three dimensions, with spin about the normal (minimal: normal and spin)."""

    mass, radius, bowl, duration = 1.0, 0.1, 1.0, 2.0
    inertia = 0.4 * mass * radius**2
    path = bowl - radius
    out = np.array([np.sin(0.8), 0, -np.cos(0.8)])
    weight = np.array([0, 0, -g])
    velocity, spin = np.array([0, 1.5, 0.0]), 20.0

    @classmethod
    def start(cls):
        return -np.cross(cls.out, cls.velocity) / cls.radius + cls.spin * cls.out

    @classmethod
    def build(cls):
        model = fem.Model("ball in a bowl", gravity=cls.weight)
        ball = model.add(
            fem.RigidBody(
                cls.mass, cls.inertia, position=cls.path * cls.out, velocity=cls.velocity,
                angular_velocity=cls.start(), name="ball",
            )
        )  # fmt: skip
        bowl = fem.SphereInSphere(
            ball, model.ground, radius=cls.radius, radius_outer=cls.bowl, friction=2.0, name="contact"
        )
        model.add(bowl)
        return model

    @classmethod
    def errors(cls, result):
        r, m = cls.radius, cls.mass

        def rates(u, w):
            du = r * np.cross(u, w) / cls.path
            torque = m * r * np.cross(u, r * np.cross(du, w) - cls.weight)
            return du, torque / (cls.inertia + m * r * r)

        y = integrate(lambda _, y: np.concatenate(rates(y[:3], y[3:])), [*cls.out, *cls.start()], result.t)
        u, w = y[:3].T, y[3:].T
        du, dw = np.transpose([rates(*row) for row in zip(u, w)], (1, 0, 2))
        force = m * (r * (np.cross(du, w) + np.cross(u, dw)) - cls.weight)
        ball, contact = result["ball"], result["contact"]
        spin = np.einsum("kij,kj->ki", ball.rotation, ball.angular_velocity)
        return {
            "position": largest(ball.position - cls.path * u),
            "spin": largest(spin - w),
            "force": largest(contact.force_vector - force, 1),
        }


class BowlSliding:
    """The same bowl with a body that cannot turn and slides with friction: direction and normal force change."""

    duration, friction = 1.5, 0.2
    velocity = np.array([0, 3.0, 0.0])

    @classmethod
    def build(cls):
        model = fem.Model("block in a bowl", gravity=Bowl.weight)
        place, fixed = Bowl.path * Bowl.out, ("rx", "ry", "rz")
        ball = model.add(fem.RigidBody(1.0, 1.0, position=place, velocity=cls.velocity, fixed=fixed, name="ball"))
        bowl = fem.SphereInSphere(
            ball, model.ground, radius=Bowl.radius, radius_outer=Bowl.bowl, friction=cls.friction, name="contact"
        )
        model.add(bowl)
        return model

    @classmethod
    def errors(cls, result):
        def force(u, v):
            normal = v @ v / Bowl.path + Bowl.weight @ u
            return -normal * u - cls.friction * normal * v / np.linalg.norm(v)

        def rate(_, y):
            return np.concatenate([y[3:] / Bowl.path, force(y[:3], y[3:]) + Bowl.weight])

        y = integrate(rate, [*Bowl.out, *cls.velocity], result.t)
        exact = np.array([force(row[:3], row[3:]) for row in y.T])
        return {
            "position": largest(result["ball"].position - Bowl.path * y[:3].T),
            "velocity": largest(result["ball"].velocity - y[3:].T),
            "force": largest(result["contact"].force_vector - exact, 1),
        }


class PushedAside:
    """Block that slides on a floor while a force across its way turns it."""

    duration, friction, push, speed = 1.0, 0.3, 4.0, 2.0

    @classmethod
    def build(cls):
        model = fem.Model("block pushed aside", gravity=[0, 0, -g])
        block = model.add(fem.RigidBody(1.0, 1.0, velocity=[cls.speed, 0, 0], fixed=("rx", "ry", "rz"), name="block"))
        model.add(fem.PointForce(block, [0, cls.push, 0], name="push"))
        model.add(fem.SphereOnPlane(block, model.ground, radius=0, friction=cls.friction, name="contact"))
        return model

    @classmethod
    def errors(cls, result):
        def friction(v):
            return -cls.friction * g * v / np.linalg.norm(v, axis=0)

        y = integrate(lambda _, y: [*y[2:], *(friction(y[2:]) + [0, cls.push])], [0, 0, cls.speed, 0], result.t)
        return {
            "position": largest(result["block"].position[:, :2] - y[:2].T),
            "velocity": largest(result["block"].velocity[:, :2] - y[2:].T),
            "force": largest(result["contact"].force_vector[:, :2] - friction(y[2:]).T, 1),
        }


class Shaken:
    """Block on a plate that moves by A sin ωt: sticks and slides in turn, eleven changes in two seconds."""

    amplitude, frequency, friction, duration = 0.06, 9.0, 0.3, 2.0

    @classmethod
    def build(cls):
        model = fem.Model("block on a shaken plate", gravity=[0, 0, -g])
        speed, turning = [cls.amplitude * cls.frequency, 0, 0], ("rx", "ry", "rz")
        plate = model.add(fem.RigidBody(1.0, 1.0, velocity=speed, fixed=("y", "z", *turning), name="plate"))
        model.add(fem.Prescribed(plate.frame(), x=lambda t: cls.amplitude * np.sin(cls.frequency * t), name="drive"))
        block = model.add(fem.RigidBody(1.0, 1.0, velocity=speed, fixed=("y", *turning), name="block"))
        model.add(fem.SphereOnPlane(block, plate, radius=0, friction=cls.friction, name="contact"))
        return model

    @classmethod
    def exact(cls, t):
        """Position and force of the block at times t, times of the changes: roots of force left and sliding speed."""
        A, w, limit = cls.amplitude, cls.frequency, cls.friction * g
        x, force, events, now, offset = np.zeros_like(t), np.zeros_like(t), [], 0.0, 0.0

        def first_root(function, start):
            s = np.linspace(start, start + 2 * np.pi / w, 4000)
            k = int(np.argmax(np.diff(np.sign(function(s))) != 0))
            return brentq(function, s[k], s[k + 1], xtol=1e-14)

        while now < t[-1]:
            slides = first_root(lambda s: A * w * w * np.abs(np.sin(w * s)) - limit, now)
            here = (t >= now) & (t <= slides)
            x[here], force[here] = A * np.sin(w * t[here]) + offset, -A * w * w * np.sin(w * t[here])
            x0, v0, a = (
                A * np.sin(w * slides) + offset,
                A * w * np.cos(w * slides),
                -limit * np.sign(np.sin(w * slides)),
            )
            sticks = first_root(lambda s: v0 + a * (s - slides) - A * w * np.cos(w * s), slides + 1e-3)  # noqa: B023
            here = (t > slides) & (t <= sticks)
            s = t[here] - slides
            x[here], force[here] = x0 + v0 * s + 0.5 * a * s**2, a
            s = sticks - slides
            offset = x0 + v0 * s + 0.5 * a * s**2 - A * np.sin(w * sticks)
            events += [slides, sticks]
            now = sticks
        return x, force, np.array([e for e in events if e < t[-1]])

    @classmethod
    def errors(cls, result):
        x, force, events = cls.exact(result.t)
        # where sticking begins the force jumps: its error in that step is of order one in any scheme with fixed steps
        away = np.abs(result.t[:, None] - events).min(axis=1) > 1.5 * result.h[-1]
        error = np.abs(result["contact"].force_vector[:, 0] - force)
        return {"position": largest(result["block"].position[:, 0] - x), "force": largest(error[away], 1)}


class PushedToAndFro:
    """Block that slides on a floor under a force that turns it back; it never sticks: |force| > μ m g at each turn."""

    friction, push, frequency, phase, speed, duration = 0.3, 8.0, 7.3, 0.3, 0.4, 2.0

    @classmethod
    def build(cls):
        model = fem.Model("block pushed to and fro", gravity=[0, 0, -g])
        turning = ("rx", "ry", "rz")
        block = model.add(fem.RigidBody(1.0, 1.0, velocity=[cls.speed, 0, 0], fixed=turning, name="block"))
        model.add(
            fem.PointForce(block, lambda t: [cls.push * np.cos(cls.frequency * t + cls.phase), 0, 0], name="push")
        )
        model.add(fem.SphereOnPlane(block, model.ground, radius=0, friction=cls.friction, name="contact"))
        return model

    @classmethod
    def exact(cls, t):
        """Position and velocity at times t (k,), and times of the reversals."""
        w, angle, limit = cls.frequency, cls.phase, cls.friction * g
        x, v, turns = np.zeros_like(t), np.zeros_like(t), []
        now, x0, v0, sign = 0.0, 0.0, cls.speed, 1.0
        while now < t[-1]:
            sine, cosine = np.sin(w * now + angle), np.cos(w * now + angle)

            def motion(s, now=now, x0=x0, v0=v0, sign=sign, sine=sine, cosine=cosine):
                gained = cls.push / w * (np.sin(w * s + angle) - sine)
                way = cls.push / w * ((cosine - np.cos(w * s + angle)) / w - sine * (s - now))
                return x0 + v0 * (s - now) + way - 0.5 * sign * limit * (s - now) ** 2, v0 + gained - sign * limit * (
                    s - now
                )

            s = np.linspace(now + 1e-6, now + 1.0, 4000)
            k = int(np.argmax(sign * motion(s)[1] < 0))
            end = brentq(lambda s: motion(s)[1], s[k - 1], s[k], xtol=1e-15)
            here = (t >= now) & (t <= end)
            x[here], v[here] = motion(t[here])
            now, x0, v0, sign = end, motion(end)[0], 0.0, np.sign(np.cos(w * end + angle))
            assert cls.push * abs(np.cos(w * end + angle)) > limit and sign * motion(end + 1e-9)[1] > 0
            turns.append(end)
        return x, v, np.array([turn for turn in turns if turn < t[-1]])

    @classmethod
    def errors(cls, result):
        x, v, _ = cls.exact(result.t)
        block = result["block"]
        return {"position": largest(block.position[:, 0] - x), "velocity": largest(block.velocity[:, 0] - v)}


class Hill:
    """Ball that leaves a hill: slides down without friction, or rolls, slides, then leaves."""

    radius, hill, mass = 0.1, 1.0, 1.0
    path = radius + hill

    def __init__(self, friction=0.0, speed=0.8, duration=1.0):
        self.friction, self.speed, self.duration = friction, speed, duration

    def build(self):
        model = fem.Model("ball on a hill", gravity=[0, -g, 0])
        spin = [0, 0, -self.speed / self.radius if self.friction else 0.0]
        ball = model.add(
            fem.RigidBody.sphere(
                self.mass, self.radius, position=[0, self.path, 0], velocity=[self.speed, 0, 0],
                angular_velocity=spin, name="ball",
            )
        )  # fmt: skip
        hill = fem.SphereOnSphere(
            ball, model.ground, radius_A=self.radius, radius_B=self.hill, friction=self.friction, name="contact"
        )
        model.add(hill)
        return model

    def exact(self):
        """Angle and rate as functions of time, times at which it begins to slide and leaves."""
        a, mu = self.path, self.friction

        def normal(y):
            return g * np.cos(y[0]) - a * y[1] ** 2

        def rolling(_, y):
            return [y[1], g / (1.4 * a) * np.sin(y[0])]

        def sliding(_, y):
            return [y[1], (g * np.sin(y[0]) - mu * normal(y)) / a]

        def slips(_, y):
            return mu * normal(y) - 2 / 7 * g * np.sin(y[0])

        def leaves(_, y):
            return normal(y)

        slips.terminal = leaves.terminal = True
        first, now, y = None, 0.0, [0.0, self.speed / a]
        if mu:
            first = solve_ivp(rolling, (0, 5), y, events=slips, dense_output=True, **TIGHT)
            now, y = first.t[-1], first.y[:, -1]
        second = solve_ivp(sliding, (now, 5), y, events=leaves, dense_output=True, **TIGHT)

        def motion(t):
            y = second.sol(np.clip(t, now, second.t[-1]))
            if first is not None:
                y = np.where(t < now, first.sol(np.minimum(t, now)), y)
            return y

        return motion, now, second.t[-1]

    def errors(self, result):
        motion, _, leaves = self.exact()
        t, h = result.t, result.h[-1]
        angle, rate = motion(t)
        out, along = np.stack([np.sin(angle), np.cos(angle)], 1), np.stack([np.cos(angle), -np.sin(angle)], 1)
        x, v, late = self.path * out, self.path * rate[:, None] * along, np.maximum(t - leaves, 0.0)[:, None]
        x, v = x + v * late - [0, 0.5 * g] * late**2, v - [0, g] * late
        normal = np.where(t < leaves, self.mass * (g * np.cos(angle) - self.path * rate**2), 0.0)
        contact, before = result["contact"], t < leaves - 2 * h
        opened = t[np.argmax(contact.gap > 1e-9)]
        return {
            "position": largest(result["ball"].position[:, :2] - x),
            "velocity": largest(result["ball"].velocity[:, :2] - v),
            "force": largest((contact.force_normal - normal)[before], 1),
            "release": abs(opened - leaves),
        }
