"""Contact groups against closed forms that nothing was tuned on: thresholds, impacts, rolling on moving bodies."""

import numpy as np
import pytest
from in_turn import in_turn
from scipy.optimize import brentq
from scipy.spatial.transform import Rotation

import fem_mbs as fem

G = 9.81
METHODS = {
    "nsga": fem.DecoupledNSGA,
    "moreau": fem.MoreauJean,
    "cone": lambda **options: fem.ConeComplementarity(relaxed=False, **options),
}
SIZES = (1e-3, 1.0, 100.0)  # m


def run(name, model, t_end, h, tolerance=1e-8):
    """A run by exact Gauss-Seidel iterations."""
    result = METHODS[name](contact_tolerance=tolerance).run(model, t_end, h)
    assert "contact_sweeps" in result.statistics and result.statistics["inexact_contact_problems"] == 0
    return result


def spin(result, name):
    """Angular velocity at the end [rad/s], inertial axes."""
    return result[name].rotation[-1] @ result[name].angular_velocity[-1]


@pytest.mark.parametrize(("name", "mass"), in_turn(METHODS, [1.0, 1e-5, 1e-9], once=True))
def test_a_ball_on_a_turntable_goes_in_circles(name, mass):
    """It rolls with 2/7 of the speed of the table, whatever its mass: its weight is far below the table's of 1 kg."""
    table_speed, r = 2.0, 0.1
    model = fem.Model("turntable", gravity=[0, 0, -G])
    table = model.add(fem.RigidBody(1.0, 1.0, angular_velocity=[0, 0, table_speed], name="table"))
    axis = model.ground, table, [0, 0, 0], [0, 0, 1]
    model.add(fem.Revolute.at(*axis, name="axle"))
    model.add(fem.RevoluteDriver.at(*axis, angle=lambda t: table_speed * t, name="motor"))
    x, v, up = np.array([0.5, 0.0, r]), np.array([0.1, 0.2, 0.0]), np.array([0.0, 0.0, 1.0])
    rolling = np.cross(up, v - table_speed * np.cross(up, x)) / r  # v − r ω × z is the velocity of the table
    ball = fem.RigidBody.sphere(mass, r, position=x, velocity=v, angular_velocity=rolling, name="ball")
    group = fem.ContactGroup(friction=2.0, name="contact")
    group.sphere(model.add(ball), r)
    group.obstacle(fem.SphereOnPlane, table)
    model.add(group)
    t_end, h = 2.0, 2e-3
    result = run(name, model, t_end, h)
    k = 2.0 / 7.0 * table_speed
    turn = np.array([[np.sin(k * t_end), np.cos(k * t_end) - 1], [1 - np.cos(k * t_end), np.sin(k * t_end)]]) / k
    # of first order: the circle is left by h k per unit of time
    assert result["ball"].position[-1, :2] == pytest.approx(x[:2] + turn @ v[:2], abs=h * k * t_end * 0.25)
    assert np.all(result.pair_count[1:] == 1)


def shot(r, h):
    """Two balls of different size and mass; the first flies with spin, and meets the second in a step of any part."""
    n, v, w = np.array([np.cos(0.5), np.sin(0.5), 0.0]), r * np.array([1.0, 0.2, 0.1]), np.array([1.0, -2.0, 1.5])
    model = fem.Model("shot", gravity=[0, 0, 0])
    group = fem.ContactGroup(friction=0.1, restitution=0.7, name="balls")
    start = -20.3 * h * v
    motion = {"velocity": v, "angular_velocity": w}
    group.sphere(model.add(fem.RigidBody.sphere(1.0, r, position=start, name="first", **motion)), r)
    group.sphere(model.add(fem.RigidBody.sphere(3.375, 1.5 * r, position=2.5 * r * n, name="second")), 1.5 * r)
    model.add(group)
    return model, n, v, w


