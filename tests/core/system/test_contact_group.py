"""Contact groups: the search of pairs, the same motion as with elements, materials, results, bad input."""

import copy
import pickle
import re
import warnings

import numpy as np
import pytest
import spheres_in_a_box

import fem_mbs as fem
from fem_mbs.shapes import Sphere
from fem_mbs.system.broad_phase import near_pairs

BOTH = {"friction": 0.3, "restitution": 0.5}


@pytest.mark.parametrize("spread", [0.3, 3.0, 100.0])
def test_near_pairs_are_those_of_all_pairs(spread):
    rng = np.random.default_rng(3)
    centers, radii, margin = spread * rng.normal(size=(200, 3)), rng.uniform(0.02, 0.1, 200), 0.03
    room = np.zeros((20000, 2), np.int64)
    found = near_pairs(centers, radii, margin, room)
    gaps = np.linalg.norm(centers[:, None] - centers, axis=-1) - radii[:, None] - radii
    expected = np.argwhere(np.triu(gaps < margin, 1))
    assert found == len(expected)
    assert {tuple(p) for p in room[:found]} == {tuple(p) for p in expected}


# groups take impacts and closed contacts so whatever the options are; contacts as elements have to be asked for it
AS_GROUPS = {"persistent_contacts": False, "impacts": "plain", "reset_after_impact": False}


def test_near_pairs_report_when_there_is_no_room():
    centers, room = np.zeros((5, 3)), np.zeros((3, 2), np.int64)
    assert near_pairs(centers, np.ones(5), 0.1, room) == 10


def three_balls(grouped, **law):
    """Two balls that roll towards a third on a floor, under a lid they do not reach."""
    model = fem.Model("three balls", gravity=[0, 0, -9.81])
    balls = [
        model.add(fem.RigidBody.sphere(1.0, 0.1, position=[x, y, 0.1], velocity=[v, 0, 0], name=f"ball {k}"))
        for k, (x, y, v) in enumerate([(-0.5, 0.03, 2.0), (0.0, 0.0, 0.0), (0.6, -0.05, -1.0)])
    ]
    law = law or BOTH
    if grouped:
        group = fem.ContactGroup(name="balls", **law)
        for ball in balls:
            group.sphere(ball, 0.1)
        group.obstacle(fem.SphereOnPlane, model.ground.frame())
        model.add(group)
        return model
    for i, ball in enumerate(balls):
        model.add(fem.SphereOnPlane(ball, model.ground.frame(), radius=0.1, **law))
        for other in balls[i + 1 :]:
            model.add(fem.SphereOnSphere(ball, other, radius_A=0.1, radius_B=0.1, **law))
    return model


def test_a_group_moves_like_its_contacts_as_elements():
    stepper = AS_GROUPS | {"contact_solver": "problem", "contact_tolerance": 1e-11}
    group = fem.DecoupledNSGA(**stepper).run(three_balls(True), 0.6, 1e-3)
    single = fem.DecoupledNSGA(**stepper).run(three_balls(False), 0.6, 1e-3)
    assert group.statistics["pair_searches"] > 5
    a, b = group.rows([-1]), single.rows([-1])
    # the sequence of impact problems is the same; impulses agree to the tolerance of the contact problems
    np.testing.assert_allclose(a["position"], b["position"], atol=1e-8)
    np.testing.assert_allclose(a["velocity"], b["velocity"], atol=1e-7)
    assert abs(a["velocity"][0, 2]).max() > 0.1  # they did meet


def test_rolling_resistance_stops_the_balls_of_a_group():
    model = three_balls(True, friction=0.5, rolling_resistance=5e-3)
    result = fem.DecoupledNSGA().run(model, 2.0, 2e-3)
    assert np.abs(result.rows([-1])["velocity"]).max() < 1e-3 * np.abs(result.rows([0])["velocity"]).max()


