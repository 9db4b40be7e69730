"""Rows of velocities in every time stepper: orders, constrained and free motions, errors."""

import re

import numpy as np
import pytest
from every_stepper import (
    CONE,
    METHODS,
    drifts,
    every_method,
    every_method_with_contacts,
    holds_velocities,
    label,
    order_of,
)
from velocity_elements import RateMotor, driven_point, driven_point_reference

import fem_mbs as fem
from fem_mbs.cases import nonholonomic as case
from fem_mbs.rotations import exp
from fem_mbs.system.checks import model_checks

LOBATTO_4 = fem.LobattoIIIAB(stages=4)
with_four_stages = pytest.mark.parametrize("method", [*METHODS, LOBATTO_4], ids=label)


def orders(errors):
    return np.log2(np.array(errors[:-1]) / np.array(errors[1:]))


def steps(method, coarsest):
    """Three step sizes [s] that are halved; longer for schemes that would be at round-off."""
    longer = {"LobattoIIIAB": 4, "LobattoIIIAB stages=2": 1, "LobattoIIIAB stages=4": 8}.get(label(method), 1)
    return longer * coarsest / np.array([1, 2, 4])


def expected_order(method):
    return 6 if method is LOBATTO_4 else order_of(method)


# --- motion ---------------------------------------------------------------------------------------------------------


@with_four_stages
def test_a_wobbling_disc_converges_to_its_equations_of_motion_with_the_order_of_the_method(method):
    # t_end is a multiple of the longest step; the reference is good to 1e-12
    place, axis = case.disc_reference(case.disc_model(push=case.PUSH), 0.64)
    errors = []
    for h in steps(method, 1e-2):
        result = method.run(case.disc_model(push=case.PUSH), 0.64, h)
        disc = result["disc"]
        off = np.concatenate([disc.position[-1, :2] - place, disc.rotation[-1, :, 2] - axis])
        errors.append(np.abs(off).max())
    # measured: 0.93 for the cone, 1.08 for theta = 1, 1.98 … 2.06, 4.00, 5.98
    assert orders(errors)[-1] == pytest.approx(expected_order(method), abs=0.15), errors
    assert np.ptp(result["floor"].tilt) > 0.1  # it wobbles


@with_four_stages
def test_a_sleigh_turns_as_the_closed_form_says(method):
    errors = []
    for h in steps(method, 2.5e-2):
        result = method.run(case.sleigh_model(), 3.0, h)
        errors.append(abs(case.heading(result) - case.sleigh_exact(result.t[-1])[0]))
    assert orders(errors)[-1] == pytest.approx(expected_order(method), abs=0.15), errors


@with_four_stages
def test_rows_that_depend_on_time_and_place_are_integrated_with_the_order_of_the_method(method):
    exact, errors = driven_point_reference(1.28), []
    for h in steps(method, 2e-2):
        point = method.run(driven_point(), 1.28, h)["point"]
        errors.append(np.abs(np.concatenate([point.position[-1, :2], point.velocity[-1, :2]]) - exact).max())
    # Moreau's G(q_n) is that of the time at the end, which matters where G turns with time (docs/theory/moreau_jean.md)
    order = 1 if isinstance(method, fem.MoreauJean) else expected_order(method)
    assert orders(errors)[-1] == pytest.approx(order, abs=0.2), errors


@every_method
def test_rates_hold_in_every_saved_state(method):
    result = method.run(case.disc_model(push=case.PUSH), 0.5, 1e-2)
    if isinstance(method, CONE):  # rows at the start of a step: what they turn in it is left to the next
        half = method.run(case.disc_model(push=case.PUSH), 0.5, 5e-3)
        assert np.log2(result.violation.velocity.max() / half.violation.velocity.max()) > 0.8
        return
    if holds_velocities(method):
        assert result.violation.velocity.max() < 1e-11
    # "index 3" leaves the rate of its row of positions, and solves rows of velocities to what positions ask for
    assert np.abs(result["floor"].slip[:, :2]).max() < (1e-11 if holds_velocities(method) else 1e-6)
    if not drifts(method):
        assert result.violation.position.max() < 1e-10  # the row of the height


