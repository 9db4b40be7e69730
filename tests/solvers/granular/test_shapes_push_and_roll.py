"""Capsules and boxes on obstacles that they push, and with contacts that resist rolling and spinning: closed forms."""

import numpy as np
import pytest
from in_turn import in_turn
from scipy.spatial.transform import Rotation
from test_moved_obstacles import swept
from test_shapes_in_motion import METHODS, G, H, carried, world
from test_shapes_move_on_obstacles import BRICK, crossings, put_brick, worst_gap

import fem_mbs as fem


def plate(*, stiffness=2000.0, damping=0.0, mass=2.0, kind=fem.SphereOnBox):
    """A plate of some mass [kg] on a spring, in a guide, at rest under its weight, and its group."""
    model = fem.Model("plate", gravity=[0, 0, -G])
    body = model.add(fem.RigidBody(mass, 0.1, name="plate"))
    model.add(fem.Prismatic.at(model.ground, body, [0, 0, 0], [0, 0, 1], name="guide"))
    spring = {"stiffness": stiffness, "damping": damping, "free_length": 1 + mass * G / stiffness}
    model.add(fem.Spring(model.ground.frame([0, 0, -1]), body, **spring, name="spring"))
    group = fem.ContactGroup(friction=0.3, name="contact")
    if kind is fem.SphereOnBox:
        group.obstacle(kind, body.frame([0, 0, -0.05]), size=[1, 1, 0.1])
    elif kind is fem.SphereOnCylinder:
        group.obstacle(kind, body.frame([0, 0, -0.1], [0, 0.5 * np.pi, 0]), radius_cylinder=0.1)
    else:
        group.obstacle(kind, body)
    model.add(group)
    return model, group


@pytest.mark.parametrize("mass", [0.01, 2.0])
@pytest.mark.parametrize("kind", [fem.SphereOnPlane, fem.SphereOnBox, fem.SphereOnCylinder])
@pytest.mark.parametrize("name", METHODS)
def test_a_box_and_a_plate_continue_with_the_momentum_of_the_box(name, kind, mass):
    """Impact without restitution: v = m √(2 g H)/(m + M); spring, weight and plate have no time to do anything."""
    h, height, flight = 1e-4, 0.3, 0.01
    model, group = plate(mass=mass, kind=kind)
    speed = np.sqrt(2 * G * (height - flight))  # of a fall from the height, of which the last part is run
    put_brick(model, group, [0, 0, 0.05 + flight], velocity=[0, 0, -speed], name="box")
    result = METHODS[name](contact_tolerance=1e-7).run(model, 6e-3, h)
    assert swept(result) and result.statistics["inexact_contact_problems"] == 0
    after = int(np.argmax(result.pair_count > 0)) + 2
    assert result.t[after - 2] == pytest.approx((np.sqrt(2 * G * height) - speed) / G, abs=2 * h)
    together, band = -np.sqrt(2 * G * height) / (1 + mass), 1e-5 * BRICK[2]
    for body in ("box", "plate"):
        # gaps may change by half of the band in a step
        assert result[body].velocity[after, 2] == pytest.approx(together, abs=4 * h * G + 0.5 * band / h)
    assert worst_gap(result) > -1e-6 * BRICK[2]


@pytest.mark.parametrize("name", METHODS)
def test_a_rod_and_a_plate_swing_as_one_mass(name):
    """ω² = k/(m + M) about the place where the spring has the weight of both; energy never rises."""
    model, group = plate()
    rod = fem.RigidBody.capsule(1.0, 0.05, 0.4, axis=[1, 0, 0], position=[0, 0, 0.05 + 1e-3], name="rod")
    group.capsule(model.add(rod), 0.05, 0.4, axis=[1, 0, 0])
    result = METHODS[name](contact_tolerance=1e-8).run(model, 0.7, 5e-4)
    zero = crossings(result.t, result["plate"].position[:, 2] + G / 2000.0)
    assert len(zero) > 4 and np.diff(zero[::2]) == pytest.approx(2 * np.pi * np.sqrt(3.0 / 2000.0), rel=2e-3)
    assert np.diff(result.energy.total).max() < 1e-3 * result.energy.kinetic.max()
    assert worst_gap(result) > -1.01e-6 * 0.1


