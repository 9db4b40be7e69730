"""Functions of time: derivatives are exact, and what cannot be differentiated says so."""

import math

import numpy as np
import pytest

import fem_mbs as fem
from fem_mbs.functions.jets import Jet
from fem_mbs.functions.profiles import ramp, table
from fem_mbs.functions.signals import Signal

FUNCTIONS = {
    "polynomial": (lambda t: 2 - 3 * t + t**3 / 4, lambda t: -3 + 0.75 * t**2, lambda t: 1.5 * t),
    "sine": (lambda t: 0.8 * np.sin(3 * t), lambda t: 2.4 * np.cos(3 * t), lambda t: -7.2 * np.sin(3 * t)),
    "exponential": (lambda t: np.exp(-2 * t) + 1, lambda t: -2 * np.exp(-2 * t), lambda t: 4 * np.exp(-2 * t)),
    "quotient": (lambda t: 1 / (1 + t), lambda t: -1 / (1 + t) ** 2, lambda t: 2 / (1 + t) ** 3),
    "root": (lambda t: np.sqrt(1 + t), lambda t: 0.5 / np.sqrt(1 + t), lambda t: -0.25 * (1 + t) ** -1.5),
    "power": (lambda t: 2**t, lambda t: np.log(2) * 2**t, lambda t: np.log(2) ** 2 * 2**t),
    "tanh": (
        lambda t: np.tanh(t),
        lambda t: 1 / np.cosh(t) ** 2,
        lambda t: -2 * np.tanh(t) / np.cosh(t) ** 2,
    ),
    "chain": (
        lambda t: np.sin(t**2) * np.cos(t),
        lambda t: 2 * t * np.cos(t**2) * np.cos(t) - np.sin(t**2) * np.sin(t),
        lambda t: (
            (2 * np.cos(t**2) - 4 * t**2 * np.sin(t**2)) * np.cos(t)
            - 4 * t * np.cos(t**2) * np.sin(t)
            - np.sin(t**2) * np.cos(t)
        ),
    ),
}


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("t", [0.0, 0.3, 1.7])
def test_derivatives_equal_those_by_hand(name, t):
    value, rate, acceleration = FUNCTIONS[name]
    # Taylor arithmetic is exact: round-off of a handful of operations
    assert Signal(value).jet(t) == pytest.approx((value(t), rate(t), acceleration(t)), rel=1e-14, abs=1e-14)


@pytest.mark.parametrize(
    "name", ["sin", "cos", "tan", "exp", "log", "sqrt", "tanh", "sinh", "cosh", "arctan", "square"]
)
def test_numpy_functions_are_differentiated_like_differences(name):
    function, t, step = getattr(np, name), 0.7, 1e-3
    f = [function(t + k * step) for k in range(-2, 3)]
    first = (f[0] - 8 * f[1] + 8 * f[3] - f[4]) / (12 * step)
    second = (-f[0] + 16 * f[1] - 30 * f[2] + 16 * f[3] - f[4]) / (12 * step**2)
    value, d, dd = Signal(lambda t: function(t)).jet(t)
    assert value == pytest.approx(f[2], rel=1e-15)
    assert d == pytest.approx(first, rel=1e-10)  # truncation step⁴/30 · f⁽⁵⁾
    # round-off 1e-16 f/step² and truncation step⁴/90 · f⁽⁶⁾
    assert dd == pytest.approx(second, rel=1e-8, abs=1e-9 * abs(f[2]))


def test_a_constant_is_a_signal_without_derivatives():
    assert Signal.of(2.5).jet(7.0) == (2.5, 0.0, 0.0)
    assert Signal(lambda t: 3).jet(1.0) == (3.0, 0.0, 0.0)


def test_given_derivatives_are_used():
    s = Signal(math.sin, math.cos, lambda t: -math.sin(t))
    assert s.jet(0.4) == (math.sin(0.4), math.cos(0.4), -math.sin(0.4))


def test_functions_that_leave_numpy_are_rejected_with_the_cure():
    with pytest.raises(TypeError, match=r"np\.sin"):
        Signal(lambda t: math.sin(t)).jet(0.0)


def test_what_is_neither_number_nor_function_is_rejected():
    with pytest.raises(TypeError, match="function of time"):
        Signal.of("fast")


