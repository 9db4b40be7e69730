"""Contact of a ball with the groove of a race (`SphereInGroove`), and a spall in it."""

import numpy as np
import pytest
from contact_at import Kinematics, rigid_motion_seen, slip_order

import fem_mbs as fem
from fem_mbs import verify
from fem_mbs.element.registry import make_example
from fem_mbs.nodes import Node6
from fem_mbs.rotations import exp

BALL, GROOVE, CIRCLE = 3.969e-3, 4.2e-3, 19.3e-3  # m


def race(side="outer", **options):
    return fem.SphereInGroove(
        Node6(), Node6(), radius=BALL, radius_groove=GROOVE, radius_circle=CIRCLE, side=side, **options
    )


def at(center):
    return [(center, None), ([0, 0, 0], None)]


@pytest.mark.parametrize("outwards", [1, -1], ids=["outer race", "inner race"])
def test_gap_and_normal_are_those_of_the_groove_circle_on_both_sides(outwards):
    kinematics, psi = Kinematics(race()), 0.7
    e = np.array([np.cos(psi), np.sin(psi), 0])
    for alpha in (-0.6, 0.0, 0.9):
        u = outwards * np.cos(alpha) * e + np.array([0, 0, np.sin(alpha)])
        out = kinematics(at(CIRCLE * e + 0.2e-3 * u))
        assert out["gap"] == pytest.approx(GROOVE - BALL - 0.2e-3, abs=1e-17)
        np.testing.assert_allclose(out["normal"], -u, atol=1e-13)
        np.testing.assert_allclose(out["point"], CIRCLE * e + (0.2e-3 + BALL) * u, atol=1e-16)


def test_a_ball_on_the_groove_circle_is_open_by_the_difference_of_the_radii():
    out = Kinematics(race())(at([0, CIRCLE, 0]))
    assert out["gap"] == pytest.approx(GROOVE - BALL, rel=1e-12)
    assert all(np.isfinite(value).all() for value in out.values())


@pytest.mark.parametrize("spin", [0.0, 3.0])
def test_a_ball_that_rolls_along_the_groove_and_spins_does_not_slip(spin):
    # contact angle 35°, orbit 1 rad/s; rotation about the bearing axis so that the point of contact is at rest, and a
    # spin about the normal. A normal frozen at the start of the step gives slip of order h with spin
    alpha, distance = np.radians(35), 0.3e-3
    way = CIRCLE + distance * np.cos(alpha)

    def center(t):
        return np.array([way * np.cos(t), way * np.sin(t), distance * np.sin(alpha)])

    # the rotation is −way/(r cos α) e + spin n; constant in axes that orbit with e
    n = -np.array([np.cos(alpha), 0, np.sin(alpha)])
    e = np.array([0, 0, 1.0])
    w = -(1.0 + way / (BALL * np.cos(alpha))) * e + spin * n

    def path(t):
        return [(center(t), exp(t * e) @ exp(t * w)), ([0, 0, 0], None)]

    kinematics = Kinematics(race())
    slips = []
    for h in (2e-2, 1e-2, 5e-3):
        slips.append(np.abs(kinematics.slip(path(h), path(0))).max() / (way * h))
    # relative to the way: second order in the step, 1e-5 where the ball turns by 0.12 rad
    assert slips[-1] < 2e-5, slips
    assert slips[0] / slips[2] > 14, slips


def test_slip_on_a_moving_race_in_space_is_of_second_order():
    element = fem.SphereInGroove(Node6(), Node6(), radius=0.2, radius_groove=0.5, radius_circle=1.5)
    w_A, w_B = np.array([0.7, -1.1, 1.9]), np.array([-0.4, 0.8, 0.5])  # body axes, constant

    def center(t):
        return np.array([1.15 * np.cos(0.4 + t), 1.1 * np.sin(0.4 + t), 0.2 + 0.3 * t])

    def path(t):
        return [(center(t), exp(t * w_A)), ([0.1 * t, 0, 0], exp(t * w_B))]

    def velocity(t):
        rate = (center(t + 1e-4) - center(t - 1e-4)) / 2e-4  # error 1e-8: far below those compared
        return np.concatenate([rate, w_A, [0.1, 0, 0], w_B])

    order, errors = slip_order(element, path, velocity, halvings=5)
    assert 2.7 < order < 3.4, f"errors of one step {errors}"  # h³ in one step


def test_forces_and_moments_on_ball_and_race_balance():
    rng = np.random.default_rng(4)
    for _ in range(4):  # with and without spall
        assert rigid_motion_seen(make_example("SphereInGroove", rng), rng) < 1e-13  # round-off of lengths of a few m


