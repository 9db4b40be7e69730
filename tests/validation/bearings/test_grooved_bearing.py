"""Rigid balls between grooved races in three dimensions: play, loads, speeds, energy, against closed forms."""

import numpy as np
import pytest
from every_stepper import every_method_with_contacts

import fem_mbs as fem
from fem_mbs.rotations import exp

GEOMETRY = fem.BearingGeometry.from_designation("6205", clearance=20e-6)
DISTANCE = GEOMETRY.groove_distance
CLEARANCE = 0.5 * GEOMETRY.clearance
ANGLE = np.arccos(1 - CLEARANCE / DISTANCE)  # 12.9°
PLAY = np.sqrt(4 * DISTANCE * GEOMETRY.clearance - GEOMETRY.clearance**2)
STIFF = fem.DecoupledNSGA(rho_inf=0.0)


def build(geometry=GEOMETRY, turned=None, mass=0.5, gravity=(0, 0, 0), fixed=(), force=(0, 0, 0), torque=(0, 0, 0),
          position=(0, 0, 0), velocity=(0, 0, 0), spin=(0, 0, 0), stiffness=1e5, **options):  # fmt: skip
    """A shaft in a bearing whose outer race is at rest, all of it turned by a rotation vector."""
    R = np.eye(3) if turned is None else exp(np.array(turned))
    model = fem.Model("bearing", gravity=R @ gravity)
    shaft = model.add(
        fem.RigidBody(mass, [2e-4, 2e-4, 1e-4], position=R @ position, rotation=R, velocity=R @ velocity,
                      angular_velocity=R @ spin, fixed=fixed, name="shaft"))  # fmt: skip
    model.add(fem.PointForce(shaft, R @ force), fem.PointMoment(shaft, R @ torque))
    bearing = fem.ball_bearing(
        model.ground.frame(rotation=R), shaft, geometry, level="rigid", grooves=True, cage_stiffness=stiffness,
        name="front", **options,
    )  # fmt: skip
    model.add(bearing)
    return model, bearing


def of_contacts(result, bearing, quantity):
    """(Z, 2): of the inner and of the outer race, at the end."""
    names = [(f"front inner {j}", f"front outer {j}") for j in range(bearing.balls)]
    return np.array([[getattr(result[name], quantity)[-1] for name in pair] for pair in names])


@pytest.mark.parametrize("side", [1.0, -1.0])
def test_a_thrust_takes_up_the_axial_play_and_is_carried_at_the_free_contact_angle(side):
    model, bearing = build(force=[0, 0, 20.0 * side])
    result = STIFF.run(model, t_end=0.02, h=1e-4)
    assert result["shaft"].position[-1] == pytest.approx([0, 0, 0.5 * PLAY * side], abs=1e-12)
    force, normal = of_contacts(result, bearing, "force_normal"), of_contacts(result, bearing, "normal")
    assert force.sum(axis=0) == pytest.approx(20.0 / np.sin(ANGLE), rel=1e-4)  # normals to 1e-5, see below
    loaded = force[:, 0] > 0.1
    # along a stop the ball has room 1e-15 m deep, sqrt(1e-15/A) wide
    assert normal[loaded, 0, 2] == pytest.approx(np.sin(ANGLE) * side, abs=1e-5)
    assert normal[loaded, 1, 2] == pytest.approx(-np.sin(ANGLE) * side, abs=1e-5)


def test_unique_forces_give_all_balls_the_same_part_of_a_thrust():
    model, bearing = build(force=[0, 0, 20.0], position=[0, 0, 0.5 * PLAY], friction=0.1)
    result = STIFF.run(model, t_end=0.01, h=1e-4, save_every=100)
    unique = result.unique_forces()
    for j in range(bearing.balls):
        for race in ("inner", "outer"):
            expected = 20.0 / (bearing.balls * np.sin(ANGLE))
            assert unique[f"front {race} {j}"].force[-1, 0] == pytest.approx(expected, rel=2e-5)


def test_unique_forces_of_a_radial_load_without_clearance_are_those_of_linear_springs():
    """Stribeck's distribution with a linear law: 4/Z cos ψ of the load, where rigid statics has one or two balls."""
    geometry = fem.BearingGeometry(8, 7.938e-3, 33.5e-3, clearance=2e-12, density=1.0)  # balls without weight
    model, bearing = build(geometry, gravity=[10.0, 0, 0], mass=2.0)
    result = STIFF.run(model, t_end=0.004, h=1e-4, save_every=40)
    unique = result.unique_forces()
    psi = 2 * np.pi * np.arange(8) / 8
    expected = 20.0 * 4 / 8 * np.maximum(np.cos(psi), 0.0)
    assert of_contacts(result, bearing, "force_normal")[0] == pytest.approx(20.0, rel=1e-2)  # rigid: one ball
    for j in range(8):
        # a ball weighs 2.6e-6 N
        assert unique[f"front inner {j}"].force[-1, 0] == pytest.approx(expected[j], abs=2e-4)
        assert unique[f"front outer {j}"].force[-1, 0] == pytest.approx(expected[j], abs=2e-4)