@pytest.mark.parametrize("method", [fem.LobattoIIIAB(stages=s) for s in (2, 3, 4)], ids=label)
def test_the_energy_of_a_disc_does_not_drift(method):
    """Twenty seconds of wobbling: averages over the first and the last fifth; the exchange between them is bounded."""
    h = {2: 5e-3, 3: 2e-2, 4: 4e-2}[method.stages]
    total = method.run(case.disc_model(push=case.PUSH), 20.0, h).energy.total
    fifth = len(total) // 5
    swing = np.ptp(total[:fifth])
    assert abs(total[-fifth:].mean() - total[:fifth].mean()) < swing
    assert np.ptp(total) < 2.0 * swing
    assert np.ptp(total) < 1e-3 * abs(total[0])


@pytest.mark.parametrize("method", [fem.DecoupledNSGA(), fem.LobattoIIIAB(), fem.GeneralizedAlpha()], ids=label)
def test_a_model_that_is_turned_and_moved_moves_the_same(method):
    Q, c = exp([0.4, -1.1, 0.7]), np.array([0.3, -0.2, 0.5])
    plain = case.disc_model(push=case.PUSH)
    first, node = method.run(plain, 0.5, 1e-2), plain["disc"].node
    model = fem.Model("turned", gravity=Q @ plain.gravity)
    body = fem.RigidBody(case.MASS, [case.A, case.A, case.C], position=Q @ node.position + c, name="disc",
                         rotation=Q @ node.rotation, velocity=Q @ node.velocity,
                         angular_velocity=Q @ node.angular_velocity)  # fmt: skip
    joint = fem.RollingDisc.at(model.ground, body, body.node.position, radius=case.RADIUS, normal=Q[:, 2], name="floor")
    model.add(body, joint)
    second = method.run(model, 0.5, 1e-2)
    assert np.abs(first["disc"].position @ Q.T + c - second["disc"].position).max() < 1e-9
    assert np.abs(first["floor"].force @ Q.T - second["floor"].force).max() < 1e-7


@pytest.mark.parametrize(
    "method", [fem.DecoupledNSGA(), fem.LobattoIIIAB(), fem.MoreauJean(projection=True)], ids=label
)
def test_a_disc_on_a_plate_that_moves_uniformly_rolls_as_on_one_at_rest(method):
    v = np.array([0.8, 0.0, 0.0])
    plain = case.disc_model(push=case.PUSH)
    node = plain["disc"].node
    first = method.run(plain, 0.5, 1e-2)
    model = fem.Model("on a plate", gravity=plain.gravity)
    plate = fem.RigidBody(5.0, 1.0, velocity=v, fixed=("y", "z", "rx", "ry", "rz"), name="plate")
    body = fem.RigidBody(case.MASS, [case.A, case.A, case.C], position=node.position, rotation=node.rotation,
                         velocity=node.velocity + v, angular_velocity=node.angular_velocity, name="disc")  # fmt: skip
    model.add(plate, body, fem.Prescribed(plate, x=lambda t: 0.8 * t, name="drive"))
    model.add(fem.RollingDisc.at(plate, body, node.position, radius=case.RADIUS, name="floor"))
    second = method.run(model, 0.5, 1e-2)
    moved = first["disc"].position + np.outer(first.t, v)
    assert np.abs(moved - second["disc"].position).max() < 1e-8
    assert np.abs(first["floor"].force - second["floor"].force).max() < 1e-6


@every_method
def test_a_motor_that_holds_a_rate_gives_the_moment_that_turns_its_body(method):
    model = fem.Model("motor", gravity=[0, 0, 0])
    wheel = model.add(fem.RigidBody(1.0, [0.1, 0.1, 0.2], angular_velocity=[0, 0, 1.0], name="wheel"))
    model.add(fem.Revolute.at(model.ground, wheel, [0, 0, 0], [0, 0, 1], name="axle"))
    model.add(RateMotor(wheel, lambda t: 1.0 + np.sin(2 * t), name="motor"))
    result = method.run(model, 0.5, 5e-3)
    t = result.t[-1]
    assert result["wheel"].angular_velocity[-1, 2] == pytest.approx(1 + np.sin(2 * t), abs=1e-7)
    turned = t + 0.5 * (1 - np.cos(2 * t))
    R = result["wheel"].rotation[-1]
    assert np.arctan2(R[1, 0], R[0, 0]) == pytest.approx(turned, abs=1e-2 if order_of(method) == 1 else 1e-4)