@pytest.mark.parametrize("name", METHODS)
def test_a_beam_sags_under_a_box_by_the_beam_formula(name):
    """Clamped at both ends: F L³/(192 E I) under the middle, of the box, and q L⁴/(384 E I) of its own weight."""
    model = fem.Model("beam", gravity=[0, 0, -G])
    length, E, width = 2.0, 2e10, 0.02
    section = fem.Section.rectangle(width, width, E=E, nu=0.0, density=500.0)
    ends = [fem.Node6([x, 0, 0], fixed=("x", "y", "z", "rx", "ry", "rz"), name=f"end {x:g}") for x in (0.0, length)]
    line = model.add(fem.beam_line(*ends, 8, section, name="beam", damping=0.02))
    group, middle = fem.ContactGroup(friction=0.3, name="load"), line.nodes[4]
    group.obstacle(fem.SphereOnBox, middle, size=[0.1, 0.3, 2e-3])
    put_brick(model, group, [1.0, 0, 0.051], mass=0.8, name="box")
    model.add(group)
    result = METHODS[name](contact_tolerance=1e-6).run(model, 0.8, 2e-3)
    bending = E * width**4 / 12
    sag = 0.8 * G * length**3 / (192 * bending) + 500 * width**2 * G * length**4 / (384 * bending)
    z = result[middle.name].position[-1, 2]
    assert swept(result) and z == pytest.approx(-sag, rel=5e-3)  # stretching holds 0.3 % of it
    assert result["box"].position[-1, 2] == pytest.approx(z + 0.051, abs=2e-6)
    assert carried(result, 0)[2] / 2e-3 == pytest.approx(0.8 * G, rel=1e-3)


@pytest.mark.parametrize("name", METHODS)
def test_a_lid_that_falls_on_a_fixed_box_stays_outside(name):
    """Only the lid can move: passes that move bodies alone see no overlap that they can take back."""
    model = fem.Model("press", gravity=[0, 0, -G])
    lid = model.add(fem.RigidBody(2.0, 0.1, name="lid"))
    model.add(fem.Prismatic.at(model.ground, lid, [0, 0, 0], [0, 0, 1], name="guide"))
    group = fem.ContactGroup(name="all")
    put_brick(model, group, [0, 0, -0.2], fixed=True, name="post")
    put_brick(model, group, [1, 0, -3])
    group.obstacle(fem.SphereOnBox, lid.frame([0, 0, 0.05]), size=[0.1, 0.1, 0.1])
    model.add(group)
    result = METHODS[name]().run(model, 0.25, 1e-3)
    z = result["lid"].position[:, 2]
    assert swept(result) and z.min() > -0.15 - 1.01e-6 * BRICK[2]
    assert z[-1] == pytest.approx(-0.15, abs=1.01e-5 * BRICK[2])