@pytest.mark.parametrize("angle, thrust", [(0.3, 0.0), (0.3, 2.0), (0.1, 3.0)])
def test_a_combined_load_turns_the_contact_angle_of_two_balls(angle, thrust):
    """Equation (3) of the bearing: radial components of two supports, one contact angle for both."""
    model, bearing = build(force=[20.0, 0, thrust], fixed=("rx", "ry", "rz"), cage_angle=angle,
                           stiffness=1e7)  # fmt: skip
    model.add(fem.Bushing(model.ground, model.elements[0], damping=[400.0] * 3 + [0.0] * 3))
    result = STIFF.run(model, t_end=0.1, h=1e-4)
    at = np.array([result[f"front ball {j}"].position[-1] for j in range(9)])
    share = bearing.share(np.arctan2(at[:, 1], at[:, 0]))
    alpha = np.arctan2(thrust, 20.0 * share.sum())
    assert alpha < ANGLE
    force = of_contacts(result, bearing, "force_normal")
    # the race still moves with µm/s, 1e-3 N of its damper
    assert force == pytest.approx(np.repeat(20.0 * share[:, None] / np.cos(alpha), 2, axis=1), abs=5e-3)
    assert result["shaft"].position[-1, 2] == pytest.approx(DISTANCE * np.sin(alpha), abs=1e-7)


def test_elastic_balls_of_rising_stiffness_come_to_carry_what_rigid_ones_carry():
    """With steel four balls share 2 kN and the thrust; from 100 times its stiffness on two, as between rigid races."""
    load, angle = np.array([2000.0, 0.0, 200.0]), 0.3
    share = build()[1].share(angle + 2 * np.pi * np.arange(9) / 9)
    rigid = 2000.0 * share / np.cos(np.arctan2(200.0, 2000.0 * share.sum()))
    errors, loaded = [], []
    for factor in (1, 10, 100, 1000):
        stiff = fem.BearingGeometry.from_designation("6205", clearance=20e-6, E=206e9 * factor)
        state = fem.bearing_equilibrium(stiff, force=load, fixed=("rx", "ry"), cage_angle=angle)
        moving = dynamic(stiff, load, angle, state.displacement[:3])
        assert moving == pytest.approx(state.load_inner, abs=2e-3 * 2000.0)
        errors.append(np.abs(moving - rigid).max() / 2000.0)
        loaded.append(int((moving > 1.0).sum()))
    assert loaded[0] >= 4 and loaded[2:] == [2, 2], loaded
    assert errors[0] > 0.05 and errors[1] < errors[0] and max(errors[2:]) < 1e-4, errors


def dynamic(geometry, load, angle, position):
    """Loads (Z,) of a `DynamicBearing` at rest."""
    model = fem.Model("elastic")
    shaft = model.add(fem.RigidBody(0.5, 1e-4, position=position, fixed=("rx", "ry", "rz"), name="shaft"))
    model.add(fem.PointForce(shaft, load))
    bearing = model.add(fem.ball_bearing(model.ground, shaft, geometry, cage_angle=angle, name="front"))
    return fem.BearingHistory(STIFF.run(model, t_end=0.01, h=1e-4), bearing).load_inner[-1]


def free_tilt(bearing, psi):
    """Largest tilt [rad] about x with room for balls at ψ, by search over the displacements y, z of the race.

    In the plane of each ball the groove centres are at most A apart.
    """
    G = bearing.grooves

    def room(theta):
        a, b = np.array([1.0, 0, 0]), np.array([0.0, np.cos(theta), np.sin(theta)])
        lines = []
        for angle in psi:
            out, across = np.array([np.cos(angle), np.sin(angle), 0]), np.array([-np.sin(angle), np.cos(angle), 0])
            phi = angle + np.linspace(-1e-4, 1e-4, 2001)
            points = G.circle_inner * (np.cos(phi)[:, None] * a + np.sin(phi)[:, None] * b)
            lines.append(points[np.abs(points @ across).argmin()] - G.circle_outer * out)
        radial = np.array([line @ [np.cos(angle), np.sin(angle), 0] for line, angle in zip(lines, psi)])
        axial, at, width = np.array(lines)[:, 2], np.zeros(2), np.array([4e-5, 4e-4])
        for _ in range(6):
            y, z = (np.linspace(m - w, m + w, 41) for m, w in zip(at, width))
            y, z = (grid.ravel() for grid in np.meshgrid(y, z))
            d = np.hypot(radial[:, None] + np.sin(psi)[:, None] * y, axial[:, None] + z).max(axis=0)
            at, width = np.array([y[d.argmin()], z[d.argmin()]]), width / 8
        return G.groove_distance - d.min()

    low, high = 0.0, 0.05
    for _ in range(24):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if room(middle) >= 0 else (low, middle)
    return low


