"""A lattice of spheres that touch, as arrays, and kernels that sweep over it."""

import numpy as np

from fem_mbs.jit import kernel
from fem_mbs.solvers.granular import lanes, momentum, sweeps
from fem_mbs.solvers.granular.data import LANES, TABLE


@kernel
def size_of(record):
    return sweeps.size_of_problem(record[0])


@kernel
def error_of(record):
    return sweeps.error_of(record[0])


@kernel
def begin(record):
    lanes.begin(record[0])
    lanes.look(record[0])


@kernel
def look(record):
    lanes.look(record[0])


@kernel
def sweep(record, beta):
    return lanes.sweep(record[0], beta)


@kernel
def one_sweep(record):
    p = record[0]
    lanes.begin(p)
    lanes.look(p)
    lanes.sweep(p, 0.0)
    lanes.put_back(p)


@kernel
def begin_lag(record):
    p = record[0]
    lanes.begin(p)
    lanes.look(p)
    lanes.begin_lag(p)


@kernel
def solve(record, q_square):
    return momentum.solve(record[0], q_square)


def lattice(k, kind, mu=0.3):
    """Touching unit spheres in a cube k³ on a floor between four walls; arrays and record of `granular.data`."""
    n, pairs = k**3, []
    for i in range(n):
        x, y, z = i % k, (i // k) % k, i // k**2
        walls = [(z == 0, (0, 0, 1)), (x == 0, (1, 0, 0)), (x == k - 1, (-1, 0, 0))]
        walls += [(y == 0, (0, 1, 0)), (y == k - 1, (0, -1, 0))]
        pairs += [(i, -1 - w, normal) for w, (there, normal) in enumerate(walls) if there]
        above = [(x < k - 1, 1, (-1, 0, 0)), (y < k - 1, k, (0, -1, 0)), (z < k - 1, k * k, (0, 0, -1))]
        pairs += [(i, i + step, normal) for there, step, normal in above if there]
    sizes = {
        "ns": n,
        "ng": n + 1,
        "np": len(pairs),
        "nq": LANES * (len(pairs) // LANES + 1),
        "nu": len(pairs) // LANES + 1,
        "nm": 0,
        "no": 5,
        "ne": 0,
        "nl": 1,
        "nodes": n,
        "nb": 0,
        "nk": 0,
        "nv": n + 1,
        **dict.fromkeys(("nx", "nt", "nh", "nr", "nf", "nc", "ny", "nz", "nw", "nj", "kr", "ks", "nd"), 0),
    }
    a, record = TABLE.arrays(sizes), np.zeros(1, TABLE.dtype)
    TABLE.aim(record, a)
    a["first"][:], a["second"][:], a["pairs"]["normal"] = map(list, zip(*pairs))
    a["mu"][:], a["radius"][:] = mu, 1.0
    particles = a["particles"][:n]
    particles["inverse_mass"], particles["inverse_inertia"] = 1.0, 2.5
    if kind == "impact":
        rng = np.random.default_rng(7)
        particles["velocity"], particles["surface_velocity"] = rng.standard_normal((2, n, 3))
    else:
        particles["velocity"] = 0.2, 0.0, -1.0
    for name, value in {"count": len(pairs), "most": 5000, "cap": 0.85, "tolerance": 1e-3}.items():
        record[0][name] = value
    return a, record


def kinetic(a):
    g = a["particles"]
    return 0.5 * ((g["velocity"] ** 2).sum() + 0.4 * (g["surface_velocity"] ** 2).sum())


def in_groups(record, a):
    """Put pairs into groups, and say which pairs each has."""
    record[0]["ordered"] = 1
    a["order"][:] = np.random.default_rng(1).permutation(len(a["order"]))
    begin(record)
    ends = a["group"][: record[0]["groups"]]
    return [a["chosen"][k:end] for k, end in zip([0, *ends], ends)]
