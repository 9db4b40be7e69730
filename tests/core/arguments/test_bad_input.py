"""Invalid models raise an error when they are compiled: the message names the cause and a remedy.

Parameters that no element can have are in test_bad_parameters.py, keywords in test_keywords.py, runs that fail in
test_failing_runs.py.
"""

import re
import warnings

import numpy as np
import pytest
from simple_models import falling, pinned, with_node

import fem_mbs as fem
from fem_mbs.errors import ModelError

NAN, INF = float("nan"), float("inf")


def only_a_node():
    model = fem.Model("void")
    model.add(fem.Node6())
    return model


def over_table(radius, up=True):
    model, body = falling(position=[0, 0, 0.1])
    table = model.ground.frame(rotation=None if up else [np.pi, 0, 0])
    model.add(fem.SphereOnPlane(body, table, radius=radius, name="table"))
    return model


def swapped():
    model, body = falling(position=[0, 0, 0.5])
    model.add(fem.SphereOnPlane(model.ground, body, radius=0.1, name="table"))
    return model


def loose(gap):
    model = pinned()
    model["rod"].node.position = np.array([0, gap, 0])
    return model


# what is wrong: (model, words the message must have)
MODELS = {
    "nothing in it": (lambda: fem.Model("void"), r"model 'void' has nothing in it; add elements with model\.add"),
    "only a node": (only_a_node, r"model 'void' has nothing in it"),
    "node without element": (with_node, r"Node6 'tip' is connected to no element; add one, fix it, or remove it"),
    "node without mass or constraint": (
        lambda: with_node(lambda m, b, n: fem.PointForce(n, [1, 0, 0])),
        r"Node6 'tip' can move in x, y, z, rx, ry, rz but has no mass, stiffness or constraint.*Add a body.*fixed=",
    ),
    "point that only one direction holds": (
        lambda: with_node(lambda m, b, n: fem.Spring(m.ground, n, stiffness=1.0), node=fem.Node3([1, 0, 0], name="p")),
        r"Node3 'p' can move in y, z but has no mass",
    ),
    "the same joint twice": (
        lambda: pinned(times=2),
        r"5 of 10 .* redundant.*Revolute 'pin 2'.*Remove the joint that was added twice.*'allow'",
    ),
    "a joint that holds what is fixed": (
        lambda: pinned(fixed=("z", "rx", "ry")),
        r"3 of 5 .*'pin 1'\. They repeat what fixed components hold: z, rx, ry of RigidBody 'rod'\..*'allow'",
    ),
    "a joint twice that holds what is fixed": (
        lambda: pinned(times=2, fixed=("z", "rx", "ry")),
        r"8 of 10 .* 3 of them repeat what fixed components hold: z, rx, ry of .* For the others: remove the",
    ),
    "penetration": (
        lambda: over_table(0.2),
        r"SphereOnPlane 'table': starts with penetration, gap = -0\.1 m\. Move the bodies apart.*radius.*normal",
    ),
    "normal that points down": (lambda: over_table(0.05, up=False), r"'table': starts with penetration.*which side"),
    "plane in the place of the sphere": (
        swapped,
        r"'table': starts with penetration.*first frame is on the ground: the first is of the body",
    ),
    "joint that is not assembled": (
        lambda: loose(0.02),
        r"Revolute 'pin 1' is not assembled: its largest gap is 0\.02.*project=True",
    ),
    "velocity against a joint": (
        lambda: pinned(velocity=[0.3, 0, 0]),
        r"Revolute 'pin 1': the initial velocities violate it by 0\.3 .*Correct those of Node6 'rod', or.*project=True",
    ),
    "spin against a joint": (
        lambda: pinned(angular_velocity=[0, 2.0, 1.0]),
        r"'pin 1': the initial velocities violate it by 2 ",
    ),
}


@pytest.mark.parametrize("case", MODELS)
def test_models_that_cannot_be_right_are_rejected_with_a_cure(case):
    build, words = MODELS[case]
    with pytest.raises(ModelError, match=r"(?s)" + words) as caught:
        build().compile()
    assert isinstance(caught.value, ValueError) and caught.value.items


def test_a_driver_needs_a_start_that_moves_with_it():
    model = pinned()
    pin = model["pin 1"]
    model.add(fem.RevoluteDriver(pin.frame_P, pin.frame_Q, lambda t: 2.0 * t, name="motor"))
    with pytest.raises(ModelError, match=r"'motor'.*velocities.* 2 "):
        model.compile()


@pytest.mark.parametrize(
    "build", [lambda: pinned(velocity=[0.3, 0.2, 0.1], angular_velocity=[1, 2, 3]), lambda: loose(0.02)]
)
def test_projection_repairs_what_is_rejected(build):
    system = build().compile(project=True)
    g, rate = system.constraint_values(system.initial)
    assert np.abs(g).max() < 1e-13 and np.abs(rate).max() < 1e-13  # round-off
    fem.DecoupledNSGA().run(system, 0.01, 1e-3)


def test_projection_keeps_the_free_coordinates_of_the_joint():
    system = pinned(velocity=[0.3, 0, 0], angular_velocity=[1, 2, 3]).compile(project=True)
    assert system.initial.V[1] == pytest.approx([0, 0, 0, 0, 0, 3], abs=1e-14)


def test_positions_that_cannot_be_assembled_are_reported():
    model, body = falling()
    model.add(fem.Spherical.at(model.ground, body, [0, 0, 0], name="left"))
    model.add(fem.Spherical.at(model.ground, body, [1, 0, 0], name="right"))
    model.elements[-1].record = ((1.5, 0, 0), *model.elements[-1].record[1:])  # 1.5 m apart, on a body of 1 m
    with pytest.raises(ModelError, match=r"(?s)(left|right).*(assembled|repeat)"):
        model.compile(project=True, redundant="allow")


