"""Stresses under Hertz contacts: field equations, sums over point forces, closed forms, largest values."""

import numpy as np
import pytest
from hertz_contacts import ROUND_OFF, elliptic
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize_scalar

from fem_mbs.hertz.stress import unit_orthogonal_shear, unit_peak, unit_stress


def quadrature(a, b, n=120, turns=400):
    """Points (x, y) and forces of them that make up the pressure √(1 − x²/a² − y²/b²)."""
    nodes, weights = np.polynomial.legendre.leggauss(n)
    # s = sin φ is the scaled radius: pressure cos φ, ds = cos φ dφ
    phi, w = np.pi / 4 * (nodes + 1), np.pi / 4 * weights
    u = 2 * np.pi * np.arange(turns) / turns
    x, y = a * np.outer(np.sin(phi), np.cos(u)), b * np.outer(np.sin(phi), np.sin(u))
    force = a * b * np.outer(w * np.cos(phi) ** 2 * np.sin(phi), np.full(turns, 2 * np.pi / turns))
    return x.ravel(), y.ravel(), force.ravel()


def boussinesq(x, y, z, nu, force):
    """σ_x, σ_y, σ_z, τ_yz at depth z, offset (x, y) from point forces into the half space, summed."""
    r2 = x**2 + y**2
    rho = np.sqrt(r2 + z**2)
    cone = 1 / (rho * (rho + z))  # (1 − z/ρ)/r²
    along = [
        (1 - 2 * nu) * (cone * (u**2 - v**2) / r2 + z * v**2 / (r2 * rho**3)) - 3 * z * u**2 / rho**5
        for u, v in ((x, y), (y, x))
    ]
    terms = [*along, -3 * z**3 / rho**5, -3 * y * z**2 / rho**5]
    return [np.sum(force * term) / (2 * np.pi) for term in terms]


