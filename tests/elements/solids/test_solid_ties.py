"""Bonds of meshes that do not match: resultants, patch test, frequencies, and errors."""

import numpy as np
import pytest

import fem_mbs as fem

RUBBER = fem.SolidMaterial(1e6, 0.0, 1000.0)


def column(lower, upper, cells=("hexahedron", "hexahedron"), material=RUBBER, turned=None):
    """Two blocks 1 × 1 × 1, one on the other and bonded: model, bodies and the bond."""
    pose = {} if turned is None else {"rotation": turned}
    R = np.eye(3) if turned is None else fem.rotations.exp(np.array(turned))
    bodies = [
        fem.SolidBody(fem.block_mesh([1, 1, 1], parts, cell=cell), material, position=R @ [0, 0, k], name=name, **pose)
        for k, (parts, cell, name) in enumerate(zip((lower, upper), cells, ("lower", "upper")))
    ]
    model = fem.Model("column")
    tie = fem.Tie(bodies[1], "z0", bodies[0], "z1", name="bond")
    model.add(*bodies, tie)
    return model, *bodies, tie


def test_a_bond_says_what_it_is():
    tie = column([1, 1, 1], [2, 2, 1])[3]
    assert repr(tie) == "Tie 'bond': 9 nodes tied"


@pytest.mark.parametrize("cells", [("hexahedron", "tetra10"), ("hexahedron20", "hexahedron"), ("tetra", "tetra10")])
def test_forces_pass_a_bond_to_the_last_bit(cells):
    """Traction on top: the forces of the bond are its resultant, and the shear displaces both bodies."""
    model, lower, upper, tie = column([2, 2, 2], [3, 3, 2], cells)
    lower.fix("z0")
    model.add(fem.SurfaceTraction(upper, "z1", [30.0, -20.0, 50.0]))
    found = fem.static_equilibrium(model, stability=False)
    forces = np.array([found.results[contact.name].force[-1] for contact in tie.elements])
    assert forces.sum(axis=0) == pytest.approx([-30.0, 20.0, -50.0], abs=1e-9)  # of the lower body on the upper one


def test_a_bond_of_matching_meshes_is_one_mesh():
    model, lower, upper, _ = column([2, 2, 2], [2, 2, 2])
    lower.fix("z0")
    model.add(fem.SurfaceTraction(upper, "z1", [30.0, -20.0, 50.0]))
    found = fem.static_equilibrium(model, stability=False)
    whole = fem.SolidBody(fem.block_mesh([1, 1, 2], [2, 2, 4], cell="hexahedron"), RUBBER)
    whole.fix("z0")
    one = fem.Model("one")
    one.add(whole, fem.SurfaceTraction(whole, "z1", [30.0, -20.0, 50.0]))
    same = fem.static_equilibrium(one, stability=False)
    for body, shift in ((lower, 0), (upper, 1)):
        for node, place in zip(body.nodes, body.reference):
            assert found.position(node) == pytest.approx(same.position(whole.node_at(place + [0, 0, shift])), abs=1e-10)


def test_uniform_stress_is_met_in_the_mean_and_disturbed_next_to_the_bond():
    """Patch test: node to surface does not pass it where meshes do not match. Measured: up to 12.5 % in the elements
    next to the bond, 0.4 % of the lengthening; 38 % and 2.5 % if the coarser mesh is the tied one."""
    model, lower, upper, _ = column([2, 2, 2], [3, 3, 3])
    lower.fix("z0")
    model.add(fem.SurfaceTraction(upper, "z1", [0.0, 0.0, 100.0]))
    found = fem.static_equilibrium(model, stability=False)
    stress = [body.stresses(found).points[0][1][..., 2, 2] for body in (lower, upper)]
    assert np.mean([s.mean() for s in stress]) == pytest.approx(100.0, rel=1e-3)
    worst = max(np.abs(s - 100.0).max() for s in stress)
    assert 1.0 < worst < 15.0
    top = np.mean([found.position(node)[2] for node in upper.nodes_of("z1")]) - 2.0
    assert top == pytest.approx(2 * 100.0 / RUBBER.E, rel=5e-3)


