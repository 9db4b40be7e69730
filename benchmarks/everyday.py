"""Accuracy and cost of the default method on twenty everyday mechanisms, compared with the published scheme and others.

    python benchmarks/everyday.py              the table; takes some minutes
    python benchmarks/everyday.py knee cam     these models

Error: root mean square over the run of the distance of the bodies' centres and axes (times 0.1 m) from those of a
fine run, divided by the largest displacement. It is that of 100 steps per period; the order is that from 100 to 400.
The fine run has 12,800 steps per period and both second-order options (persistent contacts, split impacts). "Fine runs
differ" is its distance from a fine run of the published scheme, whose error is of first order in h.
"""

import sys
import time

import numpy as np
from everyday_models import TASKS

import fem_mbs as fem

STEPS = 100, 200, 400
FINE = 12800
REPEATS = 7
METHODS = {
    "default": lambda: fem.DecoupledNSGA(),
    "published": lambda: fem.DecoupledNSGA.published(),
    "friction": lambda: fem.NonsmoothGeneralizedAlphaFriction(),
    "GGL": lambda: fem.NonsmoothGeneralizedAlphaGGL(),
    "Lobatto 3": lambda: fem.LobattoIIIAB(stages=3),
    "Moreau-Jean": lambda: fem.MoreauJean(),
}


def motion(task, method, steps):
    """Positions and weighted axes (t, k) of the bodies at 100 instants per period, and processor time per step [s]."""
    h = task.period / steps
    count = round(task.duration / task.period * 100)
    system = task.build().compile()
    start = time.process_time()
    result = method.run(system, t_end=count * task.period / 100, h=h, save_every=steps // 100, progress=False)
    spent = (time.process_time() - start) / (count * steps // 100)
    columns = [result[name].position for name in task.bodies]
    columns += [0.1 * result[name].rotation.reshape(len(result.t), 9) for name in task.bodies]
    return np.concatenate(columns, axis=1), spent


def error(obtained, exact):
    """Root mean square of the distance, divided by the largest displacement from the start."""
    size = np.linalg.norm(exact - exact[0], axis=1).max()
    return float(np.sqrt(np.mean(np.sum((obtained - exact) ** 2, axis=1))) / size)


def study(name, methods=METHODS, fine=FINE):
    """Errors (n,) at `STEPS` of each method, None where it does not support the model.

    Also the distance of the fine run from that of the published scheme, and the cost per step relative to it.
    """
    task = TASKS[name]()
    exact, _ = motion(task, fem.DecoupledNSGA(rtol=1e-9, persistent_contacts=True, impacts="split"), fine)
    differ = error(motion(task, fem.DecoupledNSGA.published(rtol=1e-9), fine)[0], exact)
    found = {}
    for label, make in methods.items():
        try:
            runs = [motion(task, make(), steps) for steps in STEPS]
        except fem.FemMbsError as problem:
            print(f"  {label}: {str(problem)[:160]}", file=sys.stderr)
            found[label] = None
        else:
            found[label] = np.array([error(run, exact) for run, _ in runs])
    return found, differ, cost(task)


def cost(task):
    """Processor time per step of the default and of the published scheme, least of runs in turn: all is compiled."""
    pair = METHODS["default"], METHODS["published"]
    spent = [[motion(task, make(), STEPS[-1])[1] for make in pair] for _ in range(REPEATS)]
    return float(np.divide(*np.min(spent, axis=0)))


def order(errors):
    """Order from the first to the last of `STEPS`."""
    return float(np.log(errors[0] / errors[-1]) / np.log(STEPS[-1] / STEPS[0]))


def main(names=()):
    """Print the table of the named models, or of all."""
    print(
        "| model | kind | "
        + " | ".join(f"{label}: error, order" for label in METHODS)
        + " | fine runs differ | cost / published |"
    )
    print("| --- " * (len(METHODS) + 4) + "|")
    costs = []
    for name in names or TASKS:
        found, differ, ratio = study(name)
        cells = ["not supported" if f is None else f"{f[0]:.1e}, {order(f):.1f}" for f in found.values()]
        costs.append(ratio)
        print(
            f"| {name.replace('_', ' ')} | {TASKS[name]().kind} | "
            + " | ".join(cells)
            + f" | {differ:.0e} | {costs[-1]:.2f} |",
            flush=True,
        )
    print(f"\nmedian of the cost: {np.median(costs):.2f}")


if __name__ == "__main__":
    main(sys.argv[1:])
