"""Friction of crosses, screws, pins in slots and plates: thresholds and motions in closed form."""

import friction_models
import numpy as np
import pytest

import fem_mbs as fem


def run(model, t_end=1.0, h=1e-2):
    return fem.DecoupledNSGA(rho_inf=0.8).run(model, t_end=t_end, h=h, progress=False)


def jack(friction, start=0.0):
    """A nut of 3 kg, .004 kg m² that may run down a screw with 10 mm/rad, a thread of 20 mm and gravity 10."""
    model = fem.Model("jack", gravity=[0, 0, -10.0])
    nut = fem.RigidBody(3.0, 4e-3, velocity=[0, 0, 0.01 * start], angular_velocity=[0, 0, start], name="nut")
    law = fem.DryFriction(friction, collar=0.02)
    model.add(nut, fem.Screw.at(model.ground, nut, [0, 0, 0], [0, 0, 1], lead=0.02 * np.pi, name="screw", friction=law))
    return model


@pytest.mark.parametrize("over, slides", [(0.999, True), (1.001, False)])
def test_a_screw_holds_its_load_by_itself_above_the_friction_of_its_lead(over, slides):
    result = run(jack(0.5 * over))  # μ r = lead/2π
    assert (abs(result["screw"].angle[-1]) > 1e-3) == slides  # .075 rad; at rest 1e-14
    assert result["screw friction"].status[-1] == (-1.0 if slides else 0.0)


def test_a_nut_runs_down_with_the_friction_of_its_own_inertia():
    """N = m (g + c α) and J α = (μ r − c) N, with the advance c."""
    lever = (0.3 * 0.02 - 0.01) * 3.0
    acceleration = lever * 10.0 / (4e-3 - lever * 0.01)
    result = run(jack(0.3, start=-2.0))
    assert result["screw"].angle_rate == pytest.approx(-2.0 + acceleration * result.t, rel=1e-12)


# --- pins of a cross ------------------------------------------------------------------------------------------------


def hung(pin):
    """The pendulum of `friction_models` on one pin of a cross."""
    R = friction_models.turned(np.pi / 3)
    model = fem.Model("cross", gravity=[0, -9.81, 0])
    bob = model.add(fem.RigidBody(1.0, 1e-9 * np.eye(3), position=R @ [0, -1.0, 0], rotation=R, name="bob"))
    first, second = ([0, 0, 1], R[:, 0]) if pin == "first_angle" else ([1, 0, 0], [0, 0, 1])
    law = {pin: fem.DryFriction(0.3, radius=0.1)}
    model.add(fem.Universal.at(model.ground, bob, [0, 0, 0], first, second_axis=second, name="cross", friction=law))
    return model


@pytest.fixture(scope="module")
def hinged():
    """Places of the bob on a hinge."""
    return friction_models.run(friction_models.pendulum(), t_end=2.5, h=5e-3)["bob"].position


@pytest.mark.parametrize("pin", ["first_angle", "second_angle"])
def test_a_pendulum_on_a_pin_of_a_cross_swings_as_on_a_hinge(pin, hinged):
    assert friction_models.run(hung(pin), t_end=2.5, h=5e-3)["bob"].position == pytest.approx(hinged, abs=1e-12)


@pytest.mark.parametrize("pin, axis", [("first_angle", [0, 0, 1.0]), ("second_angle", [1.0, 0, 0])])
@pytest.mark.parametrize("over", [0.999, 1.001])
def test_a_pin_with_two_bearings_carries_the_moment_of_the_cross(pin, axis, over):
    """A moment of 5 N m across both pins presses with M/ℓ on each bearing: it holds 2 μ r M/ℓ."""
    model = fem.Model("cross")
    body = model.add(fem.RigidBody(1.0, 0.1, name="body"))
    law = {pin: fem.DryFriction(0.4, radius=0.02, length=0.16)}
    place = {"axis": [0, 0, 1], "second_axis": [1, 0, 0]}
    model.add(fem.Universal.at(model.ground, body, [0, 0, 0], name="cross", friction=law, **place))
    bound = 2 * 0.4 * 0.02 * 5.0 / 0.16
    model.add(fem.PointMoment(body, [0, 5.0, 0], name="across"))
    model.add(fem.PointMoment(body, over * bound * np.array(axis), name="along"))
    result = run(model, t_end=0.2)
    assert result[f"cross {pin} friction"].bound[0] == (pytest.approx(bound, rel=1e-12))
    turned = abs(getattr(result["cross"], pin)[-1])
    exact = 0.5 * max(over - 1.0, 0.0) * bound / 0.1 * 0.2**2
    assert turned == pytest.approx(exact, abs=1e-9)


# --- a pin in a slot, a plate on its plane --------------------------------------------------------------------------


