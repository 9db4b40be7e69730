"""Invalid models raise an error when they are compiled or run: the message names the cause and a remedy.

Parameters that no element can have are in test_bad_parameters.py.
"""

import inspect
import re
import warnings
from itertools import pairwise

import numpy as np
import pytest

import fem_mbs as fem
from fem_mbs.arguments.options import number, option, positive, unsupported
from fem_mbs.errors import ModelError, NonFiniteError, ParameterError, SolverError
from fem_mbs.solvers import STEPPERS
from fem_mbs.solvers.stepping.options import REMOVED

NAN, INF = float("nan"), float("inf")


def falling(**options):
    """A body named rod, and its model."""
    model = fem.Model("m", gravity=[0, 0, -9.81])
    return model, model.add(fem.RigidBody(1.0, 1.0, name="rod", **options))


def only_a_node():
    model = fem.Model("void")
    model.add(fem.Node6())
    return model


def with_node(*make, node=None):
    """A falling body next to a node, with elements made from (model, body, node)."""
    model, body = falling()
    node = fem.Node6([1, 0, 0], name="tip") if node is None else node
    model.add(node)
    for element in make:
        model.add(element(model, body, node))
    return model


def pinned(times=1, **options):
    model, body = falling(**options)
    for i in range(times):
        model.add(fem.Revolute.at(model.ground, body, [0, 0, 0], [0, 0, 1], name=f"pin {i + 1}"))
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


# --- what was forgotten ---------------------------------------------------------


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


# --- keywords -------------------------------------------------------------------


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
    import inspect

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


# --- the stepper ------------------------------------------------------------


@pytest.mark.parametrize(
    "options, words",
    [
        ({"rho_inf": 1.2}, r"DecoupledNSGA: rho_inf = 1\.2.*between 0 and 1"),
        ({"rho_inf": -0.1}, r"rho_inf = -0\.1.*between 0 and 1"),
        ({"rho_inf": NAN}, "rho_inf = nan.*finite"),
        ({"rho_inf": "high"}, "rho_inf = 'high'.*number"),
        ({"rtol": 0}, r"rtol = 0\.0.*between 0 and 1"),
        ({"penalty": -1}, r"penalty = -1\.0 must be > 0"),
        ({"epsilon": -1e-8}, r"epsilon = -1e-08 must be ≥ 0"),
        ({"position_factor": 0.25}, r"position_factor = 0\.25.*between 0\.5 and 1"),
        ({"max_iterations": 0}, "max_iterations = 0.*whole number"),
        ({"max_problems": 0}, "max_problems = 0.*whole number"),
        ({"epsilon": INF}, "epsilon = inf.*finite"),
    ],
)
def test_impossible_options_of_the_stepper_are_rejected(options, words):
    with pytest.raises(ParameterError, match=words):
        fem.DecoupledNSGA(**options)


@pytest.mark.parametrize("method", STEPPERS.values(), ids=STEPPERS)
def test_options_of_earlier_releases_are_rejected_with_what_to_do(method):
    for name, advice in REMOVED.items():
        if name not in inspect.signature(method).parameters:
            with pytest.raises(ParameterError) as caught:
                method(**{name: 1.0})
            assert f"{method.__name__}: {name} = 1.0 was removed; {advice}" in str(caught.value)


class Renamed(fem.MoreauJean):
    """A stepper of a script, with an option, another default and without an option."""

    depth: float = option(default=1e-3, check=positive("m"))
    rtol: float = option(default=1e-8, check=number(above=0, below=1))
    contact_tolerance: None = unsupported()


def test_options_of_a_stepper_of_the_user_are_checked_as_well():
    method = Renamed(0.7, depth=2)
    assert (method.theta, method.depth, method.rtol, method.reuse) == (0.7, 2.0, 1e-8, True)
    assert repr(method) == "Renamed(theta=0.7, depth=2.0)"
    for options, words in [
        ({"depth": 0}, r"depth = 0\.0 m must be > 0"),
        ({"rtol": 2}, r"rtol = 2\.0.*between 0 and 1"),
        ({"theta": 0.3}, r"theta = 0\.3"),
        ({"dept": 1}, "did you mean 'depth'"),
        ({"contact_tolerance": 1e-3}, "contact_tolerance = 0.001 is not a parameter"),
    ]:
        with pytest.raises(ParameterError, match=words):
            Renamed(**options)
    with pytest.raises(ParameterError, match="cannot be set afterwards"):
        method.depth = 3.0


