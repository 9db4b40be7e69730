"""Steps that converge and are wrong: far roots, impulses that give energy, a memory that does not decay, contact
problems without a fallback.
"""

import numpy as np
import pytest

import fem_mbs as fem
from fem_mbs.errors import SolverError
from fem_mbs.jit import entry, kernel
from fem_mbs.solvers.nsga import scheme
from fem_mbs.solvers.stepping.checks import note_rise
from fem_mbs.solvers.stepping.codes import NOT_CONVERGED, OK
from fem_mbs.solvers.stepping.data import TABLE, run_at
from fem_mbs.solvers.stepping.run_warnings import warnings_of
from fem_mbs.system.records import POSITION


def turns(result, name):
    """Angles (k,) [rad] by which a body turns in each step."""
    R = result[name].rotation
    traces = np.einsum("kij,kij->k", R[1:], R[:-1])
    return np.arccos(np.clip((traces - 1.0) / 2.0, -1.0, 1.0))


def slider_in_a_guide(seed, speed=2.0, **law):
    """A box with 0.25 mm of play; it is open at all corners again once it has turned by 19 degrees."""
    rng = np.random.default_rng(seed)
    model, size = fem.Model("guide", gravity=[0, 0, -9.81]), [0.05, 0.04, 0.3]
    motion = {"velocity": speed / 2 * rng.uniform(-2, 2, 3), "angular_velocity": speed / 2 * rng.uniform(-5, 5, 3)}
    slider = model.add(fem.RigidBody.box(4.6, size, **motion, name="slider"))
    guide = {"size": size, "clearance": 2.5e-4, "name": "guide"} | law
    model.add(fem.PrismaticClearance(slider.frame(), model.ground.frame(), **guide))
    return model


@pytest.mark.parametrize("seed, steps", [(0, 400), (4, 400)])  # turned by 129 and 102 degrees in one step
def test_a_slider_never_turns_round_in_its_guide(seed, steps):
    model, h = slider_in_a_guide(seed, restitution=1.0), 1e-3
    result = fem.DecoupledNSGA().run(model, steps * h, h)
    # it strikes once or twice in a step and turns back: never more than a few steps of its angular velocity
    speed = np.linalg.norm(result["slider"].angular_velocity, axis=1).max()
    assert turns(result, "slider").max() < 4.0 * speed * h
    # it was 38 J after one wrong step; single steps gain O(h) of what strikes late
    assert result.energy.total.max() < result.energy.total[0] * 1.005


def test_roots_that_are_far_from_the_start_of_a_step_are_refused():
    """With the published approach, which gives the slider energy, no step may turn it round either."""
    model = slider_in_a_guide(0, restitution=1.0)
    try:
        result = fem.DecoupledNSGA(approach="start", divide_failed_steps=False).run(model, 0.4, 1e-3)
    except fem.SolverError as error:
        result = error.result
    assert turns(result, "slider").max() < 0.1  # 2.25 rad before there was a bound


@pytest.mark.parametrize("seed", [2, 4])
def test_newtons_iteration_avoids_roots_that_are_far_from_the_start_beside_a_load_as_well(seed):
    """Only drivers may make the start of a step one that is not allowed at its end."""
    model = slider_in_a_guide(seed, restitution=1.0)
    model.add(fem.PointForce(model["slider"], [0, 0, 1e-12], signal=np.cos))
    options = {"approach": "start", "divide_failed_steps": False, "contact_solver": "newton"}
    # without the bound the slider turns round in the second or third step, which is refused
    assert fem.DecoupledNSGA(**options).run(model, 0.1, 1e-3).status == "complete"


# --- closed contacts on curved surfaces -----------------------------------------------------------------------------


def ball_on_a_race(restitution, h=1e-3, run=None, **options):
    """Run of a ball that a spring holds on a sphere, around which it slides with 1 m/s for half a second.

    ``run``: options of the run, others are those of the method.
    """
    model = fem.Model("ball on a race")
    ball = fem.RigidBody.sphere(1.0, 0.05, position=[0.15, 0, 0], velocity=[0, 1.0, 0], name="ball")
    model.add(ball, fem.Spring(model.ground, ball, 1000.0, 0.0, 0.1))
    law = {"radius_A": 0.05, "radius_B": 0.1, "restitution": restitution, "name": "race"}
    model.add(fem.SphereOnSphere(ball, model.ground, **law))
    return fem.DecoupledNSGA(**options).run(model, 0.5, h, **(run or {}))


