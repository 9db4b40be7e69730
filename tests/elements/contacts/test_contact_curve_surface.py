"""Contacts with spline curves (`PointOnCurve`, `SphereOnWire`) and surfaces (`PointOnSurface`)."""

import numpy as np
import pytest
from contact_at import Kinematics, rigid_motion_seen

import fem_mbs as fem
from fem_mbs.element.registry import make_example
from fem_mbs.errors import SolverError
from fem_mbs.nodes import Node6
from fem_mbs.rotations import exp

STEPPER = {"rho_inf": 0.8, "rtol": 1e-9}
GROUND = ([0, 0, 0], None)


def bead_on_cycloid(start, h=1e-3):
    """Bead that is let go on the cycloid x = a (θ + sin θ), y = a (1 − cos θ) at θ = start; results, quarter period."""
    a, g = 0.25, 9.81
    model = fem.Model("bead", gravity=[0, -g, 0])
    theta = np.linspace(-2, 2, 81)
    track = a * np.column_stack([theta + np.sin(theta), 1 - np.cos(theta)])
    point = a * np.array([start + np.sin(start), 1 - np.cos(start), 0])
    bead = model.add(fem.PointMass(1.0, position=point + [0, 1e-6, 0], name="bead"))
    model.add(fem.PointOnCurve(bead, model.ground, points=track, name="track"))
    return fem.DecoupledNSGA(**STEPPER).run(model, t_end=0.75, h=h), np.pi * np.sqrt(a / g)


@pytest.mark.parametrize("start", [0.3, 1.5])
def test_a_bead_on_a_cycloid_reaches_the_bottom_in_the_same_time_from_everywhere(start):
    result, quarter = bead_on_cycloid(start)
    x = result["bead"].position[:, 0]
    k = np.argmax(x < 0)
    crossing = result.t[k - 1] + (result.t[k] - result.t[k - 1]) * x[k - 1] / (x[k - 1] - x[k])
    # first order: late by 0.25 h and by 0.32 h (measured, the same at 2 ms); half a step
    assert crossing == pytest.approx(quarter, abs=5e-4)
    assert result["track"].gap.min() > -1e-11


def circle(n, radius=1.0):
    angle = 2 * np.pi * np.arange(n) / n
    return radius * np.column_stack([np.cos(angle), np.sin(angle)])


@pytest.mark.parametrize("side", ["left", "right"])
def test_a_closed_curve_through_a_circle_is_a_cylinder_up_to_the_fourth_power_of_the_spacing(side):
    inside = side == "left"  # the circle is given counter-clockwise
    cylinder = fem.SphereInCylinder if inside else fem.SphereOnCylinder
    exact = Kinematics(cylinder(Node6(), Node6([0, 1, 0]), radius=0.2, radius_cylinder=1.0))
    rng, errors = np.random.default_rng(1), []
    for n in (16, 32, 64):
        curve = fem.PointOnCurve(Node6(), Node6([0, 1, 0]), points=circle(n), closed=True, radius=0.2, side=side)
        kinematics, worst = Kinematics(curve), 0.0
        for angle in np.linspace(0.1, 6.2, 23):
            way = 0.8 if inside else 1.2

            def pose(phi, turn, z, way=way):
                return [([way * np.cos(phi), way * np.sin(phi), z], exp(turn)), GROUND]

            turn = 0.3 * rng.normal(size=3)
            end, start = pose(angle, turn, 0.2), pose(angle - 0.2, [0, 0, 0], 0.1)
            out, reference = kinematics(end, start), exact(end, start)
            worst = max(worst, *(np.abs(out[k] - reference[k]).max() for k in ("gap", "slip", "point")))
        errors.append(worst)
    order = np.polyfit(np.log([16, 32, 64]), np.log(errors), 1)[0]
    # fourth order for the curve itself; the normal, of third order, moves the point of contact
    assert order < -2.8, errors
    assert errors[-1] < 2e-5


