"""Lobatto IIIA-IIIB: orders, invariants and impacts against independent motions and the figures of a prototype.

Errors are the largest over all components and times. The prototype is that of docs/theory/lobatto.md.
"""

from functools import cache

import double_pendulum
import driven_double_pendulum
import heavy_top
import loaded_ball
import numpy as np
import pytest
import references
from references import rotation_error

import fem_mbs as fem
from fem_mbs.rotations import skew
from fem_mbs.solvers.lobatto.stability import largest_frequency, stability_limit, stability_matrix
from fem_mbs.solvers.lobatto.tableau import MOST_STAGES, tableau

TIGHT = 1e-12  # rtol: the error of the iterations is far below that of the time discretisation
TIMES = np.linspace(0.0, 0.5, 11)
NODES = {
    "com": (double_pendulum.center_1, double_pendulum.center_2),
    "off": (driven_double_pendulum.node_1, driven_double_pendulum.node_2),
}
top_inertia, top_spin = np.array([1.0, 2.0, 3.5]), np.array([1.5, 0.3, -1.2])


def lobatto(stages):
    return fem.LobattoIIIAB(stages, rtol=TIGHT)


def at(times, h):
    return np.round(times / h).astype(int)


def free_top():
    model = fem.Model("free top", gravity=[0, 0, 0])
    model.add(fem.RigidBody(1.0, top_inertia, angular_velocity=top_spin, name="top", allow_nonphysical=True))
    return model


@cache
def free_top_motion():
    def rate(_, y):
        R, w = y[:9].reshape(3, 3), y[9:]
        return np.concatenate([(R @ skew(w)).ravel(), -np.cross(w, top_inertia * w) / top_inertia])

    return references.integrate(rate, [*np.eye(3).ravel(), *top_spin], np.linspace(0, 2, 21))


@cache
def pendulum_motion():
    return references.double_pendulum_motion(TIMES)


@cache
def driven_motion():
    return references.driven_pendulum_motion(TIMES, driven_double_pendulum.amplitude, driven_double_pendulum.frequency)


@cache
def ball_motion(slides, **resistances):
    return loaded_ball.motion(np.linspace(0, 0.4, 6), slides, **resistances)


def top_errors(stages, h):
    body = lobatto(stages).run(free_top(), 2.0, h)["top"]
    y, k = free_top_motion(), at(np.linspace(0, 2, 21), h)
    rotation = rotation_error(body.rotation[k], y[:, :9].reshape(-1, 3, 3))
    return [rotation, np.abs(body.angular_velocity[k] - y[:, 9:]).max()]


def heavy_top_errors(stages, h):
    node = heavy_top.arm
    _, R, w, force = references.heavy_top_motion(heavy_top.SLOW, TIMES)
    result = lobatto(stages).run(heavy_top.build(heavy_top.SLOW, node), TIMES[-1], h)
    body, k = result["top"], at(TIMES, h)
    return [
        np.abs(body.position[k] - R @ node).max(),
        rotation_error(body.rotation[k], R),
        np.abs(body.angular_velocity[k] - w).max(),
        np.abs(result["tip"].force[k] - force).max(),
    ]


def pendulum_errors(result, motion, nodes, h):
    """Positions, rotations, velocities, joint forces and moments."""
    k, x, R, v = at(TIMES, h), [], [], []
    for name, node in zip(("body 1", "body 2"), nodes):
        second = name == "body 2"
        rotation = np.array([p.R2 if second else p.R1 for p in motion])
        origin = np.array([p.p2 if second else 0 * p.p2 for p in motion])
        w1, w = np.array([p.w1 for p in motion]), np.array([p.w2 if second else p.w1 for p in motion])
        velocity = np.cross(w1, origin) + np.cross(w, rotation @ node)
        body = result[name]
        x.append(np.abs(body.position[k] - origin - rotation @ node).max())
        R.append(rotation_error(body.rotation[k], rotation))
        v.append(np.abs(body.velocity[k] - velocity).max())
    joints = [getattr(result[joint], effort)[k] for joint in ("joint 1", "joint 2") for effort in ("force", "moment")]
    if "driver" in result.names:  # the drive adds its moment to that of the hinge
        joints[1] = joints[1] + result["driver"].moment[k, None] * double_pendulum.axis_1
    efforts = np.abs(np.hstack(joints) - [p.efforts() for p in motion]).max()
    return [max(x), max(R), max(v), efforts]


