"""The 30° rule of billiards: a rolling cue ball that cuts a ball at rest leaves at about 30°, whatever the cut.

Sanchez2025, section B.5.2 (after Alciatore). The impact sends the cue ball off along the tangent; its topspin then
bends the path until it rolls again. The rule holds for cuts between a quarter and three quarters of the ball. Friction
between the balls and a restitution below one change the angle a little.

    python examples/thirty_degree_rule.py            writes thirty_degree_rule.vtkhdf (half ball), to open in ParaView
"""

import numpy as np

import fem_mbs as fem
from fem_mbs.shapes import Sphere

radius, mass, g = 0.028575, 0.17, 9.8  # m, kg, m/s²
inertia = 0.4 * mass * radius**2  # kg m²
speed, cloth = 1.8, 0.2  # m/s of the cue ball, along x and rolling; friction of the cloth

# Final deflection of the cue ball [deg] by hit-ball fraction, (B.48)
DEFLECTION = {0.0: 0.0, 0.125: 19.972, 0.25: 27.267, 0.5: 33.670, 0.75: 27.626, 0.875: 16.615, 1.0: 0.0}


def cut_angle(fraction):
    """Angle [rad] from the direction of the cue ball to the line of centres."""
    return np.arcsin(1 - fraction)


def build(fraction=0.5, *, friction=0.0, restitution=1.0, distance=0.05, spin_damping=0.0):
    """Cue ball and object ball on the cloth z = 0, gravity along −z.

    friction, restitution: of the balls on each other; distance [m] the cue ball travels before they touch;
    spin_damping [1/s]: resistance over inertia against turning about the vertical. The closed form assumes that balls
    do not: 100/h takes the spin of an impact within two steps. Much more would turn the axis of rolling, because
    position corrections change the vertical part of an angular velocity by O(h).
    """
    model = fem.Model("thirty degree rule", gravity=[0, 0, -g])
    phi, up = cut_angle(fraction), np.array([0, 0, radius])
    n = np.array([np.cos(phi), np.sin(phi), 0])
    cue = fem.RigidBody(mass, inertia, position=up - [distance, 0, 0], velocity=[speed, 0, 0],
                        angular_velocity=[0, speed / radius, 0], shape=Sphere(radius), name="cue")  # fmt: skip
    ball = fem.RigidBody(mass, inertia, position=up + 2 * radius * n, shape=Sphere(radius), name="ball")
    model.add(cue, ball)
    for body in (cue, ball):
        bed = model.ground.frame([0, 0, 0])
        model.add(fem.SphereOnPlane(body, bed, radius=radius, friction=cloth, restitution=1.0,
                                    drawn_size=1.2 if body is cue else 0.0, name=f"cloth, {body.name}"))  # fmt: skip
        if spin_damping:
            model.add(fem.UserForce(body, resistance(spin_damping), name=f"no spin, {body.name}"))
    law = {"friction": friction, "restitution": restitution}
    model.add(fem.SphereOnSphere(cue, ball, radius_A=radius, radius_B=radius, name="hit", **law))
    return model


def resistance(damping):
    """Law of a moment −c ω_z about the vertical, body axes, c = damping · inertia."""

    def law(x, R, v, t):
        up = R[0, 2]
        return np.array([[0, 0, 0, *(-damping * inertia * (up @ v[0, 3:]) * up)]])

    return law


def after_impact(fraction, friction=0.0, restitution=1.0):
    """Velocity (2,) and rolling velocity r ω × e_z (2,) [m/s] of the cue ball after the impact.

    The friction impulse acts along the sliding velocity before the impact; derived from mechanics, since
    the source gives no other.
    """
    phi = cut_angle(fraction)
    n, t = np.array([np.cos(phi), np.sin(phi)]), np.array([np.sin(phi), -np.cos(phi)])
    impulse = 0.5 * (1 + restitution) * speed * np.cos(phi)  # per mass
    velocity = np.array([speed, 0.0]) - impulse * n - friction * impulse * np.sin(phi) * t
    return velocity, np.array([speed, 0.0]) - 2.5 * friction * impulse * np.cos(phi) * n


def trajectory(t, fraction, friction=0.0, restitution=1.0):
    """Place (k, 2) [m] and velocity (k, 2) [m/s] of the cue ball at times t (k,) after the impact, (B.49)."""
    start, rolling = after_impact(fraction, friction, restitution)
    slip = start - rolling
    size = np.linalg.norm(slip)
    end = 2 * size / (7 * cloth * g)  # s, it rolls from here
    direction = slip / size if size > 0 else slip
    s = np.minimum(t, end)[:, None]
    velocity = start - cloth * g * s * direction
    return start * s - 0.5 * cloth * g * s**2 * direction + velocity * (np.asarray(t)[:, None] - s), velocity


def deflection(result):
    """Angle [deg] between the first and the last velocity of the cue ball."""
    v = result["cue"].velocity[-1]
    return np.degrees(np.arctan2(-v[1], v[0]))


def main(h=1e-4, save="thirty_degree_rule.vtkhdf", solver=None):
    checks, solver = [], solver or fem.DecoupledNSGA.published(rho_inf=0.8, rtol=1e-5)
    for fraction, printed in DEFLECTION.items():
        model = build(fraction)
        file = save if fraction == 0.5 else None
        result = solver.run(model, t_end=0.35, h=h, save=file, save_every=20)
        # first order in h: the ball moves by 0.2 mm in the step of the impact, 0.3 % of the line of centres
        checks.append(
            fem.Check(
                f"{fraction:5.3f} ball: deflection [deg]",
                reference=printed,
                obtained=deflection(result),
                abs=0.04 * h / 1e-4,
            )
        )
    result = solver.run(build(restitution=0.94), t_end=0.35, h=h)
    checks.append(
        fem.Check(
            "half ball, e = 0.94: deflection [deg]", reference=31.988, obtained=deflection(result), abs=0.04 * h / 1e-4
        )
    )
    return fem.Checks(*checks)


if __name__ == "__main__":
    main().print()
