"""Gears with rigid teeth: ratios, reflected inertia, forces on bearings, against closed forms."""

import math
import warnings

import numpy as np
import pytest

import fem_mbs as fem

TORQUE = 3.0  # N m on the sun
RADIUS = 0.2  # m of the carrier
J_SUN, J_PLANET, M_PLANET, J_CARRIER = 0.02, 0.004, 0.8, 0.05
SPIN_UP = TORQUE / (J_SUN + J_CARRIER / 16 + M_PLANET * (RADIUS / 4) ** 2 + J_PLANET / 4)  # rad/s², of the sun


def turning(model, inertia, mass, position, name, rate=0.0, velocity=(0, 0, 0)):
    """A body that turns about z."""
    body = fem.RigidBody(
        mass, [inertia] * 3, position=position, velocity=velocity, angular_velocity=[0, 0, rate], name=name
    )
    return model.add(body)


def planetary(rate=0.0, coupled=False, **teeth):
    """Planetary set, z 20/20/60, module 10 mm, one planet, ring fixed; the sun turns with ``rate`` [rad/s]."""
    model = fem.Model("planetary set")
    slow = rate / 4
    sun = turning(model, J_SUN, 1.0, [0, 0, 0], "sun", rate)
    carrier = turning(model, J_CARRIER, 1.0, [0, 0, 0], "carrier", slow)
    planet = turning(model, J_PLANET, M_PLANET, [RADIUS, 0, 0], "planet", -rate / 2, [0, RADIUS * slow, 0])
    hinge = model.add(fem.Revolute.at(model.ground, carrier, [0, 0, 0], [0, 0, 1], name="carrier hinge"))
    sun_pin = model.add(fem.Revolute.at(carrier, sun, [0, 0, 0], [0, 0, 1], name="sun pin"))
    pin = model.add(fem.Revolute.at(carrier, planet, [RADIUS, 0, 0], [0, 0, 1], name="planet pin"))
    if coupled:  # the same relations without teeth; the hinge of the carrier counts the other way
        model.add(fem.CoordinateCoupling([(0.1, sun_pin), (0.1, pin)], name="sun mesh"))
        model.add(fem.CoordinateCoupling([(0.1, pin), (0.3, hinge)], name="ring mesh"))
    else:
        flanks = teeth.pop("flanks", ("auto", "auto"))
        model.add(fem.GearPair(sun_pin, pin, teeth=(20, 20), flank=flanks[0], name="sun mesh", **teeth))
        ring = {"teeth": (20, 60), "internal": True, "flank": flanks[1], **teeth}
        model.add(fem.GearPair(pin, hinge, name="ring mesh", **ring))
    model.add(fem.PointMoment(sun, [0, 0, TORQUE]))
    return model


def run(model, t_end=1.0, h=1e-2, **options):
    return fem.DecoupledNSGA(rho_inf=0.8, **options).run(model, t_end=t_end, h=h)


@pytest.fixture(scope="module")
def runs():
    return {h: run(planetary(), h=h) for h in (1e-2, 5e-3)}


def test_planetary_set_starts_with_the_acceleration_of_its_reflected_inertia():
    system = planetary(rate=5.0).compile()
    acceleration, _ = fem.initial_accelerations(system, system.initial)
    names = [node.name for node in system.nodes]
    assert acceleration[names.index("sun"), 5] == pytest.approx(SPIN_UP, rel=1e-13)
    assert SPIN_UP == pytest.approx(114.83253588516747, rel=1e-14)
    assert acceleration[names.index("planet"), 5] == pytest.approx(-0.5 * SPIN_UP, rel=1e-12)


def test_planetary_ratios_hold_through_many_turns_to_round_off(runs):
    for result in runs.values():
        sun, carrier = (result[name].angular_velocity[-1, 2] for name in ("sun", "carrier"))
        assert sun / carrier == pytest.approx(4.0, rel=1e-12)
        angle = result["sun mesh"].angle[-1]
        assert angle[0] > 40.0  # 7 turns against the carrier, 9 in space
        assert angle[0] == pytest.approx(-angle[1], rel=1e-13)
        assert result["ring mesh"].angle[-1] == pytest.approx([-angle[0], -angle[0] / 3], rel=1e-13)


