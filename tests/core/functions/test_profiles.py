"""Ready-made motions: closed forms, and value, rate and acceleration that belong together."""

import warnings

import numpy as np
import pytest

import fem_mbs as fem
from fem_mbs.functions.profiles import ramp, smooth_start, table, trapezoidal

WAVE = np.linspace(0.0, 2.0, 9)
PROFILES = {
    "ramp": ramp(height=-4.0, duration=0.8, start=0.3),
    "smooth start": smooth_start(12.0, 0.8, start=0.3, initial=0.2),
    "trapezoid": trapezoidal(0.9, 0.8, 2.0, deceleration=4.0, start=0.3, initial=-0.5),
    "triangle": trapezoidal(-0.1, 0.8, 2.0, deceleration=4.0, start=0.3),
    "table": table(WAVE, np.sin(3 * WAVE), kind="cubic"),
    "table from rest to rest": table(WAVE, np.sin(3 * WAVE), ends="rest", kind="cubic"),
    "periodic table": table(WAVE, 0.3 + np.sin(np.pi * WAVE), ends="periodic", kind="cubic"),
    "monotone table": table(WAVE, np.sin(3 * WAVE)),
    "monotone table from rest to rest": table(WAVE, np.sin(3 * WAVE), ends="rest"),
    "periodic monotone table": table(WAVE, 0.3 + np.sin(np.pi * WAVE), ends="periodic"),
    "angle of a ramp": ramp(height=-4.0, duration=0.8, start=0.3).integral(0.7),
    "angle of a periodic speed": table(WAVE, 0.3 + np.sin(np.pi * WAVE), ends="periodic", kind="cubic").integral(),
    "angle of the angle of a table": table(WAVE, np.sin(3 * WAVE)).integral().integral(),
    "speed of a trapezoid": trapezoidal(0.9, 0.8, 2.0, start=0.3).derivative(),
}
TIMES = np.sort(np.random.default_rng(0).uniform(-1.0, 5.0, 40))


@pytest.mark.parametrize("name", PROFILES)
def test_rate_and_acceleration_are_those_of_the_value(name):
    p, step = PROFILES[name], 1e-4
    for t in TIMES:
        if min(abs(t - b) for b in p.times) < 2 * step:
            continue
        value, rate, acceleration = p.jet(t)
        assert value == p(t)
        # central differences: truncation step²/6 · |d⁵| ≤ 1e-8 · 1e3, round-off 1e-16 · 30/step
        assert rate == pytest.approx((p(t + step) - p(t - step)) / (2 * step), abs=2e-6)
        assert acceleration == pytest.approx((p.jet(t + step)[1] - p.jet(t - step)[1]) / (2 * step), abs=2e-5)


@pytest.mark.parametrize("name", PROFILES)
def test_nothing_jumps_but_what_the_description_says(name):
    p, jumps = PROFILES[name], {"trapezoid": 2, "triangle": 2, "table from rest to rest": 2, "speed of a trapezoid": 1}
    continuous = 2 if p.kinked else jumps.get(name, 3)  # how many of value, rate, acceleration
    for b in p.times:
        before, following = p.jet(b - 1e-9), p.jet(b + 1e-9)
        assert before[:continuous] == pytest.approx(following[:continuous], abs=1e-6)  # third derivative 500 · 2e-9
        assert p.jet(b) == pytest.approx(following, abs=1e-6)  # at a breakpoint: what follows
        assert p.jet(b, before=True) == pytest.approx(before, abs=1e-6)


def test_smooth_start_turns_half_as_far_as_at_full_speed_and_then_keeps_it():
    p = smooth_start(rate=12.0, duration=0.8, start=0.3, initial=0.2)
    assert p.jet(0.3) == (0.2, 0.0, 0.0) and p.jet(-5.0) == (0.2, 0.0, 0.0)
    assert p.jet(1.1) == pytest.approx((0.2 + 12 * 0.4, 12.0, 0.0), rel=1e-14)
    assert p.jet(100.0) == pytest.approx((0.2 + 12 * (99.7 - 0.4), 12.0, 0.0), rel=1e-14)
    assert p.jet(0.7) == pytest.approx((0.2 + 12 * 0.8 * 5 / 64, 6.0, 15 / 8 * 12 / 0.8), rel=1e-13)  # 2.5/16-3/32+1/64
    assert p.derivative().jet(0.7)[:2] == pytest.approx(p.jet(0.7)[1:], rel=1e-13)


