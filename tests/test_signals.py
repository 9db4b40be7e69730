"""Functions of time: derivatives are exact, and what cannot be differentiated says so."""

import math

import numpy as np
import pytest

from fem_mbs.signals import Jet, Signal, ramp, table

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
    assert dd == pytest.approx(second, rel=1e-8)  # round-off 1e-16/step² and truncation step⁴/90 · f⁽⁶⁾


def test_a_constant_is_a_signal_without_derivatives():
    assert Signal.of(2.5).jet(7.0) == (2.5, 0.0, 0.0)
    assert Signal(lambda t: 3).jet(1.0) == (3.0, 0.0, 0.0)


def test_given_derivatives_are_used():
    s = Signal(math.sin, math.cos, lambda t: -math.sin(t))
    assert s.jet(0.4) == (math.sin(0.4), math.cos(0.4), -math.sin(0.4))


def test_functions_that_leave_numpy_are_refused_with_the_cure():
    with pytest.raises(TypeError, match=r"np\.sin"):
        Signal(lambda t: math.sin(t)).jet(0.0)


def test_what_is_neither_number_nor_function_is_refused():
    with pytest.raises(TypeError, match="function of time"):
        Signal.of("fast")


def test_ramp_is_smooth_at_both_ends_and_half_way_in_the_middle():
    s = ramp(1.0, 3.0, height=2.0)
    assert s.jet(0.5) == (0.0, 0.0, 0.0)
    assert s.jet(5.0) == (2.0, 0.0, 0.0)
    assert s.jet(2.0) == pytest.approx((1.0, 1.875, 0.0), abs=1e-14)  # quintic: 15/8 of the mean slope
    for t in (1.0, 3.0):  # value, rate and acceleration go over continuously
        assert s.jet(t - 1e-9) == pytest.approx(s.jet(t + 1e-9), abs=1e-7)  # third derivative 60/T³ · 2 · 1e-9


def test_table_passes_through_its_points_and_has_matching_derivatives():
    times, values = np.linspace(0, 2, 21), np.sin(np.linspace(0, 2, 21))
    s = table(times, values)
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