@pytest.mark.parametrize("side, drop", [("outer", 26.2e-6), ("inner", 39.5e-6)])
def test_a_ball_drops_into_a_spall_as_far_as_its_edges_let_it(side, drop):
    # prototype: L = 1 mm, D = 7.938 mm, races of 23.5 and 15.55 mm; three digits
    groove = 4.2e-3
    bottom = 23.5e-3 if side == "outer" else 15.55e-3
    circle = bottom - groove if side == "outer" else bottom + groove
    sign = 1 if side == "outer" else -1
    common = {"radius": BALL, "radius_groove": groove, "radius_circle": circle, "side": side}
    deep = fem.SphereInGroove(Node6(), Node6(), spall=fem.Spall(side, 1e-3, angle=0.5), **common)
    shallow = fem.SphereInGroove(Node6(), Node6(), spall=fem.Spall(side, 1e-3, 3e-6, 0.5), **common)
    way = circle + sign * 0.1e-3

    def opening(element, arc):
        angle = 0.5 + arc / bottom
        out = Kinematics(element)(at([way * np.cos(angle), way * np.sin(angle), 0]))
        return out["gap"][0] - (groove - BALL - 0.1e-3)

    assert opening(deep, 0.0) == pytest.approx(drop, rel=3e-3)
    assert opening(shallow, 0.0) == pytest.approx(3e-6, rel=1e-9)
    assert opening(shallow, 0.25e-3) == pytest.approx(1.5e-6, rel=1e-9)
    assert abs(opening(shallow, 0.51e-3)) < 1e-17 and abs(opening(shallow, -3.0)) < 1e-17
    # the spall turns with its race
    turned = Kinematics(shallow)([([way * np.cos(0.8), way * np.sin(0.8), 0], None), ([0, 0, 0], [0, 0, 0.3])])
    assert turned["gap"][0] - (groove - BALL - 0.1e-3) == pytest.approx(3e-6, rel=1e-9)


@pytest.mark.parametrize("spall", [None, fem.Spall("outer", 6.0, 0.1, 0.4)], ids=["whole", "spall"])
def test_a_compliant_ball_on_a_race_satisfies_the_contract(spall):
    found = []
    for seed in range(4):
        rng = np.random.default_rng([11, seed])
        A, B = (Node6(rng.normal(size=3), rng.normal(size=3)) for _ in range(2))
        contact = fem.SphereInGroove(A, B, radius=0.9, radius_groove=1.0, radius_circle=1.5, spall=spall)
        element = fem.CompliantContact(
            contact, stiffness=1.3, restitution=0.5, friction=0.4, slip_speed=0.5, least_speed=2.0
        )
        found.append(verify.check_element(element, seed=seed, configurations=2))
    # differences of V_T over 3e-4 of the curvature radius, as in the other geometries: 1e-7 measured
    assert all(report.ok for report in found), "\n".join(map(str, found))


@pytest.mark.parametrize(
    "change, message",
    [
        ({"radius_groove": BALL}, r"radius_groove = .*wider than its ball"),
        ({"radius_circle": 4e-3}, r"radius_circle = 0\.004 m.*radius_groove = 0\.0042 m"),
        ({"side": "left"}, "side = 'left'.*'outer', 'inner'"),
        ({"spall": (0, 1, 2)}, r"spall = .*Spall\(race, length"),
        ({"spall": fem.Spall("inner", 1e-3)}, "spall.race = 'inner'.*outer race"),
        ({"spall": fem.Spall("outer", 1e-3, angle=np.sin)}, "spall.*race by itself"),
        ({"spall": fem.Spall("outer", 1.0)}, "longer than the race"),
        ({"radius": -1}, "radius = -1.0 m.*> 0"),
    ],
)
def test_a_groove_that_cannot_be_is_rejected_in_the_words_of_the_user(change, message):
    numbers = {"radius": BALL, "radius_groove": GROOVE, "radius_circle": CIRCLE} | change
    with pytest.raises(fem.ParameterError, match=message):
        fem.SphereInGroove(Node6(), Node6(), **numbers)


def test_the_drawn_groove_lies_on_the_race():
    for side, radius in (("outer", CIRCLE + GROOVE), ("inner", CIRCLE - GROOVE)):
        ((_, mesh),) = race(side, drawn=True).picture()
        x, y, z = np.asarray(mesh.points).T
        np.testing.assert_allclose(np.hypot(np.hypot(x, y) - CIRCLE, z), GROOVE, rtol=1e-12)
        assert np.hypot(x, y)[np.abs(z) < 1e-12] == pytest.approx(radius)
