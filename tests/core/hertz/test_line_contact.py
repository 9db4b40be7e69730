"""Line contact: closed forms, the limit of slender ellipses, indentation to a depth, steepness, bad input."""

import numpy as np
import pytest
from hertz_contacts import ROUND_OFF, STEEL, thesis_bearing
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import quad

from fem_mbs.errors import ParameterError
from fem_mbs.hertz import HertzContact, LineContact, palmgren_indentation
from fem_mbs.hertz.stress import unit_stress


def test_line_contact_of_the_sheet():
    """Section 2.3: w = 1e5 N/m, R' = 5 mm: b = 74.28 µm, p0 = 857.07 MPa; τ .3003 p0 at .786 b."""
    line = LineContact(0.01, 0.01, length=0.02, **STEEL)
    force = 2000.0
    assert line.half_width(force) == pytest.approx(74.28e-6, rel=1e-4)
    assert line.maximum_pressure(force) == pytest.approx(857.07e6, rel=1e-5)
    shear, orthogonal = line.maximum_shear(force), line.orthogonal_shear(force)
    assert (shear.value / 857.07e6, shear.depth / 74.28e-6) == pytest.approx((0.3003, 0.7862), rel=3e-4)
    assert orthogonal.value == 0.25 * line.maximum_pressure(force)
    assert orthogonal.depth == 0.5 * line.half_width(force)


@pytest.mark.parametrize("flatness", [1e4, 1e6, 1e8])
def test_slender_ellipses_tend_to_the_line(flatness):
    R = 0.01
    point = HertzContact((flatness * R, R), np.inf, **STEEL)
    force = 100.0
    (_, b), p0 = point.semi_axes(force), point.maximum_pressure(force)
    # a line with the load per length of the middle, ∫ p dy = π b p0/2
    line = LineContact(R, np.inf, length=1.0, **STEEL)
    load = np.pi / 2 * b * p0
    k = point.axis_ratio
    close = 2 * k**2 * np.log(4 / k)  # E_e = 1 + k² (2 ln(4/k) − 1)/4 + … and the curvature along the line
    assert line.half_width(load) == pytest.approx(b, rel=close)
    assert line.maximum_pressure(load) == pytest.approx(p0, rel=close)
    depth = b * np.array([0.0, 0.3, 1.0, 2.0])
    difference = [i / p0 - j / p0 for i, j in zip(point.stress(force, depth), line.stress(load, depth))]
    assert np.abs(difference).max() < 3 * k  # σ_x on the surface differs by (1 − 2ν) k, below by up to 2 k (measured)


def test_indentation_of_a_solid_cylinder_is_the_strain_up_to_its_axis():
    """Stress of the Hertz pressure, of the reaction opposite and the tension that frees the circumference."""
    R, E, nu, b = 0.01, 210e9, 0.3, 1e-5
    line = LineContact(R, np.inf, length=1.0, E=(E, np.inf), nu=nu)
    w = b**2 * np.pi / (4 * line.radius * line.compliance)
    p0 = 2 * w / (np.pi * b)

    def strain(z):
        across, normal = p0 * np.array(unit_stress(0.0, nu, z / b)[1:])
        across += w / (np.pi * R)
        normal += w / (np.pi * R) - 2 * w / (np.pi * (2 * R - z))
        return (1 + nu) / E * ((1 - nu) * normal - nu * across)

    shortening = -sum(quad(strain, i, j, epsrel=1e-12)[0] for i, j in ((0, b), (b, 30 * b), (30 * b, R)))
    assert line.indentation(w) == pytest.approx(shortening, rel=1e-6)  # next term (b/R)² = 1e-6 over ln ≈ 15


def test_indentation_to_a_depth_of_a_half_space_is_the_strain_up_to_there():
    E, nu, b, depth = 210e9, 0.3, 1e-5, 0.02
    line = LineContact(0.01, np.inf, length=1.0, E=(np.inf, E), nu=nu, reference_depth=(np.nan, depth))
    w = b**2 * np.pi / (4 * line.radius * line.compliance)

    def strain(z):
        stress = line.stress(w, z, body=2)
        return (1 + nu) / E * ((1 - nu) * stress.z - nu * stress.y)

    shortening = -sum(quad(strain, i, j, epsrel=1e-12)[0] for i, j in ((0, b), (b, 30 * b), (30 * b, depth)))
    assert line.indentation(w) == pytest.approx(shortening, rel=1e-6)  # next term (b/depth)²


def test_nearly_conforming_cylinders_have_the_approach_known_from_clearance_joints():
    R, clearance, w = 0.01, 2e-5, 2e3
    line = LineContact(R, -(R + clearance), length=1.0, **STEEL)
    s = line.compliance
    # R1 = R2 in the logarithms: ΔR/R = 2e-3, over a logarithm of 4.5
    assert line.indentation(w) == pytest.approx(w * s / np.pi * (np.log(4 * np.pi * clearance / (w * s)) - 1), rel=1e-3)