@pytest.mark.parametrize("approach", ["slower", "start"])
@pytest.mark.parametrize("restitution_speed", ["start", "touch"])
def test_a_ball_that_slides_on_a_convex_race_is_not_struck_in_every_step(approach, restitution_speed):
    """v_n leaves the race along the normal of the end of the step; reflected, it asks the ball to go into the race."""
    race = ball_on_a_race(0.9, approach=approach, restitution_speed=restitution_speed)["race"]
    plastic = ball_on_a_race(0.0, approach=approach, restitution_speed=restitution_speed)["race"]
    assert race.impact.sum() == 0  # 499 of 500 steps
    # forces jumped between 37 and 49 N; m v²/r less than the pull of the spring, first order in h
    assert race.force_normal == pytest.approx(plastic.force_normal, abs=1e-9)
    assert race.force_normal[1:10] == pytest.approx(1000 * 0.05 - 1.0 / 0.15, rel=1e-3)


def test_rises_of_energy_that_are_small_in_each_step_are_told_at_the_end():
    """A closed contact on a convex surface gives energy, of first order in h: 13 % of K in half a second with 1 ms."""
    fine, coarse = (ball_on_a_race(0.0, h=h) for h in (1e-4, 1e-3))
    rise, less = (np.ptp(result.energy.total) for result in (coarse, fine))
    assert rise / less == pytest.approx(10, rel=0.2)
    assert fine.warnings == [] and coarse.statistics["energy_rises"] == 0
    assert len(coarse.warnings) == 1 and f"energy was {rise:.3g} J" in coarse.warnings[0]
    assert "many small rises" in coarse.warnings[0]


@kernel
def look(run, t, energy, given, recent):
    """`note_rise` at times (k,), with what loads have given up to there, and what acts on."""
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
    assert ["by many small rises" in text for text in coarse.warnings] == [True]
    assert "Take a smaller tolerance of step_control" in coarse.warnings[0]
    assert fine.warnings == []


# --- impacts with friction ------------------------------------------------------------------------------------------


def double_pendulum_that_strikes(angles, speeds, restitution, friction):
    """Two rods of 1 m and 1 kg whose tip strikes a rough floor after 0.1 mm (Kane and Levinson's example)."""
    model = fem.Model("Kane's double pendulum")
    along = [np.array([np.sin(q), 0.0, -np.cos(q)]) for q in angles]
    spins = [np.array([0.0, -w, 0.0]) for w in speeds]
    inertia, y = [1e-3, 1 / 12, 1 / 12], np.array([0.0, 1.0, 0.0])
    bodies, start, velocity = [], np.zeros(3), np.zeros(3)
    for name, d, spin in zip(("upper", "lower"), along, spins, strict=True):
        axes = np.column_stack([d, y, np.cross(d, y)])
        middle = {"position": start + d / 2, "velocity": velocity + np.cross(spin, d / 2)}
        bodies.append(fem.RigidBody(1.0, inertia, rotation=axes, angular_velocity=spin, name=name, **middle))
        start, velocity = start + d, velocity + np.cross(spin, d)
    upper, lower = bodies
    pin = fem.Revolute.at(model.ground, upper, [0, 0, 0], axis=y, name="pin")
    elbow = fem.Revolute.at(upper, lower, along[0], axis=y, name="elbow")
    floor = model.ground.frame([0, 0, start[2] - 0.01 - 1e-4])
    law = {"restitution": restitution, "friction": friction, "name": "tip"}
    model.add(upper, lower, pin, elbow, fem.SphereOnPlane(lower.frame([0.5, 0, 0]), floor, radius=0.01, **law))
    return model


CASE = ([0.6278, 0.5148], [-2.3416, -1.7806])  # angles from the vertical [rad], angular velocities [rad/s]


limiting = pytest.mark.parametrize("method", [fem.DecoupledNSGA, fem.NonsmoothGeneralizedAlphaGGL])


def kinetic_after(method, restitution, friction, **options):
    """Kinetic energy after the impact relative to that before, and how often restitution was limited."""
    model = double_pendulum_that_strikes(*CASE, restitution, friction)
    result = method(**options).run(model, 2e-3, 1e-3)
    assert result["tip"].impact.sum() == 1
    kinetic = result.energy.kinetic
    return kinetic[-1] / kinetic[0], result.statistics["impacts_with_less_restitution"]