def test_moving_obstacles_take_their_pairs_along():
    """A box on a driven slide sweeps a ball along a frictionless floor."""
    model = fem.Model("sweep", gravity=[0, 0, -9.81])
    ball = model.add(fem.RigidBody.sphere(1.0, 0.05, position=[0.5, 0, 0.05], name="ball"))
    box = model.add(fem.RigidBody(1.0, 0.1, position=[0, 0, 0.05], velocity=[1.0, 0, 0], name="box"))
    model.add(fem.Prescribed(box, x=lambda t: 1.0 * t, y=0.0, z=0.05))
    group = fem.ContactGroup(friction=0.0, name="sweep")
    group.sphere(ball, 0.05)
    group.obstacle(fem.SphereOnBox, box, size=[0.2, 0.4, 0.2])
    group.obstacle(fem.SphereOnPlane, model.ground.frame())
    model.add(group)
    result = fem.DecoupledNSGA().run(model, 0.8, 1e-3)
    assert result["ball"].position[-1, 0] == pytest.approx(0.8 + 0.15, abs=1e-6)
    assert result["ball"].velocity[-1, 0] == pytest.approx(1.0, abs=1e-6)


def test_excluded_bodies_pass_through_each_other():
    model = fem.Model("ghosts")
    a = model.add(fem.RigidBody.sphere(1.0, 0.1, position=[-0.3, 0, 0], velocity=[1, 0, 0], name="a"))
    b = model.add(fem.RigidBody.sphere(1.0, 0.1, position=[0.3, 0, 0], velocity=[-1, 0, 0], name="b"))
    group = fem.ContactGroup(name="ghosts")
    group.sphere(a, 0.1)
    group.sphere(b, 0.1)
    group.exclude(a, b)
    model.add(group)
    result = fem.DecoupledNSGA().run(model, 0.6, 1e-2)
    assert result["a"].position[-1, 0] == pytest.approx(0.3, abs=1e-12)
    assert not result.pair_count.any()


def test_pairs_are_read_back_from_a_file(tmp_path):
    memory = spheres_in_a_box.run(20, 0.05, save=None, across=3)
    file = spheres_in_a_box.run(20, 0.05, save=tmp_path / "box.vtkhdf", across=3)
    assert memory.pair_count[-1] > 5
    for k in (0, 3, -1):
        for ours, theirs in zip(memory.pairs(k), file.pairs(k)):
            np.testing.assert_array_equal(ours, theirs)
    assert fem.load(tmp_path / "box.vtkhdf").description["contact_groups"][0]["types"] == [
        "SphereOnSphere",
        "SphereOnPlane",
    ]
    with pytest.raises(IndexError):
        memory.pairs(len(memory.t))


def test_poured_spheres_lose_energy_and_do_not_penetrate():
    result = spheres_in_a_box.run(20, 0.2, save=None, across=3, speed=0.5)
    # spheres that roll on each other: measured 1.2e-6 J in a step at h = 1e-3, 4.5e-7 at 5e-4, the same for contact
    # problems solved to 1e-9: it is the scheme's (docs/theory/decoupled_nsga.md), of second order per step
    assert np.diff(result.energy.total).max() <= 5e-5 * result.energy.total[0]
    # contact_tolerance 1e-5 of displacements of the order g h² = 1e-5 m
    assert min(result.pairs(k).gap.min(initial=0.0) for k in range(len(result.t))) > -1e-8
    for k in (10, 15, 20):
        pairs = result.pairs(k)
        normal = np.einsum("ci,ci->c", pairs.impulse, pairs.normal)
        tangential = np.linalg.norm(pairs.impulse - normal[:, None] * pairs.normal, axis=1)
        assert (tangential <= 0.8 * normal * (1 + 1e-8) + 1e-12).all()


def test_material_table_takes_the_most_precise_entry():
    table = fem.MaterialTable({("a", "b"): {"friction": 1.0}, ("a", "*"): {"friction": 2.0}, ("*", "*"): {}})
    assert table.law("b", "a") == {"friction": 1.0}
    assert table.law("c", "a") == {"friction": 2.0}
    assert table.law("c", "d") == {}


