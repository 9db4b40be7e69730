"""A ball that slides, rolls and spins to rest: three separate frictions, then all together (Sanchez2025 annex A).

Section A.6.1: sliding turns into rolling; rolling resistance stops a turning ball; spinning resistance stops a ball
that turns about the normal. Section A.6.2, after Acary and Bourrier: I rolls and stops, II slides first, III slides
long after its rotation has stopped. All have closed forms.

    python examples/rolling_ball.py            writes rolling_ball.vtkhdf (case II), to open in ParaView
"""

import numpy as np

import fem_mbs as fem
from fem_mbs.shapes import Sphere

mass, radius, inertia = 1309.0, 0.5, 131.0  # kg, m, kg m²: not exactly 2/5 m r², as printed
g = 9.8  # m/s²
UP = [-np.pi / 2, 0, 0]  # rotation vector that turns z of the plane to the inertial y axis


def build(velocity=(0, 0, 0), spin=(0, 0, 0), rotation=None, **law):
    """Ball on the plane y = 0 with given velocity [m/s] and angular velocity [rad/s]; law: see `SphereOnPlane`."""
    model = fem.Model("rolling ball", gravity=[0, -g, 0])
    ball = model.add(
        fem.RigidBody(
            mass, inertia, position=[0.1, radius, 0], rotation=rotation, velocity=velocity, angular_velocity=spin,
            shape=Sphere(radius), name="ball",
        )
    )  # fmt: skip
    floor = model.ground.frame(rotation=UP)
    model.add(fem.SphereOnPlane(ball, floor, radius=radius, drawn_size=10.0, name="floor", **law))
    return model


def run(h, t_end, save=None, solver=None, **options):
    """Results; without a solver with the settings of the source: rho_inf = 0.8, tolerance 1e-5."""
    solver = solver or fem.DecoupledNSGA.published(rho_inf=0.8, rtol=1e-5)
    return solver.run(build(**options), t_end, h, save=save)


def time_of_rest(t, speed, tolerance=1e-6):
    """First time after which the speed (k,) stays below a tolerance that is far below g h."""
    moving = np.flatnonzero(speed > tolerance)
    return t[min(moving[-1] + 1, len(t) - 1)]


class Sliding:
    """Section A.6.1 (a): friction turns sliding into rolling."""

    friction, velocity = 0.25, np.array([1.5, 0, 1.5])  # -, m/s
    start = np.linalg.norm(velocity)
    t_roll = start / (friction * g * (1 + mass * radius**2 / inertia))
    speed = start - friction * g * t_roll

    @classmethod
    def exact(cls, t):
        """Speed [m/s], angular speed [rad/s], path [m], angle [rad] at times t."""
        a, alpha = cls.friction * g, cls.friction * mass * g * radius / inertia
        s = np.minimum(t, cls.t_roll)
        rest = t - s
        path, angle = cls.start * s - 0.5 * a * s**2, 0.5 * alpha * s**2
        return cls.start - a * s, alpha * s, path + cls.speed * rest, angle + cls.speed / radius * rest

    @classmethod
    def run(cls, h, save=None, solver=None):
        return run(h, 1.0, save, solver, velocity=cls.velocity, friction=cls.friction)


class Turning:
    """Section A.6.1 (b) and (c): resistance stops a ball that turns in place, about a tangent or about the normal."""

    def __init__(self, spin, **arm):
        self.spin, self.law = np.array(spin), arm
        self.start, (arm,) = np.linalg.norm(spin), arm.values()
        self.deceleration = arm * mass * g / inertia
        self.t_stop = self.start / self.deceleration
        self.angle = 0.5 * self.start * self.t_stop

    def exact(self, t):
        """Angular speed [rad/s] at times t."""
        return np.maximum(self.start - self.deceleration * t, 0.0)

    def run(self, h, save=None, solver=None):
        return run(h, 1.0, save, solver, spin=self.spin, **self.law)


ROLLING = Turning([0.4, 0, 0], rolling_resistance=0.01)
SPINNING = Turning([0, 1.0, 0], spinning_resistance=0.0167)

# Section A.6.2: spin [rad/s], friction; times at which rotation and translation stop [s], path [m] (closed forms)
ACARY_BOURRIER = {
    "I": (5.0, 0.2, 4.46526, 4.46526, 5.58157),
    "II": (2.5, 0.2, 3.82702, 3.82702, 4.14560),
    "III": (5.0, 0.05, 3.40396, 5.10204, 6.37755),
}


def acary_bourrier(case, h, save=None, rotation=None, solver=None):
    """Results of a case: v = (2.5, 0, 0) m/s, turning forwards, rolling resistance 0.04 m."""
    spin, friction, _, t_stop, _ = ACARY_BOURRIER[case]
    law = {"friction": friction, "rolling_resistance": 0.04}
    return run(h, t_stop + 0.2, save, solver, velocity=[2.5, 0, 0], spin=[0, 0, -spin], rotation=rotation, **law)


def acary_bourrier_exact(case, t):
    """Speed [m/s] and angular speed [rad/s] of a case at times t: straight lines between three events."""
    spin, friction, t_turn, t_stop, _ = ACARY_BOURRIER[case]
    slip, alpha = 2.5 - radius * spin, (friction * radius - 0.04) * mass * g / inertia
    rolls = slip / (friction * g + radius * alpha) if alpha > 0 else t_turn  # case III slides to its end
    speed = 2.5 - friction * g * rolls if slip > 0 or alpha < 0 else 2.5
    turning = spin + alpha * rolls if slip > 0 or alpha < 0 else spin
    times = [0.0, rolls, t_stop]
    return np.interp(t, times, [2.5, speed, 0.0]), np.interp(t, times, [spin, turning, 0.0])


def speeds(result):
    """Speed [m/s] and angular speed [rad/s] of the ball."""
    return np.linalg.norm(result["ball"].velocity, axis=1), np.linalg.norm(result["ball"].angular_velocity, axis=1)


def main(h=1e-3, save="rolling_ball.vtkhdf", solver=None):
    checks = []

    def check(name, reference, obtained, **tolerance):
        checks.append(fem.Check(name, reference=reference, obtained=obtained, **tolerance))

    # times: resolved to the step in which they lie, two steps allowed; speeds and paths: 0.1 %
    result = Sliding.run(h, solver=solver)
    v, w = speeds(result)
    slip = np.abs(v - radius * w)
    check("sliding: rolls from [s]", Sliding.t_roll, time_of_rest(result.t, slip), abs=2 * h)
    check("sliding: final speed [m/s]", Sliding.speed, v[-1], rel=1e-3)
    for name, case in (("rolling", ROLLING), ("spinning", SPINNING)):
        result = case.run(h, solver=solver)
        check(f"{name}: stops [s]", case.t_stop, time_of_rest(result.t, speeds(result)[1]), abs=2 * h)
    for case, (_, _, t_turn, t_stop, path) in ACARY_BOURRIER.items():
        result = acary_bourrier(case, h, save if case == "II" else None, solver=solver)
        v, w = speeds(result)
        check(f"case {case}: rotation stops [s]", t_turn, time_of_rest(result.t, w), abs=2 * h)
        check(f"case {case}: ball stops [s]", t_stop, time_of_rest(result.t, v), abs=2 * h)
        check(f"case {case}: path [m]", path, np.ptp(result["ball"].position[:, 0]), rel=1e-3)
    return fem.Checks(*checks)


if __name__ == "__main__":
    main().print()
