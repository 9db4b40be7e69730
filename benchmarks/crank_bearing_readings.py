"""Largest ball forces of Sanchez2025, 4.5, crank with a ball bearing, for one reading of its data after the other.

    python benchmarks/crank_bearing_readings.py [name …]     prints the table of docs/crank_with_bearing.md

All rows: 0.6 s, steps of 0.1 ms, rho_inf = 0 and relative tolerance 1e-5, as printed, but for what a row says. The
motion is chaotic: each row has several starts, whose balls are shifted by up to 1e-6 rad. Forces are recovered
from impulses as the source does it, with 0.9 of restitution, without those of the first 10 ms.
"""

import sys
import time
import warnings
from dataclasses import replace

import numpy as np

import fem_mbs as fem
from fem_mbs.cases.crank_bearing.model import Forces, Reading

STARTS, SHIFT = 3, 1e-6  # -, rad
BEAMS = {"flexible": True}
DEFAULT = {"scheme": fem.DecoupledNSGA}
COMMON = {  # name: fields of the reading, settings of the run
    "as assumed": ({}, {}),
    "line between two balls": ({"angle": np.pi / 8}, {}),
    "races exchanged": ({"inner_on_crank": False}, {}),
    "gravity": ({"gravity": 9.8}, {}),
    "driven link alone moves": ({"start": "driven"}, {}),
    "speed rises in 20 ms": ({"start": "ramp"}, {}),
    "clearance 0.2 mm": ({"radius_outer": 44.945e-3}, {}),
    "no friction": ({"friction": 0.0}, {}),
    "cage without damping": ({"cage_damping": 0.0}, {}),
    "races of 0.8 kg": ({"race_mass": 100.0}, {}),
    "rho_inf = 0.8": ({}, {"rho_inf": 0.8}),
    "steps of 0.02 ms": ({}, {"h": 2e-5}),
    "steps of 0.01 ms": ({}, {"h": 1e-5}),
    "default scheme": ({}, DEFAULT),
    "compliant": ({"compliant": True}, {}),
}
OF_BEAMS = {
    "damping 0.04 %": ({"damping": 4e-4}, {}),
    "damping 1 %": ({"damping": 0.01}, {}),
    "damping 5 %": ({"damping": 0.05}, {}),
    "two nodes per beam": ({"poses": 2}, {}),
    "two nodes, lumped mass": ({"poses": 2, "inertia": "lumped"}, {}),
    "eight beams per link": ({"beams": 8}, {}),
    "coupler of 4 kg": ({"coupler_mass": 4.0}, {}),
    "coupler alone flexible": ({"parts": ("coupler",)}, {}),
    "driven link alone flexible": ({"parts": ("crank",)}, {}),
    "default scheme, damping 5 %": ({"damping": 0.05}, DEFAULT),
    "two nodes, lumped mass, damping 0.04 %": ({"poses": 2, "inertia": "lumped", "damping": 4e-4}, {}),
    "two nodes, lumped mass, damping 5 %": ({"poses": 2, "inertia": "lumped", "damping": 0.05}, {}),
    "steps of 0.02 ms, damping 5 %": ({"damping": 0.05}, {"h": 2e-5}),
    "compliant, damping 5 %": ({"damping": 0.05, "compliant": True}, {}),
}
READINGS = {f"rigid: {name}": row for name, row in COMMON.items()} | {
    f"flexible: {name}": ({**BEAMS, **fields}, run) for name, (fields, run) in (COMMON | OF_BEAMS).items()
}


def run(reading, h=1e-4, rho_inf=0.0, scheme=fem.DecoupledNSGA.published, t_end=0.6):
    """Forces of one start."""
    model, bearing = reading.build()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of energy that impacts of the published scheme give
        result = scheme(rho_inf, rtol=1e-5).run(model, t_end=t_end, h=h, progress=False)
    return Forces.of(result, bearing)


def resolve(reading, tolerance=1e-7, t_end=0.6):
    """Forces of one start of the model whose balls and races yield, in steps that follow the impacts."""
    model, bearing = reading.build()
    control = fem.StepControl(tolerance=tolerance, h_max=1e-4)
    result = fem.DecoupledNSGA(rho_inf=0.8, step_control=control).run(model, t_end, h=1e-6, progress=False)
    return Forces.resolved(result, bearing)


def row(name, starts=STARTS, **more):
    """Line of the table: starts that ended, largest force of each start, forces of single balls, parts."""
    fields, options = READINGS[name]
    found, failed = [], 0
    for shift in np.append(0.0, np.random.default_rng(7).uniform(-SHIFT, SHIFT, starts - 1)):
        reading = Reading(**fields)
        try:
            method = resolve if reading.compliant else run
            found.append(method(replace(reading, angle=reading.angle + shift), **options, **more))
        except fem.FemMbsError:
            failed += 1
    if not found:
        return f"| {name} | {failed} runs fail |"
    later = np.array([one.later for one in found])
    largest, balls = np.sort(later.max(axis=1)), np.percentile(later, [10, 50, 90])
    parts = [
        np.median([getattr(one, part).max() for one in found]) for part in ("start", "impact", "continuous", "mean")
    ]
    joint = np.median([one.joint for one in found])
    columns = [largest, balls, *([part] for part in parts), [joint]]
    text = " | ".join(" ".join(f"{value / 1e3:.1f}" for value in column) for column in columns)
    return f"| {name} | {text} |" + (f" {failed} runs fail" if failed else "")


def main(names):
    print("| reading | largest [kN] | 10, 50, 90 % of balls | first 10 ms | impacts | closed | impulse/h | rms joint |")
    for name in names or READINGS:
        start = time.perf_counter()
        print(row(name), f"{time.perf_counter() - start:.0f} s", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