def test_ramp_is_smooth_at_both_ends_and_half_way_in_the_middle():
    s = ramp(height=2.0, duration=2.0, start=1.0)
    assert s.jet(0.5) == (0.0, 0.0, 0.0)
    assert s.jet(5.0) == (2.0, 0.0, 0.0)
    assert s.jet(2.0) == pytest.approx((1.0, 1.875, 0.0), abs=1e-14)  # quintic: 15/8 of the mean slope
    for t in (1.0, 3.0):  # value, rate and acceleration go over continuously
        assert s.jet(t - 1e-9) == pytest.approx(s.jet(t + 1e-9), abs=1e-7)  # third derivative 60/T³ · 2 · 1e-9


def test_table_passes_through_its_points_and_has_matching_derivatives():
    times, values = np.linspace(0, 2, 21), np.sin(np.linspace(0, 2, 21))
    s = table(times, values, kind="cubic")
    for t, v in zip(times, values):
        assert s.jet(t)[0] == pytest.approx(v, abs=1e-15)  # interpolation
    step = 1e-4
    for t in (0.33, 1.21):
        assert s.jet(t)[1] == pytest.approx((s(t + step) - s(t - step)) / (2 * step), abs=1e-8)  # step²/6 · s‴
        assert s.jet(t)[2] == pytest.approx((s.jet(t + step)[1] - s.jet(t - step)[1]) / (2 * step), abs=1e-10)  # linear


def test_comparisons_choose_the_branch_by_value():
    s = Signal(lambda t: np.maximum(t - 1, 0) ** 2 if t < 5 else 16 + 0 * t)
    assert s.jet(0.5) == (0.0, 0.0, 0.0) and s.jet(2.0) == (1.0, 2.0, 2.0) and s.jet(6.0) == (16.0, 0.0, 0.0)
    assert abs(Jet(-2.0, 3.0)).d == -3.0


# --- one-sided derivatives --------------------------------------------------------------------------------------------


def after(function, t, step=1e-6):
    """Value, rate and acceleration just after t, by differences of plain numbers."""
    f = [function(t + k * step) for k in (1, 2, 3)]
    return f[0] + (f[0] - f[1]), (f[1] - f[0]) / step, (f[2] - 2 * f[1] + f[0]) / step**2


TIES = {  # function with a kink or a jump at t = 0.2
    "minimum": lambda t: np.minimum(3 * t, 0.6),
    "maximum": lambda t: np.maximum(0.2 - t, 0.0),
    "maximum, other order": lambda t: np.maximum(0.0, 0.2 - t),
    "of the same rate": lambda t: np.maximum(t - 0.2 + (t - 0.2) ** 2, t - 0.2 - (t - 0.2) ** 2),
    "clip": lambda t: np.clip(t, 0.0, 0.2),
    "clip from below": lambda t: np.clip(t, 0.2, 1.0),
    "abs": lambda t: np.abs(0.2 - t),
    "abs of a parabola": lambda t: abs(-((t - 0.2) ** 2)),
    "builtin min": lambda t: min(t, 0.2),
    "builtin max": lambda t: max(t, 0.2),
    "if <": lambda t: 5 * t if t < 0.2 else 1.0 + 2 * (t - 0.2),
    "if <=": lambda t: 5 * t if t <= 0.2 else 1.0 + 2 * (t - 0.2),
    "if >=": lambda t: 1.0 + 2 * (t - 0.2) if t >= 0.2 else 5 * t,
    "if >": lambda t: 1.0 + 2 * (t - 0.2) if t > 0.2 else 5 * t,
    "if ==": lambda t: 7.0 if t == 0.2 else t**2,
    "where": lambda t: np.where(t <= 0.2, t, 0.2 + 3 * (t - 0.2)),
    "where of numbers": lambda t: np.where(t <= 0.2, 0.0, 1.0) * t,
    "piecewise": lambda t: np.piecewise(t, [t < 0.2, t >= 0.2], [lambda t: t**2, lambda t: 0.04 + 5 * (t - 0.2)]),
    "piecewise with a rest": lambda t: np.piecewise(t, [t <= 0.2], [0.0, lambda t: t]),
    "select": lambda t: np.select([t <= 0.2, t <= 0.5], [0 * t, t - 0.2], 1.0),
    "interp": lambda t: np.interp(t, [0.0, 0.2, 1.0], [0.0, 1.0, -1.0]),
    "interp at its end": lambda t: np.interp(t, [0.0, 0.2], [0.0, 1.0]),
    "interp backwards": lambda t: np.interp(0.4 - t, [0.0, 0.2, 1.0], [0.0, 1.0, -1.0]),
    "interp with a period": lambda t: np.interp(t, [0.0, 0.1], [0.0, 1.0], period=0.2),
    "sign": lambda t: np.sign(0.2 - t),
    "heaviside": lambda t: np.heaviside(t - 0.2, 0.5) * t,
    "floor": lambda t: np.floor(5 * t),
    "floor falling": lambda t: np.floor(1 - 5 * t),
    "ceil": lambda t: np.ceil(5 * t),
    "trunc": lambda t: np.trunc(1 - 5 * t),
    "mod": lambda t: t % 0.2,
    "np.mod": lambda t: np.mod(t, 0.2),
    "fmod": lambda t: np.fmod(t, 0.2),
    "floor division": lambda t: t // 0.2 + t,
    "math.floor": lambda t: math.floor(5 * t) + t,
    "hypot": lambda t: np.hypot(3 * (t - 0.2), 4 * (t - 0.2)),
    "arctan2 on its cut": lambda t: np.arctan2(0.2 - t, -1.0),
    "copysign": lambda t: np.copysign(t, t - 0.2),
    "heaviside in two terms": lambda t: np.minimum(t, 0.2) + 2 * np.maximum(t - 0.2, 0.0),
}