@pytest.mark.parametrize("over, slides", [(0.999, False), (1.001, True)])
def test_a_bead_on_a_wire_slides_down_above_the_friction_angle(over, slides):
    tangent = 0.4 * over
    model = fem.Model("bead", gravity=10.0 * np.array([tangent, -1.0, 0]) / np.hypot(tangent, 1.0))
    bead = model.add(fem.PointMass(2.0, name="bead"))
    model.add(fem.PointOnLine.at(model.ground, bead, [0, 0, 0], [1, 0, 0], name="wire", friction=0.4))
    result = run(model)
    assert (result["wire"].displacement[-1] > 1e-4) == slides  # 1.9 mm


def test_a_thrown_bead_stops_after_its_way():
    model = fem.Model("bead", gravity=[0, -10.0, 0])
    bead = model.add(fem.PointMass(2.0, velocity=[2.0, 0, 0], name="bead"))
    model.add(fem.PointOnLine.at(model.ground, bead, [0, 0, 0], [1, 0, 0], name="wire", friction=0.4))
    result = run(model, h=7e-3)
    assert result["wire"].displacement[-1] == pytest.approx(2.0**2 / (2 * 0.4 * 10.0), abs=5e-5)  # order 2
    assert result["wire"].rate[-1] == 0.0 or abs(result["wire"].rate[-1]) < 1e-14
    assert result["wire friction"].dissipated[-1] == pytest.approx(4.0, abs=1e-4)


def test_steps_of_variable_size_do_not_pass_the_stop_of_a_joint():
    """Before they did, with any tolerance: nothing in the smooth motion shows it."""
    model = friction_models.block(velocity=1.0, friction=0.6)
    method = fem.DecoupledNSGA(rho_inf=0.8, step_control=fem.StepControl(tolerance=1e-5))
    result = method.run(model, t_end=4.0, h=1e-2, progress=False)
    assert result["block"].position[-1, 0] == pytest.approx(1.0 / (2 * 0.6), abs=1e-4)  # order 2 in the user's step
    assert result.statistics["steps_too_large_for_contact"] >= 1
    assert len(result.t) < 150  # 115: the step that passed it is taken again with h; 401 with h alone


def test_a_disc_on_a_table_spins_down_in_its_time():
    """A disc of 3 kg, radius 0.3: moment μ m g · 2R/3, here with half of the weight carried by a rope."""
    model = fem.Model("disc", gravity=[0, 0, -10.0])
    disc = model.add(fem.RigidBody(3.0, 0.135, angular_velocity=[0, 0, 8.0], name="disc"))
    law = {"angle": fem.DryFriction(0.25, collar=0.2)}
    model.add(fem.Planar.at(model.ground, disc, [0, 0, 0], [0, 0, 1], name="table", friction=law))
    model.add(fem.PointForce(disc, [0, 0, 15.0], name="rope"))
    result = run(model, t_end=2.0, h=7e-3)
    slowing = 0.25 * 15.0 * 0.2 / 0.135
    before = result.t < 8.0 / slowing
    assert result["table"].angle_rate[before] == pytest.approx(8.0 - slowing * result.t[before], abs=1e-11)
    assert np.abs(result["table"].angle_rate[result.t > 8.0 / slowing + 0.01]).max() < 1e-13
    assert result["table"].angle[-1] == pytest.approx(0.5 * 64.0 / slowing, abs=1e-4)


# --- errors ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "options", "message"),
    [
        (fem.Spherical, {}, r"radius = 0.*preload"),
        (fem.Planar, {"coordinate": "x"}, "coordinate = 'x'.*displacement"),
        (fem.Planar, {"radius": 0.1}, r"radius = 0\.1 .*collar"),
        (fem.Planar, {"collar": 0.1, "length": 0.1}, r"length = 0\.1 .*two bearings"),
        (fem.PointOnLine, {"length": 0.1}, r"length = 0\.1 .*two bearings"),
        (fem.PointOnLine, {"offset": (0.1, 0)}, "offset.*guide"),
        (fem.Universal, {"radius": 0.1}, "coordinate = None.*first_angle.*second_angle"),
        (
            fem.Universal,
            {"coordinate": "first_angle", "collar": 0.1},
            r"collar = .*Revolute and Screw and Planar",
        ),
        (fem.ConstantVelocity, {"preload": 1.0}, r"joint = .*a Revolute"),
    ],
)
def test_friction_that_a_joint_cannot_have_is_rejected_in_words(kind, options, message):
    ground, body = fem.Model("m").ground, fem.RigidBody(1.0, 0.1)
    with pytest.raises(fem.ParameterError, match=message):
        fem.JointFriction(kind.at(ground, body, [0, 0, 0], [0, 0, 1]), 0.2, **options)
