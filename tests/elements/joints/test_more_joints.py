"""Planar, screw, point on line, point on spline, distance, constant velocity, parallel and perpendicular axes: their
free coordinates, and motions in closed form."""

import numpy as np
import pytest

import fem_mbs as fem
from fem_mbs import verify
from fem_mbs.nodes import Node6
from fem_mbs.rotations import exp
from fem_mbs.system.checks.redundancy import independent_count

GRAVITY = 9.81


def body(**options):
    return fem.RigidBody(2.0, [0.15, 0.18, 0.2], name="body", **options)


def joints(ground, other):
    """One of each type between ground and a body at the origin."""
    turn = np.linspace(0, 2 * np.pi, 24, endpoint=False)
    ring = np.column_stack([np.cos(turn) - 1, np.sin(turn), 0 * turn])
    at = {"position": [0.1, 0.2, 0.3], "axis": [0, 0.6, 0.8]}
    return {
        "Planar": (fem.Planar.at(ground, other, **at), 3),
        "Screw": (fem.Screw.at(ground, other, lead=0.1, **at), 1),
        "PointOnLine": (fem.PointOnLine.at(ground, other, **at), 4),
        "PointOnSpline": (fem.PointOnSpline(other.frame(), ground.frame(), points=ring, closed=True), 4),
        "Distance": (fem.Distance.at(ground, other, [1, 0, 0], [0.1, 0, 0]), 5),
        "ConstantVelocity": (fem.ConstantVelocity.at(ground, other, **at, second_axis=[1, 0, 0]), 2),
        "ParallelAxes": (fem.ParallelAxes.at(ground, other, **at), 4),
        "PerpendicularAxes": (fem.PerpendicularAxes.at(ground, other, **at), 5),
    }


NAMES = sorted(joints(fem.Model().ground, Node6()))


@pytest.mark.parametrize("name", NAMES)
def test_joint_leaves_the_number_of_freedoms_that_it_should(name):
    model = fem.Model("one joint")
    part = body()
    joint, freedoms = joints(model.ground, part)[name]
    model.add(part, joint)
    system = model.compile()
    assert independent_count(system) == system.m == 6 - freedoms
    assert np.abs(system.constraint_values(system.initial)[0]).max() < 1e-14  # round-off


@pytest.mark.parametrize("name", NAMES)
def test_joint_holds_in_a_free_motion_and_takes_no_energy(name):
    model = fem.Model("one joint")
    part = body(velocity=[0.3, -0.2, 0.4], angular_velocity=[0.5, 0.6, -0.4])
    model.add(part, joints(model.ground, part)[name][0])
    system = model.compile(project=True)
    run = fem.DecoupledNSGA(rho_inf=1.0).run(system, t_end=0.5, h=2e-3)
    assert run.energy.kinetic[0] > 0.005
    assert run.energy.total == pytest.approx(run.energy.total[0], rel=1e-4)  # order 2 in h
    assert np.abs(system.constraint_values(run.state(-1))[0]).max() < 1e-9


# --- planar ---------------------------------------------------------------------------------------------------------


def test_a_plate_on_an_inclined_table_moves_as_a_free_plate_in_its_plane():
    slope = 0.3
    normal = np.array([np.sin(slope), 0, np.cos(slope)])
    model = fem.Model("table", gravity=[0, 0, -GRAVITY])
    plate = body(angular_velocity=4.0 * normal, velocity=[0, 0.7, 0])
    table = fem.Planar.at(model.ground, plate, [0, 0, 0], normal, name="table")
    P = table.frame_P.orientation
    plate = fem.RigidBody(2.0, P @ np.diag([0.1, 0.1, 0.2]) @ P.T, angular_velocity=4.0 * normal, velocity=[0, 0.7, 0])
    model.add(plate, fem.Planar.at(model.ground, plate, [0, 0, 0], normal, name="table"))
    run = fem.DecoupledNSGA().run(model, t_end=1.0, h=2e-3)
    down = P.T @ [np.cos(slope), 0, -np.sin(slope)] * GRAVITY * np.sin(slope)
    across = P.T @ [0, 0.7, 0]
    t = run.t
    assert run["table"].x == pytest.approx(across[0] * t + 0.5 * down[0] * t**2, abs=1e-5)
    assert run["table"].y == pytest.approx(across[1] * t + 0.5 * down[1] * t**2, abs=1e-5)
    assert run["table"].angle == pytest.approx(4.0 * t, rel=1e-6)
    # the plate presses with its weight across the table
    assert run["table"].force[10:] @ normal == pytest.approx(2.0 * GRAVITY * np.cos(slope), rel=1e-6)


