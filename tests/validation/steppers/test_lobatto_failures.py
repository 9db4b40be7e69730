"""LobattoIIIAB where the usual rows of contacts leave a step without solution: impulses, subdivided steps."""

import contact_models
import dominoes
import numpy as np
import pytest
import random_cases
import random_judge
import random_models

import fem_mbs as fem

STAGES = pytest.mark.parametrize("stages", [2, 3, 4])
g = 9.81


def by_impulses(model, stages, h, steps):
    """Run in which no attempt has more than the rows of attempts by impulses."""
    system, method = model.compile(), fem.LobattoIIIAB(stages)
    engine = method.prepare(system, h)
    engine.own[0]["by_impulses"] = 1
    times, records = h * np.arange(1, steps + 1), engine.make_records(steps)
    _, saved, error = engine.march.advance(times, records)
    assert error is None and saved == steps
    return records


def legs_on_a_slope(friction, angle=0.3):
    """A body on four legs; gravity leans by ``angle`` [rad] along x."""
    model = fem.Model("slope", gravity=[g * np.sin(angle), 0, -g * np.cos(angle)])
    body = model.add(fem.RigidBody.box(1.0, [0.4, 0.3, 0.1], position=[0, 0, 0.15], name="body"))
    for k, (x, y) in enumerate([(0.2, 0.15), (0.2, -0.15), (-0.2, 0.15), (-0.2, -0.15)]):
        foot = body.frame([x, y, -0.05])
        model.add(fem.SphereOnPlane(foot, model.ground, radius=0.1, friction=friction, name=f"foot {k}"))
    return model


# --- attempts by impulses ----------------------------------------------------


@STAGES
def test_what_friction_holds_does_not_creep_when_contacts_act_by_impulses(stages):
    h, steps = 2e-3, 500
    records = by_impulses(legs_on_a_slope(0.5), stages, h, steps)
    # the first step includes no friction of a step before: less than a free slide
    x = records["position"][:, 1, 0]
    assert 0 <= x[0] < 0.5 * g * np.sin(0.3) * h**2 * (1 + 1e-6)
    assert np.ptp(x) < 1e-9 and np.abs(records["velocity"][-1]).max() < 1e-9
    weight = records["impulse"][-1].sum(axis=0)
    assert weight == pytest.approx([g * np.cos(0.3) * h, -g * np.sin(0.3) * h, 0], abs=1e-10)


@STAGES
def test_what_slides_when_contacts_act_by_impulses_slides_as_friction_lets_it(stages):
    errors, time = [], 0.4
    for steps in (50, 100):
        records = by_impulses(legs_on_a_slope(0.1), stages, time / steps, steps)
        exact = 0.5 * g * (np.sin(0.3) - 0.1 * np.cos(0.3)) * time**2
        errors.append(abs(records["position"][-1, 1, 0] - exact))
        assert records["velocity"][-1, 1, 0] == pytest.approx(2 * exact / time, rel=1e-9)
    assert errors[1] < 0.6 * errors[0] + 1e-12  # first order or better


# their steps failed with the usual rows: rolling resistance in both, chains of bodies in sleeves, on wires and plates
@pytest.mark.parametrize("seed", [20049, 40111])
def test_steps_that_the_usual_rows_cannot_solve_are_solved_by_impulses(seed):
    case = random_cases.build(seed, "LobattoIIIAB")
    case.options["divide_failed_steps"] = False
    result = case.stepper().run(case.model, case.steps * case.h, case.h)
    assert random_judge.judge(case, result).kind == "fine"
    assert 0 < result.statistics["steps_by_impulses"] <= result.statistics["repeated_steps"]


@pytest.mark.slow
def test_dominoes_fall_and_lie_still_on_each_other():
    """Where they lie on each other many contacts change in each step: the run ended before they came to rest."""
    result, same = fem.LobattoIIIAB(3).run(dominoes.build(), 0.51, 1e-3), dominoes.run(t_end=0.51)
    assert result.statistics["steps_by_impulses"] > 10
    assert dominoes.gaps(result) > -1e-12 and result.energy.kinetic[-1] < 1e-12
    # the default loses as much to the same impacts: 2e-4 of it measured
    assert result.energy.total[-1] == pytest.approx(same.energy.total[-1], rel=1e-3)
    # attempts by impulses gain 8e-4 of the kinetic energy in one step; the watch of the run allows 1e-2
    assert np.diff(result.energy.total).max() < 5e-3 * result.energy.kinetic.max()
    assert dominoes.wave_speeds(result)[2:10] == pytest.approx(dominoes.wave_speeds(same)[2:10], rel=0.02)


def test_bodies_thrown_on_a_table_by_impulses_end_as_they_do_otherwise():
    h, steps = 2e-3, 1000
    records = by_impulses(contact_models.thrown(contact_models.LEGS), 3, h, steps)
    assert np.abs(records["velocity"][-1]).max() < 1e-4
    energy = records["energy"].sum(axis=1)
    assert np.diff(energy).max() < 1e-3
    usual = fem.LobattoIIIAB(3).run(contact_models.thrown(contact_models.LEGS), h * steps, h)
    assert records["position"][-1, :, 2] == pytest.approx(usual.rows([-1])["position"][0, :, 2], abs=1e-6)


# --- subdivided steps --------------------------------------------------------


def hanging_rod():
    """A rod in a ball joint with a clearance that the speed of one step crosses; its joint end is off the centre."""
    model = fem.Model("rod", gravity=[0, 0, -g])
    inertia = np.diag([1.27546e-3, 1.7937e-3, 1.33236e-3])
    rod = model.add(fem.RigidBody(0.495, inertia, position=[0.2126, 0, 0.17529], name="rod"))
    end = rod.frame([-0.2126, 0, -0.17529])
    model.add(fem.SphericalClearance(
        end, model.ground, radius=0.015, clearance=8.0777e-5, restitution=0.68, friction=0.1, name="joint"
    ))  # fmt: skip
    return model


def test_steps_that_fail_are_taken_in_substeps():
    h = 2e-3
    with pytest.raises(fem.SolverError, match="stage problem stopped"):
        fem.LobattoIIIAB(2, divide_failed_steps=False).run(hanging_rod(), 0.1, h)
    result = fem.LobattoIIIAB(2).run(hanging_rod(), 0.1, h)
    assert result.statistics["divided_steps"] > 0 and any("subdivided" in text for text in result.warnings)
    np.testing.assert_allclose(result.t, h * np.arange(51), atol=1e-15)
    gap = next(result[name].gap for name in result.names if hasattr(result[name], "gap"))
    assert gap.min() > -1e-12
    fine = fem.LobattoIIIAB(2).run(hanging_rod(), 0.1, h / 64)
    # the rod falls about its end by 0.1 rad: the two differ by what the clearance lets
    turned, same = (r["rod"].rotation[-1] for r in (result, fine))
    assert np.abs(turned - same).max() < 5e-3


def test_a_gap_that_joints_let_no_newton_step_close_is_not_taken_for_closed():
    """Newton's steps moved nothing, which was taken for round-off of stiff parts: a contact ended 1.3e-6 m deep."""
    outcome = random_models.run(64444, "LobattoIIIAB")
    assert outcome.kind == "fine", outcome
