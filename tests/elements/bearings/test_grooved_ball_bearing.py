"""Rigid ball bearing with grooves: its play, where balls start and how they roll, bad input."""

import numpy as np
import pytest

import fem_mbs as fem
from fem_mbs.errors import ParameterError
from fem_mbs.rotations import exp, frame_with_axis

SIZE = {"balls": 9, "radius_ball": 4e-3, "radius_inner": 15.5e-3, "radius_outer": 23.52e-3}
GROOVES = {"groove_inner": 4.16e-3, "groove_outer": 4.24e-3}
REST = {"ball_mass": 2e-3, "cage_stiffness": 1e5}
DISTANCE, CLEARANCE = 0.4e-3, 20e-6  # r_gi + r_go - 2 r_b, to one side
AXES = [(0, 0, 1.0), (1.0, 0, 0), (0.48, -0.6, 0.64)]


def bearing(outer=None, inner=None, **change):
    outer, inner = outer or fem.Node6(), inner or fem.Node6()
    return fem.RigidBallBearing(outer, inner, **(SIZE | GROOVES | REST | change), name="rear")


def to_circle(point, frame, radius):
    """Vector from the nearest point of the circle about z of a frame, by a search over the angle."""
    at = frame.orientation.T @ (point - frame.position)
    near = np.arctan2(at[1], at[0])
    for width in (1e-2, 1e-4, 1e-6):
        angles = near + np.linspace(-width, width, 401)
        circle = radius * np.column_stack([np.cos(angles), np.sin(angles), np.zeros(401)])
        near = angles[np.linalg.norm(at - circle, axis=1).argmin()]
    return frame.orientation @ (at - radius * np.array([np.cos(near), np.sin(near), 0.0]))


def rooms(made):
    """Gap [m] and normal from ball to race (Z, 2) of all balls at the inner and at the outer race."""
    gaps, normals = [], []
    for node in made.nodes:
        for frame, circle, groove in (
            (made.inner, made.radius_inner + made.grooves.groove_inner, made.grooves.groove_inner),
            (made.outer, made.radius_outer - made.grooves.groove_outer, made.grooves.groove_outer),
        ):
            s = to_circle(node.position, frame, circle)
            gaps.append(groove - made.radius_ball - np.linalg.norm(s))
            normals.append(s / np.linalg.norm(s))
    return np.reshape(gaps, (-1, 2)), np.reshape(normals, (-1, 2, 3))


def slips(made):
    """Largest sliding speed [m/s] at the points of the balls nearest the races."""
    found = []
    for node, normals in zip(made.nodes, rooms(made)[1]):
        for frame, n in zip((made.inner, made.outer), normals):
            p = node.position + made.radius_ball * n
            of_ball = node.velocity + np.cross(node.angular_velocity, p - node.position)
            of_race = frame.velocity + np.cross(frame.node.angular_velocity, p - frame.position)
            found.append(np.linalg.norm(of_ball - of_race))
    return max(found)


def test_play_and_contact_angle_are_those_of_the_geometry_of_bearings():
    geometry = fem.BearingGeometry(9, 8e-3, 39e-3, 0.52, 0.53, clearance=40e-6)
    made = fem.ball_bearing(fem.Node6(), fem.Node6(), geometry, level="rigid", grooves=True)
    assert made.clearance == pytest.approx(0.5 * geometry.clearance, rel=1e-12)
    assert made.grooves.groove_distance == pytest.approx(geometry.groove_distance, rel=1e-12)
    assert made.grooves.free_angle == pytest.approx(geometry.free_angle, rel=1e-10)
    assert made.grooves.axial_play == pytest.approx(np.sqrt(4 * 0.4e-3 * 40e-6 - 40e-6**2), rel=1e-12)
    assert 2 * made.radius_cage == pytest.approx(geometry.pitch_diameter, rel=1e-12)
    assert made.speed_ratio == pytest.approx(geometry.pass_frequencies(1.0, contact_angle=geometry.free_angle).cage)
    for race, contact in (("inner", geometry.inner), ("outer", geometry.outer)):
        assert made.hertz(race, E=206e9).stiffness == pytest.approx(contact.stiffness, rel=2e-3)  # at the bottom


def test_an_angular_contact_bearing_starts_in_contact():
    geometry = fem.BearingGeometry(9, 8e-3, 39e-3, 0.52, 0.53, contact_angle=np.radians(25))
    made = fem.ball_bearing(fem.Node6(), fem.Node6(), geometry, level="rigid", grooves=True)
    gaps, normals = rooms(made)
    assert gaps == pytest.approx(0.0, abs=1e-12)
    assert normals[:, 1, 2] == pytest.approx(np.sin(np.radians(25)), abs=1e-6)
    assert normals[:, 0, 2] == pytest.approx(-np.sin(np.radians(25)), abs=1e-6)