@limiting
def test_newtons_law_with_friction_can_multiply_the_energy_of_a_linkage(method):
    """What the published law does, and why there is a limit by default."""
    ratio, limited = kinetic_after(method, 1.0, 0.9, approach="start")
    assert ratio > 10.0 and limited == 0


@limiting
def test_the_energy_that_the_published_law_gives_is_not_told_as_a_step_that_is_too_large(method):
    told = {}
    for restitution, approach, save_every in ((1.0, "start", 1), (1.0, "start", 2), (0.0, "start", 1)):
        model = double_pendulum_that_strikes(*CASE, restitution, 0.9)
        engine = method(approach=approach).prepare(model.compile(), 1e-3, save_every)
        engine.run[0]["rises"] = 1
        told[restitution, save_every] = warnings_of(engine)[0], engine.bounced()
    assert not any(bounced for _, bounced in (told[1.0, 1], told[0.0, 1]))  # nothing has been struck
    assert told[1.0, 2][1]  # unknown: steps are not saved
    result = method(approach="start").run(double_pendulum_that_strikes(*CASE, 1.0, 0.9), 2e-3, 1e-3)
    (text,) = result.warnings
    assert "law of impact can give energy" in text and text.endswith('Use approach="slower"') and "alve" not in text
    with pytest.raises(SolverError, match=r"more than the step explains.*: Newton's law .* Use approach=\"slower\"; "):
        method(approach="start").run(double_pendulum_that_strikes(*CASE, 1.0, 0.9), 2e-3, 1e-3, strict=True)


@limiting
@pytest.mark.parametrize("restitution", [1.0, 0.5])
def test_an_impact_with_friction_gives_no_energy_to_a_linkage(method, restitution):
    ratio, limited = kinetic_after(method, restitution, 0.9)
    assert ratio <= 1.0 + 1e-6
    assert limited == 1
    # the largest restitution that gains nothing loses nothing either
    assert ratio > 1.0 - 1e-2


@limiting
def test_restitution_is_not_limited_where_it_gives_no_energy(method):
    ratio, limited = kinetic_after(method, 0.5, 0.0)
    assert limited == 0 and ratio < 1.0


# --- what a report shows ----------------------------------------------------------------------------------------------


def test_a_report_shows_impacts_that_were_split_and_steps_that_step_control_refused():
    def dropped(**options):
        model = fem.Model("ball", gravity=[0, 0, -9.81])
        ball = model.add(fem.RigidBody.sphere(0.3, 0.04, position=[0, 0, 0.84], name="ball"))
        model.add(fem.SphereOnPlane(ball, model.ground, radius=0.04, restitution=0.7, name="floor"))
        result = fem.DecoupledNSGA(**options).run(model, 2.0, 4e-3)
        return result.statistics, str(result.report())

    statistics, text = dropped(impacts="split")
    assert statistics["split_impacts"] > 3 and f"{statistics['split_impacts']} impacts at their touch" in text
    statistics, text = dropped(step_control=fem.StepControl(tolerance=1e-6, h_max=0.02))
    count = statistics["steps_too_large_for_contact"]
    assert count > 3 and f"{count} steps, taken again smaller: {count} too large for a contact" in text
    _, text = dropped()
    assert "split" not in text and "taken again" not in text


# --- step control ---------------------------------------------------------------------------------------------------


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


# --- the contact-problem solver in a run ------------------------------------------------------------------------------


def chain(links=2, **more):
    model = fem.Model("chain", gravity=[0, 0, -9.81])
    before = model.ground
    for k in range(links):
        link = fem.RigidBody(1.0, [0.01, 0.02, 0.02], position=[k + 0.5, 0, 1.0], name=f"link {k}")
        model.add(link, fem.Spherical.at(before, link, [k, 0, 1.0], name=f"pin {k}"))
        before = link
    return model


@pytest.mark.parametrize("solver", ["auto", "newton", "problem"])
def test_the_way_contacts_are_solved_does_not_matter_to_a_model_without_contacts(solver):
    result = fem.DecoupledNSGA(contact_solver=solver).run(chain(), 0.2, 1e-3)
    assert result.status == "complete" and result.statistics["contact_problems"] == 0


