"""Springs, loads, point masses and user laws: forces against closed forms, and against each other."""

import math

import numpy as np
import pytest

from fem_mbs import verify
from fem_mbs.elements import (
    PointForce,
    PointMass,
    PointMoment,
    PythonElement,
    Revolute,
    RigidBody,
    Spring,
    TorsionSpring,
    UserForce,
)
from fem_mbs.errors import NonFiniteError, ParameterError
from fem_mbs.functions.profiles import ramp
from fem_mbs.model import Model
from fem_mbs.nodes import Ground, Node6
from fem_mbs.rotations import exp
from fem_mbs.solvers.nsga.decoupled_nsga import DecoupledNSGA
from fem_mbs.solvers.stepping.initial import initial_accelerations


class At:
    """An element evaluated at the initial pose of its nodes, with changes."""

    def __init__(self, element):
        self.call = verify.Evaluator(element)
        nodes = element.nodes
        self.point = verify.random_point(element, np.random.default_rng(0)).copy(
            x=np.array([n.position for n in nodes]),
            R=np.array([n.rotation for n in nodes]),
            v=np.zeros(6 * len(nodes)),
            s=np.array([signal.jet(0.0) for signal in element.signals]).reshape(-1, 3),
            t=0.0,
        )
        if self.call.has("initial"):
            self.point.state = self.call("initial", self.point)["state"]

    def __call__(self, kernel, name, **changes):
        return self.call(kernel, self.point.copy(**changes))[name]


# --- springs --------------------------------------------------------------------------------------------------------


def test_stretched_spring_pulls_its_ends_together_and_reports_tension():
    A, B = Node6([0, 0, 0], [0.3, 0.1, 0]), Node6([2, 0, 0], [0, 0.5, 0.2])
    P, Q = (
        A.frame(A.rotation.T @ [0, 0.5, 0]),
        B.frame(B.rotation.T @ [0, 0.5, 0]),
    )  # both 0.5 m above, in inertial axes
    spring = At(Spring(P, Q, stiffness=100.0, damping=7.0, free_length=1.5))
    v = np.array([0, 0, 0, 0, 0, 0, 0.4, 0.3, 0, 0, 0, 0])
    f = spring("force", "f", v=v)
    force = 100 * 0.5 + 7 * 0.4  # stretch 0.5 m; only the speed along the spring damps
    assert spring("output", "out", v=v) == pytest.approx([2.0, force], rel=1e-14)
    assert f[:3] == pytest.approx([force, 0, 0], abs=1e-13) and f[6:9] == pytest.approx([-force, 0, 0], abs=1e-13)
    for node, i, pull in ((A, 3, force), (B, 9, -force)):
        assert node.rotation @ f[i : i + 3] == pytest.approx(np.cross([0, 0.5, 0], [pull, 0, 0]), abs=1e-13)


def test_spring_is_unloaded_at_the_start_unless_specified_otherwise():
    spring = At(Spring(Ground(), Node6([0.3, 0.4, 0]), stiffness=1e3))
    assert np.abs(spring("force", "f")).max() == 0.0
    assert spring("output", "out")[0] == pytest.approx(0.5, rel=1e-15)


def test_spring_without_free_length_is_regular_where_its_ends_meet():
    spring = At(Spring(Ground(), Node6(), stiffness=40.0, damping=3.0, free_length=0.0))
    v = np.array([0, 0, 0, 0, 0, 0, 0.2, -0.1, 0.3, 0, 0, 0])
    near = np.array([[0, 0, 0], 1e-9 * v[6:9]])
    at, close = spring("force", "f", v=v), spring("force", "f", v=v, x=near)
    assert at[6:9] == pytest.approx(-3.0 * v[6:9], rel=1e-15)
    assert close == pytest.approx(at, abs=1e-7)  # k d = 40 · 4e-10: the limit of motion through the point
    stiffness = spring("force_tangent", "K")
    assert stiffness[6:9, 6:9] == pytest.approx(40 * np.eye(3), abs=1e-12)
    assert stiffness[:3, 6:9] == pytest.approx(-40 * np.eye(3), abs=1e-12)


