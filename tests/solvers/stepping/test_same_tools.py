"""Every run offers the same with every time stepper: forces, histories, observers, step control, files, restarts."""

import inspect
import re

import double_pendulum
import numpy as np
import pytest
from every_stepper import (
    CONE,
    METHODS,
    SMOOTH,
    drifts,
    every_method,
    every_method_with_contacts,
    label,
)

import fem_mbs as fem
from fem_mbs.errors import FemMbsError, ModelError
from fem_mbs.results.file.writer import ResultsWriter
from fem_mbs.results.sums import SUMS
from fem_mbs.solvers import STEPPERS
from fem_mbs.solvers.stepping import stepper
from fem_mbs.solvers.stepping.march import chunks

G, MASS, RADIUS = 9.81, 2.0, 0.1
MOREAU, LOBATTO = STEPPERS["MoreauJean"], STEPPERS["LobattoIIIAB"]


def takes(method, option):
    return option in inspect.signature(type(method)).parameters


WITH_CONTROL = [method for method in METHODS if takes(method, "step_control")]
WITHOUT_CONTROL = [name for name in STEPPERS if not takes(STEPPERS[name](), "step_control")]
WITH_SOLVER = [name for name in STEPPERS if takes(STEPPERS[name](), "contact_solver")]


def ball(height=0.0, restitution=0.6, velocity=(0, 0, 0), spin=(0, 0, 0), **law):
    """A ball over a floor."""
    model = fem.Model("ball", gravity=[0, 0, -G])
    place = {"position": [0, 0, RADIUS + height], "velocity": velocity, "angular_velocity": spin}
    body = model.add(fem.RigidBody.sphere(MASS, RADIUS, **place, name="ball"))
    model.add(fem.SphereOnPlane(body, model.ground, radius=RADIUS, restitution=restitution, name="floor", **law))
    return model


def pair():
    """Two hinged bodies that fall on a floor, bounce, and slide on it to the end: a joint, two contacts, friction."""
    model = fem.Model("pair", gravity=[0, 0, -G])
    turns, law = [0, 2, 1.0], {"radius": 0.05, "friction": 0.3, "restitution": 0.3}
    first = {"position": [-0.2, 0, 0.5], "velocity": [1, 0, 0], "angular_velocity": turns}
    a = model.add(fem.RigidBody.box(1.0, [0.4, 0.1, 0.1], **first, name="a"))
    second = {"position": [0.2, 0, 0.5], "velocity": [1, 0.4, -0.8], "angular_velocity": turns}
    b = model.add(fem.RigidBody.box(2.0, [0.4, 0.1, 0.1], **second, name="b"))
    model.add(fem.Spherical.at(a, b, [0, 0, 0.5], name="joint"))
    model.add(fem.SphereOnPlane(a.frame([-0.2, 0, 0]), model.ground, name="end a", **law))
    model.add(fem.SphereOnPlane(b.frame([0.2, 0, 0]), model.ground, name="end b", **law))
    return model


def rod():
    """A rod on a hinge, from the horizontal."""
    model = fem.Model("rod", gravity=[0, 0, -G])
    body = model.add(fem.RigidBody.box(1.0, [0.5, 0.1, 0.1], position=[0.25, 0, 0], name="rod"))
    model.add(fem.Revolute.at(model.ground, body, [0, 0, 0], axis=[0, 1, 0], name="hinge"))
    return model


def given(result, name):
    """Momentum (k, 3) [N s] that a contact gave to its first body in each step, inertial axes."""
    contact = result[name]
    axes = np.concatenate([contact.normal[:, None], contact.tangents.reshape(-1, 2, 3)], axis=1)
    return np.einsum("kt,ktj->kj", contact.impulse, axes)


@every_method_with_contacts
def test_results_do_not_depend_on_the_pieces_a_run_is_taken_in(method, monkeypatch):
    """Their lengths follow the clock: pieces of one step, written or gathered, and pieces as long as fit."""
    runs = []
    for seconds, between in ((0.0, 0.0), (0.0, np.inf), (np.inf, np.inf)):
        monkeypatch.setattr(chunks, "CHUNK_SECONDS", seconds)
        monkeypatch.setattr(chunks, "WRITE_SECONDS", between)
        runs.append(method.run(pair(), 0.8, 8e-3))
    first, *others = (run.rows(range(len(run.t))) for run in runs)
    for other in others:
        assert set(other) == set(first)
        for name in first:
            np.testing.assert_array_equal(other[name], first[name])


