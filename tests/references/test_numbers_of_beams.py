"""Numbers of the cases of beams in motion are limits of two-node elements after Simo and Vu-Quoc, without fem_mbs."""

import falling_cantilever as rod
import numpy as np
import pytest
from simo_vu_quoc_beams import PlanarBeam, SpatialBeam

from fem_mbs.cases import beams_dynamic, classical


def pulse(t):
    """Load of both spaghetti: up to 200 at 2.5 s, back to 0 at 5 s."""
    return max(0.0, min(80 * t, 400 - 80 * t))


@pytest.mark.slow
def test_the_spaghetti_in_a_plane_flies_to_the_given_places():
    def ends(n):
        beam = PlanarBeam(n, 10.0, 1e4, 1e4, 100.0, 1.0, 10.0)
        load = np.array([8, 0, -80]) / 200
        nodes = beam.free(beam.straight([6, 0], [0, 8]), lambda t: pulse(t) * load, (2.5, 5.0, 7.0))
        return nodes[1:][:, [0, -1], :2].reshape(2, 4)

    coarse, fine = ends(20), ends(40)
    limit = fine + (fine - coarse) / 3
    assert limit == pytest.approx(np.array(list(beams_dynamic.PLANE.values())), abs=3e-4)  # fourth order left


@pytest.mark.slow
def test_the_spaghetti_in_space_flies_to_the_given_place():
    def ends(n):
        beam = SpatialBeam(n, 10.0, (1e4, 1e4, 1e4), (500.0, 500.0, 500.0), 10.0)
        load = np.array([0.1, 0, 0, 0, -0.5, -1])
        return beam.free([6, 0, 0], [0, 8, 0], lambda t: pulse(t) * load, (2.5, 5.0, 7.0))[-1][[0, -1]]

    coarse, fine = ends(10), ends(20)
    # of fourth order are left 1.1e-3 m; 20 and 40 elements: 27.2034, 4.5972, −4.6346; 23.0876, 3.2151, 4.2787
    assert fine + (fine - coarse) / 3 == pytest.approx(np.array(classical.SPAGHETTI), abs=1.5e-3)


def test_the_cantilever_falls_to_the_given_place():
    area = np.pi * rod.radius**2
    rotary, G = area * rod.radius**2 / 4, rod.E / (2 * (1 + rod.nu))
    stiffness = rod.E * area, rod.k_s * G * area, rod.E * rotary

    def tip(n):
        beam = PlanarBeam(n, rod.length, *stiffness, rod.density * area, rod.density * rotary)
        course = beam.clamped(beam.straight([0, 0], [rod.length, 0]), lambda t: np.zeros(3), rod.g, 1e-3, 500)
        return course[-1, -1, :2]

    coarse, fine = tip(20), tip(40)
    # 40 and 80 elements: 0.41823, −0.81947
    assert fine + (fine - coarse) / 3 == pytest.approx(rod.REFERENCE, abs=6e-5)


def largest_lag(beam, angle, n, h):
    """Of the tip of a beam that is turned at its end, up to 7 s [m], and its time [s]."""
    beam = beam(n)
    start = beam.straight([0, 0], [beam.length, 0])
    tip = beam.clamped(start, lambda t: np.array([0, 0, angle(t)]), 0.0, h, round(7 / h))[:, -1]
    turned = angle(h * np.arange(len(tip)))
    lag = np.cos(turned) * tip[:, 1] - np.sin(turned) * tip[:, 0]
    return np.array([lag.min(), h * lag.argmin()])


def limit_of_lag(beam, angle):
    """In mesh and step, both of second order; its time is one of the finest steps."""
    coarse, middle, fine = (largest_lag(beam, angle, *case) for case in ((10, 5e-3), (20, 5e-3), (20, 2.5e-3)))
    return fine[0] + (fine[0] - middle[0]) / 3 + (middle[0] - coarse[0]) / 3, fine[1]


def test_the_beam_that_is_spun_up_lags_by_the_given_distance():
    distance, time = limit_of_lag(lambda n: PlanarBeam(n, 10.0, 2.8e7, 1e7, 1.4e4, 1.2, 6e-4), classical.spin_up_angle)
    known, when = classical.SPIN_UP
    assert distance == pytest.approx(known, abs=5e-5)
    assert time == pytest.approx(when, abs=5e-3)


@pytest.mark.parametrize("speed", [4.0, 6.0])
def test_rods_that_are_spun_up_lag_by_the_given_distance(speed):
    b = beams_dynamic
    stiffness = b.YOUNG * b.AREA, b.YOUNG * b.AREA, b.YOUNG * b.INERTIA  # shear: 2e-6 of the deflection

    def rods(n):
        return PlanarBeam(n, b.LENGTH, *stiffness, b.DENSITY * b.AREA, b.DENSITY * b.INERTIA)

    distance, time = limit_of_lag(rods, lambda t: b.spun_angle(t, speed))
    known, when = b.LAGS[speed]
    assert distance == pytest.approx(known, abs=1e-4)
    assert time == pytest.approx(when, abs=1e-2)
