"""Random models of every element type with every option: nothing is silently wrong, and hardly any raises an error.

`random_cases` says what is made, `random_judge` how it is judged. `python tests/helpers/random_models.py 0 300` prints
the same statistics with everything that was not fine. The 2,000 models of the slow test are others than those on which
bounds of the solver were chosen (seeds below 2,000, and a generator that has changed since).
"""

import functools
import time

import numpy as np
import pytest
import random_cases
import random_families
import random_judge
import random_models

import fem_mbs as fem
from fem_mbs.rotations import frame_with_axis
from fem_mbs.solvers import STEPPERS

LARGEST_SHARE = 0.01  # of sensible models that may raise an error
FAST, ALL = 60, range(10_000, 12_000)
# Other methods get larger steps than some of them are made for: they may raise more errors, but these must stay an
# exception. Nothing may be wrong.
OTHERS = [name for name in STEPPERS if name != "DecoupledNSGA"]
LARGEST_SHARE_OF_OTHERS, MODELS_OF_OTHERS = 0.05, range(20_000, 20_300)
MISS_IT = {
    "LobattoIIIAB": "4.9 % here, 6.4 % of the models 40000 … 40249: joints whose clearance a step crosses (most run "
    "with h/4), and mechanisms with much friction. Other prox parameters and 300 iterations do not help."
}


def faults(outcomes):
    """Outcomes that no model may have, as texts that name the seed."""
    return [str(o) for o in outcomes if o.kind in ("gain", "wrong") or "after 0 iterations" in o.message]


@pytest.mark.parametrize("seed", range(FAST))
def test_a_random_model_runs_without_gain_of_energy_or_says_why_not(seed):
    outcome = random_models.run(seed)
    assert not faults([outcome]), str(outcome)


def test_a_step_of_beams_that_kept_factors_cannot_solve_is_repeated_with_own_ones():
    assert random_models.run(91069, "DecoupledNSGA").kind in ("fine", "warned")  # rejected without the repetition


def test_redundant_closed_contacts_without_a_shift_are_solved_when_the_step_is_repeated():
    """A pendulum whose end sticks, with epsilon = 0: increments of round-off, and multipliers of their size."""
    assert random_models.run(200737).kind in ("fine", "warned")


@pytest.mark.parametrize(
    "name, at, value, kind",
    [
        ("energy", (-1, 1), 1e6, "gain"),
        ("energy", (-1, 1), float("nan"), "wrong"),
        ("gap", (-1, 0), -1e-6, "wrong"),
        ("gap", (-1, 0), 0.0, "fine"),
    ],
)
def test_the_judge_sees_energy_from_nowhere_depth_and_what_is_not_finite(name, at, value, kind):
    case = next(c for c in map(random_cases.build, range(100)) if c.family == "throw")
    result = fem.DecoupledNSGA().run(case.model, 5 * case.h, case.h)
    result._store.arrays[name][at] = value
    assert case.passive and random_judge.judge(case, result).kind == kind


built = functools.cache(random_cases.build)


@pytest.mark.parametrize("method", OTHERS)
def test_the_model_of_a_seed_is_the_same_for_every_method_and_options_are_those_that_it_supports(method):
    chosen = set()
    for seed in range(40):
        case, own = built(seed), random_cases.build(seed, method)
        assert (own.family, own.h, own.steps, own.masses) == (case.family, case.h, case.steps, case.masses)
        assert type(own.stepper()).__name__ == method
        chosen |= {(name, value) for name, value in own.options.items() if name not in case.options}
    assert chosen == {(name, v) for name, vs in random_cases.OWN_OPTIONS.get(method, {}).items() for v in vs}


