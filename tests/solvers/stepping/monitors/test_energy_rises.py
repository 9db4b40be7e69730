"""Rises of energy: small ones in each step, what explains them, how they are reported."""

import numpy as np
import pytest
from energy_models import ball_on_a_race

import fem_mbs as fem
from fem_mbs.jit import kernel
from fem_mbs.solvers.stepping.kernels.checks import note_rise
from fem_mbs.solvers.stepping.kernels.data import TABLE


@pytest.mark.parametrize("approach", ["slower", "start"])
@pytest.mark.parametrize("restitution_speed", ["start", "touch"])
def test_a_ball_that_slides_on_a_convex_race_is_not_hit_in_every_step(approach, restitution_speed):
    """v_n leaves the race along the normal of the end of the step; reflected, it asks the ball to go into the race."""
    race = ball_on_a_race(0.9, approach=approach, restitution_speed=restitution_speed)["race"]
    plastic = ball_on_a_race(0.0, approach=approach, restitution_speed=restitution_speed)["race"]
    assert race.impact.sum() == 0  # 499 of 500 steps
    # forces jumped between 37 and 49 N; m v²/r less than the pull of the spring, first order in h
    assert race.force_normal == pytest.approx(plastic.force_normal, abs=1e-9)
    assert race.force_normal[1:10] == pytest.approx(1000 * 0.05 - 1.0 / 0.15, rel=1e-3)


def test_rises_of_energy_that_are_small_in_each_step_are_reported_at_the_end():
    """A contact on a convex surface that is closed in the corrections alone gives energy, O(h): 13 % of K in 0.5 s."""
    fine, coarse = (ball_on_a_race(0.0, h=h, persistent_contacts=False) for h in (1e-4, 1e-3))
    rise, less = (np.ptp(result.energy.total) for result in (coarse, fine))
    assert rise / less == pytest.approx(10, rel=0.2)
    assert fine.warnings == [] and coarse.statistics["energy_rises"] == 0
    assert len(coarse.warnings) == 1 and f"energy was {rise:.3g} J" in coarse.warnings[0]
    assert "many small rises" in coarse.warnings[0]


@kernel
def look(run, t, energy, given, recent):
    """`note_rise` at times (k,), with the work of loads up to there, and the part that continues to act."""
    for k in range(len(t)):
        run[0].step_number, run[0].t, run[0].given_work, run[0].recent_work = k, t[k], given[k], recent[k]
        note_rise(run[0], energy[k])


def noted(energy, given=None, recent=None):
    """Rise and its time, for energies at t = 0, 1, 2, …"""
    run, nothing = np.zeros(1, TABLE.dtype), np.zeros(len(energy))
    run["h"] = run["mean_mass"] = 1.0
    look(run, np.arange(float(len(energy))), np.array(energy), *(nothing + (v or nothing) for v in (given, recent)))
    return float(run["total_rise"][0]), float(run["total_rise_time"][0])


def test_the_rise_over_a_run_is_that_above_any_earlier_value():
    assert noted([10.0, 7.0, 7.5]) == (0.5, 2.0)
    assert noted([10.0, 7.0, 7.5, 9.0, 4.0]) == (2.0, 3.0)
    assert noted([10.0, 7.0, 7.0 + 1e-12]) == (0.0, 0.0)  # round-off


def test_what_loads_have_given_explains_rises_of_its_own_time_alone():
    """A load that gives 1 J after a rise of 1 J does not explain it; what acts on in a memory explains what comes."""
    assert noted([5.0, 5.0, 6.0, 6.0], given=[0.0, 0.0, 0.0, 1.0]) == (1.0, 2.0)
    assert noted([5.0, 5.0, 6.0, 6.0], given=[0.0, 0.0, 1.0, 1.0]) == (0.0, 0.0)
    assert noted([5.0, 5.0, 6.0, 6.0], given=[0.0, 1.0, 1.0, 1.0], recent=[0.0, 1.0, 0.5, 0.25]) == (0.0, 0.0)
    assert noted([5.0, 5.0, 7.0, 7.0], given=[0.0, 1.0, 1.0, 1.0], recent=[0.0, 1.0, 0.5, 0.25]) == (1.0, 2.0)


