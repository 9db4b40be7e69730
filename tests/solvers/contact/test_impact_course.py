"""Impacts integrated along their normal impulse: closed forms of planar impacts, and a fine integration in space."""

import itertools

import numpy as np
import pytest
from impact_forms import GOES_ON, REVERSES, STICKS, planar
from scipy.integrate import solve_ivp
from scipy.optimize import brentq

from fem_mbs.solvers.contact.impact_course import integrate_impact
from fem_mbs.solvers.contact.law import SLIP, STICK


def integrated(W, u, mu, e, law="stronge"):
    """Impulses, velocities after the impact and status of the compiled kernel."""
    after, p = np.array(u, dtype=float), np.zeros(3)
    status = integrate_impact(np.ascontiguousarray(W, dtype=float), after, mu, e, law == "poisson", p)
    return p, after, status


def rod(angle, mass=1.0, length=2.0):
    """Inverse mass of the end of a slender rod at an angle [rad] to a floor, which it touches with that end."""
    inertia, x, y = mass * length**2 / 12, 0.5 * length * np.cos(angle), 0.5 * length * np.sin(angle)
    W = np.eye(3) / mass
    W[0, 0] += x * x / inertia
    W[1, 1] += y * y / inertia
    W[0, 1] = W[1, 0] = -x * y / inertia
    return W


# speed along the floor, friction, restitution, angle
CLASSES = {
    (GOES_ON, "restitution"): [(-2.0, 0.1, 0.5, 0.3), (3.0, 0.8, 0.9, 0.7), (-0.7, 0.3, 0.9, 0.9)],
    (STICKS, "compression"): [(0.1, 0.8, 0.9, 0.5), (-1.0, 0.6, 0.5, 1.45)],
    (STICKS, "restitution"): [(-1.6, 0.5, 0.9, 1.3), (2.0, 0.8, 0.9, 0.9)],
    (REVERSES, "compression"): [(0.1, 0.1, 0.5, 0.3), (1.0, 0.2, 0.9, 1.1)],
    (REVERSES, "restitution"): [(0.4, 0.4, 0.9, 0.3), (1.0, 0.5, 0.5, 0.9)],
}


@pytest.mark.parametrize("kind, phase", CLASSES)
def test_a_rod_that_hits_a_floor_has_the_impulses_of_the_closed_form(kind, phase):
    for speed, mu, e, angle in CLASSES[kind, phase]:
        W, u = rod(angle), np.array([-1.0, speed, 0.0])
        exact, *found = planar(W, u, mu, e)
        assert found == [kind, phase], f"{speed}, {mu}, {e}, {angle}: {found}"
        p, after, status = integrated(W, u, mu, e)
        assert p == pytest.approx(np.append(exact, 0.0), abs=1e-11)
        assert after == pytest.approx(u + W @ p, abs=1e-11)
        assert status == (STICK if kind == STICKS else SLIP)


def test_a_rod_that_hits_a_floor_has_the_impulses_of_poissons_closed_form():
    """The same impacts by Wang and Mason's formulas, in which all five classes occur."""
    found = set()
    for speed, mu, e, angle in itertools.chain(*CLASSES.values()):
        W, u = rod(angle), np.array([-1.0, speed, 0.0])
        exact, *kind = planar(W, u, mu, e, "poisson")
        found.add(tuple(kind))
        p, after, _ = integrated(W, u, mu, e, "poisson")
        assert p == pytest.approx(np.append(exact, 0.0), abs=1e-11)
        assert after == pytest.approx(u + W @ p, abs=1e-11)
    assert found == set(CLASSES)


