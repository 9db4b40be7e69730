"""Geometry of ball bearings: curvatures, clearance, presets with their sources, frequencies, bad numbers."""

from dataclasses import replace

import numpy as np
import pytest

from fem_mbs.bearings.geometry import PRESETS, BearingGeometry, clearance_class
from fem_mbs.errors import ParameterError
from fem_mbs.hertz import HertzContact

DEEP = {"balls": 9, "ball_diameter": 7.938e-3, "pitch_diameter": 39.04e-3}


@pytest.mark.parametrize(
    "name, K_i, K_o, K_n, A, R_gi, R_go",
    [  # independent program, six digits (lengths: four decimals of mm)
        ("6204", 2.51744e10, 2.35387e10, 8.60324e9, 0.3969e-3, 16.9088e-3, 16.5119e-3),
        ("6205", 2.53221e10, 2.34382e10, 8.60897e9, 0.3969e-3, 19.6788e-3, 19.2819e-3),
        ("6305", 3.01516e10, 2.84288e10, 1.03482e10, 0.5750e-3, 21.9800e-3, 21.4050e-3),
    ],
)
def test_contact_stiffness_and_groove_circles_of_the_presets(name, K_i, K_o, K_n, A, R_gi, R_go):
    bearing = BearingGeometry.from_designation(name, clearance=0.0)
    assert bearing.inner.stiffness == pytest.approx(K_i, rel=3e-6)  # digits of the source
    assert bearing.outer.stiffness == pytest.approx(K_o, rel=3e-6)
    assert bearing.stiffness == pytest.approx(K_n, rel=3e-6)
    lengths = (bearing.groove_distance, bearing.groove_circle_inner, bearing.groove_circle_outer)
    assert lengths == pytest.approx((A, R_gi, R_go), abs=6e-8)  # half a unit of the last digit, and a bit


def test_contacts_are_those_of_a_ball_in_a_groove_with_the_radii_of_the_races():
    D, d_m, f_i, f_o, angle = 8e-3, 40e-3, 0.515, 0.525, np.radians(30)
    bearing = BearingGeometry(9, D, d_m, f_i, f_o, contact_angle=angle)
    # radius of the race along the rolling direction: from the contact to the axis, along the normal
    inner = (d_m / 2 - D / 2 * np.cos(angle)) / np.cos(angle)
    outer = (d_m / 2 + D / 2 * np.cos(angle)) / np.cos(angle)
    for made, groove, race in ((bearing.inner, f_i * D, inner), (bearing.outer, f_o * D, -outer)):
        expected = HertzContact(D / 2, (-groove, race), E=206e9, nu=0.3)
        assert made.stiffness == pytest.approx(expected.stiffness, rel=1e-12)  # round-off


def test_clearance_is_the_play_of_one_ring_from_stop_to_stop():
    """A ball at the top touches both grooves when the inner ring has gone up by half the diametral clearance."""
    for clearance in (0.0, 13e-6, -4e-6):
        bearing = BearingGeometry(**DEEP, clearance=clearance)
        apart = bearing.groove_circle_inner - bearing.groove_circle_outer
        assert apart + clearance / 2 == pytest.approx(bearing.groove_distance, rel=1e-12)


def test_contact_angle_and_clearance_are_one_quantity():
    angular = BearingGeometry(**DEEP, contact_angle=np.radians(25))
    deep = BearingGeometry(**DEEP, clearance=angular.clearance)
    assert np.degrees(deep.free_angle) == pytest.approx(25, rel=1e-12)
    assert (deep.groove_circle_inner, deep.groove_circle_outer) == (
        angular.groove_circle_inner, angular.groove_circle_outer,
    )  # fmt: skip
    # … but displacements are counted from touching under thrust, and from the middle of the axial play
    assert angular.axial_offset == pytest.approx(angular.groove_distance * np.sin(np.radians(25)), rel=1e-12)
    assert deep.axial_offset == 0.0


def test_a_bearing_can_be_changed_one_number_at_a_time():
    angular = BearingGeometry(**DEEP, contact_angle=np.radians(25))
    softer = replace(angular, E=103e9)
    assert softer.clearance == angular.clearance and softer.stiffness == pytest.approx(angular.stiffness / 2)
    steeper = replace(angular, contact_angle=np.radians(30), clearance=None)
    assert np.degrees(steeper.free_angle) == pytest.approx(30)
    with pytest.raises(ParameterError, match=r"contact_angle = .*clearance"):
        replace(angular, contact_angle=np.radians(30))
    deep = replace(BearingGeometry.from_designation("6205"), clearance=1e-6)
    assert deep.clearance == 1e-6 and deep.sources["balls"]