# --- impacts, divided steps, restart --------------------------------------------------------------------------------


def sleigh_before_a_wall(restitution):
    """The sleigh with a bumper that hits a wall next to its path."""
    model = case.sleigh_model()
    wall = model.ground.frame([0.0, 0.35, 0.0], rotation=[np.pi / 2, 0, 0])  # normal along −y
    bumper = model["sleigh"].frame([0.2, 0, 0])
    model.add(fem.SphereOnPlane(bumper, wall, radius=0.05, restitution=restitution, name="wall"))
    return model


@every_method_with_contacts
def test_an_elastic_impact_keeps_the_energy_and_the_blade(method):
    relaxed = isinstance(method, CONE)
    result = method.run(sleigh_before_a_wall(1.0), 0.3, 1e-3)
    struck = np.flatnonzero(result["wall"].impulse[:, 0] > 0.1)
    assert len(struck) >= 1
    after, before = struck[0] + 1, struck[0] - 1
    total = result.energy.total
    # the rate at the start of the step is reflected; what forces change in it, h times 4 m/s², is not
    assert total[after] == pytest.approx(total[before], rel=3e-2 if relaxed else 1e-2)
    assert np.abs(result.violation.velocity).max() < (2e-2 if relaxed else 1e-10)
    # closed form: an impulse along −y at the bumper and one across the blade, which has no moment about the blade
    sleigh, R = result["sleigh"], result["sleigh"].rotation[struck[0]]
    impulse = -result["wall"].impulse[struck[0], 0] * np.array([0, 1.0, 0])
    jump = sleigh.velocity[after] - sleigh.velocity[before]
    turn = sleigh.angular_velocity[after, 2] - sleigh.angular_velocity[before, 2]
    along, arm = R[:, 0], R @ [case.BEHIND + 0.2, 0, 0]
    # two steps of 1 ms lie between: 8e-3 m/s
    assert jump @ along == pytest.approx(impulse @ along / case.MASS, abs=2e-2)
    inertia = case.INERTIA + case.MASS * case.BEHIND**2
    assert inertia * turn == pytest.approx(np.cross(arm, impulse)[2], abs=3e-2)
    assert abs(turn) > 1.0


def test_split_impacts_are_split_with_rows_of_velocities():
    errors = []
    reference = fem.DecoupledNSGA(impacts="split").run(sleigh_before_a_wall(0.5), 0.3, 1.25e-4)["sleigh"].position[-1]
    for h in (4e-3, 2e-3, 1e-3):
        result = fem.DecoupledNSGA(impacts="split").run(sleigh_before_a_wall(0.5), 0.3, h)
        assert result.statistics["split_impacts"] >= 1
        errors.append(np.abs(result["sleigh"].position[-1] - reference).max())
    assert np.polyfit(np.log([4, 2, 1]), np.log(errors), 1)[0] > 1.7, errors  # with impacts="plain" order 1


@pytest.mark.parametrize("method", [
    fem.DecoupledNSGA(step_control=fem.StepControl(tolerance=1e-6)),
    fem.LobattoIIIAB(step_control=fem.StepControl(tolerance=1e-8)),
    fem.GeneralizedAlpha(step_control=fem.StepControl(tolerance=1e-6)),
], ids=lambda m: type(m).__name__)  # fmt: skip
def test_steps_of_variable_size_follow_the_disc(method):
    place, _ = case.disc_reference(case.disc_model(push=case.PUSH), 1.0)
    result = method.run(case.disc_model(push=case.PUSH), 1.0, 2e-2)
    assert np.abs(result["disc"].position[-1, :2] - place).max() < 2e-3
    assert result.violation.velocity.max() < 1e-10


