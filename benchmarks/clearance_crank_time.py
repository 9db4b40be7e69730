"""Two turns of the flexible slider-crank with clearance (annex C.6.4) in steps of 1 µs, warm.

    python benchmarks/clearance_crank_time.py

Wall and processor time of 24 000 steps with force recovery during the run, with every state saved for recovery
afterwards, and with one in twenty saved and no recovery. Published: 200 s on a laptop, step not stated."""

import sys
import time
from pathlib import Path

import fem_mbs as fem

sys.path.insert(0, str(Path(__file__).parents[1] / "examples"))
import clearance_crank as example

h, clearance = 1e-6, 1e-4
stepper = fem.DecoupledNSGA(rho_inf=0.0, rtol=1e-5)


def timed(save_every, observed):
    """Wall and processor seconds of two turns, compiled before."""
    system = example.build(clearance)[0].compile()
    options = {"stiffness": example.stiffness(clearance), "restitution": example.restitution, "speed_tolerance": 1e-3}
    observers = [fem.ForceObserver("wrist", **options)] if observed else []
    stepper.run(system, t_end=100 * h, h=h, progress=False)
    wall, processor = time.perf_counter(), time.process_time()
    stepper.run(system, t_end=2 * example.turn, h=h, save_every=save_every, observers=observers, progress=False)
    return time.perf_counter() - wall, time.process_time() - processor


def main():
    print(f"{'two turns, 24 000 steps':<34} {'wall [s]':>9} {'processor [s]':>14} {'200 s over wall':>16}")
    for name, save_every, observed in (
        ("recovery during the run", 20, True), ("every state saved", 1, False), ("one state in twenty", 20, False),
    ):  # fmt: skip
        wall, processor = timed(save_every, observed)
        print(f"{name:<34} {wall:>9.1f} {processor:>14.1f} {200 / wall:>16.1f}")


if __name__ == "__main__":
    main()