@pytest.mark.parametrize("method", ["MoreauJean", "ConeComplementarity"])
def test_methods_that_drift_may_be_as_deep_as_a_step_travels_and_not_as_deep_as_one_falls_in_five(method):
    model = fem.Model("ball", gravity=[0, 0, -9.81])
    ball = fem.RigidBody.sphere(1.0, 0.1, position=[0, 0, 0.15], velocity=[0, 0, -2.0], name="ball")
    model.add(ball)
    model.add(fem.SphereOnPlane(ball, model.ground, radius=0.1, name="table"))
    case = random_cases.Case(0, "ball", model, {}, 1e-2, 10, [1.0], 0.0, 0.0, True, method)
    result = case.stepper().run(model, 0.1, case.h)
    assert random_judge.judge(case, result).kind == "fine"
    gap, state = result._store.arrays["gap"], result._store.arrays
    gap[:, 0] = 0.05 - 0.02 * np.arange(len(gap))  # it falls on with 2 m/s
    state["velocity"][:, 0], state["energy"][:] = [0, 0, -2.0], state["energy"][0]
    assert random_judge.judge(case, result).kind == "wrong"
    gap[4:, 0] = gap[3, 0]  # stopped after the step in which it closes
    assert random_judge.judge(case, result).kind == "fine"


def test_a_method_that_drifts_may_be_as_deep_as_a_step_travels_where_all_is_at_rest_at_first():
    """A spring draws the ball into the table without weight: half a step of 2 mm, and no speed to know it by."""
    model = fem.Model("ball on a spring")
    ball = model.add(fem.RigidBody.sphere(1.0, 0.1, position=[0, 0, 0.2], name="ball"))
    model.add(fem.Spring(model.ground.frame([0, 0, -0.5]), ball, 50.0, 0.0, 0.1, name="spring"))
    model.add(fem.SphereOnPlane(ball, model.ground, radius=0.1, name="table"))
    case = random_cases.Case(0, "ball", model, {}, 2e-3, 120, [1.0], 0.0, 0.0, True, "MoreauJean")
    result = case.stepper().run(model, 0.24, case.h)
    assert result["table"].gap.min() < -1e-5 and random_judge.judge(case, result).kind == "fine"
    result._store.arrays["gap"][-1, 0] = -0.01
    assert random_judge.judge(case, result).kind == "wrong"


@pytest.mark.parametrize("share, kind", [(1e-10, "fine"), (1e-6, "gain"), (-1e-6, "fine")])
def test_energy_of_what_is_at_rest_is_judged_by_the_energies_that_positions_have(share, kind):
    """A ball that lies on a table, 5 J above the origin of its weight, which rises by a share of that."""
    model = fem.Model("lying ball", gravity=[0, 0, -9.81])
    ball = model.add(fem.RigidBody.sphere(1.0, 0.1, position=[0, 0, 0.5], name="ball"))
    model.add(fem.SphereOnPlane(ball, model.ground.frame([0, 0, 0.4]), radius=0.1, name="table"))
    case = random_cases.Case(0, "ball", model, {}, 1e-3, 20, [1.0], 0.0, 0.0, True)
    result = case.stepper().run(model, 0.02, case.h)
    result._store.arrays["energy"][10:, 1] += share * 9.81 * 0.5
    assert random_judge.judge(case, result).kind == kind


@pytest.mark.parametrize("warning, kind", [("energy increased once", "warned"), ("1 step was subdivided", "gain")])
def test_only_a_word_about_the_energy_makes_a_gain_one_that_was_reported(warning, kind, monkeypatch):
    case = next(c for c in map(random_cases.build, range(100)) if c.family == "throw")
    result = fem.DecoupledNSGA().run(case.model, 5 * case.h, case.h)
    result._store.arrays["energy"][-1, 1] = 1e6
    monkeypatch.setattr(type(result), "warnings", [warning])
    assert random_judge.judge(case, result).kind == kind


def test_a_body_that_pivots_may_drift_by_what_its_arm_turns_and_no_more():
    """Its contact point stands still, and the normal too: what drifts is first order in h, no round-off."""
    case = random_models.build(61519, "MoreauJean")
    depths = []
    for part in (1.0, 0.5):
        model = random_models.build(61519, "MoreauJean").model
        result = case.stepper().run(model, case.steps * case.h, part * case.h)
        depths.append(-result["contact 14"].gap.min())
        if part == 1.0:
            assert random_models.judge(case, result).kind == "fine"
            assert random_judge.allowed_depth(case, result, "contact 14") < 1e-6
    assert depths[0] > 5e-9 and depths[0] / depths[1] == pytest.approx(2.0, rel=1e-2)


