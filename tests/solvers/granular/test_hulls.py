"""Geometry of hulls in contact groups: gaps and normals against other codes, features that count, refusals."""

import functools
import itertools
import re

import numpy as np
import pytest
from scipy.spatial.transform import Rotation
from stones import CUBE, distance, polyhedron

import fem_mbs as fem
from fem_mbs.distance.group_shapes import GroupShape
from fem_mbs.distance.hull_kernels import out_of_hull
from fem_mbs.jit import kernel, local_vector
from fem_mbs.mesh.polyhedra import Polyhedron
from fem_mbs.nodes import Frame, Node6
from fem_mbs.solvers.granular.shapes.cores import place_shape, touch
from fem_mbs.solvers.granular.shapes.features import evaluate
from fem_mbs.solvers.granular.shapes.hull_arrays import Hulls
from fem_mbs.solvers.granular.shapes.shaped import _gaps
from fem_mbs.solvers.stepping.engine import Engine

pytestmark = pytest.mark.filterwarnings("ignore:ContactGroup 'group'.*unlike")  # inertias here do not matter
TETRAHEDRON = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1.0]])  # largest ball: 0.211
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
    """Put a shape on a frame."""
    if kind == "box":
        group.box(frame, 2 * (BOX + RHO), RHO)
    elif kind == "capsule":
        group.capsule(frame, 0.05, 2 * CAPSULE)
    elif kind == "sphere":
        group.sphere(frame, SPHERE)
    else:
        group.hull(frame, FORMS[kind], RHO)


@functools.cache
def core_of(kind):
    """Corners (n, 3) of the core of a shape, axes of its frame, and its radius."""
    if kind == "box":
        return 2 * BOX * CUBE, RHO
    if kind == "capsule":
        return np.array([[0, 0, -CAPSULE], [0, 0, CAPSULE]]), 0.05
    if kind == "sphere":
        return np.zeros((1, 3)), SPHERE
    return Polyhedron(FORMS[kind]).core_points(RHO), RHO


def two(first, second, places, turns, skin=1.0):
    """A model of two bodies with a shape each."""
    model, group = fem.Model("two"), fem.ContactGroup(skin=skin, name="group")
    for k, (kind, place, turn) in enumerate(zip((first, second), places, turns)):
        put(group, kind, model.add(fem.RigidBody(1.0, 0.02, position=place, rotation=turn, name=f"{kind} of {k}")))
    model.add(group)
    return model


def gap_of(first, second, places, turns):
    """Gap of two shapes by the Minkowski difference of their cores."""
    cores, radii = zip(*(core_of(kind) for kind in (first, second)))
    return distance(*(place + core @ turn.T for core, place, turn in zip(cores, places, turns))) - sum(radii)


def random_places(rng, least, most):
    """Positions of two bodies at a random distance between these limits, and random rotations."""
    turns = [Rotation.random(random_state=rng).as_matrix() for _ in range(2)]
    apart = rng.standard_normal(3)
    return [np.zeros(3), rng.uniform(least, most) * apart / np.linalg.norm(apart)], turns


def listed(model):
    """Gaps of all listed pairs of features, infinite where they do not count, and which are edges."""
    grains = Engine(fem.ConeComplementarity(), model.compile(), 1e-3, 1, False).grains
    state, count = grains.engine.system.initial, int(grains.record[0]["near_count"])
    gap = np.zeros(count)
    _gaps(grains.record, state.x, state.R, np.arange(count), gap)
    return gap, grains.arrays["near"][:count, 2] > 0


@pytest.mark.parametrize("count", [8, pytest.param(40, marks=pytest.mark.slow)])
@pytest.mark.parametrize(
    ("first", "second"), [pair for pair in itertools.combinations_with_replacement(KINDS, 2) if set(pair) & set(FORMS)]
)
def test_the_least_gap_of_the_features_that_count_is_the_distance_of_the_shapes(first, second, count):
    rng, crossed, compared, edged = np.random.default_rng(3), 0, 0, "sphere" not in (first, second)
    while compared < count or (edged and compared < 40 and not crossed):
        places, turns = random_places(rng, 0.2, 0.8)
        expected = gap_of(first, second, places, turns)
        if expected < 1e-3:
            continue
        gaps, edges = listed(two(first, second, places, turns))
        assert gaps.min() == pytest.approx(expected, abs=1e-12)
        compared, crossed = compared + 1, crossed + bool(edges[np.argmin(gaps)])
    assert not edged or crossed > count // 12  # edges matter