@pytest.mark.parametrize("axis", AXES)
@pytest.mark.parametrize("side", [1.0, -1.0])
def test_balls_roll_without_slip_at_the_contact_angle_where_play_is_taken_up(axis, side):
    R, e = frame_with_axis(np.array(axis)), np.array(axis)
    drift, tumbling = np.array([0.3, -0.2, 0.5]), np.array([0.2, 0.7, -0.4])
    stop = 0.5 * bearing().grooves.axial_play * side
    outer = fem.RigidBody(1, 1e-4, rotation=R, velocity=drift, angular_velocity=tumbling - 35 * e)
    inner = fem.RigidBody(1, 1e-4, position=stop * e, rotation=R, velocity=drift + np.cross(tumbling, stop * e),
                          angular_velocity=tumbling + 52 * e)  # fmt: skip
    made = bearing(outer, inner, angle=0.3)
    gaps, normals = rooms(made)
    assert gaps == pytest.approx(0.0, abs=1e-12)
    angle = np.arccos(1 - CLEARANCE / DISTANCE)
    assert normals[:, 1] @ e == pytest.approx(side * np.sin(angle), abs=1e-6)  # the search ends at 5e-9 rad
    assert slips(made) < 1e-6  # of 0.8 m/s
    node = made.nodes[0]
    out = (node.position - outer.node.position) - ((node.position - outer.node.position) @ e) * e
    orbit = (node.velocity - drift - np.cross(tumbling, node.position)) @ np.cross(e, out) / (out @ out)
    gamma = 8e-3 * np.cos(angle) / (2 * made.radius_cage)
    assert orbit == pytest.approx(0.5 * 52 * (1 - gamma) - 0.5 * 35 * (1 + gamma), rel=1e-9)
    # the rest of its rotation, about the contact normal, is the mean of the races'
    relative = (node.angular_velocity - tumbling) @ normals[0, 1]
    assert relative == pytest.approx(0.5 * (52 - 35) * side * np.sin(angle), rel=1e-5)


def test_centred_races_leave_half_of_the_clearance_at_each_race_in_proportion_to_the_grooves():
    made = bearing(fem.RigidBody(1, 1e-4), fem.RigidBody(1, 1e-4, angular_velocity=[0, 0, 52.0]))
    gaps, normals = rooms(made)
    assert gaps.sum(axis=1) == pytest.approx(CLEARANCE, rel=1e-6)
    assert gaps[:, 0] / gaps[:, 1] == pytest.approx(0.16 / 0.24, rel=1e-6)
    assert np.abs(normals[:, :, 2]).max() < 1e-12
    assert slips(made) < 1e-3  # 20 µm times 52 rad/s


@pytest.mark.parametrize("seed", range(5))
def test_balls_start_between_displaced_and_tilted_races(seed):
    rng = np.random.default_rng(seed)
    R = exp(rng.normal(size=3))
    displaced = R @ (rng.uniform(-0.4, 0.4, 3) * [CLEARANCE, CLEARANCE, 1e-4])
    tilt = exp(np.array([*rng.uniform(-1.2e-3, 1.2e-3, 2), rng.uniform(-3, 3)]))
    made = bearing(fem.RigidBody(1, 1e-4, rotation=R), fem.RigidBody(1, 1e-4, position=displaced, rotation=R @ tilt))
    gaps, _ = rooms(made)
    assert gaps.min() > 0.0 and gaps.max() < DISTANCE


def test_the_races_may_start_anywhere_in_their_play_and_nowhere_else():
    play, R_o = 0.5 * bearing().grooves.axial_play, 23.52e-3 - 4.24e-3
    R_i = 15.5e-3 + 4.16e-3
    # tilt about the ball at x: the balls nearest y and -y are at 80° and -80°
    y = np.sin(np.radians(80))
    tilt = 0.999 * np.arccos((R_i**2 + R_o**2 - DISTANCE**2) / (2 * R_i * R_o)) / y
    limits = (([0, 0, play], [0, 0, 0]), ([0, 0, -play], [0, 0, 0]), ([CLEARANCE, 0, 0], [0, 0, 0]),
              ([0, 0, 0], [tilt, 0, 0]))  # fmt: skip
    for position, turned in limits:
        for part, fits in ((0.999, True), (1.003, False)):
            inner = fem.RigidBody(1, 1e-4, position=part * np.array(position),
                                  rotation=exp(part * np.array(turned, float)))  # fmt: skip
            if fits:
                bearing(inner=inner)
            else:
                with pytest.raises(ParameterError, match=r"'rear': inner = .*out of its play: at ball \d.*radial 2e"):
                    bearing(inner=inner)


