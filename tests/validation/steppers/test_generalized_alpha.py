"""GeneralizedAlpha: errors of an independent prototype, orders, drift, stiff and compliant models, refusals."""

from functools import cache

import contact_models
import double_pendulum
import driven_double_pendulum
import falling_cantilever
import numpy as np
import pytest
from pendulum_errors import (
    LATER,
    NODES,
    TIGHT,
    TIMES,
    driven_motion,
    flexible_errors,
    free_motion,
    pendulum_errors,
    steps,
)

import fem_mbs as fem
from fem_mbs.errors import ParameterError, SolverError

FORMULATIONS = ["stabilised", "index 3"]
STEPS = np.array([2e-2, 1e-2, 5e-3, 2.5e-3])
END = 0.5  # s
SETTLED = TIMES[: steps(END, TIMES[1]) + 1] >= 0.3 - 1e-9  # the start of index 3 has left the reactions, at h ≤ 5 ms


@cache
def free(formulation, rho_inf, h):
    method = fem.GeneralizedAlpha(rho_inf, formulation=formulation, rtol=TIGHT)
    return method.run(double_pendulum.build(), END, h)


def reaction_error(result):
    """Largest error of the forces and moments of both joints once the start is forgotten."""
    k = steps(TIMES[: len(SETTLED)], result.h[-1])
    parts = [getattr(result[joint], effort)[k] for joint in ("joint 1", "joint 2") for effort in ("force", "moment")]
    exact = np.array([pendulum.efforts() for pendulum in free_motion()[: len(k)]])
    return np.abs(np.hstack(parts) - exact)[SETTLED].max()


def linear_error(result):
    """Largest error of the velocities of both centres."""
    k, errors = steps(TIMES[: len(SETTLED)], result.h[-1]), []
    for name, node in zip(("body 1", "body 2"), NODES["com"]):
        for i, p in zip(k, free_motion()):
            origin, R, w = (p.p2, p.R2, p.w2) if name == "body 2" else (0 * p.p2, p.R1, p.w1)
            exact = np.cross(p.w1, origin) + np.cross(w, R @ node)
            errors.append(np.abs(result[name].velocity[i] - exact).max())
    return max(errors)


@pytest.mark.parametrize(
    "formulation, printed",
    [("stabilised", (2.4e-4, 3.8e-4, 1.4e-3, 1.8e-2)), ("index 3", (3.0e-4, 4.5e-4, 1.6e-3, 2.3e-2))],
)
def test_double_pendulum_has_the_errors_of_the_prototype(formulation, printed):
    result = free(formulation, 0.8, 5e-3)
    x, R = pendulum_errors(result, free_motion(), NODES["com"])[0][:2]
    obtained = x, R, linear_error(result), reaction_error(result)
    for value, digits in zip(obtained, printed):  # two digits are printed
        assert value == pytest.approx(digits, abs=0.51 * 10.0 ** (np.floor(np.log10(digits)) - 1)), obtained


@pytest.mark.parametrize("rho_inf", [0.0, 0.8])
@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_motion_is_second_order_over_four_step_sizes(formulation, rho_inf):
    results = [free(formulation, rho_inf, h) for h in STEPS]
    errors = np.array([pendulum_errors(result, free_motion(), NODES["com"])[0][:3] for result in results])
    slopes = np.polyfit(np.log(STEPS), np.log(errors), 1)[0]
    assert np.abs(slopes - 2.0).max() < 0.06, slopes  # 1.95 … 2.00 measured


def test_reactions_are_second_order():
    errors = [reaction_error(free("stabilised", 0.8, h)) for h in STEPS]
    assert np.polyfit(np.log(STEPS), np.log(errors), 1)[0] == pytest.approx(2.0, abs=0.03)
    errors = [reaction_error(free("index 3", 0.8, h)) for h in STEPS[2:]]
    assert np.log2(errors[0] / errors[1]) == pytest.approx(2.0, abs=0.03)


@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_driven_pendulum_and_its_moment_are_second_order(formulation):
    motion, moment = driven_motion()
    count, errors = len(SETTLED), []
    for h in STEPS[1:]:
        method = fem.GeneralizedAlpha(formulation=formulation, rtol=TIGHT)
        result = method.run(driven_double_pendulum.build(), END, h)
        motions = pendulum_errors(result, motion, NODES["off"], moment[:count])[0][:3]
        drive = np.abs(result["driver"].moment[steps(TIMES[:count], h)] - moment[:count])
        errors.append([*motions, drive[SETTLED & LATER[:count]].max()])
    orders = np.log2(np.array(errors[-2]) / errors[-1])
    assert np.abs(orders[:3] - 2.0).max() < 0.01, (orders, errors)
    assert orders[3] == pytest.approx(2.0, abs=0.1), errors  # 2.08 with index 3, whose start is not quite forgotten


@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_a_flexible_pendulum_is_second_order_over_four_step_sizes(formulation):
    h = np.array([4e-3, 2e-3, 1e-3, 5e-4])
    method = fem.GeneralizedAlpha(formulation=formulation, rtol=TIGHT)
    errors = np.array([flexible_errors(method, step) for step in h])
    slopes = np.polyfit(np.log(h), np.log(errors), 1)[0]
    assert np.abs(slopes - 2.0).max() < 0.02, slopes  # positions, rotations, velocities, force of the hinge


