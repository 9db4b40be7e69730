"""Step control: order with changing steps, the error it promises, contacts with the user's step, halving on failure."""

import re

import numpy as np
import pytest
from double_pendulum import build as double_pendulum

import fem_mbs as fem
from fem_mbs.cases.bruls2014 import bouncing_pendulum
from fem_mbs.solvers.stepping.march import step_control
from fem_mbs.solvers.stepping.march.march import March


def end_of(model, h, t_end=1.0, control=None, **options):
    return fem.DecoupledNSGA(**({"rtol": 1e-8, "step_control": control} | options)).run(model, t_end, h)


def distance(a, b):
    return np.abs(a.rows([-1])["position"] - b.rows([-1])["position"]).max()


@pytest.fixture(scope="module")
def reference():
    return end_of(double_pendulum(), 2e-4)


def test_error_controlled_steps_reach_the_end_with_fewer_steps(reference):
    control = fem.StepControl(tolerance=3e-6, h_max=0.05)
    result = end_of(double_pendulum(), 1e-4, control=control)
    assert result.t[-1] == pytest.approx(1.0, abs=1e-12)
    np.testing.assert_allclose(np.diff(result.t), result.h[1:], rtol=1e-9)
    steps = len(result.t) - 1
    assert result.h.max() > 3 * result.h[1:].min()
    fixed = end_of(double_pendulum(), 1.0 / steps)
    # as accurate as the same number of equal steps, or better (measured: 0.7 of it)
    assert distance(result, reference) < 1.5 * distance(fixed, reference)


def test_the_error_falls_with_the_tolerance_as_a_second_order_method_lets_it(reference):
    errors, steps = [], []
    for tolerance in (8e-6, 1e-6):
        result = end_of(double_pendulum(), 1e-4, control=fem.StepControl(tolerance=tolerance, h_max=0.05))
        errors.append(distance(result, reference))
        steps.append(len(result.t) - 1)
    # an eighth of the tolerance of a step halves the steps: a quarter of the error
    assert steps[1] / steps[0] == pytest.approx(2.0, rel=0.1)
    assert np.log2(errors[0] / errors[1]) == pytest.approx(2.0, abs=0.4)


def test_a_contact_in_a_last_step_that_is_stretched_to_the_end_does_not_keep_the_run_from_ending(monkeypatch):
    # flight: steps of 2, 2.9, 2.9 ms; then 2 ms on the table, and 2.2 ms are left, which are taken at once
    taken = []
    take = March.trial

    def counted(self, t, *cut):
        taken.append(t)
        assert len(taken) < 100, "the same step again and again"
        return take(self, t, *cut)

    monkeypatch.setattr(March, "trial", counted)
    model = fem.Model("ball", gravity=[0, 0, -9.81])
    gap = 0.5 * 9.81 * 9.5e-3**2
    ball = model.add(fem.RigidBody.sphere(1.0, 0.1, position=[0, 0, 0.1 + gap], name="ball"))
    model.add(fem.SphereOnPlane(ball.frame(), model.ground, radius=0.1, name="table"))
    control = fem.StepControl(tolerance=1e-6, h_max=2.9e-3)
    # captured, and outside of the smooth motion: else no step on the table is held to the user's
    result = end_of(model, 2e-3, 0.02, control=control, impacts="plain", persistent_contacts=False)
    assert result.t[-1] == pytest.approx(0.02, abs=1e-12)
    assert result.h[-1] == pytest.approx(2.2e-3, rel=1e-6)


