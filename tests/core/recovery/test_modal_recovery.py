"""Forces on bodies that deform, recovered with modes: compared with resolved impacts, invariants, errors."""

import warnings

import clearance_crank as crank
import force_recovery as bouncing
import numpy as np
import pytest
import struck_models as struck

import fem_mbs as fem
from fem_mbs.recovery.modal_impact import ContactModes


def rigid_run(build, h, t_end, **options):
    model = build(**options)
    return model, fem.DecoupledNSGA(rho_inf=0.0).run(model, t_end=t_end, h=h)


def recover(model, result, K, e=1.0, name="hit", **options):
    modes = fem.ReducedContact(model)
    return fem.recover_forces(result, name, stiffness=K, restitution=e, modes=modes, **options)


def resolved(build, t_end, h=2e-7, **options):
    model = build(compliant={"restitution": options.pop("e", 1.0)}, **options)
    result = fem.DecoupledNSGA(rho_inf=0.8).run(model, t_end=t_end, h=h)
    return struck.touches(result)[0, 1:]


# --- compared with the same model, resolved in time -------------------------------------------------------------------


@pytest.mark.parametrize("elements, e", [(8, 1.0), (16, 1.0), (16, 0.6)])
def test_first_impact_on_a_beam_is_the_resolved_one_whatever_the_mesh_and_the_step(elements, e):
    duration, peak, impulse = resolved(struck.ball_on_beam, 1e-4, elements=elements, e=e)
    for h in (2e-6, 2e-5):
        model, result = rigid_run(struck.ball_on_beam, h, 2e-4, elements=elements, restitution=e)
        first = recover(model, result, struck.stiffness, e).impacts[0]
        # steps of 0.2 µs: 300 in the impact
        assert first.peak_force == pytest.approx(peak, rel=1e-3)
        assert first.recovered_impulse == pytest.approx(impulse, rel=2e-3)
        assert first.duration == pytest.approx(duration, abs=6e-7)
        assert first.time == pytest.approx(struck.gap / struck.speed, rel=1e-6)


def test_without_modes_the_force_on_a_node_depends_on_the_mesh():
    """What modes are for: 700 and 508 N with 8 and 16 elements, in place of 798 and 716 N."""
    peaks = []
    for elements in (8, 16):
        _, result = rigid_run(struck.ball_on_beam, 2e-6, 2e-4, elements=elements)
        with pytest.warns(UserWarning, match="deforms.*modes=fem.ReducedContact"):
            found = fem.recover_forces(result, "hit", stiffness=struck.stiffness, restitution=1.0)
        peaks.append(found.impacts.peak_force[0])
    assert peaks[0] == pytest.approx(700, rel=0.01) and peaks[1] == pytest.approx(508, rel=0.01)


def test_impact_on_a_node_of_solids_is_the_resolved_one():
    duration, peak, impulse = resolved(struck.mass_on_bar, 1.2e-4)
    model, result = rigid_run(struck.mass_on_bar, 1e-6, 1.5e-4)
    found = recover(model, result, struck.bar_stiffness)
    first = found.impacts[0]
    assert first.peak_force == pytest.approx(peak, rel=1e-3)
    assert first.duration == pytest.approx(duration, rel=5e-3)
    assert first.recovered_impulse == pytest.approx(impulse, rel=1e-3)
    # closed contact in steps of the impact is part of it
    whole = found.impacts.impulse.sum() + (found.h * found.continuous).sum()
    assert whole == pytest.approx(result["hit"].impulse[:, 0].sum(), rel=1e-12)
    # free bodies: momentum that the bar takes up; a rigid impact gives it in part within the phase
    assert first.impulse == pytest.approx(first.recovered_impulse, rel=0.1)


@pytest.mark.parametrize("h", [1e-6, 1e-5])
def test_first_impact_of_the_crank_with_clearance_is_the_resolved_one(h):
    """A mechanism that turns: 14.6 kN in 101 µs (steps of 0.1 µs; of 1 µs 14.5 kN), without modes 6.3 kN."""
    clearance = crank.CLEARANCES[1]
    K = crank.stiffness(clearance)
    model, _ = crank.build(clearance, None, 2)
    result = fem.DecoupledNSGA(rho_inf=0.0, rtol=1e-5).run(model, t_end=2.5e-4, h=h)
    first = recover(model, result, K, crank.restitution, "wrist", speed_tolerance=1e-3).impacts[0]
    law = {"restitution": crank.restitution}
    follow = crank.build(clearance, law, 2)[0]
    known = fem.DecoupledNSGA(rho_inf=0.8, rtol=1e-5).run(follow, t_end=2.2e-4, h=2e-7)
    begin, duration, peak, impulse = struck.touches(known, "wrist")[0]
    # small motions about the state before it: the crank turns by 3° in the impact. 1.6 % measured, 2.6 % at 10 µs
    assert first.peak_force == pytest.approx(peak, rel=0.03)
    assert first.duration == pytest.approx(duration, rel=0.01)
    assert first.recovered_impulse == pytest.approx(impulse, rel=0.015)
    assert first.time == pytest.approx(begin, abs=0.2 * h + 4e-7)


