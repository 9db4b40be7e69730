"""Subdivided steps, divided because they fail or split at an impact: what is saved of them is that of all parts."""

import re

import numpy as np
import pytest
from energy_models import ball_on_a_race

import fem_mbs as fem
from fem_mbs.solvers.stepping.kernels import run
from fem_mbs.solvers.stepping.kernels.codes import NOT_CONVERGED, TOUCHED
from fem_mbs.solvers.stepping.march.march import March

H = 2e-3


@pytest.fixture
def halved(monkeypatch):
    """Let whole steps h fail from a time on: their halves succeed."""

    def fail(h, begin=0.0, end=np.inf):
        real = run.run_steps

        def run_steps(data, record, count, start, times, signals):
            if record[0]["h"] < 0.6 * h or count == 0:
                return real(data, record, count, start, times, signals)
            fails = (times[start : start + count] > begin) & (times[start : start + count] < end)
            before = int(np.argmax(fails)) if fails.any() else count
            done, code = real(data, record, min(before + 1, count), start, times, signals)
            return (before, NOT_CONVERGED) if done > before else (done, code)

        monkeypatch.setattr(run, "run_steps", run_steps)

    return fail


def rod_that_strikes(gap=0.1, contact=True):
    """A rod of 1 kg in a hinge, without gravity, whose end hits a rough floor with 4 m/s."""
    model = fem.Model("rod")
    motion = {"velocity": [0, 0, -2.0], "angular_velocity": [0, 4.0, 0]}
    rod = model.add(fem.RigidBody(1.0, [0.1, 0.1, 0.1], position=[0.5, 0, 0], name="rod", **motion))
    model.add(fem.Revolute.at(model.ground, rod, [0, 0, 0], axis=[0, 1, 0], name="hinge"))
    if contact:
        law = {"restitution": 0.6, "friction": 0.1, "name": "stop"}
        model.add(fem.SphereOnPlane(rod.frame([0.5, 0, 0]), model.ground.frame([0, 0, -gap - 0.1]), radius=0.1, **law))
    return model


def left_open(result):
    """Change of the momentum [N s] of each step that joint and contact do not explain, vertical."""
    force, given = result["hinge"].force[1:, 2], result["stop"].impulse[1:, 0]
    return np.diff(result["rod"].velocity[:, 2]) - result.h[1:] * force - given


METHODS = {
    "divided": (fem.DecoupledNSGA, {"impacts": "plain"}),
    "split": (fem.DecoupledNSGA, {"impacts": "split"}),
    "persistent": (fem.DecoupledNSGA, {"persistent_contacts": True, "impacts": "plain"}),
    "persistent, split": (fem.DecoupledNSGA, {"persistent_contacts": True, "impacts": "split"}),
    "ggl": (fem.NonsmoothGeneralizedAlphaGGL, {}),
    "friction": (fem.NonsmoothGeneralizedAlphaFriction, {}),
    "lobatto": (fem.LobattoIIIAB, {"stages": 3}),
}
in_parts = pytest.mark.parametrize("kind", METHODS)


def struck_in_parts(kind, halved, gap=0.1, **options):
    """Run of the rod whose steps are subdivided, with its impact in none but the last substep."""
    method, own = METHODS[kind]
    if own.get("impacts") != "split":
        halved(H)
    result = method(**own).run(rod_that_strikes(gap), 0.04, H, **options)
    split, divided = result.statistics.get("split_impacts", 0), result.statistics["divided_steps"]
    assert result["stop"].impact.sum() <= 1 and (split == 1 if own.get("impacts") == "split" else divided == 20)
    return result


@in_parts
@pytest.mark.parametrize("gap", [0.0995, 0.1015, 0.1035, 0.1055])
def test_forces_of_a_step_in_substeps_have_the_impulses_of_all_of_them(kind, gap, halved):
    """The impact is in the first part of its step for two gaps, in the second for others."""
    result = struck_in_parts(kind, halved, gap)
    at = int(np.argmax(result["stop"].impact))
    assert result.h[at] * result["hinge"].force[at, 2] > 0.3  # 0.007 of the last part alone
    # the smooth reaction is that of the end of the step, 8 N along the rod, of which 1 N at most is vertical
    assert np.abs(left_open(result)).max() < H * 1.0
    if kind != "friction":  # its force is that at the end of the step, the impulse has all
        assert result["stop"].force[at, 0] * H == pytest.approx(result["stop"].impulse[at, 0], rel=1e-12)
    np.testing.assert_allclose(result["hinge"].force, result.multiplier[:, :3], rtol=0, atol=1e-12)


@in_parts
def test_smooth_reactions_of_a_step_in_substeps_are_those_of_its_end(kind, halved):
    result = struck_in_parts(kind, halved)
    before = int(np.argmax(result["stop"].impact))
    force = result["hinge"].force[1:before]
    assert before > 10
    # the mean of a step is h/2 16/s² 2 m/s = 0.03 N off
    np.testing.assert_allclose(force, -16.0 * result["rod"].position[1:before], rtol=0, atol=3e-3)


def test_joints_of_smooth_steps_in_substeps_have_the_reactions_of_whole_ones(halved):
    whole = fem.GeneralizedAlpha().run(rod_that_strikes(contact=False), 0.04, H)
    halved(H)
    parts = fem.GeneralizedAlpha().run(rod_that_strikes(contact=False), 0.04, H)
    assert parts.statistics["divided_steps"] == 20
    np.testing.assert_allclose(parts["hinge"].force[1:], whole["hinge"].force[1:], rtol=0, atol=1e-3 * 8.0)