def test_spring_with_free_length_whose_ends_meet_stops_the_run_by_name():
    model = Model("collapsed")
    mass = model.add(PointMass(1.0, position=[1, 0, 0], velocity=[-1, 0, 0], name="mass"))
    model.add(Spring(model.ground, mass, stiffness=1.0, free_length=1.0, name="strut"))
    system = model.compile()
    state = system.initial.copy()
    state.x[1] = 0.0
    with pytest.raises(NonFiniteError, match="Spring 'strut'"):
        system.raise_nonfinite(state)


def hinge(angle, **options):
    """Torsion spring on a hinge about z; the second node is turned by an angle."""
    B = Node6(rotation=[0, 0, angle])
    return At(TorsionSpring(Ground(), B, **options))


def test_torsion_spring_turns_back_with_a_pure_moment():
    for angle in (0.4, -1.5, 2.9):
        spring = hinge(angle, stiffness=12.0, damping=0.5, free_angle=0.1)
        v = np.concatenate([np.zeros(11), [0.7]])
        moment = 12.0 * (angle - 0.1) + 0.5 * 0.7
        assert spring("force", "f", v=v) == pytest.approx([0] * 5 + [moment] + [0] * 5 + [-moment], abs=1e-13)
        assert spring("output", "out", v=v) == pytest.approx([angle, moment], rel=1e-13)
        assert spring("energy", "energy")[0] == pytest.approx(0.5 * 12.0 * (angle - 0.1) ** 2, rel=1e-13)


def test_torsion_spring_goes_smoothly_through_half_a_turn():
    # free angle 170°, body at 190°: twisted by +20°, although the relative rotation is beyond half a turn
    spring = hinge(np.radians(190.0), stiffness=3.0, free_angle=np.radians(170.0))
    assert spring("output", "out") == pytest.approx([np.radians(190.0), 3.0 * np.radians(20.0)], rel=1e-13)


def test_flywheel_on_a_torsion_spring_starts_with_moment_over_inertia():
    model = Model("flywheel")
    wheel = RigidBody(2.0, [0.2, 0.2, 0.3], rotation=[0, 0, 0.5], name="wheel")
    P, Q = model.ground.frame(), wheel.frame()
    model.add(wheel, Revolute(P, Q, name="shaft"), TorsionSpring(P, Q, stiffness=6.0, free_angle=0.0))
    system = model.compile()
    A, _ = initial_accelerations(system, system.initial)
    assert A[wheel.node.index, 5] == pytest.approx(-6.0 * 0.5 / 0.3, rel=1e-12)


# --- loads ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("follower", [False, True])
def test_dead_loads_keep_their_direction_and_followers_turn_with_the_node(follower):
    node = Node6(rotation=[0.2, -0.4, 0.1])
    frame = node.frame([0.1, 0.2, 0.3], [0.3, 0, 0.5])
    F, M = np.array([1.0, -2.0, 0.5]), np.array([0.3, 0.7, -0.2])
    force, moment = At(PointForce(frame, F, follower=follower)), At(PointMoment(frame, M, follower=follower))
    for R in (node.rotation, exp([1.5, 2.0, -1.0])):
        turn = R @ frame.rotation if follower else np.eye(3)
        f, m = force("force", "f", R=R[None]), moment("force", "f", R=R[None])
        # round-off: products of numbers of order 1
        assert f[:3] == pytest.approx(turn @ F, abs=1e-15 * 8)
        assert R @ f[3:] == pytest.approx(np.cross(R @ frame.p, turn @ F), abs=1e-15 * 8)
        assert np.array_equal(m[:3], np.zeros(3)) and R @ m[3:] == pytest.approx(turn @ M, abs=1e-15 * 8)
        assert force("output", "out", R=R[None]) == pytest.approx(turn @ F, abs=1e-15 * 8)
        assert moment("output", "out", R=R[None]) == pytest.approx(turn @ M, abs=1e-15 * 8)


