"""What completion in an editor or a terminal shows of the objects of a model: the names that a script uses."""

import inspect
import re

import pytest

import fem_mbs as fem
from fem_mbs.arguments.checked import Checked
from fem_mbs.element.base import Element

BODY = {"center", "frame", "frame_at", "inertia", "mass", "name", "node", "position"}


def public(thing):
    return {name for name in dir(thing) if not name.startswith("_")}


def joint():
    return fem.Revolute.at(fem.Node6(), fem.Node6(), [0, 0, 0], [0, 0, 1])


def contact():
    return fem.SphereOnPlane(fem.Node6(), fem.Node6(), radius=0.1)


@pytest.mark.parametrize(
    ("make", "expected", "most"),
    [
        (lambda: fem.RigidBody(mass=1.0, inertia=[1, 1, 1]), BODY, 25),
        (joint, {"frame_P", "frame_Q", "name", "outputs", "active"}, 25),
        (contact, {"radius", "friction", "restitution", "name", "outputs"}, 40),
    ],
)
def test_names_of_an_element_are_those_that_a_script_uses(make, expected, most):
    names = public(make())
    assert expected <= names and len(names) <= most, sorted(names)
    assert not names & {"check", "positive", "as_array", "kernels", "record", "sizes"}


@pytest.mark.parametrize("method", fem.solvers.STEPPERS.values(), ids=fem.solvers.STEPPERS)
def test_signature_and_help_of_a_stepper_show_each_option_once(method):
    text, options = inspect.getdoc(method), inspect.signature(method).parameters
    entries = text.split("Parameters\n----------\n")[1].split("\n\n")[0]
    documented = [name for line in re.findall(r"^(\w+(?:, \w+)*) : ", entries, re.M) for name in line.split(", ")]
    assert sorted(documented) == sorted(options)
    assert {"rtol", "reuse", "divide_failed_steps"} <= options.keys()
    assert options["rtol"].annotation is float and options["rtol"].default == method().rtol
    assert ("step_control" in options) == (method.__name__ not in ("MoreauJean", "ConeComplementarity"))


def test_hidden_names_work_as_before():
    body = fem.RigidBody(mass=1.0, inertia=[1, 1, 1])
    assert body.role == "dynamic"
    assert {"check", "positive"} <= set(dir(Checked)) and {"kernels", "sizes"} <= set(dir(Element))
    assert body.positive("mass", 2.0, "kg") == 2.0
