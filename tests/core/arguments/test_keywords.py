"""Misspelt, missing and superfluous arguments raise an error that states what was meant."""

import inspect

import numpy as np
import pytest

import fem_mbs as fem
from fem_mbs.errors import ParameterError

NAN, INF = float("nan"), float("inf")


def misspelt():
    """Calls with one wrong keyword, and what was meant."""
    body, ground = fem.RigidBody.sphere(1.0, 0.1), fem.Model().ground
    ends = body.frame([-0.1, 0, 0]), body.frame([0.1, 0, 0])
    line = [[0, 0, 0], [1, 0, 0]]
    yield lambda: fem.SphereOnWire(body, ground, points=line, radius=0.1, wire_radius=0.1), "radius_wire"
    yield lambda: fem.SphereInGroove(body, ground, radius=0.1, groove_radius=0.2, radius_circle=1.0), "radius_groove"
    yield lambda: fem.SphereInGroove(body, ground, radius=0.1, radius_groove=0.2, circle_radius=1.0), "radius_circle"
    yield lambda: fem.RigidBallBearing(ground, body, balls=8, ball_radius=0.01), "radius_ball"
    yield lambda: fem.Section.tube(outer_radius=0.1, radius_inner=0.05, E=1.0), "radius_outer"
    yield lambda: fem.SphereOnPlane(body, ground, radius=0.1, contensou_radius=0.1), "radius_contensou"
    yield lambda: fem.SphereOnPlane(body, ground, raduis=0.1), "radius"  # Python alone would miss `radius`
    yield lambda: fem.CapsuleOnPlane(ends, ground, radius=0.1, restitutoin=0.5), "restitution"
    yield lambda: fem.SphericalClearance(body, ground, radius=0.1, clearence=1e-3), "clearance"
    yield lambda: fem.ContactGroup(frition=0.1), "friction"
    yield lambda: fem.RigidBody.sphere(1.0, 0.1, positon=[0, 0, 1]), "position"
    yield lambda: fem.RigidBody.sphere(1.0, raduis=0.1), "radius"
    yield lambda: fem.Revolute.at(body, ground, [0, 0, 0], axes=[0, 0, 1]), "axis"
    yield lambda: fem.BearingGeometry(bals=9), "balls"
    yield lambda: fem.DecoupledNSGA(rhoinf=0.8), "rho_inf"
    yield lambda: fem.DecoupledNSGA(contact_tol=1e-6), "contact_tolerance"
    yield lambda: fem.ContactGroup().box(body, [1, 1, 1], round=0.1), "rounding"
    yield lambda: fem.DecoupledNSGA().run(fem.Model(), 1.0, 1e-3, save_evry=2), "save_every"
    yield lambda: fem.Model().compile(redundat="allow"), "redundant"
    yield lambda: fem.basic_life(raitng=1e3, load=1e2), "rating"
    yield lambda: fem.Spall("inner", lenght=1e-3), "length"


@pytest.mark.parametrize("call, meant", list(misspelt()))
def test_a_misspelt_keyword_is_reported_with_what_was_meant(call, meant):
    with pytest.raises(ParameterError, match=rf"not a parameter.*'{meant}'\?") as caught:
        call()
    assert isinstance(caught.value, TypeError)  # as Python's own error is


def unfit():
    """Calls that raise errors of Python itself, and the words of the error."""
    a, b = fem.RigidBody.sphere(1.0, 0.1), fem.RigidBody.sphere(1.0, 0.1, position=[1, 0, 0])
    near = r"radius = 0\.1 is given: did you mean 'radius_A' or 'radius_B'\?"
    yield lambda: fem.SphereOnSphere(a, b, radius=0.1), rf"SphereOnSphere: radius_A and radius_B are missing; {near}"
    yield lambda: fem.SphereOnPlane(a, b, name="floor"), r"SphereOnPlane 'floor': radius is missing"
    yield lambda: fem.SphereOnPlane(a, b, 0.1), r"0\.1 is given without a name, but .* Write radius=0\.1"
    yield lambda: fem.SphereOnPlane(a, b, plane=b, radius=0.1), r"plane is given twice, by its place and by its name"
    yield lambda: fem.Spring(a, b), r"Spring: stiffness is missing"
    yield lambda: fem.ContactGroup().box(a, [1, 1, 1]), r"ContactGroup\.box: rounding is missing"
    yield lambda: fem.ContactGroup().obstacle(fem.SphereOnPlane), r"ContactGroup\.obstacle: body is missing"
    yield lambda: fem.Revolute(), r"Revolute: frame_P and frame_Q are missing"
    yield lambda: fem.Revolute.at(a, b), r"Revolute\.at: position is missing"
    yield lambda: fem.Section.circle(0.01, density=1.0), r"Section\.circle: E is missing"
    yield lambda: fem.Model("m", [0, 0, 0], 3), r"Model: 3 is given .* only name and gravity have a place$"
    yield lambda: fem.modes(), r"modes: model is missing"
    yield lambda: fem.beam_line([0, 0, 0], [1, 0, 0]), r"beam_line: n and section are missing"
    yield lambda: fem.DecoupledNSGA().run(fem.Model(), 1.0), r"DecoupledNSGA\.run: h is missing"
    yield (
        lambda: fem.DecoupledNSGA.run(fem.Model(), t_end=1.0, h=1e-3),
        r"Stepper\.run: was called on the class, with Model",
    )