def free_pendulum_errors(stages, h, node="com"):
    result = lobatto(stages).run(double_pendulum.build(*NODES[node]), TIMES[-1], h)
    assert result.violation.position.max() < 3e-13 and result.violation.velocity.max() < 1e-12
    return pendulum_errors(result, pendulum_motion(), NODES[node], h)


def off_centre_errors(stages, h):
    return free_pendulum_errors(stages, h, "off")


def driven_errors(stages, h):
    motion, moment = driven_motion()
    result = lobatto(stages).run(driven_double_pendulum.build(), TIMES[-1], h)
    drive = np.abs(result["driver"].moment[at(TIMES, h)] - moment).max()
    return [*pendulum_errors(result, motion, NODES["off"], h), drive]


def ball_errors(stages, h, slides):
    """Positions, rotations, velocities of the loaded ball that rolls or slides."""
    x, R, v, _ = ball_motion(slides)
    result = lobatto(stages).run(loaded_ball.loaded_ball(slides), 0.4, h)
    body, k = result["ball"], at(np.linspace(0, 0.4, 6), h)
    assert result.statistics["repeated_steps"] == 0 and result["table"].gap.min() > -2e-13
    return [
        np.abs(body.position[k] - x).max(),
        rotation_error(body.rotation[k], R),
        np.abs(body.velocity[k] - v).max(),
    ]


RESISTED = {  # slides or rolls, resistances of the motion and of the contact
    "rolling": (False, {"rolling": 0.02}, {"rolling_resistance": 0.02}),
    "spinning": (False, {"spinning": 0.02}, {"spinning_resistance": 0.02}),
    "all of them": (
        True, {"rolling": 0.02, "spinning": 0.01}, {"rolling_resistance": 0.02, "spinning_resistance": 0.01}
    ),
    "drilling": (True, {"disc": 0.1}, {"radius_contensou": 0.1}),
    "drilling and rolling": (
        True, {"disc": 0.1, "rolling": 0.02}, {"radius_contensou": 0.1, "rolling_resistance": 0.02}
    ),
}  # fmt: skip


def resisted_errors(which, stages, h):
    """Positions, rotations, velocities of the loaded ball whose contact has other resistances too."""
    slides, of_motion, of_contact = RESISTED[which]
    x, R, v, _ = ball_motion(slides, **of_motion)
    result = lobatto(stages).run(loaded_ball.loaded_ball(slides, **of_contact), 0.4, h)
    body, k = result["ball"], at(np.linspace(0, 0.4, 6), h)
    assert result.statistics["repeated_steps"] == 0 and result.iterations.velocity.max() <= 3
    return np.array([np.abs(body.position[k] - x).max(), rotation_error(body.rotation[k], R),
                     np.abs(body.velocity[k] - v).max()])  # fmt: skip


def rolling_errors(stages, h):
    return ball_errors(stages, h, False)


def sliding_errors(stages, h):
    return ball_errors(stages, h, True)


# --- coefficients ------------------------------------------------------------


@pytest.mark.parametrize("stages", range(2, MOST_STAGES + 1))
def test_coefficients_integrate_polynomials_and_are_symplectic(stages):
    a, a_hat, b, c, averages = tableau(stages)
    for k in range(2 * stages - 2):
        assert b @ c**k == pytest.approx(1 / (k + 1), abs=1e-15)
    for matrix, order in ((a, stages), (a_hat, stages - 2)):  # C(s) of IIIA, C(s − 2) of IIIB
        for k in range(order):
            assert matrix @ c**k == pytest.approx(c ** (k + 1) / (k + 1), abs=1e-15)
    for matrix, order in ((a, stages - 2), (a_hat, stages)):  # D(s − 2) of IIIA, D(s) of IIIB
        for k in range(order):
            assert (b * c**k) @ matrix == pytest.approx(b * (1 - c ** (k + 1)) / (k + 1), abs=1e-15)
    assert np.abs(b[:, None] * a_hat + (b[:, None] * a).T - np.outer(b, b)).max() < 1e-16
    assert not a[0].any() and not a_hat[:, -1].any() and np.array_equal(a[-1], b)
    # averages weigh rates with all polynomials up to degree s − 2: the last of them are orthogonal to those before
    for k in range(stages - 1):
        assert averages[k, :] @ c**k > 0.0 and averages[k, :] @ np.vander(c, k) == pytest.approx(0.0, abs=1e-15)


