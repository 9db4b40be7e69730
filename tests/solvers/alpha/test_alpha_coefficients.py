"""Generalized-α methods with given coefficients: Newmark, HHT, WBZ; against the recurrence of an oscillator."""

import double_pendulum
import numpy as np
import pytest
from every_stepper import STEPPERS
from pendulum_errors import NODES, TIGHT, free_motion, pendulum_errors

import fem_mbs as fem
from fem_mbs.cases.bruls2014 import bouncing_pendulum
from fem_mbs.solvers.alpha.coefficients import complete, of_radius, radius_at_infinity, violated

omega, speed = 10.0, 1e-2  # rad/s, m/s: small, since long steps must not throw the mass past the anchor of its spring
MEMBERS = {
    "HHT": {"alpha_f": 0.1},
    "HHT, strongest": {"alpha_f": 1 / 3},
    "WBZ": {"alpha_m": -0.2},
    "trapezoidal": {"gamma": 0.5},
    "Newmark, damped": {"gamma": 0.6},
    "Newmark, beta": {"gamma": 0.55, "beta": 0.4},
    "Chung and Hulbert, beta": {"alpha_m": 0.1, "alpha_f": 0.3, "beta": 0.45},
}
ALPHA = [name for name in STEPPERS if "Alpha" in name or name == "DecoupledNSGA"]
every_alpha = pytest.mark.parametrize("name", ALPHA)
every_member = pytest.mark.parametrize("options", MEMBERS.values(), ids=MEMBERS)


def recurrence(c, z):
    """Matrices (…, 3, 3) that take (ω q, v, a/ω) over a step of size h ω = z."""
    o, i = np.zeros_like(z, float), np.ones_like(z, float)
    new = [[i, o, -z * z * c.beta], [o, i, -z * c.gamma], [(1 - c.alpha_f) * i, o, (1 - c.alpha_m) * i]]
    old = [[i, z, z * z * (0.5 - c.beta)], [o, i, z * (1 - c.gamma)], [-c.alpha_f * i, o, -c.alpha_m * i]]
    return np.linalg.solve(*(np.moveaxis(np.array(matrix), (0, 1), (-2, -1)) for matrix in (new, old)))


def radius(c, z):
    """Largest modulus of eigenvalues, over all z."""
    return np.abs(np.linalg.eigvals(recurrence(c, z))).max()


def oscillator(omega=omega):
    model = fem.Model("oscillator", gravity=[0, 0, 0])
    mass = model.add(fem.PointMass(1.0, position=[0, 0, 1], velocity=[0, 0, speed], name="mass", fixed=("x", "y")))
    model.add(fem.Spring(model.ground.frame([0, 0, -10]), mass, stiffness=omega**2, free_length=11.0, name="spring"))
    return model


# --- which coefficients --------------------------------------------------------


@pytest.mark.parametrize("rho_inf", [0.0, 0.3, 0.5, 0.75, 0.8, 1.0])
def test_the_coefficients_of_a_spectral_radius_have_it_at_infinity(rho_inf):
    c = of_radius(rho_inf)
    assert radius_at_infinity(c) == pytest.approx(rho_inf, abs=1e-12) and c.second_order
    assert radius(c, 1e5) == pytest.approx(rho_inf, abs=1e-3)  # N has a double root: of order 1/z


@every_member
def test_the_spectral_radius_is_that_of_steps_far_beyond_the_frequency(options):
    method, c = fem.GeneralizedAlpha(**options), complete(**options)
    assert method.coefficients == c
    assert method.rho_inf == pytest.approx(radius(c, 1e5), abs=1e-3)
    assert method.order == (1 if "gamma" in options and options["gamma"] > 0.5 else 2)


@pytest.mark.parametrize("alpha_f", [0.0, 0.05, 0.2, 1 / 3])
def test_hht_has_the_closed_form_of_its_radius(alpha_f):
    assert fem.GeneralizedAlpha(alpha_f=alpha_f).rho_inf == pytest.approx((1 - alpha_f) / (1 + alpha_f), abs=1e-12)
    assert complete(alpha_f=alpha_f)[2:] == pytest.approx(((1 + alpha_f) ** 2 / 4, 0.5 + alpha_f), abs=1e-15)