def test_logarithmic_indentation_and_the_fit_for_rollers_are_of_one_size():
    # the fit does not use the radii; between rollers of 10 to 40 mm on races the law is 4 to 31 % above (measured)
    for length in (0.005, 0.01, 0.02):
        for radii in ((0.005, 0.03), (0.01, 0.06), (0.02, -0.1)):
            law = LineContact(*radii, length=length, E=207e9, nu=0.3).indentation(2e5 * length)
            assert 1.0 < law / palmgren_indentation(2e5 * length, length) < 1.35


@settings(deadline=None, max_examples=60)
@given(st.floats(-9, 5), st.floats(-9, 5))
def test_force_of_a_line_contact_is_the_inverse_of_its_indentation(one, two):
    line = LineContact(0.02, -0.05, length=0.01, E=(210e9, 100e9), nu=(0.3, 0.2))
    low, high = sorted((10**one, 10**two))
    assert line.indentation(low) <= line.indentation(high)
    # ln w to 1e-15 of Λ ≈ 25, over its slope
    assert line.force(line.indentation([low, high])) == pytest.approx([low, high], rel=1e-12)
    assert np.array_equal(line.force([0.0, -1e-6]), [0.0, 0.0]) and line.indentation(0.0) == 0.0


def test_steepness_reports_conforming_bodies():
    # journal of 10 mm, clearance 50 µm, 1e5 N/m: b/R = .149 in section 2.3 (E = 210 GPa; three digits)
    assert LineContact(0.01, -0.01005, length=1.0, **STEEL).steepness(1e5) == pytest.approx(0.149, abs=6e-4)
    contact, force = thesis_bearing(), 100.0
    assert contact.steepness(force) == pytest.approx(contact.semi_axes(force)[0] / 0.00396875, rel=ROUND_OFF)
    turned = HertzContact((0.01, 0.02), (-0.05, 0.03), angle=np.pi / 2, **STEEL)
    aligned = HertzContact((0.01, 0.02), (0.03, -0.05), **STEEL)
    assert turned.steepness(force) == pytest.approx(aligned.steepness(force), rel=ROUND_OFF)


def curvature_matrix(curvatures, angle):
    """Second derivatives (2, 2) of a surface in the principal axes of the first body."""
    c, s = np.cos(angle), np.sin(angle)
    turn = np.array([[c, -s], [s, c]])
    return turn @ np.diag(curvatures) @ turn.T


@pytest.mark.parametrize("angle", [-1.2, -0.5, 0.3, np.pi / 6, 1.1])
def test_steepness_of_oblique_bodies_is_the_slope_of_their_surfaces_at_the_ends_of_the_ellipse(angle):
    radii = (0.05, 0.1), (0.01, -0.2)  # the second body is the steeper one
    contact, force = HertzContact(*radii, angle=angle, **STEEL), 100.0
    surfaces = curvature_matrix(1 / np.array(radii[0]), 0.0), curvature_matrix(1 / np.array(radii[1]), angle)
    # the long axis of the ellipse lies along the smaller principal curvature of the gap
    _, axes = np.linalg.eigh(surfaces[0] + surfaces[1])
    slopes = [size * max(abs(e @ H @ e) for H in surfaces) for size, e in zip(contact.semi_axes(force), axes.T)]
    assert contact.steepness(force) == pytest.approx(max(slopes), rel=1e-12)  # round-off


@pytest.mark.parametrize(
    "radii, change, message",
    [
        ((0.0, 1.0), {}, r"radius_1 = 0\.0 m.*not be 0"),
        ((1.0, -0.9), {}, r"radii = \(1.0, -0.9\) m: 1/R1 \+ 1/R2.*> 0"),
        ((np.inf, np.inf), {}, "must be > 0"),
        ((1.0, 1.0), {"length": 0.0}, "length = 0.0 m.*> 0"),
        ((1.0, 1.0), {"E": -1.0}, "E = -1.0 Pa.*> 0"),
        ((1.0, 1.0), {"reference_depth": (0.1, 0.0)}, "reference_depth = .*finite"),
    ],
)
def test_impossible_line_contacts_are_rejected(radii, change, message):
    with pytest.raises(ParameterError, match=message):
        LineContact(*radii, **{**STEEL, "length": 0.1, **change})


def test_indentation_into_a_plane_asks_for_the_depth_of_its_reference():
    line = LineContact(0.01, np.inf, length=0.1, **STEEL)
    with pytest.raises(ParameterError, match=r"reference_depth = .*plane.*depth"):
        line.indentation(1.0)
    with pytest.raises(ParameterError, match=r"indentation = .*as wide as"):
        LineContact(0.01, 0.01, length=0.1, **STEEL).force(1.0)
