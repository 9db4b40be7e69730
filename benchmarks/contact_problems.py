"""What each method does to frictional contact problems of many kinds, how long it takes, and how often the hybrid wins.

    python benchmarks/contact_problems.py                    up to 300 contacts, every method and the hybrid
    python benchmarks/contact_problems.py --large            300 to 2,000 contacts, the hybrid
    python benchmarks/contact_problems.py --methods hybrid --seed 0 1 2
    python benchmarks/contact_problems.py --methods hybrid --set large --family spheres --limit 60

The families are in contact_families.py. Solved means a scale-free natural-map error of 1e-8; 1e-6 and 1e-4 count the
iterates left. One thread; processor times include every factorisation, not the scaling. Single methods are stopped
after ``--budget`` seconds a problem, the hybrid after ``--limit``. The first problems of a run are solved twice, so
that compilation does not count."""

# ruff: noqa: E402

import os

for _name in ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "OMP_NUM_THREADS"):
    os.environ.setdefault(_name, "1")  # two threads on a small dense factorisation cost more than they bring

import argparse
import time

import contact_families as families
import numpy as np

from fem_mbs.solvers.contact_problem.problem import solve_contact_problem

TOL = 1e-8 * (1 + 1e-6)  # round-off between the units of the problem and the scaled ones

METHODS = {
    "Gauss-Seidel": ("gauss_seidel", {"iterations": 10**6}),
    "ADMM": ("admm", {"iterations": 10**6}),
    "APGD, De Saxcé outside": ("apgd", {"iterations": 10**6}),
    "Newton, Alart-Curnier": ("newton", {}),
    "Newton, natural map": ("newton", {"map": "natural"}),
    "Newton, Fischer-Burmeister": ("newton", {"map": "fischer_burmeister", "patience": 20}),
    "interior point, De Saxcé inside": ("interior_point", {}),
    "interior point, Cadoux outside": ("cadoux", {}),
    "path of smoothed problems": ("path", {}),
    "hybrid": ("hybrid", {}),
}
WARM_UP = 3  # problems of each family that are solved once before, for compilation


def small(seed):
    """1 to 150 contacts."""
    f = families
    yield "stack", f.stack(1)
    for n, kick in ((5, 0.0), (5, 1.0), (10, 0.0), (10, 0.3), (20, 1.0)):
        yield "stack", f.stack(n, seed, kick)
    for n, top in ((3, True), (6, True), (6, False), (10, True), (10, False)):
        yield "mass ratio 1e4", f.stack(n, seed, 0.0, ratio=1e4, heavy_top=top)
        yield "mass ratio 1e4", f.stack(n, seed, 0.1, ratio=1e4, heavy_top=top)
    for stones, friction, ratio in ((7, 0.6, 1), (7, 1.0, 1), (15, 0.6, 1), (7, 0.6, 1e3), (15, 1.0, 1e3)):
        yield "arch", f.arch(stones, friction, ratio, seed)
    for size, kick in ((2, 0.0), (2, 1.0), (4, 0.0), (4, 0.3)):
        yield "wall", f.wall(size, size, seed, kick)
    for side, speed, spread in ((2, 0, 1), (2, 1, 1), (3, 0, 1), (3, 0.5, 1), (3, 0, 1e4), (3, 0.3, 1e4)):
        yield "spheres in a box", f.pile(side, side, seed, speed, 0.5, spread)
    for feet, slide, spin, load in (
        (2, 0, 0, 0),
        (6, 0, 0, 0),
        (6, 1, 0, 0),
        (6, 0.5, 2, 0),
        (6, 0, 0, 1e4),
        (11, 0, 0, 10),
    ):
        yield "table on many feet", f.table(feet, slide, spin, load)
    for parts, push in ((1, 50), (3, 50), (6, 500)):
        yield "wedge", f.wedge(parts, push=push)
    for n, rank, friction in ((1, None, 1), (10, None, 1), (40, None, 2), (20, 20, 1), (40, 50, 2)):
        yield "random dense", f.random_dense(n, seed, rank, friction)
    for n, slip in ((2, 0.5), (8, 0.5), (30, 1.0)):
        yield "leaning rods", f.rods(n, slip=slip)
    for n, speed in ((2, 1.0), (6, 1.0), (12, 0.3)):
        yield "sliding slabs", f.slabs(n, speed=speed, seed=seed)


