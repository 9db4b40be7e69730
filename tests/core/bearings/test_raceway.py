"""Damage around raceways: limits of ISO/TS 16281, loads that move in any other way, passages, bad input."""

import numpy as np
import pytest

import fem_mbs as fem
from fem_mbs.bearings.geometry import BearingGeometry
from fem_mbs.bearings.life import race_ratings
from fem_mbs.errors import ParameterError

BEARING = BearingGeometry.from_designation("6205", clearance=0.0)
Z, GAMMA = BEARING.balls, float(BEARING.gamma())
SPACING = 2 * np.pi * np.arange(Z) / Z


def load_zone(psi, largest=500.0):
    """Loads [N] of balls at angles from the load: the shape of a zone of ± 90°."""
    return largest * np.maximum(np.cos(psi), 0.0) ** 1.5


def fixed_load(turns=20, states=20001):
    """Angles (k, Z) of balls and (k,) of the inner ring, while the outer one stands; turns of the cage."""
    cage = np.linspace(0, 2 * np.pi * turns, states)
    return cage[:, None] + SPACING, cage * 2 / (1 - GAMMA)


def test_a_fixed_load_gives_the_life_of_the_standard_for_both_races():
    angles, inner_angle = fixed_load()
    loads = load_zone(angles)
    revolutions = inner_angle[-1] / (2 * np.pi) / 1e6
    outer = fem.raceway_damage(BEARING, loads, angles, points=720)
    inner = fem.raceway_damage(BEARING, loads, angles, race="inner", ring_angle=inner_angle, points=72)
    # means of closed form in place of those over balls
    around = np.linspace(0, 2 * np.pi, 100001)[:-1]
    Q_ci, Q_ce = race_ratings(BEARING)
    L_e = (Q_ce / np.mean(load_zone(around) ** (10 / 3)) ** 0.3) ** 3
    L_i = Q_ci**3 / np.mean(load_zone(around) ** 3)
    assert revolutions * outer.life == pytest.approx(L_e, rel=1e-4, abs=0)  # intervals of half a degree, steps of 0.36°
    # points of the inner ring see the load zone 20 × 1.5 times, and begin and end somewhere in it
    assert revolutions * inner.life == pytest.approx(L_i, rel=2e-3, abs=0)
    both = (L_i ** (-10 / 9) + L_e ** (-10 / 9)) ** -0.9
    assert revolutions * outer.life_with(inner) == pytest.approx(both, rel=2e-3, abs=0)


def test_life_equals_that_of_reference_life_for_balls_in_equilibrium():
    angles, inner_angle = fixed_load(turns=40, states=14401)
    angles = angles + np.pi / 360  # to the middle of the bins
    pitch = np.pi / 360 + np.linspace(0, 2 * np.pi, 361)
    table = np.array([fem.bearing_equilibrium(BEARING, [2000, 0, 0], cage_angle=a).load_inner for a in pitch[:360]])
    loads = table[np.arange(len(angles)) % 360]
    revolutions = inner_angle[-1] / (2 * np.pi) / 1e6
    reference = fem.reference_life(BEARING, loads[:-1], angles=angles[:-1], bins=360)
    outer = fem.raceway_damage(BEARING, loads, angles)
    inner = fem.raceway_damage(BEARING, loads, angles, race="inner", ring_angle=inner_angle)
    assert revolutions * outer.life == pytest.approx(
        reference.outer, rel=3e-4, abs=0
    )  # lines between states, step 1° squared
    assert revolutions * inner.life == pytest.approx(reference.inner, rel=3e-3, abs=0)  # whole turns, as above
    assert revolutions * outer.life_with(inner) == pytest.approx(reference.revolutions, rel=3e-3, abs=0)


def test_damage_is_largest_under_the_load_and_equal_around_a_ring_that_turns():
    angles, inner_angle = fixed_load()
    loads = load_zone(angles - 1.0)
    outer = fem.raceway_damage(BEARING, loads, angles)
    inner = fem.raceway_damage(BEARING, loads, angles, race="inner", ring_angle=inner_angle)
    assert outer.worst == pytest.approx(1.0, abs=np.pi / 180)
    assert outer.pressure.max() == pytest.approx(BEARING.outer.maximum_pressure(500.0), rel=1e-5, abs=0)
    opposite = np.abs(np.angle(np.exp(1j * (outer.angle - 1.0 - np.pi)))) < 1.5
    assert (outer.damage[opposite] == 0).all() and (outer.passages[opposite] == 0).all()
    assert inner.damage.std() < 0.05 * inner.damage.mean()  # 30 visits of the zone, one more or less


