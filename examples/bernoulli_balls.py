"""Bernoulli's problem: a ball hits two touching balls simultaneously.

Sanchez2025, section B.5.5 (after Liu et al.). Three equal balls without friction; the lines of centres make the angle α
with the direction of the striking ball, 30° when the two touch.

    python examples/bernoulli_balls.py            writes bernoulli_balls.vtkhdf, to open in ParaView
"""

import numpy as np

import fem_mbs as fem
from fem_mbs.shapes import Sphere

radius, mass, inertia, g = 1.0, 1.0, 0.4, 9.8  # m, kg, kg m², m/s²
speed, alpha = 1.0, np.pi / 6  # m/s along x, rad
down = 3 + np.tan(alpha) ** 2

# Velocities [m/s] after the impact, (B.53)
AFTER = {
    "1": (2 * speed / down, 2 * speed * np.tan(alpha) / down),
    "2": (speed - 4 * speed / down, 0.0),
    "3": (2 * speed / down, -2 * speed * np.tan(alpha) / down),
}


def build(distance=0.1):
    """Balls on the plane z = 0, gravity along −z; ball 2 travels ``distance`` [m] before it touches 1 and 3."""
    model = fem.Model("Bernoulli's balls", gravity=[0, 0, -g])
    row = 2 * radius * np.array([np.cos(alpha), np.sin(alpha), 0])
    places = {"1": row, "2": np.array([-distance, 0, 0]), "3": row * [1, -1, 1]}
    for name, place in places.items():
        v = [speed if name == "2" else 0.0, 0, 0]
        place = place + [0, 0, radius]
        ball = model.add(fem.RigidBody(mass, inertia, position=place, velocity=v, shape=Sphere(radius), name=name))
        model.add(fem.SphereOnPlane(ball, model.ground, radius=radius, restitution=1.0, name=f"plane {name}"))
    for first, second in ("21", "23", "13"):
        name = f"{first}-{second}"
        law = {"radius_A": radius, "radius_B": radius, "restitution": 1.0}
        model.add(fem.SphereOnSphere(model[first], model[second], name=name, **law))
    return model


def run(h, distance=0.1, save=None, solver=None):
    """Results over 0.6 s; without a solver with the settings of the source."""
    solver = solver or fem.DecoupledNSGA.published(rho_inf=0.8, rtol=1e-5)
    return solver.run(build(distance), 0.6, h, save=save)


def main(h=1e-2, save="bernoulli_balls.vtkhdf", solver=None):
    result = run(h, save=save, solver=solver)
    checks = []
    for name, velocity in AFTER.items():
        for axis, reference in zip("xy", velocity):
            value = result[name].velocity[-1, "xy".index(axis)]
            # first order in h: ball 2 moves by up to h v in the step of the impact, which turns the lines of centres
            checks.append(
                fem.Check(f"ball {name}: v{axis} [m/s]", reference=reference, obtained=value, abs=h * speed / radius)
            )
    checks.append(fem.Check("energy [J]", reference=0.5, obtained=result.energy.kinetic[-1], abs=0.2 * h))
    return fem.Checks(*checks)


if __name__ == "__main__":
    main().print()
