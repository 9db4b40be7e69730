"""Contacts of a sphere with a cylinder, outside (`SphereOnCylinder`) and inside (`SphereInCylinder`)."""

import numpy as np
import pytest
from contact_at import Kinematics, rigid_motion_seen, slip_order

import fem_mbs as fem
from fem_mbs.element.registry import make_example
from fem_mbs.nodes import Node6
from fem_mbs.rotations import exp

STEPPER = {"rho_inf": 0.8, "rtol": 1e-9}


def lip_out(steps, **options):
    """Ball that starts rolling round in a vertical tube, one turn: results, and error of the height over its fall."""
    r, R, g, speed = 0.02, 0.1, 9.81, 12.0  # m, m, m/s², rad/s of the centre about the axis
    model, way, period = fem.Model("lip out", gravity=[0, 0, -g]), R - r, 2 * np.pi / speed
    ball = model.add(
        fem.RigidBody.sphere(
            0.05, r, position=[way, 0, 0], velocity=[0, way * speed, 0],
            angular_velocity=[0, 0, -way * speed / r], name="ball",
        )
    )  # fmt: skip
    model.add(fem.SphereInCylinder(ball, model.ground, radius=r, radius_cylinder=R, friction=5.0, name="tube"))
    result = fem.DecoupledNSGA(**STEPPER, **options).run(model, t_end=period, h=period / steps)
    # rolling: z̈ = −(2/7) Ω² z − (5/7) g from z = ż = 0: it does not fall through but comes up again
    fall = 2.5 * g / speed**2
    exact = -fall * (1 - np.cos(np.sqrt(2 / 7) * speed * result.t))
    return result, abs(result["ball"].position[:, 2] - exact).max() / (2 * fall)


def test_a_ball_that_rolls_round_in_a_vertical_tube_comes_up_again():
    result, coarse = lip_out(3200, persistent_contacts=False)
    _, fine = lip_out(6400, persistent_contacts=False)
    # without them the stepper is of first order through closed contacts, and loses half of Ω h of the speed per radian
    assert 1.7 < coarse / fine < 2.2
    assert fine < 3e-3  # 2.4e-3 measured
    assert abs(result["tube"].gap).max() < 1e-11  # closed: the tolerance of the stepper
    z = result["ball"].position[:, 2]
    assert z.argmin() < 0.95 * len(z) and result["ball"].velocity[-1, 2] > 0.2  # on its way up, 0.23 m/s


def test_rolling_round_the_tube_is_of_second_order_with_persistent_contacts():
    (_, coarse), (_, fine) = (lip_out(steps, persistent_contacts=True) for steps in (400, 800))
    assert coarse / fine > 3.4  # 4 for h²; 5.3 measured
    assert fine < 5e-4  # 2.7e-4 measured: nine times less than above with an eighth of the steps


def test_a_ball_that_slides_off_a_cylinder_leaves_at_two_thirds_of_the_height():
    r, R, g, start = 0.1, 0.9, 10.0, 0.1
    model = fem.Model("slides off", gravity=[0, -g, 0])
    ball = model.add(fem.RigidBody.sphere(1.0, r, position=[np.sin(start), np.cos(start), 0], name="ball"))
    model.add(fem.SphereOnCylinder(ball, model.ground, radius=r, radius_cylinder=R, name="log"))
    result = fem.DecoupledNSGA(**STEPPER).run(model, t_end=1.3, h=1e-3)
    open_ = np.argmax(result["log"].gap > 1e-9)
    x, y, _ = result["ball"].position[open_].T
    assert result["log"].gap.min() > -1e-11
    # frictionless: cos φ = 2/3 cos φ_0. The gap opens with the cube of time, so it is seen 1.8e-3 late, doubled
    assert y / np.hypot(x, y) == pytest.approx(2 / 3 * np.cos(start), abs=3.6e-3)


@pytest.mark.parametrize(
    "cls, way, sign", [(fem.SphereOnCylinder, 1.3, 1), (fem.SphereInCylinder, 0.7, -1)], ids=["outside", "inside"]
)
def test_slip_over_any_step_is_the_length_of_the_way_on_the_wall(cls, way, sign):
    kinematics = Kinematics(cls(Node6(), Node6([0, 1, 0]), radius=0.3, radius_cylinder=1.0))

    def center(phi, z):
        return way * np.cos(phi), way * np.sin(phi), z

    ground = ([0, 0, 0], None)
    for phi in (1e-3, 0.3, 0.6):  # the ball turns by up to 2.6 rad
        # without rotation: along the axis (t1) and round it, where the point of contact slips as far as the centre goes
        out = kinematics([(center(phi, 0.5), None), ground], [(center(0, 0.2), None), ground])
        np.testing.assert_allclose(np.abs(out["slip"]), [0.3, way * phi], rtol=1e-12)
        np.testing.assert_allclose(np.abs(out["tangents"][0]), [0, 0, 1], atol=1e-15)
        # rolling round the axis: no slip; nor when the cylinder turns with everything on it
        roll = exp([0, 0, sign * way / 0.3 * phi])
        assert abs(kinematics.slip([(center(phi, 0), roll), ground], [(center(0, 0), None), ground])).max() < 1e-14
        T = exp([0, 0, 0.8])
        moved = [(T @ center(phi, 0), T @ roll), (T @ [0, 0, 0], T)]
        assert abs(kinematics.slip(moved, [(center(0, 0), None), ground])).max() < 1e-14