def test_an_unbalance_exchanges_the_races():
    """The load turns with the inner ring: its damage is at one point, that of the outer race is all around."""
    angles, inner_angle = fixed_load(turns=60, states=60001)
    loads = load_zone(angles - inner_angle[:, None])
    revolutions = inner_angle[-1] / (2 * np.pi) / 1e6
    outer = fem.raceway_damage(BEARING, loads, angles, points=90)
    inner = fem.raceway_damage(BEARING, loads, angles, race="inner", ring_angle=inner_angle, points=720)
    around = np.linspace(0, 2 * np.pi, 100001)[:-1]
    Q_ci, Q_ce = race_ratings(BEARING)
    assert revolutions * inner.life == pytest.approx(
        (Q_ci / np.mean(load_zone(around) ** (10 / 3)) ** 0.3) ** 3, rel=1e-3, abs=0
    )
    assert revolutions * outer.life == pytest.approx(Q_ce**3 / np.mean(load_zone(around) ** 3), rel=2e-3, abs=0)
    assert min(inner.worst, 2 * np.pi - inner.worst) < 2 * np.pi / 720


def test_life_of_a_swinging_bearing_counts_the_way_of_the_balls():
    """All balls carry Q; they swing by ± one pitch: each point sees 4 Z A/2π passages a swing, none stands out."""
    t, A, Q, swings = np.linspace(0, 1, 40001), 2 * np.pi / Z, 300.0, 50
    angles = A * np.sin(2 * np.pi * swings * t)[:, None] + SPACING
    outer = fem.raceway_damage(BEARING, np.full(angles.shape, Q), angles, points=90)
    passages = 4 * swings * Z * A / (2 * np.pi)
    assert outer.passages == pytest.approx(np.full(90, passages), rel=1e-3, abs=0)
    worn = passages * (Q / race_ratings(BEARING)[1]) ** 3 / (1e6 * Z * (1 - GAMMA) / 2)
    assert outer.damage == pytest.approx(np.full(90, worn), rel=1e-3, abs=0)
    assert outer.life == pytest.approx(1 / worn, rel=1e-3, abs=0)


def test_two_loads_add_their_damage_at_a_point_and_their_survival_around_the_race():
    """The outer race is loaded at 0 half of the time, then at 2: Miner where zones overlap, Weibull over the race."""
    angles, _ = fixed_load(turns=20, states=20001)
    half = np.arange(len(angles))[:, None] < len(angles) // 2
    loads = np.where(half, load_zone(angles), load_zone(angles - 2.0, 400.0))
    got = fem.raceway_damage(BEARING, loads, angles, points=360)
    at, Q_ce = got.angle, race_ratings(BEARING)[1]
    expected = 10 * Z / (1e6 * Z * (1 - GAMMA) / 2) * (load_zone(at) ** 3 + load_zone(at - 2.0, 400.0) ** 3) / Q_ce**3
    # in the step of the change, 0.36° of intervals of 1°, loads are those of a line: in one of ten passages
    assert got.damage == pytest.approx(expected, abs=0.036 * expected.max())
    assert np.median(np.abs(got.damage - expected)) < 1e-4 * expected.max()
    largest = np.maximum(load_zone(at), load_zone(at - 2.0, 400.0))
    pressure, loaded = BEARING.outer.maximum_pressure(largest), largest > 50.0
    assert got.pressure[loaded] == pytest.approx(pressure[loaded], rel=0.02, abs=0)  # anywhere in an interval of 1°
    assert got.life == pytest.approx(np.mean(expected ** (10 / 9)) ** -0.9, rel=5e-4, abs=0)


