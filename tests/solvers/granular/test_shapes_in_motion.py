"""Motion of capsules and boxes in contact groups: closed forms, single contact elements, stacks, invariants."""

import itertools

import numpy as np
import pytest
from in_turn import in_turn
from scipy.spatial.transform import Rotation
from test_group_shapes import distance

import fem_mbs as fem
from fem_mbs.solvers.granular import grains

G, H = 9.81, 1e-3
METHODS = {
    "cone": lambda **options: fem.ConeComplementarity(relaxed=False, **options),
    "nsga": lambda **options: fem.DecoupledNSGA(**options),
    "moreau": lambda **options: fem.MoreauJean(**options),
}
BRICK = np.array([0.2, 0.3, 0.1])


def world(name="world", slope=0.0, **law):
    """A model with gravity tilted about y by a slope [rad], and its contact group on the plane z = 0."""
    model = fem.Model(name, gravity=[G * np.sin(slope), 0, -G * np.cos(slope)])
    group = fem.ContactGroup(name="group", **law)
    group.obstacle(fem.SphereOnPlane, model.ground)
    model.add(group)
    return model, group


def brick(model, group, position, size=BRICK, mass=1.0, rounding=2e-3, **options):
    body = model.add(fem.RigidBody.box(mass, size, position=position, **options))
    group.box(body, size, rounding)
    return body


def carried(result, shape, k=-1):
    """Impulse (3,) of all contacts on a shape in a saved step."""
    pairs = result.pairs(k)
    other = (pairs.partner == shape) & (pairs.type == 0)
    return pairs.impulse[pairs.sphere == shape].sum(axis=0) - pairs.impulse[other].sum(axis=0)


@pytest.mark.parametrize("axis", [(1, 0, 0), (0, 1, 0)])
@pytest.mark.parametrize("name", METHODS)
def test_a_capsule_slides_to_rest_along_its_axis_and_rolls_across_it(name, axis):
    """Along: v0 − μ g t. Across: v0 J-independent end v0/(1 + J/(m r²)), reached at once where friction is large."""
    model, group = world(friction=0.3)
    r, length, speed = 0.05, 0.3, 1.0
    rod = fem.RigidBody.capsule(2.0, r, length, axis=axis, position=[0, 0, r], velocity=[speed, 0, 0], name="rod")
    group.capsule(model.add(rod), r, length, axis=axis)
    result = METHODS[name](contact_tolerance=1e-10).run(model, 0.3, H)
    velocity = result["rod"].velocity[:, 0]
    if axis[0]:
        expected = np.maximum(speed - 0.3 * G * result.t, 0.0)
    else:
        J = rod.inertia[1, 1]
        end = speed / (1 + J / (2.0 * r**2))
        expected = np.maximum(speed - 0.3 * G * result.t, end)
        assert result["rod"].angular_velocity[-1] == pytest.approx([0, end / r, 0], rel=1e-8, abs=1e-8)
    assert velocity == pytest.approx(expected, abs=1e-6)
    assert result["rod"].position[:, 2] == pytest.approx(r, abs=1e-9)


