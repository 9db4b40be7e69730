"""Hulls that touch each other as contact elements: distances, all pairs of features, closed forms, steppers."""

import copy
import itertools
import pickle
from types import SimpleNamespace

import numpy as np
import pytest
from contact_at import Kinematics
from in_turn import in_turn
from scipy.optimize import nnls

import fem_mbs as fem
from fem_mbs import verify
from fem_mbs.element.base import Part
from fem_mbs.elements.contacts.hulls.hull_pair_kernels import CROSSED, HIDDEN, accept, initial, trouble
from fem_mbs.nodes import Node6
from fem_mbs.rotations import exp
from fem_mbs.system.groups import numbers_in_pairs

CORNERS = np.array(list(itertools.product([-0.5, 0.5], repeat=3)))
PLANK = np.array([0.6, 0.1, 0.05])
PRISM = np.array([[x, y, z] for x in (-0.2, 0.2) for y, z in ((-0.1, 0.0), (0.1, 0.0), (0.0, 0.1))])
RHO, G = 1e-3, 9.81
FRICTIONAL = [
    fem.DecoupledNSGA, fem.MoreauJean, fem.ConeComplementarity, fem.NonsmoothGeneralizedAlphaFriction,
    fem.LobattoIIIAB,
]  # fmt: skip
ALL = [*FRICTIONAL, fem.NonsmoothGeneralizedAlphaGGL]


def impulses(result, part):
    """Normal impulses (steps, contacts) [N s] of a part."""
    return np.array([result[contact.name].impulse[:, 0] for contact in part.elements]).T


def distance(first, second):
    """Distance of the hulls of points: least distance of the hull of all differences from the origin, by NNLS."""
    apart = (first[:, None] - second).reshape(-1, 3)
    matrix = np.vstack([apart.T / np.abs(apart).max(), np.ones(len(apart))])
    weights, _ = nnls(matrix, np.array([0.0, 0.0, 0.0, 1.0]), maxiter=10_000)
    return np.linalg.norm(weights @ apart) / weights.sum()


def min_gap(part, x, R):
    """Smallest gap of a part at a pose."""
    return min(Kinematics(contact)(list(zip(x, R)))["gap"][0] for contact in part.elements)


def features(part, x, R):
    """Features of all contacts of a part at a pose."""
    return [contact.feature_at(x, R) for contact in part.elements]


def first_state(part, x, R):
    """Record of the first contact of a part, and its internal variables at a pose at rest."""
    contact = part.elements[0]
    record, state = np.zeros(1, contact.parameters), np.zeros(contact.n_state)
    record[0] = contact.record
    initial(record[0], x, R, np.zeros(12), 0.0, state)
    return record[0], state


# --- geometry ---------------------------------------------------------------------------------------------------------


def test_the_smallest_gap_is_the_distance_of_the_hulls():
    rng, crossed, looked, inside = np.random.default_rng(1), 0, 0, []
    for _ in range(60):
        A, B = Node6(), Node6([0, 1, 0])
        forms = [rng.normal(size=(n, 3)) * rng.uniform(0.3, 1.0, 3) for n in rng.integers(4, 30, 2)]
        frames = A.frame([0.1, 0, 0], [0.2, 0.1, 0]), B.frame([0, 0.3, 0], [0, 1.0, 0])
        part = fem.HullOnHull(*frames, points_A=forms[0], points_B=forms[1], rounding=1e-3)
        x = np.array([np.zeros(3), rng.uniform(1, 3) * rng.normal(size=3)])
        R = np.array([exp(2 * rng.normal(size=3)) for _ in "AB"])
        arrays = part.elements[0].pair.arrays
        places = [
            x[k] + points @ R[k].T for k, points in enumerate(np.split(arrays["corner"], arrays["first_corner"][1:2]))
        ]
        if (apart := distance(*places)) < 1e-6:
            continue
        gaps = [Kinematics(contact)(list(zip(x, R)))["gap"][0] for contact in part.elements]
        assert min(gaps) == pytest.approx(apart - 2e-3, abs=1e-12)
        # the hulls as they were given: nothing is outside of them, and only very sharp corners are much shorter
        given = [
            x[k] + (frame.p + form @ frame.rotation.T) @ R[k].T for k, (frame, form) in enumerate(zip(frames, forms))
        ]
        inside.append(min(gaps) - distance(*given))
        found = features(part, x, R)
        assert len(set(found)) == len(found) == part.elements[0].pair.slots
        crossed, looked = crossed + (found[int(np.argmin(gaps))][1] >= 0), looked + 1
    assert min(inside) > -1e-12 and np.median(inside) < 0.01
    assert looked > 30 and crossed > 5  # cases in which two edges are nearest