def test_without_rescaling_its_memory_the_scheme_would_lose_an_order(reference, monkeypatch):
    """Steps that alternate between h and 2 h: second order needs (1) of step_control."""

    def alternating(steps):
        result = []
        for n in (steps, 2 * steps):
            engine_h = 2.0 / (3 * n)
            control = fem.StepControl(tolerance=1.0)
            sizes = iter([engine_h if k % 2 == 0 else 2 * engine_h for k in range(10 * n)])

            def judge(self, h, acceleration, sizes=sizes):
                self.march.next = next(sizes)
                return True

            monkeypatch.setattr(step_control.Controller, "_judge", judge)
            result.append(distance(end_of(double_pendulum(), engine_h, control=control), reference))
        return np.log2(result[0] / result[1])

    assert alternating(100) == pytest.approx(2.0, abs=0.15)
    use = March._use
    monkeypatch.setattr(March, "set_size", lambda self, h: use(self, h))
    assert alternating(100) < 1.5


IMPACTS = np.array([0.486110, 1.281225, 1.951340, 2.517137])  # s, of the pendulum, by quadrature of its energy


@pytest.mark.parametrize("control", [None, fem.StepControl(tolerance=1e-6, h_max=2e-2)], ids=["fixed", "controlled"])
@pytest.mark.parametrize("h", [1e-3, 0.83e-3, 0.5e-3, 0.25e-3])  # touches in many phases of their steps
def test_with_the_speed_at_the_touch_each_impact_is_late_by_no_more_than_its_own_step(h, control):
    """No speed is lost then: an impact is captured within its step, and shifts the rest of the motion by that."""
    result = end_of(bouncing_pendulum(), h, 2.6, control=control, restitution_speed="touch", impacts="plain")
    late = (result.t[result[result.contacts[0]].impact == 1][:4] - IMPACTS) / h
    # the rest are errors of the flights: 0.1 h
    assert np.all((np.diff(late, prepend=0.0) > -0.15) & (np.diff(late, prepend=0.0) < 1.15)), late


def test_contacts_are_captured_with_the_users_step():
    h = 1e-3
    result = end_of(bouncing_pendulum(), h, 3.0, control=fem.StepControl(tolerance=1e-6, h_max=2e-2), approach="start")
    fixed = end_of(bouncing_pendulum(), h, 3.0, approach="start")
    contact = result.contacts[0]
    struck = result[contact].impact == 1
    assert struck.sum() >= 4
    assert result.h[struck].max() <= h * (1 + 1e-9)
    assert result.h.max() > 3 * h
    assert len(result.t) < 0.6 * len(fixed.t)
    assert result.statistics["steps_too_large_for_contact"] >= struck.sum() - 1
    late = (result.t[struck][:4] - IMPACTS) / h
    # the first is captured in its step. Newton's law with the approach at its start takes up to e (α + ω² cot 45°) h of
    # the speed, α h that gravity gives within the step, the rest because the normal turns in it; a flight is shorter by
    # dT/dω = .19 s² of what was lost so far. Derived: 3.7, 9.3 and 15.8 h early at most, and one step late for each
    assert np.all((late > [-1e-3, -3.7, -9.3, -15.8]) & (late <= [1.0, 2.0, 3.0, 4.0])), late
    assert result[contact].gap.min() > -1e-12


def falling_ball(**options):
    model = fem.Model("ball", gravity=[0, 0, -9.81])
    ball = model.add(fem.RigidBody.sphere(1.0, 0.1, position=[0, 0, 0.6], velocity=[0.3, 0, 0], name="ball"))
    model.add(fem.SphereOnPlane(ball, model.ground, radius=0.1, name="floor", **options))
    return model


def test_one_touch_costs_one_large_step_that_is_taken_again():
    """After it steps are no larger than the user's until the contact has closed: growing again they would all touch."""
    control = fem.StepControl(tolerance=1e-4, h_max=0.05)
    result = end_of(falling_ball(), 1e-3, 0.5, control=control)
    assert result.h.max() > 20e-3 and result["floor"].impact.sum() == 1
    assert result.statistics["steps_too_large_for_contact"] == 1


