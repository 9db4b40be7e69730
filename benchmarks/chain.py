"""A chain of rigid links that swings under gravity: `python benchmarks/bench.py chain` measures it.

It is fixed at one end and starts horizontal, with a wave of velocities: at rest all but the first links of a long one
would fall freely, and joints would have nothing to do.
"""

import numpy as np

import fem_mbs as fem

LENGTH, WIDTH, MASS = 0.5, 0.05, 1.0  # m, m, kg, of a link
SPEED, WAVE = 1.6, 20  # m/s, links: turns links by 1 rad/s
WARM = 80  # steps before time is taken: the wave begins with a jump of forces
GRAVITY = [0.0, 0.0, -9.81]  # m/s²


def motion(links):
    """Velocities of the centres (links, 3) [m/s] and angular velocities about y (links,) [rad/s] at the start."""
    v = SPEED * np.sin(2 * np.pi * np.arange(links + 1) / WAVE)  # m/s, of the joints
    return np.outer((v[:-1] + v[1:]) / 2, [0, 0, 1]), (v[:-1] - v[1:]) / LENGTH


def build(links, joint="revolute"):
    """Chain of links along x, hung at its end; a wave of velocities across it."""
    model = fem.Model(f"chain of {links}", gravity=GRAVITY)
    before = model.ground
    for i, (velocity, rate) in enumerate(zip(*motion(links))):
        link = fem.RigidBody.box(
            MASS, [LENGTH, WIDTH, WIDTH], position=[LENGTH * (i + 0.5), 0, 0], name=f"link {i + 1}", velocity=velocity,
            angular_velocity=[0, rate, 0],
        )  # fmt: skip
        model.add(link)
        at = [LENGTH * i, 0, 0]
        if joint == "revolute":
            model.add(fem.Revolute.at(before, link, at, [0, 1, 0]))
        else:
            model.add(fem.Spherical.at(before, link, at))
        before = link
    return model


def request(links):
    """Numbers of the model, for other programs."""
    velocities, rates = motion(links)
    across, along = WIDTH**2 + WIDTH**2, LENGTH**2 + WIDTH**2
    return {
        "length": LENGTH, "mass": MASS, "inertia": [MASS / 12 * square for square in (across, along, along)],
        "velocities": velocities.tolist(), "rates": rates.tolist(), "gravity": GRAVITY,
    }  # fmt: skip