def nearest_on(a, b, c, d):
    """Parts (2,) of segments a-b and c-d at which they are nearest, and the vector (3,) there: projected in turn."""
    found = []
    for t in np.linspace(0, 1, 5):
        for _ in range(300):
            s = np.clip((c + t * (d - c) - a) @ (b - a) / ((b - a) @ (b - a)), 0, 1)
            before, t = t, np.clip((a + s * (b - a) - c) @ (d - c) / ((d - c) @ (d - c)), 0, 1)
            if t == before:
                break
        found.append(((s, t), a + s * (b - a) - c - t * (d - c)))
    return min(found, key=lambda one: one[1] @ one[1])


def test_slots_have_the_nearest_features_and_edges_that_meet_before_those_that_do_not():
    """Edges whose nearest points are ends, or that do not face each other, count as farther by the rounding."""
    A, B, rho = Node6(), Node6([0, 0, 1]), 0.02
    part = fem.HullOnHull(A, B, points_A=PRISM, points_B=PRISM, rounding=rho, name="pair")
    q, K, rng, looked = part.elements[0].pair.hulls, part.elements[0].pair.slots, np.random.default_rng(6), 0
    for _ in range(4):
        x, R = np.array([[0, 0, 0.26], [0, 0, 0]]), np.array([exp(rng.normal(size=3)) for _ in "AB"])
        first, count = q.first_edge, q.first_corner[1]
        places = [x[k] + q.corner[q.first_corner[k] : q.first_corner[k + 1]] @ R[k].T for k in range(2)]
        if distance(*places) < 1e-3:
            continue
        ranks = {(f, -1): distance(places[0][f : f + 1], places[1]) for f in range(count)}
        ranks |= {(count + f, -1): distance(places[1][f : f + 1], places[0]) for f in range(len(places[1]))}
        for i, j in itertools.product(range(first[1]), range(first[2] - first[1])):
            ends = [*places[0][q.end[i]], *places[1][q.end[first[1] + j]]]
            at, between = nearest_on(*ends)
            size, lengths = np.linalg.norm(between), [np.linalg.norm(ends[k + 1] - ends[k]) for k in (0, 2)]
            inside = all(1e-3 * rho < s * length < length - 1e-3 * rho for s, length in zip(at, lengths))
            into = -q.into[i] @ R[0].T @ between, q.into[first[1] + j] @ R[1].T @ between
            ranks[i, j] = size + (0.0 if inside and np.max(into) <= 0.25 * size else rho)
        chosen = set(features(part, x, R))
        worst = max(ranks[feature] for feature in chosen)
        assert len(chosen) == K and worst <= min(rank for one, rank in ranks.items() if one not in chosen) + 1e-8
        looked += 1
    assert looked > 1


def test_faces_on_each_other_have_a_contact_at_every_corner_of_their_common_part():
    """Two cubes, one turned by 45° about the vertical: an octagon of eight crossing edges."""
    A, B = Node6(), Node6([0, 0, 1])
    part = fem.HullOnHull(A, B, points_A=CORNERS, points_B=CORNERS, rounding=RHO)
    x, R = np.array([[0, 0, 1.0], [0, 0, 0]]), np.array([exp([0, 0, np.pi / 4]), np.eye(3)])
    edges = [k for k, (_, second) in enumerate(features(part, x, R)) if second >= 0]
    kept = [Kinematics(part.elements[k])(list(zip(x, R))) for k in edges]
    closed = sorted(tuple(k["point"][:2].round(9)) for k in kept if abs(k["gap"][0]) < 1e-12)
    inner = 0.5 - RHO  # of the core; tan 22.5° of it from the middle of each side
    octagon = [(s * inner, t * inner * np.tan(np.pi / 8)) for s in (-1, 1) for t in (-1, 1)]
    octagon = sorted(tuple(np.round(p, 9)) for p in (*octagon, *((b, a) for a, b in octagon)))
    assert len(closed) == 8 and np.array(closed) == pytest.approx(np.array(octagon), abs=2e-9)