def test_steps_in_which_rigid_bodies_touch_are_not_taken_again_for_a_tolerance_that_they_miss():
    """Smaller ones would not be more accurate: contacts that the smooth motion does not hold are of first order."""
    model = falling_ball(friction=0.2)
    model["ball"].node.position = [0, 0, 0.1]
    bar = model.add(fem.RigidBody.box(1.0, [1, 0.1, 0.1], position=[0.5, 2, 0], name="bar"))
    model.add(fem.Revolute.at(model.ground, bar, [0, 2, 0], axis=[0, 1, 0], name="hinge"))
    control = fem.StepControl(tolerance=1e-15, h_min=2e-4)
    result = end_of(model, 1e-3, 0.02, control=control, persistent_contacts=False)
    assert (result["floor"].impulse[2:, 0] > 0.0).all()
    assert result.statistics["inaccurate_steps"] == 0


def test_a_step_that_fails_is_halved(monkeypatch):
    real = March.trial

    def fails_when_large(self, t, *cut):
        code, failure = real(self, t, *cut)
        return (1 if 0.3 < t < 0.5 and self.size > 3e-3 else code), failure

    monkeypatch.setattr(March, "trial", fails_when_large)
    result = end_of(double_pendulum(), 1e-2, control=fem.StepControl())
    assert result.statistics["failed_steps"] > 0
    inside = (result.t > 0.31) & (result.t < 0.49)
    assert result.h[inside].max() <= 3e-3
    assert result.h[-1] == pytest.approx(1e-2)
    assert result.t[-1] == pytest.approx(1.0)


def test_a_step_that_never_succeeds_ends_the_run(monkeypatch):
    real = March.trial

    def fails(self, t, *cut):
        real(self, t, *cut)
        return 1, None

    monkeypatch.setattr(March, "trial", fails)
    with pytest.raises(fem.SolverError, match="correction stopped"):
        end_of(double_pendulum(), 1e-2, control=fem.StepControl(h_min=1e-3))


@pytest.mark.parametrize("method", [fem.DecoupledNSGA, fem.NonsmoothGeneralizedAlphaGGL])
def test_steps_that_touch_do_not_shrink_below_the_smallest_one(method):
    """Their error is not judged: with a tolerance that no step reaches they got shorter from one to the next."""
    model = fem.Model("swing on a floor", gravity=[0, 0, -9.81])
    bar = model.add(fem.RigidBody.box(1.0, [1, 0.1, 0.1], position=[0.5, 0, 0], name="bar"))
    model.add(fem.Revolute.at(model.ground, bar, [0, 0, 0], axis=[0, 1, 0], name="hinge"))
    ball = model.add(fem.RigidBody.sphere(1.0, 0.1, position=[0, 2, 0.1], velocity=[1, 0, 0], name="ball"))
    model.add(fem.SphereOnPlane(ball, model.ground, radius=0.1, friction=0.3, name="floor"))
    result = method(step_control=fem.StepControl(tolerance=1e-15, h_min=2e-4)).run(model, 0.02, 1e-3)
    assert result.t[-1] == pytest.approx(0.02)
    assert result.h[1:-1].min() >= 2e-4 * (1 - 1e-9)


def test_a_signal_that_is_not_finite_still_names_its_element():
    model = fem.Model("pushed")
    ball = model.add(fem.RigidBody.sphere(1.0, 0.1, name="ball"))
    model.add(fem.PointForce(ball, [1.0, 0, 0], signal=lambda t: np.sqrt(0.05 - t), name="push"))
    with pytest.raises(fem.NonFiniteError, match="'push'"), np.errstate(invalid="ignore"):
        fem.DecoupledNSGA(step_control=fem.StepControl(tolerance=1e-6)).run(model, 0.2, 1e-2)


def test_bad_step_controls_are_rejected():
    with pytest.raises(fem.ParameterError, match=r"StepControl: tolerance = 0.0 m.*> 0"):
        fem.StepControl(tolerance=0.0)
    with pytest.raises(fem.ParameterError, match=r"h_min = 0\.1 s.*h_max = 0\.01 s"):
        fem.StepControl(h_min=0.1, h_max=0.01)
    with pytest.raises(fem.ParameterError, match=r"step_control = .*a StepControl"):
        fem.DecoupledNSGA(step_control="halve")


