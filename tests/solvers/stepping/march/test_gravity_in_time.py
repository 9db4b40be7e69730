"""Gravity as a function of time: against the same forces as loads, closed forms and quadrature."""

import numpy as np
import pytest
from every_stepper import METHODS, label
from resumed import differences, stopped_and_resumed
from scipy.integrate import solve_ivp

import fem_mbs as fem
from fem_mbs.errors import FemMbsError, ModelError, NonFiniteError, ParameterError

MASS, ARM, J = 2.0, 0.5, 0.03


def shaken(t):
    return np.array([2.0 * np.sin(5.0 * t), 0.0, -9.81 * (1.0 + 0.3 * np.sin(3.0 * t))])


def pendulum(gravity=shaken, load=None):
    """A rod whose node is at its hinge, its centre of mass is not."""
    model = fem.Model("pendulum", gravity=gravity)
    rod = model.add(fem.RigidBody(MASS, [J, J, J], center=[ARM, 0, 0], rotation=[0, 0.3, 0], name="rod"))
    model.add(fem.Revolute.at(model.ground, rod, [0, 0, 0], [0, 1, 0], name="hinge"))
    if load is not None:
        model.add(fem.PointForce(rod.frame([ARM, 0, 0]), lambda t: MASS * load(t), name="gravity"))
    return model


@pytest.mark.parametrize("method", METHODS, ids=label)
def test_a_field_acts_and_works_as_forces_at_the_centres_of_mass(method):
    """Motion, reactions, energies and works are those of a load to round-off of some 50 steps."""
    field = method.run(pendulum(), 0.5, 1e-2, balance=True, strict=True)
    load = method.run(pendulum(gravity=(0, 0, 0), load=shaken), 0.5, 1e-2, balance=True)
    assert field["rod"].position == pytest.approx(load["rod"].position, abs=1e-10)
    assert field["rod"].angular_velocity == pytest.approx(load["rod"].angular_velocity, abs=1e-9)
    assert field["hinge"].force == pytest.approx(load["hinge"].force, abs=1e-6)
    tables = field.energy_table(), load.energy_table()
    assert abs(tables[0].work("gravity", "load")) > 1.0
    assert tables[0].work("gravity") == pytest.approx(tables[1].work("gravity"), abs=1e-8)
    assert field.energy.potential == pytest.approx(0.0, abs=0.0)
    assert tables[0].numerical == pytest.approx(tables[1].numerical, abs=1e-8)


def test_a_pendulum_in_a_shaken_lift_is_found_with_second_order():
    def rates(t, y):
        g = shaken(t)  # rod along x turned by the angle φ about y: its end at (cos φ, −sin φ) in x and z
        moment = MASS * ARM * (-g[0] * np.sin(y[0]) - g[2] * np.cos(y[0]))
        return [y[1], moment / (J + MASS * ARM**2), MASS * ARM * y[1] * (-g[0] * np.sin(y[0]) - g[2] * np.cos(y[0]))]

    angle, rate, work = solve_ivp(rates, (0, 1.0), [0.3, 0, 0], rtol=1e-12, atol=1e-13).y[:, -1]
    errors = []
    for h in (4e-3, 2e-3, 1e-3):
        result = fem.DecoupledNSGA(rho_inf=0.8).run(pendulum(), 1.0, h, balance=True)
        x, _, z = result["rod"].rotation[-1][:, 0]
        found = [np.arctan2(-z, x), result["rod"].angular_velocity[-1, 1], result.energy_table().work("gravity")]
        errors.append(np.abs(np.subtract(found, [np.arctan2(np.sin(angle), np.cos(angle)), rate, work])))
    orders = np.log2(np.divide(errors[:-1], errors[1:]))
    assert (np.abs(orders - 2.0) < 0.1).all(), (orders, errors)
    assert (errors[-1] < 1e-4).all(), errors


def test_the_table_of_a_turning_field_closes_and_its_work_is_that_by_hand():
    """A mass in a field g (cos ωt, sin ωt, 0): v = g/ω (sin ωt, 1 − cos ωt, 0), work = ½ m v²."""
    w, g = 3.0, 9.81
    model = fem.Model("centrifuge", gravity=lambda t: [g * np.cos(w * t), g * np.sin(w * t), 0.0])
    mass = model.add(fem.PointMass(MASS, name="mass"))
    table = fem.DecoupledNSGA(rho_inf=1.0).run(model, 1.0, 1e-3, balance=True).energy_table()
    by_hand = MASS * (g / w) ** 2 * (1.0 - np.cos(w))
    assert table.work("gravity") == pytest.approx(by_hand, rel=2e-6)  # h² ω²/12 = 7.5e-7
    assert abs(table.numerical) < 1e-12 * by_hand
    assert mass.name == "mass"