def medium(seed):
    """100 to 300 contacts."""
    f = families
    for n, kick in ((40, 0.0), (40, 0.3), (70, 1.0)):
        yield "stack", f.stack(n, seed, kick)
    for top in (True, False):
        yield "mass ratio 1e4", f.stack(40, seed, 0.0, ratio=1e4, heavy_top=top)
        yield "mass ratio 1e4", f.stack(40, seed, 0.1, ratio=1e4, heavy_top=top)
    for friction, ratio in ((0.6, 1), (1.0, 1), (1.0, 1e3)):
        yield "arch", f.arch(60, friction, ratio, seed)
    for kick in (0.0, 0.3, 1.0):
        yield "wall", f.wall(6, 6, seed, kick)
    for speed, spread in ((0, 1), (0.3, 1), (1.0, 1), (0, 1e4), (0.3, 1e4)):
        yield "spheres in a box", f.pile(4, 4, seed, speed, 0.5, spread)
    for slide, spin, load in ((0, 0, 0), (1, 0, 0), (0.5, 2, 0), (0, 0, 1e4)):
        yield "table on many feet", f.table(16, slide, spin, load)
    yield "wedge", f.wedge(20, push=500)
    for rank in (None, 200):
        yield "random dense", f.random_dense(150, seed, rank, 2.0)
    yield "leaning rods", f.rods(120, slip=1.0)
    yield "sliding slabs", f.slabs(40, speed=0.3, seed=seed)


def large(seed):
    """300 to 2,000 contacts."""
    f = families
    for n, kick in ((120, 0.0), (120, 0.3), (300, 0.3)):
        yield "stack", f.stack(n, seed, kick)
    yield "mass ratio 1e4", f.stack(120, seed, 0.1, ratio=1e4)
    for stones, ratio in ((150, 1), (150, 1e3), (300, 1)):
        yield "arch", f.arch(stones, 0.8, ratio, seed)
    for size, kick in ((10, 0.0), (10, 0.3), (14, 0.0)):
        yield "wall", f.wall(size, size, seed, kick)
    for side, speed, spread in ((6, 0, 1), (7, 0, 1), (7, 0, 1e4), (5, 0.3, 1), (6, 1.0, 1), (7, 0.3, 1)):
        yield "spheres in a box", f.pile(side, side, seed, speed, 0.5, spread)
    for slide, load in ((0, 0), (0.5, 0), (0, 1e4)):
        yield "table on many feet", f.table(32, slide, 2 * slide, load)
    yield "wedge", f.wedge(60, push=5000)
    yield "random dense", f.random_dense(500, seed, 600, 2.0)
    yield "leaning rods", f.rods(500, slip=1.0)
    yield "sliding slabs", f.slabs(120, speed=0.1, seed=seed)


SETS = {"small": small, "medium": medium, "large": large}


