"""Ball bearing with moving balls and cage (`DynamicBearing`, `BearingHistory`) compared with quasi-static ones."""

import numpy as np
import pytest
from scipy.optimize import fsolve

import fem_mbs as fem
from fem_mbs.rotations import frame_with_axis

DOWN = -np.pi / 2


def bearing_6205(clearance=10e-6, **numbers):
    return fem.BearingGeometry.from_designation("6205", clearance=clearance, **numbers)


# 218 angular contact bearing of Harris
HARRIS = fem.BearingGeometry(
    16, 22.23e-3, 125.26e-3, osculation_inner=0.5232, osculation_outer=0.5232, contact_angle=np.radians(40)
)


def on_shaft(geometry, force, *, speed=0.0, at=(0, 0, 0), fixed=("z", "rx", "ry"), mass=0.5, inertia=1e-4, **options):
    """Model of a shaft that carries a force (3,) in one bearing, and the bearing."""
    model = fem.Model("bearing")
    held = fixed if speed else (*fixed, "rz")
    shaft = model.add(
        fem.RigidBody(mass, inertia, position=at, angular_velocity=[0, 0, speed], fixed=held, name="shaft")
    )
    model.add(fem.PointForce(shaft, force))
    if speed:
        model.add(fem.RevoluteDriver(model.ground, shaft, lambda t: speed * t, name="motor"))
    return model, model.add(fem.ball_bearing(model.ground, shaft, geometry, **options))


def run(model, bearing, t_end, h=1e-4, **options):
    return fem.BearingHistory(fem.DecoupledNSGA(rho_inf=0.0, **options).run(model, t_end=t_end, h=h), bearing)


# --- at rest ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("clearance", [0.0, 10e-6, 40e-6])
@pytest.mark.parametrize("between", [False, True], ids=["ball in the load line", "load line between balls"])
def test_balls_share_a_radial_load_as_in_the_quasi_static_bearing(clearance, between):
    geometry, force = bearing_6205(clearance), (0, -1000.0, 0)
    angle = DOWN + (np.pi / 9 if between else 0.0)
    static = fem.bearing_equilibrium(geometry, force=force, cage_angle=angle, fixed=("z", "rx", "ry"))
    # from above the equilibrium: the shaft comes down on its balls
    start = 0.8 * static.displacement
    history = run(*on_shaft(geometry, force, at=start, cage_angle=angle, slip_speed=0.01), 0.02)
    load = history.load_inner[-1]
    # what is missing is friction, which holds the balls against the wedge of the races: 1.3e-3 measured
    np.testing.assert_allclose(load, static.load_inner, rtol=2.5e-3, atol=1.0)
    assert history.displacement[-1, 1] == pytest.approx(static.displacement[1], rel=5e-4)
    assert history.force[-1] == pytest.approx([0, 1000.0, 0], abs=0.1)
    np.testing.assert_allclose(history.load_outer[-1], load, atol=0.05)
    if clearance == 0.0:
        # Stribeck's 4.37 holds for many balls; nine of them with one in the load line 4.385, else 3.969
        assert 9 * load.max() / 1000 == pytest.approx(3.969 if between else 4.385, rel=2e-3)


def test_the_load_zone_follows_sjovall():
    # F = Z Q_max J_r(ε) with ε = ½(1 − P_d/2u), u the displacement: P_d 10 µm gives Z Q_max/F = 4.82 (Sjövall)
    history = run(*on_shaft(bearing_6205(10e-6), (0, -1000.0, 0), at=(0, -18e-6, 0), cage_angle=DOWN), 0.02)
    load, u = history.load_inner[-1], -history.displacement[-1, 1]
    epsilon = 0.5 * (1 - 5e-6 / u)
    psi = np.linspace(-np.pi, np.pi, 20001)
    J_r = np.mean(np.maximum(1 - (1 - np.cos(psi)) / (2 * epsilon), 0) ** 1.5 * np.cos(psi))
    # the continuous integral compared with nine balls: 0.7 % (4.79 and 4.82)
    assert 9 * load.max() * J_r == pytest.approx(1000.0, rel=1e-2)