@pytest.mark.parametrize("method", [fem.DecoupledNSGA, fem.LobattoIIIAB, fem.GeneralizedAlpha])
def test_steps_that_are_taken_in_substeps_hold_rows_of_velocities(method):
    """Two iterations are too few for steps of 0.1 s: all of them are divided."""
    result = method(max_iterations=2).run(case.disc_model(push=case.PUSH), 0.8, 0.1)
    place, _ = case.disc_reference(case.disc_model(push=case.PUSH), 0.8)
    assert result.statistics["divided_steps"] == 8
    assert result.violation.velocity.max() < 1e-11
    # measured 2.7e-3, 1.6e-7, 4e-4; whole steps, 4 iterations allowed: 8e-3, 9e-5, 5e-3
    assert np.abs(result["disc"].position[-1, :2] - place).max() < 5e-3


@every_method
def test_a_run_continues_from_its_middle(method):
    whole = method.run(case.disc_model(push=case.PUSH), 0.4, 1e-2)
    system = case.disc_model(push=case.PUSH).compile()
    first = method.run(system, 0.2, 1e-2)
    system.initial = first.state(-1)
    second = method.run(system, 0.4, 1e-2)
    error = np.abs(second["disc"].position[-1] - whole["disc"].position[-1]).max()
    # methods of one step go on as they were; others begin with consistent accelerations
    assert error < (1e-9 if type(method).__name__ == "LobattoIIIAB" else 2e-3)


# --- what rows of velocities do not hold ------------------------------------------------------------------------------


def test_positions_are_projected_as_if_rows_of_velocities_were_not_there():
    model = case.sleigh_model()
    model.add(fem.Spherical.at(model.ground, model["sleigh"], [0, 0, 0], name="pin"))
    with pytest.raises(fem.ModelError, match="constraint rows"):  # z is fixed: one row of the pin is held twice
        model.compile()
    system = fem.System(model, check=False)
    state = system.initial.copy()
    state.x[model["sleigh"].node.index] += [0, 0.01, 0]  # across the blade
    model_checks.project_positions(system, state)
    assert np.abs(state.x[model["sleigh"].node.index]).max() < 1e-15


def test_initial_velocities_are_projected_with_rows_of_velocities():
    model = case.sleigh_model()
    model["sleigh"].node.velocity = np.array([case.SPEED, 0.5, 0.0])
    with pytest.raises(fem.ModelError, match=r"'blade'.*initial velocities.* 0\.4"):
        model.compile()
    system = model.compile(project=True)
    g, rate = system.constraint_values(system.initial)
    assert np.abs(rate).max() < 1e-14 and g.shape == (1,) and g[0] == 0.0
    # nearest in the metric of the masses: the impulse of the blade alone
    V = system.initial.V[model["sleigh"].node.index]
    impulse = case.MASS * (V[1] - 0.5)
    assert case.INERTIA * (V[5] - case.TURN) == pytest.approx(-case.BEHIND * impulse)
    assert np.array_equal(system.initial.x[model["sleigh"].node.index], np.zeros(3))


@pytest.mark.parametrize("second", ["blade", "rail"])
def test_redundant_constraints_of_a_blade_are_reported(second):
    model = case.sleigh_model()
    body = model["sleigh"]
    if second == "blade":
        model.add(fem.KnifeEdge.at(model.ground, body, [-case.BEHIND, 0.2, 0], [0, 1, 0], name="second"))
    else:  # its velocity is held by a joint of positions already
        body.node.velocity, body.node.angular_velocity = np.array([case.SPEED, 0, 0]), np.zeros(3)
        model.add(fem.Prescribed(body, y=0.0, name="y"), fem.Fixed.at(model.ground, body, [0, 0, 0], name="second"))
    with pytest.raises(fem.ModelError, match=r"constraint rows.*(blade|second)"):
        model.compile()


@pytest.mark.parametrize("method", [fem.DecoupledNSGA(), fem.LobattoIIIAB(), fem.GeneralizedAlpha()], ids=label)
def test_two_blades_on_one_line_share_the_force_if_that_is_allowed(method):
    model = case.sleigh_model()
    model.add(fem.KnifeEdge.at(model.ground, model["sleigh"], [-case.BEHIND, 0.2, 0], [0, 1, 0], name="second"))
    model.elements.remove(model["blade"])
    model.add(fem.KnifeEdge.at(model.ground, model["sleigh"], [-case.BEHIND, 0.0, 0], [0, 1, 0], name="first"))
    result = method.run(model.compile(redundant="allow"), 1.0, 1e-2)
    alone = method.run(case.sleigh_model(), 1.0, 1e-2)
    assert np.abs(result["sleigh"].position - alone["sleigh"].position).max() < 1e-6
    together = result["first"].force + result["second"].force
    assert np.abs(together - alone["blade"].force)[2:].max() < 1e-4


