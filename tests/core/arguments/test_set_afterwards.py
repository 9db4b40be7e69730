"""What is set after a constructor counts, or is rejected with a remedy in the message."""

import copy
import inspect
import pickle

import numpy as np
import pytest

import fem_mbs as fem
from fem_mbs.errors import ModelError, ParameterError


def ball_on_spring():
    model = fem.Model("ball on a spring", gravity=[0, 0, -9.81])
    ball = model.add(fem.RigidBody(1.0, [0.1, 0.2, 0.3], position=[0, 0, 1], name="ball"))
    model.add(fem.Spring(model.ground, ball, stiffness=100.0, name="spring"))
    return model


def compiled():
    return ball_on_spring().compile()


def compiled_state():
    return compiled().initial


# --- parameters and misspelt names ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "owner, name, value",
    [
        (fem.MoreauJean(), "theta", 3),
        (fem.DecoupledNSGA(), "rho_inf", 2.0),
        (fem.DecoupledNSGA(), "step_control", fem.StepControl()),
        (fem.StepControl(), "tolerance", -1.0),
        (fem.Node6(), "fixed", True),
        (fem.Node6().frame(), "p", [1, 0, 0]),
        (fem.Section.circle(0.01, E=1e9), "mass_per_length", 2.0),
    ],
    ids=lambda v: type(v).__name__ if hasattr(v, "name") else str(v),
)
def test_parameters_are_rejected_after_the_constructor(owner, name, value):
    with pytest.raises(ParameterError, match=rf"{name} = .*constructor, {type(owner).__name__}\({name}"):
        setattr(owner, name, value)


@pytest.mark.parametrize(
    "owner, name, meant",
    [
        (fem.DecoupledNSGA(), "rhoinf", "rho_inf"),
        (fem.MoreauJean(), "tetha", "theta"),
        (fem.StepControl(), "tolerence", "tolerance"),
        (fem.Node6(), "positon", "position"),
        (fem.Model(), "gravty", "gravity"),
        (compiled_state, "v", "V"),
        (compiled, "inital", "initial"),
        (fem.Section.circle(0.01, E=1e9), "mass_per_lenght", "mass_per_length"),
        (fem.RigidBody(1.0, 1.0), "velocty", "velocity"),
        (fem.SphereOnPlane(fem.RigidBody(1.0, 1.0), fem.Node6(), radius=0.1), "restituton", "restitution"),
        (fem.ContactGroup(), "frictoin", "friction"),
    ],
    ids=lambda v: v.__name__ if inspect.isfunction(v) else type(v).__name__ if hasattr(v, "name") else str(v),
)
def test_misspelt_attributes_are_rejected_with_what_was_meant(owner, name, meant):
    owner = owner() if inspect.isfunction(owner) else owner  # what compiles is made when the test runs
    with pytest.raises(ParameterError, match=rf"(?s){name} = .*attribute.*'{meant}'"):
        setattr(owner, name, 1.0)
    with pytest.raises(AttributeError):  # as Python's own is
        setattr(owner, name, 1.0)


def test_elements_of_users_may_set_what_their_own_class_sets():
    class Counting(fem.UserForce):
        gain = 1.0  # a default

        def __init__(self, node, **options):
            super().__init__(node, self.law, **options)
            self.calls = 0

        def law(self, x, R, v, t):
            self.latest = t  # set by a method only
            return np.zeros((1, 6))

    for one in (element := Counting(fem.Node6(), name="c"), copy.copy(element), copy.deepcopy(element)):
        one.gain, one.calls, one.latest = 2.0, 3, 4.0
        assert (one.gain, one.calls, one.latest) == (2.0, 3, 4.0)
        with pytest.raises(ParameterError, match=r"'c': cals = 1.*'calls'"):
            one.cals = 1


def test_a_method_gets_no_options_that_only_another_one_has():
    with pytest.raises(ParameterError, match=r"MoreauJean: step_control = .*attribute"):
        fem.MoreauJean().step_control = fem.StepControl()


def test_names_and_private_attributes_may_be_set_and_copies_stay_fixed():
    stepper = fem.DecoupledNSGA()
    stepper.name, stepper._notes = "mine", 1
    for other in (copy.copy(stepper), copy.deepcopy(stepper), pickle.loads(pickle.dumps(stepper))):
        assert (other.name, other.rho_inf) == ("mine", 0.8)
        with pytest.raises(ParameterError):
            other.rho_inf = 0.5


def test_stored_options_are_the_options_alone():
    assert all(not name.startswith("_") for name in fem.DecoupledNSGA(step_control=fem.StepControl()).parameters())
    assert set(fem.DecoupledNSGA(step_control=fem.StepControl()).parameters()["step_control"]) == {
        "tolerance", "h_max", "h_min",
    }  # fmt: skip


# --- arrays -----------------------------------------------------------------------------------------------------------