@pytest.mark.parametrize("tilts", [False, True])
def test_radial_and_axial_load_agree_with_the_quasi_static_bearing(tilts):
    geometry, force = bearing_6205(), (300.0, -800.0, 500.0)
    fixed = () if tilts else ("rx", "ry")
    static = fem.bearing_equilibrium(geometry, force=force, cage_angle=DOWN, fixed=fixed)
    # without friction; tight pockets keep the balls in their places
    options = {"fixed": fixed, "friction": 0.0, "cage_angle": DOWN, "pocket_clearance": 5e-6}
    history = run(*on_shaft(geometry, force, at=0.8 * static.displacement, **options), 0.05)
    # the quasi-static bearing takes tilts to first order: it leaves out the moment of radial forces on the tilted
    # groove circle, 1.5 % of the tilt. Without tilt: balls 5e-4 rad off in their pockets, 3e-3 of the smallest load
    close = 1.2e-2 if tilts else 5e-3
    np.testing.assert_allclose(history.load_inner[-1], static.load_inner, rtol=close)
    np.testing.assert_allclose(history.load_outer[-1], static.load_outer, rtol=close)
    np.testing.assert_allclose(history.angle_inner[-1], static.angle_inner, atol=3.5e-3 if tilts else 6e-4)
    np.testing.assert_allclose(history.displacement[-1], static.displacement, rtol=1.5 * close)
    np.testing.assert_allclose(history.pressure_inner[-1], static.pressure_inner, rtol=close)
    np.testing.assert_allclose(history.tilt[-1], static.tilt, rtol=2.5e-2, atol=1e-12)


def test_the_contact_angle_grows_under_thrust_as_harris_computes():
    thrust = fem.bearing_equilibrium(HARRIS, force=(0, 0, 17800.0), fixed=("x", "y", "rx", "ry"))
    model, bearing = on_shaft(
        HARRIS, (0, 0, 17800.0), fixed=("x", "y", "rx", "ry"), mass=5.0, inertia=0.05, friction=0.0
    )
    history = run(model, bearing, 0.03)
    # closed form: 41.5019°, 1678.88 N, 36.097 µm; swings of the shaft are left to 1e-4
    np.testing.assert_allclose(np.degrees(history.angle_inner[-1]), 41.5019, rtol=2e-4)
    np.testing.assert_allclose(np.degrees(history.angle_outer[-1]), 41.5019, rtol=2e-4)
    np.testing.assert_allclose(history.load_inner[-1], 1678.88, rtol=5e-4)
    assert history.displacement[-1, 2] == pytest.approx(36.097e-6, rel=5e-4)
    assert thrust.load_inner[0] == pytest.approx(1678.88, rel=1e-5)


# --- in motion --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("rpm", [6000, 10000])
def test_at_speed_the_angles_part_as_the_centrifugal_force_asks_for(rpm):
    # no friction: no gyroscopic moment on the races. Q_i sin α_i = Q_o sin α_o = F_a/Z, Q_o cos α_o − Q_i cos α_i = F_c
    speed = rpm * 2 * np.pi / 60
    options = {"fixed": ("x", "y", "rx", "ry"), "mass": 5.0, "inertia": 0.05, "cage": False}
    history = run(*on_shaft(HARRIS, (0, 0, 17800.0), speed=speed, friction=0.0, **options), 0.03, h=5e-5)
    last = slice(-100, None)
    inner, outer = history.angle_inner[last].mean(), history.angle_outer[last].mean()
    orbit = history.orbit_speed[last].mean()

    def missing(unknown):
        a_i, a_o = unknown
        Q_i, Q_o = 17800 / 16 / np.sin(unknown)
        radius = HARRIS.groove_circle_outer + (HARRIS.reach_outer + (Q_o / HARRIS.outer.stiffness) ** (2 / 3)) * np.cos(
            a_o
        )
        across = radius + (HARRIS.reach_inner + (Q_i / HARRIS.inner.stiffness) ** (2 / 3)) * np.cos(a_i)
        return [
            (Q_o * np.cos(a_o) - Q_i * np.cos(a_i) - HARRIS.ball_mass * orbit**2 * radius) / 1e3,
            (across - HARRIS.groove_circle_inner) / 1e-3,
        ]

    exact = fsolve(missing, [inner, outer], xtol=1e-12)
    # remainder of the swing at the start
    np.testing.assert_allclose([inner, outer], exact, rtol=3e-4)