def test_every_number_of_a_preset_has_a_source_and_can_be_replaced():
    for name in PRESETS:
        bearing = BearingGeometry.from_designation(name, osculation_inner=0.515)
        assert bearing.osculation_inner == 0.515 and bearing.sources["osculation_inner"] == "given"
        assert all(len(bearing.sources[parameter]) > 4 for parameter in PRESETS[name])
        assert "ISO 5753" in bearing.sources["clearance"]
        # the mean of bore and outside diameter is the pitch diameter to within the rings' unequal thickness
        assert bearing.pitch_diameter == pytest.approx((bearing.bore + bearing.outside_diameter) / 2, rel=0.02)


def test_clearance_classes_follow_the_bore():
    assert clearance_class("C4", 0.020) == (20e-6, 36e-6)
    assert clearance_class("C4", 0.025) == (23e-6, 41e-6)
    assert BearingGeometry.from_designation("6205", clearance="C3").clearance == pytest.approx(20.5e-6)
    assert BearingGeometry.from_designation("6205", clearance=7e-6).clearance == 7e-6


@pytest.mark.parametrize(
    "name, cage, outer, inner, ball",
    [  # section 5, per turn of the inner ring
        ("6204", 0.38152, 3.05218, 4.94782, 1.99163),
        ("6305", 0.36782, 2.57471, 4.42529, 1.75912),
    ],
)
def test_ball_pass_frequencies(name, cage, outer, inner, ball):
    obtained = BearingGeometry.from_designation(name).pass_frequencies(1.0)
    assert obtained == pytest.approx((cage, outer, inner, ball), abs=6e-6)  # digits of the source


def test_ball_pass_frequencies_published_for_the_6205_of_case_western():
    """Published 0.39828, 3.5848, 5.4152, 4.7135 (2 BSF); the cage differs by 3e-5 from its own geometry."""
    bearing = BearingGeometry(9, 0.3126 * 0.0254, 1.537 * 0.0254)
    cage, outer, inner, ball = bearing.pass_frequencies(1.0)
    assert (outer, inner, 2 * ball) == pytest.approx((3.5848, 5.4152, 4.7135), abs=1e-4)  # rounding of the source
    assert cage == pytest.approx(0.39828, abs=1e-4)


def test_frequencies_depend_on_the_difference_of_the_speeds_only_but_for_the_cage():
    bearing = BearingGeometry.from_designation("6204")
    one, other = bearing.pass_frequencies(30.0), bearing.pass_frequencies(50.0, 20.0)
    assert other[1:] == pytest.approx(one[1:], rel=1e-12)
    assert other.cage == pytest.approx(one.cage + 20.0, rel=1e-12)
    assert bearing.pass_frequencies(7.0, 7.0) == pytest.approx((7.0, 0, 0, 0))  # rings and balls turn as one


@pytest.mark.parametrize(
    "numbers, words",
    [
        ({"balls": 2}, "balls = 2.*whole number"),
        ({"balls": 8.5}, "balls = 8.5"),
        ({"balls": 16}, r"ball_diameter = 0\.007938 m.*16 balls"),
        ({"ball_diameter": -1e-3}, "ball_diameter = -0.001 m.*> 0"),
        ({"pitch_diameter": np.nan}, "pitch_diameter = nan m.*finite"),
        ({"osculation_inner": 0.5}, r"osculation_inner = 0\.5.*\(0\.5, 1\)"),
        ({"contact_angle": 40}, r"contact_angle = 40\.0 rad.*degrees"),
        ({"contact_angle": 0.3, "clearance": 0.0}, "contact_angle = .*clearance"),
        ({"clearance": 10.0}, "clearance = 10.0 m.*below"),
        ({"dynamic_rating": 0.0}, "dynamic_rating = 0.0 N.*> 0"),
        ({"E": -1.0}, r"'front'.*E = -1.0 Pa.*> 0"),
    ],
)
def test_impossible_numbers_are_rejected_by_name(numbers, words):
    with pytest.raises(ParameterError, match=words):
        BearingGeometry(**(DEEP | numbers), name="front")


def test_what_is_not_published_is_rejected_with_a_cure():
    with pytest.raises(ParameterError, match=r"'7204B'.*6204, 6205, 6305"):
        BearingGeometry.from_designation("7204B")
    with pytest.raises(ParameterError, match=r"clearance = 'C9'.*class.*C2, CN"):
        BearingGeometry.from_designation("6204", clearance="C9")
    with pytest.raises(ParameterError, match=r"bore = 0\.1 m: clearance classes"):
        clearance_class("C3", 0.1)
