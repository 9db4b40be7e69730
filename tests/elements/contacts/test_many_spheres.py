"""`ContactGroup.spheres`: the same bodies as one by one, in every respect that a model sees."""

import copy
import pickle
import tracemalloc

import numpy as np
import pytest

import fem_mbs as fem

CENTERS = 0.3 * np.stack(np.indices((3, 3, 3)), axis=-1).reshape(-1, 3) + [0.0, 0.0, 0.2]
RADII = np.where(np.arange(27) % 2, 0.1, 0.07)


def falling(bulk):
    """27 spheres of two radii over a floor, made at once or one by one."""
    model, group = fem.Model("grains", gravity=[0, 0, -9.81]), fem.ContactGroup(friction=0.3, name="grains")
    velocity = np.random.default_rng(0).normal(size=(27, 3))
    if bulk:
        spin = [0.0, 1.0, 2.0]
        model.add(group.spheres(CENTERS, RADII, density=1000.0, velocity=velocity, angular_velocity=spin))
    else:
        for center, radius, v in zip(CENTERS, RADII, velocity):
            mass = 1000.0 * 4 / 3 * np.pi * radius**3
            options = {"position": center, "velocity": v, "angular_velocity": [0, 1, 2]}
            group.sphere(model.add(fem.RigidBody.sphere(mass, radius, **options)), radius)
    group.obstacle(fem.SphereOnPlane, model.ground)
    model.add(group)
    return model


def test_spheres_made_at_once_move_as_those_made_one_by_one():
    many, single = (fem.DecoupledNSGA().run(falling(bulk), 0.2, 2e-3) for bulk in (True, False))
    for name in ("position", "velocity"):
        np.testing.assert_allclose(many.rows([-1])[name], single.rows([-1])[name], rtol=1e-12, atol=1e-12)
    assert many.pair_count[-1] == single.pair_count[-1] > 0
    np.testing.assert_allclose(many.energy.total, single.energy.total, rtol=1e-12)


def test_bodies_hold_what_they_were_given():
    group = fem.ContactGroup(friction=0.3)
    bodies = group.spheres(CENTERS, RADII, mass=2.0, material="glass", color="red")
    assert len(bodies) == 27 and group.radii == RADII.tolist() and group.sphere_materials == ["glass"] * 27
    assert [frame.node for frame in group.frames] == [body.node for body in bodies]
    for k in (0, 1, 26):
        body = bodies[k]
        np.testing.assert_array_equal(body.position, CENTERS[k])
        assert body.mass == 2.0 and body.inertia[0, 0] == pytest.approx(0.4 * 2.0 * RADII[k] ** 2, rel=1e-14)
        assert body.shapes[0].radius == RADII[k]


def test_one_body_changes_alone():
    bodies = fem.ContactGroup(friction=0.3).spheres(CENTERS, 0.1, density=1000.0)
    bodies[0].node.velocity = [1, 2, 3]
    bodies[0].node.position[0] = 7.0
    bodies[0].shapes.clear()
    assert not bodies[1].node.velocity.any() and bodies[1].position[0] == CENTERS[1, 0] and bodies[1].shapes
    with pytest.raises(fem.ParameterError, match="cannot be set"):
        bodies[0].mass = 3.0


def test_copies_of_bodies_are_bodies_of_their_own():
    bodies = fem.ContactGroup(friction=0.3).spheres(CENTERS, 0.1, density=1000.0)
    for other in (copy.deepcopy(bodies[3]), pickle.loads(pickle.dumps(bodies[3]))):
        other.node.position = [7.0, 8.0, 9.0]
        np.testing.assert_array_equal(other.position, [7.0, 8.0, 9.0])
        np.testing.assert_array_equal(bodies[3].position, CENTERS[3])


def test_a_sphere_given_twice_is_rejected_and_one_of_another_size_is_not():
    group = fem.ContactGroup(friction=0.3)
    bodies = group.spheres(CENTERS, 0.1, density=1000.0)
    group.sphere(bodies[2], 0.12)
    group.sphere(bodies[2].frame([0.01, 0, 0]), 0.1)
    for radius in (0.1, 0.12):
        with pytest.raises(fem.ParameterError, match=r"same place|place of sphere"):
            group.sphere(bodies[2], radius)


def test_bodies_of_a_group_take_little_more_than_their_numbers():
    """1.2 kB for body, node, frame, shape and name were measured; arrays of each body of its own took 2.1 kB."""
    count = 2000
    centers = 0.3 * np.stack(np.indices((count, 1, 1)), axis=-1).reshape(-1, 3)
    tracemalloc.start()
    try:
        model, group = fem.Model("grains"), fem.ContactGroup(friction=0.3)
        before = tracemalloc.get_traced_memory()[0]
        model.add(group.spheres(centers, 0.1, density=1000.0), group)
        taken = tracemalloc.get_traced_memory()[0] - before
    finally:
        tracemalloc.stop()
    assert taken < 1600 * count  # a third more, for other versions of Python


def test_spheres_that_were_not_added_are_reported():
    model, group = fem.Model("forgotten"), fem.ContactGroup(friction=0.3)
    group.spheres(CENTERS, 0.1, density=1000.0)
    model.add(fem.RigidBody.sphere(1.0, 0.1, position=[0, 0, 5.0]), group)
    with pytest.raises(fem.ModelError, match="not added"):
        model.compile()


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"radii": RADII[:5]}, r"radii = .*5 entries.* 27"),
        ({"radii": -0.1}, "radii.*> 0"),
        ({"radii": np.where(np.arange(27) == 3, np.nan, 0.1)}, "radii.*finite"),
        ({"density": None}, r"density = .*one of them"),
        ({"mass": 1.0}, r"density = .*one of them"),
        ({"density": 0.0}, "density.*> 0"),
        ({"velocity": np.zeros((4, 3))}, "has 4 rows"),
        ({"positions": np.zeros(3)}, "positions.*shape"),
        ({"resolution": 7}, "resolution"),
        ({"diameter": 7}, "diameter"),
    ],
)
def test_what_does_not_fit_is_rejected(change, words):
    given = {"positions": CENTERS, "radii": 0.1, "density": 1000.0} | change
    with pytest.raises(fem.ParameterError, match=words):
        fem.ContactGroup(friction=0.3).spheres(**given)