def test_newtons_iteration_takes_over_where_the_contact_problem_solver_fails(monkeypatch):
    from fem_mbs.solvers.contact import correction

    monkeypatch.setattr(correction.ContactProblemCorrection, "_correct", lambda self, level: False)
    model = fem.Model("ball", gravity=[0, 0, -9.81])
    ball = model.add(fem.RigidBody.sphere(1.0, 0.1, position=[0, 0, 0.2], name="ball"))
    model.add(fem.SphereOnPlane(ball, model.ground, radius=0.1, restitution=0.5, friction=0.3, name="floor"))
    result = fem.DecoupledNSGA(contact_solver="problem").run(model, 0.3, 1e-3)
    assert result["floor"].impact.sum() >= 1 and result["floor"].gap.min() > -1e-12


# --- long chains ------------------------------------------------------------------------------------------------------


def test_independent_joints_need_no_iterations_of_the_corrections():
    """With a proximal shift the number grew with the length of the chain, to 12 for 10,000 links."""
    result = fem.DecoupledNSGA().run(chain(100), 0.02, 1e-3)
    assert result.iterations.velocity[1:].mean() <= 1.0
    assert result.violation.velocity.max() < 1e-10


# --- smooth motion --------------------------------------------------------------------------------------------------


def rough_floor(stiffness, friction):
    """A spinning ball that lands on a compliant floor, where friction soon turns its sliding round."""
    model = fem.Model("ball", gravity=[0, 0, -9.81])
    motion = {"velocity": [3.0, 0.5, -2.0], "angular_velocity": [0, 20, 5]}
    ball = model.add(fem.RigidBody.sphere(1.5, 0.05, position=[0, 0, 0.06], **motion, name="ball"))
    floor = fem.SphereOnPlane(ball, model.ground, radius=0.05, restitution=0.5, friction=friction, name="floor")
    model.add(fem.CompliantContact(floor, stiffness=stiffness, model="flores", max_indentation=0.05, name="floor"))
    return model


@pytest.mark.parametrize("option", [{}, {"persistent_contacts": True}, {"mixed": True}])
@pytest.mark.parametrize(
    "stiffness, friction, rho_inf, h", [(1e6, 0.3, 0.0, 5e-4), (5e7, 0.3, 0.0, 2e-3), (1e6, 0.8, 1.0, 1e-3)]
)
def test_friction_that_turns_round_within_a_step_is_solved(stiffness, friction, rho_inf, h, option):
    """Full Newton steps went to and fro between the two directions of sliding; 202 of 216 such balls were refused."""
    result = fem.DecoupledNSGA(rho_inf=rho_inf, **option).run(rough_floor(stiffness, friction), 0.4, h)
    assert result.status == "complete"
    speed = result["ball"].velocity[-1, 0] - 0.05 * result["ball"].angular_velocity[-1, 1]
    assert abs(speed) < 0.5 * (3.0 - 0.05 * 20)  # friction has acted: the point of contact slid at 2 m/s


def test_mixed_iterations_are_ordinary_ones_in_models_without_beams():
    ordinary, mixed = (fem.DecoupledNSGA(mixed=option).run(chain(), 0.2, 1e-3) for option in (False, True))
    assert np.array_equal(ordinary.iterations.smooth, mixed.iterations.smooth)
    assert np.array_equal(ordinary["link 1"].position, mixed["link 1"].position)


def test_a_step_whose_prediction_turns_too_far_starts_from_rest():
    """A stiff spiral spring that is wound up: a_0 = 2e7 rad/s² predicts more than 3 rad, the step turns less."""
    model = fem.Model("spiral")
    disc = model.add(fem.RigidBody(1.0, 1e-3, name="disc"))
    joint = model.add(fem.Revolute.at(model.ground, disc, [0, 0, 0], axis=[0, 0, 1]))
    model.add(fem.TorsionSpring(joint.frame_P, joint.frame_Q, 2e4, free_angle=1.0))
    result = fem.DecoupledNSGA(rho_inf=0.0, improved_start=True).run(model, 0.02, 1e-3)
    assert result.energy.total[0] == pytest.approx(1e4)
    assert result.energy.total.max() < 1.05 * result.energy.total[0]


# --- warnings -------------------------------------------------------------------------------------------------------