def test_an_open_curve_continues_straight_beyond_its_ends():
    points = [[-1, 0], [0, 0.5], [1, 0]]
    curve = fem.PointOnCurve(Node6(), Node6(), points=points, radius=0.0)
    end, slope = curve.spline(curve.curve_length), curve.spline(curve.curve_length, 1)
    t = slope / np.linalg.norm(slope)
    n = np.array([-t[1], t[0], 0])
    out = Kinematics(curve)([(end + 3 * t + 0.2 * n, None), GROUND])
    assert out["gap"] == pytest.approx(0.2, rel=1e-14)
    np.testing.assert_allclose(out["normal"], n, atol=1e-15)
    # the other side of the same curve
    out = Kinematics(fem.PointOnCurve(Node6(), Node6(), points=points, side="right"))([(end - 0.2 * n, None), GROUND])
    assert out["gap"] == pytest.approx(0.2, rel=1e-14)


def test_a_straight_wire_is_a_cylinder():
    wire = fem.SphereOnWire(Node6(), Node6([0, 1, 0]), points=[[0, 0, -1], [0, 0, 2]], radius=0.2, radius_wire=0.1)
    peg = fem.SphereOnCylinder(Node6(), Node6([0, 1, 0]), radius=0.2, radius_cylinder=0.1)
    rng = np.random.default_rng(2)
    for _ in range(5):
        start = [(rng.normal(size=3), exp(rng.normal(size=3))), (0.1 * rng.normal(size=3), exp(rng.normal(size=3)))]
        end = [(x + 0.05 * rng.normal(size=3), R @ exp(0.1 * rng.normal(size=3))) for x, R in start]
        out, reference = Kinematics(wire)(end, start), Kinematics(peg)(end, start)
        for name in ("gap", "slip", "G_N", "G_T", "V_T", "W"):
            np.testing.assert_allclose(out[name], reference[name], atol=1e-13)  # round-off of lengths of 1 m


def test_a_ball_rolls_down_two_rails_on_its_smaller_circle():
    # contact at the angle β off the vertical, sin β = d/(r + r_w): a = g sin α/(1 + 2/5/cos² β)
    r, wire, half, slope, g = 0.1, 0.02, 0.06, 0.2, 9.81
    model = fem.Model("rails", gravity=[g * np.sin(slope), 0, -g * np.cos(slope)])
    beta = np.arcsin(half / (r + wire))
    ball = model.add(fem.RigidBody.sphere(1.0, r, position=[0, 0, (r + wire) * np.cos(beta)], name="ball"))
    for y in (-half, half):
        line = [[-1, y, 0], [0, y, 0], [2, y, 0]]
        model.add(
            fem.SphereOnWire(
                ball, model.ground, points=line, radius=r, radius_wire=wire, friction=0.5, name=f"rail {y}"
            )
        )
    result = fem.DecoupledNSGA(**STEPPER).run(model, t_end=0.4, h=1e-3)
    a = g * np.sin(slope) / (1 + 0.4 / np.cos(beta) ** 2)
    np.testing.assert_allclose(result["ball"].velocity[-1], [0.4 * a, 0, 0], atol=1e-8)  # tolerance of the stepper
    w = result["ball"].angular_velocity[-1]
    np.testing.assert_allclose(w, [0, 0.4 * a / (r * np.cos(beta)), 0], atol=1e-7)


def test_a_spherical_dish_given_as_a_surface_is_the_inside_of_a_sphere():
    exact = Kinematics(fem.SphereInSphere(Node6(), Node6([0, 1, 0]).frame([0, 0, 1]), radius=0.2, radius_outer=1.0))
    rng, errors = np.random.default_rng(3), []
    for cells in (10, 20, 40):
        dish = fem.PointOnSurface(
            Node6(), Node6([0, 1, 0]), height=lambda x, y: 1 - np.sqrt(1 - x**2 - y**2), x=(-0.6, 0.6), y=(-0.6, 0.6),
            cells=cells, radius=0.2,
        )  # fmt: skip
        kinematics, worst = Kinematics(dish), 0.0
        for _ in range(10):
            start, turn = 0.2 * rng.normal(size=3).clip(-1.5, 1.5), 0.2 * rng.normal(size=3)
            start[2] = 0.3
            end = [(start + [0.05, -0.03, 0.1], exp(turn)), GROUND]
            out, reference = (k(end, [(start, None), GROUND]) for k in (kinematics, exact))
            worst = max(
                worst, np.abs(out["gap"] - reference["gap"]).max(), np.abs(out["point"] - reference["point"]).max()
            )
            # tangents are chosen about other axes: compare the length
            worst = max(worst, abs(np.linalg.norm(out["slip"]) - np.linalg.norm(reference["slip"])))
        errors.append(worst)
    order = np.polyfit(np.log([10, 20, 40]), np.log(errors), 1)[0]
    assert order < -2.8, errors  # as for the curve
    assert errors[-1] < 1e-5