@pytest.mark.parametrize("friction", [0.0, 0.4])
@pytest.mark.parametrize("restitution", [0.0, 0.5])
@pytest.mark.parametrize(("first", "second"), [("capsule", "capsule"), ("capsule", "box"), ("box", "box")])
def test_edges_that_cross_hit_as_two_capsules_and_keep_all_momentum(first, second, restitution, friction, monkeypatch):
    """Of two long shapes that cross in flight; the element is `CapsuleOnCapsule` at the edges that meet."""
    monkeypatch.setattr(grains, "BAND", 0.0)
    r, length, at, diagonal = 0.02, 0.5, 0.05, np.sqrt(0.5)
    law = {"friction": friction, "restitution": restitution}
    J = np.array([[2e-2, 1e-3, 0], [1e-3, 3e-2, 0], [0, 0, 2.5e-2]])

    def build(single):
        model, ends = fem.Model("crossed"), []
        group = fem.ContactGroup(name="group", **law)
        for k, (kind, sign) in enumerate(((first, 1.0), (second, -1.0))):
            along = np.array([[1.0, 0, 0], [0, 1.0, 0]][k])
            inner = 0.0 if kind == "capsule" else at * diagonal  # edges of boxes point at each other
            rise = sign * (r + inner + 2.5e-4)
            body = fem.RigidBody(1.0 + k, J, position=[0.03 * (1 - k), 0.04 * k, rise], name=f"body {k}",
                                 velocity=[0.2 * k, 0.3, -sign], angular_velocity=[1.0, 2.0 * sign, 0.5])  # fmt: skip
            turn = Rotation.from_rotvec(0.25 * np.pi * along).as_matrix()
            model.add(body)
            if single:
                ends.append([body.frame(0.5 * length * s * along - [0, 0, sign * inner]) for s in (-1, 1)])
            elif kind == "capsule":
                group.capsule(body, r, length, axis=along)
            else:
                size = np.where(along > 0, length, at) + 2 * r
                group.box(body.frame([0, 0, 0], turn), size, r)
        if single:
            model.add(fem.CapsuleOnCapsule(*ends, radius_A=r, radius_B=r, name="contact", **law))
        else:
            model.add(group)
        return model

    a = fem.ConeComplementarity(relaxed=False, contact_tolerance=1e-12).run(build(False), 1e-3, 1e-3)
    b = fem.ConeComplementarity(relaxed=False, contact_tolerance=1e-12).run(build(True), 1e-3, 1e-3)
    assert a.pair_count[-1] == 1
    state = a.rows([0, 1])
    mass = np.array([1.0, 2.0])
    moved = [(mass[:, None] * v[1:]).sum(axis=0) for v in state["velocity"]]
    assert moved[1] == pytest.approx(moved[0], abs=1e-12)
    spin = []
    for x, v, Q, w in zip(*(state[name] for name in ("position", "velocity", "quaternion", "angular_velocity"))):
        turns = Rotation.from_quat(Q[1:, [1, 2, 3, 0]])
        spin.append((mass[:, None] * np.cross(x[1:], v[1:]) + turns.apply(w[1:] @ J)).sum(axis=0))
    assert spin[1] == pytest.approx(spin[0], abs=1e-4)  # of the gap at the start, and the order h of Ω × J Ω
    for body in ("body 0", "body 1"):
        # arms of the element are those of the end of the step: of order h
        assert a[body].velocity[-1] == pytest.approx(b[body].velocity[-1], abs=1e-2)
        assert a[body].angular_velocity[-1] == pytest.approx(b[body].angular_velocity[-1], abs=2e-2)


@pytest.mark.parametrize("name", METHODS)
def test_a_box_at_rest_neither_creeps_nor_sinks(name):
    model, group = world(friction=0.5, slope=0.4)  # friction angle 0.4636
    body = brick(model, group, [0, 0, 0.05], name="box", rounding=1e-2)
    result = METHODS[name](contact_tolerance=1e-8).run(model, 1.0, H)
    assert result["box"].position[-1] == pytest.approx(body.position, abs=1e-10)
    assert carried(result, 0) / H == pytest.approx([-G * np.sin(0.4), 0, G * np.cos(0.4)], rel=1e-6, abs=1e-6)


@pytest.mark.parametrize(("name", "part"), in_turn(METHODS, [0.99, 1.01, 1.5], first="nsga"))
def test_a_box_sticks_below_the_friction_angle_and_slides_above(name, part):
    slope = part * np.arctan(0.5)
    model, group = world(friction=0.5, slope=slope)
    brick(model, group, [0, 0, 0.05], name="box")
    result = METHODS[name](contact_tolerance=1e-9).run(model, 0.5, H)
    acceleration = max(G * (np.sin(slope) - 0.5 * np.cos(slope)), 0.0)
    assert result["box"].velocity[-1, 0] == pytest.approx(0.5 * acceleration, abs=1e-7)
    assert np.abs(result["box"].angular_velocity).max() < 1e-7


