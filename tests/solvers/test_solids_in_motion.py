"""Solids in motion: momentum, energy and damping with several steppers, and frequencies of their vibrations."""

import copy
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

import numpy as np
import pytest
from solid_models import block, system_of

import fem_mbs as fem


def flight(stepper, h, t_end=0.05, damping=0.0, **motion):
    """A spinning block in free flight: linear and angular momentum at start and end, the result, its end."""
    given = {"velocity": [1, 0, 0], "angular_velocity": [1, 2, 5]} | motion
    body = block("tetra10", [1, 0.5, 0.5], [1, 1, 1], E=1e3, damping=damping, **given)
    model = fem.Model("flight", gravity=[0, 0, -9.0])
    model.add(body)
    result = stepper.run(model, t_end=t_end, h=h)
    system = fem.System(model, check=False)
    M = system.matrices(system.initial, mass_only=True)
    found = []
    for state in (system.initial, result.state(-1)):
        p = (M @ system.reduced(state.V)).reshape(-1, 3)
        x = state.x[[node.index for node in body.nodes]]
        center = (M @ system.reduced(np.pad(state.x, ((0, 0), (0, 3))))).reshape(-1, 3).sum(axis=0) / body.mass
        found += [p.sum(axis=0), np.cross(x - center, p).sum(axis=0)]
    return np.array(found), result, state


@pytest.mark.parametrize(
    ("stepper", "spin_error"),
    [
        (fem.DecoupledNSGA(rho_inf=0.9), 4e-5),  # second order (measured 1.4e-5)
        (fem.MoreauJean(), 4e-5),
        (fem.LobattoIIIAB(stages=3), 1e-7),  # fourth order
    ],
    ids=["DecoupledNSGA", "MoreauJean", "LobattoIIIAB"],
)
def test_momentum_of_a_spinning_block_is_that_of_its_weight(stepper, spin_error):
    (p0, l0, p1, l1), result, _ = flight(stepper, 1e-3)
    assert p1 - p0 == pytest.approx([0, 0, -9.0 * 0.25 * 0.05], abs=1e-12)
    assert l1 == pytest.approx(l0, abs=spin_error)
    assert result.energy.total[-1] == pytest.approx(result.energy.total[0], abs=1e-3)


SCHEMES = [
    (fem.DecoupledNSGA(rho_inf=1.0), 2), (fem.DecoupledNSGA(rho_inf=0.8), 2),
    (fem.DecoupledNSGA(rho_inf=0.8, persistent_contacts=True), 2), (fem.GeneralizedAlpha(rho_inf=1.0), 2),
    (fem.GeneralizedAlpha(rho_inf=0.8), 2), (fem.NonsmoothGeneralizedAlphaGGL(rho_inf=0.8), 2),
    (fem.NonsmoothGeneralizedAlphaFriction(rho_inf=0.8), 2), (fem.MoreauJean(), 2), (fem.LobattoIIIAB(stages=2), 2),
    (fem.LobattoIIIAB(stages=3), 4), (fem.ConeComplementarity(), 1),
]  # fmt: skip


OTHERS = {0, 2, 4}  # of a method that is there with another option


@pytest.mark.parametrize(
    "stepper, order",
    [pytest.param(*one, marks=[pytest.mark.slow] if k in OTHERS else []) for k, one in enumerate(SCHEMES)],
    ids=[f"{type(stepper).__name__} {k}" for k, (stepper, _) in enumerate(SCHEMES)],
)
def test_a_tumbling_solid_keeps_momentum_and_what_it_loses_of_the_rest_falls_with_the_order(stepper, order):
    spin, energy = [], []
    for h in (1e-3, 5e-4):
        body = block("tetra10", [1, 0.5, 0.5], [1, 1, 1], E=1e3, velocity=[1, 0, 0], angular_velocity=[1, 2, 5])
        model = fem.Model("tumbling")
        model.add(body)
        result = stepper.run(model, t_end=0.05, h=h)
        p, turning, total = result.linear_momentum[:], result.angular_momentum[:], result.energy.total
        assert np.abs(p - p[0]).max() < 1e-14 * len(p)  # round-off of each step
        spin.append(np.abs(turning - turning[0]).max() / np.linalg.norm(turning[0]))
        energy.append(abs(total[-1] / total[0] - 1))
    if isinstance(stepper, fem.LobattoIIIAB):
        assert max(spin) < 1e-13  # symplectic: round-off
    else:
        assert np.log2(spin[0] / spin[1]) == pytest.approx(order, abs=0.05)
    assert np.log2(energy[0] / energy[1]) == pytest.approx(order, abs=0.1)
    assert energy[1] < {1: 1e-3, 2: 1e-6, 4: 1e-10}[order]


