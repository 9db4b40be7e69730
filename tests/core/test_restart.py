"""Runs that go on from a state: of another run, or set by hand."""

import numpy as np
import pytest

import fem_mbs as fem
from fem_mbs.errors import FemMbsError, ModelError, ParameterError
from fem_mbs.solvers import STEPPERS


def top():
    """A free body that tumbles."""
    model = fem.Model("top")
    model.add(fem.RigidBody(1.0, [0.1, 0.2, 0.3], angular_velocity=[1, 2, 3], name="top"))
    return model


def ball(height=0.2, **options):
    model = fem.Model("ball", gravity=[0, 0, -9.81])
    body = model.add(fem.RigidBody.sphere(1.0, 0.1, position=[0, 0, height], name="ball", **options))
    model.add(fem.SphereOnPlane(body, model.ground, radius=0.1, restitution=0.5, name="floor"))
    return model


@pytest.mark.parametrize("where", ["memory", "file"])
def test_a_run_continues_from_a_saved_state_in_one_line(where, tmp_path):
    stepper = fem.DecoupledNSGA(rho_inf=1.0)
    whole = stepper.run(top(), t_end=2.0, h=1e-3)
    if where == "file":
        stepper.run(top(), t_end=1.0, h=1e-3, save=tmp_path / "top.vtkhdf")
        first = fem.load(tmp_path / "top.vtkhdf")
    else:
        first = stepper.run(top(), t_end=1.0, h=1e-3)
    system = top().compile()
    system.initial = first.state(-1)
    second = stepper.run(system, t_end=2.0, h=1e-3)
    assert second.t == pytest.approx(whole.t[1000:], abs=1e-12)
    assert np.array_equal(second["top"].rotation[0], first["top"].rotation[-1])
    # measured 2.5e-8: the restart begins with consistent accelerations, the whole run carries those of the scheme
    assert second["top"].rotation == pytest.approx(whole["top"].rotation[1000:], abs=1e-7)


def test_the_state_of_a_step_is_what_was_saved_there():
    result = fem.DecoupledNSGA().run(ball(velocity=[1, 0, 0], angular_velocity=[0, 3, 0]), 0.3, 1e-2)
    state = result.state(result.at(0.1))
    assert state.t == result.t[10] and np.array_equal(state.x[1], result["ball"].position[10])
    assert np.array_equal(state.V[1, :3], result["ball"].velocity[10])
    assert np.array_equal(state.V[1, 3:], result["ball"].angular_velocity[10])
    assert np.array_equal(state.R[1], result["ball"].rotation[10])
    with pytest.raises(IndexError, match=r"step = .*saved.* 0 to \d+"):
        result.state(31)


def test_load_steps_are_no_states_in_time():
    static = fem.static_equilibrium(hung())
    with pytest.raises(FemMbsError, match=r"load steps.*static_equilibrium\(…\)\.state"):
        static.results.state(-1)


def hung():
    model = fem.Model("hung", gravity=[0, 0, -9.81])
    mass = model.add(fem.PointMass(1.0, name="mass", fixed=("x", "y")))
    model.add(fem.Spring(model.ground.frame([0, 0, 1]), mass, stiffness=100.0))
    return model


def test_a_rotation_set_in_one_call_is_what_the_run_begins_with():
    system = top().compile()
    turn = [0.3, -0.2, 0.9]
    for node in (system.model["top"], system.model["top"].node, 1):
        system.initial = top().compile().initial
        system.initial.set_rotation(node, turn)
        result = fem.DecoupledNSGA().run(system, 0.01, 1e-3)
        assert result["top"].rotation_vector[0] == pytest.approx(turn, abs=1e-14)
        assert np.linalg.norm(result["top"].rotation[1] - result["top"].rotation[0]) < 0.01
    for bad, words in ((2, "has 2 nodes"), (-1, "has 2 nodes"), (fem.Node6(), r"node = .*no system")):
        with pytest.raises(ParameterError, match=words):
            system.initial.set_rotation(bad, turn)


@pytest.mark.parametrize("alone", ["Q", "R"])
@pytest.mark.parametrize("solve", ["run", "statics", "modes"])
def test_a_rotation_that_is_set_half_is_rejected_by_name(alone, solve):
    system = top().compile()
    turned = top().compile().initial
    turned.set_rotation(1, [0, 0, 1.0])
    getattr(system.initial, alone)[1] = getattr(turned, alone)[1]
    with pytest.raises(ModelError, match=r"'top': Q and R .*different.*state\.set_rotation"):
        if solve == "run":
            fem.DecoupledNSGA().run(system, 0.01, 1e-3)
        else:
            fem.static_equilibrium(system) if solve == "statics" else fem.modes(system, 1)