@pytest.mark.parametrize("name", METHODS)
def test_a_free_box_of_rods_and_boxes_keeps_its_momentum(name):
    """Six walls of one free body, and a bar across it that is an obstacle too."""
    rng = np.random.default_rng(4)
    model, group = fem.Model("box"), fem.ContactGroup(friction=0.3, restitution=0.3, name="all")
    case, bodies = fem.RigidBody(4.0, 0.5, name="case"), []
    for i in range(16):
        place = 0.16 * (np.array([i % 4 - 1.5, i // 4 % 2 + 0.5, i // 8 - 0.5]) * [1, 1, 1.4])
        motion = {"velocity": 2 * rng.normal(size=3), "angular_velocity": 3 * rng.normal(size=3)}
        motion["rotation"] = Rotation.random(random_state=rng).as_matrix()
        if i % 2:
            bodies.append(put_brick(model, group, place, [0.1, 0.08, 0.06], 0.5, 3e-3, name=f"b{i}", **motion))
        else:
            bodies.append(model.add(fem.RigidBody.capsule(0.5, 0.03, 0.08, position=place, name=f"b{i}", **motion)))
            group.capsule(bodies[-1], 0.03, 0.08)
    model.add(case)
    quarter = 0.5 * np.pi
    for turn, place in (([0, 0, 0], [0, 0, -0.4]), ([2 * quarter, 0, 0], [0, 0, 0.4]), ([0, quarter, 0], [-0.4, 0, 0]),
                        ([0, -quarter, 0], [0.4, 0, 0]), ([-quarter, 0, 0], [0, -0.4, 0]),
                        ([quarter, 0, 0], [0, 0.4, 0])):  # fmt: skip
        group.obstacle(fem.SphereOnPlane, case.frame(place, turn))
    group.obstacle(fem.SphereOnCylinder, case.frame([0, -0.2, 0], [0, quarter, 0]), radius_cylinder=0.05)
    group.obstacle(fem.SphereOnBox, case.frame([0.1, -0.3, 0], [0.3, 0, 0]), size=[0.1, 0.1, 0.5], rounding=0.01)
    model.add(group)
    result = METHODS[name](contact_tolerance=1e-6).run(model, 0.8, H)
    assert swept(result) and result.pair_count.sum() > 60
    momentum = sum(body.mass * result[body.name].velocity for body in [*bodies, case])
    size = sum(body.mass * np.linalg.norm(result[body.name].velocity[0]) for body in bodies)
    assert np.abs(momentum - momentum[0]).max() < 1e-10 * size and np.abs(result["case"].velocity[-1]).max() > 0.01
    spin = []
    for k in (0, -1):
        total = np.zeros(3)
        for body in [*bodies, case]:
            at = result[body.name]
            total += body.mass * np.cross(at.position[k], at.velocity[k])
            total += at.rotation[k] @ body.inertia @ at.angular_velocity[k]
        spin.append(total)
    assert spin[1] == pytest.approx(spin[0], abs=1e-2 * np.linalg.norm(spin[0]))  # gaps that close, and of order h
    assert np.diff(result.energy.total).max() < 2e-3 * result.energy.kinetic.max()
    assert worst_gap(result) > -1.01e-6 * 0.06


# --- rolling and spinning
# --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", METHODS)
def test_a_rod_with_rolling_resistance_slows_down_and_stands(name):
    """(J + m r²) ω' = −ρ m g; it stands then, and both ends have half of the moment."""
    model, group = world(friction=0.5, rolling_resistance=2e-3)
    r, speed = 0.05, 0.2
    rod = fem.RigidBody.capsule(2.0, r, 0.3, axis=[0, 1, 0], position=[0, 0, r], name="rod",
                                velocity=[speed, 0, 0], angular_velocity=[0, speed / r, 0])  # fmt: skip
    group.capsule(model.add(rod), r, 0.3, axis=[0, 1, 0])
    result = METHODS[name](contact_tolerance=1e-10).run(model, 1.0, H)
    rate = 2e-3 * 2.0 * G * r / (rod.inertia[1, 1] + 2.0 * r**2)
    assert speed / rate < 0.97
    expected = np.maximum(speed - rate * result.t, 0.0)
    assert result["rod"].velocity[:, 0] == pytest.approx(expected, abs=1e-6)
    moments = result.pairs(100).moment_impulse
    assert moments[:, 1] / H == pytest.approx([-2e-3 * G] * 2, rel=1e-6)


@pytest.mark.parametrize("part", [0.98, 1.02])
@pytest.mark.parametrize("name", METHODS)
def test_a_rod_rolls_on_a_slope_beyond_its_rolling_resistance(name, part):
    """tan α = ρ/r."""
    model, group = world(friction=0.5, slope=np.arctan(part * 0.1), rolling_resistance=5e-3)
    rod = model.add(fem.RigidBody.capsule(2.0, 0.05, 0.3, axis=[0, 1, 0], position=[0, 0, 0.05], name="rod"))
    group.capsule(rod, 0.05, 0.3, axis=[0, 1, 0])
    result = METHODS[name](contact_tolerance=1e-9).run(model, 0.4, H)
    slope = np.arctan(part * 0.1)
    drive = max(G * (np.sin(slope) - 0.1 * np.cos(slope)), 0.0) / (1 + rod.inertia[1, 1] / (2.0 * 0.05**2))
    assert result["rod"].velocity[-1, 0] == pytest.approx(0.4 * drive, abs=4e-7)


@pytest.mark.parametrize("part", [0.98, 1.02])
@pytest.mark.parametrize("name", METHODS)
def test_a_box_that_resists_rolling_tips_later(name, part):
    """About the corner of its core at a = w/2 − rounding: tan α = (a + ρ)/(h/2)."""
    size, rounding, rho = np.array([0.1, 0.2, 0.4]), 5e-3, 0.02
    slope = np.arctan(part * (0.5 * size[0] - rounding + rho) / (0.5 * size[2]))
    model, group = world(friction=1.0, slope=slope, rolling_resistance=rho)
    put_brick(model, group, [0, 0, 0.5 * size[2]], size, 1.0, rounding, name="box")
    result = METHODS[name](contact_tolerance=1e-8).run(model, 1.0, H)
    turned = np.arccos(np.clip(result["box"].rotation[-1, 2, 2], -1, 1))
    assert turned < 1e-6 if part < 1 else turned > 0.03


@pytest.mark.parametrize("name", METHODS)
def test_a_box_that_spins_on_four_corners_stops_by_its_spinning_resistance(name):
    """J ω' = −γ m g without friction: four contacts have the moment of their load together."""
    model, group = world(friction=0.0, spinning_resistance=3e-3)
    box = put_brick(model, group, [0, 0, 0.05], name="box", angular_velocity=[0, 0, 0.8])
    result = METHODS[name](contact_tolerance=1e-9).run(model, 0.4, H)
    rate = 3e-3 * G / box.inertia[2, 2]
    assert result["box"].angular_velocity[:, 2] == pytest.approx(np.maximum(0.8 - rate * result.t, 0), abs=2 * H * rate)
    assert 0.8 / rate < 0.35


@pytest.mark.parametrize("name", METHODS)
def test_a_disc_stops_a_rod_that_only_spins_as_its_moment_does(name):
    """|M| = 3π/16 μ R N where nothing slides: under a rod that stands upright."""
    model, group = world(friction=0.4, radius_contensou=0.01)
    rod = fem.RigidBody.capsule(1.0, 0.05, 0.02, position=[0, 0, 0.06], name="rod", angular_velocity=[0, 0, 2.0])
    group.capsule(model.add(rod), 0.05, 0.02)
    result = METHODS[name](contact_tolerance=1e-9).run(model, 0.4, H)
    rate = 3 * np.pi / 16 * 0.4 * 0.01 * G / rod.inertia[2, 2]
    assert result["rod"].angular_velocity[:, 2] == pytest.approx(np.maximum(2.0 - rate * result.t, 0), abs=2 * H * rate)
    assert 2.0 / rate < 0.35


@pytest.mark.parametrize(
    ("name", "law", "shape"),
    in_turn(
        METHODS,
        [{"spinning_resistance": 2e-3}, {"friction": 0.4, "radius_contensou": 8e-3}],
        ["ball", "rod", "box"],
        first="nsga",
    ),
)
def test_what_spins_on_a_turntable_takes_it_along(name, law, shape):
    """J ω' = −M and J_table Ω' = M until ω = Ω = J ω_0/(J + J_table); both lose and get the same moment."""
    model, group = fem.Model("turntable", gravity=[0, 0, -G]), fem.ContactGroup(name="group", **law)
    table = model.add(fem.RigidBody(1.0, 4e-3, name="table"))
    model.add(fem.Revolute.at(model.ground, table, [0, 0, 0], [0, 0, 1], name="pin"))
    group.obstacle(fem.SphereOnBox, table.frame([0, 0, -0.05]), size=[0.5, 0.5, 0.1])
    motion = {"angular_velocity": [0, 0, 8.0], "name": "body"}
    if shape == "ball":
        body = model.add(fem.RigidBody.sphere(2.0, 0.05, position=[0, 0, 0.05], **motion))
        group.sphere(body, 0.05)
    elif shape == "rod":
        body = model.add(fem.RigidBody.capsule(2.0, 0.05, 0.02, position=[0, 0, 0.06], **motion))
        group.capsule(body, 0.05, 0.02)
    else:
        body = put_brick(model, group, [0, 0, 0.05], [0.06, 0.06, 0.1], 2.0, 5e-3, **motion)
    model.add(group)
    result = METHODS[name](contact_tolerance=1e-9).run(model, 0.4, H)
    J, own, other = body.inertia[2, 2], result["body"].angular_velocity[:, 2], result["table"].angular_velocity[:, 2]
    assert swept(result) and J * own + 4e-3 * other == pytest.approx(8.0 * J, rel=1e-6)
    assert [own[-1], other[-1]] == pytest.approx([8.0 * J / (J + 4e-3)] * 2, rel=1e-6)
    if shape != "box" or "friction" not in law:  # whose corners slide
        moment = 2.0 * G * law.get("spinning_resistance", 3 * np.pi / 16 * 0.4 * 8e-3)
        slow = own > 1.02 * own[-1]
        assert own[slow] == pytest.approx(8.0 - moment / J * result.t[slow], abs=2 * H * moment / J)