def test_speed_of_the_planetary_set_is_second_order(runs):
    late = [SPIN_UP - result["sun"].angular_velocity[-1, 2] for result in runs.values()]
    assert late[0] / late[1] == pytest.approx(4.0, abs=0.1)
    assert late[1] == pytest.approx(0.0322, rel=0.02)  # formulation-joints 3.1: .0322 at h = 5 ms


def test_teeth_load_the_bearings_and_angle_rows_do_not():
    """Closed forms at the start: mesh forces from the moments, pins from the balance of forces of each body."""
    rate, alpha = 5.0, math.radians(20)
    mesh = {"sun mesh": (TORQUE - J_SUN * SPIN_UP) / 0.1}
    mesh["ring mesh"] = mesh["sun mesh"] - 0.5 * J_PLANET * SPIN_UP / 0.1
    outward = -M_PLANET * RADIUS * (rate / 4) ** 2
    tangential = M_PLANET * RADIUS * SPIN_UP / 4
    apart = math.tan(alpha) * (mesh["sun mesh"] - mesh["ring mesh"])  # the sun pushes out, the ring in
    assert mesh["sun mesh"] == pytest.approx(7.03349282, abs=1e-8)
    assert mesh["ring mesh"] == pytest.approx(4.73684211, abs=1e-8)

    def pins(**options):
        result = run(planetary(rate, **options), t_end=1e-3, h=1e-3)
        return {name: result[name].force[0] for name in ("planet pin", "sun pin")}, result

    pin, result = pins()
    push = mesh["sun mesh"] * math.tan(alpha)
    assert pin["planet pin"][:2] == pytest.approx([outward - apart, tangential - sum(mesh.values())], abs=1e-9)
    assert pin["sun pin"][:2] == pytest.approx([push, mesh["sun mesh"]], abs=1e-9)  # holds it against the planet
    assert abs(result["sun mesh"].force[0]) == pytest.approx(mesh["sun mesh"], abs=1e-9)
    assert pin["planet pin"][1] == pytest.approx(-7.177033493, abs=1e-9)

    # on the flanks that are not loaded the same forces would pull: the digits of formulation-joints 3.2
    pin, _ = pins(flanks=("forward", "backward"))
    assert pin["planet pin"][:2] == pytest.approx([0.5859, -7.1770], abs=5e-5)
    assert pin["sun pin"][:2] == pytest.approx([-2.5600, 7.0335], abs=5e-5)
    pin, _ = pins(coupled=True)
    assert pin["planet pin"][:2] == pytest.approx([-0.25, 4.5933], abs=5e-5)
    assert np.abs(pin["sun pin"]).max() < 1e-12


def test_pressure_angle_changes_no_motion():
    a, b = (run(planetary(**options), t_end=0.2) for options in ({}, {"pressure_angle": None}))
    # not to round-off: within a step the scheme evaluates gradients off the hinges' g = 0, where the two differ;
    # measured 2e-10 m and 1e-6, against 4e-5 m of the scheme itself
    assert a["planet"].position[-1] == pytest.approx(b["planet"].position[-1], abs=1e-9)
    assert a["sun mesh"].force[-1] == pytest.approx(b["sun mesh"].force[-1], rel=1e-5)


def test_loaded_flank_follows_the_force():
    """A sun that is braked and driven in turn: the pin holds it against the planet in both senses."""
    model = fem.Model("two gears")
    bodies = [turning(model, 0.02, 1.0, [x, 0, 0], name) for x, name in ((0.0, "a"), (0.3, "b"))]
    pins = [
        model.add(fem.Revolute.at(model.ground, body, body.node.position, [0, 0, 1], name=f"pin {k}"))
        for k, body in enumerate(bodies)
    ]
    model.add(fem.GearPair(*pins, teeth=(20, 40), name="mesh"))
    model.add(fem.PointMoment(bodies[0], lambda t: np.array([0, 0, np.cos(20 * t)])))
    result = run(model, t_end=0.5, h=1e-3)
    force, pushed = result["mesh"].force, result["pin 0"].force[:, 0]
    settled = np.sign(force) == np.sign(np.roll(force, 2))  # the step in which it changes has the old flank
    settled[:2] = True
    assert (np.diff(np.sign(force)) != 0).sum() == 3
    expected = np.abs(force) * math.tan(math.radians(20))
    assert pushed[settled] == pytest.approx(expected[settled], abs=1e-6)
    assert result["mesh"].tooth_force[:, 0] == pytest.approx(-expected, abs=1e-9)


