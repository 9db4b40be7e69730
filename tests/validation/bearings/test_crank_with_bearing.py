"""Crank mechanism with play in a ball bearing: impacts of the balls resolved in time, recovery (Sanchez2025, 4.5)."""

import numpy as np
import pytest
from scipy.integrate import quad, solve_ivp
from scipy.optimize import brentq

import fem_mbs as fem
from fem_mbs.cases.crank_bearing.model import (
    BALLS,
    COUPLER,
    DRIVEN,
    RACES,
    RIGID,
    SPEED,
    TURN,
    Forces,
    Reading,
    bending,
    stiffness,
)


def resolved(reading, t_end, tolerance=1e-8):
    model, bearing = reading.build()
    control = fem.StepControl(tolerance=tolerance, h_max=1e-4)
    return fem.DecoupledNSGA(rho_inf=0.8, step_control=control).run(model, t_end, 1e-6, progress=False), bearing


def ball_forces(result, bearing):
    return np.stack([result[c.name].force_normal for c in bearing.outer_contacts], axis=1)


def equations_of_motion(K_outer, K_inner, r_e=45.15e-3):
    """Rate of (s, phi, balls, and their rates) of the rigid mechanism, elastic races, no friction; own derivation.

    s: slider on x; phi: angle of the coupler, from its eye to the slider; balls are points in the plane.
    """
    (m_c, J_c), (m_s, _), (m_o, J_o) = [(m, J[2]) for m, J in (RIGID["coupler"], RIGID["slider"])] + [
        RACES["outer race"]
    ]
    L, r_b, r_i, m_b = COUPLER, BALLS["radius_ball"], BALLS["radius_inner"], BALLS["ball_mass"]
    S, M_s, M_phi = m_c * L / 2 + m_o * L, m_c + m_s + m_o, J_c + m_c * L**2 / 4 + m_o * L**2 + J_o
    chord = (r_i + r_e) * np.sin(np.pi / 8)
    pressed = lambda gap, K: K * max(gap, 0.0) ** 1.5  # noqa: E731

    def parts(t, y):
        s, phi, balls = y[0], y[1], y[2:18].reshape(8, 2)
        eye = np.array([s - L * np.cos(phi), -L * np.sin(phi)])
        pin = DRIVEN * np.array([np.cos(SPEED * t), np.sin(SPEED * t)])
        u, w = balls - eye, balls - pin
        far, near = np.linalg.norm(u, axis=1), np.linalg.norm(w, axis=1)
        outer = np.array([pressed(d - (r_e - r_b), K_outer) for d in far])
        inner = np.array([pressed(r_i + r_b - d, K_inner) for d in near])
        return outer, inner, u / far[:, None], w / near[:, None]

    def rate(t, y):
        outer, inner, u, w = parts(t, y)
        phi, phi_dot = y[1], y[19]
        balls, speeds = y[2:18].reshape(8, 2), y[20:].reshape(8, 2)
        force = inner[:, None] * w - outer[:, None] * u
        link, slip = np.roll(balls, -1, 0) - balls, np.roll(speeds, -1, 0) - speeds
        length = np.linalg.norm(link, axis=1)
        e = link / length[:, None]
        tension = BALLS["cage_stiffness"] * (length - chord) + 1e3 * np.sum(slip * e, axis=1)
        force += tension[:, None] * e - np.roll(tension[:, None] * e, 1, 0)
        F = (outer[:, None] * u).sum(axis=0)  # on the eye
        c, n = np.cos(phi), np.sin(phi)
        Q = [F[0] - S * c * phi_dot**2, L * (F[0] * n - F[1] * c)]
        accelerations = np.linalg.solve([[M_s, S * n], [S * n, M_phi]], Q)
        return np.concatenate([y[18:], accelerations, (force / m_b).ravel()])

    return rate, parts


def start(r_e=45.15e-3):
    """State at the start: balls on their circle, without slip."""
    r_i = BALLS["radius_inner"]
    psi = 2 * np.pi * np.arange(8) / 8
    arms = 0.5 * (r_i + r_e) * np.stack([np.cos(psi), np.sin(psi)], axis=1)
    orbit = (SPEED * r_i + TURN * r_e) / (r_i + r_e)
    speeds = [0, SPEED * DRIVEN] + orbit * np.stack([-arms[:, 1], arms[:, 0]], axis=1)
    return np.concatenate([[DRIVEN + COUPLER, 0], (arms + [DRIVEN, 0]).ravel(), [0, TURN], speeds.ravel()])


def test_the_first_impact_of_rigid_links_is_that_of_equations_of_motion():
    """Elastic races, e = 1: the hysteresis vanishes, and the equations have no memory. Friction is left out of both."""
    result, bearing = resolved(Reading(compliant=True, restitution=1.0, friction=0.0), 2.2e-3)
    rate, parts = equations_of_motion(stiffness(bearing), stiffness(bearing, "inner"))
    exact = solve_ivp(rate, (0, 2.2e-3), start(), "LSODA", rtol=1e-9, atol=1e-12, max_step=2e-6)
    outer = np.array([parts(t, y)[0] for t, y in zip(exact.t, exact.y.T)])
    found = ball_forces(result, bearing)
    assert found.max() > 1e4
    assert found.max() == pytest.approx(outer.max(), rel=5e-3)  # steps follow positions to 1e-8 m of some 1e-4 m
    assert found.max(axis=0).argmax() == outer.max(axis=0).argmax() == 4
    assert result.t[found.max(axis=1).argmax()] == pytest.approx(exact.t[outer.max(axis=1).argmax()], abs=5e-6)


