"""Forces of the crank with clearance, Sanchez2025, C.6.4, of many starts that differ by less than can be measured.

    python benchmarks/clearance_ensemble.py     prints the table of docs/published_benchmarks.md; takes half an hour

The slider starts up to 10 nm from the centre of the bearing, whose clearance is 50 or 100 µm. If the largest forces of
a revolution scatter with that as they do with the step size, a single number of them means little, whatever the step.
The compliant rows have a contact with the same stiffness and the law of Flores in the place of impacts, in steps of
0.1 µs: another model, whose forces need no recovery.
"""

import sys
import warnings
from pathlib import Path
from typing import NamedTuple

import numpy as np

import fem_mbs as fem

sys.path.insert(0, str(Path(__file__).parents[1] / "examples"))
import clearance_crank as crank

STEPS = {1e-5: 50, 1e-6: 50, 5e-7: 12}  # s: number of starts
SHIFT = 1e-8  # largest shift of the slider [m]
FEW, FINE = 4, 1e-7  # starts and steps [s] of the compliant model
FIRST, TURNS = 1, 2  # revolutions: the first is left out, two are run


class Forces(NamedTuple):
    """Largest forces of a revolution [N] of each start: of impacts alone, of all."""

    impacts: np.ndarray
    all: np.ndarray


def shifts(count):
    """Shifts of the slider [m]; the first is 0."""
    return np.concatenate([[0.0], np.random.default_rng(7).uniform(-SHIFT, SHIFT, count - 1)])


def build(clearance, shift, **options):
    model, joint = crank.build(clearance, **options)
    model["slider"].node.position[0] += shift
    return model, joint


def nonsmooth(clearance, h, count):
    """Forces with impacts, recovered as the source does."""
    found = []
    for shift in shifts(count):
        model, _ = build(clearance, shift)
        law = {"stiffness": crank.stiffness(clearance), "restitution": crank.restitution, "speed_tolerance": 1e-3}
        watch = fem.ForceObserver("wrist", **law)
        stepper = fem.DecoupledNSGA(rho_inf=0.0, rtol=1e-5)
        stepper.run(model, TURNS * crank.turn, h, save_every=1000, observers=[watch], progress=False)
        _, force, impacts = crank.after(watch, FIRST * crank.turn)
        found.append((crank.largest(impacts), float(np.nanmax(force))))
    return Forces(*np.array(found).T)


def compliant(clearance, count):
    """Forces with a contact that yields; those of impacts are not apart from the others."""
    found = []
    for shift in shifts(count):
        model, joint = build(clearance, shift, compliant={"model": "flores"})
        result = fem.DecoupledNSGA(rho_inf=0.8).run(model, TURNS * crank.turn, FINE, save_every=1, progress=False)
        late = result.t >= FIRST * crank.turn
        found.append(max(result[one.name].force_normal[late].max() for one in parts(joint)))
    return Forces(np.full(count, np.nan), np.array(found))


def parts(joint):
    return getattr(joint, "elements", [joint])


def line(name, clearance, values):
    """Row of a table: smallest, quartiles and largest of the forces."""
    text = " ".join(f"{q:.0f}" for q in np.percentile(values, [0, 25, 50, 75, 100]))
    return f"| {name} | {clearance * 1e3:g} mm | {len(values)} | {text} |"


def main():
    print("| | clearance | starts | smallest, quartiles, largest [N] |\n|---|---|---|---|", flush=True)
    for clearance in crank.CLEARANCES:
        for h, count in STEPS.items():
            forces = nonsmooth(clearance, h, count)
            print(line(f"impacts, {h * 1e6:g} µs", clearance, forces.impacts), flush=True)
            print(line(f"all forces, {h * 1e6:g} µs", clearance, forces.all), flush=True)
        print(line("compliant, all forces", clearance, compliant(clearance, FEW).all), flush=True)


if __name__ == "__main__":
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of impacts without an approach speed
        main()