def shaken_rod():
    """A rod of four beams whose load comes at once: its tension swings about 25 EI/L², above 50 at times."""
    model, tip = fem.Model("shaken"), fem.Node6([2, 0, 0])
    section = fem.Section.general(EA=1e4, GJ=1, EI2=2, EI3=4, rhoA=1, rhoI2=1e-3, rhoI3=1e-3)
    rod = fem.beam_line(fem.Node6(fixed=True), tip, 8, section, name="rod")
    model.add(rod, fem.PointForce(tip, [200.0, 0, 0]))
    return model, rod


@pytest.mark.parametrize("watched", [False, True])
@pytest.mark.parametrize("every", [1, 3, 230])
def test_warnings_are_on_the_extremes_of_all_steps_whatever_is_saved_and_the_pieces(every, watched, monkeypatch):
    """A tension that comes and goes between two states that are saved is reported by its largest value all the same."""

    class Watch:
        def start(self, system): ...

        def observe(self, block): ...

        def finish(self): ...

    told = []
    model, rod = shaken_rod()
    result = fem.DecoupledNSGA(rho_inf=0.5).run(model, 0.23, 1e-3)
    forces = [getattr(result[beam.name], end)[:, 0] for beam in rod.elements for end in ("force_A", "force_B")]
    bound = rod.elements[0].length ** 2 / 2.0  # L²/EI
    largest = max(force.max() for force in forces) * bound
    # neither the first state nor the last is among those that are reported
    assert largest > 50 > bound * max(max(force[0], force[-1]) for force in forces)
    for seconds in (0.0, np.inf):
        monkeypatch.setattr(chunks, "CHUNK_SECONDS", seconds)
        model, _ = shaken_rod()
        observers = [Watch()] if watched else []
        result = fem.DecoupledNSGA(rho_inf=0.5).run(model, 0.23, 1e-3, save_every=every, observers=observers)
        told.append([text for text in result.warnings if "tension" in text])
        reported = float(re.search(r"up to ([0-9.]+) EI/L²", told[-1][0])[1])
        # in the middle of halves of elements, without the inertia of what is between there and the end
        assert 0.97 * largest < reported < largest
    assert told[0] == told[1] and len(told[0]) == 1


def test_the_clock_decides_how_long_pieces_are_but_not_how_often_they_are_written(monkeypatch, tmp_path):
    """On a busy machine pieces become short; each write goes to all datasets of the file."""
    written = []
    append = ResultsWriter.append

    def counted(self, chunk, pairs=()):
        written.append(len(chunk["t"]))
        append(self, chunk, pairs)

    monkeypatch.setattr(ResultsWriter, "append", counted)
    monkeypatch.setattr(chunks, "CHUNK_SECONDS", 0.0)  # pieces of one step
    monkeypatch.setattr(chunks, "WRITE_SECONDS", np.inf)
    monkeypatch.setattr(stepper, "MOST_RECORDS", 64)
    result = fem.DecoupledNSGA().run(pair(), 0.8, 8e-3, save=tmp_path / "pair.vtkhdf")
    assert written == [64, 37] and len(result.t) == 101
    monkeypatch.setattr(stepper, "MOST_RECORDS", 4096)
    written.clear()
    fem.DecoupledNSGA().run(pair(), 0.8, 8e-3, save=tmp_path / "pair.vtkhdf", save_every=3)
    assert written == [34, 1]  # the last step is not a multiple of 3