@pytest.mark.parametrize(("name", "shift"), in_turn(METHODS, [0.0, 0.02], first="nsga"))
def test_a_stack_of_five_boxes_stays_and_carries_its_weight(name, shift):
    model, group = world(friction=0.5)
    for k in range(5):
        brick(model, group, [shift * (-1) ** k, 0, 0.05 + 0.1 * k], mass=1.0 + k, name=f"box {k}")
    result = METHODS[name](contact_tolerance=1e-8).run(model, 0.5, H)
    for k in range(5):
        assert result[f"box {k}"].position[-1] == pytest.approx(result[f"box {k}"].position[0], abs=1e-9)
        assert carried(result, k) / H == pytest.approx([0, 0, G * (1 + k)], abs=1e-6 * 15 * G)
    pairs = result.pairs(-1)
    upper, lower = np.maximum(pairs.sphere, pairs.partner), np.minimum(pairs.sphere, pairs.partner)
    assert (upper - lower == 1)[pairs.type == 0].all() and set(pairs.sphere[pairs.type == 1]) == {0}


def test_bars_laid_crosswise_rest_on_the_four_crossings_of_their_edges():
    """No corner of one is above the other: without edges they would fall through, on one edge they would tip."""
    model, group = world(friction=0.5)
    long = np.array([0.5, 0.06, 0.06])
    for k in range(4):
        size = long if k % 2 == 0 else long[[1, 0, 2]]
        brick(model, group, [0.01 * k, 0.005 * k, 0.03 + 0.06 * k], size=size, name=f"bar {k}")
    result = fem.DecoupledNSGA(contact_tolerance=1e-8).run(model, 0.5, H)
    for k in range(4):
        assert result[f"bar {k}"].position[-1] == pytest.approx(result[f"bar {k}"].position[0], abs=1e-9)
        assert carried(result, k)[2] / H == pytest.approx(G, rel=1e-5)
    pairs = result.pairs(-1)
    assert (pairs.type == 0).sum() == 12


@pytest.mark.parametrize("place", [0.09, 0.14])
def test_a_long_rod_rests_across_a_box_and_tips_where_its_middle_is_next_to_it(place):
    """It begins to turn about the edge of the core, at 0.1 − 0.002, with the acceleration of a physical pendulum."""
    model, group = world(friction=0.5)
    brick(model, group, [0, 0, 0.05], size=[0.2, 0.2, 0.1], mass=500.0, name="box")
    rod = fem.RigidBody.capsule(1.0, 0.02, 0.6, axis=[1, 0, 0], position=[place, 0, 0.12], name="rod")
    group.capsule(model.add(rod), 0.02, 0.6, axis=[1, 0, 0])
    result = fem.DecoupledNSGA(contact_tolerance=1e-8).run(model, 0.05, H)
    arm = max(place - 0.098, 0.0)
    turn = G * arm / (rod.inertia[1, 1] + arm**2 + 0.02**2)
    assert result["rod"].angular_velocity[-1] == pytest.approx([0, 0.05 * turn, 0], rel=1e-2, abs=1e-9)


