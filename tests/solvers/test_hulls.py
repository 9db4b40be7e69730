"""Geometry of hulls in contact groups: gaps and normals against other codes, features that count, refusals."""

import itertools

import numpy as np
import pytest
from scipy.spatial.transform import Rotation
from stones import CUBE, distance, polyhedron

import fem_mbs as fem
from fem_mbs.polyhedra import Polyhedron
from fem_mbs.solvers.granular.shaped import _gaps
from fem_mbs.solvers.stepping.engine import Engine

RHO = 0.01
FORMS = {
    "tetrahedron": polyhedron(4, 0, (0.3, 0.3, 0.3)),
    "stone": polyhedron(30, 1, (0.3, 0.25, 0.2)),
    "cube": 0.4 * CUBE,
    "prism": np.array([[r * np.cos(a), r * np.sin(a), z] for a in np.arange(6) * np.pi / 3 for z in (-0.2, 0.2)
                       for r in (0.2,)]),
}  # fmt: skip
BOX, CAPSULE, SPHERE = np.array([0.11, 0.07, 0.16]), 0.15, 0.08
KINDS = [*FORMS, "box", "capsule", "sphere"]


def put(group, kind, frame):
    """Put a shape on a frame; corners of its core (n, 3), axes of the frame, and its radius."""
    if kind == "box":
        group.box(frame, 2 * (BOX + RHO), RHO)
        return 2 * BOX * CUBE, RHO
    if kind == "capsule":
        group.capsule(frame, 0.05, 2 * CAPSULE)
        return np.array([[0, 0, -CAPSULE], [0, 0, CAPSULE]]), 0.05
    if kind == "sphere":
        group.sphere(frame, SPHERE)
        return np.zeros((1, 3)), SPHERE
    group.hull(frame, FORMS[kind], RHO)
    return Polyhedron(FORMS[kind]).core_points(RHO), RHO


def two(first, second, places, turns):
    """A model of two bodies with a shape each; their cores (n, 3) in place, and the sum of their radii."""
    model, group, cores, radii = fem.Model("two"), fem.ContactGroup(skin=1.0, name="group"), [], 0.0
    for k, (kind, place, turn) in enumerate(zip((first, second), places, turns)):
        body = model.add(fem.RigidBody(1.0, 0.1, position=place, rotation=turn, name=f"{kind} of {k}"))
        core, radius = put(group, kind, body)
        cores.append(place + core @ turn.T)
        radii += radius
    model.add(group)
    return model, cores, radii


def listed(model):
    """Gaps of all listed pairs of features, infinite where they do not count, and which are edges."""
    grains = Engine(fem.ConeComplementarity(), model.compile(), 1e-3, 1, False).grains
    state, count = grains.engine.system.initial, int(grains.record[0]["near_count"])
    gap = np.zeros(count)
    _gaps(grains.record, state.x, state.R, np.arange(count), gap)
    return gap, grains.arrays["near"][:count, 2] > 0


@pytest.mark.parametrize(
    ("first", "second"), [pair for pair in itertools.combinations_with_replacement(KINDS, 2) if set(pair) & set(FORMS)]
)
def test_the_least_gap_of_the_features_that_count_is_the_distance_of_the_shapes(first, second):
    rng, crossed, compared = np.random.default_rng(3), 0, 0
    while compared < 40:
        turns = [Rotation.random(random_state=rng).as_matrix() for _ in range(2)]
        apart = rng.standard_normal(3)
        places = [np.zeros(3), rng.uniform(0.2, 0.8) * apart / np.linalg.norm(apart)]
        model, cores, radii = two(first, second, places, turns)
        expected = distance(*cores) - radii
        if expected < 1e-3:
            continue
        gaps, edges = listed(model)
        assert gaps.min() == pytest.approx(expected, abs=1e-12)
        compared, crossed = compared + 1, crossed + bool(edges[np.argmin(gaps)])
    assert "sphere" in (first, second) or crossed > 3  # edges matter
