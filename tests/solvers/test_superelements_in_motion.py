"""Runs with superelements: what results say of the whole model, and that units do not matter."""

import numpy as np
import pytest

import fem_mbs as fem
from fem_mbs.rotations import exp
from fem_mbs.solvers.paths.newton import extent

ENDS = {"left": "x0", "right": "x1"}
TURN = np.array([0.1, 0.2, 3.0])


def reduction(length=1.0, time=1.0, mass=1.0, modes=7, E=1e8):
    """A bar 1 × 0.2 × 0.2 of 40 kg, with other units of length, time and mass."""
    material = fem.SolidMaterial(E * mass / length / time**2, 0.3, 1000.0 * mass / length**3)
    mesh = fem.block_mesh([length, 0.2 * length, 0.2 * length], [4, 1, 1], cell="hexahedron")
    return fem.reduce_mesh(mesh, material, ENDS, modes=modes)


def test_mass_and_momentum_of_a_model_are_those_of_the_body_with_its_modes():
    made = reduction()
    v, w, place = np.array([1.0, 2, 3]), np.array([2.0, -1, 3]), np.array([1.0, 2, 3])
    body = fem.Superelement(made, position=place, rotation=TURN, velocity=v, angular_velocity=w, name="bar")
    model = fem.Model("thrown")
    model.add(body)
    R = exp(TURN)
    arm = R @ made.center
    mass, centre = model.mass_properties()
    assert mass == pytest.approx(40.0, rel=1e-12)
    np.testing.assert_allclose(centre, place + arm, rtol=1e-12)
    result = fem.LobattoIIIAB().run(model, t_end=0.01, h=2e-4)
    p = made.mass * (v + np.cross(w, arm))
    spin = np.cross(place + arm, p) + R @ made.inertia @ R.T @ w
    np.testing.assert_allclose(result.linear_momentum[0], p, rtol=1e-12)
    np.testing.assert_allclose(result.angular_momentum[0], spin, rtol=1e-12)
    # it vibrates while it turns, and nothing acts on it: a collocation scheme loses 1e-10 in these steps
    np.testing.assert_allclose(result.linear_momentum[-1], p, rtol=1e-8)
    np.testing.assert_allclose(result.angular_momentum[-1], spin, rtol=1e-8)


def test_momentum_of_a_mode_is_that_of_the_mass_that_it_moves():
    made = reduction()
    model = fem.Model("kicked")
    body = model.add(fem.Superelement(made, rotation=TURN, name="bar"))
    system = model.compile()
    rates = np.zeros(made.size)
    rates[12:] = np.linspace(0.3, -0.2, 7)
    for k, node in enumerate(body.nodes[2:]):
        system.initial.V[node.index, : min(3, 7 - 3 * k)] = rates[12 + 3 * k : 15 + 3 * k]
    result = fem.LobattoIIIAB().run(system, t_end=1e-4, h=1e-4)
    np.testing.assert_allclose(result.linear_momentum[0], exp(TURN) @ made.momentum @ rates, rtol=1e-12)


@pytest.mark.parametrize("method", [fem.DecoupledNSGA(), fem.MoreauJean()], ids=lambda m: type(m).__name__)
def test_the_same_impact_in_other_units_has_the_same_digits(method):
    def end(length, time, mass):
        speed = length / time
        body = fem.Superelement(
            reduction(length, time, mass, modes=6), position=[0, 0, 0.05 * length], velocity=[0.3 * speed, 0, -speed],
            angular_velocity=[0, 1 / time, 0], name="bar",
        )  # fmt: skip
        model = fem.Model("dropped", gravity=[0, 0, -9.81 * speed / time])
        model.add(body)
        for name in ENDS:
            model.add(fem.SphereOnPlane(body.frame(name), model.ground.frame(), radius=0.02 * length, friction=0.3))
        result = method.run(model, t_end=0.2 * time, h=2e-3 * time)
        return result["bar right"].position[-1] / length, result.linear_momentum[-1] / (mass * speed)

    metres, micro = end(1.0, 1.0, 1.0), end(1e-6, 1e-3, 1e-15)
    # iterations stop at the same numbers, but for round-off, which an impact enlarges
    np.testing.assert_allclose(micro[0], metres[0], rtol=1e-9)
    np.testing.assert_allclose(micro[1], metres[1], rtol=1e-7, atol=1e-7)