def test_material_table_rejects_what_is_ambiguous():
    table = fem.MaterialTable({("a", "*"): {"friction": 1.0}, ("b", "*"): {"friction": 2.0}})
    with pytest.raises(fem.ParameterError, match=r"law = \('a', 'b'\).*differ"):
        table.law("a", "b")
    with pytest.raises(fem.ParameterError, match=r"law = \('c', 'd'\).*\* - a, \* - b"):
        table.law("c", "d")
    with pytest.raises(fem.ParameterError, match=r"laws = \('b', 'a'\).*twice"):
        fem.MaterialTable({("a", "b"): {}, ("b", "a"): {}})
    with pytest.raises(fem.ParameterError, match=r"laws = 'a'.*pair"):
        fem.MaterialTable({"a": {}})


def group_of(model, **options):
    """A group with two spheres of a model."""
    group = fem.ContactGroup(**options)
    for k, material in enumerate(("steel", "wood")):
        position = [0.15 * k, 0, 0]
        body = model.add(fem.RigidBody.sphere(1.0, 0.05, position=position, velocity=[-k, 0, 0], name=f"ball {k}"))
        group.sphere(body, 0.05, material=material)
    return model.add(group)


def test_bad_groups_are_rejected():
    with pytest.raises(fem.ParameterError, match=r"materials = \{\}.*law .friction."):
        fem.ContactGroup(materials={}, friction=0.1)
    with pytest.raises(fem.ParameterError, match=r"'g': skin = -1\.0 m.*> 0"):
        fem.ContactGroup(skin=-1.0, name="g")
    with pytest.raises(fem.ParameterError, match=r"radius = 0\.0 m.*> 0"):
        fem.ContactGroup(name="g").sphere(fem.RigidBody.sphere(1.0, 0.1), 0.0)
    with pytest.raises(fem.ParameterError, match="SphereOnBox"):
        fem.ContactGroup().obstacle(fem.SphereOnBox, fem.Model().ground, size=[1, 1, -1])
    model = fem.Model("empty group")
    model.add(fem.RigidBody.sphere(1.0, 0.1), fem.ContactGroup(name="nobody"))
    with pytest.raises(fem.ParameterError, match=r"'nobody': spheres = 0.*group\.sphere"):
        model.compile()


def test_a_pair_without_law_is_named_when_it_meets():
    model = fem.Model("no law")
    group_of(model, materials={("steel", "steel"): {}, ("wood", "wood"): {}}, name="g")
    with pytest.raises(fem.ModelError, match=r"no law for 'steel' and 'wood'.*ball 0 - ball 1"):
        fem.DecoupledNSGA().run(model, 0.2, 1e-2)


@pytest.mark.parametrize("put", ["sphere", "obstacle"])
def test_a_misspelt_material_is_rejected(put):
    """It would have the law of ("*", "*")."""
    model = fem.Model("misspelt")
    group = fem.ContactGroup(materials={("steel", "*"): {}, ("*", "*"): {"friction": 1.0}}, name="g")
    with pytest.raises(fem.ParameterError, match=r"'g': material = 'stele'.*'steel'"):
        if put == "sphere":
            group.sphere(fem.RigidBody.sphere(1.0, 0.1), 0.1, material="stele")
        else:
            group.obstacle(fem.SphereOnPlane, model.ground, material="stele")
    group.sphere(fem.RigidBody.sphere(1.0, 0.1), 0.1)  # of no name
    fem.ContactGroup(materials={("*", "*"): {}}).sphere(fem.RigidBody.sphere(1.0, 0.1), 0.1, material="any name")


