"""A pile of equal spheres, capsules or boxes: processor time of a second, by number and method.

    python benchmarks/pile.py                                       100 and 1,000 spheres, default scheme
    python benchmarks/pile.py --spheres 10000 --method ConeComplementarity
    python benchmarks/pile.py --spheres 1000 --tolerance 1e-6
    python benchmarks/pile.py --spheres 1000 --shape box

Spheres of 0.05 m and 1,000 kg/m³, friction 0.3, no restitution, fall from a jittered grid of 1.1 diameters into an open
box as wide as the grid; 1 s at h = 2 ms. Capsules (radius 0.025 m, axis 0.05 m) and boxes (0.05, 0.06, 0.05 m, edges
rounded by 2 mm) have random orientations and fit into these spheres. A run of a few comes first, so that compilation
does not count."""

# ruff: noqa: E402

import os

for _name in ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "OMP_NUM_THREADS"):
    os.environ.setdefault(_name, "1")

import argparse
import resource
import time
from dataclasses import dataclass

import numpy as np
from scipy.spatial.transform import Rotation

import fem_mbs as fem

RADIUS, DENSITY, FRICTION, GRAVITY = 0.05, 1000.0, 0.3, 9.81  # m, kg/m³, -, m/s²
CAPSULE = (0.025, 0.05)  # radius and length of the axis [m]
BOX, ROUNDING = np.array([0.05, 0.06, 0.05]), 2e-3  # m


@dataclass
class Pile:
    """A measured run: processor seconds, largest overlap [diameters], mean height [m] of the spheres, the result."""

    seconds: float
    overlap: float
    height: float
    result: fem.Results


def places(count, seed=0):
    """Centres (count, 3) [m] of a jittered grid that is about as high as wide, and half the width of the box."""
    across = max(2, int(np.ceil((count - 1e-9) ** (1 / 3))))
    pitch, rng = 2.2 * RADIUS, np.random.default_rng(seed)
    layer, place = np.divmod(np.arange(count), across**2)
    row, column = np.divmod(place, across)
    grid = np.stack([column + 0.5 - 0.5 * across, row + 0.5 - 0.5 * across, layer + 0.5], axis=1)
    return pitch * grid + rng.uniform(-0.05, 0.05, (count, 3)) * RADIUS, 0.5 * across * pitch


def put(model, group, shape, center, turn):
    """Add one capsule or box."""
    if shape == "capsule":
        mass = DENSITY * np.pi * CAPSULE[0] ** 2 * (CAPSULE[1] + 4 / 3 * CAPSULE[0])
        group.capsule(model.add(fem.RigidBody.capsule(mass, *CAPSULE, position=center, rotation=turn)), *CAPSULE)
    else:
        body = fem.RigidBody.box(DENSITY * np.prod(BOX), BOX, position=center, rotation=turn)
        group.box(model.add(body), BOX, ROUNDING)


def build(count, restitution=0.0, shape="sphere"):
    """The model of ``count`` spheres, capsules or boxes."""
    model = fem.Model(f"pile of {count}, {shape}", gravity=[0, 0, -GRAVITY])
    group = fem.ContactGroup(friction=FRICTION, restitution=restitution, name="pile")
    centers, half = places(count)
    if shape == "sphere":
        model.add(group.spheres(centers, RADIUS, density=DENSITY))
    else:
        turns = Rotation.random(count, random_state=np.random.default_rng(1)).as_matrix()
        for center, turn in zip(centers, turns):
            put(model, group, shape, center, turn)
    walls = [([0, 0, 0], [0, 0, 0]), ([0, 0.5 * np.pi, 0], [-half, 0, 0]), ([0, -0.5 * np.pi, 0], [half, 0, 0]),
             ([-0.5 * np.pi, 0, 0], [0, -half, 0]), ([0.5 * np.pi, 0, 0], [0, half, 0])]  # fmt: skip
    for turn, place in walls:
        group.obstacle(fem.SphereOnPlane, model.ground.frame(place, rotation=turn), drawn_size=2 * half)
    model.add(group)
    return model


def run(count, stepper, t_end=1.0, h=2e-3, save_every=50, shape="sphere"):
    """A measured run, `Pile`."""
    system = build(count, shape=shape).compile()
    begun = time.process_time()
    result = stepper.run(system, t_end, h, save_every=save_every, progress=False)
    seconds = time.process_time() - begun
    overlap = -min(result.pairs(k).gap.min(initial=0.0) for k in range(len(result.t))) / (2 * RADIUS)
    return Pile(seconds, overlap, result.rows([-1])["position"][0, 1:, 2].mean(), result)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--spheres", type=int, nargs="+", default=[100, 1000])
    parser.add_argument("--shape", choices=["sphere", "capsule", "box"], default="sphere", help="of the bodies")
    parser.add_argument("--time", type=float, default=1.0, help="simulated time [s]")
    parser.add_argument("--step", type=float, default=2e-3, help="size of the steps [s]")
    parser.add_argument("--method", default="DecoupledNSGA")
    parser.add_argument("--tolerance", type=float, default=1e-3, help="of the contact problems, scale-free")
    options = parser.parse_args()
    own = {"relaxed": False} if options.method == "ConeComplementarity" else {}
    stepper = getattr(fem, options.method)(contact_tolerance=options.tolerance, **own)
    run(60, stepper, 0.05, shape=options.shape)
    print(f"{options.method}, {options.shape}, contact tolerance {options.tolerance:g}, ", end="")
    print(f"{options.time:g} s at h = {options.step:g} s")
    print(
        "spheres  processor s  ms per step  sweeps mean/max  unsolved  overlap/D  mean height  largest rise of E   MB"
    )
    for count in options.spheres:
        pile = run(count, stepper, options.time, options.step, shape=options.shape)
        counted, steps = pile.result.statistics, round(options.time / options.step)
        sweeps = f"{counted['contact_sweeps'] / steps:.0f} / {counted['most_contact_sweeps']}"
        rise = np.diff(pile.result.energy.total).max()
        memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        print(f"{count:7d}  {pile.seconds:11.2f}  {1e3 * pile.seconds / steps:11.3f}  {sweeps:>15s}  "
              f"{counted['inexact_contact_problems']:8d}  {pile.overlap:9.1e}  {pile.height:11.4f}  {rise:17.2e}  "
              f"{memory:5.0f}")  # fmt: skip


if __name__ == "__main__":
    main()