def test_a_row_of_velocities_is_no_support_of_what_has_no_mass():
    model = fem.Model("massless", gravity=[0, 0, 0])
    node = model.add(fem.Node6(fixed=("x", "y", "z", "rx", "ry"), name="shaft"))
    model.add(RateMotor(node, lambda t: 0.0, name="motor"))
    with pytest.raises(fem.ModelError, match=r"'shaft'.*rz.*no mass"):
        model.compile()


@pytest.mark.parametrize("count", [-1, 2])
def test_rows_of_velocities_are_among_the_rows_of_their_element(count):
    model = fem.Model("count")
    body = model.add(fem.RigidBody(1.0, 1.0))
    kind = type("Motor", (RateMotor,), {"velocity_rows": count})
    model.add(kind(body, lambda t: 0.0, name="motor"))
    with pytest.raises(fem.ModelError, match=f"'motor': velocity_rows = {count}, must be 0 … rows = 1"):
        model.compile()


def test_a_model_says_how_many_freedoms_velocities_and_positions_have():
    assert re.search("2 degrees.* 3 of positions", str(case.sleigh_model()))
    assert re.search("3 degrees.* 5 of positions", str(case.disc_model()))


@pytest.mark.parametrize("method", [fem.DecoupledNSGA(), fem.LobattoIIIAB(), fem.MoreauJean()], ids=label)
def test_a_disc_that_comes_to_lie_on_the_plane_ends_the_run_by_name(method):
    """Let go without spin it falls flat; from 20° it takes 0.22 s."""
    model, tilt = fem.Model("falling disc", gravity=[0, 0, -case.g]), np.radians(20)
    centre = [0, 0, case.RADIUS * np.sin(tilt)]
    disc = fem.RigidBody(case.MASS, [case.A, case.A, case.C], position=centre, rotation=[0, tilt, 0], name="disc")
    model.add(disc, fem.RollingDisc.at(model.ground, disc, centre, radius=case.RADIUS, name="floor"))
    with pytest.raises(fem.SolverError, match=r"'floor'.*0\.57°") as caught:
        method.run(model, 1.0, 1e-3)
    found = caught.value.result
    assert caught.value.element is model["floor"] and found.t[-1] == pytest.approx(0.215, abs=5e-3)
    assert 0.01 < found["floor"].tilt[-1] < 0.03


# --- refusals, modes ------------------------------------------------------------------------------------------------


def test_positions_alone_do_not_take_rows_of_velocities():
    method = fem.NonsmoothGeneralizedAlphaGGL(constraints="positions")
    with pytest.raises(fem.ParameterError, match=r"'blade'.*velocities alone.*.both."):
        method.run(case.sleigh_model(), 0.1, 1e-2)


def test_statics_rejects_joints_that_hold_no_position():
    with pytest.raises(fem.ParameterError, match=r"'floor'.*velocities, no positions"):
        fem.static_equilibrium(case.disc_model())


def upright(lean=0.0):
    """The disc at rest on its edge, its axis along y."""
    model = fem.Model("upright", gravity=[0, 0, -case.g])
    height = case.RADIUS * np.cos(lean)
    disc = fem.RigidBody(
        case.MASS, [case.A, case.C, case.A], position=[0, 0, height], rotation=[lean, 0, 0], name="disc"
    )
    joint = fem.RollingDisc.at(model.ground, disc, [0, 0, height], disc.node.rotation[:, 1], radius=case.RADIUS)
    model.add(disc, joint)
    return model


def test_modes_of_a_disc_at_rest_on_its_edge_fall_over_as_the_closed_form_says():
    found = fem.modes(upright(), 10)
    rate = np.sqrt(case.MASS * case.g * case.RADIUS / (case.A + case.MASS * case.RADIUS**2))
    assert found.omega == pytest.approx([-rate, 0.0, 0.0], rel=1e-12, abs=1e-12)  # falls, rolls, turns
    assert any("RollingDisc" in remark and "s = 0" in remark for remark in found.warnings)
    assert not any("no equilibrium" in remark for remark in found.warnings)