def test_tangents_of_edges_that_cross_are_those_of_differences():
    """The generic checks leave them out, because some of their blocks are zero."""
    A, B = Node6(), Node6([0, 0, 1])
    part = fem.HullOnHull(A, B, points_A=PRISM, points_B=PRISM, rounding=RHO)
    point = verify.Point()
    point.x, point.R = np.array([[0.03, -0.02, 0.3], [0, 0, 0]]), np.array([exp([0.1, np.pi, 0]), exp([0, 0.05, 1.2])])
    point.v, point.a, point.s, point.t = np.zeros(12), np.zeros(12), np.zeros((0, 3)), 0.0
    point.gravity, point.lam, point.x0, point.R0 = np.zeros(3), np.zeros(0), point.x, point.R
    point.width = 6
    crossing = next(c for c in part.elements if c.feature_at(point.x, point.R)[1] >= 0)
    call = verify.Evaluator(crossing)
    point.state = np.zeros(crossing.n_state)
    point.state = call("initial", point)["state"]
    assert call("contact", point)["gap"][0] == pytest.approx(min_gap(part, point.x, point.R), abs=1e-15)
    for kernel, row, name in (("contact", "G_N", "gap"), ("contact_hessian", "H_N", "G_N")):
        slope = verify._gradient(call, "contact", name, point, 1.0)
        np.testing.assert_allclose(call(kernel, point)[row], np.squeeze(slope), atol=1e-9)


def test_features_that_stay_near_keep_their_slots():
    rng = np.random.default_rng(2)
    A, B = Node6(), Node6([0, 0, 1])
    part = fem.HullOnHull(A, B, points_A=rng.normal(size=(20, 3)), points_B=rng.normal(size=(20, 3)), rounding=0.01)
    x, R = np.array([[0.0, 0, 4.0], [0, 0, 0]]), np.array([exp(rng.normal(size=3)), np.eye(3)])
    p, state = first_state(part, x, R)
    changed = 0
    for k in range(60):
        before = state.copy()
        R[0] = R[0] @ exp([0.03, 0.02, 0.0])
        accept(p, x, R, np.zeros(12), 1e-3 * (k + 1), state)
        now, was = state[:-2], before[:-2]
        stay = np.isin(was, now)
        assert (now[stay] == was[stay]).all() and len(set(now)) == len(now)
        fresh = first_state(part, x, R)[1][:-2]
        assert set(now) == set(fresh)  # which ones depends on the pose alone
        changed += (~stay).sum()
    assert changed > 5


def test_features_are_those_where_fast_hulls_will_touch():
    """A ball of 40 corners turns by two radians while it falls onto a block: what is low now will not touch."""
    rng = np.random.default_rng(0)
    ball = rng.normal(size=(40, 3))
    ball *= 0.5 / np.linalg.norm(ball, axis=1)[:, None]
    A, B = Node6(), Node6([0, 0, 1])
    part = fem.HullOnHull(A, B, points_A=ball, points_B=4 * CORNERS, rounding=5e-3)
    x, R, h, speed, spin = np.array([[0, 0, 3.2], [0, 0, 0]]), np.array([np.eye(3)] * 2), 0.1, 8.0, 25.0
    corners = np.split(part.elements[0].pair.arrays["corner"], part.elements[0].pair.arrays["first_corner"][1:2])[0]

    def heights(part_of_step):  # of the corners of the core over the block
        return 3.2 - part_of_step * h * speed + (corners @ exp([part_of_step * h * spin, 0, 0]).T)[:, 2] - 2.0 - 5e-3

    now = heights(0.0)
    touch = next(s for s in np.linspace(0, 1, 20_001) if heights(s).min() < 0.0)
    first = int(np.argmin(heights(touch)))
    p, state = first_state(part, x, R)
    slots = len(state) - 2
    assert (now < now[first]).sum() > slots and first not in state[:slots]
    accept(p, x, R, np.array([0, 0, -speed, spin, 0, 0] + 6 * [0.0]), h, state)
    assert first in state[:slots]