def placed(first, second, place, turn):
    """Gap of two shapes, the second at a place with a rotation vector, by features and by the Minkowski difference."""
    pose = [np.zeros(3), np.asarray(place)], [np.eye(3), turn]
    gaps, edges = listed(two(first, second, *pose))
    return gaps, edges, gap_of(first, second, *pose)


def rotation(*vector):
    return Rotation.from_rotvec(vector).as_matrix()


ALIGNED = {
    "face on face": ((0.02, 0.03, 0.4 + 1e-3), np.eye(3), 1e-3),
    "face on face, turned": ((0.02, 0.03, 0.4 + 1e-3), rotation(0, 0, 0.4), 1e-3),
    # edges of the cubes are rounded: 0.2 √2 − ρ (√2 − 1) from the centre
    "edge on face": (
        (0.01, 0.02, 0.2 + 0.2 * np.sqrt(2) - RHO * (np.sqrt(2) - 1) + 1e-3),
        rotation(np.pi / 4, 0, 0),
        1e-3,
    ),
    "parallel edges": ((0.01, 0.4 + 1e-3, 0.4 + 1e-3), np.eye(3), None),
    "corner on corner": ((0.4 + 1e-3, 0.4 + 1e-3, 0.4 + 1e-3), np.eye(3), None),
    "crossed edges": ((0, 0.4, 0.4), rotation(0, 0, 0.3) @ rotation(0, 0.2, 0), None),
}


@pytest.mark.parametrize("kind", ["cube", "box"])
@pytest.mark.parametrize("name", ALIGNED)
def test_faces_and_edges_that_lie_on_each_other_have_the_gap_of_the_shapes(name, kind):
    """Aligned to the last digit, where nearest points are not unique."""
    place, turn, expected = ALIGNED[name]
    if kind == "box":
        place = np.asarray(place) + [0, 0, BOX[2] + RHO - 0.2]
        turn = np.eye(3) if turn is None else turn
    gaps, _, gap = placed("cube", kind, place, turn)
    assert gaps.min() == pytest.approx(gap, abs=1e-12)
    if expected is not None and kind == "cube":
        assert gap == pytest.approx(expected, abs=1e-12)


def test_faces_on_each_other_have_a_contact_at_each_corner_of_their_common_area():
    """Turned by 45° their common area is an octagon: eight crossings of edges, and no corner inside."""
    gaps, edges, _ = placed("cube", "cube", (0, 0, 0.4 + 1e-3), rotation(0, 0, np.pi / 4))
    closed = np.abs(gaps - 1e-3) < 1e-12
    assert closed.sum() == 8 and edges[closed].all()
    gaps, edges, _ = placed("cube", "cube", (0.1, 0.05, 0.4 + 1e-3), np.eye(3))
    closed = np.abs(gaps - 1e-3) < 1e-12  # two corners of each over the other's face, two crossings
    assert (closed & ~edges).sum() == 2 and (closed & edges).sum() == 2


def test_edges_at_the_back_of_thin_plates_are_no_contacts():
    """Two plates of 20 mm that cross: their long edges cross at four places, and at twelve others behind each other."""
    plate = CUBE * [0.6, 0.2, 0.02]
    model, group = fem.Model("plates"), fem.ContactGroup(skin=1.0, name="group")
    for k in range(2):
        place = {"position": [0, 0, 0.021 * k], "rotation": [0, 0, k * np.pi / 2], "name": f"plate {k}"}
        group.hull(model.add(fem.RigidBody(1.0, 0.02, **place)), plate, 1e-3)
    model.add(group)
    gap, edges = listed(model)
    near = gap < 0.05  # beyond it are corners next to plates
    assert gap[near] == pytest.approx(1e-3, abs=1e-12)
    assert (edges & near).sum() == near.sum() == 4


