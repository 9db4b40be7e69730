"""Numbers of the cases of Bruls2014 are those of its schemes, computed without fem_mbs; digits as they are given."""

from functools import cache

import bruls2014 as models
import numpy as np
import pytest
import rocking_block
from dense_schemes import Coupled, Moreau, Smooth, course
from elastic_bar_schemes import COARSE, LEAVE, TOUCH, Bar

from fem_mbs.cases import bruls2014 as registry

CLOSED = 1e-12  # m: gaps up to it are closed


def energies(model, found, potential):
    """Kinetic and potential energy (steps + 1,)."""
    return 0.5 * found["v"] ** 2 @ model.masses + potential(found["q"].T)


def closed_from(gaps, h):
    """Time from which all gaps (steps + 1, m) stay closed."""
    return h * (np.flatnonzero(gaps.max(axis=1) > CLOSED)[-1] + 1)


# --- bouncing ball, 10.1 ----------------------------------------------------------------------------------------------


def ball(scheme, parameter):
    return course(scheme(models.BALL, [0.801], 2e-3, parameter), 2250)


def test_the_ball_rests_from_the_given_time_with_constraints_at_both_levels():
    found = ball(Coupled, models.RHO)
    assert closed_from(found["q"], 2e-3) == pytest.approx(registry.BALL_RESTS, abs=1e-9)
    assert found["impulse"][201] == pytest.approx(7.22, abs=1e-12)  # exact
    assert np.diff(energies(models.BALL, found, lambda q: 10 * q[0])).max() < 1e-14


def test_the_ball_takes_energy_from_impacts_with_gaps_in_positions_alone():
    energy = energies(models.BALL, ball(Smooth, models.RHO), lambda q: 10 * q[0])
    assert energy[[200, 500, 1500]] == pytest.approx(registry.BALL_SMOOTH, abs=0.05)


def test_the_ball_sinks_in_with_moreaus_scheme():
    found = ball(Moreau, models.THETA)
    assert found["q"].min() == pytest.approx(registry.BALL_SINKS, abs=5e-5)
    lost = -np.diff(energies(models.BALL, found, lambda q: 10 * q[0]))[:200]
    assert lost == pytest.approx(100 * 2e-3**2 * (models.THETA - 0.5), rel=1e-6)


# --- bouncing pendulum, 10.2 ------------------------------------------------------------------------------------------


def test_the_pendulum_hangs_on_the_wall_from_the_given_time():
    found = course(Coupled(models.PENDULUM, models.PENDULUM_START, 1e-3, models.RHO), 5200)
    assert closed_from(found["q"][:, :1] - np.sqrt(0.5), 1e-3) == pytest.approx(registry.PENDULUM_HANGS, abs=1e-9)
    energy = energies(models.PENDULUM, found, lambda q: 10 * q[1])
    assert np.diff(energy).max() == pytest.approx(registry.PENDULUM_RISE, abs=5e-6)
    assert found["count"].max() == registry.PENDULUM_ITERATIONS


@pytest.mark.parametrize("rho_inf, reactions", models.PENDULUM_REACTIONS.items())
def test_reactions_of_the_pendulum_oscillate_after_the_impact_as_given(rho_inf, reactions):
    found = course(Coupled(models.PENDULUM, models.PENDULUM_START, 1e-3, rho_inf), 492)
    k = int(np.argmax(found["impulse"][:, 2] > 1))
    assert found["force"][k + 1 : k + 1 + len(reactions), 0] == pytest.approx(reactions, abs=5.1e-3)


@pytest.mark.slow
def test_the_pendulum_sinks_in_and_drifts_with_moreaus_scheme():
    found = course(Moreau(models.PENDULUM, models.PENDULUM_START, 1e-3, models.THETA), 6000)
    rows = models.pendulum_rows(found["q"].T)[0]
    assert rows[2].min() == pytest.approx(registry.PENDULUM_SINKS, abs=5e-5)
    assert np.abs(rows[:2]).max() == pytest.approx(registry.PENDULUM_DRIFTS, abs=5e-6)


# --- elastic bar, 10.3 ------------------------------------------------------------------------------------------------


@cache
def bar(scheme):
    return Bar(scheme)