def test_joints_hold_to_round_off_in_positions_and_as_the_formulation_says_in_velocities():
    both, one = (free(formulation, 0.8, 5e-3).violation for formulation in FORMULATIONS)
    assert both.position.max() < 1e-13 and both.velocity.max() < 1e-11
    assert one.position.max() < 1e-13
    # 8e-3 m/s is the largest that the prototype found; second order in h
    assert 1e-5 < one.velocity.max() < 8e-3
    half = free("index 3", 0.8, 2.5e-3).violation.velocity.max()
    assert one.velocity.max() / half == pytest.approx(4.0, rel=0.05)


@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_without_damping_the_energy_of_a_falling_beam_stays(formulation):
    method = fem.GeneralizedAlpha(1.0, formulation=formulation)
    result = method.run(falling_cantilever.build(), 0.5, 1e-3)
    other = fem.DecoupledNSGA(1.0).run(falling_cantilever.build(), 0.5, 1e-3)
    drift = np.abs(result.energy.total - result.energy.total[0]).max()
    assert drift < 2e-3 * np.ptp(result.energy.kinetic)
    # beams have no joints here: the smooth motion is the same problem
    assert result["tip"].position[-1] == pytest.approx(other["tip"].position[-1], abs=1e-6)


def pressed_ball():
    model = fem.Model("compliant", gravity=[0, 0, -9.81])
    ball = model.add(fem.RigidBody.sphere(1.0, 0.1, position=[0, 0, 0.15], velocity=[0, 0, -0.5], name="ball"))
    floor = fem.SphereOnPlane(ball, model.ground, radius=0.1, name="floor")
    model.add(fem.CompliantContact(floor, stiffness=1e6, restitution=0.7, name="pad"))
    return model


@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_compliant_contacts_are_forces(formulation):
    h = 2e-5
    usual = fem.DecoupledNSGA(0.8).run(pressed_ball(), 0.3, h)
    result = fem.GeneralizedAlpha(0.8, formulation=formulation).run(pressed_ball(), 0.3, h)
    assert usual["ball"].velocity[:, 2].max() > 0.5  # it bounces
    assert result["ball"].position == pytest.approx(usual["ball"].position, abs=1e-6)


def test_step_control_keeps_the_error_with_fewer_steps():
    control = fem.StepControl(tolerance=1e-6, h_max=2e-2)
    for formulation in FORMULATIONS:
        method = fem.GeneralizedAlpha(formulation=formulation, step_control=control)
        result = method.run(double_pendulum.build(), 1.0, 1e-3)
        assert np.ptp(result.h[1:]) > 1e-3 and len(result.t) < 600
        end = result["body 2"].position[-1] - double_pendulum.REFERENCE["centre 2"]
        assert np.abs(end).max() < 3e-4


@pytest.mark.parametrize(
    "method, options, rows",
    [
        (fem.GeneralizedAlpha, {}, "rows of the motion"),
        (fem.GeneralizedAlpha, {"formulation": "index 3"}, "rows of the motion"),
        (fem.NonsmoothGeneralizedAlphaGGL, {}, "rows of velocities"),
        (fem.NonsmoothGeneralizedAlphaGGL, {"coupling": "sequential"}, "rows of (positions|velocities)"),
    ],
)
def test_a_step_that_does_not_converge_names_its_worst_rows(method, options, rows):
    smooth = method is fem.GeneralizedAlpha
    model, h = (double_pendulum.build(), 2e-2) if smooth else (contact_models.thrown(contact_models.LEGS), 5e-3)
    stepper = method(rtol=1e-12, max_iterations=1, divide_failed_steps=False, **options)
    with pytest.raises(SolverError, match=rf"{rows}.*\d iterations.*row: \w+ '") as caught:
        stepper.run(model, 0.5, h)
    assert len(caught.value.history) >= 2 and caught.value.history[-1] > 0


def test_models_with_contacts_are_rejected_by_name():
    model = fem.Model("ball", gravity=[0, 0, -9.81])
    ball = model.add(fem.RigidBody.sphere(1.0, 0.1, position=[0, 0, 1], name="ball"))
    model.add(fem.SphereOnPlane(ball, model.ground, radius=0.1, name="floor"))
    with pytest.raises(ParameterError, match=r"GeneralizedAlpha.*floor.*DecoupledNSGA"):
        fem.GeneralizedAlpha().run(model, 0.1, 1e-3)
    heap, group = fem.Model("heap"), fem.ContactGroup(friction=0.3, name="heap contacts")
    for i in range(2):
        group.sphere(heap.add(fem.RigidBody.sphere(1.0, 0.1, position=[0.3 * i, 0, 0.1], name=f"ball {i}")), 0.1)
    heap.add(group)
    for method in (fem.GeneralizedAlpha(), fem.NonsmoothGeneralizedAlphaGGL()):
        with pytest.raises(ParameterError, match=r"heap contacts.*DecoupledNSGA"):
            method.run(heap, 0.1, 1e-3)


@pytest.mark.parametrize("option", ["persistent_contacts", "restitution_speed", "contact_solver", "theta", "approach"])
def test_options_of_other_methods_are_rejected(option):
    with pytest.raises(ParameterError, match=option):
        fem.GeneralizedAlpha(**{option: "start"})
    if option != "approach":
        with pytest.raises(ParameterError, match=option):
            fem.NonsmoothGeneralizedAlphaGGL(**{option: "start"})


def test_values_of_options_are_checked():
    for method, name in ((fem.GeneralizedAlpha, "formulation"), (fem.NonsmoothGeneralizedAlphaGGL, "coupling")):
        for option, value in ((name, "loose"), ("rho_inf", 1.1), ("rtol", 0.0), ("step_control", 1e-6)):
            with pytest.raises(ParameterError, match=option):
                method(**{option: value})
