"""Contact groups whose restitution and friction depend on a speed: closed forms, independent integrations, single
contacts, and both solvers.
"""

import numpy as np
import pytest
from grain_piles import METHODS, G, kicked, pile, swept
from in_turn import in_turn
from resumed import differences, stopped_and_resumed
from scipy.integrate import solve_ivp

import fem_mbs as fem
from fem_mbs.errors import FemMbsError, ParameterError

RESTITUTION = [(0.5, 0.9), (2.0, 0.5)]
FRICTION = [(0.1, 0.5), (0.4, 0.2), (0.8, 0.3)]
LAWS = {
    "table": dict(friction=FRICTION),
    "exponential": dict(friction=(0.6, 0.4), stribeck_speed=0.3, stribeck_exponent=1),
}
NUMBERS = dict(restitution=RESTITUTION, friction=FRICTION)
LAZY = 60  # spheres that make `DecoupledNSGA` take Gauss-Seidel iterations with restitution


def restitution(v):
    """`RESTITUTION` by numpy's interpolation."""
    return np.interp(v, *np.transpose(RESTITUTION))


def mu(law, v):
    """Coefficients of `LAWS` at sliding speeds."""
    return np.interp(v, *np.transpose(FRICTION)) if law == "table" else 0.4 + 0.2 * np.exp(-v / 0.3)


def with_shape(group, body, shape):
    """Give a body of a group a shape of half height 0.1 m."""
    if shape.endswith("box"):
        group.box(body, [0.8, 0.8, 0.2], 0.02)
    elif shape == "clump":
        for corner in np.array([[1, 1], [1, -1], [-1, 1], [-1, -1]]) * 0.3:
            group.sphere(body.frame([*corner, 0]), 0.1)
    else:
        group.sphere(body, 0.1)


def add_body(model, group, shape, **start):
    """A body of 1 kg with a shape."""
    if shape == "sphere":
        body = fem.RigidBody.sphere(1.0, 0.1, name="body", **start)
    else:
        # moments of friction hardly turn the last one: impulses of its corners are those that the iterations began with
        moment = {"box": 2.0, "clump": 2.0, "massive box": 1e4}[shape]
        body = fem.RigidBody(1.0, [moment, moment, moment], name="body", **start)
    with_shape(group, model.add(body), shape)
    return body


def add_others(model, group, count):
    """Spheres far away that nothing touches."""
    for k in range(count):
        group.sphere(model.add(fem.RigidBody.sphere(1.0, 0.1, position=[50 + k, 50, 0.5])), 0.1)


def shuttle(shape, others):
    """A body that flies without gravity between two planes."""
    model, group = fem.Model("shuttle", gravity=[0, 0, 0]), fem.ContactGroup(restitution=RESTITUTION, name="all")
    add_body(model, group, shape, position=[0, 0, 0.3], velocity=[0, 0, -3.0])
    add_others(model, group, others)
    for frame in (model.ground.frame(), model.ground.frame([0, 0, 1], [np.pi, 0, 0])):
        group.obstacle(fem.SphereOnPlane, frame)
    model.add(group)
    return model


def changes(values, error):
    """Values that follow each other in a history, apart from an error."""
    kept = [values[0]]
    for value in values[1:]:
        if abs(value - kept[-1]) > error:
            kept.append(value)
    return np.array(kept)


@pytest.mark.parametrize(
    ("name", "shape", "others"),
    in_turn(METHODS, ["sphere", "clump", "box"], [0], first="nsga")
    + in_turn(METHODS, ["sphere"], [LAZY], first="nsga"),
)
def test_each_impact_has_the_restitution_of_its_own_approach_speed(name, shape, others):
    result = METHODS[name](contact_tolerance=1e-10).run(shuttle(shape, others), 1.6, 4e-3)
    assert swept(result) == (name != "nsga" or shape == "box" or others > 0)
    speeds = changes(np.abs(result["body"].velocity[:, 2]), 1e-6)
    expected = [3.0]
    for _ in speeds[1:]:
        expected.append(restitution(expected[-1]) * expected[-1])
    assert len(speeds) > 3
    np.testing.assert_allclose(speeds, expected, rtol=1e-7)  # of the contact tolerance


