"""Switches in a run: steps that end at them, what is off, what results and states show, errors."""

import re

import numpy as np
import pytest
from switch_runs import AT_SWITCH, Run, at_switch, chain, locked_chain, masses_on_a_table

import fem_mbs as fem
from fem_mbs.solvers.stepping.kernels.codes import NOT_CONVERGED
from fem_mbs.solvers.stepping.march.snapshot import Snapshot

NSGA = fem.DecoupledNSGA()


def test_rows_that_are_off_change_nothing():
    plain, model = chain(), chain()
    plain.elements.remove(plain["lock"])
    model.add(fem.Spherical.at(model["link 1"], model["link 2"], [0.3, 0.2, 0]), active=False)
    model.add(fem.KnifeEdge.at(model.ground, model["link 2"], [1, 0, 0], [0, 1, 0]), active=False)
    for method in (NSGA, fem.LobattoIIIAB(), fem.GeneralizedAlpha(formulation="index 3")):
        a, b = (method.run(m, t_end=0.2, h=2e-3) for m in (plain, model))
        assert np.abs(a["link 2"].position - b["link 2"].position).max() < 1e-12
        assert np.abs(a["hinge 1"].force - b["hinge 1"].force).max() < 1e-8 * np.abs(a["hinge 1"].force).max()
        assert not b["spherical 1"].force.any() and not b["knifeedge 1"].force.any()
    assert re.search("10 constraint.* 5 .*2 degrees", str(model))


def test_statics_and_modes_leave_out_what_is_off():
    plain, model = chain((-np.pi / 2, -np.pi / 2), (0, 0)), chain((-np.pi / 2, -np.pi / 2), (0, 0))
    plain.elements.remove(plain["lock"])
    found = [fem.modes(m, about=fem.static_equilibrium(m)).omega for m in (plain, model)]
    assert found[1] == pytest.approx(found[0], rel=1e-9) and len(found[0]) == 2
    model = chain((-np.pi / 2, -np.pi / 2), (0, 0), active=True)
    assert len(fem.modes(model, about=fem.static_equilibrium(model))) == 1


def test_a_run_continues_bit_for_bit_from_what_was_kept_before_a_switch():
    run = Run(NSGA, chain(), 2e-3, linear_solver="dense").take(20)  # KLU keeps pivots, and their round-off
    before = Snapshot(run.engine.march)
    ends = []
    for _ in range(2):
        before.restore()
        run.steps = 20
        assert not run.system.is_on(run.model["lock"])
        run.take(10).switch("lock", True)
        run.take(30)
        ends.append(run.engine.run_data.kept()[0])
    assert ends[0].tobytes() == ends[1].tobytes()


def test_a_system_runs_again_as_its_model_says():
    system = chain(intervals=[(0.1, 0.2), (0.25, np.inf)]).compile()
    first, second = (NSGA.run(system, t_end=0.3, h=1e-2) for _ in range(2))
    assert np.array_equal(first["link 2"].position, second["link 2"].position)
    assert first.statistics["switches"] == 3 and not system.is_on(system.model["lock"])
    assert first.statistics["energy_lost_in_switches"] > 0.0
    loss = -np.diff(first.energy.total)
    assert loss[[10, 25]].sum() == pytest.approx(first.statistics["energy_lost_in_switches"], rel=0.02)  # and round-off


def test_variable_steps_continue_after_a_switch():
    stepper = fem.DecoupledNSGA(step_control=fem.StepControl(tolerance=1e-6))
    run = Run(stepper, chain(), 5e-3)
    block = run.engine.make_records(400)
    for end, on in ((0.5, True), (1.0, None)):
        run.engine.t_end = end
        _, _, error = run.engine.march.advance(np.array([end]), block)
        assert error is None
        if on:
            run.switch("lock", True)
    assert run.velocity("link 1")[5] == pytest.approx(-3.787127307, abs=2e-4)


@pytest.mark.parametrize("what, message", [
    ({"intervals": [(0.2, 0.1)]}, r"intervals = .*pairs \(begin, end\).*begin < end"),
    ({"intervals": [(0.1, 0.2), (0.15, 0.3)]}, "one after the other"),
    ({"intervals": []}, "intervals"),
    ({"intervals": [0.1, 0.2]}, r"Lock 'lock': intervals"),
    ({"intervals": [(0.1, np.nan)]}, "intervals.*pairs"),
    ({"intervals": [(0.1, 0.2)], "active": False}, "active.*intervals"),
])  # fmt: skip
def test_wrong_intervals_are_rejected(what, message):
    with pytest.raises(fem.ParameterError, match=message):
        chain(**what)