def test_with_traction_the_angles_lie_between_those_of_both_race_controls():
    speed, force = 10000 * 2 * np.pi / 60, (0, 0, 17800.0)
    held = ("x", "y", "rx", "ry")
    by = {
        control: fem.bearing_equilibrium(
            HARRIS, force=force, fixed=held, inner_speed=speed, inertia=True, control=control
        )
        for control in ("outer", "inner")
    }
    model, bearing = on_shaft(
        HARRIS, force, speed=speed, at=by["outer"].displacement, fixed=held, mass=5.0, inertia=0.05, cage=False
    )
    history = run(model, bearing, 0.03, h=5e-5)
    inner, outer = history.angle_inner[-1].mean(), history.angle_outer[-1].mean()
    # Harris' trend: 47.4° to 50.0° at the inner race, 31.3° to 34.7° at the outer, 41.5° at rest
    assert by["inner"].angle_inner[0] < inner < by["outer"].angle_inner[0]
    assert by["outer"].angle_outer[0] < outer < by["inner"].angle_outer[0]


def test_the_cage_goes_round_as_rolling_asks_and_friction_loses_what_the_motor_gives():
    geometry, speed, force = bearing_6205(), 2 * np.pi * 30, (0, -1000.0, 0)
    static = fem.bearing_equilibrium(geometry, force=force, cage_angle=DOWN, fixed=("z", "rx", "ry"))
    model, bearing = on_shaft(
        geometry, force, speed=speed, at=static.displacement, cage_angle=DOWN, pocket_friction=0.2
    )
    # the pockets rub from 0.5 s on, with 3 mW; before, 0.2 mW are less than what the cage takes and gives
    end = 0.8
    history = run(model, bearing, end)
    # one passage of the balls after the next, without the first: the motion is periodic with them
    turn = 1 / geometry.pass_frequencies(30.0).outer
    window = (history.t > end - 24 * turn) & (history.t <= end)
    expected = geometry.pass_frequencies(speed).cage
    assert history.cage_speed[window].mean() == pytest.approx(expected, rel=2e-3)  # creep and the load zone: 8e-4
    assert history.inner_speed[window] == pytest.approx(speed, rel=1e-9)
    assert abs(np.diff(history.psi, axis=1) % (2 * np.pi) - 2 * np.pi / 9).max() < 0.03  # the pockets hold the balls
    motor = -history.torque[window].mean() * speed
    loss = history.power_loss[window].mean()
    # the vibration of the balls takes and gives energy: up to 0.06 of 0.6 mJ, more or less with each tolerance. Within
    # 0.5 % the motor gives what friction loses and the vibration takes
    (first, last), energy = np.flatnonzero(window)[[0, -1]], history.result.energy.total
    stored = (energy[last] - energy[first]) / (history.t[last] - history.t[first])
    assert loss > 1e-3 and motor == pytest.approx(loss + stored, abs=0.01 * loss)


def test_a_moving_housing_sees_the_same_bearing():
    # the whole thing on a body that turns about the axis with 20 rad/s and moves with 1 m/s: same loads and angles
    geometry, force = bearing_6205(), (0, 0, 200.0)
    found = []
    for carried in (False, True):
        model = fem.Model("carried")
        spin, drift = (20.0, [1.0, 0, 0]) if carried else (0.0, [0, 0, 0])
        motion = {"angular_velocity": [0, 0, spin], "velocity": drift}
        housing = model.add(fem.RigidBody(2.0, 0.01, position=[0.1, 0.2, 0.3], **motion, name="housing"))
        shaft = model.add(fem.RigidBody(0.5, 1e-3, position=[0.1, 0.2, 0.3 + 95e-6], **motion, name="shaft"))
        model.add(fem.PointForce(shaft, force), fem.PointForce(housing, [0, 0, -200.0]))
        bearing = model.add(fem.ball_bearing(housing, shaft, geometry, slip_speed=0.02))
        history = run(model, bearing, 0.01)
        found.append((history.load_inner[-1], history.angle_inner[-1], history.displacement[-1, 2]))
        assert history.orbit_speed[-1] == pytest.approx(np.full(9, spin), abs=1e-3 * max(spin, 1))
    # centrifugal forces of 20 rad/s are 0.02 N
    np.testing.assert_allclose(found[0][0], found[1][0], rtol=5e-3)
    np.testing.assert_allclose(found[0][1], found[1][1], rtol=5e-3)


# --- bad input --------------------------------------------------------------------------------------------------------


