"""Impacts by the laws of Stronge and Poisson in models: rods and linkages on rough floors, share of Newton's law."""

import re

import numpy as np
import pytest
from energy_models import CASE, double_pendulum_that_strikes
from impact_forms import REVERSES, STICKS, planar

import fem_mbs as fem
from fem_mbs.solvers.contact.law import SLIP

H = 1e-3  # s


def tumbling_rod(angle, along, restitution, friction, down=1.0, **law):
    """Rod of 1 kg and 2 m at an angle [rad] to a floor, which its lower end reaches after half a step; no gravity."""
    model = fem.Model("rod")
    c, s = np.cos(angle), np.sin(angle)
    axes = np.column_stack([[c, 0, s], [0, 1, 0], [-s, 0, c]])
    place = [c, 0, s + 0.5 * H * down]
    rod = fem.RigidBody(
        1.0, [1e-4, 1 / 3, 1 / 3], position=place, rotation=axes, velocity=[along, 0, -down], name="rod"
    )
    model.add(rod)
    end = rod.frame([-1.0, 0, 0])
    law = {"restitution": restitution, "friction": friction, "name": "end", **law}
    model.add(fem.SphereOnPlane(end, model.ground, radius=0.0, **law))
    return model


def struck(model, impact_law="stronge", t_end=3 * H, **options):
    return fem.DecoupledNSGA(impact_law=impact_law, **options).run(model, t_end, H)


either_law = pytest.mark.parametrize("law", ["stronge", "poisson"])


@either_law
def test_slip_of_a_rod_that_reverses_in_the_impact_has_the_impulses_of_rouths_line(law):
    """Slip ends in compression and starts again the other way, with the opposite friction."""
    angle, along, e, mu = 0.9, 0.3, 0.8, 0.2
    result = struck(tumbling_rod(angle, along, e, mu), law)
    x, y = np.cos(angle), np.sin(angle)
    W = np.array([[1 + 3 * x * x, -3 * x * y], [-3 * x * y, 1 + 3 * y * y]])
    (p, friction), *kind = planar(W, [-1.0, along], mu, e, law)
    assert kind == [REVERSES, "compression"]
    assert result["end"].impulse.sum(0) == pytest.approx([p, friction, 0], abs=1e-9)
    assert result["rod"].velocity[-1] == pytest.approx([along + friction, 0, p - 1], abs=1e-9)
    assert result["end"].status[result["end"].impact > 0] == [SLIP]
    assert result.statistics[f"impacts_by_{law}"] == 1 and result.statistics["impacts_by_newton"] == 0
    assert f"1 impacts by {law.capitalize()}'s law" in result.report()


@either_law
def test_restitution_by_approach_speed_is_that_of_the_impact(law):
    results = [struck(tumbling_rod(0.9, 0.3, e, 0.2), law) for e in ([(0.5, 0.9), (1.5, 0.7)], 0.8)]
    velocities = [result["rod"].velocity[-1] for result in results]
    assert results[0].statistics[f"impacts_by_{law}"] == 1
    assert velocities[0] == pytest.approx(velocities[1], abs=1e-12)  # 0.8 at 1 m/s


@either_law
@pytest.mark.parametrize("restitution", [0.0, 0.5, 1.0])
def test_an_impact_of_kanes_double_pendulum_loses_energy_without_a_limit_of_restitution(restitution, law):
    result = struck(double_pendulum_that_strikes(*CASE, restitution, 0.9), law, t_end=2e-3)
    ratio = result.energy.kinetic[-1] / result.energy.kinetic[0]
    assert 0.0 < ratio < 0.9
    assert result.statistics["impacts_with_less_restitution"] == 0
    assert result.statistics[f"impacts_by_{law}"] == 1
    # closed form at the angles of the start, 1e-4 rad before the touch
    (upper, lower), speeds = CASE[0], np.array(CASE[1])
    side = 0.5 * np.cos(upper - lower)
    B = np.array([[np.sin(upper), np.sin(lower)], [np.cos(upper), np.cos(lower) + 0.01]])
    W = B @ np.linalg.solve([[4 / 3, side], [side, 1 / 3]], B.T)
    exact, kind, _ = planar(W, B @ speeds, 0.9, restitution, law)
    assert kind == STICKS
    assert result["tip"].impulse.sum(0) == pytest.approx([*exact, 0.0], rel=5e-4, abs=1e-9)
    newton = struck(double_pendulum_that_strikes(*CASE, restitution, 0.9), "newton", t_end=2e-3)
    assert newton.statistics["impacts_with_less_restitution"] == (restitution > 0)