def passed_on(speeds):
    """Speeds of equal balls in a row that touch, after impacts of two neighbours each, none of which is left."""
    v = np.array(speeds)
    while (np.diff(v) < -1e-9).any():
        k = int(np.argmin(np.diff(v)))
        approach, mean = v[k] - v[k + 1], 0.5 * (v[k] + v[k + 1])
        v[k], v[k + 1] = mean + 0.5 * restitution(approach) * np.array([-1, 1]) * approach
    return v


@pytest.mark.parametrize("others", [0, LAZY])
def test_impacts_that_follow_each_other_in_a_step_have_the_restitution_of_their_own_speeds(others):
    model, group = fem.Model("cradle", gravity=[0, 0, 0]), fem.ContactGroup(restitution=RESTITUTION, name="all")
    speeds = [2.5, 0.0, 0.0]
    for k, speed in enumerate(speeds):
        start = dict(position=[0.2 * k - 1e-3 * (k == 0), 0, 0], velocity=[speed, 0, 0])
        group.sphere(model.add(fem.RigidBody.sphere(1.0, 0.1, name=f"ball {k}", **start)), 0.1)
    add_others(model, group, others)
    model.add(group)
    result = fem.DecoupledNSGA(contact_tolerance=1e-9).run(model, 4e-3, 1e-3)
    assert swept(result) == (others > 0)
    after = [result[f"ball {k}"].velocity[-1, 0] for k in range(3)]
    np.testing.assert_allclose(after, passed_on(speeds), atol=1e-7)


def sliding(shape, law, tilt=0.0, speed=1.0):
    """A body that slides on a plane with a slope; x is along it."""
    model, group = fem.Model("slope", gravity=[G * np.sin(tilt), 0, -G * np.cos(tilt)]), fem.ContactGroup(**law)
    group.name = "all"
    add_body(model, group, shape, position=[0, 0, 0.1], velocity=[speed, 0, 0])
    group.obstacle(fem.SphereOnPlane, model.ground)
    model.add(group)
    return model


def slid(law, shape, end):
    """Path of such a body on a level plane."""
    turn = 2.5 if shape == "sphere" else 0.0  # r²/J of a sphere of 1 kg: the speed of its surface
    rates = lambda t, y: [y[1], -G * mu(law, y[1] - y[2]), turn * G * mu(law, y[1] - y[2])]  # noqa: E731
    return solve_ivp(rates, (0, end), [0, 1.0, 0.0], rtol=1e-11, atol=1e-13, max_step=1e-3).y[0, -1]


@pytest.mark.parametrize(
    ("name", "shape", "law"), in_turn(METHODS, ["sphere", "clump", "box"], list(LAWS), first="moreau")
)
def test_a_body_slides_by_its_law_to_first_order(name, shape, law):
    """The coefficient is that of the speed as the step begins; up to where a sphere slides, and does not roll yet."""
    if name == "relaxed":
        pytest.skip("bodies that slide float on μ u_T h, which the relaxed law is about")
    errors = []
    for h in (2e-3, 1e-3):
        result = METHODS[name](contact_tolerance=1e-8).run(sliding(shape, LAWS[law]), 0.05, h)
        assert swept(result)
        errors.append(result["body"].position[-1, 0] - slid(law, shape, 0.05))
    assert abs(errors[1]) < 2e-4 and 0.48 < errors[1] / errors[0] < 0.52, errors


def sloped(name, shape, tilt, speed, end, h):
    """Path and speed of a body with (0.6, 0.4) on a slope."""
    model = sliding(shape, dict(friction=(0.6, 0.4)), tilt, speed)
    body = METHODS[name](contact_tolerance=1e-8).run(model, end, h)["body"]
    return body.position[:, 0], body.velocity[:, 0]


