"""Motions that sensors measure against differences of histories; states of first order against closed forms."""

import numpy as np
import pytest
from scipy import signal
from scipy.integrate import solve_ivp

import fem_mbs as fem


@pytest.fixture(scope="module")
def tumbling():
    """A body that tumbles and one that spins, and sensors of frames on them."""
    model = fem.Model("two bodies", gravity=[0, 0, -3.0])
    first = fem.RigidBody(1.0, [0.1, 0.2, 0.3], velocity=[0.3, 0.2, 1.0], angular_velocity=[1.0, 4.0, -2.0], name="a")
    second = fem.RigidBody(1.0, [0.2] * 3, position=[1, 0, 0], angular_velocity=[0, 0, 9.0], name="b")
    P, Q = first.frame([0.1, 0.3, -0.2], [0.3, 0.1, 0.5]), second.frame([0.2, 0, 0.1], [0.1, 0.7, 0.2])
    names = ("position", "velocity", "acceleration", "angular_velocity", "angular_acceleration")
    sensors = {name: fem.Sensor(P, name, name=name) for name in names}
    for name in ("position", "velocity", "angular_velocity"):
        sensors[f"relative {name}"] = fem.Sensor(P, name, relative_to=Q, name=f"relative {name}")
    sensors["turns"] = fem.Sensor(second, "angle", axis=[0, 0, 1], name="turns")
    sensors["back"] = fem.Sensor(first.frame(), "angle", axis=[0, 0, 1], relative_to=second, name="back")
    model.add(first, second, *sensors.values())
    result = fem.LobattoIIIAB(stages=3).run(model, 1.0, 1e-3, progress=False)
    return result, sensors, P, Q


def poses(result, frame, body):
    """Positions (k, 3) and rotations (k, 3, 3) of a frame, from the histories of its body."""
    x, R = result[body].position, result[body].rotation
    return x + np.einsum("kij,j->ki", R, frame.p), R @ frame.rotation


def rate(values, h=1e-3):
    return (values[2:] - values[:-2]) / (2 * h)


def test_motions_are_those_of_the_histories_and_rates_are_their_differences(tumbling):
    result, sensors, P, Q = tumbling
    (x_P, R_P), (x_Q, R_Q) = poses(result, P, "a"), poses(result, Q, "b")
    seen = {name: sensor.of(result) for name, sensor in sensors.items()}
    assert np.abs(seen["position"] - x_P).max() < 1e-14
    relative = np.einsum("kji,kj->ki", R_Q, x_P - x_Q)
    assert np.abs(seen["relative position"] - relative).max() < 1e-13
    rates = {"velocity": "position", "acceleration": "velocity", "angular_acceleration": "angular_velocity"}
    for of, position in {**rates, "relative velocity": "relative position"}.items():
        differences = rate(seen[position])
        assert np.abs(seen[of][1:-1] - differences).max() < 1e-4 * np.abs(differences).max(), of
    for of, R in (("angular_velocity", R_P), ("relative angular_velocity", np.swapaxes(R_Q, 1, 2) @ R_P)):
        spin = rate(R) @ np.swapaxes(R[1:-1], 1, 2)  # ω~ = Ṙ Rᵀ
        found = np.stack([spin[:, 2, 1], spin[:, 0, 2], spin[:, 1, 0]], axis=1)
        assert np.abs(seen[of][1:-1] - found).max() < 1e-3, of


def test_angles_count_full_turns(tumbling):
    result, sensors, _, _ = tumbling
    turns = sensors["turns"].of(result)
    assert np.abs(turns - 9.0 * result.t).max() < 1e-9 and turns[-1] > 2 * np.pi
    back = result["back"].value
    assert np.abs(np.diff(back)).max() < 0.05  # no jump at half a turn
    assert np.array_equal(sensors["back"].of(result), back)


