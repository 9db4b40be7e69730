"""A pit in a race shows in the spectrum at the frequencies with which balls pass it."""

import dataclasses

import numpy as np
import pytest

import fem_mbs as fem
from fem_mbs.bearings.statics import bearing_at
from fem_mbs.errors import ParameterError

GEOMETRY = fem.BearingGeometry(9, 7.94e-3, 39.04e-3, clearance=10e-6, name="6205")
SHAFT = 30.0  # Hz
LINES = GEOMETRY.pass_frequencies(SHAFT)


def reaction(spall, t):
    """Radial force [N] at an imposed displacement of 20 µm, quasi-static, at times t."""
    forces = []
    for time in t:
        now = spall
        if spall is not None and callable(spall.angle):
            now = dataclasses.replace(spall, angle=spall.angle(time))
        cage = 2 * np.pi * LINES.cage * time
        forces.append(-bearing_at(GEOMETRY, [20e-6, 0, 0], cage_angle=cage, spall=now).force[0])
    return np.array(forces)


def amplitude(values, t, frequency):
    """Amplitude of a line [N], through a Hann window: lines nearer than 4/T disturb each other."""
    window = np.hanning(len(t))
    mean = (values * window).sum() / window.sum()
    return 2 * abs(((values - mean) * window * np.exp(-2j * np.pi * frequency * t)).sum()) / window.sum()


def one_pass(spall, harmonics, n=2000):
    """Amplitudes of harmonics of the outer ball-pass frequency, of a signal that repeats from ball to ball."""
    t = np.arange(n) / n / LINES.outer
    spectrum = np.abs(np.fft.rfft(reaction(spall, t))) / n * 2
    return spectrum[list(harmonics)]


def test_a_sound_bearing_hums_with_the_ball_pass_frequency():
    # independent program; its sampling over seconds gives two digits after the point
    assert one_pass(None, (1, 2, 3, 4)) == pytest.approx([5.79, 1.05, 0.40, 0.14], abs=0.02)


def test_a_pit_in_the_outer_race_rings_at_all_multiples_of_the_ball_pass_frequency():
    amplitudes = one_pass(fem.Spall("outer", 1e-3, depth=3e-6), (1, 2, 3, 4, 5))
    assert amplitudes == pytest.approx([2.99, 7.66, 8.21, 8.31, 8.24], abs=0.03)
    # where no ball is loaded it does nothing
    behind = one_pass(fem.Spall("outer", 1e-3, depth=3e-6, angle=np.pi), (1, 2, 3, 4))
    assert behind == pytest.approx(one_pass(None, (1, 2, 3, 4)), rel=1e-9)


def test_a_pit_in_the_inner_race_has_side_bands_at_the_speed_of_the_shaft():
    turning = fem.Spall("inner", 1e-3, depth=3e-6, angle=lambda t: 2 * np.pi * SHAFT * t)
    t = np.arange(0, 1.0, 1 / 5000)
    force = reaction(turning, t)
    bands = [amplitude(force, t, LINES.inner + k * SHAFT) for k in (-2, -1, 0, 1, 2)]
    assert bands == pytest.approx([1.72, 2.86, 3.34, 2.86, 1.71], abs=0.05)  # 1 s instead of several
    assert amplitude(force, t, SHAFT) == pytest.approx(2.88, abs=0.05)
    assert amplitude(force, t, LINES.inner + 0.5 * SHAFT) < 0.1


@pytest.mark.parametrize("length, flat, outer, inner", [(0.5e-3, 7.88, 6.54, 9.88), (1e-3, 31.6, 26.2, 39.5)])
def test_a_ball_sinks_into_a_pit_as_far_as_its_edges_let_it(length, flat, outer, inner):
    bearing = fem.BearingGeometry(9, 7.938e-3, 39.04e-3)
    drops = [1e6 * fem.Spall(race, length).drop(bearing) for race in ("outer", "inner")]
    # exact circles: the source's radii of the races, 23.5 and 15.55 mm, and its third digit
    assert drops == pytest.approx((outer, inner), rel=3e-3)
    assert drops[0] < flat < drops[1]
    assert fem.Spall("inner", length, depth=1e-6).drop(bearing) == 1e-6  # the bottom


@pytest.mark.parametrize(
    "spall, words",
    [
        (dict(race="cage", length=1e-3), "race = 'cage'.*'outer', 'inner'"),
        (dict(race="inner", length=0.0), r"length = 0\.0 m.*> 0"),
        (dict(race="inner", length=1e-3, depth=-1e-6), "depth = -1e-06 m.*> 0"),
        (dict(race="inner", length=1e-3, angle=np.nan), "angle = nan.*finite"),
        (
            dict(race="inner", length=0.1),
            r"length = 0\.1 m.*0\.01086 m",
        ),
    ],
)
def test_impossible_pits_are_rejected_by_name(spall, words):
    with pytest.raises(ParameterError, match=words):
        bearing_at(GEOMETRY, spall=fem.Spall(**spall))


def test_a_pit_shakes_a_shaft_at_multiples_of_the_ball_pass_frequency():
    """A ring in a bearing with a pit in the load zone: its acceleration has the lines, without the pit hardly."""
    cage = 2 * np.pi * LINES.cage
    lines = {}
    for name, spall in (("pit", fem.Spall("outer", 1e-3, depth=3e-6)), ("sound", None)):
        model = fem.Model("ring")
        ring = fem.RigidBody(2.0, 1e-3, position=[12e-6, 0, 0], fixed=("rx", "ry", "rz"), name="ring")
        model.add(ring, fem.PointForce(ring, [500.0, 0, 0]))
        model.add(
            fem.QuasiStaticBearing(
                model.ground, ring, GEOMETRY, cage_angle=lambda t: cage * t, spall=spall, damping=(600, 600, 0),
                springs=(0, 1e5, 0), name="bearing",
            )
        )  # fmt: skip
        result = fem.DecoupledNSGA(rho_inf=0.8).run(model, t_end=0.25, h=2.5e-5)
        keep = result.t > 0.05
        acceleration = result["ring"].acceleration[keep, 0]
        lines[name] = [amplitude(acceleration, result.t[keep], k * LINES.outer) for k in range(1, 7)]
    assert max(lines["pit"][2:]) > 10 * max(lines["sound"][2:])