def test_a_sphere_given_twice_is_rejected():
    group, body = fem.ContactGroup(name="g"), fem.RigidBody.sphere(1.0, 0.1)
    group.sphere(body.frame([0.1, 0, 0]), 0.05)
    group.sphere(body.frame([0.1, 0, 0]), 0.04)
    group.sphere(fem.RigidBody.sphere(1.0, 0.1).frame([0.1, 0, 0]), 0.05)
    with pytest.raises(fem.ParameterError, match=r"'g': radius = 0\.05 m.*sphere 0"):
        group.sphere(body.frame([0.1, 0, 0]), 0.05)
    assert len(group.radii) == 3


def test_a_law_with_an_unknown_coefficient_is_rejected():
    with pytest.raises(fem.ParameterError, match=r"'g': stickiness = 1\.0.*parameter"):
        fem.ContactGroup(stickiness=1.0, name="g")
    with pytest.raises(fem.ParameterError, match=r"'g': friction = -1\.0.*≥ 0"):
        fem.ContactGroup(friction=-1.0, name="g")
    with pytest.raises(fem.ParameterError, match=r"MaterialTable: frictoin = 1.*'friction'.*'a' and '\*'"):
        fem.ContactGroup(materials={("a", "*"): {"frictoin": 1.0}}, name="g")
    with pytest.raises(fem.ParameterError, match=r"MaterialTable: restitution = 2\.0 .*'a' and 'b'"):
        fem.MaterialTable({("a", "b"): {"restitution": 2.0}})


@pytest.mark.parametrize(
    ("call", "words"),
    [
        # silently the law of the group before: a ball slid on without the friction of its obstacle
        (lambda g, m: g.obstacle(fem.SphereOnPlane, m.ground, friction=0.5), "friction = 0.5 .*pairs"),
        (lambda g, m: g.obstacle(fem.SphereOnPlane, m.ground, restitution=0.5), "restitution = 0.5 .*pairs"),
        (lambda g, m: g.obstacle(fem.SphereOnPlane, m.ground, radius=0.1), "radius = 0.1 .*spheres"),
        (lambda g, m: g.obstacle(fem.SphereOnSphere, m.ground, radius_B=1.0), "no obstacle.*sphere"),
        (lambda g, m: g.obstacle(fem.SphereOnCapsule, (m.ground, m.ground)), r"no obstacle.*SphereOnCylinder"),
        (lambda g, m: g.obstacle(fem.CapsuleOnCapsule, m.ground), r"no obstacle.*SphereOnCylinder"),
    ],
)
def test_obstacles_that_a_group_cannot_have_are_rejected_with_what_to_do(call, words):
    with pytest.raises(fem.ParameterError, match="ContactGroup 'g': .*" + words):
        call(fem.ContactGroup(friction=0.3, name="g"), fem.Model())


def test_a_pair_with_two_laws_is_reported_from_one_without():
    model = fem.Model("two laws")
    group_of(model, materials={("steel", "*"): {"friction": 0.1}, ("*", "wood"): {"friction": 0.2}}, name="g")
    with pytest.raises(fem.ModelError, match=r"two laws.*'steel' and 'wood'.*ball 0 - ball 1"):
        fem.DecoupledNSGA().run(model, 0.2, 1e-2)


def test_obstacles_have_the_names_they_are_given():
    model = fem.Model("names", gravity=[0, 0, -9.81])
    group = fem.ContactGroup(name="g")
    group.sphere(model.add(fem.RigidBody.sphere(1.0, 0.1, position=[0, 0, 0.1])), 0.1)
    group.obstacle(fem.SphereOnPlane, model.ground, name="floor")
    group.obstacle(fem.SphereOnPlane, model.ground.frame([0, 0, 1], [np.pi, 0, 0], name="lid"))
    group.obstacle(fem.SphereOnBox, model.ground.frame([2, 0, 0]), size=[1, 1, 1])
    model.add(group)
    result = fem.DecoupledNSGA().run(model, 2e-3, 1e-3)
    assert result.description["contact_groups"][0]["partners"][1:] == [["floor", "lid"], ["ground"]]
    assert re.search("1 contacts closed.*smallest gap", str(result.report()))
    with pytest.raises(KeyError, match=r"'g'.*result\.pairs\(k\)"):
        result["g"]