def test_components_outputs_of_elements_and_functions():
    model = fem.Model("spring", gravity=[0, 0, -9.81])
    mass = fem.PointMass(2.0, position=[0, 0, -1], name="mass")
    spring = fem.Spring(model.ground, mass, stiffness=200.0, name="spring")
    length, force = fem.Sensor(spring, "length"), fem.Sensor(spring, "force")
    height = fem.Sensor(mass, "position", component=2, name="height")
    work = fem.Sensor(lambda f, x: 0.5 * f * (x - 1.0), inputs=[force, length])
    model.add(mass, spring, height)
    result = fem.DecoupledNSGA().run(model, 0.2, 1e-3, progress=False)
    assert (
        np.array_equal(force.of(result), result["spring"].force)
        and np.abs(height.of(result) + length.of(result)).max() < 1e-14
    )
    assert np.abs(work.of(result) - 100.0 * (result["spring"].length - 1) ** 2).max() < 1e-12
    assert (force.unit, force.size, work.size) == ("N", 1, 1)
    with pytest.raises(fem.ParameterError, match=r"quantity = .*length, force"):
        fem.Sensor(spring, "angle")
    with pytest.raises(fem.ParameterError, match="from 0"):
        fem.Sensor(mass, "velocity", component=3)
    with pytest.raises(fem.ParameterError, match=r"quantity = .*inertial frame"):
        fem.Sensor(mass, "acceleration", relative_to=model.ground)


def test_a_controller_of_a_forgotten_element_is_rejected_by_name():
    model, body = fem.Model(), fem.PointMass(1.0)
    spring = fem.Spring(model.ground, fem.PointMass(1.0, position=[1, 0, 0]), stiffness=1.0, name="lost")
    model.add(body, fem.Controller(lambda t, y: 0.0, 0.1, [fem.Sensor(spring, "force")]))
    with pytest.raises(fem.ModelError, match=r"'lost'.*not in the model"):
        fem.DecoupledNSGA().run(model, 0.2, 0.1, progress=False)


# --- states -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "stepper, order", [(fem.DecoupledNSGA(), 2), (fem.GeneralizedAlpha(), 2), (fem.MoreauJean(theta=0.5), 2),
                       (fem.LobattoIIIAB(stages=3), 4)],
    ids=["nsga", "alpha", "moreau", "lobatto"],
)  # fmt: skip
def test_a_linear_system_has_the_order_of_the_scheme(stepper, order):
    A, B, C, D = [[-3.0, 2.0], [-2.0, -3.0]], [[1.0], [0.5]], [[1.0, -1.0]], [[0.2]]
    t = np.linspace(0, 2, 20001)
    _, y, z = signal.lsim(signal.StateSpace(A, B, C, D), np.sin(5 * t), t, X0=[1.0, 0.0])
    exact = solve_ivp(
        lambda t, z: np.array(A) @ z + np.array(B)[:, 0] * np.sin(5 * t), [0, 2], [1.0, 0.0], rtol=1e-12, atol=1e-13
    ).y[:, -1]
    assert np.abs(exact - z[-1]).max() < 1e-7  # lsim interpolates the input
    errors = []
    for h in (0.02, 0.01):
        model = fem.Model("filter")
        model.add(fem.StateSpace(A, B, C, D, inputs=[lambda t: np.sin(5 * t)], start=[1.0, 0.0], name="filter"))
        result = stepper.run(model, 2.0, h, progress=False)
        errors.append(np.abs(result["filter"].state[-1] - exact).max())
    assert np.log2(errors[0] / errors[1]) == pytest.approx(order, abs=0.05)
    assert abs(result["filter"].output[-1] - y[-1]) < 1.5 * errors[1] + 1e-7
    assert np.array_equal(result.energy.total, np.zeros(len(result.t)))


