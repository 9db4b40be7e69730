"""Newton iterations above the printed ones, over the accuracy to which gaps and constraints are solved.

    python benchmarks/accuracy_of_gaps.py     prints the tables of docs/published_benchmarks.md; takes two minutes

Here they are solved to 3e-13 of sizes and speeds, whatever the tolerance of the forces, which costs iterations. The
sources have one tolerance for all rows. The accuracy is no option: this script sets it inside.
"""

from contextlib import contextmanager
from functools import partial
from unittest.mock import patch

from fem_mbs.cases import iterations
from fem_mbs.solvers.stepping import numbers

ACCURACIES = (numbers.EXACT, 1e-8, 1e-6)


@contextmanager
def accuracy(value):
    """Solve gaps and constraints to this part of sizes and speeds."""
    with patch.object(numbers, "EXACT", value):
        yield


def above(name):
    """Sub-problems of an example of Sanchez2025 with more than the printed largest number: (name, here, printed)."""
    run, printed, _ = iterations.EXAMPLES[name]
    found = run().iterations.max
    return [(part, n, p) for part, n, p in zip(iterations.PARTS, found, printed) if n > p]


def of_one_problem(name, rtol=None):
    """Largest and mean number of an example of Capobianco2021; rtol: tolerance of the forces."""
    scheme = iterations.coupled if rtol is None else partial(iterations.coupled, rtol=rtol)
    with patch.object(iterations, "coupled", scheme):
        found = iterations.SYSTEMS[name][0]().iterations
    return found.max[0], found.mean[0]


def main():
    print("| Sanchez2025 | " + " | ".join(f"gaps to {a:g}" for a in ACCURACIES) + " |\n" + "|---" * 4 + "|")
    for name in iterations.EXAMPLES:
        cells = []
        for value in ACCURACIES:
            with accuracy(value):
                cells.append(", ".join(f"{part} {n} for {p}" for part, n, p in above(name)))
        if any(cells):
            print(f"| {name} | " + " | ".join(cells) + " |", flush=True)
    print("\n| Capobianco2021 | printed | gaps to 3e-13 | to 1e-6 | to 1e-6, forces to 1e-4 |\n" + "|---" * 5 + "|")
    for name, (_, largest, mean) in iterations.SYSTEMS.items():
        cells = []
        for value, rtol in ((numbers.EXACT, None), (1e-6, None), (1e-6, 1e-4)):
            with accuracy(value):
                cells.append("{:.0f}; {:.2f}".format(*of_one_problem(name, rtol)))
        print(f"| {name} | {largest}; {mean} | " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()