@pytest.mark.parametrize("rho_inf", [pytest.param(1.0, marks=pytest.mark.slow), 0.8])
def test_a_solid_that_swings_on_a_line_of_its_nodes_is_second_order_in_time(rho_inf):
    """Soft pendulum of 2 × 1 × 1 Hexa20 that falls from the horizontal, compared with Lobatto's method of order 4."""

    def end(stepper, h):
        body = block("hexa20", [1, 0.2, 0.2], [2, 1, 1], E=2e4, density=10.0, damping=1e-3)
        mesh = body.mesh.with_group("hinge", lambda x: (x[:, 0] < 1e-9) & (x[:, 2] < 1e-9))
        body = fem.SolidBody(mesh, body.material, damping=1e-3, name="pendulum")
        body.fix("hinge")
        model = fem.Model("swing", gravity=[0, 0, -9.81])
        model.add(body)
        return stepper.run(model, t_end=0.4, h=h).state(-1).x

    exact = end(fem.LobattoIIIAB(stages=3), 1e-3)
    assert exact[:, 2].min() < -0.5  # it has fallen by more than half its length
    errors = [np.abs(end(fem.DecoupledNSGA(rho_inf=rho_inf), h) - exact).max() for h in (2e-3, 1e-3)]
    assert np.log2(errors[-2] / errors[-1]) == pytest.approx(2, abs=0.1), errors
    assert errors[-1] < 2e-4


def test_steppers_of_different_order_find_the_same_motion():
    exact = flight(fem.LobattoIIIAB(stages=3), 1e-3)[2].x
    errors = [np.abs(flight(fem.DecoupledNSGA(rho_inf=1.0), h)[2].x - exact).max() for h in (1e-3, 5e-4)]
    assert 3.6 < errors[0] / errors[1] < 4.4 and errors[1] < 1e-5, errors  # second order


def test_damping_takes_vibration_and_leaves_rigid_motion():
    """A mode decays with the ratio β ω/2; a body that turns slowly and is not deformed keeps its energy."""
    body = block("hexa20", [1, 0.2, 0.2], [2, 1, 1], E=100.0, damping=2e-3)
    body.fix("x0")
    omega = fem.modes(system_of(body), 1, damping=True)
    plain = fem.modes(system_of(block_like(body)), 1)
    assert omega.damping_ratio[0] == pytest.approx(2e-3 * plain.omega[0] / 2, rel=1e-6)
    still = flight(fem.DecoupledNSGA(rho_inf=1.0), 1e-3, damping=1e-2, angular_velocity=[0, 0, 0.01])[1]
    assert still.energy.total[-1] == pytest.approx(still.energy.total[0], rel=1e-6)


def block_like(body):
    """The same body without damping."""
    other = fem.SolidBody(body.mesh, body.material)
    other.fix("x0")
    return other


def forces_of(model):
    """Forces at the start; of a module, so that another process can be asked."""
    system = fem.System(model)
    return system.forces(system.initial)[1].copy()


def test_a_model_with_solids_is_the_same_in_another_process():
    """Records hold addresses of tables, which are others there."""
    body = block("tetra10", [1, 1, 1], [1, 1, 1], E=10.0, position=[0, 0, 1])
    body.fix("x0")
    model = fem.Model("sent", gravity=[0, 0, -1.0])
    model.add(body, fem.SurfacePressure(body, "x1", 0.5))
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        there = pool.submit(forces_of, model).result()
    assert there == pytest.approx(forces_of(model), abs=1e-15)
    assert forces_of(copy.deepcopy(model)) == pytest.approx(there, abs=1e-15)


def test_a_node_of_a_solid_takes_springs_forces_and_joints():
    body = block("hexa8e", [1, 0.2, 0.2], [4, 1, 1], E=1e4, density=10.0)
    tip = body.node_at([1, 0, 0])
    model = fem.Model("held", gravity=[0, 0, -1.0])
    model.add(body, fem.PointForce(tip, [0, 1.0, 0]))
    for place in ([0, 0, 0], [0, 0.2, 0], [0, 0, 0.2], [0, 0.2, 0.2]):
        node = body.node_at(place)
        model.add(fem.Spherical(node, model.ground.frame(node.position)))
    result = fem.static_equilibrium(model)
    weight = 10.0 * 0.04
    reactions = np.sum([result.output(e, "force") for e in model.elements if e.role == "constraint"], axis=0)
    assert np.abs(reactions) == pytest.approx([0, 1.0, weight], abs=1e-9)