def test_passages_of_a_point_are_its_history():
    angles, inner_angle = fixed_load(turns=3, states=3001)
    loads = load_zone(angles)
    point = fem.raceway_passages(BEARING, loads, angles, at=0.3)
    assert len(point.load) == 3 * Z and (np.diff(point.step) > 0).all()
    assert point.load == pytest.approx(load_zone(0.3), rel=1e-5, abs=0)  # straight lines between states
    # ball j is there when the cage has turned by 0.3 − ψ_j
    cage = 2 * np.pi * 3 * point.step / 3000
    assert np.angle(np.exp(1j * (cage + SPACING[point.ball] - 0.3))) == pytest.approx(0.0, abs=1e-9)
    on_ring = fem.raceway_passages(BEARING, loads, angles, at=0.3, race="inner", ring_angle=inner_angle)
    # the ring turns past the balls with (1 + γ)/(1 − γ) of the speed of the cage; half of them are unloaded
    assert len(on_ring.load) == pytest.approx(0.5 * 3 * Z * (1 + GAMMA) / (1 - GAMMA), abs=3)


def test_stresses_of_passages_go_into_an_s_n_curve():
    angles, _ = fixed_load(turns=2, states=2001)
    point = fem.raceway_passages(BEARING, load_zone(angles), angles, at=0.0)
    Q, n = 500.0, 2 * Z
    curve = fem.SNCurve(500e6, 1e6, 9.0)
    for stress, amplitude in (
        ("pressure", 0.5 * BEARING.outer.maximum_pressure(Q)),
        ("shear", 0.5 * BEARING.outer.maximum_shear(Q).value),
        ("orthogonal shear", BEARING.outer.orthogonal_shear(Q).value),
    ):
        got = fem.damage(point.cycles(stress), curve)
        assert len(point.load) in (n, n + 1)  # the run begins with ball 0 there
        assert got == pytest.approx(len(point.load) * 1e-6 * (amplitude / 500e6) ** 9, rel=1e-3, abs=0), stress
    assert (point.cycles("orthogonal shear").mean == 0).all()
    # ninth power of the pressure, third of the load
    double = fem.raceway_passages(BEARING, 2 * load_zone(angles), angles, at=0.0)
    ratio = fem.damage(double.cycles(), curve) / fem.damage(point.cycles(), curve)
    assert ratio == pytest.approx(8.0, rel=1e-9, abs=0)


def test_a_history_at_a_point_counted_by_rainflow_has_the_cycles_of_its_passages():
    angles, _ = fixed_load(turns=5, states=5001)
    loads = load_zone(angles) * (1 + 0.5 * np.sin(0.7 * angles[:, :1]))
    point = fem.raceway_passages(BEARING, loads, angles, at=0.2)
    history = np.zeros(2 * len(point.load) + 1)
    history[1::2] = point.pressure
    counted = fem.rainflow(history, repeats=True)
    assert np.repeat(counted.range, counted.number.astype(int)) == pytest.approx(
        np.sort(point.pressure), rel=1e-15, abs=0
    )


def test_loads_between_states_are_those_of_straight_lines():
    """One ball rolls a quarter of a turn in one step while its load grows from zero to 400 N; others are unloaded."""
    angles, loads = np.stack([SPACING, SPACING + np.pi / 2]), np.zeros((2, Z))
    loads[1, 0] = 400.0
    per_million = 1e6 * Z * (1 - GAMMA) / 2
    quarter = fem.raceway_damage(BEARING, loads, angles, points=4)
    one = (400.0 / race_ratings(BEARING)[1]) ** 3 / per_million
    assert quarter.damage == pytest.approx([one / 4, 0, 0, 0], rel=1e-12, abs=0)  # mean of the cube of a line
    assert quarter.passages.tolist() == pytest.approx([1, 0, 0, 0])
    eighths = fem.raceway_damage(BEARING, loads, angles, points=8)
    assert eighths.damage[:2] == pytest.approx([one / 32, one * 15 / 32], rel=1e-12, abs=0)
    middle = BEARING.outer.maximum_pressure([200.0, 400.0])
    assert eighths.pressure[:2] == pytest.approx(middle, rel=1e-12, abs=0)
    back = fem.raceway_damage(BEARING, loads[::-1], angles[::-1], points=8)  # the reverse motion does the same
    assert back.damage == pytest.approx(eighths.damage, rel=1e-12, abs=0)


def test_no_load_no_damage():
    angles, _ = fixed_load(turns=1, states=101)
    free = fem.raceway_damage(BEARING, np.zeros(angles.shape), angles)
    assert free.life == np.inf and (free.damage == 0).all() and free.life_with(free) == np.inf