@pytest.mark.parametrize("control", [None, fem.StepControl(tolerance=1e-6)], ids=["equal", "controlled"])
def test_steps_end_at_the_times_of_switches_whatever_their_size(control):
    """5 ms does not divide 0.5013 s, nor the time between two switches; reference: a run by hand with steps that do."""
    times = (0.5013, 0.7531)
    run = Run(fem.LobattoIIIAB(stages=3), chain(), times[0] / 100).take(100)
    run.switch("lock", True)
    reference = run.velocity("link 1")[5]
    result = fem.DecoupledNSGA(step_control=control).run(chain(intervals=[times]), t_end=1.0, h=5e-3, strict=True)
    at = [int(np.argmin(np.abs(result.t - t))) for t in times]
    assert result.t[at].tolist() == list(times) and result.t[-1] == pytest.approx(1.0, abs=1e-12)
    assert [(e.t, e.name, e.action) for e in result.events] == [
        (times[0], "lock", "on in its intervals"), (times[1], "lock", "off in its intervals")]  # fmt: skip
    first = result["link 1"].angular_velocity[at[0] + 1, 2]  # the state at the switch is the one before it
    assert first == pytest.approx(reference, abs=0.1) and abs(result["link 1"].angular_velocity[at[0], 2] - first) > 0.3
    together = result["link 2"].angular_velocity[:, 2] - result["link 1"].angular_velocity[:, 2]
    assert np.abs(together[at[0] + 1 : at[1] + 1]).max() < 1e-10 < 1e-2 < abs(together[at[1] + 3])


def test_output_times_at_a_switch_are_of_the_state_before_it():
    result = NSGA.run(chain(intervals=[(0.1, np.inf)]), t_end=0.2, h=1e-2, output_times=[0.1, 0.2])
    usual = NSGA.run(chain(intervals=[(0.1, np.inf)]), t_end=0.2, h=1e-2)
    for k, state in ((1, 10), (2, 20)):
        assert np.array_equal(result["link 2"].angular_velocity[k], usual["link 2"].angular_velocity[state])


def test_a_run_without_switches_in_it_has_no_schedule():
    def schedule(model):
        return NSGA.prepare(model.compile(), 1e-2, 1, False).march.schedule

    together = (2.0, 2.0)
    assert schedule(chain()) is None and schedule(chain(rates=together, intervals=[(-1.0, np.inf)])) is None
    assert schedule(chain(rates=together, intervals=[(0.0, 0.5)])).switching.next() == [0.5]


def test_what_cannot_be_switched_is_rejected_by_name():
    model = masses_on_a_table(-1.0)
    run = Run(NSGA, model, 1e-2)
    with pytest.raises(fem.ParameterError, match=r"'table'.*go through"):
        run.switch("table", False)
    with pytest.raises(fem.ParameterError, match=r"'low'.*mass"):
        run.switch("low", False)
    with pytest.raises(fem.ParameterError, match=r"active = .*with mass"):
        model.add(fem.PointMass(1.0), active=False)
    with pytest.raises(fem.ParameterError, match=r"joint = Attachment 'grip'.*joint of the model"):
        fem.Lock(model["grip"])
    frames = model.ground.frame(p=[0, 0, 0.1]), model["low"].frame()
    for joint, words in (
        (fem.Fixed(*frames), r"joint = .*nothing free"),
        (
            fem.Distance(frames[0], model["high"].frame()),
            r"joint = .*5 free.*Attachment",
        ),
        (fem.KnifeEdge(*frames), r"joint = .*5 free"),
    ):
        with pytest.raises(fem.ParameterError, match=words):
            fem.Lock(joint)
    with pytest.raises(fem.ModelError, match="not an element"):
        run.engine.system.is_on(fem.Attachment(model["low"], model["high"]))