# --- screw ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("lead", [0.4, -0.4])
def test_a_nut_that_runs_down_its_screw_accelerates_with_the_inertia_of_both_motions(lead):
    model = fem.Model("nut", gravity=[0, 0, -GRAVITY])
    nut = body()
    model.add(nut, fem.Screw.at(model.ground, nut, [0, 0, 0], [0, 0, 1], lead=lead, name="screw"))
    run = fem.DecoupledNSGA().run(model, t_end=1.5, h=2e-3)
    pitch = lead / (2 * np.pi)
    acceleration = -2.0 * GRAVITY * pitch / (2.0 * pitch**2 + 0.2)  # of the angle
    assert run["screw"].angle == pytest.approx(0.5 * acceleration * run.t**2, abs=1e-4)
    assert run["screw"].displacement == pytest.approx(pitch * run["screw"].angle, abs=1e-12)
    assert np.abs(run["screw"].angle[-1]) > 2 * np.pi
    # the thread turns the nut: moment J θ'' about the axis
    assert run["screw"].moment[10:, 2] == pytest.approx(0.2 * acceleration, rel=1e-5)


def test_a_driven_screw_lifts_its_nut():
    model = fem.Model("jack", gravity=[0, 0, -GRAVITY])
    nut = body()
    motor = fem.Motor(position=fem.Signal(lambda t: 30.0 * t**2))
    model.add(nut, fem.Screw.at(model.ground, nut, [0, 0, 0], [0, 0, 1], lead=5e-3, name="screw", motor=motor))
    run = fem.DecoupledNSGA().run(model, t_end=1.0, h=2e-3)
    pitch = 5e-3 / (2 * np.pi)
    assert run["screw"].displacement == pytest.approx(pitch * 30.0 * run.t**2, abs=1e-10)
    moment = 0.2 * 60.0 + pitch * 2.0 * (GRAVITY + 60.0 * pitch)
    assert run["screw motor"].effort[10:] == pytest.approx(moment, rel=1e-5)


# --- point on line, point on spline ---------------------------------------------------------------------------------


def test_a_point_slides_down_an_inclined_line_as_a_mass_point():
    axis = np.array([0.8, 0, -0.6])
    model = fem.Model("wire", gravity=[0, 0, -GRAVITY])
    bead = body(angular_velocity=[0, 0, 2.0])
    model.add(bead, fem.PointOnLine.at(model.ground, bead, [0, 0, 0], axis, name="wire"))
    run = fem.DecoupledNSGA().run(model, t_end=1.0, h=2e-3)
    assert run["wire"].displacement == pytest.approx(0.5 * GRAVITY * 0.6 * run.t**2, abs=1e-6)
    assert np.linalg.norm(run["wire"].force[-1]) == pytest.approx(2.0 * GRAVITY * 0.8, rel=1e-6)


def helix(turns, radius, rise, count):
    angle = np.linspace(0, 2 * np.pi * turns, count)
    return np.column_stack([radius * np.cos(angle), radius * np.sin(angle), -rise * angle])


def test_a_bead_runs_down_a_helix_with_constant_acceleration():
    radius, rise, mass = 0.5, 0.2, 0.3
    model = fem.Model("helix", gravity=[0, 0, -GRAVITY])
    points = helix(3, radius, rise, 145)
    bead = fem.RigidBody(mass, 1e-4, position=points[0], name="bead")
    model.add(bead, fem.PointOnSpline(bead, model.ground, points=points, name="wire"))
    run = fem.DecoupledNSGA().run(model, t_end=1.6, h=2e-3)
    slope = rise / np.hypot(radius, rise)
    way = 0.5 * GRAVITY * slope * run.t**2
    angle = way / np.hypot(radius, rise)
    assert angle[-1] > 2 * np.pi
    x = run["bead"].position
    exact = np.column_stack([radius * np.cos(angle), radius * np.sin(angle), -rise * angle])
    inner = run.t > 0.3  # a natural spline has no curvature at its ends
    assert np.abs(x - exact)[inner].max() < 2e-3
    assert run["wire"].speed[inner] == pytest.approx(GRAVITY * slope * run.t[inner], rel=2e-3)
    curvature = radius / (radius**2 + rise**2)
    across = mass * np.hypot((GRAVITY * slope * run.t) ** 2 * curvature, GRAVITY * radius / np.hypot(radius, rise))
    assert np.linalg.norm(run["wire"].force, axis=1)[inner] == pytest.approx(across[inner], rel=1e-2)