@pytest.mark.parametrize(("method", "told"), [
    (fem.MoreauJean(), "MoreauJean (h = 0.001, save_every = 1, rtol = 1e-06)"),
    (fem.MoreauJean(0.6, projection=True), "rtol = 1e-06, theta = 0.6, projection = True)"),
    (STEPPERS["ConeComplementarity"](relaxed=False), "rtol = 1e-06, relaxed = False)"),
    (LOBATTO(2, rtol=1e-9), "rtol = 1e-09, stages = 2)"),
    (STEPPERS["NonsmoothGeneralizedAlphaGGL"](0.5, coupling="sequential"),
     "rho_inf = 0.5, rtol = 1e-06, coupling = 'sequential')"),
    (fem.DecoupledNSGA(step_control=fem.StepControl(tolerance=1e-6)), "rtol = 1e-06, step_control)"),
])  # fmt: skip
def test_the_report_reports_options_that_are_not_the_default_ones(method, told, tmp_path):
    """Reports of variants of one method could not be distinguished."""
    result = method.run(rod(), 2e-3, 1e-3, save=str(tmp_path / "rod.vtkhdf"))
    assert told in result.report() and told in fem.load(str(tmp_path / "rod.vtkhdf")).report()


@pytest.mark.parametrize("name", STEPPERS)
def test_no_option_of_a_method_made_without_options_is_called_chosen(name):
    assert STEPPERS[name]().chosen() == []


# --- forces ------------------------------------------------------------------


@every_method_with_contacts
def test_impacts_of_a_bouncing_ball_are_recovered(method):
    h, fall, e = 1e-3, 1.0, 0.6
    result = method.run(ball(fall, e), 1.5, h)
    recovered = fem.recover_forces(result, "floor", stiffness=1e8, model="flores")
    impacts = recovered.impacts
    assert len(impacts) == 3 and len(recovered.recovered) == 3
    # an impact is met in a step: speeds to what gravity gives in one, for each of the impacts up to there
    speeds = np.sqrt(2 * G * fall) * e ** np.arange(3)
    assert np.all(np.abs(impacts.speed - speeds) < G * h * np.arange(1.5, 4))
    # the law holds between the ends of the step; where a step is split, between the speeds at the touch
    split = getattr(method, "impacts", "plain") in ("auto", "split")
    assert np.all(np.abs(impacts.restitution - e) < (2 * G * h / speeds if split else 1e-9))
    # weight of the step comes on top of the momentum of the impact
    assert np.all(np.abs(impacts.impulse - MASS * (1 + e) * impacts.speed) < 1.001 * MASS * G * h)
    # closed form of Flores' factor and Hertz's law for this mass, by integration of the impact
    factor = float(fem.hysteresis_factor("flores", e))
    resolved = fem.resolved_impact(mass=MASS, speed=impacts.speed[0], stiffness=1e8, factor=factor)
    assert impacts.peak_force[0] == pytest.approx(resolved.force.max(), rel=0.02)
    assert recovered.checks().ok


@every_method_with_contacts
@pytest.mark.parametrize("friction", [0.0, 0.3])
def test_the_recovered_force_of_a_body_at_rest_is_its_weight(method, friction):
    result = method.run(ball(friction=friction), 0.1, 1e-3)
    recovered = fem.recover_forces(result, "floor", stiffness=1e8)
    assert len(recovered.impacts) == 0
    assert np.abs(recovered.continuous[1:] - MASS * G).max() < 1e-6
    assert np.abs(result["floor"].force_vector[1:] - [0, 0, MASS * G]).max() < 1e-6
    assert recovered.indentation[-1] == pytest.approx((MASS * G / 1e8) ** (2 / 3), rel=1e-6)


@pytest.mark.filterwarnings("ignore:recover_forces")
@every_method_with_contacts
def test_what_slides_steadily_has_no_impacts_and_the_accelerations_of_its_velocities(method):
    """Gradients turn from step to step, and bodies begin them with a small approach: that is no impact."""
    h = 1e-3
    result = method.run(pair(), 1.0, h)
    slides = np.flatnonzero(result.t > 0.8)
    for name in ("end a", "end b"):
        contact = result[name]
        closed = slides[(contact.impulse[slides, 0] > 0) & (contact.impulse[slides - 1, 0] > 0)]
        assert len(closed) > 0.9 * len(slides)  # θ = 1 without projection may lift a body a little
        assert set(contact.status[closed]) == {2} and not contact.impact[closed].any()
        recovered = fem.recover_forces(result, name, stiffness=1e8, restitution=0.3)
        assert not np.isin(closed, recovered.impacts.state).any()
    quiet = slides[~(result["end a"].impact[slides] | result["end b"].impact[slides]).astype(bool)]
    change = np.diff(result["a"].velocity, axis=0)[quiet - 1] / h
    tolerance = 0.05 if not drifts(method) else 1.5  # m/s²; of gravity what the turning normals give and take
    assert np.abs(np.median(change - result["a"].acceleration[quiet], axis=0)).max() < tolerance


