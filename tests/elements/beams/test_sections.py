"""Cross-sections: numbers of standard shapes, errors, shifts, stresses."""

import numpy as np
import pytest

from fem_mbs.elements.beams.sections import Section, rectangle_torsion
from fem_mbs.errors import ParameterError

STEEL = dict(E=210e9, nu=0.3, density=7850)


def stiffness(section):
    return np.diag(1 / np.diag(section.flexibility))


@pytest.mark.parametrize("ratio, constant", [(1, 0.1405770), (2, 0.2286817), (10, 0.3123250)])
def test_torsion_constant_of_rectangles_has_the_digits_of_the_series(ratio, constant):
    # Timoshenko & Goodier §109; seven digits of the series
    assert rectangle_torsion(ratio, 1)[0] / ratio == pytest.approx(constant, abs=1e-7)
    assert rectangle_torsion(1, ratio) == rectangle_torsion(ratio, 1)


def test_largest_torsion_stress_of_a_thin_strip_is_three_moments_over_b_h_squared():
    _, modulus = rectangle_torsion(1000, 1)
    assert modulus == pytest.approx(1000 / 3, rel=1e-3)  # 0.63 h/b = 6e-4 is the effect of the ends


def test_full_circle():
    section = Section.circle(0.01, **STEEL)
    area, inertia, G = np.pi * 1e-4, np.pi / 4 * 1e-8, 210e9 / 2.6
    k = 6 * 1.3 / (7 + 1.8)  # Cowper
    assert 1 / np.diag(section.flexibility) == pytest.approx(
        [210e9 * area, k * G * area, k * G * area, 2 * G * inertia, 210e9 * inertia, 210e9 * inertia], rel=1e-14
    )
    assert section.mass_per_length == pytest.approx(7850 * area)
    assert np.diag(section.inertia_per_length) == pytest.approx(7850 * inertia * np.array([2, 1, 1]))


def test_tube_tends_to_the_full_circle_and_to_the_thin_ring():
    full, nearly_full = Section.circle(0.01, **STEEL), Section.tube(0.01, 1e-6, **STEEL)
    assert np.diag(nearly_full.flexibility) == pytest.approx(np.diag(full.flexibility), rel=1e-6)  # (r_i/r_o)² = 1e-8
    thin = Section.tube(0.01, 0.00999, **STEEL)
    area = np.pi * (0.01**2 - 0.00999**2)
    # Cowper, thin: 2(1 + ν)/(4 + 3ν); the wall is 1e-3 of the radius
    assert 1 / thin.flexibility[1, 1] == pytest.approx(2 * 1.3 / 4.9 * 210e9 / 2.6 * area, rel=1e-5)


def test_rectangle_has_its_larger_stiffness_about_the_axis_across_its_height():
    flat = Section.rectangle(0.03, 0.01, **STEEL)  # wide along e₂
    EI2, EI3 = 1 / flat.flexibility[4, 4], 1 / flat.flexibility[5, 5]
    assert EI2 == pytest.approx(210e9 * 0.03 * 0.01**3 / 12)
    assert EI3 == pytest.approx(9 * EI2)


def test_ellipse_with_equal_axes_is_the_circle():
    a, b = Section.ellipse(0.01, 0.01, **STEEL), Section.circle(0.01, **STEEL)
    assert a.flexibility == pytest.approx(b.flexibility, rel=1e-12)
    assert a.torsion_modulus == pytest.approx(b.torsion_modulus)


def test_infinite_shear_stiffness_means_zero_flexibility():
    section = Section.general(EA=1e4, GJ=1, EI2=1, EI3=1)
    assert np.diag(section.flexibility) == pytest.approx([1e-4, 0, 0, 1, 1, 1])


