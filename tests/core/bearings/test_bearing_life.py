"""Life of bearings and wear: ISO 281 and ISO/TS 16281 numbers, another code, closed forms, bad input."""

import numpy as np
import pytest

import fem_mbs as fem
from fem_mbs.bearings.geometry import PRESETS, BearingGeometry
from fem_mbs.bearings.life import dynamic_rating, life_hours, race_ratings
from fem_mbs.errors import ParameterError

RPM = np.pi / 30


def masta(clearance):
    return BearingGeometry(7, 11.5e-3, 43.5e-3, E=210e9, clearance=clearance, dynamic_rating=23.4e3)


@pytest.mark.parametrize("name, C", [("6204", 12.80e3), ("6205", 14.03e3), ("6305", 22.37e3)])
def test_presets_have_the_rating_of_their_balls(name, C):
    """A check of the internal dimensions: the rating by ISO 281 from them, compared with that of the catalogue."""
    bearing = BearingGeometry.from_designation(name, osculation_outer=0.52)  # the formula's table is for f = .52
    assert dynamic_rating(bearing) == pytest.approx(C, rel=5e-4)  # catalogue values, docs/theory/bearings.md
    assert dynamic_rating(bearing) == pytest.approx(PRESETS[name]["dynamic_rating"][0], rel=0.01)


# ISO 281, table 3: F_a/(Z D²) [MPa], e, Y of single-row deep groove bearings
ISO_281 = [
    (0.172, 0.19, 2.30), (0.345, 0.22, 1.99), (0.689, 0.26, 1.71), (1.03, 0.28, 1.55), (1.38, 0.30, 1.45),
    (2.07, 0.34, 1.31), (3.45, 0.38, 1.15), (5.17, 0.42, 1.04), (6.89, 0.44, 1.00),
]  # fmt: skip


@pytest.mark.parametrize("relative, e, Y", ISO_281)
def test_equivalent_load_follows_each_row_of_the_standard_without_a_jump_at_its_limit(relative, e, Y):
    bearing = BearingGeometry.from_designation("6205", clearance=0.0)
    F_a = relative * bearing.balls * (1e3 * bearing.ball_diameter) ** 2
    factor = (fem.equivalent_load(bearing, F_a, F_a) - 0.56 * F_a) / F_a
    assert factor == pytest.approx(Y, rel=1e-12)  # the number of the table
    # independent of it: at F_a/F_r = e both formulas give F_r, so Y = 0.44/e, with e to the two digits it has
    assert 0.44 / (e + 0.006) < factor < 0.44 / (e - 0.006)
    below, above = (fem.equivalent_load(bearing, F_a / ratio, F_a) for ratio in (e - 1e-6, e + 1e-6))
    assert below == pytest.approx(F_a / e, rel=1e-5) and above == pytest.approx(below, rel=0.02)


def test_reference_life_equals_that_of_a_commercial_code():
    Q_ci, Q_ce = race_ratings(masta(0))
    assert (Q_ci, Q_ce) == pytest.approx((8423.24, 18288.74), rel=1e-6)
    for clearance, force, life in (
        (0, [1000, 0, 0], 13163.019),
        (0, [0, 0, 1000], 2222.732),
        (10e-6, [1000, 0, 0], 10795.795),
        (10e-6, [0, 0, 1000], 3115.878),
        (10e-6, [1000, 0, 1000], 1630.537),
    ):
        state = fem.bearing_equilibrium(masta(clearance), force)
        # 7e-5: its equilibrium is converged to about 1e-5, and loads enter with the third power
        assert fem.reference_life(masta(clearance), state.load_inner).revolutions == pytest.approx(life, rel=2e-4)