def test_a_group_next_to_a_contact_that_is_an_element_moves_as_each_alone():
    """Contacts of the group are not searched yet when the model is measured: compiling ended in a ValueError."""
    model = fem.Model("beside", gravity=[0, 0, -9.81])
    group = fem.ContactGroup(friction=0.3, name="g")
    slide = {"velocity": [1.0, 0, 0]}
    balls = [model.add(fem.RigidBody.sphere(1.0, 0.1, position=[0, y, 0.1], name=f"b{y}", **slide)) for y in (0, 1)]
    group.sphere(balls[0], 0.1)
    group.obstacle(fem.SphereOnPlane, model.ground)
    model.add(group, fem.SphereOnPlane(balls[1], model.ground, radius=0.1, friction=0.3))
    result = fem.DecoupledNSGA().run(model, 0.05, 1e-3)
    expected = 1.0 - 0.3 * 9.81 * 0.05  # slides all the time: up to 2/7 v/(μ g) = 0.097 s
    for k in range(2):
        assert result[f"b{k}"].velocity[-1, 0] == pytest.approx(expected, abs=1e-5)  # tolerance of contact problems


@pytest.mark.parametrize("option", [{"contact_solver": "newton"}, {"persistent_contacts": True}])
def test_options_that_groups_do_not_support_are_rejected(option):
    model = fem.Model("options")
    group_of(model, name="g")
    with pytest.raises(fem.ParameterError, match=r"contact groups .'g'."):
        fem.DecoupledNSGA(**option).run(model, 0.2, 1e-2)


def test_spheres_that_overlap_at_the_start_are_named():
    model = fem.Model("overlap")
    group = fem.ContactGroup(name="g")
    for k in range(2):
        group.sphere(model.add(fem.RigidBody.sphere(1.0, 0.05, position=[0.05 * k, 0, 0], name=f"b{k}")), 0.05)
    model.add(group)
    with pytest.raises(fem.ModelError, match=r"b0 - b1.*penetration, gap = -0\.05"):
        model.compile()


def test_a_long_impact_sequence_of_a_group_is_cut_short_and_counted():
    """Two rows of touching elastic balls meet: the sequence would hand impulses up and down many times."""
    model = fem.Model("row")
    group = fem.ContactGroup(restitution=0.9, name="row")
    for k in range(6):
        speed = 1.0 if k < 3 else -1.0
        place = [0.1 * k + (0.05 if k > 2 else 0.0), 0, 0]
        ball = fem.RigidBody(1.0, 0.1, position=place, velocity=[speed, 0, 0], shape=Sphere(0.05))
        group.sphere(model.add(ball), 0.05)
    model.add(group)
    assembled = {"contact_solver": "problem"}
    result = fem.DecoupledNSGA(max_problems=4, **assembled).run(model, 0.1, 5e-3)
    assert result.statistics["impact_sequences_cut_short"] >= 1
    assert result.problems.max() <= 4
    assert np.diff(result.energy.total).max() < 1e-12
    with_all = fem.DecoupledNSGA(max_problems=500, **assembled).run(model, 0.1, 5e-3)
    assert with_all.statistics["impact_sequences_cut_short"] == 0


def test_balls_of_a_group_move_in_a_drum_smaller_than_a_metre():
    model = fem.Model("drum", gravity=[0, -9.81, 0])
    ball = model.add(fem.RigidBody.sphere(0.1, 0.02, position=[0, 0, 0], name="ball"))
    group = fem.ContactGroup(name="balls")
    group.sphere(ball, 0.02)
    group.obstacle(fem.SphereInCylinder, model.ground.frame(), radius_cylinder=0.1)
    model.add(group)
    result = fem.DecoupledNSGA().run(model, t_end=0.3, h=1e-3)
    # falls 0.08 m in 0.128 s and stays there, e_N = 0
    assert result["ball"].position[-1] == pytest.approx([0, -0.08, 0], abs=1e-6)