def swings():
    """The double pendulum, and a ball that rests next to it."""
    model = double_pendulum()
    ball = model.add(fem.RigidBody.sphere(1.0, 0.1, position=[0, 5, 0.1], name="ball"))
    model.add(fem.SphereOnPlane(ball, model.ground, radius=0.1, name="floor"))
    return model


@pytest.mark.parametrize("every", [1, 2, 5])
def test_steps_that_fail_are_taken_in_substeps_and_saved_as_one(every, reference):
    """Two Newton iterations solve steps of 25 ms of this pendulum, and some of 50 ms."""
    with pytest.raises(fem.SolverError, match=r"stopped after 2 iterations"):
        end_of(swings(), 0.05, max_iterations=2, reuse=False, divide_failed_steps=False)
    result = fem.DecoupledNSGA(rtol=1e-8, max_iterations=2, reuse=False).run(swings(), 1.0, 0.05, save_every=every)
    assert 3 < result.statistics["divided_steps"] < 20 and result.statistics["steps"] == 20
    assert [w for w in result.warnings if "subdivided" not in w] == [] and len(result.warnings) == 1
    assert f"20 steps, {result.statistics['divided_steps']} of them" in str(result.report())
    np.testing.assert_array_equal(result.step, np.arange(0, 21, every))
    np.testing.assert_allclose(result.t, 0.05 * result.step, rtol=0, atol=1e-15)
    np.testing.assert_array_equal(result.h[1:], 0.05)
    # the impulse of a divided step is that of all its parts, and a saved state has those of all steps since the last
    np.testing.assert_allclose(result["floor"].impulse[1:, 0], 9.81 * 0.05 * every, rtol=1e-9)
    np.testing.assert_allclose(result["ball"].position[:, 2], 0.1, rtol=0, atol=1e-14)
    # as near to the solution as whole steps are, where they succeed
    whole = end_of(double_pendulum(), 0.05)
    assert whole.statistics["divided_steps"] == 0
    name = "body 2"
    error, allowed = (np.abs(r[name].position[-1] - reference[name].position[-1]).max() for r in (result, whole))
    assert error < allowed


def test_what_the_user_asked_for_is_in_force_again_after_a_step_in_substeps():
    engine = fem.DecoupledNSGA(rtol=1e-8, max_iterations=2, reuse=False).prepare(swings().compile(), 0.05, save_every=3)
    engine.run[0]["whole_every"] = 3
    names = "save_every", "whole_every", "strict", "h"
    before = {name: engine.run[0][name] for name in names}
    times, records = 0.05 * np.arange(1, 21), engine.make_records(20)
    engine.march.advance(times, records)
    assert engine.march.control.divided > 3
    assert {name: engine.run[0][name] for name in names} == before
    assert engine.march.size == engine.march.whole == engine.march.h == 0.05


def test_a_step_that_fails_in_all_its_parts_ends_the_run_with_the_error_of_the_whole():
    model = fem.Model("fast")
    ball = model.add(fem.RigidBody.sphere(1.0, 0.1, position=[0, 0, 0.2005], velocity=[0, 0, -100], name="ball"))
    floor = fem.SphereOnPlane(ball, model.ground, radius=0.1, restitution=0.5)
    model.add(fem.CompliantContact(floor, stiffness=1e5, name="floor"))
    with pytest.raises(fem.SolverError, match=r"Step 2, t = 0\.002 s.*'floor'.*indent") as caught:
        fem.DecoupledNSGA().run(model, 0.1, 1e-3)
    np.testing.assert_array_equal(caught.value.result.step, [0, 1])


