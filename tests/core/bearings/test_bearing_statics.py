"""Quasi-static ball bearing: load distribution, contact angles, stiffness, against closed forms and another code."""

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.optimize import brentq

from fem_mbs.bearings import balls as be
from fem_mbs.bearings.geometry import BearingGeometry
from fem_mbs.bearings.statics import bearing_at, bearing_equilibrium
from fem_mbs.errors import ParameterError, SolverError

RPM = np.pi / 30
DEGREE = np.pi / 180


def b218():
    """The 218 angular contact bearing of Harris's examples."""
    return BearingGeometry(16, 22.23e-3, 125.26e-3, 0.5232, 0.5232, contact_angle=40 * DEGREE, name="218")


def like_7204():
    return BearingGeometry(11, 7.938e-3, 33.5e-3, contact_angle=40 * DEGREE, name="7204-like")


def masta(clearance):
    """The bearing for which results of the commercial code MASTA are public."""
    return BearingGeometry(7, 11.5e-3, 43.5e-3, E=210e9, clearance=clearance)


# --- radial load ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "clearance, force, displacement, loads",
    [  # independent program; µm, N
        (0, 100, 3.176, (48.7, 32.7, 3.5)),
        (0, 1000, 14.740, (487.3, 326.7, 35.3)),
        (0, 4000, 37.142, (1949.0, 1306.7, 141.0)),
        (10e-6, 100, 8.930, (67.1, 21.5, 0)),
        (10e-6, 1000, 20.625, (531.8, 305.6, 0)),
        (20e-6, 1000, 26.370, (570.3, 280.5, 0)),
        (40e-6, 100, 25.129, (100, 0, 0)),
        (40e-6, 4000, 60.481, (2218, 1163, 0)),
    ],
)
def test_load_distribution_of_a_6205_under_radial_load(clearance, force, displacement, loads):
    state = bearing_equilibrium(BearingGeometry.from_designation("6205", clearance=clearance), [force, 0, 0])
    # the source rounds K_n differently in the fifth digit (1.2e-4), and displacements to 1e-9 m
    assert 1e6 * state.displacement[0] == pytest.approx(displacement, rel=1e-4, abs=6e-4)
    assert state.load_inner[:3] == pytest.approx(loads, abs=0.6 if force == 4000 else 0.06)
    assert state.load_outer == pytest.approx(state.load_inner)


def sjovall(eps, axial=False):
    """Sjövall's radial (axial) integral of the load zone ε, point contact."""
    end = np.arccos(max(1 - 2 * eps, -1.0))

    def integrand(psi):
        return (1 - (1 - np.cos(psi)) / (2 * eps)) ** 1.5 * (1.0 if axial else np.cos(psi))

    return quad(integrand, -end, end)[0] / (2 * np.pi)


def test_many_balls_share_a_radial_load_as_sjovalls_integral_says():
    assert 1 / sjovall(0.5) == pytest.approx(4.3701, abs=5e-5)  # Stribeck's number
    assert sjovall(0.3) == pytest.approx(0.18918, abs=5e-6) and sjovall(0.3, True) == pytest.approx(0.21103, abs=5e-6)
    Z, F = 60, 3000.0  # small balls, so that 60 of them find room
    for clearance in (0.0, 8e-6, 25e-6):
        bearing = BearingGeometry(Z, 5e-3, 110e-3, clearance=clearance)
        state = bearing_equilibrium(bearing, [F, 0, 0])
        eps = 0.5 * (1 - clearance / (2 * state.displacement[0]))
        # sums of 60 balls against integrals: 2e-4 measured
        assert F / (Z * state.load_inner.max()) == pytest.approx(sjovall(eps), rel=1e-3)


@pytest.mark.parametrize(
    "balls, on_a_ball, between",
    [(7, 4.337, 3.770), (8, 4.346, 3.899), (9, 4.385, 3.969), (10, 4.379, 4.043), (12, 4.3645, 4.153)],
)
def test_stribecks_number_for_few_balls_depends_on_where_they_are(balls, on_a_ball, between):
    bearing = BearingGeometry(balls, 7e-3, 39e-3)
    for angle, number in ((0.0, on_a_ball), (np.pi / balls, between)):
        state = bearing_equilibrium(bearing, [1000, 0, 0], cage_angle=angle)
        assert balls * state.load_inner.max() / 1000 == pytest.approx(number, abs=6e-4)  # digits of the source