def test_slip_on_a_moving_cylinder_in_space_is_of_second_order():
    element = fem.SphereOnCylinder(Node6(), Node6(), radius=0.3, radius_cylinder=0.7)
    w_A, w_B = np.array([0.7, -1.1, 1.9]), np.array([-0.4, 0.8, 0.5])  # body axes, constant

    def center(t):
        return np.array([np.sin(1 + t), np.cos(1 + t) * np.exp(-0.3 * t), 0.2 + 0.5 * t])

    def path(t):
        return [(center(t), exp(t * w_A)), ([0.1 * t, 0, 0], exp(t * w_B))]

    def velocity(t):
        rate = (center(t + 1e-4) - center(t - 1e-4)) / 2e-4  # error 1e-8: far below those compared
        return np.concatenate([rate, w_A, [0.1, 0, 0], w_B])

    order, errors = slip_order(element, path, velocity)
    assert 2.8 < order < 3.3, f"errors of one step {errors}"  # h³ in one step


def test_ends_of_a_cylinder_are_flat_and_their_edges_round_off_the_way():
    solid = fem.SphereOnCylinder(Node6(), Node6(), radius=0.1, radius_cylinder=0.5, length=2.0)
    pipe = fem.SphereInCylinder(Node6(), Node6(), radius=0.1, radius_cylinder=0.5, length=2.0)
    diagonal = np.array([1, 0, 1]) / np.sqrt(2)
    cases = [
        (solid, [0.2, 0.1, -1.4], 0.3, [0, 0, -1]),  # below the end
        (solid, [0, 0.9, 0.99], 0.3, [0, 1, 0]),  # next to the wall
        (solid, [0.8, 0, 1.3], 0.3 * np.sqrt(2) - 0.1, diagonal),  # off the edge
        (pipe, [0.3, 0, 0.9], 0.1, [-1, 0, 0]),
        (pipe, [0.8, 0, 1.3], 0.3 * np.sqrt(2) - 0.1, diagonal),  # has left and is next to the rim
        (pipe, [0.3, 0, 1.2], 0.2 * np.sqrt(2) - 0.1, [-diagonal[0], 0, diagonal[2]]),
    ]
    for element, center, gap, normal in cases:
        out = Kinematics(element)([(center, None), ([0, 0, 0], None)])
        assert out["gap"] == pytest.approx(gap, rel=1e-14)
        np.testing.assert_allclose(out["normal"], normal, atol=1e-15)
        np.testing.assert_allclose(out["point"], np.array(center) - 0.1 * out["normal"], atol=1e-15)


def test_a_ball_on_the_axis_of_a_tube_touches_nothing():
    kinematics = Kinematics(fem.SphereInCylinder(Node6(), Node6(), radius=0.4, radius_cylinder=0.5))
    out = kinematics([([0, 0, 0.3], None), ([0, 0, 0], None)])
    assert out["gap"] == pytest.approx(0.1, rel=1e-15)
    assert all(np.isfinite(value).all() for value in out.values())


@pytest.mark.parametrize("name", ["SphereOnCylinder", "SphereInCylinder"])
def test_forces_and_moments_on_both_bodies_balance(name):
    rng = np.random.default_rng(4)
    assert rigid_motion_seen(make_example(name, rng), rng) < 1e-13  # round-off of lengths of a few m


@pytest.mark.parametrize(
    "cls, numbers, message",
    [
        (fem.SphereOnCylinder, {"radius": 0.1, "radius_cylinder": 0}, "radius_cylinder = 0.0 m.*> 0"),
        (fem.SphereOnCylinder, {"radius": 0.1, "radius_cylinder": 1, "length": -1}, "length = -1.0 m.*> 0"),
        (fem.SphereInCylinder, {"radius": 0.1, "radius_cylinder": 0.1}, "no clearance"),
        (fem.SphereInCylinder, {"radius": 0.1, "radius_cylinder": 1, "length": np.nan}, r"length = .*finite"),
    ],
)
def test_cylinders_that_cannot_be_are_rejected_in_the_words_of_the_user(cls, numbers, message):
    with pytest.raises(fem.ParameterError, match=message):
        cls(Node6(), Node6(), **numbers)


def test_drawings_lie_on_the_wall():
    model = fem.Model()
    frame = model.ground.frame([1, 2, 3], [0.3, -0.2, 0.5])
    for cls in (fem.SphereOnCylinder, fem.SphereInCylinder):
        element = cls(Node6(), frame, radius=0.1, radius_cylinder=0.5, length=2.0)
        ((_, shape),) = element.picture()
        local = (shape.points - frame.p) @ frame.rotation
        wall = np.hypot(*local.T[:2])
        assert np.isclose(wall, 0.5).sum() >= 50 and wall.max() < 0.5 + 1e-12
        assert abs(local[:, 2]).max() == pytest.approx(1.0)
        assert cls(Node6(), Node6(), radius=0.1, radius_cylinder=0.5).picture() == []