def test_a_load_that_acts_all_the_time_does_not_hide_what_a_few_steps_gain():
    """With steps of two stages that a spring makes too large its energy swings; a load gives more in the whole run."""

    def swing(tolerance):
        model = fem.Model("swing")
        mass = model.add(fem.PointMass(1.0, velocity=[0, 6**0.5, 0], name="mass", fixed=("x", "z")))
        model.add(fem.Spring(model.ground.frame([0, -1, 0]), mass.frame(), stiffness=240.0**2, free_length=1.0))
        other = model.add(fem.PointMass(1.0, velocity=[0, 0, 1], name="other", fixed=("x", "y")))
        model.add(fem.PointForce(other, [0, 0, 8.0], name="load"))
        return fem.LobattoIIIAB(stages=2, step_control=fem.StepControl(tolerance=tolerance)).run(model, 0.1, 5e-4)

    coarse, fine = swing(4e-4), swing(1e-5)
    speed = coarse["other"].velocity[[0, -1], 2]
    assert 0.5 * np.diff(speed**2)[0] > 0.2 * coarse.energy.kinetic.max()
    assert ["many small rises" in text for text in coarse.warnings] == [True]
    assert "smaller tolerance of step_control" in coarse.warnings[0]
    assert fine.warnings == []


@pytest.mark.parametrize("rho_inf", [0.0, 0.2])
def test_energy_does_not_grow_while_steps_grow_after_a_compliant_impact(rho_inf):
    """The memory of the method kept the jump of the contact force: 159 times the energy at rho_inf = 0."""
    model = fem.Model("ball", gravity=[0, 0, -9.81])
    ball = model.add(fem.RigidBody.sphere(1.0, 0.1, position=[0, 0, 0.6], name="ball"))
    floor = fem.SphereOnPlane(ball, model.ground, radius=0.1, restitution=0.6, name="floor")
    model.add(fem.CompliantContact(floor, stiffness=140e6, model="flores"))
    stepper = fem.DecoupledNSGA(rho_inf=rho_inf, step_control=fem.StepControl(tolerance=1e-5))
    result = stepper.run(model, 0.6, 1e-3)
    assert result.energy.total.max() <= result.energy.total[0] * (1 + 1e-6)
    assert not result.warnings


def deep_ball():
    model = fem.Model("deep", gravity=[0, 0, -9.81])
    ball = model.add(fem.RigidBody.sphere(1.0, 0.1, position=[0, 0, 0.6], velocity=[0, 0, -40.0], name="ball"))
    floor = fem.SphereOnPlane(ball, model.ground, radius=0.1, restitution=1.0, name="floor")
    model.add(fem.CompliantContact(floor, stiffness=1e9, name="floor"))
    return model


def test_a_rise_of_energy_is_counted_reported_and_kept(tmp_path):
    """Indentation 0 to some millimetres in one step: the energy of the contact appears from nowhere."""
    result = fem.DecoupledNSGA().run(deep_ball(), 0.03, 1e-3, save=str(tmp_path / "deep.vtkhdf"))
    rise = np.diff(result.energy.total).max()
    assert rise > 0.5 * result.energy.total[0]
    assert ["energy increased" in text for text in result.warnings] == [True]  # reported once, not as small rises too
    assert f"{rise:.3g} J" in result.warnings[0]
    assert "WARNING" in result.report()
    assert fem.load(tmp_path / "deep.vtkhdf").warnings == result.warnings