def test_poissons_law_in_space_multiplies_the_impulse_of_compression():
    """That impulse does not depend on e, whatever slip does; at e = 0 it is compared with a fine integration below."""
    generator, checked = np.random.default_rng(6), 0
    for _ in range(100):
        W, u, mu, e = random_impact(generator)
        plastic, with_e = (integrated(W, u, mu, ratio, "poisson")[0] for ratio in (0.0, e))
        assert plastic == pytest.approx(integrated(W, u, mu, 0.0)[0], rel=1e-12)
        assert with_e[0] == pytest.approx((1.0 + e) * plastic[0], rel=1e-9)
        checked += abs(with_e[0] - integrated(W, u, mu, e)[0][0]) > 1e-3 * with_e[0]
    assert checked > 30  # impacts in which Stronge's law has another impulse


def test_a_rod_that_slides_into_a_jam_is_stopped_by_friction_and_leaves_the_floor():
    """Friction presses the rod on the floor at first: the approach grows until slip has ended."""
    W, u, mu, e = rod(1.1), np.array([-0.2, -2.0, 0.0]), 3.0, 0.5
    assert W[0, 0] + mu * W[0, 1] < 0
    exact, kind, phase = planar(W, u, mu, e)
    p, after, _ = integrated(W, u, mu, e)
    assert (kind, phase) == (STICKS, "compression")
    assert p == pytest.approx(np.append(exact, 0.0), abs=1e-11)
    assert after[0] > e * 0.2  # more than e times the approach: compression took work of friction


@pytest.mark.parametrize("spin, sticks", [(20.0, True), (80.0, False)])
def test_a_sphere_has_the_impulses_of_newtons_law(spin, sticks):
    """Normal and tangential motion are not coupled; slip ends after -mu p = 2/7 m u_T, or not."""
    m, R, mu, e, fall = 2.0, 0.1, 0.3, 0.6, 3.0
    W, slip = np.diag([1 / m, 3.5 / m, 3.5 / m]), R * spin * np.array([0.6, 0.8])
    p, after, status = integrated(W, [-fall, *slip], mu, e)
    push = (1 + e) * m * fall
    friction = 2 / 7 * m * R * spin if sticks else mu * push
    assert p == pytest.approx([push, -0.6 * friction, -0.8 * friction], abs=1e-11)
    assert status == (STICK if sticks else SLIP) and after[0] == pytest.approx(e * fall, abs=1e-12)


def random_impact(generator):
    """Inverse mass, velocities before, friction and restitution of an impact in space."""
    A = generator.normal(size=(3, 3))
    W = A @ A.T + 0.05 * np.eye(3)
    u = generator.normal(size=3)
    u[0] = -abs(u[0]) - 0.01
    return W, u, generator.uniform(0.02, 1.5), generator.uniform(0.0, 1.0)


@pytest.mark.parametrize("law", ["stronge", "poisson"])
def test_no_impact_gains_energy_and_friction_does_no_positive_work(law):
    generator = np.random.default_rng(32)
    for number in range(200):
        W, u, mu, e = random_impact(generator)
        p, after, status = integrated(W, u, mu, e, law)
        assert status in (STICK, SLIP) and after[0] >= 0 and p[0] > 0
        assert after == pytest.approx(u + W @ p, abs=1e-9)
        assert np.hypot(p[1], p[2]) <= mu * p[0] * (1 + 1e-12)
        gained = 0.5 * p @ (u + after)
        assert gained <= 1e-12 * p[0]
        if number < 20 and law == "stronge":  # work of friction: that of all less that of the normal impulse
            assert gained - fine(W, u, mu, e)[1] <= 1e-9