def test_a_bead_in_a_closed_ring_swings_as_a_pendulum_and_goes_round():
    turn = np.linspace(0, 2 * np.pi, 60, endpoint=False)
    ring = np.column_stack([np.cos(turn), np.sin(turn), 0 * turn])
    upright = [np.pi / 2, 0, 0]  # x-y plane of the ring to x-z
    model = fem.Model("ring", gravity=[0, 0, -GRAVITY])
    bead = fem.RigidBody(0.3, 1e-4, position=[0, 0, -1], velocity=[7.0, 0, 0], name="bead")
    model.add(
        bead, fem.PointOnSpline(bead, model.ground.frame(rotation=upright), points=ring, closed=True, name="ring")
    )
    run = fem.DecoupledNSGA(rho_inf=1.0).run(model, t_end=2.0, h=1e-3)
    height, speed = run["bead"].position[:, 2], run["ring"].speed
    assert height.max() > 0.999  # over the top
    assert speed**2 == pytest.approx(49.0 - 2 * GRAVITY * (height + 1), abs=0.02)
    assert np.linalg.norm(run["bead"].position, axis=1) == pytest.approx(1.0, abs=1e-5)  # error of the spline


# --- distance -------------------------------------------------------------------------------------------------------


def test_a_mass_on_a_link_swings_as_a_pendulum():
    model = fem.Model("pendulum", gravity=[0, 0, -GRAVITY])
    ball = fem.PointMass(2.0, position=[1.5, 0, 0], name="ball")
    model.add(ball, fem.Distance.at(model.ground, ball, [0, 0, 0], [1.5, 0, 0], length=1.5, name="rod"))
    run = fem.DecoupledNSGA(rho_inf=1.0).run(model, t_end=1.0, h=1e-3)
    height, v = run["ball"].position[:, 2], np.linalg.norm(run["ball"].velocity, axis=1)
    tension = 2.0 * (v**2 / 1.5 - GRAVITY * height / 1.5)
    assert v**2 == pytest.approx(-2 * GRAVITY * height, abs=1e-4)
    assert run["rod"].tension[5:] == pytest.approx(tension[5:], abs=1e-2)
    assert run["rod"].tension.max() == pytest.approx(3 * 2.0 * GRAVITY, rel=1e-3)  # at the bottom


# --- constant velocity ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("cls", "steady"), [(fem.ConstantVelocity, True), (fem.Universal, False)])
def test_shafts_at_an_angle_turn_at_the_same_rate_with_a_constant_velocity_joint_alone(cls, steady):
    bend, rate = 0.6, 10.0
    z = np.array([1.0, 0, 0])
    other = np.array([np.cos(bend), np.sin(bend), 0])
    model = fem.Model("shafts")
    first = fem.RigidBody(1.0, 0.01, position=-0.5 * z, angular_velocity=rate * z, name="first")
    # at the start the first pin of the cross is normal to the plane of the shafts: ratio 1/cos(bend) or cos(bend)
    second = fem.RigidBody(1.0, 0.01, position=0.5 * other, angular_velocity=rate * other, name="second")
    in_bearing = fem.Revolute.at(model.ground, first, -0.5 * z, z, name="in", motor=fem.Motor(rate=rate))
    out_bearing = fem.Cylindrical.at(model.ground, second, 0.5 * other, other, name="out")
    if steady:
        joint = cls.at(first, second, [0, 0, 0], z, second_axis=other, name="joint")
    else:
        joint = cls.at(first, second, [0, 0, 0], [0, 0, 1], name="joint")
    model.add(first, second, in_bearing, out_bearing, joint)
    system = model.compile(project=True, redundant="allow")
    run = fem.DecoupledNSGA().run(system, t_end=1.0, h=2e-3)
    ratio = run["out"].angle_rate / rate
    if steady:
        assert ratio == pytest.approx(1.0, abs=1e-5)
        assert run["joint"].bend == pytest.approx(bend, abs=1e-9)
    else:  # Hooke: between cos(bend) and 1/cos(bend)
        assert ratio.min() == pytest.approx(np.cos(bend), rel=1e-3)
        assert ratio.max() == pytest.approx(1 / np.cos(bend), rel=1e-3)