def deep_ball():
    model = fem.Model("deep", gravity=[0, 0, -9.81])
    ball = model.add(fem.RigidBody.sphere(1.0, 0.1, position=[0, 0, 0.6], velocity=[0, 0, -40.0], name="ball"))
    floor = fem.SphereOnPlane(ball, model.ground, radius=0.1, restitution=1.0, name="floor")
    model.add(fem.CompliantContact(floor, stiffness=1e9, name="floor"))
    return model


def test_a_rise_of_energy_is_counted_told_and_kept(tmp_path):
    """Indentation 0 to some millimetres in one step: the energy of the contact appears from nowhere."""
    result = fem.DecoupledNSGA().run(deep_ball(), 0.03, 1e-3, save=str(tmp_path / "deep.vtkhdf"))
    rise = np.diff(result.energy.total).max()
    assert rise > 0.5 * result.energy.total[0]
    assert ["energy rose" in text for text in result.warnings] == [True]  # told once, not as small rises too
    assert f"{rise:.3g} J" in result.warnings[0]
    assert "WARNING" in result.report()
    assert fem.load(tmp_path / "deep.vtkhdf").warnings == result.warnings


def test_strict_runs_stop_where_others_warn():
    with pytest.raises(fem.SolverError, match=r"energy rose by .* strict=True") as caught:
        fem.DecoupledNSGA().run(deep_ball(), 0.03, 1e-3, strict=True)
    assert caught.value.step == caught.value.result.step[-1] == 14
    assert str(caught.value).startswith("Step 14, t = 0.014 s")


def test_a_rise_in_a_last_state_that_is_saved_out_of_turn_is_told_or_raised_as_any_other():
    run = fem.DecoupledNSGA().run
    told = run(deep_ball(), 0.014, 1e-3, save_every=13)
    assert told.step.tolist() == [0, 13, 14] and ["energy rose once" in text for text in told.warnings] == [True]
    with pytest.raises(fem.SolverError, match=r"energy rose .* strict=True") as caught:
        run(deep_ball(), 0.014, 1e-3, save_every=13, strict=True)
    assert caught.value.step == 14
    assert caught.value.result.step.tolist() == [0, 13, 14] and caught.value.result.warnings == told.warnings


@pytest.mark.parametrize("t_end, every", [(0.015, 7), (0.02, 13), (0.017, 16)])
def test_step_control_does_not_make_the_last_state_that_of_a_strict_run(t_end, every):
    """Long steps are watched as in strict runs; their state at the end may be many steps after the one saved before."""
    control = fem.StepControl()
    result = fem.DecoupledNSGA(step_control=control).run(deep_ball(), t_end, 1e-3, save_every=every)
    assert result.status == "complete" and result.step[-1] % every and result.t[-1] == pytest.approx(t_end)
    assert ["energy rose" in text for text in result.warnings] == [True]


@pytest.mark.parametrize("observed", [False, True])
def test_small_rises_before_a_last_state_out_of_turn_are_told_as_such(observed):
    """13 % of K in 500 steps: more than one step may bring, and no step did. Seen or not seen by an observer."""

    class Watch:
        def start(self, system): ...

        def observe(self, block): ...

        def finish(self): ...

    watch = [Watch()] if observed else []
    result = ball_on_a_race(0.0, run={"save_every": 501, "observers": watch})
    assert result.step.tolist() == [0, 500]
    assert ["by many small rises" in text for text in result.warnings] == [True]


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


@pytest.mark.parametrize("rho_inf", [0.0, 0.5, 0.8])
def test_an_improved_start_gives_no_energy_to_stiff_springs(rho_inf):
    """By a difference quotient of the accelerations the first step multiplied the energy: h ω = 9."""
    result = fem.DecoupledNSGA(rho_inf=rho_inf, improved_start=True).run(held_by(2e7), 0.1, 2e-3)
    assert result.energy.total.max() < 1.05 * result.energy.total[0]