def test_a_bonded_bar_has_the_frequencies_of_one_piece():
    """Axial, ν = 0, and no other frequency in its place when both are turned."""
    model, lower, _, _ = column([2, 2, 4], [3, 3, 4], turned=[0.3, -0.5, 1.1])
    lower.fix("z0")
    found = fem.modes(model, n=12).omega
    exact = np.pi / 2 * np.sqrt(RUBBER.E / RUBBER.density) / 2.0
    nearest = found[np.abs(found - exact).argmin()]
    assert nearest == pytest.approx(exact, rel=5e-3)
    free = fem.modes(column([2, 2, 2], [3, 3, 2])[0], n=8).omega
    assert (free[:6] == 0.0).all() and free[6] > 1.0


def test_a_flying_pair_keeps_its_momentum_and_stays_together():
    rng = np.random.default_rng(1)
    model, lower, upper, tie = column([2, 2, 2], [3, 3, 2], turned=[0.3, -0.5, 1.1])
    for node in (*lower.nodes, *upper.nodes):
        node.velocity = node.velocity + np.cross([1.0, -2.0, 3.0], node.position) + [1, 0, 2]
    for node in lower.nodes_of("z0"):
        node.velocity = node.velocity + rng.normal(size=3)
    result = fem.DecoupledNSGA(rho_inf=0.9).run(model, t_end=0.05, h=1e-3)
    system = fem.System(model)

    def momentum(step):
        state = result.state(step)
        p = system.expanded(system.matrices(state, mass_only=True) @ system.reduced(state.V.ravel())).reshape(-1, 6)
        return p[:, :3].sum(axis=0), np.cross(state.x, p[:, :3]).sum(axis=0)

    before, after = momentum(0), momentum(-1)
    assert after[0] == pytest.approx(before[0], abs=1e-8 * np.linalg.norm(before[0]))
    assert after[1] == pytest.approx(before[1], abs=1e-4 * np.linalg.norm(before[1]))  # of the integrator, order 2
    state = result.state(-1)
    for element in tie.elements:
        x = state.x[[node.index for node in element.nodes]]
        assert x[0] == pytest.approx(element.record[0][: len(x) - 1] @ x[1:], abs=1e-11)


def test_what_cannot_be_bonded_is_rejected():
    steel = fem.SolidMaterial(210e9, 0.3, 7850.0)
    foot = fem.SolidBody(fem.block_mesh([1, 1, 1], [2, 2, 1]), steel)
    wide = fem.SolidBody(fem.block_mesh([2, 1, 1], [2, 2, 1]), steel, position=[0, 0, 1])
    high = fem.SolidBody(fem.block_mesh([1, 1, 1], [2, 2, 1]), steel, position=[0, 0, 1.001])
    for message, call in {
        r"group_A = .*\d+ of 21 nodes.*no face.*\[.*\] m": lambda: fem.Tie(wide, "z0", foot, "z1"),
        r"group_A = .*0\.001 m .*tolerance": lambda: fem.Tie(high, "z0", foot, "z1"),
        r"body_B = .*first body": lambda: fem.Tie(foot, "z0", foot, "z1"),
        r"group = .*below.*mesh": lambda: fem.Tie(high, "below", foot, "z1"),
        r"body_A = .*a SolidBody": lambda: fem.Tie(fem.Node3(), "z0", foot, "z1"),
        r"shapes = .*add to 1": lambda: fem.TiedNode(fem.Node3(), [fem.Node3() for _ in range(3)], [0.5, 0.5, 0.5]),
        r"face = .*a list of": lambda: fem.TiedNode(fem.Node3(), [fem.Node3()], [1.0]),
    }.items():
        with pytest.raises(fem.ParameterError, match=message):
            call()
    near = fem.Tie(high, "z0", foot, "z1", tolerance=2e-3)
    model = fem.Model("gap")
    model.add(foot, high, near)
    with pytest.raises(fem.ModelError, match="TiedNode"):
        model.compile()
    state = model.compile(project=True).initial
    for element in near.elements:
        x = state.x[[node.index for node in element.nodes]]
        assert x[0] == pytest.approx(element.record[0][: len(x) - 1] @ x[1:], abs=1e-12)