def test_a_box_that_falls_on_an_edge_moves_as_single_contacts_pairwise():
    """Lands on an edge, tips over and slams down, with friction: of order h apart."""
    size, start = np.array([0.2, 0.3, 0.1]), Rotation.from_euler("y", 0.5).as_matrix()

    def run(single, h):
        model, group = world(friction=0.6)
        if single:
            model = fem.Model("single", gravity=[0, 0, -G])
        body = fem.RigidBody.box(2.0, size, position=[0, 0, 0.2], rotation=start, name="box")
        model.add(body)
        if single:
            model.add(fem.BoxOnPlane(body, model.ground, size=size, rounding=5e-3, friction=0.6, name="floor"))
        else:
            group.box(body, size, 5e-3)
        return fem.DecoupledNSGA().run(model, 0.6, h, save_every=round(1e-2 / h))

    finest = run(True, 1e-4)["box"]
    errors = []
    for h in (1e-3, 2.5e-4):
        swept = run(False, h)["box"]
        errors.append(np.abs(swept.position - finest.position).max())
    assert errors[1] < 2e-3 and errors[1] < 0.5 * errors[0]
    assert finest.position[-1, 2] == pytest.approx(0.05, abs=1e-6)
    assert swept.position[-1] == pytest.approx(finest.position[-1], abs=2e-3)