def reaction(angle):
    """Force (k, 3) of the hinge on the rod [N] at its angles below the horizontal, from energy and Newton's law."""
    arm, inertia = 0.25, (0.5**2 + 0.1**2) / 12 + 0.25**2
    turning, squared = arm * G * np.cos(angle) / inertia, 2 * arm * G * np.sin(angle) / inertia
    along = np.stack([np.cos(angle), 0 * angle, -np.sin(angle)], axis=1)
    across = np.stack([-np.sin(angle), 0 * angle, -np.cos(angle)], axis=1)
    return arm * (turning[:, None] * across - squared[:, None] * along) + [0, 0, G]


@every_method
def test_reactions_of_a_hinge_are_those_of_the_formula_with_the_order_of_the_method(method):
    """At the end of the step; Moreau-Jean and the cone scheme know impulses, their forces are means over the step."""
    means = isinstance(method, (CONE, MOREAU))
    errors = []
    for h in (1e-2, 5e-3):
        result = method.run(rod(), 0.5, h)
        place = result["rod"].position
        exact = reaction(np.arctan2(-place[:, 2], place[:, 0]))
        at = 0.5 * (exact[2:] + exact[1:-1]) if means else exact[2:]
        errors.append(np.abs(result["hinge"].force[2:] - at).max())
    first = isinstance(method, CONE) or (isinstance(method, MOREAU) and method.theta == 1.0)
    expected = 1 if first else 4 if label(method) == "LobattoIIIAB" else 2
    assert np.log2(errors[0] / errors[1]) == pytest.approx(expected, abs=0.25), errors
    assert errors[1] < (1.5 if first else 0.02)  # N of 27 N


# --- histories ---------------------------------------------------------------


@every_method_with_contacts
def test_impulses_of_contacts_are_the_momentum_handed_over_in_the_step(method):
    h = 1e-3
    result = method.run(pair(), 1.0, h)
    gained = np.diff(result["a"].velocity + 2.0 * result["b"].velocity, axis=0)
    handed = (given(result, "end a") + given(result, "end b"))[1:] - 3.0 * G * h * np.array([0, 0, 1])
    # joint forces cancel; iterations stop at 1e-6 of the forces, contact problems at 1e-6 of impulses
    # persistent contacts integrate friction, to second order where it jumps or turns (theory of the scheme, (32))
    integrated = label(method) in ("DecoupledNSGA", "DecoupledNSGA impacts=split")
    assert np.abs(gained - handed).max() < (5e-3 if integrated else 1e-4) * 3.0 * G * h
    assert not given(result, "end a")[0].any()  # the initial state is no step


@every_method_with_contacts
def test_moments_of_contacts_are_the_angular_momentum_handed_over(method):
    arms = {"rolling_resistance": 1e-3, "spinning_resistance": 1e-3}
    model = ball(0.02, 0.5, velocity=[1, 0, 0], spin=[0, -3, 4], friction=0.2, **arms)
    result = method.run(model, 0.5, 1e-3)
    body, contact = result["ball"], result["floor"]
    spin = 0.4 * MASS * RADIUS**2 * np.einsum("kij,kj->ki", body.rotation, body.angular_velocity)
    axes = np.concatenate([contact.tangents.reshape(-1, 2, 3), contact.normal[:, None]], axis=1)
    handed = np.cross([0, 0, -RADIUS], given(result, "floor"))
    handed += np.einsum("kt,ktj->kj", contact.moment_impulse, axes)
    left = spin - spin[0] - np.cumsum(handed, axis=0)
    if arms:
        assert contact.moment_impulse[1:, 2].min() < -1e-6  # it resists the spin
    # schemes look at the contact somewhere within the step: arms are longer or shorter by what it travels
    travel = 1e-3 * np.abs(body.velocity[:, 2]).max()
    assert np.abs(left).max() < travel * np.abs(contact.impulse[:, 1:]).sum() + 1e-6


