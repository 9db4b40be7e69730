"""Small motions about equilibria with soft contacts that are closed: joints in their place, and adjacent equilibria."""

import numpy as np
import pytest

import fem_mbs as fem


def block(z, height, layers, name):
    steel = fem.SolidMaterial(1e9, 0.3, 1000.0)
    mesh = fem.block_mesh([0.1, 0.1, height], [2, 2, layers], cell="hexahedron")
    return fem.SolidBody(mesh, steel, position=[0, 0, z], name=name)


def frequencies(model, count=8):
    rest = fem.static_equilibrium(model)
    found = fem.modes(model, count, about=rest, contacts="closed")
    return found.frequency, found.warnings


@pytest.mark.parametrize("smooth", [True, False])
def test_two_blocks_pressed_together_that_stick_are_one_block(smooth):
    whole = block(0, 0.2, 4, "whole")
    whole.fix("z0")
    one = fem.Model("one", gravity=[0, 0, 0])
    one.add(whole, fem.SurfaceTraction(whole, "z1", [0, 0, -1e4]))
    lower, upper = block(0, 0.1, 2, "lower"), block(0.1, 0.1, 2, "upper")
    lower.fix("z0")
    touch = fem.SurfaceOnSurface(upper, "z0", lower, "z1", friction=2.0, smooth=smooth, name="touch")
    two = fem.Model("two", gravity=[0, 0, 0])
    two.add(lower, upper, touch, fem.SurfaceTraction(upper, "z1", [0, 0, -1e4]))
    found, remarks = frequencies(two)
    np.testing.assert_allclose(found, frequencies(one)[0], rtol=1e-9)
    assert any("Smoothed surfaces" in text and "'touch 0'" in text for text in remarks) == smooth


def test_a_block_pressed_on_a_plane_without_friction_has_the_modes_of_one_held_along_its_normal():
    found = []
    for contact in (True, False):
        body = block(0, 0.2, 4, "block")
        body.fix("z1", ["x", "y"])
        model = fem.Model("block", gravity=[0, 0, 0])
        model.add(body, fem.SurfaceTraction(body, "z1", [0, 0, -1e4]))
        if contact:
            model.add(fem.SurfaceContacts(body, "z0", model.ground.frame(), name="floor"))
        else:
            body.fix("z0", ["z"])
        found.append(frequencies(model)[0])
    np.testing.assert_allclose(found[0], found[1], rtol=1e-9)


def sheared(friction, shear):
    """A block pressed on a rough plane and pushed along it at its top, which slips at a corner or sticks; its floor."""
    body = block(0, 0.2, 4, "block")
    model = fem.Model("sheared", gravity=[0, 0, 0])
    floor = fem.SurfaceContacts(body, "z0", model.ground.frame(), friction=friction, name="floor")
    model.add(body, fem.SurfaceTraction(body, "z1", [shear, 0, -1e4]), floor)
    return model, floor


@pytest.mark.parametrize(("friction", "slides"), [(0.5, True), (5.0, False)])
def test_contacts_that_slide_in_the_equilibrium_are_named_where_they_are_taken_as_sticking(friction, slides):
    model, floor = sheared(friction, 2e3)
    rest = fem.static_equilibrium(model)
    sliding = [f"'{one.name}'" for one, status in zip(rest.system.contacts, rest.contact_status) if status == 2]
    assert bool(sliding) == slides and (rest.contact_status == 1).any()
    found = fem.modes(model, 4, about=rest, contacts="closed")
    told = [text for text in found.warnings if "taken as sticking" in text]
    assert [text.split(": ")[1].split(". ")[0] for text in told] == [", ".join(sliding)] * slides
    left_out = fem.modes(
        model, 8, about=rest, contacts=[floor.elements[k] for k in range(9) if rest.contact_status[k] == 1]
    )
    assert not any("taken as sticking" in text for text in left_out.warnings)


@pytest.mark.parametrize(("pull", "told"), [(2.9, False), (3.1, True)])
def test_a_state_that_friction_cannot_hold_is_reported(pull, told):
    """No equilibrium determines what slides: 10 N on the floor with μ = 0.3."""
    model = fem.Model("pulled point")
    point, mass = fem.PointMass(1.0, name="point"), fem.PointMass(1.0, position=[0, 0, 1], name="mass")
    model.add(point, mass)
    model.add(
        fem.Spring(point, mass, stiffness=100.0), fem.Spring(model.ground.frame([0, 0, 2]), mass, stiffness=100.0)
    )
    model.add(fem.PointForce(point, [pull, 0.0, -10.0]))
    model.add(fem.SphereOnPlane(point, model.ground.frame(), radius=0.0, friction=0.3, name="floor"))
    remarks = fem.modes(model, 1, contacts="closed").warnings
    assert ["'floor'" in text for text in remarks if "taken as sticking" in text] == [True] * told


def rubber(smooth, push=0.0):
    """A plate of 0.1 m under a larger block of rubber, pressed by 1 kN, and by ``push`` more at a corner of the top."""

    def solid(side, divisions, E, at, name):
        mesh = fem.block_mesh([side, side, 0.1], divisions, cell="hexahedron")
        return fem.SolidBody(mesh, fem.SolidMaterial(E, 0.45, 1000.0), position=at, name=name)

    upper, plate = solid(0.14, [3, 3, 2], 1e6, [-0.02, -0.02, 0.1], "upper"), solid(0.1, [2, 2, 1], 1e7, [0, 0, 0], "p")
    plate.fix("z0")
    upper.fix("z1", ["x", "y"])
    corner = upper.nodes[upper.node_numbers("z1")[0]]
    model = fem.Model("rubber", gravity=[0, 0, 0])
    touch = fem.SurfaceOnSurface(plate, "z1", upper, "z0", smooth=smooth, name="touch")
    model.add(plate, upper, touch, fem.SurfaceTraction(upper, "z1", [0, 0, -5e4]), fem.PointForce(corner, [0, 0, push]))
    return model, corner


def test_small_motions_are_about_the_surfaces_of_the_equilibrium_whatever_the_system_has_seen():
    """They were about those of the start, with frequencies off by 2e-3 where a block of rubber has bent."""
    model, _ = rubber(True)
    rest = fem.static_equilibrium(model)
    first = fem.modes(model, 6, about=rest, contacts="closed").frequency
    np.testing.assert_allclose(fem.modes(rest.system, 6, about=rest, contacts="closed").frequency, first, rtol=1e-9)
    fem.static_equilibrium(rest.system, steps=2)
    np.testing.assert_allclose(fem.modes(rest.system, 6, about=rest, contacts="closed").frequency, first, rtol=1e-9)


def test_compliance_on_flat_faces_is_the_difference_of_equilibria():
    heights = []
    for push in (0.5, -0.5):
        model, corner = rubber(False, push)
        heights.append(fem.static_equilibrium(model, tolerance=1e-12).position(corner)[2])
    model, corner = rubber(False)
    rest = fem.static_equilibrium(model, tolerance=1e-12)
    ends = (corner, "z")
    found = fem.frequency_response(model, ends, ends, [0.0], about=rest, contacts="closed").response[0, 0, 0]
    # differences of 6e-5 m over 0.1 m: their square
    assert found.real == pytest.approx(heights[0] - heights[1], rel=2e-5)