def test_coefficients_are_those_of_the_literature():
    """Digits of Hairer, Lubich, Wanner, II.1.4, and of Hairer, Wanner, IV.5 (five stages, 2-4 also in the source)."""
    r5, r21 = np.sqrt(5), np.sqrt(21)
    known = {
        2: [[0, 0], [1 / 2, 1 / 2]],
        3: [[0, 0, 0], [5 / 24, 1 / 3, -1 / 24], [1 / 6, 2 / 3, 1 / 6]],
        4: [
            [0, 0, 0, 0],
            [(11 + r5) / 120, (25 - r5) / 120, (25 - 13 * r5) / 120, (-1 + r5) / 120],
            [(11 - r5) / 120, (25 + 13 * r5) / 120, (25 + r5) / 120, (-1 - r5) / 120],
            [1 / 12, 5 / 12, 5 / 12, 1 / 12],
        ],
        5: [
            [0, 0, 0, 0, 0],
            [(119 + 3 * r21) / 1960, (343 - 9 * r21) / 2520, (392 - 96 * r21) / 2205, (343 - 69 * r21) / 2520,
             (-21 + 3 * r21) / 1960],
            [13 / 320, (392 + 105 * r21) / 2880, 8 / 45, (392 - 105 * r21) / 2880, 3 / 320],
            [(119 - 3 * r21) / 1960, (343 + 69 * r21) / 2520, (392 + 96 * r21) / 2205, (343 + 9 * r21) / 2520,
             (-21 - 3 * r21) / 1960],
            [1 / 20, 49 / 180, 16 / 45, 49 / 180, 1 / 20],
        ],
    }  # fmt: skip
    nodes = {2: [0, 1], 3: [0, 1 / 2, 1], 4: [0, (5 - r5) / 10, (5 + r5) / 10, 1],
             5: [0, 1 / 2 - r21 / 14, 1 / 2, 1 / 2 + r21 / 14, 1]}  # fmt: skip
    for stages, a in known.items():
        assert np.abs(tableau(stages).a - a).max() < 2e-16 and np.abs(tableau(stages).c - nodes[stages]).max() < 2e-16


@pytest.mark.parametrize(
    "stages, message",
    [(1, "whole number ≥ 2"), (2.5, "whole number ≥ 2"), (12, "stages are more than 11, .* is round-off.* Take 11")],
)
def test_other_numbers_of_stages_are_rejected_with_the_reason(stages, message):
    with pytest.raises(fem.ParameterError, match=rf"LobattoIIIAB: stages = {stages}.*{message}"):
        fem.LobattoIIIAB(stages)


def test_with_the_largest_number_of_stages_the_longest_stable_step_reaches_round_off():
    """The reason of the limit: one stage less still leaves an error, one more cannot gain."""

    def error(stages):
        z = stability_limit(stages)
        exact = [[np.cos(z), np.sin(z)], [-np.sin(z), np.cos(z)]]
        return np.abs(stability_matrix(stages, z) - exact).max()

    assert error(MOST_STAGES - 1) > 1e-13 and error(MOST_STAGES) < 1e-14


# --- smooth motion -----------------------------------------------------------

# errors at h of positions (where they move), rotations, velocities, joints: the digits of the prototype, to two
SMOOTH = [
    (top_errors, 0.05, {2: [4.6e-4, None], 3: [2.1e-7, None], 4: [1.9e-11, None]}),
    (heavy_top_errors, 0.0125, {
        2: [None, 7.7e-4, None, None], 3: [None, 5.0e-8, None, None], 4: [None, 2.4e-12, None, None]}),
    (free_pendulum_errors, 0.0125, {
        2: [None, 1.4e-3, None, 8.3e-2], 3: [None, 1.4e-7, None, None], 4: [None, 2.9e-11, None, None]}),
]  # fmt: skip