@pytest.mark.parametrize(
    ("place", "turn", "kind", "message"),
    [
        ([0, 0, 0.02], [0, 0, np.pi / 2], CROSSED, r"deeper.*0\.001 m"),
        ([0, 0, 0.049], [0, 0, np.pi / 2], None, r"penetration, gap = -0\.001"),
        ([0.1, 0.0, 0.02], [0, 0, 0.1], None, r"'pair 1'.*penetration"),
    ],
)
def test_hulls_that_overlap_at_the_start_are_rejected(place, turn, kind, message):
    model = fem.Model("overlap")
    low, high = (
        fem.RigidBody.box(1.0, PLANK, name=name, **pose)
        for name, pose in (("low", {}), ("high", {"position": place, "rotation": turn}))
    )
    part = fem.HullOnHull(high, low, points_A=PLANK * CORNERS, points_B=PLANK * CORNERS, rounding=RHO, name="pair")
    model.add(low, high, part)
    with pytest.raises(fem.ModelError, match=message):
        fem.DecoupledNSGA().run(model, 1e-3, 1e-3)
    x, R = np.array([place, [0, 0, 0]], float), np.array([exp(turn), np.eye(3)])
    p, state = first_state(part, x, R)
    assert trouble(p, x, R, x, R, state) == (kind or 0.0)


def test_a_pair_that_no_contact_holds_may_not_be_deeper_than_those_that_are_held():
    A, B = Node6(), Node6([0, 0, 1])
    part = fem.HullOnHull(A, B, points_A=CORNERS, points_B=CORNERS, rounding=RHO)
    x, R = np.array([[0, 0, 1.0], [0, 0, 0]]), np.array([exp([0, 0, np.pi / 4]), np.eye(3)])
    p, state = first_state(part, x, R)
    lean = np.array([exp([7e-5, 1e-4, 0]) @ R[0], R[1]])  # one of the crossings is the deepest
    assert trouble(p, x, lean, x, lean, state) == 0.0
    deepest = list(state).index(part.elements[0].pair.room["found"][0])  # of the search that was made last
    state[deepest] = next(feature for feature in range(100) if feature not in state)
    assert trouble(p, x, lean, x, lean, state) == HIDDEN
    open_ = x + [[0, 0, 1e-3], [0, 0, 0]]
    assert trouble(p, open_, lean, open_, lean, state) == 0.0


# --- against boxes ----------------------------------------------------------------------------------------------------


class AllFeatures(Part):
    """Two boxes with a contact for each of their 160 pairs of features, spheres and capsules."""

    name = None

    def __init__(self, bodies, sizes, rounding, law):
        self.elements, edges = [], []
        for k in range(2):
            places = [body.frame(place) for body in bodies[k : k + 1] for place in (sizes[k] - 2 * rounding) * CORNERS]
            shape = {"size": sizes[1 - k], "radius": rounding, "rounding": rounding, "drawn": False}
            self.elements += [fem.SphereOnBox(place, bodies[1 - k], **shape, **law) for place in places]
            along = [(i, j) for i, j in itertools.combinations(range(8), 2) if (CORNERS[i] != CORNERS[j]).sum() == 1]
            edges.append([(places[i], places[j]) for i, j in along])
        for pair in itertools.product(*edges):
            self.elements.append(fem.CapsuleOnCapsule(*pair, radius_A=rounding, radius_B=rounding, **law))
        for k, contact in enumerate(self.elements):
            contact.name = f"pair {k}"


def blow(kind, **law):
    """Two boxes that tumble and hit each other, by all pairs of features or by hulls."""
    rng = np.random.default_rng(2)
    sizes = np.array([0.3, 0.2, 0.1]), np.array([0.2, 0.4, 0.15])
    model = fem.Model("blow")
    places, speeds = ([-0.31, 0.03, 0.02], [0, 0, 0]), ([2.0, 0, 0], [0, 0, 0])
    bodies = [
        model.add(
            fem.RigidBody.box(
                mass, size, position=place, rotation=rng.normal(size=3), velocity=speed,
                angular_velocity=3 * rng.normal(size=3), name=name,
            )
        )
        for mass, size, place, speed, name in zip((1.0, 1.5), sizes, places, speeds, "AB")
    ]  # fmt: skip
    if kind == "all features":
        return model, model.add(AllFeatures(bodies, sizes, 5e-3, law))
    else:
        points = {f"points_{name}": size * CORNERS for name, size in zip("AB", sizes)}
        part = fem.HullOnHull(*bodies, **points, rounding=5e-3, name="pair", **law)
    model.add(part)
    return model, part