def test_the_inequalities_hold_where_the_method_is_stable_for_all_steps_and_nowhere_else():
    rng = np.random.default_rng(3)
    steps = np.concatenate([np.geomspace(1e-2, 1e3, 120), [1e5]])
    stable = 0
    for _ in range(400):
        given = rng.uniform([-1.0, -1.0, 0.3, 0.1], [0.7, 0.7, 1.4, 1.0])
        c = complete(*given)
        margins = [0.5 - c.alpha_m, 0.5 - c.alpha_f, c.gamma - 0.5, c.gamma - 0.5 - c.alpha_f + c.alpha_m,
                   2 * c.beta - c.gamma]  # fmt: skip
        if np.abs(margins).min() < 0.02:
            continue  # growth within 1e-9 per step somewhere
        growth = radius(c, steps)
        assert (growth < 1 + 1e-9) == (violated(c, True) is None), (c, growth)
        stable += growth < 1 + 1e-9
    assert stable > 20


@pytest.mark.parametrize(
    "options, message",
    [
        ({"alpha_m": 0.3, "alpha_f": 0.1}, r"alpha_m = 0\.3.*≤ alpha_f = 0\.1.*unstable"),
        ({"alpha_f": 0.6}, r"alpha_f = 0\.6.*≤ 1/2"),
        ({"alpha_m": 0.6, "alpha_f": 0.5}, r"alpha_m = 0\.6.*≤ 1/2"),
        ({"gamma": 0.4}, r"gamma = 0\.4.*≥ 1/2"),
        ({"alpha_f": 0.2, "gamma": 0.6}, r"gamma = 0\.6.*≥ 1/2 \+ alpha_f - alpha_m = 0\.7"),
        ({"gamma": 0.5, "beta": 0.2}, r"beta = 0\.2.*≥ gamma/2 = 0\.25"),
        ({"rho_inf": 0.5, "alpha_f": 0.1}, r"rho_inf = 0\.5.*cannot be combined with alpha_f"),
        ({"rho_inf": 0.8, "gamma": 0.6, "beta": 0.4}, r"rho_inf = 0\.8.*cannot be combined with gamma, beta"),
        ({"alpha_m": np.nan}, "alpha_m = nan.*finite"),
    ],
)
@every_alpha
def test_unstable_and_contradictory_coefficients_are_rejected_with_the_inequality(name, options, message):
    with pytest.raises(fem.ParameterError, match=f"{name}: {message}"):
        STEPPERS[name](**options)


def test_coefficients_are_among_the_options_that_distinguish_runs(tmp_path):
    method = fem.GeneralizedAlpha(alpha_m=0.1, alpha_f=0.3)
    assert repr(method) == "GeneralizedAlpha(alpha_m=0.1, alpha_f=0.3)"
    assert method.run(oscillator(), 0.02, 0.01, save=tmp_path / "run.vtkhdf").parameters["alpha_f"] == 0.3
    loaded = fem.load(tmp_path / "run.vtkhdf")
    assert (loaded.parameters["alpha_m"], loaded.parameters["rho_inf"]) == (0.1, method.rho_inf)
    assert "alpha_m = 0.1, alpha_f = 0.3" in loaded.report()


# --- motion --------------------------------------------------------------------


@every_alpha
@every_member
def test_an_oscillator_follows_the_recurrence_of_its_coefficients(name, options):
    """Its amplitude then falls by the eigenvalues of that matrix, and beyond its frequency by the spectral radius."""
    n = 40
    for z in (0.5, 20.0):
        mass = STEPPERS[name](**options, rtol=1e-12).run(oscillator(), n * z / omega, z / omega)["mass"]
        step, state = recurrence(complete(**options), z), np.array([0.0, speed, 0.0])
        exact = [state]
        for _ in range(n):
            exact.append(step @ exact[-1])
        found = np.column_stack([omega * (mass.position[:, 2] - 1.0), mass.velocity[:, 2]])
        assert np.abs(found - np.array(exact)[:, :2]).max() < 1e-10 * np.abs(exact).max()