@pytest.mark.parametrize("ratio", [1.0, 0.6, 0.3])
@pytest.mark.parametrize("nu", [0.0, 0.3, 0.5])
@pytest.mark.parametrize("zeta", [0.5, 1.0, 4.0])
def test_stresses_on_the_axis_equal_a_sum_over_point_forces(ratio, nu, zeta):
    x, y, force = quadrature(1 / ratio, 1.0)
    expected = boussinesq(-x, -y, zeta, nu, force)[:3]
    # 120 × 400 points, poles at distance ζ: converged to 1e-10 at ζ = .5, k = .3, where it is worst
    assert unit_stress(ratio, nu, zeta) == pytest.approx(expected, rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("nu", [0.0, 0.3, 0.5])
def test_stresses_under_a_circle_have_their_closed_form(nu):
    zeta = np.array([1e-6, 0.1, 0.5, 1.0, 3.0])
    radial = -(1 + nu) * (1 - zeta * np.arctan(1 / zeta)) + 0.5 / (1 + zeta**2)
    stress = unit_stress(1.0, nu, zeta)
    for component in (stress.x, stress.y):
        assert component == pytest.approx(radial, abs=ROUND_OFF)
    assert stress.z == pytest.approx(-1 / (1 + zeta**2), rel=ROUND_OFF)


@settings(deadline=None, max_examples=60)
@given(st.floats(1e-6, 1.0), st.floats(-0.99, 0.5), st.floats(0.0, 20.0))
def test_surface_and_volume_stresses_obey_the_field_equations(ratio, nu, zeta):
    surface = unit_stress(ratio, nu, 0.0)
    assert surface.z == pytest.approx(-1.0, rel=ROUND_OFF)  # the pressure itself
    expected = -2 * nu - (1 - 2 * nu) * np.array([ratio, 1.0]) / (1 + ratio)
    assert (surface.x, surface.y) == pytest.approx(expected, abs=ROUND_OFF)
    # σ_z does not depend on ν, the sum of all three is (1 + ν) times a function of the place
    one, other = unit_stress(ratio, nu, zeta), unit_stress(ratio, 0.25, zeta)
    assert one.z == other.z
    assert sum(one) / (1 + nu) == pytest.approx(sum(other) / 1.25, rel=1e-9, abs=1e-12)


def test_far_below_the_stresses_are_those_of_a_point_force():
    zeta, nu, ratio = 1e4, 0.3, 0.4
    force = 2 / 3 * np.pi / ratio
    point = force / (2 * np.pi * zeta**2) * np.array([0.5 * (1 - 2 * nu), 0.5 * (1 - 2 * nu), -3.0])
    # next terms (a/z)² = 6e-8, over a factor 1/10 of cancellation
    assert unit_stress(ratio, nu, zeta) == pytest.approx(point, rel=3e-6)


# ν = .3: k, τ_max/p0, its depth/b, τ_oct/p0, its depth/b; section 2.2, found there by quadrature
PEAKS = [
    (1.0, 0.3100, 0.4809, 0.2923, 0.4809),
    (0.8, 0.3165, 0.5342, 0.2918, 0.5325),
    (0.6, 0.3221, 0.5962, 0.2898, 0.5909),
    (0.5, 0.3241, 0.6306, 0.2879, 0.6217),
    (0.4, 0.3252, 0.6669, 0.2852, 0.6525),
    (0.3, 0.3246, 0.7043, 0.2814, 0.6813),
    (0.2, 0.3215, 0.7405, 0.2763, 0.7050),
    (0.1, 0.3144, 0.7710, 0.2697, 0.7170),
    (0.05, 0.3085, 0.7815, 0.2660, 0.7148),
    (0.02126, 0.3042, 0.7851, 0.2640, 0.7099),
    (0.0, 0.3003, 0.7862, 0.2628, 0.7043),
]


@pytest.mark.parametrize("ratio, shear, depth, octahedral, depth_octahedral", PEAKS)
def test_largest_stresses_equal_those_of_the_sheet(ratio, shear, depth, octahedral, depth_octahedral):
    digits = 6e-5  # four decimals
    assert unit_peak(ratio, 0.3, "shear") == pytest.approx((shear, depth), abs=digits)
    assert unit_peak(ratio, 0.3, "octahedral") == pytest.approx((octahedral, depth_octahedral), abs=digits)


@settings(deadline=None, max_examples=40)
@given(st.one_of(st.just(0.0), st.floats(1e-4, 1.0)), st.floats(-0.99, 0.5), st.sampled_from(["shear", "octahedral"]))
def test_no_point_of_the_axis_has_more_than_the_largest_stress(ratio, nu, quantity):
    peak = unit_peak(ratio, nu, quantity)
    values = getattr(unit_stress(ratio, nu, np.geomspace(1e-3, 30, 997)), quantity)
    assert values.max() <= peak.value * (1 + 1e-14)
    assert peak.depth < 0.8  # so that the search over three half widths is enough
    at_peak = getattr(unit_stress(ratio, nu, peak.depth), quantity)
    assert at_peak == pytest.approx(peak.value, rel=1e-14)


def test_slender_contacts_of_a_material_with_small_nu_shear_most_on_the_surface():
    # line, ν = 0: σ = (0, −1, −1) p0 on the surface, half the difference is .5 > .3003
    assert unit_peak(0.0, 0.0, "shear") == (0.5, 0.0)
    assert unit_peak(0.0, 0.3, "shear").depth > 0.7


def orthogonal(along, across, root, theta):
    """Shear (6) of the header of hertz_stress for p0 = 1, and the depth; root = √λ."""
    s, c = np.sin(theta), np.cos(theta)
    shear = along * across * root * s**2 * c / (np.sqrt(across**2 + root**2) * (root**2 + (along * s) ** 2))
    return shear, root * s


@pytest.mark.parametrize("ratio", [0.0, 0.05, 0.3, 1.0, 4.0])
def test_orthogonal_shear_is_the_maximum_over_the_plane(ratio):
    across = 1e9 if ratio == 0 else 1 / ratio
    root, theta = np.meshgrid(np.linspace(0.01, 2, 1500), np.linspace(0.01, 1.57, 1500))
    shear, depth = orthogonal(1.0, across, root, theta)
    best = np.argmax(shear)
    peak = unit_orthogonal_shear(ratio)
    assert shear.flat[best] == pytest.approx(peak.value, rel=2e-6)  # grid of 1.3e-3, squared
    assert depth.flat[best] == pytest.approx(peak.depth, abs=3e-3)


def test_orthogonal_shear_is_found_in_the_sum_over_point_forces():
    ratio = 0.4
    x, y, force = quadrature(1 / ratio, 1.0)
    peak = unit_orthogonal_shear(ratio)

    def largest(z):
        return -minimize_scalar(
            lambda ahead: boussinesq(-x, ahead - y, z, 0.3, force)[3], bounds=(0.5, 1.3), method="bounded"
        ).fun

    assert largest(peak.depth) == pytest.approx(peak.value, rel=1e-8)  # a maximum is flat: 1e-5² of the search
    assert max(largest(0.9 * peak.depth), largest(1.1 * peak.depth)) < peak.value


def test_spinning_moment_is_the_sum_of_friction_times_distance():
    contact, force = elliptic()
    (a, b), p0 = contact.semi_axes(force), contact.maximum_pressure(force)
    x, y, weight = quadrature(a, b)
    # the integrand is smooth in the variables of the quadrature
    assert contact.spinning_radius(force) * force == pytest.approx(p0 * np.sum(weight * np.hypot(x, y)), rel=1e-10)