@pytest.mark.parametrize(
    "t_end, h, save_every, words",
    [
        (1.0, 0.0, 1, r"DecoupledNSGA: h = 0\.0 s.*> 0"),
        (1.0, -1e-3, 1, r"h = -0\.001 s.*> 0"),
        (1.0, NAN, 1, "h = nan s.*finite"),
        (1.0, "small", 1, "h = 'small'.*number"),
        (0.0, 1e-3, 1, r"t_end = 0\.0 s.*> 0"),
        (INF, 1e-3, 1, "t_end = inf s.*finite"),
        (1e-3, 1e-2, 1, r"h = 0\.01 s.*longer.*0\.001 s"),
        (1.0, 1e-3, 0, "save_every = 0.*whole number"),
    ],
)
def test_impossible_times_are_rejected(t_end, h, save_every, words):
    with pytest.raises(ParameterError, match=words):
        fem.DecoupledNSGA().run(falling()[0], t_end, h, save_every=save_every)


# --- what goes wrong on the way -----------------------------------------------


def run_with(make, h=1e-2):
    model, body = falling()
    model.add(make(body))
    return fem.DecoupledNSGA().run(model, 1.0, h)


@pytest.mark.parametrize("value", [NAN, INF])
def test_a_user_law_that_is_not_finite_stops_the_run_with_its_name_and_time(value):
    def law(x, R, v, t):
        return np.array([[value if t > 0.125 else 1.0, 0, 0, 0, 0, 0]])

    with pytest.raises(NonFiniteError, match=rf"UserForce 'wind'.*returned {value} at t = 0\.13 s.*'rod'") as caught:
        run_with(lambda body: fem.UserForce(body, law, name="wind"))
    error = caught.value
    assert error.element.name == "wind" and error.time == pytest.approx(0.13)
    assert error.result.t[-1] == pytest.approx(0.12) and error.result.status.startswith("stopped: UserForce 'wind'")


def test_a_user_law_that_raises_stops_the_run_with_its_name_time_and_cause():
    def law(x, R, v, t):
        if t > 0.125:
            raise KeyError("table ends")
        return np.zeros(6)

    with pytest.raises(NonFiniteError, match=r"'wind'.*KeyError.*table ends.*0\.13 s") as caught:
        run_with(lambda body: fem.UserForce(body, law, name="wind"))
    assert isinstance(caught.value.__cause__, KeyError)
    assert caught.value.result.t[-1] == pytest.approx(0.12)


@pytest.mark.parametrize(
    "make",
    [
        lambda body: fem.PointForce(body, lambda t: [NAN if t > 0.125 else 1.0, 0, 0], name="thrust"),
        lambda body: fem.PointForce(body, [1, 0, 0], signal=lambda t: INF if t > 0.125 else 1.0, name="thrust"),
    ],
)
def test_a_load_that_is_not_finite_stops_the_run_with_its_name_and_time(make):
    with pytest.raises(NonFiniteError, match=r"'thrust'.*returned .*0\.13 s") as caught:
        run_with(make)
    assert caught.value.result.t[-1] == pytest.approx(0.12)


def test_a_function_of_time_that_raises_stops_the_run_with_its_name_and_time():
    model = pinned()
    pin = model["pin 1"]

    def angle(t):
        return 0.1 * t * t if getattr(t, "value", t) < 0.125 else [] + t

    model.add(fem.RevoluteDriver(pin.frame_P, pin.frame_Q, angle, name="motor"))
    with pytest.raises(NonFiniteError, match=r"'motor'.*TypeError.*0\.13 s") as caught:
        fem.DecoupledNSGA().run(model, 1.0, 1e-2)
    assert caught.value.result.t[-1] == pytest.approx(0.12)


