"""Steady rotation and momentum of bodies from meshes: solids and superelements compared with beams and closed forms."""

import numpy as np
import pytest

import fem_mbs as fem

TITANIUM = fem.SolidMaterial(E=110e9, nu=0.34, density=4430)
ROOT, LENGTH, THICK, WIDE = 0.05, 0.3, 0.004, 0.04  # m; a blade along x, thin along y


def spinning(model, speed):
    """First two frequencies [Hz] about the equilibrium of a rotation about z at ``speed`` [rad/s]."""
    turning = fem.static_equilibrium(model, rotation=[0.0, 0.0, speed])
    assert turning.stable
    return fem.modes(model, 2, about=turning).frequency


def of_solid(speed):
    body = fem.SolidBody(
        fem.block_mesh([LENGTH, THICK, WIDE], [12, 1, 2]), TITANIUM, position=[ROOT, -THICK / 2, -WIDE / 2]
    )
    body.fix("x0")
    model = fem.Model("blade of solids")
    model.add(body)
    return spinning(model, speed)


def of_beams(speed):
    section = fem.Section.rectangle(THICK, WIDE, E=110e9, nu=0.34, density=4430)
    model = fem.Model("blade of beams")
    model.add(fem.beam_line(fem.Node6([ROOT, 0, 0], fixed=True), fem.Node6([ROOT + LENGTH, 0, 0]), 12, section))
    return spinning(model, speed)


def of_superelements(speed, count):
    model = fem.Model("blade of superelements")
    mesh = fem.block_mesh([LENGTH / count, THICK, WIDE], [12 // count, 1, 2])
    part = fem.reduce_mesh(mesh, TITANIUM, {"in": "x0", "out": "x1"}, modes=6, stiffening=("in", "out"))
    before = model.ground
    for k in range(count):
        x = ROOT + k * LENGTH / count
        link = fem.Superelement(part, position=[x, -THICK / 2, -WIDE / 2], name=f"part {k}")
        model.add(link, fem.Fixed.at(before, link.frame("in"), [x, 0, 0]))
        before = link.frame("out")
    return spinning(model, speed)


@pytest.mark.parametrize("speed", [0.0, 500.0])
def test_a_rotating_blade_of_solids_stiffens_as_one_of_beams_does(speed):
    """The plate of 40 mm is stiffer than a beam by 1 / sqrt(1 - nu²) at most, 6 %, at any speed."""
    ratio = of_solid(speed) / of_beams(speed)
    assert ((ratio > 1.0) & (ratio < 1.0 / np.sqrt(1.0 - 0.34**2))).all()


@pytest.mark.parametrize("speed", [0.0, 500.0])
def test_a_rotating_blade_of_two_superelements_has_the_frequencies_of_its_mesh(speed):
    """Rigid frames in the middle hold the width there: 3 % of the second frequency, whatever the speed."""
    assert of_superelements(speed, 2) == pytest.approx(of_solid(speed), rel=0.03)


def test_amplitudes_of_modes_have_no_place_in_a_rotation():
    """Without deformation the centrifugal force of a body is that of its mass at its centre."""
    part = fem.reduce_mesh(fem.block_mesh([0.2, 0.02, 0.03], [8, 1, 1]), TITANIUM, {"in": "x0", "out": "x1"}, modes=4)
    arm = fem.Superelement(part, position=[1.0, -0.01, -0.015], name="arm")
    model = fem.Model("arm")
    model.add(arm, fem.Fixed.at(model.ground, arm.frame("in"), [1.0, 0, 0], name="root"))
    turning = fem.static_equilibrium(model, rotation=[0.0, 0.0, 1.0])
    pull = np.linalg.norm(turning.results["root"].force[-1])
    assert pull == pytest.approx(part.mass * 1.1, rel=1e-6)  # the mean arm, 1.1 m; it stretches by 1e-9


def test_momentum_of_a_superelement_in_free_flight_is_that_of_its_motion_as_a_rigid_body():
    """Amplitudes of modes have no momentum of their own: linear to round-off of the sums, angular of iterations."""
    part = fem.reduce_mesh(fem.block_mesh([0.2, 0.02, 0.03], [8, 1, 1]), TITANIUM, {"in": "x0", "out": "x1"}, modes=4)
    body = fem.Superelement(part, velocity=[1.0, 2.0, 3.0], angular_velocity=[0.0, 0.0, 400.0], name="part")
    model = fem.Model("free flight")
    model.add(body)
    result = fem.GeneralizedAlpha(rho_inf=1.0).run(model, t_end=1e-3, h=1e-5)
    assert np.abs(result["part"].local_displacement).max() > 1e-6  # it vibrates: it started without its stretch
    centre = np.array([1.0, 2.0, 3.0]) + np.cross([0.0, 0.0, 400.0], part.center)
    expected = np.tile(part.mass * centre, (len(result.t), 1))
    assert result.linear_momentum == pytest.approx(expected, abs=1e-5 * np.abs(expected).max())
    assert result.angular_momentum == pytest.approx(
        np.tile(result.angular_momentum[0], (len(result.t), 1)), abs=1e-5 * np.abs(result.angular_momentum[0]).max()
    )


def test_campbell_of_a_solid_says_what_to_take_instead():
    body = fem.SolidBody(fem.block_mesh([LENGTH, THICK, WIDE], [4, 1, 1]), TITANIUM, name="blade")
    body.fix("x0")
    model = fem.Model("blade")
    model.add(body)
    message = r"SolidBody 'blade', which cannot turn about itself.*fem\.modes about fem\.static_equilibrium"
    with pytest.raises(fem.ParameterError, match=message):
        fem.campbell(model, [0.0, 100.0], 2, rotor=body, axis=[1, 0, 0])
