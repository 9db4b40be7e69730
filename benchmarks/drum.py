"""Spheres in a rotating drum, and in a box of the same number: processor time of a second.

    python benchmarks/drum.py                       1,000 spheres
    python benchmarks/drum.py --spheres 300 --method DecoupledNSGA

Spheres of 0.02 m and 2,500 kg/m³, friction 0.4, fall into a drum of radius 0.5 m and length 0.3 m that a driver turns
at 1.5 rad/s, or between five planes; 1 s at h = 1 ms. A short run comes first, so that compilation does not count."""

# ruff: noqa: E402

import os

for _name in ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "OMP_NUM_THREADS"):
    os.environ.setdefault(_name, "1")

import argparse
import time

import numpy as np

import fem_mbs as fem

RADIUS, DENSITY, DRUM, LENGTH, SPEED = 0.02, 2500.0, 0.5, 0.3, 1.5  # m, kg/m³, m, m, rad/s
QUARTER = 0.5 * np.pi


def turning_drum(model, group):
    """A drum with two lids on a driven axle."""
    shell = model.add(fem.RigidBody(5.0, 1.0, rotation=[QUARTER, 0, 0], angular_velocity=[0, -SPEED, 0], name="drum"))
    model.add(fem.Revolute.at(model.ground, shell, [0, 0, 0], [0, 1, 0], name="axle"))
    axis = model.ground, shell, [0, 0, 0], [0, 1, 0]
    model.add(fem.RevoluteDriver.at(*axis, angle=lambda t: -SPEED * t, name="drive"))
    group.obstacle(fem.SphereInCylinder, shell, radius_cylinder=DRUM)
    for end, turn in ((-0.5 * LENGTH, 0.0), (0.5 * LENGTH, np.pi)):
        group.obstacle(fem.SphereOnPlane, shell.frame([0, 0, end], [turn, 0, 0]))


def open_box(model, group):
    """A floor and four walls."""
    for turn, place in (([0, 0, 0], [0, 0, -0.4]), ([0, QUARTER, 0], [-0.3, 0, 0]), ([0, -QUARTER, 0], [0.3, 0, 0]),
                        ([-QUARTER, 0, 0], [0, -LENGTH / 2, 0]), ([QUARTER, 0, 0], [0, LENGTH / 2, 0])):  # fmt: skip
        group.obstacle(fem.SphereOnPlane, model.ground.frame(place, rotation=turn))


def build(count, surroundings, seed=0):
    """The model of ``count`` spheres in a jittered grid."""
    model = fem.Model(f"{count} spheres", gravity=[0, 0, -9.81])
    group = fem.ContactGroup(friction=0.4, name="spheres")
    surroundings(model, group)
    rng, pitch, mass = np.random.default_rng(seed), 2.2 * RADIUS, DENSITY * 4 / 3 * np.pi * RADIUS**3
    across, deep = int(0.55 / pitch), int((LENGTH - 2 * RADIUS) / pitch) + 1
    for k in range(count):
        i, j, layer = k % across, k // across % deep, k // (across * deep)
        place = pitch * np.array([i - 0.5 * (across - 1), j - 0.5 * (deep - 1), layer]) - [0, 0, 0.3]
        place += rng.uniform(-0.03, 0.03, 3) * RADIUS
        group.sphere(model.add(fem.RigidBody.sphere(mass, RADIUS, position=place)), RADIUS)
    model.add(group)
    return model


def run(count, surroundings, method, t_end=1.0, h=1e-3):
    """Processor seconds, and the result."""
    system = build(count, surroundings).compile()
    method.run(system, 2 * h, h, progress=False)
    begun = time.process_time()
    result = method.run(system, t_end, h, save_every=20, progress=False)
    return time.process_time() - begun, result


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--spheres", type=int, default=1000)
    parser.add_argument("--time", type=float, default=1.0, help="simulated time [s]")
    parser.add_argument("--method", default="DecoupledNSGA")
    options = parser.parse_args()
    for surroundings in (turning_drum, open_box):
        method = getattr(fem, options.method)()
        seconds, result = run(options.spheres, surroundings, method, options.time)
        statistics = result.statistics
        sweeps = statistics["contact_sweeps"] / statistics["steps"]
        print(f"{surroundings.__name__:13s} {options.spheres} spheres: {seconds:.1f} s, {sweeps:.0f} sweeps a step, "
              f"{result.pair_count[-1]} closed contacts, {statistics['inexact_contact_problems']} inexact")  # fmt: skip


if __name__ == "__main__":
    main()