def test_every_family_and_most_options_are_among_the_first_models():
    cases = [random_cases.build(seed) for seed in range(200)]
    assert {case.family for case in cases} == {family.__name__ for family in random_families.FAMILIES}
    elements = [element for case in cases for element in case.model.elements]
    elements += [element.contact for element in elements if hasattr(element, "contact")]  # inside compliant ones
    types = {type(element).__name__ for element in elements}
    wanted = {
        "RigidBody", "PointMass", "Beam", "Revolute", "Spherical", "Universal", "Cylindrical", "Prismatic", "Fixed",
        "RevoluteDriver", "LinearDriver", "Spring", "TorsionSpring", "PointForce", "PointMoment", "UserForce",
        "SphereOnPlane", "SphereOnRectangle", "SphereOnBox", "SphereOnCylinder", "SphereInCylinder", "SphereInSphere",
        "SphereOnSphere", "PointOnSurface", "PointOnCurve", "SphereOnWire", "CapsuleOnCapsule", "SphereOnCapsule",
        "SphereInGroove", "CompliantContact", "QuasiStaticBearing",
    }  # fmt: skip
    assert not wanted - types
    options = {(name, str(value)) for case in cases for name, value in case.options.items()}
    for name, value in (("contact_solver", "problem"), ("persistent_contacts", "False"), ("approach", "slower")):
        assert (name, value) in options
    assert sum("step_control" in case.options for case in cases) > 20
    assert sum(case.sensible for case in cases) > 120


@pytest.mark.parametrize(
    "slope, friction, along, locked",
    [(20.0, 0.3, True, False), (20.0, 0.5, True, True), (20.0, 0.5, False, False), (0.0, 0.0, True, True)],
)
def test_a_driven_leg_that_friction_locks_is_not_sensible(slope, friction, along, locked):
    """A slide moves the hinge of a leg along it or across it, towards a wall ``slope`` [°] off it: tan 20° = 0.36."""
    model, angle = fem.Model("leg"), np.radians(slope)
    normal = np.array([-np.cos(angle), np.sin(angle), 0])
    centre, radius = np.array([0.4, 0, 0]), 0.01
    leg = model.add(fem.RigidBody(1.0, [0.01, 0.01, 0.01], position=0.5 * centre, name="leg"))
    slide = model.add(fem.RigidBody(1.0, [0.01, 0.01, 0.01], name="slide"))
    axis = (centre - radius * normal) / np.linalg.norm(centre - radius * normal)  # from the hinge to the contact point
    axis = axis if along else np.cross([0, 0, 1], axis)
    rail = model.add(fem.Prismatic.at(model.ground, slide, [0, 0, 0], axis=axis, name="rail"))
    model.add(fem.Revolute.at(slide, leg, [0, 0, 0], axis=[0, 0, 1], name="hinge"))
    model.add(fem.LinearDriver(rail.frame_P, rail.frame_Q, lambda t: t * t, name="driver"))
    wall = model.ground.frame_at(centre - 2 * radius * normal, frame_with_axis(normal))
    law = {"radius": radius, "friction": friction, "name": "wall"}
    model.add(fem.SphereOnPlane(leg.node.frame_at(centre), wall, **law))
    assert random_cases.locked_by_drivers(model) == locked


@pytest.mark.parametrize("held, share", [(True, 0.5), (False, 0.125)])
def test_the_stretch_of_a_turning_beam_is_that_of_its_largest_tension(held, share):
    """ρ A ω² l² times ½ at a hinge, ⅛ in the middle of a free one, without a mass at its end."""
    model, w = fem.Model("beam"), np.array([0, 0, 20.0])
    section = fem.Section.circle(0.005, E=1e6, nu=0.3, density=1000.0)
    beam = model.add(fem.beam_line([0, 0, 0], [0.8, 0, 0], 4, section, name="beam"))
    for node in beam.nodes:
        node.velocity[:], node.angular_velocity[:] = np.cross(w, node.position), w
    if held:
        model.add(fem.Revolute.at(model.ground, beam.nodes[0], [0, 0, 0], axis=[0, 0, 1], name="hinge"))
    softer = section.flexibility[1, 1] - section.flexibility[0, 0]
    assert random_cases.stretch(model) == pytest.approx(share * 1000.0 * section.area * 400.0 * 0.64 * softer, rel=1e-9)


