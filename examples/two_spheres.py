"""Two spheres, one on the other: a growing torque turns the lower until friction can no longer take the upper along.

Sanchez2025, section B.5.1. The lower sphere turns about its fixed centre under the torque k t; the upper one lies on it
and is kept above it. They roll on each other until the tangential force k t/(2 r) reaches μ m g, then they slide.

    python examples/two_spheres.py            writes two_spheres.vtkhdf, to open in ParaView
"""

import numpy as np

import fem_mbs as fem
from fem_mbs.shapes import Sphere
from fem_mbs.solvers.contact.law import SLIP

mass, radius, inertia, g = 1.0, 1.0, 0.4, 9.8  # kg, m, kg m², m/s²
friction, k = 0.3, 20.0  # -, N m/s
t_slide = 2 * mass * g * friction * radius / k  # s, (B.46)


def build():
    """Gravity along −y; the torque turns the lower sphere about −z."""
    model = fem.Model("two spheres", gravity=[0, -g, 0])
    upper = fem.RigidBody(mass, inertia, position=[0, 2 * radius, 0], fixed=("x", "z"), shape=Sphere(radius), name="A")
    lower = fem.RigidBody(mass, inertia, fixed=("x", "y", "z"), shape=Sphere(radius), name="B")
    model.add(upper, lower, fem.PointMoment(lower, moment=[0, 0, -k], signal=lambda t: t, name="torque"))
    model.add(fem.SphereOnSphere(upper, lower, radius_A=radius, radius_B=radius, friction=friction, name="contact"))
    return model


def run(h, save=None, solver=None, **options):
    """Results over 1 s; without a solver with the settings of the source."""
    solver = solver or fem.DecoupledNSGA.published(rho_inf=0.8, rtol=1e-5, **options)
    return solver.run(build(), 1.0, h, save=save)


def exact(t):
    """Angular velocities of A, B [rad/s], their angles [rad] and the tangential force [N] at times t (k,).

    (B.47); the angle of B is the integral of its printed speed, the printed angle has a wrong sign in its first term.
    """
    t, end = np.asarray(t, float), t_slide
    early, a = t <= end, k / (4 * inertia)
    w_A = np.where(early, a * t**2, 2 * a * end * (t - end / 2))
    w_B = np.where(early, -a * t**2, -a * (end**2 + 2 * t * (t - end)))
    angle_A = np.where(early, a / 3 * t**3, a * end * t * (t - end) + a / 3 * end**3)
    angle_B = np.where(early, -a / 3 * t**3, a * end * t * (t - end) + 2 * a / 3 * (end**3 / 2 - t**3))
    return w_A, w_B, angle_A, angle_B, np.minimum(k * t / (2 * radius), friction * mass * g)


def angle(result, name):
    """Angle [rad] about z: the integral of the angular velocity by the trapezoidal rule, beyond half a turn."""
    w = result[name].angular_velocity[:, 2]
    return np.concatenate([[0.0], np.cumsum(0.5 * np.diff(result.t) * (w[1:] + w[:-1]))])


def main(h=1e-3, save="two_spheres.vtkhdf", solver=None):
    result = run(h, save, solver)
    contact = result["contact"]
    tangential = np.linalg.norm(contact.force_tangential, axis=1)
    w_A, w_B, _, _, force = exact(result.t)
    slides = result.t[np.argmax(contact.status == SLIP)]
    half = 0.5 * (result.t[1:] + result.t[:-1])  # what a contact reports is the mean of a step
    error = np.abs(tangential[1:] - exact(half)[-1]).max()
    return fem.Checks(
        fem.Check("slides from [s]", reference=t_slide, obtained=slides, abs=2 * h),  # known to the step
        fem.Check("normal force [N]", reference=mass * g, obtained=contact.force_normal[-1], rel=1e-6),
        # the ramp ends inside a step, whose mean it misses by at most k h/(8 r)
        fem.Check("tangential force, largest error [N]", reference=0.0, obtained=error, abs=k * h / (8 * radius)),
        fem.Check("tangential force at the end [N]", reference=force[-1], obtained=tangential[-1], rel=1e-5),
        # second order in h: 1.5e-7 rad/s at 1 ms measured
        fem.Check("A turns [rad/s]", reference=w_A[-1], obtained=result["A"].angular_velocity[-1, 2], abs=0.3 * h**2),
        fem.Check("B turns [rad/s]", reference=w_B[-1], obtained=result["B"].angular_velocity[-1, 2], abs=0.3 * h**2),
    )


if __name__ == "__main__":
    main().print()
