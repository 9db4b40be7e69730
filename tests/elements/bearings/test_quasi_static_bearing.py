"""The bearing as an element: same equilibrium as the bearing alone, motion of a rotor, passing balls, bad input."""

import numpy as np
import pytest

import fem_mbs as fem
from fem_mbs import verify
from fem_mbs.errors import ParameterError
from fem_mbs.rotations import exp, frame_with_axis

RPM = np.pi / 30
LIKE_7204 = fem.BearingGeometry(11, 7.938e-3, 33.5e-3, contact_angle=np.radians(40), name="7204-like")


def ring_on_ground(load, moment=(0, 0), position=(0, 0, 0), turned=(0, 0, 0), **options):
    """A ring of 1 kg in a bearing whose axis is z, turned as a whole; rotation about the axis is held."""
    R = exp(np.array(turned, float))
    model = fem.Model("ring")
    node = fem.Node6(R @ position, R, fixed=("rz",), name="ring")
    ring = model.add(fem.RigidBody(1.0, 1e-3, node=node, name="ring"))
    bearing = model.add(
        fem.QuasiStaticBearing(
            model.ground.frame(rotation=R), ring.frame(), options.pop("geometry"), name="bearing", **options
        )
    )
    centre = ring.frame([0, 0, bearing.geometry.axial_offset])  # of the groove circle, about which moments are taken
    model.add(fem.PointForce(centre, R @ np.array(load, float)))
    model.add(fem.PointMoment(ring, R @ np.array([*moment, 0.0])))
    return model, bearing


@pytest.mark.parametrize("turned", [(0, 0, 0), (0.4, -1.2, 0.7)])
@pytest.mark.parametrize("speed", [0.0, 10000 * RPM])
def test_statics_of_a_model_find_the_equilibrium_of_the_bearing(turned, speed):
    load = [300, 20, 500]
    motion = {"inertia": speed > 0, "control": "outer"}
    alone = fem.bearing_equilibrium(LIKE_7204, load, [0.5, 0.2], inner_speed=speed, **motion)
    start = np.append(alone.displacement[:2], alone.displacement[2] + 1e-6)  # near: an unloaded ring is held by nothing
    model, bearing = ring_on_ground(
        load, [0.5, 0.2], start, turned, geometry=LIKE_7204, speeds=(speed, 0.0) if speed else None, **motion
    )
    result = fem.static_equilibrium(model)
    # tilts of 5e-3 rad enter by their sines: 1e-5
    assert 1e6 * result.output(bearing, "displacement") == pytest.approx(1e6 * alone.displacement, abs=2e-3)
    assert 1e3 * result.output(bearing, "tilt") == pytest.approx(1e3 * alone.tilt, abs=2e-4)
    assert result.output(bearing, "load_inner") == pytest.approx(alone.load_inner, abs=5e-3)
    assert result.output(bearing, "angle_outer") == pytest.approx(alone.angle_outer, abs=2e-5)
    assert result.output(bearing, "pressure_outer") == pytest.approx(alone.pressure_outer.max(), rel=2e-5)
    assert result.output(bearing, "force") == pytest.approx(-exp(np.array(turned, float)) @ load, abs=1e-6)


def test_small_vibrations_of_a_ring_have_the_frequency_of_the_stiffness():
    load = [0, 0, 500]
    alone = fem.bearing_equilibrium(LIKE_7204, load)
    model, _ = ring_on_ground(load, position=alone.displacement, geometry=LIKE_7204)
    lowest = fem.modes(model, 5, about=fem.static_equilibrium(model))
    to_node = np.eye(5)  # displacement of the groove circle from that of the node, a = 0.26 mm away
    to_node[0, 4], to_node[1, 3] = LIKE_7204.axial_offset, -LIKE_7204.axial_offset
    stiffness = to_node.T @ alone.stiffness @ to_node
    expected = np.sqrt(np.linalg.eigvals(np.diag([1, 1, 1, 1e3, 1e3]) @ stiffness).real) / (2 * np.pi)
    assert np.sort(lowest.frequency) == pytest.approx(np.sort(expected), rel=1e-6)  # two ways to one number