def test_a_bead_circles_in_a_parabolic_bowl_with_the_same_speed_of_turning_at_any_height():
    # z = k ρ²/2: ω² = g k
    k, g, radius = 2.0, 9.81, 0.3
    omega = np.sqrt(g * k)
    errors = []
    for h in (2e-3, 1e-3):
        model = fem.Model("bowl", gravity=[0, 0, -g])
        bead = model.add(
            fem.PointMass(1.0, position=[radius, 0, 0.5 * k * radius**2], velocity=[0, omega * radius, 0], name="bead")
        )
        model.add(
            fem.PointOnSurface(
                bead,
                model.ground,
                height=lambda x, y: 0.5 * k * (x**2 + y**2),
                x=(-0.5, 0.5),
                y=(-0.5, 0.5),
                name="bowl",
            )
        )
        result = fem.DecoupledNSGA(**STEPPER).run(model, t_end=0.7, h=h)
        x, y, z = result["bead"].position.T
        errors.append(abs(np.arctan2(y[-1], x[-1]) - 0.7 * omega))  # 3.1 rad
        assert abs(z - 0.5 * k * (x**2 + y**2)).max() < 1e-10  # on the surface: the spline is exact for a parabola
        assert abs(np.hypot(x, y) / radius - 1).max() < 2 * omega * h  # of first order: 0.9 ω h (measured), doubled
    assert errors[1] < 0.6 * errors[0]  # of first order


def test_next_to_its_rectangle_a_surface_is_not_there():
    plate = fem.PointOnSurface(
        Node6(), Node6(), height=lambda x, y: 0.1 * (x**2 - 1), x=(-1, 1), y=(-1, 2), cells=(5, 5), radius=0.1
    )
    kinematics = Kinematics(plate)
    out = kinematics([([1.4, 0, 0.3], None), GROUND])
    assert out["gap"] == pytest.approx(0.4, rel=1e-12)
    np.testing.assert_allclose(out["normal"], [0.8, 0, 0.6], atol=1e-12)
    out = kinematics([([1.4, 2.3, 0], None), GROUND])  # off a corner
    assert out["gap"] == pytest.approx(0.4, rel=1e-12)
    assert kinematics([([3, 0, -5], None), GROUND])["gap"] > 0


def under_a_plate(radius):
    """A ball that falls past the edge of a plate and is pulled under it and upwards."""
    model = fem.Model("edge", gravity=lambda t: [0, 0, -9.81] if t < 0.5 else [-30.0 * (t < 0.6), 0, 20.0])
    start = {"position": [0, 0, radius], "velocity": [1.0, 0, 0]}
    ball = model.add(fem.RigidBody.sphere(1.0, 0.1, name="ball", **start))
    flat = {"height": lambda x, y: 0 * x, "x": (-9, 0.3), "y": (-1, 1), "cells": 8}
    model.add(fem.PointOnSurface(ball, model.ground, **flat, radius=radius, name="plate"))
    return model