# --- another code -----------------------------------------------------------------------------------------------------


def test_displacements_of_a_published_comparison_with_a_commercial_code():
    """MASTA's results, quoted by a public implementation of ISO/TS 16281."""
    assert masta(0).stiffness == pytest.approx(1.05491e10, rel=1e-5)
    for clearance, force, displacement in (
        (0, [1000, 0, 0], [15.1101, 0, 0]),
        (0, [0, 0, 1000], [0, 0, 133.5381]),
        (10e-6, [1000, 0, 0], [21.223, 0, 0]),
        (10e-6, [0, 0, 1000], [0, 0, 149.1717]),
        (10e-6, [1000, 0, 1000], [19.5923, 0, 146.4603]),
    ):
        state = bearing_equilibrium(masta(clearance), force)
        # 3e-5: MASTA's tilt lever below; without tilt 7e-6, the digits
        assert 1e6 * state.displacement == pytest.approx(displacement, rel=4e-5, abs=1e-6)


def test_tilt_against_a_commercial_code_differs_by_its_lever():
    """MASTA tilts with the lever d_m/2, here it is the radius of the inner groove circle, 1.05 to 1.3 % more."""
    combined = bearing_equilibrium(masta(10e-6), [1000, 0, 1000])
    assert 1e3 * combined.tilt[1] == pytest.approx(2.6592, abs=6e-5)
    lever = masta(10e-6).groove_circle_inner / (43.5e-3 / 2)
    assert 2.6872 / (1e3 * combined.tilt[1]) == pytest.approx(lever, rel=1e-3)  # measured 5e-5
    moment = bearing_equilibrium(masta(0), moment=[0, 1.0])
    assert 1e3 * moment.tilt[1] == pytest.approx(3.6468, abs=6e-5)
    assert 3.6957 / (1e3 * moment.tilt[1]) == pytest.approx(1.0132, rel=1e-3)  # predicted from lever and stiffness


# --- thrust and speed -------------------------------------------------------------------------------------------------


def test_contact_angle_grows_under_thrust_by_the_closed_form():
    bearing, F = b218(), 17800.0
    A, a0 = bearing.groove_distance, bearing.contact_angle
    load = F / (bearing.balls * bearing.stiffness * A**1.5)
    angle = brentq(lambda a: np.sin(a) * (np.cos(a0) / np.cos(a) - 1) ** 1.5 - load, a0 + 1e-9, 1.4, xtol=1e-15)
    state = bearing_equilibrium(bearing, [0, 0, F])
    assert state.angle_inner == pytest.approx(angle, rel=1e-9)  # two ways to one solution
    assert state.displacement[2] == pytest.approx(A * np.sin(angle - a0) / np.cos(angle), rel=1e-9)
    assert np.degrees(angle) == pytest.approx(41.5019, abs=1e-4)  # Harris's example prints 41.6°: chart stiffness
    assert 1e-6 * state.stiffness[2, 2] == pytest.approx(765.08, abs=6e-3)