def test_life_of_a_6205_under_radial_load():
    bearing = BearingGeometry.from_designation("6205", clearance=0.0)
    loads = fem.bearing_equilibrium(bearing, [2000, 0, 0]).load_inner
    life = fem.reference_life(bearing, loads)
    assert race_ratings(bearing) == pytest.approx((4020.65, 6990.33), rel=1e-6)
    assert (life.load_inner, life.load_outer) == pytest.approx((548.351, 572.446), rel=2e-6)
    assert (life.inner, life.outer, life.revolutions) == pytest.approx((394.198, 1820.917, 338.960), rel=5e-6)
    outer = fem.reference_life(bearing, loads, turning="outer")
    assert outer.revolutions == pytest.approx(308.648, rel=5e-6)
    # the basic life does not depend on geometry; without clearance both agree to 2 %
    basic = fem.basic_life(14e3, fem.equivalent_load(bearing, 2000))
    assert basic == pytest.approx(343.0) and life_hours(basic, 1500 * RPM) == pytest.approx(3811.1, abs=0.05)
    assert life.equivalent_load == pytest.approx(2000, rel=0.01)
    assert life.hours(1500 * RPM) == pytest.approx(3811.1 * 338.960 / 343.0, rel=1e-5)


def test_clearance_and_preload_change_the_life_that_the_basic_formula_cannot_see():
    lives = []
    for clearance in (-30e-6, -5e-6, 0.0, 15e-6, 40e-6):
        bearing = BearingGeometry.from_designation("6205", clearance=clearance)
        loads = fem.bearing_equilibrium(bearing, [2000, 0, 0]).load_inner
        lives.append(fem.reference_life(bearing, loads).revolutions)
    assert lives[1] > lives[2] > lives[3] > lives[4]  # a light preload spreads the load
    assert lives[0] < lives[2]  # a heavy one adds to it


def test_spectrum_is_averaged_over_revolutions():
    speed, share = np.array([1500, 1500, 750]), np.array([0.6, 0.3, 0.1])
    loads = np.array([1000.0, 2500, 4000])
    P = fem.mean_load(loads, speed * share)
    assert P == pytest.approx(2075.003, abs=6e-4)
    life = fem.basic_life(14e3, P)
    assert life == pytest.approx(307.134, abs=6e-4)
    assert life_hours(life, (speed @ share) * RPM) == pytest.approx(3592.21, abs=6e-3)
    # Palmgren and Miner: damage of the parts adds up to the damage of the whole
    parts = (speed * share / (speed @ share)) / fem.basic_life(14e3, loads)
    assert 1 / parts.sum() == pytest.approx(life, rel=1e-12)


def test_life_of_a_spectrum_of_ball_loads():
    """The same state many times is one state; proportional loads follow the rule of the mean load."""
    bearing = BearingGeometry.from_designation("6205", clearance=0.0)
    loads = fem.bearing_equilibrium(bearing, [2000, 0, 0]).load_inner
    one = fem.reference_life(bearing, loads)
    assert fem.reference_life(bearing, [loads] * 5, revolutions=[1, 0, 3, 2, 9]) == pytest.approx(one)
    factors, share = np.array([0.5, 1.25, 2.0]), np.array([0.6, 0.3, 0.1])
    several = fem.reference_life(bearing, factors[:, None] * loads, revolutions=share)
    mean = fem.mean_load(2000 * factors, share)
    assert several.equivalent_load == pytest.approx(one.equivalent_load * mean / 2000, rel=1e-9)


def test_balls_that_move_load_the_race_that_stands_as_many_still_balls_do():
    """A cage that turns samples the load zone: the life is that of the mean over positions of the balls."""
    bearing = BearingGeometry.from_designation("6205", clearance=10e-6)
    angles = (np.arange(720) + 0.5) * 2 * np.pi / 720  # in the middle of the bins
    states = [fem.bearing_equilibrium(bearing, [2000, 0, 0], cage_angle=a) for a in angles[:80]]  # one ball distance
    loads = np.array([state.load_inner for state in states])
    psi = np.array([state.psi for state in states])
    life = fem.reference_life(bearing, loads, angles=psi, bins=720)
    # position by position along the race, from the same loads
    order = np.argsort(np.mod(psi, 2 * np.pi), axis=None)
    along = loads.ravel()[order]
    expected = np.mean(along ** (10 / 3)) ** 0.3
    assert life.load_outer == pytest.approx(expected, rel=1e-9)
    still = fem.reference_life(bearing, loads[0])
    assert life.revolutions == pytest.approx(still.revolutions, rel=0.05)  # 14 % in the largest load, little in life