@pytest.mark.parametrize(("name", "shape"), in_turn(METHODS, ["box", "massive box"], first="moreau"))
@pytest.mark.parametrize("part, moves", [(0.99, False), (1.01, True)])
def test_static_friction_holds_up_to_its_coefficient(name, shape, part, moves):
    """Some feet of a body that sticks are at their bounds: their impulses are not unique."""
    slope = np.arctan(part * 0.6)
    x, v = sloped(name, shape, slope, 0.0, 0.2, 2e-3)
    slides = G * (np.sin(slope) - 0.4 * np.cos(slope))
    if moves:  # from the first step on; the relaxed law lifts what slides
        assert v[1] == pytest.approx(slides * 2e-3, rel=1e-6 if name != "relaxed" else 0.2)
    assert v[-1] == pytest.approx(slides * 0.2, rel=0.01) if moves else x[-1] < 1e-6


@pytest.mark.parametrize("part", [0.04, 0.5])
@pytest.mark.parametrize("name", METHODS)
def test_a_sliding_body_is_held_where_it_comes_to_rest(name, part):
    """Down a slope between both coefficients: thrown up it stops after v²/(2 a), and stays there.

    ``part``: of the last step up to the rest; sliding friction alone stops it there only in the second case.
    """
    slope = np.arctan(0.5)
    slows = G * (np.sin(slope) + 0.4 * np.cos(slope))
    speed = (60 + part) * slows * 1e-3
    x, _ = sloped(name, "box", slope, -speed, 0.4, 1e-3)
    assert x[-1] == pytest.approx(-(speed**2) / (2 * slows), abs=1.1e-3 * speed)  # v h
    assert np.ptp(x[150:]) < 1e-6


class Cubic:
    """c t³/6, of which a pickle finds the class."""

    def __init__(self, c):
        self.c = c

    def __call__(self, t):
        return self.c * t**3 / 6


@pytest.mark.parametrize("shape", ["box", "clump"])
def test_a_body_on_a_belt_breaks_loose_at_static_friction(shape):
    """The acceleration c t of the belt passes μ_s g at t_1; from there on the body has μ_k g."""
    c, model, group = 30.0, fem.Model("belt", gravity=[0, 0, -G]), fem.ContactGroup(friction=(0.6, 0.4), name="all")
    add_body(model, group, shape, position=[0, 0, 0.1])
    belt = model.add(fem.RigidBody(1.0, [1, 1, 1], fixed=("y", "z", "rx", "ry", "rz"), name="belt"))
    model.add(fem.Prescribed(belt, x=fem.Signal(Cubic(c))))
    group.obstacle(fem.SphereOnPlane, belt)
    model.add(group)
    t_1 = 0.6 * G / c
    for h in (2e-3, 1e-3):
        result = fem.MoreauJean(contact_tolerance=1e-8).run(model, 0.3, h)
        assert swept(result)
        t, v = result.t, result["body"].velocity[:, 0]
        exact = np.where(t < t_1, 0.5 * c * t**2, 0.5 * c * t_1**2 + 0.4 * G * (t - t_1))
        error = np.abs(v - exact)
        assert error[t < t_1].max() < 1e-8 and error.max() < 0.2 * G * h, h  # (μ_s − μ_k) g h of the step it breaks in


@pytest.mark.parametrize("name", ["nsga", "cone"])
@pytest.mark.parametrize("shape", ["sphere", "box"])
@pytest.mark.parametrize("part, moves", [(0.99, False), (1.01, True)])
def test_a_body_on_a_cart_that_it_moves_breaks_loose_at_static_friction(name, shape, part, moves):
    """A cart of 2 kg is pulled at a part of the force 3 kg μ_s g that the body can follow."""
    model, group = fem.Model("cart", gravity=[0, 0, -G]), fem.ContactGroup(friction=(0.6, 0.4), name="all")
    start = dict(position=[0, 0, 0.1], name="body")
    # the sphere has so much inertia that it slides like the box
    body = model.add(fem.RigidBody(1.0, [1e3, 1e3, 1e3] if shape == "sphere" else [0.1, 0.1, 0.1], **start))
    with_shape(group, body, shape)
    cart = model.add(fem.RigidBody(2.0, [1, 1, 1], name="cart"))
    model.add(fem.Prismatic.at(model.ground, cart, [0, 0, 0], [1, 0, 0]))
    model.add(fem.PointForce(cart, [part * 3.0 * 0.6 * G, 0, 0]))
    group.obstacle(fem.SphereOnPlane, cart)
    model.add(group)
    result = METHODS[name](contact_tolerance=1e-9).run(model, 0.05, 1e-3)
    assert swept(result)
    a_body, a_cart = (0.4 * G, 0.5 * (part * 3.0 * 0.6 - 0.4) * G) if moves else (part * 0.6 * G,) * 2
    assert result["body"].velocity[-1, 0] == pytest.approx(a_body * 0.05, rel=1e-4)
    assert result["cart"].velocity[-1, 0] == pytest.approx(a_cart * 0.05, rel=1e-4)