def test_a_rigid_ball_has_its_resolved_impact():
    """All bounces: modes of rigid bodies are their masses, and the restitution is reached."""
    e, K = 0.6, bouncing.stiffness
    model = bouncing.build(e)
    result = fem.DecoupledNSGA(rho_inf=0.0).run(model, t_end=1.2, h=1e-3)
    found = recover(model, result, K, e, "ground contact")
    assert len(found.impacts) == 2
    chi = float(fem.hysteresis_factor("consistent", e))
    mass = fem.ReducedContact(model).modes("ground contact", 1e-3).mass
    for row in found.impacts:
        known = fem.resolved_impact(mass=mass, speed=row.speed, stiffness=K, factor=chi)
        # gravity during the impact: g T/v = 0.4 %
        assert row.peak_force == pytest.approx(known.force.max(), rel=5e-3)
        assert row.duration == pytest.approx(known.duration, rel=5e-3)
        assert row.restitution == pytest.approx(e, abs=5e-3)


# --- invariants -------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def beam():
    model, result = rigid_run(struck.ball_on_beam, 2e-6, 4e-4)
    return model, result, recover(model, result, struck.stiffness)


def test_impulses_of_the_run_are_all_there_and_compared_with_those_recovered(beam):
    _, result, found = beam
    total = result["hit"].impulse[:, 0].sum()
    assert found.impacts.impulse.sum() + (found.h * found.continuous).sum() == pytest.approx(total, rel=1e-12)
    first = found.impacts[0]
    assert found.curve(0, 4001).impulse == pytest.approx(first.recovered_impulse, rel=1e-5)
    assert first.recovered_impulse / first.impulse == pytest.approx(1.19, abs=0.02)
    assert first.merged >= 1 and found.impacts.merged.sum() >= len(found.impacts)
    assert found.checks().ok


def test_histories_and_curves_are_those_of_the_integration(beam):
    _, _, found = beam
    first = found.impacts[0]
    inside = (found.t > first.time) & (found.t < first.time + first.duration)
    assert found.force[inside].max() == pytest.approx(first.peak_force, rel=1e-3)
    curve = found.curve(0)
    assert curve.t[0] == first.time and curve.duration == pytest.approx(first.duration, rel=1e-12)
    # the law without hysteresis, straight between steps of the integration
    np.testing.assert_allclose(curve.force, struck.stiffness * curve.indentation**1.5, atol=1e-3 * first.peak_force)


def test_given_modes_of_a_beam_are_used_with_the_speed_of_the_run():
    model, result = rigid_run(struck.ball_on_beam, 2e-6, 1e-4, elements=32)
    omega, participation = struck.beam_modes(200)
    modes = ContactModes([0.0], [struck.ball_mass**-0.5]) + ContactModes(omega, participation)
    first = fem.recover_forces(result, "hit", stiffness=struck.stiffness, restitution=1.0, modes=modes).impacts[0]
    known = fem.resolved_impact(modes=modes, speed=1.0, stiffness=struck.stiffness)
    assert first.peak_force == pytest.approx(known.force.max(), rel=1e-6)
    assert first.peak_force == pytest.approx(recover(model, result, struck.stiffness).impacts.peak_force[0], rel=5e-3)
    assert first.time == pytest.approx(2e-6, rel=1e-6)


def test_tables_are_saved_with_their_columns(tmp_path):
    model = struck.ball_on_beam(8)
    path = tmp_path / "run.vtkhdf"
    result = fem.DecoupledNSGA(rho_inf=0.0).run(model, t_end=1e-4, h=2e-6, save=path)
    found = recover(model, result, struck.stiffness)
    found.save()
    again = fem.load(path).recovered("hit")
    np.testing.assert_array_equal(again.impacts.recovered_impulse, found.impacts.recovered_impulse)
    np.testing.assert_array_equal(again.impacts.merged, found.impacts.merged)


# --- warnings and errors ----------------------------------------------------------------------------------------------


def test_rigid_bodies_are_recovered_without_a_warning_about_modes():
    result = bouncing.run(0.8, t_end=0.6)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fem.recover_forces(result, "ground contact", stiffness=bouncing.stiffness)


def test_an_observer_of_a_node_of_a_mesh_warns():
    watch = fem.ForceObserver("hit", stiffness=1e10, restitution=1.0, speed_tolerance=1e-3)
    with pytest.warns(UserWarning, match="ForceObserver of 'hit'.*deforms"):
        fem.DecoupledNSGA(rho_inf=0.0).run(struck.ball_on_beam(8), t_end=1e-5, h=2e-6, observers=[watch])


def test_another_contact_with_impulses_meanwhile_is_reported():
    model = struck.ball_on_beam(8)
    end = model.nodes[2]
    floor = model.ground.frame([0, 0, -1e-9 - struck.radius])
    model.add(fem.SphereOnPlane(end, floor, radius=struck.radius, restitution=0.0, name="stop"))
    result = fem.DecoupledNSGA(rho_inf=0.0).run(model, t_end=1e-4, h=2e-6)
    assert result["stop"].impulse[:, 0].any()
    with pytest.warns(UserWarning, match="other contacts carry impulses.*'stop'"):
        recover(model, result, struck.stiffness)


@pytest.mark.parametrize(
    "options, message",
    [
        ({"restitution": None}, "restitution.*needed with modes"),
        ({"effective_mass": 1.0}, "effective_mass.*remove it"),
        ({"modes": 3.0}, "modes.*ReducedContact"),
        ({"model": fem.ForceLaw(lambda d, r, v, e: d), "stiffness": None}, "model.*cannot be combined with modes"),
    ],
)
def test_options_without_meaning_raise_an_error(options, message, beam):
    model, result, _ = beam
    given = {"stiffness": 1e10, "restitution": 1.0, "modes": fem.ReducedContact(model), **options}
    with pytest.raises(fem.FemMbsError, match=message):
        fem.recover_forces(result, "hit", **given)