@pytest.mark.parametrize(
    "wrong, words", [("apart", r"'top'.*different.*2e-06"), ("long", r"length 1\.000002, must be 1")]
)
def test_q_and_r_are_the_same_to_a_millionth(wrong, words):
    """Seven digits of input are enough, five are not."""

    def run(error):
        system = top().compile()
        if wrong == "apart":
            system.initial.set_rotation(1, [0, 0, error])
            system.initial.Q[1] = [1, 0, 0, 0]
        else:
            system.initial.Q[1] *= 1 + error
        fem.DecoupledNSGA().run(system, 1e-3, 1e-3)

    run(0.5e-6)
    with pytest.raises(ModelError, match=words):
        run(2e-6)


@pytest.mark.parametrize("name, value", [("x", np.nan), ("V", np.inf), ("Q", 2.0), ("R", np.nan)])
def test_a_state_that_is_none_is_rejected_by_node_before_the_first_step(name, value):
    system = top().compile()
    getattr(system.initial, name)[1, 0] = value
    with pytest.raises(ModelError, match=rf"Node6 'top': .*{name}"):
        fem.DecoupledNSGA().run(system, 0.01, 1e-3)


every_stepper = pytest.mark.parametrize(
    "stepper",
    [stepper() for stepper in STEPPERS.values() if stepper is not fem.GeneralizedAlpha],
    ids=lambda s: type(s).__name__,
)


@every_stepper
def test_a_state_that_penetrates_is_rejected_in_the_words_of_compile(stepper):
    with pytest.raises(ModelError) as compiled:
        ball(0.05).compile()
    system = ball().compile()
    system.initial.x[1, 2] = 0.05
    with pytest.raises(ModelError) as started:
        stepper.run(system, 0.01, 1e-3)
    assert str(started.value) == str(compiled.value)


@every_stepper
def test_states_that_a_method_has_computed_in_contact_are_starts_of_its_runs(stepper):
    result = stepper.run(ball(), 1.0, 1e-3)
    assert result["floor"].status[-1] > 0
    for k in (*range(140, 160), 500, -1):  # around the first impact, and at rest
        system = ball().compile()
        system.initial = result.state(k)
        stepper.run(system, result.t[k] + 2e-3, 1e-3)


def pour():
    model, group = fem.Model("pour", gravity=[0, 0, -9.81]), fem.ContactGroup(friction=0.3, name="grains")
    for k in range(3):
        place = [0.03 * k, 0, 0.021 + 0.042 * (k % 2)]
        group.sphere(model.add(fem.RigidBody.sphere(0.05, 0.02, position=place, name=f"particle {k}")), 0.02)
    group.obstacle(fem.SphereOnPlane, model.ground.frame())
    model.add(group)
    return model


def test_a_pour_continues_from_its_last_state():
    first, whole = (fem.DecoupledNSGA().run(pour(), t_end, 1e-3) for t_end in (0.2, 0.25))
    assert first.pair_count[-1] > 0
    system = pour().compile()
    system.initial = first.state(-1)
    second = fem.DecoupledNSGA().run(system, 0.25, 1e-3)
    for name in ("particle 0", "particle 1", "particle 2"):
        assert second[name].position[-1] == pytest.approx(whole[name].position[-1], abs=1e-5)


def test_components_that_the_next_model_fixes_stand_still_from_its_start():
    """The first run leaves the body with a speed that its guide of the second run does not allow."""

    def body(fixed=()):
        model = fem.Model("body")
        model.add(fem.RigidBody(1.0, 0.1, velocity=[1, 2, 0], angular_velocity=[0, 0, 3], fixed=fixed, name="body"))
        return model

    first = fem.DecoupledNSGA().run(body(), 0.1, 1e-2)
    system = fem.continue_from(first, 0.1, body(fixed=("x", "rz")))
    assert system.initial.V[-1] == pytest.approx([0, 2, 0, 0, 0, 0], abs=1e-12)
    second = fem.DecoupledNSGA().run(system, 0.2, 1e-2)
    assert second["body"].position[-1] == pytest.approx([0.1, 0.4, 0.0], abs=1e-9)