def test_trapezoid_arrives_where_and_when_the_closed_form_says():
    p = trapezoidal(0.9, 0.8, 2.0, deceleration=4.0, start=0.3, initial=-0.5)
    up, down = 0.8 / 2.0, 0.8 / 4.0
    keep = (0.9 - 0.5 * 0.8 * (up + down)) / 0.8
    assert p.times == pytest.approx([0.3, 0.3 + up, 0.3 + up + keep, 0.3 + up + keep + down], rel=1e-15)
    assert p.jet(0.3 + up / 2) == pytest.approx((-0.5 + 0.5 * 2.0 * 0.04, 0.4, 2.0), rel=1e-14)
    assert p.jet(0.3 + up + keep / 2)[1:] == (0.8, 0.0)
    assert p.jet(p.end - down / 2)[1:] == pytest.approx((0.4, -4.0), rel=1e-13)
    assert p.jet(p.end) == (0.4, 0.0, 0.0) and p.jet(p.end + 3) == (0.4, 0.0, 0.0)


def test_distance_too_short_for_the_speed_gives_a_triangle():
    p = trapezoidal(-0.1, 0.8, 2.0, deceleration=4.0)
    peak = np.sqrt(2 * 0.1 * 2 * 4 / 6)
    assert peak < 0.8 and p.times[1:3] == pytest.approx([peak / 2.0] * 2, rel=1e-15)
    assert p.jet(p.times[1])[1] == pytest.approx(-peak, rel=1e-14) and p.jet(p.end)[0] == -0.1
    assert p(p.end - 1e-12) == pytest.approx(-0.1, abs=1e-15)  # it gets there


def test_integral_of_a_table_is_the_angle_of_a_measured_speed():
    t = np.linspace(0, 2, 201)
    angle = table(t, 30 + np.cos(4 * t), kind="cubic").integral(0.5, at=1.0)
    closed = 0.5 + 30 * (t - 1) + (np.sin(4 * t) - np.sin(4.0)) / 4
    # cubic spline of step 0.01: (4 · 0.01)⁴ · 5/384 = 3e-8; natural ends: 16 · 0.01²/12 · 0.01
    assert [angle(s) for s in t] == pytest.approx(closed, abs=2e-6)
    assert angle(1.0) == 0.5


def test_periodic_table_repeats_in_both_directions_and_its_angle_gains_the_same_each_time():
    times = np.linspace(0.5, 2.5, 41)
    p = table(times, 0.3 + np.sin(np.pi * times), ends="periodic", kind="cubic")
    for t in (0.61, 1.7, 2.49):
        for cycles in (-3, 1, 50):
            assert p.jet(t + 2 * cycles) == pytest.approx(p.jet(t), abs=1e-11)  # round-off of t = 100
    angle = p.integral()
    assert angle(0.0) == pytest.approx(0.0, abs=1e-16)
    assert angle(20.0) == pytest.approx(20 * 0.3, rel=1e-12)  # ten periods with the mean 0.3; the sine adds nothing
    with pytest.raises(fem.ParameterError, match=r"'integral of table': gain = 0\.6"):
        angle.integral()


def test_beyond_its_ends_a_table_continues_or_rests():
    t, v = [0.0, 1.0, 2.0], [0.0, 1.0, 4.0]
    natural, rest = table(t, v, kind="cubic"), table(t, v, ends="rest", kind="cubic")
    rate = natural.jet(2.0)[1]
    assert rate == pytest.approx(3.5, rel=1e-14)  # by hand: moments 0, 3, 0; (4−1)/1 + 3/6
    assert natural.jet(5.0) == pytest.approx((4.0 + 3 * 3.5, 3.5, 0.0), rel=1e-14)
    assert rest.jet(5.0) == (4.0, 0.0, 0.0) and rest.jet(-1.0) == (0.0, 0.0, 0.0)
    assert rest.jet(1e-12)[1] == pytest.approx(0.0, abs=1e-10)
    rest = table(t, v, ends="rest")
    assert rest.jet(5.0) == (4.0, 0.0, 0.0) and rest.jet(-1.0) == (0.0, 0.0, 0.0)
    assert rest.jet(1e-12)[1] == pytest.approx(0.0, abs=1e-10) and rest.jet(2 - 1e-12)[1] == pytest.approx(0, abs=1e-10)


GUST = [0, 1, 1.5, 3, 3.5, 10], [0, 0, 30, 30, 0, 0]


@pytest.mark.parametrize("ends", ["natural", "rest", "periodic"])
def test_a_gust_between_0_and_30_pascal_stays_between_and_keeps_its_impulse(ends):
    gust = table(*GUST, ends=ends)
    values = [gust(t) for t in np.linspace(0, 10, 2001)]
    assert min(values) == 0.0 and max(values) == 30.0
    assert gust.integral()(10.0) == pytest.approx(60.0, rel=1e-12)  # both flanks are symmetric
    assert [gust(t) for t in GUST[0]] == pytest.approx(GUST[1], abs=1e-14)