def test_a_turning_rotor_rests_on_its_bearings_and_keeps_its_speed():
    """8 kg about x between two bearings 200 mm apart, with clearance."""
    geometry, speed, weight = fem.BearingGeometry.from_designation("6204", clearance=5e-6), 1500 * RPM, 8 * 9.81
    model = fem.Model("rotor", gravity=[0, 0, -9.81])
    shaft = fem.RigidBody(8.0, [0.01, 0.06, 0.06], angular_velocity=[speed, 0, 0], name="shaft")
    model.add(shaft)
    along_x = frame_with_axis([1.0, 0, 0])
    for name, x in (("left", -0.1), ("right", 0.1)):
        P, Q = model.ground.frame([x, 0, 0], along_x), shaft.frame([x, 0, 0], along_x)
        model.add(fem.QuasiStaticBearing(P, Q, geometry, name=name, damping=(4e3, 1e3, 1.0), springs=(0, 1e5, 0)))
    result = fem.DecoupledNSGA(rho_inf=0.8).run(model, t_end=0.06, h=1e-4)
    # with eight balls one is below whether x or y of P points down
    left, alone = result["left"], fem.bearing_equilibrium(geometry, [weight / 2, 0, 0])
    assert left.force[-1] == pytest.approx([0, 0, weight / 2], abs=0.02)  # decay e^-15 of the first bounce, and spin
    assert along_x @ left.displacement[-1] == pytest.approx([0, 0, -alone.displacement[0]], abs=1e-9)
    cage = geometry.pass_frequencies(speed, contact_angle=0.0).cage
    assert left.cage_speed[-1] == pytest.approx(cage, rel=1e-3)
    assert result["shaft"].angular_velocity[-1, 0] == pytest.approx(speed, rel=1e-9)  # no friction torque


def test_passing_balls_shake_a_loaded_ring_with_the_ball_pass_frequency():
    """Varying compliance: the stiffness of nine balls in the load zone depends on where they are."""
    geometry = fem.BearingGeometry.from_designation("6205", clearance=10e-6)
    speed = 1800 * RPM
    cage = geometry.pass_frequencies(speed).cage
    model, _ = ring_on_ground(
        [200, 0, 0], position=[15e-6, 0, 0], geometry=geometry, cage_angle=lambda t: cage * t,
        damping=(300, 300, 0.1), springs=(0, 1e4, 0),
    )  # fmt: skip
    h, t_end = 5e-5, 0.4
    result = fem.DecoupledNSGA(rho_inf=0.8).run(model, t_end=t_end, h=h)
    x = result["bearing"].displacement[-6144:, 0]
    spectrum = np.abs(np.fft.rfft((x - x.mean()) * np.hanning(len(x))))
    line = np.fft.rfftfreq(len(x), h)[spectrum.argmax()]
    outer = geometry.pass_frequencies(speed).outer / (2 * np.pi)
    assert line == pytest.approx(outer, abs=1 / (len(x) * h))  # resolution of the window
    # quasi-static at 107 Hz: the range of the displacement is that between the two positions of the balls
    at = [fem.bearing_equilibrium(geometry, [200, 0, 0], cage_angle=a).displacement[0] for a in (0.0, np.pi / 9)]
    assert np.ptp(x) == pytest.approx(abs(at[0] - at[1]), rel=0.1)  # dynamics: f/f_0 = 0.15, and 20 steps per contact


def test_energy_of_a_ring_in_an_undamped_bearing_is_kept():
    geometry = fem.BearingGeometry.from_designation("6205", clearance=0.0)
    model, _ = ring_on_ground([0, 0, 0], position=[10e-6, 3e-6, 4e-6], geometry=geometry)
    runs = [fem.DecoupledNSGA(rho_inf=1.0).run(model, t_end=5e-3, h=h) for h in (1e-5, 5e-6)]
    drift = [np.ptp(run.energy.total) / run.energy.potential[0] for run in runs]
    assert drift[1] < 1e-2 and drift[0] / drift[1] == pytest.approx(4, rel=0.3)  # second order