@kernel
def _evaluated(grains, x, R, V, h):
    evaluate(grains[0], x, R, V, h, 0.0)


@pytest.mark.parametrize("kind", ["box", "hull"])
def test_edges_that_have_passed_each_other_keep_their_normal(kind):
    """Two crossed bars: g is the distance of their edges less 2 ρ, below −2 ρ once they are past each other."""
    model, group = fem.Model("bars"), fem.ContactGroup(skin=1.0, name="group")
    bar, rho = np.array([0.6, 0.1, 0.1]), 1e-3
    reach = 0.05 * np.sqrt(2) - rho * (np.sqrt(2) - 1)  # from the axis to the round of an edge
    for k in range(2):
        turn = rotation(0, 0, k * np.pi / 2) @ rotation(np.pi / 4, 0, 0)
        place = [0, 0, k * (2 * reach + 1e-4)]
        body = model.add(fem.RigidBody(1.0, 0.02, position=place, rotation=turn, name=f"bar {k}"))
        if kind == "box":
            group.box(body, bar, rho)
        else:
            group.hull(body, CUBE * bar, rho)
    model.add(group)
    grains = Engine(fem.ConeComplementarity(), model.compile(), 1e-3, 1, False).grains
    state, p, a = grains.engine.system.initial, grains.record[0], grains.arrays
    x = state.x.copy()
    for gap in (1e-4, -1e-3, -1.9e-3, -2.1e-3, -4e-3, -1e-3, 1e-4):
        x[2, 2] = 2 * reach + gap
        _evaluated(grains.record, x, state.R, state.V, 1e-3)
        count = int(p["count"])
        edges = np.flatnonzero((a["feature"][:count] > 0) & (abs(a["gap"][:count] - gap) < 1e-9))
        assert len(edges) == 1, gap
        assert a["pairs"]["normal"][edges[0]] == pytest.approx([0, 0, -1], abs=1e-9)


def test_corners_right_above_each_other_keep_both_and_corners_beyond_each_other_one():
    """So that contacts do not flicker, and none is there twice."""
    gaps, edges, _ = placed("cube", "cube", (0, 0, 0.401), np.eye(3))
    assert ((np.abs(gaps - 1e-3) < 1e-12) & ~edges).sum() == 8
    gaps, _, gap = placed("cube", "cube", (0.401, 0.401, 0.401), np.eye(3))
    assert (np.abs(gaps - gap) < 1e-12).sum() == 1


@pytest.mark.parametrize("count", [20, pytest.param(60, marks=pytest.mark.slow)])
@pytest.mark.parametrize(("first", "second"), [("stone", "stone"), ("stone", "box"), ("prism", "tetrahedron")])
def test_no_pair_below_the_skin_is_left_out_of_the_list(first, second, count):
    """The search leaves out corners and edges by bounds of their distances: with a skin a little above the gap."""
    rng, compared = np.random.default_rng(8), 0
    while compared < count:
        places, turns = random_places(rng, 0.3, 0.7)
        gap = gap_of(first, second, places, turns)
        if gap < 1e-4:
            continue
        gaps, _ = listed(two(first, second, places, turns, skin=1.001 * gap))
        assert len(gaps) and gaps.min() == pytest.approx(gap, abs=1e-12)
        compared += 1


@pytest.mark.parametrize("count", [25, pytest.param(100, marks=pytest.mark.slow)])
def test_distances_and_normals_are_those_of_coal(count):
    """coal finds distances by GJK, to its tolerance; normals where the nearest points are unique."""
    coal = pytest.importorskip("coal")
    from scipy.spatial import ConvexHull

    def shape(points):
        vertices, triangles, hull = coal.StdVec_Vec3s(), coal.StdVec_Triangle(), ConvexHull(points)
        vertices.extend(list(points))
        for (i, j, k), plane in zip(hull.simplices, hull.equations):
            out = np.cross(points[j] - points[i], points[k] - points[i]) @ plane[:3] > 0.0
            triangles.append(coal.Triangle(int(i), int(j if out else k), int(k if out else j)))
        return coal.Convex(vertices, triangles)

    rng, compared = np.random.default_rng(5), 0
    request = coal.DistanceRequest()
    request.gjk_tolerance, request.gjk_max_iterations = 1e-12, 1000
    while compared < count:
        names = rng.choice(list(FORMS), 2)
        places, turns = random_places(rng, 0.3, 0.8)
        shapes = [shape(core_of(name)[0]) for name in names]
        poses = [coal.Transform3s(turn, place) for turn, place in zip(turns, places)]
        found = coal.DistanceResult()
        apart = coal.distance(shapes[0], poses[0], shapes[1], poses[1], request, found)
        if apart < 2 * RHO + 1e-3:
            continue
        model = two(*names, places, turns)
        gaps, _ = listed(model)
        assert gaps.min() == pytest.approx(apart - 2 * RHO, abs=1e-9)
        normal, before = nearest_normal(model, np.argmin(gaps))
        assert np.linalg.norm(np.cross(normal, found.normal)) < 1e-6, before
        compared += 1