def bevel(rate=0.0):
    """Gear 2 on a carrier that turns about Z rolls on the fixed gear 1; z 40/16, radii .3 and .12."""
    model = fem.Model("bevel pair")
    carrier = turning(model, 0.05, 1.0, [0, 0, 0], "carrier", rate)
    spin = 2.5 * rate
    gear = fem.RigidBody(
        2.0, [0.016, 0.01, 0.01], position=[0.3, 0, 0], velocity=[0, 0.3 * rate, 0],
        angular_velocity=[spin, 0, rate], name="gear",
    )  # fmt: skip
    model.add(gear)
    hinge = model.add(fem.Revolute.at(model.ground, carrier, [0, 0, 0.12], [0, 0, 1], name="hinge"))
    pin = model.add(fem.Revolute.at(carrier, gear, [0.3, 0, 0], [1, 0, 0], name="pin"))
    # gear 1, fixed, lies above the crossing of the axes: gear 2 turns by +2.5 θ where the carrier turns by θ
    model.add(fem.GearPair(hinge, pin, teeth=(40, 16), module=0.015, pressure_angle=None, name="mesh"))
    model.add(fem.PointMoment(carrier, [0, 0, 1.5]))
    return model


def test_bevel_pair_on_a_turning_carrier():
    J = 0.05 + 2.0 * 0.3**2 + 0.01 + 0.016 * 2.5**2
    assert 1.5 / J == pytest.approx(4.411764706, abs=1e-9)
    errors = []
    for h in (1e-2, 5e-3):
        result = run(bevel(), t_end=0.8, h=h)
        angle = result["mesh"].angle[-1]
        assert abs(angle[1] / angle[0]) == pytest.approx(2.5, rel=1e-12)
        assert abs(angle[1]) > math.pi
        errors.append(abs(result["carrier"].angular_velocity[-1, 2] - 0.8 * 1.5 / J))
    assert errors[1] < 2e-4  # formulation-joints 3.1: 1.4e-4 at 5 ms
    assert errors[0] / errors[1] == pytest.approx(4.0, abs=0.3)


def test_bevel_gear_that_is_turned_needs_its_gyroscopic_moment():
    """C i Ω² = .64 N m at Ω = 4, from the joints and the teeth together."""
    model = bevel(rate=4.0)
    result = run(model, t_end=1e-4, h=1e-4)
    force, moment = result["mesh"].tooth_force[0], result["pin"].moment[0]
    place = next(e for e in model.elements if e.name == "mesh").pitch_point
    total = moment + np.cross(place - [0.3, 0, 0], -force)  # tooth_force is that on gear 1
    assert total[1] == pytest.approx(0.64, abs=1e-9)


@pytest.mark.parametrize("side, sense", [(1.0, -1.0), (-1.0, 1.0)])
def test_sense_of_bevel_gears_is_that_of_the_side_of_the_apex(side, sense):
    """Seen from the apex both gears turn against each other; on the other side of it gear 1 turns the other way."""
    ground, a, b = fem.Model().ground, fem.Node6(), fem.Node6([0.3, 0, 0])
    first = fem.Revolute.at(ground, a, [0, 0, side * 0.12], [0, 0, 1])
    second = fem.Revolute.at(ground, b, [0.3, 0, 0], [1, 0, 0])
    pair = fem.GearPair(first, second, radii=(0.3, 0.12))
    assert pair.pitch_point == pytest.approx([0.3, 0, side * 0.12])
    # velocity of the teeth at the pitch point: both (0, v, 0)
    v_1 = np.cross([0, 0, 1.0], pair.pitch_point)
    v_2 = np.cross([1.0, 0, 0], pair.pitch_point - np.array([0.3, 0, 0]))
    assert pair.ratio == pytest.approx(v_2[1] / v_1[1], rel=1e-14)
    assert np.sign(pair.ratio) == sense


@pytest.mark.parametrize("internal, ratio", [(False, -2.5), (True, 2.5)])
def test_two_shafts_have_the_reflected_inertia_to_round_off(internal, ratio):
    model = fem.Model("reducer")
    a, b = (turning(model, J, 1.0, [x, 0, 0], name) for J, x, name in ((0.02, 0.0, "a"), (0.3, 0.07, "b")))
    pins = [model.add(fem.Revolute.at(model.ground, body, body.node.position, [0, 0, 1])) for body in (a, b)]
    pair = model.add(fem.GearPair(*pins, teeth=(20, 50), internal=internal, name="mesh"))
    assert pair.ratio == ratio
    model.add(fem.PointMoment(a, [0, 0, 0.5]))
    system = model.compile()
    acceleration, _ = fem.initial_accelerations(system, system.initial)
    expected = 0.5 / (0.02 + 0.3 / 2.5**2)
    node = next(n for n in system.nodes if n.name == "a")
    assert acceleration[node.index, 5] == pytest.approx(expected, rel=1e-13)
    torque = 0.02 * expected - 0.5
    result = run(model, t_end=0.01, h=1e-3)
    assert result["mesh"].torque[-1] == pytest.approx([torque, 0.3 * expected / ratio], rel=1e-9)