@every_method
def test_iterations_are_reported_in_the_columns_that_the_page_of_solvers_says(method):
    smooth, position, velocity = method.run(double_pendulum.build(), 0.2, 5e-3).iterations.mean
    name = type(method).__name__
    if name == "DecoupledNSGA":
        assert min(smooth, position, velocity) > 0
    elif isinstance(method, MOREAU):
        assert smooth == 0 and velocity > 0 and (position > 0) == method.projection
    elif isinstance(method, CONE):
        assert smooth == position == 0 and velocity > 0
    elif isinstance(method, LOBATTO):
        assert smooth == 0 and min(position, velocity) > 0
    elif label(method).endswith("index 3"):
        assert smooth > 0 and position == velocity == 0
    else:
        assert smooth == position == velocity > 0  # one coupled problem


@pytest.mark.parametrize("name", WITH_SOLVER)
def test_problems_given_to_the_contact_problem_solver_are_counted(name):
    result = STEPPERS[name](contact_solver="problem").run(ball(0.01, friction=0.2), 0.2, 1e-3)
    first = np.flatnonzero(result["floor"].impulse[:, 0] > 0)[
        0
    ]  # later ones may hold with the impulses of the last step
    assert result.contact_problems[first] > 0 and not result.contact_problems[:first].any()
    assert result.statistics["contact_problems"] == result.contact_problems.sum()


# --- observers, step control, files ------------------------------------------


@every_method_with_contacts
def test_an_observer_sees_every_step_and_finds_what_the_recovery_finds(method):
    options = {"speed_tolerance": 2e-2, "stiffness": 1e8}
    watch = fem.ForceObserver("floor", **options)
    few = method.run(ball(1.0), 1.5, 1e-3, observers=[watch], save_every=100)
    every = method.run(ball(1.0), 1.5, 1e-3)
    found = fem.recover_forces(every, "floor", **options)
    assert len(few.t) == 16 and len(watch.impacts) == len(found.impacts) == 3
    assert np.array_equal(watch.impacts.peak_force, found.impacts.peak_force)
    assert np.array_equal(watch.impulse, found.impulse)
    kept = np.arange(0, 1501, 100)
    saved, whole = few.rows(np.arange(16)), every.rows(np.arange(1501))
    after = [0, *(kept[:-1] + 1)]  # first steps behind the state that was saved before
    sums = {name: np.add.reduceat(whole[name], after) for name in SUMS}
    sums["impact"] = np.logical_or.reduceat(whole["impact"], after)
    for name, total in sums.items():
        np.testing.assert_allclose(saved[name], total, rtol=1e-12, atol=1e-15, err_msg=name)
    assert np.array_equal(few["floor"].force, every["floor"].force[kept])
    stored = {"contact_force", "contact_moment"}  # only where impulses are such sums
    for name in set(saved) - set(sums) - stored:
        assert np.array_equal(saved[name], whole[name][kept]), name


@pytest.mark.parametrize("method", WITH_CONTROL, ids=label)
def test_step_control_keeps_its_tolerance(method):
    errors, steps = [], []
    for tolerance in (1e-5, 1e-7):
        options = {name: getattr(method, name) for name in inspect.signature(type(method)).parameters}
        options |= {"step_control": fem.StepControl(tolerance=tolerance, h_max=0.05)}
        result = type(method)(**options).run(double_pendulum.build(), 1.0, 1e-2)
        ends = [result[f"body {i}"].position[-1] - double_pendulum.REFERENCE[f"centre {i}"] for i in (1, 2)]
        errors.append(np.abs(ends).max())
        steps.append(len(result.t) - 1)
        assert np.ptp(result.h[1:]) > 0 and result.h[1:].sum() == pytest.approx(1.0, abs=1e-12)
    assert steps[1] > 2 * steps[0]
    assert errors[0] < 100 * 1e-5 * 10 and errors[1] < errors[0] / 10  # local errors add up over the steps