def nearest_normal(model, k):
    """Normal of a listed pair, and what it is."""
    grains = Engine(fem.ConeComplementarity(), model.compile(), 1e-3, 1, False).grains
    state = grains.engine.system.initial
    out = np.zeros(9)
    normal_of(grains.record, state.x, state.R, k, out)
    return out[:3], grains.arrays["near"][k]


@kernel
def normal_of(grains, x, R, k, out):
    """Normal and points of listed pair k."""
    p, before = grains[0], local_vector(3)
    for s in range(p.core_first.shape[0]):
        place_shape(p, s, x, R)
    for j in range(3):
        before[j] = 0.0
    touch(p, k, x, R, before, out)


def test_normals_turn_no_faster_than_the_rounding_allows():
    """A sphere slides over an edge: by atan(Δ/d) for a slide Δ at core distance d, and no faster; nothing jumps."""
    model = two("stone", "sphere", [np.zeros(3), np.array([0, 0, 1.0])], [np.eye(3)] * 2)
    group = model.contact_groups[0]
    core, step, before, turned = group.shapes[0].hull, 1e-3, None, []
    hulls, center, normal = arrays_of(core), group.shapes[0].frame.p, np.zeros(3)
    for angle in np.arange(0.0, 2 * np.pi, step / 0.45):
        point = 0.45 * np.array([np.cos(angle), np.sin(angle), 0.3])
        apart = out_of_first(hulls.record, point - center, normal)
        if before is not None:
            turned.append(np.arccos(min(normal @ before, 1.0)) / np.arctan(step * 1.05 / apart))
        before = normal.copy()
    assert max(turned) <= 1.0 and max(turned) > 0.5


def arrays_of(core):
    """A polyhedron as the kernel takes it."""
    return Hulls([GroupShape("hull", Frame(Node6(), np.zeros(3), np.eye(3)), np.zeros(3), RHO, core)])


@kernel
def out_of_first(record, y, n):
    return out_of_hull(record[0], 0, y, n)[0]


def test_a_point_inside_is_pushed_out_of_the_nearest_face():
    core = Polyhedron(FORMS["stone"])
    hulls, normal = arrays_of(core), np.zeros(3)
    for point in 0.05 * np.random.default_rng(0).standard_normal((50, 3)):
        depth = out_of_first(hulls.record, point, normal)
        heights = core.normals @ point - core.offsets
        assert depth == pytest.approx(heights.max(), abs=1e-15)
        assert normal == pytest.approx(core.normals[np.argmax(heights)], abs=1e-15)


OVERLAPS = {
    "a corner inside": ("cube", "cube", (0.3, 0.3, 0.3), np.eye(3)),
    "edges through each other": ("prism", "prism", (0.05, 0.0, 0.0), rotation(np.pi / 2, 0, 0)),
    "one in the other": ("cube", "sphere", (0.01, 0.02, 0.0), np.eye(3)),
    "a stone in a box": ("stone", "box", (0.1, 0.1, 0.1), np.eye(3)),
}


@pytest.mark.parametrize("name", OVERLAPS)
def test_hulls_that_overlap_at_the_start_are_rejected_by_name(name):
    first, second, place, turn = OVERLAPS[name]
    model = two(first, second, [np.zeros(3), np.asarray(place)], [np.eye(3), turn])
    with pytest.raises(fem.ModelError, match=r"'group'.*penetration"):
        fem.DecoupledNSGA().run(model, 1e-3, 1e-3)


