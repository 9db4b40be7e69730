"""Contacts in statics: what is told where they are left out."""

import numpy as np
import pytest

import fem_mbs as fem
from fem_mbs.errors import ParameterError, SolverError


def sprung_point(gap, load, kind="plane"):
    """A point on a spring of 100 N/m, pushed down on a floor a gap below."""
    model = fem.Model("sprung point")
    point = fem.Node3([0, 0, 0], fixed=("x", "y"), name="point")
    model.add(fem.Spring(model.ground.frame([0, 0, 1]), point, stiffness=100.0))
    model.add(fem.PointForce(point, [0, 0, -load], name="load"))
    if kind == "plane":
        model.add(fem.SphereOnPlane(point, model.ground.frame([0, 0, -gap]), radius=0.0, name="floor"))
    return model


def test_a_load_path_ends_where_a_contact_is_penetrated_and_keeps_what_it_found():
    with pytest.raises(SolverError, match=r"'floor' is penetrated .* load_path leaves contacts out") as told:
        fem.load_path(sprung_point(0.05, 10.0), step=0.1, load_weight=1.0)
    path = told.value.path
    # the spring alone gives 0.1 m at the full load: half of that is free
    assert 0.3 < path.load_factors[-1] <= 0.5 and path["point"].position[:, 2].min() >= -0.05
    free = fem.load_path(sprung_point(0.05, 4.9), step=0.1)
    assert free.load_factors[-1] == 1.0 and not free.remarks


def test_a_load_path_that_leaves_a_closed_contact_says_what_its_stability_means():
    path = fem.load_path(sprung_point(0.0, -4.0), step=0.2)
    assert path.load_factors[-1] == 1.0 and "Closed contacts carry nothing here" in path.remarks[0]


def column(floor):
    """Euler's column with a point of its middle a gap above a floor."""
    model = fem.Model("column")
    root, tip = fem.Node6(fixed=True), fem.Node6([1, 0, 0])
    line = model.add(fem.beam_line(root, tip, 8, fem.Section.general(EA=1e6, GJ=1, EI2=1, EI3=2)))
    model.add(fem.PointForce(tip, [-1, 0, 0]))
    middle = line.nodes[len(line.nodes) // 2]
    model.add(fem.SphereOnPlane(middle, model.ground.frame([0, 0, -floor]), radius=0.0, name="floor"))
    return model


def test_buckling_refuses_a_contact_that_is_closed_and_takes_an_open_one():
    with pytest.raises(SolverError, match=r"'floor' is closed where the load factor is 0, .* buckling leaves"):
        fem.buckling(column(0.0))
    assert fem.buckling(column(0.1), 1).load_factors == pytest.approx([np.pi**2 / 4], rel=1e-4)


@pytest.mark.parametrize("solve", [fem.static_equilibrium, fem.load_path, fem.buckling])
def test_boxes_of_contact_groups_are_refused_by_name(solve):
    model, group = sprung_point(0.1, 1.0, kind="none"), fem.ContactGroup(name="crate")
    body = model.add(fem.RigidBody.sphere(1.0, 0.1, position=[1, 0, 0], fixed=True))
    group.box(body, [0.1, 0.1, 0.1], rounding=0.01)
    model.add(group)
    with pytest.raises(ParameterError, match="ContactGroup 'crate' has capsules or boxes"):
        solve(model)
