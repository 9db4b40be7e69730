"""Motion of capsules and boxes on blocks, rollers, in tubes and bowls, on what they push: closed forms, invariants."""

import numpy as np
import pytest
from in_turn import in_turn
from scipy.integrate import solve_ivp
from scipy.spatial.transform import Rotation
from test_shapes_in_motion import METHODS, G, H, carried

import fem_mbs as fem

BRICK = np.array([0.2, 0.3, 0.1])


def put_brick(model, group, position, size=BRICK, mass=1.0, rounding=2e-3, **options):
    body = model.add(fem.RigidBody.box(mass, size, position=position, **options))
    group.box(body, size, rounding)
    return body


def worst_gap(result):
    return min((result.pairs(k).gap.min() for k in np.flatnonzero(result.pair_count)), default=0.0)


def crossings(t, z):
    """Times at which z (n,) changes its sign."""
    k = np.flatnonzero(z[:-1] * z[1:] < 0.0)
    return t[k] + (t[k + 1] - t[k]) * z[k] / (z[k] - z[k + 1])


@pytest.mark.parametrize(("name", "part", "kind"), in_turn(METHODS, [0.98, 1.02], ["block", "plate"], once=True))
def test_a_box_tips_over_an_edge_beyond_the_middle_of_its_own(name, kind, part):
    """Of corners of the obstacle below its face, and edges that cross."""
    model, group = fem.Model("ledge", gravity=[0, 0, -G]), fem.ContactGroup(friction=0.6, name="group")
    put_brick(model, group, [part * 0.5, 0, 0.05], name="box")
    if kind == "block":
        group.obstacle(fem.SphereOnBox, model.ground.frame([0, 0, -0.1]), size=[1, 0.2, 0.2])
    else:
        group.obstacle(fem.SphereOnRectangle, model.ground, size=[1, 0.2])
    model.add(group)
    result = METHODS[name](contact_tolerance=1e-8).run(model, 1.5, H)
    turned = np.abs(np.arccos(np.clip(result["box"].rotation[-1, 2, 2], -1, 1)))
    assert (turned > 0.2) == (part > 1) and worst_gap(result) > -1e-6 * BRICK[2]
    if part < 1:
        assert turned < 1e-6 and carried(result, 0)[2] / H == pytest.approx(G, rel=1e-6)


@pytest.mark.parametrize(("name", "restitution"), in_turn(METHODS, [0.0, 0.6], first="nsga"))
def test_a_box_that_drops_flat_on_a_roller_rebounds_by_newtons_law(name, restitution):
    """Two edges cross the axis; the box is centred, so that impulses are vertical."""
    model, group = fem.Model("drop", gravity=[0, 0, -G]), fem.ContactGroup(restitution=restitution, name="group")
    height, across = 0.2, [0, 0.5 * np.pi, 0]  # axis along x
    put_brick(model, group, [0, 0, 0.05 + height], name="box")
    frame = model.ground.frame([0, 0, -0.15], across)
    group.obstacle(fem.SphereOnCylinder, frame, radius_cylinder=0.15)
    model.add(group)
    result = METHODS[name](contact_tolerance=1e-10).run(model, 0.21, H)
    after = int(np.argmax(result.pair_count > 0)) + 1
    pairs = result.pairs(after - 1)
    assert len(pairs.gap) == 2 and sorted(pairs.point[:, 0]) == pytest.approx([-0.098, 0.098], abs=1e-6)
    flown = result.t[after] - np.sqrt(2 * height / G)
    expected = restitution * np.sqrt(2 * G * height) - G * max(flown, 0.0)
    if restitution == 0.0:
        expected = 0.0
    assert result["box"].velocity[after, 2] == pytest.approx(expected, abs=2.5 * H * G)
    assert worst_gap(result) > -1e-6 * BRICK[2]


