"""Every time stepper: what must hold whatever the method is. A method that is registered is tested here."""

import inspect
import re

import bouncing_ball
import double_pendulum
import numpy as np
import pytest
from every_stepper import (
    CONE,
    METHODS,
    SMOOTH,
    WITHOUT_GROUPS,
    drifts,
    every_method,
    every_method_with_contacts,
    holds_velocities,
    label,
    order_of,
)

import fem_mbs as fem
from fem_mbs.errors import ParameterError, SolverError
from fem_mbs.solvers import STEPPERS
from fem_mbs.solvers.stepping import stepper


def slide(angle, friction):
    """A point on a slope: gravity is tilted, the plane is level."""
    tilted = 9.81 * np.array([np.sin(angle), 0, -np.cos(angle)])
    model = fem.Model("slope", gravity=tilted)
    point = model.add(fem.PointMass(2.0, name="point"))
    model.add(fem.SphereOnPlane(point, model.ground, radius=0.0, friction=friction, name="slope"))
    return model


def hitting_pendulum(method):
    """A rod on a hinge that hits a table: joints, impacts, friction, rolling, an output; or one that meets nothing."""
    model = fem.Model("pendulum", gravity=[0, 0, -9.81])
    rod = model.add(fem.RigidBody.box(1.0, [0.5, 0.1, 0.1], position=[0.25, 0, 0.12], name="rod"))
    model.add(fem.Revolute.at(model.ground, rod, [0, 0, 0.12], axis=[0, 1, 0], name="hinge"))
    name = type(method).__name__
    if name not in SMOOTH:
        law = {"friction": 0.3, "rolling_resistance": 1e-3}
        model.add(fem.SphereOnPlane(rod.frame([0.25, 0, 0]), model.ground, radius=0.1, name="table", **law))
    return model


def cantilever(elements=4):
    """A steel strip, clamped at one end, with gravity across it."""
    section = fem.Section.rectangle(0.02, 0.004, E=2.1e11, nu=0.3, density=7800.0)
    tip = fem.Node6([0.5, 0, 0], name="tip")
    model = fem.Model("cantilever", gravity=[0, 0, -9.81])
    model.add(fem.beam_line(fem.Node6(fixed=True), tip, elements, section, name="strip"))
    return model


# --- contacts ----------------------------------------------------------------


@every_method_with_contacts
def test_a_bouncing_ball_comes_to_rest_and_is_held_with_its_weight(method):
    h = 2e-3
    result = method.run(bouncing_ball.build(), 4.5, h)
    table, ball = result["table"], result["ball"]
    # bounces accumulate at 3.602 s; velocities that a forecast leaves fall by the factor e in a step from there
    resting = result.t > 4.3
    assert np.abs(table.force_normal[resting] - 10.0).max() < 1e-8
    assert np.abs(ball.velocity[resting]).max() < 1e-10
    # an impact is early or late by a step at most, at 4 m/s: first order
    assert np.abs(table.gap - bouncing_ball.exact_gap(result.t)).max() < 25 * h
    assert table.gap.min() > (-4.1 * h if drifts(method) else -1e-12)  # the fastest impact, 4 m/s


@every_method_with_contacts
@pytest.mark.parametrize("friction", [0.2, 0.7])
def test_a_point_on_a_slope_sticks_below_the_friction_angle_and_slides_above_it(method, friction):
    angle = np.arctan(friction)
    h = 5e-3
    sticks = method.run(slide(angle - 1e-4, friction), 0.5, h)["point"]
    slides = method.run(slide(angle + 1e-4, friction), 0.5, h)["point"]
    solved = method.rtol * 9.81 * h  # what friction rows are solved to: rtol of the weight, in a step
    assert np.abs(sticks.velocity).max() < solved
    acceleration = 9.81 * (np.sin(angle + 1e-4) - friction * np.cos(angle + 1e-4))
    # in the relaxed law a point is lifted as it gains speed: h ΔN = μ (Δv_n − Δv_n−1), which sums up to this time
    lifts = isinstance(method, CONE) and method.relaxed
    lost = friction**2 * h if lifts else 0.0
    # in the relaxed law friction depends on how the normal row is solved
    assert slides.velocity[-1, 0] == pytest.approx(acceleration * (0.5 - lost), rel=1e-5, abs=solved if lifts else 0.0)


