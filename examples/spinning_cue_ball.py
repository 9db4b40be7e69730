"""A spinning cue ball hits a ball at rest: friction between the balls throws it off the line of centres.

Sanchez2025, section B.5.3. The throw angle depends on the cut angle φ, on the spin about the vertical and on how fast
the cue ball rolls; the friction coefficient of the balls falls with the sliding speed. Cloth without friction.

    python examples/spinning_cue_ball.py        writes spinning_cue_ball.vtkhdf, to open in ParaView
"""

import numpy as np

import fem_mbs as fem
from fem_mbs.shapes import Sphere

radius, mass, g = 0.028575, 0.17, 9.8  # m, kg, m/s²
inertia = 0.4 * mass * radius**2  # kg m²
speed = 1.341  # m/s, of the cue ball along x
# friction of the balls by their sliding speed v [m/s], (B.51): 9.951e-3 + 0.108 exp(−1.088 v)
BALLS = {"friction": (9.951e-3 + 0.108, 9.951e-3), "stribeck_speed": 1 / 1.088, "stribeck_exponent": 1}

# Throw angle [deg] by R ω_z/v, for (φ [deg], ω_x/ω_roll): (B.50) with (B.51)
THROW = {
    (0, 0.0): {-1.25: 1.5686, -0.9: 2.2335, -0.4: 3.2705, 0.0: 0.0, 0.4: -3.2705, 0.9: -2.2335, 1.25: -1.5686},
    (0, 0.5): {-1.25: 1.3350, -0.9: 1.7023, -0.4: 1.8743, 0.0: 0.0, 0.4: -1.8743, 0.9: -1.7023, 1.25: -1.3350},
    (30, 0.0): {-1.25: 1.0516, -0.9: 1.3724, -0.4: 2.2335, 0.0: 3.5491, 0.4: 0.9450, 0.9: -3.7751, 1.25: -2.6399},
    (30, 0.5): {-1.25: 0.9862, -0.9: 1.2414, -0.4: 1.8118, 0.0: 2.2119, 0.4: 0.8563, 0.9: -2.1625, 1.25: -2.0077},
}  # fmt: skip

DISTANCES = [1e-4, 5e-3]  # m, of the start from the touch


def sliding_speed(phi, ratio, rolling):
    """Sliding speed [m/s] of the surfaces at the impact, in the plane and vertically: speed (B.50)."""
    across, down = speed * (np.sin(phi) - ratio), speed * rolling * np.cos(phi)
    return np.hypot(across, down), across, down


def friction_of_balls(slip):
    """Friction coefficient of the balls at a sliding speed [m/s], (B.51)."""
    return 9.951e-3 + 0.108 * np.exp(-1.088 * slip)


def throw(phi, ratio, rolling):
    """Throw angle [rad] from the line of centres, (B.50): friction slides, or takes a seventh of the slip."""
    slip, across, _ = sliding_speed(phi, ratio, rolling)
    if slip == 0.0:
        return 0.0
    normal = speed * np.cos(phi)
    return np.arctan(min(friction_of_balls(slip) * normal / slip, 1 / 7) * across / normal)


def build(phi=np.pi / 6, ratio=0.4, rolling=0.5, *, distance=0.0, friction=None, cloth=True):
    """Cue ball and object ball; gravity along −z.

    phi: angle [rad] from the direction of the cue ball to the line of centres; ratio: R ω_z/v; rolling: ω_x/ω_roll;
    distance [m] the cue ball travels before they touch; friction of the balls, if not that of (B.51).
    """
    model = fem.Model("spinning cue ball", gravity=[0, 0, -g if cloth else 0])
    n, up = np.array([np.cos(phi), np.sin(phi), 0]), np.array([0, 0, radius])
    spin = speed / radius * np.array([0, rolling, ratio])
    cue = fem.RigidBody(mass, inertia, position=up - [distance, 0, 0], velocity=[speed, 0, 0], angular_velocity=spin,
                        shape=Sphere(radius), name="cue")  # fmt: skip
    ball = fem.RigidBody(mass, inertia, position=up + 2 * radius * n, shape=Sphere(radius), name="ball")
    model.add(cue, ball)
    for body in (cue, ball) if cloth else ():
        model.add(fem.SphereOnPlane(body, model.ground, radius=radius, drawn_size=2.0, name=f"cloth, {body.name}"))
    law = BALLS if friction is None else {"friction": friction}
    model.add(fem.SphereOnSphere(cue, ball, radius_A=radius, radius_B=radius, restitution=1.0, name="hit", **law))
    return model


def throw_angle(result, phi):
    """Angle [deg] of the object ball's velocity from the line of centres, positive away from the cue ball's spin."""
    v = result["ball"].velocity[-1]
    along, across = np.cos(phi) * v[0] + np.sin(phi) * v[1], np.sin(phi) * v[0] - np.cos(phi) * v[1]
    return np.degrees(np.arctan2(across, along))


def largest_error(solver, h, distance, cloth=False):
    """Largest error [deg] of the 28 throw angles, if the cue ball starts ``distance`` [m] before the touch."""
    steps, errors = int(distance / speed / h) + 4, []
    for (degrees, rolling), table in THROW.items():
        phi = np.radians(degrees)
        for ratio, printed in table.items():
            result = solver.run(build(phi, ratio, rolling, distance=distance, cloth=cloth), t_end=steps * h, h=h)
            errors.append(abs(throw_angle(result, phi) - printed))
    return max(errors)


def main(h=1e-4, save="spinning_cue_ball.vtkhdf", solver=None):
    checks, solver = [], solver or fem.DecoupledNSGA.published(rho_inf=0.8, rtol=1e-5)
    for (degrees, rolling), table in THROW.items():
        phi = np.radians(degrees)
        for ratio, printed in table.items():
            # they touch in the middle of a step: the normal of the impact is that of φ to a tenth of a per cent
            model = build(phi, ratio, rolling, distance=0.5 * h * speed, cloth=False)
            name = f"φ = {degrees}°, rolling {rolling:g}, spin {ratio:+.2f}: throw [deg]"
            obtained = throw_angle(solver.run(model, t_end=3 * h, h=h), phi)
            checks.append(fem.Check(name, reference=printed, obtained=obtained, abs=0.05))
    # the whole step ends with the impact, up to h v behind the touch; a step that is cut ends with the touch
    located = getattr(solver, "impacts", "plain") != "plain"
    for distance in DISTANCES:
        error = largest_error(solver, h, distance)
        allowed = 1e-4 if located else 0.08
        checks.append(
            fem.Check(
                f"start {1e3 * distance:g} mm before: largest error [deg]", reference=0, obtained=error, abs=allowed
            )
        )
    solver.run(build(distance=0.2), t_end=1.0, h=h, save=save, save_every=20)
    return fem.Checks(*checks)


if __name__ == "__main__":
    main().print()
