"""Cost of building and compiling models, in calls of functions: no times, which depend on the machine."""

import sys

import numpy as np
import pytest

import fem_mbs as fem

STEEL = fem.Section.circle(5e-3, E=2.1e11, nu=0.3, density=7850.0)


def chain(n):
    """Boxes on hinges along x."""
    model, before = fem.Model("chain", gravity=[0, 0, -9.81]), None
    for i in range(n):
        link = model.add(fem.RigidBody.box(1.0, [0.5, 0.05, 0.05], position=[0.5 * i + 0.25, 0, 0], name=f"link {i}"))
        model.add(fem.Revolute.at(before or model.ground, link, [0.5 * i, 0, 0], [0, 1, 0]))
        before = link
    return model


def masses_on_springs(n):
    model, before = fem.Model("springs"), None
    for i in range(n):
        body = model.add(fem.PointMass(1.0, position=[i + 1.0, 0, 0]))
        model.add(fem.Spring(before or model.ground, body, stiffness=1e3, damping=1.0))
        before = body
    return model


def rod(n):
    """Three-node beams."""
    model = fem.Model("rod")
    model.add(fem.beam_line(model.ground, [0.1 * n, 0, 0], 2 * n, STEEL, name="rod"))
    return model


def pile(n):
    """Layers of 25 spheres above a plane."""
    model, group = fem.Model("pile", gravity=[0, 0, -9.81]), fem.ContactGroup(friction=0.3)
    for i in range(n):
        place = [0.3 * (i % 5), 0.3 * (i // 5 % 5), 0.2 + 0.3 * (i // 25)]
        group.sphere(model.add(fem.RigidBody.sphere(1.0, 0.1, position=place)), 0.1)
    group.obstacle(fem.SphereOnPlane, model.ground.frame())
    model.add(group)
    return model


def calls(function, *args):
    """Number of functions, of Python and of C, that a call runs; and its result."""
    count = 0

    def note(_, event, __):
        nonlocal count
        count += event in ("call", "c_call")

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        result = function(*args)
    finally:
        sys.setprofile(before)
    return count, result


# largest number of calls for a body with its joint or spring, or a beam: of building, and of compiling. A quarter more
# than there are; with general array code for three numbers it took 1,990, 580, 1,580 and 520
BOUNDS = {chain: (670, 132), masses_on_springs: (480, 121), rod: (890, 114), pile: (345, 86)}


@pytest.mark.parametrize("build", BOUNDS, ids=lambda build: build.__name__)
def test_calls_grow_linearly_with_the_elements_of_a_model(build):
    n = 50
    build(n).compile()  # modules are loaded, and tables of types made
    (few, small), (many, large) = calls(build, n), calls(build, 2 * n)
    assert many <= 2.1 * few
    assert many - few <= BOUNDS[build][0] * n
    few, many = calls(small.compile)[0], calls(large.compile)[0]
    assert many <= 2.1 * few
    assert many - few <= BOUNDS[build][1] * n


def test_edges_of_shapes_are_found_when_they_are_drawn():
    box = fem.shapes.Box([1.0, 2.0, 3.0])
    assert "edges" not in vars(box)
    assert len(box.edges) == 12 and box.edges is box.edges
    lengths = np.linalg.norm(np.diff(box.points[box.edges], axis=1)[:, 0], axis=1)
    assert sorted(lengths) == [1.0] * 4 + [2.0] * 4 + [3.0] * 4