def test_entries_of_parameters_cannot_be_set_either():
    body = fem.RigidBody(1.0, np.diag([0.1, 0.2, 0.3]))
    for array in (body.inertia, body.node.frame([1, 0, 0]).p, fem.Section.circle(0.01, E=1e9).outline):
        with pytest.raises(ValueError, match="read-only"):
            array[0, ...] = 0.25


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, lambda item: pickle.loads(pickle.dumps(item))])
@pytest.mark.parametrize("name", ["RigidBody", "Frame", "Section", "PointOnCurve", "Spring"])
def test_entries_of_parameters_of_copies_cannot_be_set_either(copied, name):
    body = fem.RigidBody(1.0, np.diag([0.1, 0.2, 0.3]), position=[0, 1, 0])
    made = {
        "RigidBody": (body, lambda b: b.inertia),
        "Frame": (body.node.frame([1, 0, 0]), lambda f: f.p),
        "Section": (fem.Section.circle(0.01, E=1e9), lambda s: s.outline),
        "PointOnCurve": (
            fem.PointOnCurve(body, fem.Node6(), points=[[0, 0], [1, 1], [2, 0]], width=0.1),
            lambda c: c.points,
        ),
        "Spring": (fem.Spring(body.node.frame([1, 0, 0]), fem.Node6(), 1.0), lambda s: s.frame_P.p),
    }
    item, array = made[name]
    with pytest.raises(ValueError, match="read-only"):
        array(copied(item))[...] = 0.25


def test_an_array_of_the_script_stays_writeable():
    inertia, place = np.diag([0.1, 0.2, 0.3]), np.zeros(3)
    fem.RigidBody(1.0, inertia, position=place).node.frame(place)
    inertia[0, 0], place[0] = 0.25, 1.0


# --- nodes, gravity and states ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name, value, words",
    [
        ("position", [0, 0], "position = .*2 components.*3"),
        ("velocity", [0, np.nan, 0], r"velocity = .* not finite"),
        ("angular_velocity", [1, 0], r"angular_velocity = .* has 2 components"),
        ("rotation", [0, 90, 0], "rotation = .*degrees"),
    ],
)
def test_nodes_check_what_is_set_as_their_constructor_does(name, value, words):
    with pytest.raises(ParameterError, match=words):
        setattr(fem.Node6(), name, value)


def test_what_is_set_before_the_model_is_compiled_counts():
    model = ball_on_spring()
    node = model["ball"].node
    node.position, node.velocity, node.angular_velocity = [0, 0, 2], [1, 0, 0], (0, 0, 3)
    node.rotation = [0, 0, np.pi / 2]
    model.gravity = [0, 0, -1.62]
    system = model.compile()
    state, i = system.initial, node.index
    assert state.x[i].tolist() == [0, 0, 2] and state.V[i].tolist() == [1, 0, 0, 0, 0, 3]
    assert state.R[i] == pytest.approx(np.array([[0, -1, 0], [1, 0, 0], [0, 0, 1]]), abs=1e-15)
    assert system.gravity.tolist() == [0, 0, -1.62]
    with pytest.raises(ParameterError, match=r"gravity = 9\.81.*three numbers"):
        model.gravity = 9.81


@pytest.mark.parametrize(
    "name, value",
    [("gravity", [0, 0, 0]), ("position", [0, 0, 2]), ("velocity", [1, 0, 0]), ("rotation", [0, 0, 1.0])],
)
def test_changes_after_the_model_was_compiled_are_rejected(name, value):
    model = ball_on_spring()
    system = model.compile()
    setattr(model if name == "gravity" else model["ball"].node, name, value)
    for solve in (lambda: fem.DecoupledNSGA().run(system, 0.1, 1e-2), lambda: fem.modes(system, 1)):
        with pytest.raises(ModelError, match=rf"changed after .*compiled.*: {name}\)"):
            solve()
    with pytest.raises(ParameterError, match=r"gravity = .*model"):
        system.gravity = [0, 0, 0]
    fem.modes(model.compile(), 1)


@pytest.mark.parametrize("compiled", [False, True])
def test_what_can_move_is_said_when_a_node_is_made(compiled):
    model = ball_on_spring()
    system, node = model.compile() if compiled else None, model["ball"].node
    for one in (node, copy.deepcopy(node), pickle.loads(pickle.dumps(node)), model.ground, fem.Node1()):
        with pytest.raises(ParameterError, match=r"free = .*constructor.*fixed="):
            one.free = np.ones(6, bool)
        with pytest.raises(ValueError, match="read-only"):
            one.free[2] = False
    assert node.free.all() and (system is None or system.free[node.index].all())


def test_arrays_of_a_state_keep_their_shapes():
    state = ball_on_spring().compile().initial
    for name, value in {"x": [0, 0, 0], "Q": np.zeros((2, 2)), "R": np.eye(3), "V": np.ones(6)}.items():
        with pytest.raises(ParameterError, match=rf"(?s)State: {name} = .* has shape .* must be \(2, "):
            setattr(state, name, value)
    state.x = [[0, 0, 0], [0, 0, 3]]
    assert state.x.dtype == float and state.copy().x[1, 2] == 3.0
    with pytest.raises(ParameterError, match=r"initial = .*a State"):
        ball_on_spring().compile().initial = np.zeros(3)


def test_a_type_in_the_place_of_an_element_is_named():
    with pytest.raises(ParameterError, match=r"add = .*RigidBody is a type"):
        fem.Model().add(fem.RigidBody)