@pytest.mark.parametrize("h", [1e-3, 1e-4, 1e-5, 2e-6])
@pytest.mark.parametrize("r", SIZES)
@pytest.mark.parametrize("name", ["moreau", "cone"])
def test_balls_rebound_whatever_part_of_the_band_a_step_is(name, r, h):
    """Newton's and Coulomb's laws in closed form; the band of closed contacts is 2e-5 r, the way in a step h r."""
    model, n, v, w = shot(r, h)
    result = run(name, model, 60 * h, h, 1e-10)
    masses, across = np.array([1.0, 3.375]), v + np.cross(w, r * n)
    across -= across @ n * n
    normal = (1 + 0.7) * v @ n / (1 / masses).sum()
    stick = across / (3.5 * (1 / masses).sum())
    push = normal * n + stick * min(1.0, 0.1 * normal / np.linalg.norm(stick))
    assert 0.1 * normal < np.linalg.norm(stick)  # it slides
    # normals of first contact are off by the remainder of the last step, and by the band
    close = 3 * (h + 2e-5)
    assert result["first"].velocity[-1] / r == pytest.approx((v - push) / r, abs=close)
    assert result["second"].velocity[-1] / r == pytest.approx(push / masses[1] / r, abs=close)
    assert spin(result, "first") == pytest.approx(w - np.cross(n, push) / (0.4 * r), abs=3 * close)


@pytest.mark.parametrize("e", [0.5, 1.0])
@pytest.mark.parametrize("name", ["moreau", "cone"])
def test_a_cradle_shares_an_impact_by_newton_s_law_at_all_contacts(name, e):
    """(n − 1) contacts with u⁺ ≥ −e u⁻: all but the first ball go on together. 100 steps to the very touch."""
    n, r, h = 5, 0.05, 1e-4
    model, group = fem.Model("cradle", gravity=[0, 0, 0]), fem.ContactGroup(restitution=e, name="balls")
    for k in range(n):
        place, speed = 2 * r * k - (0.01 if k == 0 else 0.0), 1.0 if k == 0 else 0.0
        ball = fem.RigidBody.sphere(1.0, r, position=[place, 0, 0], velocity=[speed, 0, 0], name=f"ball {k}")
        group.sphere(model.add(ball), r)
    model.add(group)
    result = run(name, model, 0.02, h, 1e-10)
    after = [result[f"ball {k}"].velocity[-1, 0] for k in range(n)]
    assert after == pytest.approx([(1 - (n - 1) * e) / n] + [(1 + e) / n] * (n - 1), abs=1e-8)


def pile_of_three(s, between, floor):
    """Two rods on a floor that touch, and one on both."""
    r, length = 0.1 * s, s
    laws = {("rod", "rod"): {"friction": between}, ("rod", "floor"): {"friction": floor}}
    model, group = fem.Model("pile", gravity=[0, 0, -G]), fem.ContactGroup(materials=laws, name="rods")
    for k, (x, z) in enumerate(((-r, r), (r, r), (0.0, r + np.sqrt(3) * r))):
        rod = model.add(fem.RigidBody.capsule(1.0, r, length, axis=[0, 1, 0], position=[x, 0, z], name=f"rod {k}"))
        group.capsule(rod, r, length, axis=[0, 1, 0], material="rod")
    group.obstacle(fem.SphereOnPlane, model.ground, material="floor")
    model.add(group)
    return model


@pytest.mark.parametrize(("name", "s"), in_turn(METHODS, SIZES, once=True))
def test_three_rods_stand_from_tan_15_between_them_and_a_third_of_it_on_the_floor(name, s):
    limit = np.tan(np.pi / 12)
    for between, floor, stands in ((1.02, 1.03, True), (0.98, 5.0, False), (2.0, 0.97, False)):
        result = run(name, pile_of_three(s, between * limit, floor * limit / 3), np.sqrt(s), 2e-3 * np.sqrt(s), 1e-7)
        sunk = (result["rod 2"].position[0, 2] - result["rod 2"].position[-1, 2]) / (0.1 * s)
        assert (sunk < 1e-3) == stands, (between, floor, sunk)


def leaning(s, mu, part):
    """A rod that leans on a wall, at a part of the angle at which it slips: all friction used up at both ends."""
    r, length = 0.02 * s, s
    wall = mu / (1 + mu**2)  # over the weight; the floor has 1/(1 + μ²)

    def moment(a):  # about the lower contact
        reach, rise = r + length * np.cos(a), r + length * np.sin(a)
        return 0.5 * length * np.cos(a) - wall * rise - mu * wall * reach

    a = part * brentq(moment, 0.1, 1.5)
    middle = [r + 0.5 * length * np.cos(a), 0, r + 0.5 * length * np.sin(a)]
    model, group = fem.Model("ladder", gravity=[0, 0, -G]), fem.ContactGroup(friction=mu, name="contact")
    body = fem.RigidBody.capsule(1.0, r, length, axis=[1, 0, 0], position=middle, rotation=[0, a, 0], name="rod")
    group.capsule(model.add(body), r, length, axis=[1, 0, 0])
    group.obstacle(fem.SphereOnPlane, model.ground)
    group.obstacle(fem.SphereOnPlane, model.ground.frame(rotation=[0, 0.5 * np.pi, 0]))
    model.add(group)
    return model