@pytest.mark.parametrize("name", WITHOUT_CONTROL)
def test_step_control_is_rejected_by_methods_without_it(name):
    with pytest.raises(FemMbsError, match="step_control"):
        STEPPERS[name](step_control=fem.StepControl())


@pytest.mark.parametrize(
    "method",
    [pytest.param(one, marks=[] if label(one) in STEPPERS else [pytest.mark.slow]) for one in METHODS],
    ids=label,
)
def test_what_is_read_from_a_file_is_what_was_in_memory(method, tmp_path):
    model = rod if type(method).__name__ in SMOOTH else pair
    memory = method.run(model(), 0.4, 1e-3)
    method.run(model(), 0.4, 1e-3, save=tmp_path / "run.vtkhdf")
    read = fem.load(tmp_path / "run.vtkhdf")
    chosen = np.arange(401)
    assert all(memory[name].impulse.any() for name in memory.contacts)
    for name, values in read.rows(chosen).items():
        assert np.array_equal(values, memory.rows(chosen)[name]), name
    assert read.parameters == memory.parameters and read.contacts == memory.contacts
    different = {"wall_time", "memory"}
    assert {k: v for k, v in read.statistics.items() if k not in different} == {
        k: v for k, v in memory.statistics.items() if k not in different
    }


# --- restarts ----------------------------------------------------------------

ONE_STEP = (MOREAU, CONE, LOBATTO)  # all that they know of the past is the state


def gone_on(method, build, name, middle, end, h):
    """Largest difference [m] between a run and one that begins in its middle, and the travel after it."""
    whole = method.run(build(), end, h)
    system = build().compile()
    system.initial = whole.state(whole.at(middle))
    second = method.run(system, end, h)
    rest = whole[name].position[whole.at(middle) :]
    assert second.t == pytest.approx(whole.t[whole.at(middle) :], abs=1e-12)
    return np.abs(second[name].position - rest).max(), np.abs(rest - rest[0]).max()


@every_method
def test_a_run_continues_from_its_middle(method):
    """One-step methods to what the iterations leave, generalized-α to second order: its accelerations are not saved."""
    coarse, travel = gone_on(method, double_pendulum.build, "body 2", 0.5, 1.0, 1e-2)
    if isinstance(method, ONE_STEP):
        assert coarse < 1e-8 * travel
        return
    fine, _ = gone_on(method, double_pendulum.build, "body 2", 0.5, 1.0, 5e-3)
    assert np.log2(coarse / fine) == pytest.approx(2, abs=0.1) and coarse < 2e-4 * travel


@every_method_with_contacts
@pytest.mark.parametrize("middle", [0.2, 0.7], ids=["in flight", "in contact"])
def test_a_run_with_impacts_continues_from_its_middle(method, middle):
    h = 1e-3
    apart, travel = gone_on(method, pair, "a", middle, middle + 0.2, h)
    assert apart < (1e-8 if isinstance(method, ONE_STEP) else 1e-5) * travel


@pytest.mark.parametrize("name", ["MoreauJean", "ConeComplementarity"])
def test_methods_that_hold_joints_say_why_they_reject_a_state_of_one_whose_joints_drift(name):
    first = STEPPERS[name]().run(double_pendulum.build(), 0.5, 1e-2)
    system = double_pendulum.build().compile()
    system.initial = first.state(-1)
    with pytest.raises(ModelError, match="joints drift"):
        fem.DecoupledNSGA().run(system, 1.0, 1e-2)
    system.initial.x[1] += 0.1  # a state changed by hand: the method raises the error
    with pytest.raises(ModelError, match=r"not assembled.*Correct"):
        STEPPERS[name]().run(system, 1.0, 1e-2)


def test_a_state_that_penetrates_is_rejected_in_the_words_of_its_run():
    """It is no error of the model, whose bodies cannot be moved apart."""
    system = ball(0.01, 0.0).compile()
    system.initial = fem.MoreauJean().run(ball(0.01, 0.0), 0.08, 8e-3).state(-1)
    with pytest.raises(ModelError, match=r"gap = .*contacts penetrate"):
        fem.DecoupledNSGA().run(system, 0.2, 8e-3)