def test_shifted_section_bends_under_a_force_on_the_line():
    d2, d3 = 0.02, -0.05
    section = Section.general(EA=2e4, GA2=1e4, GA3=3e4, GJ=5, EI2=7, EI3=11)
    F = section.shifted(d2, d3).flexibility
    N = 3.0
    strain = F @ [N, 0, 0, 0, 0, 0]
    # a force on the line acts on the centre with the moments −d × n: κ₂ = −d₃ N/EI₂, κ₃ = +d₂ N/EI₃
    assert strain[4:] == pytest.approx([-d3 * N / 7, d2 * N / 11])
    # and the line is stretched by the fibre strain Γ₁ − κ₂ d₃ + κ₃ d₂ of its place
    assert strain[0] == pytest.approx(N / 2e4 + d3**2 * N / 7 + d2**2 * N / 11)
    back = section.shifted(d2, d3).shifted(-d2, -d3)
    assert back.flexibility == pytest.approx(section.flexibility, abs=1e-14)


def test_stresses_of_a_rectangle_in_bending_tension_and_torsion():
    b, h = 0.02, 0.06
    section = Section.rectangle(b, h, **STEEL)
    normal, shear, equivalent = section.stress([1200.0, 0, 0], [5.0, 30.0, 0.0])
    # corners: N/A ± M₂ (h/2)/I₂ = 1 ± 2.5 MPa
    assert sorted(normal) == pytest.approx([-1.5e6, -1.5e6, 3.5e6, 3.5e6])
    assert shear == pytest.approx(5.0 / rectangle_torsion(b, h)[1])
    assert equivalent.max() == pytest.approx(np.sqrt(3.5e6**2 + 3 * shear**2))
    # forces of a whole history at once
    assert section.stress(np.zeros((7, 3)), np.zeros((7, 3)))[0].shape == (7, 4)


def test_stress_of_a_shifted_section_is_that_of_its_centre():
    section = Section.rectangle(0.02, 0.06, **STEEL)
    normal, _, _ = section.shifted(0.1, 0.2).stress([1000.0, 0, 0], [0, 1000 * 0.2, -1000 * 0.1])
    # this force on the line with this moment is a pure tension through the centre
    assert normal == pytest.approx(1000 / (0.02 * 0.06) * np.ones(4))


@pytest.mark.parametrize(
    "make, message",
    [
        (lambda: Section.circle(-0.01, **STEEL), "radius = -0.01 m.*> 0"),
        (lambda: Section.circle(0.01, E=0), r"E = 0.0 N/m² must be > 0"),
        (lambda: Section.circle(0.01, E=1, nu=0.6), r"nu = 0\.6.*at most 0\.5"),
        (lambda: Section.circle(0.01, E=1, density=-1), "density = -1.0 kg/m³.*≥ 0"),
        (lambda: Section.circle(0.01, E=1, shear_coefficient=0), "shear_coefficient = 0.*> 0"),
        (lambda: Section.tube(0.01, 0.02, E=1), r"radius_inner = 0\.02 m.*below.*outer"),
        (lambda: Section.general(EA=1, GJ=1, EI2=-1, EI3=1, name="rail"), r"Section 'rail': EI2 = -1.0 N m²"),
        (lambda: Section(stiffness=np.ones((6, 6))), r"stiffness .* positive definite"),
        (lambda: Section(stiffness=np.triu(np.ones((6, 6)))), r"stiffness .* not symmetric"),
        (lambda: Section(flexibility=[1, 0, 0, 1, 1, 0]), "flexibility .*definite"),
        (lambda: Section(), r"stiffness = .*stiffness and flexibility"),
        (lambda: Section(stiffness=np.ones(6), inertia_per_length=[-1, 1, 1]), r"inertia_per_length .* negative"),
        (lambda: Section(stiffness=np.ones(6)).stress([0, 0, 0], [0, 0, 0]), "area .*stresses"),
    ],
)
def test_impossible_sections_are_rejected_with_the_name_of_the_parameter(make, message):
    with pytest.raises(ParameterError, match=message):
        make()