def test_a_spline_that_leaves_the_range_of_its_points_is_warned_of():
    with pytest.warns(UserWarning, match=r"252%.* -75.* 50.* 0 … 30"):
        table(*GUST, kind="cubic")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        table(np.linspace(0, 1, 9), np.sin(2 * np.pi * np.linspace(0, 1, 9)), kind="cubic", ends="periodic")


@pytest.mark.parametrize("wrap", [lambda p: p, lambda p: 2.0 * p - 0.0, lambda p: fem.Signal(p)])
def test_a_driver_of_positions_warns_of_a_monotone_table_and_takes_a_cubic_one(wrap):
    t = np.linspace(0, 1, 9)
    body = fem.PointMass(1.0, name="sledge", fixed=("y", "z"))
    with pytest.warns(UserWarning, match=r"'motor': x .*monotone.*kind=\"cubic\""):
        fem.Prescribed(body, x=wrap(table(t, 1 - np.cos(t))), name="motor")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fem.Prescribed(body, x=wrap(table(t, 1 - np.cos(t), kind="cubic")))
        fem.Prescribed(body, x=wrap(table(t, np.sin(t)).integral()))  # of speeds: its acceleration is continuous


def test_profiles_are_parts_of_functions_also_backwards_in_time():
    p = trapezoidal(0.9, 0.8, 2.0)
    forth_and_back = fem.Signal(lambda t: p(np.minimum(t, 4.0 - t)))
    assert forth_and_back.jet(3.0) == pytest.approx((p(1.0), -p.jet(1.0)[1], p.jet(1.0)[2]), rel=1e-14)
    assert p.jet(0.4)[2] == 0.0
    assert forth_and_back.jet(3.6)[2] == pytest.approx(2.0, rel=1e-12)  # after 3.6 s: the piece before 0.4 s


def test_a_smooth_start_drives_a_mass_with_the_force_of_its_acceleration():
    mass, speed, duration = 3.0, 2.0, 0.4
    model = fem.Model("start")
    body = model.add(fem.PointMass(mass, name="sledge", fixed=("y", "z")))
    motor = smooth_start(speed, duration)
    model.add(fem.Prescribed(body, x=motor, name="motor"))
    result = fem.DecoupledNSGA().run(model, t_end=0.6, h=1e-3)
    exact = mass * np.array([motor.jet(t)[2] for t in result.t])
    assert np.abs(exact).max() == pytest.approx(15 / 8 * mass * speed / duration, rel=1e-6)
    # second order: error (1/6 …1) h² d²(acceleration)/dt², at most 1e-6 · 3 · 2/0.4³ · 60
    assert np.abs(result["motor"].force[:, 0] - exact).max() < 6e-3
    assert result["sledge"].velocity[-1, 0] == pytest.approx(speed, rel=1e-6)


@pytest.mark.parametrize(
    "make, words",
    [
        (lambda: ramp(duration=0.0), r"ramp: duration = 0\.0 s.*> 0"),
        (lambda: ramp(duration=1.0, start="now"), "ramp: start = 'now'.*number"),
        (lambda: ramp(duration=np.inf), "ramp: duration = inf s.*finite"),
        (lambda: smooth_start(1.0, 0.0), r"smooth_start: duration = 0\.0 s.*> 0"),
        (lambda: smooth_start(np.nan, 1.0), "smooth_start: rate = nan rad/s or m/s.*finite"),
        (lambda: trapezoidal(0.0, 1.0, 1.0), r"trapezoidal: distance = 0\.0.*not be 0"),
        (lambda: trapezoidal(1.0, -1.0, 1.0), r"trapezoidal: speed = -1\.0 rad/s or m/s.*> 0"),
        (lambda: trapezoidal(1.0, 1.0, 1.0, deceleration=0), "trapezoidal: deceleration = 0.*> 0"),
        (lambda: table([0, 1], [0, "x"]), "table: values = .*list of numbers"),
        (lambda: table([0], [0]), "table: times = .*two"),
        (lambda: table([0, 1, 2], [0, 1]), "table: values = .*2 numbers.* 3 times"),
        (lambda: table([0, 2, 1], [0, 1, 2]), r"table: times = .*times\[2\].*later"),
        (
            lambda: table([0, 1], [0, 1], ends="free"),
            "table: ends = 'free'.*unknown.*natural, rest, per",
        ),
        (lambda: table([0, 1], [0, 1], kind="linear"), "table: kind = 'linear'.*unknown.*monotone, cubic"),
        (lambda: table([0, 1, 2], [0, 1, 2], ends="periodic"), r"values = .*begin with"),
        (lambda: ramp(duration=1).integral(np.nan), "Profile 'ramp': initial = nan.*finite"),
    ],
)
def test_impossible_profiles_are_rejected_with_name_and_value(make, words):
    with pytest.raises(fem.ParameterError, match=words):
        make()