def test_what_turns_too_fast_for_the_steps_is_not_taken_in_substeps():
    model = fem.Model("spins", gravity=[0, 0, 0])
    model.add(fem.RigidBody(1.0, 1.0, angular_velocity=[0, 0, 4000.0], name="rod"))
    with pytest.raises(fem.SolverError, match=r"'rod'.* 3 rad"):
        fem.DecoupledNSGA().run(model, 0.1, 1e-3)


def whip():
    """A soft rod of four beams that falls about a clamped end."""
    model = fem.Model("whip", gravity=[0, 0, -9.81])
    section = fem.Section.rectangle(0.02, 0.02, E=2e8, nu=0.3, density=1000.0)
    root = fem.Node6(fixed=True, name="root")
    model.add(fem.beam_line(root, [1.0, 0, 0], 4, section, orientation=[0, 1, 0], name="rod"))
    return model


@pytest.mark.parametrize(
    "h, iterations, divided",
    [(0.05, 3, (1, 0)), (0.02, 2, (11, 11))],
    ids=["the whole step succeeds with them", "only halves succeed, and with them alone"],
)
def test_a_step_that_fails_is_taken_with_the_mixed_iteration_of_beams_as_its_parts_and_later_steps_are(
    h, iterations, divided
):
    """The first step fails: from there on the run is that of somebody who asked for the mixed iteration."""
    limits = {"max_iterations": iterations, "reuse": False}
    found, asked = (fem.DecoupledNSGA(mixed=mixed, **limits).run(whip(), 0.4, h) for mixed in (False, True))
    assert (found.statistics["divided_steps"], asked.statistics["divided_steps"]) == divided
    for name in ("position", "velocity"):
        np.testing.assert_array_equal(*(r.rows(np.arange(len(r.t)))[name] for r in (found, asked)))


def test_a_step_that_fails_is_taken_with_newtons_iteration_on_contacts_as_its_parts_and_later_steps_are(monkeypatch):
    taken, take = [], March.trial

    def spied(self, t, *cut):
        taken.append((self.engine.run[0]["newton"], self.size / self.whole))
        return take(self, t, *cut)

    monkeypatch.setattr(March, "trial", spied)
    limits = {"rtol": 1e-8, "max_iterations": 2, "reuse": False, "contact_solver": "problem"}
    engine = fem.DecoupledNSGA(**limits).prepare(swings().compile(), 0.05)
    assert engine.run[0]["newton"] == 0
    engine.march.advance(0.05 * np.arange(1, 21), engine.make_records(20))
    newton, sizes = np.transpose(taken)
    assert engine.march.control.divided > 3 and newton.all() and engine.run[0]["newton"] == 1
    # the whole step once, with what was not asked for; after that nothing is left to try with a whole step
    assert sizes[0] == pytest.approx(1.0) and sizes[1:].max() <= 0.5 * (1 + 1e-9)


def test_a_step_in_substeps_reports_the_impacts_of_all_of_them():
    """A ball that bounces for ever hits wherever it gets an impulse, in whichever part of a step that is."""
    limits, found = {"rtol": 1e-8, "max_iterations": 2, "reuse": False}, 0
    for height in (0.2, 0.3, 0.4, 0.6):
        model = double_pendulum()
        ball = model.add(fem.RigidBody.sphere(1.0, 0.1, position=[0, 5, 0.1 + height], name="ball"))
        model.add(fem.SphereOnPlane(ball, model.ground, radius=0.1, restitution=1.0, name="floor"))
        result = fem.DecoupledNSGA(**limits).run(model, 1.0, 0.1)
        assert result.statistics["divided_steps"] == 10
        floor = result["floor"]
        struck = floor.impulse[:, 0] > 0
        np.testing.assert_array_equal(floor.impact, struck)
        np.testing.assert_array_equal(floor.status > 0, struck)  # of what acted in the step, open at its end or not
        found += struck.sum()
    assert found == 7  # (2k − 1) √(2 H/g) < 1 s: 2, 2, 2 and 1