def test_loads_follow_any_function_of_time_and_are_scaled_by_a_signal():
    node = Node6()
    load = PointForce(
        node, lambda t: [math.sin(t), 2.0, t], signal=ramp(duration=2.0)
    )  # math.sin: no derivatives are needed
    assert [s(1.0) for s in load.signals] == pytest.approx([0.5 * math.sin(1.0), 1.0, 0.5], rel=1e-15)
    assert [s.jet(3.0)[0] for s in load.signals] == pytest.approx([math.sin(3.0), 2.0, 3.0], rel=1e-15)
    assert [s(5.0) for s in PointForce(node, [1, 2, 3], signal=2.0).signals] == [2.0, 4.0, 6.0]


def test_constant_dead_force_has_a_potential_and_others_have_none():
    node = Node6([0.3, 0.2, 0.1], [0.5, 0, 0])
    frame = node.frame([0, 0, 1.0])
    assert At(PointForce(frame, [0, 0, -5.0]))("energy", "energy")[0] == pytest.approx(
        5.0 * frame.position[2], rel=1e-15
    )
    assert At(PointForce(frame, [0, 0, -5.0], follower=True))("energy", "energy")[0] == 0.0
    assert At(PointForce(frame, lambda t: [0, 0, -5.0]))("energy", "energy")[0] == 0.0


def test_a_load_that_becomes_nan_names_itself_and_the_time():
    model = Model("broken load")
    mass = model.add(PointMass(1.0, name="mass"))
    model.add(PointForce(mass, lambda t: [0, 0, math.nan if t > 0.1 else 1.0], name="gust"))
    system = model.compile()
    with pytest.raises(NonFiniteError, match=r"'gust'.*nan at t = 0\.25 s"):
        system.update_signals(0.25)


def test_force_on_a_particle_gives_the_parabola():
    model = Model("parabola")
    mass = model.add(PointMass(2.0, velocity=[1, 0, 0], name="mass"))
    model.add(PointForce(mass, [0, 0, 4.0]))
    result = DecoupledNSGA(rho_inf=0.8).run(model, t_end=0.5, h=0.01)
    # a constant acceleration is integrated exactly by the scheme: round-off
    assert result["mass"].position[-1] == pytest.approx([0.5, 0, 0.25], abs=1e-12)


# --- point mass -----------------------------------------------------------------------------------------------------


def test_point_mass_off_the_node_has_the_energy_of_its_point():
    node = Node6(rotation=[0.4, 0.2, -0.3])
    mass = At(PointMass(3.0, at=node.frame([0.2, -0.1, 0.5])))
    v = np.array([0.3, -0.2, 0.7, 1.1, -0.4, 0.6])
    M = mass("inertia_tangent", "M")
    point = v[:3] + node.rotation @ np.cross(v[3:], [0.2, -0.1, 0.5])
    assert 0.5 * v @ M @ v == pytest.approx(1.5 * point @ point, rel=1e-14)  # round-off


def test_point_masses_on_a_body_add_up_with_it():
    model = Model("sum")
    body = model.add(RigidBody(2.0, 0.1, position=[1, 0, 0], name="body"))
    model.add(PointMass(1.0, at=body.frame([0.3, 0, 0])), PointMass(1.0, position=[5, 0, 0]))
    mass, center = model.mass_properties()
    assert mass == pytest.approx(4.0, rel=1e-14)
    assert center == pytest.approx([(2 * 1.0 + 1.3 + 5.0) / 4, 0, 0], abs=1e-14)


# --- user laws ------------------------------------------------------------------------------------------------------


def spring_law(k, c, l0):
    def law(x, R, v, t):
        d, w = x[1] - x[0], v[1, :3] - v[0, :3]
        length = np.linalg.norm(d)
        pull = (k * (length - l0) + c * (d @ w) / length) * d / length
        return np.array([[*pull, 0, 0, 0], [*-pull, 0, 0, 0]])

    return law