def test_the_energy_balance_of_an_integrated_impact_closes():
    result = fem.DecoupledNSGA(impact_law="stronge").run(tumbling_rod(0.9, 0.3, 0.8, 0.2), 3 * H, H, balance=True)
    table = result.energy_table()
    assert table.change < -0.1 and result.warnings == []
    works = [table.work("end", kind) for kind in ("impact", "friction")]
    assert max(works) <= 0.0 and sum(works) == pytest.approx(table.change, rel=1e-12)


@pytest.mark.parametrize("spin", [3.0, 300.0])
def test_a_spinning_sphere_bounces_as_by_newtons_law(spin):
    runs = []
    for law in ("newton", "stronge"):
        model = fem.Model("sphere", gravity=[0, 0, -9.81])
        motion = {"velocity": [0.3, 0.1, -2.0], "angular_velocity": [0.2 * spin, spin, 0.3 * spin]}
        ball = model.add(fem.RigidBody.sphere(0.5, 0.1, position=[0, 0, 0.1037], name="ball", **motion))
        model.add(fem.SphereOnPlane(ball, model.ground, radius=0.1, restitution=0.7, friction=0.2))
        runs.append(struck(model, law, t_end=0.02))
    assert runs[1].statistics["impacts_by_stronge"] == 1
    for name in ("position", "velocity", "angular_velocity"):
        assert getattr(runs[1]["ball"], name) == pytest.approx(getattr(runs[0]["ball"], name), abs=1e-9)


@pytest.mark.parametrize(
    "law", [{"tangential_restitution": 0.3}, {"rolling_resistance": 1e-3}, {"friction": (0.5, 0.3)}]
)
def test_laws_that_cannot_be_integrated_are_left_to_newtons_law_and_counted(law):
    model = {
        impact_law: tumbling_rod(0.9, 0.3, 0.8, **{"friction": 0.2, **law}) for impact_law in ("newton", "stronge")
    }
    results = {impact_law: struck(model[impact_law], impact_law) for impact_law in model}
    assert results["stronge"].statistics["impacts_by_stronge"] == 0
    assert results["stronge"].statistics["impacts_by_newton"] == 1
    (text,) = results["stronge"].warnings
    assert re.search("impact_law='stronge'.*no impact", text) and results["newton"].warnings == []
    assert (results["stronge"]["rod"].velocity == results["newton"]["rod"].velocity).all()


def test_an_impact_that_another_closed_contact_takes_part_in_is_left_to_newtons_law():
    model = fem.Model("impact on a block", gravity=[0, 0, -9.81])
    block = model.add(fem.RigidBody(4.0, 0.05, fixed=("y", "rx", "ry", "rz"), name="block"))
    model.add(fem.SphereOnPlane(block, model.ground, radius=0.0, friction=0.5, name="floor"))
    ball = fem.PointMass(1.0, position=[0, 0, 0.0105], velocity=[1, 0, -2], fixed=("y",), name="ball")
    model.add(ball)
    model.add(fem.SphereOnPlane(ball, block, radius=0.0, restitution=0.5, friction=0.3, name="top"))
    result = struck(model, t_end=0.02)
    assert result["top"].impact.any()
    assert result.statistics["impacts_by_stronge"] == 0 and result.statistics["impacts_by_newton"] >= 1
    assert any("no impact" in text for text in result.warnings)


def test_no_warning_about_the_impact_law_where_friction_is_zero():
    """Both laws are then the same."""
    result = struck(tumbling_rod(0.9, 0.3, 0.8, friction=0.0))
    assert result.statistics["impacts_by_stronge"] + result.statistics["impacts_by_newton"] == 1
    assert result.warnings == []


def test_stronges_law_needs_impacts_that_are_split():
    with pytest.raises(fem.errors.ParameterError, match=r'impact_law.*impacts="auto"'):
        fem.DecoupledNSGA(impact_law="stronge", impacts="plain")
    with pytest.raises(fem.errors.ParameterError, match="impact_law"):
        fem.DecoupledNSGA(impact_law="routh")
    assert fem.DecoupledNSGA.published().impact_law == "newton"