@pytest.mark.parametrize("stepper", ALL)
def test_boxes_as_hulls_hit_each_other_as_boxes_do(stepper):
    law = {"restitution": 0.5} | ({"friction": 0.3} if stepper in FRICTIONAL else {})
    ends, h = [], 1e-4
    for kind in ("all features", "hull"):
        model, part = blow(kind, **law)
        result = stepper().run(model, t_end=0.02, h=h)
        assert impulses(result, part).sum() > 0.5  # N s
        ends.append(np.concatenate([result[name].velocity[-1] for name in "AB"]))
    # Impulses act in the middle of the gap between hulls, and on the surface of the sphere in SphereOnBox: where an
    # impact finds the gap open or closed the arms, some 0.1 m, differ by half of what a step closes at 2 m/s.
    finds_a_gap = stepper in (fem.MoreauJean, fem.ConeComplementarity, fem.LobattoIIIAB)
    atol = 0.5 * h * 2.0 / 0.1 * 0.5 if finds_a_gap else 1e-9  # m/s
    np.testing.assert_allclose(ends[1], ends[0], rtol=0, atol=atol)


def planks(stepper, turn=np.pi / 2, **law):
    """A plank that lies across another one, which stands on ground."""
    model = fem.Model("crossed planks", gravity=[0, 0, -G])
    points = PLANK * CORNERS
    high = model.add(fem.RigidBody.box(2.0, PLANK, position=[0, 0, 0.05], rotation=[0, 0, turn], name="high"))
    part = model.add(
        fem.HullOnHull(high, model.ground, points_A=points, points_B=points, rounding=RHO, name="pair", **law)
    )
    return stepper().run(model, t_end=0.1, h=1e-3), part


@pytest.mark.parametrize(("stepper", "turn"), in_turn(ALL, [np.pi / 2, 0.6, 1e-5, 0.0]))
def test_planks_that_cross_stay_on_each_other(stepper, turn):
    result, part = planks(stepper, turn, **({"friction": 0.5} if stepper in FRICTIONAL else {}))
    # in gaps of round-off it falls for a step with the methods that have velocities alone
    assert np.abs(result["high"].position - [0, 0, 0.05]).max() < (
        1.01 * G * 1e-6 if stepper is fem.MoreauJean else 1e-8
    )
    assert np.abs(result["high"].velocity).max() < 1e-6
    load = sum(result[contact.name].force_vector[-1] for contact in part.elements)
    np.testing.assert_allclose(load, [0, 0, 2 * G], atol=1e-5)


# --- closed forms -----------------------------------------------------------------------------------------------------


def edges_across(restitution, speed=2.0, gap=1e-12):
    """Prisms with their sharp edges towards each other and at right angles, hit away from both centres."""
    model, inertia = fem.Model("edges"), np.diag([1e-3, 2e-3, 2.5e-3])
    # faces meet at 90° in the edges along x: the core is lower by √2 ρ there, and the rounding gives ρ back
    height = 0.1 - (np.sqrt(2) - 1) * RHO
    place, R_A, R_B = np.array([-0.08, 0.05, 2 * height + gap]), exp([0, np.pi, 0]), exp([0, 0, np.pi / 2])
    high = model.add(fem.RigidBody(1.0, inertia, position=place, rotation=R_A, velocity=[0, 0, -speed], name="high"))
    low = model.add(fem.RigidBody(3.0, 2 * inertia, rotation=R_B, name="low"))
    part = model.add(
        fem.HullOnHull(high, low, points_A=PRISM, points_B=PRISM, rounding=RHO, restitution=restitution, name="pair")
    )
    compliance, point, n = 0.0, np.array([0, 0.05, height]), np.array([0, 0, 1.0])  # where the edges cross
    for mass, I, R, center in ((1.0, inertia, R_A, place), (3.0, 2 * inertia, R_B, np.zeros(3))):
        turn = R.T @ np.cross(point - center, n)
        compliance += 1.0 / mass + turn @ np.linalg.solve(I, turn)
    return model, part, (1 + restitution) * speed / compliance


@pytest.mark.parametrize(("stepper", "restitution"), in_turn(ALL, [0.0, 0.7], start=3))
def test_edges_that_hit_across_exchange_the_impulse_of_two_rigid_bodies(stepper, restitution):
    model, part, expected = edges_across(restitution)
    result = stepper().run(model, t_end=1e-5, h=1e-6)
    # they turn by 1e-5 rad in these steps
    assert impulses(result, part)[:, :].sum(axis=1).max() == pytest.approx(expected, rel=1e-4)