def two_bodies(offset=(0, 0, 0), rotation=None):
    model = fem.Model("bearing")
    return model.ground, model.add(fem.RigidBody(1.0, 1.0, position=offset, rotation=rotation, name="shaft"))


@pytest.mark.parametrize(
    "change, message",
    [
        ({"geometry": "6205"}, r"geometry = .*BearingGeometry"),
        ({"level": "exact"}, "level = 'exact'.*'dynamic', 'quasi-static', 'rigid'"),
        ({"control": "left"}, "control = 'left'.*'outer', 'inner'"),
        ({"friction": -0.1}, r"friction = -0.1 must be ≥ 0"),
        ({"slip_speed": 0}, "slip_speed = 0.0 m/s.*> 0"),
        ({"cage_mass": -1}, "cage_mass = -1.0 kg.*> 0"),
        ({"pocket_clearance": 0}, "pocket_clearance = 0.0 m.*> 0"),
        ({"cage_angle": np.nan}, "cage_angle.*finite"),
        ({"spall": 3e-6}, r"spall = .*Spall\(race, length"),
        ({"spall": 2 * [fem.Spall("outer", 1e-3)]}, r"spall = .*second.*outer race"),
        ({"offset": (0, 1e-3, 0)}, "lets it move"),
        ({"rotation": [0.1, 0, 0]}, r"inner = .*rad of tilt"),
    ],
)
def test_a_bearing_that_cannot_be_is_rejected_in_the_words_of_the_user(change, message):
    change = dict(change)
    outer, inner = two_bodies(change.pop("offset", (0, 0, 0)), change.pop("rotation", None))
    with pytest.raises(fem.ParameterError, match=message):
        fem.ball_bearing(outer, inner, change.pop("geometry", bearing_6205()), **change)


def test_both_rings_on_one_body_are_rejected():
    _, shaft = two_bodies()
    with pytest.raises(fem.ParameterError, match=r"inner = .*same node as outer"):
        fem.ball_bearing(shaft, shaft, bearing_6205())


def test_one_constructor_makes_all_levels():
    outer, inner = two_bodies()
    assert isinstance(fem.ball_bearing(outer, inner, bearing_6205()), fem.DynamicBearing)
    quasi = fem.ball_bearing(outer, inner, bearing_6205(), level="quasi-static", name="front")
    assert isinstance(quasi, fem.QuasiStaticBearing) and quasi.name == "front"
    rigid = fem.ball_bearing(outer, inner, bearing_6205(10e-6), level="rigid")
    assert isinstance(rigid, fem.RigidBallBearing)
    assert rigid.clearance == pytest.approx(5e-6) and 2 * rigid.radius_cage == pytest.approx(39.04e-3)


@pytest.mark.parametrize("turned", ["frames", "body"])
def test_histories_do_not_depend_on_where_the_axis_points(turned):
    """A bearing about x, its shaft with axes of the inertial frame or its own, compared with one about z."""
    geometry, speed = bearing_6205(10e-6), 2 * np.pi * 30
    lies = fem.bearing_equilibrium(geometry, force=[0, -1000, 0], fixed=("rx", "ry")).displacement

    def history(R, rotation):
        model = fem.Model("bearing")
        shaft = fem.RigidBody(
            0.5, 1e-4, position=R @ lies, rotation=rotation, angular_velocity=speed * R[:, 2], name="shaft"
        )
        model.add(shaft, fem.PointForce(shaft, -1000 * R[:, 1]))
        inner = shaft.frame([0, 0, 0], shaft.nodes[0].rotation.T @ R)
        bearing = model.add(fem.ball_bearing(model.ground.frame([0, 0, 0], R), inner, geometry, name="front"))
        return fem.BearingHistory(fem.DecoupledNSGA(rho_inf=0.0).run(model, 2e-3, 1e-4), bearing)

    about_x = frame_with_axis([1.0, 0, 0])
    found, expected = history(about_x, about_x if turned == "body" else None), history(np.eye(3), None)
    for name in ("inner_speed", "cage_speed", "orbit_speed", "load_inner", "displacement", "torque", "power_loss"):
        value = getattr(expected, name)
        # 3e-10 measured in the displacement: what the iterations leave
        assert getattr(found, name) == pytest.approx(value, rel=1e-6, abs=1e-7 * np.abs(value).max()), name
    assert expected.inner_speed[-1] == pytest.approx(speed, rel=1e-3)