@pytest.mark.parametrize("rho_inf, gain", [(0.5, 43.0), (0.8, 2.6), (0.0, 700.0)])
def test_a_rise_is_told_where_stiff_forces_could_explain_any(rho_inf, gain):
    """The published start, a_0 = v̇_0, of a damper with a time constant far below h; the first two were silent."""
    result = fem.DecoupledNSGA(rho_inf=rho_inf).run(held_by(2e7, 2e4), 0.02, 2e-3)
    assert result.energy.total[1] > gain * result.energy.total[0]
    assert any("energy rose" in text for text in result.warnings)


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
    """Momenta that the tolerance leaves in a step, of round-off of the forces, are what moves such a beam."""
    result = fem.DecoupledNSGA(rho_inf=rho_inf).run(beam_at_rest(n, unit), 60 * h, h)
    assert result.statistics["energy_rises"] == 0 and not any("energy" in text for text in result.warnings)


def test_what_the_tolerance_leaves_explains_no_rise_that_matters():
    """1 mm/s given to the tip of the beam at rest is a rise: 2e-8 J, against 1e-18 J that the tolerance leaves."""
    engine = fem.DecoupledNSGA().prepare(beam_at_rest(3).compile(), 1e-3, strict=True)
    records = engine.make_records(1)
    assert engine.advance(np.array([1e-3]), np.zeros((1, 1, 1, 3)), records)[2] is None
    engine.arrays["V"][-1, 1] = 1e-3
    error = engine.advance(np.array([2e-3]), np.zeros((1, 1, 1, 3)), records)[2]
    assert error is not None and "energy rose" in str(error)


@pytest.mark.parametrize("method", [fem.DecoupledNSGA, fem.MoreauJean, fem.ConeComplementarity])
def test_a_run_whose_energy_is_beyond_all_numbers_ends_with_an_error(method):
    """Of a speed whose square is: a beam that a scheme made ring ever more was "complete", with an infinite energy."""
    model = fem.Model("fast")
    model.add(fem.RigidBody.sphere(1.0, 0.1))
    engine = method().prepare(model.compile(), 1e-3)
    engine.arrays["V"][-1, 0] = 2e154
    _, saved, error = engine.advance(np.array([1e-3]), np.zeros((1, 0, 1, 3)), engine.make_records(1))
    assert saved == 0 and "the energy is not finite" in str(error)


def test_nothing_is_told_of_energy_that_a_driver_gives():
    model = fem.Model("lift")
    mass = model.add(fem.PointMass(1.0, name="mass", fixed=("x", "y")))
    model.add(fem.Prescribed(mass, z=lambda t: t**2, name="drive"))
    assert not fem.DecoupledNSGA().run(model, 1.0, 1e-2).warnings


# --- elements outside their range -------------------------------------------------------------------------------------


def soft_beam(turned):
    """A soft beam of one element, clamped at one end, whose free end turns fast about the transverse axis."""
    model = fem.Model("folding")
    section = fem.Section.circle(0.01, E=1e5, density=1000)
    root = fem.Node6(fixed=True)
    tip = fem.Node6([0.2, 0, 0], angular_velocity=[0, 0, turned], name="tip")
    model.add(fem.Beam(root, tip, section, name="beam"), fem.RigidBody(1.0, 1e-2, node=tip, name="end"))
    return model


@pytest.mark.parametrize("control", [None, fem.StepControl()])
def test_a_beam_whose_ends_turn_too_far_ends_the_run_before_it_goes_wrong(control):
    """Past half a turn the logarithm of the relative rotation changes its branch; the energy rose 30,000 times."""
    message = r"Beam 'beam': its ends and middle are turned by .* use more elements"
    with pytest.raises(fem.SolverError, match=message) as caught:
        fem.DecoupledNSGA(step_control=control).run(soft_beam(60.0), 0.2, 1e-3)
    energy = caught.value.result.energy.total
    assert energy.max() < energy[0] * (1 + 1e-3)


@pytest.mark.parametrize("depth, refused", [(0.0099, False), (0.0101, True)])
def test_a_compliant_contact_may_not_start_deeper_than_a_tenth_of_the_radius(depth, refused):
    model = fem.Model("deep", gravity=[0, 0, -9.81])
    ball = model.add(fem.RigidBody.sphere(1.0, 0.1, position=[0, 0, 0.1 - depth], name="ball"))
    floor = fem.SphereOnPlane(ball, model.ground, radius=0.1, restitution=0.5)
    model.add(fem.CompliantContact(floor, stiffness=1e3, name="floor"))
    if refused:
        with pytest.raises(fem.ModelError, match=r"CompliantContact 'floor': its indentation is 0.0101 m"):
            model.compile()
    else:
        assert fem.DecoupledNSGA().run(model, 1e-2, 1e-3).status == "complete"