def test_a_flexible_frame_that_gains_energy_at_its_impact_is_advised_to_damp_fast_vibrations():
    """It stands on two feet and carries a weight; the advice helps, at the same h."""
    warnings = {}
    for rho_inf in (0.8, 0.0):
        model = fem.Model("frame", gravity=[0, 0, -9.81])
        tube = fem.Section.circle(0.01, E=2.1e11, density=7800)
        left = fem.beam_line([0, 0, 0.05], [0, 0, 0.65], 4, tube, name="left")
        right = fem.beam_line([0.8, 0, 0.05], [0.8, 0, 0.65], 4, tube, name="right")
        top = fem.beam_line(left.nodes[-1], right.nodes[-1], 4, tube, name="top")
        model.add(left, right, top, fem.RigidBody(2.0, 3 * [1e-3], node=top.nodes[2], name="weight"))
        for foot in (left.nodes[0], right.nodes[0]):
            model.add(fem.SphereOnPlane(foot, model.ground, radius=0.0, friction=0.3))
        warnings[rho_inf] = fem.DecoupledNSGA(rho_inf=rho_inf).run(model, t_end=0.12, h=1e-3).warnings
    assert any("energy increased" in text and "rho_inf=0" in text for text in warnings[0.8])
    assert not warnings[0.0]


def test_strict_runs_stop_where_others_warn():
    with pytest.raises(fem.SolverError, match=r"^Step .*energy .*strict=True") as caught:
        fem.DecoupledNSGA().run(deep_ball(), 0.03, 1e-3, strict=True)
    assert caught.value.step == caught.value.result.step[-1] == 14
    assert str(caught.value).startswith("Step 14, t = 0.014 s")


def test_a_rise_in_a_last_state_that_is_saved_out_of_turn_is_reported_or_raised_as_any_other():
    run = fem.DecoupledNSGA().run
    told = run(deep_ball(), 0.014, 1e-3, save_every=13)
    assert told.step.tolist() == [0, 13, 14] and ["energy increased once" in text for text in told.warnings] == [True]
    with pytest.raises(fem.SolverError, match=r"energy .*strict=True") as caught:
        run(deep_ball(), 0.014, 1e-3, save_every=13, strict=True)
    assert caught.value.step == 14
    assert caught.value.result.step.tolist() == [0, 13, 14] and caught.value.result.warnings == told.warnings


@pytest.mark.parametrize("t_end, every", [(0.015, 7), (0.02, 13), (0.017, 16)])
def test_step_control_does_not_make_the_last_state_that_of_a_strict_run(t_end, every):
    """Long steps are watched as in strict runs; their state at the end may be many steps after the one saved before."""
    control = fem.StepControl()
    result = fem.DecoupledNSGA(step_control=control).run(deep_ball(), t_end, 1e-3, save_every=every)
    assert result.status == "complete" and result.step[-1] % every and result.t[-1] == pytest.approx(t_end)
    assert ["energy increased" in text for text in result.warnings] == [True]


@pytest.mark.parametrize("observed", [False, True])
def test_small_rises_before_a_last_state_out_of_turn_are_reported_as_such(observed):
    """13 % of K in 500 steps: more than one step may bring, and no step did. Seen or not seen by an observer."""

    class Watch:
        def start(self, system): ...

        def observe(self, block): ...

        def finish(self): ...

    watch = [Watch()] if observed else []
    result = ball_on_a_race(0.0, run={"save_every": 501, "observers": watch}, persistent_contacts=False)
    assert result.step.tolist() == [0, 500]
    assert ["many small rises" in text for text in result.warnings] == [True]


def test_step_control_resolves_what_raises_the_energy():
    result = fem.DecoupledNSGA(step_control=fem.StepControl()).run(deep_ball(), 0.03, 1e-3)
    assert result.energy.total.max() < 1.05 * result.energy.total[0]
    assert result.statistics["failed_steps"] > 0


def held_by(stiffness, damping=0.0):
    """A body that flies away from a spring which is much stiffer than the step resolves."""
    model = fem.Model("held")
    body = model.add(fem.RigidBody(1.0, [0.01, 0.02, 0.03], position=[1, 0, 0], velocity=[5, 0, 0], name="body"))
    model.add(fem.Spring(model.ground.frame(), body.frame(), stiffness, damping=damping, free_length=1.0))
    return model


