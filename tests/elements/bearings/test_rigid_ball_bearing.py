"""Rigid ball bearing, a part of spheres, contacts and springs: start without slip, statics of its balls, bad input."""

import numpy as np
import pytest
import rigid_ball_bearing as example

import fem_mbs as fem
from fem_mbs.errors import ParameterError
from fem_mbs.rotations import exp, frame_with_axis

SIZE = {"balls": 8, "radius_ball": 3.96875e-3, "radius_inner": 12.77125e-3, "radius_outer": 20.71875e-3}
REST = {"ball_mass": 2.042e-3, "cage_stiffness": 1e6}


def bodies(axis=(0, 0, 1.0), fixed="z", speeds=(0, 0), drift=(0, 0, 0), **inner):
    """Two free races about an axis."""
    R = frame_with_axis(np.array(axis, float))
    made = [
        fem.RigidBody(
            1.0, 1e-4, rotation=R, velocity=drift, angular_velocity=speed * np.array(axis), fixed=(fixed, "rx", "ry")
        )
        for speed in speeds
    ]
    return made


@pytest.mark.parametrize("axis, fixed", [((0, 0, 1.0), "z"), ((1.0, 0, 0), "x"), ((0, -1.0, 0), "y")])
@pytest.mark.parametrize("speeds", [(52.36, 0.0), (20.0, -35.0), (30.0, 30.0)])
def test_balls_start_without_slip_on_both_races(axis, fixed, speeds):
    drift = np.cross(axis, [0.3, 0.2, -0.5])
    inner, outer = bodies(axis, fixed, speeds, drift)
    bearing = fem.RigidBallBearing(outer, inner, **SIZE, **REST, angle=0.3)
    assert len(bearing.elements) == 32 and bearing.clearance == pytest.approx(10e-6)
    centre, e = inner.frame().position, np.array(axis)
    for ball in bearing.bodies:
        node = ball.nodes[0]
        arm = node.position - centre
        assert np.linalg.norm(arm) == pytest.approx(bearing.radius_cage, rel=1e-12) and abs(arm @ e) < 1e-15
        out = arm / np.linalg.norm(arm)
        for side, radius, speed in ((1, SIZE["radius_outer"], speeds[1]), (-1, SIZE["radius_inner"], speeds[0])):
            of_ball = node.velocity + np.cross(node.angular_velocity, side * SIZE["radius_ball"] * out)
            of_race = drift + speed * np.cross(e, radius * out)
            # the balls are in the middle of the clearance: 5 µm between the surfaces, times the speed of the ball
            assert of_ball == pytest.approx(of_race, abs=6e-6 * 200)
    if speeds[1] == 0:
        orbit = np.linalg.norm(bearing.nodes[0].velocity - drift) / bearing.radius_cage
        assert orbit / speeds[0] == pytest.approx(bearing.speed_ratio, rel=1e-12)
        assert bearing.speed_ratio == pytest.approx(0.3813, abs=5e-5)  # Sanchez2025, (4.11)


def test_a_race_at_rest_hangs_on_one_or_two_balls():
    """Statics of supports: a ball below takes all, two balls at 22.5° take 1/(2 cos 22.5°) each."""
    for angle, below, expected in ((-np.pi / 2, [0], [1.0]), (-np.pi / 2 + np.pi / 8, [0, 7], [0.5412, 0.5412])):
        model = fem.Model("hanging")
        inner = fem.RigidBody(1.25, 8e-5, position=[0, -8e-6, 0], fixed=("z", "rx", "ry"), name="inner")
        model.add(inner, fem.PointForce(inner, [0, -100.0, 0]))
        bearing = fem.RigidBallBearing(model.ground, inner, **SIZE, **REST, angle=angle, friction=0.2)
        model.add(bearing)
        result = fem.DecoupledNSGA(rho_inf=0.0).run(model, t_end=0.01, h=1e-4)
        force = np.array([result[f"bearing outer {j}"].force_normal[-20:].mean() for j in range(8)])
        assert force[below] == pytest.approx(100 * np.array(expected), rel=2e-3)  # the play turns the normals by 1e-3
        assert np.delete(force, below) == pytest.approx(0, abs=0.1)
        assert bearing.share(np.mod(angle + np.pi / 2, 2 * np.pi)) == pytest.approx(expected[0], abs=5e-5)