@pytest.mark.parametrize("balls, angle, fixed", [(4, 0.0, ("x", "y", "z")), (4, 0.0, ("x",)), (3, np.pi / 2, ("x",))])
def test_the_inner_race_tilts_until_its_grooves_leave_no_room(balls, angle, fixed):
    """Four balls: law of cosines for those across the axis of tilt. Three: largest tilt over its displacements."""
    geometry = fem.BearingGeometry(balls, 7.938e-3, 33.5e-3, clearance=20e-6)
    model, bearing = build(geometry, torque=[0.02, 0, 0], fixed=(*fixed, "ry", "rz"), cage_angle=angle)
    model.add(fem.Bushing(model.ground, model.elements[0], damping=[100.0] * 3 + [0.01] * 3))
    result = STIFF.run(model, t_end=0.04, h=1e-4)
    R = result["shaft"].rotation[-1]
    tilt = np.arctan2(R[2, 1], R[1, 1])
    if balls == 4:
        G = bearing.grooves
        cosine = (G.circle_inner**2 + G.circle_outer**2 - DISTANCE**2) / (2 * G.circle_inner * G.circle_outer)
        assert tilt == pytest.approx(np.arccos(cosine), rel=2e-5)  # balls still swing across
    else:
        assert tilt == pytest.approx(free_tilt(bearing, angle + 2 * np.pi * np.arange(balls) / balls), rel=2e-3)


def test_the_cage_turns_with_the_speed_of_the_contact_angle():
    model, bearing = build(force=[0, 0, 50.0], position=[0, 0, 0.5 * PLAY], spin=[0, 0, 100.0], friction=0.1)
    model.add(fem.RevoluteDriver.at(model.ground, model.elements[0], position=[0, 0, 0], axis=[0, 0, 1.0],
                                    angle=lambda t: 100.0 * t))  # fmt: skip
    result = STIFF.run(model, t_end=0.05, h=1e-4)
    at = result["front ball 0"].position
    psi = np.unwrap(np.arctan2(at[:, 1], at[:, 0]))
    ratio = (psi[-1] - psi[0]) / result.t[-1] / 100.0
    expected = 0.5 * (1 - GEOMETRY.ball_diameter * np.cos(ANGLE) / GEOMETRY.pitch_diameter)
    assert ratio == pytest.approx(expected, rel=1e-7)
    assert abs(expected - 0.5 * (1 - GEOMETRY.ball_diameter / GEOMETRY.pitch_diameter)) > 2e-3  # not that of 0°
    assert bearing.speed_ratio == pytest.approx(expected, rel=1e-12)


SHAKEN = {"velocity": [0.05, -0.02, 0.08], "spin": [1.0, 2.0, 50.0], "friction": 0.2}


def shake(method, restitution, t_end=2e-3, h=2e-5):
    """Changes of energy per step over the energy at the start, and the smallest gap [m]."""
    model, bearing = build(**SHAKEN, restitution=restitution)
    result = method.run(model, t_end=t_end, h=h)
    gaps = [result[f"front {race} {j}"].gap for race in ("inner", "outer") for j in range(bearing.balls)]
    return np.diff(result.energy.total) / result.energy.total[0], np.min(gaps)


@every_method_with_contacts
def test_inelastic_impacts_never_give_energy_and_the_race_stays_in_its_play(method):
    change, gap = shake(method, 0.0)
    assert change.max() < 1e-8  # measured 3e-9, of the springs of the cage
    assert change.sum() < -0.02  # 2.2 %: the motion within the play
    assert gap > -2e-6  # methods at velocity level: 0.1 m/s over a step


def never_giving_energy():
    """Methods whose impacts with restitution and friction take energy in each step; others may follow several impacts
    of one step, for which the energy rises by up to 3e-4 here."""
    moreau = {"theta": 1.0, "projection": True}
    return [STIFF, fem.DecoupledNSGA(impacts="split"), fem.MoreauJean(**moreau), fem.ConeComplementarity()]


@pytest.mark.parametrize("method", never_giving_energy(), ids=repr)
def test_impacts_with_restitution_below_one_never_give_energy(method):
    change, gap = shake(method, 0.5, t_end=5e-3)
    assert change.max() < 1e-8
    assert change.sum() < -0.01
    assert gap > -1e-7


@every_method_with_contacts
def test_every_method_takes_energy_over_a_run_of_impacts_with_restitution(method):
    change, gap = shake(method, 0.5)
    assert change.sum() < -0.015
    assert gap > -4e-6


def test_a_bearing_about_another_axis_moves_alike():
    turned = np.array([0.7, -0.4, 1.1])
    R, here, there = exp(turned), *(
        STIFF.run(build(turned=by, **SHAKEN, restitution=0.5)[0], t_end=1e-3, h=1e-5) for by in (None, turned)
    )  # fmt: skip
    for name in ("shaft", "front ball 0", "front ball 4"):
        assert there[name].position == pytest.approx(here[name].position @ R.T, abs=1e-10)
        assert there[name].velocity == pytest.approx(here[name].velocity @ R.T, abs=1e-6)
        spins = [np.einsum("kij,kj->ki", one[name].rotation, one[name].angular_velocity) for one in (here, there)]
        assert spins[1] == pytest.approx(spins[0] @ R.T, abs=1e-3)