@pytest.mark.parametrize("alpha_f", [0.0, 0.1, 0.3])
def test_the_amplitude_falls_by_the_eigenvalues_per_period(alpha_f):
    """HHT damps, more with a larger alpha_f; with 0 it is the trapezoidal rule, which does not damp."""
    per_period, c = 12, complete(alpha_f=alpha_f)
    z = 2 * np.pi / per_period
    mass = fem.GeneralizedAlpha(alpha_f=alpha_f, rtol=1e-13).run(oscillator(), 100 * z / omega, z / omega)["mass"]
    u = mass.velocity[40:, 2]  # the third root has died: u₂ = 2 Re(λ) u₁ − |λ|² u₀
    (_, square), *_ = np.linalg.lstsq(np.column_stack([u[1:-1], -u[:-2]]), u[2:], rcond=None)
    assert square ** (per_period / 2) == pytest.approx(radius(c, z) ** per_period, abs=1e-9)
    assert radius(c, z) ** per_period == pytest.approx({0.0: 1.0, 0.1: 0.9922, 0.3: 0.9861}[alpha_f], abs=1e-4)


@every_alpha
@pytest.mark.parametrize("rho_inf", [0.6, 0.8])
def test_coefficients_of_a_spectral_radius_give_its_run_to_the_last_bit(name, rho_inf):
    """Also restarts after impacts, steps of the trapezoidal rule, errors of steps: they follow the coefficients."""
    alpha_m, alpha_f = (2 * rho_inf - 1) / (rho_inf + 1), rho_inf / (rho_inf + 1)
    contacts = name != "GeneralizedAlpha"
    runs = []
    for options in ({"rho_inf": rho_inf}, {"alpha_m": alpha_m, "alpha_f": alpha_f}):
        method = STEPPERS[name](**options, step_control=None if contacts else fem.StepControl(tolerance=1e-5))
        model = bouncing_pendulum() if contacts else double_pendulum.build()
        runs.append(method.run(model, 0.5, 5e-3))
    one, other = (np.concatenate([run.energy.total, run.h]) for run in runs)
    assert one.tobytes() == other.tobytes()


@pytest.mark.parametrize("options, order", [({"alpha_f": 0.1}, 2), ({"alpha_m": -0.2}, 2), ({"gamma": 0.6}, 1)])
def test_joints_keep_the_order_of_the_coefficients(options, order):
    errors = []
    for h in (5e-3, 2.5e-3):
        result = fem.GeneralizedAlpha(**options, rtol=TIGHT).run(double_pendulum.build(), 0.5, h)
        errors.append(pendulum_errors(result, free_motion(), NODES["com"])[0][:3])
    assert np.log2(np.divide(*errors)) == pytest.approx(order, abs=0.05)


@pytest.mark.parametrize("options", [{"gamma": 0.6}, {"alpha_f": 0.1}, {"gamma": 0.7, "alpha_f": 0.1}], ids=str)
def test_the_estimate_of_a_step_is_its_error_in_position_and_that_of_velocity_on_its_path(options):
    """A mass with the acceleration j t, which the memory of the method follows without error after some steps."""
    h, jerk, steps = 0.01, 3.0, 40
    model = fem.Model("pushed", gravity=[0, 0, 0])
    mass = model.add(fem.PointMass(1.0, name="mass"))
    model.add(fem.PointForce(mass, lambda t: [jerk * t, 0.0, 0.0], name="push"))
    method = fem.GeneralizedAlpha(**options, rtol=1e-13)
    moved = method.run(model, steps * h, h)["mass"]
    (x0, x), (v0, v), t = moved.position[-2:, 0], moved.velocity[-2:, 0], (steps - 1) * h
    position = x - x0 - h * v0 - 0.5 * h * h * jerk * t - jerk * h**3 / 6
    velocity = v - v0 - h * jerk * t - 0.5 * jerk * h * h
    engine = method.prepare(model.compile(), h)
    change = np.zeros((len(engine.system.nodes), 6))
    change[-1, 0] = jerk * h
    assert method.local_error(engine, h, change) == pytest.approx(abs(position) + h * abs(velocity), rel=1e-6)
    assert abs(velocity) < 1e-14 or method.order == 1