@pytest.mark.parametrize("courant", COARSE)
def test_the_coarse_bar_keeps_the_given_energy_and_force(courant):
    found = Bar("coupled", 60, courant * 10 / 60 / 30)
    energy, force, spread = COARSE[courant]
    assert found.energy[-1] == pytest.approx(energy, abs=0.051)
    forces = found.impulse[(found.t > TOUCH + 0.05) & (found.t < LEAVE - 0.05)] / found.h
    assert (forces.mean(), forces.std()) == pytest.approx((force, spread), abs=0.051)


SCHEMES = {"NonsmoothGeneralizedAlphaGGL": "coupled", "MoreauJean": "moreau", "DecoupledNSGA": "decoupled"}


@pytest.mark.parametrize("name", SCHEMES)
def test_the_bar_keeps_the_given_energy(name):
    assert bar(SCHEMES[name]).energy[-1] == pytest.approx(registry.BAR_ENERGY[name], abs=0.051)


@pytest.mark.parametrize("name", registry.BAR_GAPS)
def test_the_bar_has_the_given_gaps(name):
    found, (gap, error) = bar(SCHEMES[name]), registry.BAR_GAPS[name]
    assert found.gap[800] == pytest.approx(gap, abs=5.1e-4)
    assert found.error == pytest.approx(error, abs=5.1e-4)


def test_the_bar_sinks_in_with_moreaus_scheme():
    assert bar("moreau").gap.min() == pytest.approx(registry.BAR_SINKS, abs=5e-5)


def test_the_bar_opens_and_gains_energy_with_gaps_in_positions_alone():
    found = bar("smooth")
    opened, force, last, largest, gap = registry.BAR_SMOOTH
    closed = np.flatnonzero(found.impulse > 0)
    assert closed[-1] - closed[0] + 1 - len(closed) == opened
    middle = (found.t > TOUCH + 0.1) & (found.t < LEAVE - 0.1)
    assert found.impulse[middle].mean() / found.h == pytest.approx(force, abs=0.1)
    assert (found.energy[-1], found.energy.max()) == pytest.approx((last, largest), abs=0.051)
    assert found.gap[800] == pytest.approx(gap, abs=5e-4)


# --- rocking block, 10.4 ----------------------------------------------------------------------------------------------


def test_the_block_has_the_given_impacts_and_stands():
    found = course(Coupled(models.BLOCK, models.BLOCK_START, 1e-2, models.RHO), 300)
    energy = energies(models.BLOCK, found, lambda q: 9.81 * q[1])
    steps = np.flatnonzero((found["impulse"] > 0.5).any(axis=1))
    for k, (time, corner, impulse, after) in zip(steps, rocking_block.IMPACTS):
        assert k * 1e-2 == pytest.approx(time, abs=1e-9)
        assert found["impulse"][k, corner - 1] == pytest.approx(impulse, abs=5e-5)
        assert found["impulse"][k, 2 - corner] == 0
        assert energy[k] == pytest.approx(after, abs=5e-4)
    for k, (time, impulse) in zip(steps[3:], models.BLOCK_LATER):
        assert (k * 1e-2, found["impulse"][k].sum()) == pytest.approx((time, impulse), abs=5e-5)
    gaps = models.block_rows(found["q"].T)[0].T
    assert closed_from(gaps, 1e-2) == pytest.approx(rocking_block.CLOSED, abs=1e-9)
    assert found["q"][:, 2].min() == pytest.approx(registry.BLOCK_ANGLE, abs=5e-5)


def test_the_block_sinks_in_with_moreaus_scheme():
    found = course(Moreau(models.BLOCK, models.BLOCK_START, 1e-2, models.THETA), 300)
    assert models.block_rows(found["q"].T)[0].min() == pytest.approx(registry.BLOCK_SINKS, abs=5e-5)


# --- oscillator at a wall ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("i, h", [(0, 2e-3), (1, 1e-3), pytest.param(2, 2.5e-4, marks=pytest.mark.slow)])
@pytest.mark.parametrize(
    "name, scheme, parameter, digit",
    [("NonsmoothGeneralizedAlphaGGL", Coupled, models.RHO, 5e-6), ("MoreauJean", Moreau, models.THETA, 5e-4)],
    ids=["coupled", "moreau"],
)
def test_the_oscillator_keeps_the_given_energy(name, scheme, parameter, digit, i, h):
    found = course(scheme(models.OSCILLATOR, [1.0], h, parameter), round(2 / h))
    energy = energies(models.OSCILLATOR, found, lambda q: 50 * q[0] ** 2)[-1]
    assert energy == pytest.approx(registry.OSCILLATOR_ENERGY[name][i], abs=digit)