def test_a_twisted_constant_velocity_joint_is_rejected():
    A, B = Node6(), Node6()
    with pytest.raises(fem.ParameterError, match=r"frame_Q = .*twisted.*17\.\d+°.*frame_P"):
        fem.ConstantVelocity(A.frame(), B.frame(rotation=[0, 0, 0.3]))


# --- axes -----------------------------------------------------------------------------------------------------------


def test_parallel_axes_keep_a_falling_body_upright_and_let_it_turn():
    model = fem.Model("upright", gravity=[0, 0, -GRAVITY])
    part = body(angular_velocity=[0, 0, 8.0])
    model.add(part, fem.ParallelAxes.at(model.ground, part, [0, 0, 0], [0, 0, 1], name="upright"))
    model.add(fem.PointForce(part.frame([0.2, 0, 0.3]), [3.0, 0, 0], name="push"))  # would tilt it
    run = fem.DecoupledNSGA().run(model, t_end=1.0, h=2e-3)
    assert run["body"].position[:, 0] == pytest.approx(0.75 * run.t**2, abs=1e-6)
    assert run["upright"].moment[10:, 1] == pytest.approx(-0.9, rel=1e-6)  # holds 3 N at a height of 0.3 m
    assert run["upright"].angle[-1] > 2 * np.pi - 1


def test_perpendicular_axes_measure_the_angles_about_both():
    A, B = Node6(), Node6([0.4, 0.1, 0.2])
    block = fem.PerpendicularAxes.at(A, B, [0, 0, 0], axis=[0, 0, 1], second_axis=[1, 0, 0])
    call, point = verify.Evaluator(block), verify.random_point(block, np.random.default_rng(1))
    R = exp([0, 0, 0.7]) @ exp([-1.1, 0, 0])
    here = point.copy(x=point.x, R=np.array([np.eye(3), R]), v=np.zeros(12), lam=np.zeros(1))
    here.state = call("initial", here)["state"]
    assert call("constraint", here)["g"] == pytest.approx(0.0, abs=1e-15)
    assert call("output", here)["out"][3:5] == pytest.approx([0.7, -1.1], abs=1e-14)


# --- messages -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda A, B: fem.Planar(A.frame([0, 0, 0.1]), B.frame()), r"frame_Q = .*0\.1 m .*x-y plane of frame_P"),
        (lambda A, B: fem.Screw(A.frame(), B.frame(), lead=0.0), r"lead = 0\.0 m"),
        (lambda A, B: fem.PointOnLine(A.frame([0.1, 0, 0]), B.frame()), r"frame_Q = .*0\.1 m .*z axis of frame_P"),
        (lambda A, B: fem.Distance(A.frame(), B.frame()), r"use Spherical"),
        (
            lambda A, B: fem.Distance(A.frame(), B.frame([1, 0, 0]), length=2.0),
            r"length = 2\.0 m.* 1 m",
        ),
        (
            lambda A, B: fem.PointOnSpline(A.frame(), B.frame(), points=[[1, 1, 0], [2, 1, 0]]),
            r"1 m .*curve|1\.4\d+ m .*curve",
        ),
        (lambda A, B: fem.ParallelAxes(A.frame(), B.frame(rotation=[0.1, 0, 0])), r"z axis 5\.7\d+° from that"),
        (lambda A, B: fem.PerpendicularAxes(A.frame(), B.frame(rotation=[0, 0.1, 0])), r"PerpendicularAxes\.at"),
    ],
)
def test_joints_that_do_not_fit_at_the_start_are_rejected_in_words(make, message):
    with pytest.raises(fem.ParameterError, match=message):
        make(Node6(), Node6())


def test_shafts_that_point_at_each_other_are_rejected_also_between_frames():
    ground = fem.Model().ground
    with pytest.raises(fem.ParameterError, match="point at each other"):
        fem.ConstantVelocity(ground.frame([0.5, 0, 0]), fem.Node6([0.5, 0, 0]).frame([0, 0, 0], [np.pi, 0, 0]))


def test_friction_that_is_no_coefficient_is_reported_before_what_is_missing():
    ground, body = fem.Model().ground, fem.Node6([1, 0, 0])
    for wrong in (-0.1, "dry", (0.1, 0.2)):
        with pytest.raises(fem.ParameterError, match="friction = "):
            fem.Revolute.at(ground, body, [0, 0, 0], [0, 0, 1], friction=wrong)