def fine(W, u, mu, e):
    """Impulses and work of the normal impulse by a fine integration in (u_N, log |u_T|, angle of slip).

    The variable is tau with dp = |u_T| dtau, in which slip ends after an infinite time; cut off at 1e-11.
    """

    def turned(angle):
        """Rates of u_N, |u_T| and |u_T| times that of the angle, and friction, per normal impulse."""
        along, across = np.array([np.cos(angle), np.sin(angle)]), np.array([-np.sin(angle), np.cos(angle)])
        du = W @ [1.0, *(-mu * along)]
        return du[0], du[1:] @ along, du[1:] @ across, -mu * along

    def rate(_, y):
        normal, radial, round_about, friction = turned(y[2])
        slip = np.exp(y[1])
        return np.array([slip * normal, radial, round_about, slip, *(slip * friction), slip * y[0]])

    def terminal(function, direction):
        function.terminal, function.direction = True, direction
        return function

    def integrate(y, event):
        ends = terminal(lambda _, y: y[1] + 11 * np.log(10), -1)
        done = solve_ivp(rate, (0, 1e4), y, "DOP853", events=[event, ends], rtol=1e-11, atol=1e-13)
        return done.y[:, -1], len(done.t_events[0]) > 0

    def with_constant_rates(y, normal, friction, dp):
        return np.array([y[0] + normal * dp, y[1], y[2], y[3] + dp, *(y[4:6] + friction * dp),
                         y[6] + y[0] * dp + 0.5 * normal * dp**2])  # fmt: skip

    slip = np.hypot(u[1], u[2])
    y, found = integrate(
        np.array([u[0], np.log(slip), np.arctan2(u[2], u[1]), 0, 0, 0, 0]), terminal(lambda _, y: y[0], 1)
    )
    target = (1 - e**2) * y[6] if found else None
    if found:
        y[0] = 0.0
        if e == 0.0:
            return y[3:6], y[6]
        y, found = integrate(y, terminal(lambda _, y: y[6] - target, 1))
        if found:
            return y[3:6], y[6]
    friction = -np.linalg.solve(W[1:, 1:], W[1:, 0])
    if np.hypot(*friction) > mu:
        angles = np.linspace(-np.pi, np.pi, 2001)
        sides = [turned(angle)[2] for angle in angles]
        roots = [brentq(lambda a: turned(a)[2], *angles[i : i + 2]) for i in range(2000) if sides[i] * sides[i + 1] < 0]
        (angle,) = [root for root in roots if turned(root)[1] > 0]
        friction = turned(angle)[3]
    normal = W[0] @ [1.0, *friction]
    if target is None:
        y = with_constant_rates(y, normal, friction, -y[0] / normal)
        target = (1 - e**2) * y[6]
    given = (np.sqrt(y[0] ** 2 + 2 * normal * (target - y[6])) - y[0]) / normal
    y = with_constant_rates(y, normal, friction, given)
    return y[3:6], y[6]


def test_impacts_in_space_whose_slip_turns_agree_with_a_fine_integration():
    generator = np.random.default_rng(5)
    ends = set()
    for _ in range(20):
        W, u, mu, e = random_impact(generator)
        p, _, status = integrated(W, u, mu, e)
        ends.add(status)
        assert p == pytest.approx(fine(W, u, mu, e)[0], abs=1e-7 * (1 + p[0]))
    assert ends == {STICK, SLIP}


def test_tangents_that_cannot_move_take_no_friction():
    """A mechanism in a plane: across it the contact has no motion, and its inverse mass is round-off."""
    W = rod(1.0)
    W[2, 2], W[0, 2] = 1e-15, 1e-14
    W[2, 0] = W[0, 2]
    p, _, _ = integrated(W, [-1.0, -0.2, 0.0], 0.3, 0.8)
    exact, *_ = planar(W, np.array([-1.0, -0.2, 0.0]), 0.3, 0.8)
    assert p == pytest.approx(np.append(exact, 0.0), abs=1e-11)


@pytest.mark.parametrize("restitution", [0.9, 1.0])
def test_slip_that_turns_can_drive_bodies_together_again_and_the_impact_continues(restitution):
    """Normal velocity reverses three times: restitution so far gives back 0.85 of the work of the first compression."""
    W = np.array([[1.0, 0.0312, -0.5778], [0.0312, 0.14, -0.0425], [-0.5778, -0.0425, 0.3461]])
    u = np.array([-1.0, -0.504, 0.5476])
    p, after, status = integrated(W, u, 2.221838078356305, restitution)
    assert status in (STICK, SLIP) and after[0] > 0.0
    assert after == pytest.approx(u + W @ p, abs=1e-9)
    assert 0.5 * p @ (u + after) < 0.0