@pytest.mark.parametrize(("name", "s"), in_turn(METHODS, SIZES, once=True, start=1))
def test_a_ladder_slips_below_its_angle(name, s):
    for part, stands in ((1.01, True), (0.98, False)):
        place = run(name, leaning(s, 0.4, part), 0.5 * np.sqrt(s), 1e-3 * np.sqrt(s))["rod"].position
        moved = np.linalg.norm(place[-1] - place[0]) / s
        assert (moved < 1e-6) if stands else (moved > 1e-3), (part, moved)


@pytest.mark.parametrize("s", SIZES)
@pytest.mark.parametrize("name", METHODS)
def test_a_box_on_a_slope_stands_slides_or_tips(name, s):
    """Tips from tan α = (b − 2ρ)/h on, slides from μ on; at rest or with g (sin α − μ cos α)."""
    size, rounding, t_end = s * np.array([0.4, 0.5, 1.0]), 0.02 * s, 0.3 * np.sqrt(s)
    limit = np.arctan((size[0] - 2 * rounding) / size[2])
    for slope, mu, way in ((0.99, 0.8, "stands"), (1.03, 0.8, "tips"), (0.99, 0.3, "slides")):
        R = Rotation.from_rotvec([0, slope * limit, 0]).as_matrix()
        model, group = fem.Model("slope", gravity=[0, 0, -G]), fem.ContactGroup(friction=mu, name="contact")
        box = fem.RigidBody.box(1.0, size, position=0.5 * size[2] * R[:, 2], rotation=R, name="box")
        group.box(model.add(box), size, rounding)
        group.obstacle(fem.SphereOnPlane, model.ground.frame(rotation=R))
        model.add(group)
        result = run(name, model, t_end, 2e-3 * np.sqrt(s))
        speed, turn = result["box"].velocity[-1] @ R[:, 0] / (G * t_end), spin(result, "box")[1] * s / (G * t_end)
        a = slope * limit
        if way == "tips":  # θ̈ = a₀ + p² θ while θ is small; the corner rolls on its rounding
            arm = np.array([0.5 * size[0] - rounding, 0.5 * size[2]])
            inertia = (size[0] ** 2 + size[2] ** 2) / 12 + arm @ arm
            first = s * (np.sin(a) * arm[1] - np.cos(a) * arm[0]) / inertia
            growth = G * (np.cos(a) * (arm[1] - rounding) + np.sin(a) * arm[0]) / inertia
            part = np.sqrt(growth) * t_end
            assert turn == pytest.approx(first * np.sinh(part) / part, rel=2e-3)
        else:
            assert speed == pytest.approx(np.sin(a) - mu * np.cos(a) if way == "slides" else 0.0, abs=1e-9)
            assert turn == pytest.approx(0.0, abs=1e-9)


@pytest.mark.parametrize("name", METHODS)
def test_a_hollow_of_a_millimetre_holds_a_ball(name):
    """A ball that slides round in a hollow loses ½ (v/a)² h of its speed per time: steps are straight."""
    outer, r, speed, h, t_end = 1e-3, 1e-4, 0.2, 2e-5, 0.02
    model, group = fem.Model("tube", gravity=[0, 0, 0]), fem.ContactGroup(name="tube")
    ball = fem.RigidBody.sphere(1e-9, r, position=[outer - r, 0, 0], velocity=[0, speed, 0], name="ball")
    group.sphere(model.add(ball), r)
    group.obstacle(fem.SphereInCylinder, model.ground, radius_cylinder=outer)
    model.add(group)
    left = np.linalg.norm(run(name, model, t_end, h)["ball"].velocity[-1])
    # v̇ = −½ (v/a)² h v
    assert left == pytest.approx(speed / np.sqrt(1 + (speed / (outer - r)) ** 2 * h * t_end), rel=2e-3)