def test_forces_of_inertia_by_motion_turn_with_the_bearing():
    """The generic check holds still elements with absolute speeds; a superposed turn without motion must not matter."""
    rng = np.random.default_rng(5)
    ground, node = fem.Node6(), fem.Node6()
    bearing = fem.QuasiStaticBearing(ground, node, LIKE_7204, inertia=True)
    assert not bearing.invariant and not bearing.conservative and bearing.viscous
    call, point = verify.Evaluator(bearing), verify.random_point(bearing, rng)
    point.x = np.array([[0, 0, 0], [1e-5, -4e-6, 6e-6]])
    point.R = np.array([np.eye(3), exp(np.array([1e-3, -2e-3, 0.3]))])
    point.v = np.array([0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 800.0])
    Q = exp(np.array([0.3, -1.0, 2.0]))
    before, after = call("force", point)["f"], call("force", point.rigidly_moved(Q, np.zeros(3)).copy(v=point.v))["f"]
    assert np.abs(before).max() > 10.0
    turned = np.concatenate([Q @ before[:3], before[3:6], Q @ before[6:9], before[9:]])
    assert after == pytest.approx(turned, rel=1e-7, abs=1e-7 * np.abs(before).max())  # round-off over indentations
    still = call("force", point.copy(v=np.zeros(12)))["f"]
    assert np.abs(still - before).max() > 0.1  # and speed does matter


def test_shifted_frames_preload_a_pair():
    """Two angular contact bearings back to back, 10 µm too close: the ring between is held stiffly without a load."""
    model = fem.Model("pair")
    ring = model.add(fem.RigidBody(1.0, 1e-3, fixed=("rz",), name="ring"))
    back = exp(np.array([np.pi, 0, 0]))
    for name, R, z in (("front", np.eye(3), 0.02), ("rear", back, -0.02)):
        P = model.ground.frame([0, 0, z - np.sign(z) * 5e-6], R)
        model.add(fem.QuasiStaticBearing(P, ring.frame([0, 0, z], R), LIKE_7204, name=name))
    result = fem.static_equilibrium(model)
    alone = fem.bearing_at(LIKE_7204, [0, 0, 5e-6])
    for bearing, sign in ((model.elements[1], 1), (model.elements[2], -1)):
        assert result.output(bearing, "force")[2] == pytest.approx(sign * alone.force[2], rel=1e-6)
    stiff = (2 * np.pi * fem.modes(model, 5, about=result).frequency) ** 2
    assert np.abs(stiff / (2 * alone.stiffness[2, 2]) - 1).min() < 1e-3  # axial mode: both bearings, 1 kg


@pytest.mark.parametrize(
    "change, words",
    [
        ({"geometry": 7}, "geometry = 7.*BearingGeometry"),
        ({"control": "cage"}, "'front': control = 'cage'.*'outer', 'inner'"),
        ({"damping": (-1, 0, 0)}, "damping .* must be ≥ 0"),
        ({"springs": (0, 0)}, r"'front'.*springs .*2 components.* 3"),
        ({"speeds": 1000.0}, r"speeds = 1000\.0.*1 components.* 2"),
        ({"friction": -0.1}, "friction = -0.1 must be ≥ 0"),
        ({"cage_angle": "fast"}, "cage_angle = 'fast'.*function of time"),
    ],
)
def test_bad_parameters_are_rejected_by_name(change, words):
    options = {"geometry": LIKE_7204, "name": "front"} | change
    with pytest.raises(ParameterError, match=words):
        fem.QuasiStaticBearing(fem.Node6(), fem.Node6(), **options)


