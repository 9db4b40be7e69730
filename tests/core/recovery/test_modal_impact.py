"""Impacts of bodies that deform, on given modes: rigid limit, Zener's plate, Timoshenko's integral, order."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import fem_mbs as fem
from fem_mbs.recovery.modal_impact import ContactModes, LocalMotion, resolve

K, M, V = 1.5e10, 0.033, 1.0  # N/m^1.5, kg, m/s: a steel ball of 10 mm radius on steel
BALL = ContactModes([0.0], [M**-0.5])


def start(modes, gap=0.0, speed=V, acceleration=0.0, load=None):
    load = np.zeros((len(modes), 2)) if load is None else load
    return LocalMotion(modes, load, gap, speed, acceleration)


@pytest.mark.parametrize("e", [1.0, 0.6])
def test_one_rigid_mode_is_the_resolved_impact_of_its_mass(e):
    chi = float(fem.hysteresis_factor("consistent", e))
    options = {"speed": V, "stiffness": K, "factor": chi}
    found, known = fem.resolved_impact(modes=BALL, **options), fem.resolved_impact(mass=M, **options)
    # 400 steps to the impact, error of second order: 1e-5 in the force
    assert found.duration == pytest.approx(known.duration, rel=2e-5)
    # straight between steps, where the force begins like t^1.5: 2e-4
    np.testing.assert_allclose(found.force, known.force, atol=3e-4 * known.force.max())
    assert -found.velocity[-1] == pytest.approx(e, abs=2e-5)
    assert found.impulse == pytest.approx(M * V * (1 + e), rel=1e-5)


def test_two_rigid_bodies_meet_with_their_reduced_mass():
    both = BALL + ContactModes([0.0], [0.05**-0.5])
    assert both.mass == pytest.approx(M * 0.05 / (M + 0.05), rel=1e-14)
    found = fem.resolved_impact(modes=both, speed=V, stiffness=K)
    assert found.impulse == pytest.approx(2 * both.mass * V, rel=1e-5)


def other_integration(local, chi, until):
    """(1)-(3) of `modal_impact` by an explicit method of order 8: dense solution from t = 0, with δ."""
    modes, load, gap, speed, acceleration, _ = local
    b, k = modes.participation, len(modes)

    def indentation(t, y):
        return (
            -gap + speed * t + 0.5 * acceleration * t * t - b @ y[:k],
            speed + acceleration * t - b @ y[k : 2 * k],
        )

    def force(t, y):
        delta, rate = indentation(t, y)
        return max(K * max(delta, 0.0) ** 1.5 * (1 + chi * rate / speed), 0.0)

    def rates(t, y):
        total = load[:, 0] * t + 0.5 * load[:, 1] * t * t + b * force(t, y)
        return np.concatenate([y[k:], total - modes.damping * y[k:] - modes.omega**2 * y[:k]])

    run = solve_ivp(
        rates, (0, until), np.zeros(2 * k), "DOP853", rtol=1e-10, atol=1e-16, max_step=1e-7, dense_output=True
    )
    return lambda t: force(t, run.sol(t))


def test_forces_are_those_of_another_integration_with_damping_loads_and_hysteresis():
    modes = BALL + ContactModes([0.0, 9e3, 6e4, 2e5], [3.0, 2.5, -4.0, 3.0], [0.0, 9e2, 6e4, 4e5])
    load = np.array([[0.0, 0.0], [2e6, 0.0], [4e6, -3e10], [-9e6, 8e10], [5e7, 0.0]])
    local = start(modes, acceleration=2e4, load=load)
    for chi in (0.0, 0.4):
        curve = resolve(local, K, 1.5, chi).curve
        known = other_integration(local, chi, curve.t[-1])
        at = np.linspace(0.02, 0.98, 25) * curve.t[-1]
        exact = np.array([known(t) for t in at])
        # second order: 400 steps to an impact that is shorter than this one
        np.testing.assert_allclose(np.interp(at, curve.t, curve.force), exact, atol=2e-4 * exact.max())
        assert known(0.999 * curve.t[-1]) < 1e-2 * exact.max()


def test_forces_are_of_second_order_in_the_step():
    local = start(BALL + ContactModes([2e4, 1e5], [4.0, 3.0]))
    peaks = [resolve(local, K, 1.5, 0.3, steps=n).curve for n in (50, 100, 200, 3200)]
    at = np.linspace(0.1, 0.9, 9) * peaks[-1].t[-1]
    forces = [np.interp(at, one.t, one.force) for one in peaks]
    error = [np.abs(one - forces[-1]).max() for one in forces[:-1]]
    order = np.polyfit(np.log([50, 100, 200]), np.log(error), 1)[0]
    assert -2.3 < order < -1.7, f"order {order}, errors {error}"


def test_the_gap_before_first_touch_is_flown_with_the_free_motion():
    modes, gap, a = BALL, 3e-5, 4e4
    found = resolve(start(modes, gap=gap, acceleration=a), K, 1.5, 0.0)
    touch = (np.sqrt(V**2 + 2 * a * gap) - V) / a
    assert found.curve.t[0] == pytest.approx(touch, rel=1e-5)
    assert found.speed == pytest.approx(V + a * touch, rel=1e-5)


# --- classical impacts ------------------------------------------------------------------------------------------------


def test_a_large_plate_answers_as_zeners_infinite_plate():
    """ẇ = F/(8 √(D ρ h)) under the ball (Zener1941), here of the modes of a supported plate, before waves return."""
    E, nu, rho, h, side = 210e9, 0.3, 7850.0, 8e-3, 1.0
    D = E * h**3 / (12 * (1 - nu**2))
    n = np.arange(1, 300, 2)
    squares = (np.pi / side) ** 2 * (n[:, None] ** 2 + n**2)
    omega = (squares * np.sqrt(D / (rho * h))).ravel()
    plate = ContactModes(omega, np.full(omega.size, 2 / np.sqrt(rho * h * side**2)))
    found = fem.resolved_impact(modes=BALL + plate, speed=V, stiffness=K)
    alpha = 1 / (8 * np.sqrt(D * rho * h))

    def rates(_, y):
        F = K * max(y[0], 0.0) ** 1.5
        return [y[1] - alpha * F, -F / M]

    def leaves(t, y):
        return y[0] if t > 1e-6 else 1.0

    leaves.terminal = True
    run = solve_ivp(rates, (0, 1e-3), [0, V], rtol=1e-10, atol=1e-16, events=leaves, max_step=2e-7)
    peak, after = K * run.y[0].max() ** 1.5, run.y[1, -1]
    assert -0.7 < after < -0.6  # a third of the speed has gone into the plate
    # modes up to n = 299: truncation 0.03 % in the peak, goes like 1/n²; doubled
    assert found.force.max() == pytest.approx(peak, rel=1e-3)
    assert V - found.impulse / M == pytest.approx(after, abs=1e-3)
    assert found.duration == pytest.approx(run.t_events[0][0], rel=2e-3)


def test_a_beam_follows_timoshenkos_integral_equation():
    """(F/K)^(2/3) = v t − ∫∫F/m − Σ b² ∫ F sin ω(t − τ)/ω dτ (Timoshenko1913), marched with F constant in each step."""
    E, rho, side, length = 210e9, 7850.0, 0.01, 0.1535
    n = np.arange(1, 24, 2)
    omega = (n * np.pi / length) ** 2 * np.sqrt(E * side**2 / (12 * rho))
    b = np.full(n.size, np.sqrt(2 / (rho * side**2 * length)))
    found = fem.resolved_impact(modes=BALL + ContactModes(omega, b), speed=V, stiffness=K)
    s = found.duration / 3000
    F, moved, speed = 0.0, 0.0, 0.0
    c, d = np.cos(omega * s), np.sin(omega * s)
    q, p = np.zeros(n.size), np.zeros(n.size)
    forces = []
    for i in range(1, 2900):
        # constant force in the step: exact answer of ball and modes
        moved, speed = moved + s * speed + 0.5 * s * s * F / M, speed + s * F / M
        q, p = c * q + d / omega * p + b * F * (1 - c) / omega**2, -omega * d * q + c * p + b * F * d / omega
        F = K * max(V * i * s - moved - b @ q, 0.0) ** 1.5
        forces.append(F)
    times = s * np.arange(1, 2900)
    # the march is of first order in s: 1/3000 of the duration late
    np.testing.assert_allclose(np.interp(times, found.t - found.t[0], found.force), forces, atol=4e-3 * max(forces))
    assert max(forces) < 0.95 * fem.resolved_impact(mass=M, speed=V, stiffness=K).force.max()


def test_energy_that_the_ball_loses_is_in_the_modes():
    modes = ContactModes([8e3, 5e4], [3.0, 2.0])
    curve = fem.resolved_impact(modes=BALL + modes, speed=V, stiffness=K, samples=4001)
    lost = 0.5 * M * V**2 - 0.5 * M * (V - curve.impulse / M) ** 2
    kept = 0.0
    for omega, b in zip(modes.omega, modes.participation):
        turning = np.exp(-1j * omega * curve.t) * b * curve.force
        kept += 0.5 * abs(np.trapezoid(turning, curve.t)) ** 2
    assert kept == pytest.approx(lost, rel=1e-4)


# --- errors ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "arguments, message",
    [
        (([-1.0], [1.0]), r"omega.*must not be negative"),
        (([1.0, 2.0], [1.0]), r"participation.*one number for each mode"),
        (([1.0], [0.0]), r"participation.*no mode that moves"),
        (([1.0], [1.0], [-1.0]), r"damping.*must not be negative"),
        (([1.0], [np.nan]), r"participation"),
    ],
)
def test_bad_modes_raise_an_error(arguments, message):
    with pytest.raises(fem.FemMbsError, match=message):
        ContactModes(*arguments)


def test_impacts_without_an_end_say_why_and_a_mass_with_modes_raises_an_error():
    with pytest.raises(fem.FemMbsError, match=r"mass.*remove it"):
        fem.resolved_impact(mass=1.0, modes=BALL, speed=V, stiffness=K)
    with pytest.raises(fem.FemMbsError, match=r"modes.*ContactModes"):
        fem.resolved_impact(modes=[1.0], speed=V, stiffness=K)
    local = start(BALL, acceleration=1e5)  # pressed on for good
    assert resolve(local._replace(speed=1e-3), K, 1.5, 0.3, most=5000).problem == "does not separate"
    assert resolve(start(BALL, gap=1e-5, acceleration=-1e6), K, 1.5, 0.0, most=5000).problem == "does not touch"
    assert resolve(start(BALL, speed=-1.0), K, 1.5, 0.0).problem == "no approach speed"
