"""Impacts with friction on linkages: who multiplies energy, who does not, what a report shows."""

import pytest
from energy_models import CASE, double_pendulum_that_strikes

import fem_mbs as fem
from fem_mbs.errors import SolverError
from fem_mbs.solvers.stepping.run_warnings import warnings_of

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
    _, text = dropped(impacts="plain")
    assert "split" not in text and "taken again" not in text