@pytest.mark.parametrize("errors, h, known", SMOOTH, ids=lambda p: getattr(p, "__name__", None))
def test_errors_of_smooth_motion_have_the_digits_of_the_prototype(errors, h, known):
    for stages, expected in known.items():
        for error, digits in zip(errors(stages, h), expected):
            assert digits is None or error == pytest.approx(digits, rel=0.04), stages


ORDERS = [  # largest step with four stages, number of quantities that are forces
    (top_errors, 0.1, 0), (heavy_top_errors, 0.05, 1), (free_pendulum_errors, 0.05, 1), (off_centre_errors, 0.025, 1),
    (driven_errors, 0.05, 2), (rolling_errors, 0.08, 0), (sliding_errors, 0.04, 0),
]  # fmt: skip


@pytest.mark.parametrize("stages", [2, 3, 4])
@pytest.mark.parametrize("errors, coarsest, forces", ORDERS, ids=lambda p: getattr(p, "__name__", None))
def test_the_order_is_twice_the_number_of_stages_less_two_in_all_quantities(errors, coarsest, forces, stages):
    steps = coarsest / 2.0 ** np.arange(4 - stages, 8 - stages)
    table = np.array([errors(stages, h) for h in steps])
    orders = np.log2(table[:-1] / table[1:])
    floor = np.full(table.shape[1], 1e-11)  # where round-off and the references begin
    floor[len(floor) - forces :] = 1e-9
    resolved = table[1:] > floor
    assert resolved[0].all()
    assert orders[resolved] == pytest.approx(2 * stages - 2, abs=0.3)
    finest = np.array([orders[resolved[:, i], i][-1] for i in range(table.shape[1])])
    assert finest == pytest.approx(2 * stages - 2, abs=0.1)


@pytest.mark.parametrize("stages", [2, 3])
@pytest.mark.parametrize("which", RESISTED)
def test_rolling_spinning_and_drilling_resistance_keep_the_order(which, stages):
    errors = np.array([resisted_errors(which, stages, h) for h in (0.01, 0.005)])
    assert np.log2(errors[0] / errors[1]) == pytest.approx(2 * stages - 2, abs=0.15)


@pytest.mark.parametrize("which", RESISTED)
def test_resistances_with_four_stages_are_as_exact_as_the_reference(which):
    assert resisted_errors(which, 4, 0.005).max() < 3e-11


def test_multipliers_of_stages_are_no_forces_but_those_reported_are():
    # in the first step as in all others: consistent with the motion at its end
    force = references.heavy_top_motion(heavy_top.SLOW, np.array([0.0, 1e-2]))[3]
    tip = lobatto(3).run(heavy_top.build(heavy_top.SLOW, heavy_top.arm), 1e-2, 1e-2)["tip"]
    assert np.abs(tip.force - force).max() < 2e-6


# without the ball that almost stops to roll on its way, at 0.2 rad/s: its moment turns too fast for these steps
SMOOTHLY = [(False, {}, {}), (True, {}, {}), *(RESISTED[name] for name in RESISTED if name != "rolling")]


@pytest.mark.parametrize("slides, of_motion, of_contact", SMOOTHLY)
@pytest.mark.parametrize("stages", [2, 3, 4])
def test_accelerations_in_closed_contact_are_of_the_order_of_the_last_multipliers(
    stages, slides, of_motion, of_contact
):
    times = np.linspace(0, 0.4, 6)[1:]  # the first is exact

    def error(h):
        body = lobatto(stages).run(loaded_ball.loaded_ball(slides, **of_contact), 0.4, h)["ball"]
        states = zip(body.rotation, body.velocity, body.angular_velocity)
        exact = np.array([loaded_ball.accelerations(*state, slides, **of_motion)[0] for state in states])
        return np.abs(body.acceleration - exact)[at(times, h)].max()

    assert np.log2(error(0.01) / error(0.005)) == pytest.approx(stages - 1, abs=0.1)


