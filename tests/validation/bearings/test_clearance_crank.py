"""Flexible slider-crank with clearance, annex C.6.4: what is known of its first impact, and recovery during the run."""

import clearance_crank as example
import clearance_ensemble as ensemble
import numpy as np
import pytest

import fem_mbs as fem

END = 5e-4  # s, past the first impact
OPTIONS = {"restitution": example.restitution, "speed_tolerance": 1e-3}


def short_run(clearance, observers=(), compliant=None, poses=3):
    model, _ = example.build(clearance, compliant, poses)
    rho = 0.0 if compliant is None else 0.8
    return fem.DecoupledNSGA(rho_inf=rho, rtol=1e-5).run(model, t_end=END, h=1e-6, observers=observers)


@pytest.mark.parametrize("clearance", example.CLEARANCES)
def test_the_journal_meets_the_wall_with_the_acceleration_of_the_slider(clearance):
    result = short_run(clearance)
    impacts = fem.recover_forces(result, "wrist", stiffness=example.stiffness(clearance), **OPTIONS).impacts
    # rigid links: the slider would need −19 419 m/s² at the dead centre, and stays behind until then; the rod's end,
    # freed of it, springs out by some per cent of the clearance
    assert impacts.time[0] == pytest.approx(np.sqrt(2 * clearance / 19419), rel=0.08)
    assert impacts.speed[0] == pytest.approx(np.sqrt(2 * clearance * 19419), rel=0.35)
    assert result["wrist"].gap.min() > -1e-12


def test_recovery_in_a_mesh_sees_the_mass_of_a_node_where_a_resolved_impact_brings_in_the_rod():
    """The limit of recovery for flexible bodies: an impulse moves the end node, the rod follows in the next steps."""
    clearance = example.CLEARANCES[1]
    watch = fem.ForceObserver("wrist", stiffness=example.stiffness(clearance), **OPTIONS)
    short_run(clearance, observers=[watch], poses=2)
    resolved = short_run(clearance, compliant={}, poses=2)
    force, t = resolved["wrist"].force_normal, resolved.t
    begin = np.flatnonzero(force > 0)[0]
    end = begin + np.argmax(force[begin:] == 0)
    first = watch.impacts[0]
    # the last node of the rod carries a third of a two-node element of 52 g, the slider 140 g
    assert first.effective_mass == pytest.approx(0.0167, rel=0.02)
    assert first.time == pytest.approx(t[begin], abs=2e-6)
    # resolved 14.5 kN in 101 µs, recovered 6.3 kN in 19 µs and more impacts after it (0.25 µs steps: 14.6 and 6.2 kN)
    assert force.max() == pytest.approx(14.5e3, rel=0.02)
    assert t[end] - t[begin] == pytest.approx(101e-6, rel=0.03)
    assert first.peak_force == pytest.approx(6.3e3, rel=0.05)
    assert first.duration == pytest.approx(19e-6, rel=0.05)
    # what both agree on is the impulse of the phase, to the elasticity of the contact: 0.81 and 0.69 N s
    phase = (watch.step_times >= t[begin]) & (watch.step_times <= t[end])
    impulse = np.trapezoid(force[begin:end], t[begin:end])
    assert watch.impulse[phase].sum() == pytest.approx(impulse, rel=0.2)


def test_the_observer_has_the_numbers_of_the_recovery_from_results():
    clearance = example.CLEARANCES[1]
    options = {"stiffness": example.stiffness(clearance), **OPTIONS}
    watch = fem.ForceObserver("wrist", **options)
    result = short_run(clearance, observers=[watch], poses=2)
    found = fem.recover_forces(result, "wrist", **options)
    assert len(found.impacts) > 5
    np.testing.assert_array_equal(watch.impacts.state, found.impacts.state)
    np.testing.assert_allclose(watch.impacts.peak_force, found.impacts.peak_force, rtol=1e-12)
    np.testing.assert_allclose(watch.continuous, found.continuous, rtol=1e-12)


@pytest.mark.slow
def test_starts_that_differ_by_nanometres_scatter_less_than_step_sizes(monkeypatch):
    """Numbers of docs/published_benchmarks.md: forces of rigid contact do not converge to those of one that yields."""
    clearance = example.CLEARANCES[1]
    coarse, fine = (ensemble.nonsmooth(clearance, h, 3).all for h in (1e-5, 1e-6))
    monkeypatch.setattr(ensemble, "FINE", 4e-7)
    resolved = ensemble.compliant(clearance, 1).all
    assert coarse == pytest.approx(3350, rel=0.02)
    assert resolved == pytest.approx(4143, rel=0.02)
    assert np.all(fine > 1.25 * resolved) and np.ptp(fine) < 0.1 * fine.mean()