def test_rings_that_are_not_in_each_other_are_rejected_with_a_cure():
    node = fem.Node6()
    with pytest.raises(ParameterError, match=r"frame_Q = .*same node as frame_P"):
        fem.QuasiStaticBearing(node, node, LIKE_7204)
    with pytest.raises(ParameterError, match=r"frame_Q = .*0\.02 m .*frame_P.*QuasiStaticBearing\.at"):
        fem.QuasiStaticBearing(node, fem.Node6([0.02, 0, 0]), LIKE_7204)
    with pytest.raises(ParameterError, match=r"frame_Q = .*z axis 90°"):
        fem.QuasiStaticBearing(node, fem.Node6(rotation=[np.pi / 2, 0, 0]), LIKE_7204)


def test_rings_are_drawn_when_their_size_is_known():
    node = fem.Node6()
    assert fem.QuasiStaticBearing(fem.Node6(), node, LIKE_7204).picture() == []
    bearing = fem.QuasiStaticBearing(fem.Node6(), node, fem.BearingGeometry.from_designation("6204"))
    (_, outer), (drawn_on, inner) = bearing.picture()
    assert drawn_on is node
    radii = [np.hypot(*ring.points[:, :2].T) for ring in (outer, inner)]
    assert (radii[0].max(), radii[1].min()) == pytest.approx((23.5e-3, 10e-3))


def test_a_ring_that_turns_fast_settles_where_the_bearing_alone_does_at_that_speed():
    """Centrifugal forces from the motion itself: thrust, 20 000 rpm, contact angles 20° apart."""
    speed, h = 20000 * RPM, 5e-5
    model = fem.Model("spindle")
    ring = fem.RigidBody(1.0, [1e-3, 1e-3, 1.5e-3], angular_velocity=[0, 0, speed], name="ring")
    model.add(ring, fem.PointForce(ring, [0, 0, 500.0]))
    damping = (2e3, 2e3, 0.5)
    model.add(
        fem.QuasiStaticBearing(model.ground, ring, LIKE_7204, inertia=True, damping=damping, friction=0.05, name="b")
    )
    result = fem.DecoupledNSGA(rho_inf=0.8).run(model, t_end=0.03, h=h)
    alone = fem.bearing_equilibrium(LIKE_7204, [0, 0, 500], inner_speed=speed, inertia=True)
    last = result["b"]
    assert last.displacement[-1, 2] == pytest.approx(alone.displacement[2], abs=2e-9)  # decay of the start, e^-30
    assert last.load_outer[-1] == pytest.approx(alone.load_outer, rel=1e-4)
    assert np.degrees(last.angle_inner[-1]) == pytest.approx(np.full(11, 52.541), abs=0.01)  # digits of a prototype
    assert np.degrees(last.angle_outer[-1]) == pytest.approx(np.full(11, 30.819), abs=0.01)
    assert last.cage_speed[-1] == pytest.approx(alone.cage_speed, rel=1e-5)
    assert last.spin_power[-1] == pytest.approx(alone.spin_power(0.05), rel=1e-3)


def test_balls_without_equilibrium_stop_the_run_and_name_the_bearing():
    """100 000 rpm in a bearing of 125 mm: the gyroscopic moment turns the balls over the outer groove."""
    geometry = fem.BearingGeometry(16, 22.23e-3, 125.26e-3, 0.5232, 0.5232, contact_angle=np.radians(40))
    model = fem.Model("spindle")
    ring = fem.RigidBody(1.0, 1e-3, angular_velocity=[0, 0, 100000 * RPM], name="ring")
    model.add(ring, fem.PointForce(ring, [0, 0, 50.0]))
    model.add(fem.QuasiStaticBearing(model.ground, ring, geometry, inertia=True, name="front bearing"))
    with pytest.raises(fem.SolverError, match=r"no equilibrium.*speed"):
        fem.bearing_at(geometry, inner_speed=100000 * RPM, inertia=True)
    with pytest.raises(fem.NonFiniteError, match="front bearing"):
        fem.DecoupledNSGA(rho_inf=0.8).run(model, t_end=0.01, h=1e-4)