@pytest.mark.parametrize("divide, clearance, sensible", [(False, 1e-5, False), (False, 1e-3, True), (True, 1e-5, True)])
def test_a_step_that_crosses_a_clearance_and_may_not_be_divided_is_not_sensible(divide, clearance, sensible):
    """It falls for 10 ms: 0.098 m/s, 0.098 mm in a step of 1 ms."""
    model = fem.Model("pin", gravity=[0, 0, -9.81])
    pin = model.add(fem.RigidBody.sphere(1.0, 0.01, name="pin"))
    model.add(fem.SphericalClearance(model.ground, pin, radius=0.015, clearance=clearance, name="socket"))
    case = random_cases.Case(0, "clearance", model, {"divide_failed_steps": divide}, 1e-3, 10, [1.0], 0.0, 0.0, True)
    assert case.sensible == sensible


def test_compliant_contacts_of_sensible_models_can_store_what_their_bodies_bring(monkeypatch):
    """Too deep contacts raise an error before the run."""
    case = next(c for c in map(random_cases.build, range(200)) if c.family == "compliant" and c.sensible)
    energy = random_cases.energy_at_hand(case.model, case.steps * case.h)
    assert energy > 0 and random_cases.compliant_contacts(case.model)
    monkeypatch.setattr(random_cases, "storable", lambda contact: 0.9 * energy)
    assert not case.sensible


def lazy(connection, method):
    """A worker that answers some seeds, not others, and leaves at one."""
    connection.send("ready")
    while (seed := connection.recv()) is not None:
        if seed == 1:
            time.sleep(60)
        if seed == 2:
            return
        connection.send(seed)


def test_models_that_do_not_end_and_processes_that_die_are_seen(monkeypatch):
    monkeypatch.setattr(random_models, "work", lazy)
    told = list(random_models.in_process([0, 1, 2, 3], limit=3.0))
    assert told[0] == 0 and told[3] == 3
    assert [o.kind for o in told[1:3]] == ["wrong", "wrong"]
    assert "takes longer than 3 s" in told[1].message and "ended its process" in told[2].message


@pytest.mark.slow
def test_of_two_thousand_random_models_none_is_wrong_and_less_than_one_percent_of_the_sensible_rejected():
    # one test: processes that share out the tests of this file would each run the models, for an hour
    outcomes = list(random_models.in_process(ALL))
    print("\n".join(random_models.statistics(outcomes)))
    wrong = faults(outcomes)
    assert not wrong, f"{len(wrong)} of {len(outcomes)}:\n" + "\n".join(text[:300] for text in wrong)
    sensible = [o for o in outcomes if o.sensible]
    refused = [o for o in sensible if o.kind in ("refused", "not taken")]
    folded = [o for o in refused if random_models.folds(o)]
    assert len(folded) < 0.05 * sum(o.family == "beams" for o in sensible)
    refused = [str(o)[:300] for o in refused if o not in folded]
    assert len(sensible) > 0.7 * len(outcomes)
    assert len(refused) < LARGEST_SHARE * len(sensible), "\n".join(refused)


@pytest.mark.slow
@pytest.mark.parametrize("method", OTHERS)
def test_of_three_hundred_random_models_no_method_makes_one_wrong_and_few_of_the_sensible_are_rejected(method):
    """Shares of refusals: MoreauJean 0.8 % of 1,685, ConeComplementarity 0.4 % of 1,627 (other seeds), LobattoIIIAB
    4.9 %, NonsmoothGeneralizedAlphaGGL 1.7 %, GeneralizedAlpha none; of 203, 241, 75 that they take."""
    outcomes = list(random_models.in_process(MODELS_OF_OTHERS, method=method))
    print("\n".join(random_models.statistics(outcomes)))
    wrong = faults(outcomes)
    assert not wrong, f"{len(wrong)} of {len(outcomes)}:\n" + "\n".join(text[:300] for text in wrong)
    taken = [o for o in outcomes if o.sensible and o.kind != "not taken"]
    refused = [str(o)[:300] for o in taken if o.kind == "refused"]
    assert len(taken) > 0.2 * len(outcomes)
    if method in MISS_IT and len(refused) > LARGEST_SHARE_OF_OTHERS * len(taken):
        pytest.xfail(f"{len(refused)} of {len(taken)}: {MISS_IT[method]}")
    assert len(refused) <= LARGEST_SHARE_OF_OTHERS * len(taken), "\n".join(refused)