def test_results_of_a_dynamic_bearing_locate_the_damage_under_the_load():
    """Balls of a 6205 that move, the load along −y: the damage of the outer race is at its bottom."""
    speed, load, plane = 60 * np.pi, 800.0, ("z", "rx", "ry")
    geometry = BearingGeometry.from_designation("6205", clearance=5e-6)
    at = fem.bearing_equilibrium(geometry, force=[0, -load, 0], fixed=plane).displacement
    model = fem.Model("bearing")
    shaft = model.add(fem.RigidBody(0.5, 1e-4, position=at, angular_velocity=[0, 0, speed], fixed=plane, name="shaft"))
    model.add(fem.PointForce(shaft, [0, -load, 0]), fem.RevoluteDriver(model.ground, shaft, lambda t: speed * t))
    bearing = model.add(fem.ball_bearing(model.ground, shaft, geometry, name="b"))
    result = fem.DecoupledNSGA(rho_inf=0.0).run(model, t_end=0.15, h=1e-4)
    history = fem.BearingHistory(result, bearing)
    assert history.ring_angle == pytest.approx(speed * history.t, abs=1e-9)
    outer = fem.raceway_damage(geometry, history.load_outer, history.psi)
    inner = fem.raceway_damage(
        geometry, history.load_inner, history.psi, race="inner", ring_angle=history.ring_angle, points=36
    )
    assert outer.worst == pytest.approx(1.5 * np.pi, abs=0.1)
    revolutions = 0.15 * speed / (2 * np.pi) / 1e6
    still = fem.reference_life(geometry, fem.bearing_equilibrium(geometry, [load, 0, 0]).load_inner)
    # 4.5 turns of the shaft: points of the inner ring saw the zone 2 or 3 times; slip and steps in the loads
    assert revolutions * outer.life == pytest.approx(still.outer, rel=0.1, abs=0)
    assert revolutions * inner.life == pytest.approx(still.inner, rel=0.2, abs=0)
    sparse = fem.DecoupledNSGA(rho_inf=0.0).run(model, t_end=0.15, h=1e-4, save_every=500)
    with pytest.raises(fem.FemMbsError, match=r"'b'.*half a turn.*save_every"):
        _ = fem.BearingHistory(sparse, bearing).psi
    fewer = fem.DecoupledNSGA(rho_inf=0.0).run(model, t_end=0.15, h=1e-4, save_every=250)
    assert len(fem.BearingHistory(fewer, bearing).psi) == 7  # the balls turn by 1.8 rad, the ring by 4.7
    with pytest.raises(fem.FemMbsError, match=r"4\.71 rad.*half a turn"):
        _ = fem.BearingHistory(fewer, bearing).ring_angle


@pytest.mark.parametrize(
    "change, words",
    [
        ({"loads": np.ones((5, 3))}, r"loads .*\(5, 3\).*\(k, 9\)"),
        ({"loads": np.ones((1, 9))}, "k ≥ 2"),
        ({"loads": -np.ones((5, 9))}, "balls do not pull"),
        ({"angles": np.zeros((4, 9))}, r"\(4, 9\), must be \(5, 9\)"),
        ({"angles": np.zeros((5, 9))}, "nothing passes.*reference_life"),
        ({"angles": np.linspace(0, 20, 5)[:, None] + SPACING}, "less than half a turn.*unwrap"),
        ({"ring_angle": np.zeros(3)}, r"ring_angle .*\(3,\)"),
        ({"race": "middle"}, "race = 'middle'"),
        ({"points": 0}, "points = 0"),
        ({"rating": -1.0}, "rating = -1.0 N"),
    ],
)
def test_bad_input_is_rejected_by_name(change, words):
    good = {"loads": np.ones((5, 9)), "angles": np.linspace(0, 2, 5)[:, None] + SPACING}
    with pytest.raises(ParameterError, match=words):
        fem.raceway_damage(BEARING, **{**good, **change})


def test_an_unknown_stress_of_passages_is_rejected():
    angles, _ = fixed_load(turns=1, states=101)
    with pytest.raises(ParameterError, match=r"stress = 'tension'.*'orthogonal shear'"):
        fem.raceway_passages(BEARING, np.ones(angles.shape), angles, at=0.0).cycles("tension")