def test_axial_load_counts_above_its_threshold_only():
    bearing = BearingGeometry.from_designation("6205")
    F_a = 0.689 * 9 * 7.938**2  # a point of the table: e = .26, Y = 1.71
    assert fem.equivalent_load(bearing, 1000.0, 0.18 * 1000) == 1000.0
    assert fem.equivalent_load(bearing, F_a / 0.27, -F_a) == pytest.approx(0.56 * F_a / 0.27 + 1.71 * F_a)
    steep = BearingGeometry(11, 7.938e-3, 33.5e-3, contact_angle=np.radians(40))
    assert fem.equivalent_load(steep, [500, 500], [500, 1000]) == pytest.approx([500, 0.35 * 500 + 0.57 * 1000])
    with pytest.raises(ParameterError, match=r"contact_angle = 0\.3 rad.*reference_life"):
        fem.equivalent_load(BearingGeometry(11, 7.938e-3, 33.5e-3, contact_angle=0.3), 500)


def test_a_steep_bearing_has_the_rating_of_its_catalogue():
    """13.3 kN is printed for the 7204 with 40° (suffix B); 11 balls of 5/16 in are derived from that, not published."""
    steep = BearingGeometry(11, 7.938e-3, 33.5e-3, 0.52, 0.52, contact_angle=np.radians(40))
    assert dynamic_rating(steep) == pytest.approx(13.32e3, rel=5e-4)


@pytest.mark.parametrize(
    "call, words",
    [
        (lambda b: fem.reference_life(b, [1.0, 2.0]), r"load_inner = .*\(2,\).*\(9,\) or \(n, 9\)"),
        (lambda b: fem.reference_life(b, -np.ones(9)), r"'6205'.*load_inner .*finite"),
        (
            lambda b: fem.reference_life(b, np.ones(9), turning="shaft"),
            "turning = 'shaft'.*'inner', 'outer'",
        ),
        (lambda b: fem.reference_life(b, np.ones((2, 9)), revolutions=[1.0]), r"'6205'.*revolutions .*\(1,\).*\(2,\)"),
        (lambda b: fem.reference_life(b, np.ones((2, 9)), revolutions=[0, 0]), "not all 0"),
        (lambda b: fem.reference_life(b, np.ones(9), rating=-1.0), "rating = -1.0 N.*> 0"),
        (lambda b: fem.mean_load([-1.0], [1.0]), "loads .*finite"),
        (lambda b: fem.equivalent_load(b, np.nan), "radial = nan.*finite"),
        (lambda b: dynamic_rating(BearingGeometry(8, 0.03, 0.2)), r"ball_diameter = 0\.03 m.*25\.4 mm"),
        (lambda b: fem.archard_wear([-1], 1, 0, coefficient=1, hardness=1, radius=1, length=1), "cannot pull"),
        (
            lambda b: fem.archard_wear([1], 1, 0, coefficient=0, hardness=1, radius=1, length=1),
            "coefficient = 0.0 must",
        ),
        (lambda b: fem.archard_wear([1], np.inf, 0, coefficient=1, hardness=1, radius=1, length=1), "sliding_speed"),
    ],
)
def test_bad_input_is_rejected_by_name(call, words):
    with pytest.raises(ParameterError, match=words):
        call(BearingGeometry.from_designation("6205"))


def test_life_without_load_is_infinite():
    bearing = BearingGeometry.from_designation("6205")
    assert fem.reference_life(bearing, np.zeros(9)).revolutions == np.inf
    assert fem.basic_life(14e3, 0.0) == np.inf


# --- wear -------------------------------------------------------------------------------------------------------------


