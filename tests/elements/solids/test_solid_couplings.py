"""Couplings of a surface of a solid to a frame: compliance, finite rotations, resultants, joints, momentum."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.sparse import block_array
from scipy.sparse.linalg import splu
from solid_models import block

import fem_mbs as fem
from fem_mbs.elements.solids.faces import area_shares
from fem_mbs.rotations import exp

# u_x/F_x, u_y/F_y, θ_x/M_x, θ_z/M_z, u_y/M_z of a bar 10 × 1 × 1 of 12 × 2 × 2 Hexa20, E = 1, ν = 0.3, by a prototype
TIP = {
    ("rigid", "area"): (9.9125, 3976.88, 180.839, 118.938, 594.69),
    ("averaged", "area"): (9.9562, 3977.03, 181.825, 120.129, 594.78),
    ("averaged", "equal"): (10.243, 3977.32, 183.229, 121.616, 595.15),
}


def pieces_of(model, coupling):
    """System, stiffness and constraint gradients of a model with a coupling, and the unknowns of its own node."""
    system = fem.System(model)
    M, _, K, G = system.matrices(system.initial)
    return system, M, K, G, system.dof.reshape(-1, 6)[coupling.node.index]


@pytest.mark.parametrize("kind, weights", TIP)
def test_compliance_of_the_tip_of_a_bar(kind, weights):
    bar = block("hexa20", [10, 1, 1], [12, 2, 2])
    bar.fix("x0")
    tip = fem.SurfaceCoupling(bar, "x1", kind=kind, weights=weights, name="tip")
    model = fem.Model("bar", gravity=[0, 0, 0])
    model.add(bar, tip)
    system, _, K, G, dof = pieces_of(model, tip)
    unit = np.zeros((system.n + system.m, 6))
    unit[dof, range(6)] = 1.0
    U = splu(block_array([[K, G.T], [G, None]]).tocsc()).solve(unit)[dof]
    found = (U[0, 0], U[1, 1], U[3, 3], U[5, 5], U[1, 5])
    assert found == pytest.approx(TIP[kind, weights], rel=1e-5)  # the digits that the prototype gave


def test_the_frame_is_the_polar_rotation_of_the_group_and_forces_have_exact_resultants():
    """Σ g over elements has no sums left: it vanishes at the mean and polar rotation, of an independent SVD."""
    rng = np.random.default_rng(2)
    bar = block("hexa20", [1, 1, 1], [1, 2, 2])  # 21 nodes: three elements
    frame = fem.Node6([2.0, 0.3, -0.4], [0.3, 0.5, -0.2])
    held = fem.SurfaceCoupling(bar, "x1", frame, name="c")
    model = fem.Model("m", gravity=[0, 0, 0])
    model.add(bar, held)
    system = fem.System(model)
    state, group = system.initial.copy(), np.array([node.index for node in bar.nodes_of("x1")])
    places, w = area_shares(held, bar, "x1")
    assert [bar.nodes[k].index for k in places] == group.tolist() and len(held.elements) == 3
    p = (state.x[group] - frame.position) @ frame.rotation
    Q = exp([2.0, -0.7, 1.1])
    state.x[group] = state.x[group] @ Q.T + 0.1 * rng.normal(size=(len(group), 3))
    U, _, V = np.linalg.svd(np.einsum("k,ki,kj->ij", w, state.x[group] - w @ state.x[group], p - w @ p))
    R = U @ np.diag([1, 1, np.linalg.det(U @ V)]) @ V
    i = frame.index
    state.set_rotation(i, R)
    state.x[i] = w @ state.x[group] - R @ (w @ p)
    g = system.constraint_values(state)[0].reshape(3, 6)
    assert np.abs(g).max() > 1e-2 and np.abs(g.sum(axis=0)).max() < 1e-14
    state.x[i] += [0.1, 0.0, 0.0]
    assert system.constraint_values(state)[0].reshape(3, 6).sum(axis=0) == pytest.approx(
        [-0.1, 0, 0, 0, 0, 0], abs=1e-14
    )
    state.x[i] -= [0.1, 0.0, 0.0]
    system.constraint_values(state)
    lam = rng.normal(size=6)
    f = system.constraint_forces(np.tile(lam, 3)).reshape(-1, 6)
    on_frame, on_group = f[i], f[group, :3]
    assert on_group.sum(axis=0) == pytest.approx(lam[:3], abs=1e-14)
    assert on_frame[:3] == pytest.approx(-lam[:3], abs=1e-14)
    moment = np.cross(state.x[group] - state.x[i], on_group).sum(axis=0)
    assert R @ on_frame[3:] == pytest.approx(-moment, abs=1e-14)
    others = np.setdiff1d(np.arange(len(f)), [i, *group])
    assert np.abs(f[others]).max() == 0.0  # sums feel none: λ is the same on both sides


def hanging(kind, E=2e8):
    bar = block("hexa20", [1.0, 0.1, 0.1], [4, 1, 1], E=E, density=1000.0)
    root = fem.SurfaceCoupling(bar, "x0", kind=kind, name="root")
    model = fem.Model("pendulum", gravity=[0, 0, -9.81])
    pin = fem.Revolute.at(model.ground, root.node, root.center, [0, 1, 0], name="pin")
    model.add(bar, root, pin)
    return model, bar, root


@pytest.mark.parametrize("kind", ["averaged", "rigid"])
def test_a_bar_of_solids_swings_on_a_revolute_joint_as_a_compound_pendulum(kind):
    model, bar, root = hanging(kind)
    result = fem.GeneralizedAlpha(rho_inf=0.8).run(model, t_end=0.3, h=2e-3)
    inertia = bar.mass * (1.0 / 3.0 + 0.01 / 12.0)
    rigid = solve_ivp(
        lambda t, y: [y[1], -9.81 * bar.mass * 0.5 * np.cos(y[0]) / inertia], (0, 0.3), [0, 0], rtol=1e-9, atol=1e-9
    )
    angle, rate = rigid.y[:, -1]
    tip = result.state(-1).x[[node.index for node in bar.nodes_of("x1")]].mean(axis=0) - root.center
    assert np.arctan2(tip[2], tip[0]) == pytest.approx(angle, abs=2e-3)  # it flexes by 5e-4
    d = 0.5 * bar.mass
    force = result["pin"].force[-1]
    radial, around = np.array([np.cos(angle), 0, np.sin(angle)]), np.array([-np.sin(angle), 0, np.cos(angle)])
    acceleration = -9.81 * d * np.cos(angle) / inertia * around - rate**2 * radial
    expected = d * acceleration + [0, 0, 9.81 * bar.mass]
    assert np.abs(force - expected).max() < 0.05 * np.abs(expected).max()  # its vibration after the release
    carried = sum(result[e.name].force[-1] for e in root.elements)
    sign = 1.0 if kind == "averaged" else -1.0  # of the nodes on the frame; of the frame on the nodes
    assert sign * carried == pytest.approx(-force, abs=1e-6 * np.abs(force).max())


@pytest.mark.parametrize("kind", ["averaged", "rigid"])
def test_frequency_of_a_hanging_bar(kind):
    """Modes know nodes without mass: that of the joint, and the sums of an averaged coupling."""
    model, bar, _ = hanging(kind)
    model.gravity = [9.81, 0, 0]
    hung = fem.static_equilibrium(model)
    found = fem.modes(model, 2, about=hung).frequency
    inertia = bar.mass * (1.0 / 3.0 + 0.01 / 12.0)
    assert 2 * np.pi * found[0] == pytest.approx(np.sqrt(9.81 * 0.5 * bar.mass / inertia), rel=1e-3)


def test_a_bar_between_the_ground_and_a_beam_weighs_on_the_ground_alone():
    """Frames of ground and of a beam; force and moment of the support are those of statics."""
    bar = block("hexa20", [1.0, 0.1, 0.1], [3, 2, 1], E=1e9, density=1000.0)
    section = fem.Section.rectangle(0.1, 0.1, E=1e9, nu=0.3, density=1000.0)
    ends = fem.Node6([1.0, 0.05, 0.05]), fem.Node6([1.5, 0.05, 0.05])
    model = fem.Model("wall", gravity=[0, 0, -9.81])
    wall = fem.SurfaceCoupling(bar, "x0", model.ground, name="wall")
    model.add(bar, wall, fem.SurfaceCoupling(bar, "x1", ends[0]), fem.TwoNodeBeam(*ends, section))
    result = fem.static_equilibrium(model).results
    force, moment = (sum(getattr(result[e.name], what)[-1] for e in wall.elements) for what in ("force", "moment"))
    assert force == pytest.approx([0, 0, -15.0 * 9.81], abs=1e-6)
    assert moment == pytest.approx([-15.0 * 9.81 * 0.05, 15.0 * 9.81 * 0.75, 0.0], rel=1e-3, abs=1e-6)


def momentum(system, state):
    p = system.expanded(system.matrices(state)[0] @ system.reduced(state.V.ravel())).reshape(-1, 6)
    spins = np.einsum("nij,nj->ni", state.R, p[:, 3:])
    return p[:, :3].sum(axis=0), (np.cross(state.x, p[:, :3]) + spins).sum(axis=0)


@pytest.mark.parametrize("kind", ["averaged", "rigid"])
def test_free_flight_of_a_solid_and_a_rigid_body_keeps_momentum_and_energy(kind):
    spin, speed, place = np.array([1.0, 2.0, 5.0]), np.array([3.0, 7.0, 1.0]), np.array([1.7, 0.1, 0.1])
    mesh = fem.block_mesh([1.5, 0.2, 0.2], [2, 2, 1], cell="hexahedron20")  # 13 nodes of x1: two elements
    steel = fem.SolidMaterial(2e5, 0.3, 10.0)
    bar = fem.SolidBody(mesh, steel, name="bar", velocity=speed, angular_velocity=spin)
    moving = {"velocity": speed + np.cross(spin, place), "angular_velocity": spin}
    hub = fem.RigidBody(0.5, [0.01, 0.02, 0.02], position=place, **moving, name="hub")
    model = fem.Model("flight", gravity=[0, 0, 0])
    model.add(bar, hub, fem.SurfaceCoupling(bar, "x1", hub, kind=kind, name="c"))
    changes = []
    for h in (2e-3, 1e-3):
        result = fem.GeneralizedAlpha(rho_inf=0.9).run(model, t_end=0.05, h=h)
        system = fem.System(model)
        (p0, l0), (p1, l1) = (momentum(system, result.state(k)) for k in (0, -1))
        assert np.abs(p1 - p0).max() < 1e-13 * np.linalg.norm(p0)
        energy = result.energy.total
        changes.append((np.abs(l1 - l0).max() / np.linalg.norm(l0), abs(energy[-1] / energy[0] - 1)))
    assert changes[1] < (2e-6, 2e-4)
    assert changes[1][0] < 0.4 * changes[0][0]  # of order 2: the equations keep it, the integrator errs


def test_impact_of_a_body_on_a_coupling_keeps_joints_in_velocities():
    """Nodes without mass take part in impacts: the velocities after one fit the coupling, and both bodies feel it."""
    bar = block("hexa20", [1, 0.2, 0.2], [2, 2, 1], E=1e6, density=100.0, velocity=[0, 0, -2.0])
    hub = fem.RigidBody.sphere(5.0, 0.2, position=[1.2, 0.1, 0.1], velocity=[0, 0, -2.0], name="hub")
    model = fem.Model("drop", gravity=[0, 0, 0])
    plane = model.ground.frame([0, 0, -0.101])
    model.add(bar, hub, fem.SurfaceCoupling(bar, "x1", hub, name="c"))
    model.add(fem.SphereOnPlane(hub, plane, radius=0.2, restitution=0.5, name="floor"))
    result = fem.DecoupledNSGA(rho_inf=0.8).run(model, t_end=2e-3, h=5e-4)
    system, state = fem.System(model), result.state(-1)
    assert result["hub"].velocity[-1, 2] > 0.5
    assert np.abs(system.constraint_values(state)[1]).max() < 1e-8
    impulse = momentum(system, state)[0] - momentum(system, result.state(0))[0]
    assert impulse[2] > 1.4 * 5.0 * 2.0 and np.abs(impulse[:2]).max() < 1e-9
    energy = result.energy.total
    assert 0.25 < energy[-1] / energy[0] < 1.0


def test_bad_input_is_reported():
    bar = block("hexa20", [1, 1, 1], [1, 1, 1])
    bar_on_line = fem.SolidBody(
        bar.mesh.with_group("edge", lambda x: (x[:, 0] == 0) & (x[:, 1] == 0)), bar.material, name="bar"
    )
    for message, call in {
        r"group = .*three or more": lambda: fem.SurfaceCoupling(bar_on_line, "edge", weights="equal"),
        "has no faces": lambda: fem.SurfaceCoupling(bar_on_line, "edge"),
        r"group = .*x7.*mesh": lambda: fem.SurfaceCoupling(bar, "x7"),
        "must be": lambda: fem.SurfaceCoupling(bar, "x1", kind="mean"),
        "has no rotation": lambda: fem.SurfaceCoupling(bar, "x1", fem.Node3()),
        r"nodes = .*must be 13": lambda: fem.AveragedCoupling(
            [fem.Node6()], np.zeros((8, 3)), np.ones(8), center=[0, 0, 0], radius=1.0
        ),
    }.items():
        with pytest.raises(fem.ParameterError, match=message):
            call()
