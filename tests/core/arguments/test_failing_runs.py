"""Options of steppers that are impossible, and runs that fail on the way: the message names the cause and a remedy."""

import inspect
from itertools import pairwise

import numpy as np
import pytest
from simple_models import falling, pinned, with_node

import fem_mbs as fem
from fem_mbs.arguments.options import number, option, positive, unsupported
from fem_mbs.errors import NonFiniteError, ParameterError, SolverError
from fem_mbs.solvers import STEPPERS
from fem_mbs.solvers.stepping.options import REMOVED

NAN, INF = float("nan"), float("inf")


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