@every_method_with_contacts
def test_a_ball_shot_at_a_ball_in_one_step_never_gets_behind_it_unseen(method):
    model = fem.Model("shot", gravity=[0, 0, 0])
    target = model.add(fem.RigidBody.sphere(1.0, 0.1, name="target"))
    shot = model.add(fem.RigidBody.sphere(1.0, 0.1, position=[-0.45, 0, 0], velocity=[100, 0, 0], name="shot"))
    model.add(fem.SphereOnSphere(shot, target, radius_A=0.1, radius_B=0.1, name="pair"))
    try:
        result = method.run(model, 5e-2, 1e-2)
    except SolverError as error:  # what the balls would have done is reported, not computed
        assert re.search("'pair'.*within the step", str(error)) and error.element is model["pair"]
        assert len(error.result.t) == 1
    else:
        assert (result["shot"].position[:, 0] < result["target"].position[:, 0]).all()


# --- smooth motion -----------------------------------------------------------


@every_method
def test_a_spatial_double_pendulum_converges_with_the_order_of_the_method(method):
    errors = []
    coarsest = 1e-2 if order_of(method) < 4 else 4e-2  # the reference has nine decimals
    for h in coarsest / np.array([1, 2, 4]):
        result = method.run(double_pendulum.build(), 1.0, h)
        ends = [result[f"body {i}"].position[-1] - double_pendulum.REFERENCE[f"centre {i}"] for i in (1, 2)]
        errors.append(np.abs(ends).max())
    orders = np.log2(np.array(errors[:-1]) / errors[1:])
    assert orders == pytest.approx(order_of(method), abs=0.15), errors


@every_method
def test_joints_hold(method):
    for model, t_end in ((double_pendulum.build(), 1.0), (hitting_pendulum(method), 0.3)):
        violation = method.run(model, t_end, 5e-3).violation
        if isinstance(method, CONE):  # joints are those of the start of the step: what it turns is left to the next
            half = method.run(model, t_end, 2.5e-3).violation
            for coarse, fine, order in (
                (violation.position, half.position, 2), (violation.velocity, half.velocity, 1)
            ):  # fmt: skip
                assert np.log2(coarse.max() / fine.max()) > 0.8 * order
            continue
        if holds_velocities(method):
            assert violation.velocity.max() < 5e-12
        if not drifts(method):
            assert violation.position.max() < 1e-12


@every_method
def test_a_clamped_beam_swings_about_its_deflection_with_its_first_frequency(method):
    model = cantilever()
    omega = fem.modes(model, 1).omega[0]
    period = 2 * np.pi / omega
    if isinstance(method, STEPPERS["LobattoIIIAB"]):
        with pytest.raises(ParameterError, match=r"h = .*highest frequency.* 2\.5"):
            method.run(model, 2 * period, period / 400)
        return
    deflection = fem.static_equilibrium(model).results["tip"].position[-1, 2]
    result = method.run(model, 2 * period, period / 400)
    z, mean = result["tip"].position[:, 2], deflection
    down = np.flatnonzero((z[:-1] > mean) & (z[1:] <= mean))
    crossings = result.t[down] + (z[down] - mean) / (z[down] - z[down + 1]) * result.h[1]
    assert np.diff(crossings) == pytest.approx(period, rel=5e-3)
    # swings between 0 and twice the deflection; θ = 1 damps by π ω h in a period
    assert z.min() == pytest.approx(2 * mean, rel=0.03)


# --- what is recorded, saved, restored ---------------------------------------


@every_method
def test_every_number_of_every_record_is_filled(method):
    system = hitting_pendulum(method).compile()
    engine = method.prepare(system, 1e-3)
    block = engine.make_records(200)
    unset = {"f": np.nan, "i": 77}
    for array in block.values():
        array[:] = unset[array.dtype.kind]
    engine.first(block)
    first = {name: array[:1].copy() for name, array in block.items()}
    for array in block.values():
        array[:] = unset[array.dtype.kind]
    done, saved, error = engine.march.advance(np.arange(1, 201) * 1e-3, block)
    assert (done, saved, error) == (200, 200, None) and (block["impact"].any() or type(method).__name__ in SMOOTH)
    block["step"][76] = 0  # step 77 is the one that may be called so
    for part in (first, block):
        for name, array in part.items():
            left = np.isnan(array) if array.dtype.kind == "f" else array == 77
            assert not left.any(), name