def test_helical_teeth_push_along_the_axis():
    model = fem.Model("helical pair")
    a, b = (turning(model, 0.02, 1.0, [x, 0, 0], name) for x, name in ((0.0, "a"), (0.07, "b")))
    pins = [
        model.add(fem.Revolute.at(model.ground, body, body.node.position, [0, 0, 1], name=f"pin {body.name}"))
        for body in (a, b)
    ]
    beta = math.radians(15)
    model.add(fem.GearPair(*pins, teeth=(20, 50), helix_angle=beta, name="mesh"))
    model.add(fem.PointMoment(a, [0, 0, 0.5]))
    result = run(model, t_end=0.01, h=1e-3)
    force, teeth = result["mesh"].force[-1], result["mesh"].tooth_force[-1]
    assert force < 0  # the load brakes wheel 1
    apart = abs(force) * math.tan(math.radians(20)) / math.cos(beta)
    assert teeth == pytest.approx([-apart, force, -force * math.tan(beta)], rel=1e-12)
    assert result["pin a"].force[-1] == pytest.approx(-teeth, abs=1e-6)
    # tilting moment of the axial force at the pitch radius
    assert abs(result["pin a"].moment[-1][1]) == pytest.approx(0.02 * abs(teeth[2]), rel=1e-6)


def steering(**options):
    model = fem.Model("rack and pinion")
    pinion = turning(model, 0.01, 1.0, [0, 0, 0], "pinion")
    rack = model.add(fem.RigidBody(4.0, [0.1] * 3, position=[0.02, -0.07, 0], name="rack"))
    hinge = model.add(fem.Revolute.at(model.ground, pinion, [0, 0, 0], [0, 0, 1], name="hinge"))
    guide = model.add(fem.Prismatic.at(model.ground, rack, [0.02, -0.07, 0], [1, 0, 0], name="guide"))
    model.add(fem.RackAndPinion(hinge, guide, radius=0.05, name="teeth", **options))
    model.add(fem.PointMoment(pinion, [0, 0, 2.0]))
    return model


def test_rack_and_pinion_move_together_and_load_their_guides():
    expected = 2.0 / (0.01 + 4.0 * 0.05**2)  # rad/s²
    result = run(steering(), t_end=0.5, h=5e-3)
    angle, slide = result["teeth"].coordinate[-1]
    assert angle > 2 * math.pi and slide == pytest.approx(0.05 * angle, rel=1e-13)
    assert angle == pytest.approx(0.5 * expected * 0.5**2, rel=1e-4)
    assert result["rack"].position[-1] == pytest.approx([0.02 + 0.05 * angle, -0.07, 0], abs=1e-12)
    drive = 4.0 * 0.05 * expected
    assert result["teeth"].effort[-1] == pytest.approx([-0.05 * drive, drive], rel=1e-4)
    push = drive * math.tan(math.radians(20))
    assert result["guide"].force[-1] == pytest.approx([0, push, 0], abs=2e-4 * push)
    # the teeth push at x = 0, y = −.05; the rack has moved on by x
    x = result["rack"].position[-1, 0]
    assert result["guide"].moment[-1][2] == pytest.approx(-x * push + 0.02 * drive, rel=1e-3)