def test_contact_groups_do_not_support_switches():
    model = masses_on_a_table(-1.0)
    ball = model.add(fem.RigidBody.sphere(1.0, 0.1, position=[3, 0, 0.2], name="ball"))
    group = fem.ContactGroup(name="pile")
    group.sphere(ball, 0.1)
    group.obstacle(fem.SphereOnPlane, model.ground.frame())
    model.add(group)
    run = Run(NSGA, model, 1e-2)
    with pytest.raises(fem.ParameterError, match=r"'pile'.*in the model.*switches"):
        run.switch("grip", True)


def test_results_have_the_impulses_with_the_step_that_follows():
    h = 1e-3
    run = Run(NSGA, at_switch(), h)
    told = run.switch("lock", True)
    run.take(3)
    _, turning, _, _ = locked_chain(*AT_SWITCH)
    moment = run.output("lock", "moment")[1:, 2]
    assert moment[0] - moment[1] == pytest.approx(turning / h, abs=0.1)  # the rest is what the lock carries
    row = run.system.rows[run.model["lock"]].start
    assert run.history("multiplier")[1, row] - told.impulse[row] / h == pytest.approx(moment[1], abs=0.1)
    assert run.history("multiplier")[2, row] == pytest.approx(run.history("multiplier")[3, row], abs=0.1)

    run = Run(NSGA, masses_on_a_table(-1.0), h).take(2)
    run.switch("grip", True)
    run.take(3)
    assert run.history("impulse")[:, 0, 0].sum() == pytest.approx(2.0, abs=1e-12)
    assert run.history("impact")[:, 0].tolist() == [0, 0, 0, 1, 0, 0]


def test_a_step_in_substeps_has_the_impulse_of_the_switch_before_it(monkeypatch):
    run = Run(NSGA, at_switch(), 1e-2)
    told = run.switch("lock", True)
    whole, calls = run.engine.run_steps, []

    def fails_once(*arguments):
        calls.append(arguments)
        if len(calls) > 1:
            return whole(*arguments)
        whole(*arguments[:2], 1, *arguments[3:])  # which keeps what it begins with
        return 0, NOT_CONVERGED

    monkeypatch.setattr(run.engine, "run_steps", fails_once)
    monkeypatch.setattr(run.engine, "fault", lambda code, t: fem.SolverError("not converged"))
    run.take(3)
    assert run.engine.march.control.statistics()["divided_steps"] == 1
    row = run.system.rows[run.model["lock"]].start
    carried = run.history("multiplier")[1:, row] - np.array([told.impulse[row] / 1e-2, 0.0, 0.0])
    assert carried == pytest.approx([3.0, 3.2, 3.5], abs=0.2)  # what the lock carries; the impulse is −34.5 over h
    moment = run.output("lock", "moment")[:, 2]  # by another sum than the multiplier: to round-off
    assert moment == pytest.approx(run.history("multiplier")[:, row], rel=1e-13)


def test_multipliers_of_what_is_off_stay_zero_where_factors_serve_several_steps():
    """Beams with contacts: the matrix of the motion is factorised once for many steps, not over a switch."""
    model = fem.Model("beam", gravity=[0, 0, -9.81])
    section = fem.Section.circle(1e-2, E=2e9, nu=0.3, density=1000)
    line = model.add(fem.beam_line(fem.Node6(fixed=True), fem.Node6([1, 0, 0]), 8, section))
    load = model.add(fem.RigidBody.box(0.5, [0.1, 0.1, 0.1], position=[1, 0, -0.3], velocity=[0, 0.3, 1], name="load"))
    model.add(fem.SphereOnPlane(load.frame(), model.ground.frame(p=[0, 0, -0.5]), radius=0.05, name="floor"))
    model.add(fem.Attachment(line.nodes[-1], load, active=False, name="grip"))
    # factors serve several steps while contacts are closed in the corrections alone
    run = Run(fem.DecoupledNSGA(rho_inf=0.8, persistent_contacts=False), model, 1e-3)
    assert run.engine.run[0]["costly"]
    rows = run.system.rows[model["grip"]]
    for on in (None, True, False, True, False):
        if on is not None:
            run.switch("grip", on)
        first = len(run.history("t"))
        run.take(30)
        multipliers = np.abs(run.history("multiplier")[first:, rows])
        assert multipliers.max() == 0.0 if not on else multipliers[:, 2].min() > 0.0
    assert run.history("violation")[:, 0].max() < 1e-12