def oscillator(make_spring):
    model = Model("oscillator", gravity=[0, 0, -9.81])
    mass = model.add(PointMass(0.5, position=[0.6, 0, -0.3], velocity=[0, 0.8, 0], name="mass"))
    model.add(make_spring(model.ground, mass))
    return model


def test_user_law_gives_the_matrices_of_the_compiled_spring():
    compiled = oscillator(lambda a, b: Spring(a, b, 80.0, 0.7, 0.5, name="spring")).compile()
    user = oscillator(lambda a, b: UserForce([a, b], spring_law(80.0, 0.7, 0.5), name="spring")).compile()
    state = compiled.initial
    assert user.forces(state)[1] == pytest.approx(compiled.forces(state)[1], abs=1e-13)
    for a, b in zip(user.matrices(state)[:3], compiled.matrices(state)[:3]):
        # central differences: 1e-10 of the largest entry, 80
        assert np.abs(a.toarray() - b.toarray()).max() < 1e-8


def test_user_law_gives_the_motion_of_the_compiled_spring():
    runs = [
        DecoupledNSGA(rho_inf=0.8).run(oscillator(make), t_end=0.3, h=5e-3)
        for make in (
            lambda a, b: Spring(a, b, 80.0, 0.7, 0.5, name="spring"),
            lambda a, b: UserForce([a, b], spring_law(80.0, 0.7, 0.5), name="spring"),
        )
    ]
    difference = runs[0]["mass"].position - runs[1]["mass"].position
    assert np.abs(difference).max() < 1e-8  # the tolerance of the iterations; the tangents differ by 1e-10


def test_a_nan_from_a_user_law_names_element_node_and_time():
    def wind(x, R, v, t):
        return np.array([[math.nan if t > 0.125 else 0.1, 0, 0, 0, 0, 0]])

    model = Model("storm")
    tip = model.add(PointMass(1.0, name="tip"))
    model.add(UserForce(tip, wind, name="wind"))
    with pytest.raises(NonFiniteError, match=r"'wind'.*nan at t = 0\.13 s.*'tip'") as caught:
        DecoupledNSGA().run(model, t_end=0.5, h=0.01)
    assert caught.value.element.name == "wind"
    assert caught.value.time == pytest.approx(0.13)
    assert caught.value.result.t[-1] == pytest.approx(0.12)  # what was computed is kept


def test_an_exception_in_a_user_law_stops_the_run_with_its_cause():
    def law(x, R, v, t):
        return [[1.0 / (0.0 if t > 0.05 else 1.0), 0, 0, 0, 0, 0]]

    model = Model("bug")
    mass = model.add(PointMass(1.0, name="mass"))
    model.add(UserForce(mass, law, name="law"))
    with pytest.raises(NonFiniteError, match=r"'law'.*ZeroDivisionError.*0\.06 s") as caught:
        DecoupledNSGA().run(model, t_end=0.2, h=0.01)
    assert isinstance(caught.value.__cause__, ZeroDivisionError)


def test_a_subclass_of_python_element_is_an_element():
    class Drag(PythonElement):
        """Quadratic drag on the first node."""

        def __init__(self, node, coefficient, **options):
            self.coefficient = coefficient
            super().__init__(node, **options)

        def force(self, x, R, v, t):
            return [[*(-self.coefficient * np.linalg.norm(v[0, :3]) * v[0, :3]), 0, 0, 0]]

    model = Model("falling", gravity=[0, 0, -9.81])
    ball = model.add(PointMass(0.1, velocity=[0, 0, -3.0], name="ball"))
    model.add(Drag(ball, 0.109, name="drag"))
    system = model.compile()
    A, _ = initial_accelerations(system, system.initial)
    assert A[ball.node.index, 2] == pytest.approx(0.0, abs=1e-12)  # at terminal speed: 0.109 · 9 = 0.1 · 9.81


def test_wrong_shape_of_a_user_law_is_rejected_at_once():
    with pytest.raises(ParameterError, match=r"'pull': force = .*\(3,\).*\(2, 6\)"):
        UserForce([Node6(), Node6([1, 0, 0])], lambda x, R, v, t: np.zeros(3), name="pull")