def lift(t):
    """Gravity in a lift that starts with 2 m/s², whose rope breaks after 0.5 s."""
    return [0.0, 0.0, np.where(t < 0.2, -9.81, np.where(t < 0.5, -11.81, 0.0))]


def box(**options):
    model = fem.Model("lift", gravity=lift)
    ball = model.add(fem.RigidBody.sphere(MASS, 0.1, position=[0, 0, 0.1], name="ball", **options))
    model.add(fem.SphereOnPlane(ball, model.ground, radius=0.1, friction=0.3, name="floor"))
    return model


def test_the_floor_of_a_lift_carries_the_weight_of_the_moment():
    result = fem.DecoupledNSGA(rho_inf=0.8).run(box(), 0.8, 1e-3)
    force, t = result["floor"].force_normal, result.t
    for begin, end, field in ((0.1, 0.2, 9.81), (0.4, 0.5, 11.81), (0.7, 0.8, 0.0)):
        inside = (t > begin + 5e-3) & (t < end - 5e-3)
        assert force[inside] == pytest.approx(MASS * field, abs=1e-6)
    gap = result[
        "floor"
    ].gap  # a jump of the field is seen one step late at most: speed g h, of which memory leaves less
    assert gap.min() > -1e-12 and gap[t < 0.5].max() < 1e-12 and gap.max() < 11.81 * 1e-3 * 0.3


def test_a_field_that_is_switched_on_lets_fall_what_was_at_rest():
    model = fem.Model("switch", gravity=lambda t: [0, 0, -10.0 if t > 0.25 else 0.0])
    ball = model.add(fem.RigidBody.sphere(1.0, 0.1, position=[0, 0, 0.6], name="ball"))
    model.add(fem.SphereOnPlane(ball, model.ground, radius=0.1, restitution=0.5, name="floor"))
    result = fem.DecoupledNSGA().run(model, 1.2, 1e-3)
    gap, t = result["floor"].gap, result.t
    assert gap[t < 0.25] == pytest.approx(0.5, abs=1e-13)
    falling = (t > 0.3) & (t < 0.56)
    assert gap[falling] == pytest.approx(0.5 - 5.0 * (t[falling] - 0.25) ** 2, abs=6e-3)  # jumps are seen at step ends
    assert gap[t > 0.6].max() == pytest.approx(0.125, abs=5e-3) and gap.min() > -1e-12