def with_scaled(problems):
    """Every problem, and of those of bodies every third in other units and every fourth with an unsymmetric W."""
    for k, (family, problem) in enumerate(problems):
        yield family, problem
        if k % 3 == 0:
            factor, spread = ((1e6, 1.0), (1e-6, 1.0), (1e-3, 1e6))[k // 3 % 3]
            yield "W times 1e±6, other units", families.rescaled(problem, factor, spread, k)
        if k % 4 == 0 and problem.bodies is not None and problem.n_contacts <= 300:
            yield "unsymmetric W", families.unsymmetric(problem, 0.05, k)


def run(problems, methods, limit, budget):
    """Rows (method, family, contacts, error, seconds, iterations, method that finished) of all runs."""
    rows, seen = [], {}
    for family, problem in problems:
        _ = problem.scaled.operator  # scaling is common to all
        seen[family] = seen.get(family, 0) + 1
        for method in methods:
            name, options = METHODS[method]
            allowed = limit if method == "hybrid" else budget
            if seen[family] <= WARM_UP and problem.n_contacts <= 300:
                solve_contact_problem(problem, name, 1e-8, time_limit=min(allowed, 1.0), **options)
            start = time.process_time()
            solution = solve_contact_problem(problem, name, 1e-8, time_limit=allowed, **options)
            seconds = time.process_time() - start
            rows.append(
                (method, family, problem.n_contacts, solution.error, seconds, solution.iterations, solution.method)
            )
            if method == "hybrid" and not (solution.error <= TOL):
                print(f"  not solved: {problem.name}: error {solution.error:.1e} after {seconds:.1f} s", flush=True)
    return rows


def table_of_families_and_methods(rows, methods):
    """Per family and method: solved / of, median and total processor time; a table in Markdown."""
    print("\nsolved / of, median time of one [ms], time of all [s]:\n")
    print("| family | contacts | " + " | ".join(methods) + " |")
    print("|---" * (len(methods) + 2) + "|")
    families_of = sorted({row[1] for row in rows})
    for family in [*families_of, "all"]:
        mine = [row for row in rows if family in (row[1], "all")]
        contacts = [row[2] for row in mine]
        cells = [family, f"{min(contacts)}…{max(contacts)}"]
        for method in methods:
            of = [row for row in mine if row[0] == method]
            seconds = [row[4] for row in of]
            solved = sum(row[3] <= TOL for row in of)
            cells.append(f"{solved}/{len(of)}, {1e3 * np.median(seconds):.1f}, {sum(seconds):.2f}")
        print("| " + " | ".join(cells) + " |")


def table_of_methods(rows, methods):
    """Solved to 1e-8, 1e-6 and 1e-4, median iterations and total time of each method."""
    count = len([row for row in rows if row[0] == methods[0]])
    print(f"\n{'method':34s} 1e-8  1e-6  1e-4   of   median iterations   median ms   total s")
    for method in methods:
        mine = [row for row in rows if row[0] == method]
        error, seconds, iterations = (np.array([row[k] for row in mine]) for k in (3, 4, 5))
        solved = [int((error <= limit).sum()) for limit in (TOL, 1e-6, 1e-4)]
        middle = np.median(iterations[error <= TOL]) if solved[0] else np.nan
        print(f"{method:34s} {solved[0]:4d}  {solved[1]:4d}  {solved[2]:4d}  {count:3d}  {middle:18.0f}"
              f"  {1e3 * np.median(seconds):10.1f}  {seconds.sum():8.1f}")  # fmt: skip


def table_of_families(rows):
    """Successes of the hybrid by family, and the stages that finished."""
    hybrid = [row for row in rows if row[0] == "hybrid"]
    print(f"\n{'hybrid':34s} solved   contacts     median s   longest s   worst error")
    for family in sorted({row[1] for row in hybrid}):
        mine = [row for row in hybrid if row[1] == family]
        seconds, contacts = [row[4] for row in mine], [row[2] for row in mine]
        solved, worst = sum(row[3] <= TOL for row in mine), max(row[3] for row in mine)
        print(f"{family:34s} {solved:3d}/{len(mine):<3d}  {min(contacts):4d}-{max(contacts):<5d}"
              f" {np.median(seconds):10.3f}  {max(seconds):10.2f}   {worst:11.1e}")  # fmt: skip
    for size, name in ((300, "up to 300 contacts"), (np.inf, "all")):
        mine = [row for row in hybrid if row[2] <= size]
        if not mine:
            continue
        solved = sum(row[3] <= TOL for row in mine)
        print(f"{name:34s} {solved:3d}/{len(mine):<3d}  worst error {max(row[3] for row in mine):.1e}")
    stages = [row[6].removeprefix("hybrid: ") for row in hybrid]
    counts = sorted(((stages.count(stage), stage) for stage in set(stages)), reverse=True)
    print("finished by: " + ", ".join(f"{stage} {count}" for count, stage in counts))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--set", nargs="+", choices=list(SETS), default=["small", "medium"])
    parser.add_argument("--large", action="store_true", help="the same as --set large")
    parser.add_argument("--methods", nargs="+", help="parts of their names; by default all, for 'large' the hybrid")
    parser.add_argument("--family", default="", help="only families whose name contains this")
    parser.add_argument("--limit", type=float, default=60.0, help="seconds per problem of the hybrid")
    parser.add_argument("--budget", type=float, default=1.0, help="seconds per problem of each single method")
    parser.add_argument("--seed", "--seeds", type=int, nargs="+", default=[0])
    options = parser.parse_args()
    sets = ["large"] if options.large else options.set
    wanted = options.methods or (["hybrid"] if "large" in sets else list(METHODS))
    methods = [name for name in METHODS if any(part.lower() in name.lower() for part in wanted)]
    rows = []
    for name in sets:
        for seed in options.seed:
            problems = (p for p in with_scaled(SETS[name](seed)) if options.family in p[0])
            rows += run(problems, methods, options.limit, options.budget)
    if not rows:
        parser.error("no problem or no method of that name")
    table_of_families_and_methods(rows, methods)
    table_of_methods(rows, methods)
    if "hybrid" in methods:
        table_of_families(rows)


if __name__ == "__main__":
    main()