@pytest.mark.parametrize("stepper", ALL)
def test_equal_cubes_in_a_row_hand_their_speed_on(stepper):
    """Faces that hit faces: the first cube stops, the last one leaves with its speed (Newton's cradle, e = 1)."""
    model, size = fem.Model("cradle"), 0.1
    cubes = [
        fem.RigidBody.box(1.0, [size] * 3, position=[1.15 * size * k, 0, 0], name=f"{k}", velocity=[speed, 0, 0])
        for k, speed in enumerate((3.0, 0.0, 0.0))
    ]
    model.add(cubes)
    for one, other in itertools.pairwise(cubes):
        points = size * CORNERS
        model.add(fem.HullOnHull(one, other, points_A=points, points_B=points, rounding=RHO, restitution=1.0))
    result = stepper().run(model, t_end=0.015, h=1e-4)
    ends = np.array([result[f"{k}"].velocity[-1] for k in range(3)])
    np.testing.assert_allclose(ends[:, 0], [0, 0, 3.0], atol=1e-6)
    assert np.abs(ends[:, 1:]).max() < 1e-6


@pytest.mark.parametrize(("stepper", "part_of_limit"), in_turn(FRICTIONAL, [0.99, 1.01], start=2))
def test_a_prism_slides_on_a_tilted_hull_beyond_the_angle_of_friction(stepper, part_of_limit):
    slope = exp([0, np.arctan(0.5 * part_of_limit), 0])
    model = fem.Model("prism on a ramp", gravity=[0, 0, -G])
    model.add(fem.RigidBody(1.0, 0.01, position=slope @ [0, 0, 0.1 + 1e-12], rotation=slope, name="prism"))
    prism = model.elements[0]
    points = PRISM - [0, 0, 0.0]
    block = np.array([3.0, 1.0, 0.2]) * CORNERS
    ramp = model.ground.frame([0, 0, 0], slope)
    model.add(fem.HullOnHull(prism, ramp, points_A=points, points_B=block, rounding=RHO, friction=0.5, name="ramp"))
    result = stepper().run(model, t_end=0.3, h=1e-3)
    travel = (result["prism"].position[-1] - result["prism"].position[0]) @ slope[:, 0]
    tan = 0.5 * part_of_limit
    expected = 0.5 * G * (tan - 0.5) / np.hypot(1, tan) * 0.3**2  # 2.0 mm beyond the limit
    # closed contacts are of first order in h; a gap of round-off is open for a step
    assert travel == pytest.approx(expected if part_of_limit > 1 else 0.0, rel=2e-2, abs=G * 1e-6)


def test_tumbling_prisms_keep_momentum_and_energy():
    """Restitution 1, no friction: what is lost or won is of first order in the step, and momentum is kept."""
    errors = []
    for h in (4e-4, 1e-4):
        model, rng = fem.Model("prisms"), np.random.default_rng(4)
        for name, place, speed in (("A", [0, 0, 0], [0, 0, 0]), ("B", [0.5, 0.05, 0.02], [-2.0, 0, 0])):
            body = fem.RigidBody.from_mesh(
                fem.convex_parts([PRISM]), 700.0, position=place, rotation=rng.normal(size=3), velocity=speed,
                angular_velocity=3 * rng.normal(size=3), name=name,
            )  # fmt: skip
            model.add(body)
        A, B = model.elements
        points = {"points_A": PRISM, "points_B": PRISM}
        part = fem.HullOnHull(A.mesh_frame, B.mesh_frame, **points, rounding=2e-3, restitution=1.0, name="pair")
        model.add(part)
        result = fem.LobattoIIIAB().run(model, t_end=0.4, h=h)
        assert (impulses(result, part).sum(axis=1) > 0).sum() >= 1
        total, size = result.energy.total, np.abs(result.linear_momentum[0]).max()
        np.testing.assert_allclose(
            result.linear_momentum, result.linear_momentum[:1] + 0 * result.linear_momentum, atol=1e-10 * size
        )
        np.testing.assert_allclose(
            result.angular_momentum, result.angular_momentum[:1] + 0 * result.angular_momentum, atol=1e-10 * size
        )
        errors.append(abs(total[-1] / total[0] - 1.0))
        gaps = np.array([result[contact.name].gap for contact in part.elements])
        assert gaps.min() > -5 * h  # m: what they approach by in a step
    assert errors[-1] < 1e-3 and errors[-1] < 0.6 * errors[0]