@pytest.mark.parametrize("rho_inf, gain", [(0.5, 43.0), (0.8, 2.6), (0.0, 700.0)])
def test_a_rise_is_reported_where_stiff_forces_could_explain_any(rho_inf, gain):
    """The published start, a_0 = v̇_0, of a damper with a time constant far below h; the first two were silent."""
    result = fem.DecoupledNSGA(rho_inf=rho_inf).run(held_by(2e7, 2e4), 0.02, 2e-3)
    assert result.energy.total[1] > gain * result.energy.total[0]
    assert any("energy increased" in text for text in result.warnings)


def beam_at_rest(n, unit=1.0):
    """A clamped steel beam of 0.37 units [m] of length, whose inner forces are round-off of its positions."""
    model = fem.Model("rest")
    section = fem.Section.circle(0.005 * unit, E=2e11, density=7800)
    line = model.add(fem.beam_line([0, 0, 0], unit * np.array([0.3, 0.2, 0.1]), n, section, name="beam"))
    model.add(fem.Fixed.at(model.ground, line.nodes[0], [0, 0, 0]))
    return model


def test_round_off_of_a_body_at_rest_is_no_rise():
    result = fem.DecoupledNSGA().run(beam_at_rest(3), 0.02, 1e-3, strict=True)
    assert result.energy.total.max() < 1e-18 and not result.warnings


@pytest.mark.parametrize("rho_inf", [0.0, 0.8])
@pytest.mark.parametrize(
    "n, unit, h", [(1, 1e-3, 1e-2), (3, 1e-3, 1e-2), (8, 1.0, 1e-2), (3, 1e3, 1e-3), (8, 1.0, 1e-5)]
)
def test_round_off_is_no_rise_at_other_sizes_and_steps(n, unit, h, rho_inf):
    """Only momenta within the tolerance of a step, from round-off of the forces, move such a beam."""
    result = fem.DecoupledNSGA(rho_inf=rho_inf).run(beam_at_rest(n, unit), 60 * h, h)
    assert result.statistics["energy_rises"] == 0 and not any("energy" in text for text in result.warnings)


def test_what_the_tolerance_leaves_explains_no_rise_that_matters():
    """1 mm/s given to the tip of the beam at rest is a rise: 2e-8 J, against 1e-18 J that the tolerance leaves."""
    engine = fem.DecoupledNSGA().prepare(beam_at_rest(3).compile(), 1e-3, strict=True)
    records = engine.make_records(1)
    assert engine.march.advance(np.array([1e-3]), records)[2] is None
    engine.arrays["V"][-1, 1] = 1e-3
    error = engine.march.advance(np.array([2e-3]), records)[2]
    assert error is not None and "energy increased" in str(error)


@pytest.mark.parametrize("method", [fem.DecoupledNSGA, fem.MoreauJean, fem.ConeComplementarity])
def test_a_run_whose_energy_is_beyond_all_numbers_ends_with_an_error(method):
    """Of a speed whose square is: a beam that a scheme made ring ever more was "complete", with an infinite energy."""
    model = fem.Model("fast")
    model.add(fem.RigidBody.sphere(1.0, 0.1))
    engine = method().prepare(model.compile(), 1e-3)
    engine.arrays["V"][-1, 0] = 2e154
    _, saved, error = engine.march.advance(np.array([1e-3]), engine.make_records(1))
    assert saved == 0 and "not finite" in str(error)


def test_nothing_is_reported_of_energy_that_a_driver_gives():
    model = fem.Model("lift")
    mass = model.add(fem.PointMass(1.0, name="mass", fixed=("x", "y")))
    model.add(fem.Prescribed(mass, z=lambda t: t**2, name="drive"))
    assert not fem.DecoupledNSGA().run(model, 1.0, 1e-2).warnings
