"""Damage of stress histories: closed forms, mean stress, limits of endurance, many points, bad input."""

import numpy as np
import pytest

import fem_mbs as fem
from fem_mbs.errors import ParameterError

STEEL = fem.SNCurve(250e6, 1e6, 8.0, name="steel")


def sine(amplitude, mean=0.0, cycles=10, samples=40):
    """Whole cycles with their extreme values among the samples."""
    return mean + amplitude * np.sin(2 * np.pi * np.arange(cycles * samples + 1) / samples)


@pytest.mark.parametrize("repeats", [False, True])
def test_constant_amplitude_has_the_damage_of_its_cycles(repeats):
    """Ten cycles from zero to zero."""
    got = fem.damage(sine(300e6), STEEL, repeats=repeats)
    whole = 1e-6 * (300 / 250) ** 8
    # once: 19 half cycles between the extremes, two of half the range at the ends
    expected = 10 * whole if repeats else (19 * 0.5 + 2 * 0.5 * 0.5**8) * whole
    assert got == pytest.approx(expected, rel=1e-12, abs=0)


def test_life_of_the_curve():
    assert STEEL.life(250e6) == pytest.approx(1e6) and STEEL.life(25e6) == pytest.approx(1e14)
    assert STEEL.life([250e6, 500e6]) == pytest.approx([1e6, 1e6 / 2**8])
    assert STEEL.life(0.0) == np.inf
    # S_a = σ_f' (2N)^b with σ_f' = 900 MPa, b = −.1
    coffin = fem.SNCurve(900e6, 0.5, 10.0)
    assert 900e6 * (2 * coffin.life(200e6)) ** -0.1 == pytest.approx(200e6)


def test_parts_of_a_spectrum_add_up():
    """Blocks between zero and a maximum, in the order of growth: each block has its own cycles."""
    amplitudes, counts = (100e6, 200e6, 300e6), (1000, 30, 2)
    history = np.concatenate([np.tile([0.0, 2 * a], n) for a, n in zip(amplitudes, counts)] + [[0.0]])
    expected = sum(n / STEEL.life(a) for a, n in zip(amplitudes, counts))
    assert fem.damage(history, STEEL) == pytest.approx(expected, rel=1e-12, abs=0)
    assert fem.damage(fem.rainflow(history), STEEL) == pytest.approx(expected, rel=1e-12, abs=0)


def test_mean_stress_by_goodman():
    curve = fem.SNCurve(250e6, 1e6, 8.0, ultimate=800e6)
    assert curve.equivalent_amplitude(150e6, 200e6) == pytest.approx(150e6 / (1 - 200 / 800))
    assert curve.life(150e6, 200e6) == pytest.approx(STEEL.life(200e6))
    assert fem.damage(sine(150e6, 200e6), curve, repeats=True) == pytest.approx(10 / STEEL.life(200e6))
    # no credit for compression, no correction without an ultimate strength
    assert fem.damage(sine(150e6, -200e6), curve, repeats=True) == pytest.approx(10 / STEEL.life(150e6))
    assert fem.damage(sine(150e6, 200e6), STEEL, repeats=True) == pytest.approx(10 / STEEL.life(150e6))


def test_a_static_failure_is_none_of_fatigue():
    curve = fem.SNCurve(250e6, 1e6, 8.0, ultimate=800e6, name="weld")
    assert curve.life(399e6, 400e6) > 0
    with pytest.raises(ParameterError, match=r"'weld'.*ultimate = 800000000.0 Pa.*8\.01e\+08 Pa.*static failure"):
        fem.damage(sine(401e6, 400e6), curve, repeats=True)


def test_small_cycles_below_a_limit():
    miner = fem.SNCurve(250e6, 1e6, 8.0, limit=200e6)
    haibach = fem.SNCurve(250e6, 1e6, 8.0, limit=200e6, exponent_below=15)
    assert miner.life(199e6) == np.inf and miner.life(200e6) == pytest.approx(STEEL.life(200e6))
    assert haibach.life(200e6 * (1 - 1e-12)) == pytest.approx(STEEL.life(200e6))  # no jump
    assert haibach.life(100e6) == pytest.approx(STEEL.life(200e6) * 2**15)
    assert fem.damage(sine(150e6), miner, repeats=True) == 0.0


def test_points_of_a_body_are_counted_each_by_itself():
    """Section.stress and stresses of solids come as (k, points, components)."""
    history = np.stack([np.stack([sine(a, m) for m in (0, 50e6)], axis=1) for a in (100e6, 200e6, 0.0)], axis=1)
    got = fem.damage(history, STEEL)
    assert got.shape == (3, 2) and (got[2] == 0).all()
    assert got[1] / got[0] == pytest.approx(2.0**8)


def test_stresses_of_a_bent_beam_go_into_the_damage():
    """A rotating shaft under a fixed moment: bending changes its sign each turn; life by hand from M/W."""
    section = fem.Section.circle(0.02, E=210e9, nu=0.3, density=7850.0)
    angle = 2 * np.pi * np.arange(101) / 20
    point = np.array([[0.02, 0.0], [0.01, 0.0]])
    moment = 2000 * np.column_stack([0 * angle, np.sin(angle), np.cos(angle)])
    stress, _, _ = section.stress(0 * moment, moment, point)
    sigma = 2000 / (np.pi * 0.02**3 / 4)
    got = fem.damage(stress, STEEL, repeats=True)
    assert got == pytest.approx([5 / STEEL.life(sigma), 5 / STEEL.life(0.5 * sigma)], rel=1e-9, abs=0)


@pytest.mark.parametrize(
    "call, words",
    [
        (lambda: fem.SNCurve(0, 1e6, 5), "amplitude = 0.*> 0"),
        (lambda: fem.SNCurve(1e8, -1, 5), "cycles = -1.*> 0"),
        (lambda: fem.SNCurve(1e8, 1e6, 0), "exponent = 0"),
        (lambda: fem.SNCurve(1e8, 1e6, 5, exponent_below=9), "exponent_below = 9.*needs a limit"),
        (lambda: fem.SNCurve(1e8, 1e6, 5, limit=5e8, ultimate=4e8), "ultimate = .*larger than limit"),
        (lambda: fem.SNCurve(1e8, 1e6, 5).life(-1.0), "amplitude = .*half of a range"),
        (lambda: fem.damage([1.0, 2.0], 5.0), "curve = 5.0 must be an SNCurve"),
        (lambda: fem.damage(3.0, STEEL), "history = .*over time"),
        (lambda: fem.damage([1.0, np.inf], STEEL), "not finite"),
    ],
)
def test_bad_input_is_rejected_by_name(call, words):
    with pytest.raises(ParameterError, match=words):
        call()