@in_parts
def test_a_last_step_in_substeps_that_is_saved_out_of_turn_reports_the_same(kind, halved):
    every = struck_in_parts(kind, halved)
    at = int(np.argmax(every["stop"].impact))
    method, own = METHODS[kind]
    last = method(**own).run(rod_that_strikes(), at * H, H, save_every=1000)
    assert last.step.tolist() == [0, at]
    expected, found = every.rows([at]), last.rows([1])
    counts = {"problems", "repeats", "contact_problems"}  # of all steps since the state that was saved before
    for name in sorted(counts & set(expected)):
        assert found[name] == every.rows(range(1, at + 1))[name].sum(), name
    stored = {"contact_force", "contact_moment"}  # apart from impulses only where these are sums of several steps
    for name in sorted(set(expected) - {"iterations"} - counts - stored):
        np.testing.assert_allclose(found[name], expected[name], rtol=1e-9, atol=1e-12, err_msg=name)
    np.testing.assert_allclose(last["stop"].force[1], every["stop"].force[at], rtol=1e-9, atol=1e-12)
    np.testing.assert_array_equal(found["iterations"], expected["iterations"])
    for name in ("force", "moment"):
        np.testing.assert_allclose(getattr(last["hinge"], name)[1], getattr(every["hinge"], name)[at], atol=1e-9)


# --- the energy watch -------------------------------------------------------------------------------------------------


def test_a_step_in_substeps_does_not_make_small_rises_of_many_steps_before_it_a_large_one(halved):
    """A slide on a convex race gains 0.03 % of K in a step; 350 steps lie before the part that is looked at."""
    halved(1e-3, 0.3495, 0.3505)
    result = ball_on_a_race(0.0, run={"save_every": 400}, persistent_contacts=False)
    assert result.statistics["divided_steps"] == 1
    assert any(re.search("1 step .*subdivided.* t = ", w) for w in result.warnings)
    assert result.statistics["energy_rises"] == 0


def test_rises_between_states_that_only_observers_see_are_those_of_many_steps():
    class Watch:
        def start(self, system): ...

        def observe(self, block): ...

        def finish(self): ...

    result = ball_on_a_race(0.0, run={"save_every": 250, "observers": [Watch()]}, persistent_contacts=False)
    assert np.diff(result.energy.total).max() > 0.05 * result.energy.kinetic.max()  # more than one step may bring
    assert result.statistics["energy_rises"] == 0


# --- what a subdivided step counts ------------------------------------------------------------------------------------


def test_repeats_and_problems_handed_over_are_those_of_all_parts(halved, monkeypatch):
    """Each half of a step is made to say that it was repeated three times, and that it handed over two problems."""
    halved(H)
    take = March.trial

    def told(self, t, *cut):
        code, failure = take(self, t, *cut)
        self.control.part["repeats"][0], self.control.part["contact_problems"][0] = 3, 2
        return code, failure

    monkeypatch.setattr(March, "trial", told)
    result = fem.DecoupledNSGA(impacts="plain").run(rod_that_strikes(), 0.04, H)
    assert result.statistics["divided_steps"] == 20
    np.testing.assert_array_equal(result.repeats[1:], 6)
    np.testing.assert_array_equal(result.contact_problems[1:], 4)


def test_moment_impulses_of_a_step_in_substeps_are_those_of_all_of_them(halved):
    """Rolling resistance of a wheel: the moment is the resistance times the weight in both halves of a step."""
    halved(H)
    model = fem.Model("wheel", gravity=[0, 0, -9.81])
    motion = {"velocity": [1.0, 0, 0], "angular_velocity": [0, 10.0, 0]}
    ball = model.add(fem.RigidBody.sphere(1.0, 0.1, position=[0, 0, 0.1], name="ball", **motion))
    law = {"friction": 0.5, "rolling_resistance": 1e-3, "name": "floor"}
    model.add(fem.SphereOnPlane(ball, model.ground, radius=0.1, **law))
    result = fem.DecoupledNSGA(impacts="plain").run(model, 0.04, H)
    assert result.statistics["divided_steps"] == 20
    moment = np.linalg.norm(result["floor"].moment_impulse[1:, :2], axis=1)
    np.testing.assert_allclose(moment, 1e-3 * 9.81 * H, rtol=1e-6)


# --- what stops at a touch is restored --------------------------------------------------------------------------------


def test_states_of_elements_are_those_of_the_start_again_where_a_step_stopped():
    """The mixed iteration changes the strains that beams keep, in the smooth motion of a step that is then cut."""
    model = fem.Model("whip", gravity=[0, 0, -9.81])
    section = fem.Section.rectangle(0.02, 0.02, E=2e8, nu=0.3, density=1000.0)
    line = model.add(fem.beam_line(fem.Node6(fixed=True), [1.0, 0, 0], 3, section, orientation=[0, 1, 0], name="rod"))
    floor = model.ground.frame([0, 0, -0.3])
    model.add(fem.SphereOnPlane(line.nodes[-1], floor, radius=0.1, restitution=0.5, name="floor"))
    engine = fem.DecoupledNSGA(impacts="split", mixed=True).prepare(model.compile(), 2e-3)
    records = engine.make_records(1000)  # held here: compiled code writes to it
    engine.run_data.record_into(records)
    for k in range(1, 1000):
        before = [group.state.copy() for group in engine.system.groups]
        code = engine.run_steps(engine.data, engine.run, 1, 0, np.array([2e-3 * k]), np.zeros((1, 1, 1, 3)))[1]
        if code != 0:
            break
    assert code == TOUCHED
    states = [group.state for group in engine.system.groups]
    assert any((state != old).any() for state, old in zip(states, before, strict=True))
    engine.run_data.restore(engine.run_data.start_of_step())
    for state, old in zip(states, before, strict=True):
        np.testing.assert_array_equal(state, old)
