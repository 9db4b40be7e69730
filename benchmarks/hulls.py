"""Time of a pair of hulls, compared with coal (Pinocchio's fork of FCL): `python benchmarks/hulls.py`, needs coal.

Pairs of polyhedra with points on a sphere, at random poses, gaps up to a tenth of their size. What is timed: coal's
distance, and its contact patch, one pair at a time from Python; all features of all pairs by the kernel of a step, and
the search that lists them. Medians of interleaved runs, in microseconds per pair of shapes.
"""

import argparse
import time

import numpy as np
from scipy.spatial import ConvexHull
from scipy.spatial.transform import Rotation

import fem_mbs as fem
from fem_mbs.jit import kernel
from fem_mbs.solvers.granular.shapes import features
from fem_mbs.solvers.stepping.engine import Engine

SIZE, ROUNDING, APART = 0.1, 2e-3, 10.0  # m


@kernel
def evaluate(grains, x, R, V, h):
    """Features of all listed pairs, as in a step."""
    features.evaluate(grains[0], x, R, V, h, 1e-3)


@kernel
def search(grains, x, R, V, h):
    """The list of pairs of features."""
    features.find(grains[0], x, R, V, h)


def forms(corners, seed):
    """Points (corners, 3) on a sphere, and a pose of a second one near the first."""
    rng = np.random.default_rng(seed)
    points = rng.standard_normal((corners, 3))
    turn, along = Rotation.random(random_state=rng).as_matrix(), rng.standard_normal(3)
    along *= (2.0 + 0.1 * rng.uniform()) * SIZE / np.linalg.norm(along)
    return SIZE * points / np.linalg.norm(points, axis=1)[:, None], turn, along


def ours(corners, count):
    """Engine of ``count`` pairs that are far from each other."""
    model, group = fem.Model("pairs"), fem.ContactGroup(skin=0.2 * SIZE, name="pairs")
    for k in range(count):
        points, turn, along = forms(corners, k)
        for place, rotation in ((np.zeros(3), np.eye(3)), (along, turn)):
            body = model.add(fem.RigidBody(1.0, 0.1, position=place + [APART * SIZE * k, 0, 0], rotation=rotation))
            group.hull(body, points, ROUNDING)
    model.add(group)
    return Engine(fem.ConeComplementarity(), model.compile(), 1e-3, 1, False)


def theirs(corners, count):
    """Geometries and poses of the same pairs in coal."""
    import coal

    pairs = []
    for k in range(count):
        points, turn, along = forms(corners, k)
        vertices, triangles = coal.StdVec_Vec3s(), coal.StdVec_Triangle()
        vertices.extend(list(points))
        hull = ConvexHull(points)
        for (i, j, m), plane in zip(hull.simplices, hull.equations):
            out = np.cross(points[j] - points[i], points[m] - points[i]) @ plane[:3] > 0.0
            triangles.append(coal.Triangle(int(i), int(j if out else m), int(m if out else j)))
        shape = coal.Convex(vertices, triangles)
        pairs.append((shape, coal.Transform3s(), coal.Transform3s(turn, along)))
    return coal, pairs


def clock(call):
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def calls_of(corners, count):
    """What is timed, by name, and the record of our group."""
    engine, (coal, pairs) = ours(corners, count), theirs(corners, count)
    state, grains = engine.system.initial, engine.grains
    distance, request, patch = coal.DistanceRequest(), coal.CollisionRequest(), coal.ContactPatchRequest()
    request.security_margin = 0.2 * SIZE

    def distances():
        for shape, first, second in pairs:
            coal.distance(shape, first, shape, second, distance, coal.DistanceResult())

    def patches():
        for shape, first, second in pairs:
            found = coal.CollisionResult()
            coal.collide(shape, first, shape, second, request, found)
            coal.computeContactPatch(shape, first, shape, second, found, patch, coal.ContactPatchResult())

    arguments = grains.record, state.x, state.R, state.V, 1e-3
    calls = {
        "coal: distance": distances,
        "coal: contact patch": patches,
        "features of a step": lambda: evaluate(*arguments),
        "search": lambda: search(*arguments),
    }
    return calls, engine


def main(count=200, repeats=15):
    for corners in (8, 30, 100):
        calls, engine = calls_of(corners, count)
        taken = {name: [] for name in calls}
        for _ in range(repeats):
            for name, call in calls.items():
                taken[name].append(clock(call) / count * 1e6)
        record = engine.grains.record[0]
        text = ", ".join(f"{name} {np.median(times):.1f} µs" for name, times in taken.items())
        features_of = (
            f"{record['near_count'] / count:.1f} pairs of features listed, {record['count'] / count:.1f} count"
        )
        print(f"{corners} corners: {text}; {features_of}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=200, help="pairs")
    main(parser.parse_args().count)