@pytest.mark.parametrize("radius", [0.02, 0.05])
def test_pairs_with_obstacles_have_the_passage_of_the_contact_itself(radius):
    """It was negative, by prototypes of the smallest sphere: contacts of nothing were held where spheres met a box."""
    model, group = fem.Model("passages"), fem.ContactGroup(name="balls")
    for k, r in enumerate((radius, 0.02)):
        group.sphere(model.add(fem.RigidBody.sphere(1.0, r, position=[0.2 * k, 0, r + 1e-3], name=f"ball {k}")), r)
    geometry = {
        fem.SphereOnBox: {"size": [1.0, 1.0, 0.1]},
        fem.SphereOnCylinder: {"radius_cylinder": 0.05, "length": 0.1},
    }
    frame = model.ground.frame([0, 0, -0.05])
    for kind, sizes in geometry.items():
        group.obstacle(kind, frame, **sizes)
    group.obstacle(fem.SphereOnPlane, model.ground.frame())
    system = model.add(group) and model.compile()
    state = system.initial
    system.search_pairs(state.x, state.R, state.V, 1e-3)
    seen = set()
    for pairs in system.searches[0].groups:
        for e, (sphere, _) in enumerate(pairs.pairs):
            r = group.radii[sphere]
            alone = 0.0
            if pairs.kind in geometry:
                alone = pairs.kind(fem.Node6(), frame, radius=r, **geometry[pairs.kind]).passage
            seen.add(pairs.kind)
            assert pairs.contact_data["passage"][e] == pytest.approx(alone, rel=1e-14), pairs.kind
    assert seen == {fem.SphereOnPlane, *geometry}


def test_a_fast_ball_rolls_over_a_box_that_is_flush_with_the_floor():
    model, group = fem.Model("flush", gravity=[0, 0, -9.81]), fem.ContactGroup(name="balls", friction=0.3)
    ball = model.add(fem.RigidBody.sphere(1.0, 0.03, position=[-0.3, 0, 0.03], velocity=[5, 0, 0], name="ball"))
    small = model.add(fem.RigidBody.sphere(1.0, 0.02, position=[0, 1, 0.02], name="small"))
    group.sphere(ball, 0.03)
    group.sphere(small, 0.02)
    group.obstacle(fem.SphereOnPlane, model.ground.frame())
    group.obstacle(fem.SphereOnBox, model.ground.frame([0, 0, -0.05]), size=[0.2, 0.2, 0.1])
    model.add(group)
    result = fem.DecoupledNSGA().run(model, 0.2, 2e-3)
    assert result["ball"].position[-1, 0] > 0.2
    # where it meets the edge within a step, the direction of first touch throws it up by tenths of a millimetre
    assert -1e-9 < result["ball"].position[:, 2].min() - 0.03 and result["ball"].position[:, 2].max() < 0.0305


def test_a_plane_without_a_size_is_drawn_as_large_as_the_group():
    group = fem.ContactGroup()
    for x in (0.0, 1.0):
        group.sphere(fem.RigidBody.sphere(1.0, 0.1, position=[x, 0, 1]), 0.1)
    for size in ({}, {"drawn_size": 0.5}):
        group.obstacle(fem.SphereOnPlane, fem.Model().ground, **size)
    edges = [np.ptp(mesh.points, axis=0).max() for _, mesh in group.picture()]
    assert edges == pytest.approx([3.0, 0.5])  # twice the extent of the centres and ten radii


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda model: pickle.loads(pickle.dumps(model))])
def test_a_copy_of_a_model_lets_the_same_bodies_pass(copied):
    model = fem.Model("passing", gravity=[0, 0, 0])
    balls = [fem.RigidBody.sphere(1, 0.1, position=[x, 0, 0], velocity=[v, 0, 0], name=name)
             for x, v, name in ((-0.3, 1.0, "first"), (0.3, 0.0, "second"))]  # fmt: skip
    group = fem.ContactGroup(name="balls")
    for ball in balls:
        group.sphere(ball, 0.1)
    group.exclude(*balls)
    model.add(*balls, group)
    result = fem.DecoupledNSGA(rho_inf=0.8).run(copied(model), 0.8, 1e-2)
    assert result["first"].velocity[-1, 0] == pytest.approx(1.0, abs=1e-12)  # 0 where they collide