def test_differential_divides_the_torque_and_means_the_speeds():
    model = fem.Model("rear axle")
    names, inertia = ("left", "right", "case"), (0.1, 0.4, 0.05)
    bodies = [turning(model, J, 1.0, [0, 0, z], name) for J, z, name in zip(inertia, (-1, 1, 0), names)]
    hinges = [
        model.add(fem.Revolute.at(model.ground, body, body.node.position, [0, 0, 1], name=f"hinge {body.name}"))
        for body in bodies
    ]
    model.add(fem.Differential(*hinges, name="differential"))
    model.add(fem.PointMoment(bodies[2], [0, 0, 3.0]))
    result = run(model, t_end=1.0, h=1e-2)
    # case: J_C α_C = 3 − 2 λ, shafts: J α = λ, α_C the mean
    lam = 3.0 / (2.0 + 0.05 * 0.5 * (1 / 0.1 + 1 / 0.4))
    assert result["differential"].multiplier[-1] == pytest.approx(lam, rel=1e-9)
    left, right, case = result["differential"].coordinate[-1]
    assert case == pytest.approx(0.5 * (left + right), rel=1e-13)
    assert left == pytest.approx(0.5 * lam / 0.1, rel=1e-4)
    assert left / right == pytest.approx(4.0, rel=1e-9)


def test_a_pair_continues_from_a_state_with_other_turns():
    """Any tooth may be in any gap: a run may begin where another has ended, its turns not known."""
    model = planetary()
    system = model.compile()
    system.initial = run(model, t_end=0.5).state(-1)
    result = run(system, t_end=0.6)
    sun, carrier = (result[name].angular_velocity[-1, 2] for name in ("sun", "carrier"))
    assert sun / carrier == pytest.approx(4.0, rel=1e-12)


def _hinges(where, axes=((0, 0, 1), (0, 0, 1)), carrier=None):
    ground = carrier or fem.Model().ground
    return [fem.Revolute.at(ground, fem.Node6(p), p, axis) for p, axis in zip(where, axes)]


@pytest.mark.parametrize(
    "make, words",
    [
        (lambda: fem.GearPair(*_hinges([(0, 0, 0), (0.1, 0, 0)])), "teeth = None.*radii"),
        (lambda: fem.GearPair(*_hinges([(0, 0, 0), (0.1, 0, 0)]), radii=(0.1, 0.1)), r"need axes 0.2 m apart"),
        (lambda: fem.GearPair(*_hinges([(0, 0, 0), (0, 0, 1)]), teeth=(20, 20)), r"joint_2 = .*same axis"),
        (
            lambda: fem.GearPair(*_hinges([(0, 0, 0), (0.1, 0.1, 0)], [(0, 0, 1), (1, 0, 0)]), radii=(0.1, 0.1)),
            r"joint_2 = .*joint_1 0\.1 m apart",
        ),
        (
            lambda: fem.GearPair(*_hinges([(0, 0, 0), (0.1, 0, 0)], [(0, 0, 1), (1, 0, 0)]), radii=(0.1, 0.1)),
            r"joint_1 = .*axes cross",
        ),
        (
            lambda: fem.GearPair(*_hinges([(0, 0, 0.1), (0.1, 0, 0)], [(0, 0, 1), (1, 0, 0)]), teeth=(20, 20)),
            r"module.*bevel gears",
        ),
        (
            lambda: fem.GearPair(*_hinges([(0, 0, 0)]), *_hinges([(0.1, 0, 0)], carrier=fem.Node6()), teeth=(20, 20)),
            r"joint_2 = .*one body",
        ),
        (lambda: fem.CoordinateCoupling([(1.0, _hinges([(0, 0, 0)])[0])]), r"terms = .*2 to 4"),
        (lambda: fem.RackAndPinion(*_hinges([(0, 0, 0), (0.1, 0, 0)]), radius=0.1), "rack.*z axis"),
    ],
)
def test_pairs_that_cannot_mesh_are_rejected_with_the_reason(make, words):
    with pytest.raises(fem.ParameterError, match=words):
        make()


# --- trains that lock themselves --------------------------------------------------------------------------------------


def wheels(*places):
    """Wheels about z on hinges, with their hinges."""
    model = fem.Model("train")
    hinges = []
    for k, place in enumerate(places):
        wheel = turning(model, 0.01, 1.0, [*place, 0], f"wheel {k + 1}")
        hinges.append(model.add(fem.Revolute.at(model.ground, wheel, [*place, 0], [0, 0, 1], name=f"hinge {k + 1}")))
    return model, hinges


def locked_by(model):
    with pytest.warns(UserWarning, match="lock") as told:
        model.compile()
    return " ".join(str(t.message) for t in told)


