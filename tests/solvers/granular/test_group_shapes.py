"""Geometry of convex shapes in contact groups: gaps against a quadratic program, refusals, inertia, drawings."""

import itertools

import numpy as np
import pytest
from scipy.optimize import lsq_linear
from scipy.spatial.transform import Rotation

import fem_mbs as fem
from fem_mbs.shapes import Capsule
from fem_mbs.solvers.granular.shapes.shaped import _gaps
from fem_mbs.solvers.stepping.engine import Engine

SIZES = {"sphere": np.zeros(3), "capsule": np.array([0, 0, 0.15]), "box": np.array([0.11, 0.07, 0.16])}
RADII = {"sphere": 0.08, "capsule": 0.05, "box": 0.01}
KINDS = list(itertools.combinations_with_replacement(SIZES, 2))


def put(group, kind, frame):
    """Put a shape with a core of half edge lengths ``SIZES`` on a frame."""
    half, radius = SIZES[kind], RADII[kind]
    if kind == "sphere":
        group.sphere(frame, radius)
    elif kind == "capsule":
        group.capsule(frame, radius, 2 * half[2])
    else:
        group.box(frame, 2 * (half + radius), radius)


def two(first, second, places, turns):
    """Two bodies with a shape each at poses."""
    model = fem.Model("two")
    group = fem.ContactGroup(skin=1.0, name="group")
    for k, (kind, place, turn) in enumerate(zip((first, second), places, turns)):
        put(group, kind, model.add(fem.RigidBody(1.0, 0.1, position=place, rotation=turn, name=f"{kind} of {k}")))
    if first == second == "sphere":  # groups of nothing else have pairs of their own
        put(group, "capsule", model.add(fem.RigidBody(1.0, 0.1, position=[10.0, 0, 0])))
    model.add(group)
    return model


def distance(first, second):
    """Distance of two cores (centre, axes, half edge lengths), by a quadratic program with bounds."""
    sides = [(R[:, h > 0], h[h > 0]) for _, R, h in (first, second)]
    A, bound = np.hstack([sides[0][0], -sides[1][0]]), np.concatenate([sides[0][1], sides[1][1]])
    apart = second[0] - first[0]
    if A.shape[1] == 0:
        return np.linalg.norm(apart)
    return np.sqrt(2 * lsq_linear(A, apart, (-bound, bound), method="bvls", tol=1e-15).cost)


def listed(grains):
    """Gaps of all listed pairs of features, infinite where they do not count, and which are edges."""
    state, count = grains.engine.system.initial, int(grains.record[0]["near_count"])
    gap = np.zeros(count)
    _gaps(grains.record, state.x, state.R, np.arange(count), gap)
    return gap, grains.arrays["near"][:count, 2] > 0


@pytest.mark.parametrize("count", [15, pytest.param(60, marks=pytest.mark.slow)])
@pytest.mark.parametrize(("first", "second"), KINDS)
def test_the_least_gap_of_the_features_that_count_is_the_distance_of_the_shapes(first, second, count):
    rng, crossed, compared = np.random.default_rng(3), 0, 0
    while compared < count:
        turns = [Rotation.random(random_state=rng).as_matrix() for _ in range(2)]
        apart = rng.standard_normal(3)
        places = [np.zeros(3), rng.uniform(0.2, 0.5) * apart / np.linalg.norm(apart)]
        cores = [(x, R, SIZES[kind]) for x, R, kind in zip(places, turns, (first, second))]
        gap = distance(*cores) - RADII[first] - RADII[second]
        if gap < 1e-3:
            continue
        model = two(first, second, places, turns)
        gaps, edges = listed(Engine(fem.ConeComplementarity(), model.compile(), 1e-3, 1, False).grains)
        assert gaps.min() == pytest.approx(gap, abs=1e-12)
        compared, crossed = compared + 1, crossed + bool(edges[np.argmin(gaps)])
    assert "sphere" in (first, second) or crossed > count // 12  # edges matter


def test_a_corner_deep_in_a_box_is_pushed_out_of_the_nearest_face(monkeypatch):
    """And the overlap is reported when a run begins with it."""
    model = two("box", "sphere", [np.zeros(3), np.array([0.02, 0.06, 0.03])], [np.eye(3), np.eye(3)])
    with pytest.raises(fem.ModelError, match=r"sphere 1 of .sphere of 1. - box 0.*gap < -0.1"):
        fem.DecoupledNSGA().run(model, 1e-3, 1e-3)
    monkeypatch.setattr("fem_mbs.solvers.granular.shapes.shaped.START", np.inf)
    grains = Engine(fem.ConeComplementarity(), model.compile(), 1e-3, 1, False).grains
    assert listed(grains)[0].min() == pytest.approx(-(0.07 - 0.06) - 0.01 - 0.08, abs=1e-15)


def test_boxes_deep_in_each_other_are_reported_with_a_bound_of_their_gap():
    """Where the boxes within the roundings of 0.01 m meet, their distance is 0 however deep they are."""
    for x, words in ((0.23, "gap = -0.01 m"), (0.1, "gap < -0.02 m")):
        model = two("box", "box", [np.zeros(3), np.array([x, 0, 0])], [np.eye(3), np.eye(3)])
        with pytest.raises(fem.ModelError, match=words):
            fem.DecoupledNSGA().run(model, 1e-3, 1e-3)