@every_method
def test_results_say_all_options_of_the_method(method):
    said = method.run(hitting_pendulum(method), 1e-2, 5e-3).parameters
    assert said["stepper"] == type(method).__name__
    options = inspect.signature(type(method)).parameters
    assert {name: said[name] for name in options} == {name: getattr(method, name) for name in options}


@every_method
def test_a_driven_hinge_turns_as_its_driver_says(method):
    def model():
        return double_pendulum.build(rate_1=0.0, driven=lambda t: 0.5 * (1 - np.cos(3 * t)))

    result = method.run(model(), 0.5, 5e-3)
    angle = result["joint 1"].angle - 0.5 * (1 - np.cos(3 * result.t))
    assert np.abs(angle).max() < (5e-3 if drifts(method) else 1e-11)  # 3.7e-3 with θ = 1


@every_method
def test_every_third_step_is_saved_when_asked(method):
    every, third = (method.run(hitting_pendulum(method), 0.5, 5e-3, save_every=n) for n in (1, 3))
    saved = [*range(0, 101, 3), 100]  # the last one as well
    assert third.step.tolist() == saved
    rows, kept = every.rows(np.array(saved)), third.rows(np.arange(35))
    # of all steps since the state that was saved before
    sums = {"impulse", "moment_impulse", "problems", "repeats", "contact_problems"} & set(kept)
    first = [0, *(k + 1 for k in saved[:-1])]
    all_rows = every.rows(np.arange(101))
    for name in sums:
        expected = [all_rows[name][i : k + 1].sum(axis=0) for i, k in zip(first, saved)]
        np.testing.assert_allclose(kept[name], expected, rtol=1e-13, atol=1e-15, err_msg=name)
    hit = [all_rows["impact"][i : k + 1].max(axis=0) for i, k in zip(first, saved)]
    assert np.array_equal(kept["impact"], hit)
    for name in set(kept) - sums - {"impact", "contact_force", "contact_moment"}:
        assert np.array_equal(kept[name], rows[name]), name
    for contact in third.system.contacts if hasattr(third, "system") else ():
        assert np.array_equal(third[contact].force, every[contact].force[saved])


@every_method
def test_two_chunks_are_bit_equal_to_one(method, monkeypatch):
    usual = method.run(hitting_pendulum(method), 0.5, 2e-3)
    monkeypatch.setattr(stepper, "CHUNK_BYTES", 1.0)  # one step at a time
    single = method.run(hitting_pendulum(method), 0.5, 2e-3)
    chosen = np.arange(len(usual.t))
    for name, values in usual.rows(chosen).items():
        assert np.array_equal(values, single.rows(chosen)[name]), name


@every_method
def test_a_failed_step_leaves_what_was_computed_before_it(method):
    def model(t_fail):
        model = fem.Model("falls", gravity=[0, 0, -9.81])
        body = model.add(fem.RigidBody(1.0, 1.0, name="rod"))
        model.add(fem.PointForce(body, lambda t: [np.nan if t > t_fail else 1.0, 0, 0], name="thrust"))
        return model

    def law(x, R, v, t):
        return np.full(6, np.nan if t > 0.125 else 0.0)

    user = model(np.inf)
    user.add(fem.UserForce(user["rod"], law, name="law"))
    for broken in (model(0.125), user):
        with pytest.raises(SolverError) as caught:
            method.run(broken, 1.0, 1e-2)
        result = caught.value.result
        assert np.array_equal(result.step, np.arange(13)) and np.isfinite(result["rod"].position).all()


@every_method
def test_a_step_that_turns_too_far_is_rejected_by_name(method):
    model = fem.Model("spins", gravity=[0, 0, 0])
    model.add(fem.RigidBody(1.0, 1.0, angular_velocity=[0, 0, 350.0], name="rod"))
    with pytest.raises(SolverError, match=r"rod.* 3 rad") as caught:
        method.run(model, 0.1, 1e-2)
    assert len(caught.value.result.t) == 1
    assert ("rho_inf" in str(caught.value)) == (method.rho_inf is not None)