def test_a_step_in_substeps_reports_what_all_of_them_took(monkeypatch):
    """Of iterations the most, as in a step with several impact problems; those problems are counted in all parts."""
    h, parts, take = 0.2, {}, March.trial

    def spied(self, t, *cut):
        code, failure = take(self, t, *cut)
        if code == 0:
            told = *self.control.part["iterations"][0], self.control.part["problems"][0]
            parts.setdefault(int(np.ceil(t / h - 1e-6)), []).append(told)
        return code, failure

    monkeypatch.setattr(March, "trial", spied)
    result = fem.DecoupledNSGA(rtol=1e-8, max_iterations=2, reuse=False).run(swings(), 1.0, h)
    steps = sorted(parts)
    assert len(steps) == result.statistics["divided_steps"] > 3
    columns = result.iterations.smooth, result.iterations.position, result.iterations.velocity
    most = np.array([np.max(parts[step], axis=0)[:3] for step in steps])
    np.testing.assert_array_equal(np.stack(columns, axis=1)[steps], most)
    assert (most > [parts[step][-1][:3] for step in steps]).any()
    np.testing.assert_array_equal(result.problems[steps], [np.sum(parts[step], axis=0)[3] for step in steps])


def test_multipliers_are_scaled_by_the_step_alone_however_often_it_changes():
    h, method = 1e-3, fem.DecoupledNSGA(step_control=fem.StepControl())
    engine = method.prepare(double_pendulum().compile(), h)
    mass = engine.system.contact_mass
    for size in (h / 3, h / 7, 0.9 * h, h / 11, h):
        engine.march.set_size(size)
        assert engine.run[0]["ks"] == mass / size


def bounced(h, tolerance):
    """Speed over that before, of a bar of 25 solids that hits a rigid wall end on, and the result."""
    model, length = fem.Model("bar", gravity=[0, 0, 0]), 10.0
    mesh = fem.block_mesh([1, 1, length], [1, 1, 25], cell="hexahedron")
    material, start = fem.SolidMaterial(900.0, 0.0, 1.0), {"position": [0, 0, 5e-4], "velocity": [0, 0, -1e-3]}
    bar = model.add(fem.SolidBody(mesh, material, **start, name="bar"))
    model.add(fem.SurfaceContacts(bar, "z0", model.ground, name="wall"))
    stepper = fem.DecoupledNSGA(rho_inf=0.8, step_control=fem.StepControl(tolerance=tolerance))
    result = stepper.run(model, t_end=2.0, h=h)
    system = fem.System(model, check=False)
    M = system.matrices(system.initial, mass_only=True)
    momenta = system.expanded(M @ system.reduced(result.state(-1).V.ravel())).reshape(-1, 6)
    return momenta[:, 2].sum() / bar.mass / 1e-3, result


def test_a_bar_that_hits_a_wall_in_a_long_step_bounces_with_its_speed():
    """Wave theory: −1, after 2 L/c = 0.67 s. A wave goes through 7 elements in 0.1 s.

    The first step took a sixth of the speed whatever the tolerance was, 0.83 and 0.84: the estimate of smooth motion
    does not see impacts.
    """
    speeds = [bounced(0.1, tolerance)[0] for tolerance in (1e-6, 3e-7)]
    assert speeds[0] > 0.93 and speeds[1] > speeds[0] and speeds[1] < 1.0, (
        speeds
    )  # 0.95 with constant steps of 0.0135 s


def test_impacts_of_bodies_that_deform_are_reported_where_the_step_is_too_long_for_the_tolerance():
    """½ h |W| with h/16 and the speed: 3e-6 m."""
    _, result = bounced(0.1, 1e-7)
    (text,) = [one for one in result.warnings if "bodies that deform" in one]
    found = re.search(r"to (\S+) m only.*about (\S+) s", text)
    assert float(found[1]) == pytest.approx(0.5 * 0.1 / 16 * 1e-3, rel=0.2)
    assert not bounced(float(found[2]), 1e-7)[1].warnings