@pytest.mark.parametrize(
    "rpm, control, alpha_i, alpha_o, Q_i, Q_o, F_c, M_g, delta",
    [  # another program with the same equations; µm, N, N m
        (2000, "outer", 41.866, 41.131, 1666.9, 1684.3, 23.2, 0.0679, 36.017),
        (6000, "outer", 44.722, 38.040, 1581.0, 1738.2, 213.2, 0.5842, 33.092),
        (10000, "outer", 49.958, 31.334, 1453.2, 1921.5, 637.4, 1.4738, 14.932),
        (14000, "outer", 55.669, 21.614, 1347.2, 2476.2, 1462.9, 2.3958, -33.091),
        (6000, "inner", 43.794, 39.059, 1568.3, 1719.2, 205.2, 0.8366, 34.217),
        (10000, "inner", 47.447, 34.665, 1408.7, 1796.0, 543.1, 2.4582, 24.979),
    ],
)
def test_contact_angles_part_with_speed(rpm, control, alpha_i, alpha_o, Q_i, Q_o, F_c, M_g, delta):
    state = bearing_equilibrium(b218(), [0, 0, 17800], inner_speed=rpm * RPM, inertia=True, control=control)
    obtained = (state.angle_inner[0] / DEGREE, state.angle_outer[0] / DEGREE, 1e6 * state.displacement[2])
    assert obtained == pytest.approx((alpha_i, alpha_o, delta), abs=1e-3)  # digits of the source
    assert (state.load_inner[0], state.load_outer[0], state.centrifugal[0]) == pytest.approx((Q_i, Q_o, F_c), abs=0.06)
    assert state.gyroscopic[0] == pytest.approx(M_g, abs=6e-5)
    # along the axis the thrust passes through both races; the gyroscopic moment takes its part at those in control
    friction = 2 * state.gyroscopic[0] / 22.23e-3 if control == "outer" else state.gyroscopic[0] / 22.23e-3
    through = state.load_outer * np.sin(state.angle_outer) + friction * np.cos(state.angle_outer)
    assert 16 * through == pytest.approx(17800, rel=1e-8)


def test_speeds_of_cage_and_balls_at_race_control():
    state = bearing_equilibrium(b218(), [0, 0, 17800], inner_speed=10000 * RPM, inertia=True)
    assert state.cage_speed / state.inner_speed == pytest.approx(0.45482, abs=6e-6)
    assert state.ball_speed[0] / state.inner_speed == pytest.approx(2.9607, abs=6e-5)
    assert np.abs(state.spin_outer).max() < 1e-9 * state.inner_speed  # what control means
    assert np.abs(state.spin_inner).min() > 0.3 * state.inner_speed
    # at rest the angles are equal and the speeds those without slip
    still = bearing_equilibrium(b218(), [0, 0, 17800], inner_speed=1.0)
    g = b218().pass_frequencies(1.0, contact_angle=still.angle_inner[0])
    assert still.cage_speed == pytest.approx(g.cage, rel=1e-10)


def test_speeds_of_harris_closed_forms():
    """Angles 45°, 35° in the 218: his formulas give .440601, 2.854797 (outer), .422929, 2.872717 (inner control)."""
    bearing = b218()
    co, so, ci, si = *(f(35 * DEGREE) for f in (np.cos, np.sin)), *(f(45 * DEGREE) for f in (np.cos, np.sin))
    for control, orbit, spin in (("outer", 0.440601, 2.854797), ("inner", 0.422929, 2.872717)):
        law, Y = be.race_law(bearing, inertia=True, control=control), np.zeros((5, 3))
        be.ball_speeds(law, ci, si, co, so, 1.0, 0.0, Y)
        assert (Y[0, 0], np.hypot(Y[0, 1], Y[0, 2])) == pytest.approx((orbit, spin), abs=1e-6)


def test_small_angular_contact_bearing_under_combined_load_at_speed():
    state = bearing_equilibrium(
        like_7204(), [300, 0, 500], inner_speed=10000 * RPM, inertia=True, fixed=("y", "rx", "ry")
    )
    assert 1e6 * state.displacement[[0, 2]] == pytest.approx((6.8319, 3.0080), abs=6e-5)
    angles = (state.angle_inner[0] / DEGREE, state.angle_outer[0] / DEGREE)
    assert angles == pytest.approx((40.861, 38.928), abs=1e-3)
    assert (state.load_inner[0], state.load_outer[0]) == pytest.approx((164.865, 169.691), abs=1e-3)
    assert state.spin_power(0.05) > 0.0 and state.spin_power(0.0) == 0.0