@pytest.mark.parametrize("method", [fem.DecoupledNSGA, fem.ConeComplementarity], ids=lambda m: m.__name__)
def test_a_ball_whose_mass_is_not_in_its_middle_rocks_as_it_does_with_a_contact_of_its_own(method):
    """Its mass matrix turns with it: a second iteration is needed, which began with a wrong right-hand side."""
    results = []
    for grouped in (True, False):
        model = fem.Model("off centre", gravity=[0, 0, -9.81])
        body = model.add(fem.RigidBody(1.0, 4e-3, position=[0, 0, 0.1], center=[0.02, 0, 0], name="ball"))
        if grouped:
            group = fem.ContactGroup(friction=0.2, name="group")
            group.sphere(body, 0.1)
            group.obstacle(fem.SphereOnPlane, model.ground)
            model.add(group)
        else:
            model.add(fem.SphereOnPlane(body, model.ground, radius=0.1, friction=0.2))
        options = {"relaxed": False} if method is fem.ConeComplementarity else AS_GROUPS
        results.append(method(contact_solver="problem" if grouped else "auto", **options).run(model, 0.05, 1e-3))
    a, b = (result["ball"] for result in results)
    assert a.position == pytest.approx(b.position, abs=1e-8)
    assert a.angular_velocity == pytest.approx(b.angular_velocity, abs=1e-5) and abs(a.angular_velocity[-1, 1]) > 0.5


class Counts:
    """Observer that counts the states that it is shown."""

    def __init__(self):
        self.seen = 0

    def start(self, system):
        self.seen = 0

    def observe(self, block):
        self.seen += len(block["t"])

    def finish(self):
        pass


@pytest.mark.parametrize("observed", [False, True])
@pytest.mark.parametrize("way", ["auto", "problem"])
def test_kept_pairs_are_those_of_the_kept_states_with_the_impulses_of_all_steps(way, observed, tmp_path):
    """With observers every step is shown, and those in between are left out when they are written."""
    stepper = fem.ConeComplementarity(contact_solver=way)
    every = stepper.run(three_balls(True), 0.4, 1e-3)
    watch, options = Counts(), {"save_every": 7, "save": tmp_path / "kept.vtkhdf"}
    some = stepper.run(three_balls(True), 0.4, 1e-3, observers=[watch] if observed else [], **options)
    assert watch.seen == (401 if observed else 0)
    kept = np.append(np.arange(0, 401, 7), 400)
    np.testing.assert_array_equal(some.t, every.t[kept])
    assert len(set(every.pair_count)) > 1  # else any would do
    for k, (before, step) in enumerate(zip([-1, *kept], kept)):
        here, there = some.pairs(k), every.pairs(step)
        closed = here.status > 0
        np.testing.assert_array_equal(here.force[closed], there.force)
        np.testing.assert_array_equal(here.gap[closed], there.gap)
        all_steps = sum(every.pairs(i).impulse.sum(axis=0) for i in range(before + 1, step + 1))
        np.testing.assert_allclose(here.impulse.sum(axis=0), all_steps, rtol=1e-12, atol=1e-15)


def test_a_group_without_forces_needs_no_digits_beyond_round_off():
    """Two contacts at once: their rows hold to 5e-14 of the speed, and were asked for 1.5e-14 where nothing pulls."""
    model = fem.Model("air hockey")
    group = fem.ContactGroup(restitution=0.5)
    for name, mass, place, speed in (("first", 1.0, [0, 0, 0], 1.0), ("second", 2.0, [0.5, 0.03, 0], 0.0)):
        body = model.add(fem.RigidBody(mass, [0.02 * mass] * 3, position=place, velocity=[speed, 0, 0], name=name))
        for y in (-0.1, 0.1):
            group.sphere(body.frame([0, y, 0]), 0.05)
    model.add(group)
    result = fem.MoreauJean(divide_failed_steps=False).run(model, 0.46, 1e-3)
    assert result["first"].velocity[-1, 0] + 2.0 * result["second"].velocity[-1, 0] == pytest.approx(1.0, abs=1e-12)
    assert result["second"].velocity[-1, 0] > 0.3