def test_a_step_that_does_not_converge_names_step_time_sub_problem_and_largest_row():
    model, body = falling(velocity=[1.0, 0, 0])
    model.add(fem.UserForce(body, lambda x, R, v, t: 1e3 * v**3, name="explosion"))
    with pytest.raises(SolverError) as caught:
        fem.DecoupledNSGA(divide_failed_steps=False).run(model, 1.0, 1e-2)
    error, text = caught.value, str(caught.value)
    for words in (
        f"Step {error.step}, t = {error.time:.6g} s: smooth motion",
        f"{len(error.history) - 1} iterations",
        "relative tolerance 1e-06",
        "Node6 'rod', component x",
        "Residuals …",
        "halve h",
    ):
        assert words in text, text
    assert error.element is model["rod"].node
    assert len(error.history) > 30  # max_iterations, and the trials of the search along them
    assert len(error.result.t) == error.step  # the initial state and all steps before


def test_a_contact_that_does_not_converge_is_reported_with_the_usual_causes():
    model, body = falling(position=[0, 0, 0.11], rotation=[0.2, 0.1, 0], velocity=[1.0, 0.5, -1.0])
    for i, p in enumerate(([0.1, 0, -0.05], [-0.1, 0.1, -0.05], [-0.1, -0.1, -0.05])):
        floor = model.ground.frame()
        model.add(fem.SphereOnPlane(body.frame(p), floor, radius=0, friction=0.5, name=f"foot {i + 1}"))
    with pytest.raises(SolverError) as caught:
        fem.DecoupledNSGA(max_iterations=1, rtol=1e-12, contact_solver="newton", divide_failed_steps=False).run(
            model, 0.5, 1e-2
        )
    error, text = caught.value, str(caught.value)
    assert f"Step {error.step}, t = {error.time:.6g} s: " in text
    assert "correction" in text and "step too large" in text
    assert error.element is not None and len(error.result.t) == error.step


@pytest.mark.parametrize("spin", [[4000.0, 0, 0], [0, -4000.0, 100.0]])
def test_turning_more_than_half_a_turn_in_a_step_is_rejected(spin):
    model, _ = falling(angular_velocity=spin)
    with pytest.raises(SolverError, match=r"Step 1, t = 0\.001 s.*'rod'.* 3 rad"):
        fem.DecoupledNSGA().run(model, 0.1, 1e-3)
    fem.DecoupledNSGA().run(model, 0.01, 5e-4)  # 2 rad per step


def test_too_many_impact_problems_name_the_contacts():
    model = fem.Model("row")
    balls = [model.add(fem.RigidBody(1, 1, position=[2.0 * i, 0, 0], name=f"ball {i}")) for i in range(4)]
    balls[0].node.velocity = np.array([1.0, 0, 0])
    facing_left = [0, -np.pi / 2, 0]
    for left, right in pairwise(balls):
        face = right.frame([-1, 0, 0], facing_left)
        model.add(fem.SphereOnPlane(left.frame([1, 0, 0]), face, radius=0, name=f"{left.name}-{right.name}"))
    with pytest.raises(SolverError, match=r"velocity correction.*3 impact problems.*ball \d-ball \d"):
        fem.DecoupledNSGA(max_problems=3).run(model, 0.1, 1e-2)


def test_a_beam_without_rotary_inertia_is_named_at_the_start():
    section = fem.Section(flexibility=[1e-6, 0, 0, 0.1, 0.1, 0.1], mass_per_length=0.7)
    model = fem.Model("wire")
    model.add(fem.beam_line([0, 0, 0], [1, 0, 0], 4, section, name="wire"))
    with pytest.raises(SolverError, match=r"'wire 1'.*rotary inertia.*inertia_per_length"):
        fem.DecoupledNSGA().run(model, 0.1, 1e-2)


def test_a_massless_part_on_a_joint_is_reported_at_the_start():
    model = with_node(lambda m, b, n: fem.Revolute.at(b, n, [0.5, 0, 0], [0, 0, 1], name="pin"))
    with pytest.raises(SolverError, match=r"initial accelerations.*'tip'.*no mass"):
        fem.DecoupledNSGA().run(model, 0.1, 1e-2)


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