@pytest.mark.parametrize("name", METHODS)
def test_a_rod_on_two_rollers_that_turn_inwards_swings(name):
    """ω² = μ g/(L/2 − μ c) for rollers at a distance L, the middle of the rod c above their tops."""
    model, group = fem.Model("rollers", gravity=[0, 0, -G]), fem.ContactGroup(friction=0.25, name="group")
    r, apart, c, speed = 0.1, 1.0, 0.02, 30.0
    for sign in (-1, 1):
        wheel = fem.RigidBody(2.0, 0.1, position=[0.5 * sign * apart, 0, -r], name=f"wheel {sign}",
                              angular_velocity=[0, -sign * speed, 0])  # fmt: skip
        model.add(wheel)
        pin = model.add(fem.Revolute.at(model.ground, wheel, wheel.position, [0, 1, 0], name=f"pin {sign}"))
        turn = lambda t, sign=sign: -sign * speed * t  # noqa: E731
        model.add(fem.RevoluteDriver(pin.frame_P, pin.frame_Q, angle=turn, name=f"motor {sign}"))
        group.obstacle(fem.SphereOnCylinder, wheel.frame(rotation=[0.5 * np.pi, 0, 0]), radius_cylinder=r)
    group.capsule(model.add(fem.RigidBody.capsule(1.0, c, 2.0, axis=[1, 0, 0], position=[0.1, 0, c], name="rod")),
                  c, 2.0, axis=[1, 0, 0])  # fmt: skip
    model.add(group)
    result = METHODS[name](contact_tolerance=1e-9).run(model, 3.7, 2e-3)
    x = result["rod"].position[:, 0]
    zero = crossings(result.t, x)
    expected = np.pi * np.sqrt((0.5 * apart - 0.25 * c) / (0.25 * G))
    assert len(zero) >= 3 and np.diff(zero) == pytest.approx(expected, rel=2e-3)
    assert np.abs(x).max() == pytest.approx(0.1, rel=1e-2) and worst_gap(result) > -1e-6 * 2 * c


@pytest.mark.parametrize("name", METHODS)
def test_a_rod_in_a_tube_swings_like_a_cylinder(name):
    """Rolls without sliding: ω² = g/((R − r)(1 + J/(m r²))), amplitude 0.05: the frequency of a pendulum less A²/16."""
    model, group = fem.Model("tube", gravity=[0, 0, -G]), fem.ContactGroup(friction=0.8, name="group")
    R, r, start = 1.0, 0.1, 0.1
    place = (R - r) * np.array([np.sin(start), 0, -np.cos(start)])
    rod = model.add(fem.RigidBody.capsule(1.0, r, 0.5, axis=[0, 1, 0], position=place, name="rod"))
    group.capsule(rod, r, 0.5, axis=[0, 1, 0])
    group.obstacle(fem.SphereInCylinder, model.ground.frame(rotation=[0.5 * np.pi, 0, 0]), radius_cylinder=R)
    model.add(group)
    result = METHODS[name](contact_tolerance=1e-9).run(model, 3.2, 2e-3)
    zero = crossings(result.t, result["rod"].position[:, 0])
    half = np.pi * np.sqrt((R - r) * (1 + rod.inertia[1, 1] / r**2) / G) * (1 + start**2 / 16)
    # swings lose ½ (v/a)² h per time: the amplitude falls a little
    assert len(zero) >= 3 and np.diff(zero) == pytest.approx(half, rel=2e-3)
    assert worst_gap(result) > -1e-6 * 2 * r


