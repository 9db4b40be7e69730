"""Ball against a wall: it slides over the floor, bounces off a smooth wall, slides backwards, rolls and stops.

The floor has sliding, rolling and spinning resistance; the wall reflects without friction. Source: Sanchez2025 annex A,
section A.6.4, with a free path of 0.5 m to the wall: the printed impact time asks for it; then from the start that the
text gives, 0.1 m nearer.

    python examples/ball_against_wall.py            writes ball_against_wall.vtkhdf, to open in ParaView
"""

import numpy as np

import fem_mbs as fem
from fem_mbs.shapes import Sphere

mass, radius, inertia = 1309.0, 0.5, 131.0  # kg, m, kg m²
g, friction, rolling, spinning = 9.8, 0.2, 0.04, 0.0167  # m/s², -, m, m
velocity, wall = np.array([1.5, 0.0, 1.5]), 1.0  # m/s, m

START = 0.1  # m, of the text
# Times [s] of the impact, of the end of sliding and of rest: equations of motion integrated to round-off between these
# events (the source prints 0.411, 0.685, 2.266 for h = 1 ms)
EVENTS = {"impact": 0.411598, "rolls again": 0.684296, "rests": 2.263199}
EVENTS_OF_TEXT = {"impact": 0.311491, "rolls again": 0.606607, "rests": 2.356591}


def build(wall_friction=0.0, start=0.0):
    """Ball on the floor y = 0, wall at x = 1 m; friction of the wall, x of the ball at the start [m]."""
    model = fem.Model("ball against a wall", gravity=[0, -g, 0])
    ball = model.add(
        fem.RigidBody(mass, inertia, position=[start, radius, 0], velocity=velocity, shape=Sphere(radius), name="ball")
    )
    floor = model.ground.frame(rotation=[-np.pi / 2, 0, 0])
    upright = model.ground.frame([wall, 1.0, 1.0], rotation=[0, -np.pi / 2, 0])
    resistance = {"friction": friction, "rolling_resistance": rolling, "spinning_resistance": spinning}
    model.add(fem.SphereOnPlane(ball, floor, radius=radius, drawn_size=5.0, name="floor", **resistance))
    law = {"restitution": 1.0, "tangential_restitution": 1.0, "friction": wall_friction}
    model.add(fem.SphereOnPlane(ball, upright, radius=radius, drawn_size=2.0, name="wall", **law))
    return model


def events(result):
    """Times [s] of the impact, of the end of sliding after it, and of rest."""
    ball = result["ball"]
    v, w = ball.velocity, np.einsum("nij,nj->ni", ball.rotation, ball.angular_velocity)
    impact = result.t[np.argmax(result["wall"].impact)]
    # velocity of the material point that touches the floor: v + ω × (0, −r, 0)
    slip = np.hypot(v[:, 0] + radius * w[:, 2], v[:, 2] - radius * w[:, 0])
    rolls = result.t[np.argmax((result.t > impact) & (slip < 1e-6))]
    rests = result.t[np.argmax((result.t > impact) & (np.linalg.norm(v, axis=1) < 1e-6))]
    return {"impact": impact, "rolls again": rolls, "rests": rests}


def main(h=1e-3, save="ball_against_wall.vtkhdf", solver=None):
    solver = solver or fem.DecoupledNSGA.published(rho_inf=0.8, rtol=1e-5)
    result = solver.run(build(), t_end=3.0, h=h, save=save)
    obtained, v, gap = events(result), result["ball"].velocity, result["wall"].gap
    after = np.argmax(result["wall"].impact)
    before = after - 1
    # events are found at the end of the step they lie in, and each shifts those after it: two and three steps; the
    # impact in the next step by schemes that close contacts in velocities
    checks = [
        fem.Check(f"{name} [s]", reference=time, obtained=obtained[name], abs=max(i + 1, 2) * h)
        for i, (name, time) in enumerate(EVENTS.items())
    ]
    checks += [
        # Newton's law with e = 1 reflects the velocity of the step before
        fem.Check("speed off the wall [m/s]", reference=-v[before, 0], obtained=v[after, 0], rel=1e-9),
        # no friction on the wall: what remains is one step of the floor's friction
        fem.Check("jump along the wall [m/s]", reference=0, obtained=v[after, 2] - v[before, 2], abs=friction * g * h),
        fem.Check("smallest gap to the wall [m]", reference=0, obtained=gap.min(), abs=1e-12),  # round-off
    ]
    obtained = events(solver.run(build(start=START), t_end=2.5, h=h))
    checks += [
        fem.Check(f"from {START} m: {name} [s]", reference=time, obtained=obtained[name], abs=max(i + 1, 2) * h)
        for i, (name, time) in enumerate(EVENTS_OF_TEXT.items())
    ]
    return fem.Checks(*checks)


if __name__ == "__main__":
    main().print()