def test_order_of_a_flexible_pendulum_whose_inertia_turns_with_its_nodes():
    section = fem.Section.rectangle(0.03, 0.03, E=1e6, nu=0.3, density=1100.0)

    def ends(stages, h):
        model = fem.Model("rubber", gravity=[0, 0, -9.81])
        hinge, tip = fem.Node6([0, 0, 0], name="hinged"), fem.Node6([0.3, 0, 0], name="tip")
        model.add(fem.beam_line(hinge, tip, 2, section, name="strip"))
        model.add(fem.Revolute.at(model.ground, hinge, [0, 0, 0], axis=[0, 0.8, 0.6], name="hinge"))
        result = lobatto(stages).run(model, 0.16, h)
        assert result.iterations.position.max() <= 3
        return np.concatenate([result["tip"].position[-1], result["tip"].velocity[-1], result["hinge"].force[-1]])

    exact = ends(4, 2.5e-4)
    table = np.array([np.abs(ends(3, h) - exact).reshape(3, 3).max(axis=1) for h in (5e-4, 2.5e-4)])
    assert np.log2(table[0] / table[1]) == pytest.approx(4, abs=0.1)


# --- long runs ---------------------------------------------------------------


def mean_energy_errors(result):
    """Mean errors of the energy in the first and the last fifth of a run."""
    error, n = result.energy.total - result.energy.total[0], len(result.t) // 5
    return error[:n].mean(), error[-n:].mean()


@pytest.mark.slow
@pytest.mark.parametrize(
    "stages, h, t_end, energy, momentum", [(2, 0.1, 200.0, -3.202e-4, 1e-13), (3, 0.2, 400.0, -7.5e-7, 1e-11)]
)
def test_a_free_top_keeps_its_momentum_and_its_energy_error_does_not_grow(stages, h, t_end, energy, momentum):
    result = fem.LobattoIIIAB(stages, rtol=1e-13).run(free_top(), t_end, h)
    body = result["top"]
    spatial = np.einsum("kij,kj->ki", body.rotation, top_inertia * body.angular_velocity)
    assert np.abs(spatial - spatial[0]).max() < momentum
    first, last = mean_energy_errors(result)
    assert first == pytest.approx(energy, rel=0.02) and last == pytest.approx(energy, rel=0.01)


@pytest.mark.parametrize("stages", [2, 3])
def test_a_pair_of_bodies_on_a_hinge_in_space_keeps_its_momenta(stages):
    model = fem.Model("pair", gravity=[0, 0, 0])
    mass, inertia = np.array([2.0, 1.5]), (double_pendulum.inertia_1, double_pendulum.inertia_2)
    hinge, axis, spin = np.array([1.0, 0.1, 0.05]), double_pendulum.axis_2, np.array([0.0, 2.0, 0.5])
    centres = double_pendulum.center_1, hinge + double_pendulum.center_2
    spins = spin, spin - 3.0 * axis
    bodies = [
        fem.RigidBody(
            m, J, position=c, angular_velocity=w, velocity=np.cross(spin, hinge) + np.cross(w, c - hinge),
            allow_nonphysical=True, name=name,
        )
        for m, J, c, w, name in zip(mass, inertia, centres, spins, "AB")
    ]  # fmt: skip
    model.add(bodies)
    model.add(fem.Revolute.at(*bodies, hinge, axis, name="hinge"))
    result = lobatto(stages).run(model, 3.0, 0.02)
    linear, angular = 0.0, 0.0
    for m, J, name in zip(mass, inertia, "AB"):
        body = result[name]
        linear = linear + m * body.velocity
        own = np.einsum("kij,kj->ki", body.rotation, body.angular_velocity @ J)
        angular = angular + own + m * np.cross(body.position, body.velocity)
    assert np.abs(linear - linear[0]).max() < 1e-12
    assert np.abs(angular - angular[0]).max() < 1e-10


@pytest.mark.slow
def test_the_energy_of_a_heavy_top_does_not_drift():
    def run(stages, h, t_end):
        return mean_energy_errors(lobatto(stages).run(heavy_top.build(heavy_top.SLOW, heavy_top.arm), t_end, h))

    assert run(2, 0.02, 30.0) == pytest.approx((-0.097, -0.092), rel=0.01)
    assert run(3, 0.05, 60.0) == pytest.approx((5.6e-5, 4.4e-5), rel=0.05)