def test_wear_is_spread_over_the_surface_that_turns_and_kept_in_one_place_on_the_other():
    """100 N, 10 mm, 500 rpm, an hour, k = 1e-5, H = 2 GPa: .94248 mm³; .75 µm around a surface 20 mm wide."""
    material = {"coefficient": 1e-5, "hardness": 2e9, "radius": 0.010, "length": 0.020}
    steps = 7200
    turning = 2 * np.pi * (np.sqrt(5) - 1) / 2 * np.arange(steps)  # samples of many turns, evenly spread
    ring = fem.archard_wear(np.full(steps, 50.0), 500 * RPM * 0.010, turning, bins=36, **material)
    pin = fem.archard_wear(np.full(steps, 50.0), 500 * RPM * 0.010, 1.0, bins=36, **material)
    assert (ring.volume, pin.volume) == pytest.approx((0.94248e-9, 0.94248e-9), rel=1e-5, abs=0)
    assert ring.depth == pytest.approx(0.75e-6, rel=0.02, abs=0)  # 200 visits per bin, one or two more or less
    assert np.count_nonzero(pin.depth) == 1 and pin.depth.max() == pytest.approx(36 * 0.75e-6, rel=1e-4, abs=0)
    assert pin.angle[pin.depth.argmax()] == pytest.approx(1.0, abs=np.pi / 36)


def test_wear_of_a_pin_that_turns_under_load_in_a_bearing():
    """A driven pin presses down with its weight: V = k F s/H, worn below in the bearing and all around on the pin."""
    model = fem.Model("journal", gravity=[0, -9.81, 0])
    speed, radius = 20.0, 0.010
    pin = fem.RigidBody(2.0, 1e-4, position=[0, -50e-6, 0], angular_velocity=[0, 0, speed], name="pin",
                        fixed=("z", "rx", "ry"))  # fmt: skip
    model.add(pin)
    model.add(
        fem.SphereInCylinder(
            pin, model.ground, radius=radius, radius_cylinder=radius + 50e-6, friction=0.0, name="bearing"
        )
    )
    h, t_end = 1e-3, 2 * np.pi / speed
    result = fem.DecoupledNSGA(rho_inf=0.8).run(model, t_end=t_end, h=h)
    data = {"coefficient": 1e-4, "hardness": 2e9, "radius": radius, "length": 0.02, "bins": 24}
    bearing = fem.contact_wear(result, "bearing", surface="second", **data)
    on_pin = fem.contact_wear(result, "bearing", surface="first", **data)
    expected = 1e-4 / 2e9 * 2.0 * 9.81 * speed * radius * result.t[-1]
    assert (bearing.volume, on_pin.volume) == pytest.approx(
        (expected, expected), rel=2e-3, abs=0
    )  # one step of 314 at the start
    below = 3 * np.pi / 2
    assert np.count_nonzero(bearing.depth > 1e-3 * bearing.depth.max()) <= 2  # the direction is on the edge of bins
    assert bearing.angle[bearing.depth.argmax()] == pytest.approx(below, abs=2 * np.pi / 24)
    assert on_pin.depth.min() > 0.5 * on_pin.depth.max()  # once around: 13 or 14 steps a bin
    with pytest.raises(ParameterError, match="surface = 'third'"):
        fem.contact_wear(result, "bearing", surface="third", **data)


def test_life_of_a_run_counts_its_revolutions():
    geometry = BearingGeometry.from_designation("6205", clearance=0.0)
    model = fem.Model("ring")
    ring = model.add(fem.RigidBody(1.0, 1e-3, position=[14.7e-6, 0, 0], angular_velocity=[0, 0, 100.0], name="ring"))
    model.add(
        fem.QuasiStaticBearing(
            model.ground, ring, geometry, damping=(1e4, 1e4, 1.0), springs=(0, 1e4, 0), name="bearing"
        )
    )
    model.add(fem.PointForce(ring, [1000.0, 0, 0]))
    result = fem.DecoupledNSGA(rho_inf=0.8).run(model, t_end=0.05, h=1e-4)
    life = fem.life_of_run(result, "bearing", geometry, speed=100.0, start=0.02)
    still = fem.reference_life(geometry, fem.bearing_equilibrium(geometry, [1000, 0, 0]).load_inner)
    assert life.revolutions == pytest.approx(still.revolutions, rel=1e-4)  # remainder of the start
    with pytest.raises(ParameterError, match=r"start = 3\.0 s.*0\.05 s"):
        fem.life_of_run(result, "bearing", geometry, speed=100.0, start=3.0)