def test_a_block_leaves_the_face_over_its_edge():
    """Without friction it keeps its speed, lies flat while its centre is over the face, and turns beyond."""
    model = fem.Model("over the edge", gravity=[0, 0, -G])
    size, speed, h = np.array([0.2, 0.1, 0.1]), 1.0, 5e-4
    table = np.array([1.0, 0.5, 0.1])
    block = model.add(fem.RigidBody.box(1.0, size, position=[0.4, 0, 0.1], velocity=[speed, 0, 0], name="block"))
    part = fem.HullOnHull(
        block, model.ground, points_A=size * CORNERS, points_B=table * CORNERS, rounding=RHO, name="t"
    )
    model.add(part)
    result = fem.DecoupledNSGA().run(model, t_end=0.2, h=h)
    x, tilt = result["block"].position[:, 0], np.array([R[0, 2] for R in result["block"].rotation])
    over = x < 0.5 - RHO  # the flat part of the face ends at the core
    assert np.abs(tilt[over]).max() < 1e-9 and np.abs(result["block"].position[over, 2] - 0.1).max() < 1e-9
    assert tilt[-1] > 0.05
    assert np.array([result[contact.name].gap for contact in part.elements]).min() > -1e-9
    energy = result.energy.total
    # the positions of closed contacts are corrected in every step: of second order in h, 1.2e-6 with boxes too
    assert np.diff(energy).max() < 2e-6 * energy[0] and abs(energy[0] - energy[-1]) < 5e-4 * energy[0]


def test_a_driven_hull_pushes_another_one_with_the_force_of_friction():
    model, size, mu, mass = fem.Model("push", gravity=[0, 0, -G]), np.array([0.2, 0.2, 0.1]), 0.3, 2.0
    box = size * CORNERS
    floor = np.array([4.0, 1.0, 0.2]) * CORNERS
    block = model.add(fem.RigidBody.box(mass, size, position=[0.3, 0, 0.05], name="block"))
    pusher = model.add(fem.RigidBody.box(1.0, size, position=[0, 0, 0.06], velocity=[0.5, 0, 0], name="pusher"))
    guide = model.add(fem.Prismatic.at(model.ground, pusher, [0, 0, 0.06], [1, 0, 0], name="guide"))
    model.add(fem.JointDriver(guide, lambda t: 0.5 * t))
    ground = model.ground.frame([0, 0, -0.1])
    model.add(fem.HullOnHull(block, ground, points_A=box, points_B=floor, rounding=RHO, friction=mu, name="floor"))
    push = model.add(fem.HullOnHull(block, pusher, points_A=box, points_B=box, rounding=RHO, name="push"))
    result = fem.DecoupledNSGA().run(model, t_end=0.6, h=1e-3)
    assert result["block"].velocity[-1, 0] == pytest.approx(0.5, abs=1e-6)
    force = sum(result[contact.name].force_vector[-1] for contact in push.elements)
    np.testing.assert_allclose(force, [mu * mass * G, 0, 0], rtol=1e-4, atol=1e-4)


# --- invariance, copies, refusals -------------------------------------------------------------------------------------


def throw(turn=None, drift=(0, 0, 0), shift=(0, 0, 0)):
    """Two stones that hit each other with friction, seen from a frame that is turned, shifted and moves."""
    Q = exp(turn if turn is not None else [0, 0, 0])
    rng = np.random.default_rng(3)
    forms = [rng.normal(size=(12, 3)) / 10 for _ in "AB"]
    model = fem.Model("stones")
    for name, place, speed in (("A", [-0.45, 0.02, 0.03], [2.0, 0, 0]), ("B", [0, 0, 0], [0, 0, 0])):
        axis, spin = rng.normal(size=3), 3 * rng.normal(size=3)
        model.add(
            fem.RigidBody(
                1.0, np.diag([4e-3, 5e-3, 6e-3]), position=Q @ place + shift, rotation=Q @ exp(axis),
                velocity=Q @ speed + np.array(drift), angular_velocity=Q @ spin, name=name,
            )
        )  # fmt: skip
    A, B = model.elements
    model.add(
        fem.HullOnHull(
            A, B, points_A=forms[0], points_B=forms[1], rounding=2e-3, restitution=0.5, friction=0.3, name="pair"
        )
    )
    return model, Q