def test_two_pairs_of_other_ratios_between_two_wheels_are_reported():
    model, hinges = wheels((0, 0), (0.3, 0))
    model.add(fem.GearPair(*hinges, teeth=(20, 40), name="first"))
    assert fem.explain(model).locked == []
    second = fem.GearPair(*hinges[::-1], teeth=(39, 21), name="second")
    model.add(second)
    text = locked_by(model)
    for name in ("GearPair 'first'", "GearPair 'second'", "RigidBody 'wheel 1'", "RigidBody 'wheel 2'"):
        assert name in text
    explained = fem.explain(model)
    assert explained.mobility == 0
    assert "locked" in str(explained) and "GearPair 'second'" in str(explained)


def test_a_second_pair_that_waits_to_take_over_is_not_reported():
    model, hinges = wheels((0, 0), (0.3, 0))
    model.add(fem.GearPair(*hinges, teeth=(20, 40), name="first"))
    model.add(fem.GearPair(*hinges, teeth=(30, 30), name="second"), active=False)
    assert fem.explain(model.compile()).locked == []


def test_three_wheels_in_a_ring_lock_each_other_and_a_train_next_to_them_continues():
    model, hinges = wheels((0, 0), (0.2, 0), (0.1, 0.1 * np.sqrt(3)), (1.0, 0), (1.3, 0))
    for a, b in ((0, 1), (1, 2), (2, 0)):
        model.add(fem.GearPair(hinges[a], hinges[b], teeth=(20, 20), name=f"mesh {a + 1}"))
    model.add(fem.GearPair(hinges[3], hinges[4], teeth=(20, 40), name="beside"))
    text = locked_by(model)
    assert "mesh 1" in text and "mesh 2" in text and "mesh 3" in text
    assert "beside" not in text and "wheel 4" not in text


def test_a_rack_with_two_pinions_of_other_radii_on_one_shaft_is_reported():
    """The second pinion sits on a hinge of its own, between the same two bodies."""
    model = fem.Model("racks")
    shaft, rack = turning(model, 0.01, 1.0, [0, 0, 0], "shaft"), model.add(fem.RigidBody(1.0, 0.1, name="rack"))
    hinge, again = (fem.Revolute.at(model.ground, shaft, [0, 0, z], [0, 0, 1]) for z in (0.0, 0.1))
    guide = fem.Prismatic.at(model.ground, rack, [0, -0.1, 0], [1, 0, 0])
    model.add(hinge, guide, fem.RackAndPinion(hinge, guide, radius=0.05, name="slow"))
    fast = fem.CoordinateCoupling([(0.08, again), (-1.0, guide)], name="fast")
    model.add(again, fast)
    with pytest.warns(UserWarning, match=r"'slow'.*'fast' lock"):
        model.compile(redundant="allow")  # of the two hinges


@pytest.mark.parametrize(("factor", "locked"), [(-1.0, False), (1.0, True)])
def test_trains_lock_or_turn_whichever_body_a_hinge_names_first(factor, locked):
    """The second relation has the angle of the first wheel with the other sign: its hinge goes from wheel to ground."""
    model, hinges = wheels((0, 0), (0.3, 0))
    back = fem.Revolute.at(model["wheel 1"], model.ground, [0, 0, 0], [0, 0, 1], name="hinge back")
    model.add(back, fem.CoordinateCoupling([(1.0, hinges[0]), (2.0, hinges[1])], name="first"))
    model.add(fem.CoordinateCoupling([(factor, back), (2.0, hinges[1])], name="second"))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert bool(fem.explain(model.compile(redundant="allow")).locked) == locked


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda hinges: fem.GearPair(*hinges, teeth=(20.5, 40)), "teeth = .*two whole numbers > 0"),
        (lambda hinges: fem.GearPair(*hinges, teeth=(-20, 40)), "teeth = .*two whole numbers > 0"),
        (lambda hinges: fem.RackAndPinion(*hinges, teeth=20.5, module=0.01), r"teeth = 20\.5.*whole number"),
        (lambda hinges: fem.SpurTeeth((20.5, 40), 3e-3), "teeth = .*two whole numbers"),
        (lambda hinges: fem.iso_mesh_stiffness((20, 40.1), 1.6, 0.02), "teeth = .*two whole numbers"),
        (
            lambda hinges: fem.GearMesh(
                fem.Node6(), fem.Node6([0.3, 0, 0]), teeth=(20, 40.5), module=0.01, stiffness=1
            ),
            "teeth = .*two whole numbers",
        ),
    ],
)
def test_wheels_have_whole_numbers_of_teeth(make, message):
    with pytest.raises(fem.ParameterError, match=message):
        make(wheels((0, 0), (0.3, 0))[1])