@pytest.mark.parametrize(
    "change, words",
    [
        ({"groove_inner": 4e-3}, r"'rear': groove_inner = 0\.004 m must be larger than radius_ball"),
        ({"groove_outer": 3.9e-3}, r"groove_outer = 0\.0039 m must be larger"),
        ({"groove_outer": None}, "groove_outer = None is missing: give both"),
        ({"groove_inner": None}, "groove_inner = None is missing: give both"),
        ({"groove_outer": 0.012}, r"groove_outer = 0\.012 m must be below half of radius_outer"),
        ({"radius_outer": 23.5e-3}, r"radius_outer = 0\.0235 m leaves 0 m.*> 0"),
        ({"radius_outer": 23.95e-3}, r"radius_outer = .*below the distance of the groove centres, 0\.0004 m"),
        ({"balls": 16}, "radius_ball = .*16 balls"),
        ({"groove_inner": "wide"}, "groove_inner = 'wide'"),
    ],
)
def test_impossible_grooves_are_rejected_by_name(change, words):
    with pytest.raises(ParameterError, match=words):
        bearing(**change)


def test_opposite_axes_and_bearings_without_play_are_rejected():
    with pytest.raises(ParameterError, match=r"inner = .*z axis opposite"):
        bearing(inner=fem.RigidBody(1, 1e-4, rotation=[np.pi, 0, 0]))
    tight = fem.BearingGeometry(9, 8e-3, 39e-3, clearance=0.0)
    with pytest.raises(ParameterError, match=r"radius_outer = .*the clearance must be > 0"):
        fem.ball_bearing(fem.Node6(), fem.Node6(), tight, level="rigid", grooves=True)
    with pytest.raises(ParameterError, match=r"ball_bearing: grooves = 3"):
        fem.ball_bearing(fem.Node6(), fem.Node6(), tight, level="rigid", grooves=3)
    with pytest.raises(ParameterError, match=r"race = 'middle'"):
        bearing().hertz("middle", E=2e11)
    planar = fem.RigidBallBearing(fem.Node6(), fem.Node6(), **SIZE, **REST)
    assert planar.grooves is None
    with pytest.raises(ParameterError, match=r"radius_groove = None"):
        planar.hertz("inner", E=2e11)


def test_groove_centres_are_points_of_both_circles_in_the_half_plane_of_the_ball():
    outer = fem.RigidBody(1, 1e-4, rotation=exp(np.array([0.3, -1.0, 0.4]))).frame()
    R = outer.orientation
    inner = fem.RigidBody(
        1, 1e-4, position=R @ [2e-3, -1e-3, 5e-4], rotation=R @ exp(np.array([0.1, 0.05, 2.0]))
    ).frame()
    grooves, psi = bearing().grooves, np.linspace(-3, 3, 7)
    C_o, C_i, radial = grooves.centers(outer, inner, psi)
    for frame, points, radius in ((outer, C_o, 23.52e-3 - 4.24e-3), (inner, C_i, 15.5e-3 + 4.16e-3)):
        at = (points - frame.position) @ frame.orientation
        assert np.linalg.norm(at, axis=1) == pytest.approx(radius, rel=1e-12)
        assert at[:, 2] == pytest.approx(0.0, abs=1e-15)
        local = (points - outer.position) @ R
        assert np.arctan2(local[:, 1], local[:, 0]) == pytest.approx(psi, abs=1e-12)
    assert (radial @ R)[:, :2] == pytest.approx(np.column_stack([np.cos(psi), np.sin(psi)]), abs=1e-15)


def test_balls_opposite_to_a_race_in_a_wide_bearing_roll_the_same_way():
    """There the line of the groove centres points inwards."""
    change = {"radius_outer": 23.82e-3}
    inner = fem.RigidBody(1, 1e-4, position=[0.31e-3, 0, 0], angular_velocity=[0, 0, 52.0])
    made = bearing(inner=inner, **change)
    C_o, C_i, radial = made.grooves.centers(made.outer, made.inner, 2 * np.pi * np.arange(9) / 9)
    assert np.sum((C_i - C_o) * radial, axis=1).min() < 0
    for node in made.nodes:
        assert -1.2 < node.angular_velocity[2] / (52.0 * 15.5 / 8.0) < -0.8
        assert np.linalg.norm(node.velocity) == pytest.approx(0.5 * 52.0 * 15.5e-3, rel=0.05)