# --- what one method does not have -------------------------------------------


def heap():
    """Eight balls over a floor, two and two above each other, in one contact group."""
    model = fem.Model("heap", gravity=[0, 0, -9.81])
    group = fem.ContactGroup(friction=0.3, name="heap contacts")
    for i in range(8):
        place = [0.21 * (i % 2), 0.21 * (i // 2 % 2), 0.11 + 0.22 * (i // 4)]
        group.sphere(model.add(fem.RigidBody.sphere(1.0, 0.1, position=place, name=f"ball {i}")), 0.1)
    group.obstacle(fem.SphereOnPlane, model.ground.frame())
    model.add(group)
    return model


@pytest.mark.parametrize("method", [m for m in METHODS if label(m) not in WITHOUT_GROUPS], ids=label)
def test_a_heap_in_a_contact_group_rests_on_the_floor_with_its_weight(method):
    result = method.run(heap(), 0.5, 2e-3)
    last = result.pairs(len(result.t) - 1)
    floor = last.impulse[last.type > 0].sum(axis=0)
    assert floor == pytest.approx([0, 0, 8 * 9.81 * 2e-3], abs=1e-4 * 8 * 9.81 * 2e-3)
    lowest = min(result.pairs(k).gap.min(initial=0.0) for k in range(len(result.t)))
    # fall of 2 cm: 0.6 m/s at the floor, of which a step of a method that drifts goes in half
    assert lowest > (-0.7 * 2e-3 if isinstance(method, STEPPERS["MoreauJean"]) and drifts(method) else -1e-7)


@pytest.mark.parametrize("method", [m for m in METHODS if label(m) in WITHOUT_GROUPS], ids=label)
def test_contact_groups_are_rejected_by_methods_and_options_that_do_not_support_them(method):
    with pytest.raises(ParameterError, match=r"DecoupledNSGA.*heap|heap.*DecoupledNSGA"):
        method.run(heap(), 0.1, 1e-3)


def test_an_option_that_another_method_has_is_reported():
    with pytest.raises(ParameterError, match=r"persistent_contacts = True.*DecoupledNSGA"):
        fem.MoreauJean(persistent_contacts=True)
    having = ".*DecoupledNSGA.* have it$"
    with pytest.raises(ParameterError, match=rf"step_control = .*parameter.*{having}"):
        fem.MoreauJean(step_control=fem.StepControl())


def test_a_contact_that_a_method_does_not_support_is_reported_in_a_sentence():
    model = fem.Model("ball")
    ball = model.add(fem.RigidBody.sphere(1.0, 0.1, position=[0, 0, 1], name="ball"))
    model.add(fem.SphereOnPlane(ball, model.ground, radius=0.1, name="hit"))
    with pytest.raises(ParameterError, match=r"^GeneralizedAlpha: SphereOnPlane 'hit'.*contact.* De"):
        fem.GeneralizedAlpha().run(model, 0.1, 1e-3)


def test_moreau_jean_rejects_options_of_others():
    for option in ("persistent_contacts", "step_control", "contact_solver", "rho_inf"):
        with pytest.raises(ParameterError, match=option):
            fem.MoreauJean(**{option: True})
    for theta in (0.4, 1.1, np.nan, "half"):
        with pytest.raises(ParameterError, match="theta"):
            fem.MoreauJean(theta)


def test_lobatto_rejects_other_numbers_of_stages_options_of_others_and_nodes_that_turn_about_two_axes():
    for stages in (1, 12, 2.5, "three"):
        with pytest.raises(ParameterError, match="stages"):
            fem.LobattoIIIAB(stages)
    for option in ("persistent_contacts", "step_control", "contact_solver", "rho_inf"):
        with pytest.raises(ParameterError, match=option):
            fem.LobattoIIIAB(**{option: True})
    model = fem.Model("gimbal", gravity=[0, 0, 0])
    model.add(fem.RigidBody(1.0, 1.0, fixed=("x", "y", "z", "rx"), name="gimbal"))
    with pytest.raises(ParameterError, match=r"gimbal.*axes"):
        fem.LobattoIIIAB().run(model, 0.1, 1e-2)


def stiff_cantilever(load):
    """A steel rod, 0.5 m long and 1 cm thick, whose tip carries a load [N] across; nothing else."""
    model = fem.Model("rod", gravity=[0, 0, 0])
    section = fem.Section.circle(5e-3, E=2e11, nu=0.3, density=7800.0)
    rod = model.add(fem.beam_line([0, 0, 0], np.array([0.3, 0.0, 0.4]), 4, section, name="rod"))
    model.add(fem.Fixed.at(model.ground, rod.nodes[0], [0, 0, 0], name="clamp"))
    if load:
        model.add(fem.PointForce(rod.nodes[-1].frame(), [0, load, 0], name="load"))
    return model, rod.nodes[-1]


# Lobatto IIIA-IIIB is explicit in what is stiff and takes such steps of no rod; the others: no bound of the step
STIFF = [method for method in METHODS if type(method).__name__ != "LobattoIIIAB"]


@pytest.mark.parametrize("h", [1e-5, 1e-3, 2e-2])
@pytest.mark.parametrize("method", STIFF, ids=label)
def test_a_stiff_rod_without_load_stays_at_rest(method, h):
    """Its forces are the round-off of positions, which no iteration removes, and there is no velocity to compare."""
    model, tip = stiff_cantilever(0.0)
    result = method.run(model, 20 * h, h)
    assert np.abs(result[tip.name].position - result[tip.name].position[0]).max() < 1e-13
    assert np.abs(result[tip.name].velocity).max() < 1e-13 / min(h, 1e-3)


@pytest.mark.parametrize("method", [fem.MoreauJean(1.0), CONE(), CONE(False)], ids=label)
@pytest.mark.parametrize("load", [1e-6, 1e-3])
def test_a_lightly_loaded_stiff_rod_bends_as_its_stiffness_says(method, load):
    """4e-10 m and less than 1e-7 m/s: the test of round-off must not take them for it."""
    model, tip = stiff_cantilever(load)
    result = method.run(model, 1.0, 2e-2)  # the first mode, 178 rad/s, is damped to a half in each step
    EI, GA = 2e11 * np.pi * 5e-3**4 / 4, 2e11 / 2.6 * np.pi * 5e-3**2
    assert result[tip.name].position[-1, 1] == pytest.approx(load * (0.5**3 / (3 * EI) + 0.5 / (0.9 * GA)), rel=1e-4)


@every_method_with_contacts
@pytest.mark.parametrize("degrees, slides", [(8.0, False), (12.0, True)])
def test_rolling_resistance_holds_a_ball_on_a_slope_and_lets_it_roll_where_it_is_steeper(method, degrees, slides):
    """An arm of 0.02 m holds a ball of 0.1 m up to 11.3°; beyond it accelerates with 5/7 of the excess."""
    slope, h, end = np.radians(degrees), 5e-3, 1.0
    model = fem.Model("slope", gravity=[0, 0, -9.81])
    up = np.array([np.sin(slope), 0, np.cos(slope)])
    ball = model.add(fem.RigidBody.sphere(1.0, 0.1, position=0.1 * up, name="ball"))
    floor = model.ground.frame(rotation=[0, slope, 0])
    law = {"friction": 0.5, "rolling_resistance": 0.02, "spinning_resistance": 1e-3}
    model.add(fem.SphereOnPlane(ball, floor, radius=0.1, name="floor", **law))
    result = method.run(model, end, h)
    x = result["ball"].position
    pull = 9.81 * (np.sin(slope) - 0.2 * np.cos(slope)) / 1.4 if slides else 0.0
    way = np.linalg.norm(x[-1] - x[0])
    # the first step may move it by what a free body moves, or give no velocity
    assert way == pytest.approx(0.5 * pull * end**2, abs=9.81 * h * h + pull * h)
    if not slides:
        later = x[len(x) // 2 :]
        assert np.abs(later - later[0]).max() < 1e-7  # 1.2 mm where positions did not include the moment