@pytest.mark.parametrize(
    ("stepper", "words"),
    [
        (lambda: fem.ConeComplementarity(contact_solver="problem"), "contact_solver.*'problem'"),
        (lambda: fem.GeneralizedAlpha(), "contact"),
    ],
)
def test_what_cannot_be_solved_by_iterations_is_rejected(stepper, words):
    model = two("box", "capsule", [np.zeros(3), np.array([1.0, 0, 0])], [np.eye(3), np.eye(3)])
    with pytest.raises(fem.FemMbsError, match=words):
        stepper().run(model, 1e-3, 1e-3)


def test_a_joint_on_a_body_with_a_box_is_rejected_with_what_to_use():
    model = two("box", "capsule", [np.zeros(3), np.array([1.0, 0, 0])], [np.eye(3), np.eye(3)])
    model.add(fem.Spherical(model.ground.frame(), model.elements[0].frame(), name="pin"))
    with pytest.raises(fem.ParameterError, match=r"'group'.*box.*Gauss-Seidel.*'pin'.*BoxOnBox"):
        fem.DecoupledNSGA().run(model, 1e-3, 1e-3)


@pytest.mark.parametrize("shape_first", [True, False])
@pytest.mark.parametrize(
    ("kind", "geometry"),
    [
        ("SphereOnCylinder", {"radius_cylinder": 0.1, "length": 1.0}),
        ("SphereInCylinder", {"radius_cylinder": 1.0, "length": 1.0}),
        ("SphereInGroove", {"radius_groove": 0.1, "radius_circle": 1.0}),
        ("SphereOnWire", {"points": [[0, 0, 0], [1, 0, 0], [1, 1, 0]], "radius_wire": 0.1}),
    ],
)
def test_obstacles_that_only_spheres_support_are_rejected(kind, geometry, shape_first):
    model, group = fem.Model(), fem.ContactGroup(name="group")
    body = model.add(fem.RigidBody.box(1.0, [0.1, 0.1, 0.1], position=[0, 0, 1]))
    steps = [lambda: group.box(body, [0.1, 0.1, 0.1], 0.01),
             lambda: group.obstacle(getattr(fem, kind), model.ground, **geometry)]  # fmt: skip
    first, second = steps if shape_first else steps[::-1]
    first()
    with pytest.raises(fem.ParameterError, match=rf"{kind}.*spheres only.*fixed=True"):
        second()


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda g, b: g.box(b, [0.1, 0.1, 0.1], 0.05), r"rounding = 0\.05.*below"),
        (lambda g, b: g.box(b, [0.1, 0.1, 0.1], 0.0), "rounding"),
        (lambda g, b: g.box(b, [0.1, -0.1, 0.1], 0.01), "size"),
        (lambda g, b: g.capsule(b, 0.0, 0.1), "radius"),
        (lambda g, b: g.capsule(b, 0.1, 0.0), "length"),
        (lambda g, b: g.capsule(b, 0.1, 0.1, axis=[0, 0, 0]), "axis"),
    ],
)
def test_sizes_that_no_shape_has_are_rejected(call, words):
    with pytest.raises(fem.ParameterError, match=words):
        call(fem.ContactGroup(name="group"), fem.RigidBody(1.0, 0.1))


def test_a_capsule_has_the_inertia_and_the_skin_of_one():
    """Against sums over a fine grid, and the volume that its faces enclose."""
    r, length, axis = 0.3, 0.7, np.array([0.6, 0.0, 0.8])
    body = fem.RigidBody.capsule(2.0, r, length, axis=axis)
    n = 120
    grid = np.stack(np.meshgrid(*[(np.arange(n) + 0.5) / n * 1.3 - 0.65] * 3, indexing="ij"), axis=-1).reshape(-1, 3)
    along = np.clip(grid @ axis, -0.5 * length, 0.5 * length)
    inside = grid[np.linalg.norm(grid - along[:, None] * axis, axis=1) < r]
    squares = (inside**2).sum(axis=1).mean() * np.eye(3) - inside.T @ inside / len(inside)
    assert body.inertia == pytest.approx(2.0 * squares, abs=2e-3 * 2.0 * squares.max())
    skin = Capsule(-0.5 * length * axis, 0.5 * length * axis, r, resolution=128)
    volume = 0.0
    for block in skin.faces:
        corners = skin.points[np.asarray(block)]
        for k in range(2, corners.shape[1]):
            volume += np.einsum("fi,fi->", corners[:, 0], np.cross(corners[:, k - 1], corners[:, k])) / 6
    assert volume == pytest.approx(np.pi * r**2 * length + 4 / 3 * np.pi * r**3, rel=2e-3)
    nearest = skin.points - np.clip(skin.points @ axis, -0.5 * length, 0.5 * length)[:, None] * axis
    assert np.linalg.norm(nearest, axis=1) == pytest.approx(r, rel=1e-12)
    rims = {
        frozenset((int(a), int(b)))
        for block in map(np.asarray, skin.faces)
        for k in range(block.shape[1])
        for a, b in zip(block[:, k], block[:, k - 1])
    }
    assert {frozenset(map(int, edge)) for edge in skin.edges} <= rims