def tumbling(law, grouped):
    """A box that falls on a corner and comes to rest, as a group or with single contacts of its rounded corners."""
    model = fem.Model("tumble", gravity=[0, 0, -G])
    start = dict(position=[0, 0, 0.3], rotation=[0.3, 0.4, 0.0], velocity=[0.8, 0.1, 0.0])
    body = model.add(fem.RigidBody(1.0, [6e-3, 7e-3, 8e-3], name="body", **start))
    corners = [[x, y, z] for x in (-0.1, 0.1) for y in (-0.1, 0.1) for z in (-0.05, 0.05)]
    if grouped:
        group = fem.ContactGroup(name="all", **law)
        for corner in corners:
            group.sphere(body.frame(corner), 0.02)
        group.obstacle(fem.SphereOnPlane, model.ground)
        model.add(group)
    else:
        for k, corner in enumerate(corners):
            model.add(fem.SphereOnPlane(body.frame(corner), model.ground, radius=0.02, name=f"corner {k}", **law))
    return model


@pytest.mark.parametrize("friction", list(LAWS))
def test_a_group_tumbles_as_its_single_contacts(friction):
    """Friction acts at one point of open pairs there, and at the surface of each sphere here: of first order."""
    ends = []
    for grouped in (True, False):
        result = fem.ConeComplementarity(relaxed=False).run(tumbling(LAWS[friction], grouped), 0.35, 2.5e-4)
        ends.append(result["body"].position[-1])
        assert swept(result) == grouped and ends[-1][2] < 0.1  # it has fallen
    np.testing.assert_allclose(*ends, atol=1e-3)


@pytest.mark.parametrize("law", [*LAWS, "two"])
@pytest.mark.parametrize("method", [fem.DecoupledNSGA, fem.MoreauJean, fem.ConeComplementarity])
def test_a_group_slides_to_rest_with_the_velocities_of_its_single_contacts(method, law):
    """On a slope, thrown up obliquely; it turns, and is held where static friction does."""
    coefficients, ends = LAWS.get(law, dict(friction=(0.6, 0.4))), []
    options = {"relaxed": False} if method is fem.ConeComplementarity else {}
    for grouped in (True, False):
        more = {"contact_tolerance": 1e-10} if grouped else {}
        if method is fem.DecoupledNSGA and not grouped:
            more = {"persistent_contacts": False}
        slope = np.arctan(0.45)
        model = fem.Model("slope", gravity=[G * np.sin(slope), 0, -G * np.cos(slope)])
        start = dict(position=[0, 0, 0.1], velocity=[-0.5, 0.4, 0])
        body = model.add(fem.RigidBody(1.0, [0.1, 0.1, 0.1], name="body", **start))
        feet = [body.frame([*corner, 0]) for corner in np.array([[1, 1], [1, -1], [-1, 1], [-1, -1]]) * 0.3]
        if grouped:
            group = model.add(fem.ContactGroup(name="all", **coefficients))
            for foot in feet:
                group.sphere(foot, 0.1)
            group.obstacle(fem.SphereOnPlane, model.ground)
        else:
            for k, foot in enumerate(feet):
                model.add(fem.SphereOnPlane(foot, model.ground, radius=0.1, name=f"foot {k}", **coefficients))
        ends.append(method(**options, **more).run(model, 0.3, 2e-3)["body"].velocity)
    np.testing.assert_allclose(*ends, atol=1e-6)