def test_modes_of_a_turned_disc_are_the_same():
    model, Q = upright(), exp([0.3, -0.8, 0.5])
    disc, turned = model["disc"].node, fem.Model("turned", gravity=Q @ model.gravity)
    body = fem.RigidBody(case.MASS, [case.A, case.C, case.A], position=Q @ disc.position, rotation=Q, name="disc")
    turned.add(body, fem.RollingDisc.at(turned.ground, body, Q @ disc.position, Q[:, 1], radius=case.RADIUS,
                                        normal=Q[:, 2]))  # fmt: skip
    assert fem.modes(turned, 3).omega == pytest.approx(fem.modes(model, 3).omega, rel=1e-9, abs=1e-6)


def test_modes_have_the_stiffness_of_the_reaction_of_a_blade():
    """A blade holds a body against its weight, a spring its angle: what turns it lets it slide along the blade.

    J θ'' = −k θ,  m x'' = −m g θ: the stiffness is unsymmetric, x = g J/k θ.
    """
    k, model = 3.0, fem.Model("blade on a slope", gravity=[0, -case.g, 0])
    body = model.add(fem.RigidBody(case.MASS, case.INERTIA, fixed=("z", "rx", "ry"), name="body"))
    model.add(fem.KnifeEdge.at(model.ground, body, [0, 0, 0], [0, 1, 0], name="blade"))
    model.add(fem.TorsionSpring.at(model.ground, body, [0, 0, 0], [0, 0, 1], stiffness=k, name="spring"))
    found = fem.modes(model, 10)
    swings = int(np.argmax(found.omega))
    assert found.omega[swings] == pytest.approx(np.sqrt(k / case.INERTIA), rel=1e-9)
    shape = found.shapes[swings][body.node.index]
    assert np.real(shape[0] / shape[5]) == pytest.approx(case.g * case.INERTIA / k, rel=1e-7)
    assert not any("no equilibrium" in remark for remark in found.warnings)


def test_modes_of_a_disc_that_is_not_at_rest_say_so():
    assert any("no equilibrium" in remark for remark in fem.modes(upright(lean=0.1), 3).warnings)


def test_modes_about_a_steady_rotation_do_not_take_rows_of_velocities():
    with pytest.raises(fem.ParameterError, match=r"rotation = .*RollingDisc.*velocities"):
        fem.modes(upright(), rotation=[0, 0, 1.0])


def test_two_wheels_that_hold_an_axle_twice_share_the_force_along_it():
    """They roll on a circle at 1 m/s and 0.5 rad/s: 3 kg need 1.5 N along the axle. It was ±1e4 N after 60 steps."""
    turn, model = 0.5, fem.Model("cart", gravity=[0, 0, -9.81])
    options = {"velocity": [1.0, 0, 0], "angular_velocity": [0, 0, turn]}
    axle = model.add(fem.RigidBody(2.0, [0.1, 0.02, 0.1], position=[0, 0, 0.3], name="axle", **options))
    model.add(fem.SphereOnPlane(axle.frame([0.3, 0, -0.25]), model.ground, radius=0.05, name="nose"))
    for side in (1, -1):
        place, speed = [0, 0.4 * side, 0.3], 1.0 - 0.4 * side * turn
        options = {"velocity": [speed, 0, 0], "angular_velocity": [0, speed / 0.3, turn], "position": place}
        wheel = model.add(fem.RigidBody(0.5, [0.02, 0.04, 0.02], name=f"wheel {side}", **options))
        model.add(fem.Revolute.at(axle, wheel, place, axis=[0, 1, 0], name=f"hinge {side}"))
        model.add(fem.RollingDisc.at(model.ground, wheel, place, axis=[0, 1, 0], radius=0.3, name=f"disc {side}"))
    system = model.compile(redundant="allow")
    for h in (2e-3, 5e-4):
        result = fem.DecoupledNSGA().run(system, 60 * h, h)
        shares = [np.linalg.norm(result[f"disc {side}"].force[-1, :2]) for side in (1, -1)]
        assert sum(shares) == pytest.approx(1.5, rel=5e-3)  # the cart has slowed down a little
        assert min(shares) > 0.7 and not result.warnings