@pytest.mark.parametrize("stepper", [fem.DecoupledNSGA, fem.MoreauJean, fem.LobattoIIIAB])
@pytest.mark.parametrize(
    ("turn", "drift", "shift"), [([1.0, -0.7, 0.4], (0, 0, 0), (1, 2, 3)), ([0, 0, 0], (5, -3, 2), (0, 0, 0))]
)
def test_an_impact_is_the_same_in_every_inertial_frame(stepper, turn, drift, shift):
    model, _ = throw()
    result = stepper().run(model, t_end=0.2, h=5e-4)
    seen, Q = throw(turn, drift, shift)
    other = stepper().run(seen, t_end=0.2, h=5e-4)
    assert np.abs(result["A"].velocity[-1, :3] - result["A"].velocity[0, :3]).max() > 0.3  # they have had an impact
    for name in "AB":
        v, w = result[name].velocity[-1, :3] @ Q.T + np.array(drift), other[name].velocity[-1, :3]
        np.testing.assert_allclose(w, v, atol=1e-7)
        np.testing.assert_allclose(other[name].velocity[-1, 3:], result[name].velocity[-1, 3:], atol=1e-5)


def test_pairs_of_different_size_continue_side_by_side():
    """Two stones that fall onto a block: each pair has its own features in its tangents, 18 and 21 of them."""
    stone, block = 0.07 * np.random.default_rng(0).normal(size=(20, 3)), [3, 3, 0.2] * CORNERS
    model, form = fem.Model("stones", gravity=[0, 0, -G]), fem.convex_parts([stone])
    bodies = [
        fem.RigidBody.from_mesh(form, 1000.0, position=[0.02 * k, 0, 0.2 + 0.3 * k], rotation=[k, 0.5, 0], name=f"{k}")
        for k in range(2)
    ]
    options = {"points_A": stone, "rounding": RHO, "friction": 0.4}
    floor = model.ground.frame([0, 0, -0.1])
    first, second = (body.mesh_frame for body in bodies)
    pairs = {"a": (first, floor, block), "b": (second, floor, block), "c": (second, first, stone)}
    parts = [fem.HullOnHull(A, B, points_B=points, name=name, **options) for name, (A, B, points) in pairs.items()]
    model.add(bodies, parts)
    result = fem.DecoupledNSGA().run(model, t_end=0.6, h=1e-3)
    gaps = np.array([result[contact.name].gap for part in parts for contact in part.elements])
    assert gaps.min() > -1e-9 and np.abs(gaps).min() < 1e-9
    total = result.energy.total
    assert np.diff(total).max() < 1e-4 * total[0]


def test_copies_of_a_model_and_two_runs_of_one_have_the_same_motion():
    model, _ = throw()
    ends = [
        fem.DecoupledNSGA().run(m, 0.2, 5e-4)["A"].velocity[-1]
        for m in (model, model, copy.deepcopy(model), pickle.loads(pickle.dumps(model)))
    ]
    for end in ends[1:]:
        np.testing.assert_array_equal(end, ends[0])


def fine_ball():
    """Points (400, 3) on a sphere."""
    points = np.random.default_rng(0).normal(size=(400, 3))
    return points / np.linalg.norm(points, axis=1)[:, None]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"points_A": CORNERS[:3]}, r"points_A = 3 .*needs four"),
        ({"points_B": CORNERS[:4]}, "points_B = 4 points.*plane"),
        ({"points_A": fem.PointMass(1.0)}, r"points_A = PointMass .*points \(n, 3\)"),
        ({"rounding": 0.0}, r"rounding = 0\.0 m.*>"),
        ({"rounding": 0.6}, r"rounding = 0\.6 m.*below.*0\.5 m"),
        ({"friction": -0.1}, "friction"),
        ({"restitution": 2.0}, "restitution"),
        ({"hull_B": "same"}, "same node as hull_A"),
        ({"points_B": fine_ball()}, r"points_B = \d+ corners.*256"),
    ],
)  # fmt: skip
def test_what_is_no_pair_of_hulls_is_rejected_in_the_words_of_the_user(options, words):
    A, B = Node6(), Node6([0, 0, 2])
    options = {"hull_A": A, "hull_B": B, "points_A": CORNERS, "points_B": CORNERS, "rounding": 0.01} | options
    if options["hull_B"] == "same":
        options["hull_B"] = A
    with pytest.raises(fem.ParameterError, match=r"'pair( 1)?'.*" + words):
        fem.HullOnHull(**options, name="pair")


def test_contacts_have_numbers_within_their_pair_and_others_none():
    a, b = object(), object()
    pairs = [None, None, a, a, a, b, b, None, a]
    contacts = [SimpleNamespace(pair=pair) for pair in pairs] + [SimpleNamespace(pair=None)] * 2
    assert numbers_in_pairs(contacts) == [0, 0, 0, 1, 2, 0, 1, 0, 0, 0, 0]
