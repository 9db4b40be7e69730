"""What options of joints cost that do nothing: a chain of ten hinges, with and without, in turn in one process.

    python benchmarks/idle_options.py

Stops are out of reach, friction is too weak to matter but slides in every step. Processor time of a step, the least of
all rounds: what else the machine does only adds to it.
"""

from measuring import Run

import fem_mbs as fem

LINKS, LENGTH, H = 10, 0.1, 2e-4
STEPS, ROUNDS = 400, 8
# stops, friction in so many hinges, coefficient
CASES = {
    "none": (0, 0, 0.0), "stops in one": (1, 0, 0.0), "stops in all": (LINKS, 0, 0.0),
    "friction in one": (0, 1, 1e-3), "friction in all": (0, LINKS, 1e-3), "without bound in all": (0, LINKS, 0.0),
    "stops and friction in all": (LINKS, LINKS, 1e-3),
}  # fmt: skip


def chain(stops, frictions, coefficient):
    """Links that fall from the horizontal."""
    model = fem.Model("chain", gravity=[0, 0, -9.81])
    last = model.ground
    for i in range(LINKS):
        link = fem.RigidBody.box(0.3, [LENGTH, 0.02, 0.02], position=[(i + 0.5) * LENGTH, 0, 0], name=f"link {i}")
        model.add(link)
        options = {"stops": fem.Stops(-30.0, 30.0, restitution=0.5)} if i < stops else {}
        if i < frictions:
            options["friction"] = fem.DryFriction(coefficient, radius=1e-3)
        model.add(fem.Revolute.at(last, link, [i * LENGTH, 0, 0], [0, 1, 0], name=f"hinge {i}", **options))
        last = link
    return model


def main():
    runs = {name: Run(fem.DecoupledNSGA(), chain(*case).compile(), H) for name, case in CASES.items()}
    best = {name: run.go(50) for name, run in runs.items()}
    for _ in range(ROUNDS):
        for name, run in runs.items():
            best[name] = min(best[name], run.go(STEPS) / STEPS)
    for name, seconds in best.items():
        print(f"{name:26s} {1e6 * seconds:6.1f} µs   {seconds / best['none']:.2f}")


if __name__ == "__main__":
    main()