def test_options_of_compile_are_checked():
    with pytest.raises(ValueError, match=r"redundant = 'maybe'.*'error', 'allow'"):
        pinned().compile(redundant="maybe")
    with pytest.raises(ValueError, match=r"linear_solver = 'pardiso'.*unknown"):
        pinned().compile(linear_solver="pardiso")


def test_a_body_that_only_a_joint_uses_is_named():
    model, body = falling()
    lost = fem.RigidBody(1.0, 1.0, position=[1, 0, 0], name="lost")
    model.add(fem.Fixed.at(body, lost, [0.5, 0, 0], name="weld"))  # holds all of it: it would move without mass
    with pytest.raises(ModelError, match=r"RigidBody 'lost'.*Fixed 'weld'.*added"):
        model.compile()
    model.add(lost)
    assert model.compile().mass_properties()[0] == pytest.approx(2.0)


def test_a_point_mass_that_only_a_spring_uses_is_named():
    model, body = falling()
    model.add(fem.Spring(body, fem.PointMass(1.0, position=[1, 0, 0], name="bob"), stiffness=1.0, name="rubber"))
    with pytest.raises(ModelError, match=r"'bob'.*'rubber'.*added"):
        model.compile()


def test_bodies_and_nodes_that_only_a_contact_group_uses_are_named():
    for lost, words in (
        (fem.RigidBody.sphere(1.0, 0.1, name="lost"), "'lost'.*ContactGroup 'balls'"),
        (fem.Node6(name="tip"), "Node6 'tip'.*'balls'"),
    ):
        model, body = falling()
        group = fem.ContactGroup(name="balls")
        group.sphere(body, 0.1)
        group.sphere(lost, 0.1)
        model.add(group)
        with pytest.raises(ModelError, match=words):
            model.compile()


@pytest.mark.parametrize(
    "solve",
    [
        lambda system: fem.DecoupledNSGA().run(system, 0.01, 1e-3),
        lambda system: fem.static_equilibrium(system),
        lambda system: fem.modes(system, 1),
    ],
)
def test_a_system_whose_model_got_more_is_rejected_by_solvers(solve):
    model, body = falling()
    system = model.compile()
    model.add(fem.Spring(model.ground.frame([0, 0, 1]), body, stiffness=1.0, name="late"))
    with pytest.raises(ModelError, match=r"'m'.*Spring 'late'.*compiled"):
        solve(system)
    assert len(model.compile().elements) == 2


@pytest.mark.parametrize(
    "law, reported",
    [
        ({"friction": 30.0}, r"'floor': friction = 30.*0\.3"),
        ({"friction": 0.5, "rolling_resistance": 0.2}, r"rolling_resistance = 0\.2 m.*radius.*0\.02 m"),
        ({"friction": 0.5, "spinning_resistance": 0.2}, r"spinning_resistance = 0\.2 m.*radius"),
        ({"friction": 5.0, "rolling_resistance": 0.1}, None),
    ],
)  # fmt: skip
def test_laws_of_contacts_that_are_hardly_meant_are_reported_when_the_model_is_compiled(law, reported):
    model = fem.Model("ball")
    ball = model.add(fem.RigidBody.sphere(1.0, 0.1, position=[0, 0, 0.1], name="ball"))
    model.add(fem.SphereOnPlane(ball, model.ground, radius=0.1, name="floor", **law))
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        model.compile()
    assert len(found) == (reported is not None)
    assert not found or re.search(reported, str(found[0].message))


def test_the_same_doubtful_law_of_many_contacts_is_reported_once_with_their_number():
    model = fem.Model("box on four feet")
    box = model.add(fem.RigidBody.box(1.0, [0.2, 0.2, 0.1], position=[0, 0, 0.06], name="box"))
    for x, y in ((-1, -1), (-1, 1), (1, -1), (1, 1)):
        foot = box.frame([0.1 * x, 0.1 * y, -0.05])
        model.add(fem.SphereOnPlane(foot, model.ground, radius=0.01, rolling_resistance=0.2, friction=0.5))
    with pytest.warns(UserWarning, match=r"'sphereonplane 1'.*3 more.*rolling_resistance") as found:
        model.compile()
    assert len(found) == 1


FIXED = ("x", "y", "z", "rx", "ry", "rz")


@pytest.mark.parametrize(
    "solve",
    [lambda system: fem.DecoupledNSGA().run(system, 0.01, 1e-3), fem.modes, fem.static_equilibrium],
    ids=["run", "modes", "statics"],
)
def test_a_model_in_which_nothing_can_move_is_rejected_with_the_cause(solve):
    model, _ = falling(fixed=FIXED)
    with pytest.raises(ModelError, match=r"model 'm'.*fixed"):
        solve(model.compile())


@pytest.mark.parametrize(("away", "reported"), [(0.0, False), (1e2, False), (1e4, True), (1e6, True)])
def test_small_mechanisms_far_from_the_origin_are_reported(away, reported):
    """1 mm there: joints that are apart by their own size would not raise an error."""
    model, place = fem.Model("watch", gravity=[0, 0, -9.81]), np.array([away, 0, 0])
    arm = fem.RigidBody.box(1e-6, [1e-3, 1e-4, 1e-4], position=place + [5e-4, 0, 0], name="arm")
    model.add(arm, fem.Revolute.at(model.ground, arm, place, axis=[0, 1, 0], name="pin"))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model.compile()
    assert [("near the origin" in str(w.message)) for w in caught] == [True] * reported