@pytest.mark.parametrize("name", METHODS)
def test_a_rod_slides_off_a_roller_as_a_mass_point_does(name):
    """Without friction, along the axis of the roller: α'' = (g/a) sin α until a α'² = g cos α, then it flies."""
    model, group = fem.Model("slide off", gravity=[0, 0, -G]), fem.ContactGroup(name="group")
    R, r, start = 0.9, 0.1, 0.4
    place = (R + r) * np.array([np.sin(start), 0, np.cos(start)])
    rod = model.add(fem.RigidBody.capsule(1.0, r, 0.5, axis=[0, 1, 0], position=place, name="rod"))
    group.capsule(rod, r, 0.5, axis=[0, 1, 0])
    group.obstacle(fem.SphereOnCylinder, model.ground.frame(rotation=[0.5 * np.pi, 0, 0]), radius_cylinder=R)
    model.add(group)
    result = METHODS[name](contact_tolerance=1e-9).run(model, 0.7, 5e-4)
    leaves = lambda t, y: G * np.cos(y[0]) - (R + r) * y[1] ** 2  # noqa: E731
    leaves.terminal = True
    options = {"rtol": 1e-10, "atol": 1e-12, "dense_output": True, "events": leaves}
    slide = solve_ivp(lambda t, y: [y[1], G / (R + r) * np.sin(y[0])], [0, 2], [start, 0.0], **options)
    end, (angle, rate) = slide.t[-1], slide.y[:, -1]
    assert np.cos(angle) == pytest.approx(2 / 3 * np.cos(start), abs=1e-8) and end < 0.6
    e, across = np.array([np.sin(angle), np.cos(angle)]), np.array([np.cos(angle), -np.sin(angle)])
    alpha, s = slide.sol(np.minimum(result.t, end))[0], np.maximum(result.t - end, 0.0)[:, None]
    on_it = (R + r) * np.column_stack([np.sin(alpha), np.cos(alpha)])
    flight = (R + r) * (e + rate * s * across) - 0.5 * G * s**2 * [0, 1]
    expected = np.where(s > 0.0, flight, on_it)
    assert result["rod"].position[:, [0, 2]] == pytest.approx(expected, abs=2e-3)  # of first order in h
    assert worst_gap(result) > -1e-6 * 2 * r


@pytest.mark.parametrize("name", METHODS)
def test_a_drum_and_a_bowl_of_rods_and_boxes_lose_energy_and_hold_them(name):
    """Moving walls aside, no law gives energy; a rod across a bowl touches with both ends."""
    rng = np.random.default_rng(2)
    model, group = fem.Model("drum", gravity=[0, 0, -G]), fem.ContactGroup(friction=0.3, restitution=0.2, name="all")
    group.obstacle(fem.SphereInCylinder, model.ground.frame(rotation=[0.5 * np.pi, 0, 0]), radius_cylinder=0.6)
    group.obstacle(fem.SphereInSphere, model.ground, radius_outer=0.75)
    group.obstacle(fem.SphereOnBox, model.ground.frame([0.1, 0, -0.3], [0.2, 0.3, 0]), size=[0.4, 0.1, 0.05])
    group.obstacle(fem.SphereOnCylinder, model.ground.frame([-0.3, 0, -0.2], [0.4 * np.pi, 0, 0]), radius_cylinder=0.05)
    for i in range(18):
        place = 0.17 * (np.array([i % 3, i // 3 % 3, i // 9]) - [1, 1, -0.5])
        turn = Rotation.random(random_state=rng).as_matrix()
        if i % 2:
            put_brick(model, group, place, [0.1, 0.08, 0.06], 0.5, 3e-3, rotation=turn)
        else:
            body = fem.RigidBody.capsule(0.5, 0.03, 0.1, position=place, rotation=turn)
            group.capsule(model.add(body), 0.03, 0.1)
    model.add(group)
    result = METHODS[name](contact_tolerance=1e-5).run(model, 1.0, H)
    assert result.pair_count[-1] > 20 and worst_gap(result) > -1.01e-6 * 0.06
    assert np.diff(result.energy.total).max() < 1e-3 * result.energy.kinetic.max()
    assert np.linalg.norm(result.rows([-1])["position"][0, 1:], axis=1).max() < 0.75


@pytest.mark.parametrize("name", METHODS)
def test_a_box_slides_over_the_seams_of_blocks_as_over_one(name):
    """Its way in a step is half of the radius of its corners, which see the wall of the next block ahead."""
    model, group = fem.Model("seams", gravity=[0, 0, -G]), fem.ContactGroup(friction=0.0, name="group")
    put_brick(model, group, [-0.3, 0, 0.05], name="box", velocity=[1.0, 0, 0])
    for k in range(-2, 3):
        group.obstacle(fem.SphereOnBox, model.ground.frame([0.2 * k, 0, -0.1]), size=[0.2, 1, 0.2])
    model.add(group)
    result = METHODS[name]().run(model, 0.6, H)
    # heights within the band of 1e-6 m turn the box, and its normals, by 1e-5
    assert result["box"].velocity[:, 0] == pytest.approx(1.0, abs=1e-5)
    assert result["box"].position[:, 2] == pytest.approx(0.05, abs=2e-6)