@pytest.mark.parametrize("length", [1.0, 1e-3])
def test_a_mode_is_shown_with_the_amplitude_asked_for_where_no_frame_moves(length):
    body = fem.Superelement(reduction(length), name="bar")
    model = fem.Model("held at both ends")
    model.add(body)
    for name in ENDS:
        model.add(fem.Fixed(model.ground.frame(body.frame(name).position), body.frame(name)))
    shown = fem.modes(model, 2).motion(0, amplitude=0.01 * length, frames=4)
    moved = body.positions(shown, shown.t[0]) - body.positions(shown, shown.t[1])  # of the quarter of a period
    assert np.linalg.norm(moved, axis=1).max() == pytest.approx(0.01 * length, rel=1e-6)


def hung(gravity, ends, **options):
    """A bar of 1 m in its weight, held at frames ``ends``."""
    body = fem.Superelement(reduction(modes=4, E=1e6), name="bar")
    model = fem.Model("hung", gravity=[0, 0, -gravity])
    model.add(body)
    for name in ends:
        model.add(fem.Fixed(model.ground.frame(body.frame(name).position), body.frame(name)))
    return model


def test_deformations_by_modes_alone_that_are_too_large_are_reported():
    for gravity, told in ((9.81, False), (981.0, True)):
        result = fem.DecoupledNSGA(rho_inf=0.5).run(hung(gravity, ENDS), t_end=0.05, h=1e-3)
        assert result["bar"].local_rotation.max() < 1e-9  # both frames are held
        assert any("by modes" in text for text in result.warnings) == told
        eta = np.hstack([result[f"bar modes {k}"].position for k in (1, 2)])
        np.testing.assert_allclose(result["bar"].local_displacement.ravel(), np.linalg.norm(eta, axis=1), rtol=1e-9)


def test_equilibria_beyond_the_linear_range_say_so_in_report_and_file(tmp_path):
    with pytest.warns(UserWarning, match=r"'bar'.*frame"):
        result = fem.static_equilibrium(hung(98.1, ["left"]), save=tmp_path / "hung.vtkhdf")
    path = fem.load_path(hung(98.1, ["left"]))
    for warnings in (result.results.warnings, fem.load(tmp_path / "hung.vtkhdf").warnings, path.results.warnings):
        assert ["Divide the part" in text for text in warnings] == [True]
    assert "Divide the part" in path.report()
    assert not fem.load_path(hung(0.981, ["left"])).results.warnings


def test_amplitudes_of_modes_are_no_places_where_tolerances_ask_for_sizes():
    """Modal amplitudes may be far larger than the part moves by them: a size of them would loosen every tolerance."""
    model = fem.Model("bar")
    body = model.add(fem.Superelement(reduction(), name="bar"))
    system = model.compile()
    state, known = system.initial.copy(), (extent(system, system.initial), system.size_at(system.initial))
    assert known == pytest.approx((1.0, 1.0), rel=0.05)
    for node in body.nodes[2:]:
        state.x[node.index] = 50.0
    assert (extent(system, state), system.size_at(state)) == known


@pytest.mark.parametrize("part", [0.5, 0.2])
def test_equilibria_report_stresses_that_would_change_the_stiffness_unless_a_pattern_has_them(part, tmp_path):
    """A clamped rod of ν = 0, pressed by a part of Euler's load π²EI/4L²; a free one buckles at four times that."""
    E, length, side = 2e11, 1.0, 0.02
    euler = np.pi**2 * E * side**4 / 12 / (4 * length**2)
    mesh = fem.block_mesh([length, side, side], [8, 1, 1], cell="hexahedron20")

    def pressed(stiffening):
        frames = {"left": "x0", "right": "x1"}
        made = fem.reduce_mesh(mesh, fem.SolidMaterial(E, 0.0, 7800.0), frames, modes=4, stiffening=stiffening)
        model = fem.Model("pressed")
        rod = model.add(fem.Superelement(made, name="rod"))
        model.add(fem.Fixed.at(model.ground, rod.frame("left").node, [0, side / 2, side / 2]))
        model.add(fem.PointForce(rod.frame("right"), [-part * euler, 0, 0]))
        return model

    if part < 0.4:  # less than a tenth of the load of the free rod
        assert not fem.load_path(pressed(None)).results.warnings
        return
    with pytest.warns(UserWarning, match=f"its stresses .* {part / 4:.0%}"):
        result = fem.static_equilibrium(pressed(None), save=tmp_path / "rod.vtkhdf")
    path = fem.load_path(pressed(None))
    for told in (result.results.warnings, fem.load(tmp_path / "rod.vtkhdf").warnings, path.results.warnings):
        assert ["its stresses" in text for text in told] == [True]
    assert not fem.load_path(pressed(("left", "right"))).results.warnings
