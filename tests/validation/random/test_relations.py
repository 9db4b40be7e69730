"""Relations between runs that hold for every model, method and option; invariants of single runs.

Rotation, translation and Galilean boost, order of elements and of frames, units, reversal of conservative motion,
halved steps, runs that are resumed or continued, observers, files: `relations` has them, `relation_models` the models.
Each seed is a model, a method and options. A case that fails: `relations.sizes(relations.draw(seed))`.
"""

import numpy as np
import pytest
import relations
from relation_models import MODELS, rotation
from relations import Case, draw, in_a_process, limit, simulate, sizes, violations

SAMPLE, ALL = range(24), range(1000, 3000)
LONG = (5, 10, 18)  # of the sample: 3, 11 and 19 s; billiard, particles and solid are in cases 16, 22 and 20 too
REFUSED = 0.01  # of the cases: steps that fail
# relations that are not unique, and what they differ by: corners of a box that touch in the same step share the load by
# round-off, with Coulomb's law in other directions. Measured 3.0e-4 in one step, 1.7e-5 after it
NOT_UNIQUE = {1028: ("shifted", 5e-4)}


@pytest.mark.parametrize("seed", [pytest.param(s, marks=pytest.mark.slow) if s in LONG else s for s in SAMPLE])
def test_relations_between_runs_hold(seed):
    case = draw(seed)
    found = violations(case, sizes(case))
    assert not found, f"{case}: {found}"


@pytest.mark.slow
def test_relations_between_runs_hold_in_two_thousand_cases():
    wrong, refused = [], []
    for seed in ALL:
        case, found = draw(seed), in_a_process(seed)
        if "refused" in found:
            refused.append(f"{case}: {found['refused']}")
        else:
            name, bound = NOT_UNIQUE.get(seed, ("", 0.0))
            if found.get(name, np.inf) <= bound:
                del found[name]
            wrong += [f"{case}: {text}" for text in violations(case, found)]
    print("\n".join(refused))
    assert not wrong, "\n".join(wrong)
    assert len(refused) <= REFUSED * len(ALL)


def base(model, **options):
    case = Case(0, model, "DecoupledNSGA", {"rtol": 1e-9, **options}, np.random.default_rng(0))
    return case, simulate(case)


@pytest.mark.parametrize("name, at", [("position", (slice(100, None), 1, 0)), ("velocity", (slice(100, 150), 1, 0))])
def test_a_body_that_moves_otherwise_than_its_rate_says_is_seen(name, at):
    case, run = base("ball_on_a_slope")
    assert relations.rates_integrated(case, run) < limit("rates_integrated", case)
    run.result._store.arrays[name][at] += 0.5  # far above what weight changes in three steps, 0.03 m/s
    assert relations.rates_integrated(case, run) > limit("rates_integrated", case)


@pytest.mark.parametrize("impacts", ["auto", "plain"])
def test_a_box_comes_to_rest_in_the_same_steps_far_from_the_origin(impacts):
    """An approach that is no impact is slow for the box, which turns, and not for its distance from the origin.

    With a bound that grew with the distance the box had closed contacts some steps earlier: 1.7e-5, plain 1.2e-3.
    """
    case, run = base("sliding_box", rho_inf=0.8, approach="start", impacts=impacts)
    far = simulate(case, relations.Setting(shift=[30.0, -20.0, 25.0]))
    assert relations.difference(relations.motion(run), relations.motion(far)) < 5e-6


@pytest.mark.parametrize("length", [1000.0, 1024.0])
def test_a_box_that_slides_and_turns_on_four_corners_is_braked_the_same_in_every_unit_of_length(length):
    """What each corner carries is not determined, and with Coulomb's law it brakes. Round-off chose it before: 5e-3."""
    case = Case(0, "sliding_box", "ConeComplementarity", {"relaxed": False, "rtol": 1e-9}, None)
    metres, other = simulate(case), simulate(case, relations.Setting(length=length))
    assert relations.difference(relations.motion(metres), relations.motion(other)) < 5e-6