@pytest.mark.parametrize("name", TIES)
def test_at_a_tie_the_derivatives_are_those_that_follow_in_time(name):
    function = TIES[name]
    value, rate, acceleration = after(function, 0.2)
    # differences of 1e-6: truncation 1e-6 times the curvature, round-off 1e-16/1e-12 in the second
    assert Signal(function).jet(0.2) == pytest.approx((value, rate, acceleration), rel=1e-5, abs=1e-3)
    for t in (0.07, 0.33):  # away from it
        assert Signal(function).jet(t)[:2] == pytest.approx(after(function, t)[:2], rel=1e-5, abs=1e-5)


def test_the_sum_of_both_sides_of_a_kink_has_one_rate_and_not_three():
    speeds = Signal(lambda t: np.minimum(t, 0.2) + 2 * np.maximum(t - 0.2, 0.0))
    assert [speeds.jet(t)[1] for t in (0.1999, 0.2, 0.2001)] == [1.0, 2.0, 2.0]


def test_a_driver_made_of_minimum_and_maximum_needs_no_more_force_than_its_acceleration():
    mass, speed, duration = 2.0, 1.5, 0.2
    model = fem.Model("start")
    body = model.add(fem.PointMass(mass, name="sledge", fixed=("y", "z")))
    # constant acceleration until 0.2 s, then constant speed; a step of 0.01 s ends there exactly
    motion = lambda t: speed * (np.minimum(t, duration) ** 2 / (2 * duration) + np.maximum(t - duration, 0.0))  # noqa: E731
    model.add(fem.Prescribed(body, x=motion, name="motor"))
    force = fem.DecoupledNSGA().run(model, t_end=0.4, h=0.01)["motor"].force[:, 0]
    # m v/T = 15 N, also where the acceleration jumps: the scheme rings there, by less than the jump, and calms down.
    # Rates of both sides of the kink, added, gave a wrong speed at 0.2 s: 1155 N
    assert np.abs(force).max() < 1.001 * mass * speed / duration
    assert force[5] == pytest.approx(mass * speed / duration, rel=1e-6)
    assert abs(force[-1]) < 0.03 * mass * speed / duration


MORE = ["arcsin", "arccos", "arcsinh", "arctanh", "log2", "log10", "log1p", "expm1", "exp2", "cbrt", "reciprocal"]


@pytest.mark.parametrize("name", [*MORE, "deg2rad", "rad2deg", "radians", "degrees", "fabs", "positive"])
def test_more_numpy_functions_are_differentiated_like_differences(name):
    test_numpy_functions_are_differentiated_like_differences(name)


def test_functions_of_two_arguments_are_differentiated_like_differences():
    cases = [
        lambda t: np.arctan2(np.sin(t), t + 0.3),
        lambda t: np.hypot(t, np.exp(t)),
        lambda t: np.power(t, 2.5) + np.float_power(t, 3),
        lambda t: np.polyval([1.0, -2.0, 3.0, 0.5], t),
        lambda t: t**t,
        lambda t: np.arccosh(1 + t),
        lambda t: np.float64(2.0) * t + np.float64(1.0) / t - np.float64(0.5),
        lambda t: np.sum(np.array([0.3, 0.2, 0.1]) * np.sin(np.array([1.0, 2.0, 5.0]) * t + 0.4)),
        lambda t: np.array([0.3, 0.2]) @ np.cos(np.array([1.0, 2.0]) * t),
    ]
    for function in cases:
        t, step = 0.7, 1e-3
        f = [float(function(t + k * step)) for k in range(-2, 3)]
        first = (f[0] - 8 * f[1] + 8 * f[3] - f[4]) / (12 * step)
        second = (-f[0] + 16 * f[1] - 30 * f[2] + 16 * f[3] - f[4]) / (12 * step**2)
        value, d, dd = Signal(function).jet(t)
        # truncation step⁴/30 f⁽⁵⁾ with f⁽⁵⁾ up to 1e3; round-off 1e-16/step²
        assert (value, d) == pytest.approx((f[2], first), rel=1e-9)
        assert dd == pytest.approx(second, rel=1e-7)