@pytest.mark.parametrize(
    "method",
    [fem.DecoupledNSGA(), fem.MoreauJean(projection=True), fem.LobattoIIIAB()],
    ids=lambda method: type(method).__name__,
)
def test_what_comes_round_the_edge_of_a_surface_touches_it_from_below_or_is_rejected(method):
    """It was lifted through the plate in one step, or pushed on inside of it, by methods that say nothing of it."""
    result = method.run(under_a_plate(0.1), 1.5, 1e-3)
    x, _, z = result["ball"].position.T
    assert z[x > 0.31].min() < -0.15 and x[-1] < 0.0  # it fell, and came back under the plate
    assert z[-1] == pytest.approx(-0.1, abs=2e-3) and result["plate"].gap.min() > -5e-3
    assert result["plate"].normal[-1] == pytest.approx([0, 0, -1], abs=1e-12)
    assert result["plate"].force_normal[-1] == pytest.approx(20.0, rel=1e-3)
    with pytest.raises(SolverError, match=r"'plate'.*under the surface"):
        method.run(under_a_plate(0.0), 1.5, 1e-3)


@pytest.mark.parametrize("name", ["PointOnCurve", "SphereOnWire", "PointOnSurface"])
def test_forces_and_moments_on_both_bodies_balance(name):
    rng = np.random.default_rng(6)
    assert rigid_motion_seen(make_example(name, rng), rng) < 1e-13  # round-off of lengths of a few m


LINE = [[0, 0], [1, 0]]


@pytest.mark.parametrize(
    "make, message",
    [
        (lambda a, b: fem.PointOnCurve(a, b, points=[[0, 0]]), "points .*at least 2"),
        (lambda a, b: fem.PointOnCurve(a, b, points=[[0, 0], [1, 1]], closed=True), "at least 3"),
        (lambda a, b: fem.PointOnCurve(a, b, points=[[0, 0], [1, 0], [1, 0], [2, 0]]), "point 2 .*same"),
        (lambda a, b: fem.PointOnCurve(a, b, points=[[0, 0, 0], [1, 1, 1]]), r"points = .*shape \(2, 3\).*\(n, 2\)"),
        (lambda a, b: fem.PointOnCurve(a, b, points="straight"), r"points = .*\(n, 2\) of numbers"),
        (lambda a, b: fem.PointOnCurve(a, b, points=LINE, side="top"), "side = .*'left', 'right'"),
        (
            lambda a, b: fem.PointOnCurve(a, b, points=circle(16), closed=True, radius=1.2),
            r"radius = .*fit .*radius 0\.98",
        ),
        (lambda a, b: fem.SphereOnWire(a, b, points=np.eye(3), radius=0), "radius = 0.0 m.*> 0"),
        (lambda a, b: fem.PointOnSurface(a, b, height=np.sin, x=(1, 0), y=(0, 1)), r"x = \(.*second value"),
        (lambda a, b: fem.PointOnSurface(a, b, height=np.ones((2, 9)), x=(0, 1), y=(0, 1)), r"height .*≥ 4"),
        (lambda a, b: fem.PointOnSurface(a, b, height=lambda x, y: x / 0, x=(0, 1), y=(0, 1)), "not finite"),
    ],
)
@pytest.mark.filterwarnings("ignore:divide by zero", "ignore:invalid value")
def test_curves_and_surfaces_that_cannot_be_are_rejected_in_the_words_of_the_user(make, message):
    with pytest.raises(fem.ParameterError, match=message):
        make(Node6(), Node6())


def test_drawings_lie_on_the_shapes():
    frame, node = fem.Model().ground.frame([1, 2, 3], [0.3, -0.2, 0.5]), Node6()

    def local(element):
        ((_, shape),) = element.picture()
        return (shape.points - frame.p) @ frame.rotation

    wall = local(fem.PointOnCurve(node, frame, points=circle(64), closed=True, width=0.4))
    np.testing.assert_allclose(np.hypot(*wall.T[:2]), 1, atol=1e-6)  # fourth order of 2π/64
    np.testing.assert_allclose(abs(wall[:, 2]), 0.2, rtol=1e-12)
    tube = local(fem.SphereOnWire(node, frame, points=[[0, 0, 0], [0, 0, 1]], radius=1, radius_wire=0.1))
    np.testing.assert_allclose(np.hypot(*tube.T[:2]), 0.1, rtol=1e-12)
    hill = local(fem.PointOnSurface(node, frame, height=lambda x, y: x * y, x=(0, 1), y=(0, 2), cells=5))
    np.testing.assert_allclose(hill[:, 2], hill[:, 0] * hill[:, 1], atol=1e-14)