def test_particles_feel_the_field_too():
    """A pile with the Gauss-Seidel solver: a constant function equals the constant, and a switch lets it float."""

    def pile(gravity):
        model, group = fem.Model("pile", gravity=gravity), fem.ContactGroup(friction=0.3, name="grains")
        for k in range(6):
            place = [0.045 * (k % 2), 0.0, 0.021 + 0.045 * (k // 2)]
            group.sphere(model.add(fem.RigidBody.sphere(0.05, 0.02, position=place, name=f"particle {k}")), 0.02)
        group.obstacle(fem.SphereOnPlane, model.ground.frame())
        model.add(group)
        return model

    constant, function, switched = (
        fem.DecoupledNSGA().run(pile(g), 0.3, 1e-3)
        for g in ([0, 0, -9.81], lambda t: [0, 0, -9.81], lambda t: [0, 0, -9.81 if t < 0.2005 else 20.0])
    )
    assert (constant["particle 4"].position == function["particle 4"].position).all()
    assert (switched["particle 0"].position[200] == constant["particle 0"].position[200]).all()
    lifted = switched["particle 0"].position[-1, 2] - constant["particle 0"].position[200, 2]
    assert lifted == pytest.approx(0.5 * 20.0 * 0.1**2, abs=3e-3)  # the jump is seen a step late: g h t


def test_a_controller_may_switch_a_field_off():
    mass = fem.PointMass(1.0, name="mass")
    height = fem.Sensor(mass.node, "position", component="z")
    switch = fem.Controller(lambda t, y: float(t < 0.199), 0.1, [height], ["on"], initial=1.0, name="switch")
    on = switch.output("on")
    model = fem.Model("held", gravity=lambda t: np.array([0, 0, -10.0]) * on(t))
    model.add(mass, switch)
    result = fem.DecoupledNSGA().run(model, 0.5, 1e-3)
    assert result["mass"].velocity[-1, 2] == pytest.approx(-2.0, abs=1e-9)
    assert result["mass"].position[-1, 2] == pytest.approx(-0.2 - 2.0 * 0.3, abs=1e-9)


def test_equilibria_are_those_of_the_field_at_their_time():
    model = fem.Model("hanging", gravity=lambda t: [0, 0, -9.81 * (1.0 + t)])
    mass = model.add(fem.PointMass(MASS, position=[0, 0, -1], name="mass", fixed=("x", "y")))
    model.add(fem.Spring(model.ground, mass, stiffness=100.0, free_length=1.0))
    for t in (0.0, 1.5):
        result = fem.static_equilibrium(model, t=t)
        assert result.position(mass.node)[2] == pytest.approx(-1.0 - MASS * 9.81 * (1 + t) / 100.0, abs=1e-9)
    path = fem.load_path(model, loads=["gravity"], t=1.5, step=0.2)
    assert path.points[-1].load_factor == pytest.approx(1.0)
    assert path.points[-1].position(mass.node)[2] == pytest.approx(-1.0 - MASS * 9.81 * 2.5 / 100.0, abs=1e-8)


def test_small_oscillations_are_those_of_the_field_at_the_time_of_the_state():
    """ω² = m g l/(J + m l²) of the hanging rod, with four times the field from 1 s on."""
    model = pendulum(gravity=lambda t: [0, 0, -9.81 if t < 1 else -4.0 * 9.81])
    for t, g in ((0.0, 9.81), (2.0, 4.0 * 9.81)):
        at_rest = fem.static_equilibrium(model, t=t, steps=4)
        found = fem.modes(model, about=at_rest).omega[0]
        assert found == pytest.approx(np.sqrt(MASS * g * ARM / (J + MASS * ARM**2)), rel=1e-9)


def test_a_field_is_no_stiffness_that_holds_a_mechanism():
    """Its free motions are found without weight."""
    assert "turns about [0, 1, 0]" in str(fem.explain(pendulum()))


def test_resumed_runs_have_the_same_field_to_the_last_bit_and_reject_another(monkeypatch, tmp_path):
    method, options = fem.DecoupledNSGA(rho_inf=0.8), {"checkpoint_every": "50 steps", "balance": True}
    whole = method.run(pendulum(), 0.4, 2e-3, save=tmp_path / "whole.vtkhdf", **options)
    path, to_end = tmp_path / "parts.vtkhdf", (0.4, 2e-3)
    parts = stopped_and_resumed(monkeypatch, method, pendulum(), *to_end, path, every=50, kills=(1,), balance=True)
    assert not differences(whole, parts)
    with pytest.raises(FemMbsError, match=r"function of time of Gravity|gravity"):
        fem.resume(path, t_end=0.5, model=pendulum(lambda t: shaken(t) + [0.0, 0.0, 0.1 * t]))


def test_bad_fields_are_rejected_in_words():
    with pytest.raises(ParameterError, match=r"gravity.*\(2,\).*t = 0 s.*\(3,\)"):
        fem.Model("flat", gravity=lambda t: [0, -9.81])
    with pytest.raises(ParameterError, match=r"'late'.*gravity.*not finite at t = 0"):
        fem.Model("late", gravity=lambda t: [0, 0, np.nan])
    with pytest.raises(ParameterError, match=r"gravity.*function of time"):
        fem.Model("two", gravity=lambda t, x: [0, 0, t])
    with pytest.raises(ParameterError, match=r"gravity.*ZeroDivisionError at t = 0"):
        fem.Model("pole", gravity=lambda t: [0, 0, 1 / t])
    with pytest.raises(NonFiniteError, match=r"'pendulum'.*nan at t = 0\.1"):
        fem.DecoupledNSGA().run(pendulum(lambda t: [0, 0, np.nan if t > 0.099 else -9.81]), 0.2, 1e-2)


def test_a_field_that_is_set_after_compiling_is_reported():
    model = pendulum()
    system = model.compile()
    assert system.changed() == []
    model.gravity = lambda t: [0, 0, -1.0]
    with pytest.raises(ModelError, match="gravity"):
        fem.DecoupledNSGA().run(system, 0.1, 1e-2)
    assert "function of time" in str(pendulum()) and "9.81" in str(pendulum())