@pytest.mark.parametrize(
    "function, words",
    [
        (lambda t: math.sin(t), r"np\.sin .*fem_mbs\.table.*Signal\(value, rate, acceleration\)"),
        (lambda t: np.sinc(t), r"np\.sinc|Signal\(value, rate, acceleration\)"),
        (lambda t: np.nextafter(t, 1.0), r"np\.nextafter.*Signal\(value, rate, acceleration\)"),
        (lambda t: np.unwrap(t), r"np\.unwrap.*Signal\(value, rate, acceleration\)"),
    ],
)
def test_what_cannot_be_differentiated_is_rejected_with_a_hint_that_fits(function, words):
    with pytest.raises(TypeError, match=words):
        Signal(function).jet(0.5)


def test_a_driver_that_fails_at_the_start_says_where_and_why():
    body = fem.Node6()
    with pytest.raises(fem.ParameterError, match=r"'shaker': x.*ZeroDivisionError at t = 0"):
        fem.Prescribed(body, x=lambda t: 1 / t, name="shaker")


def test_the_acceleration_is_found_from_a_given_rate_and_never_without_one():
    s = Signal(math.sin, lambda t: np.cos(t))
    assert s.jet(0.4) == pytest.approx((math.sin(0.4), math.cos(0.4), -math.sin(0.4)), rel=1e-15)
    with pytest.raises(TypeError, match=r"acceleration.*without rate"):
        Signal(math.sin, acceleration=lambda t: -math.sin(t))
    with pytest.raises(TypeError, match=r"rate.*function.* 3"):
        Signal(math.sin, 3)


def test_signals_are_parts_of_other_signals_with_the_chain_rule():
    inner = Signal(lambda t: t**2, lambda t: 2 * t, lambda t: 2.0)
    s = Signal(lambda t: np.sin(inner(3 * t)) + Signal(2.0)(t) + Signal(np.cos)(t))
    t, u = 0.3, 0.81
    assert s.jet(t) == pytest.approx(
        (
            np.sin(u) + 2 + np.cos(t),
            np.cos(u) * 18 * t - np.sin(t),
            -np.sin(u) * (18 * t) ** 2 + np.cos(u) * 18 - np.cos(t),
        ),
        rel=1e-14,  # round-off
    )


def test_integral_of_any_rate_is_the_angle_of_the_closed_form_forwards_and_backwards():
    speed = Signal(lambda t: 30 + 2 * np.sin(40 * t) * np.exp(-t / 5))
    angle = speed.integral(0.7, at=0.25)

    def closed(t):  # ∫ sin(40 t) exp(−t/5) = −exp(−t/5) (40 cos 40 t + sin(40 t)/5)/(1600 + 1/25)
        return 30 * t - 2 * np.exp(-t / 5) * (40 * np.cos(40 * t) + np.sin(40 * t) / 5) / (1600 + 0.04)

    times = [3.0, 0.1, 0.25, -1.7, 0.25 + 1e-9, 12.345, 0.35, -0.05]
    values = [angle(t) for t in times]
    assert values == pytest.approx([0.7 + closed(t) - closed(0.25) for t in times], abs=1e-10)  # 1e-12 of 370
    assert angle.jet(3.0) == (angle(3.0), speed(3.0), speed.jet(3.0)[1])
    again = speed.integral(0.7, at=0.25)
    assert [again(t) for t in reversed(times)] == values[::-1]  # the order of the calls does not matter
    with_kink = Signal(lambda t: np.minimum(t, 0.2) / 0.2).integral()
    assert with_kink(1.0) == pytest.approx(0.9, abs=1e-12)
    assert with_kink.jet(0.2) == pytest.approx((0.1, 1.0, 0.0), abs=1e-12)


@pytest.mark.parametrize("value", [2.0, lambda t: t])
def test_a_signal_of_several_times_says_that_it_takes_one(value):
    with pytest.raises(TypeError, match="one time, not an array"):
        Signal(value)(np.array([1.0, 2.0]))
    assert Signal(value)(np.float64(2.0)) == 2.0