def test_a_step_that_goes_too_deep_into_a_compliant_contact_is_refused():
    model = fem.Model("fast")
    ball = model.add(fem.RigidBody.sphere(1.0, 0.1, position=[0, 0, 0.2], velocity=[0, 0, -100], name="ball"))
    floor = fem.SphereOnPlane(ball, model.ground, radius=0.1, restitution=0.5)
    model.add(fem.CompliantContact(floor, stiffness=1e5, name="floor"))
    with pytest.raises(fem.SolverError, match=r"Step \d+, t = .* CompliantContact 'floor': its indentation is"):
        fem.DecoupledNSGA().run(model, 0.1, 1e-3)


# --- attempts ---------------------------------------------------------------------------------------------------------


plain_step = kernel(scheme.step.function)


@kernel
def astray_at_first(data, run):
    """A step whose first attempt goes astray in the position correction."""
    s = run_at(run)[0]
    if s.counts[4] == 0:
        s.scale_x, s.scale_v = 1e6, 1e7
        s.counts[6], s.code = POSITION, NOT_CONVERGED
        return
    plain_step(data, run)


@entry("void(int64, int64)")
def fails_at_first(data, run):
    astray_at_first(data, run)


@entry("void(int64, int64)")
def fails_then_jumps(data, run):
    """The same, and all is half a metre beside its way after the second attempt."""
    s = run_at(run)[0]
    astray_at_first(data, run)
    if s.code == OK:
        for i in range(s.x.shape[0]):
            s.x[i, 0] += 0.5


def test_sizes_that_tolerances_refer_to_are_not_those_of_attempts_that_were_given_up():
    model = fem.Model("ball", gravity=[0, 0, -9.81])
    ball = model.add(fem.RigidBody.sphere(1.0, 0.1, position=[0, 0, 0.2], name="ball"))
    model.add(fem.SphereOnPlane(ball, model.ground, radius=0.1, name="floor"))
    engine = fem.DecoupledNSGA().prepare(model.compile(), 1e-3)
    engine.run[0]["step_part"] = fails_at_first.address
    assert engine.advance(1e-3 * np.arange(1, 11), np.zeros((10, 1, 1, 3)), engine.make_records(10))[2] is None
    assert engine.run[0]["repeated"] == 10
    assert engine.run[0]["scale_x"] == pytest.approx(0.2)
    assert engine.run[0]["scale_v"] == pytest.approx(np.sqrt(9.81 * 0.2))  # of falling by the size
    engine.run[0]["step_part"] = fails_then_jumps.address
    error = engine.advance(np.array([1.1e-2]), np.zeros((1, 1, 1, 3)), engine.make_records(1))[2]
    assert "jumped: it moved" in str(error)  # the floor of what is a jump is 1e-6 of that size


def test_a_root_of_the_contact_problem_solver_that_is_far_from_the_start_is_refused(monkeypatch):
    """It is made to put a ball beside its way, by four times that: less than what is a jump, more than (1) allows."""
    from fem_mbs.solvers.contact import correction

    real, astray = correction.ContactProblemCorrection._correct, []

    def beside(self, level):
        solved, arrays = real(self, level), self.engine.arrays
        if level == POSITION and solved:
            ball = int(np.argmax(np.abs(arrays["V0"][:, 2])))
            arrays["U"][ball, 0] = 4e-3
            self.engine.call(self.engine.problem_at(int(self.engine.run[0]["solving"])), "residual")
            astray.append(level)
        return solved

    monkeypatch.setattr(correction.ContactProblemCorrection, "_correct", beside)
    model = fem.Model("ball")
    ball = model.add(fem.RigidBody.sphere(1.0, 0.1, position=[0, 0, 0.1025], velocity=[0, 0, -1.0], name="ball"))
    model.add(fem.SphereOnPlane(ball, model.ground, radius=0.1, restitution=0.5, name="floor"))
    result = fem.DecoupledNSGA(contact_solver="problem").run(model, 5e-3, 1e-3)
    assert result["floor"].impact.sum() == 1
    assert result.statistics["repeated_steps"] == len(astray) > 0  # by Newton's iteration
    np.testing.assert_allclose(result["ball"].position[:, 0], 0.0, atol=1e-12)