@pytest.mark.parametrize(
    ("points", "rounding", "words"),
    [
        (CUBE[:3], 0.01, "points = 3.*four"),
        (CUBE[:4], 0.01, "points = 4.*plane"),
        (CUBE, 0.5, r"rounding = 0\.5.*below.*0\.5 m"),
        (CUBE, 0.0, r"rounding"),
        (polyhedron(300, 0), 0.01, "points = 300 .*256"),
        (np.full((5, 3), np.nan), 0.01, "points"),
        ("no file.stl", 0.01, "no file"),
    ],
)
def test_points_that_make_no_hull_are_rejected(points, rounding, words):
    with pytest.raises(fem.ParameterError, match=words):
        fem.ContactGroup(name="group").hull(fem.RigidBody(1.0, 0.1), points, rounding)


def test_a_joint_on_a_body_with_a_hull_is_rejected_with_what_to_use():
    model = two("cube", "cube", [np.zeros(3), np.array([1.0, 0, 0])], [np.eye(3)] * 2)
    model.add(fem.Spherical(model.ground.frame(), model.elements[0].frame(), name="pin"))
    with pytest.raises(fem.ParameterError, match=r"hull.*Gauss-Seidel.*'pin'.*HullOnPlane"):
        fem.DecoupledNSGA().run(model, 1e-3, 1e-3)


def test_a_hull_twice_at_a_place_is_rejected():
    group, body = fem.ContactGroup(name="group"), fem.RigidBody(1.0, 0.1)
    group.hull(body, CUBE, 0.01)
    with pytest.raises(fem.ParameterError, match=r"'group'.*rounding.*hull 0"):
        group.hull(body, CUBE.copy(), 0.01)


@pytest.mark.parametrize(
    ("frame", "inertia", "words"),
    [
        (lambda body: body.mesh_frame, 1.0, None),
        (lambda body: body, 1.0, r"0\.5.*body\.mesh_frame"),
        (lambda body: body.mesh_frame, 1e6, r"inertia.*1e\+06 to 1e\+06"),
    ],
)
def test_hulls_that_cannot_be_their_body_are_reported(frame, inertia, words, recwarn):
    """In a frame that is not that of the mesh; with an inertia in kg mm²."""
    part = fem.convex_parts([CUBE + [0.5, 0, 0]])
    model, group = fem.Model("m"), fem.ContactGroup(name="g")
    body = fem.RigidBody.from_mesh(part, 1.0, name="stone")
    body = body if inertia == 1.0 else fem.RigidBody(body.mass, inertia * body.inertia, name="stone")
    body._mesh_center = np.array([0.5, 0, 0])
    group.hull(frame(model.add(body)), part.points, 0.01)
    model.add(group)
    model.compile()
    texts = [str(w.message) for w in recwarn if "unlike" in str(w.message)]
    assert len(texts) == (words is not None)
    if words is not None:
        assert re.search(rf"ContactGroup 'g': RigidBody 'stone'.*{words}", texts[0])


@pytest.mark.parametrize("part", [0.02, 0.5, 0.9])
@pytest.mark.parametrize("points", [CUBE, TETRAHEDRON], ids=["cube", "tetrahedron"])
def test_a_large_rounding_raises_no_doubt_about_the_mass(points, part, recwarn):
    """The body is what the hull is, not its core: that of a tetrahedron is not even at its place."""
    form = fem.convex_parts([points])
    model, group = fem.Model("m"), fem.ContactGroup(name="g")
    group.hull(model.add(fem.RigidBody.from_mesh(form, 1.0, name="stone")).mesh_frame, points, part * 0.2)
    model.add(group)
    model.compile()
    assert not [w for w in recwarn if "unlike" in str(w.message)]


def test_a_body_without_a_mesh_has_no_frame_of_it():
    with pytest.raises(fem.ParameterError, match=r"mesh_frame.*RigidBody\.from_mesh"):
        _ = fem.RigidBody(1.0, 0.1).mesh_frame
