"""Skins of beams: a prop between nodes, crossing beams, a rod on a floor, refusals."""

import numpy as np
import pytest

import fem_mbs as fem

EI, LOAD, REACH, RADIUS = 100.0, 10.0, 0.5, 0.01  # N m², N, m from the clamp, m


def cantilever(turn, height=0.0, name="beam"):
    """Beam of 1 m from the origin along x, or turned about (0.5, 0.5) to run along y, clamped at its start."""
    start, end = ([0, 0.5, height], [1, 0.5, height]) if not turn else ([0.5, 0, height], [0.5, 1, height])
    section = fem.Section.general(EA=1e6, GJ=EI, EI2=EI, EI3=EI)
    root = fem.Node6(start, fixed=True)
    return fem.beam_line(root, fem.Node6(end), 14, section, name=name)


def test_a_cylinder_between_two_nodes_props_a_beam_as_a_support_does():
    """P a²(3L − a)/6EI − R a³/3EI = gap at the distance a from the clamp."""
    gap, model = 2e-3, fem.Model("propped")
    beam = cantilever(False)
    rest = model.ground.frame([REACH + 0.01, 0.5, -0.03 - RADIUS - gap], fem.rotations.frame_with_axis([0, 1, 0]))
    skin = fem.BeamSkin(beam, RADIUS, cylinder=rest, radius_other=0.03, length=0.5, name="prop")
    model.add(beam, fem.PointForce(beam.nodes[-1], [0, 0, -LOAD]), skin)
    assert not np.isclose([node.position[0] for node in beam.nodes], REACH + 0.01).any()
    result = fem.static_equilibrium(model)
    force = sum(result.contact_force(contact)[0] for contact in skin.elements)
    a = REACH + 0.01
    expected = (LOAD * a**2 * (3 - a) / (6 * EI) - gap) * 3 * EI / a**3
    assert force == pytest.approx(expected, rel=0.01)  # the point of contact moves up the slope of 1/40
    assert sum(result.contact_force(contact)[0] > 0 for contact in skin.elements) <= 2


def test_two_beams_that_cross_share_a_load():
    """Both cantilevers meet at half their length: R = (P a²(3L − a)/6EI − gap) 3EI/2a³."""
    gap, model = 1e-3, fem.Model("crossing")
    high, low = cantilever(False, 2 * RADIUS + gap, "high"), cantilever(True, 0.0, "low")
    skin = fem.BeamSkin(high, RADIUS, beams=low, radius_other=RADIUS, reach=0.2, name="cross")
    assert 1 < len(skin.elements) < 14 * 14 / 2
    model.add(high, low, fem.PointForce(high.nodes[-1], [0, 0, -LOAD]), skin)
    result = fem.static_equilibrium(model)
    force = sum(result.contact_force(contact)[0] for contact in skin.elements)
    expected = (LOAD * REACH**2 * (3 - REACH) / (6 * EI) - gap) * 3 * EI / (2 * REACH**3)
    assert force == pytest.approx(expected, rel=0.01)


def test_a_rod_that_slides_on_a_floor_is_braked_by_friction():
    section, model = fem.Section.circle(RADIUS, E=1e9, density=1000.0), fem.Model("rod", gravity=[0, 0, -9.81])
    rod = fem.beam_line([0, 0, RADIUS], [1, 0, RADIUS], 4, section, velocity=[1, 0, 0], name="rod")
    skin = fem.BeamSkin(rod, RADIUS, plane=model.ground, friction=0.3, name="floor")
    model.add(rod, skin)
    result = fem.DecoupledNSGA(rho_inf=0.5).run(model, t_end=0.2, h=1e-3)
    speed = np.mean([result.state(-1).V[node.index, 0] for node in rod.nodes])
    assert speed == pytest.approx(1.0 - 0.3 * 9.81 * 0.2, abs=5e-3)  # the rod turns a little about y and bends
    assert min(result[contact.name].gap.min() for contact in skin.elements) > -1e-9


def test_a_ball_that_falls_on_a_beam_does_not_pass_between_its_nodes():
    model = fem.Model("ball", gravity=[0, 0, -9.81])
    section = fem.Section.circle(RADIUS, E=1e9, density=1000.0)
    rod = fem.beam_line(fem.Node6([0, 0, 0], fixed=True), fem.Node6([1, 0, 0], fixed=True), 4, section, name="rod")
    ball = fem.RigidBody.sphere(0.05, 0.02, position=[0.37, 0, 0.04], name="ball")
    skin = fem.BeamSkin(rod, RADIUS, sphere=ball, radius_other=0.02, name="touch")
    model.add(rod, ball, skin)
    result = fem.DecoupledNSGA(rho_inf=0.5).run(model, t_end=0.2, h=1e-3)
    assert min(result[contact.name].gap.min() for contact in skin.elements) > -1e-6
    assert result["ball"].position[-1, 2] > 0.0


def test_bad_input_is_reported():
    line, ground = cantilever(False), fem.Model().ground
    for message, call in {
        "must be a BeamLine|a BeamLine": lambda: fem.BeamSkin([1], 0.01, plane=ground),
        "plane.*one of them": lambda: fem.BeamSkin(line, 0.01),
        r"radius_other = .*sphere": lambda: fem.BeamSkin(line, 0.01, sphere=ground),
        r"length = .*for a cylinder": lambda: fem.BeamSkin(line, 0.01, cylinder=ground, radius_other=0.1),
        "reach.*two lines": lambda: fem.BeamSkin(line, 0.01, plane=ground, reach=0.1),
        "beams.*line itself": lambda: fem.BeamSkin(line, 0.01, beams=line, radius_other=0.01),
        "reach.*two pieces": lambda: fem.BeamSkin(
            line, 0.01, beams=cantilever(True, 9.0), radius_other=0.01, reach=0.1
        ),
        "did you mean 'friction'": lambda: fem.BeamSkin(line, 0.01, plane=ground, frction=0.1),
    }.items():
        with pytest.raises(fem.ParameterError, match=message):
            call()