@pytest.mark.parametrize("control", ["outer", "inner"])
@pytest.mark.parametrize("rpm", [0, 10000])
def test_stiffness_is_the_derivative_of_the_forces(control, rpm):
    """Exact at speed too: centrifugal force and gyroscopic moment vary with the angles."""
    speed = {"inner_speed": rpm * RPM, "inertia": rpm > 0, "control": control}
    state = bearing_equilibrium(like_7204(), [300, 20, 500], [0.5, 0.2], **speed)
    K = np.zeros((5, 5))
    for j in range(5):
        e = np.eye(5)[j] * (1e-7 if j < 3 else 5e-6)

        def forces(k, e=e):
            moved = bearing_at(like_7204(), (state.q + k * e)[:3], (state.q + k * e)[3:], **speed)
            return np.append(moved.force, moved.moment)

        K[:, j] = -sum(w * (forces(k) - forces(-k)) for k, w in ((1, 45 / 60), (2, -9 / 60), (3, 1 / 60))) / e.max()
    lever = np.array([1, 1, 1, 16.75e-3, 16.75e-3])
    scale = 1 / np.outer(lever, lever)
    # differences over 1e-7 m of forces known to 1e-12: 4e-11 measured
    assert np.abs((K - state.stiffness) * scale).max() < 1e-9 * np.abs(K * scale).max()
    skew = np.abs((state.stiffness - state.stiffness.T) * scale).max() / np.abs(K * scale).max()
    assert skew < 1e-14 if rpm == 0 else skew > 1e-4  # a potential at rest, none at speed


def test_at_speed_the_outer_race_carries_the_centrifugal_force_of_unloaded_balls():
    bearing = BearingGeometry.from_designation("6205", clearance=10e-6)
    state = bearing_equilibrium(bearing, [1000, 0, 0], inner_speed=12000 * RPM, inertia=True)
    free = state.load_inner == 0
    assert 4 <= free.sum() <= 6
    assert state.load_outer[free] == pytest.approx(state.centrifugal[free])
    F_c = bearing.ball_mass * bearing.pitch_diameter / 2 * (12000 * RPM * 0.398335) ** 2
    assert state.centrifugal == pytest.approx(F_c, rel=1e-4)  # angles are zero, so the speed of the cage is that of (5)
    assert state.force == pytest.approx([-1000, 0, 0], abs=1e-6)


def test_a_preloaded_ring_is_stiffer_than_one_with_clearance():
    stiffness = [
        bearing_equilibrium(BearingGeometry.from_designation("6204", clearance=c), [200, 0, 0]).stiffness[0, 0]
        for c in (-8e-6, 0.0, 8e-6)
    ]
    assert stiffness[0] > 1.5 * stiffness[1] > 1.5 * stiffness[2]


def test_equilibrium_of_random_loads_balances_the_load():
    rng = np.random.default_rng(11)
    for _ in range(40):
        bearing = BearingGeometry.from_designation("6205", clearance=rng.uniform(-5e-6, 30e-6))
        force, moment = rng.normal(size=3) * rng.choice([1.0, 100.0, 2000.0]), rng.normal(size=2) * rng.choice([0, 5])
        state = bearing_equilibrium(bearing, force, moment, cage_angle=rng.uniform(0, 1))
        size = np.linalg.norm(force) + np.linalg.norm(moment) / 0.02
        assert state.force == pytest.approx(-force, abs=1e-8 * size)
        assert state.moment == pytest.approx(-moment, abs=1e-10 * size)


def test_bad_input_is_rejected_with_a_cure():
    bearing = BearingGeometry.from_designation("6205")
    with pytest.raises(ParameterError, match=r"control = 'both'.*'outer', 'inner'"):
        bearing_equilibrium(bearing, [1, 0, 0], control="both")
    with pytest.raises(ParameterError, match=r"fixed = 'rz'.*x, y, z, rx, ry"):
        bearing_equilibrium(bearing, [1, 0, 0], fixed="rz")
    with pytest.raises(ParameterError, match="force"):
        bearing_equilibrium(bearing, [np.nan, 0, 0])
    with pytest.raises(SolverError, match=r"'218'.*no equilibrium.* rpm"):
        # friction at the inner race cannot balance the gyroscopic moment of balls that are hardly pressed against it
        bearing_equilibrium(b218(), [0, 0, 50], inner_speed=30000 * RPM, inertia=True, control="inner")