def test_an_actuator_with_a_lag_is_coupled_to_the_motion_without_delay():
    exact = solve_ivp(
        lambda t, y: [y[1], y[2] / 2, -4 * y[2] + np.cos(2 * t) - 6 * y[0] - 3 * y[1]], [0, 2], [0, 1.0, 0],
        rtol=1e-12, atol=1e-13,
    ).y[:, -1]  # fmt: skip
    errors = []
    for h, scale in ((0.02, 1.0), (0.01, 5.0)):
        model = fem.Model("slide")
        slide = fem.PointMass(2.0, velocity=[1.0, 0, 0], fixed=("y", "z"), name="slide")
        place, speed = fem.Coordinate(slide, "x", of="position"), fem.Coordinate(slide, "x")
        motor = fem.StateSpace(-4.0, [[1.0, -6.0, -3.0]], inputs=[lambda t: np.cos(2 * t), place, speed],
                               acts_on=[speed], scale=scale, name="motor")  # fmt: skip
        model.add(slide, motor)
        result = fem.DecoupledNSGA().run(model, 2.0, h, progress=False)
        found = [result["slide"].position[-1, 0], result["slide"].velocity[-1, 0], result["motor"].output[-1]]
        errors.append(np.abs(found - exact).max())
        assert result["motor"].state[-1] * scale == pytest.approx(found[2], abs=1e-15)
        kinetic = 0.5 * 2.0 * result["slide"].velocity[:, 0] ** 2
        assert np.abs(result.energy.kinetic - kinetic).max() < 1e-14
    assert np.log2(errors[0] / errors[1]) == pytest.approx(2.0, abs=0.02) and errors[1] < 2e-5


def test_a_nonlinear_law_in_python_and_a_controller_that_commands_it():
    """A tank that runs out by Torricelli's law; then a first-order actuator with a sampled command."""
    exact = solve_ivp(lambda t, z: [0.2 - 0.3 * np.sqrt(z[0])], [0, 2], [1.0], rtol=1e-12, atol=1e-13).y[0, -1]
    errors = []
    for h in (0.1, 0.05):
        model = fem.Model("tank")
        model.add(fem.UserStates(lambda t, z: [0.2 - 0.3 * np.sqrt(abs(z[0]))], start=[1.0], name="tank"))
        errors.append(abs(fem.DecoupledNSGA().run(model, 2.0, h, progress=False)["tank"].state[-1] - exact))
    assert np.log2(errors[0] / errors[1]) == pytest.approx(2.0, abs=0.01) and errors[1] < 1e-6

    model = fem.Model("actuator")
    command = fem.Controller(lambda t, y: 1.0 if t > 0.05 else 0.0, 0.1, name="command")
    model.add(command, fem.StateSpace(-8.0, 8.0, inputs=[command.output()], name="actuator"))
    errors = []
    for h in (0.01, 0.005):
        result = fem.LobattoIIIAB(stages=3).run(model, 0.5, h, progress=False)
        exact = np.where(result.t >= 0.1, 1 - np.exp(-8 * (result.t - 0.1)), 0.0)
        errors.append(np.abs(result["actuator"].state - exact).max())
    assert np.log2(errors[0] / errors[1]) == pytest.approx(4.0, abs=0.05) and errors[1] < 2e-9  # across the jump


def test_matrices_that_do_not_fit_are_rejected():
    with pytest.raises(fem.ParameterError, match="must be square"):
        fem.StateSpace([[1.0, 2.0]], [[1.0]], inputs=[0.0])
    with pytest.raises(fem.ParameterError, match="must be \\(1, 2\\)"):
        fem.StateSpace(-1.0, 1.0, inputs=[0.0, 1.0])
    with pytest.raises(fem.ParameterError, match="1 entries for 2 outputs"):
        fem.StateSpace(-np.eye(2), np.ones((2, 1)), inputs=[0.0], acts_on=[None])
    with pytest.raises(fem.ParameterError, match="no vector"):
        fem.Coordinate(fem.Node6(), "rx", of="position")