def overlapping(depths):
    """Two spheres on a floor, which the first overlaps by depths[0], and each other by depths[1] [m]; and a third."""
    model, group = fem.Model("overlaps"), fem.ContactGroup(name="balls")
    for k, place in enumerate(([0, 0, 0.1 - depths[0]], [0.2 - depths[1], 0, 0.1], [1.0, 0, 0.3])):
        group.sphere(model.add(fem.RigidBody.sphere(1.0, 0.1, position=place, name=f"ball {k}")), 0.1)
    group.obstacle(fem.SphereOnPlane, model.ground.frame(name="floor"))
    model.add(group)
    return model


@pytest.mark.parametrize(
    ("depths", "words"),
    [((0.0, 0.0), None), ((0.03, 0.0), "ball 0 - floor"), ((0.0, 0.03), "ball 0 - ball 1"), ((1e-10, 1e-10), None)],
)
def test_overlaps_are_found_without_contacts_of_all_pairs(depths, words):
    """Pairs are near, but no contact is made of them before a solver wants it."""
    if words is not None:
        with pytest.raises(fem.ModelError, match=f"balls: {words}'.*penetration, gap = -0.03 m"):
            overlapping(depths).compile()
        return
    system = overlapping(depths).compile()
    assert system.nc == 0
    system.search_pairs(system.initial.x, system.initial.R)
    assert sorted(system.contact_at(c).name for c in range(system.nc)) == [
        "balls: ball 0 - ball 1", "balls: ball 0 - floor", "balls: ball 1 - floor",
    ]  # fmt: skip


def test_overlaps_leave_out_bodies_that_may_not_touch():
    model = overlapping((0.0, 0.03))
    model.contact_groups[0].exclude(model["ball 0"], model["ball 1"])
    model.compile()


def test_a_limit_beyond_the_spheres_finds_no_overlap():
    """Concentric spheres have the gap −2 r: nothing is below −3 r."""
    system = overlapping((0.0, 0.0)).compile()
    system.initial.x[:] = 0.0
    assert not list(system.overlaps(system.initial, -0.3))
    found = [(pair.name, gap) for pair, gap in system.overlaps(system.initial, -0.1)]
    assert found == [("balls: ball 0 - ball 1", pytest.approx(-0.2))]


def test_a_group_that_the_model_was_not_given_is_reported():
    model, group = fem.Model(), fem.ContactGroup(name="balls")
    group.sphere(model.add(fem.RigidBody.sphere(1.0, 0.1, name="ball")), 0.1)
    with pytest.warns(UserWarning, match=r"'balls'.*Node6 'ball'.*model.add"):
        model.compile()
    model.add(group)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        copy.deepcopy(model).compile()
        pickle.loads(pickle.dumps(model)).compile()


@pytest.mark.parametrize("order", [1, -1])
def test_bodies_that_are_not_in_the_group_cannot_be_excluded(order):
    model, group = fem.Model(), fem.ContactGroup(name="balls")
    balls = [model.add(fem.RigidBody.sphere(1.0, 0.1, position=[k, 0, 0], name=f"ball {k}")) for k in range(2)]
    group.sphere(balls[0], 0.1)
    group.exclude(*balls[::order])
    model.add(group)
    with pytest.raises(fem.ParameterError, match=r"'balls'.*'ball 1'.*no shape"):
        model.compile()
    group.obstacle(fem.SphereOnPlane, balls[1].frame([0, 0, -0.2]))
    model.compile()