def test_the_recovered_first_impact_is_that_of_annex_c():
    """F = K δⁿ(1 + χ δ̇/δ̇_i) with (C.28)-(C.39), written again here, of the impulse and the speed of the run."""
    model, bearing = Reading().build()
    result = fem.DecoupledNSGA.published(0.0, rtol=1e-5).run(model, 2e-3, 1e-4, progress=False)
    found = Forces.of(result, bearing)
    e, n, alpha, K = 0.9, 1.5, 1.7, stiffness(bearing)
    k = alpha * e / (1 + alpha * e)
    a = brentq(lambda a: k**3 * a**3 - k**2 * (k + 1) * a**2 + k * (k - 1) * a + k + (1 - e) / (1 + e), 0.5, 1 / k)
    g = lambda x: a * x if x <= k else (a - 1) * k / (1 - k) + (1 - a * k) / (1 - k) * x  # noqa: E731
    rate = lambda x: 1 - 3 * (1 + e) * g(x) ** 2 + 2 * (1 + e) * g(x) ** 3  # noqa: E731
    x = np.linspace(0, 1, 2001)
    y = np.array([quad(rate, 0, one, points=[k] if one > k else None)[0] for one in x])
    shape = np.clip(y, 0, None) ** n
    chi = 8 * (1 - e) / (5 * e)
    peaks = []
    for contact in bearing.outer_contacts:
        impacts = fem.recover_forces(result, contact.name, stiffness=K, model="flores", restitution=e, filter="peak")
        for one in impacts.impacts[np.isfinite(impacts.impacts.peak_force)]:
            T = (one.impulse / (K * one.speed**n * np.trapezoid(shape, x))) ** (1 / (n + 1))
            F = K * (T * one.speed) ** n * shape * (1 + chi * np.array([rate(v) for v in x]))
            peaks.append(F.max() + one.background)
    assert found.start.max() == pytest.approx(max(peaks), rel=1e-3)
    assert np.all(found.later == 0.0)
    # the impulse of the joint: that of the outer race's contacts, whatever shares it
    total = sum(result[c.name].impulse[1:, :1] / 1e-4 * result[c.name].normal[1:] for c in bearing.outer_contacts)
    assert found.joint == pytest.approx(np.sqrt(np.mean(np.sum(total**2, axis=1))), rel=1e-12)


@pytest.mark.slow
def test_a_second_stepper_has_the_same_first_impact_of_beams():
    """Fixed steps of the coupled smooth scheme against controlled steps of the decoupled one, compliant races."""
    result, bearing = resolved(Reading(flexible=True, compliant=True), 2.5e-3)
    model, other = Reading(flexible=True, compliant=True).build()
    fixed = fem.GeneralizedAlpha(rho_inf=0.8).run(model, 2.5e-3, 5e-7, progress=False)
    assert ball_forces(fixed, other).max() == pytest.approx(ball_forces(result, bearing).max(), rel=0.01)


@pytest.mark.slow
def test_beams_soften_the_resolved_impacts():
    """First impacts are the same in any run; after a few the motion is chaotic.

    Reason of the bounds on later impacts: one of mass m at speed v has F = K^(2/5) (5/4 m v²)^(3/5). A factor
    of two in F is one of 5.7 in stiffness or 1.8 in speed or 3.2 in mass: wrong units, or a missing race, link or
    curvature. It says nothing about the law; that is tested against closed forms in
    elements/contacts/test_compliant_contact.py.
    """
    first, later = {}, {}
    for flexible in (False, True):
        force = Forces.resolved(*resolved(Reading(flexible=flexible, compliant=True), 0.02))
        first[flexible], later[flexible] = force.start.max(), force.later.max()
    assert 0.5 < first[True] / first[False] < 0.8
    assert abs(np.log2(later[False] / 9.1e3)) < 1.0  # chaotic; what this guards: see above
    assert later[True] < 0.8 * later[False]


@pytest.mark.slow
def test_the_coupler_bends_much_more_with_play_than_with_a_hinge():
    """Asserted by the source without numbers, for 0.6 s; here the first turn but one. The case has all of it."""
    stepper = fem.DecoupledNSGA(rho_inf=0.0)
    played, hinged = (
        stepper.run(Reading(flexible=True, clearance=clearance).build()[0], 0.25, 1e-4, progress=False)
        for clearance in (True, False)
    )
    largest = [np.abs(bending(result)[result.t > 0.05]).max() for result in (played, hinged)]
    assert largest[0] > 3 * largest[1], largest
    # not so the slider: its speed differs by what the play allows
    speed = [result["slider"].velocity[:, 0] for result in (played, hinged)]
    assert np.sqrt(np.mean((speed[0] - speed[1]) ** 2) / np.mean(speed[1] ** 2)) < 0.1