@pytest.mark.parametrize("call, words", list(unfit()))
def test_missing_arguments_and_those_too_many_are_reported_with_what_was_meant(call, words):
    with pytest.raises(ParameterError, match=words) as caught:
        call()
    assert isinstance(caught.value, TypeError)  # as Python's own error is


def test_a_law_without_its_function_is_reported_with_the_element_and_what_it_lacks():
    class Empty(fem.PythonElement):
        pass

    model, body = fem.Model(), fem.RigidBody(mass=1.0, inertia=[1.0, 1.0, 1.0])
    model.add(body, Empty(body, name="law"))
    with pytest.raises(fem.NonFiniteError, match=r"'law': .* Empty does not define force\(self, x, R, v, t\)"):
        fem.DecoupledNSGA().run(model, 0.1, 0.01)


def test_an_error_inside_of_a_constructor_stays_what_it_is():
    class Wrong(fem.PythonElement):
        def __init__(self, node):
            super().__init__(node)
            len(3)

    with pytest.raises(TypeError, match=r"object of type 'int' has no len\(\)") as caught:
        Wrong(fem.Node6())
    assert not isinstance(caught.value, ParameterError)


def test_signatures_are_those_of_the_sources():

    parameters = inspect.signature(fem.SphereOnPlane).parameters
    assert list(parameters) == ["sphere", "plane", "radius", "drawn_size", "name", "law"]
    assert inspect.signature(fem.modes).parameters["n"].default == 10
    assert list(inspect.signature(fem.RigidBody.sphere).parameters) == ["mass", "radius", "options"]


@pytest.mark.parametrize("parameter", ["velocity", "mass", "center"])
def test_parameters_set_after_the_constructor_are_rejected_because_kernels_have_copies(parameter):
    ball = fem.RigidBody.sphere(1, 0.1, name="ball")
    with pytest.raises(fem.ParameterError, match=rf"'ball': {parameter} = .*RigidBody\({parameter}=…\)"):
        setattr(ball, parameter, 2.0)
    ball.name = "marble"  # is read when it is needed
    ball._colour = "red"  # what begins with _ is the user's


def test_a_class_of_the_user_keeps_its_own_keywords():
    class Thrust(fem.PythonElement):
        def __init__(self, node, **options):
            self.size = options.pop("size")
            super().__init__(node, **options)

    assert Thrust(fem.Node6(), size=2.0, name="t").size == 2.0
    with pytest.raises(ParameterError, match=r"Thrust 't': sise = 1\.0.*not a parameter"):
        Thrust(fem.Node6(), size=2.0, sise=1.0, name="t")


def test_rotation_vectors_in_degrees_are_reported():
    for turn, good in (([0, 0, 6.28], True), ([0, 0, 2 * np.pi], True), ([0, 0, 6.3], False), ([0, 0, -90], False)):
        for make in (lambda t: fem.Node6(rotation=t), lambda t: fem.Node6().frame(rotation=t)):
            if good:
                make(turn)
            else:
                with pytest.raises(ParameterError, match=r"rotation = .*degrees.*np\.radians"):
                    make(turn)


def test_a_base_class_that_docstrings_name_is_found_by_the_message():
    with pytest.raises(AttributeError, match=r"it is 'fem_mbs\.elements\.Contact'"):
        fem.Contact  # noqa: B018
    with pytest.raises(AttributeError, match="that is done by 'Revolute'"):
        fem.PinJoint  # noqa: B018