@pytest.mark.parametrize("values", [{"shift": [1.0, 9.0, 7.0]}, {"time": 1e-3}, {"turn": rotation([1.0, -2.0, 0.5])}])
@pytest.mark.parametrize("rho_inf", [0.0, 0.9])
def test_round_off_does_not_choose_the_corners_that_carry_a_box_first(rho_inf, values):
    """Two corners rest as the others touch: the first guess of their impulses is 0 but for round-off.

    What four sliding corners carry is not unique, nor is the spin of the box. Left open where round-off was negative,
    the corners at rest carried other shares: 8e-6 to 1.6e-4.
    """
    case, run = base("sliding_box", rho_inf=rho_inf, impacts="split")
    other = simulate(case, relations.Setting(**{name: np.asarray(value) for name, value in values.items()}))
    assert relations.difference(relations.motion(run), relations.motion(other)) < 1e-6


@pytest.mark.parametrize("values", [{"shift": [-5.5, -27.3, -27.1]}, {"turn": rotation([1.0, -2.0, 0.5])}])
@pytest.mark.parametrize("stages", [2, 3])
def test_corners_of_a_box_begin_to_last_in_the_same_step_wherever_it_is(stages, values):
    """Their rebounds fall by 0.2 per step, through the bound below which closed contacts are taken to last.

    It grew with the distance from the origin, and that of impacts with the largest component of the velocity: 3e-4,
    and 7e-5 where the first was mended alone.
    """
    case = Case(0, "sliding_box", "LobattoIIIAB", {"stages": stages}, None)
    other = simulate(case, relations.Setting(**{name: np.asarray(value) for name, value in values.items()}))
    assert relations.difference(relations.motion(simulate(case)), relations.motion(other)) < 2e-6


@pytest.mark.parametrize("turn", [[1.0, -2.0, 0.5], [0.3, 0.2, -2.9], [0.0, 0.0, np.pi / 4]])
def test_the_slowest_approach_that_is_an_impact_does_not_depend_on_the_axes(turn):
    systems = []
    for setting in (relations.Setting(), relations.Setting(turn=rotation(turn))):
        MODELS["sliding_box"](setting)
        systems.append(setting.finish().compile())
    speeds = [system.slow_at(system.initial) for system in systems]
    assert speeds[0] == pytest.approx(speeds[1], rel=1e-12)


def test_iterations_in_vain_do_not_widen_the_tolerance_of_those_that_follow():
    """All nodes of a face hit at once; in the next step Newton's iteration diverges before other solvers continue.

    By the speeds of its iterates the first guess of these was small enough, in some units: 0.14 was the difference.
    """
    case = Case(0, "solid_on_a_floor", "NonsmoothGeneralizedAlphaFriction", {"rho_inf": 1.0, "rtol": 1e-9}, None)
    metres, other = (simulate(case, relations.Setting(length=length), share=0.58) for length in (1.0, 1000.0))
    assert relations.difference(relations.motion(metres), relations.motion(other)) < 1e-8


def test_a_creeping_joint_at_rest_is_seen():
    case, run = base("lever_with_friction")
    assert relations.rates_integrated(case, run) < limit("rates_integrated", case)
    position = run.result._store.arrays["position"]
    position[:, 1, 0] += 5e-3 * np.asarray(run.result.t)
    assert relations.rates_integrated(case, run) > limit("rates_integrated", case)


def test_split_impacts_keep_the_angular_momentum_of_rough_spheres():
    changes = {}
    for impacts in ("plain", "auto"):
        case, run = base("billiard", impacts=impacts)
        changes[impacts] = relations.angular_momentum_kept(case, run)
    # measured: 1e-4 and 1e-14
    assert changes["auto"] < 1e-10 < 1e-5 < changes["plain"]


def test_every_family_is_among_the_cases_and_most_with_the_default_method():
    cases = [draw(seed) for seed in range(400)]
    assert {case.model for case in cases} == set(MODELS)
    assert 0.4 < np.mean([case.method == "DecoupledNSGA" for case in cases]) < 0.7