def gas(others=0, law=NUMBERS):
    """Twelve spheres that collide without gravity between planes, and far away others."""
    rng, model = np.random.default_rng(5), fem.Model("gas", gravity=[0, 0, 0])
    group = fem.ContactGroup(name="all", **law)
    for k in range(12):
        place = 0.27 * np.array([k % 2, (k // 2) % 3, k // 6]) + rng.uniform(0.0, 0.02, 3) + 0.12
        group.sphere(model.add(fem.RigidBody.sphere(1.0, 0.1, position=place, velocity=rng.uniform(-2, 2, 3))), 0.1)
    add_others(model, group, others)
    group.obstacle(fem.SphereOnPlane, model.ground)
    group.obstacle(fem.SphereOnPlane, model.ground.frame([0, 0, 0.6], [np.pi, 0, 0]))
    model.add(group)
    return model


def test_both_solvers_of_the_default_method_move_a_group_alike():
    """12 spheres are assembled, 60 more that touch nothing make the group one of Gauss-Seidel iterations.

    Impacts are at the start of a step of one and at the end in the other, order 1.
    """
    errors = []
    for h in (4e-4, 2e-4, 1e-4):
        ends = []
        for others in (0, LAZY):
            result = fem.DecoupledNSGA(contact_tolerance=1e-9).run(gas(others), 0.12, h)
            assert swept(result) == (others > 0)
            ends.append(result.rows([-1])["velocity"][0, 1:13, :3])
        errors.append(np.abs(ends[0] - ends[1]).max())
    assert errors[-1] < 0.02 and errors[-1] < 0.5 * errors[0], errors


@pytest.mark.parametrize("relaxed", [False, True])
@pytest.mark.parametrize("law", [dict(friction=(0.6, 0.2)), NUMBERS], ids=["two coefficients", "tables"])
def test_both_solvers_find_the_same_velocities(relaxed, law):
    """The problem of one step is the same in both, and so is the coefficient of each contact."""
    ends = []
    for solver in ("auto", "problem"):
        method = fem.ConeComplementarity(relaxed=relaxed, contact_tolerance=1e-11, contact_solver=solver)
        result = method.run(kicked(**law), 2e-3, 2e-3)
        assert swept(result) == (solver == "auto") and result.pair_count[1] > 12
        ends.append(result.rows([1])["velocity"])
    np.testing.assert_allclose(*ends, atol=1e-6)


STEEP = {
    "restitution": ({"restitution": [(0.2, 0.6), (1.5, 0.3)], "friction": 0.0}, 1e-3),
    "friction": ({"restitution": 0.0, "friction": [(0.0, 0.5), (0.3, 0.2)]}, 1e-5),
}


@pytest.mark.parametrize(("name", "law"), in_turn(METHODS, list(STEEP), first="moreau"))
def test_a_pile_of_a_hundred_spheres_settles_and_gains_no_energy(name, law):
    """Each law alone, to the contact tolerance: Newton's law with friction can gain energy, of any coefficients."""
    coefficients, gain = STEEP[law]
    result = METHODS[name](contact_tolerance=1e-3).run(pile(100, 4, **coefficients), 1.4, 2e-3)
    energy = result.energy
    assert swept(result) and np.diff(energy.total).max() <= gain * energy.kinetic.max()
    assert energy.kinetic[-1] < 0.03 * energy.kinetic.max()


@pytest.mark.parametrize("others", [0, LAZY])
def test_a_stopped_run_of_a_group_continues_to_the_last_bit(others, tmp_path, monkeypatch):
    """Coefficients and what sticks are part of its state, with both solvers; another table is rejected."""
    whole = fem.DecoupledNSGA().run(gas(others), 0.05, 1e-3, save=tmp_path / "whole.vtkhdf")
    path = tmp_path / "run.vtkhdf"
    again = stopped_and_resumed(monkeypatch, fem.DecoupledNSGA(), gas(others), 0.05, 1e-3, path, every=5, kills=(3, 6))
    assert not differences(whole, again)
    other = NUMBERS | {"restitution": [(0.5, 0.9), (1.9, 0.5)]}  # of the same largest value
    fem.DecoupledNSGA().run(gas(others), 0.02, 1e-3, save=path, checkpoint_every="10 steps")
    with pytest.raises(FemMbsError, match="ContactGroup 'all'"):
        fem.resume(path, 0.04, model=gas(others, other))


BAD = {
    "restitution": ([(0.5, 1.1), (2.0, 0.5)], r"pair \(0\.5, 1\.1\); values must be 0 … 1"),
    "friction": ([(0.5, 0.4), (0.5, 0.5)], "must rise"),
}


@pytest.mark.parametrize("name", BAD)
def test_laws_that_are_none_are_rejected_with_the_group_or_the_materials(name):
    value, message = BAD[name]
    with pytest.raises(ParameterError, match=rf"ContactGroup 'all': {name} = .*{message}"):
        fem.ContactGroup(name="all", **{name: value})
    with pytest.raises(ParameterError, match=rf"{name} = .*{message}.*law of 'ball' and 'floor'"):
        fem.ContactGroup(materials={("ball", "floor"): {name: value}})


def test_each_pair_has_the_law_of_its_materials():
    """Two balls of different materials on one floor, one of them with a law."""
    model = fem.Model("two", gravity=[0, 0, 0])
    laws = {("soft", "*"): dict(restitution=RESTITUTION), ("*", "*"): dict(restitution=0.7)}
    group = fem.ContactGroup(materials=laws, name="all")
    for k, material in enumerate(["soft", ""]):
        ball = fem.RigidBody.sphere(1.0, 0.1, position=[k, 0, 0.2], velocity=[0, 0, -1.0], name=f"ball {k}")
        group.sphere(model.add(ball), 0.1, material)
    group.obstacle(fem.SphereOnPlane, model.ground)
    model.add(group)
    for name, make in METHODS.items():
        result = make(contact_tolerance=1e-10).run(model, 0.2, 2e-3)
        ends = [result[f"ball {k}"].velocity[-1, 2] for k in range(2)]
        assert ends == pytest.approx([restitution(1.0), 0.7], rel=1e-8), name


def test_single_contacts_with_static_friction_may_be_next_to_a_group():
    """Both are assembled: bodies with four feet on a slope just below the static coefficient, at rest and sliding."""
    slope = np.arctan(0.99 * 0.6)
    model = fem.Model("both", gravity=[G * np.sin(slope), 0, -G * np.cos(slope)])
    law, group = dict(friction=(0.6, 0.4)), fem.ContactGroup(friction=(0.6, 0.4), name="all")
    for k, speed in enumerate((0.0, 0.1)):
        for y, grouped in ((0.0, True), (2.0, False)):
            start = dict(position=[3 * k, y, 0.1], velocity=[speed, 0, 0])
            body = model.add(fem.RigidBody(1.0, [0.1, 0.1, 0.1], name=f"{k} {grouped}", **start))
            for n, corner in enumerate(np.array([[1, 1], [1, -1], [-1, 1], [-1, -1]]) * 0.3):
                foot = body.frame([*corner, 0])
                if grouped:
                    group.sphere(foot, 0.1)
                else:
                    name = f"foot {k} {n}"
                    model.add(fem.SphereOnPlane(foot, model.ground, radius=0.1, name=name, **law))
    group.obstacle(fem.SphereOnPlane, model.ground)
    model.add(group)
    for method in (fem.DecoupledNSGA(), fem.ConeComplementarity(relaxed=False)):
        result = method.run(model, 0.2, 2e-3)
        for grouped in (True, False):
            assert result[f"0 {grouped}"].velocity[-1, 0] == pytest.approx(0.0, abs=1e-7)
            slides = 0.1 + G * (np.sin(slope) - 0.4 * np.cos(slope)) * 0.2
            assert result[f"1 {grouped}"].velocity[-1, 0] == pytest.approx(slides, abs=1e-6)