# --- the limit of stability --------------------------------------------------


def oscillator(omega=100.0):
    model = fem.Model("oscillator", gravity=[0, 0, 0])
    mass = model.add(fem.PointMass(1.0, position=[0, 0, 1], velocity=[0, 0, 1], name="mass", fixed=("x", "y")))
    ground = model.ground.frame([0, 0, -10])
    model.add(fem.Spring(ground, mass, stiffness=omega**2, free_length=11.0, name="spring"))
    return model


def test_the_largest_frequency_is_that_of_the_modes():
    section = fem.Section.rectangle(0.03, 0.02, E=1e6, nu=0.3, density=1100.0)
    model = fem.Model("rubber", gravity=[0, 0, 0])
    hinge = fem.Node6([0, 0, 0], name="hinged")
    model.add(fem.beam_line(hinge, fem.Node6([0.3, 0, 0], name="tip"), 3, section, name="strip"))
    model.add(fem.Revolute.at(model.ground, hinge, [0, 0, 0], axis=[0, 1, 0], name="hinge"))
    system = model.compile()
    exact = fem.modes(model, system.n - system.m).omega.max()
    assert 1.0 < largest_frequency(system, system.initial) / exact < 1.021


@pytest.mark.parametrize("stages, limit", [(2, 2.0), (3, 2.828), (4, 3.113)])
def test_steps_beyond_the_limit_of_stability_are_rejected_by_name_and_diverge(stages, limit):
    omega, t_end = 100.0, 60.0  # beyond the limit of four stages growth is slow
    stable = fem.LobattoIIIAB(stages, check_stability=False).run(oscillator(), t_end, 0.99 * limit / omega)
    assert np.abs(stable["mass"].velocity).max() < 50.0
    with pytest.raises(fem.ParameterError, match=rf"h = .* {limit:g}/ω = .* with {stages} stages"):  # 4 digits
        fem.LobattoIIIAB(stages).run(oscillator(), t_end, 1.01 * limit / omega)
    beyond = fem.LobattoIIIAB(stages, check_stability=False)
    try:
        blown = np.abs(beyond.run(oscillator(), t_end, 1.01 * limit / omega)["mass"].velocity).max()
    except fem.SolverError:
        blown = np.inf
    assert blown > 1e3
    fem.LobattoIIIAB(stages).run(oscillator(), 0.1, 0.97 * limit / omega)  # the estimate is 2 % high


@pytest.mark.parametrize("stages", range(2, MOST_STAGES + 1))
def test_the_limit_of_stability_is_where_eigenvalues_leave_the_unit_circle(stages):
    def radius(z):
        return np.abs(np.linalg.eigvals(stability_matrix(stages, z))).max()

    limit = stability_limit(stages)
    assert max(radius(z) for z in np.linspace(0.01, 0.9999 * limit, 200)) < 1 + 1e-12
    known = {2: 2.0, 3: 2 * np.sqrt(2)}
    assert limit == pytest.approx(known.get(stages, np.pi), rel={4: 0.01, 5: 4e-4}.get(stages, 1e-5))
    if stages <= 6:  # where growth is above the round-off of eigenvalues that meet, beyond the limit
        other = {2: 2.2, 3: 2 * np.sqrt(3), 4: np.sqrt(10), 5: 3.14246, 6: 3.141615}[stages]
        assert radius(0.5 * (limit + other)) > 1 + 1e-5


@pytest.mark.parametrize("stages", [2, 3, 4, 5, 6, MOST_STAGES])
def test_a_step_of_an_oscillator_is_the_stability_matrix(stages):
    """All that a step does is in it: tableaus, the rows of the stages, the impact problem."""
    omega, z = 100.0, 0.9 * stability_limit(stages)
    mass = fem.LobattoIIIAB(stages, rtol=1e-13).run(oscillator(omega), z / omega, z / omega)["mass"]
    q, v = mass.position[-1, 2] - 1.0, mass.velocity[-1, 2]
    assert [omega * q, v] == pytest.approx(stability_matrix(stages, z)[:, 1], abs=1e-11)