def mixed(count, across, restitution=0.0, seed=0):
    """Spheres, capsules and boxes in all orientations above each other between four walls; their cores."""
    rng = np.random.default_rng(seed)
    model, group = world(friction=0.3, restitution=restitution)
    cores = []
    for i in range(count):
        cell = np.array([i % across, (i // across) % across, i // across**2])
        place = 0.3 * (cell + 0.5) + [*(0.01 * rng.standard_normal(2)), 0.02]
        turned = {"position": place, "rotation": Rotation.from_rotvec(rng.standard_normal(3)).as_matrix()}
        if i % 3 == 0:
            group.sphere(model.add(fem.RigidBody.sphere(1.0, 0.1, **turned)), 0.1)
            cores.append((np.zeros(3), 0.1))
        elif i % 3 == 1:
            group.capsule(model.add(fem.RigidBody.capsule(1.5, 0.06, 0.15, **turned)), 0.06, 0.15)
            cores.append((np.array([0, 0, 0.075]), 0.06))
        else:
            size = np.array([0.15, 0.2, 0.1])
            group.box(model.add(fem.RigidBody.box(0.8, size, **turned)), size, 5e-3)
            cores.append((0.5 * size - 5e-3, 5e-3))
    for turn, place in (
        ([0, 0.5 * np.pi, 0], [-0.03, 0, 0]), ([0, -0.5 * np.pi, 0], [0.3 * across + 0.03, 0, 0]),
        ([-0.5 * np.pi, 0, 0], [0, -0.03, 0]), ([0.5 * np.pi, 0, 0], [0, 0.3 * across + 0.03, 0]),
    ):  # fmt: skip
        group.obstacle(fem.SphereOnPlane, model.ground.frame(place, rotation=turn))
    return model, cores


def true_gaps(result, k, cores):
    """Least gap of shapes that are near each other in a saved step, by a quadratic program for each two."""
    state = result.rows([k])
    x, turns = state["position"][0, 1:], Rotation.from_quat(state["quaternion"][0, 1:, [1, 2, 3, 0]].T).as_matrix()
    bound = np.array([np.linalg.norm(half) + r for half, r in cores])
    least = np.inf
    for i, j in itertools.combinations(range(len(cores)), 2):
        if np.linalg.norm(x[i] - x[j]) < bound[i] + bound[j]:
            shapes = [(x[s], turns[s], cores[s][0]) for s in (i, j)]
            least = min(least, distance(*shapes) - cores[i][1] - cores[j][1])
    return least


@pytest.mark.parametrize(("name", "restitution"), in_turn(METHODS, [0.0, 0.4], first="nsga", once=True))
def test_a_mixed_heap_keeps_its_invariants(name, restitution):
    model, cores = mixed(64, 4, restitution)
    result = METHODS[name]().run(model, 0.8, 2e-3)
    assert "contact_sweeps" in result.statistics and result.statistics["inexact_contact_problems"] == 0
    assert not result.warnings
    for k in range(len(result.t)):
        pairs = result.pairs(k)
        assert pairs.gap.min(initial=0.0) > -1.001e-6 * 2 * 0.1
        along = np.einsum("ck,ck->c", pairs.impulse, pairs.normal)
        across = np.linalg.norm(pairs.impulse - along[:, None] * pairs.normal, axis=1)
        assert (along > 0.0).all() and (across <= 0.3 * along * (1 + 1e-12)).all()
    for k in (100, 150, 200, 300, 400):
        assert true_gaps(result, k, cores) > -1.001e-6 * 2 * 0.1
    assert np.diff(result.energy.total).max() <= 1e-3 * result.energy.kinetic.max()
    assert result.pair_count[-1] > 80
    mass = np.array([(1.0, 1.5, 0.8)[i % 3] for i in range(64)])
    up = sum(p.impulse[p.type == 1, 2].sum() for p in map(result.pairs, range(1, len(result.t))))
    left = mass @ result.rows([-1])["velocity"][0, 1:, 2]
    assert up - G * mass.sum() * 0.8 == pytest.approx(left, abs=1e-9 * G * mass.sum())


@pytest.mark.parametrize(("name", "rise"), [("cone", 0.0), ("nsga", 1e-4)])  # of the energy at the start
def test_a_closed_system_keeps_its_momentum_and_loses_energy(name, rise):
    """Shapes that fly into each other from all sides, without gravity; DecoupledNSGA leaves rises of order h."""
    rng = np.random.default_rng(1)
    model = fem.Model("swarm")
    group = fem.ContactGroup(friction=0.3, restitution=0.3, name="group")
    bodies = []
    for i in range(27):
        place = 0.4 * (np.array([i % 3, i // 3 % 3, i // 9]) - 1.0)
        turn = Rotation.random(random_state=rng).as_matrix()
        motion = {"velocity": -3.0 * place + 0.3 * rng.standard_normal(3), "angular_velocity": rng.standard_normal(3)}
        if i % 2:
            body = fem.RigidBody.box(1.0, BRICK, position=place, rotation=turn, **motion)
            group.box(body, BRICK, 5e-3)
        else:
            body = fem.RigidBody.capsule(1.0, 0.06, 0.2, position=place, rotation=turn, **motion)
            group.capsule(body, 0.06, 0.2)
        bodies.append(model.add(body))
    model.add(group)
    result = METHODS[name](contact_tolerance=1e-6).run(model, 0.4, H)
    assert result.pair_count.sum() > 100
    momentum, spin = [], []
    rows = result.rows([0, -1])
    for x, v, Q, w in zip(*(rows[name] for name in ("position", "velocity", "quaternion", "angular_velocity"))):
        turns = Rotation.from_quat(Q[1:, [1, 2, 3, 0]])
        J = np.array([body.inertia for body in bodies])
        momentum.append(v[1:].sum(axis=0))
        spin.append((np.cross(x[1:], v[1:]) + turns.apply(np.einsum("bij,bj->bi", J, w[1:]))).sum(axis=0))
    size = np.abs(rows["velocity"][0, 1:]).sum()
    assert momentum[1] == pytest.approx(momentum[0], abs=1e-12 * size)
    assert spin[1] == pytest.approx(spin[0], abs=2e-3 * size)  # of gaps that close, and of order h
    assert np.diff(result.energy.total).max() <= rise * result.energy.total[0]


def test_fast_shapes_do_not_pass_through_each_other():
    """Crossed rods, and a box that flies edge first, at several of their thicknesses in a step."""
    for speed in (20.0, 100.0):
        model = fem.Model("bullets")
        group = fem.ContactGroup(friction=0.0, name="group")
        wall = fem.RigidBody.box(1.0, [1.0, 1.0, 0.02], name="wall", fixed=True)
        group.box(model.add(wall), [1.0, 1.0, 0.02], 5e-3)
        bar = model.add(fem.RigidBody.capsule(1.0, 0.01, 1.0, axis=[1, 0, 0], position=[0, 2, 0], fixed=True))
        group.capsule(bar, 0.01, 1.0, axis=[1, 0, 0])
        motion = {"velocity": [0, 0, -speed]}
        turn = Rotation.from_euler("x", 0.6).as_matrix()
        box = fem.RigidBody.box(1.0, [0.1] * 3, position=[0, 0, 0.313], rotation=turn, name="box", **motion)
        group.box(model.add(box), [0.1] * 3, 5e-3)
        rod = fem.RigidBody.capsule(1.0, 0.01, 1.0, axis=[0, 1, 0], position=[0.1, 2.05, 0.293], name="rod", **motion)
        group.capsule(model.add(rod), 0.01, 1.0, axis=[0, 1, 0])
        model.add(group)
        result = fem.DecoupledNSGA().run(model, 0.02, H)
        assert result["box"].position[:, 2].min() > 0.05 and result["rod"].position[-1, 2] > -0.2 * 0.02 * speed
        assert min(result.pairs(k).gap.min(initial=0.0) for k in range(len(result.t))) > -1e-6 * 0.02
        assert max(result.pair_count) >= 2


@pytest.mark.parametrize("acceleration", [2.0, -2.0])
def test_a_box_on_a_lift_moves_with_it_and_weighs_what_it_should(acceleration):
    model = fem.Model("lift", gravity=[0, 0, -G])
    group = fem.ContactGroup(friction=0.3, name="group")
    plate = model.add(fem.RigidBody(5.0, 1.0, name="plate"))
    guide = model.add(fem.Prismatic.at(model.ground, plate, [0, 0, 0], [0, 0, 1], name="guide"))
    way = lambda t: 0.5 * acceleration * t**2  # noqa: E731
    model.add(fem.LinearDriver(guide.frame_P, guide.frame_Q, distance=way, name="motor"))
    brick(model, group, [0, 0, 0.05], name="box")
    group.obstacle(fem.SphereOnPlane, plate)
    model.add(group)
    result = fem.ConeComplementarity(relaxed=False, contact_tolerance=1e-9).run(model, 0.2, H)
    above = result["box"].position[:, 2] - result["plate"].position[:, 2]
    assert above == pytest.approx(0.05, abs=1e-9)
    forces = np.array([carried(result, 0, k)[2] for k in range(10, 200)]) / H
    assert forces == pytest.approx(G + acceleration, rel=1e-6)


@pytest.mark.parametrize("speed", [1.0, 50.0])
def test_a_wall_that_comes_from_afar_pushes_a_box_that_rests(speed):
    """Nothing has moved but the wall when it gets there."""
    model, group = world(friction=0.0)
    motion = {"velocity": [speed, 0, 0]}
    wall = fem.RigidBody(5.0, 1.0, position=[-1.013, 0, 0], rotation=[0, 0.5 * np.pi, 0], name="wall", **motion)
    model.add(wall)
    guide = model.add(fem.Prismatic.at(model.ground, wall, [0, 0, 0], [1, 0, 0], name="guide"))
    model.add(fem.LinearDriver(guide.frame_P, guide.frame_Q, distance=lambda t: speed * t, name="motor"))
    brick(model, group, [0, 0, 0.05], name="box")
    group.obstacle(fem.SphereOnPlane, wall)
    result = fem.ConeComplementarity(relaxed=False, contact_tolerance=1e-9).run(model, 1.5 / speed, H)
    apart = result["box"].position[:, 0] - result["wall"].position[:, 0] - 0.1
    assert apart.min() > -1e-6 and result["box"].velocity[-1, 0] == pytest.approx(speed, rel=1e-6)


def test_a_box_on_the_ground_and_a_fixed_body_are_obstacles():
    model, group = world(friction=0.5)
    group.box(model.ground.frame([0, 0, 0.1]), [0.4, 0.4, 0.2], 5e-3)
    block = model.add(fem.RigidBody.box(1.0, [0.1, 0.1, 0.2], position=[0.05, 0, 0.3], fixed=True, name="block"))
    group.box(block, [0.1, 0.1, 0.2], 5e-3)
    brick(model, group, [-0.12, 0, 0.25], name="box", velocity=[2.0, 0, 0])
    result = fem.DecoupledNSGA(contact_tolerance=1e-8).run(model, 0.3, H)
    assert result["box"].position[-1] == pytest.approx([-0.1, 0, 0.25], abs=1e-6)
    assert carried(result, 2)[2] / H == pytest.approx(G, rel=1e-3)


@pytest.mark.parametrize("restitution", [0.0, 0.4])
@pytest.mark.parametrize("name", ["cone", "relaxed", "nsga"])
def test_spheres_move_next_to_a_capsule_as_they_do_alone(name, restitution):
    """Clumps of spheres are shapes too; features and pairs of spheres are two codes for them."""

    def run(beside):
        model, group = world(friction=0.3, restitution=restitution)
        for k in range(30):
            center = [0.22 * (k % 5) + 0.01 * (k % 3), 0.22 * (k // 5 % 3), 0.2 + 0.25 * (k // 15)]
            body = fem.RigidBody(
                1.0, [2e-3, 3e-3, 4e-3], position=center, velocity=[0.3, 0.1 * (k % 4), -1.0], name=str(k)
            )
            model.add(body)
            for place in ([0.04, 0, 0], [-0.04, 0.02, 0.0]):
                group.sphere(body.frame(place), 0.05)
        if beside:
            group.capsule(model.add(fem.RigidBody(1.0, 0.1, position=[9, 0, 5.0])), 0.05, 0.1)
        else:
            group.sphere(model.add(fem.RigidBody(1.0, 0.1, position=[9, 0, 5.0])).frame([0, 0, 0.05]), 0.05)
        methods = METHODS | {"relaxed": lambda **options: fem.ConeComplementarity(relaxed=True, **options)}
        return methods[name](contact_tolerance=1e-10).run(model, 0.16, 2e-3)

    a, b = run(True), run(False)
    assert a.pair_count[:71].max() > 10
    # later one body is pushed by round-off alone: it goes to x + h v, without contacts on a parabola, ½ g h² apart
    assert a.rows([70])["position"][0, 1:31] == pytest.approx(b.rows([70])["position"][0, 1:31], abs=1e-8)
    assert a.rows([70])["velocity"][0, 1:31] == pytest.approx(b.rows([70])["velocity"][0, 1:31], abs=1e-7)


def test_results_say_which_shapes_touch_and_draw_them(tmp_path):
    model, group = world(friction=0.5)
    box = brick(model, group, [0, 0, 0.05], name="box")
    rod = fem.RigidBody.capsule(1.0, 0.02, 0.1, axis=[1, 0, 0], position=[0, 0, 0.12], name="rod")
    group.capsule(model.add(rod), 0.02, 0.1, axis=[1, 0, 0])
    result = fem.DecoupledNSGA().run(model, 0.05, H, save=tmp_path / "shapes.vtkhdf")
    pairs, group_of = result.pairs(-1), result.description["contact_groups"][0]
    assert group_of["shapes"] == ["box", "capsule"] and group_of["partners"][0] == ["box", "rod"]
    assert sorted(set(zip(pairs.sphere, pairs.type, pairs.partner))) == [(0, 1, 0), (1, 0, 0)]
    top = pairs.point[pairs.type == 0]
    assert top[:, 2] == pytest.approx(0.1, abs=1e-6) and sorted(top[:, 0]) == pytest.approx([-0.05, 0.05], abs=1e-6)
    result.picture(tmp_path / "shapes.png")
    assert (tmp_path / "shapes.png").stat().st_size > 1000 and box.name == "box"