def test_statics_of_two_supports_hold_the_load():
    share = fem.RigidBallBearing(fem.Node6(), fem.Node6(), **SIZE, **REST).share
    pitch = 2 * np.pi / 8
    for beta in np.linspace(-pitch, 0, 7):
        first, second = share(beta), share(beta + pitch)
        assert first * np.cos(beta) + second * np.cos(beta + pitch) == pytest.approx(1.0)
        assert first * np.sin(beta) + second * np.sin(beta + pitch) == pytest.approx(0.0, abs=1e-12)


@pytest.mark.parametrize("clearance, largest", [(0.0, 54.3), (10e-6, 95.1), (20e-6, 100.0)])
def test_elastic_balls_of_the_same_bearing_share_the_load(clearance, largest):
    """docs/theory/bearings.md, "Balls that move": why levels of load need elasticity."""
    # that prototype took the inner race's stiffness for both, 3 % more: .5 N at 10 µm
    assert example.elastic_loads(clearance).load_inner.max() == pytest.approx(largest, abs=0.6)


def test_stresses_are_those_of_the_source():
    bearing = example.build()[1]
    inner = bearing.hertz("inner", radius_groove=example.groove, **example.steel)
    assert inner.stiffness == pytest.approx(7.0248e10, rel=1e-4)
    assert inner.maximum_pressure(100.0) == pytest.approx(694.4e6, rel=1e-4)
    # section 8.3: the source takes this one for the outer race too, which is 5 % stiffer
    outer = bearing.hertz("outer", radius_groove=example.groove, **example.steel)
    assert outer.stiffness == pytest.approx(1.0485 * inner.stiffness, rel=1e-3)
    with pytest.raises(ValueError, match="race = 'middle'"):
        bearing.hertz("middle", radius_groove=1, E=1)


@pytest.mark.parametrize(
    "change, words",
    [
        ({"radius_outer": 20.70e-3}, r"'rear': radius_outer = 0\.0207 m.*> 0"),
        ({"balls": 2}, "balls = 2.*whole number"),
        ({"balls": 14}, "radius_ball = .*14 balls"),
        ({"ball_mass": 0.0}, r"ball_mass = 0\.0 kg.*> 0"),
        ({"friction": -1.0}, "friction = -1.0 must be"),
        ({"cage_stiffness": -1.0}, "stiffness = -1.0 N/m must be"),
    ],
)
def test_impossible_numbers_are_rejected_by_name(change, words):
    inner, outer = bodies()
    with pytest.raises(ParameterError, match=words):
        fem.RigidBallBearing(outer, inner, **(SIZE | REST | change), name="rear")


def test_races_that_do_not_fit_each_other_are_rejected():
    inner, outer = bodies()
    with pytest.raises(ParameterError, match=r"inner = .*same node as outer"):
        fem.RigidBallBearing(inner, inner, **SIZE, **REST)
    with pytest.raises(ParameterError, match=r"inner = .*0\.001 m .*outer race.*clearance"):
        fem.RigidBallBearing(outer, inner.frame([1e-3, 0, 0]), **SIZE, **REST)
    with pytest.raises(ParameterError, match=r"inner = .*z axis"):
        fem.RigidBallBearing(outer, inner.frame(rotation=[0.1, 0, 0]), **SIZE, **REST)
    tilted = [body.frame(rotation=exp(np.array([0.1, 0, 0]))) for body in (outer, inner)]
    with pytest.raises(ParameterError, match=r"outer = .*parallel to x, y or z"):
        fem.RigidBallBearing(*tilted, **SIZE, **REST)
